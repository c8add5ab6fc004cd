"""
How the chunks of a stream are iterated over, whatever they are made of.

A generator is closed by its reader. An app that calls its function in the call of `receive` has no name for it, and one
that is left to the garbage collector is closed when the event loop may be gone, together with the generators of the
HTTP library inside of it, which Python reports as errors that nobody can catch.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Coroutine, Generator, Iterable, Iterator
from typing import Any, Final, TypeAlias

from assistant_events.values.credentials import traceback_text

BYTES: Final[tuple[type, ...]] = (bytes, bytearray, memoryview)
"""What is fed as bytes. Alone it is one chunk, though Python could iterate over it."""

Read: TypeAlias = Callable[[], Awaitable[object]]
"""Gives the next chunk; raises `StopAsyncIteration` after the last."""

Disconnect: TypeAlias = Callable[[], Coroutine[Any, Any, None]]

_log = logging.getLogger("assistant_events.session")


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


def close_blocking(chunks: Iterator[object]) -> None:
    """Close *chunks* if they are a generator. Never raises."""
    if isinstance(chunks, Generator):
        try:
            chunks.close()
        except Exception as error:  # noqa: BLE001 - the message has ended, and nobody waits for this
            _not_closed(error)


def awaited_reader(chunks: AsyncIterable[object] | Iterable[object]) -> tuple[Read, Disconnect]:
    """
    Return functions that read and that close *chunks*.

    Raises:
        TypeError: They cannot be iterated over.
    """
    if isinstance(chunks, AsyncIterable):
        awaited = aiter(chunks)

        async def close() -> None:
            if isinstance(awaited, AsyncGenerator):
                try:
                    await awaited.aclose()
                except Exception as error:  # noqa: BLE001 - as in `close_blocking`
                    _not_closed(error)

        return awaited.__anext__, close
    items = blocking_iterator(chunks)

    async def read() -> object:
        for item in items:
            return item
        raise StopAsyncIteration

    async def close_items() -> None:
        close_blocking(items)

    return read, close_items


def _not_closed(error: Exception) -> None:
    _log.warning("the chunks of a stream could not be closed\n%s", traceback_text(error))
