"""Which state generateContent takes back from other issuers."""

from __future__ import annotations

from typing import Final

from assistant_events.history import Policy, Treatment, Treatments

POLICY: Final = Policy(
    other_model=Treatments(step=Treatment.BARE),
    item_key="i",
    source="Gemini API documentation, thought signatures (2026-10): each is sent again in the part that it came with, "
    "to any model of Google.",
)
