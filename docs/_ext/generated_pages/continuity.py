"""
What becomes of each kind of state when a conversation moves to another dialect, as Markdown.

Every cell comes of a run: an answer of the wire is decoded, its call answered, and the next request encoded.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from typing import Any, Final

from assistant_events import AssistantMessage, Transcript, UserMessage, fold
from assistant_events.adapters import Dialect, EncodeMode, dialect_names, load_dialect
from assistant_events.history import Drop, DropReason
from assistant_events.values import thaw

MARK: Final = "c2VjcmV0IG1hcms="
"""The state that is looked for in the request."""

_MARKS: Final = (MARK, b64encode(MARK.encode()).decode(), b64decode(MARK).decode())
"""The mark, also in the base64 in which Bedrock wraps the data of Anthropic, and out of it."""

_USAGE: Final = {"input_tokens": 1, "output_tokens": 1}


def _anthropic(*content: object, **more: object) -> dict[str, object]:
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5-5"}
    return {**head, "content": list(content), "stop_reason": "end_turn", "usage": _USAGE, **more}


def _responses(*output: object, **more: object) -> dict[str, object]:
    head = {"id": "resp_1", "object": "response", "model": "gpt-5.5", "status": "completed", "store": False}
    return {**head, "output": list(output), "usage": _USAGE, **more}


def _chat(**message: object) -> dict[str, object]:
    choice = {"index": 0, "message": {"role": "assistant", "content": "Yes.", **message}, "finish_reason": "stop"}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": "m-1", "choices": [choice]}


def _interaction(*steps: object, **more: object) -> dict[str, object]:
    return {
        "id": "v1_1",
        "object": "interaction",
        "model": "gemini-3-pro",
        "status": "completed",
        "steps": list(steps),
        **more,
    }


def _gemini(*parts: object) -> dict[str, object]:
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "modelVersion": "gemini-3-pro", "responseId": "r1"}


def _converse(*content: object) -> dict[str, object]:
    return {"output": {"message": {"role": "assistant", "content": list(content)}}, "stopReason": "end_turn"}


_ANTHROPIC_TEXT: Final = {"type": "text", "text": "Yes."}
_RESPONSES_TEXT: Final = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Yes.", "annotations": []}],
}
_INTERACTION_TEXT: Final = {"type": "model_output", "content": [{"type": "text", "text": "Yes."}]}
_CALL: Final = {"name": "f", "arguments": {"a": 1}}

SAMPLES: Final[Mapping[str, tuple[str, str, Mapping[str, Mapping[str, object]]]]] = {
    "anthropic-messages": (
        "anthropic",
        "claude-opus-5-5",
        {
            "reasoning with its signature": _anthropic(
                {"type": "thinking", "thinking": "Hm.", "signature": MARK}, _ANTHROPIC_TEXT
            ),
            "encrypted reasoning": _anthropic({"type": "redacted_thinking", "data": MARK}, _ANTHROPIC_TEXT),
            "a call of the app, and its id": _anthropic(
                {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}, "caller": {"type": MARK}},
                stop_reason="tool_use",
            ),
            "a tool of the provider, with sealed results": _anthropic(
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "srvtoolu_1",
                    "content": [{"type": "web_search_result", "url": "https://u.example", "encrypted_content": MARK}],
                },
                _ANTHROPIC_TEXT,
            ),
            "citations of a text": _anthropic(
                {
                    **_ANTHROPIC_TEXT,
                    "citations": [{"type": "web_search_result_location", "encrypted_index": MARK, "cited_text": "so"}],
                }
            ),
            "an item of another type": _anthropic({"type": "hologram", "beam": MARK}, _ANTHROPIC_TEXT),
            "the container": _anthropic(_ANTHROPIC_TEXT, container={"id": MARK}),
        },
    ),
    "openai-responses": (
        "openai",
        "gpt-5.5",
        {
            "encrypted reasoning": _responses(
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": MARK}, _RESPONSES_TEXT
            ),
            "a call of the app, and its id": _responses(
                {**_CALL, "type": "function_call", "id": MARK, "call_id": "call_1", "arguments": '{"a":1}'}
            ),
            "a tool of the provider, with sealed results": _responses(
                {
                    "type": "web_search_call",
                    "id": MARK,
                    "status": "completed",
                    "action": {"type": "search", "query": "q"},
                },
                _RESPONSES_TEXT,
            ),
            "the id of a text": _responses({**_RESPONSES_TEXT, "id": MARK}),
            "an item of another type": _responses({"type": "hologram", "id": "h_1", "beam": MARK}, _RESPONSES_TEXT),
            "the stored answer": _responses(_RESPONSES_TEXT, id=MARK, store=True),
        },
    ),
    "openai-chat": (
        "openrouter",
        "m-1",
        {
            "reasoning in a field": _chat(reasoning=MARK),
            "reasoning with its signature": _chat(
                reasoning_details=[{"type": "reasoning.text", "text": "Hm.", "signature": MARK, "index": 0}]
            ),
            "encrypted reasoning": _chat(reasoning_details=[{"type": "reasoning.encrypted", "data": MARK, "index": 0}]),
            "a call of the app, and its id": _chat(
                tool_calls=[
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "f", "arguments": '{"a":1}'},
                        "extra_content": {"google": {"thought_signature": MARK}},
                    }
                ]
            ),
            "citations of a text": _chat(annotations=[{"type": "file", "file": {"hash": MARK}}]),
        },
    ),
    "gemini-generate-content": (
        "google",
        "gemini-3-pro",
        {
            "reasoning with its signature": _gemini(
                {"text": "Hm.", "thought": True, "thoughtSignature": MARK}, {"text": "Yes."}
            ),
            "a call of the app, and its id": _gemini(
                {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": MARK}
            ),
            "a tool of the provider, with sealed results": _gemini(
                {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": MARK},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
                {"text": "Yes."},
            ),
            "the signature of a text": _gemini({"text": "Yes.", "thoughtSignature": MARK}),
        },
    ),
    "gemini-interactions": (
        "google",
        "gemini-3-pro",
        {
            "reasoning with its signature": _interaction(
                {"type": "thought", "signature": MARK, "summary": [{"type": "text", "text": "Hm."}]}, _INTERACTION_TEXT
            ),
            "a call of the app, and its id": _interaction(
                {"type": "thought", "signature": "c2ln"},
                {**_CALL, "type": "function_call", "id": "fc_1", "signature": MARK},
            ),
            "a tool of the provider, with sealed results": _interaction(
                {"type": "google_search_call", "id": "gs_1", "arguments": {"queries": ["q"]}, "signature": MARK},
                {"type": "google_search_result", "call_id": "gs_1", "result": [], "signature": "c2ln"},
                _INTERACTION_TEXT,
            ),
            "the stored answer": _interaction(_INTERACTION_TEXT, id=MARK),
        },
    ),
    "bedrock-converse": (
        "bedrock",
        "anthropic.claude-opus-5-5-v1:0",
        {
            "reasoning with its signature": _converse(
                {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": MARK}}}, {"text": "Yes."}
            ),
            "encrypted reasoning": _converse({"reasoningContent": {"redactedContent": MARK}}, {"text": "Yes."}),
            "citations of a text": _converse(
                {
                    "citationsContent": {
                        "content": [{"text": "Yes."}],
                        "citations": [{"title": MARK, "location": {"documentChar": {"documentIndex": 0}}}],
                    }
                }
            ),
        },
    ),
}
"""By dialect: provider, model, and by kind of state an answer as the wire has it."""


def continuity() -> str:
    """Return a table for each dialect from which a conversation moves."""
    dialects = [dialect for name in dialect_names() if (dialect := load_dialect(name)).encoder and name in SAMPLES]
    return "\n\n".join(_section(dialect, dialects) for dialect in dialects)


def _section(source: Dialect, targets: Iterable[Dialect]) -> str:
    targets = list(targets)
    _, _, samples = SAMPLES[source.name]
    lines = [
        f"## From `{source.name}`",
        "",
        f"| | another model | {' | '.join(f'`{target.name}`' for target in targets)} |",
        f"|---|---|{'---|' * len(targets)}",
    ]
    for kind, document in samples.items():
        cells = [outcome(source, document, source, "another-model")]
        cells += [outcome(source, document, target) for target in targets]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join(lines)


def outcome(source: Dialect, document: Mapping[str, Any], target: Dialect, other_model: str | None = None) -> str:
    """
    Return what becomes of the marked state of an answer in the next request of a dialect.

    Args:
        source: The dialect of the answer.

        document: The answer.

        target: The dialect of the request.

        other_model: The model that is asked, if not the one of the samples.
    """
    # Any: plain JSON.
    provider, model, _ = SAMPLES[source.name]
    asked, wanted, _ = SAMPLES[target.name]
    answer = _answered(source, document, provider, model)
    conversation = [UserMessage(id="u1", content="Hi"), answer, UserMessage(id="u2", content="Go on")]
    assert target.encoder is not None
    is_stored = _is_marked(answer.state)
    mode: EncodeMode = "auto" if is_stored else "full"
    request = target.encoder(conversation, {"model": other_model or wanted}, provider=asked, mode=mode)
    if any(mark in json.dumps(request.body) for mark in _MARKS):
        return "kept"
    return _dropped(answer, request.drops)


def _answered(source: Dialect, document: Mapping[str, Any], provider: str, model: str) -> AssistantMessage:
    assert source.decode_resource is not None
    events = source.decode_resource(document, "a1", provider=provider, request={"model": model})
    transcript: Transcript = fold(events)
    message = fold([call.succeed("ok") for call in transcript.pending_tool_calls], start=transcript).last
    assert isinstance(message, AssistantMessage)
    return message


def _dropped(answer: AssistantMessage, drops: Iterable[Drop]) -> str:
    """Return the outcome of state that is not in the request: of its part, or of the answer."""
    marked = [
        place
        for place, part in enumerate(answer.parts)
        if _is_marked(part.state, getattr(part, "result_state", {}), getattr(part, "text", ""))
    ]
    place = marked[0] if marked else None
    for drop in drops:
        if drop.part == place:
            reason = drop.reason.value.replace("-", " ") if isinstance(drop.reason, DropReason) else "see its page"
            return f"dropped: {reason}" if drop.whole or place is None else f"translated: {reason}"
    return "translated"


def _is_marked(*values: object) -> bool:
    return any(MARK in json.dumps(thaw(value)) for value in values)
