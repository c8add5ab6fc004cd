"""
What the client sends, what it refuses, and that whatever a provider or a network does ends as an error of the message.
"""

import asyncio
import gzip
import json
import logging
import zlib

import httpx2
import pytest

from assistant_events import AssistantMessage, MessageStatus, Origin, RemoteRun, find_problems, fold
from assistant_events.adapters.encoded import Encoded
from assistant_events.adapters.gemini_interactions.client import (
    GeminiInteractions,
    GeminiInteractionsApi,
    SyncGeminiInteractions,
)
from assistant_events.adapters.openai_responses.client import OpenAIResponsesApi
from assistant_events.clients import Clock, FailureMode, RecoveryPolicy, Situation
from assistant_events.errors import LocalProtocolError
from assistant_events.testing.virtual_loop import run
from tests.adapters.notation import C, D, E, K, S, U, X, mo, text
from tests.adapters.notation import stream as as_bytes

from .answers import AGENT, BODY, CREATED, DATE, HELLO, client, document, end_of, events_of, hello, last, now
from .canned import answered
from .provider import NOT_FOUND, Plan, Provider

MODEL_BODY = {"model": "gemini-3.6-flash", "input": "Hi"}


def sent(body, message_id="m"):
    provider = Provider(*hello())
    run(events_of(client(provider).create(body, message_id)))
    return json.loads(provider.requests[0].content)


def ended(provider, body=BODY, **options):
    """
    Follow a run to its end; return its last event and its report.
    """

    async def work():
        made = client(provider, **options).create(body, "m")
        events = await events_of(made)
        return events, made.report

    events, report = run(work())
    assert [] == find_problems(events)
    return events[-1], report


# -- what is sent

DEFAULTS = {
    "a model": (MODEL_BODY, {"stream": True}),
    "a model, otherwise": ({**MODEL_BODY, "stream": False}, {}),
    "an agent": (BODY, {"stream": True, "background": True, "store": True}),
    "an agent, otherwise": ({**BODY, "background": False, "stream": False}, {"store": True}),
    "an agent that is not stored": ({**BODY, "store": False}, {"stream": True}),
    "an agent bound to its connection": ({"agent": "antigravity-preview-05-2026", "input": "Hi"}, {"stream": True}),
    "its successor": (
        {"agent": "antigravity-preview-09-2026", "input": "Hi"},
        {"stream": True, "background": True, "store": True},
    ),
}


@pytest.mark.parametrize(("body", "added"), DEFAULTS.values(), ids=DEFAULTS)
def test_defaults(body, added):
    """
    A model is streamed, an agent is also sent to the background and stored; the body overrides the defaults.
    """
    assert {**body, **added} == sent(body)


def test_the_request():
    """
    One POST with the key in its header, the body as it is, and no header that a browser's preflight would refuse.
    """
    provider = Provider(*hello())
    run(events_of(client(provider).create({**MODEL_BODY, "input": "æ🙂"}, "m")))
    request = provider.requests[0]

    assert ("POST", "https://generativelanguage.googleapis.com/v1beta/interactions") == (
        request.method,
        str(request.url),
    )
    assert "secret-key" == request.headers["x-goog-api-key"]
    assert ("text/event-stream", "application/json") == (request.headers["accept"], request.headers["content-type"])
    assert "api-revision" not in request.headers
    assert {**MODEL_BODY, "input": "æ🙂", "stream": True} == json.loads(request.content)


def test_a_header_of_the_app():
    """
    It takes the place of one of the client, in whatever case its name is written.
    """
    provider = Provider(*hello())
    given = {"user-agent": "mine/1", "X-Goog-Api-Key": "of a gateway", "x-feature": "new"}
    run(events_of(client(provider, headers=given).create(MODEL_BODY, "m")))
    headers = provider.requests[0].headers

    for name, value in given.items():
        assert [value] == headers.get_list(name)


BASES = {
    "with an option": ({"base_url": "http://127.0.0.1:8000/prefix/", "api_version": "v1"}, "prefix/v1"),
    "without a version": ({"base_url": "http://127.0.0.1:8000/prefix"}, "prefix/v1beta"),
    "at its end": ({"base_url": "http://127.0.0.1:8000/v1/"}, "v1"),
    "at its end, and another one": ({"base_url": "http://127.0.0.1:8000/v1", "api_version": "v2"}, "v1/v2"),
    "with letters": ({"base_url": "http://127.0.0.1:8000/v1alpha"}, "v1alpha"),
    "a word": ({"base_url": "http://127.0.0.1:8000/vault"}, "vault/v1beta"),
}


@pytest.mark.parametrize(("options", "expected"), BASES.values(), ids=BASES)
def test_another_base_and_version(options, expected):
    """
    The base URL and the version are options; a base URL may end with the version.
    """
    provider = Provider(*hello())
    run(events_of(client(provider, **options).create(BODY, "m")))

    assert f"http://127.0.0.1:8000/{expected}/interactions" == str(provider.requests[0].url)


def test_what_an_encoder_returns_is_a_body():
    """
    The body may be what an encoder made.
    """
    encoded = Encoded(body=MODEL_BODY, drops=(), mode="full")

    assert {**MODEL_BODY, "stream": True} == sent(encoded)


def test_nothing_is_sent_before_it_is_read():
    """
    Nothing is sent before a run is read.
    """
    provider = Provider(*hello())
    made = client(provider).create(BODY, "m")

    assert [] == provider.asked
    assert (Situation.FOLLOWING, None) == (made.report.situation, made.report.run_id)


# -- keys


def test_the_key_of_the_environment(monkeypatch):
    """
    Without a key of its own the client takes the one of the environment, when a run begins.
    """
    provider = Provider(*hello())
    made = GeminiInteractions(http=provider.http)
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    with pytest.raises(LocalProtocolError, match="pass api_key, or set GEMINI_API_KEY"):
        made.create(BODY, "m")
    monkeypatch.setenv("GEMINI_API_KEY", " from-the-environment\n")
    run(events_of(made.create(BODY, "m")))

    assert "from-the-environment" == provider.requests[0].headers["x-goog-api-key"]


@pytest.mark.parametrize("name", ["GeminiInteractions", "SyncGeminiInteractions"])
def test_a_missing_key_is_found_at_the_start(monkeypatch, name):
    """
    An app that has no key does not start. `""` is the key of servers that want none.
    """

    async def opened(key):
        if name == "GeminiInteractions":
            async with GeminiInteractions(key):
                return True
        with SyncGeminiInteractions(key):
            return True

    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    with pytest.raises(LocalProtocolError, match="pass api_key, or set GEMINI_API_KEY"):
        run(opened(None))
    assert run(opened(""))
    monkeypatch.setenv("GEMINI_API_KEY", "two words")
    with pytest.raises(ValueError, match="GEMINI_API_KEY: expected printable ASCII"):
        run(opened(None))
    monkeypatch.setenv("GEMINI_API_KEY", "key")
    assert run(opened(None))


def test_a_key_of_the_environment_that_is_none(monkeypatch):
    """
    The message names the variable, since the app has passed no key.
    """
    monkeypatch.setenv("GEMINI_API_KEY", "two words")
    with pytest.raises(ValueError, match="GEMINI_API_KEY: expected printable ASCII characters without spaces"):
        GeminiInteractions().create(BODY, "m")


def test_an_empty_key_sends_none():
    """
    A gateway that has the key itself needs none.
    """
    provider = Provider(*hello())
    run(events_of(GeminiInteractions("", http=provider.http).create(BODY, "m")))

    assert "x-goog-api-key" not in provider.requests[0].headers


@pytest.mark.parametrize("key", ["two words", "æ", "a\nb", "a\x00b"], ids=ascii)
def test_keys_that_are_none(key):
    """
    What cannot be a header is refused at once, without being shown.
    """
    with pytest.raises(ValueError, match="api_key: expected printable ASCII characters without spaces") as caught:
        GeminiInteractions(key)
    assert key not in str(caught.value)


REDIRECTS = {
    "another host": "https://evil.example/v1beta/interactions",
    "the same host": "https://generativelanguage.googleapis.com/v2/interactions",
}


@pytest.mark.parametrize("location", REDIRECTS.values(), ids=REDIRECTS)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status, location):
    """
    No redirect is followed, even by a client of the app that would: the key is sent to one host only.
    """
    provider = Provider(*hello(), plans=[Plan(status=status, headers={"location": location})])
    provider_http = httpx2.AsyncClient(transport=httpx2.MockTransport(provider.answer), follow_redirects=True)

    async def work():
        made = GeminiInteractions("secret-key", http=provider_http).create(BODY, "m")
        return await events_of(made)

    error = run(work())[-1].error

    assert 1 == len(provider.requests)
    assert ("protocol", status) == (error.kind, error.status)


def test_the_key_is_never_shown(caplog):
    """
    Not in a repr, not in a log, not in an error, even when a provider sends it back.
    """
    caplog.set_level(logging.DEBUG)
    echo = json.dumps({"error": {"code": 400, "message": "bad key secret-key", "status": "INVALID_ARGUMENT"}}).encode()
    provider = Provider(
        plans=[Plan(status=429), Plan(fails=httpx2.ConnectError("secret-key")), Plan(status=400, body=echo)]
    )

    event, report = ended(provider)

    shown = f"{client(provider)!r} {event!r} {report!r} {caplog.text}"
    assert "secret-key" not in shown
    assert "bad key [hidden]" == event.error.message


@pytest.mark.parametrize(
    "end",
    [
        E("internal", "bad key secret-key"),
        K("failed", errors=[{"code": "internal", "message": "bad key secret-key"}]),
    ],
    ids=["an error", "a run that failed"],
)
def test_a_key_that_a_stream_says_again(end):
    """
    The message, and so the log, does not contain the key.
    """
    event, report = ended(Provider(*hello(end)))

    assert "bad key [hidden]" == event.error.message
    assert "secret-key" not in f"{event!r} {report!r}"


def test_a_key_that_is_no_secret_leaves_words_whole():
    """
    The short key `any` for a mock provider, which occurs in ordinary words, is not masked.
    """
    said = json.dumps({"error": {"code": 400, "message": "too many tools", "status": "INVALID_ARGUMENT"}}).encode()
    provider = Provider(plans=[Plan(status=400, body=said)])
    event = run(events_of(GeminiInteractions("any", http=provider.http).create(BODY, "m")))[-1]

    assert "too many tools" == event.error.message


FAILURES = {
    "no words, a reset": (httpx2.ReadError(""), "ReadError: the connection broke"),
    "no words, too late": (httpx2.ReadTimeout(""), "ReadTimeout: it took too long"),
    "no words, unknown": (ZeroDivisionError(), "ZeroDivisionError"),
    "no connection": (httpx2.ConnectError("refused"), "no connection to gone.example:81: ConnectError: refused"),
    "none in time": (httpx2.ConnectTimeout(""), "no connection to gone.example:81: ConnectTimeout: it took too long"),
    "a URL": (httpx2.ReadError("at http://me:word@x.example/y?a=b"), "ReadError: at http://x.example/y?…"),
    "a long text": (httpx2.ReadError("x" * 1000), f"ReadError: {'x' * 488}…"),
}


@pytest.mark.parametrize(("raised", "message"), FAILURES.values(), ids=FAILURES)
def test_what_is_said_of_a_connection(raised, message):
    """
    The message describes the failure, also for an exception without a text, and names an unreachable server.
    """
    provider = Provider(plans=[Plan(fails=raised)] * 9)
    made = client(provider, base_url="http://gone.example:81").create(BODY, "m")

    assert message == run(events_of(made))[-1].error.message


# -- what the provider or the network does to the first request

PAGE = b"<html>Bad gateway</html>"
FIRST = {
    "a refused connection": (Plan(fails=httpx2.ConnectError("refused")), "network", 4),
    "a name that does not resolve": (
        Plan(fails=httpx2.ConnectError("[Errno -2] Name or service not known")),
        "network",
        4,
    ),
    "a connection that takes too long": (Plan(fails=httpx2.ConnectTimeout("timed out")), "timeout", 4),
    "a reset after the request": (Plan(fails=httpx2.ReadError("reset")), "network", 1),
    "a server that speaks no HTTP": (Plan(fails=httpx2.RemoteProtocolError("illegal status line")), "network", 1),
    "something that nobody knows": (Plan(fails=ZeroDivisionError("oops")), "unknown", 1),
    "no headers": (Plan(delay_s=601.0), "timeout", 1),
    "400": (Plan(status=400, body=b'{"error":{"code":"invalid_request","message":"no"}}'), "invalid-request", 1),
    "401": (Plan(status=401, body=b"{}"), "auth", 1),
    "403, as an array": (Plan(status=403, body=b'[{"error":{"code":403,"status":"PERMISSION_DENIED"}}]'), "auth", 1),
    "404": (Plan(status=404, body=json.dumps(NOT_FOUND).encode()), "not-found", 1),
    "429, again and again": (Plan(status=429, body=b"{}"), "rate-limit", 4),
    "429, for longer than anybody waits": (Plan(status=429, headers={"retry-after": "3600"}), "rate-limit", 1),
    "429, not to be asked again": (Plan(status=429, headers={"x-should-retry": "false"}), "rate-limit", 1),
    "500": (Plan(status=500, body=PAGE), "provider", 1),
    "500, to be asked again": (Plan(status=500, headers={"x-should-retry": "true"}), "provider", 1),
    "502, as a page": (Plan(status=502, body=PAGE), "provider", 1),
    "503": (Plan(status=503), "overloaded", 1),
    "a huge error": (Plan(status=500, body=b"x" * 1_000_000), "provider", 1),
    "a page": (Plan(body=PAGE, headers={"content-type": "text/html"}), "protocol", 1),
    "no JSON": (Plan(body=b"{oops", headers={"content-type": "application/json"}), "protocol", 1),
    "an array": (Plan(body=b"[1]", headers={"content-type": "application/json"}), "protocol", 1),
    "a document that is an error": (
        Plan(body=b'{"error":{"code":"internal","message":"boom"}}', headers={"content-type": "application/json"}),
        "provider",
        1,
    ),
    "gzip that is none": (
        Plan(body=PAGE, headers={"content-type": "application/json", "content-encoding": "gzip"}),
        "network",
        1,
    ),
}


@pytest.mark.parametrize(("plan", "kind", "tries"), FIRST.values(), ids=FIRST)
def test_a_first_request_that_fails(plan, kind, tries):
    """
    The message fails with the right kind; the request is made again only if it was never sent or one too many.
    """
    provider = Provider(plans=[plan] * 9)

    event, report = ended(provider)

    assert ("step.failed", kind) == (event.type, event.error.kind)
    assert ["create"] * tries == provider.asked
    assert (kind, Situation.LOST) == (end_of(report), report.situation)


def test_a_passing_refusal():
    """
    A request that was one too many is repeated when the provider allows it.
    """
    plans = [Plan(status=429, headers={"retry-after-ms": "1500"}), Plan(status=429, headers={"retry-after": "2"})]

    async def work():
        provider = Provider(*hello(), plans=plans)
        events = await events_of(client(provider).create(BODY, "m"))
        return events, asyncio.get_running_loop().time()

    events, took_s = run(work())

    assert "Hello" == last(events).text
    assert 3.5 == took_s


@pytest.mark.parametrize(
    ("headers", "policy", "least", "most"),
    [
        ({"retry-after": "2"}, {}, 1.0, 1.0),
        ({}, {}, 0.25, 0.5),
        ({}, {"retry_s": 8.0, "retry_max_s": 1.0}, 0.5, 0.5),
    ],
)
def test_waits_on_a_faster_clock(headers, policy, least, most):
    """
    All waits before the next try are scaled, those of the provider too, and the longest of them.
    """

    async def work():
        provider = Provider(*hello(), plans=[Plan(status=429, headers=headers)])
        options = {"clock": Clock(0.5, now=now), "policy": RecoveryPolicy(**policy)}
        await events_of(client(provider, **options).create(BODY, "m"))
        return asyncio.get_running_loop().time()

    assert least <= run(work()) <= most


def test_retry_after_as_a_date():
    """
    `retry-after` may be a date.
    """
    plans = [Plan(status=429, headers={"retry-after": "Sun, 22 Nov 2026 10:20:05 GMT", "date": DATE})]

    async def work():
        provider = Provider(*hello(), plans=plans)
        await events_of(client(provider).create(BODY, "m"))
        return asyncio.get_running_loop().time()

    assert 5.0 == run(work())


FAR = "Sun, 22 Nov 99999999999999999999 10:20:05 GMT"


def test_dates_that_are_none():
    """
    A date with more digits than any calendar allows is ignored in every header.
    """

    async def work():
        provider = Provider(
            *hello(), documents=[HELLO], date=FAR, plans=[Plan(status=429, headers={"retry-after": FAR})]
        )
        made = client(provider)
        return await events_of(made.create(BODY, "m")), await made.status("v1")

    events, status = run(work())

    assert "Hello" == last(events).text
    assert ("completed", None) == (status.status, status.served_at)


STREAMS = {
    "an empty body": ([], "interrupted"),
    "garbage": ([b"\x00\xff\xfe garbage"], "interrupted"),
    "a page that says it is a stream": ([PAGE], "interrupted"),
    "a frame that is no JSON": ([b"data: {oops\n\n"], "interrupted"),
    "only [DONE]": ([b"data: [DONE]\n\n"], "interrupted"),
    "an error that says something": ([as_bytes(C(), E("internal", "boom"))], "provider"),
    "half an event": ([as_bytes(C())[:30]], "interrupted"),
}


@pytest.mark.parametrize(("chunks", "kind"), STREAMS.values(), ids=STREAMS)
def test_a_stream_that_is_none(chunks, kind):
    """
    A stream of a run that cannot be come back to ends the message, whatever is in it.
    """

    async def answer(request):
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=b"".join(chunks))

    async def work():
        made = GeminiInteractions("k", http=httpx2.AsyncClient(transport=httpx2.MockTransport(answer)))
        return await events_of(made.create({**MODEL_BODY, "store": False}, "m"))

    events = run(work())

    assert [] == find_problems(events)
    assert ("step.failed", kind) == (events[-1].type, events[-1].error.kind)


GZIPPED = gzip.compress(as_bytes(*hello()))


class Pieces(httpx2.AsyncByteStream):
    """A body that remembers how much of it was read."""

    def __init__(self, *pieces):
        self.pieces = pieces
        self.read = 0
        self.closed = False

    async def __aiter__(self):
        for piece in self.pieces:
            self.read += 1
            yield piece

    async def aclose(self):
        self.closed = True


def answered_with(body, kind="application/json", status=200, encoding="gzip", **options):
    """
    Ask for a run whose every answer is *body*; return the error of the message and the requests.
    """
    requests = []

    async def answer(request):
        requests.append(request)
        headers = {"content-type": kind, "content-encoding": encoding}
        return httpx2.Response(status, headers=headers, stream=body)

    async def work():
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
        made = GeminiInteractions("secret-key", http=http, **options)
        return await events_of(made.create(MODEL_BODY, "m"))

    return run(work())[-1], requests


@pytest.mark.parametrize(
    ("pieces", "options"),
    [
        ([GZIPPED], {"kind": "text/event-stream"}),
        ([b"moved"], {"status": 302, "encoding": ""}),
    ],
    ids=["an encoded stream", "a redirect"],
)
def test_what_is_not_read_is_closed(pieces, options):
    """
    Its connection is free for the next request.
    """
    body = Pieces(*pieces)
    answered_with(body, **options)

    assert body.closed


def test_a_stream_that_has_ended_is_not_kept():
    """
    A client that is used for months does not grow with its answers.
    """

    async def work():
        made = client(Provider(*hello()))
        await events_of(made.create(BODY, "m"))
        return made._streams

    assert set() == run(work())


@pytest.mark.parametrize("encoding", ["gzip", "br", "secret-key"])
def test_an_encoded_stream_is_refused(encoding):
    """
    A stream is asked for without a content encoding, and one that has some is not read: it may become very large.
    """
    body = Pieces(GZIPPED)
    event, [request] = answered_with(body, "text/event-stream; charset=utf-8", encoding=encoding)
    name = encoding.replace("secret-key", "[hidden]")

    assert ("identity", 0) == (request.headers["accept-encoding"], body.read)
    assert ("protocol", f"the stream has the content encoding {name!r}, expected none") == (
        event.error.kind,
        event.error.message,
    )


def test_a_response_that_the_transport_has_decoded():
    """
    Some transports read and decompress a response as a whole, such as caches, and keep its headers.
    """
    wire = b"".join(as_bytes(event) for event in hello())
    for kind, body in (("text/event-stream", wire), ("application/json", json.dumps(HELLO).encode())):
        headers = {"content-type": kind, "content-encoding": "gzip"}
        message, _, _ = answered(
            GeminiInteractions,
            MODEL_BODY,
            httpx2.Response(200, headers=headers, content=gzip.compress(body)),
            api_key="k",
        )

        assert "Hello" == message.text


def test_an_encoded_document():
    """
    A document may come compressed, in pieces of any size.
    """
    packed = gzip.compress(json.dumps(HELLO).encode())
    event, _ = answered_with(Pieces(*[packed[at : at + 1] for at in range(len(packed))]))

    assert "step.ended" == event.type


BOMB = gzip.compress(b" " * 1_000_000)
BODIES = {
    "a bomb": ({}, BOMB, "has more than 1000 bytes when it is inflated"),
    "a byte too many when inflated": (
        {},
        gzip.compress(b" " * 1001),
        "has more than 1000 bytes when it is inflated",
    ),
    "a long one": ({"encoding": "identity"}, b" " * 2001, "has more than 2000 bytes"),
    "a long one, not inflated": ({}, gzip.compress(b"") + b"x" * 2000, "has more than 2000 bytes"),
    "no gzip": ({}, b"{}", "is not valid gzip"),
    "another encoding": ({"encoding": "br"}, b"{}", "has the content encoding 'br', expected 'gzip' or none"),
    "two encodings": (
        {"encoding": "gzip, gzip"},
        gzip.compress(BOMB),
        "has the content encoding 'gzip, gzip', expected 'gzip' or none",
    ),
}


@pytest.mark.parametrize(("options", "body", "said"), BODIES.values(), ids=BODIES)
def test_a_document_is_read_up_to_its_limits(options, body, said):
    """
    A document beyond a limit is refused at the piece that passes it, without being asked for again.
    """
    pieces = Pieces(*[body[at : at + 100] for at in range(0, len(body), 100)], *[b"more"] * 99)
    policy = RecoveryPolicy(document_bytes=2000, inflated_bytes=1000)
    event, requests = answered_with(pieces, policy=policy, **options)

    assert f"the document of the run {said}" == event.error.message
    assert 1 == len(requests)
    assert pieces.read <= 21


@pytest.fixture
def steps(monkeypatch):
    """
    How many bytes each step of zlib took and gave.
    """
    sizes = []
    real = zlib.decompressobj

    class Recorded:
        def __init__(self, **options):
            self.inflater = real(**options)

        @property
        def eof(self):
            return self.inflater.eof

        def decompress(self, data, *arguments):
            inflated = self.inflater.decompress(data, *arguments)
            sizes.append((len(data), len(inflated)))
            return inflated

    monkeypatch.setattr(zlib, "decompressobj", Recorded)
    return sizes


def test_inflating_is_bounded(steps):
    """
    No step inflates more than one byte beyond the limit, however small the bomb is.
    """
    answered_with(Pieces(BOMB), policy=RecoveryPolicy(inflated_bytes=1000))

    assert [(len(BOMB), 1001)] == steps


def test_what_comes_behind_the_end_of_gzip_is_not_gathered(steps):
    """
    Bytes behind the end of compressed data are not given to zlib, which copies all that it has of them each time.
    """
    document = json.dumps(HELLO).encode()
    packed = gzip.compress(document)
    event, _ = answered_with(Pieces(packed, *[b"more"] * 100))

    assert "step.ended" == event.type
    assert [(len(packed), len(document))] == steps


def test_an_error_page_that_is_a_bomb():
    """
    The body of an HTTP error is inflated up to a limit, too; then the status is enough.
    """
    event, _ = answered_with(Pieces(BOMB), status=500)
    other, _ = answered_with(Pieces(b"{}"), status=500, encoding="br")

    assert ("HTTP 500", "HTTP 500") == (event.error.message, other.error.message)


def test_a_document_without_a_type():
    """
    A response without a content type is read as the requested one.
    """
    provider = Provider(plans=[Plan(body=json.dumps(HELLO).encode())])

    assert "step.ended" == ended(provider, {**MODEL_BODY, "stream": False})[0].type


def test_a_document_that_is_not_an_answer():
    """
    The run that it names can be stopped.
    """
    provider = Provider(plans=[Plan(body=b'{"id": "v1"}', headers={"content-type": "application/json"})])

    event, report = ended(provider)

    assert ("protocol", "v1") == (event.error.kind, report.run_id)


def test_a_media_type_without_an_end():
    """
    The error repeats 100 characters of it.
    """
    error = answered_with(Pieces(b"-"), kind="x" * 5000, encoding="")[0].error

    assert error.message.endswith(f"got '{'x' * 100}'")


def test_a_document_that_is_too_large():
    """
    A document beyond the limit is not read to its end, nor fetched again.
    """
    provider = Provider(plans=[Plan(body=json.dumps(HELLO).encode(), headers={"content-type": "application/json"})])
    fetched = Provider(*hello(), plans=[Plan(upto=4), Plan(status=501)], documents=[HELLO])

    events = [ended(each, policy=RecoveryPolicy(document_bytes=100))[0] for each in (provider, fetched)]

    assert ["the document of the run has more than 100 bytes"] * 2 == [event.error.message for event in events]
    assert [["create"], ["create", "replay", "document"]] == [provider.asked, fetched.asked]


def test_a_document_that_breaks(monkeypatch):
    """
    A document whose body takes too long is none.
    """

    class Slow(httpx2.AsyncByteStream):
        async def __aiter__(self):
            yield b"{"
            await asyncio.sleep(900)

    async def answer(request):
        return httpx2.Response(200, headers={"content-type": "application/json"}, stream=Slow())

    async def work():
        made = GeminiInteractions("k", http=httpx2.AsyncClient(transport=httpx2.MockTransport(answer)))
        return await events_of(made.create(MODEL_BODY, "m"))

    assert ("timeout", "no response within 600 s") == (
        (error := run(work())[-1].error).kind,
        error.message,
    )


def test_an_error_page_that_breaks():
    """
    Of an error whose body does not come, the status is enough.
    """

    class Broken(httpx2.AsyncByteStream):
        async def __aiter__(self):
            yield b'{"error":'
            raise httpx2.ReadError("reset")

    async def answer(request):
        return httpx2.Response(500, stream=Broken())

    async def work():
        made = GeminiInteractions("k", http=httpx2.AsyncClient(transport=httpx2.MockTransport(answer)))
        return await events_of(made.create(MODEL_BODY, "m"))

    assert ("provider", "HTTP 500") == ((error := run(work())[-1].error).kind, error.message)


# -- answers that are documents


def test_a_whole_document():
    """
    A body that asks for no stream is answered with a document, which becomes the message.
    """
    provider = Provider(plans=[Plan(body=json.dumps(HELLO).encode(), headers={"content-type": "application/json"})])

    event, report = ended(provider, {**MODEL_BODY, "stream": False})

    assert ("step.ended", "completed") == (event.type, end_of(report))


@pytest.mark.parametrize("stream", [True, False])
def test_a_run_in_the_background_without_a_stream(stream):
    """
    One that only begins with a document is followed from there.
    """
    begun = json.dumps({"id": "v1", "status": "queued", "created": CREATED}).encode()
    provider = Provider(*hello(), plans=[Plan(body=begun, headers={"content-type": "application/json"})])

    event, report = ended(provider, {**BODY, "stream": stream})

    assert ("step.ended", ["create", "replay"]) == (event.type, provider.asked)
    assert "v1" == report.run_id


def test_a_queued_run_that_is_not_in_the_background():
    """
    One that is not resumable is asked for until it has ended; without an id there is nothing to ask for.
    """
    begun = json.dumps({"id": "v1", "status": "queued", "created": CREATED}).encode()
    nameless = json.dumps({"status": "in_progress"}).encode()
    json_type = {"content-type": "application/json"}
    asked = Provider(plans=[Plan(body=begun, headers=json_type)], documents=[HELLO])
    lost = Provider(plans=[Plan(body=nameless, headers=json_type)])

    assert "step.ended" == ended(asked, MODEL_BODY)[0].type
    assert "interrupted" == ended(lost, MODEL_BODY)[0].error.kind


def test_a_server_that_gives_the_document_where_a_stream_was_asked_for():
    """
    A replay that is answered with the document is taken from it.
    """
    body = json.dumps(HELLO).encode()
    provider = Provider(*hello(), plans=[Plan(upto=4), Plan(body=body, headers={"content-type": "application/json"})])

    event, _ = ended(provider)

    assert ("step.ended", ["create", "replay"]) == (event.type, provider.asked)


def test_a_server_that_gives_the_document_before_the_run_has_ended():
    """
    It is asked for the next one.
    """
    kind = {"content-type": "application/json"}
    begun = json.dumps(document(status="in_progress")).encode()
    provider = Provider(*hello(), plans=[Plan(upto=4), Plan(body=begun, headers=kind)], documents=[HELLO])

    event, _ = ended(provider)

    assert ("step.ended", ["create", "replay", "document"]) == (event.type, provider.asked)


# -- silence, patience, giving up


def test_a_silent_stream_of_a_run_that_works():
    """
    A silent stream stays open while the document reports a run in progress.
    """
    wire_events = hello()

    async def work():
        provider = Provider(*wire_events, plans=[Plan(upto=4, at_s=1500.0, how="reset")], ends_s=1600.0, date=DATE)
        made = client(provider).create(BODY, "m")
        return provider, await events_of(made)

    provider, events = run(work())

    assert "Hello" == last(events).text
    assert 24 == provider.asked.count("document")
    assert ["create", "replay"] == [word for word in provider.asked if word != "document"]


def test_a_run_that_works_for_ever():
    """
    The client does not wait longer than the policy allows; the run stays resumable.
    """
    busy = document(mo("Hel"), status="in_progress")
    provider = Provider(*hello(), plans=[Plan(upto=4, how="stall")], documents=[busy], date=DATE)

    event, report = ended(provider)

    assert ("in_progress", Situation.INTERRUPTED) == (report.status, report.situation)
    assert ("interrupted", True) == (event.error.kind, event.run.resumable)
    assert 60 <= provider.asked.count("document") <= 61


def test_polling_gives_up():
    """
    Nor is the document asked for any longer.
    """
    busy = document(mo("Hel"), status="in_progress")
    provider = Provider(*hello(), plans=[Plan(upto=4), *[Plan(status=501)] * 9], documents=[busy], date=DATE)

    event, report = ended(provider, {**MODEL_BODY, "background": True})

    assert (Situation.INTERRUPTED, "interrupted") == (report.situation, event.error.kind)
    assert 180 <= provider.asked.count("document") <= 190


def test_a_foreground_stream_that_is_silent():
    """
    A run without a document to ask for is not waited for longer than two minutes.
    """
    provider = Provider(*hello(), plans=[Plan(upto=4, how="stall")])

    event, report = ended(provider, MODEL_BODY)

    assert ("timeout", Situation.NO_STREAM) == (event.error.kind, report.situation)
    assert ["create"] == provider.asked


@pytest.mark.parametrize("status", [404, 410])
@pytest.mark.parametrize("plans", [[Plan(upto=4, how="stall")], [Plan(upto=4)], [Plan(upto=4), Plan(status=501)]])
def test_a_run_that_vanishes(plans, status):
    """
    When the document or the replay is gone, so is the run, whatever was asked for.
    """
    plans = [*plans, Plan(status=status)]

    event, report = ended(Provider(*hello(), plans=plans, documents=[status]))

    assert ("not-found", "not-found") == (end_of(report), event.error.kind)
    assert Situation.LOST is report.situation


def test_a_network_that_stays_away():
    """
    When no request succeeds any more, the message fails and stays resumable.
    """
    broken = httpx2.ConnectError("unreachable")
    provider = Provider(*hello(), plans=[Plan(upto=4), *[Plan(fails=broken)] * 9], documents=[broken])

    event, report = ended(provider)

    assert ("network", Situation.INTERRUPTED) == (end_of(report), report.situation)
    assert ("network", True) == (event.error.kind, event.run.resumable)
    assert ["create", *["replay"] * 3, *["document"] * 4] == provider.asked


OUT = {
    "one request too many": (Plan(status=429), 429),
    "overloaded": (Plan(status=503), 503),
    "an error of the server": (Plan(status=500, body=PAGE), 500),
    "a page of a gateway": (Plan(body=PAGE, headers={"content-type": "text/html"}), PAGE),
}


@pytest.mark.parametrize(("plan", "answer"), OUT.values(), ids=OUT)
def test_a_service_that_is_out(plan, answer):
    """
    A service that answers nothing of use for a while ends the reading, not the run: it is the provider's move.
    """
    provider = Provider(*hello(), plans=[Plan(upto=4), *[plan] * 9], documents=[answer])

    async def work():
        made = client(provider).create(BODY, "m")
        return fold(await events_of(made)), made.report

    transcript, report = run(work())

    assert ("interrupted", Situation.INTERRUPTED) == (end_of(report), report.situation)
    assert ("provider", "m") == (transcript.awaits, transcript.unfinished()[0].message_id)
    assert ["create", *["replay"] * 3, *["document"] * 4] == provider.asked


def test_a_key_that_is_refused_later():
    """
    A refusal of the key is the end, wherever it comes; the run can be resumed with another one.
    """
    followed = Provider(*hello(), plans=[Plan(upto=4), Plan(status=401, body=b"{}")])
    fetched = Provider(*hello(), plans=[Plan(upto=4), Plan(status=501)], documents=[403])

    assert "auth" == ended(followed)[0].error.kind
    assert "auth" == ended(fetched)[0].error.kind
    assert Situation.INTERRUPTED == ended(Provider(*hello(), plans=[Plan(upto=4), Plan(status=401)]))[1].situation


def test_a_service_that_says_when_to_come_back():
    """
    A replay that is refused for now is requested again when the service allows it; an hour is not waited.
    """

    async def work(after):
        plans = [Plan(upto=4), Plan(status=503, headers={"retry-after": after})]
        await events_of(client(Provider(*hello(), plans=plans)).create(BODY, "m"))
        return asyncio.get_running_loop().time()

    assert 0.5 + 5 + 1.0 == run(work("5"))
    assert 0.5 + 1.0 == run(work("3600"))


def test_a_cursor_that_leads_astray():
    """
    A stream that does not go on behind the cursor is not believed: the run is replayed.
    """
    from .recorded import SEARCHED, with_ids

    wire_events = with_ids(SEARCHED, "all")
    astray = Plan(events=[D(9, text("astray"))])
    provider = Provider(*wire_events, plans=[Plan(upto=14), astray])

    event, _ = ended(provider)

    assert ["create", "cursor v1_13", "replay"] == provider.asked
    assert "step.ended" == event.type


def test_a_cursor_that_is_refused():
    """
    A cursor that the provider does not know is not used again: the run is replayed.
    """
    from .recorded import SEARCHED, with_ids

    provider = Provider(*with_ids(SEARCHED, "all"), plans=[Plan(upto=14), Plan(status=400, body=b"{}")])

    assert "step.ended" == ended(provider)[0].type
    assert ["create", "cursor v1_13", "replay"] == provider.asked


STORED = {
    "a model of Gemini": (GeminiInteractionsApi, "gemini-3.6-flash", False, {"model": "gemini-3.6-flash"}),
    "an agent of it": (GeminiInteractionsApi, AGENT, True, {"agent": AGENT, "store": True, "background": True}),
    "another agent": (
        GeminiInteractionsApi,
        "code-mender-preview-10-2026",
        False,
        {"agent": "code-mender-preview-10-2026"},
    ),
    "a model of OpenAI": (OpenAIResponsesApi, "gpt-5.6", False, {"model": "gpt-5.6"}),
    "one in the background": (
        OpenAIResponsesApi,
        "gpt-5.6",
        True,
        {"model": "gpt-5.6", "store": True, "background": True},
    ),
    "an unknown model": (OpenAIResponsesApi, None, False, {}),
}


@pytest.mark.parametrize(("api", "name", "resumable", "request_"), STORED.values(), ids=STORED)
def test_the_request_of_a_stored_message(api, name, resumable, request_):
    """
    A message has the name of its model or agent, and its run continues by itself or not; more is not known.
    """
    origin = Origin(dialect=api.dialect.name, provider=api.provider, model=name)
    message = AssistantMessage(
        id="m",
        status=MessageStatus.RUNNING,
        origin=origin,
        run=RemoteRun(id="v1", kind="response", resumable=resumable),
    )

    assert request_ == api().request_of(message)


def test_the_request_of_a_stream():
    """
    A stream of this process knows the body that was sent, which a resume uses unless the app gives another.
    """
    body = {"model": "gpt-5.6", "background": True, "tools": [{"type": "function", "name": "rain"}]}

    async def work():
        made = client(Provider(*hello(), plans=[Plan(upto=4, how="stall")]))
        stream = made.create({**BODY, "tools": [{"type": "function", "name": "rain"}]}, "m")
        await stream.read()
        stream.close()
        return stream.request, made.resume(stream).request, made.recover(stream, request=body).request

    sent_, resumed, recovered = run(work())

    assert [{"type": "function", "name": "rain"}] == resumed["tools"]
    assert (sent_, body) == (resumed, recovered)


# -- usage


def test_usage_that_never_comes():
    """
    The end is held back for three questions and no more.
    """
    provider = Provider(*hello(K(usage=None)), documents=[document(mo("Hello"), usage=None)])

    event, report = ended(provider)

    assert ("step.ended", None, FailureMode.NO_USAGE) == (event.type, event.usage, report.mode)
    assert ["create", *["document"] * 3] == provider.asked


def test_usage_that_is_refused():
    """
    A run that is gone is not asked for again; one whose service is out is.
    """
    gone = Provider(*hello(K(usage=None)), documents=[404])
    out = Provider(*hello(K(usage=None)), documents=[500, 500, HELLO])

    assert None is ended(gone)[0].usage
    assert 13 == ended(out)[0].usage.total_tokens
    assert ["create", "document"] == gone.asked


def test_left_while_the_usage_is_asked_for():
    """
    A reader that leaves while only the usage is missing has the whole answer.
    """

    async def work():
        provider = Provider(*hello(K(usage=None)), documents=[HELLO])
        made = client(provider, policy=RecoveryPolicy(usage_delays_s=(100.0,))).create(BODY, "m")
        events = []
        while made.report.situation is Situation.FOLLOWING:
            reader = asyncio.create_task(made.read())
            await asyncio.sleep(1)
            if not reader.done():
                break
            events += reader.result()
        before = made.report
        reader.cancel()
        await asyncio.wait([reader])
        return [*events, *made.close()], before, made.report

    events, before, report = run(work())

    assert (Situation.FINISHED, FailureMode.NO_USAGE) == (before.situation, before.mode)
    assert ("step.ended", None, "completed") == (events[-1].type, events[-1].usage, end_of(report))


# -- leaving


def test_cancelled_while_it_waits():
    """
    A task that is cancelled closes the connection; the message can be closed, and resumed.
    """

    async def work():
        provider = Provider(*hello(), plans=[Plan(upto=4, how="stall")])
        made = client(provider).create(BODY, "m")
        events = []

        async def read():
            async for event in made:
                events.append(event)

        task = asyncio.create_task(read())
        await asyncio.sleep(10)
        task.cancel()
        await asyncio.wait([task])
        events += made.close()
        return provider, events, made

    provider, events, made = run(work())

    assert provider.bodies[0].closed
    assert ("step.failed", True) == (events[-1].type, events[-1].run.resumable)
    assert [] == made.close()


def test_nothing_is_read_ahead():
    """
    A reader that takes its time makes the provider wait: nothing is kept that was not asked for.
    """

    async def work():
        wire_events = [C(), S(0, mo()), *[D(0, text("a"))] * 500, K()]
        provider = Provider(*wire_events)
        async with client(provider).create(BODY, "m") as made:
            for _ in range(10):
                await made.read()
                await asyncio.sleep(60)
            return provider, provider.sent

    provider, sent_by_then = run(work())

    # The start of a step gives nothing yet, so that one batch took two events.
    assert 11 == sent_by_then
    assert provider.bodies[0].closed


def test_closed_while_somebody_reads():
    """
    The reader gets the end of the message when another task closes the stream.
    """

    async def work():
        provider = Provider(*hello(), plans=[Plan(upto=4, how="stall")])
        made = client(provider).create(BODY, "m")
        reader = asyncio.create_task(events_of(made))
        await asyncio.sleep(10)
        with pytest.raises(LocalProtocolError, match="is being read by another task"):
            await made.read()
        await made.aclose()
        return provider, await reader, made.report

    provider, events, report = run(work())

    assert ("step.failed", "aborted") == (events[-1].type, end_of(report))
    assert provider.bodies[0].closed


def test_the_report_of_a_run_that_was_left():
    """
    The connection that was open is among its attempts.
    """

    async def work():
        made = client(Provider(*hello(), plans=[Plan(upto=4, how="stall")])).create(BODY, "m")
        await made.read()
        await made.aclose()
        return made.report.attempts

    assert ["create"] == [attempt.kind for attempt in run(work())]


def test_a_report_where_no_loop_runs():
    """
    A report can be asked for anywhere, also of a run whose stream is open.
    """

    async def work():
        made = client(Provider(*hello(), plans=[Plan(upto=4, how="stall")])).create(BODY, "m")
        await made.read()
        report = made.report
        return made, report

    made, report = run(work())

    assert ["create"] == [attempt.kind for attempt in report.attempts]
    assert "<RunStream of 'm', run 'v1', following>" == repr(made)


def test_read_after_close():
    """
    A run that was closed has nothing more to give, and its connection is closed.
    """

    async def work():
        provider = Provider(*hello(), plans=[Plan(upto=4, how="stall")])
        made = client(provider).create(BODY, "m")
        await made.read()
        made.close()
        with pytest.raises(StopAsyncIteration):
            await made.read()
        return provider

    assert run(work()).bodies[0].closed


# -- stop and status


def test_a_run_that_is_closed_before_it_is_read():
    """
    Nothing is asked of the provider.
    """

    async def work():
        provider = Provider(*hello())
        made = client(provider).create(BODY, "m")
        made.close()
        with pytest.raises(StopAsyncIteration):
            await made.read()
        return provider

    assert [] == run(work()).asked


def test_stop_a_run_that_is_not_known_yet():
    """
    A run without an id cannot be cancelled at the provider: only its connection is closed.
    """

    async def work(body):
        provider = Provider(*hello(), plans=[Plan(upto=0, how="stall")])
        made = client(provider)
        stream = made.create(body, "m")
        reader = asyncio.create_task(events_of(stream))
        await asyncio.sleep(10)
        stopped = await made.stop(stream)
        return provider, stopped, (await reader)[-1].error.kind

    provider, stopped, kind = run(work(MODEL_BODY))

    assert (["create"], None, False, "cancelled") == (provider.asked, stopped.run_id, stopped.deleted, kind)


def test_stop_that_nobody_hears():
    """
    When both requests fail, the message is aborted: the run can be resumed, and stopped later.
    """

    async def work():
        broken = httpx2.ConnectError("unreachable")
        provider = Provider(*hello(), plans=[Plan(upto=4, how="stall")], cancel=broken, delete=broken)
        made = client(provider)
        stream = made.create(BODY, "m")
        reader = asyncio.create_task(events_of(stream))
        await asyncio.sleep(10)
        stopped = await made.stop("v1")
        return stopped, (await reader)[-1]

    stopped, event = run(work())

    assert (False, "network", "network") == (stopped.deleted, stopped.cancel_error.kind, stopped.delete_error.kind)
    assert ("aborted", True) == (event.error.kind, event.run.resumable)


def test_a_stop_that_is_cancelled():
    """
    The stream of the run ends all the same, as aborted: whether the provider was informed is not known.
    """

    class Silent(Provider):
        async def answer(self, request):
            if request.url.path.endswith("/cancel"):
                await asyncio.Event().wait()
            return await super().answer(request)

    async def work():
        made = client(Silent(*hello(), plans=[Plan(upto=4, how="stall")]))
        reader = asyncio.create_task(events_of(made.create(BODY, "m")))
        await asyncio.sleep(10)
        stopping = asyncio.create_task(made.stop("v1"))
        await asyncio.sleep(1)
        stopping.cancel()
        return (await reader)[-1]

    assert "aborted" == run(work()).error.kind


@pytest.mark.parametrize("status", [404, 410])
def test_stop_a_run_that_is_gone(status):
    """
    A run that the provider does not have counts as deleted, and its deletion has no error; other refusals count.
    """
    gone = run(client(Provider(cancel=status, delete=status)).stop("v1"))
    refused = run(client(Provider(cancel=status, delete=403)).stop("v1"))

    assert (False, True, status, None) == (gone.cancelled, gone.deleted, gone.cancel_error.status, gone.delete_error)
    assert (False, 403) == (refused.deleted, refused.delete_error.status)


def test_stop_a_stored_message():
    """
    A stored message is stopped by its run; one without a run needs no request.
    """

    async def work(message):
        provider = Provider()
        return provider, await client(provider).stop(message)

    stored = fold(run(events_of(client(Provider(*hello(), plans=[Plan(upto=4), Plan(status=401)])).create(BODY, "m"))))
    nameless = fold(run(events_of(client(Provider(plans=[Plan(status=400)])).create(BODY, "m"))))

    provider, stopped = run(work(stored.last))
    assert (["cancel", "delete"], True) == (provider.asked, stopped.deleted)
    provider, stopped = run(work(nameless.last))
    assert ([], False) == (provider.asked, stopped.deleted)


def test_an_id_is_quoted():
    """
    An id never leads to another place, whatever is in it.
    """

    async def work():
        provider = Provider()
        await client(provider).stop("../../x?y#z")
        return provider

    provider = run(work())

    assert "/v1beta/interactions/%2E%2E%2F%2E%2E%2Fx%3Fy%23z/cancel" == provider.requests[0].url.raw_path.decode()


def test_an_id_that_is_no_unicode():
    """
    An id with a lone surrogate, which JSON can contain, is requested like any other.
    """

    async def work():
        provider = Provider(documents=[404])
        status = await client(provider).status("v1_\ud800")
        return provider, status

    provider, status = run(work())

    assert "/v1beta/interactions/v1_%ED%A0%80" == provider.requests[0].url.raw_path.decode()
    assert "not-found" == status.kind


def test_status():
    """
    The status is the document without its content.
    """
    working = run(client(Provider(documents=[document(status="in_progress")], date=DATE)).status("v1"))
    done = run(client(Provider(documents=[HELLO])).status("v1"))

    assert (True, "in_progress", 0, "2026-11-22T10:20:00+00:00") == (
        working.running,
        working.status,
        working.outputs,
        working.served_at.isoformat(),
    )
    assert (False, "completed", 1) == (done.running, done.status, done.outputs)


def test_a_status_that_takes_too_long():
    """
    It is waited for as long as for a stop, not as long as for the document of an answer.
    """

    async def respond(request):
        await asyncio.sleep(31)
        return httpx2.Response(200, json=HELLO)

    async def work():
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(respond))
        return (await GeminiInteractions("k", http=http).status("v1")).message, asyncio.get_running_loop().time()

    assert ("no response within 30 s", 30.0) == run(work())


@pytest.mark.parametrize(("status", "kind"), [(404, "not-found"), (500, "provider")])
def test_a_status_that_cannot_be_fetched(status, kind):
    """
    In place of the document, the error is returned.
    """
    error = run(client(Provider(documents=[status])).status("v1"))

    assert (kind, status) == (error.kind, error.status)


# -- mistakes of the app


def test_mistakes():
    """
    Mistakes of the app raise at once.
    """
    made = client(Provider(*hello()))
    done = last(run(events_of(made.create(BODY, "m"))))
    lost = last(run(events_of(client(Provider(plans=[Plan(status=400)])).create(BODY, "m"))))

    with pytest.raises(TypeError, match="body: expected a mapping or an Encoded, got str"):
        made.create("Hi", "m")
    with pytest.raises(LocalProtocolError, match="message 'm' has ended"):
        made.resume(done)
    with pytest.raises(LocalProtocolError, match="message 'm' has no run"):
        made.recover(lost)
    with pytest.raises(LocalProtocolError, match="the message has not begun"):
        made.resume(made.create(BODY, "m"))
    with pytest.raises(TypeError, match="target: expected a RunStream or an AssistantMessage, got str"):
        made.resume("v1")
    with pytest.raises(
        TypeError, match="target: expected a RunStream, an AssistantMessage or the id of a run, got int"
    ):
        run(made.stop(7))
    with pytest.raises(LocalProtocolError, match="the run has no id"):
        run(made.status(""))


NO_BASE = "base_url: expected an http or https URL without user, password, query and fragment"
CONSTRUCTED = {
    "a key that is no text": ({"api_key": 7}, TypeError, "api_key: expected str or None, got int"),
    "a base that is no text": ({"base_url": 7}, TypeError, "base_url: expected str, got int"),
    "a base that is no URL": ({"base_url": "http://[::1"}, ValueError, NO_BASE),
    "a base of something else": ({"base_url": "ftp://x"}, ValueError, NO_BASE),
    "a base without a host": ({"base_url": "https://"}, ValueError, NO_BASE),
    "a base with a port that is none": ({"base_url": "http://h:CANARY"}, ValueError, NO_BASE),
    "a base with a host that is none": ({"base_url": "http://CANARY\x00.example"}, ValueError, NO_BASE),
    "a base with user and password": ({"base_url": "https://me:CANARY@h"}, ValueError, NO_BASE),
    "a base with a user": ({"base_url": "https://CANARY@h"}, ValueError, NO_BASE),
    "a base with a password": ({"base_url": "https://:CANARY@h"}, ValueError, NO_BASE),
    "a base with a key": ({"base_url": "https://h/?key=CANARY"}, ValueError, NO_BASE),
    "a base with a fragment": ({"base_url": "https://h/#CANARY"}, ValueError, NO_BASE),
}


@pytest.mark.parametrize(("options", "error", "text_of_it"), CONSTRUCTED.values(), ids=CONSTRUCTED)
def test_a_client_that_cannot_be(options, error, text_of_it):
    """
    A client that could not do anything is not made.
    """
    with pytest.raises(error, match=text_of_it) as caught:
        GeminiInteractions(**options)
    assert "CANARY" not in str(caught.value)


def test_a_clock_that_stands():
    """
    Time moves on.
    """
    with pytest.raises(ValueError, match="scale: expected more than 0, got 0"):
        Clock(0)
    assert "Clock(scale=0.5)" == repr(Clock(0.5))


def test_limits():
    """
    A scale leaves a network the time that it needs: five real seconds, or what it would have had.
    """
    assert [5.0, 0.5, 5.0] == [Clock(0.001).limit(seconds) for seconds in (60.0, 0.5, 5000.0)]
    assert [60.0, 600.0] == [Clock().limit(60.0), Clock(10).limit(60.0)]


def test_a_client_that_is_closed_while_it_reads():
    """
    The message is interrupted at once, nothing more is asked for, and the run can be resumed.
    """

    async def work():
        provider = Provider(*hello(), plans=[Plan(upto=4, how="stall")])
        closed = client(provider)
        made = closed.create(BODY, "m")
        task = asyncio.create_task(events_of(made))
        await asyncio.sleep(10)
        await closed.aclose()
        return provider, await task, made.report, asyncio.get_running_loop().time()

    provider, events, report, took_s = run(work())

    assert ("step.failed", "interrupted") == (events[-1].type, events[-1].error.kind)
    assert ("interrupted", Situation.INTERRUPTED) == (end_of(report), report.situation)
    assert ["create"] == provider.asked
    assert 10 == took_s


def test_a_closed_client():
    """
    A client that was closed begins nothing; one that made its own connections closes them.
    """

    async def work():
        async with GeminiInteractions("k", base_url="http://127.0.0.1:9", policy=RecoveryPolicy(tries=1)) as made:
            events = await events_of(made.create(BODY, "m"))
            own = made._own
        with pytest.raises(LocalProtocolError, match="the client is closed"):
            made.create(BODY, "n")
        return events, own

    events, own = asyncio.run(work())

    assert "network" == events[-1].error.kind
    assert all(http.is_closed for http in own)


def test_stops_and_statuses_have_connections_of_their_own(monkeypatch):
    """
    They never wait for the connections of runs.
    """
    asked, made = [], []

    def http_client(_base_url):
        number = len(made)

        def answer(request):
            asked.append((number, request.method))
            return httpx2.Response(200, json=document(mo("Hello")))

        made.append(httpx2.AsyncClient(transport=httpx2.MockTransport(answer)))
        return made[-1]

    monkeypatch.setattr("assistant_events.clients.http.http_client", http_client)

    async def work():
        async with GeminiInteractions("secret-key") as own:
            await own.status("v1")
            await own.stop("v1")

    run(work())

    assert [(1, "GET"), (1, "POST"), (1, "DELETE")] == asked


def test_a_mistake_in_a_transport_is_not_asked_for_again():
    """
    Nothing is known of it, so that neither the client nor an app tries it again.
    """
    asked = []

    def answer(request):
        asked.append(request.method)
        raise RuntimeError("a bug")

    async def work():
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http:
            return await events_of(GeminiInteractions("secret-key", http=http).create(BODY, "m"))

    error = run(work())[-1].error

    assert (["POST"], "unknown", None) == (asked, error.kind, error.retryable)


def test_a_key_that_changes(monkeypatch):
    """
    The environment is read each time a run is started, so that a new key needs no new client.
    """
    keys = []

    def answer(request):
        keys.append(request.headers["x-goog-api-key"])
        return httpx2.Response(400, json={})

    async def work():
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http:
            made = GeminiInteractions(http=http)
            for key in ("one", "two"):
                monkeypatch.setenv("GEMINI_API_KEY", key)
                await events_of(made.create(BODY, key))

    run(work())

    assert ["one", "two"] == keys


def test_a_stream_that_does_not_continue():
    """
    More of a part that has not begun shows that the stream is not the rest; more of one that has is it.
    """
    strayed = []
    for index in (0, 5):
        decoder = GeminiInteractionsApi.decoder("m")
        decoder.feed(as_bytes(C(status="in_progress"), S(0, mo()), D(0, text("Hel"))))
        decoder.continue_stream()
        decoder.feed(as_bytes(D(index, text("lo"))))
        strayed.append(decoder.strayed)

    assert [False, True] == strayed


def test_an_end_without_a_status():
    """
    It is that of the status before it, and waits for the counts that the document has.
    """
    decoder = GeminiInteractionsApi.decoder("m")
    decoder.feed(as_bytes(C(status="in_progress"), S(0, mo()), D(0, text("Hi")), X(0), U("completed")))
    decoder.feed(as_bytes(K(status=None, usage=None)))

    assert decoder.held
