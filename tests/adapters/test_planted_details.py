"""
`check_adapter` finds faults in what is beside the texts: counts, flags, words, types, numbers and headers.

Each is in an adapter that is sound otherwise.
"""

import attrs
import pytest

from assistant_events import ErrorKind, FinishReason
from assistant_events.adapters import load_dialect
from assistant_events.adapters.anthropic_messages import AnthropicMessagesDecoder
from assistant_events.adapters.bedrock_converse.encoder import BedrockConverseEncoder
from assistant_events.adapters.gemini_generate_content.encoder import GeminiGenerateContentEncoder
from assistant_events.adapters.gemini_interactions.encoder import GeminiInteractionsEncoder
from assistant_events.adapters.json_fields import mapping
from assistant_events.adapters.openai_chat import OpenAIChatEmitter
from assistant_events.testing import check_adapter
from tests.fuzz.seeds import samples

from .anthropic_messages.notation import DIALECT
from .bedrock_converse.notation import REQUEST
from .test_planted_faults import each_block
from .test_planted_habits import changing
from .test_planted_pairs import counting

TWO = "two thoughts and two searches"
MESSAGES, CONVERSE, GENERATE = "anthropic-messages", "bedrock-converse", "gemini-generate-content"
INTERACTIONS, CHAT, RESPONSES = "gemini-interactions", "openai-chat", "openai-responses"


def check(name, streams, **changes):
    """
    Try some samples of a dialect with something in place of its own; without a change they are sound.
    """
    sound = load_dialect(name)
    policy = {"policy": sound.policy} if "encoder" in changes else {}
    bodies = {each: samples(name)[each].body for each in streams}
    request = REQUEST if name == CONVERSE else None
    check_adapter(attrs.evolve(sound, **policy, **changes), bodies, request=request, mutations=0, every_position=0)


def planted(name, **methods):
    """
    Return a decoder of a dialect with methods in place of its own.
    """
    return {"decoder": type("Planted", (load_dialect(name).decoder,), methods)}


def ending(word, reason):
    """
    Return the end of a step for which one word has another reason.
    """

    def finish_step(self, finish_reason, raw=None, **more):
        super(type(self), self).finish_step(reason if raw == word else finish_reason, raw, **more)

    return {"finish_step": finish_step}


def with_input(count):
    return {"decoder": counting(lambda usage: attrs.evolve(usage, input_tokens=count))}


def with_table(name, **changes):
    """
    Return a decoder that reads the usage by another table.
    """
    return planted(name, usage_table=attrs.evolve(load_dialect(name).decoder.usage_table, **changes))


def knows_search_alone(self, block, fields, state):
    is_known = block.kind == "web_search_tool_result"
    return is_known and AnthropicMessagesDecoder._on_result(self, block, fields, state)


def flagging(is_error):
    """
    Return the reading of results with another flag of a failure.
    """

    def _on_result(self, block, fields, state):
        return AnthropicMessagesDecoder._on_result(self, block, {**fields, "is_error": is_error(fields)}, state)

    return planted(MESSAGES, _on_result=_on_result)


def as_jpeg(self):
    super(type(self), self).on_begin()
    media = self.recorder.media
    self.recorder.media = lambda data, kind, **more: media(data, "image/jpeg", **more)


def without_places(self):
    super(type(self), self).on_begin()
    keep = self.recorder.keep

    def kept(key, state=(), citations=(), details=None):
        cited = [attrs.evolve(each, start=None, end=None) for each in citations[:1]] + [*citations[1:]]
        return keep(key, state or {}, cited, details or {})

    self.recorder.keep = kept


def ends_other_calls(self, index, role, fields=()):
    self._end(self._latest)
    return super(type(self), self)._open(index, role, dict(fields))


def never_fails(self, error, **more):
    if error.code == "error":
        self.finish_step(FinishReason.OTHER, "error")
    else:
        super(type(self), self).fail_step(error, **more)


def on_one_text(self):
    """
    End a text only with the answer.
    """
    if self._is_finished or self._reason:
        super(type(self), self)._end_text()


def first_answers(event):
    """
    Take each of several answers for the first one.
    """
    return {**event, "candidates": [{**each, "index": 0} for each in event.get("candidates", ())]}


def without_empty_outputs(event):
    def filled(tool):
        is_empty = tool.get("output") == ""
        return {key: value for key, value in tool.items() if not is_empty or key not in ("output", "search_results")}

    changed = [
        {**each, "delta": {**each["delta"], "executed_tools": list(map(filled, each["delta"]["executed_tools"]))}}
        if mapping(each, "delta").get("executed_tools")
        else each
        for each in event.get("choices", ())
    ]
    return {**event, "choices": changed} if "choices" in event else event


DECODERS = {
    "a side without what was written to a cache": (
        (MESSAGES, [TWO], with_input(126)),
        "usage.input_tokens is the sum 126, and 151 of them were read from a cache or written to one",
    ),
    "thoughts that no side has": (
        (GENERATE, [TWO], with_table(GENERATE, apart={"input_tokens": ("toolUsePromptTokenCount",)})),
        r"the usage has 19 and 8 tokens, and a total of 30 with \['thoughtsTokenCount'\]",
    ),
    "the output that is the thoughts": (
        (
            RESPONSES,
            ["text"],
            with_table(
                RESPONSES,
                counts={
                    **load_dialect(RESPONSES).decoder.usage_table.counts,
                    "output_tokens": "output_tokens_details.reasoning_tokens",
                },
            ),
        ),
        "usage.output_tokens is 4, which is only in fields of other counts",
    ),
    "a stop of another kind": (
        (MESSAGES, [TWO], planted(MESSAGES, **ending("stop_sequence", FinishReason.OTHER))),
        "ended with 'stop_sequence', and has the finish reason 'other'",
    ),
    "a length that no sample has": (
        (GENERATE, ["text", "blocked in the middle"], planted(GENERATE, **ending("MAX_TOKENS", FinishReason.STOP))),
        "an answer that ended with 'MAX_TOKENS', in place of 'STOP', has the finish reason 'stop'",
    ),
    "a length of another kind": (
        (RESPONSES, ["cut arguments"], planted(RESPONSES, **ending("incomplete", FinishReason.OTHER))),
        r"a frame has the reason \['max_output_tokens'\], and message 'a1' the finish reason 'other'",
    ),
    "an error that is an end": (
        (CHAT, ["error as a reason"], planted(CHAT, fail_step=never_fails)),
        "ended with 'error', and has not failed",
    ),
    "results of one tool alone": (
        (MESSAGES, [TWO], planted(MESSAGES, _on_result=knows_search_alone)),
        "the call with the id 'mcptoolu_1', which the provider runs, has no result, although a frame has one",
    ),
    "one failure of two": (
        (MESSAGES, ["mcp", TWO], flagging(lambda fields: False)),
        "is_error of the frame at byte .* is true, and neither|'mcptoolu_1', .* has not failed, and the flag",
    ),
    "a success that has failed": (
        (MESSAGES, ["mcp"], flagging(lambda fields: "is_error" in fields)),
        "'mcptoolu_1', which the provider runs, has failed, and the flag of its result is another one",
    ),
    "media of another type": (
        (CONVERSE, ["image"], planted(CONVERSE, on_begin=as_jpeg)),
        r"media have the type 'image/jpeg', and the frames name \['png'\]",
    ),
    "a model that is not that of the request": (
        (CONVERSE, ["plain text"], planted(CONVERSE, requested_model=lambda self: None)),
        "an answer is of the model None, and the request names",
    ),
    "calls that end with the next one": (
        (CONVERSE, ["parallel calls", "overlapping"], planted(CONVERSE, _open=ends_other_calls)),
        "parallel calls: with mixed frames of the items 1 and 2 the calls are",
    ),
    "several answers in one": (
        (GENERATE, ["text"], {"decoder": changing(GENERATE, first_answers)}),
        "text: with a second answer beside it, whose index is 1, the answer is",
    ),
    "texts that are joined around a call": (
        (GENERATE, ["text"], planted(GENERATE, _end_text=on_one_text)),
        "a call between two texts: its stream is read as",
    ),
    "a place of a text that is not ASCII": (
        (GENERATE, ["grounding"], planted(GENERATE, on_begin=without_places)),
        "the text 'Ça va là.', to which a source of the frame at byte .* belongs, is at 0, and citations are at",
    ),
    "empty results that are none": (
        (CHAT, ["executed tool"], {"decoder": changing(CHAT, without_empty_outputs)}),
        r"with an empty text in place of 'Title: found' the calls \['search'\] have no result",
    ),
}


UNWRITTEN = {"emitter": None, "emit_resource": None}
"""Without what would be read by the planted decoder, and find it first."""


@pytest.mark.parametrize(("planted_in", "sentence"), DECODERS.values(), ids=DECODERS.keys())
def test_each_detail_of_a_decoder_is_found(planted_in, sentence):
    """
    The sentence names what the events have, and what the frames have.
    """
    name, streams, changes = planted_in
    with pytest.raises(AssertionError, match=sentence):
        check(name, streams, **{**({} if "stream is read" in sentence else UNWRITTEN), **changes})


def changed_error(change):
    """
    Return a reader of HTTP errors that changes something.
    """
    return lambda status, headers, body: change(DIALECT.http_error(status, headers, body), headers)


def as_invalid(error, headers):
    is_billing = error.code == "billing_error"
    return attrs.evolve(error, kind=ErrorKind.INVALID_REQUEST, retryable=None) if is_billing else error


def in_seconds(error, headers):
    wait = headers.get("retry-after-ms")
    return error if wait is None else attrs.evolve(error, retry_after_s=float(wait))


class MarksSuccess(BedrockConverseEncoder):
    def result_item(self, call, content, *, failed):
        item = super().result_item(call, content, failed=failed)
        for block in item["content"] if failed else ():
            block["toolResult"]["status"] = "success"
        return item


class MarksNothing(GeminiInteractionsEncoder):
    def result_item(self, call, content, *, failed):
        return super().result_item(call, content, failed=False)


class NamesNoCall(GeminiGenerateContentEncoder):
    def result_item(self, call, content, *, failed):
        item = super().result_item(call, content, failed=failed)
        for part in item["parts"]:
            part["functionResponse"].pop("id", None)
        return item


class NumbersNothing(OpenAIChatEmitter):
    def index_of(self, key):
        return 0


def trimmed_results(message):
    document = load_dialect(CHAT).emit_resource(message)
    for choice in document.get("choices", ()):
        for tool in choice["message"].get("executed_tools", ()):
            tool["output"] = tool["output"].strip()
    return document


class RepeatsItsNumber(load_dialect(RESPONSES).emitter):
    def _frame(self, name, **fields):
        self.write({"type": f"response.{name}", "sequence_number": 0, **fields})


def exchanged_results(message):
    """
    Write the signature of each result of a search with the other one.
    """
    document = load_dialect(INTERACTIONS).emit_resource(message)
    results = [each for each in document.get("steps", ()) if each["type"] == "google_search_result"]
    for each, seal in zip(results, [each["signature"] for each in reversed(results)], strict=True):
        each["signature"] = seal
    return document


def in_png(block):
    source = block.get("source") or {}
    return [{**block, "source": {**source, "media_type": "image/png"}} if source.get("data") else block]


def sorted_input(block):
    return [{**block, "input": dict(sorted(block["input"].items()))} if "input" in block else block]


WAYS_BACK = {
    "a photo of another type": (
        (MESSAGES, [TWO], {"encoder": each_block(in_png)}),
        "history with a prompt of a photo alone: the prompt .*image/jpeg.* is neither sent nor reported",
    ),
    "keys in another order": (
        (MESSAGES, ["parallel calls"], {"encoder": each_block(sorted_input)}),
        r"is in the request with its keys in the order \['a', 'b', 'l', 'n', 'z'\]",
    ),
    "failures that are called a success": (
        (CONVERSE, ["parallel calls"], {"encoder": MarksSuccess.encode}),
        "a request calls a success what has failed",
    ),
    "failures beside an input that is broken": (
        (INTERACTIONS, ["parallel calls"], {"encoder": MarksNothing.encode}),
        "parallel calls: a request has failed calls as if they had succeeded",
    ),
    "results without the ids of two calls": (
        (GENERATE, [TWO], {"encoder": NamesNoCall.encode}),
        "the result of call 'fc1' is in the request without the id that its call has there",
    ),
    "one number for all calls": (
        (CHAT, ["two thoughts and two calls"], {"emitter": NumbersNothing}),
        "in the emitter's stream the calls 'call_00000' and 'call_00001' have the same number",
    ),
    "results without their blanks": (
        (CHAT, ["two executed tools"], {"emit_resource": trimmed_results}),
        "two executed tools: read from its document the answer has other results of the provider",
    ),
    "one number for all frames": (
        (RESPONSES, ["text"], {"emitter": RepeatsItsNumber}),
        "written by the emitter|in the emitter's stream frames have the same sequence_number",
    ),
    "signatures of other results": (
        (INTERACTIONS, [TWO], {"emit_resource": exchanged_results}),
        "in the document 'c2ln.*', state of part 1 of 'a1', is beside part 2 of 'a1'",
    ),
    "money that is an invalid request": (
        (MESSAGES, [TWO], {"http_error": changed_error(as_invalid)}),
        "the error of a body with the type 'billing_error' is of kind 'invalid-request', expected overloaded or",
    ),
    "milliseconds that are seconds": (
        (MESSAGES, [TWO], {"http_error": changed_error(in_seconds)}),
        r"http_error\(429, .*retry-after-ms.* may be retried after 7000.0 s, not 7.0 s",
    ),
}


@pytest.mark.parametrize(("planted_in", "sentence"), WAYS_BACK.values(), ids=WAYS_BACK.keys())
def test_each_detail_on_the_way_back_is_found(planted_in, sentence):
    """
    So are those of what makes requests, streams, documents and errors.
    """
    name, streams, changes = planted_in
    with pytest.raises(AssertionError, match=sentence):
        check(name, streams, **changes)
