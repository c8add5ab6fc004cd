"""
What a store promises: a log of durable events for each session, which several writers may share.

1.  **A batch is one.** `append` writes all events of a batch or none, also when the process is killed in between.
    What was returned has been written.
2.  **Places have no gaps.** The records of a session have `seq` 1, 2, 3, … in the order in which they were appended.
3.  **Who is late learns it.** With `expected_seq` a batch is written only when the session stands exactly there (0:
    is empty); otherwise `ConflictError`, also for an empty batch. Without it, two writers both succeed, in some
    order.
4.  **Only durable events are kept.** A live one is refused by its name, and nothing of its batch is written. An
    `UnknownEvent` is durable.
5.  **A batch has one time and one `meta`.** The time is in UTC, from `at` or from the store's clock. `meta` is the
    app's own; it comes back as it was and is never read.
6.  **What comes back is equal.** `read` gives the records in order, after a cursor that is not included. Events are
    equal to those that went in, their state code unit for code unit. A session that is not known has no records.
7.  **Reading waits for nobody.** Records are read as they are asked for; a reader that stands still keeps no writer
    waiting.
8.  **A snapshot stands for what it folded.** A session has at most one, the newest. It is refused beyond the end of
    the log and behind the one that is there.
9.  **Pruning loses nothing that a snapshot does not hold.** `prune` removes records up to a place that a snapshot has
    reached. Places stay; reading from before that place is a `PrunedError`.
10. **A fork is a session of its own.** It starts with the same records up to a place, under a new id that must be
    empty.
11. **Deleting leaves nothing.** Neither records nor snapshot, nor media that no other session holds. The id is free
    again.
12. **Media are stored once.** Equal bytes in many events or snapshots take the room of one, as long as anyone holds
    them.
13. **What is unfinished is known at once.** `unfinished` answers from an index that every append keeps up to date,
    exactly when the events of the session have no problems; events that are delivered twice or too late change
    nothing.
14. **Threads may share a store.** After `close` every call is refused.
15. **A call is not interrupted.** A finaliser or a signal handler may call the store in the middle of another call of
    the same thread. Then either both are carried out, or the inner one is a `StoreError` at once and does nothing. The
    call outside is whole in any case.

`assistant_events.testing.check_store` tries each of them on any implementation. `MemoryStore` is the reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias, cast, final, runtime_checkable

import attrs

from assistant_events.errors import LocalProtocolError, StoreError
from assistant_events.events import DURABLE_EVENTS, LIVE_EVENTS, DurableEvent, Event, Record, UnknownEvent
from assistant_events.messages import Transcript
from assistant_events.values import JsonObject, RemoteRun
from assistant_events.values.construct import draft_of
from assistant_events.values.validators import NO_FIELDS

StoredEvent: TypeAlias = DurableEvent | UnknownEvent
"""What a log can hold."""


@final
@attrs.frozen(kw_only=True)
class SessionInfo:
    """What a store knows of a session without reading its records."""

    session_id: str

    seq: int
    """Place of its last record."""

    pruned_to: int
    """Records up to this place are pruned; 0 when all are there."""

    created: datetime
    """When the first batch was appended."""

    updated: datetime
    """When the last batch was appended."""


class UnfinishedKind(StrEnum):
    """What there is to do about something that is unfinished."""

    STEP = "step"
    """A step has neither ended nor failed: nobody listens to it any more, or somebody else does."""

    CUT = "cut"
    """
    A step failed because its stream was cut or the app left it (`aborted`), and its run can be rejoined at the
    provider.
    """

    CALL = "call"
    """A call waits for the app to run it and to answer."""

    COMPACTION = "compaction"
    """A summary has neither ended nor failed."""


@final
@attrs.frozen(kw_only=True)
class Unfinished:
    """Something in a session that needs attention after a restart."""

    session_id: str
    message_id: str
    kind: UnfinishedKind

    call_id: str | None = None
    """The call that waits; `None` for other kinds."""

    run: RemoteRun | None = None
    """Where the response of a step or cut lives at the provider; `None` when it does not, and for other kinds."""


@runtime_checkable
class Store(Protocol):
    """
    Logs of durable events, one for each session. The promises stand at the top of this module.

    Every method may raise `StoreError` for what the storage below did, and `TypeError` or `ValueError` for arguments
    that make no sense.
    """

    def append(
        self,
        session_id: str,
        events: Iterable[Event],
        *,
        expected_seq: int | None = None,
        meta: Mapping[str, object] | None = None,
        at: datetime | None = None,
    ) -> tuple[Record, ...]:
        """
        Write *events* as one batch at the end of the log and return their records.

        An empty batch writes nothing and returns `()`.

        Args:
            session_id: Any non-empty string. The first batch makes the session.

            events: Durable events and `UnknownEvent`s.

            expected_seq: Place of the last record that the writer knows, 0 for none. Anything goes when it is `None`.

            meta: One JSON object for all records of the batch.

            at: When it happened, in UTC; the store's clock tells when it is `None`.

        Raises:
            ConflictError: The log does not stand at *expected_seq*. Nothing was written.

            LocalProtocolError: One of the events is live. Nothing was written.
        """
        ...

    def read(self, session_id: str, after: int = 0, *, limit: int | None = None) -> Iterator[Record]:
        """
        Return the records after the place *after*, in order, at most *limit* of them.

        Records that are appended while it is read may or may not be among them.

        Raises:
            PrunedError: Records after *after* have been pruned; also while iterating, when that happens meanwhile.
        """
        ...

    def seq(self, session_id: str) -> int:
        """Return the place of the last record; 0 for a session that is not known."""
        ...

    def sessions(self) -> tuple[SessionInfo, ...]:
        """Return what is known of every session, the one that was appended to last first."""
        ...

    def snapshot(self, session_id: str, transcript: Transcript) -> None:
        """
        Keep *transcript* as what the records up to its `seq` fold to. It takes the place of an older snapshot.

        Raises:
            StoreError: Its `seq` is 0, beyond the end of the log, or behind the snapshot that is there.
        """
        ...

    def load_snapshot(self, session_id: str) -> Transcript | None:
        """Return the snapshot; `None` when there is none. The records after its `seq` lead to the present."""
        ...

    def prune(self, session_id: str, through_seq: int) -> None:
        """
        Remove the records up to and including *through_seq*. What is pruned already stays so.

        Raises:
            StoreError: No snapshot stands for them.
        """
        ...

    def fork(self, session_id: str, new_session_id: str, *, at: int | None = None) -> int:
        """
        Begin a session with the records of another up to the place *at*, its end by default, and return that place.

        Places, times and `meta` are the same; a snapshot goes along when it is not beyond *at*.

        Raises:
            ConflictError: The new session has records.

            StoreError: There is no such session or place, or what stands at *at* is pruned.
        """
        ...

    def delete(self, session_id: str) -> None:
        """Remove everything of the session. Nothing happens when there is none."""
        ...

    def unfinished(self, session_id: str | None = None) -> tuple[Unfinished, ...]:
        """
        Return what needs attention after a restart, in one session or in all.

        Running steps and summaries, cut or aborted steps that can be rejoined, and calls of the app without an answer,
        except those of failed and rewound messages. Sessions in the order in which they were made, messages in theirs.
        """
        ...

    def close(self) -> None:
        """Let go of the storage. Twice is once."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def utc_now() -> datetime:
    """Return the time: the clock of a store that was given none."""
    return datetime.now(UTC)


def check_session_id(session_id: object) -> None:
    """Raise unless it is a non-empty string."""
    if not isinstance(session_id, str):
        raise TypeError(f"session_id: expected str, got {type(session_id).__name__}")
    if not session_id:
        raise ValueError("session_id: expected a non-empty string")


def check_place(name: str, value: object) -> None:
    """Raise unless it is an int of 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name}: expected int, got {type(value).__name__}")
    if value < 0:
        raise ValueError(f"{name}: expected 0 or more, got {value}")


def check_read(session_id: object, after: object, limit: object) -> None:
    """Check the arguments of `read`."""
    check_session_id(session_id)
    check_place("after", after)
    if limit is not None:
        check_place("limit", limit)


def check_append(session_id: object, events: object, expected_seq: object) -> tuple[StoredEvent, ...]:
    """
    Check the arguments of `append` and return *events* as what a log can hold.

    Raises:
        LocalProtocolError: One of them is live.

        TypeError: One of them is no event.
    """
    check_session_id(session_id)
    if expected_seq is not None:
        check_place("expected_seq", expected_seq)
    if not isinstance(events, Iterable):
        raise TypeError(f"events: expected an iterable of events, got {type(events).__name__}")
    kept = tuple(cast(Iterable[StoredEvent], events))  # the next lines let only these through
    if not _STORED.issuperset(map(type, kept)):
        raise next(_refusal(event) for event in kept if type(event) not in _STORED)
    return kept


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
        check_place("at", at)


def check_meta(meta: Mapping[str, object] | None) -> JsonObject:
    """Return *meta* frozen; raise unless it is a JSON object or `None`."""
    if meta is None or type(meta) is JsonObject:
        return meta or NO_FIELDS
    try:
        return JsonObject(meta)
    except TypeError as error:
        raise TypeError(f"meta: {error}") from None


def check_transcript(transcript: object) -> None:
    """Raise unless it is a transcript that came from records."""
    if not isinstance(transcript, Transcript):
        raise TypeError(f"transcript: expected Transcript, got {type(transcript).__name__}")
    if transcript.seq == 0:
        raise StoreError("a snapshot needs the place it stands for: fold records, not bare events")


def check_snapshot(session_id: str, snapshot_seq: int, *, seq: int, held: int | None) -> None:
    """Raise unless a snapshot may take the place of the one at *held* in a log that ends at *seq*."""
    if snapshot_seq > seq:
        raise StoreError(f"session {session_id!r}: snapshot at seq {snapshot_seq}, but the log ends at {seq}")
    if held is not None and snapshot_seq < held:
        raise StoreError(f"session {session_id!r}: snapshot at seq {snapshot_seq}, but a newer one stands at {held}")


def check_prune(session_id: str, through_seq: int, *, held: int | None) -> None:
    """Raise unless the snapshot at *held* stands for the records up to *through_seq*."""
    if held is None or held < through_seq:
        found = "there is none" if held is None else f"the one there is stands at {held}"
        raise StoreError(
            f"session {session_id!r}: pruning up to seq {through_seq} needs a snapshot there or after it, {found}; "
            "store one first"
        )


def check_fork(session_id: str, at: int | None, *, seq: int, pruned: int, held: int | None) -> int:
    """
    Return where to fork; raise unless what stands there can be told from the records and the snapshot at *held*.
    """
    place = seq if at is None else at
    if seq == 0:
        raise StoreError(f"session {session_id!r} has no records to fork")
    if place > seq:
        raise StoreError(f"session {session_id!r}: cannot fork at seq {place}, the log ends at {seq}")
    if pruned and (held is None or place < held):
        raise StoreError(
            f"session {session_id!r}: cannot fork at seq {place}, records up to {pruned} are pruned; "
            f"from {held} on it can be forked"
        )
    return place


def make_record(session_id: str, seq: int, at: datetime, event: StoredEvent, meta: JsonObject) -> Record:
    """Return a record of values that have been checked."""
    return next(make_records(session_id, seq, at, (event,), meta))


def make_records(
    session_id: str, first: int, at: datetime, events: Iterable[StoredEvent], meta: JsonObject
) -> Iterator[Record]:
    """
    Return the records of a batch from the place *first* on, of values that have been checked.

    Their own constructor checks every field again, which takes ten times as long.
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
        return LocalProtocolError(f"{name} is live and has no place in a log; append durable events only")
    return TypeError(f"events: expected durable events, got {name}")


_STORED = frozenset[type]((*DURABLE_EVENTS, UnknownEvent))

_RecordDraft: Any = draft_of(Record)  # Any: see `draft_of`
