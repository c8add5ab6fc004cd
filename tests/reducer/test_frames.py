"""
Frames: live events with their place in the log.
"""

import pytest

from assistant_events import Frame, ReasoningDelta, StepStarted, TextDelta, TextEnded, TextStarted, fold, reduce
from assistant_events.errors import LocalProtocolError
from assistant_events.reducer import Builder
from assistant_events.testing import origin, records

A = {"message_id": "a1"}
STARTED = [StepStarted(**A, origin=origin()), TextStarted(**A)]
HEL, LO = TextDelta(**A, offset=0, delta="Hel"), TextDelta(**A, offset=3, delta="lo")
ORPHAN = ReasoningDelta(**A, offset=0, delta="Hm")


def frame(*events, after=2):
    return Frame(session_id="s1", after=after, events=events)


def test_a_frame_is_applied_after_its_record():
    """
    Its events are applied in order, and `seq` does not move.
    """
    after = fold([*records(STARTED), frame(HEL, LO)])

    assert ("Hello", 2) == (after.last.text, after.seq)
    assert after == reduce(fold(records(STARTED)), frame(HEL, LO)).transcript


@pytest.mark.parametrize(
    ("events", "outcome"),
    [
        ([HEL], "applied"),
        ([HEL, HEL], "applied"),
        ([ORPHAN, HEL], "applied"),
        ([ORPHAN], "orphan"),
        ([LO, ORPHAN], "gap"),
        ([], "ignored"),
    ],
    ids=["delta", "twice", "second", "orphan", "first", "empty"],
)
def test_outcomes(events, outcome):
    """
    A frame is applied when one of its events is; otherwise it has the outcome of the first.
    """
    assert outcome == reduce(fold(records(STARTED)), frame(*events)).outcome


@pytest.mark.parametrize(("after", "outcome"), [(1, "late"), (3, "gap"), (0, "late")])
def test_a_frame_of_another_place_changes_nothing(after, outcome):
    """
    A frame is late when records have come since, and a gap when it misses some.
    """
    before = fold(records(STARTED))

    assert (before, outcome) == reduce(before, frame(HEL, after=after))


def test_a_late_frame_never_lands_in_a_later_fragment():
    """
    A delta that fits the next text by its offset is refused by the place of its frame.
    """
    builder = Builder()
    builder.extend(records([*STARTED, TextEnded(**A, text="Hello"), TextStarted(**A)]))

    assert "late" == builder.apply(frame(HEL))
    assert "applied" == builder.apply(TextDelta(**A, offset=0, delta="Good"))
    assert ["Hello", "Good"] == [part.text for part in builder.transcript.last.parts]


def test_strict():
    """
    A frame that is out of place is described by its place.
    """
    with pytest.raises(LocalProtocolError, match=r"^frame after seq 3 is out of place: something before it is missing"):
        fold([*records(STARTED), frame(HEL, after=3)], strict=True)


@pytest.mark.parametrize(
    ("fields", "error", "text"),
    [
        ({"session_id": ""}, ValueError, "Frame.session_id: expected a non-empty string"),
        ({"after": -1}, ValueError, "Frame.after: expected 0 or more, got -1"),
        ({"events": [STARTED[1]]}, TypeError, r"events\[0\]: expected a live event, got TextStarted"),
    ],
    ids=["session_id", "after", "events"],
)
def test_fields_are_checked(fields, error, text):
    """
    A frame has a session, a place and live events.
    """
    with pytest.raises(error, match=text):
        Frame(**{"session_id": "s1", "after": 0, "events": [], **fields})
