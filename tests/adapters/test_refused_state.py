"""
Requests after an error with which a service refuses state that it has issued: what was before the error has none.
"""

import json

import attrs
import pytest

from assistant_events import Origin, fold
from assistant_events.adapters import load_dialect
from assistant_events.adapters.asked_again import ASKED_AGAIN
from assistant_events.history import DropReason
from assistant_events.testing import Call, answer, prompt
from assistant_events.values import ErrorInfo

SEALED = "c2VhbGVk"
OPENAI = {
    "message": "The encrypted content for item rs_1 could not be verified. Reason: Encrypted content could not be "
    "decrypted or parsed.",
    "code": "invalid_encrypted_content",
}
ZEN = "Upstream request failed: [invalid_request_error] reasoning `encrypted_content` was not issued to this caller"
XAI = "Could not decrypt the provided encrypted_content. Ensure the value is the unmodified encrypted_content."
CONFLICT = "Conflicting authenticated continuation identities."
BEDROCK = "The model returned the following errors: messages.39.content.0: Invalid signature in thinking block"
MODIFIED = (
    "messages.9.content.15: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
    "modified. These blocks must remain as they were in the original response."
)
PARAMETERS = (
    "messages.31.content.1: When providing `thinking` or `redacted_thinking` blocks, the blocks must match the "
    "parameters during the original request."
)
RAW = '{"error": {"code": 400, "message": "Corrupted thought signature.", "status": "INVALID_ARGUMENT"}}'

REFUSED = {
    "Responses": ("openai-responses", "openai", {"encrypted_content": SEALED, "item_id": "rs_1", "i": 0}, OPENAI),
    "Responses of OpenCode Zen": (
        "openai-responses",
        "zen",
        {"encrypted_content": SEALED, "i": 0},
        {"message": ZEN},
    ),
    "Responses of OpenCode Zen, an item that has expired": (
        "openai-responses",
        "zen",
        {"encrypted_content": SEALED, "item_id": "rs_1", "i": 0},
        {"message": "Referenced reasoning item 'rs_1' was not found or has expired."},
    ),
    "Responses of another connection": (
        "openai-responses",
        "proxy",
        {"encrypted_content": SEALED, "i": 0},
        {"message": "input item ID does not belong to this connection"},
    ),
    "Responses of xAI": (
        "openai-responses",
        "xai",
        {"encrypted_content": SEALED, "i": 0},
        {"message": XAI, "code": "invalid-argument"},
    ),
    "Responses of Azure, which has lost an item": (
        "openai-responses",
        "azure",
        {"encrypted_content": SEALED, "item_id": "rs_1", "i": 0},
        {"message": "Item with id 'rs_1' not found."},
    ),
    "Responses of Azure, reasonings of two turns": (
        "openai-responses",
        "azure",
        {"encrypted_content": SEALED, "item_id": "rs_1", "i": 0},
        {"message": CONFLICT},
    ),
    "OpenRouter": (
        "openai-chat",
        "openrouter",
        {"field": "reasoning_details", "detail": {"type": "reasoning.text", "signature": SEALED}},
        {"message": "Provider returned error", "details": {"metadata": {"raw": RAW}}},
    ),
    "OpenRouter, an item that is stored nowhere": (
        "openai-chat",
        "openrouter",
        {"field": "reasoning_details", "detail": {"type": "reasoning.encrypted", "data": SEALED, "id": "rs_1"}},
        {"message": "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."},
    ),
    "a gateway to Claude, whose thoughts have lost their signature": (
        "openai-chat",
        "gateway",
        {"field": "thinking_blocks", "detail": {"type": "thinking", "data": SEALED}},
        {"message": "messages.1.content.0.thinking.signature: Field required"},
    ),
    "Messages": (
        "anthropic-messages",
        "anthropic",
        {"signature": SEALED, "i": 0},
        {"message": "messages.1.content.0: Invalid `signature` in `thinking` block"},
    ),
    "Messages, quoted in another way": (
        "anthropic-messages",
        "anthropic",
        {"signature": SEALED, "i": 0},
        {"message": "messages.1.content.0: Invalid 'signature' in 'thinking' block"},
    ),
    "Messages of Copilot": (
        "anthropic-messages",
        "github-copilot",
        {"signature": SEALED, "i": 0},
        {"message": "messages.7.content.0: Invalid signature"},
    ),
    "Messages, a redacted thought": (
        "anthropic-messages",
        "anthropic",
        {"data": SEALED, "i": 0},
        {"message": "messages.23.content.2: Invalid `data` in `redacted_thinking` block"},
    ),
    "Messages, blocks that a gateway has modified": (
        "anthropic-messages",
        "anthropic",
        {"signature": SEALED, "i": 0},
        {"message": MODIFIED},
    ),
    "Messages, other parameters": (
        "anthropic-messages",
        "anthropic",
        {"signature": SEALED, "i": 0},
        {"message": PARAMETERS},
    ),
    "Messages, a compaction": (
        "anthropic-messages",
        "anthropic",
        {"signature": SEALED, "i": 0},
        {"message": "No.", "details": {"details": {"error_code": "compaction_signature_invalid"}}},
    ),
    "Converse": (
        "bedrock-converse",
        "bedrock",
        {"signature": SEALED, "i": 0},
        {"message": BEDROCK},
    ),
    "Interactions": (
        "gemini-interactions",
        "google",
        {"signature": SEALED, "i": 0},
        {"message": "Corrupted thought signature."},
    ),
    "generateContent": (
        "gemini-generate-content",
        "google",
        {"thoughtSignature": SEALED, "i": 0},
        {"message": "Unable to submit request because Thought signature is not valid.."},
    ),
    "generateContent, no base64": (
        "gemini-generate-content",
        "google",
        {"thoughtSignature": SEALED, "i": 0},
        {
            "message": "Invalid value at 'request.contents[1].parts[0].thought_signature' (TYPE_BYTES), Base64 "
            "decoding failed for"
        },
    ),
    "generateContent of Gemini 3.7": (
        "gemini-generate-content",
        "google",
        {"thoughtSignature": SEALED, "i": 0},
        {"message": "Invalid thought signature."},
    ),
}


def conversation(name, dialect, provider, state, error):
    """
    Return the events of a turn with a sealed thought, one that was refused, and one behind it.
    """
    model = "claude-opus-4-6" if dialect in ("anthropic-messages", "bedrock-converse") else "gemini-3-pro"
    origin = Origin(provider=provider, model=model, dialect=dialect)
    keys = {"reasoning": "Hm.", "reasoning_state": state, "origin": origin}
    text_state = {"i": 1, "item_id": "msg_1"} if dialect == "openai-responses" else {"i": 1} if "i" in state else {}
    before = [prompt("Hi"), *answer("Hello", message_id="a1", text_state=text_state, **keys)]
    failed = answer(message_id="a2", origin=origin, error=ErrorInfo(kind="invalid-request", status=400, **error))
    after = answer("Well", message_id="a3", text_state=text_state, **keys)
    return model, before, [prompt("And?", message_id="u2"), *failed], [*after, prompt("So?", message_id="u3")]


def written(name, dialect, provider, *parts, **options):
    model, events = parts[0], [event for part in parts[1:] for event in part]
    body = {"modelId" if dialect == "bedrock-converse" else "model": model}
    encoded = load_dialect(dialect).encoder(fold(events), body, provider=provider, **options)
    return json.dumps(encoded.body), encoded.drops


@pytest.mark.parametrize("name", REFUSED)
def test_state_that_was_refused_is_not_sent_again(name):
    """
    Only what was before the error is without it, and each part that is missing is reported.
    """
    dialect, provider, state, error = REFUSED[name]
    model, before, failed, after = conversation(name, dialect, provider, state, error)
    usual, _ = written(name, dialect, provider, model, before, after[-1:])
    again, drops = written(name, dialect, provider, model, before, failed)
    later, _ = written(name, dialect, provider, model, before, failed, after)

    assert [1, 0, 1] == [each.count(SEALED) for each in (usual, again, later)]
    assert "Hello" in again
    assert {("a1", 0, DropReason.STRIPPED)} <= {(drop.message_id, drop.part, drop.reason) for drop in drops}


def test_found_pages_that_were_refused():
    """
    Claude seals what it has found: without the pages, the search is not sent, and its answer is (senpi#150).
    """
    page = {"type": "web_search_result", "url": "https://a.b/", "title": "A", "encrypted_content": SEALED}
    cited = {"type": "web_search_result_location", "url": "https://a.b/", "title": "A", "encrypted_index": SEALED}
    content = [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "a"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [page]},
        {"type": "text", "text": "Sunny", "citations": [{**cited, "cited_text": "Sun"}]},
    ]
    document = {"role": "assistant", "model": "claude-opus-4-6", "content": content, "stop_reason": "end_turn"}
    dialect = load_dialect("anthropic-messages")
    before = [prompt("Hi"), *dialect.decode_resource(document, "a1", provider="anthropic")]
    origin = Origin(provider="anthropic", model="claude-opus-4-6", dialect="anthropic-messages")
    message = "messages.1.content.0: Invalid `encrypted_content` in `search_result` block"
    failed = answer(message_id="a2", origin=origin, error=ErrorInfo(kind="invalid-request", message=message))
    usual, again = [
        written(
            "", "anthropic-messages", "anthropic", "claude-opus-4-6", before, [prompt("So?", message_id="u2")], more
        )
        for more in ([], failed)
    ]

    assert [2, 0] == [usual[0].count(SEALED), again[0].count(SEALED)]
    assert "Sunny" in again[0]
    assert ("a1", 0, DropReason.STRIPPED) in [(drop.message_id, drop.part, drop.reason) for drop in again[1]]


def test_other_errors_take_no_state_away():
    """
    Nor do those of another provider, which had it from somewhere else.
    """
    dialect, provider, state, error = REFUSED["Responses"]
    model, before, failed, after = conversation("Responses", dialect, provider, state, {"message": "no"})
    theirs = answer(message_id="a2", error=ErrorInfo(kind="invalid-request", **error))

    for parts in ([before, failed], [before, theirs, after[-1:]]):
        assert 1 == written("Responses", dialect, provider, model, *parts)[0].count(SEALED)


def test_what_followed_a_refused_reasoning():
    """
    Its id is refused without the reasoning (openai-agents-python#2063), and the service keeps the state if it stores.
    """
    _, provider, state, error = REFUSED["Responses"]
    parts = conversation("Responses", "openai-responses", provider, state, error)
    origin = Origin(provider=provider, model=parts[0], dialect="openai-responses")
    stored = answer(
        "Hello",
        reasoning="Hm.",
        reasoning_state=state,
        text_state={"i": 1, "item_id": "msg_1"},
        origin=origin,
        state={"response_id": "resp_1"},
    )
    usual, again = [
        load_dialect("openai-responses").encoder(fold([prompt("Hi"), *stored, *more]), {"model": parts[0]})
        for more in ([prompt("And?", message_id="u2")], parts[2])
    ]

    assert ("chained", "full") == (usual.mode, again.mode)
    assert {"role": "assistant", "content": "Hello"} == again.body["input"][1]


def test_reasonings_of_one_answer_alone():
    """
    Azure takes no two sealed reasonings of GPT-6 (hermes-agent#101243): each third request would fail again.
    """
    dialect, provider, state, error = REFUSED["Responses of Azure, reasonings of two turns"]
    parts = conversation("", dialect, provider, state, error)
    origin = Origin(provider=provider, model=parts[0], dialect=dialect)
    keys = {"reasoning_state": {**state, "item_id": "rs_4"}, "text_state": {"i": 1, "item_id": "msg_4"}}
    last = answer("Fine", message_id="a4", reasoning="Hm.", origin=origin, **keys)
    sent, drops = written("", dialect, provider, *parts, [*last, prompt("Now?", message_id="u4")])

    assert 1 == sent.count(SEALED)
    assert "rs_4" in sent
    assert ("a3", 0, DropReason.STRIPPED) in [(drop.message_id, drop.part, drop.reason) for drop in drops]


def test_a_call_of_the_turn_whose_signature_was_refused():
    """
    Gemini refuses the call without it: call and result are sent as text, and the next calls as they came.
    """
    origin = Origin(provider="google", model="gemini-3-pro", dialect="gemini-generate-content")
    call = Call("f", {"a": 1}, output="sunny", state={"thoughtSignature": SEALED})
    error = ErrorInfo(kind="invalid-request", message="Corrupted thought signature.")
    events = [prompt("Hi"), *answer(calls=[call], origin=origin), *answer(message_id="a2", origin=origin, error=error)]
    again, _ = written("", "gemini-generate-content", "google", "gemini-3-pro", events)

    assert SEALED not in again
    assert "functionCall" not in again
    assert "sunny" in again


@pytest.mark.parametrize("name", ["Messages", "Converse"])
def test_a_paused_answer_whose_state_was_refused(name):
    """
    Without its state it would be the beginning of the next answer, which Claude refuses: it is asked for again.

    Nothing of it is missing once more is behind it.
    """
    dialect, provider, state, error = REFUSED[name]
    model, before, failed, after = conversation(name, dialect, provider, state, error)
    paused = [attrs.evolve(each, finish_reason="pause") if each.type == "step.ended" else each for each in before]
    again, drops = written(name, dialect, provider, model, paused, failed[1:])
    stripped, _ = written(name, dialect, provider, model, paused, strip=True)
    later, _ = written(name, dialect, provider, model, paused, failed[1:], after)

    assert [False, False, True] == ["Hello" in each for each in (again, stripped, later)]
    assert ("a1", 1, ASKED_AGAIN) in {(drop.message_id, drop.part, drop.reason) for drop in drops}
