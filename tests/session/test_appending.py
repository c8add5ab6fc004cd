"""
Opening a session, appending to it, and what others write meanwhile. Both faces.
"""

from datetime import UTC, datetime

import pytest

from assistant_events.errors import ConflictError, LocalProtocolError, PrunedError, StoreError
from assistant_events.events import PromptSubmitted, TextDelta, ToolSuccess, UnknownEvent
from assistant_events.messages import Transcript
from assistant_events.reducer import fold
from assistant_events.session import core
from assistant_events.testing import Call, answer, durable, ids, prompt, rewind

ASKED = durable(answer(calls=[Call("weather", call_id="c1")]))


def test_an_unknown_session_is_empty(session):
    """
    A session that the store does not know begins with nothing.
    """
    assert (Transcript(), 0, "s1") == (session.transcript, session.seq, session.session_id)


def test_open_folds_the_log(open_session, store):
    """
    What is in the log is the transcript.
    """
    store.append("s1", [prompt(), *durable(answer("Hello"))])
    session = open_session(store)

    assert fold(store.read("s1")) == session.transcript
    assert 5 == session.seq


def test_a_session_belongs_to_its_owner(open_session, store):
    """
    The first batch of a session stores its owner, and only this owner, or none, opens it again.
    """
    session = open_session(store, owner="ann")
    assert () == store.sessions()
    session.prompt("Hi")
    session.prompt("Hello?")

    assert ["ann"] == [info.owner for info in store.sessions()]
    assert 2 == open_session(store, owner="ann").seq == open_session(store).seq
    with pytest.raises(StoreError, match="session 's1': it was created with another owner"):
        open_session(store, owner="bob")


def test_two_owners_begin_a_session(open_session, store):
    """
    Of two that open a session before its first batch, the first to append owns it; the other is refused.
    """
    ann, bob = open_session(store, owner="ann"), open_session(store, owner="bob")
    ann.prompt("Hi")

    with pytest.raises(StoreError, match="it was created with another owner"):
        bob.prompt("Hello?")
    assert ["ann"] == [info.owner for info in store.sessions()]
    assert 1 == store.seq("s1")


def test_open_reads_a_long_log_in_pages(open_session, store, monkeypatch):
    """
    A log of several pages is read to its end, and so is one that ends with a page.
    """
    monkeypatch.setattr(core, "PAGE", 2)
    make = ids("u")
    store.append("s1", [prompt(message_id=make()) for _ in range(4)])

    assert ["u1", "u2", "u3", "u4"] == [message.id for message in open_session(store).transcript]


def test_open_starts_from_the_snapshot(open_session, store):
    """
    Records that a snapshot covers are not needed.
    """
    store.append("s1", [prompt(), *durable(answer("Hello"))])
    store.snapshot("s1", fold(store.read("s1")))
    store.prune("s1", 5)
    store.append("s1", [prompt("more", message_id="u2")])
    session = open_session(store)

    assert ["u1", "a1", "u2"] == [message.id for message in session.transcript]
    assert 6 == session.seq


def test_a_log_pruned_while_it_is_opened(open_session, store):
    """
    When the log is pruned after the snapshot was loaded and before it is read, the newer snapshot is loaded.
    """
    store.append("s1", [prompt(), prompt("more", message_id="u2")])

    def prune_behind(session_id):
        del store.load_snapshot
        store.snapshot("s1", fold(store.read("s1")))
        store.prune("s1", 2)

    store.load_snapshot = prune_behind

    assert 2 == open_session(store).seq


def test_a_log_deleted_while_it_is_opened(open_session, store):
    """
    The session is as empty as its log.
    """
    store.append("s1", [prompt()])

    def delete(session_id):
        del store.load_checkpoints
        store.delete("s1")
        return ()

    store.load_checkpoints = delete
    session = open_session(store)

    assert (0, ()) == (session.seq, session.transcript.messages)


def test_a_log_pruned_without_a_snapshot(open_session, store):
    """
    A session whose pruned records no snapshot covers cannot be opened.
    """
    store.append("s1", [prompt()])
    store.snapshot("s1", fold(store.read("s1")))
    store.prune("s1", 1)
    store.load_snapshot = lambda session_id: None

    with pytest.raises(PrunedError):
        open_session(store)


def test_append_stores_one_batch(session, store):
    """
    The events of one call are one batch; their records come back and the transcript moves.
    """
    records = session.append(prompt(), *ASKED)

    assert [[event.type for event in (prompt(), *ASKED)]] == store.batches
    assert list(store.read("s1")) == list(records)
    assert fold(records) == session.transcript


def test_append_keeps_meta(session, store):
    """
    `meta` is stored with each record of the batch.
    """
    session.append(prompt(), meta={"user": "ada"})

    assert [{"user": "ada"}] == [record.meta for record in store.read("s1")]


def test_append_at_a_time_of_the_app(session, store):
    """
    The time of the app is the time of the records.
    """
    at = datetime(2020, 2, 29, 12, tzinfo=UTC)
    [record] = session.append(prompt(), at=at)

    assert at == record.at == next(iter(store.read("s1"))).at


def test_append_of_nothing(session, store):
    """
    Nothing is not a batch.
    """
    assert () == session.append()
    assert [] == store.batches


def test_append_skips_equal_duplicates(session, store):
    """
    What is there already is not stored again; what is new is.
    """
    session.append(prompt())
    session.append(prompt(), prompt("more", message_id="u2"))

    assert ["u1", "u2"] == [event.message_id for event in store.events]
    assert () == session.append(prompt())


OUT_OF_PLACE = {
    "conflict": (
        prompt("other"),
        "prompt.submitted of message 'u1' is out of place: the prompt id is taken (conflict)",
    ),
    "orphan": (
        ToolSuccess(message_id="a9", call_id="c1"),
        "tool.success of message 'a9', call 'c1' is out of place: what it belongs to has not begun (orphan)",
    ),
    "late": (
        prompt(message_id="u0"),
        "prompt.submitted of message 'u0' is out of place: the prompt id is taken (late)",
    ),
}


@pytest.mark.parametrize(("event", "text"), OUT_OF_PLACE.values(), ids=OUT_OF_PLACE)
def test_append_refuses_what_is_out_of_place(session, store, event, text):
    """
    An event that would not apply is an error with its name and the reason, and nothing of its batch is stored.
    """
    session.append(prompt(message_id="u0"), rewind("u0"), prompt())

    with pytest.raises(LocalProtocolError) as caught:
        session.append(prompt(message_id="u2"), event)

    assert text == str(caught.value)
    assert 3 == session.seq == store.seq("s1")


def test_append_judges_a_batch_in_its_order(session):
    """
    An event may depend on one before it in the same batch.
    """
    session.append(*ASKED, ToolSuccess(message_id="a1", call_id="c1", output="rain"))

    assert () == session.transcript.pending_tool_calls


def test_append_refuses_live_events(session, store):
    """
    A live event is refused by its name.
    """
    with pytest.raises(LocalProtocolError) as caught:
        session.append(TextDelta(message_id="a1", offset=0, delta="x"))

    assert "text.delta of message 'a1' is a live event; append durable events only" == str(caught.value)
    assert [] == store.batches


def test_append_refuses_what_is_no_event(session):
    """
    Anything else is a TypeError.
    """
    with pytest.raises(TypeError, match="expected an event, got str; give several as arguments of their own"):
        session.append("hi")


def test_append_keeps_events_of_newer_versions(session, store):
    """
    What this version does not know is stored as it came.
    """
    event = UnknownEvent(type="text.begun", version=2, data={"type": "text.begun", "v": 2, "message_id": "a1"})
    session.append(event)

    assert [event] == store.events


def test_a_refusal_of_the_store_leaves_the_transcript(session, store):
    """
    The transcript moves only after the store has taken the batch.
    """
    store.refuse = StoreError("disk full")

    with pytest.raises(StoreError, match="disk full"):
        session.append(prompt())

    assert Transcript() == session.transcript


def test_another_writer_of_the_same_message(session, open_session, store):
    """
    When another writer has touched a message that the events name, the app decides again.
    """
    session.append(*ASKED)
    open_session(store).append(ToolSuccess(message_id="a1", call_id="c1", output="rain"))

    with pytest.raises(ConflictError) as caught:
        session.append(ToolSuccess(message_id="a1", call_id="c1", output="sun"))

    assert (session.seq - 1, session.seq) == (caught.value.expected_seq, caught.value.actual_seq)
    assert store.seq("s1") == session.seq
    assert () == session.transcript.pending_tool_calls


def test_another_writer_that_starts_the_same_call(session, open_session, store):
    """
    Only one of them may run it: the other gets a conflict, and no records once it has read of the start.
    """
    session.append(*ASKED)
    [call] = session.transcript.pending_tool_calls
    open_session(store).append(call.start())

    with pytest.raises(ConflictError):
        session.append(call.start())
    assert () == session.append(call.start())


def test_refresh_reads_what_others_wrote(session, open_session, store):
    """
    After a conflict the session continues from the records of the other writers.
    """
    other = open_session(store)
    session.append(prompt())
    written = other.refresh() + other.append(prompt("more", message_id="u2"))

    assert written[1:] == session.refresh()
    assert other.transcript == session.transcript
    assert 3 == session.append(prompt("again", message_id="u3"))[0].seq


def test_append_knows_what_a_refresh_has_read(session, store):
    """
    What others wrote decides what is in place.
    """
    session.append(prompt())
    store.append("s1", [prompt("theirs", message_id="u2")])
    session.refresh()

    with pytest.raises(LocalProtocolError, match="conflict"):
        session.append(prompt("mine", message_id="u2"))


def test_refresh_without_news(session):
    """
    Without other writers, nothing is new.
    """
    session.append(prompt())

    assert () == session.refresh()


def test_prompt_is_a_message(session):
    """
    A prompt gets a fresh id and is the newest message.
    """
    [record] = session.prompt("Hello")

    assert "Hello" == session.transcript.last.text
    assert session.transcript.last.id == record.event.message_id


def test_prompt_with_an_id_of_the_app(session, store):
    """
    Prompting twice with one id is idempotent.
    """
    [record] = session.prompt("Hello", message_id="u1", meta={"n": 1})

    assert {"n": 1} == record.meta
    assert () == session.prompt("Hello", message_id="u1")
    assert [PromptSubmitted(message_id="u1", content="Hello")] == store.events


def test_prompt_with_an_id_that_is_taken(session):
    """
    Two prompts cannot share an id.
    """
    session.prompt("Hello", message_id="u1")

    with pytest.raises(LocalProtocolError, match="the prompt id is taken"):
        session.prompt("Bye", message_id="u1")


def test_new_ids_differ(session):
    """
    Ids are fresh.
    """
    assert session.new_id() != session.new_id()


def test_repr_names_the_session(session):
    """
    The repr has the id and the `seq` of the session, and no content.
    """
    session.prompt("secret")

    assert repr(session) in {"Session('s1', seq=1)", "SyncSession('s1', seq=1)"}


def test_live_events_of_the_app(session):
    """
    What is shown is in the transcript of the session, and not in its log.
    """
    session.append(*ASKED)
    [call] = session.transcript.last.tool_calls
    session.show(call.progress("half"))

    assert "half" == session.transcript.last.tool_calls[0].output[0].text
    assert len(ASKED) == session.seq
