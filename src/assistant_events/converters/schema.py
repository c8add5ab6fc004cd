"""
JSON Schema (draft 2020-12) of everything that is stored, generated from the classes and the hooks of their fields.

A schema accepts the documents of this version that `structure` accepts. It cannot express everything: 1.0 is an
integer to it, and depth, the order of `Citation.start` and `end` and the validity of dates are not checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, get_args, get_origin

from assistant_events import events as ev
from assistant_events import messages as ms
from assistant_events import values as val
from assistant_events.converters.converter import CLASS_HOOKS, STORED, SUBSETS
from assistant_events.converters.value_hooks import NAME, VALUE_HOOKS, Schema

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"

_NAMES: Final[Mapping[Any, str]] = {
    ev.Event: "Event",
    ev.DurableEvent: "DurableEvent",
    ev.LiveEvent: "LiveEvent",
    val.Content: "Content",
    ms.Part: "Part",
    ms.Message: "Message",
}

_DATA: Final[Schema] = {"properties": {"data": {"type": "string"}}, "required": ["data"]}
_URI: Final[Schema] = {"properties": {"uri": {"type": "string"}}, "required": ["uri"]}
_CUT: Final[Schema] = {"properties": {"complete": {"const": False}}, "required": ["complete"]}
_RULES: Final[Mapping[Any, Schema]] = {
    val.MediaContent: {"oneOf": [_DATA, _URI]},
    ev.MediaEnded: {"anyOf": [_DATA, _URI, _CUT], "not": {"allOf": [_DATA, _URI]}},
}
"""What the classes check of several fields together, after their construction."""


def json_schema(*classes: object, written: bool = False) -> dict[str, Any]:
    """
    Return the JSON Schema of stored documents, with a definition for each class under `$defs`.

    Args:
        classes: Unions such as `Event` and `Message`, or classes that are stored; by default events, records, frames,
            messages and transcripts. A document is valid when it is one of them.

        written: Describe the documents that this version writes, instead of those that it reads: no field is `null`,
            and the fields that are always written are required.

    Raises:
        TypeError: The library does not store one of the classes.
    """
    definitions = _Definitions(written)
    schemas = [
        definitions.schema_of(cls) for cls in classes or (ev.Event, ev.Record, ev.Frame, ms.Message, ms.Transcript)
    ]
    root = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    return {"$schema": DRAFT, **root, "$defs": dict(sorted(definitions.found.items()))}


class _Definitions:
    def __init__(self, written: bool) -> None:
        self.written = written
        self.found: dict[str, Schema] = {}

    def schema_of(self, hint: Any) -> Schema:
        """Return the schema of an annotation; it refers to definitions, which are added to `found`."""
        # Any: a class, or a union of classes.
        if hint in VALUE_HOOKS:
            return VALUE_HOOKS[hint].schema
        if get_origin(hint) is tuple:
            return {"type": "array", "items": self.schema_of(get_args(hint)[0])}
        if hint not in STORED:
            raise TypeError(f"expected a class that is stored, got {hint!r}")
        if hint in _NAMES or isinstance(hint, type):
            return self._reference(_NAMES.get(hint) or hint.__name__, hint)
        return self._union(hint)

    def _reference(self, name: str, hint: Any) -> Schema:
        if name not in self.found:
            self.found[name] = {}  # a definition may refer to itself
            self.found[name] = self._class(hint) if isinstance(hint, type) else self._union(hint)
        return {"$ref": f"#/$defs/{name}"}

    def _union(self, hint: Any) -> Schema:
        classes = SUBSETS[hint][1] if hint in SUBSETS else get_args(hint)
        return {"oneOf": [self.schema_of(cls) for cls in classes]}

    def _class(self, cls: type) -> Schema:
        about = {"description": " ".join((cls.__doc__ or "").partition("\n\n")[0].split())}
        if cls is ev.UnknownEvent:
            return {**about, **_unknown_event()}
        return {**about, **CLASS_HOOKS.schema(cls, self.schema_of, written=self.written), **_RULES.get(cls, {})}


def _unknown_event() -> Schema:
    """Return the schema of events of other types, and of newer versions of the known types."""
    newer: list[Schema] = [
        {
            "properties": {
                "type": {"enum": [cls.type for cls in classes]},
                "v": {"type": "integer", "minimum": version + 1},
            },
            "required": ["v"],
        }
        for version, classes in groupby(sorted(ev.EVENT_TYPES.values(), key=_VERSION), key=_VERSION)
    ]
    return {
        "type": "object",
        "properties": {"type": NAME, "v": {"type": "integer", "minimum": 1}},
        "required": ["type"],
        "anyOf": [{"properties": {"type": {"not": {"enum": [*ev.EVENT_TYPES]}}}}, *newer],
    }


_VERSION: Final = attrgetter("version")
