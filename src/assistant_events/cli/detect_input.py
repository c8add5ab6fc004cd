"""
What an input holds: events of ours, a provider's stream, or a provider's answer in one document.

As much of the input is read as that takes, and the input then begins anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import partial
from itertools import chain, islice
from typing import Any, Final, TypeAlias, final

import attrs

from assistant_events.adapters import (
    AwsEventStream,
    DecoderBase,
    Dialect,
    Framing,
    Prior,
    Sse,
    detect_dialect,
    dialect_names,
    load_dialect,
)
from assistant_events.adapters.aws_event_stream import is_event_stream
from assistant_events.adapters.json_fields import json_object
from assistant_events.cli import documents
from assistant_events.cli.exit_codes import CommandError
from assistant_events.cli.source import Input
from assistant_events.converters import structure
from assistant_events.errors import AssistantEventsError, JsonError, StructureError
from assistant_events.events import EVENT_TYPES, Event, Record, StepFailed
from assistant_events.values import read_json

_LOOKED_AT: Final = 100
"""Frames that are looked at for one that a dialect knows. It is the first, unless a proxy speaks before it."""

_SHOWN_FIELDS: Final = 8
_WORDS: Final = frozenset({"type", "event_type", "object", "role"})

_MARK: Final = b"\xef\xbb\xbf"
_SQLITE: Final = b"SQLite format 3\0"
_SSE: Final = re.compile(rb"(?:event|data|id|retry)[ ]?:|:")
_BLANK: Final = b" \t\r\n"


class _Form(Enum):
    FRAMES = "server-sent events"
    LINES = "JSON lines"
    OBJECTS = "JSON"
    BINARY = "an event stream of AWS"


_DOCUMENTS: Final = {_Form.LINES: documents.lines, _Form.OBJECTS: documents.objects}


@final
@attrs.define
class OwnEvents:
    """Events or records of this library, one a line or in an array."""

    input: Input
    form: _Form

    def items(self) -> Iterator[Event | Record]:
        """
        Return them in their order.

        Raises:
            CommandError: One of them is damaged.
        """
        for place, payload in _DOCUMENTS[self.form](self.input.chunks(last=True)):
            try:
                document = read_json(payload)
                if is_record(document):
                    yield structure(document, Record)
                else:
                    yield structure(document, Event)
            except (JsonError, StructureError) as error:
                raise CommandError(f"{self.input.name}, {place}: {error}") from None


@final
@attrs.define
class ProviderStream:
    """The stream of a provider."""

    input: Input
    form: _Form
    dialect: Dialect
    unreadable: int = 0
    """Number of documents that were not JSON objects; they were left out."""

    used: DecoderBase | None = None
    """The decoder that was made last."""

    def decoder(self, message_id: str, prior: Prior = None) -> DecoderBase:
        """Return a decoder for it."""
        framing = AwsEventStream if self.form is _Form.BINARY else None
        self.used = self.dialect.decoder(message_id, prior=prior, framing=framing)
        return self.used

    def chunks(self, *, last: bool = False) -> Iterator[object]:
        """Return what a decoder takes, from the start: bytes, or parsed events."""
        self.unreadable = 0
        chunks = self.input.chunks(last=last)
        if self.form not in _DOCUMENTS:
            yield from chunks
            return
        for _, payload in _DOCUMENTS[self.form](chunks):
            document = json_object(payload)
            if document is None:
                self.unreadable += 1
            else:
                yield document

    def events(self, message_id: str, *, last: bool = True) -> Iterator[Event]:
        """Return what a decoder makes of it, the end included."""
        decoder = self.decoder(message_id)
        for item in self.chunks(last=last):
            yield from decoder.feed(item) if isinstance(item, bytes) else decoder.feed_event(item)
        yield from decoder.close()


@final
@attrs.define
class ProviderAnswer:
    """A provider's answer in one JSON document."""

    input: Input
    dialect: Dialect
    document: Mapping[str, Any]


InputContent: TypeAlias = OwnEvents | ProviderStream | ProviderAnswer


def recognise(source: Input, dialect_name: str | None = None, provider: str | None = None) -> InputContent:
    """
    Return what *source* holds; the dialect is looked for in the first frames, the provider is its own, by default.

    Raises:
        CommandError: It is nothing that can be read, or of no dialect that is installed.
    """
    dialect = None if dialect_name is None else load_dialect(dialect_name)
    form = _form_of(source)
    if form not in _DOCUMENTS:
        found = dialect or _detected(source, _objects(source, form))
        return ProviderStream(source, form, _of_provider(found, provider))
    first, *more = [_parsed(source, *found) for found in islice(_DOCUMENTS[form](source.chunks()), 2)] or [None]
    if first is None:
        raise CommandError(f"{source.name}: the JSON holds no object, expected events or an answer")
    if dialect is None and (is_record(first) or is_own_event(first)):
        return OwnEvents(source, form)
    if dialect is None:
        dialect = _detected(source, _objects(source, form))
    dialect = _of_provider(dialect, provider)
    if not more and dialect.decode_resource is not None and not _is_in_a_stream(dialect, first):
        return ProviderAnswer(source, dialect, first)
    return ProviderStream(source, form, dialect)


def _is_in_a_stream(dialect: Dialect, first: Mapping[str, Any]) -> bool:
    """Return whether a document is an event of a stream: its decoder reads it, and not as an error."""
    events = dialect.decoder("m").feed_event(first)
    return bool(events) and not isinstance(events[-1], StepFailed)


def not_an_answer(content: ProviderStream | ProviderAnswer) -> CommandError:
    """Return the error of an input in which its dialect recognises nothing: its beginning, and what was expected."""
    source = content.input
    objects = iter([content.document]) if isinstance(content, ProviderAnswer) else _objects(source, content.form)
    first = next(objects, None)
    begins = "none of it is a JSON object" if first is None else f"the first object has {_fields(first)}"
    return CommandError(
        f"{source.name}: nothing in it is an answer of {content.dialect.name}",
        more=[f"all of it was left out, {begins}", _refusal(content.dialect)],
    )


def _of_provider(dialect: Dialect, provider: str | None) -> Dialect:
    """Return a dialect whose answers are those of another provider."""
    if provider is None:
        return dialect
    decode = dialect.decode_resource
    return attrs.evolve(
        dialect,
        decoder=partial(dialect.decoder, provider=provider),
        decode_resource=None if decode is None else partial(decode, provider=provider),
    )


def is_record(document: object) -> bool:
    """Return whether *document* is a record of this library."""
    return isinstance(document, Mapping) and "seq" in document and "event" in document


def is_own_event(document: Mapping[str, Any]) -> bool:
    """Return whether *document* is an event of this library: providers, too, have one that is called `step.started`."""
    kind, version = document.get("type"), document.get("v")
    known = isinstance(kind, str) and (kind in EVENT_TYPES or isinstance(version, int))
    return known and isinstance(document.get("message_id"), str)


def _form_of(source: Input) -> _Form:
    begun = b""
    for chunk in source.chunks():
        begun = (begun + chunk).removeprefix(_MARK).lstrip(_BLANK)
        # No text begins as a frame of AWS does: with its length, of at most 24 MB.
        if len(begun) >= len(_SQLITE) or (b"\n" in begun and begun[0] > 1):
            break
    if is_event_stream(begun):
        return _Form.BINARY
    if begun.startswith(_SQLITE):
        file = "FILE" if source.is_stdin else source.name
        raise CommandError(
            f"{source.name}: this is an SQLite database; assistant-events sessions --db {file} lists its sessions, "
            f"assistant-events show SESSION --db {file} prints it"
        )
    if not begun:
        raise CommandError(f"{source.name}: {'nothing came' if source.is_stdin else 'the file is empty'}")
    if begun[:1] == b"[":
        return _Form.OBJECTS
    if begun[:1] == b"{":
        _, line = next(documents.lines(source.chunks()))
        return _Form.OBJECTS if json_object(line) is None else _Form.LINES
    if _SSE.match(begun):
        return _Form.FRAMES
    raise CommandError(f"{source.name}: expected server-sent events or JSON, this is neither")


def _objects(source: Input, form: _Form) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON objects of an input; one of a frame has the name beside that as its type, where it has none."""
    if form in _DOCUMENTS:
        named: Iterator[tuple[bytes, str | None]] = ((each, None) for _, each in _DOCUMENTS[form](source.chunks()))
    else:
        named = _frames(source, AwsEventStream() if form is _Form.BINARY else Sse())
    for payload, name in named:
        document = json_object(payload)
        if document is not None:
            yield document if name is None else {"type": name, **document}


def _parsed(source: Input, place: str, payload: bytes) -> Any:
    try:
        return read_json(payload)
    except JsonError as error:
        raise CommandError(f"{source.name}, {place}: {error}") from None


def _frames(source: Input, framing: Framing) -> Iterator[tuple[bytes, str | None]]:
    """Yield the payloads of the frames of a stream, with the name beside each."""
    # An empty chunk is the end.
    for chunk in chain(source.chunks(), [b""]):
        for payload in framing.feed(chunk) if chunk else framing.close():
            yield payload, framing.name(payload)


def _detected(source: Input, found: Iterable[Mapping[str, Any]]) -> Dialect:
    tried: list[Mapping[str, Any]] = []
    try:
        dialect = detect_dialect(_noted(islice(found, _LOOKED_AT), tried))
        if dialect is not None:
            return dialect
        refusals = [_refusal(load_dialect(name)) for name in dialect_names()]
    except AssistantEventsError as error:
        raise CommandError(f"{error}; name another dialect with --dialect") from None
    first = f"the first has {_fields(tried[0])}" if tried else "no whole frame holds one"
    raise CommandError(
        f"{source.name}: no dialect detects it; name one with --dialect",
        more=[f"tried {len(tried)} object{'' if len(tried) == 1 else 's'}, {first}", *refusals],
    )


def _noted(documents: Iterable[Mapping[str, Any]], tried: list[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield *documents* as they arrive, so that a live stream is not waited for, and append each to *tried*."""
    for document in documents:
        tried.append(document)
        yield document


def _refusal(dialect: Dialect) -> str:
    """Return what a dialect expected and none of the documents has."""
    if dialect.detect is None:
        return f"{dialect.name}: not tried, it cannot be detected"
    return f"{dialect.name}: expected {dialect.detects or 'frames of its own'}"


def _fields(document: Mapping[str, Any]) -> str:
    """Return the fields of a document, with the words by which dialects are detected."""
    names = [
        f"{name} {document[name][:40]!r}" if name in _WORDS and isinstance(document[name], str) else name
        for name in list(document)[:_SHOWN_FIELDS]
    ]
    return f"the fields {', '.join(names)}" if names else "no fields"
