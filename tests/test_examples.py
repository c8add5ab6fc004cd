"""
The apps in `examples/`, as processes of their own, against a mock provider on a port.

Where something has to happen at a certain moment, the provider falls silent there until the test continues.
"""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from assistant_events import find_problems, fold
from assistant_events.converters import structure
from assistant_events.events import Event
from assistant_events.stores import SqliteStore
from assistant_events.testing import mock_provider
from tests.children import Child

EXAMPLES = Path(__file__).parent.parent / "examples"
WORDS = "one two three four five six seven eight nine ten"
# created, status, start, "one ", "two ", "thre", then silence.
STALLED = {"text": WORDS, "timing": {"delta_chars": 4}, "faults": ["stall@6"]}

PAUSED = {"Tell.": [{"text": "Once upon", "continuation_token": "t1"}, {"text": " a time."}]}


@pytest.fixture
def provider():
    """A provider that falls silent in the middle of its first stream; its replays are whole."""
    with mock_provider({"Count.": STALLED, "On.": "eleven"}) as running:
        yield running


@pytest.fixture
def environment(provider, tmp_path):
    """What the apps receive."""
    told = {"GEMINI_BASE_URL": provider.url, "GEMINI_API_KEY": "k", "CHAT_DB": str(tmp_path / "chat.db")}
    return {**os.environ, **told}


def texts(database, session):
    with SqliteStore(database) as store:
        assert [] == find_problems(store.read(session))
        return [message.text for message in fold(store.read(session))]


class TestRestart:
    def app(self, environment, *arguments):
        command = [sys.executable, "-W", "error", str(EXAMPLES / "restart.py"), environment["CHAT_DB"], *arguments]
        return Child(command, env=environment)

    def killed(self, environment):
        """Ask and kill the app in mid-sentence."""
        with self.app(environment, "Count.") as child:
            child.until(b"two").ended(signal.SIGKILL)

    def run(self, environment):
        """Return exit code, output and errors of the app when it is started again."""
        with self.app(environment) as child:
            return child.ended()

    def test_takes_up_what_a_kill_left_open(self, environment):
        """
        After a SIGKILL in mid-sentence the next start gets the whole answer, and the one after that has nothing to do.
        """
        self.killed(environment)
        taken_up = self.run(environment)
        again = self.run(environment)

        assert (0, f"{WORDS}\n[finished]\n", "") == taken_up
        assert (0, "", "") == again
        assert ["Count.", WORDS] == texts(environment["CHAT_DB"], "s1")

    def test_settles_what_is_gone(self, environment, provider):
        """
        A run that the provider does not have any more is closed; nothing is left open.
        """
        self.killed(environment)
        provider.reset()

        assert (0, "\n[lost]\n", "") == self.run(environment)
        with SqliteStore(environment["CHAT_DB"]) as store:
            assert {} == store.unfinished()
            assert "not-found" == fold(store.read("s1")).last.error.kind

    def test_answers_a_prompt_that_has_no_answer(self, environment, provider):
        """
        After a SIGKILL before the first byte of the answer it is the model's move, and the next start asks it.
        """
        provider.add({"Now.": [{"text": "lost", "faults": ["stall@0"]}, {"text": "eleven"}]})
        with self.app(environment, "Now.") as child:
            asked(provider)
            child.ended(signal.SIGKILL)
        with SqliteStore(environment["CHAT_DB"]) as store:
            assert ("model", 1) == (fold(store.read("s1")).awaits, store.seq("s1"))

        assert (0, "eleven\n[finished]\n", "") == self.run(environment)
        assert ["Now.", "eleven"] == texts(environment["CHAT_DB"], "s1")

    def test_goes_on_with_an_answer_that_was_paused(self, environment, provider):
        """
        `requires_continuation` is not the end of an answer: the app asks until it has all of it.
        """
        provider.add(PAUSED)
        with self.app(environment, "Tell.") as child:
            assert (0, "Once upon\n[finished]\n a time.\n[finished]\n", "") == child.ended()
        assert ["Tell.", "Once upon", " a time."] == texts(environment["CHAT_DB"], "s1")


def asked(provider):
    """Wait until a run was asked for."""
    until = time.monotonic() + 60
    while not any(logged.method == "POST" for logged in provider.requests):
        assert time.monotonic() < until
        time.sleep(0.01)


class Frames:
    """The server-sent events of an answer, as `EventSource.onmessage` gets them: those without an `event:` line."""

    def __init__(self, response):
        self._lines = response.iter_lines()

    def until(self, type_):
        """Return ids and events up to the first of a type."""
        found = []
        seq = None
        for line in self._lines:
            name, _, value = line.partition(": ")
            assert name != "event"
            if name == "id":
                seq = int(value)
            elif name == "data":
                found.append((seq, structure(json.loads(value), Event)))
                seq = None
                if found[-1][1].type == type_:
                    return found
        raise AssertionError(f"the stream ended before {type_}: {found}")


class TestFastApi:
    @pytest.fixture
    def serve(self, environment):
        """Starts the app with uvicorn on a port of its own, and gives a client and the process."""
        command = [sys.executable, "-m", "uvicorn", "--app-dir", EXAMPLES, "--port", "0"]
        command += ["--timeout-graceful-shutdown", "1", "fastapi_app:app"]
        with ExitStack() as started:

            def serve():
                child = started.enter_context(Child(command, env=environment, stdout=subprocess.DEVNULL))
                line = next(line for line in child.stderr if b"running on" in line)
                address = line.split(b"running on ")[1].split()[0].decode()
                return started.enter_context(httpx2.Client(base_url=address, timeout=30)), child

            yield serve

    def test_a_browser_that_leaves_cancels_nothing(self, serve, provider, environment):
        """
        One browser leaves in mid-sentence; another that comes late gets the start of the sentence and the rest.
        """
        client, _ = serve()
        assert 202 == client.post("/chats/s1", json={"prompt": "Count."}).status_code
        assert 409 == client.post("/chats/s1", json={"prompt": "On."}).status_code
        with client.stream("GET", "/chats/s1/events") as early:
            first = Frames(early).until("text.delta")
        with client.stream("GET", "/chats/s1/events") as late:
            frames = Frames(late)
            second = frames.until("text.delta")
            # The one who watches comes back to where it was.
            with client.stream("GET", "/chats/s1/events", headers={"last-event-id": "2"}) as returned:
                third = Frames(returned).until("text.delta")

        assert [1, 2, 3, None] == [seq for seq, _ in first] == [seq for seq, _ in second]
        assert ["prompt.submitted", "step.started", "text.started", "text.delta"] == [one.type for _, one in first]
        assert [(3, "text.started"), (None, "text.delta")] == [(seq, one.type) for seq, one in third]
        assert 1 == len([logged for logged in provider.requests if logged.method == "POST"])

    def test_everything_comes_to_the_end(self, serve, provider, environment):
        """
        What one browser gets, stored and live, folds to the conversation in the log, without state.
        """
        provider.add({"Count.": {"text": WORDS, "timing": {"delta_chars": 4}}})
        client, _ = serve()
        client.post("/chats/s1", json={"prompt": "Count."})
        with client.stream("GET", "/chats/s1/events") as response:
            frames = Frames(response)
            got = frames.until("step.ended")
            again = client.post("/chats/s1", json={"prompt": "On."})
            got += frames.until("step.ended")

        assert 202 == again.status_code
        assert ["Count.", WORDS, "On.", "eleven"] == [message.text for message in fold([one for _, one in got])]
        assert list(range(1, 11)) == [seq for seq, _ in got if seq is not None]
        assert not any(getattr(one, "state", None) or getattr(one, "run", None) for _, one in got)

    def test_an_answer_that_was_paused_goes_on(self, serve, provider, environment):
        """
        A browser gets both steps of an answer that the provider has paused, and only then the next prompt is taken.
        """
        provider.add(PAUSED)
        client, _ = serve()
        client.post("/chats/s1", json={"prompt": "Tell."})
        with client.stream("GET", "/chats/s1/events") as response:
            frames = Frames(response)
            got = frames.until("step.ended")
            got += frames.until("step.ended")
            assert 202 == client.post("/chats/s1", json={"prompt": "On."}).status_code
            got += frames.until("step.ended")

        told = ["Tell.", "Once upon", " a time.", "On.", "eleven"]
        assert told == [message.text for message in fold([one for _, one in got])]
        assert told == texts(environment["CHAT_DB"], "s1")

    def test_a_shutdown_is_taken_up_by_the_next_start(self, serve, environment):
        """
        The shutdown of the app closes the answer as one that can be resumed, and the next start resumes it.
        """
        client, child = serve()
        client.post("/chats/s1", json={"prompt": "Count."})
        with client.stream("GET", "/chats/s1/events") as response:
            Frames(response).until("text.delta")
        child.send_signal(signal.SIGTERM)
        child.stderr.read()
        child.wait(30)
        with SqliteStore(environment["CHAT_DB"]) as store:
            left = fold(store.read("s1")).last_answer
        client, _ = serve()
        with client.stream("GET", "/chats/s1/events") as response:
            Frames(response).until("step.ended")

        assert ("failed", "aborted", True) == (left.status, left.error.kind, left.run.resumable)
        assert ["Count.", WORDS] == texts(environment["CHAT_DB"], "s1")

    def test_a_prompt_without_an_answer_is_answered_by_the_next_start(self, serve, provider, environment):
        """
        A process that was killed before the first byte, without a run in the log, leaves no reader waiting.
        """
        provider.add({"Now.": [{"text": "lost", "faults": ["stall@0"]}, {"text": "eleven"}]})
        client, child = serve()
        client.post("/chats/s1", json={"prompt": "Now."})
        asked(provider)
        child.kill()
        child.wait(30)
        client, _ = serve()
        with client.stream("GET", "/chats/s1/events") as response:
            Frames(response).until("step.ended")

        assert ["Now.", "eleven"] == texts(environment["CHAT_DB"], "s1")
