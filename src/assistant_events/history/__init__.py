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
from assistant_events.history.select import REASONS, REPAIRS, Drop, DropReason, Selection, select

__all__ = [
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
    "select",
]
