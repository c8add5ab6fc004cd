"""
Checkpoints of open fragments when a session is opened: what a process that died had received. Both faces.
"""

import pytest

from assistant_events.events import TextDelta, TextEnded, TextStarted, ToolInputDelta
from assistant_events.reducer import fold
from assistant_events.testing import prompt
from tests.session.scripted import CUT, HELLO, Scripted, line, receive

HEL = (TextDelta(message_id="a1", offset=0, delta="H"), TextDelta(message_id="a1", offset=1, delta="el"))


@pytest.fixture
def cut(store):
    """
    A store with a prompt and the start of an answer, of which two pieces of text were checkpointed.
    """
    store.append("s1", [prompt("Hi"), *CUT])
    store.checkpoint("s1", HEL)
    return store


def test_open_text_is_there_again(open_session, cut):
    """
    An opened session has the text of the checkpoints; the log and snapshots have not.
    """
    session = open_session(cut)
    session.snapshot()

    assert ("Hel", 3) == (session.transcript.answer("a1").text, session.seq)
    assert ["prompt.submitted", "step.started", "text.started"] == cut.types
    assert fold(cut.read("s1")) == cut.load_snapshot("s1")
    assert "Hel" == open_session(cut).transcript.answer("a1").text


def test_an_abandoned_message_keeps_its_text(open_session, cut):
    """
    `reconcile` ends the fragment with the text of the checkpoints, and removes them.
    """
    session = open_session(cut)
    ended, failed = session.reconcile()

    assert ("Hel", False) == (ended.event.text, ended.event.complete)
    assert "interrupted" == failed.event.error.kind
    assert () == cut.load_checkpoints("s1")
    assert session.transcript == fold(cut.read("s1"))


def test_a_resumed_answer_continues_the_text(open_session, cut):
    """
    The replay of the provider is compared with the text of the checkpoints, and only what is new is emitted.
    """
    session = open_session(cut)
    decoder = Scripted("a1", prior=session.transcript)
    events = list(receive(session, decoder, HELLO))

    assert [TextDelta(message_id="a1", offset=3, delta="lo")] == [event for event in events if not event.durable]
    assert "Hello" == session.transcript.answer("a1").text
    assert () == cut.load_checkpoints("s1")


def test_pieces_behind_a_gap_are_left_out(open_session, cut):
    """
    A piece that does not follow the others, and one of a fragment that is not open, change nothing.
    """
    cut.checkpoint("s1", [TextDelta(message_id="a1", offset=9, delta="!")])
    cut.checkpoint("s1", [ToolInputDelta(message_id="a1", call_id="c1", offset=0, delta="{")])

    assert "Hel" == open_session(cut).transcript.answer("a1").text


def test_a_writer_that_continues_meanwhile(open_session, cut):
    """
    When the fragment is closed and another one opened while a session is opened, it has the pieces of the new one.
    """
    load = cut.inner.load_checkpoints
    batches = iter([[TextEnded(message_id="a1", text="Hello"), TextStarted(message_id="a1")]])

    def load_and_append(session_id):
        pieces = load(session_id)
        for batch in batches:
            cut.append(session_id, batch)
            cut.checkpoint(session_id, [TextDelta(message_id="a1", offset=0, delta="Bye")])
        return pieces

    cut.load_checkpoints = load_and_append
    session = open_session(cut)

    assert ["Hello", "Bye"] == [part.text for part in session.transcript.answer("a1").parts]
    assert 5 == session.seq


def test_an_app_stores_what_it_is_given(open_session, store):
    """
    An app that checkpoints each delta after the `seq` of the stream leaves nothing behind, also of whole chunks.
    """
    session = open_session(store)
    session.prompt("Hi")
    chunks = [line(say="one") + line(said={}) + line(say="t"), line(say="wo"), line(stop="stop")]
    seen = []
    with session.decode(Scripted("a1"), chunks) as events:
        for event in events:
            if isinstance(event, TextDelta):
                store.checkpoint("s1", [event], after=events.seq)
                seen.append([piece.delta for piece in store.load_checkpoints("s1")])

    assert [[], ["t"], ["t", "wo"]] == seen
    assert () == store.load_checkpoints("s1")


def test_a_fragment_that_began_since_and_whose_record_is_pruned(open_session, cut):
    """
    It has none of the text of the fragment before it, which another process received and ended meanwhile.
    """
    session, other = open_session(cut), open_session(cut)
    other.append(TextEnded(message_id="a1", text="Hello"), TextStarted(message_id="a1"))
    other.snapshot()
    cut.prune("s1", other.seq)
    session.refresh()

    assert ["Hello", ""] == [part.text for part in session.transcript.answer("a1").parts]
