"""
What `reconcile` returns for each thing that a crash can leave open.
"""

import pytest

from assistant_events import (
    Awaits,
    CompactionFailed,
    ErrorInfo,
    MediaDelta,
    MediaEnded,
    MediaStarted,
    ReasoningEnded,
    ReasoningStarted,
    StepEnded,
    StepFailed,
    StepRestarted,
    StepStarted,
    TextEnded,
    TextStarted,
    ToolCalled,
    ToolFailed,
    ToolInputEnded,
    ToolInputStarted,
    fold,
    reconcile,
)
from assistant_events.testing import Call, answer, compaction, deltas, error, origin, prompt, run

A = {"message_id": "a1"}
C = {"message_id": "a1", "call_id": "c1"}
START = StepStarted(**A, origin=origin())
GONE = ErrorInfo(kind="interrupted", message="the process that wrote it is gone")
CUT = ErrorInfo(kind="interrupted", message="the stream stopped before its end")
ABANDONED = ErrorInfo(kind="interrupted", message="this call will not be answered")


def ends(events, **options):
    return reconcile(fold(events, strict=True), **options)


def test_a_step_that_streams_is_closed_where_it_stands():
    """
    Fragments end as incomplete with what came, calls fail, the step fails, in that order.
    """
    events = [
        START,
        ReasoningStarted(**A),
        *deltas("Hm", kind="reasoning"),
        TextStarted(**A),
        *deltas("Hel"),
        MediaStarted(**A, media_type="image/png"),
        MediaDelta(**A, offset=0, delta=b"\x89"),
        ToolInputStarted(**C, name="t"),
        *deltas('{"a', call_id="c1"),
    ]

    assert [
        ReasoningEnded(**A, text="Hm", complete=False),
        TextEnded(**A, text="Hel", complete=False),
        MediaEnded(**A, media_type="image/png", data=b"\x89", complete=False),
        ToolInputEnded(**C, text='{"a', complete=False),
        ToolFailed(**C, error=CUT),
        StepFailed(**A, error=GONE),
    ] == ends(events)


def test_from_the_log_alone_the_texts_are_empty():
    """
    A process that lost the deltas ends fragments with what it knows.
    """
    assert [TextEnded(**A, text="", complete=False), StepFailed(**A, error=GONE)] == ends([START, TextStarted(**A)])


def test_media_without_bytes_end_without_any():
    """
    Media without a delta have neither bytes nor a URI.
    """
    events = [START, MediaStarted(**A, media_type="image/png")]

    assert MediaEnded(**A, media_type="image/png", complete=False) == ends(events)[0]


def test_calls_of_a_closed_step_fail():
    """
    Every call that is not settled fails, of the app or the provider: calls of a failed step are not executed.
    """
    hosted = ToolCalled(message_id="a1", call_id="h1", name="t", input={}, provider_executed=True)
    events = [START, ToolCalled(**C, name="t", input={}), hosted]

    assert [
        ToolFailed(**C, error=CUT),
        ToolFailed(message_id="a1", call_id="h1", error=CUT, provider_executed=True),
        StepFailed(**A, error=GONE),
    ] == ends(events)


def test_a_run_that_can_be_resumed_stays():
    """
    A step whose run continues at the provider stays open, unless the run is abandoned.
    """
    events = [StepStarted(**A, origin=origin(), run=run(resumable=True))]

    abandoned = ends(events, abandon_runs=True)
    assert [] == ends(events)
    assert [StepFailed(**A, error=GONE, run=run(resumable=False))] == abandoned
    assert Awaits.USER is fold([*events, *abandoned]).awaits


@pytest.mark.parametrize("kind", ["interrupted", "aborted", "network", "timeout"])
def test_a_run_whose_stream_was_cut_stays(kind):
    """
    A step that was closed because its stream was cut can be resumed, unless its run is abandoned: then it fails once
    more with the same content and error, and nothing is left to resume.
    """
    cut = {"error": ErrorInfo(kind=kind, message="x"), "run": run(resumable=False)}
    said = [TextStarted(**A), TextEnded(**A, text="Hel", complete=False)]
    events = [
        StepStarted(**A, origin=origin(), run=run(resumable=True)),
        *said,
        StepFailed(**A, error=cut["error"]),
    ]

    abandoned = ends(events, abandon_runs=True)
    assert [] == ends(events)
    assert [
        StepRestarted(**A, reason="its run is abandoned", run=run(resumable=False)),
        *said,
        StepFailed(**A, **cut),
    ] == abandoned
    assert Awaits.USER is fold([*events, *abandoned]).awaits
    assert [] == ends([*events, *abandoned], abandon_runs=True)


def test_a_run_that_was_cut_behind_a_summary_that_runs():
    """
    Both are abandoned at once: the summary fails, and nothing is left to resume.
    """
    cut = [START, StepFailed(**A, error=CUT, run=run(resumable=True))]
    events = [*cut, *compaction()[:2]]
    abandoned = ends(events, abandon_runs=True)

    assert [CompactionFailed, StepRestarted, StepFailed] == [type(event) for event in abandoned]
    assert Awaits.USER is fold([*events, *abandoned]).awaits


def test_calls_that_a_pause_has_left_fail_with_their_run():
    """
    The next answer of the provider would bring their results; they stay unless that is abandoned.
    """
    called = ToolCalled(**C, name="search", input={}, provider_executed=True)
    events = [START, called, StepEnded(**A, finish_reason="pause")]

    assert [] == ends(events)
    assert [ToolFailed(**C, error=ABANDONED, provider_executed=True)] == ends(events, abandon_runs=True)


def test_a_run_that_cannot_be_resumed_is_closed():
    """
    A run that is only named does not keep a step open.
    """
    events = [StepStarted(**A, origin=origin(), run=run(resumable=False))]

    assert [StepFailed(**A, error=GONE)] == ends(events)


def test_calls_that_the_app_owes_stay():
    """
    Calls of a completed step are left to be answered, unless they are given up.
    """
    events = answer(calls=[Call("t", call_id="c1")])

    assert [] == ends(events)
    assert [ToolFailed(**C, error=ABANDONED)] == ends(events, abandon_calls=True)


def test_calls_of_a_failed_step_are_settled():
    """
    A call that a failed step left open is not to be run, and fails without being asked for.
    """
    events = [START, ToolCalled(**C, name="t", input={}), StepFailed(**A, error=error())]

    assert [ToolFailed(**C, error=ABANDONED)] == ends(events)


def test_a_compaction_that_runs_fails():
    """
    A summary without a writer has failed.
    """
    assert [CompactionFailed(message_id="c1", error=GONE)] == ends(compaction()[:2])


def test_what_is_over_needs_nothing():
    """
    Prompts, completed and failed steps, completed summaries: nothing to settle.
    """
    events = [prompt(), *answer("Hi"), *answer("Hi", message_id="a2", error=error()), *compaction()]

    assert [] == ends(events, abandon_calls=True, abandon_runs=True)


def test_all_messages_are_settled_at_once():
    """
    Steps that ran side by side are each closed.
    """
    events = [START, StepStarted(message_id="a2", origin=origin())]

    assert ["a1", "a2"] == [event.message_id for event in ends(events)]
