"""
The items and calls of an answer that comes in pieces, on a wire that exists in this file alone.
"""

import json

import pytest

from assistant_events import fold
from assistant_events.adapters import DecoderBase, DeltaFrames, JsonLines
from assistant_events.adapters.call_forms import CallForm, CallForms
from assistant_events.adapters.json_fields import count, mapping, mappings, string
from assistant_events.adapters.open_items import OpenItem, OpenItems
from assistant_events.adapters.sequence_numbers import NumberedDecoder
from assistant_events.adapters.streamed_calls import StreamedCalls
from assistant_events.adapters.text_forms import TextForm, TextForms

TEXTS = TextForms({"line": TextForm("speech", "text", "lines", "line")})
CALLS = CallForms(
    app={"order": CallForm("", "json", "arguments", "reply")}, provider={"look": CallForm("look", "fields", "q")}
)


class AcmeDecoder(NumberedDecoder):
    """
    Decodes deltas of lines and inputs, whole items, and a last frame with all of them.
    """

    dialect = "acme-items"
    provider = "acme"
    framing = JsonLines
    item_key = "i"
    delta_frames = DeltaFrames(unique="n")

    def on_begin(self):
        super().on_begin()
        self.items = OpenItems(self, TEXTS, CALLS)

    def on_event(self, event):
        kind = string(event, "type") or ""
        if self.is_repeated(event, kind):
            return
        if kind == "last":
            for index, fields in self.items.unread(mappings(event, "items")):
                self.on_whole(index, fields)
            self.finish_step("stop")
        elif kind == "item":
            self.on_whole(count(event, "at"), mapping(event, "item"))
        else:
            item = self.items.find(
                count(event, "at"), string(event, "id"), "speech" if kind == "line" else kind, "delta"
            )
            self.text_of(item, kind, count(event, "line")).add(string(event, "delta") or "")

    def text_of(self, item, kind, index, place=-1):
        if item.role == "call":
            return item
        return item.part_at("lines", index, place) or item.begin_part(kind, TEXTS[kind], index)

    def on_whole(self, index, fields):
        item = self.items.find(index, string(fields, "id"), string(fields, "type") or "", "added", whole=fields)
        if item.ended:
            return
        item.learn(fields)
        item.ended = True
        if item.role == "call":
            item.begin_call(string(fields, "call_id"), CALLS[item.kind], provider_executed=False)
            item.complete()
            self.recorder.end_tool_input(key=item)
        for _, place, text in TEXTS.of(item.fields):
            part = self.text_of(item, "line", None, place)
            part.learn(text)
            part.complete()
        for part in item.parts:
            self.recorder.end(part.key)


SPEECH = {"type": "speech", "id": "s1", "lines": [{"type": "line", "text": "Hi"}, {"type": "line", "text": "you"}]}
ORDER = {"type": "order", "id": "o1", "call_id": "c1", "name": "f", "arguments": '{"a":1}'}
LAST = {"type": "last", "items": [SPEECH, ORDER]}

STREAMS = {
    "the last frame alone": [LAST],
    "items": [{"type": "item", "at": 0, "item": SPEECH}, {"type": "item", "at": 1, "item": ORDER}, LAST],
    "items that come twice": [*[{"type": "item", "at": 0, "item": SPEECH}] * 2, LAST],
    "deltas": [
        {"type": "line", "at": 0, "line": 0, "delta": "Hi"},
        {"type": "line", "at": 0, "line": 1, "delta": "you"},
        {"type": "order", "at": 1, "delta": '{"a"'},
        {"type": "order", "at": 1, "delta": ":1}"},
        LAST,
    ],
    "deltas without the rest": [{"type": "line", "at": 0, "line": 0, "delta": "H"}, LAST],
    "an index that does not begin at 0": [{"type": "line", "at": 0, "line": 7, "delta": "Hi"}, LAST],
    "ids for indexes": [{"type": "line", "id": "s1", "delta": "Hi"}, LAST],
    "neither": [{"type": "line", "delta": "H"}, {"type": "line", "delta": "i"}, LAST],
    "an input that was parsed": [{"type": "last", "items": [SPEECH, {**ORDER, "arguments": {"a": 1}}]}],
    "frames that come twice": [
        *[{"type": "line", "at": 0, "line": 0, "n": 1, "delta": "Hi"}] * 2,
        {**LAST, "n": 2},
    ],
}


@pytest.mark.parametrize("name", STREAMS)
def test_one_answer(name):
    """
    Whatever is repeated, left out or addressed in another way, the message is that of the last frame.
    """
    decoder = AcmeDecoder("a1", request={"model": "m"})
    events = [event for frame in STREAMS[name] for event in decoder.feed(json.dumps(frame).encode() + b"\n")]
    message = fold(events + decoder.close()).last

    assert ["Hi", "you"] == [part.text for part in message.parts if part.type == "text"]
    assert [("f", {"a": 1})] == [(call.name, call.arguments) for call in message.tool_calls]
    assert decoder.failure is None
    assert [frame["n"] for frame in STREAMS[name] if "n" in frame][-1:] == (
        [] if decoder.last_sequence_number is None else [decoder.last_sequence_number]
    )


def test_an_id_that_a_delta_has():
    """
    It is that of the item at its index, also where later events have it alone.
    """
    frames = [
        {"type": "order", "at": 0, "delta": '{"a"'},
        {"type": "order", "at": 1, "delta": '{"b"'},
        {"type": "order", "at": 0, "id": "o1", "delta": ":"},
        {"type": "order", "id": "o1", "delta": "1}"},
        {"type": "order", "at": 1, "delta": ":2}"},
        {
            "type": "last",
            "items": [{**ORDER, "arguments": ""}, {**ORDER, "id": "o2", "call_id": "c2", "arguments": ""}],
        },
    ]
    decoder = AcmeDecoder("a1", request={"model": "m"})
    events = [event for frame in frames for event in decoder.feed(json.dumps(frame).encode() + b"\n")]

    assert [{"a": 1}, {"b": 2}] == [call.arguments for call in fold(events + decoder.close()).last.tool_calls]


class PiecesDecoder(DecoderBase):
    """
    Decodes pieces of calls: index, id, name and text.
    """

    dialect = "acme-pieces"
    provider = "acme"

    def on_begin(self):
        self.calls = StreamedCalls(self, {"get", "get_time"}, {"code": "source"})

    def on_event(self, event):
        self.ensure_started()
        self.calls.add(*event["piece"], {"type": event["type"]} if "type" in event else {})

    def on_failing(self):
        self.calls.begin_waiting()

    def on_close(self, error):
        self.calls.end()
        self.finish_step("tool-calls")


PIECES = {
    "by index": ([(0, "c1", "get", "{"), (1, "c2", "set", "{}"), (0, None, None, "}")], [("get", {}), ("set", {})]),
    "without an index": ([(None, "c1", "get", "{"), (None, None, None, "}")], [("get", {})]),
    "one index for all": ([(0, "c1", "get", "{}"), (0, "c2", "set", "{}")], [("get", {}), ("set", {})]),
    "one index and no ids": (
        [(0, None, "get", '{"a":1}'), (0, None, "get", '{"a":2}'), (0, None, "set", "{}"), (0, None, "get", '{"a":3}')],
        [("get", {"a": 1}), ("get", {"a": 2}), ("set", {}), ("get", {"a": 3})],
    ),
    "one index and no ids, in pieces": (
        [(0, None, "get", '{"a":'), (0, None, None, "1}"), (0, None, "set", ""), (0, None, None, '{"b":2}')],
        [("get", {"a": 1}), ("set", {"b": 2})],
    ),
    "a name without an id again": ([(0, None, "get", '{"a":'), (0, None, "get", "1}")], [("get", {"a": 1})]),
    "a name without an id at the end": ([(0, None, "get", '{"a":1}'), (0, None, "get", "")], [("get", {"a": 1})]),
    "an empty object before the input": (
        [(0, "c1", "get", "{}"), (0, None, None, '{"a":'), (0, None, None, "1}")],
        [("get", {"a": 1})],
    ),
    "empty objects before the input": (
        [(0, "c1", "get", {}), (0, "c1", None, {}), (0, "c1", None, {"a": 1})],
        [("get", {"a": 1})],
    ),
    "empty objects by turns": (
        [(0, "c1", "get", "{}"), (1, "c2", "set", "{}"), (0, None, None, '{"a":1}')],
        [("get", {"a": 1}), ("set", {})],
    ),
    "an empty object and a blank": ([(0, "c1", "get", "{}"), (0, None, None, " ")], [("get", {})]),
    "an empty object before the name": ([(0, "c1", None, "{}"), (0, None, "get", "")], [("get", {})]),
    "braces inside of a text": (
        [(0, "c1", "get", '{"a":"'), (0, None, None, "{}"), (0, None, None, "{}"), (0, None, None, '"}')],
        [("get", {"a": "{}{}"})],
    ),
    "the same name again": ([(0, "c1", "get", "{"), (0, "c1", "get", "}")], [("get", {})]),
    "a name in pieces": ([(0, "c1", "get_", ""), (0, None, "time", "{}")], [("get_time", {})]),
    "a null": ([(0, "c1", "get", "null")], [("get", {})]),
}


@pytest.mark.parametrize("name", PIECES)
def test_pieces_of_calls(name):
    """
    Each piece is of the call of its index or id, or of the last one.
    """
    pieces, calls = PIECES[name]
    decoder = PiecesDecoder("a1")
    events = [event for piece in pieces for event in decoder.feed_event({"piece": list(piece)})]
    message = fold(events + decoder.close()).last

    assert calls == [(call.name, call.arguments) for call in message.tool_calls]


def test_free_text():
    """
    An input that is not JSON is under the key of its type, as it came.
    """
    decoder = PiecesDecoder("a1")
    pieces = [{"piece": [0, "c1", "run", "{}"], "type": "code"}, {"piece": [0, None, None, "{ls}"]}]
    events = [event for piece in pieces for event in decoder.feed_event(piece)] + decoder.close()

    assert [{"source": "{}{ls}"}] == [call.arguments for call in fold(events).last.tool_calls]


def item(**fields):
    return OpenItem(decoder=None, kind="text", role="text", field="text", state={}, fields=fields)


def test_an_array_that_comes_in_pieces_grows_in_place():
    """
    A copy for each piece would cost the square of their number.
    """
    found = item()
    found.append("logprobs", [1])
    first = found.fields["logprobs"]
    found.append("logprobs", [2, 3])

    assert found.fields["logprobs"] is first
    assert [1, 2, 3] == first


def test_an_array_of_a_frame_is_not_changed():
    """
    It belongs to the caller, also that of a repetition in the middle.
    """
    given, repeated = [1], [1, 2]
    found = item(logprobs=given)
    found.append("logprobs", [2])
    found.learn({"logprobs": repeated})
    found.append("logprobs", [3])

    assert ([1], [1, 2], [1, 2, 3]) == (given, repeated, found.fields["logprobs"])
