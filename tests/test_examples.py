"""
The apps in `examples/`, as processes of their own, against a mock provider on a port.

Where something has to happen at a certain moment, the provider falls silent there until the test continues.
"""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from assistant_events import find_problems, fold
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


class TestPydanticAi:
    @pytest.fixture
    def installed(self):
        """The folder of the newest pydantic-ai that is installed for tests."""
        found = sorted((EXAMPLES.parent / ".venv" / "clients").glob("pydantic-ai-slim-*/pins.txt"))
        if not found:
            pytest.skip("pydantic-ai is not installed; `make clients` does it")
        return found[-1].parent

    def test_a_move_with_its_models_and_tools(self, installed):
        """
        A model of pydantic-ai calls a tool of pydantic-ai, and answers with its result.
        """
        command = [sys.executable, "-W", "error", str(EXAMPLES / "pydantic_ai_move.py")]
        with Child(command, env={**os.environ, "PYTHONPATH": str(installed)}) as child:
            code, output, errors = child.ended()

        assert (0, "") == (code, errors)
        assert ["What is 2 + 3?", "[('add', (JsonContent(value=5),))]", "It is 5."] == output.splitlines()
