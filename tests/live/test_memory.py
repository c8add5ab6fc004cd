"""
What `MemoryLive` does beside the promises of every channel.
"""

import asyncio
import gc
import json
import logging
import threading
import time
import weakref
from contextlib import aclosing

import attrs
import pytest

from assistant_events.adapters import gemini_generate_content
from assistant_events.errors import LocalProtocolError, PrunedError, StoreError
from assistant_events.events import (
    CompactionDelta,
    CompactionStarted,
    Frame,
    HistoryRewound,
    Record,
    StepEnded,
    StepRestarted,
    StepStarted,
    TextDelta,
    TextEnded,
    TextStarted,
    ToolCalled,
    ToolInputDelta,
    ToolInputStarted,
    ToolProgress,
    ToolSuccess,
)
from assistant_events.live import Live, MemoryLive
from assistant_events.live.fragments import OpenFragments
from assistant_events.live.topic import Topic
from assistant_events.reducer import fold
from assistant_events.session import Session, SyncSession
from assistant_events.stores import AsyncStore, MemoryStore, SqliteStore
from assistant_events.testing import Call, answer, durable, error, origin, prompt, records
from assistant_events.testing.live import Publisher, Watcher
from assistant_events.testing.virtual_loop import run
from tests.each import check_each
from tests.session.scripted import CALL, Provider, Scripted, line


def test_it_is_a_channel():
    """
    `MemoryLive` has the methods of the contract.
    """
    assert isinstance(MemoryLive(MemoryStore()), Live)


def test_without_its_block_nothing_is_live():
    """
    Outside of the block subscribing raises, and what is published is dropped.
    """
    live = MemoryLive(MemoryStore())
    live.publish("s", [], after=0)

    async def subscribe():
        await anext(live.subscribe("s"))

    with pytest.raises(LocalProtocolError, match="open the channel first: `async with MemoryLive"):
        run(subscribe())
    assert {} == live._topics


def test_a_channel_has_one_block_at_a_time():
    """
    It cannot be opened twice, and can be opened again.
    """

    async def work():
        live = MemoryLive(MemoryStore())
        async with live:
            with pytest.raises(LocalProtocolError, match="the channel is open already"):
                await live.__aenter__()
        async with live:
            pass

    run(work())


def test_the_end_of_the_block_ends_subscriptions():
    """
    Subscribers that wait are ended, without an exception.
    """

    async def work():
        store = MemoryStore()
        store.append("s", [prompt()])
        live = MemoryLive(store)

        async def watch():
            return [item.seq async for item in live.subscribe("s")]

        async with live:
            watching = asyncio.create_task(watch())
            await asyncio.sleep(1)
        return await watching

    assert [1] == run(work())


def test_nothing_is_left_of_a_session_that_ended():
    """
    The channel forgets a session without subscribers in which nothing is open.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store) as live:
            publisher = Publisher(live, store)
            publisher.begin()
            publisher.say("Hello")
            async with Watcher(live) as watcher:
                await watcher.until(lambda: watcher.text == "Hello", "the text")
            known = list(live._topics)
            publisher.append(TextEnded(message_id="a1", text="Hello"))
            after_end = list(live._topics)
            async with Watcher(live, session_id="unknown"):
                await asyncio.sleep(1)
            return known, after_end, list(live._topics)

    assert (["s"], [], []) == run(work())


def test_subscribers_are_given_the_same_objects():
    """
    All subscribers receive the same objects, so that each is encoded once.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store) as live:
            publisher = Publisher(live, store)
            publisher.begin()
            async with Watcher(live) as one, Watcher(live) as two:
                await one.up_to(publisher)
                await two.up_to(publisher)
                publisher.say("Hello")
                publisher.append(prompt(message_id="u2"))
                for each in (one, two):
                    await each.until(lambda: each.transcript.seq == publisher.seq, "the prompt")  # noqa: B023
                return [mine is theirs for mine, theirs in zip(one.items[-2:], two.items[-2:], strict=True)]

    assert [True, True] == run(work())


@pytest.mark.parametrize("kind", [Session, SyncSession])
def test_the_deltas_of_a_batch_are_joined(kind):
    """
    What has streamed of a fragment is one delta, before the record that ends it; what is open follows the records.

    Sessions without a loop publish deltas as they come, and what comes with the end of their fragment is a delta more.
    Deltas of two calls that seem to continue each other are two.
    """
    one, two = [{"id": name, "name": "weather"} for name in ("c1", "c2")]
    chunks = [
        line(say="a"),
        line(say="b") + line(said={}) + line(say="c"),
        line(write={**one, "delta": "{"}) + line(write={**two, "delta": "{ "}),
        line(write={**one, "delta": "}"}) + line(write={**two, "delta": "}"}) + line(think="d"),
        line(stop="tool-calls"),
    ]

    def texts(item):
        if isinstance(item, Record):
            return item.event.type
        return [(getattr(event, "call_id", ""), event.offset, event.delta) for event in item.events]

    async def given():
        for chunk in chunks:
            yield chunk
            await asyncio.sleep(0 if chunk is chunks[0] else 0.1)  # a flush comes in between

    async def work():
        store = MemoryStore()
        async with MemoryLive(store) as live, Watcher(live) as watcher:
            store.append("s", [prompt()])
            await watcher.until(lambda: watcher.transcript.seq == 1, "the prompt")
            if kind is Session:
                session = await Session.open(store, "s", live=live)
                async with session.decode(Scripted("a1"), given()) as events:
                    async for _ in events:
                        pass
            else:
                session = SyncSession.open(store, "s", live=live)
                with session.decode(Scripted("a1"), chunks) as events:
                    for _ in events:
                        pass
            await watcher.until(lambda: watcher.transcript == session.transcript, "the answer")
            return [texts(item) for item in watcher.items], fold(store.read("s")) == session.transcript

    items, is_whole = run(work())

    assert is_whole
    assert items == [
        "prompt.submitted",
        "step.started",
        "text.started",
        *([[("", 0, "ab")]] if kind is Session else [[("", 0, "a")], [("", 1, "b")]]),
        "text.ended",
        "text.started",
        [("", 0, "c")],
        "text.ended",
        "tool.input.started",
        "tool.input.started",
        [("c1", 0, "{"), ("c2", 0, "{ ")],
        "reasoning.started",
        [("c1", 1, "}"), ("c2", 2, "}"), ("", 0, "d")],
        "tool.input.ended",
        "tool.called",
        "tool.input.ended",
        "tool.called",
        "reasoning.ended",
        "step.ended",
    ]


def test_an_image_that_came_whole_is_published_once():
    """
    An image that the provider sends in one piece reaches a subscriber as the record of its end alone.
    """
    image = {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}
    body = json.dumps({"candidates": [{"content": {"parts": [image]}, "finishReason": "STOP"}]}).encode()

    async def given():
        yield b"data: " + body + b"\n\n"

    async def work():
        store = MemoryStore()
        async with MemoryLive(store) as live, Watcher(live) as watcher:
            session = await Session.open(store, "s", live=live)
            await session.prompt("Hello")
            await watcher.until(lambda: watcher.transcript == session.transcript, "the prompt")
            async with session.decode(gemini_generate_content.dialect.decoder("a1"), given()) as events:
                async for _ in events:
                    pass
            await watcher.until(lambda: watcher.transcript == session.transcript, "the answer")
            return [item.event.type if isinstance(item, Record) else item for item in watcher.items]

    assert ["prompt.submitted", "step.started", "media.started", "media.ended", "step.ended"] == run(work())


def test_a_session_publishes_what_it_stores_and_what_streams():
    """
    Prompts, answers, results and progress of calls reach a subscriber in the order of the transcript.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store) as live:
            session = await Session.open(store, "s", live=live)
            async with Watcher(live) as watcher:
                await session.prompt("Hello")
                client = Provider([line(say="Hel"), line(say="lo") + line(call=CALL), line(stop="tool-calls")])
                async with session.respond(client, {}) as events:
                    async for _ in events:
                        await asyncio.sleep(0.1)
                [call] = session.transcript.pending_tool_calls
                await session.show(call.progress("half"))
                await watcher.until(lambda: watcher.transcript == session.transcript, "the progress")
                await session.append(call.succeed("rain"))
                await watcher.until(lambda: watcher.transcript == session.transcript, "the result")
                return [type(item) for item in watcher.items].count(Frame)

    assert 3 == run(work())


def test_a_cancelled_answer_is_published_to_its_end():
    """
    What a session writes by itself after a cancellation reaches its subscribers.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store) as live:
            session = await Session.open(store, "s", live=live)

            async def forever(*_):
                yield line(say="Hel")
                await asyncio.sleep(10**6)

            async def receive():
                async with session.respond(client, {}, message_id="a1") as events:
                    async for _ in events:
                        pass

            client = Provider([])
            client.create = lambda *_args, **_more: forever()
            await session.prompt("Hello")
            async with Watcher(live) as watcher:
                receiving = asyncio.create_task(receive())
                await watcher.until(lambda: watcher.text == "Hel", "the text")
                receiving.cancel()
                await watcher.until(lambda: watcher.transcript.answer("a1").error is not None, "the end")
                return watcher.transcript == session.transcript, watcher.transcript.answer("a1").error.kind.value

    assert (True, "aborted") == run(work())


def test_sessions_without_a_loop_publish_too():
    """
    A `SyncSession` in a thread reaches the subscribers in the loop of the channel.
    """

    def answer(store, live):
        session = SyncSession.open(store, "s", live=live)
        session.prompt("Hello")
        with session.respond(Provider([line(say="Hel"), line(say="lo"), line(stop="stop")]), {}) as events:
            list(events)
        return session.transcript

    async def work():
        store = MemoryStore()
        async with MemoryLive(store, poll_s=None) as live, Watcher(live) as watcher:
            transcript = await asyncio.to_thread(answer, store, live)
            await watcher.until(lambda: watcher.transcript == transcript, "the answer of another thread")

    run(work())


def test_two_processes_on_one_file(tmp_path):
    """
    A subscriber of another process has the text of a running answer from the checkpoints of the session.
    """

    async def work():
        with SqliteStore(tmp_path / "chat.db") as ours, SqliteStore(tmp_path / "chat.db") as theirs:
            async with MemoryLive(AsyncStore(ours)) as near, MemoryLive(AsyncStore(theirs)) as far:
                session = await Session.open(ours, "s", live=near)
                go_on = asyncio.Event()

                async def chunks():
                    yield line(say="Hel")
                    yield line(say="lo")
                    await go_on.wait()
                    yield line(say=", Oslo")
                    yield line(stop="stop")

                async def receive():
                    async with session.respond(client, {}) as events:
                        async for _ in events:
                            pass

                client = Provider([])
                client.create = lambda *_args, **_more: chunks()
                async with Watcher(far) as watcher:
                    await session.prompt("Hi")
                    receiving = asyncio.create_task(receive())
                    await watcher.until(lambda: watcher.text == "Hello", "the checkpoint of another process")
                    go_on.set()
                    await receiving
                    await watcher.until(lambda: watcher.transcript == session.transcript, "the end")

    run(work())


def test_an_answer_that_another_process_ends():
    """
    The channel forgets a session without subscribers whose open answer another process ends.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store) as live:
            publisher = Publisher(live, store)
            publisher.begin()
            publisher.say("Hello")
            known = list(live._topics)
            store.append("s", [TextEnded(message_id="a1", text="Hello")])
            await asyncio.sleep(2)
            return known, list(live._topics)

    assert (["s"], []) == run(work())


@pytest.mark.parametrize("failure", [StoreError("the disk is full"), RuntimeError("the disk is full")])
def test_a_store_that_fails_is_read_again(caplog, failure):
    """
    A failure of the look at the store is logged once; the first look that succeeds finds what is new.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store) as live, Watcher(live) as watcher:
            await asyncio.sleep(1)
            seq, store.seq = store.seq, broken
            store.append("s", [prompt()])
            await asyncio.sleep(2)
            store.seq = seq
            await watcher.until(lambda: watcher.transcript.seq == 1, "the record")

    def broken(_session_id):
        raise failure

    with caplog.at_level(logging.WARNING):
        run(work())
    assert 1 == caplog.text.count("the store could not be read, and is tried again")
    assert "the disk is full" in caplog.text


def test_a_left_subscription_is_freed():
    """
    The items of a subscription that was closed are not kept by the channel.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store, poll_s=None) as live:
            publisher = Publisher(live, store)
            publisher.begin()
            publisher.say("Hello")
            async with aclosing(live.subscribe("s")) as source:
                async for item in source:
                    if isinstance(item, Frame):
                        break
            kept = weakref.ref(item)
            del item, source
            gc.collect()
            return kept() is None, live._topics["s"].items

    assert (True, []) == run(work())


@pytest.mark.parametrize("is_published", [True, False], ids=["published", "in its end alone"])
def test_a_text_longer_than_a_frame_is_cut(is_published):
    """
    A frame has at most 64 Ki characters.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store) as live, Watcher(live) as watcher:
            publisher = Publisher(live, store)
            publisher.begin()
            await watcher.up_to(publisher)
            if is_published:
                publisher.say("x" * 150_000)
            publisher.append(TextEnded(message_id="a1", text="x" * 150_000))
            await watcher.up_to(publisher)
            return [(frame.after, [len(event.delta) for event in frame.events]) for frame in watcher.frames]

    assert [(3, [65_536]), (3, [65_536]), (3, [18_928])] == run(work())


def test_an_open_text_longer_than_a_frame_is_not_cut():
    """
    To one who is late an open text is one delta.
    """

    async def work():
        store = MemoryStore()
        store.append("s", [prompt(), StepStarted(message_id="a1", origin=origin()), TextStarted(message_id="a1")])
        async with MemoryLive(store) as live, Watcher(live) as watcher:
            await watcher.until(lambda: watcher.transcript.seq == 3, "the log")
            publisher = Publisher(live, store)
            publisher.say("x" * 150_000)
            await watcher.until(lambda: len(watcher.text) == 150_000, "the text")
            async with Watcher(live) as late:
                await late.until(lambda: len(late.text) == 150_000, "the text")
                frames = [[event for frame in each.frames for event in frame.events] for each in (watcher, late)]
            publisher.append(TextEnded(message_id="a1", text="x"), StepEnded(message_id="a1", finish_reason="stop"))
            return [[len(event.delta) for event in events] for events in frames]

    assert [[65_536, 65_536, 18_928], [150_000]] == run(work())


def test_one_who_falls_behind_within_a_long_text():
    """
    A subscriber that has read some frames of a text, and lost the others, is given what it lacks, once.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store, poll_s=None) as live:
            publisher = Publisher(live, store)
            publisher.begin()
            source = live.subscribe("s", after=publisher.seq)
            first = asyncio.create_task(anext(source))
            await asyncio.sleep(1)
            for _ in range(62):
                publisher.say("w")
                live._topics["s"].flush()
            publisher.say("x" * 150_000)  # three frames, of which it takes two with those before them
            live._topics["s"].flush()
            frames = [await first]
            publisher.say("y" * 64 * 65_536)
            live._topics["s"].flush()
            async with asyncio.timeout(60):
                frames += [await anext(source) for _ in range(64)]
            await source.aclose()
            return [event.delta for frame in frames for event in frame.events]

    given = run(work())

    assert "w" * 62 + "x" * 150_000 + "y" * 64 * 65_536 == "".join(given)
    assert [1] * 62 + [65_536, 65_536, 18_928 + 64 * 65_536] == [len(piece) for piece in given]


@pytest.mark.parametrize("is_ended", [False, True], ids=["open", "ended"])
@pytest.mark.parametrize(("items", "size"), [(10_000, 1), (64, 64 * 1024)], ids=["many items", "much text"])
def test_what_a_session_keeps_for_slow_subscribers_is_bounded(items, size, is_ended):
    """
    A channel keeps at most 512 items of a session, and 256 KiB of their text, if its subscribers read nothing.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store, poll_s=None) as live:
            publisher = Publisher(live, store)
            publisher.begin()
            waits = asyncio.create_task(anext(live.subscribe("s", after=publisher.seq)))
            await asyncio.sleep(1)
            topic = live._topics["s"]
            kept = []
            ends = [TextEnded(message_id="a1", text="x" * size), TextStarted(message_id="a1")]
            together = 100 if is_ended and size == 1 else 1
            for _ in range(items // together):
                if is_ended:
                    publisher.append(*ends * together)
                else:
                    publisher.say("x" * size)
                    topic.flush()
                frames = [item for item in topic.items if isinstance(item, Frame)]
                kept.append((len(topic.items), sum(len(event.delta) for item in frames for event in item.events)))
            waits.cancel()
            return kept

    kept = run(work())

    assert max(count for count, _ in kept) <= 512
    assert max(length for _, length in kept) <= 256 * 1024
    assert min(kept[-1]) > 1


def test_what_is_published_is_not_changed():
    """
    The caller's list and its events stay as they were.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store) as live:
            publisher = Publisher(live, store)
            publisher.begin()
            items = [TextDelta(message_id="a1", offset=0, delta="a"), TextDelta(message_id="a1", offset=1, delta="b")]
            live.publish("s", items, after=publisher.seq)
            live.publish("s", [TextDelta(message_id="a1", offset=2, delta="c")], after=publisher.seq)
            publisher.append(prompt(message_id="u2"))
            return [item.delta for item in items], [isinstance(item, Record) for item in items]

    assert (["a", "b"], [False, False]) == run(work())


def test_a_log_that_begins_anew_while_it_is_read():
    """
    A subscriber that reads a long log page by page is given nothing of another one that takes its place meanwhile.
    """
    store, got = MemoryStore(), []

    async def read(items):
        while len(got) < 400:
            got.append(await anext(items))

    async def work():
        store.append("s", [prompt(message_id=f"u{number}") for number in range(300)])
        async with MemoryLive(store, poll_s=None) as live, aclosing(live.subscribe("s")) as items:
            got.append(await anext(items))
            store.delete("s")
            store.append("s", [prompt(message_id=f"v{number}") for number in range(400)])
            with pytest.raises(StoreError, match="its log is not the one that ended at 300: deleted, or restored"):
                await read(items)

    run(work())

    assert {"u"} == {record.event.message_id[0] for record in got}


def test_a_log_that_is_deleted_before_its_first_records_are_read(caplog):
    """
    It ends the subscriptions of those who came before its first record, and the look at it. They raise the failure,
    which is not logged.
    """

    class Short(MemoryStore):
        never_waits = False

        def read(self, session_id, after=0, *, limit=None):
            self.delete(session_id)
            return super().read(session_id, after, limit=limit)

    async def work():
        store = Short()
        async with MemoryLive(store, poll_s=None) as live, aclosing(live.subscribe("s")) as items:
            given = asyncio.create_task(anext(items))
            await asyncio.sleep(0.1)
            store.append("s", [prompt()])
            await asyncio.wait_for(live.refresh("s"), 5)
            with pytest.raises(StoreError, match="its log is not the one that ended at 0: deleted, or restored"):
                await given

    asyncio.run(work())

    assert "" == caplog.text


def test_the_store_may_be_closed_after_the_block():
    """
    The end of the block waits for what the channel still reads in a thread.
    """
    reads, begins = [], threading.Event()

    class Slow(MemoryStore):
        never_waits = False

        def seqs(self, session_ids):
            reads.append("begins" if threading.current_thread() is not threading.main_thread() else "in the loop")
            begins.set()
            time.sleep(0.2)
            reads.append("ends")
            return super().seqs(session_ids)

    async def work():
        store = Slow()
        store.append("s", [prompt()])
        async with MemoryLive(store, poll_s=0.01) as live:
            items = live.subscribe("s")
            await anext(items)
            await asyncio.to_thread(begins.wait, 60)
            await items.aclose()
        return list(reads)

    assert ["begins", "ends"] == asyncio.run(work())


def test_a_record_of_another_log_at_the_end_of_this_one():
    """
    A session that was deleted and begun anew shortly before ends the subscriptions, though its length is the same.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store, poll_s=None) as live, Watcher(live) as watcher:
            publisher = Publisher(live, store)
            publisher.append(prompt())
            publisher.append(prompt(message_id="u2"))
            await watcher.up_to(publisher)
            store.delete("s")
            live.publish("s", store.append("s", [prompt(message_id="v1"), prompt(message_id="v2")]), after=0)
            with pytest.raises(StoreError, match="its log is not the one that ended at 2"):
                await watcher.until(lambda: False, "the failure")
            return [item.event.message_id for item in watcher.items]

    assert ["u1", "u2"] == run(work())


def test_a_log_that_begins_anew_while_a_text_is_open():
    """
    What was open of the old one is gone with it: the new one is watched.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store, poll_s=None) as live:
            async with Watcher(live) as watcher:
                publisher = Publisher(live, store)
                publisher.begin()
                publisher.say("Hel")
                await watcher.until(lambda: watcher.text == "Hel", "the open text")
                store.delete("s")
                store.append("s", [prompt(message_id="v1")])
                await live.refresh("s")
                with pytest.raises(StoreError, match="its log is not the one that ended at 3"):
                    await watcher.until(lambda: False, "the failure")
            async with Watcher(live) as late:
                await late.until(lambda: late.items, "the new log")
                return [item.event.message_id for item in late.items]

    assert ["v1"] == run(work())


def test_a_record_that_comes_while_a_subscriber_is_cancelled():
    """
    It is published for the others.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store, poll_s=None) as live, Watcher(live) as watcher:
            publisher, source = Publisher(live, store), live.subscribe("s")
            for name in ("u1", "u2"):  # the second is published at once
                publisher.append(prompt(message_id=name))
                await anext(source)
            leaving = asyncio.create_task(anext(source))
            await asyncio.sleep(1)
            leaving.cancel()
            publisher.append(prompt(message_id="u3"))
            await watcher.up_to(publisher)
            await asyncio.wait((leaving,))
            return leaving.cancelled()

    assert run(work())


def test_what_an_old_owner_had_open_is_dropped():
    """
    The next one publishes what is open from its start; what the old one had beyond that, or has still, is not stored.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store, poll_s=None) as live, Watcher(live, repeats=True) as watcher:
            old = Publisher(live, store, token=store.claim("s", "old").token)
            old.begin()
            old.say("Hello wor")
            await watcher.until(lambda: watcher.text == "Hello wor", "the text of the old owner")
            new = Publisher(live, store, token=store.claim("s", "new", dead_after_s=0).token)
            new.say("Hello", " Oslo")
            old.say("ld, it is me")
            async with Watcher(live) as late:
                await late.until(lambda: bool(late.text), "the text of the new owner")
                await asyncio.sleep(1)
                return late.text

    assert "Hello Oslo" == run(work())


def test_who_has_no_token_is_not_an_old_owner():
    """
    Prompts come from sessions that run no step.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store, poll_s=None) as live, Watcher(live) as watcher:
            owner = Publisher(live, store, token=store.claim("s", "w1").token)
            owner.begin()
            await watcher.up_to(owner)
            other = Publisher(live, store)
            other.append(prompt(message_id="u2"))
            await watcher.up_to(other)

    run(work())


def test_what_waits_for_a_flush_comes_first():
    """
    Deltas that are published with a record follow those that were published before them.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store, poll_s=None) as live, Watcher(live) as watcher:
            publisher = Publisher(live, store)
            publisher.begin()
            await watcher.up_to(publisher)
            publisher.say("a")
            after = publisher.seq
            delta = TextDelta(message_id="a1", offset=1, delta="b")
            live.publish("s", [delta, *store.append("s", [prompt(message_id="u2")])], after=after)
            await watcher.until(lambda: watcher.transcript.seq == publisher.seq, "the prompt")
            return watcher.transcript["a1"].text

    assert "ab" == run(work())


@pytest.mark.parametrize("frames", [[[2_048, 1]], [[65_000, 536], [1]]], ids=["one frame", "more than a frame"])
def test_much_text_does_not_wait_for_a_flush(frames):
    """
    2 Ki characters are given at once, also where they are of several calls, and in as few frames as they need.
    """

    async def work():
        store, pieces = MemoryStore(), [(f"c{size}", "x" * size) for frame in frames for size in frame]
        async with MemoryLive(store, flush_s=3600, poll_s=None) as live, Watcher(live) as watcher:
            publisher = Publisher(live, store)
            started = [ToolInputStarted(message_id="a1", call_id=name, name="look") for name, _ in pieces]
            publisher.append(StepStarted(message_id="a1", origin=origin()), *started)
            await watcher.up_to(publisher)
            publisher.show(
                *[ToolInputDelta(message_id="a1", call_id=name, offset=0, delta=text) for name, text in pieces]
            )
            await watcher.until(lambda: watcher.frames, "the inputs")
            return [[len(event.delta) for event in frame.events] for frame in watcher.frames]

    assert frames == run(work())


def test_a_delta_behind_its_start():
    """
    Both may be published at once: the delta follows the last of the records before it.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store, poll_s=None) as live, Watcher(live) as watcher:
            begun = [prompt(), StepStarted(message_id="a1", origin=origin()), TextStarted(message_id="a1")]
            delta = TextDelta(message_id="a1", offset=0, delta="Hello")
            live.publish("s", [*store.append("s", begun), delta], after=0)
            await watcher.until(lambda: watcher.text == "Hello", "the text")

    run(work())


def test_a_delta_behind_a_record_that_was_not_published():
    """
    The channel reads that record at once, whether it looks at the store from time to time or not.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store, poll_s=None) as live, Watcher(live) as watcher:
            await asyncio.sleep(1)
            store.append("s", [prompt(), StepStarted(message_id="a1", origin=origin()), TextStarted(message_id="a1")])
            Publisher(live, store).say("Hello")
            await watcher.until(lambda: watcher.text == "Hello", "the text")

    run(work())


def test_a_delta_behind_a_record_that_the_log_does_not_have():
    """
    Its publisher had read a longer log: the log has begun anew since, or is an older copy.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store, poll_s=None) as live, Watcher(live) as watcher:
            publisher = Publisher(live, store)
            publisher.begin()
            await watcher.up_to(publisher)
            live.publish("s", [TextDelta(message_id="a1", offset=0, delta="Hello")], after=9)
            with pytest.raises(StoreError, match="its log is not the one that ended at 3"):
                await watcher.until(lambda: False, "the failure")

    run(work())


def test_records_that_are_pruned_before_they_are_read():
    """
    The subscription of one that lacks them raises, and gives none of the records behind them.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store, poll_s=None) as live, Watcher(live) as watcher:
            publisher = Publisher(live, store)
            publisher.append(prompt())
            await watcher.up_to(publisher)
            prune_all(store, prompt(message_id="u2"), prompt(message_id="u3"))
            publisher.append(prompt(message_id="u4"))
            with pytest.raises(PrunedError):
                await watcher.until(lambda: False, "the failure")
            return [item.seq for item in watcher.items]

    assert [1] == run(work())


def test_a_text_that_another_process_ends_while_it_is_read():
    """
    Its checkpoints are read anew: what has ended is given once, as its record.
    """

    class Late(MemoryStore):
        def load_checkpoints(self, session_id):
            pieces = super().load_checkpoints(session_id)
            if pieces:
                self.append("s", [TextEnded(message_id="a1", text="Hello")])
            return pieces

    async def work():
        store = Late()
        start = StepStarted(message_id="a1", origin=origin())
        store.append("s", [prompt(), start, TextStarted(message_id="a1")])
        store.checkpoint("s", [TextDelta(message_id="a1", offset=0, delta="Hel")], after=3)
        async with MemoryLive(store, poll_s=None) as live, Watcher(live) as watcher:
            await watcher.until(lambda: watcher.transcript.seq == 4, "the end of the text")
            await asyncio.sleep(1)
            return watcher.text, len(watcher.frames)

    assert ("Hello", 0) == run(work())


def test_a_late_look_at_a_log_that_is_pruned():
    """
    Where another look has read further meanwhile, it takes nothing of that back.
    """
    topic = Topic("s", seq=5)
    topic.skip_to(5)
    topic.skip_to(3)

    assert (5, 0) == (topic.seq, topic.next)


def test_a_late_record_at_the_end_of_what_is_pruned():
    """
    It is known already, and changes nothing.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store, poll_s=None) as live:
            publisher = Publisher(live, store)
            publisher.append(prompt())
            async with aclosing(live.subscribe("s")) as early:
                await anext(early)
                last = prune_all(store, prompt(message_id="u2"), prompt(message_id="u3"))
                async with Watcher(live, start=store.load_snapshot("s")) as watcher:
                    await asyncio.sleep(1)
                    live.publish("s", last, after=2)
                    publisher.append(prompt(message_id="u4"))
                    await watcher.until(lambda: watcher.transcript.seq == 4, "the record behind it")

    run(work())


def test_a_text_that_was_open_when_its_log_was_pruned():
    """
    It may have ended since: a subscriber that joins behind the snapshot is not given it.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store, poll_s=None) as live:
            publisher = Publisher(live, store)
            publisher.begin()
            publisher.say("Hel")
            async with aclosing(live.subscribe("s")) as early:
                await anext(early)
                ended = StepEnded(message_id="a1", finish_reason="stop")
                prune_all(store, TextEnded(message_id="a1", text="Hello"), ended)
                await live.refresh("s")
                async with Watcher(live, start=store.load_snapshot("s")) as late:
                    await asyncio.sleep(1)
                    return late.items

    assert [] == run(work())


def prune_all(store, *events):
    """
    Append *events*, put a snapshot in the place of all records, and return the last record.
    """
    records = store.append("s", events)
    store.snapshot("s", fold(store.read("s")))
    store.prune("s", records[-1].seq)
    return records[-1:]


def test_subscribers_that_leave_with_much_text():
    """
    What they were kept does not count for those that follow: the answer continues.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store, poll_s=None) as live:
            publisher = Publisher(live, store)
            publisher.begin()
            for _ in range(3):
                async with Watcher(live) as watcher:
                    await watcher.until(lambda: watcher.transcript.seq == publisher.seq, "the log")
                    publisher.say("x" * 100_000)
                    await watcher.until(lambda: watcher.text.endswith("x"), "the text")
                assert 0 == live._topics["s"].size

    run(work())


def test_subscribers_that_come_and_go_in_silence():
    """
    Nothing of them is kept while nothing is published.
    """

    async def work():
        store = MemoryStore()
        store.append("s", [prompt()])
        async with MemoryLive(store, poll_s=None) as live, Watcher(live):
            for _ in range(20):
                async with Watcher(live):
                    await asyncio.sleep(1)
            return len(live._topics["s"].waiting)

    assert 1 == run(work())


def test_a_store_that_fails_again_is_logged_again(caplog):
    """
    Each time that it could be read between.
    """

    async def work():
        store = MemoryStore()
        seqs = store.seqs
        async with MemoryLive(store):
            for _ in range(2):
                store.seqs = broken
                await asyncio.sleep(2)
                store.seqs = seqs
                await asyncio.sleep(2)

    def broken(_names):
        raise StoreError("the disk is full")

    run(work())
    assert 2 == caplog.text.count("the store could not be read, and is tried again")


CALLED = [*durable(answer(calls=[Call("look", call_id="c1"), Call("look", call_id="c2")]))]


def progress(call_id, output):
    return ToolProgress(message_id="a1", call_id=call_id, output=output)


def late_frames(*steps):
    """
    Return what one is given who subscribes after *steps*: batches of records, or single live events.
    """

    async def work():
        store = MemoryStore()
        store.append("s", [prompt(), *durable(answer("Hi", message_id="a0"))])
        async with MemoryLive(store, poll_s=None) as live, Watcher(live, start=fold(store.read("s"))) as watcher:
            publisher = Publisher(live, store)
            for step in steps:
                if isinstance(step, list):
                    publisher.append(*step)
                else:
                    publisher.show(step)
            await asyncio.sleep(1)
            await watcher.up_to(publisher) if isinstance(steps[-1], list) else None
            async with Watcher(live) as late:
                await asyncio.sleep(1)
                return [event for frame in late.frames for event in frame.events]

    return run(work())


def test_progress_behind_the_result_of_another_call():
    """
    It is later than that result, and is given.
    """
    result = ToolSuccess(message_id="a1", call_id="c1", output="done")

    assert [progress("c2", "half")] == late_frames(CALLED, [result], progress("c2", "half"))


def test_what_a_rewind_and_a_restart_close():
    """
    Nothing of it is open to one who is late, also where the message that is rewound is not known to the channel.
    """
    begun = [StepStarted(message_id="a1", origin=origin()), TextStarted(message_id="a1")]
    hello = TextDelta(message_id="a1", offset=0, delta="Hello")
    call = ToolCalled(message_id="a1", call_id="c1", name="look", input={}, provider_executed=True)

    assert [hello] == late_frames(begun, hello)
    assert [hello] == late_frames(begun, hello, TextDelta(message_id="a1", offset=8, delta="you"))  # behind a gap
    assert [] == late_frames(begun, hello, [HistoryRewound(message_id="a0")])
    more, both = (TextDelta(message_id="a1", offset=at, delta=text) for at, text in ((5, " you"), (0, "Hello you")))
    later = [*begun, prompt(message_id="u2")]
    assert [both] == late_frames(later, hello, [HistoryRewound(message_id="u2")], more)  # of a message behind it
    assert [progress("c1", "half")] == late_frames([begun[0], call], progress("c1", "half"))
    assert [] == late_frames(
        [begun[0], call], progress("c1", "half"), [StepRestarted(message_id="a1", reason="again"), begun[1]]
    )


def test_a_rewind_of_what_is_behind_an_answer_closes_nothing_of_it():
    """
    A prompt came while the answer was written, or before its start and was not read, and is taken back: the text that
    streams, and the progress of a call, stay open.
    """
    started, text = StepStarted(message_id="a1", origin=origin()), TextStarted(message_id="a1")
    unread = [prompt(message_id="u2"), prompt(message_id="u3")]
    hello, more = (TextDelta(message_id="a1", offset=at, delta=text) for at, text in ((0, "Hello"), (5, " you")))
    both = TextDelta(message_id="a1", offset=0, delta="Hello you")
    back = [HistoryRewound(message_id="u2")]
    first = [text, TextEnded(message_id="a1", text="First.")]
    call = ToolCalled(message_id="a1", call_id="c1", name="look", input={})
    half, summary = progress("c1", "half"), CompactionStarted(message_id="k1", reason="auto")
    short = CompactionDelta(message_id="k1", offset=0, delta="In short")
    ended = StepEnded(message_id="a1", finish_reason="tool-calls")
    before = attrs.evolve(started, before="u2")

    def check(*steps, expected=(both,)):
        assert [*expected] == late_frames(*steps)

    check_each(
        {
            "it came before the start": ([*unread, before, text], hello, back, more),
            "the last of them": ([*unread, before, text], hello, [HistoryRewound(message_id="u3")], more),
            "it came between two texts": ([started, *first, *unread, text], hello, back, more),
            "it came in the first of two texts": ([started, text, *unread, first[1], text], hello, back, more),
        },
        check,
    )
    other = answer("No", message_id="b1", error=error())
    check([started, *durable(other), text], hello, [HistoryRewound(message_id="b1")], more)
    check([started, call, ended], [summary, *unread], half, back, short, expected=[short, half])
    check([*unread, before, text], hello, [HistoryRewound(message_id="a1")], expected=[])


def test_the_order_of_messages_is_forgotten_with_their_step():
    """
    A channel that has subscribers for a whole session does not grow with it.
    """
    fragments = OpenFragments()
    for record in records([prompt(), *answer("Hi"), prompt(message_id="u2"), *answer("Bye", message_id="a2")]):
        fragments.apply(record)

    assert [] == fragments._messages


def test_the_order_of_messages_is_forgotten_behind_a_rewind():
    """
    An answer that was rewound before its end does not run any more.
    """
    fragments = OpenFragments()
    rewound = [prompt(), *answer("Hi")[:2], HistoryRewound(message_id="u1")]
    for record in records([*rewound, prompt(message_id="u2"), *answer("Bye", message_id="a2")]):
        fragments.apply(record)

    assert [] == fragments._messages


def test_what_is_read_for_nobody_is_forgotten():
    """
    A session without subscribers, of which records were missing, is not kept when they have been read.
    """

    async def work():
        store = MemoryStore()
        *_, last = store.append("s", [prompt(), *durable(answer("Hi"))])
        async with MemoryLive(store, poll_s=None) as live:
            live.publish("s", [last], after=1)
            kept = list(live._topics)
            await asyncio.sleep(1)
            return kept, list(live._topics)

    assert (["s"], []) == run(work())


def test_frames_are_filled():
    """
    What fits into a frame shares it, also behind one that was full.
    """
    sizes = {"a1": 40_000, "a2": 40_000, "a3": 1000, "a4": 1000}
    deltas = [TextDelta(message_id=name, offset=0, delta="x" * size) for name, size in sizes.items()]
    topic = Topic("s", watchers=1)
    topic.add_live(deltas, 0)

    assert [["a1"], ["a2", "a3", "a4"]] == [[event.message_id for event in frame.events] for frame in topic.items]


def test_what_nobody_lacks_is_dropped():
    """
    What a session keeps for slow subscribers is not kept in silence.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store, poll_s=1) as live, Watcher(live) as watcher:
            publisher = Publisher(live, store)
            publisher.begin()
            publisher.say("Hello")
            await watcher.until(lambda: watcher.text == "Hello", "the text")
            kept = len(live._topics["s"].items)
            await asyncio.sleep(2.5)
            return kept, len(live._topics["s"].items)

    kept, left = run(work())

    assert 0 == left < kept


def test_the_progress_that_one_lacks_who_has_fallen_behind():
    """
    It is that of the items from the next one on.
    """
    fragments, text = OpenFragments(), TextDelta(message_id="a1", offset=0, delta="Hello")
    half = [progress("c1", "half"), text]
    assert half == fragments.add(half, 5, after=0, is_last=True)

    assert [[text, progress("c1", "half")], []] == [fragments.missing(since) for since in (5, 6)]


def test_the_progress_that_a_rewind_leaves():
    """
    It is that of the messages before the one that is rewound; the end of a step leaves it too.
    """
    fragments, half, left = OpenFragments(), progress("c1", "half"), []
    fragments.add([half], 0, after=0, is_last=True)
    end = StepEnded(message_id="a1", finish_reason="tool-calls")
    rewinds = [HistoryRewound(message_id=name) for name in ("u2", "a0")]
    for record in MemoryStore().append("s1", [prompt(message_id="u2"), end, *rewinds]):
        fragments.apply(record)
        left.append(fragments.missing(None))

    assert [[half], [half], [half], []] == left
