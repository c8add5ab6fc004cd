"""
The Messages wire as Bedrock sends it: each event in a chunk of a binary event stream.
"""

import json
from functools import partial

import attrs
import pytest

from assistant_events import fold
from assistant_events.adapters import AwsChunkStream, AwsEventStream
from assistant_events.testing import check_adapter

from .notation import DIALECT, END, B, K, M, T, X, events, message, stream, text, tool
from .samples import SAMPLES

BEDROCK = attrs.evolve(DIALECT, decoder=partial(DIALECT.decoder, framing=AwsChunkStream), emitter=None)


def chunks(*frames):
    return b"".join(AwsChunkStream.frame(None, each) for each in frames)


def frames(body):
    """
    Return the events of a stream of server-sent events.
    """
    return [json.loads(line.removeprefix(b"data:")) for line in body.splitlines() if line.startswith(b"data:")]


HELLO = [M(), *text(0, "Hello"), K(), END]


@pytest.mark.parametrize("name", SAMPLES)
def test_chunks_are_the_same_answer(name):
    """
    Every sample gives the same events in chunks; either framing reads them.
    """
    body = chunks(*frames(SAMPLES[name]))

    assert events(SAMPLES[name]) == events(body, framing=AwsChunkStream) == events(body, framing=AwsEventStream)


@pytest.mark.parametrize("name", ["plain text", "web search", "error after text"])
def test_chunks_hold_what_every_adapter_must(name):
    """
    A binary stream is legal, cut and joined anywhere, and no damage of a frame is taken for content.
    """
    check_adapter(BEDROCK, {name: chunks(*frames(SAMPLES[name]))}, mutations=20, every_position=100)


def test_deltas_in_chunks_take_the_fast_path():
    """
    What is inside of the chunks is learned; lengths and checksums are those of each frame.
    """
    pieces = [f"piece {at}, " for at in range(40)]
    body = chunks(M(), B(0, "text", text=""), *[T(0, piece) for piece in pieces], X(0), K(), END)
    plain = DIALECT.decoder("a1", framing=AwsEventStream)
    plain.fast = False

    assert plain.feed(body) + plain.close() == events(body, framing=AwsEventStream)
    assert "".join(pieces) == message(body, framing=AwsEventStream).text


def test_metrics_of_the_last_event_are_left_out():
    """
    Bedrock repeats the counts beside the last event.
    """
    end = {**END, "amazon-bedrock-invocationMetrics": {"inputTokenCount": 10, "outputTokenCount": 5}}

    assert message(chunks(*HELLO), framing=AwsEventStream) == message(chunks(*HELLO[:-1], end), framing=AwsEventStream)


ERRORS = {
    "throttlingException": ("rate-limit", True),
    "serviceUnavailableException": ("overloaded", True),
    "modelTimeoutException": ("timeout", True),
    "internalServerException": ("provider", True),
    "modelStreamErrorException": ("provider", True),
    "validationException": ("invalid-request", None),
    "accessDeniedException": ("auth", None),
    "newException": ("provider", None),
}


@pytest.mark.parametrize("name", ERRORS)
def test_exceptions_of_the_service(name):
    """
    An exception of Bedrock fails the step, with its name as the code.
    """
    decoder = DIALECT.decoder("a1", framing=AwsEventStream)
    decoder.feed(chunks(*HELLO[:3], {name: {"message": "no"}}))
    error = decoder.error

    assert (*ERRORS[name], name, "no") == (error.kind, error.retryable, error.code, error.message)
    assert () == tuple(decoder.notes)


@pytest.mark.parametrize("name", ERRORS)
def test_exceptions_that_the_official_client_has_read(name):
    """
    It makes errors of the wire of them (`AWSEventStreamDecoder` of anthropic 2.12), which mean the same.
    """
    error = message(stream(*HELLO[:3], {"type": "error", "error": {"type": name, "message": "no"}})).error

    assert (*ERRORS[name], name, "no") == (error.kind, error.retryable, error.code, error.message)


def test_an_error_of_the_stream():
    """
    An error has its code and its message in the headers of the frame.
    """
    error = message(chunks(*HELLO[:3], {"error": {"code": "c", "message": "no"}}), framing=AwsEventStream).error

    assert ("provider", "c", "no") == (error.kind, error.code, error.message)


def test_a_body_that_ends_within_its_last_frame():
    """
    A stream that lacks the last event has ended, and one that lacks a byte of it was cut.
    """
    ended, cut = chunks(*HELLO[:-1]), chunks(*HELLO)[:-1]

    assert "completed" == message(ended, framing=AwsEventStream).status
    assert "interrupted" == message(cut, framing=AwsEventStream).error.kind


def test_a_damaged_frame_fails_the_step():
    """
    A wrong checksum is a note and the end: what came before is kept, and nothing after it is read.
    """
    body = bytearray(chunks(*HELLO))
    body[len(chunks(*HELLO[:3])) - 7] ^= 1
    decoder = DIALECT.decoder("a1", framing=AwsEventStream)
    found = decoder.feed(bytes(body)) + decoder.close()

    assert ["damaged-frame"] == [note.code for note in decoder.notes]
    assert ("protocol", True) == (decoder.error.kind, decoder.error.retryable)
    assert "" == fold(found).last.text


@pytest.mark.parametrize(("action", "reason"), [("INTERVENED", "content-filter"), ("NONE", "stop")])
@pytest.mark.parametrize("place", range(4))
def test_a_guardrail_that_has_intervened(place, action, reason):
    """
    Its sentence is an ordinary text, `end_turn` its reason: a field beside marks it (NousResearch/hermes-agent#107815;
    maximhq/bifrost, guardrailstream_test.go).
    """
    mark = {"amazon-bedrock-guardrailAction": action}
    first, last, end = [{**frame, **(mark if at == place else {})} for at, frame in enumerate([M(), K(), END])]
    first = M(**mark) if place == 3 else first
    answer = message(stream(first, *text(0, "Blocked."), last, end))
    head = {"id": "m", "type": "message", "role": "assistant"}
    whole = message({**head, "content": [], "stop_reason": "end_turn", **mark})

    assert (reason, "end_turn") == (answer.finish_reason, answer.raw_finish_reason)
    assert reason == whole.finish_reason
    assert mark == answer.details


def test_a_guardrail_that_has_intervened_beside_a_call():
    """
    A call that the model has made is still the app's to run.
    """
    frames = [*tool(0), K("tool_use", beside={"amazon-bedrock-guardrailAction": "INTERVENED"}), END]

    assert "tool-calls" == message(stream(M(), *frames)).finish_reason
