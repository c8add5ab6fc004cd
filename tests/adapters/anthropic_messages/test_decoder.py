"""
The cases of the Messages wire: what each stream becomes, worked out from the wire by hand.
"""

import base64
import json

import pytest

from assistant_events import AssistantMessage, ErrorKind, FinishReason, OpaquePart, ReasoningPart, TextPart, Usage, fold
from assistant_events.adapters import JsonLines
from assistant_events.adapters.anthropic_messages import vocabulary as words
from assistant_events.messages import CallStatus, MessageStatus, PartStatus
from assistant_events.values import Citation, JsonContent, TextContent, thaw

from .notation import (
    DIALECT,
    END,
    MODEL,
    PING,
    B,
    C,
    D,
    E,
    H,
    J,
    K,
    M,
    S,
    T,
    X,
    answer,
    encoded,
    events,
    message,
    result,
    stream,
    text,
    tool,
)
from .samples import CITED, SAMPLES, SEARCH, SERVER, SUMMARY


def parts(body):
    """
    Return type, text and state of each part of a stream; of a call its id, input, status and state.
    """
    found = []
    for part in message(body).parts:
        state = {key: value for key, value in thaw(part.state).items() if key != "i"}
        if isinstance(part, (TextPart, ReasoningPart)):
            found.append((part.type, part.text, state))
        elif isinstance(part, OpaquePart):
            found.append((part.type, state))
        else:
            found.append((part.type, part.call_id, part.name, part.input, part.status.value, state))
    return found


def call(id="toolu_1", name="f", input=None, status="called", **state):
    return "tool", id, name, {"a": 1} if input is None else input, status, state


TEXT = ("text", "Yes.", {})

PARTS = {
    "plain text": [("text", "Hello world", {})],
    "thinking": [("reasoning", "Let me see", {"signature": "EqQB"}), TEXT],
    "redacted thinking": [("reasoning", "", {"data": "EmwKAhgBEgy3va3p"}), call()],
    "thinking without text": [("reasoning", "", {"signature": "EqQB"}), TEXT],
    "parallel calls": [
        ("text", "I look.", {}),
        call(input={"a": "é"}),
        call("toolu_2", "g", caller={"type": "direct"}),
    ],
    "call without arguments": [call(input={})],
    "input in the start": [call(input={"a": [1]}, caller={"type": "code_execution_20260120"})],
    "compaction": [("opaque", {"block": {"type": "compaction", **SUMMARY}}), ("text", "Go on.", {})],
    "failed compaction": [("opaque", {"block": {"type": "compaction", "content": None}}), ("text", "Go on.", {})],
    "unknown block": [
        (
            "opaque",
            {"block": {"type": "hologram", "beam": [1, None]}, "deltas": [{"type": "hologram_delta", "beam": "x"}]},
        ),
        ("text", "So.", {}),
    ],
    "fallback": [
        (
            "opaque",
            {
                "block": {
                    "type": "fallback",
                    "from": {"model": "a"},
                    "to": {"model": "b"},
                    "trigger": {"type": "refusal"},
                }
            },
        ),
        ("text", "Hello", {}),
    ],
    "unknown block with its own deltas": [
        ("opaque", {"block": {"type": "connector_text", "connector_text": "It went on and on", "signature": "EqQB"}}),
    ],
    "unknown block of text": [
        ("opaque", {"block": {"type": "connector_text", "text": "So it went", "signature": "EqQB"}}),
        ("text", "Hm.", {}),
    ],
    "fallback without a stop": [
        ("opaque", {"block": {"type": "fallback", "to": {"model": "b"}}}),
        ("text", "Hello", {}),
    ],
    "overlapping thoughts": [
        ("reasoning", "one", {}),
        ("reasoning", "two", {"signature": "MQ=="}),
        ("reasoning", " more", {"signature": "MA=="}),
        ("text", "Both.", {}),
    ],
    "blocks without stops": [("text", "ab", {}), ("reasoning", "c", {}), ("text", "d", {})],
    "call without a name": [("opaque", {"id": "toolu_1", "arguments": '{"a":1}'}), ("text", "Hm.", {})],
    "starts behind their deltas": [("text", "a", {}), call("t", input={})],
    "content at the start": [call()],
}


@pytest.mark.parametrize("name", PARTS)
def test_parts(name):
    """
    Each block is one part; what has to go back is its state, under the names of the wire.
    """
    assert PARTS[name] == parts(SAMPLES[name])


def test_an_input_that_was_cut():
    """
    An input that is not JSON, for the answer reached its limit, fails and keeps what came; nothing is run.
    """
    cut = message(SAMPLES["input that was cut"])
    [called] = cut.tool_calls

    assert FinishReason.LENGTH is cut.finish_reason
    assert ("failed", '{"a":', None, ErrorKind.INVALID_INPUT) == (
        called.status.value,
        called.raw_input,
        called.input,
        called.error.kind,
    )


def test_an_unknown_block_that_was_cut():
    """
    The text that came is kept with it, and other deltas raw.
    """
    given = [B(0, "connector_text", text="So "), T(0, "it"), J(0, "{}"), C(0, type="x")]

    assert [
        (
            "opaque",
            {
                "block": {"type": "connector_text", "text": "So it"},
                "deltas": [delta["delta"] for delta in given[2:]],
            },
        )
    ] == parts(stream(M(), *given))


def test_deltas_win_over_the_input_of_the_start():
    """
    Where a start has an input and deltas follow, the deltas are the input.
    """
    body = answer(B(0, "mcp_tool_use", id="t", name="f", input={"a": 0}), J(0, '{"a":1}'), X(0))

    assert {"a": 1} == message(body).tool_calls[0].input


INPUTS = {
    "JSON": ('{"a":1}', [], '{"a":1}', "called"),
    "JSON before deltas": ("{}", ['{"a":1}'], '{"a":1}', "called"),
    "nothing": ("", [], "{}", "called"),
    "no JSON": ("a=1", [], "a=1", "failed"),
    "an array": ([{"a": 1}], [], '[{"a":1}]', "failed"),
    "an array before deltas": ([], ['{"a":1}'], '{"a":1}', "called"),
    "a number": (1, [], "1", "failed"),
}


@pytest.mark.parametrize(("start", "deltas", "raw", "status"), INPUTS.values(), ids=INPUTS)
def test_an_input_that_is_no_object(start, deltas, raw, status):
    """
    Transcoders write the input of the start as text, and models behind them an array, with which nothing is run.
    """
    body = answer(B(0, "tool_use", id="t", name="f", input=start), *[J(0, delta) for delta in deltas], X(0))
    [called] = message(body).tool_calls

    assert (raw, status) == (called.raw_input, called.status)


def test_an_input_that_is_a_text_with_half_of_a_surrogate_pair():
    """
    It has no UTF-8, and is read as in an input that is an object.
    """
    body = answer(B(0, "tool_use", id="t", name="f", input='{"a":"X"}'), X(0)).replace(b"X", rb"\ud800")
    [called] = message(body).tool_calls

    assert (CallStatus.CALLED, {"a": "\ud800"}) == (called.status, called.input)


# -- tools of the provider


def test_the_result_of_a_gateway():
    """
    A gateway that runs a tool writes its result as `tool_result`, which is sent back as it came.
    """
    search, _ = message(SAMPLES["result of a gateway"]).parts

    assert (CallStatus.SUCCESS, {"i": 1, "type": "tool_result"}) == (search.status, search.result_state)
    assert (JsonContent([{"type": "text", "text": "found"}]),) == search.output


@pytest.mark.parametrize(("call_id", "answered_id"), [(None, ""), ("", None)])
def test_a_result_of_a_call_without_an_id(call_id, answered_id):
    """
    A result that names no call is that of the call that has no id.
    """
    body = answer(*tool(0, call_id, type="server_tool_use"), *result(1, answered_id, content="1"))
    [call] = message(body).parts

    assert (CallStatus.SUCCESS, "1") == (call.status, call.output[0].text)


def test_results_of_one_index():
    """
    Two results under one index are two results, and so are two texts.
    """
    first, second, _ = message(SAMPLES["results without stops"]).parts
    texts = message(answer(B(0, "text", text="a"), B(0, "text", text="a"), B(0, "text", text="b"), X(0)))

    assert ([2, 3], "none") == ([each.result_state["i"] for each in (first, second)], second.output[0].text)
    assert ["a", "b"] == [part.text for part in texts.parts]


def test_a_search():
    """
    The result of a tool of the provider is shown without what is sealed; with its state it is the block again.
    """
    [search] = message(SAMPLES["web search"]).tool_calls
    [found] = search.output

    assert ("web_search", True, CallStatus.SUCCESS) == (search.name, search.provider_executed, search.status)
    assert JsonContent([{"type": "web_search_result", "url": "https://u", "title": "t"}]) == found
    assert {
        "i": 1,
        "type": "web_search_tool_result",
        "caller": {"type": "direct"},
        "sealed": {"/0/encrypted_content": "c2VhbGVk"},
    } == search.result_state


def test_an_output_that_is_encrypted():
    """
    What code has written is sealed where the model alone reads it; how it has ended is shown.
    """
    output = {"type": "encrypted_code_execution_result", "encrypted_stdout": "c2VhbGVk", "return_code": 0}
    ran = result(1, content=output, type="code_execution_tool_result")
    [code] = message(answer(*tool(0, "srvtoolu_1", "code_execution", "{}", "server_tool_use"), *ran)).tool_calls

    assert (JsonContent({"type": "encrypted_code_execution_result", "return_code": 0}),) == code.output
    assert {"/encrypted_stdout": "c2VhbGVk"} == code.result_state["sealed"]


def test_a_cited_text():
    """
    A cited text is a part of its own; its citations are shown, and kept whole with their sealed index.
    """
    *_, cited, last = message(SAMPLES["web search"]).parts

    assert (Citation(url="https://u", title="t", cited_text="so"),) == cited.citations
    assert {"i": 3, "citations": [CITED]} == cited.state
    assert () == last.citations


DOCUMENT = {
    "type": "char_location",
    "document_title": "d",
    "cited_text": "so",
    "start_char_index": 3,
    "end_char_index": 5,
}


def test_the_source_of_a_search_result_of_the_app():
    """
    It is the address that the app gave with the result.
    """
    place = {"search_result_index": 0, "start_block_index": 0, "end_block_index": 1}
    cited = {"type": "search_result_location", "source": "https://a/b", "title": "t", "cited_text": "so", **place}
    [part] = message(answer(B(0, "text", text="", citations=[]), C(0, **cited), T(0, "so"), X(0))).parts

    assert (Citation(url="https://a/b", title="t", cited_text="so"),) == part.citations


def test_places_in_documents_are_no_places_in_the_text():
    """
    The places of a citation are those of its document, which are kept in the state alone.
    """
    body = answer(B(0, "text", text="", citations=[DOCUMENT]), T(0, "so"), C(0, **DOCUMENT, file_id="f"), X(0))
    [part] = message(body).parts

    assert (Citation(title="d", cited_text="so"),) * 2 == part.citations
    assert [DOCUMENT, {**DOCUMENT, "file_id": "f"}] == thaw(part.state["citations"])


FAILED = {
    "by its type": (
        {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
        {},
        "max_uses_exceeded",
    ),
    "without a code": ({"type": "web_fetch_tool_result_error"}, {}, "the tool reported an error"),
    "by its flag": ("broken", {"is_error": True}, "the tool reported an error"),
}


@pytest.mark.parametrize(("content", "fields", "text"), FAILED.values(), ids=FAILED)
def test_a_tool_of_the_provider_that_failed(content, fields, text):
    """
    The code of the error is its message, and the output stays.
    """
    body = answer(*tool(0, **SERVER), *result(1, content=content, **fields))
    [search] = message(body).tool_calls
    code = None if isinstance(content, str) else content.get("error_code")

    assert (CallStatus.FAILED, ErrorKind.TOOL, text) == (search.status, search.error.kind, search.error.message)
    assert code == search.error.code
    assert (TextContent(content) if isinstance(content, str) else JsonContent(content),) == search.output


def test_a_command_that_failed_is_a_result():
    """
    The exit code of a command is not an error of the tool.
    """
    content = {"type": "code_execution_result", "return_code": 1, "stderr": "no"}
    body = answer(*tool(0, **SERVER), *result(1, content=content, type="code_execution_tool_result"))

    assert CallStatus.SUCCESS is message(body).tool_calls[0].status


def test_an_unknown_delta_of_a_result():
    """
    It is kept beside the result, which has been recorded; nothing of it can go back.
    """
    start, end = result(1, content=SEARCH)
    body = answer(*tool(0, **SERVER), start, D(1, "result_delta", more="x"), end, *text(2, "So."))
    decoder, found = DIALECT.decoder("a1"), message(body)
    decoder.feed(body)
    _, drops = encoded(found)

    assert {"i": 1, "deltas": [{"type": "result_delta", "more": "x"}]} == found.parts[1].state
    assert ["unknown-delta"] == [note.code for note in decoder.notes]
    assert [(1, "unplaced")] == drops


def test_the_result_of_an_earlier_message():
    """
    After a pause the result of a call of the message before comes at its place, raw.
    """
    first, second, third = message(SAMPLES["after a pause"]).parts

    block = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_0", "content": list(SEARCH)}
    assert ({"i": 0, "block": block}, "Here.", "web_search") == (first.state, second.text, third.name)


def test_the_result_of_an_earlier_message_without_a_stop():
    """
    It stays before what follows it, as the service wants it back.
    """
    found = message(answer(result(0, "srvtoolu_0", SEARCH)[0], *text(1, "Here."), *tool(2), stop_reason="tool_use"))

    assert ["web_search_tool_result", "text", "tool_use"] == [
        block["type"] for block in DIALECT.emit_resource(found)["content"]
    ]


def test_the_result_of_a_call_that_was_paused():
    """
    With the paused message at hand the result is that of its call, when it comes first.
    """
    paused = message(SAMPLES["paused"])
    first = answer(*result(0, content=SEARCH), *text(1, "Here."))
    later = answer(*text(0, "Hm."), *result(1, content=SEARCH))
    decoders = [DIALECT.decoder("a2", continues=paused) for _ in range(2)]
    found, raw = (decoder.feed(body) for decoder, body in zip(decoders, (first, later), strict=True))
    [answered] = [event for event in found if event.message_id == "a1"]

    assert ("tool.success", "srvtoolu_1", 2) == (answered.type, answered.call_id, answered.state["i"])
    assert ["a2"] * len(raw) == [event.message_id for event in raw]
    assert "opaque.received" in [event.type for event in raw]


# -- the message


FINISHES = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool-calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content-filter",
    "sensitive": "content-filter",
    "guardrail_intervened": "content-filter",
    "pause_turn": "pause",
    "compaction": "other",
    "stop": "stop",
    "tool_calls": "tool-calls",
    "length": "length",
    "content_filter": "content-filter",
    "word_of_tomorrow": "other",
    None: "other",
}


@pytest.mark.parametrize("reason", FINISHES)
def test_why_it_ended(reason):
    """
    Every stop reason has a finish reason, and is kept itself.
    """
    ended = message(answer(*text(0, "a"), stop_reason=reason))

    assert (FINISHES[reason], reason) == (ended.finish_reason, ended.raw_finish_reason)


def test_a_document_without_content():
    """
    MiniMax has null in place of blocks when thoughts took all tokens (decolua/9router#1631).
    """
    counts = {"input_tokens": 3, "output_tokens": 1}
    document = {"type": "message", "content": None, "stop_reason": "max_tokens", "usage": counts}
    ended = fold(DIALECT.decode_resource(document, "a1")).last

    assert ("completed", "length", 1) == (ended.status, ended.finish_reason, ended.usage.output_tokens)
    assert () == ended.parts


def test_a_stop_reason_of_a_failure():
    """
    Gateways end an answer that has failed with a stop reason (earendil-works/pi#1215).
    """
    ended = message(answer(*text(0, "a"), stop_reason="error"))

    assert ("failed", None, "provider", "error") == (
        ended.status,
        ended.finish_reason,
        ended.error.kind,
        ended.error.code,
    )
    assert ["a"] == [part.text for part in ended.parts]


def test_facts_of_the_message():
    """
    The container is state, for the next request names it; what is not sent is in the details.
    """
    body = stream(
        M(service_tier="standard"),
        K(
            "stop_sequence",
            stop_sequence="END",
            container={"id": "c1", "expires_at": "2026"},
            beside={"context_management": {"applied_edits": []}},
        ),
        END,
    )
    ended = message(body)

    assert {"message_id": "msg_1", "container": "c1"} == ended.state
    assert {
        "service_tier": "standard",
        "stop_sequence": "END",
        "container": {"expires_at": "2026"},
        "context_management": {"applied_edits": []},
    } == ended.details
    assert ("anthropic", MODEL, MODEL) == (ended.origin.provider, ended.origin.model, ended.origin.served_model)


def test_a_stop_although_a_call_waits():
    """
    Models behind gateways write `end_turn` after a call; their own word is kept.
    """
    ended, open_ = (message(answer(*frames, stop_reason="end_turn")) for frames in (tool(0), tool(0)[:2]))

    assert ("tool-calls", "end_turn") == (ended.finish_reason, ended.raw_finish_reason)
    assert "tool-calls" == open_.finish_reason


def test_facts_beside_the_end():
    """
    What a cloud writes into the first and the last frame is a detail, but for the counts that it repeats.
    """
    ended = message(
        stream({**M(), "region": "eu"}, *text(0, "a"), K(), {**END, "amazon-bedrock-guardrailAction": "NONE"})
    )

    assert {"region": "eu", "amazon-bedrock-guardrailAction": "NONE"} == ended.details


def test_a_refusal():
    """
    A refusal without any content is a completed message, with the reason in its details.
    """
    refused = message(SAMPLES["refusal"])

    assert (MessageStatus.COMPLETED, FinishReason.CONTENT_FILTER, ()) == (
        refused.status,
        refused.finish_reason,
        refused.parts,
    )
    assert {"type": "refusal", "category": "cyber", "explanation": "no"} == refused.details["stop_details"]


def usage(start, *deltas):
    return message(stream(M(usage=start), *[K(usage=each) for each in deltas], END)).usage


def test_counts_are_totals():
    """
    Later counts replace those of the start, absent and null ones leave them; parts that are counted apart are added.
    """
    start = {"input_tokens": 31, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 7, "output_tokens": 2}
    last = {"output_tokens": 188, "input_tokens": None, "output_tokens_details": {"thinking_tokens": 120}}
    merged = {**start, "output_tokens": 188, "output_tokens_details": {"thinking_tokens": 120}}

    assert Usage(
        input_tokens=938,
        output_tokens=188,
        cache_read_tokens=900,
        cache_write_tokens=7,
        reasoning_tokens=120,
        details=merged,
    ) == usage(start, {"output_tokens": 3}, last)


def test_zeros_at_the_end():
    """
    An end without counts of the input may have zeros in their place; those of the output count.
    """
    zeros = {"input_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, "output_tokens": 0}
    found = usage({"input_tokens": 31, "cache_read_input_tokens": 900, "output_tokens": 1}, zeros)

    assert (931, 900, 0, 0) == (
        found.input_tokens,
        found.cache_read_tokens,
        found.cache_write_tokens,
        found.output_tokens,
    )


def test_zeros_beside_a_count_of_the_input():
    """
    Behind a compaction the end counts the input of the answer alone, of which none is cached (claude-sonnet-4-6).
    """
    start = {"input_tokens": 100, "cache_read_input_tokens": 55096, "cache_creation_input_tokens": 0}
    end = {"input_tokens": 181, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, "output_tokens": 8}
    found = usage(start, end)

    assert (181, 0, 0, 8) == (
        found.input_tokens,
        found.cache_read_tokens,
        found.cache_write_tokens,
        found.output_tokens,
    )


def test_zeros_beside_the_counts_of_a_compaction():
    """
    An answer that was cut in its compaction has counts of that alone (claude-opus-5, braintrust-sdk-python).
    """
    zeros = {"input_tokens": 0, "output_tokens": 0}
    spent = {**zeros, "iterations": [{"type": "compaction", "input_tokens": 82, "output_tokens": 512}]}

    assert (None, None) == (usage(zeros), usage({**zeros, "iterations": []}))
    assert Usage(input_tokens=0, output_tokens=0, details=spent) == usage(spent)


def test_counts_that_change_at_a_gateway():
    """
    A gateway may know the input only at the end.
    """
    assert (61, 5) == (usage({"input_tokens": 43}, {"input_tokens": 61, "output_tokens": 5}).input_tokens, 5)


@pytest.mark.parametrize(
    "ending",
    [
        [K(usage=None), {**END, "usage": {"input_tokens": 61, "output_tokens": 5}}],
        [K(usage={"output_tokens": 2}), {**END, "usage": {"input_tokens": 61, "output_tokens": 5}}],
        [{"type": "message_delta", "delta": {"usage": {"input_tokens": 61, "output_tokens": 5}}}, K(usage=None), END],
    ],
    ids=["at the end alone", "at the end again", "inside the delta"],
)
def test_counts_at_other_places(ending):
    """
    LiteLLM has those of Bedrock in `message_stop`, and other gateways follow it.
    """
    found = message(stream(M(usage={"input_tokens": 0, "output_tokens": 0}), *text(0, "a"), *ending))

    assert Usage(input_tokens=61, output_tokens=5, details={"input_tokens": 61, "output_tokens": 5}) == found.usage
    assert "usage" not in found.details


def test_counts_with_a_fraction():
    """
    Some servers write counts as floats.
    """
    assert (5, 3) == tuple(
        getattr(usage({"input_tokens": 5.0}, {"output_tokens": 3.0}), side)
        for side in ("input_tokens", "output_tokens")
    )


def test_no_counts():
    """
    Zeros are written where nothing was counted.
    """
    assert usage({"input_tokens": 0, "output_tokens": 0}, {"output_tokens": 0}) is None


def test_counts_of_an_answer_that_failed():
    """
    Counts of an answer without an end are partial.
    """
    failed = message(stream(M(), *text(0, "a"), E()))

    assert {"input_tokens": 10, "output_tokens": 1, "partial": True} == failed.usage.details


# -- errors


ERRORS = {
    "first": (stream(E(request_id="r1")), "overloaded", True, {"request_id": "r1"}),
    "beside its type": (stream({"type": "error", "message": "Overloaded, try later"}), "provider", None, {}),
    "after text": (SAMPLES["error after text"], "overloaded", True, {}),
    "to be tried again": (stream(M(), E("api_error", "Internal")), "provider", True, {}),
    "too long": (stream(E("invalid_request_error", "prompt is too long: 9 > 8")), "context-length", None, {}),
    "of Vertex": (
        stream(M(), {"type": "error", "error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED"}}),
        "rate-limit",
        True,
        {"status": "RESOURCE_EXHAUSTED"},
    ),
    "of tomorrow": (stream(E("new_error", "m")), "provider", None, {}),
    "without a type": (b'data: {"error":{"message":"m"}}\n\n', "provider", None, {}),
    "bare behind its stop reason": (
        stream(M(), *text(0, "a"), K()) + b'{"error":{"type":"api_error","message":"m"}}',
        "provider",
        True,
        {},
    ),
    "spliced": (stream(M(), *text(0, "a"), M("msg_2")), "protocol", None, {}),
    "spliced behind its reason": (stream(M(), *text(0, "a"), K("end_turn"), M("msg_2")), "protocol", None, {}),
    "without an end": (SAMPLES["without an end"], "interrupted", True, {}),
}


@pytest.mark.parametrize("end", [b"", b"data: [DONE]\n\n"])
def test_an_answer_without_its_last_frame(end):
    """
    It has ended once its stop reason has come: gateways leave `message_stop` out, and the official client gives it.
    """
    body = stream(M(), *text(0, "a"), K("max_tokens")) + end

    assert (MessageStatus.COMPLETED, FinishReason.LENGTH) == ((found := message(body)).status, found.finish_reason)


@pytest.mark.parametrize(("body", "kind", "retryable", "details"), ERRORS.values(), ids=ERRORS)
def test_answers_that_fail(body, kind, retryable, details):
    """
    The step fails with the kind of the error; what came before is kept.
    """
    failed = message(body)

    assert MessageStatus.FAILED is failed.status
    assert (kind, retryable, details) == (failed.error.kind, failed.error.retryable, failed.error.details)


@pytest.mark.parametrize("fast", [True, False])
def test_pieces_of_a_call_around_another_without_input(fast):
    """
    The other has ended before what follows its end.
    """
    pieces = [J(0, each) for each in ("", "", "", "", '{"a"', ":1}")]
    other = [B(1, "tool_use", id="toolu_2", name="g", input={}), X(1)]
    decoder = DIALECT.decoder("m")
    decoder.fast = fast
    start = B(0, "tool_use", id="toolu_1", name="f", input={})
    found = [event.type for event in decoder.feed(stream(M(), start, *pieces[:2], *other, *pieces[2:]))]

    assert ["tool.input.ended", "tool.called", "tool.input.delta", "tool.input.delta"] == found[-4:]


def test_the_message_of_an_error():
    """
    Gateways write it inside of the error, in its place, or beside the type.
    """
    forms = [{"error": {"message": "broken"}}, {"error": "broken"}, {"message": "broken"}]

    assert {"broken"} == {message(stream({"type": "error", **form})).error.message for form in forms}


NAMED = {
    "a code and a message": (b'{"code":"Odd","message":"No"}', ("provider", "Odd", "No")),
    "a code of DashScope": (
        b'{"code":"Throttling.AllocationQuota","message":"No"}',
        ("rate-limit", "Throttling.AllocationQuota", "No"),
    ),
    "a type and a message": (
        b'{"type":"overloaded_error","message":"Busy"}',
        ("overloaded", "overloaded_error", "Busy"),
    ),
    "a detail": (b'{"detail":"boom"}', ("provider", None, "boom")),
}


@pytest.mark.parametrize(("data", "expected"), NAMED.values(), ids=NAMED)
def test_an_error_that_its_frame_names(data, expected):
    """
    DashScope sends such ones beside its status; the official client fails with each frame of that name.
    """
    failed = message(stream(M(), *text(0, "a")) + b"id:1\nevent:error\n:HTTP_STATUS/429\ndata:" + data + b"\n\n")

    assert ("a", *expected) == (failed.text, str(failed.error.kind), failed.error.code, failed.error.message)


def test_text_before_an_error_is_kept():
    """
    Open text ends incomplete with what came.
    """
    [part] = message(SAMPLES["error after text"]).parts

    assert ("Here", "incomplete") == (part.text, part.status)


HTTP = {
    401: ("authentication_error", "auth"),
    402: ("billing_error", "quota"),
    404: ("not_found_error", "not-found"),
    409: ("conflict_error", "invalid-request"),
    413: ("request_too_large", "invalid-request"),
    429: ("rate_limit_error", "rate-limit"),
    500: ("api_error", "provider"),
    504: ("timeout_error", "timeout"),
    529: ("overloaded_error", "overloaded"),
}


@pytest.mark.parametrize("status", HTTP)
def test_http_errors(status):
    """
    Errors before the stream have the same objects; the id of the request and the wait are kept.
    """
    word, kind = HTTP[status]
    body = json.dumps({"type": "error", "error": {"type": word, "message": "m"}, "request_id": "r1"}).encode()
    error = DIALECT.http_error(status, {"retry-after": "3"}, body)

    assert (kind, word, status, 3.0, "r1") == (
        error.kind,
        error.code,
        error.status,
        error.retry_after_s,
        error.details["request_id"],
    )


LIMITS = {
    "enforced_spend_limit_reached": ("quota", None),
    "contract_spend_limit_reached": ("quota", None),
    "user_profile_not_billable": ("quota", None),
    "user_profile_billing_not_authorized": ("quota", None),
    "ramp_limit_exceeded": ("rate-limit", True),
}


REASONS = {
    "organization_on_hold": ("auth", None),
    "claude_code_key_creator_not_member": ("auth", None),
    "request_body_timeout": ("timeout", True),
}


@pytest.mark.parametrize("code", REASONS)
def test_reasons_of_a_wrong_request(code):
    """
    The type and the status are those of a wrong request; only the code has the reason (anthropic 2.14).
    """
    document = E("invalid_request_error", "No.")
    document["error"]["details"] = {"error_code": code}
    error = DIALECT.http_error(400, {}, json.dumps(document).encode())

    assert REASONS[code] == (error.kind, error.retryable)


def test_an_error_without_its_event():
    """
    It is one of the service, whose type counts: a code beside it is of a gateway, and not of AWS.
    """
    body = b'data: {"error":{"type":"overloaded_error","code":"529","message":"Overloaded"}}\n\n'
    error = message(stream(M()) + body).error

    assert ("overloaded", "overloaded_error", "529") == (error.kind, error.code, error.details["code"])


def test_a_guardrail_of_a_gateway():
    """
    LiteLLM ends a stream with an error of its own; nothing is wrong with the request.
    """
    assert "content-filter" == message(stream(M(), E("guardrail_error", "Violated guardrail policy"))).error.kind


@pytest.mark.parametrize("code", LIMITS)
def test_limits_of_spending(code):
    """
    The type and the status are those of a rate limit; only the code has the reason (anthropic 2.14).
    """
    document = E("rate_limit_error", "No.")
    document["error"]["details"] = {"error_code": code}
    errors = [DIALECT.http_error(429, {}, json.dumps(document).encode()), message(stream(M(), document)).error]

    assert {LIMITS[code]} == {(error.kind, error.retryable) for error in errors}
    assert {("rate_limit_error", code)} == {(error.code, error.details["details"]["error_code"]) for error in errors}
    assert all(words.ERRORS.is_exact(error) for error in errors)


# -- what gateways do


def test_a_repeated_start():
    """
    A second start of the same message is noise.
    """
    assert message(stream(M(), M(), *text(0, "a"), K(), END)) == message(stream(M(), *text(0, "a"), K(), END))
    assert message(stream(M(), *text(0, "a"), K(), M(), END)) == message(stream(M(), *text(0, "a"), K(), END))


def test_a_delta_before_the_start_of_the_message():
    """
    A proxy has sent thinking before the start of the message, and of its block.
    """
    body = stream(H(0, "Hm"), M(), B(0, "thinking", thinking="", signature=""), S(0, "x"), X(0), K(), END)
    [part] = message(body).parts

    assert ("Hm", {"i": 0, "signature": "x"}) == (part.text, part.state)


def test_an_empty_signature_behind_the_real_one():
    """
    It takes nothing away.
    """
    body = stream(M(), B(0, "thinking", thinking=""), H(0, "Hm"), S(0, "x"), S(0, ""), X(0), K(), END)
    [part] = message(body).parts

    assert "x" == part.state["signature"]


@pytest.mark.parametrize("start", [{}, {"data": ""}, {"data": "Em"}])
@pytest.mark.parametrize("stop", [[X(0)], []])
def test_a_redacted_thought_in_deltas(start, stop):
    """
    Gateways send its data so, in pieces, also behind a beginning in its start.
    """
    pieces = ["Em", "wK"] if not start.get("data") else ["wK"]
    deltas = [D(0, "redacted_thinking_delta", data=piece) for piece in pieces]
    found = message(answer(B(0, "redacted_thinking", **start), *deltas, *stop, *text(1, "Yes.")))

    assert [("reasoning", "", {"i": 0, "data": "EmwK"}), ("text", "Yes.", {"i": 1})] == [
        (part.type, part.text, thaw(part.state)) for part in found.parts
    ]


def test_calls_of_one_index():
    """
    Calls that a transcoder sends under one index are two calls.
    """
    one, two = (B(0, "tool_use", id=f"t{at}", name="f", input={}) for at in range(2))

    assert ["t0", "t1"] == [call.call_id for call in message(answer(one, J(0, "{}"), two, J(0, "{}"))).tool_calls]


@pytest.mark.parametrize("index", [None, "0", 1.5, 7])
def test_an_index_that_is_missing_or_wrong(index):
    """
    A delta without a usable index is of the block that is open.
    """
    [part] = message(answer(B(0, "text", text=""), {**T(0, "a"), "index": index}, X(0))).parts

    assert "a" == part.text


def test_a_text_at_an_unknown_index_beside_an_open_call():
    """
    Such a delta is of the open block only where that is of its kind: a text does not become input.
    """
    first, second = J(0, '{"a":'), J(0, "1}")
    body = answer(
        B(0, "tool_use", id="t0", name="f", input={}), first, T(7, "Hi"), second, X(0), stop_reason="tool_use"
    )
    found = message(body)

    assert ("Hi", ['{"a":1}']) == (found.text, [call.raw_input for call in found.tool_calls])


FRAMES = {
    "without names": lambda event: b"data: %b\n\n" % json.dumps(event).encode(),
    "under a wrong name": lambda event: b"event: message\r\ndata: %b\r\n\r\n" % json.dumps(event).encode(),
    "with their type as the name alone": lambda event: (
        b"event: %b\ndata: %b\n\n" % (event["type"].encode(), json.dumps({**event, "type": None}).encode())
    ),
    "inside frames of Bedrock": lambda event: (
        b"data: %b\n\n"
        % json.dumps({"chunk": {"bytes": base64.b64encode(json.dumps(event).encode()).decode()}}).encode()
    ),
    "inside chunks of Bedrock": lambda event: (
        b"data: %b\n\n" % json.dumps({"bytes": base64.b64encode(json.dumps(event).encode()).decode()}).encode()
    ),
}
PLAIN = [M(), PING, *text(0, "Hello"), *tool(1), K("tool_use"), {**END, "amazon-bedrock-invocationMetrics": {"n": 1}}]


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_carriers_of_the_same_events(frame):
    """
    Names of frames are not needed where documents have types, nor types where frames have names; events inside frames
    of a cloud are the same.
    """
    assert events(stream(*PLAIN)) == events(b"".join(map(frame, PLAIN)))


@pytest.mark.parametrize("carrier", ["inside frames of Bedrock", "inside chunks of Bedrock"])
def test_an_error_without_a_type_inside_a_chunk(carrier):
    """
    It fails the step, as one outside of a chunk does.
    """
    error = message(
        stream(*PLAIN[:4]) + FRAMES[carrier]({"error": {"type": "overloaded_error", "message": "Busy"}})
    ).error

    assert ("overloaded", "Busy") == (error.kind, error.message)


def test_lines_of_json():
    """
    So are events one to a line.
    """
    body = b"".join(json.dumps(event).encode() + b"\n" for event in PLAIN)

    assert events(stream(*PLAIN)) == events(body, framing=JsonLines)


class Event:
    """
    An event of the official client, whose objects know which fields came.
    """

    def __init__(self, fields):
        self.fields = fields

    def model_dump(self, *, mode, by_alias, exclude_unset=False, exclude_none=False):
        assert ("json", True) == (mode, by_alias)
        fields = self.fields if exclude_unset else {**self.fields, "context_management": None}
        return without_nulls(fields) if exclude_none else fields


def without_nulls(value):
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def test_objects_of_the_official_client():
    """
    A null that came is sent back: the service requires the title of a citation that has none.
    """
    place = {"type": "char_location", "document_title": None, "cited_text": "so", "start_char_index": 0}
    given = [M(), B(0, "text", text=""), T(0, "so"), C(0, **place), X(0), K(), END]
    decoder = DIALECT.decoder("a1")
    for event in given:
        decoder.feed_event(Event(event))

    assert message(stream(*given)) == decoder.message
    assert [place] == thaw(decoder.message.parts[0].state["citations"])


def test_a_dump_of_the_official_client():
    """
    What is `from` on the wire is `from_` in a dump of the message (`model_dump`), and is sent back as `from`.
    """
    hop = {"type": "fallback", "from_": {"model": "a"}, "to": {"model": "b"}, "trigger": None}
    content = [hop, {"type": "text", "text": "Hi"}]
    body = {"type": "message", "role": "assistant", "model": MODEL, "content": content}
    sent, _ = encoded(message(body))

    assert {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}, "trigger": None} == sent[0]["content"][0]


def test_events_of_the_helpers_of_the_official_client():
    """
    Events that its streams derive from others are passed over, without a note.
    """
    decoder = DIALECT.decoder("a1")
    for event in [
        M(),
        B(0, "text", text=""),
        T(0, "a"),
        {"type": "text", "text": "a", "snapshot": "a"},
        X(0),
        K(),
        END,
    ]:
        decoder.feed_event(event)

    assert ([], True) == (decoder.notes, decoder.terminal)


def test_a_model_that_comes_late():
    """
    After the start of the step its model is a detail.
    """
    late = message(SAMPLES["delta before the message"])

    assert (None, {"served_model": MODEL}) == (late.origin.served_model, late.details)


def test_the_counts_of_vertex():
    """
    They repeat those of the message, and are not of an unknown type.
    """
    decoder = DIALECT.decoder("a1")
    decoder.feed(SAMPLES["counts of Vertex"])

    assert ([], 10) == (decoder.notes, decoder.message.usage.input_tokens)


def test_fields_of_deltas():
    """
    A field that is not known is kept raw with its part, beside what the delta adds.
    """
    thought, text_, call = message(SAMPLES["fields of deltas"]).parts

    assert ("Hm", "EqQB") == (thought.text, thought.state["signature"])
    # Official clients need the text of a delta, also of one that is written again.
    assert [
        {"type": "thinking_delta", "thinking": "", "logprob": -1.5},
        {"type": "signature_delta", "key": "k1"},
    ] == thaw(thought.state["deltas"])
    assert ("It is so.", [CITED]) == (text_.text, thaw(text_.state["citations"]))
    assert [{"type": "text_delta", "text": "", "source": "s"}, {"type": "citations_delta", "rank": 2}] == thaw(
        text_.state["deltas"]
    )
    assert ({}, [{"type": "input_json_delta", "partial_json": "", "at": 7}]) == (
        call.arguments,
        thaw(call.state["deltas"]),
    )


def test_content_at_the_start_of_an_answer_that_fails():
    """
    It came whole.
    """
    [part] = message(stream(M(content=[{"type": "text", "text": "Hello"}]), E())).parts

    assert ("Hello", PartStatus.COMPLETED) == (part.text, part.status)


def test_an_error_of_which_the_type_alone_is_known():
    """
    The name of its frame shows that it is one, behind gateways.
    """
    failed = message(stream(M(), *text(0, "a")) + b'event: error\ndata: {"type":"overloaded_error"}\n\n')

    assert ErrorKind.OVERLOADED is failed.error.kind


@pytest.mark.parametrize("event", [{"type": "tool_check", "error": "none so far"}, {"note": "x"}])
def test_an_event_that_is_no_error(event):
    """
    An error has that type, or none at all: others may be about anything.
    """
    decoder = DIALECT.decoder("a1")
    data = b"data: %b\n\n" % json.dumps(event).encode()
    decoder.feed(stream(M(), *text(0, "a")) + data + stream(K(), END))

    assert (None, ["unknown-event"]) == (decoder.error, [note.code for note in decoder.notes])


def test_a_citation_in_a_delta_of_an_unknown_type():
    """
    It may be anything, and is kept raw.
    """
    delta = {"type": "source_delta", "citation": CITED}
    [part] = message(answer(B(0, "text", text="So"), D(0, **delta), X(0))).parts

    assert ((), [delta]) == (part.citations, thaw(part.state["deltas"]))


def test_the_estimate_of_tokens():
    """
    It is left out, without a note.
    """
    decoder = DIALECT.decoder("a1")
    decoder.feed(stream(M(), B(0, "thinking", thinking=""), D(0, "thinking_delta", thinking="Hm", estimated_tokens=3)))

    assert ([], "Hm") == (decoder.notes, decoder.message.parts[0].text)
    assert "deltas" not in decoder.message.parts[0].state


def test_fields_beside_the_text_of_a_raw_block():
    """
    What a delta has beside the text of an unknown block is kept raw, and what a compaction has is a field of it.
    """
    body = answer(
        *(B(0, "connector_text", connector_text=""), D(0, "connector_text_delta", connector_text="a", source="s")),
        *(D(0, "connector_text_delta", connector_text="b", estimated_tokens=3), D(0, "note_delta", connector_text="n")),
        X(0),
        *(B(1, "compaction", content=""), D(1, "compaction_delta", content="Sum", encrypted_content="EqQB"), X(1)),
    )
    connector, compaction = [thaw(part.state) for part in message(body).parts]

    assert {"type": "connector_text", "connector_text": "ab"} == connector["block"]
    note = {"type": "note_delta", "connector_text": "n"}  # it may be about the text
    assert [{"type": "connector_text_delta", "source": "s"}, note] == connector["deltas"]
    assert {"type": "compaction", "content": "Sum", "encrypted_content": "EqQB"} == compaction["block"]
    assert "deltas" not in compaction


PIECES = {
    "texts": [("Sum", "Ep"), ("med up", "Eq")],
    "a text, then what is encrypted": [("Summed up", None), (None, "Eq")],
    "what is encrypted, then a text": [(None, "Eq"), ("Summed up", None)],
}


@pytest.mark.parametrize("pieces", PIECES.values(), ids=PIECES)
def test_a_compaction_in_pieces(pieces):
    """
    Its text grows, of what is encrypted the last counts, and null takes nothing away (anthropic-sdk-typescript#1164).
    """
    deltas = [D(0, "compaction_delta", content=text, encrypted_content=sealed) for text, sealed in pieces]
    [part] = message(answer(B(0, "compaction", content=None, encrypted_content=None), *deltas, X(0))).parts

    assert {"type": "compaction", "content": "Summed up", "encrypted_content": "Eq"} == thaw(part.state["block"])


def test_a_compaction_that_begins_with_what_is_encrypted():
    """
    What is encrypted comes whole, in whatever order the fields of a delta are.
    """
    begun = B(0, "compaction", content="", encrypted_content="Eq")
    [part] = message(answer(begun, D(0, "compaction_delta", encrypted_content="Eq", content="Sum"), X(0))).parts

    assert {"type": "compaction", "content": "Sum", "encrypted_content": "Eq"} == thaw(part.state["block"])


def test_a_citation_of_nothing():
    """
    It is not a source, and one that is not an object is kept raw.
    """
    nothing, odd = (
        message(answer(B(0, "text", text=""), T(0, "a"), D(0, "citations_delta", citation=citation), X(0))).parts[0]
        for citation in (None, "https://u")
    )

    assert ((), {"i": 0}) == (nothing.citations, thaw(nothing.state))
    assert ((), [{"type": "citations_delta", "citation": "https://u"}]) == (odd.citations, thaw(odd.state["deltas"]))


def test_a_document_with_one_text():
    """
    A server that writes the content of an answer as one text has one block.
    """
    [part] = message({"type": "message", "role": "assistant", "content": "Hello", "stop_reason": "end_turn"}).parts

    assert "Hello" == part.text


def test_events_of_tomorrow():
    """
    An event of an unknown type is passed over with a note.
    """
    decoder = DIALECT.decoder("a1")
    decoder.feed(stream(M(), {"type": "content_block_hint"}, D(9, "new_delta"), *text(0, "a"), K(), END))

    assert ["unknown-event", "stray-delta"] == [note.code for note in decoder.notes]
    assert isinstance(decoder.message, AssistantMessage)


# -- detection


KNOWN = [M(), B(0, "text", text=""), K(), END, E(), {"type": "message", "role": "assistant", "content": []}]
STRANGE = [
    {},
    {"type": "error", "code": "x", "message": "m"},
    {"type": "response.created"},
    {"type": "message", "role": "user", "content": []},
    {"type": "message", "role": "assistant", "content": "Hi"},
    {"type": 1},
]


def test_detection():
    """
    The first frames and whole answers are known; those of other wires are not.
    """
    assert [True] * len(KNOWN) == [DIALECT.detect(document) for document in KNOWN]
    assert [False] * len(STRANGE) == [DIALECT.detect(document) for document in STRANGE]


def test_indexes_that_nothing_counts_to():
    """
    An index of thousands of digits is a block like any other.
    """
    body = stream(M(), *[T(7, "word ")] * 12, K(), END)

    assert "word " * 12 == message(body.replace(b'"index":7', b'"index":' + b"9" * 5000)).text


def test_the_model_of_a_fallback():
    """
    The service has begun with another one: the official client, too, names the message after the last (2.12).
    """
    assert {"served_model": "b"} == message(SAMPLES["fallback"]).details


FALLBACK = {"type": "fallback", "to": {"model": "b"}}
CONNECTOR = {"type": "connector_text", "text": "So it went"}


ODD = {
    "text of an unknown block without a stop": (
        stream(M(), B(0, "connector_text", text="So "), T(0, "it went"), K(), END),
        [("opaque", {"block": CONNECTOR})],
        [0],
    ),
    "a result of a call without a name": (
        answer(B(0, "server_tool_use", id="srvtoolu_1"), J(0, "{}"), X(0), *result(1, content=SEARCH)),
        [
            ("opaque", {"type": "server_tool_use", "id": "srvtoolu_1", "arguments": "{}"}),
            (
                "opaque",
                {"block": {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [*SEARCH]}},
            ),
        ],
        [0, 1],
    ),
    "text of an unknown block that began without any": (
        answer(B(0, "connector_text"), T(0, "So "), T(0, "it went"), X(0)),
        [("opaque", {"block": CONNECTOR})],
        [0],
    ),
    "a thought of an unknown block": (
        answer(B(0, "new_thought"), H(0, "H"), H(0, "m"), X(0)),
        [("opaque", {"block": {"type": "new_thought", "thinking": "Hm"}})],
        [0],
    ),
    "a call that begins again with its input": (
        answer(*tool(0)[:2], B(0, "tool_use", id="toolu_1", name="f", input={"a": 1}), X(0)),
        [call()],
        [0],
    ),
    "a delta behind the end of another block": (
        answer(*text(0, "a"), T(1, "b"), X(1)),
        [("text", "a", {}), ("text", "b", {})],
        [0, 1],
    ),
    "a second block at one index": (
        answer(*text(0, "a"), *tool(1), *text(0, "b")),
        [("text", "a", {}), call(), ("text", "b", {})],
        [0, 1, 2],
    ),
    "a thought at the index of a text without a start": (
        answer(T(0, "a"), B(0, "thinking", thinking="b", signature="EqQB"), X(0)),
        [("text", "a", {}), ("reasoning", "b", {"signature": "EqQB"})],
        [0, 1],
    ),
    "a text at the index of an open call": (
        answer(B(0, "tool_use", id="toolu_1", name="f", input={}), J(0, '{"a"'), T(0, "\n"), J(0, ":1}"), X(0)),
        [call(), ("text", "\n", {})],
        [0, 1],
    ),
    "a text and a thought at the index of an open call": (
        answer(
            *(B(0, "tool_use", id="toolu_1", name="f", input={}), T(0, "a"), H(0, "b"), S(0, "EqQB")),
            *(J(0, '{"a":'), T(0, "c"), J(0, "1}"), X(0)),
        ),
        [call(), ("text", "a", {}), ("reasoning", "b", {"signature": "EqQB"}), ("text", "c", {})],
        [0, 1, 2, 3],
    ),
    "an input at the index of a call that has ended": (
        answer(*tool(0), T(0, "a"), J(0, '{"b":2}')),
        [call(), ("text", "a", {}), ("opaque", {"id": None, "arguments": '{"b":2}'})],
        [0, 1, 2],
    ),
    "empty inputs at the index of a text": (
        answer(B(0, "text", text=""), J(0, ""), T(0, "Hi "), J(0, ""), T(0, "you"), J(0, ""), X(0)),
        [("text", "Hi you", {})],
        [0],
    ),
    "text behind an opaque block that has ended": (
        answer(B(0, "container_upload", file_id="f"), X(0), T(0, "late")),
        [("opaque", {"block": {"type": "container_upload", "file_id": "f"}}), ("text", "late", {})],
        [0, 1],
    ),
}


@pytest.mark.parametrize(("body", "expected", "numbers"), ODD.values(), ids=ODD)
def test_blocks_out_of_the_usual(body, expected, numbers):
    """
    Nothing is lost, and each block has a number of its own, by which parts go back together.
    """
    assert expected == parts(body)
    assert numbers == [part.state["i"] for part in message(body).parts]


def test_a_call_whose_start_comes_late_before_a_fallback():
    """
    The start gives it its id, by which it fails as replaced.
    """
    late = [J(0, '{"a":'), B(0, "tool_use", id="toolu_1", name="f", input={}), J(0, "1}"), X(0)]
    decoder = DIALECT.decoder("a1")
    decoder.feed(answer(*late, B(1, **FALLBACK), X(1), *text(2, "b")))

    assert (None, ["no-result"]) == (decoder.failure, [each.error.kind for each in decoder.message.tool_calls])


@pytest.mark.parametrize("blocks", [(*tool(0, **SERVER), *result(1)), tool(0)], ids=["of the provider", "of the app"])
def test_a_call_before_two_fallbacks(blocks):
    """
    It has one result, and nothing else to note.
    """
    decoder = DIALECT.decoder("a1")
    decoder.feed(answer(*blocks, B(2, **FALLBACK), X(2), B(3, **FALLBACK), X(3), *text(4, "b")))

    assert [] == decoder.notes


def test_the_last_of_what_comes_twice():
    """
    The container and the stop reason that come last count.
    """
    body = stream(M(container={"id": "c1"}), *text(0, "a"), K("end_turn", container={"id": "c2"}), K("max_tokens"), END)
    found = message(body)

    assert ("c2", FinishReason.LENGTH) == (found.state["container"], found.finish_reason)
