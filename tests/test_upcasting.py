"""
Documents of older versions, brought up one version at a time.
"""

from __future__ import annotations

import copy

import attrs
import pytest

from assistant_events.converters.converter import _event_hook
from assistant_events.events import UnknownEvent
from assistant_events.upcasting import EVENTS, Upcasters
from assistant_events.values import State


@pytest.fixture
def upcasters():
    """
    A registry of its own, with a note that was renamed in its second version and got a colour in its third.
    """
    upcasters = Upcasters()

    @upcasters.register("note.written", from_version=1)
    def note_written_v1_to_v2(document):
        document["text"] = document.pop("words")
        return document

    @upcasters.register("note.written", from_version=2)
    def note_written_v2_to_v3(document):
        document["style"]["colour"] = "yellow"
        return document

    return upcasters


V1 = {"type": "note.written", "v": 1, "message_id": "n1", "words": "milk", "style": {}}
V2 = {"type": "note.written", "v": 2, "message_id": "n1", "text": "milk", "style": {}}
V3 = {"type": "note.written", "v": 3, "message_id": "n1", "text": "milk", "style": {"colour": "yellow"}}


@pytest.mark.parametrize("document", [V1, V2, V3], ids=["v1", "v2", "v3"])
def test_steps_are_chained(upcasters, document):
    """
    A document of any version is converted by all steps up to the newest version.
    """
    assert V3 == upcasters.upcast(document)


@pytest.mark.parametrize("document", [V1, V2], ids=["v1", "v2"])
def test_document_is_not_changed(upcasters, document):
    """
    Upcasters may change what they are given: it is a copy, however deep.
    """
    given = {**document, "style": {}}  # that of the table may have been changed by another test

    upcasters.upcast(given)

    assert {**document, "style": {}} == given


def test_missing_version_is_the_first(upcasters):
    """
    A document without a version is one of version 1.
    """
    document = {key: value for key, value in V1.items() if key != "v"}

    assert V3 == upcasters.upcast(document)


@pytest.mark.parametrize("version", [3, 4, 99])
def test_newest_and_newer_are_left_alone(upcasters, version):
    """
    A document of the newest version is returned as it is.
    """
    document = {**V3, "v": version}

    assert document is upcasters.upcast(document)


def test_other_types_are_left_alone(upcasters):
    """
    A type without upcasters comes back as it is.
    """
    document = {"type": "note.torn", "v": 1}

    assert document is upcasters.upcast(document)


def test_registry_says_type_and_version():
    """
    What an upcaster does to the type and the version does not count.
    """
    upcasters = Upcasters()
    upcasters.register("note.written", from_version=1)(lambda document: {"type": "other", "v": 7, "text": "milk"})

    assert {"type": "note.written", "v": 2, "text": "milk"} == upcasters.upcast(V1)


def test_function_is_returned():
    """
    The decorator leaves the function usable by its name.
    """

    def note_written_v1_to_v2(document):
        return document

    assert note_written_v1_to_v2 is Upcasters().register("note.written", from_version=1)(note_written_v1_to_v2)


def test_newest_counts_the_steps(upcasters):
    """
    The newest version is one more than there are steps, and 1 for a type that is not known.
    """
    assert 3 == upcasters.newest("note.written")
    assert 1 == upcasters.newest("note.torn")


@pytest.mark.parametrize("version", [1, 2])
def test_duplicate_is_refused(upcasters, version):
    """
    One step has one upcaster.
    """
    with pytest.raises(ValueError, match=f"^upcaster of 'note.written' from version {version} is registered already$"):
        upcasters.register("note.written", from_version=version)


@pytest.mark.parametrize(("type_", "version", "first"), [("note.written", 4, 3), ("note.torn", 2, 1)])
def test_gap_is_refused(upcasters, type_, version, first):
    """
    Steps are registered from version 1 on, without leaving any out.
    """
    text = f"^upcaster of {type_!r} from version {version}: expected one from {first} first$"
    with pytest.raises(ValueError, match=text):
        upcasters.register(type_, from_version=version)


def test_catalogue_is_in_its_first_version():
    """
    The registry of the catalogue has nothing to do yet.
    """
    document = {"type": "text.started", "v": 1, "message_id": "a1"}

    assert document is EVENTS.upcast(document)


# -- on reading


@attrs.frozen(kw_only=True, weakref_slot=False)
class NoteWritten:
    type = "note.written"
    version = 3

    message_id: str = attrs.field()
    text: str = attrs.field()
    style: State = attrs.field()


def read(upcasters, document):
    return _event_hook({NoteWritten.type: NoteWritten}, upcasters)(copy.deepcopy(document), None)


@pytest.mark.parametrize("document", [V1, V2, V3], ids=["v1", "v2", "v3"])
def test_older_documents_are_read(upcasters, document):
    """
    The converters bring a document up before they read it.
    """
    assert NoteWritten(message_id="n1", text="milk", style=State(colour="yellow")) == read(upcasters, document)


def test_newer_document_is_kept(upcasters):
    """
    A document of a newer version than the class is kept whole.
    """
    document = {**V3, "v": 4}

    assert UnknownEvent(type="note.written", version=4, data=State(document)) == read(upcasters, document)


def test_document_without_a_way_up_is_kept():
    """
    A document that no upcaster leads from to the version of the class is kept whole and loses nothing.
    """
    assert UnknownEvent(type="note.written", version=2, data=State(V2)) == read(Upcasters(), V2)
