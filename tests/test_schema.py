"""
The JSON Schema of what is stored, read by a validator that is not ours: it accepts what `structure` accepts.
"""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from assistant_events import Event, Frame, Message, Record, Transcript, UnknownEvent, Usage, fold
from assistant_events.converters import dumps, json_schema, structure
from assistant_events.errors import StructureError
from assistant_events.events import EVENT_TYPES, LIVE_EVENTS, DurableEvent, LiveEvent
from assistant_events.messages import MESSAGE_CLASSES
from assistant_events.testing import records as recorded
from assistant_events.testing import strategies
from tests.drawn import sessions
from tests.everything import MESSAGES

GOLDEN = Path(__file__).parent / "golden"
CLASSES = {**EVENT_TYPES, **{cls.type: cls for cls in MESSAGE_CLASSES}}
DOCUMENTS = {
    path.stem: json.loads(path.read_bytes())
    for folder in ("v1", "messages/v1")
    for path in sorted((GOLDEN / folder).iterdir())
}
WRONG = (None, True, 0, -1, 1.5, 1 << 63, "", "x", "Zg==", [], ["x"], {}, {"type": "text"})


@cache
def validator(*classes, written=False):
    """
    Return a validator for the schema of classes, which is itself valid.
    """
    schema = json_schema(*classes, written=written)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def assert_valid(value, cls):
    document = json.loads(dumps(value))

    for written in (False, True):
        for each in ((cls,), ()):
            validator(*each, written=written).validate(document)


def is_read(document, cls):
    """
    Return whether the library takes a document for a *cls*.
    """
    try:
        structure(document, cls)
    except StructureError:
        return False
    return True


def places(value, path=()):
    """
    Yield the path of every value of a document, except inside of JSON that the library keeps as it is.
    """
    if path:
        yield path
    if path and path[-1] in ("state", "result_state", "details", "input", "value", "extra"):
        return
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


def mutants(document):
    """
    Yield copies of a document with one value left out, replaced, or added.
    """
    yield {**document, "of_a_newer_version": [1]}
    for *parents, key in places(document):
        for wrong in (..., *WRONG):
            mutant = deepcopy(document)
            holder = mutant
            for each in parents:
                holder = holder[each]
            if wrong is ...:
                del holder[key]
            else:
                holder[key] = wrong
            yield mutant


def has_reversed_citation(document):
    """
    Return whether a citation ends before its start, which no schema expresses.
    """
    places = [document, *[part for part in document.get("parts") or [] if isinstance(part, dict)]]
    found = [each for place in places for each in place.get("citations") or [] if isinstance(each, dict)]
    return any((each.get("end") or 0) < (each.get("start") or 0) for each in found)


@given(strategies.events())
def test_every_event_is_valid(event):
    """
    Whatever `dumps` writes of an event is valid, as read and as written.
    """
    assert_valid(event, Event)


@given(strategies.records())
def test_every_record_is_valid(record):
    """
    So is what it writes of a record.
    """
    assert_valid(record, Record)


@given(st.lists(strategies.events(*LIVE_EVENTS), max_size=3))
def test_every_frame_is_valid(events):
    """
    So is what it writes of a frame, which refuses durable events and unknown fields.
    """
    frame = Frame(session_id="s", after=3, events=events)
    document = json.loads(dumps(frame))
    ended = {"type": "text.ended", "v": 1, "message_id": "m", "text": ""}

    assert_valid(frame, Frame)
    assert not validator(Frame).is_valid({**document, "newer": 1})
    assert not validator(Frame).is_valid({**document, "events": [*document["events"], ended]})


@given(sessions())
def test_every_transcript_is_valid(events):
    """
    So is what it writes of a transcript and of its messages, with the times of records and without.
    """
    for transcript in (fold(events), fold(recorded(events))):
        assert_valid(transcript, Transcript)


@pytest.mark.parametrize("message", MESSAGES, ids=[message.id for message in MESSAGES])
def test_messages_with_everything_are_valid(message):
    """
    A message with a value in every field is valid.
    """
    assert_valid(message, Message)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_are_accepted_as_they_are_read(name):
    """
    A document of every class, and one with any value left out or replaced, is valid exactly when it is read.
    """
    cls, document = CLASSES[name], DOCUMENTS[name]
    differ = [
        mutant
        for mutant in (document, *mutants(document))
        if is_read(mutant, cls) != validator(cls).is_valid(mutant) and not has_reversed_citation(mutant)
    ]

    assert validator(cls).is_valid(document)
    assert [] == differ


@pytest.mark.parametrize(
    "change",
    [
        {"data": "Zg==", "uri": "https://example.org"},
        {"data": None, "uri": "https://example.org"},
        {"data": "Zg==", "uri": None},
        {"data": None, "uri": None},
        {"data": "Zg"},
        {"data": ""},
        {},
        {"complete": False},
        {"complete": True},
        {"complete": False, "data": "Zg==", "uri": "x"},
        {"complete": False, "uri": "x"},
    ],
    ids=repr,
)
def test_media_has_data_or_a_uri(change):
    """
    The rules for several fields together are in the schema.
    """
    ended = {"type": "media.ended", "v": 1, "message_id": "m", "media_type": "image/png", **change}
    content = {"type": "media", "media_type": "image/png", **change}
    prompt = {"type": "prompt.submitted", "v": 1, "message_id": "m", "content": [content]}

    assert is_read(ended, Event) == validator(Event).is_valid(ended)
    assert is_read(prompt, Event) == validator(Event).is_valid(prompt)


@pytest.mark.parametrize(
    "document",
    [
        {"type": "text.begun"},
        {"type": "text.begun", "v": 7, "message_id": 3, "anything": {}},
        {"type": "text.started", "v": 2},
        {"type": "text.started", "v": 2, "message_id": "m"},
        {"type": "text.started", "message_id": "m"},
        {"type": "text.started", "message_id": "m", "newer": 1},
        {"type": "text.started", "v": 1},
        {"type": "text.started", "v": 0, "message_id": "m"},
        {"type": "text.started", "v": True, "message_id": "m"},
        {"type": "text.started", "v": None, "message_id": "m"},
        {"type": "text.begun", "v": 0},
        {"type": "text.begun", "v": "1"},
        {"type": ""},
        {"type": None},
        {"message_id": "m"},
        {},
        [],
        "text.started",
        None,
    ],
    ids=repr,
)
def test_other_types_and_versions(document):
    """
    Unknown types and newer versions are accepted as the library accepts them, in a record as well.
    """
    record = {"session_id": "s", "seq": 1, "at": "2026-11-24T01:02:03Z", "event": document}

    assert is_read(document, Event) == validator(Event).is_valid(document)
    assert is_read(record, Record) == validator(Record).is_valid(record)


@pytest.mark.parametrize(
    ("change", "valid"),
    [({}, True), ({"newer": 1}, False), ({"at": "yesterday"}, False), ({"at": "2026-11-24T01:02:03+01:00"}, False)],
)
def test_records(change, valid):
    """
    A record refuses unknown fields and times that are not in UTC, and holds no live event.
    """
    event = {"type": "text.started", "v": 1, "message_id": "m"}
    live = {"type": "text.delta", "v": 1, "message_id": "m", "offset": 0, "delta": "a"}
    record = {"session_id": "s", "seq": 1, "at": "2026-11-24T01:02:03.5Z", "event": event, **change}

    assert valid == is_read(record, Record) == validator(Record).is_valid(record)
    assert not validator(Record).is_valid({**record, "event": live})


def test_as_written_is_stricter():
    """
    The schema of what is written has no `null`, and requires what is always written.
    """
    part = {"type": "text", "text": "", "status": "completed"}
    message = {"type": "assistant", "id": "a1", "origin": {"provider": "p", "dialect": "d"}, "parts": [part]}
    whole = {**message, "v": 1, "status": "running"}

    assert validator(Message).is_valid(message)
    assert validator(Message).is_valid({**whole, "run": None})
    assert validator(Message, written=True).is_valid(whole)
    for missing in ("v", "status"):
        document = {key: value for key, value in whole.items() if key != missing}
        assert validator(Message).is_valid(document)
        assert not validator(Message, written=True).is_valid(document)
    assert not validator(Message, written=True).is_valid({**whole, "run": None})


def test_every_class_is_described():
    """
    There is a definition for every event, and its description is the sentence of the class.
    """
    definitions = json_schema(Event)["$defs"]

    assert {cls.__name__ for cls in EVENT_TYPES.values()} <= {*definitions}
    assert "Visible text begins." == definitions["TextStarted"]["description"]


@pytest.mark.parametrize("cls", [DurableEvent, LiveEvent, UnknownEvent, Usage, DurableEvent | UnknownEvent])
def test_parts_of_the_catalogue(cls):
    """
    Every class and union that is stored has a schema.
    """
    assert validator(cls).is_valid({"type": "text.begun"}) == is_read({"type": "text.begun"}, cls)


@pytest.mark.parametrize("cls", [int, Event | int, "Event"])
def test_other_classes_have_none(cls):
    """
    A class that the library does not store is refused by name.
    """
    with pytest.raises(TypeError, match="expected a class that is stored, got"):
        json_schema(cls)
