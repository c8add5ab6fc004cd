"""
The catalogue: names, classes, defaults, what constructors take and refuse.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import get_args

import attrs
import pytest

from assistant_events import (
    Citation,
    CompactionStarted,
    DurableEvent,
    ErrorInfo,
    Event,
    FinishReason,
    JsonContent,
    LiveEvent,
    MediaDelta,
    MediaEnded,
    PromptSubmitted,
    Record,
    State,
    StepEnded,
    StepFailed,
    StepRestarted,
    StepStarted,
    TextContent,
    TextDelta,
    TextEnded,
    TextStarted,
    ToolCalled,
    ToolFailed,
    ToolInputDelta,
    ToolInputStarted,
    ToolProgress,
    ToolSuccess,
    UnknownEvent,
)
from assistant_events.events import DURABLE_EVENTS, EVENT_TYPES, LIVE_EVENTS
from assistant_events.testing import origin
from tests.everything import EVENTS, NOON

ALL = [*DURABLE_EVENTS, *LIVE_EVENTS]
DELTAS = [cls for cls in LIVE_EVENTS if cls is not ToolProgress]

CATALOGUE = {
    "prompt.submitted": "durable message_id content",
    "history.rewound": "durable message_id",
    "step.started": "durable message_id origin run? state? before?",
    "step.restarted": "durable message_id reason origin? run? state?",
    "step.ended": "durable message_id finish_reason raw_finish_reason? usage? run? details? state?",
    "step.failed": "durable message_id error usage? run? details? state?",
    "text.started": "durable message_id",
    "text.delta": "live message_id offset delta",
    "text.ended": "durable message_id text complete? citations? details? state?",
    "reasoning.started": "durable message_id",
    "reasoning.delta": "live message_id offset delta",
    "reasoning.ended": "durable message_id text complete? state?",
    "media.started": "durable message_id media_type",
    "media.delta": "live message_id offset delta",
    "media.ended": "durable message_id media_type data? uri? complete? state?",
    "tool.input.started": "durable message_id call_id name provider_executed?",
    "tool.input.delta": "live message_id offset call_id delta",
    "tool.input.ended": "durable message_id call_id text complete? state?",
    "tool.called": "durable message_id call_id name input provider_executed? state?",
    "tool.approval.requested": "durable message_id call_id reason?",
    "tool.approved": "durable message_id call_id",
    "tool.started": "durable message_id call_id attempt",
    "tool.progress": "live message_id call_id output?",
    "tool.success": "durable message_id call_id output? provider_executed? details? state?",
    "tool.failed": "durable message_id call_id error output? provider_executed? details? state?",
    "opaque.received": "durable message_id state?",
    "compaction.started": "durable message_id reason origin?",
    "compaction.delta": "live message_id offset delta",
    "compaction.ended": "durable message_id text state?",
    "compaction.failed": "durable message_id error",
}

each = pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.type)


@each
def test_fields(cls):
    """
    Every event has the fields of the catalogue; a question mark is a field with a default.
    """
    shown = ["durable" if cls.durable else "live"]
    shown += [
        field.name + "?" * (field.default is not attrs.NOTHING) for field in attrs.fields(cls) if field.name != "extra"
    ]

    assert CATALOGUE[cls.type] == " ".join(shown)


@each
def test_name_is_the_type_in_camel_case(cls):
    """
    The class is named like the type.
    """
    assert cls.type.title().replace(".", "") == cls.__name__


@each
def test_facts_of_a_class(cls):
    """
    Type, durability and version are facts of the class, and instances have them.
    """
    event = next(event for event in EVENTS if type(event) is cls)

    assert (cls.type, cls.durable, cls.version) == (event.type, event.durable, event.version)
    assert cls is EVENT_TYPES[cls.type]
    assert 1 == cls.version
    assert (cls in DURABLE_EVENTS) is cls.durable is (cls not in LIVE_EVENTS)


@each
def test_defaults(cls):
    """
    What may be left out is empty, complete, not run by the provider, or None.
    """
    defaults = {
        "state": {},
        "details": {},
        "extra": {},
        "complete": True,
        "provider_executed": False,
        "output": (),
        "citations": (),
    }
    for field in attrs.fields(cls):
        if field.default is not attrs.NOTHING:
            assert defaults.get(field.name) == field.default


@each
def test_fields_go_by_name(cls):
    """
    Fields are given by name only, and those without a default have to be given.
    """
    with pytest.raises(TypeError, match="positional argument"):
        cls("a1")
    with pytest.raises(TypeError, match=r"missing .* required keyword-only argument"):
        cls()


@each
@pytest.mark.parametrize(
    ("name", "error"), [("", ValueError), (5, TypeError), (None, TypeError)], ids=["empty", "number", "none"]
)
def test_events_belong_to_a_message(cls, name, error):
    """
    Every event belongs to a message that has a name.
    """
    event = next(event for event in EVENTS if type(event) is cls)
    fields = {field.name: getattr(event, field.name) for field in attrs.fields(cls)}

    with pytest.raises((error, TypeError), match=rf"^{cls.__name__}\.message_id: expected (a non-empty string|str)"):
        cls(**{**fields, "message_id": name})


def test_unions():
    """
    The unions have the classes of the tables.
    """
    assert get_args(DurableEvent) == DURABLE_EVENTS
    assert get_args(LiveEvent) == LIVE_EVENTS
    assert {*DURABLE_EVENTS, *LIVE_EVENTS, UnknownEvent} == set(get_args(Event))
    assert sorted(CATALOGUE) == sorted(EVENT_TYPES)


def test_table_of_types_cannot_be_changed():
    """
    The table of types is read-only.
    """
    with pytest.raises(TypeError, match="does not support item assignment"):
        EVENT_TYPES["text.begun"] = TextStarted


M = {"message_id": "a"}
C = {**M, "call_id": "c"}


@pytest.mark.parametrize(
    ("event", "field", "value"),
    [
        (PromptSubmitted(**M, content="Hi"), "content", (TextContent("Hi"),)),
        (PromptSubmitted(**M, content=()), "content", ()),
        (ToolSuccess(**C, output={"a": 1}), "output", (JsonContent({"a": 1}),)),
        (ToolSuccess(**C, output=None), "output", (JsonContent(None),)),
        (ToolProgress(**C, output=[1]), "output", (JsonContent([1]),)),
        (StepEnded(**M, finish_reason="tool-calls"), "finish_reason", FinishReason.TOOL_CALLS),
        (TextEnded(**M, text="", citations=[Citation()]), "citations", (Citation(),)),
        (TextEnded(**M, text="", state={"a": [1]}), "state", State(a=(1,))),
        (TextEnded(**M, text="a\ud83d"), "text", "a\ufffd"),
        (TextDelta(**M, offset=0, delta="\ud83d\ude00"), "delta", "😀"),
        (MediaDelta(**M, offset=0, delta=bytearray(b"x")), "delta", b"x"),
        (MediaEnded(**M, media_type="a/b", data=memoryview(b"x")), "data", b"x"),
        (MediaEnded(**M, media_type="a/b", complete=False), "data", None),
        (TextDelta(**M, offset=0, delta="", extra={"a": 1}), "extra", {"a": 1}),
    ],
    ids=range(14),
)
def test_what_constructors_take(event, field, value):
    """
    Constructors take what is at hand and keep what is immutable.
    """
    assert value == getattr(event, field)
    assert type(value) is type(getattr(event, field)) or field == "extra"


ERROR = ErrorInfo(kind="tool", message="")
WRONG = [
    (PromptSubmitted, {**M, "content": object()}, TypeError, "$: expected JSON, got object"),
    (StepStarted, {**M, "origin": "p"}, TypeError, "StepStarted.origin: expected Origin, got str"),
    (StepStarted, {**M, "origin": None}, TypeError, "StepStarted.origin: expected Origin, got NoneType"),
    (
        StepStarted,
        {**M, "origin": origin(), "run": "r"},
        TypeError,
        "StepStarted.run: expected RemoteRun or None, got str",
    ),
    (StepRestarted, {**M, "reason": None}, TypeError, "StepRestarted.reason: expected str, got NoneType"),
    (StepFailed, {**M, "error": "broke"}, TypeError, "StepFailed.error: expected ErrorInfo, got str"),
    (StepFailed, {**M, "error": ERROR, "usage": {}}, TypeError, "StepFailed.usage: expected Usage or None, got dict"),
    (TextEnded, {**M, "text": b""}, TypeError, "TextEnded.text: expected str, got bytes"),
    (TextEnded, {**M, "text": "", "complete": 1}, TypeError, "TextEnded.complete: expected bool, got int"),
    (TextEnded, {**M, "text": "", "citations": [1]}, TypeError, "citations[0]: expected a Citation, got int"),
    (TextEnded, {**M, "text": "", "citations": "x"}, TypeError, "citations: expected an iterable, got str"),
    (TextEnded, {**M, "text": "", "state": []}, TypeError, "state: expected a JSON object, got list"),
    (ToolCalled, {**C, "name": "n", "input": []}, TypeError, "input: expected a JSON object, got list"),
    (ToolCalled, {**C, "name": "", "input": {}}, ValueError, "ToolCalled.name: expected a non-empty string"),
    (ToolCalled, {**C, "call_id": 1, "name": "n", "input": {}}, TypeError, "ToolCalled.call_id: expected str, got int"),
    (
        ToolInputStarted,
        {**M, "call_id": "", "name": "n"},
        ValueError,
        "ToolInputStarted.call_id: expected a non-empty string",
    ),
    (ToolFailed, {**C, "error": None}, TypeError, "ToolFailed.error: expected ErrorInfo, got NoneType"),
    (
        CompactionStarted,
        {**M, "reason": "x"},
        ValueError,
        "CompactionStarted.reason: expected one of auto, manual; got 'x'",
    ),
    (
        StepEnded,
        {**M, "finish_reason": "done"},
        ValueError,
        "finish_reason: expected one of stop, length, tool-calls, content-filter, pause, other; got 'done'",
    ),
    (
        MediaEnded,
        {**M, "media_type": "a/b", "data": b"", "uri": "x:y"},
        ValueError,
        "MediaEnded: expected data or uri, not both",
    ),
    (
        MediaEnded,
        {**M, "media_type": "a/b"},
        ValueError,
        "MediaEnded: expected data or uri for a complete media item",
    ),
    (
        MediaEnded,
        {**M, "media_type": "a/b", "data": "x"},
        TypeError,
        "MediaEnded.data: expected bytes or None, got str",
    ),
    (MediaDelta, {**M, "offset": 0, "delta": "x"}, TypeError, "MediaDelta.delta: expected bytes, got str"),
    (
        ToolInputDelta,
        {**C, "call_id": "", "offset": 0, "delta": ""},
        ValueError,
        "ToolInputDelta.call_id: expected a non-empty string",
    ),
    (UnknownEvent, {"type": "", "version": 1}, ValueError, "UnknownEvent.type: expected a non-empty string"),
    (UnknownEvent, {"type": "x", "version": -1}, ValueError, "UnknownEvent.version: expected 0 or more, got -1"),
    (UnknownEvent, {"type": "x", "version": True}, TypeError, "UnknownEvent.version: expected int, got bool"),
]


@pytest.mark.parametrize(
    ("cls", "fields", "error", "text"), WRONG, ids=[f"{cls.__name__} {text}" for cls, _, _, text in WRONG]
)
def test_what_constructors_refuse(cls, fields, error, text):
    """
    A constructor that is given nonsense names what was wrong, what was expected and what came.
    """
    with pytest.raises(error) as refused:
        cls(**fields)

    assert text == str(refused.value)


@pytest.mark.parametrize("cls", DELTAS, ids=lambda cls: cls.type)
@pytest.mark.parametrize(
    ("fields", "error", "text"),
    [
        ({"offset": -1}, ValueError, "offset: expected 0 or more, got -1"),
        ({"offset": True}, TypeError, "offset: expected int, got bool"),
        ({"offset": 1.0}, TypeError, "offset: expected int, got float"),
        ({"delta": None}, TypeError, "delta: expected (str|bytes), got NoneType"),
    ],
    ids=["negative", "bool", "float", "none"],
)
def test_deltas_are_checked(cls, fields, error, text):
    """
    Constructors of deltas refuse invalid values.
    """
    delta = next(event for event in EVENTS if type(event) is cls)
    given = {field.name: getattr(delta, field.name) for field in attrs.fields(cls)}

    with pytest.raises(error, match=f"^{cls.__name__}.{text}$"):
        cls(**{**given, **fields})


# -- unknown events


@pytest.mark.parametrize(
    ("data", "message_id"),
    [({"message_id": "a1"}, "a1"), ({}, None), ({"message_id": 5}, None)],
    ids=["said", "unsaid", "odd"],
)
def test_message_of_an_unknown_event(data, message_id):
    """
    An unknown event belongs to the message that its document names, if any.
    """
    assert message_id == UnknownEvent(type="x", version=2, data=data).message_id


def test_unknown_events_are_durable():
    """
    What is not known is kept.
    """
    assert UnknownEvent.durable


# -- records

STARTED = TextStarted(message_id="a1")


@pytest.mark.parametrize("zone", [UTC, timezone.utc, timezone(timedelta(0), "GMT")], ids=["utc", "timezone", "gmt"])  # noqa: UP017
def test_moments_in_utc(zone):
    """
    A record has a moment in UTC, by whatever name.
    """
    assert NOON == Record(session_id="s", seq=1, at=NOON.replace(tzinfo=zone), event=STARTED).at


PLACE = {"session_id": "s", "seq": 1, "at": NOON, "event": STARTED}
WRONG_RECORDS = [
    ({"session_id": ""}, ValueError, "Record.session_id: expected a non-empty string"),
    ({"seq": 0}, ValueError, "Record.seq: expected 1 or more, got 0"),
    ({"seq": True}, TypeError, "Record.seq: expected int, got bool"),
    ({"seq": "1"}, TypeError, "Record.seq: expected int, got str"),
    ({"at": "now"}, TypeError, "Record.at: expected datetime, got str"),
    ({"at": NOON.replace(tzinfo=None)}, ValueError, "Record.at: expected a datetime in UTC"),
    ({"at": NOON.astimezone(timezone(timedelta(hours=1)))}, ValueError, "Record.at: expected a datetime in UTC"),
    ({"meta": []}, TypeError, "meta: expected a JSON object, got list"),
]


@pytest.mark.parametrize(
    ("fields", "error", "text"), WRONG_RECORDS, ids=[f"{at} {text}" for at, (*_, text) in enumerate(WRONG_RECORDS)]
)
def test_what_records_refuse(fields, error, text):
    """
    A record needs a session, a place, a moment in UTC.
    """
    with pytest.raises(error) as refused:
        Record(**{**PLACE, **fields})

    assert text == str(refused.value)


@pytest.mark.parametrize(
    "event", [TextDelta(message_id="a", offset=0, delta=""), {}, None], ids=["live", "dict", "nothing"]
)
def test_records_hold_durable_events(event):
    """
    A live event has no place in a log.
    """
    with pytest.raises(TypeError, match="event"):
        Record(**{**PLACE, "event": event})


def test_records_hold_unknown_events():
    """
    An event that is not known has its place like any other.
    """
    event = UnknownEvent(type="x", version=2)

    assert event is Record(**{**PLACE, "event": event}).event


def test_records_of_other_moments_differ():
    """
    The moment is part of a record.
    """
    assert Record(**PLACE) == Record(**{**PLACE, "at": datetime(2026, 1, 2, 12, 0, 0, 250, tzinfo=UTC)})
    assert Record(**PLACE) != Record(**{**PLACE, "at": NOON + timedelta(microseconds=1)})
