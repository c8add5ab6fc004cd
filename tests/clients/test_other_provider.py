"""
The general client with a made-up provider: what the client of a dialect has to bring, and nothing of any real one.
"""

import json

import httpx2
import pytest

from assistant_events import ErrorKind, RemoteRun, fold
from assistant_events.adapters.base import DecoderBase
from assistant_events.adapters.dialect import Dialect
from assistant_events.adapters.errors import ErrorTable
from assistant_events.clients import Action, ProviderClient, RecoveryPolicy, Situation, SyncProviderClient
from assistant_events.clients.provider_api import ProviderApi
from assistant_events.clients.recovery import RunSummary
from assistant_events.clients.tracking_decoder import Observation, TrackingDecoder
from assistant_events.testing.virtual_loop import run

from .answers import events_of

WIRE = [
    {"type": "created", "id": "r1", "state": "working"},
    {"type": "text", "text": "Hel"},
    {"type": "text", "text": "lo"},
    {"type": "done", "id": "r1", "state": "finished"},
]
DOCUMENT = {"id": "r1", "state": "finished", "texts": ["Hel", "lo"]}


class AcmeDecoder(DecoderBase):
    dialect = "acme-runs"
    provider = "acme"
    error_table = ErrorTable(codes={"nope": ErrorKind.INVALID_REQUEST}, otherwise="nope")

    def on_event(self, event):
        if event["type"] == "created":
            kept = self.request.get("kept") is True
            self.recorder.start(self.origin(), RemoteRun(id=event["id"], resumable=kept, kind="run"), {})
        elif event["type"] == "text":
            self.recorder.text(event["text"])
        else:
            self.finish_step("stop", event["state"])


class AcmeTrackingDecoder(TrackingDecoder, AcmeDecoder):
    unfinished = frozenset({"working"})
    stream_cursor = None

    @property
    def resumable(self):
        return self.request.get("kept") is True

    stored = resumable

    def observe(self, event):
        done = event if event["type"] == "done" else None
        content = event["type"] == "text"
        return Observation(run_id=event.get("id"), status=event.get("state"), completes=done, content=int(content))

    def decode(self, event):
        AcmeDecoder.on_event(self, event)

    def with_usage(self, event, usage):
        return event

    def resource_events(self, resource):
        texts = [{"type": "text", "text": text} for text in resource["texts"]]
        return [{**resource, "type": "created"}, *texts, {**resource, "type": "done"}]


class AcmeApi(ProviderApi):
    dialect = Dialect(name="acme-runs", decoder=AcmeDecoder)
    provider = "acme"
    base_url = "https://acme.example"
    version = "v9"
    collection = "runs"
    keeps_runs = True
    cursor_parameter = "after"
    key_header = "x-acme-key"
    key_variable = "ACME_API_KEY"
    decoder = AcmeTrackingDecoder

    def with_defaults(self, body):
        return {"stream": True, **body}

    def settings(self, before, *, model, agent, system, background):
        return {"model": model, "kept": background}

    def request_of(self, message):
        return {"kept": True}

    def summarize(self, resource):
        return RunSummary(status=resource["state"], running=resource["state"] == "working")

    def is_agent(self, request):
        return False

    def is_cut_tail(self, tail):
        return False

    def is_forgotten(self, body, error):
        return False


class Acme(ProviderClient):
    api = AcmeApi()


class SyncAcme(SyncProviderClient):
    asynchronous = Acme


def served(*streams, document=None):
    """
    Return an HTTP client whose streams have these events, and the list of its requests.
    """
    left, requests = list(streams), []

    def answer(request):
        requests.append(f"{request.method} {request.url}")
        assert request.headers["x-acme-key"] == "a-key-of-acme"
        if request.method == "GET" and "stream" not in request.url.params:
            return httpx2.Response(200, json=document)
        if not left:
            return httpx2.Response(400, json={"error": {"code": "nope", "message": "not now"}})
        body = "".join(f"data: {json.dumps(event)}\n\n" for event in left.pop(0))
        return httpx2.Response(200, content=body, headers={"content-type": "text/event-stream"})

    return httpx2.AsyncClient(transport=httpx2.MockTransport(answer)), requests


def followed(http, body, **options):
    async def work():
        stream = Acme("a-key-of-acme", http=http, **options).create(body, "m")
        return await events_of(stream), stream.report

    return run(work())


@pytest.mark.parametrize("at", range(1, len(WIRE)))
def test_a_cut_run_is_followed(at):
    """
    Wherever the stream is cut, the replay of the run completes the message.
    """
    http, requests = served(WIRE[:at], WIRE)

    events, report = followed(http, {"kept": True})

    assert ("Hello", "completed", "acme") == ((last := fold(events).last).text, last.status, last.origin.provider)
    assert (Situation.FINISHED, "drop") == (report.situation, report.mode)
    assert ["POST https://acme.example/v9/runs", "GET https://acme.example/v9/runs/r1?stream=true"] == requests


def test_the_document_completes_a_run_without_a_stream():
    """
    When the stream cannot be requested, the document is fetched.
    """
    http, requests = served(WIRE[:2], document=DOCUMENT)

    events, report = followed(http, {"kept": True})

    assert ("Hello", "finished") == (fold(events).last.text, report.run.status)
    assert "GET https://acme.example/v9/runs/r1" == requests[-1]


def test_a_run_of_the_connection_fails_with_it():
    """
    A provider that keeps no runs needs no recovery: the message fails, and only one request is sent.
    """
    http, requests = served(WIRE[:2])

    events, report = followed(http, {}, policy=RecoveryPolicy(reconnects=9))

    assert ("step.failed", "interrupted", 1) == (events[-1].type, events[-1].error.kind, len(requests))
    assert (Situation.LOST, (Action.STOP,)) == (report.situation, report.actions)


def test_the_errors_are_those_of_the_provider():
    """
    The error table of the provider reads HTTP errors, and the key is that of its variable.
    """
    http, _ = served()

    events, _ = followed(http, {})

    assert ("invalid-request", "nope", "not now") == ((e := events[-1].error).kind, e.code, e.message)


def test_the_synchronous_client():
    """
    The client without an event loop is two lines, too.
    """
    http, _ = served(WIRE)

    with SyncAcme("a-key-of-acme", http=http) as client:
        assert "step.ended" == [*client.create({}, "m")][-1].type
        assert "SyncAcme('https://acme.example', api_version='v9')" == repr(client)
