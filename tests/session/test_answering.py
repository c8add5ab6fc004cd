"""
Asking a model: when `respond` refuses, how a refusal of the chained state is answered, and what others may do
meanwhile. Both faces.
"""

import attrs
import pytest

from assistant_events.adapters import Dialect
from assistant_events.errors import ConflictError, LocalProtocolError, StoreError
from assistant_events.events import CompactionEnded, CompactionStarted, StepFailed, ToolSuccess
from assistant_events.history import DEFAULT_POLICY
from assistant_events.messages import Awaits, MessageStatus, close_message
from assistant_events.reducer import find_problems, fold
from assistant_events.session import SyncSession
from assistant_events.stores import AsyncStore, MemoryStore
from assistant_events.testing import Call, answer, durable, prompt, rewind
from assistant_events.values import ErrorInfo, ErrorKind, RemoteRun, TextContent, thaw
from tests.session.scripted import ASKS, CALL, CUT, HELLO, Provider, Scripted, Store, each, encode, line, receive

BODY = {"model": "m"}
ENDS = line(stop="stop")


class RefusedError(Exception):
    """What an SDK raises for an HTTP error."""

    def __init__(self, status):
        super().__init__("unknown response")
        self.status_code = status


def test_respond_encodes_asks_and_stores(session, store):
    """
    The request has the conversation, the answer the id that was given, and both are at hand.
    """
    client = Provider(HELLO)
    session.prompt("Hello")
    with session.respond(client, BODY, message_id="a1") as events:
        given = [(events.seq, event.type) for event in events]

    assert [{**BODY, "input": ["user: Hello"]}] == client.requests == [events.request.body]
    assert [(2, "step.started"), (3, "text.started"), (3, "text.delta"), (3, "text.delta")] == given[:4]
    assert [(4, "text.ended"), (5, "step.ended")] == given[4:]
    assert "a1" == events.answer.message_id
    assert Awaits.USER is session.transcript.awaits
    assert fold(store.read("s1")) == session.transcript


def test_the_store_knows_what_is_unfinished(session, store):
    """
    With each batch, of a verb or of a stream, the index of the store has what the transcript awaits after it.
    """

    def indexed():
        return store.unfinished().get("s1", ()) == session.transcript.unfinished()

    session.prompt("Hello")
    assert indexed()
    with session.respond(Provider(ASKS), BODY, message_id="a1") as events:
        next(events)
        assert (indexed(), Awaits.PROVIDER) == (True, session.transcript.awaits)
        list(events)
    assert (indexed(), Awaits.TOOLS) == (True, session.transcript.awaits)
    session.append(*[call.succeed("rain") for call in session.transcript.pending_tool_calls])
    assert (indexed(), Awaits.MODEL) == (True, session.transcript.awaits)
    session.rewind("a1")
    assert indexed()


def test_nothing_is_sent_before_the_block(session):
    """
    A stream that is not entered sends nothing.
    """
    client = Provider(HELLO)
    session.prompt("Hello")
    session.respond(client, BODY)

    assert [] == client.requests


REFUSED = {
    "tools": (durable(answer(calls=[Call("add", {})])), "call 'call-1' of message 'a1' has no result; append one"),
    "running": (CUT, "message 'a1' is not complete; resume it"),
}


@pytest.mark.parametrize(("events", "text"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("prompted", [False, True])
def test_respond_refuses(open_session, store, events, text, prompted):
    """
    While calls have no results or an answer runs, the model is not asked, unless the app insists.
    """
    store.append("s1", [prompt(), *events, *([prompt("And?", message_id="u2")] if prompted else [])])
    session, client = open_session(store), Provider(HELLO)

    with pytest.raises(LocalProtocolError, match=text), session.respond(client, BODY):
        pass
    assert [] == client.requests
    with session.respond(client, BODY, repair=True) as stream:
        assert "step.ended" == list(stream)[-1].type


def test_a_client_whose_dialect_has_no_encoder(session):
    """
    It is named, with what to do without one.
    """
    client = Provider(HELLO)
    client.dialect = attrs.evolve(client.dialect, encoder=None)
    session.prompt("Hello")

    text = "dialect 'acme-chat' has no encoder; send a request of your own, then decode its stream"
    with pytest.raises(LocalProtocolError, match=text), session.respond(client, BODY):
        pass


TAKEN = {
    "a complete answer": "a1",
    "a prompt": "u1",
    "a rewound answer": "a2",
    "a failed answer with a result of the app": "a3",
}


@pytest.mark.parametrize("name", TAKEN.values(), ids=TAKEN)
def test_respond_refuses_an_id_that_is_taken(session, name):
    """
    Before anything is sent: an answer that could not be stored under the id would cost money.
    """
    session.append(prompt(), *durable(answer("Hi")), *durable(answer("Bye", message_id="a2")), rewind("a2"))
    session.append(*failed_after_a_result("a3"), prompt("And?", message_id="u2"))
    client = Provider(HELLO)

    with pytest.raises(LocalProtocolError, match=f"message '{name}' exists already; use another id"):
        session.respond(client, BODY, message_id=name).__enter__()
    assert [] == client.requests


def failed_after_a_result(name):
    """Return the events of an answer that was cut after the app has answered its call."""
    started, *begun = durable(answer(calls=[Call("add", {})], message_id=name, run=RUN))[:-1]
    begun.append(ToolSuccess(message_id=name, call_id="call-1", output="2"))
    cut = ErrorInfo(kind=ErrorKind.INTERRUPTED, message="gone")
    return [started, *begun, StepFailed(message_id=name, error=cut, run=RUN)]


def test_one_answer_is_asked_for_at_a_time(session):
    """
    From the request to the end of the answer, before its first event and between its hops too, no other is asked for.
    """
    client = Provider([line(say="one"), line(hop="pause"), line(stop="stop")], HELLO)
    session.prompt("Hello")

    def ask_meanwhile():
        with pytest.raises(LocalProtocolError, match="message 'a1' is being received; leave that block first"):
            session.respond(client, BODY).__enter__()

    with session.respond(client, BODY, message_id="a1") as events:
        ask_meanwhile()
        for event in events:
            if event.type == "step.ended" and event.message_id == "a1":
                ask_meanwhile()
        with session.respond(client, BODY, repair=True) as others:
            assert "step.ended" == list(others)[-1].type
    assert 2 == len(client.requests)


def test_two_sessions_answer_one_prompt(open_session, store):
    """
    The first to begin answers. Nothing of the other is stored, and its run is stopped.
    """
    session, other = open_session(store), open_session(store)
    session.prompt("hi", message_id="u1")
    winner, loser = Provider(HELLO), Provider(HELLO)
    with other.respond(loser, {}, message_id="a2") as late:
        list(each(session.respond(winner, {}, message_id="a1")))
        with pytest.raises(LocalProtocolError, match="another writer has begun to answer, in message 'a1'; nothing"):
            next(late)

    assert ([], ["a2"]) == (winner.stopped, loser.stopped)
    assert [("u1", "hi"), ("a1", "Hello")] == [(message.id, message.text) for message in other.transcript]
    assert other.transcript == session.transcript


def test_an_answer_of_another_writer_that_was_cancelled(open_session, store):
    """
    Where it has content, the turn was not stopped: the answer that is received here comes to its end.
    """
    session, other = open_session(store), open_session(store)
    session.prompt("hi", message_id="u1")
    with session.respond(Provider(HELLO), {}, message_id="a1") as events:
        next(events)
        other.refresh()
        other.append(*durable(answer("Ho", message_id="a2"))[:-1])
        other.append(StepFailed(message_id="a2", error=ErrorInfo(kind=ErrorKind.CANCELLED, message="x")))
        session.refresh()
        list(events)

    assert ("Hello", "Ho") == tuple(session.transcript[name].text for name in ("a1", "a2"))
    assert MessageStatus.COMPLETED == session.transcript["a1"].status


def test_a_rewind_behind_an_answer_of_another_writer(open_session, store):
    """
    It closes nothing of the answer, which comes to its end.
    """
    session, other = open_session(store), open_session(store)
    session.prompt("hi", message_id="u1")
    with other.respond(Provider(HELLO), {}, message_id="a1") as events:
        next(events)
        session.prompt("And?", message_id="u2")
        session.rewind("u2")
        list(events)

    assert [("u1", "hi"), ("a1", "Hello")] == [(message.id, message.text) for message in other.transcript]
    assert MessageStatus.COMPLETED == other.transcript.last.status


def test_an_answer_of_another_writer_that_was_rewound(open_session, store):
    """
    Its prompt may be asked with another request by now: the stream ends without an exception, and its run is stopped.
    """
    session, other = open_session(store), open_session(store)
    session.prompt("hi", message_id="u1")
    loser = Provider(HELLO)
    with other.respond(loser, {}, message_id="a2") as late:
        list(each(session.respond(Provider(HELLO), {}, message_id="a1")))
        session.regenerate("a1")
        assert [] == list(late)

    assert ["a2"] == loser.stopped
    assert ["u1"] == [message.id for message in open_session(store).transcript]


def test_answers_that_the_app_numbers(session):
    """
    The second one does not belong to the first, whose id has the same beginning: it is behind its own prompt.
    """
    for number in ("1", "2"):
        session.prompt(number)
        list(each(session.respond(Provider(HELLO), {}, message_id=f"chat.{number}")))

    assert ["1", "Hello", "2", "Hello"] == [message.text for message in session.transcript]


def test_respond_asks_with_what_others_have_written(open_session, store):
    """
    Records of other writers are read before the request is made.
    """
    session, other = open_session(store), open_session(store)
    other.prompt("hi", message_id="u1")
    client = Provider(HELLO)
    list(each(session.respond(client, {}, message_id="a1")))
    with pytest.raises(LocalProtocolError, match="message 'a1' exists already"):
        list(each(other.respond(client, {}, message_id="a1")))

    assert [{"input": ["user: hi"]}] == client.requests


def test_prompt_can_abandon_calls(session):
    """
    A prompt fails the calls without a result in its batch, and the model is asked next.
    """
    list(receive(session, Scripted("a1"), ASKS))
    records = session.prompt("Never mind.", abandon_calls=True)

    assert ["tool.failed", "prompt.submitted"] == [record.event.type for record in records]
    assert Awaits.MODEL is session.transcript.awaits


def test_a_prompt_leaves_calls_that_wait(session):
    """
    By itself it fails none: their results may still come, and the model is asked when they have.
    """
    list(receive(session, Scripted("a1"), ASKS))
    records = session.prompt("Hurry.")

    assert ["prompt.submitted"] == [record.event.type for record in records]
    assert (1, Awaits.TOOLS) == (len(session.transcript.pending_tool_calls), session.transcript.awaits)


def test_a_repeated_prompt_abandons_no_calls(session):
    """
    A prompt that came before stores nothing: the calls that wait are of its own answer.
    """
    session.prompt("Buy it.", message_id="u9")
    list(receive(session, Scripted("a1"), ASKS))
    records = session.prompt("Buy it.", message_id="u9", abandon_calls=True)

    assert not records
    assert 1 == len(session.transcript.pending_tool_calls)


ASKED_BEFORE = [prompt(), *durable(answer("Hi", message_id="a0")), prompt("And?", message_id="u2")]
REFUSALS = {
    "HTTP 404": ([RefusedError(404)], 0),
    "HTTP 400": ([RefusedError(400)], 0),
    "HTTP 501": ([RefusedError(501)], 0),
    "an error of the stream": ([line(fail="not-found")], 0),
    "an error after the start": ([line(think=""), RefusedError(404)], 1),
}


@pytest.mark.parametrize(("refused", "stored"), REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_of_the_chained_state(open_session, store, refused, stored):
    """
    The full history is sent once, under the same id; of the first try at most its start is stored, which restarts.
    """
    store.append("s1", ASKED_BEFORE)
    session, client = open_session(store), Provider(refused, HELLO)
    with session.respond(client, BODY, message_id="a1") as events:
        types = [event.type for event in events]

    assert ["user: And?"] == client.requests[0]["input"]
    assert ["user: hi", "assistant", "user: And?"] == client.requests[1]["input"]
    assert (2, "full") == (len(client.requests), events.request.mode)
    assert (["step.started", "step.restarted"] if stored else ["step.started"]) == types[: 1 + stored]
    assert "step.failed" not in types
    assert ("Hello", MessageStatus.COMPLETED) == (session.transcript["a1"].text, session.transcript["a1"].status)
    assert [] == find_problems(store.read("s1"))
    if stored:
        assert ["the provider does not continue the conversation: RefusedError: unknown response"] == [
            event.reason for event in store.events if event.type == "step.restarted"
        ]


def test_a_refusal_of_the_full_history_of_what_is_stored(session, store):
    """
    Where the provider stores answers, the same request is not sent again either.
    """
    store.append("s1", ASKED_BEFORE)
    client = Provider([RefusedError(404)], HELLO)
    client.dialect = attrs.evolve(client.dialect, policy=attrs.evolve(DEFAULT_POLICY, storage_key="response_id"))
    list(each(session.respond(client, BODY, message_id="a1", mode="full")))

    assert 1 == len(client.requests)
    assert ErrorKind.NOT_FOUND == session.transcript["a1"].error.kind


def test_a_refusal_of_the_full_history_with_what_is_stored(session, store):
    """
    A full history that names what the provider stores is sent once more without it.
    """
    store.append("s1", ASKED_BEFORE)
    client = Provider([RefusedError(404)], HELLO)
    encode = client.dialect.encoder

    def naming(*given, mode, policy=None, **options):
        encoded = encode(*given, mode="full", **options)
        return attrs.evolve(encoded, body={**encoded.body, "stored": ["rs_1"] if policy is None else []})

    policy = attrs.evolve(DEFAULT_POLICY, storage_key="stored")
    client.dialect = attrs.evolve(client.dialect, policy=policy, encoder=naming)
    list(each(session.respond(client, BODY, message_id="a1")))

    assert [["rs_1"], []] == [request["stored"] for request in client.requests]
    assert "Hello" == session.transcript["a1"].text


def test_the_connection_of_a_refusal_is_closed(session, store):
    """
    It ends before the full history is answered, and not at some later time.
    """
    store.append("s1", ASKED_BEFORE)
    open_ = ["first"]

    def refused():
        try:
            yield line(fail="not-found")
            yield line(say="more")
        finally:
            open_.clear()

    def answered():
        assert [] == open_
        yield from HELLO

    class Holding(Provider):
        def _sent(self, chunks):
            return chunks

    chunks = [refused(), answered()]  # held here too, so that none is closed by the interpreter
    list(each(session.respond(Holding(*chunks), BODY, message_id="a1")))

    assert "Hello" == session.transcript["a1"].text


def test_the_place_of_a_stream_before_its_first_event(open_session, store):
    """
    It is that of the record that the answer follows, also of another writer.
    """
    session = open_session(store)
    stream = session.respond(Provider(HELLO), BODY)
    open_session(store).prompt("Hi")
    with stream as events:
        assert 1 == events.seq


def test_the_answer_after_a_refusal_is_stored_as_it_begins(session, store):
    """
    What its start has is in the restart: the run, by which it is resumed, and the state.
    """
    store.append("s1", ASKED_BEFORE)
    begun = [line(lives="r2", keeps={"k": 1}), *HELLO]
    client = Provider(REFUSALS["an error after the start"][0], begun)
    list(each(session.respond(client, BODY, message_id="a1")))
    [restarted] = [event for event in store.events if event.type == "step.restarted"]

    assert ("r2", {"k": 1}) == (restarted.run.id, thaw(restarted.state))
    assert "m" == restarted.origin.model


def test_a_failure_behind_content_that_was_stored_unseen(session, store):
    """
    The store has raised, and has the content all the same: it is not asked for again.
    """
    store.append("s1", ASKED_BEFORE)
    client = Provider([line(say="Hi", said={}), line(fail="not-found")], HELLO)
    stream = session.respond(client, BODY, message_id="a1")
    store.lose = StoreError("connection lost")
    with pytest.raises(StoreError):
        list(each(stream))
    list(each(stream))

    assert (1, "Hi") == (len(client.requests), session.transcript["a1"].text)
    assert MessageStatus.FAILED is session.transcript["a1"].status


ONCE = {
    "refused again": ([RefusedError(404)], [RefusedError(404)], 2),
    "another error": ([RefusedError(429)], HELLO, 1),
    "after content": ([line(say="Hi"), RefusedError(404)], HELLO, 1),
    "after content of the same chunk": ([line(say="Hi") + line(fail="not-found")], HELLO, 1),
}


@pytest.mark.parametrize(("first", "second", "requests"), ONCE.values(), ids=ONCE)
def test_other_failures_are_not_asked_again(open_session, store, first, second, requests):
    """
    It is sent again only for that reason, and only once; the failure is the error of the message.
    """
    store.append("s1", ASKED_BEFORE)
    session, client = open_session(store), Provider(first, second)
    list(each(session.respond(client, BODY, message_id="a1")))

    assert (requests, MessageStatus.FAILED) == (len(client.requests), session.transcript["a1"].status)


def test_a_refusal_of_the_full_history(session):
    """
    Nor is a request that had all of it: the refusal is the error of the message.
    """
    client = Provider([RefusedError(404)], HELLO)
    session.prompt("Hello")
    list(each(session.respond(client, BODY, message_id="a1")))

    assert (1, MessageStatus.FAILED) == (len(client.requests), session.transcript["a1"].status)


def test_an_encoder_that_always_chains(open_session, store):
    """
    Nor is an encoder that sends no full history asked for one more request after the second.
    """

    class Chaining(Provider):
        dialect = Dialect(name="acme-chat", decoder=Scripted, encoder=lambda *given, **_: encode(*given, mode="auto"))

    store.append("s1", ASKED_BEFORE)
    session, client = open_session(store), Chaining(*[[RefusedError(404)]] * 3)
    list(each(session.respond(client, BODY, message_id="a1")))

    assert (2, MessageStatus.FAILED) == (len(client.requests), session.transcript["a1"].status)


def test_a_hop_that_is_refused(open_session, store):
    """
    A token that has expired continues nothing: the full history is sent.
    """
    asked = []

    def encoder(*given, mode="auto", **how):
        asked.append(mode)
        return attrs.evolve(encode(*given, mode="full"), mode="full" if mode == "full" else "hop")

    class Hopping(Provider):
        dialect = Dialect(name="acme-chat", decoder=Scripted, encoder=encoder)

    store.append("s1", ASKED_BEFORE)
    session, client = open_session(store), Hopping([RefusedError(404)], HELLO)
    list(each(session.respond(client, BODY, message_id="a1")))

    assert (["auto", "full"], None) == (asked, session.transcript["a1"].error)


def test_a_refusal_when_a_failed_answer_is_asked_for_again(open_session, store):
    """
    The answer to the full history restarts the failed one, and its hops start as messages of their own.
    """
    store.append("s1", ASKED_BEFORE)
    hops = [line(say="one"), line(hop="pause"), line(think=""), line(say="two"), line(stop="stop")]
    session, client = open_session(store), Provider([ConnectionError("gone")], [RefusedError(404)], hops)
    list(each(session.respond(client, BODY, message_id="a1")))
    list(each(session.respond(client, BODY, message_id="a1")))

    assert 3 == len(client.requests)
    assert ("one", "two") == (session.transcript["a1"].text, session.transcript["a1.2"].text)


REFUSED_STATE = [OSError("invalid_encrypted_content")]


class Refusing(Provider):
    """A provider whose encoder leaves state out before an error of refused state, as those of dialects do."""

    def __init__(self, *answers, chained=False):
        super().__init__(*answers)
        self.known = []
        self.chained = chained
        self.dialect = Dialect(name="acme-chat", decoder=Scripted, encoder=self.encode)

    def encode(self, messages, body, *, mode="auto", **how):
        kept = [message for message in messages if getattr(message, "error", None) is None]
        self.known.append((mode, [message.id for message in messages]))
        said = encode(kept, body, mode=mode if self.chained else "full", **how)
        return attrs.evolve(said, body={**said.body, "bare": len(kept) < len(self.known[-1][1])})


@pytest.mark.parametrize("chained", [False, True], ids=["full", "chained"])
def test_state_that_was_refused_is_left_out(open_session, store, chained):
    """
    The provider cannot read it any more: the answer is asked for once without any, under its id, also by a regenerate.
    """
    store.append("s1", ASKED_BEFORE)
    session = open_session(store)
    client = Refusing(REFUSED_STATE, HELLO, [line(think=""), *REFUSED_STATE], HELLO, chained=chained)
    list(each(session.respond(client, BODY, message_id="a1")))
    session.regenerate("a1")
    list(each(session.respond(client, BODY, message_id="a2")))

    assert [("auto", ["u1", "a0", "u2"]), ("full", ["u1", "a0", "u2", "refused"])] * 2 == client.known
    assert ["user: hi", "assistant", "user: And?"] == client.requests[1]["input"]
    assert ("Hello", None) == (session.transcript["a2"].text, session.transcript["a2"].error)
    assert "step.failed" not in [record.event.type for record in store.read("s1")]
    assert {"refused_state": "invalid_encrypted_content"} == thaw(session.transcript["a2"].details)


def test_hops_of_an_answer_without_state(open_session, store):
    """
    Only the first one has the refusal before it: its own state is good.
    """
    store.append("s1", ASKED_BEFORE)
    session = open_session(store)
    hops = [line(say="one"), line(hop="pause"), line(think=""), line(say="two"), line(stop="stop")]
    list(each(session.respond(Refusing(REFUSED_STATE, hops), BODY, message_id="a1")))

    assert {"refused_state": "invalid_encrypted_content"} == thaw(session.transcript["a1"].details)
    assert ("two", {}) == (session.transcript["a1.2"].text, thaw(session.transcript["a1.2"].details))


def test_details_of_an_answer_without_state(open_session, store):
    """
    Those of the provider stay beside the refusal.
    """

    class Detailed(Scripted):
        def on_stop(self, finish):
            self.recorder.finish(finish, details={"tier": "flex"})
            self.end_answer()

    store.append("s1", ASKED_BEFORE)
    client = Refusing(REFUSED_STATE, HELLO)
    client.dialect = Dialect(name="acme-chat", decoder=Detailed, encoder=client.encode)
    session = open_session(store)
    list(each(session.respond(client, BODY, message_id="a1")))

    found = thaw(session.transcript["a1"].details)
    assert {"tier": "flex", "refused_state": "invalid_encrypted_content"} == found


def test_an_answer_without_state_that_fails(open_session, store):
    """
    It, too, keeps why nothing before it has its state.
    """
    store.append("s1", ASKED_BEFORE)
    session = open_session(store)
    list(each(session.respond(Refusing(REFUSED_STATE, [line(fail="not-found")]), BODY, message_id="a1")))

    assert "invalid_encrypted_content" == session.transcript["a1"].details["refused_state"]


def test_a_request_without_state_that_is_refused(open_session, store):
    """
    One that had none is not made again, whatever the words of the error are.
    """
    store.append("s1", ASKED_BEFORE)
    session, client = open_session(store), Provider(REFUSED_STATE, HELLO)
    client.dialect = Dialect(
        name="acme-chat", decoder=Scripted, encoder=lambda known, *given, **_: encode(known[:3], *given, mode="full")
    )
    list(each(session.respond(client, BODY, message_id="a1")))

    assert (1, MessageStatus.FAILED) == (len(client.requests), session.transcript["a1"].status)


def test_an_answer_whose_request_had_state_that_was_refused(open_session, store):
    """
    When it is asked for again, its encoder knows why it failed: the same request would be refused for ever.
    """
    store.append("s1", ASKED_BEFORE)
    session, client = open_session(store), Refusing(REFUSED_STATE, REFUSED_STATE, HELLO)
    for _ in range(2):
        list(each(session.respond(client, BODY, message_id="a1")))

    assert ["u1", "a0", "u2", "a1"] == client.known[-1][1]
    assert (3, "Hello") == (len(client.requests), session.transcript["a1"].text)


def test_a_failed_answer_is_asked_for_again(session):
    """
    With the id of a failed answer, the new one replaces it.
    """
    client = Provider([ConnectionError("gone")], HELLO)
    session.prompt("Hello")
    list(each(session.respond(client, BODY, message_id="a1")))
    failed = session.transcript["a1"].status
    types = [event.type for event in each(session.respond(client, BODY, message_id="a1"))]

    assert (MessageStatus.FAILED, "step.restarted") == (failed, types[0])
    assert ["user: Hello"] == client.requests[1]["input"]
    assert "Hello" == session.transcript["a1"].text


RUN = RemoteRun(id="r1", kind="response", resumable=True)


def test_resume(open_session, store):
    """
    What a process left running is taken up, from its run.
    """
    store.append("s1", [prompt(), *list(durable(answer("Hello", run=RUN)))[:2]])
    session, client = open_session(store), Provider(HELLO)
    with session.resume(client) as events:
        types = [event.type for event in events]

    assert (["a1"], None) == (client.resumed, events.request)
    assert ("step.ended", "Hello") == (types[-1], session.transcript["a1"].text)
    with pytest.raises(LocalProtocolError, match=r"nothing can be resumed: no run continues \(awaits: user\)"):
        session.resume(client).__enter__()


def test_resume_takes_a_run_that_can_be_resumed(open_session, store):
    """
    A running answer without one, or without any, is left alone, also when nothing else is there to resume.
    """
    lost = RemoteRun(id="r0", kind="response", resumable=False)
    store.append("s1", [prompt(), *durable(answer("Hi", run=lost, message_id="a0"))[:2]])
    session, client = open_session(store), Provider(HELLO)
    with pytest.raises(LocalProtocolError, match=r"nothing can be resumed: no run continues \(awaits: provider\)"):
        session.resume(client).__enter__()
    without = durable(answer("Ho", message_id="a2"))[:1]
    store.append("s1", [*without, *durable(answer("Hello", run=RUN))[:2]])
    session.refresh()
    list(each(session.resume(client)))

    assert ["a1"] == client.resumed


def test_resume_of_an_answer_that_cannot_restart(session):
    """
    An answer that was cut after the app has answered its call stays as it is, so its run is not asked for.
    """
    session.append(prompt(), *failed_after_a_result("a1"))
    client = Provider(HELLO)

    with pytest.raises(LocalProtocolError, match="message 'a1' cannot be resumed: the app has run a call of it; stop"):
        session.resume(client).__enter__()
    assert [] == client.resumed


class Recording(Provider):
    """
    A client that remembers what itself, its encoder and its decoders are given.
    """

    def __init__(self, *answers):
        super().__init__(*answers)
        self.given = []
        self.dialect = Dialect(name="acme-chat", decoder=self.decoder, encoder=self.encoder)

    def decoder(self, message_id, **options):
        self.given.append(options)
        return Scripted(message_id, prior=options["prior"])

    def encoder(self, *args, **options):
        self.given.append(options["provider"])
        return encode(*args, **options)

    def create(self, body, message_id, *, prior=None):
        self.given.append(prior)
        return super().create(body, message_id, prior=prior)

    def resume(self, message, *, request=None):
        self.given.append(request)
        return super().resume(message, request=request)


def test_what_a_client_is_given(open_session, store):
    """
    The decoder has the request that was sent, the provider and what is stored; the client the failed answer.
    """
    store.append("s1", [prompt(), *list(durable(answer("Hello", run=RUN)))[:2]])
    session, client = open_session(store), Recording([ConnectionError("gone")], [ConnectionError("gone")], HELLO)
    cut = session.transcript
    list(each(session.resume(client, request=BODY)))
    resumed = [BODY, {"request": BODY, "prior": cut, "provider": "acme"}]
    assert resumed == client.given

    session.rewind("a1")
    for name in ("a2", "a2"):
        failed = session.transcript.get(name)
        list(each(session.respond(client, BODY, message_id=name)))
        sent = {**BODY, "input": ["user: hi"]}
        options = {"request": sent, "prior": failed, "continues": None, "provider": "acme"}
        assert ["acme", failed, options] == client.given[-3:]


class Decoding(Recording):
    """
    A client that is given the paused message, among other things.
    """

    def create(self, body, message_id, **options):
        self.given.append(options)
        return super().create(body, message_id, prior=options["prior"])


@pytest.mark.parametrize("client", [Recording, Decoding], ids=lambda client: client.__name__)
def test_the_answer_behind_a_pause(session, client):
    """
    Its decoder is given the paused message; so is a client that takes it, and others are asked without.
    """
    client = client([line(say="one"), line(stop="pause")], HELLO)
    session.prompt("hi")
    list(each(session.respond(client, BODY, message_id="a1")))
    assert client.given[-1]["continues"] is None
    list(each(session.respond(client, BODY, message_id="a2")))

    paused = session.transcript["a1"]
    assert ("pause", "Hello") == (paused.finish_reason, session.transcript["a2"].text)
    assert paused == client.given[-1]["continues"]
    if isinstance(client, Decoding):
        assert {"prior": None, "continues": paused} == client.given[-3]


def test_a_paused_answer_is_continued_after_a_failed_attempt(open_session, store):
    """
    Both attempts are given the answer that was paused; another answer or a prompt ends that.
    """
    paused, failed = [line(stop="pause")], [line(fail="overloaded")]
    session, client = open_session(store), Recording(paused, failed, paused, HELLO, HELLO)
    session.prompt("hi", message_id="u1")
    for name in ("a1", "a2", "a3", "a4"):
        list(each(session.respond(client, BODY, message_id=name)))
    session.prompt("And?", message_id="u2")
    list(each(session.respond(client, BODY, message_id="a5")))

    continued = [options["continues"] for options in client.given if isinstance(options, dict)]
    assert [None, "a1", "a1", "a3", None] == [each and each.id for each in continued]


NOT_PROMPTS = {
    "None": (None, ValueError),
    "empty": ("", ValueError),
    "no items": ([], ValueError),
    "no fields": ({}, ValueError),
    "an empty text": (TextContent(""), ValueError),
    "empty items": (["", TextContent(""), None, {}], ValueError),
    "a provider's message": ({"role": "user", "content": "Hi"}, TypeError),
    "a provider's messages": (["Hi", {"role": "user", "content": "Hi"}], TypeError),
    "a provider's text": ([{"type": "text", "text": "Hi"}], TypeError),
    "a text of Responses": ({"type": "input_text", "text": "Hi"}, TypeError),
    "a provider's image": (["Hi", {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}], TypeError),
    "an image of Anthropic": ([{"type": "image", "source": {"type": "url", "url": "https://a.example"}}], TypeError),
    "an image of Responses": ([{"type": "input_image", "image_url": "https://a.example/b.png"}], TypeError),
    "a stored image": ([{"type": "media", "media_type": "image/png", "uri": "https://a.example/b.png"}], TypeError),
}


def test_a_table_with_a_column_role(session):
    """
    JSON is content, also where its objects have a field that messages and contents of providers have.
    """
    rows = [{"name": "Ann", "role": "admin", "type": "text"}]
    session.prompt(rows)

    assert rows == thaw(session.transcript.last.content[0].value)


def test_a_refused_request_and_a_prompt_meanwhile():
    """
    A full request that was refused is not sent again: the prompt that has come is answered next.
    """

    def refused():
        session.prompt("And this")
        yield line(fail="invalid-request")

    session, client = SyncSession.open(MemoryStore(), "s1"), Provider(refused(), HELLO)
    session.prompt("Hi")
    list(each(session.respond(client, BODY)))

    assert (1, Awaits.MODEL) == (len(client.requests), session.transcript.awaits)


@pytest.mark.parametrize(("content", "error"), NOT_PROMPTS.values(), ids=NOT_PROMPTS)
def test_what_is_not_a_prompt(session, store, content, error):
    """
    Mistakes are refused with what was expected, and nothing is stored.
    """
    with pytest.raises(error, match=r"content: expected a prompt( that is not empty)?, got"):
        session.prompt(content)

    assert [] == store.batches


def test_an_id_is_not_empty(session, store):
    """
    An empty id is a mistake of the app, and not the wish for a new one.
    """
    session.prompt("Hello", message_id="u1")
    for verb in (lambda: session.prompt("Hi", message_id=""), lambda: session.edit("u1", "Hi", new_message_id="")):
        with pytest.raises(ValueError, match="message_id: expected a non-empty string"):
            verb()

    assert [["prompt.submitted"]] == store.batches


def test_a_session_is_opened(session):
    """
    A session without `open`, and one of a path, name the way.
    """
    cls = type(getattr(session, "_session", session))
    with pytest.raises(TypeError, match=rf"a session is opened with `.*{cls.__name__}.open\(store, session_id\)`"):
        cls("chat.db", "s1")


@pytest.mark.parametrize(("store", "name"), [("chat.db", "str"), (MemoryStore, "the class MemoryStore")], ids=str)
def test_a_store_is_not_a_path(store, name):
    """
    A path is not a store, nor is a class, and the error shows one.
    """
    with pytest.raises(TypeError, match=rf'store: expected a store, such as SqliteStore\("chat.db"\), got {name}$'):
        SyncSession.open(store, "s1")


def test_a_decoder_is_not_its_class(session):
    """
    Nor is the class of a decoder one, or nothing.
    """
    for decoder in (None, Scripted):
        with pytest.raises(TypeError, match=r'decoder: expected one such as dialect\.decoder\("a1"\), got '):
            session.decode(decoder, HELLO)


def test_a_store_of_the_other_face():
    """
    A session without an event loop refuses an asynchronous store.
    """
    with pytest.raises(TypeError, match="SyncSession takes a synchronous store; an asynchronous one is for Session"):
        SyncSession.open(AsyncStore(MemoryStore()), "s1")


def said(session):
    return [message.id for message in session.transcript]


def test_rewind_regenerate_and_edit(session, store):
    """
    Each is one batch, and returns its records.
    """
    session.append(prompt(), *durable(answer("Hi")), prompt("And?", message_id="u2"))
    session.rewind("u2")
    assert (["u1", "a1"], [["history.rewound"]]) == (said(session), store.batches[1:])
    session.regenerate("a1")
    assert (["u1"], Awaits.MODEL) == (said(session), session.transcript.awaits)
    records = session.edit("u1", "Bye", new_message_id="u3")

    assert ["u3"] == said(session)
    assert ["history.rewound", "prompt.submitted"] == [record.event.type for record in records] == store.batches[-1]


SUMMARY = (
    CompactionStarted(message_id="s1", reason="manual"),
    CompactionEnded(message_id="s1", text="A greeting."),
)


@pytest.mark.parametrize(
    ("verb", "arguments", "text"),
    [
        ("rewind", ("u9",), "session 's1': message 'u9' does not exist"),
        ("regenerate", ("u1",), "message 'u1' is not an answer; regenerate takes one, edit a prompt"),
        ("regenerate", ("s1",), "message 's1' is not an answer; regenerate takes one, edit a prompt"),
        ("edit", ("a1", "Bye"), "message 'a1' is not a prompt; edit takes a prompt"),
    ],
)
def test_verbs_that_do_not_apply(session, verb, arguments, text):
    """
    A message of the wrong kind, or none, is refused in plain words.
    """
    session.append(prompt(), *durable(answer("Hi")), *SUMMARY)

    with pytest.raises(LocalProtocolError, match=text):
        getattr(session, verb)(*arguments)
    assert "s1" == session.transcript.last.id


def test_another_answer_for_one_that_others_have_removed(open_session, store):
    """
    It is there no more, as if it had never been.
    """
    store.append("s1", [prompt(), *durable(answer("Hi"))])
    session = open_session(store)
    store.append("s1", [rewind("u1")])

    with pytest.raises(LocalProtocolError, match="message 'a1' "):
        session.regenerate("a1")
    assert rewind("u1") == store.events[-1]


# -- what others append while an answer comes

CANCELLED = ErrorInfo(kind=ErrorKind.CANCELLED, message="stopped")


def cancels(transcript):
    return close_message(transcript["a1"], CANCELLED)


OTHERS = {
    "prompts": (lambda _: [prompt("And?", message_id="u2")], "whole"),
    "answers": (lambda _: [ToolSuccess(message_id="a1", call_id="c1", output="rain")], "whole"),
    "rewinds the answer": (lambda _: [rewind("a1")], "ended"),
    "rewinds the prompt": (lambda _: [rewind("u1")], "ended"),
    "cancels": (cancels, "ended"),
    "fails it for another reason": (
        lambda transcript: close_message(transcript["a1"], ErrorInfo(kind=ErrorKind.INTERRUPTED, message="gone")),
        "refused",
    ),
    "leaves it": (
        lambda transcript: close_message(transcript["a1"], ErrorInfo(kind=ErrorKind.ABORTED, message="gone")),
        "refused",
    ),
}
STREAM = [line(call={"id": "c1", "name": "weather"}), line(say="Hel"), line(say="lo"), line(stop="tool-calls")]


@pytest.mark.parametrize("who", ["another process", "this session"])
@pytest.mark.parametrize(("events", "outcome"), OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("position", range(1, 6))
def test_others_during_an_answer(open_session, store, events, outcome, position, who):
    """
    Prompts and answers of others leave the answer whole; a rewind or a cancellation ends it without an exception, and
    its run is stopped; other events of the same step are refused. Nothing of anyone is lost.
    """
    session, client = open_session(store), Provider(STREAM)
    session.prompt("Hello", message_id="u1")
    other = open_session(store) if who == "another process" else session

    def stream():
        with session.respond(client, BODY, message_id="a1") as answers:
            for count, _ in enumerate(answers, 1):
                if count == position:
                    other.refresh()
                    other.append(*events(other.transcript))

    if outcome == "refused":
        with pytest.raises(LocalProtocolError, match="another writer appends to message 'a1'"):
            stream()
    else:
        stream()
    session.refresh()

    assert [] == find_problems(store.read("s1"))
    assert fold(store.read("s1")) == session.transcript
    assert all(event in store.events for event in events(other.transcript) if not isinstance(event, StepFailed))
    if outcome == "whole":
        assert ("Hello", MessageStatus.COMPLETED) == (session.transcript["a1"].text, session.transcript["a1"].status)
    # From the third event on, another process is noticed when the provider has ended the answer.
    stopped = outcome == "ended" and (who == "this session" or position < 3)
    assert (["a1"] if stopped else []) == client.stopped


CONFLICTS = {
    "a prompt": ("prompt", ("And?",), prompt("theirs", message_id="u9"), True),
    "a result": ("append", (ToolSuccess(message_id="a1", call_id="c1", output="rain"),), prompt(message_id="u9"), True),
    "a rewind": ("rewind", ("a1",), prompt(message_id="u9"), True),
    "an edit": ("edit", ("u1", "Bye"), prompt(message_id="u9"), True),
    "a result of a call that was answered": (
        "append",
        (ToolSuccess(message_id="a1", call_id="c1", output="rain"),),
        ToolSuccess(message_id="a1", call_id="c1", output="sun"),
        False,
    ),
    "a rewind of a message that got a result": (
        "rewind",
        ("a1",),
        ToolSuccess(message_id="a1", call_id="c1", output="sun"),
        False,
    ),
    "another answer for one that got a result": (
        "regenerate",
        ("a1",),
        ToolSuccess(message_id="a1", call_id="c1", output="sun"),
        True,
    ),
    "a result of a message that was rewound": (
        "append",
        (ToolSuccess(message_id="a1", call_id="c1", output="rain"),),
        rewind("u1"),
        False,
    ),
    "a prompt after a rewind": ("prompt", ("And?",), rewind("u1"), True),
}


@pytest.mark.parametrize(("verb", "arguments", "theirs", "retried"), CONFLICTS.values(), ids=CONFLICTS)
def test_conflicts(open_session, store, verb, arguments, theirs, retried):
    """
    A verb appends behind what others wrote, unless that touched a message that it names; then the app decides.
    """
    store.append("s1", [prompt(), *durable(Scripted("a1").feed(b"".join(ASKS)))])
    session = open_session(store)
    store.append("s1", [theirs])
    if retried:
        records = getattr(session, verb)(*arguments)
        assert store.seq("s1") == records[-1].seq
    else:
        with pytest.raises(ConflictError):
            getattr(session, verb)(*arguments)
        assert theirs == store.events[-1]

    assert fold(store.read("s1")) == session.transcript
    assert [] == find_problems(store.read("s1"))


def test_a_prompt_before_the_first_byte(session, store):
    """
    A prompt that comes while the model was asked, and has not begun, is behind the answer, which has not read it;
    it is the next that the model is asked with.
    """

    def chunks():
        store.append("s1", [prompt("And you?", message_id="u2")])
        yield from HELLO

    client = Provider(chunks(), (line(say="Well"), line(stop="stop")))
    session.prompt("Hi", message_id="u1")
    [started, *_] = list(each(session.respond(client, BODY, message_id="a1")))

    assert "u2" == started.before
    assert (["u1", "a1", "u2"], Awaits.MODEL) == ([each.id for each in session.transcript], session.transcript.awaits)
    assert 1 == len(client.requests)
    list(each(session.respond(client, BODY, message_id="a2")))
    assert ["Hi", "Hello", "And you?", "Well"] == [message.text for message in fold(store.read("s1"))]
    assert session.transcript == fold(store.read("s1"))
    assert Awaits.USER is session.transcript.awaits


def test_prompts_of_the_session_before_the_first_byte():
    """
    So do several of the same session, of which one is edited meanwhile, of a stream that the app decodes.
    """
    store = MemoryStore()
    session = SyncSession.open(store, "s1")

    def chunks():
        session.prompt("One", message_id="u2")
        session.edit("u2", "Two", new_message_id="u3")
        session.prompt("Three", message_id="u4")
        yield from HELLO

    session.prompt("Hi", message_id="u1")
    list(each(session.decode(Scripted("a1"), chunks())))

    assert ["u1", "a1", "u3", "u4"] == [message.id for message in session.transcript]
    assert session.transcript == fold(store.read("s1"))
    assert [] == find_problems(store.read("s1"))


def test_a_prompt_that_is_edited_while_the_start_is_stored():
    """
    The answer has read neither form of it, and is before the last one: it is answered next.
    """
    others = [[prompt("One", message_id="u2")], [rewind("u2"), prompt("Two", message_id="u3")]]

    class Busy(MemoryStore):
        def append(self, session_id, events, **more):
            if others and any(event.type == "step.started" for event in events):
                super().append(session_id, others.pop(0))
            return super().append(session_id, events, **more)

    store = Busy()
    session = SyncSession.open(store, "s1")
    session.prompt("Hi", message_id="u1")
    list(each(session.respond(Provider(HELLO), BODY, message_id="a1")))

    assert ["u1", "a1", "u3"] == [message.id for message in fold(store.read("s1"))]
    assert Awaits.MODEL is session.transcript.awaits


HOPS = (line(say="A"), line(hop="pause"), line(say="B"), line(stop="stop"))
"""An answer that is given in two messages."""


def ids_of(session):
    return [message.id for message in session.transcript]


def test_a_prompt_behind_an_answer_that_is_asked_for_again():
    """
    All messages of the answer are before it, the second one, too.
    """
    session = SyncSession.open(MemoryStore(), "s1")
    client = Provider((line(say="x"), ConnectionResetError("x")), HOPS)
    session.prompt("One", message_id="u1")
    list(each(session.respond(client, BODY, message_id="a1")))
    session.prompt("Two", message_id="u2")
    list(each(session.respond(client, BODY, message_id="a1")))

    assert (["u1", "a1", "a1.2", "u2"], Awaits.MODEL) == (ids_of(session), session.transcript.awaits)
    assert ["user: One"] == client.requests[1]["input"]


def test_a_prompt_that_the_second_request_has():
    """
    A provider that does not continue a conversation is asked again with the prompts that have come: they are read.
    """
    session = SyncSession.open(MemoryStore(), "s1")
    client = Provider(HELLO)
    session.prompt("Zero", message_id="u0")
    list(each(session.respond(client, BODY, message_id="a0")))
    session.prompt("One", message_id="u1")

    def chunks():
        session.prompt("Two", message_id="u2")
        yield line(fail="not-found")

    client.answers = [chunks(), HELLO]
    list(each(session.respond(client, BODY, message_id="a1")))

    assert (["u0", "a0", "u1", "u2", "a1"], Awaits.USER) == (ids_of(session), session.transcript.awaits)


@pytest.mark.parametrize("edited", [True, False])
def test_what_others_did_before_the_first_byte_and_pruned(edited):
    """
    What is not in the log any more is in the snapshot: an answer to a prompt that was edited is not stored, one to a
    prompt that has got another behind it is before that.
    """
    store = MemoryStore()
    session, client = SyncSession.open(store, "s1"), Provider(HELLO)
    session.prompt("Zero", message_id="u0")
    list(each(session.respond(client, BODY, message_id="a0")))
    session.prompt("One", message_id="u1")

    def chunks():
        other = SyncSession.open(store, "s1")
        _ = other.edit("u1", "Two", new_message_id="u2") if edited else other.prompt("Two", message_id="u2")
        prune(other, store)
        yield from HELLO

    client.answers = [chunks()]
    list(each(session.respond(client, BODY, message_id="a1")))

    assert (["u0", "a0", "u2"] if edited else ["u0", "a0", "u1", "a1", "u2"]) == ids_of(SyncSession.open(store, "s1"))
    assert edited is (["a1"] == client.stopped)


def test_an_answer_that_others_rewind_in_its_middle_and_prune():
    """
    The stream ends without an exception and its run is stopped, as when the record of the rewind can be read.
    """
    store = MemoryStore()
    session, client = SyncSession.open(store, "s1"), Provider()
    session.prompt("One", message_id="u1")

    def chunks():
        yield HELLO[0]
        other = SyncSession.open(store, "s1")
        other.edit("u1", "Two", new_message_id="u2")
        prune(other, store)
        yield from ASKS

    client.answers = [chunks()]
    list(each(session.respond(client, BODY, message_id="a1")))

    assert ["u2"] == ids_of(SyncSession.open(store, "s1")) == ids_of(session)
    assert ["a1"] == client.stopped


def test_an_answer_that_others_began_before_the_first_byte_and_pruned():
    """
    The later one is refused, as when the records of the earlier one can be read; its run is stopped.
    """
    store = MemoryStore()
    session, client = SyncSession.open(store, "s1"), Provider()
    session.prompt("One", message_id="u1")

    def chunks():
        other = SyncSession.open(store, "s1")
        list(each(other.respond(Provider(HELLO), BODY, message_id="b1")))
        prune(other, store)
        yield from HELLO

    client.answers = [chunks()]
    with pytest.raises(LocalProtocolError, match="another writer has begun to answer, in message 'b1'"):
        list(each(session.respond(client, BODY, message_id="a1")))

    assert ["u1", "b1"] == ids_of(SyncSession.open(store, "s1"))
    assert ["a1"] == client.stopped


def test_a_prompt_between_the_call_of_decode_and_its_block():
    """
    The stream has begun before the block is entered, so the prompt is behind its answer.
    """
    session = SyncSession.open(MemoryStore(), "s1")
    session.prompt("One", message_id="u1")
    stream = session.decode(Scripted("a1"), iter(HELLO))
    session.prompt("Two", message_id="u2")
    list(each(stream))

    assert ["u1", "a1", "u2"] == ids_of(session)


def test_a_stop_between_two_messages_of_an_answer():
    """
    Nothing runs then, so the stop cancels an empty answer: the stream ends, and its run is stopped.
    """
    store = MemoryStore()
    session, client = SyncSession.open(store, "s1"), Provider(())

    def chunks():
        yield from HOPS[:2]
        SyncSession.open(store, "s1").stop()
        yield from HOPS[2:]

    client.answers = [chunks()]
    session.prompt("One", message_id="u1")
    list(each(session.respond(client, BODY, message_id="a1")))

    assert "a1.2" not in session.transcript
    assert (1, Awaits.USER) == (len(client.stopped), session.transcript.awaits)


@pytest.mark.parametrize("pruned", [False, True])
@pytest.mark.parametrize("decoded", [False, True])
def test_a_stop_before_the_first_byte(decoded, pruned):
    """
    It leaves an empty answer that was cancelled: the stream ends without an exception, and its run is stopped.
    """
    store = MemoryStore()
    session, client = SyncSession.open(store, "s1"), Provider()

    def chunks():
        stop(store, pruned=pruned)
        yield from HELLO

    session.prompt("One", message_id="u1")
    client.answers = [chunks()]
    stream = session.decode(Scripted("a1"), chunks()) if decoded else session.respond(client, BODY, message_id="a1")

    assert [] == list(each(stream))
    assert ["user", "assistant"] == [message.type for message in session.transcript]
    assert ErrorKind.CANCELLED == session.transcript.last.error.kind
    assert ([] if decoded else ["a1"]) == client.stopped


@pytest.mark.parametrize("known", [False, True])
def test_a_stop_before_the_model_is_asked(store, known):
    """
    Nothing is read of an answer for which a session of another process asks: it learns of the stop with the log, also
    when it looks there before the block is entered, as a worker does.
    """
    session, client, read = SyncSession.open(store, "s1"), Provider(), []

    def chunks():
        read.append("a1")
        yield from HELLO

    session.prompt("One", message_id="u1")
    client.answers = [chunks(), HELLO]
    stream = session.respond(client, BODY, message_id="a1")
    stop(store, pruned=False)
    if known:
        session.refresh()

    assert ([], []) == (list(each(stream)), read)
    assert (Awaits.USER, 2) == (session.transcript.awaits, len(session.transcript))
    assert "step.ended" == list(each(session.respond(client, BODY, message_id="a2")))[-1].type  # for who asks again


def test_a_stop_whose_record_is_pruned():
    """
    The answer ends where it was stopped, and so does its run.
    """
    store = MemoryStore()
    session, client = SyncSession.open(store, "s1"), Provider()
    session.prompt("One", message_id="u1")

    def chunks():
        yield line(say="Hel")
        stop(store, pruned=True)
        yield line(think="x")
        yield line(say="lo")

    client.answers = [chunks()]
    types = [event.type for event in each(session.respond(client, BODY, message_id="a1"))]

    assert ["step.started", "text.started", "text.delta"] == types
    assert ["a1"] == client.stopped


def test_a_message_that_others_fail_and_whose_record_is_pruned():
    """
    The same as with the record: another writer writes the message.
    """
    store = MemoryStore()
    session = SyncSession.open(store, "s1")
    session.prompt("One", message_id="u1")

    def chunks():
        yield line(say="Hel")
        other = SyncSession.open(store, "s1")
        other.append(*close_message(other.transcript["a1"], ErrorInfo(kind=ErrorKind.INTERRUPTED, message="gone")))
        prune(other, store)
        yield line(say="lo")
        yield line(stop="stop")

    with pytest.raises(LocalProtocolError, match="another writer appends to message 'a1'"):
        list(each(session.respond(Provider(chunks()), BODY, message_id="a1")))


@pytest.mark.parametrize("end", [ConnectionResetError("x"), line(fail="cancelled")], ids=["cut", "cancelled"])
def test_an_answer_that_is_asked_for_again_while_the_log_is_pruned(end):
    """
    Its message has failed until the first byte, which is not what another writer has done to it.
    """
    store = MemoryStore()
    session, client = SyncSession.open(store, "s1"), Provider((line(say="Hel"), end))
    session.prompt("One", message_id="u1")
    list(each(session.respond(client, BODY, message_id="a1")))

    def again():
        other = SyncSession.open(store, "s1")
        other.prompt("Two", message_id="u2")
        prune(other, store)
        yield from HELLO

    client.answers = [again()]
    list(each(session.respond(client, BODY, message_id="a1")))

    assert [("u1", "One"), ("a1", "Hello"), ("u2", "Two")] == [(each.id, each.text) for each in session.transcript]


def test_a_stop_of_a_second_message_whose_start_was_stored_unseen():
    """
    The start of the message is known from the log alone, because the store has raised; its run is stopped all the same.
    """
    store = Store()
    session, client = SyncSession.open(store, "s1"), Provider()
    session.prompt("One", message_id="u1")

    def chunks():
        yield line(lives="r1", say="one")
        store.lose = StoreError("connection lost")
        yield line(hop="pause") + line(say="two")
        stop(store, pruned=False)
        yield line(said={})

    client.answers = [chunks()]
    stream = session.respond(client, BODY, message_id="a1")
    with pytest.raises(StoreError):
        list(each(stream))
    list(each(stream))

    assert ["a1.2"] == client.stopped
    assert ErrorKind.CANCELLED == session.transcript["a1.2"].error.kind


def test_an_answer_of_others_that_is_gone_before_an_app_decodes_its_own():
    """
    What an app decodes is stored beside the answers of others, so it does not matter what becomes of them.
    """
    store = MemoryStore()
    session = SyncSession.open(store, "s1")
    session.prompt("One", message_id="u1")

    def chunks():
        other = SyncSession.open(store, "s1")
        other.append(*durable(answer("Hi", message_id="b1")))
        session.refresh()
        other.rewind("b1")
        session.refresh()
        yield from HELLO

    list(receive(session, Scripted("a1"), chunks()))

    assert ["u1", "a1"] == ids_of(session)


def test_a_stop_with_a_client_of_an_answer_that_is_received_here(session):
    """
    The provider is asked once: by the stream of the answer.
    """
    client = Provider((line(lives="r1", say="Hel"), line(say="lo"), line(stop="stop")))
    session.prompt("One", message_id="u1")
    with session.respond(client, BODY, message_id="a1") as events:
        next(events)
        session.stop(client)
        list(events)

    assert (["a1"], ErrorKind.CANCELLED) == (client.stopped, session.transcript["a1"].error.kind)


def test_a_stop_and_then_a_broken_connection():
    """
    The run lives on at the provider, so it is stopped there.
    """
    store = MemoryStore()
    session, client = SyncSession.open(store, "s1"), Provider()
    session.prompt("One", message_id="u1")

    def chunks():
        yield line(lives="r1", say="Hel")
        stop(store, pruned=False)
        raise ConnectionResetError("cut")

    client.answers = [chunks()]
    list(each(session.respond(client, BODY, message_id="a1")))

    assert ["a1"] == client.stopped
    assert ErrorKind.CANCELLED == session.transcript["a1"].error.kind


@pytest.mark.parametrize("how", ["respond", "resume"])
def test_an_edit_behind_an_answer_that_is_asked_for_again(how):
    """
    The prompt behind it is not what it answers: it is whole, and the new prompt is answered next.
    """
    session, client = SyncSession.open(MemoryStore(), "s1"), Provider((line(lives="r1", say="Hel"), CUT_OFF))
    session.prompt("One", message_id="u1")
    list(each(session.respond(client, BODY, message_id="a1")))
    session.prompt("Two", message_id="u2")

    def again():
        yield line(lives="r1", say="Hel")
        session.edit("u2", "Three", new_message_id="u3")
        yield line(say="lo")
        yield line(stop="stop")

    client.answers = [again()]
    list(
        each(
            session.respond(client, BODY, message_id="a1")
            if how == "respond"
            else session.resume(client, message_id="a1")
        )
    )

    assert [("u1", "One"), ("a1", "Hello"), ("u3", "Three")] == [(each.id, each.text) for each in session.transcript]
    assert ([], Awaits.MODEL) == (client.stopped, session.transcript.awaits)


CUT_OFF = ConnectionResetError("cut")


def test_a_result_before_an_answer_that_begins_again():
    """
    A message whose call was answered cannot begin again; nothing of the other answer is added to it.
    """
    store = MemoryStore()
    session, decoder = SyncSession.open(store, "s1"), Scripted("a1")
    session.prompt("One", message_id="u1")
    left = decoder.feed(line(lives="r1") + line(call=CALL) + line(say="Hel", said={"k": 1}))
    session.append(*[event for event in left if event.durable])

    def again():
        other = SyncSession.open(store, "s1")
        other.append(*[call.succeed("rain") for call in other.transcript["a1"].tool_calls])
        yield line(lives="r1")
        yield line(call={**CALL, "input": {"city": "Rome"}})
        yield line(say="Yo")
        yield line(stop="tool-calls")

    client = Provider(again())
    with pytest.raises(LocalProtocolError, match="message 'a1' cannot begin again: the app has run a call of it"):
        list(each(session.resume(client, message_id="a1")))

    assert "Hel" == SyncSession.open(store, "s1").transcript["a1"].text
    assert ["a1"] == client.stopped


def test_a_prompt_named_like_a_second_message_of_the_answer():
    """
    Ids are free: it is behind the answer as any other prompt.
    """
    session = SyncSession.open(MemoryStore(), "s1")
    session.prompt("One", message_id="m1")

    def chunks():
        session.prompt("Two", message_id="m2.3")
        yield from HELLO

    list(each(session.respond(Provider(chunks()), BODY, message_id="m2")))

    assert ["m1", "m2", "m2.3"] == ids_of(session)


def test_an_edit_between_the_call_of_decode_and_its_block():
    """
    The answer is to a prompt that is rewound, so nothing of it is stored.
    """
    session = SyncSession.open(MemoryStore(), "s1")
    session.prompt("One", message_id="u1")
    list(each(session.respond(Provider(HELLO), BODY, message_id="a1")))
    session.prompt("Two", message_id="u2")
    stream = session.decode(Scripted("a2"), iter(HELLO))
    session.edit("u2", "Three", new_message_id="u3")

    assert [] == list(each(stream))
    assert ["u1", "a1", "u3"] == ids_of(session)


def prune(session, store):
    """
    Put a snapshot in the place of all records.
    """
    session.snapshot()
    store.prune("s1", session.seq)


def stop(store, *, pruned):
    """
    Stop session `s1` as another writer, whose records are *pruned*.
    """
    other = SyncSession.open(store, "s1")
    other.stop()
    if pruned:
        prune(other, store)


def test_text_that_comes_while_the_log_is_pruned():
    """
    What has been received of an open text is in no record, and stays when a snapshot takes the place of the records.
    """
    store = MemoryStore()
    session = SyncSession.open(store, "s1")
    session.prompt("One", message_id="u1")

    def chunks():
        yield line(say="Hel")
        yield line(say="lo")
        other = SyncSession.open(store, "s1")
        other.prompt("Two", message_id="u2")
        prune(other, store)
        session.refresh()
        yield line(say=" you")

    texts = []
    with session.respond(Provider(chunks()), BODY, message_id="a1") as events:
        for _ in events:
            texts.append(session.transcript["a1"].text)
            if texts[-1] == "Hello you":
                session.stop()

    assert ["Hel", "Hel", "Hel", "Hello", "Hello you"] == texts
    assert "Hello you" == SyncSession.open(store, "s1").transcript["a1"].text


def test_a_prompt_that_is_rewound_before_the_first_byte(session, store):
    """
    An answer to a prompt that was rewound meanwhile is not begun.
    """

    def chunks():
        store.append("s1", [rewind("u1")])
        yield from STREAM

    session.prompt("Hello", message_id="u1")

    assert [] == list(each(session.respond(Provider(chunks()), BODY, message_id="a1")))
    assert ["prompt.submitted", "history.rewound"] == store.types


def test_leaving_an_answer_that_was_rewound(session):
    """
    A reader that leaves before it notices stops the run as well.
    """
    client = Provider(STREAM)
    session.prompt("Hello", message_id="u1")
    with session.respond(client, BODY, message_id="a1") as events:
        next(events)
        session.rewind("u1")

    assert (["a1"], 0) == (client.stopped, len(session.transcript))


def test_leaving_an_answer_that_another_process_has_rewound(open_session, store):
    """
    So does a reader that learns it only by closing the message.
    """
    session, client = open_session(store), Provider(STREAM)
    session.prompt("Hello", message_id="u1")
    with session.respond(client, BODY, message_id="a1") as events:
        next(events)
        store.append("s1", [rewind("u1")])

    assert (["a1"], 0) == (client.stopped, len(session.transcript))


def test_a_run_that_cannot_be_stopped(session, caplog):
    """
    What `stop` raises is logged without credentials; the answer ends without an exception, and is stopped once.
    """

    class Stuck(Provider):
        def stop(self, target):
            super().stop(target)
            raise OSError("lost https://me:password@api.example/")

    client = Stuck(STREAM)
    session.prompt("Hello", message_id="u1")
    with session.respond(client, BODY, message_id="a1") as events:
        next(events)
        session.rewind("u1")
        list(events)

    assert ["a1"] == client.stopped
    assert ["the run of message 'a1' could not be stopped: OSError: lost https://api.example/"] == caplog.messages


def test_resume_of_an_answer_with_a_call_that_was_answered(open_session, store):
    """
    Only one that has failed cannot begin again for that.
    """
    begun = list(durable(answer("", calls=[Call("weather", CALL["input"], call_id="c1", output="rain")], run=RUN)))
    start, *_ = begun
    calls = [event for event in begun if event.type in ("tool.called", "tool.success")]
    store.append("s1", [prompt(), start, *calls])
    session = open_session(store)
    client = Provider((line(call=CALL), line(say="So"), line(stop="stop")))
    list(each(session.resume(client)))

    assert ("So", "completed") == (session.transcript["a1"].text, session.transcript["a1"].status)
