"""
Runs that are left open when their client or their loop ends: nothing is reported on standard error.

Against a mock provider on a port: what reads a real connection is a generator in a generator, and Python reports those
that it has to close itself.
"""

import asyncio
import gc
import logging
import re
import sys
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import pytest

from assistant_events.adapters.gemini_interactions.client import GeminiInteractions, SyncGeminiInteractions
from assistant_events.cli import main
from assistant_events.cli.answer_printer import AnswerPrinter
from assistant_events.errors import LocalProtocolError, StoreError
from assistant_events.session import Session, SyncSession
from assistant_events.stores import MemoryStore, SqliteStore
from assistant_events.testing import mock_provider
from assistant_events.testing.virtual_loop import run
from tests.children import Child

from .answers import client, hello, received
from .provider import Plan, Provider
from .test_session import Failing

DOCS = Path(__file__).parents[2] / "docs"
BODY = {"model": "gemini-3.6-flash", "input": "Hi", "background": True, "store": True}
ANSWERS = {"Hi": {"text": "one two three four five six", "timing": {"delta_chars": 4}}}


@pytest.fixture
def provider():
    with mock_provider(ANSWERS) as running:
        yield running


@pytest.fixture(autouse=True)
def said(caplog):
    """What asyncio logs, on standard error without a logging configuration."""
    caplog.set_level(logging.WARNING, "asyncio")
    yield caplog
    gc.collect()
    # What the server notices of clients that leave is not theirs.
    records = [record for record in caplog.records if record.threadName != "mock-provider"]
    assert [] == [record.getMessage() for record in records if record.name == "asyncio"]


@pytest.mark.parametrize("page", ["long-runs", "survive-a-restart"])
def test_examples_of_the_pages(page, tmp_path):
    """
    The examples of a page, run as a program, write nothing to standard error.
    """
    code = "\n".join(re.findall(r"```python\n(.*?)```", (DOCS / "how-to" / f"{page}.md").read_text(), re.DOTALL))
    for recording in (DOCS / "recordings").iterdir():
        (tmp_path / recording.name).write_bytes(recording.read_bytes())
    with Child([sys.executable, "-c", code], cwd=tmp_path) as child:
        code, _, errors = child.ended()

    assert (0, "") == (code, errors)


@pytest.mark.parametrize("read", range(4))
def test_a_run_that_is_left_open(provider, read):
    """
    A client closes the connections of runs that were begun and not read to their end.
    """
    with SyncGeminiInteractions("key", base_url=provider.url) as made:
        kept = made.create(BODY, "m")
        for _ in range(read):
            next(kept)
        for _ in made.create(BODY, "n"):
            break  # this one is dropped

    assert not kept.terminal


def test_a_loop_that_ends_behind_a_break(provider):
    """
    So does one of an app with an event loop, also when the loop ends at once.
    """

    async def work():
        async with GeminiInteractions("key", base_url=provider.url) as client:
            kept = client.create(BODY, "m")
            await anext(kept)
            async for _ in client.create(BODY, "n"):
                break

    asyncio.run(work())


def test_a_receive_that_raises(provider):
    """
    A run whose answer could not be stored may be received again, until its client is closed.
    """
    store = Failing()
    store.fails_at = 2

    async def work():
        async with GeminiInteractions("key", base_url=provider.url) as client:
            session = await Session.open(store, "s")
            async with received(session, client.create(BODY, "m")) as events:
                async for _ in events:
                    pass

    with pytest.raises(StoreError, match="the disk is full"):
        asyncio.run(work())

    store.fails_at = 1
    with SyncGeminiInteractions("key", base_url=provider.url) as client:
        session = SyncSession.open(store, "t")
        with pytest.raises(StoreError, match="the disk is full"), received(session, client.create(BODY, "m")) as events:
            list(events)


def test_a_client_that_is_closed_while_another_thread_reads():
    """
    The reader is not left waiting: it gets the end of the message, or learns that the client is closed.
    """
    with mock_provider({"Hi": {**ANSWERS["Hi"], "faults": ["stall@5"]}}) as stalling:
        client = SyncGeminiInteractions("key", base_url=stalling.url)
        begun = Event()

        def read():
            with suppress(LocalProtocolError):
                for _ in client.create(BODY, "m"):
                    begun.set()

        reader = Thread(target=read, daemon=True)
        reader.start()
        assert begun.wait(60)
        client.close()
        reader.join(60)

    assert not reader.is_alive()


def test_nothing_goes_on_behind_a_closed_client():
    """
    When it is closed, the connections of all runs are, and nothing looks after a stream any more.
    """
    memory = Provider(*hello(), plans=[Plan(upto=4, how="stall")] * 2)

    async def work():
        made = client(memory)
        kept = made.create(BODY, "m")
        await anext(kept)
        await made.aclose()
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert set() == run(work())
    assert [True] == [body.closed for body in memory.bodies]


def test_a_run_that_was_dropped_is_closed_with_its_client():
    """
    So is the connection of a run without references.
    """
    memory = Provider(*hello(), plans=[Plan(upto=4, how="stall")] * 2)

    async def work():
        made = client(memory)
        async for _ in made.create(BODY, "m"):
            break
        await made.aclose()
        return [body.closed for body in memory.bodies]

    assert [True] == run(work())


def test_closing_twice_at_once(provider):
    """
    Several may close a run at the same time.
    """

    async def work():
        async with GeminiInteractions("key", base_url=provider.url) as client:
            run = client.create(BODY, "m")
            await anext(run)
            await asyncio.gather(run.aclose(), run.aclose(), client.aclose(), run.aclose())
            return [event async for event in run]

    assert [] == asyncio.run(work())


def test_a_run_that_loses_its_session(provider, tmp_path, monkeypatch, capsys):
    """
    A command whose session was deleted by another process ends with one line.
    """
    db = tmp_path / "a.db"
    show = AnswerPrinter.event

    def shown(printer, event):
        show(printer, event)
        if event.type == "text.delta" and event.offset == 0:
            with SqliteStore(db) as other:
                other.delete("main")

    monkeypatch.setattr(AnswerPrinter, "event", shown)
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    code = main(["run", "Hi", "--db", str(db), "--base-url", provider.url])

    assert 3 == code
    assert "Traceback" not in capsys.readouterr().err


def test_a_session_whose_run_was_never_read(provider):
    """
    What was never begun leaves nothing.
    """
    with SyncGeminiInteractions("key", base_url=provider.url) as client:
        session = SyncSession.open(MemoryStore(), "s")
        received(session, client.create(BODY, "m"))

    assert 0 == session.transcript.seq
