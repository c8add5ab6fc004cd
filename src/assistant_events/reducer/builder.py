"""
The fold itself: mutable inside, immutable in what it hands out.

`Builder` is the one implementation; `reduce` and `fold` are faces of it. Deltas of the fragment that is open go through
one short path; everything else asks `lifecycle` first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, ClassVar, TypeAlias, assert_never, cast

import attrs
from typing_extensions import override

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
    MESSAGE,
    CallPhase,
    FragmentPhase,
    KnownEvent,
    MessageLifecycle,
    MessagePhase,
    Outcome,
    Rejection,
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
from assistant_events.values import Origin, RemoteRun, State
from assistant_events.values.buffers import COMPACT_AT, Buffer
from assistant_events.values.construct import draft_of, trusted
from assistant_events.values.validators import NO_FIELDS, NO_STATE

_DELTAS: dict[str, type] = {"text": TextDelta, "reasoning": ReasoningDelta, "media": MediaDelta}
_STREAMED = frozenset[type]({TextDelta, ReasoningDelta, ToolInputDelta})

# Any: drafts are filled by plain assignment, and then given the class that they stand for.
_UserMessageDraft: Any = draft_of(UserMessage)
_AnswerDraft: Any = draft_of(AssistantMessage)
_TextPartDraft: Any = draft_of(TextPart)
_ReasoningPartDraft: Any = draft_of(ReasoningPart)
_ToolPartDraft: Any = draft_of(ToolPart)
_DRAFTS: dict[type, Any] = {
    AssistantMessage: _AnswerDraft,
    _AnswerDraft: _AnswerDraft,
    ToolPart: _ToolPartDraft,
    _ToolPartDraft: _ToolPartDraft,
}

# To read a member of an enum takes as long as a look-up in a table.
_APPLIED, _IGNORED = Outcome.APPLIED, Outcome.IGNORED
_MESSAGE_RUNNING, _MESSAGE_COMPACTING = MessagePhase.RUNNING, MessagePhase.COMPACTING
_RUNNING, _STEP_COMPLETED = MessageStatus.RUNNING, MessageStatus.COMPLETED
_STREAMING, _COMPLETED, _INCOMPLETE = PartStatus.STREAMING, PartStatus.COMPLETED, PartStatus.INCOMPLETE
_CALL_STREAMING, _CALLED, _CALL_SUCCESS = CallStatus.STREAMING, CallStatus.CALLED, CallStatus.SUCCESS

# Any: the message that is open, and the event.
_Change: TypeAlias = Callable[[Any, Any, "_Moment"], Outcome]

_OUTCOMES = {Rejection.CONFLICT: Outcome.CONFLICT, Rejection.LATE: Outcome.LATE, Rejection.ORPHAN: Outcome.ORPHAN}


class Builder:
    """
    Folds events one after another into a transcript.

    `apply` takes one event or record and says what became of it, `extend` takes many, `transcript` is what they add up
    to so far; taking it costs the open text and what was touched since the last time.
    """

    def __init__(self, start: Transcript | None = None) -> None:
        start = Transcript() if start is None else start
        # A message that is open may be a draft here; `_Open.message` has it as it stands.
        self._messages: list[Message] = list(start.messages)
        self._index: dict[str, int] | None = None
        self._open: dict[str, _Open] = {}
        self._current: _Open | None = None
        self._rewound = start.rewound
        self._gone: set[str] = set()  # rewound since the last transcript
        self._seq = start.seq
        self._moment = _NO_MOMENT

    @property
    def transcript(self) -> Transcript:
        """Everything folded so far."""
        for open_ in list(self._open.values()):
            self._messages[open_.at] = open_.message()
            if open_.closed:
                self._forget(open_)
        if self._gone:
            self._rewound = self._rewound.union(self._gone)
            self._gone.clear()
        return trusted(Transcript, {"messages": tuple(self._messages), "seq": self._seq, "rewound": self._rewound})

    @property
    def seq(self) -> int:
        """Place of the last record that was folded; 0 when there was none."""
        return self._seq

    def extend(self, items: Iterable[Event | Record]) -> None:
        """Apply all of *items*; what is out of place is left out."""
        # Any: what is read of a delta is looked at by its class.
        item: Any
        cls: type | None = None
        buffer: Buffer[str] | None = None
        keep: Callable[[str], None] | None = None
        length, room, message_id, call_id = 0, 0, "", ""
        apply = self.apply
        try:
            for item in items:
                kind: type[object] = item.__class__
                # Nearly every event continues what the event before it continued.
                if (
                    kind is not cls
                    or item.offset != length
                    or item.message_id != message_id
                    or (kind is ToolInputDelta and item.call_id != call_id)
                ):
                    if buffer is not None:
                        buffer.length = length
                    buffer = self._continued(item, kind) if kind in _STREAMED else None
                    if buffer is None:
                        cls = None
                        apply(item)
                        continue
                    cls, length, message_id = kind, buffer.length, item.message_id
                    call_id = item.call_id if kind is ToolInputDelta else ""
                    keep, room = buffer.pieces.append, COMPACT_AT - len(buffer.pieces)
                text = item.delta
                keep(text)  # type: ignore[misc]  # both are set as long as there is a class
                length += len(text)
                room -= 1
                if not room:
                    buffer.compact()  # type: ignore[union-attr]
                    room = COMPACT_AT
        finally:
            # Also when *items* raise: what came before that is applied.
            if buffer is not None:
                buffer.length = length

    def _continued(self, delta: Any, cls: type) -> Buffer[str] | None:
        """Return what *delta* continues, when it is in the message of the last event and nothing is between."""
        current = self._current
        if current is None or current.id != delta.message_id:
            return None
        buffer = current.buffers.get(delta.call_id if cls is ToolInputDelta else cls)
        return buffer if buffer is not None and buffer.length == delta.offset else None

    def apply(self, item: Event | Record) -> Outcome:
        """
        Apply one event or record.

        A record that is next in the log moves `seq`, whatever becomes of its event. Everything but `applied` leaves the
        messages as they were.

        Raises:
            TypeError: For anything that is no event or record.
        """
        # Any: looked at by its class, or told apart below by what it lacks.
        event: Any = item
        moment = _NO_MOMENT
        if event.__class__ is Record:
            record, event = event, event.event
            if record.seq != self._seq + 1:
                return Outcome.DUPLICATE if record.seq <= self._seq else Outcome.GAP
            self._seq = record.seq
            moment = self._moment
            if record.at is not moment.at:
                moment = self._moment = _Moment(record.at)
        cls = event.__class__
        if cls is UnknownEvent:
            return _IGNORED
        try:
            message_id = event.message_id
        except AttributeError:
            raise TypeError(f"expected an event or record, got {type(event).__name__}") from None
        current = self._current
        if current is None or current.id != message_id:
            found = self._find(message_id)
            if found.__class__ is MessagePhase:
                return self._begin(event, moment, found)
            current = self._current = found
        if cls is HistoryRewound:
            return self._rewind(current.at)
        refusal = current.life.advance(event)
        if refusal is not None:
            return current.refused(event, refusal)
        current.frozen = None
        return current.changes[cls](current, event, moment)

    def _find(self, message_id: str) -> Any:
        """Return the message, opened for change, or the phase that stands for its absence."""
        # Any: `_Open | MessagePhase`, which the caller tells apart by its class; `isinstance` takes long for an enum.
        open_ = self._open.get(message_id)
        if open_ is not None:
            return open_
        if message_id in self._rewound or message_id in self._gone:
            return MessagePhase.REWOUND
        index = self._index
        if index is None:
            index = self._index = {message.id: at for at, message in enumerate(self._messages)}
        position = index.get(message_id)
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

    def _begin(self, event: KnownEvent, moment: _Moment, phase: MessagePhase) -> Outcome:
        after = MESSAGE[phase][event.__class__]
        if type(after) is Rejection:
            # Nothing else can be `AGAIN` here than a second rewind, which is always equal to the first.
            return _OUTCOMES.get(after, Outcome.DUPLICATE)
        previous = self._current
        if previous is not None and previous.new and previous.closed:
            # Most likely nothing more comes, and what is open takes a multiple of the memory. Only once: a message that
            # is opened again and again costs its size each time.
            self._messages[previous.at] = previous.message()
            self._forget(previous)
        position = len(self._messages)
        assert self._index is not None  # the message has been looked for
        self._index[event.message_id] = position
        if isinstance(event, PromptSubmitted):
            self._messages.append(_prompt(event, moment))
            return _APPLIED
        opened: _Open
        if isinstance(event, StepStarted):
            draft = _answer_draft(event.message_id, event.origin, event.run, event.state)
            draft.times = moment.began
            opened = _OpenAnswer(position, draft, MessageLifecycle(_MESSAGE_RUNNING))
        elif isinstance(event, CompactionStarted):
            base = CompactionMessage(id=event.message_id, reason=event.reason, origin=event.origin, times=moment.began)
            opened = _OpenCompaction(position, base, MessageLifecycle(_MESSAGE_COMPACTING))
        else:  # pragma: no cover - the table lets nothing else begin a message
            raise AssertionError(event.type)  # noqa: TRY004
        opened.new = True
        self._messages.append(opened.base)
        self._open[opened.id] = self._current = opened
        return _APPLIED

    def _rewind(self, position: int) -> Outcome:
        gone = [message.id for message in self._messages[position:]]
        del self._messages[position:]
        assert self._index is not None  # the message has been looked for
        for message_id in gone:
            self._open.pop(message_id, None)
            self._index.pop(message_id, None)
        self._gone.update(gone)
        self._current = None
        return Outcome.APPLIED

    def _forget(self, open_: _Open) -> None:
        del self._open[open_.id]
        if self._current is open_:
            self._current = None


class _Moment:
    """
    When something happens, and the times that come of it.

    The records of a batch share their moment, and so all that began with it share one object.
    """

    __slots__ = ("at", "began", "instant")

    def __init__(self, at: datetime | None) -> None:
        self.at = at
        self.began = None if at is None else trusted(Times, {"started": at})
        self.instant = None if at is None else trusted(Times, {"started": at, "ended": at})

    def ends(self, times: Times | None) -> Times | None:
        """Return the times of what began as *times* say and ends now."""
        if times is self.began:
            return self.instant
        if self.at is None:
            return times
        return trusted(Times, {"started": None if times is None else times.started, "ended": self.at})


_NO_MOMENT = _Moment(None)
"""Of what is no record."""


class _Open:
    """One message, opened for change."""

    __slots__ = ("at", "base", "buffers", "frozen", "id", "life", "new")

    # Any: a draft or a message; see `_OpenAnswer`.
    base: Any

    changes: ClassVar[Mapping[type, _Change]]
    """What each event that the lifecycle lets through does."""

    def __init__(self, at: int, base: Any, life: MessageLifecycle) -> None:
        self.at = at
        self.id: str = base.id
        self.base = base
        self.life = life
        self.frozen: Message | None = None

        self.new = False
        """Whether it began in this fold, and was not there before."""

        # Of everything that is open and streamed: under the class of its delta, inputs under their call id.
        self.buffers: dict[object, Buffer[str]] = {}

    @property
    def closed(self) -> bool:
        """Whether no more is expected than answers to calls."""
        phase = self.life.phase
        return phase is not _MESSAGE_RUNNING and phase is not _MESSAGE_COMPACTING

    def refused(self, event: KnownEvent, why: Rejection) -> Outcome:
        """Return what becomes of an event that the lifecycle does not let through."""
        if why is not Rejection.AGAIN:
            return _OUTCOMES[why]
        return Outcome.DUPLICATE if self.same(event) else Outcome.CONFLICT

    def same(self, event: KnownEvent) -> bool:
        """Tell whether an event that comes again equals the one that was here before."""
        raise NotImplementedError  # pragma: no cover - each kind of message has its own

    def message(self) -> Message:
        """Return the message as it stands."""
        if self.frozen is None or self.buffers:
            self.frozen = self._freeze()
        return self.frozen

    def _freeze(self) -> Message:
        raise NotImplementedError  # pragma: no cover - each kind of message has its own


class _OpenPrompt(_Open):
    __slots__ = ()

    def __init__(self, at: int, base: UserMessage) -> None:
        super().__init__(at, base, MessageLifecycle(MessagePhase.PROMPT))

    @override
    def same(self, event: KnownEvent) -> bool:
        return isinstance(event, PromptSubmitted) and event.content == self.base.content

    @override
    def _freeze(self) -> UserMessage:
        message: UserMessage = self.base
        return message


class _OpenCompaction(_Open):
    __slots__ = ("buffer",)

    base: CompactionMessage

    def __init__(self, at: int, base: CompactionMessage, life: MessageLifecycle) -> None:
        super().__init__(at, base, life)
        self.buffer = Buffer("", base.text)

    @classmethod
    def of(cls, at: int, base: CompactionMessage) -> _OpenCompaction:
        running = base.status is MessageStatus.RUNNING
        return cls(at, base, MessageLifecycle(MessagePhase.COMPACTING if running else MessagePhase.COMPACTED))

    def grow(self, event: CompactionDelta, moment: _Moment) -> Outcome:
        return _append(self.buffer, event.offset, event.delta)

    def end(self, event: CompactionEnded, moment: _Moment) -> Outcome:
        self.buffer = Buffer("", event.text)
        times = moment.ends(self.base.times)
        self.base = attrs.evolve(self.base, status=MessageStatus.COMPLETED, state=event.state, times=times)
        return _APPLIED

    def fail(self, event: CompactionFailed, moment: _Moment) -> Outcome:
        # What came live is not in the log, so it cannot stay.
        self.buffer = Buffer("")
        times = moment.ends(self.base.times)
        self.base = attrs.evolve(self.base, status=MessageStatus.FAILED, error=event.error, times=times)
        return _APPLIED

    @override
    def same(self, event: KnownEvent) -> bool:
        base = self.base
        if isinstance(event, CompactionEnded):
            return base.status is MessageStatus.COMPLETED and (event.text, event.state) == (
                self.buffer.value(),
                base.state,
            )
        return isinstance(event, CompactionFailed) and base.status is MessageStatus.FAILED and event.error == base.error

    @override
    def _freeze(self) -> CompactionMessage:
        return attrs.evolve(self.base, text=self.buffer.value())


class _OpenAnswer(_Open):
    """
    A step.

    The message, and its calls that can still change, are drafts: objects of the same slots that are filled by plain
    assignment. They are given the class that they stand for when nothing can change them any more; whoever asks before
    that gets a copy.
    """

    __slots__ = ("calls", "ended", "fragments", "parts")

    def __init__(self, at: int, base: Any, life: MessageLifecycle) -> None:
        super().__init__(at, base, life)
        # Any: parts, drafts of calls, and `None` where a fragment is open.
        self.parts: list[Any] = list(base.parts)

        # Places of all calls among the parts, by their id.
        self.calls: dict[str, int] = {}

        # What is open, by its kind: the place, when it began, and the media type, which only media have.
        self.fragments: dict[str, tuple[int, Times | None, str]] = {}

        # The place of the part that ended last, by its class: its end may come again.
        self.ended: dict[type, int] = {}

    @classmethod
    def of(cls, at: int, base: AssistantMessage) -> _OpenAnswer:
        """Open a message that is known already: where everything stands is read from its parts."""
        life = MessageLifecycle(_PHASES[base.status])
        made = cls(at, _draft_from(base), life)
        made.frozen = base
        for place, part in enumerate(base.parts):
            if isinstance(part, ToolPart):
                made.calls[part.call_id] = place
                if not part.settled:
                    made.parts[place] = _draft_from(part)
                if part.input_status is PartStatus.STREAMING:
                    made.buffers[part.call_id] = Buffer("", part.raw_input)
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
                else:
                    made.ended[part.__class__] = place
        return made

    def grow(self, event: TextDelta | ReasoningDelta | MediaDelta | ToolInputDelta, moment: _Moment) -> Outcome:
        cls = event.__class__
        key = event.call_id if isinstance(event, ToolInputDelta) else cls
        buffer = self.buffers.get(key)
        if buffer is None:
            # Made late: where only what is durable is folded, nothing ever comes.
            buffer = self.buffers[key] = Buffer(cast(str, b"" if cls is MediaDelta else ""))
        return _append(buffer, event.offset, event.delta)

    def start_text(self, event: TextStarted, moment: _Moment) -> Outcome:
        self.fragments["text"] = (len(self.parts), moment.began, "")
        self.parts.append(None)
        return _APPLIED

    def start_reasoning(self, event: ReasoningStarted, moment: _Moment) -> Outcome:
        self.fragments["reasoning"] = (len(self.parts), moment.began, "")
        self.parts.append(None)
        return _APPLIED

    def start_media(self, event: MediaStarted, moment: _Moment) -> Outcome:
        self.fragments["media"] = (len(self.parts), moment.began, event.media_type)
        self.parts.append(None)
        return _APPLIED

    def _reopen(self, place: int, part: TextPart | ReasoningPart | MediaPart) -> None:
        if isinstance(part, MediaPart):
            self.fragments[part.type] = (place, part.times, part.media_type)
            self.buffers[MediaDelta] = cast("Buffer[str]", Buffer(b"", part.data))
        else:
            self.fragments[part.type] = (place, part.times, "")
            self.buffers[_DELTAS[part.type]] = Buffer("", part.text)

    def end_text(self, event: TextEnded, moment: _Moment) -> Outcome:
        place, times, _ = self.fragments.pop("text")
        self.buffers.pop(TextDelta, None)
        self.parts[place] = _text_part(event, moment.ends(times))
        self.ended[TextPart] = place
        return _APPLIED

    def end_reasoning(self, event: ReasoningEnded, moment: _Moment) -> Outcome:
        place, times, _ = self.fragments.pop("reasoning")
        self.buffers.pop(ReasoningDelta, None)
        self.parts[place] = _reasoning_part(event, moment.ends(times))
        self.ended[ReasoningPart] = place
        return _APPLIED

    def end_media(self, event: MediaEnded, moment: _Moment) -> Outcome:
        place, times, _ = self.fragments.pop("media")
        self.buffers.pop(MediaDelta, None)
        self.parts[place] = _media_part(event, moment.ends(times))
        self.ended[MediaPart] = place
        return _APPLIED

    def add_opaque(self, event: OpaqueReceived, moment: _Moment) -> Outcome:
        self.parts.append(trusted(OpaquePart, {"state": event.state, "times": moment.instant}))
        return _APPLIED

    def start_input(self, event: ToolInputStarted, moment: _Moment) -> Outcome:
        self._start_call(event, moment, _CALL_STREAMING, _STREAMING)
        return _APPLIED

    def stand(self, event: ToolCalled, moment: _Moment) -> Outcome:
        place = self.calls.get(event.call_id)
        if place is None:
            part = self._start_call(event, moment, _CALLED, None)
        else:
            part = self.parts[place]
            part.status = _CALLED
            part.provider_executed = part.provider_executed or event.provider_executed
        part.input = event.input
        if event.state is not NO_STATE and event.state:
            part.state = event.state
        return _APPLIED

    def _start_call(
        self,
        event: ToolInputStarted | ToolCalled,
        moment: _Moment,
        status: CallStatus,
        input_status: PartStatus | None,
    ) -> Any:
        part: Any = _ToolPartDraft()
        part.message_id = self.id
        part.call_id = event.call_id
        part.name = event.name
        part.provider_executed = event.provider_executed
        part.status = status
        part.raw_input = ""
        part.input_status = input_status
        part.input = None
        part.output = ()
        part.error = None
        part.details = NO_FIELDS
        part.state = part.result_state = NO_STATE
        part.times = moment.began
        self.calls[event.call_id] = len(self.parts)
        self.parts.append(part)
        return part

    def end_input(self, event: ToolInputEnded, moment: _Moment) -> Outcome:
        self.buffers.pop(event.call_id, None)
        part = self.parts[self.calls[event.call_id]]
        part.raw_input = event.text
        part.input_status = _COMPLETED if event.complete else _INCOMPLETE
        part.state = event.state
        return _APPLIED

    def progress(self, event: ToolProgress, moment: _Moment) -> Outcome:
        self.parts[self.calls[event.call_id]].output = event.output
        return _APPLIED

    def settle(self, event: ToolSuccess | ToolFailed, moment: _Moment) -> Outcome:
        part = self.parts[self.calls[event.call_id]]
        part.provider_executed = part.provider_executed or event.provider_executed
        part.output = event.output
        part.details = event.details
        part.result_state = event.state
        part.times = moment.ends(part.times)
        if isinstance(event, ToolFailed):
            part.status = CallStatus.FAILED
            part.error = event.error
        else:
            part.status = _CALL_SUCCESS
        part.__class__ = ToolPart
        return _APPLIED

    def end_step(self, event: StepEnded, moment: _Moment) -> Outcome:
        base = self.base
        base.status = _STEP_COMPLETED
        base.finish_reason = event.finish_reason
        base.raw_finish_reason = event.raw_finish_reason
        base.error = None
        return self._close_step(event, moment)

    def fail_step(self, event: StepFailed, moment: _Moment) -> Outcome:
        base = self.base
        base.status = MessageStatus.FAILED
        base.finish_reason = base.raw_finish_reason = None
        base.error = event.error
        return self._close_step(event, moment)

    def _close_step(self, event: StepEnded | StepFailed, moment: _Moment) -> Outcome:
        base = self.base
        base.usage = event.usage
        base.details = event.details
        if event.run is not None:
            base.run = event.run
        if event.state is not NO_STATE and event.state:
            base.state = event.state
        base.times = moment.ends(base.times)
        return _APPLIED

    def restart_step(self, event: StepRestarted, moment: _Moment) -> Outcome:
        old = self.base
        origin = old.origin.filled_in(event.origin)
        self.base = base = _answer_draft(self.id, origin, event.run or old.run, event.state or old.state)
        base.times = None if old.times is None else attrs.evolve(old.times, ended=None)
        self.parts = []
        self.calls = {}
        self.fragments = {}
        self.ended = {}
        self.buffers = {}
        return _APPLIED

    @override
    def same(self, event: KnownEvent) -> bool:
        same = False
        base = self.base
        match event:
            case TextEnded() | ReasoningEnded() | MediaEnded():
                again = _ended_part(event)
                same = again == self.parts[self.ended[again.__class__]]
            case ToolInputEnded() | ToolCalled() | ToolSuccess() | ToolFailed():
                same = _same_call(self.parts[self.calls[event.call_id]], event)
            case StepEnded():
                same = base.status is MessageStatus.COMPLETED and (
                    (event.finish_reason, event.raw_finish_reason, event.usage, event.details)
                    == (base.finish_reason, base.raw_finish_reason, base.usage, base.details)
                )
            case StepFailed():
                same = base.status is MessageStatus.FAILED and (
                    (event.error, event.usage, event.details) == (base.error, base.usage, base.details)
                )
            case _:  # pragma: no cover - the table says `again` to nothing else
                raise AssertionError(event.type)
        if isinstance(event, (StepEnded, StepFailed)):
            same = (
                same and (event.run is None or event.run == base.run) and (not event.state or event.state == base.state)
            )
        return same

    @override
    def _freeze(self) -> AssistantMessage:
        message = self.base
        parts = self.parts
        if self.closed:
            # The builder drops what is closed when it has its message, so the drafts are its own from now on.
            for place in self.calls.values():
                if parts[place].__class__ is _ToolPartDraft:
                    parts[place].__class__ = ToolPart
        else:
            message = _draft_from(message)
            parts = [self._part_now(part) if part.__class__ is _ToolPartDraft else part for part in parts]
            for kind, (place, times, media_type) in self.fragments.items():
                parts[place] = _streaming(kind, self.buffers.get(_DELTAS[kind]), times, media_type)
        message.parts = tuple(parts)
        message.__class__ = AssistantMessage
        frozen: AssistantMessage = message
        return frozen

    def _part_now(self, draft: Any) -> ToolPart:
        part = _draft_from(draft)
        buffer = self.buffers.get(draft.call_id)
        if buffer is not None:
            part.raw_input = buffer.value()
        part.__class__ = ToolPart
        now: ToolPart = part
        return now


_OpenPrompt.changes = {}
_OpenCompaction.changes = {
    CompactionDelta: _OpenCompaction.grow,
    CompactionEnded: _OpenCompaction.end,
    CompactionFailed: _OpenCompaction.fail,
}
_OpenAnswer.changes = {
    TextStarted: _OpenAnswer.start_text,
    TextDelta: _OpenAnswer.grow,
    TextEnded: _OpenAnswer.end_text,
    ReasoningStarted: _OpenAnswer.start_reasoning,
    ReasoningDelta: _OpenAnswer.grow,
    ReasoningEnded: _OpenAnswer.end_reasoning,
    MediaStarted: _OpenAnswer.start_media,
    MediaDelta: _OpenAnswer.grow,
    MediaEnded: _OpenAnswer.end_media,
    ToolInputStarted: _OpenAnswer.start_input,
    ToolInputDelta: _OpenAnswer.grow,
    ToolInputEnded: _OpenAnswer.end_input,
    ToolCalled: _OpenAnswer.stand,
    ToolProgress: _OpenAnswer.progress,
    ToolSuccess: _OpenAnswer.settle,
    ToolFailed: _OpenAnswer.settle,
    OpaqueReceived: _OpenAnswer.add_opaque,
    StepEnded: _OpenAnswer.end_step,
    StepFailed: _OpenAnswer.fail_step,
    StepRestarted: _OpenAnswer.restart_step,
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


def _draft_from(value: AssistantMessage | ToolPart) -> Any:
    """Return a draft of the same values as a message, a part or another draft."""
    draft = _DRAFTS[value.__class__]()
    for name in draft.__slots__:
        setattr(draft, name, getattr(value, name))
    return draft


def _prompt(event: PromptSubmitted, moment: _Moment) -> UserMessage:
    message: Any = _UserMessageDraft()
    message.id = event.message_id
    message.content = event.content
    message.times = moment.began
    message.__class__ = UserMessage
    made: UserMessage = message
    return made


def _answer_draft(message_id: str, origin: Origin, run: RemoteRun | None, state: State) -> Any:
    draft: Any = _AnswerDraft()
    draft.id = message_id
    draft.origin = origin
    draft.run = run
    draft.parts = ()
    draft.status = _RUNNING
    draft.finish_reason = draft.raw_finish_reason = draft.usage = draft.error = None
    draft.details = NO_FIELDS
    draft.state = state
    return draft


def _streaming(kind: str, buffer: Buffer[str] | None, times: Times | None, media_type: str) -> Part:
    value = None if buffer is None else buffer.value()
    values: dict[str, object] = {"status": PartStatus.STREAMING, "times": times}
    match kind:
        case "text":
            return trusted(TextPart, {**values, "text": value or ""})
        case "reasoning":
            return trusted(ReasoningPart, {**values, "text": value or ""})
        case _:
            return trusted(MediaPart, {**values, "media_type": media_type, "data": value or None})


def _ended_part(event: TextEnded | ReasoningEnded | MediaEnded) -> Part:
    if isinstance(event, TextEnded):
        return _text_part(event, None)
    return _reasoning_part(event, None) if isinstance(event, ReasoningEnded) else _media_part(event, None)


def _text_part(event: TextEnded, times: Times | None) -> TextPart:
    draft: Any = _TextPartDraft()
    draft.text = event.text
    draft.status = _COMPLETED if event.complete else _INCOMPLETE
    draft.citations = event.citations
    draft.details = event.details
    draft.state = event.state
    draft.times = times
    draft.__class__ = TextPart
    part: TextPart = draft
    return part


def _reasoning_part(event: ReasoningEnded, times: Times | None) -> ReasoningPart:
    draft: Any = _ReasoningPartDraft()
    draft.text = event.text
    draft.status = _COMPLETED if event.complete else _INCOMPLETE
    draft.state = event.state
    draft.times = times
    draft.__class__ = ReasoningPart
    part: ReasoningPart = draft
    return part


def _media_part(event: MediaEnded, times: Times | None) -> MediaPart:
    values = {"media_type": event.media_type, "data": event.data, "uri": event.uri}
    return trusted(MediaPart, {**values, "status": _status(event.complete), "state": event.state, "times": times})


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
            return part.status is CallStatus.SUCCESS and (
                (part.output, part.details, part.result_state) == (event.output, event.details, event.state)
            )
        case ToolFailed():
            return part.status is CallStatus.FAILED and (
                (part.error, part.output, part.details, part.result_state)
                == (event.error, event.output, event.details, event.state)
            )
        case _ as never:
            assert_never(never)


def _call_phase(part: ToolPart) -> CallPhase:
    if part.status is CallStatus.CALLED:
        return CallPhase.CALLED
    if part.status is not CallStatus.STREAMING:
        return CallPhase.SETTLED
    return CallPhase.INPUT_OPEN if part.input_status is PartStatus.STREAMING else CallPhase.INPUT_ENDED
