"""
Removal of credentials from everything that a server or a network exception says.

Covered: the API key, and the password of a proxy (plain and as sent in a `Proxy-Authorization` header). The text that a
model generates in a stream is covered where the credential stands unescaped in one chunk.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from typing import Any, Final, cast, final
from urllib.parse import quote, unquote, urlsplit
from urllib.request import getproxies

import attrs

from assistant_events.adapters.reading import Fields
from assistant_events.values import ErrorInfo
from assistant_events.values.credentials import SHORTEST_SECRET

MARK: Final = "[key]"


@final
class Censor:
    """
    Replaces credentials by `[key]`.

    Args:
        secrets: The credentials; those under `SHORTEST_SECRET` characters are ignored. They are also found as a URL
            has them.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        spellings = {
            spelling: spelling.encode()
            for secret in secrets
            if len(secret) >= SHORTEST_SECRET
            for spelling in (secret, quote(secret, safe=""))
        }
        self._secrets = tuple(spellings.items())

    def text(self, said: str) -> str:
        """Return text without credentials."""
        for secret, _ in self._secrets:
            said = said.replace(secret, MARK)
        return said

    def data(self, data: bytes) -> bytes:
        """Return bytes without credentials that are not escaped."""
        for _, secret in self._secrets:
            data = data.replace(secret, MARK.encode())
        return data

    def error(self, error: ErrorInfo) -> ErrorInfo:
        """Return an error without credentials in its message and code."""
        code = None if error.code is None else self.text(error.code)
        return attrs.evolve(error, message=self.text(error.message), code=code)

    def fields(self, fields: Fields, source: bytes | None = None) -> Fields:
        """
        Return plain JSON without credentials, in keys and strings at any depth.

        Args:
            fields: The parsed document.

            source: Its bytes, when they are known: most hold no escape and no credential that came in two chunks, and
                are not searched further.
        """
        if not self._secrets or (source is not None and not self._may_hold(source)):
            return fields
        return cast("Fields", self._plain(fields))  # a mapping gives a mapping

    def _may_hold(self, source: bytes) -> bool:
        return b"\\" in source or any(secret in source for _, secret in self._secrets)

    def _plain(self, value: Any) -> Any:
        # Any: plain JSON.
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            fields: dict[str, Any] = value
            return {self.text(key): self._plain(item) for key, item in fields.items()}
        if isinstance(value, list):
            items: list[Any] = value
            return [self._plain(item) for item in items]
        return value


def proxy_secrets() -> list[str]:
    """Return the passwords of the proxies that the environment names, as they stand there and as they are sent."""
    secrets: list[str] = []
    for url in getproxies().values():
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
        except ValueError:
            continue
        if parts.password:
            user, password = unquote(parts.username or ""), unquote(parts.password)
            secrets += [parts.password, password, b64encode(f"{user}:{password}".encode()).decode()]
    return secrets


__all__ = ["Censor", "proxy_secrets"]
