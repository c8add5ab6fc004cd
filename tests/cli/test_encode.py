"""`encode`: the next request of a session, to its own provider and to another one."""

import json
import re

import pytest

from assistant_events import Origin
from assistant_events.adapters import Dialect
from assistant_events.cli import commands
from assistant_events.stores import SqliteStore
from assistant_events.testing import answer, durable, prompt

CLAUDE = Origin(provider="anthropic", dialect="anthropic-messages", model="claude-opus-5-5")


@pytest.fixture
def talk(db):
    """A session with an answer of Claude whose reasoning is signed."""
    with SqliteStore(db) as store:
        given = answer("It rains.", reasoning="Hm.", reasoning_state={"i": 0, "signature": "c2ln"}, origin=CLAUDE)
        store.append("talk", durable([prompt("Oslo?"), *given, prompt("And now?", message_id="u2")]))
    return db


def test_to_its_own_provider(run, talk):
    """
    The request of the same model has everything; nothing is left out.
    """
    ran = run("encode", "talk", "--dialect", "anthropic-messages", "--db", talk)

    assert (0, "") == (ran.code, ran.err)
    assert "claude-opus-5-5" == ran.json["model"]
    assert {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"} == ran.json["messages"][1]["content"][0]


def test_to_another_provider(run, talk):
    """
    What stays behind is a line each on standard error.
    """
    ran = run("encode", "talk", "--dialect", "openai-chat", "--provider", "groq", "--model", "llama", "--db", talk)

    assert ["user", "assistant", "user"] == [each["role"] for each in ran.json["messages"]]
    assert "It rains." == ran.json["messages"][1]["content"]
    assert "llama" == ran.json["model"]
    assert [
        "assistant-events: part 0 of message 'a1' left out: It was issued by another provider, or in another dialect."
    ] == ran.err.splitlines()


def test_to_another_platform(run, talk):
    """
    Bedrock reads the signature of the same model.
    """
    model = "us.anthropic.claude-opus-5-5-v1:0"
    ran = run("encode", "talk", "--dialect", "bedrock-converse", "--model", model, "--db", talk)
    signed = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}}

    assert signed == ran.json["messages"][1]["content"][0]
    assert "" == ran.err


def test_each_thing_that_is_left_out(run, talk):
    """
    Each of several is a line of its own.
    """
    with SqliteStore(talk) as store:
        given = answer("Yes.", reasoning="Hm.", reasoning_state={"i": 0}, origin=CLAUDE, message_id="a2")
        store.append("talk", durable(given))
    ran = run("encode", "talk", "--dialect", "openai-chat", "--db", talk)

    assert ["message 'a1'", "message 'a2'"] == [re.search("message '..'", line)[0] for line in ran.err.splitlines()]


@pytest.mark.parametrize(("mode", "expected"), [((), "chained"), (("--mode", "full"), "full")])
def test_mode(run, db, mode, expected):
    """
    A request is chained to the answer that the provider has stored, unless the whole conversation is asked for.
    """
    there = Origin(provider="openai", dialect="openai-responses", model="gpt-9")
    with SqliteStore(db) as store:
        store.append("s", durable([prompt("Hm?"), *answer("Hm.", origin=there, state={"response_id": "resp_1"})]))
        store.append("s", [prompt("Well?", message_id="u2")])
    ran = run("encode", "s", "--dialect", "openai-responses", *mode, "--db", db, "--json")

    assert (expected, expected == "chained") == (ran.json["mode"], "previous_response_id" in ran.json["body"])


def test_a_dialect_that_writes_nothing(run, talk, monkeypatch):
    """
    A dialect that only reads is refused.
    """
    monkeypatch.setattr(commands, "load_dialect", lambda name: Dialect(name=name, decoder=None))
    ran = run("encode", "talk", "--dialect", "reader", "--db", talk)

    assert (2, "assistant-events: reader writes no requests; name another dialect with --dialect\n") == (
        ran.code,
        ran.err,
    )


def test_as_one_document(run, talk):
    """
    With --json, request and what is left out are one document.
    """
    ran = run("encode", "talk", "--dialect", "openai-chat", "--db", talk, "--json")

    assert ["body", "drops", "mode"] == sorted(ran.json)
    assert [{"message_id": "a1", "part": 0, "reason": "other-provider", "whole": True}] == ran.json["drops"]
    assert "" == ran.err


def test_the_model_of_the_last_answer_that_names_one(run, db):
    """
    The model that answered last is asked again, also behind an answer whose stream named none.
    """
    with SqliteStore(db) as store:
        for number, model in enumerate(("gpt-8", "gpt-9", None)):
            origin = Origin(provider="openai", dialect="openai-chat", model=model)
            given = answer("!", message_id=f"a{number}", origin=origin)
            store.append("s", durable([prompt("?", message_id=f"u{number}"), *given]))
    ran = run("encode", "s", "--dialect", "openai-chat", "--db", db)

    assert "gpt-9" == ran.json["model"]


ERRORS = {
    "an unknown session": (("nobody", "--dialect", "openai-chat"), "no session 'nobody'"),
    "an unknown dialect": (("talk", "--dialect", "esperanto"), "unknown dialect 'esperanto'"),
    "what cannot be chained": (
        ("talk", "--dialect", "openai-responses", "--mode", "chained"),
        "the request cannot be chained",
    ),
}


@pytest.mark.parametrize(("arguments", "expected"), ERRORS.values(), ids=ERRORS)
def test_errors(run, talk, arguments, expected):
    """
    What cannot be encoded is one line.
    """
    ran = run("encode", *arguments, "--db", talk)

    assert 2 == ran.code
    assert expected in ran.err
    assert 1 == len(ran.err.splitlines())


def test_a_session_without_a_model(run, db):
    """
    A session without an answer has no model to ask.
    """
    with SqliteStore(db) as store:
        store.append("new", [prompt("Oslo?")])
    ran = run("encode", "new", "--dialect", "openai-chat", "--db", db)

    assert (2, "assistant-events: the session names no model; name one with --model\n") == (ran.code, ran.err)
    assert 0 == run("encode", "new", "--dialect", "openai-chat", "--model", "m", "--db", db).code


def test_an_answer_of_another_provider(run, db, tmp_path):
    """
    An answer that was folded as that of its server is sent back there with its reasoning.
    """
    message = {"role": "assistant", "content": "Yes.", "reasoning": "Hm."}
    answer = tmp_path / "answer.json"
    answer.write_text(json.dumps({"model": "m", "choices": [{"message": message, "finish_reason": "stop"}]}))
    run("fold", answer, "--provider", "groq", "--db", db, "--session", "s")
    ran = run("encode", "s", "--dialect", "openai-chat", "--provider", "groq", "--db", db)

    assert ([message], "") == (ran.json["messages"], ran.err)
