"""The sources of an answer: the client of a provider, or a decoder and the chunks of a stream."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable, Sequence
from inspect import iscoroutinefunction
from typing import Any, Final, Protocol, TypeAlias, cast, final

import attrs

from assistant_events.adapters.base import DecoderBase
from assistant_events.adapters.dialect import Dialect
from assistant_events.adapters.hops import Prior
from assistant_events.adapters.json_fields import Fields
from assistant_events.errors import LocalProtocolError
from assistant_events.events import Event
from assistant_events.messages import AssistantMessage, Message, MessageStatus
from assistant_events.values import ErrorInfo, FinishReason, Usage
from assistant_events.values.arguments import check_object
from assistant_events.values.credentials import traceback_text

BYTES: Final[tuple[type, ...]] = (bytes, bytearray, memoryview)
"""Types that are fed as bytes. One of them instead of an iterable is a single chunk."""

_SYNCHRONOUS: Final = "Session takes an asynchronous client, such as OpenAIChat; SyncOpenAIChat is for SyncSession"
_ASYNCHRONOUS: Final = "SyncSession takes a synchronous client, such as SyncOpenAIChat; OpenAIChat is for Session"

_log = logging.getLogger("assistant_events.session")


class Answer(Protocol):
    """
    One answer of a provider, which becomes a message: a decoder, or what a client has decoded already.

    The latter also has `read`, which returns the next events and raises `StopAsyncIteration` at the end, and `aclose`.
    For `SyncSession` they are `read`, which raises `StopIteration`, and `disconnect`.
    """

    @property
    def message_id(self) -> str:
        """Id of the message."""
        ...

    @property
    def terminal(self) -> bool:
        """Whether the answer has ended."""
        ...

    def close(self, error: ErrorInfo | None = None) -> list[Event]:
        """End the answer, with the reason, and return the events that close the message. Again it does nothing."""
        ...


Chunks: TypeAlias = AsyncIterable[object] | Iterable[object]
"""Bytes split anywhere, or parsed events: mappings, objects of an SDK. `SyncSession` takes no asynchronous ones."""


class Client(Protocol):
    """
    Asks a provider. `ProviderClient` is one, and so is an SDK in a few lines.

    Nothing is sent before what `create` and `resume` return is read, and what that raises is the error of the message.
    """

    @property
    def dialect(self) -> Dialect:
        """The wire format: its encoder makes the body, its decoder reads the chunks."""
        ...

    @property
    def provider(self) -> str:
        """Name of who runs the model, for the `Origin` of a message: state is sent back to the same one only."""
        ...

    # Any: plain JSON; and what a client can stop besides answers and messages is its own affair.
    def create(self, body: dict[str, Any], message_id: str, /, *, prior: Prior = None) -> Answer | Chunks:
        """
        Return the chunks of a new answer, which the session decodes, or an `Answer` that does so itself.

        *prior* is a failed message that is asked for again, for the decoder; `None` for a new message. A `create` that
        returns an `Answer` also takes *continues*, the paused message before or `None`.
        """
        ...

    def resume(self, message: AssistantMessage, /, *, request: Fields | None = None) -> Answer | Chunks:
        """
        Return the chunks of the run of *message* from its start, or an `Answer`.

        *request* is the body that was sent; `None` where it is not known.
        """
        ...

    def stop(self, target: Any, /) -> object:
        """End the run of an `Answer` or of a message at the provider; a coroutine for `Session`."""
        ...


@final
@attrs.frozen
class Source:
    """The source of the events of an answer."""

    answer: Answer

    decoder: DecoderBase | None
    """Decodes what `read` returns; `None` where `read` returns events."""

    # Any: what these return is awaited if the source waits.
    read: Callable[[], Any]  # raises `StopAsyncIteration` or `StopIteration` at the end
    waits: bool
    _close: Callable[[], Any] | None
    last: Message | None
    """The last message when the model was asked; `None` when there was none."""

    stopped: bool = False
    """Whether another writer has stopped the turn before the model was asked: nothing is read."""

    async def close(self) -> None:
        """Close what is read. Failures are logged: the message has ended already."""
        try:
            if self._close is not None:
                closing = self._close()
                if self.waits:
                    await closing
        except Exception as error:  # noqa: BLE001 - see above
            name = self.answer.message_id
            _log.warning("the stream of message %r could not be closed\n%s", name, traceback_text(error))

    @property
    def after(self) -> str | None:
        """Name of the message that the answer comes after."""
        return None if self.last is None else self.last.id

    @property
    def usage(self) -> Usage | None:
        """The counts of the provider so far; `None` where they are not known."""
        try:
            usage = getattr(self.decoder or self.answer, "usage_so_far", None)
        except Exception:  # noqa: BLE001 - a stop does not fail for what an adapter counts
            return None
        return usage if isinstance(usage, Usage) else None

    @property
    def target(self) -> object:
        """The argument of `Client.stop`: the answer, or the message of chunks; `None` when nothing runs."""
        return None if self.answer.terminal else self.answer if self.decoder is None else self.decoder.message


def async_source(made: object, decoder: Callable[[], DecoderBase], last: Message | None) -> Source:
    """Return the source of what a client of `Session` returned; *decoder* makes the one for chunks, behind *last*."""
    # Any: an `Answer` with two methods more.
    given: Any = made
    if hasattr(made, "read") and hasattr(made, "aclose"):
        return Source(given, None, given.read, True, given.aclose, last)
    if hasattr(made, "disconnect"):
        raise TypeError(_SYNCHRONOUS)
    if not isinstance(made, AsyncIterable):
        return sync_source(made, decoder, last)
    items = aiter(cast("AsyncIterable[object]", made))
    fed = decoder()
    close = items.aclose if isinstance(items, AsyncGenerator) else None
    return Source(fed, fed, items.__anext__, True, close, last)


def sync_source(made: object, decoder: Callable[[], DecoderBase], last: Message | None) -> Source:
    """See `async_source`; this source never waits."""
    # Any: as there.
    given: Any = made
    if hasattr(made, "read") and hasattr(made, "disconnect"):
        return Source(given, None, given.read, False, given.disconnect, last)
    if hasattr(made, "aclose"):
        raise TypeError(_ASYNCHRONOUS)
    if isinstance(made, str) or not isinstance(made, Iterable):
        raise TypeError(f"chunks: expected an iterable of bytes or parsed events, got {type(made).__name__}")
    items = iter(cast("Iterable[object]", (made,) if isinstance(made, BYTES) else made))
    fed = decoder()
    close = items.close if isinstance(items, Generator) else None
    return Source(fed, fed, items.__next__, False, close, last)


def check_synchronous(client: Client | None) -> None:
    """Raise a `TypeError` for what is not a client, and for one that has to be awaited."""
    if client is not None:
        api_of(client)
    if iscoroutinefunction(getattr(client, "stop", None)):
        raise TypeError(_ASYNCHRONOUS)


def check_asynchronous(client: Client) -> None:
    """Raise a `TypeError` for what is not a client, and for one of `SyncSession`, which has no `async with`."""
    api_of(client)
    if hasattr(client, "__enter__") and not hasattr(client, "__aenter__"):
        raise TypeError(_SYNCHRONOUS)


def api_of(client: Client) -> tuple[Dialect, str]:
    """Return dialect and provider of a client; raise a `TypeError` for anything else, also for its class."""
    check_object(client, "dialect", "client: expected a client such as AnthropicMessages()")
    return client.dialect, client.provider


def is_of(client: Client, message: AssistantMessage) -> bool:
    """Return whether a client asks the API that a message came from."""
    return api_of(client)[0].name == message.origin.dialect


def check_resumable(client: Client, message: AssistantMessage) -> None:
    """Raise a `LocalProtocolError` where a client cannot take up a message."""
    if message.status is MessageStatus.FAILED and message.acted:
        raise LocalProtocolError(
            f"message {message.id!r} cannot be resumed: the app has run a call of it; stop() ends it"
        )
    if not is_of(client, message):
        names = f"{message.origin.dialect!r}, the client is of {client.dialect.name!r}"
        raise LocalProtocolError(f"message {message.id!r} cannot be resumed: it is of {names}")


def paused_last(messages: Sequence[Message]) -> AssistantMessage | None:
    """Return the last message if it is an answer that the next one continues; else `None`. Failed ones are skipped."""
    last = next((each for each in reversed(messages) if each.status is not MessageStatus.FAILED), None)
    return last if isinstance(last, AssistantMessage) and last.finish_reason is FinishReason.PAUSE else None
