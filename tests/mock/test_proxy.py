"""
Recording a real endpoint: bytes pass as they are, keys are never written, and what was recorded can be given again.

The endpoint is a mock provider of its own.
"""

import asyncio
import json
import logging
import os
import re
import socket
import stat
from urllib.parse import quote, unquote

import httpx2
import pytest
from starlette.responses import PlainTextResponse

from assistant_events import fold
from assistant_events.adapters.gemini_interactions import GeminiInteractionsDecoder
from assistant_events.adapters.gemini_interactions.mock import Answer, Match, MockProvider, load_fixtures, mock
from assistant_events.errors import FixtureError
from assistant_events.mock import HttpError, StreamError
from assistant_events.mock import proxy as recording_module
from assistant_events.mock.proxy import RecordingProxy
from assistant_events.mock.service import MockService
from assistant_events.mock.threaded_server import ThreadedServer
from assistant_events.testing import mock_provider
from assistant_events.testing.transport import StreamingTransport
from assistant_events.values import JsonObject
from tests.adapters.notation import C, D, E, K, S, X, mo, stream, text

from .asgi import Exchange, ask, text_step

SECRET = "AIzaSecretKeyOfSomebody"
UPSTREAM = "https://upstream.test"
API = mock.recorded
SCRIPT = {
    "Weather?": {
        "thought": "A tool knows.",
        "text": "One moment: é 日本語 🚀",
        "calls": [{"id": "c1", "name": "rain", "arguments": {"city": "Oslo"}}],
        "usage": {"total_input_tokens": 3, "total_output_tokens": 4, "total_tokens": 7},
    },
    Match(call_id="c1"): "Sunny.",
    "Too much": {
        "http_error": {"status": 429, "message": "later", "headers": {"retry-after-ms": "7", "x-other": "no"}}
    },
    "Gone": {"http_error": {"status": 404, "message": "gone"}},
    "Odd": {"http_error": {"status": 500, "code": "odd_code", "message": "odd"}},
    "Twice": ["one", "two"],
    "Think long": {"text": "A report.", "polls_in_progress": 2},
    "Long": {"text": "First half, ", "continuation_token": "dG9r"},
    Match(continuation_token="dG9r"): "second half.",
    "Cut": {"text": "This breaks off", "cut_after": 4},
    "Fail": {"text": "Oh", "status": "failed", "more": {"errors": [{"code": "13", "message": "boom"}]}},
}
RESULT = {"type": "function_result", "call_id": "c1", "name": "rain", "result": "sunny"}
TOOLS = [{"type": "function", "name": "rain", "parameters": {"type": "object"}}]


class Desk:
    """A client, and what it talks to."""

    def __init__(self, app):
        self._app = app

    def ask(self, *calls):
        """Return the answers to several requests, each a method, a path and a body."""

        async def main():
            async with httpx2.AsyncClient(transport=StreamingTransport(self._app), base_url="http://x") as client:
                return [
                    await client.request(
                        method,
                        f"{path}{'&' if '?' in path else '?'}key={SECRET}",
                        content=b"" if body is None else json.dumps(body),
                        headers={
                            "x-goog-api-key": SECRET,
                            "authorization": f"Bearer {SECRET}",
                            "cookie": f"a={SECRET}",
                        },
                    )
                    for method, path, body in calls
                ]

        return asyncio.run(main())

    def create(self, text, **more):
        (response,) = self.ask(("POST", "/v1beta/interactions", {"model": "m", "input": text, **more}))
        return response


@pytest.fixture
def upstream():
    return MockProvider(SCRIPT, make_id=iter([f"v1_{number}" for number in range(99)]).__next__)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "recorded.json"


@pytest.fixture
def notes():
    return []


@pytest.fixture
def recording(upstream, path, notes):
    return Desk(RecordingProxy(API, UPSTREAM, path, note=notes.append, transport=StreamingTransport(upstream.app)))


def replay(path):
    return Desk(MockProvider(load_fixtures(path)).app)


def transcript(response):
    decoder = GeminiInteractionsDecoder("a")
    return fold([*decoder.feed(response.content), *decoder.close()])


def test_stream_and_replay(recording, path):
    """
    A stream that was recorded is given again with the same thought, signature, text, calls and usage.
    """
    first = recording.create("Weather?", stream=True, tools=TOOLS)
    again = replay(path).create("Weather?", stream=True, tools=TOOLS)

    assert "text/event-stream" == first.headers["content-type"].partition(";")[0]
    assert "A tool knows." == transcript(first).last.reasoning
    assert "One moment: é 日本語 🚀" == transcript(first).last.text
    assert transcript(first) == transcript(again)


@pytest.mark.parametrize("media_type", ["application/x-ndjson", "text/plain; charset=utf-8"])
def test_a_stream_of_another_media_type(recording, path, monkeypatch, media_type):
    """
    Everything but a JSON document is a stream: wires of lines have types of their own, and gateways name others.
    """
    monkeypatch.setattr(MockService, "STREAM_HEADERS", {"content-type": media_type})
    first = recording.create("Weather?", stream=True, tools=TOOLS)

    assert media_type == first.headers["content-type"]
    assert transcript(first) == transcript(replay(path).create("Weather?", stream=True, tools=TOOLS))


def test_document_and_replay(recording, path):
    """
    An answer in one piece is given again as it was.
    """
    first = recording.create("Weather?", tools=TOOLS).json()
    again = replay(path).create("Weather?", tools=TOOLS).json()

    for key in ("id", "status", "steps", "usage"):
        assert first[key] == again[key]


def test_what_is_written(recording, path):
    """
    What is written is a file like any other: what was asked, and what was answered.
    """
    recording.create("Weather?", stream=True, tools=TOOLS)
    (fixture,) = load_fixtures(path)
    (answer,) = fixture.answers

    assert Match(user_text="Weather?", model="m", previous_interaction_id="", turn=1) == fixture.match
    assert ["thought", "model_output", "function_call"] == [step["type"] for step in answer.steps]
    assert answer.steps[0]["signature"]
    assert {"total_input_tokens": 3, "total_output_tokens": 4, "total_tokens": 7} == answer.usage
    assert "v1_0" == answer.id
    assert answer.status is None


def test_bytes_pass(upstream, recording):
    """
    The client gets the bytes of the endpoint.
    """
    body = {"model": "m", "input": "Weather?", "stream": True, "tools": TOOLS}
    recorded = recording.create("Weather?", stream=True, tools=TOOLS).content
    upstream.reset()
    (direct,) = Desk(upstream.app).ask(("POST", "/v1beta/interactions", body))

    # Ids, signatures and times are made anew for every run.
    changing = re.compile(rb'v1_[0-9]+|"signature":"[^"]*"|[0-9-]+T[0-9:]+Z')
    assert changing.sub(b"", direct.content) == changing.sub(b"", recorded)


def test_pieces_pass_when_they_come(path):
    """
    A piece is handed on before the next one is there.
    """
    upstream = MockProvider({"Hi": {"text": "Hello", "timing": {"between_s": 3600}}})
    proxy = RecordingProxy(API, UPSTREAM, path, transport=StreamingTransport(upstream.app))

    async def main():
        async with (
            httpx2.AsyncClient(transport=StreamingTransport(proxy)) as client,
            client.stream(
                "POST",
                "http://x/v1/interactions",
                json={"model": "m", "input": "Hi", "stream": True},
                headers={"x-goog-api-key": "k"},
            ) as response,
        ):
            return await anext(response.aiter_raw())

    assert asyncio.run(main()).startswith(b"event: interaction.created\n")
    assert not path.exists()


def test_headers_reach_the_endpoint(upstream, recording):
    """
    The endpoint gets what the client sent, but is asked for bytes that are not compressed: they have to be read here.
    """
    recording.create("Twice")
    headers = upstream.requests[0].headers

    assert "identity" == headers["accept-encoding"]
    assert headers["user-agent"].startswith("python-httpx2/")
    assert "upstream.test" == headers["host"]


def test_keys_reach_the_endpoint_and_nothing_else(upstream, recording, path, notes):
    """
    Keys go to the endpoint; no file and no note holds one.
    """
    recording.create("Weather?", stream=True, tools=TOOLS)

    assert "[hidden]" == upstream.requests[0].headers["x-goog-api-key"]
    assert "[hidden]" == upstream.requests[0].query["key"]
    assert SECRET not in path.read_text()
    assert SECRET not in repr(notes)
    assert ["recorded: user_text='Weather?', model='m', turn=1, previous_interaction_id=''"] == notes


def test_a_key_that_an_endpoint_says_again(path):
    """
    A key in an answer is masked in the file, in all that was recorded before, too.
    """
    said = json.dumps({"error": {"code": 400, "message": f"bad key {SECRET}"}}).encode()
    transport = httpx2.MockTransport(lambda request: httpx2.Response(400, stream=Raw(said)))
    desk = Desk(RecordingProxy(API, UPSTREAM, path, transport=transport))
    desk.create("Hi")
    desk.create("Again")

    assert SECRET not in path.read_text()
    assert ["bad key [hidden]"] * 2 == [fixture.answers[0].http_error.message for fixture in load_fixtures(path)]


def test_a_short_key_is_no_secret(path):
    """
    The placeholder of a test is not looked for in answers: it may be any word.
    """
    said = json.dumps({"status": "completed", "steps": [{"type": "model_output", "content": []}]}).encode()
    transport = httpx2.MockTransport(
        lambda request: httpx2.Response(200, headers={"content-type": "application/json"}, stream=Raw(said))
    )
    proxy = RecordingProxy(API, UPSTREAM, path, transport=transport)

    async def main():
        async with httpx2.AsyncClient(
            transport=StreamingTransport(proxy), headers={"x-goog-api-key": "text"}
        ) as client:
            await client.post("http://x/v1/interactions", json={"model": "m", "input": "Hi"})

    asyncio.run(main())

    assert [Match(user_text="Hi", model="m", previous_interaction_id="", turn=1)] == [
        fixture.match for fixture in load_fixtures(path)
    ]


@pytest.mark.parametrize("chained", [True, False])
def test_a_conversation(recording, path, chained):
    """
    A tool loop that was recorded can be had again, in the form in which it was recorded.
    """

    def talk(desk):
        first = desk.create("Weather?", tools=TOOLS).json()
        if chained:
            second = desk.create([RESULT], previous_interaction_id=first["id"], tools=TOOLS)
        else:
            prompt = {"type": "user_input", "content": [{"type": "text", "text": "Weather?"}]}
            second = desk.create([prompt, *first["steps"], RESULT], tools=TOOLS)
        return [first["steps"], second.json()["steps"]]

    recorded = talk(recording)

    assert "Sunny." == recorded[1][-1]["content"][0]["text"]
    assert recorded == talk(replay(path))


def test_the_same_request_again(recording, path):
    """
    The second answer to the same request is the second answer of its fixture.
    """

    def twice(desk):
        return [desk.create("Twice").json()["steps"][0]["content"][0]["text"] for _ in range(2)]

    assert ["one", "two"] == twice(recording)
    assert ["one", "two"] == twice(replay(path))
    assert 1 == len(load_fixtures(path))


def test_an_http_error(recording, path):
    """
    An error is recorded with its status, code, message and the time to wait; other headers are not.
    """
    response = recording.create("Too much")
    (fixture,) = load_fixtures(path)

    assert 429 == response.status_code
    assert (
        Answer(
            http_error=HttpError(
                status=429, code="too_many_requests", message="later", headers=(("retry-after-ms", "7"),)
            )
        ),
    ) == fixture.answers
    assert response.json() == replay(path).create("Too much").json()


@pytest.mark.parametrize("text", ["Gone", "Odd"])
def test_other_http_errors(recording, path, text):
    """
    A classic body with a number, and one with a word, are given again as they were.
    """
    response = recording.create(text)
    again = replay(path).create(text)

    assert response.status_code == again.status_code
    assert response.json() == again.json()


ODD_ERRORS = {
    "a list of one": (b'[{"error": {"code": 503, "message": "no"}}]', HttpError(status=503, code=503, message="no")),
    "no JSON": (b"<html>", HttpError(status=503, message="HTTP 503")),
    "an empty list": (b"[]", HttpError(status=503, message="HTTP 503")),
    "no error": (b"{}", HttpError(status=503, message="HTTP 503")),
    "an odd code": (b'{"error": {"code": true, "message": "no"}}', HttpError(status=503, message="no")),
}


@pytest.mark.parametrize(("content", "expected"), ODD_ERRORS.values(), ids=ODD_ERRORS.keys())
def test_odd_errors(path, content, expected):
    """
    Every shape of an error is recorded; of one that cannot be read, its status.
    """
    transport = httpx2.MockTransport(lambda request: httpx2.Response(503, stream=Raw(content)))
    Desk(RecordingProxy(API, UPSTREAM, path, transport=transport)).create("Hi")
    (fixture,) = load_fixtures(path)

    assert expected == fixture.answers[0].http_error


@pytest.mark.parametrize("status", [204, 302, 399, 600])
def test_neither_an_answer_nor_an_error(path, notes, status):
    """
    What is neither passes and is not recorded: no fixture could give it, and the file would not load any more.
    """
    transport = httpx2.MockTransport(lambda request: httpx2.Response(status, stream=Raw(b"")))
    response = Desk(RecordingProxy(API, UPSTREAM, path, transport=transport, note=notes.append)).create("Hi")
    match = "user_text='Hi', model='m', turn=1, previous_interaction_id=''"

    assert (502 if status == 600 else status) == response.status_code  # a server cannot send the status 600
    assert [f"not recorded, the endpoint answered HTTP {status}: {match}"] == notes
    assert not path.exists()


def test_what_no_fixture_can_give(recording, path, notes):
    """
    An answer with something that fixtures refuse is not recorded: the file would not load any more.
    """
    recording.create("Hi")
    kept = path.read_text()
    document = json.dumps({"id": "v1", "status": "completed", "usage": {"total_tokens": -5}}).encode()
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, stream=Raw(document)))
    Desk(RecordingProxy(API, UPSTREAM, path, transport=transport, note=notes.append)).create("Hello")

    assert (
        "not recorded, no fixture can have answer.usage.total_tokens, expected an integer of at least 0, got the "
        "number -5: user_text='Hello', model='m', turn=1, previous_interaction_id=''"
    ) == notes[-1]
    assert kept == path.read_text()


def test_no_tunnel(path, upstream):
    """
    CONNECT asks for a tunnel to somewhere; it is refused, whatever its target looks like.
    """
    recording = Desk(RecordingProxy(API, UPSTREAM, path, transport=StreamingTransport(upstream.app)))
    (response,) = recording.ask(("CONNECT", "/v1beta/interactions", None))

    assert (400, ()) == (response.status_code, upstream.requests)


@pytest.mark.parametrize("name", ["a%2Fb%3Fc", "%00", "%C3%A9", "v1_a"])
def test_a_path_stays_quoted(path, name):
    """
    The path is asked for as the client wrote it, whatever the id in it holds.
    """
    asked = []

    def answer(request):
        asked.append(request.url.raw_path)
        return httpx2.Response(200, stream=Raw(b"{}"))

    Desk(RecordingProxy(API, UPSTREAM, path, transport=httpx2.MockTransport(answer))).ask(
        ("GET", f"/v1/interactions/{name}", None)
    )

    assert [f"/v1/interactions/{name}?key={SECRET}".encode()] == asked


TARGETS = [
    *("@other.test/v1/interactions", "http://other.test/v1/interactions", "https://other.test/v1/interactions"),
    *(".other.test/v1/interactions", ":81/v1/interactions", ":p@other.test/v1/interactions", "*", "", "other.test:443"),
    *("//other.test/v1/interactions", "/\\\\other.test/v1/interactions", "\\\\other.test\\v1", "/@other.test/v1"),
    *("/%2F@other.test/v1/interactions", "/..//other.test/", "/%40other.test", "/v1/interactions#@other.test", "/\t@b"),
    *("%2f%2fother.test/", "/v1/interactions/@other.test:80/", "?@other.test/", "/?@other.test/", "\r\n@other.test/"),
]


def test_the_path_of_the_endpoint(path):
    """
    Requests are sent below the path of the endpoint, and an answer keeps its length.
    """
    asked = []

    def answer(request):
        asked.append(str(request.url))
        return httpx2.Response(200, headers={"content-length": "2"}, stream=Raw(b"{}"))

    proxy = RecordingProxy(API, f"{UPSTREAM}/base/", path, transport=httpx2.MockTransport(answer))

    async def main():
        return await Exchange(proxy, "GET", "/v1/models?a=1").over()

    assert "2" == asyncio.run(main()).headers["content-length"]
    assert [f"{UPSTREAM}/base/v1/models?a=1"] == asked


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("upstream", [UPSTREAM, "https://upstream.test:8443/base/"])
def test_no_target_leads_elsewhere(path, target, upstream):
    """
    Whatever a client asks for, the request and its key go to the endpoint that was named, or nowhere.
    """
    asked = []

    def answer(request):
        asked.append((request.url.scheme, request.url.host, request.headers["host"]))
        return httpx2.Response(200, stream=Raw(b"{}"))

    proxy = RecordingProxy(API, upstream, path, transport=httpx2.MockTransport(answer))

    async def main():
        raw, _, query = target.partition("?")
        exchange = Exchange(proxy, "POST", "/", {"model": "m", "input": "Hi"})
        exchange.scope |= {"path": unquote(raw), "raw_path": raw.encode(), "query_string": query.encode()}
        return (await exchange.over()).status

    status = asyncio.run(main())
    name = upstream.removeprefix("https://").partition("/")[0]

    assert (200, [("https", "upstream.test", name)]) == (status, asked) or (400, []) == (status, asked)
    assert target.startswith("/") or 400 == status


@pytest.mark.parametrize("target", ["@127.0.0.1:{port}/v1/interactions", "http://127.0.0.1:{port}/v1/interactions"])
def test_no_request_line_leads_elsewhere(path, target):
    """
    The same on a socket: a server elsewhere hears nothing.
    """
    asked = []
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, stream=Raw(b"{}")))

    async def other(scope, receive, send):
        asked.append(scope)

    with (
        ThreadedServer(other) as elsewhere,
        ThreadedServer(RecordingProxy(API, UPSTREAM, path, transport=transport)) as serving,
    ):
        line = f"GET {target.format(port=elsewhere.port)} HTTP/1.1"
        with socket.create_connection(("127.0.0.1", serving.port), timeout=30) as connection:
            connection.sendall(f"{line}\r\nhost: x\r\nx-goog-api-key: {SECRET}\r\nconnection: close\r\n\r\n".encode())
            answer = b"".join(iter(lambda: connection.recv(4096), b""))

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert [] == asked


def test_headers_pass_as_bytes(path):
    """
    A header that is not ASCII is forwarded unchanged.
    """
    asked = []

    def answer(request):
        asked.append(dict(request.headers.raw))
        return httpx2.Response(200, stream=Raw(b"{}"))

    async def main():
        proxy = RecordingProxy(API, UPSTREAM, path, transport=httpx2.MockTransport(answer))
        exchange = Exchange(proxy, "POST", "/v1/interactions", {"model": "m", "input": "Hi"})
        exchange.scope["headers"].append((b"x-name", b"caf\xe9"))
        return (await exchange.over()).status

    assert 200 == asyncio.run(main())
    assert b"caf\xe9" == asked[0][b"x-name"]


# -- proxies of the environment


@pytest.fixture
def environment(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


@pytest.mark.parametrize("variable", ["http_proxy", "ALL_PROXY"])
def test_no_proxy_for_this_machine(environment, path, variable):
    """
    An endpoint on this machine is asked directly, whatever proxy the environment names.
    """
    environment.setenv(variable, "http://127.0.0.1:9")
    with mock_provider({"Hi": "Hello"}) as upstream:
        response = Desk(RecordingProxy(API, upstream.url, path)).create("Hi")

    assert 200 == response.status_code


@pytest.mark.parametrize("scheme", ["http://", ""])
def test_a_proxy_for_another_machine(environment, path, scheme):
    """
    An endpoint on another machine is asked through the proxy that the environment names.
    """
    asked = []

    async def proxy(scope, receive, send):
        asked.append(scope["path"])
        await PlainTextResponse("{}")(scope, receive, send)

    with ThreadedServer(proxy) as serving:
        environment.setenv("http_proxy", scheme + serving.url.removeprefix("http://"))
        response = Desk(RecordingProxy(API, "http://upstream.test", path)).create("Hi")

    assert 200 == response.status_code
    assert 1 == len(asked)
    assert asked[0].endswith("/v1beta/interactions")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://upstream.test", "http://proxy.test"),
        ("https://upstream.test", "http://all.test"),
        ("https://here.test", None),
        ("http://localhost:1", None),
        ("http://127.0.0.9:1", None),
        ("http://[::1]:1", None),
        ("http://app.localhost:1", None),
    ],
)
def test_which_proxy(environment, url, expected):
    """
    That of the scheme, or that of all; none for this machine and for what `no_proxy` names.
    """
    environment.setenv("http_proxy", "http://proxy.test")
    environment.setenv("all_proxy", "all.test")
    environment.setenv("no_proxy", "here.test")

    assert expected == recording_module._proxy_for(httpx2.URL(url))


def test_a_proxy_that_cannot_be_used(environment, path):
    """
    A proxy that cannot be used is an error at once, without its password.
    """
    environment.setenv("https_proxy", "gopher://me:passw0rd@proxy.test")

    with pytest.raises(
        ValueError, match=r"^the proxy that the environment names cannot be used: ValueError$"
    ) as caught:
        RecordingProxy(API, UPSTREAM, path)
    assert caught.value.__suppress_context__


# -- keys that an endpoint repeats


QUOTED = "AIza/Secret+Key=Of Somebody"
SAYS = {
    "a text": (200, {"status": "completed", "steps": [text_step("K")]}),
    "a name": (200, {"status": "completed", "steps": [{"type": "dream", "K": {"K": ["K"]}}]}),
    "a run id": (200, {"id": "K", "status": "completed", "steps": []}),
    "a background run": (200, {"id": "K", "status": "in_progress"}),
    "an error": (400, {"error": {"code": "K", "message": "bad K"}}),
    "a status": (200, {"status": "K", "steps": []}),
    "usage": (200, {"status": "completed", "steps": [], "usage": {"K": "K"}}),
}  # fmt: skip


@pytest.mark.parametrize("spelling", [str, quote, lambda key: json.dumps({"key": key})], ids=["plain", "url", "json"])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("status", "document"), SAYS.values(), ids=SAYS.keys())
def test_no_key_is_kept(path, notes, caplog, status, document, stream, spelling):
    """
    A key that an endpoint repeats anywhere is in no file, note or log line, and the file can still be read.
    """
    caplog.set_level(logging.DEBUG)
    said = json.loads(json.dumps(document).replace("K", json.dumps(spelling(QUOTED))[1:-1]))
    if stream and status == 200:
        event = {"event_type": "interaction.completed", "interaction": said}
        said = f"event: {QUOTED}\ndata: {json.dumps(event)}\n\ndata: {QUOTED}\n\n".encode()
        content_type = f"text/event-stream; {quote(QUOTED)}"
    else:
        said, content_type = json.dumps(said).encode(), f"application/{quote(QUOTED)}"

    transport = httpx2.MockTransport(
        lambda request: httpx2.Response(status, headers={"content-type": content_type}, stream=Raw(said))
    )
    proxy = RecordingProxy(API, UPSTREAM, path, transport=transport, note=notes.append)

    async def main():
        body = {"model": "m", "input": f"Hi {QUOTED}", "background": True, "stream": stream}
        for method, target, content in (("POST", "", body), ("POST", "", body), ("GET", f"/{quote(QUOTED)}", None)):
            exchange = Exchange(proxy, method, f"/v1/interactions{target}?key={quote(QUOTED)}", content, headers={
                "x-goog-api-key": QUOTED, "cookie": f"sid={QUOTED}"
            })  # fmt: skip
            await exchange.over()

    asyncio.run(main())
    kept = [path.read_text() if path.exists() else "", *notes, caplog.text]

    assert [] == [text for text in kept for key in (QUOTED, quote(QUOTED), quote(QUOTED, safe="")) if key in text]
    assert notes
    if path.exists():
        assert load_fixtures(path)


@pytest.mark.parametrize(
    ("query", "header"),
    [
        ("", "Basic bWU6cGFzc3cwcmQxMg=="),
        ("", "Bearer passw0rd12"),
        ("", "passw0rd12"),
        ("?key=passw0rd12", None),
        ("?access_token=passw0rd12", None),
    ],
)
def test_passwords_are_keys(path, query, header):
    """
    A token, the password of a name and a password, and a key in the query are taken out as a key is.
    """
    said = json.dumps({"error": {"code": 401, "message": "bad passw0rd12"}}).encode()
    transport = httpx2.MockTransport(lambda request: httpx2.Response(401, stream=Raw(said)))

    async def main():
        proxy = RecordingProxy(API, UPSTREAM, path, transport=transport)
        body = {"model": "m", "input": "Hi"}
        await ask(proxy, "POST", f"/v1/interactions{query}", body, {"authorization": header})

    asyncio.run(main())

    assert ["bad [hidden]"] == [fixture.answers[0].http_error.message for fixture in load_fixtures(path)]


def test_the_password_of_a_proxy_is_a_key(environment, path):
    """
    The password of a proxy is removed from the messages of the proxy.
    """

    async def proxy(scope, receive, send):
        await PlainTextResponse('{"error": {"code": 407, "message": "bad passw0rd12"}}', 407)(scope, receive, send)

    with ThreadedServer(proxy) as serving:
        environment.setenv("http_proxy", serving.url.replace("://", "://me:passw0rd12@"))
        Desk(RecordingProxy(API, "http://upstream.test", path)).create("Hi")

    assert ["bad [hidden]"] == [fixture.answers[0].http_error.message for fixture in load_fixtures(path)]


def test_a_log_of_the_http_library_has_no_key(environment, path, caplog):
    """
    The HTTP library writes no URL with a key into its log.
    """
    caplog.set_level(logging.DEBUG)
    with mock_provider({"Hi": "Hello"}) as upstream:
        proxy = RecordingProxy(API, upstream.url, path)
        asyncio.run(ask(proxy, "POST", f"/v1/interactions?key={SECRET}", {"model": "m", "input": "Hi"}))

    assert 1 == len(load_fixtures(path))
    assert SECRET not in caplog.text


def test_an_id_that_comes_twice(path):
    """
    An id that an endpoint gives twice is written once: a file with twins cannot be loaded.
    """
    said = json.dumps({"id": "v1", "status": "completed", "steps": []}).encode()
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, stream=Raw(said)))
    desk = Desk(RecordingProxy(API, UPSTREAM, path, transport=transport))
    desk.create("one")
    desk.create("two")

    assert ["v1", None] == [fixture.answers[0].id for fixture in load_fixtures(path)]


# -- runs that are resumed


LONG = "Wind from the north, then rain, and in the evening the sun over all of it."


async def resumed(proxy, after):
    """Ask for a background run, and go on behind the event of this number; return what the second stream brought."""
    first = Exchange(
        proxy, "POST", "/v1/interactions", {"model": "m", "input": "Hi", "stream": True, "background": True}
    )
    await asyncio.wait([first.task])
    first.task.exception()
    frames = [json.loads(line[6:]) for line in first.body.split(b"\n") if line.endswith(b"}") and line[:5] == b"data:"]
    run_id, cursor = frames[0]["interaction"]["id"], frames[after - 1]["event_id"]
    return await ask(proxy, "GET", f"/v1/interactions/{run_id}?stream=true&last_event_id={cursor}"), run_id


@pytest.mark.parametrize("fault", ["cut@5", "ten-minute-cut@5", "truncated-utf8@5", "drop@5", "cut@5, no-blank-line"])
@pytest.mark.parametrize("after", [3, 4, 5])
def test_a_run_that_is_resumed(path, notes, fault, after):
    """
    A stream that breaks off and continues after a cursor is recorded whole, at whatever event the client resumes it.
    """
    upstream = MockProvider({"Hi": {"text": LONG, "calls": [{"id": "c1", "name": "rain"}]}}, faults=fault.split(", "))
    proxy = RecordingProxy(API, UPSTREAM, path, transport=StreamingTransport(upstream.app), note=notes.append)
    second, run_id = asyncio.run(resumed(proxy, after))
    (fixture,) = load_fixtures(path)
    (answer,) = fixture.answers

    assert "interaction.created" not in second.names
    assert LONG == answer.steps[0]["content"][0]["text"]
    assert "c1" == answer.steps[1]["id"]
    assert run_id == answer.id
    assert notes[-1].startswith("recorded: user_text='Hi'")


def test_a_run_that_is_resumed_twice(path):
    """
    Each piece continues the one before it.
    """
    upstream = MockProvider({"Hi": {"text": LONG}}, faults=["cut@3x2"])
    proxy = RecordingProxy(API, UPSTREAM, path, transport=StreamingTransport(upstream.app))

    async def main():
        second, run_id = await resumed(proxy, 3)
        cursor = second.events[-1]["event_id"]
        await ask(proxy, "GET", f"/v1/interactions/{run_id}?stream=true&last_event_id={cursor}")

    asyncio.run(main())
    (fixture,) = load_fixtures(path)

    assert LONG == fixture.answers[0].steps[0]["content"][0]["text"]


def test_a_replay_that_is_resumed(path):
    """
    A run that was created without a stream is recorded from a replay that was cut and continued.
    """
    upstream = MockProvider({"Hi": {"text": LONG}}, faults=["cut@5"])
    proxy = RecordingProxy(API, UPSTREAM, path, transport=StreamingTransport(upstream.app))

    async def main():
        run = await ask(proxy, "POST", "/v1/interactions", {"model": "m", "input": "Hi", "background": True})
        target = f"/v1/interactions/{run.document['id']}?stream=true"
        replay = await ask(proxy, "GET", target)
        await ask(proxy, "GET", f"{target}&last_event_id={replay.events[-1]['event_id']}")

    asyncio.run(main())
    (fixture,) = load_fixtures(path)

    assert LONG == fixture.answers[0].steps[0]["content"][0]["text"]


def test_a_resumed_run_whose_beginning_is_missing(path, notes):
    """
    A stream after an unknown cursor is not recorded; the document is, when it comes.
    """
    upstream = MockProvider({"Hi": {"text": LONG}}, make_id=lambda: "v1")
    proxy = RecordingProxy(API, UPSTREAM, path, transport=StreamingTransport(upstream.app), note=notes.append)

    async def main():
        await ask(proxy, "POST", "/v1/interactions", {"model": "m", "input": "Hi", "background": True})
        # Cursors of the mock provider are base64 of number and name, here of `2_step.start`.
        await ask(proxy, "GET", "/v1/interactions/v1?stream=true&last_event_id=v1_Ml9zdGVwLnN0YXJ0")
        assert not path.exists()
        await ask(proxy, "GET", "/v1/interactions/v1")

    asyncio.run(main())
    (fixture,) = load_fixtures(path)

    assert notes[1].startswith("not recorded, the events before this cursor are missing: user_text='Hi'")
    assert LONG == fixture.answers[0].steps[0]["content"][0]["text"]


@pytest.mark.parametrize(
    ("code", "message", "expected"),
    [
        ("internal", "boom", StreamError(code="internal", message="boom")),
        (500, "boom", StreamError(code=500, message="boom")),
        ("unavailable", None, StreamError(code="unavailable")),
        (None, "boom", StreamError(message="boom")),
    ],
)
def test_an_error_event(path, code, message, expected):
    """
    A stream that an `error` event ended is given again with that event and what came before it.
    """
    body = stream(C("v1"), S(0, mo()), D(0, text("so far")), E(), E(code, message), D(0, text("no")), K("completed"))
    transport = httpx2.MockTransport(
        lambda request: httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Raw(body))
    )
    Desk(RecordingProxy(API, UPSTREAM, path, transport=transport)).create("Hi", stream=True)
    (fixture,) = load_fixtures(path)
    again = asyncio.run(
        ask(
            MockProvider(load_fixtures(path)), "POST", "/v1/interactions", {"model": "m", "input": "Hi", "stream": True}
        )
    )

    assert expected == fixture.answers[0].stream_error
    assert "so far" == fixture.answers[0].steps[0]["content"][0]["text"]
    assert {} == fixture.answers[0].more
    assert {"code": expected.code, "message": expected.message} == again.events[-1]["error"]


def test_an_error_behind_the_end(path):
    """
    An `error` event after the end of an answer is not part of it; one after a hop is.
    """
    found = []
    for status, name in (("completed", "a"), ("requires_continuation", "b")):
        body = stream(C("v1"), S(0, mo()), D(0, text("Hi")), X(0), K(status), E("internal", "boom"))
        transport = httpx2.MockTransport(
            lambda request, body=body: httpx2.Response(
                200, headers={"content-type": "text/event-stream"}, stream=Raw(body)
            )
        )
        made = path.with_name(f"{name}.json")
        Desk(RecordingProxy(API, UPSTREAM, made, transport=transport)).create("Hi", stream=True)
        found.append([fixture.answers[0].stream_error for fixture in load_fixtures(made)])

    assert [[None], [StreamError(message="boom")]] == found


# -- the file


@pytest.mark.parametrize(("umask", "expected"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_who_may_read_the_file(recording, path, umask, expected):
    """
    A new file has the rights that the umask leaves it.
    """
    before = os.umask(umask)
    try:
        recording.create("Twice")
    finally:
        os.umask(before)

    assert expected == stat.S_IMODE(path.stat().st_mode)


def test_the_rights_of_a_file_stay(upstream, path):
    """
    A file that is there keeps its rights.
    """
    path.write_text("")
    path.chmod(0o640)
    Desk(RecordingProxy(API, UPSTREAM, path, transport=StreamingTransport(upstream.app))).create("Twice")

    assert 0o640 == stat.S_IMODE(path.stat().st_mode)
    assert [path] == list(path.parent.iterdir())


def test_a_file_that_cannot_be_written(recording, path, notes):
    """
    A file that cannot be written is reported, and the answer is forwarded.
    """
    path.mkdir()
    (path / "inside").touch()

    assert 200 == recording.create("Twice").status_code
    assert ["not recorded, the file cannot be written: Is a directory"] == notes
    assert [path] == list(path.parent.iterdir())


def test_a_failure(recording, path):
    """
    A run that failed is recorded as one.
    """
    recording.create("Fail")
    (fixture,) = load_fixtures(path)

    assert "failed" == fixture.answers[0].status
    assert "boom" == fixture.answers[0].more["errors"][0]["message"]


def test_what_else_is_kept(path):
    """
    Of the other fields of a resource those are kept that a client can act on, and none that the server makes.
    """
    kept = {"environment_id": "e1", "errors": [{"code": "13", "message": "boom"}]}
    document = {"id": "v1", "object": "interaction", "created": "2026-11-22T12:00:00Z", "status": "failed", "steps": []}
    said = json.dumps({**document, "model": "m", **kept}).encode()
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, stream=Raw(said)))
    Desk(RecordingProxy(API, UPSTREAM, path, transport=transport)).create("Hi")
    (fixture,) = load_fixtures(path)

    assert JsonObject(kept) == fixture.answers[0].more


def test_a_continuation(recording, path):
    """
    Each hop of a long answer is a fixture of its own.
    """

    def hops(desk):
        first = desk.create("Long").json()
        second = desk.ask(
            (
                "POST",
                "/v1/interactions",
                {
                    "model": "m",
                    "previous_interaction_id": first["id"],
                    "continuation_token": first["continuation_token"],
                },
            )
        )[0].json()
        return [first["status"], second["status"], second["steps"][0]["content"][0]["text"]]

    assert ["requires_continuation", "completed", "second half."] == hops(recording)
    assert ["requires_continuation", "completed", "second half."] == hops(replay(path))


@pytest.mark.parametrize("stream", [True, False])
def test_a_background_run(recording, path, notes, stream):
    """
    A background run is recorded when a poll or a replay brings its end, with the polls that it took.
    """
    run = recording.create("Think long", background=True).json()
    assert not path.exists()
    if stream:
        recording.ask(("GET", f"/v1beta/interactions/{run['id']}?stream=true", None))
    else:
        recording.ask(*[("GET", f"/v1beta/interactions/{run['id']}", None)] * 3)
    (fixture,) = load_fixtures(path)
    (answer,) = fixture.answers

    assert "A report." == answer.steps[0]["content"][0]["text"]
    assert run["id"] == answer.id
    assert (0 if stream else 1) <= answer.polls_in_progress
    assert notes[0].startswith("recorded when it has ended: user_text='Think long'")
    assert notes[-1].startswith("recorded: user_text='Think long'")


def test_a_run_that_is_read_from_its_start_again(path):
    """
    A replay from the start takes the place of a stream that broke off.
    """
    upstream = MockProvider({"Hi": {"text": "A report."}}, faults=["cut@3x2"])
    desk = Desk(RecordingProxy(API, UPSTREAM, path, transport=StreamingTransport(upstream.app)))
    created = desk.create("Hi", background=True, stream=True)
    run_id = transcript(created).last.state["interaction_id"]
    desk.ask(*[("GET", f"/v1beta/interactions/{run_id}?stream=true", None)] * 2)

    [[answer]] = [fixture.answers for fixture in load_fixtures(path)]
    assert ("A report.", 0) == (answer.steps[0]["content"][0]["text"], answer.polls_in_progress)


def test_a_get_of_something_else(recording, path, notes):
    """
    An interaction that was not recorded from its start is not recorded.
    """
    run = recording.create("Twice").json()
    recording.ask(("GET", f"/v1beta/interactions/{run['id']}", None))

    assert f"not recorded: run {run['id']!r} does not wait for its end" == notes[-1]
    assert 1 == len(load_fixtures(path))


def test_an_answer_without_an_end(recording, path, notes):
    """
    A stream that broke off is not recorded.
    """
    response = recording.create("Cut", stream=True)

    assert b"interaction.completed" not in response.content
    assert [
        "not recorded, the answer has no end: user_text='Cut', model='m', turn=1, previous_interaction_id=''"
    ] == notes
    assert not path.exists()


@pytest.mark.parametrize("socket", [True, False])
def test_an_endpoint_that_breaks_off(path, notes, socket):
    """
    A connection that the endpoint resets is reset here, too, and nothing is recorded.
    """
    upstream = MockProvider({"Hi": "Hello"}, faults=["drop@2"])
    proxy = RecordingProxy(API, UPSTREAM, path, transport=StreamingTransport(upstream.app), note=notes.append)

    if socket:
        with ThreadedServer(proxy) as serving, httpx2.Client() as client, pytest.raises(httpx2.TransportError):
            client.post(
                f"{serving.url}/v1/interactions",
                json={"model": "m", "input": "Hi", "stream": True},
                headers={"x-goog-api-key": "k"},
            )
    else:
        with pytest.raises(httpx2.RemoteProtocolError, match="the endpoint broke off"):
            Desk(proxy).create("Hi", stream=True)

    match = "user_text='Hi', model='m', turn=1, previous_interaction_id=''"
    assert [
        "the endpoint broke off: RemoteProtocolError",
        f"not recorded, the answer has no end: {match}",
    ] == notes
    assert not path.exists()


def test_a_document_that_breaks_off(path, notes):
    """
    Half a document is not recorded.
    """

    class Broken(httpx2.AsyncByteStream):
        async def __aiter__(self):
            yield b'{"status": '
            raise httpx2.ReadError("gone")

    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, stream=Broken()))
    with pytest.raises(httpx2.RemoteProtocolError, match="the endpoint broke off"):
        Desk(RecordingProxy(API, UPSTREAM, path, transport=transport, note=notes.append)).create("Hi")

    assert ["not recorded, the endpoint broke off: ReadError"] == notes


def test_cancel_and_delete_pass(recording, path, notes):
    """
    What creates nothing passes, and is not recorded.
    """
    run = recording.create("Think long", background=True).json()
    cancelled, deleted = recording.ask(
        ("POST", f"/v1beta/interactions/{run['id']}/cancel", {}), ("DELETE", f"/v1beta/interactions/{run['id']}", None)
    )

    assert "cancelled" == cancelled.json()["status"]
    assert 200 == deleted.status_code
    assert 1 == len(notes)
    assert not path.exists()


def test_what_is_there_stays(upstream, path):
    """
    A recording is added to a file, and the file has the same form as before.
    """
    path.write_text(json.dumps({"version": 1, "fixtures": [{"match": {"turn": 9}, "answer": {"text": "old"}}]}))
    proxy = RecordingProxy(API, UPSTREAM, path, transport=StreamingTransport(upstream.app))
    Desk(proxy).create("Twice")

    old, new = load_fixtures(path)

    assert 9 == old.match.turn
    assert "Twice" == new.match.user_text
    assert [path] == list(path.parent.iterdir())


def test_a_lone_surrogate(recording, path):
    """
    A prompt with half a character is written, too.
    """
    recording.create("\ud83d Nobody answers this")

    assert [Match(user_text="\ud83d Nobody answers this", model="m", previous_interaction_id="", turn=1)] == [
        fixture.match for fixture in load_fixtures(path)
    ]


def test_no_endpoint(path, notes):
    """
    An endpoint that cannot be reached is 502, without the address that holds a key.
    """

    def refuse(request):
        raise httpx2.ConnectError(f"no way to {request.url}", request=request)

    transport = httpx2.MockTransport(refuse)
    response = Desk(RecordingProxy(API, UPSTREAM, path, transport=transport, note=notes.append)).create("Hi")

    assert 502 == response.status_code
    assert "https://upstream.test cannot be reached: ConnectError" == response.json()["error"]["message"]
    assert SECRET not in response.text
    assert [] == notes


ODD_ANSWERS = {
    "no JSON": (b"<html>", {"content-type": "application/json"}, "not recorded, the answer has no end: turn=1"),
    "a list": (b"[]", {"content-type": "application/json"}, "not recorded, the answer has no end: turn=1"),
    "an odd status": (b'{"status": {}}', {"content-type": "application/json"}, "recorded: turn=1"),
    "compressed": (b"x", {"content-encoding": "br"}, None),
}


@pytest.mark.parametrize(("content", "headers", "expected"), ODD_ANSWERS.values(), ids=ODD_ANSWERS.keys())
def test_odd_answers(path, notes, content, headers, expected):
    """
    A response that is not an answer is forwarded, and is not recorded.
    """
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, headers=headers, stream=Raw(content)))
    proxy = RecordingProxy(API, UPSTREAM, path, transport=transport, note=notes.append)

    async def main():
        async with (
            httpx2.AsyncClient(transport=StreamingTransport(proxy)) as client,
            client.stream("POST", "http://x/v1/interactions", json={"input": "Hi"}) as response,
        ):
            return b"".join([piece async for piece in response.aiter_raw()])

    assert content == asyncio.run(main())
    assert (
        [] if expected is None else [expected.replace("turn=1", "user_text='Hi', turn=1, previous_interaction_id=''")]
    ) == notes


class Raw(httpx2.AsyncByteStream):
    """Bytes as they are."""

    def __init__(self, content):
        self._content = content

    async def __aiter__(self):
        yield self._content


@pytest.mark.parametrize("body", [b"{", b"[]"])
def test_odd_requests(upstream, path, notes, body):
    """
    A request that is not a JSON object is not recorded.
    """
    proxy = RecordingProxy(API, UPSTREAM, path, transport=StreamingTransport(upstream.app), note=notes.append)

    async def main():
        async with httpx2.AsyncClient(transport=StreamingTransport(proxy)) as client:
            return await client.post("http://x/v1/interactions", content=body, headers={"x-goog-api-key": "k"})

    assert 400 == asyncio.run(main()).status_code
    assert ["not recorded: the request is not a JSON object"] == notes


@pytest.mark.parametrize(
    "address",
    [
        *("upstream.test", "ftp://upstream.test", "https://", "https://u:p@upstream.test", "https://x.test?key=1"),
        *("https://:p@upstream.test", "https://@upstream.test:x", "https://upstream.test#k", "https://[::1"),
    ],
)
def test_no_address(path, address):
    """
    A value that is not an address is rejected at once, and not shown: it may contain a key.
    """
    with pytest.raises(ValueError, match=r"^upstream: expected an http or https URL without user"):
        RecordingProxy(API, address, path)


def test_no_folder(tmp_path):
    """
    A file in a folder that is not there is refused before anything is asked.
    """
    with pytest.raises(ValueError, match=r"no folder"):
        RecordingProxy(API, UPSTREAM, tmp_path / "nowhere" / "a.json")


def test_a_file_of_another_form(path):
    """
    A file of aimock is not rewritten.
    """
    path.write_text('{"fixtures": [{"match": {}, "response": {"content": "Hi"}}]}')

    with pytest.raises(FixtureError, match="version: is missing: recordings are added to files of this library only"):
        RecordingProxy(API, UPSTREAM, path)


def test_what_matches_a_request():
    """
    A request that answers calls is known by the last of them; one that names a previous interaction by that.
    """
    chained = API.match_of({"input": [RESULT], "previous_interaction_id": "v1_a", "agent": "a"})

    results = [{**RESULT, "call_id": "c0"}, RESULT]
    two = API.match_of({"input": results, "previous_interaction_id": "v1_a", "agent": "a"})

    assert Match(agent="a", call_id="c1", previous_interaction_id="v1_a") == chained == two
