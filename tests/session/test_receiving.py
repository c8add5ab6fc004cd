"""
Receiving a stream: what is stored, what is handed on, and when. Both faces.
"""

import gc
import logging
from contextlib import closing

import pytest

from assistant_events.adapters import load_dialect
from assistant_events.errors import LocalProtocolError
from assistant_events.events import (
    StepEnded,
    StepFailed,
    StepStarted,
    TextDelta,
    TextEnded,
    TextStarted,
    ToolSuccess,
)
from assistant_events.messages import MessageStatus
from assistant_events.reducer import fold
from assistant_events.testing import durable, prompt, rewind
from assistant_events.values import ErrorKind, thaw
from tests.session.scripted import ASKS, CALL, CUT, HELLO, Scripted, line, receive


def broken(*chunks, error):
    """Give *chunks*, then raise."""
    yield from chunks
    raise error


def test_receive_hands_on_every_event(session):
    """
    Durable and live events come in the order in which the decoder gives them.
    """
    events = list(receive(session, Scripted("a1"), HELLO))

    assert [StepStarted, TextStarted, TextDelta, TextDelta, TextEnded, StepEnded] == [type(event) for event in events]


def test_receive_stores_the_durable_events(session, store):
    """
    The log holds the durable events, and they fold to the transcript.
    """
    list(receive(session, Scripted("a1"), HELLO))

    assert ["step.started", "text.started", "text.ended", "step.ended"] == store.types
    assert fold(store.read("s1")) == session.transcript


def test_a_feed_is_one_batch(session, store):
    """
    The durable events of one chunk are appended at once, those of the next apart from them.
    """
    list(receive(session, Scripted("a1"), [line(say="Hello") + line(call=CALL), line(stop="tool-calls")]))

    assert [["step.started", "text.started", "text.ended", "tool.called"], ["step.ended"]] == store.batches


def test_what_is_handed_on_is_stored(session, store):
    """
    When the first event of a chunk is handed on, live or not, the whole batch of that chunk is in the log.
    """
    seen = [
        (event.type, store.seq("s1"))
        for event in receive(session, Scripted("a1"), [line(say="Hel"), line(stop="stop")])
    ]

    assert [
        ("step.started", 2),
        ("text.started", 2),
        ("text.delta", 2),
        ("text.ended", 4),
        ("step.ended", 4),
    ] == seen


def test_the_transcript_shows_text_as_it_grows(session):
    """
    Live events move the transcript, too.
    """
    seen = [
        session.transcript.last.text
        for event in receive(session, Scripted("a1"), HELLO)
        if isinstance(event, TextDelta)
    ]

    assert ["Hel", "Hello"] == seen


def test_a_chunk_without_durable_events_asks_nothing_of_the_store(session, store):
    """
    Deltas alone do not wait for the store.
    """
    list(receive(session, Scripted("a1"), HELLO))

    assert 2 == len(store.batches)


def test_receive_keeps_meta(session, store):
    """
    `meta` is stored with each record.
    """
    list(receive(session, Scripted("a1"), HELLO, meta={"request": 7}))

    assert [{"request": 7}] * 4 == [record.meta for record in store.read("s1")]


class Dumpable:
    def model_dump(self, **_):
        return {"say": "Hello", "stop": "stop"}


CHUNKS = {
    "bytes alone": line(say="Hello", stop="stop"),
    "memory alone": memoryview(line(say="Hello", stop="stop")),
    "cut anywhere": [bytes([byte]) for byte in line(say="Hello", stop="stop")],
    "parts of a buffer": [bytearray(b'{"say":"Hello",'), memoryview(b'"stop":"stop"}\n')],
    "parsed": [{"say": "Hello"}, {"stop": "stop"}],
    "objects of an SDK": [Dumpable()],
}


@pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)
def test_chunks_of_all_kinds(session, chunks):
    """
    A stream is bytes cut anywhere, or parsed events, from anything that can be iterated over.
    """
    list(receive(session, Scripted("a1"), chunks))

    assert ("Hello", MessageStatus.COMPLETED) == (session.transcript.last.text, session.transcript.last.status)


@pytest.mark.parametrize("chunks", ["text", 7, None], ids=repr)
def test_chunks_that_are_none(session, chunks):
    """
    An invalid stream is refused at once, without a call of the store.
    """
    with pytest.raises(TypeError, match="chunks: expected an iterable of bytes or parsed events, got"):
        receive(session, Scripted("a1"), chunks)


def test_a_chunk_of_text(session):
    """
    Text has lost how it was framed: it is the caller's mistake, and the message is closed.
    """
    with pytest.raises(TypeError, match="expected bytes or parsed events, got str; iterate over bytes"):
        list(receive(session, Scripted("a1"), [line(say="Hel"), '{"say":"lo"}\n']))

    assert ("Hel", ErrorKind.ABORTED) == (session.transcript.last.text, session.transcript.last.error.kind)
    assert "the app stopped receiving with TypeError" == session.transcript.last.error.message


def test_reading_stops_at_the_end_of_the_answer(session):
    """
    Once the answer has come to its end, nothing more is read.
    """
    chunks = iter([*HELLO, b"more"])
    list(receive(session, Scripted("a1"), chunks))

    assert b"more" == next(chunks)


def generator(closed, chunks=HELLO):
    """Notes that it was closed."""
    try:
        yield from chunks
    finally:
        closed.append("closed")


def test_a_generator_is_closed_at_the_end_of_the_answer(session):
    """
    A connection inside a generator is closed without waiting for the garbage collector.
    """
    closed = []
    chunks = generator(closed, [*HELLO, b"more"])
    for _ in receive(session, Scripted("a1"), chunks):
        pass

    assert ["closed"] == closed


def test_a_generator_is_closed_when_the_message_is_left(session):
    """
    So it is for a reader who leaves.
    """
    closed = []
    chunks = generator(closed)
    events = receive(session, Scripted("a1"), chunks)
    next(events)
    events.close()

    assert ["closed"] == closed


def test_a_generator_that_fails_to_close(session, caplog):
    """
    What a generator raises when it is closed is logged, without the credentials of a URL.
    """

    def chunks():
        try:
            yield from [*HELLO, b"more"]
        finally:
            raise OSError("lost https://me:password@api.example/")

    kept = chunks()
    types = [event.type for event in receive(session, Scripted("a1"), kept)]

    assert "step.ended" == types[-1]
    [message] = caplog.messages
    assert message.startswith("the stream of message 'a1' could not be closed\n")
    assert message.endswith("\nOSError: lost https://api.example/\n")


def test_an_iterator_is_not_closed(session):
    """
    An iterator that is not a generator stays open: its owner may continue to read it.
    """
    chunks = iter([*HELLO, b"more"])
    for _ in receive(session, Scripted("a1"), chunks):
        pass

    assert [b"more"] == list(chunks)


def test_a_stream_that_stops_early(session):
    """
    A stream that is over without an end fails the message; what came stays.
    """
    list(receive(session, Scripted("a1"), HELLO[:1]))

    assert ("Hel", ErrorKind.INTERRUPTED) == (session.transcript.last.text, session.transcript.last.error.kind)


def test_a_stream_without_anything(session):
    """
    An empty stream is a failed message.
    """
    list(receive(session, Scripted("a1"), []))

    assert ErrorKind.INTERRUPTED == session.transcript.last.error.kind


GONE = ConnectionResetError("gone")


@pytest.mark.parametrize("error", [GONE, ExceptionGroup("unhandled errors in a TaskGroup", [GONE])], ids=type)
def test_a_stream_that_breaks_does_not_raise(session, store, error):
    """
    What the transport raised is the error of the message, in the log as well.
    """
    events = list(receive(session, Scripted("a1"), broken(HELLO[0], error=error)))

    assert StepFailed is type(events[-1])
    assert events[-1] == store.events[-1]
    assert (ErrorKind.NETWORK, "ConnectionResetError: gone") == (
        session.transcript.last.error.kind,
        session.transcript.last.error.message,
    )


def test_an_error_that_an_sdk_raises_in_the_middle_of_a_stream(session):
    """
    It is read as the decoder would read it.
    """
    error = RuntimeError("Overloaded")
    error.body = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "r1"}
    decoder = load_dialect("anthropic-messages").decoder("a1")
    list(receive(session, decoder, broken({"type": "message_start", "message": {"id": "m1"}}, error=error)))
    found = session.transcript.last.error

    assert (ErrorKind.OVERLOADED, "overloaded_error", True) == (found.kind, found.code, found.retryable)
    assert {"request_id": "r1"} == thaw(found.details)


def test_a_stream_that_breaks_for_no_known_reason(session, caplog):
    """
    An exception that no transport is known to raise may be a mistake of the app, so its traceback is logged.
    """
    list(receive(session, Scripted("a1"), broken(HELLO[0], error=RuntimeError("oops"))))

    assert ErrorKind.UNKNOWN == session.transcript.last.error.kind
    [(logger, level, message)] = caplog.record_tuples
    assert ("assistant_events.session", logging.WARNING) == (logger, level)
    first, *rest = message.splitlines()
    assert ("the stream of message 'a1' raised", "RuntimeError: oops") == (first, rest[-1])
    assert any("in broken" in line for line in rest)


def test_an_iterable_that_cannot_begin(session):
    """
    A request that fails before its first byte is an error of the message, too.
    """
    list(receive(session, Scripted("a1"), broken(error=TimeoutError())))

    assert (ErrorKind.TIMEOUT, "TimeoutError") == (
        session.transcript.last.error.kind,
        session.transcript.last.error.message,
    )


def test_nothing_happens_before_the_first_event_is_asked_for(session, store):
    """
    Receiving begins with the iteration.
    """
    receive(session, Scripted("a1"), HELLO)

    assert [] == store.batches


def test_a_call_that_was_answered_meanwhile(session, store):
    """
    The decoder fails every open call when the stream breaks; one that the app has answered keeps its answer.
    """
    events = []
    for event in receive(session, Scripted("a1"), broken(ASKS[0], error=OSError("gone"))):
        events.append(event.type)
        if event.type == "tool.called":
            session.append(ToolSuccess(message_id="a1", call_id="c1", output="rain"))

    assert ["step.started", "tool.called", "step.failed"] == events
    assert ["step.started", "tool.called", "tool.success", "step.failed"] == store.types
    assert fold(store.read("s1"), strict=True) == session.transcript


def test_progress_of_a_call_that_was_answered_meanwhile(session):
    """
    It is not given: the call shows its result, which progress does not replace.
    """
    types = []
    for event in receive(session, Scripted("a1"), [ASKS[0], line(progress="c1"), ASKS[1]]):
        types.append(event.type)
        if event.type == "tool.called":
            session.append(ToolSuccess(message_id="a1", call_id="c1", output="rain"))

    assert ["step.started", "tool.called", "step.ended"] == types
    assert "rain" == session.transcript["a1"].tool_calls[0].output[0].text


@pytest.mark.parametrize("rest", [HELLO[1:], [line(say="lo", stop="stop")]], ids=["apart", "at once"])
def test_a_message_that_was_rewound_meanwhile(session, store, rest):
    """
    What still comes for a message that was rewound, live or not, is neither stored nor handed on.
    """
    events = []
    for event in receive(session, Scripted("a1"), [HELLO[0], *rest]):
        events.append(event.type)
        if event.type == "text.delta":
            session.append(rewind("a1"))

    assert ["step.started", "text.started", "text.delta"] == events
    assert ["step.started", "text.started", "history.rewound"] == store.types


def test_a_prompt_while_receiving(session, store):
    """
    Appending from inside the loop takes its place in the log between two chunks.
    """
    for event in receive(session, Scripted("a1"), HELLO):
        if event.type == "text.started":
            session.append(prompt())

    assert ["step.started", "text.started", "prompt.submitted", "text.ended", "step.ended"] == store.types


@pytest.mark.parametrize(("chunks", "seq"), [(HELLO, 4), (HELLO[:1], 2)], ids=["to its end", "and runs"])
def test_a_message_that_is_there_already(session, store, chunks, seq):
    """
    A decoder that begins a message anew is the caller's mistake; the error names the remedy, and nothing is stored.
    """
    store.append("s1", durable(Scripted("a1").feed(b"".join(chunks))))
    session.refresh()

    with pytest.raises(LocalProtocolError) as caught:
        list(receive(session, Scripted("a1"), HELLO))

    assert not hasattr(caught.value, "__notes__")  # the end of its block has nothing to store
    assert (
        "message 'a1' exists already; "
        "to continue it, pass the message as prior to the decoder; otherwise use another id" == str(caught.value)
    )
    assert seq == session.seq == store.seq("s1")


def test_rejoin_after_a_cut(session):
    """
    A decoder with the message as prior continues it; the result equals that of a stream that was not cut.
    """
    list(receive(session, Scripted("a1"), HELLO[:1]))
    list(receive(session, Scripted("a1", prior=session.transcript["a1"]), HELLO))

    assert ("Hello", MessageStatus.COMPLETED) == (session.transcript.last.text, session.transcript.last.status)


def test_rejoin_a_complete_message(session, store):
    """
    The same stream once more adds nothing.
    """
    list(receive(session, Scripted("a1"), HELLO))

    assert [] == list(receive(session, Scripted("a1", prior=session.transcript["a1"]), HELLO))
    assert 4 == store.seq("s1")


def test_rejoin_in_another_process(open_session, store):
    """
    A message that a killed process left running is continued from the log alone.
    """
    store.append("s1", CUT)
    session = open_session(store)
    list(receive(session, Scripted("a1", prior=session.transcript["a1"]), HELLO))

    assert ("Hello", MessageStatus.COMPLETED) == (session.transcript.last.text, session.transcript.last.status)
    assert 1 == store.types.count("step.started")


def test_an_answer_of_several_hops(session):
    """
    One decoder may write several messages.
    """
    list(receive(session, Scripted("a1"), [line(say="one"), line(hop="pause"), line(say="two"), line(stop="stop")]))

    assert [("a1", "one"), ("a1.2", "two")] == [(message.id, message.text) for message in session.transcript]


def test_a_message_is_received_once_at_a_time(session):
    """
    Two loops cannot write the same message.
    """
    with closing(receive(session, Scripted("a1"), HELLO)) as stream:
        next(stream)

        with pytest.raises(LocalProtocolError, match="message 'a1' is being received already"):
            list(receive(session, Scripted("a1"), HELLO))


def test_two_messages_at_once(session):
    """
    Streams of two messages may be received side by side.
    """
    one = receive(session, Scripted("a1"), [line(say="one"), line(stop="stop")])
    two = receive(session, Scripted("a2"), [line(say="two"), line(stop="stop")])
    next(one)
    next(two)
    list(one)
    list(two)

    assert ["one", "two"] == [message.text for message in session.transcript]


def test_reconcile_settles_what_a_crash_left(open_session, store):
    """
    After a restart an abandoned step is closed.
    """
    store.append("s1", CUT)
    session = open_session(store)
    records = session.reconcile(meta={"why": "restart"})

    assert ["text.ended", "step.failed"] == [record.event.type for record in records]
    assert ErrorKind.INTERRUPTED == session.transcript.last.error.kind
    assert {"why": "restart"} == records[0].meta
    assert () == session.reconcile()


def test_reconcile_leaves_what_is_being_received(session):
    """
    A message that this session receives is not closed.
    """
    stream = receive(session, Scripted("a1"), HELLO)
    next(stream)

    assert () == session.reconcile()
    assert "step.ended" == list(stream)[-1].type


def test_reconcile_leaves_a_later_hop_that_is_being_received(session):
    """
    The messages of all hops of an answer belong to its stream.
    """
    events = receive(session, Scripted("a1"), [line(say="Hel"), line(hop="pause"), line(say="lo"), line(stop="stop")])
    for event in events:
        if event.type == "text.delta" and event.delta == "lo":
            break
    else:
        pytest.fail("the second hop says something")

    assert "a1" != event.message_id
    assert () == session.reconcile()
    assert "step.ended" == [event.type for event in events][-1]


def test_reconcile_can_abandon_calls(session):
    """
    Client calls stay open unless the app abandons them.
    """
    list(receive(session, Scripted("a1"), ASKS))

    assert () == session.reconcile(abandon_runs=True)
    assert ["tool.failed"] == [record.event.type for record in session.reconcile(abandon_calls=True)]


@pytest.mark.parametrize("more", [{}, {"progress": "c1"}])
def test_a_delta_that_came_alone_is_in_its_own_text(session, more):
    """
    It is folded before what comes behind it, though nothing has looked at it: the next text is as long as it is far.
    """
    chunks = [line(call=CALL, say="Hel"), line(say="lo"), line(said={}) + line(say="abc", **more), line(stop="stop")]
    texts = []
    with closing(receive(session, Scripted("a1"), chunks)) as events:
        for event in events:
            if event.type == "text.delta" and event.delta == "abc":
                texts = [part.text for part in session.transcript["a1"].parts if part.type == "text"]

    assert ["Hello", "abc"] == texts


def test_deltas_that_come_alone_are_not_kept(session):
    """
    Few of those that nothing has looked at wait to be folded.
    """
    chunks = [line(say="alone ") for _ in range(1_000)]
    with closing(receive(session, Scripted("a1"), chunks)) as events:
        for _ in range(1_000):
            next(events)
        waiting = sum(isinstance(each, TextDelta) and each.delta == "alone " for each in gc.get_objects())

    assert waiting < 100
