"""
`check_adapter` finds the faults that a trial of several dialects planted, each in an adapter that is sound otherwise.
"""

import json
import re
from functools import partial

import attrs
import pytest

from assistant_events import AssistantMessage, ErrorInfo, FinishReason, OpaqueReceived
from assistant_events.adapters import AwsChunkStream, Sse, load_dialect
from assistant_events.adapters.anthropic_messages import AnthropicMessagesDecoder, AnthropicMessagesEmitter
from assistant_events.adapters.anthropic_messages.encoder import AnthropicMessagesEncoder
from assistant_events.history import Drop, DropReason
from assistant_events.testing import check_adapter
from tests.fuzz.seeds import samples

from .anthropic_messages.notation import DIALECT, END, B, C, E, H, J, K, M, S, T, X, answer, stream, text, tool
from .anthropic_messages.samples import CITED, SEARCH, SERVER
from .openai_chat.samples import SAMPLES as CHAT_SAMPLES

SIGNATURE = "c2lnbmF0dXJl" * 10

UNAVAILABLE = {"type": "web_search_tool_result_error", "error_code": "unavailable"}

SAMPLES = {
    "thinking": answer(
        *(B(0, "thinking", thinking="", signature=""), H(0, "Let me"), H(0, " look"), S(0, SIGNATURE), X(0)),
        *text(1, "Yes."),
        *(B(2, "text", text=""), T(2, "It is"), T(2, " so"), T(2, " everywhere"), X(2)),
    ),
    "citations": answer(
        *tool(0, input='{"query":"q"}', **SERVER),
        *(B(1, "web_search_tool_result", tool_use_id="srvtoolu_1", content=SEARCH), X(1)),
        *(
            B(2, "text", text="", citations=[]),
            T(2, "cited"),
            C(2, **{**CITED, "cited_text": "what it says", "encrypted_index": "RW5jcnlwdGVkLWluZGV4"}),
            X(2),
        ),
        *text(3, "And more."),
    ),
    "parallel calls": answer(
        *(B(0, "tool_use", id="toolu_first", name="look_up", input={}), J(0, '{"a" : 1, '), J(0, '"b": 2}'), X(0)),
        *tool(1, "toolu_second", "g", '{ "city":  "Bonn" }'),
        stop_reason="tool_use",
    ),
    "error": stream(M(), B(0, "text", text=""), T(0, "He"), T(0, "re"), E(message="Overloaded, come back later")),
    "compaction": answer(
        B(0, "compaction", content=None),
        {"type": "content_block_delta", "index": 0, "delta": {"type": "compaction_delta", "content": "It was long."}},
        X(0),
        *text(1, "Go on."),
    ),
    "refusal": stream(M(), *text(0, "Well"), K("refusal"), END),
    "length": stream(M(usage={"input_tokens": 431}), *text(0, "On and"), K("max_tokens", {"output_tokens": 977}), END),
    "a failed search": answer(
        *tool(0, input='{"query":"q"}', **SERVER),
        B(1, "web_search_tool_result", tool_use_id="srvtoolu_1", content=UNAVAILABLE),
        X(1),
        *text(2, "Nothing was found."),
    ),
    "usage on the way": stream(
        M(usage={"input_tokens": 431, "output_tokens": 7}), *text(0, "On"), K(usage={"output_tokens": 977}), END
    ),
    "items in turn": answer(
        *(B(0, "thinking", thinking="", signature=""), H(0, "First"), B(1, "text", text=""), T(1, "Both")),
        *(H(0, " this"), X(0), T(1, " of it"), X(1)),
    ),
}


def plant(name, method, changed):
    """
    Return the decoder with one method in place of its own.
    """
    return type(name, (AnthropicMessagesDecoder,), {method: changed})


def without(kind, field):
    """
    Return `on_event` for which a field of one type of delta never comes.
    """

    def on_event(self, event):
        delta = event.get("delta")
        if isinstance(delta, dict) and delta.get("type") == kind:
            event = {**event, "delta": {**delta, field: self.spoilt(delta.get(field))}}
        AnthropicMessagesDecoder.on_event(self, event)

    return on_event


def spoiling(kind, field, spoilt):
    decoder = plant("Spoils", "on_event", without(kind, field))
    decoder.spoilt = staticmethod(spoilt)
    return decoder


class LosesTheLastDelta(AnthropicMessagesDecoder):
    held = None

    def _add(self, block, text):
        held, self.held = self.held, (block, text)
        if held is not None:
            super()._add(*held)


class SaysLessAtTheEnd(AnthropicMessagesDecoder):
    def feed(self, data):
        return [
            attrs.evolve(event, text=event.text[:-1]) if event.type == "text.ended" else event
            for event in super().feed(data)
        ]


class GivesOneIdToAllCalls(AnthropicMessagesDecoder):
    def _on_start(self, index, fields):
        super()._on_start(index, {**fields, "id": "toolu_0"} if fields.get("type") == "tool_use" else fields)


class ShortensIds(AnthropicMessagesDecoder):
    def _on_start(self, index, fields):
        super()._on_start(index, {**fields, "id": fields["id"][:-1]} if fields.get("type") == "tool_use" else fields)


class SignsTheNextPart(AnthropicMessagesDecoder):
    signature = None

    def _on_delta(self, event, delta):
        if delta.get("type") == "signature_delta":
            self.signature = delta["signature"]
            return
        super()._on_delta(event, delta)

    def _on_start(self, index, fields):
        signature, self.signature = self.signature, None
        super()._on_start(index, {**fields, "signature": signature} if signature else fields)


class CitesTheNextText(AnthropicMessagesDecoder):
    cited = ()

    def _on_delta(self, event, delta):
        if delta.get("type") == "citations_delta":
            self.cited = (*self.cited, delta["citation"])
            return
        super()._on_delta(event, delta)

    def _on_start(self, index, fields):
        if fields.get("type") == "text" and self.cited:
            fields, self.cited = {**fields, "citations": list(self.cited)}, ()
        super()._on_start(index, fields)


class AddsUsage(AnthropicMessagesDecoder):
    def on_event(self, event):
        before = dict(self._counts)
        super().on_event(event)
        if event.get("type") == "message_delta":
            self._counts["output_tokens"] = self._counts.get("output_tokens", 0) + before.get("output_tokens", 0)


class SwallowsErrors(AnthropicMessagesDecoder):
    def fail_step(self, error, **more):
        super().fail_step(ErrorInfo(kind="provider", message="something went wrong"), **more)


class EndsErrorsAsIfAllWereWell(AnthropicMessagesDecoder):
    def on_event(self, event):
        super().on_event({"type": "message_stop"} if event.get("type") == "error" else event)


class JoinsItsTextAgainAndAgain(AnthropicMessagesDecoder):
    whole = ""

    def _add(self, block, text):
        self.whole = f"{self.whole}{text}"
        super()._add(block, text)


class JoinsItsThoughtsAgainAndAgain(JoinsItsTextAgainAndAgain):
    def _add(self, block, text):
        (super() if block.role == "thinking" else super(JoinsItsTextAgainAndAgain, self))._add(block, text)


class SwapsItsSides(AnthropicMessagesDecoder):
    def _usage_so_far(self, *, partial):
        usage = super()._usage_so_far(partial=partial)
        return usage and attrs.evolve(usage, input_tokens=usage.output_tokens, output_tokens=usage.input_tokens)


class ReadsItsListAgainAndAgain(AnthropicMessagesDecoder):
    def _add(self, block, text):
        self.seen = [*getattr(self, "seen", ()), text]
        sum(len(each) for each in self.seen)
        super()._add(block, text)


class RefusesWhatItDoesNotKnow(AnthropicMessagesDecoder):
    def on_event(self, event):
        if event.get("type") == "x-check":
            raise ValueError(event["type"])
        super().on_event(event)


class ReadsItsStartsAgainAndAgain(AnthropicMessagesDecoder):
    def _on_start(self, index, fields):
        self.started = [*getattr(self, "started", ()), index]
        sum(each is None for each in self.started)
        super()._on_start(index, fields)


class DropsWhatItDoesNotKnow(AnthropicMessagesDecoder):
    def feed(self, data):
        return [event for event in super().feed(data) if not isinstance(event, OpaqueReceived)]


class AlwaysEndsItsTurn(AnthropicMessagesDecoder):
    def finish_step(self, finish_reason, raw_finish_reason=None, **more):
        super().finish_step("stop", "end_turn", **more)


class SharesItsCounts(AnthropicMessagesDecoder):
    counts = {}  # noqa: RUF012 - the fault

    def on_begin(self):
        super().on_begin()
        self._counts = self.counts

    def on_event(self, event):
        if event.get("type") == "message_start":
            self.counts.clear()
        super().on_event(event)


class SharesItsSignature(AnthropicMessagesDecoder):
    signed = {}  # noqa: RUF012 - the fault

    def _on_delta(self, event, delta):
        if delta.get("type") == "signature_delta":
            self.signed["signature"] = delta["signature"]
            return
        super()._on_delta(event, delta)

    def _on_stop(self, block):
        if block is not None and block.role == "thinking":
            super()._on_delta({"index": 0}, {"type": "signature_delta", "signature": self.signed["signature"]})
        super()._on_stop(block)


class ForgetsNothing(AnthropicMessagesDecoder):
    words = 0

    def _add(self, block, text):
        self.words += 1
        super()._add(block, f"{text}{'!' if self.words > 12 else ''}")


class LosesCitations(AnthropicMessagesDecoder):
    def on_begin(self):
        super().on_begin()
        keep = self.recorder.keep
        self.recorder.keep = lambda key, state, cited=(), details=None: keep(key, state, (), details or {})


class NotesWhatItForgets(AnthropicMessagesDecoder):
    def _on_delta(self, event, delta):
        if delta.get("type") == "signature_delta":
            self.note("unknown-delta", "a delta of an unknown type was left out")
        else:
            super()._on_delta(event, delta)


class ReadsWhateverHasADelta(AnthropicMessagesDecoder):
    def on_event(self, event):
        is_piece = isinstance(event.get("delta"), dict) and event["type"] != "message_delta"
        super().on_event({**event, "type": "content_block_delta"} if is_piece else event)


class JoinsBlanks(AnthropicMessagesDecoder):
    def _add(self, block, text):
        super()._add(block, re.sub(" +", " ", text) if block.role == "text" else text)


class TakesUnicodeForAscii(AnthropicMessagesDecoder):
    def _add(self, block, text):
        super()._add(block, text.replace("\\/", "/") if block.role == "call" else text)


class InventsZeros(AnthropicMessagesDecoder):
    def on_event(self, event):
        super().on_event(event)
        self._counts.setdefault("cache_read_input_tokens", 0)


class TakesAnyEndForAnEnd(AnthropicMessagesDecoder):
    def on_close(self, error):
        self.finish_step("stop", None)


class BareSse(Sse):
    def feed(self, data):
        return super().feed(data.replace(b"\r\n", b""))


class StopsWhateverWaits(AnthropicMessagesDecoder):
    def finish_reason_of(self, given, *, refused=False):
        return FinishReason.STOP


class EndsWhatIsOpen(AnthropicMessagesDecoder):
    def _on_start(self, index, fields):
        for block in self._blocks.values():
            self._on_stop(block if block.role == "call" else None)
        super()._on_start(index, fields)


class TakesErrorsForResults(AnthropicMessagesDecoder):
    def _on_start(self, index, fields):
        content = fields.get("content")
        super()._on_start(index, {**fields, "content": [content]} if isinstance(content, dict) else fields)


class TakesEveryCountForTheLast(AnthropicMessagesDecoder):
    def _usage_so_far(self, *, partial):
        return super()._usage_so_far(partial=False)


class ReadsOneKindOfLines(AnthropicMessagesDecoder):
    framing = BareSse


FAULTS = {
    "a signature that is noted and forgotten": (
        NotesWhatItForgets,
        "delta.signature is lost: .* `Dialect.dropped` does not name it, nor its note 'note:unknown-delta'",
    ),
    "blanks that are joined": (JoinsBlanks, "in delta.text of the frame at byte .* has the text"),
    "an input that is unescaped": (TakesUnicodeForAscii, "call '.*' with the input .* has the raw input"),
    "a count that nobody sent": (InventsZeros, "usage.details.cache_read_input_tokens is 0, which no frame has"),
    "a body that ends as if all were well": (
        TakesAnyEndForAnEnd,
        "without a finish reason of the provider the step is complete",
    ),
    "a stop before the app has answered": (
        StopsWhateverWaits,
        "parallel calls: message 'a1' ended with 'tool_use', which does not mean a stop",
    ),
    "one open call": (EndsWhatIsOpen, "parallel calls: with mixed frames of the items 0 and 1 the calls are"),
    "a failure that is a result": (
        TakesErrorsForResults,
        "a failed search: content_block.content.type .* neither a call nor the answer has failed",
    ),
    "counts of a cut that look like all": (TakesEveryCountForTheLast, "cut at byte .* their details have no `partial`"),
    "other line ends": (ReadsOneKindOfLines, "with line ends of CR and LF, in pieces of .* another transcript"),
    "1 a lost signature": (spoiling("signature_delta", "signature", lambda _: ""), "thinking: delta.signature is lost"),
    "1b a short signature": (
        spoiling("signature_delta", "signature", lambda text: text and text[:64]),
        "thinking: delta.signature is lost",
    ),
    "2 a lost last delta": (LosesTheLastDelta, "is lost"),
    "2b an end that says less": (SaysLessAtTheEnd, "another transcript|is lost|text"),
    "3 one id for all calls": (GivesOneIdToAllCalls, "parallel calls: content_block.id is lost"),
    "3b a short id": (ShortensIds, "parallel calls: content_block.id is lost"),
    "4 a signature in the next part": (
        SignsTheNextPart,
        "thinking: .* is in part 1 of 'a1'; part 0 of 'a1' was open",
    ),
    "5 lost citations": (spoiling("citations_delta", "citation", lambda _: {}), "citations: delta.citation"),
    "5b citations of the next text": (CitesTheNextText, "is in part|not the transcript of the uncut stream"),
    "6 added usage": (AddsUsage, r"usage.details.output_tokens is 984, which no frame has|output_tokens is lost"),
    "6b sides that are swapped": (
        SwapsItsSides,
        "thinking: usage.input_tokens is 5, which is only in fields of the other side",
    ),
    "7 a swallowed error": (SwallowsErrors, "error: error.(type|message) is lost"),
    "7b an error that is an end": (EndsErrorsAsIfAllWereWell, "error: error.type is lost"),
    "8 a text that is joined for each delta": (JoinsItsTextAgainAndAgain, "one more takes .* bytes of memory"),
    "8a thoughts that are joined for each delta": (
        JoinsItsThoughtsAgainAndAgain,
        "thinking: after 1000 frames like the one at byte .* one more takes .* bytes of memory",
    ),
    "8b a list that is read for each delta": (ReadsItsListAgainAndAgain, "one more costs .* bytecodes"),
    "8c a list that is read for each start": (ReadsItsStartsAgainAndAgain, "one more costs .* bytecodes"),
    "an event of an unknown type that raises": (
        RefusesWhatItDoesNotKnow,
        r"with a frame of an unknown type at byte .*: the adapter raised ValueError\('x-check'\)",
    ),
    "an event of an unknown type that is a text": (
        ReadsWhateverHasADelta,
        "again, whose type is 'x-check', the texts are .* a frame of an unknown type is not a text",
    ),
    "9 no opaque parts": (DropsWhatItDoesNotKnow, "compaction: delta.content is lost"),
    "10 always the same end": (AlwaysEndsItsTurn, "stop_reason is lost"),
    "11 shared counts": (
        SharesItsCounts,
        "all answers share an attribute of a class or a module; set it in `on_begin`",
    ),
    "11b a shared signature": (
        SharesItsSignature,
        "all answers share an attribute of a class or a module; set it in `on_begin` of a",
    ),
    "12 nothing forgotten": (ForgetsNothing, "not the transcript of the uncut stream"),
    "citations in state alone": (LosesCitations, "citations.* is in no citation"),
    "blanks that are left out": (
        spoiling("text_delta", "text", lambda text: text if text.strip() else ""),
        r"with '\\n  ' in delta.text of the frame at byte .* has the text ",
    ),
    "13 input that is written again": (
        spoiling("input_json_delta", "partial_json", lambda text: text and text.replace(" ", "")),
        "parallel calls: delta.partial_json is lost",
    ),
}


def test_the_sound_adapter_passes():
    """
    Without a fault nothing is found in these samples.
    """
    check_adapter(DIALECT, SAMPLES, mutations=3, every_position=0)


@pytest.mark.parametrize(("decoder", "sentence"), FAULTS.values(), ids=FAULTS.keys())
def test_each_fault_of_a_decoder_is_found(decoder, sentence):
    """
    The sentence names the stream and what is wrong, and shows the shortest input for it.
    """
    with pytest.raises(AssertionError, match=sentence) as caught:
        check_adapter(attrs.evolve(DIALECT, decoder=decoder), SAMPLES, mutations=3, every_position=0)

    assert re.search("the shortest input that fails: b|the frame is b|decoders share", str(caught.value))


def encoding(change):
    """
    Return an encoder whose requests are changed.
    """

    def encode(transcript, body, **how):
        encoded = DIALECT.encoder(transcript, body, **how)
        return attrs.evolve(encoded, body={**encoded.body, "messages": change(encoded.body["messages"])})

    return encode


def each_block(change):
    """
    Return a change of all blocks: to another block, to several, or to none.
    """
    return encoding(
        lambda messages: [
            {**message, "content": [other for block in message["content"] for other in change(block)]}
            for message in messages
        ]
    )


def sealed_encoder(transcript, body, policy=None, **how):
    """
    Encode with a policy for which no reasoning is signed.
    """
    policy = attrs.evolve(DIALECT.policy, reasoning_needs_any=("seal",))
    return DIALECT.encoder(transcript, body, policy=policy, **how)


def reporting(reason, **how):
    """
    Return an encoder that reports that part 0 of the answer is left out.
    """

    def encode(transcript, body, **options):
        encoded = DIALECT.encoder(transcript, body, **options)
        return attrs.evolve(encoded, drops=(*encoded.drops, Drop("a1", 0, reason, **how)))

    return encode


def excusing_itself(transcript, body, **how):
    """
    Encode without a text, and report that.
    """
    encoded = WAYS_BACK["an encoder without texts"][0]["encoder"](transcript, body, **how)
    return attrs.evolve(encoded, drops=(*encoded.drops, Drop("a1", 1, DropReason.UNSUPPORTED, whole=True)))


def names_the_model_alone(transcript, body, **how):
    return DIALECT.encoder(transcript, {"model": body["model"]}, **how)


def raises(*args, **options):
    raise KeyError("boom")


def keeps_its_argument(transcript, body, **how):
    body["stream"] = True
    return DIALECT.encoder(transcript, body, **how)


def of_own_answers(message):
    """
    Write a document, for which all parts have the number of a block.
    """
    for part in message.parts:
        _ = part.state["i"]
    return DIALECT.emit_resource(message)


def first_answer(messages):
    """
    Leave out the answers without calls of a conversation of several turns.
    """
    if sum(message["role"] == "assistant" for message in messages) < 4:
        return messages
    answers = [
        message
        for message in messages
        if message["role"] == "assistant" and all(block["type"] == "text" for block in message["content"])
    ]
    return [message for message in messages if message not in answers]


def results_last(messages):
    """
    Put all results of a conversation of several turns behind it.
    """
    if sum(message["role"] == "assistant" for message in messages) < 4:
        return messages
    results = [message for message in messages if any(block["type"] == "tool_result" for block in message["content"])]
    return [*[message for message in messages if message not in results], *results]


def printed(block):
    """
    Write the JSON of a result as Python prints it.
    """
    content = block.get("content")
    is_json = block["type"] == "tool_result" and isinstance(content, str) and content.startswith('{"seen"')
    return [{**block, "content": f"JsonObject({content})"} if is_json else block]


class MarksNoFailures(AnthropicMessagesEncoder):
    def result_item(self, call, content, *, failed):
        return super().result_item(call, content, failed=False)


class SendsOneBlock(AnthropicMessagesEncoder):
    def user_item(self, blocks):
        return super().user_item(blocks[:1])


class RaisingEmitter(AnthropicMessagesEmitter):
    on_part = raises


class SilentEmitter(AnthropicMessagesEmitter):
    def on_part(self, place, part):
        pass


class HidingEmitter(AnthropicMessagesEmitter):
    drops = ()

    def on_part(self, place, part):
        super().on_part(place, attrs.evolve(part, state={}))


def first_content(block):
    """
    Return the result of a call with the first of its contents alone.
    """
    if block["type"] != "tool_result" or isinstance(block["content"], str):
        return [block]
    return [{**block, "content": block["content"][:1]}]


def without_faults(transcript, body, **how):
    """
    Encode what has failed as if it had succeeded with what it has.
    """
    messages = [
        attrs.evolve(
            message,
            parts=[
                attrs.evolve(part, status="success", error=None) if getattr(part, "error", None) else part
                for part in message.parts
            ],
        )
        if isinstance(message, AssistantMessage)
        else message
        for message in transcript.context()
    ]
    return DIALECT.encoder(messages, body, **how)


def renamed(block):
    return [{**block, "tool_use_id": f"{block['tool_use_id']}_2"} if block["type"] == "tool_result" else block]


def results_first(messages):
    return sorted(messages, key=lambda message: not any(each["type"] == "tool_result" for each in message["content"]))


class ForgetfulEmitter(AnthropicMessagesEmitter):
    def on_result(self, place, call):
        pass


def without_citations(message):
    document = DIALECT.emit_resource(message)
    return {**document, "content": [{**block, "citations": None} for block in document["content"]]}


def without_content(message):
    return {**DIALECT.emit_resource(message), "content": []}


def without_usage(message):
    return {**DIALECT.emit_resource(message), "usage": {}}


def reads_only_its_own(resource, message_id, **how):
    assert resource["type"] == "message"
    return DIALECT.decode_resource(resource, message_id, **how)


def with_container(encoded):
    return attrs.evolve(encoded, body={**encoded.body, "container": "c1"})


def without_messages(body):
    return {key: value for key, value in body.items() if key != "messages"}


WAYS_BACK = {
    "14 an encoder that raises": ({"encoder": raises}, "the encoder raised KeyError"),
    "an encoder without results": (
        {"encoder": each_block(lambda block: [] if block["type"] == "tool_result" else [block])},
        "parallel calls: the result of call 'toolu_first' is in the request 0 times",
    ),
    "an encoder without state": (
        {"encoder": each_block(lambda block: [{**block, "signature": ""} if "signature" in block else block])},
        "thinking: the state 'c2lnbmF0dXJl.*' may be sent and is in the request 0 times; expected once",
    ),
    "an encoder that sends state twice": (
        {"encoder": each_block(lambda block: [block, block] if block["type"] == "thinking" else [block])},
        "thinking: the state .* may be sent and is in the request 2 times; expected once",
    ),
    "an encoder without texts": (
        {"encoder": each_block(lambda block: [] if block.get("text") == "Yes." else [block])},
        "thinking: text of part 1 of 'a1' is not in the request: 'Yes.'",
    ),
    "an encoder without texts that says so": (
        {"encoder": excusing_itself},
        "thinking: text of part 1 of 'a1' is not in the request: 'Yes.'",
    ),
    "an encoder without the fields of the app": (
        {"encoder": names_the_model_alone},
        "thinking: x-check.of of the app's body is not in the request",
    ),
    "an encoder that reports what it sends": (
        {"encoder": reporting(DropReason.UNPLACED)},
        "thinking: all state of part 0 is in the request, and a drop reports: state of part 0 of message 'a1' left out",
    ),
    "an encoder without inputs": (
        {"encoder": each_block(lambda block: [{**block, "input": {}} if block["type"] == "tool_use" else block])},
        "parallel calls: city of part 1 of 'a1' is not in the request: 'Bonn'",
    ),
    "an encoder of one name": (
        {"encoder": each_block(lambda block: [{**block, "name": "tool"} if block["type"] == "tool_use" else block])},
        "parallel calls: name of part 0 of 'a1' is not in the request: 'look_up'",
    ),
    "an encoder of first contents": (
        {"encoder": each_block(first_content)},
        "parallel calls, several contents: the result of call 'toolu_first' is in the request 0 times",
    ),
    "an encoder without marks of failures": (
        {"encoder": MarksNoFailures.encode},
        "parallel calls: a request has failed calls as if they had succeeded",
    ),
    "an encoder of one block": (
        {"encoder": SendsOneBlock.encode},
        "history with .*: the prompt .* is neither sent nor reported",
    ),
    "errors without their sentence": (
        {"http_error": lambda status, headers, body: DIALECT.http_error(status, headers, b"")},
        "http_error has the sentence of no body",
    ),
    "an encoder without faults": (
        {"encoder": without_faults},
        "parallel calls, failed calls: the result of call 'toolu_first' is in the request 0 times",
    ),
    "an encoder that renames calls": (
        {"encoder": each_block(renamed)},
        "the result of call 'toolu_first' has the id 'toolu_first_2', which nothing else in the request has",
    ),
    "an encoder with results first": (
        {"encoder": encoding(results_first)},
        "the result of call 'toolu_first' is in the request before its call",
    ),
    "an encoder that turns answers around": (
        {"encoder": encoding(lambda messages: messages[::-1])},
        "is in the request before",
    ),
    "a policy that takes seals for none": (
        {"encoder": sealed_encoder},
        "part 0 of 'a1' is left out as unsigned, and has the state",
    ),
    "an encoder that sends all state": (
        {"encoder": lambda transcript, body, strip=False, **how: DIALECT.encoder(transcript, body, **how)},
        "thinking: the state .* of part 0 is sent, which the policy does not allow",
    ),
    "an encoder that keeps its argument": ({"encoder": keeps_its_argument}, "the encoder changes what it is given"),
    "an encoder without prompts": (
        {"encoder": each_block(lambda block: [] if block.get("text") == "prompt u1" else [block])},
        "the prompt 'prompt u1' is neither sent nor reported",
    ),
    "an encoder without media": (
        {"encoder": each_block(lambda block: [] if block["type"] in ("image", "document") else [block])},
        "history with media in a prompt: the prompt MediaContent.* is neither sent nor reported",
    ),
    "an encoder whose fields win": (
        {"encoder": lambda transcript, body, **how: with_container(DIALECT.encoder(transcript, body, **how))},
        "thinking: container of the app's body is not in the request",
    ),
    "an encoder without the app's messages": (
        {"encoder": lambda transcript, body, **how: DIALECT.encoder(transcript, without_messages(body), **how)},
        "'a value of the app'.* of the app is not in the request",
    ),
    "a request that is no JSON": (
        {"encoder": each_block(lambda block: [{**block, "at": {1}}])},
        "the request is not JSON",
    ),
    "14 an emitter that raises": ({"emitter": RaisingEmitter}, "the emitter raised KeyError"),
    "an emitter that writes nothing": (
        {"emitter": SilentEmitter},
        "written by the emitter the answer has other kinds of parts",
    ),
    "an emitter that hides its drops": ({"emitter": HidingEmitter}, "part 0 of 'a1' changed, and no Drop reports it"),
    "an emitter that forgets results": (
        {"emitter": ForgetfulEmitter},
        "written by the emitter the answer has other calls: .*; expected ",
    ),
    "a document without citations": (
        {"emit_resource": without_citations},
        "read from its document the answer has other citations",
    ),
    "a document that is not detected": (
        {"detect": lambda document: document.get("type") != "message" and DIALECT.detect(document)},
        "detect does not know the document of the answer",
    ),
    "a detection of others": (
        {"detect": lambda document: isinstance(document.get("type"), str)},
        "detect knows .*, which is of openai-responses",
    ),
    "an HTTP error that is tried in vain": (
        {"http_error": lambda *response: attrs.evolve(DIALECT.http_error(*response), retryable=True)},
        r"http_error\(400, \{\}, b''\) can be retried",
    ),
    "a detection of everything": ({"detect": lambda document: True}, r"detect knows \{\}, which is of no dialect"),
    "an HTTP error that may not be retried": (
        {"http_error": lambda *response: attrs.evolve(DIALECT.http_error(*response), retryable=None)},
        "has retryable=None, expected True",
    ),
    "an HTTP error without its time": (
        {"http_error": lambda *response: attrs.evolve(DIALECT.http_error(*response), retry_after_s=None)},
        "may be retried after None s, expected 7 s",
    ),
    "14 an empty document": ({"emit_resource": without_content}, "read from its document the answer has other text"),
    "a document without usage": ({"emit_resource": without_usage}, "read from its document the answer has other usage"),
    "a document of a failure that shows none": (
        {"emit_resource": lambda message: DIALECT.emit_resource(attrs.evolve(message, error=None, status="completed"))},
        "the document of an answer that failed is read as one that has not",
    ),
    "a document of the own answers alone": (
        {"emit_resource": of_own_answers},
        "answer with .*: emit_resource raised KeyError",
    ),
    "an encoder of the first answer": (
        {"encoder": encoding(first_answer)},
        "a conversation of 3 turns: 'answer first' is in the request 0 times, expected once",
    ),
    "an encoder with results at the end": (
        {"encoder": encoding(results_last)},
        "a conversation of 3 turns: .* is not in the request behind",
    ),
    "an encoder that prints JSON": (
        {"encoder": each_block(printed)},
        "JSON of a result is in the request as Python prints it",
    ),
    "an HTTP error without a status": (
        {"http_error": lambda *response: attrs.evolve(DIALECT.http_error(*response), status=None)},
        r"http_error\(400, \{\}, b''\) has the status None",
    ),
    "a document that raises": ({"emit_resource": raises}, "writing and reading the document raised KeyError"),
    "documents that are not its own": (
        {"decode_resource": reads_only_its_own},
        r"decode_resource\(\{\}\) raised KeyError",
    ),
    "an HTTP error that raises": ({"http_error": raises}, r"http_error\(200, \{\}, b''\) raised KeyError"),
    "an HTTP error of one kind": (
        {"http_error": lambda *response: ErrorInfo(kind="provider", message="no")},
        r"http_error\(400, \{\}, b''\) is of kind 'provider', expected invalid-request",
    ),
}


@pytest.mark.parametrize(("changes", "sentence"), WAYS_BACK.values(), ids=WAYS_BACK.keys())
def test_each_fault_on_the_way_back_is_found(changes, sentence):
    """
    So does a fault of what makes requests, streams, documents and errors.
    """
    policy = {"policy": DIALECT.policy} if "encoder" in changes else {}
    with pytest.raises(AssertionError, match=sentence):
        check_adapter(attrs.evolve(DIALECT, **policy, **changes), SAMPLES, mutations=1, every_position=0)


def test_an_input_that_is_written_again_in_requests_is_found():
    """
    Blanks, escapes and the form of numbers are kept where the wire has inputs as text.
    """
    chat = load_dialect("openai-chat")

    def encode(transcript, body, **how):
        encoded = chat.encoder(transcript, body, **how)
        for message in encoded.body["messages"]:
            for call in message.get("tool_calls", ()):
                call["function"]["arguments"] = json.dumps(json.loads(call["function"]["arguments"]))
        return encoded

    changed = attrs.evolve(chat, encoder=encode, policy=chat.policy)
    with pytest.raises(AssertionError, match="is written again in the request"):
        check_adapter(changed, {"calls": CHAT_SAMPLES["calls by turns"]}, mutations=1, every_position=0)


def by_one(text, at):
    return at + 1


def in_bytes(text, at):
    return len(text[:at].encode())


@pytest.mark.parametrize(
    ("dialect", "named", "moved"),
    [
        ("openai-chat", "citations", by_one),
        ("openai-responses", "cited text", by_one),
        ("gemini-interactions", "media and citations", by_one),
        ("gemini-generate-content", "grounding", by_one),
        ("gemini-generate-content", "grounding", in_bytes),
    ],
)
def test_citations_of_another_place_are_found(dialect, named, moved):
    """
    So does an adapter that cites another part of a text than the provider.
    """
    sound = load_dialect(dialect)

    def shifted(events):
        return [
            attrs.evolve(event, citations=[shift(event.text, each) for each in event.citations])
            if event.type == "text.ended"
            else event
            for event in events
        ]

    def shift(text, cited):
        if cited.start is None:
            return cited
        return attrs.evolve(cited, start=moved(text, cited.start), end=moved(text, cited.end))

    class Shifts(sound.decoder):
        def feed(self, data):
            return shifted(super().feed(data))

        def close(self, error=None):
            return shifted(super().close(error))

    body = samples(dialect)[named].body
    check_adapter(sound, {named: body}, mutations=0, every_position=0)
    with pytest.raises(AssertionError, match=r"a citation of part .* of its text, and no frame has a source there"):
        check_adapter(attrs.evolve(sound, decoder=Shifts), {named: body}, mutations=0, every_position=0)


def test_a_fast_path_that_differs_is_found():
    """
    So does a fast path that gives other events.
    """
    decoder = plant("Hurries", "_add", lambda self, block, text: self.recorder.text(text if self.fast else "x" + text))

    with pytest.raises(AssertionError, match="without the fast path the same bytes give other events"):
        check_adapter(attrs.evolve(DIALECT, decoder=decoder), SAMPLES, mutations=0, every_position=0)


class TakesAnyFrame(AwsChunkStream):
    """
    Takes a damaged frame for one that was never sent.
    """

    damaged = property(lambda self: False, lambda self, value: None)


class ShoutsInTheEnd(AnthropicMessagesDecoder):
    words = 0

    def _add(self, block, text):
        self.words += 1
        super()._add(block, text.upper() if self.words > 9 else text)


def test_a_fast_path_that_differs_later_is_found():
    """
    So does one that is right on the sample, and wrong on more frames of the same kind.
    """
    samples = {"two texts": answer(*text(0, "Hello"), *text(1, "you"))}

    with pytest.raises(AssertionError, match="repeated: without the fast path the same bytes give other events"):
        check_adapter(attrs.evolve(DIALECT, decoder=ShoutsInTheEnd), samples, mutations=0, every_position=0)


def test_a_checksum_that_is_not_looked_at():
    """
    A framing that hides the damage of a frame is found.
    """
    body = b"".join(TakesAnyFrame.frame(None, each) for each in (M(), *text(0, "Hello"), K(), END))
    dialect = attrs.evolve(DIALECT, decoder=partial(DIALECT.decoder, framing=TakesAnyFrame), emitter=None)

    with pytest.raises(AssertionError, match="is flipped, and the decoder has not noted it"):
        check_adapter(dialect, {"hello": body}, mutations=0)
