"""
The provider of `run`: the service, another server, or, without a key, a mock provider in this process.

`run` stores with each prompt where it was sent, and with which settings; never the key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final, final

import attrs

from assistant_events.adapters.dialect import entry_point_names
from assistant_events.adapters.json_fields import mapping, string
from assistant_events.cli.exit_codes import CommandError
from assistant_events.clients import GROUP, load_client
from assistant_events.clients.hosts import is_loopback, service_url
from assistant_events.errors import PrunedError
from assistant_events.events import PromptSubmitted
from assistant_events.extras import missing_extras
from assistant_events.stores import SqliteStore
from assistant_events.stores.unfinished import stored_transcript
from assistant_events.values import thaw

DIALECT: Final = "gemini-interactions"
"""The dialect of a new conversation, unless another is named."""

MOCK: Final = "mock"
"""Name of the mock provider in this process, as it is stored."""

ANY_KEY: Final = "none"
"""The key for a server of this machine by default: a mock provider accepts any."""


@final
@attrs.frozen
class Endpoint:
    """A server, what it speaks, and the key for it."""

    dialect: str

    name: str
    """A URL, or `MOCK`."""

    key: str | None = None
    """`ANY_KEY`; `None` for that of the environment."""

    provider: str | None = None
    """Who runs the model, where it is not the provider that the dialect is named after."""

    @property
    def is_mock(self) -> bool:
        """Whether it is the mock provider in this process."""
        return self.name == MOCK

    def note(self, body: Mapping[str, Any]) -> dict[str, object]:
        """Return what is stored of a prompt that was sent here with *body*, the request without the conversation."""
        return {"dialect": self.dialect, "endpoint": self.name, "provider": self.provider, "request": body}


@final
@attrs.frozen
class StoredRequest:
    """The newest prompt that `run` has sent, as it is stored."""

    dialect: str
    provider: str | None
    endpoint: str
    body: dict[str, Any]  # Any: plain JSON
    """The request, without the conversation."""


def newest_request(store: SqliteStore, session_id: str) -> StoredRequest | None:
    """Return what `run` stored with its newest prompt in a session; `None` when it has sent none, or it is pruned."""
    found: StoredRequest | None = None
    try:
        records = store.read(session_id)
    except PrunedError as error:
        records = store.read(session_id, error.pruned_to)
    for record in records:
        if isinstance(record.event, PromptSubmitted):
            note = mapping(thaw(record.meta), "run")
            if note:
                dialect = string(note, "dialect") or DIALECT
                endpoint = string(note, "endpoint") or load_client(dialect).api.base_url
                found = StoredRequest(dialect, string(note, "provider"), endpoint, dict(mapping(note, "request")))
    return found


def dialect_of(store: SqliteStore, session_id: str) -> str:
    """
    Return the dialect in which a session continues: that of the newest prompt of `run`, else of the newest answer.

    One without a client does not count.
    """
    found = newest_request(store, session_id)
    if found is not None:
        return found.dialect
    answer = stored_transcript(store, session_id).last_answer
    dialect = DIALECT if answer is None else answer.origin.dialect
    return dialect if dialect in entry_point_names(GROUP) else DIALECT


def has_key(variable: str) -> bool:
    """
    Return whether there is a key in the environment.

    Raises:
        CommandError: It is not a valid key. Raised before a prompt is stored.
    """
    from assistant_events.clients.client import checked_key

    try:
        return bool(checked_key(os.environ.get(variable, ""), variable))
    except ValueError as error:
        raise CommandError(str(error)) from None


def chosen(dialect: str, base_url: str | None, provider: str | None = None) -> Endpoint:
    """
    Return the endpoint of a new prompt; *base_url* is as given on the command line.

    Raises:
        CommandError: The server needs a key and none is set, *base_url* is not a valid URL, or *dialect* has no client.
    """
    api = load_client(dialect).api
    if base_url is None:
        return Endpoint(dialect, api.base_url if has_key(api.key_variable) else MOCK, provider=provider)
    url = base_url.rstrip("/")
    parts = service_url(url)
    if parts is None:
        # The value is not shown: it may hold a password.
        raise CommandError("--base-url: expected an http or https URL without user, password, query and fragment")
    if has_key(api.key_variable):
        return Endpoint(dialect, url, provider=provider)
    if not is_loopback(parts.hostname or ""):
        raise CommandError(f"no API key for {url}: set {api.key_variable}")
    return Endpoint(dialect, url, ANY_KEY, provider)


def continued(store: SqliteStore, session_id: str | None, base_url: str | None, provider: str | None) -> Endpoint:
    """Return the endpoint of a prompt in the dialect of its session: `main` by default, `mock` without a key."""
    endpoint = chosen(dialect_of(store, session_id or "main"), base_url, provider)
    if session_id is None and endpoint.is_mock and store.seq(MOCK):
        of_mock = chosen(dialect_of(store, MOCK), base_url, provider)
        return of_mock if of_mock.is_mock else endpoint
    return endpoint


def stored(store: SqliteStore, session_id: str, base_url: str | None = None) -> Endpoint:
    """
    Return the stored endpoint of a session, by default the service of its dialect, or that of *base_url*.

    The key is sent to the service only, never because a file names a URL.

    Raises:
        CommandError: The endpoint has to be given on the command line, or it needs a key and none is set.
    """
    found = newest_request(store, session_id)
    dialect = dialect_of(store, session_id) if found is None else found.dialect
    provider = None if found is None else found.provider
    if base_url is not None:
        return chosen(dialect, base_url, provider)
    api = load_client(dialect).api
    name = api.base_url if found is None else found.endpoint
    if name == MOCK:
        return Endpoint(dialect, MOCK)
    if name != api.base_url:
        raise CommandError(f"the answer came from {name}: use --base-url {name} to ask there")
    if not has_key(api.key_variable):
        raise CommandError(f"no API key: set {api.key_variable}")
    return Endpoint(dialect, name, provider=provider)


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
        raise CommandError(
            f"{sentence}, or set {load_client(endpoint.dialect).api.key_variable}" if without_key else sentence
        )
