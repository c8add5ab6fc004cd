"""Words that most wires have mean what they mean everywhere: ends, errors, names of counts, failures, places."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

from assistant_events import messages as msg
from assistant_events.adapters.json_fields import Fields
from assistant_events.testing.sample import Sample, leaves, named, objects, parts_of, require
from assistant_events.values import ErrorInfo, ErrorKind, FinishReason, Usage

_ENDS: Final = {
    FinishReason.LENGTH: "max_?(?:output_|new_|completion_)?tokens|(?:model_)?length"
    "|(?:model_)?context_window_exceeded",
    FinishReason.CONTENT_FILTER: "content_?filter(?:ed)?|safety|refusal|recitation|blocklist|blocked|prohibited_content"
    "|guardrail_intervened",
    FinishReason.PAUSE: "pause(?:_turn|d)?",
    FinishReason.TOOL_CALLS: "(?:tool|function)_?(?:use|calls?)",
}
"""By finish reason, words for it on most wires."""

_STOPS: Final = re.compile("stop|end_turn|stop_sequence|eos(?:_token)?", re.IGNORECASE)

_TRANSIENT: Final = frozenset({ErrorKind.RATE_LIMIT, ErrorKind.OVERLOADED})
_LASTING: Final = frozenset(
    {ErrorKind.AUTH, ErrorKind.INVALID_REQUEST, ErrorKind.NOT_FOUND, ErrorKind.CONTEXT_LENGTH, ErrorKind.QUOTA}
)
"""Kinds of errors after which the same request may succeed, and after which it does not."""

_CODES: Final[Mapping[str, frozenset[ErrorKind]]] = {
    "overloaded|unavailable|busy": frozenset({ErrorKind.OVERLOADED, ErrorKind.RATE_LIMIT, ErrorKind.PROVIDER}),
    "rate_?limit|too_?many_?requests|throttl|slow_?down": frozenset(
        {ErrorKind.RATE_LIMIT, ErrorKind.OVERLOADED, ErrorKind.QUOTA}
    ),
    "authenticat|permission|api_?key|unauthori[sz]ed": frozenset({ErrorKind.AUTH}),
    "not_?found": frozenset({ErrorKind.NOT_FOUND}),
    "context_?length": frozenset({ErrorKind.CONTEXT_LENGTH}),
}
"""By words in codes of errors, the kinds that they may have."""

_OF_SENTENCES: Final = frozenset({ErrorKind.QUOTA, ErrorKind.CONTEXT_LENGTH})
"""Kinds that may be known by the sentence of an error whose code is that of another one."""

_COUNTS: Final = {
    "reasoning_tokens": re.compile("reason|thought|thinking", re.IGNORECASE),
    "": re.compile("cach.*(?:writ|creat|miss)", re.IGNORECASE),
    "cache_read_tokens": re.compile("cach", re.IGNORECASE),
    "input_tokens": re.compile("input|prompt", re.IGNORECASE),
    "output_tokens": re.compile("output|completion|candidate|response", re.IGNORECASE),
}
"""By count, words in the names of its fields on most wires: the first that fits a name decides. One has no count."""

_FAULT: Final = re.compile(
    "err|fail|den[iy]|exceed|time|incomplete|cancel|unavailable|invalid|unspecified|reject",
    re.IGNORECASE,
)
"""Words beside which a call may have failed."""

_ADDRESSES: Final = ("url", "uri")


def check_ends(sample: Sample) -> None:
    """Check that a word for an end that most wires have means here what it means there."""
    for message in sample.answers:
        word, reason = message.raw_finish_reason or "", message.finish_reason
        if message.error is not None:
            continue
        for expected, words in _ENDS.items():
            require(
                re.fullmatch(words, word, re.IGNORECASE) is None or reason is expected,
                f"{sample.name}: message {message.id!r} ended with {word!r} and has the finish reason {str(reason)!r}; "
                f"expected {expected.value!r}",
            )
        require(
            _STOPS.fullmatch(word) is None or reason is not FinishReason.LENGTH,
            f"{sample.name}: message {message.id!r} ended with {word!r}, and has the finish reason 'length'",
        )


def check_errors(sample: Sample) -> None:
    """Check that the error of an answer has a kind that fits its code, and may be tried again if that kind passes."""
    for message in sample.answers:
        if message.error is not None:
            _check_error(sample, message.error)


def _check_error(sample: Sample, error: ErrorInfo) -> None:
    where = f"{sample.name}: the error of kind {str(error.kind)!r} with the code {error.code!r}"
    require(
        error.kind not in _TRANSIENT or error.retryable is True,
        f"{where} has retryable={error.retryable}, expected True: the same request may succeed a little later",
    )
    require(
        error.kind not in _LASTING or error.retryable is not True,
        f"{where} can be retried: the same request is refused again",
    )
    for words, kinds in _CODES.items():
        require(
            re.search(words, error.code or "", re.IGNORECASE) is None or error.kind in {*kinds, *_OF_SENTENCES},
            f"{where} is expected to be of kind {' or '.join(sorted(kinds))}",
        )


def check_names_of_counts(sample: Sample) -> None:
    """Check that a count is there when a field of its name is, and is not of a field that another count's name has."""
    for message in sample.answers:
        if message.usage is not None:
            _check_usage(sample, message.usage)


def _check_usage(sample: Sample, usage: Usage) -> None:
    found = [(path[-1], leaf) for path, leaf in leaves(usage.details) if type(leaf) is int and leaf]
    for name in filter(None, _COUNTS):
        count: int | None = getattr(usage, name)
        own = [key for key, _ in found if _count_of(key) == name]
        require(
            not own or count is not None,
            f"{sample.name}: usage.{name} is None, although its details have {own[:1]}",
        )
        holders = {_count_of(key): key for key, leaf in found if leaf == count}
        is_part = name in ("cache_read_tokens", "reasoning_tokens")  # a side may be the sum of others
        require(
            not (is_part and holders) or not {name, None}.isdisjoint(holders),
            f"{sample.name}: usage.{name} is {count}, which is only in fields of other counts: "
            f"{sorted(holders.values())}",
        )


def _count_of(key: str) -> str | None:
    return next((name for name, words in _COUNTS.items() if words.search(key)), None)


def check_failed_calls(sample: Sample) -> None:
    """Check that a call of the provider has not failed where no frame has a word of a failure."""
    for place, part in parts_of(sample.transcript).items():
        if isinstance(part, msg.ToolPart) and part.error is not None and part.error.kind == ErrorKind.TOOL:
            require(
                any(_names_fault(frame.document) for frame in sample.frames),
                f"{sample.name}: the call of {named([place])} has failed, and no frame has a word for that",
            )


def _names_fault(document: Fields | None) -> bool:
    for path, leaf in leaves(document):
        if leaf and any(_FAULT.search(each) for each in (*path[-1:], leaf if isinstance(leaf, str) else "")):
            return True
        if leaf is False:
            return True
    return False


def check_cited_places(sample: Sample) -> None:
    """Check that a source with a place in the only text has one in its citation: of several, it may be in another."""
    texts = [part for part in parts_of(sample.transcript).values() if isinstance(part, msg.TextPart)]
    if len(texts) != 1:
        return
    for frame in sample.frames:
        for fields, start, end in _places(frame.document):
            urls = [url for key in _ADDRESSES if isinstance(url := fields.get(key), str)]
            cited = [(part, each) for part in texts for each in part.citations if each.url in urls]
            fitting = [each for part, each in cited if len(part.text) >= end and part.text.isascii()]
            require(
                not fitting or len(fitting) < len(cited) or any(None not in (each.start, each.end) for each in fitting),
                f"{sample.name}: the source at byte {frame.start} is of the text from {start} to {end}, and its "
                f"citation has no place: {urls[:1]}",
            )


def _places(document: object) -> Iterator[tuple[Mapping[str, Any], int, int]]:
    """Yield the objects with a place in a text."""
    # Any: plain JSON.
    for _, fields in objects(document):
        ends = {key.lower().replace("_", "").removesuffix("index"): value for key, value in fields.items()}
        start, end = ends.get("start", 0), ends.get("end")
        if type(start) is int and type(end) is int and 0 <= start < end:
            yield cast("Mapping[str, Any]", fields), start, end


CHECKS: Final[tuple[Callable[[Sample], None], ...]] = (
    check_ends,
    check_errors,
    check_names_of_counts,
    check_failed_calls,
    check_cited_places,
)
"""What is tried on each stream."""
