"""
`check_live` passes the channel that we ship, and catches one for each promise that it breaks.
"""

import asyncio

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


class PublishesInTheLoopAlone(MemoryLive):
    def publish(self, session_id, items, *, after, token=None):
        if self._loop is not None:
            self._loop.call_soon(self._take, session_id, list(items), after, token)


class LosesMeta(Filtered):
    def given(self, item):
        return [attrs.evolve(item, meta={}) if isinstance(item, Record) else item]


class KnowsTextAlone(MemoryLive):
    def publish(self, session_id, items, *, after, token=None):
        kept = [item for item in items if isinstance(item, Record) or item.type in {"text.delta", "tool.progress"}]
        super().publish(session_id, kept, after=after, token=token)


class LosesOneInputOfTwo(MemoryLive):
    def publish(self, session_id, items, *, after, token=None):
        inputs = {item.message_id: item for item in items if getattr(item, "type", "") == "tool.input.delta"}
        kept = [item for item in items if inputs.get(item.message_id if inputs else "", item) is item]
        super().publish(session_id, kept, after=after, token=token)


class ListensTooLate(MemoryLive):
    async def subscribe(self, session_id, after=0):
        seq, missed = after, []
        for record in self._store.read(session_id, after):
            seq = record.seq
            yield record
        topic = self._topic(session_id)
        if missed := topic.fragments.missing(None):
            yield Frame(session_id=session_id, after=seq, events=missed)
        await asyncio.sleep(0.015)
        source = super().subscribe(session_id, seq)
        async for item in source:
            if missed and isinstance(item, Frame):
                missed = []  # what is open, which was given
                continue
            yield item


class WaitsForTheSlowest(MemoryLive):
    async def subscribe(self, session_id, after=0):
        gates = vars(self).setdefault("gates", [])
        gate = asyncio.Event()
        gates.append(gate)
        try:
            async for item in super().subscribe(session_id, after):
                for other in [each for each in gates if each is not gate and isinstance(item, Frame)]:
                    await other.wait()
                gate.clear()
                yield item
                gate.set()
        finally:
            gates.remove(gate)
            gate.set()


class LeavesSubscriptionsOpen(MemoryLive):
    async def subscribe(self, session_id, after=0):
        async for item in super().subscribe(session_id, after):
            yield item
        await asyncio.sleep(10**6)


class RaisesAfterItsEnd(MemoryLive):
    def publish(self, session_id, items, *, after, token=None):
        if self._loop is None:
            raise RuntimeError("the channel is closed")
        super().publish(session_id, items, after=after, token=token)


class NamesAnotherSession(Filtered):
    def given(self, item):
        return [attrs.evolve(item, session_id="x")] if isinstance(item, Frame) else [item]


class CountsWhatIsPublished(MemoryLive):
    def publish(self, session_id, items, *, after, token=None):
        if len(items):
            super().publish(session_id, items, after=after, token=token)


class RefusesUnknownSessions(MemoryLive):
    def publish(self, session_id, items, *, after, token=None):
        if not self._store.seq(session_id):
            raise StoreError(f"unknown session {session_id!r}")
        super().publish(session_id, items, after=after, token=token)


class GivesOpenTextsFromTheStartAlone(MemoryLive):
    async def subscribe(self, session_id, after=0):
        items, source = 0, super().subscribe(session_id, after)
        async for item in source:
            items += 1
            if not (after and items == 1 and isinstance(item, Frame)):
                yield item


class KnowsOneCall(MemoryLive):
    def publish(self, session_id, items, *, after, token=None):
        kept = [item for item in items if getattr(item, "type", "") != "tool.progress" or item.call_id == "c1"]
        super().publish(session_id, kept, after=after, token=token)


class TakesWhatHasNoTokenForOld(MemoryLive):
    def publish(self, session_id, items, *, after, token=None):
        owned = vars(self).setdefault("owned", set())
        if token is not None:
            owned.add(session_id)
        if token is not None or session_id not in owned:
            super().publish(session_id, items, after=after, token=token)


class KeepsOneTokenForAll(MemoryLive):
    def publish(self, session_id, items, *, after, token=None):
        newest = max(vars(self).get("newest", 0), token or 0)
        vars(self)["newest"] = newest
        if token in (None, newest):
            super().publish(session_id, items, after=after, token=token)


class PublishesInEverySession(MemoryLive):
    def publish(self, session_id, items, *, after, token=None):
        super().publish(session_id, items, after=after, token=token)
        shown = [item for item in items if not isinstance(item, Record)]
        for other in [name for name in self._topics if name != session_id]:
            super().publish(other, shown, after=self._store.seq(other), token=token)


class ForgetsWhatIsRestarted(MemoryLive):
    async def subscribe(self, session_id, after=0):
        is_restarted = False
        async for item in super().subscribe(session_id, after):
            is_restarted |= isinstance(item, Record) and item.event.type == "step.restarted"
            if not (is_restarted and isinstance(item, Frame) and "published" not in vars(self)):
                yield item

    def publish(self, session_id, items, *, after, token=None):
        vars(self)["published"] = True
        super().publish(session_id, items, after=after, token=token)


class ReadsFromItsFirstCursor(MemoryLive):
    async def subscribe(self, session_id, after=0):
        async for item in super().subscribe(session_id, after):
            if self._store.seq(session_id):
                next(self._store.read(session_id, after), None)
            yield item


@pytest.mark.parametrize(
    ("channel", "promise"),
    [
        (NamesAnotherSession, "publishing does not block: session of an item"),
        (CountsWhatIsPublished, "publishing does not block: unexpected TypeError"),
        (RefusesUnknownSessions, "publishing does not block: unexpected StoreError: unknown session"),
        (GivesOpenTextsFromTheStartAlone, "joining late loses nothing: the whole text for one that has all records"),
        (KnowsOneCall, "joining late loses nothing: the last progress of a call"),
        (TakesWhatHasNoTokenForOld, "old owners are refused: a delta without a token"),
        (KeepsOneTokenForAll, "sessions are independent: the text 'of s of s ' of one of two sessions"),
        (PublishesInEverySession, "sessions are independent: "),
        (ForgetsWhatIsRestarted, "other processes are seen: a checkpoint after a restart"),
        (ReadsFromItsFirstCursor, "cursors outside of the log are refused: unexpected PrunedError"),
        (FlushesEachDelta, "publishing does not block: 200 deltas published at once came in"),
        (PublishesInTheLoopAlone, "publishing does not block: unexpected RuntimeError: Non-thread-safe operation"),
        (RepeatsRecords, "publishing does not block: seq of the next record: expected 2, got 1"),
        (ForgetsEveryFifthRecord, "each record comes once, in order: "),
        (TrustsThePublisher, "each record comes once, in order: "),
        (LosesMeta, "each record comes once, in order: records: "),
        (GivesNothingToThoseWhoAreLate, "joining late loses nothing: "),
        (ForgetsProgress, "joining late loses nothing: the last progress of a call"),
        (KnowsTextAlone, "joining late loses nothing: a delta of each kind of fragment"),
        (LosesOneInputOfTwo, "joining late loses nothing: a delta of each kind of fragment"),
        (ListensTooLate, "joining late loses nothing: "),
        (WaitsForTheSlowest, "memory is bounded: the text, beside a subscriber that reads nothing"),
        (StampsFramesWithTheirPast, "publishing does not block: record before a frame"),
        (FlushesByItsTimerAlone, "a flush precedes every end: deltas before a restart"),
        (
            GivesOnlyWhatIsPublished,
            "a flush precedes every end: deltas before the end of their text, after ['all ']: expected 'all of it'",
        ),
        (BelievesOldOwners, "old owners are refused: "),
        (SeesOnlyWhatIsPublished, "other processes are seen: "),
        (LeavesSubscriptionsOpen, "the end of the channel ends subscriptions: a subscription was open"),
        (RaisesAfterItsEnd, "the end of the channel ends subscriptions: unexpected RuntimeError"),
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
