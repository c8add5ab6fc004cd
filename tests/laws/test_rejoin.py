"""
Law 13 at the recorder: a step that was cut and rejoined folds to the transcript of one that never was.
"""

from hypothesis import given
from hypothesis import strategies as st

from assistant_events import MessageStatus, StepEnded, find_problems, fold, reconcile
from assistant_events.recorder import Recorder
from assistant_events.testing import durable, error
from assistant_events.testing.strategies import Verb, steps, verbs


def performed(chosen, prior=None):
    """
    Return what comes out of a recorder for these verbs.
    """
    recorder = Recorder("m1", prior=prior)
    return [event for verb in chosen for event in verb.attempt(recorder)]


def rejoined(chosen, start):
    """
    Return the transcript after a replay of *chosen* on what *start* holds, having checked that all of it is legal.
    """
    events = performed(chosen, start["m1"])

    assert [] == find_problems(events, start=start)
    return fold(events, start=start)


def settled(transcript):
    """
    Return the transcript without progress, which is live: what the app owes an answer to is given up.
    """
    return fold(reconcile(transcript, abandon_calls=True, abandon_runs=True), start=transcript)


def cuts(events):
    """
    Yield the transcript after each event, once from all events and once from those that a log keeps.

    An input that the provider ended as incomplete fails its call at once: a log has both events or none.
    """
    for cut in range(1, len(events) + 1):
        last = events[cut - 1]
        if last.type == "tool.input.ended" and not last.complete and cut < len(events):
            continue
        yield fold(events[:cut])
        yield fold(durable(events[:cut]))


def has_answer(call):
    """
    Return whether a call was answered; a cut is not an answer.
    """
    return call.settled and (call.error is None or call.error.kind != "interrupted")


def assert_nothing_is_less(before, after):
    """
    Check that every part of a message is still there and has at least as much as it had.
    """
    assert len(before.parts) <= len(after.parts)
    for part, later in zip(before.parts, after.parts, strict=False):
        assert part.type == later.type
        assert getattr(later, "text", "").startswith(getattr(part, "text", ""))
        # At its end an input loses the empty object before another one, with which gateways begin.
        raw, after_it = getattr(part, "raw_input", ""), getattr(later, "raw_input", "")
        assert after_it.startswith(raw) or (after_it.startswith("{") and ("{}" + after_it).startswith(raw))
        assert part.type != "tool" or not has_answer(part) or has_answer(later)


def whole_steps():
    """
    Steps that the provider ended.
    """
    return steps().map(lambda chosen: [*chosen[:-1], Verb("finish", {"finish_reason": "stop"})])


@given(whole_steps())
def test_a_running_step_that_is_rejoined_is_uncut(chosen):
    """
    At every event: what was recorded so far, live or from the log alone, and the replay give the uncut transcript.
    """
    events = performed(chosen)
    uncut = settled(fold(events))

    for start in cuts(events):
        assert uncut == settled(rejoined(chosen, start))


@given(whole_steps())
def test_a_step_that_was_closed_by_a_cut_is_uncut_after_its_replay(chosen):
    """
    At every event: a step that was closed there, and is replayed to its end, gives the uncut transcript.

    Only a message with a call that the app has answered stays as it was closed: a restart would void what the tool did.
    """
    events = performed(chosen)
    uncut = settled(fold(events))

    for start in cuts(events):
        closed = settled(start)
        answered = (
            any(call.answered for call in closed["m1"].tool_calls) and closed["m1"].status is MessageStatus.FAILED
        )
        assert (closed if answered else uncut) == settled(rejoined(chosen, closed))


@given(steps(), st.data())
def test_a_replay_that_is_cut_leaves_no_less(chosen, data):
    """
    A replay that stops anywhere, with or without being closed, leaves at least what was recorded.
    """
    said_anew = {"text", "prefill"}  # an end wins over its deltas
    if any(verb.name == "media" for verb in chosen):
        said_anew |= {"data", "uri"}
    chosen = [verb for verb in chosen if all(verb.arguments.get(name) is None for name in said_anew)]
    # An object wins over the text of an input that came in pieces.
    chosen = [verb for verb in chosen if verb.name != "tool_input" or verb.arguments.get("input") is None]
    events = performed(chosen)
    stop = data.draw(st.integers(1, len(chosen)))
    ends = data.draw(st.sampled_from([[], [Verb("close", {})], [Verb("fail", {"error": error()})]]))
    closed = data.draw(st.booleans())

    for start in cuts(events):
        before = settled(start) if closed else start
        after = rejoined([*chosen[:stop], *ends], before)
        assert_nothing_is_less(before["m1"], after["m1"])
        assert not ends or after["m1"].status is not MessageStatus.RUNNING


@given(steps(), st.lists(verbs(), max_size=10), st.data())
def test_a_replay_that_differs_is_legal_and_ends(chosen, other, data):
    """
    A replay with other content gives legal events and an end, wherever the step was cut.
    """
    events = performed(chosen)
    keep = data.draw(st.integers(1, len(chosen)))
    closed = data.draw(st.booleans())

    for start in cuts(events):
        after = rejoined([*chosen[:keep], *other, Verb("close", {})], settled(start) if closed else start)
        assert after["m1"].status is not MessageStatus.RUNNING


@given(whole_steps(), st.data())
def test_what_the_app_answered_meanwhile_stays(chosen, data):
    """
    A call that the app answered before the cut keeps its answer, and the rest of the message is uncut.
    """
    chosen = [verb for verb in chosen if not verb.name.startswith(("result", "tool_progress"))]
    events = performed(chosen)
    uncut = fold(events)
    end = data.draw(st.sampled_from([[], [Verb("fail", {"error": error()})]]))

    for start in cuts(events):
        answers = [call.succeed("found") for call in start["m1"].tool_calls if call.pending]
        answered = fold(answers, start=start, strict=True)
        after = rejoined([*chosen[: -1 if end else None], *end], answered)
        assert answers == [event for event in answers if after["m1"].tool_calls and settles(after["m1"], event)]
        assert end or settled(fold(answers, start=uncut)) == settled(after)


def settles(message, event):
    """
    Return whether the call of *event* has its output.
    """
    return [call.output for call in message.tool_calls if call.call_id == event.call_id] == [event.output]


@given(whole_steps())
def test_a_replay_of_a_completed_step_adds_nothing(chosen):
    """
    A message that completed needs nothing.
    """
    events = performed(chosen)

    assert isinstance(events[-1], StepEnded)
    assert [] == performed(chosen, fold(events)["m1"])
