"""
Law 18, within one process's reach: while one session streams an answer, another one prompts, answers, rewinds and
cancels at any moment; nothing is lost, and the answer is whole unless it was ended.
"""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from assistant_events.errors import ConflictError, LocalProtocolError
from assistant_events.messages import AssistantMessage, MessageStatus, close_message
from assistant_events.reducer import find_problems, fold
from assistant_events.session import SyncSession
from assistant_events.stores import MemoryStore
from assistant_events.values import ErrorInfo, ErrorKind
from tests.session.scripted import Provider, line

CHUNKS = [line(call={"id": "c1", "name": "weather"}), *[line(say=word) for word in "abcdef"], line(said={"s": 1})]
ACTS = ("nothing", "nothing", "prompt", "answer", "rewind", "cancel")
CANCELLED = ErrorInfo(kind=ErrorKind.CANCELLED, message="stopped")


def act(other, name):
    """
    Let the other writer do something; return the events that it has stored.
    """
    message = other.transcript.get("a1")
    running = isinstance(message, AssistantMessage) and message.status is MessageStatus.RUNNING
    with suppress(LocalProtocolError):  # there is nothing (any more) that it could be done to
        match name:
            case "prompt":
                return other.prompt("And?")
            case "answer" if isinstance(message, AssistantMessage):
                return other.append(*[call.succeed("rain") for call in message.pending_tool_calls])
            case "rewind" if message is not None:
                return other.rewind("a1")
            case "cancel" if running:
                return other.append(*close_message(message, CANCELLED))
    return ()


@given(st.lists(st.sampled_from(ACTS), min_size=1, max_size=12), st.booleans())
def test_two_writers(acts, refreshes):
    """
    What both have stored is in the log, which is in order and folds to what each of them shows.
    """
    store, client = MemoryStore(), Provider([*CHUNKS, line(stop="tool-calls")])
    session, other = SyncSession.open(store, "s1"), SyncSession.open(store, "s1")
    session.prompt("Hello", message_id="u1")
    left, theirs, given_events = list(acts), [], []
    with session.respond(client, {"model": "m"}, message_id="a1") as events:
        for event in events:
            given_events.append(event)
            if left:
                name = left.pop(0)
                if refreshes:
                    other.refresh()
                try:
                    theirs += act(other, name)
                except ConflictError:  # it has read what it conflicts with, and decides again
                    theirs += act(other, name)
    session.refresh()
    other.refresh()

    records = list(store.read("s1"))
    assert [] == find_problems(records)
    assert fold(records) == session.transcript == other.transcript
    assert all(record in records for record in theirs)
    stored = [record.event for record in records]
    assert all(event in stored for event in given_events if event.durable)
    kinds = {record.event.type for record in theirs}
    if not kinds & {"history.rewound", "step.failed"}:
        answer = session.transcript.answer("a1")
        assert ("abcdef", MessageStatus.COMPLETED, []) == (answer.text, answer.status, client.stopped)
