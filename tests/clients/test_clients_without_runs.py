"""
Clients of dialects whose answers have no run: what is asked again and what is not, and answers that end with their
connection.
"""

from types import ModuleType

import httpx2
import pytest

from assistant_events import ErrorInfo, fold
from assistant_events.adapters import load_dialect
from assistant_events.clients import Situation, load_client
from assistant_events.clients.provider_api import ProviderApi
from assistant_events.clients.retry import RequestFailedError, may_create_again
from assistant_events.errors import LocalProtocolError
from assistant_events.testing.virtual_loop import run
from tests.adapters.anthropic_messages import test_client as anthropic
from tests.adapters.bedrock_converse import test_client as bedrock
from tests.adapters.gemini_generate_content import test_client as google
from tests.adapters.openai_chat import test_client as openai

from .canned import served

DIALECTS = {
    "anthropic-messages": anthropic,
    "bedrock-converse": bedrock,
    "gemini-generate-content": google,
    "openai-chat": openai,
}
"""What each test of a client has: `BODY`, `KEY`, `HELLO`, `asked`, `refused` and, in another framing, `streamed`."""

AGAIN = {
    anthropic: [
        (529, "overloaded_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (503, "api_error"),
        (403, "rate_limit_error"),
    ],
    bedrock: [(503, "ServiceUnavailableException"), (429, "ThrottlingException")],
    google: [
        (503, "UNAVAILABLE"),
        (429, "RESOURCE_EXHAUSTED"),
        (500, "INTERNAL"),
        (504, "DEADLINE_EXCEEDED"),
        (499, "CANCELLED"),
    ],
    openai: [(503, "server_is_overloaded"), (429, "rate_limit_exceeded"), (500, None)],
}
"""Refusals that pass: the first is that of an overloaded provider, the second that of a rate limit."""

FINAL = {
    anthropic: [(400, "invalid_request_error"), (401, "authentication_error"), (413, "x"), (429, "billing_error")],
    bedrock: [(400, "ValidationException"), (403, "AccessDeniedException")],
    google: [(400, "INVALID_ARGUMENT"), (403, "PERMISSION_DENIED"), (404, "NOT_FOUND")],
    openai: [(400, "invalid_value"), (401, "invalid_api_key"), (503, "model_not_found"), (429, "insufficient_quota")],
}
"""Refusals that stay."""

ENDS = {anthropic: b"message_delta", bedrock: b"messageStop", google: b'"finishReason"', openai: b'"stop"'}
"""What is in the frame with the reason to finish, and in none before it."""


def begun(dialect: ModuleType) -> httpx2.Response:
    """
    Return the response with an answer that is cut in the frame with its reason to finish.
    """
    return dialect.streamed(dialect.HELLO[: dialect.HELLO.index(ENDS[dialect])])


def client_of(dialect: ModuleType, http: httpx2.AsyncClient):
    [name] = [name for name, module in DIALECTS.items() if module is dialect]
    return load_client(name)(dialect.KEY, http=http)


def each(refusals):
    """
    Parametrize with a dialect and one of its refusals.
    """
    rows = [
        pytest.param(dialect, refusal, id=f"{name}-{refusal[0]}")
        for name, dialect in DIALECTS.items()
        for refusal in refusals[dialect]
    ]
    return pytest.mark.parametrize(("dialect", "refusal"), rows)


every = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)


@each(AGAIN)
def test_a_refusal_that_passes(dialect, refusal):
    """
    The request is made again when the provider could not take it.
    """
    refused = [dialect.refused(*refusal, **{"retry-after": "3"}), dialect.refused(*refusal)]
    message, _, requests = dialect.asked(*refused, dialect.streamed(dialect.HELLO))

    assert ("Hello", None, 3) == (message.text, message.error, len(requests))


@each(FINAL)
def test_a_refusal_that_stays(dialect, refusal):
    """
    A request that would be refused again is made once.
    """
    message, _, requests = dialect.asked(dialect.refused(*refusal), dialect.streamed(dialect.HELLO))

    assert (refusal[0], "failed", 1) == (message.error.status, message.status, len(requests))


@pytest.mark.parametrize(("status", "advice", "tries"), [(409, "true", 2), (500, "false", 1), (500, "perhaps", 2)])
def test_the_advice_of_a_provider(status, advice, tries):
    """
    The header `x-should-retry` decides, as in the SDKs of OpenAI and Anthropic.
    """
    refused = openai.refused(status, None, **{"x-should-retry": advice})
    message, _, requests = openai.asked(refused, openai.streamed(openai.HELLO))

    assert tries == len(requests)
    assert ("failed" if tries == 1 else "completed") == message.status


@every
def test_a_provider_that_stays_overloaded(dialect):
    """
    After four tries the message fails with the provider's error.
    """
    overloaded = AGAIN[dialect][0]
    message, situation, requests = dialect.asked(*[dialect.refused(*overloaded)] * 9)
    error = message.error

    assert ("overloaded", overloaded[0], True, 4) == (error.kind, error.status, error.retryable, len(requests))
    assert Situation.LOST is situation


@every
def test_a_long_retry_after(dialect):
    """
    The client does not wait for minutes; the error has the time after which to ask again.
    """
    refused = dialect.refused(*AGAIN[dialect][1], **{"retry-after": "60"})
    message, _, requests = dialect.asked(refused, dialect.streamed(dialect.HELLO))

    assert ("rate-limit", 60.0, 1) == (message.error.kind, message.error.retry_after_s, len(requests))


@every
def test_a_request_without_an_answer(dialect):
    """
    A request that was sent and got no response may have been billed: it is not made again.
    """
    requests = []

    def respond(request):
        requests.append(request)
        raise httpx2.ReadError("reset")

    async def work():
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(respond))
        async with client_of(dialect, http) as client, client.create(dialect.BODY, "a1") as stream:
            return fold([event async for event in stream]).last

    assert ("network", 1) == (run(work()).error.kind, len(requests))


@every
def test_a_stream_that_is_cut(dialect):
    """
    The answer ends with its connection: the message fails with what has come, and only one request was sent.
    """
    message, situation, requests = dialect.asked(begun(dialect))

    assert ("Hello", "interrupted", 1, Situation.LOST) == (message.text, message.error.kind, len(requests), situation)


@every
def test_a_stream_without_its_media_type(dialect):
    """
    Gateways send it as plain text or as bytes; what it is was asked for.
    """
    for kind in ("text/plain; charset=utf-8", "application/octet-stream"):
        response = dialect.streamed(dialect.HELLO)
        response.headers["content-type"] = kind
        message, _, _ = dialect.asked(response)

        assert ("Hello", None) == (message.text, message.error)


class Pieces(httpx2.AsyncByteStream):
    """A body that comes in these pieces, and is lost where one of them is an exception."""

    def __init__(self, *pieces):
        self.pieces = pieces

    async def __aiter__(self):
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece


def as_json(*pieces):
    return httpx2.Response(200, headers={"content-type": "application/json"}, stream=Pieces(*pieces))


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("dialect", [anthropic, google, openai])
@pytest.mark.parametrize("before", [b"", b"\n", b": keep-alive\n\n"])
def test_a_stream_that_is_said_to_be_a_document(dialect, before, size):
    """
    Gateways such as that of Xunfei's workflows send events as JSON; their first bytes show it.
    """
    body = before + dialect.streamed(dialect.HELLO).content
    message, situation, _ = dialect.asked(as_json(*[body[at : at + size] for at in range(0, len(body), size)]))

    assert ("Hello", None, Situation.FINISHED) == (message.text, message.error, situation)


@pytest.mark.parametrize("dialect", [anthropic, google, openai])
@pytest.mark.parametrize("begun", [(), (b"da",), (b"{",), (b'data: {"', b'a":')])
def test_a_document_that_is_lost(dialect, begun):
    """
    A connection that breaks before it is known what comes is an error of the network.
    """
    message, _, requests = dialect.asked(as_json(*begun, httpx2.ReadError("reset")))

    assert ("network", 1) == (message.error.kind, len(requests))


@every
def test_an_answer_without_a_run(dialect):
    """
    Nothing can be followed, fetched or stopped, and nothing is sent for it.
    """
    http, requests = served(begun(dialect))

    async def work():
        async with client_of(dialect, http) as client:
            async with client.create(dialect.BODY, "a1") as stream:
                message = fold([event async for event in stream]).last
            for call in (client.resume, client.recover):
                with pytest.raises(LocalProtocolError, match="has no run"):
                    call(message)
            with pytest.raises(LocalProtocolError, match="keeps no runs, so a document cannot be fetched"):
                await client.status("r1")
            return await client.stop("r1")

    assert (None, False, False) == ((stopped := run(work())).run_id, stopped.cancelled, stopped.deleted)
    assert 1 == len(requests)


def test_a_client_without_a_field_for_the_system_instruction():
    """
    Its settings refuse one in a sentence; an empty one takes nothing away.
    """

    class Api(ProviderApi):
        dialect = load_dialect("openai-chat")

    asked = {"model": "m", "agent": None, "background": False}

    assert {"model": "m", "stream": True} == Api().settings({}, system="", **asked)
    with pytest.raises(ValueError, match=r"^--system: the client of openai-chat names no field"):
        Api().settings({}, system="Be brief.", **asked)


@pytest.mark.parametrize(
    ("kind", "status", "facts", "keeps_runs", "again"),
    [
        ("quota", 429, {}, False, False),
        ("quota", 429, {"should_retry": True}, False, True),
        ("rate-limit", 429, {"should_retry": False}, False, False),
        ("provider", 503, {}, False, True),
        ("provider", 503, {"should_retry": True}, True, False),
        ("overloaded", 400, {}, False, True),
        ("content-filter", 503, {}, False, False),
        ("network", None, {"unsent": True}, True, True),
        ("network", None, {}, False, False),
    ],
)
def test_when_an_answer_is_asked_for_again(kind, status, facts, keeps_runs, again):
    """
    The advice of the provider counts before the kind of its error, and that before its status; where it keeps runs, and
    without a response, only a request that it has not taken is sent again.
    """
    failure = RequestFailedError(ErrorInfo(kind=kind, message="no"), status=status, **facts)

    assert again is bool(may_create_again(failure, keeps_runs=keeps_runs))
