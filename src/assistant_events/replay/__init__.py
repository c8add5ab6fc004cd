"""Which of the state in a conversation may go back to which model, with a reason for all that may not."""

from assistant_events.replay.rules import (
    OTHER_RULES,
    RULES,
    Cells,
    Relation,
    RuleRow,
    Rules,
    RuleSheet,
    Subject,
    Treatment,
    describe_rules,
)
from assistant_events.replay.selecting import REASONS, REPAIRS, Drop, DropReason, Selection, select

__all__ = [
    "OTHER_RULES",
    "REASONS",
    "REPAIRS",
    "RULES",
    "Cells",
    "Drop",
    "DropReason",
    "Relation",
    "RuleRow",
    "RuleSheet",
    "Rules",
    "Selection",
    "Subject",
    "Treatment",
    "describe_rules",
    "select",
]
