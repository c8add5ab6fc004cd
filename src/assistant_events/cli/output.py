"""
Standard output: JSON for programs, rows for people, with colours on a terminal.

Everything printed here has passed `visible`. rich is imported when a terminal is there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any, Final

import attrs

from assistant_events.cli.rendering import Row
from assistant_events.cli.terminal_safe import one_line, visible, visible_json
from assistant_events.converters import unstructure
from assistant_events.messages import Message, Part, Transcript, redact
from assistant_events.values import JsonObject, write_json

_LABEL_WIDTH: Final = 9
_STYLES: Final = {"dim": "dim", "call": "cyan", "bad": "red", "": ""}
_HIDDEN: Final = frozenset({"state", "result_state", "run", "times", "extra"})


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout.isatty()


def print_json(document: object) -> None:
    """Print one JSON document in one line."""
    text = visible_json(write_json(document).decode())
    if (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
        text = json.dumps(json.loads(text))
    sys.stdout.write(f"{text}\n")


def print_rows(rows: Iterable[Row]) -> None:
    """Print rows, an empty line before each heading but the first."""
    rows = list(rows)
    if is_terminal():
        _print_styled(rows)
    else:
        for at, row in enumerate(rows):
            gap = "\n" if at and row.heading else ""
            sys.stdout.write(f"{gap}{_plain(row)}\n")


def print_table(titles: tuple[str, ...], lines: list[tuple[str, ...]]) -> None:
    """Print a table whose columns are as wide as they need to be."""
    table = [tuple([one_line(cell) for cell in line]) for line in [titles, *lines]]
    widths = [max(len(line[column]) for line in table) for column in range(len(titles))]
    padded = [
        "  ".join([cell.ljust(width) for cell, width in zip(line, widths, strict=True)]).rstrip() for line in table
    ]
    if is_terminal():
        from rich.console import Console
        from rich.text import Text

        console = Console(highlight=False)
        for at, line in enumerate(padded):
            console.print(Text(line, "bold" if at == 0 else ""))
    else:
        sys.stdout.write("".join([f"{line}\n" for line in padded]))


def print_text(text: str) -> None:
    """Print a sentence."""
    sys.stdout.write(f"{visible(text)}\n")


def note_line(text: str) -> str:
    """Return a note as it is written to standard error."""
    return one_line(f"assistant-events: {text}")


def print_note(text: str) -> None:
    """Print a note to standard error."""
    print(note_line(text), file=sys.stderr, flush=True)


def transcript_document(transcript: Transcript) -> dict[str, Any]:
    """
    Return the wire form of *transcript* without state, and with every other field, also those that hold their default.
    """
    shown = redact(transcript)
    document: dict[str, Any] = unstructure(shown)
    _complete(shown, document)
    return document


def _complete(value: Transcript | Message | Part, document: dict[str, Any]) -> None:
    for field in attrs.fields(type(value)):
        if field.name in _HIDDEN:
            continue
        held = getattr(value, field.name)
        if field.name in ("messages", "parts"):
            for inner, inner_document in zip(held, document.setdefault(field.name, []), strict=True):
                _complete(inner, inner_document)
        elif field.name not in document:
            document[field.name] = [] if held == () else {} if isinstance(held, JsonObject) else held


def _plain(row: Row) -> str:
    if row.heading:
        return _heading(row)
    margin = _margin(row)
    first, *more = visible(row.text).split("\n")
    lines = [f"{margin}{row.label:<{_LABEL_WIDTH}} {first}".rstrip()]
    return "\n".join([*lines, *[f"{margin}{'':<{_LABEL_WIDTH}} {line}".rstrip() for line in more]])


def _heading(row: Row) -> str:
    return f"{one_line(row.label)}  {one_line(row.text)}"


def _margin(row: Row) -> str:
    return "    " if row.deeper else "  "


def _print_styled(rows: list[Row]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    for at, row in enumerate(rows):
        if row.heading:
            if at:
                console.print()
            console.print(Text(_heading(row), f"bold {_STYLES[row.tone]}".strip()))
            continue
        margin = _margin(row)
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(width=len(margin) + _LABEL_WIDTH, no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(Text(margin + row.label, "dim"), Text(visible(row.text), _STYLES[row.tone]))
        console.print(grid)
