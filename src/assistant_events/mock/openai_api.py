"""What the APIs of OpenAI share: paths, ids of requests, ids and names of calls, and errors."""

from __future__ import annotations

import re
from secrets import token_hex
from typing import Any, Final

from starlette.responses import Response

from assistant_events.adapters.json_fields import Fields, is_array, is_object, mappings
from assistant_events.mock.requests import ApiError, json_response
from assistant_events.values.json_values import json_type

PREFIXES: Final = ("/v1", "/openai/v1")
"""Beginnings of paths, at OpenAI and at Azure, whose older ones are not the same for all APIs."""

MODEL_PATHS: Final = tuple([f"{prefix}/models" for prefix in (*PREFIXES, "/openai")])

_TYPES: Final[dict[int, tuple[str, str | int | None]]] = {
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("permission_error", None),
    404: ("invalid_request_error", None),
    429: ("rate_limit_error", "rate_limit_exceeded"),
    503: ("server_error", "server_is_overloaded"),
}
"""Type and code of errors by status; of others below 500 `invalid_request_error`, else `server_error`."""

STATUSES: Final = {"invalid_request_error": 400, **{code: status for status, (_, code) in _TYPES.items() if code}}
"""Statuses by code, those above turned round; of others 500."""

_LONGEST: Final = 64
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]+")


def missing(where: str) -> ApiError:
    """Return the error of a parameter that is missing."""
    return ApiError(400, f"Missing required parameter: '{where}'.", param=where, code="missing_required_parameter")


def wrong_type(where: str, expected: str, value: object) -> ApiError:
    """Return the error of a parameter that has a value of another type."""
    text = f"Invalid type for '{where}': expected {expected}, but got {json_type(value)} instead."
    return ApiError(400, text, param=where, code="invalid_type")


def objects_of(body: Fields, name: str) -> list[Fields]:
    """Return the objects of an array of a request, none where it is missing. Raises `ApiError` for anything else."""
    given = body.get(name)
    if given is not None and not is_array(given):
        raise wrong_type(name, "an array of objects", given)
    for place, each in enumerate(given or ()):
        if not is_object(each):
            raise wrong_type(f"{name}[{place}]", "an object", each)
    return mappings(body, name)


def check_length(where: str, text: str | None) -> None:
    """
    Check that an id or a name has at most 64 characters; `None` has none.

    Raises:
        ApiError: It is longer.
    """
    size = len(text or "")
    if size > _LONGEST:
        raise ApiError(
            400,
            f"Invalid '{where}': string too long. Expected a string with maximum length {_LONGEST}, but got a string "
            f"with length {size} instead.",
            param=where,
            code="string_above_max_length",
        )


def check_name(where: str, name: str | None) -> None:
    """
    Check the name of a tool, in its declaration or in a call; one that is missing is not looked at.

    Raises:
        ApiError: It has other characters than letters, digits, `_` and `-`, or more than 64: the sentences of issues of
            2025 and 2026, such as openai/codex#9447.
    """
    check_length(where, name)
    if name and not _NAME.fullmatch(name):
        raise ApiError(
            400,
            f"Invalid '{where}': string does not match pattern. Expected a string that matches the pattern "
            "'^[a-zA-Z0-9_-]+$'.",
            param=where,
            code="invalid_value",
        )


def request_id(salt: bytes) -> dict[str, str]:
    """Return the header with the id of the request of a run."""
    return {"x-request-id": f"req_{salt.hex()[:32]}"}


def error_response(error: ApiError) -> Response:
    """Return the HTTP answer of an error: its `error` has `message`, `type`, `param` and `code`."""
    kind, code = _TYPES.get(error.status, ("invalid_request_error" if error.status < 500 else "server_error", None))
    if error.code not in (None, "internal"):
        code = error.code
    body: dict[str, Any] = {"message": error.message, "type": kind, "param": error.param, "code": code}
    return json_response({"error": body}, error.status, {"x-request-id": f"req_{token_hex(16)}", **error.headers})
