"""The checks of all stores: arguments, and whether a session allows what was asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import cast

from assistant_events.errors import ConflictError, FencedError, LocalProtocolError, OwnerError, PrunedError, StoreError
from assistant_events.events import DELTA_EVENTS, DURABLE_EVENTS, LIVE_EVENTS, DeltaEvent, UnknownEvent
from assistant_events.messages import Transcript, Unfinished
from assistant_events.stores.contract import Claim, StoredEvent
from assistant_events.values import JsonObject
from assistant_events.values.arguments import check_integer, check_seconds
from assistant_events.values.validators import NO_FIELDS, tuple_of


def check_name(field: str, value: object) -> None:
    """Raise unless it is a non-empty string."""
    if not isinstance(value, str):
        raise TypeError(f"{field}: expected str, got {type(value).__name__}")
    if not value:
        raise ValueError(f"{field}: expected a non-empty string")


def check_session_id(session_id: object) -> None:
    """Raise unless it is a non-empty string."""
    check_name("session_id", session_id)


def check_read(session_id: object, after: object, limit: object) -> None:
    """Check the arguments of `read`."""
    check_session_id(session_id)
    check_integer("after", after)
    if limit is not None:
        check_integer("limit", limit)


def check_append(
    session_id: object,
    events: object,
    expected_seq: int | None,
    *,
    owner: str | None,
    token: int | None,
    unfinished: object,
) -> tuple[tuple[StoredEvent, ...], tuple[Unfinished, ...] | None]:
    """
    Check the arguments of `append` and return *events* and *unfinished* as tuples.

    Raises:
        LocalProtocolError: An event is live.

        TypeError: An item is not an event.
    """
    check_session_id(session_id)
    if expected_seq is not None:
        check_integer("expected_seq", expected_seq)
    elif unfinished is not None:
        raise ValueError("unfinished: expected_seq is required with it; other writers may have appended")
    if owner is not None:
        check_name("owner", owner)
    if token is not None:
        check_integer("token", token)
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


def check_owner(session_id: str, owner: str | None, *, stored: str | None) -> None:
    """Raise unless the session was created with *owner*, or *owner* is `None`."""
    if owner is not None and owner != stored:
        raise OwnerError(session_id)


def check_token(session_id: str, token: int | None, *, current: int | None) -> None:
    """Raise unless *token* is that of the *current* claim, or `None`."""
    if token is not None and token != current:
        raise FencedError(session_id, token)


def check_checkpoint(
    session_id: object, deltas: Iterable[object], after: int | None, token: int | None
) -> tuple[DeltaEvent, ...]:
    """Check the arguments of `checkpoint` and return *deltas* as a tuple."""
    check_session_id(session_id)
    if after is not None:
        check_integer("after", after)
    if token is not None:
        check_integer("token", token)
    # The cast is checked by `tuple_of`.
    return cast("tuple[DeltaEvent, ...]", tuple_of(deltas, DELTA_EVENTS, "deltas", "a delta"))


def check_checkpoint_place(session_id: str, after: int | None, *, seq: int, pruned: int) -> int:
    """Return *after*, by default *seq*; raise unless the log has all records after it."""
    if seq == 0:
        raise StoreError(f"session {session_id!r} has no records, so no fragment of it is open")
    if after is None:
        return seq
    if after < pruned:
        raise PrunedError(session_id, after, pruned)
    if after > seq:
        check_expected_seq(session_id, after, seq)
    return after


def check_worker(worker: object, dead_after_s: float) -> None:
    """Check the arguments that `claim` and `take_over` share."""
    check_name("worker", worker)
    check_seconds("dead_after_s", dead_after_s)


def check_claim(claim: object) -> None:
    """Raise unless it is a claim."""
    if not isinstance(claim, Claim):
        raise TypeError(f"claim: expected Claim, got {type(claim).__name__}")


def check_sessions(owner: str | None, after: str | None, limit: int | None) -> tuple[datetime, str] | None:
    """Check the arguments of `sessions`, and return time and id of the session at the cursor *after*."""
    if owner is not None:
        check_name("owner", owner)
    if limit is not None:
        check_integer("limit", limit)
    if after is None:
        return None
    check_name("after", after)
    time, _, session_id = after.partition("_")
    try:
        return check_time(datetime.fromisoformat(time)), session_id
    except ValueError:
        raise ValueError(f"after: expected the cursor of a session, got {after!r}") from None


def check_time(at: object) -> datetime:
    """Return *at*; raise unless it is in UTC."""
    if not isinstance(at, datetime):
        raise TypeError(f"at: expected datetime, got {type(at).__name__}")
    if at.tzinfo is not UTC and at.utcoffset() != timedelta(0):
        raise ValueError(f"at: expected a datetime in UTC, got {at.isoformat()}")
    return at


def check_fork_ids(session_id: object, new_session_id: object, at: object) -> None:
    """Check the arguments of `fork`."""
    check_session_id(session_id)
    check_session_id(new_session_id)
    if at is not None:
        check_integer("at", at)


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


def _refusal(event: object) -> Exception:
    name = type(event).__name__
    if isinstance(event, LIVE_EVENTS):
        return LocalProtocolError(f"{name} is a live event and cannot be stored; append durable events only")
    return TypeError(f"events: expected durable events, got {name}")


_STORED = frozenset[type]((*DURABLE_EVENTS, UnknownEvent))
