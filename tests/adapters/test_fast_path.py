"""
Deltas take the short way, whatever they are deltas of and however their frames come; others do not.
"""

from unittest.mock import patch

import pytest

from assistant_events.adapters.fast_path import DeltaFastPath
from assistant_events.adapters.frame_templates import Template

from .notation import C, D, S, args, decoder, delta, fc, frame, mo, summary, text, th

COUNT = 10
KINDS = {
    "text": (mo(), text("word")),
    "reasoning summary": (th(), summary("word")),
    "arguments": (fc(), args("1")),
}


@pytest.fixture
def taken(monkeypatch):
    """
    Names of the shapes of the frames that took the short way, in their order.
    """
    found = []
    take = DeltaFastPath.try_append

    def counted(lane, data, shape, sink):
        done = take(lane, data, shape, sink)
        if done:
            found.append(next(name for name in ("bare", "framed", "unended") if getattr(lane, name) is shape))
        return done

    monkeypatch.setattr(DeltaFastPath, "take", counted)
    return found


@pytest.mark.parametrize(("step", "piece"), KINDS.values(), ids=KINDS)
def test_frames_that_come_one_by_one(taken, step, piece):
    """
    The first delta is learned from; each one after it takes the short way as the frame that it is.
    """
    made = decoder()
    found = [event for each in (C(), S(0, step), *[D(0, piece)] * COUNT) for event in made.feed(frame(each))]

    assert ["framed"] * (COUNT - 1) == taken
    assert COUNT == sum(event.type.endswith(".delta") for event in found)


@pytest.mark.parametrize(("step", "piece"), KINDS.values(), ids=KINDS)
def test_frames_that_come_together(taken, step, piece):
    """
    So do payloads that were cut out of a piece with many frames.
    """
    decoder().feed(b"".join(map(frame, (C(), S(0, step), *[D(0, piece)] * COUNT))))

    assert ["bare"] * (COUNT - 1) == taken


@pytest.mark.parametrize(("step", "piece"), KINDS.values(), ids=KINDS)
def test_frames_that_come_together_and_continue(taken, step, piece):
    """
    Where the way is known already, the frames of a piece are not even framed.
    """
    made = decoder()
    made.feed(b"".join(map(frame, (C(), S(0, step), D(0, piece)))))
    made.feed(b"".join([frame(D(0, piece))] * COUNT))

    assert ["unended"] * COUNT == taken


@pytest.mark.parametrize(("step", "piece"), KINDS.values(), ids=KINDS)
def test_a_new_step_of_a_kind_that_is_known(taken, step, piece):
    """
    What was learned of one step serves the next one of its kind, under its own index. Text begins with its first delta.
    """
    made = decoder()
    for each in (C(), S(0, step), D(0, piece), S(12, {**step, "id": "c2"} if "id" in step else step)):
        made.feed(frame(each))
    with patch.object(Template, "learn", side_effect=AssertionError):
        found = [event for _ in range(COUNT) for event in made.feed(frame(D(12, piece)))]

    assert ["framed"] * (COUNT - ("text" in piece)) == taken
    assert None is made.failure
    deltas = [event for event in found if event.type.endswith(".delta")]
    assert [len(deltas[0].delta) * number for number in range(COUNT)] == [event.offset for event in deltas]


WITH_MORE = {
    "in the event": {**D(0, text("a")), "more": 1},
    "in a text": D(0, {**text("a"), "more": 1}),
    "in arguments": D(1, {**args("1"), "more": 1}),
    "in a summary": D(2, {**summary("a"), "more": 1}),
    "in the content of a summary": D(2, delta("thought_summary", content={"type": "text", "text": "a", "more": 1})),
    "a cursor": {**D(0, text("a")), "event_id": ""},
    "less": D(0, {"text": "a"}),
}


@pytest.mark.parametrize("event", WITH_MORE.values(), ids=WITH_MORE)
def test_deltas_that_say_more(taken, event):
    """
    Deltas with fields beside their text never take the short way, which would pass by what else they say.
    """
    made = decoder()
    for each in (C(), S(0, mo()), S(1, fc()), S(2, th()), *[event] * 3):
        made.feed(frame(each))

    assert [] == taken
