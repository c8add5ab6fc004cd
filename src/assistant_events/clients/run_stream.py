"""A run as the app sees it: its events, and how it stands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import Self, final

from assistant_events.adapters.json_fields import Fields
from assistant_events.clients.report import Report
from assistant_events.clients.run_driver import RunDriver
from assistant_events.errors import LocalProtocolError
from assistant_events.events import Event
from assistant_events.messages import AssistantMessage
from assistant_events.values import ErrorInfo, ErrorKind


@final
class RunStream(AsyncIterator[Event]):
    """
    The events of one message, from a run that goes on by itself when a connection is lost.

    Nothing is sent before the first event is asked for. Whatever the provider or the network does ends as `step.failed`
    or is overcome; it never raises. `session.receive(run)` stores the events; without a session:

        async with client.create(body, "m1") as run:
            async for event in run:
                ...

    Leaving the block closes the connection, and nothing else: the message is as it stands, and `close` ends it.
    Made by `GeminiInteractions`.
    """

    def __init__(self, course: RunDriver, message_id: str) -> None:
        self.message_id = message_id
        """The message that the run becomes."""

        self._course = course
        self._batches = course.batches()
        self._handed: Iterator[Event] = iter(())
        self._reading = False
        self._turn = asyncio.Lock()

    @property
    def report(self) -> Report:
        """How the run stands now, and what makes sense to do."""
        return self._course.report(self.message_id)

    @property
    def terminal(self) -> bool:
        """Whether everything has been given."""
        return self._course.over

    @property
    def message(self) -> AssistantMessage | None:
        """The message as it stands, with what it had before when it was taken up again; `None` while there is none."""
        return self._course.decoder.message

    @property
    def request(self) -> Fields:
        """The body that was sent; of a run that was taken up again, as far as it is known."""
        return self._course.decoder.request

    async def read(self) -> list[Event]:
        """
        Return the events that come next, those of one piece of the stream together.

        Raises:
            StopAsyncIteration: There are no more.

            LocalProtocolError: Somebody else is reading.
        """
        rest = list(self._handed)
        if rest:
            return rest
        if self._reading:
            raise LocalProtocolError(f"the run of message {self.message_id!r} is being read by somebody else")
        self._reading = True
        try:
            async with self._turn:
                if self._course.closed:
                    await self._batches.aclose()
                return await anext(self._batches)
        finally:
            self._reading = False

    async def __anext__(self) -> Event:
        for event in self._handed:
            return event
        self._handed = iter(await self.read())
        return next(self._handed)

    def close(self, error: ErrorInfo | None = None) -> list[Event]:
        """
        Say that nobody listens any more, and why, and return the events that end the message. Again it does nothing.

        The run is not stopped. The connection is closed by `aclose`.
        """
        return self._course.close(error)

    def interrupt(self, error: ErrorInfo) -> None:
        """
        End the message with *error* at the next moment, even while somebody waits for its next event: they get the end.

        What `GeminiInteractions.stop` does to the streams of a run, after it has told the provider.
        """
        self._course.interrupt(error)

    async def aclose(self) -> None:
        """Close the connection. Again it does nothing."""
        if self._reading:
            self._course.interrupt(ErrorInfo(kind=ErrorKind.ABORTED, message="the stream was closed"))
        else:
            async with self._turn:
                await self._batches.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        report = self.report
        return f"<RunStream of {self.message_id!r}, run {report.run_id!r}, {report.outcome or report.stage}>"


__all__ = ["RunStream"]
