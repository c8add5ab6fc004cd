"""HTTP errors of a mock provider; the dialect writes their bodies in the shape of its provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final


@final
class ApiError(Exception):
    """
    The provider answers a request with an HTTP error.

    Args:
        status: Of the response, 400 or more.

        message: What is wrong, for people.

        code: Code in the body; by default the one that the provider uses for *status*.

        name: Name of the status in the body, where the provider has one; by default that of the code.

        headers: More headers of the response.
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
        super().__init__(status, message)
        self.status = status
        self.message = message
        self.code = code
        self.name = name
        self.headers = dict(headers or {})

    def __str__(self) -> str:
        return f"{self.status}: {self.message}"
