"""
`check_adapter` finds faults in an adapter of lines with a code, like the data stream of the AI SDK, by its two authors.

The wire has no numbers of items, no document, and words for ends with hyphens.
"""

import json

import attrs
import pytest

from assistant_events import Citation, ErrorKind, FinishReason
from assistant_events.adapters import (
    DecoderBase,
    Dialect,
    EmitterBase,
    EncoderBase,
    ErrorTable,
    JsonLines,
    UsageTable,
    load_dialect,
)
from assistant_events.adapters.json_fields import mapping, string
from assistant_events.messages import ReasoningPart, TextPart, ToolPart
from assistant_events.testing import check_adapter
from assistant_events.values import CUT_KINDS, thaw, write_json
from tests.fuzz.seeds import samples

ENDS = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "content-filter": FinishReason.CONTENT_FILTER,
    "tool-calls": FinishReason.TOOL_CALLS,
}
WORDS = {reason: word for word, reason in ENDS.items()}
CODES = {
    "rate_limited": ErrorKind.RATE_LIMIT,
    "bad_request": ErrorKind.INVALID_REQUEST,
    "unauthorized": ErrorKind.AUTH,
    "overloaded": ErrorKind.OVERLOADED,
}


class Decoder(DecoderBase):
    dialect = "codes"
    provider = "coder"
    framing = JsonLines
    error_table = ErrorTable(codes=CODES, otherwise="server_error")
    usage_table = UsageTable(counts={"input_tokens": "promptTokens", "output_tokens": "completionTokens"})

    def on_begin(self):
        self.items = 0

    def on_event(self, event):
        for code in event:
            handle = getattr(self, f"on_{code}", None)
            if code == "start":
                self.on_start(mapping(event, code))
            elif handle is not None:
                self.ensure_started()
                handle(string(event, code) or "" if code in ("t", "g") else mapping(event, code))

    def on_start(self, value):
        if not self.recorder.started and string(value, "messageId"):
            self.step_state["message"] = string(value, "messageId")
        self.ensure_started(string(value, "model"))

    def on_t(self, text):
        self.recorder.text(text)

    def on_g(self, text):
        self.recorder.reasoning(text)

    def on_source(self, value):
        if string(value, "url"):
            if self.recorder.open_of(None) is None:
                self.recorder.begin(None, "text")
            self.recorder.keep(None, citations=[Citation(url=string(value, "url"), title=string(value, "title"))])

    def on_begun(self, value):
        self.recorder.tool_input(string(value, "id"), string(value, "name"), "", key=string(value, "id"))

    def on_piece(self, value):
        self.recorder.tool_input(None, None, string(value, "delta") or "", key=string(value, "id"))

    def on_call(self, value):
        if self.recorder.open_of(string(value, "id")) is not None:
            self.recorder.end(string(value, "id"))
        else:
            self.recorder.tool_call(string(value, "id"), string(value, "name"), self.input_of(value))

    def input_of(self, value):
        return mapping(value, "args")

    def on_result(self, value):
        self.recorder.result(string(value, "id"), self.output_of(value), None, "tool", provider_executed=True)

    def output_of(self, value):
        return value.get("result")

    def on_error(self, error):
        self.fail_step(self.error_of(error))

    def error_of(self, error):
        return self.error_table.read({"message": "failed", **error})

    def on_end(self, value):
        self.note_usage(self.usage_of(value))
        word = self.word_of(value)
        self.finish_step(self.reason_of(word), word)

    def usage_of(self, value):
        return mapping(value, "usage")

    def word_of(self, value):
        return string(value, "finishReason")

    def reason_of(self, word):
        return self.finish_reason_of(ENDS.get(word or "", FinishReason.OTHER))


class Encoder(EncoderBase):
    dialect = "codes"
    provider = "coder"
    conversation_fields = ("messages",)
    marks_failures = True

    def answer_items(self, message):
        blocks = [block for part in message.parts if (block := self.block(part))]
        return [{"role": "assistant", "content": blocks}] if blocks else []

    def block(self, part):
        match part:
            case TextPart() | ReasoningPart() if part.text:
                return {"type": part.type, "text": part.text}
            case ToolPart() if not part.provider_executed:
                given = part.raw_input or write_json(part.arguments).decode()
                return {"type": "tool-call", "toolCallId": ident(part), "toolName": part.name, "args": given}
        return None

    def result_item(self, call, content, *, failed):
        blocks = [self.content(item) for item in content]
        result = {"toolCallId": ident(call), "toolName": self.name_of(call), "isError": self.mark(failed)}
        return {"role": "tool", **result, "content": blocks}

    def text_block(self, text):
        return {"type": "text", "text": text}

    def name_of(self, call):
        return call.name

    def mark(self, failed):
        return failed


class Emitter(EmitterBase):
    decoder = Decoder

    def on_start(self, message):
        self.write({"start": {"messageId": self.ident_of(message), "model": self.model_of(message)}})

    def ident_of(self, message):
        return message.state.get("message") or message.id

    def model_of(self, message):
        return message.origin.served_model or message.origin.model

    def on_part(self, place, part):
        match part:
            case ReasoningPart():
                self.write({"g": part.text})
            case TextPart():
                self.write({"t": part.text})
                for cited in filter(lambda each: each.url, part.citations):
                    self.write({"source": {"url": cited.url, "title": cited.title}})
            case ToolPart():
                self.write({"begun": {"id": ident(part), "name": part.name}})
                self.write({"piece": {"id": ident(part), "delta": self.input_of(part)}})
                if self.has_ended(part):
                    self.write({"call": {"id": ident(part), "name": part.name}})

    def input_of(self, call):
        return call.raw_input or ("" if call.input is None else write_json(call.input).decode())

    def has_ended(self, call):
        return call.input_status != "incomplete"

    def on_result(self, place, call):
        [content] = call.output or [None]
        self.write({"result": {"id": ident(call), "result": self.output_of(content)}})

    def output_of(self, content):
        return thaw(getattr(content, "value", None)) if hasattr(content, "value") else getattr(content, "text", "")

    def on_end(self, message):
        if message.error is None:
            self.write({"end": {"finishReason": self.word_of(message), **self.usage_of(message)}})
        elif message.error.kind not in CUT_KINDS:
            self.write({"error": self.error_of(message.error)})

    def word_of(self, message):
        return message.raw_finish_reason or WORDS.get(message.finish_reason, "other")

    def usage_of(self, message):
        usage = message.usage
        if usage is None:
            return {}
        counts = {"promptTokens": usage.input_tokens, "completionTokens": usage.output_tokens}
        return {"usage": thaw(usage.details) or counts}

    def error_of(self, error):
        return {"code": error.code, "message": error.message} if error.code else {"message": error.message}


def ident(call):
    return call.state.get("id") or call.call_id


SOUND = Dialect(name="codes", decoder=Decoder, encoder=Encoder.encode, emitter=Emitter)


def lines(*frames):
    return b"".join([json.dumps({code: value}).encode() + b"\n" for code, value in frames])


START = ("start", {"messageId": "msg-51", "model": "coder-1"})


def end(word="stop"):
    return "end", {"finishReason": word, "usage": {"promptTokens": 41, "completionTokens": 19}}


def begun(at, name):
    return "begun", {"id": f"call-{at}", "name": name}


def piece(at, delta):
    return "piece", {"id": f"call-{at}", "delta": delta}


def called(ident, name, **args):
    return "call", {"id": ident, "name": name, "args": args}


SAMPLES = {
    "text": lines(
        START,
        *[("g", "Let me"), ("g", " think"), ("t", "It"), ("t", " rains.")],
        ("source", {"url": "https://a.example/1", "title": "The first"}),
        ("source", {"url": "https://b.example/2", "title": "The second"}),
        end(),
    ),
    "calls": lines(
        START,
        *[("t", "I look"), begun(1, "weather"), begun(2, "clock"), piece(1, '{"city":'), piece(2, '{"zone":')],
        *[piece(1, ' "Oslo"}'), piece(2, '"CET"}')],
        *[
            ("call", {"id": "call-1", "name": "weather"}),
            ("call", {"id": "call-2", "name": "clock"}),
            end("tool-calls"),
        ],
    ),
    "whole calls": lines(
        START, called("call-1", "weather", city="Rome"), called("call-2", "weather", city="Bonn"), end("tool-calls")
    ),
    "results": lines(
        START,
        called("srv-1", "search", q="rain"),
        ("result", {"id": "srv-1", "result": {"hits": ["wet ground"]}}),
        called("srv-2", "search", q="snow"),
        ("result", {"id": "srv-2", "result": "cold ground"}),
        *[("t", "Both"), ("t", " found."), end()],
    ),
    "length": lines(START, ("t", "Half"), ("t", " an"), end("length")),
    "filter": lines(START, ("t", "Half"), ("t", " an"), end("content-filter")),
    "error": lines(("error", {"code": "rate_limited", "message": "slow down please"})),
    "odd error": lines(START, ("t", "Half"), ("error", {"code": "out_of_paper", "message": "no paper"})),
}


def test_a_wire_of_lines_with_codes_is_sound():
    """
    It has sources, results of the provider, two forms of calls, and errors in its stream.
    """
    check_adapter(SOUND, SAMPLES, mutations=10)


def decoding(**methods):
    """
    Return the dialect with another decoder, and its emitter.
    """
    decoder = type("Planted", (Decoder,), methods)
    emitter = type("PlantedEmitter", (Emitter,), {"decoder": decoder})
    return {"decoder": decoder, "emitter": emitter, "http_error": Dialect(name="codes", decoder=decoder).http_error}


def encoding(**methods):
    return {"encoder": type("Planted", (Encoder,), methods).encode}


def emitting(**methods):
    return {"emitter": type("Planted", (Emitter,), methods)}


def with_codes(**codes):
    return decoding(error_table=ErrorTable(codes={**CODES, **codes}, otherwise="server_error"))


def untitled(self, value):
    Decoder.on_source(self, {**value, "title": value.get("title") or "untitled"})


def without_filter(self, word):
    return self.finish_reason_of(FinishReason.OTHER if word == "content-filter" else ENDS.get(word, FinishReason.OTHER))


def last_of_a_role(self, items):
    kept = {}
    for at, item in enumerate(items):
        is_again = at and item["role"] == items[at - 1]["role"] == "assistant"
        kept[max(kept) if is_again else at] = item
    return {"messages": [*kept.values()]}


def each_once(self, items):
    return {"messages": [item for at, item in enumerate(items) if item not in items[:at]]}


def reversed_calls(self, message):
    items = Encoder.answer_items(self, message)
    for item in items:
        calls = [block for block in item["content"] if block["type"] == "tool-call"]
        item["content"] = [calls.pop() if block["type"] == "tool-call" else block for block in item["content"]]
    return items


FAULTS = {
    "a null that is printed": (
        decoding(on_t=lambda self, text: self.recorder.text(str(text or None))),
        "t of the frame at byte .* arrives as 'None' when it is null",
    ),
    "blanks of another width that are joined": (
        decoding(on_t=lambda self, text: self.recorder.text((text or "").replace("\xa0", " "))),
        "part 1 of 'a1' has the text",
    ),
    "another title": (decoding(on_source=untitled), "a citation of .* has the title 'untitled', which no frame has"),
    "line ends of inputs": (
        decoding(
            on_piece=lambda self, value: Decoder.on_piece(
                self, {**value, "delta": (string(value, "delta") or "").replace("\r\n", "\n")}
            )
        ),
        "call 'call-.' with the input .* has the raw input",
    ),
    "inputs as JSON": (
        decoding(input_of=lambda self, value: {"args": json.dumps(value.get("args"))}),
        "call 'call-1' has .* in its input, which no frame has",
    ),
    "inputs without nulls": (
        decoding(input_of=lambda self, value: {k: v for k, v in mapping(value, "args").items() if v is not None}),
        "call 'call-1' with the input .* is read as",
    ),
    "keys in their order": (
        decoding(input_of=lambda self, value: dict(sorted(mapping(value, "args").items()))),
        "call 'call-1' with the input .* is read as",
    ),
    "pieces of another call": (
        decoding(
            on_piece=lambda self, value: Decoder.on_piece(
                self, {**value, "id": "call-2" if self.recorder.open_of("call-2") else value.get("id")}
            )
        ),
        "is beside the id 'call-1', and in the input of another call",
    ),
    "calls without input": (
        decoding(on_call=lambda self, value: value.get("args") != {} and Decoder.on_call(self, value)),
        "with an empty object as the input of call 'call-1' the inputs are",
    ),
    "results as JSON": (
        {**decoding(output_of=lambda self, value: json.dumps(value.get("result"))), "emitter": None},
        "the result of call 'srv-2' is written again as JSON",
    ),
    "results as Python": (
        decoding(output_of=lambda self, value: str(value.get("result"))),
        "result of the frame at byte .* is in an event as Python prints it",
    ),
    "results that are false": (
        decoding(output_of=lambda self, value: value.get("result") or "none"),
        r"with the result {} of call 'srv-1' the results are",
    ),
    "counts of zero": (
        decoding(usage_of=lambda self, value: {k: v for k, v in mapping(value, "usage").items() if v}),
        "with the count 0 in place of 41 the usage has",
    ),
    "counts as floats": (
        decoding(usage_of=lambda self, value: {k: int(float(v)) for k, v in mapping(value, "usage").items()}),
        "with the count 9007199254740993 in place of .* the usage has",
    ),
    "words in small letters": (
        decoding(word_of=lambda self, value: (string(value, "finishReason") or "").lower() or None),
        "ended with 'x_Check', in place of 'stop', has the word 'x_check'",
    ),
    "no word that is a stop": (
        decoding(word_of=lambda self, value: string(value, "finishReason") or "stop"),
        "ended with None, in place of 'stop', has just stopped",
    ),
    "a stop with open calls": (
        decoding(reason_of=lambda self, word: ENDS.get(word or "", FinishReason.OTHER)),
        "ended with 'stop', in place of 'tool-calls', has just stopped, and calls of the app wait",
    ),
    "a filter that is unknown": (
        decoding(reason_of=without_filter),
        "ended with 'content-filter' and has the finish reason 'other'; expected 'content-filter'",
    ),
    "an unknown code that passes": (
        decoding(on_error=lambda self, error: self.fail_step(attrs.evolve(self.error_of(error), retryable=True))),
        "the error with the unknown code 'x_Check', in place of '.*', can be retried",
    ),
    "a bad request that passes": (
        with_codes(bad_request=ErrorKind.OVERLOADED),
        "with the code 'bad_request' is expected to be of kind",
    ),
    "marks the other way around": (
        encoding(mark=lambda self, failed: not failed),
        "a request calls a success what has failed, or a failure what has not",
    ),
    "another name beside a result": (
        encoding(name_of=lambda self, call: "tool"),
        "is in the request with the toolName 'tool'",
    ),
    "the last of two answers": (
        encoding(conversation=last_of_a_role),
        "history with two answers in a row: the answer 'the first' is in the request 0 times",
    ),
    "each item once": (
        encoding(conversation=each_once),
        "history with the same twice: the answer 'the same' is in the request 1 times",
    ),
    "calls the other way around": (encoding(answer_items=reversed_calls), "is not in the request behind"),
    "one id for all answers": (
        emitting(ident_of=lambda self, message: "msg-1"),
        r"the answer has other state of the message: \{'message': 'msg-1'\}; expected \{'message': 'msg-51'\}",
    ),
    "the model of the request": (
        emitting(model_of=lambda self, message: message.origin.model),
        "asked of another model, written by the emitter: another message, and no Drop reports it",
    ),
    "errors without their words": (
        emitting(error_of=lambda self, error: {**Emitter.error_of(self, error), "message": "failed"}),
        "the answer has other status",
    ),
    "results as texts": (
        emitting(output_of=lambda self, content: json.dumps(Emitter.output_of(self, content))),
        "the answer has other results of the provider",
    ),
    "ends of inputs that were cut": (
        emitting(has_ended=lambda self, call: True),
        "ended at byte .*, written by the emitter: the last part is .*, expected",
    ),
    "inputs that are no objects": (
        emitting(
            input_of=lambda self, call: Emitter.input_of(self, call) if call.input or self.is_cut(call) else "{}",
            is_cut=lambda self, call: not self.has_ended(call),
        ),
        r"inputs other than objects are \[\], expected \['\[1'\]",
    ),
    "words of its own": (
        emitting(word_of=lambda self, message: WORDS.get(message.finish_reason, "other")),
        "the answer has other finish reasons",
    ),
    "a stop for all others": (
        emitting(word_of=lambda self, message: message.raw_finish_reason or "stop"),
        "an answer with the finish reason .length. has .stop.",
    ),
    "counts of its own alone": (
        emitting(usage_of=lambda self, message: {"usage": thaw(message.usage.details)} if message.usage else {}),
        "its usage has None tokens, expected",
    ),
}


@pytest.mark.parametrize(("changes", "sentence"), FAULTS.values(), ids=FAULTS.keys())
def test_each_fault_of_an_author_is_found(changes, sentence):
    """
    The sentence names what has come, and what was expected.
    """
    with pytest.raises(AssertionError, match=sentence):
        check_adapter(attrs.evolve(SOUND, **changes), SAMPLES, mutations=0, every_position=0)


MESSAGES = load_dialect("anthropic-messages")


def reading(change):
    """
    Return how Messages read documents that are changed before.
    """
    return {"decode_resource": lambda document, *args, **how: MESSAGES.decode_resource(change(document), *args, **how)}


def each_block(change):
    return lambda document: {**document, "content": [*map(change, document.get("content", []))]}


KNOWN = {word: word for word in ("end_turn", "refusal", "tool_use", None)}
DOCUMENTS = {
    "trimmed texts": (
        reading(each_block(lambda block: {k: v.strip() if k == "text" else v for k, v in block.items()})),
        "read from its document the answer has other text",
    ),
    "thoughts without text": (
        reading(
            lambda document: (
                {**document, "content": [each for each in document.get("content", []) if each.get("thinking") != ""]}
                if document.get("content")
                else document
            )
        ),
        "without texts beside state: read from its document the answer has its parts in the order",
    ),
    "unknown words for ends": (
        reading(lambda document: {**document, "stop_reason": KNOWN.get(document.get("stop_reason"), "end_turn")}),
        "read from its document the answer has other finish reasons",
    ),
    "errors of one kind": (
        {
            "emit_resource": lambda message: (
                {"type": "error", "error": {"type": "api_error", "message": "failed"}}
                if message.error
                else MESSAGES.emit_resource(message)
            )
        },
        "the error in its document is .*'failed'",
    ),
}


@pytest.mark.parametrize(("changes", "sentence"), DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_each_fault_of_documents_is_found(changes, sentence):
    """
    Documents are read with what a stream is tried with: blanks, no text, words of tomorrow, errors.
    """
    streams = {name: each.body for name, each in samples("anthropic-messages").items() if name in DOCUMENTED}
    with pytest.raises(AssertionError, match=sentence):
        check_adapter(attrs.evolve(MESSAGES, **changes), streams, mutations=0, every_position=0)


DOCUMENTED = ("thinking", "error after text", "refusal")
