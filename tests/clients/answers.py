"""
Answers as a provider streams them, the documents with the same content, and the result of a run.
"""

from datetime import datetime

from assistant_events import fold
from assistant_events.adapters.gemini_interactions import dialect
from assistant_events.adapters.gemini_interactions.client import GeminiInteractions
from assistant_events.clients import Clock
from tests.adapters.notation import (
    DONE,
    USAGE,
    C,
    D,
    K,
    S,
    U,
    X,
    mo,
    step,
    text,
)

AGENT = "deep-research-preview-04-2026"
BODY = {"agent": AGENT, "input": "Why?"}

CREATED = "2026-11-22T10:00:00Z"
DATE = "Sun, 22 Nov 2026 10:20:00 GMT"
"""Twenty minutes later, as a server says it."""


def now():
    """
    The time of day of a client when no server sends it: that of the answers, whenever the tests run.
    """
    return datetime.fromisoformat("2026-11-22T10:20:00Z")


def hello(*end):
    """
    An answer of six events, and its end.
    """
    wire = (C(status="in_progress", created=CREATED), U(), S(0, mo()), D(0, text("Hel")), D(0, text("lo")), X(0))
    return [*wire, *(end or (K(), DONE))]


def document(*steps, status="completed", **more):
    kept = {"usage": USAGE, **more} if status == "completed" else more
    return {"id": "v1", "object": "interaction", "status": status, "created": CREATED, "steps": list(steps), **kept}


HELLO = document(step("user_input", content=[{"type": "text", "text": "Why?"}]), mo("Hello"))


def client(provider, **options):
    return GeminiInteractions("secret-key", http=provider.http, clock=options.pop("clock", Clock(now=now)), **options)


class Given:
    """
    A client that gives a session a run that was made already.
    """

    dialect = dialect
    provider = "google"

    def __init__(self, run):
        self.run = run

    def create(self, body, message_id, *, prior=None):
        return self.run

    def resume(self, message, *, request=None):
        return self.run

    def stop(self, target):
        raise AssertionError("nobody else ends these answers")


def received(session, run):
    """
    Return the stream of a session that reads *run*.
    """
    if run.message_id in session.transcript:
        return session.resume(Given(run), message_id=run.message_id)
    return session.respond(Given(run), {"agent": AGENT}, message_id=run.message_id, mode="full", repair=True)


async def events_of(run):
    return [event async for event in run]


def last(events, prior=None):
    return fold(events, start=prior).last


def end_of(report):
    """
    How a message ended: `completed`, or the kind of its error.
    """
    return "completed" if report.error is None else report.error.kind
