"""
Frames of the Interactions emitter, written out as the wire reference has them (sections 4, 8.5 and 9.3), and what the
seed issue asks of a mock server.
"""

import base64
import json

import attrs
import pytest

from assistant_events import (
    MediaDelta,
    MediaEnded,
    MediaStarted,
    OpaqueReceived,
    Origin,
    PromptSubmitted,
    ReasoningDelta,
    ReasoningEnded,
    ReasoningStarted,
    RemoteRun,
    StepEnded,
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
)
from assistant_events.adapters.gemini_interactions import GeminiInteractionsEmitter, sse
from assistant_events.testing import answer, origin
from assistant_events.values import Citation, ErrorInfo, JsonContent, MediaContent, TextContent, Usage

from .notation import (
    DIALECT,
    MODEL,
    USAGE,
    D,
    S,
    X,
    args,
    called,
    decoded,
    delta,
    ended,
    failed,
    failure,
    fc,
    input_of,
    interrupted,
    media_of,
    mo,
    old,
    opaque,
    reasoning_of,
    signature,
    started,
    step,
    stream,
    success,
    summary,
    text,
    text_of,
    th,
)

CREATED = {
    "interaction": {"id": "v1", "status": "in_progress", "object": "interaction", "model": MODEL},
    "event_type": "interaction.created",
}
UPDATE = {"interaction_id": "v1", "status": "in_progress", "event_type": "interaction.status_update"}


def completed(status="completed", **more):
    interaction = {"id": "v1", "status": status, "usage": USAGE, "object": "interaction", "model": MODEL, **more}
    return {"interaction": interaction, "event_type": "interaction.completed"}


def told(*events, close=True, **options):
    """
    Return the frames of these events, having checked that nothing is left out.
    """
    emitter = GeminiInteractionsEmitter(**options)
    frames = [frame for event in events for frame in emitter.emit(event)]
    assert () == emitter.left_out
    return frames + list(emitter.close()) if close else frames


def inner(*events, **options):
    """
    Return the frames between the first two, and the last two, of a whole interaction with these parts.
    """
    frames = told(started(), *events, ended(), **options)
    return frames[2:-2]


def reasons(*events, **options):
    """
    Return the types of the events of which something was left out.
    """
    emitter = GeminiInteractionsEmitter(**options)
    for event in events:
        emitter.emit(event)
    emitter.close()
    return [left.event for left in emitter.left_out]


def pieces(words, *at):
    """
    Return a text of step 0 in deltas that begin at these places.
    """
    ends = [*at[1:], len(words)]
    deltas = [TextDelta(message_id="m", offset=a, delta=words[a:b]) for a, b in zip(at, ends, strict=True)]
    return [TextStarted(message_id="m"), *deltas, TextEnded(message_id="m", text=words, state={"i": 0})]


def thought(*words, i=0, **state):
    """
    Return a reasoning in these deltas.
    """
    deltas = [
        ReasoningDelta(message_id="m", offset=len("".join(words[:at])), delta=word) for at, word in enumerate(words)
    ]
    end = ReasoningEnded(message_id="m", text="".join(words), state={"i": i, **state})
    return [ReasoningStarted(message_id="m"), *deltas, end]


# -- what the seed issue asks for


def test_text():
    """
    A text is one step with deltas; the interaction begins and ends with its id, and ends `completed`.
    """
    assert [
        CREATED,
        UPDATE,
        S(0, mo()),
        D(0, text("Hel")),
        D(0, text("lo")),
        X(0),
        completed(),
        "[DONE]",
    ] == told(started(), *pieces("Hello", 0, 3), ended())


def test_text_of_1x():
    """
    Generation 1.x has other names for the same.
    """
    assert [
        old(CREATED),
        UPDATE,
        old(S(0, step("text"))),
        old(D(0, text("Hel"))),
        old(D(0, text("lo"))),
        old(X(0)),
        old(completed()),
        "[DONE]",
    ] == told(started(), *pieces("Hello", 0, 3), ended(), generation=1)


def test_text_from_its_end_alone():
    """
    Durable events are enough; the whole text is then one delta.
    """
    assert [S(0, mo()), D(0, text("Hello")), X(0)] == inner(*text_of("Hello"))


CALL = [
    ToolInputStarted(message_id="m", call_id="c1", name="f"),
    ToolInputDelta(message_id="m", call_id="c1", offset=0, delta='{"a":'),
    ToolInputDelta(message_id="m", call_id="c1", offset=5, delta="1}"),
    ToolInputEnded(message_id="m", call_id="c1", text='{"a":1}', state={"i": 0}),
    called("c1", {"a": 1}),
]
ASKED = ended("tool-calls", "requires_action")


def test_call_that_streams():
    """
    The start has id, name and `arguments: {}`; fragments follow, which add up to JSON; the end is `requires_action`.
    """
    frames = told(started(), *CALL, ASKED)

    assert [S(0, fc("c1", "f", {})), D(0, args('{"a":')), D(0, args("1}")), X(0)] == frames[2:-2]
    assert completed("requires_action") == frames[-2]


def test_call_that_streams_goes_out_at_once():
    """
    No frame waits for a later event.
    """
    emitter = GeminiInteractionsEmitter()
    emitter.emit(started())

    assert [1, 1, 1, 1, 0] == [len(emitter.emit(event)) for event in CALL]


def test_call_that_is_whole():
    """
    On request the arguments come with the start, and nothing streams.
    """
    assert [S(0, fc("c1", "f", {"a": 1})), X(0)] == told(started(), *CALL, ASKED, arguments="whole")[2:-2]


def test_call_of_1x():
    """
    In 1.x a call is one delta with its arguments as an object.
    """
    block = delta("function_call", id="c1", name="f", arguments={"a": 1})

    assert [
        old(S(0, step("function_call", id="c1"))),
        old(D(0, block)),
        old(X(0)),
    ] == told(started(), *CALL, ASKED, generation=1)[2:-2]


def test_call_without_arguments():
    """
    What is streamed is JSON even when there is nothing to say.
    """
    assert [S(0, fc()), D(0, args("{}")), X(0)] == inner(*input_of("c1", "{}"), called("c1", {}))


@pytest.mark.parametrize("raw", ['{"a":', "[1]"])
def test_call_with_input_that_is_no_object(raw):
    """
    What the model wrote is told as it is, however arguments come otherwise.
    """
    events = [*input_of("c1", raw), failure("c1", "invalid-input", DECODED_REASON[raw], provider=False)]

    assert [S(0, fc()), D(0, args(raw)), X(0)] == inner(*events)
    assert [S(0, fc()), D(0, args(raw)), X(0)] == inner(*events, arguments="whole")
    assert raw == inner(*events, generation=1)[1]["delta"]["arguments"]


DECODED_REASON = {
    '{"a":': "the input is no JSON: expecting value at character 5",
    "[1]": "the input is no JSON object but an array",
}


def test_parallel_calls():
    """
    Calls that stream at once have indices of their own.
    """
    one, two = CALL[:-1], [*input_of("c2", '{"b":2}', "g", 1)]

    assert [
        S(0, fc("c1", "f")),
        S(1, fc("c2", "g")),
        D(0, args('{"a":')),
        D(0, args("1}")),
        X(0),
        D(1, args('{"b":2}')),
        X(1),
    ] == inner(one[0], two[0], *one[1:], two[1])


def test_call_whose_arguments_also_came_whole():
    """
    What came whole beside fragments that make no object replaces them.
    """
    streamed = ToolInputDelta(message_id="m", call_id="c1", offset=0, delta="{oops")
    begun, end = input_of("c1", '{"a":1}')

    assert [
        S(0, fc()),
        D(0, args("{oops")),
        D(0, delta("function_call", arguments={"a": 1})),
        X(0),
    ] == inner(begun, streamed, end)


def test_signed_call():
    """
    A signature of a call comes with what is left of its arguments, or with its start.
    """
    events = input_of("c1", '{"a":1}', signature="S=")

    assert D(0, {**args('{"a":1}'), "signature": "S="}) == inner(*events)[1]
    assert "S=" == inner(*events, arguments="whole")[0]["step"]["signature"]


def test_ids_of_the_provider():
    """
    The wire has the id that the provider gave, not the one that was made of it.
    """
    events = [
        *(*input_of("c1", "{}"), *input_of("c1#2", "{}", i=1, id="c1")),
        *(*input_of("call-1", "{}", i=2, id=""), *input_of("call-2", "{}", i=3)),
    ]
    starts = [frame["step"]["id"] for frame in inner(*events) if frame["event_type"] == "step.start"]

    assert ["c1", "c1", "", "call-2"] == starts


# -- thoughts


def test_thought():
    """
    Each delta is an item of the summary, the signature comes last.
    """
    items = [summary("p")["content"], summary("q")["content"]]

    assert [
        S(0, th()),
        D(0, summary("p")),
        D(0, summary("q")),
        D(0, signature("A=")),
        X(0),
    ] == inner(*thought("p", "q", summary=items, signature="A="))


def test_thought_of_1x():
    """
    So it is in 1.x.
    """
    assert [
        old(S(0, th())),
        old(D(0, summary("p"))),
        old(D(0, signature("A="))),
        old(X(0)),
    ] == inner(*thought("p", signature="A="), generation=1)


def test_thought_without_words():
    """
    A signature may be all there is.
    """
    assert [S(0, th()), D(0, signature("A=")), X(0)] == inner(*reasoning_of("", signature="A="))


def test_thought_with_a_picture():
    """
    Items of a summary that are no text stand where they stood.
    """
    picture = {"type": "image", "data": "AAAA", "mime_type": "image/png"}
    items = [{"type": "text", "text": "p"}, picture, {"type": "text", "text": "q"}]
    expected = [D(0, delta("thought_summary", content=item)) for item in items]

    assert [S(0, th()), *expected, X(0)] == inner(*reasoning_of("pq", summary=items))
    assert [S(0, th()), *expected, X(0)] == inner(*thought("p", "q", summary=items), live=False)


def test_thought_with_a_picture_that_came_too_late():
    """
    While it streams, the place of such an item is known when the words are out already: that is reported.
    """
    items = [{"type": "image", "data": "AAAA"}, {"type": "text", "text": "p"}]

    assert ["reasoning.ended"] == reasons(started(), *thought("p", summary=items), ended())


def test_second_thought_waits_for_one_more_event():
    """
    A thought may be the rest of one before, which its end or its first words tell.
    """
    first, second = thought("p", i=0, signature="A="), thought("q", i=1)
    emitter = GeminiInteractionsEmitter()
    for event in [started(), *first]:
        emitter.emit(event)

    assert [] == emitter.emit(second[0])
    assert [S(1, th()), D(1, summary("q"))] == emitter.emit(second[1])


def test_late_signature_of_a_thought():
    """
    What came after a thought had ended is told under its index.
    """
    events = [*reasoning_of("t"), *reasoning_of("", signature="A=")]

    assert [S(0, th()), D(0, summary("t")), X(0), D(0, signature("A="))] == inner(*events)


# -- text, media, sources


def test_a_text_after_a_medium_waits():
    """
    A text that follows another part of the output may go on in the same step: its end tells.
    """
    events = [*text_of("a"), *media_of("image/png", b"\0", type="image"), *text_of("b")]
    image = {"type": "image", "data": "AA==", "mime_type": "image/png"}

    assert [S(0, mo()), D(0, text("a")), D(0, image), D(0, text("b")), X(0)] == inner(*events)


def test_a_text_after_a_medium_of_another_step():
    """
    With another place it is a step of its own; in 1.x it always is.
    """
    events = [*media_of("image/png", b"\0", type="image"), *text_of("b", 1)]
    image = {"type": "image", "data": "AA==", "mime_type": "image/png"}

    assert [S(0, mo()), D(0, image), X(0), S(1, mo()), D(1, text("b")), X(1)] == inner(*events)
    assert [
        *(old(S(0, step("image"))), old(D(0, image)), old(X(0))),
        *(old(S(1, step("text"))), old(D(1, text("b"))), old(X(1))),
    ] == inner(*events, generation=1)


def test_an_output_is_stopped_when_something_else_begins():
    """
    What waits to be stopped does not wait longer than that.
    """
    emitter = GeminiInteractionsEmitter()
    for event in [started(), *text_of("a")]:
        emitter.emit(event)

    assert [X(0), S(1, fc())] == emitter.emit(ToolInputStarted(message_id="m", call_id="c1", name="f"))


def test_texts_in_steps_without_a_word_between():
    """
    Two texts with one place are one step that goes on after it was stopped.
    """
    assert [
        *(S(0, mo()), D(0, text("a")), X(0)),
        *(D(0, text("b")), X(0)),
    ] == inner(*text_of("a"), *text_of("b"))


def test_sound_comes_whole():
    """
    Pieces of sound are told as one, with the fields that only the end has.
    """
    events = [
        MediaStarted(message_id="m", media_type="audio/l16"),
        MediaDelta(message_id="m", offset=0, delta=b"ab"),
        MediaDelta(message_id="m", offset=2, delta=b"c"),
        MediaEnded(
            message_id="m",
            media_type="audio/l16",
            data=b"abc",
            state={"i": 0, "type": "audio", "block": {"sample_rate": 24000}},
        ),
    ]
    sound = {"type": "audio", "data": base64.b64encode(b"abc").decode(), "mime_type": "audio/l16", "sample_rate": 24000}

    assert [S(0, mo()), D(0, sound), X(0)] == inner(*events)


def test_sources():
    """
    Annotations come after the text, with their names of the generation.
    """
    note = {"type": "url_citation", "url": "https://e.x/", "start_index": 0, "end_index": 2}
    events = text_of("é", citations=(Citation(url="https://e.x/", start=0, end=1),), annotations=[note])

    assert D(0, delta("text_annotation_delta", annotations=[note])) == inner(*events)[2]
    assert old(D(0, delta("text_annotation", annotations=[note]))) == inner(*events, generation=1)[2]


def test_sources_without_annotations():
    """
    Sources of which the provider's own words are not known are told with places in bytes.
    """
    end = text_of("é", citations=(Citation(url="https://e.x/", title="E", start=0, end=1),))
    note = {"type": "url_citation", "url": "https://e.x/", "title": "E", "start_index": 0, "end_index": 2}

    assert D(0, delta("text_annotation_delta", annotations=[note])) == inner(*end)[2]


def test_sources_that_read_otherwise():
    """
    What a source says is no part of the wire.
    """
    end = text_of("a", citations=(Citation(url="u", cited_text="words"),))

    assert ["text.ended"] == reasons(started(), *end, ended())


# -- tools of the provider


def test_search():
    """
    Arguments and result come in deltas of their own types, each with its signature.
    """
    call = input_of(
        "s1", '{"queries":["q"]}', "google_search", provider=True, type="google_search_call", signature="S="
    )
    result = success("s1", JsonContent([{"x": 1}]), i=1, type="google_search_result", signature="R=")

    assert [
        S(0, step("google_search_call", id="s1")),
        D(0, delta("google_search_call", arguments={"queries": ["q"]}, signature="S=")),
        X(0),
        S(1, step("google_search_result", call_id="s1")),
        D(1, delta("google_search_result", result=[{"x": 1}], signature="R=")),
        X(1),
    ] == inner(*call, called("s1", {"queries": ["q"]}, "google_search", provider=True), result)


def test_search_of_1x():
    """
    In 1.x the deltas have the ids as well.
    """
    call = input_of("s1", '{"queries":["q"]}', "google_search", provider=True, type="google_search_call")
    result = success("s1", JsonContent([{"x": 1}]), i=1, type="google_search_result")

    assert [
        old(S(0, step("google_search_call", id="s1"))),
        old(D(0, delta("google_search_call", id="s1", arguments={"queries": ["q"]}))),
        old(X(0)),
        old(S(1, step("google_search_result", call_id="s1"))),
        old(D(1, delta("google_search_result", call_id="s1", result=[{"x": 1}]))),
        old(X(1)),
    ] == inner(*call, result, generation=1)


def test_tool_of_a_server():
    """
    MCP calls have the name of their tool and of their server.
    """
    call = input_of("t1", "{}", "look", provider=True, type="mcp_server_tool_call", server_name="crm")

    assert [
        S(0, step("mcp_server_tool_call", id="t1", name="look", server_name="crm")),
        D(0, delta("mcp_server_tool_call", arguments={}, server_name="crm")),
        X(0),
    ] == inner(*call)


def test_call_without_arguments_of_its_own():
    """
    A file search has nothing but its id.
    """
    call = input_of("n1", "{}", "file_search", provider=True, type="file_search_call")

    assert [S(0, step("file_search_call", id="n1")), X(0)] == inner(*call)


def test_failed_tool():
    """
    A result that is an error says so.
    """
    call = input_of("x1", '{"code":"1/0"}', "code_execution", provider=True, type="code_execution_call")
    error = failure(
        "x1",
        "tool",
        "the tool reported an error",
        TextContent("no"),
        i=1,
        type="code_execution_result",
        is_error=True,
    )

    assert D(1, delta("code_execution_result", result="no", is_error=True)) == inner(*call, error)[4]


def test_a_call_that_got_no_result():
    """
    What whoever reads the stream comes to by themselves is not told.
    """
    call = input_of("x1", "{}", "code_execution", provider=True, type="code_execution_call")
    message = "the provider ended its answer without a result of this call"

    assert 3 == len(inner(*call, failure("x1", "no-result", message)))


def test_a_result_without_its_call():
    """
    Of a call that was made up the wire has the result alone.
    """
    call = input_of("x1", "{}", "url_context", provider=True, type="url_context_call", orphan=True)

    assert [S(0, step("url_context_result", call_id="x1")), X(0)] == inner(
        *call, success("x1", i=0, type="url_context_result")
    )


def test_calls_that_were_never_streamed():
    """
    A call that came whole is told whole.
    """
    whole = ToolCalled(message_id="m", call_id="c1", name="f", input={"a": 1}, state={"i": 0})

    assert [S(0, fc()), D(0, args('{"a":1}')), X(0)] == inner(whole)


# -- what has no word


def test_opaque_items():
    """
    What was kept raw is told raw.
    """
    raw = {"type": "dream", "plot": [1]}
    piece = {"type": "dream_piece", "x": 1}

    assert [S(0, raw), D(0, piece), X(0)] == inner(opaque(0, step=raw, deltas=[piece]))


def test_opaque_content():
    """
    A block of an unknown type can only stand in the start of its step.
    """
    assert [S(0, step("model_output", content=[{"type": "scent"}])), X(0)] == inner(
        opaque(0, content={"type": "scent"})
    )


def test_opaque_calls():
    """
    A call without a name is told without one.
    """
    nameless = opaque(0, type="function_call", id=None, arguments='{"a":1}')

    assert [S(0, step("function_call")), D(0, args('{"a":1}')), X(0)] == inner(nameless)


def test_fields_that_are_not_documented():
    """
    They come with the start where it waits for the end; deltas of unknown types before the stop.
    """
    odd = {"type": "sparkle", "level": 3}

    assert [S(0, mo(mood=1)), D(0, text("a")), D(0, odd), X(0)] == inner(*text_of("a", extra={"mood": 1}, deltas=[odd]))
    begun, end = text_of("a", extra={"mood": 1})
    assert ["text.ended"] == reasons(started(), begun, TextDelta(message_id="m", offset=0, delta="a"), end, ended())


def test_fields_that_are_not_documented_and_come_with_the_end():
    """
    Of a thought or a call they go out in a delta that says nothing else, as the end brings them after the start.
    """
    assert [S(0, th()), D(0, delta("thought_signature", signature="", mood=1)), D(0, signature("A=")), X(0)] == inner(
        *reasoning_of("", extra={"mood": 1}, signature="A=")
    )
    assert [S(0, fc()), D(0, args('{"a":1}')), D(0, delta("arguments_delta", arguments="", mood=1)), X(0)] == inner(
        *input_of("c1", '{"a":1}', extra={"mood": 1})
    )
    assert [] == reasons(started(), *reasoning_of("", extra={"mood": 1}), ended())


def bytes_of(*events, **how):
    """
    Return the bytes that clients read, and why something was left out.
    """
    emitter = GeminiInteractionsEmitter(status_updates=False, **how)
    frames = [frame for event in events for frame in emitter.emit(event)]
    return b"".join(map(sse, frames)), [left.reason for left in emitter.left_out]


@pytest.mark.parametrize("live", [True, False], ids=["live", "waiting"])
def test_a_character_that_was_cut_between_two_items_of_a_summary(live):
    """
    It is told whole with the second, and the items that now read otherwise are reported.
    """
    halves = [{"type": "text", "text": "a\ud83d"}, {"type": "text", "text": "\ude00b"}]
    thought = reasoning_of("a\U0001f600b", summary=halves)
    body, reasons = bytes_of(started(), *thought, ended(), live=live)
    told = [event for event in decoded(body)[1] if event.type == "reasoning.ended"]

    assert ["a\U0001f600b"] == [event.text for event in told]
    assert "the items of a summary stand in another order, or are cut elsewhere, than its deltas were" in reasons
    assert b"\xef\xbf\xbd" not in body


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(reasoning_of("", signature="A\ud83d"), id="signature"),
        pytest.param(reasoning_of("", summary=[{"type": "image", "data": "\ud83d"}]), id="summary"),
        pytest.param(text_of("a", block={"odd": ["\ude00"]}), id="block"),
        pytest.param(input_of("c1", '{"a":"\\ud83d"}', provider=True, type="google_search_call"), id="arguments"),
        pytest.param(
            [
                *input_of("c1", "{}", "google_search", provider=True, type="google_search_call"),
                called("c1", {}, "google_search", provider=True),
                success("c1", JsonContent(["\ud83d"]), i=1, type="google_search_result"),
            ],
            id="result",
        ),
    ],
)
def test_half_of_a_character_is_reported(events):
    """
    Half of a surrogate pair becomes U+FFFD on its way to clients, and the emitter says so.
    """
    body, reasons = bytes_of(started(), *events, ended())

    assert ["half of a surrogate pair cannot be told, since many clients cannot read it"] == reasons
    assert b"\xef\xbf\xbd" in body


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(reasoning_of("", signature="\\ud83d"), id="signature"),
        pytest.param(input_of("c1", '{"a":"\\ud83d"}'), id="streamed arguments"),
    ],
)
def test_words_about_escapes_are_whole(events):
    """
    A backslash and what follows it are characters like others.
    """
    body, reasons = bytes_of(started(), *events, ended())

    assert [] == reasons
    assert events[-1] in decoded(body)[1]


# -- how it begins and ends


def test_what_was_not_stored_has_no_id():
    """
    With `store: false` the id is empty.
    """
    frames = told(started(""), ended(id=""))

    assert ["", ""] == [frame["interaction"]["id"] for frame in (frames[0], frames[2])]
    assert "interaction_id" not in frames[1]


def test_agents():
    """
    An agent stands under its own key.
    """
    assert "model" not in told(started(), agent=True)[0]["interaction"]
    assert MODEL == told(started(), agent=True)[0]["interaction"]["agent"]


def test_fields_of_the_interaction():
    """
    Fields that no event knows are the caller's to give.
    """
    frames = told(started(), ended(), fields={"created": "2026-06-02T10:00:00Z", "service_tier": "standard"})

    assert ["standard", "standard"] == [frame["interaction"]["service_tier"] for frame in (frames[0], frames[2])]


def test_cursors():
    """
    Every frame has another cursor, and its name is the last key.
    """
    frames = told(started(), *text_of("a"), ended(), event_ids=True)[:-1]

    assert len(frames) == len({frame["event_id"] for frame in frames})
    assert {"event_type"} == {list(frame)[-1] for frame in frames}
    assert "0_step.start_2" == base64.b64decode(frames[2]["event_id"].removeprefix("v1_")).decode()


def test_without_updates_of_the_status():
    """
    They can be left out.
    """
    assert [CREATED, completed(), "[DONE]"] == told(started(), ended(), status_updates=False)


def test_hops():
    """
    An answer in several interactions has a first and a last frame for each, and one mark at its end.
    """
    paused = ended("pause", "requires_continuation", state={"interaction_id": "v1", "continuation_token": "dG9r"})
    frames = told(
        *(started(), *text_of("a"), paused),
        *(started("v2", message_id="m.2"), *text_of("b", message_id="m.2"), ended(id="v2", message_id="m.2")),
    )

    assert completed("requires_continuation", continuation_token="dG9r") == frames[5]
    assert ("v2", 0) == (frames[6]["interaction"]["id"], frames[8]["index"])
    assert 1 == frames.count("[DONE]")


def test_sandbox():
    """
    The environment of an agent is told with both.
    """
    state = {"interaction_id": "v1", "environment_id": "e1"}
    frames = told(started(state=state), ended(state=state))

    assert ["e1", "e1"] == [frame["interaction"]["environment_id"] for frame in (frames[0], frames[2])]


def test_usage_that_was_said_on_the_way():
    """
    Counts that no end confirmed are told before it.
    """
    usage = Usage(input_tokens=10, output_tokens=3, details={**USAGE, "partial": True})
    frames = told(started(), ended(usage=usage))

    assert USAGE == frames[2]["usage"]
    assert "usage" not in frames[3]["interaction"]


def test_usage_of_others():
    """
    Counts without the provider's own words are put into them.
    """
    end = StepEnded(
        message_id="m",
        finish_reason="stop",
        raw_finish_reason="completed",
        usage=Usage(input_tokens=8, cache_read_tokens=2, output_tokens=3, reasoning_tokens=1),
    )
    frames = GeminiInteractionsEmitter()
    frames.emit(started(""))

    assert {
        "total_input_tokens": 10,
        "total_cached_tokens": 2,
        "total_output_tokens": 3,
        "total_thought_tokens": 1,
        "total_tokens": 14,
    } == frames.emit(end)[0]["interaction"]["usage"]


def test_usage_that_has_no_word():
    """
    Tokens that were written into a cache have none.
    """
    end = ended(usage=Usage(input_tokens=1, cache_write_tokens=2))

    assert ["step.ended"] == reasons(started(), end)


@pytest.mark.parametrize("finish", ["stop", "tool-calls", "length", "content-filter", "pause", "other"])
def test_finishes_of_others(finish):
    """
    Finishes of other providers become a status that exists.
    """
    expected = {"stop": "completed", "tool-calls": "requires_action", "pause": "requires_continuation"}
    emitter = GeminiInteractionsEmitter()
    emitter.emit(StepStarted(message_id="m", origin=origin()))

    [end] = emitter.emit(StepEnded(message_id="m", finish_reason=finish, raw_finish_reason="x"))

    assert expected.get(finish, "incomplete") == end["interaction"]["status"]


# -- failures


BOOM = ErrorInfo(kind="provider", message="boom", code="internal")


def test_an_error_of_the_provider():
    """
    It is an `error` event, after which nothing is told but the mark; what is open is left open.
    """
    begun = [TextStarted(message_id="m"), TextDelta(message_id="m", offset=0, delta="a")]
    cut = TextEnded(message_id="m", text="a", complete=False, state={"i": 0})

    assert [
        S(0, mo()),
        D(0, text("a")),
        {"error": {"code": "internal", "message": "boom"}, "event_type": "error"},
        "[DONE]",
    ] == told(started(), *begun, cut, failed(BOOM))[2:]


def test_an_error_with_counts():
    """
    With counts it is an interaction that failed: the event has no place for them.
    """
    end = told(started(), failed(BOOM, usage=Usage(input_tokens=10, output_tokens=3, details=USAGE)))[-2]

    assert ("failed", [{"code": "internal", "message": "boom"}]) == (
        end["interaction"]["status"],
        end["interaction"]["errors"],
    )


def test_an_error_of_an_output():
    """
    A number that is no HTTP status is one of an output.
    """
    error = ErrorInfo(kind="rate-limit", message="slow down", code="8", retryable=True)

    assert [
        S(0, step("model_output", error={"code": 8, "message": "slow down"})),
        X(0),
    ] == told(started(), failed(error))[2:4]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ErrorInfo(kind="cancelled", message="the interaction was cancelled"), "cancelled"),
        (ErrorInfo(kind="provider", message="the interaction failed"), "failed"),
        (interrupted("the stream ended while the interaction was queued"), "queued"),
    ],
)
def test_ends_that_are_a_status(error, status):
    """
    Some failures are a status and nothing else.
    """
    assert status == told(started(), failed(error))[-2]["interaction"]["status"]


@pytest.mark.parametrize(
    "error",
    [
        BOOM,
        ErrorInfo(kind="rate-limit", message="slow", code="429", status=429, retryable=True),
        ErrorInfo(kind="not-found", message="gone", code="NOT_FOUND", status=404),
        ErrorInfo(kind="provider", message="only words"),
        ErrorInfo(kind="rate-limit", message="slow", code="RESOURCE_EXHAUSTED", status=429, retryable=True),
        ErrorInfo(kind="overloaded", message="busy", code="unavailable", retryable=True),
    ],
)
def test_errors_come_back(error):
    """
    What the decoder made of an error, the emitter makes it make again.
    """
    frames = told(started(), failed(error))
    _, events = decoded(stream(*frames))

    assert error == events[-1].error


def test_errors_of_others():
    """
    Errors that no code stands for are told, and reported as read otherwise.
    """
    odd = ErrorInfo(kind="tool-denied", message="no")
    emitter = GeminiInteractionsEmitter()
    emitter.emit(started())

    assert {"code": "internal", "message": "no"} == emitter.emit(failed(odd))[0]["error"]
    assert ["step.failed"] == [left.event for left in emitter.left_out]
    assert ["step.failed"] == reasons(started(), failed(ErrorInfo(kind="cancelled", message="by hand")))


def test_a_stream_that_was_cut():
    """
    What happened to a stream is not said: it stops, without the mark.
    """
    begun = [TextStarted(message_id="m"), TextDelta(message_id="m", offset=0, delta="a")]
    cut = TextEnded(message_id="m", text="a", complete=False, state={"i": 0})

    assert [S(0, mo()), D(0, text("a"))] == told(started(), *begun, cut, failed(interrupted()))[2:]


def test_a_stream_that_was_cut_for_another_reason():
    """
    Why it was cut is reported.
    """
    assert ["step.failed"] == reasons(started(), failed(ErrorInfo(kind="aborted", message="stopped")))


def test_a_cut_keeps_its_checkpoint():
    """
    The token and the counts of a run that was cut are told before the silence.
    """
    usage = Usage(input_tokens=10, output_tokens=3, details={**USAGE, "partial": True})
    state = {"interaction_id": "v1", "continuation_token": "dG9r"}

    [update] = told(started(), failed(interrupted(), usage=usage, state=state))[2:]

    assert ("dG9r", USAGE) == (update["continuation_token"], update["usage"])


def test_an_id_that_was_learned_late():
    """
    An id that was known only when the run failed is told before.
    """
    frames = told(started("", None, served=None), failed(BOOM))

    assert ["", "v1"] == [frame["interaction"]["id"] for frame in frames if "interaction" in frame]


def test_an_id_that_was_learned_at_the_end():
    """
    One that came with the end is told there.
    """
    assert "v1" == told(started("", None, served=None), ended())[-2]["interaction"]["id"]


# -- what cannot be said


def test_restarts():
    """
    A restart begins the interaction again, and is reported: whoever reads it decides what is void.
    """
    emitter = GeminiInteractionsEmitter()
    for event in [started(), *text_of("a")]:
        emitter.emit(event)
    run = RemoteRun(id="v1", kind="interaction")
    frames = emitter.emit(StepRestarted(message_id="m", reason="again", run=run, state={"interaction_id": "v1"}))

    assert [CREATED, UPDATE] == frames
    assert ["step.restarted"] == [left.event for left in emitter.left_out]
    assert [S(0, mo()), D(0, text("a"))] == [frame for event in text_of("a") for frame in emitter.emit(event)]


def test_a_restart_names_the_model_that_the_start_did_not_know():
    """
    The interaction that begins again has the model that came with the restart, from its first to its last frame.
    """
    unknown = Origin(provider="google", dialect="gemini-interactions")
    emitter = GeminiInteractionsEmitter(status_updates=False)
    emitter.emit(StepStarted(message_id="m", origin=unknown))
    restarted = StepRestarted(message_id="m", reason="again", origin=attrs.evolve(unknown, served_model="g"))
    frames = [
        *emitter.emit(restarted),
        *emitter.emit(StepEnded(message_id="m", finish_reason="stop", raw_finish_reason="completed")),
    ]

    assert [
        ("interaction.created", "g"),
        ("interaction.completed", "g"),
    ] == [(frame["event_type"], frame["interaction"].get("model")) for frame in frames]


def test_a_restart_voids_what_waits():
    """
    A part that waited for its end is not told after the restart.
    """
    emitter = GeminiInteractionsEmitter()
    waits = TextStarted(message_id="m")
    for event in [started(), *text_of("a"), waits, StepRestarted(message_id="m", reason="again")]:
        emitter.emit(event)

    assert [S(0, th())] == emitter.emit(ReasoningStarted(message_id="m"))


def test_a_restart_after_the_end():
    """
    After an end the wire has said all it can.
    """
    assert ["step.restarted"] == reasons(started(), failed(BOOM), StepRestarted(message_id="m", reason="again"))


@pytest.mark.parametrize(
    "event",
    [
        PromptSubmitted(message_id="m", content="hi"),
        ToolProgress(message_id="m", call_id="c1", output="50 %"),
        ToolSuccess(message_id="m", call_id="c9"),
        ToolInputDelta(message_id="m", call_id="c9", offset=0, delta="x"),
        ToolInputEnded(message_id="m", call_id="c9", text="{}"),
        TextDelta(message_id="m", offset=0, delta="x"),
        TextEnded(message_id="m", text="x"),
        ReasoningDelta(message_id="m", offset=0, delta="x"),
        ReasoningEnded(message_id="m", text="x"),
        MediaEnded(message_id="m", media_type="a/b", uri="u"),
        OpaqueReceived(message_id="m", state={"i": 0, "odd": 1}),
        TextStarted(message_id="other"),
        started("v2", message_id="m"),
    ],
    ids=lambda event: f"{event.type}-{event.message_id}",
)
def test_events_without_a_word_or_a_place(event):
    """
    What has no place on this wire is left out, and reported.
    """
    assert [event.type] == reasons(started(), event, ended())


def test_answers_of_the_app():
    """
    The app answers its calls, not the provider.
    """
    late = ToolSuccess(message_id="m", call_id="c1", output="sunny")
    early = ToolFailed(message_id="m", call_id="c1", error=ErrorInfo(kind="tool", message="no"))

    assert ["tool.success"] == reasons(started(), *CALL, ASKED, late)
    assert ["tool.failed"] == reasons(started(), *CALL, early, ASKED)


def test_outputs_that_read_otherwise():
    """
    Several outputs are one list on the wire; an error has no words of its own there.
    """
    call = [*input_of("x1", "{}", "code_execution", provider=True, type="code_execution_call")]
    both = (TextContent("a"), MediaContent(media_type="image/png", uri="u"))

    assert ["tool.success"] == reasons(started(), *call, success("x1", both), ended())
    assert ["tool.failed"] == reasons(started(), *call, failure("x1", "tool", "other words", i=1), ended())


def test_state_of_others():
    """
    What another provider wants back means nothing here, and does not leave.
    """
    events = answer("Hi", reasoning="p", reasoning_state={"signature": "secret"}, text_state={"i": 7})
    emitter = GeminiInteractionsEmitter()
    frames = [frame for event in events for frame in emitter.emit(event)]

    assert "secret" not in json.dumps(frames)
    assert {"step.started", "reasoning.ended", "text.ended", "step.ended"} == {left.event for left in emitter.left_out}
    assert "acme-1" == frames[0]["interaction"]["model"]


def test_tools_of_others():
    """
    Tools that another provider ran are those of a server; the ones with a name of this wire have its type.
    """
    events = [
        StepStarted(message_id="m", origin=origin()),
        *input_of("c1", "{}", "web_look", provider=True),
        *input_of("c2", "{}", "google_search", provider=True),
        *input_of("c3", "{}", "read_file", provider=True),
    ]
    emitter = GeminiInteractionsEmitter()
    frames = [frame for event in events for frame in emitter.emit(event)]

    assert ["mcp_server_tool_call", "google_search_call", "function_call"] == [
        frame["step"]["type"] for frame in frames if frame["event_type"] == "step.start"
    ]


def test_arguments_that_lose_their_wording():
    """
    Arguments that come whole are JSON, not text: spaces between are lost, and reported.
    """
    events = [*input_of("c1", '{"a": 1}')]

    assert ["tool.input.started"] == reasons(started(), *events, ASKED, arguments="whole")
    assert ["tool.input.started"] == reasons(started(), *events, ASKED, generation=1)


def test_after_the_end():
    """
    An emitter tells one answer.
    """
    assert ["step.started"] == reasons(started(), ended(), started("v2", message_id="m2"))
    assert ["text.started"] == reasons(started(), ended(), TextStarted(message_id="m"))


def test_what_is_left_out_is_said_once():
    """
    The same of the same kind of event is one entry.
    """
    events = [TextDelta(message_id="m", offset=at, delta="x") for at in range(100)]

    assert ["text.delta"] == reasons(started(), *events)


# -- deltas that were lost, repeated or cut


def test_deltas_again():
    """
    What was told is not told again.
    """
    twice = TextDelta(message_id="m", offset=0, delta="Hel")
    begun, first, second, end = pieces("Hello", 0, 3)

    assert [S(0, mo()), D(0, text("Hel")), D(0, text("lo")), X(0)] == inner(begun, first, twice, second, end)


def test_deltas_that_were_lost():
    """
    What was lost comes with the end.
    """
    begun, first, _, third, end = pieces("Hello", 0, 2, 3)

    assert [S(0, mo()), D(0, text("He")), D(0, text("llo")), X(0)] == inner(begun, first, third, end)


def test_ends_that_say_less():
    """
    What is out cannot be taken back.
    """
    begun, first, _ = pieces("Hello", 0)
    shorter = TextEnded(message_id="m", text="H", state={"i": 0})

    assert ["text.ended"] == reasons(started(), begun, first, shorter, ended())


def test_a_stream_of_nothing():
    """
    An emitter that was given nothing has nothing to end.
    """
    assert [] == GeminiInteractionsEmitter().close()


def test_parts_that_wait_are_told_when_the_stream_is_closed():
    """
    Nothing that came is lost.
    """
    emitter = GeminiInteractionsEmitter()
    for event in [started(), *text_of("a")]:
        emitter.emit(event)
    held = pieces("b", 0)[:2]

    assert [[], []] == [emitter.emit(event) for event in held]
    assert [X(0), S(1, mo()), D(1, text("b"))] == emitter.close()
    assert [] == emitter.close()


# -- frames as bytes


def test_bytes():
    """
    A name, one line of JSON whose last key is the name, and an empty line.
    """
    assert b'event: step.stop\ndata: {"index":0,"event_type":"step.stop"}\n\n' == sse(
        {"index": 0, "event_type": "step.stop"}
    )
    assert b"event: done\ndata: [DONE]\n\n" == sse("[DONE]")


def test_bytes_of_characters_that_end_lines():
    """
    Characters at which some clients break lines are escaped; others are not.
    """
    data = sse({"text": "a\u0085b\u2028c\u2029dé🚀\r\n", "event_type": "x"})

    assert rb'{"text":"a\u0085b\u2028c\u2029d' in data
    assert "dé🚀\\r\\n".encode() in data
    assert 3 == len(data.decode().splitlines())


def test_bytes_of_half_a_pair():
    """
    Half of a surrogate pair, which many clients cannot read, is U+FFFD; a text about escapes stays as it is.
    """
    assert "a\ufffd" == json.loads(sse({"text": "a\ud83d", "n": [1], "event_type": "x"}).split(b"data: ")[1])["text"]
    assert "\\ud83d" == json.loads(sse({"text": "\\ud83d", "event_type": "x"}).split(b"data: ")[1])["text"]


def test_bytes_are_read_as_frames():
    """
    The library reads what it writes.
    """
    frames = told(started(), *pieces("Hé\u2028llo", 0, 3), ended())
    decoder = DIALECT.decoder("m")

    assert "Hé\u2028llo" == "".join(
        event.delta for event in decoder.feed(b"".join(map(sse, frames))) if event.type == "text.delta"
    )


# -- options


@pytest.mark.parametrize("options", [{"generation": 3}, {"arguments": "half"}])
def test_options_that_do_not_exist(options):
    """
    They are refused at once.
    """
    with pytest.raises(ValueError, match="expected"):
        GeminiInteractionsEmitter(**options)


def test_emitters_of_the_dialect():
    """
    The dialect names both.
    """
    assert isinstance(DIALECT.emitter(), GeminiInteractionsEmitter)
    assert DIALECT.emit_resource is not None


def test_origin_that_asked_for_a_model():
    """
    What the app asked for is no word of the provider.
    """
    asked = Origin(provider="google", model="asked", dialect="gemini-interactions")

    assert "model" not in told(StepStarted(message_id="m", origin=asked))[0]["interaction"]


# -- corners


def test_a_run_that_the_end_does_not_name():
    """
    A run that was told cannot be taken back.
    """
    assert ["step.ended"] == reasons(started(), ended(id=""))


def test_a_checkpoint_before_the_start():
    """
    A token that was known when the step began is told before it.
    """
    frames = told(started(state={"interaction_id": "v1", "continuation_token": "dG9r"}))

    assert ["dG9r", None] == [frame.get("continuation_token") for frame in frames[:2]]
    assert "interaction.created" == frames[1]["event_type"]


def test_a_medium_without_an_end():
    """
    A medium of which nothing came is nothing.
    """
    assert [] == told(started(), MediaStarted(message_id="m", media_type="a/b"))[2:]


def test_a_medium_without_bytes():
    """
    One that cannot be used is told as it came.
    """
    state = {"i": 0, "type": "image", "data": "%%%"}
    end = MediaEnded(message_id="m", media_type="image/png", complete=False, state=state)
    events = [MediaStarted(message_id="m", media_type="image/png"), end]

    assert D(0, {"type": "image", "data": "%%%", "mime_type": "image/png"}) == inner(*events)[1]


def test_sound_that_was_cut():
    """
    Sound that was cut is left open.
    """
    cut = media_of("audio/l16", b"abc", complete=False, type="audio")

    assert ["step.start", "step.delta"] == [
        frame["event_type"] for frame in told(started(), *cut, failed(interrupted()))[2:]
    ]


def test_two_sounds_of_one_type():
    """
    The step is stopped between, or they would be one.
    """
    sounds = [*media_of("audio/l16", b"a", type="audio"), *media_of("audio/l16", b"b", type="audio")]

    assert ["step.start", "step.delta", "step.stop", "step.delta", "step.stop"] == [
        frame["event_type"] for frame in inner(*sounds)
    ]


def test_a_late_summary():
    """
    Items that came after a thought had ended are one delta with the signature, or are followed by an empty one.
    """
    items = [summary(word)["content"] for word in "pqr"]
    one = [*reasoning_of("p"), *reasoning_of("q", summary=items[:2])]
    signed = [*reasoning_of("p"), *reasoning_of("qr", summary=items, signature="A=")]
    unsigned = [*reasoning_of("p"), *reasoning_of("qr", summary=items)]

    assert [D(0, summary("q"))] == inner(*one)[3:]
    assert [D(0, delta("thought", summary=items[1:], signature="A="))] == inner(*signed)[3:]
    assert [D(0, delta("thought", summary=items[1:])), D(0, delta("thought_summary"))] == inner(*unsigned)[3:]


def test_a_late_summary_that_was_cut():
    """
    That it was cut is not seen then.
    """
    cut = [*reasoning_of("p"), *reasoning_of("q", complete=False)]

    assert ["reasoning.ended"] == reasons(started(), *cut, failed(interrupted()))


def test_a_thought_that_another_ended_early():
    """
    It is left open until the rest of its summary comes.
    """
    items = [summary(word)["content"] for word in "pqr"]
    early, late = thought("p", "q"), reasoning_of("r", summary=items)

    assert [
        *(S(0, th()), D(0, summary("p")), D(0, summary("q"))),
        *(S(1, th()), D(1, summary("x")), X(1)),
        *(D(0, summary("r")), X(0)),
    ] == inner(*early, *thought("x", i=1), *late)


def test_a_thought_that_was_cut_elsewhere_on_its_way():
    """
    Pieces of one item of a summary are told as items, and that is reported.
    """
    assert ["text.started"] == reasons(started(), *thought("p", "q"), *text_of("a", 1), ended())
    assert ["step.ended"] == reasons(started(), *thought("p", "q"), ended())
    assert [] == reasons(started(), *thought("p", "q"), ended(), live=False)


def test_a_thought_whose_end_says_less():
    """
    What is out cannot be taken back.
    """
    begun, first, _ = thought("pq")

    assert ["reasoning.ended"] == reasons(
        started(), begun, first, ReasoningEnded(message_id="m", text="p", state={"i": 0}), ended()
    )


def test_a_text_of_an_older_step():
    """
    A text that streams after another step has begun is taken for a new one; that is reported if it was not.
    """
    late = [TextStarted(message_id="m"), TextDelta(message_id="m", offset=0, delta="b")]
    end = TextEnded(message_id="m", text="b", state={"i": 0})
    events = [started(), *text_of("a"), *reasoning_of("t", 1), *late, end, ended()]

    assert ["text.ended"] == reasons(*events)
    assert [] == reasons(*events, live=False)


def test_a_text_without_content():
    """
    There is nothing to tell of it, but its sources if it has any.
    """
    note = {"type": "url_citation", "url": "u"}
    sourced = text_of("", citations=(Citation(url="u"),), annotations=[note])

    assert ["text.ended"] == reasons(started(), *text_of(""), ended())
    assert [S(0, mo()), D(0, delta("text_annotation_delta", annotations=[note])), X(0)] == inner(*sourced)


def test_a_text_that_shows_nothing_at_first():
    """
    A text begins on the wire with its first words, so they are told before what came between.
    """
    begun, first, end = pieces("ab", 0)
    events = [begun, *media_of("image/png", b"\0", i=1, type="image"), first, end]

    assert [S(0, mo()), D(0, text("ab"))] == inner(*events, live=False)[:2]
    assert [S(0, mo()), D(0, text("ab"))] == inner(*events)[:2]


def test_fields_of_a_block_of_1x():
    """
    A content block of 1.x has no step whose fields could be kept.
    """
    assert "text.started" in reasons(started(), *text_of("a", extra={"mood": 1}), ended(), generation=1)


def test_fields_of_what_was_cut():
    """
    What only the end says of how a part began is too late.
    """
    cut = TextEnded(message_id="m", text="a", complete=False, state={"i": 0, "extra": {"mood": 1}})
    begun = pieces("a", 0)[:2]
    call = input_of("c1", "", complete=False, signature="S=")

    assert ["text.ended"] == reasons(started(), *begun, cut, failed(interrupted()))
    assert ["tool.input.ended"] == reasons(started(), *call, failed(interrupted()))
    assert "S=" == told(started(), *call, failed(interrupted()), live=False)[2]["step"]["signature"]


def test_what_comes_late_of_what_was_cut():
    """
    Of two parts that were cut together the wire shows one.
    """
    one = TextEnded(message_id="m", text="a", complete=False, state={"i": 0})
    events = [*pieces("a", 0)[:2], one, *text_of("b", 1, complete=False)]

    assert ["text.started"] == reasons(started(), *events, failed(interrupted()))


def test_text_in_a_step_whose_sound_is_open():
    """
    Text ends the sound of its step, which is reported when it did not.
    """
    begun, end = media_of("audio/l16", b"a", type="audio")
    live = MediaDelta(message_id="m", offset=0, delta=b"a")
    events = [begun, live, *text_of("b"), end]

    assert "text.started" in reasons(started(), *events, ended(), live=False)


def test_a_call_that_waits_for_ever():
    """
    A call whose input never ends is told as far as it came.
    """
    begun = ToolInputStarted(message_id="m", call_id="c1", name="f")

    assert [S(0, fc())] == told(started(), begun, arguments="whole")[2:]
    assert [old(S(0, step("function_call", id="c1")))] == told(started(), begun, generation=1)[2:]


def test_a_call_that_was_cut():
    """
    What was written of its arguments is told, and the step left open.
    """
    call = input_of("c1", '{"a', complete=False)
    typed = input_of("s1", '{"a', "google_search", complete=False, provider=True, type="google_search_call")

    assert [S(0, fc()), D(0, args('{"a'))] == told(started(), *call, failed(interrupted()))[2:]
    assert D(0, args('{"a')) == told(started(), *typed, failed(interrupted()))[3]
    assert '{"a' == told(started(), *call, failed(interrupted()), generation=1)[3]["delta"]["arguments"]


def test_a_call_without_an_id():
    """
    Where the provider gave none there is a null; in 1.x the call has its name at once then.
    """
    call = input_of("call-1", "{}", id=None)

    assert S(0, fc(None)) == inner(*call)[0]
    assert old(S(0, step("function_call", id=None, name="f"))) == inner(*call, generation=1)[0]


def test_a_tool_of_the_provider_that_streams():
    """
    Arguments of the provider's own tools come whole, but for those of its sandbox.
    """
    pieces_of = [ToolInputDelta(message_id="m", call_id="x", offset=0, delta='{"a":1}')]
    file = input_of("x", '{"a":1}', "write_file", provider=True)
    search = input_of("x", '{"a":1}', "google_search", provider=True, type="google_search_call")

    assert [S(0, fc("x", "write_file")), D(0, args('{"a":1}')), X(0)] == inner(file[0], *pieces_of, file[1])
    assert D(0, delta("google_search_call", arguments={"a": 1})) == inner(search[0], *pieces_of, search[1])[1]


def test_arguments_in_other_words():
    """
    Arguments of a tool of the provider that are no plain JSON are told as text.
    """
    call = input_of("s1", '{"a": 1}', "google_search", provider=True, type="google_search_call", signature="S=")

    assert D(0, {**args('{"a": 1}'), "signature": "S="}) == inner(*call)[1]


def test_arguments_that_contradict_themselves():
    """
    An end that neither goes on from the pieces nor is an object cannot be told.
    """
    begun, first = CALL[0], CALL[1]
    end = ToolInputEnded(message_id="m", call_id="c1", text="[", state={"i": 0})

    assert ["tool.input.ended"] == reasons(started(), begun, first, end, ended())


def test_arguments_that_came_whole_already():
    """
    A signature comes with them, and pieces add nothing.
    """
    begun, *deltas, end = CALL[:-1]
    signed = ToolInputEnded(message_id="m", call_id="c1", text=end.text, state={"i": 0, "signature": "S="})

    assert [S(0, fc("c1", "f", {"a": 1}, signature="S=")), X(0)] == inner(begun, *deltas, signed, arguments="whole")


def test_a_result_after_one_without_its_call():
    """
    A result without its call is read at the end only, so one that follows is read before it.
    """
    lone = input_of("o1", "{}", "url_context", provider=True, type="url_context_call", orphan=True)
    call = input_of("x1", "{}", "file_search", provider=True, type="file_search_call")
    lone_result = success("o1", i=1, type="url_context_result")
    result = success("x1", i=2, type="file_search_result")

    assert ["tool.success"] == reasons(started(), *call, *lone, lone_result, result, ended())


def test_opaque_content_of_1x():
    """
    So it is told, whatever 1.x makes of it.
    """
    frames = inner(opaque(0, content={"type": "scent"}), generation=1)

    assert ["content.start", "content.stop"] == [frame["event_type"] for frame in frames]


def test_opaque_calls_with_arguments():
    """
    Arguments that came whole stand in the start.
    """
    nameless = opaque(0, type="function_call", id="c1", arguments={"a": 1})

    assert [S(0, step("function_call", id="c1", arguments={"a": 1})), X(0)] == inner(nameless)


def test_extra_deltas_of_a_text_that_goes_on():
    """
    Deltas of an unknown type that came between two parts of a step are told between them.
    """
    odd = {"type": "sparkle"}
    events = [*text_of("a"), *media_of("image/png", b"\0", type="image", deltas=[odd])]

    assert [S(0, mo()), D(0, text("a")), X(0), D(0, odd)] == inner(*events)[:4]


def test_other_fields_of_a_text():
    """
    Fields of a block of text that are not documented come behind its words.
    """
    more = D(0, {"text": "", "type": "text", "mood": 1})

    assert [S(0, mo()), D(0, text("a")), more, X(0)] == inner(*text_of("a", block={"mood": 1}))


def test_an_end_without_a_status():
    """
    Clients want a status, so one is made up where nobody gave any, and reported.
    """
    emitter = GeminiInteractionsEmitter()
    emitter.emit(started())
    [end] = emitter.emit(ended("tool-calls", None))

    assert "requires_action" == end["interaction"]["status"]
    assert ["step.ended"] == [left.event for left in emitter.left_out]


def test_counts_in_the_words_of_others():
    """
    Details that are not in the words of this provider are left behind.
    """
    end = ended(usage=Usage(input_tokens=1, output_tokens=2, details={"prompt_tokens": 1}))

    assert {"total_input_tokens": 1, "total_output_tokens": 2, "total_tokens": 3} == (
        told(started(), end)[-2]["interaction"]["usage"]
    )


def test_pieces_of_a_thought_that_was_cut():
    """
    What was thought so far is told, and the step left open; pieces again are nothing.
    """
    begun, first, _ = thought("p")
    cut = ReasoningEnded(message_id="m", text="pq", complete=False, state={"i": 0})

    assert [S(0, th()), D(0, summary("p")), D(0, summary("q"))] == (
        told(started(), begun, first, first, cut, failed(interrupted()))[2:]
    )


def test_pieces_of_arguments_again():
    """
    What was told is not told again, and what is lost comes with the end.
    """
    begun, first, second, end, _ = CALL

    assert [S(0, fc()), D(0, args('{"a":')), D(0, args("1}")), X(0)] == inner(begun, first, first, second, end)
    assert [S(0, fc()), D(0, args('{"a":1}')), X(0)] == inner(begun, second, end)


def test_late_unknown_deltas_of_a_thought():
    """
    Deltas of an unknown type that came after a thought had ended are followed by an empty summary, which ends it.
    """
    odd = {"type": "sparkle"}
    events = [*reasoning_of("p"), *reasoning_of("", deltas=[odd])]

    assert [D(0, odd), D(0, delta("thought_summary"))] == inner(*events)[3:]


def test_parts_of_one_output_in_1x():
    """
    In 1.x they are items of their own, so their place reads otherwise.
    """
    events = [started(), *text_of("a"), *media_of("image/png", b"\0", type="image"), ended()]

    assert ["media.started"] == reasons(*events, generation=1)
