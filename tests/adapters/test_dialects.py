"""
What must hold for every adapter, on every shape of every wire: all samples of a dialect at once.
"""

import json

import pytest

from assistant_events import Origin, fold
from assistant_events.adapters import dialect_names, load_dialect
from assistant_events.testing import Call, answer, check_adapter
from tests.fuzz.seeds import samples

from .bedrock_converse.notation import REQUEST
from .notation import THOROUGH

REQUESTS = {"bedrock-converse": REQUEST}


@pytest.mark.parametrize("name", dialect_names())
def test_samples_hold_what_every_adapter_must(name):
    """
    Every sample is legal, cut and joined anywhere, survives damage, loses nothing, and is sent and written again.
    """
    # In the gate every second one; the fuzzer has all of them, too.
    bodies = {each: sample.body for each, sample in [*samples(name).items()][:: 1 if THOROUGH else 2]}
    every_position, mutations = (4096, 20) if THOROUGH else (300, 10)
    check_adapter(
        load_dialect(name),
        bodies,
        request=REQUESTS.get(name),
        mutations=mutations,
        every_position=every_position,
    )


@pytest.mark.parametrize("name", dialect_names())
def test_a_document_has_no_state_of_another_dialect(name):
    """
    State is for its own provider: documents of an answer of another one have none of it, in no part.
    """
    state = {"seal": "sealed"}
    events = answer(
        "Hello",
        reasoning="Hm",
        calls=[Call("weather", {}, state=state)],
        origin=Origin(provider="acme", model="acme-1", dialect="acme-chat"),
        state=state,
        text_state=state,
        reasoning_state=state,
    )
    document = json.dumps(load_dialect(name).emit_resource(fold(events).last))
    assert "weather" in document
    assert "seal" not in document
