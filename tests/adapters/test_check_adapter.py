"""
`check_adapter` finds what is wrong: adapters that are broken on purpose, one defect each.
"""

import itertools
import json
import zlib
from contextlib import nullcontext
from functools import partial
from random import Random

import pytest

from assistant_events import ErrorInfo, TextDelta
from assistant_events.adapters import DecoderBase, Dialect, Framing, JsonLines
from assistant_events.adapters.json_fields import string
from assistant_events.history import Policy
from assistant_events.testing.adapters import check_adapter
from assistant_events.testing.mutations import HOSTILE_JSON, MUTATIONS, mutated
from tests.adapters.anthropic_messages import notation as claude
from tests.adapters.bedrock_converse import notation as bedrock
from tests.adapters.gemini_generate_content import notation as gemini
from tests.adapters.openai_responses import notation as responses


class Sound(DecoderBase):
    """
    Decodes lines of `{"text": …}`, `{"call": name}` and `{"end": reason}` correctly.
    """

    dialect = "lines"
    provider = "nobody"
    framing = JsonLines

    def on_event(self, event):
        self.ensure_started()
        if "end" in event:
            self.finish_step("stop", string(event, "end"))
            return
        self.on_text(string(event, "text") or "")
        if string(event, "call"):
            self.recorder.tool_call(None, event["call"], {})

    def on_text(self, text):
        self.recorder.text(text)


class Raises(Sound):
    """
    Trusts a field to be what it should.
    """

    def on_event(self, event):
        if "text" in event:
            len(event["text"])
        super().on_event(event)


class Illegal(Sound):
    """
    Bypasses the recorder.
    """

    def on_text(self, text):
        self._sink.append(TextDelta(message_id=self.message_id, offset=0, delta=text or "x"))


class Loses(Sound):
    """
    Throws away what it has when the end does not come.
    """

    def on_close(self, error):
        if self.recorder.started:
            self.recorder.restart("start over")


class Counts(Sound):
    """
    Remembers across a rejoin what it should forget.
    """

    def on_text(self, text):
        if text:
            self.count = getattr(self, "count", 0) + 1
            self.recorder.text(f"{self.count}{text}")


class EndsWithBody(Sound):
    """
    Has no last frame: behind a reason the end of the body is the end of the answer, unless the body was cut.
    """

    def on_begin(self):
        self.reason = None

    def on_event(self, event):
        if "end" in event:
            self.reason = string(event, "end")
        else:
            super().on_event(event)

    def on_close(self, error):
        if error is None and self.reason:
            self.ensure_started()
            self.finish_step("stop", self.reason)


class EndsWithoutAWord(EndsWithBody):
    """
    Has no finish reason either.
    """

    def on_close(self, error):
        if error is None:
            self.ensure_started()
            self.finish_step("stop")


class InventsAReason(EndsWithBody):
    """
    Has a reason of its own where the provider gave none.
    """

    def on_close(self, error):
        self.reason = self.reason or "complete"
        super().on_close(error)


class EndsWhenCut(EndsWithBody):
    """
    Takes a cut for the end of the body.
    """

    def on_close(self, error):
        if error is not None and self.recorder.started:
            self.finish_step("stop", self.reason)
        else:
            super().on_close(error)


class FailsAtTheUnknown(Sound):
    """
    Takes an event of tomorrow for an error.
    """

    def on_event(self, event):
        if event.keys().isdisjoint(("text", "call", "end")):
            self.fail_step(ErrorInfo(kind="protocol", message="strange"))
        else:
            super().on_event(event)


NUMBERS = itertools.count()


class UnsteadyWhenDamaged(Sound):
    """
    Gives something else each time for a field of a wrong type.
    """

    def on_event(self, event):
        if "text" in event and not isinstance(event["text"], str):
            event = {**event, "text": f"{next(NUMBERS)}"}
        super().on_event(event)


class Unsteady(Sound):
    """
    Gives something else each time.
    """

    def on_text(self, text):
        self.recorder.text(f"{text}{next(NUMBERS)}")


class Chunky(Sound):
    """
    Makes something of how the bytes were cut.
    """

    def on_text(self, text):
        first_of_chunk = not self.recorder.sink
        self.recorder.text(text.upper() if first_of_chunk else text)


class Stranger(Sound):
    """
    Writes into another message.
    """

    def __init__(self, message_id, **how):
        super().__init__("other", **how)


class Fails(Sound):
    """
    Ends its answer without an end of the step.
    """

    def on_event(self, event):
        self.ensure_started()
        if "end" in event:
            self.end_answer()


class Unmarked(JsonLines):
    """
    A framing that drops the last line when its end is missing, and the rest of a line that was cut.
    """

    def feed(self, data):
        return [line for line in data.split(b"\n") if line.endswith(b"}")]


class Ragged(Sound):
    framing = Unmarked


def lines(*events):
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


BODY = lines({"text": "Hello"}, {"text": " world"}, {"call": "f"}, {"text": "!"}, {"end": "done"})


def check(decoder, body=BODY, **how):
    check_adapter(Dialect(name="lines", decoder=decoder, **how), {"sample": body}, mutations=200)


def test_a_sound_adapter_passes():
    """
    Nothing is found where nothing is wrong, whether the stream has an end or not.
    """
    check(Sound)
    check(Sound, BODY[:-1])
    check(Sound, lines({"text": "Hello"}))
    check(Sound, detect=lambda document: "text" in document)
    check(EndsWithBody)
    check(EndsWithoutAWord, lines({"text": "Hel"}, {"text": "lo"}))
    check_adapter(Dialect(name="lines", decoder=Sound), [BODY, b""], mutations=5)


DEFECTS = {
    Raises: "the adapter raised TypeError",
    Illegal: "out of place",
    Loses: "what came before the cut is not kept",
    Counts: "not the transcript of the uncut stream",
    EndsWhenCut: "the step is complete, and not as in the whole stream|not the transcript of the uncut stream",
    InventsAReason: "without a finish reason of the provider the step is complete",
    FailsAtTheUnknown: "a frame of an unknown type at byte",
    Unsteady: "the same bytes give other events",
    UnsteadyWhenDamaged: "damaged copy",
    Chunky: "other|another",
    Stranger: "events of message ['other'], expected 'a1' or its hops",
    Fails: "message 'a1' has no end",
    Ragged: "gives|cut",
}


@pytest.mark.parametrize(("decoder", "sentence"), DEFECTS.items(), ids=[cls.__name__ for cls in DEFECTS])
def test_each_defect_is_found(decoder, sentence):
    """
    The sentence names the stream and what is wrong.
    """
    with pytest.raises(AssertionError) as caught:
        check(decoder)

    assert str(caught.value).startswith("sample")
    assert any(words in str(caught.value) for words in sentence.split("|"))


DETECTS = {
    "knows nothing": (lambda document: False, "sample: detect knows none of the first 3 frames"),
    "raises": (lambda document: document["type"], "lines: detect raised KeyError"),
}


@pytest.mark.parametrize(("detect", "sentence"), DETECTS.values(), ids=DETECTS.keys())
def test_a_detect_that_is_broken(detect, sentence):
    """
    `detect` must know its own and never raise.
    """
    with pytest.raises(AssertionError, match=sentence):
        check(Sound, detect=detect)


class Deaf(Sound):
    """
    Does what `final` forbids: takes bytes after its end, and when it is closed.
    """

    def feed(self, data):
        return [TextDelta(message_id="a1", offset=0, delta="x")] if self.terminal else super().feed(data)


class Open(Sound):
    """
    Never closes.
    """

    def feed_event(self, event):
        return []


class Twice(Sound):
    """
    Returns its last events again and again.
    """

    def close(self, error=None):
        if not self.closed:
            self.last = super().close(error)
        return self.last


class Escapes(Sound):
    """
    Lets an exception out.
    """

    def feed(self, data):
        if b"\xff" in data or b"NaN" in data:
            raise RuntimeError("boom")
        return super().feed(data)


OVERRIDES = {
    Deaf: "a decoder that came to the end of the answer returns events",
    Open: "a closed decoder takes more; expected LocalProtocolError",
    Twice: "the second close returns events",
    Escapes: "raised RuntimeError('boom')",
}


@pytest.mark.parametrize(("decoder", "sentence"), OVERRIDES.items(), ids=[cls.__name__ for cls in OVERRIDES])
def test_decoders_that_do_not_keep_their_face(decoder, sentence):
    """
    What every decoder promises to its callers is tried as well.
    """
    with pytest.raises(AssertionError) as caught:
        check(decoder, BODY[:30] if decoder is Twice else BODY)

    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("streams", "sentence"),
    [
        ([], "streams: expected at least one"),
        ([b"", b"\n"], "streams: expected at least one with a frame"),
        ([BODY, "text"], r"streams\[1\]: expected bytes, got str"),
    ],
)
def test_samples_that_are_none(streams, sentence):
    """
    The caller's own mistakes are named too.
    """
    with pytest.raises(AssertionError, match=sentence):
        check_adapter(Dialect(name="lines", decoder=Sound), streams)


# -- damages


def test_damages_are_the_same_for_the_same_seed():
    """
    A seed names a damaged stream.
    """
    assert [mutated(BODY, Random(seed)) for seed in range(50)] == [mutated(BODY, Random(seed)) for seed in range(50)]
    assert len({mutated(BODY, Random(seed)) for seed in range(50)}) > 40


@pytest.mark.parametrize("mutation", dict.fromkeys(MUTATIONS), ids=lambda each: each.__name__)
@pytest.mark.parametrize("body", [b"", b"\n", b"{", b"no json at all", b"{}\n{}\n", b'data: {"a":[1,{"b":"c"}]}\n\n'])
def test_every_damage_takes_any_bytes(mutation, body):
    """
    There is nothing that cannot be damaged.
    """
    for seed in range(20):
        assert isinstance(mutation(body, Random(seed)), bytes)


def test_hostile_values_arrive():
    """
    Values that no JSON writer would write are put in as they are.
    """
    found = b"".join(mutated(BODY, Random(seed)) for seed in range(400))

    assert all(value.encode() in found for value in HOSTILE_JSON)


class Remembers(Sound):
    """
    Raises for a call that it has seen.
    """

    def __init__(self, message_id, **how):
        super().__init__(message_id, **how)
        self.seen = set()

    def on_rejoin(self):
        self.seen.clear()

    def on_event(self, event):
        if event.get("call") in self.seen:
            raise ValueError("again")
        self.seen |= {event["call"]} if "call" in event else set()
        super().on_event(event)


class Starts(Remembers):
    """
    Raises for a second start, but not for the same frame twice in a row.
    """

    def on_event(self, event):
        if event.get("text") == "Hello" and getattr(self, "last", "Hello") != "Hello":
            raise ValueError("again")
        self.last = event.get("text")
        Sound.on_event(self, event)

    def on_rejoin(self):
        self.last = "Hello"


@pytest.mark.parametrize("long", [False, True], ids=["every byte", "long"])
@pytest.mark.parametrize(
    ("decoder", "sentence"),
    [
        (Remembers, r"the frame of bytes \d+ to \d+ repeated: the adapter raised ValueError\('again'\)"),
        (Starts, r"begun again after byte \d+: the adapter raised ValueError\('again'\)"),
    ],
)
def test_repeated_frames_are_always_tried(decoder, sentence, long):
    """
    Each kind of frame is repeated, and the stream is begun again after it, without any damage by chance.
    """
    body = BODY[: BODY.index(b"\n") + 1] + lines(*[{"text": "so"}] * 500 * long) + BODY[BODY.index(b"\n") + 1 :]

    with pytest.raises(AssertionError, match=sentence):
        check_adapter(Dialect(name="lines", decoder=decoder), {"sample": body}, mutations=0)


def test_the_shortest_input_is_shown():
    """
    A failure shows the shortest input that was found for it, however long the stream is.
    """
    with pytest.raises(
        AssertionError, match=r"damaged copy \d+: .*; the shortest input that fails: b'\{\"text\":.{,20}$"
    ):
        check_adapter(Dialect(name="lines", decoder=Raises), {"short": BODY})
    long = BODY[: BODY.index(b"\n") + 1] * 40 + BODY
    with pytest.raises(AssertionError, match=r"; the shortest input that fails: b.{,200}$"):
        check_adapter(Dialect(name="lines", decoder=Raises), {"long": long}, every_position=10)


class LosesLater(Sound):
    """
    Loses a text when it comes after another one.
    """

    def on_text(self, text):
        super().on_text("" if text == "lost" and self.recorder.started and self.recorder.open_of(None) else text)


def test_a_place_in_the_stream_and_in_the_shortest_input():
    """
    A sentence that names a frame of the stream is followed by the one for the input that is shown.
    """
    body = lines({"text": "Hello"}, {"text": " world"}, {"text": "lost"}, {"text": "!"}, {"end": "done"})
    with pytest.raises(AssertionError) as caught:
        check(LosesLater, body)

    [first, shown] = str(caught.value).split("; the shortest input that fails: ")
    shortest, where = shown.split(", of which sample: ")
    assert f"the frame at byte {body.index(b'lost') - 10}," in first
    assert repr(lines({"text": " world"}, {"text": "lost"})) == shortest
    assert "the frame at byte 19," in where


class LosesAndFails(LosesLater):
    """
    Loses a text, and takes an event of tomorrow for an error.
    """

    def on_event(self, event):
        if "x_check" in event:
            self.fail_step(ErrorInfo(kind="protocol", message="strange"))
        else:
            super().on_event(event)


def test_each_fault_has_its_line():
    """
    Checks that fail are reported together, each with the shortest input for its own sentence; one sentence comes once.
    """
    body = lines({"text": "Hello"}, {"text": " world"}, {"text": "lost"}, {"text": "!"}, {"end": "done"})
    with pytest.raises(AssertionError) as caught:
        check(LosesAndFails, body)

    found = [line.split("; the shortest input that fails: ") for line in str(caught.value).splitlines()]
    sentences = [sentence for sentence, _ in found]
    assert [1, 1] == [sum(words in each for each in sentences) for words in (" of an unknown type at", " is lost: no")]
    assert sentences == [*dict.fromkeys(sentences)]
    assert all(len(shown) < 200 for _, shown in found)


class Signs(Sound):
    """
    Decodes `{"sign": text}`, state of the item, also of `{"over": true}`, which has ended it.
    """

    def on_event(self, event):
        self.ensure_started()
        if event.get("over"):
            self.recorder.end(0)
        elif string(event, "sign"):
            self.recorder.keep(0, {"signature": event["sign"]})
        else:
            super().on_event(event)

    def on_text(self, text):
        if text:
            self.recorder.text(text, key=0)


class Numbers(Signs):
    item_key = "i"


SIGNED = lines(
    {"text": "Hello"}, {"over": True}, {"call": "f"}, {"sign": "c2lnbmF0dXJl"}, {"text": " and more"}, {"end": "done"}
)


@pytest.mark.parametrize("decoder", [Signs, Numbers])
def test_state_of_an_item_that_has_ended(decoder):
    """
    State that comes behind the end of its item, and behind a call, is where it belongs: in the item's next part.
    """
    check(decoder, SIGNED, policy=Policy(item_key=decoder.item_key))


class Cites(Sound):
    """
    Reads whole texts with a number, and behind them sources of the text with a number.
    """

    item_key = "i"

    def on_event(self, event):
        self.ensure_started()
        if "source" in event:
            self.recorder.keep(self.cited(event), {"sources": [event["source"]]})
        elif "text" in event:
            self.recorder.text(string(event, "text") or "", key=event.get("n"))
            self.recorder.end(event.get("n"))
        else:
            super().on_event(event)

    def cited(self, event):
        return event.get("n")


class CitesTheLast(Cites):
    """
    Takes each source for one of the last text.
    """

    def cited(self, event):
        return 1


@pytest.mark.parametrize(("decoder", "is_found"), [(Cites, False), (CitesTheLast, True)])
def test_a_source_behind_the_end_of_its_text(decoder, is_found):
    """
    It is of the text that it quotes, also when another one has come since.
    """
    source = {"start": 0, "end": 4, "text": "Rain", "id": "On the rain"}
    body = lines({"text": "Rain is wet.", "n": 0}, {"text": "Snow is cold.", "n": 1}, {"source": source, "n": 0})
    streams = {"sample": body + lines({"end": "stop"})}
    dialect = Dialect(name="lines", decoder=decoder, dropped={".n": "The order."}, policy=Policy(item_key="i"))

    sentence = "'Rain' of part 0 of 'a1', and is in part 2 of 'a1', of another item"
    with pytest.raises(AssertionError, match=sentence) if is_found else nullcontext():
        check_adapter(dialect, streams, mutations=0, every_position=0)


class Tokens(Sound):
    """
    Keeps the tokens of a text, all at its end.
    """

    def on_begin(self):
        self.tokens = []

    def on_event(self, event):
        self.ensure_started()
        self.learn(event)
        if "end" in event:
            self.keep_tokens()
        super().on_event(event)

    def on_failing(self):
        self.keep_tokens()

    def keep_tokens(self):
        if self.tokens:
            self.recorder.keep(None, details={"tokens": self.tokens})

    def learn(self, event):
        self.tokens += event.get("tokens", [])


class LastTokens(Tokens):
    """
    Keeps those of the last piece.
    """

    def learn(self, event):
        self.tokens = event.get("tokens", self.tokens)


@pytest.mark.parametrize(("decoder", "is_found"), [(Tokens, False), (LastTokens, True)])
def test_numbers_of_arrays_are_no_counts(decoder, is_found):
    """
    A count includes those before it, which the number of a token does not.
    """
    body = lines({"text": "It", "tokens": [17]}, {"text": " rains", "tokens": [18, 19]}, {"end": "stop"})

    with pytest.raises(AssertionError, match=r"tokens is lost: .* has 17 of") if is_found else nullcontext():
        check_adapter(Dialect(name="lines", decoder=decoder), {"sample": body}, mutations=0, every_position=0)


class ForgetsTokens(Tokens):
    """
    Keeps them when the provider ends the answer, and at no other end.
    """

    def on_failing(self):
        pass


def test_details_of_a_text_that_is_cut():
    """
    What comes in pieces and is collected is kept when the stream is cut, as state is.
    """
    body = lines({"text": "It", "tokens": [17]}, {"text": " rains", "tokens": [18, 19]}, {"end": "stop"})

    with pytest.raises(AssertionError, match="details of part 0 of 'a1' are lost when the stream is cut behind"):
        check_adapter(Dialect(name="lines", decoder=ForgetsTokens), {"sample": body}, mutations=0, every_position=0)


class Summed(JsonLines):
    """
    Lines with a checksum before them: one that was damaged is not read.
    """

    def feed(self, data):
        return [line[9:] for line in super().feed(data) if line[:9] == self.sum_of(line[9:])]

    def next(self, data, at):
        return None

    def close(self):
        return [line[9:] for line in super().close() if line[:9] == self.sum_of(line[9:])]

    @staticmethod
    def sum_of(payload):
        return b"%08x " % zlib.crc32(payload)

    @staticmethod
    def frame(name, payload):
        line = JsonLines.frame(name, payload).strip()
        return Summed.sum_of(line) + line + b"\n"


@pytest.mark.parametrize(("decoder", "is_found"), [(Sound, False), (Raises, True)])
def test_damage_inside_of_frames_with_checksums(decoder, is_found):
    """
    Frames are damaged inside as well, with checksums that hold: else nothing of a binary wire would be tried.
    """
    decoder = type("Framed", (decoder,), {"framing": Summed})
    body = b"".join(map(partial(Summed.frame, None), map(json.loads, BODY.splitlines())))

    with pytest.raises(AssertionError, match="the adapter raised TypeError") if is_found else nullcontext():
        check(decoder, body)


class Binary(Framing):
    """
    Binary frames of a length, JSON in several lines, and a checksum.
    """

    checksums = True

    def __init__(self, max_frame_bytes=1 << 20):
        self.idle, self.too_long, self.damaged = True, False, False
        self.limit = max_frame_bytes
        self.pending = b""

    def feed(self, data):
        self.pending += data
        payloads = []
        while len(self.pending) >= 4 and not self.damaged and not self.too_long:
            end = 4 + int.from_bytes(self.pending[:4])
            self.too_long = end > self.limit
            if self.too_long or len(self.pending) < end + 4:
                break
            self.damaged = self.pending[end : end + 4] != zlib.crc32(self.pending[:end]).to_bytes(4)
            if not self.damaged:
                payloads.append(self.pending[4:end])
                self.pending = self.pending[end + 4 :]
        self.idle = not self.pending
        return payloads

    @staticmethod
    def frame(name, payload):
        payload = payload if isinstance(payload, str) else json.dumps(payload, indent=1)
        frame = len(payload.encode()).to_bytes(4) + payload.encode()
        return frame + zlib.crc32(frame).to_bytes(4)


class Named(Binary):
    """
    Has names beside the payloads, which a decoder does not read.
    """

    def name(self, payload):
        return "text"


class InLines(Binary):
    """
    Hands payloads on as they are.
    """

    def lines(self, data):
        return b"".join([payload + b"\n" for payload in self.feed(data)])


@pytest.mark.parametrize(
    ("framing", "sentence"),
    [
        (Binary, None),
        (Named, r"the framing has names beside its payloads, \['text'\]"),
        (InLines, r"`lines` of the framing returns \d+ lines for \d+ payloads of `feed`"),
    ],
)
def test_a_binary_framing(framing, sentence):
    """
    A framing of its own may have one checksum a frame and JSON in several lines; names and lines are looked at.
    """
    decoder = type("Framed", (Sound,), {"framing": framing})
    body = b"".join(map(partial(framing.frame, None), map(json.loads, BODY.splitlines())))

    with nullcontext() if sentence is None else pytest.raises(AssertionError, match=sentence):
        check(decoder, body)


class Notes(Sound):
    """
    Leaves out what it does not know, with a note.
    """

    def on_event(self, event):
        if "meta" in event:
            self.note("odd-meta", "it is not needed")
        super().on_event({key: value for key, value in event.items() if key != "meta"})


def test_what_is_noted_has_to_be_named():
    """
    A note alone excuses nothing: an event that is forgotten has one, too.
    """
    body = lines({"text": "Hello", "meta": {"id": "x-y-z-1"}}, {"end": "done"})

    check(Notes, body, dropped={"note:odd-meta": ""})
    with pytest.raises(AssertionError, match=r"meta.id is lost: .* does not name it, nor its note 'note:odd-meta'"):
        check(Notes, body, dropped={"note:other": ""})


def test_what_is_dropped_has_to_be_named():
    """
    A field is dropped by its name, by names that follow each other, at the top alone, or in some frames alone.
    """
    body = lines({"text": "Hello", "meta": {"id": "x-y-z-1", "tag": "top"}}, {"end": "done"})
    for dropped in ({"meta": ""}, {"meta.id": "", "tag": ""}, {".meta": ""}, {"Hello/meta": ""}):
        check(Sound, body, dropped=dropped)
    for dropped in ({"meta.id": ""}, {".id": "", ".tag": ""}, {"done/meta": ""}, {"id.meta": ""}):
        with pytest.raises(AssertionError, match=r"sample: meta\.(id|tag) is lost"):
            check(Sound, body, dropped=dropped)


SEAL = "EqUDCkYICxgCKkB94vhGG6xKjNnGimHMfRxMKRoDnfxu8X0ubqexC"
THOUGHT = (
    claude.B(0, "thinking", thinking="", signature=""),
    *(claude.H(0, piece) for piece in ("I ask for the ", "weather", ".")),
    claude.S(0, SEAL),
    claude.X(0),
)
BROKEN = claude.tool(0, "srvtoolu_01Ab", "web_search", '{"query":"a\n', type="server_tool_use")
CALLER = {"type": "code_execution_20260120", "tool_id": "srvtoolu_01Ab"}
FETCH = {"id": "srvtoolu_02Cd", "name": "web_fetch", "input": {"url": "https://a.b"}, "caller": CALLER}
DONE = {"status": "completed"}
UNIT = {"type": "string", "enum": ["celsius", "fahrenheit"]}
FOUND = {**DONE, "tools": [{"type": "function", "name": "f", "parameters": {"properties": {"unit": UNIT}}}]}
LAST = {"promptTokenCount": 87, "totalTokenCount": 165, "thoughtsTokenCount": 78}
"""Counts of an answer without a candidate: Gemini leaves out zeros."""

CACHED = {"input_tokens": 0, "cache_read_input_tokens": 4096, "output_tokens": 7}

RIGHT = {
    "a call with a word of the thought for its name": (
        claude,
        claude.answer(*THOUGHT, *claude.tool(1, "toolu_017cWttjFBXZWw8L", "weather"), stop_reason="tool_use"),
    ),
    "a call with the text for its name": (
        responses,
        responses.stream(*responses.text(0, "weather"), *responses.call(1, '{"city":"Oslo"}', id="fc_01Ab")),
    ),
    "a call with a word of the tools that were found": (
        responses,
        responses.stream(
            *responses.hosted(0, id="tsc_1", type="tool_search_call", execution="server", call_id=None, **DONE),
            *responses.hosted(
                1, id="tso_08a14073c7135dc1", type="tool_search_output", execution="server", call_id=None, **FOUND
            ),
            *responses.call(2, '{"unit":"fahrenheit"}', id="fc_1"),
        ),
    ),
    "the size of an image": (
        responses,
        responses.stream(
            *responses.hosted(0, id="ig_1", type="image_generation_call", size="1536x1024", result="AAAA", **DONE)
        ),
    ),
    "input of a tool of the service that is not valid": (
        claude,
        claude.answer(*BROKEN, *claude.text(1, "Sorry.")),
    ),
    "input of the last call that is not valid": (
        claude,
        claude.answer(*claude.tool(0, "toolu_01Ab", "weather", '{"city":"Os'), stop_reason="end_turn"),
    ),
    "an input that is an object in a request without tools, where calls are words": (
        bedrock,
        bedrock.answer(
            bedrock.B(0, toolUse={"toolUseId": "tooluse_01", "name": "weather", "input": {"city": "Oslo"}}),
            bedrock.X(0),
            reason="tool_use",
        ),
    ),
    "a prompt that was in the cache as a whole": (
        claude,
        claude.stream(claude.M(usage=CACHED), *claude.text(0, "Hello there"), claude.K(usage=CACHED), claude.END),
    ),
    "a call with a name that a request may not have": (
        claude,
        claude.answer(*claude.tool(0, "toolu_01Ab", "functions.weather"), stop_reason="tool_use"),
    ),
    "a side without a count of its own": (
        gemini,
        gemini.stream(gemini.C(gemini.T("Hello there", "c2lnbmVk"), finish="STOP", usage=LAST)),
    ),
    "a call by code of a tool whose type the request has": (
        claude,
        claude.answer(
            *claude.tool(0, "srvtoolu_01Ab", "code_execution", type="server_tool_use"),
            *(claude.B(1, "server_tool_use", **FETCH), claude.X(1)),
            *claude.result(2, "srvtoolu_02Cd", {"type": "web_fetch_result"}, "web_fetch_tool_result"),
            *claude.result(3, "srvtoolu_01Ab", {"type": "code_execution_result"}, "code_execution_tool_result"),
        ),
        {"type": "code_execution_20260120", "name": "code_execution"},
    ),
}


@pytest.mark.parametrize("row", RIGHT.values(), ids=RIGHT)
def test_an_answer_that_is_read_and_written_right(row):
    """
    Recordings and mocks have such answers, and nothing is wrong with them.
    """
    wire, body, *tools = row
    request = {"model": claude.MODEL, "tools": tools} if tools else None
    check_adapter(wire.DIALECT, {"answer": body}, request=request, mutations=0, every_position=0)
