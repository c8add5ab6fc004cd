"""
The texts of errors, and that they survive a pickle.
"""

import pickle

import pytest

from assistant_events import AssistantEventsError
from assistant_events.errors import (
    AdapterError,
    ClaimedError,
    ConflictError,
    FencedError,
    FixtureError,
    JsonError,
    LocalProtocolError,
    OwnerError,
    PrunedError,
    RemoteProtocolError,
    StoreError,
    StructureError,
    UnknownDialectError,
)

TEXTS = {
    "local": (LocalProtocolError("text.ended is not allowed"), "text.ended is not allowed"),
    "remote": (RemoteProtocolError("overloaded", "try later"), "overloaded: try later"),
    "json": (JsonError("no UTF-8 at byte 3"), "no UTF-8 at byte 3"),
    "structure": (StructureError("$.usage.input_tokens", "int", "str"), "$.usage.input_tokens: expected int, got str"),
    "dialect": (UnknownDialectError("x", ("a", "b")), "unknown dialect 'x'; installed: a, b"),
    "no mock": (
        UnknownDialectError("x", ("a", "b"), "mock"),
        "no mock of dialect 'x'; installed mocks: a, b",
    ),
    "no dialect": (UnknownDialectError("x", ()), "unknown dialect 'x'; installed: none"),
    "adapter": (AdapterError("x", "it does not load"), "adapter 'x': it does not load"),
    "fixture": (
        FixtureError("weather.json", "fixtures[1] 'rain'", "answer.text", "expected a string, got the number 5"),
        "weather.json: fixtures[1] 'rain': answer.text: expected a string, got the number 5",
    ),
    "fixture file": (FixtureError("weather.json", "", "", "the file is empty"), "weather.json: the file is empty"),
    "fixtures": (
        FixtureError("a.json", "", "version", "is missing", (FixtureError("b.json", "", "", "is empty"),)),
        "a.json: version: is missing\nb.json: is empty",
    ),
    "store": (StoreError("the disk is full"), "the disk is full"),
    "conflict": (
        ConflictError("s1", 3, 5),
        "session 's1': expected seq 3, store holds 5; read the new records and try again",
    ),
    "pruned": (
        PrunedError("s1", 2, 7),
        "session 's1': records up to seq 7 are pruned, cannot read after 2; start from the snapshot",
    ),
    "claimed": (
        ClaimedError("s1", "w2"),
        "session 's1' is claimed by worker 'w2'; it can be claimed once it is released, or its worker has died",
    ),
    "owner": (
        OwnerError("s1"),
        "session 's1': it was created with another owner, or without one; the owner never changes",
    ),
    "fenced": (
        FencedError("s1", 3),
        "session 's1': token 3 is not that of the current claim; the claim was released, or another worker has taken the session over",  # noqa: E501 - one text
    ),
}


@pytest.mark.parametrize(("error", "text"), TEXTS.values(), ids=TEXTS.keys())
def test_texts(error, text):
    """
    Lower case, no full stop: what, where, what was expected, and the remedy where there is one.
    """
    assert text == str(error)
    assert isinstance(error, AssistantEventsError)


@pytest.mark.parametrize("error", [error for error, _ in TEXTS.values()], ids=TEXTS.keys())
def test_pickled(error):
    """
    An error that crosses a process keeps its text and its data.
    """
    again = pickle.loads(pickle.dumps(error))

    assert type(error) is type(again)
    assert str(error) == str(again)
    assert repr(vars(error)) == repr(vars(again))
