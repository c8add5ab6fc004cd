"""
A provider, a store and two faces, made for the tests of this folder.
"""

import asyncio
import json

from assistant_events.adapters import DecoderBase, JsonLines
from assistant_events.events import StepStarted, TextStarted
from assistant_events.session import Session, SyncSession
from assistant_events.stores import AsyncStore, MemoryStore
from assistant_events.testing import Clock


class Scripted(DecoderBase):
    """
    Decodes one JSON object a line; its keys are words of this class.
    """

    dialect = "scripted"
    provider = "acme"
    framing = JsonLines

    def on_event(self, event):
        self.ensure_started()
        for word, value in event.items():
            getattr(self, f"on_{word}")(value)

    def on_say(self, text):
        self.recorder.text(text)

    def on_think(self, text):
        self.recorder.reasoning(text)

    def on_said(self, state):
        self.recorder.end_text(state)

    def on_call(self, call):
        self.recorder.tool_call(call["id"], call["name"], call.get("input", {}))

    def on_write(self, call):
        self.recorder.tool_input(call["id"], call["name"], call["delta"])

    def on_draw(self, data):
        self.recorder.media(data.encode(), "image/png")

    def on_stop(self, finish):
        self.recorder.finish(finish)
        self.end_answer()

    def on_hop(self, finish):
        self.recorder.finish(finish)
        self.next_hop()


def line(**words):
    """Return one line of the wire."""
    return json.dumps(words).encode() + b"\n"


CALL = {"id": "c1", "name": "weather", "input": {"city": "Oslo"}}
CUT = (StepStarted(message_id="a1", origin=Scripted("a1").origin()), TextStarted(message_id="a1"))
"""What a process that was killed in the middle of an answer has left in the log."""

HELLO = (line(say="Hel"), line(say="lo"), line(stop="stop"))
"""An answer in three chunks: text, text, end."""

ASKS = (line(call=CALL), line(stop="tool-calls"))
"""An answer that calls a tool of the app."""


class Store:
    """
    A memory store that records its batches, and fails on demand.
    """

    def __init__(self):
        self.inner = MemoryStore(clock=Clock())
        self.batches = []
        self.refuse = None
        """Raised by the next append, which writes nothing."""

        self.lose = None
        """Raised by the next append, which has written all the same."""

        self.before_append = None
        """Called by each append before it writes."""

    def append(self, session_id, events, **more):
        if self.before_append is not None:
            self.before_append()
        refuse, self.refuse = self.refuse, None
        if refuse is not None:
            raise refuse
        records = self.inner.append(session_id, events, **more)
        self.batches.append([event.type for event in events])
        lose, self.lose = self.lose, None
        if lose is not None:
            raise lose
        return records

    def __getattr__(self, name):
        return getattr(self.inner, name)

    @property
    def events(self):
        """Everything in the log of session `s1`."""
        return [record.event for record in self.inner.read("s1")]

    @property
    def types(self):
        """The types of everything in the log of session `s1`."""
        return [event.type for event in self.events]


class Awaited:
    """
    `Session` with the methods of `SyncSession`, so that both pass the same tests.
    """

    def __init__(self, session, runner):
        self._session = session
        self._runner = runner

    def __getattr__(self, name):
        value = getattr(self._session, name)
        if not asyncio.iscoroutinefunction(value):
            return value
        return lambda *args, **more: self._run(value(*args, **more))

    def __repr__(self):
        return repr(self._session)

    def receive(self, *args, **more):
        return self._each(self._session.receive(*args, **more))

    def _each(self, events):
        while True:
            try:
                yield self._run(anext(events))
            except StopAsyncIteration:
                return
            except GeneratorExit:
                self._run(events.aclose())
                raise

    def _run(self, awaitable):
        async def main():
            return await awaitable

        return self._runner.run(main())


def opener(face, runner, opened):
    """Return the function that opens a session with one of the faces; what has to be closed is added to *opened*."""

    def open_session(store, session_id="s1", **more):
        if face == "sync":
            return SyncSession.open(store, session_id, **more)
        if face == "async, store in its own thread":
            store = AsyncStore(store)
            opened.append(store)
        return Awaited(runner.run(Session.open(store, session_id, **more)), runner)

    return open_session
