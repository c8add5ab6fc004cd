"""
JSON arrays of many documents of one kind, such as a batch of records: parsed in one pass, made one at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final, NamedTuple

from assistant_events.converters.codecs import ArrayCodec
from assistant_events.converters.faults import ShapeError
from assistant_events.converters.wire import CODECS

UNUSUAL: Final = (ShapeError, ValueError, RecursionError)
"""What an `ArrayReader` raises for what is wrong, and for some of what is not."""


class ArrayReader(NamedTuple):
    """
    Reads arrays of one kind of document. One by one they take half as long again.

    What is unusual raises one of `UNUSUAL`; then `loads` of the element has the value or the error.
    """

    # Any: what the pass leaves of a document.
    parse: Callable[[bytes], list[Any]]
    """Returns the elements of an array as far as one pass brings them."""

    make: Callable[[Any], Any]
    """Returns the value of one of them. They are not made at once, for most are done with before the next is needed."""


@cache
def array_reader(cls: Any) -> ArrayReader | None:
    """Return the reader of arrays of *cls*, a class or union as `loads` takes it; `None` where msgspec is missing."""
    try:
        import msgspec
    except ImportError:
        return None
    codec = CODECS[cls]
    return ArrayReader(msgspec.json.Decoder(ArrayCodec(codec).wire).decode, codec.unpack)
