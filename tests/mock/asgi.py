"""
Talks to an ASGI app message by message, without a server and without real waits.

`ask` completes one request; `Exchange` holds a stream open. `HandClock` moves only when a test moves it,
`JumpClock` jumps to the end of each wait.
"""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from urllib.parse import unquote

import httpx2

from assistant_events import fold
from assistant_events.adapters.dialect import load_dialect
from assistant_events.adapters.gemini_interactions.mock import Answer, Match, MockProvider
from assistant_events.clients import load_client
from assistant_events.mock import Contains, Fixture, Fixtures
from assistant_events.mock.proxy import RecordingProxy
from assistant_events.testing import mock_provider
from assistant_events.testing.transport import StreamingTransport

KEY = {"x-goog-api-key": "secret"}
MODEL = "gemini-3.6-flash"
NOON = datetime(2026, 11, 22, 12, 0, 0, tzinfo=UTC)

CREATED = "2026-11-22T12:00:00Z"


class HandClock:
    """
    Time that moves only by `advance`.
    """

    def __init__(self):
        self.time = 0.0
        self.waiting = asyncio.Event()
        self._sleepers = []

    def now(self):
        return self.time

    def utc(self):
        return NOON + timedelta(seconds=self.time)

    def real(self, seconds):
        return seconds

    async def wait(self, changed, seconds):
        deadline = None if seconds is None else self.time + seconds
        self._sleepers.append((deadline, changed))
        self.waiting.set()
        await changed.wait()

    async def advance(self, seconds):
        """
        Move the time, and run the tasks that waited for it.
        """
        await settle()
        self.time += seconds
        due = [sleeper for sleeper in self._sleepers if sleeper[0] is not None and sleeper[0] <= self.time]
        self._sleepers = [sleeper for sleeper in self._sleepers if sleeper not in due]
        for _, changed in due:
            changed.set()
        await settle()


class JumpClock(HandClock):
    """
    Time that jumps to the end of every wait. A wait without an end still waits.
    """

    async def wait(self, changed, seconds):
        if seconds is None:
            await changed.wait()
        else:
            self.time += seconds
            await asyncio.sleep(0)


async def settle():
    """
    Let everything run that can.
    """
    for _ in range(50):
        await asyncio.sleep(0)


class Exchange:
    """
    One request and what comes back, piece by piece.
    """

    def __init__(self, provider, method, target, body=None, headers=None):
        path, _, query = target.partition("?")
        given = {"host": "mock", **KEY, **(headers or {})}
        self.scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.lower().encode(), value.encode()) for name, value in given.items() if value is not None],
            "server": ("mock", 80),
            "client": ("127.0.0.1", 1),
        }
        self.status = None
        self.headers = {}
        self.pieces = []
        self.ended = False
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        self._incoming = asyncio.Queue()
        self._incoming.put_nowait({"type": "http.request", "body": data, "more_body": False})
        self.task = asyncio.create_task(getattr(provider, "app", provider)(self.scope, self._incoming.get, self._send))

    async def _send(self, message):
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            return
        if message.get("body"):
            self.pieces.append(message["body"])
        self.ended = self.ended or not message.get("more_body", False)

    def leave(self):
        """
        Go away, as a client does that closes its connection.
        """
        self._incoming.put_nowait({"type": "http.disconnect"})

    def more(self):
        """
        Send another, empty piece of the request.
        """
        self._incoming.put_nowait({"type": "http.request", "body": b"", "more_body": False})

    async def over(self):
        """
        Wait for the end, in vain for no longer than a test may hang.
        """
        await asyncio.wait_for(self.task, 10)
        return self

    @property
    def body(self):
        return b"".join(self.pieces)

    @property
    def document(self):
        return json.loads(self.body)

    @property
    def events(self):
        """
        The events of a stream, parsed, without `[DONE]`.
        """
        return [json.loads(line[6:]) for line in self.body.decode().split("\n") if line.startswith("data: {")]

    @property
    def names(self):
        return [event["event_type"] for event in self.events]


async def ask(provider, method, target, body=None, headers=None):
    """
    Return an exchange that is over.
    """
    return await Exchange(provider, method, target, body, headers).over()


def asked(provider, method, target, body=None, headers=None):
    """
    `ask` for tests that ask once.
    """
    return asyncio.run(ask(provider, method, target, body, headers))


async def recorded_and_replayed(mock, provider_of, script, path, requests, headers):
    """
    Return what a recording proxy passes on for *requests*, and what a provider gives that has the recording.

    A request is its path and its body.
    """
    transport = StreamingTransport(provider_of(script).app)
    proxy = RecordingProxy(mock.recorded, "https://upstream.test", path, transport=transport)
    first = [await ask(proxy, "POST", target, body, headers) for target, body in requests]
    replay = provider_of(str(path))
    return first, [await ask(replay, "POST", target, body, headers) for target, body in requests]


def message_of(dialect, exchange):
    """
    The message that a stream or a document is read as.
    """
    found = load_dialect(dialect)
    if exchange.headers["content-type"] == "application/json":
        return fold(found.decode_resource(exchange.document, "m")).last
    decoder = found.decoder("m")
    return fold([*decoder.feed(exchange.body), *decoder.close()]).last


def followed(dialect, answer, body, *faults):
    """
    Return the message that the client of a dialect makes of an answer to "Hello", and the number of requests.
    """

    async def work():
        async with (
            mock_provider({"Hello": answer}, dialect=dialect, faults=faults) as provider,
            httpx2.AsyncClient(transport=provider.transport()) as http,
            load_client(dialect)("key-of-a-test", http=http, base_url="http://mock") as client,
        ):
            events = [event async for event in client.create(body, "m")]
            return fold(events).last, len(provider.requests)

    return asyncio.run(work())


def create(text="hi", **more):
    return {"model": MODEL, "input": text, **more}


def text_step(text, **more):
    return {"type": "model_output", "content": [{"type": "text", "text": text, **more}]}


def thought_step(text=None, **more):
    summary = {} if text is None else {"summary": [{"type": "text", "text": text}]}
    return {"type": "thought", **summary, **more}


def call_step(call_id="c1", name="getWeather", **arguments):
    return {"type": "function_call", "id": call_id, "name": name, "arguments": arguments}


def provider_of(*answers, **options):
    """
    A provider that gives these answers, whatever is asked; ids count from v1_1.
    """
    numbers = iter(range(1, 1000))
    options = {"make_id": lambda: f"v1_{next(numbers)}", "clock": JumpClock(), **options}
    made = [one if isinstance(one, Answer) else Answer(steps=tuple(one)) for one in answers or [[text_step("Hello")]]]
    return MockProvider(Fixtures((Fixture(answers=tuple(made)),)), **options)


def told(text, *steps, **more):
    """
    A fixture for prompts that hold *text*.
    """
    return Fixture(match=Match(user_text=Contains(text)), answers=(Answer(steps=steps, **more),))
