"""
What type checkers see of stores. Checked by mypy and pyright, never run.
"""

from datetime import datetime
from typing import assert_never, assert_type

from assistant_events.events import Record, TextEnded
from assistant_events.messages import Awaits, Transcript, Unfinished
from assistant_events.stores import (
    AsyncStore,
    MemoryStore,
    SessionInfo,
    SqliteStore,
    Store,
)


def every_store_is_a_store() -> tuple[Store, ...]:
    """The stores that are shipped follow the contract."""
    return (MemoryStore(), SqliteStore("s.db"))


def verbs(store: Store, event: TextEnded, at: datetime) -> None:
    """A list of one class of event is taken where events are."""
    events = [event]
    assert_type(store.append("s", events, expected_seq=1, meta={"a": 1}, at=at), tuple[Record, ...])
    assert_type(next(store.read("s", 5, limit=1)), Record)
    assert_type(store.load_snapshot("s"), Transcript | None)


async def coroutines(store: AsyncStore, event: TextEnded) -> None:
    """The asynchronous face has the types of the verbs, not `Any`."""
    assert_type(await store.append("s", [event], expected_seq=1, meta={"a": 1}), tuple[Record, ...])
    assert_type(await store.seq("s"), int)
    assert_type(await store.sessions(), tuple[SessionInfo, ...])
    assert_type(await store.load_snapshot("s"), Transcript | None)
    assert_type(await store.fork("s", "t", at=1), int)
    assert_type(await store.unfinished(), dict[str, tuple[Unfinished, ...]])
    assert_type([record async for record in store.read("s")], list[Record])
    await store.snapshot("s", Transcript())
    await store.prune("s", 1)
    await store.delete("s")
    await store.append("s", [event], wrong=True)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def moves(unfinished: Unfinished) -> str:
    """`match` covers every party that can be awaited."""
    match unfinished.awaits:
        case Awaits.PROVIDER:
            return unfinished.run.id if unfinished.run is not None else "gone"
        case Awaits.TOOLS:
            return unfinished.call_id or ""
        case Awaits.MODEL | Awaits.USER:
            return unfinished.message_id
        case _ as never:
            assert_never(never)
