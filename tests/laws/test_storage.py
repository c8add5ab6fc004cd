"""
Law 8 (round trip) and law 9 (state is verbatim) between events and JSON.
"""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant_events import DURABLE_EVENTS, Event, Record, Transcript, UnknownEvent, fold, thaw
from assistant_events.converters import dumps, loads, structure, unstructure
from assistant_events.testing import records
from assistant_events.testing.strategies import events, sessions, states
from assistant_events.testing.strategies import records as any_records
from assistant_events.values import read_json, write_json

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
