"""
JSON arrays of many documents of one kind, such as a batch of records, in one pass.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from assistant_events.converters.codecs import ArrayCodec
from assistant_events.converters.faults import ShapeError
from assistant_events.converters.wire import CODECS


def loads_array(data: bytes, cls: Any) -> tuple[Any, ...] | None:
    """
    Return the elements of a JSON array, each as *cls*; one by one they would take half as long again.

    `None` when that cannot be done in one pass: something in it is unusual or wrong, or msgspec is not installed. Then
    `loads` of each element has the value or the error.
    """
    # Any: what `loads` takes for a class, and objects of it.
    load = _loader(cls)
    try:
        return None if load is None else load(data)
    except (ShapeError, ValueError, RecursionError):
        return None


@cache
def _loader(cls: Any) -> Callable[[bytes], tuple[Any, ...]] | None:
    try:
        import msgspec
    except ImportError:
        return None
    codec = ArrayCodec(CODECS[cls])
    decode, unpack = msgspec.json.Decoder(codec.wire).decode, codec.unpack
    return lambda data: unpack(decode(data))
