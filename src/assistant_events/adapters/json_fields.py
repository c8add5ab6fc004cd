"""Reading fields of a parsed document. A wrong type counts as missing: what a provider sent never raises."""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from math import isfinite
from typing import Any, TypeAlias

from typing_extensions import TypeIs

from assistant_events.errors import JsonError
from assistant_events.values import MAX_DEPTH, JsonObject, read_json, thaw, write_json
from assistant_events.values.json_values import LazyObject, wrap
from assistant_events.values.text import joined_pairs, valid_text

Fields: TypeAlias = Mapping[str, Any]
"""
A parsed JSON object of the wire, in `dict`, `list` and scalars. `Any`, because nothing is known of it until it is
read with the functions here.
"""

FRAME_DEPTH = MAX_DEPTH - 8
"""
How deep a frame or a document of a provider may nest. A state that keeps a part of it has a few levels around that
part, and a state has no more than `MAX_DEPTH`.
"""

_NOTHING: Fields = {}
_NO_KEYS = frozenset[str]()
_OBJECTS = (dict, JsonObject)
_ARRAYS = (list, tuple)


def plain_json(value: object, depth: int = 0) -> Any:
    """
    Return a plain copy of what a caller parsed or dumped: `dict`, `list` and scalars, as a JSON reader gives them.

    What is not JSON (NaN, keys that are not strings, what nests too deeply, other objects) is left out of objects and
    is `None` in arrays; bytes become base64, and times ISO 8601, as the SDKs write them. Objects of an SDK are dumped
    with the fields that were set; where it has wrapped what it does not know, the raw JSON inside is taken.
    """
    if isinstance(value, str):
        return joined_pairs(str.__str__(value))
    if isinstance(value, (Mapping, list, tuple)) and depth >= FRAME_DEPTH:
        return None
    if isinstance(value, Mapping):
        if "is_unknown" in value and _is_wrapper(value):
            return plain_json(value["raw"], depth + 1)
        copies = {str.__str__(key): plain_json(item, depth + 1) for key, item in value.items() if isinstance(key, str)}
        return {key: item for key, item in copies.items() if item is not None or value[key] is None}
    if isinstance(value, (list, tuple)):
        return [plain_json(item, depth + 1) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and isfinite(value):
        return float(value)
    text = _text_of(value)
    return plain_json(dumped(value, exclude_unset=True), depth) if text is None else text


def _text_of(value: object) -> str | None:
    """Return bytes or a time as an SDK writes it in JSON; `None` for anything else."""
    if isinstance(value, (bytes, bytearray)):
        return b64encode(value).decode()
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else None


def dumped(value: object, **options: bool) -> Fields | None:
    """Return the fields of an object of an SDK, with *options* of `model_dump`, or of a mapping, else `None`."""
    dump = None if isinstance(value, type) else getattr(value, "model_dump", None)
    fields: Any = dump(mode="json", by_alias=True, **options) if callable(dump) else value
    return fields if isinstance(fields, Mapping) else None


def _is_wrapper(dumped: Mapping[Any, Any]) -> bool:
    """Whether an SDK wrapped raw JSON, as google-genai 2.19 does: `type: "UNKNOWN"`, `raw`, `is_unknown: true`."""
    return (
        len(dumped) == 3
        and dumped["is_unknown"] is True
        and isinstance(dumped.get("raw"), Mapping)
        and dumped.get("type", dumped.get("event_type")) == "UNKNOWN"
    )


def is_object(value: object) -> TypeIs[Fields]:
    """Return whether a value is an object, plain, frozen or of the app."""
    return type(value) is dict or isinstance(value, Mapping)  # most are plain, and the second takes ten times as long


def is_array(value: object) -> TypeIs[list[Any] | tuple[Any, ...]]:
    """Return whether a value is an array."""
    return isinstance(value, (list, tuple))


def without(fields: Fields, own: Collection[str]) -> dict[str, Any]:
    """Return the fields that are not in *own*, nulls too."""
    return {key: value for key, value in fields.items() if key not in own}


def pruned(value: Any, key: str) -> Any:
    """Return *value* without the field *key*, and without the objects in it that have one, at every depth."""
    if is_object(value):
        return {name: pruned(each, key) for name, each in value.items() if name != key and not _has(each, key)}
    return [pruned(each, key) for each in value if not _has(each, key)] if is_array(value) else value


def _has(value: object, key: str) -> bool:
    return is_object(value) and key in value


def others(fields: Fields, *own: Collection[str]) -> dict[str, Any]:
    """
    Return the fields that have a value, but for those that are in one of *own*.

    A null means the same as a missing field: google-genai 1.75 dumps nulls.
    """
    hidden = own[0] if len(own) == 1 else _NO_KEYS.union(*own)
    # Most objects have no others, and a set compares their keys without a loop in Python.
    if isinstance(hidden, frozenset) and hidden.issuperset(fields):
        return {}
    return {key: value for key, value in fields.items() if value is not None and key not in hidden}


def filled(fields: Fields, *own: Collection[str]) -> dict[str, Any]:
    """Return what `others` returns, but for empty texts."""
    return {key: value for key, value in others(fields, *own).items() if value != ""}


def has_any(value: object) -> bool:
    """Return whether a value has anything: an object of empty values has nothing, as Tencent's `function_call`."""
    return any(value.values()) if is_object(value) else bool(value)


def learn(facts: dict[str, Any], fields: Fields, *own: Collection[str]) -> bool:
    """
    Put what `others` returns into *facts*: objects are merged at one level, else the last value counts.

    A null in an object replaces no value.

    Returns:
        Whether something is new.
    """
    has_news = False
    for key, value in others(fields, *own).items():
        merged = {**value, **mapping(facts, key), **others(value)} if isinstance(value, dict) else value
        if facts.get(key) != merged:
            facts[key], has_news = merged, True
    return has_news


def merged(known: object, value: Any) -> Any:
    """Return *value* with what *known* has beside it, at every depth of objects. An empty string replaces nothing."""
    if not (is_object(known) and is_object(value)):
        return known if value == "" and known else value
    return {**known, **{key: merged(known.get(key), each) for key, each in value.items()}}


def extend_arrays(facts: dict[str, Any], key: str, fields: Fields, *, repeats: bool = False) -> None:
    """
    Put *fields* into the object of *facts* under *key*, arrays behind those that it has. Nothing for empty ones.

    With *repeats* empty ones count, and an array that begins with the one that is there has its items again.
    """
    news = fields and {name: value for name, value in others(fields).items() if value != [] or repeats}
    if not news:
        return
    known = facts[key] = facts[key] if isinstance(facts.get(key), dict) else {}
    for name, value in news.items():
        before = known.get(name)
        if isinstance(before, list) and isinstance(value, list):
            before.extend(value[len(before) :] if repeats and value[: len(before)] == before else value)
        else:
            known[name] = value


def learn_arrays(facts: dict[str, Any], key: str, fields: Fields) -> dict[str, Any]:
    """
    Put the arrays of *fields* as `extend_arrays` into *facts* under *key*, with repeats; return the other fields.

    An array in place of what was none is one of these.
    """
    known = mapping(facts, key)
    arrays = {name: value for name, value in fields.items() if is_array(value) and is_array(known.get(name, []))}
    extend_arrays(facts, key, arrays, repeats=True)
    return others(fields, arrays)


def string(fields: Fields, key: str) -> str | None:
    """Return a string, or `None`."""
    value = fields.get(key)
    return value if isinstance(value, str) else None


def integer(fields: Fields, key: str) -> int | None:
    """Return an integer, or `None`; a float without a fraction is one, a bool is none."""
    value = fields.get(key)
    if type(value) is int:
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None


def count(fields: Fields, key: str) -> int | None:
    """Return an integer of 0 or more that counts something, so below 2^63, or `None`."""
    value: int | None = fields.get(key)
    if type(value) is not int:
        value = integer(fields, key)
    return value if value is not None and 0 <= value < 1 << 63 else None


def flag(fields: Fields, key: str) -> bool | None:
    """Return a bool, or `None`."""
    value = fields.get(key)
    return value if isinstance(value, bool) else None


def mapping(fields: Fields, key: str) -> Fields:
    """Return an object, plain or frozen as it is; an empty one when there is none."""
    value = fields.get(key)
    # Most values are plain or missing; an `isinstance` of `JsonObject`, whose base is abstract, is slow.
    if type(value) is dict:
        return value
    return value if value is not None and isinstance(value, _OBJECTS) else _NOTHING


def taken_object(fields: Fields, key: str) -> JsonObject:
    """
    Return an object as frozen JSON, without a copy where it is plain; an empty one when there is none.

    The object of an event belongs to its decoder, which must not read it afterwards. It is frozen when something looks
    into it.
    """
    value = fields.get(key)
    return wrap(LazyObject, value) if type(value) is dict else JsonObject(mapping(fields, key))


def mappings(fields: Fields, key: str) -> list[Fields]:
    """Return the objects of an array; empty without one. Items that are not objects are left out."""
    items = array(fields, key)
    return [item for item in items if isinstance(item, _OBJECTS)] if items else []


def listed(fields: Fields, key: str) -> list[Fields]:
    """Return the objects of an array, or the object that is there in place of an array of one."""
    one = mapping(fields, key)
    return [one] if one else mappings(fields, key)


def array(fields: Fields, key: str) -> Sequence[Any]:
    """Return an array; an empty one when there is none."""
    value = fields.get(key)
    return value if value is not None and isinstance(value, _ARRAYS) else ()


def json_object(text: bytes | str) -> Fields | None:
    """Return the object that a JSON text holds; `None` when it holds something else."""
    try:
        value = read_json(text)
    except JsonError:
        return None
    return value if is_object(value) else None


def json_array(text: str) -> list[Any]:
    """Return the array that a JSON text holds; an empty one when it holds something else."""
    try:
        return list(array({"array": read_json(text)}, "array"))
    except JsonError:
        return []


def text_of_input(given: object) -> str:
    """Return an input that is not an object, as proxies send some, as its JSON text; empty for an object or none."""
    return given if isinstance(given, str) else "" if given is None or is_object(given) else write_json(given).decode()


def base64_bytes(data: str | None, *, either: bool = False) -> bytes | None:
    """Return the bytes of standard base64, with *either* also of that for addresses; `None` for anything else."""
    if not data:
        return None
    if either:
        data = data.replace("-", "+").replace("_", "/")
    try:
        return b64decode(data + "=" * (-len(data) % 4), validate=True)
    except ValueError:
        return None


def distinct(objects: Iterable[Fields]) -> list[dict[str, Any]]:
    """Return *objects* as plain JSON in their order, each once; the order of keys makes no difference."""
    # By their text: the hashes of numbers can be chosen so that all are alike, those of text cannot.
    kept: dict[bytes, Fields] = {}
    for each in objects:
        kept.setdefault(write_json(_sorted(each)), each)
    return [thaw(each) for each in kept.values()]


def valid_json(value: Any) -> Any:
    """Return plain JSON with valid text everywhere: what is half a surrogate pair becomes U+FFFD."""
    if isinstance(value, str):
        return valid_text(value)
    if isinstance(value, Mapping):
        return {valid_text(key): valid_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [valid_json(item) for item in value]
    return value


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, (list, tuple)) else value
