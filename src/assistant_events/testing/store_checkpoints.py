"""The tries of `check_store` for checkpoints of open fragments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from assistant_events import events as ev
from assistant_events.errors import ConflictError, FencedError, PrunedError, StoreError
from assistant_events.reducer import fold
from assistant_events.stores.contract import Store
from assistant_events.testing.builders import error, origin, prompt, rewind
from assistant_events.testing.sample import require
from assistant_events.testing.store_expectations import refuse, same
from assistant_events.testing.store_samples import LIVE, called, started
from assistant_events.values import FinishReason

_OPEN: Final[Sequence[ev.Event]] = (
    prompt(message_id="u1"),
    ev.CompactionStarted(message_id="\udc00", reason="auto", origin=origin()),
    prompt(message_id="u2"),
    started("a1"),
    ev.TextStarted(message_id="a1"),
    ev.ReasoningStarted(message_id="a1"),
    ev.MediaStarted(message_id="a1", media_type="image/png"),
    ev.ToolInputStarted(message_id="a1", call_id="c1", name="look"),
    ev.ToolInputStarted(message_id="a1", call_id="c\udc00", name="look"),
    started("a2"),
    ev.TextStarted(message_id="a2"),
    prompt(message_id="u3"),
)
"""A log with all kinds of open fragments."""

_PIECES: Final[Mapping[str, tuple[ev.DeltaEvent, ...]]] = {
    "compaction": (
        ev.CompactionDelta(message_id="\udc00", offset=0, delta="so"),
        ev.CompactionDelta(message_id="\udc00", offset=2, delta=" far"),
    ),
    "text": (
        ev.TextDelta(message_id="a1", offset=0, delta="é😀\x00"),
        ev.TextDelta(message_id="a1", offset=3, delta="b"),
        ev.TextDelta(message_id="a1", offset=12, delta="c"),
    ),
    "reasoning": (ev.ReasoningDelta(message_id="a1", offset=0, delta="hm"),),
    "media": (
        ev.MediaDelta(message_id="a1", offset=0, delta=b"\x00\xff"),
        ev.MediaDelta(message_id="a1", offset=2, delta=b"a"),
    ),
    "input": (ev.ToolInputDelta(message_id="a1", call_id="c1", offset=0, delta="{"),),
    "other input": (ev.ToolInputDelta(message_id="a1", call_id="c\udc00", offset=0, delta="{}"),),
    "other text": (ev.TextDelta(message_id="a2", offset=0, delta="other"),),
}
"""Pieces of the open fragments of that log."""

_OF_A1: Final = {"text", "reasoning", "media", "input", "other input"}

_ENDS: Final[Sequence[tuple[ev.Event, set[str]]]] = (
    (ev.TextEnded(message_id="a1", text="a"), {"text"}),
    (ev.ReasoningEnded(message_id="a1", text="a"), {"reasoning"}),
    (ev.MediaEnded(message_id="a1", media_type="image/png", data=b"a"), {"media"}),
    (ev.ToolInputEnded(message_id="a1", call_id="c1", text="{}"), {"input"}),
    (called("c1", "a1"), {"input"}),
    (ev.ToolFailed(message_id="a1", call_id="c\udc00", error=error("invalid-input")), {"other input"}),
    (ev.CompactionEnded(message_id="\udc00", text="a"), {"compaction"}),
    (ev.CompactionFailed(message_id="\udc00", error=error()), {"compaction"}),
    (ev.StepRestarted(message_id="a1", reason="again"), _OF_A1),
    (ev.StepEnded(message_id="a1", finish_reason=FinishReason.STOP), _OF_A1),
    (ev.StepFailed(message_id="a1", error=error()), _OF_A1),
    (prompt(message_id="u4"), set()),
    (ev.ToolApproved(message_id="a1", call_id="c1"), set()),
)
"""Events with the fragments that they close."""

_REWINDS: Final = {
    "u1": {*_PIECES},
    "\udc00": {*_PIECES},
    "u2": {*_OF_A1, "other text"},
    "a1": {*_OF_A1, "other text"},
    "a2": {"other text"},
    "u3": set[str](),
    "unknown": set[str](),
}
"""Rewound messages, with the fragments that this closes."""


def checkpoints_are_kept_apart(store: Store) -> None:
    """Try that pieces are stored, and seen by nothing else."""
    _open(store)
    records, listed = list(store.read("s")), store.sessions()
    left = store.unfinished()
    same((), store.load_checkpoints("s"), "checkpoints of a session without any")
    same((), store.load_checkpoints("unknown"), "checkpoints of an unknown session")
    _checkpoint(store)
    store.checkpoint("s", [])
    _left(store, set(), "checkpoints")
    same(records, list(store.read("s")), "records after checkpoints")
    same((listed, left), (store.sessions(), store.unfinished()), "sessions and unfinished work after checkpoints")
    transcript = fold([*store.read("s"), *store.load_checkpoints("s")])
    same("é😀\x00b", transcript.answer("a1").text, "the text of the records and the checkpoints")
    store.snapshot("s", fold(store.read("s")))
    store.prune("s", 3)
    _left(store, set(), "checkpoints of a pruned log")
    store.checkpoint("s", [ev.TextDelta(message_id="a2", offset=0, delta="longer")])
    found = [piece.delta for piece in store.load_checkpoints("s") if piece.message_id == "a2"]
    same(["longer"], found, "a piece that replaced one with the same offset")
    refuse(StoreError, partial(store.checkpoint, "unknown", _PIECES["text"]), "a checkpoint of an unknown session")
    same(0, store.seq("unknown"), "seq of a session with a refused checkpoint")
    progress = next(event for event in LIVE if isinstance(event, ev.ToolProgress))
    for wrong in (progress, ev.TextStarted(message_id="a1"), "text"):
        attempt = partial(store.checkpoint, "s", [*_PIECES["text"], wrong])  # type: ignore[list-item]
        refuse(TypeError, attempt, f"a checkpoint of {type(wrong).__name__}")
    _open(store, "other")
    _checkpoint(store, "other")
    store.delete("s")
    same((), store.load_checkpoints("s"), "checkpoints of a deleted session")
    _left(store, set(), "checkpoints of another session than the deleted one", "other")
    _open(store)
    same((), store.load_checkpoints("s"), "checkpoints of a session that was created again")


def checkpoints_end_with_their_fragment(store: Store) -> None:
    """Try that a batch removes the pieces of the fragments that it closes, and no others."""
    _open(store)
    _checkpoint(store)
    for event, closed in _ENDS:
        refuse(ConflictError, partial(store.append, "s", [event], expected_seq=0), "an outdated batch")
        _left(store, set(), f"checkpoints after {type(event).__name__} that was refused")
        store.append("s", [prompt(message_id="u9"), event])
        _left(store, closed, f"checkpoints after {type(event).__name__}")
        _checkpoint(store)


def a_rewind_removes_checkpoints(store: Store) -> None:
    """Try that a rewind removes the pieces of the messages that it removes, from whole and from pruned logs."""
    for at, (message_id, closed) in enumerate(_REWINDS.items()):
        for through in (0, 3, 7):
            name = f"{at} {through}"
            _open(store, name)
            _checkpoint(store, name)
            if through:
                store.snapshot(name, fold(store.read(name, limit=through)))
                store.prune(name, through)
            store.append(name, [rewind(message_id)])
            _left(store, closed, f"checkpoints after the rewind of {message_id!r}, pruned to {through}", name)


def late_checkpoints_are_left_out(store: Store) -> None:
    """Try pieces of fragments that later records have closed: they do not belong to those that follow."""
    _open(store)
    end = len(_OPEN)
    store.append("s", [_ENDS[0][0], ev.TextStarted(message_id="a1")])
    _checkpoint(store, after=end)
    _left(store, {"text"}, "checkpoints after the end of a text")
    _checkpoint(store, after=end + 2)
    _left(store, set(), "checkpoints of the text that followed")
    store.append("s", [rewind("a2")])
    store.checkpoint("s", _PIECES["other text"], after=end + 2)
    _left(store, {"other text"}, "checkpoints after the rewind of a message")
    ahead = partial(store.checkpoint, "s", _PIECES["text"], after=end + 4)
    problem = refuse(StoreError, ahead, "a checkpoint after the end of the log")
    require(not isinstance(problem, ConflictError), f"a ConflictError for a log that is too short: {problem}")
    store.snapshot("s", fold(store.read("s")))
    store.prune("s", 7)
    refuse(PrunedError, partial(store.checkpoint, "s", _PIECES["text"], after=6), "a checkpoint after a pruned record")


def a_fork_has_the_checkpoints_of_its_place(store: Store) -> None:
    """Try that a fork has the pieces of those fragments that are open at its place."""
    _open(store)
    _checkpoint(store)
    fragments = ["compaction", "text", "reasoning", "media", "input", "other input", "other text"]
    starts = [2, 5, 6, 7, 8, 9, 11]
    for seq in range(1, len(_OPEN) + 1):
        store.fork("s", f"fork {seq}", at=seq)
        missing = {name for name, start in zip(fragments, starts, strict=True) if start > seq}
        _left(store, missing, f"checkpoints of a fork at {seq}", f"fork {seq}")
    store.checkpoint(f"fork {len(_OPEN)}", [ev.TextDelta(message_id="a1", offset=99, delta="of the fork")])
    _left(store, set(), "checkpoints of a session after one of its fork")
    store.append(f"fork {len(_OPEN)}", [_ENDS[0][0]])
    _left(store, set(), "checkpoints of a session after a batch for its fork")
    store.append("s", [ev.StepRestarted(message_id="a1", reason="again"), ev.TextStarted(message_id="a1")])
    store.checkpoint("s", _PIECES["text"])
    store.fork("s", "before", at=len(_OPEN))
    _left(store, _OF_A1, "checkpoints of a fork before the start of a fragment", "before")


def checkpoints_are_fenced(store: Store) -> None:
    """Try tokens of checkpoints: only that of the current claim is accepted."""
    claim = store.claim("s", "w1")
    _open(store)
    store.checkpoint("s", _PIECES["text"], token=claim.token)
    newer = store.claim("s", "w2", dead_after_s=0)
    late = partial(store.checkpoint, "s", _PIECES["reasoning"], token=claim.token)
    refuse(FencedError, late, "a checkpoint with an older token")
    refuse(FencedError, partial(store.append, "s", [_ENDS[0][0]], token=claim.token), "a batch with an older token")
    refuse(FencedError, partial(store.checkpoint, "new", [], token=1), "a checkpoint of an unclaimed session")
    store.checkpoint("s", _PIECES["media"], token=newer.token)
    _left(store, {*_PIECES} - {"text", "media"}, "checkpoints of two claims, and after a batch that was refused")


def _open(store: Store, session_id: str = "s") -> None:
    store.append(session_id, _OPEN)


def _checkpoint(store: Store, session_id: str = "s", *, after: int | None = None) -> None:
    for pieces in _PIECES.values():
        store.checkpoint(session_id, reversed(pieces), after=after)


def _left(store: Store, closed: Iterable[str], what: str, session_id: str = "s") -> None:
    """Require that all pieces are stored, except those of the *closed* fragments."""
    found = store.load_checkpoints(session_id)
    for name, pieces in _PIECES.items():
        expected = [] if name in closed else list(pieces)
        got = [piece for piece in found if _fragment(piece) == _fragment(pieces[0])]
        same(expected, got, f"{what}, those of {name!r}")


def _fragment(piece: ev.DeltaEvent) -> tuple[object, ...]:
    return type(piece), piece.message_id, getattr(piece, "call_id", None)
