"""
The cases of the wire reference (`c1` to `c18`), and what the decoder makes of odd streams.
"""

import json

import attrs
import pytest

from assistant_events import OpaquePart, ReasoningPart, TextPart, ToolPart, UserMessage, fold
from assistant_events.adapters import AwsChunkStream, JsonLines, load_dialect
from assistant_events.adapters.bedrock_converse import dialect, read_exception
from assistant_events.adapters.claude import JOINS_THOUGHTS
from assistant_events.values import ErrorInfo, thaw

from .notation import (
    DIALECT,
    MODEL,
    REQUEST,
    B,
    C,
    D,
    E,
    G,
    H,
    J,
    K,
    M,
    R,
    T,
    U,
    X,
    answer,
    events,
    message,
    stream,
    text,
    tool,
)
from .samples import FACTS, NOVA, RAN, TRACE, WEB, result

DOCUMENT = {
    "output": {"message": {"role": "assistant", "content": [{"text": "Hello"}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15},
    "metrics": {"latencyMs": 812},
}


def parts(body, **options):
    """
    Return the parts of a stream: their class and text, of a call its name and input.
    """
    found = []
    for part in message(body, **options).parts:
        if isinstance(part, ToolPart):
            found.append((part.name, part.arguments))
        else:
            found.append((part.type, getattr(part, "text", None)))
    return found


def document(*content, **more):
    """
    Return the message of a document with these blocks.
    """
    whole = {**DOCUMENT, "output": {"message": {"role": "assistant", "content": list(content)}}, **more}
    return fold(DIALECT.decode_resource(whole, "a1")).last


def types(found):
    return [event.type for event in found]


def test_c1_texts_have_no_start():
    """
    The first delta of an index begins its text; two indexes are two texts.
    """
    assert [("text", "One."), ("text", "Two.")] == parts(answer(*text(0, "One."), *text(1, "Two.")))
    assert types(events(answer(*text(0, "One.")))) == [
        *("step.started", "text.started", "text.delta", "text.ended", "step.ended")
    ]


def test_the_start_of_a_message():
    """
    The answer begins with it, before any content.
    """
    assert ["step.started"] == types(DIALECT.decoder("a1").feed(stream(M)))


def test_c2_reasoning_with_a_signature():
    """
    The signature is the state of the reasoning before the text.
    """
    found = message(answer(H(0, "Need "), H(0, "weather."), G(0, "EpwC"), X(0), *text(1, "Sunny.")))
    thought, said = found.parts

    assert isinstance(thought, ReasoningPart)
    assert ("Need weather.", {"i": 0, "signature": "EpwC"}) == (thought.text, thaw(thought.state))
    assert isinstance(said, TextPart)
    assert "Sunny." == said.text


def test_c2_the_last_signature_counts():
    """
    A second signature replaces the first.
    """
    assert "new" == message(answer(H(0, "a"), G(0, "old"), G(0, "new"), X(0))).parts[0].state["signature"]


def test_c3_redacted_content_as_bytes_and_as_base64():
    """
    Bytes of boto3 and base64 of the raw stream are the same state: one value, of all bytes of the block.
    """
    raw = message(answer(R(0, "YQ=="), R(0, "Yg=="), R(0, "Yw=="), X(0), *text(1, "So.")))
    decoder = DIALECT.decoder("a1")
    given = [R(0, b"a"), R(0, b"b"), R(0, b"c"), X(0), *text(1, "So."), K(), U()]
    found = [event for each in [M, *given] for event in decoder.feed_event(each)] + decoder.close()

    assert {"i": 0, "redactedContent": "YWJj"} == thaw(raw.parts[0].state)
    assert "" == raw.parts[0].text
    assert raw.parts == fold(found).last.parts


def test_c3_redacted_content_that_is_cut():
    """
    What came before an exception is kept; text that is not base64 is joined as it is.
    """
    assert "YQ==" == message(stream(M, R(0, "YQ=="), E())).parts[0].state["redactedContent"]
    assert "#1#2" == message(answer(R(0, "#1"), R(0, "#2"), X(0))).parts[0].state["redactedContent"]


def test_c4_two_calls():
    """
    Each index is a call, also when their inputs alternate.
    """
    start = [B(1, toolUse={"toolUseId": "t1", "name": "f"}), B(2, toolUse={"toolUseId": "t2", "name": "g"})]
    body = answer(*start, J(1, '{"a"'), J(2, '{"b"'), J(1, ":1}"), J(2, ":2}"), X(1), X(2), reason="tool_use")

    assert [("f", {"a": 1}), ("g", {"b": 2})] == parts(body)
    assert ["t1", "t2"] == [call.call_id for call in message(body).tool_calls]
    assert ("tool-calls", "tool_use") == (message(body).finish_reason, message(body).raw_finish_reason)


def test_c5_a_call_without_input():
    """
    No input, or an empty one, is an empty object.
    """
    start = B(0, toolUse={"toolUseId": "t1", "name": "f"})

    assert [("f", {})] == parts(answer(start, X(0))) == parts(answer(start, J(0, ""), X(0)))


def test_c6_a_text_without_a_stop():
    """
    A text ends when the next block begins.
    """
    found = events(answer(T(0, "I look."), *tool(1), reason="tool_use"))

    assert types(found)[3:5] == ["text.ended", "tool.input.started"]


@pytest.mark.parametrize("ending", [(K("max_tokens"), U()), (U(), K("max_tokens"))])
def test_c7_metadata_on_either_side(ending):
    """
    The answer ends when both the stop reason and the metadata have come.
    """
    decoder = DIALECT.decoder("a1")
    decoder.feed(stream(M, *text(0, "Hello"), ending[0]))

    assert not decoder.terminal
    assert "step.ended" == decoder.feed(stream(ending[1]))[-1].type
    assert decoder.terminal
    assert (10, 5, 15) == (
        decoder.message.usage.input_tokens,
        decoder.message.usage.output_tokens,
        decoder.message.usage.total_tokens,
    )


def test_c8_metadata_is_missing():
    """
    At the end of the body the stop reason suffices; a body that was cut there is not an answer.
    """
    body = stream(M, *text(0, "Hello"), K())
    decoder = DIALECT.decoder("a1")
    decoder.feed(body)
    decoder.close(ErrorInfo(kind="network", message="cut"))

    assert ("completed", None) == (message(body).status, message(body).usage)
    assert "network" == decoder.message.error.kind
    assert "interrupted" == message(stream(M, *text(0, "Hello"), U())).error.kind


@pytest.mark.parametrize("missing", ["nothing but a byte", "all but a byte", "the payload"])
def test_c14_a_body_that_ends_within_the_metadata(missing):
    """
    The stream was cut, although the stop reason has come: its counts are not known.
    """
    head = len(stream(M, *text(0, "Hello"), K()))
    body = stream(M, *text(0, "Hello"), K(), U())
    end = {"nothing but a byte": len(body) - 1, "all but a byte": head + 1, "the payload": head + 60}[missing]
    found = message(body[:end])

    assert ("failed", "interrupted", True) == (found.status, found.error.kind, found.error.retryable)
    assert ("Hello", None) == (found.text, found.usage)


def test_c9_an_exception_after_text():
    """
    The text is kept as incomplete, and the error has the name of the exception.
    """
    found = message(stream(M, T(0, "before"), E(message="Too many requests")))

    assert ("before", "incomplete") == (found.text, found.parts[0].status)
    assert ("rate-limit", "throttlingException", True) == (found.error.kind, found.error.code, found.error.retryable)
    assert "Too many requests" == found.error.message


def test_c9_facts_of_an_exception():
    """
    What else an exception has is kept.
    """
    facts = {"originalStatusCode": 500, "originalMessage": "broken"}
    error = message(stream(E("modelStreamErrorException", "No", **facts))).error

    assert ("provider", True) == (error.kind, error.retryable)
    assert facts == thaw(error.details)


def test_c9_an_exception_of_boto3():
    """
    botocore raises instead of returning the event; its response has the error.
    """
    exceptions = pytest.importorskip("botocore.exceptions", reason="the official client is not installed")
    failure = exceptions.EventStreamError(
        {"Error": {"Code": "throttlingException", "Message": "slow"}}, "ConverseStream"
    )
    decoder = DIALECT.decoder("a1")
    for event in (M, T(0, "before")):
        decoder.feed_event(event)
    decoder.close(read_exception(failure.response))

    assert ("before", "rate-limit", "slow") == (
        decoder.message.text,
        decoder.message.error.kind,
        decoder.message.error.message,
    )


def test_c9_an_exception_of_boto3_before_the_stream():
    """
    A refused request has a status, and the id of the request.
    """
    facts = {"RequestId": "r1", "HTTPStatusCode": 403}
    error = read_exception({"Error": {"Code": "AccessDeniedException", "Message": "no"}, "ResponseMetadata": facts})

    assert ("auth", 403, "accessDeniedException", "r1") == (
        error.kind,
        error.status,
        error.code,
        error.details["requestId"],
    )


def test_c10_a_malformed_call():
    """
    The step fails, with the usage, and so does the call whose input is cut.
    """
    found = message(answer(*text(0, "I try."), *tool(1, input='{"a":')[:2], reason="malformed_tool_use"))

    assert ("provider", "malformed_tool_use", True) == (found.error.kind, found.error.code, found.error.retryable)
    assert ("failed", '{"a":') == (found.tool_calls[0].status, found.tool_calls[0].raw_input)
    assert 5 == found.usage.output_tokens


def test_c11_the_code_interpreter():
    """
    The call of the provider and its result are one part; what events have no words for is their state.
    """
    [call, said] = message(answer(*tool(0, **NOVA), *result(1, RAN, status="success"), *text(2, "So."))).parts

    assert (True, "success") == (call.provider_executed, call.status)
    assert RAN["json"] == thaw(call.output[0].value)
    assert {"i": 0} == thaw(call.state)
    assert {"i": 1, "type": "nova_code_interpreter_result", "status": "success"} == thaw(call.result_state)
    assert "So." == said.text


def test_c11_a_failed_tool_of_the_provider():
    """
    The status is that of the block; the text is the message.
    """
    [call] = message(answer(*tool(0, **NOVA), *result(1, {"text": "no sandbox"}, status="error"))).parts

    assert ("failed", "tool", "no sandbox") == (call.status, call.error.kind, call.error.message)


def test_c11_a_result_without_a_call():
    """
    It is kept raw, at its place.
    """
    raw, said = message(answer(*result(0, RAN, id="other"), *text(1, "So."))).parts

    assert isinstance(raw, OpaquePart)
    fields = {"toolUseId": "other", "type": "nova_code_interpreter_result", "content": [RAN]}
    assert {"toolResult": fields} == thaw(raw.state["block"])
    assert "So." == said.text


def test_c11_a_result_of_a_call_without_an_id():
    """
    A result that names no call is that of the call that has no id.
    """
    call = B(0, toolUse={"name": "f", "type": "server_tool_use"}), X(0)
    [found] = message(answer(*call, B(1, toolResult={"type": "f_result"}), D(1, toolResult=[RAN]), X(1))).parts

    assert ("success", RAN["json"]) == (found.status, thaw(found.output[0].value))


def test_c11_a_result_that_is_an_array():
    """
    The JSON of a result is any value.
    """
    [call] = message(answer(*tool(0, **NOVA), *result(1, {"json": [4950]}))).parts

    assert ([4950], {"i": 1, "type": "nova_code_interpreter_result"}) == (
        thaw(call.output[0].value),
        thaw(call.result_state),
    )


def test_c11_a_result_of_several_kinds():
    """
    Text and JSON are output; content of another kind is kept raw with all of it.
    """
    image = {"image": {"format": "png", "source": {"bytes": "aQ=="}}}
    [call] = message(answer(*tool(0, **NOVA), *result(1, {"text": "plot"}, image))).parts

    assert ["plot"] == [each.text for each in call.output]
    assert [{"text": "plot"}, image] == thaw(call.result_state["content"])


def test_c12_a_guardrail():
    """
    The trace of the guardrail is a detail of the message.
    """
    found = message(stream(M, *text(0, "{CITY} it is."), K("guardrail_intervened"), U(trace=TRACE)))

    assert ("content-filter", "guardrail_intervened") == (found.finish_reason, found.raw_finish_reason)
    assert TRACE == thaw(found.details["trace"])
    assert 812 == found.details["metrics"]["latencyMs"]


def test_c13_empty_deltas():
    """
    An empty delta causes nothing, and an index with nothing else has no part.
    """
    body = answer(T(0, ""), T(0, "Hi"), T(0, ""), X(0), T(1, ""), X(1))

    assert [("text", "Hi")] == parts(body)
    assert 1 == types(events(body)).count("text.delta")


def test_an_empty_text_between_two_thoughts():
    """
    Claude refuses them next to each other, so the place of the text is kept (vercel/ai#14070).
    """
    thoughts = [(H(at, "Hm."), G(at, f"EpwC{at}"), X(at)) for at in (0, 2)]
    stream_of_both = answer(*thoughts[0], T(1, ""), X(1), *thoughts[1], *text(3, "So."))
    content = [
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "EpwC0"}}},
        {"text": ""},
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "EpwC2"}}},
        {"text": "So."},
    ]
    document = {"output": {"message": {"content": content}}, "stopReason": "end_turn"}

    for body in (stream_of_both, document):
        found = message(body, request=REQUEST)
        prompts = [UserMessage(id=each, content="Hi") for each in ("u1", "u2")]
        request = DIALECT.encoder([prompts[0], found, prompts[1]], REQUEST)
        sent = request.body["messages"][1]["content"]
        assert [("text", "")] == [(part.type, part.text) for part in found.parts if part.type == "text"][:1]
        assert ["EpwC2"] == [
            block["reasoningContent"]["reasoningText"]["signature"] for block in sent if "reasoningContent" in block
        ]
        assert [JOINS_THOUGHTS, "empty"] == [str(drop.reason) for drop in request.drops]


def test_c15_reasoning_without_a_signature():
    """
    It is kept, without state that could be sent.
    """
    thought = message(answer(H(0, "Hm."), X(0), *text(1, "So."))).parts[0]

    assert ("Hm.", {"i": 0}) == (thought.text, thaw(thought.state))


def test_c16_unknown_events_and_padding():
    """
    An unknown event is a note, padding is nothing.
    """
    decoder = DIALECT.decoder("a1")
    found = decoder.feed(stream(M, {"telemetry": {"a": 1}}, *text(0, "Hi"), K(), U())) + decoder.close()

    assert ["unknown-event"] == [note.code for note in decoder.notes]
    assert "abc" not in repr(fold(found).last)
    assert fold(found).last == message(stream(M, *text(0, "Hi"), K(), U()))


REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool-calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "content-filter",
    "content_filtered": "content-filter",
    "a_new_reason": "other",
}


@pytest.mark.parametrize("reason", REASONS)
def test_stop_reasons(reason):
    """
    Each reason has its word, and is kept as it came.
    """
    found = message(answer(*text(0, "Hi"), reason=reason))

    assert (REASONS[reason], reason) == (found.finish_reason, found.raw_finish_reason)


@pytest.mark.parametrize("reason", ["end_turn", None])
def test_a_stop_although_a_call_waits(reason):
    """
    Models write `end_turn` after a call (gpt-oss and Claude, reported 2025-08); their own word is kept.
    """
    found = message(answer(*tool(0), reason=reason))

    assert ("tool-calls", reason) == (found.finish_reason, found.raw_finish_reason)


def test_stop_sequence():
    """
    What a model returns beside its answer is a detail.
    """
    more = {"delta": {"stop_sequence": "<<END>>"}}
    found = message(stream(M, *text(0, "Hi"), K("stop_sequence", additionalModelResponseFields=more), U()))

    assert more == thaw(found.details["additionalModelResponseFields"])


@pytest.mark.parametrize("ending", ["Tokens", "TokenCount"])
def test_counts_of_the_cache(ending):
    """
    The wire counts the cache apart from the input, under the names of Converse or those of Nova.
    """
    counts = {"inputTokens": 6, "outputTokens": 2, f"cacheReadInput{ending}": 14921, f"cacheWriteInput{ending}": 3}
    usage = message(stream(M, *text(0, "Hi"), K(), U(counts))).usage

    assert (14930, 2) == (usage.input_tokens, usage.output_tokens)
    assert (14921, 3) == (usage.cache_read_tokens, usage.cache_write_tokens)
    assert counts == thaw(usage.details)


def test_citations():
    """
    Citations are sources of the whole text, and its state as they came.
    """
    facts = {**FACTS, "sourceContent": [{"text": "Ruby was created "}, {"text": "by Matz."}]}
    part = message(answer(T(0, "Matz"), C(0, **facts), T(0, " made it."), C(0, **WEB), X(0))).parts[0]

    assert "Matz made it." == part.text
    assert [facts, WEB] == thaw(part.state["citations"])
    assert [("facts", None, "Ruby was created by Matz."), (None, "https://ruby-lang.org/en/", None)] == [
        (each.title, each.url, each.cited_text) for each in part.citations
    ]


def test_the_source_of_a_search_result():
    """
    The source of a search result is its address; that of a document has none.
    """
    place = {"searchResultIndex": 0, "start": 0, "end": 1}
    found = [
        message(answer(T(0, "Matz"), C(0, source="https://u", location={kind: place}), X(0))).parts[0].citations[0].url
        for kind in ("searchResultLocation", "documentChunk")
    ]

    assert ["https://u", None] == found


def test_citation_without_text():
    """
    A citation alone is a text without words.
    """
    assert [("text", "")] == parts(answer(C(0, **WEB), X(0)))


@pytest.mark.parametrize("form", ["png", "jpeg"])
def test_an_image(form):
    """
    The bytes of an image come in pieces.
    """
    pieces = [D(0, image={"source": {"bytes": "iVBO"}}), D(0, image={"source": {"bytes": "Rw=="}})]
    [part] = message(answer(B(0, image={"format": form}), *pieces, X(0))).parts

    assert (f"image/{form}", b"\x89PNG", "completed") == (part.media_type, part.data, part.status)


def test_an_image_that_failed_or_is_in_s3():
    """
    An image without bytes, or with an error, is kept raw with its format, written again, and not sent: requests have
    none in answers.
    """
    error = {"image": {"error": {"message": "too dark"}}}
    stored = {"image": {"source": {"s3Location": {"uri": "s3://b/1.png"}}}}
    half = {"image": {"source": {"bytes": "iVBO"}, "error": {"message": "too dark"}}}
    for delta in (error, stored, half):
        body = answer(B(0, image={"format": "png"}), D(0, **delta), X(0), *text(1, "So."))
        found = message(body, request=REQUEST)
        whole = {"image": {"format": "png", **delta["image"]}}

        assert ["opaque", "text"] == [part.type for part in found.parts]
        assert whole == thaw(found.parts[0].state["block"]) == thaw(document(whole).parts[0].state["block"])
        assert [whole, {"text": "So."}] == DIALECT.emit_resource(found)["output"]["message"]["content"]
        sent = DIALECT.encoder([UserMessage(id="u1", content="Hi"), found], REQUEST)
        assert {"role": "assistant", "content": [{"text": "So."}]} == sent.body["messages"][1]
        assert ["unplaced"] == [drop.reason.value for drop in sent.drops]


def test_late_text_of_a_block():
    """
    An index that comes again adds to its own item, which has one number.
    """
    found = message(answer(H(0, "one"), T(1, "two"), H(0, " more"), G(0, "EpwC"), X(0), X(1))).parts

    assert [("one", 0), ("two", 1), (" more", 0)] == [(part.text, part.state["i"]) for part in found]
    assert "EpwC" == found[2].state["signature"]


def test_another_kind_at_one_index():
    """
    An index is a block of one kind.
    """
    assert [("reasoning", "a"), ("text", "b")] == parts(answer(H(0, "a"), T(0, "b"), X(0)))


def test_the_same_start_again():
    """
    A repeated start of a call is not another call.
    """
    start = B(0, toolUse={"toolUseId": "t1", "name": "f"})

    assert [("f", {"a": 1})] == parts(answer(start, start, J(0, '{"a":1}'), X(0)))


def test_null_is_missing():
    """
    A member of a union that is null is not the one that came, in events, deltas and exceptions.
    """
    thought = {"reasoningContent": {"text": "Hm.", "signature": None, "redactedContent": None}, "text": None}
    given = [
        {"messageStart": None, "throttlingException": None, **D(0, **thought, toolUse=None)},
        {"throttlingException": None, "telemetry": {}},
        {"telemetry": {}, "contentBlockStart": None, **X(0)},
    ]
    decoder = DIALECT.decoder("a1")
    found = [event for each in [M, *given, K(), U()] for event in decoder.feed_event(each)]

    assert fold(found).last == message(answer(H(0, "Hm."), X(0)))
    assert ["unknown-event"] == [note.code for note in decoder.notes]


def test_several_facts_in_a_delta():
    """
    Each member of a delta is read; one that is not known is kept raw with its block.
    """
    [part] = message(answer(D(0, text="Matz", citation=FACTS, hologram={"beam": 1}), T(0, "."), X(0))).parts

    assert ("Matz.", [FACTS], [{"hologram": {"beam": 1}}]) == (
        part.text,
        thaw(part.state["citations"]),
        thaw(part.state["deltas"]),
    )


@pytest.mark.parametrize("empty", [T(0, ""), H(0, "")])
def test_a_delta_of_another_kind_behind_an_empty_one(empty):
    """
    The block has begun with the empty one, and keeps the other raw.
    """
    [part] = message(answer(empty, D(0, hologram={"beam": 1}), X(0))).parts

    assert ("", [{"hologram": {"beam": 1}}]) == (part.text, thaw(part.state["deltas"]))


def test_the_words_of_a_model_that_failed():
    """
    Where AWS adds none of its own they are the message (anomalyco/opencode#38712).
    """
    exception = {"originalStatusCode": 500, "originalMessage": "It broke."}
    error = message(stream(M, E("modelStreamErrorException", None, **exception))).error

    assert ("It broke.", True) == (error.message, error.retryable)


def test_nulls_in_a_result():
    """
    An item is text or JSON also with the other members beside it, which are null.
    """
    content = {"text": "plot", "json": None, "image": None}, {**RAN, "text": None}
    [call] = message(answer(*tool(0, **NOVA), *result(1, *content))).parts

    assert ["plot", RAN["json"]] == [call.output[0].text, thaw(call.output[1].value)]
    assert "content" not in call.result_state


def test_an_input_that_is_an_array():
    """
    A call without an object fails with what came, also in a document: nothing is run.
    """
    call = {"toolUseId": "t", "name": "f", "input": [{"a": 1}]}
    document = {"output": {"message": {"content": [{"toolUse": call}]}}, "stopReason": "tool_use"}

    for body in (document, answer(B(0, toolUse=call), X(0))):
        [called] = message(body).tool_calls
        assert ("failed", '[{"a":1}]') == (called.status, called.raw_input)


def test_an_input_that_is_an_object():
    """
    An input that is not a text is the object of the call.
    """
    start = B(0, toolUse={"toolUseId": "t1", "name": "f"})

    assert [("f", {"a": [1]})] == parts(answer(start, D(0, toolUse={"input": {"a": [1]}}), X(0)))
    assert [("f", {})] == parts(answer(start, D(0, toolUse={"input": None}), X(0)))


def test_a_call_whose_name_is_in_a_delta():
    """
    Servers that imitate the wire leave out the start of a call.
    """
    named = D(0, toolUse={"toolUseId": "t1", "name": "f"})
    [called] = message(answer(named, D(0, toolUse={"input": '{"a":'}), D(0, toolUse={"input": "1}"}), X(0))).tool_calls

    assert ("t1", "f", {"a": 1}) == (called.call_id, called.name, called.arguments)
    assert [("f", {"a": 1})] == parts(
        answer(B(0, toolUse={"toolUseId": "t1", "name": "f"}), named, D(0, toolUse={"input": '{"a":1}'}), X(0))
    )


def test_reasoning_in_the_form_of_a_document():
    """
    Servers that imitate the wire write deltas of reasoning as documents have it.
    """
    pieces = [{"text": "Hm"}, {"text": "."}, {"signature": "SIG"}]
    body = answer(*[D(0, reasoningContent={"reasoningText": each}) for each in pieces], X(0), *text(1, "Hi"))

    assert message(answer(H(0, "Hm"), H(0, "."), G(0, "SIG"), X(0), *text(1, "Hi"))).parts == message(body).parts


def test_an_unknown_block():
    """
    A block of an unknown kind is kept raw, with its deltas, which are noted.
    """
    decoder = DIALECT.decoder("a1")
    body = answer(B(0, hologram={"beam": [1]}), D(0, hologram={"beam": "x"}), X(0))
    raw = fold(decoder.feed(body) + decoder.close()).last.parts[0]

    assert {"hologram": {"beam": [1]}} == thaw(raw.state["block"])
    assert [{"hologram": {"beam": "x"}}] == thaw(raw.state["deltas"])
    assert "unknown-delta" in [note.code for note in decoder.notes]


def test_an_unknown_delta_of_a_call():
    """
    It is state of the call, whose input is not broken by it; behind the end of the call it is kept at its place.
    """
    odd = D(0, hologram={"beam": "x"})
    start = B(0, toolUse={"toolUseId": "t1", "name": "f"})
    [call, raw] = message(answer(start, odd, J(0, '{"a":'), odd, J(0, "1}"), X(0), odd)).parts

    assert ("called", {"a": 1}) == (call.status, call.arguments)
    assert {"i": 0, "deltas": [{"hologram": {"beam": "x"}}] * 2} == thaw(call.state)
    assert {"i": 1, "block": {}, "deltas": [{"hologram": {"beam": "x"}}]} == thaw(raw.state)


def test_unknown_facts_of_reasoning():
    """
    A field of reasoning that is not known is state beside the signature.
    """
    thought = message(answer(H(0, "Hm."), D(0, reasoningContent={"seal": "wax"}), G(0, "EpwC"), X(0))).parts[0]

    assert {"i": 0, "seal": "wax", "signature": "EpwC"} == thaw(thought.state)


def test_nova_behind_invoke_model():
    """
    The same events come in chunks, as bytes of the stream and as events of boto3.
    """
    given = [M, *text(0, "Hello"), K(), U()]
    body = b"".join(AwsChunkStream.frame(None, each) for each in given)
    decoder = DIALECT.decoder("a1")
    chunks = [{"chunk": {"bytes": JsonLines.frame(None, each)}} for each in given]
    found = [event for each in chunks for event in decoder.feed_event(each)] + decoder.close()

    assert events(stream(*given)) == events(body) == found


def test_strange_chunks():
    """
    What is not JSON in a chunk, and a chunk in a chunk, are notes.
    """
    decoder = DIALECT.decoder("a1")
    for each in (b"{", b"[]", b'{"chunk":{"bytes":"e30="}}'):
        decoder.feed_event({"chunk": {"bytes": each}})

    assert ["bad-json", "unknown-event", "unknown-event"] == [note.code for note in decoder.notes]


def test_a_stream_without_a_start():
    """
    Any first event begins the step.
    """
    assert message(stream(*text(0, "Hi"), K(), U())) == message(answer(*text(0, "Hi")))


def test_the_model_of_the_request():
    """
    The answer has no model; the request names it as for boto3, or as `model`.
    """
    body = answer(*text(0, "Hi"))

    assert MODEL == message(body, request=REQUEST).origin.model == message(body, request={"model": MODEL}).origin.model
    assert message(body).origin.model is None
    assert ("bedrock", "bedrock-converse") == (message(body).origin.provider, message(body).origin.dialect)


def test_deltas_take_the_fast_path():
    """
    Deltas with padding of any length are learned.
    """
    decoder = DIALECT.decoder("a1")
    pieces = [f"piece {at} " for at in range(30)]
    decoder.feed(stream(M, *[T(0, piece) for piece in pieces]))

    assert decoder._fast_path.skipped(decoder.delta_frames) == {}
    assert "".join(pieces) == decoder.message.text


def test_a_signature_leaves_what_was_learned():
    """
    Of each thought the first delta is decoded in full, and of all of them two more, from which is learned.
    """
    read = []

    class Reading(DIALECT.decoder):
        def on_event(self, event):
            read.append(event)
            super().on_event(event)

    deltas = [f"piece {at} " for at in range(10)]
    thoughts = [event for at in range(40) for event in (*[H(at, each) for each in deltas], G(at, "EpwC"), X(at))]
    found = fold(Reading("a1").feed(stream(M, *thoughts))).last

    assert ["".join(deltas)] * 40 == [part.text for part in found.parts]
    assert 42 == sum("'text'" in str(event) for event in read)


# -- documents


def test_a_document_is_the_same_as_its_stream():
    """
    Every kind of block of a document gives what the stream of it gives.
    """
    found = document(
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "EpwC"}}},
        {"reasoningContent": {"redactedContent": "YWJj"}},
        {"citationsContent": {"content": [{"text": "Matz."}], "citations": [FACTS]}},
        {"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": 1}}},
        {
            "toolUse": {
                "toolUseId": "tooluse_n",
                "name": "nova_code_interpreter",
                "input": {},
                "type": "server_tool_use",
            }
        },
        {"toolResult": {"toolUseId": "tooluse_n", "type": "nova_code_interpreter_result", "content": [RAN]}},
        {"image": {"format": "png", "source": {"bytes": "iVBO"}}},
        {"text": "So."},
    )
    same = message(
        answer(
            *(H(0, "Hm."), G(0, "EpwC"), X(0), R(1, "YWJj"), X(1), T(2, "Matz."), C(2, **FACTS), X(2)),
            *tool(3, "t1"),
            *tool(4, **NOVA, input="{}"),
            *result(5, RAN),
            *(B(6, image={"format": "png"}), D(6, image={"source": {"bytes": "iVBO"}}), X(6), *text(7, "So.")),
        )
    )

    assert same == found


def test_a_document_of_boto3():
    """
    The id of the response is a detail; its headers are left out.
    """
    found = document({"text": "Hi"}, ResponseMetadata={"RequestId": "r1", "HTTPHeaders": {"date": "today"}})

    assert {"metrics": {"latencyMs": 812}, "requestId": "r1"} == thaw(found.details)


def test_an_unknown_block_of_a_document():
    """
    It is kept raw.
    """
    assert {"audio": {"format": "mp3"}} == thaw(document({"audio": {"format": "mp3"}}).parts[0].state["block"])


def test_unknown_fields_of_a_block():
    """
    Null is the same as missing, and the text of a block with an unknown field is its text.
    """
    known, odd = document({"text": "Hello", "image": None}, {"text": "Hi", "beam": "wide"}).parts

    assert ("Hello", {"i": 0}) == (known.text, thaw(known.state))
    assert ("Hi", {"i": 1, "deltas": [{"beam": "wide"}]}) == (odd.text, thaw(odd.state))


def test_an_unknown_field_of_a_call_comes_back():
    """
    It is state, and at its place in the document of the answer.
    """
    block = {"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": 1}, "beam": "wide"}}

    assert [block] == DIALECT.emit_resource(document(block))["output"]["message"]["content"]


@pytest.mark.parametrize(("given", "expected"), [(None, {}), ('{"a":1}', {"a": 1}), ({"a": 1}, {"a": 1})])
def test_inputs_of_documents(given, expected):
    """
    An input is an object, its JSON text, or nothing.
    """
    [call] = document({"toolUse": {"toolUseId": "t1", "name": "f", "input": given}}).tool_calls

    assert ("called", expected) == (call.status, call.arguments)


def test_a_document_that_is_an_error():
    """
    An exception in place of an answer fails the message.
    """
    found = fold(DIALECT.decode_resource(E("validationException", "Input is too long for requested model."), "a1")).last

    assert ("context-length", "validationException") == (found.error.kind, found.error.code)


# -- errors over HTTP

HTTP = {
    "the header": (
        {"x-amzn-errortype": "ThrottlingException:http://a/b"},
        b'{"message":"slow"}',
        "throttlingException",
    ),
    "the body": ({}, b'{"__type":"com.amazon#ThrottlingException","message":"slow"}', "throttlingException"),
    "neither": ({}, b'{"message":"slow"}', None),
}


@pytest.mark.parametrize(("headers", "body", "code"), HTTP.values(), ids=HTTP)
def test_http_errors(headers, body, code):
    """
    The type of an error is in a header or in the body; the status decides without it.
    """
    error = dialect.http_error(429, {**headers, "x-amzn-requestid": "r1", "retry-after": "2"}, body)

    assert ("rate-limit", code, "slow", 429, 2.0) == (
        error.kind,
        error.code,
        error.message,
        error.status,
        error.retry_after_s,
    )
    assert "r1" == error.details["requestId"]


KINDS = {
    ("ValidationException", 400): "invalid-request",
    ("AccessDeniedException", 403): "auth",
    ("ResourceNotFoundException", 404): "not-found",
    ("ServiceQuotaExceededException", 400): "quota",
    ("ModelNotReadyException", 429): "overloaded",
    ("ModelTimeoutException", 408): "timeout",
    ("ModelErrorException", 424): "provider",
    ("ConflictException", 400): "invalid-request",
    ("UnrecognizedClientException", 400): "auth",
    ("ExpiredTokenException", 400): "auth",
    ("ServiceUnavailableException", 503): "overloaded",
}


@pytest.mark.parametrize(("name", "status"), KINDS)
def test_kinds_of_http_errors(name, status):
    """
    The name of an exception decides before the status.
    """
    error = dialect.http_error(status, {"x-amzn-errortype": name}, b'{"message":"no"}')

    assert KINDS[name, status] == error.kind


def test_a_general_failure_of_aws():
    """
    It may pass, as that of Bedrock itself.
    """
    found = dialect.http_error(500, {"x-amzn-errortype": "InternalFailure"}, b'{"message":"no"}')

    assert ("provider", "internalFailure", True) == (found.kind, found.code, found.retryable)


NO_OPERATION = {"Output": {"__type": "com.amazon.coral.service#UnknownOperationException"}, "Version": "1.0"}


@pytest.mark.parametrize("status", [200, 404])
@pytest.mark.parametrize("name", ["anthropic-messages", "bedrock-converse"])
def test_a_path_without_an_operation(name, status):
    """
    Bedrock answers the slash of an ARN in the path with the status 200 and an error in another form.
    """
    found = fold(load_dialect(name).decode_resource(NO_OPERATION, "a1")).last.error
    over_http = dialect.http_error(status, {}, json.dumps(NO_OPERATION).encode())

    assert ("not-found", "unknownOperationException", None) == (found.kind, found.code, found.retryable)
    assert attrs.evolve(found, status=status) == over_http


def test_a_stream_without_an_operation():
    """
    The same as the only event of a stream, which was not cut.
    """
    decoder = DIALECT.decoder("a1")

    assert "not-found" == fold(decoder.feed_event(NO_OPERATION)).last.error.kind
    assert [] == decoder.notes


def test_the_type_of_a_call():
    """
    Claude's answers have the type of a call of the app, which requests do not have; any other type is state.
    """
    call, other = message(answer(*tool(0, type="tool_use"), *tool(1, "t2", type="bash_tool_use"))).tool_calls

    assert [{"i": 0}, {"i": 1, "type": "bash_tool_use"}] == [thaw(each.state) for each in (call, other)]
    assert not call.provider_executed


STARTS = {
    "empty": {},
    "null": None,
    "an empty text": {"text": ""},
    "empty reasoning": {"reasoningContent": {}},
    "reasoning with a null": {"reasoningContent": {"reasoningText": None}},
}


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_an_empty_start(start):
    """
    AWS sends no start of a text, gateways and servers of other libraries do: it is nothing by itself.
    """
    begun = [{"contentBlockStart": {"contentBlockIndex": at, "start": start}} for at in range(3)]
    expected = message(answer(H(0, "Hm"), G(0, "SIG"), X(0), *text(1, "Hi")))

    assert expected.parts == message(answer(begun[0], H(0, "Hm"), G(0, "SIG"), X(0), begun[1], *text(1, "Hi"))).parts
    assert (
        expected.parts == message(answer(begun[0], H(0, "Hm"), begun[0], G(0, "SIG"), begun[1], *text(1, "Hi"))).parts
    )
    assert expected.parts == message(answer(H(0, "Hm"), G(0, "SIG"), X(0), *text(1, "Hi"), begun[2], X(2))).parts


def test_a_start_with_content():
    """
    What a start of a text or of reasoning has belongs to it.
    """
    signed = B(0, reasoningContent={"reasoningText": {"signature": "SIG"}})
    expected = message(answer(H(0, "Hm"), G(0, "SIG"), X(0), *text(1, "Hi there")))

    assert expected.parts == message(answer(signed, H(0, "Hm"), X(0), B(1, text="Hi "), *text(1, "there"))).parts


@pytest.mark.parametrize("type_", [[1], {"a": 1}, 7])
def test_a_type_that_is_no_word(type_):
    """
    A call and a result whose type is not a text keep it as it is.
    """
    call = {"toolUseId": "t1", "name": "f", "type": "server_tool_use"}
    body = answer(B(0, toolUse=call), X(0), B(1, toolResult={"toolUseId": "t1", "type": type_}), X(1))
    decoder = DIALECT.decoder("a1")
    found = fold(decoder.feed(body) + decoder.close()).last

    assert None is decoder.failure
    assert type_ == thaw(found.tool_calls[0].result_state)["type"]


@pytest.mark.parametrize("given", [{"a": 1}, '{"a":1}'])
def test_an_input_in_its_start(given):
    """
    Gateways send it there, whole.
    """
    start = B(0, toolUse={"toolUseId": "t", "name": "f", "input": given})

    assert {"a": 1} == message(answer(start, X(0), reason="tool_use")).tool_calls[0].arguments


@pytest.mark.parametrize("reason", ["malformed_tool_use", "malformed_model_output"])
def test_a_call_of_a_malformed_output(reason):
    """
    The answer has failed, and its call is not whole, whatever of it can be read.
    """
    call = B(0, toolUse={"toolUseId": "t1", "name": "f"}), J(0, '{"a":1}')
    failed = message(stream(M, *call, K(reason), U()))
    [found] = failed.tool_calls

    assert ("incomplete", None) == (found.input_status, found.input)
    assert ("provider", reason, True) == (failed.error.kind, failed.error.code, failed.error.retryable)


def test_a_result_for_a_call_of_the_app():
    """
    The app answers it: the block is kept raw.
    """
    found = message(answer(*tool(0, "t1"), *result(1, {"text": "x"}, id="t1"), reason="tool_use"))

    assert [("called", False), ("opaque", 1)] == [
        (found.parts[0].status, found.parts[0].settled),
        (found.parts[1].type, found.parts[1].state["i"]),
    ]


def test_an_empty_signature_behind_the_real_one():
    """
    It does not take it away.
    """
    [found, _] = message(answer(H(0, "x"), G(0, "S"), G(0, ""), X(0), *text(1, "a"))).parts

    assert "S" == found.state["signature"]


def test_redacted_content_behind_the_end_of_its_block():
    """
    All of it is in the later part.
    """
    found = message(answer(R(0, "YWFh"), X(0), R(0, "YmJi"), *text(1, "a")))

    assert "YWFhYmJi" == found.parts[1].state["redactedContent"]


def test_redacted_content_without_a_stop():
    """
    It is kept at the end of the answer.
    """
    found = message(answer(*text(0, "a"), R(1, "YWFh")))

    assert "YWFh" == found.parts[1].state["redactedContent"]


def test_an_unknown_delta_inside_of_reasoning():
    """
    It is state of the reasoning, whose signature stays with it.
    """
    [found, _] = message(answer(H(0, "x"), D(0, news={"a": 1}), G(0, "S"), X(0), *text(1, "a"))).parts

    assert ("x", {"deltas", "signature", "i"}) == (found.text, set(found.state))


def test_two_starts_with_text_at_one_index():
    """
    Each begins a block.
    """
    found = message(answer(B(0, text="a"), X(0), B(0, text="b"), X(0)))

    assert [("a", 0), ("b", 1)] == [(part.text, part.state["i"]) for part in found.parts]


def test_a_cited_text_of_several():
    """
    All of them are its text.
    """
    content = {"citationsContent": {"content": [{"text": "a"}, {"text": "b"}], "citations": []}}
    found = {**DOCUMENT, "output": {"message": {"role": "assistant", "content": [content]}}}

    assert "ab" == fold(DIALECT.decode_resource(found, "a1")).last.text
