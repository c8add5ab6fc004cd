"""Dialects, and how the installed ones are found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol, final

import attrs

from assistant_events.adapters.base import DecoderBase, Prior
from assistant_events.adapters.emitter import EmitResource, MakeEmitter
from assistant_events.adapters.encoder import Encode
from assistant_events.adapters.json_fields import Fields
from assistant_events.errors import AdapterError, UnknownDialectError
from assistant_events.events import Event
from assistant_events.values import ErrorInfo

GROUP = "assistant_events.adapters"
"""Entry points of this group name a `Dialect`."""


class MakeDecoder(Protocol):
    """Makes a decoder; a subclass of `DecoderBase` is one."""

    def __call__(self, message_id: str, *, request: Fields | None = None, prior: Prior = None) -> DecoderBase:
        """Return a decoder for one answer."""
        ...


class DecodeResource(Protocol):
    """Reads an answer that came as one JSON document."""

    def __call__(
        self, resource: Mapping[str, Any], message_id: str, *, request: Fields | None = None, prior: Prior = None
    ) -> list[Event]:
        """Return the events of the answer."""
        ...


@final
@attrs.frozen(kw_only=True)
class Dialect:
    """One wire format, and what can be done with it here."""

    name: str
    """What it is called everywhere: the name of its entry point, of `--dialect`, and `Origin.dialect`."""

    decoder: MakeDecoder
    """Makes a decoder for one answer: `dialect.decoder(message_id, *, request=None, prior=None)`."""

    encoder: Encode | None = None
    """Makes the next request: `dialect.encoder(transcript, body, *, mode="auto")`; `None` while there is none."""

    emitter: MakeEmitter | None = None
    """Speaks as the provider does: `dialect.emitter()` for one answer; `None` while nothing does."""

    emit_resource: EmitResource | None = None
    """Writes an answer as one document; `None` when the wire has no such form."""

    decode_resource: DecodeResource | None = None
    """Reads an answer that came as one document; `None` when the wire has no such form."""

    detect: Callable[[Fields], bool] | None = None
    """
    Tells from the first frame of a stream, or from a document, whether it is of this wire; `None` when nothing can.
    """

    http_error: Callable[[int, Mapping[str, str], bytes], ErrorInfo] | None = None
    """Reads an HTTP error: status, headers, body; `None` when the dialect knows nothing of such errors."""


def dialect_names() -> tuple[str, ...]:
    """Return the names of all installed dialects, sorted."""
    return tuple(sorted({entry.name for entry in _entries()}))


def load_dialect(name: str) -> Dialect:
    """
    Return an installed dialect.

    Raises:
        UnknownDialectError: When none of this name is installed.

        AdapterError: When its entry point does not load or names no `Dialect`.
    """
    for entry in _entries():
        if entry.name == name:
            return _load(entry)
    raise UnknownDialectError(name, dialect_names())


def detect_dialect(documents: Iterable[Fields]) -> Dialect | None:
    """Return the installed dialect that knows the first of *documents* that any knows; `None` when none does."""
    known = [_load(entry) for entry in sorted(_entries(), key=lambda entry: entry.name)]
    for document in documents:
        for dialect in known:
            if dialect.detect is not None and dialect.detect(document):
                return dialect
    return None


def _entries() -> Iterable[EntryPoint]:
    return entry_points(group=GROUP)


def _load(entry: EntryPoint) -> Dialect:
    try:
        dialect = entry.load()
    except Exception as error:
        raise AdapterError(entry.name, f"{entry.value} does not load: {error}") from error
    if not isinstance(dialect, Dialect):
        raise AdapterError(entry.name, f"{entry.value} is {type(dialect).__name__}, expected a Dialect")
    if dialect.name != entry.name:
        raise AdapterError(entry.name, f"{entry.value} names the dialect {dialect.name!r}, expected {entry.name!r}")
    return dialect
