"""Words that most wires have mean what they mean everywhere: ends, errors, names of counts, failures, places."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

from assistant_events import messages as msg
from assistant_events.adapters.json_fields import Fields
from assistant_events.adapters.tables import names
from assistant_events.testing.conservation import OF_TOOLS, is_sum, item_of, places_in
from assistant_events.testing.sample import Sample, leaves, named, parts_of, require, strings
from assistant_events.values import ErrorInfo, ErrorKind, FinishReason, Usage, thaw

_ENDS: Final = {
    FinishReason.LENGTH: "max_?(?:output_|new_|completion_)?tokens|(?:model_)?length"
    "|(?:model_)?context_window_exceeded",
    FinishReason.CONTENT_FILTER: "content_?filter(?:ed)?|safety|refusal|recitation|blocklist|blocked|prohibited_content"
    "|guardrail_intervened",
    FinishReason.PAUSE: "pause(?:_turn|d)?",
    FinishReason.TOOL_CALLS: "(?:tool|function)_?(?:use|calls?)",
}
"""By finish reason, words for it on most wires, with `_` also for a hyphen."""

_REASON: Final = re.compile("reason$", re.IGNORECASE)
"""End of the names of fields with the reason for an end."""

_OF_OTHERS: Final = OF_TOOLS - {"response"} | {"content"}
"""Names of fields, of most wires, with what is of a tool, also of one that is a model."""

_STOPS: Final = re.compile("stop|end_turn|stop_sequence|eos(?:_token)?", re.IGNORECASE)

_TRANSIENT: Final = frozenset({ErrorKind.RATE_LIMIT, ErrorKind.OVERLOADED})
_LASTING: Final = frozenset(
    {ErrorKind.AUTH, ErrorKind.INVALID_REQUEST, ErrorKind.NOT_FOUND, ErrorKind.CONTEXT_LENGTH, ErrorKind.QUOTA}
)
"""Kinds of errors after which the same request may succeed, and after which it does not."""

CODES: Final[Mapping[str, frozenset[ErrorKind]]] = {
    "overloaded|unavailable|busy": frozenset({ErrorKind.OVERLOADED, ErrorKind.RATE_LIMIT, ErrorKind.PROVIDER}),
    "rate_?limit|too_?many_?requests|throttl|slow_?down": frozenset(
        {ErrorKind.RATE_LIMIT, ErrorKind.OVERLOADED, ErrorKind.QUOTA}
    ),
    "authenticat|permission|api_?key|unauthori[sz]ed": frozenset({ErrorKind.AUTH}),
    "(?:invalid|bad)_?(?:request|argument|parameter)": frozenset(
        {ErrorKind.INVALID_REQUEST, ErrorKind.INVALID_INPUT, ErrorKind.AUTH, ErrorKind.NOT_FOUND}
    ),
    "not_?found": frozenset({ErrorKind.NOT_FOUND}),
    "context_?length": frozenset({ErrorKind.CONTEXT_LENGTH}),
    "^time_?out": frozenset({ErrorKind.TIMEOUT, ErrorKind.NETWORK, ErrorKind.OVERLOADED}),
    "billing|payment|insufficient_?(?:quota|credit|balance|funds)": frozenset({ErrorKind.QUOTA}),
}
"""By words in codes of errors, the kinds that they may have."""

USUAL_CODES: Final = (
    *("rate_limit_error", "rate_limit_exceeded", "overloaded_error", "authentication_error", "invalid_api_key"),
    *("permission_error", "not_found_error", "model_not_found", "context_length_exceeded", "insufficient_quota"),
    *("billing_error", "invalid_request_error", "invalid_request", "bad_request", "unauthorized", "overloaded"),
)
"""Codes of errors that several services send."""

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

_PARTS: Final = {"input_tokens": ("", "cache_read_tokens"), "output_tokens": ("reasoning_tokens",)}
"""By side, what may be all of it: its own field is 0 then, on a wire that counts these apart."""

_TOTAL: Final = re.compile("total_?tokens?(?:_?count)?", re.IGNORECASE)
"""Names of the sum of both sides on most wires."""

_FAILURES: Final = re.compile("error|failed|malformed_.*", re.IGNORECASE)
"""Words for an end of an answer that has failed."""

_FAULT: Final = re.compile(
    "err|fail|den[iy]|exceed|time|incomplete|cancel|unavailable|invalid|unspecified|reject",
    re.IGNORECASE,
)
"""Words beside which a call may have failed."""

_FORMS: Final = {"jpeg": "jpg", **dict.fromkeys(names("png jpg gif webp wav mp3 mp4 ogg flac pdf"), "")}
"""Forms of media, each with another name of it."""

_ADDRESSES: Final = ("url", "uri")


def check_ends(sample: Sample) -> None:
    """Check that a word for an end that most wires have means here what it means there."""
    for message in sample.answers:
        word, reason = message.raw_finish_reason or "", message.finish_reason
        if message.error is not None:
            continue
        require(
            not _FAILURES.fullmatch(word),
            f"{sample.name}: message {message.id!r} ended with {word!r}, and has not failed",
        )
        for expected, words in _ENDS.items():
            require(
                not _means(words, word) or reason is expected,
                f"{sample.name}: message {message.id!r} ended with {word!r} and has the finish reason {str(reason)!r}; "
                f"expected {expected.value!r}",
            )
        require(
            _STOPS.fullmatch(word) is None or reason not in (FinishReason.LENGTH, FinishReason.OTHER),
            f"{sample.name}: message {message.id!r} ended with {word!r}, and has the finish reason {str(reason)!r}",
        )


def check_reasons(sample: Sample) -> None:
    """Check that a reason for an end that most wires have is known, wherever a frame has it."""
    found = [(path, leaf) for frame in sample.frames for path, leaf in leaves(frame.document)]
    words = [leaf for path, leaf in found if path and _REASON.search(path[-1]) and _OF_OTHERS.isdisjoint(path)]
    length = _ENDS[FinishReason.LENGTH]
    cut = [word for word in words if isinstance(word, str) and _means(length, word)]
    for message in sample.answers if len(sample.answers) == 1 else ():
        require(
            not cut or message.error is not None or message.finish_reason is not FinishReason.OTHER,
            f"{sample.name}: a frame has the reason {cut[:1]}, and message {message.id!r} the finish reason "
            f"{str(message.finish_reason)!r}",
        )


def _means(words: str, word: str) -> bool:
    return re.fullmatch(words, word.replace("-", "_"), re.IGNORECASE) is not None


def may_end(word: str, reason: FinishReason | None) -> bool:
    """Return whether an answer that ended with a word of most wires may have this reason, or does not know it."""
    meant = next((each for each, words in _ENDS.items() if _means(words, word)), None)
    return meant is None or reason in (meant, None, FinishReason.OTHER)


def check_errors(sample: Sample) -> None:
    """Check that the error of an answer has a kind that fits its code, and may be tried again if that kind passes."""
    for message in sample.answers:
        if message.error is not None:
            check_error(sample, message.error)


def check_error(sample: Sample, error: ErrorInfo) -> None:
    """Check that an error has a kind that fits its code, and may be tried again if that kind passes."""
    where = f"{sample.name}: the error of kind {str(error.kind)!r} with the code {error.code!r}"
    require(
        error.kind not in _TRANSIENT or error.retryable is True,
        f"{where} has retryable={error.retryable}, expected True: the same request may succeed a little later",
    )
    require(
        error.kind not in _LASTING or error.retryable is not True,
        f"{where} can be retried: the same request is refused again",
    )
    for words, kinds in CODES.items():
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
    cached = (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    is_added = usage.input_tokens not in [leaf for _, leaf in leaves(usage.details)]
    require(
        not is_added or usage.input_tokens is None or cached <= usage.input_tokens,
        f"{sample.name}: usage.input_tokens is the sum {usage.input_tokens}, and {cached} of them were read from a "
        "cache or written to one; a side counts all of its tokens",
    )
    _check_total(sample, usage)
    counts = [(path[-1], leaf) for path, leaf in leaves(usage.details) if type(leaf) is int]
    found = [(key, leaf) for key, leaf in counts if leaf]
    zeros = {_count_of(key) for key, leaf in counts if not leaf}
    for name in filter(None, _COUNTS):
        count: int | None = getattr(usage, name)
        own = [key for key, _ in found if _count_of(key) == name]
        require(
            not own or count is not None,
            f"{sample.name}: usage.{name} is None, although its details have {own[:1]}",
        )
        holders = {_count_of(key): key for key, leaf in found if leaf == count}
        others = [leaf for _, leaf in found if leaf != count]  # a side may be the sum of them
        is_part = name in ("cache_read_tokens", "reasoning_tokens") or not is_sum(count or 0, others)
        require(
            not (is_part and holders)
            or not {name, None}.isdisjoint(holders)
            or (name in zeros and not holders.keys().isdisjoint(_PARTS.get(name, ()))),
            f"{sample.name}: usage.{name} is {count}, which is only in fields of other counts: "
            f"{sorted(holders.values())}",
        )


def _check_total(sample: Sample, usage: Usage) -> None:
    """Check that no count is missing in both sides which is a part of the total, where the wire has one."""
    counts = {path[-1]: leaf for path, leaf in leaves(usage.details) if type(leaf) is int}
    totals = [leaf for key, leaf in counts.items() if _TOTAL.fullmatch(key)]
    if len(totals) == 1 and usage.input_tokens is not None and usage.output_tokens is not None:
        more = totals[0] - usage.input_tokens - usage.output_tokens
        left_out = [key for key, leaf in counts.items() if leaf == more > 0]
        require(
            not left_out,
            f"{sample.name}: the usage has {usage.input_tokens} and {usage.output_tokens} tokens, and a total of "
            f"{totals[0]} with {left_out}",
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


def check_cited_items(sample: Sample) -> None:
    """Check that a source that quotes one of several texts is in the state of that one's item."""
    parts = parts_of(sample.transcript)
    for frame in sample.frames if sample.dialect.policy.item_key else ():
        for fields, start, end in places_in(frame.document):
            text = fields.get("text")
            if not isinstance(text, str) or len(text) != end - start:
                continue
            quoted = [each for each, part in parts.items() if text in getattr(part, "text", "")]
            holders = [each for each, part in parts.items() if text in strings(thaw(part.state))]
            require(
                len(quoted) != 1 or not holders or not item_of(sample, parts, quoted[0]).isdisjoint(holders),
                f"{sample.name}: the source of the frame at byte {frame.start} quotes {text!r:.60} of {named(quoted)}, "
                f"and is in {named(holders)}, of another item",
            )


def check_cited_places(sample: Sample) -> None:
    """Check that a source with a place in the only text has one in its citation: of several, it may be in another."""
    texts = [part for part in parts_of(sample.transcript).values() if isinstance(part, msg.TextPart)]
    if len(texts) != 1:
        return
    [part] = texts
    cited_at = [(each.start, each.end) for each in part.citations]
    for frame in sample.frames:
        for fields, start, end in places_in(frame.document):
            if not 0 <= start < end:
                continue
            text = fields.get("text")
            at = part.text.find(text) if isinstance(text, str) and part.text.count(text) == 1 and cited_at else -1
            require(
                at < 0 or (at, at + len(str(text))) in cited_at,
                f"{sample.name}: the text {text!r:.60}, to which a source of the frame at byte {frame.start} belongs, "
                f"is at {at}, and citations are at {cited_at!r:.100}",
            )
            urls = [url for key in _ADDRESSES if isinstance(url := fields.get(key), str)]
            cited = [(part, each) for part in texts for each in part.citations if each.url in urls]
            fitting = [each for part, each in cited if len(part.text) >= end and part.text.isascii()]
            require(
                not fitting or len(fitting) < len(cited) or any(None not in (each.start, each.end) for each in fitting),
                f"{sample.name}: the source at byte {frame.start} is of the text from {start} to {end}, and its "
                f"citation has no place: {urls[:1]}",
            )


def forms_in(texts: Iterable[str]) -> list[str]:
    """Return the forms of media among texts: by themselves, as a media type, or of a data URL."""
    words = [each.removeprefix("data:").partition(";")[0] if each.startswith("data:") else each for each in texts]
    return [form for each in words if (form := each.lower().rpartition("/")[2]) in _FORMS]


def has_form(media_type: str, forms: Collection[str]) -> bool:
    """Return whether the form of a media type is among *forms*."""
    form = media_type.partition(";")[0].partition("/")[2]
    return form in forms or _FORMS.get(form) in forms


def check_media(sample: Sample) -> None:
    """Check that media have a type that frames name, where these name the types of all media."""
    found = [part for part in parts_of(sample.transcript).values() if isinstance(part, msg.MediaPart)]
    forms = forms_in(sample.strings) if found else []
    for part in found if len(forms) >= len(found) else ():
        require(
            has_form(part.media_type, forms),
            f"{sample.name}: media have the type {part.media_type!r}, and the frames name {sorted({*forms})}",
        )


CHECKS: Final[tuple[Callable[[Sample], None], ...]] = (
    check_ends,
    check_reasons,
    check_errors,
    check_names_of_counts,
    check_failed_calls,
    check_cited_places,
    check_cited_items,
    check_media,
)
"""What is tried on each stream."""
