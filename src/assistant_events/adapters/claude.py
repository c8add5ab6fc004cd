"""What the platforms of Claude have in common: signatures that are valid on all of them, and what they refuse."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs

from assistant_events import messages as msg
from assistant_events.adapters.encoder import EncoderBase, Item
from assistant_events.adapters.items import BlockKind, block_kind, content_blocks, items_of, last_number, number_of
from assistant_events.adapters.json_fields import base64_bytes, mapping, string
from assistant_events.history import Platforms, Policy
from assistant_events.values import FinishReason, Origin

PLATFORMS: Final = Platforms(
    origins=frozenset(
        {
            ("anthropic", "anthropic-messages"),
            ("bedrock", "anthropic-messages"),
            ("vertex", "anthropic-messages"),
            ("bedrock", "bedrock-converse"),
        }
    ),
    keys=frozenset({"signature", "data", "redactedContent"}),
    affixes=re.compile(
        r"^(?:arn:[^/]*/)?(?:[a-z-]+\.)?anthropic\.|^(?:.*/)?publishers/anthropic/models/"
        r"|-v\d+(?::\d+)?$|[@-]\d{8}(?=-v\d|$)|(?:@default|@latest|-latest|(?<=-\d)-0)$"
    ),
)
"""
Anthropic's own, Bedrock in both dialects, and Vertex: a signature of one is valid on the others (Claude documentation,
extended thinking, 2026-10).

Names of one model: `claude-sonnet-4-5-20250929`, `us.anthropic.claude-sonnet-4-5-20250929-v1:0`, alone or in the ARN of
an inference profile, `claude-sonnet-4-5@20250929`, alone or behind `publishers/anthropic/models/`. Vertex names the
newest of a model `claude-opus-4-6@default`; aliases of Anthropic are `claude-sonnet-4-0` and those with `-latest`.
"""


def may_be_claude(policy: Policy, target: Origin) -> bool:
    """
    Return whether a request may reach Claude, which refuses most signs in ids of calls.

    Other models get their ids as they came: LiteLLM has the signatures of Gemini in them, in base64 (litellm#16895).
    """
    return policy.signs(target) or "claude" in (target.model or "")


def data_of(redacted: str) -> str:
    """
    Return the `data` of a redacted thought that Converse has sent as `redactedContent`: the text of its bytes.

    Recorded of Claude 3.7 (pydantic-ai, `test_bedrock_model_thinking_part_redacted`). Other bytes stay in base64.
    """
    data = base64_bytes(redacted) or b"\xff"
    return data.decode() if data.isascii() else redacted


def in_messages(state: dict[str, Any]) -> dict[str, Any]:
    """Return state of a thought in the words of the Messages API."""
    redacted = string(state, "redactedContent")
    return state if redacted is None else {**_without(state, "redactedContent"), "data": data_of(redacted)}


def in_converse(state: dict[str, Any]) -> dict[str, Any]:
    """Return state of a thought in the words of Converse."""
    data = string(state, "data")
    if data is None:
        return state
    return {**_without(state, "data"), "redactedContent": b64encode(data.encode(errors="replace")).decode()}


def _without(state: dict[str, Any], name: str) -> dict[str, Any]:
    # Any: plain JSON.
    return {key: value for key, value in state.items() if key != name}


def blocks_of(
    encoder: EncoderBase, message: msg.AssistantMessage, write_block: Callable[[BlockKind, Sequence[Any]], Item | None]
) -> list[Item]:
    """
    Return the blocks of an answer; of one by another provider the texts before its first call of the app.

    Claude refuses a text between a call and its result (mecatl#1465, with both orders tried; litellm#24361 for
    Converse), where Gemini and GPT write some. What the provider itself has sent stays as it came.
    """
    blocks = content_blocks(message, "i", write_block)
    if encoder.is_of_provider(message):
        return blocks
    first = next((at for at, block in enumerate(blocks) if _is_call(block)), len(blocks))
    texts = [block for block in blocks[first:] if _is_text(block)]
    return [*blocks[:first], *texts, *[block for block in blocks[first:] if not _is_text(block)]]


def _is_call(block: Item) -> bool:
    call = mapping(block, "toolUse")
    return block.get("type") == "tool_use" or (bool(call) and "type" not in call)


def _is_text(block: Item) -> bool:
    return block.get("type", "text") == "text" and not block.keys().isdisjoint({"text", "citationsContent"})


ENDS_WITH_THOUGHT: Final = "Claude refuses an answer that ends with a thought."
"""“The final block in an assistant message cannot be `thinking`” (forgecode#2107, hermes-agent#16921)."""

JOINS_THOUGHTS: Final = "Claude refuses two thoughts when something between them is not sent; the later one is."
"""Opus 4.6 does (enricoros/big-AGI, `anthropic.messageCreate.ts`)."""

ASKED_AGAIN: Final = "The answer has no end and is asked for again: services refuse a request that ends with one."
"""
“The conversation must end with a user message”, “final assistant content cannot end with trailing whitespace”
(hermes-agent#101401, claude-code#52433, 2026); a text before the thought of the next answer (claude-code#20705).
"""


def refused_parts(
    encoder: EncoderBase, message: msg.AssistantMessage, sent: Sequence[tuple[int, msg.Part]], *, is_claude: bool
) -> dict[int, str]:
    """
    Return the places of what is refused for what is not sent behind it, and why.

    These are all of an answer without an end, and for Claude thoughts.

    Args:
        encoder: Has the conversation: an answer that was paused may end with a thought, if another continues it.

        message: The answer.

        sent: Its parts that have a block in the request, with their places.

        is_claude: Whether Claude is asked, and not a server that imitates it or another model.
    """
    refused: dict[int, str] = {}
    ending: list[int] = []  # thoughts with no other block behind them
    latest: int | None = None
    places = {id(message.parts[place]): place for place, _ in sent}
    whole = attrs.evolve(message, parts=tuple([message.parts[place] for place, _ in sent]))
    if _has_no_end(encoder, message) and _is_continued(encoder, whole):
        return dict.fromkeys(places.values(), ASKED_AGAIN)
    if not is_claude:
        return refused
    for item in items_of(whole, "i", block_kind, "result"):
        if item.kind == "reasoning":
            before, latest = latest, number_of(item.parts[0].state, "i")
            if ending and before is not None and latest is not None and latest > before + 1:
                refused |= dict.fromkeys(ending, JOINS_THOUGHTS)
                ending = []
            ending += [places[id(part)] for part in item.parts]
        elif item.kind != "text" or any(part.text for part in item.parts):
            ending = []
    is_paused = message.finish_reason is FinishReason.PAUSE and latest in (None, last_number(message, "i"))
    if ending and not (is_paused and _is_continued(encoder, whole)):
        refused |= dict.fromkeys(ending, ENDS_WITH_THOUGHT)
    return refused


def _has_no_end(encoder: EncoderBase, message: msg.AssistantMessage) -> bool:
    """Return whether an answer was cut, or was paused by a service that is not asked, which alone can continue it."""
    if message.status is not msg.MessageStatus.COMPLETED:
        return True
    origin, target = message.origin, encoder.target
    is_elsewhere = (origin.provider, origin.dialect) != (target.provider, target.dialect)
    return message.finish_reason is FinishReason.PAUSE and is_elsewhere


def _is_continued(encoder: EncoderBase, message: msg.AssistantMessage) -> bool:
    """Return whether what is sent behind an answer is of the model, or nothing is, so that the next answer is."""
    if any(isinstance(part, msg.ToolPart) and encoder.needs_result(part) for part in message.parts):
        return False
    at = [each.id for each in encoder.messages].index(message.id)
    for each in encoder.messages[at + 1 :]:
        for kept in encoder.selected(each).messages:
            if not isinstance(kept, msg.AssistantMessage):
                return False
            if any(_is_block(part) and encoder.unsendable(part) is None for part in kept.parts):
                return True
    return True


def _is_block(part: msg.Part) -> bool:
    """Return whether a part has a block with which an answer may end."""
    return bool(part.text.strip()) if isinstance(part, msg.TextPart) else not isinstance(part, msg.ReasoningPart)


__all__ = [
    "ASKED_AGAIN",
    "ENDS_WITH_THOUGHT",
    "JOINS_THOUGHTS",
    "PLATFORMS",
    "blocks_of",
    "data_of",
    "in_converse",
    "in_messages",
    "may_be_claude",
    "refused_parts",
]
