"""
What was measured, as a table for people and as JSON for programs.

Ratios come before figures that only mean something on one machine. The table is drawn with rich where it is installed
and the output is a terminal, and is plain text otherwise.
"""

from __future__ import annotations

import platform
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module, metadata
from typing import Any, TypeAlias

import attrs

from benchmarks.measure import Figure, Note, Settings

_PACKAGES = ("assistant-events", "attrs", "cattrs", "msgspec", "orjson")
_HEAD = ("benchmark", "case", "figure", "goal", "", "low - high", "n", "what")

Row: TypeAlias = tuple[str, str, str, str, str, str, str, str]


@attrs.frozen
class Results:
    """Everything that a run found out."""

    settings: Settings
    figures: Mapping[str, Sequence[Figure]]
    """Under the name of their benchmark."""

    notes: Sequence[Note]

    failed: Mapping[str, str]
    """What went wrong, under the name of the benchmark that raised."""

    seconds: float

    @property
    def missed(self) -> list[str]:
        """The figures that are over their goal, as `benchmark/case`."""
        return [f"{name}/{figure.case}" for name, figure in self._with_names() if figure.met is False]

    @property
    def goals(self) -> int:
        """How many figures have a goal."""
        return sum(figure.goal is not None for _, figure in self._with_names())

    def rows(self) -> list[Row]:
        """Return the lines of the table."""
        ratios = [pair for pair in self._with_names() if pair[1].unit == "x"]
        others = [pair for pair in self._with_names() if pair[1].unit != "x"]
        rows: list[Row] = []
        last = ""
        for name, figure in (*ratios, *others):
            rows.append(_row("" if name == last else name, figure))
            last = name
        return rows

    def footer(self) -> list[str]:
        """Return the lines below the table: what was left out, what failed or missed its goal, and the versions."""
        lines = [note.text for note in self.notes]
        lines.extend(f"failed: {name}: {reason}" for name, reason in self.failed.items())
        lines.append(f"goals: {self.goals - len(self.missed)} of {self.goals} met")
        if self.missed:
            lines.append("missed: " + ", ".join(self.missed))
        lines.append(", ".join(f"{name} {version}" for name, version in versions().items()))
        lines.append(
            f"up to {self.settings.repeats} samples of {self.settings.sample_s * 1e3:.0f} ms or more a side, in turns; "
            f"CPU time; {self.seconds:.0f} s in all"
        )
        return lines

    def as_json(self) -> dict[str, Any]:
        """Return the figures as `{benchmark: {case: value}}`, and beside them how they came about."""
        # Any: a document for others to read.
        figures = {name: {figure.case: figure.value for figure in of} for name, of in self.figures.items()}
        return figures | {
            "failed": dict(self.failed),
            "goals": {f"{name}/{figure.case}": figure.goal for name, figure in self._with_names() if figure.goal},
            "missed": self.missed,
            "spread": {
                f"{name}/{figure.case}": [min(figure.samples), max(figure.samples)]
                for name, figure in self._with_names()
                if figure.samples
            },
            "notes": [note.text for note in self.notes],
            "settings": attrs.asdict(self.settings),
            "versions": versions(),
        }

    def _with_names(self) -> Iterator[tuple[str, Figure]]:
        for name, figures in self.figures.items():
            for figure in figures:
                yield name, figure


def versions() -> dict[str, str]:
    """Return the versions of everything that affects the figures."""
    found = {platform.python_implementation(): platform.python_version(), "SQLite": sqlite3.sqlite_version}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def show(results: Results) -> None:
    """Print the table and the lines below it."""
    if not (sys.stdout.isatty() and _drawn(results.rows())):
        print("\n".join(plain(results.rows())))
    print("\n".join(results.footer()))


def plain(rows: Sequence[Row]) -> list[str]:
    """Return the table as lines of text; figures are set to the right."""
    table = [_HEAD, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(_HEAD))]
    lines: list[str] = []
    for row in table:
        cells = [
            cell.rjust(width) if column in {2, 3, 6} else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "-" * max(map(len, lines)))
    return lines


def _row(name: str, figure: Figure) -> Row:
    mark = {True: "met", False: "MISSED", None: ""}[figure.met]
    spread = f"{_number(min(figure.samples))} - {_number(max(figure.samples))}" if figure.samples else ""
    goal = "" if figure.goal is None else _number(figure.goal)
    value = _number(figure.value) + (" x" if figure.unit == "x" else f" {figure.unit}")
    return name, figure.case, value, goal, mark, spread, str(len(figure.samples) or 1), figure.detail


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def _drawn(rows: Sequence[Row]) -> bool:
    try:
        # Any: rich is none of the things that this package needs.
        console: Any = import_module("rich.console")
        tables: Any = import_module("rich.table")
    except ImportError:
        return False
    table = tables.Table(box=None, header_style="bold", pad_edge=False)
    for column, title in enumerate(_HEAD):
        table.add_column(title, justify="right" if column in {2, 3, 6} else "left", no_wrap=column < 7)
    for row in rows:
        style = {"met": "green", "MISSED": "bold red", "": ""}[row[4]]
        table.add_row(*row[:4], f"[{style}]{row[4]}[/]" if style else "", *row[5:])
    console.Console().print(table)
    return True
