"""
What must hold for every adapter, on every shape of every wire: all samples of a dialect at once.
"""

import pytest

from assistant_events.adapters import dialect_names, load_dialect
from assistant_events.testing import check_adapter
from tests.fuzz.seeds import samples

from .bedrock_converse.notation import REQUEST
from .notation import THOROUGH

REQUESTS = {"bedrock-converse": REQUEST}

SHORT = {"bedrock-converse": 300}
"""Size up to which a sample is cut at every byte, 600 by default: frames with checksums are longer."""


@pytest.mark.parametrize("name", dialect_names())
def test_samples_hold_what_every_adapter_must(name):
    """
    Every sample is legal, cut and joined anywhere, survives damage, loses nothing, and is sent and written again.
    """
    bodies = {each: sample.body for each, sample in samples(name).items()}
    every_position = 4096 if THOROUGH else SHORT.get(name, 600)
    check_adapter(load_dialect(name), bodies, request=REQUESTS.get(name), mutations=20, every_position=every_position)
