"""
`check_adapter` finds faults that authors of adapters make by habit, each in an adapter that is sound otherwise.

Those that a trial of several dialects planted are in `test_planted_faults`.
"""

import attrs
import pytest

from assistant_events import FinishReason
from assistant_events.adapters import load_dialect
from assistant_events.adapters.anthropic_messages import AnthropicMessagesDecoder, AnthropicMessagesEmitter
from assistant_events.adapters.anthropic_messages.encoder import AnthropicMessagesEncoder
from assistant_events.adapters.gemini_generate_content.encoder import GeminiGenerateContentEncoder
from assistant_events.adapters.json_fields import mapping
from assistant_events.messages import TextPart
from assistant_events.testing import check_adapter
from tests.fuzz.seeds import samples

from .anthropic_messages.notation import DIALECT
from .bedrock_converse.notation import REQUEST
from .test_planted_faults import SAMPLES, each_block, encoding


class RemembersInItsClass(AnthropicMessagesDecoder):
    seen = []  # noqa: RUF012 - the fault

    def _on_start(self, index, fields):
        self.seen.append(fields.get("id"))
        super()._on_start(index, fields)


LAST = {}
"""What one decoder remembers for all others."""


class RemembersInItsModule(AnthropicMessagesDecoder):
    def _on_start(self, index, fields):
        LAST["type"] = fields.get("type")
        super()._on_start(index, fields)


class Slow(AnthropicMessagesDecoder):
    """
    Has no fast path, so that all of it has the fault.
    """

    def offer_fast_path(self, *frame, **how):
        pass


class AddsTwice(Slow):
    def _add(self, block, text):
        super()._add(block, text)
        super()._add(block, text if block.role == "text" else "")


class HoldsItsTexts(Slow):
    def on_begin(self):
        super().on_begin()
        self.held = []

    def _add(self, block, text):
        if block.role == "text":
            self.held.append(text)
        else:
            super()._add(block, text)

    def _on_stop(self, block):
        self.release(block)
        super()._on_stop(block)

    def on_failing(self):
        self.release(self._latest)

    def release(self, block):
        if block is not None and block.role == "text" and self.held:
            super()._add(block, "".join(self.held))
            self.held.clear()


class TakesTheUnknownForAStop(AnthropicMessagesDecoder):
    def finish_reason_of(self, given, *, refused=False):
        given = FinishReason.STOP if given is FinishReason.OTHER else given
        return super().finish_reason_of(given, refused=refused)


class TakesLengthForAStop(AnthropicMessagesDecoder):
    def finish_reason_of(self, given, *, refused=False):
        return FinishReason.STOP if given is FinishReason.LENGTH else super().finish_reason_of(given, refused=refused)


class KeepsASignatureToTheEnd(AnthropicMessagesDecoder):
    signature = None

    def _on_delta(self, event, delta):
        if delta.get("type") == "signature_delta":
            self.signature = delta
        else:
            super()._on_delta(event, delta)

    def _on_stop(self, block):
        signature, self.signature = self.signature, None
        if signature is not None and block is not None:
            super()._on_delta({"index": next(at for at in self._blocks if self._blocks[at] is block)}, signature)
        super()._on_stop(block)


class SignsTextsAlone(AnthropicMessagesDecoder):
    """
    Keeps a signature only of a thought with text.
    """

    def _on_delta(self, event, delta):
        opened = self.recorder.open_of(self._block_at(event["index"]))
        if delta.get("type") != "signature_delta" or (opened is not None and opened.buffer.value()):
            super()._on_delta(event, delta)


DECODERS = {
    "state in a class": (
        RemembersInItsClass,
        r"thinking: RemembersInItsClass.seen has changed from \[\] to \[None, None, None\]: all answers share",
    ),
    "state in a module": (
        RemembersInItsModule,
        "habits.LAST has changed from {} to {'type': 'text'}: all answers share",
    ),
    "a text that is added twice": (
        AddsTwice,
        "thinking: delta.text of the frame at byte .* arrives 2 times, in part 1 of 'a1'",
    ),
    "a text that waits for its end": (HoldsItsTexts, "thinking: delta.text of the frame at byte .* is held back"),
    "an unknown end that is a stop": (TakesTheUnknownForAStop, "ended with the unknown word 'x_Check', in place of"),
    "a length that is a stop": (TakesLengthForAStop, "length: .* ended with 'max_tokens', which does not mean a stop"),
    "a signature that waits": (KeepsASignatureToTheEnd, "state of part 0 of 'a1', is lost when the stream is cut"),
    "a signature that needs a text": (
        SignsTextsAlone,
        "thinking, without texts beside state: 'c2ln.*', state of part 0",
    ),
}


@pytest.mark.parametrize(("decoder", "sentence"), DECODERS.values(), ids=DECODERS.keys())
def test_each_habit_of_a_decoder_is_found(decoder, sentence):
    """
    The sentence names the stream, the place in it, and what is wrong there.
    """
    with pytest.raises(AssertionError, match=sentence):
        check_adapter(attrs.evolve(DIALECT, decoder=decoder), SAMPLES, mutations=0, every_position=0)


def changing(dialect, change):
    """
    Return the decoder of a dialect that reads its events in another way.
    """
    sound = load_dialect(dialect).decoder

    class Changed(sound):
        def on_event(self, event):
            event = change(event)
            if event is not None:
                super().on_event(event)

    return Changed


def one_index(event):
    """
    Take all pieces of calls for those of one.
    """
    return each_delta(event, lambda delta: {**delta, "tool_calls": [{**c, "index": 0} for c in delta["tool_calls"]]})


def each_delta(event, change):
    changed = [
        {**choice, "delta": change(choice["delta"])} if mapping(choice, "delta").get("tool_calls") else choice
        for choice in event.get("choices", ())
    ]
    return {**event, "choices": changed}


def each_part(event, change):
    contents = [
        {**each, "content": {**each["content"], "parts": change(each["content"]["parts"])}}
        for each in event.get("candidates", ())
        if mapping(each, "content").get("parts")
    ]
    return {**event, "candidates": contents} if contents else event


def in_strings(parts):
    """
    Take all arguments for strings.
    """
    calls = [mapping(part, "functionCall") for part in parts]
    texts = [{key: str(value) for key, value in mapping(call, "args").items()} for call in calls]
    return [
        {**part, "functionCall": {**call, "args": args}} if call else part
        for part, call, args in zip(parts, calls, texts, strict=True)
    ]


def thoughts_of_any_flag(parts):
    return [part if part.get("thought") is None else {**part, "thought": True} for part in parts]


def joined_blanks(event):
    delta = event.get("delta")
    return {**event, "delta": " ".join(delta.split("  "))} if isinstance(delta, str) else event


CHANGES = {
    "pieces of one call": (
        "openai-chat",
        "calls by turns",
        one_index,
        "the frame at byte .* is of item 1, and adds to part 1 of 'a1', as that at byte .* of item 0 does",
    ),
    "the first of several parts": (
        "gemini-generate-content",
        "calls without ids",
        lambda event: each_part(event, lambda parts: parts[:1]),
        "in one, which has all items of candidates.content.parts, the answer is",
    ),
    "arguments that are strings": (
        "gemini-generate-content",
        "parallel calls",
        lambda event: each_part(event, in_strings),
        r"call 'fc2' with the input .* is read as .*'n': '12345678901234567890'",
    ),
    "a flag that is there": (
        "gemini-generate-content",
        "thought and text",
        lambda event: each_part(event, thoughts_of_any_flag),
        r"with false as fields that the frame at byte \d+ does not have \(candidates.content.parts.thought\)",
    ),
    "deltas that are not the text": (
        "openai-responses",
        "text",
        joined_blanks,
        "in delta of the frame at byte .* the deltas are",
    ),
    "null that is a value": (
        "openai-chat",
        "padding",
        lambda event: {**event, "choices": []} if "usage" in event else event,
        r"with null as fields that the frame at byte \d+ does not have \(.*usage.*\) the answer is",
    ),
    "an error that is passed over": (
        "openai-responses",
        "error and failure",
        lambda event: None if event.get("type") == "error" else event,
        r"the answer ends with the frame at byte .*, and its error \['No.'\] is lost",
    ),
}


@pytest.mark.parametrize(("dialect", "name", "change", "sentence"), CHANGES.values(), ids=CHANGES.keys())
def test_each_habit_of_reading_is_found(dialect, name, change, sentence):
    """
    So are those that only the wires of other dialects have.
    """
    sound = load_dialect(dialect)
    changed = attrs.evolve(sound, decoder=changing(dialect, change), emitter=None, emit_resource=None)
    how = {"mutations": 0, "every_position": 0}
    streams = {name: samples(dialect)[name].body}

    check_adapter(attrs.evolve(sound, emitter=None, emit_resource=None), streams, **how)
    with pytest.raises(AssertionError, match=sentence):
        check_adapter(changed, streams, **how)


def test_an_end_that_only_the_mark_has():
    """
    So is a decoder that needs the mark of the end, which no SDK gives to its callers.
    """
    sound = load_dialect("openai-chat")

    class NeedsTheMark(sound.decoder):
        def on_close(self, error):
            pass

    changed = attrs.evolve(sound, decoder=NeedsTheMark, emitter=None, emit_resource=None)
    with pytest.raises(AssertionError, match="fed with `feed_event`, as the events of an SDK are, it has another end"):
        check_adapter(changed, {"text": samples("openai-chat")["plain text"].body}, mutations=0, every_position=0)


def test_counts_of_caches_that_are_swapped():
    """
    So is a table with the count that is read from a cache in place of that which is written to it.
    """
    sound = load_dialect("bedrock-converse")
    table = sound.decoder.usage_table
    read, written = table.counts["cache_read_tokens"], table.counts["cache_write_tokens"]
    swapped = attrs.evolve(table, counts={**table.counts, "cache_read_tokens": written, "cache_write_tokens": read})
    decoder = type("Swaps", (sound.decoder,), {"usage_table": swapped})
    streams = {"facts": samples("bedrock-converse")["facts"].body}

    with pytest.raises(AssertionError, match=r"usage\.cache_read_tokens is 12, which is only in fields of the other"):
        check_adapter(attrs.evolve(sound, decoder=decoder), streams, request=REQUEST, mutations=0, every_position=0)


# -- the way back


def blocks_of(messages, kind):
    return [block for message in messages for block in message["content"] if block["type"] == kind]


def one_result_a_tool(messages):
    """
    Send the last result of a tool alone.
    """
    names = {block["id"]: block["name"] for block in blocks_of(messages, "tool_use")}
    last = {names.get(each["tool_use_id"]): each for each in blocks_of(messages, "tool_result")}
    return [
        {**message, "content": [b for b in message["content"] if b["type"] != "tool_result" or b in last.values()]}
        for message in messages
    ]


def results_of_others(messages):
    """
    Send each result as that of the next call.
    """
    ids = [block["tool_use_id"] for block in blocks_of(messages, "tool_result")]
    others = dict(zip(ids, [*ids[1:], *ids[:1]], strict=True))
    return [
        {
            **message,
            "content": [
                {**block, "tool_use_id": others[block["tool_use_id"]]} if block["type"] == "tool_result" else block
                for block in message["content"]
            ],
        }
        for message in messages
    ]


def texts_first(messages):
    return [
        {**message, "content": sorted(message["content"], key=lambda block: block["type"] != "text")}
        if message["role"] == "assistant"
        else message
        for message in messages
    ]


def calls_first(messages):
    return [
        {**message, "content": sorted(message["content"], key=lambda block: block["type"] != "tool_use")}
        if message["role"] == "assistant"
        else message
        for message in messages
    ]


def renamed(block):
    return [{key: value.upper() if key in ("id", "tool_use_id") else value for key, value in block.items()}]


def trimmed(kind):
    """
    Return a change that takes blanks away around texts of the answer, of the user or of results.
    """

    def change(message, block):
        if kind == "result" and block["type"] == "tool_result" and isinstance(block["content"], str):
            return {**block, "content": block["content"].strip()}
        if block["type"] == "text" and message["role"] == kind:
            return {**block, "text": block["text"].strip()}
        return block

    return encoding(
        lambda messages: [{**each, "content": [change(each, block) for block in each["content"]]} for each in messages]
    )


class SignsNoEmptyThought(AnthropicMessagesEncoder):
    def answer_items(self, message):
        items = super().answer_items(message)
        for block in blocks_of(items, "thinking"):
            block["signature"] = block["signature"] if block["thinking"] else ""
        return items


class TrimsTexts(AnthropicMessagesEmitter):
    def on_part(self, place, part):
        super().on_part(place, attrs.evolve(part, text=part.text.strip()) if isinstance(part, TextPart) else part)


def a_document_of(order):
    """
    Return a writer of documents with their blocks in another order.
    """

    def write(message):
        document = DIALECT.emit_resource(message)
        return {**document, "content": order(document["content"])} if "content" in document else document

    return write


def printed(block):
    return [{**block, "content": str(block["content"])} if block["type"] == "tool_result" else block]


WAYS_BACK = {
    "one result for each tool": (
        {"encoder": encoding(one_result_a_tool)},
        "a conversation of 3 turns: 'seen first a.' is in the request 0 times, expected once",
    ),
    "results of other calls": (
        {"encoder": encoding(results_of_others)},
        "the result of call 'toolu_first' is in the request as that of 'toolu_second', which is another call",
    ),
    "results without their blanks": (
        {"encoder": trimmed("result")},
        "the result of call 'toolu_first' is in the request without its blanks",
    ),
    "results as Python prints them": (
        {"encoder": each_block(printed)},
        "several contents: the result of call 'toolu_first' is in the request as Python prints it",
    ),
    "answers without their blanks": (
        {"encoder": trimmed("assistant")},
        "with .* in part 1 of 'a1', the request has",
    ),
    "prompts without their blanks": (
        {"encoder": trimmed("user")},
        "history with blanks around a prompt: the prompt .* is neither sent nor reported",
    ),
    "no empty results": (
        {
            "encoder": each_block(
                lambda block: [] if block["type"] == "tool_result" and not block["content"] else [block]
            )
        },
        "parallel calls: with results that are empty the request names .*: each call needs a result",
    ),
    "ids of its own": (
        {"encoder": each_block(renamed)},
        "call 'toolu_first' is in the request without its id 'toolu_first', as the provider gave it",
    ),
    "no signature of an empty thought": (
        {"encoder": SignsNoEmptyThought.encode},
        "thinking, without texts beside state: the state .* may be sent and is in the request 0 times",
    ),
    "texts before thoughts": (
        {"encoder": encoding(texts_first)},
        "parts 0 and 1 of 'a1', reasoning and text, (are in the request the other way around|may change places)",
    ),
    "calls before texts": (
        {"encoder": encoding(calls_first)},
        "a call between two texts: in the request it is not between them",
    ),
    "an emitter without blanks": ({"emitter": TrimsTexts}, "with .* in part 1 of 'a1', the emitter's stream has"),
    "a document in another order": (
        {"emit_resource": a_document_of(lambda blocks: blocks[:1] + blocks[:0:-1])},
        "read from its document the answer has its parts in the order .*, expected",
    ),
    "a document of texts first": (
        {"emit_resource": a_document_of(lambda blocks: sorted(blocks, key=lambda block: block["type"] != "text"))},
        "a call between two texts: in the document it is not between them|has its parts in the order",
    ),
}


@pytest.mark.parametrize(("changes", "sentence"), WAYS_BACK.values(), ids=WAYS_BACK.keys())
def test_each_habit_on_the_way_back_is_found(changes, sentence):
    """
    So are those of what makes requests, streams and documents.
    """
    policy = {"policy": DIALECT.policy} if "encoder" in changes else {}
    with pytest.raises(AssertionError, match=sentence):
        check_adapter(attrs.evolve(DIALECT, **policy, **changes), SAMPLES, mutations=0, every_position=0)


def test_thoughts_that_are_left_out_in_silence():
    """
    So is an encoder that sends no thoughts, and reports that it has sent them.
    """
    sound = load_dialect("gemini-generate-content")

    class SendsNoThoughts(GeminiGenerateContentEncoder):
        def is_sent(self, message, part):
            return True

        def answer_items(self, message):
            items = super().answer_items(message)
            return [{**item, "parts": [part for part in item["parts"] if "thought" not in part]} for item in items]

    changed = attrs.evolve(sound, encoder=SendsNoThoughts.encode)
    streams = {"thoughts": samples(sound.name)["thought and text"].body}
    with pytest.raises(
        AssertionError, match="thoughts: reasoning of part 0 of 'a1' is not in the request: 'Plan: look'"
    ):
        check_adapter(changed, streams, mutations=0, every_position=0)
