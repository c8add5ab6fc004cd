"""
The events of a session: what a browser is given when it joins, leaves and comes back.
"""

import asyncio
import gc
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant_events import (
    Awaits,
    ErrorInfo,
    PromptSubmitted,
    StepFailed,
    StepStarted,
    ToolPart,
    UnknownEvent,
    find_problems,
    fold,
)
from assistant_events.errors import PrunedError, StoreError
from assistant_events.live import MemoryLive
from assistant_events.outward import Cursor, DocumentWriter
from assistant_events.session import Session, Turns
from assistant_events.stores import MemoryStore, SqliteStore
from assistant_events.testing import Call, answer, durable, prompt, records, rewind
from assistant_events.web import ChatRoutes
from assistant_events.web.chat_routes import _Turn
from assistant_events.web.sse_response import SseResponse
from tests.drawn import sessions
from tests.session.scripted import ASKS, HELLO, Provider, Scripted, line
from tests.web.chat import Browser, Instead, authorize, chat, folded, run, until


def held(*chunks):
    """
    Return an answer that waits after its first chunks, and what continues it.
    """
    go = asyncio.Event()
    return (*chunks, go, line(say=" world"), line(stop="stop")), go


def test_a_prompt_and_its_answer():
    """
    A browser without a cursor gets a snapshot, then every record with its seq as id, and live frames without one.
    """

    async def main():
        answer, go = held(line(say="Hello"))
        async with chat(answer) as app:
            posted = await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi", "message_id": "p1"})
            async with app.ada.watch("/sessions/s1/events") as events:
                got = await events.until("text.delta")
                go.set()
                got += await events.until("step.ended")

            assert (202, {"seq": 1}) == (posted.status, posted.document)
            assert ["Hi", "Hello world"] == folded(got)
            assert "snapshot" == got[0][2]["type"]
            ids = [int(id_) for id_, _, document in got if document["type"] != "frame"]
            assert list(range(ids[0], 6)) == ids
            assert {None} == {id_ for id_, _, document in got if document["type"] == "frame"}
            assert {None} == {event for _, event, _ in got}
            assert [] == find_problems(app.store.read("s1"))

    run(main())


def test_the_answer_begins_at_once():
    """
    Status, headers against proxies that collect, the delay of a reconnection and a comment come before any event.
    """

    async def main():
        async with chat(HELLO) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            async with app.ada.watch("/sessions/s1/events?after=0") as events:
                await events.next()

            assert events.body.startswith(b"retry: 1000\n\n:\n\n")
            assert {
                "content-type": "text/event-stream",
                "cache-control": "no-cache, no-transform",
                "x-accel-buffering": "no",
            } == events.headers

    run(main())


@pytest.mark.parametrize(
    ("query", "header"),
    [("?after=3", None), ("", "3"), ("", "3.w1-7"), ("?after=1", "3"), ("?after=oops", "3")],
    ids=["parameter", "header", "with a frame", "header is newer", "parameter is not read"],
)
def test_a_browser_comes_back(query, header):
    """
    Records after the cursor come first, then the open text as one delta from its start; nothing comes twice.
    """

    async def main():
        answer, go = held(line(say="Hel"), line(say="lo"))
        async with chat(answer) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            async with app.ada.watch("/sessions/s1/events?after=0") as events:
                got = await events.until("text.delta")
                while ["Hi", "Hello"] != folded(got):
                    got.append(await events.next())
            before = [event for event in got if event[0] is not None]
            async with app.ada.watch(f"/sessions/s1/events{query}", last_event_id=header) as events:
                again = await events.until("text.delta")
                go.set()
                again += await events.until("step.ended")

            assert ["1", "2", "3"] == [id_ for id_, _, _ in before]
            assert ["4", "5"] == [id_ for id_, _, _ in again if id_ is not None]
            assert (0, "Hello") == tuple(again[0][2]["events"][0][name] for name in ("offset", "delta"))
            assert ["Hi", "Hello world"] == folded(before + again)

    run(main())


@pytest.mark.parametrize("cursor", ["6", "99", "-1", "x", "1.5", "1\u0661"])
@pytest.mark.parametrize("where", ["parameter", "header"])
def test_cursors_that_are_refused(cursor, where):
    """
    A cursor of the future, which may be that of another session, and one that is malformed are 400, also at the end.
    """

    async def main():
        async with chat(HELLO) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await until(lambda: app.store.seq("s1") == 5)
            given = {"last_event_id": cursor.encode().decode("latin-1")} if where == "header" else {}
            query = "" if given else f"?after={cursor}"
            answer = await app.ada.get(f"/sessions/s1/events{query}", **given)

            assert 400 == answer.status
            assert "application/json" == answer.headers["content-type"]
            assert ["detail"] == list(answer.document)

    run(main())


def begin_anew(store):
    """Delete the log, and begin one of the same length."""
    store.delete("s1")
    store.append("s1", [PromptSubmitted(message_id=f"v{number}", content="Ho") for number in range(5)], owner="ada")


def restore(store):
    """Restore the log from an older copy, which then grows in another way."""
    kept = list(store.read("s1"))[:3]
    store.delete("s1")
    for record in kept:
        store.append("s1", [record.event], at=record.at, owner="ada")
    store.append("s1", [PromptSubmitted(message_id=f"v{number}", content="Ho") for number in range(2)])


@pytest.mark.parametrize("change", [begin_anew, restore], ids=["begun anew", "restored"])
def test_a_cursor_of_another_log(change):
    """
    A cursor has the mark of its record: one of a log that has another record at its place is refused.
    """

    async def main():
        async with chat(HELLO) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await until(lambda: app.store.seq("s1") == 5)
            third, fifth = [str(Cursor.of(record)) for record in list(app.store.read("s1"))[2::2]]
            async with app.ada.watch("/sessions/s1/events", last_event_id=third) as events:
                got = await events.until("step.ended")
            change(app.store)
            answer = await app.ada.get(f"/sessions/s1/events?after={fifth}")
            async with app.ada.watch("/sessions/s1/events", last_event_id=third) as restored:
                status = restored.status

            assert (["4", "5"], fifth) == ([id_ for id_, _, _ in got], events.last)
            assert 400 == answer.status
            detail = "the cursor is of another session, or of a log that was deleted or restored"
            assert {"detail": detail} == answer.document
            assert (400 if change is begin_anew else 200) == status

    run(main())


def test_a_cursor_of_another_session():
    """
    A cursor of another session is refused, also of one of the same owner, and one that is not beyond the end.
    """

    async def main():
        async with chat(HELLO, HELLO) as app:
            for name in ("s1", "s2"):
                await app.ada.post(f"/sessions/{name}/prompt", {"prompt": "Hi", "message_id": "u1"})
                await until(lambda: app.store.seq(name) == 5)  # noqa: B023
            async with app.ada.watch("/sessions/s1/events") as events:
                await events.next()
            answer = await app.ada.get("/sessions/s2/events", last_event_id=events.last)

            assert events.last == str(Cursor.of(list(app.store.read("s1"))[4]))
            assert 400 == answer.status

    run(main())


def test_a_cursor_whose_record_is_pruned():
    """
    A cursor that cannot be compared any more gets a snapshot. Its id has a mark that no record has: it is continued
    while its record is pruned, and refused by a log that was begun anew.
    """

    async def main():
        async with chat(HELLO) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await until(lambda: app.store.seq("s1") == 5)
            cursor = str(Cursor.of(list(app.store.read("s1"))[4]))
            await (await app.turns.open("s1")).snapshot()
            app.store.prune("s1", 5)
            async with app.ada.watch("/sessions/s1/events", last_event_id=cursor) as events:
                got = await events.next()
            ended = await app.ada.get("/sessions/s1/events?until=user", last_event_id=events.last)
            begin_anew(app.store)
            answer = await app.ada.get("/sessions/s1/events", last_event_id=events.last)

            assert ("5", "snapshot") == (got[0], got[2]["type"])
            assert "5.000000000000-0" == events.last
            assert (204, 400) == (ended.status, answer.status)

    run(main())


def test_pruned_records_are_a_snapshot():
    """
    A browser whose next records are pruned gets a snapshot, and the records after it.
    """

    async def main():
        answer, go = held(line(say="Hello"))
        async with chat(HELLO, answer) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await until(lambda: app.store.seq("s1") == 5)
            await (await app.turns.open("s1")).snapshot()
            app.store.prune("s1", 5)
            await app.ada.post("/sessions/s1/prompt", {"prompt": "On"})
            async with app.ada.watch("/sessions/s1/events", last_event_id="2") as events:
                got = [await events.next()]
                go.set()
                got += await events.until("step.ended")

            assert "snapshot" == got[0][2]["type"]
            assert ["Hi", "Hello", "On", "Hello world"] == folded(got)

    run(main())


def test_pruned_while_it_watches():
    """
    Records that are pruned before a browser has got them are a snapshot in the middle.
    """

    class Pruned:
        def __init__(self, inner):
            self.inner, self.cursors = inner, []

        async def subscribe(self, session_id, after=0):
            self.cursors.append(after)
            if len(self.cursors) == 1:
                raise PrunedError(session_id, after, 2)
            async for item in self.inner.subscribe(session_id, after):
                yield item

    async def main():
        async with chat(HELLO) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await until(lambda: app.store.seq("s1") == 5)
            live = Pruned(app.live)
            ada = Browser(ChatRoutes(Instead(app.turns, live=live), authorize=lambda *_: "ada"))
            async with ada.watch("/sessions/s1/events?after=1") as events:
                got = [await events.next()]

            assert ("5", "snapshot") == (got[0][0], got[0][2]["type"])
            await until(lambda: live.cursors == [1, 5])

    run(main())


def test_pruned_while_it_watches_until_the_end_of_the_turn():
    """
    The end is found behind the snapshot, too.
    """
    asked, ended = asyncio.Event(), asyncio.Event()

    class Pruned:
        def __init__(self, app):
            self.app, self.cursors = app, []

        async def subscribe(self, session_id, after=0):
            self.cursors.append(after)
            if len(self.cursors) == 1:
                asked.set()
                await until(lambda: self.app.store.seq("s1") == 4)
                raise PrunedError(session_id, after, 4)
            async for item in self.app.live.subscribe(session_id, after):
                yield item

    async def main():
        async with chat((line(say="Hello"), asked, line(said={}), ended, line(stop="stop"))) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await until(lambda: app.store.seq("s1") == 3)
            live = Pruned(app)
            ada = Browser(ChatRoutes(Instead(app.turns, live=live), authorize=lambda *_: "ada"))
            async with ada.watch("/sessions/s1/events?after=3&until=user") as events:
                await until(lambda: live.cursors == [3, 4])
                ended.set()
                got = await events.until("end")

            assert ["snapshot", "record", "end"] == [document["type"] for _, _, document in got]

    run(main())


def test_an_answer_leaves_no_task():
    """
    When its events have ended before the browser leaves, nothing waits for that any more.
    """

    async def events():
        yield b"data: 1\n\n"

    async def main():
        sent, before = [], asyncio.all_tasks()

        async def send(message):
            sent.append(message["type"])

        response = SseResponse(events(), heartbeat_s=1, on_end=lambda: None)
        await response({"method": "GET"}, asyncio.Event().wait, send)

        assert ["http.response.start", *["http.response.body"] * 2] == sent
        assert before == asyncio.all_tasks()

    run(main())


def test_the_stream_stays_open_for_the_next_turn():
    """
    The same answer of events has the next turn, too.
    """

    async def main():
        async with chat(HELLO, HELLO) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            async with app.ada.watch("/sessions/s1/events") as events:
                got = [await events.next()]
                while ["Hi", "Hello"] != folded(got) or got[-1][2].get("seq") != 5:
                    got.append(await events.next())
                await app.ada.post("/sessions/s1/prompt", {"prompt": "On"})
                got += await events.until("step.ended")

            assert ["Hi", "Hello", "On", "Hello"] == folded(got)
            assert "10" == got[-1][0]

    run(main())


def test_an_answer_that_ends_with_the_turn():
    """
    With `until=user` a browser gets all of the turn and `end`; when it comes back with the last id it gets 204.
    """

    async def main():
        answer, go = held(line(say="Hello"))
        async with chat(answer) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            async with app.ada.watch("/sessions/s1/events?until=user") as events:
                got = await events.until("text.delta")
                go.set()
                got += await events.until("end")
                await until(lambda: events.ended)
            back = await app.ada.get("/sessions/s1/events?until=user", last_event_id="5")
            behind = await app.ada.get("/sessions/s1/events?until=user", last_event_id="3")
            anew = await app.ada.get("/sessions/s1/events?until=user")

            assert ["Hi", "Hello world"] == folded(got)
            assert (None, "end", {"type": "end", "seq": 5}) == got[-1]
            assert (204, b"") == (back.status, back.body)
            assert ["4", "5", None] == [id_ for id_, _, _ in await behind.until("end")]
            assert ["snapshot", "end"] == [document["type"] for _, _, document in await anew.until("end")]

    run(main())


@pytest.mark.parametrize("other", ["", "USER", "model"])
def test_until_what(other):
    """
    The turn of the user is the only end that can be asked for.
    """

    async def main():
        async with chat(HELLO) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})

            assert 400 == (await app.ada.get(f"/sessions/s1/events?until={other}")).status

    run(main())


def test_an_answer_ends_when_a_person_has_to_allow_a_call():
    """
    A call that waits for an approval is the turn of the user; after it, the same address has the rest.
    """

    async def main():
        go = asyncio.Event()
        async with chat((go, *ASKS), HELLO, asks=lambda _call: "It rains.") as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            async with app.ada.watch("/sessions/s1/events?until=user") as events:
                got = await events.until("snapshot")
                go.set()
                got += await events.until("end")
            requested = next(
                each for _, _, each in got if each.get("event", {}).get("type") == "tool.approval.requested"
            )
            call = {name: requested["event"][name] for name in ("message_id", "call_id")}
            await app.ada.post("/sessions/s1/approve", call)
            last = next(id_ for id_, _, _ in reversed(got) if id_)
            async with app.ada.watch("/sessions/s1/events?until=user", last_event_id=last) as events:
                rest = await events.until("end")

            types = [each["event"]["type"] for _, _, each in rest if "event" in each]
            assert ["tool.approved", "tool.started", "tool.success"] == types[:3]
            assert ["Hi", "", "Hello"] == folded(got + rest)

    run(main())


def test_an_answer_ends_when_its_calls_are_stopped():
    """
    A turn that is stopped while a call waits has its end, although the model has not answered.
    """

    async def main():
        async with chat(ASKS, asks=lambda _call: True) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await until(lambda: app.store.seq("s1") == 5)
            await app.ada.post("/sessions/s1/stop")
            got = await (await app.ada.get("/sessions/s1/events?until=user")).until("end")

            assert "failed" == got[0][2]["messages"][1]["parts"][0]["status"]
            assert "end" == got[1][1]

    run(main())


@pytest.mark.parametrize(
    "second", [[line(say="Hello"), line(stop="stop")], [line(count={"input": 1})]], ids=["", "cut"]
)
def test_an_answer_that_is_asked_for_again_does_not_end_the_turn(second):
    """
    With `retry` the first answer of a turn that is cut before any content is not its end; the second one is.
    """

    async def main():
        watched = asyncio.Event()
        async with chat((watched, line(count={"input": 1})), second, turns={"retry": "empty"}) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            async with app.ada.watch("/sessions/s1/events?until=user") as events:
                await events.until("snapshot")
                watched.set()
                got = await events.until("end")
            again = await app.ada.get("/sessions/s1/events?until=user", last_event_id=str(got[-1][2]["seq"]))

            types = [document["event"]["type"] for _, _, document in got if "event" in document]
            assert "history.rewound" in types
            assert ("step.failed" if len(second) == 1 else "step.ended") == types[-1]
            assert 204 == again.status

    run(main())


@pytest.mark.parametrize(
    "behind", [[], [UnknownEvent(type="acme", version=1, data={"type": "acme", "v": 1})]], ids=["", "unknown"]
)
def test_an_answer_that_another_worker_asks_for_again_does_not_end_the_turn(behind):
    """
    A cut answer that its worker has rewound is not the end, nor is a record that is not the last one the end of it.
    """

    async def main():
        store, cut = MemoryStore(), ErrorInfo(kind="aborted", message="left")
        worker = await Session.open(store, "s1", owner="ada", worker="other")
        async with worker.claimed(), chat(store=store) as app:
            await worker.append(prompt("Hi"), StepStarted(message_id="a1", origin=Scripted("a1").origin()))
            async with app.ada.watch("/sessions/s1/events?until=user") as events:
                await events.until("snapshot")
                await worker.append(StepFailed(message_id="a1", error=cut), rewind("a1"))
                got = await events.until("history.rewound")
                await worker.append(*durable(answer("Hello", message_id="a2")), *behind)
                got += await events.until("end")

            assert [None] * (len(got) - 1) + ["end"] == [event for _, event, _ in got]
            assert store.seq("s1") == got[-1][2]["seq"]

    run(main())


def test_an_answer_that_nobody_asks_for_again_ends_the_turn():
    """
    One that was cut before any content is of a turn that has ended when no task has its session.
    """

    async def main():
        store, origin = MemoryStore(), Scripted("a1").origin()
        cut = StepFailed(message_id="a1", error=ErrorInfo(kind="aborted", message="left"))
        session = await Session.open(store, "s1", owner="ada")
        await session.append(prompt("Hi"), StepStarted(message_id="a1", origin=origin), cut)
        async with chat(store=store, turns={"retry": "empty"}) as app:
            got = await (await app.ada.get("/sessions/s1/events?until=user")).until("end")
            back = await app.ada.get("/sessions/s1/events?until=user", last_event_id="3")

            assert (["snapshot", "end"], 204) == ([document["type"] for _, _, document in got], back.status)

    run(main())


def test_a_tool_that_runs_is_not_the_turn_of_the_user():
    """
    While a call waits for a person and another one runs, the answer stays open.
    """

    async def main():
        watched, go = asyncio.Event(), asyncio.Event()

        async def tool(_run):
            await go.wait()
            return "rain"

        calls = [line(call={"id": name, "name": name}) for name in ("asked", "runs")]
        answer = (watched, *calls, line(stop="tool-calls"))
        async with chat(answer, asks=lambda call: call.name == "asked", tool=tool) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            async with app.ada.watch("/sessions/s1/events?until=user") as events:
                await events.until("snapshot")
                watched.set()
                await events.until("tool.started")
                go.set()
                rest = await events.until("end")

            assert "tool.success" == rest[-2][2]["event"]["type"]

    run(main())


def test_comments_while_nothing_happens():
    """
    A silent answer has comments, which no reader of events sees, and the events after them come as before.
    """

    async def main():
        answer, go = held(line(say="Hello"))
        async with chat(answer, heartbeat_s=0.01) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            async with app.ada.watch("/sessions/s1/events") as events:
                got = await events.until("text.delta")
                silent = len(events.body)
                await until(lambda: events.body[silent:].count(b":\n\n") >= 3)
                assert b"" == events.body[silent:].replace(b":\n\n", b"")
                go.set()
                got += await events.until("step.ended")

            assert ["Hi", "Hello world"] == folded(got)

    run(main())


def test_a_browser_that_leaves_ends_its_subscription():
    """
    The subscription is closed when the browser leaves, not with the next event; the turn continues.
    """

    class Counted:
        def __init__(self, inner):
            self.inner, self.open = inner, 0

        async def subscribe(self, session_id, after=0):
            self.open += 1
            try:
                async for item in self.inner.subscribe(session_id, after):
                    yield item
            finally:
                self.open -= 1

    async def main():
        answer, go = held(line(say="Hello"))
        async with chat(answer) as app:
            live = Counted(app.live)
            routes = ChatRoutes(Instead(app.turns, live=live), authorize=lambda *_: "ada")
            await Browser(routes).post("/sessions/s1/prompt", {"prompt": "Hi"})
            async with Browser(routes).watch("/sessions/s1/events") as events:
                await events.until("text.delta")
                assert 1 == live.open
            assert 0 == live.open
            assert not routes._shared
            assert not routes._streams._open
            go.set()
            await until(lambda: app.store.seq("s1") == 5)

    run(main())


def test_a_slow_reader_delays_no_other():
    """
    While one browser does not read, another one gets everything; the slow one gets it all in the end.
    """

    async def main():
        answer, go = held(*[line(say=f"{number} ") for number in range(200)])
        async with chat(answer) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            async with app.ada.watch("/sessions/s1/events") as slow, app.ada.watch("/sessions/s1/events") as fast:
                slow.reads = asyncio.Event()
                go.set()
                quick = await fast.until("step.ended")
                slow.reads.set()
                late = await slow.until("step.ended")

            assert folded(quick) == folded(late)
            assert folded(quick)[1].endswith("199  world")

    run(main())


def test_an_item_is_written_once_for_all(monkeypatch):
    """
    With a hundred browsers on a session, each record and each frame that is published is written once.
    """
    written = []

    class Writer(DocumentWriter):
        def write(self, item):
            written.append(item)
            return super().write(item)

    monkeypatch.setattr("assistant_events.outward.sse.DocumentWriter", Writer)

    async def main():
        answer, go = held(*[line(say=f"{number} ") for number in range(20)])
        start = asyncio.Event()
        async with chat((start, *answer), max_streams_per_owner=100) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            browsers = [app.ada.watch("/sessions/s1/events?after=1") for _ in range(100)]
            watched = [await browser.__aenter__() for browser in browsers]
            start.set()
            for events in watched:
                await events.until("text.delta")
            go.set()
            texts = {folded(await events.until("step.ended"))[-1:].__repr__() for events in watched}
            for browser in browsers:
                await browser.__aexit__(None, None, None)

            assert 1 == len(texts)
            assert len(written) == len({id(item) for item in written})
            assert 4 <= len(written) < 30

    run(main())


@pytest.mark.parametrize("poll_s", [0.5, None], ids=["a store that is read", "a channel of one process"])
def test_a_session_that_is_deleted(poll_s):
    """
    A browser that watches gets an error event; the next connection is 404, which ends an `EventSource`.
    """

    async def main():
        store = MemoryStore()
        async with MemoryLive(store, poll_s=poll_s) as live, chat(HELLO, store=store, live=live) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            async with app.ada.watch("/sessions/s1/events") as events:
                await events.next()
                assert 204 == (await app.ada.delete("/sessions/s1")).status
                error = (await events.until("error"))[-1]
                await until(lambda: events.ended)

            assert (None, "error", {"type": "error", "message": "the session could not be read"}) == error
            assert 404 == (await app.ada.get("/sessions/s1/events", last_event_id="5")).status

    run(main())


class Ended:
    """A channel that ends, or fails, after its first item."""

    def __init__(self, error=None):
        self.error = error

    async def subscribe(self, session_id, after=0):
        yield MemoryStore().append(session_id, [PromptSubmitted(message_id="p1", content="Hi")])[0]
        if self.error is not None:
            raise self.error


@pytest.mark.parametrize("error", [None, StoreError("disk of /secret is full")], ids=["ends", "fails"])
def test_a_channel_that_ends(error):
    """
    An answer is never at a clean end in the middle of a turn: an error event shows it, without what only we may know.
    """

    async def main():
        async with chat(HELLO) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            ada = Browser(ChatRoutes(Instead(app.turns, live=Ended(error)), authorize=lambda *_: "ada"))
            got = await (await ada.get("/sessions/s1/events?after=0")).until("error")

            assert "error" == got[-1][1]
            assert "secret" not in str(got)

    run(main())


def test_head_has_no_events():
    """
    HEAD has the headers of the events, and ends.
    """

    async def main():
        async with chat(HELLO) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            answer = await app.ada.send("HEAD", "/sessions/s1/events", (), {})

            assert (200, "text/event-stream", b"") == (answer.status, answer.headers["content-type"], answer.body)

    run(main())


def test_nothing_is_sent_behind_a_browser_that_has_left():
    """
    A server may raise then, as ASGI allows it.
    """

    async def main():
        sent, ended, gone = [], [], asyncio.Event()

        async def receive():
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            assert not gone.is_set()
            sent.append(message.get("body"))

        async def events():
            yield b"data: 1\n\n"
            gone.set()
            await asyncio.Event().wait()

        answer = SseResponse(events(), heartbeat_s=60, on_end=lambda: ended.append(True))
        await answer({"type": "http", "method": "GET"}, receive, send)

        assert ([None, b"data: 1\n\n"], [True]) == (sent, ended)

    run(main())


def test_a_server_that_ends_breaks_the_connection():
    """
    An answer that is cancelled has no end, so that the browser connects again.
    """

    async def main():
        answer, go = held(line(say="Hello"))
        async with chat(answer) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            async with app.ada.watch("/sessions/s1/events") as events:
                await events.until("text.delta")
                events.task.cancel()
                await asyncio.wait((events.task,))
                assert events.task.cancelled()
                assert not events.ended
            go.set()
            await until(lambda: app.store.seq("s1") == 5)
        gc.collect()

    run(main())


def test_hundreds_of_sessions_at_once():
    """
    Each of 300 browsers that watch a session of their own gets the answer of that session.
    """

    async def main():
        answers = [(line(say=f"answer {number}"), line(stop="stop")) for number in range(300)]
        async with chat(*answers, max_streams_per_owner=300) as app:
            watching = []
            for number in range(300):
                await app.ada.post(f"/sessions/s{number}/prompt", {"prompt": "Hi"})
                watching.append(app.ada.watch(f"/sessions/s{number}/events?after=0"))
            opened = [await watch.__aenter__() for watch in watching]
            shown = [folded(await events.until("step.ended"))[-1] for events in opened]
            for watch in watching:
                await watch.__aexit__(None, None, None)

            stored = [fold(app.store.read(f"s{number}")).last.text for number in range(300)]
            assert stored == shown
            assert 300 == len(set(shown))

    run(main())


def test_a_browser_that_watches_keeps_no_history(tmp_path):
    """
    Twenty browsers that wait do not keep what they were sent: neither transcripts nor snapshots.
    """
    session = 500_000

    async def main(store):
        async with chat((line(say="x" * session), line(stop="stop")), store=store) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await until(lambda: app.store.seq("s1") == 5)
            got = []

            async def drop(message):
                got.append(len(message.get("body", b"")))

            left = asyncio.Event()

            async def leaves():
                await left.wait()
                return {"type": "http.disconnect"}

            def kept():
                gc.collect()
                return tracemalloc.get_traced_memory()[0]

            tracemalloc.start()
            try:
                scopes = [app.ada._scope("GET", "/sessions/s1/events", {}) for _ in range(20)]
                tasks = [asyncio.create_task(app.routes(scope, leaves, drop)) for scope in scopes]
                await until(lambda: len([size for size in got if size > session]) == 20)
                await until(lambda: kept() < 8 * session)  # what one of them needs while it joins
            finally:
                tracemalloc.stop()
            left.set()
            await asyncio.gather(*tasks)

    with SqliteStore(tmp_path / "chat.db") as store:  # each reads a text of its own
        run(main(store))


def is_users(transcript, tools):
    """
    Return whether it is the turn of the user, by the words of `ChatRoutes`.
    """
    if transcript.awaits is not Awaits.TOOLS:
        return transcript.awaits is Awaits.USER
    return all(call.approval == "requested" or call.name in tools for call in transcript.pending_tool_calls)


def end_of(log, after, known, tools):
    """
    Return the seq of the record with which a turn ends that is watched behind `after`, with some tools of the browser.
    """
    store = MemoryStore()
    turns = Turns(store, print, client=Provider(), live=MemoryLive(store), of_browser=tools)
    routes, turn = ChatRoutes(turns, authorize=authorize), _Turn(known)
    for record in log[after:]:
        if (now := turn.apply(record)) is not None:
            if is_users(now, tools):
                return record.seq
            turn.left = routes._not_users(now)
    return None


@given(sessions(), st.data())
def test_a_watched_turn_ends_with_the_first_record_that_ends_it(events, data):
    """
    Few records are looked at, and none is missed, wherever a browser begins, and whatever tools it has.
    """
    log = records([event for event in events if event.durable])
    after = data.draw(st.integers(0, len(log)))
    known = fold(log[: data.draw(st.integers(after, len(log)))])
    names = [call.name for message in fold(log) for call in getattr(message, "tool_calls", ())]
    tools = data.draw(st.sets(st.sampled_from(names or ["none"])))

    if after < known.seq or not is_users(known, tools):  # else there is nothing to watch
        seqs = range(max(after + 1, known.seq), len(log) + 1)
        ends = next((seq for seq in seqs if is_users(fold(log[:seq]), tools)), None)
        assert ends == end_of(log, after, known, tools)


@pytest.mark.parametrize("last", [ToolPart.succeed, ToolPart.fail, ToolPart.request_approval])
def test_a_watched_turn_ends_with_the_last_call_of_the_app(last):
    """
    Calls of the app are answered, or wait for a person, in any order, while one of the browser waits.
    """
    calls = [Call("rain", call_id=each) for each in ("c1", "c2", "c3")]
    asked = [event for event in answer(calls=[*calls, Call("form", call_id="c4")]) if event.durable]
    c1, c2, c3, _ = fold(asked).pending_tool_calls
    ends = [c2.succeed("sun"), c3.request_approval(), c1.start(), last(c1, "why")]
    log = records([*asked, *ends, c2.succeed("sun")])

    assert log[-2].seq == end_of(log, 1, fold(log[:1]), {"form"})
