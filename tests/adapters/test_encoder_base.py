"""
What every encoder reports: content and parts that its wire cannot have.
"""

import re

import pytest

from assistant_events import Origin, Transcript, UserMessage, fold
from assistant_events.adapters import DecoderBase, Dialect, EncoderBase, load_dialect
from assistant_events.adapters.call_ids import wire_id
from assistant_events.history import DropReason, Policy
from assistant_events.recorder import Recorder
from assistant_events.testing import Call, answer
from assistant_events.values import MediaContent, TextContent

IMAGE = MediaContent(media_type="image/png", data=b"x")
LINES = Origin(provider="acme", model="m", dialect="lines")
BODY = {"model": "m"}


class LinesEncoder(EncoderBase):
    """
    Text and calls of the app; an answer is one item, also when it is empty.
    """

    dialect = "lines"
    provider = "acme"
    policy = Policy(item_key="i")

    def content(self, content):
        return {"text": content.text} if isinstance(content, TextContent) else None

    def user_item(self, blocks):
        return {"from": "user", "blocks": blocks}

    def answer_items(self, message):
        calls = [call.name for call in message.tool_calls if not call.provider_executed]
        return [{"from": "model", "text": message.text, "calls": calls}]

    def result_item(self, call, content, *, failed):
        return {"result_of": call.call_id, "blocks": [self.content(item) for item in content]}

    def conversation(self, items):
        return {"log": items}


class RowsEncoder(LinesEncoder):
    """
    The same in a field that the class names, with all state but that under one key.
    """

    conversation_fields = ("rows", "after")
    conversation = EncoderBase.conversation
    unplaced_state = frozenset({"deltas"})

    def result_item(self, call, content, *, failed):
        return {"result_of": call.call_id, "value": self.result_value(content)}


class LinesDecoder(DecoderBase):
    dialect = "lines"
    provider = "acme"

    def on_event(self, event):
        raise NotImplementedError


def encoded(*parts):
    """
    Return the items of a full request, and its drops as place, reason and whether nothing is sent.
    """
    events = [event for part in parts for event in (part if isinstance(part, list) else [part])]
    request = LinesEncoder.encode(fold(events), BODY, mode="full")
    return request.body["log"], [(drop.message_id, drop.part, drop.reason.value, drop.whole) for drop in request.drops]


def test_parts_for_which_nothing_is_written():
    """
    Media, reasoning, an opaque item and a call of the provider have no item here: each is reported.
    """
    recorder = Recorder("a1")
    events = recorder.start(LINES) + recorder.text("see") + recorder.end_media(data=b"x", media_type="image/png")
    events += recorder.reasoning("hm") + recorder.opaque({"type": "new"})
    events += recorder.tool_call("c1", "search", {}, provider_executed=True)
    events += recorder.result("c1", "found", provider_executed=True) + recorder.finish("stop")

    assert (
        [{"from": "model", "text": "see", "calls": []}],
        [("a1", place, "unplaced", True) for place in (1, 2, 3, 4)],
    ) == encoded(events)


RESULTS = {
    "media": ((IMAGE,), [{"text": ""}]),
    "text and media": ((TextContent("see"), IMAGE), [{"text": "see"}]),
}


@pytest.mark.parametrize(("output", "blocks"), RESULTS.values(), ids=RESULTS)
def test_content_of_a_result(output, blocks):
    """
    Content of a result that the request cannot hold is left out and reported; the call has its result.
    """
    items, drops = encoded(answer(calls=[Call("f", call_id="c1", output=output)], origin=LINES))

    assert {"result_of": "c1", "blocks": blocks} == items[-1]
    assert [("a1", 0, "unsupported", False)] == drops


def test_content_of_a_prompt():
    """
    A prompt is sent without the content that the request cannot hold; one of such content alone names it.
    """
    one, two = UserMessage(id="u1", content=("see", IMAGE)), UserMessage(id="u2", content=(IMAGE,))
    request = LinesEncoder.encode(Transcript(messages=(one, two)), BODY)

    unread = "The user has sent image/png, which cannot be passed on."
    assert [[{"text": "see"}], [{"text": unread}]] == [each["blocks"] for each in request.body["log"]]
    assert [
        "content of message 'u1' left out: The request cannot hold content of this kind.",
        "content of message 'u2' left out: The request cannot hold content of this kind.",
    ] == [str(drop) for drop in request.drops]


def test_a_part_that_is_not_sent_is_reported_once():
    """
    With the reason for which its state is not sent, and not with that for which the rest is not.
    """
    image = {"inlineData": {"mimeType": "image/png", "data": "AA=="}, "thoughtSignature": "AVSo"}
    candidate = {"content": {"parts": [image]}, "finishReason": "STOP"}
    events = load_dialect("gemini-generate-content").decode_resource({"candidates": [candidate]}, "a1")
    drops = LinesEncoder.encode(fold(events), BODY).drops

    assert [(0, "other-provider", True)] == [(each.part, each.reason, each.whole) for each in drops]


def test_the_number_of_an_item():
    """
    The number of an item needs no place in a request, other state does.
    """
    said = answer("Hi", text_state={"i": 0}, calls=[Call("f", output="x", state={"i": 1, "seal": "s"})], origin=LINES)

    assert [("a1", 1, "unplaced", False)] == encoded(said)[1]


class PlainEncoder(LinesEncoder):
    policy = EncoderBase.policy


@pytest.mark.parametrize("encoder", [LinesEncoder, PlainEncoder], ids=["its own policy", "the default policy"])
def test_another_policy(encoder):
    """
    A dialect refuses a policy that its encoder does not apply.
    """
    with pytest.raises(ValueError, match=r"^policy: (Lines|Plain)Encoder applies another one, set it in its class$"):
        Dialect(name="lines", decoder=LinesDecoder, encoder=encoder.encode, policy=Policy(item_key="id"))


def test_one_policy():
    """
    A dialect has the policy that its encoder applies; without an encoder it names one itself.
    """
    dialect = Dialect(name="lines", decoder=LinesDecoder, encoder=LinesEncoder.encode)

    assert LinesEncoder.policy is dialect.policy
    assert "i" == Dialect(name="lines", decoder=LinesDecoder, policy=Policy(item_key="i")).policy.item_key


def test_ids_that_the_provider_refuses():
    """
    A call whose id the provider refuses is sent with a valid one, and so is its result.
    """

    class Strict(LinesEncoder):
        not_in_call_ids = re.compile(r"[^a-z0-9]")

        def answer_items(self, message):
            return [{"id": wire_id(call)} for call in message.tool_calls]

        def result_item(self, call, content, *, failed):
            return {"result_of": wire_id(call)}

    foreign = answer(calls=[Call("f", {}, call_id="c.1")], origin=Origin(provider="other", model="m", dialect="other"))
    request = Strict.encode(fold(foreign), BODY, mode="full")

    assert [{"id": "c_1"}, {"result_of": "c_1"}] == request.body["log"]


def test_ids_and_names_that_are_too_long():
    """
    A long id is replaced by another one, a name by one that the provider takes; in call and result alike.
    """

    class Strict(LinesEncoder):
        not_in_call_ids = re.compile(r"[^a-z0-9]")
        longest_call_id = 12
        longest_name = 8

        def answer_items(self, message):
            return [{"id": wire_id(call), "name": call.name} for call in message.tool_calls]

        def result_item(self, call, content, *, failed):
            return {"result_of": wire_id(call), "name": call.name}

    calls = [Call("functions.f", {}, call_id="a" * 13), Call("g", {}, call_id="b" * 12)]
    log = Strict.encode(fold(answer(calls=calls, origin=LINES)), BODY, mode="full").body["log"]

    [first, second] = [item["id"] for item in log[:2]]
    assert (12, "b" * 12) == (len(first), second)
    assert "a" * 12 != first
    assert [first, second] == [item["result_of"] for item in log[2:]]
    assert ["function", "g"] * 2 == [item["name"] for item in log]


def test_media_that_no_result_holds():
    """
    They follow all results of the answer as of the user; those that no prompt holds are reported.
    """

    class Text(LinesEncoder):
        media_in_results = ("application/pdf",)

        def content(self, content):
            if isinstance(content, MediaContent):
                return None if content.media_type == "audio/wav" else {"media": content.media_type}
            return super().content(content)

    pdf, sound = (MediaContent(media_type=kind, data=b"x") for kind in ("application/pdf", "audio/wav"))
    calls = [
        Call("f", {}, call_id="c1", output=[TextContent("see"), IMAGE, pdf, sound]),
        Call("g", {}, call_id="c2", output="so"),
    ]
    request = Text.encode(fold(answer(calls=calls, origin=LINES)), BODY, mode="full")

    assert [
        {"result_of": "c1", "blocks": [{"text": "see"}, {"media": "application/pdf"}]},
        {"result_of": "c2", "blocks": [{"text": "so"}]},
        {"from": "user", "blocks": [{"media": "image/png"}]},
    ] == request.body["log"][1:]
    assert [(0, DropReason.UNSUPPORTED, False)] == [(drop.part, drop.reason, drop.whole) for drop in request.drops]


def test_the_field_of_the_conversation():
    """
    The items are the first of the fields that the conversation fills.
    """
    request = RowsEncoder.encode([UserMessage(id="u1", content="Hi")], BODY)

    assert {"model": "m", "rows": [{"from": "user", "blocks": [{"text": "Hi"}]}]} == request.body


def test_state_that_is_not_sent():
    """
    State under a key of `unplaced_state` is reported, any other is sent.
    """
    recorder = Recorder("a1")
    events = recorder.start(LINES) + recorder.text("see") + recorder.end_text({"seal": 1})
    events += recorder.text("so") + recorder.end_text({"deltas": [1]}) + recorder.finish("stop")
    drops = RowsEncoder.encode(fold(events), BODY).drops

    assert [(1, DropReason.UNPLACED, False)] == [(drop.part, drop.reason, drop.whole) for drop in drops]


def test_texts_without_content():
    """
    A text without content is empty, unless it has state beside the number of its item; this wire has no place for it.
    """
    recorder = Recorder("a1")
    events = recorder.start(LINES) + recorder.end_text({"i": 0}) + recorder.end_text({"i": 1, "seal": 1})
    events += recorder.finish("stop")
    drops = RowsEncoder.encode(fold(events), BODY).drops

    assert [(0, DropReason.EMPTY, True), (1, DropReason.UNPLACED, True)] == [
        (drop.part, drop.reason, drop.whole) for drop in drops
    ]


@pytest.mark.parametrize(
    ("output", "value"),
    [("22", "22"), ([TextContent("a"), TextContent("b")], [{"text": "a"}, {"text": "b"}])],
    ids=["one text", "several"],
)
def test_the_value_of_a_result(output, value):
    """
    One text is sent as it is, anything else as blocks.
    """
    events = answer(calls=[Call("look_up", {}, output=output, call_id="c1")], origin=LINES, message_id="a1")
    request = RowsEncoder.encode(fold(events), BODY)

    assert {"result_of": "c1", "value": value} == request.body["rows"][-1]
