"""The events that settle what a crash left open."""

from __future__ import annotations

from assistant_events.events import DurableEvent
from assistant_events.messages import (
    AssistantMessage,
    MessageStatus,
    Transcript,
    UserMessage,
    close_message,
    interrupted,
)


def reconcile(transcript: Transcript, *, abandon_calls: bool = False, abandon_runs: bool = False) -> list[DurableEvent]:
    """
    Return the events to append after a crash, so that only what can still end stays open.

    Running steps are closed as they are, unless their run can be resumed. No call is executed again. Once the events
    are folded, another call returns none.

    Args:
        transcript: The session, folded from all its records.

        abandon_calls: Fail the calls that wait for a result of the app; by default they stay.

        abandon_runs: Close running steps even when their run can be resumed; by default they stay.
    """
    events: list[DurableEvent] = []
    for message in transcript.messages:
        if isinstance(message, UserMessage):
            continue
        if message.status is MessageStatus.RUNNING:
            resumable = isinstance(message, AssistantMessage) and message.run is not None and message.run.resumable
            if abandon_runs or not resumable:
                events += close_message(message, interrupted("the process that wrote it is gone"))
        elif isinstance(message, AssistantMessage):
            failed = message.status is MessageStatus.FAILED
            events += [
                call.fail(interrupted("this call will not be answered"))
                for call in message.tool_calls
                if (call.pending and (failed or abandon_calls))
            ]
    return events
