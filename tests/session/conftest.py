"""
Fixtures for both faces of a session.
"""

import asyncio

import pytest

from tests.session.scripted import Store, opener


@pytest.fixture
def store():
    return Store()


@pytest.fixture(params=["async", "async, store in its own thread", "async, store in the loop", "sync"])
def open_session(request):
    """
    Opens a session with either face; what is awaited is run by the fixture.
    """
    opened = []
    with asyncio.Runner() as runner:
        yield opener(request.param, runner, opened)
        for store in opened:
            runner.run(store.close())


@pytest.fixture
def session(open_session, store):
    return open_session(store)
