"""
Server-sent events for browsers: what an `EventSource` reads, and the cursors that it sends.

An event is one document of a `DocumentWriter` and has no `event:` line, so that `EventSource.onmessage` gets it; only
`end` and `error` have one. Records and snapshots have their `Cursor` as `id:`; live frames have no id, and the browser
keeps the last one. So a browser that connects again sends the cursor of the last record that it has.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from hashlib import blake2b
from typing import Final, Self, TypeAlias, final

import attrs

from assistant_events.events import Event, Frame, Record
from assistant_events.messages import Transcript
from assistant_events.outward.documents import DocumentWriter
from assistant_events.values.json_io import write_json

_Item: TypeAlias = Event | Record | Frame

SSE_HEADERS: Final = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",  # nginx collects answers otherwise
}
"""Headers of an answer of server-sent events: no proxy on its way may keep, change or collect them."""

HEARTBEAT: Final = b":\n\n"
"""A comment: shows proxies that the connection is in use, and this side that the browser is there."""

SSE_START: Final = b"retry: 1000\n\n" + HEARTBEAT
"""Beginning of an answer, with the milliseconds after which a browser connects again."""

_CURSOR: Final = re.compile(r"(\d{1,18})(?:\.(?:([\da-f]{12})|[\w-]{1,64})-\d{1,18})?", re.ASCII)


@final
@attrs.frozen
class Cursor:
    """
    The place of a browser in a log: `17.5f3c0a9be21d-0`, the `seq` of a record and its mark; or `17`.

    The mark is of the session, the time and the message of the record. So a cursor of another session is recognised,
    and one of a log that was deleted and begun anew, or restored from an older copy. It shows nothing that a browser
    does not have from the record.
    """

    seq: int

    mark: str | None = None
    """Twelve hexadecimal digits, zeros for a record that is pruned; `None` in a cursor made of a `seq` alone."""

    @classmethod
    def of(cls, record: Record) -> Self:
        """Return the cursor behind a record."""
        named = f"{record.session_id}\n{record.seq}\n{record.at.isoformat()}\n{record.event.message_id}"
        return cls(record.seq, blake2b(named.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest())

    @classmethod
    def of_pruned(cls, seq: int) -> Self:
        """Return the cursor behind a record that has been pruned. It equals that of no record, in no log."""
        return cls(seq, "0" * 12)

    @classmethod
    def parse(cls, text: str) -> Self:
        """
        Return the cursor that a browser has sent.

        The number at its end is the place of a frame behind the record, which is not needed: a browser that connects
        again is given each open text from its start. Another token than a mark is not compared.

        Raises:
            ValueError: *text* is not a cursor.
        """
        if (found := _CURSOR.fullmatch(text)) is None:
            raise ValueError("expected a cursor: the id of an event, or the seq of a record, such as 17")
        return cls(int(found[1]), found[2])

    def __str__(self) -> str:
        return str(self.seq) if self.mark is None else f"{self.seq}.{self.mark}-0"


@final
class SharedEvents:
    """
    The last items of a session as they were written, for the writers of all browsers that watch it.

    Items are found by identity: a channel gives all its subscribers the same ones.

    Args:
        max_items: How many are kept.

        max_bytes: How many bytes they may have; the last one is kept whatever it has.
    """

    def __init__(self, *, max_items: int = 64, max_bytes: int = 1 << 20) -> None:
        self._max_items = max_items
        self._max_bytes = max_bytes
        self._size = 0
        self._written: OrderedDict[int, tuple[_Item, bytes]] = OrderedDict()

    def get(self, item: _Item) -> bytes | None:
        """Return what was written for *item*; `None` when it is not kept."""
        found = self._written.get(id(item))  # the item is kept too, so that no other one has its id
        return None if found is None else found[1]

    def add(self, item: _Item, written: bytes) -> None:
        """Keep what was written for *item*."""
        self._written[id(item)] = (item, written)
        self._size += len(written)
        while len(self._written) > self._max_items or (self._size > self._max_bytes and len(self._written) > 1):
            _, (_, oldest) = self._written.popitem(last=False)
            self._size -= len(oldest)


@final
class SseWriter:
    """
    Writes server-sent events for one browser.

    Args:
        shared: What the writers of the session have written, where several browsers watch it.
    """

    def __init__(self, shared: SharedEvents | None = None) -> None:
        self._shared = SharedEvents() if shared is None else shared
        self._documents = DocumentWriter()

    def snapshot(self, transcript: Transcript, cursor: Cursor | None = None) -> bytes:
        """
        Return the event of a transcript, which replaces what the browser has.

        Args:
            transcript: The transcript.

            cursor: That of its last record; without one its `seq`, which no log refuses.
        """
        return _event(self._documents.snapshot(transcript), Cursor(transcript.seq) if cursor is None else cursor)

    def write(self, item: _Item) -> bytes:
        """Return the event of an item."""
        written = self._shared.get(item)
        if written is not None:
            self._documents.skip(item)
            return written
        written = _event(self._documents.write(item), Cursor.of(item) if isinstance(item, Record) else None)
        self._shared.add(item, written)
        return written


def end_event(seq: int) -> bytes:
    """Return the last event of an answer that is complete up to `seq`. A browser closes its `EventSource` then."""
    return b"event: end\n" + _event({"type": "end", "seq": seq}, None)


def error_event(message: str) -> bytes:
    """Return the last event of an answer that had to be ended. An `EventSource` connects again."""
    return b"event: error\n" + _event({"type": "error", "message": message}, None)


def _event(document: dict[str, object], cursor: Cursor | None) -> bytes:
    data = b"data: %s\n\n" % write_json(document)
    return data if cursor is None else b"id: %s\n%s" % (str(cursor).encode(), data)
