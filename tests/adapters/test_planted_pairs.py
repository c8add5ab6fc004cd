"""
`check_adapter` finds state, results, names and words that are exchanged for others, each in an adapter that is sound.

Those that change one thing alone are in `test_planted_faults` and `test_planted_habits`.
"""

import unicodedata

import attrs
import pytest

from assistant_events import ErrorKind, FinishReason
from assistant_events.adapters import load_dialect
from assistant_events.adapters.anthropic_messages import AnthropicMessagesDecoder, AnthropicMessagesEmitter
from assistant_events.adapters.errors import ErrorTable
from assistant_events.messages import TextPart
from assistant_events.testing import check_adapter
from tests.fuzz.seeds import samples

from .anthropic_messages.notation import DIALECT, END, B, E, H, J, K, M, S, T, X, answer, stream, text, tool
from .test_planted_faults import SAMPLES, encoding

FIRST, SECOND = "Zmlyc3Qtc2lnbmF0dXJlLQ==", "c2Vjb25kLXNpZ25hdHVyZQ=="


def thinking(index, words, signature):
    return B(index, "thinking", thinking="", signature=""), H(index, words), S(index, signature), X(index)


def found(index, call_id, words):
    result = {"type": "text", "text": words}
    return B(index, "bash_code_execution_tool_result", tool_use_id=call_id, content=[result]), X(index)


PAIRS = {
    "two thoughts": answer(*thinking(0, "First of all", FIRST), *thinking(1, "Then again", SECOND), *text(2, "Yes.")),
    "two searches": answer(
        *tool(0, "srvtoolu_1", "bash_code_execution", '{"query":"one"}', "server_tool_use"),
        *tool(1, "srvtoolu_2", "bash_code_execution", '{"query":"two"}', "server_tool_use"),
        *found(2, "srvtoolu_1", "What was found first"),
        *found(3, "srvtoolu_2", "What was found then"),
        *text(4, "So it is."),
    ),
    "parallel calls": SAMPLES["parallel calls"],
    "calls by turns": answer(
        *(B(0, "tool_use", id="toolu_first", name="look_up", input={}), J(0, '{"a" : 1, ')),
        *(B(1, "tool_use", id="toolu_second", name="look_up", input={}), J(1, '{"c" : 3, ')),
        *(J(0, '"b": 2}'), J(1, '"d": 4}'), X(0), X(1)),
        stop_reason="tool_use",
    ),
    "cached": stream(
        M(usage={"input_tokens": 431, "cache_read_input_tokens": 120, "cache_creation_input_tokens": 0}),
        *text(0, "On"),
        K(usage={"output_tokens": 977, "output_tokens_details": {"thinking_tokens": 55}}),
        END,
    ),
    "paused": stream(M(), *text(0, "Wait a bit"), K("pause_turn"), END),
    "cut by an error": stream(M(), B(0, "text", text=""), T(0, "He"), T(0, "re"), E(message="Overloaded, come back")),
    "refused": stream(M(), E("invalid_request_error", "No such field")),
}


def check(**changes):
    policy = {"policy": DIALECT.policy} if "encoder" in changes else {}
    check_adapter(attrs.evolve(DIALECT, **policy, **changes), PAIRS, mutations=0, every_position=0)


def exchanged(blocks):
    """
    Return blocks whose signatures are those of each other.
    """
    signatures = [block["signature"] for block in blocks if block.get("signature")]
    return [{**block, "signature": signatures.pop()} if block.get("signature") else block for block in blocks]


def each_answer(change):
    return encoding(
        lambda messages: [
            {**each, "content": change(each["content"])} if each["role"] == "assistant" else each for each in messages
        ]
    )


def joined_texts(blocks):
    """
    Return blocks with each text in one block with the text before it.
    """
    found = []
    for block in blocks:
        if found and block["type"] == found[-1]["type"] == "text":
            found[-1] = {**found[-1], **block, "text": found[-1]["text"] + block["text"]}
        else:
            found.append(block)
    return found


class ExchangesSignatures(AnthropicMessagesEmitter):
    """
    Writes the signature of a part with the next one.
    """

    def on_start(self, message):
        super().on_start(message)
        self.signatures = []

    def on_part(self, place, part):
        if part.state.get("signature"):
            self.signatures.append(part.state["signature"])
            part = attrs.evolve(part, state={**part.state, "signature": self.signatures[0]})
        super().on_part(place, part)


class EndsWhatWasCut(AnthropicMessagesEmitter):
    def on_part(self, place, part):
        super().on_part(place, attrs.evolve(part, status="completed") if isinstance(part, TextPart) else part)


WAYS_BACK = {
    "signatures of other thoughts in a request": (
        {"encoder": each_answer(exchanged)},
        "two thoughts: in the request '.*', state of part 0 of 'a1', is beside part 1 of 'a1'",
    ),
    "signatures of other thoughts in a document": (
        {"emit_resource": lambda m: {**(d := DIALECT.emit_resource(m)), "content": exchanged(d.get("content", ()))}},
        "two thoughts: in the document '.*', state of part 0 of 'a1', is beside part 1 of 'a1'",
    ),
    "signatures of other thoughts in a stream": (
        {"emitter": ExchangesSignatures},
        "two thoughts, written by the emitter: '.*', state of part 0 of 'a1', is in part 0 .*; expected part 0 of 'a1'",
    ),
    "an emitter that ends what was cut": (
        {"emitter": EndsWhatWasCut},
        r"cut by an error, written by the emitter the answer has other parts that were cut: \[\]; expected \[0\]",
    ),
}


@pytest.mark.parametrize(("changes", "sentence"), WAYS_BACK.values(), ids=WAYS_BACK.keys())
def test_each_exchange_on_the_way_back_is_found(changes, sentence):
    """
    The sentence names the part, and the one whose place it has.
    """
    with pytest.raises(AssertionError, match=sentence):
        check(**changes)


def test_the_samples_are_sound():
    """
    Without a fault nothing is found.
    """
    check()


def test_code_that_names_a_tool_is_sound():
    """
    The input of a call of code has the name of the tool that the code calls, which is beside the id of that call.
    """
    body = answer(
        *tool(0, "srvtoolu_1", "code_execution", '{"code":"await web_search(1)"}', "server_tool_use"),
        *tool(1, "srvtoolu_2", "web_search", '{"query":"one"}', "server_tool_use"),
        *found(2, "srvtoolu_2", "What was found first"),
        *found(3, "srvtoolu_1", "What was printed then"),
    )
    check_adapter(DIALECT, {"code": body}, mutations=0, every_position=0)


def test_thoughts_that_name_their_call_are_sound():
    """
    OpenRouter's encrypted thoughts of Gemini have the id of the call that they lead to.
    """
    details = [
        {"type": "reasoning.text", "text": "I look it up.", "format": "google-gemini-v1", "index": 0},
        {
            "type": "reasoning.encrypted",
            "data": FIRST,
            "format": "google-gemini-v1",
            "id": "tool_look_up_1",
            "index": 1,
        },
    ]
    call = {
        "index": 0,
        "id": "tool_look_up_1",
        "type": "function",
        "function": {"name": "look_up", "arguments": '{"city":"Florence"}'},
    }
    sound = load_dialect("openai-chat")
    body = b"".join(
        sound.decoder.framing.frame(
            None, {"id": "gen-1", "model": "google/m", "provider": "Google", "choices": [choice]}
        )
        for choice in (
            {"index": 0, "delta": {"role": "assistant", "reasoning_details": details}},
            {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"},
        )
    )
    check_adapter(sound, {"thoughts": body + b"data: [DONE]\n\n"}, mutations=0, every_position=0)


def test_texts_with_state_that_are_joined():
    """
    So is an encoder that joins a text with a signature and the next one.
    """
    sound = load_dialect("gemini-generate-content")
    frame = sound.decoder.framing.frame
    chunk = {"responseId": "r1", "modelVersion": "m"}
    parts = [{"text": "One text.", "thoughtSignature": FIRST}, {"text": "Another text."}]
    body = frame(
        None,
        {**chunk, "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]},
    )

    def encode(transcript, body, **how):
        encoded = sound.encoder(transcript, body, **how)
        for message in encoded.body["contents"]:
            parts = message["parts"]
            for part in parts[1:] if all(part.keys() <= {"text", "thoughtSignature"} for part in parts) else ():
                parts[0] = {**parts[0], **part, "text": parts[0]["text"] + part["text"]}
            message["parts"] = parts[:1] if len(parts) > 1 and "text" in parts[-1] else parts
        return encoded

    check_adapter(sound, {"signed": body}, mutations=0, every_position=0)
    changed = attrs.evolve(sound, encoder=encode, policy=sound.policy)
    with pytest.raises(AssertionError, match=r"in the request the texts of part 0 .* are one, and part 0 of 'a1' has"):
        check_adapter(changed, {"signed": body}, mutations=0, every_position=0)


class Slow(AnthropicMessagesDecoder):
    """
    Has no fast path, so that all of it has the fault.
    """

    def offer_fast_path(self, *frame, **how):
        pass


def changing(change):
    """
    Return the decoder with a change of what each text has.
    """

    def _add(self, block, text):
        Slow._add(self, block, change(text) if block.role == "text" else text)

    return type("Changes", (Slow,), {"_add": _add})


class CallsTheFirst(AnthropicMessagesDecoder):
    """
    Gives every result to the first call that waits.
    """

    def _on_result(self, block, fields, state):
        waiting = [each["id"] for each in self.starts if each["id"] not in self.answered]
        self.answered.append(waiting[-1] if waiting else "")
        return super()._on_result(block, {**fields, "tool_use_id": self.answered[-1]}, state)

    def on_begin(self):
        super().on_begin()
        self.starts, self.answered = [], []

    def _on_start(self, index, fields):
        if fields.get("type") == "server_tool_use":
            self.starts.append(fields)
        super()._on_start(index, fields)


class KnowsEachIdOnce(AnthropicMessagesDecoder):
    """
    Takes a call with a known id for the same call.
    """

    def on_begin(self):
        super().on_begin()
        self.ids = {}

    def _on_start(self, index, fields):
        if fields.get("type") == "tool_use":
            if fields["id"] in self.ids:
                self._blocks[index] = self._blocks[self.ids[fields["id"]]]
                return
            self.ids[fields["id"]] = index
        super()._on_start(index, fields)


class LowersNames(AnthropicMessagesDecoder):
    def _on_start(self, index, fields):
        name = fields.get("name")
        super()._on_start(index, {**fields, "name": name.lower()} if isinstance(name, str) else fields)


class ShortensIds(AnthropicMessagesDecoder):
    def _on_start(self, index, fields):
        ident = fields.get("id")
        super()._on_start(index, {**fields, "id": ident.split(":")[0]} if isinstance(ident, str) else fields)


class EndsAllCalls(AnthropicMessagesDecoder):
    """
    Ends all calls with the first of them.
    """

    def _on_stop(self, block):
        for each in self._blocks.values() if block is not None and block.role == "call" else ():
            if each.role == "call":
                super()._on_stop(each)
        super()._on_stop(block)


class ShortensResults(AnthropicMessagesDecoder):
    def _on_result(self, block, fields, state):
        content = [{**each, "text": each["text"][:2000]} if "text" in each else each for each in fields["content"]]
        return super()._on_result(block, {**fields, "content": content}, state)


class FailsResults(AnthropicMessagesDecoder):
    """
    Takes a result without a mark of its success for a failure.
    """

    def _on_result(self, block, fields, state):
        return super()._on_result(block, {**fields, "is_error": fields.get("is_error") is not False}, state)


class TakesPausesForTheEnd(AnthropicMessagesDecoder):
    def finish_reason_of(self, given, *, refused=False):
        given = FinishReason.OTHER if given is FinishReason.PAUSE else given
        return super().finish_reason_of(given, refused=refused)


def failing(**changes):
    """
    Return the decoder with something else in its errors.
    """

    def fail_step(self, error, **more):
        known = {key: value(error) for key, value in changes.items()}
        AnthropicMessagesDecoder.fail_step(self, attrs.evolve(error, **known), **more)

    return type("Fails", (AnthropicMessagesDecoder,), {"fail_step": fail_step})


def counting(change):
    """
    Return the decoder with another usage.
    """

    def _usage_so_far(self, *, partial):
        usage = AnthropicMessagesDecoder._usage_so_far(self, partial=partial)
        return usage and change(usage)

    return type("Counts", (AnthropicMessagesDecoder,), {"_usage_so_far": _usage_so_far})


DECODERS = {
    "results of other calls": (
        CallsTheFirst,
        "two searches: 'What was found .*' of the frame at byte .* is beside the id 'srvtoolu_.', and in the result",
    ),
    "one call of two with the same id": (
        KnowsEachIdOnce,
        "with the id 'toolu_first' for two calls the calls are",
    ),
    "names in small letters": (LowersNames, "has the name 'functions.zz_check-1'"),
    "ids without their ends": (ShortensIds, "with the id 'functions.Zz_Check:1' has the id 'functions.Zz_Check'"),
    "all calls that end with one": (EndsAllCalls, "calls by turns: with mixed frames of the items 0 and 1 the calls"),
    "results that are cut": (ShortensResults, "in place of 'What was found .*' the result has 2000 characters"),
    "results that have failed": (FailsResults, "two searches: the call of part 0 of 'a1' has failed, and no frame has"),
    "composed signs": (
        changing(lambda text: unicodedata.normalize("NFC", text)),
        r"with .* in delta.text of the frame at byte .* has the text",
    ),
    "signs without width": (
        changing(lambda text: text.replace("\u200d", "")),
        r"with .* in delta.text of the frame at byte .* has the text",
    ),
    "signs that are named": (
        changing(lambda text: text.replace("&amp;", "&")),
        r"with .* in delta.text of the frame at byte .* has the text",
    ),
    "halves of pairs": (
        changing(lambda text: text.encode("utf-8", "replace").decode()),
        r"with the halves of a pair of surrogates as delta.text of two frames at byte .* the texts are .*\?\?",
    ),
    "a pause of another kind": (
        TakesPausesForTheEnd,
        "paused: message 'a1' ended with 'pause_turn' and has the finish reason 'other'; expected 'pause'",
    ),
    "an error that is not tried again": (
        failing(retryable=lambda error: None),
        "'overloaded' with the code 'overloaded_error' has retryable=None, expected True",
    ),
    "an error that is tried in vain": (
        failing(retryable=lambda error: True),
        "refused: the error of kind 'invalid-request' with the code 'invalid_request_error' can be retried",
    ),
    "an error of another kind": (
        failing(kind=lambda error: ErrorKind.INVALID_REQUEST, retryable=lambda error: None),
        "with the code 'overloaded_error' is expected to be of kind overloaded or provider or rate-limit",
    ),
    "a count that is not read": (
        counting(lambda usage: attrs.evolve(usage, cache_read_tokens=None)),
        r"cached: usage.cache_read_tokens is None, although its details have \['cache_read_input_tokens'\]",
    ),
    "a count of something else": (
        counting(lambda usage: attrs.evolve(usage, reasoning_tokens=usage.cache_read_tokens)),
        "cached: usage.reasoning_tokens is 120, which is only in fields of other counts",
    ),
}


@pytest.mark.parametrize(("decoder", "sentence"), DECODERS.values(), ids=DECODERS.keys())
def test_each_exchange_of_a_decoder_is_found(decoder, sentence):
    """
    So are those of what reads a stream.
    """
    with pytest.raises(AssertionError, match=sentence):
        check(decoder=decoder, emitter=None, emit_resource=None)


def test_sources_without_their_places():
    """
    So are citations that have lost their places, because a start of 0 was taken for none.
    """
    sound = load_dialect("openai-chat")

    class LosesStarts(sound.decoder):
        def on_begin(self):
            super().on_begin()
            keep = self.recorder.keep

            def without_zeros(key, state=(), citations=(), details=None):
                found = [each if each.start else attrs.evolve(each, start=None, end=None) for each in citations]
                return keep(key, state or {}, found, details or {})

            self.recorder.keep = without_zeros

    changed = attrs.evolve(sound, decoder=LosesStarts, emitter=None, emit_resource=None)
    body = samples("openai-chat")["citations"].body
    with pytest.raises(AssertionError, match="is of the text from 0 to 5, and its citation has no place"):
        check_adapter(changed, {"citations": body}, mutations=0, every_position=0)


def waiting(read):
    """
    Return a reader of HTTP errors that reads the header itself.
    """

    def http_error(status, headers, body):
        error = ErrorTable(codes={}, otherwise="error").read_http(status, {}, body)
        return attrs.evolve(error, retry_after_s=read(headers.get("retry-after")))

    return http_error


@pytest.mark.parametrize(
    ("read", "sentence"),
    [
        (lambda text: float(text) if text and text.isdigit() else None, r"Wed, 21 Oct .* after None s, expected 7 s"),
        (lambda text: float(text) if text and "21" not in text else 7.0, r"Wed, 99|raised ValueError"),
    ],
    ids=["no dates", "no nonsense"],
)
def test_each_form_of_a_pause_is_read(read, sentence):
    """
    So is an adapter that reads one form of the header `retry-after`, or raises for another.
    """
    with pytest.raises(AssertionError, match=sentence):
        check(http_error=waiting(read))
