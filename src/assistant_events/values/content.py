"""What people and tools put into a conversation: text, JSON, media."""

# Plain JSON of unknown shape: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias, final

import attrs

from assistant_events.values import validators
from assistant_events.values.json_values import MAX_DEPTH, JsonValue, freeze, same_as
from assistant_events.values.validators import Extensible, check_text_or_none, to_optional_text


@final
@attrs.frozen(repr=False, eq=False, weakref_slot=False)
class TextContent(Extensible):
    """Plain text."""

    type: ClassVar[Literal["text"]] = "text"

    text: str = attrs.field(converter=validators.to_text, validator=validators.check_text)


@final
@attrs.frozen(repr=False, eq=False, weakref_slot=False)
class JsonContent(Extensible):
    """Any JSON value."""

    type: ClassVar[Literal["json"]] = "json"

    value: JsonValue = attrs.field(converter=freeze, eq=same_as)
    """Frozen when it is passed in; `thaw` returns plain Python."""


def to_bytes(value: bytes | bytearray | memoryview | None) -> bytes | None:
    """Return *value* as bytes; a mutable buffer is copied."""
    return bytes(value) if isinstance(value, (bytearray, memoryview)) else value


def size_only(value: bytes | None) -> str:
    """Return the size of *value* in words, for `repr`."""
    return "None" if value is None else f"<{len(value)} bytes>"


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class MediaContent(Extensible):
    """An image, audio, a video or a document: its bytes or its URI."""

    type: ClassVar[Literal["media"]] = "media"

    media_type: str = attrs.field(validator=validators.check_name)
    """MIME type with its parameters, for example `image/png`."""

    data: bytes | None = attrs.field(
        default=None, converter=to_bytes, validator=validators.IsA(bytes, optional=True), repr=size_only
    )
    """The bytes; `None` with a `uri`."""

    uri: str | None = attrs.field(default=None, converter=to_optional_text, validator=check_text_or_none)
    """Address of the bytes, which is sent to the provider as it is; `None` with `data`."""

    def __attrs_post_init__(self) -> None:
        if (self.data is None) == (self.uri is None):
            raise ValueError("MediaContent: expected either data or uri")


Content: TypeAlias = TextContent | JsonContent | MediaContent

ContentInput: TypeAlias = object
"""What `as_content` accepts: a `str`, one `Content`, a sequence of `Content` and `str`, or any JSON value."""


Default: TypeAlias = Callable[[Any], object]
"""Returns JSON, or content, for a value that is neither; as the `default` of `json.dumps`."""
# Any: a value of the app.


def as_content(value: ContentInput, *, default: Default | None = None) -> tuple[Content, ...]:
    """
    Return *value* as a tuple of contents.

    A `str` is one text; a `Content` is one item; a sequence with a `Content` in it is a sequence of contents, in which
    a `str` is a text; the empty tuple has no content. Everything else, including `None` and the empty list, is one
    JSON value.

    Args:
        value: The content.

        default: Called with each value, at any depth, that is neither content nor JSON, such as a dataclass, a date, a
            `Decimal` or a model of pydantic. What it returns takes the place of the value.

    Raises:
        TypeError: A value is neither content nor JSON; the error has its path.
    """
    if default is not None:
        value = _with_default(value, default, MAX_DEPTH)
    if isinstance(value, str):
        return (TextContent(value),)
    if isinstance(value, (TextContent, JsonContent, MediaContent)):
        return (value,)
    if isinstance(value, tuple) and not value:
        return ()
    if isinstance(value, Sequence) and any(
        isinstance(item, (TextContent, JsonContent, MediaContent)) for item in value
    ):
        return tuple([_item(item, at) for at, item in enumerate(value)])
    return (JsonContent(value),)


def _with_default(value: object, default: Default, depth: int) -> object:
    if value is None or not depth or isinstance(value, (str, int, float, TextContent, JsonContent, MediaContent)):
        return value
    if isinstance(value, Mapping):
        return {key: _with_default(item, default, depth - 1) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return [_with_default(item, default, depth - 1) for item in value] or value
    return _with_default(default(value), default, depth - 1)


def _item(value: object, at: int) -> Content:
    if isinstance(value, (TextContent, JsonContent, MediaContent)):
        return value
    if isinstance(value, str):
        return TextContent(value)
    raise TypeError(f"$[{at}]: expected a Content or str beside other contents, got {type(value).__name__}")
