"""
JSON text to plain Python and back.

msgspec does it when it is installed. What it refuses is judged by the standard library's reader, so that both give the same
results: NaN, infinities, numbers that overflow and nesting deeper than the limit are refused; integers of any size are exact;
of two equal keys the last wins; lone surrogates (escapes) stay.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from math import isfinite
from typing import Any

from assistant_events.errors import JsonError
from assistant_events.values.frozen import MAX_DEPTH, JsonObject

_INT_DIGITS = 4000
"""Python converts up to 4,300 digits at once (`sys.get_int_max_str_digits`); longer integers go in pieces."""


def read_json(data: bytes | str, *, max_depth: int = MAX_DEPTH) -> Any:
    """
    Parse one JSON document.

    Args:
        data: UTF-8 bytes (a byte order mark is skipped) or text.

        max_depth: How deep objects and arrays may nest.

    Raises:
        JsonError: For anything else, with the reason and never with the data.
    """
    # Any: the document is not known yet; whoever reads it narrows it.
    try:
        value = _fast_reader()(data)
    except (ValueError, RecursionError):
        value = _read_plain(data)
    if len(data) > 2 * max_depth:
        _check_depth(data, value, max_depth)
    return value


def write_json(value: object) -> bytes:
    """
    Write plain or frozen JSON as compact UTF-8, keys in their order.

    A string with a lone surrogate makes the whole document ASCII with escapes, so that nothing is lost.

    Raises:
        TypeError: For what is no JSON.
    """
    try:
        return _fast_writer()(value)
    except (ValueError, OverflowError, RecursionError):  # UnicodeEncodeError is a ValueError
        return _spell(value).encode()


@cache
def _fast_reader() -> Callable[[bytes | str], Any]:
    try:
        import msgspec  # here and not above: it doubles the time to import this package
    except ImportError:
        return _read_plain
    return msgspec.json.Decoder().decode


@cache
def _fast_writer() -> Callable[[object], bytes]:
    try:
        import msgspec
    except ImportError:
        return _write_plain
    return msgspec.json.Encoder(enc_hook=_plain_mapping).encode


def _read_plain(data: bytes | str) -> Any:
    try:
        text = data if isinstance(data, str) else bytes(data).decode("utf-8")
        return _READER.decode(text.removeprefix("\ufeff"))
    except RecursionError:
        raise JsonError("nested too deeply") from None
    except UnicodeDecodeError as error:
        raise JsonError(f"no UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise JsonError(f"no JSON: {error.msg.lower()} at character {error.pos}") from None


def _write_plain(value: object) -> bytes:
    return _WRITER.encode(value).encode()


def _plain_mapping(value: object) -> object:
    if isinstance(value, JsonObject):
        return value._items
    raise TypeError(f"expected JSON, got {type(value).__name__}")


def _exact_int(digits: str) -> int:
    if len(digits) <= _INT_DIGITS:
        return int(digits)
    if digits[0] == "-":
        return -_exact_int(digits[1:])
    half = len(digits) // 2
    return _exact_int(digits[:-half]) * 10**half + _exact_int(digits[-half:])


def _digits(value: int) -> str:
    if value.bit_length() < _INT_DIGITS * 3:
        return str(value)
    if value < 0:
        return "-" + _digits(-value)
    half = value.bit_length() * 3 // 20  # about half of its decimal digits
    high, low = divmod(value, 10**half)
    return _digits(high) + _digits(low).zfill(half)


def _finite_float(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise JsonError("number out of range")
    return value


def _refuse_constant(name: str) -> Any:
    raise JsonError(f"no JSON: {name}")


def _check_depth(data: bytes | str, value: object, max_depth: int) -> None:
    brackets = data.count("[") + data.count("{") if isinstance(data, str) else data.count(b"[") + data.count(b"{")
    if brackets <= max_depth:
        return
    level: list[Any] = [value]
    for _ in range(max_depth + 1):
        level = [item for item in level if isinstance(item, (dict, list))]
        if not level:
            return
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    raise JsonError(f"nested deeper than {max_depth} levels")


def _spell(value: object) -> str:
    """Write what the fast writer and the standard one refuse: huge integers and lone surrogates, in ASCII."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, int):
        return _digits(value)
    if isinstance(value, float):
        if not isfinite(value):
            raise TypeError(f"expected JSON, got {value!r}")
        return repr(value)
    if isinstance(value, (dict, JsonObject)):
        return "{" + ",".join([f"{_spell(str(key))}:{_spell(item)}" for key, item in value.items()]) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join([_spell(item) for item in value]) + "]"
    raise TypeError(f"expected JSON, got {type(value).__name__}")


_READER = json.JSONDecoder(parse_int=_exact_int, parse_float=_finite_float, parse_constant=_refuse_constant)
_WRITER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain_mapping)
