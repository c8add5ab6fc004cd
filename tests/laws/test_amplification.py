"""
Law 3: what is written for a stream is bounded by what came of it, whatever its frames are.
"""

import os
from random import Random

import pytest

from assistant_events.adapters import dialect_names
from assistant_events.converters import dumps
from tests.fuzz.growing import GROWING, body_of, decoded
from tests.fuzz.seeds import made_up, samples

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"

FACTOR = 8
"""Bytes written for a byte read: an id, a name or an input may stand in each event of its call."""

PER_FRAME = 512
"""Bytes of the events that a frame causes, without what came in it."""


def written(body):
    """
    Return how many bytes the durable events of a stream take.
    """
    return size_of(decoded(body))


def size_of(events):
    """
    Return how many bytes the durable events take.
    """
    return sum(len(dumps(event)) for event in events if event.durable)


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


@pytest.mark.parametrize("name", dialect_names())
def test_so_it_is_for_streams_that_are_made_up(name):
    """
    So it is for streams of any dialect that are put together from its frames or words, and damaged.
    """
    streams = {seed: made_up(name, Random(seed)) for seed in range(4000 if THOROUGH else 80)}

    assert [] == [
        seed
        for seed, stream in streams.items()
        if size_of(stream.decode()[0]) > FACTOR * len(stream.body) + PER_FRAME * (stream.frames + 1)
    ]


@pytest.mark.parametrize("name", dialect_names())
def test_what_is_written_grows_with_the_frames(name):
    """
    A frame of any dialect that comes again and again causes no more each time.
    """
    for sample in samples(name).values():
        frames = [(frame.name, frame.payload.decode("utf-8", "replace")) for frame in sample.frames]
        for at in range(len(frames)) if THOROUGH else [Random(sample.name).randrange(len(frames))]:
            sizes = [
                size_of(sample.decode([sample.written([*frames[:at], *[frames[at]] * count, *frames[at:]])]))
                for count in (40, 80, 120)
            ]
            assert sizes[2] - sizes[1] <= 1.25 * (sizes[1] - sizes[0]) + PER_FRAME, (sample.name, at)
