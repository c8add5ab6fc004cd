"""Answers that read themselves: a client that follows a run gives events, where a decoder has to be fed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, cast, final, runtime_checkable

from assistant_events.events import Event
from assistant_events.session.receiver import StreamReceiver
from assistant_events.values import ErrorInfo


class Answer(Protocol):
    """What a client gives for one answer, however many connections it takes. `RunStream` is one."""

    @property
    def message_id(self) -> str:
        """The message that the answer becomes."""
        ...

    @property
    def terminal(self) -> bool:
        """Whether everything has been given."""
        ...

    def close(self, error: ErrorInfo | None = None) -> list[Event]:
        """
        Say that nobody listens any more, and why, and return the events that end the message. Again it does nothing.
        """
        ...


@runtime_checkable
class AwaitedAnswer(Answer, Protocol):
    """An answer for apps with an event loop."""

    async def read(self) -> list[Event]:
        """Return the events that come next, those that belong together; `StopAsyncIteration` after the last."""
        ...

    async def aclose(self) -> None:
        """Close the connection. Again it does nothing."""
        ...


@runtime_checkable
class BlockingAnswer(Answer, Protocol):
    """An answer for apps without an event loop."""

    def read(self) -> list[Event]:
        """Return the events that come next, those that belong together; `StopIteration` after the last."""
        ...

    def disconnect(self) -> None:
        """Close the connection. Again it does nothing."""
        ...


def no_answer(given: object) -> TypeError:
    """Return what to raise for something without chunks that gives no events by itself, or does for the other face."""
    return TypeError(
        "chunks: expected an iterable of bytes or parsed events, got None; "
        "only what a client gives goes alone, to a Session that of an asynchronous client, to a SyncSession that of a "
        f"synchronous one, and this is {type(given).__name__}"
    )


@final
class AnswerDecoder:
    """Stands where a decoder does, and is fed with events instead of bytes."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer

    @property
    def message_id(self) -> str:
        """See `Answer`."""
        return self.answer.message_id

    @property
    def terminal(self) -> bool:
        """See `Answer`."""
        return self.answer.terminal

    def feed(self, data: bytes, /) -> list[Event]:
        """Raise: an answer gives events."""
        raise TypeError(f"expected events, got {type(data).__name__}")

    def feed_event(self, event: object, /) -> list[Event]:
        """Return what was read of the answer: its events, as a list."""
        return cast("list[Event]", event)  # what `read` gave

    def close(self, error: ErrorInfo | None = None) -> list[Event]:
        """See `Answer`."""
        return self.answer.close(error)


def answer_decoder(answer: Answer, receptions: Iterable[StreamReceiver]) -> AnswerDecoder:
    """Return the relay of *answer*: the one that was received before, or a new one."""
    for reception in receptions:
        relay = reception.decoder
        if isinstance(relay, AnswerDecoder) and relay.answer is answer:
            return relay
    return AnswerDecoder(answer)
