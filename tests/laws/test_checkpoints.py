"""
What a crash leaves: the records and the checkpoints of a store give everything that had been emitted.
"""

from hypothesis import given
from hypothesis import strategies as st

from assistant_events import ToolProgress, fold
from assistant_events.events import DELTA_EVENTS
from assistant_events.lifecycle import Outcome
from assistant_events.reducer import Builder
from assistant_events.stores import MemoryStore, SqliteStore
from tests.drawn import sessions


@given(sessions(), st.data())
def test_records_and_checkpoints_are_all_that_was_emitted(events, data):
    """
    With a checkpoint of every delta, records and checkpoints fold to what all events fold to, at any moment.

    All checkpoints of a fork, at any place, belong to fragments that are open there.
    """
    events = [event for event in events if not isinstance(event, ToolProgress)]
    looks = data.draw(st.sets(st.integers(0, len(events)), max_size=8))
    with MemoryStore() as memory, SqliteStore(":memory:") as sqlite:
        for store in (memory, sqlite):
            for at, event in enumerate(events, 1):
                if isinstance(event, DELTA_EVENTS):
                    store.checkpoint("s", [event], after=data.draw(st.sampled_from([None, store.seq("s")])))
                else:
                    store.append("s", [event])
                if at in looks:
                    left = fold([*store.read("s"), *store.load_checkpoints("s")])
                    assert fold(events[:at]).messages == left.messages
        assert set(memory.load_checkpoints("s")) == set(sqlite.load_checkpoints("s"))
        if not memory.seq("s"):
            return
        place = data.draw(st.integers(1, memory.seq("s")))
        for store in (memory, sqlite):
            store.fork("s", "fork", at=place)
            builder = Builder(fold(store.read("fork")))
            outcomes = [builder.apply(piece) for piece in store.load_checkpoints("fork")]
            assert {Outcome.APPLIED} >= set(outcomes)
        assert set(memory.load_checkpoints("fork")) == set(sqlite.load_checkpoints("fork"))
