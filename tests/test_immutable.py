"""
What holds for everything that the library makes: it never changes, it can be compared, hashed, copied and pickled, and
it shows no state.
"""

from __future__ import annotations

import copy
import pickle
from datetime import datetime
from enum import Enum
from unittest.mock import ANY

import attrs
import pytest
from hypothesis import given

from assistant_events import (
    MediaContent,
    MediaDelta,
    MediaEnded,
    MediaPart,
    OpaqueReceived,
    PromptSubmitted,
    Record,
    State,
    TextDelta,
    TextEnded,
    ToolCalled,
    Transcript,
    UserMessage,
    redact,
)
from assistant_events.events import EVENT_TYPES
from assistant_events.messages import Times, Turn
from assistant_events.testing import strategies as made
from assistant_events.values import as_content, freeze
from tests.everything import EVENTS, EVERYTHING, FRAME, MESSAGES, NOON, PARTS, RECORD, TRANSCRIPT, UNKNOWN

CLASSES = [value for value in EVERYTHING if attrs.has(type(value))]


def test_fields_cannot_be_set():
    """
    No field can be set, to another value or to the same.
    """
    for value in CLASSES:
        for field in attrs.fields(type(value)):
            with pytest.raises(AttributeError):
                setattr(value, field.name, getattr(value, field.name))


def test_fields_cannot_be_deleted():
    """
    No field can be deleted.
    """
    for value in CLASSES:
        for field in attrs.fields(type(value)):
            with pytest.raises(AttributeError):
                delattr(value, field.name)


def test_fields_refuse_what_they_cannot_hold():
    """
    Whatever is made is made of values of the right kinds, but for times and turns, which are views of something else.
    """
    for value in CLASSES:
        for field in attrs.fields(type(value)):
            if field.name != "times" and not isinstance(value, Turn):
                with pytest.raises((TypeError, ValueError)):
                    attrs.evolve(value, **{field.name: object()})


def test_nothing_can_be_added():
    """
    Attributes that the class does not have cannot be set.
    """
    for value in EVERYTHING:
        with pytest.raises(AttributeError):
            value.note = "x"
        assert not hasattr(value, "__dict__")


SCALARS = (str, bytes, int, float, bool, type(None), datetime, Enum)


def inside(value):
    """Yield *value* and everything that can be reached from it."""
    yield value
    if isinstance(value, (tuple, frozenset)):
        items = value
    elif attrs.has(type(value)):
        items = [getattr(value, field.name) for field in attrs.fields(type(value))]
    else:
        items = () if isinstance(value, SCALARS) else [*value.keys(), *value.values(), *value.items()]
    for item in items:
        yield from inside(item)


def test_nothing_inside_can_be_changed():
    """
    Whatever can be reached through fields, keys and items is immutable all the way down.
    """
    for value in EVERYTHING:
        for each in inside(value):
            assert not isinstance(each, (dict, list, set, bytearray, memoryview))
            assert hash(each) is not None


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies(copied):
    """
    Copies are equal, of the same class, and as frozen.
    """
    for value in EVERYTHING:
        again = copied(value)
        assert (value, type(value), hash(value)) == (again, type(again), hash(again))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(protocol):
    """
    Every pickle protocol gives back an equal value.
    """
    for value in EVERYTHING:
        again = pickle.loads(pickle.dumps(value, protocol))
        assert (value, type(value), hash(value)) == (again, type(again), hash(again))
        # The items of a set may come in another order.
        assert sorted(repr(value)) == sorted(repr(again))


@given(made.records())
def test_any_record_is_copied_and_pickled(record):
    """
    Whatever an event holds, copies and pickles are equal.
    """
    assert [record] * 3 == [copy.copy(record), copy.deepcopy(record), pickle.loads(pickle.dumps(record))]
    assert hash(record) == hash(copy.deepcopy(record))


def test_one_of_each_differs_from_all_others():
    """
    A value equals itself and no other.
    """
    for value in EVERYTHING:
        assert [value] == [each for each in EVERYTHING if each == value and type(each) is type(value)]
        assert False is (value == object())
        assert value == ANY


def test_another_field_is_another_value():
    """
    A value of which one field is left at its default differs from the whole, except for times.
    """
    for value in CLASSES:
        for field in attrs.fields(type(value)):
            if field.default is not attrs.NOTHING and field.eq and getattr(value, field.name) != field.default:
                try:
                    other = attrs.evolve(value, **{field.name: field.default})
                except ValueError:
                    continue  # media without bytes or a URI
                assert value != other


def test_times_play_no_part():
    """
    Two messages or parts that differ in their times only are equal, and look the same.
    """
    others = [attrs.evolve(value, times=None) for value in CLASSES if hasattr(value, "times")]
    timed = [attrs.evolve(value, times=Times(started=NOON)) for value in others]

    assert timed == others
    assert list(map(hash, timed)) == list(map(hash, others))
    assert list(map(repr, timed)) == list(map(repr, others))


def test_everything_fits_into_a_set():
    """
    Values can be kept in a set and found again.
    """
    kept = set(EVERYTHING)

    assert all(copy.deepcopy(value) in kept for value in EVERYTHING)


# -- what is given is not kept


def test_given_json_is_not_kept():
    """
    A dict or a list that was given may be changed afterwards.
    """
    given = {"a": [1, {"b": [2]}]}
    before = freeze(given)
    event = ToolCalled(message_id="a", call_id="c", name="n", input=given, state=given, extra={"x": given})
    record = Record(session_id="s", seq=1, at=NOON, event=event, meta=given)
    contents = as_content(given)

    given["a"][1]["b"].append(3)
    given["c"] = 1

    assert [before] * 3 == [event.input, event.state, event.extra["x"]]
    assert before == record.meta == contents[0].value


def test_given_lists_are_not_kept():
    """
    A list of contents, parts or messages may be changed afterwards.
    """
    contents, parts, messages, rewound = ["Hi", *as_content({"a": 1})], list(PARTS), list(MESSAGES), {"x"}
    prompt = PromptSubmitted(message_id="u", content=contents)
    answer = attrs.evolve(MESSAGES[1], parts=parts)
    transcript = Transcript(messages=messages, rewound=rewound)

    for each in (contents, parts, messages, rewound):
        each.clear()

    assert 2 == len(prompt.content)
    assert PARTS == answer.parts
    assert MESSAGES == transcript.messages
    assert {"x"} == transcript.rewound


@pytest.mark.parametrize("view", [bytearray, memoryview], ids=["bytearray", "memoryview"])
def test_given_buffers_are_not_kept(view):
    """
    A buffer of bytes may be changed afterwards.
    """
    buffer = bytearray(b"abc")
    given = view(buffer)
    kept = [
        MediaContent(media_type="a/b", data=given).data,
        MediaEnded(message_id="a", media_type="a/b", data=given).data,
        MediaDelta(message_id="a", offset=0, delta=given).delta,
        MediaPart(media_type="a/b", data=given, status="completed").data,
    ]

    buffer[0] = 0
    given[0] = 0

    assert [b"abc"] * 4 == kept
    assert {bytes} == {type(data) for data in kept}


# -- state is not shown

SECRET = "c2VjcmV0"
HIDDEN = State({"id": SECRET, "list": [SECRET, {"deep": SECRET}], "object": {SECRET: SECRET}})


def with_secret(value):
    """Return *value* with the secret in each state that it has."""
    states = {"state", "result_state"} & {field.name for field in attrs.fields(type(value))}
    return attrs.evolve(value, **dict.fromkeys(states, HIDDEN))


SECRETS = [
    HIDDEN,
    *[with_secret(value) for value in (*EVENTS, *PARTS, *MESSAGES)],
    attrs.evolve(UNKNOWN, data={**UNKNOWN.data, "state": HIDDEN}),
    attrs.evolve(RECORD, event=OpaqueReceived(message_id="a", state=HIDDEN)),
    attrs.evolve(MESSAGES[1], parts=[with_secret(part) for part in PARTS]),
    attrs.evolve(TRANSCRIPT, messages=[attrs.evolve(MESSAGES[1], parts=[with_secret(part) for part in PARTS])]),
]


def test_states_are_hidden():
    """
    No value out of a state shows, however deep it lies and whatever holds it.
    """
    for value in SECRETS:
        shown = f"{value!r} {value!s} {value} {[value]!r} { ({'x': value})!r}"

        assert SECRET not in shown


def test_states_show_their_keys():
    """
    The repr of a state shows its own keys, so that two states can be distinguished.
    """
    assert "State(<id, list, object>)" == repr(HIDDEN)
    assert "State()" == repr(State())


def test_media_show_their_size():
    """
    Of bytes one sees how many there are.
    """
    assert "MediaDelta(message_id='a', offset=0, delta=<1000 bytes>)" == repr(
        MediaDelta(message_id="a", offset=0, delta=bytes(1000))
    )
    assert "data=<4 bytes>" in repr(PARTS[2])
    assert "data=None" in repr(PARTS[3])


def test_unknown_fields_are_not_shown():
    """
    Unknown fields may be anything and are left out.
    """
    assert (
        "TextEnded(message_id='a', text='', complete=True, citations=(), details=JsonObject({}), state=State())"
        == repr(TextEnded(message_id="a", text="", extra={"newer": SECRET}))
    )


REDACTABLE = [*EVENTS, UNKNOWN, RECORD, FRAME, *PARTS, *MESSAGES, TRANSCRIPT]


def test_redacted_is_of_the_same_class():
    """
    A redacted value is of its class, has no state and no run, and is redacted already.
    """
    for value in REDACTABLE:
        shown = redact(value)

        assert type(value) is type(shown)
        assert shown == redact(shown)
        for each in inside(shown):
            assert not getattr(each, "state", None)
            assert not getattr(each, "result_state", None)
            assert getattr(each, "run", None) is None


@given(made.events())
def test_redacting_keeps_the_rest(event):
    """
    Everything but state, run and unknown fields is the same.
    """
    if type(event) in EVENT_TYPES.values():
        for field in attrs.fields(type(event)):
            if field.name not in {"state", "run", "extra"}:
                assert repr(getattr(event, field.name)) == repr(getattr(redact(event), field.name))


def test_deltas_keep_no_unknown_fields_by_default():
    """
    Unknown fields of a delta that has none are empty and cannot be set, and a name that it does not have is an error.
    """
    delta = TextDelta(message_id="a", offset=0, delta="x")

    assert {} == delta.extra
    with pytest.raises(AttributeError, match=r"^'TextDelta' object has no attribute 'text'$"):
        _ = delta.text
    with pytest.raises(AttributeError):
        delta.extra = {}


def test_messages_of_users_are_values():
    """
    Two messages with equal fields are equal.
    """
    assert UserMessage(id="u", content="Hi") == UserMessage(id="u", content=as_content("Hi"))
