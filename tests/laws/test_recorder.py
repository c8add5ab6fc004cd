"""
Laws of the recorder: 3 (its output is legal), 2 (cutting of what it is given), 9 (state) and 10 (everything settles).
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant_events import ErrorInfo, FinishReason, MessageStatus, UserMessage, find_problems, fold, reconcile
from assistant_events.errors import LocalProtocolError
from assistant_events.messages import CallStatus, PartStatus
from assistant_events.recorder import Recorder
from assistant_events.testing import origin
from assistant_events.testing.strategies import VERBS, loose_events, states, texts, verbs
from tests.drawn import broken_sessions, sessions

ANY_VERBS = st.lists(st.one_of(verbs(), verbs(), VERBS["start"]), max_size=30)


def performed(chosen):
    """
    Return a recorder, what came out of it, and which of the verbs it took.
    """
    recorder, events, taken = Recorder("m1"), [], []
    for verb in chosen:
        try:
            events.append(verb(recorder))
        except LocalProtocolError:
            continue
        taken.append(verb)
    return recorder, events, taken


def flat(lists):
    return [event for events in lists for event in events]


def left_open(transcript):
    """
    Return the ids of everything that still waits for an end: not calls that the app has to run, nor those that the
    provider continues after a pause.
    """
    found = []
    for message in transcript.messages:
        if isinstance(message, UserMessage):
            continue
        if message.status is MessageStatus.RUNNING:
            found.append(message.id)
        for part in getattr(message, "parts", ()):
            if part.type == "tool":
                continues = part.pending or message.finish_reason is FinishReason.PAUSE
                is_called = part.status is CallStatus.CALLED and message.status is MessageStatus.COMPLETED
                is_open = not part.settled and not (is_called and continues)
            else:
                is_open = part.status is PartStatus.STREAMING
            if is_open:
                found.append((message.id, part))
    return found


@given(ANY_VERBS)
def test_whatever_verbs_give_legal_events(chosen):
    """
    Any verbs in any order are refused or give legal events, and the sink holds the same.
    """
    sink = []
    recorder = Recorder("m1", sink=sink)
    events = flat(verb.attempt(recorder) for verb in chosen)

    assert [] == find_problems(events)
    assert events == sink


@given(ANY_VERBS)
def test_a_refused_verb_changes_nothing(chosen):
    """
    A recorder that refused some verbs continues like one that was never asked.
    """
    _, events, taken = performed(chosen)
    _, again, _ = performed(taken)

    assert events == again


@given(ANY_VERBS, st.none() | st.builds(ErrorInfo, kind=st.just("network"), message=texts()))
def test_close_settles_everything(chosen, cause):
    """
    After `close` nothing is open, the log is legal, and closing again does nothing.
    """
    recorder, events, _ = performed(chosen)
    running = recorder.started and not recorder.terminal
    kind = "interrupted" if cause is None else cause.kind
    closed = recorder.close(cause)
    transcript = fold(flat(events) + closed, strict=True)

    assert [] == left_open(transcript)
    assert ([kind] if running else []) == [event.error.kind for event in closed[-1:]]
    assert [] == recorder.close(cause)


@given(VERBS["start"], st.lists(verbs(terminals=False), max_size=20))
def test_close_says_what_reconcile_would_say(start, chosen):
    """
    A step closed by its recorder and one closed after a crash have the same parts, apart from what came late.
    """
    recorder, events, _ = performed([start, *chosen])
    crashed = fold(flat(events))
    closed = fold(flat(events) + recorder.close()).last
    reconciled = fold(reconcile(crashed, abandon_runs=True), start=crashed).last

    assert [part.type for part in reconciled.parts] == [part.type for part in closed.parts][: len(reconciled.parts)]
    assert reconciled.status == closed.status


@given(sessions(), st.booleans(), st.booleans())
def test_reconcile_settles_what_it_may(events, abandon_calls, abandon_runs):
    """
    What `reconcile` returns is legal and durable, leaves open only what it was asked to, and is empty the second time.
    """
    transcript = fold(events)
    ends = reconcile(transcript, abandon_calls=abandon_calls, abandon_runs=abandon_runs)
    after = fold(ends, start=transcript, strict=True)

    assert all(event.durable for event in ends)
    assert [] == reconcile(after, abandon_calls=abandon_calls, abandon_runs=abandon_runs)
    assert not abandon_calls or () == tuple(
        call for call in after.pending_tool_calls if after[call.message_id].status is not MessageStatus.RUNNING
    )
    assert not abandon_runs or [] == left_open(after)


@given(st.one_of(broken_sessions(), loose_events()))
def test_reconcile_settles_what_broken_logs_fold_to(events):
    """
    Whatever was folded, however broken its log: with both flags nothing stays open.
    """
    transcript = fold(events)
    after = fold(reconcile(transcript, abandon_calls=True, abandon_runs=True), start=transcript, strict=True)

    assert [] == left_open(after)
    assert () == after.pending_tool_calls


@given(sessions())
def test_reconcile_from_the_log_settles_what_is_live(events):
    """
    A process that knows only the durable events settles the session as well.
    """
    transcript = fold(event for event in events if event.durable)
    after = fold(reconcile(transcript, abandon_calls=True, abandon_runs=True), start=transcript, strict=True)

    assert [] == left_open(after)


@given(sessions())
def test_reconcile_never_answers_a_call(events):
    """
    `reconcile` reports calls as interrupted; no tool has run. A message that fails once more repeats what it had.
    """
    ends = reconcile(fold(events), abandon_calls=True, abandon_runs=True)
    again = {event.message_id for event in ends if event.type == "step.restarted"}
    ends = [event for event in ends if event.message_id not in again]

    assert {"interrupted"} >= {event.error.kind for event in ends if hasattr(event, "error")}
    assert not any(event.type == "tool.success" for event in ends)


TEXTS = st.text(st.sampled_from("ab😀\ud83d\ude00é"), max_size=8)


@pytest.mark.parametrize("kind", ["text", "reasoning"])
@given(text=TEXTS, data=st.data())
def test_how_a_text_is_cut_changes_nothing(kind, text, data):
    """
    Text that is given in UTF-16 halves at any place is the same text; halves without a partner become U+FFFD.
    """
    units = text.encode("utf-16-le", "surrogatepass")
    halves = [units[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(units), 2)]
    recorder = Recorder("m1")
    events = recorder.start(origin())
    while halves:
        take = data.draw(st.integers(1, len(halves)))
        events += getattr(recorder, kind)("".join(halves[:take]))
        del halves[:take]
    live = getattr(fold(events).last, kind)
    events += recorder.finish("stop")
    whole = units.decode("utf-16-le", "replace")

    assert whole == getattr(fold(events).last, kind)
    assert whole.startswith(live)


@given(text=TEXTS, data=st.data())
def test_how_an_input_is_cut_changes_nothing(text, data):
    """
    The input of a call that is given in UTF-16 halves at any place is the same input.
    """
    units = text.encode("utf-16-le", "surrogatepass")
    halves = [units[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(units), 2)]
    recorder = Recorder("m1")
    events = recorder.start(origin()) + recorder.tool_input("c1", "search")
    while halves:
        take = data.draw(st.integers(1, len(halves)))
        events += recorder.tool_input("c1", "search", "".join(halves[:take]))
        del halves[:take]
    events += recorder.finish("stop")

    assert (units.decode("utf-16-le", "replace") or "{}") == fold(events).last.tool_calls[0].raw_input


def code_units(value):
    """
    Return a state as something that compares its strings unit for unit and keeps `1`, `1.0` and `True` apart.
    """
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass")
    if hasattr(value, "items"):
        return {code_units(key): code_units(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [code_units(item) for item in value]
    return (type(value), value)


@given(states(), states(), states())
def test_state_reaches_the_message_unit_for_unit(first, second, third):
    """
    Every state that a verb is given is in the event and in the message as it came.
    """
    recorder = Recorder("m1")
    events = recorder.start(origin(), state=first)
    events += recorder.reasoning("r", key="r") + recorder.end_reasoning(second, key="r")
    events += recorder.text("t", key="t") + recorder.end_text(third, key="t")
    events += recorder.end_media(first, b"x", media_type="image/png")
    events += recorder.tool_input("c1", "search", "{}", state=first) + recorder.end_tool_input("c1", second)
    events += recorder.result("c1", state=third)
    events += recorder.opaque(first) + recorder.finish("stop", state=second)
    message = fold(events, strict=True).last
    call = message.tool_calls[0]

    expected = [second, third, first, {**first, **second}, first]
    assert [code_units(state) for state in expected] == [code_units(part.state) for part in message.parts]
    assert code_units(third) == code_units(call.result_state)
    assert code_units(second or first) == code_units(message.state)
