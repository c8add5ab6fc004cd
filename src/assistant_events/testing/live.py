"""
`check_live`: tests every promise of a live channel, on any implementation.

It runs an event loop of its own, whose time jumps, so that nothing waits; while a channel has a socket open, time is
only ten times as fast as the real one. Not covered, because the methods do not show it: what a channel keeps in memory,
and durations.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from typing import Any, Final, TypeAlias, final

from assistant_events import events as ev
from assistant_events.errors import PrunedError, StoreError
from assistant_events.events import Frame, LiveEvent, Record
from assistant_events.lifecycle import Outcome
from assistant_events.live.contract import Live
from assistant_events.messages import AssistantMessage, Transcript
from assistant_events.reducer import Builder, fold
from assistant_events.stores import MemoryStore
from assistant_events.testing.builders import Call, answer, durable, origin, prompt
from assistant_events.testing.sample import require
from assistant_events.testing.store_expectations import of_promise, same
from assistant_events.testing.virtual_loop import run

MakeLive: TypeAlias = Callable[[MemoryStore], AbstractAsyncContextManager[Live]]

_SECONDS: Final = 60.0
"""Limit, in virtual time, for what has to come."""

_CHARACTERS: Final = "Grüße, 👋! "


def check_live(make_live: MakeLive) -> None:
    """
    Check every promise of `assistant_events.live.contract` on channels of one implementation.

    Args:
        make_live: Returns a new channel over a store, to be opened by `async with`. It is called and used inside of an
            event loop of this function.

    Raises:
        AssertionError: A promise is broken. The message names it, the expected and the actual result.
    """
    for promise, tries in _PROMISES.items():
        for attempt in tries:
            with of_promise(promise):
                run(_attempt(make_live, attempt))
    with of_promise("the end of the channel ends subscriptions"):
        run(_after_its_end(make_live))


@final
class Publisher:
    """Appends to the log of a session and publishes, as a session does that receives an answer."""

    def __init__(self, live: Live, store: MemoryStore, *, session_id: str = "s", token: int | None = None) -> None:
        self.live = live
        self.store = store
        self.session_id = session_id
        self.token = token
        self._offset = 0

    @property
    def seq(self) -> int:
        """`seq` of the last record."""
        return self.store.seq(self.session_id)

    def append(self, *events: ev.DurableEvent | ev.UnknownEvent) -> tuple[Record, ...]:
        """Append and publish *events*."""
        after = self.seq
        records = self.store.append(self.session_id, events, token=self.token)
        self.live.publish(self.session_id, records, after=after, token=self.token)
        return records

    def begin(self, message_id: str = "a1") -> None:
        """Begin an answer and its text."""
        started = ev.StepStarted(message_id=message_id, origin=origin())
        self.append(prompt(message_id=f"{message_id}-prompt"), started, ev.TextStarted(message_id=message_id))
        self._offset = 0

    def say(self, *pieces: str, message_id: str = "a1") -> None:
        """Publish deltas of the text, all at once."""
        self.show(*[self._delta(piece, message_id) for piece in pieces])

    def show(self, *events: LiveEvent) -> None:
        """Publish live events."""
        self.live.publish(self.session_id, events, after=self.seq, token=self.token)

    def _delta(self, piece: str, message_id: str) -> LiveEvent:
        delta = ev.TextDelta(message_id=message_id, offset=self._offset, delta=piece)
        self._offset += len(piece)
        return delta


@final
class Watcher:
    """Subscribes, folds what it receives, and requires that all of it applies; with *repeats* also duplicates."""

    def __init__(
        self, live: Live, *, session_id: str = "s", start: Transcript | None = None, repeats: bool = False
    ) -> None:
        self.items: list[Record | Frame] = []
        self._session_id = session_id
        self._repeats = repeats
        self._reported = False
        self._builder = Builder(Transcript() if start is None else start)
        self._source = live.subscribe(session_id, self._builder.seq)

    async def __aenter__(self) -> Watcher:
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_exception: object) -> None:
        self._task.cancel()
        await asyncio.wait((self._task,))
        await self._source.aclose()
        if not (self._reported or self._task.cancelled()):
            self._task.result()

    @property
    def text(self) -> str:
        """Text of the last answer."""
        last = self._builder.transcript.last
        return last.text if isinstance(last, AssistantMessage) else ""

    @property
    def transcript(self) -> Transcript:
        """What its items fold to."""
        return self._builder.transcript

    @property
    def frames(self) -> list[Frame]:
        """The frames that it was given."""
        return [item for item in self.items if isinstance(item, Frame)]

    async def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for a condition."""
        try:
            async with asyncio.timeout(_SECONDS):
                while not condition():
                    if self._task.done():
                        self._reported = True
                        self._task.result()
                        raise AssertionError(f"{what}: the subscription has ended")
                    await asyncio.sleep(0.01)
        except TimeoutError:
            raise AssertionError(f"{what}: not within {_SECONDS:.0f} s; text is {self.text[-40:]!r}") from None

    async def up_to(self, publisher: Publisher) -> None:
        """Wait until it has the log, and compare."""
        await self.until(lambda: self._builder.seq >= publisher.seq, f"records up to {publisher.seq}")
        same(fold(publisher.store.read(publisher.session_id)), self.transcript, "what the items fold to")

    async def _watch(self) -> None:
        async for item in self._source:
            same(self._session_id, item.session_id, "session of an item")
            judge(self._builder, item, repeats=self._repeats)
            self.items.append(item)


def judge(builder: Builder, item: Record | Frame, *, repeats: bool = False) -> None:
    """Apply an item. Require that it is the next record, or a frame in its place, in which all is new."""
    if isinstance(item, Record):
        same(builder.seq + 1, item.seq, "seq of the next record")
        builder.apply(item)
        return
    same(builder.seq, item.after, "record before a frame")
    require(bool(item.events), "a frame without events")
    for event in item.events:
        outcome = builder.apply(event)
        if not (repeats and outcome is Outcome.DUPLICATE):
            same(Outcome.APPLIED, outcome, f"outcome of {event!r} after {builder.seq}")


_Try: TypeAlias = Callable[[Live, MemoryStore], Coroutine[Any, Any, None]]  # Any: as coroutines have it


async def _attempt(make_live: MakeLive, attempt: _Try) -> None:
    with MemoryStore() as store:
        async with make_live(store) as live:
            await attempt(live, store)


# 1 to 3: records and frames


async def _publishing_returns_at_once(live: Live, store: MemoryStore) -> None:
    publisher = Publisher(live, store)
    publisher.begin()
    async with Watcher(live) as watcher:
        await watcher.up_to(publisher)
        for _ in range(100):
            publisher.say("ab", "c")
        await watcher.until(lambda: len(watcher.text) == 300, "300 characters")
        require(len(watcher.frames) <= 3, f"200 deltas published at once came in {len(watcher.frames)} frames")
        live.publish("s", iter([ev.TextDelta(message_id="none", offset=0, delta="x")]), after=publisher.seq - 1)
        live.publish("unknown", [ev.TextDelta(message_id="a1", offset=0, delta="x")], after=0)
        live.publish("s", [ev.TextDelta(message_id="a1", offset=999, delta="x")], after=publisher.seq)
        publisher.append(ev.TextEnded(message_id="a1", text="abc" * 100))
        await watcher.up_to(publisher)


async def _threads_may_publish(live: Live, store: MemoryStore) -> None:
    publisher = Publisher(live, store)
    publisher.begin()
    asyncio.get_running_loop().set_debug(True)  # it raises where another thread calls it
    async with Watcher(live) as watcher:
        await watcher.up_to(publisher)
        await asyncio.to_thread(publisher.say, "from a thread")
        await watcher.until(lambda: watcher.text == "from a thread", "a delta of another thread")
        await asyncio.to_thread(publisher.append, ev.TextEnded(message_id="a1", text="from a thread"))
        await watcher.up_to(publisher)


async def _records_come_once_in_order(live: Live, store: MemoryStore) -> None:
    publisher = Publisher(live, store)
    publisher.append(prompt())
    async with Watcher(live) as early:
        await early.up_to(publisher)
        records = [store.append("s", [prompt(message_id=f"u{n}")], meta={"n": n})[0] for n in range(2, 8)]
        for places in ((1,), (0,), (3,), (0,), (1, 3), (2,), (5,)):
            live.publish("s", [records[place] for place in places], after=records[places[0]].seq - 1)
        await early.up_to(publisher)
        half = fold(list(store.read("s"))[:3])
        async with Watcher(live, start=half) as late, Watcher(live, session_id="other") as other:
            publisher.append(prompt(message_id="u9"), prompt(message_id="u10"))
            await early.up_to(publisher)
            await late.up_to(publisher)
            same([], other.items, "items of another session")
            Publisher(live, store, session_id="other").append(prompt())
            await other.until(lambda: bool(other.items), "the first record of a session that was subscribed before")
            same(list(store.read("s")), early.items, "records")
            same(list(store.read("s", 3)), late.items, "records after the third")


async def _who_is_late_gets_all(live: Live, store: MemoryStore) -> None:
    publisher = Publisher(live, store)
    publisher.begin()
    shown = durable(answer(calls=[Call("look", call_id=name) for name in ("c1", "c2")], message_id="b1"))
    for piece in (_CHARACTERS, "one ", "two ", "three"):
        publisher.say(piece)
        async with Watcher(live) as watcher:
            await watcher.until(lambda: watcher.text.endswith(piece), f"text up to {piece!r} for a late subscriber")  # noqa: B023
    async with Watcher(live) as watcher:
        await watcher.until(lambda: watcher.text.endswith("three"), "the whole text")
        require(len(watcher.frames) == 1, f"an open text came in {len(watcher.frames)} frames to a late subscriber")
    async with Watcher(live, start=fold(store.read("s"))) as watcher:
        await watcher.until(lambda: watcher.text.endswith("three"), "the whole text for one that has all records")
    publisher.append(
        ev.TextEnded(message_id="a1", text=f"{_CHARACTERS}one two three"),
        ev.StepEnded(message_id="a1", finish_reason="stop"),
        *shown,
    )
    publisher.show(_progress("1 %"), _progress("2 %"), _progress("3 %", "c2"))
    async with Watcher(live) as watcher:
        await watcher.until(lambda: _output(watcher) == "2 %3 %", "the last progress of a call")
        publisher.append(*[ev.ToolSuccess(message_id="b1", call_id=name, output="done") for name in ("c1", "c2")])
        live.publish("s", [_progress("stale")], after=publisher.seq - 2)
        await watcher.up_to(publisher)
        await asyncio.sleep(1)
    async with Watcher(live) as watcher:
        await watcher.up_to(publisher)
        same([], watcher.frames, "frames when nothing is open")


async def _every_fragment_is_given(live: Live, store: MemoryStore) -> None:
    publisher = Publisher(live, store)
    publisher.append(ev.CompactionStarted(message_id="c0", reason="auto"))
    publisher.begin()
    publisher.append(ev.ReasoningStarted(message_id="a1"), ev.MediaStarted(message_id="a1", media_type="image/png"))
    publisher.append(*[ev.ToolInputStarted(message_id="a1", call_id=name, name="look") for name in ("c1", "c2")])
    pieces: list[LiveEvent] = [
        ev.CompactionDelta(message_id="c0", offset=0, delta="so far"),
        ev.TextDelta(message_id="a1", offset=0, delta=_CHARACTERS),
        ev.ReasoningDelta(message_id="a1", offset=0, delta="hm\x00"),
        ev.MediaDelta(message_id="a1", offset=0, delta=b"\x00\xff"),
        ev.ToolInputDelta(message_id="a1", call_id="c1", offset=0, delta="{"),
        ev.ToolInputDelta(message_id="a1", call_id="c2", offset=0, delta="{}"),
    ]
    whole = fold([*store.read("s"), *pieces])
    async with Watcher(live) as early:
        await early.up_to(publisher)
        publisher.show(*pieces)
        await early.until(lambda: early.transcript == whole, "a delta of each kind of fragment")
        async with Watcher(live) as late:
            await late.until(lambda: late.transcript == whole, "each kind of open fragment, for a late subscriber")


async def _joining_while_text_comes(live: Live, store: MemoryStore) -> None:
    publisher, text = Publisher(live, store), ""
    publisher.begin()
    async with AsyncExitStack() as stack:
        watchers: list[Watcher] = []
        for number in range(40):
            watchers.append(await stack.enter_async_context(Watcher(live)))
            publisher.say(f"{number} ")
            text += f"{number} "
            await asyncio.sleep(number % 3 / 100)
        for watcher in watchers:
            await watcher.until(lambda: watcher.text == text, "the text for one that has joined while it came")  # noqa: B023


def _progress(output: str, call_id: str = "c1") -> LiveEvent:
    return ev.ToolProgress(message_id="b1", call_id=call_id, output=output)


def _output(watcher: Watcher) -> str:
    last = watcher.transcript.last
    calls = last.tool_calls if isinstance(last, AssistantMessage) else ()
    return "".join([str(getattr(content, "text", "")) for call in calls for content in call.output])


# 4 to 6: places, flushes, slow subscribers


async def _frames_are_at_their_place(live: Live, store: MemoryStore) -> None:
    publisher, other = Publisher(live, store), Publisher(live, store)
    publisher.begin()
    async with Watcher(live) as watcher:
        for number in range(20):
            publisher.say(f"{number} ")
            if number % 3 == 0:
                other.append(prompt(message_id=f"u{number}"))  # closes nothing
            if number % 5 == 0:
                await asyncio.sleep(1)
        text = "".join([f"{number} " for number in range(20)])
        await watcher.until(lambda: watcher.text == "" and _text_of(watcher, "a1") == text, "the text around prompts")
        stale = ev.TextDelta(message_id="a1", offset=len(text), delta="stale")
        publisher.append(ev.TextEnded(message_id="a1", text=text), ev.TextStarted(message_id="a1"))
        live.publish("s", [stale], after=publisher.seq - 2)
        live.publish("s", [ev.TextDelta(message_id="a1", offset=0, delta=text)], after=publisher.seq - 2)
        live.publish("s", [ev.TextDelta(message_id="a1", offset=0, delta="new")], after=publisher.seq)
        await watcher.until(lambda: _text_of(watcher, "a1") == f"{text}new", "the text of the next fragment")
        publisher.append(ev.StepRestarted(message_id="a1", reason="again"), ev.TextStarted(message_id="a1"))
        live.publish("s", [ev.TextDelta(message_id="a1", offset=0, delta="other")], after=publisher.seq)
        await watcher.until(lambda: _text_of(watcher, "a1") == "other", "the text after a restart")
        publisher.append(ev.HistoryRewound(message_id="a1"))
        live.publish("s", [ev.TextDelta(message_id="a1", offset=5, delta="!")], after=publisher.seq)
        await watcher.up_to(publisher)
    async with Watcher(live) as watcher:
        await watcher.up_to(publisher)
        await asyncio.sleep(1)
        same([], watcher.frames, "frames after a rewind")


def _text_of(watcher: Watcher, message_id: str) -> str:
    message = watcher.transcript.get(message_id)
    return message.text if isinstance(message, AssistantMessage) else ""


async def _all_is_flushed_before_an_end(live: Live, store: MemoryStore) -> None:
    publisher = Publisher(live, store)
    async with Watcher(live) as watcher:
        # What of the text is published before the record with all of it; each time at once, and after a pause.
        for number, pieces in enumerate([["all ", "of ", "it"], ["all of it"], ["all "], []] * 2):
            name = f"a{number}"
            publisher.begin(name)
            await watcher.up_to(publisher)
            publisher.say(*pieces[:-1], message_id=name)
            publisher.say(*pieces[-1:], message_id=name)
            if number >= 4:
                await asyncio.sleep(1)
            publisher.append(ev.TextEnded(message_id=name, text="all of it"))
            await watcher.up_to(publisher)
            same("all of it", _streamed(watcher, name), f"deltas before the end of their text, after {pieces}")
        publisher.begin("b0")
        publisher.say("some of it", message_id="b0")
        publisher.append(ev.StepRestarted(message_id="b0", reason="again"))  # which has no text
        await watcher.up_to(publisher)
        same("some of it", _streamed(watcher, "b0"), "deltas before a restart")
    after = publisher.seq
    begun = store.append("s", [ev.StepStarted(message_id="c0", origin=origin()), ev.TextStarted(message_id="c0")])
    async with Watcher(live) as watcher:
        await watcher.up_to(publisher)
        ended = store.append("s", [ev.TextEnded(message_id="c0", text="all of it")])
        live.publish("s", [*begun, *ended], after=after)
        await watcher.up_to(publisher)
        same("all of it", _streamed(watcher, "c0"), "deltas, for one who has joined before their start was published")


def _streamed(watcher: Watcher, message_id: str) -> str:
    events = [event for frame in watcher.frames for event in frame.events if event.message_id == message_id]
    return "".join([event.delta for event in events if isinstance(event, ev.TextDelta)])


async def _slow_subscribers_get_what_they_lack(live: Live, store: MemoryStore) -> None:
    publisher = Publisher(live, store)
    publisher.begin()
    publisher.say("first ")
    source, builder, given = live.subscribe("s"), Builder(), 0
    while not (isinstance(last := builder.transcript.last, AssistantMessage) and last.text):
        judge(builder, await _next(source))
    text = "first " + "".join([f"{number:0300}" for number in range(6000)])
    async with Watcher(live) as other:
        for number in range(6000):
            publisher.say(f"{number:0300}")
            if number % 1000 == 500:
                publisher.append(prompt(message_id=f"u{number}"))
            if number % 100 == 0:
                await asyncio.sleep(1)
        await other.until(lambda: _text_of(other, "a1") == text, "the text, beside a subscriber that reads nothing")
    await asyncio.sleep(1)
    while (message := builder.transcript.answer("a1")).text != text:
        require(len(message.text) < len(text), "a slow subscriber was given too much")
        judge(builder, await _next(source))
        given += 1
    require(given < 300, f"a slow subscriber was given {given} items where 2 would do: the channel keeps them")
    await source.aclose()


async def _next(source: AsyncGenerator[Record | Frame]) -> Record | Frame:
    async with asyncio.timeout(_SECONDS):
        return await anext(source)


# 7 to 9: owners, other processes, ends


async def _old_owners_are_refused(live: Live, store: MemoryStore) -> None:
    old = Publisher(live, store, token=store.claim("s", "old").token)
    old.begin()
    old.say("right")
    async with Watcher(live, repeats=True) as watcher:
        await watcher.until(lambda: watcher.text == "right", "the text of the first owner")
        claim = store.claim("s", "new", dead_after_s=0)
        live.publish("s", [], after=claim.seq, token=claim.token)
        old.say(" wrong")
        new = Publisher(live, store, token=claim.token)
        new.show(ev.TextDelta(message_id="a1", offset=0, delta="right"))
        old.say(" wrong again")
        async with Watcher(live) as late:
            await late.until(lambda: late.text != "", "the text of the second owner")
            new.show(ev.TextDelta(message_id="a1", offset=5, delta=" too"))
            await late.until(lambda: late.text == "right too", "the text of the second owner")
            live.publish("s", [ev.TextDelta(message_id="a1", offset=9, delta="!")], after=new.seq)
            await late.until(lambda: late.text == "right too!", "a delta without a token")
        new.append(ev.TextEnded(message_id="a1", text="right too!"))
        await watcher.until(lambda: watcher.transcript.seq == new.seq, "the end of the text")
        require("wrong" not in repr(watcher.items), "an old owner was given to subscribers")


async def _sessions_do_not_mix(live: Live, store: MemoryStore) -> None:
    async with AsyncExitStack() as stack:
        watched: list[tuple[Publisher, Watcher]] = []
        for name in ("s", "other"):
            publisher = Publisher(live, store, session_id=name, token=store.claim(name, "worker").token)
            watched.append((publisher, await stack.enter_async_context(Watcher(live, session_id=name))))
            publisher.begin()
        for publisher, _ in watched * 2:
            publisher.say(f"of {publisher.session_id} ")
        for publisher, watcher in watched:
            text = f"of {publisher.session_id} " * 2
            await watcher.until(lambda: watcher.text == text, f"the text {text!r} of one of two sessions")  # noqa: B023
            same(text, _streamed(watcher, "a1"), "deltas of one of two sessions")
            publisher.append(ev.TextEnded(message_id="a1", text=text))
            Publisher(live, store, session_id=publisher.session_id).append(prompt(message_id="u2"))
            store.append(publisher.session_id, [prompt(message_id="u3")])
            await watcher.up_to(publisher)


async def _others_are_found(live: Live, store: MemoryStore) -> None:
    async with Watcher(live) as watcher:
        store.append("s", [prompt(), ev.StepStarted(message_id="a1", origin=origin())])
        store.append("s", [ev.TextStarted(message_id="a1")])
        await watcher.until(lambda: watcher.transcript.seq == 3, "records that were not published")
        for offset, piece in enumerate("abc"):
            store.checkpoint("s", [ev.TextDelta(message_id="a1", offset=offset, delta=piece)])
            await watcher.until(lambda: watcher.text.endswith(piece), f"checkpoint {piece!r}")  # noqa: B023
        async with Watcher(live) as late:
            await late.until(lambda: late.text == "abc", "checkpoints, for a late subscriber")
        store.append("s", [ev.TextEnded(message_id="a1", text="abcd")])
        await watcher.until(lambda: watcher.transcript.seq == 4, "the end of the text")
        store.append("s", [ev.StepRestarted(message_id="a1", reason="again"), ev.TextStarted(message_id="a1")])
        store.checkpoint("s", [ev.TextDelta(message_id="a1", offset=0, delta="b")])
        await watcher.until(lambda: watcher.text == "b", "a checkpoint after a restart")


async def _logs_that_went_back(live: Live, store: MemoryStore) -> None:
    publisher = Publisher(live, store)
    publisher.append(prompt(), prompt(message_id="u2"), prompt(message_id="u3"))
    await _refused(live, StoreError, 4, "a cursor of the future")
    store.snapshot("s", fold(store.read("s")))
    store.prune("s", 2)
    await _refused(live, PrunedError, 1, "a pruned cursor")
    async with Watcher(live, start=fold(store.read("s", 2), start=store.load_snapshot("s"))) as watcher:
        await asyncio.sleep(1)
        store.delete("s")
        with suppress(StoreError):
            await watcher.until(lambda: False, "the failure of a subscription whose session is deleted")


async def _watched_logs_may_be_pruned(live: Live, store: MemoryStore) -> None:
    publisher = Publisher(live, store)
    async with Watcher(live) as watcher:
        for number in range(1, 4):
            publisher.append(prompt(message_id=f"u{number}"))
            await watcher.until(lambda: watcher.transcript.seq == publisher.seq, "a record after others were pruned")
            store.snapshot("s", watcher.transcript)
            store.prune("s", number)


async def _logs_that_began_anew(live: Live, store: MemoryStore) -> None:
    for name, length in (("longer", 5), ("equal", 3)):
        publisher = Publisher(live, store, session_id=name)
        publisher.append(*[prompt(message_id=f"u{number}") for number in range(3)])
        async with Watcher(live, session_id=name) as watcher:
            await watcher.up_to(publisher)
            await asyncio.sleep(10)  # longer than the interval of the channel
            store.delete(name)
            store.append(name, [prompt(message_id=f"v{number}") for number in range(length)])
            if length == 3:  # no length shows it
                publisher.append(prompt(message_id="v3"))
            with suppress(StoreError):
                await watcher.until(lambda: False, f"the failure of a subscription whose log has begun anew, {name}")
            same(3, len(watcher.items), f"records, before those of a log that has begun anew, {name}")


async def _after_its_end(make_live: MakeLive) -> None:
    with MemoryStore() as store:
        async with make_live(store) as live:
            publisher, source = Publisher(live, store), live.subscribe("s")
            publisher.append(prompt())
            await _next(source)
            waiting = asyncio.ensure_future(anext(source, None))
            await asyncio.sleep(1)
        await asyncio.wait((waiting,), timeout=_SECONDS)
        require(waiting.done(), "a subscription was open after the end of its channel")
        same(None, waiting.result(), "the last item of a subscription whose channel has ended")
        publisher.append(prompt(message_id="u2"))  # raises nothing


async def _refused(live: Live, kind: type[Exception], after: int, what: str) -> None:
    source = live.subscribe("s", after)
    try:
        item = await _next(source)
    except kind:
        return
    except TimeoutError:
        raise AssertionError(f"{what}: expected {kind.__name__}, nothing came") from None
    finally:
        await source.aclose()
    raise AssertionError(f"{what}: expected {kind.__name__}, got {item!r}")


_PROMISES: Final[dict[str, Sequence[_Try]]] = {
    "publishing does not block": [_publishing_returns_at_once, _threads_may_publish],
    "each record comes once, in order": [_records_come_once_in_order],
    "joining late loses nothing": [_who_is_late_gets_all, _every_fragment_is_given, _joining_while_text_comes],
    "a frame fits its place": [_frames_are_at_their_place],
    "a flush precedes every end": [_all_is_flushed_before_an_end],
    "memory is bounded": [_slow_subscribers_get_what_they_lack],
    "old owners are refused": [_old_owners_are_refused],
    "other processes are seen": [_others_are_found],
    "sessions are independent": [_sessions_do_not_mix],
    "cursors outside of the log are refused": [
        _logs_that_went_back,
        _watched_logs_may_be_pruned,
        _logs_that_began_anew,
    ],
}
