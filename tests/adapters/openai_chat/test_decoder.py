"""
The cases of the Chat Completions wire: what each stream becomes, worked out from the wire by hand.
"""

import base64
import json

import pytest

from assistant_events import ErrorInfo, ErrorKind, FinishReason, Usage, fold
from assistant_events.adapters import load_dialect, streamed_calls
from assistant_events.adapters.openai_chat.decoder import OpenAIChatDecoder
from assistant_events.messages import CallStatus, MessageStatus, PartStatus, UserMessage
from assistant_events.recorder.calls import parse_input
from assistant_events.testing.conservation import check_nothing_lost
from assistant_events.testing.sample import Sample
from assistant_events.values import Citation, JsonContent, TextContent, thaw

from .notation import (
    DIALECT,
    DONE,
    HEAD,
    MODEL,
    D,
    E,
    F,
    J,
    R,
    T,
    U,
    answer,
    document,
    encoded,
    events,
    message,
    parts,
    stream,
)
from .samples import DRAWN, ENCRYPTED, NO_CALL, NOTHING, PIXEL, SAMPLES, drawn, executed, piece, twice


def call(id="call_00001", name="f", input=None, **state):
    return "tool", id, name, {"a": 1} if input is None else input, "called", state


def made_up(input=None, **state):
    """
    Return a call to which the server gave no id.
    """
    return (*call("call-1", input=input)[:-1], {"id": None, **state})


YES = ("text", "Yes.", {})
FIELD = {"field": "reasoning_content"}
BLOCKS = {"field": "thinking_blocks"}
OF_PORTKEY = {"field": "content_blocks"}
TEXT_DETAIL = {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0}
UNKNOWN_DETAIL = {"type": "reasoning.text", "format": "unknown", "index": 0}
SUMMARY_DETAIL = {"type": "reasoning.summary", "format": "openai-responses-v1", "index": 0}

PARTS = {
    "plain text": [("text", "Hello world", {})],
    "without a mark": [("text", "Hello", {})],
    "reasoning": [("reasoning", "Let me see", FIELD), YES],
    "reasoning again": [
        ("reasoning", "One", {"field": "reasoning"}),
        ("text", "two", {}),
        ("reasoning", "three", {"field": "reasoning"}),
        ("text", "four", {}),
    ],
    "reasoning details": [
        ("reasoning", "Let me see", {"detail": {**TEXT_DETAIL, "signature": "EqQBCkgIChABGAI"}}),
        YES,
    ],
    "encrypted reasoning": [
        ("reasoning", "So", {"detail": SUMMARY_DETAIL}),
        YES,
        ("reasoning", "", {"detail": {**ENCRYPTED, "id": "rs_0123456789"}}),
    ],
    "reasoning in two fields": [
        ("reasoning", f'1 2 "3"\n 4 5 6 7 8{" 9" * 6} 10', {"detail": UNKNOWN_DETAIL}),
        ("reasoning", "abcde", {"detail": {**UNKNOWN_DETAIL, "index": 1, "signature": "EqQBCkgIChABGAI"}}),
        ("reasoning", "111213141516", {"detail": UNKNOWN_DETAIL}),
        YES,
    ],
    "blocks of LiteLLM": [
        ("reasoning", "Let me see", {**BLOCKS, "detail": {"type": "thinking", "signature": "MA=="}}),
        (
            *("reasoning", "and again"),
            {
                **BLOCKS,
                "detail": {"type": "thinking", "signature": "MQ=="},
                "details": [{"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3p"}],
            },
        ),
        YES,
    ],
    "blocks of Portkey": [
        (
            *("reasoning", "Let me see"),
            {
                **OF_PORTKEY,
                "detail": {"type": "thinking", "signature": "MA=="},
                "details": [{"type": "redacted_thinking", "data": "EmwKAhgB"}],
            },
        ),
        ("text", "Wait. ", {}),
        ("reasoning", "", {**OF_PORTKEY, "detail": {"type": "thinking", "signature": "MQ=="}}),
        YES,
    ],
    "two summaries of Databricks": [
        ("reasoning", "One", {"field": "summary", "thought": {"signature": "MA=="}}),
        ("reasoning", "Two", {"field": "summary", "thought": {"signature": "MQ=="}}),
        YES,
    ],
    "summaries of Databricks": [
        ("reasoning", "Let me see", {"field": "summary", "thought": {"signature": "MA=="}}),
        YES,
    ],
    "thinking in arrays": [
        ("reasoning", "abcdefghijklmnopqrstu", {"field": "thinking", "closed": True}),
        ("text", "Yes.!", {}),
    ],
    "content in arrays": [
        ("reasoning", "Hm", {"field": "thinking", "closed": True}),
        ("text", "2 + 2 = 4", {}),
        ("opaque", {"content": {"type": "reference", "reference_ids": [1, 2]}}),
    ],
    "calls by turns": [call(), call("call_00002", "g", {"b": 2})],
    "calls at one index": [call(), call("call_00002", input={"a": 2}), call("call_00003", input={"a": 3})],
    "calls without an index": [call(), call("call_00002", "g", {"a": 2})],
    "call in the last chunk": [call(input={})],
    "call without an id": [made_up({})],
    "call with a late name": [call()],
    "call without a name": [("text", "Hm.", {}), ("opaque", {"id": "call_00001", "arguments": '{"a":1}'})],
    "signed text": [("text", "Yes.", {})],
    "signed call": [call(extra_content={"google": {"thought_signature": "AVSoXO4lu90Bn7Ix"}})],
    "custom tool": [call(name="sql", input={"input": "SELECT 1"}, type="custom")],
    "old function": [made_up(type="function_call")],
    "refusal": [("text", "I'm sorry.", {"field": "refusal"})],
    "audio": [("media", "audio/pcm16", bytes(range(6)), {"id": "audio_00001"})],
    "image": [("text", "Here.", {}), ("media", "image/png", base64.b64decode(PIXEL), {})],
    "filters of Azure": [("text", "Hello", {})],
    "other choices": [("text", "a", {})],
    "keepalive": [("text", "Hello", {})],
    "a call that comes twice": [("text", "\n", {}), call("call_00001", "square_root", {"number": 9})],
    "empty fields of Tencent": [("reasoning", "Hm", FIELD), YES, call()],
    "mark alone": [("text", "Hello", {})],
}


@pytest.mark.parametrize("name", PARTS)
def test_parts(name):
    """
    Each channel is a part; what has to go back is its state, under the names of the wire.
    """
    assert PARTS[name] == parts(SAMPLES[name])


@pytest.mark.parametrize("calls", [[{}], [None], [NO_CALL], [{"index": 0, "function": {"arguments": ""}}]])
def test_a_call_that_has_nothing(calls):
    """
    Servers in Go write each field that they do not have, which became a call without a name behind the text.
    """
    empty = {"content": "Yes.", **NOTHING, "tool_calls": calls}
    for body in (stream(D(**empty), F(), DONE), document(**empty)):
        assert [YES] == parts(body)


def test_a_cut_behind_a_reason_beside_empty_fields():
    """
    The answer is whole, as the chunk with the reason to finish has nothing more.
    """
    decoder = DIALECT.decoder("a1")
    decoder.feed(stream(T("Yes."), F(**NOTHING)))
    decoder.close(DIALECT.decoder("a2").interruption())

    assert [PartStatus.COMPLETED] == [part.status for part in decoder.message.parts]


def test_the_rest_of_a_call_at_the_index_of_another():
    """
    ollama.com has been seen with a second call at the index of the first, and its rest at index 1 (agno#8879).

    The second call ran without arguments, or with a part of them, and the rest was kept raw.
    """
    pieces = [
        J('{"a":1}', 0, "call_00001", "f"),
        J('{"b"', 0, "call_00002", "g"),
        J(":", 1),
        J("2}", 1),
        J('{"c"', 1, "call_00003", "h"),
        J(":3}", 2, "call_00003"),
    ]
    expected = [call(), call("call_00002", "g", {"b": 2}), call("call_00003", "h", {"c": 3})]
    assert expected == parts(answer(*pieces, finish_reason="tool_calls"))


def test_the_rest_of_a_call_at_another_index():
    """
    Nebius has been seen with the last piece of a call at index 1 (pipecat#4688), or with an index for each piece.

    The call failed, or ran without arguments, and the rest was kept raw.
    """
    pieces = [J("", 0, "call_00001", "f"), J('{"a"', 0), J(":1}", 1)]
    numbered = [J("", 1, "call_00002", "g"), J('{"b"', 2), J(":", 3), J("2}", 4)]
    again = [J("", 2, "call_00003", "h"), J('{"c":', 3), J("3}", 4)]
    expected = [call(), call("call_00002", "g", {"b": 2}), call("call_00003", "h", {"c": 3})]
    assert expected == parts(answer(*pieces, *numbered, *again, finish_reason="tool_calls"))


FINISHES = {
    "stop": (answer(T("a")), FinishReason.STOP),
    "an upper case word": (answer(T("a"), finish_reason="STOP"), FinishReason.STOP),
    "the word of Anthropic": (answer(T("a"), finish_reason="end_turn"), FinishReason.STOP),
    "the limit": (answer(T("a"), finish_reason="length"), FinishReason.LENGTH),
    "the limit of Mistral": (answer(T("a"), finish_reason="model_length"), FinishReason.LENGTH),
    "calls": (answer(J("{}", 0, "c", "f"), finish_reason="tool_calls"), FinishReason.TOOL_CALLS),
    "calls that end with stop": (SAMPLES["calls at one index"], FinishReason.TOOL_CALLS),
    "an old function": (SAMPLES["old function"], FinishReason.TOOL_CALLS),
    "a filter": (answer(finish_reason="content_filter"), FinishReason.CONTENT_FILTER),
    "a refusal that ends with stop": (SAMPLES["refusal"], FinishReason.CONTENT_FILTER),
    "a filter of Gemini": (answer(T("a"), finish_reason="content_filter: RECITATION"), FinishReason.CONTENT_FILTER),
    "a filter of LiteLLM": (answer(T("a"), finish_reason="guardrail_intervened"), FinishReason.CONTENT_FILTER),
    "a filter behind Vercel": (answer(T("a"), finish_reason="content-filter"), FinishReason.CONTENT_FILTER),
    "a filter of Z.ai": (answer(T("a"), finish_reason="sensitive"), FinishReason.CONTENT_FILTER),
    "a filter of Gemini alone": (answer(T("a"), finish_reason="RECITATION"), FinishReason.CONTENT_FILTER),
    "a filter of GigaChat": (answer(T("a"), finish_reason="blacklist"), FinishReason.CONTENT_FILTER),
    "a refusal of Claude": (answer(T("a"), finish_reason="refusal"), FinishReason.CONTENT_FILTER),
    "the word of Gemini": (answer(T("a"), finish_reason="SAFETY"), FinishReason.CONTENT_FILTER),
    "a short word": (answer(T("a"), finish_reason="end"), FinishReason.STOP),
    "a token": (answer(T("a"), finish_reason="eos_token"), FinishReason.STOP),
    "calls in one word": (answer(J("{}", 0, "c", "f"), finish_reason="tooluse"), FinishReason.TOOL_CALLS),
    "the window of Z.ai": (answer(T("a"), finish_reason="model_context_window_exceeded"), FinishReason.LENGTH),
    "an unknown word": (answer(T("a"), finish_reason="weather"), FinishReason.OTHER),
    "the mark alone": (SAMPLES["mark alone"], FinishReason.OTHER),
    "calls of Together": (SAMPLES["other reasons behind a call"], FinishReason.TOOL_CALLS),
    "the first of two": (stream(T("a"), F("length"), F("stop"), DONE), FinishReason.LENGTH),
    "a null as a text": (
        stream(D("null", content="a"), D("null", content="b"), F("length"), DONE),
        FinishReason.LENGTH,
    ),
}


@pytest.mark.parametrize(("body", "expected"), FINISHES.values(), ids=FINISHES)
def test_finish_reasons(body, expected):
    """
    The reason follows from the wire's word, from calls, and from a refusal.
    """
    assert expected is message(body).finish_reason


COUNTS = {"prompt_tokens": 100, "completion_tokens": 30}
USAGES = {
    "counts with their parts": (
        {
            **COUNTS,
            "total_tokens": 130,
            "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 7},
            "completion_tokens_details": {"reasoning_tokens": 20},
        },
        (100, 60, 7, 30, 20),
    ),
    "reasoning beside the output": (
        {**COUNTS, "total_tokens": 150, "completion_tokens_details": {"reasoning_tokens": 20}},
        (100, None, None, 50, 20),
    ),
    "hits of DeepSeek": (
        {**COUNTS, "total_tokens": 130, "prompt_cache_hit_tokens": 60, "prompt_cache_miss_tokens": 40},
        (100, 60, None, 30, None),
    ),
    "hits of Writer": (
        {**COUNTS, "total_tokens": 130, "prompt_token_details": {"cached_tokens": 60}},
        (100, 60, None, 30, None),
    ),
    "hits of Mistral": ({**COUNTS, "total_tokens": 130, "num_cached_tokens": 60}, (100, 60, None, 30, None)),
    "hits of Moonshot": ({**COUNTS, "total_tokens": 130, "cached_tokens": 60}, (100, 60, None, 30, None)),
    "reasoning of Copilot beside the output": (
        {"prompt_tokens": 19581, "completion_tokens": 53, "reasoning_tokens": 134, "total_tokens": 19768},
        (19581, None, None, 187, 134),
    ),
    "reasoning of Copilot within the output": (
        {**COUNTS, "total_tokens": 130, "reasoning_tokens": 20},
        (100, None, None, 30, 20),
    ),
    "writes of LiteLLM": (
        {**COUNTS, "prompt_tokens_details": {"cached_tokens": 60, "cache_creation_tokens": 7}},
        (100, 60, 7, 30, None),
    ),
    "writes of Qwen": (
        {**COUNTS, "prompt_tokens_details": {"cached_tokens": 60, "cache_creation_input_tokens": 7}},
        (100, 60, 7, 30, None),
    ),
    "writes of LiteLLM beside the details": (
        {**COUNTS, "cache_creation_input_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}},
        (100, 60, 7, 30, None),
    ),
    "hits of Databricks": ({**COUNTS, "total_tokens": 130, "cache_read_input_tokens": 60}, (100, 60, None, 30, None)),
    "cache of Portkey beside the input": (
        {**COUNTS, "total_tokens": 197, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 7},
        (167, 60, 7, 30, None),
    ),
    "hits beside the input": (
        {**COUNTS, "total_tokens": 190, "prompt_tokens_details": {"cached_tokens": 60}},
        (160, 60, None, 30, None),
    ),
    "nulls": (
        {**COUNTS, "prompt_tokens_details": None, "completion_tokens_details": None},
        (100, None, None, 30, None),
    ),
}


@pytest.mark.parametrize(("usage", "expected"), USAGES.values(), ids=USAGES)
def test_counts(usage, expected):
    """
    Both sides include their parts, wherever a server counts them.
    """
    found = message(stream(T("a"), F(), {**HEAD, "choices": [], "usage": usage}, DONE)).usage

    assert expected == (
        found.input_tokens,
        found.cache_read_tokens,
        found.cache_write_tokens,
        found.output_tokens,
        found.reasoning_tokens,
    )
    assert {key: value for key, value in usage.items() if value is not None} == thaw(found.details)


FAILED = {
    "vLLM": (stream(T("Hel"), F("abort"), DONE), ("abort", "abort")),
    "Groq": (stream(T("Hel"), D(chunk={"x_groq": {"error": "over_capacity"}}), DONE), ("over_capacity", None)),
    "its own error first": (
        stream(T("Hel"), {**E("Overloaded"), "x_groq": {"error": "over_capacity"}, **HEAD}),
        ("Overloaded", None),
    ),
    "MiniMax": (
        stream(T("Hel"), {"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}, **HEAD}, DONE),
        ("insufficient balance", "1008"),
    ),
    "DeepInfra": (
        stream({**HEAD, "choices": None, "error_type": "BadRequestError", "error_message": "This model's maximum …"}),
        ("This model's maximum …", "BadRequestError"),
    ),
    "Venice": (stream(T("Hel"), {"error_type": "x", "error_message": "busy"}, DONE), ("busy", "x")),
    "DashScope": (
        b'id:1\nevent:error\n:HTTP_STATUS/429\ndata:{"code":"Throttling.AllocationQuota","message":"Exceeded"}\n\n',
        ("Exceeded", "Throttling.AllocationQuota"),
    ),
}


@pytest.mark.parametrize(("body", "expected"), FAILED.values(), ids=FAILED)
def test_failures_in_the_words_of_a_server(body, expected):
    """
    An answer that the server has given up fails, although the mark of the end follows.
    """
    error = message(body).error

    assert expected == (error.message, error.code)


@pytest.mark.parametrize("beside", [True, False])
def test_a_status_in_a_stream(beside):
    """
    The status of the error that Cerebras has beside it in the last chunk, and Groq in it, has the kind.
    """
    error, status = E("Tokens per minute limit exceeded", code="token_quota_exceeded"), {"status_code": 429}
    last = {**error, **status} if beside else {"error": {**error["error"], **status}}
    found = message(stream(T("Hel"), last)).error

    assert (ErrorKind.RATE_LIMIT, 429, "token_quota_exceeded", True) == (
        found.kind,
        found.status,
        found.code,
        found.retryable,
    )


@pytest.mark.parametrize("status", [200, -5, 700])
def test_no_status_in_a_stream(status):
    """
    Other numbers mean nothing.
    """
    assert ErrorKind.PROVIDER == message(stream(T("Hel"), {**E(), "status_code": status})).error.kind


def test_an_answer_in_an_envelope():
    """
    Cline's service wraps answers that do not stream (cline/cline#12647).
    """
    assert [YES] == parts({"data": document(content="Yes."), "success": True})


KINDS = {
    "Throttling.AllocationQuota": {"code": "Throttling.AllocationQuota", "message": "Allocated quota exceeded"},
    "Throttling.RateQuota": {"code": "Throttling.RateQuota", "message": "Requests rate limit exceeded"},
    "BadRequestError": {"error_type": "BadRequestError", "error_message": "no such field"},
}


@pytest.mark.parametrize("code", KINDS)
def test_kinds_of_failures_without_a_status(code):
    """
    In a stream, which has no status of HTTP, the word alone has the kind (DashScope, vLLM).
    """
    error = message(stream(KINDS[code])).error
    kind = ErrorKind.INVALID_REQUEST if code == "BadRequestError" else ErrorKind.RATE_LIMIT

    assert (kind, code) == (error.kind, error.code)


STATUSES = {
    1002: ("rate limit exceeded(RPM)", ErrorKind.RATE_LIMIT, True),
    1004: ("login fail: Please carry the API secret key", ErrorKind.AUTH, None),
    1008: ("insufficient balance", ErrorKind.QUOTA, None),
    1024: ("internal error", ErrorKind.PROVIDER, True),
    1027: ("output new_sensitive", ErrorKind.CONTENT_FILTER, None),
    2013: ("invalid params, context window exceeds limit (2013)", ErrorKind.CONTEXT_LENGTH, None),
    9999: ("x", ErrorKind.PROVIDER, None),
}


@pytest.mark.parametrize("form", ["data: {}\n\n", "{}"], ids=["a chunk", "a document"])
@pytest.mark.parametrize(("code", "expected"), STATUSES.items())
def test_a_status_of_failure(code, expected, form):
    """
    MiniMax has a number for what has failed, also in a document in place of the stream, with the status 200 of HTTP.
    """
    status = {"status_code": code, "status_msg": expected[0]}
    error = message(form.format(json.dumps({"id": "", "choices": None, "base_resp": status})).encode()).error

    assert (*expected, str(code)) == (error.message, error.kind, error.retryable, error.code)


def test_a_status_of_success():
    """
    MiniMax has its status in each answer.
    """
    ok = {"base_resp": {"status_code": 0, "status_msg": ""}}

    assert None is message(stream(T("Hello"), F(chunk=ok), DONE)).error


def test_a_text_with_sources_in_an_array():
    """
    What is beside the text of an item of content, as Databricks has sources there, is shown and not sent back.
    """
    source = {"type": "char_location", "cited_text": "x"}
    [part] = message(answer(D(content=[{"type": "text", "text": "Hello", "citations": [source]}]))).parts

    assert ("Hello", {"citations": [source]}) == (part.text, thaw(part.details))


PLACES = {
    "a chunk of its own": stream(T("a"), F(), U(3, 4), DONE),
    "the last chunk": stream(T("a"), F(chunk={"usage": {"prompt_tokens": 3, "completion_tokens": 4}}), DONE),
    "each chunk": stream(
        *[D(content="a", chunk={"usage": {"prompt_tokens": 3, "completion_tokens": at}}) for at in (1, 2, 3, 4)],
        F(),
        DONE,
    ),
    "the choice": stream(T("a"), F(choice={"usage": {"prompt_tokens": 3, "completion_tokens": 4}}), DONE),
    "x_groq": stream(T("a"), F(chunk={"x_groq": {"usage": {"prompt_tokens": 3, "completion_tokens": 4}}}), DONE),
}


@pytest.mark.parametrize("body", PLACES.values(), ids=PLACES)
def test_places_of_the_usage(body):
    """
    The last counts of a stream are its usage, wherever a server sends them.
    """
    usage = message(body).usage

    assert (3, 4) == (usage.input_tokens, usage.output_tokens)


HIDDEN = {
    "in the sum alone": ({"prompt_tokens": 66, "completion_tokens": 6, "total_tokens": 100}, 34),
    "under a name": (
        {
            "prompt_tokens": 66,
            "completion_tokens": 6,
            "total_tokens": 100,
            "completion_tokens_details": {"reasoning_tokens": 28},
        },
        34,
    ),
    "included": ({"prompt_tokens": 66, "completion_tokens": 34, "total_tokens": 100}, 34),
    "one side alone": ({"completion_tokens": 5, "total_tokens": 20}, 5),
    "beside a cache": (
        {
            "prompt_tokens": 100,
            "completion_tokens": 5,
            "total_tokens": 135,
            "prompt_tokens_details": {"cached_tokens": 50},
        },
        35,
    ),
    "beside a part of them under a name": (
        {
            "prompt_tokens": 66,
            "completion_tokens": 20,
            "total_tokens": 100,
            "completion_tokens_details": {"reasoning_tokens": 8},
        },
        20,
    ),
    "of the cache": (
        {
            "prompt_tokens": 6,
            "completion_tokens": 4,
            "total_tokens": 100,
            "prompt_tokens_details": {"cached_tokens": 90},
        },
        4,
    ),
}


@pytest.mark.parametrize(("usage", "output"), HIDDEN.values(), ids=HIDDEN)
def test_tokens_beside_both_sides(usage, output):
    """
    What the sum of Gemini and xAI has beyond both sides are thoughts, which are paid as output.
    """
    assert output == message(stream(T("a"), F(), {**HEAD, "choices": [], "usage": usage}, DONE)).usage.output_tokens


CALLS_OF_ONE_ID = [
    {"id": "call_0", "type": "function", "function": {"name": name, "arguments": f'{{"{name}":1}}'}} for name in "fg"
]


@pytest.mark.parametrize(
    "body",
    [
        document("tool_calls", content=None, tool_calls=CALLS_OF_ONE_ID),
        document("tool_calls", content=None, tool_calls=[{"index": 0, **each} for each in CALLS_OF_ONE_ID]),
        answer(*[D(tool_calls=[{"index": 0, **each}]) for each in CALLS_OF_ONE_ID], finish_reason="tool_calls"),
    ],
    ids=["document", "document with indexes", "stream"],
)
def test_calls_of_one_id(body):
    """
    Calls with other names are other calls, also under one id (HKUDS/nanobot#4059).
    """
    assert [("f", {"f": 1}), ("g", {"g": 1})] == [(call.name, call.arguments) for call in message(body).tool_calls]


COMES_AGAIN = {
    "pieces": (['{"a":', "1}", '{"a":1}'], '{"a":1}'),
    "empty": (["{}", "{}"], "{}"),
    "three times": (['{"a":', "1}", '{"a":1}', '{"a":1}'], '{"a":1}'),
    "three times at once": (['{"a":1}' * 3], '{"a":1}'),
    "in another spelling": (['{"a": "', '}{"}', '{"a":"}{"}'], '{"a": "}{"}'),
    "with many braces": (['{"a":"' + "}{" * 20 + '"}'] * 2, '{"a":"' + "}{" * 20 + '"}'),
    "with many braces, three times": (['{"a":"' + "}{" * 20 + '"}'] * 3, '{"a":"' + "}{" * 20 + '"}'),
}


@pytest.mark.parametrize(("pieces", "once"), COMES_AGAIN.values(), ids=COMES_AGAIN)
def test_an_input_that_comes_again(pieces, once):
    """
    A server that sends the whole input behind its pieces (vllm#51697, codex-lb#284, elizaOS/eliza#16973) means one.
    """
    [found] = message(answer(J("", id="c", name="f"), *map(J, pieces), finish_reason="tool_calls")).tool_calls

    assert (once, json.loads(once)) == (found.raw_input, found.arguments)


def test_a_large_input_is_not_parsed_for_each_brace(monkeypatch):
    """
    However many places in its texts look like the begin of another object: once to see that it is whole.
    """
    parsed = []
    monkeypatch.setattr(streamed_calls, "parse_input", lambda text: (parsed.append(len(text)), parse_input(text))[1])
    whole = json.dumps({"code": "}{" * 1000})
    [found] = message(answer(J(whole, id="c", name="f"), finish_reason="tool_calls")).tool_calls

    assert (whole, [len(whole)]) == (found.raw_input, parsed)


def test_an_input_that_comes_three_times_in_a_document():
    """
    So it is in answers that do not stream (codex-lb#284).
    """
    sent = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":1}' * 3}}
    [found] = message(document("tool_calls", tool_calls=[sent])).tool_calls

    assert {"a": 1} == found.arguments


def test_two_inputs_in_one():
    """
    What is not the same twice is not valid.
    """
    text = '{"a":1}{"a":2}'
    [found] = message(answer(J("", id="c", name="f"), J(text), finish_reason="tool_calls")).tool_calls

    assert (text, None) == (found.raw_input, found.input)


GROWN = ['{"a"', '{"a":', '{"a":1', '{"a":1', '{"a":1}']
SO_FAR = {
    "pieces": ([J("", 0, "c", "f"), *[J(text) for text in GROWN]], [{"a": 1}]),
    "an id on each": ([J("", 0, "c", "f"), *[J(text, 0, "c") for text in GROWN]], [{"a": 1}]),
    "two calls": (
        [J("", 0, "c", "f"), *[J(text) for text in GROWN], J("", 1, "d", "f"), *[J(text, 1) for text in GROWN]],
        [{"a": 1}] * 2,
    ),
    "many": (
        [
            J("", 0, "c", "f"),
            *[J(f'{{"a":"{"x" * size}') for size in range(40)],
            J(json.dumps({"a": "x" * 39}, separators=(",", ":"))),
        ],
        [{"a": "x" * 39}],
    ),
    "an input that looks like it": ([J("", 0, "c", "f"), J('{"a":'), J('{"a":1}}')], [{"a": {"a": 1}}]),
    "a text that looks like it": (
        [
            D(tool_calls=[{"index": 0, "id": "c", "type": "custom", "custom": {"name": "f", "input": "a"}}]),
            D(tool_calls=[{"index": 0, "custom": {"input": "a = 1"}}]),
        ],
        [{"input": "aa = 1"}],
    ),
}


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize(("chunks", "expected"), SO_FAR.values(), ids=SO_FAR)
def test_pieces_that_are_the_input_so_far(chunks, expected, fast):
    """
    A server that sends all of the input in each piece means the last one, unless the pieces are one input.
    """
    decoder = DIALECT.decoder("a1", provider="deepseek")
    decoder.fast = fast
    found = fold(decoder.feed(answer(*chunks, finish_reason="tool_calls")) + decoder.close()).last.tool_calls

    assert expected == [call.arguments for call in found]


def test_an_input_that_looks_like_it_in_the_last_chunk():
    """
    Nothing behind the reason to finish has shown that the pieces are one input.
    """
    last = D("tool_calls", tool_calls=[{"index": 0, "function": {"arguments": '{"a":1}}'}}])
    [call] = message(stream(J("", 0, "c", "f"), J('{"a":'), last, DONE)).tool_calls

    assert {"a": {"a": 1}} == call.arguments


def noisy(text, progress, finish_reason=None):
    """
    Return a chunk with a state of a diffusion, as Inception sends it.
    """
    meta = {"diffusion_content": True, "diffusion_progress": progress}
    return D(finish_reason, chunk={"model": "mercury-2.5", "diffusion_meta": meta}, content=text, tool_calls=[])


def translated(text, finish_reason=None, model="qwen-mt-plus"):
    return D(finish_reason, chunk={"model": model}, content=text)


STATES = [noisy("Ywx,", 0), noisy("Yes, it", 0.5), noisy("Yes, it is.", 1, "stop"), D("stop")]
TRANSLATED = [translated(text) for text in ("", "I", "I di", "I did.")]
WHOLE_TEXTS = {
    "all of the text so far": ([*TRANSLATED, *[translated("I did.", "stop")] * 2], "I did.", ["I", " di", "d."]),
    "many of them": (
        [*[translated("abcdefghijklmnopqrst"[:size]) for size in range(1, 21)], F()],
        "abcdefghijklmnopqrst",
        list("abcdefghijklmnopqrst"),
    ),
    "the same of another model of the family": (
        [translated("a", model="qwen-mt-turbo"), translated("ab", "stop", model="qwen-mt-turbo")],
        "ab",
        ["a", "b"],
    ),
    "a model of the family that sends what is new": (
        [translated("a", model="qwen-mt-flash"), translated("ab", "stop", model="qwen-mt-flash")],
        "aab",
        ["a", "ab"],
    ),
    "a text that is not so far": ([translated("ab"), translated("c", "stop")], "abc", ["ab", "c"]),
    "states of a diffusion": (STATES, "Yes, it is.", []),
    "a call behind states": ([*STATES[:2], J("{}", id="call_1", name="f"), F("tool_calls")], "Yes, it", []),
}


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("name", WHOLE_TEXTS)
def test_texts_that_come_whole_again(name, fast):
    """
    Each delta of qwen-mt-plus has all of the text so far, and each state of a diffusion is another draft of all of it.

    What is new of the former is a delta; drafts have none, and the last one is the text.
    """
    chunks, expected, deltas = WHOLE_TEXTS[name]
    decoder = DIALECT.decoder("a1")
    decoder.fast = fast
    events = decoder.feed(stream(*chunks, DONE)) + decoder.close()

    assert ([expected], deltas) == (
        [part.text for part in fold(events).last.parts if part.type == "text"],
        [event.delta for event in events if event.type == "text.delta"],
    )


def test_a_draft_that_was_cut():
    """
    The last state of a diffusion that was cut is an incomplete text; a replay of it gives the whole one.
    """
    decoder = DIALECT.decoder("a1")
    events = decoder.feed(stream(*STATES[:1]))
    decoder.rejoin()
    whole = fold(events + decoder.feed(stream(*STATES, DONE)) + decoder.close()).last
    cut = message(stream(*STATES[:2])).parts[0]

    assert ("Yes, it", PartStatus.INCOMPLETE, "Yes, it is.") == (cut.text, cut.status, whole.text)


def test_reasoning_in_an_object():
    """
    The gateway any-llm has its text under `content`, also in documents.
    """
    pieces = [D(reasoning={"content": "Let me "}), D(reasoning={"content": "see"}), T("Yes.")]
    whole = document(content="Yes.", reasoning={"content": "Let me see"})

    assert [("reasoning", "Let me see", {"field": "reasoning"}), YES] == parts(answer(*pieces)) == parts(whole)


SIGNED = {"signature": "EqQBCkgIChABGAI"}
IN_OTHER_FORMS = {
    "an array of texts": ([D(content=["Ye", "s"]), D(content=["."])], [YES], {}),
    "a whole array": (document(content=["Yes", "."]), [YES], {}),
    "a text in an object": (
        [D(reasoning_content={"text": "Let me "}), D(reasoning_content={"text": "see"}), T("Yes.")],
        [("reasoning", "Let me see", {"field": "reasoning_content"}), YES],
        {},
    ),
    "a signature": (
        [D(reasoning_content={"text": "So"}), D(reasoning_content=SIGNED), T("Yes.")],
        [("reasoning", "So", {"field": "reasoning_content"}), YES],
        {"message": SIGNED},
    ),
    "a text with its signature": (
        document(content="Yes.", reasoning_content={"text": "So", **SIGNED}),
        [("reasoning", "So", {"field": "reasoning_content"}), YES],
        {"message": SIGNED},
    ),
}


@pytest.mark.parametrize(("body", "expected", "details"), IN_OTHER_FORMS.values(), ids=IN_OTHER_FORMS)
def test_texts_in_other_forms(body, expected, details):
    """
    Albert sends arrays (suitenumerique/conversations#411), Envoy thoughts of Bedrock as objects (ai-gateway#1222).
    """
    found = answer(*body) if isinstance(body, list) else body

    assert expected == parts(found)
    assert details == message(found).details


def test_a_name_alone_behind_a_whole_input():
    """
    It repeats the name of the call in another form, and begins none.
    """
    pieces = [J('{"a":1}', id="c", name="functions.f"), J(id="c", name="f")]
    [found] = message(answer(*pieces, finish_reason="tool_calls")).tool_calls

    assert ("functions.f", {"a": 1}) == (found.name, found.arguments)


def test_a_document_with_facts_beside_seals():
    """
    LiteLLM has both in one object: a document of ours has them, too.
    """
    beside = {"thought_signatures": ["c2ln"], "shown": "yes"}
    found = message(document(content="Yes.", provider_specific_fields=beside))

    assert {"message": {"provider_specific_fields": {"shown": "yes"}}} == thaw(found.details)
    assert beside == DIALECT.emit_resource(found)["choices"][0]["message"]["provider_specific_fields"]


CITED = {"type": "web_search_result_location", "url": "https://a.example", "title": "A", "encrypted_index": "E"}
SEARCHED = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "a"}}


def test_a_document_of_portkey():
    """
    The blocks have the order that the content has lost, and what has no field of its own. Our document has it, too.
    """
    thoughts = [{"type": "thinking", "thinking": f"Hm {at}", "signature": f"{at}"} for at in "12"]
    texts = [{"type": "text", "text": "Wait. "}, {"type": "text", "text": "Y"}]
    last = {"type": "text", "text": "es.", "citations": [CITED]}
    blocks = [thoughts[0], SEARCHED, texts[0], thoughts[1], texts[1], last]
    found = message(document(content="Wait. Yes.", content_blocks=blocks))
    again = message(written := DIALECT.emit_resource(found))

    assert ["Hm 1", "Wait. ", "Hm 2", "Yes."] == [part.text for part in found.parts]
    assert [CITED["url"]] == [citation.url for citation in found.parts[-1].citations]
    assert found == again
    expected = [thoughts[0], texts[0], thoughts[1], {"type": "text", "text": "Yes."}, SEARCHED]
    assert expected == written["choices"][0]["message"]["content_blocks"]


def test_sources_and_tools_of_claude_behind_portkey():
    """
    Blocks of a stream have no type: a source is the text's, and the details have all that has another kind.
    """
    searched = {"id": "srvtoolu_1", "name": "web_search", "input": {}}
    found = message(answer(piece(**searched), piece(citations=[], text=""), piece("Yes."), piece(citation=CITED)))

    assert [("Yes.", [CITED["url"]])] == [(part.text, [each.url for each in part.citations]) for part in found.parts]
    assert {"content_blocks": [searched]} == thaw(found.details["message"])


def test_a_call_of_claude_itself_without_its_result():
    """
    Its id shows that no app is to run it, also where the answer ends before the result.
    """
    calls = [
        {"index": 0, "id": "srvtoolu_1", "type": "function", "function": {"name": "web_search", "arguments": "{}"}}
    ]
    found = message(answer(D(tool_calls=calls)))

    assert ((), True) == (found.pending_tool_calls, found.tool_calls[0].provider_executed)


def test_a_document_of_gemini_behind_portkey():
    """
    Its content is the last text alone; the blocks have all of them, and the images.
    """
    texts = [{"type": "text", "text": text} for text in ("A cat: ", "and a dog.")]
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    blocks = [{"type": "thinking", "thinking": "Hm"}, texts[0], image, texts[1]]
    found = message(document(content="and a dog.", content_blocks=blocks))

    expected = [("reasoning", "Hm"), ("text", "A cat: "), ("media", "image/png"), ("text", "and a dog.")]
    assert expected == [(part.type, getattr(part, "text", None) or part.media_type) for part in found.parts]
    assert {} == found.details


def test_a_chunk_of_gemini_behind_portkey():
    """
    The content of a chunk with several parts is the text of the last one, too.
    """
    blocks = [
        {"index": 0, "delta": {"thinking": "Hm"}},
        *[{"index": 1, "delta": {"text": text}} for text in ("Y", "es")],
    ]
    image = {"index": 1, "delta": {"type": "image_url", "image_url": {"url": PIXEL}}}
    found = message(answer(D(content="es", content_blocks=blocks), D(content_blocks=[image])))

    assert ("Hm", "Yes", ["image/png"]) == (found.reasoning, found.text, [part.media_type for part in found.media])


def test_blocks_without_content():
    """
    A text that is in a block alone is that of the answer, and so is one beside blocks without any.
    """
    thought = {"type": "thinking", "thinking": "Hm"}
    bodies = [
        document(content_blocks=[{"type": "text", "text": "Yes."}]),
        document(content="Yes.", content_blocks=[thought]),
        answer(D(content="Yes.", content_blocks=[])),
    ]

    for found in map(message, bodies):
        assert ("Yes.", {}) == (found.text, found.details)


def test_counts_of_a_cut():
    """
    vLLM sends the counts so far with each chunk: after a cut they are not all. With the reason to finish they are.

    Where the connection is lost behind that, others may have been on their way.
    """
    counted = [D(content="a", chunk={"usage": {"completion_tokens": at}}) for at in range(1, 6)]
    cut = message(stream(*counted))
    whole = message(stream(*counted, F()))
    lost = DIALECT.decoder("a1")
    events = lost.feed(stream(*counted, F())) + lost.close(ErrorInfo(kind="network", message="cut"))

    assert [cut.usage] * 2 == [cut.usage, fold(events).last.usage]
    assert Usage(output_tokens=5, details={"completion_tokens": 5, "partial": True}) == cut.usage
    assert Usage(output_tokens=5, details={"completion_tokens": 5}) == whole.usage


def test_usage_of_the_last_of_many_equal_frames():
    """
    The counts of frames on the fast path are read, too.
    """
    expected = Usage(
        input_tokens=4, output_tokens=8, details={"prompt_tokens": 4, "completion_tokens": 8, "total_tokens": 12}
    )

    assert expected == message(SAMPLES["usage in each chunk"]).usage


ERRORS = {
    "in the middle": (SAMPLES["error after text"], ErrorKind.INVALID_REQUEST, "Token limit reached", "400"),
    "at the start": (SAMPLES["error first"], ErrorKind.PROVIDER, "Overloaded", "server_error"),
    "of the quota": (
        stream(T("a"), E("No.", code="insufficient_quota")),
        ErrorKind.QUOTA,
        "No.",
        "insufficient_quota",
    ),
    "a text": (stream(T("a"), {"error": "no memory"}), ErrorKind.PROVIDER, "no memory", None),
    "after the reason to finish": (
        stream(T("a"), F("length"), E("Token limit reached", code=400), DONE),
        ErrorKind.INVALID_REQUEST,
        "Token limit reached",
        "400",
    ),
    "in a choice": (SAMPLES["error in a choice"], ErrorKind.PROVIDER, "Upstream idle timeout", "502"),
    "under its name": (
        stream(T("a")) + b'event: error\ndata: {"message":"no memory"}\n\n',
        ErrorKind.PROVIDER,
        "no memory",
        None,
    ),
    "a field of llama.cpp": (
        stream(T("a")) + b'error: {"code":500,"message":"no memory","type":"server_error"}\n\n' + stream(DONE),
        ErrorKind.PROVIDER,
        "no memory",
        "server_error",
    ),
    "without an object around it": (
        stream(T("a"), {"code": "InvalidParameter", "message": "no memory", "request_id": "r1"}, DONE),
        ErrorKind.PROVIDER,
        "no memory",
        "InvalidParameter",
    ),
    "an object of errors": (
        stream(T("a"), {"object": "error", "id": "r1", "message": "no memory", "code": None}, DONE),
        ErrorKind.PROVIDER,
        "no memory",
        None,
    ),
    "a detail": (stream(T("a"), {"detail": "no memory"}, DONE), ErrorKind.PROVIDER, "no memory", None),
    "a list": (
        stream(T("a"), {"success": False, "errors": [{"message": "no memory", "code": 7}]}, DONE),
        ErrorKind.PROVIDER,
        "no memory",
        "7",
    ),
    "no chunk": (stream(DONE), ErrorKind.INTERRUPTED, "the stream stopped before its end", None),
    "a reason": (SAMPLES["error as a reason"], ErrorKind.PROVIDER, "error", "error"),
    "a reason of DeepSeek": (
        stream(T("a"), F("insufficient_system_resource")),
        ErrorKind.OVERLOADED,
        "insufficient_system_resource",
        "insufficient_system_resource",
    ),
    "a broken call of Gemini": (
        stream(T("a"), F("function_call_filter: MALFORMED_FUNCTION_CALL")),
        ErrorKind.PROVIDER,
        "function_call_filter: MALFORMED_FUNCTION_CALL",
        "function_call_filter",
    ),
    "a broken call of Gemini behind OpenRouter": (
        stream(T("a"), F("error", {"native_finish_reason": "MALFORMED_FUNCTION_CALL"})),
        ErrorKind.PROVIDER,
        "MALFORMED_FUNCTION_CALL",
        "malformed_function_call",
    ),
    "a native reason beside another": (
        stream(T("a"), F("stop", {"native_finish_reason": "network_error"}), DONE),
        ErrorKind.PROVIDER,
        "network_error",
        "network_error",
    ),
    "a reason of Z.ai": (stream(T("a"), F("network_error")), ErrorKind.PROVIDER, "network_error", "network_error"),
    "a reason of Portkey": (
        stream(T("a"), {**HEAD, "choices": [{"finish_reason": "overloaded_error", "delta": {"content": ""}}]}, DONE),
        ErrorKind.OVERLOADED,
        "overloaded_error",
        "overloaded_error",
    ),
    "no reason to finish": (
        SAMPLES["without a reason to finish"],
        ErrorKind.INTERRUPTED,
        "the stream stopped before its end",
        None,
    ),
}


@pytest.mark.parametrize(("body", "kind", "text", "code"), ERRORS.values(), ids=ERRORS)
def test_failures(body, kind, text, code):
    """
    An error, and a body that ends too early, fail the answer, which keeps what came.
    """
    failed = message(body)

    assert MessageStatus.FAILED is failed.status
    assert (kind, text, code) == (failed.error.kind, failed.error.message, failed.error.code)
    assert all(part.text in ("a", "He", "Hello") for part in failed.parts)


@pytest.mark.parametrize("error", [None, {}, "", [], False], ids=repr)
def test_an_empty_error_beside_an_answer(error):
    """
    A server that has the field in each chunk means no failure by it.
    """
    found = message(stream(D(content="Hel", chunk={"error": error}), T("lo"), {**F(), "error": error}, DONE))

    assert (MessageStatus.COMPLETED, "Hello") == (found.status, found.text)


@pytest.mark.parametrize("error", [{}, "", []], ids=repr)
def test_an_empty_error_alone(error):
    """
    It is a failure without a word.
    """
    assert ErrorKind.PROVIDER == message(stream(T("a"), {"error": error}, DONE)).error.kind


def test_a_chunk_without_choices():
    """
    What has the id of the answer is a chunk of it, whose facts are kept.
    """
    decoder = DIALECT.decoder("a1")
    decoder.feed(stream({**HEAD, "service_tier": "flex", "error": {}}, T("Hi"), F(), DONE))

    assert ("Hi", {"service_tier": "flex"}, []) == (decoder.message.text, decoder.message.details, decoder.notes)


def test_a_reason_to_finish_before_an_error():
    """
    Both reasons of an answer that was cut by its length and then failed are kept.
    """
    failed = message(stream(T("a"), F("length"), {**F("error"), **E("Token limit reached", code=400)}))

    assert {"choice": {"finish_reason": "length"}} == thaw(failed.details)
    assert {"finish_reason": "error"} == thaw(failed.error.details)


def test_content_beside_an_error():
    """
    What a chunk with an error brings of the answer is kept.
    """
    failed = message(stream(T("a"), {**D(content="b"), **E("Overloaded")}))

    assert ("ab", "Overloaded") == (failed.text, failed.error.message)


def test_a_call_that_groq_refuses():
    """
    What the model had generated is in the details of the error. The same request may succeed (drnic/groq-ruby#12).
    """
    body = stream(
        R("Hm", "reasoning"),
        E(
            "Tool call validation failed",
            type="invalid_request_error",
            code="tool_use_failed",
            failed_generation='{"name": "f"}',
            status_code=400,
        ),
    )
    error = message(body).error

    assert (ErrorKind.PROVIDER, True) == (error.kind, error.retryable)
    assert '{"name": "f"}' == error.details["failed_generation"]


def test_an_input_that_was_cut():
    """
    An input that is not JSON, for the answer reached its limit, fails and keeps what came; nothing is run.
    """
    cut = message(SAMPLES["input that was cut"])
    [called] = cut.tool_calls

    assert FinishReason.LENGTH is cut.finish_reason
    assert ("failed", '{"a":', None) == (called.status.value, called.raw_input, called.input)


INPUTS = {
    "null": ("null", {}),
    "an empty text": ("", {}),
    "an object": ({"a": [1]}, {"a": [1]}),
    "a parsable prefix": ("{}", {}),
}


@pytest.mark.parametrize(("arguments", "expected"), INPUTS.values(), ids=INPUTS)
def test_inputs(arguments, expected):
    """
    A call without input has an empty one; one that came as an object has it.
    """
    [called] = message(answer(J(arguments, 0, "call_00001", "f"))).tool_calls

    assert expected == thaw(called.input)


@pytest.mark.parametrize("arguments", [[1], 5, False])
def test_an_input_that_is_no_object(arguments):
    """
    It fails the call, which must not run without its arguments, as on the other wires.
    """
    [failed] = message(answer(J(arguments, 0, "call_00001", "f"))).tool_calls

    assert ("failed", "invalid-input", json.dumps(arguments)) == (failed.status, failed.error.kind, failed.raw_input)


def test_integers_with_a_fraction_of_zero():
    """
    Indexes and counts may be floats, as writers of JSON without integers have them.
    """
    pieces = [J('{"a":', 0.0, "call_00001", "f"), J('{"b":', 1.0, "call_00002", "g"), J("1}", 0.0), J("2}", 1.0)]
    found = message(stream(*pieces, F("tool_calls", {"index": 0.0}), U(10.0, 5.0), DONE))

    assert [{"a": 1}, {"b": 2}] == [thaw(called.input) for called in found.tool_calls]
    assert (10, 5) == (found.usage.input_tokens, found.usage.output_tokens)


def test_an_input_ends_with_the_answer():
    """
    A text that is JSON already is not the end of an input.
    """
    [called] = message(answer(J("{}", 0, "c", "f"), J("  ", 0))).tool_calls

    assert "{}  " == called.raw_input


@pytest.mark.parametrize("empty", ["{}", {}, "null"])
def test_an_empty_object_before_the_input(empty):
    """
    It is neither in the input (LiteLLM, issue 4537; the AI gateway of Envoy, issue 1465) nor in the text that streams.

    Neither is the text null, of a few gateways (rig: chat_compatible.rs).
    """
    pieces = [J(empty, 0, "call_00001", "f"), J('{"location"'), J(': "Boston"}')]
    body = answer(*pieces, finish_reason="tool_calls")

    assert [call(input={"location": "Boston"})] == parts(body)
    assert ['{"location"', ': "Boston"}'] == [each.delta for each in events(body) if each.type == "tool.input.delta"]


@pytest.mark.parametrize("fast", [True, False])
def test_empty_objects_before_inputs_on_the_fast_path(fast):
    """
    Pieces behind an empty object are read in full until the real input has begun.
    """
    pieces = [piece for at in range(9) for piece in (J("{}", at, f"c{at}", "f"), *[J(text, at) for text in '{"a":1}'])]
    decoder = DIALECT.decoder("a1")
    decoder.fast = fast
    found = decoder.feed(stream(*pieces, F("tool_calls"), DONE))

    assert ['{"a":1}'] * 9 == [each.raw_input for each in fold(found).last.tool_calls]


@pytest.mark.parametrize("at", [{}, {"index": 0}])
def test_ids_that_are_the_text_null(at):
    """
    The client of Mistral writes it for a call without an id (mistralai: models/toolcall.py): it is none.
    """
    calls = [{**at, "id": "null", "function": {"name": "f", "arguments": text}} for text in ('{"a":1}', '{"b":2}')]
    found = message(answer(D("tool_calls", tool_calls=calls)))

    assert [("call-1", {"a": 1}), ("call-2", {"b": 2})] == [(each.call_id, each.input) for each in found.tool_calls]


@pytest.mark.parametrize("kinds", [("", ""), ("function", ""), ("FUNCTION", "FUNCTION")])
def test_types_that_no_request_has(kinds):
    """
    Azure sends an empty type with pieces of a call (vercel/ai#12939), others one in capitals (BerriAI/litellm#12513).
    """
    body = answer(J('{"a"', 0, "call_00001", "f", type=kinds[0]), J(":1}", 0, type=kinds[1]))

    assert [call()] == parts(body)


def test_an_empty_object_that_was_cut():
    """
    An empty object that waits is kept when the answer fails.
    """
    [called] = message(stream(J("{}", 0, "call_00001", "f"))).tool_calls

    assert "{}" == called.raw_input


def test_a_name_in_every_piece():
    """
    A name, or an id, that is repeated changes nothing.
    """
    body = answer(J('{"a"', 0, "call_00001", "f"), J(":1}", 0, "call_00001", "f"), J("", 0, "", ""))

    assert [call()] == parts(body)


@pytest.mark.parametrize("index", [None, 0])
def test_pieces_of_two_ids_by_turns(index):
    """
    A piece without a name belongs to the call of its id, where no index separates the calls.
    """
    heads = [J("", index, ident, name) for ident, name in (("a", "f"), ("b", "g"))]
    pieces = [J(text, index, ident) for text, ident in (('{"x"', "a"), ('{"y"', "b"), (":1}", "a"), (":2}", "b"))]
    found = message(answer(*heads, *pieces, finish_reason="tool_calls")).tool_calls

    assert [("f", {"x": 1}), ("g", {"y": 2})] == [(call.name, call.arguments) for call in found]


def test_an_id_for_each_piece():
    """
    A piece without a name continues the call of its index, whatever its id (poolsideai/pool#9, vllm#23522).
    """
    pieces = [J("", 0, "call_00001", "f"), J('{"a"', 0, "b"), J(":", 0, "c"), J("1}", 0, "d")]

    assert [call()] == parts(answer(*pieces))


def test_another_id_behind_a_whole_input():
    """
    There it is another call, also without a name, which is kept raw.
    """
    found = parts(answer(J('{"a":1}', 0, "call_00001", "f"), J('{"b":2}', 0, "b")))

    assert (call(), 2, "opaque") == (found[0], len(found), found[1][0])


def test_a_call_that_is_not_in_an_array():
    """
    An object in place of the array is its only item (text-generation-inference 1.4.3).
    """
    pieces = [D(tool_calls={"index": 0, "id": "call_00001", "function": {"name": "f", "arguments": "{"}})]
    pieces += [D(tool_calls={"index": 0, "id": "", "function": {"name": None, "arguments": '"a":1}'}})]

    assert [call()] == parts(answer(*pieces, finish_reason="eos_token"))


@pytest.mark.parametrize("end", [[D("stop")], []], ids=["behind the reason", "with the reason"])
def test_a_message_behind_its_end(end):
    """
    A whole message behind its deltas repeats them (MiniMax, `/v1/text/chatcompletion_v2`); its usage counts.
    """
    repeated = document(content="Yes.", tool_calls=[{"id": "c", "function": {"name": "f", "arguments": "{}"}}])
    found = message(stream(T("Ye"), T("s."), *end, repeated))

    assert ("Yes.", (), "stop", 10) == (found.text, found.tool_calls, found.finish_reason, found.usage.input_tokens)


@pytest.mark.parametrize("among_deltas", [True, False])
def test_sources_of_a_message_behind_its_deltas(among_deltas):
    """
    MiniMax has the sources of its search there alone, in the last of several messages (lobe-chat: streams/openai.ts).
    """
    search = {"id": "call_1", "type": "web_search", "function": {"name": "look", "arguments": '{"q":1}'}}
    source = {"text": "[5]", "url": "https://a.example/", "quote": "Sunny."}
    result = D("stop", role="tool", tool_call_id="call_1", content="found")
    found = [{"role": "user", "content": ""}, {"role": "assistant", "content": "", "tool_calls": [search]}]
    found += [{"role": "tool", "tool_call_id": "call_1", "content": ""}]
    found += [{"role": "assistant", "content": "", "annotations": [source]}]
    repeated = {**HEAD, "choices": [{"index": 0, "finish_reason": "stop", "messages": found}]}
    deltas = [D(annotations=[source])] if among_deltas else []
    answer = message(stream(D(tool_calls=[search]), result, T("It is "), T("sunny[5]"), *deltas, F(), repeated))

    assert (["tool", "text"], "It is sunny[5]", "stop") == (
        [part.type for part in answer.parts],
        answer.text,
        answer.finish_reason,
    )
    assert ([source], ["https://a.example/"]) == (
        thaw(answer.parts[1].state["annotations"]),
        [each.url for each in answer.parts[1].citations],
    )


def test_a_search_without_its_result():
    """
    MiniMax runs it: the app has nothing to answer when the stream is cut.
    """
    search = {"id": "call_1", "type": "web_search", "function": {"name": "look", "arguments": '{"q":1}'}}
    found = message(answer(D(tool_calls=[search]), T("It is")))

    assert ([True], ()) == ([each.provider_executed for each in found.tool_calls], found.pending_tool_calls)


@pytest.mark.parametrize("came", ["in pieces", "with the results", "in a document"])
def test_tools_that_litellm_has_run(came):
    """
    It has the calls and their results beside the reason to finish of the first completion, and streams the next one.
    """
    run = [{"id": "call_00001", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}]
    found = [{"tool_call_id": "call_00001", "name": "f", "result": "2"}]
    beside = {"provider_specific_fields": {"mcp_list_tools": [], "mcp_tool_calls": run, "mcp_call_results": found}}
    pieces = [J("", id="call_00001", name="f"), J('{"a":1}')] if came == "in pieces" else []
    streamed = stream(*pieces, F("tool_calls", **beside), T("It is 2."), F())
    given = message(document(content="It is 2.", **beside) if came == "in a document" else streamed)

    assert [("f", {"a": 1}, (TextContent("2"),), True)] == [
        (each.name, each.input, each.output, each.provider_executed) for each in given.tool_calls
    ]
    assert (["tool", "text"], "It is 2.", "stop", "completed", ()) == (
        [part.type for part in given.parts],
        given.text,
        given.finish_reason,
        given.status,
        given.pending_tool_calls,
    )
    assert {"provider_specific_fields": {"mcp_list_tools": []}} == thaw(given.details).get("message")
    check_nothing_lost(Sample(load_dialect("openai-chat"), came, streamed))


@pytest.mark.parametrize(("found", "output"), [({}, ()), ({"result": {"a": 1}}, {"a": 1}), ({"result": [1]}, 1)])
def test_a_result_of_litellm_that_is_not_a_text(found, output):
    """
    It is kept as it is, and without one the call has no output.
    """
    run = [{"id": "call_00001", "function": {"name": "f", "arguments": "{}"}}]
    beside = {"mcp_tool_calls": run, "mcp_call_results": [{"tool_call_id": "call_00001", "name": "f", **found}]}
    given = message(stream(F(provider_specific_fields=beside)))

    assert [("success", (JsonContent(output),))] == [(each.status, each.output) for each in given.tool_calls]


class Id(str):
    __slots__ = ()
    compared = 0

    def __eq__(self, other):
        Id.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_results_beside_an_answer_are_not_looked_for_one_by_one():
    """
    The ids of calls and results are compared a few times, however many there are.
    """
    count = 200
    calls = [{"id": Id(f"c{at}"), "function": {"name": "f", "arguments": "{}"}} for at in range(count)]
    found = [{"tool_use_id": Id(f"c{at}"), "content": []} for at in range(2 * count)]
    Id.compared = 0
    OpenAIChatDecoder("m").on_event(document(tool_calls=calls, provider_specific_fields={"tool_results": found}))

    assert count <= Id.compared <= 20 * count


@pytest.mark.parametrize("is_whole", [False, True])
def test_tools_of_claude_behind_litellm(is_whole):
    """
    They are calls like those of the app, but for their ids; each chunk has all results so far (anthropic/handler.py).
    """
    names = {"srvtoolu_1": "web_search", "srvtoolu_2": "bash_code_execution"}
    results = [{"type": f"{name}_tool_result", "tool_use_id": ident, "content": []} for ident, name in names.items()]
    beside = {"web_search_results": results[:1], "tool_results": results[1:]}
    whole = [{"id": each, "function": {"name": names[each], "arguments": '{"a":1}'}} for each in names]
    whole.append({"id": "call_00001", "function": {"name": "f", "arguments": '{"a":1}'}})
    pieces = [J('{"a":1}', at, each["id"], each["function"]["name"]) for at, each in enumerate(whole)]
    searched = D(provider_specific_fields={"web_search_results": results[:1]})
    deltas = [pieces[0], searched, searched, pieces[1], D(provider_specific_fields=beside), T("Yes."), pieces[2]]
    streamed = stream(*deltas, F("tool_calls"))
    given = message(document("tool_calls", content="Yes.", tool_calls=whole, provider_specific_fields=beside))
    given = given if is_whole else message(streamed)

    assert [(True, (JsonContent(each),)) for each in results] + [(False, ())] == [
        (each.provider_executed, each.output) for each in given.tool_calls
    ]
    assert (["tool", "tool", "text", "tool"], ["call_00001"], {}) == (
        [part.type for part in given.parts],
        [each.call_id for each in given.pending_tool_calls],
        thaw(given.details),
    )


def test_results_of_claude_that_come_again_or_of_no_call():
    """
    One that comes again counts once, and one whose call has not come stays a detail.
    """
    own, other = [{"type": "web_search_tool_result", "tool_use_id": f"srvtoolu_{at}", "content": []} for at in (1, 2)]
    found = [D(provider_specific_fields={"web_search_results": each}) for each in ([own], [own, other])]
    decoder = DIALECT.decoder("a1")
    decoder.feed(stream(J('{"a":1}', 0, "srvtoolu_1", "web_search"), *found, T("Yes."), F(), DONE))
    [called] = decoder.message.tool_calls

    assert ((JsonContent(own),), []) == (called.output, decoder.notes)
    assert {"provider_specific_fields": {"tool_results": [other]}} == thaw(decoder.message.details["message"])


@pytest.mark.parametrize("index", [0, None])
def test_calls_without_an_input_at_one_index(index):
    """
    An empty object is a whole input: the next name is another call.
    """
    found = message(answer(*[J("{}", index, name=name) for name in ("f", "g")]))

    assert [("f", {}), ("g", {})] == [(each.name, each.input) for each in found.tool_calls]


def test_a_document_whose_message_is_in_two_choices():
    """
    Copilot has the text in one and the calls in another, without indexes: all of them are the answer.
    """
    called = {"id": "call_00001", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
    messages = [{"content": "I look"}, {"content": None, "tool_calls": [called]}]
    whole = {**document(), "choices": [{"finish_reason": "tool_calls", "message": each} for each in messages]}

    assert [("text", "I look", {}), call()] == parts(whole)
    assert FinishReason.TOOL_CALLS is message(whole).finish_reason


@pytest.mark.parametrize("turned", [False, True])
def test_extra_content_in_several_chunks(turned):
    """
    Fields of one object that come apart are all sent back (Gemini's compatible endpoint).
    """
    chunks = [
        D(content=text, extra_content={"google": more}) for text, more in (("a", {"thought": True}), ("", {"s": 1}))
    ]
    found = message(answer(*(chunks[::-1] if turned else chunks)))

    assert {"google": {"thought": True, "s": 1}} == thaw(found.state["extra_content"])


def test_an_empty_signature_behind_the_real_one():
    """
    It takes nothing away.
    """
    signed = [D(content="a", extra_content={"google": {"thought_signature": each}}) for each in ("AVSo", "")]

    assert {"google": {"thought_signature": "AVSo"}} == thaw(message(answer(*signed)).state["extra_content"])


def test_opaque_reasoning_is_state():
    """
    Copilot wants back what it has sent (opencode#4468).
    """
    assert (
        "OPAQUE" == message(answer(R("Hm", "reasoning_text"), D(reasoning_opaque="OPAQUE"))).state["reasoning_opaque"]
    )


def test_a_summary_of_copilot():
    """
    The summary is a reasoning, its id is sent back beside it (vscode-copilot-chat, `RawThinkingDelta`).
    """
    found = message(answer(D(cot_id="rs_1"), R("Hm", "cot_summary"), T("Yes.")))

    assert ["Hm", "Yes."] == [part.text for part in found.parts]
    assert "rs_1" == found.state["cot_id"]


@pytest.mark.parametrize("code", [0, 200, None])
def test_a_message_beside_the_code_of_a_success(code):
    """
    It is not an error.
    """
    assert MessageStatus.COMPLETED is message(stream(T("a"), {"code": code, "message": "ok"}, F("stop"), DONE)).status


TOOLS = {"model": MODEL, "tools": [{"type": "function", "function": {"name": name}} for name in ("get", "get_time")]}


def test_a_name_in_pieces():
    """
    A name waits while a tool of the request has more of it; a piece that comes twice is one.
    """
    pieces = [J("", 0, "call_00001", "get_t"), J("", 0, None, "get_t"), J('{"a":', 0, None, "ime"), J("1}")]
    body = answer(*pieces, finish_reason="tool_calls")

    assert [call(name="get_time")] == parts(body, request=TOOLS)


@pytest.mark.parametrize("end", [stream(F("tool_calls"), DONE), b""], ids=["finished", "cut"])
def test_a_name_whose_rest_never_comes(end):
    """
    What has come of a name is the name of the call, also of several.
    """
    found = parts(stream(J("", 0, "call_00001", "get_t"), J("", 1, "call_00002", "ge")) + end, request=TOOLS)

    assert [("tool", "call_00001", "get_t"), ("tool", "call_00002", "ge")] == [part[:3] for part in found]


def test_another_name_for_a_call():
    """
    The name of a call that has begun stays; another one is a note.
    """
    decoder = DIALECT.decoder("a1")
    found = decoder.feed(stream(J("", 0, "call_00001", "f"), J('{"a":1}', 0, None, "g"), F("tool_calls"), DONE))

    assert ["f"] == [part.name for part in fold(found).last.tool_calls]
    assert ["other-name"] == [note.code for note in decoder.notes]


def test_another_name_in_each_piece_of_a_call():
    """
    Each of them is a note, so none of them takes the fast path.
    """
    pieces = [J("1", 0, "call_00001", "g") for _ in range(20)]
    fast, plain = DIALECT.decoder("a1"), DIALECT.decoder("a1")
    plain.fast = False
    body = stream(J("[", 0, "call_00001", "f"), *pieces, F("tool_calls"), DONE)

    assert plain.feed(body) == fast.feed(body)
    assert plain.notes == fast.notes
    assert 20 == len(fast.notes)


def test_an_old_function_whose_name_is_repeated():
    """
    A message has one function of the old form: whatever comes of one belongs to it.
    """
    pieces = [D(function_call={"name": "f", "arguments": text}) for text in ('{"a"', ":1}")]

    assert [made_up(type="function_call")] == parts(answer(*pieces, finish_reason="function_call"))


def test_an_id_after_the_name():
    """
    An id that comes late is the one that is sent back.
    """
    [called] = message(answer(J("{", 0, None, "f"), J("}", 0, "call_00001"))).tool_calls

    assert "call_00001" == called.state["id"]


def test_one_id_for_two_calls():
    """
    Calls at different indexes are different calls, though they have one id.
    """
    calls = message(answer(J("{}", 0, "c", "f"), J('{"a":1}', 1, "c", "f"))).tool_calls

    assert [({}, "c"), ({"a": 1}, "c#2")] == [(thaw(each.input), each.call_id) for each in calls]
    assert "c" == calls[1].state["id"]


def test_calls_that_come_again():
    """
    A piece at a new index with the id, the name and the whole input of a call is that call (QuantumNous/new-api#6223).
    """
    pieces = [J("", 0, "c", "f"), J('{"a":', 0), J("1}", 0), J("{}", 1, "d", "f")]
    again = [J('{"a":1}', 2, "c", "f"), J("{}", 3, "d", "f")]
    others = [J('{"a":1}', 4, "e", "f"), J('{"a":1}', 5, "c", "g"), J('{"a":2}', 6, "c", "f")]
    first, all_of_them = (message(answer(*pieces, *again, *more)).tool_calls for more in ([], others))

    assert [("c", {"a": 1}), ("d", {})] == [(each.call_id, each.arguments) for each in first]
    assert ["c", "d", "e", "c#2", "c#3"] == [each.call_id for each in all_of_them]


def test_calls_without_ids_and_indexes():
    """
    A second name begins a second call, also behind one without an input.
    """
    calls = message(answer(*[J(text, None, None, "f") for text in ("{}", '{"a":1}', "", "{}")])).tool_calls

    assert [{}, {"a": 1}, {}, {}] == [thaw(each.input) for each in calls]


def test_pieces_of_several_calls_without_indexes():
    """
    They are of the calls in their order (Moonshot, vercel/ai#19546): the first had no input, and the second both.
    """
    starts = [{"id": name, "type": "function", "function": {"name": name, "arguments": ""}} for name in "fgh"]
    pieces = [
        D(tool_calls=[{"function": {"arguments": text}} for text in texts]) for texts in (['{"a"', "{"], [":1}", "}"])
    ]
    bodies = [[D(tool_calls=starts[:1]), J("{}"), D(tool_calls=starts[1:])], [D(tool_calls=starts[1:])]]
    found = [message(answer(*body, *pieces)).tool_calls for body in bodies]
    expected = [("f", {}), ("g", {"a": 1}), ("h", {})]

    assert [expected, expected[1:]] == [[(each.name, thaw(each.input)) for each in calls] for calls in found]


def test_pieces_of_several_calls_with_indexes():
    """
    They are of these calls, also where others have begun behind them.
    """
    starts = [{"index": at, "id": name, "function": {"name": name, "arguments": ""}} for at, name in enumerate("fgh")]
    pieces = [{"index": at, "function": {"arguments": f'{{"a":{at}}}'}} for at in (0, 1)]
    found = message(answer(D(tool_calls=starts), D(tool_calls=pieces))).tool_calls

    assert [("f", {"a": 0}), ("g", {"a": 1}), ("h", {})] == [(each.name, thaw(each.input)) for each in found]


def test_text_after_a_call():
    """
    Parts have the order in which they began.
    """
    body = answer(T("I look."), J("{}", 0, "c", "f"), T("Wait."))

    assert ["text", "tool", "text"] == [part.type for part in message(body).parts]


def test_calls_are_made_when_the_reason_to_finish_comes():
    """
    The app need not wait for the usage to run a call.
    """
    decoder = DIALECT.decoder("a1")
    decoder.feed(stream(J('{"a":1}', 0, "c", "f")))

    assert ["tool.input.ended", "tool.called"] == [event.type for event in decoder.feed(stream(F("tool_calls")))]


def test_reasoning_in_several_fields_at_once():
    """
    Text that a server sends twice, or three times, is there once.
    """
    body = answer(
        D(reasoning="So", reasoning_content="So"),
        D(reasoning="", reasoning_content=None, content=""),
        T("Yes."),
    )

    assert [("reasoning", "So", FIELD), YES] == parts(body)


def test_log_probabilities_of_other_servers():
    """
    Together has one number in a chunk, and Cerebras those of a thought beside the others: all are kept.
    """
    given = [{"content": [{"token": each, "logprob": -1.0}]} for each in "ab"]
    chunks = [D(reasoning=each, choice={"reasoning_logprobs": one}) for each, one in zip("ab", given, strict=True)]
    chunks += [D(content=each, choice={"logprobs": -0.5}) for each in "xyz"]
    found = message(answer(*chunks, F()))

    assert {"token_logprobs": [-0.5] * 3} == thaw(found.details["logprobs"])
    assert {"reasoning_logprobs": {"content": given[0]["content"] + given[1]["content"]}} == thaw(
        found.details["choice"]
    )
    assert ("ab", "xyz") == (found.reasoning, found.text)


@pytest.mark.parametrize("fast", [True, False])
def test_reasoning_that_differs_from_its_details(fast):
    """
    The details are kept, and each chunk with another text beside them is a note.
    """
    decoder = DIALECT.decoder("a1")
    decoder.fast = fast
    decoder.feed(stream(*[twice(text, 0, "and so on") for text in "abcdefghijkl"]))

    assert ["other-reasoning"] * 12 == [note.code for note in decoder.notes]
    assert "abcdefghijkl" == decoder.message.reasoning


def test_pieces_of_encrypted_reasoning():
    """
    Data that comes in pieces is one; an empty piece in front is not a reasoning.
    """
    body = answer(
        D(reasoning_details=[{"type": "reasoning.text", "text": "", "format": "f", "index": 0}]),
        D(reasoning_details=[{"type": "reasoning.encrypted", "data": "abc", "index": 1}]),
        D(reasoning_details=[{"type": "reasoning.encrypted", "data": "def", "index": 1}]),
        T("Yes."),
    )

    assert [("reasoning", "", {"detail": {"type": "reasoning.encrypted", "data": "abcdef", "index": 1}}), YES] == parts(
        body
    )


def test_encrypted_reasoning_beside_its_text():
    """
    An item without text belongs to the reasoning that is open.
    """
    text = {"type": "reasoning.text", "text": "So", "index": 0}
    body = answer(D(reasoning_details=[text, {**ENCRYPTED, "index": 0}]), T("Yes."))
    state = {"detail": {"type": "reasoning.text", "index": 0}, "details": [{**ENCRYPTED, "index": 0}]}

    assert [("reasoning", "So", state), YES] == parts(body)


def test_encrypted_reasoning_beside_the_end_of_a_text():
    """
    Gemini behind OpenRouter has it in the chunk with the last piece of the text, which stays one (LibreChat#10990).
    """
    body = answer(T("Ye"), D(content="s.", reasoning_details=[ENCRYPTED]))

    assert [YES, ("reasoning", "", {"detail": ENCRYPTED})] == parts(body)


def test_a_flat_source():
    """
    A source whose fields are those of its annotation, as the Responses API has them, is a citation, too.
    """
    [text] = message(answer(T("Yes."), D(annotations=[{"type": "url_citation", "url": "https://u.example"}]))).parts

    assert ["https://u.example"] == [source.url for source in text.citations]


def test_sources():
    """
    Annotations are citations of the text, and go back as they came.
    """
    [text] = message(SAMPLES["citations"]).parts

    assert (Citation(url="https://u.example", title="Title", start=0, end=5),) == text.citations
    assert "https://u.example" == text.state["annotations"][0]["url_citation"]["url"]


def test_sources_behind_calls():
    """
    They are of a text that has none, and not pieces of the calls, which may lack their numbers.
    """
    sources = [{"type": "url_citation", "url_citation": {"url": f"https://{name}.example"}} for name in "uv"]
    calls = [J("{}", at, f"call_{at}", name) for at, name in enumerate(("f", "g"))]
    *_, text = message(answer(*calls, D(annotations=sources), finish_reason="tool_calls")).parts

    assert ("", sources) == (text.text, thaw(text.state["annotations"]))


def test_a_source_outside_of_the_text():
    """
    A place that is not in the text, such as one in bytes behind a gateway, is left out of the citation, not of state.
    """
    place = {"start_index": 2, "end_index": 9}
    source = {"type": "url_citation", "url_citation": {"url": "https://u.example", **place}}
    [text] = message(answer(D(annotations=[source]), T("\N{GRINNING FACE} Yes."))).parts

    assert (Citation(url="https://u.example"),) == text.citations
    assert [source] == thaw(text.state["annotations"])


SOURCE = {"type": "url_citation", "url_citation": {"url": "https://u.example"}}
SOURCES = {
    "before the text": ([D(annotations=[SOURCE]), T("Yes.")], [("text", "Yes.", 1)]),
    "before the reasoning": (
        [D(annotations=[SOURCE]), R("Hm"), D(annotations=[SOURCE]), R(" so."), T("Yes.")],
        [("reasoning", "Hm so."), ("text", "Yes.", 2)],
    ),
    "between two texts": (
        [T("No."), R("Hm"), D(annotations=[SOURCE]), T("Yes.")],
        [("text", "No.", 0), ("reasoning", "Hm"), ("text", "Yes.", 1)],
    ),
    "in an item of a details array": (
        [
            D(reasoning_details=[{**TEXT_DETAIL, "text": "Hm"}]),
            D(annotations=[SOURCE]),
            D(reasoning_details=[{**TEXT_DETAIL, "text": " so."}]),
            T("Yes."),
        ],
        [("reasoning", "Hm so."), ("text", "Yes.", 1)],
    ),
}


@pytest.mark.parametrize("ends", [True, False], ids=["whole", "cut"])
@pytest.mark.parametrize(("chunks", "expected"), SOURCES.values(), ids=SOURCES)
def test_sources_before_the_text(chunks, expected, ends):
    """
    They wait for the text, and end no reasoning.
    """
    found = message(answer(*chunks) if ends else stream(*chunks)).parts

    assert expected == [
        (each.type, each.text, *([len(each.citations)] if each.type == "text" else [])) for each in found
    ]


def test_sources_without_a_text():
    """
    They are of an empty text behind the reasoning; where the answer is cut the reasoning is, and has them raw.
    """
    chunks = R("Hm"), D(annotations=[SOURCE])
    thought, text_ = message(answer(*chunks)).parts
    [cut] = message(stream(*chunks)).parts

    assert ("Hm", "completed", "", 1) == (thought.text, thought.status, text_.text, len(text_.citations))
    assert ("Hm", "incomplete", [SOURCE]) == (cut.text, cut.status, thaw(cut.state["annotations"]))


def test_a_refusal_beside_content():
    """
    Both are read in one order, from a stream and from the document of the same.
    """
    streamed = message(answer(T("yes"), D(refusal="no")))
    whole = message(document(content="yes", refusal="no"))

    assert ["yes", "no"] == [part.text for part in streamed.parts] == [part.text for part in whole.parts]


def test_ids_of_pieces_that_come_again():
    """
    An id of a piece, and not of a call, names no call: the second call keeps its input.
    """

    def call(name, ident, *pieces):
        first = D(tool_calls=[{"index": 0, "id": ident, "function": {"name": name, "arguments": '{"a":"'}}])
        return first, *[
            D(tool_calls=[{"index": 0, "id": f"i{at}", "function": {"arguments": each}}])
            for at, each in enumerate(pieces)
        ]

    found = message(answer(*call("f", "A", "x", "y", '"}'), *call("g", "B", "1", "2", '"}'))).tool_calls

    assert [("f", {"a": "xy"}), ("g", {"a": "12"})] == [(each.name, each.arguments) for each in found]


def test_tools_of_the_server_in_a_document():
    """
    Each item is a call, also without an index or with the same.
    """
    ran = [{"type": "python", "arguments": f'{{"a":{at}}}', "output": str(at)} for at in (1, 2)]
    bodies = [
        document(content="Yes.", executed_tools=[{**more, **each} for each in ran]) for more in ({}, {"index": 0})
    ]

    for found in map(message, bodies):
        assert [({"a": at}, (TextContent(str(at)),)) for at in (1, 2)] == [
            (call.arguments, call.output) for call in found.tool_calls
        ]


def test_a_tool_of_the_server():
    """
    The tool that Groq runs is a call with a result.
    """
    [called] = message(SAMPLES["executed tool"]).tool_calls

    assert (True, "search", {"query": "q"}) == (called.provider_executed, called.name, thaw(called.input))
    assert (
        TextContent("Title: found"),
        JsonContent({"search_results": {"results": [{"url": "https://u.example", "score": 0.875}]}}),
    ) == called.output


@pytest.mark.parametrize("end", [[F("tool_calls")], []])
def test_a_search_of_minimax(end):
    """
    The service runs it: the call has a type of its own, and the result is a delta of the tool, not a text, before the
    answer (lobe-chat: streams/openai/openai.ts).
    """
    found = '[{"no":1,"url":"https://u.example"}]'
    body = stream(
        J('{"query_list":["q"]}', id="call_function_1", name="get_search_result", type="web_search"),
        *end,
        F(role="tool", tool_call_id="call_function_1", content=found),
        T("It is"),
        F(content=" so."),
        DONE,
    )
    answered = message(body)
    [called] = answered.tool_calls

    assert (True, "success", (TextContent(found),)) == (called.provider_executed, called.status.value, called.output)
    assert ("It is so.", "stop") == (answered.text, answered.finish_reason)
    assert ([{"role": "assistant", "content": "It is so."}], [(0, "unplaced")]) == encoded(answered)


@pytest.mark.parametrize("ident", [{}, {"tool_call_id": "c1"}])
def test_a_delta_of_the_tool_without_a_search(ident):
    """
    It is a text: a server has the role wrong.
    """
    assert "Yes." == message(answer(D(role="tool", content="Yes.", **ident))).text


@pytest.mark.parametrize(
    "image",
    [
        {"url": f"data:image/png;base64,{PIXEL}"},
        {"image_url": f"data:image/png;base64,{PIXEL}"},
        {"image_url": {"image_url": {"url": f"data:image/png;base64,{PIXEL}"}}},
        {"image_url": {"url": "https://u.example/i"}},
    ],
)
def test_the_address_of_an_image(image):
    """
    Gateways have it beside its object, or in one more (lobe-chat: streams/openai/openai.ts); it may be a link.
    """
    [part] = message(answer(D(images=[{"type": "image_url", **image}, {"type": "image_url"}]))).parts

    expected = [(base64.b64decode(PIXEL), None), (None, "https://u.example/i")]
    assert "image/png" == part.media_type
    assert (part.data, part.uri) in expected


def test_a_text_without_a_type():
    """
    Models of Qwen that see images write their text so (lobe-chat: streams/qwen.ts).
    """
    body = answer(*[D(content=[{"text": text}]) for text in ("It is", " so.")])

    assert [("text", "It is so.", {})] == parts(body)


def test_a_tool_whose_result_is_a_message():
    """
    A tool that Mistral has run, whose answer is several messages: a call of the provider with its result.
    """
    bodies = [answer(*[D(**each) for each in drawn()]), document(choice={"message": None, "messages": drawn()})]

    for found in map(message, bodies):
        before, called, behind = found.parts
        assert ["I draw.", "Here it is."] == [before.text, behind.text]
        assert ("imagecall", "generate_image", True) == (called.call_id, called.name, called.provider_executed)
        assert ({"prompt": "a cat"}, (TextContent(DRAWN),)) == (called.arguments, called.output)
        assert ("stop", {}) == (found.finish_reason, thaw(found.details))


@pytest.mark.parametrize("metadata", [{"tool_type": "image"}, {"integration_id": "i1"}])
def test_a_tool_of_mistral_that_was_cut(metadata):
    """
    Its call is not for the app, although the result has not come.
    """
    asked, *_ = drawn()
    asked["tool_calls"][0]["metadata"] = metadata
    [call] = message(stream(D(**asked))).tool_calls

    assert call.provider_executed


def test_a_result_in_pieces():
    """
    The deltas of one message, by its number; items of other types than text are JSON, and its metadata state.
    """
    asked, result, said = drawn()
    link = {"type": "resource_link", "uri": "https://u.example"}
    pieces = [
        {**result, "content": DRAWN[:9], "metadata": {"took": 2}},
        {"index": 1, "content": DRAWN[9:]},
        {"index": 1, "content": [{"type": "text", "text": "!"}, link, {"type": "text", "text": "?"}]},
    ]
    found = message(answer(*[D(**each) for each in (asked, *pieces, said)]))

    assert (TextContent(DRAWN + "!?"), JsonContent(link)) == found.parts[1].output
    assert {"metadata": {"took": 2}} == thaw(found.parts[1].result_state)
    assert ["I draw.", "Here it is."] == [found.parts[0].text, found.parts[2].text]


def test_a_call_of_the_app_behind_a_tool_of_the_server():
    """
    It waits for the app; the completions have a usage each, as their ids show.
    """
    call = {"id": "localcall", "type": "function", "function": {"name": "f", "arguments": "{}"}, "index": 0}
    asked, result, said = drawn(tool_calls=[call])
    first, second = [
        {"id": f"chatcmpl-{at}", "usage": {"prompt_tokens": 10 * at, "completion_tokens": at, "total_tokens": 11 * at}}
        for at in (1, 2)
    ]
    ends = [D("tool_calls", chunk=facts, **each) for facts, each in ((first, asked), (second, said))]
    found = message(stream(ends[0], D(**result), ends[1], DONE))

    assert ["localcall"] == [each.call_id for each in found.pending_tool_calls]
    assert ("tool-calls", 30, 3, 33) == (
        found.finish_reason,
        found.usage.input_tokens,
        found.usage.output_tokens,
        found.usage.total_tokens,
    )


SUMMED = {
    "without a result": ([("a", 1), ("b", 2)], [], 2),
    "twice of one completion": ([("a", 1)], [("b", 2), ("b", 3)], 4),
}


@pytest.mark.parametrize(("before", "behind", "tokens"), SUMMED.values(), ids=SUMMED)
def test_counts_of_several_completions(before, behind, tokens):
    """
    They are added behind a result alone, once for each id: other servers have new ids, and the counts so far.
    """
    asked, result, said = drawn()
    first, second = [
        [D(chunk={"id": ident, "usage": {"completion_tokens": count}}) for ident, count in counts]
        for counts in (before, behind)
    ]
    results = [D(**result), D(**said)] if behind else []
    found = message(stream(D(**asked), *first, *results, *second, F(), DONE))

    assert tokens == found.usage.output_tokens


@pytest.mark.parametrize("flag", [True, False])
def test_flags_beside_the_counts_of_several_completions(flag):
    """
    They do not count as numbers, and stay as they are.
    """
    asked, result, said = drawn()
    first, second = [D(chunk={"id": ident, "usage": {"completion_tokens": 1, "is_byok": flag}}) for ident in ("a", "b")]
    found = message(stream(D(**asked), first, D(**result), D(**said), second, F(), DONE)).usage

    assert (2, flag) == (found.output_tokens, found.details["is_byok"])
    assert isinstance(found.details["is_byok"], bool)


def test_a_reason_to_finish_in_front_of_a_result():
    """
    It is that of the completion that has called; the one behind the result counts.
    """
    asked, result, _ = drawn()

    assert "stop" == message(stream(D("tool_calls", **asked), D(**result), F("stop"), DONE)).finish_reason


def test_a_result_of_a_message_that_was_cut():
    """
    It is kept, and so is a call that has none.
    """
    asked, result, _ = drawn()
    answered, unanswered = [message(stream(*[D(**each) for each in some])) for some in ((asked, result), (asked,))]

    assert (TextContent(DRAWN),) == answered.parts[1].output
    assert ("interrupted", True) == (unanswered.parts[1].error.kind, unanswered.parts[1].provider_executed)


def test_what_a_tool_of_the_server_has_found():
    """
    It is a result without an output, too; an empty list of it, as calls begin with, is none.
    """
    begun, found = [{"search_results": {"results": each}} for each in ([], [{"url": "https://u.example"}])]
    pieces = [D(executed_tools=[executed(0, "q", **each)]) for each in (begun, found)]
    [called] = message(answer(*pieces, T("It is so."))).tool_calls
    [same] = message(document(content="It is so.", executed_tools=[executed(0, "q", **found)])).tool_calls

    assert ("success", (JsonContent(found),)) == (called.status.value, called.output)
    assert called == same


DETAILS = {
    "log probabilities": {
        "logprobs": {
            "content": [
                {"token": "Hel", "logprob": -0.25, "bytes": [72]},
                {"token": "lo", "logprob": -0.125, "bytes": [72]},
            ]
        }
    },
    "audio": {"audio": {"transcript": "Hello you", "expires_at": 1790000999}},
    "facts of servers": {
        "provider": "Some Host",
        "x_groq": {"id": "req_00001", "seed": 7},
        "choice": {"native_finish_reason": "completed"},
        "service_tier": "default",
        "citations": ["https://u.example"],
    },
    "padding of choices": {},
    "other reasons behind a call": {"choice": {"matched_stop": 151645, "other_finish_reason": "stop"}},
    "filters of Azure": {
        "prompt_filter_results": [{"prompt_index": 0}],
        "choice": {"content_filter_results": {"hate": {"severity": "safe"}}},
    },
}


@pytest.mark.parametrize("name", DETAILS)
def test_details(name):
    """
    What a server reports beside the content is in the details of the answer.
    """
    assert DETAILS[name] == thaw(message(SAMPLES[name]).details)


def test_a_document():
    """
    An answer in one document becomes the message of its stream.
    """
    calls = [{"id": "call_00001", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}]
    whole = document("tool_calls", content="Yes.", reasoning_content="So", tool_calls=calls)
    body = answer(R("So"), T("Yes."), J('{"a":1}', 0, "call_00001", "f"), finish_reason="tool_calls")

    assert message(body) == message(whole)


def test_a_document_with_the_field_of_a_chunk():
    """
    Servers with one class for both have the other one's field as null; the answer is completed and has its content.
    """
    whole = document(content="Yes.", choice={"delta": None})
    chunks = [D(content=text, choice={"message": None}) for text in ("Ye", "s.")]

    assert "Yes." == message(whole).text == message(answer(*chunks)).text


@pytest.mark.parametrize("delta", [{}, {"role": "assistant", "content": ""}])
def test_a_document_beside_an_empty_delta(delta):
    """
    Documents of Perplexity have both, and chunks of its streams the message so far: the first delta with text counts.
    """
    whole = document(content="Yes.", choice={"delta": delta})
    pieces = [D(content="Ye", choice={"message": {"content": "Ye"}}), T("s.")]
    end = F(choice={"delta": delta, "message": {"content": "Yes."}})

    assert "Yes." == message(whole).text == message(stream(*pieces, end)).text


def test_a_cut_behind_a_message_so_far():
    """
    A message beside an empty delta is not a document behind deltas. Without a reason to finish the answer was cut.
    """
    so_far = {"choice": {"message": {"content": "Ye"}}}
    found = message(stream(D(content="Ye", **so_far), D(content="", **so_far)))

    assert ("Ye", ErrorKind.INTERRUPTED) == (found.text, found.error.kind)


def test_a_document_without_a_reason_to_finish():
    """
    A document is whole.
    """
    found = message(document(None, content="Yes."))

    assert (MessageStatus.COMPLETED, FinishReason.OTHER) == (found.status, found.finish_reason)


def test_legacy_completions():
    """
    The text of the endpoint before chat is read.
    """
    body = stream(*[{**HEAD, "object": "text_completion", "choices": [{"index": 0, "text": text}]} for text in "ab"])

    assert [("text", "ab", {})] == parts(body + stream({**HEAD, "choices": [{"text": "", "finish_reason": "stop"}]}))


def test_a_cut_before_the_usage():
    """
    A connection that is lost behind the reason to finish fails the answer: its counts are missing.
    """
    decoder = DIALECT.decoder("a1")
    events = decoder.feed(stream(T("Hello"), F()))
    events += decoder.close(DIALECT.decoder("a2").interruption())

    assert "step.failed" == events[-1].type
    assert PartStatus.COMPLETED is decoder.message.parts[0].status


@pytest.mark.parametrize(
    "delta",
    [
        {"refusal": "No"},
        {"audio": {"id": "x", "data": "AAAA"}},
        {"reasoning_details": [{"type": "reasoning.text", "text": "Hm", "index": 0}]},
    ],
    ids=["refusal", "audio", "details"],
)
def test_a_cut_behind_the_reason_to_finish(delta):
    """
    They are whole, as a text is.
    """
    decoder = DIALECT.decoder("a1")
    decoder.feed(stream(D(**delta), F()))
    decoder.close(DIALECT.decoder("a2").interruption())
    [part] = decoder.message.parts

    assert PartStatus.COMPLETED is part.status


def test_a_cut_before_the_first_choice():
    """
    The first chunk, which has none, names the model that answered.
    """
    decoder = DIALECT.decoder("a1")
    decoder.feed(stream({**HEAD, "choices": []}))
    decoder.close(DIALECT.decoder("a2").interruption())

    assert (MODEL, "chatcmpl-1") == (decoder.message.origin.served_model, decoder.message.state["id"])


def test_padding_alone():
    """
    An event of nothing but padding is passed over without a note.
    """
    decoder = DIALECT.decoder("a1")
    decoder.feed(stream(T("Hello"), {"obfuscation": "kQ3"}, F(), DONE))

    assert [] == decoder.notes


def early(chunk):
    """
    Return a chunk with a reason to finish.
    """
    return {**chunk, "choices": [{**chunk["choices"][0], "finish_reason": "stop"}]}


@pytest.mark.parametrize("end", [[F("tool_calls"), DONE], [DONE], []])
def test_a_reason_in_each_chunk(end):
    """
    Proxies of Gemini have one in each (gcli2api#403, litellm#2195): what follows is of the same parts.
    """
    pieces = [R("Let "), R("me see"), T("Hel"), T("lo"), J("{", id="call_00001", name="f"), J('"a":1}')]

    assert [("reasoning", "Let me see", FIELD), ("text", "Hello", {}), call()] == parts(
        stream(*map(early, pieces), *end)
    )


LAST = {
    "with the last content": ([early(T("a")), D("length", content="b")], FinishReason.LENGTH),
    "behind the last content": ([early(T("a")), T("b"), F("length")], FinishReason.LENGTH),
    "behind the first content": ([early(T("a")), F("length")], FinishReason.STOP),
    "none behind the last content": ([early(T("a")), T("b")], FinishReason.STOP),
}


@pytest.mark.parametrize(("chunks", "expected"), LAST.values(), ids=LAST)
def test_a_reason_behind_more_content(chunks, expected):
    """
    The first reason counts that has no content behind it.
    """
    found = message(stream(*chunks, DONE))

    assert (expected, None) == (found.finish_reason, found.error)


BEHIND_EACH = [R("Let "), R("me see"), T("Hel"), T("lo"), J("", id="call_00001", name="f"), J("{"), J('"a":1}')]


def behind_each(*pieces):
    """
    Return chunks with a reason to finish behind each, as Open WebUI sends them (1jehuang/jcode#1326).
    """
    return [chunk for piece in pieces for chunk in (piece, F())]


@pytest.mark.parametrize("end", [[F("tool_calls"), DONE], [DONE], []])
def test_a_reason_behind_each_chunk(end):
    """
    More of a part may come behind it: the input of a call was cut there, and each piece of a text was a part.
    """
    assert [("reasoning", "Let me see", FIELD), ("text", "Hello", {}), call()] == parts(
        stream(*behind_each(*BEHIND_EACH), *end)
    )


def test_the_last_reason_of_those_behind_each_chunk():
    """
    A reason that had content behind it before gives way to another one.
    """
    found = message(stream(*behind_each(T("Hel"), T("lo")), F("length"), F(), DONE))

    assert (FinishReason.LENGTH, "length") == (found.finish_reason, found.raw_finish_reason)


def test_a_cut_of_a_call_behind_a_reason():
    """
    What is open behind a reason to finish is whole when the connection is lost, but for an input that is not.
    """
    decoder = DIALECT.decoder("a1")
    decoder.feed(stream(*behind_each(T("Hello"), J('{"a"', id="c", name="f"))))
    decoder.close(DIALECT.decoder("a2").interruption())
    text, made = decoder.message.parts

    assert (PartStatus.COMPLETED, CallStatus.FAILED) == (text.status, made.status)


def test_a_null_as_a_text():
    """
    KoboldCpp and workflows of Xunfei write it with each delta: it ends neither a text nor the input of a call.
    """
    pieces = [T("Hel"), T("lo"), J("{", id="call_00001", name="f"), J('"a":1}')]
    for each in pieces:
        each["choices"][0]["finish_reason"] = "null"

    body = stream(*pieces, F("tool_calls"), DONE)

    assert [("text", "Hello", {}), call()] == parts(body)
    assert {} == message(body).details
    assert ErrorKind.INTERRUPTED == message(stream(*pieces[:2])).error.kind


HELPED = {"name": "f", "arguments": '{"a":1}', "parsed_arguments": {"a": 1}}


def test_what_the_helper_of_openai_has_derived():
    """
    Its parsed texts and inputs are in its objects alone: the service refuses them (openai-python#2720).
    """
    calls = [{"id": "call_00001", "type": "function", "function": HELPED}]
    found = message(document("tool_calls", content='{"b":2}', parsed={"b": 2}, tool_calls=calls))

    assert [{}, {}] == [thaw(part.state) for part in found.parts]
    assert {} == thaw(found.details)


def test_events_of_the_helper_of_openai():
    """
    Each chunk is in one of them, and the others, which it has derived, have nothing more.
    """
    decoder = DIALECT.decoder("a1")
    for each in (T("Hel"), T("lo"), F()):
        text = "".join(choice["delta"].get("content", "") for choice in each["choices"])
        decoder.feed_event({"type": "chunk", "chunk": each, "snapshot": document(content=text)})
        decoder.feed_event({"type": "content.delta", "delta": text, "snapshot": text, "parsed": None})
        decoder.feed_event({"type": "tool_calls.function.arguments.done", "index": 0, "name": "f", "arguments": ""})
    decoder.close()

    assert ("Hello", "stop", []) == (decoder.message.text, decoder.message.finish_reason, decoder.notes)


def test_events_of_the_client_of_mistral():
    """
    Each holds a chunk (`CompletionEvent` of mistralai).
    """
    decoder = DIALECT.decoder("a1")
    for each in (T("Hel"), T("lo"), F()):
        decoder.feed_event({"data": each})
    decoder.close()

    assert ("Hello", "stop", []) == (decoder.message.text, decoder.message.finish_reason, decoder.notes)


def test_chunks_of_aiml_api():
    """
    Its streams of Claude have each chunk in an envelope, with the state of its own billing beside it.
    """
    decoder = DIALECT.decoder("a1")
    for each in (T("Hel"), T("lo"), F()):
        decoder.feed_event({"event": each, "state": {"generationId": "gen_1", "usage": {}}})
    decoder.close()

    assert ("Hello", "stop", []) == (decoder.message.text, decoder.message.finish_reason, decoder.notes)


def test_notes():
    """
    What was not used is noted: another choice, and an event that is not a chunk.
    """
    decoder = DIALECT.decoder("a1")
    decoder.feed(SAMPLES["other choices"] + b"")
    other = DIALECT.decoder("a1")
    other.feed(stream({"weather": "fine"}))
    waiting = DIALECT.decoder("a1")
    waiting.feed(SAMPLES["keepalive"])

    assert [] == list(waiting.notes)
    assert ["other-choice"] == [note.code for note in decoder.notes]
    assert ["unknown-event"] == [note.code for note in other.notes]


def test_many_equal_frames_take_the_fast_path():
    """
    Text, reasoning and input of many frames give the same events as without the fast path.
    """
    body = stream(
        *[R(f"r{at}") for at in range(9)],
        *[T(f"t{at}") for at in range(9)],
        J("", 0, "c0", "f"),
        *[J(f"{at}", 0) for at in range(9)],
        J("", 1, "c1", "f"),
        *[J(f"{at}", 1) for at in range(9)],
        F(),
        DONE,
    )
    plain = DIALECT.decoder("a1")
    plain.fast = False

    assert plain.feed(body) + plain.close() == events(body)
    assert ["012345678", "012345678"] == [each.raw_input for each in message(body).tool_calls]


def test_comments_between_chunks():
    """
    What OpenRouter sends to keep the connection open is passed over, also before the first chunk.
    """
    waiting = b": OPENROUTER PROCESSING\n\n"
    body = waiting + stream(T("Hel")) + waiting * 2 + stream(T("lo"), F(), DONE)

    assert [("text", "Hello", {})] == parts(body)


@pytest.mark.parametrize(
    "pieces", [("<thi", "nk>Hm</think>Yes."), ("Hm</think>", "Yes.")], ids=["whole", "without a start"]
)
def test_tags_of_reasoning_stay_in_the_text(pieces):
    """
    Tags that a local model writes into its text are text: only its template knows what they mean.
    """
    assert [("text", "".join(pieces), {})] == parts(answer(*map(T, pieces)))


def test_fields_of_a_chunk_that_are_named_like_its_parts():
    """
    They replace nothing, and do not fail the answer.
    """
    body = answer(D(content="a", chunk={"choice": [1], "message": "x"}), T("b"))

    assert "ab" == message(body).text


@pytest.mark.parametrize(
    "chunk",
    [
        lambda at: {"id": f"c-{at}", "choices": [{"index": 0, "delta": {"content": f"t{at}"}}]},
        lambda at: {"id": "c-1", "object": "text_completion", "choices": [{"index": 0, "text": f"t{at}"}]},
        lambda at: {
            "id": "c-1",
            "choices": [
                {
                    "index": 0,
                    "delta": {
                        "tool_calls": [{"index": 0, "id": "call_1", "function": {"name": "f", "arguments": f"t{at}"}}]
                    },
                }
            ],
        },
        lambda at: D(
            content=None,
            reasoning_content=f"t{at}",
            choice={"matched_stop": None, "logprobs": None},
            hidden_states=None,
        ),
        lambda at: D(content=f"t{at}", extra_fields=None, **NOTHING),
        lambda at: D(
            content=f"t{at}", name="MiniMax AI", audio_content="", chunk={"input_sensitive": False, "usage": None}
        ),
        lambda at: D(
            content=f"t{at}",
            choice={"message": {"role": "assistant", "content": "so far… " * at}},
            chunk={
                "citations": ["https://a.example"],
                "search_results": [{"title": "A", "snippet": "s" * 5000}],
                "usage": {"prompt_tokens": 1, "completion_tokens": at, "total_tokens": 1 + at},
            },
        ),
        lambda at: D(
            content=f"t{at}",
            choice={"message": {"content": f"t{at}", "graph_data": None}, "trace_details": None},
            graph_data={"sources": None, "status": None},
            llm_data=None,
            image_data=None,
            translation_data=None,
            web_search_data=None,
        ),
    ],
    ids=[
        "another id in each chunk",
        "legacy completion",
        "id of the call in each chunk",
        "SGLang",
        "Tencent",
        "MiniMax",
        "Perplexity",
        "Writer",
    ],
)
def test_frames_that_take_the_fast_path(chunk, monkeypatch):
    """
    Frames that differ in their text, and in what means nothing, are not decoded one by one.
    """
    decoded = []
    on_event = OpenAIChatDecoder.on_event
    monkeypatch.setattr(
        OpenAIChatDecoder, "on_event", lambda self, event: (decoded.append(event), on_event(self, event))
    )
    last = {"id": "c-1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    body = stream(*map(chunk, range(50)), last, DONE)
    plain = DIALECT.decoder("a1")
    plain.fast = False
    expected = plain.feed(body) + plain.close()
    decoded.clear()

    assert expected == events(body)
    assert len(decoded) <= 5


def test_facts_that_change_on_the_fast_path():
    """
    A fact that has an earlier value again counts again, also in frames like those before.
    """
    safe, unsafe = [{"content_filter_results": {"hate": {"severity": word}}} for word in ("safe", "low")]
    body = stream(
        *[D(content=f"a{at}", choice=safe) for at in range(9)],
        D(content="b", choice=unsafe),
        *[D(content=f"c{at}", choice=safe) for at in range(9)],
        F(),
        DONE,
    )

    assert "safe" == message(body).details["choice"]["content_filter_results"]["hate"]["severity"]


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("damage", [b"\xff", b"\t", rb"\ud83d"], ids=["no UTF-8", "a control character", "half a pair"])
def test_a_damaged_repetition_of_the_text(damage, fast):
    """
    A chunk counts with its own text and usage, whatever is in the text so far (as Perplexity sends it).
    """
    decoder = DIALECT.decoder("a1")
    decoder.fast = fast
    for at in range(9):
        usage = {"prompt_tokens": 1, "completion_tokens": at, "total_tokens": 1 + at}
        frame = D(content="a", choice={"message": {"content": "so far DAMAGE"}}, chunk={"usage": usage})
        decoder.feed(stream(frame).replace(b"DAMAGE", b"" if at < 8 else damage))
    decoder.feed(stream(F(), DONE))

    assert ("a" * 9, 8, []) == (decoder.message.text, decoder.message.usage.output_tokens, decoder.notes)


@pytest.mark.parametrize("fast", [True, False])
def test_citations_of_a_delta(fast):
    """
    Those beside the text are added up, as the official client adds arrays; those of the chunk are all so far.
    """
    decoder = DIALECT.decoder("a1")
    decoder.fast = fast
    frames = [D(content="a", citations=[each], chunk={"citations": ["v"]}) for each in "abbbbbbbb"]
    decoder.feed(stream(*frames, F(), DONE))
    details = decoder.message.details

    assert (tuple("abbbbbbbb"), ("v",)) == (details["message"]["citations"], details["citations"])


def test_ids_that_are_repeated_on_the_fast_path():
    """
    Frames that repeat the id of their call are of no other call, though it has their index.
    """
    body = stream(
        *[J("a", 0, "call_00001", "f") for _ in range(9)],
        *[J("b", 0, "call_00002", "f") for _ in range(2)],
        *[J("c", 0, "call_00001", "f") for _ in range(9)],
        F(),
        DONE,
    )

    assert ["a" * 9, "bb", "c" * 9] == [call.raw_input for call in message(body).tool_calls]


@pytest.mark.parametrize("fast", [True, False])
def test_two_calls_in_one_frame_on_the_fast_path(fast):
    """
    Pieces behind a frame with pieces of both calls go to their own one.
    """
    pair = [{"index": at, "function": {"arguments": text}} for at, text in enumerate(("-", "-"))]
    decoder = DIALECT.decoder("a1")
    decoder.fast = fast
    found = decoder.feed(
        stream(
            *[J("", at, f"call_{at}", name) for at, name in enumerate(("f", "g"))],
            *[J(str(at), at % 2) for at in range(8)],
            D(tool_calls=pair),
            *[J(str(at), at % 2) for at in range(8)],
            F("tool_calls"),
            DONE,
        )
    )

    assert ["0246-0246", "1357-1357"] == [part.raw_input for part in fold(found).last.tool_calls]


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize(("index", "ident"), [(None, None), (0, None), (0, "")])
def test_calls_of_one_name_on_the_fast_path(index, ident, fast):
    """
    Without an id each name is another call, however many chunks are alike (hermes-agent, pull request 67507).
    """
    decoder = DIALECT.decoder("a1")
    decoder.fast = fast
    found = decoder.feed(stream(*[J('{"a":1}', index, ident, "f")] * 9, F("tool_calls"), DONE))

    assert ['{"a":1}'] * 9 == [part.raw_input for part in fold(found).last.tool_calls]


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("place", [{}, {"index": 0}])
@pytest.mark.parametrize("field", ["thinking_blocks", "reasoning_details"])
def test_signed_texts_on_the_fast_path(field, place, fast):
    """
    Each is a reasoning of its own, though their frames are alike.
    """
    decoder = DIALECT.decoder("a1")
    decoder.fast = fast
    frames = [D(**{field: [{"type": "thinking", "thinking": text, "signature": "S", **place}]}) for text in "abcdefgh"]
    found = decoder.feed(stream(*frames, F(), DONE))

    assert [*"abcdefgh"] == [part.text for part in fold(found).last.parts]


@pytest.mark.parametrize("fast", [True, False])
def test_a_thought_that_ends_in_its_frame_on_the_fast_path(fast):
    """
    Thinking behind another item of an array begins anew.
    """
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "a"}]}
    frames = [[thinking]] * 6 + [[thinking, {"type": "reference", "reference_ids": [1]}]] + [[thinking]] * 6
    decoder = DIALECT.decoder("a1")
    decoder.fast = fast
    found = decoder.feed(stream(*[D(content=each) for each in frames], F(), DONE))

    assert ["aaaaaaa", None, "aaaaaa"] == [getattr(part, "text", None) for part in fold(found).last.parts]


def test_two_texts_in_one_frame_on_the_fast_path():
    """
    A frame with reasoning beside its text has both, also when its reasoning is always the same.
    """
    body = stream(*[D(reasoning="r", content=f"{at}") for at in range(9)], F(), DONE)
    found = message(body)

    assert ("r" * 9, "012345678") == (found.reasoning, found.text)


def test_an_id_after_a_call_without_one():
    """
    Without indexes, a call with a name and an id is not the one before it that has none.
    """
    calls = message(answer(J("{}", None, None, "f"), J('{"a":1}', None, "call_00001", "g"))).tool_calls

    assert [("f", {}), ("g", {"a": 1})] == [(each.name, thaw(each.input)) for each in calls]


def test_a_part_of_a_document():
    """
    An answer in one document may come in a stream with other servers' events; a choice without anything is not one.
    """
    body = stream({**HEAD, "choices": [{"index": 0}]}, T("a"), F(), DONE)

    assert [("text", "a", {})] == parts(body)


def test_an_error_without_an_object_of_its_own():
    """
    vLLM wrote errors whose fields are those of the frame.
    """
    error = {"object": "error", "message": "too long", "type": "BadRequestError", "param": None, "code": 400}
    found = message(stream(T("a"), error))

    assert ("a", "too long", 400) == (found.text, found.error.message, found.error.status)


def test_another_name_behind_a_call_without_an_id():
    """
    Behind a whole input another name begins a call, whatever its id.
    """
    calls = message(answer(J('{"a":1}', name="f"), J('{"b":1}', id="c2", name="g"))).tool_calls

    assert [("f", {"a": 1}), ("g", {"b": 1})] == [(each.name, thaw(each.input)) for each in calls]


def test_free_texts_of_an_answer_that_was_cut():
    """
    The last one may be half of a text; those before it are whole.
    """

    def custom(index, name, words):
        written = {"index": index, "id": f"c{index}", "type": "custom", "custom": {"name": name, "input": words}}
        return D(tool_calls=[written])

    calls = message(answer(custom(0, "f", "one"), custom(1, "g", "two"), finish_reason="length")).tool_calls

    assert [("called", {"input": "one"}), ("failed", None)] == [(each.status, thaw(each.input)) for each in calls]


def test_a_free_text_of_two_halves():
    """
    It is a text, and not an input that came twice.
    """
    custom = {"name": "f", "input": '{"a":1}{"a":1}'}
    [found] = message(answer(D(tool_calls=[{"index": 0, "id": "c1", "type": "custom", "custom": custom}]))).tool_calls

    assert {"input": '{"a":1}{"a":1}'} == found.input


def test_empty_objects_before_an_input():
    """
    None of them is shown: the real input may follow.
    """
    body = answer(J("{}", id="c1", name="f"), J("{}"), J('{"a":1}'))

    assert ['{"a":1}'] == [event.delta for event in events(body) if event.type == "tool.input.delta"]


def test_sound_ends_with_the_answer():
    """
    What came of it is a whole medium, in the format that was asked for: no chunk has it.
    """
    body = stream(D(audio={"id": "x", "data": "AAAA"}), F(), DONE)
    [found] = message(body, request={"model": MODEL, "audio": {"voice": "alloy", "format": "wav"}}).parts

    assert ("audio/wav", PartStatus.COMPLETED, b"\0\0\0") == (found.media_type, found.status, found.data)


def test_a_refusal_that_was_cut():
    """
    The reason of the server counts, and not the refusal.
    """
    assert FinishReason.LENGTH is message(answer(D(refusal="No"), finish_reason="length")).finish_reason


def test_a_cache_beside_a_total():
    """
    What the total has beyond both sides is the cache, and not output that was not counted.
    """
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 3, "cache_creation_tokens": 2},
    }

    assert 5 == message(stream(T("a"), F(), {**HEAD, "choices": [], "usage": usage}, DONE)).usage.output_tokens


def cited_by_litellm(**source):
    """
    Return the chunk that LiteLLM makes of a `citations_delta` of Claude.
    """
    return D(content="", provider_specific_fields={"citation": source})


def test_each_source_that_litellm_has_of_claude_is_one_of_the_text():
    """
    LiteLLM sends one source with a chunk, in an object of its own; a source may be a document without an address.
    """
    page = {"type": "web_search_result_location", "url": "https://a.x/", "title": "A", "cited_text": "It rains."}
    paper = {"type": "char_location", "document_title": "B", "cited_text": "It snows.", "start_char_index": 0}
    body = answer(T("It "), cited_by_litellm(**page), T("rains or snows."), cited_by_litellm(**paper))
    found = message(body)

    [text] = found.parts
    assert text.text == "It rains or snows."
    assert text.citations == (
        Citation(url="https://a.x/", title="A", cited_text="It rains."),
        Citation(title="B", cited_text="It snows."),
    )
    assert thaw(text.state) == {"annotations": [page, paper]}
    assert thaw(found.details) == {}

    [whole] = message(
        document(content="It rains or snows.", provider_specific_fields={"citations": [[page], [paper]]})
    ).parts
    assert whole == text


def test_arrays_of_deltas_are_more_items():
    """
    As Perplexity's steps of a search, and as the official client adds deltas; an array that is sent again counts once.
    """
    one, two, three = ({"thought": each, "type": "web_search"} for each in ("one", "two", "three"))
    body = answer(
        D(reasoning_steps=[one], chunk={"object": "chat.reasoning"}),
        D(reasoning_steps=[two], chunk={"object": "chat.reasoning"}),
        D(reasoning_steps=[one, two], chunk={"object": "chat.reasoning"}),
        D(reasoning_steps=[three], chunk={"object": "chat.reasoning.done"}),
        T("Yes."),
    )

    assert thaw(message(body).details) == {"message": {"reasoning_steps": [one, two, three]}}


def test_numbers_of_tokens_are_no_facts_of_the_answer():
    """
    With `return_token_ids` each choice of vLLM has the numbers of its own tokens; the last is not all of them.
    """
    bodies = [
        answer(D(content="A", choice={"token_ids": [1]}), D(content="B", choice={"token_ids": [2]})),
        document(content="AB", token_ids=[1, 2]),
    ]

    assert [{}, {}] == [thaw(message(body).details) for body in bodies]


COPY = "\n\n__ENCRYPTED_REASONING__id=rs_1\ngAAAAABp0Q2=="


def test_an_encrypted_copy_of_a_thought():
    """
    Venice marks it; it is state of the answer, not shown, and what the model thinks behind it belongs to the thought.
    """
    marked = D(reasoning_content=COPY, reasoning_encrypted=True)
    found = message(answer(R("Plan. "), marked, R("More."), T("Done.")))

    assert [("reasoning", "Plan. More."), ("text", "Done.")] == [(part.type, part.text) for part in found.parts]
    assert ({}, COPY) == (found.details, found.state["reasoning_encrypted"])
    assert found == message(document(content="Done.", reasoning_content=f"Plan. More.{COPY}", reasoning_encrypted=True))
    written = DIALECT.emit_resource(found)["choices"][0]["message"]
    assert (f"Plan. More.{COPY}", True) == (written["reasoning_content"], written["reasoning_encrypted"])


def test_a_mark_without_an_encrypted_copy():
    """
    The thought stays.
    """
    found = message(answer(D(reasoning_content="Plan.", reasoning_encrypted=True), T("Done.")))

    assert ["Plan.", "Done."] == [part.text for part in found.parts]
    assert "reasoning_encrypted" not in found.state


def test_the_encrypted_reasoning_of_qwen():
    """
    It is state of the answer, and no fact that is shown; as the official client does, its pieces are joined.
    """
    sealed = "gAAAAABp0Q2=="
    pieces = [D(encrypted_content=sealed[:6]), D(encrypted_content=sealed[6:])]
    for wire in (pieces, [D(encrypted_content=sealed)] * 2):
        found = message(answer(R("A summary."), *wire, T("391.")))

        assert sealed == found.state["encrypted_content"]
        assert thaw(found.details) == {}
        assert found == message(document(content="391.", reasoning_content="A summary.", encrypted_content=sealed))


def test_thoughts_of_claude_at_copilot():
    """
    They may come in fields named as those of Claude (vscode-copilot-chat, `RawThinkingDelta`); none is a mere fact.
    """
    pieces = ["I ", "see", *("." * 20)]
    body = answer(*[D(thinking=each) for each in pieces], D(signature="EqQBCkgIChABGAI"), T("Yes."))
    found = message(body, provider="copilot")

    assert ["".join(pieces), "Yes."] == [part.text for part in found.parts]
    assert ({"field": "reasoning_text"}, {}) == (thaw(found.parts[0].state), thaw(found.details))
    assert "EqQBCkgIChABGAI" == found.state["signature"]
    [_, sent], _ = encoded(UserMessage(id="u1", content="Hi"), found, provider="copilot")
    assert ("".join(pieces), "EqQBCkgIChABGAI") == (sent["reasoning_text"], sent["signature"])


@pytest.mark.parametrize("field", ["reasoning_signature", "thinking_signature"])
def test_the_signature_of_a_gateway(field):
    """
    Gateways (AxonHub, llm-connector) have the signature of Claude beside its thoughts: it is state, and sent back.
    """
    found = message(answer(R("I see."), D(**{field: "EqQBCkgIChABGAI"}), T("Yes.")), provider="axonhub")

    assert ("EqQBCkgIChABGAI", {}) == (found.state[field], thaw(found.details))
    [_, sent], _ = encoded(UserMessage(id="u1", content="Hi"), found, provider="axonhub")
    assert "EqQBCkgIChABGAI" == sent[field]


def test_a_chunk_that_keeps_the_connection_open():
    """
    The first one of oMLX (its #1478) has neither the id nor the model of the answer.
    """
    first = {**D(content=""), "id": "chatcmpl-keepalive", "model": "keepalive", "created": 0}
    body = answer(T("Yes."))

    assert message(body) == message(stream(first) + body)
