"""What an encoder returns: the next request, its items, and what is not in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Protocol, TypeAlias, final

import attrs

from assistant_events import messages as msg
from assistant_events.history import Drop, Policy

EncodeMode: TypeAlias = Literal["auto", "chained", "full"]
"""
How the conversation is sent: `chained` names the answer that the provider stores and sends what is new, `full` sends
everything, `auto` takes the first of them that is possible.
"""

Item: TypeAlias = dict[str, Any]
"""A message, step or content block of a request as plain JSON. `Any`: see `json_fields.Fields`."""


def _size(body: dict[str, Any]) -> str:
    return f"<{len(body)} keys>"


@final
@attrs.frozen(kw_only=True)
class Encoded:
    """A request that is ready to be sent."""

    # Any: plain JSON.
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
