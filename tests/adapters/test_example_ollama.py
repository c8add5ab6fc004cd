"""
The example of an adapter in a package of its own: Ollama's native chat.
"""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from assistant_events import FinishReason, JsonObject, fold
from assistant_events.adapters import detect_dialect, load_dialect
from assistant_events.testing.adapters import check_adapter
from assistant_events.values import ErrorInfo, Usage

EXAMPLE = Path(__file__).parents[2] / "examples" / "ollama"


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory):
    """
    The example, installed as anybody would, but beside everything else and without a network.
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
    An adapter takes under 120 lines, its package and all.
    """
    files = [each for each in EXAMPLE.iterdir() if each.suffix in (".py", ".toml")]

    assert sum(len(each.read_text(encoding="utf-8").splitlines()) for each in files) < 120


def test_it_holds_what_every_adapter_must(dialect):
    """
    Cutting, closing, rejoining and garbage are the base's business.
    """
    check_adapter(dialect, {name: body(lines) for name, lines in SAMPLES.items()}, mutations=100)


def test_it_is_found_by_its_first_line(dialect):
    """
    The first line, or a whole document, tells whose it is.
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
    assert "the server reported an error" == dialect.http_error(500, {}, b"<html>").message
