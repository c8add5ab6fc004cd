"""
What must hold for every adapter, on every shape of the Converse wire.
"""

import pytest

from assistant_events.testing import check_adapter

from .notation import DIALECT, REQUEST, events
from .samples import SAMPLES


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_hold_what_every_adapter_must(name):
    """
    Every sample is legal, cut and joined anywhere, and survives damage.
    """
    check_adapter(DIALECT, {name: SAMPLES[name]}, request=REQUEST, mutations=20, every_position=300)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_fast_path(name):
    """
    Frames that are padded as the service does it give the same events on the fast path and without it.
    """
    plain = DIALECT.decoder("a1")
    plain.fast = False

    assert plain.feed(SAMPLES[name]) + plain.close() == events(SAMPLES[name])


def test_nothing_is_shared():
    """
    Decoders that are fed in turns give what each gives alone.
    """
    bodies = [SAMPLES[name] for name in SAMPLES]
    decoders = [DIALECT.decoder("a1") for _ in bodies]
    found = [[] for _ in bodies]
    for at in range(0, max(map(len, bodies)), 50):
        for body, decoder, each in zip(bodies, decoders, found, strict=True):
            each += decoder.feed(body[at : at + 50])
    for decoder, each in zip(decoders, found, strict=True):
        each += decoder.close()

    assert [events(body) for body in bodies] == found
