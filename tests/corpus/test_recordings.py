"""
What holds for the recorded answers of every dialect.
"""

import os
from collections import Counter
from functools import partial
from math import inf

import attrs
import pytest

from assistant_events import find_problems, fold, reconcile
from assistant_events.adapters import dialect_names, load_dialect
from assistant_events.messages import MessageStatus
from assistant_events.testing import conservation, durable, exactness, round_trips
from assistant_events.testing.sample import Sample
from tests.each import check_each

from .recordings import EDITED, ENDS, FRAMINGS, REQUESTS, answers

LONGEST = inf if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 30_000
"""Size below which costly checks are made: long recordings repeat the frames that short ones have."""

UNORDERED = {"openai-chat"}
"""Dialects whose documents have one text, one reasoning and a list of calls, without an order among them."""

UNENDED = {"snowflake.pydantic-ai.snowflake-thinking-streaming.sse"}
"""Recordings whose only end is the mark `[DONE]`, which is not a parsed frame."""


def sampled(dialect, *, without=()):
    """
    Return the recorded streams of a dialect that costly checks are made on, by name.
    """
    found = {name: answer for name, answer in answers(dialect).items() if len(answer.body) < LONGEST}
    return {name: answer for name, answer in found.items() if answer.form != "json" and name not in without}


def is_in_groups(message):
    """
    Return whether all reasoning is before all text, and all text before all calls.
    """
    ranks = [("reasoning", "text", "tool").index(part.type) for part in message.parts]
    return ranks == sorted(ranks)


@pytest.mark.parametrize("dialect", ENDS)
def test_answers_have_no_problems(dialect):
    """
    Every recorded answer is legal and settled; the fast path and the durable events alone give the same message.
    """
    check_each(answers(dialect), has_no_problems)


def has_no_problems(answer):
    events = answer.events()

    assert [] == find_problems(events)
    assert [] == reconcile(fold(events))
    assert fold(events) == fold(durable(events))
    assert answer.form == "json" or events == answer.events(fast=False)


@pytest.mark.parametrize("dialect", ENDS)
def test_there_and_back(dialect):
    """
    Every recorded answer comes back from the frames of the emitter, and every completed one from its document.
    """
    check_each({name: each for name, each in answers(dialect).items() if len(each.body) < LONGEST}, comes_back)


def comes_back(answer):
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


@pytest.mark.parametrize("dialect", ENDS)
def test_nothing_is_lost(dialect):
    """
    All content of a recorded stream is in its durable events, at its place, and nothing else is; so it is in a request.
    """
    check_each(sampled(dialect, without=EDITED), keeps_everything)


def keeps_everything(answer):
    dialect = load_dialect(answer.dialect)
    decoder = partial(dialect.decoder, framing=FRAMINGS.get(answer.form))
    dialect = attrs.evolve(dialect, decoder=decoder)
    sample = Sample(dialect, answer.dialect, answer.body, request=REQUESTS.get(answer.dialect))

    conservation.check_nothing_lost(sample)
    conservation.check_numbers(sample)
    conservation.check_places(sample)
    conservation.check_known_frames(sample)
    exactness.check_texts(sample)
    exactness.check_inputs(sample)
    exactness.check_early_ends(sample)
    round_trips.check_encoder(sample)


@pytest.mark.parametrize("dialect", ENDS)
def test_parsed_frames(dialect):
    """
    Parsed frames give the same events as their bytes.
    """
    check_each(sampled(dialect, without=UNENDED), is_read_alike)


def is_read_alike(answer):
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
