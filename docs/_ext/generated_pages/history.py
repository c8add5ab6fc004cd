"""The policies of the installed dialects as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assistant_events.adapters import dialect_names, load_dialect
from assistant_events.history import DEFAULT_POLICY, REASONS, Policy, Relation, Subject, Treatment
from generated_pages.reading import members_of, one_line

_NAMES = {Subject.STEP: "message, run", Subject.CALL: "call of the app", Subject.PROVIDER_CALL: "call of the provider"}


def policies() -> str:
    """Return a section for each installed dialect, and one for dialects without a policy."""
    known = [(f"`{name}`", load_dialect(name).policy) for name in dialect_names()]
    return "\n\n".join(_section(*each) for each in [*known, ("A dialect without a policy", DEFAULT_POLICY)])


def treatments() -> str:
    """Return the treatments."""
    lines = ["| treatment | what is sent |", "|---|---|"]
    lines += [f"| {word} | {one_line(doc)} |" for word, doc in members_of(Treatment)]
    return "\n".join(lines)


def reasons() -> str:
    """Return the reasons of drops."""
    lines = ["| reason | |", "|---|---|"]
    lines += [f"| `{reason.value}` | {text} |" for reason, text in REASONS.items()]
    return "\n".join(lines)


def _section(title: str, policy: Policy) -> str:
    relations = [each for each in Relation if each is not Relation.SAME_MODEL or policy.platforms is not None]
    rows = [
        [_NAMES.get(subject, subject.value), *[policy.treatments(relation).of(subject).value for relation in relations]]
        for subject in Subject
    ]
    table = [["", *[relation.value for relation in relations]], ["---"] * (len(relations) + 1), *rows]
    lines = [f"| {' | '.join(row)} |" for row in table]
    return "\n".join([f"### {title}", "", *lines, "", *_remarks(policy), "", f"Source: {policy.source}"])


def _remarks(policy: Policy) -> Iterator[str]:
    if policy.reasoning_needs_any:
        yield f"Reasoning is sent only with {_listed(policy.reasoning_needs_any, 'or')} in its state."
    if policy.item_key is not None:
        yield f"Parts with the same `{policy.item_key}` are one item of the provider."
    if policy.model_bound_keys:
        yield f"Unbound means without {_listed(sorted(policy.model_bound_keys), 'and')}."
    if policy.platforms is not None:
        origins = sorted(f"`{dialect}` of `{provider}`" for provider, dialect in policy.platforms.origins)
        yield f"Its models run as {', '.join(origins)}; shared is {_listed(sorted(policy.platforms.keys), 'and')}."
    if policy.items_reference_each_other:
        yield "The items of a step reference each other: when one is not sent, the others are sent as to another model."


def _listed(names: Iterable[str], last: str) -> str:
    return f" {last} ".join([f"`{name}`" for name in names])
