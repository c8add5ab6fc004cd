"""
What the Responses API takes back: items as they came, reasoning with what follows it, and what must not be sent.
"""

import pytest

from assistant_events import Origin, UserMessage, fold
from assistant_events.errors import LocalProtocolError
from assistant_events.history import DropReason
from assistant_events.testing import Call
from assistant_events.testing import answer as built
from assistant_events.values import Citation, ErrorInfo, JsonContent, MediaContent, TextContent, thaw

from .notation import (
    DIALECT,
    MODEL,
    added,
    call,
    completed,
    created,
    delta,
    done,
    encoded,
    hosted,
    incomplete,
    message,
    output_text,
    reasoning,
    stream,
    summary,
    text,
    words,
)
from .samples import (
    APPROVAL,
    CODE,
    COMPACTION,
    COMPUTER,
    CUSTOM,
    FILES,
    IMAGE,
    LISTED,
    LOCAL_SHELL,
    MCP,
    MESSAGE,
    OVERLAP,
    PATCH,
    PATCH_CALL,
    PERPLEXITY,
    PROGRAM,
    PROGRAM_OUTPUT,
    RAW,
    SAMPLES,
    SEARCH,
    SHELL,
    SHELL_OUTPUT,
    TOOL_SEARCH,
    TOOL_SEARCH_OUTPUT,
    URL,
)

USER = UserMessage(id="u1", content="Hi")
ASKED = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
NEXT = UserMessage(id="u2", content="More")
UNSTORED = {"start": created(store=False), "end": completed(store=False)}


def own(data):
    """
    Return the message of a stream for the model that it was asked of.
    """
    return message(data, request={"model": MODEL})


def sent(data):
    """
    Return the items of an answer in the next request, and what was dropped.
    """
    items, drops = encoded(USER, own(data))
    assert ASKED == items[0]
    return [item for item in items[1:] if not str(item.get("type")).endswith("_output") or "id" in item], drops


def message_item(text, *annotations, id="msg_1", **more):
    item = {"type": "message", "role": "assistant", "id": id, "status": "completed", **more}
    return {**item, "content": [output_text(text, *annotations)]}


def thought(*summaries, id="rs_1", encrypted="gAAA-final", **more):
    item = {"type": "reasoning", "id": id, "summary": [summary(each) for each in summaries]}
    return {**item, **({} if encrypted is None else {"encrypted_content": encrypted}), **more}


def without_nulls(item):
    return {key: value for key, value in item.items() if value is not None}


OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "42"}
FC = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "weather", "status": "completed"}

SENT_IMAGE = {key: value for key, value in IMAGE.items() if key != "output_format"}
SENT = {
    "text": [message_item("Hi there.")],
    "two summaries": [thought("First.", "Second."), message_item("So.")],
    "reasoning without summary": [thought(), message_item("So.")],
    "call": [thought("Hm."), {**FC, "arguments": '{"city": "Oslo"}'}],
    "reasoning that ends last": [thought(encrypted="gAAA-late", content=[RAW]), message_item("Hello")],
    "phases": [
        message_item("Let me look.", phase="commentary"),
        SEARCH,
        message_item("Found.", id="msg_2", phase="final_answer"),
    ],
    "custom tool": [{**CUSTOM, "input": PATCH, "status": "completed"}],
    "cited text": [
        message_item("So it is", URL, {"type": "file_citation", "file_id": "file-1", "filename": "a.pdf", "index": 2})
    ],
    "log probabilities": [message_item("Hi")],
    "refusal": [{**message_item(""), "content": [{"type": "refusal", "refusal": "I can't."}]}],
    "two texts in a message": [{**message_item(""), "content": [output_text("One"), output_text("Two")]}],
    "message without content": [thought(), {**message_item(""), "content": []}],
    "hosted tools": [FILES, CODE, SENT_IMAGE, MCP, message_item("Done.")],
    "results in items of their own": [
        *[SHELL, SHELL_OUTPUT, without_nulls(TOOL_SEARCH), without_nulls(TOOL_SEARCH_OUTPUT)],
        *[PROGRAM, PROGRAM_OUTPUT],
    ],
    "lists of tools": [
        *[{**LISTED, "id": f"mcpl_{at}", "tools": [{"name": "ask"}] if at == 1 else []} for at in range(3)],
        message_item("Ready."),
    ],
    "unknown item": [{"id": "z_1", "type": "zapped", "power": 9}, message_item("Hi.")],
}


@pytest.mark.parametrize("name", SENT)
def test_items_go_back_as_they_came(name):
    """
    Every field that the provider wants back is at its place, in its order.
    """
    assert SENT[name] == sent(SAMPLES[name])[0]


def test_a_shell_without_ids_of_items():
    """
    Call and result have the id of the call alone.
    """
    shell, output = [{key: each for key, each in item.items() if key != "id"} for item in (SHELL, SHELL_OUTPUT)]
    items, drops = encoded(USER, own(stream(hosted(0, **shell), hosted(1, **output))))

    assert ([ASKED, shell, output], []) == (items, drops)


def test_results_that_a_request_must_have():
    """
    Code without outputs and an image without bytes are sent with the null that their types require.

    openai 3.54, `response_code_interpreter_tool_call_param` and `response_input_item_param`.
    """
    code, image = {**CODE, "outputs": None}, {**SENT_IMAGE, "status": "generating", "result": None}
    frames = stream(hosted(0, **code), hosted(1, **image))

    assert [code, image] == sent(frames)[0]


def test_a_call_without_a_name_is_reported():
    """
    It is kept raw and has no item: a request needs the name.
    """
    nameless = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "arguments": "{}", "status": "completed"}

    assert ([message_item("So.")], [(0, DropReason.UNPLACED)]) == sent(stream(hosted(0, **nameless), text(1, "So.")))


def test_overlapping_reasonings_are_whole_again():
    """
    The parts of an item are one item, at its place.
    """
    items, drops = sent(OVERLAP)

    assert [
        thought("One more", encrypted="gAAA-1"),
        thought("Two", id="rs_2", encrypted="gAAA-2"),
        message_item("So."),
    ] == items
    assert [] == drops


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "refusal", "refusal": "No."}],
        [{"type": "refusal", "refusal": "No."}, output_text("So.")],
        [output_text("A", {**URL, "end_index": 1}), output_text("So.")],
    ],
    ids=["refusal", "refusal of several", "sources"],
)
def test_a_message_that_another_one_interrupts(content):
    """
    Its texts keep their types and their sources, which come with its end.
    """
    first = {"id": "msg_1", "type": "message", "role": "assistant"}
    name, field = ("refusal", "refusal") if "refusal" in content[0] else ("output_text", "text")
    frames = [
        added(0, **first, content=[]),
        delta(name, 0, content[0][field], content_index=0),
        added(1, **{**first, "id": "msg_2"}, content=[]),
        delta("output_text", 1, "B", content_index=0),
        done(0, **first, content=content, status="completed"),
        done(1, **{**first, "id": "msg_2"}, content=[output_text("B")], status="completed"),
    ]
    items, drops = sent(stream(*frames))

    assert [{**first, "content": content, "status": "completed"}, []] == [items[0], drops]


class TestReasoning:
    def test_what_is_not_stored_needs_its_content(self):
        """
        Without encrypted content the reasoning is not sent, nor the id that would be refused without it.
        """
        items, drops = sent(stream(reasoning(0, "Hm.", encrypted=None), call(1, "{}"), **UNSTORED))

        assert [{key: value for key, value in FC.items() if key != "id"} | {"arguments": "{}"}] == items
        assert [(0, DropReason.UNSIGNED), (1, DropReason.LINKED), (1, DropReason.NO_ANSWER)] == drops

    def test_what_is_not_stored_goes_with_its_content(self):
        """
        With encrypted content it is sent with ids.
        """
        items, drops = sent(stream(reasoning(0, "Hm."), text(1, "So."), **UNSTORED))

        assert ([thought("Hm."), message_item("So.")], []) == (items, drops)

    def test_what_is_stored_is_known_by_its_id(self):
        """
        Without encrypted content it is sent with its id.
        """
        items, drops = sent(stream(reasoning(0, encrypted=None), text(1, "So.")))

        assert ([thought(encrypted=None), message_item("So.")], []) == (items, drops)

    def test_what_is_not_stored_any_more(self):
        """
        A provider that has lost what it stored gets no reasoning by its id alone, nor ids of what came of it.
        """
        stored, sealed = [own(stream(reasoning(0, encrypted=each), text(1, "So."))) for each in (None, "gAAA-final")]
        policy = DIALECT.policy.without_storage()
        inputs = [
            DIALECT.encoder([USER, each], {"model": MODEL}, mode="full", policy=policy).body["input"]
            for each in (stored, sealed)
        ]

        assert [ASKED, {"role": "assistant", "content": "So."}] == inputs[0]
        assert [ASKED, thought(), message_item("So.")] == inputs[1]

    def test_a_container_that_is_gone(self):
        """
        The service refuses a call that ran in a container when that has expired (pydantic-ai#7461), and what led to it.
        """
        answer = own(stream(reasoning(0, "Hm."), hosted(1, **CODE), text(2, "So.")))
        policy = DIALECT.policy.without_storage()
        usual, again = [
            DIALECT.encoder([USER, answer], {"model": MODEL}, mode="full", policy=each)
            for each in (DIALECT.policy, policy)
        ]

        assert [ASKED, thought("Hm."), CODE, message_item("So.")] == usual.body["input"]
        assert [ASKED, {"role": "assistant", "content": "So."}] == again.body["input"]

    def test_why_a_call_in_a_container_is_not_sent(self):
        """
        Its reason is that of the container.
        """
        answer = own(stream(hosted(0, **CODE), text(1, "So.")))
        [drop] = DIALECT.encoder([answer], {"model": MODEL}, mode="full", policy=DIALECT.policy.without_storage()).drops

        assert "Its container is gone" in str(drop)

    def test_a_reasoning_alone(self):
        """
        At the end of a response that was cut it has no item behind it, and is not sent.
        """
        items, [drop] = sent(stream(text(0, "So."), reasoning(1, "Hm."), end=incomplete("max_output_tokens")))

        assert [message_item("So.")] == items
        assert (1, True) == (drop[0], "without one it is refused" in drop[1])

    def test_a_reasoning_whose_item_is_not_sent(self):
        """
        What came of it was a call of the provider without a result. The text behind it then has no id: the service
        refuses that without its reasoning (laravel/ai#1052).
        """
        items, drops = sent(stream(reasoning(0, "Hm."), hosted(1, **MCP)[:1], text(2, "So.")))

        assert [{"role": "assistant", "content": "So."}] == items
        assert [(0, DropReason.LINKED), (1, DropReason.LINKED), (2, DropReason.LINKED)] == drops

    @pytest.mark.parametrize("seal", ["google-gemini-v1", "openai-responses-v1"])
    def test_a_signature_behind_its_item(self, seal):
        """
        OpenRouter sends that of Gemini as a reasoning behind what it signs; Gemini refuses calls without theirs.
        """
        signature = reasoning(1, format=seal)
        answer = message(stream(call(0, "{}"), signature), request={"model": MODEL}, provider="openrouter")
        found = DIALECT.encoder([USER, answer], {"model": MODEL}, mode="full", provider="openrouter")

        assert (thought(format=seal) in found.body["input"]) is seal.startswith("google")

    def test_a_signature_whose_item_is_not_sent(self):
        """
        There is nothing that it signs: a call of the provider without its result is left out, and so is the signature.
        """
        signature = reasoning(1, format="google-gemini-v1")
        answer = message(stream(hosted(0, **MCP)[:1], signature), request={"model": MODEL}, provider="openrouter")
        found = DIALECT.encoder([USER, answer], {"model": MODEL}, mode="full", provider="openrouter")

        assert thought(format="google-gemini-v1") not in found.body["input"]

    def test_several_reasonings_before_one_item(self):
        """
        All of them are sent with it.
        """
        items, drops = sent(stream(reasoning(0, "A."), reasoning(1, "B.", id="rs_2"), text(2, "So.")))

        assert ([thought("A."), thought("B.", id="rs_2"), message_item("So.")], []) == (items, drops)

    def test_another_model(self):
        """
        Reasoning and ids are its model's own; types, phases and texts are sent.
        """
        answer = own(stream(reasoning(0, "Hm."), text(1, "So.", phase="commentary"), call(2, "{}")))
        items, drops = encoded(USER, answer, model="gpt-7")

        assert [
            {"role": "assistant", "phase": "commentary", "content": "So."},
            {key: value for key, value in FC.items() if key != "id"} | {"arguments": "{}"},
        ] == items[1:3]
        assert [(0, DropReason.OTHER_MODEL), (1, DropReason.OTHER_MODEL), (2, DropReason.OTHER_MODEL)] == [
            drop for drop in drops if drop[0] is not None and drop[1] is not DropReason.NO_ANSWER
        ]

    def test_another_provider(self):
        """
        What one provider has encrypted is not sent to another that speaks the wire.
        """
        answer = message(stream(reasoning(0, "Hm."), text(1, "So.")), provider="xai", request={"model": MODEL})
        items, _ = encoded(USER, answer)

        assert [{"role": "assistant", "content": "So."}] == items[1:]

    def test_a_failed_answer(self):
        """
        Its text is sent, without ids.
        """
        items, _ = sent(SAMPLES["failure"])

        assert [{"role": "assistant", "content": "Hi"}] == items


class TestCompaction:
    def test_what_is_before_is_not_sent(self):
        """
        It is in the compaction, and would be billed again.
        """
        for kind in ("compaction", "compaction_summary"):  # as Codex knows it, too
            compacted = {**COMPACTION, "type": kind}
            items, drops = encoded(USER, own(stream(text(0, "Hi."), hosted(1, **compacted))), NEXT)

            assert [compacted, {**ASKED, "content": [{"type": "input_text", "text": "More"}]}] == items
            assert [0] == [place for place, _ in drops]

    def test_calls_and_results_stay_together(self):
        """
        A call of the app before the compaction is sent, for its result is; so are its prompt and its thoughts.
        """
        thought = reasoning(1, "Hm.", encrypted="abc")
        answer = own(stream(text(0, "Hi."), thought, call(2, "{}"), hosted(3, **COMPACTION)))
        items, _ = encoded(UserMessage(id="u0", content="Earlier"), USER, answer)

        assert ["message", "reasoning", "function_call", "compaction", "function_call_output"] == [
            item["type"] for item in items
        ]
        assert ASKED == items[0]

    def test_a_compaction_that_ends_late(self):
        """
        Its place is that of its item: what began behind it stays, and so does a prompt that no call before it needs.
        """
        begun, ended = added(1, id="cmp_1", type="compaction"), done(1, **COMPACTION)
        behind = text(2, "So.", id="msg_2"), call(2, "{}")
        spoken, called = [stream(text(0, "Hi."), begun, each, ended) for each in behind]

        assert [COMPACTION, message_item("So.", id="msg_2")] == encoded(USER, own(spoken))[0]
        assert [COMPACTION, {**FC, "arguments": "{}"}] == encoded(USER, own(called))[0][:2]

    def test_what_is_between_a_call_and_a_compaction(self):
        """
        It is in the compaction, as is all else before it.
        """
        frames = [call(0, "{}"), hosted(1, **SEARCH), text(2, "Hi."), hosted(3, **COMPACTION)]
        items, drops = encoded(USER, own(stream(*frames)))

        assert ["message", "function_call", "compaction", "function_call_output"] == [item["type"] for item in items]
        assert [0, 1, 2] == [place for place, _ in drops]

    def test_a_compacted_conversation(self):
        """
        What `/responses/compact` returns is sent as it is, in place of all before it: the compaction has what else was.

        It is not stored, so the next request cannot name it.
        """
        kept = [{**ASKED, "id": "msg_0", "status": "completed"}, message_item("Hi.")]
        window = {"object": "response.compaction", "id": "resp_2", "output": [*kept, COMPACTION]}
        compacted = fold(DIALECT.decode_resource(window, "a1", request={"model": MODEL})).last

        assert ([*kept, COMPACTION], []) == encoded(USER, compacted)
        assert "full" == DIALECT.encoder([USER, compacted, NEXT], {"model": MODEL}).mode

    def test_another_model(self):
        """
        A compaction that another model cannot read cuts nothing.
        """
        items, _ = encoded(USER, own(SAMPLES["compaction"]), NEXT, model="gpt-7")

        assert ["user", "assistant", "user"] == [item["role"] for item in items]
        assert "Hi." == items[1]["content"]


def test_an_open_thought_of_a_server_that_stores_nothing():
    """
    It needs no id and no signature: its text is its content (vLLM).
    """
    thought = {"id": "rs_1", "type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm"}]}
    items, drops = encoded(USER, own(stream(hosted(0, **thought), text(1, "Hi."), **UNSTORED)))

    assert ([], thought) == (drops, items[1])


def test_an_empty_text_with_fields():
    """
    It comes back with its message, whose id the last text has.
    """
    item = {**message_item("Hi."), "content": [output_text("", audience="user"), output_text("Hi.")]}

    assert ([item], []) == sent(stream(done(0, **item)))


class TestChain:
    def test_what_is_new(self):
        """
        The stored response is named, and only the results and prompts after it are sent.
        """
        answer = own(stream(text(0, "Hi."), call(1, "{}")))
        [pending] = answer.pending_tool_calls
        transcript = fold([pending.succeed("22")], start=fold_of(USER, answer))
        found = DIALECT.encoder(transcript, {"model": MODEL})

        assert ("chained", "resp_1") == (found.mode, found.body["previous_response_id"])
        assert [{"type": "function_call_output", "call_id": "call_1", "output": "22"}] == found.body["input"]

    def test_a_result_has_the_id_that_the_service_has_stored(self):
        """
        An id that an earlier answer has too is made unique only where both are sent.
        """
        before = fold(built(calls=[Call("f", {}, call_id="call_1", output="r")], message_id="b1"))
        answer = own(stream(call(0, "{}")))
        transcript = fold_of(*before.messages, NEXT, answer)
        transcript = fold([answer.pending_tool_calls[0].succeed("22")], start=transcript)
        chained, full = (DIALECT.encoder(transcript, {"model": MODEL}, mode=mode).body for mode in ("chained", "full"))

        assert ["call_1"] == [item["call_id"] for item in chained["input"]]
        assert ["call_1", "call_1", "call_1_2", "call_1_2"] == [
            item["call_id"] for item in full["input"] if "call_id" in item
        ]

    @pytest.mark.parametrize(
        "answer",
        [stream(text(0, "Hi."), **UNSTORED), SAMPLES["failure"]],
        ids=["not stored", "failed"],
    )
    def test_what_cannot_be_named(self, answer):
        """
        A response that is not stored, or failed, is sent whole.
        """
        found = DIALECT.encoder([USER, own(answer), NEXT], {"model": MODEL})

        assert "full" == found.mode
        assert "previous_response_id" not in found.body

    def test_a_response_of_another_model(self):
        """
        It is sent whole, and that its id is not is reported.
        """
        found = DIALECT.encoder([USER, own(stream(text(0, "Hi.")))], {"model": "gpt-4.1"})

        assert ("full", [(None, "other-model"), (0, "other-model")]) == (
            found.mode,
            [(drop.part, str(drop.reason)) for drop in found.drops],
        )

    @pytest.mark.parametrize("name", ["tool search", "computer"])
    def test_a_call_that_only_words_can_answer(self, name):
        """
        The service has stored the call and refuses a request without its result: the call is sent in words, too.
        """
        answer = own(stream(RESULTS[name][0]))
        transcript = fold([answer.pending_tool_calls[0].fail("none found")], start=fold_of(USER, answer))
        found = DIALECT.encoder(transcript, {"model": MODEL})

        assert ("full", ["message", "message"]) == (found.mode, [item["type"] for item in found.body["input"]])
        with pytest.raises(LocalProtocolError, match="a call whose result has no form"):
            DIALECT.encoder(transcript, {"model": MODEL}, mode="chained")

    def test_store_is_off(self):
        """
        A request without storage names no response.
        """
        assert "full" == DIALECT.encoder([USER, own(SAMPLES["text"]), NEXT], {"model": MODEL, "store": False}).mode
        with pytest.raises(LocalProtocolError, match="store is off"):
            DIALECT.encoder([USER, own(SAMPLES["text"]), NEXT], {"model": MODEL, "store": False}, mode="chained")

    @pytest.mark.parametrize("field", ["input", "previous_response_id", "conversation"])
    def test_fields_of_the_conversation(self, field):
        """
        The app cannot set them.
        """
        with pytest.raises(ValueError, match=field):
            DIALECT.encoder([USER], {"model": MODEL, field: "x"})


def fold_of(*messages):
    """
    Return a transcript of these messages.
    """
    return fold([]).__class__(messages=messages)


RESULTS = {
    "function": (call(0, "{}"), "22", {"type": "function_call_output", "call_id": "call_1", "output": "22"}),
    "JSON": (
        call(0, "{}"),
        JsonContent({"a": 1}),
        {"type": "function_call_output", "call_id": "call_1", "output": '{"a":1}'},
    ),
    "texts": (
        call(0, "{}"),
        [TextContent("22"), TextContent("sunny")],
        {"type": "function_call_output", "call_id": "call_1", "output": "22\nsunny"},
    ),
    "text and JSON": (
        call(0, "{}"),
        [TextContent("22"), JsonContent({"sky": "clear"})],
        {"type": "function_call_output", "call_id": "call_1", "output": '22\n{"sky":"clear"}'},
    ),
    "image": (
        call(0, "{}"),
        [TextContent("See"), MediaContent(media_type="image/png", data=b"\0")],
        {
            "type": "function_call_output",
            "call_id": "call_1",
            "output": [
                {"type": "input_text", "text": "See"},
                {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"},
            ],
        },
    ),
    "of a program": (
        call(0, "{}", caller={"type": "program", "caller_id": "call_g"}),
        "22",
        {
            "type": "function_call_output",
            "call_id": "call_1",
            "caller": {"type": "program", "caller_id": "call_g"},
            "output": "22",
        },
    ),
    "custom": (
        hosted(0, **CUSTOM, input=PATCH, status="completed"),
        "ok",
        {"type": "custom_tool_call_output", "call_id": "call_x", "output": "ok"},
    ),
    "local shell": (
        hosted(0, **LOCAL_SHELL),
        "a",
        {"type": "local_shell_call_output", "id": "call_l", "output": "a"},
    ),
    "local shell, text and JSON": (
        hosted(0, **LOCAL_SHELL),
        [TextContent("a"), JsonContent([1])],
        {"type": "local_shell_call_output", "id": "call_l", "output": "a\n[1]"},
    ),
    "patch": (
        hosted(0, **PATCH_CALL),
        "ok",
        {"type": "apply_patch_call_output", "call_id": "call_p", "status": "completed", "output": "ok"},
    ),
    "computer": (
        hosted(0, **COMPUTER),
        MediaContent(media_type="image/png", data=b"\0"),
        {
            "type": "computer_call_output",
            "call_id": "call_c",
            "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,AA=="},
        },
    ),
    "shell": (
        hosted(0, **{**SHELL, "environment": {"type": "local"}}),
        "a",
        {
            "type": "shell_call_output",
            "call_id": "call_s",
            "output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
        },
    ),
    "shell with its own words": (
        hosted(0, **{**SHELL, "environment": {"type": "local"}}),
        JsonContent(SHELL_OUTPUT["output"]),
        {"type": "shell_call_output", "call_id": "call_s", "output": SHELL_OUTPUT["output"]},
    ),
    "shell that prints an array": (
        hosted(0, **{**SHELL, "environment": {"type": "local"}}),
        '[{"name": "a"}]',
        {
            "type": "shell_call_output",
            "call_id": "call_s",
            "output": [{"stdout": '[{"name": "a"}]', "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
        },
    ),
    "tool search": (
        hosted(0, **{**TOOL_SEARCH, "execution": "client", "call_id": "call_t"}),
        JsonContent([{"type": "function", "name": "a"}]),
        {
            "type": "tool_search_output",
            "call_id": "call_t",
            "execution": "client",
            "status": "completed",
            "tools": [{"type": "function", "name": "a"}],
        },
    ),
    "tool search in lines": (
        hosted(0, **{**TOOL_SEARCH, "execution": "client", "call_id": "call_t"}),
        '\n[\n{"type": "function", "name": "a"}\n]',
        {
            "type": "tool_search_output",
            "call_id": "call_t",
            "execution": "client",
            "status": "completed",
            "tools": [{"type": "function", "name": "a"}],
        },
    ),
    "approval": (
        hosted(0, **APPROVAL),
        "yes",
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True, "reason": "yes"},
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results(name):
    """
    The result of each type of call has the form of its type.
    """
    frames, output, expected = RESULTS[name]
    answer = own(stream(frames))
    transcript = fold([answer.pending_tool_calls[-1].succeed(output)], start=fold_of(USER, answer))
    found = DIALECT.encoder(transcript, {"model": MODEL}, mode="full")

    assert expected == found.body["input"][-1]


@pytest.mark.parametrize(
    ("begun", "called", "result"),
    [
        ({"action": {"commands": []}, "status": "in_progress"}, SHELL, SHELL_OUTPUT),
        ({"code": "", "fingerprint": ""}, PROGRAM, PROGRAM_OUTPUT),
        ({"arguments": "", "status": "in_progress"}, {**FC, "arguments": "{}"}, OUTPUT),
    ],
    ids=["shell", "program", "function"],
)
def test_a_result_that_ends_before_its_call(begun, called, result):
    """
    It waits for the end of the call, which has what its start does not: id, input and state go back whole.
    """
    early = {**called, **begun}
    frames = added(0, **early), *hosted(1, **result), done(0, **called), *text(2, "So.")
    answer = own(stream(*frames))
    items, drops = encoded(USER, answer)

    assert ([called, result, message_item("So.")], []) == (items[1:], drops)
    assert [("success", True)] == [(each.status.value, each.provider_executed) for each in answer.tool_calls]


def test_the_phase_of_a_message_whose_last_text_is_empty():
    """
    Another model gets the message without its ids, and with its phase.
    """
    item = {**MESSAGE, "phase": "commentary"}
    frames = [added(0, **item, content=[]), *words(0, "One"), *words(0, "", place=1)]
    answer = own(stream(*frames, done(0, **item, content=[output_text("One"), output_text("")])))

    assert {"role": "assistant", "phase": "commentary", "content": "One"} == encoded(USER, answer, model="gpt-7")[0][1]


def test_an_answer_of_several_agents():
    """
    The text is that of the first agent. What the agents that it asks write is kept raw and returns at its place.

    openai 3.54, `types/beta`, and the guide of the service: the first agent is `/root`, each item and each event about
    one names its agent, and each agent has its own compactions.
    """
    root, sub = ({"agent": {"agent_name": name}} for name in ("/root", "/root/a"))
    asked = {"type": "multi_agent_call", "id": "mac_1", "call_id": "c1", "action": "spawn_agent", "arguments": "{}"}
    frames = [
        [{**each, **root} for each in hosted(0, **asked, **root)],
        [{**each, **sub} for each in reasoning(1, encrypted="gAAA-sub", **sub)],
        [{**each, **sub} for each in text(2, "For ", "the root.", **sub)],
        [{**each, **sub} for each in hosted(3, **COMPACTION, **sub)],
        [{**each, **root} for each in text(4, "For ", "the user.", id="msg_2", **root)],
        [{**each, **sub} for each in call(5, "{}", **sub)],
    ]
    answer = own(stream(*frames))
    items, _ = encoded(USER, answer)
    given = [frame["item"] for part in frames for frame in part if frame["type"] == "response.output_item.done"]

    assert ("For the user.", "", 1) == (answer.text, answer.reasoning, len(answer.pending_tool_calls))
    assert given == items[1:7]
    assert "function_call_output" == items[7]["type"]


def test_content_of_unknown_types():
    """
    It is sent back behind the texts of its message.
    """
    odd = {"type": "output_hologram", "beam": [1]}
    item = {**MESSAGE, "status": "completed", "content": [output_text("So"), odd]}
    items, drops = encoded(USER, own(stream(added(0, **MESSAGE, content=[]), done(0, **item))))

    assert ([ASKED, item], []) == (items, drops)


def test_an_approval_of_another_model():
    """
    The request for it keeps its id, by which the response names it.
    """
    answer = own(stream(hosted(0, **APPROVAL)))
    transcript = fold([answer.pending_tool_calls[0].succeed()], start=fold_of(USER, answer))
    items = DIALECT.encoder(transcript, {"model": "gpt-5.6-mini"}, mode="full").body["input"]

    assert [APPROVAL, {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}] == items[1:]


def test_results_that_failed():
    """
    The fault is the result; an approval that is not given is a refusal, and a patch has failed.
    """
    answer = own(SAMPLES["tools of the app"])
    failed = [each.fail(ErrorInfo(kind="tool", message="no")) for each in answer.pending_tool_calls]
    transcript = fold(failed, start=fold_of(USER, answer))
    items = DIALECT.encoder(transcript, {"model": MODEL}, mode="full").body["input"]
    found = {item["type"]: item for item in items}

    assert "no" == found["local_shell_call_output"]["output"]
    assert "failed" == found["apply_patch_call_output"]["status"]
    assert (False, "no") == (found["mcp_approval_response"]["approve"], found["mcp_approval_response"]["reason"])
    assert "computer_call" not in found
    assert "computer was called" in items[-1]["content"][0]["text"]


def test_a_search_for_tools_without_an_array():
    """
    Its result has no form for another output: the search is sent as text of the user.
    """
    answer = own(stream(RESULTS["tool search"][0]))
    transcript = fold([answer.pending_tool_calls[-1].succeed("none found")], start=fold_of(USER, answer))
    found = DIALECT.encoder(transcript, {"model": MODEL}, mode="full")

    assert "none found" == found.body["input"][-1]["content"][-1]["text"]
    assert [DropReason.REWORDED] == [drop.reason for drop in found.drops]


def test_every_call_has_a_result():
    """
    A call without an answer gets one that reports it; an approval is then denied.
    """
    items, drops = encoded(USER, own(SAMPLES["tools of the app"]), NEXT)
    [approval] = [item for item in items if item["type"] == "mcp_approval_response"]

    assert not approval["approve"]
    assert DropReason.NO_ANSWER in [reason for _, reason in drops]


@pytest.mark.parametrize("late", [{}, {"call_id": "call_9"}], ids=["no id", "an id at the end"])
def test_the_id_of_a_call(late):
    """
    A call and its result have the id of the provider, without one that of the item: it is refused without any.
    """
    item = {"id": "fc_1", "type": "function_call", "name": "f", "arguments": "{}"}
    items, _ = encoded(USER, own(stream(added(0, **item), done(0, **item, **late))), NEXT)

    assert [late.get("call_id", "fc_1")] * 2 == [each["call_id"] for each in items[1:3]]


def test_ids_and_names_that_the_service_refuses():
    """
    Ids have at most 64 characters, names letters, digits, `_` and `-`: its own models make others.
    """
    item = {"id": "fc_1", "call_id": f"call_{'a' * 64}", "type": "function_call", "name": "functions.f b"}
    items, _ = encoded(USER, own(stream(added(0, **item), done(0, **item, arguments="{}"))), NEXT)

    assert "functions_f_b" == items[1]["name"]
    assert [64, 64] == [len(each["call_id"]) for each in items[1:3]]
    assert items[1]["call_id"] == items[2]["call_id"]


def test_ids_of_items_that_are_too_long():
    """
    Copilot has ids of 400 characters, which it refuses (can1357/oh-my-pi#284): these items mean the same without one.
    """
    long = "x" * 400
    body = stream(reasoning(0, "Hm.", id=long), text(1, "So.", id=f"{long}m"), call(2, "{}", id=f"{long}f"))
    items, _ = encoded(USER, own(body))

    assert ["reasoning", "assistant", "function_call"] == [each.get("type", each.get("role")) for each in items[1:4]]
    assert "gAAA-final" == items[1]["encrypted_content"]
    assert long not in str(items)


@pytest.mark.parametrize(
    ("provider", "model", "is_whole"),
    [("litellm", "gemini-3-pro", True), ("litellm", "gpt-6", False), ("openai", "gemini-3-pro", False)],
)
def test_the_signature_in_an_id_of_litellm(provider, model, is_whole):
    """
    It has that of Gemini there, which refuses the next turn without it (its #37849); models of OpenAI refuse the id.
    """
    ident = f"call_28e3e2b0__thought__{'CiQB' * 20}"
    body = stream(call(0, "{}", id=f"fc_{ident}", call_id=ident))
    answer = message(body, request={"model": "gemini-3-pro"}, provider=provider)
    _, asked, result = DIALECT.encoder([USER, answer], {"model": model}, provider=provider, mode="full").body["input"]

    assert is_whole is (asked["call_id"] == ident)
    assert len(asked["call_id"]) == (len(ident) if is_whole else 64)
    assert asked["call_id"] == result["call_id"]
    assert "id" not in asked


@pytest.mark.parametrize("length", [64, 65])
def test_the_longest_id_of_an_item(length):
    """
    It has 64 characters: with it the service knows its item again.
    """
    ident = f"msg_{'a' * (length - 4)}"
    items, _ = encoded(USER, own(stream(text(0, "So.", id=ident))))

    assert (items[1].get("id") == ident) is (length == 64)


@pytest.mark.parametrize("provider", ["openrouter", "xai"])
def test_items_whose_own_ids_are_long(provider):
    """
    Those of xAI are, of reasonings and searches: both are sent as they came, and a search has no id of a call.
    """
    search, tail = {**SEARCH, "id": f"ws_{'7' * 80}"}, f"tco_{'7' * 80}"
    body = stream(hosted(0, **search), reasoning(1, "", id=tail), text(2, "So."), **UNSTORED)
    asked = {"model": MODEL, "store": False}
    answer = message(body, request=asked, provider=provider)
    items = DIALECT.encoder([USER, answer], asked, provider=provider).body["input"]

    assert [search, tail] == [items[1], items[2]["id"]]


def test_ids_of_items_of_litellm():
    """
    They name the deployment that has encrypted the content, and no other can read it (its #40364).
    """
    long = f"encitem_{'b' * 80}"
    body = stream(reasoning(0, "Hm.", id=f"{long}r"), text(1, "So.", id=f"{long}m"), **UNSTORED)
    items, _ = encoded(USER, own(body), store=False)

    assert [f"{long}r", f"{long}m"] == [item["id"] for item in items[1:3]]


def test_ids_of_items_at_copilot():
    """
    They are those of one connection, and refused from any other (hermes-agent#32716): it gets none.
    """
    body = stream(reasoning(0, "Hm.", id="rs_1"), text(1, "So.", id="msg_1"), call(2, "{}", id="fc_1"), **UNSTORED)
    asked = {"model": MODEL, "store": False}
    sent = [
        DIALECT.encoder([USER, message(body, request=asked, provider=name)], asked, provider=name).body["input"]
        for name in ("copilot", "openai")
    ]

    assert [[None] * 3, ["rs_1", "msg_1", "fc_1"]] == [[item.get("id") for item in items[1:4]] for items in sent]
    assert "gAAA-final" == sent[0][1]["encrypted_content"]


def test_a_custom_call_with_the_id_of_a_function():
    """
    Relays make it, and OpenAI refuses it: "Expected an ID that begins with 'ctc'." (sub2api#6071).
    """
    item = {"type": "custom_tool_call", "call_id": "call_1", "name": "exec", "input": "ls"}
    given = [own(stream(added(0, **item, id=ident), done(0, **item, id=ident))) for ident in ("fc_1", "ctc_1")]
    sent = [encoded(USER, each, NEXT)[0][1] for each in given]

    assert [item, {**item, "id": "ctc_1"}] == sent


def test_a_reasoning_before_a_call_that_is_sent_as_text():
    """
    It is refused without the item that it led to.
    """
    answer = own(stream(reasoning(0, "Hm."), hosted(1, **COMPUTER)))
    failed = [each.fail(ErrorInfo(kind="tool", message="no")) for each in answer.pending_tool_calls]
    found = DIALECT.encoder(fold(failed, start=fold_of(USER, answer)), {"model": MODEL}, mode="full")

    assert ["message", "message"] == [each["type"] for each in found.body["input"]]
    assert {DropReason.LINKED, DropReason.REWORDED} == {drop.reason for drop in found.drops}


def test_what_only_answers_have():
    """
    The name of who made an item is not sent; the longest output that a shell call asked for is sent with its result.
    """
    asked = {"action": {"commands": ["ls"], "max_output_length": 12}, "environment": {"type": "local"}}
    local = {**SHELL, "id": "sh_2", "call_id": "call_2", **asked}
    shown = {**SHELL_OUTPUT, "output": [{**each, "created_by": "model"} for each in SHELL_OUTPUT["output"]]}
    ran = [hosted(2, **SHELL), hosted(3, **shown, created_by="model")]
    answer = own(stream(hosted(0, **local, created_by="model"), *ran))
    transcript = fold([answer.pending_tool_calls[0].succeed("a")], start=fold_of(USER, answer))
    items = DIALECT.encoder(transcript, {"model": MODEL}, mode="full").body["input"]

    assert [12] == [each["max_output_length"] for each in items[-1:]]
    assert "created_by" not in str(items)


@pytest.mark.parametrize("kind", ["compaction", "compaction_summary"])
def test_the_status_of_a_compaction(kind):
    """
    Codex refuses it: "Unknown parameter: 'input[1].status'" (can1357/oh-my-pi#10415).
    """
    item = {"id": "cmp_1", "type": kind, "encrypted_content": "e", "status": "completed"}
    items, _ = encoded(USER, own(stream(hosted(0, **item), text(1, "Hi"))), NEXT)

    assert {"id": "cmp_1", "type": kind, "encrypted_content": "e"} in items


def test_code_of_xai():
    """
    Its code is in `arguments`, and the item returns as it came.
    """
    item = {"id": "fc_1", "type": "code_interpreter_call", "status": "completed", "name": "code_execution"}
    given = {**item, "arguments": '{"code":"1+1"}'}
    answer = own(stream(hosted(0, **given), text(1, "2")))
    items, drops = encoded(USER, answer)

    assert {"code": "1+1"} == answer.tool_calls[0].arguments
    assert ([given], []) == (items[1:2], drops)


@pytest.mark.parametrize("arguments", ["", '{"input":"other"}'])
def test_arguments_beside_a_free_text(arguments):
    """
    Where a call has its free text, that is the input, and it returns.
    """
    given = {**CUSTOM, "input": "hello", "arguments": arguments}
    items, _ = encoded(USER, own(stream(hosted(0, **given))))

    assert given == items[1]


def test_a_refusal_without_its_id():
    """
    It is the text of the answer.
    """
    refusal = {"type": "refusal", "refusal": "I cannot."}
    found = own(stream(done(0, type="message", role="assistant", status="completed", content=[refusal])))

    assert {"role": "assistant", "content": "I cannot."} == encoded(USER, found)[0][1]


def test_the_name_of_a_tool_that_the_service_has_run():
    """
    It is that of the MCP server; names of calls of the app alone are changed into letters and digits.
    """
    items, drops = sent(stream(hosted(0, **MCP | {"name": "wiki.ask"}), text(1, "So.")))

    assert ([{**MCP, "name": "wiki.ask"}, message_item("So.")], []) == (items, drops)


def test_the_options_of_an_image():
    """
    The service refuses them in a request: "Unknown parameter: 'input[1].background'" (openai-agents-python#853).
    """
    options = {"action": "generate", "background": "opaque", "quality": "low", "size": "1x1", "revised_prompt": "Cat"}
    items, drops = sent(stream(hosted(0, **IMAGE, **options), text(1, "So.")))

    assert ([SENT_IMAGE, message_item("So.")], []) == (items, drops)


def test_an_image_of_an_answer_that_is_not_stored():
    """
    Its item has the bytes, by which the service knows it.
    """
    items, drops = encoded(USER, own(stream(hosted(0, **IMAGE), text(1, "So."), **UNSTORED)))

    assert ([ASKED, SENT_IMAGE, message_item("So.")], []) == (items, drops)


def test_an_image_that_failed():
    """
    The service does not know it again where the answer is not stored (can1357/oh-my-pi#3225).
    """
    failed = {**IMAGE, "status": "failed", "result": None}
    answer = own(stream(hosted(0, **failed), text(1, "So."), **UNSTORED))
    items, drops = encoded(USER, answer)

    assert ([ASKED, message_item("So.")], [(0, DropReason.UNANSWERED)]) == (items, drops)


def test_the_status_of_a_reasoning():
    """
    It is refused in a request; the rest of the reasoning returns.
    """
    body = stream(
        added(0, **thought("Hm."), status="in_progress"), done(0, **thought("Hm."), status="completed"), text(1, "So.")
    )
    items, drops = sent(body)

    assert ([thought("Hm."), message_item("So.")], []) == (items, drops)


def test_an_input_that_is_no_object():
    """
    The call is sent with an empty input, and its result has the fault.
    """
    items, _ = encoded(USER, own(stream(call(0, "[1"))))

    assert "{}" == items[1]["arguments"]
    assert "not run" in items[2]["output"]


def test_a_command_of_the_service_without_its_output():
    """
    Some that its containers ran have none, and it refuses a call of the shell without (agent-framework#8663).
    """
    ignored = {**SHELL, "id": "sh_0", "call_id": "call_0"}
    items, drops = sent(stream(hosted(0, **ignored), hosted(1, **SHELL), hosted(2, **SHELL_OUTPUT), text(3, "So.")))

    assert [SHELL, SHELL_OUTPUT, message_item("So.")] == items
    assert [(0, DropReason.UNANSWERED)] == drops


def test_a_program_goes_without_its_output():
    """
    It waits for the results of its calls, and its output comes in a later answer.
    """
    first = own(stream(hosted(0, **PROGRAM), call(1, "{}")))
    [pending] = first.pending_tool_calls
    second = message(stream(hosted(0, **PROGRAM_OUTPUT)), request={"model": MODEL})
    second = second.__class__(**{**{name: getattr(second, name) for name in ("origin", "parts", "status")}, "id": "a2"})
    transcript = fold([pending.succeed("1")], start=fold_of(USER, first, second))
    items = DIALECT.encoder(transcript, {"model": MODEL}, mode="full").body["input"]

    assert [PROGRAM, PROGRAM_OUTPUT] == [items[1], items[4]]
    assert ["message", "program", "function_call", "function_call_output", "program_output"] == [
        item["type"] for item in items
    ]


@pytest.mark.parametrize("provider", ["lmstudio", "llama.cpp"])
def test_an_image_in_a_result_that_is_a_text(provider):
    """
    LM Studio and llama.cpp refuse an array there, and take the image as one of the user.
    """
    image = MediaContent(media_type="image/png", data=b"x")
    origin = Origin(provider=provider, model=MODEL, dialect="openai-responses")
    asked = built(calls=[Call("look", output=[TextContent("See."), image])], origin=origin)
    _, _, result, behind = DIALECT.encoder(
        [USER, *fold(asked).messages], {"model": MODEL}, mode="full", provider=provider
    ).body["input"]

    assert {"type": "function_call_output", "call_id": "call-1", "output": "See."} == result
    assert ("user", ["input_image"]) == (behind["role"], [each["type"] for each in behind["content"]])


def test_strip():
    """
    Without state no id and no reasoning is sent, and calls of all kinds are functions.
    """
    found = DIALECT.encoder([USER, own(SAMPLES["two summaries"]), NEXT], {"model": MODEL}, strip=True)

    assert {"role": "assistant", "content": "So."} == found.body["input"][1]


SLIDES = "application/vnd.openxmlformats-officedocument.presentationml.presentation"

PROMPTS = {
    "image by address": (
        MediaContent(media_type="image/png", uri="https://a.example/b.png"),
        {"type": "input_image", "image_url": "https://a.example/b.png", "detail": "auto"},
    ),
    "image by id": (MediaContent(media_type="image/png", uri="file-1"), {"type": "input_image", "file_id": "file-1"}),
    "document": (
        MediaContent(media_type="application/pdf", data=b"%PDF"),
        {"type": "input_file", "filename": "file.pdf", "file_data": "data:application/pdf;base64,JVBERg=="},
    ),
    "document by address": (
        MediaContent(media_type="application/pdf", uri="https://a.example/b.pdf"),
        {"type": "input_file", "file_url": "https://a.example/b.pdf"},
    ),
    "document of an office": (
        MediaContent(media_type="application/vnd.openxmlformats-officedocument.wordprocessingml.document", data=b"PK"),
        {
            "type": "input_file",
            "filename": "file.docx",
            "file_data": "data:application/vnd.openxmlformats-officedocument.wordprocessingml.document;base64,UEs=",
        },
    ),
    "slides": (
        MediaContent(media_type=SLIDES, data=b"PK"),
        {"type": "input_file", "filename": "file.pptx", "file_data": f"data:{SLIDES};base64,UEs="},
    ),
    "code": (
        MediaContent(media_type="text/x-python", data=b"x"),
        {"type": "input_file", "filename": "file.py", "file_data": "data:text/x-python;base64,eA=="},
    ),
    "text with its encoding": (
        MediaContent(media_type="text/plain; charset=utf-8", data=b"x"),
        {"type": "input_file", "filename": "file.txt", "file_data": "data:text/plain; charset=utf-8;base64,eA=="},
    ),
    "image with a usual wrong name": (
        MediaContent(media_type="image/jpg", data=b"\0"),
        {"type": "input_image", "image_url": "data:image/jpeg;base64,AA==", "detail": "auto"},
    ),
    "image with a parameter and in capitals": (
        MediaContent(media_type="image/PNG; q=1", data=b"\0"),
        {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"},
    ),
    "document by id": (
        MediaContent(media_type="application/pdf", uri="file-1"),
        {"type": "input_file", "file_id": "file-1"},
    ),
    "JSON": (JsonContent({"a": 1}), {"type": "input_text", "text": '{"a":1}'}),
}


@pytest.mark.parametrize("name", PROMPTS)
def test_prompts(name):
    """
    Content of a prompt has the block of its type.
    """
    content, block = PROMPTS[name]

    assert [block] == encoded(UserMessage(id="u1", content=[content]))[0][0]["content"]


@pytest.mark.parametrize("media_type", ["audio/wav", "video/mp4", "image/tiff"])
def test_prompts_that_cannot_be_sent(media_type):
    """
    Audio, video and unusual images are left out and reported.
    """
    content = [TextContent("Hi"), MediaContent(media_type=media_type, data=b"\0")]

    assert ([ASKED], [(None, DropReason.UNSUPPORTED)]) == encoded(UserMessage(id="u1", content=content))


@pytest.mark.parametrize("uri", ["gs://bucket/a.png", "s3://bucket/a.png", "file_011abc"])
def test_addresses_of_others(uri):
    """
    What another provider stores cannot be read.
    """
    content = [TextContent("Hi"), MediaContent(media_type="image/png", uri=uri)]

    assert ([ASKED], [(None, DropReason.UNSUPPORTED)]) == encoded(UserMessage(id="u1", content=content))


def test_files_of_xai():
    """
    Their ids begin as those of Anthropic, and xAI alone reads them.
    """
    asked = UserMessage(id="u1", content=[MediaContent(media_type="application/pdf", uri="file_43afa54b")])
    inputs = [
        DIALECT.encoder([asked], {"model": MODEL}, provider=provider).body["input"][0]["content"][0]
        for provider in ("xai", "openai")
    ]

    assert {"type": "input_file", "file_id": "file_43afa54b"} == inputs[0]
    assert "input_text" == inputs[1]["type"]


def test_a_call_of_a_program_for_another_model():
    """
    The program stays with its model, and so does what names it.
    """
    called = call(1, "{}", caller={"type": "program", "caller_id": "call_g"})
    items, _ = encoded(USER, own(stream(hosted(0, **PROGRAM), called)), model="gpt-7")

    assert ["function_call", "function_call_output"] == [each["type"] for each in items[1:]]
    assert [] == [each for each in items if "caller" in each]


@pytest.mark.parametrize(("name", "prefix"), [("computer", "cu_"), ("local shell", "lsh_")])
def test_ids_that_calls_need(name, prefix):
    """
    The items of these calls have an id and one of their call, for another model too (openai 3.54, `Required`).

    The id is that of no other item: the result of a local shell has the id of its call as its own.
    """
    frames, output, _ = RESULTS[name]
    answer = own(stream(frames))
    [pending] = answer.pending_tool_calls
    transcript = fold([pending.succeed(output)], start=fold_of(USER, answer))
    items, _ = encoded(*transcript.messages, model="gpt-7")

    assert (pending.call_id, prefix + pending.call_id) == (items[1]["call_id"], items[1]["id"])
    assert 1 == [each.get("id") for each in items].count(items[1]["id"])


def test_an_id_that_is_too_long_for_an_item():
    """
    Items have ids of 64 characters at most; that of the call stays whole.
    """
    answer = own(stream(hosted(0, **{**LOCAL_SHELL, "call_id": "c" * 62})))
    [_, item, _], _ = encoded(USER, answer, model="gpt-7")

    assert ("lsh_" + "c" * 60, "c" * 62) == (item["id"], item["call_id"])


def test_histories_of_other_providers():
    """
    Texts and calls are sent, with ids that are unique in the conversation.
    """
    origin = Origin(provider="other", model="m", dialect="other-wire")
    calls = [Call("look_up", {"a": 1}, output="sun", call_id="c 1")]
    events = [
        event
        for at in range(2)
        for event in built("so", reasoning="hm", calls=calls, origin=origin, message_id=f"a{at}")
    ]
    items = DIALECT.encoder(fold(events), {"model": MODEL}).body["input"]

    assert [
        {"role": "assistant", "content": "so"},
        {"type": "function_call", "call_id": "c_1", "name": "look_up", "arguments": '{"a":1}'},
        {"type": "function_call_output", "call_id": "c_1", "output": "sun"},
    ] == items[:3]
    assert "c_1_2" == items[4]["call_id"] == items[5]["call_id"]
    assert thaw(fold(events).messages[0].parts[0].state) == {}


def test_the_status_of_a_message_that_was_cut():
    """
    It is that of the service.
    """
    item = {"id": "msg_1", "type": "message", "role": "assistant", "content": [output_text("So")]}
    items, _ = sent(stream(hosted(0, **item, status="incomplete"), end=incomplete("max_output_tokens")))

    assert "incomplete" == items[0]["status"]


def test_the_last_of_several_screenshots():
    """
    A result of the computer has one, what it shows at last.
    """
    answer = own(stream(hosted(0, **COMPUTER)))
    shots = [MediaContent(data=data, media_type="image/png") for data in (b"a", b"b")]
    transcript = fold([answer.pending_tool_calls[0].succeed(shots)], start=fold_of(USER, answer))
    items = DIALECT.encoder(transcript, {"model": MODEL}, mode="full").body["input"]

    assert items[-1]["output"]["image_url"].endswith("Yg==")


def test_a_long_id_of_a_call_with_free_text():
    """
    It is not sent, as that of a function is not.
    """
    items, _ = sent(stream(hosted(0, **{**CUSTOM, "id": "c" * 65})))

    assert "id" not in items[0]


def test_a_shell_call_that_failed():
    """
    Its exit code is that of a failure.
    """
    answer = own(stream(hosted(0, **{**SHELL, "environment": {"type": "local"}})))
    failed = [answer.pending_tool_calls[0].fail("no")]
    items = DIALECT.encoder(fold(failed, start=fold_of(USER, answer)), {"model": MODEL}, mode="full").body["input"]

    assert {"type": "exit", "exit_code": 1} == items[-1]["output"][0]["outcome"]


def test_a_call_with_free_text_whose_ids_are_equal():
    """
    The id of the call is required beside that of the item.
    """
    items, _ = sent(stream(hosted(0, **{**CUSTOM, "id": "call_1", "call_id": "call_1"})))

    assert "call_1" == items[0]["call_id"]


def test_the_sources_of_others_in_a_document():
    """
    A text of another provider is written with its sources.
    """
    cited = Citation(url="https://a.example", title="A", start=0, end=2)
    [part] = DIALECT.emit_resource(fold(built("Hi", citations=[cited])).last)["output"][0]["content"]

    assert ["https://a.example"] == [each["url"] for each in part["annotations"]]


@pytest.mark.parametrize("kind", [{}, {"type": None}, {"type": 7}], ids=["missing", "null", "number"])
def test_an_item_without_a_type(kind):
    """
    It is sent as it came, but for a null.
    """
    item = {"id": "x_1", "data": [1], **kind}
    sent, drops = encoded(own(stream(hosted(0, **item))))

    assert ([{key: value for key, value in item.items() if value is not None}], []) == (sent, drops)


@pytest.mark.parametrize("store", [True, False])
@pytest.mark.parametrize("summaries", [("First.", "Second."), ()], ids=["summaries", "none"])
def test_encrypted_content_that_only_the_last_response_has(summaries, store):
    """
    Reasonings go back with it, as from a document: Azure leaves it out of the ends of items (pi#6409).
    """
    thoughts = [reasoning(at, *summaries, id=f"rs_{at}", encrypted=None) for at in (0, 2)]
    calls = [call(at, "{}", id=f"fc_{at}", call_id=f"call_{at}") for at in (1, 3)]
    output = [frames[-1]["item"] for pair in zip(thoughts, calls, strict=True) for frames in pair]
    output = [{**each, "encrypted_content": f"gAAA-{each['id']}"} if "summary" in each else each for each in output]
    end = completed(*output, store=store)
    streamed = own(stream(thoughts[0], calls[0], thoughts[1], calls[1], start=created(store=store), end=end))
    document = fold(DIALECT.decode_resource(end["response"], streamed.id)).last
    items, _ = encoded(USER, streamed, store=store)

    assert output == items[1:5]
    assert items == encoded(USER, document, store=store)[0]


def test_a_search_of_perplexity():
    """
    Perplexity takes neither its results nor its thoughts back; a document has the results in place of the call.
    """
    found = message(PERPLEXITY, request={"model": MODEL}, provider="perplexity")
    request = DIALECT.encoder([USER, found], {"model": MODEL}, provider="perplexity")

    assert [("user", "Hi"), ("assistant", "Oslo.[1]")] == [
        (item["role"], item["content"][0]["text"]) for item in request.body["input"]
    ]
    assert [(at, DropReason.UNPLACED, True) for at in range(4)] == [
        (drop.part, drop.reason, drop.whole) for drop in request.drops
    ]
    assert ["reasoning", "search_results", "message"] == [
        item["type"] for item in DIALECT.emit_resource(found)["output"]
    ]


def test_a_safety_check_that_the_app_has_acknowledged():
    """
    "Computer tool has unacknowledged safety check for ['cu_sc_1']": the result has what the app knows of it.
    """
    checks = [{"id": "cu_sc_1", "code": "malicious_instructions", "message": "Is this wanted?"}]
    answer = own(stream(hosted(0, **{**COMPUTER, "pending_safety_checks": checks})))
    screenshot = MediaContent(media_type="image/png", data=b"\0")
    output = [screenshot, JsonContent({"acknowledged_safety_checks": checks})]
    transcript = fold([answer.pending_tool_calls[0].succeed(output)], start=fold_of(USER, answer))
    items, drops = encoded(*transcript.messages)

    assert (checks, []) == (items[-1]["acknowledged_safety_checks"], drops)


def test_a_reasoning_without_an_id():
    """
    A stored answer of mistral.rs has one: it cannot be looked up, and is not sent.
    """
    items = [{"id": "msg_1", "type": "message", "role": "assistant", "content": [output_text("Oslo.")]}]

    assert [{"role": "assistant", "content": "Oslo."}] == sent(stream(end=completed(*items, reasoning="So")))[0]


def test_items_between_calls_for_deepseek():
    """
    It finds no result of a call behind which there is another item (pydantic-ai#7448): the calls are the last ones.
    """
    calls = [call(at, "{}", id=f"fc_{at}", call_id=f"call_{at}") for at in (1, 3)]
    between = text(2, "And Bergen.", id="msg_2")
    found = message(stream(text(0, "Oslo first."), calls[0], between, calls[1]), request={"model": MODEL})
    orders = [
        [item.get("call_id", item.get("id")) for item in request.body["input"][1:]]
        for request in (
            DIALECT.encoder([USER, found], {"model": MODEL}, provider=name, mode="full")
            for name in ("deepseek", "openai")
        )
    ]
    results = ["call_1", "call_3"]

    assert [
        [None, None, "call_1", "call_3", *results],
        ["msg_1", "call_1", "msg_2", "call_3", *results],
    ] == orders


@pytest.mark.parametrize(
    "provider",
    ["copilot", "deepseek", "huggingface", "litellm", "llama.cpp", "mistral", "snowflake", "transformers", "upstage"],
)
def test_a_server_that_keeps_no_answers(provider):
    """
    It gets the whole conversation: with the id of the last answer it would refuse the request, or know nothing else.
    """
    answer = message(SAMPLES["text"], request={"model": MODEL}, provider=provider)
    requests = [
        DIALECT.encoder([USER, found, NEXT], {"model": MODEL}, provider=name)
        for name, found in ((provider, answer), ("openai", own(SAMPLES["text"])))
    ]

    assert ["full", "chained"] == [each.mode for each in requests]
    assert [3, 1] == [len(each.body["input"]) for each in requests]
    with pytest.raises(LocalProtocolError, match="stores no answers"):
        DIALECT.encoder([USER, answer, NEXT], {"model": MODEL}, provider=provider, mode="chained")


def test_a_message_of_another_model_for_llama_cpp():
    """
    It does not know a message without a type (its #26394), nor one of the assistant whose content is a string.
    """
    items = [
        DIALECT.encoder([USER, own(SAMPLES["text"]), NEXT], {"model": MODEL}, provider=name, mode="full").body["input"]
        for name in ("llama.cpp", "vllm")
    ]
    content = [output_text("Hi there.")]

    assert [
        {"status": "completed", "type": "message", "role": "assistant", "content": content},
        {"role": "assistant", "content": "Hi there."},
    ] == [each[1] for each in items]


@pytest.mark.parametrize("provider", ["llama.cpp", "ollama", "vllm"])
def test_a_file_that_the_server_refuses(provider):
    """
    It is left out and reported: the server would refuse this and every later request.
    """
    pdf, image = (MediaContent(media_type=kind, data=b"\0") for kind in ("application/pdf", "image/png"))
    asked = UserMessage(id="u1", content=[TextContent("Hi"), pdf, image])
    found = DIALECT.encoder([asked], {"model": MODEL}, provider=provider)

    assert ["input_text", "input_image"] == [block["type"] for block in found.body["input"][0]["content"]]
    assert [(None, DropReason.UNSUPPORTED)] == [(drop.part, drop.reason) for drop in found.drops]


def test_the_namespace_of_a_call_that_has_lost_it():
    """
    Without it the service refuses a call of a tool in one (earendil-works/pi#7709): of another service, or stripped.
    """
    inside, outside = ({"type": "function", "name": name} for name in ("weather", "clock"))
    tools = [{"type": "namespace", "name": "town", "tools": [inside, outside]}, outside]
    calls = [{**FC, "arguments": "{}", "namespace": "town"}, {**FC, "id": "fc_2", "call_id": "call_2", "name": "clock"}]
    body = {"model": MODEL, "store": False, "tools": tools}
    found = own(stream(*[done(at, **{"arguments": "{}", **each}) for at, each in enumerate(calls)], **UNSTORED))
    requests = [
        DIALECT.encoder([USER, found], body, **options).body["input"][1:3]
        for options in ({}, {"strip": True}, {"provider": "azure"})
    ]

    assert [["town", None]] * 3 == [[item.get("namespace") for item in items] for items in requests]


def test_the_namespace_of_one_of_two_tools_with_a_name():
    """
    A call of the model has its own, whichever tool with its name is the last.
    """
    tools = [
        {"type": "namespace", "name": name, "tools": [{"type": "function", "name": "weather"}]}
        for name in ("town", "port")
    ]
    found = own(stream(done(0, **{**FC, "arguments": "{}", "namespace": "town"})))
    request = DIALECT.encoder([USER, found], {"model": MODEL, "store": False, "tools": tools})

    assert "town" == request.body["input"][1]["namespace"]


def test_the_namespace_of_a_custom_call():
    """
    Tools of both types can be in one, and a relay has lost it.
    """
    item = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "exec", "input": "ls"}
    tools = [{"type": "namespace", "name": "town", "tools": [{"type": "custom", "name": "exec"}]}]
    found = own(stream(done(0, **item)))
    request = DIALECT.encoder([USER, found], {"model": MODEL, "store": False, "tools": tools})

    assert ("custom_tool_call", "town") == (request.body["input"][1]["type"], request.body["input"][1]["namespace"])


@pytest.mark.parametrize(
    ("provider", "sent"), [("deepseek", False), ("llama.cpp", False), ("mistral", False), ("openai", True)]
)
def test_an_answer_that_is_asked_for_again(provider, sent):
    """
    DeepSeek refuses a thought behind a text of the model, and others a request that ends with one: a text that was cut
    is left out when nothing of the user is behind it.
    """
    cut = message(SAMPLES["text"].partition(b"event: response.output_item.done")[0], provider=provider)
    answer = message(SAMPLES["reasoning that ends last"], request={"model": MODEL}, provider=provider)
    answer = answer.__class__(**{**{name: getattr(answer, name) for name in ("origin", "parts", "status")}, "id": "a2"})
    requests = [
        DIALECT.encoder([USER, cut, *behind], {"model": MODEL}, provider=provider, mode="full").body["input"]
        for behind in ((), (answer, NEXT), (NEXT,))
    ]

    assert [sent, sent, True] == ["Hi there" in str(items) for items in requests]


def test_a_thought_behind_a_text_for_deepseek():
    """
    It refuses one directly behind a message of the model, as if it were not there: thoughts come first.
    """
    items = [text(0, "I look.", id="msg_1"), reasoning(1, "Hm.", id="rs_1"), call(2, "{}")]
    found = message(stream(*items), request={"model": MODEL}, provider="deepseek")
    sent = DIALECT.encoder([USER, found], {"model": MODEL}, provider="deepseek").body["input"]

    assert ["rs_1", "msg_1", "fc_1"] == [item["id"] for item in sent[1:4]]
