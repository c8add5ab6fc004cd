"""What a crash left open, and the events that settle it."""

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
    Return the events to append so that nothing is left open that nobody will end.

    Running steps are closed where they stand, unless their run can be resumed. Nothing is run again. Folding what is
    returned and asking again gives nothing.

    Args:
        transcript: Where the session stands, from all its records.

        abandon_calls: Fail the calls that the app still owes an answer to; by default they stay.

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
                call.fail(interrupted("nobody will answer this call"))
                for call in message.tool_calls
                if (call.pending and (failed or abandon_calls))
            ]
    return events
