"""Unfinished work of sessions: its JSON form, and its recovery from the log where no writer handed it in."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import suppress
from typing import cast

from assistant_events.converters import dumps, structure
from assistant_events.errors import PrunedError, StoreError
from assistant_events.messages import Transcript, Unfinished
from assistant_events.reducer import fold
from assistant_events.stores.contract import Store
from assistant_events.values import read_json
from assistant_events.values.credentials import error_text

_log = logging.getLogger("assistant_events.stores")


def resolve_unfinished(
    store: Store, rows: Iterable[tuple[str, tuple[Unfinished, ...] | None]], unreadable: set[str]
) -> dict[str, tuple[Unfinished, ...]]:
    """
    Return the unfinished work of each session that has any, in the order of *rows*.

    These are the sessions with their unfinished work; `None` marks an unknown one, which is recovered with
    `recover_unfinished`.
    """
    found: dict[str, tuple[Unfinished, ...]] = {}
    for session_id, known in rows:
        unfinished = recover_unfinished(store, session_id, unreadable) if known is None else known
        if unfinished:
            found[session_id] = unfinished
    return found


def recover_unfinished(store: Store, session_id: str, unreadable: set[str]) -> tuple[Unfinished, ...]:
    """
    Fold the log of a session and return its unfinished work, which is stored unless the log has moved since.

    A log that cannot be read has none, so that the other sessions are not affected. A warning names the session once:
    *unreadable* contains the ids of such sessions, and is kept by the store.
    """
    try:
        transcript = stored_transcript(store, session_id)
    except StoreError as error:
        store.seq(session_id)  # raises where it is the store that has failed, or is closed
        if session_id not in unreadable:
            unreadable.add(session_id)
            hint = "it is left out until it can be read"
            _log.warning("session %r: its unfinished work is unknown, and %s: %s", session_id, hint, error_text(error))
        return ()
    unreadable.discard(session_id)
    unfinished = transcript.unfinished()
    # Without it the result is right too, and the next call folds again: the log may have moved, or the disk be full.
    with suppress(StoreError):
        store.append(session_id, (), expected_seq=transcript.seq, unfinished=unfinished)
    return unfinished


def stored_transcript(store: Store, session_id: str) -> Transcript:
    """Return the transcript of what is stored of a session, also while another writer prunes its records."""
    start = store.load_snapshot(session_id) or Transcript()
    while True:
        try:
            return fold(store.read(session_id, start.seq), start=start)
        except PrunedError:  # another writer has stored a newer snapshot and pruned the records before it
            newer = store.load_snapshot(session_id)
            if newer is None or newer.seq <= start.seq:
                raise
            start = newer


def dump_unfinished(unfinished: Iterable[Unfinished]) -> bytes:
    """Return unfinished work as a JSON array."""
    return b"[" + b",".join(map(dumps, unfinished)) + b"]"


def load_unfinished(data: bytes) -> tuple[Unfinished, ...]:
    """
    Return the unfinished work of a JSON array from `dump_unfinished`.

    Raises:
        ValueError: The JSON is damaged.
    """
    items = read_json(data)
    if not isinstance(items, list):
        raise ValueError("expected a JSON array")  # noqa: TRY004 - damaged data, not a wrong argument
    return tuple([structure(each, Unfinished) for each in cast("list[object]", items)])
