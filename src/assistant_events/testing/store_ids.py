"""The tries of `check_store` for ids of sessions and workers: any strings, kept apart in all that a store has."""

from __future__ import annotations

from functools import partial
from typing import Final

from assistant_events.errors import ClaimedError
from assistant_events.events import Event, PromptSubmitted, TextDelta, TextStarted
from assistant_events.messages import Transcript, Unfinished
from assistant_events.reducer import fold
from assistant_events.stores.contract import Store
from assistant_events.testing.store_expectations import refuse, same, texts
from assistant_events.testing.store_samples import called, started

_IDS: Final = (
    "a",
    "A",
    "a ",
    "a/b",
    "a\x00",
    "a\x00b",
    "é",
    "e\u0301",
    "😀",
    "\ud83d",
    "%_'\"",
    "1",
    "x" * 5000,
    "x" * 5001,
)
"""Ids that a storage easily takes for the same, or refuses."""


def ids_are_any_strings(store: Store) -> None:
    """Try sessions with such ids."""
    for name in _IDS:
        left = Unfinished(message_id=name, awaits="tools", call_id=name)
        events: list[Event] = [PromptSubmitted(message_id=name, content=name), called(name, f"{name}!")]
        store.append(name, events, expected_seq=0, unfinished=[left])
    for name in _IDS:
        same([1, 2], [record.seq for record in store.read(name)], f"seq of session {name!r}")
        same(name, next(store.read(name)).event.message_id, f"message of session {name!r}")
        left = Unfinished(message_id=name, awaits="tools", call_id=name)
        same((left,), store.unfinished().get(name), f"unfinished work of session {name!r}")
    same(set(_IDS), {info.session_id for info in store.sessions()}, "ids of the sessions")
    for wrong, kind in (("", ValueError), (None, TypeError), (1, TypeError), (b"a", TypeError)):
        refuse(kind, lambda: store.append(wrong, texts(1)), f"session id {wrong!r}")  # type: ignore[arg-type]  # noqa: B023
        refuse(kind, lambda: list(store.read(wrong)), f"session id {wrong!r}")  # type: ignore[arg-type]  # noqa: B023


def sessions_are_kept_apart(store: Store) -> None:
    """Try snapshots, claims, checkpoints and the end of sessions and workers with such ids."""
    snapshots = dict[str, Transcript]()
    for name in _IDS:
        store.append(name, [PromptSubmitted(message_id=name, content=name), started(), TextStarted(message_id="m1")])
        snapshots[name] = fold(store.read(name))
        store.snapshot(name, snapshots[name])
        token = store.claim(name, name).token
        store.checkpoint(name, [TextDelta(message_id="m1", offset=0, delta=repr(name))], token=token)
    for name, other in zip(_IDS, [*_IDS[1:], _IDS[0]], strict=True):
        same(snapshots[name], store.load_snapshot(name), f"snapshot of session {name!r}")
        same([repr(name)], [piece.delta for piece in store.load_checkpoints(name)], f"checkpoints of session {name!r}")
        refuse(ClaimedError, partial(store.claim, name, other), f"a claim by {other!r}, of a session of {name!r}")
    same(dict.fromkeys(_IDS, 3), store.seqs(_IDS), "seq of the sessions")
    store.delete(_IDS[0])
    same(dict.fromkeys(_IDS, 3) | {_IDS[0]: 0}, store.seqs(_IDS), f"seq of sessions after {_IDS[0]!r} was deleted")
    for name in _IDS[1:]:
        found = store.load_snapshot(name), bool(store.load_checkpoints(name))
        same((snapshots[name], True), found, f"snapshot and checkpoints of session {name!r} after another was deleted")
