"""
`transcript.awaits`, `transcript.unfinished()` and the unfinished work that stores keep agree, in every legal session.
"""

from hypothesis import given
from hypothesis import strategies as st

from assistant_events import AssistantMessage, Awaits, ErrorInfo, RemoteRun, fold
from assistant_events import events as ev
from assistant_events.reducer import reconcile
from assistant_events.session import SyncSession
from assistant_events.stores import MemoryStore, SqliteStore
from assistant_events.testing import durable, origin, prompt
from tests.drawn import sessions


@st.composite
def logs(draw):
    """
    Draw the durable events of a legal session, split into batches.
    """
    events = durable(draw(sessions()))
    cuts = sorted(draw(st.sets(st.integers(0, len(events)), max_size=6)))
    return [events[start:end] for start, end in zip([0, *cuts], [*cuts, len(events)], strict=True)]


@given(sessions(), st.data())
def test_unfinished_is_empty_exactly_when_the_user_is_awaited(events, data):
    """
    At any moment of a session each item has the session's `awaits`, and names a message or a call that is open.
    """
    transcript = fold(events[: data.draw(st.integers(0, len(events)))])
    left = transcript.unfinished()

    assert (transcript.awaits is Awaits.USER) == (left == ())
    assert {transcript.awaits} - {Awaits.USER} == {each.awaits for each in left}
    for each in left:
        message = transcript[each.message_id]
        if each.call_id is not None:
            (call,) = [call for call in message.pending_tool_calls if call.call_id == each.call_id]
            assert (call.attempt > 0) == each.is_outcome_unknown
            assert each.awaits is Awaits.TOOLS or each.is_outcome_unknown
        else:
            assert not each.is_outcome_unknown
            assert each.awaits is not Awaits.TOOLS
        if isinstance(message, AssistantMessage) and each.awaits is Awaits.PROVIDER and each.call_id is None:
            assert message.run == each.run
    started = {
        (message.id, call.call_id)
        for message in transcript
        if isinstance(message, AssistantMessage) and message.status == "running"
        for call in message.pending_tool_calls
        if call.attempt
    }
    assert started <= {(each.message_id, each.call_id) for each in left}
    assert len(left) == len({(each.message_id, each.call_id) for each in left})


def by_the_rules(transcript):
    """
    Return whose move it is, by the six rules in their words.
    """
    answers = [message for message in transcript if message.type == "assistant"]
    asked = [message for message in transcript if message.type != "compaction"]
    if any(message.type != "user" and message.status == "running" for message in transcript):
        return "provider"
    newest = answers[-1] if answers else None
    open_calls = [] if newest is None else [call for call in newest.tool_calls if call.status == "called"]
    if newest and newest.status == "completed" and any(not call.provider_executed for call in open_calls):
        return "tools"
    if not asked:
        return "user"
    last = asked[-1]
    if last.type == "user":
        return "model"
    if last.status == "completed":
        calls = [call for call in last.tool_calls if not call.provider_executed]
        return "model" if calls or last.finish_reason == "pause" else "user"
    is_cut = last.error.kind in {"interrupted", "aborted", "network", "timeout"}
    return "provider" if is_cut and last.run is not None and last.run.resumable else "user"


@given(sessions(), st.data())
def test_awaits_keeps_the_rules(events, data):
    """
    At any moment of a session the first rule that applies decides.
    """
    transcript = fold(events[: data.draw(st.integers(0, len(events)))])

    assert by_the_rules(transcript) == transcript.awaits


@given(sessions())
def test_what_is_reconciled_awaits_no_tools_and_no_provider(events):
    """
    After everything was abandoned no call is open, no message runs, and no run is resumed, unless the app has run a
    call of it; a prompt then makes it the model's move.
    """
    transcript = fold(events)
    settled = fold(reconcile(transcript, abandon_calls=True, abandon_runs=True), start=transcript)

    assert Awaits.TOOLS is not settled.awaits
    assert all(settled[each.message_id].status != "running" for each in settled.unfinished() if each.run is not None)
    assert Awaits.PROVIDER is not settled.awaits or settled.last_answer.acted
    assert Awaits.MODEL is fold([prompt(message_id="one more")], start=settled).awaits


@given(logs())
def test_a_store_keeps_what_a_session_hands_in(batches):
    """
    After every batch of a session each store has what a fold of its log has, without reading the log.
    """
    with MemoryStore() as memory, SqliteStore(":memory:") as sqlite:
        for store in (memory, sqlite):
            session = SyncSession.open(store, "s")
            for batch in batches:
                session.append(*batch)
                unfinished = fold(store.read("s")).unfinished()

                assert ({"s": unfinished} if unfinished else {}) == store.unfinished()


def test_a_session_hands_in_what_each_event_changes():
    """
    So it is when every event is a batch: calls that the app starts and answers in their step and behind it, results of
    the provider, an answer beside another one, a cut, a restart and a rewind, and several calls that wait.
    """
    run, call = RemoteRun(id="r1", kind="acme", resumable=True), {"message_id": "a1", "call_id": "c1"}
    other, asked = {**call, "call_id": "c2"}, {**call, "call_id": "c3"}
    log = [
        prompt(),
        ev.StepStarted(message_id="a1", origin=origin(), run=run),
        ev.ToolCalled(**call, name="weather", input={}),
        ev.ToolCalled(**other, name="search", input={}, provider_executed=True),
        ev.ToolSuccess(**other, provider_executed=True),
        ev.ToolStarted(**call, attempt=1),
        ev.CompactionStarted(message_id="k1", reason="auto"),
        ev.ToolSuccess(**call),
        ev.CompactionEnded(message_id="k1", text="short"),
        ev.ToolCalled(**asked, name="weather", input={}),
        ev.StepEnded(message_id="a1", finish_reason="tool-calls"),
        ev.ToolApprovalRequested(**asked),
        ev.ToolApproved(**asked),
        ev.ToolStarted(**asked, attempt=1),
        ev.ToolFailed(**asked, error=ErrorInfo(kind="tool", message="none")),
        ev.StepStarted(message_id="a2", origin=origin(), run=run),
        ev.ToolCalled(message_id="a2", call_id="c1", name="weather", input={}),
        ev.StepFailed(message_id="a2", error=ErrorInfo(kind="network", message="cut")),
        ev.ToolFailed(message_id="a2", call_id="c1", error=ErrorInfo(kind="interrupted", message="cut")),
        ev.HistoryRewound(message_id="a2"),
        ev.StepStarted(message_id="a3", origin=origin()),
        *[ev.ToolCalled(message_id="a3", call_id=f"c{at}", name="weather", input={}) for at in range(3)],
        ev.StepEnded(message_id="a3", finish_reason="tool-calls"),
        ev.ToolStarted(message_id="a3", call_id="c1", attempt=1),
        ev.ToolStarted(message_id="a3", call_id="c1", attempt=2),
        ev.ToolSuccess(message_id="a3", call_id="c1"),
        prompt(message_id="u2"),
        ev.ToolSuccess(message_id="a3", call_id="c0"),
        ev.ToolStarted(message_id="a3", call_id="c2", attempt=1),
        ev.ToolSuccess(message_id="a3", call_id="c2"),
    ]
    with MemoryStore() as store:
        session = SyncSession.open(store, "s")
        for event in log:
            session.append(event)
            unfinished = fold(store.read("s")).unfinished()
            assert ({"s": unfinished} if unfinished else {}) == store.unfinished(), event
        assert len(log) == store.seq("s")


@given(logs(), st.data())
def test_a_store_folds_what_it_does_not_know(batches, data):
    """
    Writers that hand nothing in, forks and pruned logs leave the store to fold: the result is the same.
    """
    with SqliteStore(":memory:") as store:
        for batch in batches:
            store.append("s", batch)
            unfinished = fold(store.read("s")).unfinished()

            assert ({"s": unfinished} if unfinished else {}) == store.unfinished() == store.unfinished()
        seq = store.seq("s")
        if not seq:
            return
        held = data.draw(st.integers(1, seq))
        store.snapshot("s", fold(store.read("s", limit=held)))
        at = data.draw(st.integers(held, seq))
        unfinished = fold(store.read("s", limit=at)).unfinished()
        store.prune("s", data.draw(st.integers(0, held)))
        store.fork("s", "fork", at=at)

        assert unfinished == store.unfinished().get("fork", ())
