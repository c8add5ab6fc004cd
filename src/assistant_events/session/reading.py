"""How the chunks of a stream are iterated over, whatever they are made of."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Iterator
from typing import Final

BYTES: Final[tuple[type, ...]] = (bytes, bytearray, memoryview)
"""What is fed as bytes. Alone it is one chunk, though Python could iterate over it."""


def blocking_iterator(chunks: Iterable[object]) -> Iterator[object]:
    """
    Return an iterator over *chunks*.

    Raises:
        TypeError: They cannot be iterated over.
    """
    if isinstance(chunks, BYTES):
        return iter([chunks])
    if isinstance(chunks, str) or not hasattr(chunks, "__iter__"):
        raise TypeError(f"chunks: expected an iterable of bytes or parsed events, got {type(chunks).__name__}")
    return iter(chunks)


def awaited_reader(chunks: AsyncIterable[object] | Iterable[object]) -> Callable[[], Awaitable[object]]:
    """
    Return a function that gives the next of *chunks*, and raises `StopAsyncIteration` after the last.

    Raises:
        TypeError: They cannot be iterated over.
    """
    if isinstance(chunks, AsyncIterable):
        return aiter(chunks).__anext__
    items = blocking_iterator(chunks)

    async def read() -> object:
        for item in items:
            return item
        raise StopAsyncIteration

    return read
