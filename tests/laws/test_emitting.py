"""
Law 12: what the Interactions emitter tells is decoded to the events it was given, or it says what the wire cannot say.
"""

import json
import os
import random

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant_events import Origin, StepStarted, find_problems, fold
from assistant_events.adapters import load_dialect
from assistant_events.adapters.gemini_interactions import sse
from assistant_events.testing.strategies import loose_events, recut, sessions
from tests.adapters.samples import SAMPLES
from tests.corpus.bodies import RESOURCES, STREAMS, body_of, stream_of
from tests.fuzz.generated import stream as generated

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
DIALECT = load_dialect("gemini-interactions")

GUESSED = {"late and early"}
"""Samples with text that goes on after other steps have begun: a stream that may not wait has to guess."""

MODES = {
    "streamed": {},
    "waiting": {"live": False},
    "whole": {"arguments": "whole"},
    "cursors": {"event_ids": True, "status_updates": False},
    "1.x": {"generation": 1},
    "1.x waiting": {"generation": 1, "live": False},
}


def decoded(body):
    decoder = DIALECT.decoder("m")
    return decoder.feed(body) + decoder.close()


def durable(events):
    return [event for event in events if event.durable]


def told(events, **options):
    """
    Return the emitter, the frames it gave, and what their bytes are decoded to, having checked that this is legal.
    """
    emitter = DIALECT.emitter(**options)
    frames = [frame for event in events for frame in emitter.emit(event)] + list(emitter.close())
    decoder = DIALECT.decoder("m")
    caused = decoder.feed(b"".join(map(sse, frames))) + decoder.close()
    assert decoder.failure is None
    assert [] == find_problems(caused)
    return emitter, frames, caused


def assert_same(events, *, durable_only=False, **options):
    """
    Check that what is told is read as the same, up to the cutting of deltas.
    """
    emitter, _, caused = told(durable(events) if durable_only else events, **options)

    assert () == emitter.left_out
    assert durable(events) == durable(caused)
    assert fold(events) == fold(caused)


def assert_same_or_said(events, **options):
    """
    Check that what is told is read as the same, or that the emitter says that it is not.
    """
    emitter, _, caused = told(events, **options)

    assert emitter.left_out or durable(events) == durable(caused)


@pytest.mark.parametrize("durable_only", [False, True], ids=["live", "durable"])
@pytest.mark.parametrize("name", SAMPLES)
def test_samples_that_may_wait_are_told_exactly(name, durable_only):
    """
    Whatever overlaps, comes late or is cut: with the ends at hand, generation 2 says all of it.
    """
    assert_same(decoded(SAMPLES[name]), durable_only=durable_only, live=False)


@pytest.mark.parametrize("durable_only", [False, True], ids=["live", "durable"])
@pytest.mark.parametrize("options", [MODES["streamed"], MODES["whole"], MODES["cursors"]], ids=str)
@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in GUESSED])
def test_samples_that_stream_are_told_exactly(name, options, durable_only):
    """
    So they are while they stream, but for text whose step is known too late.
    """
    assert_same(decoded(SAMPLES[name]), durable_only=durable_only, **options)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_told_or_reported(name, mode):
    """
    In every mode, what reads otherwise is reported.
    """
    assert_same_or_said(decoded(SAMPLES[name]), **MODES[mode])


@pytest.mark.parametrize("durable_only", [False, True], ids=["live", "durable"])
@pytest.mark.parametrize("options", [MODES["streamed"], MODES["waiting"], MODES["cursors"]], ids=str)
@pytest.mark.parametrize("file", STREAMS)
def test_recordings_are_told_exactly(file, options, durable_only):
    """
    Recorded streams of both generations come back as they were.
    """
    assert_same(decoded(stream_of(file)), durable_only=durable_only, **options)


@pytest.mark.parametrize("mode", ["whole", "1.x", "1.x waiting"])
@pytest.mark.parametrize("file", STREAMS)
def test_recordings_are_told_or_reported(file, mode):
    """
    Where arguments come whole, or in generation 1.x, a recording comes back as it was or the difference is reported.
    """
    assert_same_or_said(decoded(stream_of(file)), **MODES[mode])


@pytest.mark.parametrize("file", RESOURCES)
def test_recorded_documents_are_told_exactly(file):
    """
    So do recorded documents.
    """
    document = json.loads(body_of(file))
    document = document[0] if isinstance(document, list) else document

    assert_same(DIALECT.decode_resource(document, "m"))


@pytest.mark.parametrize("mode", MODES)
def test_whatever_the_decoder_produces_is_told_or_reported(mode):
    """
    Streams of random words come back as they were, or the difference is reported.
    """
    for seed in range(2000 if THOROUGH else 150):
        events = decoded(generated(random.Random(seed)))

        assert_same_or_said(events, **MODES[mode])
        assert_same_or_said(durable(events), **MODES[mode])


def test_nearly_everything_is_told_exactly():
    """
    What is reported of random streams is the exception, or the law would say nothing.
    """
    events = [decoded(generated(random.Random(seed))) for seed in range(200)]
    reasons = [{left.reason for left in told(each, live=False)[0].left_out} for each in events]
    halves = "half of a surrogate pair cannot be told, since many clients cannot read it"

    assert len([each for each in reasons if each - {halves}]) < 50
    assert len([each for each in reasons if not each]) > 100


@given(st.data(), st.sampled_from(sorted(SAMPLES)))
def test_how_deltas_are_cut_changes_nothing(data, name):
    """
    Deltas that were cut elsewhere on their way give the same message, but for the items of summaries.
    """
    events = decoded(SAMPLES[name])
    recutted = data.draw(recut(events))
    emitter, _, caused = told(recutted, live=False)

    assert () == emitter.left_out
    assert durable(events) == durable(caused)


@given(st.one_of(sessions(), loose_events()), st.sampled_from(sorted(MODES)))
def test_what_no_gemini_says_is_told_as_far_as_it_goes(events, mode):
    """
    Sessions of other providers, and events out of any order, are never refused; what is told is legal, and reported.
    """
    emitter, _, _ = told(events, **MODES[mode])

    assert emitter.left_out or not events


@given(sessions(), st.sampled_from(sorted(MODES)))
def test_odd_state_is_never_refused(events, mode):
    """
    State that this dialect would not have written is told as far as it goes, as if it had.
    """
    own = Origin(provider="google", model="m", dialect="gemini-interactions")
    told(
        [attrs.evolve(event, origin=own) if isinstance(event, StepStarted) else event for event in events],
        **MODES[mode],
    )
