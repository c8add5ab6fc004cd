"""
Removal of credentials from responses and from the text of exceptions.

`Secrets` masks known credentials in all their escaped forms. HTTP libraries put the URL of a request into their
exceptions, and a server can repeat a key in the status line that they quote. Such text is stored in logs, so two kinds
of credentials are masked in it: those of the exception's own request, and text that looks like a credential.
"""

# Plain JSON of unknown shape: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import re
import traceback
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from json import dumps
from typing import Any, Final, final
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import attrs

from assistant_events.values.info import ErrorInfo

MAX_MESSAGE: Final = 500
"""Maximum length of the text of an exception. Some quote a whole response."""

SHORTEST_SECRET: Final = 8
"""Shorter values are not masked: they occur in ordinary words. Keys of providers have 30 characters and more."""

MASK: Final = "[hidden]"

_NAMES: Final = re.compile("auth|cookie|credential|(?<!port)key|key-config|passw|secret|signature|token", re.IGNORECASE)
"""
Names of headers and of URL parameters whose values are credentials.

The name of Portkey in its headers is none, but its configuration may have the key of a provider.
"""


def _without_parameters(url: re.Match[str]) -> str:
    # The pattern also matches URLs without parameters, so that no part of one is searched again.
    return url[0] if url[0] == url[1] else f"{url[1]}?…"


# Every pattern is linear in the text, which may be a whole response: a part that can be long ends at a character that
# it excludes.
_PATTERNS: Final[tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]] = (
    # A URL keeps its host and path. Parameters with other names than those above can be credentials, too.
    (re.compile(r"://[^\s/?#]*@"), "://"),
    (re.compile(r"(://[^\s?#'\"<>]*+)(?:[?#][^\s'\"<>]*+)?"), _without_parameters),
    # The target of a request, as urllib3 quotes it, and the address of a proxy.
    (re.compile(r"\?[^\s?=&'\"<>]+=[^\s'\"<>]*+"), "?…"),
    (re.compile(r"(?<![^\s/'\"])[^\s:/@'\"]+:[^\s/@'\"]+@"), ""),
    # h11, http.client and requests quote a header that they refuse.
    (re.compile(r"(header values?:?\s)b?(?:'[^'\n]*'?|\"[^\"\n]*\"?)", re.IGNORECASE), rf"\1{MASK}"),
    (
        re.compile(
            r"((?:api[-_ ]?key|goog-api-key|(?:access|auth|refresh)[-_ ]?token|authorization|cookie|password|secret)"
            rf"b?['\"]?\s?[:=,]\s?b?['\"]?(?:(?:bearer|basic)\s)?)[^\s'\",;&<>)}}\]]{{{SHORTEST_SECRET},}}",
            re.IGNORECASE,
        ),
        rf"\1{MASK}",
    ),
    # Keys of Google and of those who follow OpenAI.
    (re.compile(r"\b(?:AIza[\w-]{20,}|sk-[\w-]{16,})"), MASK),
)


@final
class Secrets:
    """Credentials to be masked wherever they occur: plain, and escaped as in a URL or in JSON."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._spellings: tuple[tuple[str, bytes], ...] = ()
        self.add(secrets)

    def add(self, secrets: Iterable[str]) -> None:
        """Add credentials; those under `SHORTEST_SECRET` characters are ignored."""
        spellings = dict(self._spellings)
        for secret in secrets:
            if len(secret) >= SHORTEST_SECRET:
                for text in (secret, quote(secret, safe="", errors="surrogatepass"), dumps(secret)[1:-1]):
                    spellings[text] = text.encode(errors="surrogatepass")
        # The longest first: one may be a part of another.
        self._spellings = tuple(sorted(spellings.items(), key=lambda each: len(each[0]), reverse=True))

    def text(self, text: str) -> str:
        """Return text without credentials."""
        for secret, _ in self._spellings:
            text = text.replace(secret, MASK)
        return text

    def data(self, data: bytes) -> bytes:
        """Return bytes without credentials. One that is cut, or has an escape for an ordinary character, stays."""
        for _, secret in self._spellings:
            data = data.replace(secret, MASK.encode())
        return data

    def error(self, error: ErrorInfo) -> ErrorInfo:
        """Return an error without credentials in its message, code and details."""
        code = None if error.code is None else self.text(error.code)
        return attrs.evolve(error, message=self.text(error.message), code=code, details=self.json(error.details))

    def json(self, value: Any, source: bytes | None = None) -> Any:
        """
        Return plain JSON without credentials, in keys and strings at any depth.

        *source* are the bytes of the document, when they are known: most hold no escape and no credential that came in
        two chunks, and are not searched further.
        """
        if not self._spellings or (source is not None and not self._may_hold(source)):
            return value
        return self._json(value)

    def _may_hold(self, source: bytes) -> bool:
        return b"\\" in source or any(secret in source for _, secret in self._spellings)

    def _json(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(name): self._json(item) for name, item in value.items()}
        return [self._json(item) for item in value] if isinstance(value, (list, tuple)) else value


def without_credentials(text: str, secrets: Iterable[str] = ()) -> str:
    """
    Return *text* with its credentials masked: *secrets*, and what looks like one.

    URLs lose their user, password, parameters and fragment.
    """
    text = Secrets(secrets).text(text)
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


def error_text(error: BaseException, secrets: Secrets | None = None, *, before: str = "", default: str = "") -> str:
    """
    Return *before*, the class and the text of an exception, without credentials and with a bounded length.

    The credentials are *secrets* and those that its own request shows. *default* is the text of an exception that has
    none, such as that of a reset connection.
    """
    try:
        text = str(error) or default
    except Exception:  # noqa: BLE001 - its own method raises
        text = default
    text = without_credentials(text if secrets is None else secrets.text(text), secrets_of(error))
    text = f"{before}{type(error).__name__}{': ' if text else ''}{text}"
    return text if len(text) <= MAX_MESSAGE else f"{text[: MAX_MESSAGE - 1]}…"


def traceback_text(error: BaseException, secrets: Secrets | None = None) -> str:
    """Return the traceback of an exception as Python prints it, without credentials."""
    text = "".join(traceback.format_exception(error))
    return without_credentials(text if secrets is None else secrets.text(text), secrets_of(error))


def secrets_of(error: BaseException) -> set[str]:
    """
    Return the credentials in the requests that *error* carries, or an exception that it was raised from.

    Knows the attributes of httpx, requests, aiohttp and urllib, and of SDKs that are built on them.
    """
    found: set[str] = set()
    for each in _chain(error):
        response = _attribute(each, "response")
        for request in (
            each,
            _attribute(each, "request"),
            _attribute(response, "request"),
            _attribute(each, "request_info"),
        ):
            # Objects of unknown libraries: one without the usual attributes has no credentials for us.
            with suppress(Exception):
                found.update(_secrets_of_url(str(_attribute(request, "url") or "")))
            with suppress(Exception):
                found.update(secrets_of_headers(_attribute(request, "headers").items()))
    return found


def _chain(error: BaseException) -> Iterator[BaseException]:
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            yield each
            waiting += [each.__cause__, each.__context__]
            waiting += _attribute(each, "exceptions") or ()  # of a group


def _attribute(holder: Any, name: str) -> Any:
    # Any: attributes of exceptions of any library. `HTTPError.request` of httpx raises when it is not set.
    with suppress(Exception):
        return getattr(holder, name, None)
    return None


def _secrets_of_url(url: str) -> Iterator[str]:
    parts = urlsplit(url)
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    for value in (user, password):
        yield from (value, unquote(value))
    for field in parts.query.split("&"):
        for name, value in parse_qsl(field):
            if _NAMES.search(name):
                yield from (value, field.partition("=")[2])


def secrets_of_headers(headers: Iterable[tuple[Any, Any]]) -> Iterator[str]:
    """Yield the credentials in the headers whose names show that they have some."""
    # Any: names and values are text or bytes.
    for name, value in headers:
        if _NAMES.search(_text(name)):
            yield from secrets_of_header(_text(value))


def secrets_of_header(value: str) -> Iterator[str]:
    """Yield the credentials in the value of a header: a key, a token, a user and a password, the values of cookies."""
    for part in (value, *re.split(r"\s*;\s*", value), *re.split(r"[\s;,]+", value)):
        yield from (part, part.partition("=")[2])
    scheme, _, encoded = value.partition(" ")
    if scheme.lower() == "basic":
        for encoding in ("utf-8", "latin-1"):
            with suppress(ValueError):
                yield from b64decode(encoded).decode(encoding).partition(":")


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
