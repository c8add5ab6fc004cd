"""
The fold in JavaScript equals ours: on drawn sessions, on recordings, and after whatever a channel may do to them.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant_events import fold
from assistant_events.reducer import Builder
from assistant_events.testing.strategies import loose_events, recut
from scripts import browser_module
from tests.corpus import bodies, corpus_folder
from tests.corpus.recordings import ENDS, answers
from tests.drawn import THOROUGH, broken_sessions, sessions
from tests.outward.vectors import (
    as_log,
    bare,
    canonical,
    damaged,
    document_of,
    expected,
    in_units,
    overlapping,
    prepared,
    probes,
    written,
)


def assert_equal(expected, found):
    document, outcomes = expected
    transcript, reported = found

    assert outcomes == reported
    assert canonical(document) == canonical(transcript)


@pytest.mark.parametrize("path", browser_module.FILES, ids=lambda path: path.name)
def test_generated_parts_are_current(path):
    """
    The tables and types are those of the lifecycle and the catalogue; `make pages` writes them.
    """
    source = path.read_text("utf-8")

    assert "// generated: " in source
    assert source == browser_module.fill(source)


@given(sessions())
def test_sessions(folded, events):
    """
    A log of records and live events gives the same transcript and outcomes, and so do the events without their places.
    """
    events = prepared(events)

    for log in (events, as_log(events), as_log(events, framed=True)):
        assert_equal(expected(log), folded(written(log)))


@given(st.one_of(broken_sessions(), loose_events()))
def test_any_order(folded, events):
    """
    Events that are lost, doubled, swapped and made up have the same outcomes and change the same.
    """
    events = prepared(events, narrow=True)

    for log in (events, as_log(events)):
        assert_equal(expected(log), folded(bare(log)))


@given(sessions(), st.data())
def test_a_bad_channel(folded, events, data):
    """
    Records and frames that are lost, doubled and swapped: their places show where they belong, for any characters.
    """
    log = as_log(prepared(events), framed=True)
    pairs = data.draw(damaged([*zip(log, written(log), strict=True)]))

    assert_equal(expected([item for item, _ in pairs]), folded([document for _, document in pairs]))


@given(sessions())
def test_every_event_in_every_phase(probed, events):
    """
    At any place of a session, each of its events again and each event that an app or a provider may send has the same
    outcome and changes its message in the same way.
    """
    events = prepared(events, narrow=True)
    step = 1 if THOROUGH else 1 + len(events) // 5

    for at in range(0, len(events) + 1, step):
        start = fold(events[:at])
        items = [*events[:: 1 if THOROUGH else 3], *probes(start)]
        expected = []
        for item in items:
            builder = Builder(start)
            outcome = builder.apply(item).value
            message = builder.transcript.get(item.message_id)
            expected.append([outcome, None if message is None else bare([message])[0]])

        found = probed(bare(items), document_of(start))

        assert [outcome for outcome, _ in expected] == [outcome for outcome, _ in found]
        assert canonical(expected) == canonical(found)


@given(sessions())
def test_late_join_at_every_place(folded, events):
    """
    A reader that gets a snapshot at any place, and the rest after it, has what the others have.
    """
    log = as_log(prepared(events), framed=True)
    whole = document_of(fold(log))
    step = 1 if THOROUGH else 1 + len(log) // 25

    for at in range(0, len(log) + 1, step):
        start = fold(log[:at])
        snapshot = {"type": "snapshot", **document_of(start)}
        for documents, begin in (
            ([snapshot, *written(log[at:], start)], None),
            (written(log[at:], start), document_of(start)),
        ):
            transcript, outcomes = folded(documents, begin)

            assert {*outcomes} <= {"applied"} | {*expected(log)[1]}
            assert canonical(whole) == canonical(transcript)


@given(sessions(), st.data())
def test_deltas_cut_elsewhere(folded, events, data):
    """
    Deltas that are cut at other places, and inside of surrogate pairs, give the same.
    """
    events = prepared(events)
    again = overlapping(events)
    whole = canonical(document_of(fold(events)))

    assert whole == canonical(folded(written(data.draw(recut(events))))[0])
    assert whole == canonical(folded(in_units(written(events)))[0])
    assert whole == canonical(document_of(fold(again)))
    assert_equal(expected(again), folded(written(again)))


@pytest.mark.parametrize("dialect", [*ENDS, "gemini-interactions"])
def test_recordings(folded, dialect):
    """
    Every recorded answer gives the same, streams and documents.
    """
    for events in recorded(dialect):
        log = as_log(prepared(events), framed=True)

        assert_equal(expected(log), folded(written(log)))


def recorded(dialect):
    """
    Yield the events of every recorded answer of a dialect.
    """
    if corpus_folder() is None:
        pytest.skip("no recorded bodies in ../shared/corpus")
    if dialect in ENDS:
        for answer in answers(dialect).values():
            yield answer.events()
        return
    for file in bodies.STREAMS:
        decoder = bodies.DIALECT.decoder("a1")
        yield decoder.feed(bodies.stream_of(file)) + decoder.close()
    for file in bodies.RESOURCES:
        yield bodies.DIALECT.decode_resource(json.loads(bodies.body_of(file)), "a1")
