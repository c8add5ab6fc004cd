"""
Documents of every version, written by hand, and what they mean for ever.

A document in `golden/v1` or `golden/messages/v1` is never changed. A new version of an event or a message gets a folder
of its own beside it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assistant_events import Event, Message
from assistant_events.converters import dumps, loads, structure, unstructure
from assistant_events.events import EVENT_TYPES
from assistant_events.messages import MESSAGE_CLASSES
from assistant_events.upcasting import EVENTS, MESSAGES
from tests.everything import EVENTS as EVENTS_V1
from tests.everything import MESSAGES as SOME_MESSAGES

GOLDEN = Path(__file__).parent / "golden"
MESSAGES_V1 = {message.type: message for message in SOME_MESSAGES if message.id in {"u1", "a2", "s2"}}


def golden(event: Event) -> bytes:
    return (GOLDEN / f"v{event.version}" / f"{event.type}.json").read_bytes()


@pytest.fixture(params=EVENTS_V1, ids=[event.type for event in EVENTS_V1])
def event(request):
    return request.param


def test_document_means_what_it_meant(event):
    """
    The document reads as exactly the event that is written out here.
    """
    assert event == loads(golden(event), Event)


def test_parsed_document_means_the_same(event):
    """
    Plain JSON reads as JSON text does.
    """
    assert event == structure(json.loads(golden(event)), Event)


def test_event_is_written_as_the_document(event):
    """
    The event is written as an equal document: the same fields, and none that equals its default.
    """
    assert json.loads(golden(event)) == json.loads(dumps(event))
    assert json.loads(golden(event)) == unstructure(event)


def test_fields_stand_in_the_order_of_the_document(event):
    """
    Fields are written in one order: type, version, message, then as the class has them.
    """
    assert list(json.loads(golden(event))) == list(unstructure(event))
    assert list(json.loads(golden(event))) == list(json.loads(dumps(event)))


def test_every_type_has_a_document():
    """
    No event is without a golden document, and no document is without an event.
    """
    assert sorted(EVENT_TYPES) == sorted(path.stem for path in (GOLDEN / "v1").iterdir())
    assert sorted(EVENT_TYPES) == sorted(event.type for event in EVENTS_V1)


def test_types_are_for_ever():
    """
    A type string that was stored once stays in the catalogue.
    """
    assert json.loads((GOLDEN / "types.json").read_bytes()) == sorted(EVENT_TYPES)


def test_every_version_has_a_way_up():
    """
    Documents of every older version of an event are brought up to the one that its class has.
    """
    assert {type_: EVENTS.newest(type_) for type_ in EVENT_TYPES} == {
        type_: cls.version for type_, cls in EVENT_TYPES.items()
    }


@pytest.mark.parametrize("message", MESSAGES_V1.values(), ids=MESSAGES_V1)
def test_messages_mean_what_they_meant(message):
    """
    The document of a message reads as the message that is written out here, times included, and is written again.
    """
    document = (GOLDEN / "messages" / f"v{message.version}" / f"{message.type}.json").read_bytes()
    again = loads(document, Message)

    assert message == again
    assert repr(message.times) == repr(again.times)
    assert json.loads(document) == json.loads(dumps(message)) == unstructure(again)


def test_every_message_has_a_document_and_a_way_up():
    """
    No message is without a golden document, and documents of older versions are brought up to that of the class.
    """
    types = sorted(cls.type for cls in MESSAGE_CLASSES)

    assert types == sorted(MESSAGES_V1) == sorted(path.stem for path in (GOLDEN / "messages" / "v1").iterdir())
    assert {cls.type: cls.version for cls in MESSAGE_CLASSES} == {type_: MESSAGES.newest(type_) for type_ in types}
