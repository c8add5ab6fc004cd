"""HTTP errors of a mock provider; the dialect writes their bodies in the shape of its provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final


@final
class ApiError(Exception):
    """
    The provider answers a request with an HTTP error.

    *code* and *name* are those of the body, by default those that the provider uses for the status.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | int | None = None,
        name: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message
        self.code = code
        self.name = name
        self.headers = dict(headers or {})
