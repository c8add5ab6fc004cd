"""How the chunks of a stream are iterated over, whatever they are made of."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
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


def awaited_iterator(chunks: AsyncIterable[object] | Iterable[object]) -> AsyncIterator[object]:
    """
    Return an asynchronous iterator over *chunks*.

    Raises:
        TypeError: They cannot be iterated over.
    """
    return aiter(chunks) if isinstance(chunks, AsyncIterable) else _Stepwise(blocking_iterator(chunks))


class _Stepwise:
    # No generator: one that is left early leaves work to the garbage collector.
    __slots__ = ("_iterator",)

    def __init__(self, iterator: Iterator[object]) -> None:
        self._iterator = iterator

    def __aiter__(self) -> _Stepwise:
        return self

    async def __anext__(self) -> object:
        for item in self._iterator:
            return item
        raise StopAsyncIteration
