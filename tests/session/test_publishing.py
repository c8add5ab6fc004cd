"""
What a session publishes: each record once, each piece of text once, in the order of the transcript.
"""

import asyncio
from contextlib import suppress
from itertools import zip_longest
from types import SimpleNamespace

import pytest

from assistant_events.errors import StoreError
from assistant_events.events import Frame, Record, StepStarted, TextDelta, TextStarted
from assistant_events.lifecycle import Outcome
from assistant_events.live import MemoryLive
from assistant_events.reducer import Builder
from assistant_events.session import Session, SyncSession
from assistant_events.stores import MemoryStore
from assistant_events.testing import origin, prompt
from assistant_events.testing.live import Watcher
from assistant_events.testing.virtual_loop import run

from .scripted import CALL, Scripted, Store, line


class Channel:
    """
    A channel that refuses what is out of place, or comes again.
    """

    def __init__(self):
        self.builder = Builder()
        self.published = []

    def publish(self, _name, items, *, after, token=None):
        assert self.builder.seq == after
        self.published.append((token, list(items)))
        for item in items:
            alone = item if isinstance(item, Record) else Frame(session_id="s1", after=self.builder.seq, events=(item,))
            assert self.builder.apply(alone) is Outcome.APPLIED

    @property
    def events(self):
        """What was published, in its order."""
        items = [item for _, items in self.published for item in items]
        return [item.event if isinstance(item, Record) else item for item in items]


async def receive(session, chunks, name="a1", pause=0.03):
    """Receive an answer whose chunks come one after another."""

    async def given():
        for chunk in chunks:
            yield chunk
            await asyncio.sleep(pause)

    async with session.decode(Scripted(name), given()) as events:
        async for _ in events:
            pass


ANSWER = (
    *[line(think=word) for word in ("Let ", "me ", "see")],
    line(say="a"),
    line(say="b") + line(said={}) + line(say="c"),
    line(write={"id": "c1", "name": "weather", "delta": "{"}) + line(write={"id": "c2", "name": "time", "delta": "{"}),
    line(write={"id": "c2", "name": "time", "delta": "}"}),
    line(draw="\0\1") + line(draw="\2"),
    line(draw="\3"),
    line(say="Let me look") + line(said={}) + line(say="."),
    line(stop="tool-calls"),
)


@pytest.mark.parametrize("pause", [0, 0.03, 0.2])
def test_an_answer_is_published_once(pause):
    """
    Whether flushes come between its chunks or not, nothing is published twice.
    """
    transcript, channel = run(publish(Channel(), pause))

    assert transcript == channel.builder.transcript


def test_what_is_open_is_published_and_what_has_ended_is_not():
    """
    A flush publishes the text that is open. That which ends before the next one is in the record of its end alone.
    """
    _, channel = run(publish(Channel(), 0.2))

    assert {"reasoning": "Let me see", "text": "ac.", "tool.input": "{{}"} == streamed(channel.events)


@pytest.mark.parametrize("pause", [0, 0.03, 0.2])
def test_a_subscriber_is_given_all_text_before_its_end(pause):
    """
    Subscribers receive each text whole as deltas, whether it was published or has come with the record of its end.
    """

    async def work():
        store = MemoryStore()
        async with MemoryLive(store) as live, Watcher(live, session_id="s1") as watcher:
            transcript, _ = await publish(live, pause, store)
            await watcher.until(lambda: watcher.transcript == transcript, "the answer")
            return [
                each for item in watcher.items for each in ([item.event] if isinstance(item, Record) else item.events)
            ]

    events = run(work())
    texts = [kind for kind in types(events) if kind.startswith("text.")]

    assert {"reasoning": "Let me see", "text": "abcLet me look.", "tool.input": "{{}"} == streamed(events)
    assert ["text.started", "text.delta", "text.ended"] * 4 == [
        kind for kind, again in zip_longest(texts, texts[1:]) if kind != again
    ]


async def publish(live, pause, store=None):
    """Return the transcript of a session that receives an answer and publishes it to *live*, and *live*."""
    session = await Session.open(MemoryStore() if store is None else store, "s1", live=live)
    await session.prompt("Hello", message_id="u1")
    await receive(session, ANSWER, pause=pause)
    return session.transcript, live


def streamed(events):
    """Return the text of all deltas, by kind."""
    return {
        kind: "".join(event.delta for event in events if event.type == f"{kind}.delta")
        for kind in ("reasoning", "text", "tool.input")
    }


def types(events):
    """Return the types of events."""
    return [event.type for event in events]


def test_what_others_do_meanwhile_comes_behind_what_waits():
    """
    A prompt during an answer is published behind the records that were stored before it.
    """

    async def work():
        channel = Channel()
        session = await Session.open(MemoryStore(), "s1", live=channel)
        async with session.decode(Scripted("a1"), [line(say="a") + line(said={}), line(say="b")]) as events:
            async for event in events:
                if event.type == "text.ended":
                    await session.prompt("And?")
                    assert session.seq == channel.builder.seq
        return session.transcript, channel.builder.transcript

    transcript, published = run(work())

    assert transcript == published


def test_many_short_parts_are_published_in_pieces():
    """
    An answer that gives the event loop no time is not kept until its end.
    """

    async def work():
        channel = Channel()
        session = await Session.open(MemoryStore(), "s1", live=channel)
        async with session.decode(Scripted("a1"), [line(say="a") + line(said={})] * 200) as events:
            async for _ in events:
                pass
        return channel

    counts = [len(items) for _, items in run(work()).published]

    assert 2 + 2 * 200 == sum(counts)
    assert max(counts) <= 128 + 2


@pytest.mark.parametrize(("pause", "streamed"), [(0, []), (0.2, ["text.delta"])])
def test_progress_is_published_in_its_place(pause, streamed):
    """
    The progress of a call precedes the text that follows it in the same chunk, which is published once, by a flush.
    """

    async def work():
        channel = Channel()
        session = await Session.open(MemoryStore(), "s1", live=channel)
        chunks = [line(call=CALL), line(progress="c1") + line(say="Hi"), line(stop="tool-calls")]
        await receive(session, chunks, pause=pause)
        return channel

    behind = ["text.started", *streamed, "text.ended", "step.ended"]
    assert ["tool.called", "tool.progress", *behind] == types(run(work()).events)[1:]


def test_progress_alone_is_published():
    """
    Nothing of its chunk is stored, and no text follows it: it does not wait for the next chunk.
    """

    async def work():
        channel, before = Channel(), []
        session = await Session.open(MemoryStore(), "s1", live=channel)

        def chunks():
            yield from (line(call=CALL), line(progress="c1"))
            before.extend(types(channel.events))
            yield line(stop="tool-calls")

        await receive(session, chunks(), pause=0.2)
        return before, types(channel.events)

    before, events = run(work())

    assert ["step.started", "tool.called", "tool.progress"] == before
    assert [*before, "step.ended"] == events


@pytest.mark.parametrize("is_written", [True, False])
def test_an_answer_whose_store_has_failed(is_written):
    """
    What a store has written, and raised all the same, is published once when the stream is entered again.
    """

    async def work():
        channel, store = Channel(), Store()
        session = await Session.open(store, "s1", live=channel)
        more = line(say="b") + line(said={}) + line(progress="c1") + line(say="c")
        chunks = iter([line(call=CALL) + line(say="a"), more, line(stop="tool-calls")])
        stream = session.decode(Scripted("a1"), chunks)
        for time in range(2):
            with suppress(StoreError):
                async with stream as events:
                    async for event in events:
                        if event.type == "text.delta" and not time:
                            setattr(store, "lose" if is_written else "refuse", StoreError("the disk is full"))
        return session.transcript, channel.builder.transcript

    transcript, published = run(work())

    assert transcript == published
    assert "completed" == transcript.last.status


def test_each_claim_publishes_what_is_open():
    """
    The first thing that a session publishes with a new token is the open text, from its start.
    """

    async def work():
        store, published = MemoryStore(), []
        store.append("s1", [prompt(), StepStarted(message_id="a1", origin=origin()), TextStarted(message_id="a1")])
        store.checkpoint("s1", [TextDelta(message_id="a1", offset=0, delta="Hello")], after=3)
        channel = SimpleNamespace(publish=lambda _name, items, *, after, token: published.append((token, *items)))
        session = await Session.open(store, "s1", live=channel, worker="one")
        for _ in range(2):
            async with session.claimed():
                pass
        return published

    published = [(token, item.delta) for token, *items in run(work()) for item in items]

    assert ["Hello", "Hello"] == [text for _, text in published]
    assert published[0][0] < published[1][0]


def test_what_is_published_after_a_claim_has_no_token():
    """
    The session does not run its steps any more: the channel takes its prompts also when another worker has claimed it.
    """

    async def work():
        channel = Channel()
        session = await Session.open(MemoryStore(), "s1", live=channel, worker="one")
        async with session.claimed():
            await session.prompt("Hello")
        await session.prompt("And?")
        return [token for token, items in channel.published if items]

    held, released = run(work())

    assert (True, None) == (held is not None, released)


def test_what_others_have_written_is_published_behind_what_is_pruned():
    """
    The place of the first record is that of the record before it, not of the last one that the session had.
    """

    async def work():
        store, published = MemoryStore(), []

        def publish(_name, items, *, after, token):
            published.append((after, [item.seq for item in items]))

        session = await Session.open(store, "s1", live=SimpleNamespace(publish=publish))
        other = await Session.open(store, "s1")
        await other.prompt("Hello")
        await other.prompt("And?")
        await other.snapshot()
        store.prune("s1", 2)
        await other.prompt("Well?")
        await session.refresh()
        return published

    assert [(2, [3])] == run(work())


def test_a_session_without_a_loop_publishes_what_it_gives():
    """
    With the first word of a text its start is there too, before anything follows.
    """
    channel = Channel()
    session = SyncSession.open(MemoryStore(), "s1", live=channel)
    seen = []

    def chunks():
        for word in ("Hel", "lo"):
            yield line(say=word)
            seen.append(types(channel.events))
        yield line(stop="stop")

    with session.decode(Scripted("a1"), chunks()) as events:
        for _ in events:
            pass

    begun = ["step.started", "text.started", "text.delta"]
    assert [begun, [*begun, "text.delta"]] == seen
