"""
Calls of the provider across a pause: their results come with the next answer, and belong to the message before.
"""

import json

import pytest

from assistant_events import find_problems, fold, reconcile
from assistant_events.adapters import DecoderBase, JsonLines
from assistant_events.adapters.json_fields import string


class Tools(DecoderBase):
    """
    Reads `{"call": id}`, `{"result": id}`, `{"hop": any}` and `{"end": finish}`.
    """

    dialect = "tools"
    provider = "acme"
    framing = JsonLines
    item_key = "i"

    def on_event(self, event):
        self.ensure_started()
        if "call" in event:
            self.recorder.tool_call(event["call"], "search", {}, key=event["call"], provider_executed=True)
        elif "result" in event:
            call_id = string(event, "result")
            if not self.answer_paused(call_id, "found", state={"seal": "x"}, name="search"):
                self.recorder.result(call_id, "found", name="search")
        elif "hop" in event:
            self.finish_step("pause", last=False)
            self.next_hop()
        else:
            self.finish_step(event["end"])


def fed(message_id, *lines, **options):
    decoder = Tools(message_id, **options)
    events = decoder.feed(b"".join(json.dumps(line).encode() + b"\n" for line in lines)) + decoder.close()
    assert decoder.failure is None
    return events


PAUSED = fed("a1", {"call": "c1"}, {"call": "c2"}, {"end": "pause"})


def settled(events):
    return [(call.call_id, call.status.value, dict(call.result_state)) for call in fold(events).messages[0].tool_calls]


def test_a_result_in_the_next_answer():
    """
    It is a result of the message that was paused, numbered behind all of it.
    """
    [paused] = fold(PAUSED).messages
    events = PAUSED + fed("a2", {"result": "c2"}, {"result": "c1"}, {"end": "stop"}, continues=paused)

    assert [] == find_problems(events)
    assert [("c1", "success", {"i": 3, "seal": "x"}), ("c2", "success", {"i": 2, "seal": "x"})] == settled(events)


def test_a_result_comes_once():
    """
    Twice, again in a replay, or known from before: the call has one result.
    """
    [paused] = fold(PAUSED).messages
    lines = [{"result": "c1"}, {"result": "c1"}, {"end": "stop"}]
    first = fed("a2", *lines, continues=paused)
    known = fold(PAUSED + first).messages[0]

    assert ["tool.success"] == [event.type for event in first if event.type.startswith("tool")]
    assert [] == [event for event in fed("a2", *lines, continues=known) if event.type.startswith("tool")]


def test_a_result_without_an_id():
    """
    It is of the last call of its tool that waits; a replay gives none of them a second one.
    """
    [paused] = fold(PAUSED).messages
    lines = [{"result": None}, {"result": None}, {"end": "stop"}]
    first = fed("a2", *lines, continues=paused)
    known = fold(PAUSED + first).messages[0]

    assert [("c1", "success", {"i": 3, "seal": "x"}), ("c2", "success", {"i": 2, "seal": "x"})] == settled(
        PAUSED + first
    )
    assert [] == [event for event in fed("a2", *lines, continues=known) if event.type.startswith("tool")]


def test_a_result_in_the_next_hop():
    """
    So it is where the provider gives the rest of a paused answer in the same stream.
    """
    events = fed("a1", {"call": "c1"}, {"hop": 1}, {"result": "c1"}, {"end": "stop"})

    assert [] == find_problems(events)
    assert [("c1", "success", {"i": 1, "seal": "x"})] == settled(events)


def test_a_result_that_never_comes():
    """
    The call stays, until the app reports that the run is gone.
    """
    transcript = fold(PAUSED)
    failed = reconcile(transcript, abandon_runs=True)

    assert [] == reconcile(transcript)
    assert [("c1", "interrupted"), ("c2", "interrupted")] == [(event.call_id, event.error.kind) for event in failed]
    assert [] == find_problems([*PAUSED, *failed])


def test_only_a_pause_leaves_calls():
    """
    A log in which a step ends otherwise before the result of a call is out of order.
    """
    *before, ended = PAUSED
    stopped = fed("a1", {"end": "stop"})[-1]

    assert [] == find_problems([*before, ended])
    assert ["conflict"] == [problem.outcome for problem in find_problems([*before, stopped])]


def test_a_wrong_type():
    """
    Only a message can be continued.
    """
    with pytest.raises(TypeError, match="continues: expected an AssistantMessage or None, got list"):
        Tools("a2", continues=[])
