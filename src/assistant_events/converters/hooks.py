"""
The wire form for converters of cattrs.
"""

from __future__ import annotations

from typing import Any

import cattrs

from assistant_events.converters import plain
from assistant_events.converters.codecs import Codec
from assistant_events.converters.faults import ShapeError
from assistant_events.converters.wire import CODECS
from assistant_events.values import JsonObject, State


def make_converter() -> cattrs.Converter:
    """Return a converter that knows the wire form; see `configure_converter`."""
    converter = cattrs.Converter()
    configure_converter(converter)
    return converter


def configure_converter(converter: cattrs.Converter) -> None:
    """
    Teach *converter* the wire form, so that classes of yours can hold events, records, messages, parts and values.

    - An event is an object with its `type`, its version `v` and its fields by their names.
    - Fields that equal their default are left out: an empty state, `complete` true, `None`. Only the status of messages
      and parts and the three fields of a transcript are always there.
    - A record is `session_id`, `seq`, `at`, `event` and, unless it is empty, `meta`.
    - Messages, parts and contents are told apart by `type`: `user`, `assistant`, `compaction`; `text`, `reasoning`,
      `media`, `tool`, `opaque`; `text`, `json`, `media`. A transcript has its version under `v`, and a newer one is
      refused.
    - Bytes are base64, enums their words, moments ISO 8601 in UTC with a `Z` and with their microseconds.
    - State and other JSON stands as it is: every string code unit for code unit, integers of any size, keys in their
      order.
    - Reading converts nothing: `"false"` and 0 are no booleans, `true` and 1.0 are no integers, and null stands only
      where a field may be `None`.
    - Unknown fields go into `extra` of events and values and are written back behind the known ones. Records,
      messages, parts and transcripts have no place for them: there they are refused.
    - An event of an unknown type, or of a newer version than ours, becomes an `UnknownEvent` with the whole document
      and is written back as it came. Older versions are brought up by `upcasting`. No `v` means version 1.
    - What does not fit raises `StructureError` with the path of the field, from the root of the value on.
    """
    for cls, codec in CODECS.items():
        _register(converter, cls, codec)
    _register(converter, JsonObject, plain.OBJECT)
    _register(converter, State, plain.STATE)


def _register(converter: cattrs.Converter, cls: Any, codec: Codec) -> None:
    # Any: the unions are registered as well as the classes.
    def structured(data: Any, _: Any) -> Any:
        try:
            return codec.read(plain.owned(data))
        except ShapeError as fault:
            raise fault.as_error() from None

    def unstructured(value: Any) -> Any:
        return codec.write(value)

    converter.register_structure_hook(cls, structured)
    converter.register_unstructure_hook(cls, unstructured)
