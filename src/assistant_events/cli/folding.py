"""What `fold` does: an input becomes a transcript, in memory or in a session of a database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, assert_never

from assistant_events.adapters import Prior
from assistant_events.cli.exits import CommandError
from assistant_events.cli.identifying import candidates, is_same_answer, new_message_id, says_no_more
from assistant_events.cli.recognising import Content, OwnEvents, ProviderAnswer, ProviderStream
from assistant_events.events import DURABLE_EVENTS, Event, Record, StepFailed, StepStarted, UnknownEvent
from assistant_events.messages import AssistantMessage, Transcript
from assistant_events.reducer import describe, fold
from assistant_events.session import SyncSession
from assistant_events.stores import Store
from assistant_events.stores.base import StoredEvent
from assistant_events.values import ErrorKind

_STORED: Final = (*DURABLE_EVENTS, UnknownEvent)

_BATCH: Final = 500
"""Events that are appended at once."""

FIRST_ID: Final = "m1"


def events_of(content: Content, message_id: str = FIRST_ID) -> Iterator[Event | Record]:
    """Return the events of an input; *message_id* is for what a provider sent."""
    match content:
        case OwnEvents():
            return content.items()
        case ProviderStream():
            _first_start(content, message_id)
            return content.events(message_id)
        case ProviderAnswer():
            return iter(_answered(content, message_id))
        case _ as never:
            assert_never(never)


def fold_into(content: Content, store: Store, session: SyncSession, message_id: str | None) -> None:
    """
    Store what is new in an input.

    Args:
        content: The input.

        store: Where the session is.

        session: The session.

        message_id: The message that a provider's answer becomes or goes on with; found by what it says by default.
    """
    match content:
        case OwnEvents():
            _append_own(content.items(), store, session)
        case ProviderStream():
            name = _message_of_stream(content, session.transcript, message_id)
            if name is not None:
                decoder = content.decoder(name, session.transcript)
                for _ in session.receive(decoder, content.chunks(last=True)):
                    pass
        case ProviderAnswer():
            name = message_id or _message_of_answer(content, session.transcript)
            if name is not None:
                events = _answered(content, name, session.transcript)
                session.append(*_durable(events))
        case _ as never:
            assert_never(never)


def _answered(content: ProviderAnswer, message_id: str, prior: Prior = None) -> list[Event]:
    decode = content.dialect.decode_resource
    assert decode is not None, "only documents of a dialect that reads them are recognised as answers"
    return decode(content.document, message_id, prior=prior)


def _durable(items: Iterable[Event | Record]) -> Iterator[StoredEvent]:
    for item in items:
        event = item.event if isinstance(item, Record) else item
        if isinstance(event, _STORED):
            yield event


# -- which message it is; `None` when nothing is to be stored, because all of it is


def _message_of_stream(content: ProviderStream, transcript: Transcript, message_id: str | None) -> str | None:
    fresh = new_message_id(transcript)
    began = _first_start(content, fresh)
    if message_id is not None:
        return message_id
    possible = candidates(transcript, began.origin, began.run)
    return _same_or_new(fold(content.events(fresh, last=False)), fresh, possible) if possible else fresh


def _message_of_answer(content: ProviderAnswer, transcript: Transcript) -> str | None:
    fresh = new_message_id(transcript)
    seen = fold(_answered(content, fresh))
    message = _answer(seen, fresh)
    return _same_or_new(seen, fresh, candidates(transcript, message.origin, message.run))


def _same_or_new(seen: Transcript, fresh: str, possible: list[AssistantMessage]) -> str | None:
    message = _answer(seen, fresh)
    for stored in possible:
        if is_same_answer(stored, message):
            return None if says_no_more(stored, message) else stored.id
    return fresh


def _answer(transcript: Transcript, message_id: str) -> AssistantMessage:
    message = transcript[message_id]
    assert isinstance(message, AssistantMessage), "a decoder writes answers"
    return message


def _first_start(content: ProviderStream, message_id: str) -> StepStarted:
    """
    Return how the answer begins.

    Raises:
        CommandError: There is no answer. A decoder makes a failed step of that, which nobody would want to store.
    """
    events = content.events(message_id, last=False)
    started = next(event for event in events if isinstance(event, StepStarted))
    if started.run is not None or started.origin.model is not None:
        return started
    after = next(events)
    if not isinstance(after, StepFailed) or after.error.kind != ErrorKind.INTERRUPTED:
        return started
    raise CommandError(f"{content.input.name}: nothing in it is an answer of {content.dialect.name}")


# -- events of ours


def _append_own(items: Iterable[Event | Record], store: Store, session: SyncSession) -> None:
    """Append what the log does not hold yet; what it holds must be the same, message by message."""
    held: dict[str | None, list[StoredEvent]] = {}
    for record in store.read(session.session_id):
        held.setdefault(record.event.message_id, []).append(record.event)
    place: dict[str | None, int] = {}
    batch: list[StoredEvent] = []
    for event in _durable(items):
        name = event.message_id
        at = place[name] = place.get(name, -1) + 1
        before = held.get(name, [])
        if at >= len(before):
            batch.append(event)
        elif before[at] != event:
            raise CommandError(f"session {session.session_id!r} holds something else than {describe(event)}")
        if len(batch) == _BATCH:
            session.append(*batch)
            batch.clear()
    session.append(*batch)
