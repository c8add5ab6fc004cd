"""
Differences between a folded message and the expectation of its recorded body.

It reads the public attributes of messages and imports nothing of the library: an
expectation cannot inherit a mistake of the code it judges. A string longer than 200
characters is kept in the expectations as `{"sha256", "length", "start"}`.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

__all__ = ["USAGE", "differences", "error_differences", "including"]

# `Any` in this module: messages are read by attribute, whatever their classes are.
Json = Any
Expected = Mapping[str, Json]

USAGE = ("input", "cache_read", "cache_write", "output", "reasoning")


def differences(message: Any, expected: Expected) -> list[str]:
    """
    Return one sentence for each field of *message* that is not as *expected*.

    Null in the expectation means "absent", except for three fields that the body may
    lack: `model` (the requested one is kept), `error_message` and
    `error_code`. A part with `"place": "any"` may be anywhere among the parts.
    """
    return [*_message(message, expected), *_parts(message.parts, expected["parts"])]


def including(usage: Expected | None) -> Expected | None:
    """
    Return counts whose sides include their parts, from the counts of an expectation, which do not overlap.

    A side is known when its own count is; absent parts count as 0.
    """
    if usage is None:
        return None
    sides = {"input": ("cache_read", "cache_write"), "output": ("reasoning",)}
    sums = {
        side: usage[side] + sum(usage[part] or 0 for part in parts)
        for side, parts in sides.items()
        if usage[side] is not None
    }
    return {**usage, **sums}


def error_differences(error: Any, expected: Expected) -> list[str]:
    """
    Return one sentence for each field of an HTTP error that is not as *expected*.
    """
    fields = ("kind", "message", "code")
    return [line for name in fields for line in _unequal(name, expected[name], getattr(error, name))]


def _message(message: Any, expected: Expected) -> Iterator[str]:
    yield from _unequal("status", expected["status"], message.status)
    yield from _unequal("finish_reason", expected["finish_reason"], message.finish_reason)
    yield from _unequal("raw_finish_reason", expected["raw_finish_reason"], message.raw_finish_reason)
    error, origin, usage = message.error, message.origin, message.usage
    yield from _unequal("error_kind", expected["error_kind"], _of(error, "kind"))
    for name in ("message", "code"):
        stated = expected[f"error_{name}"]
        if stated is not None:
            yield from _unequal(f"error_{name}", stated, _of(error, name))
    if expected["model"] is not None:
        yield from _unequal("model", expected["model"], origin.model)
    yield from _unequal("served_model", expected["served_model"], origin.served_model)
    yield from _unequal("run_id", expected["run_id"], _of(message.run, "id"))
    counts = None if usage is None else {name: getattr(usage, f"{name}_tokens") for name in USAGE}
    yield from _unequal("usage", including(expected["usage"]), counts)


def _parts(parts: Sequence[Any], expected: Sequence[Expected]) -> Iterator[str]:
    rest = list(parts)
    for place, part in enumerate(expected):
        if part.get("place") == "any":
            found = [one for one in rest if part["call_id"] == _call_id(one)]
            if not found:
                yield f"parts[{place}]: no call {part['call_id']!r} anywhere"
                continue
            rest.remove(found[0])
            yield from _part(f"parts[{place}]", found[0], part)
    placed = [(i, one) for i, one in enumerate(expected) if one.get("place") != "any"]
    kinds = [_CLASSES[part["type"]] for _, part in placed]
    if kinds != [type(part).__name__ for part in rest]:
        actual = [type(part).__name__ for part in rest]
        yield f"parts: expected {kinds!r}, got {actual!r}"
        return
    for (place, part), one in zip(placed, rest, strict=True):
        yield from _part(f"parts[{place}]", one, part)


def _part(path: str, part: Any, expected: Expected) -> Iterator[str]:
    for name, read in _FIELDS[expected["type"]].items():
        yield from _unequal(f"{path}.{name}", expected[name], read(part))


def _of(thing: Any, name: str) -> Any:
    return None if thing is None else getattr(thing, name)


def _call_id(part: Any) -> str | None:
    return part.call_id if type(part).__name__ == "ToolPart" else None


def _signature(state: Mapping[str, Json]) -> Json:
    return state.get("signature")


def _citations(part: Any) -> list[Json]:
    fields = ("url", "title", "start", "end")
    return [{name: getattr(one, name) for name in fields} for one in part.citations]


def _output(part: Any) -> Json:
    values = [_content(one) for one in part.output]
    return (values[0] if values else None) if len(values) < 2 else values


def _content(content: Any) -> Json:
    match type(content).__name__:
        case "TextContent":
            return content.text
        case "JsonContent":
            return content.value
        case name:
            return name


def _media_sha256(part: Any) -> str | None:
    return hashlib.sha256(part.data).hexdigest() if part.data else None


_CLASSES = {
    "text": "TextPart",
    "reasoning": "ReasoningPart",
    "tool": "ToolPart",
    "media": "MediaPart",
    "opaque": "OpaquePart",
}

_FIELDS: Mapping[str, Mapping[str, Callable[[Any], Json]]] = {
    "text": {
        "text": lambda part: part.text,
        "annotations": lambda part: len(part.state.get("annotations", ())),
        "citations": _citations,
    },
    "reasoning": {
        "text": lambda part: part.text,
        "signature": lambda part: _signature(part.state),
    },
    "tool": {
        "call_id": lambda part: part.call_id,
        "name": lambda part: part.name,
        "input": lambda part: part.input,
        "provider_executed": lambda part: part.provider_executed,
        "status": lambda part: part.status,
        "signature": lambda part: _signature(part.state),
        "result_signature": lambda part: _signature(part.result_state),
        "output": _output,
        "error_kind": lambda part: _of(part.error, "kind"),
    },
    "media": {
        "media_type": lambda part: part.media_type,
        "bytes_sha256": _media_sha256,
        "uri": lambda part: part.uri,
    },
    "opaque": {},
}


def _unequal(path: str, expected: Json, actual: Any) -> Iterator[str]:
    plain = _thaw(actual)
    if not _equal(expected, plain):
        yield f"{path}: expected {expected!r}, got {_shorten(plain)!r}"


def _equal(expected: Json, actual: Json) -> bool:
    if isinstance(actual, str) and isinstance(expected, dict):
        return bool(expected == _digest(actual))
    if type(expected) is not type(actual):
        return False
    if isinstance(expected, dict):
        return expected.keys() == actual.keys() and all(_equal(value, actual[key]) for key, value in expected.items())
    if isinstance(expected, list):
        return len(expected) == len(actual) and all(_equal(*pair) for pair in zip(expected, actual, strict=True))
    return bool(expected == actual)


def _thaw(value: Any) -> Json:
    match value:
        case Enum():
            return value.value
        case Mapping():
            return {key: _thaw(item) for key, item in value.items()}
        case tuple() | list():
            return [_thaw(item) for item in value]
        case _:
            return value


def _digest(text: str) -> Json:
    # Text that is not valid Unicode has to show as a difference, not as an exception.
    whole = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return {"sha256": whole[:16], "length": len(text), "start": text[:40]}


def _shorten(value: Json) -> Json:
    match value:
        case str() if len(value) > 200:
            return _digest(value)
        case dict():
            return {key: _shorten(item) for key, item in value.items()}
        case list():
            return [_shorten(item) for item in value]
        case _:
            return value
