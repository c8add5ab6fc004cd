"""
`check_adapter` knows a wire whose calls are beside its texts, and finds faults in an adapter without a fast path.

The wire is like the second chat of Cohere. Each fault was made by an author who had the manual alone.
"""

import attrs
import pytest

from assistant_events import ErrorInfo, ErrorKind, FinishReason
from assistant_events.adapters import DecoderBase, Dialect, EmitterBase, EncoderBase, JsonLines
from assistant_events.adapters.json_fields import integer, mapping, string
from assistant_events.messages import ReasoningPart, ToolPart
from assistant_events.testing import check_adapter
from assistant_events.values import thaw, write_json

ENDS = {"COMPLETE": FinishReason.STOP, "MAX_TOKENS": FinishReason.LENGTH, "TOOL_CALL": FinishReason.TOOL_CALLS}
FAILURES = {"ERROR": ErrorKind.PROVIDER, "TIMEOUT": ErrorKind.TIMEOUT}


def kind_of(part):
    return ("plan" if part.state else "thinking") if isinstance(part, ReasoningPart) else "text"


def input_of(call):
    return call.raw_input or write_json(thaw(call.input or {})).decode()


def message_of(message, input_of=input_of):
    """
    Return the message of an answer: its texts are in one array, its calls in another.
    """
    texts = [part for part in message.parts if part.type in ("text", "reasoning") and part.text]
    calls = [call for call in message.tool_calls if not call.provider_executed]
    content = {"content": [{kind_of(part): part.text} for part in texts]}
    called = {"calls": [{"id": call.call_id, "name": call.name, "arguments": input_of(call)} for call in calls]}
    return {"role": "assistant", **(content if texts else {}), **(called if calls else {})}


class Decoder(DecoderBase):
    dialect = "beside-chat"
    provider = "beside"
    framing = JsonLines

    def on_event(self, event):
        self.ensure_started(string(event, "model"))
        key = integer(event, "index")
        error = string(event, "error")
        if "content" in event:
            self.on_content(key, mapping(event, "content"))
        if "call" in event:
            self.on_call(key, mapping(event, "call"))
        if error is not None:
            self.on_error(error)
        if "end" in event:
            self.on_end(string(event, "end") or "")

    def on_content(self, key, content):
        for kind in ("plan", "thinking"):
            self.recorder.reasoning(
                string(content, kind) or "", key=key, state={"plan": True} if kind == "plan" else {}
            )
        self.recorder.text(string(content, "text") or "", key=key)

    def on_call(self, key, call):
        self.recorder.tool_input(string(call, "id"), string(call, "name"), string(call, "arguments") or "", key=key)

    def on_error(self, error):
        self.fail_step(ErrorInfo(kind=ErrorKind.PROVIDER, message=error))

    def on_end(self, word):
        if word in FAILURES:
            self.fail_step(ErrorInfo(kind=FAILURES[word], message="it failed", code=word))
        else:
            self.finish_step(ENDS.get(word, FinishReason.OTHER), word)

    def resource_events(self, resource):
        message = mapping(resource, "message")
        for key in ("content", "calls"):
            for item in message.get(key, ()):
                self.items += 1
                yield {"index": self.items, key.removesuffix("s"): item}
        yield {key: resource[key] for key in ("end", "error") if key in resource}

    def on_begin(self):
        self.items = 0


class Encoder(EncoderBase):
    dialect = "beside-chat"
    provider = "beside"
    conversation_fields = ("messages",)
    placed_state = {"reasoning": frozenset({"plan"})}  # noqa: RUF012 - as an author writes it

    def answer_items(self, message):
        item = message_of(message)
        return [item] if len(item) > 1 else []

    def result_item(self, call, content, *, failed):
        return {"role": "tool", "id": call.call_id, "content": self.result_value(content)}


class Emitter(EmitterBase):
    decoder = Decoder

    def on_start(self, message):
        pass

    def on_part(self, place, part):
        if isinstance(part, ToolPart):
            self.write({"index": place, "call": {"id": part.call_id, "name": part.name, "arguments": input_of(part)}})
        elif part.type in ("text", "reasoning"):
            self.write({"index": place, "content": {self.kind_of(part): part.text}})

    def kind_of(self, part):
        return kind_of(part)

    def on_end(self, message):
        self.write(end_of(message))


def end_of(message):
    if message.error is not None:
        return {"end": message.error.code} if message.error.code in FAILURES else {"error": message.error.message}
    words = {reason: word for word, reason in ENDS.items()}
    return {"end": message.raw_finish_reason or words.get(message.finish_reason, "COMPLETE")}


def emit_resource(message):
    return {"message": message_of(message), **end_of(message)}


DROPPED = {"index": "The order of the items."}
SOUND = Dialect(
    name="beside-chat",
    decoder=Decoder,
    encoder=Encoder.encode,
    emitter=Emitter,
    emit_resource=emit_resource,
    dropped=DROPPED,
)
SAMPLES = {
    "thoughts": (
        b'{"index":0,"content":{"plan":"I plan."}}\n{"index":1,"content":{"thinking":"I think of Oslo."}}\n'
        b'{"index":2,"content":{"text":"It rains"}}\n{"index":2,"content":{"text":" there."}}\n'
        b'{"index":3,"content":{"thinking":"I think of Bergen."}}\n{"index":4,"content":{"text":"It snows."}}\n'
        b'{"end":"COMPLETE"}\n'
    ),
    "calls": (
        b'{"index":0,"call":{"id":"call_a1","name":"weather"}}\n{"index":1,"call":{"id":"call_b2","name":"clock"}}\n'
        b'{"index":0,"call":{"arguments":"{\\"city\\""}}\n{"index":1,"call":{"arguments":"{\\"zone\\""}}\n'
        b'{"index":0,"call":{"arguments":": \\"Oslo\\"}"}}\n{"index":1,"call":{"arguments":": "}}\n'
        b'{"index":1,"call":{"arguments":"\\"CET\\"}"}}\n'
        b'{"end":"TOOL_CALL"}\n'
    ),
    "an error": b'{"index":0,"content":{"text":"Once upon"}}\n{"error":"the model is out of order"}\n',
    "a limit": b'{"index":0,"content":{"text":"Once upon"}}\n{"end":"MAX_TOKENS"}\n',
    "a timeout": b'{"index":0,"content":{"text":"Once upon"}}\n{"end":"TIMEOUT"}\n',
}


def test_a_wire_with_calls_beside_texts_is_sound():
    """
    No document of the wire has a place for a call between two texts.
    """
    check_adapter(SOUND, SAMPLES, mutations=5)


COUNTED = {
    "two texts": (
        b'{"part":0,"index":0,"content":{"text":"It rains"}}\n{"part":0,"index":1,"content":{"text":" in Oslo"}}\n'
        b'{"part":1,"index":0,"content":{"thinking":"I"}}\n{"part":2,"index":0,"content":{"text":"It snows"}}\n'
        b'{"part":2,"index":1,"content":{"text":" in Bergen."}}\n{"index":1,"end":"COMPLETE"}\n'
    ),
}
WITHOUT_ERRORS = {
    "a text": b'{"index":0,"content":{"text":"Once"},"error":""}\n{"end":"COMPLETE","error":""}\n',
    "a limit": b'{"index":0,"content":{"text":"Once"},"error":{"message":""}}\n{"end":"MAX_TOKENS","error":""}\n',
}


class CountsPieces(Decoder):
    def on_event(self, event):
        super().on_event({**event, "index": event.get("part")})


class ReadsEmptyErrors(Decoder):
    def on_error(self, error):
        if error:
            super().on_error(error)


def test_a_wire_that_counts_the_pieces_of_each_part_is_sound():
    """
    Their number is not that of an item, though it comes again.
    """
    sound = Dialect(
        name="beside-chat", decoder=CountsPieces, encoder=Encoder.encode, dropped={**DROPPED, "part": "Of the part."}
    )
    check_adapter(sound, COUNTED, mutations=5)


def test_a_wire_with_an_empty_error_in_each_frame_is_sound():
    """
    An error without words has failed nothing.
    """
    sound = Dialect(name="beside-chat", decoder=ReadsEmptyErrors, encoder=Encoder.encode, dropped=DROPPED)
    check_adapter(sound, WITHOUT_ERRORS, mutations=5)


def planted(**methods):
    """
    Return the dialect with another decoder.
    """
    decoder = type("Planted", (Decoder,), methods)
    emitter = type("PlantedEmitter", (Emitter,), {"decoder": decoder})
    return {"decoder": decoder, "decode_resource": decoder.decode_resource, "emitter": emitter}


def one_key_for_thoughts(self, key, content):
    Decoder.on_content(self, "thinking" if "thinking" in content else key, content)


def input_of_the_last_call(self, key, call):
    self.recorder.tool_input(string(call, "id"), string(call, "name"), string(call, "arguments") or "")


def ends_without_a_word(self, resource):
    yield from Decoder.resource_events(self, {"end": "", **resource})


def starts_with_content(self, event):
    if "end" in event:
        self.recorder.end(0)
    Decoder.on_event(self, event)


class SendsNoWholeInput(Encoder):
    def answer_items(self, message):
        item = message_of(message, lambda call: call.raw_input or "{}")
        return [item] if len(item) > 1 else []


FAULTS = {
    "one key for all thoughts": (
        planted(on_content=one_key_for_thoughts),
        "the frame at byte .* is of item 3, and adds to part 1 of 'a1', as that at byte .* of item 1 does",
    ),
    "input of the last call": (
        planted(on_call=input_of_the_last_call),
        "the frame at byte .* is of item 1, and adds to part 1 of 'a1', as that at byte .* of item 0 does",
    ),
    "no input that came whole": (
        {"encoder": SendsNoWholeInput.encode},
        "the input of the call, which came whole, is not in the request; it has an `input` and no `raw_input`",
    ),
    "a table without a default": (
        planted(
            on_end=lambda self, word: (
                Decoder.on_end(self, word) if word in FAILURES else self.finish_step(ENDS[word], word)
            )
        ),
        "the adapter failed an answer that ended with the unknown word 'x_Check', in place of 'COMPLETE'",
    ),
    "an error that ends": (
        planted(on_error=lambda self, error: self.finish_step(FinishReason.OTHER, error)),
        r"and its error \['the model is out of order'\] has not failed it",
    ),
    "a timeout of another kind": (
        planted(
            on_end=lambda self, word: (
                self.fail_step(ErrorInfo(kind=ErrorKind.PROVIDER, message="it failed", code=word))
                if word in FAILURES
                else Decoder.on_end(self, word)
            )
        ),
        "of kind 'provider' with the code 'TIMEOUT' is expected to be of kind network or overloaded or timeout",
    ),
    "a frame that is never the first": (
        planted(on_event=starts_with_content),
        "the frame of bytes .* alone: the adapter raised LocalProtocolError",
    ),
    "a document of an error that ends": (
        planted(resource_events=ends_without_a_word),
        "has completed, and the document is an error; name what only an answer has in `answer_fields`",
    ),
    "a plan that is written as a thought": (
        {
            "emitter": type(
                "ForgetsPlans", (Emitter,), {"kind_of": lambda self, part: kind_of(part).replace("plan", "thinking")}
            )
        },
        r"written by the emitter: \['plan'\], state of part 0 of 'a1', is not read again",
    ),
}


@pytest.mark.parametrize(("changes", "sentence"), FAULTS.values(), ids=FAULTS.keys())
def test_each_fault_of_a_new_author_is_found(changes, sentence):
    """
    Also in a decoder that names no number of items, since it has no fast path.
    """
    with pytest.raises(AssertionError, match=sentence):
        check_adapter(attrs.evolve(SOUND, **changes), SAMPLES, mutations=0, every_position=0)


def raising_for_cuts(message):
    return {
        "message": message_of(message, lambda call: call.raw_input or write_json(call.arguments).decode()),
        **end_of(message),
    }


def test_a_document_writer_that_raises_for_a_cut_answer_is_named():
    """
    `arguments` raises for a call without an input, which a cut answer may have.
    """
    with pytest.raises(AssertionError, match="the document of an answer that was cut raised LocalProtocolError"):
        check_adapter(attrs.evolve(SOUND, emit_resource=raising_for_cuts), SAMPLES, mutations=0, every_position=0)
