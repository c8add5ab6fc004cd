"""
Iteration over the chunks of a stream: bytes, parsed events, iterables, generators.

The reader closes a generator. An app that creates it in the call of `receive` has no reference to it, and the garbage
collector would close it when the event loop may be gone, together with the generators of the HTTP library inside, which
Python reports as errors that cannot be caught.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Coroutine, Generator, Iterable, Iterator
from typing import Any, Final, TypeAlias

from assistant_events.values.credentials import traceback_text

BYTES: Final[tuple[type, ...]] = (bytes, bytearray, memoryview)
"""Types that are fed as bytes. One of them instead of an iterable is a single chunk."""

Read: TypeAlias = Callable[[], Awaitable[object]]
"""Returns the next chunk; raises `StopAsyncIteration` after the last."""

Disconnect: TypeAlias = Callable[[], Coroutine[Any, Any, None]]

_log = logging.getLogger("assistant_events.session")


def sync_iterator(chunks: Iterable[object]) -> Iterator[object]:
    """
    Return an iterator over *chunks*.

    Raises:
        TypeError: They are not iterable.
    """
    if isinstance(chunks, BYTES):
        return iter([chunks])
    if isinstance(chunks, str) or not hasattr(chunks, "__iter__"):
        raise TypeError(f"chunks: expected an iterable of bytes or parsed events, got {type(chunks).__name__}")
    return iter(chunks)


def close_sync(chunks: Iterator[object]) -> None:
    """Close *chunks* if it is a generator. Never raises."""
    if isinstance(chunks, Generator):
        try:
            chunks.close()
        except Exception as error:  # noqa: BLE001 - the message has ended already
            _not_closed(error)


def async_reader(chunks: AsyncIterable[object] | Iterable[object]) -> tuple[Read, Disconnect]:
    """
    Return functions that read and close *chunks*.

    Raises:
        TypeError: They are not iterable.
    """
    if isinstance(chunks, AsyncIterable):
        awaited = aiter(chunks)

        async def close() -> None:
            if isinstance(awaited, AsyncGenerator):
                try:
                    await awaited.aclose()
                except Exception as error:  # noqa: BLE001 - as in `close_sync`
                    _not_closed(error)

        return awaited.__anext__, close
    items = sync_iterator(chunks)

    async def read() -> object:
        for item in items:
            return item
        raise StopAsyncIteration

    async def close_items() -> None:
        close_sync(items)

    return read, close_items


def _not_closed(error: Exception) -> None:
    _log.warning("the chunks of a stream could not be closed\n%s", traceback_text(error))
