"""
What holds for the recorded answers of every dialect.
"""

import os
from collections import Counter
from functools import partial

import attrs
import pytest

from assistant_events import find_problems, fold, reconcile
from assistant_events.adapters import dialect_names, load_dialect
from assistant_events.messages import MessageStatus
from assistant_events.testing import conservation, durable, round_trips
from assistant_events.testing.sample import Sample

from .recordings import EDITED, ENDS, FRAMINGS, REQUESTS, answers

RECORDED = [
    pytest.param(answer, id=f"{dialect}/{name}") for dialect in ENDS for name, answer in answers(dialect).items()
]


SAMPLED = [
    each for each in RECORDED if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" or len(each.values[0].body) < 30_000
]
"""The recordings on which costly checks are made: long ones repeat the frames that short ones have."""

UNORDERED = {"openai-chat"}
"""Dialects whose documents have one text, one reasoning and a list of calls, without an order among them."""

UNENDED = {"openai-chat/snowflake.pydantic-ai.snowflake-thinking-streaming.sse"}
"""Recordings whose only end is the mark `[DONE]`, which is not a parsed frame."""


def is_in_groups(message):
    """
    Return whether all reasoning is before all text, and all text before all calls.
    """
    ranks = [("reasoning", "text", "tool").index(part.type) for part in message.parts]
    return ranks == sorted(ranks)


@pytest.mark.parametrize("answer", RECORDED)
def test_answers_have_no_problems(answer):
    """
    Every recorded answer is legal and settled; the fast path and the durable events alone give the same message.
    """
    events = answer.events()

    assert [] == find_problems(events)
    assert [] == reconcile(fold(events))
    assert fold(events) == fold(durable(events))
    assert answer.form == "json" or events == answer.events(fast=False)


@pytest.mark.parametrize("answer", [each for each in SAMPLED if load_dialect(each.values[0].dialect).emitter])
def test_there_and_back(answer):
    """
    Every recorded answer comes back from the frames of the emitter, and every completed one from its document.
    """
    dialect, events = load_dialect(answer.dialect), answer.events()
    emitter = dialect.emitter()
    frames = [frame for event in events for frame in emitter.emit(event)] + emitter.close()
    decoder = dialect.decoder("a1")
    found = decoder.feed(b"".join(map(emitter.to_bytes, frames))) + decoder.close()

    assert () == emitter.drops
    assert fold(events) == fold(found)
    assert Counter(durable(events)) == Counter(durable(found))
    message = fold(events).last
    if message.status is MessageStatus.COMPLETED and (answer.dialect not in UNORDERED or is_in_groups(message)):
        assert message == fold(dialect.decode_resource(dialect.emit_resource(message), "a1")).last


@pytest.mark.parametrize(
    "answer", [each for each in SAMPLED if each.values[0].form != "json" and each.id not in EDITED]
)
def test_nothing_is_lost(answer):
    """
    All content of a recorded stream is in its durable events, at its place, and nothing else is; so it is in a request.
    """
    dialect = load_dialect(answer.dialect)
    decoder = partial(dialect.decoder, framing=FRAMINGS.get(answer.form))
    dialect = attrs.evolve(dialect, decoder=decoder)
    sample = Sample(dialect, answer.dialect, answer.body, request=REQUESTS.get(answer.dialect))

    conservation.check_nothing_lost(sample)
    conservation.check_numbers(sample)
    conservation.check_places(sample)
    round_trips.check_encoder(sample)


@pytest.mark.parametrize(
    "answer", [each for each in SAMPLED if each.values[0].form != "json" and each.id not in UNENDED]
)
def test_parsed_frames(answer):
    """
    Parsed frames give the same events as their bytes.
    """
    decoder = load_dialect(answer.dialect).decoder("a1")
    events = [event for frame in answer.frames() for event in decoder.feed_event(frame)] + decoder.close()

    assert answer.events() == events


@pytest.mark.parametrize("dialect", ENDS)
def test_one_dialect_claims_an_answer(dialect):
    """
    A dialect knows the first frame of its streams, or its documents, and no other dialect does.
    """
    first = {name: answer.frames()[0] for name, answer in answers(dialect).items()}
    claims = {
        name: [each for each in dialect_names() if load_dialect(each).detect(frame)] for name, frame in first.items()
    }

    assert {} == {name: claimed for name, claimed in claims.items() if claimed != [dialect]}
