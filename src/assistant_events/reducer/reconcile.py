"""The events that settle what a crash left open."""

from __future__ import annotations

from assistant_events import messages as msg
from assistant_events.events import DurableEvent
from assistant_events.reducer.fold import fold


def reconcile(
    transcript: msg.Transcript, *, abandon_calls: bool = False, abandon_runs: bool = False
) -> list[DurableEvent]:
    """
    Return the events to append after a crash, so that only what can still end stays open.

    Running steps are closed as they are, unless their run can be resumed. No call is executed again. Once the events
    are folded, another call returns none.

    Args:
        transcript: The session, folded from all its records.

        abandon_calls: Fail the calls that wait for a result of the app; by default they stay.

        abandon_runs: Close running steps even when their run can be resumed, fail a last step that was cut once more,
            without a run to resume, and fail calls of the provider that a pause has left without a result; by default
            they stay.
    """
    events: list[DurableEvent] = []
    for message in transcript.messages:
        if isinstance(message, msg.UserMessage):
            continue
        if message.status is msg.MessageStatus.RUNNING:
            resumable = isinstance(message, msg.AssistantMessage) and message.run is not None and message.run.resumable
            if abandon_runs or not resumable:
                error = msg.interrupted("the process that wrote it is gone")
                events += msg.close_message(message, error, abandon_run=abandon_runs)
        elif isinstance(message, msg.AssistantMessage):
            failed = message.status is msg.MessageStatus.FAILED
            events += [
                call.fail(msg.interrupted("this call will not be answered"))
                for call in message.tool_calls
                if (call.pending and (failed or abandon_calls))
                or (call.provider_executed and not call.settled and (failed or abandon_runs))
            ]
    after = fold(events, start=transcript) if abandon_runs else msg.Transcript()
    for left in after.unfinished():
        cut = after.answer(left.message_id) if left.run is not None else None
        if cut is not None and cut.error is not None:
            events += msg.fail_again(cut, cut.error, "its run is abandoned")
    return events
