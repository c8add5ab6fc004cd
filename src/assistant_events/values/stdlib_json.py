"""JSON with the standard library, as strict and exact as `json_io` promises."""

# Plain JSON of unknown shape: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import json
import re
from collections.abc import Callable
from json import decoder
from math import isfinite
from typing import Any

from assistant_events.errors import JsonError
from assistant_events.values.json_values import JsonObject, items_of
from assistant_events.values.text import has_surrogates

_INT_DIGITS = 4000
"""Python converts up to 4,300 digits at once (`sys.get_int_max_str_digits`); longer integers are split."""

_INT_BITS = _INT_DIGITS * 3
"""An integer of so many bits has fewer digits."""


def read_plain(data: bytes | str, *, strict: bool = True) -> Any:
    """
    Parse one JSON document.

    Raises:
        JsonError: *data* is not valid JSON. The error has the reason and never the data.
    """
    # Any: as in `read_json`.
    try:
        text = data if isinstance(data, str) else bytes(data).decode("utf-8")
        if has_surrogates(text):
            text = _SURROGATES.sub(_escaped, text)  # the reader joins pairs that are escaped
        return (_READER if strict else _LENIENT).decode(text.removeprefix("\ufeff"))
    except RecursionError:
        raise JsonError("nested too deeply") from None
    except UnicodeDecodeError as error:
        raise JsonError(f"not valid UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise JsonError(f"not valid JSON: {error.msg.lower()} at character {error.pos}") from None


def read_string(data: bytes) -> str:
    """
    Parse a document that is one string of valid text.

    Raises:
        ValueError: *data* is anything else.
    """
    text = data.decode("utf-8")
    if text[:1] != '"':
        raise JsonError("not a string")
    value, end = _scan(text, 1)
    if end != len(text) or has_surrogates(value):
        raise JsonError("not a string of valid text")
    return value


def read_strings(data: bytes) -> list[str]:
    """Parse a document that is one array of such strings; raises as `read_string` does."""
    values = read_plain(data)
    if type(values) is not list or any(type(value) is not str or has_surrogates(value) for value in values):
        raise JsonError("not an array of strings of valid text")
    return values


def write_plain(value: object) -> bytes:
    """
    Write JSON as compact UTF-8.

    Raises:
        TypeError: A value is not JSON.

        ValueError: A value needs `spell`: a lone surrogate, or an integer of over 4,300 digits.
    """
    return _WRITER.encode(value).encode()


def spell(value: object) -> str:
    """
    Write JSON as ASCII, with escapes for lone surrogates and integers of any size.

    Raises:
        TypeError: A value is not JSON.
    """
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, int):
        return _digits(value)
    if isinstance(value, float):
        if not isfinite(value):
            raise TypeError(f"expected JSON, got {value!r}")
        return repr(value)
    if isinstance(value, (dict, JsonObject)):
        return "{" + ",".join([f"{json.dumps(str(key))}:{spell(item)}" for key, item in value.items()]) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join([spell(item) for item in value]) + "]"
    raise TypeError(f"expected JSON, got {type(value).__name__}")


def _exact_int(digits: str) -> int:
    if len(digits) <= _INT_DIGITS:
        return int(digits)
    if digits[0] == "-":
        return -_exact_int(digits[1:])
    half = len(digits) // 2
    shift: int = 10**half
    return _exact_int(digits[:-half]) * shift + _exact_int(digits[-half:])


def _digits(value: int) -> str:
    if value.bit_length() <= _INT_BITS:
        return str(value)
    # Division of integers is quadratic: 2 MB of digits take half a minute. Multiplication of decimals is almost linear,
    # so halves are converted to decimals and joined: two thirds of a second.
    import decimal

    exact = decimal.Context(
        prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[decimal.Inexact]
    )
    powers: dict[int, decimal.Decimal] = {}

    def power_of_two(bits: int) -> decimal.Decimal:
        if bits not in powers:
            half = bits // 2
            small = bits <= _INT_BITS
            powers[bits] = (
                decimal.Decimal(1 << bits) if small else exact.multiply(power_of_two(half), power_of_two(bits - half))
            )
        return powers[bits]

    def converted(part: int) -> decimal.Decimal:
        bits = part.bit_length()
        if bits <= _INT_BITS:
            return decimal.Decimal(part)
        half = bits // 2
        high = part >> half
        return exact.fma(converted(high), power_of_two(half), converted(part - (high << half)))

    return f"{'-' if value < 0 else ''}{converted(abs(value))}"


def _finite_float(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise JsonError("number out of range")
    return value


_SURROGATES = re.compile(r"\\.|[\ud800-\udfff]", re.DOTALL)
"""Surrogates in JSON text. An escape before one belongs to the text around it."""


def _escaped(match: re.Match[str]) -> str:
    return match[0] if match[0][0] == "\\" else f"\\u{ord(match[0]):04x}"


def _refuse_constant(name: str) -> Any:
    raise JsonError(f"not valid JSON: {name}")


# The string scanner of the standard reader; the stubs omit it.
_scan: Callable[[str, int], tuple[str, int]] = vars(decoder)["scanstring"]
_READER, _LENIENT = (
    json.JSONDecoder(parse_int=_exact_int, parse_float=_finite_float, parse_constant=_refuse_constant, strict=strict)
    for strict in (True, False)
)
_WRITER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=items_of)
