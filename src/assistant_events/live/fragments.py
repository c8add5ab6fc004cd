"""Open fragments of a session, and the progress of its calls."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, Final, final

from assistant_events import events as ev
from assistant_events.events import DeltaEvent, Event, LiveEvent, Record
from assistant_events.stores.checkpoints import ENDS, STARTS, Fragment, closed_fragments, cut_delta, rest_of, with_piece

_CLOSING: Final = frozenset[type](
    {ev.ToolSuccess, ev.ToolFailed, ev.StepRestarted, ev.StepEnded, ev.StepFailed, ev.HistoryRewound}
)
"""Events that close more than the fragment that they name."""

_BEGINNING: Final = frozenset[type]({ev.PromptSubmitted, ev.StepStarted, ev.CompactionStarted})
_KINDS: Final = {**STARTS, **ENDS}
_INPUT: Final = ev.ToolInputDelta.type


@final
class OpenFragments:
    """
    The open fragments of a session with their text so far, and the last progress of its calls.

    Each piece has the index of the item that contained it, so that the rest can be made for a subscriber that has
    received all items before an index.
    """

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str, str], _Text] = {}  # by the fields of `Fragment`
        self._progress: dict[tuple[str, str], tuple[int, ev.ToolProgress]] = {}  # by message and call
        self._messages: list[str] = []  # as they follow one another, from the first that runs or has something open
        self._running: set[str] = set()  # the answers among them
        self._settled = 0  # `seq` of the last record that has ended calls

    def __bool__(self) -> bool:
        return bool(self._texts or self._progress)

    def apply(self, record: Record) -> DeltaEvent | None:
        """Open and close what a record opens and closes; return what is new in it of a text that it ends."""
        # Any: it has a call where a fragment of its kind has one.
        event: Any = record.event
        cls, name, texts, rest = event.__class__, event.message_id, self._texts, None
        if cls in _BEGINNING:
            self._place(name, event.before if cls is ev.StepStarted else None)
        if cls is ev.StepStarted or cls is ev.StepRestarted:
            self._running.add(name)
        if (kind := _KINDS.get(cls)) is not None:
            key = (name, kind, event.call_id if kind == _INPUT else "")
            if cls in STARTS:
                texts[key] = _Text(record.seq)
                self._note(name)
            else:
                text = texts.pop(key, None)
                rest = rest_of(event, 0 if text is None else text.length)
        if cls in _CLOSING:
            self._settle(event, name, record.seq)
        return rest

    def add(self, events: Sequence[LiveEvent], index: int, *, after: int, is_last: bool) -> list[LiveEvent]:
        """
        Add live events, and return what is new of them.

        Args:
            events: Joined events. Those of closed fragments, and those behind a gap, are left out.

            index: Of the item that will have them.

            after: `seq` of the record before them. They never land in a fragment that began later.

            is_last: Whether that is the last record. Then they may begin a fragment that is not known.
        """
        new: list[LiveEvent] = []
        for event in events:
            if isinstance(event, ev.ToolProgress):
                if after >= self._settled:
                    self._note(event.message_id)
                    self._progress[event.message_id, event.call_id] = index, event
                    new.append(event)
                continue
            key = event.message_id, event.type, event.call_id if isinstance(event, ev.ToolInputDelta) else ""
            text = self._texts.get(key)
            if text is None and is_last and event.offset == 0:
                self._note(event.message_id)
                text = self._texts[key] = _Text(after)
            if text is not None and text.began <= after and (rest := text.add(event, index)) is not None:
                new.append(rest)
        return new

    def missing(self, since: int | None) -> list[LiveEvent]:
        """Return the content of the items from index *since* on, one delta for each fragment; all of it for `None`."""
        deltas = [text.missing(since) for text in self._texts.values()]
        found: list[LiveEvent] = [delta for delta in deltas if delta is not None]
        found += [event for index, event in self._progress.values() if since is None or index >= since]
        return found

    def _settle(self, event: Event, name: str, seq: int) -> None:
        """Close what a record ends beside one fragment: a call, a message, or all messages from one on."""
        if isinstance(event, ev.ToolSuccess | ev.ToolFailed):
            self._settled = seq
            self._progress.pop((name, event.call_id), None)
            return
        if isinstance(event, ev.HistoryRewound):
            # A message that is not known began before all that are.
            known = self._messages
            self._messages = known[: known.index(name)] if name in known else []
            self._running.intersection_update(self._messages)
        for fragment in closed_fragments([Fragment(*key) for key in self._texts], (event,), lambda: self._messages):
            del self._texts[fragment]
        if isinstance(event, ev.StepEnded | ev.StepFailed):
            self._running.discard(name)
            self._messages = self._messages if self or self._running else []
        else:
            self._settled = seq
            left = (
                self._messages if isinstance(event, ev.HistoryRewound) else {key[0] for key in self._progress} - {name}
            )
            self._progress = {key: value for key, value in self._progress.items() if key[0] in left}

    def _place(self, message_id: str, before: str | None) -> None:
        """Add a message that begins: at the end, or before a prompt that it has not read."""
        if before is not None:
            self._note(before)
        self._messages.insert(len(self._messages) if before is None else self._messages.index(before), message_id)

    def _note(self, message_id: str) -> None:
        """Add a message if it is not known: it began before all that are."""
        if message_id not in self._messages:
            self._messages.insert(0, message_id)


@final
class _Text:
    """The text of a fragment, in pieces."""

    __slots__ = ("_first", "_indexes", "_pieces", "began", "length")

    _first: DeltaEvent  # made with the first piece, as the next two: many texts come whole, with their end
    _pieces: list[Any]  # Any: text, or bytes of media
    _indexes: list[int]

    def __init__(self, began: int) -> None:
        self.began = began  # `seq` of the record that began it, or of a later one
        self.length = 0

    def add(self, delta: DeltaEvent, index: int) -> DeltaEvent | None:
        """Add a piece; return what is new of it, `None` if that is nothing or text before it is missing."""
        covered = self.length - delta.offset
        if covered < 0 or covered >= len(delta.delta):
            return None
        if covered:
            delta = cut_delta(delta, covered)
        if not self.length:
            self._first, self._pieces, self._indexes = delta, [], []
        self._pieces.append(delta.delta)
        self._indexes.append(index)
        self.length += len(delta.delta)
        return delta

    def missing(self, since: int | None) -> DeltaEvent | None:
        """See `OpenFragments.missing`."""
        if not self.length:
            return None
        pieces = self._pieces if since is None else self._pieces[bisect_left(self._indexes, since) :]
        if not pieces:
            return None
        piece = pieces[0][:0].join(pieces)
        return with_piece(self._first, self.length - len(piece), piece)
