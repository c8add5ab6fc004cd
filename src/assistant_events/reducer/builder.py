"""
The fold: mutable inside, immutable in what it returns.

`Builder` is the one implementation; `reduce` and `fold` use it. Deltas of the open fragment take one short path; every
other event is checked by `lifecycle` first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias, assert_never

from assistant_events import events as ev
from assistant_events.event_lists import EventList
from assistant_events.lifecycle import MESSAGE, KnownEvent, MessageLifecycle, MessagePhase, Outcome, Rejection
from assistant_events.messages import AssistantMessage, CompactionMessage, Message, Transcript, UserMessage
from assistant_events.reducer.open_answer import OpenAnswer
from assistant_events.reducer.open_message import NO_MOMENT, OUTCOMES, Moment, OpenCompaction, OpenMessage, OpenPrompt
from assistant_events.reducer.parts import answer_draft
from assistant_events.values.buffers import COMPACT_AT, Buffer
from assistant_events.values.construct import constructor, copy_for_class

_transcript: Callable[..., Transcript] = constructor(Transcript)
_user_message: Callable[..., UserMessage] = constructor(UserMessage)

_END = object()

# Any: the class that a delta is recognised by.
_Latest: TypeAlias = tuple[Any, str, str | None, Buffer[str]]
_NOTHING: _Latest = None, "", None, Buffer("")


def _append_run(delta: Any, rest: Iterator[Any], buffer: Buffer[str]) -> Any:
    """Append a delta, and those of *rest* that continue it; return the first item that does not, or `_END`."""
    # Any: recognised by its class.
    cls, message_id = delta.__class__, delta.message_id
    call_id = delta.call_id if cls is ev.ToolInputDelta else None
    buffer.append(delta.delta)
    length = buffer.length
    keep, room = buffer.pieces.append, COMPACT_AT - len(buffer.pieces)
    try:
        for item in rest:
            if (
                item.__class__ is not cls
                or item.offset != length
                or item.message_id != message_id
                or (call_id is not None and item.call_id != call_id)
            ):
                return item
            text = item.delta
            keep(text)
            length += len(text)
            room -= 1
            if not room:
                buffer.compact()
                room = COMPACT_AT
    finally:
        buffer.length = length  # also when *rest* raises: the items before that are applied
    return _END


_APPEND_RUN = {cls: copy_for_class(_append_run) for cls in (ev.TextDelta, ev.ReasoningDelta, ev.ToolInputDelta)}
"""By class, what appends deltas; nearly every event continues what the event before it continued."""

# Any: classes by which events are recognised.
_ENDS: dict[Any, Any] = {
    ev.TextDelta: ev.TextEnded,
    ev.ReasoningDelta: ev.ReasoningEnded,
    ev.ToolInputDelta: ev.ToolInputEnded,
}


def _ends(event: Any, delta: Any) -> bool:
    """Return whether an event ends what a delta adds to: it has the whole text then, and the delta changes nothing."""
    # Any: recognised by their classes.
    return (
        event.__class__ is _ENDS[delta.__class__]
        and event.message_id == delta.message_id
        and (delta.__class__ is not ev.ToolInputDelta or event.call_id == delta.call_id)
    )


# Reading a member of an enum takes as long as a look-up in a table.
_APPLIED, _IGNORED, _RUNNING = Outcome.APPLIED, Outcome.IGNORED, MessagePhase.RUNNING


class Builder:
    """
    Folds events one after another into a transcript.

    `apply` takes one event, record or frame and returns its outcome, `extend` takes many, `transcript` returns the
    result so far. The cost of `transcript` is that of the open text and of what has changed since the last call.
    """

    def __init__(self, start: Transcript | None = None) -> None:
        start = Transcript() if start is None else start
        # An open message may be a draft here; `OpenMessage.message` returns its current state.
        self._messages: list[Message] = list(start.messages)
        self._index: dict[str, int] | None = None
        self._open: dict[str, OpenMessage] = {}
        self._current: OpenMessage | None = None
        # What the last delta belongs to, while no other event has come: its class, its message, its call, its text.
        self._latest = _NOTHING
        self._rewound = start.rewound
        self._gone: set[str] = set()  # rewound since the last transcript
        self._seq = start.seq
        self._moment = NO_MOMENT

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
        return _transcript(messages=tuple(self._messages), seq=self._seq, rewound=self._rewound)

    @property
    def seq(self) -> int:
        """Place of the last record that was folded; 0 when there was none."""
        return self._seq

    def open_text(self) -> list[tuple[str, object, Buffer[str]]]:
        """
        Return the content of each fragment that streams, with the id of its message and its key.

        The key is the class of its deltas, or the id of a call. A fragment has the same buffer until it ends.
        """
        return [(open_.id, key, buffer) for open_ in self._open.values() for key, buffer in open_.open_text()]

    def extend(self, items: Iterable[ev.Event | ev.Record | ev.Frame]) -> None:
        """Apply all of *items*; events that are out of place change nothing."""
        # Any: a delta is recognised by its class.
        item: Any
        if isinstance(items, list) and len(items) == 1:
            # A live stream brings one delta at a time: the same as below, for one.
            (item,) = items
            cls, message_id, call_id, buffer = self._latest
            if (
                cls is not item.__class__
                or item.offset != buffer.length
                or item.message_id != message_id
                or (call_id is not None and item.call_id != call_id)
            ):
                known = self._continued(item) if item.__class__ in _APPEND_RUN else None
                if known is None:
                    self.apply(item)
                    return
                buffer = known
            pieces = buffer.pieces
            pieces.append(item.delta)
            buffer.length += len(item.delta)
            if len(pieces) >= COMPACT_AT:
                buffer.compact()
            return
        if isinstance(items, EventList):
            self._extend_runs(items)
            return
        rest = iter(items)
        item = next(rest, _END)
        while item is not _END:
            append = _APPEND_RUN.get(item.__class__)
            if append is not None and (known := self._continued(item)) is not None:
                item = append(item, rest, known)
            else:
                self.apply(item)
                item = next(rest, _END)

    def _extend_runs(self, items: EventList) -> None:
        """Apply *items*: each run of deltas that continues what is open is one piece of its text."""
        at = 0
        for run in items.runs:
            end = run.at + len(run.deltas)
            if items[run.at : end] != run.deltas:
                break  # the list was changed
            for item in items[at : run.at]:
                self.apply(item)
            at = run.at
            if end < len(items) and _ends(items[end], run.deltas[0]):
                at = end
            elif (known := self._continued(run.deltas[0])) is not None:
                known.append(run.text)
                at = end
        self.extend(items[at:])

    def _continued(self, delta: Any) -> Buffer[str] | None:
        """Return what *delta* continues, when it is in the message of the last event and no event is between."""
        # Any: recognised by its class.
        cls = delta.__class__
        current = self._current
        if current is None or current.id != delta.message_id:
            return None
        call_id = delta.call_id if cls is ev.ToolInputDelta else None
        buffer = current.buffer_of(cls, cls if call_id is None else call_id)
        if buffer is None or buffer.length != delta.offset:
            return None
        self._latest = cls, current.id, call_id, buffer
        return buffer

    def apply(self, item: ev.Event | ev.Record | ev.Frame) -> Outcome:
        """
        Apply one event, record or frame.

        A record that is next in the log moves `seq`, whatever the outcome of its event. With every outcome but
        `applied` the messages stay as they were. A frame after another `seq` is `late` or a `gap`; otherwise it is
        `applied` when one of its events is, and else has the outcome of the first.

        Raises:
            TypeError: For anything else.
        """
        # Any: recognised by its class, or refused below for what it lacks.
        event: Any = item
        self._latest = _NOTHING
        moment = NO_MOMENT
        cls = event.__class__
        if cls is ev.Record:
            record, event = event, event.event
            if record.seq != self._seq + 1:
                return Outcome.DUPLICATE if record.seq <= self._seq else Outcome.GAP
            self._seq = record.seq
            moment = self._moment
            if record.at is not moment.at:
                moment = self._moment = Moment(record.at)
            cls = event.__class__
        current = self._current
        if current is None or cls not in current.changes or current.id != event.message_id:
            outcome = self._apply_other(event, moment)
            if outcome is not None:
                return outcome
            current = self._current
            assert current is not None  # the message has been opened
        rejection = current.life.advance(event)
        if rejection is not None:
            return current.rejected(event, rejection)
        current.frozen = None
        return current.changes[cls](current, event, moment)

    def _apply_other(self, event: Any, moment: Moment) -> Outcome | None:
        """Apply what changes no open message, and return its outcome; else open the message, and return `None`."""
        # Any: see `apply`.
        if event.__class__ is ev.UnknownEvent:
            return _IGNORED
        try:
            message_id = event.message_id
        except AttributeError:
            return self._apply_frame(event)
        current = self._current
        if current is None or current.id != message_id:
            found = self._find(message_id)
            if found.__class__ is MessagePhase:
                return self._begin(event, moment, found)
            current = self._current = found
        return self._rewind(current.at) if event.__class__ is ev.HistoryRewound else None

    def _apply_frame(self, frame: object) -> Outcome:
        if not isinstance(frame, ev.Frame):
            raise TypeError(f"expected an event, record or frame, got {type(frame).__name__}") from None
        if frame.after != self._seq:
            return Outcome.LATE if frame.after < self._seq else Outcome.GAP
        outcomes = [self.apply(event) for event in frame.events]
        return _APPLIED if _APPLIED in outcomes else next(iter(outcomes), _IGNORED)

    def _find(self, message_id: str) -> Any:
        """Return the message, opened for change, or the phase of a message that is not there."""
        # Any: `OpenMessage | MessagePhase`. The caller compares classes: `isinstance` is slow for an enum.
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
        opened: OpenMessage
        match message:
            case UserMessage():
                opened = OpenPrompt(position, message)
            case AssistantMessage():
                opened = OpenAnswer.reopen(position, message)
            case CompactionMessage():
                opened = OpenCompaction(position, message)
            case _ as never:
                assert_never(never)
        self._open[message_id] = opened
        return opened

    def _begin(self, event: KnownEvent, moment: Moment, phase: MessagePhase) -> Outcome:
        after = MESSAGE[phase][event.__class__]
        if type(after) is Rejection:
            # Only a second rewind can be `AGAIN` here, and it is always equal to the first.
            return OUTCOMES.get(after, Outcome.DUPLICATE)
        previous = self._current
        if previous is not None and previous.new and previous.closed:
            # Most likely nothing more comes, and an open message takes several times the memory. Only once: a message
            # that is opened again and again costs its size each time.
            self._messages[previous.at] = previous.message()
            self._forget(previous)
        assert self._index is not None  # the message has been looked for
        unread = event.before if isinstance(event, ev.StepStarted) else None
        position = len(self._messages) if unread is None else self._make_room(unread)
        self._index[event.message_id] = position
        if isinstance(event, ev.PromptSubmitted):
            self._messages.append(_user_message(id=event.message_id, content=event.content, times=moment.began))
            return _APPLIED
        opened: OpenMessage
        if isinstance(event, ev.StepStarted):
            draft = answer_draft(event.message_id, event.origin, event.run, event.state)
            draft.times = moment.began
            opened = OpenAnswer(position, draft, MessageLifecycle(_RUNNING))
        else:
            assert isinstance(event, ev.CompactionStarted)  # the table lets nothing else begin a message
            base = CompactionMessage(id=event.message_id, reason=event.reason, origin=event.origin, times=moment.began)
            opened = OpenCompaction(position, base)
        opened.new = True
        self._messages.insert(position, opened.base)
        self._open[opened.id] = self._current = opened
        return _APPLIED

    def _make_room(self, unread: str) -> int:
        """Return the place of an answer that is before the prompt *unread*; the end when that is gone."""
        assert self._index is not None  # see above
        position = self._index.get(unread, len(self._messages))
        for message in self._messages[position:]:
            self._index[message.id] += 1
        for open_ in self._open.values():
            open_.at += open_.at >= position
        return position

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

    def _forget(self, open_: OpenMessage) -> None:
        del self._open[open_.id]
        if self._current is open_:
            self._current = None
