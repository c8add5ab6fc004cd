"""
Frames and documents of 2.x in the form of generation 1.x.
"""

import pytest

from assistant_events import fold
from assistant_events.adapters.gemini_interactions import GeminiInteractionsEmitter, sse
from assistant_events.adapters.gemini_interactions.mock.wire_versions import Version1Stream, version_1
from tests.adapters.notation import (
    C,
    D,
    K,
    S,
    X,
    args,
    delta,
    events,
    fc,
    mo,
    notes,
    old,
    signature,
    step,
    summary,
    text,
    th,
)
from tests.corpus.bodies import STREAMS, stream_of

IMAGE = {"type": "image", "data": "AA=="}


def translated(*frames):
    stream = Version1Stream()
    return [each for frame in frames for each in stream.write(frame)]


def item(index, block, *deltas):
    """
    Return the frames of one item of 1.x.
    """
    return [old(S(index, block)), *[old(D(index, each)) for each in deltas], old(X(index))]


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        pytest.param(
            [S(0, mo()), D(0, text("a")), D(0, text("b")), X(0)], item(0, step("text"), text("a"), text("b")), id="text"
        ),
        pytest.param(
            [S(0, mo()), D(0, text("a")), D(0, IMAGE), D(0, IMAGE), X(0), S(1, th()), X(1)],
            [
                *item(0, step("text"), text("a")),
                *item(1, step("image"), IMAGE),
                *item(2, step("image"), IMAGE),
                *item(3, th()),
            ],
            id="an item for each block",
        ),
        pytest.param(
            [S(0, mo("a")), D(0, notes()), X(0)],
            item(0, step("text"), text("a"), delta("text_annotation", annotations=[])),
            id="annotations",
        ),
        pytest.param(
            [S(0, th()), D(0, summary("p")), D(0, signature("A=")), X(0)],
            item(0, th(), summary("p"), signature("A=")),
            id="thought",
        ),
        pytest.param(
            [S(0, fc()), D(0, args('{"a":')), D(0, {**args("1}"), "signature": "S="}), X(0)],
            item(0, step("function_call", id="c1"), fc("c1", "f", {"a": 1}, signature="S=")),
            id="call",
        ),
        pytest.param(
            [S(0, fc()), D(0, args('{"a')), X(0)],
            item(0, step("function_call", id="c1"), fc("c1", "f", '{"a')),
            id="a call with input that is not JSON",
        ),
        pytest.param(
            [
                *(S(0, step("google_search_call", id="s1")), D(0, delta("google_search_call", arguments={})), X(0)),
                S(1, step("google_search_result", call_id="s1")),
                *(D(1, delta("google_search_result", result="r")), X(1)),
            ],
            [
                *item(0, step("google_search_call", id="s1"), step("google_search_call", id="s1", arguments={})),
                *item(
                    1,
                    step("google_search_result", call_id="s1"),
                    step("google_search_result", call_id="s1", result="r"),
                ),
            ],
            id="a tool of the provider",
        ),
        pytest.param(
            [S(0, step("dream", x=1)), D(0, delta("odd")), X(0)],
            item(0, step("dream", x=1), delta("odd")),
            id="unknown",
        ),
    ],
)
def test_steps(frames, expected):
    """
    Each content block is an item, and the arguments of a call are one object.
    """
    assert expected == translated(*frames)


def test_the_interaction():
    """
    It starts and ends under other names, with empty outputs at its end.
    """
    begun, end = translated(C(object="interaction"), K(object="interaction"))

    assert old(C()) == begun
    assert old(K(outputs=[])) == end


def test_cursors():
    """
    A cursor is on the last frame that its event becomes.
    """
    frames = [{**frame, "event_id": f"e{at}"} for at, frame in enumerate([S(0, mo("a")), X(0), S(1, fc()), X(1)])]

    assert [None, "e0", "e1", "e2", None, "e3"] == [frame.get("event_id") for frame in translated(*frames)]


def test_documents():
    """
    The steps of the answer become outputs.
    """
    steps = [step("user_input", content=[]), th(signature="A="), mo("a", "b"), fc()]
    document = {"id": "v1", "object": "interaction", "steps": steps}

    assert {"id": "v1", "outputs": [th(signature="A="), text("a"), text("b"), fc()]} == version_1(document)


@pytest.mark.parametrize("file", STREAMS)
def test_recordings(file):
    """
    A recorded answer in the form of 1.x has the same texts, thoughts and calls.
    """
    message = fold(recorded := events(stream_of(file))).messages[0]
    emitter = GeminiInteractionsEmitter()
    frames = [each for event in recorded for each in emitter.emit(event)] + emitter.close()
    stream = Version1Stream()
    body = b"".join(sse(one) for each in frames for one in ([each] if isinstance(each, str) else stream.write(each)))
    again = fold(events(body)).messages[0]

    assert (message.text, message.reasoning, message.status) == (again.text, again.reasoning, again.status)
    assert [(call.name, call.input, call.status) for call in message.tool_calls] == [
        (call.name, call.input, call.status) for call in again.tool_calls
    ]
