"""
JSON text to plain Python and back.

Uses msgspec when it is installed, 0.21 or newer. Documents that it refuses are read again with the standard library, so
both give the same results: NaN, infinities, numbers that overflow and nesting deeper than the limit are refused;
integers of any size are exact; of two equal keys the last wins; lone surrogates (as escapes) are kept.

Neither library is imported before the first document: that would be a quarter of the import time of this package.
"""

# Plain JSON of unknown shape: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any

from assistant_events.errors import JsonError
from assistant_events.values.json_values import MAX_DEPTH


def read_json(data: bytes | str, *, max_depth: int | None = MAX_DEPTH, strict: bool = True) -> Any:
    """
    Parse one JSON document.

    Args:
        data: UTF-8 bytes (a byte order mark is skipped) or text.

        max_depth: Maximum nesting of objects and arrays; `None` when the caller checks it.

        strict: Whether control characters in strings are refused, as the standard has it.

    Raises:
        JsonError: *data* is not valid JSON. The error has the reason and never the data.
    """
    try:
        value = fast_reader()(data)
    except (ValueError, RecursionError):
        from assistant_events.values.stdlib_json import read_plain

        value = read_plain(data, strict=strict)
    if max_depth is not None and len(data) > 2 * max_depth:
        _check_depth(data, value, max_depth)
    return value


def write_json(value: object) -> bytes:
    """
    Write plain or frozen JSON as compact UTF-8, keys in their order.

    A document with a lone surrogate is written as ASCII with escapes, so that nothing is lost.

    The value is not checked: msgspec writes dates and others that `freeze` refuses.

    Raises:
        TypeError: A value cannot be written.
    """
    try:
        return fast_writer()(value)
    except (AttributeError, TypeError, ValueError, OverflowError, RecursionError):  # UnicodeEncodeError is a ValueError
        from assistant_events.values.stdlib_json import spell

        return spell(value).encode()


@cache
def fast_reader() -> Callable[[bytes | str], Any]:
    """
    Return the reader that `read_json` tries first, for hot loops, where one extra call per document is measurable.

    It may raise any `ValueError` or `RecursionError`; use `read_json` then. It does not check the nesting.
    """
    if not _has_msgspec():
        from assistant_events.values.stdlib_json import read_plain

        return read_plain
    import msgspec

    return msgspec.json.Decoder().decode


@cache
def string_reader() -> Callable[[bytes], str]:
    """
    Return the reader of documents that are one string of valid text, for hot loops.

    It raises `ValueError` for any other document.
    """
    if not _has_msgspec():
        from assistant_events.values.stdlib_json import read_string

        return read_string
    import msgspec

    return msgspec.json.Decoder(str).decode


@cache
def strings_reader() -> Callable[[bytes], list[str]]:
    """Return the same as `string_reader` for documents that are one array of strings of valid text."""
    if not _has_msgspec():
        from assistant_events.values.stdlib_json import read_strings

        return read_strings
    import msgspec

    return msgspec.json.Decoder(list[str]).decode


@cache
def fast_writer() -> Callable[[object], bytes]:
    """Return the writer that `write_json` tries first."""
    if not _has_msgspec():
        from assistant_events.values.stdlib_json import write_plain

        return write_plain
    import msgspec

    # `items_of` takes a third longer, because C code calls a Python function with a tuple of arguments.
    return msgspec.json.Encoder(enc_hook=attrgetter("_json")).encode


def _has_msgspec() -> bool:
    """Whether msgspec is installed in a version (0.21 or newer) whose errors are of `ValueError`."""
    try:
        import msgspec
    except ImportError:
        return False
    return issubclass(msgspec.DecodeError, ValueError)


def _check_depth(data: bytes | str, value: object, max_depth: int) -> None:
    some = data[:_SAMPLE]  # most long documents have so many brackets at their beginning
    if _opened(some) <= max_depth and (len(some) == len(data) or _opened(data) <= max_depth):
        return
    commas = some.count(",") if isinstance(some, str) else some.count(b",")
    if commas * _VALUE_SIZE > len(some) and _deepest(data) <= max_depth:
        return
    level: list[Any] = [value] if isinstance(value, (dict, list)) else []
    for _ in range(max_depth):
        level = [
            inner
            for item in level
            for inner in (item.values() if type(item) is dict else item)
            if type(inner) in _NESTING
        ]
        if not level:
            return
    raise JsonError(f"nested deeper than {max_depth} levels")


def _opened(data: bytes | str) -> int:
    return data.count("[") + data.count("{") if isinstance(data, str) else data.count(b"[") + data.count(b"{")


def _deepest(data: bytes | str) -> int:
    """Return at most how deep a valid document nests, a little more than it does."""
    if isinstance(data, str):
        data = data.encode(errors="replace")
    # Only the brackets outside of strings: pairs of quotes without a bracket between them are left out first.
    plain = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    kept = plain.translate(None, _OTHERS).replace(b'""', b"")
    brackets = b"".join(kept.split(b'"')[::2])
    depth = deepest = 0
    for start in range(0, len(brackets), _BLOCK):
        block = brackets[start : start + _BLOCK]
        opened = block.count(b"[") + block.count(b"{")
        deepest = max(deepest, depth + opened)
        depth += 2 * opened - len(block)
    return deepest


_NESTING = frozenset({dict, list})
_OTHERS = bytes({*range(256)} - {*b'[]{}"'})
_VALUE_SIZE = 16
"""Where values are shorter than this on average, it takes less time to count the brackets than to walk the document."""

_SAMPLE = 1 << 14
"""Bytes or characters at the beginning that show what is in a document."""

_BLOCK = 64
"""How many brackets are counted at once."""
