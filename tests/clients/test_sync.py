"""
The face for apps without an event loop.
"""

import asyncio
import os
import signal
import threading
from threading import Event, Thread

import pytest

from assistant_events.adapters.gemini_interactions.client import SyncGeminiInteractions
from assistant_events.clients import Clock
from assistant_events.errors import LocalProtocolError
from assistant_events.session import SyncSession
from assistant_events.stores import MemoryStore
from assistant_events.testing import answer, message
from tests.adapters.notation import mo

from .answers import BODY, HELLO, document, end_of, hello, received
from .provider import Plan, Provider

FAST = Clock(scale=0.001)
"""A second lasts a millisecond: these tests have threads, so their time cannot jump."""


class Silent(Provider):
    """
    Begins each answer, and never ends it.
    """

    def __init__(self):
        super().__init__()
        self.begun, self.ended = Event(), Event()

    async def answer(self, request):
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()


def sync_client(provider):
    return SyncGeminiInteractions("secret-key", http=provider.http, clock=FAST)


def test_a_run_is_iterated():
    """
    A run is an iterator of events, and is followed again like the asynchronous one.
    """
    provider = Provider(*hello(), plans=[Plan(upto=4)])

    with sync_client(provider) as client:
        run = client.create(BODY, "m")
        types = [event.type for event in run]

        assert ["text.ended", "step.ended"] == types[-2:]
        assert ["create", "replay"] == provider.asked
        assert ("Hello", True, "completed") == (run.message.text, run.terminal, end_of(run.report))
        assert "<SyncRunStream of 'm', run 'v1', finished>" == repr(run)


def test_read_gives_the_rest_of_a_batch():
    """
    What was not iterated over of a batch is read before the next one.
    """
    with sync_client(Provider(*hello(), plans=[Plan(piece=10_000)])) as client, client.create(BODY, "m") as run:
        first = next(run)
        rest = run.read()

        assert "step.started" == first.type
        assert "step.ended" == rest[-1].type
        with pytest.raises(StopIteration):
            run.read()


def test_received_by_a_session():
    """
    A session without an event loop takes it as it is, stores it, and closes its connection.
    """
    provider = Provider(*hello())
    session = SyncSession.open(MemoryStore(), "s")

    with sync_client(provider) as client, received(session, client.create(BODY, "m")) as events:
        types = [event.type for event in events]

    assert "step.ended" == types[-1]
    assert "Hello" == session.transcript["m"].text
    assert all(body.closed for body in provider.bodies)


def test_left_by_break():
    """
    A loop that is left closes the message, which can be resumed from the store.
    """
    provider = Provider(*hello(), plans=[Plan(upto=4, how="stall")], documents=[HELLO])
    session = SyncSession.open(MemoryStore(), "s")

    with sync_client(provider) as client:
        with received(session, client.create(BODY, "m")) as events:
            for event in events:
                if event.type == "text.delta":
                    break
        left = session.transcript["m"]
        with received(session, client.resume(left)) as events:
            resumed = [event.type for event in events]

    assert ("aborted", True) == (left.error.kind, left.run.resumable)
    assert ("step.restarted", "step.ended") == (resumed[0], resumed[-1])
    assert ("Hello", "completed") == (session.transcript["m"].text, session.transcript["m"].status)


def test_stop_from_another_thread():
    """
    One thread stops the run that another is waiting for.
    """
    provider = Provider(*hello(), plans=[Plan(upto=4, how="stall")], documents=[document(status="in_progress")])
    waiting = Event()
    types = []

    def read():
        for event in run:
            types.append(event.type)
            waiting.set()

    with sync_client(provider) as client:
        run = client.create(BODY, "m")
        reader = Thread(target=read)
        reader.start()
        waiting.wait()
        stopped = client.stop(run)
        reader.join()

    assert (True, True) == (stopped.cancelled, stopped.deleted)
    assert "step.failed" == types[-1]
    assert ["cancel", "delete"] == [word for word in provider.asked if word in ("cancel", "delete")]


def test_ctrl_c_while_waiting():
    """
    A key that is pressed while nothing comes ends the wait; the message is closed, and can be resumed.
    """
    provider = Provider(*hello(), plans=[Plan(upto=4, how="stall")], documents=[document(status="in_progress")])
    session = SyncSession.open(MemoryStore(), "s")

    def press():
        provider.stalled.wait()
        os.kill(os.getpid(), signal.SIGINT)

    with sync_client(provider) as client:
        presser = Thread(target=press)
        presser.start()
        with pytest.raises(KeyboardInterrupt), received(session, client.create(BODY, "m")) as events:
            list(events)
        presser.join()

    message = session.transcript["m"]
    assert ("failed", "aborted", True) == (message.status, message.error.kind, message.run.resumable)
    assert "stopped from the keyboard" == message.error.message
    assert all(body.closed for body in provider.bodies)


def test_ctrl_c_while_a_request_is_made():
    """
    The request is given up, and does not continue behind the app.
    """
    provider = Silent()

    def press():
        provider.begun.wait()
        os.kill(os.getpid(), signal.SIGINT)

    with SyncGeminiInteractions("secret-key", http=provider.http) as client:
        presser = Thread(target=press)
        presser.start()
        with pytest.raises(KeyboardInterrupt):
            client.status("v1")
        presser.join()

        assert provider.ended.wait(10)


@pytest.mark.parametrize("has_begun", [True, False])
def test_ctrl_c_before_the_wait_for_a_request(monkeypatch, has_begun):
    """
    So it is where the key is pressed before there is anything to wait for, whether the request has begun or not.
    """
    provider, gate = Silent(), Event()
    submit = asyncio.run_coroutine_threadsafe

    def interrupted(coroutine, loop):
        if not has_begun:
            loop.call_soon_threadsafe(gate.wait)
        submit(coroutine, loop)
        if has_begun:
            provider.begun.wait()
        raise KeyboardInterrupt

    with SyncGeminiInteractions("secret-key", http=provider.http) as client:
        with monkeypatch.context() as patched:
            patched.setattr(asyncio, "run_coroutine_threadsafe", interrupted)
            with pytest.raises(KeyboardInterrupt):
                client.status("v1")
        gate.set()
        assert has_begun is provider.ended.wait(10 if has_begun else 0)

    assert has_begun is provider.begun.is_set()


def test_recover_and_wait():
    """
    The document is fetched until the run has ended, as by the asynchronous client.
    """
    provider = Provider(*hello(), plans=[Plan(upto=4)], documents=[document(mo("Hel"), status="in_progress"), HELLO])

    with sync_client(provider) as client:
        run = client.create(BODY, "m")
        next(run)
        run.close()
        list(client.recover(run, wait=True))

    assert ["document"] * 2 == provider.asked[1:]


def test_an_answer_that_continues_another_one(monkeypatch):
    """
    The paused message is handed on to the asynchronous client.
    """
    seen = []
    with sync_client(Provider(*hello())) as client:
        create = client._client.create
        monkeypatch.setattr(
            client._client, "create", lambda *given, **more: seen.append(more) or create(*given, **more)
        )
        paused = message(answer("Hi", message_id="m1"))
        list(client.create(BODY, "m2", continues=paused))

    assert [{"prior": None, "continues": paused}] == seen


def test_status_and_recover():
    """
    A stored message can be asked for and recovered.
    """
    provider = Provider(*hello(), plans=[Plan(upto=4, status=500)], documents=[HELLO])

    with sync_client(provider) as client:
        run = client.create(BODY, "m")
        next(run)
        assert "completed" == client.status("v1").status

        provider.plans = [Plan(upto=4, how="stall")]
        cut = client.create(BODY, "n")
        while next(cut).type != "text.delta":
            pass
        closed = cut.close()
        recovered = [event.type for event in client.recover(cut)]

    assert "step.failed" == closed[-1].type
    assert ("step.restarted", "step.ended") == (recovered[0], recovered[-1])


def test_a_closed_client():
    """
    A client that was closed begins no run, and leaves no thread behind.
    """
    client = sync_client(Provider(*hello()))
    list(client.create(BODY, "m"))
    client.close()
    client.close()

    with pytest.raises(LocalProtocolError, match="the client is closed"):
        client.create(BODY, "n")
    assert not [thread for thread in threading.enumerate() if thread.name == "assistant-events-client"]


def test_a_client_that_was_never_used():
    """
    A client that did nothing has nothing to close; its repr names no key.
    """
    client = SyncGeminiInteractions("secret-key")
    client.close()

    expected = "SyncGeminiInteractions('https://generativelanguage.googleapis.com', api_version='v1beta')"
    assert expected == repr(client)
