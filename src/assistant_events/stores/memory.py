"""The reference: what a store promises, in a dictionary. Nothing outlives the process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from types import TracebackType
from typing import Self, final

from assistant_events.converters import dumps
from assistant_events.errors import ConflictError, PrunedError, StoreError
from assistant_events.events import Event, Record
from assistant_events.messages import Transcript
from assistant_events.stores.attention import Watch, of_concern, watch_from
from assistant_events.stores.contract import (
    SessionInfo,
    Unfinished,
    check_append,
    check_fork,
    check_fork_ids,
    check_meta,
    check_place,
    check_prune,
    check_read,
    check_session_id,
    check_snapshot,
    check_time,
    check_transcript,
    make_record,
    make_records,
    utc_now,
)
from assistant_events.stores.turns import Turn


@final
class MemoryStore:
    """
    A store that forgets everything when it is dropped. For tests, and as the reference of what a store does.

    It holds the events themselves, so equal media take the room of one where they are one object.
    """

    def __init__(self, *, clock: Callable[[], datetime] = utc_now) -> None:
        self._clock = clock
        self._turn = Turn()
        self._logs: dict[str, _Log] | None = {}

    def append(
        self,
        session_id: str,
        events: Iterable[Event],
        *,
        expected_seq: int | None = None,
        meta: Mapping[str, object] | None = None,
        at: datetime | None = None,
    ) -> tuple[Record, ...]:
        """See `Store.append`."""
        kept = check_append(session_id, events, expected_seq)
        for event in kept:
            dumps(event)  # what cannot be written down is refused here too
        frozen = check_meta(meta)

        def work() -> tuple[Record, ...]:
            log = self._log(session_id)
            seq = log.seq
            if expected_seq is not None and expected_seq != seq:
                raise ConflictError(session_id, expected_seq, seq)
            time = check_time(self._clock() if at is None else at)
            records = tuple(make_records(session_id, seq + 1, time, kept, frozen))
            if records:
                try:
                    log.watch.follow(of_concern(kept, seq + 1))
                except BaseException:  # Ctrl-C
                    log.watch = log.watch_of_records()
                    raise
                log.records += records
                log.updated = time
                if seq == 0:
                    log.created = time
                    self._open()[session_id] = log
            return records

        return self._turn.run(work)

    def read(self, session_id: str, after: int = 0, *, limit: int | None = None) -> Iterator[Record]:
        """See `Store.read`."""
        check_read(session_id, after, limit)

        def work() -> Iterator[Record]:
            log = self._log(session_id)
            if after < log.pruned:
                raise PrunedError(session_id, after, log.pruned)
            start = after - log.pruned
            return iter(log.records[start : None if limit is None else start + limit])

        return self._turn.run(work)

    def seq(self, session_id: str) -> int:
        """See `Store.seq`."""
        check_session_id(session_id)
        return self._turn.run(lambda: self._log(session_id).seq)

    def sessions(self) -> tuple[SessionInfo, ...]:
        """See `Store.sessions`."""
        found = self._turn.run(lambda: [log.info(session_id) for session_id, log in self._open().items()])
        return tuple(sorted(found, key=lambda info: info.updated, reverse=True))

    def snapshot(self, session_id: str, transcript: Transcript) -> None:
        """See `Store.snapshot`."""
        check_session_id(session_id)
        check_transcript(transcript)

        def work() -> None:
            log = self._log(session_id)
            check_snapshot(session_id, transcript.seq, seq=log.seq, held=log.held)
            log.snapshot = transcript

        self._turn.run(work)

    def load_snapshot(self, session_id: str) -> Transcript | None:
        """See `Store.load_snapshot`."""
        check_session_id(session_id)
        return self._turn.run(lambda: self._log(session_id).snapshot)

    def prune(self, session_id: str, through_seq: int) -> None:
        """See `Store.prune`."""
        check_session_id(session_id)
        check_place("through_seq", through_seq)

        def work() -> None:
            log = self._log(session_id)
            if through_seq > log.pruned:
                check_prune(session_id, through_seq, held=log.held)
                log.records = log.records[through_seq - log.pruned :]
                log.pruned = through_seq

        self._turn.run(work)

    def fork(self, session_id: str, new_session_id: str, *, at: int | None = None) -> int:
        """See `Store.fork`."""
        check_fork_ids(session_id, new_session_id, at)

        def work() -> int:
            log = self._log(session_id)
            place = check_fork(session_id, at, seq=log.seq, pruned=log.pruned, held=log.held)
            there = self._log(new_session_id).seq
            if there:
                raise ConflictError(new_session_id, 0, there)
            if place:
                forked = self._open()[new_session_id] = log.forked(new_session_id, place)
                forked.created = forked.updated = check_time(self._clock())
            return place

        return self._turn.run(work)

    def delete(self, session_id: str) -> None:
        """See `Store.delete`."""
        check_session_id(session_id)
        self._turn.run(lambda: self._open().pop(session_id, None))

    def unfinished(self, session_id: str | None = None) -> tuple[Unfinished, ...]:
        """See `Store.unfinished`."""
        if session_id is not None:
            check_session_id(session_id)

        def work() -> tuple[Unfinished, ...]:
            found: list[Unfinished] = []
            for name, log in self._open().items():
                if session_id is None or session_id == name:
                    found += log.watch.unfinished(name)
            return tuple(found)

        return self._turn.run(work)

    def close(self) -> None:
        """See `Store.close`."""

        def work() -> None:
            self._logs = None

        self._turn.run(work)

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> dict[str, _Log]:
        if self._logs is None:
            raise StoreError("the store is closed")
        return self._logs

    def _log(self, session_id: str) -> _Log:
        """Return the log, or an empty one that is not kept yet."""
        return self._open().get(session_id) or _Log()


@final
class _Log:
    __slots__ = ("created", "pruned", "records", "snapshot", "updated", "watch")

    created: datetime
    updated: datetime

    def __init__(self) -> None:
        self.pruned = 0
        self.records: list[Record] = []
        self.snapshot: Transcript | None = None
        self.watch = Watch({})

    @property
    def seq(self) -> int:
        return self.pruned + len(self.records)

    @property
    def held(self) -> int | None:
        return None if self.snapshot is None else self.snapshot.seq

    def info(self, session_id: str) -> SessionInfo:
        return SessionInfo(
            session_id=session_id, seq=self.seq, pruned_to=self.pruned, created=self.created, updated=self.updated
        )

    def forked(self, session_id: str, place: int) -> _Log:
        made = _Log()
        made.pruned = self.pruned
        made.records = [
            make_record(session_id, record.seq, record.at, record.event, record.meta)
            for record in self.records[: place - self.pruned]
        ]
        if self.snapshot is not None and self.snapshot.seq <= place:
            made.snapshot = self.snapshot
        made.watch = made.watch_of_records()
        return made

    def watch_of_records(self) -> Watch:
        """Return the marks that the records lead to."""
        events = ((record.seq, record.event) for record in self.records)
        return watch_from(self.snapshot if self.pruned else None, events)
