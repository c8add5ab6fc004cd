"""The replay rules of every dialect as Markdown, from the data that `assistant_events.history` goes by."""

from __future__ import annotations

from assistant_events.history import REASONS, Relation, RuleSheet, Treatment, describe_rules
from generated_pages.reading import members_of, one_line


def rules() -> str:
    """Return a section for each dialect, and one for all others."""
    return "\n\n".join(_sheet(sheet) for sheet in describe_rules())


def treatments() -> str:
    """Return what may become of something."""
    lines = ["| word | |", "|---|---|"]
    lines += [f"| {word} | {one_line(doc)} |" for word, doc in members_of(Treatment)]
    return "\n".join(lines)


def reasons() -> str:
    """Return why something is left out."""
    lines = ["| reason | |", "|---|---|"]
    lines += [f"| `{reason.value}` | {text} |" for reason, text in REASONS.items()]
    return "\n".join(lines)


def _sheet(sheet: RuleSheet) -> str:
    title = "Every other dialect" if sheet.dialect == "*" else f"`{sheet.dialect}`"
    cells: dict[str, list[str]] = {}
    for row in sheet.rows:
        cells.setdefault(row.subject.value, []).append(row.treatment.value)
    lines = [f"| | {' | '.join(relation.value for relation in Relation)} |", f"|---|{'---|' * len(Relation)}"]
    lines += [f"| {_named(subject)} | {' | '.join(treatments)} |" for subject, treatments in cells.items()]
    return "\n".join([f"### {title}", "", *lines, "", *sheet.remarks, "", f"Source: {sheet.source}"])


def _named(subject: str) -> str:
    return {"step": "message, run", "call": "call of the app", "provider_call": "call of the provider"}.get(
        subject, subject
    )
