"""
With any failure between a stream and its store, nothing is lost and nothing is stored twice.
"""

from contextlib import suppress

import attrs
from hypothesis import given
from hypothesis import strategies as st

from assistant_events import StepStarted
from assistant_events.errors import StoreError
from assistant_events.recorder import Recorder
from assistant_events.reducer import find_problems, fold
from assistant_events.session import SyncSession
from assistant_events.testing import durable, ids, prompt
from assistant_events.testing.strategies import steps
from tests.session.scripted import Store, each

MISHAPS = ("none", "none", "none", "none", "refused", "answer lost", "another writer", "refreshed")


class Doing:
    """
    A decoder whose chunks are verbs of a recorder.
    """

    message_id = "a1"
    closed = False

    def __init__(self):
        self.recorder = Recorder(self.message_id)

    @property
    def terminal(self):
        return self.recorder.terminal

    def feed_event(self, verb):
        return verb.attempt(self.recorder)

    def close(self, error=None):
        return self.recorder.close(error)


def stumbling(verbs, mishaps, session, store):
    """
    Give the verbs, and before each of them let happen what was drawn for it.
    """
    make = ids("u")
    for verb, mishap in zip(verbs, mishaps, strict=True):
        store.refuse = store.lose = None
        match mishap:
            case "refused":
                store.refuse = StoreError("locked")
            case "answer lost":
                store.lose = StoreError("connection lost")
            case "another writer" | "refreshed":
                store.append("s1", [prompt(message_id=make())])
        if mishap == "refreshed":
            session.refresh()
        yield verb


@given(steps(), st.data())
def test_mishaps(verbs, data):
    """
    With a store that refuses or loses results, and with other writers, an app that enters the stream again gets
    every durable event once, and the log has the events of the stream.
    """
    mishaps = data.draw(st.lists(st.sampled_from(MISHAPS), min_size=len(verbs), max_size=len(verbs)))
    store, handed_on = Store(), []
    session = SyncSession.open(store, "s1")
    stream = session.decode(Doing(), stumbling(verbs, mishaps, session, store))
    done = False
    while not done:
        with suppress(StoreError):
            handed_on += each(stream)
            done = True
    session.refresh()
    session.snapshot()
    recorder = Recorder("a1")
    told = [event for verb in verbs for event in verb.attempt(recorder)] + recorder.close()

    stored = [event for event in store.events if event.message_id == "a1"]
    assert durable(handed_on) == stored
    # A prompt of another writer that came first has not been read: the start names it.
    earlier = store.events[: store.events.index(stored[0])] if stored else ()
    unread = next((event.message_id for event in earlier), None)
    assert stored == [
        attrs.evolve(event, before=unread) if isinstance(event, StepStarted) else event for event in durable(told)
    ]
    assert [] == find_problems(store.read("s1"))
    assert fold(store.read("s1")) == store.load_snapshot("s1")
