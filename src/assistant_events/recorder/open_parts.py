"""What is open inside a step: fragments, media and calls, and the text and input that they collect."""

from __future__ import annotations

from collections.abc import Hashable

from assistant_events.errors import JsonError
from assistant_events.events import MediaEnded, MediaStarted, ReasoningEnded, ReasoningStarted, TextEnded, TextStarted
from assistant_events.lifecycle import KnownEvent
from assistant_events.values import MAX_DEPTH, Citation, JsonObject, State, own, read_json, valid_text
from assistant_events.values.buffers import Buffer
from assistant_events.values.construct import trusted
from assistant_events.values.info import as_citations
from assistant_events.values.json_values import json_type
from assistant_events.values.text import is_high_surrogate


class OpenFragment:
    """A text, reasoning or medium that is open, or that ended early and still collects what comes late."""

    __slots__ = ("buffer", "held", "key", "kind", "media_type", "state")

    def __init__(self, kind: str, key: Hashable, state: State, media_type: str = "") -> None:
        self.kind = kind
        self.key = key
        self.state = state
        self.media_type = media_type
        self.buffer: Buffer[str] = Buffer("")
        self.held = ""
        """First half of a surrogate pair whose second half has not come."""

    def started(self, message_id: str) -> KnownEvent:
        """Return the event that opens it."""
        values = {"message_id": message_id}
        return trusted(TextStarted, values) if self.kind == "text" else trusted(ReasoningStarted, values)

    def ended(
        self, message_id: str, text: str, state: State, citations: tuple[Citation, ...] = (), *, complete: bool = True
    ) -> KnownEvent:
        """Return the event that ends it with *text*, which is valid."""
        values = {"message_id": message_id, "text": text, "complete": complete, "state": state}
        if self.kind == "text":
            return trusted(TextEnded, {**values, "citations": as_citations(citations) if citations else ()})
        return trusted(ReasoningEnded, values)


class OpenMedia(OpenFragment):
    """Like its base, of bytes."""

    __slots__ = ("data",)

    def __init__(self, key: Hashable, state: State, media_type: str) -> None:
        super().__init__("media", key, state, media_type)
        self.data: Buffer[bytes] = Buffer(b"")

    def started(self, message_id: str) -> KnownEvent:
        """Return the event that opens it."""
        return MediaStarted(message_id=message_id, media_type=self.media_type)

    def ended_with(
        self, message_id: str, state: State, data: bytes | None, uri: str | None, *, complete: bool
    ) -> KnownEvent:
        """Return the event that ends it: with *data* or *uri*, or with what has come where both are `None`."""
        if data is None and uri is None:
            data = self.data.value() or None
        return MediaEnded(
            message_id=message_id,
            media_type=self.media_type,
            data=data,
            uri=uri,
            complete=complete and not (data is None and uri is None),
            state=state,
        )


class OpenCall:
    """A call, from its first sign to its answer."""

    __slots__ = ("buffer", "call_id", "held", "key", "name", "provider_executed", "provider_id", "state")

    def __init__(
        self, call_id: str, provider_id: str | None, name: str, key: Hashable, state: State, *, provider_executed: bool
    ) -> None:
        self.call_id = call_id
        self.provider_id = provider_id
        self.name = name
        self.key = key
        self.state = state
        self.provider_executed = provider_executed
        self.buffer: Buffer[str] = Buffer("")
        self.held = ""


def joined(held: str, delta: str) -> tuple[str, str]:
    """Return valid text, and the half of a surrogate pair at its end that has to wait for the next delta."""
    whole = held + delta
    if whole and is_high_surrogate(whole[-1]):
        return valid_text(whole[:-1]), whole[-1]
    return valid_text(whole), ""


def parsed_input(raw: str) -> tuple[JsonObject | None, str]:
    """Return the object that *raw* is, or why it is none."""
    try:
        value = read_json(raw, max_depth=None)
    except JsonError as error:
        return None, f"the input is {error}"
    try:
        # Every object is looked at once more here; how deep they nest is seen on the way.
        frozen = own(value)
    except JsonError:
        return None, f"the input is nested deeper than {MAX_DEPTH} levels"
    if not isinstance(frozen, JsonObject):
        return None, f"the input is no JSON object but {json_type(value)}"
    return frozen, ""
