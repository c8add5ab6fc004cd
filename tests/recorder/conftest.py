"""
The recorder of a test.
"""

import pytest

from assistant_events.recorder import Recorder
from assistant_events.testing import origin


@pytest.fixture(name="sink")
def fixture_sink():
    """
    Everything that the recorder of the test has given.
    """
    return []


@pytest.fixture(name="recorder")
def fixture_recorder(sink):
    """
    A recorder whose step has started.
    """
    recorder = Recorder("a1", sink=sink)
    recorder.start(origin())
    return recorder
