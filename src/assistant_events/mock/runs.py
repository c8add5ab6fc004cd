"""
Runs of a mock provider: the events of a response with their times, polls, cancellation and listeners.

The state of a run follows from the clock alone: it needs neither listeners nor a task. Creating, replaying and
resuming read the same events.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from math import inf
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from assistant_events.mock.clock import ProviderClock
from assistant_events.mock.documents import PreparedAnswer, fill, fill_frame, texts_of, token_count
from assistant_events.mock.faults import Fault, FaultBudget
from assistant_events.mock.fixtures import StreamError, Timing
from assistant_events.mock.signatures import make_signature
from assistant_events.mock.stream_actions import SendBytes, StopSending, StreamActions, WireFrame
from assistant_events.values import read_json

Body: TypeAlias = Mapping[str, Any]
"""A parsed request. `Any`: a client sent it."""

_PreparedT = TypeVar("_PreparedT", bound=PreparedAnswer)


class Run(ABC, Generic[_PreparedT]):
    """
    One response of the provider, whose *salt* distinguishes its signatures from those of others.

    The class of a dialect writes what it has of its own. *background*: it continues without its connection.
    *previous_id* is that of the run that the request continues.
    """

    HEAD_EVENTS: ClassVar[int] = 1
    """Number of events before those of the content."""

    MODEL: ClassVar[str] = ""
    """The model of an answer to a request that names none, as a lenient mock accepts."""

    done = b""
    """The bytes after the last event; empty when there are none."""

    def __init__(
        self,
        run_id: str,
        prepared: _PreparedT,
        body: Body,
        *,
        salt: bytes,
        clock: ProviderClock,
        faults: Iterable[Fault] = (),
        background: bool = False,
        previous_id: object = None,
    ) -> None:
        self.id = run_id
        self.prepared = prepared
        self.answer = prepared.answer
        self.body = body
        self.salt = salt
        self.frames = self.chosen_frames(prepared.frames, body)
        self.event_names = [frame.name for frame in self.frames]
        """The types of all events."""

        if self.answer.stream_error is not None:
            after = self.answer.stream_error.after
            self.event_names = [*self.event_names[: -1 if after is None else after], "error"]
        self.budget = FaultBudget(faults)
        self.background = background
        self.previous_id = previous_id
        self.started = clock.now()
        zombie = self.budget.named("zombie")
        self.is_zombie = zombie is not None
        self.created: datetime = clock.utc() - timedelta(seconds=0.0 if zombie is None else zombie.seconds or 0.0)
        self.cancelled_at: float | None = None
        self.streams = 0
        """Number of its open streams."""

        self._clock = clock
        self._listeners: set[Callable[[], None]] = set()
        self._polls = self.answer.polls_in_progress if background else 0
        self._queued = self._number("queued") if background else 0
        self._without_usage = self._number("no-usage")
        self._ended: datetime | None = None
        self.values: Mapping[str, Any] = {
            "id": run_id,
            **{name: make_signature(seals, salt, place) for name, (place, seals) in prepared.signed.items()},
            **self.own_values(),
        }
        """The values of this run for the marks."""

    def _number(self, name: str) -> int:
        """Return the number of a fault; 0 without that fault."""
        fault = self.budget.named(name)
        return 0 if fault is None else fault.events or 0

    # -- written by a dialect

    def chosen_frames(self, frames: Sequence[WireFrame], body: Body) -> Sequence[WireFrame]:
        """Return the frames that a request asks for; by default all of them."""
        return frames

    @staticmethod
    def input_tokens(body: Body) -> int:
        """Return the estimated tokens of a request: by default of its messages and what is before them."""
        return token_count(texts_of([body.get("system"), body.get("messages")]))

    @abstractmethod
    def own_values(self) -> dict[str, Any]:
        """Return the values of marks beside those of the id and of signatures."""

    @abstractmethod
    def error_frame(self) -> WireFrame:
        """Return the frame of the error that ends the stream."""

    @abstractmethod
    def status_update(self) -> bytes:
        """Return the frame that shows the run as running."""

    @property
    def stream_error(self) -> StreamError:
        """The error that ends the stream, of an answer that has one."""
        error = self.answer.stream_error
        assert error is not None, "the answer has no error"
        return error

    @property
    def final_status(self) -> str:
        """The status after the end."""
        return "completed"

    # -- its events and its document

    def event(self, number: int) -> WireFrame:
        """Return the frame of an event."""
        if self.answer.stream_error is not None and number == len(self.event_names) - 1:
            return self.error_frame()
        name, data = self.frames[number]
        return WireFrame(name, fill_frame(self.prepared.emitter.decoder.framing, data, self.values))

    def end(self) -> WireFrame:
        """Return the frame of the end, also of a run that was cancelled."""
        return self.event(len(self.event_names) - 1)

    def whole(self) -> dict[str, Any]:
        """Return the answer as one document."""
        document: dict[str, Any] = read_json(fill(self.prepared.document, self.values))
        return document

    # -- its state

    def ends_at(self) -> float:
        """Return when the last event is due; never for a zombie."""
        return inf if self.is_zombie else self.times()[-1]

    def is_over(self) -> bool:
        """Return whether it has ended, by itself or because it was cancelled."""
        if self.cancelled_at is not None:
            return True
        return self._polls <= 0 and self._queued <= 0 and self._clock.now() >= self.ends_at()

    def first_status(self) -> str:
        """Return the status of a background run in the answer to its request."""
        return "queued" if self._queued > 0 else "in_progress"

    def poll(self) -> str:
        """Return the status for one request, and count it: a run may be `in_progress` for a number of them."""
        if self.is_over():
            return self.final_status
        if self._queued > 0:
            self._queued -= 1
            return "queued"
        self._polls -= 1
        return "in_progress"

    def cancel(self) -> None:
        """End it now unless it has ended, and its open streams."""
        if not self.is_over():
            self.cancelled_at = self._clock.now()
            self.notify()

    def delivered(self) -> None:
        """Record that a stream has sent the end: later polls do not show the run as running."""
        self._polls = self._queued = 0

    def updated(self, status: str) -> datetime:
        """Return the time of the last change."""
        if status in ("in_progress", "queued"):
            return self.created
        if self._ended is None:
            self._ended = self._clock.utc()
        return self._ended

    def takes_usage(self) -> bool:
        """Return whether a document has the usage, and count it: the first few may lack it."""
        self._without_usage -= 1
        return self._without_usage < 0

    # -- its listeners

    @contextmanager
    def listening(self, changed: asyncio.Event) -> Generator[None]:
        """Set *changed* in the running loop when the run changes, until the end of the block."""
        loop = asyncio.get_running_loop()

        def listener() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(changed.set)

        self._listeners.add(listener)
        try:
            yield
        finally:
            self._listeners.discard(listener)

    def notify(self) -> None:
        """Call all listeners."""
        for listener in tuple(self._listeners):
            listener()

    # -- its stream

    def actions(self, *, after: int = 0) -> StreamActions:
        """
        Yield its events after a number of them, each with the time when it is due, then the bytes after the last.

        A zombie stops after its head. The end of a run that is cancelled later is `cancellation`.
        """
        times = self.times()
        for number in range(after, self.event_count(times)):
            yield SendBytes(times[number], *self.event(number))
        if self.cancelled_at is not None:
            yield from self.cancellation()
        elif self.is_zombie:
            yield StopSending(self.started, wakes=True)
        elif self.done:
            yield SendBytes(times[-1], "", self.done)

    def cancellation(self) -> StreamActions:
        """Yield the end of a stream of a run that was cancelled."""
        at = self.cancelled_at or 0.0
        yield SendBytes(at, *self.end())
        if self.done:
            yield SendBytes(at, "", self.done)

    def times(self) -> list[float]:
        """Return when each event is due, on the provider's clock."""
        return [self.started + at for at in _offsets(self.answer.timing, len(self.event_names))]

    def event_count(self, times: Sequence[float]) -> int:
        """Return the number of its events, without the end of a run that was cancelled."""
        count = len(times)
        if self.cancelled_at is not None:
            count = min(bisect_right(times, self.cancelled_at), count - 1)
        return min(count, self.HEAD_EVENTS) if self.is_zombie else count


_RunT = TypeVar("_RunT", bound=Run[Any])


class RunStore(Generic[_RunT]):
    """
    The runs that are kept; beyond its limits the oldest are removed.

    Runs with an open stream stay. The size of a run is that of its request; the answers are shared.
    """

    def __init__(self, max_runs: int, max_bytes: int) -> None:
        self._max_runs = max_runs
        self._max_bytes = max_bytes
        self._runs: OrderedDict[str, tuple[_RunT, int]] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[_RunT]:
        return (run for run, _ in self._runs.values())

    def get(self, run_id: str) -> _RunT | None:
        """Return a run; `None` when there is none of this id, or no longer."""
        found = self._runs.get(run_id)
        return None if found is None else found[0]

    def add(self, run: _RunT, size: int) -> None:
        """Keep a run whose request had *size* bytes; one of the same id is replaced."""
        self.remove(run.id)
        self._runs[run.id] = (run, size)
        self._bytes += size
        while len(self._runs) > self._max_runs or self._bytes > self._max_bytes:
            old = next((each for each in self if each is not run and not each.streams), None)
            if old is None:
                return
            self.remove(old.id)

    def remove(self, run_id: str) -> None:
        """Remove a run, if there is one."""
        found = self._runs.pop(run_id, None)
        if found is not None:
            self._bytes -= found[1]

    def chain(self, run_id: object) -> list[_RunT]:
        """Return the runs that a request continues, oldest first, up to *run_id*."""
        found: OrderedDict[str, _RunT] = OrderedDict()
        while isinstance(run_id, str) and run_id not in found:
            run = self.get(run_id)
            if run is None:
                break
            found[run_id] = run
            run_id = run.previous_id
        return list(reversed(found.values()))


def _offsets(timing: Timing, count: int) -> Iterator[float]:
    """Yield when each event is due, in seconds after the request."""
    at = timing.first_byte_s
    for number in range(count):
        if number < len(timing.waits_s):
            at += timing.waits_s[number]
        elif number:
            at += timing.between_s
        yield at
