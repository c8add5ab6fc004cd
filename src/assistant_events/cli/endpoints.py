"""
The provider of `run`: the service, another server, or, without a key, a mock provider in this process.

`run` stores with each prompt where it was sent, and with which settings; never the key.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, final

import attrs

from assistant_events.adapters.json_fields import mapping, string
from assistant_events.cli.exit_codes import CommandError
from assistant_events.clients import load_client
from assistant_events.clients.hosts import is_loopback, service_url
from assistant_events.events import PromptSubmitted
from assistant_events.extras import missing_extras
from assistant_events.stores import SqliteStore
from assistant_events.values import thaw

if TYPE_CHECKING:
    from assistant_events.clients import ProviderClient

DIALECT: Final = "gemini-interactions"
"""The dialect of `run`."""

MOCK: Final = "mock"
"""Name of the mock provider in this process, as it is stored."""

ANY_KEY: Final = "none"
"""The key for a server of this machine by default: a mock provider accepts any."""


def provider_client() -> type[ProviderClient]:
    """Return the client of the provider."""
    return load_client(DIALECT)


@final
@attrs.frozen
class Endpoint:
    """A server, and the key for it."""

    name: str
    """A URL, or `MOCK`."""

    key: str | None = attrs.field(default=None, repr=False)
    """`None` for that of the environment."""

    @property
    def is_mock(self) -> bool:
        """Whether it is the mock provider in this process."""
        return self.name == MOCK


@final
@attrs.frozen
class StoredRequest:
    """What is stored of the newest prompt that `run` has sent."""

    endpoint: str
    body: dict[str, Any]  # Any: plain JSON
    """The request, without the conversation."""


def newest_request(store: SqliteStore, session_id: str) -> StoredRequest | None:
    """Return what `run` stored with its newest prompt in a session; `None` when it has sent none."""
    found: StoredRequest | None = None
    for record in store.read(session_id):
        if isinstance(record.event, PromptSubmitted):
            note = mapping(thaw(record.meta), "run")
            if note:
                endpoint = string(note, "endpoint") or provider_client().api.base_url
                found = StoredRequest(endpoint, dict(mapping(note, "request")))
    return found


def has_key() -> bool:
    """
    Return whether there is a key in the environment.

    Raises:
        CommandError: It is not a valid key. Raised before a prompt is stored.
    """
    from assistant_events.clients.client import checked_key

    variable = provider_client().api.key_variable
    try:
        return bool(checked_key(os.environ.get(variable, ""), variable))
    except ValueError as error:
        raise CommandError(str(error)) from None


def chosen(base_url: str | None) -> Endpoint:
    """
    Return the endpoint of a new prompt; *base_url* is as given on the command line.

    Raises:
        CommandError: The server needs a key and none is set, or *base_url* is not a valid URL.
    """
    api = provider_client().api
    if base_url is None:
        return Endpoint(api.base_url if has_key() else MOCK)
    url = base_url.rstrip("/")
    parts = service_url(url)
    if parts is None:
        # The value is not shown: it may hold a password.
        raise CommandError("--base-url: expected an http or https URL without user, password, query and fragment")
    if has_key():
        return Endpoint(url)
    if not is_loopback(parts.hostname or ""):
        raise CommandError(f"no API key for {url}: set {api.key_variable}")
    return Endpoint(url, ANY_KEY)


def stored(store: SqliteStore, session_id: str) -> Endpoint:
    """
    Return the stored endpoint of a session, by default the service.

    The key is sent to the service only, never because a file names a URL.

    Raises:
        CommandError: The endpoint has to be given on the command line, or it needs a key and none is set.
    """
    api = provider_client().api
    found = newest_request(store, session_id)
    name = api.base_url if found is None else found.endpoint
    if name == MOCK:
        return Endpoint(MOCK)
    if name != api.base_url:
        raise CommandError(f"the answer came from {name}: use --base-url {name} to ask there")
    if not has_key():
        raise CommandError(f"no API key: set {api.key_variable}")
    return Endpoint(name)


def check_extras(endpoint: Endpoint) -> None:
    """
    Raise when packages for *endpoint* are not installed.

    Raises:
        CommandError: With the command that installs them.
    """
    needed: dict[str, tuple[str, ...]] = {"http": ("httpx2", "stamina")}
    if endpoint.is_mock:
        needed["web"] = ("starlette", "uvicorn")
    without_key = endpoint.is_mock and missing_extras("", {"web": needed["web"]}) is not None
    sentence = missing_extras("run without an API key" if without_key else "run", needed)
    if sentence is not None:
        raise CommandError(f"{sentence}, or set {provider_client().api.key_variable}" if without_key else sentence)
