"""
The example of an adapter in a package of its own: Ollama's native chat.
"""

import asyncio
import importlib
import json
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from assistant_events import FinishReason, JsonObject, Origin, Transcript, UserMessage, fold
from assistant_events.adapters import detect_dialect, load_dialect
from assistant_events.converters import dumps
from assistant_events.errors import LocalProtocolError
from assistant_events.mock import load_mock
from assistant_events.mock.proxy import RecordingProxy
from assistant_events.recorder import Recorder
from assistant_events.session import SyncSession
from assistant_events.stores import MemoryStore
from assistant_events.testing import Call, answer, mock_provider
from assistant_events.testing.adapters import check_adapter
from assistant_events.testing.transport import StreamingTransport
from assistant_events.values import ErrorInfo, MediaContent, Usage

EXAMPLE = Path(__file__).parents[2] / "examples" / "ollama"


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory):
    """
    The example, installed as users do, but in a directory of its own and without a network.
    """
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    how = ["--no-deps", "--no-build-isolation", "--no-compile", "--target", str(target), str(EXAMPLE)]
    done = subprocess.run([*pip, *how], capture_output=True, text=True, timeout=120, check=False)
    assert 0 == done.returncode, done.stdout + done.stderr

    sys.path.insert(0, str(target))
    importlib.invalidate_caches()
    yield
    sys.path.remove(str(target))
    for name in [each for each in sys.modules if each.startswith("assistant_events_ollama")]:
        del sys.modules[name]


@pytest.fixture
def dialect():
    return load_dialect("ollama-chat")


def line(content="", done=False, **more):
    message = {"role": "assistant", "content": content, **more.pop("message", {})}
    return {"model": "qwen3", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": done, **more}


def call(name, **arguments):
    return {"message": {"tool_calls": [{"function": {"name": name, "arguments": arguments}}]}}


END = {"done_reason": "stop", "prompt_eval_count": 11, "eval_count": 7, "total_duration": 5}
THINKING = [
    line(message={"thinking": "Hm"}),
    line(message={"thinking": "m."}),
    line("Hel"),
    line("lo"),
    line(done=True, **END),
]
CALLS = [
    line("Let me see."),
    line(**call("get_weather", city="Oslo")),
    line(**call("get_time")),
    line(done=True, **END),
]
SAMPLES = {
    "text": [line("Hé"), line("llo"), line(done=True, **END)],
    "thinking": THINKING,
    "calls": CALLS,
    "length": [line("Hel"), line(done=True, done_reason="length")],
    "load": [line(done=True, done_reason="load")],
    "error": [line("Hel"), {"error": "out of memory"}],
    "cut": [line("Hel"), line("lo")],
    "one document": [line("Hello", done=True, **END)],
}


def body(lines):
    return b"".join(json.dumps(each, ensure_ascii=False).encode() + b"\n" for each in lines)


def message(dialect, name):
    decoder = dialect.decoder("m")
    return fold(decoder.feed(body(SAMPLES[name])) + decoder.close()).last


def test_it_is_small():
    """
    An adapter both ways takes under 250 lines, its package and all, without client and mock.
    """
    files = [EXAMPLE / "assistant_events_ollama.py", EXAMPLE / "pyproject.toml"]

    assert sum(len(each.read_text(encoding="utf-8").splitlines()) for each in files) < 250


def test_it_holds_what_every_adapter_must(dialect):
    """
    Cutting, closing, rejoining and garbage are the base's business.
    """
    check_adapter(dialect, {name: body(lines) for name, lines in SAMPLES.items()}, mutations=100)


def test_it_is_found_by_its_first_line(dialect):
    """
    The first line, or a whole document, identifies the dialect.
    """
    assert dialect is detect_dialect([SAMPLES["text"][0]])


def test_thinking_and_text(dialect):
    """
    Thinking is reasoning; the text begins where it ends.
    """
    found = message(dialect, "thinking")

    assert ("Hmm.", "Hello") == (found.reasoning, found.text)
    assert ["reasoning", "text"] == [part.type for part in found.parts]


def test_calls(dialect):
    """
    Calls come whole and without ids; the app has to answer them.
    """
    found = message(dialect, "calls")

    assert [("call-1", "get_weather", {"city": "Oslo"}), ("call-2", "get_time", {})] == [
        (each.call_id, each.name, each.arguments) for each in found.pending_tool_calls
    ]
    assert (FinishReason.TOOL_CALLS, "stop") == (found.finish_reason, found.raw_finish_reason)


def test_usage(dialect):
    """
    Counts of the last line are the usage.
    """
    details = {"prompt_eval_count": 11, "eval_count": 7, "total_duration": 5}

    assert Usage(input_tokens=11, output_tokens=7, details=JsonObject(details)) == message(dialect, "text").usage
    assert None is message(dialect, "length").usage


@pytest.mark.parametrize(("name", "finish"), [("text", "stop"), ("length", "length"), ("load", "other")])
def test_finish(dialect, name, finish):
    """
    The reason of the last line is how the step finished.
    """
    assert finish == message(dialect, name).finish_reason


def test_an_error_line(dialect):
    """
    A line with an error fails the step; what came before stays.
    """
    found = message(dialect, "error")

    assert ("Hel", "failed", "out of memory") == (found.text, found.status, found.error.message)


def test_a_document(dialect):
    """
    Without `stream` the one document is the last line.
    """
    events = dialect.decode_resource(SAMPLES["one document"][0], "m")

    assert message(dialect, "one document") == fold(events).last


def test_an_http_error(dialect):
    """
    The body of an HTTP error is an error line.
    """
    body = b'{"error":"model \'x\' not found"}'

    assert ErrorInfo(kind="not-found", message="model 'x' not found", status=404) == dialect.http_error(404, {}, body)
    assert "HTTP 500" == dialect.http_error(500, {}, b"<html>").message


@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_emitted_is_decoded(dialect, name):
    """
    The emitter writes every sample so that it is decoded to the same message.
    """
    decoder = dialect.decoder("m")
    events = decoder.feed(body(SAMPLES[name])) + decoder.close()
    emitter = dialect.emitter()
    lines = [line for event in events for line in emitter.emit(event)] + emitter.close()
    again = dialect.decoder("m")

    assert () == emitter.drops
    assert fold(events) == fold(again.feed(b"".join(map(emitter.to_bytes, lines))) + again.close())


def test_what_the_wire_does_not_carry(dialect):
    """
    Ids of calls and state of other providers are reported.
    """
    emitter = dialect.emitter()
    for event in answer("Hi", calls=[Call("get_time", {}, call_id="c7")], text_state={"signature": "S"}):
        emitter.emit(event)

    assert [(None, "other-provider"), (0, "other-provider"), (1, "unplaced"), (None, "unplaced")] == [
        (drop.part, drop.reason) for drop in emitter.drops
    ]


def test_a_request(dialect):
    """
    Messages of the app come first; a call has its result, also when the app gave none.
    """
    question = UserMessage(id="u", content=("What is this?", MediaContent(media_type="image/png", data=b"\0")))
    found = message(dialect, "calls")
    sunny = found.tool_calls[0].succeed({"sky": "clear"})
    told = fold([sunny], start=Transcript(messages=(question, found)))
    system = {"role": "system", "content": "Be brief."}
    encoded = dialect.encoder(told, {"model": "qwen3", "messages": [system]})

    assert [
        system,
        {"role": "user", "content": "What is this?", "images": ["AA=="]},
        {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [
                {"function": {"name": "get_weather", "arguments": {"city": "Oslo"}}},
                {"function": {"name": "get_time", "arguments": {}}},
            ],
        },
        {"role": "tool", "tool_name": "get_weather", "content": '{"sky":"clear"}'},
        {"role": "tool", "tool_name": "get_time", "content": "No result is available for this call."},
    ] == encoded.body["messages"]
    assert [("m", 2, "no-answer")] == [(drop.message_id, drop.part, drop.reason) for drop in encoded.drops]


def test_media_of_an_answer_are_reported(dialect):
    """
    The example writes no media of an answer, so the request reports them.
    """
    recorder = Recorder("a1")
    events = recorder.start(Origin(provider="ollama", model="m", dialect="ollama-chat")) + recorder.text("see")
    events += recorder.end_media(data=b"x", media_type="image/png") + recorder.finish("stop")
    encoded = dialect.encoder(fold(events), {"model": "m"})

    assert [{"role": "assistant", "content": "see"}] == encoded.body["messages"]
    assert [("a1", 1, "unplaced", True)] == [
        (drop.message_id, drop.part, drop.reason, drop.whole) for drop in encoded.drops
    ]


def test_a_request_is_never_chained(dialect):
    """
    The server stores no answers.
    """
    transcript = Transcript(messages=(message(dialect, "thinking"), UserMessage(id="u", content="More")))

    assert "full" == dialect.encoder(transcript, {"model": "qwen3"}).mode
    with pytest.raises(LocalProtocolError, match="the provider stores no answers"):
        dialect.encoder(transcript, {"model": "qwen3"}, mode="chained")


FIXTURES = {
    "version": 1,
    "fixtures": [
        {
            "match": {"user_text": {"contains": "weather"}, "tool": "get_weather", "has_result": False},
            "answer": {"thought": "Hm.", "calls": [{"name": "get_weather", "arguments": {"city": "Oslo"}}]},
        },
        {"match": {"result_text": "4 °C"}, "answer": {"text": "It is 4 °C in the city of Oslo."}},
        {"match": {"user_text": "short"}, "answer": {"message": {"content": "It"}, "done_reason": "length"}},
        {"match": {"user_text": "ends"}, "answer": {"text": "It is cut here and there.", "cut_after": 1}},
        {"match": {"user_text": "no mark"}, "answer": {"text": "It is dry.", "faults": ["no-done"]}},
        {"match": {"user_text": "fails"}, "answer": {"text": "It", "stream_error": {"code": "x", "message": "no"}}},
        {"match": {"user_text": "events"}, "answer": {"events": [json.loads(dumps(each)) for each in answer("Hi")]}},
    ],
}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]


@pytest.fixture
def provider():
    with mock_provider(FIXTURES, dialect="ollama-chat") as running:
        yield running


@pytest.fixture
def ask(provider):
    """
    Answers a prompt, or what waits, with the client of the example and the mock.
    """
    module = importlib.import_module("assistant_events_ollama_client")
    session, client = SyncSession.open(MemoryStore(), "s1"), module.SyncOllamaChat("", base_url=provider.url)

    def ask(text=None, **body):
        if text is not None:
            session.prompt(text)
        with session.respond(client, {"model": "qwen3", **body}) as events:
            for _ in events:
                pass
        return session

    with client:
        yield ask


def test_client_and_mock(ask):
    """
    A call and its result, in lines: the session has thought, call, text and counts, and the mock saw the result.
    """
    session = ask("What is the weather?", tools=TOOLS)
    called = session.transcript.last_answer
    session.append(called.pending_tool_calls[0].succeed("4 °C"))
    told = ask(tools=TOOLS).transcript.last_answer

    assert ("Hm.", [{"city": "Oslo"}]) == (called.reasoning, [call.arguments for call in called.tool_calls])
    assert (None, "It is 4 °C in the city of Oslo.") == (told.error, told.text)
    assert told.usage.total_tokens


@pytest.mark.parametrize("stream", [True, False])
def test_forms_of_fixtures(ask, stream):
    """
    A message of the wire and events of the library, as a stream and as one document.
    """
    short, events = (ask(text, stream=stream).transcript.last_answer for text in ("short", "events"))

    assert ("It", "length") == (short.text, short.finish_reason)
    assert ("Hi", "stop") == (events.text, events.finish_reason)


def test_faults_of_the_mock(ask):
    """
    An answer that is cut is interrupted, an error line is the error; without a mark of its end the wire misses none.
    """
    cut = ask("ends").transcript.last_answer
    failed = ask("fails").transcript.last_answer
    whole = ask("no mark").transcript.last_answer

    assert ("It is cut here and t", "interrupted") == (cut.text, cut.error.kind)
    assert ("provider", "no") == (failed.error.kind, failed.error.message)
    assert ("It is dry.", None) == (whole.text, whole.error)


def test_a_recording(provider, tmp_path):
    """
    What the proxy has recorded of a server answers as that did.
    """
    path, transport = tmp_path / "recorded.json", StreamingTransport(provider.app)
    proxy = RecordingProxy(load_mock("ollama-chat").recorded, "http://ollama.test", path, transport=transport)
    request = {"model": "qwen3", "messages": [{"role": "user", "content": "What is the weather?"}], "tools": TOOLS}

    async def lines(app):
        async with httpx2.AsyncClient(transport=StreamingTransport(app), base_url="http://x") as client:
            return (await client.post("/api/chat", json=request)).content

    first = asyncio.run(lines(proxy))
    again = asyncio.run(lines(load_mock("ollama-chat").provider(path).app))
    dialect = load_dialect("ollama-chat")

    assert first.count(b"\n") == 3
    assert fold(dialect.decoder("a").feed(first)) == fold(dialect.decoder("a").feed(again))
