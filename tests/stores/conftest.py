"""
Stores of each kind, closed when the test is over.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from assistant_events.stores import MemoryStore, SqliteStore, Store


@pytest.fixture
def sqlite_stores(tmp_path: Path) -> Iterator[Callable[[], SqliteStore]]:
    """
    A function that opens a store in a new file.
    """
    numbers = count(1)
    with ExitStack() as stack:
        yield lambda: stack.enter_context(SqliteStore(tmp_path / f"{next(numbers)}.db", synchronous="normal"))


@pytest.fixture(params=["memory", "sqlite in memory", "sqlite in a file"])
def make_store(request: pytest.FixtureRequest, sqlite_stores: Callable[[], SqliteStore]) -> Callable[[], Store]:
    """
    A function that makes an empty store of one kind.
    """
    makers = {
        "memory": MemoryStore,
        "sqlite in memory": lambda: SqliteStore(":memory:"),
        "sqlite in a file": sqlite_stores,
    }
    return makers[request.param]


@pytest.fixture
def store(make_store: Callable[[], Store]) -> Iterator[Store]:
    """
    An empty store of each kind.
    """
    with make_store() as made:
        yield made
