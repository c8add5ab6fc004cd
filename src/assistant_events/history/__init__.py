"""Which state of a conversation may be sent to which model, with a reason for everything that may not."""

from assistant_events.history.policy import (
    CONTENT_ONLY,
    DEFAULT_POLICY,
    EVERYTHING,
    SHARED_ONLY,
    WITHOUT_STATE,
    Platforms,
    Policy,
    Relation,
    Subject,
    Treatment,
    Treatments,
)
from assistant_events.history.select_state import (
    NO_RESULT_KINDS,
    REASONS,
    REPAIRS,
    Drop,
    DropReason,
    Selection,
    has_result,
    select,
)

__all__ = [
    "CONTENT_ONLY",
    "DEFAULT_POLICY",
    "EVERYTHING",
    "NO_RESULT_KINDS",
    "REASONS",
    "REPAIRS",
    "SHARED_ONLY",
    "WITHOUT_STATE",
    "Drop",
    "DropReason",
    "Platforms",
    "Policy",
    "Relation",
    "Selection",
    "Subject",
    "Treatment",
    "Treatments",
    "has_result",
    "select",
]
