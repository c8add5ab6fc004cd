"""
The fold itself: mutable inside, immutable in what it hands out.

`Builder` is the one implementation; `reduce` and `fold` are faces of it. Deltas of the fragment that is open go through one
short path; everything else asks `lifecycle` first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, assert_never, cast

import attrs

from assistant_events.events import (
    CompactionDelta,
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    Event,
    HistoryRewound,
    MediaDelta,
    MediaEnded,
    MediaStarted,
    OpaqueReceived,
    PromptSubmitted,
    ReasoningDelta,
    ReasoningEnded,
    ReasoningStarted,
    Record,
    StepEnded,
    StepFailed,
    StepRestarted,
    StepStarted,
    TextDelta,
    TextEnded,
    TextStarted,
    ToolCalled,
    ToolFailed,
    ToolInputDelta,
    ToolInputEnded,
    ToolInputStarted,
    ToolProgress,
    ToolSuccess,
    UnknownEvent,
)
from assistant_events.lifecycle import (
    CallPhase,
    FragmentPhase,
    KnownEvent,
    Life,
    MessagePhase,
    Outcome,
    Refusal,
)
from assistant_events.messages import (
    AssistantMessage,
    CallStatus,
    CompactionMessage,
    MediaPart,
    Message,
    MessageStatus,
    OpaquePart,
    Part,
    PartStatus,
    ReasoningPart,
    TextPart,
    Times,
    ToolPart,
    Transcript,
    UserMessage,
)
from assistant_events.values.buffers import COMPACT_AT, Buffer
from assistant_events.values.fields import trusted

_DELTAS: dict[str, type] = {"text": TextDelta, "reasoning": ReasoningDelta}
_OUTCOMES = {Refusal.CONFLICT: Outcome.CONFLICT, Refusal.LATE: Outcome.LATE, Refusal.ORPHAN: Outcome.ORPHAN}


class Builder:
    """
    Folds events one after another into a transcript.

    `apply` takes one event or record and says what became of it, `extend` takes many, `transcript` is what they add up to so
    far; taking it costs the open text and what was touched since the last time.
    """

    def __init__(self, start: Transcript | None = None) -> None:
        start = Transcript() if start is None else start
        self._messages: list[Message] = list(start.messages)
        self._index: dict[str, int] | None = None
        self._open: dict[str, _Open] = {}
        self._current: _Open | None = None
        self._rewound = start.rewound
        self._seq = start.seq

    @property
    def transcript(self) -> Transcript:
        """Everything folded so far."""
        for open_ in list(self._open.values()):
            self._messages[open_.at] = open_.message()
            if open_.life.phase is not MessagePhase.RUNNING and open_.life.phase is not MessagePhase.COMPACTING:
                del self._open[open_.id]
                if self._current is open_:
                    self._current = None
        return Transcript(messages=tuple(self._messages), seq=self._seq, rewound=self._rewound)

    @property
    def seq(self) -> int:
        """Place of the last record that was folded; 0 when there was none."""
        return self._seq

    def extend(self, items: Iterable[Event | Record]) -> None:
        """Apply all of *items*; what is out of place is left out."""
        cls: type | None = None
        buffer: Buffer[str] | None = None
        keep: Callable[[str], None] = [].append
        length, room, message_id, call_id = 0, 0, "", ""
        for each in items:
            # Any: what is read of a delta is looked at by its class.
            item: Any = each
            kind = item.__class__
            if (
                kind is cls
                and item.offset == length
                and item.message_id == message_id
                and (kind is not ToolInputDelta or item.call_id == call_id)
            ):
                # The path of nearly every event: it continues what the event before it continued.
                text = item.delta
                keep(text)
                length += len(text)
                room -= 1
                if not room:
                    buffer.compact()  # type: ignore[union-attr]  # there is one as long as there is a class
                    room = COMPACT_AT
                continue
            if buffer is not None:
                buffer.length = length
                buffer = cls = None
            if kind is TextDelta or kind is ReasoningDelta or kind is ToolInputDelta:
                current = self._current
                if current is not None and current.id == item.message_id:
                    buffer = current.buffers.get(item.call_id if kind is ToolInputDelta else kind)
                    if buffer is not None and buffer.length == item.offset:
                        cls, message_id = kind, item.message_id
                        if kind is ToolInputDelta:
                            call_id = item.call_id
                        text, pieces = item.delta, buffer.pieces
                        keep = pieces.append
                        keep(text)
                        length = item.offset + len(text)
                        room = COMPACT_AT - len(pieces)
                        if not room:
                            buffer.compact()
                            room = COMPACT_AT
                        continue
                    buffer = None
            self.apply(item)
        if buffer is not None:
            buffer.length = length

    def apply(self, item: Event | Record) -> Outcome:
        """
        Apply one event or record.

        A record that is next in the log moves `seq`, whatever becomes of its event. Everything but `applied` leaves the
        messages as they were.

        Raises:
            TypeError: For anything that is no event or record.
        """
        if item.__class__ is Record:
            record = cast(Record, item)
            if record.seq <= self._seq:
                return Outcome.DUPLICATE
            if record.seq != self._seq + 1:
                return Outcome.GAP
            self._seq = record.seq
            return self._apply(record.event, record.at)
        return self._apply(cast(Event, item), None)

    def _apply(self, event: Event, at: datetime | None) -> Outcome:
        if isinstance(event, UnknownEvent):
            return Outcome.IGNORED
        try:
            message_id = event.message_id
        except AttributeError:
            raise TypeError(f"expected an event or record, got {type(event).__name__}") from None
        current = self._current
        if current is None or current.id != message_id:
            found = self._find(message_id)
            if not isinstance(found, _Open):
                return self._begin(event, at, found)
            current = self._current = found
        if event.__class__ is HistoryRewound:
            return self._rewind(current, current.at)
        return current.apply(event, at)

    def _find(self, message_id: str) -> _Open | MessagePhase:
        """Return the message, opened for change, or the phase that stands for its absence."""
        open_ = self._open.get(message_id)
        if open_ is not None:
            return open_
        if message_id in self._rewound:
            return MessagePhase.REWOUND
        position = self._position(message_id)
        if position is None:
            return MessagePhase.UNKNOWN
        message = self._messages[position]
        opened: _Open
        match message:
            case UserMessage():
                opened = _OpenPrompt(position, message)
            case AssistantMessage():
                opened = _OpenAnswer.of(position, message)
            case CompactionMessage():
                opened = _OpenCompaction.of(position, message)
            case _ as never:
                assert_never(never)
        self._open[message_id] = opened
        return opened

    def _position(self, message_id: str) -> int | None:
        messages = self._messages
        if messages and messages[-1].id == message_id:
            return len(messages) - 1
        if self._index is None or len(self._index) != len(messages):
            self._index = {message.id: at for at, message in enumerate(messages)}
        return self._index.get(message_id)

    def _begin(self, event: KnownEvent, at: datetime | None, phase: MessagePhase) -> Outcome:
        life = Life(phase)
        refusal = life.step(event)
        if refusal is not None:
            # Nothing else can be `AGAIN` here than a second rewind, which is always equal to the first.
            return _OUTCOMES.get(refusal, Outcome.DUPLICATE)
        position = len(self._messages)
        opened: _Open
        if isinstance(event, PromptSubmitted):
            opened = _OpenPrompt(position, UserMessage(id=event.message_id, content=event.content, times=_began(at)))
        elif isinstance(event, StepStarted):
            opened = _OpenAnswer(
                position,
                AssistantMessage(id=event.message_id, origin=event.origin, run=event.run, state=event.state),
                life,
            )
            opened.times = _began(at)
        elif isinstance(event, CompactionStarted):
            opened = _OpenCompaction(
                position, CompactionMessage(id=event.message_id, reason=event.reason, origin=event.origin), life
            )
            opened.times = _began(at)
        else:  # pragma: no cover - the table lets nothing else begin a message
            raise AssertionError(event.type)
        self._messages.append(opened.base)
        self._open[event.message_id] = self._current = opened
        if self._index is not None:
            self._index[event.message_id] = position
        return Outcome.APPLIED

    def _rewind(self, open_: _Open, position: int) -> Outcome:
        gone = [message.id for message in self._messages[position:]]
        del self._messages[position:]
        for message_id in gone:
            self._open.pop(message_id, None)
        self._rewound = self._rewound.union(gone)
        self._index = None
        self._current = None
        return Outcome.APPLIED


class _Open:
    """One message, opened for change."""

    __slots__ = ("at", "base", "buffers", "frozen", "id", "life", "times")

    base: Message

    def __init__(self, at: int, base: Message, life: Life) -> None:
        self.at = at
        self.id = base.id
        self.base = base
        self.life = life
        self.times = base.times
        self.frozen: Message | None = None

        # Of everything that is open: text and reasoning under the class of their delta, inputs under their call id.
        self.buffers: dict[object, Buffer[str]] = {}

    def apply(self, event: KnownEvent, at: datetime | None) -> Outcome:
        raise NotImplementedError

    def message(self) -> Message:
        """Return the message as it stands."""
        if self.frozen is None or self.buffers:
            self.frozen = self._freeze()
        return self.frozen

    def _freeze(self) -> Message:
        return self.base


class _OpenPrompt(_Open):
    __slots__ = ()

    base: UserMessage

    def __init__(self, at: int, base: UserMessage) -> None:
        super().__init__(at, base, Life(MessagePhase.PROMPT))

    def apply(self, event: KnownEvent, at: datetime | None) -> Outcome:
        refusal = self.life.step(event)
        if refusal is Refusal.AGAIN and isinstance(event, PromptSubmitted):
            return Outcome.DUPLICATE if event.content == self.base.content else Outcome.CONFLICT
        return Outcome.CONFLICT


class _OpenCompaction(_Open):
    __slots__ = ("buffer",)

    base: CompactionMessage

    def __init__(self, at: int, base: CompactionMessage, life: Life) -> None:
        super().__init__(at, base, life)
        self.buffer = Buffer("", base.text)

    @classmethod
    def of(cls, at: int, base: CompactionMessage) -> _OpenCompaction:
        running = base.status is MessageStatus.RUNNING
        return cls(at, base, Life(MessagePhase.COMPACTING if running else MessagePhase.COMPACTED))

    def apply(self, event: KnownEvent, at: datetime | None) -> Outcome:
        if isinstance(event, CompactionDelta) and self.life.phase is MessagePhase.COMPACTING:
            self.frozen = None
            return _append(self.buffer, event.offset, event.delta)
        refusal = self.life.step(event)
        if refusal is Refusal.AGAIN:
            return self._again(event)
        if refusal is not None:
            return _OUTCOMES[refusal]
        self.frozen = None
        self.times = _ended(self.times, at)
        if isinstance(event, CompactionEnded):
            self.buffer = Buffer("", event.text)
            self.base = attrs.evolve(self.base, status=MessageStatus.COMPLETED, state=event.state)
        elif isinstance(event, CompactionFailed):
            # What came live is not in the log, so it cannot stay.
            self.buffer = Buffer("")
            self.base = attrs.evolve(self.base, status=MessageStatus.FAILED, error=event.error)
        return Outcome.APPLIED

    def _again(self, event: KnownEvent) -> Outcome:
        base = self.base
        same = False
        if isinstance(event, CompactionEnded):
            same = base.status is MessageStatus.COMPLETED and (event.text, event.state) == (
                self.buffer.value(),
                base.state,
            )
        elif isinstance(event, CompactionFailed):
            same = base.status is MessageStatus.FAILED and event.error == base.error
        return Outcome.DUPLICATE if same else Outcome.CONFLICT

    def _freeze(self) -> CompactionMessage:
        return attrs.evolve(self.base, text=self.buffer.value(), times=self.times)


class _Fragment:
    """A text, a reasoning or a medium that is open, at its place among the parts."""

    __slots__ = ("at", "buffer", "media_type", "times")

    def __init__(self, at: int, empty: str | bytes, times: Times | None, media_type: str = "") -> None:
        self.at = at
        self.buffer: Buffer[str] = Buffer(cast(str, empty))
        self.times = times
        self.media_type = media_type


class _Call:
    """A call, at its place among the parts: the fields of its part, and the part itself once somebody asked for it."""

    __slots__ = ("at", "buffer", "part", "values")

    def __init__(self, at: int, values: dict[str, Any], buffer: Buffer[str] | None) -> None:
        # Any: values of the fields of `ToolPart`, each as its event had it.
        self.at = at
        self.values = values
        self.buffer = buffer
        """Of the input while it streams."""

        self.part: ToolPart | None = None

    def as_part(self) -> ToolPart:
        if self.buffer is not None:
            return trusted(ToolPart, {**self.values, "raw_input": self.buffer.value()})
        if self.part is None:
            self.part = trusted(ToolPart, self.values)
        return self.part


class _OpenAnswer(_Open):
    __slots__ = ("calls", "fragments", "parts")

    base: AssistantMessage

    def __init__(self, at: int, base: AssistantMessage, life: Life) -> None:
        super().__init__(at, base, life)
        # `None` where a fragment is open or a call stands: their parts are made when somebody asks for the message.
        self.parts: list[Part | None] = list(base.parts)
        self.calls: dict[str, _Call] = {}
        self.fragments: dict[str, _Fragment] = {}

    @classmethod
    def of(cls, at: int, base: AssistantMessage) -> _OpenAnswer:
        """Open a message that is known already: where everything stands is read from its parts."""
        life = Life(_PHASES[base.status])
        made = cls(at, base, life)
        for place, part in enumerate(base.parts):
            if isinstance(part, ToolPart):
                streaming = part.input_status is PartStatus.STREAMING
                values = {field.name: getattr(part, field.name) for field in attrs.fields(ToolPart)}
                made._add_call(place, part.call_id, values, Buffer("", part.raw_input) if streaming else None)
                life.adopt_call(
                    part.call_id,
                    part.name,
                    _call_phase(part),
                    provider_executed=part.provider_executed,
                    answered=part.answered,
                )
            elif not isinstance(part, OpaquePart):
                open_ = part.status is PartStatus.STREAMING
                life.adopt_fragment(part.type, FragmentPhase.OPEN if open_ else FragmentPhase.CLOSED)
                if open_:
                    made._reopen(place, part)
        return made

    def apply(self, event: KnownEvent, at: datetime | None) -> Outcome:
        if isinstance(event, (TextDelta, ReasoningDelta, MediaDelta)):
            return self._delta(event)
        refusal = self.life.step(event)
        if isinstance(event, ToolInputDelta) and refusal is None:
            return self._input_delta(event)
        if refusal is not None:
            return self._again(event) if refusal is Refusal.AGAIN else _OUTCOMES[refusal]
        self.frozen = None
        _CHANGES[event.__class__](self, event, at)
        return Outcome.APPLIED

    def _delta(self, event: TextDelta | ReasoningDelta | MediaDelta) -> Outcome:
        kind = _KINDS[event.__class__]
        fragment = self.fragments.get(kind)
        if fragment is None:
            refusal = self.life.step(event)
            # A delta without an open fragment is refused by every row of the table.
            return _OUTCOMES[cast(Refusal, refusal)]
        self.frozen = None
        return _append(fragment.buffer, event.offset, event.delta)

    def _start_fragment(self, event: TextStarted | ReasoningStarted | MediaStarted, at: datetime | None) -> None:
        place = len(self.parts)
        if isinstance(event, MediaStarted):
            kind, fragment = "media", _Fragment(place, b"", _began(at), event.media_type)
        else:
            kind = "text" if isinstance(event, TextStarted) else "reasoning"
            fragment = _Fragment(place, "", _began(at))
        self._hold(kind, fragment)
        self.parts.append(None)

    def _hold(self, kind: str, fragment: _Fragment) -> None:
        self.fragments[kind] = fragment
        if kind in _DELTAS:
            self.buffers[_DELTAS[kind]] = fragment.buffer

    def _add_call(self, place: int, call_id: str, values: dict[str, Any], buffer: Buffer[str] | None) -> None:
        self.calls[call_id] = _Call(place, values, buffer)
        if buffer is not None:
            self.buffers[call_id] = buffer

    def _reopen(self, place: int, part: TextPart | ReasoningPart | MediaPart) -> None:
        if isinstance(part, MediaPart):
            fragment = _Fragment(place, b"", part.times, part.media_type)
            fragment.buffer = cast("Buffer[str]", Buffer(b"", part.data))
        else:
            fragment = _Fragment(place, "", part.times)
            fragment.buffer = Buffer("", part.text)
        self._hold(part.type, fragment)

    def _end_fragment(self, event: TextEnded | ReasoningEnded | MediaEnded, at: datetime | None) -> None:
        kind = _KINDS[event.__class__]
        fragment = self.fragments.pop(kind)
        self.buffers.pop(_DELTAS.get(kind), None)
        self.parts[fragment.at] = _ended_part(event, _ended(fragment.times, at))

    def _add_opaque(self, event: OpaqueReceived, at: datetime | None) -> None:
        self.parts.append(OpaquePart(state=event.state, times=_instant(at)))

    def _call(self, event: ToolInputStarted | ToolCalled, at: datetime | None) -> None:
        if event.call_id in self.calls and isinstance(event, ToolCalled):
            self._change_call(event, at)
        else:
            self._start_call(event, at)

    def _start_call(self, event: ToolInputStarted | ToolCalled, at: datetime | None) -> None:
        values: dict[str, Any] = {
            "message_id": self.id,
            "call_id": event.call_id,
            "name": event.name,
            "provider_executed": event.provider_executed,
            "times": _began(at),
        }
        buffer: Buffer[str] | None = None
        if isinstance(event, ToolCalled):
            values.update(status=CallStatus.CALLED, input=event.input, state=event.state)
        else:
            values.update(status=CallStatus.STREAMING, input_status=PartStatus.STREAMING)
            buffer = Buffer("")
        self._add_call(len(self.parts), event.call_id, values, buffer)
        self.parts.append(None)

    def _input_delta(self, event: ToolInputDelta) -> Outcome:
        buffer = self.calls[event.call_id].buffer
        if buffer is None:  # pragma: no cover - the table lets deltas only into an open input
            raise AssertionError(event.call_id)
        self.frozen = None
        return _append(buffer, event.offset, event.delta)

    def _change_call(
        self, event: ToolInputEnded | ToolCalled | ToolProgress | ToolSuccess | ToolFailed, at: datetime | None
    ) -> None:
        call = self.calls[event.call_id]
        call.part = None
        values = call.values
        if isinstance(event, ToolInputEnded):
            call.buffer = None
            del self.buffers[event.call_id]
            values.update(raw_input=event.text, input_status=_status(event.complete), state=event.state)
            return
        if isinstance(event, ToolProgress):
            values["output"] = event.output
            return
        values["provider_executed"] = values["provider_executed"] or event.provider_executed
        if isinstance(event, ToolCalled):
            values.update(status=CallStatus.CALLED, input=event.input)
            if event.state:
                values["state"] = event.state
            return
        failed = isinstance(event, ToolFailed)
        values.update(
            status=CallStatus.FAILED if failed else CallStatus.SUCCESS,
            output=event.output,
            error=event.error if isinstance(event, ToolFailed) else None,
            result_state=event.state,
            times=_ended(values["times"], at),
        )

    def _move_step(self, event: StepEnded | StepFailed | StepRestarted, at: datetime | None) -> None:
        run = self.base.run if event.run is None else event.run
        if isinstance(event, StepRestarted):
            self.base = AssistantMessage(
                id=self.id, origin=self.base.origin, run=run, state=event.state or self.base.state
            )
            self.parts = []
            self.calls = {}
            self.fragments = {}
            self.buffers = {}
            self.times = None if self.times is None else attrs.evolve(self.times, ended=None)
            return
        failed = isinstance(event, StepFailed)
        self.base = attrs.evolve(
            self.base,
            status=MessageStatus.FAILED if failed else MessageStatus.COMPLETED,
            finish=None if isinstance(event, StepFailed) else event.finish,
            raw_finish=None if isinstance(event, StepFailed) else event.raw_finish,
            error=event.error if isinstance(event, StepFailed) else None,
            usage=event.usage,
            run=run,
            state=event.state or self.base.state,
        )
        self.times = _ended(self.times, at)

    def _again(self, event: KnownEvent) -> Outcome:
        """Tell whether an end that comes again equals the one that was here before."""
        same = False
        base = self.base
        match event:
            case TextEnded() | ReasoningEnded() | MediaEnded():
                kind = _KINDS[event.__class__]
                last = next(part for part in reversed(self.parts) if part is not None and part.type == kind)
                same = last == _ended_part(event, None)
            case ToolInputEnded() | ToolCalled() | ToolSuccess() | ToolFailed():
                same = _same_call(self.calls[event.call_id].as_part(), event)
            case StepEnded():
                same = base.status is MessageStatus.COMPLETED and (
                    (event.finish, event.raw_finish, event.usage) == (base.finish, base.raw_finish, base.usage)
                )
            case StepFailed():
                same = base.status is MessageStatus.FAILED and (event.error, event.usage) == (base.error, base.usage)
            case _:  # pragma: no cover - the table says `again` to nothing else
                raise AssertionError(event.type)
        if isinstance(event, (StepEnded, StepFailed)):
            same = (
                same and (event.run is None or event.run == base.run) and (not event.state or event.state == base.state)
            )
        return Outcome.DUPLICATE if same else Outcome.CONFLICT

    def _freeze(self) -> AssistantMessage:
        parts = list(self.parts)
        for kind, fragment in self.fragments.items():
            parts[fragment.at] = _streaming(kind, fragment)
        for call in self.calls.values():
            parts[call.at] = call.as_part()
        return attrs.evolve(self.base, parts=cast("list[Part]", parts), times=self.times)


# Any: each of these takes the events that stand beside it here.
_CHANGES: dict[type, Callable[[_OpenAnswer, Any, datetime | None], None]] = {
    TextStarted: _OpenAnswer._start_fragment,
    ReasoningStarted: _OpenAnswer._start_fragment,
    MediaStarted: _OpenAnswer._start_fragment,
    TextEnded: _OpenAnswer._end_fragment,
    ReasoningEnded: _OpenAnswer._end_fragment,
    MediaEnded: _OpenAnswer._end_fragment,
    ToolInputStarted: _OpenAnswer._call,
    ToolCalled: _OpenAnswer._call,
    ToolInputEnded: _OpenAnswer._change_call,
    ToolProgress: _OpenAnswer._change_call,
    ToolSuccess: _OpenAnswer._change_call,
    ToolFailed: _OpenAnswer._change_call,
    OpaqueReceived: _OpenAnswer._add_opaque,
    StepEnded: _OpenAnswer._move_step,
    StepFailed: _OpenAnswer._move_step,
    StepRestarted: _OpenAnswer._move_step,
}
_KINDS: dict[type, str] = {
    TextDelta: "text",
    TextEnded: "text",
    ReasoningDelta: "reasoning",
    ReasoningEnded: "reasoning",
    MediaDelta: "media",
    MediaEnded: "media",
}
_PHASES = {
    MessageStatus.RUNNING: MessagePhase.RUNNING,
    MessageStatus.COMPLETED: MessagePhase.ENDED,
    MessageStatus.FAILED: MessagePhase.FAILED,
}


def _append(buffer: Buffer[str], offset: int, delta: str | bytes) -> Outcome:
    length = buffer.length
    if offset > length:
        return Outcome.GAP
    if offset + len(delta) <= length:
        return Outcome.DUPLICATE
    buffer.append(cast(str, delta if offset == length else delta[length - offset :]))
    return Outcome.APPLIED


def _status(complete: bool) -> PartStatus:
    return PartStatus.COMPLETED if complete else PartStatus.INCOMPLETE


def _streaming(kind: str, fragment: _Fragment) -> Part:
    value = fragment.buffer.value()
    if kind == "text":
        return trusted(TextPart, {"text": value, "status": PartStatus.STREAMING, "times": fragment.times})
    if kind == "reasoning":
        return trusted(ReasoningPart, {"text": value, "status": PartStatus.STREAMING, "times": fragment.times})
    values = {"media_type": fragment.media_type, "data": value or None, "times": fragment.times}
    return trusted(MediaPart, {**values, "status": PartStatus.STREAMING})


def _ended_part(event: TextEnded | ReasoningEnded | MediaEnded, times: Times | None) -> Part:
    values: dict[str, Any] = {"status": _status(event.complete), "state": event.state, "times": times}
    if isinstance(event, TextEnded):
        return trusted(TextPart, {**values, "text": event.text, "citations": event.citations})
    if isinstance(event, ReasoningEnded):
        return trusted(ReasoningPart, {**values, "text": event.text})
    return trusted(MediaPart, {**values, "media_type": event.media_type, "data": event.data, "uri": event.uri})


def _same_call(part: ToolPart, event: ToolInputEnded | ToolCalled | ToolSuccess | ToolFailed) -> bool:
    match event:
        case ToolInputEnded():
            return (part.raw_input, part.input_status) == (event.text, _status(event.complete)) and (
                not event.state or event.state == part.state or part.input is not None
            )
        case ToolCalled():
            return (part.name, part.input) == (event.name, event.input) and (
                not event.state or event.state == part.state
            )
        case ToolSuccess():
            return part.status is CallStatus.SUCCESS and (part.output, part.result_state) == (event.output, event.state)
        case ToolFailed():
            return part.status is CallStatus.FAILED and (part.error, part.output, part.result_state) == (
                event.error,
                event.output,
                event.state,
            )
        case _ as never:
            assert_never(never)


def _call_phase(part: ToolPart) -> CallPhase:
    if part.status is CallStatus.CALLED:
        return CallPhase.CALLED
    if part.status is not CallStatus.STREAMING:
        return CallPhase.SETTLED
    return CallPhase.INPUT_OPEN if part.input_status is PartStatus.STREAMING else CallPhase.INPUT_ENDED


def _began(at: datetime | None) -> Times | None:
    return None if at is None else Times(started=at)


def _instant(at: datetime | None) -> Times | None:
    return None if at is None else Times(started=at, ended=at)


def _ended(times: Times | None, at: datetime | None) -> Times | None:
    if at is None:
        return times
    return Times(started=None if times is None else times.started, ended=at)
