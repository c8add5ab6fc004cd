"""The tables of `assistant_events.lifecycle` as Markdown and as diagrams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, Final

from assistant_events.lifecycle import ALL_EVENTS, CALL, FRAGMENT, GUARDS, MESSAGE, Rejection
from generated_pages.diagrams import Edge, state_diagram

_Table = Mapping[Any, Mapping[Any, Enum]]  # Any: the three tables differ in their phases


def message() -> str:
    """Return the table of a message, and the place of its diagram."""
    return _message()[1]


def fragment() -> str:
    """Return the table of the fragments of one kind, and the place of its diagram."""
    return _fragment()[1]


def call() -> str:
    """Return the table of a call, and the place of its diagram."""
    return _call()[1]


DRAWINGS: Final[Mapping[str, Callable[[], str]]] = {
    "message": lambda: _raw(_message()[0]),
    "fragment": lambda: _raw(_fragment()[0]),
    "call": lambda: _raw(_call()[0]),
}


def guards() -> str:
    """Return what must hold across a message."""
    return "\n".join(
        ["| event | only when |", "|---|---|", *[f"| `{event.type}` | {text} |" for event, text in GUARDS.items()]]
    )


def _message() -> tuple[str, str]:
    names = {phase: phase.value for phase in MESSAGE}
    leaving = _leaving(MESSAGE)
    edges, stays = _changes(MESSAGE, names, without=leaving)
    gone = set(leaving.values())
    diagram = state_diagram(
        "lifecycle-message",
        [name for phase, name in names.items() if phase not in gone],
        edges,
        stays,
        title="Phases of a message and the events that lead from one to the next",
    )
    note = "\n".join(
        f"From every phase but `unknown`, `{event.type}` leads to `{names[phase]}`.\n"
        f"Nothing leads on from there: what comes later is {_names_of(MESSAGE[phase], names)}.\n"
        for event, phase in leaving.items()
    )
    kept = {
        phase: {event: after for event, after in row.items() if event not in leaving}
        for phase, row in MESSAGE.items()
        if phase not in gone
    }
    return diagram, f"<!-- drawn: message -->\n\n{note}\n{_table(kept, names)}"


def _fragment() -> tuple[str, str]:
    tables = {kind: _plain(kind, table) for kind, table in FRAGMENT.items()}
    first, *others = tables.values()
    if any(first != other for other in others):
        raise ValueError("the kinds of fragments follow different rules by now; draw one diagram for each")
    phases = list(first)
    edges = [
        Edge(phase, after, (f"*.{event}",))
        for phase, row in first.items()
        for event, after in row.items()
        if after in phases and after != phase
    ]
    stays = {phase: [f"*.{event}" for event, after in row.items() if after == phase] for phase, row in first.items()}
    diagram = state_diagram(
        "lifecycle-fragment", phases, edges, stays, title="Phases of the fragments of one kind inside a message"
    )
    lines = [f"| event | {' | '.join(phases)} |", f"|---|{'---|' * len(phases)}"]
    lines += [
        f"| `*.{event}` | {' | '.join(_arrow(row[event], row[event] in phases) for row in first.values())} |"
        for event in first[phases[0]]
    ]
    kinds = ", ".join(f"`{kind}`" for kind in FRAGMENT)
    return diagram, f"<!-- drawn: fragment -->\n\nThe rules are the same for {kinds}.\n\n{_classed(lines)}"


def _call() -> tuple[str, str]:
    names = {phase: phase.value for phase in CALL}
    edges, stays = _changes(CALL, names, without=())
    diagram = state_diagram(
        "lifecycle-call",
        list(names.values()),
        edges,
        stays,
        title="Phases of a call and the events that lead from one to the next",
    )
    return diagram, f"<!-- drawn: call -->\n\n{_table(CALL, names)}"


def _moves(after: Enum) -> bool:
    return not isinstance(after, Rejection)


def _changes(
    table: _Table, names: Mapping[Any, str], *, without: Iterable[Any]
) -> tuple[list[Edge], dict[str, list[str]]]:
    left_out = set(without)
    edges: list[Edge] = []
    stays: dict[str, list[str]] = {}
    for phase, row in table.items():
        targets: dict[Enum, list[str]] = {}
        for event, after in row.items():
            if _moves(after) and event not in left_out:
                targets.setdefault(after, []).append(event.type)
        for after, types in targets.items():
            if after is phase:
                stays[names[phase]] = _grouped(types)
            else:
                edges.append(Edge(names[phase], names[after], tuple(_grouped(types))))
    return edges, stays


def _leaving(table: _Table) -> dict[Any, Any]:
    """Return the events that lead from all phases but the first to one and the same, and that phase."""
    first, *others = table
    found = {}
    for event in table[first]:
        targets = {table[phase][event] for phase in others if _moves(table[phase][event])}
        if len(targets) == 1:
            (target,) = targets
            if all(_moves(table[phase][event]) for phase in others if phase is not target):
                found[event] = target
    return found


def _names_of(row: Mapping[Any, Enum], names: Mapping[Any, str]) -> str:
    """Return the entries of a row without a way out, most frequent first."""
    words: dict[str, list[str]] = {}
    for event, after in row.items():
        words.setdefault(after.value, []).append(event.type)
    common = max(words, key=lambda word: len(words[word]))
    rest = [
        f"`{word}` for {', '.join(f'`{type_}`' for type_ in types)}" for word, types in words.items() if word != common
    ]
    return ", ".join([f"`{common}`", *[f"and {each}" for each in rest]])


def _grouped(types: list[str]) -> list[str]:
    """Return types with `text.started`, `.delta` and `.ended` as `text.*`."""
    stems: dict[str, list[str]] = {}
    for type_ in types:
        stem, _, word = type_.rpartition(".")
        stems.setdefault(stem, []).append(word)
    return [
        f"{stem}.*" if {"started", "delta", "ended"} <= set(words) else f"{stem}.{word}"
        for stem, words in stems.items()
        for word in (["*"] if {"started", "delta", "ended"} <= set(words) else words)
    ]


def _plain(kind: str, table: Any) -> dict[str, dict[str, str]]:
    return {
        phase.value: {event.type.removeprefix(f"{kind}."): after.value for event, after in row.items()}
        for phase, row in table.items()
    }


def _table(table: _Table, names: Mapping[Any, str]) -> str:
    rows: dict[tuple[str, ...], list[str]] = {}
    events = [event for event in ALL_EVENTS if event in next(iter(table.values()))]
    for event in events:
        cells = tuple(_arrow(table[phase][event].value, _moves(table[phase][event])) for phase in table)
        rows.setdefault(cells, []).append(event.type)
    lines = [f"| event | {' | '.join(names[phase] for phase in table)} |", f"|---|{'---|' * len(table)}"]
    lines += [
        f"| {'<br>'.join(f'`{type_}`' for type_ in _grouped(types))} | {' | '.join(cells)} |"
        for cells, types in rows.items()
    ]
    return _classed(lines)


def _classed(lines: list[str]) -> str:
    return "\n".join([":::{table}", ":class: states", "", *lines, "", ":::"])


def _arrow(word: str, moves: bool) -> str:
    return f"→ **{word}**" if moves else word


def _raw(html: str) -> str:
    return f"```{{raw}} html\n{html}\n```"
