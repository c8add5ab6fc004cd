"""The tries of `check_store` for owners, claims and takeovers. The clock of the store has to run like a real one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from time import monotonic, sleep

from assistant_events.errors import ClaimedError, ConflictError, FencedError, OwnerError, StoreError
from assistant_events.reducer import fold
from assistant_events.stores.contract import Claim, Store
from assistant_events.testing.sample import require
from assistant_events.testing.store_expectations import at_once, refuse, same, texts
from assistant_events.testing.store_samples import OPEN, RUNNING, TURN

_LIFE_S = 0.2
"""For how long a worker is alive where that is tried."""

_TRIES = 20
"""How often a try is made in which the machine must not be slow."""


def a_session_has_one_owner(store: Store) -> None:
    """Try owners: they are stored, compared, copied and deleted."""
    store.append("s", texts(1), owner="ü\ud800")
    store.append("none", texts(1))
    for name, owner in (("s", "ü"), ("none", "ü\ud800")):
        refuse(OwnerError, partial(store.append, name, texts(1), owner=owner), f"an owner that session {name!r} lacks")
        refuse(
            OwnerError, partial(store.append, name, [], owner=owner), f"an empty batch for {name!r} of another owner"
        )
    for wrong, kind in (("", ValueError), (5, TypeError)):
        refuse(kind, partial(store.append, "s", texts(1), owner=wrong), f"owner {wrong!r}")  # type: ignore[arg-type]
    same((1, 1), (store.seq("s"), store.seq("none")), "seq after batches with another owner")
    store.append("case", texts(1), owner="Ánn")
    for like in ("ánn", "Ann", "A\u0301nn", "Ánn ", "Ánn\x00"):
        refuse(OwnerError, partial(store.append, "case", texts(1), owner=like), f"{like!r} as the owner 'Ánn'")
        same(set[str](), _ids(store, owner=like), f"sessions of {like!r}, beside one of 'Ánn'")
    store.delete("case")
    store.append("s", texts(1), owner="ü\ud800")
    store.append("s", texts(1))
    store.fork("s", "fork", at=2)
    expected = {"s": "ü\ud800", "fork": "ü\ud800", "none": None}
    same(expected, {info.session_id: info.owner for info in store.sessions()}, "owners of the sessions")
    same({"s", "fork"}, _ids(store, owner="ü\ud800"), "sessions of an owner")
    same(set[str](), _ids(store, owner="ü"), "sessions of an owner without any")
    store.snapshot("s", fold(store.read("s")))
    store.prune("s", store.seq("s"))
    store.append("s", texts(1), owner="ü\ud800")  # the owner of a session of which no record is left
    store.delete("s")
    store.append("s", texts(1), owner="other")
    same({"s"}, _ids(store, owner="other"), "sessions of the owner of a session that was created again")


def sessions_are_listed_in_pages(store: Store) -> None:
    """Try pages of sessions, also while the list changes."""
    times = [datetime(2020, 1, 1, microsecond=place, tzinfo=UTC) for place in (1, 2, 2, 2, 2, 3)]
    for name, at in zip(("e", "\uffff", "d", "\ud800", "b", "a_"), times, strict=True):
        store.append(name, texts(1), at=at, owner="u2" if name == "d" else "u1")
    newest_first = ["a_", "b", "d", "\ud800", "\uffff", "e"]
    same(newest_first, [info.session_id for info in store.sessions()], "sessions, newest first, then by id")
    of_owner = [name for name in newest_first if name != "d"]
    for limit in (1, 2, 3, 9):
        same(newest_first, _pages(store, limit), f"sessions in pages of {limit}")
        same(of_owner, _pages(store, limit, owner="u1"), f"sessions of one owner in pages of {limit}")
    same((), store.sessions(limit=0), "at most 0 sessions")
    cursor = store.sessions(limit=3)[-1].cursor
    store.delete("d")
    store.append("e", texts(1))
    same(
        {"\ud800", "\uffff"},
        _ids(store, after=cursor),
        "sessions after one that was deleted, while another was updated",
    )
    for wrong in ("e", "yesterday_e", "2020-01-01T00:00:00_e"):
        refuse(ValueError, partial(store.sessions, after=wrong), f"cursor {wrong!r}")
    refuse(ValueError, partial(store.sessions, limit=-1), "a negative limit")


def _pages(store: Store, limit: int, owner: str | None = None) -> list[str]:
    found: list[str] = []
    after: str | None = None
    while page := store.sessions(owner=owner, after=after, limit=limit):
        require(len(page) <= limit, f"a page of at most {limit} sessions has {len(page)}")
        found += [info.session_id for info in page]
        after = page[-1].cursor
        require(len(found) < 100, "the pages do not end")
    return found


def _ids(store: Store, *, owner: str | None = None, after: str | None = None) -> set[str]:
    return {info.session_id for info in store.sessions(owner=owner, after=after)}


def a_session_has_one_claim(store: Store) -> None:
    """Try claims: of two workers one holds a session, and tokens grow."""
    first = store.claim("s", "w1")
    same(("s", "w1", 0), (first.session_id, first.worker, first.seq), "session, worker and seq of a claim")
    same((), store.sessions(), "sessions after a claim of one without records")
    store.append("s", texts(2))
    error = refuse(ClaimedError, partial(store.claim, "s", "w2"), "a claim of a session that another worker holds")
    found = [getattr(error, name, None) for name in ("session_id", "worker")]
    same(["s", "w1"], found, "session_id and worker of the ClaimedError")
    again = store.claim("s", "w1")
    same(2, again.seq, "seq of a claim")
    store.fork("s", "fork")
    same("w2", store.claim("fork", "w2").worker, "worker of a claim of a fork, whose source is claimed")
    store.release(first)
    refuse(ClaimedError, partial(store.claim, "s", "w2"), "a claim after an older one was released")
    other = store.claim("t", "w2")
    store.release(again)
    store.release(again)
    claims = [first, again, store.claim("s", "w1"), store.claim("s", "w2", dead_after_s=0)]
    store.delete("s")
    claims.append(store.claim("s", "w3"))
    store.claim("new", "w1")
    store.delete("new")
    same("w2", store.claim("new", "w2").worker, "worker of a claim after a session without records was deleted")
    tokens = [claim.token for claim in claims]
    same(sorted(set(tokens)), tokens, "tokens of the claims of a session, in their order, also after it was deleted")
    store.append("t", texts(1), token=other.token)
    for wrong, kind in (("", ValueError), (None, TypeError)):
        refuse(kind, partial(store.claim, wrong, "w1"), f"session id {wrong!r}")  # type: ignore[arg-type]
        refuse(kind, partial(store.claim, "s", wrong), f"worker {wrong!r}")  # type: ignore[arg-type]
        refuse(kind, partial(store.beat, wrong), f"worker {wrong!r}")  # type: ignore[arg-type]
    refuse(ValueError, partial(store.claim, "s", "w1", dead_after_s=-1), "a negative dead_after_s")
    refuse(TypeError, partial(store.release, "s"), "a str as claim")  # type: ignore[arg-type]


def tokens_fence(store: Store) -> None:
    """Try batches with tokens: only that of the current claim is accepted."""
    _fenced(store, 1, "a session that was never claimed")
    claim = store.claim("s", "w1")
    store.append("s", texts(1), expected_seq=0, token=claim.token)
    store.append("s", texts(1), expected_seq=1)
    _fenced(store, claim.token + 1, "a claim that does not exist")
    refuse(TypeError, partial(store.append, "s", texts(1), token=True), "a bool as token")
    again = store.claim("s", "w1")
    _fenced(store, claim.token, "an older claim of the same worker")
    store.snapshot("s", fold(store.read("s")))
    store.prune("s", 2)
    store.append("s", [], expected_seq=2, token=again.token, unfinished=RUNNING)
    newer = store.claim("s", "w2", dead_after_s=0)
    _fenced(store, claim.token, "an older claim")
    refuse(ConflictError, partial(store.append, "s", [], expected_seq=1, token=newer.token), "a batch of the holder")
    store.append("s", texts(1), token=newer.token)
    store.release(claim)
    store.append("s", texts(1), token=newer.token)
    store.release(newer)
    _fenced(store, newer.token, "a claim that was released")
    last = store.claim("s", "w1")
    store.delete("s")
    _fenced(store, last.token, "a claim of a session that was deleted")


def a_claim_ends_the_batches_before(store: Store) -> None:
    """Try claims beside a writer with an older token: no batch of it comes after the claim."""
    for number in range(_TRIES):
        name, claims, begun = f"s{number}", list[Claim](), list[bool]()
        token = store.claim(name, "w1").token

        def write(name: str = name, token: int = token, begun: list[bool] = begun) -> None:
            with suppress(FencedError):
                while True:
                    begun.append(True)
                    store.append(name, texts(1), token=token)

        def claim(name: str = name, claims: list[Claim] = claims, begun: list[bool] = begun) -> None:
            while len(begun) < 3:
                sleep(0)
            claims.append(store.claim(name, "w2", dead_after_s=0))

        at_once([claim, write], "a claim beside a writer with an older token")
        same(claims[0].seq, store.seq(name), "seq after a claim, beside a writer with an older token")


def _fenced(store: Store, token: int, whose: str) -> None:
    seq, left = store.seq("s"), store.unfinished()
    for expected in (None, 0, seq, seq + 1):
        for events in (texts(1), []):
            late = partial(store.append, "s", events, expected_seq=expected, token=token)
            error = refuse(
                FencedError, late, f"{len(events)} events with the token of {whose}, expected_seq {expected}"
            )
            found = [getattr(error, name, None) for name in ("session_id", "token")]
            same(["s", token], found, "session_id and token of the FencedError")
    same((seq, left), (store.seq("s"), store.unfinished()), f"seq and unfinished work after the token of {whose}")


def sessions_of_dead_workers_are_taken_over(store: Store) -> None:
    """Try takeovers: which sessions, in which order, and that their old tokens are refused."""
    settled = store.claim("settled", "w1")
    store.append("settled", OPEN, expected_seq=0, unfinished=(), token=settled.token)
    store.append("settled, unknown", texts(1))
    _leave_open(store, "never claimed")
    held = store.claim("held", "w1")
    store.append("held", TURN)
    released = store.claim("released", "w1")
    _leave_open(store, "released")
    store.release(released)
    same((), store.take_over("w2", limit=0), "at most 0 sessions")
    taken = store.take_over("w2")
    same(["never claimed"], _sessions(taken), "sessions that were taken over while the worker of the others lives")
    same(("w2", len(OPEN)), (taken[0].worker, taken[0].seq), "worker and seq of the claim")
    refuse(ClaimedError, partial(store.claim, "never claimed", "w1"), "a claim of a session that was taken over")
    store.append("never claimed", texts(1), token=taken[0].token)
    store.release(taken[0])
    same((), store.take_over("w3"), "sessions of living workers, also released ones")
    one = store.take_over("w3", dead_after_s=0, limit=1)
    same(["never claimed"], _sessions(one), "the first of the sessions without a living worker")
    both = store.take_over("w4", dead_after_s=0, limit=9)
    same(["never claimed", "held", "released"], _sessions(both), "all sessions without a living worker")
    late = partial(store.append, "held", texts(1), token=held.token)
    refuse(FencedError, late, "a batch of a worker whose session was taken over")
    store.append("held", [], expected_seq=len(TURN), unfinished=(), token=both[1].token)
    left = _sessions(store.take_over("w5", dead_after_s=0))
    same(["never claimed", "released"], left, "sessions without a living worker after one was settled")
    refuse(ValueError, partial(store.take_over, "w5", limit=-1), "a negative limit")
    refuse(ValueError, partial(store.take_over, "w5", dead_after_s=-1), "a negative dead_after_s")


def a_damaged_session_is_left_out(store: Store, damage: Callable[[str], object]) -> None:
    """Try a session whose log cannot be read, beside others."""
    for name in ("a", "damaged", "b"):
        store.append(name, OPEN)
    damage("damaged")
    refuse(StoreError, lambda: list(store.read("damaged")), "reading a damaged session")
    with _warnings() as warnings:
        same(["a", "b"], list(store.unfinished()), "sessions with unfinished work beside a damaged one")
        store.append("b", texts(1))
        same(["a", "b"], _sessions(store.take_over("w1")), "sessions that were taken over beside a damaged one")
    require(any("'damaged'" in text for text in warnings), f"no warning names the damaged session: {warnings}")
    same({"a", "damaged", "b"}, _ids(store), "sessions, one of them damaged")
    store.delete("damaged")
    same({"a", "b"}, _ids(store), "sessions after the damaged one was deleted")


@contextmanager
def _warnings() -> Generator[list[str]]:
    """Collect the warnings of a store."""
    logger, found = logging.getLogger("assistant_events.stores"), list[str]()

    def collect(record: logging.LogRecord) -> bool:
        found.append(record.getMessage())
        return True

    level, disabled = logger.level, logger.disabled
    logger.addFilter(collect)
    logger.setLevel(logging.WARNING)
    logger.disabled = False
    try:
        yield found
    finally:
        logger.removeFilter(collect)
        logger.setLevel(level)
        logger.disabled = disabled


def a_sign_of_life_lasts(store: Store) -> None:
    """Try signs of life: a worker lives for a time after its last one."""
    store.beat("new")
    for name in ("beaten", "claiming", "silent"):
        _leave_open(store, name)
        store.claim(name, name)
    sleep(_LIFE_S)
    for _ in range(_TRIES):
        began = monotonic()
        store.beat("beaten")
        store.beat("SILENT")
        store.claim("another", "claiming")
        taken = store.take_over("w2", dead_after_s=_LIFE_S)
        again = store.take_over("w3", dead_after_s=_LIFE_S)
        if monotonic() - began < _LIFE_S:
            same(["silent"], _sessions(taken), "sessions taken over from workers that beat, claim, and do neither")
            same((), again, "sessions taken over from a worker that has just taken them over")
            return
        for name in ("beaten", "claiming", "silent"):
            store.claim(name, name, dead_after_s=0)
        sleep(_LIFE_S)


def one_of_several_takes_over(store: Store) -> None:
    """Try takeovers of several threads at once."""
    _race(store, store)


def one_of_both_takes_over(one: Store, two: Store) -> None:
    """Try claims and takeovers of two stores on one storage."""
    claim = one.claim("s", "w1")
    refuse(ClaimedError, partial(two.claim, "s", "w2"), "a claim of a session that another store has claimed")
    two.release(claim)
    newer = two.claim("s", "w2")
    late = partial(one.append, "s", texts(1), token=claim.token)
    refuse(FencedError, late, "a batch with an older token than that of another store")
    one.append("s", texts(1), expected_seq=0, unfinished=(), token=newer.token)
    _race(one, two)


def _race(*stores: Store) -> None:
    names = [f"s{number}" for number in range(20)]
    for name in names:
        _leave_open(stores[0], name)
    found: list[str] = []

    def take(store: Store, worker: str) -> None:
        while claims := store.take_over(worker, limit=3):
            found.extend(_sessions(claims))

    work = [partial(take, store, f"w{number}") for number, store in enumerate((*stores, *stores))]
    at_once(work, "one of several workers that take over")
    same(sorted(names), sorted(found), "sessions that were taken over by several workers at once")


def _leave_open(store: Store, session_id: str) -> None:
    store.append(session_id, OPEN, expected_seq=0, unfinished=RUNNING)


def _sessions(claims: Sequence[Claim]) -> list[str]:
    return [claim.session_id for claim in claims]
