"""What the converters add to the JSON library below them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from assistant_events import AssistantMessage, Event
from assistant_events.converters import dumps, loads
from benchmarks.answers import ANSWERS
from benchmarks.decode import consume
from benchmarks.events import mixed
from benchmarks.measure import Figure, Settings, compare, ratio_figure
from benchmarks.wire import in_chunks, interactions


def converters_event(settings: Settings) -> Iterator[Figure]:
    """
    What does it cost to write an event as JSON and to read it back, as a multiple of orjson on the same documents?

    2,000 events of thirteen kinds, with 5 to 7 fields each. orjson writes and reads plain dicts; the converters write
    and read checked immutable objects.
    """
    events = mixed(settings.scaled(2_000))
    return _dump_and_load(events, Event, settings, goals=(5.0, 3.5))


def converters_message(settings: Settings) -> Iterator[Figure]:
    """
    What does it cost to write a whole message as JSON and to read it back, as a multiple of orjson on the same
    document?

    The message of the `steps` stream: 300 parts, a third of them with a signature of 600 characters.
    """
    answer = ANSWERS["steps"](settings.scale)
    message = consume(in_chunks(interactions(answer)))
    return _dump_and_load([message], AssistantMessage, settings, goals=(4.5, 4.0))


def _dump_and_load(
    values: Sequence[Event | AssistantMessage], kind: Any, settings: Settings, *, goals: tuple[float, float]
) -> Iterator[Figure]:
    # Any: a class or a union of classes, which has no type of its own.
    written = [dumps(value) for value in values]
    documents = [orjson.loads(data) for data in written]
    assert [loads(data, kind) for data in written] == list(values), "what was written does not read back as equal"
    fields = sum(map(len, documents)) / len(documents)
    size = sum(map(len, written)) / len(written)
    # Nothing is kept: orjson makes room for a kilobyte at first, and to keep thousands of those tires the allocator.
    drop = deque[object](maxlen=0).extend
    sides = {
        "dump": (
            lambda: drop(dumps(value) for value in values),
            lambda: drop(orjson.dumps(document) for document in documents),
        ),
        "load": (
            lambda: drop(loads(data, kind) for data in written),
            lambda: drop(orjson.loads(data) for data in written),
        ),
    }
    for (case, (ours, theirs)), goal in zip(sides.items(), goals, strict=True):
        comparison = compare(ours, theirs, settings)
        each = comparison.candidate_s / len(values) * 1e6
        detail = f"{len(values):,} of {fields:.1f} fields and {size:,.0f} bytes on average, {each:.2f} us each"
        yield ratio_figure(case, comparison, goal=goal, detail=detail)
