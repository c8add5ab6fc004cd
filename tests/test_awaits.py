"""
Whose move it is in a session, and the messages, calls and runs behind it.
"""

import pytest

from assistant_events import (
    Awaits,
    ErrorKind,
    StepFailed,
    StepRestarted,
    StepStarted,
    ToolApprovalRequested,
    ToolApproved,
    ToolFailed,
    ToolStarted,
    ToolSuccess,
    Transcript,
    fold,
)
from assistant_events.events import CompactionFailed, CompactionStarted
from assistant_events.messages import Unfinished
from assistant_events.reducer import reconcile
from assistant_events.testing import Call, answer, compaction, error, origin, prompt, rewind, run

CALL = Call("look", {}, call_id="c1")
DONE = Call("look", {}, call_id="c1", output="ok")
INVALID = Call("look", "{", call_id="c1")
HOSTED = Call("look", {}, call_id="c1", output="ok", provider_executed=True)
RUN = run("r1")


def failed(kind="interrupted", **fields):
    """
    A failed step.
    """
    return answer("Hel", error=error(kind), **{"run": RUN, **fields})


def running(message_id="a1", run=None):
    """
    The first event of a step.
    """
    return StepStarted(message_id=message_id, origin=origin(), run=run)


def answered(call):
    """
    The result of a call of the app.
    """
    return ToolSuccess(message_id="a1", call_id=call.call_id, output="ok")


def waits(message_id, awaits, **fields):
    return Unfinished(message_id=message_id, awaits=awaits, **fields)


STARTED = ToolStarted(message_id="a1", call_id="c1", attempt=1)
ASKED = ToolApprovalRequested(message_id="a1", call_id="c1")
APPROVED = ToolApproved(message_id="a1", call_id="c1")
CALLING = [running(run=RUN), *answer(calls=[CALL])[1:-1]]
"""A step that is not over, with a call."""

UNKNOWN_C1 = [waits("a1", "tools", call_id="c1", is_outcome_unknown=True)]
COMPACTING = CompactionStarted(message_id="s1", reason="auto")
COMPACTION_FAILED = CompactionFailed(message_id="s1", error=error())

MODEL_U1 = [waits("u1", "model")]
MODEL_A1 = [waits("a1", "model")]
TOOLS_C1 = [waits("a1", "tools", call_id="c1")]
CUT_A1 = [waits("a1", "provider", run=RUN)]

CASES = {
    # rule 1
    "a running step": ([prompt(), running()], [waits("a1", "provider")]),
    "a running step with a run": ([prompt(), running(run=RUN)], CUT_A1),
    "a running step before a prompt": ([running(), prompt()], [waits("a1", "provider")]),
    "a running step with a call": ([running(), *answer(calls=[CALL])[1:-1]], [waits("a1", "provider")]),
    "two running messages": (
        [running("a1", RUN), prompt(), COMPACTING, running("a2")],
        [waits("a1", "provider", run=RUN), waits("s1", "provider"), waits("a2", "provider")],
    ),
    "a running compaction after an open call": ([*answer(calls=[CALL]), COMPACTING], [waits("s1", "provider")]),
    "a restarted step": (
        [*failed(), StepRestarted(message_id="a1", reason="again")],
        [waits("a1", "provider", run=RUN)],
    ),
    "a running step with a started call": (
        [prompt(), *CALLING, STARTED],
        [*CUT_A1, waits("a1", "provider", call_id="c1", is_outcome_unknown=True)],
    ),
    "a running step with an answered call": ([*CALLING, STARTED, answered(CALL)], CUT_A1),
    "a running step with a call that waits for approval": ([*CALLING, ASKED], CUT_A1),
    # rule 2
    "a call that waits for approval": ([*answer(calls=[CALL]), ASKED], TOOLS_C1),
    "a call that is approved": ([*answer(calls=[CALL]), ASKED, APPROVED], TOOLS_C1),
    "a started call": ([*answer(calls=[CALL]), STARTED], UNKNOWN_C1),
    "a started call before a prompt": ([*answer(calls=[CALL]), APPROVED, STARTED, prompt()], UNKNOWN_C1),
    "a started call beside another": (
        [*answer(calls=[CALL, Call("look", {}, call_id="c2")]), STARTED],
        [*UNKNOWN_C1, waits("a1", "tools", call_id="c2")],
    ),
    "a call without a result": (answer(calls=[CALL]), TOOLS_C1),
    "a call without a result before a prompt": ([*answer(calls=[CALL]), prompt()], TOOLS_C1),
    "a call without a result before a compaction": ([*answer(calls=[CALL]), *compaction()], TOOLS_C1),
    "a call without a result in a paused step": (answer(calls=[CALL], finish_reason="pause"), TOOLS_C1),
    "two of three calls without a result": (
        answer(calls=[CALL, Call("look", {}, call_id="c2", output=1), Call("look", {}, call_id="c3")]),
        [*TOOLS_C1, waits("a1", "tools", call_id="c3")],
    ),
    "a call without a result in an older message": (
        [*answer(calls=[CALL]), prompt(), *answer("Hi", message_id="a2")],
        [],
    ),
    # rule 3
    "a prompt": ([prompt()], MODEL_U1),
    "a prompt after an answer": ([*answer("Hi"), prompt()], MODEL_U1),
    "a prompt after a failed call of the model": ([*failed(calls=[CALL]), prompt()], MODEL_U1),
    "a prompt after a cut run": ([*failed(), prompt()], MODEL_U1),
    "a prompt before a compaction": ([prompt(), *compaction()], MODEL_U1),
    "a prompt before a failed compaction": ([prompt(), COMPACTING, COMPACTION_FAILED], MODEL_U1),
    "a prompt whose answer was rewound": ([prompt(), *answer("Hi"), rewind("a1")], MODEL_U1),
    # rule 4
    "a started call with a result": ([*answer(calls=[CALL]), STARTED, answered(CALL)], MODEL_A1),
    "a denied call": (
        [*answer(calls=[CALL]), ASKED, ToolFailed(message_id="a1", call_id="c1", error=error("tool-denied"))],
        MODEL_A1,
    ),
    "a call with a result": (answer(calls=[DONE]), MODEL_A1),
    "a call with a result before a compaction": ([*answer(calls=[DONE]), *compaction()], MODEL_A1),
    "a failed call": (answer(calls=[Call("look", {}, call_id="c1", error=error("tool"))]), MODEL_A1),
    "a call that was given up": (answer(calls=[Call("look", {}, call_id="c1", error=error("interrupted"))]), MODEL_A1),
    "a call with invalid input": (answer(calls=[INVALID]), MODEL_A1),
    "a call with invalid input in a step that ended with stop": (
        answer(calls=[INVALID], finish_reason="stop"),
        MODEL_A1,
    ),
    "a paused step": (answer("Hi", finish_reason="pause"), MODEL_A1),
    # rule 5
    **{
        f"a resumable run, {kind.value}": (failed(kind), CUT_A1)
        for kind in ErrorKind
        if kind in {"interrupted", "aborted", "network", "timeout"}
    },
    "a resumable run before a compaction": ([*failed(), *compaction()], CUT_A1),
    # rule 6
    **{
        f"a resumable run, {kind.value}": (failed(kind), [])
        for kind in ErrorKind
        if kind not in {"interrupted", "aborted", "network", "timeout"}
    },
    "a failed step without a run": (failed(run=None), []),
    "a failed step with a run that cannot be resumed": (failed(run=run(resumable=False)), []),
    "a failed step with a started call": ([*CALLING, STARTED, StepFailed(message_id="a1", error=error())], []),
    "a failed step with a call": (failed("provider", calls=[CALL]), []),
    "a failed step with a call that has a result": (failed("provider", calls=[DONE]), []),
    "nothing": ([], []),
    "an answer": ([prompt(), *answer("Hi")], []),
    "an answer that was cut off at its limit": ([prompt(), *answer("Hi", finish_reason="length")], []),
    "a call that the provider ran": (answer("Hi", calls=[HOSTED]), []),
    "a compaction": (compaction(), []),
    "everything was rewound": ([prompt(), running(), rewind("u1")], []),
    "an answer before one that was rewound": ([*answer("Hi"), prompt(), running("a2"), rewind("u1")], []),
}


@pytest.mark.parametrize(("events", "expected"), CASES.values(), ids=CASES)
def test_unfinished(events, expected):
    """
    The first rule that applies decides, and names the messages, calls and runs that it is based on.
    """
    transcript = fold(events, strict=True)

    assert tuple(expected) == transcript.unfinished()
    assert (expected[0].awaits if expected else Awaits.USER) is transcript.awaits


def test_the_results_of_calls_lead_back_to_the_model():
    """
    While the app answers two calls, the session waits for the open one, and then for the model.
    """
    transcript = fold(answer(calls=[CALL, Call("look", {}, call_id="c2")]))
    first, second = transcript.pending_tool_calls

    assert ["c1", "c2"] == [left.call_id for left in transcript.unfinished()]
    transcript = fold([first.succeed("ok")], start=transcript)
    assert ["c2"] == [left.call_id for left in transcript.unfinished()]
    transcript = fold([second.fail("no")], start=transcript)
    assert Awaits.MODEL is transcript.awaits


def test_given_up_calls_do_not_wait_any_more():
    """
    Calls that are given up have a result, which the model gets with the next request.
    """
    transcript = fold(answer(calls=[CALL]))

    assert Awaits.MODEL is fold(reconcile(transcript, abandon_calls=True), start=transcript).awaits


def test_an_empty_transcript_awaits_its_user():
    """
    Nothing is unfinished before the first prompt.
    """
    assert (Awaits.USER, ()) == (Transcript().awaits, Transcript().unfinished())
