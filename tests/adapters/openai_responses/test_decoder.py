"""
Cases of the Responses wire, each with what it becomes.
"""

import json

import pytest

from assistant_events import AssistantMessage, CallStatus, ErrorKind, FinishReason, Transcript, fold
from assistant_events.messages import MessageStatus
from assistant_events.testing import check_adapter, durable
from assistant_events.values import ErrorInfo, JsonContent, MediaContent, TextContent, thaw

from .notation import (
    DIALECT,
    MODEL,
    USAGE,
    added,
    annotation,
    body,
    call,
    completed,
    created,
    delta,
    done,
    encoded,
    events,
    failed,
    frame,
    hosted,
    incomplete,
    message,
    notes,
    numbered,
    output_text,
    part,
    reasoning,
    response,
    state,
    stream,
    summary,
    text,
    thoughts,
    whole,
)
from .samples import (
    APPROVAL,
    COMPUTER,
    IMAGE,
    LOGPROBS,
    MCP,
    MESSAGE,
    OVERLAP,
    PATCH,
    PERPLEXITY,
    PROGRAM,
    PROGRAM_OUTPUT,
    RAW,
    RESULTS,
    SAMPLES,
    SEARCH,
    SHELL,
    TOOL_SEARCH,
    TOOL_SEARCH_OUTPUT,
    URL,
)


def kinds(found):
    return [(part.type, getattr(part, "text", None)) for part in found.parts]


def test_an_item_behind_an_input_without_a_call():
    """
    The input of a call that never began, and an item of an unknown type behind it, fail nothing.
    """
    whole_input = frame("custom_tool_call_input.done", sequence_number=4)
    found = message(body(whole_input, done(0, **{"": ""}), completed()))

    assert MessageStatus.COMPLETED is found.status
    assert [("opaque", None), ("tool", None)] == kinds(found)


@pytest.mark.parametrize("deltas", [[""], ["", ""], ["", "", "", ""]], ids=["one", "two", "four"])
def test_a_text_that_begins_with_empty_deltas(deltas):
    """
    Its end, which has the whole text, adds nothing to the deltas that follow.
    """
    words = [f"word {at} " for at in range(20)]
    found = events(body(*numbered(created(), *text(0, *words), *text(1, *deltas, *words), completed())))

    assert [*words, *words] == [event.delta for event in found if event.type == "text.delta"]


def test_deltas_at_the_index_of_another_item():
    """
    Their ids alone name their items, so that they are read in full, one by one.
    """
    ids = {**dict.fromkeys("abcdef", "rs_1"), "x": "rs_2"}
    deltas = [delta("reasoning_summary_text", 0, each, summary_index=0) | {"item_id": ids[each]} for each in ids]
    data = body(created(), deltas[0], part("added", 0, **output_text("")), *deltas[1:], completed())

    assert [("reasoning", "abcdef"), ("text", ""), ("reasoning", "x")] == kinds(message(data))[:3]


class TestResponse:
    def test_facts(self):
        """
        The message has model, run, id, counts and the facts of the response that do not repeat the request.
        """
        facts = {"service_tier": "flex", "tool_usage": {"web_search": {"num_requests": 1}}, "moderation": None}
        found = message(stream(text(0, "Hi"), end=completed(**facts, temperature=1, tools=[{"name": "a"}])))

        assert (MODEL, "resp_1", False) == (found.origin.served_model, found.run.id, found.run.resumable)
        assert {"response_id": "resp_1"} == state(found)
        assert (20, 8, 9, 4, USAGE) == (
            found.usage.input_tokens,
            found.usage.cache_read_tokens,
            found.usage.output_tokens,
            found.usage.reasoning_tokens,
            found.usage.details,
        )
        assert {"service_tier": "flex", "tool_usage": {"web_search": {"num_requests": 1}}} == found.details

    def test_a_response_that_is_not_stored_has_no_id_to_go_on_from(self):
        """
        Whether it is stored is known from the response, or from the request.
        """
        unsaid = stream(
            text(0, "Hi"), start=frame("created", response={"id": "resp_1"}), end=frame("completed", response={})
        )

        assert {} == state(message(stream(text(0, "Hi"), start=created(store=False), end=completed(store=False))))
        assert {} == state(message(unsaid, request={"model": "m", "store": False}))
        assert {"response_id": "resp_1"} == state(message(unsaid))

    @pytest.mark.parametrize("where", ["response", "request"])
    def test_a_background_run_can_be_resumed(self, where):
        """
        It is one by the response or by the request.
        """
        start = created(background=True) if where == "response" else created()
        request = {"model": "m", "background": True} if where == "request" else None

        assert message(stream(text(0, "Hi"), start=start), request=request).run.resumable

    @pytest.mark.parametrize(
        ("end", "finish", "raw"),
        [
            (completed(), FinishReason.STOP, "completed"),
            (incomplete("max_output_tokens"), FinishReason.LENGTH, "incomplete"),
            (incomplete("max_tokens"), FinishReason.LENGTH, "incomplete"),
            (incomplete("content_filter"), FinishReason.CONTENT_FILTER, "incomplete"),
            (incomplete("max_messages"), FinishReason.OTHER, "incomplete"),
            (incomplete("steered"), FinishReason.OTHER, "incomplete"),
            (incomplete("a word of tomorrow"), FinishReason.OTHER, "incomplete"),
            (frame("completed", response={}), FinishReason.STOP, None),
            (frame("done", response=response("incomplete")), FinishReason.OTHER, "incomplete"),
            (frame("done", response={}), FinishReason.STOP, None),
        ],
        ids=[
            *("completed", "length", "length of proxies", "filter", "messages", "steered", "unknown", "without status"),
            *("done incomplete", "done without status"),
        ],
    )
    def test_finish(self, end, finish, raw):
        """
        Finish follows from status and reason.
        """
        found = message(stream(text(0, "Hi"), end=end))

        assert (MessageStatus.COMPLETED, finish, raw) == (found.status, found.finish_reason, found.raw_finish_reason)

    def test_calls_decide_the_finish(self):
        """
        A call of the app makes `tool-calls` of a whole or steered response, not of one that was cut.
        """
        ends = {"completed": completed(), "steered": incomplete("steered"), "cut": incomplete("max_output_tokens")}
        found = {name: message(stream(call(0, "{}"), end=end)).finish_reason for name, end in ends.items()}

        assert {"completed": "tool-calls", "steered": "tool-calls", "cut": "length"} == found

    def test_a_call_that_is_cut_before_its_input(self):
        """
        It has no input, so that nothing is run: an empty one is not `{}`.
        """
        begun = added(0, type="function_call", id="fc_1", call_id="c1", name="f", arguments="", status="in_progress")
        [found] = message(stream([begun], end=incomplete("max_output_tokens"))).tool_calls

        assert (None, True) == (found.input, found.settled)

    def test_a_free_text_of_a_response_that_was_cut(self):
        """
        An item without a status may be half of one: `ResponseCustomToolCall` has none.
        """
        patch = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c1", "name": "patch", "input": "*** Begin"}
        cut, whole = (
            message(stream(end=end)).tool_calls for end in (incomplete("max_output_tokens", patch), completed(patch))
        )

        assert (["invalid-input"], [True]) == ([each.error.kind for each in cut], [not each.settled for each in whole])

    @pytest.mark.parametrize("is_streamed", [True, False], ids=["stream", "document"])
    def test_fields_of_a_call_that_was_cut(self, is_streamed):
        """
        They are kept as its text, and written again, although the call is not to be run.
        """
        action = {"type": "click", "x": 1, "y": 2, "button": "left"}
        item = {"type": "computer_call", "id": "cu_1", "call_id": "c1", "status": "incomplete", "action": action}
        end = incomplete("max_output_tokens", item)
        found = message(stream(hosted(0, **item) if is_streamed else [], end=end))

        assert (None, {"action": action}) == (found.parts[0].input, json.loads(found.parts[0].raw_input))
        assert [item] == DIALECT.emit_resource(found)["output"]

    @pytest.mark.parametrize(
        "fields",
        [
            {"type": "computer_call", "action": {"type": "wait"}},
            {"type": "program", "code": "1 + 1"},
            {"type": "web_search_call", "action": {"type": "search", "query": "q"}},
        ],
        ids=lambda item: item["type"],
    )
    def test_fields_of_a_call_without_its_end(self, fields):
        """
        What its start had is kept when the stream is cut there.
        """
        [found] = message(body(created(), added(0, id="it_1", call_id="c1", **fields))).tool_calls

        assert {**fields, **json.loads(found.raw_input)} == fields
        assert (1, CallStatus.FAILED) == (len(json.loads(found.raw_input)), found.status)

    @pytest.mark.parametrize(
        ("item", "given"),
        [
            (APPROVAL, {"server_label": "z", "name": "cut", "arguments": "{}"}),
            (
                {"id": "ws_1", "type": "web_search_call", "status": "completed", "arguments": '{"query":"q"}'},
                {"arguments": '{"query":"q"}'},
            ),
        ],
        ids=["approval", "search of a gateway"],
    )
    def test_fields_that_are_the_input(self, item, given):
        """
        A client shows them: which server an approval is about, and what was searched for.
        """
        [found] = message(stream(hosted(0, **item))).tool_calls

        assert given == found.input

    @pytest.mark.parametrize(
        ("fields", "behind"),
        [
            ({"type": "mcp_approval_request"}, [{"type": "message", "id": "m_1", "role": "assistant", "content": []}]),
            ({"type": "mcp_call", "output": "5"}, []),
            ({"type": "mcp_call", "output": None, "error": "No such page"}, []),
        ],
        ids=["before another item", "with its result", "with its error"],
    )
    def test_a_whole_call_of_a_response_that_was_cut(self, fields, behind):
        """
        Only the last item may be half of one, and what has a result was run.
        """
        item = {"id": "mcp_1", "server_label": "s", "name": "f", "arguments": "{}", **fields}
        [found] = message(stream(end=incomplete("max_output_tokens", item, *behind))).tool_calls

        assert message(stream(hosted(0, **item), end=incomplete("max_output_tokens", item, *behind))).tool_calls == (
            found,
        )
        assert found.input is not None

    @pytest.mark.parametrize("behind", [[], [{"type": "message", "id": "m", "role": "assistant", "content": []}]])
    @pytest.mark.parametrize(
        "item",
        [SEARCH, {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": '{"a":1}'}],
        ids=["of the provider", "of the app"],
    )
    def test_a_call_in_progress_of_a_response_that_was_cut(self, item, behind):
        """
        It was not run, and is not to be run, wherever it is in the output.
        """
        output = [{**item, "status": "in_progress"}, *behind]
        [found] = message(stream(end=incomplete("max_output_tokens", *output))).tool_calls

        assert (CallStatus.FAILED, ErrorKind.INVALID_INPUT) == (found.status, found.error.kind)

    def test_an_error_of_a_completed_response(self):
        """
        Proxies write one without the status of a failure.
        """
        found = message(stream(end=completed(error={"code": "server_error", "message": "Boom"})))

        assert (MessageStatus.FAILED, "Boom") == (found.status, found.error.message)

    def test_numbers_that_begin_again_with_each_item(self):
        """
        No item is taken for the one before.
        """
        calls = [call(at, '{"a":1}', id=f"fc_{at}", call_id=f"call_{at}") for at in (0, 1)]
        frames = [{**each, "sequence_number": at} for frames in calls for at, each in enumerate(frames, start=1)]
        found = message(body(created(), *frames, completed()))

        assert ["call_0", "call_1"] == [each.call_id for each in found.tool_calls]

    def test_hosted_calls_and_refusals_decide_the_finish(self):
        """
        A call of the provider leaves it at `stop`; a refusal is a `content-filter`.
        """
        assert FinishReason.STOP is message(SAMPLES["hosted tools"]).finish_reason
        assert FinishReason.CONTENT_FILTER is message(SAMPLES["refusal"]).finish_reason

    def test_items_of_the_last_response_fill_gaps(self):
        """
        They count where no frame was sent of them, or no end.
        """
        item = {**MESSAGE, "content": [output_text("Hi")], "status": "completed"}
        unended = stream(added(0, **MESSAGE, content=[]), delta("output_text", 0, "Hi", content_index=0))

        assert "Hi" == message(stream(end=completed(item))).text
        assert "msg_1" == message(unended).parts[0].state["item_id"]
        assert ["Hi"] == [part.text for part in message(stream(text(0, "Hi"), end=completed(item))).parts]

    @pytest.mark.parametrize("id", ["msg_1", "msg_9"])
    def test_an_item_of_the_last_response_before_others(self, id):
        """
        It keeps its place, whether the ids of others change or not (LocalAI has reasonings in the last response alone).
        """
        thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
        item = {**MESSAGE, "id": id, "content": [output_text("Hi")], "status": "completed"}
        found = message(stream(text(0, "Hi"), end=completed(thought, item)))
        items, drops = encoded(found)

        assert ["Hi"] == [part.text for part in found.parts if part.type == "text"]
        assert (["reasoning", "message"], []) == ([each["type"] for each in items], drops)
        assert thought == items[0]

    def test_indexes_that_begin_at_1(self):
        """
        Without ids an item of the last response is not taken for one more, and what the stream has left out counts.
        """
        item = {"type": "message", "content": [output_text("Hi")]}
        more = {**item, "id": "msg_2", "content": [output_text("!")]}

        assert "Hi" == message(stream(done(1, **item), end=completed(item))).text
        assert [("text", "Hi"), ("text", "!")] == kinds(message(stream(done(1, **item), end=completed(item, more))))

    def test_ids_of_the_response_that_change(self):
        """
        The last one is continued (LiteLLM), and the first one counts where none is stored (Copilot).
        """
        found, other = (
            message(stream(text(0, "Hi"), start=created(store=each), end=completed(id="resp_2", store=each)))
            for each in (True, False)
        )

        assert ("resp_2", "resp_2", "resp_1") == (found.run.id, found.state["response_id"], other.run.id)

    def test_empty_facts(self):
        """
        Empty objects and arrays are not kept.
        """
        assert {} == message(stream(text(0, "Hi"), end=completed(content_filters=[], tool_usage={}))).details

    def test_what_repeats_the_request(self):
        """
        The app has it: no details come of these fields of `Response` (openai 3.52.0), and of those of other servers.
        """
        given = (
            "background conversation include input instructions max_output_tokens max_tool_calls metadata "
            "parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_retention reasoning "
            "safety_identifier store stream temperature text tool_choice tools top_logprobs top_p truncation user "
            "context_management frequency_penalty max_messages presence_penalty prompt_cache_options top_k billing"
        )
        end = completed(**{key: {"a": 1} for key in given.split()})

        assert {} == message(stream(text(0, "Hi"), end=end)).details

    def test_an_empty_output_at_the_end(self):
        """
        Items that have streamed stay.
        """
        assert "Hi" == message(stream(text(0, "Hi"), end=completed())).text

    def test_documents_and_streams_are_one_message(self):
        """
        A document with the items of a stream folds to the same message.
        """
        items = [
            each["item"]
            for each in [*reasoning(0, "One.", "Two."), *call(1, "{}")]
            if each["type"].endswith("done") and "item" in each
        ]
        document = response("completed", output=items, usage=USAGE)

        assert (
            message(stream(reasoning(0, "One.", "Two."), call(1, "{}")))
            == fold(DIALECT.decode_resource(document, "a1")).last
        )

    @pytest.mark.parametrize(
        "item",
        [
            {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "s", "tools": [{"name": "f"}]},
            {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"},
        ],
        ids=lambda item: item["type"],
    )
    def test_an_item_without_a_status_in_an_incomplete_document(self, item):
        """
        It is where the provider has it: only a call may have been cut.
        """
        end = incomplete("max_output_tokens", item, text(1, "Hi")[-1]["item"])
        document = fold(DIALECT.decode_resource(end["response"], "a1")).last

        assert message(stream(hosted(0, **item), text(1, "Hi"), end=end)) == document
        assert ["opaque", "text"] == [part.type for part in document.parts]

    def test_a_document_of_a_run_that_goes_on(self):
        """
        It keeps what is there, and can be taken up again.
        """
        document = response("in_progress", background=True, output=[{**MESSAGE, "content": [output_text("Hi")]}])
        found = fold(DIALECT.decode_resource(document, "a1")).last

        assert ("Hi", ErrorKind.INTERRUPTED, True) == (found.text, found.error.kind, found.run.resumable)

    def test_items_of_a_response_in_progress(self):
        """
        They do not end those of the stream.
        """
        frames = text(0, "Hi", " there")
        so_far = response(output=[{**MESSAGE, "content": [output_text("Hi")]}])
        frames.insert(3, frame("in_progress", response=so_far))

        assert ("Hi there", []) == (message(stream(frames)).text, notes(stream(frames)))

    def test_a_document_of_an_unknown_status(self):
        """
        Its items are kept, and the answer has not ended.
        """
        document = response("requires_thought", output=[{**MESSAGE, "content": [output_text("Hi")]}])
        found = fold(DIALECT.decode_resource(document, "a1")).last

        assert ("Hi", ErrorKind.INTERRUPTED) == (found.text, found.error.kind)


class TestErrors:
    def test_error_and_failure_are_one(self):
        """
        The nested error before a failed response fails the step, once.
        """
        found = events(SAMPLES["error and failure"])

        assert ["step.started", "step.failed"] == [event.type for event in found]
        assert ("quota", "insufficient_quota", "No.") == (
            found[-1].error.kind,
            found[-1].error.code,
            found[-1].error.message,
        )

    @pytest.mark.parametrize(
        ("end", "kind"),
        [
            ({"type": "error", "code": "rate_limit_exceeded", "message": "Slow.", "param": None}, "rate-limit"),
            (
                {"type": "error", "error": {"type": "invalid_request_error", "message": "x", "code": None}},
                "invalid-request",
            ),
            (failed(code="server_error", message="Oh."), "provider"),
            (failed(code="failed_to_download_image", message="It is gone."), "invalid-request"),
            (failed(code="image_too_small", message="A dot."), "invalid-request"),
            (failed(code="bio_policy", message="Oh."), "content-filter"),
            (failed(code="cyber_policy", message="Oh."), "content-filter"),
            (failed(code="usage_not_included", message="Oh."), "quota"),
            (failed(code="context_length_exceeded", message="Oh."), "context-length"),
            (completed(status="cancelled"), "cancelled"),
        ],
        ids=["flat", "nested", "failed", "image", "small image", "policy", "risk", "plan", "too long", "cancelled"],
    )
    def test_kinds(self, end, kind):
        """
        Each form of an error has its kind, and what came before is kept.
        """
        found = message(stream(text(0, "Hi"), end=end))

        assert (kind, "Hi") == (found.error.kind, found.text)

    @pytest.mark.parametrize(
        ("codes", "kind"),
        [
            ("invalid_image invalid_image_format invalid_base64_image invalid_image_url", "invalid-request"),
            ("image_too_large image_parse_error invalid_image_mode image_file_too_large", "invalid-request"),
            ("unsupported_image_media_type empty_image_file image_file_not_found", "invalid-request"),
            ("image_content_policy_violation misalignment_policy_violation", "content-filter"),
            ("billing_hard_limit_reached billing_not_active", "quota"),
            ("account_deactivated", "auth"),
            ("vector_store_timeout", "timeout"),
        ],
    )
    def test_codes(self, codes, kind):
        """
        Codes of openai 3.52.0 and of the guide to errors are not all faults of the server.
        """
        found = {code: message(stream(text(0, "Hi"), end=failed(code=code, message="Oh."))) for code in codes.split()}

        assert dict.fromkeys(codes.split(), kind) == {code: each.error.kind for code, each in found.items()}

    @pytest.mark.parametrize("code", ["server_error", "network_error"])
    def test_errors_that_pass(self, code):
        """
        The same request may succeed.
        """
        assert message(stream(text(0, "Hi"), end=failed(code=code, message="Oh."))).error.retryable

    def test_an_error_after_the_end(self):
        """
        It is advice.
        """
        late = SAMPLES["text"] + body({"type": "error", "code": "server_error", "message": "late"})

        assert message(SAMPLES["text"]) == message(late)

    def test_an_error_without_content(self):
        """
        It is noted, and the answer is read on.
        """
        data = stream({"type": "error", "error": None}, text(0, "Hi"))

        assert ("Hi", ["empty-error"]) == (message(data).text, notes(data))

    def test_a_body_without_an_end(self):
        """
        The step was interrupted.
        """
        found = message(body(*numbered(created(), *text(0, "Hi"))))

        assert (ErrorKind.INTERRUPTED, "Hi") == (found.error.kind, found.text)

    def test_two_responses_in_one_stream(self):
        """
        Another response before the end of the first is a fault of the gateway that joined them.
        """
        other = frame("created", response=response(id="resp_2"))

        assert ErrorKind.PROTOCOL == message(body(created(), *text(0, "Hi"), other)).error.kind

    @pytest.mark.parametrize(
        ("status", "data", "kind", "code"),
        [
            (
                429,
                b'{"error":{"message":"x","type":"tokens","code":"rate_limit_exceeded"}}',
                "rate-limit",
                "rate_limit_exceeded",
            ),
            (
                429,
                b'{"error":{"message":"x","type":"insufficient_quota","code":"insufficient_quota"}}',
                "quota",
                "insufficient_quota",
            ),
            (
                400,
                b'{"error":{"message":"x","type":"invalid_request_error","code":"invalid_encrypted_content"}}',
                "invalid-request",
                "invalid_encrypted_content",
            ),
            (
                400,
                b'{"error":{"message":"Your input exceeds the context window","type":"invalid_request_error"}}',
                "context-length",
                "invalid_request_error",
            ),
            (
                404,
                b'{"error":{"message":"x","code":"previous_response_not_found"}}',
                "not-found",
                "previous_response_not_found",
            ),
            (401, b'{"error":{"message":"x","code":"invalid_api_key"}}', "auth", "invalid_api_key"),
            (503, b"<html>", "overloaded", None),
        ],
    )
    def test_http(self, status, data, kind, code):
        """
        An error of HTTP has the kind of its code, else of its status.
        """
        error = DIALECT.http_error(status, {}, data)

        assert (kind, code, status) == (error.kind, error.code, error.status)


class TestReasoning:
    def test_a_message_before_the_end_of_a_reasoning(self):
        """
        The reasoning is before it all the same, as it began.
        """
        thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
        frames = [added(0, **{**thought, "encrypted_content": None}), *text(1, "Hi"), done(0, **thought)]

        assert [("reasoning", ""), ("text", "Hi")] == kinds(message(stream(frames)))

    def test_two_summaries(self):
        """
        Each is a reasoning; the state of the item is in the last.
        """
        found = message(SAMPLES["two summaries"])

        assert [("reasoning", "First."), ("reasoning", "Second."), ("text", "So.")] == kinds(found)
        assert {"i": 0, "summary_index": 0} == state(found.parts[0])
        assert {"i": 0, "summary_index": 1, "item_id": "rs_1", "encrypted_content": "gAAA-final"} == state(
            found.parts[1]
        )

    def test_no_summary(self):
        """
        The encrypted content alone is kept, as it is at the end of the item.
        """
        found = message(SAMPLES["reasoning without summary"])

        assert [("reasoning", ""), ("text", "So.")] == kinds(found)
        assert {"i": 0, "item_id": "rs_1", "encrypted_content": "gAAA-final"} == state(found.parts[0])

    def test_the_last_event_repeats_a_reasoning(self):
        """
        Its encrypted content, which came with its end, makes no second fragment.
        """
        thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}

        assert [("reasoning", "")] == kinds(message(stream(done(0, **thought), end=completed(thought))))

    def test_fields_that_change_until_the_end(self):
        """
        The encrypted content of the start is not kept of an item that was cut, nor its status of one that has ended.
        """
        item = {"id": "rs_1", "type": "reasoning", "summary": []}
        begun = added(0, **item, status="in_progress", encrypted_content="gAAA-early")
        cut, whole_item = message(body(created(), begun)), message(stream(begun, done(0, **item)))

        assert {"i": 0, "item_id": "rs_1", "status": "in_progress", "stored": True} == state(cut.parts[0])
        assert {"i": 0, "item_id": "rs_1", "stored": True} == state(whole_item.parts[0])

    def test_a_reasoning_that_ends_last(self):
        """
        It stays before the message that ended before it, with all its state (OpenRouter).
        """
        found = message(SAMPLES["reasoning that ends last"])

        assert [("reasoning", "raw thought"), ("text", "Hello")] == kinds(found)
        assert {"i": 0, "content_index": 0, "item_id": "rs_1", "encrypted_content": "gAAA-late"} == state(
            found.parts[0]
        )

    def test_an_encrypted_content_behind_its_reasoning(self):
        """
        It is kept once, however many of the last events repeat it.
        """
        thought = {"type": "reasoning", "id": "rs_1", "summary": []}
        late = {**thought, "encrypted_content": "gAAA"}
        again = {**completed(late), "type": "response.in_progress"}
        again["response"] = {**again["response"], "status": "in_progress"}
        found = message(stream(done(0, **thought), again, end=completed(late)))

        assert [None, "gAAA"] == [part.state.get("encrypted_content") for part in found.parts]

    def test_a_summary_that_was_cut(self):
        """
        It is closed, and the text follows (sequential cutoff).
        """
        found = message(SAMPLES["summary that was cut"])

        assert [("reasoning", "Complete."), ("reasoning", ""), ("text", "So.")] == kinds(found)
        assert {"status": "incomplete"} == found.parts[1].state["part"]

    def test_a_summary_without_deltas(self):
        """
        It is one delta.
        """
        data = stream(
            added(0, id="rs_1", type="reasoning", summary=[]),
            whole("reasoning_summary_text", 0, summary_index=0, text="All."),
            done(0, id="rs_1", type="reasoning", summary=[summary("All.")]),
        )

        assert ["All."] == [event.delta for event in events(data) if event.type == "reasoning.delta"]
        assert "All." == message(data).reasoning

    def test_a_second_reasoning_that_begins_early(self):
        """
        Late text of the first becomes one more part of its item.
        """
        found = message(OVERLAP)

        assert [("reasoning", "One"), ("reasoning", "Two"), ("reasoning", " more"), ("text", "So.")] == kinds(found)
        assert [0, 1, 0, 2] == [part.state["i"] for part in found.parts]
        assert ["gAAA-2", "gAAA-1"] == [part.state["encrypted_content"] for part in found.parts[1:3]]

    def test_what_is_stored_needs_no_content(self):
        """
        A reasoning without encrypted content is known by its id while the response is stored.
        """
        stored, not_stored = [
            message(
                stream(
                    reasoning(0, encrypted=None), text(1, "So."), start=created(store=store), end=completed(store=store)
                )
            )
            for store in (True, False)
        ]

        assert (True, False) == ("stored" in stored.parts[0].state, "stored" in not_stored.parts[0].state)

    def test_a_part_of_a_reasoning_under_another_name(self):
        """
        Bedrock names the parts of raw thoughts differently.
        """
        at = {"output_index": 0, "content_index": 0}
        raw = {"type": "reasoning_text", "text": "Hm."}
        data = stream(
            added(0, id="rs_1", type="reasoning", summary=[]),
            frame("reasoning_part.added", **at, part={**raw, "text": ""}),
            delta("reasoning_text", 0, "Hm.", content_index=0),
            frame("reasoning_part.done", **at, part=raw),
            done(0, id="rs_1", type="reasoning", summary=[], content=[raw]),
        )

        assert [("reasoning", "Hm.")] == kinds(message(data))
        assert [] == notes(data)

    def test_a_summary_at_the_index_of_a_raw_thought(self):
        """
        The arrays of an item count apart: an event of the one is not about the text of the other.
        """
        data = stream(
            added(0, id="rs_1", type="reasoning", summary=[]),
            delta("reasoning_text", 0, "Hm, ", content_index=0),
            delta("reasoning_text", 0, "raw.", content_index=0),
            whole("reasoning_text", 0, content_index=0, text="Hm, raw."),
            delta("reasoning_summary_text", 0, "In ", summary_index=0),
            delta("reasoning_summary_text", 0, "short.", summary_index=0),
            whole("reasoning_summary_text", 0, summary_index=0, text="In short."),
            done(0, id="rs_1", type="reasoning", summary=[summary("In short.")]),
        )

        assert [("reasoning", "Hm, raw."), ("reasoning", "In short.")] == kinds(message(data))


class TestTexts:
    def test_citations(self):
        """
        Annotations are citations too; those without a range support all of the text.
        """
        [found] = message(SAMPLES["cited text"]).parts

        assert [("https://a.example", "A", 0, 2), (None, "a.pdf", None, None)] == [
            (each.url, each.title, each.start, each.end) for each in found.citations
        ]
        assert URL == thaw(found.state["annotations"])[0]

    @pytest.mark.parametrize("name", ["reasoning", "reasoning_content", "reasoning_text", "reasoning_raw_text"])
    def test_names_of_events_of_a_reasoning(self, name):
        """
        Open Responses and gateways have names of their own for the events of its text.
        """
        start = added(0, id="rs_1", type="reasoning", summary=[], status="in_progress")
        pieces = [delta(name, 0, piece, content_index=0) for piece in ("Let me ", "think")]
        decoder = DIALECT.decoder("a1")
        found = fold(decoder.feed(body(created(), start, *pieces)) + decoder.close()).last

        assert ("Let me think", []) == (found.reasoning, decoder.notes)

    def test_annotations_after_the_text(self):
        """
        They count once, whether they come before or after its end.
        """
        frames = text(0, "So")
        frames.insert(-1, frame("output_text.annotation.added", output_index=0, content_index=0, annotation=URL))
        [found] = message(stream(frames)).parts

        assert ["https://a.example"] == [each.url for each in found.citations]

    def test_what_the_official_client_has_parsed_beside_fewer_annotations(self):
        """
        It is not of the wire, also where the part has fewer annotations than came before.
        """
        frames = text(0, "So")
        part = {**output_text("So"), "parsed": {"a": 1}}
        frames[-1:-1] = [
            frame("output_text.annotation.added", output_index=0, content_index=0, annotation=URL),
            frame("content_part.done", output_index=0, content_index=0, part=part),
        ]
        [found] = message(stream(frames)).parts

        assert (["https://a.example"], False) == (
            [each.url for each in found.citations],
            "parsed" in repr(thaw(found.state)),
        )

    def test_annotations_at_the_end_of_an_item(self):
        """
        They are those of their text, also when that has ended before the next one began.
        """
        frames = [
            added(0, **MESSAGE, content=[]),
            *[
                [
                    delta("output_text", 0, each, content_index=at),
                    whole("output_text", 0, content_index=at, text=each),
                ]
                for at, each in enumerate(["One", "Two"])
            ],
        ]
        item = {**MESSAGE, "status": "completed", "content": [output_text("One", URL), output_text("Two")]}
        found = message(stream(*frames, done(0, **item)))
        items, drops = encoded(found)

        assert ["https://a.example"] == [each.url for part in found.parts for each in part.citations]
        assert ([item], []) == (items, drops)

    def test_annotations_of_a_text_that_was_cut(self):
        """
        All that have come are kept.
        """
        more = {**URL, "url": "https://b.example", "title": "B"}
        frames = [added(0, **MESSAGE, content=[]), delta("output_text", 0, "One", content_index=0)]
        [found] = message(body(created(), *frames, annotation(0, 0, URL), annotation(0, 1, more))).parts

        assert ["https://a.example", "https://b.example"] == [each.url for each in found.citations]

    def test_an_annotation_more_at_the_end_of_an_item(self):
        """
        One that has come with its text counts once, also when that has ended before the next one began.
        """
        more = {**URL, "url": "https://b.example", "title": "B"}
        frames = [
            added(0, **MESSAGE, content=[]),
            delta("output_text", 0, "One", content_index=0),
            annotation(0, 0, URL),
            whole("output_text", 0, content_index=0, text="One"),
            delta("output_text", 0, "Two", content_index=1),
        ]
        content = [output_text("One", URL, more), output_text("Two")]
        found = message(stream(*frames, done(0, **MESSAGE, status="completed", content=content)))

        assert ["https://a.example", "https://b.example"] == [
            each.url for part in found.parts for each in part.citations
        ]

    def test_paths_of_files(self):
        """
        They are state, and no sources.
        """
        path = {"type": "file_path", "file_id": "file-1", "index": 0}
        [found] = message(stream(text(0, "Hi", annotations=[annotation(0, 0, path)]))).parts

        assert ((), [path]) == (found.citations, thaw(found.state["annotations"]))

    def test_log_probabilities(self):
        """
        They are details, once.
        """
        [found] = message(SAMPLES["log probabilities"]).parts

        assert {"logprobs": LOGPROBS} == thaw(found.details)

    @pytest.mark.parametrize(
        "last",
        [
            whole("output_text", 0, content_index=0, text="Hi", logprobs=LOGPROBS),
            delta("output_text", 0, "Hi", content_index=0, logprobs=LOGPROBS),
        ],
        ids=["end", "delta"],
    )
    def test_log_probabilities_of_a_text_that_was_cut(self, last):
        """
        A stream that is cut behind the end of a text, or a piece of it, has them there.
        """
        begun = added(0, type="message", id="msg_1", role="assistant", content=[])
        [found] = message(body(created(), begun, part("added", 0, **output_text("")), last)).parts

        assert ("Hi", {"logprobs": LOGPROBS}) == (found.text, thaw(found.details))

    def test_fields_of_helpers(self):
        """
        What the official client has read from a text and from arguments is not of the item, and refused in a request.
        """
        answered = {"id": "msg_1", "type": "message", "role": "assistant"}
        called = {"id": "fc_1", "type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a":1}'}
        content = [output_text('{"a":1}', parsed={"a": 1})]
        said, call_of = message(
            stream(done(0, **answered, content=content), done(1, **called, parsed_arguments={"a": 1}))
        ).parts

        assert {"i": 0, "content_index": 0, "item_id": "msg_1"} == state(said)
        assert {"i": 1, "item_id": "fc_1"} == state(call_of)

    def test_a_text_of_another_agent_without_its_start(self):
        """
        It is not that of the answer, also where the stream is followed from behind its start.
        """
        sub = {"agent": {"agent_name": "/root/a"}}
        item = {"type": "message", "id": "msg_1", "role": "assistant", "content": [output_text("Hm")]}
        found = message(body(delta("output_text", 0, "Hm", content_index=0, **sub), done(0, **item, **sub)))

        assert ("", ["opaque"]) == (found.text, [each.type for each in found.parts])

    def test_facts_beside_a_response(self):
        """
        They are details as its own are, and a zero is one.
        """
        end = frame("completed", response=response("completed", energy_j=0), region="north")

        assert {"energy_j": 0, "region": "north"} == thaw(message(stream(text(0, "Hi"), end=end)).details)

    def test_the_state_of_a_result_that_its_call_has(self):
        """
        It is the number of the item: all else is that of the call.
        """
        item = {"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "code": "1+1", "outputs": []}
        [found] = message(stream(hosted(0, **item, container_id="cntr_1"))).tool_calls

        assert {"i": 0} == thaw(found.result_state)

    def test_refusals(self):
        """
        A refusal is a text, and its state has its type.
        """
        [found] = message(SAMPLES["refusal"]).parts

        assert ("I can't.", "refusal") == (found.text, found.state["type"])

    def test_phases(self):
        """
        Every message keeps its phase.
        """
        found = message(SAMPLES["phases"])

        assert ["commentary", None, "final_answer"] == [part.state.get("phase") for part in found.parts]

    def test_two_texts(self):
        """
        The texts of a message are parts of one item.
        """
        found = message(SAMPLES["two texts in a message"])

        assert [("One", 0, 0), ("Two", 0, 1)] == [
            (part.text, part.state["i"], part.state["content_index"]) for part in found.parts
        ]

    def test_a_message_without_content(self):
        """
        It is kept, for the reasoning before it is refused without it.
        """
        found = message(SAMPLES["message without content"])

        assert [("reasoning", ""), ("text", "")] == kinds(found)
        assert {"i": 1, "item_id": "msg_1", "status": "completed"} == state(found.parts[1])

    def test_an_index_that_changes_before_the_end(self):
        """
        Ends with the id of an open item are its own (vLLM counts the next item before it ends one).
        """
        ends = [{**each, "output_index": 1} for each in text(0, "Hi")[-3:]]
        frames = [{**each, "item_id": "msg_1"} if "item_id" in each else each for each in [*text(0, "Hi")[:-3], *ends]]

        assert [("text", "Hi")] == kinds(message(stream(frames)))

    @pytest.mark.parametrize("begin", [output_text(""), {"type": "reasoning_text", "text": ""}])
    def test_places_that_change_with_every_event(self, begin):
        """
        They are one text, as its item has it (vLLM).
        """
        kind, whole_part = begin["type"], {**begin, "text": "Hello"}
        item = MESSAGE if kind == "output_text" else {"type": "reasoning", "id": "rs_1", "summary": []}
        frames = [
            added(0, **item),
            part("added", 0, **begin),
            delta(kind, 0, "Hel", content_index=1),
            delta(kind, 0, "lo", content_index=2),
            whole(kind, 0, text="Hello", content_index=3),
            part("done", 0, 4, **whole_part),
            done(0, **{**item, "content": [whole_part]}),
        ]

        assert ["Hello"] == [each.text for each in message(stream(frames)).parts]

    def test_texts_of_other_types(self):
        """
        Plain texts of types that their item does not have are its texts (LiteLLM, SGLang), and one without a type is.
        """
        thought = {"type": "reasoning", "id": "rs_1", "summary": [], "content": [output_text("Think")]}
        frames = [done(0, **thought), done(1, **{**MESSAGE, "content": [{"type": "text", "text": "Hi"}]})]

        assert [("reasoning", "Think"), ("text", "Hi")] == kinds(message(stream(frames)))
        frames[1]["item"]["content"] = [{"text": "Hi"}]  # sub2api mends such a wire for strict clients
        assert [("reasoning", "Think"), ("text", "Hi")] == kinds(message(stream(frames)))

    @pytest.mark.parametrize("content", ["Hi there", ["Hi there"]])
    def test_a_text_without_its_part(self, content):
        """
        A string in place of the content, or of a part in it, is the text; in a stream it is that of the deltas.
        """
        item = {"type": "message", "id": "msg_1", "role": "assistant", "content": content}
        frames = [
            added(0, **{**item, "content": type(content)()}),
            delta("output_text", 0, "Hi there", content_index=0),
        ]

        assert "Hi there" == fold(DIALECT.decode_resource(response("completed", output=[item]), "m1")).last.text
        assert [("text", "Hi there")] == kinds(message(stream([*frames, done(0, **item)])))

    def test_the_whole_text_wins(self):
        """
        A text that is repeated differently counts as repeated, and later deltas are late.
        """
        frames = text(0, "Hi", " thee")
        frames[-1]["item"]["content"][0]["text"] = frames[-3]["text"] = frames[-2]["part"]["text"] = "Hi there"
        frames.insert(-1, delta("output_text", 0, " late", content_index=0))
        data = stream(frames)

        assert ("Hi there", ["late-event"]) == (message(data).text, notes(data))

    @pytest.mark.parametrize(
        ("frames", "output", "expected"),
        [
            (
                [*text(0, "Hi "), *call(1, "{}"), delta("output_text", 0, "there", content_index=0)],
                [{**MESSAGE, "content": [output_text("Hi ")]}],
                [("text", "Hi "), ("tool", None), ("text", "there")],
            ),
            (
                [*text(0, "- "), *text(0, "One."), *text(0, "Two.")],
                [{**MESSAGE, "content": [output_text("- One.Two.")]}],
                [("text", "- "), ("text", "One."), ("text", "Two.")],
            ),
            (
                [*reasoning(0, "One."), delta("reasoning_summary_text", 0, "Two.", summary_index=0)],
                [],
                [("reasoning", "One."), ("reasoning", "Two.")],
            ),
        ],
        ids=["message before a call", "messages of one id", "reasoning"],
    )
    def test_more_of_an_item_that_has_ended(self, frames, output, expected):
        """
        It is another item of its type, and the last response, which has it or not, repeats the first one.
        """
        data = stream(*frames, end=completed(*output))

        assert expected == kinds(message(data))
        assert [*range(len(expected))] == [part.state["i"] for part in message(data).parts]
        check_adapter(DIALECT, {"more": data}, mutations=3)

    def test_an_empty_whole_text(self):
        """
        It does not replace what came in deltas.
        """
        frames = text(0, "Hi", " there")
        frames[-1]["item"]["content"][0]["text"] = frames[-3]["text"] = frames[-2]["part"]["text"] = ""

        assert "Hi there" == message(stream(frames)).text

    def test_ids_that_change(self):
        """
        Items are found by their place (Copilot).
        """
        assert [("reasoning", "First."), ("text", "Hi!")] == kinds(message(SAMPLES["ids that change"]))

    def test_events_without_places(self):
        """
        Without numbers items are found by their ids, and without ids by their type.
        """
        nameless = [
            {key: value for key, value in each.items() if key not in ("item_id", "output_index")}
            for each in text(0, "Hi", "!")
        ]

        idless = [{**each, "item": {**each["item"], "id": None}} if "item" in each else each for each in nameless]

        assert "Hi!" == message(SAMPLES["without numbers of items"]).text
        assert "Hi!" == message(stream(nameless)).text
        assert "Hi!" == message(stream(idless)).text

    def test_items_that_are_known_by_their_ids_alone(self):
        """
        Pieces of two texts that come in turn, without numbers of items, stay apart on the fast path, too.
        """
        starts = [frame("output_item.added", item={**MESSAGE, "id": each, "content": []}) for each in ("m1", "m2")]
        pieces = [frame("output_text.delta", item_id=f"m{at % 2 + 1}", delta=f"{at}.") for at in range(40)]
        found = {}
        for each in message(stream(starts, pieces)).parts:
            found[each.state["i"]] = found.get(each.state["i"], "") + each.text

        assert {at: "".join([f"{each}." for each in range(at, 40, 2)]) for at in (0, 1)} == found

    def test_numbers_that_are_objects(self):
        """
        They count as missing, in any number of frames that are alike.
        """
        pieces = [{**delta("output_text", 0, "a"), "sequence_number": {"a": "b", "c": "d"}} for _ in range(9)]

        assert "a" * 9 == message(body(created(), added(0, **MESSAGE, content=[]), *pieces, completed())).text

    def test_an_index_that_does_not_begin_at_0(self):
        """
        The text is not doubled when its place in the item is another one (Bedrock).
        """
        at = {"content_index": 1}
        data = stream(
            added(0, **MESSAGE, content=[]),
            delta("output_text", 0, "Hi", **at),
            done(0, **MESSAGE, content=[output_text("Hi")]),
        )

        assert [("text", "Hi")] == kinds(message(data))

    def test_a_text_behind_a_part_of_an_unknown_type(self):
        """
        The text is not doubled, and the other part is state.
        """
        unknown, at = {"type": "hologram", "data": "x"}, {"content_index": 1}
        data = stream(
            added(0, **MESSAGE, content=[]),
            delta("output_text", 0, "Hi", **at),
            done(0, **MESSAGE, content=[unknown, output_text("Hi")]),
        )

        assert [("text", "Hi")] == kinds(message(data))
        assert [unknown] == thaw(message(data).parts[0].state["content"])

    def test_a_part_of_another_type_of_items(self):
        """
        A raw thought inside of a message is none of its texts: it is state.
        """
        raw = {"type": "reasoning_text", "text": "Hm."}
        found = message(stream(hosted(0, **MESSAGE, content=[raw, output_text("Hi")])))

        assert [("text", "Hi")] == kinds(found)
        assert [raw] == thaw(found.parts[0].state["content"])

    def test_an_item_that_ends_twice(self):
        """
        The same item again is left out; one with another id at its place is another item.
        """
        frames = text(0, "Hi")
        other = done(0, **{**MESSAGE, "id": "msg_2"}, content=[output_text("!")])

        assert [("text", "Hi")] == kinds(message(stream(frames, frames[-1])))
        assert [("text", "Hi"), ("text", "!")] == kinds(message(stream(frames, other)))

    def test_deltas_of_nothing(self):
        """
        A null is an empty text.
        """
        frames = text(0, "Hi")
        frames.insert(2, delta("output_text", 0, None, content_index=0))

        assert "Hi" == message(stream(frames)).text

    def test_deltas_before_their_item(self):
        """
        They begin it.
        """
        assert "Hi" == message(stream(text(0, "Hi")[2:])).text


class TestCalls:
    def test_input_before_its_call(self):
        """
        A call that its input has begun is found by its id, also behind another one.
        """
        first, last = [frame("function_call_arguments.delta", item_id="fc_1", delta=piece) for piece in ('{"x":', "1}")]
        items = [
            {"id": f"fc_{at}", "type": "function_call", "call_id": f"c{at}", "name": "a", "arguments": arguments}
            for at, arguments in ((1, ""), (2, ""), (1, '{"x":1}'), (2, ""))
        ]
        ends = [frame("output_item.done", item=item) for item in items[2:]]
        data = stream(first, frame("output_item.added", item=items[1]), last, *ends)

        assert {"c1": '{"x":1}', "c2": "{}"} == {each.call_id: each.raw_input for each in message(data).tool_calls}

    @pytest.mark.parametrize("pieces", [(), ('{"a"', ":1}")])
    def test_an_end_at_another_index(self, pieces):
        """
        It is that of the call that is open, also where nothing but the end has its id (vLLM).
        """
        arguments = "".join(pieces) or "{}"
        call_of = {"type": "function_call", "name": "ping"}
        frames = [
            added(1, **call_of, id="", call_id="call_1", arguments=""),
            *[frame("function_call_arguments.delta", output_index=1, item_id="fc_1", delta=each) for each in pieces],
            frame("function_call_arguments.done", output_index=2, item_id="fc_1", arguments=arguments),
            done(2, **call_of, item_id="fc_1", output_index=2, call_id="call_2", arguments=arguments),
        ]
        [found] = message(stream(frames)).parts

        assert (arguments, CallStatus.CALLED) == (found.raw_input, found.status)
        assert {"i": 1, "id": "call_2"} == state(found)

    @pytest.mark.parametrize("pieces", [('{"a"', ":1}"), ()])
    @pytest.mark.parametrize("at_end", ["{}", {}])
    def test_ends_with_an_empty_object(self, pieces, at_end):
        """
        LM Studio has it in the end of a call and of the response, behind the input (earendil-works/pi#917).
        """
        call_of = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "ping"}
        frames = [
            added(0, **call_of, arguments=""),
            *[delta("function_call_arguments", 0, piece) for piece in pieces],
            whole("function_call_arguments", 0, arguments='{"a":1}'),
            done(0, **call_of, arguments=at_end),
        ]
        [found] = message(stream(frames, end=completed({**call_of, "arguments": at_end}))).parts

        assert ('{"a":1}', {"a": 1}) == (found.raw_input, found.arguments)

    @pytest.mark.parametrize(
        ("form", "media_type"), [(None, "image/png"), ("webp", "image/webp"), ("svg", "image/svg+xml")]
    )
    def test_media_types_of_images(self, form, media_type):
        """
        They follow from the format, which is PNG without one (openai 3.54, beta: png, webp, jpeg, gif, svg).
        """
        [found] = message(stream(hosted(0, **{**IMAGE, "output_format": form}))).tool_calls

        assert [media_type] == [each.media_type for each in found.output]

    def test_a_result_before_a_cut(self):
        """
        It is kept of a call that has not ended when the answer fails.
        """
        frames = [added(0, **{**PROGRAM, "code": ""}), *hosted(1, **PROGRAM_OUTPUT)]
        [found] = message(stream(*frames, end=failed(code="server_error", message="Oh."))).tool_calls

        assert ("4", {"i": 1, "item_id": "cmo_1", "status": "completed", "type": "program_output"}) == (
            found.output[0].text,
            thaw(found.result_state),
        )

    def test_a_result_before_a_limit(self):
        """
        A call that has its result was run, also where the answer ends before the call does.
        """
        frames = [added(0, **{**PROGRAM, "code": ""}), *hosted(1, **PROGRAM_OUTPUT)]
        [found] = message(stream(*frames, end=incomplete("max_output_tokens"))).tool_calls

        assert ("success", "4") == (found.status, found.output[0].text)

    def test_a_call_that_the_server_answers(self):
        """
        The result of a function in the answer itself makes its call one of the provider (agents of Databricks).
        """
        result = {"type": "function_call_output", "call_id": "call_1", "output": "42"}
        frames = [*call(0, "{}"), done(1, **result), *text(2, "So 42.")]
        found = message(stream(frames))
        items, drops = encoded(found)

        assert (True, (TextContent("42"),), "stop") == (
            found.tool_calls[0].provider_executed,
            found.tool_calls[0].output,
            found.finish_reason,
        )
        assert (["function_call", "function_call_output", "message"], []) == ([each["type"] for each in items], drops)
        assert result == items[1]

    def test_a_call_that_a_gateway_runs(self):
        """
        A call of a tool of MCP behind it, with its name and its input, has its result (LiteLLM).
        """
        found = message(SAMPLES["calls that a gateway runs"])
        items, drops = encoded(found)

        assert ["call_1", "call_2", "mcp_1", "mcp_2"] == [each.call_id for each in found.tool_calls]
        assert [True] * 4 == [each.provider_executed for each in found.tool_calls]
        assert [(), (), (TextContent("4"),), (TextContent("9"),)] == [each.output for each in found.tool_calls]
        assert ("stop", ()) == (found.finish_reason, found.pending_tool_calls)
        assert ["mcp_call", "mcp_call", "message"] == [each["type"] for each in items]
        assert [(0, "unplaced"), (1, "unplaced")] == drops

    @pytest.mark.parametrize(
        ("name", "arguments", "tools"),
        [("square", '{"x": 3}', []), ("root", '{"x": 2}', []), ("square", '{"x": 2}', ["square"])],
        ids=["other input", "other tool", "declared"],
    )
    def test_a_call_beside_one_of_a_server(self, name, arguments, tools):
        """
        It waits for the app, also where both are equal and the request has a function of that name.
        """
        ran = {**MCP, "name": name, "arguments": arguments}
        request = {"tools": [{"type": "function", "name": each} for each in tools]}
        found = message(stream(call(0, '{"x": 2}', name="square"), hosted(1, **ran)), request=request)

        assert ("tool-calls", ["call_1"]) == (found.finish_reason, [each.call_id for each in found.pending_tool_calls])

    def test_a_call(self):
        """
        The input is that of the deltas, parsed.
        """
        found = message(SAMPLES["call"]).parts[1]

        assert ("call_1", "weather", {"city": "Oslo"}, False) == (
            found.call_id,
            found.name,
            found.arguments,
            found.provider_executed,
        )
        assert {"i": 1, "item_id": "fc_1", "status": "completed"} == state(found)

    def test_interleaved_calls(self):
        """
        Each piece belongs to the call of its place (llama.cpp).
        """
        assert [("c1", {"x": 1}), ("c2", {"y": 2})] == [
            (each.call_id, each.arguments) for each in message(SAMPLES["interleaved calls"]).tool_calls
        ]

    @pytest.mark.parametrize(
        "left", [[0, 3, 4], [0, 1, 2], [0, 1, 2, 3], [4]], ids=["whole", "deltas", "no end", "end"]
    )
    def test_a_call_with_few_frames(self, left):
        """
        The whole input, its deltas or the end of its item are enough.
        """
        frames = call(0, '{"a":', "1}")

        assert [{"a": 1}] == [each.arguments for each in message(stream([frames[at] for at in left])).tool_calls]

    def test_an_input_that_the_last_event_has_alone(self):
        """
        OpenRouter ends a call with an empty one, and has it in the output (OpenRouterTeam/ai-sdk-provider#336).
        """
        item = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "weather", "status": "completed"}
        ends = [completed({**item, "arguments": '{"city": "Oslo"}'}), completed()]

        assert [{"city": "Oslo"}, {}] == [message(stream(*call(0), end=end)).tool_calls[0].arguments for end in ends]

    def test_cut_arguments(self):
        """
        They are not to be run.
        """
        found = message(SAMPLES["cut arguments"])

        assert (FinishReason.LENGTH, CallStatus.FAILED, "invalid-input", '{"x":') == (
            found.finish_reason,
            found.parts[0].status,
            found.parts[0].error.kind,
            found.parts[0].raw_input,
        )

    def test_the_input_in_the_start_of_a_call(self):
        """
        It is kept of a call that was cut before its end.
        """
        found = message(body(created(), *hosted(0, **MCP)[:1]))

        assert (MCP["arguments"], CallStatus.FAILED) == (found.parts[0].raw_input, found.parts[0].status)

    def test_an_incomplete_call_whose_input_is_an_object(self):
        """
        Its status decides.
        """
        item = {"id": "fc_1", "type": "function_call", "call_id": "c1", "name": "a", "arguments": "{}"}
        found = message(stream(hosted(0, **item, status="incomplete"), end=incomplete("max_output_tokens")))

        assert CallStatus.FAILED is found.parts[0].status

    @pytest.mark.parametrize("early", [{}, {"call_id": ""}, {"call_id": None}], ids=["missing", "empty", "null"])
    def test_an_id_that_comes_with_the_end(self, early):
        """
        The call has begun under the id of its item; the id that its result needs is in the state.
        """
        item = {"id": "fc_1", "type": "function_call", "name": "f", "arguments": '{"x":1}'}
        [found] = message(stream(added(0, **item, **early), done(0, **item, call_id="call_9"))).tool_calls

        assert ("fc_1", {"i": 0, "id": "call_9", "item_id": "fc_1"}) == (found.call_id, state(found))

    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ({"x": [1]}, ("called", {"x": [1]}, '{"x":[1]}')),
            ([1], ("failed", None, "[1]")),
            ("null", ("called", {}, "null")),
            ("", ("called", {}, "{}")),
            (None, ("called", {}, "{}")),
        ],
        ids=["object", "array", "null in text", "empty", "null"],
    )
    def test_inputs_of_other_forms(self, arguments, expected):
        """
        One that was parsed is read, an empty one and null are an empty object, and a call does not run without its own.
        """
        item = {"id": "fc_1", "type": "function_call", "call_id": "c1", "name": "f", "arguments": arguments}
        [found] = message(stream(hosted(0, **item, status="completed"))).tool_calls

        assert expected == (found.status.value, found.input, found.raw_input)

    def test_custom_tools(self):
        """
        Their input is text, whatever it looks like.
        """
        [found] = message(SAMPLES["custom tool"]).parts

        assert ({"input": PATCH}, PATCH, "custom_tool_call") == (found.arguments, found.raw_input, found.state["type"])
        [found] = message(
            stream(
                hosted(
                    0,
                    **{
                        **found.state,
                        "type": "custom_tool_call",
                        "call_id": "c",
                        "name": "a",
                        "input": '{"b": 1}',
                        "status": "completed",
                    },
                )
            )
        ).parts
        assert {"input": '{"b": 1}'} == found.arguments

    def test_searches_of_xai(self):
        """
        They look like custom tools of the app, and the provider runs them.
        """
        [found] = message(SAMPLES["search of xAI"]).parts

        assert (True, CallStatus.SUCCESS) == (found.provider_executed, found.status)

    def test_hosted_tools(self):
        """
        The item is a call of the provider and its result; what has no word is state.
        """
        found = message(SAMPLES["hosted tools"]).tool_calls

        assert [
            ("file_search", {"queries": ["q"]}, (JsonContent([{"text": "hit"}]),)),
            ("code_interpreter", {"code": "1+1"}, (JsonContent([{"type": "logs", "logs": "2"}]),)),
            ("image_generation", {}, (MediaContent(media_type="image/webp", data=b"\0\0\0"),)),
            ("ask", {"q": 1}, (TextContent("found"),)),
        ] == [(each.name, each.arguments, each.output) for each in found]
        assert "cntr_1" == found[1].state["container_id"]
        assert {True} == {each.provider_executed for each in found}

    @pytest.mark.parametrize("text", ["6*7", "[6]"])
    def test_code_in_the_arguments_of_an_mcp_call(self, text):
        """
        The server has run it: vLLM has its Python tool so (vllm-project/vllm#31761), and the item returns as it came.
        """
        item = {**MCP, "name": "python", "arguments": text, "output": "42", "status": "completed"}
        start = {**item, "arguments": "", "output": None, "status": "in_progress"}
        answer = message(
            stream(
                added(0, **start),
                delta("mcp_call_arguments", 0, text[:1]),
                delta("mcp_call_arguments", 0, text[1:]),
                whole("mcp_call_arguments", 0, arguments=text),
                done(0, **item),
            )
        )

        assert [({"arguments": text}, text, CallStatus.SUCCESS, (TextContent("42"),))] == [
            (each.arguments, each.raw_input, each.status, each.output) for each in answer.tool_calls
        ]
        assert [item] == encoded(answer)[0]

    def test_an_mcp_call_that_failed_for_its_input(self):
        """
        The fault that the server has found is the one that counts.
        """
        error = {"type": "mcp_protocol_error", "code": -32602, "message": "Invalid arguments"}
        item = {"id": "mcp_1", "type": "mcp_call", "server_label": "wiki", "name": "ask", "arguments": '{"q":'}
        item |= {"error": error, "status": "failed"}
        answer = message(stream(hosted(0, **item, output=None)))

        assert [("tool", "Invalid arguments")] == [(each.error.kind, each.error.message) for each in answer.tool_calls]
        assert [item] == encoded(answer)[0]

    def test_a_hosted_tool_that_was_cut_behind_its_result(self):
        """
        A search whose item is incomplete has run where it has results, which are kept and sent back.
        """
        item = {"id": "fs_1", "type": "file_search_call", "queries": ["q"], "results": [{"text": "hit"}]}
        found = message(stream(hosted(0, **item, status="incomplete"), end=incomplete("max_output_tokens")))

        assert [(JsonContent([{"text": "hit"}]),)] == [each.output for each in found.tool_calls]
        assert [{**item, "status": "incomplete"}] == encoded(found)[0]

    def test_a_hosted_tool_that_was_cut_before_its_result(self):
        """
        It has failed, and no result of it is noted: there is none.
        """
        decoder = DIALECT.decoder("a1")
        decoder.feed(stream(hosted(0, **{**MCP, "output": None, "status": "incomplete"})))

        assert ([CallStatus.FAILED], []) == ([each.status for each in decoder.message.tool_calls], decoder.notes)

    def test_an_app_of_doubao(self):
        """
        Its item has the whole answer in its blocks (the client of Volcengine, eino-ext): it was shown nowhere.
        """
        blocks = [{"type": "reasoning_text", "reasoning_text": "Hm"}, {"type": "output_text", "text": "Answer."}]
        item = {"id": "da_1", "type": "doubao_app_call", "feature": "chat", "blocks": blocks, "status": "completed"}
        found = message(stream(hosted(0, **item)))

        assert [("doubao_app", {"feature": "chat"}, (JsonContent(blocks),), True)] == [
            (each.name, each.arguments, each.output, each.provider_executed) for each in found.tool_calls
        ]
        assert [item] == encoded(found)[0]

    def test_a_dump_of_a_call_without_aliases(self):
        """
        What is `async` on the wire is `async_` in such a dump, and is sent back as `async`.
        """
        [item] = encoded(message(stream(call(0, "{}", async_=True))))[0][:1]

        assert (True, False) == (item.get("async"), "async_" in item)

    @pytest.mark.parametrize("name", [None, ""])
    def test_a_hosted_tool_without_a_name(self, name):
        """
        Its call is kept raw, and its result makes one up.
        """
        found = message(stream(hosted(0, **{**MCP, "name": name}), text(1, "Done.")))

        assert MessageStatus.COMPLETED is found.status
        assert ["Done."] == [part.text for part in found.parts if part.type == "text"]
        assert [MCP["output"]] == [part.output[0].text for part in found.tool_calls]

    def test_hosted_tools_that_failed(self):
        """
        The call fails with the error of its item.
        """
        [found] = message(SAMPLES["hosted tool that failed"]).parts

        assert ("tool", "no") == (found.error.kind, found.error.message)

    def test_results_in_items_of_their_own(self):
        """
        They are the results of the calls before them, found by id, or without one by type.
        """
        found = message(SAMPLES["results in items of their own"]).parts

        assert [("shell", 0, 1), ("tool_search", 2, 3), ("program", 4, 5)] == [
            (each.name, each.state["i"], each.result_state["i"]) for each in found
        ]
        assert [CallStatus.SUCCESS] * 3 == [each.status for each in found]

    def test_results_without_ids(self):
        """
        They are those of the calls in their order; a call that failed has none.
        """
        program, output = [{key: each[key] for key in each if key != "call_id"} for each in (PROGRAM, PROGRAM_OUTPUT)]
        calls = [hosted(at, **{**program, "id": f"prog_{at}"}) for at in range(2)]
        outputs = [hosted(at, **{**output, "id": f"out_{at}", "result": f"{at}"}) for at in range(2, 4)]
        failed_call = hosted(0, **{**SHELL, "status": "failed"})

        assert ["2", "3"] == [each.output[0].text for each in message(stream(*calls, *outputs)).tool_calls]
        assert ErrorKind.TOOL == message(stream(failed_call)).tool_calls[0].error.kind

    def test_the_result_of_an_earlier_call(self):
        """
        The output of a program whose call is in the answer before is kept raw.
        """
        [found] = message(stream(hosted(0, **PROGRAM_OUTPUT))).parts

        assert PROGRAM_OUTPUT == thaw(found.state["item"])

    def test_shells(self):
        """
        A shell in a container is the provider's, any other the app's; so is a search for tools.
        """
        local = {**SHELL, "environment": {"type": "local"}}
        search = {**TOOL_SEARCH, "execution": "client", "call_id": "call_t"}

        assert [True, False, False] == [
            message(stream(hosted(0, **item))).parts[0].provider_executed for item in (SHELL, local, search)
        ]

    def test_tools_of_the_app(self):
        """
        The app answers them, also the request for an approval.
        """
        found = message(SAMPLES["tools of the app"])

        assert ["local_shell", "apply_patch", "computer", "mcp_approval"] == [
            each.name for each in found.pending_tool_calls
        ]

    def test_several_actions_of_a_computer(self):
        """
        They are its input, as one action is, and sent back.
        """
        actions = [{"type": "click", "x": 1, "y": 2}, {"type": "wait"}]
        item = {key: COMPUTER[key] for key in COMPUTER if key != "action"} | {"actions": actions}
        found = message(stream(hosted(0, **item)))

        assert {"actions": actions, "pending_safety_checks": []} == found.tool_calls[0].arguments
        assert actions == DIALECT.emit_resource(found)["output"][0]["actions"]

    def test_lists_of_tools(self):
        """
        Those without an end are kept, too, at their places.
        """
        found = message(SAMPLES["lists of tools"]).parts

        assert {("opaque", 0), ("opaque", 1), ("opaque", 2), ("text", 3)} == {
            (each.type, each.state["i"]) for each in found
        }

    def test_compactions(self):
        """
        They are opaque.
        """
        assert "gAAA-compaction" == message(SAMPLES["compaction"]).parts[1].state["item"]["encrypted_content"]

    def test_a_hosted_call_without_an_end(self):
        """
        It has no result.
        """
        [found] = message(stream(hosted(0, **MCP)[:1])).parts

        assert ErrorKind.NO_RESULT == found.error.kind

    def test_programs_wait_for_the_app(self):
        """
        A program whose calls the app has to answer has no result in this answer.
        """
        found = message(stream(hosted(0, **PROGRAM), call(1, "{}", caller={"type": "program", "caller_id": "call_g"})))

        assert (FinishReason.TOOL_CALLS, ErrorKind.NO_RESULT) == (found.finish_reason, found.parts[0].error.kind)
        assert {"type": "program", "caller_id": "call_g"} == thaw(found.parts[1].state["caller"])


class TestResumption:
    def test_frames_that_come_twice(self):
        """
        From wherever the stream is sent again, the message is that of the whole.
        """
        frames = numbered(created(), *reasoning(0, "Hm."), *text(1, *["word "] * 9), *call(2, "{}"), completed())

        for cut in range(1, len(frames)):
            for start in range(cut):
                decoder = DIALECT.decoder("a1")
                found = decoder.feed(body(*frames[:cut]))
                decoder.reconnect()
                found += decoder.feed(body(*frames[start:])) + decoder.close()

                assert events(body(*frames)) == found

    def test_the_rest_of_a_stream(self):
        """
        A decoder continues after the last number that it has read.
        """
        frames = numbered(created(background=True), *text(0, *["word "] * 9), completed())
        decoder = DIALECT.decoder("a1")
        found = decoder.feed(body(*frames[:9]))
        decoder.reconnect()

        assert 8 == decoder.last_sequence_number
        assert events(body(*frames)) == found + decoder.feed(body(*frames[9:])) + decoder.close()

    def test_a_frame_that_comes_twice(self):
        """
        A delta is read once, also among deltas that take the fast path.
        """
        frames = numbered(created(), *text(0, *[f"word {at} " for at in range(20)]), completed())
        assert frames[18]["delta"] == "word 15 "

        for again in ([frames[18]] * 2, frames[10:19]):
            assert events(body(*frames)) == events(body(*frames[:18], *again, *frames[19:]))

    def test_numbers_that_are_wrong(self):
        """
        Numbers that belong to other events are not looked at (LiteLLM).
        """
        first, last = [delta("output_text", 0, each, content_index=0) for each in ("Hi", " there")]
        frames = [first, part("added", 0, **output_text("")), last, completed()]
        late = [{**each, "sequence_number": at} for at, each in enumerate([created(), *text(0, *["word "] * 20)])]

        assert "Hi there" == message(body(created(), *[{**each, "sequence_number": 0} for each in frames])).text
        assert MessageStatus.COMPLETED is message(body(*late, {**completed(), "sequence_number": 20})).status

    def test_numbers_that_are_all_alike(self):
        """
        No text is lost, of deltas that have one number and come at once, and the numbers are noted.
        """
        deltas = [delta("output_text", 0, f"{at} ", content_index=0, sequence_number=3) for at in range(9)]
        data = body(*numbered(created(), *text(0)[:2]), *deltas)

        assert "0 1 2 3 4 5 6 7 8 " == message(data).text
        assert ["wrong-number"] == notes(data)

    @pytest.mark.parametrize(
        ("more", "text_of", "noted"),
        [
            ({}, "", []),
            ({"delta": "more"}, "more", ["wrong-number"]),
            ({"type": "response.refusal.delta"}, "word 9 ", ["wrong-number"]),
            ({"output_index": 1, "item_id": "item_1"}, "word 9 ", ["wrong-number"]),
        ],
        ids=["the same delta", "another text", "another type", "another item"],
    )
    def test_a_number_of_a_delta_that_took_the_fast_path(self, more, text_of, noted):
        """
        It is compared with that delta: one that comes again is left out, and no other is lost.
        """
        frames = numbered(created(), *text(0, *[f"word {at} " for at in range(20)])[:-3])
        again = next(each for each in frames if each.get("delta") == "word 9 ")
        data = body(
            *frames, {**again, **more}, {"type": "response.unknown", "sequence_number": again["sequence_number"]}
        )
        noted = noted or ["wrong-number"]  # of the last frame, which is none of a delta

        assert text_of == "".join(part.text for part in message(data).parts).removeprefix(message(body(*frames)).text)
        assert [*noted, "unknown-event"] == notes(data)

    def test_no_numbers(self):
        """
        Without numbers nothing is compared; a stream that begins again is a replay.
        """
        frames = [created(), *text(0, "Hi", " there"), completed()]

        assert "Hi there" == message(body(*frames)).text
        assert message(body(*frames)) == message(body(*frames[:4], *frames)) == message(body(*frames[:-1], *frames))

    def test_a_whole_text_that_is_shorter(self):
        """
        The replay is compared with the deltas that have been shown, not with the text that has replaced them.
        """
        shown = [delta("output_text", 0, "So.", content_index=0)] * 2
        short = [created(), *shown, whole("output_text", 0, text="So", content_index=0)]
        called = [created(), added(0, type="function_call", name="f", call_id="c", arguments="")]
        called += [delta("function_call_arguments", 0, '{"a": 1}')]
        called += [frame("output_item.done", output_index=0, item={**called[1]["item"], "arguments": '{"a":1}'})]

        assert "So" == message(body(*short, *short, completed())).text
        assert 2 == sum(event.type == "text.delta" for event in events(body(*short, *short, completed())))
        assert '{"a":1}' == message(body(*called, *called, completed())).tool_calls[0].raw_input

    @pytest.mark.parametrize("cut", [-1, -3, -6], ids=["before the end", "in the text", "before the text"])
    @pytest.mark.parametrize("is_new", [True, False], ids=["a new process", "the same decoder"])
    def test_a_document_after_a_cut(self, cut, is_new):
        """
        The service leaves the encrypted content of reasonings out of it: what has come of the stream is kept.
        """
        frames = numbered(created(background=True), *reasoning(0, "Hm."), *text(1, "So", " it is."), completed())
        items = [frame["item"] for frame in frames if frame["type"] == "response.output_item.done"]
        bare = {key: value for key, value in items[0].items() if key != "encrypted_content"}
        document = response("completed", background=True, usage=USAGE, output=[bare, items[1]])
        decoder = DIALECT.decoder("a1")
        before = decoder.feed(body(*frames[:cut]))
        if is_new:
            decoder = DIALECT.decoder("a1", prior=fold(before).last)
        else:
            decoder.rejoin()
        after = decoder.feed_resource(document) + decoder.close()

        assert "step.restarted" not in [event.type for event in after]
        assert kinds(message(body(*frames))) == kinds(fold([*before, *after]).last)
        assert "gAAA-final" == fold([*before, *after]).last.parts[0].state["encrypted_content"]

    def test_a_new_process(self):
        """
        With what was stored, the stream from its start gives what is new.
        """
        data = SAMPLES["two summaries"]
        for cut in range(0, len(data), 97):
            decoder = DIALECT.decoder("a1")
            before = durable(decoder.feed(data[:cut]) + decoder.close(ErrorInfo(kind="network", message="cut")))
            prior = [each for each in fold(before).messages if isinstance(each, AssistantMessage)]
            after = DIALECT.decoder("a1", prior=prior)
            again = after.feed(data) + after.close()

            assert message(data) == fold([*before, *again]).last


class TestFrames:
    def test_what_has_no_news(self):
        """
        Progress, marks and frames that keep the connection open cause nothing, not even a note.
        """
        quiet = [
            {"type": "keepalive"},
            frame("web_search_call.searching", output_index=0, item_id="ws_1"),
            frame("image_generation_call.partial_image", output_index=0, partial_image_b64="AAAA"),
            frame("compaction.compacting", output_index=0),
            frame("mcp_list_tools.in_progress", output_index=0),
            frame("image_process_call.progressing", output_index=0),  # this and the next are of Volcengine
            frame("knowledge_search_call.searching", output_index=0),
            frame("doubao_app_call_search.completed", output_index=0),
            frame("doubao_app_call_output_text.delta", output_index=0, delta="Hi"),
            frame("x_search_call.completed", output_index=0),  # of xAI
            *[{"type": kind, "data": {}} for kind in ("rate_limits.updated", "steer.accepted", "codex.rate_limits")],
        ]

        assert message(stream(text(0, "Hi"))) == message(stream(*quiet, text(0, "Hi")))
        assert [] == notes(stream(*quiet, text(0, "Hi")) + b"data: [DONE]\n\n")

    def test_what_is_not_known(self):
        """
        An event of tomorrow is noted.
        """
        unknown = [frame(name, output_index=0) for name in ("zapped.delta", "zapped_call.delta")]
        assert ["unknown-event"] * 2 == notes(stream(unknown, text(0, "Hi")))

    def test_the_type_beside_the_document(self):
        """
        It counts where the document has none.
        """
        bare = [({**each}, each["type"]) for each in [created(), *text(0, "Hi"), completed()]]
        data = b"".join(DIALECT.decoder.framing.frame(each.pop("type"), each) for each, _ in bare)

        assert "Hi" == message(data).text

    @pytest.mark.parametrize(
        ("document", "known"),
        [
            (created(), True),
            (response("completed"), True),
            ({"type": "error", "sequence_number": 0, "code": "x"}, True),
            ({"type": "error", "error": {"type": "api_error"}}, False),
            ({"type": "message_start"}, False),
            ({"object": "chat.completion.chunk"}, False),
            ({"type": "message", "role": "assistant", "content": []}, False),
        ],
    )
    def test_detection(self, document, known):
        """
        Frames and documents of this wire are known, others are not.
        """
        assert known is DIALECT.detect(document)


def test_summaries_overlap_in_one_item():
    """
    A second summary that begins before the end of the first leaves both with their text (opencode#43312).
    """
    data = stream(
        added(0, id="rs_1", type="reasoning", summary=[]),
        delta("reasoning_summary_text", 0, "One", summary_index=0),
        part("added", 0, 1, "summary", **summary("")),
        delta("reasoning_summary_text", 0, "Two", summary_index=1),
        delta("reasoning_summary_text", 0, "!", summary_index=0),
        done(0, id="rs_1", type="reasoning", summary=[summary("One!"), summary("Two")], encrypted_content="gAAA"),
    )
    found = message(data)
    [item] = DIALECT.emit_resource(found)["output"]

    assert ["One!", "Two"] == [each["text"] for each in item["summary"]]


def test_summaries_whose_parts_have_no_end():
    """
    A text that is whole ends where the next one begins: each summary is one reasoning.
    """
    frames = [
        [
            delta("reasoning_summary_text", 0, text, summary_index=at),
            whole("reasoning_summary_text", 0, summary_index=at, text=text),
        ]
        for at, text in enumerate(["One", "Two"])
    ]
    item = {"id": "rs_1", "type": "reasoning", "summary": [summary("One"), summary("Two")]}
    found = message(stream(added(0, id="rs_1", type="reasoning", summary=[]), *frames[0], *frames[1], done(0, **item)))

    assert [("One", 0), ("Two", 1)] == [(part.text, part.state["summary_index"]) for part in found.parts]


def test_calls_without_ids_of_items():
    """
    Without an id and an index an item of a call has the id of its call (llama.cpp, `to_json_oaicompat_resp`).
    """

    def item(verb, name, arguments, status):
        fields = {"call_id": name, "name": "f", "arguments": arguments, "status": status}
        return frame(f"output_item.{verb}", item={"type": "function_call", **fields})

    frames = [item("added", name, "", "in_progress") for name in ("fc_A", "fc_B")]
    for piece in ('{"a":', "1}"):
        frames += [frame("function_call_arguments.delta", item_id=name, delta=piece) for name in ("fc_A", "fc_B")]
    frames += [item("done", name, '{"a":1}', "completed") for name in ("fc_A", "fc_B")]
    output = [each["item"] for each in frames[-2:]]
    found = message(stream(*frames, end=completed(*output)))
    answered = fold([each.succeed("ok") for each in found.tool_calls], start=Transcript(messages=(found,))).last
    sent, _ = encoded(answered)

    assert ["fc_A", "fc_B"] == [each.call_id for each in found.tool_calls]
    assert [{"a": 1}] * 2 == [thaw(each.input) for each in found.tool_calls]
    assert not [each for each in sent if "id" in each]


def test_a_part_of_another_kind():
    """
    A part that does not fit the item that it names is nothing (LiteLLM's bridge to Chat Completions).
    """
    frames = [
        *reasoning(0, "think"),
        *[
            frame("output_text.delta", item_id="msg_1", output_index=0, content_index=0, delta=each)
            for each in ("Hi ", "there")
        ],
        frame("output_text.done", item_id="msg_1", output_index=0, content_index=0, text="Hi there"),
        frame(
            "content_part.done",
            item_id="msg_1",
            output_index=0,
            content_index=0,
            part={"type": "reasoning_text", "reasoning": "think"},
        ),
        done(0, id="msg_1", type="message", role="assistant", status="completed", content=[output_text("Hi there")]),
    ]

    assert [("reasoning", "think"), ("text", "Hi there")] == kinds(message(stream(*frames)))


@pytest.mark.parametrize("kind", ["web_search_call", "file_search_call", "code_interpreter_call"])
def test_a_hosted_call_that_failed(kind):
    """
    Its item is sent back as it came: `error` is a field of others, and refused here (pydantic-ai#3653).
    """
    item = {"id": "ws_1", "type": kind, "status": "failed"}
    found = message(stream(added(0, **item), done(0, **item)))
    sent, _ = encoded(found)

    assert "tool" == found.tool_calls[0].error.kind
    assert "error" not in sent[0]


def test_objects_of_the_official_client():
    """
    Nulls that came stay: a tool that was found cannot go back without `strict`.
    """
    responses = pytest.importorskip("openai.types.responses", reason="the official client is not installed")
    models = pytest.importorskip("openai._models", reason="the official client is not installed")
    found = {**TOOL_SEARCH_OUTPUT, "tools": [{"type": "function", "name": "f", "parameters": None, "strict": None}]}
    frames = [created(), *hosted(0, **TOOL_SEARCH), *hosted(1, **found), completed()]
    decoder = DIALECT.decoder("a1")
    given = [models.construct_type(type_=responses.ResponseStreamEvent, value=frame) for frame in numbered(*frames)]
    events = [event for each in given for event in decoder.feed_event(each)]

    assert message(stream(*frames[1:-1])) == fold(events + decoder.close()).last


def test_a_reasoning_with_two_kinds_of_texts():
    """
    In a document the summary is before the content, as in a stream.
    """
    item = {"id": "rs_1", "type": "reasoning", "summary": [summary("Short")], "content": [RAW]}
    found = message(stream(end=completed(item)))

    assert ["Short", "raw thought"] == [part.text for part in found.parts]


def test_a_call_whose_input_is_whole_before_a_cut():
    """
    Its item has not ended, but all of its arguments have come.
    """
    frames = [frame for frame in call(0, '{"a":1}') if frame["type"] != "response.output_item.done"]
    [found] = message(stream(frames, end=incomplete("max_output_tokens"))).tool_calls

    assert ("called", {"a": 1}) == (found.status, found.input)


def test_programs_whose_outputs_change_places():
    """
    An output belongs to the call with its id.
    """
    first, second = ({**PROGRAM, "id": f"prog_{at}", "call_id": f"call_{at}"} for at in (0, 1))
    outputs = [
        {**PROGRAM_OUTPUT, "id": f"out_{at}", "call_id": f"call_{at}", "result": word}
        for at, word in ((1, "one"), (0, "zero"))
    ]
    body = stream(*[hosted(at, **item) for at, item in enumerate([first, second, *outputs])])

    assert ["zero", "one"] == [call.output[0].text for call in message(body).tool_calls]


def test_the_parameter_of_a_flat_error():
    """
    It is a fact of the error.
    """
    found = message(body(created(), {"type": "error", "code": "x", "message": "No", "param": "input"}))

    assert {"param": "input"} == found.error.details


def test_a_second_message_at_an_index_behind_an_open_one():
    """
    Another id is another message, as long as the first has one.
    """
    first = [added(0, id="msg_1", type="message", role="assistant", content=[]), delta("output_text", 0, "a")]
    second = done(1, id="msg_2", type="message", role="assistant", content=[output_text("b")], status="completed")
    found = message(body(created(), *first, second, completed()))

    assert [("a", 0), ("b", 1)] == [(part.text, part.state["i"]) for part in found.parts if part.text]
    assert "msg_2" in [part.state.get("item_id") for part in found.parts]


def test_a_search_of_tools_without_its_execution():
    """
    The service runs it.
    """
    search = {key: value for key, value in TOOL_SEARCH.items() if key != "execution"}
    [found] = message(stream(hosted(0, **search))).tool_calls

    assert found.provider_executed


@pytest.mark.parametrize("call_id", ["xs_call_1", "xs_call-557c03fd-0"])
def test_ids_of_searches_of_xai(call_id):
    """
    What is behind the word differs between recordings (2026); the app waits for none of these calls.
    """
    search = {"id": "ctc_1", "type": "custom_tool_call", "call_id": call_id, "name": "x_keyword_search", "input": "{}"}
    found = message(stream(hosted(0, **search, status="completed"), text(1, "Found.")))

    assert (True, FinishReason.STOP) == (found.tool_calls[0].provider_executed, found.finish_reason)


@pytest.mark.parametrize("verb", ["added", "done"])
def test_an_item_that_is_null(verb):
    """
    It is nothing, and its index is free (openai-python#3125).
    """
    empty = frame(f"output_item.{verb}", output_index=0, item=None)
    data = stream(empty, text(0, "Hi"))

    assert [("text", "Hi")] == kinds(message(data))
    assert ({"i": 0, "content_index": 0, "item_id": "msg_1", "status": "completed"}, []) == (
        state(message(data).parts[0]),
        notes(data),
    )


@pytest.mark.parametrize("output", [True, False], ids=["output", "no output"])
def test_a_reasoning_of_vllm(output):
    """
    Thought and text come once: the parts have another type or place than the texts, and a message is only announced.

    These are the frames of vLLM 0.11 to 0.15 with a parser of reasoning, `_process_simple_streaming_events`.
    """
    blank, thought = output_text("", logprobs=[]), {"type": "reasoning_text", "text": "We think"}

    def of(name, index, place, item_id, **fields):
        return frame(name, output_index=index, content_index=place, item_id=item_id, **fields)

    said = output_text("Hello")
    frames = [
        added(0, id="R", type="reasoning", summary=[], status="in_progress"),
        of("content_part.added", 0, 0, "R", part=blank),
        *[of("reasoning_text.delta", 0, at, "R", delta=piece) for at, piece in ((1, "We "), (2, "think"))],
        of("reasoning_text.done", 0, 3, "R", text="We think"),
        done(0, id="R", type="reasoning", summary=[], content=[thought], status="completed"),
        added(0, **{**MESSAGE, "id": "R"}, content=[], status="in_progress"),
        of("content_part.added", 1, 0, "X", part=blank),
        *[of("output_text.delta", 1, at, "X", delta=piece, logprobs=[]) for at, piece in ((1, "Hel"), (2, "lo"))],
        of("output_text.done", 1, 3, "X", text="Hello", logprobs=[]),
        of("content_part.done", 1, 4, "X", part=said),
        done(1, **{**MESSAGE, "id": "X"}, content=[said], status="completed", summary=[]),
    ]
    whole_items = [
        {"id": "rs_1", "type": "reasoning", "summary": [], "content": [thought]},
        {**MESSAGE, "content": [said], "status": "completed"},
    ]
    data = stream(*frames, end=completed(*(whole_items if output else [])))

    assert [("reasoning", "We think"), ("text", "Hello")] == kinds(message(data))


def test_items_with_empty_ids():
    """
    They are those of the indexes, also of the parts that they begin with: vLLM 0.10 with gpt-oss (its #23927).

    The part of a reasoning has the type of a text, and each item ends at the next index.
    """
    blank, thought, said = (
        output_text("", logprobs=[]),
        {"type": "reasoning_text", "text": "We think"},
        output_text("Hi"),
    )

    def of(name, index, **fields):
        return frame(name, output_index=index, content_index=0, item_id="", **fields)

    message_of_it = {**MESSAGE, "id": ""}
    frames = [
        added(0, id="", type="reasoning", summary=[], status="in_progress"),
        of("content_part.added", 0, part=blank),
        *[of("reasoning_text.delta", 0, delta=piece) for piece in ("We ", "think")],
        of("reasoning_text.done", 1, text="We think"),
        done(1, id="", type="reasoning", summary=[], content=[thought], status="completed"),
        added(1, **message_of_it, content=[], status="in_progress"),
        of("content_part.added", 1, part=blank),
        of("output_text.delta", 1, delta="Hi", logprobs=[]),
        of("output_text.done", 2, text="Hi", logprobs=[]),
        of("content_part.done", 2, part=said),
        done(2, **message_of_it, content=[said], status="completed"),
    ]
    output = [
        {"id": "rs_1", "type": "reasoning", "summary": [], "content": [thought]},
        {**MESSAGE, "content": [said], "status": "completed"},
    ]

    found = message(stream(*frames, end=completed(*output)))

    assert [("reasoning", "We think"), ("text", "Hi")] == kinds(found)
    assert [0, 1] == [part.state["i"] for part in found.parts]


def test_a_reasoning_without_an_end_behind_which_its_index_is_taken():
    """
    The last response has it under another id: it is the one of the stream (vLLM, a call behind a reasoning).
    """
    thought = {"type": "reasoning_text", "text": "We think"}
    frames = [
        added(0, id="R", type="reasoning", summary=[]),
        frame("reasoning_text.delta", output_index=0, content_index=0, item_id="R", delta="We think"),
        done(0, **{**MESSAGE, "id": "R"}, content=[], status="completed"),
        call(1, '{"a":1}'),
    ]
    output = [
        {"id": "rs_1", "type": "reasoning", "summary": [], "content": [thought]},
        {"id": "fc_9", "type": "function_call", "call_id": "call_9", "name": "weather", "arguments": '{"a":1}'},
    ]
    found = message(stream(*frames, end=completed(*output)))

    assert ["We think"] == [part.text for part in found.parts if part.type == "reasoning" and part.text]
    assert ["call_1"] == [each.call_id for each in found.tool_calls]


def test_arguments_of_a_custom_call():
    """
    The item has its input when it ends (LiteLLM's bridge: the tool is a function of the model behind it).
    """
    item = {"id": "call_1", "type": "custom_tool_call", "call_id": "call_1", "name": "apply_patch"}
    at = {"output_index": 1, "item_id": "call_1"}
    data = stream(
        added(1, **item, input="", status="in_progress"),
        frame("function_call_arguments.delta", **at, delta='{"content":"+a"}'),
        frame("function_call_arguments.done", **at, arguments='{"content":"+a"}'),
        done(1, **item, input="+a", status="completed"),
    )

    assert [("call_1", {"input": "+a"})] == [(each.call_id, each.arguments) for each in message(data).parts]
    assert [] == notes(data)


def test_ends_at_the_next_index_with_another_id():
    """
    They are those of the item that is open, by its text: SGLang counts before it ends one, and all have one id in it.
    """
    blank, thought, said = output_text(""), {"type": "reasoning_text", "text": "We think"}, output_text("Hello")

    def of(name, index, **fields):
        return frame(name, output_index=index, item_id="item_1", content_index=0, **fields)

    data = stream(
        added(1, id="item_1", type="reasoning", summary=[], status="in_progress"),
        of("content_part.added", 1, part=blank),
        *[of("reasoning_text.delta", 1, delta=piece) for piece in ("We ", "think")],
        of("reasoning_text.done", 2, text="We think"),
        done(2, id="rs_2", type="reasoning", summary=[], content=[thought], status="completed"),
        added(2, **{**MESSAGE, "id": "item_1"}, content=[], status="in_progress"),
        of("content_part.added", 2, part=blank),
        *[of("output_text.delta", 2, delta=piece) for piece in ("Hel", "lo")],
        of("output_text.done", 3, text="Hello"),
        of("content_part.done", 3, part=said),
        done(3, **{**MESSAGE, "id": "item_1"}, content=[said], status="completed"),
        end=completed({"id": "rs_9", "type": "reasoning", "summary": [], "content": [thought]}),
    )

    assert [("reasoning", "We think"), ("text", "Hello")] == kinds(message(data))


REASON = {"type": "too_many_requests", "code": "rate_limit_exceeded", "message": "Too fast.", "param": None}
UNEXPLAINED = frame("failed", response=response("failed"))


class TestFailuresWithoutAReason:
    def test_the_reason_behind_it(self):
        """
        Azure sends it in an error behind a failed response that has none (pi#7983); what came is kept, and fails once.
        """
        frames = [created(), *text(0, "Hi"), UNEXPLAINED, {"type": "error", "error": REASON}]
        found = events(body(*numbered(*frames)))

        assert ["step.failed"] == [each.type for each in found if each.type in ("step.failed", "step.ended")]
        assert ("rate-limit", "Too fast.", True) == (
            found[-1].error.kind,
            found[-1].error.message,
            found[-1].error.retryable,
        )
        assert "Hi" == fold(found).last.text

    @pytest.mark.parametrize("cut", [None, ErrorInfo(kind=ErrorKind.NETWORK, message="broken", retryable=True)])
    def test_no_reason_at_all(self, cut):
        """
        The step fails when the stream ends, with what the response has: however it ends.
        """
        decoder = DIALECT.decoder("a1")
        decoder.feed(body(*numbered(created(), UNEXPLAINED)))
        [found] = decoder.close(cut)

        assert ("step.failed", ErrorKind.PROVIDER) == (found.type, found.error.kind)

    def test_a_document(self):
        """
        It fails at once.
        """
        found = fold(DIALECT.decode_resource(response("failed"), "a1")).last

        assert (MessageStatus.FAILED, ErrorKind.PROVIDER) == (found.status, found.error.kind)

    def test_too_many_requests(self):
        """
        It is a limit of the rate, in both fields (Azure, openai-dotnet#881).
        """
        reason = {**REASON, "code": "too_many_requests"}
        found = message(body(created(), {"type": "error", "sequence_number": 2, "error": reason}))

        assert ("rate-limit", True) == (found.error.kind, found.error.retryable)


def test_a_message_of_the_user_in_an_answer():
    """
    It is kept as it came, with its role, whole and in a stream (Fireworks repeats the input).
    """
    repeated = {"id": "msg_0", "type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]}
    streamed = [added(0, **{**repeated, "content": []}), delta("output_text", 0, "Hello"), done(0, **repeated)]
    for frames in (hosted(0, **repeated), streamed):
        found = message(stream(frames, text(1, "Hi")))

        assert ("Hi", ["opaque", "text"]) == (found.text, [part.type for part in found.parts])
        assert repeated == thaw(found.parts[0].state["item"])


def test_usage_in_the_words_of_chat_completions():
    """
    It is counted (Fireworks, `docs.fireworks.ai/api-reference/get-response`).
    """
    details = {"prompt_tokens_details": {"cached_tokens": 3}, "completion_tokens_details": {"reasoning_tokens": 1}}
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7, **details}
    found = message(stream(text(0, "Hi"), end=completed(usage=usage))).usage

    assert (5, 2, 3, 1) == (found.input_tokens, found.output_tokens, found.cache_read_tokens, found.reasoning_tokens)
    assert usage == found.details


def test_input_that_perplexity_writes_to_its_cache():
    """
    It is counted, and part of the input.
    """
    details = {"cache_creation_input_tokens": 12, "cache_read_input_tokens": 17, "cached_tokens": 17}
    usage = {"input_tokens": 30, "input_tokens_details": details, "output_tokens": 2, "total_tokens": 32}
    found = message(stream(text(0, "Hi"), end=completed(usage=usage))).usage

    assert (30, 17, 12) == (found.input_tokens, found.cache_read_tokens, found.cache_write_tokens)


@pytest.mark.parametrize(
    ("frames", "expected"), [([], ["So", "Oslo."]), (text(0, "Oslo."), ["Oslo.", "So"])], ids=["document", "stream"]
)
def test_a_reasoning_beside_the_output(frames, expected):
    """
    mistral.rs has it as a text of the response, in the last frame alone; elsewhere that field repeats the request.
    """
    items = [{"id": "msg_1", "type": "message", "role": "assistant", "content": [output_text("Oslo.")]}]
    found = message(stream(frames, end=completed(*items, reasoning="So")))

    assert (expected, expected) == (
        [part.text for part in found.parts],
        [part.text for part in sorted(found.parts, key=lambda part: part.state["i"])],
    )
    assert {"reasoning", "text"} == {part.type for part in found.parts}
    assert ["So"] == [part.text for part in message(stream(reasoning(0, "So"), end=completed(reasoning="high"))).parts]


def test_a_search_of_perplexity():
    """
    It is announced as a call of a function, and its results end in place of that: no call is left for the app.
    """
    found = message(PERPLEXITY)
    search, *_, results, answer = found.parts

    assert ("search_web", {"queries": ["Oslo"]}) == (search.name, thaw(search.input))
    assert (CallStatus.SUCCESS, True, FinishReason.STOP) == (
        search.status,
        search.provider_executed,
        found.finish_reason,
    )
    assert (RESULTS, "Oslo.[1]") == (thaw(results.state["item"]), answer.text)


def test_thoughts_of_perplexity():
    """
    Each of its events about a search has a whole one.
    """
    found = message(PERPLEXITY)

    assert ["Searching the web...", "Found 1 result"] == [part.text for part in found.parts if part.type == "reasoning"]
    assert [] == notes(PERPLEXITY)


def test_a_model_that_the_end_alone_has():
    """
    A preset of Perplexity is named until the answer ends; the model that has answered is a detail then.
    """
    body = stream(text(0, "Hi"), start=created(model="fast"), end=completed(model="openai/gpt-6-luna"))
    found = message(body)

    assert ("fast", "openai/gpt-6-luna") == (found.origin.served_model, found.details["served_model"])
    assert "served_model" not in message(stream(text(0, "Hi"))).details


@pytest.mark.parametrize("ends", [True, False])
def test_calls_that_are_open_at_one_index(ends):
    """
    Gateways write the index of the call in Chat Completions, which some servers leave at 0; the ids are right.
    """
    [first, *pieces, _, end], [other, *others, _, last] = [
        call(0, f'{{"{name}"', ":1", "}", id=f"fc_{name}", call_id=f"call_{name}") for name in "ab"
    ]
    for each in pieces + others:
        each["item_id"] = "fc_a" if each in pieces else "fc_b"
    mixed = [each for pair in zip(pieces, others, strict=True) for each in pair]
    frames = [first, mixed[0], other, *mixed[1:], *([end, last] if ends else [])]
    found = message(stream(*frames, end=completed()))

    assert [("call_a", {"a": 1}), ("call_b", {"b": 1})] == [
        (each.call_id, thaw(each.input)) for each in found.tool_calls
    ]
    assert ["fc_a", "fc_b"] == [each.state["item_id"] for each in found.tool_calls]


def test_another_item_at_the_index_of_a_call():
    """
    One with an id is not the result of a call of the app that has not ended.
    """
    other = {"type": "future", "id": "x_1"}
    found = message(stream(call(0, "{}")[:3], done(0, **other)))

    assert (CallStatus.CALLED, False) == (found.parts[0].status, found.parts[0].provider_executed)


def test_a_summary_that_is_content_at_the_end():
    """
    LiteLLM's bridge streams the reasoning as a summary without an end, and its last frame has it as content.
    """
    text_of = [{"type": "output_text", "text": "Let me see", "annotations": []}]
    deltas = [
        frame("reasoning_summary_text.delta", item_id="rs_1", output_index=0, delta=piece)
        for piece in ("Let me", " see")
    ]
    start = added(0, id="rs_1", type="reasoning", status="in_progress", summary=None)
    last = completed(
        {"id": "rs_1", "type": "reasoning", "status": "completed", "role": "assistant", "content": text_of}
    )
    [found] = message(stream(start, deltas, end=last)).parts

    assert ("Let me see", "rs_1", 0) == (found.text, found.state["item_id"], found.state["summary_index"])


def test_two_texts_that_are_the_same():
    """
    A reasoning may have one text as its summary and as its content.
    """
    item = {"id": "rs_1", "type": "reasoning", "summary": [summary("So")]}
    both = {**item, "content": [{"type": "reasoning_text", "text": "So"}]}

    assert ["So", "So"] == [
        part.text for part in message(stream(added(0, **item), thoughts(0, "So"), done(0, **both))).parts
    ]
