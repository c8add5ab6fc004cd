"""
A server that repeats the key, wherever it puts it: the key is in no event, report, repr, log line or request of a run.
"""

import json
import logging

import httpx2
import pytest

from assistant_events import find_problems, fold
from assistant_events.adapters.gemini_interactions.client import GeminiInteractions
from assistant_events.clients.hosts import proxy_secrets
from assistant_events.converters import unstructure
from assistant_events.testing.virtual_loop import run
from assistant_events.values.credentials import Secrets
from tests.adapters.notation import USAGE, C, D, E, K, S, U, X, fc, mo, signature, step, text, th
from tests.adapters.notation import stream as as_bytes

from .answers import BODY, CREATED, document, events_of, hello
from .provider import Plan, Provider

KEY = "CANARY/key+0123456789"
HEAD = {"status": "in_progress", "created": CREATED}


def as_one(name):
    """
    Return a JSON string in which each character is an escape.
    """
    return "".join(f"\\u{ord(character):04x}" for character in name)


def flow(provider, body=BODY):
    """
    Follow a run to its end; return everything that is kept and shown of it.
    """

    async def work():
        made = GeminiInteractions(KEY, http=provider.http)
        stream = made.create(body, "m")
        events = await events_of(stream)
        report = stream.report
        shown = [f"{made!r} {stream!r} {report!r}"]
        if report.run_id:
            shown.append(f"{await made.status(stream)!r} {await made.stop(stream)!r}")
        return events, shown

    events, shown = run(work())
    assert [] == find_problems(events)
    requested = "".join(str(request.url) for request in provider.requests)
    return events, "".join([*shown, requested, repr(events), json.dumps([unstructure(event) for event in events])])


STREAMS = {
    "the code of an error": hello(E(KEY, "no")),
    "the message of an error": hello(E("internal", f"bad key {KEY}")),
    "the id of the run": [C(KEY, **HEAD), S(0, mo()), D(0, text("Hi")), X(0), K(id=KEY)],
    "the model": [C(model=KEY, **HEAD), S(0, mo()), D(0, text("Hi")), X(0), K()],
    "the status at the end": hello(K(KEY)),
    "a status on the way": [*hello()[:2], U(KEY), *hello()[2:]],
    "the environment": [C(environment_id=KEY, **HEAD), *hello()[1:]],
    "the token of the next hop": hello(K("requires_continuation", continuation_token=KEY)),
    "usage": hello(K(usage={**USAGE, KEY: KEY})),
    "errors of a run that failed": hello(K("failed", errors=[{"code": KEY, "message": KEY}])),
    "the error of a step": [
        *hello()[:2],
        S(0, mo(error={"code": KEY, "message": KEY})),
        X(0),
        K("failed"),
    ],
    "a signature": [*hello()[:2], S(0, th()), D(0, signature(KEY)), X(0), K()],
    "a call": [*hello()[:2], S(0, fc(KEY, KEY, {KEY: KEY})), X(0), K("requires_action")],
    "an unknown step": [*hello()[:2], S(0, step(KEY, a={KEY: [KEY]})), X(0), K()],
    "words": [*hello()[:3], D(0, text("one ")), D(0, text(f"two {KEY}")), D(0, text(KEY)), X(0), K()],
}


async def in_bytes(data):
    """
    Yield each byte as a chunk of its own.
    """
    for at in range(len(data)):
        yield data[at : at + 1]


def test_an_error_behind_a_stream_that_repeats_the_key():
    """
    Gateways end a broken stream with a document that is not an event.
    """
    tail = json.dumps({"error": {"code": "invalid_request", "message": f"bad key {KEY}"}}).encode()

    async def answer(request):
        content = as_bytes(*hello()[:3]) + tail
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=content)

    provider = Provider()
    provider.answer = answer
    events, shown = flow(provider, {"model": "gemini-3.6-flash", "input": "Hi"})

    assert events[-1].error.message.startswith("bad key ")
    assert KEY not in shown


@pytest.mark.parametrize("form", ["plain", "escaped", "cut"])
@pytest.mark.parametrize("wire", STREAMS.values(), ids=STREAMS)
def test_a_stream_that_repeats_the_key(wire, form, caplog):
    """
    The key is masked in everything that a stream sends, but for text of the model in which it is escaped or cut.
    """
    caplog.set_level(logging.INFO)
    frames = as_bytes(*wire)
    if form == "escaped":
        frames = frames.replace(KEY.encode(), as_one(KEY).encode())

    async def answer(request):
        content = in_bytes(frames) if form == "cut" else frames
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=content)

    provider = Provider()
    provider.answer = answer
    body = {"model": "gemini-3.6-flash", "input": "Hi"}
    events, shown = flow(provider, body)

    assert events
    assert KEY not in caplog.text
    if form == "plain" or wire is not STREAMS["words"]:
        assert KEY not in shown


DOCUMENTS = {
    "an id": document(mo("Hi"), id=KEY),
    "a status": document(mo("Hi"), status=KEY),
    "times": document(mo("Hi"), created=KEY, updated=KEY),
    "usage": document(mo("Hi"), usage={**USAGE, "details": [KEY]}),
    "a field": document(mo("Hi"), environment_id=KEY),
    "steps": document(mo(f"Hi {KEY}"), th(signature=KEY), fc(KEY, KEY, {KEY: KEY}), step(KEY, a=KEY)),
    "an error": {"error": {"code": KEY, "message": KEY, "status": KEY}},
}


@pytest.mark.parametrize("escaped", [False, True], ids=["plain", "escaped"])
@pytest.mark.parametrize("said", DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_document_that_repeats_the_key(said, escaped):
    """
    The key is masked in documents, as the answer and in the recovery of a cut run.
    """
    packed = json.dumps(said).encode()
    if escaped:
        packed = packed.replace(KEY.encode(), as_one(KEY).encode())
    answered = Provider(plans=[Plan(body=packed, headers={"content-type": "application/json"})])
    recovered = Provider(*hello(), plans=[Plan(upto=4), *[Plan(status=501)] * 3], documents=[packed])

    assert KEY not in flow(answered, {"model": "gemini-3.6-flash", "input": "Hi"})[1]
    assert KEY not in flow(recovered)[1]


REFUSALS = {
    "a code": Plan(status=400, body=json.dumps({"error": {"code": KEY, "message": KEY}}).encode()),
    "a status": Plan(status=400, body=json.dumps({"error": {"code": 400, "status": KEY}}).encode()),
    "escaped": Plan(status=400, body=f'{{"error": {{"code": "{as_one(KEY)}", "message": "{as_one(KEY)}"}}}}'.encode()),
    "a page": Plan(status=502, body=KEY.encode()),
    "a content type": Plan(body=b"{}", headers={"content-type": f"text/{KEY}"}),
    "a content encoding": Plan(body=b"{}", headers={"content-type": "text/event-stream", "content-encoding": KEY}),
    "a redirect": Plan(status=302, headers={"location": f"https://{KEY}.example/{KEY}"}),
    "other headers": Plan(status=429, headers={"retry-after": KEY, "date": KEY, "x-key": KEY}),
    "an exception": Plan(fails=httpx2.ReadError(f"cannot read {KEY}")),
    "an exception of a connection": Plan(fails=httpx2.ConnectError(KEY)),
}


@pytest.mark.parametrize("plan", REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_that_repeats_the_key(plan, caplog):
    """
    The key is masked in the error of a failed request.
    """
    caplog.set_level(logging.INFO)
    first = Provider(*hello(), plans=[plan] * 9)
    later = Provider(*hello(), plans=[Plan(upto=4), *[plan] * 9], documents=[httpx2.ReadError(KEY)])

    shown = flow(first)[1] + flow(later)[1]

    assert KEY.lower() not in f"{shown} {caplog.text}".lower()


def test_a_token_in_a_header_of_the_app():
    """
    That of a gateway, which repeats it, is masked as the key is.
    """
    provider = Provider(*hello(E("internal", f"bad token {KEY}")))
    made = GeminiInteractions("key", http=provider.http, headers={"gateway-authorization": f"Bearer {KEY}"})
    events = run(events_of(made.create(BODY, "m")))

    assert "[hidden]" in repr(events)
    assert KEY not in repr(events)


def test_what_a_traceback_with_variables_shows():
    """
    Tools that print the variables of a traceback print neither the key nor the headers of the app.
    """
    made = GeminiInteractions(KEY, http=Provider().http, headers={"gateway-authorization": f"Bearer {KEY}"})

    assert KEY not in repr([made, vars(made.create(BODY, "m")), made._transport()])


def test_the_password_of_a_proxy(monkeypatch):
    """
    The password of a proxy is masked in its responses, as it is written in the environment and as it is sent.
    """
    monkeypatch.setenv("HTTPS_PROXY", "http://me:CANARY%40word@proxy.example:3128")
    monkeypatch.setenv("HTTP_PROXY", "me:another%2Dcanary@proxy.example:3128")
    monkeypatch.setenv("ALL_PROXY", "http://[proxy")
    secrets = Secrets(proxy_secrets())
    said = "407 CANARY%40word CANARY@word bWU6Q0FOQVJZQHdvcmQ= another-canary another%2Dcanary"

    assert "407 [hidden] [hidden] [hidden] [hidden] [hidden]" == secrets.text(said)


def test_the_traceback_of_an_unknown_error(caplog):
    """
    A transport may raise anything. Its traceback is logged, because it may be a mistake of the app, without the key.
    """
    provider = Provider(plans=[Plan(fails=ZeroDivisionError(f"the key was {KEY}"))])
    events, shown = flow(provider)

    assert "unknown" == events[-1].error.kind
    assert KEY not in shown
    assert "a request raised" in caplog.text
    assert "ZeroDivisionError: the key was [hidden]" in caplog.text
    assert KEY not in caplog.text


def test_a_key_in_a_delta_like_many_others():
    """
    Deltas that are read without a parser, since others were like them, are looked through, too.
    """
    deltas = [D(0, text(f"word {number} ")) for number in range(40)]
    wire = [*hello()[:3], *deltas, D(0, text(f"it is {KEY}, no?")), *deltas, *hello()[5:]]

    events = run(events_of(GeminiInteractions(KEY, http=Provider(*wire).http).create(BODY, "m")))

    assert "it is [hidden], no?" in fold(events).last.text
    assert KEY not in repr(events)
