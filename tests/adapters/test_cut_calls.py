"""
Calls whose answer was cut before their input began: they are not given to the app (LibreChat-AI/agents#280).
"""

import json

import pytest

from assistant_events import Awaits, fold
from assistant_events.adapters import load_dialect

INTERACTION = {"id": "v1", "status": "in_progress"}
CALL = {"type": "function_call", "id": "c1", "name": "write", "arguments": {}}


def messages(reason):
    return [
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": "c1", "name": "write", "input": {}},
        },
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": ""}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    ]


def converse(reason):
    return [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "c1", "name": "write"}}}},
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"messageStop": {"stopReason": reason}},
        {"metadata": {"usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}}},
    ]


def interactions(status):
    return [
        {"event_type": "interaction.created", "interaction": INTERACTION},
        {"event_type": "step.start", "index": 0, "step": CALL},
        {"event_type": "step.stop", "index": 0},
        {"event_type": "interaction.completed", "interaction": {**INTERACTION, "status": status}},
    ]


def without_a_stop(status):
    start, call, _, end = interactions(status)
    return [start, call, end]


def chat(reason, **call):
    call = call or {"function": {"name": "write", "arguments": ""}}
    delta = {"tool_calls": [{"index": 0, "id": "c1", **call}]}
    return [
        {"id": "x", "choices": [{"index": 0, "delta": delta}]},
        {"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
    ]


def custom(reason):
    return chat(reason, type="custom", custom={"name": "write", "input": "*** Begin"})


def document_of_messages(reason):
    call = {"type": "tool_use", "id": "c1", "name": "write", "input": {"path": "/tmp"}}
    return {"id": "m", "type": "message", "role": "assistant", "content": [call], "stop_reason": reason}


def document_of_converse(reason):
    call = {"toolUse": {"toolUseId": "c1", "name": "write", "input": {"path": "/tmp"}}}
    return {"output": {"message": {"role": "assistant", "content": [call]}}, "stopReason": reason}


WIRES = {
    "Messages": ("anthropic-messages", messages, ("max_tokens", "refusal"), "tool_use"),
    "Converse": ("bedrock-converse", converse, ("max_tokens",), "tool_use"),
    "Interactions": ("gemini-interactions", interactions, ("incomplete", "budget_exceeded"), "requires_action"),
    "Interactions without a stop": ("gemini-interactions", without_a_stop, ("incomplete",), "requires_action"),
    "Chat": ("openai-chat", chat, ("length", "content_filter"), "tool_calls"),
    "free text of Chat": ("openai-chat", custom, ("length", "content_filter"), "tool_calls"),
}


def folded(dialect, frames):
    decoder = load_dialect(dialect).decoder("a1")
    events = [event for frame in frames for event in decoder.feed_event(frame)]
    return fold([*events, *decoder.close()], strict=True)


@pytest.mark.parametrize("name", WIRES)
def test_a_call_that_was_cut_before_its_input(name):
    """
    It fails, and the same frames with another reason are a call of the app.
    """
    dialect, frames, cuts, whole = WIRES[name]
    for reason in cuts:
        transcript = folded(dialect, frames(reason))
        assert ["invalid-input"] == [call.error.kind for call in transcript.last.tool_calls], json.dumps(reason)
        assert Awaits.TOOLS is not transcript.awaits

    assert Awaits.TOOLS is folded(dialect, frames(whole)).awaits


@pytest.mark.parametrize(
    ("dialect", "document"),
    [
        pytest.param("anthropic-messages", document_of_messages, id="Messages"),
        pytest.param("bedrock-converse", document_of_converse, id="Converse"),
    ],
)
def test_a_document_whose_last_call_was_cut(dialect, document):
    """
    The object of its input has the keys that came before the limit of tokens, and nothing shows that more were to come.
    """
    decode = load_dialect(dialect).decoder.decode_resource
    cut, whole = (fold(decode(document(reason), "a1"), strict=True) for reason in ("max_tokens", "tool_use"))

    assert ["invalid-input"] == [call.error.kind for call in cut.last.tool_calls]
    assert [{"path": "/tmp"}] == [call.input for call in whole.last.tool_calls]
    assert Awaits.TOOLS is whole.awaits
