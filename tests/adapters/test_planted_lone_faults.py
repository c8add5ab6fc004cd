"""
`check_adapter` finds faults that one of its checks alone sees, each in an adapter that is sound otherwise.
"""

from itertools import count

import attrs
import pytest

from assistant_events import ErrorKind, FinishReason
from assistant_events.adapters import load_dialect
from assistant_events.adapters.anthropic_messages import AnthropicMessagesDecoder
from assistant_events.history import DropReason
from assistant_events.testing import check_adapter
from assistant_events.values import thaw

from .anthropic_messages.notation import DIALECT
from .test_planted_details import CONVERSE, GENERATE, RESPONSES, TWO, check, planted, with_input
from .test_planted_faults import SAMPLES


def never(self, *_, **__):
    pass


class SignsTheNextTextToo(AnthropicMessagesDecoder):
    signature = ""

    def _on_delta(self, event, delta):
        self.signature = delta.get("signature", self.signature)
        super()._on_delta(event, delta)

    def _on_start(self, index, fields):
        is_next = fields.get("type") == "text" and self.signature
        super()._on_start(index, {**fields, "before": self.signature[::-1]} if is_next else fields)


class RoundsIntegers(AnthropicMessagesDecoder):
    def feed(self, data):
        return [self._rounded(event) if event.type == "tool.called" else event for event in super().feed(data)]

    def _rounded(self, event):
        given = thaw(event.input)
        return attrs.evolve(event, input={key: float(n) if type(n) is int else n for key, n in given.items()})


class EndsThoughtsWithTheirPiece(AnthropicMessagesDecoder):
    def feed(self, data):
        events = super().feed(data)
        for at, event in enumerate(events[:-1]):
            if event.type == "reasoning.ended" and events[at + 1].type == "text.started":
                events[at : at + 2] = events[at + 1], event
        return events


class AddsNothingTwice(AnthropicMessagesDecoder):
    last = None
    offer_fast_path = never

    def _add(self, block, text):
        before, self.last = self.last, text
        if text != before or block.role == "call":
            super()._add(block, text)


class ForgetsUsageWhenCut(AnthropicMessagesDecoder):
    def on_close(self, error):
        if error is not None:
            self._counts = {}
        super().on_close(error)


class TrustsEveryText(AnthropicMessagesDecoder):
    def _on_delta(self, event, delta):
        if delta.get("type") == "text_delta":
            delta["text"].strip()
        super()._on_delta(event, delta)


def finishing_what_is_damaged(self, error, **more):
    if error.kind == ErrorKind.PROTOCOL:
        self.finish_step(FinishReason.OTHER, None)
    else:
        super(type(self), self).fail_step(error, **more)


def forgetting_frames(self, event):
    self.frame_ids.clear()
    super(type(self), self).on_event(event)


TRIES = count()


def counting_requests(transcript, body, **how):
    encoded = DIALECT.encoder(transcript, body, **how)
    return attrs.evolve(encoded, body={**encoded.body, "metadata": {"n": next(TRIES)}})


def silent_about_open_calls(transcript, body, **how):
    encoded = DIALECT.encoder(transcript, body, **how)
    return attrs.evolve(encoded, drops=[drop for drop in encoded.drops if drop.reason is not DropReason.NO_ANSWER])


def without_what_is_false(value):
    """
    Return a request whose calls have no arguments that are false.
    """
    if isinstance(value, list | tuple):
        return [without_what_is_false(each) for each in value]
    if not isinstance(value, dict):
        return value
    fields = {key: without_what_is_false(each) for key, each in value.items()}
    args = fields.get("args")
    return {**fields, "args": {key: arg for key, arg in args.items() if arg is not False}} if args else fields


def without_false_arguments(transcript, body, **how):
    encoded = load_dialect(GENERATE).encoder(transcript, body, **how)
    return attrs.evolve(encoded, body=without_what_is_false(encoded.body))


class NamesAllMessagesAlike(load_dialect(RESPONSES).emitter):
    def item_started(self, index, item, *, is_cut):
        super().item_started(index, self._alike(item), is_cut=is_cut)

    def item_ended(self, index, item):
        super().item_ended(index, self._alike(item))

    def _alike(self, item):
        return {**item, "id": "msg_0"} if item.get("type") == "message" else item


def is_answer(document):
    return "content" in document


def stopping_for_null(document, message_id, **how):
    reason = {"stop_reason": document.get("stop_reason") or "end_turn"} if is_answer(document) else {}
    return DIALECT.decode_resource({**document, **reason}, message_id, **how)


def reading_answers_alone(document, message_id, **how):
    return DIALECT.decode_resource(document, message_id, **how) if is_answer(document) else []


def beginning_what_is_strange(document, message_id, **how):
    events = DIALECT.decode_resource(document, message_id, **how)
    return events if is_answer(document) else events[:1]


def without_signatures(message):
    document = DIALECT.emit_resource(message)
    blocks = [{key: each for key, each in block.items() if key != "signature"} for block in document["content"]]
    return {**document, "content": blocks}


def knowing_some_statuses(status, headers, body, **how):
    return None if status == 599 else DIALECT.http_error(status, headers, body, **how)


def silent_without_a_body(status, headers, body, **how):
    return attrs.evolve(DIALECT.http_error(status, headers, body, **how), **({} if body else {"message": ""}))


OF_MESSAGES = {
    "a signature in the next part too": (
        {"decoder": SignsTheNextTextToo},
        "with another text there, part 0 of 'a1', part 1 of 'a1', .* changed; expected part 0 of 'a1' alone",
    ),
    "integers that are rounded": (
        {"decoder": RoundsIntegers},
        r"with the input .* is read as .*1\.2345678901234567e\+19",
    ),
    "an order of events that pieces decide": (
        {"decoder": EndsThoughtsWithTheirPiece},
        "thinking: (cut|in pieces).* it gives other durable events",
    ),
    "a text that is always a string": (
        {"decoder": TrustsEveryText},
        "damaged copy .*: the adapter raised KeyError",
    ),
    "a piece that is as the one before it": (
        {"decoder": AddsNothingTwice},
        "thinking: with 'Zzyxw' in the frames at byte .* and .*, part 0 of 'a1' has the text 'Zzyxw'; a piece that is",
    ),
    "usage of what was cut": (
        {"decoder": ForgetsUsageWhenCut},
        "thinking: input_tokens of the frame at byte 0 is lost if the stream is cut behind it",
    ),
    "a count that is of nothing": (
        with_input(424242),
        "usage.input_tokens is 424242, which is neither in a frame nor a sum of its details",
    ),
    "a request that counts": (
        {"encoder": counting_requests},
        "the same conversation makes another request the second time",
    ),
    "calls without a result that are not reported": (
        {"encoder": silent_about_open_calls},
        "parallel calls: the request has 2 calls without a result, and 0 drops for them",
    ),
    "null that is a stop in a document": (
        {"decode_resource": stopping_for_null},
        "a document with null in place of 'end_turn' is read as one that has just stopped",
    ),
    "strange documents that are nothing": ({"decode_resource": reading_answers_alone}, "returns no events"),
    "strange documents without an end": ({"decode_resource": beginning_what_is_strange}, "left open: step.failed"),
    "a document without signatures": (
        {"emit_resource": without_signatures},
        "thinking: the document of the answer has lost the state",
    ),
    "a status that is no error": (
        {"http_error": knowing_some_statuses},
        r"http_error\(599, .* is NoneType, expected an ErrorInfo",
    ),
    "an error without a message": ({"http_error": silent_without_a_body}, r"http_error\(200, {}, b''\) has no message"),
}


@pytest.mark.parametrize(("changes", "sentence"), OF_MESSAGES.values(), ids=OF_MESSAGES.keys())
def test_a_fault_of_one_check(changes, sentence):
    """
    Without this check the adapter would pass, or fail with another sentence.
    """
    policy = {"policy": DIALECT.policy} if "encoder" in changes else {}
    bodies = {name: SAMPLES[name] for name in ("thinking", "length", "parallel calls")}
    with pytest.raises(AssertionError, match=sentence):
        check_adapter(attrs.evolve(DIALECT, **policy, **changes), bodies, mutations=50, every_position=0)


OF_OTHERS = {
    "damage that ends an answer": (
        (CONVERSE, ["parallel calls"], planted(CONVERSE, fail_step=finishing_what_is_damaged)),
        "a bit of byte .* is flipped, and the step does not fail",
    ),
    "frames that are forgotten": (
        (
            RESPONSES,
            ["cited text"],
            planted(RESPONSES, on_event=forgetting_frames, offer_fast_path=never),
        ),
        "comes twice with the same sequence_number, and changes the answer",
    ),
    "arguments that are false": (
        (GENERATE, [TWO, "parallel calls"], {"encoder": without_false_arguments}),
        "call .* with the input .* is not in the request",
    ),
    "one id for all messages": (
        (RESPONSES, ["phases"], {"emitter": NamesAllMessagesAlike}),
        "in the emitter's stream part . of 'a1', part . of 'a1' have the same id",
    ),
}


@pytest.mark.parametrize(("planted_in", "sentence"), OF_OTHERS.values(), ids=OF_OTHERS.keys())
def test_a_fault_of_one_check_in_other_dialects(planted_in, sentence):
    """
    So are those that need another wire.
    """
    name, streams, changes = planted_in
    with pytest.raises(AssertionError, match=sentence):
        check(name, streams, **changes)
