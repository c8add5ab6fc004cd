"""Installed dialects as Markdown."""

from __future__ import annotations

from importlib.metadata import entry_points

from assistant_events.adapters import load_dialect
from assistant_events.adapters.dialect import GROUP

_CAN = ("decoder", "decode_resource", "detect", "encoder", "emitter", "emit_resource")


def dropped(name: str) -> str:
    """Return what the decoder of a dialect does not keep."""
    lines = ["| field | why |", "|---|---|"]
    for field, reason in load_dialect(name).dropped.items():
        if (code := field.removeprefix("note:")) != field:
            lines.append(f"| what has the note `{code}` | {reason} |")
            continue
        word, _, path = field.rpartition("/")
        where = f", in `{word}`" if word else ", of the frame itself" if path.startswith(".") else ""
        lines.append(f"| `{path.removeprefix('.')}`{where} | {reason} |")
    return "\n".join(lines)


def installed() -> str:
    """Return what each dialect of this distribution can do."""
    names = sorted(entry.name for entry in entry_points(group=GROUP) if entry.value.startswith("assistant_events."))
    lines = [f"| dialect | {' | '.join(f'`{word}`' for word in _CAN)} |", f"|---|{'---|' * len(_CAN)}"]
    for name in names:
        dialect = load_dialect(name)
        cells = ["no" if getattr(dialect, word) is None else "yes" for word in _CAN]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines)
