"""Which state the Interactions API takes back from other issuers."""

from __future__ import annotations

from typing import Final

from assistant_events.history import Policy, Treatment, Treatments

POLICY: Final = Policy(
    other_model=Treatments(step=Treatment.BARE),
    reasoning_needs_any=("signature",),
    item_key="i",
    source=(
        "Gemini API documentation, Interactions (2026-10): every thought of the history is sent again in place, with "
        "summary and signature, to another model as well. An empty signature is refused (googleapis/js-genai#1735)."
    ),
)
