"""Which state the Responses API takes back from other issuers."""

from __future__ import annotations

from typing import Final

from assistant_events.adapters.tables import names
from assistant_events.history import Policy, Treatment, Treatments

POLICY: Final = Policy(
    other_model=Treatments(
        step=Treatment.BARE,
        text=Treatment.UNBOUND,
        reasoning=Treatment.LEFT_OUT,
        call=Treatment.UNBOUND,
        provider_call=Treatment.LEFT_OUT,
        opaque=Treatment.LEFT_OUT,
    ),
    reasoning_needs_any=("encrypted_content", "stored", "content_index"),
    storage_key="stored",
    item_key="i",
    model_bound_keys=frozenset({"item_id", "caller"}),
    items_reference_each_other=True,
    source=(
        "openai 3.54.0 and reports of refused requests (2026-11): encrypted reasoning is bound to model and "
        "organisation; without it a reasoning is only known by its id where the response is stored; the id of an item "
        "that follows a reasoning is refused without that reasoning."
    ),
)

STATELESS: Final = names("copilot deepseek huggingface litellm llama.cpp mistral snowflake transformers upstage")
"""Servers that keep no answers, also where they do not write so: they refuse the id of one, or forget what it was."""
