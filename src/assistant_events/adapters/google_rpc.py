"""What Google APIs share: their errors, with the names of google.rpc.Code, and what their clients make of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from assistant_events.adapters.errors import ErrorTable
from assistant_events.adapters.json_fields import Fields, integer, is_array, is_object, mapping, mappings, string
from assistant_events.adapters.tables import names
from assistant_events.values import ErrorInfo, ErrorKind

CODES: Final[Mapping[str, ErrorKind]] = MappingProxyType(
    {
        "invalid_argument": ErrorKind.INVALID_REQUEST,
        "failed_precondition": ErrorKind.INVALID_REQUEST,
        "unimplemented": ErrorKind.INVALID_REQUEST,
        "permission_denied": ErrorKind.AUTH,
        "unauthenticated": ErrorKind.AUTH,
        "not_found": ErrorKind.NOT_FOUND,
        "resource_exhausted": ErrorKind.RATE_LIMIT,
        "cancelled": ErrorKind.CANCELLED,
        "deadline_exceeded": ErrorKind.TIMEOUT,
        "unavailable": ErrorKind.OVERLOADED,
    }
)
"""`ErrorKind` by the name of a code, in lower case."""

_STATUSES: Final[Mapping[str, int]] = MappingProxyType(
    {
        "invalid_argument": 400,
        "permission_denied": 403,
        "not_found": 404,
        "resource_exhausted": 429,
        "cancelled": 499,
        "unavailable": 503,
        "deadline_exceeded": 504,
    }
)
"""HTTP status by the code that is the first one of its kind; of others 500."""

_DURATION: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)s")


def retry_delay_s(error: Fields) -> float | None:
    """Return the delay of a google.rpc.RetryInfo among the details of an error, in seconds; `None` without one."""
    delays = [string(detail, "retryDelay") or "" for detail in mappings(error, "details")]
    found = [match[1] for delay in delays if (match := _DURATION.fullmatch(delay))]
    return float(found[0]) if found else None


_USED_UP: Final = frozenset({"QUOTA_EXHAUSTED", "INSUFFICIENT_G1_CREDITS_BALANCE"})
"""Reasons of Code Assist, in front of the Gemini CLI and Antigravity, that a plan is used up."""


def is_used_up(error: Fields) -> bool:
    """
    Return whether the details of an error name a plan or the limit of a day.

    A delay of seconds beside such a limit is that of another one: the Gemini CLI does not ask again
    (google-gemini/gemini-cli, `googleQuotaErrors.ts`, 2026).
    """
    details = mappings(error, "details")
    limits = [string(mapping(each, "metadata"), "quota_limit") or "" for each in details]
    limits += [string(each, "quotaId") or "" for detail in details for each in mappings(detail, "violations")]
    is_of_day = any("PerDay" in limit or "Daily" in limit for limit in limits)
    return is_of_day or any(string(each, "reason") in _USED_UP for each in details)


ERRORS: Final = ErrorTable(
    codes=CODES,
    fields=("code", "status"),
    phrases={"api key": ErrorKind.AUTH},
    otherwise="internal",
    retry_after=retry_delay_s,
    is_used_up=is_used_up,
)
"""How the APIs write an error."""


def error_document(error: ErrorInfo) -> dict[str, Any]:
    """Return a document with an error; that of another API has the code nearest to its kind, and its status."""
    if ERRORS.is_exact(error):
        return ERRORS.write_document(error)
    code = ERRORS.word(error.kind)
    return {"error": {"code": _STATUSES.get(code, 500), "message": error.message, "status": code.upper()}}


def argument_piece(call: Fields) -> str | None:
    """Return a piece of the text of arguments, which new-api and LiteLLM (2025) send as an argument; else `None`."""
    args = mapping(call, "args")
    return next((string(args, key) for key in ("arguments", "partial") if set(args) == {key}), None)


def enum_word(fields: Fields, key: str, words: Sequence[str]) -> str | None:
    """Return the word of an enum, of which there may be the number; `None` for its default."""
    number, word = integer(fields, key), string(fields, key)
    if number is not None and abs(number) < 10**20:
        word = words[number] if 0 <= number < len(words) else str(number)
    return None if word is None or word.endswith("_UNSPECIFIED") else word


OLDER_MODELS: Final = re.compile(r"gemini-[12](?!.*computer-use)")
"""Models before Gemini 3, which check no signature."""

SIGNED_IMAGES: Final = re.compile(r"gemini-(?:[3-9]|\d\d).*-image|nano-banana-(?:pro|\d)")
"""Models that check the signatures of images in answers."""

UNSEEN_IMAGES: Final = re.compile("image/(?!(?:png|jpeg|webp|heic|heif)$)")
"""“Unsupported MIME type: image/gif”, also of a prompt to another model before (vscode#286628, gemini-cli#14762)."""


OF_DUMPS: Final = ("model_version", "response_id", "usage_metadata", "prompt_feedback", "sdk_http_response")
"""Fields of a chunk that the official client has dumped in snake_case."""

_OF_APP: Final = names(
    "args response parameters parametersJsonSchema responseSchema responseJsonSchema labels partMetadata"
)
"""Fields whose values have keys of the app."""

_SNAKE: Final = re.compile(r"_+([^_])")


def camel_keys(value: Any) -> Any:
    """Return a document with its fields in camelCase. The services take snake_case, too, and clients dump it."""
    if not is_object(value):
        return [camel_keys(each) for each in value] if is_array(value) else value
    named = [(_SNAKE.sub(lambda found: found[1].upper(), key), each) for key, each in value.items()]
    return {key: each if key in _OF_APP else camel_keys(each) for key, each in named}


def results_of_client(chunk: Fields) -> list[Fields]:
    """
    Return the parts with results of the functions that google-genai has run by itself since the last prompt.

    It adds the conversation so far to the chunks of the answer to these results.
    """
    results: list[Fields] = []
    for content in reversed(mappings(chunk, "automaticFunctionCallingHistory")):
        found = [part for part in mappings(content, "parts") if mapping(part, "functionResponse")]
        if string(content, "role") == "user" and not found:
            break
        results = found + results
    return results
