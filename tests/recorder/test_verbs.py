"""
Each verb: the events it causes, and what it opens or ends on the way.
"""

import pytest

from assistant_events import (
    Citation,
    ErrorInfo,
    MediaDelta,
    MediaEnded,
    MediaStarted,
    OpaqueReceived,
    ReasoningDelta,
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
    ToolProgress,
    ToolSuccess,
    Usage,
    fold,
)
from assistant_events.errors import LocalProtocolError
from assistant_events.recorder import Recorder
from assistant_events.testing import error, origin, run
from assistant_events.values import State
from assistant_events.values.json_values import LazyState, wrap

A = {"message_id": "a1"}
C = {"message_id": "a1", "call_id": "c1"}
ERRORS = {
    "finished": "the provider ended its answer without a result of this call",
    "broken off": "the provider's answer ended before a result of this call",
    "failed": "the step failed before this call was answered",
}


def failed(call_id, why, kind="interrupted", **fields):
    info = ErrorInfo(kind=kind, message=ERRORS[why])
    return ToolFailed(message_id="a1", call_id=call_id, error=info, **fields)


# -- the step


def test_start():
    """
    `start` records who answers, and what is known of the response.
    """
    recorder = Recorder("a1")

    assert not recorder.started
    assert [StepStarted(**A, origin=origin(), run=run(), state={"s": 1})] == recorder.start(origin(), run(), {"s": 1})
    assert recorder.started
    assert not recorder.terminal


def test_finish(recorder):
    """
    `finish` ends the step with all that the provider reports.
    """
    expected = StepEnded(
        **A, finish_reason="length", raw_finish_reason="MAX", usage=Usage(output_tokens=1), run=run(), state={"s": 1}
    )

    assert [expected] == recorder.finish("length", "MAX", Usage(output_tokens=1), run(), {"s": 1})
    assert recorder.terminal


def test_finish_ends_what_is_open(recorder):
    """
    Inputs become calls, fragments end as complete.
    """
    recorder.reasoning("Hm", key="r")
    recorder.text("Hi", key="t")
    recorder.tool_input("c1", "search", '{"a":1}')

    assert [
        ToolInputEnded(**C, text='{"a":1}'),
        ToolCalled(**C, name="search", input={"a": 1}),
        ReasoningEnded(**A, text="Hm"),
        TextEnded(**A, text="Hi"),
        StepEnded(**A, finish_reason="tool-calls"),
    ] == recorder.finish("tool-calls")


def test_calls_of_the_provider_wait_across_a_pause(recorder):
    """
    A step that pauses leaves calls of the provider without a result, which may come after its end.
    """
    recorder.tool_call("c1", "search", {}, provider_executed=True)
    ended = recorder.finish("pause")
    [found] = recorder.result("c1", "found")

    assert [StepEnded(**A, finish_reason="pause")] == ended
    assert ("tool.success", "c1") == (found.type, found.call_id)


@pytest.mark.parametrize(
    ("finish", "kind", "why"),
    [
        ("stop", "no-result", "finished"),
        ("tool-calls", "no-result", "finished"),
        ("length", "interrupted", "broken off"),
        ("content-filter", "interrupted", "broken off"),
        ("other", "interrupted", "broken off"),
    ],
)
def test_finish_fails_calls_of_the_provider(recorder, finish, kind, why):
    """
    A call of the provider that has no result fails: as `no-result` when the answer is complete, else as cut.
    """
    recorder.tool_call("c1", "search", {}, provider_executed=True)
    recorder.tool_call("c2", "fetch", {})

    assert [failed("c1", why, kind, provider_executed=True), StepEnded(**A, finish_reason=finish)] == recorder.finish(
        finish
    )


def test_fail(recorder):
    """
    `fail` records the reason, and what is known besides.
    """
    expected = StepFailed(**A, error=error(), usage=Usage(output_tokens=1), run=run(), state={"s": 1})

    assert [expected] == recorder.fail(error(), Usage(output_tokens=1), run(), {"s": 1})
    assert recorder.terminal


def test_fail_cuts_what_is_open(recorder):
    """
    What is open ends as incomplete, and every call without an answer fails.
    """
    recorder.tool_call("c0", "done", {})
    recorder.result("c0")
    recorder.tool_call("c1", "search", {})
    recorder.text("Hel", key="t")
    recorder.media(b"\x89", "image/png", key="m")
    recorder.tool_input("c2", "fetch", '{"a', provider_executed=True, state={"s": 1})

    assert [
        ToolInputEnded(message_id="a1", call_id="c2", text='{"a', complete=False, state={"s": 1}),
        TextEnded(**A, text="Hel", complete=False),
        MediaEnded(**A, media_type="image/png", data=b"\x89", complete=False),
        failed("c1", "failed"),
        failed("c2", "failed", provider_executed=True),
        StepFailed(**A, error=error()),
    ] == recorder.fail(error())


def test_close_fails_as_interrupted(recorder):
    """
    `close` without a reason records that the stream stopped.
    """
    cut = ErrorInfo(kind="interrupted", message="the stream stopped before its end")

    assert [StepFailed(**A, error=cut)] == recorder.close()


def test_close_with_a_reason(recorder):
    """
    `close` passes on why.
    """
    assert [StepFailed(**A, error=error("network"))] == recorder.close(error("network"))


def test_close_of_what_is_over_does_nothing(recorder):
    """
    A step that has ended, or never began, needs no closing.
    """
    recorder.finish("stop")

    assert [] == recorder.close()
    assert [] == Recorder("a1").close()


def test_restart(recorder):
    """
    `restart` voids what was received, open or not, and the step continues.
    """
    recorder.text("old")
    recorder.tool_input("c1", "search", "{")

    expected = StepRestarted(**A, reason="again", origin=origin(), run=run(), state={"s": 1})

    assert [expected] == recorder.restart("again", origin(), run(), {"s": 1})
    assert [TextStarted(**A), TextDelta(**A, offset=0, delta="new")] == recorder.text("new", key="t")
    assert [ToolInputStarted(**C, name="search")] == recorder.tool_input("c1", "search")


def test_restart_counts_made_ids_anew(recorder):
    """
    Ids that are made start over with the step.
    """
    recorder.tool_call(None, "search", {})
    recorder.restart("again")

    assert ["call-1"] == [event.call_id for event in recorder.tool_call(None, "search", {})]


def test_restart_of_a_failed_step(recorder):
    """
    A step that failed may start over.
    """
    recorder.fail(error())
    recorder.restart("again")

    assert not recorder.terminal


def test_the_sink_has_everything_in_order():
    """
    What verbs return is also in the sink.
    """
    sink = []
    recorder = Recorder("a1", sink=sink)
    events = [*recorder.start(origin()), *recorder.text("Hi"), *recorder.finish("stop")]

    assert events == sink


# -- text, reasoning, media


@pytest.mark.parametrize(
    ("kind", "started", "delta", "ended"),
    [
        ("text", TextStarted, TextDelta, TextEnded),
        ("reasoning", ReasoningStarted, ReasoningDelta, ReasoningEnded),
    ],
)
class TestTexts:
    """
    Text and reasoning behave alike.
    """

    def test_the_first_delta_opens(self, recorder, kind, started, delta, ended):
        """
        A delta opens what is not open, and offsets count on.
        """
        add = getattr(recorder, kind)

        assert [started(**A), delta(**A, offset=0, delta="He")] == add("He")
        assert [delta(**A, offset=2, delta="llo")] == add("llo")

    def test_begin(self, recorder, kind, started, delta, ended):
        """
        A fragment may be opened before anything of it has come; again it does nothing.
        """
        assert [started(**A)] == recorder.begin(None, kind)
        assert [] == recorder.begin(None, kind)
        assert [delta(**A, offset=0, delta="Hi")] == getattr(recorder, kind)("Hi")

    def test_end(self, recorder, kind, started, delta, ended):
        """
        The end has all of the text, and the state.
        """
        getattr(recorder, kind)("He")
        getattr(recorder, kind)("llo")

        assert [ended(**A, text="Hello", state={"s": 1})] == getattr(recorder, f"end_{kind}")({"s": 1})

    def test_the_end_may_say_the_text(self, recorder, kind, started, delta, ended):
        """
        Text that the provider repeats at the end wins over the deltas, empty text too.
        """
        getattr(recorder, kind)("Hello")

        assert [ended(**A, text="")] == getattr(recorder, f"end_{kind}")(text="")

    def test_the_state_of_the_start_stays(self, recorder, kind, started, delta, ended):
        """
        What was known when the fragment opened is its state unless the end has another.
        """
        getattr(recorder, kind)("Hello", state={"s": 1})

        assert [ended(**A, text="Hello", state={"s": 1})] == getattr(recorder, f"end_{kind}")()

    @pytest.mark.parametrize("lazy", ["start", "kept", "end"])
    @pytest.mark.parametrize("item_key", [None, "i"])
    def test_states_are_frozen_with_lazy_ones(self, kind, started, delta, ended, lazy, item_key):
        """
        A state that is frozen late makes the state that it is merged into one of those, and nothing in it stays plain.
        """
        given = {
            when: wrap(LazyState, {when: [{"a": 1}]}) if when == lazy else State({when: [{"a": 1}]})
            for when in ("start", "kept", "end")
        }
        recorder = Recorder("a1", item_key=item_key)
        recorder.start(origin())
        getattr(recorder, kind)("Hello", key=1, state=given["start"])
        recorder.keep(1, State(kept=["first"]))
        recorder.keep(1, given["kept"])
        recorder.keep(1, State(kept=["last"]))
        (event,) = getattr(recorder, f"end_{kind}")(given["end"], key=1)

        assert event.state["start"] == event.state["end"] == ({"a": 1},)
        assert event.state["kept"] == ("first", {"a": 1}, "last")

    def test_state_alone_is_kept(self, recorder, kind, started, delta, ended):
        """
        A state without any text makes an empty fragment.
        """
        assert [started(**A), ended(**A, text="", state={"s": 1})] == getattr(recorder, f"end_{kind}")({"s": 1})

    def test_text_that_came_whole(self, recorder, kind, started, delta, ended):
        """
        Text that only the end has makes a fragment without deltas.
        """
        assert [started(**A), ended(**A, text="Hi")] == getattr(recorder, f"end_{kind}")(text="Hi")

    def test_an_end_of_nothing_is_nothing(self, recorder, kind, started, delta, ended):
        """
        An end without text and state, when nothing is open, causes nothing.
        """
        assert [] == getattr(recorder, f"end_{kind}")()

    def test_an_empty_delta_is_nothing(self, recorder, kind, started, delta, ended):
        """
        An empty delta opens nothing and adds nothing.
        """
        assert [] == getattr(recorder, kind)("")

    def test_a_pair_that_is_cut(self, recorder, kind, started, delta, ended):
        """
        The first half of a surrogate pair waits for the second.
        """
        add = getattr(recorder, kind)

        assert [started(**A), delta(**A, offset=0, delta="a")] == add("a\ud83d")
        assert [delta(**A, offset=1, delta="😀b")] == add("\ude00b")

    def test_a_fragment_that_is_half_a_pair(self, recorder, kind, started, delta, ended):
        """
        A fragment whose first delta is half a pair is open without a delta.
        """
        assert [started(**A)] == getattr(recorder, kind)("\ud83d")

    @pytest.mark.parametrize(
        ("pieces", "text"),
        [
            pytest.param(["\ud83d"], "\ufffd", id="at the end"),
            pytest.param(["\ud83d", "x"], "\ufffdx", id="before a letter"),
            pytest.param(["\ud83d", "\ud83d", "\ude00"], "\ufffd😀", id="before a pair"),
            pytest.param(["\ude00"], "\ufffd", id="second half"),
        ],
    )
    def test_half_a_pair(self, recorder, kind, started, delta, ended, pieces, text):
        """
        A half that never finds its partner becomes U+FFFD, in the deltas and in the end.
        """
        events = [event for piece in pieces for event in getattr(recorder, kind)(piece)]
        events += getattr(recorder, f"end_{kind}")()

        assert text == "".join([event.delta for event in events if isinstance(event, delta)])
        assert ended(**A, text=text) == events[-1]

    def test_the_whole_text_is_valid(self, recorder, kind, started, delta, ended):
        """
        Text of the end is cleaned as deltas are.
        """
        assert "😀\ufffd" == getattr(recorder, f"end_{kind}")(text="\ud83d\ude00\ud83d")[-1].text


def test_citations(recorder):
    """
    A text ends with its sources.
    """
    recorder.text("Hi")
    source = Citation(url="https://x.test", start=0, end=2)

    assert [TextEnded(**A, text="Hi", citations=[source])] == recorder.end_text(citations=[source])


@pytest.mark.parametrize(
    ("place", "kept"), [((0, 2), (0, 2)), ((1, 3), (None, None)), ((3, None), (None, None)), ((None, 2), (None, 2))]
)
def test_places_outside_of_the_text(recorder, place, kept):
    """
    A citation whose place is not in the text, in code points, has none.
    """
    start, end = place
    recorder.text("\N{GRINNING FACE}")
    recorder.keep(None, citations=[Citation(url="https://u.example", start=start, end=end)])
    recorder.text("i")
    [ended] = recorder.end_text()

    assert [("https://u.example", *kept)] == [(each.url, each.start, each.end) for each in ended.citations]


def test_media_in_pieces(recorder):
    """
    Bytes open a media item and add to it; its end has all of them.
    """
    png = {"message_id": "a1", "media_type": "image/png"}

    assert [MediaStarted(**png), MediaDelta(**A, offset=0, delta=b"ab")] == recorder.media(b"ab", "image/png")
    assert [MediaDelta(**A, offset=2, delta=b"c")] == recorder.media(b"c", "image/png")
    assert [] == recorder.media(b"", "image/png")
    assert [MediaEnded(**png, data=b"abc", state={"s": 1})] == recorder.end_media({"s": 1})


@pytest.mark.parametrize("where", [{"data": b"abc"}, {"uri": "https://x.test/1"}])
def test_a_medium_that_came_whole(recorder, where):
    """
    A media item may be recorded by its end alone.
    """
    png = {"message_id": "a1", "media_type": "image/png"}

    assert [MediaStarted(**png), MediaEnded(**png, **where)] == recorder.end_media(media_type="image/png", **where)


def test_the_end_of_a_medium_wins(recorder):
    """
    Bytes or a place of the end replace the pieces.
    """
    recorder.media(b"ab", "image/png")

    assert [MediaEnded(**A, media_type="image/png", uri="x:1")] == recorder.end_media(uri="x:1")


def test_a_medium_of_which_nothing_came_is_incomplete(recorder):
    """
    An end without bytes and without a place is not a complete media item.
    """
    ended = recorder.end_media(media_type="image/png")[-1]

    assert MediaEnded(**A, media_type="image/png", complete=False) == ended


def test_a_medium_that_cannot_be_used(recorder):
    """
    The adapter may mark what came as incomplete.
    """
    recorder.media(b"ab", "image/png")

    assert [MediaEnded(**A, media_type="image/png", data=b"ab", complete=False)] == recorder.end_media(complete=False)


def test_opaque(recorder):
    """
    An item without a word of ours is kept, and ends what is open without a key.
    """
    recorder.text("Hi")

    assert [TextEnded(**A, text="Hi"), OpaqueReceived(**A, state={"raw": 1})] == recorder.opaque({"raw": 1})


# -- channels without a key


def test_a_change_of_channel_ends_what_is_open(recorder):
    """
    Without keys only the kind distinguishes fragments, so another kind ends the open one.
    """
    recorder.text("a")

    assert [TextEnded(**A, text="a"), ReasoningStarted(**A), ReasoningDelta(**A, offset=0, delta="b")] == (
        recorder.reasoning("b")
    )
    assert [ReasoningEnded(**A, text="b"), TextStarted(**A), TextDelta(**A, offset=0, delta="c")] == recorder.text("c")


def test_a_call_ends_what_is_open_without_a_key(recorder):
    """
    The start of a call is a change of channel too; more of its input is not.
    """
    recorder.text("a")

    assert [TextEnded(**A, text="a"), ToolInputStarted(**C, name="t")] == recorder.tool_input("c1", "t")
    recorder.text("b")
    assert [ToolInputDelta(**C, offset=0, delta="{")] == recorder.tool_input("c1", "t", "{")


def test_a_state_of_another_kind_is_a_change_of_channel(recorder):
    """
    A signature that comes as an empty reasoning follows the text before it.
    """
    recorder.text("a")

    assert ["text.ended", "reasoning.started", "reasoning.ended"] == [
        event.type for event in recorder.end_reasoning({"s": 1})
    ]


def test_keyed_fragments_of_different_kinds_overlap(recorder):
    """
    With keys a change of kind ends nothing.
    """
    recorder.reasoning("a", key="r")

    assert [TextStarted(**A), TextDelta(**A, offset=0, delta="b")] == recorder.text("b", key="t")
    assert [ReasoningDelta(**A, offset=1, delta="c")] == recorder.reasoning("c", key="r")


# -- calls


def test_an_input_streams(recorder):
    """
    An input is begun, added to, ended and parsed.
    """
    started = ToolInputStarted(**C, name="search", provider_executed=True)

    assert [started] == recorder.tool_input("c1", "search", provider_executed=True)
    assert [ToolInputDelta(**C, offset=0, delta='{"a"')] == recorder.tool_input("c1", "search", '{"a"')
    assert [ToolInputDelta(**C, offset=4, delta=":1}")] == recorder.tool_input("c1", "search", ":1}")
    assert [
        ToolInputEnded(**C, text='{"a":1}', state={"s": 1}),
        ToolCalled(**C, name="search", input={"a": 1}, provider_executed=True),
    ] == recorder.end_tool_input("c1", {"s": 1})


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("{", "the input is not valid JSON: expecting property name enclosed in double quotes at character 1"),
        ("[1]", "the input is not a JSON object but an array"),
        ('"a"', "the input is not a JSON object but a string"),
        ("1", "the input is not a JSON object but a number"),
        ("1.5", "the input is not a JSON object but a number"),
        ("true", "the input is not a JSON object but a boolean"),
        ("null", "the input is not a JSON object but null"),
        ('{"a":NaN}', "the input is not valid JSON: NaN"),
        ("[" * 300 + "]" * 300, "the input is nested deeper than 200 levels"),
    ],
)
def test_an_input_that_is_no_object(recorder, raw, reason):
    """
    What is not a JSON object fails the call with the reason and keeps the raw text; the step continues.
    """
    recorder.tool_input("c1", "search", raw)
    invalid = ToolFailed(**C, error=ErrorInfo(kind="invalid-input", message=reason))

    assert [ToolInputEnded(**C, text=raw), invalid] == recorder.end_tool_input("c1")
    assert not recorder.terminal


def test_an_input_of_white_space_is_an_empty_object(recorder):
    """
    A call without arguments has no input text on every wire.
    """
    recorder.tool_input("c1", "search", " \n")

    assert [ToolInputEnded(**C, text=" \n"), ToolCalled(**C, name="search", input={})] == recorder.end_tool_input("c1")


MADE = [ToolInputEnded(**C, text="{}"), ToolCalled(**C, name="search", input={})]
CUT = [
    ToolInputEnded(**C, text="", complete=False),
    ToolFailed(**C, error=ErrorInfo(kind="invalid-input", message="the provider marked the input as incomplete")),
]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        *(("stop", MADE), ("tool-calls", MADE), ("pause", MADE), ("other", MADE)),
        *(("length", CUT), ("content-filter", CUT)),
    ],
)
def test_an_input_of_nothing_at_the_end(recorder, reason, expected):
    """
    It is an empty object, unless the answer was cut: then nothing of the input has come, and the call is not to be run.
    """
    recorder.tool_input("c1", "search")

    assert [] == recorder.end_tool_input("c1")
    assert ["c1"] == recorder.unanswered(provider_executed=False)
    assert expected == recorder.finish(reason)[:-1]


@pytest.mark.parametrize(("reason", "expected"), [("stop", MADE), ("length", CUT), ("content-filter", CUT)])
def test_an_input_of_nothing_that_has_no_end(recorder, reason, expected):
    """
    It ends with the answer, in the same way.
    """
    recorder.tool_input("c1", "search")

    assert expected == recorder.finish(reason)[:-1]


def test_an_input_of_nothing_before_more(recorder):
    """
    What follows shows that it was whole, also where the answer is cut later.
    """
    recorder.tool_input("c1", "search")
    recorder.end_tool_input("c1")
    events = recorder.text("So")

    assert MADE == events[:2]
    assert [] == [event for event in recorder.finish("length") if event.type.startswith("tool")]


def test_an_input_that_comes_after_its_end(recorder):
    """
    It is the input, as long as nothing else has come.
    """
    recorder.tool_input("c1", "search")
    recorder.end_tool_input("c1")
    recorder.tool_input("c1", None, '{"a":1}')

    assert [ToolInputEnded(**C, text='{"a":1}'), ToolCalled(**C, name="search", input={"a": 1})] == (
        recorder.end_tool_input("c1")
    )


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        pytest.param("", '{"a":1}', id="without text"),
        pytest.param("rm -r", "rm -r", id="free text"),
        pytest.param('{"b":2}', '{"b":2}', id="text that is an object"),
    ],
)
def test_an_input_that_the_end_brings(recorder, raw, text):
    """
    An input that is not the JSON text that came wins over that text, and leaves it as it is.
    """
    recorder.tool_input("c1", "search", raw)

    assert [ToolInputEnded(**C, text=text), ToolCalled(**C, name="search", input={"a": 1})] == (
        recorder.end_tool_input("c1", input={"a": 1})
    )


@pytest.mark.parametrize(
    ("raw", "text", "input"),
    [
        pytest.param("", '{"a":1}', {"a": 1}, id="without text"),
        pytest.param('{"b":2}', '{"b":2}', {"b": 2}, id="with text"),
        pytest.param('{"b":', '{"a":1}', {"a": 1}, id="with text that is no object"),
    ],
)
def test_an_input_that_the_start_brings(recorder, raw, text, input):
    """
    An object that came with the start is the input where no text comes, or none of an object, also behind what follows.
    """
    recorder.tool_input("c1", "search", input={"a": 1})
    recorder.tool_input("c1", delta=raw)
    ended = recorder.end_tool_input() + recorder.text("Hi")

    assert [ToolInputEnded(**C, text=text), ToolCalled(**C, name="search", input=input)] == ended[:2]


@pytest.mark.parametrize(
    ("arguments", "complete", "reason"),
    [
        pytest.param({"complete": False}, False, "the provider marked the input as incomplete", id="incomplete"),
        pytest.param({"fault": "patches"}, True, "patches", id="a fault"),
    ],
)
def test_an_input_that_cannot_be_used(recorder, arguments, complete, reason):
    """
    An input that the provider marked as incomplete, or that the adapter cannot read, fails the call.
    """
    recorder.tool_input("c1", "search", "{}")
    invalid = ToolFailed(**C, error=ErrorInfo(kind="invalid-input", message=reason))

    assert [ToolInputEnded(**C, text="{}", complete=complete), invalid] == recorder.end_tool_input("c1", **arguments)


def test_a_pair_that_is_cut_in_an_input(recorder):
    """
    Inputs join surrogate pairs as texts do, and replace a half that stays alone.
    """
    recorder.tool_input("c1", "search", '"\ud83d')

    assert [ToolInputDelta(**C, offset=1, delta="😀")] == recorder.tool_input("c1", "search", "\ude00")
    assert [] == recorder.tool_input("c1", "search", "\ud83d")
    assert '"😀\ufffd' == recorder.end_tool_input("c1")[1].text


def test_a_call_that_came_whole(recorder):
    """
    A call with its arguments is one event.
    """
    expected = ToolCalled(**C, name="search", input={"a": 1}, provider_executed=True, state={"s": 1})

    assert [expected] == recorder.tool_call("c1", "search", {"a": 1}, provider_executed=True, state={"s": 1})


def test_a_call_that_came_whole_as_text(recorder):
    """
    A call with its arguments as JSON text is parsed like one that streamed.
    """
    assert [
        ToolInputStarted(**C, name="search"),
        ToolInputDelta(**C, offset=0, delta="{}"),
        ToolInputEnded(**C, text="{}", state={"s": 1}),
        ToolCalled(**C, name="search", input={}),
    ] == recorder.tool_call("c1", "search", "{}", state={"s": 1})


def test_a_call_that_came_whole_as_empty_text(recorder):
    """
    Empty text is an input without arguments.
    """
    assert ["tool.input.started", "tool.input.ended", "tool.called"] == [
        event.type for event in recorder.tool_call("c1", "search", "")
    ]


def test_a_whole_call_is_another_than_the_open_one(recorder):
    """
    A call that came whole does not go into an input of the same id that is still open.
    """
    recorder.tool_input("c1", "search", '{"a"')
    events = recorder.tool_call("c1", "fetch", "{}")

    assert {"c1#2"} == {event.call_id for event in events}
    assert [ToolInputDelta(**C, offset=4, delta=":1}")] == recorder.tool_input("c1", "search", ":1}")


def test_answers(recorder):
    """
    Progress, success and failure are those of the call, and record who ran it.
    """
    recorder.tool_call("c1", "search", {}, provider_executed=True)
    recorder.tool_call("c2", "fetch", {})

    assert [ToolProgress(**C, output="some")] == recorder.tool_progress("c1", "some")
    assert [ToolSuccess(**C, output="all", provider_executed=True, state={"s": 1})] == (
        recorder.result("c1", "all", state={"s": 1})
    )
    assert [ToolFailed(message_id="a1", call_id="c2", error=error(), output="half", state={"s": 1})] == (
        recorder.result("c2", "half", error(), state={"s": 1})
    )


@pytest.mark.parametrize("why", [None, error()], ids=["success", "failure"])
def test_a_result_may_name_the_provider_as_its_runner(recorder, why):
    """
    Who ran a call may become known with its result, and is never taken back.
    """
    recorder.tool_call("c1", "search", {})
    recorder.tool_call("c2", "search", {}, provider_executed=True)

    assert recorder.result("c1", error=why, provider_executed=True)[0].provider_executed
    assert recorder.result("c2", error=why, provider_executed=False)[0].provider_executed


def test_answers_after_the_end_of_the_step(recorder):
    """
    Calls that the app runs are answered after the step has ended.
    """
    recorder.tool_call("c1", "search", {})
    recorder.finish("tool-calls")

    assert [ToolProgress(**C, output=1)] == recorder.tool_progress("c1", 1)
    assert [ToolSuccess(**C, output=2)] == recorder.result("c1", 2)


def test_unanswered(recorder):
    """
    Calls that wait for an answer are named, by who runs them.
    """
    recorder.tool_call("c1", "a", {})
    recorder.tool_call("c2", "b", {}, provider_executed=True)
    recorder.tool_call("c3", "c", {})
    recorder.tool_input("c4", "d")
    recorder.result("c1")

    assert ["c3"] == recorder.unanswered(provider_executed=False)
    assert ["c2"] == recorder.unanswered(provider_executed=True)


# -- ids


@pytest.mark.parametrize("missing", [None, ""])
def test_a_missing_id_is_made(recorder, missing):
    """
    Calls without an id are `call-1`, `call-2`; the provider's own value is in the state.
    """
    first = recorder.tool_call(missing, "search", {}, state={"s": 1})
    second = recorder.tool_call(missing, "search", {})

    assert ["call-1", "call-2"] == [event.call_id for event in (*first, *second)]
    assert {"s": 1, "id": missing} == first[0].state


def test_a_made_id_steps_aside(recorder):
    """
    An id that the provider uses is not made.
    """
    recorder.tool_call("call-1", "search", {})

    assert ["call-2"] == [event.call_id for event in recorder.tool_call(None, "search", {})]


def test_an_id_that_is_used_again(recorder):
    """
    The second call of an id gets a suffix, and keeps the provider's id in its state.
    """
    events = [event for _ in range(3) for event in recorder.tool_call("c1", "search", {})]

    assert [("c1", {}), ("c1#2", {"id": "c1"}), ("c1#3", {"id": "c1"})] == [
        (event.call_id, event.state) for event in events
    ]


def test_a_suffix_steps_aside(recorder):
    """
    A suffix that the provider itself uses is not made.
    """
    recorder.tool_call("c1", "search", {})
    recorder.tool_call("c1#2", "search", {})

    assert ["c1#3"] == [event.call_id for event in recorder.tool_call("c1", "search", {})]


def test_the_providers_id_survives_another_state(recorder):
    """
    A state that comes at the end of the input does not hide the provider's id, unless it has one itself.
    """
    recorder.tool_input(None, "search", "{}", key=1)
    recorder.tool_input(None, "search", "{}", key=2)

    assert {"id": None, "s": 1} == recorder.end_tool_input(key=1, state={"s": 1})[0].state
    assert {"id": "x"} == recorder.end_tool_input(key=2, state={"id": "x"})[0].state


def test_without_an_id_the_newest_input_is_meant(recorder):
    """
    Input for `None` continues what was begun last.
    """
    recorder.tool_input("c1", "a", "{")
    recorder.tool_input("c2", "b", "{")

    assert ["c2"] == [event.call_id for event in recorder.tool_input(None, "b", "}")]
    recorder.end_tool_input()
    assert ["c1"] == [event.call_id for event in recorder.tool_input(None, "a", "}")]


def test_an_id_whose_input_has_ended_begins_anew(recorder):
    """
    More input under an id that is done is another call.
    """
    recorder.tool_input("c1", "a", "{}")
    recorder.end_tool_input("c1")

    assert ["c1#2"] == [event.call_id for event in recorder.tool_input("c1", "a")]


def test_an_input_is_found_by_our_id(recorder):
    """
    The id that we made addresses the call as well.
    """
    recorder.tool_input("", "a", "{")

    assert ["call-1"] == [event.call_id for event in recorder.tool_input("call-1", "a", "}")]


def test_keys_tell_inputs_apart(recorder):
    """
    With keys several inputs of one id may be open.
    """
    recorder.tool_input("c1", "a", "{", key=0)
    recorder.tool_input("c1", "a", "[", key=1)

    assert ["c1"] == [event.call_id for event in recorder.tool_input("c1", "a", "}", key=0)]
    assert ["c1#2"] == [event.call_id for event in recorder.tool_input("c1", "a", "]", key=1)]
    assert ["c1", "c1"] == [event.call_id for event in recorder.end_tool_input(key=0)]


def test_answers_go_to_the_oldest_call_of_an_id(recorder):
    """
    Two calls of one id are answered in their order; by our id or a key each can be named.
    """
    for key in range(3):
        recorder.tool_call("c1", "search", {}, key=key)

    assert ["c1#3"] == [event.call_id for event in recorder.result("c1#3")]
    assert ["c1"] == [event.call_id for event in recorder.result("c1")]
    assert ["c1#2"] == [event.call_id for event in recorder.tool_progress(None, key=1)]
    assert ["c1#2"] == [event.call_id for event in recorder.result("c1")]


def test_a_key_that_is_unknown_leaves_the_id(recorder):
    """
    An answer under a key without a call is matched by its id.
    """
    recorder.tool_call("c1", "search", {})

    assert ["c1"] == [event.call_id for event in recorder.result("c1", key="result-7")]


# -- for decoders


def test_so_far_gives_the_message(recorder):
    """
    What has come out so far can be had again, shorter: durable events, and each open fragment in one delta.
    """
    sink = []
    recorder = Recorder("a1", sink=sink)
    recorder.start(origin())
    for piece in ("a", "b"):
        recorder.text(piece, key="t")
        recorder.reasoning(piece, key="r")
        recorder.media(piece.encode(), "image/png", key="m")
        recorder.tool_input("c1", "search", piece)
    recorder.tool_input("c2", "empty")

    assert fold(sink) == fold(recorder.so_far(), strict=True)
    assert len(recorder.so_far()) < len(sink)


def test_so_far_of_what_is_empty():
    """
    Fragments of which nothing has come are open without a delta.
    """
    sink = []
    recorder = Recorder("a1", sink=sink)
    recorder.start(origin())
    with pytest.raises(ValueError, match="not both"):
        recorder.end_media(data=b"a", uri="x:1", media_type="image/png", key="m")
    recorder.begin("t", "text")
    recorder.begin("r", "reasoning")

    assert sink == recorder.so_far()
    assert ["media", "text", "reasoning"] == [part.type for part in fold(sink, strict=True).last.parts]


def test_what_is_open_can_be_had(recorder):
    """
    Decoders find the open fragment or input of a key.
    """
    recorder.text("a", key="t")
    recorder.tool_input("c1", "search", key=1)
    recorder.tool_call("c2", "search", {}, key=2)

    assert "t" == recorder.open_of("t").key
    assert "c1" == recorder.open_of(1).call_id
    assert [None, None, None] == [recorder.open_of(key) for key in (2, 3, None)]


def test_the_recorder_raises_what_it_is(recorder):
    """
    What a recorder refuses is the caller's doing.
    """
    with pytest.raises(LocalProtocolError):
        recorder.start(origin())


def test_an_empty_object_in_front_of_an_input(recorder):
    """
    Gateways repeat the empty object of a start as the first piece; an empty object alone is the input.
    """
    recorder.tool_input("c1", "search", "{}")
    recorder.tool_input("c1", delta='{"a":1}')

    assert [ToolInputEnded(**C, text='{"a":1}'), ToolCalled(**C, name="search", input={"a": 1})] == (
        recorder.end_tool_input("c1")
    )


def test_the_facts_of_an_end(recorder):
    """
    State and details of the step are in the event that ends it.
    """
    [ended] = recorder.finish("stop", state={"id": "r1"}, details={"tier": "flex"})

    assert ({"id": "r1"}, {"tier": "flex"}) == (ended.state, ended.details)
