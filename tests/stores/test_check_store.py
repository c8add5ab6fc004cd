"""
`check_store` passes the stores that we ship and catches a store for each promise that it breaks.
"""

import gc
import sqlite3
import time
from contextlib import closing, suppress
from datetime import datetime
from itertools import count

import attrs
import pytest

from assistant_events.errors import FencedError, LocalProtocolError, PrunedError, StoreError
from assistant_events.events import MediaEnded, OpaqueReceived
from assistant_events.stores import MemoryStore, SqliteStore
from assistant_events.stores.contract import utc_now
from assistant_events.testing import prompt, stores
from assistant_events.testing.stores import check_store


def test_every_store_keeps_its_promises(make_store):
    """
    All stores that are shipped keep every promise.
    """
    check_store(make_store)


def test_two_stores_on_one_file_are_one(sqlite_stores):
    """
    Two stores on one file see the same records, and of two batches with the same expected_seq one wins.
    """
    check_store(sqlite_stores, again=lambda store: SqliteStore(store.path, synchronous="normal"))


def damage_file(store, session_id):
    """
    Overwrite the records of a session in the file of a store.
    """
    with closing(sqlite3.connect(store.path)) as db, db:
        (number,) = db.execute("SELECT number FROM sessions WHERE id = ?", (session_id,)).fetchone()
        db.execute("UPDATE records SET body = ? WHERE key >> 32 = ?", (b"[{]", number))


def damage_memory(store, session_id):
    """
    Have a store in memory refuse to read a session, as a damaged file does.
    """
    read = store.read

    def refusing(name, *args, **options):
        if name == session_id:
            raise StoreError(f"session {name!r}, seq 1 is damaged: a test")
        return read(name, *args, **options)

    store.read = refusing


@pytest.mark.parametrize("kind", ["sqlite", "memory"])
def test_a_damaged_session_is_left_out(kind, sqlite_stores):
    """
    A session whose log cannot be read is named, and keeps no other session from being found and taken over.
    """
    if kind == "sqlite":
        check_store(sqlite_stores, damage=damage_file)
    else:
        check_store(MemoryStore, damage=damage_memory)


def test_a_store_that_is_closed_meanwhile_is_not_a_damaged_session():
    """
    `unfinished` raises then, and returns no part of the sessions.
    """
    store = MemoryStore()
    for name in "ab":
        store.append(name, [prompt("Hi")])
    read = store.read

    def closing(*args, **options):
        store.close()
        return read(*args, **options)

    store.read = closing
    with pytest.raises(StoreError, match="closed"):
        store.unfinished()


class StopsAtDamage(MemoryStore):
    def unfinished(self):
        for info in self.sessions():
            self.read(info.session_id, info.pruned_to)
        return super().unfinished()


def test_a_store_that_stops_at_a_damaged_session():
    """
    A store whose other sessions are lost beside a damaged one is caught.
    """
    with pytest.raises(
        AssertionError, match="13, unfinished work is indexed: unexpected StoreError: session 'damaged'"
    ):
        check_store(StopsAtDamage, damage=damage_memory)


class RefusesLongNames(MemoryStore):
    def append(self, session_id, events, **options):
        if len(session_id) > 255:
            raise OSError(f"File name too long: {session_id}")
        return super().append(session_id, events, **options)


def test_a_long_error_of_a_store():
    """
    A session with a long name is tried, and not shown as a whole.
    """
    with pytest.raises(AssertionError, match=r"^6, events round-trip: unexpected OSError: File name") as caught:
        check_store(RefusesLongNames)

    assert len(str(caught.value)) < 400


class WritesOneByOne(MemoryStore):
    def append(self, session_id, events, **options):
        return tuple(
            record for event in events for record in super(WritesOneByOne, self).append(session_id, [event], **options)
        )


class ForgetsWhatFollows(MemoryStore):
    def append(self, session_id, events, **options):
        return super().append(session_id, events, **options)[:1]


class CountsByTwo(MemoryStore):
    def append(self, session_id, events, **options):
        return tuple(map(self._doubled, super().append(session_id, events, **options)))

    def read(self, session_id, after=0, *, limit=None):
        return map(self._doubled, super().read(session_id, after, limit=limit))

    def _doubled(self, record):
        return attrs.evolve(record, seq=2 * record.seq - 1)


class ExpectsNothing(MemoryStore):
    def append(self, session_id, events, *, expected_seq=None, **options):
        return super().append(session_id, events, **options)


class ExpectsInTwoSteps(MemoryStore):
    def append(self, session_id, events, *, expected_seq=None, **options):
        if expected_seq is not None:
            super().append(session_id, [], expected_seq=expected_seq)
            time.sleep(0.02)
        return super().append(session_id, events, **options)


class DropsLiveEvents(MemoryStore):
    def append(self, session_id, events, **options):
        return super().append(session_id, [event for event in events if getattr(event, "durable", True)], **options)


class RefusesWithoutAName(MemoryStore):
    def append(self, session_id, events, **options):
        try:
            return super().append(session_id, events, **options)
        except LocalProtocolError:
            raise LocalProtocolError("no") from None


class RefusesWithAnotherError(MemoryStore):
    def append(self, session_id, events, **options):
        try:
            return super().append(session_id, events, **options)
        except LocalProtocolError as error:
            raise RuntimeError(str(error)) from None


class DropsUnknownEvents(MemoryStore):
    def append(self, session_id, events, **options):
        kept = [event for event in events if type(event).__name__ != "UnknownEvent"]
        return super().append(session_id, kept, **options)


class TellsItsOwnTime(MemoryStore):
    def append(self, session_id, events, *, at=None, **options):
        return super().append(session_id, events, **options)


class TellsALocalTime(MemoryStore):
    def read(self, session_id, after=0, *, limit=None):
        for record in super().read(session_id, after, limit=limit):
            object.__setattr__(record, "at", datetime(2020, 1, 1))  # noqa: DTZ001 - what it does wrong
            yield record


class LosesMeta(MemoryStore):
    def append(self, session_id, events, *, meta=None, **options):
        return super().append(session_id, events, **options)


class TakesUnicodeOnly(MemoryStore):
    def read(self, session_id, after=0, *, limit=None):
        return map(self._mended, super().read(session_id, after, limit=limit))

    def _mended(self, record):
        if isinstance(record.event, OpaqueReceived):
            state = {key: "\ufffd" if key == "z" else value for key, value in record.event.state.items()}
            return attrs.evolve(record, event=attrs.evolve(record.event, state=state))
        return record


class SortsKeys(MemoryStore):
    def read(self, session_id, after=0, *, limit=None):
        return map(self._sorted, super().read(session_id, after, limit=limit))

    def _sorted(self, record):
        if isinstance(record.event, OpaqueReceived):
            state = dict(sorted(record.event.state.items()))
            return attrs.evolve(record, event=attrs.evolve(record.event, state=state))
        return record


class IncludesTheCursor(MemoryStore):
    def read(self, session_id, after=0, *, limit=None):
        return super().read(session_id, max(after - 1, 0), limit=limit)


class IgnoresTheLimit(MemoryStore):
    def read(self, session_id, after=0, *, limit=None):
        return super().read(session_id, after)


class TrimsIds(MemoryStore):
    def append(self, session_id, events, **options):
        return super().append(session_id.strip() if isinstance(session_id, str) else session_id, events, **options)

    def read(self, session_id, after=0, *, limit=None):
        session_id = session_id.strip() if isinstance(session_id, str) else session_id
        return super().read(session_id, after, limit=limit)


class TakesAnyId(MemoryStore):
    def append(self, session_id, events, **options):
        return super().append(str(session_id) or "none", events, **options)


class ReadsUnderALock(MemoryStore):
    def read(self, session_id, after=0, *, limit=None):
        with self._lock._lock:
            yield from super().read(session_id, after, limit=limit)


class TakesAnySnapshot(MemoryStore):
    def snapshot(self, session_id, transcript):
        self._log(session_id).snapshot = transcript


class KeepsTheFirstSnapshot(MemoryStore):
    def snapshot(self, session_id, transcript):
        held = self.load_snapshot(session_id)
        super().snapshot(session_id, transcript)
        if held is not None:
            self._log(session_id).snapshot = held


class PrunesWithoutASnapshot(MemoryStore):
    def prune(self, session_id, through_seq):
        log = self._log(session_id)
        log.records = log.records[through_seq - log.pruned :]
        log.pruned = max(through_seq, log.pruned)


class ForgetsWhatIsPruned(MemoryStore):
    def read(self, session_id, after=0, *, limit=None):
        try:
            return super().read(session_id, after, limit=limit)
        except PrunedError as error:
            return super().read(session_id, error.pruned_to, limit=limit)


class StartsAnewWhenPruned(MemoryStore):
    def prune(self, session_id, through_seq):
        super().prune(session_id, through_seq)
        if not self._log(session_id).records:
            self._log(session_id).pruned = 0


class ForksIntoTheSameLog(MemoryStore):
    def fork(self, session_id, new_session_id, *, at=None):
        place = super().fork(session_id, new_session_id, at=at)
        if at is None:
            self._logs[new_session_id] = self._logs[session_id]
        return place


class ForksNothing(MemoryStore):
    def fork(self, session_id, new_session_id, *, at=None):
        place = super().fork(session_id, new_session_id, at=at)
        if not place:
            self._logs[new_session_id] = log = self._log(session_id).forked(new_session_id, place)
            log.created = log.updated = self._now()
        return place


class ForksWithTheOldTime(MemoryStore):
    def fork(self, session_id, new_session_id, *, at=None):
        place = super().fork(session_id, new_session_id, at=at)
        if place:
            log = self._log(new_session_id)
            log.updated = log.records[-1].at if log.records else log.created
        return place


class UpdatesBeforeItCreates(MemoryStore):
    def append(self, session_id, events, **options):
        records = super().append(session_id, events, **options)
        if records:
            self._log(session_id).updated = records[-1].at
        return records


class ForksWithoutUnfinished(MemoryStore):
    def fork(self, session_id, new_session_id, *, at=None):
        place = super().fork(session_id, new_session_id, at=at)
        if place:
            self.append(new_session_id, (), expected_seq=place, unfinished=())
        return place


class ForksOverOthers(MemoryStore):
    def fork(self, session_id, new_session_id, *, at=None):
        if session_id != new_session_id:
            self.delete(new_session_id)
        return super().fork(session_id, new_session_id, at=at)


class ForksEverySnapshot(MemoryStore):
    def fork(self, session_id, new_session_id, *, at=None):
        place = super().fork(session_id, new_session_id, at=at)
        self._log(new_session_id).snapshot = self._log(session_id).snapshot
        return place


class ForksPrunedLogsAnywhere(MemoryStore):
    def fork(self, session_id, new_session_id, *, at=None):
        try:
            return super().fork(session_id, new_session_id, at=at)
        except StoreError:
            log = self._log(session_id)
            if log.pruned:
                return at
            raise


class LeavesTheSnapshot(MemoryStore):
    def delete(self, session_id):
        left = self._log(session_id).snapshot
        super().delete(session_id)
        if left is not None:
            self._logs[session_id] = log = type(self._log("none"))()
            log.snapshot, log.created, log.updated = left, utc_now(), utc_now()


class LeavesUnfinishedWork(MemoryStore):
    def delete(self, session_id):
        self.left = {session_id: super().unfinished().get(session_id), **getattr(self, "left", {})}
        super().delete(session_id)

    def unfinished(self):
        return {**super().unfinished(), **getattr(self, "left", {})}


class ListsSessionsInAnyOrder(MemoryStore):
    def sessions(self, **page):
        return tuple(sorted(super().sessions(**page), key=lambda info: info.session_id, reverse=True))


class DropsMediaOfOthers(MemoryStore):
    dropped = False

    def delete(self, session_id):
        super().delete(session_id)
        self.dropped = True

    def read(self, session_id, after=0, *, limit=None):
        for record in super().read(session_id, after, limit=limit):
            if self.dropped and isinstance(record.event, MediaEnded):
                yield attrs.evolve(record, event=attrs.evolve(record.event, data=b""))
            else:
                yield record


class KnowsOneItem(MemoryStore):
    def unfinished(self):
        return {session_id: left[:1] for session_id, left in super().unfinished().items()}


class IgnoresWhatIsHandedIn(MemoryStore):
    def append(self, session_id, events, *, unfinished=None, **options):
        return super().append(session_id, events, **options)


class KeepsWhatWasHandedIn(MemoryStore):
    def append(self, session_id, events, **options):
        left = self._log(session_id).unfinished
        records = super().append(session_id, events, **options)
        if options.get("unfinished") is None:
            self._log(session_id).unfinished = left
        return records


class TakesOutdatedWork(MemoryStore):
    def append(self, session_id, events, *, expected_seq=None, unfinished=None, **options):
        if unfinished is not None and not events:
            expected_seq = self.seq(session_id)
        return super().append(session_id, events, expected_seq=expected_seq, unfinished=unfinished, **options)


class SortsSessions(MemoryStore):
    def unfinished(self):
        return dict(sorted(super().unfinished().items()))


class HasNoLock(MemoryStore):
    def append(self, session_id, events, **options):
        seq = self.seq(session_id)
        time.sleep(0.001)
        records = super().append(session_id, events, **options)
        if records and records[0].seq != seq + 1:
            raise RuntimeError("two threads at once")
        return records


class RaisesWhatItLikes(MemoryStore):
    def seq(self, session_id):
        raise KeyError(session_id)


class LosesSnapshots(MemoryStore):
    def load_snapshot(self, session_id):
        return None


class WorksWhenClosed(MemoryStore):
    def close(self):
        """Nothing."""


class CountsWhenClosed(MemoryStore):
    def seqs(self, session_ids):
        with suppress(StoreError):
            return super().seqs(session_ids)


class LetsCallsIn(MemoryStore):
    def append(self, session_id, events, **options):
        with self._lock._lock:
            taken, self._lock._taken = self._lock._taken, False
            try:
                return super().append(session_id, events, **options)
            finally:
                self._lock._taken = taken


class ForgetsOwners(MemoryStore):
    def append(self, session_id, events, *, owner=None, **options):
        return super().append(session_id, events, **options)


class ChangesOwners(MemoryStore):
    def append(self, session_id, events, *, owner=None, **options):
        if owner and session_id in self._logs:
            self._log(session_id).owner = owner
        return super().append(session_id, events, owner=owner, **options)


class ForksWithoutTheOwner(MemoryStore):
    def fork(self, session_id, new_session_id, *, at=None):
        place = super().fork(session_id, new_session_id, at=at)
        self._log(new_session_id).owner = None
        return place


class ListsSessionsOfAll(MemoryStore):
    def sessions(self, *, owner=None, **options):
        return super().sessions(**options)


class CountsWholeSeconds(MemoryStore):
    def append(self, session_id, events, **options):
        records = super().append(session_id, events, **options)
        if records:
            log = self._log(session_id)
            log.updated = log.updated.replace(microsecond=0)
        return records


class PagesByPosition(MemoryStore):
    def sessions(self, *, owner=None, after=None, limit=None):
        """The place of the session at the cursor, when it is still there."""
        found = super().sessions(owner=owner)
        if after is not None:
            super().sessions(after=after, limit=limit)
            ids = [info.session_id for info in found]
            gone = after.partition("_")[2]
            found = found[ids.index(gone) + 1 :] if gone in ids else found
        return found[:limit]


class ClaimsForAll(MemoryStore):
    def claim(self, session_id, worker, *, dead_after_s=15.0):
        return super().claim(session_id, worker, dead_after_s=min(0, dead_after_s))


class CreatesWhatIsClaimed(MemoryStore):
    def claim(self, session_id, worker, **options):
        claim = super().claim(session_id, worker, **options)
        if session_id not in self._logs:
            self._logs[session_id] = log = type(self._log("none"))()
            log.created = log.updated = utc_now()
        return claim


class ReusesTokens(MemoryStore):
    def delete(self, session_id):
        super().delete(session_id)
        self._tokens = count(1)


class ReleasesOthers(MemoryStore):
    def release(self, claim):
        super().release(claim)
        if claim.session_id in self._claims:
            self._claims[claim.session_id].held = False


class TakesAnyToken(MemoryStore):
    def append(self, session_id, events, *, token=None, **options):
        return super().append(session_id, events, **options)


class TakesReleasedTokens(MemoryStore):
    def append(self, session_id, events, *, token=None, **options):
        last = self._claims.get(session_id)
        released = last is not None and last.token == token and not last.held
        return super().append(session_id, events, token=None if released else token, **options)


class FencesTooLate(MemoryStore):
    def append(self, session_id, events, *, expected_seq=None, **options):
        super().append(session_id, [], expected_seq=expected_seq)
        return super().append(session_id, events, expected_seq=expected_seq, **options)


class WantsATokenFromAll(MemoryStore):
    def append(self, session_id, events, *, token=None, **options):
        current = self._current_token(session_id)
        if current is not None and token is None:
            raise FencedError(session_id, 0)
        return super().append(session_id, events, token=token, **options)


class TakesOverTheLiving(MemoryStore):
    def take_over(self, worker, *, dead_after_s=15.0, limit=100):
        return super().take_over(worker, dead_after_s=min(0, dead_after_s), limit=limit)


class TakesOverTheReleased(MemoryStore):
    def release(self, claim):
        super().release(claim)
        if self._current_token(claim.session_id) is None:
            self._claims.pop(claim.session_id, None)


class TakesOverTheSettled(MemoryStore):
    def take_over(self, worker, **options):
        claims = super().take_over(worker, **options)
        rest = [name for name, log in self._logs.items() if log.unfinished == () and name not in self._claims]
        return (*claims, *[self._claimed(name, worker) for name in rest])


class TakesOverWhatIsKnown(MemoryStore):
    def take_over(self, worker, **options):
        unknown = {name: log for name, log in self._open().items() if log.unfinished is None}
        self._logs = {name: log for name, log in self._logs.items() if name not in unknown}
        claims = super().take_over(worker, **options)
        self._logs |= unknown
        return claims


class TakesOverWithOldTokens(MemoryStore):
    def append(self, session_id, events, *, token=None, **options):
        last = self._claims.get(session_id)
        return super().append(
            session_id, events, token=last.token if token and last and last.held else token, **options
        )


class HearsNoBeat(MemoryStore):
    def beat(self, worker):
        last = self._beats.get(worker)
        super().beat(worker)
        if last is not None:
            self._beats[worker] = last


class LivesForEver(MemoryStore):
    def _is_alive(self, worker, now, dead_after_s):
        return dead_after_s > 0


class TakesOverInTwoSteps(MemoryStore):
    def take_over(self, worker, *, dead_after_s=15.0, limit=100):
        found = [name for name, log in self._open().items() if log.unfinished and name not in self._claims][:limit]
        time.sleep(0.02)
        return tuple([self.claim(name, worker, dead_after_s=0) for name in found])


class StoresNoCheckpoints(MemoryStore):
    def load_checkpoints(self, session_id):
        super().load_checkpoints(session_id)
        return ()


class RecordsCheckpoints(MemoryStore):
    def read(self, session_id, after=0, *, limit=None):
        yield from super().read(session_id, after, limit=limit)
        yield from super().load_checkpoints(session_id)


class ReturnsCheckpointsAsTheyCame(MemoryStore):
    def load_checkpoints(self, session_id):
        super().load_checkpoints(session_id)
        return tuple([piece for found in self._log(session_id).checkpoints.values() for piece in found.values()])


class KeepsTheFirstPiece(MemoryStore):
    def checkpoint(self, session_id, deltas, **options):
        there = {(type(each), each.message_id, each.offset) for each in self.load_checkpoints(session_id)}
        deltas = [each for each in deltas if (type(each), each.message_id, getattr(each, "offset", 0)) not in there]
        super().checkpoint(session_id, deltas, **options)


class CheckpointsProgress(MemoryStore):
    def checkpoint(self, session_id, deltas, **options):
        super().checkpoint(session_id, [each for each in deltas if hasattr(each, "offset")], **options)


class CreatesWhatIsCheckpointed(MemoryStore):
    def checkpoint(self, session_id, deltas, **options):
        self._open()
        with suppress(StoreError):
            super().checkpoint(session_id, deltas, **options)


class ForgetsCheckpointsOfPruned(MemoryStore):
    def prune(self, session_id, through_seq):
        super().prune(session_id, through_seq)
        self._log(session_id).checkpoints = {}


class KeepsCheckpoints(MemoryStore):
    def append(self, session_id, events, **options):
        before = self._log(session_id).checkpoints
        records = super().append(session_id, events, **options)
        self._log(session_id).checkpoints = before
        return records


class KeepsCheckpointsOfRewound(MemoryStore):
    def append(self, session_id, events, **options):
        before = self._log(session_id).checkpoints
        records = super().append(session_id, events, **options)
        if "history.rewound" in {record.event.type for record in records}:
            self._log(session_id).checkpoints = before
        return records


class RemovesAllCheckpoints(MemoryStore):
    def append(self, session_id, events, **options):
        records = super().append(session_id, events, **options)
        if {record.event.type for record in records} & {"text.ended", "history.rewound"}:
            self._log(session_id).checkpoints = {}
        return records


class RemovesCheckpointsTooEarly(MemoryStore):
    def append(self, session_id, events, **options):
        if self._log(session_id).records:
            self._log(session_id).checkpoints = self._log(session_id).checkpoints_after(list(events))
        return super().append(session_id, events, **options)


class ForksWithoutCheckpoints(MemoryStore):
    def fork(self, session_id, new_session_id, *, at=None):
        place = super().fork(session_id, new_session_id, at=at)
        self._log(new_session_id).checkpoints = {}
        return place


class ForksAllCheckpoints(MemoryStore):
    def fork(self, session_id, new_session_id, *, at=None):
        place = super().fork(session_id, new_session_id, at=at)
        self._log(new_session_id).checkpoints = dict(self._log(session_id).checkpoints)
        return place


class TakesAnyCheckpoint(MemoryStore):
    def checkpoint(self, session_id, deltas, *, token=None, **options):
        super().checkpoint(session_id, deltas, **options)


class TakesLateCheckpoints(MemoryStore):
    def checkpoint(self, session_id, deltas, *, after=None, **options):
        super().checkpoint(session_id, [], after=after, **options)
        super().checkpoint(session_id, deltas, **options)


class WritesInParts(MemoryStore):
    def append(self, session_id, events, **options):
        events = list(events) if options.get("expected_seq") is None else events
        if isinstance(events, list) and len(events) > 100:
            first = super().append(session_id, events[:100], **options)
            time.sleep(0.01)
            return (*first, *self.append(session_id, events[100:], **options))
        return super().append(session_id, events, **options)


class CannotNameWhatIsKept(MemoryStore):
    @property
    def persistent(self):
        raise AttributeError("persistent")


class WritesInTheLoop(MemoryStore):
    never_waits = True
    persistent = True


class TakesSmallCursors(MemoryStore):
    def read(self, session_id, after=0, *, limit=None):
        if after >= 2**63:
            raise OverflowError("bigint out of range")
        return super().read(session_id, after, limit=limit)


class CutsLongIds(MemoryStore):
    def append(self, session_id, events, **options):
        return super().append(session_id[:4000] if isinstance(session_id, str) else session_id, events, **options)

    def read(self, session_id, after=0, *, limit=None):
        return super().read(session_id[:4000] if isinstance(session_id, str) else session_id, after, limit=limit)


class LendsAFewConnections(MemoryStore):
    lent = 0

    def read(self, session_id, after=0, *, limit=None):
        records = super().read(session_id, after, limit=limit)
        return self._lent(records)

    def _lent(self, records):
        if self.lent == 8:
            raise StoreError("no connection is left")
        self.lent += 1
        try:
            yield from records
        finally:
            self.lent -= 1


class ReadsOnBehindPruned(MemoryStore):
    def read(self, session_id, after=0, *, limit=None):
        first = super().read(session_id, after, limit=100 if limit is None else limit)
        return first if limit is not None else self._rest(session_id, after, first)

    def _rest(self, session_id, after, records):
        while page := list(records):
            yield from page
            with suppress(PrunedError):
                records = super().read(session_id, page[-1].seq, limit=100)
                continue
            records = super().read(session_id, self._log(session_id).pruned, limit=100)


class HidesWhereItIsPruned(MemoryStore):
    def read(self, session_id, after=0, *, limit=None):
        try:
            return super().read(session_id, after, limit=limit)
        except PrunedError:
            raise PrunedError(session_id, after, 0) from None


class ComparesOwnersWithoutCase(MemoryStore):
    def append(self, session_id, events, *, owner=None, **options):
        stored = self._log(session_id).owner
        same = isinstance(owner, str) and stored is not None and owner.casefold() == stored.casefold()
        return super().append(session_id, events, owner=stored if same else owner, **options)


class ListsOwnersWithoutCase(MemoryStore):
    def sessions(self, *, owner=None, **options):
        found = super().sessions(**options)
        return tuple([i for i in found if owner is None or (i.owner or "").casefold() == owner.casefold()])


class FencesInTwoSteps(MemoryStore):
    def append(self, session_id, events, *, token=None, **options):
        if token is None:
            return super().append(session_id, events, **options)
        super().append(session_id, [], token=token, **options)
        time.sleep(0.001)
        return super().append(session_id, events, **options)


class ForksTheClaim(MemoryStore):
    def fork(self, session_id, new_session_id, *, at=None):
        place = super().fork(session_id, new_session_id, at=at)
        if session_id in self._claims:
            self._claims[new_session_id] = self._claims[session_id]
        return place


class ClosesOnce(MemoryStore):
    def close(self):
        self._open()
        super().close()


@pytest.mark.parametrize(
    ("promise", "broken"),
    [
        ("1,", WritesOneByOne),
        ("1,", ForgetsWhatFollows),
        ("1,", RaisesWhatItLikes),
        ("1,", WritesInParts),
        ("1,", CannotNameWhatIsKept),
        ("1,", WritesInTheLoop),
        ("2,", CountsByTwo),
        ("3,", ExpectsNothing),
        ("3,", ExpectsInTwoSteps),
        ("4,", DropsLiveEvents),
        ("4,", RefusesWithoutAName),
        ("4,", RefusesWithAnotherError),
        ("4,", DropsUnknownEvents),
        ("5,", TellsItsOwnTime),
        ("5,", TellsALocalTime),
        ("5,", LosesMeta),
        ("6,", TakesUnicodeOnly),
        ("6,", SortsKeys),
        ("6,", IncludesTheCursor),
        ("6,", IgnoresTheLimit),
        ("6,", TrimsIds),
        ("6,", TakesAnyId),
        ("6,", TakesSmallCursors),
        ("6,", CutsLongIds),
        ("7,", ReadsUnderALock),
        ("7,", LendsAFewConnections),
        ("7,", ReadsOnBehindPruned),
        ("8,", TakesAnySnapshot),
        ("8,", KeepsTheFirstSnapshot),
        ("8,", LosesSnapshots),
        ("8,", ForksEverySnapshot),
        ("9,", PrunesWithoutASnapshot),
        ("9,", ForgetsWhatIsPruned),
        ("9,", HidesWhereItIsPruned),
        ("9,", StartsAnewWhenPruned),
        ("10,", ForksIntoTheSameLog),
        ("10,", ForksNothing),
        ("10,", ForksWithoutUnfinished),
        ("10,", ForksOverOthers),
        ("10,", ForksPrunedLogsAnywhere),
        ("11,", LeavesTheSnapshot),
        ("11,", LeavesUnfinishedWork),
        ("11,", ListsSessionsInAnyOrder),
        ("11,", ForksWithTheOldTime),
        ("11,", UpdatesBeforeItCreates),
        ("12,", DropsMediaOfOthers),
        ("13,", KnowsOneItem),
        ("6,", IgnoresWhatIsHandedIn),
        ("13,", KeepsWhatWasHandedIn),
        ("13,", TakesOutdatedWork),
        ("13,", SortsSessions),
        ("14,", HasNoLock),
        ("14,", WorksWhenClosed),
        ("14,", CountsWhenClosed),
        ("14,", ClosesOnce),
        ("15,", LetsCallsIn),
        ("16,", ForgetsOwners),
        ("16,", ChangesOwners),
        ("16,", ForksWithoutTheOwner),
        ("16,", ListsSessionsOfAll),
        ("16,", CountsWholeSeconds),
        ("16,", PagesByPosition),
        ("16,", ComparesOwnersWithoutCase),
        ("16,", ListsOwnersWithoutCase),
        ("17,", ClaimsForAll),
        ("17,", CreatesWhatIsClaimed),
        ("17,", ReusesTokens),
        ("17,", ReleasesOthers),
        ("17,", TakesAnyToken),
        ("17,", TakesReleasedTokens),
        ("17,", FencesTooLate),
        ("17,", WantsATokenFromAll),
        ("17,", TakesOverWithOldTokens),
        ("17,", FencesInTwoSteps),
        ("17,", ForksTheClaim),
        ("18,", TakesOverTheLiving),
        ("18,", TakesOverTheReleased),
        ("18,", TakesOverTheSettled),
        ("18,", TakesOverWhatIsKnown),
        ("18,", HearsNoBeat),
        ("18,", LivesForEver),
        ("18,", TakesOverInTwoSteps),
        ("19,", StoresNoCheckpoints),
        ("19,", RecordsCheckpoints),
        ("19,", ReturnsCheckpointsAsTheyCame),
        ("19,", KeepsTheFirstPiece),
        ("19,", CheckpointsProgress),
        ("19,", CreatesWhatIsCheckpointed),
        ("19,", ForgetsCheckpointsOfPruned),
        ("19,", KeepsCheckpoints),
        ("19,", KeepsCheckpointsOfRewound),
        ("19,", RemovesAllCheckpoints),
        ("19,", RemovesCheckpointsTooEarly),
        ("19,", ForksWithoutCheckpoints),
        ("19,", ForksAllCheckpoints),
        ("19,", TakesAnyCheckpoint),
        ("19,", TakesLateCheckpoints),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_a_broken_promise_is_named(promise, broken, monkeypatch):
    """
    A store that breaks a promise fails with a sentence that begins with that promise.
    """
    if broken is ReadsUnderALock:
        monkeypatch.setattr("assistant_events.testing.store_expectations.SECONDS", 1.0)
    with pytest.raises(AssertionError) as caught:
        check_store(broken)

    assert str(caught.value).startswith(promise)
    del caught
    if broken is ReadsUnderALock:
        gc.collect()  # its reader, which holds a lock, is closed in this thread


class IsFarAway(MemoryStore):
    def append(self, session_id, events, **options):
        records = super().append(session_id, events, **options)
        time.sleep(0.01)
        return records


def test_a_store_that_is_slow_is_not_blocked(monkeypatch):
    """
    A call of a database in another data centre takes its time, and a thousand of them a minute.
    """
    monkeypatch.setattr("assistant_events.testing.store_expectations.SECONDS", 5.0)
    monkeypatch.setattr("assistant_events.testing.stores._FINALIZERS_S", 0.5)
    monkeypatch.setattr(
        "assistant_events.testing.stores._PROMISES", {"15": stores._PROMISES["15, calls are not reentrant"]}
    )

    check_store(IsFarAway)


def test_stores_that_share_nothing_are_told_apart():
    """
    Two stores that should share a storage and do not are caught.
    """
    with pytest.raises(AssertionError, match="stores on one storage are one"):
        check_store(MemoryStore, again=lambda store: MemoryStore())


class KeepsSnapshots(SqliteStore):
    def load_snapshot(self, session_id):
        held = vars(self).setdefault("held", {})
        if held.get(session_id) is None:
            held[session_id] = super().load_snapshot(session_id)
        return held[session_id]


class KeepsTheSeq(SqliteStore):
    def seq(self, session_id):
        known = vars(self).setdefault("known", {})
        return known.setdefault(session_id, super().seq(session_id))

    def append(self, session_id, events, **options):
        vars(self).setdefault("known", {}).pop(session_id, None)
        return super().append(session_id, events, **options)


class KeepsWhatIsDeleted(SqliteStore):
    def seq(self, session_id):
        held = vars(self).setdefault("held", {})
        held[session_id] = max(held.get(session_id, 0), super().seq(session_id))
        return held[session_id]


class OutlivesNothing(SqliteStore):
    persistent = False


@pytest.mark.parametrize(
    ("broken", "what"),
    [
        (KeepsSnapshots, "a snapshot that the other store has replaced"),
        (KeepsTheSeq, "seq after a batch of the other store"),
        (KeepsWhatIsDeleted, "what the other store has deleted"),
        (OutlivesNothing, "a store whose storage is opened again is not persistent"),
    ],
)
def test_a_store_that_remembers_what_another_one_changes(broken, what, tmp_path, monkeypatch):
    """
    A store that keeps in memory what a second store on its storage has changed is caught, and one that denies the
    storage.
    """
    monkeypatch.setattr("assistant_events.testing.stores._PROMISES", {})
    names = count()

    with pytest.raises(AssertionError, match=f"stores on one storage are one: {what}"):
        check_store(lambda: broken(tmp_path / f"{next(names)}.db"), again=lambda store: broken(store.path))
