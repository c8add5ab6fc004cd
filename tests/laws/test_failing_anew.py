"""
A message whose stream was cut and whose run turns out to be gone: it fails again, with the same content.
"""

import attrs
from hypothesis import given
from hypothesis import strategies as st

from assistant_events import (
    Citation,
    MediaEnded,
    MediaStarted,
    MessageStatus,
    StepFailed,
    TextEnded,
    TextStarted,
    ToolApprovalRequested,
    ToolApproved,
    ToolCalled,
    ToolFailed,
    ToolStarted,
    ToolSuccess,
    Usage,
    find_problems,
    fold,
)
from assistant_events.messages import close_message, fail_again
from assistant_events.testing import Call, answer, durable, error, message, run
from assistant_events.testing.strategies import Verb, steps
from tests.each import check_each

from .test_rejoin import performed

GONE = error("not-found", "the provider has no such run")
FAILURE = {
    "error": error("interrupted"),
    "usage": Usage(input_tokens=3, output_tokens=1),
    "run": run(),
    "details": {"refusal": "none"},
    "state": {"token": "dA=="},
}


def failed_steps():
    """
    Steps that failed somewhere.
    """
    return steps().map(lambda chosen: [*chosen[:-1], Verb("fail", FAILURE)])


@given(failed_steps(), st.booleans())
def test_everything_is_said_again(chosen, live):
    """
    Parts, usage, details and state are the same, the error is the new one, and the run cannot be resumed.
    """
    events = performed(chosen)
    before = fold(events if live else durable(events))
    again = fail_again(before["m1"], GONE, "the run is gone")
    after = fold(again, start=before)["m1"]
    answered = any(call.answered for call in before["m1"].tool_calls)

    assert [] == find_problems(again, start=before)
    assert bool(again) is not answered
    assert before["m1"].parts == after.parts
    assert (before["m1"].usage, before["m1"].details, before["m1"].state) == (after.usage, after.details, after.state)
    if not answered:
        assert MessageStatus.FAILED is after.status
        assert GONE == after.error
        assert after.run is not None
        assert not after.run.resumable


def test_only_what_failed_fails_anew():
    """
    A message that completed stays as it is, and so does one with a call that the app has started or answered.
    """
    whole = answer("Hi")
    running = answer(calls=[Call("add", {"x": 1}, output="2")])
    answered = [*running[:-2], running[-1], StepFailed(message_id="a1", error=error())]

    started = [*running[:-2], ToolStarted(message_id="a1", call_id="call-1", attempt=1), *answered[-1:]]

    assert [] == fail_again(message(whole), GONE, "gone")
    assert [] == fail_again(message(answered), GONE, "gone")
    assert 1 == message(started).tool_calls[0].attempt
    assert [] == fail_again(message(started), GONE, "gone")


def test_an_approval_is_said_again():
    """
    Whether a person was asked about a call, and what they answered, is there afterwards.
    """
    *begun, _ = answer(calls=[Call("add", {"x": 1})])
    about = {"message_id": "a1", "call_id": "call-1"}

    def check(*acts):
        running = fold([*begun, *acts], strict=True)
        before = fold(close_message(running["a1"], error("interrupted")), start=running)
        again = fail_again(before["a1"], GONE, "gone")

        assert [] == find_problems(again, start=before)
        assert before["a1"].parts == fold(again, start=before)["a1"].parts

    asked = ToolApprovalRequested(reason="It deletes files.", **about)
    check_each(
        {
            "asked": asked,
            "asked without a reason": ToolApprovalRequested(**about),
            "asked and approved": (asked, ToolApproved(**about)),
            "approved unasked": ToolApproved(**about),
            "asked, and the provider answers": (asked, ToolSuccess(output="2", provider_executed=True, **about)),
        },
        check,
    )


def test_what_is_rare_is_said_again():
    """
    Citations and facts of a text, the address of an image, and what a tool gave before it failed.
    """
    about = {"message_id": "a1"}
    call = {"call_id": "call-1", **about}
    before = fold(
        [
            answer()[0],
            TextStarted(**about),
            TextEnded(
                text="It rains.", citations=[Citation(url="https://a.test", start=0, end=2)], details={"a": 1}, **about
            ),
            MediaStarted(media_type="image/png", **about),
            MediaEnded(media_type="image/png", uri="https://a.test/1.png", **about),
            ToolCalled(name="search", input={}, provider_executed=True, **call),
            ToolFailed(error=error("tool"), output="half of it", provider_executed=True, **call),
            StepFailed(error=error("interrupted"), **about),
        ],
        strict=True,
    )
    after = fold(fail_again(before["a1"], GONE, "gone"), start=before)["a1"]

    assert GONE == after.error
    assert before["a1"].parts == after.parts


def test_a_result_of_the_provider_is_said_again():
    """
    What a tool of the provider gave before the cut is there afterwards, with its state and its details.
    """
    search = Call("search", {"q": "x"}, output="found", provider_executed=True, result_state={"signature": "c2ln"})
    events = answer("It says", calls=[search], error=error("interrupted"))
    before = fold(
        [attrs.evolve(each, details={"pages": 3}) if each.type == "tool.success" else each for each in events]
    )
    after = fold(fail_again(before["a1"], GONE, "gone"), start=before)["a1"]

    assert before["a1"].parts == after.parts
    assert {"signature": "c2ln"} == after.tool_calls[0].result_state
    assert {"pages": 3} == after.tool_calls[0].details
    assert GONE == after.error
