"""
A replay on a message that was recorded before, at least in part: what is emitted, and when.
"""

import attrs
import pytest

from assistant_events import (
    Citation,
    MediaDelta,
    MediaEnded,
    OpaqueReceived,
    ReasoningEnded,
    ReasoningStarted,
    StepEnded,
    StepFailed,
    StepRestarted,
    StepStarted,
    TextDelta,
    TextEnded,
    TextStarted,
    ToolCalled,
    ToolFailed,
    ToolInputDelta,
    ToolInputEnded,
    ToolInputStarted,
    ToolStarted,
    ToolSuccess,
    find_problems,
    fold,
    reconcile,
)
from assistant_events.errors import LocalProtocolError
from assistant_events.recorder import Recorder
from assistant_events.testing import error, origin, run
from assistant_events.testing.strategies import Verb

A = {"message_id": "a1"}
C = {"message_id": "a1", "call_id": "c1"}
AFTER_CUT = StepRestarted(**A, reason="the stream was rejoined after a cut", origin=origin())
DIFFERS = StepRestarted(**A, reason="the replay differs from what was recorded", origin=origin())


def start(**more):
    return Verb("start", {"origin": origin(), **more})


def text(delta, **more):
    return Verb("text", {"delta": delta, **more})


def end_text(**more):
    return Verb("end_text", more)


def verb(name, /, **arguments):
    return Verb(name, arguments)


FINISH = verb("finish", finish_reason="stop")
HELLO = [start(), text("Hel"), text("lo"), end_text(state={"s": 1}), FINISH]
HOSTED = {"provider_executed": True}


def record(verbs):
    """
    Return what a recorder gives for a step that is recorded for the first time.
    """
    recorder = Recorder("a1")
    return [event for each in verbs for event in each(recorder)]


def rejoin(before, replay):
    """
    Return what is emitted of a replay, for each verb, on the message that *before* gives, checked to be legal.
    """
    transcript = fold(before, strict=True)
    recorder = Recorder("a1", prior=transcript["a1"])
    events = [each(recorder) for each in replay]
    assert [] == find_problems([event for some in events for event in some], start=transcript)
    return events


def closed(before):
    """
    Return the events of a message that was closed by a cut.
    """
    return [*before, *reconcile(fold(before), abandon_runs=True)]


# -- a message that runs


def test_a_running_message_goes_on_where_it_stands():
    """
    What was recorded is passed over; the rest of a delta that is partly known is emitted at its place.
    """
    before = record([start(), text("Hell")])

    assert [
        [],
        [],
        [TextDelta(**A, offset=4, delta="o")],
        [TextEnded(**A, text="Hello", state={"s": 1})],
        [StepEnded(**A, finish_reason="stop")],
    ] == rejoin(before, HELLO)


def test_an_empty_input_that_failed_as_incomplete_is_not_repeated():
    """
    An input without text that the provider ended as incomplete has failed its call; a replay adds neither again.
    """
    step = [start(), verb("tool_input", call_id="c1", name="weather", delta=""), verb("end_tool_input", complete=False)]

    assert [[], [], []] == rejoin(record(step), step)


def test_from_the_log_alone_the_open_text_comes_again():
    """
    A process that lost the deltas gets all of the open text once more.
    """
    before = [*record([start()]), TextStarted(**A)]

    assert [TextDelta(**A, offset=0, delta="Hel")] == rejoin(before, HELLO)[1]


@pytest.mark.parametrize(("size", "expected"), [(103, 0), (104, 1)])
def test_a_medium_counts_with_its_bytes(size, expected):
    """
    A replay that differs may replace a media item that was cut once it has as much as that and the text beside it.
    """
    medium = verb("media", delta=b"x" * 100, media_type="image/png")
    before = record([start(), text("ab"), end_text(), medium, verb("close")])
    recorder = Recorder("a1", prior=fold(before)["a1"])
    recorder.start(origin())
    # The start of a text counts 1, as each part does.
    recorder.text("z" * (size - 1))

    assert [DIFFERS] * expected == recorder.end_text()[:1]


def test_a_recorder_that_has_caught_up_is_no_longer_rejoining():
    """
    Once all that was recorded has passed the recorder is like any other.
    """
    recorder = Recorder("a1", prior=fold(record([start(), text("Hel")]))["a1"])
    recorder.start(origin())
    before = recorder.rejoining
    recorder.text("Hel")

    assert before
    assert not recorder.rejoining


def test_a_message_that_has_nothing_yet():
    """
    A step that had only started is passed by the start of the replay.
    """
    assert [[], [TextStarted(**A), TextDelta(**A, offset=0, delta="Hel")]] == rejoin(record([start()]), HELLO[:2])


def test_a_replay_that_says_other_text_restarts():
    """
    Text that differs voids what was recorded, and the replay follows from its start.
    """
    before = record([start(), text("Hex")])

    assert [DIFFERS, TextStarted(**A), TextDelta(**A, offset=0, delta="Hel")] == rejoin(before, HELLO)[1]


def test_a_restart_brings_origin_run_and_state_of_the_replay():
    """
    What the replay has about the response at its start is in the restart.
    """
    served = origin(served_model="acme-1-0915")
    again = start(origin=served, run=run("run-2"), state={"s": 2})
    (restarted,) = rejoin(record([start(run=run())]), [again])[0]

    assert (served, run("run-2"), {"s": 2}) == (restarted.origin, restarted.run, restarted.state)


def test_an_input_that_was_recorded_whole_comes_in_pieces():
    """
    The pieces are not recorded again; the call is compared, and another input restarts the message.
    """
    before = record([start(), verb("tool_call", call_id="c1", name="add", input={"a": 1})])
    begin = verb("tool_input", call_id="c1", name="add", delta='{"a":')

    def found(rest):
        replay = [start(), begin, verb("tool_input", call_id="c1", delta=rest), verb("end_tool_input", call_id="c1")]
        return rejoin(before, [*replay, text("Hi")])

    assert [[], [], [], [], [TextStarted(**A), TextDelta(**A, offset=0, delta="Hi")]] == found("1}")
    assert DIFFERS == found("2}")[3][0]


def test_a_replay_that_restarts_with_another_origin():
    """
    The message that starts over is of that origin.
    """
    served = origin(served_model="acme-1-0915")
    replay = [start(), verb("restart", reason="again", origin=served), text("Good")]

    assert served == rejoin(record([start(), text("Hello")]), replay)[2][0].origin


@pytest.mark.parametrize("state", [{}, {"s": 2}])
def test_a_replay_that_restarts_is_compared_from_there(state):
    """
    What came before its restart is void; what comes after it continues the recorded text, or differs.
    """
    before = record([start(), text("Hello")])
    again = [start(), text("Hel"), verb("restart", reason="again", state=state)]
    same = rejoin(before, [*again, text("Hel"), text("lo!")])
    other = rejoin(before, [*again, text("Good")])

    assert [[], [], [], [], [TextDelta(**A, offset=5, delta="!")]] == same
    assert [[], [], []] == other[:3]
    assert [attrs.evolve(DIFFERS, state=state), TextStarted(**A), TextDelta(**A, offset=0, delta="Good")] == other[3]


def test_a_message_that_was_cut_before_its_model_was_known_learns_it_from_the_replay():
    """
    A step that failed without a model has the model of the replay afterwards.
    """
    unknown = origin(model=None)
    before = record([start(origin=unknown), verb("fail", error=error())])
    (events,) = rejoin(before, [start()])

    assert origin() == fold([*before, *events])["a1"].origin


@pytest.mark.parametrize(
    ("recorded", "replayed"),
    [
        pytest.param([text("a"), end_text()], [verb("reasoning", delta="a")], id="another kind"),
        pytest.param([text("a"), end_text()], [text("b"), end_text()], id="another text"),
        pytest.param([text("a"), end_text()], [text("ab"), end_text()], id="longer text"),
        pytest.param([text("a"), end_text(state={"s": 1})], [text("a"), end_text()], id="another state"),
        pytest.param(
            [text("a"), end_text(citations=[Citation(url="x:1")])], [text("a"), end_text()], id="other citations"
        ),
        pytest.param([text("a"), end_text(details={"d": 1})], [text("a"), end_text()], id="other details"),
        pytest.param([text("ab")], [text("a"), end_text()], id="a shorter text"),
        pytest.param(
            [verb("reasoning", delta="a"), verb("end_reasoning")],
            [verb("reasoning", delta="b"), verb("end_reasoning")],
            id="another reasoning",
        ),
        pytest.param(
            [verb("end_media", data=b"a", media_type="image/png")],
            [verb("end_media", data=b"b", media_type="image/png")],
            id="other bytes",
        ),
        pytest.param(
            [verb("end_media", data=b"a", media_type="image/png", complete=False)],
            [verb("end_media", data=b"a", media_type="image/png")],
            id="a medium that is complete now",
        ),
        pytest.param([verb("opaque", state={"s": 1})], [verb("opaque", state={"s": 2})], id="another opaque item"),
        pytest.param([verb("opaque", state={})], [text("a")], id="text for an opaque item"),
        pytest.param([verb("tool_call", call_id="c1", name="t", input={})], [text("a")], id="text for a call"),
        pytest.param(
            [text("a"), end_text()], [verb("tool_call", call_id="c1", name="t", input={})], id="a call for text"
        ),
        pytest.param(
            [verb("tool_call", call_id="c1", name="t", input={})],
            [verb("tool_call", call_id="c2", name="t", input={})],
            id="another call id",
        ),
        pytest.param(
            [verb("tool_call", call_id="c1", name="t", input={})],
            [verb("tool_call", call_id="c1", name="u", input={})],
            id="another tool",
        ),
        pytest.param(
            [verb("tool_call", call_id="c1", name="t", input={"a": 1})],
            [verb("tool_call", call_id="c1", name="t", input={"a": 2})],
            id="other arguments",
        ),
        pytest.param(
            [verb("tool_call", call_id="c1", name="t", input='{"a":1}')],
            [verb("tool_call", call_id="c1", name="t", input='{"a":2}')],
            id="other raw arguments",
        ),
        pytest.param(
            [verb("tool_input", call_id="c1", name="t", delta='{"a"')],
            [verb("tool_input", call_id="c1", name="t", delta='{"b"')],
            id="other input so far",
        ),
        pytest.param(
            [verb("tool_input", call_id="c1", name="t", delta='{"a"')],
            [verb("tool_input", call_id="c1", name="t", delta="{"), verb("end_tool_input", call_id="c1")],
            id="a shorter input",
        ),
        pytest.param(
            [verb("tool_call", call_id="c1", name="t", input="{")],
            [verb("tool_call", call_id="c1", name="t", input={})],
            id="a call for invalid input",
        ),
        pytest.param(
            [verb("tool_input", call_id="c1", name="t")],
            [verb("tool_call", call_id="c1", name="t", input={})],
            id="a whole call for an open input",
        ),
        pytest.param(
            [
                verb("tool_call", call_id="c1", name="t", input={}, **HOSTED),
                verb("result", call_id="c1", output="a"),
            ],
            [
                verb("tool_call", call_id="c1", name="t", input={}, **HOSTED),
                verb("result", call_id="c1", output="b"),
            ],
            id="another result",
        ),
        pytest.param(
            [
                verb("tool_call", call_id="c1", name="t", input={}, **HOSTED),
                verb("result", call_id="c1", output="a", details={"d": 1}),
            ],
            [
                verb("tool_call", call_id="c1", name="t", input={}, **HOSTED),
                verb("result", call_id="c1", output="a"),
            ],
            id="other details of a result",
        ),
        pytest.param(
            [
                verb("tool_call", call_id="c1", name="t", input={}, **HOSTED),
                verb("result", call_id="c1"),
            ],
            [
                verb("tool_call", call_id="c1", name="t", input={}, **HOSTED),
                verb("result", call_id="c1", error=error()),
            ],
            id="a failure for a result",
        ),
    ],
)
def test_contradictions(recorded, replayed):
    """
    A running message starts over as soon as the replay differs, and holds the content of the replay in the end.
    """
    before = record([start(), *recorded])
    given = rejoin(before, [start(), *replayed, FINISH])
    events = [event for some in given for event in some]

    assert DIFFERS == events[0]
    assert events != given[-1]
    assert fold(record([start(), *replayed, FINISH])) == fold([*before, *events])


def test_another_run_is_a_contradiction():
    """
    A replay of another response is not this message.
    """
    before = record([start(run=run()), text("Hel")])

    assert [attrs.evolve(DIFFERS, run=run("run-2"))] == (rejoin(before, [start(run=run("run-2"))])[0])


def test_the_same_run_that_cannot_be_resumed_any_more():
    """
    It is known by its id.
    """
    replay = [start(run=attrs.evolve(run(), resumable=False)), text("Hello")]

    assert [[], [TextDelta(**A, offset=3, delta="lo")]] == rejoin(record([start(run=run()), text("Hel")]), replay)


def test_a_replay_that_ends_too_early_is_a_contradiction():
    """
    A replay that ends before it has brought all that was recorded differs from it.
    """
    before = record([start(), text("Hello"), end_text(), text("more")])
    events = rejoin(before, [start(), text("Hello"), end_text(), FINISH])

    assert [DIFFERS, TextStarted(**A)] == events[-1][:2]


def test_deltas_of_what_has_ended_are_not_compared():
    """
    The end of a text has all of it, so deltas that differ from it before are not a contradiction.
    """
    verbs = [start(), text("draft"), end_text(text="final"), text("next")]

    assert [[], [], [], []] == rejoin(record(verbs), verbs)


def test_parts_that_are_new_go_on_whole():
    """
    Parts that were not recorded come with all their events.
    """
    before = record([start(), text("Hello"), end_text()])
    replay = [
        start(),
        text("Hello"),
        end_text(),
        verb("opaque", state={"s": 1}),
        verb("end_reasoning", text="Hm"),
        verb("end_media", data=b"a", media_type="image/png"),
        verb("tool_call", call_id="c1", name="t", input="{}"),
        verb("tool_progress", call_id="c1", output="some"),
    ]

    assert record(replay)[4:] == [event for some in rejoin(before, replay) for event in some]


def test_new_parts_wait_until_all_that_was_recorded_has_passed():
    """
    Nothing is emitted while something that was recorded is still to come, and then everything is.
    """
    before = record(
        [
            start(),
            text("Hel", key="t"),
            verb("media", delta=b"ab", media_type="image/png", key="m"),
            verb("tool_input", call_id="c1", name="t", delta="{"),
        ]
    )
    replay = [
        start(),
        text("Hello", key="t"),
        end_text(key="t"),
        verb("media", delta=b"abc", media_type="image/png", key="m"),
        verb("end_media", key="m"),
        verb("tool_input", call_id="c1", name="t", delta="{}"),
    ]
    events = rejoin(before, replay)

    assert [[]] * 5 == events[:5]
    assert [
        TextDelta(**A, offset=3, delta="lo"),
        TextEnded(**A, text="Hello"),
        MediaDelta(**A, offset=2, delta=b"c"),
        MediaEnded(**A, media_type="image/png", data=b"abc"),
        ToolInputDelta(**C, offset=1, delta="}"),
    ] == events[5]


def test_parts_that_come_before_all_has_passed_wait():
    """
    New parts that the replay brings before the rest of an old one are held back, and lose nothing.
    """
    before = record([start(), text("Hello", key="t")])
    replay = [
        start(),
        text("Hel", key="t"),
        verb("opaque", state={"s": 1}),
        verb("reasoning", delta="Hm", key="r"),
        verb("end_reasoning", key="r"),
        verb("tool_input", call_id="c1", name="t", delta="{}"),
        verb("end_tool_input", call_id="c1"),
        verb("tool_call", call_id="c2", name="t", input={}, **HOSTED),
        verb("tool_progress", call_id="c2", output="some"),
        verb("result", call_id="c2", output="all"),
    ]
    events = rejoin(before, [*replay, text("lo", key="t"), FINISH])

    assert [[]] * len(replay) == events[: len(replay)]
    assert record(replay)[3:] == events[len(replay)]
    assert [TextEnded(**A, text="Hello"), StepEnded(**A, finish_reason="stop")] == events[-1]


def test_an_input_that_had_ended_becomes_a_call():
    """
    A log that ends between the end of an input and its call gets the call.
    """
    verbs = [start(), verb("tool_input", call_id="c1", name="t", delta="{}"), verb("end_tool_input", call_id="c1")]
    before = record(verbs)[:-1]

    assert [ToolCalled(**C, name="t", input={})] == rejoin(before, verbs)[-1]


def test_a_call_of_the_provider_gets_its_result():
    """
    A result that was not recorded is emitted.
    """
    called = verb("tool_call", call_id="c1", name="t", input={}, **HOSTED)
    replay = [start(), called, verb("result", call_id="c1", output="x")]

    assert [[], [], [ToolSuccess(**C, output="x", **HOSTED)]] == rejoin(record([start(), called]), replay)


def test_progress_of_what_was_recorded_is_not_said_again():
    """
    Old progress of a call that has its result stays away.
    """
    verbs = [
        start(),
        verb("tool_call", call_id="c1", name="t", input={}, **HOSTED),
        verb("tool_progress", call_id="c1", output="some"),
        verb("result", call_id="c1", output="all"),
    ]

    assert [[]] * 4 == rejoin(record(verbs), verbs)


def test_what_the_app_answered_stays():
    """
    A call that the app answered is taken as answered when the step fails later.
    """
    called = verb("tool_call", call_id="c1", name="t", input={})
    before = [*record([start(), called]), ToolSuccess(**C, output="done")]
    replay = [start(), called, text("more"), verb("fail", error=error())]

    assert ["text.ended", "step.failed"] == [event.type for event in rejoin(before, replay)[-1]]


@pytest.mark.parametrize("act", [ToolSuccess(**C), ToolStarted(**C, attempt=1)], ids=["answered", "started"])
def test_a_contradiction_after_the_app_ran_a_call_fails_the_step(act):
    """
    A restart would void what a tool has done, so the message is closed as it is, once.
    """
    called = verb("tool_call", call_id="c1", name="t", input={})
    before = [*record([start(), called, text("Hex")]), act]
    events = rejoin(before, [start(), called, text("Hel"), text("lo"), verb("close")])
    failed = events[2][-1]

    assert TextEnded(**A, text="Hex", complete=False) == events[2][0]
    assert isinstance(failed, StepFailed)
    assert "protocol" == failed.error.kind
    assert "the replay differs from what was recorded, and the app has run a call already" == failed.error.message
    assert [[], []] == events[3:]


@pytest.mark.parametrize("act", [ToolSuccess(**C), ToolStarted(**C, attempt=1)], ids=["answered", "started"])
def test_a_step_is_not_restarted_after_its_replay_when_the_app_ran_a_call(act):
    """
    What the app did before the replay still counts when the provider starts over after it.
    """
    called = verb("tool_call", call_id="c1", name="t", input={})
    recorder = Recorder("a1", prior=fold([*record([start(), called]), act])["a1"])
    for each in (start(), called, text("more")):
        each(recorder)

    with pytest.raises(LocalProtocolError, match=r"step\.restarted is not allowed"):
        recorder.restart("again")


def test_a_replay_that_fails_early_closes_what_was_recorded():
    """
    When the replay fails before it has brought all that was recorded, the message is closed as it was.
    """
    before = record([start(), text("Hello")])

    assert [TextEnded(**A, text="Hello", complete=False), StepFailed(**A, error=error())] == (
        rejoin(before, [start(), text("Hel"), verb("fail", error=error())])[-1]
    )


def test_a_call_is_not_answered_after_its_replay_has_failed():
    """
    What closes a message answers its calls, so a result that the replay still brings is ignored.
    """
    called = verb("tool_call", call_id="c1", name="search", input={})
    recorder = Recorder("a1", prior=fold(record([start(), called, text("more")]), strict=True)["a1"])
    for each in [start(), called, verb("fail", error=error())]:
        each(recorder)

    assert [] == recorder.result("c1", error=error())


def test_a_replay_that_fails_late_is_an_ordinary_failure():
    """
    When the replay has caught up it fails like a step that never was cut.
    """
    before = record([start(), text("Hel")])

    assert [TextEnded(**A, text="Hello", complete=False), StepFailed(**A, error=error())] == (
        rejoin(before, [start(), text("Hello"), verb("fail", error=error())])[-1]
    )


def test_so_far_while_rejoining():
    """
    While nothing has gone on there is nothing so far.
    """
    recorder = Recorder("a1", prior=fold(record([start(), text("Hello")]))["a1"])
    recorder.start(origin())
    recorder.text("Hel")

    assert [] == recorder.so_far()


# -- a message that was closed by a cut


def test_a_closed_message_waits_for_all_that_was_recorded():
    """
    Nothing is emitted until the replay has brought as much, then the message starts over with all of it.
    """
    before = closed(record([start(), text("Hell")]))
    events = rejoin(before, HELLO)

    assert [[], []] == events[:2]
    assert [
        AFTER_CUT,
        TextStarted(**A),
        TextDelta(**A, offset=0, delta="Hel"),
        TextDelta(**A, offset=3, delta="lo"),
    ] == events[2]
    assert fold(record(HELLO)) == fold([*before, *(event for some in events for event in some)])


@pytest.mark.parametrize("end", [[], [verb("close")], [verb("fail", error=error())]], ids=["open", "closed", "failed"])
def test_a_replay_that_stops_early_changes_nothing(end):
    """
    A closed message whose replay does not reach what was recorded stays as it is.
    """
    before = closed(record([start(), text("Hello")]))

    assert [] == [event for some in rejoin(before, [start(), text("Hel"), *end]) for event in some]


def test_a_replay_that_ends_earlier_wins_when_it_is_whole():
    """
    A replay that comes to the provider's end replaces what was recorded, though it has less.
    """
    before = closed(record([start(), text("Hello, what")]))
    events = rejoin(before, HELLO)

    assert [[]] * 4 == events[:4]
    assert [DIFFERS, *record(HELLO)[1:]] == events[4]


def test_a_replay_that_differs_replaces_when_it_says_as_much():
    """
    A closed message is replaced by a replay that differs only once that has brought as much as there was.
    """
    before = closed(record([start(), text("Hello")]))
    events = rejoin(before, [start(), text("He"), text("y"), text("!!"), text("!")])

    assert [[], [], []] == events[:3]
    assert DIFFERS == events[3][0]


def test_a_result_counts_as_what_was_said():
    """
    A replay that differs has to bring as much as the call, its input and its result.
    """
    before = closed(
        record(
            [
                start(),
                verb("tool_input", call_id="c1", name="t", delta='{"q": 1}', **HOSTED),
                verb("end_tool_input", call_id="c1"),
                verb("result", call_id="c1", output="a"),
            ]
        )
    )

    # The part, eight characters and the result are ten; the text of the replay is a part, too.
    assert [[], []] == rejoin(before, [start(), text("x" * 8)])
    assert DIFFERS == rejoin(before, [start(), text("x" * 9)])[1][0]


def test_all_kinds_of_parts_pass():
    """
    A closed message with parts of every kind is passed by a replay of the same.
    """
    verbs = [
        start(),
        verb("opaque", state={"s": 1}),
        verb("reasoning", delta="Hm"),
        verb("end_reasoning", state={"s": 1}),
        verb("end_media", data=b"a", media_type="image/png"),
        verb("tool_call", call_id="c1", name="t", input='{"a":1}'),
        verb("tool_call", call_id="c2", name="t", input="["),
        verb("tool_call", call_id="h1", name="t", input={}, **HOSTED),
        verb("result", call_id="h1", output="x"),
        verb("tool_call", call_id="h2", name="t", input={}, **HOSTED),
        text("Hel"),
    ]
    before = closed(record(verbs))
    events = rejoin(before, verbs)

    assert [[]] * (len(verbs) - 1) == events[:-1]
    assert [AFTER_CUT, *record(verbs)[1:]] == events[-1]


def test_an_input_that_was_cut_passes():
    """
    An input that was cut is passed when the replay has written as much.
    """
    before = closed(record([start(), verb("tool_input", call_id="c1", name="t", delta='{"a"')]))
    replay = [
        start(),
        verb("tool_input", call_id="c1", name="t", delta="{"),
        verb("tool_input", call_id="c1", name="t", delta='"a":1}'),
    ]
    events = rejoin(before, replay)

    assert [[], []] == events[:2]
    assert [AFTER_CUT, ToolInputStarted(**C, name="t")] == events[2][:2]


def test_parts_that_were_cut_empty_pass_at_their_start():
    """
    A fragment of which nothing had come is passed by its start.
    """
    empty = [StepStarted(**A, origin=origin()), ReasoningStarted(**A), ToolInputStarted(**C, name="t")]
    replay = [start(), verb("begin", key="r", kind="reasoning"), verb("tool_input", call_id="c1", name="t")]

    assert AFTER_CUT == rejoin(closed(empty), replay)[-1][0]


def test_an_input_that_had_ended_passes_at_its_end():
    """
    A call that was cut between its input and `tool.called` is passed when its input has come.
    """
    verbs = [start(), verb("tool_input", call_id="c1", name="t", delta="{}"), verb("end_tool_input", call_id="c1")]

    assert AFTER_CUT == rejoin(closed(record(verbs)[:-1]), verbs)[-1][0]


@pytest.mark.parametrize("act", [ToolSuccess(**C), ToolStarted(**C, attempt=1)], ids=["answered", "started"])
def test_a_call_that_the_app_ran_keeps_a_closed_message(act):
    """
    A closed message with a call that the app started or answered is never started over.
    """
    called = verb("tool_call", call_id="c1", name="t", input={})
    before = closed([*record([start(), called]), act])

    assert [[], [], []] == rejoin(before, [start(), called, FINISH])


def test_a_closing_that_was_cut_is_a_cut():
    """
    A log that ends in the middle of a closing is treated as closed: nothing is emitted until all has passed.
    """
    before = record([start(), text("Hello", key="t"), verb("reasoning", delta="Hm", key="r")])
    half = [*before, *reconcile(fold(before))[:1]]
    replay = [start(), text("Hello", key="t"), verb("reasoning", delta="Hm", key="r"), FINISH]
    events = rejoin(half, replay)

    assert [[], []] == events[:2]
    assert AFTER_CUT == events[2][0]


@pytest.mark.parametrize("replay", [[FINISH], [verb("close")]], ids=["whole", "cut"])
def test_a_closing_that_was_cut_after_an_answer_is_finished(replay):
    """
    A half closed message that may not start over is closed for good.
    """
    called = verb("tool_call", call_id="c1", name="t", input={})
    before = [*record([start(), called, text("Hel")]), ToolSuccess(**C), TextEnded(**A, text="Hel", complete=False)]
    events = [event for some in rejoin(before, [start(), *replay]) for event in some]

    assert ["step.failed"] == [event.type for event in events]


def test_a_call_that_was_failed_by_a_cut_is_a_half_closed_message():
    """
    Calls that only a closing fails show that the message was being closed.
    """
    verbs = [start(), verb("tool_call", call_id="c1", name="t", input={}), text("a")]
    before = record(verbs[:2])
    half = [*before, ToolFailed(**C, error=error("interrupted"))]

    assert [[], [AFTER_CUT, *record(verbs[:2])[1:]]] == rejoin(half, verbs[:2])


# -- a message that completed


def test_a_completed_message_needs_nothing():
    """
    A replay of what is complete adds nothing, whatever its content.
    """
    other = [start(), text("other"), verb("close")]

    assert [[]] * len(HELLO) == rejoin(record(HELLO), HELLO)
    assert [[]] * 3 == rejoin(record(HELLO), other)


def test_an_opaque_item_and_a_reasoning_of_another_run():
    """
    The same parts in another order are a contradiction.
    """
    before = record([start(), verb("opaque", state={"s": 1}), verb("end_reasoning", text="Hm")])
    replay = [start(), verb("end_reasoning", text="Hm"), verb("opaque", state={"s": 1})]
    events = [event for some in rejoin(before, replay) for event in some]

    assert [
        DIFFERS,
        ReasoningStarted(**A),
        ReasoningEnded(**A, text="Hm"),
        OpaqueReceived(**A, state={"s": 1}),
    ] == events
    assert ToolInputEnded not in {type(event) for event in events}


def test_a_completed_message_does_not_start_over():
    """
    A replay that fails and restarts leaves a message alone that is complete.
    """
    again = [start(), verb("fail", error=error()), verb("restart", reason="again"), text("other")]

    assert [[]] * 4 == rejoin(record(HELLO), again)


def test_what_is_new_of_old_calls_waits():
    """
    What the replay adds to calls that were recorded is held back until all has passed, and then emitted.
    """
    hosted = ToolCalled(message_id="a1", call_id="h1", name="t", input={}, **HOSTED)
    before = [
        *record([start(), verb("tool_input", call_id="c1", name="t", delta='{"a"')]),
        ToolInputStarted(message_id="a1", call_id="c2", name="t"),
        ToolInputEnded(message_id="a1", call_id="c2", text="{}"),
        hosted,
        *record([start(), text("Hel")])[1:],
    ]
    replay = [
        start(),
        verb("tool_input", call_id="c1", name="t", delta="{"),
        verb("tool_input", call_id="c1", name="t", delta='"a":1}'),
        verb("end_tool_input", call_id="c1"),
        verb("tool_call", call_id="c2", name="t", input="{}"),
        verb("tool_call", call_id="h1", name="t", input={}, **HOSTED),
        verb("result", call_id="h1", output="x"),
    ]
    events = rejoin(before, [*replay, text("Hel")])

    assert [[]] * len(replay) == events[:-1]
    assert [
        ToolInputDelta(**C, offset=4, delta=":1}"),
        ToolInputEnded(**C, text='{"a":1}'),
        ToolCalled(**C, name="t", input={"a": 1}),
        ToolCalled(message_id="a1", call_id="c2", name="t", input={}),
        ToolSuccess(message_id="a1", call_id="h1", output="x", **HOSTED),
    ] == events[-1]


def test_calls_that_were_cut_may_have_an_answer_now():
    """
    A result in the replay of a call that was cut is not a contradiction.
    """
    called = verb("tool_call", call_id="h1", name="t", input={}, **HOSTED)
    answered = verb("result", call_id="h1", output="x")
    before = closed(record([start(), called, text("Hel")]))

    assert AFTER_CUT == rejoin(before, [start(), called, answered, text("Hel")])[-1][0]


def test_inputs_that_were_cut_may_end_now():
    """
    The end of an input that was cut passes it when it holds at least as much.
    """
    before = closed(record([start(), verb("tool_input", call_id="c1", name="t", delta='{"a"')]))
    replay = [
        start(),
        verb("tool_input", call_id="c1", name="t", input={"a": 1}),
        verb("end_tool_input", call_id="c1"),
        text("Hi"),
    ]

    assert AFTER_CUT == rejoin(before, replay)[-1][0]


def test_an_answer_with_other_state():
    """
    What is sealed in it has to go back: another one is another answer, and the step starts over.
    """
    called = verb("tool_call", call_id="h1", name="t", input={}, **HOSTED)
    first, second = (verb("result", call_id="h1", output="x", state={"sealed": each}) for each in ("A", "B"))
    before = record([start(), called, first, text("Hel")])
    same, events = (
        [event for some in rejoin(before, [start(), called, each, text("Hello")]) for event in some]
        for each in (first, second)
    )

    assert ("text.delta", "step.restarted") == (same[0].type, events[0].type)
    assert "B" == fold([*before, *events]).last.tool_calls[0].result_state["sealed"]


def test_an_answer_that_the_replay_has_too():
    """
    A call that the app answered may be answered in the replay as well.
    """
    called = verb("tool_call", call_id="c1", name="t", input={})
    before = [*record([start(), called]), ToolSuccess(**C, output="x"), *record([start(), text("Hel")])[1:]]
    replay = [start(), called, verb("result", call_id="c1", output="x"), text("Hello")]

    assert [[], [], [], [TextDelta(**A, offset=3, delta="lo")]] == rejoin(before, replay)


@pytest.mark.parametrize("cut", [1, 2, 3, 4, 5])
def test_an_answer_behind_the_cut_forbids_a_restart(cut):
    """
    A call of the app that the replay answers has run, so the step cannot start over, wherever it was cut.
    """
    verbs = [start(), verb("tool_input", call_id="c1", name="search"), verb("result", call_id="c1")]
    events = record(verbs)
    recorder = Recorder("a1", prior=fold(events[:cut])["a1"])
    for each in verbs:
        each(recorder)

    with pytest.raises(LocalProtocolError, match=r"step\.restarted is not allowed"):
        recorder.restart("again")


@pytest.mark.parametrize("failed", [False, True])
def test_an_answer_that_was_recorded_before_answers_its_own_call(failed):
    """
    Of two calls of one id the replay's answer belongs to the one that was answered before, and adds nothing.
    """

    def perform(recorder):
        return [
            *recorder.start(origin()),
            *recorder.tool_call("c1", "search", {}),
            *recorder.tool_call("c1", "search", {}),
            *(recorder.result("c1", error=error("tool")) if failed else recorder.result("c1")),
            *recorder.finish("stop"),
        ]

    events = perform(Recorder("a1"))

    for cut in range(1, len(events)):
        before = fold(events[:cut])
        new = perform(Recorder("a1", prior=before.last))

        assert [] == find_problems(new, start=before)
        assert fold(events) == fold(new, start=before)


def test_an_answer_that_comes_with_its_call():
    """
    A result that waits for its call is not given where the app has answered that call.
    """
    begun, ended = verb("tool_input", call_id="c1", name="t", delta="{}"), verb("end_tool_input", call_id="c1")
    before = [*record([start(), begun, ended]), ToolSuccess(**C, output="x")]

    assert [[], [], [], []] == rejoin(before, [start(), begun, verb("result", call_id="c1", output="y"), ended])
