"""
The tables of a wire with items of many types: what they read, they write.
"""

import pytest

from assistant_events.adapters.call_forms import CallForm, CallForms
from assistant_events.adapters.text_forms import TextForm, TextForms
from assistant_events.messages import CallStatus, PartStatus, ReasoningPart, ToolPart
from assistant_events.values import JsonContent, JsonObject, State

CALLS = CallForms(
    app={"order": CallForm("", "json", "arguments", "reply"), "run": CallForm("shell", "text", "code", "reply")},
    provider={
        "look": CallForm("lookup", "fields", "query place", output="found"),
        "ask": CallForm("question", "fields", "text", "answer", "said"),
    },
)
TEXTS = TextForms(
    {
        "line": TextForm("speech", "text", "lines", "line"),
        "idea": TextForm("thinking", "reasoning", "ideas", "idea", "thought"),
    }
)

ITEMS = {
    "JSON": ("order", {"name": "buy", "arguments": '{"n":1}'}, '{"n":1}', {"n": 1}),
    "free text": ("run", {"code": "ls"}, "ls", {"code": "ls"}),
    "fields": ("look", {"query": "q", "place": None, "found": [1]}, None, {"query": "q", "place": None}),
    "one field": ("ask", {"text": "why"}, None, {"text": "why"}),
}


@pytest.mark.parametrize("name", ITEMS)
def test_the_fields_of_a_call(name):
    """
    Name, input and result of an item are those that are written of the call.
    """
    kind, item, text, arguments = ITEMS[name]
    form, is_hosted = CALLS[kind], kind in CALLS.hosted
    call = ToolPart(
        message_id="a1",
        call_id="c1",
        name=form.name_in(item),
        input=JsonObject(form.input_in(item, text) or arguments),
        raw_input=text or "",
        status=CallStatus.SUCCESS,
        provider_executed=is_hosted,
        output=JsonContent(item["found"]) if "found" in item else (),
        state=State({"type": kind}),
    )

    assert arguments == call.arguments
    assert item == form.write(call)
    assert kind == CALLS.kind_of(call)


def test_calls_of_other_wires():
    """
    Their type is the first of the app, or of the provider.
    """
    calls = [
        ToolPart(message_id="a1", call_id="c1", name="f", status=CallStatus.CALLED, provider_executed=each)
        for each in (False, True)
    ]

    assert ["order", "look"] == [CALLS.kind_of(call) for call in calls]


def test_tables_of_calls():
    """
    Which inputs are texts, and which items have results, follows from the forms.
    """
    assert {"order": "arguments", "run": "code"} == CALLS.inputs
    assert {"reply": "output", "answer": "said"} == CALLS.outputs
    assert {"ask"} == CALLS.answered_later
    assert {"name", "arguments", ""} == CALLS["order"].own_fields()


def test_an_input_that_has_to_be_parsed():
    """
    The text of JSON is left to the recorder, but a null counts as no arguments.
    """
    form = CALLS["order"]

    assert [None, None, {}] == [form.input_in({}, text) for text in (None, '{"a":1}', " null")]


def test_the_texts_of_an_item():
    """
    They are found in the arrays of their items alone, beside other parts.
    """
    idea, line, image = {"type": "idea", "thought": "a"}, {"type": "line", "text": "b"}, {"type": "image"}
    item = {"type": "thinking", "ideas": [image, idea, line], "lines": [line]}

    assert [("ideas", 0, idea)] == TEXTS.of(item)
    assert {"lines": [line], "ideas": [image, line]} == TEXTS.others(item)
    assert [] == TEXTS.of({"type": ["thinking"], "ideas": [idea]})


def test_writing_texts():
    """
    Parts of one place are one text; places decide the order, and an empty part without a place has none.
    """
    places = [("b", {"ideas_index": 1}), ("a", {"ideas_index": 0}), ("c", {"ideas_index": 1}), ("", {})]
    parts = [ReasoningPart(text=text, status=PartStatus("completed"), state=State(state)) for text, state in places]
    written = TEXTS.write(parts, lambda part: "idea", lambda part, kind: {"size": len(part.text)})

    ideas = [{"type": "idea", "thought": text, "size": 1} for text in ("a", "bc")]
    assert {"lines": [], "ideas": ideas} == written
