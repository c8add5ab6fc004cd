"""Answers without an end that are asked for again, which services refuse at the end of a request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from assistant_events import messages as msg
from assistant_events.adapters.encoder import EncoderBase
from assistant_events.adapters.items import is_blank
from assistant_events.history import DropReason
from assistant_events.values import FinishReason

ASKED_AGAIN: Final = "The answer has no end and is asked for again: services refuse a request that ends with one."
"""
“The conversation must end with a user message”, “final assistant content cannot end with trailing whitespace”
(hermes-agent#101401, claude-code#52433, 2026); a text before the thought of the next answer (claude-code#20705).

Of Chat Completions: “Expected last role User or Tool (or Assistant with prefix True)” (Mistral, smolagents#757), “Last
message must have role `user`” (Perplexity, litellm#3918), “Assistant response prefill is incompatible with
enable_thinking” (llama.cpp#20861). Others continue the text, so that the next answer has only its rest. Of Gemini:
“Requests ending with a model turn are not supported unless the last part is a function response” (3.6 Flash,
LibreChat-AI/agents#323).
"""


def left_to_ask_again(
    encoder: EncoderBase, message: msg.AssistantMessage, parts: Sequence[tuple[int, msg.Part]]
) -> dict[int, DropReason | str]:
    """Return the places of what would be sent of an answer that is asked for again, with the reason."""
    if not is_asked_again(encoder, message, [part for _, part in parts]):
        return {}
    return dict.fromkeys([place for place, part in parts if encoder.unsendable(part) is None], ASKED_AGAIN)


def is_asked_again(encoder: EncoderBase, message: msg.AssistantMessage, parts: Sequence[msg.Part]) -> bool:
    """
    Return whether an answer has no end, and nothing of the user is behind it.

    It was cut, or paused by a service that is not asked, which alone can continue it.
    """
    origin, target = message.origin, encoder.target
    is_elsewhere = (origin.provider, origin.dialect) != (target.provider, target.dialect)
    is_left = message.finish_reason is FinishReason.PAUSE and is_elsewhere
    return (is_left or message.status is not msg.MessageStatus.COMPLETED) and is_continued(encoder, message, parts)


def is_continued(encoder: EncoderBase, message: msg.AssistantMessage, parts: Sequence[msg.Part]) -> bool:
    """Return whether what is sent behind an answer is of the model, or nothing is, so that the next answer is."""
    if any(isinstance(part, msg.ToolPart) and encoder.needs_result(part) for part in parts):
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
    return not isinstance(part, msg.ReasoningPart) and not is_blank(part)


__all__ = ["ASKED_AGAIN", "is_asked_again", "is_continued", "left_to_ask_again"]
