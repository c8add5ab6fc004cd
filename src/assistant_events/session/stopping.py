"""The stop of a turn: the events to append, the request to the provider, and how a move finds out about it."""

from __future__ import annotations

import logging
from inspect import isawaitable
from typing import Final, TypeGuard

import attrs

from assistant_events import messages as msg
from assistant_events.events import DurableEvent, StepFailed, StepStarted
from assistant_events.reducer import fold
from assistant_events.session.answers import Client, is_of
from assistant_events.values import ErrorInfo, ErrorKind, Origin
from assistant_events.values.credentials import error_text

_STOPPED: Final = ErrorInfo(kind=ErrorKind.CANCELLED, message="the turn was stopped")

_log = logging.getLogger("assistant_events.session")


def cancellation(
    transcript: msg.Transcript, name: str, client: Client | None, error: ErrorInfo = _STOPPED
) -> list[DurableEvent]:
    """
    Return the events that end a turn with *error*, after which it is the user's move; none where it is already.

    What runs is closed, and calls without a result fail. Where a move would be left to make, for a prompt or for these
    results, an empty answer *name* fails too.
    """
    if transcript.awaits is msg.Awaits.USER:
        return []
    answers = [message for message in transcript.messages if not isinstance(message, msg.UserMessage)]
    events = [event for message in answers for event in msg.close_message(message, error, abandon_run=True)]
    if transcript.awaits is msg.Awaits.TOOLS:
        events += [call.fail(error) for call in transcript.pending_tool_calls]
    if fold(events, start=transcript).awaits is not msg.Awaits.USER:
        origin = _origin(transcript, client)
        events += [StepStarted(message_id=name, origin=origin), StepFailed(message_id=name, error=error)]
    return events


def _origin(transcript: msg.Transcript, client: Client | None) -> Origin:
    last = transcript.last_answer
    if last is not None:
        return attrs.evolve(last.origin, served_model=None)
    if client is not None:
        return Origin(provider=client.provider, dialect=client.dialect.name)
    return Origin(provider="unknown", dialect="unknown")


def since_its_end(before: msg.Transcript, now: msg.Transcript) -> tuple[msg.Message, ...] | None:
    """
    Return what has come since the turn of a move was stopped, or its message rewound; `None` while it was neither.

    The move began at *before*. An answer to a prompt that came later belongs to it, for it has read the prompt too.
    """
    stopped = {message.id for message in before.messages if is_cancelled(message)}
    ends = [at for at, each in enumerate(now.messages) if is_cancelled(each) and each.id not in stopped]
    if not ends and (before.last is None or before.last.id in now):
        return None
    known = {message.id for message in before.messages}
    later = now.messages[ends[-1] + 1 :] if ends else tuple([each for each in now.messages if each.id not in known])
    is_asked_again = any(isinstance(message, msg.UserMessage) for message in later)
    return None if is_asked_again and isinstance(later[-1], msg.AssistantMessage) else later


def is_stopped(before: msg.Transcript, now: msg.Transcript) -> bool:
    """Return whether it was the move of the model at *before*, and a stop has left it to the user."""
    was_due = before.awaits is msg.Awaits.MODEL and now.awaits is msg.Awaits.USER
    return was_due and now.last is not None and is_cancelled(now.last)


def is_cancelled(message: msg.Message) -> TypeGuard[msg.AssistantMessage]:
    """Return whether a message was cancelled: by a stop, or by the provider."""
    return (
        isinstance(message, msg.AssistantMessage)
        and message.error is not None
        and message.error.kind == ErrorKind.CANCELLED
    )


async def stop_run(client: Client, target: object, name: str) -> None:
    """Stop what runs at the provider; a failure is logged, for the message has ended already."""
    if isinstance(target, msg.AssistantMessage) and not is_of(client, target):
        _log.warning("the run of message %r is not stopped: it is of %r", name, target.origin.dialect)
        return
    try:
        stopping = client.stop(target)
        if isawaitable(stopping):
            await stopping
    except Exception as error:  # noqa: BLE001 - see above
        _log.warning("the run of message %r could not be stopped: %s", name, error_text(error))
