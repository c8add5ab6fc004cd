"""
The wire form: round trips, documents written out, strictness, unknown fields and versions, converters of cattrs.
"""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime, timedelta, timezone

import attrs
import cattrs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assistant_events import (
    AssistantMessage,
    Citation,
    CompactionMessage,
    Content,
    DurableEvent,
    ErrorInfo,
    Event,
    FinishReason,
    JsonContent,
    JsonObject,
    LiveEvent,
    MediaContent,
    MediaDelta,
    MediaEnded,
    MediaPart,
    Message,
    OpaquePart,
    OpaqueReceived,
    Origin,
    Part,
    PromptSubmitted,
    ReasoningEnded,
    ReasoningPart,
    Record,
    RemoteRun,
    State,
    StepEnded,
    StepFailed,
    TextContent,
    TextDelta,
    TextEnded,
    TextPart,
    TextStarted,
    ToolCalled,
    ToolInputDelta,
    ToolPart,
    ToolProgress,
    ToolSuccess,
    Transcript,
    UnknownEvent,
    Usage,
    UserMessage,
    fold,
    thaw,
)
from assistant_events.converters import (
    configure_converter,
    dumps,
    loads,
    structure,
    unstructure,
)
from assistant_events.converters.converter import CLASS_HOOKS, _message_hook, structure_hooks
from assistant_events.errors import JsonError, StructureError
from assistant_events.events import DURABLE_EVENTS, EVENT_TYPES, LIVE_EVENTS
from assistant_events.messages import Times
from assistant_events.testing import origin, records
from assistant_events.testing import strategies as made
from assistant_events.upcasting import Upcasters
from assistant_events.values import MAX_DEPTH
from assistant_events.values.json_values import DOCUMENT_DEPTH
from assistant_events.values.validators import NO_FIELDS, NO_STATE
from tests.drawn import sessions
from tests.everything import MESSAGES, NOON, PARTS, TRANSCRIPT, label

# -- there and back


def both_ways(value, cls):
    return loads(dumps(value), cls), structure(unstructure(value), cls)


@given(made.events())
@example(StepFailed(message_id="a1", error=ErrorInfo(kind="timeout", message="")))
@example(ToolProgress(message_id="a1", call_id="c1", output=[1, 2]))
@example(ToolSuccess(message_id="a1", call_id="c1"))
@example(MediaEnded(message_id="a1", media_type="a/b", complete=False))
def test_events_come_back(event):
    """
    An event is written and read as an equal one, as JSON text and as plain JSON, also with the least that it may have.
    """
    assert (event, event) == both_ways(event, Event)


@given(made.records())
def test_records_come_back(record):
    """
    A record is written and read as an equal one.
    """
    assert (record, record) == both_ways(record, Record)


@given(sessions())
def test_transcripts_come_back(events):
    """
    A transcript, and each of its messages and parts, is written and read as an equal one.
    """
    transcript = fold(events)

    assert (transcript, transcript) == both_ways(transcript, Transcript)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.id)
def test_messages_come_back(message):
    """
    A message is written and read as an equal one.
    """
    assert (message, message) == both_ways(message, Message)


@pytest.mark.parametrize("part", PARTS, ids=label)
def test_parts_come_back(part):
    """
    A part is written and read as an equal one.
    """
    assert (part, part) == both_ways(part, Part)


def test_times_come_back():
    """
    Times, which play no part in equality, are written and read as well.
    """
    for message, again in zip(TRANSCRIPT, loads(dumps(TRANSCRIPT), Transcript), strict=True):
        assert message.times == again.times
    assert [part.times for part in PARTS] == [
        part.times for part in structure(unstructure(TRANSCRIPT), Transcript)["a2"].parts
    ]


VALUES = {
    Usage: made.instances(Usage),
    ErrorInfo: made.instances(ErrorInfo),
    Origin: made.instances(Origin),
    RemoteRun: made.instances(RemoteRun),
    Citation: made.instances(Citation),
}


@pytest.mark.parametrize("cls", VALUES, ids=lambda cls: cls.__name__)
@given(data=st.data())
def test_values_come_back(cls, data):
    """
    A value is written and read as an equal one.
    """
    value = data.draw(VALUES[cls])

    assert (value, value) == both_ways(value, cls)


@given(made.events(PromptSubmitted))
def test_contents_come_back(event):
    """
    A content is written and read as an equal one.
    """
    for content in event.content:
        assert (content, content) == both_ways(content, Content)


@given(made.events())
def test_text_is_the_plain_json(event):
    """
    JSON text has the same fields as plain JSON, in the same order.
    """
    assert json.dumps(unstructure(event)) == json.dumps(json.loads(dumps(event)))


@given(made.events())
def test_bytes_are_stable(event):
    """
    What was read is written as the same bytes.
    """
    assert dumps(event) == dumps(loads(dumps(event), Event))


# -- documents written out


def test_event_begins_with_type_and_version():
    """
    A document of an event begins with type, version and message; fields that equal their default are omitted.
    """
    event = TextEnded(message_id="a1", text="Hi")

    assert b'{"type":"text.ended","v":1,"message_id":"a1","text":"Hi"}' == dumps(event)


def test_record_document():
    """
    A record is its place, its moment with microseconds and a Z, and its event.
    """
    record = Record(session_id="s1", seq=3, at=NOON, event=TextStarted(message_id="a1"))

    assert {
        "session_id": "s1",
        "seq": 3,
        "at": "2026-01-02T12:00:00.000250Z",
        "event": {"type": "text.started", "v": 1, "message_id": "a1"},
    } == unstructure(record)


def test_meta_is_written_when_there_is_any():
    """
    A record contains the data of the app.
    """
    record = Record(session_id="s1", seq=1, at=NOON, event=TextStarted(message_id="a1"), meta={"user": ["u"]})

    assert {"user": ["u"]} == unstructure(record)["meta"]
    assert record == loads(dumps(record), Record)


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00Z"),
        (datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC), "2026-01-02T03:04:05.000006Z"),
        (datetime(2026, 1, 2, tzinfo=timezone(timedelta(0), "Z")), "2026-01-02T00:00:00Z"),
        (datetime.max.replace(tzinfo=UTC), "9999-12-31T23:59:59.999999Z"),
    ],
    ids=["whole", "micro", "named", "max"],
)
def test_moments(moment, text):
    """
    Moments are ISO 8601 in UTC with a Z and lose no microsecond.
    """
    record = Record(session_id="s1", seq=1, at=moment, event=TextStarted(message_id="a1"))

    assert text == unstructure(record)["at"] == json.loads(dumps(record))["at"]
    assert moment == loads(dumps(record), Record).at


def test_message_document():
    """
    A message is its type, what names it, its status always, and what there is; its parts likewise.
    """
    message = AssistantMessage(
        id="a1",
        origin=Origin(provider="acme", model=None, dialect="acme-chat"),
        parts=[
            TextPart(text="Hi", status="completed"),
            ReasoningPart(text="", status="incomplete", state={"sig": "x"}),
            ToolPart(message_id="a1", call_id="c1", name="look", status="called", input=JsonObject(a=[1])),
            MediaPart(media_type="image/png", data=b"\x00", status="completed"),
            OpaquePart(),
        ],
    )

    assert {
        "type": "assistant",
        "v": 1,
        "id": "a1",
        "origin": {"provider": "acme", "dialect": "acme-chat"},
        "status": "running",
        "parts": [
            {"type": "text", "text": "Hi", "status": "completed"},
            {"type": "reasoning", "text": "", "status": "incomplete", "state": {"sig": "x"}},
            {
                "type": "tool",
                "message_id": "a1",
                "call_id": "c1",
                "name": "look",
                "status": "called",
                "input": {"a": [1]},
            },
            {"type": "media", "media_type": "image/png", "data": "AA==", "status": "completed"},
            {"type": "opaque", "status": "completed"},
        ],
    } == unstructure(message)


def test_transcript_document():
    """
    A transcript has its version and all its fields, and its rewound ids are sorted.
    """
    transcript = Transcript(messages=[UserMessage(id="u1", content="Hi")], seq=2, rewound={"b", "a"})

    assert {
        "v": 1,
        "messages": [{"type": "user", "v": 1, "id": "u1", "content": [{"type": "text", "text": "Hi"}]}],
        "seq": 2,
        "rewound": ["a", "b"],
    } == unstructure(transcript)
    assert {"v": 1, "messages": [], "seq": 0, "rewound": []} == unstructure(Transcript())


def test_times_document():
    """
    Times are what is known of them.
    """
    part = TextPart(text="", status="streaming", times=Times(started=NOON))

    assert {"started": "2026-01-02T12:00:00.000250Z"} == unstructure(part)["times"]


@pytest.mark.parametrize(
    ("content", "document"),
    [
        (TextContent("Hi"), {"type": "text", "text": "Hi"}),
        (JsonContent({"a": [None, 1.5]}), {"type": "json", "value": {"a": [None, 1.5]}}),
        (JsonContent(None), {"type": "json", "value": None}),
        (
            MediaContent(media_type="image/png", data=b"\xfb\xff"),
            {"type": "media", "media_type": "image/png", "data": "+/8="},
        ),
        (
            MediaContent(media_type="image/png", uri="x:y"),
            {"type": "media", "media_type": "image/png", "uri": "x:y"},
        ),
    ],
    ids=["text", "json", "null", "data", "uri"],
)
def test_content_documents(content, document):
    """
    Contents have a type; bytes are base64.
    """
    assert document == unstructure(content)
    assert content == structure(document, Content)


def test_fields_with_a_default_may_be_missing():
    """
    A document may leave out whatever has a default, the version among it.
    """
    assert Transcript() == structure({}, Transcript)
    assert OpaquePart() == loads('{"type": "opaque"}', Part)
    assert TextStarted(message_id="a1") == loads('{"type": "text.started", "message_id": "a1"}', Event)


def test_null_is_none_where_none_is_a_value():
    """
    What may be None may be null, and is left out when it is written.
    """
    document = {"type": "step.ended", "v": 1, "message_id": "a1", "finish_reason": "stop", "usage": None, "run": None}

    event = structure(document, Event)

    assert StepEnded(message_id="a1", finish_reason=FinishReason.STOP) == event == loads(json.dumps(document), Event)
    assert {"type", "v", "message_id", "finish_reason"} == set(unstructure(event))


ENDED = {"type": "text.ended", "v": 1, "message_id": "a1", "text": "Hi"}
CALLED = {"type": "tool.called", "v": 1, "message_id": "a1", "call_id": "c", "name": "n", "input": {}}
RECORD = {"session_id": "s", "seq": 1, "at": "2026-01-02T00:00:00Z", "event": {**ENDED}}


# -- unknown fields


def test_unknown_fields_are_kept():
    """
    A known type with unknown fields is read as that type, and writes them back behind its own.
    """
    document = {"newer": {"a": [1, None]}, **ENDED, "note": "x"}

    event = structure(document, Event)

    assert TextEnded is type(event)
    assert JsonObject(newer={"a": [1, None]}, note="x") == event.extra
    assert [*ENDED, "newer", "note"] == list(unstructure(event))
    assert document == unstructure(event) == json.loads(dumps(event))


def test_unknown_fields_of_values_are_kept():
    """
    Values inside an event keep theirs as well.
    """
    document = {
        "type": "step.failed",
        "v": 1,
        "message_id": "a1",
        "error": {"kind": "tool", "message": "", "help": "https://a.example"},
        "usage": {"input_tokens": 1, "pictures": 2},
        "run": {"id": "r", "kind": "k", "region": "eu"},
    }

    event = structure(document, Event)

    assert {"pictures": 2} == event.usage.extra
    assert event == loads(json.dumps(document), Event)
    assert document == unstructure(event) == json.loads(dumps(event))


@pytest.mark.parametrize("cls", LIVE_EVENTS, ids=lambda cls: cls.type)
def test_unknown_fields_of_live_events_are_kept(cls):
    """
    Deltas, which spend nothing on unknown fields, keep them too when there are any.
    """
    document = {
        "type": cls.type,
        "v": 1,
        "message_id": "a1",
        "call_id": "c",
        "delta": "",
        "offset": 0,
        "note": [1],
    }
    document = {name: value for name, value in document.items() if name in {*EVENT_FIELDS[cls], "type", "v", "note"}}

    event = loads(json.dumps(document), Event)

    assert {"note": [1]} == event.extra
    assert document == json.loads(dumps(event))


EVENT_FIELDS = {cls: [field.name for field in attrs.fields(cls)] for cls in EVENT_TYPES.values()}


@pytest.mark.parametrize(
    "delta",
    [
        TextDelta(message_id="a1", offset=0, delta="x"),
        TextDelta(message_id="a1", offset=0, delta="x", extra={}),
        MediaDelta(message_id="a1", offset=0, delta=b"x"),
        ToolInputDelta(message_id="a1", call_id="c1", offset=0, delta="x"),
    ],
    ids=["text", "given", "media", "tool"],
)
def test_deltas_without_unknown_fields(delta):
    """
    A delta is written without unknown fields whether or not it has ever been asked for them.
    """
    document = unstructure(delta)

    assert document == json.loads(dumps(delta))
    assert "extra" not in document
    assert NO_FIELDS is loads(dumps(delta), Event).extra


NEWER_MESSAGES = {
    "user": {"type": "user", "v": 1, "id": "u1", "content": [], "newer": [1]},
    "compaction": {"type": "compaction", "v": 1, "id": "s1", "reason": "auto", "status": "running", "newer": {}},
    **{
        f"part: {part['type']}": {
            "type": "assistant",
            "v": 1,
            "id": "a1",
            "origin": {"provider": "acme", "dialect": "acme-chat"},
            "status": "running",
            "parts": [{**part, "newer": {"a": None}}],
            "newer": "x",
        }
        for part in (
            {"type": "text", "text": "Hi", "status": "completed"},
            {"type": "reasoning", "text": "Hi", "status": "incomplete"},
            {"type": "media", "media_type": "image/png", "uri": "https://a.example", "status": "completed"},
            {"type": "tool", "message_id": "a1", "call_id": "c1", "name": "look", "status": "called", "input": {}},
            {"type": "opaque", "status": "completed"},
        )
    },
}


@pytest.mark.parametrize("document", NEWER_MESSAGES.values(), ids=NEWER_MESSAGES)
def test_unknown_fields_of_messages_are_kept(document):
    """
    A message and its parts keep what a newer writer added, also when more events are folded into the message.
    """
    message = structure(document, Message)

    assert document == unstructure(message)
    assert document["newer"] == thaw(message.extra["newer"])
    if document["type"] == "assistant":
        call_id = document["parts"][0].get("call_id", "c2")
        events = [
            *([] if call_id == "c1" else [ToolCalled(message_id="a1", call_id="c2", name="look", input={})]),
            ToolProgress(message_id="a1", call_id=call_id, output="half"),
        ]
        after = fold(events, start=Transcript(messages=[message]), strict=True)
        settled = fold([ToolSuccess(message_id="a1", call_id=call_id)], start=after, strict=True)
        for transcript in (after, settled):
            assert {"newer": "x"} == transcript["a1"].extra
            assert {"newer": {"a": None}} == transcript["a1"].parts[0].extra


@pytest.mark.parametrize("cls", [Message, AssistantMessage], ids=["union", "class"])
def test_versions_of_messages(cls):
    """
    A message without a version is of the first; a newer one is refused, as is a version that is none.
    """
    document = unstructure(AssistantMessage(id="a1", origin=origin()))
    first = {key: value for key, value in document.items() if key != "v"}

    assert AssistantMessage(id="a1", origin=origin()) == structure(first, cls)
    with pytest.raises(StructureError, match=r"^\$\.v: expected a message of version 1, got one of version 2$"):
        structure({**document, "v": 2}, cls)
    with pytest.raises(StructureError, match=r"^\$\.v: expected an integer of 1 or more, got"):
        structure({**document, "v": True}, cls)
    with pytest.raises(StructureError, match=r"^\$\.messages\[0\]\.v: expected a message of version 1"):
        structure({"messages": [{**document, "v": 2}], "seq": 0, "rewound": []}, Transcript)


def test_older_messages_are_upcast(monkeypatch):
    """
    A message of an older version is brought up to the newest, alone and in a transcript.
    """
    upcasters = Upcasters()

    @upcasters.register("user", from_version=1)
    def user_v1_to_v2(document):
        return {"id": document["name"], "content": document["content"]}

    monkeypatch.setattr(UserMessage, "version", 2)
    hook = _message_hook({"user": UserMessage}, upcasters)
    old = {"type": "user", "v": 1, "name": "u1", "content": []}

    assert UserMessage(id="u1", content=()) == hook(dict(old), Message)
    assert {"type": "user", "v": 1, "name": "u1", "content": []} == old


def test_extra_filled_with_nothing():
    """
    Unknown fields that were filled with nothing are nothing.
    """
    delta = TextDelta(message_id="a1", offset=0, delta="x")
    object.__setattr__(delta, "extra", NO_FIELDS)
    ended = TextEnded(message_id="a1", text="", extra={})

    assert b'{"type":"text.delta","v":1,"message_id":"a1","offset":0,"delta":"x"}' == dumps(delta)
    assert b'{"type":"text.ended","v":1,"message_id":"a1","text":""}' == dumps(ended)


@pytest.mark.parametrize("name", ["type", "v", "message_id", "text", "state"])
def test_unknown_fields_cannot_hide_known_ones(name):
    """
    An unknown field with the name of a known one would be lost or misread: it is not written.
    """
    event = TextEnded(message_id="a1", text="", extra={name: 1})

    for write in (dumps, unstructure):
        with pytest.raises(ValueError, match=f"^TextEnded.extra: '{name}' is a field of its own$"):
            write(event)


# -- unknown events


@pytest.mark.parametrize(
    ("document", "version"),
    [
        ({"type": "text.begun", "v": 3, "message_id": "a1", "state": {"sig": ["x"]}}, 3),
        ({"type": "text.ended", "v": 2, "message_id": "a1", "words": []}, 2),
        ({"type": "text.begun"}, 1),
        ({"type": "text.begun", "v": 1, "message_id": 5}, 1),
    ],
    ids=["type", "version", "bare", "odd"],
)
def test_unknown_events_are_kept(document, version):
    """
    An unknown type or a newer version is kept as the whole document, and written back as it came.
    """
    event = structure(document, Event)

    assert UnknownEvent(type=document["type"], version=version, data=State(document)) == event
    assert event == loads(json.dumps(document), Event) == structure(document, UnknownEvent)
    assert document == unstructure(event) == json.loads(dumps(event))


def test_unknown_events_in_records():
    """
    An event that this version does not know has its place in the log like any other.
    """
    document = {**RECORD, "event": {"type": "text.begun", "v": 3, "n": {"m": [[]]}}}

    record = loads(json.dumps(document), Record)

    assert 3 == record.event.version
    assert document == unstructure(record) == json.loads(dumps(record))


@pytest.mark.parametrize(
    "data",
    [{}, {"type": "text.begun"}, {"type": "other", "v": 2}, {"type": "text.begun", "v": 3}],
    ids=["nothing", "no version", "type", "version"],
)
def test_unknown_events_are_whole(data):
    """
    An unknown event that does not hold its document would not read back: it is not written.
    """
    event = UnknownEvent(type="text.begun", version=2, data=data)

    for write in (dumps, unstructure):
        with pytest.raises(
            ValueError, match=r"^UnknownEvent.data: expected the whole document of 'text.begun', version 2$"
        ):
            write(event)


# -- verbatim


STRINGS = [
    "",
    "\x00",
    "\ud800",
    "\udc00 alone",
    "a\ud83d",
    "\ude00\ud83d",
    "\U0001f600",
    "e\u0301",
    "\ufeff",
    "\u2028\x7f\x1f",
    "A+/=" * 25_000,
]


@pytest.mark.parametrize("text", STRINGS, ids=lambda text: ascii(text)[:20])
def test_strings_of_states_are_verbatim(text):
    """
    Every string in a state, keys included, is the same code unit for code unit.
    """
    state = {"a": text, text: [text, {text: text}]}

    for event in both_ways(ReasoningEnded(message_id="a1", text="", state=state), Event):
        assert state == event.state
        assert list(state) == list(event.state)


NUMBERS = {
    "zero": 0,
    "negative": -1,
    "signed": 2**63,
    "unsigned": 2**64,
    "below": -(2**63) - 1,
    "400 digits": 10**400,
    "5000 digits": -(10**5000),
    "fraction": 0.1,
    "large": 1e300,
    "negative zero": -0.0,
}


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
def test_numbers_of_states_are_exact(number):
    """
    Integers of any size are exact, and a number is of the same kind afterwards.
    """
    for event in both_ways(OpaqueReceived(message_id="a1", state={"n": [number]}), Event):
        assert number == event.state["n"][0]
        assert type(number) is type(event.state["n"][0])


def test_seconds_are_floats():
    """
    Seconds that were written as an integer are a float, as those of an error that a program has made.
    """
    read = structure({"kind": "provider", "message": "m", "retry_after_s": 3}, ErrorInfo)

    assert [float, float] == [type(each.retry_after_s) for each in (read, attrs.evolve(read, retry_after_s=3))]


def test_halves_of_a_pair_are_one_character():
    """
    Two adjacent halves of a surrogate pair are one character, in plain JSON and in text.
    """
    document = {**ENDED, "text": "\ud83d\ude00", "state": {"\ud83d\ude00": "\ud83d\ude00"}}

    expected = TextEnded(message_id="a1", text="😀", state={"😀": "😀"})

    assert expected == structure(document, Event)
    assert expected == loads(json.dumps(document), Event)
    assert expected == loads(json.dumps(document, ensure_ascii=False), Event)


def test_lone_halves_in_text_are_replaced():
    """
    Text is valid Unicode: half a character becomes U+FFFD.
    """
    document = {**ENDED, "text": "a\ud83d"}

    assert "a\ufffd" == structure(document, Event).text == loads(json.dumps(document), Event).text


def nested(levels: int) -> dict[str, object]:
    value: object = "deep"
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value if isinstance(value, dict) else {"a": value}


def test_depth_of_states():
    """
    A state anywhere in a document may be as deep as one that is made in Python.
    """
    state = State(nested(MAX_DEPTH - 1))
    event = UnknownEvent(type="x", version=1, data={"type": "x", "state": nested(MAX_DEPTH - 3)})
    part = ToolPart(message_id="a", call_id="c", name="n", status="success", output=[JsonContent(state)], state=state)
    message = AssistantMessage(id="a", origin=origin(), parts=[part])

    for value, cls in [
        (OpaqueReceived(message_id="a1", state=state), Event),
        (Record(session_id="s", seq=1, at=NOON, event=event), Record),
        (Transcript(messages=[message]), Transcript),
    ]:
        assert (value, value) == both_ways(value, cls)


def test_depth_of_unknown_events():
    """
    An unknown event may hold a state of full depth.
    """
    document = {"type": "x", "v": 1, "state": nested(MAX_DEPTH)}

    for each in (document, {**document, "text": "half \ud83d"}):  # the other reader
        assert each == unstructure(structure(each, Event)) == json.loads(dumps(loads(json.dumps(each), Event)))


def test_an_unknown_event_fits_into_a_record():
    """
    What can be read as an event can be stored, where the record around it is one level more.
    """
    inner = nested(DOCUMENT_DEPTH - 3)
    fits, does_not = [{"type": "x", "v": 1, "state": {"a": state}} for state in (inner, [inner])]
    record = Record(session_id="s", seq=1, at=NOON, event=structure(fits, Event))

    assert (record, record) == both_ways(record, Record)
    with pytest.raises(StructureError, match=f"at most {DOCUMENT_DEPTH - 1} levels, got more$"):
        structure(does_not, Event)


def test_a_union_of_an_app_is_not_remembered():
    """
    A union that equals one of the library is another object, whose place in memory may soon be that of something else.
    """
    union = DurableEvent | UnknownEvent
    made = structure({"type": "x", "v": 1}, union)

    assert isinstance(made, UnknownEvent)
    assert id(union) not in structure_hooks


@pytest.mark.parametrize(
    "document",
    [
        {**ENDED, "state": {"a": nested(MAX_DEPTH)}},
        {**ENDED, "state": {"a": [nested(MAX_DEPTH - 1)]}},
        {**ENDED, "newer": nested(MAX_DEPTH)},
        {
            "type": "prompt.submitted",
            "v": 1,
            "message_id": "a",
            "content": [{"type": "json", "value": [nested(MAX_DEPTH)]}],
        },
        {"type": "unknown", "state": nested(MAX_DEPTH + 10)},
    ],
    ids=["object", "array", "extra", "content", "unknown"],
)
def test_too_deep(document):
    """
    What nests deeper is refused, as in Python.
    """
    for read in (structure, lambda document, cls: loads(json.dumps(document), cls)):
        with pytest.raises(StructureError, match=r"expected at most 20\d levels, got more$"):
            read(document, Event)


def test_far_too_deep():
    """
    No depth brings the reader down.
    """
    arrays: list[object] = []
    objects: dict[str, object] = {}
    for _ in range(100_000):
        arrays, objects = [arrays], {"a": objects}

    for deep in (arrays, objects):
        with pytest.raises(StructureError, match=r"expected at most 208 levels, got more$"):
            structure({**ENDED, "state": {"a": deep}}, Event)
    with pytest.raises((JsonError, StructureError)):
        loads('{"type":"x","a":' + "[" * 100_000 + "]" * 100_000 + "}", Event)


def test_no_json():
    """
    Text that is not valid JSON raises JsonError.
    """
    with pytest.raises(JsonError):
        loads(b"{", Event)


# -- who owns what


def test_document_is_left_alone():
    """
    Plain JSON that is read is not changed, and may be changed afterwards.
    """
    document = {**CALLED, "input": {"a": [{"b": 1}]}, "state": {"c": [[1]]}, "newer": {"d": [2]}}
    before = copy.deepcopy(document)

    event = structure(document, Event)
    assert before == document
    document["input"]["a"][0]["b"] = document["state"]["c"][0][0] = document["newer"]["d"] = "changed"

    assert before == unstructure(event)


def test_plain_json_is_fresh():
    """
    Plain JSON that is written may be changed without changing what was written.
    """
    event = ToolCalled(
        message_id="a1",
        call_id="c",
        name="n",
        input={"a": [{"b": 1}], "flat": 1},
        state={"c": {"d": ()}},
        extra={"e": [{}]},
    )
    before = copy.deepcopy(unstructure(event))

    document = unstructure(event)
    document["input"]["a"][0]["b"] = document["state"]["c"]["d"] = document["e"] = "changed"
    document["input"].clear()

    assert before == unstructure(event)


@given(made.records())
def test_plain_json_is_plain(record):
    """
    Plain JSON has only the exact types of a JSON reader.
    """

    def kinds(value):
        yield type(value)
        for item in value.values() if type(value) is dict else value if type(value) is list else ():
            yield from kinds(item)

    assert {dict, list, str, int, float, bool, type(None)} >= set(kinds(unstructure(record)))


def test_what_is_read_is_complete():
    """
    What is read without its constructor is what the constructor makes, down to what is shared.
    """
    event = loads(dumps(TextEnded(message_id="a1", text="Hi")), Event)

    assert NO_STATE is event.state
    assert NO_FIELDS is event.extra
    assert () == event.citations
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        event.text = "Ho"
    assert event == attrs.evolve(event) == copy.deepcopy(event)


# -- what can be asked for


# The values of all fields are those of `test_events_come_back`; here it matters which converter is asked.
@pytest.mark.parametrize("cls", [*DURABLE_EVENTS, *LIVE_EVENTS], ids=lambda cls: cls.type)
@settings(max_examples=settings.default.max_examples // 4)
@given(data=st.data())
def test_classes_can_be_asked_for(cls, data):
    """
    A single class reads what it wrote, and so does the union that it belongs to.
    """
    event = data.draw(made.events(cls))

    assert (event, event) == both_ways(event, cls)
    assert (event, event) == both_ways(event, DurableEvent if cls.durable else LiveEvent)


@pytest.mark.parametrize("value", [*PARTS, *MESSAGES], ids=label)
def test_single_messages_and_parts_can_be_asked_for(value):
    """
    The class of a message or of a part can be named instead of the union.
    """
    assert (value, value) == both_ways(value, type(value))


def test_equal_union_can_be_asked_for():
    """
    A union that is written out again is the same union.
    """
    again = UserMessage | AssistantMessage | CompactionMessage

    for _ in range(2):
        assert (MESSAGES[0], MESSAGES[0]) == both_ways(MESSAGES[0], again)


@pytest.mark.parametrize("cls", [int, object, Event | None, JsonObject, "Event", None, [Event]], ids=str)
def test_other_classes_cannot_be_asked_for(cls):
    """
    Only what is stored can be read.
    """
    for read in (loads, structure):
        with pytest.raises(TypeError) as refused:
            read("{}", cls)
        assert f"expected a class that is stored, got {cls!r}" == str(refused.value)


@pytest.mark.parametrize(
    "value", [None, 1, {}, [], object(), State(), TextDelta], ids=lambda value: type(value).__name__
)
def test_other_objects_cannot_be_written(value):
    """
    Only what is stored can be written.
    """
    for write in (dumps, unstructure):
        with pytest.raises(TypeError) as refused:
            write(value)
        assert f"expected an object of a class that is stored, got {type(value).__name__}" == str(refused.value)


@pytest.mark.parametrize("convert", [bytes, bytearray, memoryview, bytes.decode], ids=["bytes", "array", "view", "str"])
def test_text_of_any_kind(convert):
    """
    JSON text is bytes of any kind, or a string.
    """
    record = records([PromptSubmitted(message_id="u1", content="Grüße 🦉")])[0]

    assert record == loads(convert(dumps(record)), Record)


@pytest.mark.parametrize("hint", [set[int], dict[str, int], int | str], ids=str)
def test_fields_without_a_wire_form(hint):
    """
    A field that the wire form does not know is noticed when its class is first used.
    """
    cls = attrs.make_class("Odd", {"field": attrs.field(type=hint)}, slots=True)

    with pytest.raises(TypeError) as refused:
        CLASS_HOOKS.structure_hook(cls)

    assert f"no wire form for {hint}" == str(refused.value)


# -- converters of cattrs


@attrs.frozen
class Page:
    """
    A class of an app's own.
    """

    title: str
    events: list[Event]
    first: Record | None = None
    usage: Usage = Usage()
    state: State = State()
    options: JsonObject = JsonObject()
    content: tuple[Content, ...] = ()


PAGE = Page(
    title="One",
    events=[TextStarted(message_id="a1"), TextDelta(message_id="a1", offset=0, delta="x")],
    first=Record(session_id="s", seq=1, at=NOON, event=TextStarted(message_id="a1")),
    usage=Usage(input_tokens=1),
    state=State(a=[1]),
    options=JsonObject(b={}),
    content=(TextContent("Hi"), JsonContent(1)),
)


@pytest.fixture
def converter():
    converter = cattrs.Converter()
    configure_converter(converter)
    return converter


def test_classes_of_an_app(converter):
    """
    A class of an app may hold whatever is stored.
    """
    document = converter.unstructure(PAGE)

    assert [unstructure(event) for event in PAGE.events] == document["events"]
    assert {"a": [1]} == document["state"]
    assert dict is type(document["options"])
    assert PAGE == converter.structure(document, Page)
    assert PAGE == converter.structure(json.loads(json.dumps(document)), Page)


@pytest.mark.parametrize(
    ("value", "cls"),
    [
        (TextStarted(message_id="a1"), Event),
        (TextStarted(message_id="a1"), TextStarted),
        (TextStarted(message_id="a1"), DurableEvent),
        (TextDelta(message_id="a1", offset=0, delta=""), LiveEvent),
        (TRANSCRIPT, Transcript),
        (MESSAGES[0], Message),
        (PARTS[0], Part),
        (PARTS[0], TextPart),
        (JsonContent(None), Content),
        (Times(started=NOON), Times),
        (State(a=1), State),
        (JsonObject(a=[1, {}]), JsonObject),
    ],
    ids=[
        "union",
        "class",
        "durable",
        "live",
        "transcript",
        "message",
        "part",
        "text",
        "content",
        "times",
        "state",
        "object",
    ],
)
def test_hooks(converter, value, cls):
    """
    Every class and every union has its hooks.
    """
    read = converter.structure(converter.unstructure(value), cls)

    assert (value, type(value)) == (read, type(read))


def test_hooks_of_an_app_change_no_state(converter):
    """
    What an app registers for strings and integers does not reach what a provider has sent.
    """
    converter.register_unstructure_hook(str, str.upper)
    converter.register_unstructure_hook(int, str)

    assert {"signature": "c2ln", "a": [1]} == converter.unstructure(State(signature="c2ln", a=[1]))


def test_hooks_leave_documents_alone(converter):
    """
    A hook does not change what it is given.
    """
    document = {**CALLED, "input": {"a": [{}]}}
    before = copy.deepcopy(document)

    converter.structure(document, Event)

    assert before == document


@pytest.mark.parametrize(
    ("document", "cls", "error"),
    [
        ({**ENDED, "text": 1}, Event, "$.text: expected a string, got an integer"),
        ([1], JsonObject, "$: expected an object, got an array"),
        ({"a": {1}}, State, "$.a: expected JSON, got set"),
    ],
    ids=["event", "object", "state"],
)
def test_hooks_name_faults(converter, document, cls, error):
    """
    A hook refuses with the same error as `structure`.
    """
    with pytest.raises(StructureError) as refused:
        converter.structure(document, cls)

    assert error == str(refused.value)


def test_configured_converter_keeps_its_ways():
    """
    A converter that is configured returns nothing and treats everything else as before.
    """
    converter = cattrs.Converter()

    assert None is configure_converter(converter)
    assert 3 == converter.structure("3", int)
    assert TextStarted(message_id="a1") == converter.structure(unstructure(TextStarted(message_id="a1")), Event)
