"""A run as the app reads it: its events, and its state."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Self, final

from assistant_events.adapters.json_fields import Fields
from assistant_events.clients.report import Report
from assistant_events.clients.run_driver import RunDriver
from assistant_events.errors import LocalProtocolError
from assistant_events.events import Event
from assistant_events.messages import AssistantMessage
from assistant_events.values import ErrorInfo, ErrorKind, Usage


@final
class RunStream(AsyncIterator[Event]):
    """
    The events of one message, from a run that is followed again when a connection is lost.

    Nothing is sent before it is read. What the provider or the network does never raises: the client recovers, or the
    message ends with `step.failed`. `session.respond` stores the events; without a session:

        async with client.create(body, "m1") as run:
            async for event in run:
                ...

    Leaving the block closes the connection only; `close` ends the message. Made by a client.
    """

    def __init__(self, driver: RunDriver) -> None:
        self.message_id = driver.decoder.message_id  # the run becomes this message
        self._driver = driver
        self._batches = driver.batches()
        self._unread: Iterator[Event] = iter(())
        self._reading = False
        self._turn = asyncio.Lock()

    @property
    def report(self) -> Report:
        """The state of the run, and what makes sense to do."""
        return self._driver.report()

    @property
    def terminal(self) -> bool:
        """Whether all events were returned."""
        return self._driver.over

    @property
    def message(self) -> AssistantMessage | None:
        """The message so far, including what it had before it was taken up again; `None` before its first event."""
        return self._driver.decoder.message

    @property
    def usage_so_far(self) -> Usage | None:
        """See `DecoderBase.usage_so_far`."""
        return self._driver.decoder.usage_so_far

    @property
    def request(self) -> Fields:
        """The body that was sent; of a run that was taken up again, as far as it is known."""
        return self._driver.decoder.request

    async def read(self) -> list[Event]:
        """
        Return the next events, those of one piece of the stream together.

        Raises:
            StopAsyncIteration: All events were returned.

            LocalProtocolError: Another task is reading.
        """
        rest = list(self._unread)
        if rest:
            return rest
        if self._reading:
            raise LocalProtocolError(f"the run of message {self.message_id!r} is being read by another task")
        self._reading = True
        try:
            async with self._turn:
                if self._driver.closed:
                    await self._batches.aclose()
                return await anext(self._batches)
        finally:
            self._reading = False

    async def __anext__(self) -> Event:
        for event in self._unread:
            return event
        self._unread = iter(await self.read())
        return next(self._unread)

    def close(self, error: ErrorInfo | None = None) -> list[Event]:
        """
        End the message because its reader leaves, and return the events of that. Idempotent.

        It neither stops the run nor closes the connection (`aclose`).
        """
        return self._driver.close(error)

    def interrupt(self, error: ErrorInfo) -> None:
        """
        End the message with *error* as soon as possible, also while a task waits for its next event.

        `client.stop` does it to the streams of a run, after it has informed the provider.
        """
        self._driver.interrupt(error)

    async def aclose(self) -> None:
        """Close the connection. Idempotent."""
        if self._reading:
            self._driver.interrupt(ErrorInfo(kind=ErrorKind.ABORTED, message="the stream was closed"))
        else:
            async with self._turn:
                await self._batches.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exception: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        report = self.report
        return f"<RunStream of {self.message_id!r}, run {report.run_id!r}, {report.situation}>"
