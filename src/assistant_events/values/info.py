"""
Values of events: finish reason, error, usage, origin, remote run, citation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, final

import attrs

from assistant_events.values import validators
from assistant_events.values.json_values import JsonObject
from assistant_events.values.validators import NO_FIELDS, check_text_or_none, to_optional_text


class FinishReason(StrEnum):
    """Why a provider ended a step."""

    STOP = "stop"
    """The answer is complete."""

    LENGTH = "length"
    """A limit of tokens or of budget was reached; the answer is cut there."""

    TOOL_CALLS = "tool-calls"
    """The model waits for answers to its calls."""

    CONTENT_FILTER = "content-filter"
    """The provider withheld the rest of the answer."""

    PAUSE = "pause"
    """The provider stopped, and another request continues the answer."""

    OTHER = "other"
    """Anything else; `raw_finish_reason` has the value of the provider."""


class ErrorKind(StrEnum):
    """
    The kind of an error.

    Open for reading: `ErrorInfo.kind` may be another word, written by a newer version.
    """

    INTERRUPTED = "interrupted"
    ABORTED = "aborted"
    CANCELLED = "cancelled"
    PROTOCOL = "protocol"
    PROVIDER = "provider"
    OVERLOADED = "overloaded"
    RATE_LIMIT = "rate-limit"
    AUTH = "auth"
    INVALID_REQUEST = "invalid-request"
    NOT_FOUND = "not-found"
    QUOTA = "quota"
    CONTEXT_LENGTH = "context-length"
    TIMEOUT = "timeout"
    NETWORK = "network"
    CONTENT_FILTER = "content-filter"
    INVALID_INPUT = "invalid-input"
    NO_RESULT = "no-result"
    UNEXPECTED_ACTION = "unexpected-action"
    TOOL = "tool"
    TOOL_DENIED = "tool-denied"
    ADAPTER = "adapter"
    UNKNOWN = "unknown"


CUT_KINDS: Final = frozenset({ErrorKind.INTERRUPTED, ErrorKind.ABORTED, ErrorKind.NETWORK, ErrorKind.TIMEOUT})
"""Errors after which the provider may still generate: the stream was lost, the answer did not fail."""

_KINDS_BY_STATUS: Final[Mapping[int, ErrorKind]] = MappingProxyType(
    {
        401: ErrorKind.AUTH,
        402: ErrorKind.QUOTA,
        403: ErrorKind.AUTH,
        404: ErrorKind.NOT_FOUND,
        408: ErrorKind.TIMEOUT,
        410: ErrorKind.NOT_FOUND,
        429: ErrorKind.RATE_LIMIT,
        498: ErrorKind.OVERLOADED,  # Groq: no capacity of the flex tier (laravel/ai#925)
        499: ErrorKind.OVERLOADED,  # Gemini under load: the server has cancelled (gemini-cli#20432, python-genai#2506)
        501: ErrorKind.INVALID_REQUEST,  # the server does not support what the request asks for
        503: ErrorKind.OVERLOADED,
        504: ErrorKind.TIMEOUT,
        524: ErrorKind.TIMEOUT,  # of Cloudflare, as 504 (pollinations/pollinations#7211)
        529: ErrorKind.OVERLOADED,  # Anthropic's `overloaded_error`
    }
)


def kind_of_status(status: int) -> ErrorKind:
    """Return the kind of an HTTP error: from the table, else `provider` from 500 on and `invalid-request` below."""
    return _KINDS_BY_STATUS.get(status, ErrorKind.PROVIDER if status >= 500 else ErrorKind.INVALID_REQUEST)


def is_retryable_status(status: int) -> bool:
    """Return whether the same request may succeed a little later."""
    return status in (408, 429, 498, 499) or (status >= 500 and status != 501)


def to_finish(value: FinishReason | str) -> FinishReason:
    """Return the `FinishReason` with this value."""
    try:
        return FinishReason(value)
    except ValueError:
        known = ", ".join(FinishReason)
        raise ValueError(f"finish_reason: expected one of {known}; got {value!r}") from None


def _to_kind(value: ErrorKind | str) -> ErrorKind | str:
    try:
        return ErrorKind(value)
    except ValueError:
        return value


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class ErrorInfo(validators.Extensible):
    """An error, for programs (`kind`) and for people (`message`)."""

    kind: ErrorKind | str = attrs.field(converter=_to_kind, validator=validators.check_name)
    """An `ErrorKind`, or another word that a newer version wrote."""

    message: str = attrs.field(converter=validators.to_text, validator=validators.check_text)
    """A sentence for people; that of the provider if it sent one."""

    code: str | None = attrs.field(default=None, converter=to_optional_text, validator=check_text_or_none)
    """The code of the provider, as text; `None` when it sent none."""

    status: int | None = attrs.field(default=None, validator=validators.check_count_or_none)
    """HTTP status; `None` without an HTTP error."""

    retryable: bool | None = attrs.field(default=None, validator=validators.check_flag_or_none)
    """Whether the same request may succeed later; `None` when unknown."""

    retry_after_s: float | None = attrs.field(
        default=None, converter=validators.to_seconds, validator=validators.check_seconds_or_none
    )
    """Seconds to wait before the next request, as the provider asked; `None` when it did not."""

    details: JsonObject = attrs.field(default=NO_FIELDS, converter=validators.as_details)
    """Facts of the provider about the error alone, such as the id of the request or the parameter that it names."""


def is_answer(error: ErrorInfo | None) -> bool:
    """Return whether a client call that ended with *error* was answered: every end counts but `interrupted`."""
    return error is None or error.kind != ErrorKind.INTERRUPTED


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class Usage(validators.Extensible):
    """
    Tokens of one step, as OpenTelemetry counts them: the input includes the cache, the output includes reasoning.

    `None` means unknown, not zero. `a + b` adds field by field, where an unknown count adds nothing; the sum has no
    `details`.
    """

    input_tokens: int | None = attrs.field(default=None, validator=validators.check_count_or_none)
    """Tokens of the input, with those that were read from the cache or written to it."""

    output_tokens: int | None = attrs.field(default=None, validator=validators.check_count_or_none)
    """Tokens that the model generated, with reasoning."""

    cache_read_tokens: int | None = attrs.field(default=None, validator=validators.check_count_or_none)
    """Tokens of the input that were read from the provider's cache."""

    cache_write_tokens: int | None = attrs.field(default=None, validator=validators.check_count_or_none)
    """Tokens of the input that were written to the provider's cache."""

    reasoning_tokens: int | None = attrs.field(default=None, validator=validators.check_count_or_none)
    """Tokens of the output that are reasoning, shown or not."""

    details: JsonObject = attrs.field(default=NO_FIELDS, converter=validators.as_details)
    """The provider's own counts as received; empty when there are none. Not always tokens."""

    @property
    def total_tokens(self) -> int | None:
        """Input and output together; `None` unless both are known."""
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=_sum(self.input_tokens, other.input_tokens),
            output_tokens=_sum(self.output_tokens, other.output_tokens),
            cache_read_tokens=_sum(self.cache_read_tokens, other.cache_read_tokens),
            cache_write_tokens=_sum(self.cache_write_tokens, other.cache_write_tokens),
            reasoning_tokens=_sum(self.reasoning_tokens, other.reasoning_tokens),
        )


def _sum(a: int | None, b: int | None) -> int | None:
    if a is None or b is None:
        return b if a is None else a
    return a + b


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class Origin(validators.Extensible):
    """Who issued a step. State may be sent back to the same origin."""

    provider: str = attrs.field(validator=validators.check_name)
    """Who runs the model, for example `google`."""

    model: str | None = attrs.field(default=None, converter=to_optional_text, validator=check_text_or_none)
    """Model (or agent) as the app asked for it; as reported when the request is not known; `None` when neither is."""

    dialect: str = attrs.field(validator=validators.check_name)
    """Wire format, for example `gemini-interactions`."""

    served_model: str | None = attrs.field(default=None, converter=to_optional_text, validator=check_text_or_none)
    """Model as the provider reported it; `None` when it did not. Ignored by `same_as`."""

    def same_as(self, other: Origin) -> bool:
        """Return whether state of one may be sent to the other: provider, model and dialect are equal."""
        return (self.provider, self.model, self.dialect) == (other.provider, other.model, other.dialect)

    def filled_in(self, later: Origin | None) -> Origin:
        """Return this origin with the model names of *later* where its own are `None`."""
        if later is None:
            return self
        return attrs.evolve(
            self,
            model=later.model if self.model is None else self.model,
            served_model=later.served_model if self.served_model is None else self.served_model,
        )


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class RemoteRun(validators.Extensible):
    """A response that lives on the provider's side."""

    id: str = attrs.field(validator=validators.check_name)
    """The provider's id of it."""

    resumable: bool = attrs.field(default=False, validator=validators.check_flag)
    """Whether the provider continues without a connection, and the stream can be resumed."""

    kind: str = attrs.field(validator=validators.check_name)
    """The type of object that `id` names: `interaction` for `gemini-interactions`."""


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class Citation(validators.Extensible):
    """A source for a part of a text."""

    url: str | None = attrs.field(default=None, converter=to_optional_text, validator=check_text_or_none)
    title: str | None = attrs.field(default=None, converter=to_optional_text, validator=check_text_or_none)

    start: int | None = attrs.field(default=None, validator=validators.check_count_or_none)
    """First code point of the part's text that is cited; `None` when unknown or outside the text."""

    end: int | None = attrs.field(default=None, validator=validators.check_count_or_none)
    """One past the last code point; `None` when unknown or outside the text."""

    cited_text: str | None = attrs.field(default=None, converter=to_optional_text, validator=check_text_or_none)
    """The text of the source that the provider quotes."""

    def __attrs_post_init__(self) -> None:
        if self.start is not None and self.end is not None and self.end < self.start:
            raise ValueError(f"Citation.end: expected start ({self.start}) or more, got {self.end}")


def as_citations(value: Iterable[Citation]) -> tuple[Citation, ...]:
    """Return *value* as a tuple of citations."""
    return validators.tuple_of(value, Citation, "citations", "a Citation")
