"""What is open inside a step: fragments, media and calls, and the text and input that they collect."""

from __future__ import annotations

from collections.abc import Hashable

from assistant_events.errors import JsonError
from assistant_events.values import MAX_DEPTH, JsonObject, State, own, read_json, valid_text
from assistant_events.values.buffers import Buffer
from assistant_events.values.unicode import is_high_surrogate


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


class OpenMedia(OpenFragment):
    """Like its base, of bytes."""

    __slots__ = ("data",)

    def __init__(self, key: Hashable, state: State, media_type: str) -> None:
        super().__init__("media", key, state, media_type)
        self.data: Buffer[bytes] = Buffer(b"")


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
        frozen = own(value, depth=MAX_DEPTH)
    except JsonError:
        return None, f"the input is nested deeper than {MAX_DEPTH} levels"
    if not isinstance(frozen, JsonObject):
        return None, f"the input is no JSON object but {_named(value)}"
    return frozen, ""


def _named(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case _:
            return "an array"
