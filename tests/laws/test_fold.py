"""
Laws of the fold: 1, 2, 4, 5, 6 and 7 of the design, on legal sessions and on broken ones.
"""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant_events import Frame, Record, ToolPart, Transcript, find_problems, fold, reduce
from assistant_events.messages import PartStatus
from assistant_events.reducer import Builder
from assistant_events.testing import durable, records
from assistant_events.testing.strategies import loose_events, recut
from tests.drawn import broken_sessions, sessions

ANY_ORDER = st.one_of(sessions(), broken_sessions(), loose_events())


def when(transcript):
    """
    Everything that `==` leaves out: the times of messages and parts.
    """
    return [(message.times, [part.times for part in getattr(message, "parts", ())]) for message in transcript.messages]


def assert_same(expected, actual):
    assert expected == actual
    assert when(expected) == when(actual)


def is_settled(transcript):
    """
    Return whether nothing streams and no call shows progress.
    """
    for message in transcript.messages:
        if message.type == "compaction" and message.status == "running":
            return False
        for part in getattr(message, "parts", ()):
            if PartStatus.STREAMING in (part.status, getattr(part, "input_status", None)):
                return False
            if isinstance(part, ToolPart) and not part.settled and part.output:
                return False
    return True


def as_log(events):
    """
    Return the events as a session keeps them: records for durable ones, live ones between them.
    """
    numbered = iter(records(events))
    return [next(numbered) if event.durable else event for event in events]


@given(sessions(settled=True))
def test_durable_events_suffice(events):
    """
    Once everything has ended, the durable events fold to the transcript of all events.
    """
    assert fold(events) == fold(durable(events))


@given(sessions(), st.data())
def test_durable_events_suffice_wherever_nothing_streams(events, data):
    """
    At any moment at which no fragment is open and no call shows progress, the durable events so far are enough.
    """
    start = events[: data.draw(st.integers(0, len(events)))]
    whole = fold(start)

    assert not is_settled(whole) or whole == fold(durable(start))


@given(sessions(), st.data())
def test_cutting_deltas_elsewhere_changes_nothing(events, data):
    """
    Any re-cutting of deltas gives the same transcript, and a legal log.
    """
    again = data.draw(recut(events))

    assert_same(fold(events), fold(again))
    assert [] == find_problems(again)


@given(sessions())
def test_a_legal_session_has_no_problems(events):
    """
    What recorders and `reconcile` give is in order, live or stored.
    """
    assert [] == find_problems(events)
    assert [] == find_problems(records(events))
    fold(events, strict=True)


@given(ANY_ORDER, st.data())
def test_fold_is_a_fold(events, data):
    """
    A fold continues the result of another one, wherever the events are cut, and reports the same problems.
    """
    log = as_log(events)
    at = data.draw(st.integers(0, len(log)))
    start = fold(log[:at])

    assert_same(fold(log), fold(log[at:], start=start))
    assert find_problems(log)[len(find_problems(log[:at])) :] == [
        type(problem)(position=problem.position + at, item=problem.item, outcome=problem.outcome)
        for problem in find_problems(log[at:], start=start)
    ]


@given(sessions())
def test_a_snapshot_at_any_record_and_the_rest_equal_the_whole(events):
    """
    For every record of a log: the transcript up to it, and the records after it, give the transcript of the whole.
    """
    log = records(events)
    whole = fold(log)

    for at in range(len(log) + 1):
        assert_same(whole, fold(log[at:], start=fold(log[:at])))


@given(ANY_ORDER)
def test_the_builder_equals_one_reduce_after_another(events):
    """
    `extend`, with all and with one at a time, `apply` and `reduce` give the same transcript and the same outcomes.
    """
    log = as_log(events)
    extended, singly, applied, transcript = Builder(), Builder(), Builder(), Transcript()
    extended.extend(log)
    for item in log:
        singly.extend([item])
    outcomes = [applied.apply(item) for item in log]
    plain = []
    for item in log:
        transcript, outcome = reduce(transcript, item)
        plain.append(outcome)

    assert plain == outcomes
    assert_same(transcript, extended.transcript)
    assert_same(transcript, singly.transcript)
    assert_same(transcript, applied.transcript)


@given(ANY_ORDER, st.data())
def test_looking_at_the_builder_changes_nothing(events, data):
    """
    A transcript taken from the builder in between, by any pattern, leaves the rest as it would be.
    """
    looked = Builder()
    for event in events:
        looked.extend([event])
        if data.draw(st.booleans()):
            assert looked.transcript == looked.transcript

    assert fold(events) == looked.transcript


@given(ANY_ORDER)
def test_only_applied_events_change_anything(events):
    """
    Every outcome but `applied` leaves the transcript equal.
    """
    transcript = Transcript()
    for event in events:
        after, outcome = reduce(transcript, event)
        assert outcome == "applied" or transcript == after
        transcript = after


@given(ANY_ORDER)
def test_nothing_is_mutated(events):
    """
    Events and every transcript on the way are the same after everything that followed.
    """
    log = as_log(events)
    transcripts, builder = [Transcript()], Builder()
    for item in log:
        builder.apply(item)
        transcripts.append(builder.transcript)
        transcripts.append(reduce(transcripts[-1], item).transcript)
    before = pickle.dumps((log, transcripts))
    for transcript in transcripts:
        fold(log, start=transcript)
    builder.extend(log)

    assert before == pickle.dumps((log, transcripts))


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
@given(events=sessions())
def test_events_and_transcripts_survive_pickling(protocol, events):
    """
    A pickled copy is equal, hashes the same and folds on.
    """
    log = as_log(events)
    transcript = fold(log)
    copy_of_log, copy = pickle.loads(pickle.dumps((log, transcript), protocol))

    assert (log, transcript) == (copy_of_log, copy)
    assert (hash(tuple(log)), hash(transcript)) == (hash(tuple(copy_of_log)), hash(copy))
    assert_same(transcript, fold(copy_of_log))


@given(ANY_ORDER, st.data())
def test_records_again_change_nothing(events, data):
    """
    Any stretch of records that is delivered once more, at once or later, is `duplicate` throughout.
    """
    log = as_log(events)
    at = data.draw(st.integers(0, len(log)))
    again = [item for item in log[data.draw(st.integers(0, at)) : at] if isinstance(item, Record)]
    start = fold(log[:at])

    assert {"duplicate"} >= {problem.outcome for problem in find_problems(again, start=start)}
    assert len(again) == len(find_problems(again, start=start))
    assert_same(fold(log), fold([*log[:at], *again, *log[at:]]))


@given(sessions())
def test_deltas_again_change_nothing_while_their_fragment_is_open(events):
    """
    All deltas of the fragments that are open, delivered once more after each event, are `duplicate`.
    """
    builder, seen = Builder(), []
    for event in events:
        builder.apply(event)
        if event.type.endswith(".delta"):
            seen.append(event)
        elif event.type in {"history.rewound", "step.restarted"} or event.type.endswith(".started"):
            seen = []
        elif event.type.endswith(".ended") or event.type == "compaction.failed":
            seen = [delta for delta in seen if delta.type.rpartition(".")[0] != event.type.rpartition(".")[0]]
        before = builder.transcript
        outcomes = {builder.apply(delta) for delta in seen}

        assert outcomes <= {"duplicate"}
        assert before == builder.transcript


@given(sessions())
def test_terminals_again_are_duplicates(events):
    """
    The end of a fragment, call, step or compaction that comes again at once is `duplicate`.
    """
    builder = Builder()
    for event in events:
        builder.apply(event)
        terminal = event.durable and event.type.rpartition(".")[2] in {"ended", "success", "failed", "called"}

        assert not terminal or builder.apply(event) == "duplicate"


@given(ANY_ORDER, st.data())
def test_frames_again_change_nothing(events, data):
    """
    Deltas with their `after` change nothing when they come again, also in later fragments of the same kind.
    """
    builder, seq, seen = Builder(), 0, []
    for item in as_log(events):
        if isinstance(item, Record):
            builder.apply(item)
            seq = item.seq
        else:
            frame = Frame(session_id="s1", after=seq, events=[item])
            if builder.apply(frame) == "applied" and item.type.endswith(".delta"):
                seen.append(frame)
        before = builder.transcript
        again = data.draw(st.lists(st.sampled_from(seen), max_size=3)) if seen else []

        assert "applied" not in {builder.apply(frame) for frame in again}
        assert before == builder.transcript
    assert_same(fold(as_log(events)), builder.transcript)
