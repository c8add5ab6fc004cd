"""
Which state the servers of Chat Completions take back: from other issuers, and each of its own.

A server is looked up by the name of the provider that the caller gives it. Sources: the manuals and issue trackers of
the servers, and requests that they accepted (2025-01 to 2026-10).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, final

import attrs

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
    model_bound_keys=frozenset({"detail", "extra_content"}),
    source=(
        "Manuals of DeepSeek, Moonshot and OpenRouter (2026-10): reasoning returns to the server that sent it, in the "
        "field it came in; signatures and encrypted reasoning are read by the model that made them alone."
    ),
)


@final
@attrs.frozen(kw_only=True)
class Profile:
    """
    What a server takes back.

    Args:
        fields: Fields of an answer that it takes back, beside text, refusal, audio and calls; `None` when it is not
            known: then those that it has sent.

        always: A field that each message has when one has it, with an empty text where there was none; `None` when
            the server asks for none.

        short_call_ids: Whether ids of calls are nine letters and digits, instead of any text.
    """

    fields: frozenset[str] | None = None
    always: str | None = None
    short_call_ids: bool = False


PROFILES: Final[Mapping[str, Profile]] = MappingProxyType(
    {
        "openai": Profile(fields=frozenset()),
        # "The `reasoning_content` in the thinking mode must be passed back to the API."
        "deepseek": Profile(fields=frozenset({"reasoning_content"}), always="reasoning_content"),
        "moonshot": Profile(fields=frozenset({"reasoning_content"}), always="reasoning_content"),
        "openrouter": Profile(fields=frozenset({"reasoning", "reasoning_details", "annotations", "images"})),
        "groq": Profile(fields=frozenset({"reasoning"})),
        "mistral": Profile(fields=frozenset(), short_call_ids=True),
        "ollama": Profile(fields=frozenset({"reasoning"})),
        "vllm": Profile(fields=frozenset({"reasoning", "reasoning_content"})),
        "xai": Profile(fields=frozenset({"reasoning_content"})),
        "llama.cpp": Profile(fields=frozenset({"reasoning_content"})),
        "together": Profile(fields=frozenset({"reasoning"})),
        "fireworks": Profile(fields=frozenset({"reasoning_content"})),
    }
)
"""By name of the provider."""
