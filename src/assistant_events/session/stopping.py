"""How a turn is stopped: what is appended, and what the provider is asked."""

from __future__ import annotations

import logging
from inspect import isawaitable

import attrs

from assistant_events.events import Event, StepFailed, StepStarted
from assistant_events.messages import AssistantMessage, Awaits, MessageStatus, Transcript, UserMessage, close_message
from assistant_events.session.answers import Client
from assistant_events.values import ErrorInfo, ErrorKind, Origin
from assistant_events.values.credentials import error_text

_log = logging.getLogger("assistant_events.session")


def cancellation(transcript: Transcript, name: str, client: Client | None) -> list[Event]:
    """Return the events that end a turn; where neither a message nor a call is open, an answer *name* that is empty."""
    error = ErrorInfo(kind=ErrorKind.CANCELLED, message="the turn was stopped")
    running = [
        message
        for message in transcript.messages
        if not isinstance(message, UserMessage) and message.status is MessageStatus.RUNNING
    ]
    if running:
        return [
            attrs.evolve(event, run=attrs.evolve(message.run, resumable=False))
            if isinstance(event, StepFailed) and isinstance(message, AssistantMessage) and message.run is not None
            else event
            for message in running
            for event in close_message(message, error)
        ]
    if transcript.awaits is Awaits.USER:
        return []
    if transcript.awaits is Awaits.TOOLS:
        return [call.fail(error) for call in transcript.pending_tool_calls]
    last = transcript.last_answer
    if last is not None:
        origin = attrs.evolve(last.origin, served_model=None)
    elif client is not None:
        origin = Origin(provider=client.provider, dialect=client.dialect.name)
    else:
        origin = Origin(provider="unknown", dialect="unknown")
    return [StepStarted(message_id=name, origin=origin), StepFailed(message_id=name, error=error)]


async def stop_run(client: Client, target: object, name: str) -> None:
    """Stop what runs at the provider; a failure is logged, for the message has ended already."""
    try:
        stopping = client.stop(target)
        if isawaitable(stopping):
            await stopping
    except Exception as error:  # noqa: BLE001 - see above
        _log.warning("the run of message %r could not be stopped: %s", name, error_text(error))
