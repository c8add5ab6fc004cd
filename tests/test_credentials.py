"""
Texts of exceptions, without the credentials of the request that raised them.
"""

from types import SimpleNamespace

import httpx2
import pytest
import requests

from assistant_events.values import ErrorInfo
from assistant_events.values.credentials import (
    MAX_MESSAGE,
    Secrets,
    error_text,
    secrets_of,
    secrets_of_header,
    secrets_of_headers,
    traceback_text,
    without_credentials,
)

KEY = "c4n4ry-k3y-0123456789"
PASSWORD = "c4n4ry:p4ss/w0rd"

TEXTS = {
    "parameters": (
        f"for url 'https://api.example/v1?alt=sse&key={KEY}'\nmore",
        "for url 'https://api.example/v1?…'\nmore",
    ),
    "one bare parameter": (f"at https://api.example/v1?{KEY} now", "at https://api.example/v1?… now"),
    "a fragment": (f"at https://api.example/v1#token={KEY}", "at https://api.example/v1?…"),
    "user and password": (f"at https://me:{KEY}@api.example:8080/v1", "at https://api.example:8080/v1"),
    "a user alone": (f"at https://{KEY}@api.example/v1", "at https://api.example/v1"),
    "a password with an at sign": (f"at https://me:p@{KEY}@api.example/v1", "at https://api.example/v1"),
    "a quote in the path": (f"at https://api.example/it's?key={KEY}", "at https://api.example/it's?…"),
    "a target alone": (
        f"Max retries exceeded with url: /v1/models?key={KEY} (Caused by X)",
        "Max retries exceeded with url: /v1/models?… (Caused by X)",
    ),
    "a proxy without a scheme": (
        f"no connection to me:{KEY}@proxy.example:3128",
        "no connection to proxy.example:3128",
    ),
    "a header of h11": (f"Illegal header value b'{KEY} \\n'", "Illegal header value [hidden]"),
    "a header of requests": (
        f"Invalid leading whitespace in header value: ' {KEY}'",
        "Invalid leading whitespace in header value: [hidden]",
    ),
    "a named key": (f"api_key={KEY}, model=m", "api_key=[hidden], model=m"),
    "headers of a request": (
        f"{{'accept': '*/*', 'x-goog-api-key': '{KEY}', 'authorization': 'Bearer {KEY}'}}",
        "{'accept': '*/*', 'x-goog-api-key': '[hidden]', 'authorization': 'Bearer [hidden]'}",
    ),
    "a key of Google": ("API key not valid: AIza0123456789abcdefghijklmnop.", "API key not valid: [hidden]."),
    "a key of OpenAI": (
        "Incorrect API key provided: sk-proj-0123456789abcdef.",
        "Incorrect API key provided: [hidden].",
    ),
}


@pytest.mark.parametrize(("text", "clean"), TEXTS.values(), ids=TEXTS)
def test_what_looks_like_a_credential(text, clean):
    """
    Credentials are masked at the places where libraries write them; the rest of the text stays.
    """
    assert clean == without_credentials(text)


@pytest.mark.parametrize(
    "text",
    [
        "KeyError: 'steps'",
        "Unexpected token: identifier",
        "Basic authentication is not supported",
        "really? yes = no",
        "see https://docs.example/errors for more, or ask me@docs.example",
        "max_output_tokens: 123456789",
        "12:30:45 the connection broke",
    ],
)
def test_ordinary_words(text):
    """
    Text that is not a credential is kept.
    """
    assert text == without_credentials(text)


def test_secrets_that_are_known():
    """
    A secret that is known is masked wherever it occurs, whole, unless it is so short that it is part of a word.
    """
    assert "no [hidden]; too many requests" == without_credentials(
        f"no {KEY}; too many requests", [KEY[:9], KEY, "any"]
    )


SPELLINGS = {
    "plain": ('CANARY+"key"/=', 'no CANARY+"key"/=.'),
    "in a URL": ('CANARY+"key"/=', "no CANARY%2B%22key%22%2F%3D."),
    "in JSON": ('CANARY+"key"/=', 'no CANARY+\\"key\\"/=.'),
    "half a character in a URL": ("CANARY-\ud800", "no CANARY-%ED%A0%80."),
}


@pytest.mark.parametrize(("secret", "text"), SPELLINGS.values(), ids=SPELLINGS)
def test_spellings_of_a_secret(secret, text):
    """
    A secret is masked in text and bytes as it is, and escaped as in a URL or in JSON.
    """
    secrets = Secrets([secret])

    assert "no [hidden]." == secrets.text(text)
    assert b"no [hidden]." == secrets.data(text.encode(errors="surrogatepass"))


def test_keys_and_strings_of_plain_json():
    """
    Credentials are removed at any depth; other values stay as they are.
    """
    found = Secrets(["CANARY-key"]).json({"CANARY-key": [{"a": "b CANARY-key"}, 1, None, True]})

    assert {"[hidden]": [{"a": "b [hidden]"}, 1, None, True]} == found


HEADERS = {
    "a key": ("AIza Key", {"AIza Key"}),
    "a token": ("Bearer c4n4ry-t0ken", {"Bearer c4n4ry-t0ken", "c4n4ry-t0ken"}),
    "cookies": ("a=c4n4ry one; b=c4n4ry-two", {"c4n4ry one", "c4n4ry-two"}),
    # base64 of "me:pässw0rd" in UTF-8 and in Latin-1
    "a password": ("Basic bWU6cMOkc3N3MHJk", {"p\u00e4ssw0rd"}),
    "a password in Latin-1": ("Basic bWU6cORzc3cwcmQ=", {"p\u00e4ssw0rd"}),
}


@pytest.mark.parametrize(("header", "secrets"), HEADERS.values(), ids=HEADERS)
def test_secrets_of_a_header(header, secrets):
    """
    The value of a header gives the key, the token, the password or the cookies in it.
    """
    assert secrets <= {*secrets_of_header(header)}


def test_the_name_of_portkey_is_no_key():
    """
    What its headers choose occurs in ordinary answers; those with a key of their own have a credential.
    """
    chosen = {
        "x-portkey-provider": "anthropic",
        "x-portkey-custom-host": "http://127.0.0.1:4010",
        "x-portkey-retry": "5",
    }
    keys = {"x-portkey-api-key": "c4n4ry-one", "X-Portkey-Virtual-Key": "c4n4ry-two"}
    config = '{"api_key": "c4n4ry-three"}'

    assert not {*secrets_of_headers(chosen.items())}
    assert {"c4n4ry-one", "c4n4ry-two"} <= {*secrets_of_headers({**chosen, **keys}.items())}
    assert config in secrets_of_headers([("x-portkey-config", config)])


def refused(request):
    """Return what httpx raises for an answer that repeats the key in its status line."""
    response = httpx2.Response(401, request=request, extensions={"reason_phrase": f"No {KEY}".encode()})
    with pytest.raises(httpx2.HTTPStatusError) as caught:
        response.raise_for_status()
    return caught.value


REQUESTS = {
    "a parameter": {"url": f"https://api.example/v1?key={KEY}"},
    "a header": {"url": "https://api.example/v1", "headers": {"x-goog-api-key": KEY}},
    "a bearer": {"url": "https://api.example/v1", "headers": {"authorization": f"Bearer {KEY}"}},
    "a cookie": {"url": "https://api.example/v1", "headers": {"cookie": f"a=b; session={KEY}; c=d"}},
    "a password": {"url": f"https://me:{KEY}@api.example/v1"},
    # base64 of "me:c4n4ry-k3y-0123456789"
    "a password in a header": {
        "url": "https://api.example/v1",
        "headers": {"authorization": "Basic bWU6YzRuNHJ5LWszeS0wMTIzNDU2Nzg5"},
    },
}


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_a_status_line_that_repeats_a_credential(request_):
    """
    What the request of an exception carries is masked in all of its text.
    """
    text = error_text(refused(httpx2.Request("GET", **request_)))

    assert text.startswith("HTTPStatusError: Client error '401 No [hidden]' for url 'https://api.example/v1")
    assert KEY not in text


def test_exceptions_of_requests():
    """
    The exceptions of requests show their request in the same way.
    """
    response = requests.Response()
    response.status_code, response.reason, response.url = 401, f"No {KEY}", f"https://api.example/v1?key={KEY}"
    response.request = requests.Request("GET", response.url).prepare()
    with pytest.raises(requests.HTTPError) as caught:
        response.raise_for_status()

    assert "HTTPError: 401 Client Error: No [hidden] for url: https://api.example/v1?…" == error_text(caught.value)


def test_exceptions_of_aiohttp():
    """
    Those of aiohttp carry `request_info`.
    """
    error = Exception(f"401, message='No {KEY}', url='https://api.example/v1'")
    error.request_info = SimpleNamespace(url="https://api.example/v1", headers={"X-Api-Key": KEY})

    assert "Exception: 401, message='No [hidden]', url='https://api.example/v1'" == error_text(error)


def test_an_exception_with_a_cause():
    """
    The request of the exception that caused it, and of each in a group, counts as well.
    """
    error = ValueError(f"the provider says: No {KEY}")
    error.__cause__ = ExceptionGroup("several", [refused(httpx2.Request("GET", "https://x", headers={"api-key": KEY}))])
    error.__cause__.__cause__ = error

    assert KEY in secrets_of(error)
    assert "ValueError: the provider says: No [hidden]" == error_text(error)


def test_an_exception_that_is_raised_while_another_is_handled():
    """
    The request of the other one counts, although the app has not named it as the cause.
    """
    error = ValueError(f"the provider says: No {KEY}")
    error.__context__ = refused(httpx2.Request("GET", "https://x", headers={"api-key": KEY}))

    assert "ValueError: the provider says: No [hidden]" == error_text(error)


def test_a_text_of_the_limit():
    """
    It is whole; one that is longer has a mark at its end.
    """
    text = "x" * (500 - len("ValueError: "))

    assert f"ValueError: {text}" == error_text(ValueError(text))
    assert f"ValueError: {text[:-1]}…" == error_text(ValueError(text + "x"))


def test_the_fields_of_an_error():
    """
    Message, code and details, at any depth, are without known credentials.
    """
    error = ErrorInfo(kind="auth", message=f"no {KEY}", code=KEY, details={KEY: [KEY, {"a": KEY}], "b": 1})
    expected = ErrorInfo(
        kind="auth",
        message="no [hidden]",
        code="[hidden]",
        details={"[hidden]": ["[hidden]", {"a": "[hidden]"}], "b": 1},
    )

    assert expected == Secrets([KEY]).error(error)


def test_known_credentials_in_the_text_of_an_exception():
    """
    They need no request that shows them, and are not in a traceback either.
    """
    error = ValueError(f"at {KEY}")

    assert "ValueError: at [hidden]" == error_text(error, Secrets([KEY]))
    assert "ValueError: at [hidden]\n" == traceback_text(error, Secrets([KEY]))


def test_the_credentials_of_a_request():
    """
    Those in its address come as they are written and as they are meant; names of headers and parameters show which.
    """
    names = ["authorization", "cookie", "credential", "x-key", "password", "secret", "signature", "x-token"]
    url = "https://us%65r-name:p%61ssword@api.example/v1?key=abc%2Fdefgh&model=some-model"
    headers = {name.encode(): f"válue-of-{name}".encode("latin-1") for name in [*names, "accept"]}
    expected = {"us%65r-name", "user-name", "p%61ssword", "password", "abc%2Fdefgh", "abc/defgh"}

    for place in ("request", "response", "request_info"):
        error, request = ValueError(), SimpleNamespace(url=url, headers=headers)
        setattr(error, place, SimpleNamespace(request=request) if place == "response" else request)
        found = secrets_of(error)

        assert expected | {f"válue-of-{name}" for name in names} <= found
        assert not found & {"some-model", "válue-of-accept"}


def test_an_exception_with_attributes_of_its_own():
    """
    Attributes of other forms show nothing and disturb nothing.
    """
    error = OSError("gone")
    error.request, error.url, error.headers = 5, "http://[", [1]

    assert "OSError: gone" == error_text(error)


def test_a_long_text():
    """
    A credential that the limit would cut is masked as well.
    """
    text = error_text(OSError("x" * (MAX_MESSAGE - 20) + f" https://me:{KEY}@api.example?key={KEY}"))

    assert MAX_MESSAGE >= len(text)
    assert KEY[:4] not in text


@pytest.mark.parametrize(
    "piece", ["://", "://a@", "?a", "a:", "key=", "header value '", "authorization: bearer ", "x-"]
)
def test_a_text_of_a_megabyte(piece):
    """
    A text is read once for each pattern, however it repeats what a credential begins with.
    """
    assert without_credentials(piece * (1_000_000 // len(piece)))
