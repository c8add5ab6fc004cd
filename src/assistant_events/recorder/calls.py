"""
The calls of a step: their ids, the inputs that are open, and which call a result belongs to.

A missing id becomes `call-1`, `call-2`; an id that the message has already becomes `id#2`. The provider's own value is
then in the state of the call under `id`. A call whose name has not come waits and causes no event.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from assistant_events import events as ev
from assistant_events.errors import JsonError
from assistant_events.lifecycle import CallLifecycle, CallPhase, KnownEvent, MessageLifecycle
from assistant_events.recorder.fragments import Fragments, JsonMap, join_surrogates, merge_state
from assistant_events.values import (
    Content,
    ErrorInfo,
    ErrorKind,
    FinishReason,
    JsonObject,
    State,
    read_json,
    write_json,
)
from assistant_events.values.buffers import Buffer
from assistant_events.values.construct import constructor
from assistant_events.values.json_values import LazyObject, items_of, json_type, own_object, wrap
from assistant_events.values.text import has_surrogates
from assistant_events.values.validators import NO_STATE, as_input, as_state

_input_started: Callable[..., ev.ToolInputStarted] = constructor(ev.ToolInputStarted)
_input_delta: Callable[..., ev.ToolInputDelta] = constructor(ev.ToolInputDelta)
_input_ended: Callable[..., ev.ToolInputEnded] = constructor(ev.ToolInputEnded)
_called: Callable[..., ev.ToolCalled] = constructor(ev.ToolCalled)
_success: Callable[..., ev.ToolSuccess] = constructor(ev.ToolSuccess)

# Reading a member of an enum takes as long as a look-up in a table.
_INPUT_OPEN, _SETTLED = CallPhase.INPUT_OPEN, CallPhase.SETTLED

_NOT_BEGUN: Final = CallLifecycle("", provider_executed=False)

_NO_RESULT = ErrorInfo(kind=ErrorKind.NO_RESULT, message="the provider ended its answer without a result of this call")
_CUT = ErrorInfo(kind=ErrorKind.INTERRUPTED, message="the provider's answer ended before a result of this call")
CUTS: Final = frozenset({FinishReason.LENGTH, FinishReason.CONTENT_FILTER})
"""Reasons for which an answer ends before its last item does."""

_INCOMPLETE = "the provider marked the input as incomplete"


class OpenCall:
    """A call, from its first piece to its result. *call_id* is empty while it waits for its name."""

    __slots__ = (
        *("buffer", "call_id", "held", "input", "key"),
        *("lifecycle", "name", "provider_executed", "provider_id", "state"),
    )

    kind: Final = "tool.input"
    """Kind of its content, beside those of fragments."""

    def __init__(self, provider_id: str | None, name: str, key: Hashable, *, provider_executed: bool) -> None:
        self.call_id = ""
        self.lifecycle = _NOT_BEGUN
        self.provider_id = provider_id
        self.name = name
        self.key = key
        self.provider_executed = provider_executed
        self.state: dict[str, Any] = {}
        self.input: JsonObject | None = None
        """An input that came as an object, for a call whose input text is not one."""

        self.buffer: Buffer[str] = Buffer("")
        self.held = ""
        """First half of a surrogate pair whose second half has not come."""

    @property
    def is_open(self) -> bool:
        """Whether its input is open."""
        return self.lifecycle.phase is _INPUT_OPEN


class Result(NamedTuple):
    """The result of a call, as an adapter passed it."""

    call_id: str | None
    output: tuple[Content, ...]
    error: ErrorInfo | None
    name: str
    state: dict[str, Any]
    details: JsonObject
    key: Hashable
    call_state: State


class Calls:
    """The calls of a step, beside its fragments."""

    def __init__(
        self,
        fragments: Fragments,
        lifecycle: MessageLifecycle,
        note: Callable[[str, str], None],
    ) -> None:
        self._fragments = fragments
        self._message_id = fragments.message_id
        self._emit = fragments.emit
        self._numbers = fragments.numbers
        self._lifecycle = lifecycle
        self._note = note
        self.by_id: dict[str, OpenCall] = {}
        """The calls that have begun, oldest first."""

        self.waiting: dict[Hashable, OpenCall] = {}
        """The calls without a name, under their key or the provider's id."""

        self.unsure: OpenCall | None = None
        """A call of the app whose input has ended without any text: what follows shows whether it was cut."""

        self._held: dict[Hashable, Result] = {}
        """The results whose call has not come, under their keys."""

        self._by_key: dict[Hashable, OpenCall] = {}
        # Not in the two below yet, which only a look-up without a key needs.
        self._new: list[OpenCall] = []
        # Under our id and the provider's: newest last, those whose input has ended dropped when met; `None` holds all.
        self._inputs: dict[str | None, list[OpenCall]] = {}
        # Under both ids: oldest first, those that are settled are dropped when met, but for the last.
        self._unsettled: dict[str | None, deque[OpenCall]] = {}
        self._uses: dict[str, int] = {}
        self.answered_before: set[str] = set()
        """Calls that were answered before a replay began, and whose result the replay has not reached."""

    def clear(self) -> None:
        """Forget everything: the step starts over."""
        self.unsure = None
        for each in (
            *(self.by_id, self.waiting, self._held, self.answered_before),
            *(self._by_key, self._new, self._inputs, self._unsettled, self._uses),
        ):
            each.clear()

    # -- looking up

    def of_key(self, key: Hashable) -> OpenCall | None:
        """Return the call of a key; it may wait for its name."""
        return None if key is None else self._by_key.get(key) or self.waiting.get(key)

    def has_ended(self, key: Hashable) -> bool:
        """Whether the input of a key, which is not open, has been."""
        return key in self._by_key

    def waiting_for_name(self, call_id: str | None, key: Hashable) -> OpenCall | None:
        """Return the call of the key or of the provider's id that waits for its name."""
        return self.waiting.get(call_id if key is None else key)

    def open_of(self, key: Hashable) -> OpenCall | None:
        """Return the call of a key, where its input is open."""
        call = self._by_key.get(key)
        # As `is_open`, which would be one more call.
        return call if call is not None and call.lifecycle.phase is _INPUT_OPEN else None

    def open_input(self, provider_id: str | None, key: Hashable) -> OpenCall | None:
        """Return the call of the key, or the newest of the id (`None`: of all), whose input is open."""
        if key is not None:
            return self.open_of(key)
        self._enter_new()
        begun = self._inputs.get(provider_id, [])
        while begun and not begun[-1].is_open:
            begun.pop()
        return begun[-1] if begun else None

    def answerable(self, call_id: str | None, key: Hashable) -> OpenCall | None:
        """Return the call that a result belongs to: that of the key, or the oldest of the id without a result."""
        if key in self._by_key:
            return self._by_key[key]
        self._enter_new()
        unsettled = self._unsettled.get(call_id)
        if unsettled is None:
            return None
        while len(unsettled) > 1 and self.is_answered(unsettled[0]):
            unsettled.popleft()
        return unsettled[0]

    def is_answered(self, call: OpenCall) -> bool:
        """Whether a call has its result, and not only from before a replay."""
        return call.lifecycle.phase is _SETTLED and call.call_id not in self.answered_before

    def open_deltas(self) -> Iterator[ev.Event]:
        """Yield the text that each open input has shown as one delta."""
        for call in self.by_id.values():
            if call.is_open and (shown := call.buffer.shown()):
                yield self._delta(call, 0, shown)

    # -- input

    def begin(
        self, provider_id: str | None, name: str, key: Hashable, state: JsonMap, *, provider_executed: bool
    ) -> OpenCall:
        """Return a new call whose input is open, or which waits for its name where *name* is empty."""
        known = as_state(state)
        address = provider_id if key is None else key
        call = self.waiting.get(address) or OpenCall(provider_id, name, key, provider_executed=provider_executed)
        if provider_id:
            call.provider_id = provider_id
        call.name = name
        call.provider_executed = call.provider_executed or provider_executed
        merge_state(call.state, known)
        if not name:
            self.waiting[address] = call
            return call
        self._open_input(call)
        self.waiting.pop(address, None)
        if call.buffer.length:
            self._emit(self._delta(call, 0, call.buffer.value()))
        return call

    def add(self, call: OpenCall, delta: str) -> None:
        """Add a piece of input; halves of a surrogate pair are joined."""
        if call.held or has_surrogates(delta):
            delta, call.held = join_surrogates(call.held, delta)
            if not delta:
                return
        if call.call_id:
            self._emit(self._delta(call, call.buffer.length, delta))
        call.buffer.append(delta)

    def reopen(self, call: OpenCall, state: JsonMap) -> None:
        """Take more of an input that is open, or whose end waits, and state of its call."""
        self.unsure = None if call is self.unsure else self.unsure
        if state:
            merge_state(call.state, as_state(state))

    def end_unsure(self, *, complete: bool = True) -> None:
        """End the input whose end waits, if there is one."""
        call, self.unsure = self.unsure, None
        if call is not None and call.is_open:
            self.end(call, complete=complete)

    def end(
        self,
        call: OpenCall,
        state: State = NO_STATE,
        input: Mapping[str, object] | None = None,
        *,
        complete: bool = True,
        fault: str | None = None,
        waits: bool = False,
    ) -> None:
        """
        End an input: an object becomes the input of the call, anything else fails it, as does a *fault*.

        Where it *waits*, the end of an input of the app that has no text waits for the next event: providers also end
        an input that the limit of tokens has cut before it began, and an object in a document has the keys before that.
        """
        parsed = None if input is None else as_input(input)
        is_bare = parsed is None and not (call.buffer.length or call.held or call.provider_executed)
        if not call.call_id:
            self._keep_raw(call, state, parsed)
        elif waits and is_bare and complete and not fault:
            if call is not self.unsure:
                self.end_unsure()
            call.state.update(items_of(state))
            self.unsure = call
        elif fault := self._end_input(call, state, parsed, complete=complete, fault=fault):
            self.fail(call, ErrorInfo(kind=ErrorKind.INVALID_INPUT, message=fault))

    def _end_input(
        self,
        call: OpenCall,
        state: State = NO_STATE,
        parsed: JsonObject | None = None,
        *,
        complete: bool = True,
        fault: str | None = None,
    ) -> str | None:
        """End an input; return why the call cannot be made, or `None` where it is."""
        self.unsure = None if call is self.unsure else self.unsure
        text = self._input_text(call)
        if not complete:
            fault = fault or _INCOMPLETE
        if parsed is None and not fault:
            text = text[2:] if text.startswith("{}{") else text  # gateways begin with the empty object of the start
            parsed, fault = parse_input(text) if call.buffer.length or not call.input else (call.input, None)
            if fault and call.input:
                parsed, fault, text = call.input, None, ""
        if not text and parsed is not None:
            text = write_json(parsed).decode()
        call.state.update(items_of(state))
        self._emit(self._ended(call, text, complete=complete))
        if fault:
            return fault
        self._emit(
            _called(
                message_id=self._message_id,
                call_id=call.call_id,
                name=call.name,
                input=parsed,
                provider_executed=call.provider_executed,
            )
        )
        return None

    def add_whole(
        self,
        provider_id: str | None,
        name: str,
        input: Mapping[str, object],
        key: Hashable,
        state: JsonMap,
        *,
        provider_executed: bool,
    ) -> None:
        """Record a call that came whole; one without a name is kept raw."""
        call = OpenCall(provider_id, name, key, provider_executed=provider_executed)
        call.state.update(items_of(as_state(state)))
        if not name:
            self._keep_raw(call, NO_STATE, as_input(input))
            return
        call_id, known = self._identify(call)
        is_valid = type(name) is str and type(call_id) is str and type(provider_executed) is bool
        make = _called if is_valid else ev.ToolCalled
        called = make(
            message_id=self._message_id,
            call_id=call_id,
            name=name,
            input=as_input(input),
            provider_executed=provider_executed,
            state=own_object({**known}, State),
        )
        self._fragments.end_unkeyed()
        self._emit(called)
        self._register(call, call_id, known)

    # -- results

    def hold(self, result: Result) -> None:
        """Hold a result until its call comes, or the step ends."""
        self._held[object() if result.key is None else result.key] = result

    def keep_held(self, key: Hashable, state: State) -> bool:
        """Keep state for a result whose call has not come; return whether there is one."""
        result = self._held.get(key)
        if result is not None:
            merge_state(result.state, state)
        return result is not None

    def answer(self, call: OpenCall, result: Result) -> None:
        """
        Record the result of a call, after the end of its input. A second result is left out.

        Where that input is not an object, the call fails: with the error of the result, if that has one.
        """
        if call.call_id in self.answered_before:
            self.answered_before.discard(call.call_id)
            return
        if call.is_open and (fault := self._end_input(call)) and result.error is None:
            self.fail(call, ErrorInfo(kind=ErrorKind.INVALID_INPUT, message=fault))
        if call.lifecycle.phase is _SETTLED:
            self._note("second-result", "a second result of one call was left out")
            return
        values = {
            "message_id": self._message_id,
            "call_id": call.call_id,
            "output": result.output,
            "provider_executed": call.provider_executed,
            "state": self._numbers.add_to(result.key, result.state),
            "details": result.details,
        }
        self._emit(
            _success(**values) if result.error is None else ev.ToolFailed(**values, error=result.error)  # type: ignore[arg-type]  # as the fields are
        )

    def answer_held(self) -> None:
        """Record the results that waited for their call; a call that never came is made up."""
        for result in self._held.values():
            call = self.answerable(result.call_id, result.key)
            if call is None:
                self._note("orphan-result", "a result came without its call, which was made up")
                state = self._numbers.add_to(result.key, {**result.call_state, "orphan": True})
                call = self.begin(result.call_id, result.name, None, state, provider_executed=True)
            if call.lifecycle.phase is not CallPhase.INPUT_ENDED:  # else a cut ended its input, and it fails
                self.answer(call, result)
        self._held.clear()

    # -- ends of the step

    def end_inputs(self, *, is_cut: bool) -> None:
        """End every input that is open, as complete, but for a last one without any text when *is_cut*."""
        for call in [*self.by_id.values(), *self.waiting.values()]:
            if not call.call_id or call.is_open:
                self.end(call, waits=True)
        self.end_unsure(complete=not is_cut)

    def cut_inputs(self) -> None:
        """End every input that is open, as incomplete."""
        self.end_unsure()
        for call in list(self.waiting.values()):
            self.end(call)
        for call in self.by_id.values():
            if call.is_open:
                self._emit(self._ended(call, self._input_text(call), complete=False))

    def fail_unsettled(self, error: ErrorInfo) -> None:
        """Fail every call that has no result."""
        for call in self.by_id.values():
            if call.lifecycle.phase is not _SETTLED:
                self.fail(call, error)

    def fail_missing(self, *, is_whole: bool) -> None:
        """Fail every call that keeps the step from ending, for the provider gave no result in its answer."""
        for call_id in self._lifecycle.unsettled_calls():
            self.fail(self.by_id[call_id], _NO_RESULT if is_whole else _CUT)

    def fail(self, call: OpenCall, error: ErrorInfo) -> None:
        """Fail a call."""
        self._emit(
            ev.ToolFailed(
                message_id=self._message_id,
                call_id=call.call_id,
                error=error,
                provider_executed=call.provider_executed,
            )
        )

    # -- inside

    def _open_input(self, call: OpenCall) -> None:
        call_id, known = self._identify(call)
        # The constructor of the class raises the error of a wrong argument.
        is_valid = type(call.name) is str and type(call_id) is str and type(call.provider_executed) is bool
        make = _input_started if is_valid else ev.ToolInputStarted
        started = make(
            message_id=self._message_id, call_id=call_id, name=call.name, provider_executed=call.provider_executed
        )
        self._fragments.end_unkeyed()
        self._emit(started)
        self._register(call, call_id, known)

    def _identify(self, call: OpenCall) -> tuple[str, dict[str, Any]]:
        """Return the id of a new call, and its state with the provider's own id where that differs."""
        # Any: see `OpenCall.state`.
        call_id = self._unique(call.provider_id)
        if call_id != call.provider_id:
            call.state["id"] = call.provider_id
        return call_id, self._numbers.added_to(call.key, call.state)

    def _register(self, call: OpenCall, call_id: str, known: dict[str, Any]) -> None:
        # Any: see `OpenCall.state`.
        call.call_id = call_id
        call.lifecycle = self._lifecycle.of_call(call_id)
        call.state = known
        self.by_id[call_id] = call
        if call.key is not None:
            self._by_key[call.key] = call
        self._new.append(call)

    def _enter_new(self) -> None:
        """Enter the calls that have begun since the last look-up by id."""
        for call in self._new:
            ids = {call.call_id, call.provider_id}
            for known_as in ids:
                self._unsettled.setdefault(known_as, deque()).append(call)
            for known_as in {None, *ids}:
                self._inputs.setdefault(known_as, []).append(call)
        self._new.clear()

    def _unique(self, provider_id: str | None) -> str:
        stem, first = (f"{provider_id}#", 2) if provider_id else ("call-", 1)
        if provider_id and provider_id not in self.by_id:
            return provider_id
        count = self._uses.get(stem, first)
        while f"{stem}{count}" in self.by_id:
            count += 1
        self._uses[stem] = count + 1
        return f"{stem}{count}"

    def _keep_raw(self, call: OpenCall, state: State, input: Mapping[str, object] | None) -> None:
        """Keep a call without a name as an opaque item: it cannot be run, and may have to go back."""
        self.waiting.pop(call.provider_id if call.key is None else call.key, None)
        self._note("nameless-call", "a call without a name was kept raw")
        self._release(call)
        raw = {"id": call.provider_id, "arguments": call.buffer.value() or input or call.input}
        known = own_object(self._numbers.added_to(call.key, {**call.state, **items_of(state), **raw}), State)
        self._fragments.end_unkeyed()
        self._emit(ev.OpaqueReceived(message_id=self._message_id, state=known))

    def _delta(self, call: OpenCall, offset: int, delta: str) -> KnownEvent:
        return _input_delta(message_id=self._message_id, call_id=call.call_id, offset=offset, delta=delta)

    def _ended(self, call: OpenCall, text: str, *, complete: bool) -> KnownEvent:
        return _input_ended(
            message_id=self._message_id,
            call_id=call.call_id,
            text=text,
            complete=complete,
            state=own_object({**call.state}, State),
        )

    def _release(self, call: OpenCall) -> None:
        if call.held:
            call.held = ""  # its second half has not come
            self.add(call, "\ufffd")

    def _input_text(self, call: OpenCall) -> str:
        """Return the text of an input that ends."""
        self._release(call)
        text = call.buffer.value()
        return write_json(call.input).decode() if not text and call.input else text


def parse_input(text: str) -> tuple[JsonObject | None, str]:
    """Return the object that *text* holds, or why it holds none. Empty text is an object without keys."""
    if not text or text.isspace():
        return JsonObject({}), ""
    try:
        try:
            data: bytes | str = text.encode()  # the reader would keep the UTF-8 of a `str` in it
        except UnicodeEncodeError:
            data = text  # it has half of a surrogate pair
        value = read_json(data)
    except JsonError as error:
        return None, f"the input is {error}"
    if type(value) is not dict:
        return None, f"the input is not a JSON object but {json_type(value)}"
    return wrap(LazyObject, value), ""  # pyright: ignore[reportUnknownArgumentType]  # plain JSON
