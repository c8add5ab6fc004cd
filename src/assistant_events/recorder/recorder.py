"""
The verbs that an adapter calls, and the events they cause.

Each verb returns the events it caused, opens what is not open, and ignores an empty delta. `key` is the adapter's
private name of the provider's item and is never emitted. An item keeps its state, citations and details from the moment
they are known (`keep`), however it ends.

- At most one text, one reasoning and one media item are open. When an item of the same kind begins before the open one
  has ended, the open one ends at once; later content of its item becomes one more fragment when the item or the step
  ends. Both fragments have the state of the item's start, so that encoders can merge them.
- Without a key the kind is the address, and content of another kind ends the open fragment.
- Tool input is parsed here and nowhere else: an object, or no text at all, gives `tool.called`, anything else
  `tool.failed`.
- A surrogate pair that is cut between two deltas is joined; half of one alone becomes U+FFFD.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from types import NoneType

from assistant_events import events as ev
from assistant_events.errors import LocalProtocolError
from assistant_events.lifecycle import CallPhase
from assistant_events.messages import AssistantMessage, interrupted
from assistant_events.recorder.calls import CUTS, Calls, OpenCall, Result
from assistant_events.recorder.delivery import Delivery
from assistant_events.recorder.fragments import Fragments, ItemNumbers, JsonMap, OpenFragment, check_str, merge_state
from assistant_events.values import Citation, ErrorInfo, FinishReason, Origin, RemoteRun, Usage
from assistant_events.values.construct import constructor
from assistant_events.values.content import ContentInput, as_content
from assistant_events.values.validators import NO_FIELDS, NO_STATE, as_details, as_input, as_state, to_optional_text

_step_started: Callable[..., ev.StepStarted] = constructor(ev.StepStarted)
_step_ended: Callable[..., ev.StepEnded] = constructor(ev.StepEnded)
_FACTS = ((Usage, NoneType), (RemoteRun, NoneType), (str, NoneType))


class Recorder(Delivery):
    """
    Records one step of one model as events of one message.

    Args:
        message_id: Id of the message that the step becomes.

        prior: The message as it was recorded before, to rejoin it: the verbs are called as for a fresh step, from its
            start, and only new events are returned (see `replay_filter`).

        sink: A list that every event is also appended to, in the order in which they are returned.

        item_key: State key under which the items of the step are numbered, in the order in which they first caused an
            event; `None` for no numbers. Encoders merge parts with equal numbers.

        note: Called with a code and a sentence for input that could not be used.

    Raises:
        LocalProtocolError: For the adapter's mistakes, with nothing changed: from every verb but `close` while the step
            does not run (an empty delta passes; `result` and `tool_progress` may follow the end), a second `start`,
            `restart` after a call of the app was answered, `tool_progress` of a call that is unknown or has no running
            tool, `result` of an unknown call without a name, `end_media` of an unknown item without a media type.
            Other input without a place becomes a note.
    """

    def __init__(
        self,
        message_id: str,
        *,
        prior: AssistantMessage | None = None,
        sink: list[ev.Event] | None = None,
        item_key: str | None = None,
        note: Callable[[str, str], None] | None = None,
    ) -> None:
        super().__init__(message_id, prior, sink)
        self._note: Callable[[str, str], None] = note or (lambda code, message: None)
        self._numbers = ItemNumbers(item_key)
        self._fragments = Fragments(message_id, self._emit, self._numbers)
        self._calls = Calls(self._fragments, self._lifecycle, self._note)
        self._opaque: dict[Hashable, dict[str, object]] = {}

    # -- looking up

    def open_of(self, key: Hashable) -> OpenFragment | OpenCall | None:
        """Return the open fragment or input of a key, for decoders that append on a hot path; see `DecoderBase`."""
        for fragment in self._fragments.open.values():
            if fragment.key == key:
                return fragment
        return self._calls.open_of(key)

    def unanswered(self, *, provider_executed: bool) -> list[str]:
        """Return the ids of the calls that were made and have no result, oldest first."""
        calls = [call for call in self._calls.by_id.values() if call.provider_executed is provider_executed]
        made = [call for call in calls if call is self._calls.unsure or call.lifecycle.phase is CallPhase.CALLED]
        return [call.call_id for call in made]

    def so_far(self) -> list[ev.Event]:
        """Return events that give the message so far: the durable ones, and each open fragment as one delta."""
        events = list(self._recorded)
        if self._replay is None:
            events += self._fragments.open_deltas()
            events += self._calls.open_deltas()
        return events

    def another_replay(self) -> Recorder:
        """Return a recorder for one more replay from the start, while this one has returned no event."""
        made = Recorder(self.message_id, sink=self.sink, item_key=self._numbers.state_key, note=self._note)
        made._replay = None if self._replay is None else self._replay.another()
        return made

    # -- the step

    def start(self, origin: Origin, run: RemoteRun | None = None, state: JsonMap = NO_STATE) -> list[ev.Event]:
        """Start the step."""
        # The constructor of the class raises the error of a wrong argument.
        make = _step_started if type(origin) is Origin and type(run) in _FACTS[1] else ev.StepStarted
        self._emit(make(message_id=self.message_id, origin=origin, run=run, state=as_state(state)))
        return self._deliver()

    def restart(
        self, reason: str, origin: Origin | None = None, run: RemoteRun | None = None, state: JsonMap = NO_STATE
    ) -> list[ev.Event]:
        """Void what was received; the same message starts over. *origin* fills in what the start did not know."""
        self._emit(ev.StepRestarted(message_id=self.message_id, reason=reason, origin=origin, run=run, state=state))
        for each in (self._fragments, self._calls, self._numbers, self._opaque):
            each.clear()
        return self._deliver()

    def finish(
        self,
        finish_reason: FinishReason | str,
        raw_finish_reason: str | None = None,
        usage: Usage | None = None,
        run: RemoteRun | None = None,
        state: JsonMap = NO_STATE,
        *,
        details: JsonMap = NO_FIELDS,
    ) -> list[ev.Event]:
        """
        End the step as the provider does, and before it everything that is open.

        Open inputs are taken as they are; a last call of the app that has none fails when the answer was cut. Calls of
        the provider without a result fail, as `no-result` when the answer is complete, else as `interrupted`. Those of
        a step that pauses wait for a later answer.
        """
        self._require_running()
        finish_reason = FinishReason(finish_reason)
        self._calls.end_inputs(is_cut=finish_reason in CUTS)
        self._fragments.end_all(complete=True)
        self._end_opaque()
        self._calls.answer_held()
        if finish_reason is not FinishReason.PAUSE:
            is_whole = finish_reason is FinishReason.STOP or finish_reason is FinishReason.TOOL_CALLS
            self._calls.fail_missing(is_whole=is_whole)
        is_valid = all(map(isinstance, (usage, run, raw_finish_reason), _FACTS))
        make = _step_ended if is_valid else ev.StepEnded
        self._emit(
            make(
                message_id=self.message_id,
                finish_reason=finish_reason,
                raw_finish_reason=to_optional_text(raw_finish_reason),
                usage=usage,
                run=run,
                state=as_state(state),
                details=as_details(details),
            )
        )
        return self._deliver()

    def fail(
        self,
        error: ErrorInfo,
        usage: Usage | None = None,
        run: RemoteRun | None = None,
        state: JsonMap = NO_STATE,
        details: JsonMap = NO_FIELDS,
    ) -> list[ev.Event]:
        """
        End the step without a valid end, and before it everything that is open, marked incomplete.

        Every call without a result fails as `interrupted`: the calls of a failed step are not to be run.
        """
        self._require_running()
        if self._replay is not None:
            # The prior message holds more than the replay has repeated so far, so that message is closed.
            self._lifecycle.abandon()
            replay, self._replay = self._replay, None
            self._caused = replay.closing(error)
            closing = self._deliver()
            if replay.sealed:
                self._replay = replay
            return closing
        failed = ev.StepFailed(
            message_id=self.message_id,
            error=error,
            usage=usage,
            run=run,
            state=state,
            details=details,
        )
        self._calls.cut_inputs()
        self._fragments.end_all(complete=False)
        self._end_opaque()
        self._calls.answer_held()
        self._calls.fail_unsettled(interrupted("the step failed before this call was answered"))
        self._emit(failed)
        return self._deliver()

    def close(self, error: ErrorInfo | None = None) -> list[ev.Event]:
        """
        Settle everything: fail the step unless it has ended, or never started. Has no effect the second time.

        Args:
            error: The reason; `interrupted` by default.
        """
        if not self.started or self.terminal:
            return []
        return self.fail(interrupted() if error is None else error)

    # -- items by key

    def begin(self, key: Hashable, kind: str, state: JsonMap = NO_STATE) -> list[ev.Event]:
        """
        Begin an item before any of its content has come.

        Args:
            key: The adapter's name of the item.

            kind: `text`, `reasoning`, or `opaque` for an item that has no event of ours: it is recorded when it ends,
                with everything that was kept for it.

            state: State of the item, repeated in each of its fragments.
        """
        self._require_running()
        if kind == "opaque":
            self._opaque.setdefault(key, {}).update(as_state(state))
        elif kind in ("text", "reasoning"):
            self._fragments.begin(kind, key, state)
        else:
            raise ValueError(f"kind: expected 'text', 'reasoning' or 'opaque', got {kind!r}")
        return self._deliver()

    def keep(
        self,
        key: Hashable,
        state: JsonMap = NO_STATE,
        citations: Sequence[Citation] = (),
        details: JsonMap = NO_FIELDS,
    ) -> list[ev.Event]:
        """
        Keep facts of an item that are known before its end; the item ends with them, however it ends.

        After the end of a text or reasoning they become one more, empty, fragment at the end of the item or the step.
        For another item that has not begun, or has ended, they become a note.

        Args:
            key: The adapter's name of the item; `None` for the open fragment without a key.

            state: Merged into what was kept before: objects are merged, arrays are joined, other values are replaced.

            citations: Sources, in code points of the text; added to those that were kept before. A place that is
                outside of the text, when that ends, is left out.

            details: Facts that are never sent back; each replaces the one of its name. What comes in pieces, as do log
                probabilities, is collected by the adapter and kept once, at the end and in `on_failing`.
        """
        self._require_running()
        known = as_state(state)
        call = self._calls.of_key(key)
        if key in self._opaque:
            merge_state(self._opaque[key], known)
        elif call is not None and (not call.call_id or call.is_open):
            merge_state(call.state, known)
        elif not (self._calls.keep_held(key, known) or self._fragments.keep(key, known, citations, details)):
            self._note("stray-facts", "facts came for an item that had not begun or had ended")
        return self._deliver()

    def end(self, key: Hashable) -> list[ev.Event]:
        """End the item of a key, of any kind, with what is known of it. Has no effect for unknown keys."""
        self._require_running()
        call = self._calls.of_key(key)
        if key in self._opaque:
            self._emit_opaque(self._opaque.pop(key), key)
        elif call is not None:
            if not call.call_id or call.is_open:
                self._calls.end(call, waits=True)
        else:
            self._fragments.end_item(key)
        return self._deliver()

    # -- text, reasoning, media

    def text(self, delta: str, *, key: Hashable = None, state: JsonMap = NO_STATE) -> list[ev.Event]:
        """Add to the visible text. *state* is the state of the item, repeated in each of its fragments."""
        return self._add_text("text", delta, key, state)

    def end_text(
        self,
        state: JsonMap = NO_STATE,
        text: str | None = None,
        citations: Sequence[Citation] = (),
        details: JsonMap = NO_FIELDS,
        *,
        key: Hashable = None,
    ) -> list[ev.Event]:
        """
        End the visible text.

        Args:
            state: State of the item; added to what is known, and wins over it.

            text: The whole text, when the provider repeats it; it wins over the deltas. `None` otherwise.

            citations: Sources, in code points of this text; see `keep`.

            details: Facts of the provider that are never sent back.

            key: The adapter's name of the item.
        """
        self._require_running()
        self._fragments.end("text", key, state, text, citations=citations, details=details)
        return self._deliver()

    def reasoning(self, delta: str, *, key: Hashable = None, state: JsonMap = NO_STATE) -> list[ev.Event]:
        """Add to the reasoning. *state* is the state of the item, repeated in each of its fragments."""
        return self._add_text("reasoning", delta, key, state)

    def end_reasoning(
        self, state: JsonMap = NO_STATE, text: str | None = None, *, key: Hashable = None
    ) -> list[ev.Event]:
        """End the reasoning; like `end_text`. With a state and no text at all, an empty reasoning keeps the state."""
        self._require_running()
        self._fragments.end("reasoning", key, state, text)
        return self._deliver()

    def media(
        self, delta: bytes, media_type: str, *, key: Hashable = None, state: JsonMap = NO_STATE
    ) -> list[ev.Event]:
        """Add to a media item that comes in pieces."""
        if not delta:
            return []
        self._require_running()
        self._fragments.add(self._fragments.begin("media", key, state, media_type), delta)
        return self._deliver()

    def end_media(
        self,
        state: JsonMap = NO_STATE,
        data: bytes | None = None,
        uri: str | None = None,
        *,
        media_type: str | None = None,
        key: Hashable = None,
        complete: bool = True,
    ) -> list[ev.Event]:
        """
        End a media item, or record one that came whole.

        Args:
            state: State of the item; added to what is known, and wins over it.

            data: All of its bytes, when it came whole; `None` for those of the deltas.

            uri: Its address, instead of bytes.

            media_type: Needed when nothing is open.

            key: The adapter's name of the item.

            complete: False when it cannot be used as it came.
        """
        self._require_running()
        if not self._fragments.collects("media", key):
            if media_type is None:
                raise LocalProtocolError("end_media: no media item is open; expected a media_type")
            self._fragments.begin("media", key, NO_STATE, media_type)
        self._fragments.end("media", key, state, data, uri, complete=complete)
        return self._deliver()

    # -- calls

    def tool_input(
        self,
        call_id: str | None,
        name: str | None = None,
        delta: str = "",
        *,
        key: Hashable = None,
        provider_executed: bool = False,
        state: JsonMap = NO_STATE,
        input: Mapping[str, object] | None = None,
    ) -> list[ev.Event]:
        """
        Begin the input of a call, or add to it. Nothing is emitted until the name is known, or after the input's end.

        Without a key the provider's id is the address, and `None` means the input that was begun last.

        Args:
            call_id: The provider's id; a missing one is made (`call-1`), one used before in this message gets a
                suffix (`#2`). The provider's own value is then in `state.id`.

            name: Name of the tool; `None` or empty while it is unknown, and for more input of an open call.

            delta: The input to add; empty to begin only.

            key: The adapter's name of the call.

            provider_executed: Whether the provider runs it.

            state: State of the call, added to what is known.

            input: An input that came as an object; it is used where the text is not one.
        """
        self._require_running()
        check_str("tool_input", delta)
        whole = None if input is None else as_input(input)
        call = self._calls.open_input(call_id, key)
        if call is None:
            if self._calls.has_ended(key):
                self._note("late-arguments", "arguments came after their call had ended")
                return []
            call = self._calls.begin(call_id, name or "", key, state, provider_executed=provider_executed)
        else:
            self._calls.reopen(call, state)
        if whole is not None:
            call.input = whole
        if delta:
            self._calls.add(call, delta)
        return self._deliver()

    def end_tool_input(
        self,
        call_id: str | None = None,
        state: JsonMap = NO_STATE,
        input: Mapping[str, object] | None = None,
        complete: bool = True,
        *,
        key: Hashable = None,
        fault: str | None = None,
    ) -> list[ev.Event]:
        """
        End the input of a call: an object gives `tool.called`, anything else `tool.failed` of kind `invalid-input`.

        A call whose name never came is kept as `opaque.received`, with its `id` and `arguments` in the state. Without
        an open input, the end becomes a note.

        Args:
            call_id: The provider's id, as it was given at the start.

            state: State of the call; added to what is known, and wins over it.

            input: The input, where it is not the JSON text that came. It wins over that text and leaves it as it is.

            complete: False when the provider marked the input as incomplete; the call fails then.

            key: The adapter's name of the call.

            fault: Why the adapter could not read the input; the call fails with it.
        """
        self._require_running()
        call = self._calls.waiting_for_name(call_id, key) or self._calls.open_input(call_id, key)
        if call is None:
            self._note("stray-end", "the end of an input came for a call without an open input")
            return []
        self._calls.end(call, as_state(state), input, complete=complete, fault=fault, waits=True)
        return self._deliver()

    def tool_call(
        self,
        call_id: str | None,
        name: str | None,
        input: Mapping[str, object] | str,
        *,
        key: Hashable = None,
        provider_executed: bool = False,
        state: JsonMap = NO_STATE,
    ) -> list[ev.Event]:
        """Record a call that came whole. A `str` is JSON text and is parsed like streamed input."""
        self._require_running()
        if isinstance(input, str):
            call = self._calls.begin(call_id, name or "", key, state, provider_executed=provider_executed)
            if input:
                self._calls.add(call, input)
            self._calls.end(call)
        else:
            self._calls.add_whole(call_id, name or "", input, key, state, provider_executed=provider_executed)
        return self._deliver()

    def tool_progress(self, call_id: str | None, output: ContentInput = (), *, key: Hashable = None) -> list[ev.Event]:
        """Show the output of a running call so far; replaces the last one."""
        if not self.started:
            self._require_running()
        call = self._calls.answerable(call_id, key)
        if call is None:
            raise LocalProtocolError(f"tool_progress: call {call_id!r} is unknown")
        self._emit(ev.ToolProgress(message_id=self.message_id, call_id=call.call_id, output=output))
        return self._deliver()

    def result(
        self,
        call_id: str | None,
        output: ContentInput = (),
        error: ErrorInfo | None = None,
        name: str | None = None,
        state: JsonMap = NO_STATE,
        *,
        details: JsonMap = NO_FIELDS,
        key: Hashable = None,
        provider_executed: bool = False,
        call_state: JsonMap = NO_STATE,
    ) -> list[ev.Event]:
        """
        Record the result of a call: `tool.success`, or `tool.failed` with an *error*.

        An input that is open ends first. A second result of a call is ignored.

        Args:
            call_id: The provider's id of the call, or ours; the oldest call of this id without a result is meant.

            output: What the tool returned.

            error: Why the call failed.

            name: Name of the tool, for a result whose call has not come: the result waits for it, and at the end of the
                step a call of the provider is made up. Without a name an unknown call is refused.

            state: State of the result.

            details: Facts of the provider that are never sent back.

            key: The adapter's name of the call; or, where it began no call, of the result's own item.

            provider_executed: Whether the provider ran the call, where that was not known at its start.

            call_state: State of the call that is made up, beside `orphan`.
        """
        if not self.started:
            self._require_running()
        call = self._calls.answerable(call_id, key)
        if call is None and not name:
            raise LocalProtocolError(f"result: call {call_id!r} is unknown")
        result = Result(
            call_id=call_id,
            output=as_content(output),
            error=error,
            name=name or "",
            state=dict(as_state(state)),
            details=as_details(details),
            key=key,
            call_state=as_state(call_state),
        )
        if call is None:
            self._require_running()
            self._calls.hold(result)
            return []
        call.provider_executed = call.provider_executed or provider_executed
        self._calls.answer(call, result)
        return self._deliver()

    def opaque(self, state: JsonMap, key: Hashable = None) -> list[ev.Event]:
        """Record an item of the provider that has no event of ours."""
        self._require_running()
        self._emit_opaque(state, key)
        return self._deliver()

    # -- inside

    def _add_text(self, kind: str, delta: str, key: Hashable, state: JsonMap) -> list[ev.Event]:
        check_str(kind, delta)
        if not delta:
            return []
        fragments = self._fragments
        fragment = fragments.open.get(kind)
        if fragment is None or fragment.key != key:
            self._require_running()
            fragment = fragments.begin(kind, key, state)
        fragments.add_text(fragment, delta)
        return self._deliver()

    def _end_opaque(self) -> None:
        for key, state in self._opaque.items():
            self._emit_opaque(state, key)
        self._opaque.clear()

    def _emit_opaque(self, state: JsonMap, key: Hashable) -> None:
        numbered = self._numbers.add_to(key, state)
        self._fragments.end_unkeyed()
        self._emit(ev.OpaqueReceived(message_id=self.message_id, state=numbered))
