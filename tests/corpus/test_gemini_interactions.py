"""
Recorded bodies of the Interactions wire fold to what was worked out from them by hand.
"""

import json
import os
import re

import pytest

from assistant_events import find_problems, fold, reconcile
from assistant_events.testing import durable
from assistant_events.testing.adapters import Trial, check_adapter

from .bodies import DIALECT, ERRORS, EXPECTATIONS, RESOURCES, STREAMS, body_of, events_of, frame, stream_of
from .compare import differences, error_differences
from .forms import document_of
from .forms import stream_of as told

EVERY = 1 << 20 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 0
"""Size up to which a recording is cut at every byte, otherwise at the ends of lines. Samples are cut at every byte."""


def resource_events(file):
    document = json.loads(body_of(file))
    return DIALECT.decode_resource(document[0] if isinstance(document, list) else document, "a1")


def assert_expected(events, file):
    expected = EXPECTATIONS[file]["messages"]
    messages = fold(events).messages

    assert [] == find_problems(events)
    assert [] == reconcile(fold(events))
    assert fold(durable(events)).messages == messages
    assert len(expected) == len(messages)
    assert [] == [line for pair in zip(messages, expected, strict=True) for line in differences(*pair)]


@pytest.mark.parametrize("file", STREAMS)
def test_streams_fold_to_what_they_say(file):
    """
    A recorded stream has no problems and gives the message that was worked out from it.
    """
    decoder = DIALECT.decoder("a1")
    events = decoder.feed(stream_of(file)) + decoder.close()

    assert decoder.failure is None
    assert_expected(events, file)


@pytest.mark.parametrize("file", STREAMS)
def test_parsed_events_are_streams_too(file):
    """
    Parsed frames give the same events as their bytes.
    """
    body = stream_of(file)
    decoder = DIALECT.decoder("a1")
    fed = [event for parsed in events_of(body) for event in decoder.feed_event(parsed)] + decoder.close()

    assert Trial(DIALECT, file, body).events == fed


@pytest.mark.parametrize("file", RESOURCES)
def test_resources_fold_to_what_they_say(file):
    """
    So does a recorded document.
    """
    assert_expected(resource_events(file), file)


@pytest.mark.parametrize("file", ERRORS)
def test_http_errors_say_what_is_wrong(file):
    """
    A recorded error gives its kind, message and code.
    """
    expected = EXPECTATIONS[file]["error"]
    error = DIALECT.http_error(expected["http_status"], {}, body_of(file))

    assert [] == error_differences(error, expected)


def source_of(file):
    return re.split("[-.]", file)[0]


@pytest.mark.parametrize("source", sorted({*map(source_of, STREAMS)}))
def test_streams_hold_what_every_adapter_must(source):
    """
    Every recorded stream may be cut, closed, rejoined and damaged anywhere. What does not depend on the stream is tried
    once for those of one source.
    """
    streams = {file: stream_of(file) for file in STREAMS if source_of(file) == source}
    check_adapter(DIALECT, streams, mutations=20, every_position=EVERY)


# -- two forms of one response


def message_of(events):
    [message] = fold(events).messages
    return message


def decoded(parsed):
    return Trial(DIALECT, "told", b"".join(frame(event) for event in parsed)).events


ENDED = [file for file in STREAMS if EXPECTATIONS[file]["messages"][0]["status"] == "completed"]


@pytest.mark.parametrize("file", ENDED)
def test_a_stream_equals_its_document(file):
    """
    The document that a stream adds up to folds to the same message.
    """
    body = stream_of(file)
    document = document_of(events_of(body))

    assert message_of(Trial(DIALECT, file, body).events) == message_of(DIALECT.decode_resource(document, "a1"))


@pytest.mark.parametrize("size", [None, 5], ids=["whole", "pieces"])
@pytest.mark.parametrize("file", RESOURCES)
def test_a_document_equals_its_stream(file, size):
    """
    The stream of a document folds to the same message, however it is cut.
    """
    document = json.loads(body_of(file))
    if "status" not in document:
        pytest.skip("an error has no stream")

    assert message_of(resource_events(file)) == message_of(decoded(told(document, size=size)))
