"""
What an encoder gives: the next request, and what of the conversation did not get into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Protocol, TypeAlias, final

import attrs

from assistant_events.history import Drop, Policy
from assistant_events.messages import Message, Transcript

EncodeMode: TypeAlias = Literal["auto", "chained", "full"]
"""
How a conversation goes to a provider: `chained` names the answer that the provider keeps and sends what is new, `full`
sends everything, `auto` takes the first of them that is possible.
"""


def _size(body: dict[str, Any]) -> str:
    return f"<{len(body)} keys>"


@final
@attrs.frozen(kw_only=True)
class Encoded:
    """A request that is ready to be sent."""

    # Any: plain JSON.
    body: dict[str, Any] = attrs.field(repr=_size)
    """The app's body with the conversation in it: fresh plain JSON, the caller's to change. It holds state."""

    left_out: tuple[Drop, ...]
    """
    Each piece of the conversation that is not in the body as it was, and each repair, in the order of the conversation.

    What the provider keeps itself is not left out.
    """

    mode: Literal["chained", "full", "hop"]
    """How the conversation is in there; `hop` goes on with an answer that its provider gives in several responses."""


class Encode(Protocol):
    """Puts a conversation into a request."""

    def __call__(
        self,
        transcript: Transcript | Iterable[Message],
        body: Mapping[str, Any],
        *,
        mode: EncodeMode = "auto",
        rules: Policy | None = None,
        strip: bool = False,
    ) -> Encoded:
        """
        Return the next request.

        Args:
            transcript: The conversation, or messages of one.

            body: The request in the words of the provider, without the conversation. It is left as it is.

            mode: How the conversation goes.

            rules: What may go where, instead of the rules of the dialect (see `replay.select`).

            strip: Leave out all state, for a conversation that its own provider refuses.
        """
        ...
