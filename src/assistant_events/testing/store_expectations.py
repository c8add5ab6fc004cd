"""What the checks of stores share: expectations with a sentence each, and threads that may not block."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import Final

from assistant_events.events import Event, Record, TextEnded
from assistant_events.messages import Transcript, Unfinished
from assistant_events.reducer import fold
from assistant_events.stores.contract import Store
from assistant_events.testing.sample import require

SECONDS: Final = 30.0
"""Limit for calls that must not block."""


@contextmanager
def of_promise(promise: str) -> Generator[None]:
    """Prefix failures with the promise."""
    try:
        yield
    except AssertionError as error:
        raise AssertionError(f"{promise}: {error}") from error
    except Exception as error:
        raise AssertionError(f"{promise}: unexpected {type(error).__name__}: {error!s:.300}") from error


def same(expected: object, got: object, what: str) -> None:
    """Raise unless both are equal."""
    if expected != got:
        raise AssertionError(f"{what}: expected {expected!r}, got {got!r}")


def refuse(kind: type[Exception], attempt: Callable[[], object], what: str) -> Exception:
    """Return the error of *attempt*; raise unless it is of this *kind*."""
    try:
        attempt()
    except kind as error:
        return error
    except Exception as error:
        raise AssertionError(f"{what}: expected {kind.__name__}, got {type(error).__name__}: {error}") from error
    raise AssertionError(f"{what}: expected {kind.__name__}, nothing was raised")


def events_of(records: Iterable[Record]) -> list[Event]:
    """Return the events of records."""
    return [record.event for record in records]


def texts(count: int, message_id: str = "m1") -> list[Event]:
    """Return as many events of one message."""
    return [TextEnded(message_id=message_id, text=f"text {number}") for number in range(count)]


def unfinished_of(store: Store, session_id: str) -> tuple[Unfinished, ...]:
    """Return what a store has as the unfinished work of a session."""
    return store.unfinished().get(session_id, ())


def folded(store: Store, session_id: str) -> tuple[Unfinished, ...]:
    """Return the unfinished work that the records of a session fold to."""
    start = store.load_snapshot(session_id) or Transcript()
    return fold(store.read(session_id, start.seq), start=start).unfinished()


def at_once(work: Sequence[Callable[[], object]], what: str) -> None:
    """Run each in a thread of its own; none may fail or block."""
    faults: list[Exception] = []

    def run(each: Callable[[], object]) -> None:
        try:
            each()
        except Exception as error:  # noqa: BLE001 - reported by the main thread
            faults.append(error)

    threads = [Thread(target=run, args=(each,), daemon=True) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
        require(not thread.is_alive(), f"{what} did not end within {SECONDS:.0f} s")
    require(not faults, f"{what} failed: {faults!r}")
