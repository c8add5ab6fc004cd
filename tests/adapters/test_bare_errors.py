"""
An error document that ends a body without being a frame, as gateways write it: the answer fails with what it holds.
"""

import json

import pytest

from assistant_events import fold
from assistant_events.adapters import load_dialect

TEXTS = {
    "anthropic-messages": [
        {
            "type": "message_start",
            "message": {"id": "m", "role": "assistant", "model": "c", "content": [], "usage": {}},
        },
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
    ],
    "openai-chat": [{"id": "c", "model": "g", "choices": [{"index": 0, "delta": {"content": "Hi"}}]}],
    "openai-responses": [
        {"type": "response.created", "response": {"id": "r", "model": "g", "output": []}},
        {"type": "response.output_text.delta", "item_id": "i", "output_index": 0, "content_index": 0, "delta": "Hi"},
    ],
    "gemini-generate-content": [{"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]}],
    "gemini-interactions": [
        {"event_type": "interaction.created", "interaction": {"id": "v", "model": "g", "status": "in_progress"}},
        {"event_type": "step.start", "index": 0, "step": {"type": "model_output"}},
        {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "Hi"}},
    ],
}
ERRORS = {
    "anthropic-messages": ({"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}}, "overloaded"),
    "openai-chat": ({"error": {"message": "Busy", "type": "x", "code": "rate_limit_exceeded"}}, "rate-limit"),
    "openai-responses": ({"error": {"message": "Busy", "type": "x", "code": "rate_limit_exceeded"}}, "rate-limit"),
    "gemini-generate-content": ({"error": {"code": 503, "message": "Busy", "status": "UNAVAILABLE"}}, "overloaded"),
    "gemini-interactions": ({"error": {"message": "Busy", "code": "prohibited_content"}}, "content-filter"),
}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("begun", [True, False])
@pytest.mark.parametrize("dialect", ERRORS)
def test_an_error_at_the_end(dialect, begun, indent):
    """
    In one line or in several, behind a text or alone; what came before it is kept.
    """
    document, kind = ERRORS[dialect]
    frames = b"".join([b"data: %b\n\n" % json.dumps(each).encode() for each in TEXTS[dialect] if begun])
    made = load_dialect(dialect).decoder("m1")
    found = made.feed(frames) + made.feed(json.dumps(document, indent=indent).encode()) + made.close()
    message = fold(found).last

    assert (kind, "Busy") == (message.error.kind, message.error.message)
    assert ("Hi" if begun else "") == message.text
    assert [] == made.notes


@pytest.mark.parametrize("dialect", sorted(ERRORS))
def test_a_status_beside_an_error(dialect):
    """
    Bifrost answers streams with 200, and has the status of the service beside the error (maximhq/bifrost#1911, #6783).
    """
    frame = {"is_bifrost_error": False, "status_code": 429, "error": {"message": "Slow down."}, "extra_fields": {}}
    frames = b"".join([b"data: %b\n\n" % json.dumps(each).encode() for each in [*TEXTS[dialect], frame]])
    made = load_dialect(dialect).decoder("m1")
    error = fold(made.feed(frames) + made.close()).last.error

    assert ("rate-limit", 429, True) == (error.kind, error.status, error.retryable)


@pytest.mark.parametrize("tail", [b'{"error": {"mess', b'{"error": 3}', b'{"reason": "error"}', b'["error"]'])
@pytest.mark.parametrize("dialect", ERRORS)
def test_what_is_not_an_error(dialect, tail):
    """
    Half a document, or one without an error object: the stream was cut.
    """
    made = load_dialect(dialect).decoder("m1")
    message = fold(made.feed(tail) + made.close()).last

    assert "interrupted" == message.error.kind


@pytest.mark.parametrize("dialect", ERRORS)
def test_an_event_that_is_named_an_error(dialect):
    """
    Gateways write its text without JSON; another event that is not JSON is left out.
    """
    made = load_dialect(dialect).decoder("m1")
    events = made.feed(b"event: ping\ndata: Hi\n\nevent: error\ndata: Internal error\n\n") + made.close()

    assert ("provider", "Internal error") == (events[-1].error.kind, events[-1].error.message)
    assert ["bad-json"] == [note.code for note in made.notes]


def test_an_interaction_that_waits_and_fails():
    """
    An error behind the event that it waits for the app is its end.
    """
    document, kind = ERRORS["gemini-interactions"]
    waits = {"event_type": "interaction.requires_action", "interaction": {"id": "v", "status": "requires_action"}}
    made = load_dialect("gemini-interactions").decoder("m1")
    frames = b"".join([b"data: %b\n\n" % json.dumps(each).encode() for each in [*TEXTS[made.dialect], waits]])
    found = fold(made.feed(frames + json.dumps(document).encode()) + made.close()).last

    assert ("Hi", kind) == (found.text, found.error.kind)


@pytest.mark.parametrize("listed", [True, False])
def test_the_cut_of_an_interaction(listed):
    """
    The service in front of a run ends its stream with an error that is not one of the run.
    """
    error = {"error": {"code": 503, "message": "Busy", "status": "UNAVAILABLE"}}
    made = load_dialect("gemini-interactions").decoder("m1")
    frames = b"".join([b"data: %b\n\n" % json.dumps(each).encode() for each in TEXTS["gemini-interactions"]])
    found = fold(made.feed(frames + json.dumps([error] if listed else error).encode()) + made.close()).last

    assert ("Hi", "interrupted", True) == (found.text, found.error.kind, found.error.retryable)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1002, ("rate-limit", True)),
        (1004, ("auth", None)),
        (2056, ("quota", None)),
        (1026, ("content-filter", None)),
        (1033, ("provider", True)),
    ],
)
def test_a_status_of_minimax_on_the_wire_of_claude(number, expected):
    """
    MiniMax has numbers for what has failed, and the status 200 of HTTP.
    """
    made = load_dialect("anthropic-messages").decoder("m1")
    body = json.dumps({"base_resp": {"status_code": number, "status_msg": "no"}}).encode()
    error = fold(made.feed(body) + made.close()).last.error

    assert (*expected, "no") == (error.kind, error.retryable, error.message)
