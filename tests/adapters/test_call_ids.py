"""
Ids of calls in a request: those of the provider, or valid ones that are made of them.
"""

import re
from functools import partial

import attrs
import pytest

from assistant_events import Origin, fold
from assistant_events.adapters.call_ids import (
    assign_call_ids,
    fit_of_model,
    nine_characters,
    repeats_id,
    shortened,
    wire_id,
)
from assistant_events.recorder import Recorder
from assistant_events.values import State

fit = partial(re.compile(r"[^a-z0-9_]").sub, "_")


def answers(*messages):
    """
    Return answers with calls of these ids.
    """
    made = []
    for at, ids in enumerate(messages):
        recorder = Recorder(f"a{at}")
        events = recorder.start(Origin(provider="acme", model="m", dialect="acme-chat"))
        for call_id in ids:
            state = {"orphan": True} if call_id == "orphan" else {}
            events += recorder.tool_call(call_id, "f", {}, state=state)
        made += fold(events + recorder.finish("tool-calls")).messages
    return made


def ids_of(messages):
    return list(assign_call_ids(messages, fit).values())


def test_ids_of_the_provider():
    """
    A valid id is sent as it came.
    """
    assert ["c1", "c2"] == ids_of(answers(["c1"], ["c2"]))


def test_ids_that_the_provider_refuses():
    """
    Characters that are not valid are replaced; calls without an id get one.
    """
    assert ["c_1_", "call_1"] == ids_of(answers(["c.1é", None]))


def test_each_id_is_there_once():
    """
    An id that is taken gets a number, in one message and in several.
    """
    assert ["c", "c_2", "c_3", "c_2_2"] == ids_of(answers(["c", "c"], ["c", "c_2"]))


def test_the_id_on_the_wire():
    """
    The second of two calls with one id has another one here; a call without an id has none there.
    """
    [message] = answers(["c", "c", None])

    assert ["c", "c#2", "call-1"] == [call.call_id for call in message.tool_calls]
    assert ["c", "c", None] == [wire_id(call) for call in message.tool_calls]
    assert None is wire_id(attrs.evolve(message.tool_calls[0], state=State(id=5)))


@pytest.mark.parametrize(
    ("ids", "hosted", "expected"),
    [(["c", "c"], 0, True), (["c", "d"], 0, False), ([None, None], 0, False), (["c", "c"], 1, False)],
)
def test_calls_of_the_app_with_one_id(ids, hosted, expected):
    """
    Those without an id share none, nor does a call that the provider runs.
    """
    [message] = answers(ids)
    first, *others = message.tool_calls
    parts = [attrs.evolve(first, provider_executed=bool(hosted)), *others]

    assert expected is repeats_id(attrs.evolve(message, parts=parts))


FITS = {
    "nine letters and digits": (nine_characters, "[A-Za-z0-9]{9}"),
    "at most 40 characters": (partial(shortened, longest=40), ".{1,40}"),
}


@pytest.mark.parametrize(("fit", "form"), FITS.values(), ids=FITS)
def test_numbered_ids_are_valid(fit, form):
    """
    An id with a number is one that the provider takes, too.
    """
    full = "abcdefghi" if form.endswith("{9}") else 40 * "x"
    ids = list(assign_call_ids(answers([full], [full, None], [full, None]), fit).values())

    assert full == ids[0]
    assert 5 == len({*ids})
    assert all(re.fullmatch(form, each) for each in ids)


def test_numbers_that_are_cut_off():
    """
    An adapter that cuts ids gets longer ones rather than one id for several calls.
    """
    ids = assign_call_ids(answers(*[["c"] for _ in range(30)]), lambda each: each[:3])

    assert 30 == len({*ids.values()})


def test_ids_of_the_beginning_stay():
    """
    A conversation that has grown has the same ids before.
    """
    conversation = answers(["c.1", "c_1"], ["c_1", None], [None, "c.1"])

    for length in range(4):
        shorter = assign_call_ids(conversation[:length], fit)
        assert shorter.items() <= assign_call_ids(conversation, fit).items()


def test_a_call_that_was_made_up():
    """
    The call of a result that came alone keeps the id that the result names.
    """
    assert ["orphan", "orphan"] == ids_of(answers(["orphan"], ["orphan"]))


FAMILIES = ["mistral", "ministral", "magistral", "devstral", "codestral", "mathstral", "mixtral", "pixtral", "voxtral"]


@pytest.mark.parametrize(
    ("model", "form"),
    [
        *[(f"{name}-2026", "[a-zA-Z0-9]{9}") for name in FAMILIES],
        ("claude-opus-5-5", "call_1_"),
        ("gpt-5.6", "call:1é"),
    ],
)
def test_ids_of_models_behind_any_server(model, form):
    """
    Those of Mistral have nine letters and digits of ASCII, those of Claude no other signs than two.
    """
    assert re.fullmatch(form, fit_of_model(model)("call:1é"))
    assert re.fullmatch("[a-zA-Z0-9]{9}", nine_characters("ééééééééé"))
