"""
Cases 60 to 68 of the wire reference: 1.x, 2.x, both in one stream, and answers that came as one document.
"""

import pytest

from assistant_events import find_problems, fold
from assistant_events.adapters import load_dialect
from assistant_events.values import Citation, ErrorInfo, thaw

from .notation import (
    DIALECT,
    DONE,
    MODEL,
    USAGE,
    C,
    D,
    K,
    S,
    U,
    X,
    answer,
    args,
    call_of,
    delta,
    durable,
    ended,
    events,
    failed,
    fc,
    inner,
    interrupted,
    media_of,
    mo,
    notes,
    old,
    reasoning_of,
    signature,
    started,
    step,
    stream,
    summary,
    terminal,
    text,
    text_of,
    th,
)

DUMPED = (
    # What `model_dump()` of google-genai 1.75.0 gives for the events of a stream (run by us, 2026-11).
    {
        "interaction": {"id": "v1", "created": None, "status": "in_progress", "agent": None, "model": MODEL},
        "event_type": "interaction.start",
        "event_id": None,
    },
    {
        "content": {"type": "thought", "signature": None, "summary": None},
        "event_type": "content.start",
        "index": 0,
        "event_id": None,
    },
    {
        "delta": {"type": "thought_summary", "content": {"text": "Plan", "type": "text", "annotations": None}},
        "event_type": "content.delta",
        "index": 0,
        "event_id": None,
    },
    {
        "delta": {"type": "thought_signature", "signature": "QQ=="},
        "event_type": "content.delta",
        "index": 0,
        "event_id": None,
    },
    {"event_type": "content.stop", "index": 0, "event_id": None},
    {
        "content": {"text": None, "type": "text", "annotations": None},
        "event_type": "content.start",
        "index": 1,
        "event_id": None,
    },
    {"delta": {"text": "Hi", "type": "text"}, "event_type": "content.delta", "index": 1, "event_id": None},
    {
        "delta": {
            "type": "text_annotation",
            "annotations": [
                {"type": "url_citation", "end_index": 2, "start_index": 0, "title": None, "url": "https://e.x/"}
            ],
        },
        "event_type": "content.delta",
        "index": 1,
        "event_id": None,
    },
    {"event_type": "content.stop", "index": 1, "event_id": None},
    {
        "content": {"type": "image", "data": None, "mime_type": None, "resolution": None, "uri": None},
        "event_type": "content.start",
        "index": 2,
        "event_id": None,
    },
    {
        "delta": {"type": "image", "data": "YQ==", "mime_type": "image/png", "resolution": None, "uri": None},
        "event_type": "content.delta",
        "index": 2,
        "event_id": None,
    },
    {"event_type": "content.stop", "index": 2, "event_id": None},
    {
        "interaction": {
            "id": "v1",
            "status": "completed",
            "model": None,
            "outputs": [],
            "usage": {
                "total_input_tokens": 10,
                "total_output_tokens": 3,
                "total_tokens": 13,
                "total_cached_tokens": None,
            },
        },
        "event_type": "interaction.complete",
        "event_id": None,
    },
)

NOTE = {"type": "url_citation", "url": "https://e.x/", "title": "E", "start_index": 0, "end_index": 2}


def resource(steps=None, status="completed", **more):
    kept = {} if steps is None else {"steps": steps}
    return {"id": "v1", "model": MODEL, "status": status, **kept, "usage": USAGE, **more}


def of(document, **how):
    """
    Return the events of a document, having checked that they are legal.
    """
    found = DIALECT.decode_resource(document, "m", **how)
    assert [] == find_problems(found)
    return found


def kept(document, **how):
    return [event for event in of(document, **how) if event.durable]


def old_stream(*wire):
    return stream(*[old(event) for event in wire])


def test_c60_text_of_1x():
    """
    The old names give the same events.
    """
    body = old_stream(C(), S(0, step("text")), D(0, text("Hel")), D(0, text("lo")), X(0), K())

    assert [started(), *text_of("Hello"), ended()] == durable(body)
    assert events(stream(C(), S(0, mo()), D(0, text("Hel")), D(0, text("lo")), X(0), K())) == events(body)


def test_c60_first_text_in_the_start():
    """
    The block of the start may hold the first text.
    """
    assert text_of("Hello") == inner(old_stream(C(), S(0, text("Hel")), D(0, text("lo")), X(0), K()))


def test_c61_1x_without_starts():
    """
    Deltas alone are enough.
    """
    assert text_of("Hello") == inner(old_stream(C(), D(0, text("Hel")), D(0, text("lo")), X(0), K()))


def test_c62_function_call_of_1x():
    """
    The delta has everything; the call begins when id and name are known.
    """
    call = delta("function_call", id="c1", name="f", arguments={"city": "Oslo"}, signature="S=")
    body = old_stream(C(), S(0, step("function_call")), D(0, call), X(0), K("requires_action"))

    assert call_of("c1", '{"city":"Oslo"}', signature="S=") == inner(body)
    assert call_of("c1", '{"city":"Oslo"}', signature="S=") == inner(old_stream(C(), D(0, call), K()))


def test_c62_results_of_1x():
    """
    Results of the old form have their call's id in the delta.
    """
    body = old_stream(
        C(),
        D(0, delta("google_search_call", id="s1", arguments={"queries": ["q"]})),
        D(1, delta("google_search_result", call_id="s1", result=[{"rendered_content": "<div>"}])),
        K(),
    )

    assert (
        call_of("s1", '{"queries":["q"]}', "google_search", provider=True, type="google_search_call")
        == (inner(body)[:3])
    )
    assert "tool.success" == inner(body)[-1].type


def test_c63_thought_and_annotations_of_1x():
    """
    Thoughts and sources of 1.x are those of 2.x.
    """
    body = old_stream(
        *(C(), S(0, step("thought")), D(0, summary("Plan")), D(0, signature("c2ln")), X(0)),
        *(S(1, step("text")), D(1, text("Hi")), D(1, delta("text_annotation", annotations=[NOTE])), X(1)),
        K(),
    )
    cited = Citation(url="https://e.x/", title="E", start=0, end=2)

    assert [
        *reasoning_of("Plan", signature="c2ln"),
        *text_of("Hi", 1, citations=(cited,), annotations=[NOTE]),
    ] == inner(body)


def test_c63_source_only():
    """
    Early annotations have only `source`.
    """
    body = old_stream(
        C(), D(0, text("Hi")), D(0, delta("text_annotation", annotations=[{"source": "https://e.x/"}])), K()
    )

    assert (Citation(url="https://e.x/"),) == inner(body)[-1].citations


def test_c63_summary_beside_the_type():
    """
    An old server has the text of a summary in the delta itself.
    """
    assert reasoning_of("p") == inner(old_stream(C(), S(0, th()), D(0, delta("thought_summary", text="p")), X(0), K()))


def test_c63_thought_as_one_delta():
    """
    A whole thought may come as one delta.
    """
    whole = delta("thought", summary=[{"type": "text", "text": "p"}], signature="A=")

    assert reasoning_of("p", signature="A=") == inner(old_stream(C(), D(0, whole), K()))


def test_c64_both_in_one_stream():
    """
    Each event is read by its own name.
    """
    body = stream(C(), old(S(0, step("text"))), D(0, text("a")), old(D(0, text("b"))), X(0), old(K()))

    assert [started(), *text_of("ab"), ended()] == durable(body)


def test_c65_lyria():
    """
    Models that answer with `outputs` inside of a newer resource give media.
    """
    document = {
        "model": "lyria-3-pro-preview",
        "outputs": [{"type": "audio", "data": "AAAA", "mime_type": "audio/mpeg"}],
    }

    assert media_of("audio/mpeg", b"\0\0\0", type="audio") == kept(document)[1:-1]
    assert "stop" == kept(document)[-1].finish_reason


def test_c66_document_equals_stream():
    """
    Adjacent text blocks are one text, and their citations move along.
    """
    later = {**NOTE, "start_index": 0, "end_index": 1}
    moved = {**NOTE, "start_index": 2, "end_index": 3}
    steps = [
        th(signature="A=", summary=[{"type": "text", "text": "p"}]),
        step(
            "model_output",
            content=[
                {"type": "text", "text": "ø", "annotations": [NOTE]},
                {"type": "text", "text": "b", "annotations": [later]},
            ],
        ),
        fc("c1", "f", {"a": 1}),
    ]
    body = stream(
        *(C(), S(0, th()), D(0, summary("p")), D(0, signature("A=")), X(0)),
        *(S(1, mo()), D(1, text("øb")), D(1, notes(NOTE, moved)), X(1)),
        *(S(2, fc("c1", "f", {"a": 1})), X(2), K("requires_action")),
    )

    assert durable(body) == kept(resource(steps, "requires_action"))


def test_c67_document_without_id_and_steps():
    """
    An interaction that stopped early may have nothing at all.
    """
    assert [started("", None, served=None), ended("length", "incomplete", id="", usage=None)] == kept(
        {"status": "incomplete"}
    )


def test_c68_timeline_with_the_input():
    """
    The input of the app is left out; the generated steps count from 0.
    """
    steps = [step("user_input", content=[{"type": "text", "text": "hi"}]), mo("a")]

    assert text_of("a") == kept(resource(steps))[1:-1]


def test_a_timeline_with_earlier_turns():
    """
    The answer begins behind the last input, as `output_text` of google-genai 3.4 has it ("Previous turn. ").
    """
    asked = [step("user_input", content=[{"type": "text", "text": each}]) for each in ("hi", "and?")]
    steps = [asked[0], mo("Previous turn."), asked[1], step("thought", signature="A="), mo("a")]

    assert [*reasoning_of("", i=0, signature="A="), *text_of("a", i=1)] == kept(resource(steps))[1:-1]


@pytest.mark.parametrize("status", ["in_progress", "queued"])
def test_document_that_is_not_finished(status):
    """
    A resource that is still running has no valid end; what there is is kept.
    """
    found = kept(resource([mo("a")], status), request={"background": True})

    assert text_of("a") == found[1:-1]
    assert interrupted() == found[-1].error
    assert found[-1].run.resumable


def test_document_with_a_token():
    """
    A hop that wants to go on pauses, and keeps its token.
    """
    found = kept(resource([mo("a")], "requires_continuation", continuation_token="dG9r"))

    assert (
        ended("pause", "requires_continuation", state={"interaction_id": "v1", "continuation_token": "dG9r"})
        == found[-1]
    )


def test_document_of_an_error():
    """
    An error document is a failed step.
    """
    [_, found] = kept({"error": {"code": 404, "message": "gone", "status": "NOT_FOUND"}})

    assert ("not-found", "gone", "NOT_FOUND") == (found.error.kind, found.error.message, found.error.code)


def test_document_with_a_status_and_an_error():
    """
    An interaction that has failed without a step has its run, its model and its own error.
    """
    error = {"code": "invalid_argument", "message": "no"}
    document = {"id": "v1", "model": MODEL, "status": "failed", "error": error}
    expected = ErrorInfo(kind="invalid-request", message="no", code="invalid_argument")

    assert [started(), failed(expected)] == kept(document)


def test_document_that_has_ended_with_an_error_beside_it():
    """
    The status decides how an interaction ended; an error beside it does not count.
    """
    document = {"id": "v1", "model": MODEL, "status": "incomplete", "error": {"code": "internal", "message": "x"}}

    assert [started(), ended("length", "incomplete", usage=None)] == kept(document)


def test_document_of_an_empty_error():
    """
    An empty error is still not an answer.
    """
    [_, found] = kept({"error": {}})

    assert "protocol" == found.error.kind


@pytest.mark.parametrize("document", [{"steps": "x"}, {"steps": [1, None]}, {"status": []}, {"outputs": {}}])
def test_document_of_nothing(document):
    """
    Whatever a document lacks, there is a step and its end.
    """
    assert "step.ended" == kept(document)[-1].type


def test_document_is_read_like_a_stream_of_background():
    """
    The request counts as for a stream.
    """
    found = kept(resource([mo("a")]), request={"background": True, "model": "asked"})

    assert ("asked", True) == (found[0].origin.model, found[-1].run.resumable)


def test_status_updates_cause_nothing():
    """
    Updates of the status close nothing.
    """
    body = answer(U("queued"), S(0, mo()), D(0, text("a")), U("completed"), D(0, text("b")), X(0))

    assert text_of("ab") == inner(body)
    assert "completed" == terminal(body).raw_finish_reason


def test_other_names_of_the_status():
    """
    Pages of the migration have events of their own for a status.
    """
    body = answer({"event_type": "interaction.in_progress", "interaction_id": "v1"}, S(0, mo("a")), X(0), DONE)

    assert text_of("a") == inner(body)


def test_nulls_of_dumped_events():
    """
    A null in an event that google-genai 1.75 dumped is ignored: it starts no media item, and no state keeps it.
    """
    made = DIALECT.decoder("m")
    found = [event for each in DUMPED for event in made.feed_event(each)] + made.close()
    note = {"type": "url_citation", "end_index": 2, "start_index": 0, "url": "https://e.x/"}

    assert [
        started(),
        *reasoning_of("Plan", signature="QQ=="),
        *text_of("Hi", 1, citations=(Citation(url="https://e.x/", start=0, end=2),), annotations=[note]),
        *media_of("image/png", b"a", i=2, type="image"),
        ended(),
    ] == [event for event in found if event.durable]


def test_nulls_of_a_dumped_document():
    """
    Neither do nulls in a document.
    """
    blocks = [
        {"type": "thought", "signature": None, "summary": [{"text": "Plan", "type": "text", "annotations": None}]},
        {"type": "text", "text": "Hi", "annotations": None},
        {"type": "image", "data": "YQ==", "mime_type": "image/png", "resolution": None, "uri": None},
    ]
    document = {**resource(outputs=blocks), "steps": None, "errors": None, "environment_id": None}

    assert [*reasoning_of("Plan"), *text_of("Hi", 1), *media_of("image/png", b"a", i=2, type="image")] == [
        event for event in of(document) if event.durable
    ][1:-1]


def test_sources_in_a_text_delta_of_1_x():
    """
    Their places count from the start of the text, as in a delta of their own (python-genai, `content_delta.py`).
    """
    cited = {"type": "url_citation", "url": "https://u", "start_index": 6, "end_index": 10}
    frames = [
        {"event_type": "interaction.start", "interaction": {"id": "v1", "status": "in_progress"}},
        {"event_type": "content.start", "index": 0, "content": {"type": "text"}},
        {"event_type": "content.delta", "index": 0, "delta": {"type": "text", "text": "Hello "}},
        {"event_type": "content.delta", "index": 0, "delta": {"type": "text", "text": "Oslo!", "annotations": [cited]}},
        {"event_type": "content.stop", "index": 0},
        {"event_type": "interaction.complete", "interaction": {"id": "v1", "status": "completed"}},
    ]
    decoder = DIALECT.decoder("m")
    [part] = fold([event for frame in frames for event in decoder.feed_event(frame)]).last.parts

    assert [(6, 10)] == [(each.start, each.end) for each in part.citations]
    assert [cited] == thaw(part.state["annotations"])


def test_an_echo_of_results():
    """
    A document begins with the input of its turn (Google's migration page, 2026-05), which is not the answer.
    """
    steps = [
        {"type": "function_result", "call_id": "c1", "name": "f", "result": "rain"},
        {"type": "model_output", "content": [{"type": "text", "text": "It rains."}]},
    ]
    events = DIALECT.decode_resource({"id": "v1", "status": "completed", "steps": steps}, "m")

    assert [("text", "It rains.")] == [(part.type, part.text) for part in fold(events).last.parts]


def test_two_calls_at_one_index_of_1_x():
    """
    A call is one delta, so that another id is another call.
    """
    calls = [
        {"type": "function_call", "id": "c1", "name": "delete", "arguments": {"a": 1}},
        {"type": "function_call", "id": "c2", "name": "read", "arguments": {"a": 2}},
    ]
    frames = [
        {"event_type": "interaction.start", "interaction": {"id": "v1", "status": "in_progress"}},
        *({"event_type": "content.delta", "index": 0, "delta": call} for call in calls),
        {"event_type": "interaction.complete", "interaction": {"id": "v1", "status": "requires_action"}},
    ]
    decoder = DIALECT.decoder("m")
    found = fold([event for frame in frames for event in decoder.feed_event(frame)], strict=True).last

    assert [("c1", "delete", {"a": 1}), ("c2", "read", {"a": 2})] == [
        (call.call_id, call.name, call.input) for call in found.tool_calls
    ]


def test_steps_of_a_terminal_event_that_were_streamed():
    """
    They are the same again.
    """
    steps = [{"type": "user_input"}, {"type": "model_output", "content": [{"type": "text", "text": "a"}]}]
    frames = [
        {"event_type": "interaction.created", "interaction": {"id": "v1", "status": "in_progress"}},
        {"event_type": "step.start", "index": 1, "step": steps[1]},
        {"event_type": "step.stop", "index": 1},
        {"event_type": "interaction.completed", "interaction": {"id": "v1", "status": "completed", "steps": steps}},
    ]
    decoder = DIALECT.decoder("m")

    assert "a" == fold([event for frame in frames for event in decoder.feed_event(frame)]).last.text


def test_the_total_usage_of_a_delta():
    """
    It counts where the end has none.
    """
    frames = [
        {"event_type": "interaction.created", "interaction": {"id": "v1", "status": "in_progress"}},
        {"event_type": "step.start", "index": 0, "step": {"type": "model_output"}},
        {
            "event_type": "step.delta",
            "index": 0,
            "delta": {"type": "text", "text": "a"},
            "metadata": {"total_usage": {"total_input_tokens": 3, "total_output_tokens": 1}},
        },
        {"event_type": "interaction.completed", "interaction": {"id": "v1", "status": "completed"}},
    ]
    decoder = DIALECT.decoder("m")
    usage = fold([event for frame in frames for event in decoder.feed_event(frame)]).last.usage

    assert (3, 1) == (usage.input_tokens, usage.output_tokens)


def test_a_status_beside_the_name_of_an_event():
    """
    The status counts, and not the name of the event.
    """
    frames = [
        {"event_type": "interaction.created", "interaction": {"id": "v1", "status": "in_progress"}},
        {"event_type": "interaction.incomplete", "interaction": {"id": "v1", "status": "budget_exceeded"}},
    ]
    decoder = DIALECT.decoder("m")
    found = fold([event for frame in frames for event in decoder.feed_event(frame)]).last

    assert ("length", "budget_exceeded") == (found.finish_reason, found.raw_finish_reason)


def flat(name, **fields):
    """
    Return an event about an interaction as LiteLLM writes it: the fields of the interaction are its own.
    """
    return {"event_type": name, "id": "v1", "object": "interaction", "model": "gpt-5", **fields}


FLAT = {
    "2.x": [
        flat("interaction.created", status="in_progress"),
        S(0, step("model_output", content=[])),
        *(D(0, text("Hel")), D(0, text("lo")), X(0)),
        flat("interaction.completed", status="incomplete", steps=[mo("Hello")], usage=USAGE),
    ],
    "1.x": [
        flat("interaction.start", status="in_progress"),
        *[
            flat(f"content.{name}", delta=text(each))
            for name, each in [("start", ""), ("delta", "Hel"), ("delta", "lo")]
        ],
        flat("content.stop", delta=text("Hello")),
        flat("interaction.complete", status="incomplete", outputs=[text("Hello")], usage=USAGE),
    ],
    "without deltas": [
        flat("interaction.created", status="in_progress"),
        flat("interaction.completed", status="incomplete", steps=[mo("Hello")], usage=USAGE),
    ],
}


@pytest.mark.parametrize("frames", FLAT.values(), ids=FLAT)
def test_interactions_of_litellm(frames):
    """
    Its bridge (2026-09) has the fields of the interaction beside the type of the event.
    """
    [found] = fold(events(stream(*frames))).messages

    assert ["Hello"] == [part.text for part in found.parts]
    assert ("length", "incomplete") == (found.finish_reason, found.raw_finish_reason)
    assert ({"interaction_id": "v1"}, "gpt-5", 13) == (
        thaw(found.state),
        found.origin.served_model,
        found.usage.total_tokens,
    )


@pytest.mark.parametrize(("given", "made"), [("input_tokens", "output_tokens"), ("prompt_tokens", "completion_tokens")])
def test_an_interaction_of_ogx(given, made):
    """
    Its server (2026-09) has the fields of the interaction, and the type of a content, beside the type of the event.

    Its counts have the names of the Responses API; those of Chat Completions are in Google's manual (2026-05).
    """
    frames = [
        {"event_type": "interaction.start", "id": "v1", "status": "in_progress"},
        {"event_type": "content.start", "index": 0, "type": "text"},
        {"event_type": "content.delta", "index": 0, "delta": text("Hello")},
        {"event_type": "content.stop", "index": 0},
        {"event_type": "interaction.complete", "id": "v1", "status": "completed", "usage": {given: 10, made: 3}},
    ]
    [found] = fold(events(stream(*frames))).messages

    assert ("Hello", "completed") == (found.text, found.raw_finish_reason)
    assert ("v1", 10, 3) == (found.state["interaction_id"], found.usage.input_tokens, found.usage.output_tokens)


def test_a_failed_interaction_of_litellm():
    """
    It has failed, with the error that is beside its status.
    """
    error = {"code": "too_many_requests", "message": "Slow down."}
    [found] = fold(events(stream(FLAT["2.x"][0], flat("interaction.completed", status="failed", error=error)))).messages

    assert ("rate-limit", "Slow down.") == (found.error.kind, found.error.message)


def test_a_call_of_cliproxyapi():
    """
    Its id has the name that results have for it (2026-09): the answer to it is a result, and not a text.
    """
    step = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": {"a": 1}}
    transcript = fold(events(stream(C(), S(0, step), X(0), K("requires_action"))))
    [call] = transcript.pending_tool_calls
    transcript = fold([call.succeed("done")], start=transcript)
    sent = load_dialect("gemini-interactions").encoder(transcript, {"model": MODEL, "store": False}).body["input"]

    assert "c1" == call.call_id
    assert [("function_call", "c1"), ("function_result", "c1")] == [(each["type"], each["call_id"]) for each in sent]


CALL = {"type": "function_call", "id": "c1", "name": "f"}
NAMELESS = {"type": "function_call", "arguments": {}}
LATE = {
    "name in a second start": [S(0, NAMELESS), D(0, args('{"a": ')), S(0, {**CALL, "arguments": {}}), D(0, args("1}"))],
    "name in the stop": [S(0, NAMELESS), D(0, args('{"a": 1}')), {**X(0), "step": {**CALL, "arguments": {"a": 1}}}],
    "arguments in the stop": [S(0, CALL), {**X(0), "step": {**CALL, "arguments": {"a": 1}}}],
    "nothing new in the stop": [S(0, CALL), D(0, args('{"a": 1}')), {**X(0), "step": {**CALL, "arguments": {}}}],
    "text in the stop": [S(0, CALL), D(0, args('{"a": 1}')), {**X(0), "step": {**CALL, "arguments": '{"a": 1}'}}],
}


@pytest.mark.parametrize("frames", LATE.values(), ids=LATE)
def test_a_call_whose_name_or_arguments_come_late(frames):
    """
    They are those of the call, once (CLIProxyAPI, 2026-09).
    """
    [call] = fold(events(stream(C(), *frames, X(0), K("requires_action")))).pending_tool_calls

    assert ("c1", "f", {"a": 1}) == (call.call_id, call.name, call.arguments)


def test_a_signature_in_the_stop_of_a_call():
    """
    It is that of the call, as the name and the arguments are.
    """
    frames = [S(0, CALL), D(0, args('{"a": 1}')), {**X(0), "step": {**CALL, "signature": "c2ln"}}]
    [call] = fold(events(stream(C(), *frames, K("requires_action")))).pending_tool_calls

    assert "c2ln" == call.state["signature"]


def test_a_start_with_a_delta():
    """
    It is the type of the step, and the beginning of its text.
    """
    start = {"event_type": "content.start", "index": 0, "delta": text("a")}

    assert [started(), *text_of("ab"), ended()] == durable(stream(C(), start, D(0, text("b")), X(0), K()))


def test_a_result_whose_delta_is_a_signature():
    """
    What the start had stays.
    """
    found = [{"search_suggestions": "<p>"}]
    steps = [
        *(S(0, step("google_search_call", id="g1", arguments={"queries": ["q"]})), X(0)),
        S(1, step("google_search_result", call_id="g1", result=found)),
        *(D(1, delta("google_search_result", signature="c2ln")), X(1)),
    ]
    [call] = fold(events(answer(*steps))).last.tool_calls

    assert found == thaw(call.output[0].value)
    assert "c2ln" == call.result_state["signature"]


def test_a_delta_behind_the_stop_of_an_unknown_step():
    """
    It becomes one more part with the same number.
    """
    late = delta("hologram", beam=2)
    found = fold(events(answer(S(0, step("hologram", beam=1)), X(0), D(0, late)))).last

    assert [
        {"i": 0, "step": {"type": "hologram", "beam": 1}},
        {"i": 0, "step": {"type": "hologram"}, "deltas": [late]},
    ] == [thaw(part.state) for part in found.parts]


@pytest.mark.parametrize("name", ["step", "content"])
def test_a_start_without_a_type(name):
    """
    Its type is that of the first delta.
    """
    body = stream(C(), {"event_type": f"{name}.start", "index": 0}, D(0, text("a")), X(0), K())

    assert [started(), *text_of("a"), ended()] == durable(body)
