"""
What must hold for every adapter, on every shape of the Chat Completions wire.
"""

import pytest

from assistant_events.testing import check_adapter

from .notation import DIALECT, events
from .samples import SAMPLES


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_hold_what_every_adapter_must(name):
    """
    Every sample is legal, cut and joined anywhere, survives damage, and loses nothing.
    """
    check_adapter(DIALECT, {name: SAMPLES[name]}, mutations=10, every_position=600)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_fast_path(name):
    """
    The fast path gives the events of the plain one.
    """
    plain = DIALECT.decoder("a1")
    plain.fast = False

    assert plain.feed(SAMPLES[name]) + plain.close() == events(SAMPLES[name])
