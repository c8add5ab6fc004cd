"""
A short run of the fuzzer, the fuzzer itself, and that work grows with the bytes.
"""

import json
import sys
from collections import Counter

import pytest

from assistant_events import TextDelta, fold
from assistant_events.adapters import Sse
from assistant_events.adapters.gemini_interactions import GeminiInteractionsDecoder

from . import __main__ as fuzz
from . import corpus_streams, judging
from .generated import Random, stream

COUNT = 20


@pytest.mark.parametrize("start", range(0, 30 * COUNT, COUNT))
def test_a_short_run(start):
    """
    Streams that are made up or damaged show no fault.
    """
    recorded = corpus_streams()

    assert [] == [report for seed in range(start, start + COUNT) if (report := fuzz.tried(seed, recorded))]


def test_seeds_name_streams():
    """
    Equal seeds give equal streams, other seeds others.
    """
    assert [stream(Random(seed)) for seed in range(50)] == [stream(Random(seed)) for seed in range(50)]
    assert 50 == len({stream(Random(seed)) for seed in range(50)})


def test_streams_reach_everything():
    """
    Between them the streams cause every event that the decoder has.
    """
    seen = Counter()
    for seed in range(400):
        decoder = GeminiInteractionsDecoder("m")
        seen.update(event.type for event in decoder.feed(stream(Random(seed))) + decoder.close())

    kinds = ["text", "reasoning", "media", "tool.input"]
    expected = {f"{kind}.{what}" for kind in kinds for what in ("started", "delta", "ended")}
    expected |= {"tool.called", "tool.success", "tool.failed", "opaque.received", "step.started", "step.ended"}
    assert {*expected, "step.failed", "step.restarted"} == set(seen)


def test_the_program_ends_well(capsys):
    """
    It says with which seed it began and how many streams it tried.
    """
    assert 0 == fuzz.main(["--seed", "7", "--count", "5"])
    assert capsys.readouterr().out.endswith("fuzz: 5 streams, no fault\n")


def test_the_program_stops_when_its_time_is_over(monkeypatch, capsys):
    """
    FUZZ_SECONDS says how long it runs.
    """
    monkeypatch.setenv("FUZZ_SECONDS", "0")

    assert 0 == fuzz.main([])
    assert "fuzz: 0 streams, no fault" in capsys.readouterr().out


def test_the_program_stops_when_it_is_told_to(monkeypatch, capsys):
    """
    Ctrl-C ends it without a trace.
    """

    def stopped(seed, recorded):
        raise KeyboardInterrupt

    monkeypatch.setattr(fuzz, "tried", stopped)

    assert 0 == fuzz.main(["--seed", "1"])
    assert "fuzz: 0 streams, no fault" in capsys.readouterr().out


class Broken(GeminiInteractionsDecoder):
    """
    Stumbles over one kind of event.
    """

    def on_event(self, event):
        if event.get("event_type") == "step.stop":
            raise RuntimeError("boom")
        super().on_event(event)


class Escaping(GeminiInteractionsDecoder):
    def close(self, error=None):
        raise RuntimeError("boom")


class Illegal(GeminiInteractionsDecoder):
    def on_event(self, event):
        super().on_event(event)
        self._sink.append(TextDelta(message_id=self.message_id, offset=9, delta="x"))


class Endless(GeminiInteractionsDecoder):
    def on_event(self, event):
        self.ensure_started()

    def close(self, error=None):
        return []


class Uneven(GeminiInteractionsDecoder):
    def on_event(self, event):
        if type(self) is Uneven:
            self.note("odd", "only here")
        super().on_event(event)


@pytest.mark.parametrize(
    ("decoder", "sentence"),
    [
        (Broken, "failed inside with RuntimeError('boom')"),
        (Escaping, "raised RuntimeError('boom')"),
        (Illegal, "out of place"),
        (Endless, "left open"),
        (Uneven, "the short way differs from the plain one"),
    ],
)
def test_a_fault_is_found_and_made_small(monkeypatch, capsys, decoder, sentence):
    """
    The report has the seed, the fault and the smallest stream that shows it; the exit code is 1.
    """
    monkeypatch.setattr(judging, "GeminiInteractionsDecoder", decoder)
    plain = decoder if decoder is not Uneven else GeminiInteractionsDecoder
    monkeypatch.setattr(judging, "Plain", type("Plain", (plain,), {"fast": False}))

    assert 1 == fuzz.main(["--seed", "1", "--count", "30"])
    report = capsys.readouterr().out
    assert sentence in report
    assert "again with: python -m tests.fuzz --seed " in report


def test_the_smallest_stream_is_small():
    """
    Lines and bytes that play no part are left out.
    """
    body = b"one\n\ntwo\nthree\n\nfour XY five\n\nsix"

    assert b"XY" == judging.smaller(body, lambda tried: b"XY" in tried)


# -- work grows with the bytes


def created(count):
    return [{"event_type": "interaction.created", "interaction": {"id": "v1"}}]


def delta(index, kind, **fields):
    return {"event_type": "step.delta", "index": index, "delta": {"type": kind, **fields}}


def start(index, kind, **fields):
    return {"event_type": "step.start", "index": index, "step": {"type": kind, **fields}}


def without(event, key):
    return {name: value for name, value in event.items() if name != key}


GROWING = {
    "text": lambda n: [start(0, "model_output"), *[delta(0, "text", text="word ")] * n],
    "text with ids": lambda n: [{**delta(0, "text", text="word "), "event_id": f"e{at}"} for at in range(n)],
    "text without names": lambda n: [without(delta(0, "text", text="word "), "event_type") for _ in range(n)],
    "text without index": lambda n: [without(delta(0, "text", text="word "), "index")] * n,
    "thought": lambda n: [delta(0, "thought_summary", content={"type": "text", "text": "p"})] * n,
    "signatures": lambda n: [delta(0, "thought_signature", signature="S=")] * n,
    "arguments": lambda n: [
        start(0, "function_call", id="c", name="f"),
        *[delta(0, "arguments_delta", arguments="1")] * n,
    ],
    "calls": lambda n: [start(at, "function_call", id=f"c{at}", name="f") for at in range(n)],
    "calls of one id": lambda n: [start(at, "function_call", id="c", name="f") for at in range(n)],
    "calls without ids": lambda n: [start(at, "function_call", id="", name="f") for at in range(n)],
    "results without calls": lambda n: [start(at, "google_search_result", call_id=f"c{at}") for at in range(n)],
    "second results": lambda n: [
        start(0, "google_search_call", id="c"),
        *[start(at, "google_search_result", call_id="c") for at in range(1, n)],
    ],
    "steps without index": lambda n: (
        [without(start(0, "model_output", content=[{"type": "text", "text": "a"}]), "index")] * n
    ),
    "stops without index": lambda n: [*[start(at, "thought") for at in range(n)], *[{"event_type": "step.stop"}] * n],
    "two texts in turn": lambda n: [delta(at % 2, "text", text="a") for at in range(n)],
    "texts that overlap": lambda n: [delta(at, "text", text="a") for at in range(n)],
    "late texts": lambda n: [delta(0, "text", text="a"), {"event_type": "step.stop", "index": 0}] * n,
    "citations": lambda n: [
        delta(0, "text", text="é" * 10),
        *[
            delta(0, "text_annotation_delta", annotations=[{"url": f"u{at}", "start_index": 2, "end_index": at}])
            for at in range(n)
        ],
    ],
    "sounds": lambda n: [delta(0, "audio", data="AAAA", mime_type="audio/l16")] * n,
    "pictures": lambda n: [delta(0, "image", data="AAAA", mime_type="image/png")] * n,
    "unknown deltas": lambda n: [delta(0, "sparkle", x=1)] * n,
    "unknown steps": lambda n: [start(at, "dream") for at in range(n)],
    "created again": lambda n: [start(0, "model_output"), *created(1) * n],
    "restarts": lambda n: [*created(1), start(0, "model_output"), delta(0, "text", text="a")] * n,
    "hops": lambda n: [
        {"event_type": kind, "interaction": {"id": f"v{at}", "status": "requires_continuation"}}
        for at in range(1, n)
        for kind in ("interaction.created", "interaction.completed")
    ],
    "bad frames": lambda n: ["{"] * n,
    "empty errors": lambda n: [{"event_type": "error"}] * n,
}
LINEAR = 2.5
"""Work for twice the bytes; a quadratic part at this size would give 4."""


def bytes_of(events):
    return b"".join(
        b"event: x\ndata: " + (event if isinstance(event, str) else json.dumps(event)).encode() + b"\n\n"
        for event in [*created(1), *events]
    )


def work(run):
    """
    Return how many functions are called and lines are run meanwhile.
    """
    count = 0

    def counted(frame, what, argument):
        nonlocal count
        count += 1
        return counted

    before = sys.gettrace()
    sys.settrace(counted)
    try:
        run()
    finally:
        sys.settrace(before)
    return count


def decoded(body):
    decoder = GeminiInteractionsDecoder("m")
    return decoder.feed(body) + decoder.close()


@pytest.mark.parametrize("family", GROWING.values(), ids=GROWING.keys())
def test_work_grows_with_the_bytes(family):
    """
    Twice the frames are twice the work, whatever the frames are.
    """
    small, large = bytes_of(family(300)), bytes_of(family(600))
    decoded(small)

    assert work(lambda: decoded(large)) <= LINEAR * work(lambda: decoded(small))


@pytest.mark.parametrize("family", ["text", "calls of one id", "citations", "restarts"])
def test_work_of_a_rejoin_grows_with_the_bytes(family):
    """
    So it is for a replay that is compared with what was recorded.
    """

    def rejoined(count):
        body = bytes_of(GROWING[family](count))
        decoder = GeminiInteractionsDecoder("m")
        decoder.feed(body)
        decoder.rejoin()
        return work(lambda: decoder.feed(body))

    rejoined(100)

    assert rejoined(600) <= LINEAR * rejoined(300)


def test_pieces_of_a_frame_are_joined_once():
    """
    A large frame that comes in small pieces is not copied with each of them.
    """
    made = Sse()
    made.feed(b": begun\n\n")
    for _ in range(1000):
        made.feed(b"data: xxxxxxxx")

    assert 1000 == len(made._pending)
    assert [b"xxxxxxxx" + b"data: xxxxxxxx" * 999] == made.feed(b"\n\n")


def test_a_string_of_ten_megabytes():
    """
    Large strings pass as they are, in text and in state.
    """
    large = "é" * 5_000_000
    thought = [start(0, "thought", signature=large), {"event_type": "step.stop", "index": 0}]
    body = bytes_of([*thought, delta(1, "text", text=large), delta(1, "text", text="end")])
    message = fold(decoded(body)).last

    assert large + "end" == message.text
    assert large == message.parts[0].state["signature"]


def test_nesting_of_a_hundred_thousand():
    """
    What nests without end costs no more than to be looked at.
    """
    body = bytes_of(["[" * 100_000 + "]" * 100_000, '{"a":' * 100_000 + "1" + "}" * 100_000])

    assert ["step.started", "step.failed"] == [event.type for event in decoded(body)]
