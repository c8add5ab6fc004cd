"""
Writes the generated parts of the JavaScript module that folds events: the tables of the lifecycle, and the types.

A generated part is behind a comment `// generated: name`, up to a comment with its end. `make pages` writes it, and a
test fails when it is stale.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Final

from assistant_events.converters import json_schema
from assistant_events.events import EVENT_TYPES, UnknownEvent
from assistant_events.lifecycle import CALL, FRAGMENT, MESSAGE, Outcome, Rejection
from assistant_events.messages import MESSAGE_CLASSES, Transcript
from assistant_events.messages.redact import REDACTED
from assistant_events.values import RemoteRun

OUTWARD: Final = Path(__file__).parents[1] / "src" / "assistant_events" / "outward"
FILES: Final = (OUTWARD / "fold.mjs", OUTWARD / "fold.d.mts")

_MARK: Final = re.compile(r"^// generated: ([a-z]+)$.*?^// end of \1$", re.MULTILINE | re.DOTALL)
_WIDTH: Final = 120


def main() -> None:
    """Write the generated parts into the files."""
    for path in FILES:
        path.write_text(fill(path.read_text("utf-8")), "utf-8")


def fill(source: str) -> str:
    """Return *source* with what the generator of each mark returns."""
    return _MARK.sub(lambda mark: f"// generated: {mark[1]}\n{_PARTS[mark[1]]().rstrip()}\n// end of {mark[1]}", source)


def tables() -> str:
    """Return the tables of the lifecycle, by the types of events, and the versions that they are of."""
    [version] = {cls.version for cls in (*MESSAGE_CLASSES, Transcript)}
    return "\n".join(
        [
            f"const VERSION = {version};",
            "",
            "// Version of each event.",
            _constant("EVENTS", {cls.type: cls.version for cls in EVENT_TYPES.values()}),
            "",
            "// Why an event is out of place; `again` when it may be the one that was here before.",
            f"const REJECTIONS = new Set({_literal([each.value for each in Rejection])});",
            "",
            "// Phase of a message, then event: the phase that follows, or why the event is out of place.",
            _constant("MESSAGE", {phase.value: _shortened(_named(row)) for phase, row in MESSAGE.items()}),
            "",
            "// The same for fragments, by kind and phase, and for calls, by phase.",
            _constant(
                "FRAGMENT",
                {kind: {phase.value: _named(row) for phase, row in rows.items()} for kind, rows in FRAGMENT.items()},
            ),
            _constant("CALL", {phase.value: _named(row) for phase, row in CALL.items()}),
        ]
    )


def _named(row: Mapping[Any, Enum]) -> dict[str, object]:
    # Any: the class of an event.
    return {type_: row[cls].value for type_, cls in EVENT_TYPES.items() if cls in row}


def _shortened(row: Mapping[str, object]) -> dict[str, object]:
    """Return a row of all events with the most common value once, as `otherwise`."""
    [(common, _)] = Counter(row.values()).most_common(1)
    return {**{type_: after for type_, after in row.items() if after != common}, "otherwise": common}


def outcomes() -> str:
    """Return the type of outcomes."""
    return f"export type Outcome = {' | '.join([_literal(each.value) for each in Outcome])};"


def documents() -> str:
    """
    Return an interface for each class and a type for each union, without the fields that `redact` empties.

    `Event` has the known events alone; the event of a record may be an unknown one, too.
    """
    definitions: dict[str, Any] = json_schema(written=True)["$defs"]
    # Any: JSON Schema.
    hidden = {UnknownEvent.__name__, RemoteRun.__name__}  # the first is written by hand, the other is never sent
    kept = {name: schema for name, schema in definitions.items() if name not in hidden}
    return "\n".join([_declaration(name, schema) for name, schema in kept.items()])


def _declaration(name: str, schema: Mapping[str, Any]) -> str:
    if "properties" not in schema:
        known = [each for each in _alternatives(schema) if each != UnknownEvent.__name__]
        return f"export type {name} =\n  | " + "\n  | ".join(known) + ";\n"
    lines = [f"/** {schema['description']} */", f"export interface {name} {{"]
    for field, inner in schema["properties"].items():
        if field not in REDACTED:
            lines.append(f"  {field}{'' if field in schema['required'] else '?'}: {_type(inner)};")
    return "\n".join([*lines, "}\n"])


def _alternatives(schema: Mapping[str, Any]) -> list[str]:
    return [_type(each) for each in schema.get("oneOf") or schema["anyOf"]]


def _type(schema: Mapping[str, Any]) -> str:
    match schema:
        case {"$ref": str(place)}:
            return place.rpartition("/")[2]
        case {"const": value}:
            return _literal(value)
        case {"enum": [*values]}:
            return " | ".join([_literal(value) for value in values])
        case {"type": "array", "items": items}:
            inner = _type(items)
            return f"readonly ({inner})[]" if " " in inner else f"readonly {inner}[]"
        case {"type": "integer"}:
            return "number"
        case {"type": "object"}:
            return "{ readonly [name: string]: unknown }"
        case {"type": str(name)}:
            return name
        case {"anyOf": _} | {"oneOf": _}:
            return " | ".join(_alternatives(schema))
        case _:
            return "unknown"


def _constant(name: str, value: object) -> str:
    return f"const {name} = {_literal(value)};"


def _literal(value: object, indent: str = "") -> str:
    """Return a JavaScript literal, in one line where it fits."""
    if isinstance(value, Mapping):
        items = [f"{_key(key)}: {_literal(inner, indent + '  ')}" for key, inner in value.items()]
        line = f"{{ {', '.join(items)} }}"
        if "\n" not in line and len(indent) + len(line) < _WIDTH - 20:
            return line
        return "{\n" + "".join([f"{indent}  {item},\n" for item in items]) + f"{indent}}}"
    if isinstance(value, list):
        return f"[{', '.join([_literal(each) for each in value])}]"
    return f"'{value}'" if isinstance(value, str) else json.dumps(value)


def _key(name: object) -> str:
    text = str(name)
    return text if text.isidentifier() else f"'{text}'"


_PARTS: Final[Mapping[str, Callable[[], str]]] = {"tables": tables, "outcomes": outcomes, "documents": documents}

if __name__ == "__main__":
    main()
