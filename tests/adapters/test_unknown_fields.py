"""
Fields that no page of the provider names: a stream keeps them where the document of the same answer has them.
"""

import pytest

from assistant_events import fold
from assistant_events.adapters import load_dialect
from assistant_events.adapters.gemini_interactions import encode
from assistant_events.converters import dumps
from tests.adapters.reading import emitted_by

from .notation import (
    DIALECT,
    MODEL,
    USAGE,
    C,
    D,
    K,
    S,
    X,
    answer,
    args,
    codes,
    delta,
    durable,
    events,
    fc,
    inner,
    media_of,
    mo,
    opaque,
    signature,
    step,
    stream,
    summary,
    text,
    th,
)

URL = {"type": "url_citation", "url": "https://e.x/", "start_index": 0, "end_index": 2}
SEARCH = {"type": "google_search_call", "id": "s1", "arguments": {"queries": ["q"]}, "signature": "Uw=="}

RESULTS = {
    "code_execution_result": "1",
    "url_context_result": [{"url": "https://e.x/", "status": "success"}],
    "google_search_result": [{"search_suggestions": "<b>"}],
    "google_maps_result": [{"places": []}],
    "file_search_result": [{"file": "f"}],
    "retrieval_result": None,
    "processing_result": None,
    "tool_search_result": [{"name": "f"}],
    "mcp_server_tool_result": "ok",
    "function_result": "ok",
}
CALLS = {
    "code_execution_call": {"code": "print(1)", "language": "python"},
    "url_context_call": {"urls": ["https://e.x/"]},
    "google_search_call": {"queries": ["q"]},
    "google_maps_call": {"queries": ["q"]},
    "retrieval_call": {"queries": ["q"]},
    "tool_search_call": {"function_names": ["f"]},
    "mcp_server_tool_call": {"id": 7},
    "function_call": {"a": 1},
}


def result_of(kind, **more):
    result = {} if RESULTS[kind] is None else {"result": RESULTS[kind]}
    return {"type": kind, **result, **more}


def the_call(kind):
    """Return the step of the call that a result of *kind* answers."""
    name = {"name": "f"} if kind in ("mcp_server_tool_result", "function_result") else {}
    return {"type": kind.removesuffix("_result") + "_call", "id": "c1", **name, "arguments": {"a": 1}}


FORMS = {
    # name: (what is streamed after `created`, the steps of the document)
    "thought, summary": (
        [S(0, th()), D(0, {**summary("p"), "odd": 1}), X(0)],
        [th(summary=[{"type": "text", "text": "p"}], odd=1)],
    ),
    "thought, signature": (
        [S(0, th()), D(0, {**signature("QQ=="), "odd": 1}), X(0)],
        [th(signature="QQ==", odd=1)],
    ),
    "thought of 1.x": (
        [S(0, th()), D(0, delta("thought", summary=[{"type": "text", "text": "p"}], odd=1)), X(0)],
        [th(summary=[{"type": "text", "text": "p"}], odd=1)],
    ),
    "text": (
        [S(0, mo()), D(0, text("a")), D(0, delta("text", text="b", odd=1)), X(0)],
        [mo(content=[{"type": "text", "text": "ab", "odd": 1}])],
    ),
    "text without words": (
        [S(0, mo()), D(0, delta("text", text="", odd=1)), X(0)],
        [mo(content=[{"type": "text", "text": "", "odd": 1}])],
    ),
    "annotations": (
        [S(0, mo()), D(0, text("ab")), D(0, delta("text_annotation_delta", annotations=[URL], odd=1)), X(0)],
        [mo(content=[{"type": "text", "text": "ab", "annotations": [URL], "odd": 1}])],
    ),
    "annotations of 1.x": (
        [S(0, mo()), D(0, text("ab")), D(0, delta("text_annotation", annotations=[URL], odd=1)), X(0)],
        [mo(content=[{"type": "text", "text": "ab", "annotations": [URL], "odd": 1}])],
    ),
    "image": (
        [S(0, mo()), D(0, delta("image", data="YQ==", mime_type="image/png", odd=1)), X(0)],
        [mo(content=[{"type": "image", "data": "YQ==", "mime_type": "image/png", "odd": 1}])],
    ),
    "arguments": (
        [S(0, fc()), D(0, {**args('{"a":1}'), "odd": 1}), X(0)],
        [fc(arguments={"a": 1}, odd=1)],
    ),
    **{
        kind: (
            [S(0, step(kind, id="c1", name="f")), D(0, delta(kind, arguments=arguments, odd=1)), X(0)],
            [step(kind, id="c1", name="f", arguments=arguments, odd=1)],
        )
        for kind, arguments in CALLS.items()
    },
    **{
        kind: (
            [S(0, the_call(kind)), X(0), S(1, step(kind, call_id="c1")), D(1, result_of(kind, odd=1)), X(1)],
            [the_call(kind), result_of(kind, call_id="c1", odd=1)],
        )
        for kind in RESULTS
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_a_stream_keeps_what_a_document_keeps(form):
    """
    A field of a delta that is not documented is in the state, as the same field of the step or the block is.
    """
    wire, steps = FORMS[form]
    document = {"id": "v1", "model": MODEL, "status": "completed", "steps": steps, "usage": USAGE}
    decoder = DIALECT.decoder("m")
    streamed = fold(decoder.feed(stream(C(), *wire, K())))["m"]
    whole = fold(DIALECT.decode_resource(document, "m"))["m"]

    assert whole == streamed
    assert '"odd":1' in dumps(streamed).decode()
    assert decoder.failure is None


ODD_FACTS = {"moods": {"first": "glad"}, "name": "x", "fields": [1]}
"""Fields of an interaction that nobody knows, two of them with names that a careless writer would mistake."""


@pytest.mark.parametrize("wire", [[C(**ODD_FACTS), K()], [C(), K(**ODD_FACTS)]], ids=["first", "last"])
def test_a_field_of_the_interaction_is_a_detail(wire):
    """
    It is in the details of the answer, whichever event has it, and is written again; what was asked is left out.
    """
    begun, ended = wire
    asked = {"tools": [{"type": "google_search"}], "previous_interaction_id": "v0"}
    found = events(stream(begun, S(0, mo("Hi")), X(0), {**ended, "interaction": {**ended["interaction"], **asked}}))
    message = fold(found).last
    document = {"id": "v1", "model": MODEL, "status": "completed", "steps": [mo("Hi")], "usage": USAGE, **ODD_FACTS}
    drops, body, _ = emitted_by(DIALECT, found)

    assert ODD_FACTS == message.details
    assert message == fold(DIALECT.decode_resource(document, "m")).last == fold(events(body)).last
    assert ODD_FACTS.items() <= DIALECT.emit_resource(message).items()
    assert () == drops


PIECES = {
    # name: (the start of a step, a delta that it knows)
    "output": (mo(), text("x")),
    "output of nothing": (mo(), text("")),
    "image": (mo(), delta("image", data="YQ==", mime_type="image/png")),
    "sound": (mo(), delta("audio", data="YQ==", mime_type="audio/l16")),
    "thought": (th(), summary("x")),
    "call": (fc(), args('{"a":1}')),
    "search": (step("google_search_call", id="s1"), delta("google_search_call", arguments={"queries": ["q"]})),
    "result": (step("google_search_result", call_id="s1"), delta("google_search_result", result=[])),
    "unknown step": (step("dream"), delta("dream_delta")),
}
ODD = {
    "an unknown type": delta("novel_delta", mark="MARK"),
    "no type": {"mark": "MARK"},
    "a signature": signature("MARK"),
    "a summary": summary("MARK"),
    "annotations": delta("text_annotation_delta", annotations=[{"type": "novel", "x": "MARK"}]),
}
PLACES = {"before the known delta": 1, "behind it": 2, "behind the stop": 3}


@pytest.mark.parametrize(
    ("piece", "odd", "place"),
    [
        (piece, odd, place)
        for piece in PIECES
        for odd in [*ODD, "a known type"]
        for place in PLACES
        # What comes after the end of a call is noted and left out, as documented on the page of the dialect.
        if not (piece in ("call", "search") and place == "behind the stop")
    ],
)
def test_whatever_a_delta_says_is_kept(piece, odd, place):
    """
    A delta that its step does not know, or with an unknown field, leaves its content in a durable event.
    """
    begun, known = PIECES[piece]
    wire = [S(0, begun), D(0, known), X(0)]
    wire.insert(PLACES[place], D(0, {**known, "mark": "MARK"} if odd == "a known type" else ODD[odd]))

    assert b"MARK" in b"".join(map(dumps, durable(answer(*wire))))


def test_what_is_left_of_an_output_stands_behind_its_parts():
    """
    What no part of an output can keep is an item of its own, which no request has a place for.
    """
    odd = delta("novel_delta", mark=1)
    wire = (S(0, mo(novel=2)), X(0), S(1, mo()), D(1, delta("image", uri="u")), D(1, odd), X(1))
    found = inner(answer(*wire))
    encoded = encode(fold(events(answer(*wire))), {"model": MODEL}, mode="full")

    assert [
        opaque(0, step={"type": "model_output", "novel": 2}),
        *media_of("image/*", uri="u", i=1, type="image"),
        opaque(1, step={"type": "model_output"}, deltas=[odd]),
    ] == found
    assert [mo(content=[{"type": "image", "uri": "u"}])] == encoded.body["input"]
    assert [(0, "unplaced", True), (2, "unplaced", True)] == [
        (drop.part, drop.reason.value, drop.whole) for drop in encoded.drops
    ]


def test_what_is_left_of_an_output_is_told_in_its_step():
    """
    The emitter writes it behind the parts of the same output, so that it is read as it was.
    """
    odd = delta("novel_delta", mark=1)
    found = events(answer(S(0, mo()), D(0, delta("image", uri="u")), D(0, odd), X(0)))
    emitter = DIALECT.emitter()
    frames = [frame for event in found for frame in emitter.emit(event)] + emitter.close()
    body = b"".join(map(emitter.to_bytes, frames))

    assert [event for event in found if event.durable] == durable(body)
    assert () == emitter.drops


def test_what_comes_late_for_a_result_is_noted():
    """
    The answer of a call is final: what comes for it later is left out, with a note.
    """
    wire = (S(0, SEARCH), X(0), S(1, step("google_search_result", call_id="s1")), X(1), D(1, signature("Ug==")))

    assert ["stray-facts", "unknown-delta"] == codes(answer(*wire))


CALL = {"name": "f", "orphan": True}
WITH_OUR_KEY = {
    "anthropic-messages": {
        "type": "message",
        "id": "m1",
        "role": "assistant",
        "model": "m",
        "stop_reason": "tool_use",
        "content": [{"type": "tool_use", "id": "t1", "input": {}, **CALL}],
    },
    "bedrock-converse": {
        "output": {
            "message": {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "input": {}, **CALL}}]}
        },
        "stopReason": "tool_use",
    },
    "gemini-generate-content": {
        "candidates": [
            {"content": {"parts": [{"functionCall": {"name": "f"}, "orphan": True}]}, "finishReason": "STOP"}
        ]
    },
    "openai-responses": {
        "object": "response",
        "id": "r1",
        "model": "m",
        "status": "completed",
        "output": [{"type": "function_call", "id": "fc_1", "call_id": "c1", "arguments": "{}", **CALL}],
    },
}


@pytest.mark.parametrize("dialect", WITH_OUR_KEY)
def test_a_field_with_the_name_of_our_mark(dialect):
    """
    A call that came is not taken for one that was made up for a result, which has no place in a request.
    """
    [call] = fold(load_dialect(dialect).decode_resource(WITH_OUR_KEY[dialect], "a1")).last.tool_calls

    assert "orphan" not in call.state
