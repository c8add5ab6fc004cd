"""State that the service has issued and does not read any more: what is before its refusal is sent without it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from assistant_events import messages as msg
from assistant_events.adapters.json_fields import string
from assistant_events.history import Policy, Relation
from assistant_events.values import ErrorInfo, Origin, write_json

REFUSALS: Final = re.compile(
    r"invalid_encrypted_content|the encrypted content .{0,200}could not be verified"  # OpenAI (openai/codex#8119)
    r"|encrypted_content`? was not issued to this caller"  # OpenCode Zen (can1357/oh-my-pi#11928)
    r"|items are not persisted when [`']?store"  # OpenAI behind OpenRouter (langchain#37777)
    r"|item with id [`']rs_\w+[`'] not found"  # Azure that stores, intermittently (pi#5524, twentyhq/twenty#23182)
    r"|referenced reasoning item .{0,99}not found"  # OpenCode Zen (maximhq/bifrost#6465, opencode2api#15)
    r"|conflicting authenticated continuation identities"  # Azure, two reasonings (hermes-agent#106718)
    r"|input item id does not belong to this connection"  # Copilot (opencode#31236)
    r"|could not decrypt the provided encrypted_content|could not decode the compaction blob"  # xAI (sub2api#4535)
    r"|invalid [`']?signature[`']? in [`']?thinking[`']? block"  # Claude (openclaw/openclaw#88020, cline#7723)
    r"|thinking\.signature: field required"  # Claude behind gateways that lose it (Antigravity-Manager#270, #1650)
    r"|content\.\d+: invalid signature(?! in)"  # Copilot (can1357/oh-my-pi#2851)
    r"|invalid [`']?data[`']? in [`']?redacted_thinking"  # claude-code#56708, microsoft/vscode#320196
    r"|invalid [`']?encrypted_content[`']? in [`']?search_result"  # Claude, found pages (code-yeongyu/senpi#150)
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

_TAKES_ONE: Final = "conflicting authenticated continuation identities"
"""
Azure with GPT-6: any reasoning alone is taken, and no two of several answers (measured in hermes-agent#101243).
"""

MARK: Final = "refused_state"
"""The detail of an answer that came to a request without state: the words with which the first one was refused."""


def refusal_in(error: ErrorInfo) -> str:
    """Return the words of *error* with which a service refuses state in the request; empty in any other."""
    details = write_json(error.details).decode() if error.details else ""
    found = REFUSALS.search(f"{error.code} {error.message} {details}")
    return "" if found is None else found[0]


def refusal_of(message: msg.Message) -> str:
    """Return the words with which the service has refused state that is before *message*; empty for other messages."""
    if not isinstance(message, msg.AssistantMessage):
        return ""
    words = "" if message.error is None else refusal_in(message.error)
    return words or string(message.details, MARK) or ""


def refused_at(messages: Sequence[msg.Message], target: Origin, policy: Policy) -> int:
    """
    Return the place before which nothing has its state, 0 when all has: the last answer of the provider that refuses.

    A server that takes the reasonings of one answer alone gets those of the last one.
    """
    refused = [place for place, each in enumerate(messages) if refusal_of(each) and _is_of(each, target, policy)]
    if any(refusal_of(messages[place]).lower() == _TAKES_ONE for place in refused):
        refused += [place for place, each in enumerate(messages) if _is_sealed(each) and _is_of(each, target, policy)]
    return max(refused, default=0)


def _is_of(message: msg.Message, target: Origin, policy: Policy) -> bool:
    origin = message.origin if isinstance(message, msg.AssistantMessage) else None
    return origin is not None and policy.relation(origin, target) is not Relation.OTHER_PROVIDER


def _is_sealed(message: msg.Message) -> bool:
    parts = message.parts if isinstance(message, msg.AssistantMessage) else ()
    return any(isinstance(part, msg.ReasoningPart) and part.state for part in parts)
