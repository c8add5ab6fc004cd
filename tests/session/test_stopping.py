"""
Stops of a session, where no turn is made in this process.
"""

import asyncio

import attrs
import pytest

from assistant_events import Awaits, ErrorInfo, Origin, StepStarted, TextDelta, TextEnded, TextStarted, fold
from assistant_events.messages import close_message, interrupted
from assistant_events.session import Session, SyncSession
from assistant_events.session.stopping import since_its_end
from assistant_events.stores import MemoryStore, SqliteStore
from assistant_events.testing import Call, answer, durable, prompt, rewind
from tests.session.moves import BODY, RUN, SlowProvider, left_by_a_dead_worker, run, silent, until, with_run
from tests.session.scripted import CUT, Provider, Store, line


def test_two_stops_at_once():
    """
    One of them ends the turn, the other finds it ended.
    """

    async def main():
        store = MemoryStore()
        session = await Session.open(store, "s1")
        await session.prompt("Hi")
        sessions = [await Session.open(store, "s1") for _ in range(2)]
        stops = await asyncio.gather(*[each.stop() for each in sessions], session.stop(), session.stop())

        assert [0, 0, 0, 2] == sorted(len(records) for records in stops)
        assert ["prompt.submitted", "step.started", "step.failed"] == [record.event.type for record in store.read("s1")]

    run(main())


def test_a_stop_before_the_model_is_asked():
    """
    The empty answer is of the model of the last one; which one would have served it is not known.
    """
    session = SyncSession.open(MemoryStore(), "s1")
    origin = Origin(provider="acme", dialect="acme-chat", model="m", served_model="m-1")
    said = [attrs.evolve(each, origin=origin) if isinstance(each, StepStarted) else each for each in answer("Hi")]
    session.append(prompt(), *durable(said))
    session.prompt("And?")
    session.stop()

    assert attrs.evolve(origin, served_model=None) == session.transcript.last.origin


def test_a_stop_of_a_session_that_was_opened_before():
    """
    It reads what others have written since, and stops that.
    """

    async def main():
        store = MemoryStore()
        early = await Session.open(store, "s1")
        await (await Session.open(store, "s1")).prompt("Hi")

        assert 2 == len(await early.stop())
        assert ("unknown", "unknown") == (early.transcript.last.origin.provider, early.transcript.last.origin.dialect)
        assert Awaits.USER is early.transcript.awaits

    run(main())


def test_a_stop_of_a_call_that_was_started():
    """
    It fails with the others, though it may have run: nothing is left to wait for.
    """
    store = MemoryStore()
    session = SyncSession.open(store, "s1")
    calls = [Call("f", {}, call_id=name) for name in ("c1", "c2")]
    session.append(prompt(message_id="u1"), *durable(answer("", calls=calls)))
    session.append(session.transcript.pending_tool_calls[0].start())
    session.stop()

    assert ["cancelled", "cancelled"] == [call.error.kind for call in session.transcript["a1"].tool_calls]
    assert {} == store.unfinished()


def test_a_stop_of_a_run_that_was_cut(caplog):
    """
    The provider is asked to stop a run that could be resumed, though its message has ended.
    """

    async def main():
        client = Provider()
        session = await Session.open(left_by_a_dead_worker(*with_run(RUN)), "s1")
        await session.append(*close_message(session.transcript["a1"], interrupted()))
        assert Awaits.PROVIDER is session.transcript.awaits
        await session.stop(client)

        assert (["a1"], Awaits.USER) == (client.stopped, session.transcript.awaits)
        assert "the turn was stopped" == session.transcript.last.error.message
        assert [] == caplog.records

    run(main())


def test_a_stop_of_a_run_that_cannot_be_resumed():
    """
    It lives at the provider all the same, and is stopped there.
    """

    async def main():
        client = Provider()
        session = await Session.open(left_by_a_dead_worker(*with_run(attrs.evolve(RUN, resumable=False))), "s1")
        await session.stop(client)

        assert ["a1"] == client.stopped

    run(main())


def test_a_stop_of_an_answer_whose_connection_breaks():
    """
    What ran when it broke is stopped at the provider by the one that was connected to it.
    """
    store = MemoryStore()
    session, other = [SyncSession.open(store, "s1") for _ in range(2)]
    session.prompt("Hi")

    def chunks():
        yield line(say="Hel")
        other.stop()
        raise ConnectionResetError("reset by peer")

    client = Provider(chunks())
    with session.respond(client, BODY, message_id="a1") as events:
        list(events)

    assert (["a1"], "cancelled") == (client.stopped, session.transcript["a1"].error.kind)


def test_a_stop_of_two_runs():
    """
    Of two workers that have begun an answer both runs are stopped.
    """

    async def main():
        client, runs = Provider(), [RUN, attrs.evolve(RUN, id="run-2")]
        starts = [
            attrs.evolve(with_run(each)[0], message_id=name) for each, name in zip(runs, ("a1", "a2"), strict=True)
        ]
        session = await Session.open(left_by_a_dead_worker(*starts), "s1")
        await session.stop(client)

        assert (["a1", "a2"], Awaits.USER) == (client.stopped, session.transcript.awaits)

    run(main())


def test_an_answer_after_one_that_was_stopped():
    """
    The stream of an answer that was stopped need not be left before the next one is asked for.
    """
    client = Provider(*[[line(say="Hel"), line(say="lo"), line(stop="stop")]] * 2)
    session = SyncSession.open(MemoryStore(), "s1")
    session.prompt("Hi")
    with session.respond(client, BODY) as events:
        next(events)
        session.stop()
        session.prompt("And?")
        with session.respond(client, BODY) as more:
            assert "step.ended" == list(more)[-1].type

    assert ["cancelled", None] == [each.error and each.error.kind for each in session.transcript.messages[1::2]]


def test_a_stop_while_another_process_goes_on():
    """
    When a fragment begins while the checkpoints are read, they are read again: its text is kept.
    """

    async def main():
        store = Store()
        store.append("s1", [prompt("Hi"), *CUT])
        session = await Session.open(store, "s1")
        batches = iter([[TextEnded(message_id="a1", text="Hello"), TextStarted(message_id="a1")]])

        def load(session_id):
            pieces = store.inner.load_checkpoints(session_id)
            for batch in batches:
                store.append(session_id, batch)
                store.checkpoint(session_id, [TextDelta(message_id="a1", offset=0, delta="Bye")])
            return pieces

        store.load_checkpoints = load
        await session.stop()

        assert ["Hello", "Bye"] == [part.text for part in session.transcript.answer("a1").parts]

    run(main())


def test_a_stop_behind_what_another_process_writes():
    """
    The message may have grown since it was read: it is cancelled as it is.
    """

    async def main():
        store = Store()
        store.append("s1", [prompt("Hi"), *CUT])
        session = await Session.open(store, "s1")
        batches = iter([[TextEnded(message_id="a1", text="Hello")]])
        store.before_append = lambda: [store.inner.append("s1", batch) for batch in batches]
        await session.stop()

        answer = session.transcript.answer("a1")
        assert ("Hello", "cancelled") == (answer.text, answer.error.kind)

    run(main())


def test_a_stop_keeps_what_another_process_has_received(tmp_path):
    """
    The text of the answer is that of its checkpoints, also in a session that was opened before the answer.
    """

    async def main():
        with SqliteStore(tmp_path / "s.db", synchronous="normal") as store:
            early = await Session.open(store, "s1")
            session = await Session.open(store, "s1", checkpoint_s=0)
            await session.prompt("Hi")
            async with session.respond(SlowProvider(silent(line(say="Hel"), line(say="lo"))), BODY) as events:
                receiving = asyncio.create_task(receive(events))
                await until(lambda: "Hello" == "".join(piece.delta for piece in store.load_checkpoints("s1")))
                await early.stop()
                receiving.cancel()

            assert ("Hello", "cancelled") == (early.transcript.last.text, early.transcript.last.error.kind)

    run(main())


class Waiting(Provider):
    """
    A client whose stop waits, although its answers do not.
    """

    async def stop(self, target):
        await asyncio.sleep(0)


def test_a_blocking_session_takes_no_client_that_waits():
    """
    It is refused before anything is asked or stopped: the stop of another writer comes when an answer is nearly over.
    """
    session = SyncSession.open(MemoryStore(), "s1")
    session.prompt("Hi")
    for use in (session.stop, lambda client: session.respond(client, BODY), session.resume):
        with pytest.raises(
            TypeError, match="SyncSession takes a synchronous client, such as SyncOpenAIChat; OpenAIChat is for"
        ):
            use(Waiting())
    assert "model" == session.transcript.awaits


async def receive(events):
    """
    Receive an answer to its end.
    """
    async for _ in events:
        pass


# -- what a move sees of a stop

OLD = [prompt("Hm", message_id="u0"), *answer("Well", message_id="a0")]
HI = prompt("Hi", message_id="u1")
CALLS = answer(calls=[Call("look", call_id="c1")], message_id="a1")
STOPPED = answer(error=ErrorInfo(kind="cancelled", message="stopped"), message_id="x1")
AND = prompt("And?", message_id="u2")
HELLO = answer("Hello", message_id="a2")


@pytest.mark.parametrize(
    ("before", "since", "expected"),
    [
        ([HI], [], None),
        ([HI], CALLS, None),
        ([HI], [*CALLS, AND], None),
        ([HI], STOPPED, []),
        ([HI], [*STOPPED, AND], ["u2"]),
        ([HI], [*STOPPED, AND, *HELLO], None),
        ([HI], [*STOPPED, *HELLO], ["a2"]),
        ([HI, *CALLS], [*STOPPED, AND, *HELLO], None),
        ([HI, *STOPPED, AND], [], None),
        ([HI, *STOPPED, AND], HELLO, None),
        ([HI], [rewind("u1")], []),
        ([HI], [rewind("u1"), AND], ["u2"]),
        ([HI], [rewind("u1"), AND, *HELLO], None),
        ([HI], [rewind("u1"), *HELLO], ["a2"]),
    ],
)
def test_what_came_since_a_turn_ended(before, since, expected):
    """
    A stop or a rewind ends the turn of a move, wherever it is in the log; an answer to a later prompt is the move's.
    """
    start = fold([*OLD, *before])
    later = since_its_end(start, fold(since, start=start))

    assert expected == (later if later is None else [message.id for message in later])
