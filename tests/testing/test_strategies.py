"""
What the Hypothesis strategies cover: every class, every verb, legal and illegal sessions.
"""

import inspect
from contextlib import suppress
from random import Random

import attrs
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from assistant_events import UnknownEvent, find_problems, fold
from assistant_events.errors import LocalProtocolError
from assistant_events.events import DURABLE_EVENTS, LIVE_EVENTS
from assistant_events.recorder import Recorder
from assistant_events.testing import answer, deltas, strategies
from assistant_events.testing.strategies import (
    Verb,
    broken_sessions,
    events,
    loose_events,
    recut,
    sessions,
    steps,
    verbs,
)

QUICK = settings(max_examples=3000, database=None, deadline=None, phases=[Phase.generate], derandomize=True)
VERBS = {
    name
    for name, method in vars(Recorder).items()
    if inspect.isfunction(method)
    and not name.startswith("_")
    and name not in {"open_of", "unanswered", "so_far", "another_replay"}
}


@pytest.mark.parametrize("cls", [*DURABLE_EVENTS, *LIVE_EVENTS], ids=lambda cls: cls.type)
def test_every_field_is_drawn(cls):
    """
    Each field with a default is drawn with another value, too.
    """
    optional = {field.name: field.default for field in attrs.fields(cls) if field.default is not attrs.NOTHING}
    changed = draw_until(
        events(cls), {*optional}, lambda event: {name for name in optional if getattr(event, name) != optional[name]}
    )

    assert {*optional} == changed


@pytest.mark.parametrize("cls", [*DURABLE_EVENTS, *LIVE_EVENTS, UnknownEvent])
def test_events_of_a_class(cls):
    """
    Events can be asked for by their class.
    """
    assert cls is type(find(events(cls), lambda event: True, settings=QUICK))


def test_every_verb_has_a_strategy():
    """
    A new verb of the recorder is drawn as well.
    """
    assert VERBS == {*strategies.VERBS}


def draw_until(strategy, expected, found_in, *, random=None):
    """
    Draw examples until all that is expected has been found in them; return what was found, after 3000 at the latest.

    With some seeds of *random* that takes a fourth of the examples that it takes with others.
    """
    seen = set()

    def complete(example):
        seen.update(found_in(example))
        return expected <= seen

    with suppress(NoSuchExample):
        find(strategy, complete, settings=QUICK, random=random)
    return seen


def test_sessions_hold_every_event():
    """
    Every class of events comes up in legal sessions.
    """
    every = {*DURABLE_EVENTS, *LIVE_EVENTS}

    assert every == draw_until(sessions(), every, lambda session: map(type, session), random=Random(8))


@given(sessions())
def test_sessions_are_legal(session):
    """
    A session has no problems.
    """
    assert [] == find_problems(session)


def test_broken_sessions_have_every_problem():
    """
    Every way to be out of place comes up.
    """
    every = {"duplicate", "conflict", "late", "orphan", "gap"}
    broken = st.one_of(broken_sessions(), loose_events())

    assert every == draw_until(
        broken, every, lambda events: [problem.outcome.value for problem in find_problems(events)], random=Random(1)
    )


@given(sessions(settled=True))
def test_settled_sessions_are_settled(session):
    """
    Nothing is left open in them.
    """
    transcript = fold(session)

    assert () == transcript.pending_tool_calls
    assert "running" not in {getattr(message, "status", None) for message in transcript}


@given(steps())
def test_steps_begin_and_end(chosen):
    """
    A step starts and ends.
    """
    recorder = Recorder("m1")
    for verb in chosen:
        verb.attempt(recorder)

    assert recorder.terminal


@given(verbs(terminals=False))
def test_verbs_may_leave_the_step_running(verb):
    """
    Without terminals no verb ends the step.
    """
    assert verb.name not in {"start", "restart", "finish", "fail", "close"}


def test_a_refused_verb():
    """
    A verb raises as the recorder does; an attempt gives nothing instead.
    """
    verb = Verb("finish", {"finish_reason": "stop"})

    assert [] == verb.attempt(Recorder("m1"))
    with pytest.raises(LocalProtocolError):
        verb(Recorder("m1"))


@given(st.data())
def test_recut_keeps_what_deltas_say(data):
    """
    Other cuts add up to the same text, at the right places.
    """
    again = data.draw(recut(deltas("Hello world", size=3)))

    assert "Hello world" == "".join([delta.delta for delta in again])
    assert [0, *[delta.offset + len(delta.delta) for delta in again]][:-1] == [delta.offset for delta in again]


def test_recut_cuts_and_joins():
    """
    Deltas are cut in two, and joined.
    """
    given_deltas = deltas("Hello", size=3)

    find(recut(given_deltas), lambda again: len(again) > len(given_deltas), settings=QUICK)
    find(recut(given_deltas), lambda again: len(again) < len(given_deltas), settings=QUICK)


def test_recut_joins_only_what_belongs_together():
    """
    Deltas of different messages stay apart.
    """
    mixed = [*deltas("a", message_id="m1"), *deltas("b", message_id="m2"), *answer()]

    with pytest.raises(NoSuchExample):
        find(recut(mixed), lambda again: again != mixed, settings=settings(QUICK, max_examples=50))
