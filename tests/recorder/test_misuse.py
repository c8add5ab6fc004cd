"""
Every verb out of order, and with arguments that are none: the error names what was wrong, and nothing is lost.
"""

import pytest

from assistant_events import find_problems, fold
from assistant_events.errors import LocalProtocolError
from assistant_events.recorder import Recorder
from assistant_events.testing import answer, error, message, origin

VERBS = {
    "start": lambda recorder: recorder.start(origin()),
    "restart": lambda recorder: recorder.restart("again"),
    "finish": lambda recorder: recorder.finish("stop"),
    "fail": lambda recorder: recorder.fail(error()),
    "close": lambda recorder: recorder.close(),
    "begin": lambda recorder: recorder.begin(None, "text"),
    "keep": lambda recorder: recorder.keep("k", {}),
    "end": lambda recorder: recorder.end("k"),
    "text": lambda recorder: recorder.text("a"),
    "end_text": lambda recorder: recorder.end_text(),
    "reasoning": lambda recorder: recorder.reasoning("a"),
    "end_reasoning": lambda recorder: recorder.end_reasoning(),
    "media": lambda recorder: recorder.media(b"a", "image/png"),
    "end_media": lambda recorder: recorder.end_media(data=b"a", media_type="image/png"),
    "tool_input": lambda recorder: recorder.tool_input("c1", "search"),
    "end_tool_input": lambda recorder: recorder.end_tool_input("c1"),
    "tool_call": lambda recorder: recorder.tool_call("c1", "search", {}),
    "tool_call, raw": lambda recorder: recorder.tool_call("c1", "search", "{}"),
    "tool_progress": lambda recorder: recorder.tool_progress("c1"),
    "result": lambda recorder: recorder.result("c1"),
    "opaque": lambda recorder: recorder.opaque({}),
}
BEFORE = {
    "unknown": lambda recorder: None,
    "running": lambda recorder: recorder.start(origin()),
    "ended": lambda recorder: (recorder.start(origin()), recorder.finish("stop")),
    "failed": lambda recorder: (recorder.start(origin()), recorder.fail(error())),
}
NOT_RUNNING = "message 'a1' is {phase}, expected running"
FIRST = "; call start() or ensure_started() first"
UNKNOWN_CALL = "{verb}: call 'c1' is unknown"
ALLOWED = {("unknown", "start"), ("failed", "restart"), *((phase, "close") for phase in BEFORE)}
TOLD = {
    ("running", "start"): "step.started is not allowed in message 'a1' now (conflict): it is running",
    ("ended", "start"): "step.started is not allowed in message 'a1' now (conflict): it is ended",
    ("failed", "start"): "step.started is not allowed in message 'a1' now (conflict): it is failed",
    ("unknown", "restart"): "step.restarted is not allowed in message 'a1' now (orphan): it is unknown",
    ("ended", "restart"): "step.restarted is not allowed in message 'a1' now (late): it is ended",
}
ANSWERS = ("tool_progress", "result")


def told(phase, verb):
    """
    Return the text of the refusal; `None` when the verb is allowed.
    """
    if (phase, verb) in ALLOWED:
        return None
    if (phase, verb) in TOLD:
        return TOLD[phase, verb]
    if verb in ANSWERS and phase != "unknown":
        return UNKNOWN_CALL.format(verb=verb)
    return None if phase == "running" else NOT_RUNNING.format(phase=phase) + (FIRST if phase == "unknown" else "")


@pytest.mark.parametrize("phase", BEFORE)
@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_in_each_phase(phase, verb):
    """
    A verb works where the order of events lets it, and raises with the reason where it does not.
    """
    recorder = Recorder("a1")
    BEFORE[phase](recorder)
    expected = told(phase, verb)

    if expected is None:
        VERBS[verb](recorder)
    else:
        with pytest.raises(LocalProtocolError) as caught:
            VERBS[verb](recorder)
        assert expected == str(caught.value)


@pytest.mark.parametrize("verb", ["start", "restart", "tool_progress"])
@pytest.mark.parametrize("more", ["", '{"a":1}'])
def test_a_verb_that_is_refused_behind_an_input_whose_end_waits(recorder, sink, verb, more):
    """
    The end of an input without text waits for what follows. What is refused neither causes nor loses it.
    """
    recorder.tool_call("done", "search", {})
    recorder.result("done", "rain")
    recorder.tool_input("open", "search", "{")
    recorder.tool_input("c2", "search")
    recorder.end_tool_input("c2")
    refused = {**VERBS, "tool_progress": lambda recorder: recorder.tool_progress("open")}[verb]
    with pytest.raises(LocalProtocolError, match="is not allowed"):
        refused(recorder)
    if more:
        recorder.tool_input("c2", "search", more)
        recorder.end_tool_input("c2")
    recorder.text("Hi")
    [_, _, call] = fold(sink).last.tool_calls

    assert ("c2", "called", {"a": 1} if more else {}) == (call.call_id, call.status, call.input)


STRAYS = {
    "facts of an unknown item": (lambda recorder: recorder.keep("k", {"s": 1}), "stray-facts"),
    "facts without an open fragment": (lambda recorder: recorder.keep(None, {"s": 1}), "stray-facts"),
    "facts of an ended call": (lambda recorder: recorder.keep("call", {"s": 1}), "stray-facts"),
    "facts of an ended opaque item": (lambda recorder: recorder.keep("opaque", {"s": 1}), "stray-facts"),
    "facts of an ended media item": (lambda recorder: recorder.keep("media", {"s": 1}), "stray-facts"),
    "more of an ended input": (lambda recorder: recorder.tool_input("c1", delta="{}", key="call"), "late-arguments"),
    "second end of an input": (lambda recorder: recorder.end_tool_input(key="call"), "stray-end"),
    "second end of an input, by id": (lambda recorder: recorder.end_tool_input("c1"), "stray-end"),
    "end of an unknown input": (lambda recorder: recorder.end_tool_input("c2"), "stray-end"),
    "end of any input": (lambda recorder: recorder.end_tool_input(), "stray-end"),
}


@pytest.mark.parametrize(("verb", "code"), STRAYS.values(), ids=STRAYS.keys())
def test_strays_become_notes(verb, code):
    """
    What a provider sends for an item that is unknown or has ended causes no event and no error, but a note.
    """
    notes = []
    recorder = Recorder("a1", note=lambda code, sentence: notes.append(code))
    recorder.start(origin())
    recorder.tool_input("c1", "search", "{}", key="call")
    recorder.end_tool_input(key="call")
    recorder.begin("opaque", "opaque", {"type": "x"})
    recorder.end("opaque")
    recorder.media(b"a", "image/png", key="media")
    recorder.end("media")

    assert [] == verb(recorder)
    assert [code] == notes
    assert ["step.ended"] == [event.type for event in recorder.finish("stop")][-1:]


def test_a_media_item_that_is_not_open_needs_a_type(recorder):
    """
    The end of a media item that never began needs a media type.
    """
    with pytest.raises(LocalProtocolError, match="no media item is open; expected a media_type"):
        recorder.end_media(data=b"a")


def test_a_step_that_the_app_has_answered_does_not_start_over(recorder):
    """
    A restart would void what a tool has done.
    """
    recorder.tool_call("c1", "search", {})
    recorder.result("c1")

    with pytest.raises(LocalProtocolError, match=r"step\.restarted .*conflict"):
        recorder.restart("again")


def test_the_prior_message_is_the_same_one():
    """
    A recorder rejoins the message that it records.
    """
    with pytest.raises(LocalProtocolError, match=r"^prior is message 'a1', expected 'a2'$"):
        Recorder("a2", prior=message(answer("Hi")))


@pytest.mark.parametrize("message_id", ["", None, 5])
def test_a_message_id_is_a_non_empty_string(message_id):
    """
    A recorder needs the id of its message.
    """
    with pytest.raises(TypeError, match="message_id: expected a non-empty string"):
        Recorder(message_id)


WRONG = {
    "start": (lambda recorder: Recorder("a1").start("gemini"), "StepStarted.origin"),
    "finish": (lambda recorder: recorder.finish("done"), "done"),
    "finish, usage": (lambda recorder: recorder.finish("stop", usage={"input_tokens": 1}), "StepEnded.usage"),
    "fail": (lambda recorder: recorder.fail("no"), "StepFailed.error"),
    "text": (lambda recorder: recorder.text(5), "text: expected str, got int"),
    "text, bytes": (lambda recorder: recorder.text(b"a"), "text: expected str, got bytes"),
    "text, state": (lambda recorder: recorder.text("a", key="n", state={1: 2}), "expected string keys"),
    "text, key": (lambda recorder: recorder.text("a", key=[]), "unhashable"),
    "end_text": (lambda recorder: recorder.end_text(text=5), "text: expected str, got int"),
    "end_text, state": (lambda recorder: recorder.end_text({"a": object()}, key="t"), "expected JSON"),
    "end_text, citations": (
        lambda recorder: recorder.end_text(citations=["x"], key="t"),
        r"citations\[0\]: expected a Citation",
    ),
    "end_text, late": (lambda recorder: recorder.end_text({"a": object()}, key="early"), "expected JSON"),
    "reasoning": (lambda recorder: recorder.reasoning(None), "reasoning: expected str, got NoneType"),
    "media": (lambda recorder: recorder.media("a", "image/png"), "MediaDelta.delta"),
    "media, type": (lambda recorder: recorder.media(b"a", "", key="n"), "MediaStarted.media_type"),
    "end_media": (lambda recorder: recorder.end_media(data=b"a", uri="x:1", media_type="a/b"), "not both"),
    "tool_input": (lambda recorder: recorder.tool_input("c9", "search", 5), "tool_input: expected str, got int"),
    "tool_input, name": (lambda recorder: recorder.tool_input("c9", 5), "ToolInputStarted.name"),
    "tool_input, id": (lambda recorder: recorder.tool_input(5, "search"), "ToolInputStarted.call_id"),
    "tool_input, executed": (
        lambda recorder: recorder.tool_input("c9", "search", provider_executed="yes"),
        "ToolInputStarted.provider_executed",
    ),
    "end_tool_input": (lambda recorder: recorder.end_tool_input("open", {"a": object()}), "expected JSON"),
    "end_tool_input, input": (
        lambda recorder: recorder.end_tool_input("open", input=5),
        "input: expected a JSON object",
    ),
    "tool_call": (lambda recorder: recorder.tool_call("c9", "search", 5), "input: expected a JSON object, got int"),
    "tool_call, deep": (lambda recorder: recorder.tool_call("c9", "search", {"a": deep()}), "at most 200 levels"),
    "result": (lambda recorder: recorder.result("called", float("nan")), "finite number"),
    "result, error": (lambda recorder: recorder.result("called", error="no"), "ToolFailed.error"),
    "begin, kind": (lambda recorder: recorder.begin("k", "media"), "kind: expected 'text', 'reasoning' or 'opaque'"),
    "keep": (lambda recorder: recorder.keep("t", {"a": object()}), "expected JSON"),
    "keep, citations": (lambda recorder: recorder.keep("t", citations=["x"]), "expected a Citation"),
    "opaque": (lambda recorder: recorder.opaque([1]), "state: expected a JSON object, got list"),
}


def deep():
    value = []
    for _ in range(300):
        value = [value]
    return value


@pytest.mark.parametrize(("verb", "said"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("end", ["finish", "close"])
def test_wrong_arguments_leave_a_recorder_that_can_be_closed(recorder, sink, verb, said, end):
    """
    An argument that is none raises and names it; the step can then be ended, and what it has is all there.
    """
    recorder.text("a", key="early")
    recorder.text("b", key="t")
    recorder.text("c", key="early")
    recorder.tool_call("called", "search", {})
    recorder.tool_input("open", "fetch", "{}")

    with pytest.raises((TypeError, ValueError), match=said):
        verb(recorder)
    VERBS[end](recorder)
    assert [] == find_problems(sink)
    assert "abc" == "".join(sorted(fold(sink).last.text))
    assert recorder.terminal
