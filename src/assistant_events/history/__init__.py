"""Which of the state in a conversation may go back to which model, with a reason for all that may not."""

from assistant_events.history.policy import (
    OTHER_POLICY,
    POLICIES,
    Policy,
    Relation,
    RuleRow,
    RuleSheet,
    Subject,
    Treatment,
    Treatments,
    describe_rules,
)
from assistant_events.history.select import (
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
    "NO_RESULT_KINDS",
    "OTHER_POLICY",
    "POLICIES",
    "REASONS",
    "REPAIRS",
    "Drop",
    "DropReason",
    "Policy",
    "Relation",
    "RuleRow",
    "RuleSheet",
    "Selection",
    "Subject",
    "Treatment",
    "Treatments",
    "describe_rules",
    "has_result",
    "select",
]
