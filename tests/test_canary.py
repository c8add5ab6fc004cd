"""
One canary over all flows: no key and no password leaves through what the library keeps, prints or logs.

Each flow makes a request with credentials to a hostile server that repeats every credential it was sent: in status
lines, headers, content types, error texts and codes, run ids. A flow gives all texts that it has produced. To add one,
write a function that takes a `Hostile` and a folder and yields texts, and name it in `FLOWS` with the answers that it
is tried with.
"""

import asyncio
import json
import logging
import os
import re
import signal
import subprocess
import sys
from base64 import b64decode
from contextlib import suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread
from urllib.parse import unquote

import attrs
import httpx2
import pytest
import requests

from assistant_events import redact
from assistant_events.adapters.gemini_interactions import GeminiInteractionsDecoder
from assistant_events.adapters.gemini_interactions.client import GeminiInteractions, SyncGeminiInteractions
from assistant_events.clients import Clock
from assistant_events.converters import dumps
from assistant_events.errors import LocalProtocolError
from assistant_events.session import Session, SyncSession
from assistant_events.stores import MemoryStore, SqliteStore

KEY = "c4n4ry-k3y-0123456789"
PASSWORD = "c4n4ry-p4ssw0rd-42"
CANARIES = (KEY, PASSWORD)
FAST = Clock(scale=0.001)
ASKED = {"model": "gemini-3.6-flash", "stream": True}
BODY = {**ASKED, "input": "Hi"}


# -- the server


def http(status, body, content_type="application/json", *, reason="Odd", **headers):
    lines = [f"HTTP/1.1 {status} {reason}", f"content-type: {content_type}", f"content-length: {len(body.encode())}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "connection: close", "", body])


def sse(*events):
    frames = [f"event: {event['event_type']}\ndata: {json.dumps(event)}\n\n" for event in events]
    return http(200, "".join(frames), "text/event-stream")


def refusal(said):
    return json.dumps({"error": {"code": said, "status": said, "message": f"The key {said} is not valid."}})


def created(said):
    return {"event_type": "interaction.created", "interaction": {"id": said, "status": "in_progress", "model": "m"}}


ANSWERS = {
    "a refusal": lambda said: http(401, refusal(said), **{"x-request-id": said}),
    "a refusal with another code": lambda said: http(400, json.dumps({"error": {"code": said}})),
    "a refusal of no form": lambda said: http(403, f"<p>{said}</p>", f"text/{said}"),
    "a redirect": lambda said: http(302, "", location=f"http://elsewhere.invalid/{said}?key={said}"),
    "another content type": lambda said: http(200, "", f"text/{said}"),
    "no HTTP": lambda said: f"{said}\r\n\r\n",
    "a header that is none": lambda said: f"HTTP/1.1 200 OK\r\n{said}\r\n\r\n",
    "a document that is none": lambda said: http(200, f'"{said}'),
    "a document": lambda said: http(
        200, json.dumps({"id": said, "status": said, "model": "m", "errors": [{"code": said, "message": said}]})
    ),
    "a document of a failure": lambda said: http(
        200, json.dumps({"id": "v1", "status": "failed", "errors": [{"code": said, "message": said}]})
    ),
    "an error in the stream": lambda said: sse(
        created("v1"), {"event_type": "error", "error": {"code": said, "message": f"No {said}."}}
    ),
    "a stream of its words": lambda said: sse(
        created(said), {"event_type": "interaction.completed", "interaction": {"id": said, "status": said}}
    ),
}
HTTP_LIBRARY = {
    "a status line": lambda said: http(401, refusal(said), reason=f"No {said}"),
    "a redirect to itself": lambda said: http(302, "", location=f"/{said}?key={said}"),
    **{name: ANSWERS[name] for name in ("a refusal", "no HTTP", "a header that is none")},
}
"""Answers of which an app's own HTTP library makes an exception."""


class Hostile(ThreadingTCPServer):
    """Gives one answer to each request, with all the credentials in it that the request had."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, answer):
        self.answer = answer
        super().__init__(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server_address[1]}"
        self.was_told = set()


class Handler(StreamRequestHandler):
    def handle(self):
        lines = []
        while (line := self.rfile.readline().strip()) or not lines:
            lines.append(line.decode("latin-1"))
        for line in lines:
            if line.lower().startswith("content-length:"):
                self.rfile.read(int(line.partition(":")[2]))
        said = unquote("\n".join(lines))
        for encoded in re.findall(r"(?i)basic\s+(\S+)", said):
            said += b64decode(encoded).decode()
        told = [canary for canary in CANARIES if canary in said]
        self.server.was_told.update(told)
        self.wfile.write(self.server.answer("-".join(told)).encode())


# -- flows


def kept(events):
    """Yield what a log and a browser see of events."""
    for event in events:
        yield from (dumps(event).decode(), dumps(redact(event)).decode(), repr(event))


def log_of(session, store):
    yield repr(session)
    yield repr(session.transcript)
    yield from kept(record.event for record in store.read("s1"))


def app_with_httpx(server, folder):
    """An app that reads with httpx; user and password in the URL, the key as a parameter and in a header."""

    async def ask():
        url = f"http://me:{PASSWORD}@{server.address}/v1beta/interactions?alt=sse&key={KEY}"
        async with httpx2.AsyncClient(trust_env=False) as http, http.stream("POST", url, json=BODY) as response:
            response.raise_for_status()
            async for chunk in response.aiter_bytes():
                yield chunk

    async def main():
        store = MemoryStore()
        session = await Session.open(store, "s1")
        async with session.decode(GeminiInteractionsDecoder("m"), ask()) as events:
            async for event in events:
                yield repr(event)
        for text in log_of(session, store):
            yield text

    yield from asyncio.run(collected(main()))


def app_with_requests(server, folder):
    """An app that reads with requests, and wraps the exception in its own."""

    def ask():
        url = f"http://me:{PASSWORD}@{server.address}/v1beta/interactions?key={KEY}"
        with requests.Session() as http:
            http.trust_env = False
            try:
                response = http.post(url, json=BODY, allow_redirects=False, timeout=60)
                response.raise_for_status()
            except requests.RequestException as error:
                error.add_note(f"asked with {KEY} at {url}")
                raise RuntimeError(f"no answer: {error}") from error
            yield response.content

    store = MemoryStore()
    session = SyncSession.open(store, "s1")
    with session.decode(GeminiInteractionsDecoder("m"), ask()) as events:
        yield from map(repr, events)
    yield from log_of(session, store)


def async_client(server, folder):
    """The client in a session, and everything else that can be asked of it."""

    async def main():
        store = MemoryStore()
        session = await Session.open(store, "s1")
        async with GeminiInteractions(KEY, base_url=f"http://{server.address}", clock=FAST) as client:
            yield repr(client)
            await session.prompt("Hi")
            async with session.respond(client, ASKED, message_id="m", mode="full") as events:
                async for event in events:
                    yield repr(event)
            run = events.answer
            yield repr(events.request)
            for text in (repr(run), repr(run.report), str(run.report)):
                yield text
            with suppress(LocalProtocolError):  # a message that has ended is not taken up
                async for event in client.recover(run):
                    yield repr(event)
            for ask in (client.status, client.stop):
                yield repr(await ask("v1"))
        for text in log_of(session, store):
            yield text

    yield from asyncio.run(collected(main()))


def sync_client(server, folder):
    """The client without an event loop."""
    store = MemoryStore()
    session = SyncSession.open(store, "s1")
    with SyncGeminiInteractions(KEY, base_url=f"http://{server.address}", clock=FAST) as client:
        yield repr(client)
        session.prompt("Hi")
        with session.respond(client, ASKED, message_id="m", mode="full") as events:
            yield from map(repr, events)
        run = events.answer
        yield from (repr(run), repr(run.report), repr(client.status("v1")), repr(client.stop("v1")))
    yield from log_of(session, store)


def command_run(server, folder):
    """The command `run` as a process."""
    yield from ran(folder, f"http://{server.address}", {})


def command_run_with_a_proxy(server, folder):
    """The same through a proxy of the environment, which wants a password and is hostile itself."""
    proxy = f"http://me:{PASSWORD}@{server.address}"
    yield from ran(folder, "http://provider.invalid", {"http_proxy": proxy, "HTTP_PROXY": proxy})


def mock_record(server, folder):
    """The command `mock --record` as a process, between an app and the hostile server."""
    path = folder / "recorded.json"
    command = ["mock", "--record", f"http://{server.address}", "--fixtures", str(path), "--port", "0"]
    with process(folder, command, {}) as child:
        said = child.stdout.readline()
        url = re.search(rb"http://[\d.:]+", said)[0].decode()
        with suppress(httpx2.HTTPError), httpx2.Client(trust_env=False, timeout=60) as http:
            http.post(
                f"{url}/v1beta/interactions?key={KEY}", json=BODY, headers={"x-goog-api-key": KEY, "cookie": f"a={KEY}"}
            )
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    yield from (said.decode(), out.decode(), err.decode())
    if path.exists():
        yield path.read_text()


async def collected(texts):
    return [text async for text in texts]


def ran(folder, base_url, environment):
    with process(folder, ["run", "Hi", "--base-url", base_url, "--db", "c.db"], environment) as child:
        out, err = child.communicate(timeout=120)
    yield from (out.decode(), err.decode())
    with SqliteStore(folder / "c.db") as store:
        yield from kept(record.event for record in store.read("main"))
    for path in folder.iterdir():
        yield path.read_bytes().decode("latin-1")


def process(folder, arguments, environment):
    inherited = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    return subprocess.Popen(
        [sys.executable, "-m", "assistant_events.cli", *arguments],
        cwd=folder,
        env={**inherited, "GEMINI_API_KEY": KEY, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@attrs.frozen
class Flow:
    run: object
    answers: dict
    told: tuple = (KEY,)
    """Credentials that the server is sent."""

    logs: str = ""
    """Beginning of the names of the loggers that are looked at. An app's own HTTP library logs what it likes."""


SOON = {name: ANSWERS[name] for name in ("a refusal", "a refusal of no form", "another content type", "a redirect")}
"""Answers for the processes, whose time is real."""

FLOWS = {
    "an app with httpx": Flow(app_with_httpx, HTTP_LIBRARY, CANARIES, logs="assistant_events"),
    "an app with requests": Flow(app_with_requests, HTTP_LIBRARY, CANARIES, logs="assistant_events"),
    "the client": Flow(async_client, ANSWERS),
    "the client without an event loop": Flow(sync_client, ANSWERS),
    "run": Flow(command_run, SOON),
    "run with a proxy": Flow(command_run_with_a_proxy, SOON, CANARIES),
    "mock --record": Flow(mock_record, SOON, logs="assistant_events"),
}

CASES = [(flow, answer) for flow, each in FLOWS.items() for answer in each.answers]


@pytest.mark.parametrize(("name", "answer"), CASES, ids=[" - ".join(case) for case in CASES])
def test_no_credential_is_kept(name, answer, tmp_path, caplog, capfd):
    """
    A credential that a hostile server repeats is in no durable event, repr, log line, file or output.
    """
    flow = FLOWS[name]
    caplog.set_level(logging.INFO)
    with Hostile(flow.answers[answer]) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            texts = list(flow.run(server, tmp_path))
        finally:
            server.shutdown()
    texts += [logging.Formatter().format(record) for record in caplog.records if record.name.startswith(flow.logs)]
    texts += capfd.readouterr()

    assert {*flow.told} == server.was_told
    assert [] == [text for text in texts if any(canary in text for canary in CANARIES)]
