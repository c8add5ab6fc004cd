"""
The contract of a store: a log of durable events for each session, shared by several writers.

1.  **Batches are atomic.** `append` writes all events of a batch or none, also when the process is killed. A batch
    whose records were returned is stored.
2.  **`seq` has no gaps.** The records of a session have `seq` 1, 2, 3, … in the order of their appends.
3.  **Concurrency is optimistic.** With `expected_seq` a batch is written only when the log ends exactly there (0: is
    empty). `ConflictError` is raised when the log is longer, `StoreError` when it is shorter: it was deleted, or
    restored from an older copy. This holds for an empty batch too. Without `expected_seq`, concurrent batches are
    written one after another, in either order.
4.  **Only durable events are stored.** A live event is refused with its class name, and nothing of its batch is
    written. An `UnknownEvent` is durable.
5.  **A batch has one time and one `meta`.** The time is UTC, from `at` or the store's clock. `meta` belongs to the app;
    it is returned unchanged and never interpreted.
6.  **Events round-trip.** `read` returns the records in order, after an exclusive cursor. Events equal the appended
    ones, with their state identical code unit for code unit. An unknown session has no records.
7.  **Readers do not block.** Records are fetched lazily; a suspended reader delays no writer.
8.  **One snapshot per session.** A new snapshot replaces the old one. It is refused beyond the end of the log, and
    before the current snapshot.
9.  **Pruning needs a snapshot.** `prune` removes records up to a `seq` that a snapshot covers. The `seq` of later
    records does not change; reading from before the pruned `seq` raises `PrunedError`.
10. **A fork is independent.** It starts with the same records up to a `seq`, under a new id without records.
11. **Deleting is complete.** Records, snapshot, unfinished work and media that no other session references are removed.
    The id may be used again.
12. **Media are deduplicated.** Equal bytes in any number of events and snapshots are stored once, as long as one
    references them.
13. **Unfinished work is indexed.** A batch with `unfinished` replaces the unfinished work of its session, in the same
    transaction; a batch without marks it as unknown, and so does a fork. `unfinished()` reads this index, and folds
    the log of the unknown sessions only; each result is stored unless the log has moved. The store interprets no
    event.
14. **Threads may share a store.** After `close` every method raises `StoreError`.
15. **Calls are not reentrant.** A finalizer or a signal handler may call the store during another call of the same
    thread. Either both calls are carried out, or the inner one raises `StoreError` without effect. The outer call is
    never affected.

`assistant_events.testing.check_store` tries each promise on any implementation. `MemoryStore` is the reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias, cast, final, runtime_checkable

import attrs

from assistant_events.errors import ConflictError, LocalProtocolError, StoreError
from assistant_events.events import DURABLE_EVENTS, LIVE_EVENTS, DurableEvent, Event, Record, UnknownEvent
from assistant_events.messages import Transcript, Unfinished
from assistant_events.values import JsonObject
from assistant_events.values.construct import draft_of
from assistant_events.values.validators import NO_FIELDS, tuple_of

StoredEvent: TypeAlias = DurableEvent | UnknownEvent
"""An event that a log can contain."""


@final
@attrs.frozen(kw_only=True)
class SessionInfo:
    """Facts about a session that a store has without reading its records."""

    session_id: str

    seq: int
    """`seq` of its last record."""

    pruned_to: int
    """`seq` of the last pruned record; 0 when none was pruned."""

    created: datetime
    """When the first batch was appended."""

    updated: datetime
    """When the last batch was appended."""


@runtime_checkable
class Store(Protocol):
    """
    Logs of durable events, one for each session. See the top of this module for the contract.

    Every method may raise `StoreError` for failures of the storage, and `TypeError` or `ValueError` for invalid
    arguments.
    """

    def append(
        self,
        session_id: str,
        events: Iterable[Event],
        *,
        expected_seq: int | None = None,
        meta: Mapping[str, object] | None = None,
        at: datetime | None = None,
        unfinished: Iterable[Unfinished] | None = None,
    ) -> tuple[Record, ...]:
        """
        Append *events* to the log as one batch and return their records.

        An empty batch writes no record and returns `()`.

        Args:
            session_id: Any non-empty string. The first batch creates the session.

            events: Durable events and `UnknownEvent`s.

            expected_seq: `seq` of the last record that the writer knows, 0 for an empty log. `None` skips the check.

            meta: JSON object for all records of the batch.

            at: Time of the batch in UTC; by default the time of the store's clock.

            unfinished: `transcript.unfinished()` after the batch, from a writer that knows all records up to
                *expected_seq*. Without it the store folds the log when `unfinished()` is called next.

        Raises:
            ConflictError: The log is longer than *expected_seq*. Nothing was written.

            StoreError: The log is shorter than *expected_seq*. Nothing was written.

            LocalProtocolError: An event is live. Nothing was written.

            ValueError: *unfinished* without *expected_seq*.
        """
        ...

    def read(self, session_id: str, after: int = 0, *, limit: int | None = None) -> Iterator[Record]:
        """
        Return the records after `seq` *after*, in order, at most *limit* of them.

        Records that are appended during the iteration may be included.

        Raises:
            PrunedError: Records after *after* have been pruned; also during the iteration.
        """
        ...

    def seq(self, session_id: str) -> int:
        """Return the `seq` of the last record; 0 for an unknown session."""
        ...

    def sessions(self) -> tuple[SessionInfo, ...]:
        """Return all sessions, the last updated first."""
        ...

    def snapshot(self, session_id: str, transcript: Transcript) -> None:
        """
        Store *transcript*, folded from the records up to its `seq`, in place of an older snapshot.

        Raises:
            StoreError: Its `seq` is 0, beyond the end of the log, or before the current snapshot.
        """
        ...

    def load_snapshot(self, session_id: str) -> Transcript | None:
        """Return the snapshot; `None` without one. Fold the records after its `seq` to continue."""
        ...

    def prune(self, session_id: str, through_seq: int) -> None:
        """
        Remove the records up to and including *through_seq*. Pruning them again does nothing.

        Raises:
            StoreError: No snapshot covers them.
        """
        ...

    def fork(self, session_id: str, new_session_id: str, *, at: int | None = None) -> int:
        """
        Create a session from the records of another one up to `seq` *at*, by default all, and return that `seq`.

        `seq`, times and `meta` stay the same; the snapshot is copied when it is not beyond *at*.

        Raises:
            ConflictError: The new session has records.

            StoreError: The session or the `seq` does not exist, or the record at *at* is pruned.
        """
        ...

    def delete(self, session_id: str) -> None:
        """Delete everything of a session. Does nothing when it does not exist."""
        ...

    def unfinished(self) -> dict[str, tuple[Unfinished, ...]]:
        """
        Return what is unfinished in each session, as `Transcript.unfinished` defines it, by session id.

        Sessions are in the order of their creation; those that only await their user are absent.
        """
        ...

    def close(self) -> None:
        """Release the storage. Closing again does nothing."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


def utc_now() -> datetime:
    """Return the current time: the default clock of a store."""
    return datetime.now(UTC)


def check_session_id(session_id: object) -> None:
    """Raise unless it is a non-empty string."""
    if not isinstance(session_id, str):
        raise TypeError(f"session_id: expected str, got {type(session_id).__name__}")
    if not session_id:
        raise ValueError("session_id: expected a non-empty string")


def check_seq(name: str, value: object) -> None:
    """Raise unless it is an int of 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name}: expected int, got {type(value).__name__}")
    if value < 0:
        raise ValueError(f"{name}: expected 0 or more, got {value}")


def check_read(session_id: object, after: object, limit: object) -> None:
    """Check the arguments of `read`."""
    check_session_id(session_id)
    check_seq("after", after)
    if limit is not None:
        check_seq("limit", limit)


def check_append(
    session_id: object, events: object, expected_seq: int | None, unfinished: object
) -> tuple[tuple[StoredEvent, ...], tuple[Unfinished, ...] | None]:
    """
    Check the arguments of `append` and return *events* and *unfinished* as tuples.

    Raises:
        LocalProtocolError: An event is live.

        TypeError: An item is not an event.
    """
    check_session_id(session_id)
    if expected_seq is not None:
        check_seq("expected_seq", expected_seq)
    elif unfinished is not None:
        raise ValueError("unfinished: expected_seq is required with it; other writers may have appended")
    if not isinstance(events, Iterable):
        raise TypeError(f"events: expected an iterable of events, got {type(events).__name__}")
    # The casts are checked: by the next lines, and by `tuple_of`.
    kept = tuple(cast("Iterable[StoredEvent]", events))
    if not _STORED.issuperset(map(type, kept)):
        raise next(_refusal(event) for event in kept if type(event) not in _STORED)
    if unfinished is None:
        return kept, None
    return kept, tuple_of(cast("Iterable[Unfinished]", unfinished), Unfinished, "unfinished", "an Unfinished")


def check_expected_seq(session_id: str, expected_seq: int | None, seq: int) -> None:
    """Raise unless the log ends at *expected_seq*, or *expected_seq* is `None`."""
    if expected_seq is None or expected_seq == seq:
        return
    if expected_seq < seq:
        raise ConflictError(session_id, expected_seq, seq)
    raise StoreError(
        f"session {session_id!r}: expected seq {expected_seq}, but the log ends at {seq}; "
        "it was deleted or restored from an older copy"
    )


def check_time(at: object) -> datetime:
    """Return *at*; raise unless it is in UTC."""
    if not isinstance(at, datetime):
        raise TypeError(f"at: expected datetime, got {type(at).__name__}")
    if at.utcoffset() != timedelta(0):
        raise ValueError(f"at: expected a datetime in UTC, got {at.isoformat()}")
    return at


def check_fork_ids(session_id: object, new_session_id: object, at: object) -> None:
    """Check the arguments of `fork`."""
    check_session_id(session_id)
    check_session_id(new_session_id)
    if at is not None:
        check_seq("at", at)


def check_meta(meta: Mapping[str, object] | None) -> JsonObject:
    """Return *meta* frozen; raise unless it is a JSON object or `None`."""
    if meta is None or type(meta) is JsonObject:
        return meta or NO_FIELDS
    try:
        return JsonObject(meta)
    except TypeError as error:
        raise TypeError(f"meta: {error}") from None


def check_transcript(transcript: object) -> None:
    """Raise unless it is a transcript that was folded from records."""
    if not isinstance(transcript, Transcript):
        raise TypeError(f"transcript: expected Transcript, got {type(transcript).__name__}")
    if transcript.seq == 0:
        raise StoreError("a snapshot needs a seq: fold records, not events")


def check_snapshot(session_id: str, snapshot_seq: int, *, seq: int, held: int | None) -> None:
    """Raise unless a snapshot at *snapshot_seq* may replace the one at *held*."""
    if snapshot_seq > seq:
        raise StoreError(f"session {session_id!r}: snapshot at seq {snapshot_seq}, but the log ends at {seq}")
    if held is not None and snapshot_seq < held:
        raise StoreError(f"session {session_id!r}: snapshot at seq {snapshot_seq}, but there is a newer one at {held}")


def check_prune(session_id: str, through_seq: int, *, held: int | None) -> None:
    """Raise unless the snapshot at *held* covers the records up to *through_seq*."""
    if held is None or held < through_seq:
        found = "there is none" if held is None else f"the current one is at {held}"
        raise StoreError(
            f"session {session_id!r}: pruning up to seq {through_seq} needs a snapshot there or after it, {found}; "
            "store one first"
        )


def check_fork(session_id: str, at: int | None, *, seq: int, pruned: int, held: int | None) -> int:
    """Return the `seq` to fork at; raise unless the records and the snapshot give the transcript there."""
    chosen = seq if at is None else at
    if seq == 0:
        raise StoreError(f"session {session_id!r} has no records to fork")
    if chosen > seq:
        raise StoreError(f"session {session_id!r}: cannot fork at seq {chosen}, the log ends at {seq}")
    if pruned and (held is None or chosen < held):
        raise StoreError(
            f"session {session_id!r}: cannot fork at seq {chosen}, records up to {pruned} are pruned; "
            f"from {held} on it can be forked"
        )
    return chosen


def make_record(session_id: str, seq: int, at: datetime, event: StoredEvent, meta: JsonObject) -> Record:
    """Return a record of checked values."""
    return next(make_records(session_id, seq, at, (event,), meta))


def make_records(
    session_id: str, first: int, at: datetime, events: Iterable[StoredEvent], meta: JsonObject
) -> Iterator[Record]:
    """
    Return the records of a batch from `seq` *first* on, of checked values.

    The constructor of `Record` would validate every field again, which takes ten times as long.
    """
    for seq, event in enumerate(events, first):
        record = _RecordDraft()
        record.session_id = session_id
        record.seq = seq
        record.at = at
        record.event = event
        record.meta = meta
        record.__class__ = Record
        yield record


def _refusal(event: object) -> Exception:
    name = type(event).__name__
    if isinstance(event, LIVE_EVENTS):
        return LocalProtocolError(f"{name} is a live event and cannot be stored; append durable events only")
    return TypeError(f"events: expected durable events, got {name}")


_STORED = frozenset[type]((*DURABLE_EVENTS, UnknownEvent))

_RecordDraft: Any = draft_of(Record)  # Any: see `draft_of`
