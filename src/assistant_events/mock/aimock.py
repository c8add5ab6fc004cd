"""
Fixture files of aimock, read so that the mock gives the answers that aimock gives.

From the types, the loader and the router of `@copilotkit/aimock` 1.43.0. `AimockApi` has what its handler of one API
does with a response. Fixtures that no request of the API can match there are left out, with a note; settings that
change an answer and have no counterpart are faults; fields that aimock ignores for the API are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Annotated, Any, Final, NamedTuple, TypeVar, final

import attrs

from assistant_events.adapters.json_fields import is_array, is_object
from assistant_events.errors import JsonError
from assistant_events.mock import answers
from assistant_events.mock.answers import CallName, Item, is_word
from assistant_events.mock.documents import PreparedAnswer
from assistant_events.mock.fixture_files import FixtureFormat, ReadFixtures
from assistant_events.mock.fixtures import Answer, Fixture, HttpError, Timing
from assistant_events.mock.json_reader import (
    READ_ERRORS,
    Count,
    FieldError,
    Seconds,
    at_least,
    checked,
    expect,
    faults_of,
    read_class,
    read_object,
)
from assistant_events.mock.matching import Contains, Match
from assistant_events.values import read_json, write_json

_T = TypeVar("_T")

# Answers of other endpoints of aimock.
_OTHER_ANSWERS: Final = ("embedding", "image", "images", "audio", "transcription", "video", "json", "live")


class AimockUsage(NamedTuple):
    """Counts of tokens; 0 where a file has none."""

    input: int = 0
    output: int = 0
    total: int = 0


@final
@attrs.frozen(kw_only=True)
class AimockApi:
    """The conversion of aimock's responses for one API."""

    name: str
    """In messages."""

    match: type[Match] = Match
    entry: type[answers.AnswerEntry]
    answer: Callable[[AimockResponse], Answer]
    """Returns the answer. May raise `FieldError`, with paths from the entry."""

    prepared: type[PreparedAnswer]
    delta: str
    """The end of the names of deltas."""

    def form(self) -> FixtureFormat:
        """Return the form of the fixture files of this API, and of aimock's."""
        return FixtureFormat(match=self.match, entry=self.entry, read_other=partial(read_aimock, self))


def _refuse(reason: str) -> Callable[[Any], None]:
    """Return the reader of a field that a file cannot have."""

    def read(value: Any) -> Any:
        if value:
            raise ValueError(reason)

    return read


def _read_needle(value: Any) -> Contains:
    return Contains(read_class(value, str))


def _read_needles(value: Any) -> tuple[Contains, ...]:
    texts: Any = tuple[str, ...]  # a type for cattrs, which type checkers do not take as an argument
    return tuple([Contains(text) for text in read_class(value if is_array(value) else [value], texts)])


def _read_content(value: Any) -> str:
    return write_json(value).decode() if is_object(value) or is_array(value) else read_class(value, str)


def _read_arguments(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):
        try:
            value = read_json(value or "{}")
        except JsonError as error:
            raise ValueError(f"not valid JSON: {error}") from None
    if is_object(value):
        return value
    raise ValueError("expected an object, or the JSON text of one")


def _read_usage(value: Any) -> AimockUsage:
    usage = read_object(value)

    def first(*keys: str) -> int | None:
        counts = [at_least(0)(usage[key]) for key in keys if usage.get(key) is not None]
        return counts[0] if counts else None

    read = first("input_tokens", "prompt_tokens", "promptTokenCount") or 0
    written = first("output_tokens", "completion_tokens", "candidatesTokenCount") or 0
    total = first("total_tokens", "totalTokenCount")
    return AimockUsage(read, written, read + written if total is None else total)


@attrs.frozen(kw_only=True)
class _Match:
    userMessage: Annotated[Contains, _read_needle] | None = None
    systemMessage: Annotated[tuple[Contains, ...], _read_needles] = ()
    toolCallId: str | None = None
    toolResultContains: Annotated[Contains, _read_needle] | None = None
    toolName: str | None = None
    model: str | None = None
    hasToolResult: bool | None = None
    turnIndex: Count | None = None
    sequenceIndex: Count | None = None
    endpoint: str | None = None
    predicate: Annotated[Any, _refuse("a function cannot be in a file; write a Fixture in Python")] = None
    context: Annotated[Any, _refuse("fixtures for one X-AIMock-Context only are not supported")] = None

    def match(self, match: type[Match]) -> Match:
        return match(
            user_text=self.userMessage,
            system=self.systemMessage,
            last_call_id=self.toolCallId,
            result_text=self.toolResultContains,
            tool=self.toolName,
            model=None if self.model is None else re.compile(rf"\A{re.escape(self.model)}(?:\Z|-\d)"),
            has_result=self.hasToolResult,
            position=self.turnIndex,
            conversation=False,
        )


@final
@attrs.frozen(kw_only=True)
class AimockCall:
    """A call of a function in a response."""

    name: CallName
    id: str | None = None
    arguments: Annotated[Mapping[str, Any], _read_arguments]


@final
@attrs.frozen(kw_only=True)
class AimockText:
    """A text among the blocks of a response."""

    text: str = ""


def _read_block(value: Any) -> AimockCall | AimockText:
    match read_object(value):
        case {"type": "toolCall", **block}:
            return read_class(block, AimockCall)
        case {"type": "text", **block}:
            return read_class(block, AimockText)
        case _:
            raise FieldError(("type", "expected 'text' or 'toolCall'"))


@attrs.frozen(kw_only=True)
class _Error:
    message: Annotated[str, expect("a text", is_word)]
    type: str = "ERROR"
    code: Any = None
    param: Any = None
    """Neither is sent: aimock answers with the type alone."""


@final
@attrs.frozen(kw_only=True)
class AimockResponse:
    """A response in a file."""

    content: Annotated[str, _read_content] | None = None
    toolCalls: tuple[AimockCall, ...] = ()
    blocks: tuple[Annotated[AimockCall | AimockText, _read_block], ...] = ()
    """Texts and calls in their order, in place of `content` and `toolCalls`."""

    reasoning: str = ""
    model: str | None = None
    usage: Annotated[AimockUsage, _read_usage] = AimockUsage()
    finishReason: str | None = None
    error: _Error | None = None
    status: Annotated[int, at_least(200)] = 500
    retryAfter: Any = None
    created: Any = None
    fallthrough: Any = None
    id: Any = None
    nativeFinishReason: Any = None
    provider: Any = None
    reasoningSignature: Any = None
    redactedThinking: Any = None
    role: Any = None
    systemFingerprint: Any = None
    webSearches: Any = None
    """Fields from `created` on are read by few of its handlers."""

    @staticmethod
    def check_keys(given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
        """Yield the faults of the choice of keys."""
        if not given.keys() & {"content", "toolCalls", "blocks", "error"}:
            yield "", "expected one of content, toolCalls, blocks, error"

    def items(self, entry: type[answers.AnswerEntry]) -> list[Item]:
        """Return the texts and calls as items of a wire; an empty id of a call is none."""
        text = () if self.content is None else (AimockText(text=self.content),)
        return [
            entry.text_item(part.text)
            if isinstance(part, AimockText)
            else entry.call_item(part.name, part.arguments, part.id or None)
            for part in self.blocks or (*text, *self.toolCalls)
        ]

    def read_own(self, cls: type[_T]) -> _T:
        """Return the fields that few handlers read, of those with this class."""
        known: Any = cls  # Any: an attrs class
        return read_class({field.name: getattr(self, field.name) for field in attrs.fields(known)}, cls)

    def http_error(self) -> HttpError | None:
        """Return the HTTP error that is sent in place of an answer; `None` without one."""
        if self.error is None:
            return None
        headers = (("retry-after", str(self.retryAfter or 1)),) if self.status == 429 else ()
        return HttpError(status=self.status, code=self.error.type, message=self.error.message, headers=headers)


def word_of(word: str | None, words: Mapping[str, str | None], api: str) -> str | None:
    """
    Return the word of an API for a finish reason.

    Raises:
        FieldError: *words* has none for it.
    """
    if word is None or word in words:
        return words.get(word or "")
    raise FieldError(("response.finishReason", f"expected one of {', '.join(words)}; {api} has no {word!r}"))


@attrs.frozen(kw_only=True)
class _Profile:
    ttft: Seconds | None = None
    tps: Seconds | None = None
    jitter: Seconds = 0.0  # not used: here a wait is the same each time


@attrs.frozen(kw_only=True)
class _Recorded:
    ttftMs: Seconds = 0.0
    interChunkDelaysMs: tuple[Seconds, ...] = ()
    totalDurationMs: Seconds = 0.0


_Chance = Annotated[float, _refuse("answers by chance are not supported; use a fault in a file of this library's form")]


@attrs.frozen(kw_only=True)
class _Chaos:
    latencyMs: Seconds = 0.0
    dropRate: _Chance = 0.0
    malformedRate: _Chance = 0.0
    rateLimitRate: _Chance = 0.0
    disconnectRate: _Chance = 0.0


@attrs.frozen(kw_only=True)
class _Entry:
    match: _Match
    response: AimockResponse
    latency: Seconds = 0.0
    chunkSize: Count = 0
    replaySpeed: Seconds = 1.0
    streamingProfile: _Profile | None = None
    recordedTimings: _Recorded | None = None
    chaos: _Chaos = _Chaos()
    truncateAfterChunks: Annotated[int, at_least(1)] | None = None
    disconnectAfterMs: Seconds | None = None
    openRouterProcessing: Any = None
    metadata: Any = None

    def answer(self, api: AimockApi) -> Answer:
        error = self.response.http_error()
        answer = api.answer(self.response) if error is None else api.entry.ANSWER(http_error=error)
        faults = () if self.disconnectAfterMs is None else (f"drop@{self.disconnectAfterMs / 1000:g}s",)
        answer = attrs.evolve(answer, timing=self._timing(), faults=faults)
        if self.truncateAfterChunks is None:
            return answer
        frames = api.prepared(answer, signs=False).frames
        deltas = [number for number, frame in enumerate(frames, 1) if frame.name.endswith(api.delta)]
        # An answer with fewer deltas is whole.
        return attrs.evolve(answer, cut_after=dict(enumerate(deltas, 1)).get(self.truncateAfterChunks))

    def _timing(self) -> Timing:
        first = between = self.latency / 1000
        profile, recorded = self.streamingProfile, self.recordedTimings
        if profile is not None:
            first = first if profile.ttft is None else profile.ttft / 1000
            between = 1 / profile.tps if profile.tps else between
        elif recorded is not None:
            waits = recorded.interChunkDelaysMs
            first, between = recorded.ttftMs / 1000, sum(waits) / len(waits) / 1000 if waits else 0.0
        first += self.chaos.latencyMs / 1000
        speed = self.replaySpeed or 1.0
        return Timing(first_byte_s=first / speed, between_s=between / speed, delta_chars=self.chunkSize or None)


def read_aimock(api: AimockApi, document: Mapping[str, Any]) -> ReadFixtures | None:
    """
    Return the fixtures of a document of aimock, and why others are left out; `None` for another document.

    Entries that differ only in their `sequenceIndex` are one fixture with as many answers, used up after them.
    """
    entries = document.get("fixtures")
    if "version" in document or not is_array(entries):
        return None
    if not any(is_object(entry) and "response" in entry for entry in entries):
        return None
    found: list[Fixture] = []
    left_out: list[tuple[int, str]] = []
    faults: list[tuple[str, str]] = []
    sequences: dict[Match, int] = {}
    for index, given in enumerate(entries):
        reason = _not_matched(given, api.name)
        if reason:
            left_out.append((index, reason))
            continue
        try:
            entry = read_class(given, _Entry)
            match, answer, number = entry.match.match(api.match), entry.answer(api), entry.match.sequenceIndex
            if number is None:
                found.append(Fixture(match=match, answers=(answer,)))
                continue
            at = sequences.setdefault(match, len(found))
            earlier = found[at].answers if at < len(found) else ()
            if number != len(earlier):
                reason = f"expected {len(earlier)}, the next one of this match, got {number}"
                raise FieldError(("match.sequenceIndex", reason))
            found[at : at + 1] = [Fixture(match=match, answers=(*earlier, answer), repeat_last=False)]
        except READ_ERRORS as error:
            faults += faults_of(error, f"fixtures[{index}]")
    return checked(ReadFixtures(fixtures=found, left_out=left_out), faults)


def _not_matched(entry: Any, api: str) -> str | None:
    """Return why no request of an API can match an entry; `None` when one can."""
    match, response = [entry.get(key) if is_object(entry) else None for key in ("match", "response")]
    if is_object(match):
        if match.get("endpoint") not in (None, "chat"):
            return f"match.endpoint {match['endpoint']!r} is not an endpoint of {api}"
        for key in ("inputText", "responseFormat"):
            if match.get(key) is not None:
                return f"match.{key} is never in a request of {api}"
    other = next((key for key in _OTHER_ANSWERS if is_object(response) and key in response), None)
    return f"response.{other} is not an answer of {api}" if other else None
