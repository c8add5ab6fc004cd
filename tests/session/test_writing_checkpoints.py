"""
A session stores what streams from time to time, so that a killed process loses no more of it.
"""

import asyncio
import logging
import threading
from types import SimpleNamespace

import pytest

from assistant_events import CompactionDelta, CompactionStarted, TextDelta
from assistant_events.errors import FencedError, StoreError
from assistant_events.session import Session, SyncSession
from assistant_events.session import sync_session as face
from assistant_events.stores import MemoryStore, SqliteStore
from assistant_events.testing.virtual_loop import run

from .moves import until
from .scripted import Provider, Scripted, line


class Lasting(MemoryStore):
    """
    A memory store for which sessions write checkpoints, and that records them.
    """

    persistent = True

    def __init__(self):
        super().__init__()
        self.pieces = []
        self.failures = []
        self.sizes = []

    def checkpoint(self, session_id, deltas, **more):
        given = list(deltas)
        if self.failures:
            raise self.failures.pop(0)
        super().checkpoint(session_id, given, **more)
        self.pieces += given
        self.sizes.append(sum(len(piece.delta) for piece in given))

    @property
    def text(self):
        """The stored text of the fragment that is open."""
        return "".join([piece.delta for piece in self.load_checkpoints("s1")])


def stream(store, steps, *, kind=Session, name="a1", **options):
    """
    Receive an answer, with pauses: a step is a chunk, or seconds. Return what was stored before each pause ended.
    """
    seen = []

    async def chunks():
        for step in steps:
            if isinstance(step, bytes):
                yield step
            else:
                await asyncio.sleep(step)
                seen.append(store.text)

    async def receive():
        session = await kind.open(store, "s1", **options)
        async with session.decode(Scripted(name), chunks()) as events:
            async for _ in events:
                pass

    run(receive())
    return seen


def words(*texts, pause):
    """
    Return the steps of a text that comes word for word.
    """
    return [step for text in texts for step in (line(say=text), pause)]


def test_text_is_stored_while_it_streams():
    """
    Each half second what has come since is stored, once.
    """
    store = Lasting()
    seen = stream(store, [*words(*"abcdefgh", pause=0.2), line(stop="stop")])

    assert ["", "", "abc", "abc", "abc", "abcdef", "abcdef", "abcdef"] == seen
    assert ["abc", "def"] == [piece.delta for piece in store.pieces]
    assert [0, 3] == [piece.offset for piece in store.pieces]
    assert () == store.load_checkpoints("s1")


def test_a_silent_provider_is_not_waited_for():
    """
    What has come is stored although nothing follows it.
    """
    assert ["Hello"] == stream(Lasting(), [line(say="Hello"), 0.6, line(stop="stop")])


def test_each_character_is_stored_at_most_once():
    """
    Checkpoints have no more text than the answer, also of several fragments that end and begin in one chunk.
    """
    store = Lasting()
    chunk = line(say="one ") + line(think="oh ") + line(say="two ")  # each ends the one before it
    turn = [line(think="hm "), 0.3, chunk, 0.3, line(say="three"), 0.9]
    call = {"id": "c1", "name": "f"}
    calls = [line(write={**call, "delta": '{"a"'}), 0.7, line(write={**call, "delta": ": 1}"}), 0.7]
    seen = stream(store, [*turn, *calls, line(draw="PNG"), 0.7, line(stop="tool-calls")])

    assert ["", "two ", "two three", '{"a"', '{"a": 1}'] == seen[:5]
    assert {"two ", "three", '{"a"', ": 1}", b"PNG"} == {piece.delta for piece in store.pieces}
    assert 5 == len(store.pieces)


def test_what_has_ended_is_not_stored():
    """
    An answer that takes less than half a second causes no checkpoint.
    """
    store = Lasting()
    stream(store, [*words("a", "b", pause=0.2), line(stop="stop")])

    assert [] == store.pieces


def test_a_restart_begins_anew():
    """
    After a restart the new text is stored from its beginning.
    """
    store = Lasting()

    async def chunks():
        yield line(say="old text")
        await asyncio.sleep(0.6)
        yield line(restart="again") + line(say="new")
        await asyncio.sleep(0.6)
        seen.append(store.text)
        yield line(stop="stop")

    class Restarting(Scripted):
        def on_restart(self, reason):
            self.recorder.restart(reason)

    async def receive():
        session = await Session.open(store, "s1")
        async with session.decode(Restarting("a1"), chunks()) as events:
            async for _ in events:
                pass

    seen = []
    run(receive())

    assert ["new"] == seen


@pytest.mark.parametrize(
    ("store", "options"),
    [(Lasting(), {"checkpoint_s": None}), (MemoryStore(), {}), (SqliteStore(":memory:"), {})],
    ids=["switched off", "memory", "sqlite in memory"],
)
def test_nothing_is_stored_in_vain(store, options):
    """
    No checkpoints are written where they are switched off, and to stores that end with the process.
    """
    stored = []
    with store:
        store.checkpoint = lambda *_args, **_more: stored.append("checkpoint")
        stream_only(store, options)

    assert [] == stored


def stream_only(store, options):
    async def chunks():
        yield line(say="Hello")
        await asyncio.sleep(2)
        yield line(stop="stop")

    async def receive():
        session = await Session.open(store, "s1", **options)
        async with session.decode(Scripted("a1"), chunks()) as events:
            async for _ in events:
                pass

    run(receive())


def test_the_interval_can_be_chosen():
    """
    `checkpoint_s` is the time between checkpoints; it cannot be negative.
    """
    assert ["", "ab"] == stream(Lasting(), [*words("a", "b", pause=1.5), line(stop="stop")], checkpoint_s=2)
    with pytest.raises(ValueError, match="checkpoint_s: expected 0 or more seconds, got -1"):
        SyncSession.open(Lasting(), "s1", checkpoint_s=-1)


def test_a_checkpoint_that_fails_is_written_with_the_next(caplog):
    """
    A failure is logged; the answer continues, and the next checkpoint has the text of both.
    """
    store = Lasting()
    store.failures = [StoreError("the disk is full")]
    with caplog.at_level(logging.WARNING):
        seen = stream(store, [*words("a", "b", pause=0.7), line(stop="stop")])

    assert ["", "ab"] == seen
    assert "session 's1': no checkpoint after seq 2: the disk is full" in caplog.text


def test_a_store_that_takes_no_checkpoints_is_logged_once(caplog):
    """
    Of failures in a row the first one is logged, and the first one after a checkpoint that was stored.
    """
    store, full = Lasting(), StoreError("the disk is full")
    store.failures = [full, full, full]
    with caplog.at_level(logging.WARNING):
        seen = stream(store, [*words("a", "b", "c", "d", pause=0.6), line(stop="stop")])
        store.failures = [full]
        stream(store, [*words("e", pause=0.6), line(stop="stop")], name="a2")

    assert ["", "", "", "abcd"] == seen
    assert ["session 's1': no checkpoint after seq 2", "session 's1': no checkpoint after seq 6"] == [
        record.getMessage().partition(": the disk")[0] for record in caplog.records
    ]


@pytest.mark.parametrize("kind", [Lasting, MemoryStore])
def test_a_session_of_a_loop_that_has_ended(kind):
    """
    What waited in an event loop that has ended, as `asyncio.run` leaves it, does not keep the next one from anything.
    """
    store, published = kind(), []
    live = SimpleNamespace(publish=lambda _name, items, **_: published.extend(items))

    async def receive(session, name):
        async def chunks():
            for step in (*words("a", "b", pause=0.7), line(stop="stop")):
                if isinstance(step, bytes):
                    yield step
                else:
                    await asyncio.sleep(step)

        session = session or await Session.open(store, "s1", live=live)
        await asyncio.gather(session.refresh(), session.refresh())
        async with session.decode(Scripted(name), chunks()) as events:
            async for _ in events:
                pass
        return session

    session = run(receive(None, "a1"))
    run(receive(session, "a2"))

    assert ["a", "b"] * 2 == [piece.delta for piece in getattr(store, "pieces", [])] or kind is MemoryStore
    assert {("a1", "a"), ("a1", "b"), ("a2", "a"), ("a2", "b")} == {
        (each.message_id, each.delta) for each in published if isinstance(each, TextDelta)
    }


def test_a_slow_checkpoint_is_followed_by_what_was_asked_for():
    """
    While a checkpoint is written no other one begins to wait, in front of a prompt.
    """
    store, order, go = Lasting(), [], threading.Event()

    def checkpoint(*_given, **_more):
        order.append("checkpoint")
        assert go.wait(60)

    async def chunks(behind):
        since = 0  # the checkpoint
        while True:
            yield line(say="a")
            await asyncio.sleep(0.001)
            since += bool(order)
            if since == 20:
                behind.set()

    async def receive(session, behind):
        async with session.decode(Scripted("a1"), chunks(behind)) as events:
            async for _ in events:
                pass

    def append(session_id, events, **more):
        order.extend([event.type for event in events if event.type == "prompt.submitted"])
        return Lasting.append(store, session_id, events, **more)

    async def work():
        session, behind = await Session.open(store, "s1", checkpoint_s=0), asyncio.Event()
        receiving = asyncio.create_task(receive(session, behind))
        await behind.wait()
        prompting = asyncio.create_task(session.prompt("Hello"))
        for _ in range(5):  # it waits for the session then
            await asyncio.sleep(0)
        go.set()
        await prompting
        receiving.cancel()
        await asyncio.wait((receiving,))

    store.checkpoint, store.append = checkpoint, append
    asyncio.run(work())

    assert ["checkpoint", "prompt.submitted"] == order[:2]


@pytest.mark.parametrize("written_s", [0, 0.05])
def test_text_that_comes_while_a_checkpoint_is_written(written_s):
    """
    The next checkpoint has it, also where one is due before the last one is written, and no text comes after.
    """
    store, loops, begun, go = Lasting(), [], asyncio.Event(), threading.Event()

    def checkpoint(*given, **more):
        loops[0].call_soon_threadsafe(begun.set)
        assert go.wait(60)
        Lasting.checkpoint(store, *given, **more)

    async def chunks():
        yield line(say="a")
        loops.append(asyncio.get_running_loop())
        await begun.wait()
        yield line(say="b")
        await asyncio.sleep(written_s)
        go.set()
        await until(lambda: "ab" == store.text)
        yield line(stop="stop")

    async def receive():
        session = await Session.open(store, "s1", checkpoint_s=0.01)
        async with session.decode(Scripted("a1"), chunks()) as events:
            async for _ in events:
                pass

    store.checkpoint = checkpoint
    asyncio.run(receive())

    assert [(0, "a"), (1, "b")] == [(piece.offset, piece.delta) for piece in store.pieces]


def test_a_worker_that_was_replaced_stores_no_text():
    """
    The checkpoints of a session whose claim was taken over are refused.
    """
    store = Lasting()

    async def receive():
        session = await Session.open(store, "s1", worker="old")
        await session.prompt("Hello")
        async with session.respond(client, {}) as events:
            async for _ in events:
                pass

    async def chunks():
        yield line(say="Hello")
        store.claim("s1", "new", dead_after_s=0)
        await asyncio.sleep(2)
        yield line(stop="stop")

    client = Provider([])
    client.create = lambda *_args, **_more: chunks()
    with pytest.raises(FencedError):
        run(receive())

    assert [] == store.pieces


def test_an_opened_session_stores_only_what_is_new():
    """
    What the checkpoints have is not stored again by the session that continues the answer.
    """
    store = Lasting()
    stream_cut(store)
    before = list(store.pieces)

    async def chunks():
        yield line(say="Hello")
        yield line(say=" Oslo")
        await asyncio.sleep(0.6)
        yield line(stop="stop")

    async def resume():
        session = await Session.open(store, "s1")
        async with session.decode(Scripted("a1", prior=session.transcript), chunks()) as events:
            async for _ in events:
                pass

    run(resume())

    assert ["Hello"] == [piece.delta for piece in before]
    assert [("Hello", 0), (" Oslo", 5)] == [(piece.delta, piece.offset) for piece in store.pieces]


def stream_cut(store):
    """
    Leave an open text, as a killed process does.
    """

    async def receive():
        session = await Session.open(store, "s1")
        stream = session.decode(Scripted("a1"), chunks())
        await stream.__aenter__()
        for _ in range(3):
            await anext(stream)
        await asyncio.sleep(0.6)

    async def chunks():
        yield line(say="Hello")
        await asyncio.sleep(10**6)

    run(receive())


def test_a_session_without_a_loop_stores_text_too(monkeypatch):
    """
    `SyncSession` looks at the clock when something comes.
    """
    now = [0.0]
    monkeypatch.setattr(face, "monotonic", lambda: now[0])
    store = Lasting()
    session = SyncSession.open(store, "s1")
    seen = []
    with session.decode(Scripted("a1"), [*[line(say=word) for word in "abcdefgh"], line(stop="stop")]) as events:
        for event in events:
            if not event.durable:
                seen.append(store.text)
                now[0] += 0.2

    assert ["", "", "", "abcd", "abcd", "abcd", "abcd", "abcdefgh"] == seen
    assert () == store.load_checkpoints("s1")
    assert [4, 4] == store.sizes


def test_the_text_of_a_compaction_is_stored_too():
    """
    What the app has shown of its summary is in the checkpoints that an answer causes.
    """
    store = Lasting()

    async def main():
        session = await Session.open(store, "s1")
        await session.append(CompactionStarted(message_id="c1", reason="auto"))
        await session.show(CompactionDelta(message_id="c1", offset=0, delta="so far"))

        async def chunks():
            yield line(say="Hello")
            await asyncio.sleep(0.6)

        async with session.decode(Scripted("a1"), chunks()) as events:
            async for _ in events:
                pass
        return (await Session.open(store, "s1")).transcript

    assert "so far" == run(main())["c1"].text
