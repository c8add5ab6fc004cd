"""
Receiving while the store refuses, while others write, and while it is not known what was stored. Both faces.
"""

import gc

import pytest

from assistant_events.errors import ConflictError, LocalProtocolError, StoreError
from assistant_events.events import ToolApprovalRequested, ToolApproved, ToolStarted, ToolSuccess
from assistant_events.messages import MessageStatus
from assistant_events.reducer import fold
from assistant_events.testing import ids, prompt
from assistant_events.values import ErrorKind
from tests.session.scripted import ASKS, HELLO, Provider, Scripted, each, line, receive

WHOLE = ["step.started", "text.started", "text.delta", "text.delta", "text.ended", "step.ended"]
"""The types of everything that `HELLO` gives."""


class Listener:
    """
    Receives one answer, as often as it takes, and remembers what was handed on.
    """

    def __init__(self, session, chunks=HELLO, decoder=None):
        self.session = session
        self.stream = session.decode(Scripted("a1") if decoder is None else decoder, iter(chunks))
        self.types = []

    def listen(self, until=None):
        """Receive up to the end, or up to the first event of the type *until*."""
        for event in each(self.stream):
            self.types.append(event.type)
            if event.type == until:
                yield


@pytest.fixture
def listener(session):
    return Listener(session)


def finish(listening):
    """Receive the rest."""
    for _ in listening:
        pass


def test_what_was_not_stored_is_not_handed_on(listener, store):
    """
    When the store refuses a batch, nothing of its chunk has been seen by anyone.
    """
    store.refuse = StoreError("disk full")

    with pytest.raises(StoreError, match="disk full"):
        finish(listener.listen())

    assert [] == listener.types == store.types
    assert 0 == len(listener.session.transcript)


def test_receiving_again_after_a_refusal(listener, store):
    """
    Refused events are kept: the same stream, entered again, continues, and nothing is missing or duplicated.
    """
    store.refuse = StoreError("locked")
    with pytest.raises(StoreError):
        finish(listener.listen())
    finish(listener.listen())

    assert WHOLE == listener.types
    assert fold(store.read("s1"), strict=True) == listener.session.transcript


def test_leaving_what_was_received_again(listener, store):
    """
    A stream that is received again after a refusal is closed when it is left, as any other.
    """
    store.refuse = StoreError("locked")
    with pytest.raises(StoreError):
        finish(listener.listen())
    listening = listener.listen(until="text.delta")
    next(listening)
    listening.close()
    del listening

    message = listener.session.transcript["a1"]
    assert (MessageStatus.FAILED, "Hel", ErrorKind.ABORTED) == (message.status, message.text, message.error.kind)
    assert ["step.started", "text.started", "text.ended", "step.failed"] == store.types


def test_what_is_received_again_has_one_reader(listener, store):
    """
    While a stream is received again it is refused to a second reader, and `reconcile` leaves its message alone.
    """
    store.refuse = StoreError("locked")
    with pytest.raises(StoreError):
        finish(listener.listen())
    listening = listener.listen(until="text.delta")
    next(listening)

    with pytest.raises(LocalProtocolError, match="message 'a1' is being received already"):
        next(receive(listener.session, Scripted("a1"), HELLO))
    assert () == listener.session.reconcile()
    finish(listening)
    assert MessageStatus.COMPLETED is listener.session.transcript["a1"].status


def test_a_generator_is_not_closed_by_a_refusal(session, store):
    """
    The rest of the chunks can be received when the store takes batches again.
    """
    stream = session.decode(Scripted("a1"), (chunk for chunk in HELLO))
    store.refuse = StoreError("locked")
    with pytest.raises(StoreError):
        list(each(stream))

    assert WHOLE == [event.type for event in each(stream)]


def test_a_stream_that_cannot_be_entered_again_is_closed(session, store):
    """
    The chunks of a stream that the app has dropped, or that another one has replaced, are closed.
    """
    closed = []

    def chunks(name):
        try:
            yield from HELLO
        finally:
            closed.append(name)

    dropped, replaced = (session.decode(Scripted(name), chunks(name)) for name in ("a1", "a2"))
    for stream in (dropped, replaced):
        store.refuse = StoreError("locked")
        with pytest.raises(StoreError):
            list(each(stream))
    assert [] == closed
    list(each(session.decode(Scripted("a2"), HELLO)))
    assert ["a2"] == closed
    del dropped, stream
    gc.collect()

    assert ["a2", "a1"] == closed


def test_receiving_again_after_a_lost_answer(listener, store):
    """
    When the store has written a batch but raised, the batch is found in the log and not stored twice.
    """
    store.lose = StoreError("connection lost")
    with pytest.raises(StoreError):
        finish(listener.listen())
    finish(listener.listen())

    assert WHOLE == listener.types
    assert ["step.started", "text.started", "text.ended", "step.ended"] == store.types
    assert fold(store.read("s1"), strict=True) == listener.session.transcript


def test_two_streams_one_of_which_is_in_doubt(session, store):
    """
    Reading the log for one stream does not affect another one that has continued meanwhile.
    """
    one, two = Listener(session), Listener(session, decoder=Scripted("a2"))
    store.refuse = StoreError("connection lost")
    with pytest.raises(StoreError):
        finish(one.listen())
    listening = two.listen(until="text.delta")
    next(listening)
    finish(one.listen())
    finish(listening)

    assert WHOLE == one.types == two.types
    assert fold(store.read("s1"), strict=True) == session.transcript


def test_appending_after_a_lost_answer(listener, store):
    """
    Appending finds the log further than expected, and reads what was stored.
    """
    store.lose = StoreError("connection lost")
    with pytest.raises(StoreError):
        finish(listener.listen())
    listener.session.append(prompt())
    finish(listener.listen())

    assert ["step.started", "text.started", "prompt.submitted", "text.ended", "step.ended"] == store.types
    assert WHOLE == listener.types


def test_a_stream_that_is_left_when_it_is_entered_again(listener, store):
    """
    What the store had refused is stored, and the message is closed.
    """
    store.refuse = StoreError("locked")
    with pytest.raises(StoreError):
        finish(listener.listen())
    with listener.stream:
        pass

    assert ["step.started", "text.started", "text.ended", "step.failed"] == store.types
    assert ErrorKind.ABORTED == listener.session.transcript["a1"].error.kind


def test_a_start_that_was_stored_before_a_prompt(open_session, store):
    """
    It is handed on as the log has it, not as one that has to be placed before the prompt.
    """
    stream = open_session(store).decode(Scripted("a1"), iter(HELLO))
    store.lose = StoreError("connection lost")
    with pytest.raises(StoreError):
        list(each(stream))
    store.append("s1", [prompt()])
    given = [event for event in each(stream) if event.durable]

    assert given == [event for event in store.events if event.message_id == "a1"]


def test_a_lost_answer_to_a_batch_that_was_not_stored(listener, store):
    """
    A batch that is not in the log, because other records have its `seq`, is stored after them.
    """
    store.refuse = StoreError("connection lost")
    with pytest.raises(StoreError):
        finish(listener.listen())
    store.append("s1", [prompt()])
    finish(listener.listen())

    assert ["prompt.submitted", "step.started", "text.started", "text.ended", "step.ended"] == store.types
    assert WHOLE == listener.types


def test_a_lost_answer_that_was_pruned(listener, store):
    """
    When a snapshot covers the batch its fate is unknown, and nothing more is appended to the message.
    """
    store.lose = StoreError("connection lost")
    with pytest.raises(StoreError):
        finish(listener.listen())
    store.snapshot("s1", fold(store.read("s1")))
    store.prune("s1", 2)

    with pytest.raises(LocalProtocolError, match="another writer appends to message 'a1'"):
        finish(listener.listen())

    assert 2 == store.seq("s1")


def test_a_refused_batch_whose_place_another_takes_and_prunes(listener, store):
    """
    A record of this session at the place of the batch shows that it is not in the log: it is stored behind that.
    """
    store.refuse = StoreError("connection lost")
    with pytest.raises(StoreError):
        finish(listener.listen())
    session = listener.session
    session.append(prompt())
    session.snapshot()
    store.prune("s1", session.seq)

    assert () == session.refresh()
    finish(listener.listen())

    assert ["step.started", "text.started", "text.ended", "step.ended"] == [
        each.event.type for each in store.read("s1", 1)
    ]
    assert WHOLE == listener.types


def lose_second(stream, store):
    """
    Enter a stream, and lose the answer of the store to its second batch.
    """
    with stream as events:
        next(events)
        store.lose = StoreError("connection lost")
        next(events)


def test_a_lost_answer_that_ends_one_text_and_begins_the_next(open_session, store):
    """
    The pieces of the second text are added to it, not those of the first.
    """
    session = open_session(store)
    chunks = (line(lives="r1"), line(say="one", said={"k": 1}) + line(say="two"), line(say=" three"), line(stop="stop"))
    stream = session.decode(Scripted("a1"), chunks)

    with pytest.raises(StoreError):
        lose_second(stream, store)
    with stream as events:
        given = [(event, [part.text for part in session.transcript["a1"].parts]) for event in events]
    texts = [text for _, text in given]

    assert ["one", "two", " three"] == [event.delta for event, _ in given if event.type == "text.delta"]
    assert ["one", "two"] == texts[0]
    assert ["one", "two three"] == texts[-1] == [part.text for part in fold(store.read("s1"))["a1"].parts]


def test_a_lost_answer_with_two_inputs_that_are_open(open_session, store):
    """
    The piece of each is added to it once, also of the first, behind which the log has the start of the second.
    """
    session = open_session(store)
    calls = [{"id": name, "name": name, "delta": '{"a"'} for name in ("c1", "c2")]
    chunks = (line(lives="r1"), b"".join([line(write=call) for call in calls]), line(stop="stop"))
    stream = session.decode(Scripted("a1"), chunks)

    with pytest.raises(StoreError):
        lose_second(stream, store)
    with stream as events:
        for event in events:
            if event.type == "tool.input.delta" and event.call_id == "c2":
                assert ['{"a"', '{"a"'] == [part.raw_input for part in session.transcript["a1"].parts]
                break


def test_a_lost_answer_that_ends_one_text_and_is_pruned(open_session, store):
    """
    Where only a snapshot has the batch, the text that has come before it is not added to the next one.
    """
    session = open_session(store)
    chunks = (line(say="one"), line(said={}) + line(say="two"), line(stop="stop"))
    with session.decode(Scripted("a1"), chunks) as events:
        for _ in range(3):
            next(events)
        store.lose = StoreError("connection lost")
        with pytest.raises(StoreError):
            next(events)
        store.snapshot("s1", fold(store.read("s1")))
        store.prune("s1", store.seq("s1"))
        session.refresh()

        assert ["one", ""] == [part.text for part in session.transcript["a1"].parts]


def test_a_prompt_of_others(listener, store):
    """
    A prompt that another writer has appended is read, and the stream continues behind it.
    """
    listening = listener.listen(until="text.delta")
    next(listening)
    store.append("s1", [prompt()])
    finish(listening)

    assert WHOLE == listener.types
    assert ["step.started", "text.started", "prompt.submitted", "text.ended", "step.ended"] == store.types
    assert ["a1", "u1"] == [message.id for message in listener.session.transcript]


def test_a_log_that_never_stands_still(listener, store):
    """
    When others append before each try, the conflict is raised in the end; entering the stream again continues.
    """
    make = ids("u")
    store.before_append = lambda: store.inner.append("s1", [prompt(message_id=make())])
    with pytest.raises(ConflictError):
        finish(listener.listen())
    store.before_append = None
    finish(listener.listen())

    assert WHOLE == listener.types
    assert fold(store.read("s1"), strict=True) == listener.session.transcript


def test_answers_of_others_do_not_contest_a_message(session, store):
    """
    A call may be answered by another process while its message is still being received.
    """
    listener = Listener(session, ASKS)
    listening = listener.listen(until="tool.called")
    next(listening)
    about = {"message_id": "a1", "call_id": "c1"}
    store.append("s1", [ToolApprovalRequested(**about), ToolApproved(**about), ToolStarted(**about, attempt=1)])
    store.append("s1", [ToolSuccess(**about, output="rain")])
    finish(listening)

    assert ["step.started", "tool.called", "step.ended"] == listener.types
    assert () == session.transcript.pending_tool_calls


def test_two_writers_of_one_message(open_session, store):
    """
    Of two processes that receive the same answer one cannot go on: no text is doubled.
    """
    one, two = Listener(open_session(store)), Listener(open_session(store))
    listening = one.listen(until="text.delta")
    next(listening)
    with pytest.raises(LocalProtocolError) as caught:
        finish(two.listen())
    finish(listening)

    assert "another writer appends to message 'a1'; to continue it, pass the message as prior to a new decoder" == str(
        caught.value
    )
    assert WHOLE == one.types
    assert "Hello" == fold(store.read("s1"), strict=True)["a1"].text


def test_the_chunks_of_a_refused_writer(session, store):
    """
    A stream that cannot go on because of another writer is over: its chunks are closed.
    """
    closed = []

    def chunks():
        try:
            yield from HELLO
        finally:
            closed.append(True)

    stream = session.decode(Scripted("a1"), chunks())
    store.append("s1", Scripted("a1").feed(HELLO[0])[:2])
    with pytest.raises(LocalProtocolError, match="another writer appends to message 'a1'"):
        list(each(stream))

    assert [True] == closed
    with pytest.raises(LocalProtocolError, match="entered again only after an error of the store"):
        list(each(stream))


def test_a_message_taken_over_by_others(listener, open_session, store):
    """
    When another process rejoins the message, the first one stops.
    """
    listening = listener.listen(until="text.delta")
    next(listening)
    other = open_session(store)
    finish(Listener(other, decoder=Scripted("a1", prior=other.transcript["a1"])).listen())

    with pytest.raises(LocalProtocolError, match="another writer appends to message"):
        finish(listening)

    assert "Hello" == listener.session.transcript["a1"].text


def test_a_new_decoder_after_a_failure(listener, store):
    """
    A new decoder with the message as prior takes the place of the one that the store cut short.
    """
    listening = listener.listen(until="text.delta")
    next(listening)
    store.refuse = StoreError("locked")
    with pytest.raises(StoreError):
        finish(listening)
    session = listener.session
    finish(Listener(session, decoder=Scripted("a1", prior=session.transcript["a1"])).listen())

    assert ("Hello", MessageStatus.COMPLETED) == (session.transcript["a1"].text, session.transcript["a1"].status)
    assert fold(store.read("s1"), strict=True) == session.transcript


def test_another_answer_after_one_that_was_not_stored(session, store):
    """
    The model is asked again, though the stream that the store has cut could be entered again.
    """
    session.prompt("Hi")
    cut = session.respond(Provider(HELLO), {})
    store.refuse = StoreError("locked")
    with pytest.raises(StoreError):
        list(each(cut))
    list(each(session.respond(Provider(HELLO), {})))

    assert ["Hi", "Hello"] == [message.text for message in session.transcript]


def test_an_old_stream_beside_a_new_decoder(listener, store):
    """
    A stream whose message another one has taken up is not entered again, neither meanwhile nor afterwards.
    """
    listening = listener.listen(until="text.delta")
    next(listening)
    store.refuse = StoreError("locked")
    with pytest.raises(StoreError):
        finish(listening)
    session = listener.session
    with session.decode(Scripted("a1", prior=session.transcript["a1"]), HELLO) as events:
        with pytest.raises(LocalProtocolError, match="entered again only after an error of the store"):
            finish(listener.listen())
        list(events)
    with pytest.raises(LocalProtocolError, match="entered again only after an error of the store"):
        finish(listener.listen())

    assert "Hello" == session.transcript["a1"].text


def test_going_on_in_the_block_after_a_refusal(session, store):
    """
    An app may catch the error of the store inside the block, and go on; leaving it closes the message.
    """
    with session.decode(Scripted("a1"), HELLO) as events:
        store.refuse = StoreError("locked")
        with pytest.raises(StoreError):
            next(events)
        assert "step.started" == next(events).type

    assert ["step.started", "text.started", "text.ended", "step.failed"] == store.types


def test_a_decoder_that_never_comes_back(listener, store):
    """
    Pending events of a decoder do not block the rest: the message can be reconciled.
    """
    listening = listener.listen(until="text.delta")
    next(listening)
    store.refuse = StoreError("locked")
    with pytest.raises(StoreError):
        finish(listening)
    listener.session.reconcile()

    assert MessageStatus.FAILED is listener.session.transcript["a1"].status


def test_an_unusable_chunk_while_the_store_fails(session, store):
    """
    The bug of the caller propagates, with a note that the message could not be closed.
    """
    listener = Listener(session, [line(say="Hel"), "text"])
    listening = listener.listen(until="text.delta")
    next(listening)
    store.refuse = StoreError("locked")

    with pytest.raises(TypeError) as caught:
        finish(listening)

    assert ["message 'a1' could not be closed: locked"] == caught.value.__notes__
