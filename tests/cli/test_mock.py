"""`mock`: a provider on a port, what it prints, and how it ends."""

import json
import re
import signal
import socket
import sys
import threading

import httpx2
import pytest
from starlette.responses import PlainTextResponse

from assistant_events import extras
from assistant_events.adapters.gemini_interactions.mock import load_fixtures
from assistant_events.adapters.gemini_interactions.mock.demo import DEMO
from assistant_events.cli import main, mock
from assistant_events.mock.threaded_server import ThreadedServer
from assistant_events.testing import mock_provider
from tests.children import SECONDS, Child

KEY = {"x-goog-api-key": "AIzaSecretKey"}
FIXTURES = {"version": 1, "fixtures": [{"match": {"user_text": "Hello"}, "answer": {"text": "Hi there"}}]}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "fixtures.json"
    path.write_text(json.dumps(FIXTURES))
    return path


class Running:
    """The command in a thread, until `stop`, which is what Ctrl-C is to it."""

    def __init__(self, monkeypatch, capsys, arguments):
        self._pressed = threading.Event()
        self._capsys = capsys
        self.code = None

        class Pressed:
            """Waits until Ctrl-C is pressed."""

            wait = staticmethod(self._wait)

        monkeypatch.setattr(mock, "Event", Pressed)
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(arguments,))
        self._thread.start()
        self._begun.wait()
        self.out, self.err = capsys.readouterr()

    def _run(self, arguments):
        self.code = main(["mock", *map(str, arguments)])
        self._begun.set()

    def _wait(self):
        self._begun.set()
        self._pressed.wait()
        raise KeyboardInterrupt

    @property
    def url(self):
        return self.out.partition(" ")[0]

    def stop(self):
        self._pressed.set()
        self._thread.join()
        captured = self._capsys.readouterr()
        return captured.out, captured.err


@pytest.fixture
def start(monkeypatch, capsys):
    """Runs the command until the test ends."""
    running = []

    def start(*arguments):
        running.append(Running(monkeypatch, capsys, ["--port", "0", *arguments]))
        return running[-1]

    yield start
    for one in running:
        one.stop()


def ask(url, text="Hello", path="/v1beta/interactions?key=AIzaOther", **more):
    with httpx2.Client() as client:
        return client.post(f"{url}{path}", json={"model": "m", "input": text, **more}, headers=KEY)


def test_answers(start, file):
    """
    The first line is the address and how it is used; then comes a line for each request, without keys and texts.
    """
    running = start("--fixtures", file)
    answer = ask(running.url)
    refused = ask(running.url, "Helo")
    run = ask(running.url, background=True, stream=True).headers
    out, err = running.stop()

    assert re.fullmatch(
        r"http://127\.0\.0\.1:\d+  1 fixture; base URL for clients, any API key will do; stop with Ctrl-C\n",
        running.out,
    )
    assert "Hi there" == answer.json()["steps"][-1]["content"][0]["text"]
    assert 400 == refused.status_code
    assert run["content-type"].startswith("text/event-stream")
    first, second, third = out.splitlines()
    assert "POST /v1beta/interactions 200" == first == third
    assert second.startswith("POST /v1beta/interactions 400 no fixture matches: newest user text 'Helo'")
    assert "AIza" not in out
    assert (130, "assistant-events: stopped\n") == (running.code, err)


def test_a_cursor_is_shown(start, file):
    """
    The line of a request shows whether it is a replay, and from where.
    """
    running = start("--fixtures", file)
    with httpx2.Client() as client:
        client.get(f"{running.url}/v1/interactions/x?stream=true&key=AIzaOther&last_event_id=e1", headers=KEY)
    out, _ = running.stop()

    assert out.startswith("GET /v1/interactions/x?stream=true&last_event_id=e1 404 ")
    assert "AIza" not in out


def test_a_path_with_escapes(start, file):
    """
    A line of a request is one line, and moves no cursor.
    """
    running = start("--fixtures", file)
    with httpx2.Client() as client:
        client.get(f"{running.url}/v1/interactions/a%0Ab%1B[2J", headers=KEY)
    out, _ = running.stop()

    assert out.startswith("GET /v1/interactions/a\\nb\\x1b[2J 404 ")


def test_an_error_without_a_reason(start, file):
    """
    An answer without a body is a line, too.
    """
    running = start("--fixtures", file)
    with httpx2.Client() as client:
        client.head(f"{running.url}/v1/nothing", headers=KEY)
    out, _ = running.stop()

    assert out.startswith("HEAD /v1/nothing 404")


def test_defaults(run, monkeypatch):
    """
    Only this machine is served, in real time, on the port of the help, and requests are checked as the service does.
    """
    served = []
    monkeypatch.setattr(mock, "serve", lambda fixtures, **options: served.append(options))
    run("mock")

    expected = {"host": "127.0.0.1", "port": 4010, "dialect": "gemini-interactions", "time_scale": 1.0, "strict": True}
    assert [expected] == [{name: options[name] for name in expected} for options in served]


def test_options(start, file):
    """
    Generation, faults, scale and leniency reach the provider; fixtures may be given more than once.
    """
    running = start(
        "--fixtures", file, "--fixtures", file, "--generation", "1", "--fault", "no-done", "--fault=slow-first-byte",
        "--time-scale", "0.001", "--lenient",
    )  # fmt: skip
    with httpx2.Client() as client:
        body = {"model": "m", "input": [{"role": "user", "content": "Hello"}], "stream": True}
        response = client.post(f"{running.url}/v1/interactions", json=body)

    assert "  2 fixtures; " in running.out
    assert response.text.startswith("event: interaction.start\n")
    assert "[DONE]" not in response.text


@pytest.mark.parametrize(("which", "expected"), [("all", 6), ("some", 3), ("none", 0), ("background", 0)])
def test_event_ids(start, file, which, expected):
    """
    Which events have a cursor is an option; without it those of background runs have one.
    """
    running = start("--fixtures", file, "--event-ids", which)

    assert expected == ask(running.url, stream=True).text.count('"event_id"')


def test_a_reset_reaches_the_connection(start, file):
    """
    A fault that resets the connection still does, although each request is printed.
    """
    running = start("--fixtures", file, "--fault", "drop@2")

    with pytest.raises(httpx2.ReadError):
        ask(running.url, stream=True)


def test_built_in(start):
    """
    Without fixtures there are some: a greeting, a tool, a researcher, and an answer to everything.
    """
    running = start()
    tools = [{"type": "function", "name": "get_weather", "parameters": {"type": "object"}}]
    hello = ask(running.url, "Oh, hello!").json()
    call = ask(running.url, "What about the weather?", tools=tools).json()
    result = {"type": "function_result", "call_id": "call_weather", "name": "get_weather", "result": "rain"}
    known = ask(running.url, [result], previous_interaction_id=call["id"], tools=tools).json()
    other = ask(running.url, "weather").json()

    assert "Hello from the mock provider." == hello["steps"][-1]["content"][0]["text"]
    assert "requires_action" == call["status"]
    assert known["steps"][0]["content"][0]["text"].startswith("I have looked it up")
    assert other["steps"][0]["content"][0]["text"].startswith("I am a mock provider")


def test_built_in_research():
    """
    The researcher searches, and reports it when it is asked again.
    """
    with mock_provider(DEMO, time_scale=0.001) as provider:
        body = {
            "agent": "deep-research-preview-04-2026",
            "input": [{"type": "user_input", "content": [{"type": "text", "text": "Find out."}]}],
            "background": True,
        }
        with httpx2.Client(headers=KEY) as client:
            run = client.post(f"{provider.url}/v1beta/interactions", json=body).json()
            polls = [client.get(f"{provider.url}/v1beta/interactions/{run['id']}").json() for _ in range(3)]

    assert ["in_progress", "in_progress"] == [poll["status"] for poll in polls[:2]]
    assert 5 == len(load_fixtures(DEMO))


def test_recording(start, tmp_path):
    """
    With --record requests go to another endpoint, and its answers into the file.
    """
    path = tmp_path / "recorded.json"
    with mock_provider({"Hello": "Hi there"}) as provider:
        url = provider.url
        running = start("--record", url, "--fixtures", path)
        answer = ask(running.url)
        out, err = running.stop()

    assert f"  recording {url} to {path}; " in running.out
    assert "Hi there" == answer.json()["steps"][-1]["content"][0]["text"]
    assert "POST /v1beta/interactions 200\n" == out
    assert "assistant-events: recorded: user_text='Hello', model='m', turn=1, previous_interaction_id=''" in err
    assert "AIza" not in path.read_text() + out + err
    assert 1 == len(load_fixtures(path))


ODD_ERRORS = {"no JSON": "<html>", "a list": "[]", "no object": '{"error": 5}'}


@pytest.mark.parametrize("text", ODD_ERRORS.values(), ids=ODD_ERRORS.keys())
def test_an_odd_error(start, tmp_path, text):
    """
    An error whose body is unreadable is a line without a reason.
    """
    with ThreadedServer(PlainTextResponse(text, 500)) as upstream:
        running = start("--record", upstream.url, "--fixtures", tmp_path / "a.json")
        ask(running.url)
        out, _ = running.stop()

    assert "POST /v1beta/interactions 500\n" == out


def test_a_recorder_that_is_terminated_writes_what_it_has_passed_on(tmp_path):
    """
    SIGTERM behind the last byte of an answer loses none of the recording.
    """
    path = tmp_path / "recorded.json"
    with mock_provider({"Hello": "Hi there"}) as upstream, httpx2.Client() as client:
        command = [sys.executable, "-m", "assistant_events.cli", "mock", "--port", "0"]
        with Child([*command, "--record", upstream.url, "--fixtures", str(path)]) as child:
            url = child.stdout.readline().decode().partition(" ")[0]
            asked = {"model": "m", "input": "Hello", "stream": True}
            client.post(f"{url}/v1/interactions", json=asked, headers=KEY)
            code, _, _ = child.ended(signal.SIGTERM)

    assert 143 == code
    assert 1 == len(load_fixtures(path))


def test_recording_prints_no_key(start, tmp_path):
    """
    A key that an endpoint repeats is in no line, wherever it occurs: error text, run id, path.
    """
    key = "AIzaRepeatedKey"
    said = json.dumps({"error": {"code": 400, "message": f"bad key {key}"}})

    with ThreadedServer(PlainTextResponse(said, 400, headers={"x-key": key})) as upstream:
        running = start("--record", upstream.url, "--fixtures", tmp_path / "a.json")
        with httpx2.Client(headers={"x-goog-api-key": key}) as client:
            client.post(f"{running.url}/v1/interactions?key={key}", json={"model": key, "input": f"My key is {key}"})
            client.get(f"{running.url}/v1/interactions/{key}?stream=true&last_event_id={key}")
        out, err = running.stop()

    assert [
        "POST /v1/interactions 400 bad key [hidden]",
        "GET /v1/interactions/[hidden]?stream=true&last_event_id=[hidden] 400 bad key [hidden]",
    ] == out.splitlines()
    assert "recorded: user_text='My key is [hidden]', model='[hidden]'" in err
    assert key not in out + err + (tmp_path / "a.json").read_text()


def test_nobody_reads_the_output(file):
    """
    A command whose output is not read continues to answer: 64 kB fill a pipe, and each line here has 4.
    """
    command = [sys.executable, "-m", "assistant_events.cli", "mock", "--port", "0", "--fixtures", file]
    with Child(command) as child:
        url = child.stdout.readline().decode().partition(" ")[0]
        with httpx2.Client(headers=KEY, timeout=30) as client:
            answers = [client.get(f"{url}/v1/interactions/{'x' * 4000}").status_code for _ in range(60)]
        # Nor does standard error hold it up, where a malformed request is reported.
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=30) as connection:
                connection.sendall(b"nonsense\r\n\r\n")
                assert connection.recv(100).startswith(b"HTTP/1.1 400 ")
        child.send_signal(signal.SIGINT)
        code = child.wait(SECONDS)

    assert [404] * 60 == answers
    assert 130 == code


BAD = {
    "no file": (["--fixtures", "nowhere.json"], "nowhere.json: No such file or directory"),
    "a fault": (["--fault", "drop@soon"], "fault 'drop@soon': expected a number of events"),
    "no fault": (["--fault", "drip"], "unknown fault 'drip'"),
    "a scale": (["--time-scale", "0"], "time_scale: expected real seconds"),
    "a generation": (["--generation", "3"], 'invalid value "3" for --generation'),
    "cursors": (["--event-ids", "many"], 'invalid value "many" for --event-ids'),
    "a dialect": (["--dialect", "klingon"], "no mock of dialect 'klingon'; installed mocks: anthropic-messages"),
    "an option of another dialect": (
        ["--dialect", "anthropic-messages", "--generation", "1"],
        "the mock of anthropic-messages has no option --generation",
    ),
    "a port": (["--port", "99999"], "cannot listen on 127.0.0.1, port 99999"),
    "a host": (["--host", "256.0.0.1", "--port", "0"], "cannot listen on 256.0.0.1, port 0"),
    "a host of a recorder": (
        ["--record", "https://x.test", "--fixtures", "a.json", "--host", "256.0.0.1", "--port", "0"],
        "cannot listen on 256.0.0.1, port 0",
    ),
    "a dialect of a recorder": (
        ["--record", "https://x.test", "--fixtures", "a.json", "--dialect", "klingon"],
        "no mock of dialect 'klingon'",
    ),
    "nowhere to record": (["--record", "https://x.test"], "--record needs one --fixtures FILE to write to"),
    "no endpoint": (
        ["--record", "x.test", "--fixtures", "a.json"],
        "upstream: expected an http or https URL without user",
    ),
    "an argument": (["fixtures.json"], "1 argument too many: 'fixtures.json'; see assistant-events mock --help"),
    "an option": (["--fixture", "a.json"], "unknown option --fixture, did you mean --fixtures?"),
}


@pytest.mark.parametrize(("arguments", "expected"), BAD.values(), ids=BAD.keys())
def test_bad_options(run, arguments, expected):
    """
    What cannot be used is one line, with the code for that.
    """
    ran = run("mock", *arguments)

    assert 2 == ran.code
    assert 1 == ran.err.count("\n")
    assert ran.err.startswith(f"assistant-events: {expected}")


def test_bad_fixtures(run, tmp_path):
    """
    Every fault of the fixtures is reported, a line each.
    """
    path = tmp_path / "bad.json"
    path.write_text('{"version": 1, "fixtures": [{"match": {}, "answer": {"txt": "Hi", "text": 5}}]}')
    ran = run("mock", "--fixtures", path)
    recorded = run("mock", "--record", "https://x.test", "--fixtures", path)

    assert 2 == ran.code == recorded.code
    assert ran.err == recorded.err
    assert [
        f"assistant-events: {path}: fixtures[0]: answer.text: expected a string, got the number 5",
        f"assistant-events: {path}: fixtures[0]: answer.txt: unknown key; did you mean 'text'?",
    ] == ran.err.splitlines()


def test_left_out(start, tmp_path):
    """
    Fixtures for another endpoint are reported, and do not hinder the rest.
    """
    path = tmp_path / "aimock.json"
    path.write_text('{"fixtures": [{"match": {"endpoint": "embedding"}, "response": {"embedding": [1]}}]}')
    running = start("--fixtures", path)

    assert "  0 fixtures; " in running.out
    assert running.err.startswith("assistant-events: left out: ")
    _, err = running.stop()
    assert err.endswith("stopped\n")


def test_a_port_that_is_taken(run):
    """
    A port in use is one line with the remedy.
    """
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = run("mock", "--port", taken.getsockname()[1])

    assert 2 == ran.code
    assert ran.err.endswith("Address already in use; --port 0 takes any that is free\n")


def test_list_faults(run):
    """
    The faults are listed with what they do.
    """
    ran = run("mock", "--list-faults")

    assert 0 == ran.code
    assert "ten-minute-cut@600s  " in ran.out
    assert ran.out.startswith("fault  ")


@pytest.mark.parametrize(
    ("arguments", "missing", "said"),
    [
        (["--list-faults"], {"starlette", "uvicorn"}, "starlette and uvicorn: pip install '.[web]'"),
        ([], {"uvicorn"}, "uvicorn: pip install '.[web]'"),
        (
            ["--record", "https://x.test"],
            {"uvicorn", "httpx2"},
            "uvicorn and httpx2: pip install '.[http,web]'",
        ),
    ],
)
def test_missing_extra(run, monkeypatch, arguments, missing, said):
    """
    Without the extra, one line names what to install.
    """
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name in missing else object())
    ran = run("mock", *arguments)

    assert (2, f"assistant-events: this command needs {said} in a clone of assistant-events\n") == (ran.code, ran.err)


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it(file, sent, code):
    """
    Ctrl-C and SIGTERM end the process with their code, also while a stream is open.
    """
    command = [sys.executable, "-m", "assistant_events.cli", "mock", "--port", "0", "--fixtures", file]
    asked = {"model": "m", "input": "Hello", "stream": True}
    with Child([*command, "--fault", "stall@2"]) as child, httpx2.Client() as client:
        url = child.stdout.readline().decode().partition(" ")[0]
        with client.stream("POST", f"{url}/v1/interactions", json=asked, headers=KEY) as response:
            next(response.iter_raw())
            ended, out, err = child.ended(sent)

    assert (code, "assistant-events: stopped\n") == (ended, err)
    assert "POST /v1/interactions 200\n" == out
