"""
The errors of the official Python client of OpenAI, of both its APIs, against their mocks.
"""

from functools import partial

import pytest

from tests.official.client import OfficialError

HELLO = {
    "openai_chat": ("openai-chat", {"messages": [{"role": "user", "content": "Hello"}]}),
    "openai": ("openai-responses", {"input": "Hello"}),
}
"""By the fixture of a client, the dialect of its mock, and a request."""


@pytest.fixture(params=[(client, mode) for client in HELLO for mode in ("sync", "async")], ids="-".join)
def call(request, provider):
    """
    A function that makes a call with an answer of a mock provider, and the provider.
    """
    client, mode = request.param
    dialect, body = HELLO[client]

    def calls(answer, name, **options):
        mock = provider({"Hello": answer}, dialect=dialect, **options)
        api = request.getfixturevalue(client)("3.54", mode, mock.url)
        return partial(getattr(api, name), model="gpt-5.6", **body), mock

    return calls


ERRORS = {
    400: ("BadRequestError", "invalid_request_error"),
    401: ("AuthenticationError", "invalid_request_error"),
    429: ("RateLimitError", "rate_limit_error"),
    500: ("InternalServerError", "server_error"),
}


@pytest.mark.parametrize("status", ERRORS)
def test_http_errors(call, status):
    """
    An HTTP error is the exception of its status, with the type that the service uses for it.
    """
    name, kind = ERRORS[status]
    create, _ = call({"http_error": {"status": status, "message": "later"}}, "create")
    with pytest.raises(OfficialError) as caught:
        create()

    assert (name, status) == (caught.value.classes[0], caught.value.status_code)
    assert (kind, "later") == (caught.value.body["type"], caught.value.body["message"])
    assert caught.value.request_id.startswith("req_")


def test_an_error_inside_of_a_stream(call):
    """
    It ends the stream with an exception.
    """
    error = {"code": "server_is_overloaded", "message": "slow down", "after": 2}
    stream, _ = call({"text": "Hi there", "stream_error": error}, "raw")
    with pytest.raises(OfficialError) as caught:
        stream()

    assert ("APIError", "server_is_overloaded") == (caught.value.classes[0], caught.value.body["code"])


def test_a_retry(call):
    """
    The client asks again after 500, and gets the answer.
    """
    create, mock = call("Hi there", "create", faults=("http-500",))

    assert create(retries=1)["id"]
    assert 2 == len(mock.requests)
