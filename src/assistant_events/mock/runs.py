"""
Runs of a mock provider: each has its events, their times, and what became of it.

What a run has brought so far follows from the clock alone: it goes on whether anybody listens or not, and no task
stands behind it. Creating, replaying and resuming read the same events.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from math import inf
from typing import Any, Final, Literal, TypeAlias, cast

import attrs

from assistant_events.adapters.gemini_interactions.statuses import interaction
from assistant_events.adapters.gemini_interactions.step_stream import cursor, sse
from assistant_events.adapters.gemini_interactions.wire_versions import Version1Stream, version_1
from assistant_events.mock.clock import ProviderClock
from assistant_events.mock.echo import user_inputs
from assistant_events.mock.faults import Fault, Reach
from assistant_events.mock.fixtures import StreamError
from assistant_events.mock.frames import (
    DONE,
    Document,
    Prepared,
    offsets,
    signed,
    signed_bytes,
    texts_of,
    usage_of,
    with_cursor,
)
from assistant_events.mock.stream_actions import SendBytes, StopSending, StreamAction, StreamActions
from assistant_events.mock.validation import Body, is_stored
from assistant_events.values import read_json, thaw

EventIds: TypeAlias = Literal["background", "all", "some", "none"]
"""Which events carry a cursor: those of background runs (as the service), of all runs, every second one, none."""

_HEAD: Final = 2
"""Events before the first of a step: created and status_update."""


class FaultBudget:
    """Faults, and how often each of them may still strike."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self.faults = tuple(faults)
        self._left = [inf if fault.times is None else fault.times for fault in self.faults]

    def take_due(self, *reaches: Reach, name: str | None = None, route: str | None = None) -> list[Fault]:
        """Return the faults that strike now, and count that they did."""
        found: list[Fault] = []
        for place, fault in enumerate(self.faults):
            fits = fault.kind.reach in reaches and name in (None, fault.name)
            if fits and route is not None and isinstance(fault.at, str):
                fits = fault.at in (route, "any")
            if fits and self._left[place] > 0:
                self._left[place] -= 1
                found.append(fault)
        return found

    def named(self, name: str) -> Fault | None:
        """Return the fault of that name, whether it still strikes or not; `None` when there is none."""
        return next((fault for fault in self.faults if fault.name == name), None)


class Run:
    """
    One interaction.

    Args:
        run_id: Its id, also when it is not stored.

        prepared: What it answers.

        body: The request.

        salt: Of its signatures, so that those of two runs differ.

        clock: Of the provider.

        faults: What goes wrong with it.

        event_ids: Which events carry a cursor.
    """

    def __init__(
        self,
        run_id: str,
        prepared: Prepared,
        body: Body,
        *,
        salt: bytes,
        clock: ProviderClock,
        faults: Iterable[Fault] = (),
        event_ids: EventIds = "background",
    ) -> None:
        self.id = run_id
        self.prepared = prepared
        self.body = body
        self.strikes = FaultBudget(faults)
        self.stored = is_stored(body)
        self.background = body.get("background") is True
        self.started = clock.now()
        zombie = self.strikes.named("zombie")
        self.is_zombie = zombie is not None
        age = timedelta(seconds=0.0 if zombie is None or zombie.seconds is None else zombie.seconds)
        self.created: datetime = clock.utc() - age
        self.cancelled_at: float | None = None
        self.streams = 0
        """How many streams of it are open."""

        self.signatures = prepared.signatures(salt)
        self._clock = clock
        self._event_ids: EventIds = event_ids
        self._listeners: set[Callable[[], None]] = set()
        self._polls = prepared.answer.polls_in_progress if self.background else 0
        queued = self.strikes.named("queued")
        self._queued = (queued.events or 0) if queued is not None and self.background else 0
        no_usage = self.strikes.named("no-usage")
        self._without_usage = (no_usage.events or 0) if no_usage is not None else 0
        self._updated: datetime | None = None

    # -- what it is now

    @property
    def steps(self) -> list[Document]:
        """All steps of the answer, signed, as generation 2.x has them."""
        return signed(dict(enumerate(self.prepared.steps)), self.signatures)

    @property
    def token(self) -> str | None:
        """The continuation token that it ends with; `None` when it has none."""
        return self.prepared.answer.continuation_token

    def ends_at(self) -> float:
        """Return when the last of its events is there; never for a zombie."""
        return inf if self.is_zombie else self._times()[-1]

    def is_over(self) -> bool:
        """Tell whether it has come to its end, by itself or because it was cancelled."""
        if self.cancelled_at is not None:
            return True
        return self._polls <= 0 and self._queued <= 0 and self._clock.now() >= self.ends_at()

    def first_status(self) -> str:
        """Return the status that a background run is created with."""
        return "queued" if self._queued > 0 else "in_progress"

    def poll(self) -> str:
        """Return its status as one request for it sees it; a run may stay `in_progress` for a number of them."""
        if self.is_over():
            return self._final_status()
        if self._queued > 0:
            self._queued -= 1
            return "queued"
        self._polls -= 1
        return "in_progress"

    def cancel(self) -> None:
        """End it here, if it has not ended; open streams say so."""
        if not self.is_over():
            self.cancelled_at = self._clock.now()
            self.notify()

    def delivered(self) -> None:
        """Say that a stream has brought the end: nobody is told `in_progress` after that."""
        self._polls = self._queued = 0

    # -- who waits for it

    def listen(self, loop: asyncio.AbstractEventLoop, changed: asyncio.Event) -> Callable[[], None]:
        """Set *changed* in *loop* when something becomes of the run. Returns what ends that."""

        def tell() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(changed.set)

        self._listeners.add(tell)
        return lambda: self._listeners.discard(tell)

    def notify(self) -> None:
        """Wake whoever waits for it."""
        for tell in tuple(self._listeners):
            tell()

    # -- as a stream

    def moves(self, *, after: int = 0) -> StreamActions:
        """
        Yield its events in their order, those that are still to come with the time when they will, then `[DONE]`.

        A zombie hangs after its first two. The end of a run that is cancelled later is `cancellation`.

        Args:
            after: How many events the reader has.
        """
        yield from self._events(after)
        if self.cancelled_at is not None:
            yield from self.cancellation()
        elif self.is_zombie:
            yield StopSending(self.started, wakes=True)
        else:
            yield SendBytes(self._times()[-1], "", DONE)

    def _events(self, after: int) -> Iterator[SendBytes]:
        """Yield its events without the end that a cancellation is."""
        times = self._times()
        error = self.prepared.answer.stream_error
        for number in range(after, self._count(times)):
            if number == len(times) - 1:
                name, data = self._lifecycle("completed") if error is None else self._error_event(error)
            elif number == 0:
                name, data = self._lifecycle("created")
            elif number == 1:
                name, data = self._status_update()
            else:
                frame = self.prepared.frames[number - _HEAD]
                name, data = frame.name, frame.data
                if frame.is_signed:
                    data = signed_bytes(data, self.signatures)
            yield SendBytes(times[number], name, self._with_cursor(name, data, number))

    def _count(self, times: Sequence[float]) -> int:
        """Return how many events it has, up to where it was cancelled."""
        count = len(times)
        if self.cancelled_at is not None:
            count = min(bisect_right(times, self.cancelled_at), count - 1)
        return min(count, _HEAD) if self.is_zombie else count

    def cancellation(self) -> Iterable[StreamAction]:
        """Return what ends a stream of a run that was cancelled."""
        at = self.cancelled_at or 0.0
        name, data = self._lifecycle("completed")
        return [SendBytes(at, name, data), SendBytes(at, "", DONE)]

    def status_update(self) -> bytes:
        """Return the frame of its second event, with which it says that it goes on."""
        return self._with_cursor(*self._status_update(), 1)

    def place_of(self, event_id: str) -> int | None:
        """Return how many events come up to the one with this cursor, itself included; `None` when none has it."""
        for number, name in enumerate(self._names()):
            if self._has_cursor(number) and cursor(name, number) == event_id:
                return number + 1
        return None

    # -- as a document

    def resource(self, status: str, *, with_input: bool = False) -> Document:
        """
        Return it as JSON.

        Args:
            status: As it is shown; the answer is in there once the run is over.

            with_input: Put the prompt before the answer, as GET does.
        """
        document = self._head(status)
        if not self.stored:
            del document["id"]
        previous = self.body.get("previous_interaction_id")
        if previous:
            document["previous_interaction_id"] = previous
        over = status not in ("in_progress", "queued")
        if over or with_input:
            steps = self._steps_so_far() if over else []
            document["steps"] = [*(user_inputs(self.body.get("input")) if with_input else ()), *steps]
        if over:
            document |= self._ending(with_usage=self._shows_usage() if with_input else True)
        return version_1(document) if over and _answers_outputs(self.body) else document

    def _steps_so_far(self) -> list[Document]:
        if self.cancelled_at is None:
            return self.steps
        return signed(self.prepared.steps_of(max(self._count(self._times()) - _HEAD, 0)), self.signatures)

    def _shows_usage(self) -> bool:
        """Tell whether this GET has usage; the first few may lack it."""
        self._without_usage -= 1
        return self._without_usage < 0

    # -- details

    def _times(self) -> list[float]:
        """Return when each event but `[DONE]` is there, on the provider's clock."""
        return [self.started + at for at in offsets(self.prepared.answer.timing, len(self._names()))]

    def _names(self) -> list[str]:
        frames = [frame.name for frame in self.prepared.frames]
        names = ["interaction.created", "interaction.status_update", *frames]
        error = self.prepared.answer.stream_error
        return [*names, "interaction.completed"] if error is None else [*names[: error.after], "error"]

    def _final_status(self) -> str:
        if self.cancelled_at is not None:
            return "cancelled"
        return "failed" if self.prepared.answer.stream_error is not None else self.prepared.status

    def _lifecycle(self, moment: Literal["created", "completed"]) -> tuple[str, bytes]:
        document = self._head("in_progress" if moment == "created" else self._final_status())
        if not self.stored:
            document["id"] = ""
        if moment == "completed":
            document |= self._ending(with_usage=True)
        elif not self.background:
            del document["created"], document["updated"]
        name = f"interaction.{moment}"
        return name, sse({"interaction": document, "event_type": name})

    def _status_update(self) -> tuple[str, bytes]:
        name = "interaction.status_update"
        return name, sse(
            {"interaction_id": self.id if self.stored else "", "status": "in_progress", "event_type": name}
        )

    def _error_event(self, error: StreamError) -> tuple[str, bytes]:
        return "error", sse({"error": {"code": error.code, "message": error.message}, "event_type": "error"})

    def _head(self, status: str) -> Document:
        named = "agent" if self.body.get("agent") else "model"
        return interaction(
            self.id,
            status,
            self.body.get(named) or "unknown",
            is_agent=named == "agent",
            fields={"created": _iso(self.created), "updated": _iso(self._updated_at(status))},
            environment_id=self.prepared.answer.more.get("environment_id"),
        )

    def _updated_at(self, status: str) -> datetime:
        if status in ("in_progress", "queued"):
            return self.created
        if self._updated is None:
            self._updated = self._clock.utc()
        return self._updated

    def _ending(self, *, with_usage: bool) -> Document:
        answer = self.prepared.answer
        ending: Document = thaw(answer.more)
        error = answer.stream_error
        if error is not None:
            ending["errors"] = [{"code": error.code, "message": error.message}]
        if answer.continuation_token is not None and self.cancelled_at is None:
            ending["continuation_token"] = answer.continuation_token
        if self.cancelled_at is not None:
            # Of an answer that was not finished, neither the numbers of a fixture nor its whole text are true.
            answer = attrs.evolve(answer, usage=None, steps=self._steps_so_far())
        if with_usage:
            ending["usage"] = usage_of(answer, texts_of(self.body.get("input")))
        return ending

    def _has_cursor(self, number: int) -> bool:
        if self._event_ids == "background":
            return self.background
        return self._event_ids == "all" or (self._event_ids == "some" and number % 2 == 0)

    def _with_cursor(self, name: str, data: bytes, number: int) -> bytes:
        return with_cursor(data, name, number) if self._has_cursor(number) else data


class RunStore:
    """
    The runs that are kept, the oldest given up first.

    Runs with an open stream stay. What a run needs is counted as the size of its request; the answers are shared.

    Args:
        max_runs: How many are kept.

        max_bytes: How many bytes of requests are kept.
    """

    def __init__(self, max_runs: int, max_bytes: int) -> None:
        self._max_runs = max_runs
        self._max_bytes = max_bytes
        self._runs: OrderedDict[str, tuple[Run, int]] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter([run for run, _ in self._runs.values()])

    def get(self, run_id: str) -> Run | None:
        """Return a run; `None` when there is none of this id, or no more."""
        found = self._runs.get(run_id)
        return None if found is None else found[0]

    def add(self, run: Run, size: int) -> None:
        """Keep a run whose request had *size* bytes; one of the same id is replaced."""
        self.remove(run.id)
        self._runs[run.id] = (run, size)
        self._bytes += size
        if len(self._runs) > self._max_runs or self._bytes > self._max_bytes:
            self._evict(run)

    def remove(self, run_id: str) -> None:
        """Forget a run, if there is one."""
        found = self._runs.pop(run_id, None)
        if found is not None:
            self._bytes -= found[1]

    def chain(self, run_id: object) -> list[Run]:
        """Return the runs that `previous_interaction_id` joins, oldest first, up to *run_id*."""
        found: OrderedDict[str, Run] = OrderedDict()
        while isinstance(run_id, str) and run_id not in found:
            run = self.get(run_id)
            if run is None:
                break
            found[run_id] = run
            run_id = run.body.get("previous_interaction_id")
        return list(reversed(found.values()))

    def _evict(self, newest: Run) -> None:
        for run_id, (run, _) in tuple(self._runs.items()):
            if len(self._runs) <= self._max_runs and self._bytes <= self._max_bytes:
                return
            if run is not newest and not run.streams:
                self.remove(run_id)


def version_1_moves(moves: Iterable[StreamAction], after: int) -> StreamActions:
    """Yield what generation 1.x has for all *moves* of a run, without what *after* events of it have become."""
    stream = Version1Stream()
    for number, move in enumerate(moves):
        sent: list[StreamAction] = [move]
        if isinstance(move, SendBytes) and move.name:
            event = cast("Document", read_json(move.data.partition(b"data: ")[2]))
            sent = [SendBytes(move.at, frame["event_type"], sse(frame), move.wakes) for frame in stream.write(event)]
        if number >= after:
            yield from sent


def _answers_outputs(body: Mapping[str, Any]) -> bool:
    """Tell whether a model still answers with `outputs` inside of a 2.x resource (google-genai 2.19 and 3.4)."""
    return str(body.get("model", "")).startswith("lyria-3-")


def _iso(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")
