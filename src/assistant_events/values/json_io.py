"""
JSON text to plain Python and back.

msgspec does it when it is installed. What it refuses is judged by the standard library's reader, so that both give the
same results: NaN, infinities, numbers that overflow and nesting deeper than the limit are refused; integers of any size
are exact; of two equal keys the last wins; lone surrogates (escapes) stay.

Neither library is imported before the first document comes: they would be a quarter of the time to import this package.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from assistant_events.errors import JsonError
from assistant_events.values.json_values import MAX_DEPTH, items_of

SAFE_LENGTH = 2 * MAX_DEPTH
"""A document that is not longer cannot nest too deeply: each level takes two brackets."""


def read_json(data: bytes | str, *, max_depth: int | None = MAX_DEPTH) -> Any:
    """
    Parse one JSON document.

    Args:
        data: UTF-8 bytes (a byte order mark is skipped) or text.

        max_depth: How deep objects and arrays may nest; `None` when the caller looks at that itself.

    Raises:
        JsonError: For anything else, with the reason and never with the data.
    """
    # Any: the document is not known yet; whoever reads it narrows it.
    try:
        value = fast_reader()(data)
    except (ValueError, RecursionError):
        value = _standard_reader()(data)
    if max_depth is not None and len(data) > 2 * max_depth:
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
    except (TypeError, ValueError, OverflowError, RecursionError):  # UnicodeEncodeError is a ValueError
        from assistant_events.values.stdlib_json import spell

        return spell(value).encode()


@cache
def fast_reader() -> Callable[[bytes | str], Any]:
    """
    Return the reader that `read_json` tries first, for loops in which a call more for each document is felt.

    It may raise any `ValueError` or `RecursionError`; then, and for documents longer than `SAFE_LENGTH`, ask
    `read_json`.
    """
    try:
        import msgspec
    except ImportError:
        return _standard_reader()
    return msgspec.json.Decoder().decode


@cache
def string_reader() -> Callable[[bytes], str]:
    """
    Return what reads a document that is one string, and valid text; it raises `ValueError` for everything else.

    For loops in which a call more for each document is felt.
    """
    try:
        import msgspec
    except ImportError:
        from assistant_events.values.stdlib_json import read_string

        return read_string
    return msgspec.json.Decoder(str).decode


@cache
def _fast_writer() -> Callable[[object], bytes]:
    try:
        import msgspec
    except ImportError:
        from assistant_events.values.stdlib_json import write_plain

        return write_plain
    return msgspec.json.Encoder(enc_hook=items_of).encode


@cache
def _standard_reader() -> Callable[[bytes | str], Any]:
    from assistant_events.values.stdlib_json import read_plain

    return read_plain


def _check_depth(data: bytes | str, value: object, max_depth: int) -> None:
    brackets = data.count("[") + data.count("{") if isinstance(data, str) else data.count(b"[") + data.count(b"{")
    if brackets <= max_depth:
        return
    level: list[Any] = [value] if isinstance(value, (dict, list)) else []
    for _ in range(max_depth):
        level = [
            inner
            for item in level
            for inner in (item.values() if type(item) is dict else item)
            if type(inner) is dict or type(inner) is list
        ]
        if not level:
            return
    raise JsonError(f"nested deeper than {max_depth} levels")
