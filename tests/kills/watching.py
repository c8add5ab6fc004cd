"""
Pages that watch the sessions of the kill tests while the processes that serve them are killed.

It folds with the module of the package, in one process of node for all pages.
"""

import asyncio
import json
import shutil
from pathlib import Path

import pytest

import assistant_events.outward
from assistant_events import fold
from tests.kills.trip import TEXTS
from tests.official.client import Program
from tests.outward.vectors import canonical, document_of

MODULE = Path(assistant_events.outward.__file__).parent / "fold.mjs"


def start_pages(folder):
    """
    Start the process of all pages; without node the test is skipped.
    """
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    return Program([node, str(Path(__file__).with_name("browser.mjs")), str(MODULE)], folder / "log")


class Page:
    """
    A page that watches one session, at the first server of *urls*, and at the next one after each cut.
    """

    def __init__(self, pages, name, urls):
        self._pages = pages
        self._name = name
        pages.ask(call="watch", name=name, urls=urls, texts=TEXTS)

    def shown(self):
        """Return what the page shows, and what has happened to it."""
        return self._pages.ask(call="show", name=self._name)

    async def until_opened(self, times):
        """
        Wait until the page has been connected to its session that many times.
        """
        while True:
            if (await asyncio.to_thread(self.shown))["opened"] >= times:
                return
            await asyncio.sleep(0.02)

    def leave(self):
        """Close the page."""
        self._pages.ask(call="leave", name=self._name)

    async def until_equal(self, store, session_id):
        """
        Wait until the page shows what is in the log, and return what has happened to it: nothing that is out of place.
        """
        while True:
            shown = await asyncio.to_thread(self.shown)
            assert shown["faults"] + shown["refused"] == [], shown
            if logged_as_shown(store, session_id) == canonical(without_progress(json.loads(shown["transcript"]))):
                return shown
            await asyncio.sleep(0.02)


def logged_as_shown(store, session_id):
    """
    Return what Python makes of the log, as a page shows it.
    """
    return canonical(document_of(fold(store.read(session_id))))


def without_progress(document):
    """
    Return the document of a page without the progress of calls that have no result: it is live, and in no log.

    A page that was shown it keeps it after the process has died, until the call is answered.
    """
    for message in document["messages"]:
        for part in message.get("parts", ()):
            if part["type"] == "tool" and part["status"] == "called":
                part.pop("output", None)
    return document
