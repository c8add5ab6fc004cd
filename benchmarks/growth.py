"""Whether long streams cost more for each delta than short ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import attrs

from assistant_events.adapters import load_dialect
from benchmarks.answers import Answer, long_text, long_tool_input
from benchmarks.decode import check_message, compare_with_limit, consume
from benchmarks.dialects import WIRES, limit_of
from benchmarks.measure import Figure, Settings, compare, exponent, ratio_figure
from benchmarks.wire import in_chunks, interactions

SIZES = (1_000, 10_000, 100_000, 1_000_000)
_QUOTIENT_GOAL = 1.0
_DIALECT_GOAL = 1.1
_EXPONENT_GOAL = 1.08


def growth(settings: Settings) -> Iterator[Figure]:
    """
    Does the cost of a delta stay the same from a thousand of them to a million?

    One text, and the input of one call (a file in ASCII, 50 characters a fragment), in chunks of 16 KiB. At each size
    the cost over the limit; then the quotient of the largest and the smallest, and the exponent of CPU time over size.
    The quotient is what to judge by: caches and pages make the limit itself dearer by the byte as streams grow.
    """
    yield from _of_kind("text", long_text, settings)
    yield from _of_kind("tool_input", long_tool_input, settings)


def dialects_growth(settings: Settings) -> Iterator[Figure]:
    """
    Does it in the wire of each dialect?

    One text with the noise of its recordings, in chunks of 16 KiB: the cost over the limit at a million deltas, divided
    by that at a thousand.
    """
    for name, write in WIRES.items():
        dialect, parse = load_dialect(name), limit_of(name)
        ratios: list[float] = []
        for size in (SIZES[0], SIZES[-1]):
            chunks = in_chunks(write(long_text(settings.scaled(size))))
            few = settings if size == SIZES[0] else attrs.evolve(settings, repeats=min(3, settings.repeats))
            ratios.append(compare(partial(consume, chunks, dialect), partial(parse, b"".join(chunks)), few).ratio)
        yield Figure(
            f"{name}/quotient", ratios[1] / ratios[0], _DIALECT_GOAL, detail=f"{ratios[1]:.2f} over {ratios[0]:.2f}"
        )


def _of_kind(kind: str, make: Callable[[int], Answer], settings: Settings) -> Iterator[Figure]:
    ratios: dict[int, float] = {}
    costs: dict[int, float] = {}
    limits: dict[int, float] = {}
    for size in SIZES:
        deltas = settings.scaled(size)
        answer = make(deltas)
        chunks = in_chunks(interactions(answer))
        check_message(answer, consume(chunks))
        comparison = compare_with_limit(chunks, settings if size <= 100_000 else settings.fewer())
        ratios[deltas], costs[deltas], limits[deltas] = comparison.ratio, comparison.candidate_s, comparison.reference_s
        per_delta = comparison.candidate_s / deltas * 1e6
        yield ratio_figure(f"{kind}_{size}", comparison, detail=f"{deltas:,} deltas, {per_delta:.2f} us a delta")
    first, last = min(ratios), max(ratios)
    yield Figure(
        f"{kind}_quotient", ratios[last] / ratios[first], _QUOTIENT_GOAL, detail=f"{last:,} deltas over {first:,}"
    )
    yield Figure(
        f"{kind}_exponent",
        exponent(costs),
        _EXPONENT_GOAL,
        unit="exponent",
        detail=f"1 is linear; the limit itself {exponent(limits):.3f}",
    )
