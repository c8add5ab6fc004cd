"""Which state the servers of Chat Completions take back from other issuers."""

from __future__ import annotations

from typing import Final

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
