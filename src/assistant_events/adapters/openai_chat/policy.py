"""
Which state the servers of Chat Completions take back: from other issuers, and each of its own.

A server is looked up by the name of the provider that the caller gives it. Sources: the manuals and issue trackers of
the servers, and requests that they accepted (2025-01 to 2026-10).
"""

from __future__ import annotations

from typing import Final, final

import attrs

from assistant_events.adapters.tables import by_word, names
from assistant_events.history import Policy, Treatment, Treatments

POLICY: Final = Policy(
    other_model=Treatments(
        step=Treatment.BARE,
        reasoning=Treatment.UNBOUND,
        media=Treatment.BARE,
        call=Treatment.UNBOUND,
        provider_call=Treatment.LEFT_OUT,
        opaque=Treatment.LEFT_OUT,
    ),
    model_bound_keys=frozenset({"detail", "extra_content", "thought"}),
    source=(
        "Manuals of DeepSeek, Moonshot and OpenRouter (2026-10): reasoning returns to the server that sent it, in the "
        "field it came in; signatures and encrypted reasoning are read by the model that made them alone."
    ),
)


@final
@attrs.frozen(kw_only=True)
class Profile:
    """What a server takes back."""

    fields: frozenset[str] | None = attrs.field(default=None, converter=attrs.converters.optional(names))
    """Fields of an answer beside text, refusal, audio and calls; `None` when not known: those that it sent."""

    always: str | None = None
    """A field of each message when one has it, or the request enables `thinking`: empty where there was none."""

    short_call_ids: bool = False
    """Whether ids of calls are nine letters and digits, instead of any text."""


PROFILES: Final = by_word(
    {
        Profile(fields=""): "openai",
        # "The `reasoning_content` in the thinking mode must be passed back to the API."
        Profile(fields="reasoning_content", always="reasoning_content"): "deepseek moonshot",
        Profile(fields="reasoning_content"): "xai llama.cpp fireworks",
        Profile(fields="reasoning"): "groq ollama together",
        Profile(fields="reasoning reasoning_content"): "vllm",
        Profile(fields="reasoning reasoning_details annotations images"): "openrouter",
        Profile(fields="", short_call_ids=True): "mistral",
    }
)
"""By name of the provider."""
