"""
The example of an adapter in a package of its own: Ollama's native chat.
"""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from assistant_events import FinishReason, JsonObject, Origin, Transcript, UserMessage, fold
from assistant_events.adapters import detect_dialect, load_dialect
from assistant_events.errors import LocalProtocolError
from assistant_events.recorder import Recorder
from assistant_events.testing import Call, answer
from assistant_events.testing.adapters import check_adapter
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
    sys.modules.pop("assistant_events_ollama", None)


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
    An adapter both ways takes under 250 lines, its package and all.
    """
    files = [each for each in EXAMPLE.iterdir() if each.suffix in (".py", ".toml")]

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
