"""What to do about a run, as Markdown, from the tables that the client goes by."""

from __future__ import annotations

from assistant_events.clients.recovery import (
    DECISIONS,
    LETTERS,
    Choice,
    FailureMode,
    RecoveryPolicy,
    Situation,
)
from generated_pages.reading import fields_of, members_of, one_line


def decisions() -> str:
    """Return a row for each situation, with what makes sense in it and why."""
    told = dict(members_of(Situation))
    lines = ["| situation | | Resume | Recover | Stop |", "|---|---|---|---|---|"]
    for situation, choices in DECISIONS.items():
        cells = [_cell(choice) for choice in (choices.resume, choices.recover, choices.stop)]
        lines.append(f"| `{situation.value}` | {one_line(told[situation.value])} | {' | '.join(cells)} |")
    return "\n".join(lines)


def modes() -> str:
    """Return a row for each failure mode."""
    lines = ["| | mode | |", "|---|---|---|"]
    lines += [
        f"| {LETTERS.get(FailureMode(word), '')} | `{word}` | {one_line(doc)} |"
        for word, doc in members_of(FailureMode)
    ]
    return "\n".join(lines)


def policy() -> str:
    """Return a row for each number of the policy, with its default and where that comes from."""
    lines = ["| number | default | |", "|---|---|---|"]
    lines += [f"| `{field.name}` | `{field.default}` | {one_line(field.doc)} |" for field in fields_of(RecoveryPolicy)]
    return "\n".join(lines)


def _cell(choice: Choice) -> str:
    word = "**first**" if choice.primary else "busy" if choice.busy else "yes" if choice.available else "no"
    return f"{word}: {choice.why}"
