"""The recovery of runs, as Markdown, from the tables and docstrings of the client."""

from __future__ import annotations

from assistant_events.clients.recovery import ACTIONS, FailureMode, RecoveryPolicy, Situation
from generated_pages.reading import fields_of, members_of, one_line


def decisions() -> str:
    """Return a row for each situation, with the actions that make sense in it."""
    lines = ["| situation | | actions |", "|---|---|---|"]
    for word, doc in members_of(Situation):
        actions = ", ".join(action.value for action in ACTIONS[Situation(word)])
        lines.append(f"| `{word}` | {one_line(doc)} | {actions} |")
    return "\n".join(lines)


def modes() -> str:
    """Return a row for each failure mode."""
    lines = ["| mode | |", "|---|---|"]
    lines += [f"| `{word}` | {one_line(doc)} |" for word, doc in members_of(FailureMode)]
    return "\n".join(lines)


def policy() -> str:
    """Return a row for each field of the policy, with its default."""
    lines = ["| field | default | |", "|---|---|---|"]
    lines += [f"| `{field.name}` | `{field.default}` | {one_line(field.doc)} |" for field in fields_of(RecoveryPolicy)]
    return "\n".join(lines)
