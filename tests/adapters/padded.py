"""
A made-up wire whose frames hold the noise of real ones: padding, counters, random strings, ids, usage in each frame.
"""

import json

from assistant_events.adapters import DecoderBase, JsonLines
from assistant_events.adapters.frame_templates import DeltaFrames
from assistant_events.adapters.json_fields import integer, mapping, string

WORDS = ["a", " word", "é🚀", '"', "\\", "\n", "", "x" * 80, "\ud83d", "\ude80 "]


class PaddedDecoder(DecoderBase):
    """
    Deltas of text, reasoning and tool input, each with the number of its item.
    """

    dialect = "padded"
    provider = "acme"
    delta_frames = DeltaFrames(
        constant=("type", "role"),
        number="index",
        loose=("sequence", "noise", "created"),
        counted=("usage",),
        unique="id",
        own=("sources", "whole"),
        snapshots=(("whole", "text"),),
    )

    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.counted = {}

    def on_event(self, event):
        frame_id = (string(event, "id") or "").encode()
        if frame_id in self.frame_ids:
            return
        if frame_id:
            self.frame_ids.add(frame_id)
        self.on_skipped(self.delta_frames.counted_in(event))
        self.ensure_started()
        kind, number = self.kind(event), integer(event, "index") or 0
        text = string(mapping(event, "delta"), "text") or ""
        key = (kind, number)
        match kind:
            case "text":
                self.recorder.text(text, key=key)
            case "reasoning":
                self.recorder.reasoning(text, key=key)
            case "input":
                self.recorder.tool_input(f"c{number}", "search", text, key=key)
            case "end":
                self.finish_step("stop")
        self.offer_fast_path(event, ("delta", "text"), self.recorder.open_of(key), kind=kind)

    def kind(self, event):
        return string(event, "type")

    def on_skipped(self, counted):
        self.counted = {**self.counted, **counted}


class NamedDecoder(PaddedDecoder):
    """
    The same, with the type in the name beside the document.
    """

    def kind(self, event):
        return self.frame_name()


class LinesDecoder(PaddedDecoder):
    """
    The same as JSON lines.
    """

    framing = JsonLines


class CrlfDecoder(PaddedDecoder):
    """
    The same with the other line end.
    """


class Zeros(JsonLines):
    """
    Payloads with any byte but zero, which ends each: frames that have no separator to look for.
    """

    separator = b""

    def feed(self, data):
        *payloads, rest = b"".join([*self._pending, data]).split(b"\0")
        self._pending = [rest] if rest else []
        self.idle = False
        return payloads

    def around(self, payload, name=None):
        return None


class ZerosDecoder(PaddedDecoder):
    """
    The same in frames without a separator.
    """

    framing = Zeros


class FieldsDecoder(PaddedDecoder):
    """
    The same in events with one more field, so that nothing is known of the bytes around a payload.
    """


DECODERS = [PaddedDecoder, LinesDecoder, NamedDecoder, CrlfDecoder, ZerosDecoder, FieldsDecoder]


def delta(kind="text", text="a", index=0, **noise):
    """
    Return the document of a delta.
    """
    return {"type": kind, "index": index, "delta": {"text": text}, **noise}


def written(event, decoder=PaddedDecoder, *, padding=0, name=None):
    """
    Return the frame of a document, with spaces before its last bracket.
    """
    if decoder is NamedDecoder:
        name, event = event["type"], {key: value for key, value in event.items() if key != "type"}
    document = json.dumps(event, separators=(",", ":"))[:-1].encode() + b" " * padding + b"}"
    if decoder in (LinesDecoder, ZerosDecoder):
        return document + (b"\n" if decoder is LinesDecoder else b"\0")
    before = b"id: 7\n" if decoder is FieldsDecoder else b""
    made = before + (f"event: {name}\n".encode() if name else b"") + b"data: " + document + b"\n\n"
    return made.replace(b"\n", b"\r\n") if decoder is CrlfDecoder else made


def frames(random, decoder, count=60):
    """
    Return the frames of a stream: runs of deltas, most of which differ in their text and their noise alone.
    """
    noise = {
        "sequence": lambda at: at,
        "noise": lambda at: random.choice(["", "r" * random.randrange(9), "rr", "rrr", 'r"', "é"]),
        "created": lambda at: random.choice([at, at + 0.5, -at]),
        "usage": lambda at: {"output": at, "by": [{"kind": "text", "count": at}]},
        "whole": lambda at: {"text": random.choice(WORDS) * at, "role": "model"},
        "sources": lambda at: [{"title": "A"}] if at % 20 else [],
        "id": lambda at: f"i{at if random.random() < 0.95 else random.randrange(count)}",
    }
    keys = [key for key in noise if random.random() < 0.5]
    named = random.choice([[None], ["delta"], [None, "delta", "other"]])
    made, at = [], 0
    while at < count:
        kind, index = random.choice(["text", "text", "reasoning", "input"]), random.randrange(3)
        for _ in range(random.randrange(1, 20)):
            at += 1
            event = delta(kind, random.choice(WORDS), index, **{key: noise[key](at) for key in keys})
            if random.random() < 0.05:
                event[random.choice(["more", "role", "index", "usage", "id", "delta"])] = random.choice([1, None, "x"])
            if random.random() < 0.05:
                event = dict(random.sample(list(event.items()), len(event)))
            padding = random.choice([0, 0, 3, random.randrange(16)])
            made.append(written(event, decoder, padding=padding, name=random.choice(named)))
    return [*made, written({"type": "end"}, decoder)]
