"""
The command `run`, against a mock provider on a port and against the one inside of the command. Where a signal has to
come at a certain moment, the provider is silent until the test continues.
"""

import signal
import sqlite3
import sys
from contextlib import closing
from itertools import pairwise

import attrs
import httpx2
import pytest
from stamina.instrumentation import get_on_retry_hooks

from assistant_events import Origin, extras, fold
from assistant_events.adapters.gemini_interactions.mock import Match
from assistant_events.cli import embedded_mock, endpoints, run_conversation
from assistant_events.cli.answer_printer import AnswerPrinter
from assistant_events.clients import ProviderClient
from assistant_events.mock import load_mock
from assistant_events.stores import SqliteStore
from assistant_events.testing import answer, durable, mock_provider, prompt
from assistant_events.testing import run as run_of
from tests.children import Child

WORDS = "one two three four five six seven eight nine ten"
COUNT = {
    "steps": [
        {"type": "thought", "summary": [{"type": "text", "text": "I "}, {"type": "text", "text": "see."}]},
        {"type": "model_output", "content": [{"type": "text", "text": WORDS}]},
    ],
    "timing": {"delta_chars": 4},
}
WITHOUT_SERVER = (
    "run without an API key needs httpx2 and uvicorn: pip install '.[http,web]' in a clone of assistant-events, "
    "or set GEMINI_API_KEY"
)
NO_BASE = "--base-url: expected an http or https URL without user, password, query and fragment"
EMPTY_NAME = "the name of the session is empty; assistant-events sessions lists the names"
GEMINI = Origin(provider="google", model="gemini-9", dialect="gemini-interactions")
STALLED = {**COUNT, "faults": ["stall@12"]}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, and no key of the machine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    return tmp_path


@pytest.fixture
def provider():
    """Makes a mock provider on a port and gives the options that lead there."""
    opened = []

    def make(fixtures, **options):
        running = mock_provider(fixtures, **options)
        opened.append(running.__enter__())
        return running

    yield make
    for running in opened:
        running.__exit__(None, None, None)


def child(*arguments):
    """Return the command as a process, which is read while it works."""
    return Child([sys.executable, "-m", "assistant_events.cli", "run", *arguments])


def stopped(*arguments, after=b"one two", sent=signal.SIGINT):
    """Run the command until it has printed *after*, send a signal, and return exit code, output and errors."""
    with child(*arguments) as running:
        return running.until(after).ended(sent)


def fold_of(session, db="assistant-events.db"):
    with SqliteStore(db) as store:
        return fold(store.read(session))


def pruned(session, db="assistant-events.db"):
    """Store a snapshot, and prune the records before it."""
    with SqliteStore(db) as store:
        transcript = fold(store.read(session))
        store.snapshot(session, transcript)
        store.prune(session, transcript.seq)


def texts(db, session):
    return [message.text for message in fold_of(session, db)]


class TestAsking:
    def test_the_text_is_on_standard_output(self, run, provider):
        """
        Standard output has the text and nothing else; reasoning is written to standard error.
        """
        ran = run("run", "Count.", "--base-url", provider({"Count.": COUNT}).url)

        assert (0, f"{WORDS}\n") == (ran.code, ran.out)
        assert "assistant-events: the conversation is kept in assistant-events.db\nI see.\n" == ran.err

    def test_a_store_that_is_slower_than_the_looks_at_the_run(self, run, provider, monkeypatch):
        """
        Nothing is looked at before the stream is entered.
        """
        monkeypatch.setattr(run_conversation, "_POLL_S", 0.0)
        ran = run("run", "Count.", "--base-url", provider({"Count.": COUNT}).url)

        assert (0, f"{WORDS}\n") == (ran.code, ran.out)

    def test_is_stored(self, run, provider):
        """
        The conversation is in the session `main` of a file in the current folder, without a key.
        """
        run("run", "Count.", "--base-url", provider({"Count.": COUNT}).url)

        assert ["Count.", WORDS] == texts("assistant-events.db", "main")

    def test_a_second_prompt_goes_on(self, run, provider):
        """
        The same session continues its conversation, with its model and system instruction.
        """
        running = provider({"Count.": COUNT, "On.": "eleven"})
        where = ("--base-url", running.url, "--db", "a.db", "--session", "s1")
        run("run", "Count.", *where, "--model", "gemini-9", "--system", "Be brief.")
        ran = run("run", "On.", *where)
        first, second = [logged.body for logged in running.requests]

        assert (0, "eleven\n", "") == (ran.code, ran.out, ran.err)
        assert ("gemini-9", "Be brief.") == (second["model"], second["system_instruction"])
        assert "previous_interaction_id" in second
        assert "previous_interaction_id" not in first

    @pytest.mark.parametrize(("prompts", "system"), [(1, None), (2, "Be brief.")])
    def test_a_pruned_session_goes_on(self, run, provider, prompts, system):
        """
        A session whose first records are pruned continues from its snapshot: with the settings of the newest prompt,
        or, when that is pruned too, with the model of the last answer.
        """
        running = provider({"Count.": COUNT, "Once more.": COUNT, "On.": "eleven"})
        where = ("--base-url", running.url)
        run("run", "Count.", *where, "--model", "gemini-9", "--system", "Be brief.")
        pruned("main")
        if prompts == 2:
            run("run", "Once more.", *where, "--system", "Be brief.")
        ran = run("run", "On.", *where)

        last = running.requests[-1].body
        assert (0, "eleven\n", "") == (ran.code, ran.out, ran.err)
        assert ("gemini-9", system) == (last["model"], last.get("system_instruction"))

    def test_another_model(self, run, provider):
        """
        A model that is named takes the place of the one before.
        """
        running = provider({"Count.": COUNT, "On.": "eleven"})
        run("run", "Count.", "--base-url", running.url, "--agent", "deep-research-x")
        run("run", "On.", "--base-url", running.url, "--model", "gemini-9")
        first, second = [logged.body for logged in running.requests]

        assert {"agent": "deep-research-x", "background": True, "store": True} == {
            name: first[name] for name in ("agent", "background", "store")
        }
        assert {"type": "deep-research", "thinking_summaries": "auto"} == first["agent_config"]
        assert ("gemini-9", None) == (second["model"], second.get("agent"))

    def test_instructions_of_deep_research(self, run, provider):
        """
        The service refuses them: those of the model before are left out, and others are not sent.
        """
        running = provider({"Count.": COUNT, "On.": "eleven"})
        run("run", "Count.", "--base-url", running.url, "--system", "Be brief.")
        ran = run("run", "On.", "--base-url", running.url, "--agent", "deep-research-x")
        refused = run("run", "On.", "--base-url", running.url, "--agent", "deep-research-x", "--system", "Be kind.")
        first, second = [logged.body for logged in running.requests]

        assert (0, "eleven\n", "") == (ran.code, ran.out, ran.err)
        assert ("Be brief.", None) == (first["system_instruction"], second.get("system_instruction"))
        message = "deep-research-x takes no system instruction, put it into the prompt"
        assert (2, f"assistant-events: {message}\n") == (refused.code, refused.err)

    def test_what_is_forgotten_is_said_again(self, run, provider):
        """
        A provider that cannot go on from the answer before is sent the whole conversation, once.
        """
        running = provider({"Count.": COUNT, "On.": "eleven"}, faults=["no-chaining"])
        run("run", "Count.", "--base-url", running.url)
        ran = run("run", "On.", "--base-url", running.url)
        bodies = [logged.body for logged in running.requests]

        assert (0, "eleven\n") == (ran.code, ran.out)
        assert [False, True, False] == ["previous_interaction_id" in body for body in bodies]

    def test_a_prompt_from_standard_input(self, run, provider):
        """
        `-` reads the prompt from standard input.
        """
        ran = run("run", "-", "--base-url", provider({"Count.": COUNT}).url, stdin=b"Count.\n")

        assert f"{WORDS}\n" == ran.out

    def test_calls_are_shown_and_not_run(self, run, provider):
        """
        A call and a note that it waits are shown, and the next prompt continues the conversation.
        """
        running = provider({"Sum.": {"calls": [{"name": "add", "arguments": {"x": 1}}]}, "So?": "I do not know."})
        ran = run("run", "Sum.", "--base-url", running.url)
        on = run("run", "So?", "--base-url", running.url)

        assert (0, "") == (ran.code, ran.out)
        assert '· add {"x":1}\n' in ran.err
        assert "calls wait for an answer, and this command runs no tools: 'add'" in ran.err
        assert (0, "I do not know.\n") == (on.code, on.out)

    def test_a_long_answer_is_gone_on_with(self, run, provider):
        """
        An answer that comes in several responses is asked for until its end.
        """
        running = provider(
            {
                Match(continuation_token=""): {"text": "one ", "continuation_token": "t1"},
                Match(continuation_token="t1"): {"text": "two"},
            }
        )
        ran = run("run", "Count.", "--base-url", running.url)

        assert (0, "one \ntwo\n") == (ran.code, ran.out)

    def test_an_answer_that_pauses_for_ever(self, run, provider, monkeypatch):
        """
        An answer that is continued again and again has an end, because each response is billed.
        """
        monkeypatch.setattr(run_conversation, "MAX_HOPS", 3)
        tokens = ["", "a", "b", "c", "d", "e"]
        hops = pairwise(tokens)
        running = provider(
            {Match(continuation_token=token): {"text": "on ", "continuation_token": new} for token, new in hops}
        )
        ran = run("run", "Count.", "--base-url", running.url)

        assert (4, "on \non \non \n") == (ran.code, ran.out)
        assert (
            "assistant-events: the answer has paused 3 times and is not complete; the next prompt continues it"
            == ran.err.splitlines()[-1]
        )
        assert 3 == len(running.requests)

    def test_an_answer_that_ended_early(self, run, provider):
        """
        An answer that ran out of tokens is completed in the log, and a note reports its early end.
        """
        ran = run("run", "Hi", "--base-url", provider({"Hi": {"text": "He", "status": "incomplete"}}).url)

        assert (0, "He\n") == (ran.code, ran.out)
        assert "assistant-events: the answer ended early: incomplete\n" in ran.err

    def test_events_as_json(self, run, provider):
        """
        With --json each event is one line, without state.
        """
        ran = run("run", "Count.", "--json", "--base-url", provider({"Count.": COUNT}).url)
        lines = ran.out.splitlines()

        assert '{"type":"step.started"' == lines[0][:22]
        assert '"signature"' not in ran.out
        assert '{"type":"step.ended"' == lines[-1][:20]


class TestRefusals:
    @pytest.mark.parametrize(
        ("status", "message"),
        [(400, "API key not valid."), (404, "No such model."), (429, "Too many requests.")],
    )
    def test_http_errors(self, run, provider, status, message):
        """
        What a provider refuses is one line and exit code 4.
        """
        error = {"http_error": {"status": status, "message": message, "headers": {"retry-after": "999"}}}
        ran = run("run", "Hi", "--base-url", provider({"Hi": error}).url)

        assert (4, "") == (ran.code, ran.out)
        assert message in ran.err.splitlines()[1]
        assert 2 == len(ran.err.splitlines())

    def test_keys_are_never_shown(self, run, provider, monkeypatch, folder):
        """
        The key is sent, and is in no output and in no file.
        """
        monkeypatch.setenv("GEMINI_API_KEY", "key-of-the-test")
        running = provider({"Hi": "Hello"})
        ran = run("run", "Hi", "--base-url", running.url)

        assert (0, "Hello\n") == (ran.code, ran.out)
        assert "x-goog-api-key" in dict(running.requests[0].headers)
        assert "key-of-the-test" not in ran.err
        assert b"key-of-the-test" not in b"".join(path.read_bytes() for path in folder.iterdir())

    def test_the_provider_itself(self, monkeypatch):
        """
        With a key the service is asked, without one the mock inside of the command; the log has which it was.
        """
        without = endpoints.chosen(endpoints.DIALECT, None)
        monkeypatch.setenv("GEMINI_API_KEY", "key-of-the-test")

        service = "https://generativelanguage.googleapis.com"
        there = endpoints.chosen(endpoints.DIALECT, None)
        assert ("mock", service) == (without.name, there.name)
        with SqliteStore(":memory:") as store:
            assert there == endpoints.stored(store, "s1")
        assert endpoints.chosen(endpoints.DIALECT, "http://localhost:1/").name == "http://localhost:1"

    def test_localhost_needs_no_key(self):
        """
        A server of this machine is asked without a key, under each of its names.
        """
        assert ["none"] * 3 == [
            endpoints.chosen(endpoints.DIALECT, url).key
            for url in ("http://localhost:1", "http://127.0.0.1:1", "http://[::1]:1")
        ]

    def test_a_server_elsewhere_needs_a_key(self, run):
        """
        Without a key only a server of this machine is asked.
        """
        ran = run("run", "Hi", "--base-url", "https://example.com/")

        assert (2, "assistant-events: no API key for https://example.com: set GEMINI_API_KEY\n") == (
            ran.code,
            ran.err,
        )

    def test_a_log_sends_no_key_anywhere(self, run, provider, monkeypatch):
        """
        The endpoint of an answer is in the log, but a key is sent there only when the command line names it.
        """
        url = provider({"Count.": {**COUNT, "faults": ["drop@12x9"]}}).url
        run("run", "Count.", "--base-url", url)
        monkeypatch.setenv("GEMINI_API_KEY", "key-of-the-test")
        ran = run("run", "--resume", "main")

        assert (2, f"assistant-events: the answer came from {url}: use --base-url {url} to ask there\n") == (
            ran.code,
            ran.err,
        )

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ((), "run needs a prompt, or one of --resume, --recover and --stop"),
            (("",), "the prompt is empty"),
            (("  ",), "the prompt is empty"),
            (("Hi", "--resume", ""), "--resume names a session, and does not take a prompt"),
            (("--stop", ""), EMPTY_NAME),
            (("--stop", "s1", "--session", "x"), "--stop names a session, and does not take --session"),
            (("--stop", "s1", "--agent", "x"), "--stop names a session, and does not take --agent"),
            (("--stop", "s1", "--system", "x"), "--stop names a session, and does not take --system"),
            (("--stop", "s1", "--dialect", "x"), "--stop names a session, and does not take --dialect"),
            (("--stop", "s1", "--provider", "x"), "--stop names a session, and does not take --provider"),
            (("Hi", "--resume", "s1"), "--resume names a session, and does not take a prompt"),
            (("--stop", "s1", "--model", "x"), "--stop names a session, and does not take --model"),
            (("--resume", "s1", "--recover", "s1"), "expected only one option, got --resume and --recover"),
            (("Hi", "--model", "x", "--agent", "y"), "expected either --model or --agent, got both"),
            (("Hi", "--session", ""), EMPTY_NAME),
            (("--resume", "s1"), "assistant-events.db: no such file, expected a database"),
            (("Hi", "--base-url", "nonsense"), NO_BASE),
            (("Hi", "--base-url", "http://[x"), NO_BASE),
            (("Hi", "--base-url", "http://:password@127.0.0.1:1"), NO_BASE),
            (("Hi", "--base-url", "http://127.0.0.1:1/?key=secret"), NO_BASE),
            (("--nonsense",), "unknown option --nonsense; see assistant-events run --help"),
            (("--resum", "s1"), "unknown option --resum, did you mean --resume?; see assistant-events run --help"),
        ],
        ids=range(22),
    )
    def test_command_lines_that_make_no_sense(self, run, folder, arguments, message):
        """
        What cannot be meant is one line, exit code 2, and makes no file.
        """
        ran = run("run", *arguments)

        assert (2, "", f"assistant-events: {message}\n") == (ran.code, ran.out, ran.err)
        assert [] == list(folder.iterdir())

    def test_a_database_that_cannot_be_made(self, run, provider):
        """
        A database that cannot be created is not announced.
        """
        ran = run("run", "Hi", "--base-url", provider({"Hi": "Hello."}).url, "--db", "no/where.db")

        assert (2, "assistant-events: no/where.db: the folder 'no' does not exist\n") == (ran.code, ran.err)

    def test_a_request_that_is_made_again(self, run, provider):
        """
        While the provider is busy, a note has the reason and the time of the next request.
        """
        busy = {"http_error": {"status": 429, "message": "Too many requests.", "headers": {"retry-after-ms": "10"}}}
        running, before = provider({"Hi": [busy, {"text": "Hello."}]}), get_on_retry_hooks()
        ran = run("run", "Hi", "--base-url", running.url, "--db", "a.db")

        assert (0, "Hello.\n") == (ran.code, ran.out)
        assert "assistant-events: asking again in 0.0 s: Too many requests.\n" in ran.err
        assert "stamina" not in ran.err
        assert before == get_on_retry_hooks()

    def test_a_prompt_may_begin_with_a_hyphen(self, run):
        """
        A prompt that begins with a hyphen and has several words is not an option.
        """
        ran = run("run", "-5 degrees, is that cold?")

        assert "“-5 degrees, is that cold?”" in ran.out

    @pytest.mark.parametrize("key", ["two words", "\u201cquoted\u201d", "two\nlines"], ids=ascii)
    @pytest.mark.parametrize("where", [[], ["--base-url", "http://127.0.0.1:9"]], ids=["there", "here"])
    def test_a_key_that_is_none(self, run, folder, monkeypatch, key, where):
        """
        What cannot be a key is one line that does not show it, and no prompt is stored.
        """
        monkeypatch.setenv("GEMINI_API_KEY", key)
        ran = run("run", "Hi", *where)

        message = "assistant-events: GEMINI_API_KEY: expected printable ASCII characters without spaces\n"
        assert (2, message) == (ran.code, ran.err)
        assert [] == list(folder.iterdir())

    @pytest.mark.parametrize(
        ("absent", "key", "message"),
        [
            (
                {"httpx2", "stamina"},
                True,
                "run needs httpx2 and stamina: pip install '.[http]' in a clone of assistant-events",
            ),
            (
                {"httpx2", "uvicorn"},
                False,
                WITHOUT_SERVER,
            ),
        ],
    )
    def test_missing_extras(self, run, monkeypatch, absent, key, message):
        """
        A missing package is one line with the command that installs it.
        """
        monkeypatch.setattr(extras, "find_spec", lambda name: None if name in absent else object())
        if key:
            monkeypatch.setenv("GEMINI_API_KEY", "key-of-the-test")
        ran = run("run", "Hi")

        assert (2, f"assistant-events: {message}\n") == (ran.code, ran.err)


CLAUDE = Origin(provider="anthropic", model="claude-9", dialect="anthropic-messages")
INSTRUCTIONS = {
    "anthropic-messages": ("system", "Be brief."),
    "openai-responses": ("instructions", "Be brief."),
    "openai-chat": ("messages", [{"role": "system", "content": "Be brief."}]),
    "gemini-generate-content": ("systemInstruction", {"parts": [{"text": "Be brief."}]}),
    "bedrock-converse": ("system", [{"text": "Be brief."}]),
}


class TestDialects:
    @pytest.mark.parametrize("dialect", INSTRUCTIONS)
    def test_a_conversation(self, run, provider, dialect):
        """
        A session continues in its dialect, with its model and system instruction.
        """
        answers = {"Count.": {"text": WORDS}, "On.": {"text": "eleven"}}
        running = provider(answers, dialect=dialect)
        first = run("run", "Count.", "--base-url", running.url, "--dialect", dialect, "--model", "m9",
                    "--system", "Be brief.")  # fmt: skip
        second = run("run", "On.", "--base-url", running.url)
        field, value = INSTRUCTIONS[dialect]
        paths, bodies = ([getattr(logged, name) for logged in running.requests] for name in ("path", "body"))

        assert [(0, f"{WORDS}\n"), (0, "eleven\n")] == [(ran.code, ran.out) for ran in (first, second)]
        assert [value] * 2 == [body[field][:1] if field == "messages" else body[field] for body in bodies]
        assert all("m9" in path or "m9" == body["model"] for path, body in zip(paths, bodies, strict=True))
        assert "Count." in repr(bodies[1]) or "previous_response_id" in bodies[1]

    def test_another_dialect_takes_the_conversation_over(self, run, provider):
        """
        The answers of one provider are sent to the next one; its model is not.
        """
        one, two = provider({"Count.": WORDS}), provider({"On.": {"text": "eleven"}}, dialect="openai-chat")
        run("run", "Count.", "--base-url", one.url, "--system", "Be brief.")
        without = run("run", "On.", "--base-url", two.url, "--dialect", "openai-chat")
        ran = run("run", "On.", "--base-url", two.url, "--dialect", "openai-chat", "--model", "m9")

        assert (2, "assistant-events: openai-chat has no default model, name one with --model\n") == (
            without.code,
            without.err,
        )
        assert (0, "eleven\n") == (ran.code, ran.out)
        assert ["Count.", WORDS, "On."] == [each["content"] for each in two.requests[-1].body["messages"]]

    def test_the_provider_is_kept(self, run, provider):
        """
        Who runs the model is named once, and then decides what returns to the server.
        """
        where = ("--base-url", provider({Match(): {"text": "Hi"}}, dialect="openai-chat").url)
        run("run", "One.", *where, "--dialect", "openai-chat", "--model", "m9", "--provider", "deepseek")
        run("run", "Two.", *where)
        run("run", "Three.", "--base-url", provider({Match(): {"text": "Hi"}}, dialect="openai-chat").url)

        _, first, _, second, _, elsewhere = fold_of("main").messages
        assert ["deepseek", "deepseek", "openai"] == [each.origin.provider for each in (first, second, elsewhere)]

    def test_the_dialect_is_that_of_the_session(self, run, provider):
        """
        A session keeps its dialect beside another one, also when its answer is not of this command.
        """
        url = provider({Match(): {"text": "Hi"}}, dialect="openai-chat").url
        there = Origin(provider="openai", model="m9", dialect="openai-chat")
        with SqliteStore("assistant-events.db") as store:
            store.append("main", [prompt("One."), *durable(answer("Yes.", origin=CLAUDE))])
            store.append("s1", [prompt("One."), *durable(answer("Yes.", origin=there))])
        ran = run("run", "Two.", "--session", "s1", "--base-url", url)

        assert (0, "Hi\n") == (ran.code, ran.out)

    def test_what_was_stored_of_the_newest_prompt(self, monkeypatch):
        """
        Server, dialect and provider of the newest prompt are those of the answer, whichever key there is.
        """
        monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-test")
        service = {"dialect": "openai-chat", "endpoint": "https://api.openai.com", "provider": "acme"}
        with SqliteStore(":memory:") as store:
            store.append("s", [prompt("One.")], meta={"run": {"dialect": "gemini-interactions", "endpoint": "mock"}})
            store.append("s", [prompt("Two.", message_id="u2")], meta={"run": service})
            found = endpoints.stored(store, "s")
            answered = endpoints.chosen(endpoints.dialect_of(store, "s"), None, "acme")
            elsewhere = endpoints.stored(store, "s", "http://localhost:1")

        assert found == answered
        assert ("openai-chat", service["endpoint"], "acme") == (found.dialect, found.name, found.provider)
        assert ("openai-chat", "http://localhost:1", "acme") == (elsewhere.dialect, elsewhere.name, elsewhere.provider)

    def test_a_response_is_taken_up(self, run, provider):
        """
        A background response continues without its process, and its session has the dialect.
        """
        running = provider({"Count.": {"text": WORDS, "timing": {"delta_chars": 4}, "faults": ["stall@9"]}},
                           dialect="openai-responses")  # fmt: skip
        asked = ("--dialect", "openai-responses", "--model", "m9", "--background", "--base-url", running.url)
        ended, _, _ = stopped("Count.", *asked, after=b"one", sent=signal.SIGKILL)
        ran = run("run", "--resume", "main", "--base-url", running.url)

        assert (-9, 0, f"{WORDS}\n") == (ended, ran.code, ran.out)

    @pytest.mark.parametrize("dialect", INSTRUCTIONS)
    def test_without_a_key(self, run, monkeypatch, dialect):
        """
        The mock inside of the command speaks every dialect, and needs no model.
        """
        for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_BEARER_TOKEN_BEDROCK"):
            monkeypatch.delenv(name, raising=False)
        ran = run("run", "Hello", "--dialect", dialect)

        assert 0 == ran.code
        assert ran.out.startswith("You wrote: “Hello” This is the mock provider")
        assert f"over the wire format {dialect}, and" in ran.out

    @pytest.mark.parametrize(
        ("option", "message"),
        [
            (("--agent", "a"), "--agent: openai-chat has no agents, name a model"),
            (("--background",), "--background: openai-chat ends an answer with its connection"),
        ],
    )
    def test_what_a_dialect_does_not_have(self, run, provider, option, message):
        """
        It is refused before anything is stored.
        """
        url = provider({Match(): {"text": "Hi"}}, dialect="openai-chat").url
        ran = run("run", "Hi", "--base-url", url, "--dialect", "openai-chat", *option)

        assert (2, f"assistant-events: {message}\n") == (ran.code, ran.err.splitlines(keepends=True)[-1])
        assert [] == texts("assistant-events.db", "main")

    def test_an_unknown_dialect(self, run):
        """
        The sentence names those that are installed.
        """
        ran = run("run", "Hi", "--dialect", "morse")

        assert 2 == ran.code
        assert "no client of dialect 'morse'; installed clients: anthropic-messages" in ran.err


class TestTakingUp:
    @pytest.mark.parametrize(
        ("sent", "code", "left"),
        [(signal.SIGINT, 130, "failed"), (signal.SIGTERM, 143, "failed"), (signal.SIGKILL, -9, "running")],
    )
    @pytest.mark.parametrize("action", ["--resume", "--recover"])
    def test_stopped_and_taken_up(self, run, provider, sent, code, left, action):
        """
        After Ctrl-C, SIGTERM or SIGKILL in mid-sentence the log alone is enough to get the whole answer.
        """
        running = provider({"Count.": STALLED})
        where = ("--base-url", running.url)
        ended, out, err = stopped("Count.", "--background", *where, sent=sent)
        before = run("show", "main", "--db", "assistant-events.db", "--json").json["messages"][-1]["status"]
        ran = run("run", action, "main", *where)

        assert (code, left) == (ended, before)
        assert out.rstrip("\n") != WORDS
        assert (f"assistant-events run --resume main --base-url {running.url}" in err) is (sent != signal.SIGKILL)
        assert (0, f"{WORDS}\n") == (ran.code, ran.out)
        assert ["Count.", WORDS] == texts("assistant-events.db", "main")
        assert 1 == len([logged for logged in running.requests if logged.method == "POST"])

    @pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_signals(self, run, provider, monkeypatch, sent, code):
        """
        A signal closes the answer and shows how to resume it, also inside of another program.
        """
        show, signals = AnswerPrinter.event, [sent]

        def shown(printer, event):
            show(printer, event)
            if event.type == "text.delta" and signals:  # a second one would not wait for the end
                signal.raise_signal(signals.pop())

        monkeypatch.setattr(AnswerPrinter, "event", shown)
        ran = run("run", "Count.", "--background", "--base-url", provider({"Count.": STALLED}).url)

        assert code == ran.code
        assert "assistant-events: stopped\n  resume   assistant-events run --resume main" in ran.err
        assert "aborted" == fold_of("main").last.error.kind

    def test_stopped_before_a_run_has_begun(self, run, monkeypatch):
        """
        Ctrl-C while a server is not reached names nothing that could be taken up or stopped.
        """
        note = AnswerPrinter.note

        def noted(printer, text):
            note(printer, text)
            if text.startswith("asking again"):
                signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr(AnswerPrinter, "note", noted)
        ran = run("run", "Count.", "--base-url", "http://127.0.0.1:9")

        assert 130 == ran.code
        assert ran.err.endswith("assistant-events: stopped\n")

    def test_a_run_that_ends_with_its_connection(self, provider):
        """
        Ctrl-C during a run in the foreground, which does not continue, names nothing that would continue and cost.
        """
        running = provider({"Count.": STALLED})
        code, _, err = stopped("Count.", "--base-url", running.url)

        assert 130 == code
        assert "  resume   no: a run that was not sent to the background" in err
        assert "(it deletes what the provider has of the run)" in err
        assert "(the document has the answer, if the run has come to its end)" in err
        assert "continue" not in err

    def test_a_run_that_was_stopped_is_not_stopped_again(self, run, provider):
        """
        After a stop has deleted the run, nothing is listed that could be done about it.
        """
        where = ("--base-url", provider({"Count.": STALLED}).url)
        stopped("Count.", "--background", *where)
        run("run", "--stop", "main", *where)
        ran = run("run", "--recover", "main", *where)

        assert (0, "") == (ran.code, ran.out)
        assert "assistant-events: recover makes no sense: the run has ended, nothing more comes of it\n" == ran.err

    def test_a_prompt_waits_for_the_answer_before(self, run, provider):
        """
        While a resumable answer is open, a prompt is refused with the commands that resume or end it.
        """
        where = ("--base-url", provider({"Count.": STALLED}).url)
        stopped("Count.", "--background", *where, sent=signal.SIGKILL)
        ran = run("run", "On.", *where)

        assert 2 == ran.code
        assert "the last answer of session 'main' has not ended; assistant-events run --resume main" in ran.err

    def test_an_answer_that_is_lost_is_closed(self, run, provider):
        """
        An answer that died with its process, and of which no run is left, is closed by the next prompt.
        """
        where = ("--base-url", provider({"Count.": STALLED, "On.": "eleven"}).url)
        stopped("Count.", *where, sent=signal.SIGKILL)
        ran = run("run", "On.", *where)

        assert (0, "eleven\n") == (ran.code, ran.out)
        assert "left open by a process that is gone" in ran.err

    @pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
    def test_stop(self, run, provider, sent):
        """
        Stop cancels and deletes the run, and the answer in the log is cancelled: what has come of it stays.
        """
        running = provider({"Count.": STALLED})
        where = ("--base-url", running.url)
        stopped("Count.", "--background", *where, sent=sent)
        before = fold_of("main").last.text
        ran = run("run", "--stop", "main", *where)
        again = run("run", "--resume", "main", *where)

        assert (0, "") == (ran.code, ran.out)
        assert "the run is stopped, and deleted at the provider" in ran.err
        assert ["POST", "DELETE"] == [logged.method for logged in running.requests][1:3]
        transcript = fold_of("main")
        last = transcript.last
        assert ("failed", "cancelled", "user") == (last.status, last.error.kind, transcript.awaits)
        assert last.text.startswith(before)
        assert 0 == again.code

    def test_a_stop_without_an_effect(self, run, provider):
        """
        While the provider refuses to stop and to delete the run, the answer can still be resumed.
        """
        faults = ["http-403@cancelx*", "http-403@deletex*"]
        where = ("--base-url", provider({"Count.": STALLED}, faults=faults).url)
        stopped("Count.", "--background", *where)
        ran = run("run", "--stop", "main", *where)

        assert (4, "provider") == (ran.code, fold_of("main").awaits)

    def test_stop_says_what_was_refused(self, run, provider):
        """
        A refused cancellation is reported; the run is deleted nevertheless.
        """
        where = ("--base-url", provider({"Count.": STALLED}, faults=["http-404@cancelx*"]).url)
        stopped("Count.", "--background", *where)
        ran = run("run", "--stop", "main", *where)

        assert 0 == ran.code
        assert "the run could not be cancelled: " in ran.err

    def test_a_run_that_cannot_be_deleted(self, run, provider):
        """
        A failed deletion is reported, with exit code 4.
        """
        where = ("--base-url", provider({"Count.": STALLED}, faults=["http-403@deletex*"]).url)
        stopped("Count.", "--background", *where)
        ran = run("run", "--stop", "main", *where)

        assert 4 == ran.code
        assert "the run could not be deleted: " in ran.err
        assert "the run is stopped" not in ran.err

    @pytest.mark.parametrize("action", ["--resume", "--recover", "--stop"])
    def test_an_answer_of_a_pruned_session(self, run, provider, action):
        """
        An answer whose records are pruned is taken up from the snapshot.
        """
        where = ("--base-url", provider({"Count.": STALLED}).url)
        stopped("Count.", "--background", *where)
        pruned("main")
        ran = run("run", action, "main", *where)

        assert (0, "" if action == "--stop" else f"{WORDS}\n") == (ran.code, ran.out)

    def test_a_run_in_progress(self, run, provider):
        """
        Recovering a run in progress leaves the answer as it is and lists the actions.
        """
        where = ("--base-url", provider({"Count.": {**STALLED, "polls_in_progress": 99}}).url)
        stopped("Count.", "--background", *where, sent=signal.SIGKILL)
        ran = run("run", "--recover", "main", *where)

        assert 4 == ran.code
        assert "assistant-events: the run is in_progress; its answer is not there yet\n  resume   " in ran.err
        assert "running" == run("show", "main", "--db", "assistant-events.db", "--json").json["messages"][-1]["status"]

    def test_a_zombie(self, run, provider):
        """
        For a zombie, the dates, the number of outputs and the actions are shown.
        """
        running = provider({"Count.": {**COUNT, "faults": ["zombie@9000s"]}})
        where = ("--base-url", running.url)
        with SqliteStore("assistant-events.db") as store:
            body = {"model": "gemini-9", "input": "Count.", "background": True, "store": True}
            made = httpx2.post(f"{running.url}/v1beta/interactions", json=body, headers={"x-goog-api-key": "k"}).json()

            begun = durable(answer("", run=run_of(made["id"]), origin=GEMINI))[0]
            store.append("main", [prompt("Count."), begun])
        ran = run("run", "--recover", "main", *where)
        rows = [line.split()[0] for line in ran.err.splitlines()[1:]]

        assert 4 == ran.code
        assert "has produced nothing" in ran.err.splitlines()[0]
        assert ["created", "updated", "outputs", "resume", "recover", "stop"] == rows
        assert "  resume   no: " in ran.err
        assert "  outputs  0\n" in ran.err

    def test_there_is_nothing_to_take_up(self, run, provider):
        """
        Resuming a complete answer is not a failure.
        """
        where = ("--base-url", provider({"Count.": COUNT}).url)
        run("run", "Count.", *where)
        ran = run("run", "--resume", "main", *where)

        assert (0, "") == (ran.code, ran.out)
        assert "assistant-events: resume makes no sense: the run has ended, nothing more comes of it\n" == ran.err

    def test_a_run_that_cannot_be_resumed(self, run, provider):
        """
        A run in the foreground has no stream to follow; the other actions are listed.
        """
        where = ("--base-url", provider({"Count.": STALLED}).url)
        stopped("Count.", *where, sent=signal.SIGKILL)
        ran = run("run", "--resume", "main", *where)

        assert 4 == ran.code
        assert "resume makes no sense: a run that was not sent to the background" in ran.err
        assert "  recover  assistant-events run --recover main" in ran.err

    def test_the_commands_that_are_listed(self, run):
        """
        They have the options that find the session again, quoted for a shell.
        """
        begun = durable(answer("Hi", run=run_of("r1", resumable=False)))[0]
        with SqliteStore("my chats.db") as store:
            store.append("a session", [prompt("Count."), begun])
        ran = run("run", "--resume", "a session", "--db", "my chats.db", "--base-url", "http://127.0.0.1:9")

        command = "assistant-events run --recover 'a session' --db 'my chats.db' --base-url http://127.0.0.1:9"
        assert f"  recover  {command}  (the document has the answer" in ran.err

    def test_a_session_that_is_not_there(self, run):
        """
        The sentence names those that are.
        """
        with SqliteStore("assistant-events.db") as store:
            store.append("main", [prompt("Count.")])
        ran = run("run", "--resume", "other")

        assert (2, "assistant-events: assistant-events.db: no session 'other'; it holds 'main'\n") == (
            ran.code,
            ran.err,
        )

    def test_a_run_that_the_provider_does_not_have(self, run, provider):
        """
        Nothing can be done about it, so nothing is listed.
        """
        where = ("--base-url", provider({}).url)
        begun = durable(answer("Hi", run=run_of("r1", resumable=True), origin=GEMINI))[0]
        with SqliteStore("assistant-events.db") as store:
            store.append("main", [prompt("Count."), begun])
        ran = run("run", "--resume", "main", *where)
        rows = [line for line in ran.err.splitlines() if line.startswith("  ")]

        assert 4 == ran.code
        assert [f"  {name:<8} no: the provider does not have the run" for name in ("resume", "recover", "stop")] == rows

    def test_events_as_json_again(self, run, provider):
        """
        What is taken up is printed as JSON, too.
        """
        where = ("--base-url", provider({"Count.": STALLED}).url)
        stopped("Count.", "--background", *where, sent=signal.SIGKILL)
        ran = run("run", "--resume", "main", "--json", *where)

        assert '{"type":"step.ended"' == ran.out.splitlines()[-1][:20]

    def test_missing_extras(self, run, monkeypatch):
        """
        A missing package is one line when a run is taken up, too.
        """
        with SqliteStore("assistant-events.db") as store:
            store.append("main", [prompt("Count."), durable(answer("Hi"))[0]])
        monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "httpx2" else object())
        ran = run("run", "--resume", "main", "--base-url", "http://127.0.0.1:9")

        assert (2, "assistant-events: run needs httpx2: pip install '.[http]' in a clone of assistant-events\n") == (
            ran.code,
            ran.err,
        )

    @pytest.mark.parametrize(("action", "code"), [("--resume", 4), ("--stop", 0)])
    def test_a_run_that_was_never_known(self, run, action, code):
        """
        Of an answer without a run nothing is left at the provider; it is closed.
        """
        with SqliteStore("assistant-events.db") as store:
            store.append("main", [prompt("Count."), durable(answer("Hi"))[0]])
        ran = run("run", action, "main", "--base-url", "http://127.0.0.1:9")

        assert (code, "") == (ran.code, ran.out)
        assert "failed" == run("show", "main", "--db", "assistant-events.db", "--json").json["messages"][-1]["status"]

    def test_tokens_on_a_terminal(self, run, provider, monkeypatch):
        """
        On a terminal the tokens are shown.
        """
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        ran = run("run", "Count.", "--base-url", provider({"Count.": COUNT}).url)

        assert "  tokens   input " in ran.err

    def test_a_document_is_waited_for(self, run, provider):
        """
        A note reports that the document is fetched until the run has ended.
        """
        answered = {**COUNT, "faults": ["stall@12", "http-400@get"], "polls_in_progress": 2}
        where = ("--base-url", provider({"Count.": answered}).url)
        stopped("Count.", "--background", *where, sent=signal.SIGKILL)
        ran = run("run", "--resume", "main", *where)

        assert (0, f"{WORDS}\n") == (ran.code, ran.out)
        assert 1 == ran.err.count("the run is in_progress; its document is asked for until it has ended")

    def test_a_prompt_without_an_answer(self, run):
        """
        A process that died before the first event leaves no run to resume.
        """
        with SqliteStore("assistant-events.db") as store:
            store.append("main", [prompt("Count.")])
        ran = run("run", "--resume", "main", "--base-url", "http://127.0.0.1:9")

        assert (2, "assistant-events: the last prompt of session 'main' has no answer, so it has no run\n") == (
            ran.code,
            ran.err,
        )

    def test_going_on_is_said(self, run, provider):
        """
        A lost stream is followed again, with a note.
        """
        paced = {**COUNT, "timing": {"delta_chars": 4, "between_s": 0.02}, "faults": ["drop@12"]}
        ran = run("run", "Count.", "--background", "--base-url", provider({"Count.": paced}).url)

        assert (0, f"{WORDS}\n") == (ran.code, ran.out.replace("\n", "") + "\n")
        assert 1 == ran.err.count("assistant-events: the stream ended early (drop), going on\n")


class TestEmbedded:
    def test_answers_without_a_key(self, run):
        """
        Without a key a mock provider answers, in a session of its own, with a note.
        """
        ran = run("run", "Hello there, how are you?  " * 9)

        assert 0 == ran.code
        assert ran.out.startswith("You wrote: “Hello there, how are you? Hello there, ")
        assert ran.out.endswith("Set GEMINI_API_KEY, and a model answers in my place.\n")
        assert "Without an API key no model is asked." in ran.err
        assert "assistant-events: no GEMINI_API_KEY: a mock provider answers, in session 'mock'\n" in ran.err

    def test_its_sessions_stay_apart(self, run, provider):
        """
        A conversation with the mock provider is not gone on with elsewhere, and the other way round.
        """
        url = provider({"Count.": COUNT}).url
        run("run", "Hi")
        run("run", "Count.", "--base-url", url)
        one = run("run", "Hi", "--session", "mock", "--base-url", url)
        other = run("run", "Hi", "--session", "main")

        assert (2, 2) == (one.code, other.code)
        assert "session 'mock' was held with the mock provider; name another one with --session\n" in one.err
        assert f"session 'main' was held with {url}; name another one with --session\n" in other.err

    def test_its_session_keeps_its_dialect(self, run, monkeypatch):
        """
        The conversation with the mock provider continues in its dialect, as long as that has no key.
        """
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        run("run", "One.", "--dialect", "openai-chat", "--model", "m9", "--system", "Be kind.")
        run("run", "Two.")
        monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-test")
        run("run", "Three.")

        answers = [message.origin for message in fold_of("mock").messages if message.type == "assistant"]
        assert ["openai-chat", "openai-chat", "gemini-interactions"] == [each.dialect for each in answers]
        assert "m9" == answers[1].model

    @pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
    def test_its_runs_outlive_the_process(self, run, sent):
        """
        A run of the mock provider can be resumed by another process, whose mock provider makes it anew.
        """
        stopped("Hi", "--background", after=b"in pieces", sent=sent)
        ran = run("run", "--resume", "mock")

        assert 0 == ran.code
        assert ran.out.startswith("You wrote: “Hi”")
        assert ran.out.endswith("answers in my place.\n")
        assert ["Hi", ran.out.rstrip("\n")] == texts("assistant-events.db", "mock")

    def test_a_run_that_is_made_anew_is_read_to_its_end(self, run, monkeypatch):
        """
        Its mock provider writes to no connection that was closed, which would be logged between the notes.
        """
        stopped("Hi", "--background", after=b"in pieces")
        made, create = [], ProviderClient.create

        def creating(*given, **options):
            made.append(create(*given, **options))
            return made[-1]

        monkeypatch.setattr(ProviderClient, "create", creating)
        ran = run("run", "--resume", "mock")

        assert (0, [True]) == (ran.code, [stream.terminal for stream in made])

    @pytest.mark.parametrize(
        ("asked", "expected"),
        [
            (
                ("--model", "gemini-9", "--system", "Be brief.", "--background"),
                {"model": "gemini-9", "system_instruction": "Be brief."},
            ),
            (("--agent", "deep-research-9"), {"agent": "deep-research-9"}),
        ],
    )
    def test_a_run_is_made_anew_with_its_request(self, run, monkeypatch, asked, expected):
        """
        The run that another mock provider has is asked for as the first one was.
        """
        stopped("Hi", *asked, after=b"in pieces")
        made = []

        def load(dialect):
            mock = load_mock(dialect)

            def provider(*given, **options):
                made.append(mock.provider(*given, **options))
                return made[0]

            return attrs.evolve(mock, provider=provider)

        monkeypatch.setattr(embedded_mock, "load_mock", load)
        run("run", "--resume", "mock")
        [anew, *_] = made[0].requests

        own = {name: anew.body.pop(name) for name in ("input", "background", "store", "stream")}
        assert {"input": "Hi", "background": True, "store": True, "stream": True} == own
        assert expected.items() <= anew.body.items()
        assert ("model" in anew.body) is ("model" in expected)

    @pytest.mark.parametrize(("origin", "variable"), [(GEMINI, "GEMINI_API_KEY"), (CLAUDE, "ANTHROPIC_API_KEY")])
    def test_the_provider_needs_its_key_again(self, run, monkeypatch, origin, variable):
        """
        What the provider itself answered is taken up with a key, and never by the mock.
        """
        with SqliteStore("assistant-events.db") as store:
            store.append("main", [prompt("Count."), durable(answer("Hi", origin=origin))[0]])
        monkeypatch.delenv(variable, raising=False)
        ran = run("run", "--resume", "main")

        assert (2, f"assistant-events: no API key: set {variable}\n") == (ran.code, ran.err)


class TestPipes:
    def test_the_reader_goes(self, folder):
        """
        When the reader of the output is gone, the command ends without output, and the answer is closed.
        """
        with child("Hi", "--background") as running:
            running.until(b"You wrote").stdout.close()
            err = running.stderr.read().decode()

            assert 141 == running.wait(60)
        assert "Traceback" not in err
        with closing(sqlite3.connect(folder / "assistant-events.db")) as db:
            assert db.execute("select count(*) from records").fetchone()[0] > 4
