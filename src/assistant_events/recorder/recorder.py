"""
Verbs that an adapter calls, and the events they cause.

Each verb returns the events it caused, opens what is not open, and treats an empty delta as nothing. `key` is the
adapter's private name of the provider's item; it never leaves. Rules the reader may rely on:

- At most one text, one reasoning and one medium are open. When an item of the same kind begins before the last one
  has ended, the last one ends at once; what still comes for it becomes one more fragment, once the provider ends the
  item or the step ends. Adapters give both fragments the same key in `state`, so that encoders can merge them.
- Without a key the kind alone is the address, and anything of another kind ends what is open.
- Tool input is parsed here and nowhere else: an object gives `tool.called`, anything else `tool.failed`.
- A surrogate pair that is cut between two deltas is joined; half of one alone becomes U+FFFD.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping, Sequence

from assistant_events.errors import LocalProtocolError
from assistant_events.events import (
    Event,
    MediaDelta,
    OpaqueReceived,
    ReasoningDelta,
    StepEnded,
    StepFailed,
    StepRestarted,
    StepStarted,
    TextDelta,
    ToolCalled,
    ToolFailed,
    ToolInputDelta,
    ToolInputEnded,
    ToolInputStarted,
    ToolProgress,
    ToolSuccess,
)
from assistant_events.lifecycle import CallPhase, KnownEvent, MessageLifecycle, MessagePhase
from assistant_events.messages import AssistantMessage, interrupted
from assistant_events.recorder.open_parts import OpenCall, OpenFragment, OpenMedia, joined, parsed_input
from assistant_events.recorder.replay_filter import ReplayFilter
from assistant_events.values import (
    Citation,
    ErrorInfo,
    ErrorKind,
    FinishReason,
    JsonObject,
    Origin,
    RemoteRun,
    State,
    Usage,
    valid_text,
    write_json,
)
from assistant_events.values.construct import trusted
from assistant_events.values.content import ContentInput
from assistant_events.values.json_values import same_json
from assistant_events.values.text import has_surrogates
from assistant_events.values.validators import NO_STATE, as_state

_STATE = Mapping[str, object]


class Recorder:
    """
    Records one step of one model as events of one message.

    Args:
        message_id: Id of the message that the step becomes.

        prior: The message as it stands already, to rejoin it: the verbs are called as for a fresh step, from its
            start, and only what is new comes out (see `rejoining`).

        sink: A list that every event is also appended to, in the order in which they are returned.

    Raises:
        LocalProtocolError: From every verb that the order of events does not allow, with nothing changed.
    """

    def __init__(
        self, message_id: str, *, prior: AssistantMessage | None = None, sink: list[Event] | None = None
    ) -> None:
        if not isinstance(message_id, str) or not message_id:
            raise TypeError("message_id: expected a non-empty string")
        if prior is not None and prior.id != message_id:
            raise LocalProtocolError(f"prior is message {prior.id!r}, expected {message_id!r}")
        self.message_id = message_id
        self.sink = sink
        self._life = MessageLifecycle()
        self._rejoin = None if prior is None else ReplayFilter(prior)
        self._open: dict[str, OpenFragment] = {}
        self._early: dict[tuple[str, Hashable], OpenFragment] = {}
        self._waiting: dict[str, list[KnownEvent]] = {}
        self._calls: dict[str, OpenCall] = {}
        self._calls_by_key: dict[Hashable, OpenCall] = {}
        # Under our id and the provider's: newest last, those whose input has ended dropped when met; `None` holds all.
        self._inputs: dict[str | None, list[OpenCall]] = {}
        # Under both ids: oldest first, those that are settled are dropped when met, but for the last.
        self._awaited: dict[str | None, deque[OpenCall]] = {}
        self._synthesized = 0
        self._uses: dict[str, int] = {}
        self._caused: list[Event] = []
        self._kept: list[Event] = []
        self._answered_before: set[str] = set()
        """Calls that were answered before a rejoin, and whose answer the replay has not come to."""

    # -- where it stands

    @property
    def started(self) -> bool:
        """Whether `start` has been called."""
        return self._life.phase is not MessagePhase.UNKNOWN

    @property
    def terminal(self) -> bool:
        """Whether the step has ended or failed."""
        return self._life.phase is MessagePhase.ENDED or self._life.phase is MessagePhase.FAILED

    @property
    def rejoining(self) -> bool:
        """Whether a replay is still being compared with what was recorded before."""
        return self._rejoin is not None

    def again(self) -> Recorder:
        """Return a recorder for one more replay from the start, while nothing has come of this one."""
        made = Recorder(self.message_id, sink=self.sink)
        made._rejoin = None if self._rejoin is None else self._rejoin.again()
        return made

    def open_fragment(self, kind: str) -> OpenFragment | None:
        """Return what is open of a kind. For decoders that append on a hot path; see `DecoderBase`."""
        return self._open.get(kind)

    def goes_on(self, kind: str, key: Hashable) -> bool:
        """Tell whether content of this kind and key is added to an item that has begun, and does not begin one."""
        fragment = self._open.get(kind)
        return (fragment is not None and fragment.key == key) or (kind, key) in self._early

    def so_far(self) -> list[Event]:
        """Return events that give what has come out so far: the durable ones, and what is open in one delta each."""
        events = list(self._kept)
        if self._rejoin is not None:
            return events
        message_id = self.message_id
        for fragment in self._open.values():
            if isinstance(fragment, OpenMedia):
                if fragment.data.length:
                    events.append(MediaDelta(message_id=message_id, offset=0, delta=fragment.data.value()))
            elif fragment.buffer.length:
                cls = TextDelta if fragment.kind == "text" else ReasoningDelta
                events.append(cls(message_id=message_id, offset=0, delta=fragment.buffer.value()))
        for call in self._calls.values():
            if self._life.call(call.call_id) is CallPhase.INPUT_OPEN and call.buffer.length:
                text = call.buffer.value()
                events.append(ToolInputDelta(message_id=message_id, call_id=call.call_id, offset=0, delta=text))
        return events

    def open_input(self, key: Hashable) -> OpenCall | None:
        """
        Return the call of a key, or (where calls have none) of the provider's id, while its input is open.

        `None` means the input that was begun last. For decoders that ask before they add, or append on a hot path.
        """
        call = self._calls_by_key.get(key)
        if call is None:
            return self._open_input(key, None) if key is None or isinstance(key, str) else None
        return call if self._life.call(call.call_id) is CallPhase.INPUT_OPEN else None

    def is_settled(self, key: Hashable) -> bool:
        """Tell whether the call of a key, or (where calls have none) of an id, has an answer, of whatever kind."""
        call = self._calls_by_key.get(key)
        if call is None and isinstance(key, str):
            call = self._awaited[key][-1] if key in self._awaited else None
        return call is not None and self._life.call(call.call_id) is CallPhase.SETTLED

    def unanswered(self, *, provider_executed: bool) -> list[str]:
        """Return the ids of the calls that stand and have no answer, oldest first."""
        return [
            call.call_id
            for call in self._calls.values()
            if call.provider_executed is provider_executed and self._life.call(call.call_id) is CallPhase.CALLED
        ]

    # -- the step

    def start(self, origin: Origin, run: RemoteRun | None = None, state: _STATE = NO_STATE) -> list[Event]:
        """Begin the step."""
        self._emit(StepStarted(message_id=self.message_id, origin=origin, run=run, state=state))
        return self._deliver()

    def restart(
        self, reason: str, origin: Origin | None = None, run: RemoteRun | None = None, state: _STATE = NO_STATE
    ) -> list[Event]:
        """Void what was received; the same message starts over. *origin* fills in what the start did not know."""
        self._emit(StepRestarted(message_id=self.message_id, reason=reason, origin=origin, run=run, state=state))
        self._forget()
        return self._deliver()

    def finish(
        self,
        finish_reason: FinishReason | str,
        raw_finish_reason: str | None = None,
        usage: Usage | None = None,
        state: _STATE = NO_STATE,
        run: RemoteRun | None = None,
    ) -> list[Event]:
        """
        End the step as the provider does, and before it all that is open.

        Inputs without an end are taken as they are. Calls of the provider without a result fail: as `no-result` when
        the answer is complete, else as `interrupted`.
        """
        self._require_running()
        finish_reason = FinishReason(finish_reason)
        for call in list(self._calls.values()):
            if self._life.call(call.call_id) is CallPhase.INPUT_OPEN:
                self._end_input(call, NO_STATE, None, None)
        self._end_all(complete=True)
        whole = finish_reason is FinishReason.STOP or finish_reason is FinishReason.TOOL_CALLS
        missing = (
            ErrorInfo(kind=ErrorKind.NO_RESULT, message="the provider ended its answer without a result of this call")
            if whole
            else interrupted("the provider's answer ended before a result of this call")
        )
        for call_id in self._life.unsettled_calls():
            self._emit(ToolFailed(message_id=self.message_id, call_id=call_id, error=missing, provider_executed=True))
        self._emit(
            StepEnded(
                message_id=self.message_id,
                finish_reason=finish_reason,
                raw_finish_reason=raw_finish_reason,
                usage=usage,
                run=run,
                state=state,
            )
        )
        return self._deliver()

    def fail(
        self, error: ErrorInfo, usage: Usage | None = None, state: _STATE = NO_STATE, run: RemoteRun | None = None
    ) -> list[Event]:
        """
        End the step without a valid end, and before it all that is open, marked incomplete.

        Every call that has no answer fails as `interrupted`: the calls of a failed step are not to be run.
        """
        self._require_running()
        if self._rejoin is not None:
            # What was recorded before is more than the replay has said so far; it is closed where it stands.
            for call_id in self._calls:
                # The closing answers them as far as they were recorded; a later answer would be a second one.
                self._life.advance(ToolFailed(message_id=self.message_id, call_id=call_id, error=interrupted()))
            self._life.phase = MessagePhase.FAILED
            self._caused = []
            closed = self._rejoin.closing(error)
            if not self._rejoin.sealed:
                self._rejoin = None
            return self._hand_on(closed)
        for call in self._calls.values():
            if self._life.call(call.call_id) is CallPhase.INPUT_OPEN:
                self._flush_input(call)
                self._emit(
                    ToolInputEnded(
                        message_id=self.message_id,
                        call_id=call.call_id,
                        text=call.buffer.value(),
                        complete=False,
                        state=call.state,
                    )
                )
        self._end_all(complete=False)
        for call in self._calls.values():
            if self._life.call(call.call_id) is not CallPhase.SETTLED:
                self._emit(
                    ToolFailed(
                        message_id=self.message_id,
                        call_id=call.call_id,
                        error=interrupted("the step failed before this call was answered"),
                        provider_executed=call.provider_executed,
                    )
                )
        self._emit(StepFailed(message_id=self.message_id, error=error, usage=usage, run=run, state=state))
        return self._deliver()

    def close(self, error: ErrorInfo | None = None) -> list[Event]:
        """
        Settle everything: fail the step unless it has ended, or never began. Again it does nothing.

        Args:
            error: Why; `interrupted` by default.
        """
        if not self.started or self.terminal:
            return []
        return self.fail(interrupted() if error is None else error)

    # -- text, reasoning, media

    def begin_text(self, *, key: Hashable = None, state: _STATE = NO_STATE) -> list[Event]:
        """Open a text before anything of it has come."""
        self._fragment("text", key, state)
        return self._deliver()

    def text(self, delta: str, *, key: Hashable = None, state: _STATE = NO_STATE) -> list[Event]:
        """Add to the visible text. *state* is what is known of it when it opens."""
        return self._add_text("text", delta, key, state)

    def end_text(
        self,
        state: _STATE = NO_STATE,
        text: str | None = None,
        citations: Sequence[Citation] = (),
        *,
        key: Hashable = None,
    ) -> list[Event]:
        """
        End the visible text.

        Args:
            state: What goes back to the provider with it; replaces what was given when it opened, unless empty.

            text: All of the text, when the provider says it once more; it wins over the deltas. `None` otherwise.

            citations: Sources, in code points of this text.

            key: The adapter's name of the item.
        """
        self._end_item("text", key, state, text, tuple(citations))
        return self._deliver()

    def begin_reasoning(self, *, key: Hashable = None, state: _STATE = NO_STATE) -> list[Event]:
        """Open a reasoning before anything of it has come."""
        self._fragment("reasoning", key, state)
        return self._deliver()

    def reasoning(self, delta: str, *, key: Hashable = None, state: _STATE = NO_STATE) -> list[Event]:
        """Add to the reasoning. *state* is what is known of it when it opens."""
        return self._add_text("reasoning", delta, key, state)

    def end_reasoning(self, state: _STATE = NO_STATE, text: str | None = None, *, key: Hashable = None) -> list[Event]:
        """End the reasoning; like `end_text`. With a state and no text at all, an empty reasoning keeps the state."""
        self._end_item("reasoning", key, state, text, ())
        return self._deliver()

    def media(self, delta: bytes, media_type: str, *, key: Hashable = None, state: _STATE = NO_STATE) -> list[Event]:
        """Add to a medium that comes in pieces."""
        if not delta:
            return []
        fragment = self._fragment("media", key, state, media_type)
        assert isinstance(fragment, OpenMedia)
        if self._open.get("media") is fragment:
            self._emit(MediaDelta(message_id=self.message_id, offset=fragment.data.length, delta=delta))
        fragment.data.append(delta)
        return self._deliver()

    def end_media(
        self,
        state: _STATE = NO_STATE,
        data: bytes | None = None,
        uri: str | None = None,
        *,
        media_type: str | None = None,
        key: Hashable = None,
        complete: bool = True,
    ) -> list[Event]:
        """
        End a medium, or record one that came whole.

        Args:
            state: What goes back to the provider with it; replaces what was given when it opened, unless empty.

            data: All of its bytes, when it came whole; `None` for what the deltas gave.

            uri: Where it is, instead of bytes.

            media_type: Needed when nothing is open.

            key: The adapter's name of the item.

            complete: False when it cannot be used as it came.
        """
        self._require_running()
        fragment = self._open.get("media")
        if fragment is None or fragment.key != key:
            late = self._early.get(("media", key))
            if late is not None:
                self._end_late_media(late, state, data, uri, complete=complete)
                return self._deliver()
            if media_type is None:
                raise LocalProtocolError("end_media: no medium is open; expected a media_type")
            fragment = self._fragment("media", key, state, media_type)
        assert isinstance(fragment, OpenMedia)
        self._close_media(fragment, state, data, uri, complete=complete)
        return self._deliver()

    # -- calls

    def tool_input(
        self,
        call_id: str | None,
        name: str,
        delta: str = "",
        *,
        key: Hashable = None,
        provider_executed: bool = False,
        state: _STATE = NO_STATE,
    ) -> list[Event]:
        """
        Begin the input of a call, or add to it.

        Without a key the provider's id is the address, and `None` means the input that was begun last.

        Args:
            call_id: The provider's id; missing ones are made (`call-1`), one used before in this message gets a
                suffix (`#2`). The provider's own value is then in `state.id`.

            name: Name of the tool.

            delta: What is added; empty to begin only.

            key: The adapter's name of the call.

            provider_executed: Whether the provider runs it.

            state: What is known of the call when it begins.
        """
        self._require_running()
        _check_text("tool_input", delta)
        call = self._open_input(call_id, key)
        if call is None:
            call = self._begin_input(call_id, name, key, state, provider_executed=provider_executed)
        if delta:
            self._add_input(call, delta)
        return self._deliver()

    def end_tool_input(
        self,
        call_id: str | None = None,
        state: _STATE = NO_STATE,
        *,
        key: Hashable = None,
        text: str | None = None,
        prefill: Mapping[str, object] | None = None,
        fault: str | None = None,
    ) -> list[Event]:
        """
        End the input of a call: an object gives `tool.called`, anything else `tool.failed` of kind `invalid-input`.

        Args:
            call_id: The provider's id, as it was given at the start.

            state: State of the call; replaces what was given when it opened, unless empty.

            key: The adapter's name of the call.

            text: All of the input, when the provider says it once more. `None` otherwise.

            prefill: Arguments that came whole beside the deltas; they stand when the deltas give no object.

            fault: Why the adapter could not read the input. Where nothing else came of it, the call fails with that
            and is not taken for one without arguments.
        """
        self._require_running()
        call = self._open_input(call_id, key)
        if call is None:
            raise LocalProtocolError(f"end_tool_input: no input of call {call_id!r} is open")
        self._end_input(call, state, text, prefill, fault)
        return self._deliver()

    def tool_call(
        self,
        call_id: str | None,
        name: str,
        input: Mapping[str, object] | str,
        *,
        key: Hashable = None,
        provider_executed: bool = False,
        state: _STATE = NO_STATE,
    ) -> list[Event]:
        """Record a call that came whole. A `str` is JSON text and is parsed like streamed input."""
        self._require_running()
        if isinstance(input, str):
            call = self._begin_input(call_id, name, key, state, provider_executed=provider_executed)
            if input:
                self._add_input(call, input)
            self._end_input(call, NO_STATE, None, None)
            return self._deliver()
        call = self._new_call(call_id, name, key, state, provider_executed=provider_executed)
        called = ToolCalled(
            message_id=self.message_id,
            call_id=call.call_id,
            name=name,
            input=input,
            provider_executed=provider_executed,
            state=call.state,
        )
        self._end_unkeyed(None)
        self._emit(called)
        self._register(call)
        return self._deliver()

    def tool_progress(self, call_id: str | None, output: ContentInput = (), *, key: Hashable = None) -> list[Event]:
        """Show what a running call has so far; replaces the last one."""
        call = self._called(call_id, key, "tool_progress")
        self._emit(ToolProgress(message_id=self.message_id, call_id=call.call_id, output=output))
        return self._deliver()

    def tool_success(
        self,
        call_id: str | None,
        output: ContentInput = (),
        *,
        key: Hashable = None,
        provider_executed: bool | None = None,
        state: _STATE = NO_STATE,
    ) -> list[Event]:
        """Record the answer of a call. *provider_executed* is that of the call unless it is said anew."""
        call = self._called(call_id, key, "tool_success")
        if self._comes_again(call):
            return []
        if provider_executed is not None:
            call.provider_executed = call.provider_executed or provider_executed
        self._emit(
            ToolSuccess(
                message_id=self.message_id,
                call_id=call.call_id,
                output=output,
                provider_executed=call.provider_executed,
                state=state,
            )
        )
        return self._deliver()

    def tool_failed(
        self,
        call_id: str | None,
        error: ErrorInfo,
        output: ContentInput = (),
        *,
        key: Hashable = None,
        provider_executed: bool | None = None,
        state: _STATE = NO_STATE,
    ) -> list[Event]:
        """Record that a call failed."""
        call = self._called(call_id, key, "tool_failed")
        if self._comes_again(call):
            return []
        if provider_executed is not None:
            call.provider_executed = call.provider_executed or provider_executed
        self._emit(
            ToolFailed(
                message_id=self.message_id,
                call_id=call.call_id,
                error=error,
                output=output,
                provider_executed=call.provider_executed,
                state=state,
            )
        )
        return self._deliver()

    def opaque(self, state: _STATE) -> list[Event]:
        """Keep an item of the provider that has no word of ours."""
        self._require_running()
        self._end_unkeyed(None)
        self._emit(OpaqueReceived(message_id=self.message_id, state=state))
        return self._deliver()

    # -- inside: fragments

    def _fragment(self, kind: str, key: Hashable, state: _STATE, media_type: str = "") -> OpenFragment:
        """
        Return the fragment that content of this kind and key belongs to: open, new, or ended early and collecting.
        """
        open_ = self._open.get(kind)
        if open_ is not None and open_.key == key:
            return open_
        self._require_running()
        early = self._early.get((kind, key))
        if early is not None:
            return early
        # Made before anything happens, since they refuse what is no state or media type.
        known = as_state(state)
        made = OpenMedia(key, known, media_type) if kind == "media" else OpenFragment(kind, key, known)
        started = made.started(self.message_id)
        self._end_unkeyed(kind)
        if open_ is not None:
            self._end_early(open_)
        self._emit(started)
        self._open[kind] = made
        return made

    def _add_text(self, kind: str, delta: str, key: Hashable, state: _STATE) -> list[Event]:
        _check_text(kind, delta)
        if not delta:
            return []
        fragment = self._fragment(kind, key, state)
        self._append(fragment, delta)
        return self._deliver()

    def _append(self, fragment: OpenFragment, delta: str) -> None:
        if fragment.held or has_surrogates(delta):
            delta, fragment.held = joined(fragment.held, delta)
            if not delta:
                return
        buffer = fragment.buffer
        if self._open.get(fragment.kind) is fragment:
            values = {"message_id": self.message_id, "offset": buffer.length, "delta": delta}
            self._emit(trusted(TextDelta, values) if fragment.kind == "text" else trusted(ReasoningDelta, values))
        buffer.append(delta)

    def _release(self, fragment: OpenFragment) -> None:
        """Give up waiting for the second half of a surrogate pair."""
        if fragment.held:
            fragment.held = ""
            self._append(fragment, "\ufffd")

    def _end_unkeyed(self, kind: str | None) -> None:
        """End what is open without a key, but not of *kind*: without a key only the channel tells fragments apart."""
        for other in list(self._open.values()):
            if other.key is None and other.kind != kind:
                self._close(other, complete=True)

    def _end_early(self, fragment: OpenFragment) -> None:
        """End a fragment because another of its kind begins; what still comes for it is collected."""
        self._close(fragment, complete=True)
        if fragment.key is not None:
            again = (
                OpenMedia(fragment.key, fragment.state, fragment.media_type)
                if isinstance(fragment, OpenMedia)
                else OpenFragment(fragment.kind, fragment.key, fragment.state)
            )
            self._early[fragment.kind, fragment.key] = again

    def _end_item(
        self, kind: str, key: Hashable, state: _STATE, text: str | None, citations: tuple[Citation, ...]
    ) -> None:
        """End what the provider calls one item, wherever its fragment is by now."""
        self._require_running()
        fragment = self._open.get(kind)
        if fragment is not None and fragment.key == key:
            self._close_text(fragment, state, text, citations, complete=True)
            return
        late = self._early.get((kind, key))
        if late is None:
            if not state and not text:
                return
            self._end_unkeyed(kind)
            late = OpenFragment(kind, key, NO_STATE)
        known = as_state(state) if state else late.state
        if text is None:
            self._release(late)
        whole = late.buffer.value() if text is None else _valid("text", text)
        if whole or _says_more(known, late.state):
            self._follow(late, [late.started(self.message_id), late.ended(self.message_id, whole, known, citations)])
        self._early.pop((kind, key), None)

    def _end_late_media(
        self, late: OpenFragment, state: _STATE, data: bytes | None, uri: str | None, *, complete: bool
    ) -> None:
        """End a medium that ended early already: what came since is one more."""
        assert isinstance(late, OpenMedia)
        known = as_state(state) if state else late.state
        if late.data.length or data is not None or uri is not None or _says_more(known, late.state):
            ended = late.ended_with(self.message_id, known, data, uri, complete=complete)
            self._follow(late, [late.started(self.message_id), ended])
        del self._early["media", late.key]

    def _follow(self, late: OpenFragment, events: list[KnownEvent]) -> None:
        """Emit one more fragment for an item that ended early: now, or once what is open of its kind has ended."""
        if late.kind in self._open:
            self._waiting.setdefault(late.kind, []).extend(events)
            return
        for event in events:
            self._emit(event)

    def _close(self, fragment: OpenFragment, *, complete: bool) -> None:
        """End a fragment with what it has."""
        if isinstance(fragment, OpenMedia):
            self._close_media(fragment, NO_STATE, None, None, complete=complete)
        else:
            self._close_text(fragment, NO_STATE, None, (), complete=complete)

    def _close_text(
        self,
        fragment: OpenFragment,
        state: _STATE,
        text: str | None,
        citations: tuple[Citation, ...],
        *,
        complete: bool,
    ) -> None:
        known = as_state(state) if state else fragment.state
        self._release(fragment)
        whole = fragment.buffer.value() if text is None else _valid("text", text)
        self._emit(fragment.ended(self.message_id, whole, known, citations, complete=complete))
        self._closed(fragment)

    def _close_media(
        self, fragment: OpenMedia, state: _STATE, data: bytes | None, uri: str | None, *, complete: bool
    ) -> None:
        known = as_state(state) if state else fragment.state
        self._emit(fragment.ended_with(self.message_id, known, data, uri, complete=complete))
        self._closed(fragment)

    def _closed(self, fragment: OpenFragment) -> None:
        del self._open[fragment.kind]
        for event in self._waiting.pop(fragment.kind, ()):
            self._emit(event)

    def _end_all(self, *, complete: bool) -> None:
        for fragment in list(self._open.values()):
            self._close(fragment, complete=complete)
        for late in self._early.values():
            if isinstance(late, OpenMedia):
                if late.data.length:
                    self._emit(late.started(self.message_id))
                    self._emit(late.ended_with(self.message_id, late.state, None, None, complete=complete))
                continue
            self._release(late)
            if late.buffer.length:
                self._emit(late.started(self.message_id))
                self._emit(late.ended(self.message_id, late.buffer.value(), late.state, complete=complete))
        self._early.clear()

    # -- inside: calls

    def _begin_input(
        self, provider_id: str | None, name: str, key: Hashable, state: _STATE, *, provider_executed: bool
    ) -> OpenCall:
        call = self._new_call(provider_id, name, key, state, provider_executed=provider_executed)
        started = ToolInputStarted(
            message_id=self.message_id, call_id=call.call_id, name=name, provider_executed=provider_executed
        )
        self._end_unkeyed(None)
        self._emit(started)
        self._register(call)
        for known_as in {None, call.call_id, call.provider_id}:
            self._inputs.setdefault(known_as, []).append(call)
        return call

    def _new_call(
        self, provider_id: str | None, name: str, key: Hashable, state: _STATE, *, provider_executed: bool
    ) -> OpenCall:
        self._require_running()
        call_id = self._unique(provider_id)
        known = as_state(state)
        if call_id != provider_id:
            known |= {"id": provider_id}
        return OpenCall(call_id, provider_id, name, key, known, provider_executed=provider_executed)

    def _register(self, call: OpenCall) -> None:
        self._calls[call.call_id] = call
        if call.key is not None:
            self._calls_by_key[call.key] = call
        for known_as in {call.call_id, call.provider_id}:
            self._awaited.setdefault(known_as, deque()).append(call)

    def _unique(self, provider_id: str | None) -> str:
        if not provider_id:
            while True:
                self._synthesized += 1
                made = f"call-{self._synthesized}"
                if made not in self._calls:
                    return made
        if provider_id not in self._calls:
            return provider_id
        count = self._uses.get(provider_id, 1) + 1
        while f"{provider_id}#{count}" in self._calls:
            count += 1
        self._uses[provider_id] = count
        return f"{provider_id}#{count}"

    def _open_input(self, provider_id: str | None, key: Hashable) -> OpenCall | None:
        if key is not None:
            call = self._calls_by_key.get(key)
            if call is not None and self._life.call(call.call_id) is not CallPhase.INPUT_OPEN:
                raise LocalProtocolError(f"the input of call {call.call_id!r} has ended")
            return call
        begun = self._inputs.get(provider_id, [])
        while begun and self._life.call(begun[-1].call_id) is not CallPhase.INPUT_OPEN:
            begun.pop()
        return begun[-1] if begun else None

    def _called(self, call_id: str | None, key: Hashable, verb: str) -> OpenCall:
        """Return the call that an answer belongs to: that of the key, or the oldest of the id that has no answer."""
        if not self.started:
            self._require_running()
        if key is not None and key in self._calls_by_key:
            return self._calls_by_key[key]
        awaited = self._awaited.get(call_id)
        if awaited is None:
            raise LocalProtocolError(f"{verb}: call {call_id!r} is unknown")
        while len(awaited) > 1 and self._is_over(awaited[0].call_id):
            awaited.popleft()
        return awaited[0]

    def _is_over(self, call_id: str) -> bool:
        """Tell whether nothing more comes for a call: its answer came, and not only from before a rejoin."""
        return self._life.call(call_id) is CallPhase.SETTLED and call_id not in self._answered_before

    def _comes_again(self, call: OpenCall) -> bool:
        """Tell whether an answer is the replay's word for one that was recorded before, once for each."""
        if call.call_id not in self._answered_before:
            return False
        self._answered_before.discard(call.call_id)
        return True

    def _add_input(self, call: OpenCall, delta: str) -> None:
        if call.held or has_surrogates(delta):
            delta, call.held = joined(call.held, delta)
            if not delta:
                return
        values = {"message_id": self.message_id, "call_id": call.call_id, "offset": call.buffer.length, "delta": delta}
        self._emit(trusted(ToolInputDelta, values))
        call.buffer.append(delta)

    def _flush_input(self, call: OpenCall) -> None:
        if call.held:
            call.held = ""
            self._add_input(call, "\ufffd")

    def _end_input(
        self,
        call: OpenCall,
        state: _STATE,
        text: str | None,
        prefill: Mapping[str, object] | None,
        fault: str | None = None,
    ) -> None:
        self._flush_input(call)
        raw = call.buffer.value() if text is None else _valid("text", text)
        parsed, reason = parsed_input(raw)
        if fault is not None and not raw and not prefill:
            reason = fault
        elif parsed is None and prefill is not None and (prefill or not raw):
            parsed = JsonObject(prefill)
            raw = write_json(parsed).decode()
        if state:
            renamed = "id" in call.state and "id" not in state
            call.state = State({"id": call.state["id"], **state}) if renamed else as_state(state)
        address = {"message_id": self.message_id, "call_id": call.call_id}
        self._emit(trusted(ToolInputEnded, {**address, "text": raw, "state": call.state}))
        if parsed is None:
            self._emit(
                ToolFailed(
                    message_id=self.message_id,
                    call_id=call.call_id,
                    error=ErrorInfo(kind=ErrorKind.INVALID_INPUT, message=reason),
                    provider_executed=call.provider_executed,
                )
            )
        else:
            values = {"name": call.name, "input": parsed, "provider_executed": call.provider_executed}
            self._emit(trusted(ToolCalled, {**address, **values}))

    # -- inside: emitting

    def _require_running(self) -> None:
        if self._life.phase is not MessagePhase.RUNNING:
            raise LocalProtocolError(f"message {self.message_id!r} is {self._life.phase.value}, expected running")

    def _emit(self, event: KnownEvent) -> None:
        refusal = self._life.advance(event)
        if refusal is not None:
            self._caused = []
            call = getattr(event, "call_id", None)
            about = f" of call {call!r}" if call is not None else ""
            raise LocalProtocolError(
                f"{event.type}{about} is not allowed in message {self.message_id!r} now ({refusal.value}): "
                f"it is {self._life.phase.value}"
                + (f", the call is {self._life.call(call).value}" if call is not None else "")
            )
        self._caused.append(event)

    def _deliver(self) -> list[Event]:
        caused = self._caused
        if not caused:
            return []
        self._caused = []
        if self._rejoin is not None:
            caused = self._rejoin.admit(caused)
            if self._rejoin.over:
                for call_id in self._rejoin.answered():
                    if self._life.call(call_id) is CallPhase.CALLED:
                        self._life.advance(ToolSuccess(message_id=self.message_id, call_id=call_id))
                        self._answered_before.add(call_id)
                self._rejoin = None
        return self._hand_on(caused)

    def _hand_on(self, events: list[Event]) -> list[Event]:
        self._kept += [event for event in events if event.durable]
        if self.sink is not None:
            self.sink += events
        return events

    def _forget(self) -> None:
        self._open.clear()
        self._early.clear()
        self._waiting.clear()
        self._calls.clear()
        self._calls_by_key.clear()
        self._inputs.clear()
        self._awaited.clear()
        self._synthesized = 0
        self._uses.clear()
        self._answered_before.clear()


def _check_text(verb: str, delta: object) -> None:
    if not isinstance(delta, str):
        raise TypeError(f"{verb}: expected str, got {type(delta).__name__}")


def _says_more(state: State, before: State) -> bool:
    """Tell whether a state holds anything that the one before does not."""
    return any(key not in before or not same_json(value, before[key]) for key, value in state.items())


def _valid(name: str, text: object) -> str:
    if not isinstance(text, str):
        raise TypeError(f"{name}: expected str, got {type(text).__name__}")
    return valid_text(text)
