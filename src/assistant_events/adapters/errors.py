"""
Errors of a wire, read and written by one table, and the errors of HTTP.

A code that is not in the table is kept in `ErrorInfo.code`; the kind is then that of the HTTP status, else `provider`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import Any, Final, final

import attrs

from assistant_events.adapters.error_phrases import CODES, PHRASES
from assistant_events.adapters.json_fields import (
    Fields,
    array,
    integer,
    mapping,
    mappings,
    others,
    string,
    text_of_input,
)
from assistant_events.adapters.refused_state import REFUSALS
from assistant_events.errors import JsonError
from assistant_events.values import ErrorInfo, ErrorKind, read_json, thaw
from assistant_events.values.info import kind_of_status

SPLICED: Final = ErrorInfo(kind=ErrorKind.PROTOCOL, message="another answer began before the first had ended")
"""Of a stream into which a gateway has put two answers."""

_RETRYABLE: Final = frozenset({ErrorKind.RATE_LIMIT, ErrorKind.OVERLOADED, ErrorKind.TIMEOUT})

_VAGUE: Final[Mapping[ErrorKind, int]] = MappingProxyType(
    {ErrorKind.CANCELLED: 1, ErrorKind.PROVIDER: 1, ErrorKind.INVALID_REQUEST: 2}
)
"""Kinds whose codes servers send for more specific errors, too; of two kinds the one with the lower number counts."""

_NEAREST: Final[Mapping[str, ErrorKind]] = MappingProxyType(
    {
        ErrorKind.CONTEXT_LENGTH: ErrorKind.INVALID_REQUEST,
        ErrorKind.CONTENT_FILTER: ErrorKind.INVALID_REQUEST,
        ErrorKind.QUOTA: ErrorKind.RATE_LIMIT,
        ErrorKind.RATE_LIMIT: ErrorKind.QUOTA,
        ErrorKind.NOT_FOUND: ErrorKind.INVALID_REQUEST,
        ErrorKind.TIMEOUT: ErrorKind.OVERLOADED,
    }
)
"""The kind whose code is written for a kind without one."""

_CODE_LIMIT: Final = 1 << 31
"""No API counts its codes up to here; Python does not even convert integers of many thousand digits to text."""

_TEXT_LIMIT: Final = 500
"""Longest text of a body that becomes a message, in characters. Proxies answer with pages of HTML and logs."""

_FRAME: Final = re.compile(rb"\A(?:event:[^\r\n]*\r?\n)?data:([^\r\n]*)")
"""The first event of a stream, in place of a document: MiMo answers requests for one so (tailcallhq/forgecode#3347)."""

_WAITS: Final = tuple(
    (prefix + name, unit)
    for prefix in ("", "llm_provider-")
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0))
)
"""Headers with a time to wait, and their units in seconds."""

_QUOTED: Final = re.compile("input_value=|['\"]input['\"]:")
"""Precedes a value of the request in messages of pydantic, which vLLM passes on. Phrases behind it do not count."""

_LABEL: Final = re.compile(r"Upstream request failed: \[(\w{1,99})\]")
"""OpenCode Zen has the code of the server behind it in the message (anomalyco/opencode#48864, #49099)."""

_UNIT: Final = "milliseconds?|seconds?|secs?|minutes?|mins?|hours?|days?|ms|[smhd]"
_SPAN: Final = f"([0-9]{{1,7}}(?:[.][0-9]{{1,9}})?) ?({_UNIT})(?![a-z])"
_DELAY: Final = re.compile(
    f"(?:(?:try again|retry|resets?) (?:in|after)|please wait) (?:about )?((?:{_SPAN}[ ,]*(?:and )?)+)"
)
"""
OpenAI, in streams (openai/codex#2266), Groq (gpt-pilot#610), Gemini, Azure (microsoft/action-python#12), LiteLLM,
Copilot (microsoft/vscode-copilot-release#3519), and PostHog (PostHog/posthog#82310).
"""

_UNITS: Final = MappingProxyType({"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0})
_EPOCH: Final = datetime.fromtimestamp(0, UTC)
_STATUS: Final = re.compile("[1-5][0-9]{2}")
_SECONDS: Final = re.compile(r"[0-9]+(\.[0-9]+)?")
_NOTHING: Final = frozenset({"None", "null"})
"""Words for a missing code. LiteLLM writes None, and the HTTP status as text (its chunks of errors, 2026-08)."""

_OF_MINIMAX: Final = MappingProxyType(
    {
        **dict.fromkeys((1002, 1039, 1041, 2045), "rate_limit_error"),
        **dict.fromkeys((1004, 2049), "authentication_error"),
        **dict.fromkeys((1008, 2056), "insufficient_balance"),
        **dict.fromkeys((1026, 1027), "content_filter"),
        **dict.fromkeys((1000, 1024, 1033), "server_error"),
    }
)
"""Words that each of its wires has for numbers of errors (MiniMax's manual, 2026)."""

_NO_NUMBERS: Final[Mapping[int, ErrorKind]] = MappingProxyType({})
_NO_PHRASES: Final[Mapping[str, ErrorKind]] = MappingProxyType({})


@final
@attrs.frozen(kw_only=True)
class ErrorTable:
    """
    Codes of a wire's error object, and where the object has them.

    Args:
        codes: `ErrorKind` by code, in lower case, also one that is `error_code` of the `details`, beside the codes of
            gateways. One that is more specific than `invalid-request` counts first, as does the HTTP status of a
            refusal. The first code of a kind is the one that `write` uses.

        fields: Fields of the object that hold a code, a name or a number, the most specific first.

        numbers: `ErrorKind` by numeric code. Without any, a number from 100 on is an HTTP status.

        phrases: `ErrorKind` by a phrase in the message of an `invalid-request`, or of an error without a known code,
            in lower case, beside the `PHRASES` of all wires.

        otherwise: Code that `write` uses for a kind without one.

        retry_after: Reads from the object in how many seconds a retry makes sense; `None` when the wire has no field
            for it. Without one, a delay in the message counts.

        beside: Fields that belong to an error and are beside its object, such as the id of the request.

        retryable: Codes after which the same request may succeed, beside those of kinds for which it always may.

        is_used_up: Whether the object of a rate limit is of a quota that is used up; `None` when no field has that.
    """

    codes: Mapping[str, ErrorKind]
    fields: tuple[str, ...] = ("code",)
    numbers: Mapping[int, ErrorKind] = _NO_NUMBERS
    phrases: Mapping[str, ErrorKind] = _NO_PHRASES
    otherwise: str
    retry_after: Callable[[Fields], float | None] | None = None
    beside: tuple[str, ...] = ()
    retryable: frozenset[str] = frozenset()
    is_used_up: Callable[[Fields], bool] | None = None

    def read_document(self, document: Fields) -> ErrorInfo:
        """Return the error of a document or event that has the error object under `error`."""
        return self.read(error_of(document, self.beside))

    def write_document(self, error: ErrorInfo) -> dict[str, Any]:
        """Return a document with the error object of `write` under `error`."""
        written = self.write(error)
        own = {key: written.pop(key) for key in self.beside if key in written}
        return {"error": written, **own}

    def read(self, error: Fields, *, status: int | None = None) -> ErrorInfo:
        """
        Return the error of a wire's error object. Fields without a meaning here become its `details`.

        Args:
            error: The object.

            status: HTTP status of the response; `None` when the error did not come as one.
        """
        while inner := _inner(error):
            is_vaguer = self._is_known(error, status) and not self._is_known(inner, status)
            error = {**inner, **others(error), "message": inner["message"]} if is_vaguer else {**error, **inner}
        words = [word for key in self.fields if (word := string(error, key)) and word not in _NOTHING]
        number = self._number(error)
        status = _status_in(error) if status is None else status
        if status is None and number is not None and number >= 100 and not self.numbers:
            status = number
        message = string(error, "message")
        stable = string(mapping(error, "details"), "error_code")  # of Claude: why the error has its type
        stable = stable or string(mapping(error, "metadata"), "error_type")  # of OpenRouter (openrouter 1.3),
        stable = stable or string(error, "error_type")  # also on the wires of Responses and Claude (opencode#49099)
        if found := _LABEL.search(message or ""):
            stable = stable or found[1]
        coded = (self._kind([stable], None, None) if stable else None) or self._kind(words, number, status)
        # What the server behind OpenRouter, or behind the gateway of Vercel (vercel/ai#18303), has answered.
        passed_on = string(mapping(error, "metadata"), "raw") or string(mapping(error, "value"), "error_message")
        text = " ".join([_QUOTED.split(each.lower())[0] for each in (message, passed_on) if each])
        kind = self._specified(coded, text)
        if kind is ErrorKind.RATE_LIMIT and self.is_used_up is not None and self.is_used_up(error):
            kind = ErrorKind.QUOTA
        if REFUSALS.search(" ".join([*words, text])):
            # Gateways ask with each account, and call what is left a limit (lbjlaq/Antigravity-Manager#777).
            kind = ErrorKind.INVALID_REQUEST
        is_coded = kind is (coded or ErrorKind.PROVIDER)
        own = [word for word in words if self._kind([word], None, None) in (None, kind)]
        may_pass = kind in _RETRYABLE or (is_coded and not self.retryable.isdisjoint(own))
        code = words[0] if words else None if number is None else str(number)
        after = None if self.retry_after is None else self.retry_after(error)
        if after is None and (kind in _RETRYABLE or kind is ErrorKind.QUOTA):
            after = _stated_s(mapping(error, "metadata")) or _delay_s(text)
        return ErrorInfo(
            kind=kind,
            message=message or code or "the provider reported an error",
            code=code,
            status=status if status is not None and 100 <= status < 600 else None,
            retryable=True if may_pass else None,
            retry_after_s=after,
            details={key: value for key, value in others(error).items() if not self._is_read(key, value, code)},
        )

    def read_http(self, status: int, headers: Mapping[str, str], body: bytes) -> ErrorInfo:
        """
        Return the error of an HTTP response.

        Args:
            status: HTTP status.

            headers: Headers of the response, names in lower case.

            body: `{"error": {…}}`, `{"error": "text"}`, a text as `message`, `detail`, `error_message` (DeepInfra),
                `errorMessage` (NousResearch/hermes-agent#97427), `msg` (Z.ai) or, of AWS, `Message`, an array of one of
                them, a list of faults as `detail` (FastAPI, Mistral) or `errors` (Cloudflare), plain text, or any of
                them as an event.
        """
        found = error_of_body(body, self.beside) or {"message": f"HTTP {status}"}
        error, after = self.read(found, status=status), retry_after_s(headers)
        after = _until_reset_s(found, headers) if after is None else after
        return error if after is None else attrs.evolve(error, retry_after_s=after)

    def write(self, error: ErrorInfo) -> dict[str, Any]:
        """Return an error object that is read as *error*, or, when there is none, one with the nearest code."""
        for form in self._forms(error):
            if self.read(form) == error:
                return form
        forms = [
            {self.fields[0]: code, "message": error.message} for code in (error.code, self.word(error.kind)) if code
        ]
        return min(forms, key=lambda form: _differences(self.read(form), error))

    def is_exact(self, error: ErrorInfo) -> bool:
        """Whether the object that `write` returns is read as the same error."""
        return self.read(self.write(error)) == error

    def _is_read(self, key: str, value: object, code: str | None) -> bool:
        """Return whether a field of an error has become its message, code or status."""
        return key == "message" or (key in self.fields and (not isinstance(value, str) or value in ("", code)))

    def _is_known(self, error: Fields, status: int | None) -> bool:
        """Return whether a code of an error has a meaning; a number has none beside the *status* of the response."""
        number = self._number(error)
        is_status = status is None and number is not None and number >= 100 and not self.numbers
        words = [string(error, key) or "" for key in self.fields]
        return is_status or self._kind(words, number, None) is not None

    def _number(self, error: Fields) -> int | None:
        words = [string(error, key) or "" for key in self.fields]
        statuses = [int(word) for word in words if _STATUS.fullmatch(word)]
        numbers = [*[integer(error, key) for key in self.fields], *statuses]
        return next((number for number in numbers if number is not None and abs(number) < _CODE_LIMIT), None)

    def _kind(self, words: list[str], number: int | None, status: int | None) -> ErrorKind | None:
        """
        Return the kind of the codes, of the number or of the status; `None` when none is known.

        An invalid request is also one without a key (OpenAI), and beside the code of another error (DeepSeek-R1#82); a
        failure of the server is also a lack of money, as 402 (XiaomiMiMo/MiMo#99).
        """
        found = [self.codes.get(word.lower()) or CODES.get(word.lower()) for word in words]
        if number is not None:
            found.append(self.numbers.get(number) or CODES.get(str(number)))
        if status is not None and (status < 500 or not any(found)):
            # A limit of the service behind a gateway that fails (litellm: exception_mapping_utils.py).
            found.append(kind_of_status(429 if number == 429 and status >= 500 else status))
        known = [kind for kind in found if kind is not None]
        return min(known, key=lambda kind: _VAGUE.get(kind, 0), default=None)

    def _specified(self, coded: ErrorKind | None, message: str) -> ErrorKind:
        """Return the kind of the first phrase that *message*, in lower case, has; that of the code without one."""
        own = self.phrases if coded in (None, ErrorKind.INVALID_REQUEST) else _NO_PHRASES
        kinds = (ErrorKind.PROVIDER, ErrorKind.INVALID_REQUEST) if coded is None else (coded,)
        found = [*[PHRASES.get(each, _NO_PHRASES) for each in kinds], own]
        phrases = {phrase: kind for each in found for phrase, kind in each.items()}
        return next((kind for phrase, kind in phrases.items() if phrase in message), coded or ErrorKind.PROVIDER)

    def _forms(self, error: ErrorInfo) -> Iterator[dict[str, Any]]:
        """Yield the objects that *error* may have been read from, likely ones first."""
        rest: dict[str, Any] = {"message": error.message, **thaw(error.details)}
        first, *others = self.fields
        numeric = "code" if "code" in self.fields else first  # a `type` is a word, or clients do not read the error
        if error.code is None:
            yield rest
            return
        if _STATUS.fullmatch(error.code):
            yield {numeric: int(error.code), **rest}
        yield {first: error.code, **rest}
        digits = error.code.removeprefix("-")
        if digits.isdecimal() and len(digits) < 11:
            yield {numeric: int(error.code), **rest}
        if error.status is not None:
            yield from [{numeric: error.status, other: error.code, **rest} for other in self.fields if other != numeric]
        yield from [{other: error.code, **rest} for other in others]

    def word(self, kind: str) -> str:
        """Return the code of the wire that is nearest to a kind, in lower case."""
        for each in (kind, _NEAREST.get(kind)):
            for code, meaning in self.codes.items():
                if meaning == each:
                    return code
        return self.otherwise


def _differences(read: ErrorInfo, error: ErrorInfo) -> tuple[bool, bool]:
    """Return whether an error is read with another kind, and as retryable or not: clients decide by these."""
    return read.kind != error.kind, read.retryable != error.retryable


def error_of(document: Fields, beside: Iterable[str] = ()) -> Fields:
    """
    Return the error object of a document or event: its `error`, which may be a text; empty when there is none.

    Fields *beside* it become its own, as does an HTTP status, and those that servers have beside a text (xAI,
    text-generation-inference).
    """
    message = string(document, "error")
    code = {"code": document["code"]} if document.get("code") else {}
    stated = string(mapping(document, "external_model_message"), "message")  # Databricks (aaif-goose/goose#1394)
    if message and (text := string(document, "message")) and text != message:
        message = f"{message}: {text}"  # the name of the status, and what it is about (claude-relay-service#48)
    listed = [*mappings(document, "error"), mapping(document, "error")]  # Venice lists them (ar-jan/llm-venice#3)
    error = {"message": stated or message, **code} if message else listed[0]
    more = {key: document[key] for key in (*beside, "error_type") if string(document, key)}
    # Of Cerebras and Bifrost, and of the WebSocket of OpenAI (openclaw#122727); Groq has it in the error.
    if status := integer(document, "status_code") or integer(document, "status"):
        more["status_code"] = status
    return {**error, **more} if error else error


def _inner(error: Fields) -> Fields:
    """Return the error that the message of one is, as a document or as the JSON text of one; empty for none."""
    text, inner = string(error, "message") or "", mapping(error, "message")  # LiteLLM's guardrails (its #36598)
    if text.startswith("{"):  # of gateways (NousResearch/hermes-agent#97427)
        try:
            inner = mapping({"message": read_json(text)}, "message")
        except JsonError:
            return {}
    found = error_of_document(inner)
    return others(found) if string(found, "message") else {}


def _stated_s(metadata: Fields) -> float | None:
    """Return the seconds that OpenRouter has in the metadata of an error (goose: http_status.rs); else `None`."""
    seconds = metadata.get("retry_after_seconds")
    return float(seconds) if isinstance(seconds, (int, float)) and 0 < seconds < _CODE_LIMIT else None


def _delay_s(text: str) -> float | None:
    """Return the seconds after which a message, in lower case, wants a retry; `None` when it has none."""
    found = _DELAY.search(text)
    if found is None:
        return None
    spans: list[tuple[str, str]] = re.findall(_SPAN, found[1])
    return sum(float(number) * _UNITS["ms" if unit.startswith(("ms", "mil")) else unit[0]] for number, unit in spans)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """
    Return the seconds of `retry-after-ms` or `retry-after`; `None` without them.

    A date counts from the `date` of the same response. Azure sends fractions of seconds. LiteLLM has the headers of the
    server behind it under a prefix.
    """
    for name, unit in _WAITS:
        text = headers.get(name, "")
        if _SECONDS.fullmatch(text):
            return float(text[:9]) * unit
    try:
        after, now = (parsedate_to_datetime(headers.get(name, "")) for name in ("retry-after", "date"))
        return max((after - now).total_seconds(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return None


def _until_reset_s(error: Fields, headers: Mapping[str, str]) -> float | None:
    """
    Return the seconds from the `date` of a response to the end of a limit, which its body has.

    OpenRouter has it in milliseconds, Codex in seconds (openai/codex, `api_bridge.rs`, 2026).
    """
    stated = string(mapping(mapping(error, "metadata"), "headers"), "X-RateLimit-Reset")
    try:
        end = _EPOCH + timedelta(seconds=int(stated[:13]) / 1000 if stated else int(integer(error, "resets_at") or ""))
        return max((end - parsedate_to_datetime(headers.get("date", ""))).total_seconds(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return None


def error_of_body(body: bytes, beside: Iterable[str] = ()) -> Fields:
    """Return the error object of an HTTP response, see `ErrorTable.read_http`; empty when there is none."""
    framed = _FRAME.match(body)
    try:
        document = read_json(framed[1] if framed else body)
    except JsonError:
        return {"message": text} if (text := _plain_text(body)) else {}
    if isinstance(document, str) and document:  # of SiliconFlow, for a key that it refuses
        return {"message": document[:_TEXT_LIMIT]}
    documents = mappings({"all": document if isinstance(document, list) else [document]}, "all")
    return error_of_document(documents[0], beside) if documents else {}


def error_of_status(document: Fields) -> Fields:
    """Return the error of a `base_resp`, in which MiniMax has the status of each answer; empty for a success."""
    status = mapping(document, "base_resp")
    number = integer(status, "status_code") or 0
    if number in (0, 200):
        return {}
    return others(
        {"code": text_of_input(number), "type": _OF_MINIMAX.get(number), "message": string(status, "status_msg")}
    )


def error_of_document(document: Fields, beside: Iterable[str] = ()) -> Fields:
    """Return the error object of a document that is an error, see `ErrorTable.read_http`; empty when it is none."""
    if string(inner := mapping(document, "Output"), "__type"):  # of AWS: no operation has the path (vercel/ai#17523)
        document = inner
    if kind := string(document, "__type"):
        name = exception_name(kind)
        document = {"message": name, **others(document, {"__type"}), "code": name}
    if word := string(detail := mapping(document, "detail"), "message") or string(detail, "code"):
        document = {"message": word, **detail, **others(document, {"detail"})}
    for key in ("detail", "Message", "error_message", "errorMessage", "msg") if not string(document, "message") else ():
        if string(document, key):
            document = {**others(document, {key}), "message": document[key]}
    found = error_of(document, beside) or error_of_status(document)
    return found or (document if string(document, "message") else _error_of_list(document))


def _status_in(error: Fields) -> int | None:
    """Return the HTTP status that an error in a stream has as `status_code`, as of Groq; `None` without one."""
    status = integer(error, "status_code") or 0
    return status if 400 <= status < 600 else None


def is_cut(error: ErrorInfo | None) -> bool:
    """Return whether the body of an answer was cut, by *error*: silence cuts nothing, as a server may stay open."""
    return error is not None and error.kind is not ErrorKind.TIMEOUT


def exception_name(kind: str) -> str:
    """Return the name of an exception of AWS as streams have it: no namespace, no link, no capital letter."""
    name = kind.partition(":")[0].rpartition("#")[2]
    return name[:1].lower() + name[1:]


def _error_of_list(document: Fields) -> Fields:
    """Return the error of a document that lists faults; empty when it does not."""
    faults = [
        ".".join(map(text_of_input, array(fault, "loc"))) + f": {text_of_input(fault.get('msg'))}"
        for fault in mappings(mapping(document, "message") or document, "detail")
    ]
    listed = [{"message": "; ".join(faults)}] if faults else mappings(document, "errors")
    return listed[0] if listed and string(listed[0], "message") else {}


def _plain_text(body: bytes) -> str:
    """Return the start of a body in plain text; an empty string for HTML, broken JSON and binary data."""
    try:
        text = " ".join(body[: 4 * _TEXT_LIMIT].decode().split())[:_TEXT_LIMIT]
    except UnicodeDecodeError:
        return ""
    return text if text.isprintable() and not text.startswith(("<", "{", "[")) else ""
