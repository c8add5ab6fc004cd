"""State that the service has issued and does not read any more: what is before its refusal is sent without it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from assistant_events import messages as msg
from assistant_events.history import Policy, Relation
from assistant_events.values import ErrorInfo, Origin, write_json

REFUSALS: Final = re.compile(
    r"invalid_encrypted_content|the encrypted content .{0,200}could not be verified"  # OpenAI (openai/codex#8119)
    r"|encrypted_content`? was not issued to this caller"  # OpenCode Zen (can1357/oh-my-pi#11928)
    r"|items are not persisted when `?store"  # OpenAI behind OpenRouter (langchain#37777)
    r"|input item id does not belong to this connection"  # Copilot (opencode#31236)
    r"|could not decrypt the provided encrypted_content|could not decode the compaction blob"  # xAI (sub2api#4535)
    r"|invalid `?signature`? in `?thinking`? block"  # Claude, Bedrock (openclaw/openclaw#88020)
    r"|invalid [`']?data[`']? in [`']?redacted_thinking"  # claude-code#56708, microsoft/vscode#320196
    r"|blocks in the latest assistant message cannot be modified"  # claude-code#63357: in every later request
    r"|blocks must match the parameters during the original request"  # claude-code#2746
    r"|compaction_(?:signature_invalid|content_mismatch|tool_changes_mismatch)"  # anthropic 2.14, codes in details
    r"|(?:corrupted|invalid) thought signature"  # Gemini (gemini-cli#13467, Antigravity-Manager#3342)
    r"|thought signature is not valid|thought_signature' \(TYPE_BYTES\)",  # Vertex (decolua/9router#301, #450)
    re.IGNORECASE,
)
"""
Words of the errors. Gateways pass them on in each dialect, OpenRouter in the metadata of its own (MassGen#665).

The state is bound to an account, a tenant or a server: another one is asked after a limit, and by gateways at any time.
"""


def is_refusal(error: ErrorInfo) -> bool:
    """Return whether *error* is one with which a service refuses state in the request."""
    details = write_json(error.details).decode() if error.details else ""
    return REFUSALS.search(f"{error.code} {error.message} {details}") is not None


def refuses_state(message: msg.Message) -> bool:
    """Return whether *message* is an answer with which the service has refused state that is before it."""
    return isinstance(message, msg.AssistantMessage) and message.error is not None and is_refusal(message.error)


def refused_at(messages: Sequence[msg.Message], target: Origin, policy: Policy) -> int:
    """Return the place of the last answer of the provider that `refuses_state`; 0 when there is none."""
    refused = [
        place
        for place, message in enumerate(messages)
        if isinstance(message, msg.AssistantMessage)
        and refuses_state(message)
        and policy.relation(message.origin, target) is not Relation.OTHER_PROVIDER
    ]
    return max(refused, default=0)


__all__ = ["REFUSALS", "is_refusal", "refused_at", "refuses_state"]
