"""
`check_live` passes the channel that we ship, and catches one for each promise that it breaks.
"""

import attrs
import pytest

from assistant_events.errors import StoreError
from assistant_events.events import Frame, Record
from assistant_events.live import MemoryLive, topic
from assistant_events.live.fragments import OpenFragments
from assistant_events.testing import check_live


def test_the_memory_channel_keeps_its_promises():
    """
    `MemoryLive` keeps every promise.
    """
    check_live(MemoryLive)


class Filtered(MemoryLive):
    """
    A channel between the promises and `MemoryLive`.
    """

    async def subscribe(self, session_id, after=0):
        async for item in super().subscribe(session_id, after):
            for each in self.given(item):
                yield each

    def given(self, item):
        return [item]


class FlushesEachDelta(MemoryLive):
    def publish(self, session_id, items, *, after, token=None):
        for item in items:
            super().publish(session_id, [item], after=after, token=token)
            if not isinstance(item, Record):
                self._flush(self._topics[session_id])


class RepeatsRecords(Filtered):
    def given(self, item):
        return [item, item] if isinstance(item, Record) else [item]


class ForgetsEveryFifthRecord(Filtered):
    def given(self, item):
        return [] if isinstance(item, Record) and item.seq % 5 == 0 else [item]


class TrustsThePublisher(MemoryLive):
    def _add_records(self, topic, records, *, is_stale):
        topic.add_records(records)


class GivesNothingToThoseWhoAreLate(MemoryLive):
    async def _join(self, topic, after):
        await super()._join(topic, after)
        topic.fragments = OpenFragments()


class ForgetsProgress(Filtered):
    def given(self, item):
        if not isinstance(item, Frame):
            return [item]
        events = [event for event in item.events if event.type != "tool.progress"]
        return [attrs.evolve(item, events=events)] if events else []


class StampsFramesWithTheirPast(Filtered):
    def given(self, item):
        return [attrs.evolve(item, after=item.after - 1)] if isinstance(item, Frame) else [item]


class FlushesByItsTimerAlone(MemoryLive):
    def _collect(self, topic, items, after):
        super()._collect(topic, [item for item in items if isinstance(item, Record)], after)
        super()._collect(topic, [item for item in items if not isinstance(item, Record)], after)

    def _add_records(self, topic, records, *, is_stale):
        pending, topic.pending = topic.pending, []
        super()._add_records(topic, records, is_stale=is_stale)
        topic.pending = pending


class GivesOnlyWhatIsPublished(MemoryLive):
    def _add_records(self, topic, records, *, is_stale):
        apply = topic.fragments.apply
        topic.fragments.apply = lambda record: apply(record) and None
        super()._add_records(topic, records, is_stale=is_stale)
        del topic.fragments.apply


class BelievesOldOwners(MemoryLive):
    def publish(self, session_id, items, *, after, token=None):
        super().publish(session_id, items, after=after)


class SeesOnlyWhatIsPublished(MemoryLive):
    def __init__(self, store):
        super().__init__(store, poll_s=None)


class AcceptsEveryCursor(MemoryLive):
    async def _join(self, topic, after):
        await self._look(topic)


class IgnoresShorterLogs(MemoryLive):
    def _end(self, topic):
        return StoreError("not told to anyone")


class BelievesTheLengthOfALog(MemoryLive):
    async def _look(self, topic):
        topic.last = None
        await super()._look(topic)


class BelievesEveryPublisher(MemoryLive):
    def _add_records(self, topic, records, *, is_stale):
        super()._add_records(topic, records, is_stale=False)


@pytest.mark.parametrize(
    ("channel", "promise"),
    [
        (FlushesEachDelta, "publishing does not block: 200 deltas published at once came in"),
        (RepeatsRecords, "publishing does not block: seq of the next record: expected 2, got 1"),
        (ForgetsEveryFifthRecord, "each record comes once, in order: "),
        (TrustsThePublisher, "each record comes once, in order: "),
        (GivesNothingToThoseWhoAreLate, "joining late loses nothing: "),
        (ForgetsProgress, "joining late loses nothing: the last progress of a call"),
        (StampsFramesWithTheirPast, "publishing does not block: record before a frame"),
        (FlushesByItsTimerAlone, "a flush precedes every end: deltas before a restart"),
        (
            GivesOnlyWhatIsPublished,
            "a flush precedes every end: deltas before the end of their text, after ['all ']: expected 'all of it'",
        ),
        (BelievesOldOwners, "old owners are refused: "),
        (SeesOnlyWhatIsPublished, "other processes are seen: "),
        (AcceptsEveryCursor, "cursors outside of the log are refused: a cursor of the future"),
        (
            IgnoresShorterLogs,
            "cursors outside of the log are refused: the failure of a subscription",
        ),
        (
            BelievesTheLengthOfALog,
            "cursors outside of the log are refused: the failure of a subscription whose log has begun anew, longer",
        ),
        (
            BelievesEveryPublisher,
            "cursors outside of the log are refused: the failure of a subscription whose log has begun anew, equal",
        ),
    ],
)
def test_a_broken_promise_is_caught(channel, promise):
    """
    The failure names the promise that the channel breaks.
    """
    with pytest.raises(AssertionError) as caught:
        check_live(channel)

    assert str(caught.value).startswith(promise)


def test_items_are_kept_for_slow_subscribers_within_bounds(monkeypatch):
    """
    A channel that keeps all items for a slow subscriber is caught.
    """
    monkeypatch.setattr(topic, "_MAX_ITEMS", 10**9)
    monkeypatch.setattr(topic, "_MAX_SIZE", 10**12)
    monkeypatch.setattr(topic.Topic, "drop_old_items", lambda _: None)

    with pytest.raises(AssertionError, match=r"memory is bounded: .* items where 2 would do"):
        check_live(MemoryLive)
