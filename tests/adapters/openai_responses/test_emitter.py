"""
What the emitter writes on the Responses wire. Laws 11 and 12 are held in `tests/laws/test_emitting.py`.
"""

import attrs
import pytest

from assistant_events import ErrorInfo, Usage, find_problems, fold
from assistant_events.messages import MessageStatus
from assistant_events.recorder import Recorder
from assistant_events.testing import Call, answer, durable, origin
from assistant_events.values import JsonContent

from .notation import (
    DIALECT,
    added,
    annotation,
    body,
    call,
    completed,
    created,
    done,
    events,
    failed,
    frame,
    hosted,
    incomplete,
    message,
    numbered,
    output_text,
    reasoning,
    response,
    stream,
    text,
    thoughts,
)
from .samples import (
    FILE,
    LOGPROBS,
    OVERLAP,
    PERPLEXITY,
    SAMPLES,
    SEARCH,
    SHELL,
    SHELL_OUTPUT,
    TOOL_SEARCH,
    TOOL_SEARCH_OUTPUT,
    URL,
)


def emitted(given, **options):
    """
    Return drops, frames and what their bytes are decoded to.
    """
    emitter = DIALECT.emitter(**options)
    frames = [frame for event in given for frame in emitter.emit(event)] + emitter.close()
    found = events(b"".join(map(emitter.to_bytes, frames)))
    assert [] == find_problems(found)
    return emitter.drops, frames, found


def test_overlapping_reasonings_are_reported():
    """
    What cannot be written as it came is a drop.
    """
    drops, _, found = emitted(events(OVERLAP))

    assert drops
    assert fold(events(OVERLAP)).last.text == fold(found).last.text


def test_the_document_of_an_answer_that_failed():
    """
    It has the error, and what came before.
    """
    document = DIALECT.emit_resource(message(SAMPLES["failure"]))

    assert ("failed", "server_error", "Hi") == (
        document["status"],
        document["error"]["code"],
        document["output"][0]["content"][0]["text"],
    )


def test_the_document_of_an_answer_that_goes_on():
    """
    It is in progress, with the items so far.
    """
    running = fold(DIALECT.decoder("a1").feed(SAMPLES["call"][:-900])).last
    document = DIALECT.emit_resource(running)

    assert (MessageStatus.RUNNING, "in_progress") == (running.status, document["status"])
    assert ["reasoning", "function_call"] == [item["type"] for item in document["output"]]


def test_the_order_of_frames():
    """
    Frames come in the order of the service, numbered from 0, and the last one has all items.
    """
    _, frames, _ = emitted(events(stream(reasoning(0, "Hm."), text(1, "Hi"), call(2, "{}"))))

    assert [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ] == [frame["type"].removeprefix("response.") for frame in frames]
    assert list(range(len(frames))) == [frame["sequence_number"] for frame in frames]
    assert ["reasoning", "message", "function_call"] == [item["type"] for item in frames[-1]["response"]["output"]]


def test_starts_are_empty():
    """
    Texts, annotations and input come behind the start of their item and their part.
    """
    _, frames, _ = emitted(events(stream(text(0, "Hi", annotations=[annotation(0, 0, URL)]), call(1, "{}"))))
    starts = [
        each.get("item", each.get("part")) for each in frames if each["type"].endswith(("item.added", "part.added"))
    ]

    assert [([], None, None), (None, "", []), (None, None, None)] == [
        (each.get("content"), each.get("text"), each.get("annotations")) for each in starts
    ]
    assert "" == starts[-1]["arguments"]


def test_two_calls_at_one_place():
    """
    A log of a damaged stream may have them, with messages between; each is an item, and the one that moved is a drop.
    """
    item = {"id": "lsh_1", "type": "local_shell_call", "call_id": "call_1", "action": {"command": ["ls"]}}
    shell = [done(0, **item)]
    given = [
        attrs.evolve(each, state={**each.state, "i": 0}) if each.type == "tool.input.ended" else each
        for each in events(stream(shell, text(0, "Hi"), shell, text(0, "Hi"), shell))
    ]
    drops, frames, found = emitted(given)

    kinds = [each["type"] for each in frames[-1]["response"]["output"]]
    assert ("local_shell_call", 3) == (kinds[0], kinds.count("local_shell_call"))
    assert [{"action": item["action"]}] * 3 == [each.arguments for each in fold(found).last.tool_calls]
    assert drops


@pytest.mark.parametrize("cut", range(3, 12))
def test_an_answer_that_was_cut(cut):
    """
    It stops without an end, and comes back as cut.
    """
    frames = numbered(created(), *reasoning(0, "Hm."), *text(1, "Hi"))
    decoder = DIALECT.decoder("a1")
    given_events = decoder.feed(body(*frames[:cut])) + decoder.close(ErrorInfo(kind="interrupted", message="cut"))
    _, written, found = emitted(given_events)

    assert not {"response.completed", "response.failed"} & {frame["type"] for frame in written}
    assert [part.type for part in fold(given_events).last.parts] == [part.type for part in fold(found).last.parts]
    assert fold(given_events).last.text == fold(found).last.text


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (incomplete("max_output_tokens"), "incomplete"),
        (failed(code="server_error", message="Boom"), "failed"),
        (frame("cancelled", response=response("cancelled")), "cancelled"),
    ],
    ids=["incomplete", "failed", "cancelled"],
)
def test_the_end_of_an_answer_that_has_no_end(end, status):
    """
    The last frame has the status of the service, and what came.
    """
    _, frames, _ = emitted(events(stream(text(0, "Hi"), end=end)))
    last = frames[-1]["response"]

    assert (status, ["Hi"]) == (last["status"], [item["content"][0]["text"] for item in last["output"]])


def test_the_error_of_a_call_that_another_provider_has_run():
    """
    The item has its message.
    """
    called = Call("search", {}, call_id="s1", provider_executed=True, error=ErrorInfo(kind="tool", message="No page"))
    document = DIALECT.emit_resource(fold(answer(calls=[called], origin=origin(dialect="acme-chat"))).last)

    assert ["No page"] == [item["error"] for item in document["output"]]


@pytest.mark.parametrize(
    ("answered", "output"),
    [({"output": JsonContent([{"url": "u"}])}, '[{"url":"u"}]'), ({"output": "found"}, "found"), ({}, None)],
    ids=["json", "text", "none"],
)
def test_a_call_that_another_provider_has_run(answered, output):
    """
    It is one of an MCP server: clients require its name, a text for the output, and the end of each item.
    """
    called = Call("search", {"q": 1}, call_id="s1", provider_executed=True, **answered)
    given = answer(calls=[called], origin=origin(dialect="acme-chat"))
    [item] = DIALECT.emit_resource(fold(given).last)["output"]
    found = ("mcp_call", "search", "search", output)

    assert found == (item["type"], item["name"], item["server_label"], item.get("output"))
    assert [item] == emitted(given)[1][-1]["response"]["output"]


@pytest.mark.parametrize(
    ("text", "error"),
    [('{"q', None), ('{"q":1}', ErrorInfo(kind="provider", message="Boom"))],
    ids=["cut input", "failed answer"],
)
def test_a_call_of_another_provider_that_has_not_ended(text, error):
    """
    Its item has no end where its input was cut, or the answer has failed.
    """
    given = []
    recorder = Recorder("a1", sink=given)
    recorder.start(origin(dialect="acme-chat"))
    recorder.tool_input("s1", "search", text, provider_executed=True)
    recorder.end_tool_input("s1", complete=error is not None)
    recorder.finish("length") if error is None else recorder.fail(error)

    assert ["mcp_call"] == [each["item"]["type"] for each in emitted(given)[1] if "item" in each]


@pytest.mark.parametrize("text", ["", '{"q'])
@pytest.mark.parametrize("is_hosted", [False, True])
def test_a_call_of_another_provider_that_was_cut_is_not_in_the_last_frame(text, is_hosted):
    """
    Clients do not look at its status: the AI SDK would run it with an empty input.
    """
    given = []
    recorder = Recorder("a1", sink=given)
    recorder.start(origin(dialect="acme-chat"))
    recorder.tool_input("s1", "search", text, provider_executed=is_hosted)
    recorder.end_tool_input("s1", complete=False)
    recorder.finish("length")

    assert [] == emitted(given)[1][-1]["response"]["output"]


def test_a_call_whose_item_the_service_has_left_open():
    """
    It comes back open: an end would be a result that nothing has given.
    """
    given = events(stream([added(0, **{**SEARCH, "status": "in_progress"})], text(1, "Hi")))
    drops, frames, found = emitted(given)

    assert ((), fold(given)) == (drops, fold(found))
    assert ["message"] == [each["item"]["type"] for each in frames if each["type"].endswith("item.done")]


def test_a_text_that_was_cut_has_no_end():
    """
    The service writes `done` when a text is finished, so a client that reads half of one gets none; others have it.
    """
    given_events = events(body(created(), *thoughts(0, "First.", "Second.")[:-2]))
    _, frames, _ = emitted(given_events)
    ends = [(frame["type"], frame["summary_index"]) for frame in frames if frame["type"].endswith("done")]

    assert [("response.reasoning_summary_text.done", 0), ("response.reasoning_summary_part.done", 0)] == ends


def test_the_status_of_an_item_that_was_cut():
    """
    It is that of its start, where some servers write that it is complete.
    """
    drops, frames, _ = emitted(events(body(created(), added(0, **SEARCH))))

    assert () == drops
    assert [SEARCH] == [frame["item"] for frame in frames if "item" in frame]


def test_a_call_that_the_limit_has_cut():
    """
    Its item has ended so, and is in the last response.
    """
    item = {
        "id": "fc_1",
        "type": "function_call",
        "call_id": "c1",
        "name": "f",
        "arguments": '{"a',
        "status": "incomplete",
    }
    given = stream(added(0, **{**item, "arguments": ""}), done(0, **item), end=incomplete("max_output_tokens", item))
    _, frames, _ = emitted(events(given))

    assert [item] == [frame["item"] for frame in frames if frame["type"] == "response.output_item.done"]
    assert [item] == frames[-1]["response"]["output"]


def test_a_run_that_becomes_known_late():
    """
    That an answer runs in the background may be in a later frame than the first; one that was cut has it, too.
    """
    later = created(background=True)
    frames = numbered(created(), *text(0, "Hi"), {**later, "type": "response.in_progress"})
    decoder = DIALECT.decoder("a1")
    given_events = decoder.feed(body(*frames)) + decoder.close()
    drops, _, found = emitted(given_events)

    assert [False, True] == [given_events[0].run.resumable, given_events[-1].run.resumable]
    assert () == drops
    assert fold(given_events).last.run == fold(found).last.run


def test_calls_at_one_place():
    """
    The decoder gives calls at one place of a damaged stream numbers of their own, which a call behind them has not.
    """
    frames = [call(index, f'{{"x": {at}}}', id=f"fc_{at}", call_id=f"c{at}") for at, index in enumerate([0, 0, 1])]
    found = message(stream(*frames))
    arguments = [item["arguments"] for item in DIALECT.emit_resource(found)["output"]]

    assert ['{"x": 0}', '{"x": 1}', '{"x": 2}'] == arguments


def test_reasoning_and_text_are_ended_in_turn():
    """
    An item is ended as soon as all of it is written, also one that has no field but its id.
    """
    _, frames, _ = emitted(events(stream(reasoning(0, encrypted=None), text(1, "Hi"), start=created(store=False))))

    assert ["reasoning", "message"] == [each["item"]["type"] for each in frames if each["type"].endswith("item.done")]


def test_items_of_other_dialects_are_ended_in_turn():
    """
    A text without a number is an item of its own, which ends before the next one.
    """
    given = events(stream(text(0, "Hi"), call(1, "{}")))
    given[0] = attrs.evolve(given[0], origin=attrs.evolve(given[0].origin, dialect="other"))
    _, frames, _ = emitted(given)

    assert ["message", "function_call"] == [each["item"]["type"] for each in frames if "item.done" in each["type"]]


def test_a_text_in_two_fragments():
    """
    A text that another one has cut is one text again, and its item is written when all of it has come, in order.
    """
    _, frames, _ = emitted(events(OVERLAP))
    begun = [each["output_index"] for each in frames if "part.added" in each["type"]]
    whole = [each["text"] for each in frames if each["type"].endswith("_text.done")]

    assert ([0, 1, 2], ["One more", "Two", "So."]) == (begun, whole)


def test_reasonings_that_end_behind_a_call():
    """
    They are written in order, and the last response has the state of the first one, which came last.
    """
    drops, frames, found = emitted(events(SAMPLES["reasonings that end behind a call"]))

    assert () == drops
    assert ["rs_1", "rs_2", "fc_1"] == [each["id"] for each in frames[-1]["response"]["output"]]
    assert [(0, None), (1, "gAAA-2"), (2, None), (0, "gAAA-1")] == [
        (each.state["i"], each.state.get("encrypted_content")) for each in fold(found).last.parts
    ]


def test_events_of_an_item_with_two_texts():
    """
    All of them have the id of the item, which comes with its last text.
    """
    _, frames, _ = emitted(events(stream(reasoning(0, "First.", "Second."))))
    ids = {each.get("item_id", each.get("item", {}).get("id")) for each in frames if "output_index" in each}

    assert {"rs_1"} == ids


def test_events_of_the_sources_of_a_text():
    """
    Each source has an event of its own before the text ends, as clients show it.
    """
    _, frames, _ = emitted(events(SAMPLES["cited text"]))
    added = [each for each in frames if each["type"] == "response.output_text.annotation.added"]

    assert [(0, URL), (1, FILE)] == [(each["annotation_index"], each["annotation"]) for each in added]
    assert frames.index(added[-1]) < [each["type"] for each in frames].index("response.output_text.done")


def test_log_probabilities():
    """
    The end of a text and its item have them; the start of its part does not, nor do its pieces, as they differ.
    """
    given = stream(done(0, type="message", role="assistant", content=[output_text("Hi", logprobs=LOGPROBS)]))
    _, frames, _ = emitted(events(given))
    shown = {
        each["type"].removeprefix("response."): each.get("part", each).get("logprobs")
        for each in frames
        if "content_index" in each
    }

    assert {
        "content_part.added": [],
        "output_text.delta": [],
        "output_text.done": LOGPROBS,
        "content_part.done": LOGPROBS,
    } == shown
    assert LOGPROBS == frames[-1]["response"]["output"][0]["content"][0]["logprobs"]


def test_a_shell_whose_output_is_an_item():
    """
    Its call has ended without it.
    """
    _, frames, _ = emitted(events(stream(hosted(0, **SHELL), hosted(1, **SHELL_OUTPUT))))
    done_items = [each["item"] for each in frames if each["type"].endswith("item.done")]

    assert [SHELL, SHELL_OUTPUT] == done_items == frames[-1]["response"]["output"]
    started = [each["item"] for each in frames if each["type"].endswith("item.added")]
    assert ["in_progress", SHELL_OUTPUT["status"]] == [item["status"] for item in started]


def test_a_search_for_tools():
    """
    Call and output have the null that the service has as their id: the AI SDK refuses the answer without it.
    """
    given = stream(hosted(0, **TOOL_SEARCH), hosted(1, **TOOL_SEARCH_OUTPUT))
    output = emitted(events(given))[1][-1]["response"]["output"]

    assert [TOOL_SEARCH, TOOL_SEARCH_OUTPUT] == output == DIALECT.emit_resource(message(given))["output"]


def test_fields_of_a_text_without_a_word_here():
    """
    They come back where they were.
    """
    item = {"type": "message", "role": "assistant", "content": [output_text("Hi", audience="user")]}

    assert [item] == DIALECT.emit_resource(message(stream(done(0, **item))))["output"]


def test_a_response_without_a_status():
    """
    It comes back without one.
    """
    end = completed()
    del end["response"]["status"]

    assert "status" not in DIALECT.emit_resource(message(stream(text(0, "Hi"), end=end)))


def test_an_answer_of_others_that_was_paused():
    """
    It is complete: nothing was cut.
    """
    given = answer("Hi", finish_reason="pause", origin=origin(dialect="anthropic-messages"))

    assert "completed" == DIALECT.emit_resource(fold(given).last)["status"]


@pytest.mark.parametrize("sources", [0.5, True, "none", {"url": URL}], ids=str)
def test_sources_that_are_no_list(sources):
    """
    They come back as they came, without events of their own.
    """
    item = {"type": "message", "role": "assistant", "content": [{**output_text("Hi"), "annotations": sources}]}
    drops, frames, _ = emitted(events(stream(done(0, **item))))

    assert ((), [item]) == (drops, frames[-1]["response"]["output"])
    assert [] == [each for each in frames if "annotation" in each]


def test_items_without_a_field():
    """
    Which text is their last is known at the end of the answer; then they are written.
    """
    item = {"type": "message", "role": "assistant", "content": [output_text("Hi")]}
    drops, frames, found = emitted(events(stream(done(0, **item))))

    assert ((), "Hi") == (drops, fold(found).last.text)
    assert [item] == frames[-1]["response"]["output"]


def test_events_that_stop_early():
    """
    A text whose item has not come whole is written when the events stop, once.
    """
    sample = events(SAMPLES["two summaries"])
    emitter = DIALECT.emitter()
    at = [each.type for each in sample].index("reasoning.ended")
    frames = [frame for each in sample[: at + 1] for frame in emitter.emit(each)]
    last = emitter.close()

    assert [] == [each for each in frames if "delta" in each]
    assert ["First."] == [each["delta"] for each in last if "delta" in each]
    assert [] == emitter.close() == DIALECT.emitter().close()


def test_calls_of_the_provider_are_shown_before_their_results():
    """
    The item of a call begins with its input, and ends with its result.
    """
    sample = events(SAMPLES["hosted tools"])
    emitter = DIALECT.emitter()
    before = sample[: [each.type for each in sample].index("tool.success")]
    written = [frame["type"] for each in before for frame in emitter.emit(each)]

    assert "response.output_item.added" == written[-1]


@pytest.mark.parametrize("kept", [list, durable], ids=["all", "durable"])
def test_a_call_for_which_there_is_another_item(kept):
    """
    The call is not written, and reported as a drop: its results are an item of their own.
    """
    drops, _, found = emitted(kept(events(PERPLEXITY)))

    assert 0 in {drop.part for drop in drops}
    assert ["reasoning", "reasoning", "opaque", "text"] == [part.type for part in fold(found).last.parts]


def test_usage_of_others():
    """
    It is in the words of this wire, although its decoder reads those of Chat Completions too.
    """
    usage = Usage(input_tokens=7, output_tokens=2, details={"prompt_tokens": 7, "completion_tokens": 2})
    given = answer("Hi", usage=usage, origin=origin(dialect="openai-chat"))
    written = {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}

    assert written == emitted(given)[1][-1]["response"]["usage"]
    assert written == DIALECT.emit_resource(fold(given).last)["usage"]


def test_counts_of_one_side():
    """
    Clients refuse a usage without the other: an answer whose prompt was blocked has no output.
    """
    given = answer("", usage=Usage(input_tokens=7), origin=origin(dialect="gemini-generate-content"))
    usage = DIALECT.emit_resource(fold(given).last)["usage"]

    assert (7, 0) == (usage["input_tokens"], usage["output_tokens"])


def test_the_total_of_counts_of_one_side():
    """
    Clients require it, and it is what is known.
    """
    given = answer("", usage=Usage(input_tokens=7), origin=origin(dialect="gemini-generate-content"))

    assert 7 == DIALECT.emit_resource(fold(given).last)["usage"]["total_tokens"]


def test_an_end_that_has_no_word():
    """
    The answer is incomplete without details: clients refuse a reason that is null.
    """
    given = answer("Hi", finish_reason="other", origin=origin(dialect="openai-chat"))
    end = emitted(given)[1][-1]["response"]

    assert ("incomplete", None) == (end["status"], end["incomplete_details"])


def test_fields_that_every_response_has():
    """
    Official clients require them, whatever the request was, which is not known here (openai 3.54, `response`).
    """
    required = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "metadata": {}, "error": None}
    document = DIALECT.emit_resource(message(SAMPLES["text"]))

    assert required == {key: document[key] for key in required}


def test_ids_of_answers_of_others():
    """
    Official clients refuse items without an id, and calls that end without a status.
    """
    given = answer("Hi", reasoning="Hm", calls=[Call("f", {}, call_id="c1")], origin=origin(dialect="openai-chat"))
    _, frames, _ = emitted(given)
    output = DIALECT.emit_resource(fold(given).last)["output"]

    assert [
        ("rs_a1_0", "reasoning", None),
        ("msg_a1_1", "message", "completed"),
        ("fc_a1_2", "function_call", "completed"),
    ] == [(item["id"], item["type"], item.get("status")) for item in output]
    assert output == frames[-1]["response"]["output"]
    assert ("resp_a1", False) == (frames[0]["response"]["id"], frames[0]["response"]["store"])
    assert {"rs_a1_0", "msg_a1_1", "fc_a1_2"} == {frame["item_id"] for frame in frames if "item_id" in frame}
    started = [frame["item"] for frame in frames if frame["type"] == "response.output_item.added"]
    assert [None, "in_progress", "in_progress"] == [item.get("status") for item in started]
