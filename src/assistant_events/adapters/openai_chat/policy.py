"""
Which state the servers of Chat Completions take back: from other issuers, and each of its own.

A server is looked up by the name of the provider that the caller gives it. Sources: the manuals and issue trackers of
the servers, and requests that they accepted (2025-01 to 2026-10).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, final

import attrs

from assistant_events.adapters.call_ids import nine_characters, shortened
from assistant_events.adapters.encoded import Item
from assistant_events.adapters.items import bridged, joined_prompts, one_call_each, with_one_text
from assistant_events.adapters.openai_chat.vocabulary import SIGNATURES
from assistant_events.adapters.tables import by_word, names
from assistant_events.history import CONTENT_ONLY, Policy, Treatment

POLICY: Final = Policy(
    other_model=attrs.evolve(CONTENT_ONLY, text=Treatment.WHOLE, reasoning=Treatment.UNBOUND, call=Treatment.UNBOUND),
    model_bound_keys=names("detail details extra_content function provider_specific_fields thought").union(SIGNATURES),
    source=(
        "Manuals of DeepSeek, Moonshot and OpenRouter (2026-10): reasoning returns to the server that sent it, in the "
        "field it came in; signatures and encrypted reasoning are read by the model that made them alone."
    ),
)


@final
@attrs.frozen(kw_only=True)
class Profile:
    """What a server takes back."""

    fields: tuple[str, ...] | None = None
    """
    Fields of an answer beside text, refusal, audio and calls; `None` when not known: those that it sent. The first has
    a reasoning that came in none of them.
    """

    always: str | None = None
    """The `reasoning_content` of answers without one, where another has it or the model thinks; `None`: left out."""

    no_content: str | None = None
    """Content of an answer without text; with `None` it is null beside calls, which a few servers refuse."""

    arranged: Callable[[list[Item]], list[Item]] = list
    """Reorders messages, and joins or splits them, until the server accepts them."""

    fit_message: Callable[[Item], Item] = with_one_text
    """Changes a message into one that the server accepts."""

    fit_call_id: Callable[[str], str] = str
    """Changes an id of a call into one that the server accepts."""

    longest_name: int | None = None
    """`EncoderBase.longest_name`."""

    refuses_options: bool = False
    """Whether the server refuses `stream_options`."""


PROFILES: Final = by_word(
    {
        # ids: "maximum length 40", later 64; names: "does not match pattern '^[a-zA-Z0-9_-]+$'"
        Profile(
            fields=(), fit_message=dict, fit_call_id=partial(shortened, longest=40), longest_name=64
        ): "openai azure",
        # "The `reasoning_content` in the thinking mode must be passed back to the API."
        Profile(fields=("reasoning_content",), always=""): "deepseek",
        # An empty one is "missing" (pi#4178), and empty content (kimi-code#1985, MiMo-V2-Flash#8). OpenCode: #27852.
        Profile(fields=("reasoning_content",), always=" ", no_content=" "): "moonshot xiaomi opencode",
        Profile(fields=("reasoning_content",), no_content=" "): "xai",
        Profile(fields=("reasoning_content",)): "llama.cpp fireworks",
        # Cerebras refuses the other field (qwen-code#11045), Cloudflare (sure#467) and LM Studio (its #261) a null.
        Profile(fields=("reasoning",)): "groq ollama together cerebras",
        Profile(no_content=""): "cloudflare lmstudio",
        Profile(fields=("reasoning", "reasoning_content")): "vllm",
        Profile(fields=("reasoning", "reasoning_details", "annotations", "images")): "openrouter",
        # "After the (optional) system message(s), user or tool message(s) should alternate" (anomalyco/opencode#9416).
        Profile(arranged=joined_prompts): "perplexity",
        # 'unknown field "stream_options"' (continue#12936), "Multiple tool calls are not supported." (litellm#31633).
        Profile(arranged=one_call_each, refuses_options=True): "databricks",
        # "Unexpected role 'user' after role 'tool'", code 3230 (zed#37021, datapizza-ai#98). Names "must be a-z, A-Z,
        # 0-9, or contain underscores and dashes, with a maximum length of 64" (witsy#164).
        # "body, stream_options, include_usage: Extra inputs are not permitted" (dnakov/anon-kode#53).
        Profile(
            fields=("thinking",), fit_call_id=nine_characters, arranged=bridged, longest_name=64, refuses_options=True
        ): "mistral",
    }
)
"""By name of the provider."""
