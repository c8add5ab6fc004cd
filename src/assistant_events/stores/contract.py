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
7.  **Readers do not block.** Records are fetched lazily; suspended readers, however many, delay no writer and no other
    reader.
8.  **One snapshot per session.** A new snapshot replaces the old one. It is refused beyond the end of the log, and
    before the current snapshot.
9.  **Pruning needs a snapshot.** `prune` removes records up to a `seq` that a snapshot covers. The `seq` of later
    records does not change; reading from before the pruned `seq` raises `PrunedError`.
10. **A fork is independent.** It starts with the same records up to a `seq`, under a new id without records.
11. **Deleting is complete.** Records, snapshot, owner, claim, unfinished work, checkpoints, and media that no other
    session references are removed. The id may be used again.
12. **Media are deduplicated.** Equal bytes in any number of events and snapshots are stored once, as long as one
    references them.
13. **Unfinished work is indexed.** A batch with `unfinished` replaces the unfinished work of its session, in the same
    transaction; a batch without marks it as unknown, and so does a fork. `unfinished()` reads this index, and folds
    the log of the unknown sessions only; each result is stored unless the log has moved. The store judges no event.
    A session whose log cannot be read is left out of `unfinished()` and `take_over`, and a warning of the logger
    `assistant_events.stores` names it; other sessions are not affected.
14. **Threads may share a store.** After `close` every method raises `StoreError`.
15. **Calls are not reentrant.** A finalizer or a signal handler may call the store during another call of the same
    thread. Either both calls are carried out, or the inner one raises `StoreError` without effect. The outer call is
    never affected.
16. **A session has one owner.** The first batch may name it; it never changes. A batch with another owner is refused,
    wherever the log ends. A fork has the owner of its source. `sessions` returns the last updated first, in pages, of
    one owner if asked.
17. **A token is for one claim.** `claim` makes a worker the only one that runs the steps of a session. Every claim has
    a higher token than all earlier ones of its session, also after that was deleted. A batch with a token that is not
    that of the current claim raises `FencedError`, wherever the log ends. A batch without a token is accepted.
18. **Sessions of dead workers are taken over once.** A worker is alive for a time after its last sign of life: `beat`,
    `claim` or `take_over`, by the clock of the store; a sign as far in the future, as after the clock was set back, is
    as good as none. `take_over` claims sessions with unfinished work whose last claim, also a released one, is not that
    of a living worker. Of several workers at once, one gets a session.
19. **Checkpoints are not records.** They are pieces of fragments that are open, stored by message, fragment and offset;
    a piece replaces one with the same offset. Only `load_checkpoints` returns them. A batch that ends a fragment, or
    ends, restarts or rewinds its message, removes its pieces in the same transaction. A fork has the pieces of the
    fragments that are open at its `seq`. A token is checked as that of a batch. A piece that comes late is left out.

`assistant_events.testing.check_store` tries each promise on any implementation. `MemoryStore` is the reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final, Protocol, Self, TypeAlias, final, runtime_checkable

import attrs

from assistant_events.events import DeltaEvent, DurableEvent, Event, Record, UnknownEvent
from assistant_events.messages import Transcript, Unfinished
from assistant_events.values import JsonObject
from assistant_events.values.construct import draft_of

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
    """When the first batch was appended, or the session was made by `Store.fork`."""

    updated: datetime
    """When the last batch was appended, but not before `created`."""

    owner: str | None = None
    """The owner that the first batch named; `None` without one."""

    @property
    def cursor(self) -> str:
        """The place of this session in the list of `Store.sessions`, which continues after it."""
        return f"{self.updated.isoformat().replace('+00:00', 'Z')}_{self.session_id}"


@final
@attrs.frozen(kw_only=True)
class Claim:
    """The right of a worker to run the steps of a session, until it is released or another claim is made."""

    session_id: str

    worker: str

    token: int
    """Fencing token: higher than those of all earlier claims of the session. Append the batches of a step with it."""

    seq: int
    """`seq` of the last record when the claim was made; 0 without records."""


DEAD_AFTER_S: Final = 15.0
"""Seconds after its last sign of life in which a worker counts as alive."""


@runtime_checkable
class Store(Protocol):
    """
    Logs of durable events, one for each session. See the top of this module for the contract.

    Every method may raise `StoreError` for failures of the storage, and `TypeError` or `ValueError` for invalid
    arguments.
    """

    @property
    def persistent(self) -> bool:
        """Whether the store outlives the process. Sessions write checkpoints to such stores."""
        ...

    def append(
        self,
        session_id: str,
        events: Iterable[Event],
        *,
        expected_seq: int | None = None,
        meta: Mapping[str, object] | None = None,
        at: datetime | None = None,
        owner: str | None = None,
        token: int | None = None,
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

            owner: The owner of the session, any non-empty string: a user, a tenant. The first batch stores it; with a
                later one it is compared. `None` names none, and skips the comparison.

            token: That of the claim with which the writer runs a step. `None` for batches of others, such as prompts
                and results of calls, and where no worker claims sessions.

            unfinished: `transcript.unfinished()` after the batch, from a writer that knows all records up to
                *expected_seq*. Without it the store folds the log when `unfinished()` is called next.

        Raises:
            FencedError: *token* is not that of the current claim. Nothing was written, and a later try is refused too.

            ConflictError: The log is longer than *expected_seq*. Nothing was written.

            OwnerError: The session was created without *owner*. Nothing was written.

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

    def seqs(self, session_ids: Iterable[str]) -> dict[str, int]:
        """Return the `seq` of each session, 0 for an unknown one, for thousands of them at once."""
        ...

    def sessions(
        self, *, owner: str | None = None, after: str | None = None, limit: int | None = None
    ) -> tuple[SessionInfo, ...]:
        """
        Return sessions, the last updated first, then by id.

        Args:
            owner: Only the sessions of this owner. `None` returns those of all owners, and those without one.

            after: `SessionInfo.cursor` of the last session of the page before. A session that has been updated since
                then is not in the following pages.

            limit: At most this many.
        """
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

        Sessions are in the order of their creation; those that only await their user are absent, and so are those whose
        log cannot be read.
        """
        ...

    def claim(self, session_id: str, worker: str, *, dead_after_s: float = DEAD_AFTER_S) -> Claim:
        """
        Make *worker* the only one that runs the steps of a session, and return its claim.

        The claim is a sign of life. A worker that claims a session again gets a new token; its old one is refused then.
        An app of one process need not claim anything.

        Args:
            session_id: Any non-empty string; the session may have no records yet, and the claim does not create it.

            worker: Any non-empty string that belongs to one process, and to another one after a restart.

            dead_after_s: Seconds after its last sign of life in which the holder of the claim counts as alive.

        Raises:
            ClaimedError: Another living worker holds the session.
        """
        ...

    def release(self, claim: Claim) -> None:
        """
        End a claim, so that any worker can claim the session. Does nothing when it is not the current one.

        `take_over` leaves the session to its worker as long as that is alive: it may be running the calls of the app.
        """
        ...

    def beat(self, worker: str) -> None:
        """Record a sign of life. Call it every five seconds or so as long as the worker runs."""
        ...

    def take_over(self, worker: str, *, dead_after_s: float = DEAD_AFTER_S, limit: int = 100) -> tuple[Claim, ...]:
        """
        Claim sessions whose worker has died, and return the claims, in the order of the creation of the sessions.

        These are the sessions with unfinished work that were never claimed, or claimed last by a worker that is not
        alive. Each is returned to one worker, which settles it, for example by `Session.reconcile`, and releases it.

        Args:
            worker: As for `claim`. This is a sign of life, too.

            dead_after_s: Seconds after its last sign of life in which a worker counts as alive; with 0 none does.

            limit: At most this many sessions.
        """
        ...

    def checkpoint(
        self, session_id: str, deltas: Iterable[DeltaEvent], *, after: int | None = None, token: int | None = None
    ) -> None:
        """
        Store pieces of open fragments, so that a crash loses less of them than all.

        Each piece is stored once: pass what has come since the last checkpoint, not the whole.

        Args:
            session_id: A session with records.

            deltas: Deltas as the decoder made them, or longer ones that were joined.

            after: `seq` of the record that the deltas follow, such as `EventStream.seq`. Pieces whose fragment was
                closed by a later record are left out. `None` when no record can have been appended since the last one
                that the writer knows.

            token: As for `append`.

        Raises:
            FencedError: *token* is not that of the current claim. Nothing was written.

            PrunedError: Records after *after* have been pruned. Nothing was written.

            StoreError: The session has no records, or its log is shorter than *after*.
        """
        ...

    def load_checkpoints(self, session_id: str) -> tuple[DeltaEvent, ...]:
        """
        Return the stored pieces, those of a fragment in the order of their offsets.

        Applied after all records they give the transcript its open text; a `Session` does so when it is opened.
        """
        ...

    def close(self) -> None:
        """Release the storage. Closing again does nothing."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


def never_waits(store: object) -> bool:
    """
    Return whether the class of a store declares `never_waits = True`, as `MemoryStore` does.

    Its calls wait for nothing: no disk, no network, no lock that is held for longer than a call. A `Session` makes them
    in its event loop, where each takes some microseconds; those of any other store it makes in a thread, which takes a
    hundred. Only the class itself counts: its subclasses may wait, and so may objects that pass calls on to it.
    """
    return vars(type(store)).get("never_waits") is True


def utc_now() -> datetime:
    """Return the current time: the default clock of a store."""
    return datetime.now(UTC)


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


_RecordDraft: Any = draft_of(Record)  # Any: see `draft_of`
