"""The fold of one event (`reduce`) and of many (`fold`), and the events of a log that are out of place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, final

import attrs

from assistant_events.errors import LocalProtocolError
from assistant_events.events import Event, Frame, PromptSubmitted, Record, UnknownEvent
from assistant_events.lifecycle import Outcome
from assistant_events.messages import Transcript
from assistant_events.reducer.builder import Builder
from assistant_events.values.validators import Frozen


class Reduced(NamedTuple):
    """The result of `reduce`."""

    transcript: Transcript
    outcome: Outcome


@final
@attrs.frozen(kw_only=True, repr=False, eq=False)
class Problem(Frozen):
    """An event that is out of place in its log."""

    position: int
    """Index in the events that were given, from 0."""

    item: Event | Record
    outcome: Outcome

    def __str__(self) -> str:
        return f"event {self.position}: {explain(self.item, self.outcome)}"


def reduce(transcript: Transcript, item: Event | Record | Frame, *, strict: bool = False) -> Reduced:
    """
    Apply one event, or the events of a frame, and return the new transcript with the outcome.

    *transcript* is not changed; with every outcome but `applied` the messages stay as they are. A record that is next
    in the log moves `seq` even then.

    Args:
        transcript: The transcript to continue from.

        item: An event, a record of one, or a frame. Only records move `seq` and fill `times`. A frame after another
            `seq` is `late` or a `gap`; otherwise it is `applied` when one of its events is, and else has the outcome of
            the first.

        strict: Raise when the event is out of place.

    Raises:
        LocalProtocolError: With *strict*, for every outcome but `applied` and `ignored`.
    """
    builder = Builder(transcript)
    outcome = builder.apply(item)
    if strict:
        _refuse(item, outcome)
    return Reduced(builder.transcript, outcome)


def fold(
    events: Iterable[Event | Record | Frame], *, start: Transcript | None = None, strict: bool = False
) -> Transcript:
    """
    Apply *events* in order and return the transcript.

    Live events may be missing: the durable ones are enough when every fragment has ended.

    Args:
        events: Events, records or frames, consumed once.

        start: Transcript to continue from; an empty one by default.

        strict: Raise on the first event that is out of place instead of skipping it.

    Raises:
        LocalProtocolError: With *strict*, for every outcome but `applied` and `ignored`.
    """
    builder = Builder(start)
    if strict:
        for item in events:
            _refuse(item, builder.apply(item))
    else:
        builder.extend(events)
    return builder.transcript


def find_problems(events: Iterable[Event | Record], *, start: Transcript | None = None) -> list[Problem]:
    """Return every event of a log that is out of place: whose outcome is neither `applied` nor `ignored`."""
    builder = Builder(start)
    found: list[Problem] = []
    for position, item in enumerate(events):
        outcome = builder.apply(item)
        if outcome is not Outcome.APPLIED and outcome is not Outcome.IGNORED:
            found.append(Problem(position=position, item=item, outcome=outcome))
    return found


def describe(item: Event | Record | Frame) -> str:
    """Return a description of an event: its type, message and call, never its content."""
    if isinstance(item, Frame):
        return f"frame after seq {item.after}"
    event = item.event if isinstance(item, Record) else item
    place = f" at seq {item.seq}" if isinstance(item, Record) else ""
    call_id = getattr(event, "call_id", None)
    call = "" if call_id is None else f", call {call_id!r}"
    if isinstance(event, UnknownEvent):
        return f"{event.type} v{event.version}{place}"
    return f"{event.type} of message {event.message_id!r}{call}{place}"


def explain(item: Event | Record | Frame, outcome: Outcome) -> str:
    """Return in plain words why an event changed nothing; *outcome* is neither `applied` nor `ignored`."""
    reason = _REASONS[outcome]
    if isinstance(item, PromptSubmitted) and outcome in {Outcome.CONFLICT, Outcome.LATE}:
        reason = "the prompt id is taken"  # by a message that is there, or was rewound
    return f"{describe(item)} is out of place: {reason} ({outcome.value})"


_REASONS: Final = {
    Outcome.DUPLICATE: "it is there already",
    Outcome.CONFLICT: "it contradicts what is there",
    Outcome.LATE: "what it belongs to has ended or was rewound",
    Outcome.ORPHAN: "what it belongs to has not begun",
    Outcome.GAP: "something before it is missing",
}


def _refuse(item: Event | Record | Frame, outcome: Outcome) -> None:
    if outcome is not Outcome.APPLIED and outcome is not Outcome.IGNORED:
        raise LocalProtocolError(explain(item, outcome))
