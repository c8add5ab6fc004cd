"""
What converters refuse: nothing is converted, and every fault is named by its place.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from enum import IntEnum, StrEnum
from types import MappingProxyType

import pytest

from assistant_events import (
    Content,
    DurableEvent,
    ErrorInfo,
    Event,
    JsonObject,
    LiveEvent,
    Message,
    Part,
    Record,
    TextContent,
    TextEnded,
    Transcript,
    UnknownEvent,
    Usage,
)
from assistant_events.converters import (
    loads,
    structure,
)
from assistant_events.errors import StructureError
from tests.everything import NOON

STARTED = {"type": "step.started", "v": 1, "message_id": "a1", "origin": {"provider": "p", "dialect": "d"}}
ENDED = {"type": "text.ended", "v": 1, "message_id": "a1", "text": "Hi"}
CALLED = {"type": "tool.called", "v": 1, "message_id": "a1", "call_id": "c", "name": "n", "input": {}}
MEDIA = {"type": "media.ended", "v": 1, "message_id": "a1", "media_type": "image/png"}
RECORD = {"session_id": "s", "seq": 1, "at": "2026-01-02T00:00:00Z", "event": {**ENDED}}
USER = {"type": "user", "id": "u", "content": []}
TOOL = {"type": "tool", "message_id": "a1", "call_id": "c", "name": "n", "status": "called"}

FAULTS = [
    (Event, None, "$: expected an object, got null"),
    (Event, [ENDED], "$: expected an object, got an array"),
    (Event, "text.ended", "$: expected an object, got a string"),
    (Event, {}, "$.type: expected a value, got nothing"),
    (Event, {"type": None}, "$.type: expected a non-empty string, got null"),
    (Event, {"type": ""}, "$.type: expected a non-empty string, got an empty string"),
    (Event, {"type": ["text.ended"]}, "$.type: expected a non-empty string, got an array"),
    (Event, {**ENDED, "v": "1"}, "$.v: expected an integer of 1 or more, got a string"),
    (Event, {**ENDED, "v": True}, "$.v: expected an integer of 1 or more, got true"),
    (Event, {**ENDED, "v": 1.0}, "$.v: expected an integer of 1 or more, got a number"),
    (Event, {**ENDED, "v": 0}, "$.v: expected an integer of 1 or more, got an integer"),
    (Event, {**ENDED, "v": -1}, "$.v: expected an integer of 1 or more, got a negative integer"),
    (Event, {**ENDED, "v": None}, "$.v: expected an integer of 1 or more, got null"),
    (Event, {"type": "new", "v": []}, "$.v: expected an integer of 1 or more, got an array"),
    (Event, {"type": "text.ended", "v": 1, "text": ""}, "$.message_id: expected a value, got nothing"),
    (Event, {**ENDED, "message_id": ""}, "$.message_id: expected a non-empty string, got an empty string"),
    (Event, {**ENDED, "message_id": 1}, "$.message_id: expected a non-empty string, got an integer"),
    (Event, {**ENDED, "text": None}, "$.text: expected a string, got null"),
    (Event, {**ENDED, "text": 1.5}, "$.text: expected a string, got a number"),
    (Event, {**ENDED, "complete": "false"}, "$.complete: expected true or false, got a string"),
    (Event, {**ENDED, "complete": 0}, "$.complete: expected true or false, got an integer"),
    (Event, {**ENDED, "complete": None}, "$.complete: expected true or false, got null"),
    (Event, {**ENDED, "state": None}, "$.state: expected an object, got null"),
    (Event, {**ENDED, "state": []}, "$.state: expected an object, got an array"),
    (Event, {**ENDED, "citations": {}}, "$.citations: expected an array, got an object"),
    (Event, {**ENDED, "citations": None}, "$.citations: expected an array, got null"),
    (Event, {**ENDED, "citations": [{}, 1]}, "$.citations[1]: expected an object, got an integer"),
    (
        Event,
        {**ENDED, "citations": [{}, {}, {"end": -1}]},
        "$.citations[2].end: expected an integer of 0 or more, got a negative integer",
    ),
    (Event, {**ENDED, "citations": [{"start": 3, "end": 2}]}, "$.citations[0].end: expected start (3) or more, got 2"),
    (
        Event,
        {**STARTED, "origin": {"provider": "p"}},
        "$.origin.dialect: expected a value, got nothing",
    ),
    (Event, {**STARTED, "origin": "p"}, "$.origin: expected an object, got a string"),
    (
        Event,
        {**STARTED, "run": {"id": "r", "kind": "k", "resumable": 1}},
        "$.run.resumable: expected true or false, got an integer",
    ),
    (Event, {**CALLED, "input": []}, "$.input: expected an object, got an array"),
    (
        Event,
        {"type": "text.delta", "v": 1, "message_id": "a", "offset": True, "delta": ""},
        "$.offset: expected an integer of 0 or more, got true",
    ),
    (
        Event,
        {"type": "text.delta", "v": 1, "message_id": "a", "offset": 1.0, "delta": ""},
        "$.offset: expected an integer of 0 or more, got a number",
    ),
    (
        Event,
        {"type": "media.delta", "v": 1, "message_id": "a", "offset": 0, "delta": "AA!A"},
        "$.delta: expected a string of base64, got another string",
    ),
    (
        Event,
        {"type": "media.delta", "v": 1, "message_id": "a", "offset": 0, "delta": "AA==AA=="},
        "$.delta: expected a string of base64, got another string",
    ),
    (
        Event,
        {"type": "media.delta", "v": 1, "message_id": "a", "offset": 0, "delta": "a"},
        "$.delta: expected a string of base64, got another string",
    ),
    (
        Event,
        {"type": "media.delta", "v": 1, "message_id": "a", "offset": 0, "delta": "é==="},
        "$.delta: expected a string of base64, got another string",
    ),
    (
        Event,
        {"type": "media.delta", "v": 1, "message_id": "a", "offset": 0, "delta": [1]},
        "$.delta: expected a string of base64, got an array",
    ),
    (
        Event,
        {**MEDIA, "data": "AA==", "uri": "x:y"},
        "$: expected data or uri, not both, got an object with type, v, message_id, media_type, data, uri",
    ),
    (
        Event,
        MEDIA,
        "$: expected data or uri for a complete media item, got an object with type, v, message_id, media_type",
    ),
    (
        Event,
        {"type": "step.ended", "v": 1, "message_id": "a", "finish_reason": "done"},
        "$.finish_reason: expected one of stop, length, tool-calls, content-filter, pause, other, got 'done'",
    ),
    (
        Event,
        {"type": "step.ended", "v": 1, "message_id": "a", "finish_reason": ["stop"]},
        "$.finish_reason: expected one of stop, length, tool-calls, content-filter, pause, other, got an array",
    ),
    (
        Event,
        {"type": "step.failed", "v": 1, "message_id": "a", "error": {"kind": "", "message": ""}},
        "$.error.kind: expected a non-empty string, got an empty string",
    ),
    (
        Event,
        {"type": "compaction.started", "v": 1, "message_id": "a", "reason": "why" * 30},
        f"$.reason: expected one of auto, manual, got '{'why' * 20}...'",
    ),
    (
        Event,
        {"type": "compaction.started", "v": 1, "message_id": "a", "reason": 1},
        "$.reason: expected one of auto, manual, got an integer",
    ),
    (
        Event,
        {"type": "tool.success", "v": 1, "message_id": "a", "call_id": "c", "output": [{"type": "film"}]},
        "$.output[0].type: expected one of text, json, media, got 'film'",
    ),
    (
        Event,
        {"type": "tool.success", "v": 1, "message_id": "a", "call_id": "c", "output": [{"text": "x"}]},
        "$.output[0].type: expected a value, got nothing",
    ),
    (
        Event,
        {"type": "tool.success", "v": 1, "message_id": "a", "call_id": "c", "output": ["x"]},
        "$.output[0]: expected an object, got a string",
    ),
    (
        Event,
        {"type": "tool.success", "v": 1, "message_id": "a", "call_id": "c", "output": [{"type": "json"}]},
        "$.output[0].value: expected a value, got nothing",
    ),
    (Content, {"type": {}}, "$.type: expected a non-empty string, got an object"),
    (
        Content,
        {"type": "media", "media_type": "a/b"},
        "$: expected either data or uri, got an object with type, media_type",
    ),
    (Usage, {"input_tokens": 1.0}, "$.input_tokens: expected an integer of 0 or more, got a number"),
    (Usage, {"input_tokens": "1"}, "$.input_tokens: expected an integer of 0 or more, got a string"),
    (Usage, {"details": None}, "$.details: expected an object, got null"),
    (Usage, [], "$: expected an object, got an array"),
    (ErrorInfo, {"kind": "tool", "message": "", "retryable": 0}, "$.retryable: expected true or false, got an integer"),
    (Record, {**RECORD, "seq": 0}, "$.seq: expected an integer of 1 or more, got an integer"),
    (Record, {**RECORD, "at": "yesterday"}, "$.at: expected a date and time in UTC, got another string"),
    (Record, {**RECORD, "at": 5}, "$.at: expected a date and time in UTC, got an integer"),
    (
        Record,
        {**RECORD, "at": "2026-01-02T00:00:00"},
        "$.at: expected a date and time in UTC, got one of another or no time zone",
    ),
    (
        Record,
        {**RECORD, "at": "2026-01-02T00:00:00+02:00"},
        "$.at: expected a date and time in UTC, got one of another or no time zone",
    ),
    (Record, {**RECORD, "event": {**ENDED, "text": 1}}, "$.event.text: expected a string, got an integer"),
    (
        Record,
        {**RECORD, "event": {"type": "text.delta", "v": 1, "message_id": "a", "offset": 0, "delta": ""}},
        "$.event.type: expected a durable event, got 'text.delta'",
    ),
    (Record, {**RECORD, "after": 1}, "$.after: expected no field of this name, got an integer"),
    (Record, {}, "$.session_id: expected a value, got nothing"),
    (Message, {**USER, "type": "system"}, "$.type: expected one of user, assistant, compaction, got 'system'"),
    (
        Message,
        {"type": "assistant", "id": "a", "origin": STARTED["origin"], "parts": [{**TOOL, "status": "done"}]},
        "$.parts[0].status: expected one of streaming, called, success, failed, got 'done'",
    ),
    (
        Message,
        {"type": "assistant", "id": "a", "origin": STARTED["origin"], "status": "ended"},
        "$.status: expected one of running, completed, failed, got 'ended'",
    ),
    (Part, {**TOOL, "input": [1]}, "$.input: expected an object, got an array"),
    (
        Part,
        {"type": "text", "text": "", "status": "completed", "times": {"started": 1}},
        "$.times.started: expected a date and time in UTC, got an integer",
    ),
    (Transcript, [], "$: expected an object, got an array"),
    (Transcript, {"v": 2}, "$.v: expected a transcript of version 1, got one of version 2"),
    (Transcript, {"v": "1"}, "$.v: expected an integer of 1 or more, got a string"),
    (Transcript, {"seq": -1}, "$.seq: expected an integer of 0 or more, got a negative integer"),
    (
        Transcript,
        {"messages": [{**USER, "id": ""}]},
        "$.messages[0].id: expected a non-empty string, got an empty string",
    ),
    (Transcript, {"rewound": ["a", 1]}, "$.rewound[1]: expected a non-empty string, got an integer"),
    (Transcript, {"rewound": "a"}, "$.rewound: expected an array, got a string"),
    (Transcript, {"turns": []}, "$.turns: expected no field of this name, got an array"),
    (TextEnded, {**ENDED, "type": "text.started", "text": ""}, "$.type: expected 'text.ended', got 'text.started'"),
    (TextEnded, {"type": "text.new"}, "$.type: expected 'text.ended', got 'text.new'"),
    (DurableEvent, {"type": "text.new"}, "$.type: expected a durable event, got 'text.new'"),
    (LiveEvent, ENDED, "$.type: expected a live event, got 'text.ended'"),
    (UnknownEvent, ENDED, "$.type: expected an event that this version does not know, got 'text.ended'"),
    (TextContent, {"type": "json", "value": 1}, "$.type: expected 'text', got 'json'"),
]


def refusal(document: object, cls: object) -> str:
    try:
        structure(document, cls)
    except StructureError as error:
        return f"{error} {error!r}"
    return ""


@pytest.mark.parametrize(
    ("cls", "document", "text"), FAULTS, ids=[f"{at} {text}" for at, (_, _, text) in enumerate(FAULTS)]
)
def test_faults_are_named(cls, document, text):
    """
    What does not fit is refused with its place, what was expected and what came; plain JSON and text alike.
    """
    with pytest.raises(StructureError) as plain:
        structure(document, cls)
    with pytest.raises(StructureError) as read:
        loads(json.dumps(document), cls)

    assert text == str(plain.value) == str(read.value)


def test_error_has_its_facts():
    """
    The path, what was expected and what came are attributes of the error.
    """
    with pytest.raises(StructureError) as refused:
        structure({**ENDED, "text": 1}, Event)

    assert ("$.text", "a string", "an integer") == (refused.value.path, refused.value.expected, refused.value.got)
    assert refused.value.__suppress_context__


def test_long_paths_are_cut():
    """
    A path that a document makes long does not make the error long.
    """
    with pytest.raises(StructureError) as refused:
        structure({**ENDED, "state": {"k" * 1000: object()}}, Event)

    assert 124 > len(refused.value.path)


def test_faults_never_show_a_state():
    """
    The error for a wrong document never contains a value of its state.
    """
    secret = "c2VjcmV0" * 4
    state = {"signature": secret, secret: [secret], "more": {"a": secret}}
    changes = ({"state": state}, {"state": [state]}, {"data": state, "uri": state}, {"output": [state]})
    wrong = [
        (cls, {**document, **change}) for cls, document, _ in FAULTS if isinstance(document, dict) for change in changes
    ]

    texts = [refusal(document, cls) for cls, document in wrong]

    assert 200 < sum(map(bool, texts))
    assert [] == [text for text in texts if secret in text]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (float("nan"), "$.state.a[0]: expected a finite number, got nan"),
        (float("inf"), "$.state.a[0]: expected a finite number, got inf"),
        (b"x", "$.state.a[0]: expected JSON, got bytes"),
        (bytearray(b"x"), "$.state.a[0]: expected JSON, got bytearray"),
        ({1}, "$.state.a[0]: expected JSON, got set"),
        (NOON, "$.state.a[0]: expected JSON, got datetime"),
        ({1: 2}, "$.state.a[0]: expected string keys, got int"),
    ],
    ids=["nan", "inf", "bytes", "bytearray", "set", "datetime", "key"],
)
def test_plain_json_only(value, text):
    """
    Values that JSON text cannot represent are refused anywhere in plain JSON.
    """
    with pytest.raises(StructureError) as refused:
        structure({**ENDED, "state": {"a": [value]}}, Event)

    assert text == str(refused.value)


class Word(StrEnum):
    TEXT = "Hi"


class Number(IntEnum):
    FIVE = 5


@pytest.mark.parametrize(
    "document",
    [
        MappingProxyType(ENDED),
        OrderedDict(ENDED),
        JsonObject(ENDED),
        {**ENDED, "text": Word.TEXT},
        {**ENDED, "citations": ()},
        {**ENDED, Word.TEXT: 1},
    ],
    ids=["proxy", "ordered", "frozen", "enum", "tuple", "key"],
)
def test_kinds_of_plain_json(document):
    """
    Any mapping is an object, any sequence an array, and a subclass of a scalar is that scalar.
    """
    event = structure(document, Event)

    assert TextEnded(message_id="a1", text="Hi", extra=event.extra) == event
    assert str is type(event.text)
    assert all(str is type(key) for key in event.extra)


def test_numbers_of_a_subclass():
    """
    Numbers of a subclass become plain numbers.
    """

    class Half(float):
        pass

    state = structure({**ENDED, "state": {"a": Number.FIVE, "b": Half(0.5)}}, Event).state

    assert [int, float] == [type(value) for value in state.values()]
    assert {"a": 5, "b": 0.5} == state
