"""
Whom `run` talks to: the provider, or a mock of it inside of this process when there is no key.

The log knows, too: with each prompt `run` notes where it went, and with which settings, never with which key.
"""

from __future__ import annotations

import os
from typing import Any, Final, TypeAlias, final

import attrs

from assistant_events.adapters.json_fields import mapping, string
from assistant_events.cli.exit_codes import CommandError
from assistant_events.clients.hosts import is_loopback, service_url
from assistant_events.events import PromptSubmitted
from assistant_events.extras import missing_extras
from assistant_events.stores import SqliteStore
from assistant_events.values import thaw

Body: TypeAlias = dict[str, Any]
# Any: plain JSON.

KEY_VARIABLE: Final = "GEMINI_API_KEY"
REAL: Final = "https://generativelanguage.googleapis.com"
MOCK: Final = "mock"
"""What the log calls the mock provider inside of this process."""

ANY_KEY: Final = "none"
"""What a server of this machine is sent when there is no key: any key will do for a mock provider."""


@final
@attrs.frozen
class Endpoint:
    """Whom to talk to."""

    name: str
    """As the log knows it: a URL, or `MOCK`."""

    key: str | None = attrs.field(default=None, repr=False)
    """`None` leaves it to the client, which takes that of the environment."""

    @property
    def is_mock(self) -> bool:
        """Whether it is the one inside of this process."""
        return self.name == MOCK


@final
@attrs.frozen
class Asked:
    """What the log says of the newest prompt that `run` has sent."""

    endpoint: str
    body: Body
    """The request, without the conversation."""


def newest_asked(store: SqliteStore, session_id: str) -> Asked | None:
    """Return what `run` noted with its newest prompt in a session; `None` when it has sent none."""
    found: Asked | None = None
    for record in store.read(session_id):
        if isinstance(record.event, PromptSubmitted):
            noted = mapping(thaw(record.meta), "run")
            if noted:
                found = Asked(string(noted, "endpoint") or REAL, dict(mapping(noted, "request")))
    return found


def endpoint_of(store: SqliteStore, session_id: str) -> str:
    """Return the name of the endpoint that a session was held with: the provider, unless the log says otherwise."""
    found = newest_asked(store, session_id)
    return REAL if found is None else found.endpoint


def has_key() -> bool:
    """
    Tell whether there is a key in the environment.

    Raises:
        CommandError: What is there cannot be one. Said before a prompt is stored.
    """
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if any(not "!" <= character <= "~" for character in key):
        raise CommandError(f"{KEY_VARIABLE}: expected printable ASCII characters without spaces")
    return bool(key)


def chosen(base_url: str | None) -> Endpoint:
    """
    Return whom to ask.

    Args:
        base_url: As it was given on the command line.

    Raises:
        CommandError: There is no key for a server that needs one, or *base_url* is no URL.
    """
    if base_url is None:
        return Endpoint(REAL if has_key() else MOCK)
    url = base_url.rstrip("/")
    parts = service_url(url)
    if parts is None:
        # The value is not shown: it may hold a password.
        raise CommandError("--base-url: expected an http or https URL without user, password, query and fragment")
    if has_key():
        return Endpoint(url)
    if not is_loopback(parts.hostname or ""):
        raise CommandError(f"there is no API key for {url}: set {KEY_VARIABLE}")
    return Endpoint(url, ANY_KEY)


def named(name: str) -> Endpoint:
    """
    Return the endpoint that a log names. A key goes to nobody because a file says so: only to the provider itself.

    Raises:
        CommandError: It has to be named on the command line, or needs a key and there is none.
    """
    if name == MOCK:
        return Endpoint(MOCK)
    if name != REAL:
        raise CommandError(f"the answer came from {name}: say --base-url {name} to ask there")
    if not has_key():
        raise CommandError(f"there is no API key: set {KEY_VARIABLE}")
    return Endpoint(REAL)


def check_extras(endpoint: Endpoint) -> None:
    """
    Raise when what is needed to talk to *endpoint* is not installed.

    Raises:
        CommandError: It says what to install.
    """
    needed: dict[str, tuple[str, ...]] = {"http": ("httpx2", "stamina")}
    if endpoint.is_mock:
        needed["web"] = ("starlette", "uvicorn")
    without_key = endpoint.is_mock and missing_extras("", {"web": needed["web"]}) is not None
    sentence = missing_extras("run without an API key" if without_key else "run", needed)
    if sentence is not None:
        raise CommandError(f"{sentence}, or set {KEY_VARIABLE}" if without_key else sentence)
