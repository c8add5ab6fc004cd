"""The generators and the harness of `benchmarks/` are right. How fast anything is, is not tested anywhere."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from assistant_events.adapters import AwsEventStream
from benchmarks import __main__ as command
from benchmarks import answers, events, limit, measure, peers, recordings, session, wire
from benchmarks.catalogue import BENCHMARKS
from benchmarks.decode import check, check_message, consume
from benchmarks.dialects import WIRES
from benchmarks.measure import QUICK, Comparison, Figure, Note, Settings, compare, exponent, tracing
from benchmarks.report import plain

ROOT = Path(__file__).parents[1]
TINY = Settings(repeats=1, sample_s=0.0, scale=0.001)

STREAMS = {"chat", "long", "big_tool", "many_tools", "steps"}
CASES = {
    "sse_to_message": STREAMS,
    "sse_to_message_live": STREAMS,
    "sse_to_message_stdlib": STREAMS,
    "sse_to_message_live_stdlib": STREAMS,
    "recorded_noise": STREAMS | {f"{name}_live" for name in STREAMS},
    **{name: {f"{wire}/{stream}" for wire in WIRES for stream in STREAMS} for name in ("dialects", "dialects_live")},
    "dialects_growth": {f"{wire}/quotient" for wire in WIRES},
    "growth": {
        f"{kind}_{what}"
        for kind in ("text", "tool_input")
        for what in (1_000, 10_000, 100_000, 1_000_000, "quotient", "exponent")
    },
    "import": {"package", "with_decoder", "with_store"},
    "peak_memory": {"fold", "decode_and_fold", "decode_and_build"},
    "converters_event": {"dump", "load"},
    "converters_message": {"dump", "load"},
    "sqlite_append": {f"{case}_{size}" for case in ("batch", "same_rows") for size in (1, 10, 100)},
    "read_and_fold": {"records"},
    "session_stream": {f"{name}{live}{what}" for name in STREAMS for live in ("", "_live") for what in ("", "_floor")},
    "live_publish": {f"{name}{live}_{count}" for name in STREAMS for live in ("", "_live") for count in (1, 100)},
    "live_join": {"p50_ms", "p99_ms"},
    "live_watchers": {"bytes_each", "growth", "poll_share"},
    "checkpoints": {"bytes", "cpu"},
    "browsers": {"bytes_each", "growth", "hundred"},
    "mock_streams": {"cpu", "delta_us", "growth_mb"},
    "bytes_per_event": {"text.delta", "reasoning.delta", "tool.input.delta", "durable"},
}

DIFFERENCES = {"session_stream", "live_publish"}
"""Benchmarks whose figures are the difference of two costs, which noise can make negative."""

OPENAI = """
import json
from contextlib import contextmanager
from types import SimpleNamespace

class OpenAI:
    def __init__(self, *, api_key, http_client):
        self.http = http_client
        self.chat = SimpleNamespace(completions=self)
        self.responses = self

    @contextmanager
    def stream(self, *, model, messages=None, input=None):
        data = self.http.post("https://api.example/chat").text
        frames = [json.loads(line[6:]) for line in data.splitlines() if line.startswith("data: {")]
        deltas = [choice["delta"] for frame in frames for choice in frame.get("choices", [])]
        text = "".join(delta.get("content") or "" for delta in deltas)
        text += "".join(frame["delta"] for frame in frames if frame.get("type") == "response.output_text.delta")
        choice = SimpleNamespace(message=SimpleNamespace(content=text))
        yield Stream([SimpleNamespace(choices=[choice], output_text=text)])

class Stream(list):
    def get_final_completion(self):
        return self[0]

    def get_final_response(self):
        return self[0]
"""
"""A peer with as much of its interface as the benchmark uses."""


@pytest.fixture(params=sorted(STREAMS))
def answer(request):
    return answers.ANSWERS[request.param](0.02)


@pytest.fixture(autouse=True)
def _uncollected(monkeypatch):
    """Nothing is compared with the figures, and collecting the garbage of all tests takes longer than the samples."""
    monkeypatch.setattr(measure, "gc", SimpleNamespace(collect=lambda: None))


class TestAnswers:
    def test_sizes_are_those_of_the_questions(self):
        """
        Each stream has the size of its question.
        """
        made = {name: make(1.0) for name, make in answers.ANSWERS.items()}

        assert 2_000 == made["chat"].deltas
        assert 50_000 == made["long"].deltas
        assert 1_000_000 <= len("".join(made["big_tool"].calls[0].pieces).encode()) < 1_001_000
        assert 20_000 == pytest.approx(made["big_tool"].deltas, rel=0.02)
        assert 200 == len(made["many_tools"].calls)
        assert 50 == pytest.approx(made["many_tools"].deltas / 200, abs=1)
        assert ["Thought", "Text", "Call"] * 100 == [type(part).__name__ for part in made["steps"].parts]
        assert 10 == pytest.approx(sum(len(call.pieces) for call in made["steps"].calls) / 100, abs=1)

    def test_deltas_look_like_tokens(self):
        """
        They are short, and some hold what has to be escaped, what is not ASCII, and emoji.
        """
        pieces = answers.chat().parts[1].pieces

        assert 3.7 == pytest.approx(sum(map(len, pieces)) / len(pieces), abs=0.1)
        assert 0.02 < sum(json.dumps(piece, ensure_ascii=False)[1:-1] != piece for piece in pieces) / len(pieces) < 0.2
        assert 0.01 < sum(not piece.isascii() for piece in pieces) / len(pieces) < 0.1
        assert any(ord(char) > 0xFFFF for piece in pieces for char in piece)

    def test_inputs_are_objects(self, answer):
        """
        The fragments of every call add up to a JSON object.
        """
        inputs = [json.loads("".join(call.pieces)) for call in answer.calls]

        assert all(isinstance(value, dict) for value in inputs)

    @pytest.mark.parametrize("count", [1, 2, 1_000, 5_000])
    def test_growing_streams_have_as_many_deltas_as_asked(self, count):
        """
        The fragments of a growing tool input have 50 characters each, and add up to an object.
        """
        call = answers.long_tool_input(count).calls[0]

        assert {50} == set(map(len, call.pieces))
        assert count == len(call.pieces) == answers.long_text(count).deltas
        assert {"path", "content"} == set(json.loads("".join(call.pieces)))


class TestWire:
    def test_frames_have_the_recorded_form(self):
        """
        An event line, a data line and an empty one; the JSON has its keys in the order of recordings.
        """
        answer = answers.Answer(
            "one",
            (
                answers.Thought(("Hm",), "c2ln"),
                answers.Text(('"é"\n',)),
                answers.Call("c1", "f", ('{"a"', ":1}")),
            ),
        )

        frames = [frame.decode() for frame in wire.interactions(answer) if b"step.delta" in frame]

        assert [
            '{"index":0,"delta":{"content":{"text":"Hm","type":"text"},"type":"thought_summary"}',
            '{"index":0,"delta":{"signature":"c2ln","type":"thought_signature"}',
            r'{"index":1,"delta":{"text":"\"é\"\n","type":"text"}',
            r'{"index":2,"delta":{"arguments":"{\"a\"","type":"arguments_delta"}',
            '{"index":2,"delta":{"arguments":":1}","type":"arguments_delta"}',
        ] == [
            frame.removeprefix("event: step.delta\ndata: ").removesuffix(',"event_type":"step.delta"}\n\n')
            for frame in frames
        ]

    def test_event_lines_agree_with_the_payload(self, answer):
        """
        Every frame but the last is one event whose line repeats its `event_type`.
        """
        *frames, last = wire.interactions(answer)

        for frame in frames:
            event, data, *rest = frame.decode().split("\n")
            assert ["", ""] == rest
            assert event.removeprefix("event: ") == json.loads(data.removeprefix("data: "))["event_type"]
        assert b"event: done\ndata: [DONE]\n\n" == last

    def test_noise_changes_no_message(self, answer):
        """
        Every document of a noisy stream has a cursor of its own; the answer is the same.
        """
        clean = list(wire.interactions(answer))
        noisy = list(wire.with_noise(clean))
        documents = wire.parse_payloads(noisy)

        check(answer, noisy)
        assert len(clean) - 1 == len(documents) == len({document["event_id"] for document in documents})
        assert [
            {key: value for key, value in document.items() if key not in ("event_id", "metadata")}
            for document in documents
        ] == wire.parse_payloads(clean)

    def test_both_formats_have_the_same_content(self, answer):
        """
        Text, reasoning, signatures and inputs can be put together again from either.
        """
        content = {
            "text": answer.text,
            "reasoning": answer.reasoning,
            "signatures": "".join(answer.signatures),
            "inputs": "".join("".join(call.pieces) for call in answer.calls),
        }

        assert content == self.content(wire.interactions(answer), text="text", content="reasoning", arguments="inputs")
        assert content == self.content(wire.anthropic(answer), text="text", thinking="reasoning", partial_json="inputs")

    def test_openai_chat_says_the_same(self, answer):
        """
        A Chat Completions stream holds the same text, reasoning and inputs; each call begins once, with its name.
        """
        frames = [frame.decode().removeprefix("data: ") for frame in wire.openai_chat(answer)]
        *choices, end = [json.loads(frame)["choices"][0] for frame in frames[:-1]]
        deltas = [choice["delta"] for choice in choices]
        calls = [call for delta in deltas for call in delta.get("tool_calls", ())]

        assert answer.text == "".join(delta.get("content", "") for delta in deltas)
        assert answer.reasoning == "".join(delta.get("reasoning_content", "") for delta in deltas)
        assert [call.name for call in answer.calls] == [call["function"]["name"] for call in calls if "id" in call]
        assert ["".join(call.pieces) for call in answer.calls] == [
            "".join(call["function"]["arguments"] for call in calls if call["index"] == index)
            for index in range(len(answer.calls))
        ]
        assert ("tool_calls" if answer.calls else "stop") == end["finish_reason"]
        assert "[DONE]\n\n" == frames[-1]

    @staticmethod
    def content(frames, **names):
        content = dict.fromkeys(("text", "reasoning", "signatures", "inputs"), "")
        for frame in frames:
            _, _, data = frame.decode().partition("data: ")
            delta = {} if data.startswith("[DONE]") else json.loads(data).get("delta", {})
            for key, name in {**names, "signature": "signatures"}.items():
                value = delta.get(key, "")
                content[name] += value["text"] if isinstance(value, dict) else value
        return content

    def test_chunks_hold_the_same_bytes(self):
        """
        All chunks but the last have the size that was asked for.
        """
        frames = list(wire.interactions(answers.chat(50)))
        chunks = wire.in_chunks(frames, 100)

        assert b"".join(frames) == b"".join(chunks)
        assert {100} == set(map(len, chunks[:-1]))


class TestEvents:
    def test_mixed_events_have_five_to_seven_fields(self):
        """
        As in the question.
        """
        from assistant_events.converters import unstructure

        made = events.mixed(1_300)
        counts = [len(unstructure(event)) for event in made]

        assert 1_300 == len(made)
        assert 13 == len({event.type for event in made})
        assert {5, 6, 7} == set(counts)

    def test_sessions_are_legal(self):
        """
        What is stored and folded has no problems, and every call is answered.
        """
        from assistant_events import find_problems, fold

        made = list(events.session(3))

        assert 33 == len(made)
        assert [] == list(find_problems(made))
        assert () == fold(made).pending_tool_calls


class TestLimit:
    def test_every_payload_is_parsed(self, monkeypatch):
        """
        orjson parses all JSON of a stream, and nothing else.
        """
        seen = []
        monkeypatch.setattr(limit, "orjson", SimpleNamespace(loads=lambda data: seen.append(json.loads(data))))
        frames = list(wire.interactions(answers.steps(1)))
        limit.parse_all(b"".join(frames))

        assert wire.parse_payloads(frames) == seen
        assert len(frames) - 1 == len(seen)


class TestCheck:
    def test_streams_decode_to_their_answers(self, answer):
        """
        In chunks and one event a chunk.
        """
        frames = list(wire.interactions(answer))

        check(answer, frames)
        check(answer, wire.in_chunks(frames, 1_000))

    @pytest.mark.parametrize(
        ("changed", "reason"),
        [
            (answers.Answer("x", (answers.Text(("Hello!",)),)), "the text"),
            (
                answers.Answer("x", (answers.Text(("Hello",)), answers.Call("c", "f", ("{}",)))),
                "expected 1 calls, got 0",
            ),
        ],
        ids=["text", "calls"],
    )
    def test_a_wrong_message_is_refused(self, changed, reason):
        """
        Nothing is timed that does something else.
        """
        message = consume(wire.interactions(answers.Answer("x", (answers.Text(("Hello",)),))))

        with pytest.raises(AssertionError, match=reason):
            check_message(changed, message)

    @pytest.mark.parametrize(
        ("changed", "reason"),
        [
            ((answers.Thought(("Hm", "!"), "c2ln"), 0), "the reasoning"),
            ((answers.Thought(("H", "m"), "b3RoZXI="), 0), "a signature got lost"),
            ((answers.Call("c", "f", ('{"a": ', "2}")), 1), "call c has another input"),
            ((answers.Call("d", "f", ('{"a": ', "1}")), 1), "call d is another one"),
            ((answers.Call("c", "f", ('{"a": 1}',)), 1), "expected 3 live events, got 4"),
        ],
        ids=["reasoning", "signature", "input", "call", "deltas"],
    )
    def test_a_wrong_stream_is_refused(self, changed, reason):
        """
        Thoughts, signatures and calls are compared, too, and how many deltas there were.
        """
        parts = [answers.Thought(("H", "m"), "c2ln"), answers.Call("c", "f", ('{"a": ', "1}"))]
        frames = list(wire.interactions(answers.Answer("x", tuple(parts))))
        check(answers.Answer("x", tuple(parts)), frames)
        part, place = changed
        parts[place] = part

        with pytest.raises(AssertionError, match=reason):
            check(answers.Answer("x", tuple(parts)), frames)


class FakeClock:
    def __init__(self):
        self.now = 0.0
        self.order = []

    def __call__(self):
        return self.now

    def side(self, name, *costs):
        remaining = list(costs)

        def run():
            self.order.append(name)
            self.now += remaining.pop(0) if len(remaining) > 1 else remaining[0]

        return run


class TestCompare:
    def test_the_ratio_is_that_of_the_costs(self):
        """
        A side that takes three times as long costs 3.
        """
        clock = FakeClock()
        comparison = compare(
            clock.side("a", 0.75), clock.side("b", 0.25), Settings(repeats=5, sample_s=0.0), clock=clock
        )

        assert 3.0 == comparison.ratio
        assert (3.0,) * 5 == comparison.ratios
        assert (0.75, 0.25) == (comparison.candidate_s, comparison.reference_s)

    def test_sides_take_turns_and_the_first_turn(self):
        """
        After one run each to warm up, each sample of one side has one of the other beside it.
        """
        clock = FakeClock()
        compare(clock.side("a", 1.0), clock.side("b", 1.0), Settings(repeats=3, sample_s=0.0), clock=clock)

        assert "ab" + "ab" + "ba" + "ab" == "".join(clock.order)

    def test_short_sides_run_until_a_sample_is_long_enough(self):
        """
        Four runs of a quarter make a second.
        """
        clock = FakeClock()
        compare(clock.side("a", 0.25), clock.side("b", 2.0), Settings(repeats=1, sample_s=1.0), clock=clock)

        assert "a" + "b" + "aaaa" + "b" == "".join(clock.order)

    def test_one_slow_sample_does_not_count(self):
        """
        The median of the pairs is the figure.
        """
        clock = FakeClock()
        comparison = compare(
            clock.side("a", 1.0, 1.0, 9.0, 1.0), clock.side("b", 1.0), Settings(repeats=3, sample_s=0.0), clock=clock
        )

        assert 1.0 == comparison.ratio
        assert 9.0 == max(comparison.ratios)

    @pytest.mark.parametrize("power", [0.5, 1, 2])
    def test_exponents(self, power):
        """
        Cost that grows with a power of the size has that exponent.
        """
        assert power == pytest.approx(exponent({size: 7 * size**power for size in (1_000, 10_000, 1_000_000)}))

    def test_traced_memory_is_that_of_the_block(self):
        """
        What existed before does not count, what is gone at the end counts for the peak.
        """
        before = bytearray(1_000_000)
        with tracing() as memory:
            gone = bytearray(500_000)
            del gone
            kept = bytearray(200_000)

        assert 1_200_000 == len(before) + len(kept)
        assert 200_000 == pytest.approx(memory.kept, abs=20_000)
        assert 500_000 == pytest.approx(memory.peak, abs=20_000)


def _good(settings):
    yield Figure("fast", 1.5, goal=2.0, samples=(1.4, 1.5, 1.7), detail="of everything")
    yield Figure("slow", 250.0, goal=2.0)
    yield Figure("size", 118.0, unit="bytes")
    yield Note("one thing left out")


def _bad(settings):
    yield Figure("half", 1.0)
    raise ValueError("no such stream")


class TestReport:
    @pytest.fixture
    def results(self, capsys):
        return command.run({"good": _good, "bad": _bad, "again": _good}, TINY)

    def test_one_failure_stops_nothing(self, results):
        """
        What raised is named, and has no figures; what comes after it has.
        """
        assert {"bad": "ValueError: no such stream"} == results.failed
        assert ["good", "again"] == list(results.figures)
        assert "failed: bad: ValueError: no such stream" in results.footer()

    def test_goals_are_marked(self, results):
        """
        Met, missed, or nothing where none was set.
        """
        assert ["good/slow", "again/slow"] == results.missed
        assert [("fast", "met"), ("slow", "MISSED"), ("size", "")] == [
            (figure.case, {True: "met", False: "MISSED", None: ""}[figure.met]) for figure in results.figures["good"]
        ]
        assert "goals: 2 of 4 met" in results.footer()
        assert "missed: good/slow, again/slow" in results.footer()
        assert "one thing left out" in results.footer()

    def test_ratios_come_first(self, results):
        """
        Figures that depend on the machine come last.
        """
        assert ["1.50 x", "250 x", "1.50 x", "250 x", "118 bytes", "118 bytes"] == [row[2] for row in results.rows()]

    def test_columns_are_aligned(self, results):
        """
        Words to the left, figures to the right, and the name of a benchmark once.
        """
        head, line, *rows = plain(results.rows())

        assert len(head.rstrip()) <= len(line)
        assert ["good", "", "again", ""] == [row[: head.index("case")].strip() for row in rows[:4]]
        assert {head.index("figure") + len("figure")} == {row.index(" x") + len(" x") for row in rows[:4]}
        assert {head.index("what")} == {row.index("of everything") for row in rows if "everything" in row}

    def test_the_json_has_figures_by_name_and_case(self, results):
        """
        A program finds a figure under its benchmark and its case.
        """
        document = json.loads(json.dumps(results.as_json()))

        assert {"fast": 1.5, "slow": 250.0, "size": 118.0} == document["good"]
        assert {"bad": "ValueError: no such stream"} == document["failed"]
        assert [1.4, 1.7] == document["spread"]["good/fast"]
        assert {"CPython", "attrs", "orjson"} <= set(document["versions"])


class TestCommand:
    @pytest.fixture(autouse=True)
    def _small(self, monkeypatch):
        monkeypatch.setattr(command, "BENCHMARKS", {"good": _good, "bad": _bad})
        monkeypatch.delenv("BENCH_QUICK", raising=False)
        monkeypatch.delenv("BENCH_JSON", raising=False)

    def test_a_failure_makes_the_exit_code_1(self, capsys):
        """
        The table is printed all the same.
        """
        code = command.main([])
        shown = capsys.readouterr()

        assert 1 == code
        assert "good  " in shown.out
        assert "failed: bad" in shown.out

    def test_only_what_is_named_runs(self, capsys):
        """
        A missed goal does not change the exit code.
        """
        assert 0 == command.main(["good"])

    def test_an_unknown_name_is_refused(self, capsys):
        """
        With the names that there are.
        """
        with pytest.raises(SystemExit):
            command.main(["fast"])

        assert "no benchmark 'fast'; expected one of good, bad" in capsys.readouterr().err

    @pytest.mark.parametrize(("value", "settings"), [("1", QUICK), ("0", Settings()), ("", Settings())])
    def test_quick_is_asked_for_by_environment(self, monkeypatch, tmp_path, capsys, value, settings):
        """
        `BENCH_QUICK=1` takes fewer samples, and `BENCH_JSON` names the file for the figures.
        """
        monkeypatch.setenv("BENCH_QUICK", value)
        monkeypatch.setenv("BENCH_JSON", str(tmp_path / "figures.json"))
        command.main(["good"])
        document = json.loads((tmp_path / "figures.json").read_text())

        assert settings.repeats == document["settings"]["repeats"]
        assert 1.5 == document["good"]["fast"]


class TestCatalogue:
    @pytest.mark.parametrize("name", CASES)
    def test_every_benchmark_answers_its_question(self, name):
        """
        At a thousandth of its size, it gives all the figures that it promises.
        """
        figures = list(BENCHMARKS[name](TINY))

        assert CASES[name] == {figure.case for figure in figures}
        assert name in DIFFERENCES or all(figure.value >= 0 for figure in figures)

    def test_absent_peers_are_named(self, monkeypatch, tmp_path):
        """
        A peer that is not installed is left out with a line, and so is one that fails; the others are measured.
        """
        monkeypatch.setattr(peers, "FOLDER", tmp_path)
        (tmp_path / "google-genai").mkdir()
        (tmp_path / "openai").mkdir()
        (tmp_path / "openai" / "openai.py").write_text(OPENAI)
        (tmp_path / "openai" / "openai-9.8.dist-info").mkdir()
        (tmp_path / "openai" / "openai-9.8.dist-info" / "METADATA").write_text("Name: openai\nVersion: 9.8\n")
        found = list(BENCHMARKS["peers"](TINY))
        notes = {item.text.split()[1]: item.text for item in found if isinstance(item, Note)}
        figures = [item for item in found if isinstance(item, Figure)]

        assert {*peers.PEERS} - {"openai"} == set(notes)
        assert notes["google-genai"].startswith("peers: google-genai left out, it failed: ModuleNotFoundError: ")
        assert notes["anthropic"].endswith("left out, it is not installed; `make bench` installs it")
        rows = [*[f"assistant-events/{wire}" for wire in WIRES], "openai/openai-chat", "openai/openai-responses"]
        assert [f"{row}/{what}" for row in rows for what in ("chat", "steps")] == [figure.case for figure in figures]
        assert figures[-1].detail.startswith("9.8, ")

    def test_recordings_are_measured_where_they_are(self, monkeypatch, tmp_path):
        """
        Each dialect has its figure, of the first answer of each stream; without recordings there is a line.
        """
        monkeypatch.setattr(recordings, "FOLDER", tmp_path / "absent")
        [note] = BENCHMARKS["recordings"](TINY)
        monkeypatch.setattr(recordings, "FOLDER", tmp_path)
        for name, write in WIRES.items():
            (tmp_path / name).mkdir()
            body = b"".join(write(answers.chat(3)))
            if name == "bedrock-converse":
                documents = AwsEventStream().feed(body)
                (tmp_path / name / "one.jsonl").write_bytes(b"\n".join(documents))
            else:
                (tmp_path / name / "one.sse").write_bytes(body.replace(b"data: ", b"data:"))
            (tmp_path / name / "other.json").write_text("{}")
        found = list(BENCHMARKS["recordings"](TINY))

        assert "recordings: left out, there are none beside this repository" == note.text
        assert [*WIRES] == [figure.case for figure in found]
        assert all(figure.detail.startswith("1 streams, ") for figure in found)

    def test_absent_servers_are_named(self, monkeypatch):
        """
        Without node, aimock is left out with a line.
        """
        monkeypatch.setattr("shutil.which", lambda name: None)
        found = list(BENCHMARKS["mock_peers"](TINY))

        assert ["mock_peers: aimock left out, node is not installed"] == [item.text for item in found]

    def test_none_is_forgotten(self):
        """
        Every benchmark is tried above, asks its question in its docstring, and is in the README.
        """
        readme = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")

        assert {*CASES, "peers", "mock_peers", "recordings"} == set(BENCHMARKS)
        assert all("?" in benchmark.__doc__ for benchmark in BENCHMARKS.values())
        assert all(f"`{name}`" in readme for name in BENCHMARKS)


def test_what_one_side_costs_more(monkeypatch):
    """
    It is a multiple of the limit: one half more than what costs 4 limits is 2 of them, a quarter more is 1.
    """
    compared = iter([Comparison((4.0,), 1.0, 1.0), Comparison((1.5, 1.25, 1.5), 1.0, 1.0)])
    monkeypatch.setattr(session, "compare", lambda *_: next(compared))
    figure = session._Difference(list, list, [b"{}"]).figure("case", TINY, None, "")

    assert (2.0, (2.0, 1.0, 2.0)) == (figure.value, figure.samples)
