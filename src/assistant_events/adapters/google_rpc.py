"""What the errors of all Google APIs have: the names of google.rpc.Code, and the delay before a retry."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from assistant_events.adapters.json_fields import Fields, mappings, string
from assistant_events.values import ErrorKind

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

_DURATION: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)s")


def retry_delay_s(error: Fields) -> float | None:
    """Return the delay of a google.rpc.RetryInfo among the details of an error, in seconds; `None` without one."""
    delays = [string(detail, "retryDelay") or "" for detail in mappings(error, "details")]
    found = [match[1] for delay in delays if (match := _DURATION.fullmatch(delay))]
    return float(found[0]) if found else None


__all__ = ["CODES", "retry_delay_s"]
