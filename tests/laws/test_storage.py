"""
Law 8 (round trip) and law 9 (state is verbatim) between events and JSON.
"""

import json

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant_events import (
    Event,
    Frame,
    JsonContent,
    MediaEnded,
    MediaStarted,
    OpaqueReceived,
    PromptSubmitted,
    Record,
    StepEnded,
    StepStarted,
    ToolCalled,
    ToolSuccess,
    Transcript,
    UnknownEvent,
    Usage,
    fold,
    thaw,
)
from assistant_events.adapters.gemini_interactions import dialect
from assistant_events.converters import dumps, loads, structure, unstructure
from assistant_events.errors import JsonError, StructureError
from assistant_events.events import DURABLE_EVENTS
from assistant_events.stores import MemoryStore, SqliteStore
from assistant_events.testing import origin, records
from assistant_events.testing.strategies import events, frames, states
from assistant_events.testing.strategies import records as any_records
from assistant_events.values import MAX_DEPTH, State, own, read_json, write_json
from tests.drawn import sessions

WITH_STATE = [cls for cls in DURABLE_EVENTS if "state" in {field.name for field in attrs.fields(cls)}]


def code_units(value):
    """
    Return JSON as something that compares strings unit for unit and keeps `1`, `1.0` and `True` apart.
    """
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass")
    if hasattr(value, "items"):
        return {code_units(key): code_units(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [code_units(item) for item in value]
    return (type(value), value)


@given(events())
def test_an_event_comes_back(event):
    """
    Writing and reading an event gives an equal one of the same class, and writing that gives the same bytes.
    """
    data = dumps(event)
    again = loads(data, Event)

    assert (type(event), event) == (type(again), again)
    assert data == dumps(again)


@given(events())
def test_an_event_comes_back_from_plain_json(event):
    """
    The plain form of an event is JSON and is read back as an equal event.
    """
    document = unstructure(event)

    assert event == structure(read_json(write_json(document)), Event)


@given(any_records())
def test_a_record_comes_back(record):
    """
    A record keeps its place, its time, its event and the app's own.
    """
    assert record == loads(dumps(record), Record)


@given(frames())
def test_a_frame_comes_back(frame):
    """
    A frame keeps its session, its place and its events.
    """
    assert frame == loads(dumps(frame), Frame) == structure(unstructure(frame), Frame)


@given(sessions())
def test_a_transcript_comes_back(session):
    """
    A snapshot is the transcript that was written, with its times, and folds on.
    """
    transcript = fold(records(session))
    again = loads(dumps(transcript), Transcript)

    assert transcript == again
    assert [message.times for message in transcript] == [message.times for message in again]


@given(sessions())
def test_a_log_that_was_written_folds_to_the_same(session):
    """
    Records that were written and read fold to what they folded to before.
    """
    log = records(session)

    assert fold(log) == fold([loads(dumps(record), Record) for record in log])


@given(events(UnknownEvent))
def test_an_unknown_event_is_written_back(event):
    """
    What a newer version wrote keeps every field.
    """
    assert thaw(event.data) == read_json(dumps(event))


@pytest.mark.parametrize("nested", [False, True])
@given(state=states(), data=st.data())
def test_state_is_verbatim(nested, state, data):
    """
    A state is the same after storage: strings unit for unit, other JSON as values.
    """
    given_state = {"inner": [state]} if nested else state
    event = attrs.evolve(data.draw(events(*WITH_STATE)), state=given_state)
    record = records([event])[0]

    assert code_units(given_state) == code_units(event.state)
    assert code_units(given_state) == code_units(loads(dumps(event), Event).state)
    assert code_units(given_state) == code_units(loads(dumps(record), Record).event.state)


def deep(levels):
    """
    Return JSON of so many levels, objects and arrays by turns; the outermost is an object.
    """
    value = "deepest"
    for level in range(levels, 0, -1):
        value = {"a": value} if level % 2 else [value]
    return value


def owned(levels):
    return own(deep(levels), State)


DEEPEST = {
    "state": lambda: OpaqueReceived(message_id="a1", state=deep(MAX_DEPTH)),
    "owned state": lambda: OpaqueReceived(message_id="a1", state=owned(MAX_DEPTH)),
    "input": lambda: ToolCalled(message_id="a1", call_id="c1", name="n", input=deep(MAX_DEPTH)),
    "JSON content": lambda: PromptSubmitted(message_id="u1", content=JsonContent(deep(MAX_DEPTH))),
    "output": lambda: ToolSuccess(message_id="a1", call_id="c1", output=JsonContent(deep(MAX_DEPTH))),
    "details": lambda: StepEnded(message_id="a1", finish_reason="stop", usage=Usage(details=deep(MAX_DEPTH))),
    "unknown field": lambda: OpaqueReceived(message_id="a1", extra=deep(MAX_DEPTH)),
    "unknown event": lambda: UnknownEvent(type="x", version=1, data={"type": "x", **deep(MAX_DEPTH)}),
    "event of a newer version": lambda: structure({"type": "x", "v": 1, "items": [deep(MAX_DEPTH + 5)]}, Event),
}


@pytest.mark.parametrize("make", DEEPEST.values(), ids=DEEPEST)
def test_what_can_be_made_can_be_read(make, tmp_path):
    """
    An event with a value of the greatest depth is read back by every converter and every store, alone and in a record.
    """
    event = make()
    record = records([event])[0]
    many = [event] * 200  # as many as are read in one pass

    assert event == loads(dumps(event), Event) == structure(unstructure(event), Event)
    assert record == loads(dumps(record), Record) == structure(unstructure(record), Record)
    with MemoryStore() as memory, SqliteStore(tmp_path / "s.db") as sqlite:
        for store in (memory, sqlite):
            store.append("s", many, meta=deep(MAX_DEPTH))
            assert many == [each.event for each in store.read("s")]
            assert deep(MAX_DEPTH) == thaw(next(store.read("s", 199)).meta)


def test_what_can_be_made_can_be_read_from_a_snapshot(tmp_path):
    """
    A transcript with values of the greatest depth in messages and parts is read back.
    """
    made = [DEEPEST[name]() for name in ("JSON content", "state", "input", "output", "details")]
    log = records([made[0], StepStarted(message_id="a1", origin=origin()), *made[1:]])
    transcript = fold(log, strict=True)

    assert transcript == loads(dumps(transcript), Transcript) == structure(unstructure(transcript), Transcript)
    with SqliteStore(tmp_path / "s.db") as store:
        store.append("s", [each.event for each in log])
        store.snapshot("s", transcript)
        assert transcript == store.load_snapshot("s")


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 2 * MAX_DEPTH, 2 * MAX_DEPTH + 1])
def test_what_could_not_be_read_cannot_be_made(levels):
    """
    JSON that nests deeper is refused where a value is made of it, by every way to make one.
    """
    with pytest.raises(TypeError, match="expected at most 200 levels, got more"):
        State(deep(levels))
    with pytest.raises(JsonError, match=r"^nested deeper than 200 levels$"):
        owned(levels)


def test_an_unknown_event_leaves_room_for_its_record():
    """
    An unknown event of such a depth that no record around it could be read is refused.
    """
    with pytest.raises(StructureError, match=r"expected at most 20\d levels, got more"):
        structure({"type": "x", "v": 1, "items": [deep(MAX_DEPTH + 6)]}, Event)


def step(**fields):
    return {"event_type": "step.start", "index": 0, "step": fields}


def deltas(*steps_and_deltas):
    first, *rest = steps_and_deltas
    return [step(**first), *[{"event_type": "step.delta", "index": 0, "delta": delta} for delta in rest]]


FRAMES = {
    "field of a step": lambda value: [step(type="thought", field=value)],
    "step of an unknown type": lambda value: [step(type="x", field=value)],
    "arguments": lambda value: [step(type="function_call", id="c", name="n", arguments=value)],
    "call without an id": lambda value: [step(type="function_call", name="n", arguments={}, field=value)],
    "medium": lambda value: [step(type="model_output", content=[{"type": "image", "uri": "a:b", "field": value}])],
    "delta of an unknown type": lambda value: deltas({"type": "model_output"}, {"type": "x", "field": value}),
    "delta of an unknown type to a call": lambda value: deltas(
        {"type": "function_call", "id": "c", "name": "n"}, {"type": "x", "field": value}
    ),
    "usage": lambda value: [
        {"event_type": "interaction.completed", "interaction": {"status": "completed", "usage": {"x": value}}}
    ],
}


@pytest.mark.parametrize("frames", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("levels", range(MAX_DEPTH - 8, MAX_DEPTH + 2))
def test_what_a_decoder_gives_can_be_read(frames, levels):
    """
    Whatever depth a frame has, the events that a decoder makes of it can be read.
    """
    decoder = dialect.decoder("a1")
    given = []
    for frame in [*frames(deep(levels)), {"event_type": "step.stop", "index": 0}]:
        given += decoder.feed(b"data: " + json.dumps(frame).encode() + b"\n\n")
    given += decoder.close()

    for event in given:
        assert event == loads(dumps(event), Event)


def alone(*events):
    return [[event] for event in events]


def media(size, number, data):
    yield [StepStarted(message_id="a1", origin=origin())]
    for at in range(number):
        yield [MediaStarted(message_id="a1", media_type="image/png")]
        yield [MediaEnded(message_id="a1", media_type="image/png", data=data(at) * size)]


def hosted_calls(number):
    yield [StepStarted(message_id="a1", origin=origin())]
    for at in range(number):
        yield [ToolCalled(message_id="a1", call_id=f"c{at}", name="t", input={}, provider_executed=True)]


ROOM = {
    "prompts": lambda n: alone(*[PromptSubmitted(message_id=f"u{at}", content="hi") for at in range(n)]),
    "steps that run": lambda n: alone(*[StepStarted(message_id=f"a{at}", origin=origin()) for at in range(n)]),
    "states of half a page": lambda n: alone(*[OpaqueReceived(message_id="a1", state={"s": "x" * 2100})] * n),
    "states of a page": lambda n: alone(*[OpaqueReceived(message_id="a1", state={"s": "x" * 4100})] * n),
    "calls that the provider runs": hosted_calls,
    "small media": lambda n: media(255, n, lambda at: b"x"),
    "equal media": lambda n: media(256, n, lambda at: b"x"),
    "different media": lambda n: media(64, n, lambda at: at.to_bytes(4, "big")),
    "large media": lambda n: media(1024, n, lambda at: at.to_bytes(4, "big")),
}


@pytest.mark.parametrize("make", ROOM.values(), ids=ROOM)
def test_a_store_takes_the_room_of_its_events(make):
    """
    A SQLite file takes at most twice the room of the JSON of its events, whatever they are and however many.
    """
    for number in (50, 500):
        with SqliteStore(":memory:") as store:
            written = 0
            for batch in make(number):
                written += sum(len(dumps(event)) for event in batch)
                store.append("s", batch)
            (pages,) = store._writer.execute("PRAGMA page_count").fetchone()

        assert 4096 * pages <= 2 * written + (1 << 17)
