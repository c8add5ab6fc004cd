"""
A short run of the fuzzer, the fuzzer itself, and that work grows with the bytes.
"""

from collections import Counter

import attrs
import pytest

from assistant_events import TextDelta, fold
from assistant_events.adapters import Sse, dialect_names, load_dialect
from assistant_events.adapters.gemini_interactions import GeminiInteractionsDecoder

from . import __main__ as fuzz
from . import judging, seeds
from .generated import Random, stream
from .growing import bytes_of, decoded, delta, start
from .seeds import INTERACTIONS

COUNT = 20


@pytest.mark.parametrize("start", range(0, 4 * COUNT, COUNT))
@pytest.mark.parametrize("name", dialect_names())
def test_a_short_run(name, start):
    """
    Streams of any dialect that are made up or damaged show no fault.
    """
    assert [] == [report for seed in range(start, start + COUNT) if (report := fuzz.tried(name, seed))]


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
    It prints its first seed and the number of streams.
    """
    assert 0 == fuzz.main(["--seed", "7", "--count", "5"])
    assert capsys.readouterr().out.endswith("fuzz: 5 streams, no fault\n")


def test_the_program_stops_when_its_time_is_over(monkeypatch, capsys):
    """
    FUZZ_SECONDS limits the time.
    """
    monkeypatch.setenv("FUZZ_SECONDS", "0")

    assert 0 == fuzz.main([])
    assert "fuzz: 0 streams, no fault" in capsys.readouterr().out


def test_the_program_stops_when_it_is_told_to(monkeypatch, capsys):
    """
    Ctrl-C ends it without a trace.
    """

    def stopped(name, seed):
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
        if self.fast:
            self.note("odd", "only here")
        super().on_event(event)


@pytest.mark.parametrize(
    ("decoder", "sentence"),
    [
        (Broken, "failed inside with RuntimeError('boom')"),
        (Escaping, "raised RuntimeError('boom')"),
        (Illegal, "out of place"),
        (Endless, "left open"),
        (Uneven, "the fast path differs from the plain one"),
    ],
)
def test_a_fault_is_found_and_made_small(monkeypatch, capsys, decoder, sentence):
    """
    The report has the seed, the fault and the smallest stream that shows it; the exit code is 1.
    """
    broken = attrs.evolve(load_dialect(INTERACTIONS), decoder=decoder)
    monkeypatch.setattr(seeds, "load_dialect", lambda name: broken)
    monkeypatch.setattr(seeds, "recorded", lambda name: [])

    assert 1 == fuzz.main(["--dialect", INTERACTIONS, "--seed", "1", "--count", "30"])
    report = capsys.readouterr().out
    assert sentence in report
    assert "again with: python -m tests.fuzz --dialect gemini-interactions --seed " in report


def test_a_request_that_cannot_be_made_is_a_fault(monkeypatch):
    """
    So is a stream or a document of the answer that cannot be written, by any dialect.
    """

    def encode(*given, **options):
        raise RuntimeError("boom")

    monkeypatch.setattr(judging, "load_dialect", lambda name: attrs.evolve(load_dialect(name), encoder=encode))

    assert "it raised RuntimeError('boom')" in fuzz.tried(INTERACTIONS, 1)


def test_the_smallest_stream_is_small():
    """
    Lines and bytes that play no part are left out.
    """
    body = b"one\n\ntwo\nthree\n\nfour XY five\n\nsix"

    assert b"XY" == judging.smaller(body, lambda tried: b"XY" in tried)


# -- work grows with the bytes


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
