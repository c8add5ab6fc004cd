"""What an encoder returns: the next request, its items, and what is not in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, final

import attrs

from assistant_events import messages as msg
from assistant_events.history import Drop, DropReason, Policy

EncodeMode: TypeAlias = Literal["auto", "chained", "full"]
"""
How the conversation is sent: `chained` names the answer that the provider stores and sends what is new, `full` sends
everything, `auto` takes the first of them that is possible.
"""

Item: TypeAlias = dict[str, Any]
"""A message, step or content block of a request as plain JSON. `Any`: see `json_fields.Fields`."""


class EncodedMessage(NamedTuple):
    """A message as items of a request."""

    items: list[Item]

    results: list[Item]
    """Results of the app. They follow the answer, with all messages that a paused answer has."""

    drops: list[Drop]


def _size(body: dict[str, Any]) -> str:
    return f"<{len(body)} keys>"


@final
@attrs.frozen(kw_only=True)
class Encoded:
    """A request that is ready to be sent."""

    body: dict[str, Any] = attrs.field(repr=_size)
    """The app's body with the conversation in it: fresh plain JSON, the caller's to change. It holds state."""

    drops: tuple[Drop, ...]
    """
    Each part and state of the conversation that is not in the body, and each repair, in the order of the conversation.

    What the provider stores itself is not listed.
    """

    mode: Literal["chained", "full", "hop"]
    """How the conversation is in the body; `hop` resumes an answer that the provider has paused."""


class Encode(Protocol):
    """Encodes a conversation; `EncoderBase.encode` is one."""

    def __call__(
        self,
        transcript: msg.Transcript | Iterable[msg.Message],
        body: Mapping[str, Any],
        *,
        mode: EncodeMode = "auto",
        provider: str | None = None,
        policy: Policy | None = None,
        strip: bool = False,
    ) -> Encoded:
        """Return the next request."""
        ...


def messages_of(transcript: msg.Transcript | Iterable[msg.Message]) -> tuple[msg.Message, ...]:
    """
    Return the messages that an encoder is given, of a transcript its `context()`.

    Raises:
        TypeError: It is something else.
    """
    if isinstance(transcript, msg.Transcript):
        return transcript.context()
    if not isinstance(transcript, Iterable):
        raise TypeError(f"transcript: expected a Transcript or messages, got {type(transcript).__name__}")
    messages = tuple(transcript)
    for message in messages:
        if not isinstance(message, msg.MESSAGE_CLASSES):
            raise TypeError(f"transcript: expected messages, got {type(message).__name__}")
    return messages


def drops_in_order(drops: Sequence[Drop]) -> list[Drop]:
    """
    Return the drops of a message in the order of its parts, of a part that is not sent at all a single one.

    A part that has no place is perhaps one that lost its state: the reason for that is then given.
    """
    whole = {drop.part for drop in drops if drop.whole}
    first = {drop.part: drop.reason for drop in reversed(drops)}
    left = [
        attrs.evolve(drop, reason=first[drop.part]) if drop.whole and drop.reason is DropReason.UNPLACED else drop
        for drop in drops
        if drop.whole or drop.part is None or drop.part not in whole
    ]
    return sorted(left, key=lambda drop: -1 if drop.part is None else drop.part)
