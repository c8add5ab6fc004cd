"""The command `fold`: an input becomes a transcript, in memory or in a session of a database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, assert_never

from assistant_events.adapters import Prior
from assistant_events.cli.detect_input import InputContent, OwnEvents, ProviderAnswer, ProviderStream, not_an_answer
from assistant_events.events import DURABLE_EVENTS, Event, Record, StepEnded, StepFailed, StepStarted, UnknownEvent
from assistant_events.messages import AssistantMessage, MessageStatus, Transcript
from assistant_events.session import SyncSession
from assistant_events.stores.contract import StoredEvent
from assistant_events.values import CUT_KINDS, ErrorKind

_STORED: Final = (*DURABLE_EVENTS, UnknownEvent)

_BATCH: Final = 500
"""Events that are appended at once."""

FIRST_ID: Final = "m1"


def events_of(content: InputContent, message_id: str = FIRST_ID) -> Iterator[Event | Record]:
    """Return the events of an input; *message_id* is for what a provider sent."""
    match content:
        case OwnEvents():
            return content.items()
        case ProviderStream():
            _first_start(content)
            return content.events(message_id)
        case ProviderAnswer():
            return iter(_answered(content, message_id))
        case _ as never:
            assert_never(never)


def fold_into(content: InputContent, session: SyncSession, message_id: str | None) -> None:
    """
    Append an input to a session. What it holds is not compared with what is stored.

    A provider's answer becomes the message *message_id*, by default the unfinished message of its run, else a new one.

    Raises:
        LocalProtocolError: An event of ours is out of place in the session.
    """
    match content:
        case OwnEvents():
            durable = _durable(content.items())
            while batch := list(islice(durable, _BATCH)):
                session.append(*batch)
        case ProviderStream():
            began = _first_start(content)
            decoder = content.decoder(message_id or _message_of(began, session.transcript), session.transcript)
            with session.decode(decoder, content.chunks(last=True)) as events:
                for _ in events:
                    pass
        case ProviderAnswer():
            began = _start_of(_answered(content, FIRST_ID))
            name = message_id or _message_of(began, session.transcript)
            session.append(*_durable(_answered(content, name, session.transcript)))
        case _ as never:
            assert_never(never)


def _answered(content: ProviderAnswer, message_id: str, prior: Prior = None) -> list[Event]:
    """
    Return the events of an answer in one document.

    Raises:
        CommandError: It is not one.
    """
    decode = content.dialect.decode_resource
    assert decode is not None, "only documents of a dialect that reads them are recognised as answers"
    events = decode(content.document, message_id, prior=prior)
    if prior is None and _is_empty(events[1]):
        detect = content.dialect.detect
        if _is_nameless(_start_of(events)) or (detect is not None and not detect(content.document)):
            raise not_an_answer(content)
    return events


def _durable(items: Iterable[Event | Record]) -> Iterator[StoredEvent]:
    for item in items:
        event = item.event if isinstance(item, Record) else item
        if isinstance(event, _STORED):
            yield event


def _message_of(began: StepStarted, transcript: Transcript) -> str:
    """Return the id of the newest message of the same run that was cut or has not ended, else one never used."""
    for message in reversed(transcript.messages):
        if (
            isinstance(message, AssistantMessage)
            and message.run is not None
            and began.run is not None
            and message.run.id == began.run.id
            and message.origin.same_as(began.origin)
            and (message.status is MessageStatus.RUNNING or (message.error and message.error.kind in CUT_KINDS))
        ):
            return message.id
    number = len(transcript.messages) + 1
    while (name := f"m{number}") in transcript or name in transcript.rewound:
        number += 1
    return name


def _first_start(content: ProviderStream) -> StepStarted:
    """
    Return how the answer begins.

    Raises:
        CommandError: An answer is missing. A decoder makes a step without content of that, which is not worth storing.
    """
    events = content.events(FIRST_ID, last=False)
    started = _start_of(events)
    # A stream that is still being written is not waited for when its beginning is enough.
    if _is_nameless(started) and _is_empty(next(events)):
        raise not_an_answer(content)
    return started


def _start_of(events: Iterable[Event]) -> StepStarted:
    return next(event for event in events if isinstance(event, StepStarted))


def _is_nameless(started: StepStarted) -> bool:
    """Return whether an answer has begun without anything that a provider sent."""
    return started.run is None and started.origin.model is None


def _is_empty(after: Event) -> bool:
    """Return whether the event after the start of an answer ends it, and not with an error of the provider."""
    if isinstance(after, StepEnded):
        return True
    return isinstance(after, StepFailed) and after.error.kind in {ErrorKind.INTERRUPTED, ErrorKind.PROTOCOL}
