"""
How figures are taken.

A ratio is taken in one process: both sides run alternately, each sample repeats its side until it lasts long enough,
and each pair of samples gives one ratio; the median of those is the figure. Time is CPU time, so that a busy machine
disturbs less. Rubbish is collected before each sample, so that neither side pays for the other's.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from math import ceil, log
from pathlib import Path
from statistics import fmean, median
from time import process_time
from typing import Any, TypeAlias

import attrs

Side: TypeAlias = Callable[[], object]
Clock: TypeAlias = Callable[[], float]


@attrs.frozen
class Settings:
    """How thoroughly to measure."""

    repeats: int = 11
    """Samples of each side."""

    sample_s: float = 0.05
    """How long one sample lasts at least."""

    scale: float = 1.0
    """Size of what is measured; 1.0 is the size that the questions state."""

    def fewer(self) -> Settings:
        """Return the same with half the samples, for what takes seconds."""
        return attrs.evolve(self, repeats=max(1, self.repeats // 2))

    def scaled(self, count: int) -> int:
        """Return *count* at this scale, 1 at least."""
        return max(1, round(count * self.scale))


QUICK = Settings(repeats=3, sample_s=0.02)


@attrs.frozen
class Comparison:
    """What one side costs as a multiple of the other."""

    ratios: tuple[float, ...]
    """One for each pair of samples."""

    candidate_s: float
    """Median CPU time of one run."""

    reference_s: float

    @property
    def ratio(self) -> float:
        """The median."""
        return median(self.ratios)


@attrs.frozen
class Figure:
    """One answer to a benchmark's question."""

    case: str
    """Which of its figures; a key of the JSON."""

    value: float

    goal: float | None = None
    """The most that is wanted; `None` when nothing was promised."""

    unit: str = "x"
    """`x` for a ratio."""

    samples: tuple[float, ...] = ()
    """The single measurements that the value is the median of; empty when it was taken once."""

    detail: str = ""
    """Size of what was measured and absolute costs, for people."""

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; `None` without a goal."""
        return None if self.goal is None else self.value <= self.goal


@attrs.frozen
class Note:
    """Something that a reader of the table has to know, such as what was not measured and why."""

    text: str


def compare(candidate: Side, reference: Side, settings: Settings, *, clock: Clock = process_time) -> Comparison:
    """Run both sides alternately and return what *candidate* costs as a multiple of *reference*."""
    sides = (candidate, reference)
    loops = [_loops(side, settings.sample_s, clock) for side in sides]
    samples: tuple[list[float], list[float]] = ([], [])
    for repeat in range(settings.repeats):
        # The order alternates too: a clock speed that drifts then favours neither.
        for which in (0, 1) if repeat % 2 == 0 else (1, 0):
            gc.collect()
            samples[which].append(_sample(sides[which], loops[which], clock))
    ratios = tuple([mine / theirs for mine, theirs in zip(*samples, strict=True)])
    return Comparison(ratios, median(samples[0]), median(samples[1]))


def ratio_figure(case: str, comparison: Comparison, *, goal: float | None = None, detail: str = "") -> Figure:
    """Return the figure that a comparison gives."""
    return Figure(case, comparison.ratio, goal, samples=comparison.ratios, detail=detail)


def measure_apart(module: str, question: Mapping[str, object], settings: Settings, *, path: str = "") -> list[Figure]:
    """
    Return the figures that *module* prints (`print_figures`) for *question*, in a process of its own.

    Args:
        module: Is run with one argument, the question as JSON with `settings` in it.

        question: Plain JSON.

        settings: For the other process.

        path: Directory whose packages it prefers.

    Raises:
        CalledProcessError: The process failed.
    """
    done = subprocess.run(
        [sys.executable, "-m", module, json.dumps({**question, "settings": attrs.asdict(settings)})],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        check=True,
        text=True,
    )
    return [Figure(**figure | {"samples": tuple(figure["samples"])}) for figure in json.loads(done.stdout)]


def asked() -> tuple[dict[str, Any], Settings]:
    """Return the question of `measure_apart`, in the process that answers it."""
    # Any: plain JSON.
    question: dict[str, Any] = json.loads(sys.argv[1])
    return question, Settings(**question.pop("settings"))


def print_figures(figures: Iterable[Figure]) -> None:
    """Answer `measure_apart`."""
    print(json.dumps([attrs.asdict(figure) for figure in figures]))


def exponent(costs: dict[int, float]) -> float:
    """Return *e* of the curve `cost = c * size ** e` that fits best: 1.0 is linear, 2.0 quadratic."""
    sizes = [log(size) for size in costs]
    logs = [log(cost) for cost in costs.values()]
    size_mean, log_mean = fmean(sizes), fmean(logs)
    spread = sum((size - size_mean) ** 2 for size in sizes)
    return sum((size - size_mean) * (cost - log_mean) for size, cost in zip(sizes, logs, strict=True)) / spread


class Memory:
    """What `tracing` saw, in bytes; complete when its block has ended."""

    kept: int = 0
    """Made inside and still there at the end."""

    peak: int = 0
    """The most that was there at once."""


@contextmanager
def tracing() -> Generator[Memory]:
    """Trace the allocations of the block; what existed before does not count."""
    memory = Memory()
    gc.collect()
    tracemalloc.start()
    try:
        yield memory
        memory.peak = tracemalloc.get_traced_memory()[1]
        gc.collect()
        memory.kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def _loops(side: Side, sample_s: float, clock: Clock) -> int:
    started = clock()
    side()
    once = clock() - started
    return max(1, min(10_000, ceil(sample_s / once))) if once > 0 else 10_000


def _sample(side: Side, loops: int, clock: Clock) -> float:
    started = clock()
    for _ in range(loops):
        side()
    return (clock() - started) / loops
