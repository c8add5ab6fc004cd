"""
Paths, methods, keys, bodies and errors of the mock provider.
"""

import asyncio
import gzip
import json
import logging
import zlib

import pytest
from starlette.requests import Request

from assistant_events.adapters.gemini_interactions.mock import Answer, MockProvider
from assistant_events.adapters.gemini_interactions.mock.provider import InteractionsSettings
from assistant_events.mock import HttpError
from assistant_events.mock.requests import ApiError, read_body

from .asgi import KEY, Exchange, ask, asked, create, provider_of, settle, text_step

V1 = "/v1beta/interactions"
PREFIXES = [
    *(f"/{version}" for version in ("v1", "v1beta", "v1alpha", "v1beta1")),
    "/v1beta1/projects/my-project/locations/global",
]


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("cancel", ["/cancel", ":cancel", "%3Acancel"])
def test_every_action_under_every_prefix(prefix, cancel):
    """
    Create, get, replay, cancel in both spellings, and delete answer under every version, for Vertex too.
    """

    async def main():
        provider = provider_of()
        one = f"{prefix}/interactions/v1_1"
        return [
            await ask(provider, "POST", f"{prefix}/interactions", create(background=True)),
            await ask(provider, "GET", one),
            await ask(provider, "GET", f"{one}?stream=TRUE"),
            await ask(provider, "POST", f"{one}{cancel}", {}),
            await ask(provider, "DELETE", one),
            await ask(provider, "GET", one),
        ]

    created, got, replayed, cancelled, deleted, gone = asyncio.run(main())

    assert [200, 200, 200, 200, 200, 404] == [
        each.status for each in (created, got, replayed, cancelled, deleted, gone)
    ]
    assert "v1_1" == created.document["id"] == got.document["id"] == cancelled.document["id"]
    assert "interaction.created" == replayed.names[0]
    assert b"{}" == deleted.body


@pytest.mark.parametrize("run_id", ["v1_Ab-_9=", "v1_x==", "a.b~c"])
def test_ids_of_any_letters(run_id):
    """
    An id may hold `_`, `-`, `=` and more; what is escaped in the path is read once.
    """
    provider = provider_of(Answer(id=run_id, steps=(text_step("x"),)))

    async def main():
        await ask(provider, "POST", V1, create())
        return await ask(provider, "GET", f"{V1}/{run_id.replace('=', '%3D')}")

    assert run_id == asyncio.run(main()).document["id"]


@pytest.mark.parametrize("target", [f"{V1}/", "//v1beta//interactions"])
def test_slashes_that_are_too_many(target):
    """
    A slash at the end, or two in a row, as a base address brings them, change nothing.
    """
    assert 200 == asked(provider_of(), "POST", target, create()).status


@pytest.mark.parametrize(
    ("method", "target", "status", "name"),
    [
        ("GET", "/", 404, "NOT_FOUND"),
        ("POST", "/v1beta/models/x:generateContent", 404, "NOT_FOUND"),
        ("POST", "/v1beta/models", 405, "UNIMPLEMENTED"),
        ("POST", "/v7/interactions", 404, "NOT_FOUND"),
        ("GET", V1, 405, "UNIMPLEMENTED"),
        ("PUT", f"{V1}/v1_1", 405, "UNIMPLEMENTED"),
        ("GET", f"{V1}/v1_1/cancel", 405, "UNIMPLEMENTED"),
        ("GET", f"{V1}/nobody", 404, "NOT_FOUND"),
        ("GET", f"{V1}/nobody?stream=true", 404, "NOT_FOUND"),
        ("POST", f"{V1}/nobody/cancel", 404, "NOT_FOUND"),
    ],
)
def test_what_there_is_not(method, target, status, name):
    """
    Unknown paths, versions, methods and ids are the gateway's error: number, message and status name.
    """
    exchange = asked(provider_of(), method, target)

    assert status == exchange.status == exchange.document["error"]["code"]
    assert name == exchange.document["error"]["status"]
    assert exchange.document["error"]["message"]


def test_models():
    """
    The models are the default one and those that fixtures name, as `client.models.list()` reads them.
    """
    provider = provider_of()
    provider.add({"version": 1, "fixtures": [{"match": {"model": "gemini-3.6-pro"}, "answer": {"text": "Hi"}}] * 2})
    listed = asked(provider, "GET", "/v1beta/models")
    one = asked(provider, "GET", "/v1beta/models/gemini-3.6-pro")

    assert ["models/gemini-3.6-flash", "models/gemini-3.6-pro"] == [each["name"] for each in listed.document["models"]]
    assert listed.document["models"][1] == one.document


def test_deleting_what_is_not_there():
    """
    The service answers 200 for every id that it is asked to delete.
    """
    exchange = asked(provider_of(), "DELETE", f"{V1}/nobody")

    assert (200, b"{}") == (exchange.status, exchange.body)


@pytest.mark.parametrize(
    ("headers", "query", "status"),
    [
        ({"x-goog-api-key": "k"}, "", 200),
        ({"x-goog-api-key": None, "authorization": "Bearer t"}, "", 200),
        ({"x-goog-api-key": None}, "?key=k", 200),
        ({"x-goog-api-key": None}, "", 403),
        ({"x-goog-api-key": ""}, "?key=", 403),
    ],
    ids=["header", "bearer", "query", "none", "empty"],
)
def test_keys(headers, query, status):
    """
    Any key will do, in any of its three places; without one a strict provider refuses.
    """
    exchange = asked(provider_of(), "POST", V1 + query, create(), headers)

    assert status == exchange.status
    if status == 403:
        assert "PERMISSION_DENIED" == exchange.document["error"]["status"]


def test_keys_are_not_asked_for():
    """
    A lenient provider needs no key, and neither does one with that option.
    """
    nobody = {"x-goog-api-key": None}

    assert 200 == asked(provider_of(strict=False), "POST", V1, create(), nobody).status
    assert 200 == asked(provider_of(require_key=False), "POST", V1, create(), nobody).status
    assert 403 == asked(provider_of(strict=False, require_key=True), "POST", V1, create(), nobody).status


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b'{"model":', b"\xff\xfe", b'{"a": NaN}', b"[" * 300 + b"]" * 300, b"[]", b'"hi"', b"null", b"7"],
    ids=range(10),
)
@pytest.mark.parametrize("strict", [True, False])
def test_bodies_that_are_no_request(body, strict):
    """
    A body that is not a JSON object is an error of the provider, strict or not.
    """
    exchange = asked(provider_of(strict=strict), "POST", V1, body)

    assert 400 == exchange.status
    assert "invalid_request" == exchange.document["error"]["code"]
    assert exchange.document["error"]["message"].startswith("Invalid JSON payload received")


def test_bodies_that_are_too_long():
    """
    A body over the limit is refused, and not kept.
    """
    provider = provider_of(max_body_bytes=100)
    exchange = asked(provider, "POST", V1, create("x" * 100))

    assert 413 == exchange.status
    assert "INVALID_ARGUMENT" == exchange.document["error"]["status"]
    assert None is provider.requests[0].body


def test_a_client_that_leaves_while_it_sends(caplog):
    """
    The provider has not failed, and logs nothing.
    """
    statuses = []
    head = {"type": "http", "method": "POST", "path": V1, "query_string": b"", "root_path": ""}
    scope = {**head, "headers": [(b"x-goog-api-key", b"k")]}

    async def receive():
        return {"type": "http.disconnect"}

    async def send(message):
        statuses.append(message.get("status"))

    asyncio.run(provider_of().app(scope, receive, send))

    assert (400, "") == (statuses[0], caplog.text)


def test_a_body_that_is_too_long_is_read_to_its_end():
    """
    A client that still sends would not see the answer.
    """
    pieces = [{"type": "http.request", "body": b"x" * 60, "more_body": left > 0} for left in (2, 1, 0)]

    async def receive():
        return pieces.pop(0)

    assert asyncio.run(read_body(Request({"type": "http", "method": "POST"}, receive), 100)) is None
    assert [] == pieces


def encoded(pack, encoding, **options):
    """Return the answer to a prompt in a content encoding, and the requests of the log."""
    provider = provider_of(**options)
    data = pack(json.dumps(create("Hello")).encode())
    return asked(provider, "POST", V1, data, {**KEY, "content-encoding": encoding}), provider.requests


@pytest.mark.parametrize(
    ("pack", "encoding"),
    [(gzip.compress, "gzip"), (gzip.compress, "GZIP"), (zlib.compress, "deflate"), (bytes, "identity")],
)
def test_bodies_in_an_encoding(pack, encoding):
    """
    Requests may be packed, as the client libraries of Google for Java and .NET send them.
    """
    exchange, requests = encoded(pack, encoding)

    assert 200 == exchange.status
    assert create("Hello") == requests[0].body


PACKED = {
    "another encoding": (bytes, "zstd", 415, "'zstd' is not supported"),
    "what is not packed": (bytes, "gzip", 400, "not valid gzip"),
    "a part": (lambda data: gzip.compress(data)[:-9], "gzip", 400, "not valid gzip"),
    "one that is too long": (lambda _: gzip.compress(bytes(2000)), "gzip", 413, "exceeds the limit"),
}


@pytest.mark.parametrize(("pack", "encoding", "status", "message"), PACKED.values(), ids=PACKED)
def test_bodies_that_cannot_be_unpacked(pack, encoding, status, message):
    """
    They are refused in the shape of the provider, and are in the log.
    """
    exchange, requests = encoded(pack, encoding, max_body_bytes=1000)

    assert status == exchange.status
    assert message in exchange.document["error"]["message"]
    assert 1 == len(requests)


HALF = "\ud83d"
ODD_BODIES = {
    "a type with a signature": (
        create([{"type": HALF, "signature": "AAAA"}]),
        "item 0 (\ufffd): its signature is not one of this mock",
    ),
    "a function": (
        create(tools=[{"type": "function", "name": HALF, "parameters": {"required": []}}]),
        "function '\\ud83d' has an empty list",
    ),
    "a prompt": (create(HALF + "?"), "newest user text '\\ud83d?'"),
    "an interaction": (create(previous_interaction_id=HALF), "Previous interaction '\\ud83d' was not found"),
}


@pytest.mark.parametrize(("body", "expected"), ODD_BODIES.values(), ids=ODD_BODIES.keys())
def test_half_a_character_in_a_request(body, expected):
    """
    A refusal that repeats half a character of a request is a document like any other.
    """
    exchange = asked(MockProvider([]), "POST", V1, body, KEY)

    assert exchange.status in (400, 404)
    assert expected in exchange.document["error"]["message"]


def test_no_fixture():
    """
    A prompt without a matching fixture is an error with the facts of the request.
    """
    exchange = asked(MockProvider([]), "POST", V1, create("what?"), KEY)

    assert 400 == exchange.status
    assert (400, "NO_FIXTURE") == (exchange.document["error"]["code"], exchange.document["error"]["status"])
    assert "'what?'" in exchange.document["error"]["message"]
    assert "model 'gemini-3.6-flash'" in exchange.document["error"]["message"]


def test_http_errors_of_fixtures():
    """
    A fixture may answer with an HTTP error, its headers included.
    """
    error = HttpError(status=429, message="slow down", headers=(("retry-after-ms", "7"),))
    exchange = asked(provider_of(Answer(http_error=error)), "POST", V1, create(stream=True))

    assert 429 == exchange.status
    assert "7" == exchange.headers["retry-after-ms"]
    assert {"error": {"code": "too_many_requests", "message": "slow down"}} == exchange.document


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        (400, None, {"code": "invalid_request"}),
        (401, None, {"code": 401, "status": "UNAUTHENTICATED"}),
        (404, "expired", {"code": "expired"}),
        (429, 429, {"code": 429, "status": "TOO_MANY_REQUESTS"}),
        (418, None, {"code": "im_a_teapot"}),
        (499, 499, {"code": 499, "status": "UNKNOWN"}),
    ],
)
def test_shapes_of_errors(status, code, error):
    """
    The code of an error is a word, or the classic number with a status name.
    """
    answer = Answer(http_error=HttpError(status=status, code=code, message="m"))

    assert {**error, "message": "m"} == asked(provider_of(answer), "POST", V1, create()).document["error"]


def test_browsers_ask_first():
    """
    OPTIONS allows the headers that the service allows, and `api-revision` is not among them.
    """
    exchange = asked(provider_of(), "OPTIONS", V1, None, {"origin": "https://a.test", "x-goog-api-key": None})

    assert 200 == exchange.status
    assert "*" == exchange.headers["access-control-allow-origin"]
    assert (
        "content-type, x-goog-api-key, x-goog-api-client, authorization"
        == (exchange.headers["access-control-allow-headers"])
    )
    assert "GET, POST, DELETE, OPTIONS" == exchange.headers["access-control-allow-methods"]


def test_browsers_may_send_more_to_a_lenient_provider():
    """
    Lenient, OPTIONS allows whatever headers are asked for.
    """
    wanted = {"origin": "https://a.test", "access-control-request-headers": "api-revision, x-mine"}
    exchange = asked(provider_of(strict=False), "OPTIONS", f"{V1}/v1_1", None, wanted)

    assert "api-revision, x-mine" == exchange.headers["access-control-allow-headers"]


@pytest.mark.parametrize("body", [create(), create(stream=True), b"{"], ids=["document", "stream", "error"])
def test_browsers_may_read_every_answer(body):
    """
    Documents, streams and errors let a page of another origin read them; without an origin they have no such header.
    """
    with_origin = asked(provider_of(), "POST", V1, body, {"origin": "https://a.test"})
    without = asked(provider_of(), "POST", V1, body)

    assert "*" == with_origin.headers["access-control-allow-origin"]
    assert "access-control-allow-origin" not in without.headers


def test_requests_are_kept_without_keys():
    """
    The log has method, path, query, headers and body; keys are masked everywhere.
    """
    provider = provider_of()
    headers = {"authorization": "Bearer secret", "cookie": "secret", "x-mine": "1"}
    asked(provider, "POST", f"{V1}?key=secret&a=1&Access_Token=secret", create("hi"), headers)
    (request,) = provider.requests

    assert ("POST", V1, {"key": "[hidden]", "a": "1", "Access_Token": "[hidden]"}) == (
        request.method,
        request.path,
        request.query,
    )
    assert (
        "[hidden]" == request.headers["x-goog-api-key"] == request.headers["authorization"] == request.headers["cookie"]
    )
    assert "1" == request.headers["x-mine"]
    assert create("hi") == request.body
    assert "secret" not in repr(provider.requests)


def test_the_log_is_bounded():
    """
    The oldest requests are given up, by their number and by their size; the newest stays whatever its size.
    """

    async def main(**limits):
        provider = provider_of(**limits)
        for text in ("a", "b" * 50, "c", "d"):
            await ask(provider, "POST", V1, create(text))
        return ["".join(sorted(set(request.body["input"]))) for request in provider.requests]

    assert ["a", "b", "c", "d"] == asyncio.run(main())
    assert ["c", "d"] == asyncio.run(main(max_requests=2))
    assert ["c", "d"] == asyncio.run(main(max_kept_bytes=100))
    assert ["d"] == asyncio.run(main(max_kept_bytes=60)) == asyncio.run(main(max_kept_bytes=10))


def test_present_fixtures_keep_their_counts():
    """
    Fixtures that are added come before them, and change nothing of which answer is next.
    """

    async def main():
        provider = provider_of([text_step("one")], [text_step("two")])
        await ask(provider, "POST", V1, create())
        provider.add({"never": "asked"})
        return (await ask(provider, "POST", V1, create())).document["steps"][0]["content"][0]["text"]

    assert "two" == asyncio.run(main())


def test_reset():
    """
    A reset removes all runs and requests, and fixtures count from the start.
    """

    async def main():
        provider = provider_of([text_step("one")], [text_step("two")])
        await ask(provider, "POST", V1, create())
        provider.reset()
        gone = await ask(provider, "GET", f"{V1}/v1_1")
        again = await ask(provider, "POST", V1, create())
        return gone.status, len(provider.requests), again.document["steps"][0]["content"][0]["text"]

    assert (404, 2, "one") == asyncio.run(main())


@pytest.mark.parametrize("end", ["close", "reset"])
def test_the_end_of_a_server_ends_its_streams(end):
    """
    Streams that hang, and answers that are waited for, end when the provider is closed or reset.
    """

    async def main():
        provider = provider_of(faults=["stall@1"], clock=None, time_scale=1000.0)
        hanging = Exchange(provider, "POST", V1, create(stream=True))
        slow = Exchange(provider, "POST", V1, create(), {"x-mock-fault": "slow-first-byte@9s"})
        await settle()
        getattr(provider, end)()
        await hanging.over()
        await slow.over()
        return hanging.names, hanging.ended, slow.status

    assert (["interaction.created"], True, 200) == asyncio.run(main())


def test_a_fault_of_our_own_is_a_document(monkeypatch, caplog):
    """
    After an internal failure a client gets an error of the provider, and the log has the exception.
    """

    def broken(*_args, **_more):
        raise RuntimeError("broken inside")

    monkeypatch.setattr("assistant_events.adapters.gemini_interactions.mock.provider.read_request", broken)
    with caplog.at_level(logging.ERROR):
        exchange = asked(provider_of(), "POST", V1, create())

    assert 500 == exchange.status
    assert {"error": {"code": "internal", "message": "the mock provider itself failed, see its log"}} == (
        exchange.document
    )
    assert "broken inside" in caplog.text


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"generation": 3}, "generation: expected 1 or 2, got 3"),
        ({"arguments": "prefilled"}, "arguments: expected 'streamed' or 'whole', got 'prefilled'"),
        ({"faults": ["dorp"]}, "unknown fault 'dorp'"),
        (
            {"clock": None, "time_scale": 0},
            "time_scale: expected real seconds for each second, from 1e-9 to 1e9, got 0",
        ),
        ({"event_ids": "few"}, "event_ids: expected 'background' or 'all' or 'some' or 'none', got 'few'"),
    ],
)
def test_options_that_there_are_not(options, text):
    """
    An invalid option is an error at once, with what was expected.
    """
    with pytest.raises(ValueError, match=text):
        provider_of(**options)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("max_body_bytes", 20_971_520), ("max_runs", 2_000), ("max_kept_bytes", 67_108_864), ("max_requests", 1_000)],
)
def test_limits(limit, expected):
    """
    Without an option the limits are those of the documentation, and that of a body is the one of the service.
    """
    assert expected == getattr(InteractionsSettings(), limit)


def test_faults_are_several():
    """
    One string in the place of several faults is a mistake.
    """
    with pytest.raises(TypeError, match="faults: expected several of them, got one string"):
        provider_of(faults="drop")


def test_faults_of_fixtures_are_read_at_once():
    """
    A fixture with a fault that there is not is found when the provider is made.
    """
    with pytest.raises(ValueError, match="unknown fault 'dorp'"):
        provider_of(Answer(faults=("dorp",)))


def test_lifespan():
    """
    The app takes part in the start and the end of its server.
    """

    async def main():
        incoming = iter(["lifespan.startup", "lifespan.shutdown"])
        sent = []

        async def receive():
            return {"type": next(incoming)}

        async def send(message):
            sent.append(message["type"])

        await provider_of().app({"type": "lifespan", "asgi": {"version": "3.0"}}, receive, send)
        return sent

    assert ["lifespan.startup.complete", "lifespan.shutdown.complete"] == asyncio.run(main())


def test_a_refusal_in_words():
    """
    An API error in a traceback has its status and its message.
    """
    assert "404: gone" == str(ApiError(404, "gone"))
