"""
Signatures of 100 KB: byte for byte where they belong, and nowhere else.
"""

import logging
import traceback

import pytest

from assistant_events import find_problems, fold, redact
from assistant_events.adapters.gemini_interactions import GeminiInteractionsDecoder, decode_resource
from assistant_events.converters import dumps, loads
from assistant_events.errors import AdapterError, LocalProtocolError
from assistant_events.testing import records

from .notation import C, D, K, S, U, X, args, decoder, delta, fc, mo, signature, step, stream, summary, text, th

CANARY = "c4n4ry+/c4n4ry+/"
SIGNATURE = CANARY * 6_250 + "=="
SECRETS = (
    *(S(0, th(signature=SIGNATURE, mood=SIGNATURE)), D(0, summary("plan")), D(0, signature(SIGNATURE)), X(0)),
    *(S(1, step("google_search_call", id="s1", arguments={})), D(1, delta("google_search_call", signature=SIGNATURE))),
    *(X(1), S(2, step("google_search_result", call_id="s1", signature=SIGNATURE)), X(2)),
    *(S(3, step("dream", plot=SIGNATURE)), X(3), S(4, fc(signature=SIGNATURE)), D(4, args("{}")), X(4)),
    *(U(continuation_token=SIGNATURE), S(5, mo()), D(5, text("hi")), X(5)),
)
BODY = stream(C(), *SECRETS, K("requires_continuation", continuation_token=SIGNATURE))


def kept(part):
    """
    Return all that the states of a part hold, as one string.
    """
    states = [part.state, getattr(part, "result_state", {})]
    return "".join(str(value) for state in states for value in flat(state))


def flat(value):
    if isinstance(value, str):
        return [value]
    return [each for item in (value.values() if hasattr(value, "values") else ()) for each in flat(item)]


def test_signatures_survive_decoding_storing_and_folding():
    """
    Each of them is the same in the event, the stored record and the message.
    """
    found = decoder().feed(BODY)
    stored = [loads(dumps(record), type(record)) for record in records(found)]
    message, again = fold(found).last, fold(stored).last

    assert SIGNATURE == message.parts[0].state["signature"]
    assert SIGNATURE == message.tool_calls[0].state["signature"] == message.tool_calls[0].result_state["signature"]
    assert SIGNATURE == message.state["continuation_token"]
    assert 6 == sum(kept(each).count(SIGNATURE) for each in message.parts)
    assert [kept(each) for each in message.parts] == [kept(each) for each in again.parts]


def test_nothing_shows_a_signature(caplog):
    """
    No repr, note, error or log line of anything that comes out holds a piece of it.
    """
    caplog.set_level(logging.DEBUG)
    made = decoder()
    found = made.feed(BODY[:-200]) + made.close()
    transcript = fold(found)
    damaged = decoder()
    damaged.feed(BODY.replace(b"}", b"", 3).replace(b'"index":3', b'"index":"3"'))
    shown = [
        *(repr(each) for each in (made, found, transcript, transcript.last, transcript.last.parts, made.notes)),
        *(repr(each) for each in (records(found), made.error, made.tail, find_problems(found[1:]), damaged.notes)),
        *(str(each) for each in (*found, *transcript.last.parts, *find_problems(found[1:]), *damaged.notes)),
        repr(redact(transcript)),
        caplog.text,
    ]

    assert damaged.notes
    assert [] == [each[:200] for each in shown if CANARY in each]


def refused():
    """
    Yield calls that fail while a signature is at hand.
    """
    yield lambda: GeminiInteractionsDecoder(CANARY, request=[SIGNATURE])
    yield lambda: decoder(prior=[SIGNATURE])
    yield lambda: decoder().feed(SIGNATURE)
    yield lambda: decoder().feed_event([SIGNATURE])
    yield lambda: decode_resource([SIGNATURE], "m")
    yield lambda: closed().feed(BODY)
    yield lambda: closed().feed_event({"signature": SIGNATURE})
    yield lambda: fold(decoder().feed(BODY)[1:], strict=True)


def closed():
    made = decoder()
    made.close()
    return made


@pytest.mark.parametrize("at", range(8))
def test_no_error_shows_a_signature(at):
    """
    Errors name what was wrong by its type.
    """
    with pytest.raises((TypeError, LocalProtocolError, AdapterError)) as caught:
        list(refused())[at]()

    assert CANARY not in "".join(traceback.format_exception_only(caught.value))


def test_a_fault_of_an_adapter_shows_nothing(monkeypatch):
    """
    The error of a step whose adapter failed does not contain what it was reading.
    """

    def fault(self, interaction):
        raise KeyError(SIGNATURE)

    monkeypatch.setattr(GeminiInteractionsDecoder, "_on_created", fault)
    found = decoder().feed(BODY)

    assert "the adapter 'gemini-interactions' failed with KeyError" == found[-1].error.message
    assert CANARY not in repr(found)
