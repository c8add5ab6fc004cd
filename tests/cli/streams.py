"""Answers of a provider for the tests of the command line, written for them."""

import json

CANARY = "CANARY-" + "Zm9vYmFy" * 40


def sse(*events):
    """*events* as server-sent events."""
    return "".join(
        [f"event: {e['event_type']}\ndata: {json.dumps(e, ensure_ascii=False)}\n\n" for e in events]
    ).encode()


def created(run_id="v1_a", model="gemini-3.6-flash"):
    interaction = {"id": run_id, "status": "in_progress", "object": "interaction", "model": model}
    return {"event_type": "interaction.created", "interaction": interaction}


def start(index, **step):
    return {"event_type": "step.start", "index": index, "step": step}


def delta(index, **fields):
    return {"event_type": "step.delta", "index": index, "delta": fields}


def stop(index):
    return {"event_type": "step.stop", "index": index}


def text(index, *pieces):
    return [
        start(index, type="model_output"),
        *[delta(index, type="text", text=piece) for piece in pieces],
        stop(index),
    ]


def completed(run_id="v1_a", status="completed"):
    usage = {"total_input_tokens": 10, "total_output_tokens": 5, "total_thought_tokens": 2, "total_tokens": 17}
    return {"event_type": "interaction.completed", "interaction": {"id": run_id, "status": status, "usage": usage}}


SEARCH_EVENTS = [
    created(),
    start(0, type="thought", signature=""),
    delta(0, type="thought_summary", content={"type": "text", "text": "I look it up."}),
    delta(0, type="thought_signature", signature=CANARY),
    stop(0),
    start(1, type="google_search_call", id="s1", signature=""),
    delta(1, type="google_search_call", arguments={"queries": ["weather"]}, signature=CANARY),
    stop(1),
    start(2, type="google_search_result", call_id="s1", signature=""),
    delta(2, type="google_search_result", result=[{"search_suggestions": "<b>rain</b>"}], signature=CANARY),
    stop(2),
    *text(3, "It ", "rains in ", "Bergen."),
    start(4, type="function_call", id="c1", name="get_weather", arguments={}),
    delta(4, type="arguments_delta", arguments='{"city":"Bergen"}'),
    stop(4),
    {"event_type": "step.start", "index": 5, "step": {"type": "from_tomorrow", "secret": CANARY}},
    stop(5),
    completed(status="requires_action"),
]
SEARCH = sse(*SEARCH_EVENTS)

HELLO = sse(created("v1_b"), *text(0, "Hello, ", "Oslo!"), completed("v1_b"))
HELLO_AGAIN = sse(created("v1_b"), *text(0, "Hello, ", "Bergen!"), completed("v1_b"))
NAMELESS = sse(created(""), *text(0, "One ", "two ", "three."), completed(""))

RESOURCE = {
    "id": "v1_b",
    "object": "interaction",
    "status": "completed",
    "model": "gemini-3.6-flash",
    "steps": [{"type": "model_output", "content": [{"type": "text", "text": "Hello, Oslo!"}]}],
    "usage": {"total_input_tokens": 10, "total_output_tokens": 5, "total_thought_tokens": 2, "total_tokens": 17},
}
