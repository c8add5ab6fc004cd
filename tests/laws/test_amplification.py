"""
Law 3: what is written for a stream is bounded by what came of it, whatever its frames are.
"""

import pytest

from assistant_events.converters import dumps
from tests.fuzz.generated import Random, stream
from tests.fuzz.growing import GROWING, body_of, decoded

FACTOR = 8
"""Bytes written for a byte read: an id, a name or an input may stand in each event of its call."""

PER_FRAME = 512
"""Bytes of the events that a frame causes, without what came in it."""


def written(body):
    """
    Return how many bytes the durable events of a stream take.
    """
    return sum(len(dumps(event)) for event in decoded(body) if event.durable)


def bound(body):
    """
    Return how many bytes may be written for a stream.
    """
    return FACTOR * len(body) + PER_FRAME * body.count(b"data:")


@pytest.mark.parametrize("ended", [True, False], ids=["ended", "cut"])
@pytest.mark.parametrize("family", GROWING)
def test_what_is_written_is_bounded_by_what_was_read(family, ended):
    """
    The durable events take a few times the bytes that came, and no more for each byte when ten times as many come.
    """
    body, longer = body_of(family, 40, ended=ended), body_of(family, 400, ended=ended)
    size, longer_size = written(body), written(longer)

    assert size <= bound(body)
    assert longer_size <= bound(longer)
    assert longer_size / len(longer) <= 1.25 * size / len(body)


@pytest.mark.parametrize("start", range(0, 400, 40))
def test_so_it_is_for_streams_that_are_made_up(start):
    """
    So it is for streams that are put together from all words of the wire, and damaged.
    """
    bodies = [stream(Random(seed)) for seed in range(start, start + 40)]

    assert [] == [seed for seed, body in enumerate(bodies, start) if written(body) > bound(body)]
