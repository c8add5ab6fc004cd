"""Which state Converse takes back from other issuers."""

from __future__ import annotations

from typing import Final

from assistant_events.adapters.claude import PLATFORMS
from assistant_events.history import Policy, Treatment, Treatments

POLICY: Final = Policy(
    other_model=Treatments(
        step=Treatment.BARE,
        reasoning=Treatment.LEFT_OUT,
        provider_call=Treatment.LEFT_OUT,
        opaque=Treatment.LEFT_OUT,
    ),
    reasoning_needs_any=("signature", "redactedContent", "data"),
    item_key="i",
    platforms=PLATFORMS,
    source=(
        "Bedrock documentation, thinking block binding (2026-10): a signature binds a block to the model that issued "
        "it. Models without signatures refuse reasoning, or repeat it as their answer (vercel/ai). Citations name no "
        "model. Tools that Bedrock runs are those of one family of models (Nova)."
    ),
)
"""The policy of this dialect."""
