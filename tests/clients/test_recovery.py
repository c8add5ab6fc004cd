"""
What has happened to a run, and what makes sense then: cases 84 to 99 of the wire reference, and every decision.
"""

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from assistant_events import AssistantMessage, ErrorInfo, Origin, RemoteRun, fold
from assistant_events.clients.recovery import (
    DECISIONS,
    LETTERS,
    Action,
    AttemptHistory,
    ConnectionPhase,
    ConnectionState,
    DocumentVerdict,
    FailureMode,
    NextAction,
    RecoveryPolicy,
    RunSummary,
    Situation,
    classify,
    handle,
    is_cut_tail,
    next_move,
    parse_time,
    read_document,
    situation_of,
    wants_usage,
)
from assistant_events.testing import answer
from tests.adapters.notation import C, E, K, S, events, mo, stream

from .provider import TAIL

NOW = datetime(2026, 11, 22, 12, 0, 0, tzinfo=UTC)
CUT = TAIL.decode()


def connection(**seen):
    """
    A create stream of a stored run in the background that was lost after 42 s, but for what *seen* says.
    """
    usual = {
        "phase": ConnectionPhase.CREATE,
        "opened": 1000.0,
        "ended": 1042.0,
        "stored": True,
        "status": "in_progress",
    }
    return ConnectionState(**{**usual, **seen})


def document(status="in_progress", *, age=timedelta(minutes=5), outputs=0):
    return RunSummary(status=status, created=None if age is None else NOW - age, outputs=outputs)


# -- how a connection ended

ENDED = {
    "84 the tail of the cut": (connection(ended=1600.0, tail=CUT), None, FailureMode.CUT),
    "84 the tail at any time": (connection(ended=1005.0, tail=CUT), None, FailureMode.CUT),
    "85 a tail without its end": (connection(tail=CUT.replace("]", "")), None, FailureMode.CUT),
    "85 a tail that stops in its middle": (connection(tail=CUT[:40]), None, FailureMode.CUT),
    "86 without a tail at 600.2 s": (connection(ended=1600.2), None, FailureMode.CUT),
    "86 without a tail at 300 s": (connection(ended=1300.0), None, FailureMode.DROP),
    "86 at 595 s": (connection(ended=1595.0), None, FailureMode.CUT),
    "86 just before": (connection(ended=1594.9), None, FailureMode.DROP),
    "86 at 610 s": (connection(ended=1610.0), None, FailureMode.CUT),
    "86 just after": (connection(ended=1610.1), None, FailureMode.DROP),
    "87 a tail after the end": (connection(terminal=True, status="completed", has_usage=True, tail=CUT), None, None),
    "88 a replay that is cut again": (
        connection(phase=ConnectionPhase.REPLAY, ended=1600.0, tail=CUT),
        None,
        FailureMode.RECUT,
    ),
    "88 by time alone": (connection(phase=ConnectionPhase.REPLAY, ended=1600.0), None, FailureMode.RECUT),
    "89 a silent replay of a running run": (
        connection(phase=ConnectionPhase.REPLAY, silent=True),
        document(),
        FailureMode.RECUT,
    ),
    "89 a silent replay of a run that is done": (
        connection(phase=ConnectionPhase.REPLAY),
        document("completed", outputs=1),
        FailureMode.RECUT,
    ),
    "89 a silent replay that nobody asked about": (connection(phase=ConnectionPhase.REPLAY, silent=True), None, None),
    "a replay that ends while the run runs": (
        connection(phase=ConnectionPhase.REPLAY),
        document(outputs=1),
        FailureMode.DROP,
    ),
    "a silent stream of a running run": (connection(silent=True), document(outputs=1), None),
    "a silent stream of a run that is done": (connection(silent=True), document("completed"), FailureMode.NO_END),
    "a silent stream whose run cannot be asked for": (connection(silent=True, failed=True), None, FailureMode.DROP),
    "90 an hour to the second": (connection(), document(age=timedelta(minutes=60)), FailureMode.DROP),
    "90 a second more": (connection(), document(age=timedelta(minutes=60, seconds=1)), FailureMode.ZOMBIE),
    "91 days, with content": (connection(), document(age=timedelta(days=3), outputs=1), FailureMode.DROP),
    "a zombie that is queued": (connection(), document("queued", age=timedelta(days=3)), FailureMode.ZOMBIE),
    "92 a reset after 42 s": (connection(failed=True), None, FailureMode.DROP),
    "an end without anything": (connection(status=None, stored=False), None, FailureMode.DROP),
    "99 somebody left": (connection(aborted=True), None, FailureMode.ABORT),
    "99 somebody left at ten minutes": (connection(aborted=True, ended=1600.0, tail=CUT), None, FailureMode.ABORT),
    "E usage missing": (connection(terminal=True, status="completed"), None, FailureMode.NO_USAGE),
    "E of a limit": (connection(terminal=True, status="incomplete"), None, FailureMode.NO_USAGE),
    "E without an id": (connection(terminal=True, status="completed", stored=False), None, None),
    "E of a failure": (connection(terminal=True, status="failed"), None, None),
    "E of a cancellation": (connection(terminal=True, status="cancelled"), None, None),
    "an error that says something": (connection(terminal=True, erred=True), None, None),
    "F empty errors": (
        connection(terminal=True, status="completed", has_usage=True, empty_errors=2),
        None,
        FailureMode.EMPTY_ERROR,
    ),
    "G completed in progress": (connection(terminal=True, status="in_progress"), None, FailureMode.UNFINISHED),
    "G completed but queued": (connection(terminal=True, status="queued"), None, FailureMode.UNFINISHED),
    "H an end after a last status": (connection(status="completed"), None, FailureMode.NO_END),
    "H of a failure": (connection(status="failed"), None, FailureMode.NO_END),
    "H of a status of tomorrow": (connection(status="napping"), None, FailureMode.NO_END),
    "A before H": (connection(status="completed", tail=CUT), None, FailureMode.CUT),
}


@pytest.mark.parametrize(("seen", "said", "mode"), ENDED.values(), ids=ENDED)
def test_classify(seen, said, mode):
    """
    How a connection ended is told from what was seen of it, and from the run's document.
    """
    assert mode == classify(seen, said, NOW)


def test_a_zombie_needs_a_time():
    """
    Without a time of day nothing is called a zombie.
    """
    assert FailureMode.DROP == classify(connection(), document(age=timedelta(days=3)))


TAILS = {
    "as it came": (CUT, True),
    "with blanks around": (f"\n\n  {CUT}  \n", True),
    "code alone": ('[{"error": {"code": 503}}]', True),
    "word alone": ('[{"error": {"status": "UNAVAILABLE"}}]', True),
    "an object": ('{"error": {"code": 503}}', True),
    "cut behind the code": ('[{\n"error": {\n"code": 503', True),
    "cut before the code": ('[{\n"error": {\n', False),
    "a code that only begins so": ('[{"error": {"code": 5031', False),
    "another error": ('[{"error": {"code": 500, "status": "INTERNAL"}}]', False),
    "a page": ("<html>503 UNAVAILABLE</html>", False),
    "an empty array": ("[]", False),
    "no error": ('[{"code": 503}]', False),
    "an array of numbers": ("[503]", False),
    "words in prose": ('"code": 503', False),
    "nothing": ("", False),
}


@pytest.mark.parametrize(("tail", "cut"), TAILS.values(), ids=TAILS)
def test_the_tail_of_the_cut(tail, cut):
    """
    The bare error after the last event is known, whole or cut itself, and nothing else is taken for it.
    """
    assert cut is is_cut_tail(tail)


def test_letters():
    """
    Every failure mode has the letter that others call it by; an abort is none.
    """
    assert "ABCDEFGH" == "".join(LETTERS.values())
    assert {FailureMode.ABORT} == set(FailureMode) - set(LETTERS)


# -- documents

HANDLED = {
    "completed": DocumentVerdict.FOLD,
    "failed": DocumentVerdict.FOLD,
    "cancelled": DocumentVerdict.FOLD,
    "incomplete": DocumentVerdict.FOLD,
    "budget_exceeded": DocumentVerdict.FOLD,
    "requires_action": DocumentVerdict.FOLD,
    "requires_continuation": DocumentVerdict.FOLD,
    "weird": DocumentVerdict.FOLD,
    None: DocumentVerdict.FOLD,
    "in_progress": DocumentVerdict.WAIT,
    "queued": DocumentVerdict.WAIT,
}


@pytest.mark.parametrize(("status", "handling"), HANDLED.items(), ids=map(str, HANDLED))
def test_c98_every_status(status, handling):
    """
    A run that has ended is folded, whatever its status; one that runs is waited for.
    """
    assert handling is handle(document(status), NOW)


def test_c98_a_zombie():
    """
    One that only seems to run is not waited for.
    """
    assert DocumentVerdict.ZOMBIE is handle(document(age=timedelta(minutes=61)), NOW)


ZOMBIES = {
    "no steps": ({"steps": []}, True),
    "only what the user said": ({"steps": [{"type": "user_input", "content": []}]}, True),
    "neither steps nor outputs": ({}, True),
    "a generated step": ({"steps": [{"type": "user_input"}, {"type": "thought"}]}, False),
    "outputs of 1.x": ({"outputs": [{"type": "text", "text": "a"}]}, False),
    "touched a moment ago": ({"updated": "2026-11-22T11:59:59Z"}, True),
    "no time of creation": ({"created": None}, False),
    "a time that is none": ({"created": "yesterday"}, False),
    "a time without a zone": ({"created": "2026-11-20T10:00:00"}, False),
    "a zone that is not ours": ({"created": "2026-11-22T12:59:59+02:00"}, True),
    "the same, too young": ({"created": "2026-11-22T13:00:00+02:00"}, False),
}


@pytest.mark.parametrize(("changes", "dead"), ZOMBIES.values(), ids=ZOMBIES)
def test_zombies(changes, dead):
    """
    A run is dead when it is over an hour old and has produced nothing; what the user said is no product.
    """
    resource = {"id": "v1", "status": "in_progress", "created": "2026-11-22T10:59:59Z", **changes}

    assert dead is read_document(resource).is_zombie(NOW)


def test_read_document():
    """
    Of a document counts when it was made and touched, how much there is of it, and whether it says what it cost.
    """
    resource = {
        "status": "completed",
        "created": "2026-05-15T18:51:55Z",
        "updated": "2026-05-15T18:52:01.123456Z",
        "steps": [{"type": "user_input"}, {"type": "thought"}, {"type": "model_output"}],
        "usage": {"total_tokens": 58},
    }

    expected = RunSummary(
        status="completed",
        created=datetime(2026, 5, 15, 18, 51, 55, tzinfo=UTC),
        updated=datetime(2026, 5, 15, 18, 52, 1, 123456, tzinfo=UTC),
        outputs=2,
        has_usage=True,
    )
    assert expected == read_document(resource)
    assert read_document(resource).finished


def test_parse_time():
    """
    Nanoseconds are read, too, as far as a time here goes.
    """
    assert datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=UTC) == parse_time("2026-01-02T03:04:05.123456789Z")
    assert parse_time(None) is None


# -- what a client does by itself

RESUMABLE = AttemptHistory(resumable=True)
WITH_CURSOR = AttemptHistory(resumable=True, cursor=True)
MOVES = {
    "nothing wrong": (None, RESUMABLE, NextAction.END),
    "A": (FailureMode.CUT, RESUMABLE, NextAction.REPLAY),
    "A with a cursor": (FailureMode.CUT, WITH_CURSOR, NextAction.CURSOR),
    "A of a run that is not resumable": (FailureMode.CUT, AttemptHistory(resumable=False), NextAction.END),
    "B once": (FailureMode.RECUT, AttemptHistory(resumable=True, recuts=1), NextAction.REPLAY),
    "B once, with a cursor": (
        FailureMode.RECUT,
        AttemptHistory(resumable=True, cursor=True, recuts=1),
        NextAction.CURSOR,
    ),
    "B twice": (FailureMode.RECUT, AttemptHistory(resumable=True, cursor=True, recuts=2), NextAction.FETCH),
    "B by silence": (FailureMode.RECUT, AttemptHistory(resumable=True, recuts=1, stalled=True), NextAction.FETCH),
    "C": (FailureMode.ZOMBIE, RESUMABLE, NextAction.END),
    "D": (FailureMode.DROP, RESUMABLE, NextAction.REPLAY),
    "D for the third time": (FailureMode.DROP, AttemptHistory(resumable=True, idle=2), NextAction.REPLAY),
    "D for the fourth time": (FailureMode.DROP, AttemptHistory(resumable=True, cursor=True, idle=3), NextAction.FETCH),
    "D of a run that is not resumable": (FailureMode.DROP, AttemptHistory(resumable=False), NextAction.END),
    "E": (FailureMode.NO_USAGE, AttemptHistory(resumable=False), NextAction.BACKFILL),
    "F": (FailureMode.EMPTY_ERROR, RESUMABLE, NextAction.END),
    "G": (FailureMode.UNFINISHED, RESUMABLE, NextAction.REPLAY),
    "G of a run that is not resumable": (FailureMode.UNFINISHED, AttemptHistory(resumable=False), NextAction.END),
    "H": (FailureMode.NO_END, RESUMABLE, NextAction.FETCH),
    "abort": (FailureMode.ABORT, RESUMABLE, NextAction.END),
}


@pytest.mark.parametrize(("mode", "history", "move"), MOVES.values(), ids=MOVES)
def test_next_move(mode, history, move):
    """
    A run is followed as long as that may help, then taken from its document.
    """
    assert move is next_move(mode, history, RecoveryPolicy())


def test_next_move_goes_by_the_policy():
    """
    How often is for the policy to say.
    """
    policy = RecoveryPolicy(reconnects=0, recuts=9)

    assert NextAction.FETCH is next_move(FailureMode.DROP, RESUMABLE, policy)
    assert NextAction.REPLAY is next_move(FailureMode.DROP, RESUMABLE, RecoveryPolicy(reconnects=1))


def test_poll_delays():
    """
    The document is asked for after 1, 2, 4 and 8 s, and then every 10 s.
    """
    policy = RecoveryPolicy()

    assert [1, 2, 4, 8, 10, 10] == [policy.poll_delay(polls) for polls in range(6)]
    assert 10 == policy.poll_delay(5000)


# -- what a person may do: every situation, every action

NO, YES, FIRST, BUSY = "no", "yes", "primary", "busy"
# Resume, Recover, Stop.
TABLE = {
    Situation.STREAMING: (NO, NO, YES),
    Situation.DROPPED: (FIRST, YES, YES),
    Situation.CUT: (FIRST, YES, YES),
    Situation.RESUME_FAILED: (YES, FIRST, YES),
    Situation.RECUT: (YES, FIRST, YES),
    Situation.RUNNING: (YES, YES, YES),
    Situation.ZOMBIE: (NO, YES, FIRST),
    Situation.FINISHED: (NO, NO, NO),
    Situation.BACKFILLING: (NO, BUSY, NO),
    Situation.LOST: (NO, NO, YES),
    Situation.BUSY: (BUSY, BUSY, YES),
    Situation.ERRED: (YES, YES, YES),
    Situation.ERRED_TWICE: (NO, YES, YES),
    Situation.STORED: (NO, YES, YES),
}


@pytest.mark.parametrize(
    ("situation", "action"), list(itertools.product(Situation, Action)), ids=lambda word: str(word.value)
)
def test_the_decision_table(situation, action):
    """
    What makes sense in a situation is this, and a sentence says why.
    """
    choice = getattr(DECISIONS[situation], action.value)
    word = FIRST if choice.primary else BUSY if choice.busy else YES if choice.available else NO

    assert TABLE[situation][list(Action).index(action)] == word
    assert choice.why


def test_stop_is_never_gated():
    """
    While there is anything to stop, Stop is available, whatever else is going on.
    """
    ended = {Situation.FINISHED, Situation.BACKFILLING}

    assert set(Situation) - ended == {each for each, choices in DECISIONS.items() if choices.stop.available}


def test_one_action_comes_first():
    """
    No situation has two primary actions, and none that cannot be taken is primary or busy at once.
    """
    for choices in DECISIONS.values():
        offered = [choices.resume, choices.recover, choices.stop]
        assert sum(choice.primary for choice in offered) <= 1
        assert not any(choice.primary and not choice.available for choice in offered)
        assert not any(choice.busy and choice.available for choice in offered)


# -- stored messages


def message(*, status="failed", kind="interrupted", code=None, resumable=True, run=True):
    return AssistantMessage(
        id="m",
        origin=Origin(provider="google", model="deep-research", dialect="gemini-interactions"),
        run=RemoteRun(id="v1", resumable=resumable, kind="interaction") if run else None,
        status=status,
        error=None if kind is None else ErrorInfo(kind=kind, code=code, message="…"),
    )


STORED = {
    "running when the process died": (message(status="running", kind=None), Situation.DROPPED),
    "cut": (message(kind="interrupted"), Situation.DROPPED),
    "left": (message(kind="aborted"), Situation.DROPPED),
    "network": (message(kind="network"), Situation.DROPPED),
    "timeout": (message(kind="timeout"), Situation.DROPPED),
    "the provider's error": (message(kind="provider"), Situation.ERRED),
    "overloaded": (message(kind="overloaded"), Situation.ERRED),
    "zombie": (message(kind="provider", code="zombie"), Situation.ZOMBIE),
    "gone": (message(kind="not-found"), Situation.LOST),
    "stopped": (message(kind="cancelled"), Situation.FINISHED),
    "no run": (message(run=False), Situation.LOST),
    "not in the background": (message(resumable=False), Situation.STORED),
    "answered": (message(status="completed", kind=None), Situation.FINISHED),
}


@pytest.mark.parametrize(("stored", "situation"), STORED.values(), ids=STORED)
def test_situation_of_a_stored_message(stored, situation):
    """
    After a restart the message alone tells what to offer.
    """
    assert situation is situation_of(stored)


def test_situation_of_decoded_messages():
    """
    The same for messages that came out of streams.
    """
    request = {"background": True}
    cut = fold(events(stream(C(), S(0, mo("a"))), request=request)).last
    erred = fold(events(stream(C(), E("internal", "boom")), request=request)).last
    done = fold(answer("Hello")).last

    assert [Situation.DROPPED, Situation.ERRED, Situation.FINISHED] == [
        situation_of(each) for each in (cut, erred, done)
    ]


def test_wants_usage():
    """
    What has a cost that can be asked for: runs that gave something.
    """
    with_cost = {status for status in [*HANDLED] if wants_usage(status)}

    assert {"completed", "incomplete", "budget_exceeded", "requires_action"} == with_cost
    assert K()["interaction"]["status"] in with_cost
