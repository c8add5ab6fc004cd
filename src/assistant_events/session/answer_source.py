"""Sources of events that need no feeding: the runs that a client follows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, cast, final, runtime_checkable

import attrs

from assistant_events.events import Event
from assistant_events.session.receiver import Answer, StreamReceiver
from assistant_events.values import ErrorInfo


@runtime_checkable
class AsyncAnswer(Answer, Protocol):
    """An answer for `Session`."""

    async def read(self) -> list[Event]:
        """Return the next group of events; raise `StopAsyncIteration` after the last."""
        ...

    async def aclose(self) -> None:
        """Close the connection. Again it does nothing."""
        ...


@runtime_checkable
class SyncAnswer(Answer, Protocol):
    """An answer for `SyncSession`."""

    def read(self) -> list[Event]:
        """Return the next group of events; raise `StopIteration` after the last."""
        ...

    def disconnect(self) -> None:
        """Close the connection. Again it does nothing."""
        ...


def not_an_answer(given: object) -> TypeError:
    """Return the error for a decoder without chunks, or for an answer of the other (sync or async) kind."""
    return TypeError(
        "chunks: expected an iterable of bytes or parsed events, got None; "
        "only the answer of a client is received without chunks, that of an asynchronous client by Session, that of a "
        f"synchronous one by SyncSession, got {type(given).__name__}"
    )


@final
@attrs.frozen(eq=False)
class AnswerDecoder:
    """A decoder that is fed with the events of an answer."""

    answer: Answer

    @property
    def message_id(self) -> str:
        """See `Answer`."""
        return self.answer.message_id

    @property
    def terminal(self) -> bool:
        """See `Answer`."""
        return self.answer.terminal

    def feed(self, data: bytes, /) -> list[Event]:
        """Raise `TypeError`: an answer returns events, not bytes."""
        raise TypeError(f"expected events, got {type(data).__name__}")

    def feed_event(self, event: object, /) -> list[Event]:
        """Return the events that were read from the answer."""
        return cast("list[Event]", event)  # the result of `read`

    def close(self, error: ErrorInfo | None = None) -> list[Event]:
        """See `Answer`."""
        return self.answer.close(error)


def answer_decoder(answer: Answer, receivers: Iterable[StreamReceiver]) -> AnswerDecoder:
    """Return the decoder of *answer*: the one in *receivers*, or a new one."""
    for receiver in receivers:
        decoder = receiver.decoder
        if isinstance(decoder, AnswerDecoder) and decoder.answer is answer:
            return decoder
    return AnswerDecoder(answer)
