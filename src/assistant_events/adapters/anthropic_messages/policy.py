"""Which state the Messages API takes back from other issuers."""

from __future__ import annotations

from typing import Final

from assistant_events.adapters.claude import PLATFORMS
from assistant_events.history import Policy, Treatment, Treatments

POLICY: Final = Policy(
    other_model=Treatments(reasoning=Treatment.LEFT_OUT, opaque=Treatment.LEFT_OUT),
    reasoning_needs_any=("signature", "data", "redactedContent"),
    item_key="i",
    platforms=PLATFORMS,
    source=(
        "Claude documentation, extended and preserved thinking (2026-10): a signature binds a block to the models that "
        "can read it; a block without one is refused. Search results, citations and containers name no model."
    ),
)
