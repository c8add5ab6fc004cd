"""
A provider, a store and two faces, made for the tests of this folder.
"""

import asyncio
import json

from assistant_events.adapters import DecoderBase, Dialect, Encoded, JsonLines, UsageTable
from assistant_events.events import StepStarted, TextStarted
from assistant_events.session import Session, SyncSession
from assistant_events.stores import AsyncStore, MemoryStore
from assistant_events.testing import Clock
from assistant_events.values import ErrorInfo, RemoteRun


class Scripted(DecoderBase):
    """
    Decodes one JSON object a line; its keys are words of this class.
    """

    dialect = "acme-chat"
    provider = "acme"
    framing = JsonLines
    usage_table = UsageTable(counts={"input_tokens": "input", "output_tokens": "output"})
    lives = None
    """Id of the run, if it lives at the provider."""

    def remote_run(self):
        return self.lives and RemoteRun(id=self.lives, kind="acme", resumable=True)

    def on_event(self, event):
        self.lives = event.pop("lives", self.lives)
        self.step_state.update(event.pop("keeps", {}))
        self.ensure_started()
        for word, value in event.items():
            getattr(self, f"on_{word}")(value)

    def on_say(self, text):
        self.recorder.text(text)

    def on_count(self, usage):
        self.note_usage(usage)

    def facts(self):
        if (self._usage or {}).get("input") == "broken":
            raise RuntimeError("broken inside")
        return super().facts()

    def on_think(self, text):
        self.recorder.reasoning(text)

    def on_said(self, state):
        self.recorder.end_text(state)

    def on_call(self, call):
        self.recorder.tool_call(call["id"], call["name"], call.get("input", {}))

    def on_write(self, call):
        self.recorder.tool_input(call["id"], call["name"], call["delta"])

    def on_progress(self, call_id):
        self.recorder.tool_progress(call_id, "half of it")

    def on_draw(self, data):
        self.recorder.media(data.encode(), "image/png")

    def on_stop(self, finish):
        self.recorder.finish(finish)
        self.end_answer()

    def on_fail(self, kind):
        self.recorder.fail(ErrorInfo(kind=kind, message="the provider refuses"))
        self.end_answer()

    def on_hop(self, finish):
        self.recorder.finish(finish)
        self.next_hop()


def encode(transcript, body, *, mode="auto", provider=None, policy=None, strip=False):
    """Write a conversation as lines; a chained request leaves out all up to the last answer."""
    messages = list(transcript)
    answers = [at for at, message in enumerate(messages) if message.type == "assistant" and message.error is None]
    chained = mode != "full" and bool(answers)
    said = []
    for message in messages[answers[-1] if chained else 0 :]:
        if message.type == "user":
            said.append(f"user: {message.text}")
        elif not chained:
            said.append("assistant")
        said += [f"result: {call.output[0].text}" for call in getattr(message, "tool_calls", ()) if call.output]
    return Encoded(body={**body, "input": said}, drops=(), mode="chained" if chained else "full")


def line(**words):
    """Return one line of the wire."""
    return json.dumps(words).encode() + b"\n"


DIALECT = Dialect(name="acme-chat", decoder=Scripted, encoder=encode)


class Provider:
    """
    A client for both faces, whose answers are given as chunks. An exception among the chunks is raised.
    """

    dialect = DIALECT
    provider = "acme"

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []
        self.resumed = []
        self.stopped = []

    def create(self, body, message_id, *, prior=None):
        self.requests.append(body)
        return self._sent(self.answers.pop(0))

    def resume(self, message, *, request=None):
        self.resumed.append(message.id)
        return self._sent(self.answers.pop(0))

    def stop(self, target):
        self.stopped.append(target.id)

    def _sent(self, chunks):
        for chunk in chunks:
            if isinstance(chunk, Exception):
                raise chunk
            yield chunk


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


class InLoop:
    """
    A store that never waits, and passes its calls on: a session calls it in the event loop.
    """

    never_waits = True

    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        return getattr(self._store, name)


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

    def decode(self, *args, **more):
        return AwaitedStream(self._session.decode(*args, **more), self._run)

    def respond(self, *args, **more):
        return AwaitedStream(self._session.respond(*args, **more), self._run)

    def resume(self, *args, **more):
        return AwaitedStream(self._session.resume(*args, **more), self._run)

    def _run(self, awaitable):
        async def main():
            return await awaitable

        return self._runner.run(main())


class AwaitedStream:
    """
    `EventStream` with the methods of `SyncEventStream`.
    """

    def __init__(self, stream, run):
        self._stream = stream
        self._run = run

    def __getattr__(self, name):
        return getattr(self._stream, name)

    def __iter__(self):
        return self

    def __next__(self):
        try:
            return self._run(anext(self._stream))
        except StopAsyncIteration:
            raise StopIteration from None

    def __enter__(self):
        self._run(self._stream.__aenter__())
        return self

    def __exit__(self, *reason):
        self._run(self._stream.__aexit__(*reason))


def each(stream):
    """Give the events of a stream inside its block."""
    with stream as events:
        yield from events


def receive(session, *args, **more):
    """Give the events of a stream that is decoded in its block."""
    return each(session.decode(*args, **more))


def opener(face, runner, opened):
    """Return the function that opens a session with one of the faces; what has to be closed is added to *opened*."""

    def open_session(store, session_id="s1", **more):
        if face == "sync":
            return SyncSession.open(store, session_id, **more)
        if face == "async, store in the loop":
            store = InLoop(store)
        if face == "async, store in its own thread":
            store = AsyncStore(store)
            opened.append(store)
        return Awaited(runner.run(Session.open(store, session_id, **more)), runner)

    return open_session
