"""
Events to the stream of a provider: what every emitter shares.

A subclass writes whole parts as frames. Their order, and the report of what the wire does not carry, are made here: the
frames of an answer are decoded again, and what differs from the events is a `Drop`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Container, Iterable, Mapping
from copy import copy
from itertools import zip_longest
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar

import attrs

from assistant_events import events as ev
from assistant_events.adapters.base import DecoderBase
from assistant_events.adapters.call_results import has_json
from assistant_events.adapters.errors import ErrorTable
from assistant_events.adapters.tables import word_of
from assistant_events.history import NO_RESULT_KINDS, Drop, DropReason, has_result
from assistant_events.lifecycle import MessageLifecycle
from assistant_events.messages import AssistantMessage, CallStatus, Part, PartStatus, ReasoningPart, TextPart, ToolPart
from assistant_events.reducer import fold
from assistant_events.values import CUT_KINDS, ErrorInfo, ErrorKind, FinishReason, write_json
from assistant_events.values.buffers import Buffer
from assistant_events.values.validators import NO_FIELDS, NO_STATE

Frame: TypeAlias = dict[str, Any] | Literal["[DONE]"]
"""One frame of a stream as plain JSON, or the mark of its end. `Any`: see `json_fields.Fields`."""

OUT_OF_ORDER = "the event cannot follow the events before it"
OTHER_MESSAGE = "the event is not part of this answer"
RESTARTED = "the wire cannot mark a restart: the answer begins again"
REWRITTEN = "the text at its end is not that of its deltas, which were written"
APP_RESULT = "what the app does with a call is sent with the next request, if at all"


_OPEN: Mapping[str, TextPart | ReasoningPart] = {
    "text": TextPart(text="", status=PartStatus.INCOMPLETE),
    "reasoning": ReasoningPart(text="", status=PartStatus.INCOMPLETE),
}

_P = TypeVar("_P", bound=Part)

_LOST = CUT_KINDS - {ErrorKind.TIMEOUT} | {ErrorKind.ADAPTER}
"""Kinds of errors of a stream, not of an answer. A timeout may be the provider's own."""


class EmitterBase(ABC):
    """
    Base class of emitters. A subclass implements `on_start`, `on_part`, `on_result`, `on_end` and calls `write`.

    A part is written when it has ended, in the order in which the parts began. A text or reasoning of another dialect
    is written delta by delta, once the parts before it are: it has no state that its start needs. A call of another
    dialect that is the app's waits for the end of the message: its provider may still answer it. One answer may be
    several messages, each paused but the last, where the wire has `joins_hops`.

    Args:
        delta_chars: Length of one delta of text or of input, for `pieces`; `None` sends each in one delta.
    """

    decoder: ClassVar[type[DecoderBase]]
    """Decodes what the emitter writes."""

    name_field: ClassVar[str | None] = None
    """Field of a frame that is its name too: a frame without it has none. `None` where frames have no names."""

    joins_hops: ClassVar[bool] = False
    """Whether readers of the wire read on behind a message that was paused. Elsewhere what follows it is a drop."""

    def __init__(self, *, delta_chars: int | None = None) -> None:
        self._delta_chars = delta_chars
        self._answer: _Answer | None = None
        self._frames: list[Frame] = []
        self._drops: dict[Drop, None] = {}
        self._unread: list[tuple[AssistantMessage, list[ev.DurableEvent]]] = []
        self._kept: list[Frame] | None = None
        self._indexes: dict[object, int] = {}
        self._over = False
        self._closed = False

    # -- implemented by subclasses

    @abstractmethod
    def on_start(self, message: AssistantMessage) -> None:
        """Write the start of a message. After a restart it is called again."""

    @abstractmethod
    def on_part(self, place: int, part: Part) -> None:
        """Write the part at *place* of the message; of a call, its input."""

    def on_piece(self, place: int, part: TextPart | ReasoningPart, piece: str, *, begins: bool) -> None:
        """
        Write a piece of a part: by default as a part, for wires whose readers join texts behind each other.

        Args:
            place: The place of the part.

            part: The part: empty and incomplete with each piece, then whole.

            piece: The text that follows what was written of the part; empty at its end.

            begins: Whether it is the first piece.
        """
        if piece:
            self.on_part(place, attrs.evolve(part, text=piece))

    def on_result(self, place: int, call: ToolPart) -> None:
        """Write the result of a call that the provider ran; the default is for wires without such calls."""
        self.drop(place, DropReason.UNPLACED)

    @abstractmethod
    def on_end(self, message: AssistantMessage) -> None:
        """Write the end of a message that completed or failed."""

    def on_close(self) -> Iterable[Frame]:
        """Return the frames after the last message."""
        return ()

    def to_bytes(self, frame: Frame) -> bytes:
        """Return the bytes of a frame, as the framing of the decoder reads them, named by `name_field`."""
        name = None if self.name_field is None or frame == "[DONE]" else frame.get(self.name_field)
        return self.decoder.framing.frame(name, frame)

    # -- called by subclasses

    def write(self, frame: Frame) -> None:
        """Append a frame."""
        self._frames.append(frame)
        if self._kept is not None:
            self._kept.append(frame)

    def pieces(self, text: str) -> list[str]:
        """Return a text as the texts of deltas; an empty one has none."""
        size = self._delta_chars or len(text)
        return [text[at : at + size] for at in range(0, len(text), size or 1)]

    def index_of(self, key: object) -> int:
        """Return the index of an item of the message: items are counted in the order in which they are asked for."""
        return self._indexes.setdefault(key, len(self._indexes))

    def drop(self, place: int | None, reason: DropReason | str, message_id: str | None = None) -> None:
        """Report something of the message, or of its part at *place*, that the wire does not carry."""
        if message_id is None and self._answer is not None:
            message_id = self._answer.id
        self._drops.setdefault(Drop(message_id, place, reason))

    # -- called by applications

    @property
    def drops(self) -> tuple[Drop, ...]:
        """What the wire did not carry so far, each once. Complete after `close`. Frames are written and read for it."""
        for message, events in self._unread:
            self._compare(message, self._frames_of(events))
        self._unread.clear()
        return tuple(self._drops)

    def emit(self, event: ev.Event) -> list[Frame]:
        """Return the frames that *event* completes. Never raises for an event."""
        if isinstance(event, ev.DURABLE_EVENTS):
            self._take(event)
        elif isinstance(event, (ev.TextDelta, ev.ReasoningDelta)):
            self._write_delta(event)
        elif event.durable:  # one of a newer version of this library
            self.drop(None, OTHER_MESSAGE)
        return self._written()

    def close(self) -> list[Frame]:
        """Return the last frames; no event follows. Idempotent."""
        if not self._closed:
            self._closed = True
            if self._answer is not None and not self._answer.ended:
                self._write_parts(self._answer, everything=True)
            self._frames += self.on_close()
        return self._written()

    # -- events

    def _take(self, event: ev.DurableEvent) -> None:
        answer = self._answer
        if isinstance(event, ev.StepStarted) and not self._over and (answer is None or answer.ended):
            self._answer = answer = _Answer(event, self.decoder.dialect)
            if not answer.is_own:
                self.drop(None, DropReason.OTHER_PROVIDER)
            self._start(answer)
        elif answer is None or event.message_id != answer.id or isinstance(event, ev.HistoryRewound):
            self.drop(None, OTHER_MESSAGE, event.message_id)
        elif answer.life.advance(event) is not None:
            self.drop(None, OUT_OF_ORDER)
        elif isinstance(event, ev.StepRestarted):
            self.drop(None, RESTARTED)
            answer.restart(event)
            self._kept = None if self._kept is None else []
            self._start(answer)
        elif isinstance(event, (ev.StepEnded, ev.StepFailed)):
            self._end(answer, event)
        elif answer.ended or not answer.add(event):
            slot = answer.slot_of(event)
            self.drop(None if slot is None else slot.place, APP_RESULT)
        else:
            self._write_parts(answer)

    def _start(self, answer: _Answer) -> None:
        self._indexes = {}
        self.on_start(own_message(answer.message(), self.decoder.dialect))

    def _write_parts(self, answer: _Answer, *, everything: bool = False) -> None:
        while answer.waiting and (everything or answer.waiting[0].has_ended):
            slot = answer.waiting.popleft()
            if not slot.can_be_written:
                continue
            part = answer.part(slot)
            if slot.is_result:
                if isinstance(part, ToolPart) and has_result(part):
                    self.on_result(slot.place, self._own(answer, slot.place, part))
                continue
            match self._own(answer, slot.place, part):
                case (TextPart() | ReasoningPart()) as whole if slot.has_begun:
                    rest = whole.text.removeprefix(written := slot.came.value())
                    if len(rest) + len(written) != len(whole.text):
                        self.drop(slot.place, REWRITTEN)
                    elif rest:
                        self._write_piece(slot, rest)
                    self.on_piece(slot.place, whole, "", begins=False)
                case ToolPart(raw_input="") as call if not answer.is_own and _is_cut(call):
                    pass  # clients run one that has no input with an empty one
                case kept:
                    self.on_part(slot.place, _without_result(kept))
        if answer.waiting and answer.waiting[0].came.length and not answer.waiting[0].has_begun:
            self._write_piece(answer.waiting[0], answer.waiting[0].came.value())

    def _write_delta(self, event: ev.TextDelta | ev.ReasoningDelta) -> None:
        """Write what is new of a delta, when its part is the next to be written. One with a gap waits for the end."""
        answer = self._answer
        if answer is None or answer.is_own or answer.ended or event.message_id != answer.id:
            return
        slot = answer.slot_of(event)
        if slot is None or event.offset > slot.came.length:
            return
        piece = event.delta[slot.came.length - event.offset :]
        if piece:
            slot.came.append(piece)
            if answer.waiting and slot is answer.waiting[0]:
                self._write_piece(slot, piece)

    def _write_piece(self, slot: _Slot, piece: str) -> None:
        begins, slot.has_begun = not slot.has_begun, True
        self.on_piece(slot.place, _OPEN[_address(slot.events[0])[0]], piece, begins=begins)

    def _end(self, answer: _Answer, event: ev.StepEnded | ev.StepFailed) -> None:
        self._write_parts(answer, everything=True)
        answer.events.append(event)
        answer.ended = True
        message = answer.message()
        is_cut = message.error is not None and message.error.kind in CUT_KINDS
        is_paused = self.joins_hops and message.finish_reason is FinishReason.PAUSE
        self._over = not (is_paused or is_cut)
        self.on_end(own_message(message, self.decoder.dialect))
        self._unread.append((message, answer.events))

    def _frames_of(self, events: list[ev.DurableEvent]) -> list[Frame]:
        """Return the frames of a message that has ended. They are not kept: each delta has one."""
        again = copy(self)
        again._answer, again._over, again._kept = None, False, []
        again._frames, again._drops, again._unread = [], {}, []
        for event in events:
            again.emit(event)
        return again._kept

    def _compare(self, message: AssistantMessage, frames: list[Frame]) -> None:
        """Report what the message that *frames* are decoded to differs in."""
        decoder = self.decoder(message.id)
        events = [event for frame in frames for event in decoder.feed(self.to_bytes(frame))]
        read = fold([*events, *decoder.close()]).last
        if not isinstance(read, AssistantMessage):
            read = attrs.evolve(message, parts=())
        if message.origin.dialect != self.decoder.dialect:  # its state was reported before
            message, read = [
                attrs.evolve(each, parts=tuple(map(_without_state, each.parts)), run=None, state=NO_STATE)
                for each in (message, read)
            ]
        run = message.run if (read.run and read.run.id) == (message.run and message.run.id) else read.run
        for place, (part, other) in enumerate(zip_longest(message.parts, read.parts)):
            if part != other:
                self.drop(min(place, len(message.parts) - 1), DropReason.UNPLACED, message.id)
        if attrs.evolve(read, parts=message.parts, origin=message.origin, run=run) != message:
            self.drop(None, DropReason.UNPLACED, message.id)

    def _own(self, answer: _Answer, place: int, part: _P) -> _P:
        """Return a part with its state, when the state is of this dialect."""
        kept = part if answer.is_own else _without_state(part)
        if kept != part:
            self.drop(place, DropReason.OTHER_PROVIDER)
        return kept

    def _written(self) -> list[Frame]:
        frames, self._frames = self._frames, []
        return frames


@attrs.define
class _Slot:
    """A part, or the result of a call, that has not been written."""

    place: int
    events: list[ev.DurableEvent] = attrs.Factory(list[ev.DurableEvent])
    came: Buffer[str] = attrs.Factory(lambda: Buffer(""))
    """What has come of its text, delta by delta."""

    has_begun: bool = False
    """Whether that was written, since no part before it waits."""

    has_ended: bool = False
    is_called: bool = False
    is_result: bool = False

    @property
    def can_be_written(self) -> bool:
        """Whether it has ended, or is a call that its provider may still answer."""
        return self.has_ended or self.is_called


class _Answer:
    """The message that is written, and its parts that wait for their end or for parts before them."""

    def __init__(self, start: ev.StepStarted, dialect: str) -> None:
        self.id = start.message_id
        self.is_own = start.origin.dialect == dialect
        self.life = MessageLifecycle()
        self.life.advance(start)
        self.events: list[ev.DurableEvent] = [start]
        self.ended = False
        self.waiting: deque[_Slot] = deque()
        self._slots: dict[tuple[str, str | None], _Slot] = {}
        self._count = 0

    def restart(self, event: ev.StepRestarted) -> None:
        """Forget all parts."""
        self.events = [self.events[0], event]
        self.ended, self._count = False, 0
        self.waiting.clear()
        self._slots.clear()

    def message(self) -> AssistantMessage:
        """Return the message as far as its events have come."""
        message = fold(self.events).last
        assert isinstance(message, AssistantMessage)
        return message

    def part(self, slot: _Slot) -> Part:
        """Return the part of a slot."""
        message = fold([self.events[0], *slot.events]).last
        assert isinstance(message, AssistantMessage)
        return message.parts[0]

    def slot_of(self, event: ev.DurableEvent | ev.TextDelta | ev.ReasoningDelta) -> _Slot | None:
        """Return the slot of the part that *event* belongs to, of one that is open or a call."""
        return self._slots.get(_address(event))

    def add(self, event: ev.DurableEvent) -> bool:
        """Add an event of a part. Returns whether the provider is its author."""
        address = _address(event)
        slot = self._slots.get(address)
        if slot is None:
            slot = self._slots[address] = _Slot(self._count)
            self._count += 1
            self.waiting.append(slot)
        match event:
            case ev.TextEnded() | ev.ReasoningEnded() | ev.MediaEnded() | ev.OpaqueReceived():
                slot.has_ended = True
                del self._slots[address]
            case ev.ToolCalled():
                slot.is_called, slot.has_ended = True, self.is_own or event.provider_executed
            case ev.ToolInputEnded():
                slot.has_ended = not event.complete  # otherwise the call follows
            case ev.ToolFailed() if event.error.kind in NO_RESULT_KINDS:
                slot.has_ended = True
            case ev.ToolSuccess() | ev.ToolFailed() if slot.can_be_written:
                if not event.provider_executed:
                    return False
                slot.has_ended = True
                self.waiting.append(_Slot(slot.place, slot.events, has_ended=True, is_result=True))
            case ev.ToolApprovalRequested() | ev.ToolApproved() | ev.ToolStarted():
                return False
            case ev.ToolFailed():
                slot.has_ended = True
            case _:
                pass
        slot.events.append(event)
        self.events.append(event)
        return True


def own_message(message: AssistantMessage, dialect: str) -> AssistantMessage:
    """
    Return what a dialect can write of a message: of one of another dialect no state and details, but the model.

    Its usage has the counts alone: wires share some names of fields, and would have its object in place of their own.
    Calls whose input has not ended are left out: clients run one that has none with an empty one.
    """
    if message.origin.dialect == dialect:
        return message
    origin = attrs.evolve(message.origin, served_model=message.origin.served_model or message.origin.model)
    parts = tuple(_without_state(part) for part in message.parts if not _is_cut(part))
    usage = message.usage and attrs.evolve(message.usage, details=NO_FIELDS)
    return attrs.evolve(message, origin=origin, parts=parts, usage=usage, state=NO_STATE, details=NO_FIELDS)


def own_error(message: AssistantMessage, dialect: str, table: ErrorTable) -> ErrorInfo:
    """Return the error of a failed message, in a word of the wire: clients take no other's for a reason to wait."""
    assert message.error is not None
    if message.origin.dialect == dialect:
        return message.error
    return attrs.evolve(message.error, code=table.word(message.error.kind), status=None)


def is_uncalled(part: Part) -> bool:
    """Return whether a part is a call of the app that has no object for its input: it is not to be run."""
    return isinstance(part, ToolPart) and not part.provider_executed and part.input is None


def called_only(message: AssistantMessage) -> AssistantMessage:
    """Return a message without these calls, for wires that have no form for other inputs than objects."""
    return attrs.evolve(message, parts=tuple(part for part in message.parts if not is_uncalled(part)))


def finish_word(
    message: AssistantMessage,
    dialect: str,
    words: Mapping[str, FinishReason],
    otherwise: str,
    *,
    wordless: Container[FinishReason] = frozenset({FinishReason.OTHER, FinishReason.TOOL_CALLS}),
) -> str | None:
    """
    Return the wire's word for why a message ended: its own one, else the first of *words* that means the same.

    An own message without a word ended with none, where that is read as one of the reasons *wordless*.
    """
    reason, word = message.finish_reason, message.raw_finish_reason
    if reason is None or (message.origin.dialect == dialect and (word is not None or reason in wordless)):
        return word
    return word_of(words, reason, otherwise)


def is_lost(error: ErrorInfo | None) -> bool:
    """Return whether an answer failed because its stream was lost: nothing is written then."""
    return error is not None and error.kind in _LOST


def _address(event: ev.DurableEvent | ev.TextDelta | ev.ReasoningDelta) -> tuple[str, str | None]:
    return event.type.partition(".")[0], getattr(event, "call_id", None)


def _without_result(part: Part) -> Part:
    if not isinstance(part, ToolPart) or not has_result(part):
        return part
    return attrs.evolve(part, status=CallStatus.CALLED, output=(), error=None, result_state=NO_STATE)


def _is_cut(part: Part) -> bool:
    return isinstance(part, ToolPart) and part.input_status in {PartStatus.STREAMING, PartStatus.INCOMPLETE}


def _without_state(part: _P) -> _P:
    """Return a part of another dialect without state, and with an input in JSON: other texts need that state."""
    kept = attrs.evolve(part, state=NO_STATE)
    if not isinstance(kept, ToolPart):
        return kept
    text = kept.raw_input
    if text and kept.input is not None and not has_json(kept):
        text = write_json(kept.input).decode()
    return attrs.evolve(kept, result_state=NO_STATE, raw_input=text)
