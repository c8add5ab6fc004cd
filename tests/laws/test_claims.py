"""
Law 18 (one writer) for stores: claims, tokens and takeovers follow a model of a few lines.
"""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assistant_events.errors import ClaimedError, ConflictError, FencedError
from assistant_events.stores import MemoryStore, SqliteStore
from assistant_events.testing import prompt
from assistant_events.testing.store_samples import RUNNING

SESSIONS = ("s", "t", "u")
WORKERS = ("w1", "w2", "w3")
LIFE_S = 10

ORDERS = st.one_of(
    st.tuples(st.just("wait"), st.sampled_from([1, 5, LIFE_S - 1, LIFE_S])),
    st.tuples(st.just("claim"), st.sampled_from(SESSIONS), st.sampled_from(WORKERS)),
    st.tuples(st.just("release"), st.integers(0, 5)),
    st.tuples(st.just("beat"), st.sampled_from(WORKERS)),
    st.tuples(st.just("take_over"), st.sampled_from(WORKERS), st.integers(0, 3)),
    st.tuples(st.just("append"), st.integers(0, 5), st.booleans(), st.sampled_from(["open", "settled", "unknown"])),
    st.tuples(st.just("prompt"), st.sampled_from(SESSIONS)),
    st.tuples(st.just("delete"), st.sampled_from(SESSIONS)),
)


class Model:
    """
    The promises about claims: who holds a session, who lives, where a log ends, and whether it is unfinished.
    """

    def __init__(self):
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.beats = {}
        self.last = {}  # session -> (token, worker, held)
        self.logs = {}  # session -> [seq, whether it is unfinished], in the order of their creation
        self.claims = []

    def lives(self, worker):
        return worker in self.beats and self.now - self.beats[worker] < timedelta(seconds=LIFE_S)

    def claimed(self, claim):
        assert claim.token > max([0, *[each.token for each in self.claims if each.session_id == claim.session_id]])
        assert claim.seq == self.logs.get(claim.session_id, [0])[0]
        self.claims.append(claim)
        self.last[claim.session_id] = (claim.token, claim.worker, True)

    def is_current(self, claim):
        return self.last.get(claim.session_id) == (claim.token, claim.worker, True)

    def carry_out(self, store, order, *values):
        getattr(self, order)(store, *values)

    def wait(self, _store, seconds):
        self.now += timedelta(seconds=seconds)

    def claim(self, store, session, worker):
        _, holder, held = self.last.get(session, (0, None, False))
        if held and holder != worker and self.lives(holder):
            with pytest.raises(ClaimedError):
                store.claim(session, worker, dead_after_s=LIFE_S)
            return
        claim = store.claim(session, worker, dead_after_s=LIFE_S)
        assert (session, worker) == (claim.session_id, claim.worker)
        self.claimed(claim)
        self.beats[worker] = self.now

    def release(self, store, number):
        if not self.claims:
            return
        claim = self.claims[-1 - number % len(self.claims)]
        store.release(claim)
        if self.is_current(claim):
            self.last[claim.session_id] = (claim.token, claim.worker, False)

    def beat(self, store, worker):
        store.beat(worker)
        self.beats[worker] = self.now

    def take_over(self, store, worker, limit):
        self.beats[worker] = self.now
        free = [
            name
            for name, (_, unfinished) in self.logs.items()
            if unfinished and not (name in self.last and self.lives(self.last[name][1]))
        ]
        taken = store.take_over(worker, dead_after_s=LIFE_S, limit=limit)
        assert [(name, worker) for name in free[:limit]] == [(each.session_id, each.worker) for each in taken]
        for claim in taken:
            self.claimed(claim)

    def prompt(self, store, session):
        self.log(store.append(session, [prompt(message_id=f"u{self.end(session)}")]), unfinished=True)

    def delete(self, store, session):
        store.delete(session)
        self.logs.pop(session, None)
        self.last.pop(session, None)

    def append(self, store, number, is_late, left):
        if not self.claims:
            return
        claim = self.claims[-1 - number % len(self.claims)]
        session = claim.session_id
        handed_in = {"open": {"unfinished": RUNNING}, "settled": {"unfinished": ()}, "unknown": {}}[left]
        expected = self.end(session) - 1 if is_late and self.end(session) else self.end(session)

        def attempt():
            event = prompt(message_id=f"u{self.end(session)}")
            return store.append(session, [event], expected_seq=expected, token=claim.token, **handed_in)

        if not self.is_current(claim):
            with pytest.raises(FencedError):
                attempt()
        elif expected != self.end(session):
            with pytest.raises(ConflictError):
                attempt()
        else:
            self.log(attempt(), unfinished=left != "settled")

    def end(self, session):
        return self.logs.get(session, [0])[0]

    def log(self, records, *, unfinished):
        assert self.end(records[0].session_id) + 1 == records[0].seq
        self.logs.setdefault(records[0].session_id, [0, False])[:] = [records[-1].seq, unfinished]


@given(st.lists(ORDERS, max_size=40))
@example([("claim", "s", "w1"), ("wait", LIFE_S), ("claim", "s", "w2")])
@example([("prompt", "s"), ("claim", "s", "w1"), ("wait", LIFE_S), ("take_over", "w2", 1)])
def test_claims_follow_the_model(orders):
    """
    In every sequence of orders both stores claim, refuse, fence and take over as the model does.
    """
    for make in (MemoryStore, lambda **options: SqliteStore(":memory:", **options)):
        model = Model()
        with make(clock=lambda: model.now) as store:  # noqa: B023 - used in this round
            for order in orders:
                model.carry_out(store, *order)
            assert {name: seq for name, (seq, _) in model.logs.items()} == {
                info.session_id: info.seq for info in store.sessions()
            }
