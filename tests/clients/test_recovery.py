"""
What happened to a run, and what to do next: cases 84 to 99 of the wire reference, and every decision.
"""

from datetime import UTC, datetime, timedelta

import pytest

from assistant_events import AssistantMessage, ErrorInfo, Origin, RemoteRun, fold
from assistant_events.adapters.gemini_interactions.client import GeminiInteractionsApi
from assistant_events.adapters.openai_responses.client import OpenAIResponsesApi
from assistant_events.clients.recovery import (
    ACTIONS,
    Action,
    ConnectionState,
    FailureMode,
    RecoveryPolicy,
    RecoveryState,
    RequestKind,
    RunSummary,
    RunTraits,
    Situation,
    classify,
    situation_of,
)
from assistant_events.testing import answer
from assistant_events.values.credentials import Secrets
from tests.adapters.notation import C, E, K, S, events, mo, stream

from .provider import TAIL

API = GeminiInteractionsApi()
NOW = datetime(2026, 11, 22, 12, 0, 0, tzinfo=UTC)
CUT = TAIL.decode()


def connection(*, tail="", **seen):
    """
    The create stream of a run in progress that was lost after 42 s, with the changes of *seen*.
    """
    return ConnectionState(**{"age_s": 42.0, "running": True, **seen, "cut_tail": API.is_cut_tail(tail)})


def document(status="in_progress", *, age=timedelta(minutes=5), outputs=0):
    created = None if age is None else NOW - age
    return RunSummary(
        status=status,
        running=status in ("in_progress", "queued"),
        created=created,
        outputs=outputs,
    )


# -- how a connection ended

ENDED = {
    "84 the tail of the cut": (
        connection(age_s=600.0, tail=CUT),
        None,
        FailureMode.CUT,
    ),
    "84 the tail at any time": (connection(age_s=5.0, tail=CUT), None, FailureMode.CUT),
    "85 a tail without its end": (
        connection(tail=CUT.replace("]", "")),
        None,
        FailureMode.CUT,
    ),
    "85 a tail that stops in its middle": (
        connection(tail=CUT[:40]),
        None,
        FailureMode.CUT,
    ),
    "86 without a tail at 600.2 s": (connection(age_s=600.2), None, FailureMode.CUT),
    "86 without a tail at 300 s": (connection(age_s=300.0), None, FailureMode.DROP),
    "86 at 595 s": (connection(age_s=595.0), None, FailureMode.CUT),
    "86 just before": (connection(age_s=594.9), None, FailureMode.DROP),
    "86 at 610 s": (connection(age_s=610.0), None, FailureMode.CUT),
    "86 just after": (connection(age_s=610.1), None, FailureMode.DROP),
    "87 a tail after the end": (
        connection(completed=True, running=False, tail=CUT),
        None,
        None,
    ),
    "88 a replay that is cut again": (
        connection(replay=True, age_s=600.0, tail=CUT),
        None,
        FailureMode.RECUT,
    ),
    "88 by time alone": (connection(replay=True, age_s=600.0), None, FailureMode.RECUT),
    "89 a silent replay of a running run": (
        connection(replay=True, silent=True),
        document(),
        FailureMode.RECUT,
    ),
    "89 a silent replay of a run that is done": (
        connection(replay=True),
        document("completed", outputs=1),
        FailureMode.RECUT,
    ),
    "89 a silent replay that nobody asked about": (
        connection(replay=True, silent=True),
        None,
        None,
    ),
    "a replay that ends while the run runs": (
        connection(replay=True),
        document(outputs=1),
        FailureMode.DROP,
    ),
    "a silent stream of a running run": (
        connection(silent=True),
        document(outputs=1),
        None,
    ),
    "a silent stream of a run that is done": (
        connection(silent=True),
        document("completed"),
        FailureMode.NO_END,
    ),
    "a silent stream whose run cannot be asked for": (
        connection(silent=True, failed=True),
        None,
        FailureMode.DROP,
    ),
    "the same at ten minutes": (
        connection(silent=True, failed=True, age_s=600.0),
        None,
        FailureMode.DROP,
    ),
    "90 an hour to the second": (
        connection(),
        document(age=timedelta(minutes=60)),
        FailureMode.DROP,
    ),
    "90 a second more": (
        connection(),
        document(age=timedelta(minutes=60, seconds=1)),
        FailureMode.ZOMBIE,
    ),
    "91 days, with content": (
        connection(),
        document(age=timedelta(days=3), outputs=1),
        FailureMode.DROP,
    ),
    "a zombie that is queued": (
        connection(),
        document("queued", age=timedelta(days=3)),
        FailureMode.ZOMBIE,
    ),
    "92 a reset after 42 s": (connection(failed=True), None, FailureMode.DROP),
    "an end without anything": (connection(running=None), None, FailureMode.DROP),
    "99 somebody left": (connection(aborted=True), None, FailureMode.ABORT),
    "99 somebody left at ten minutes": (
        connection(aborted=True, age_s=600.0, tail=CUT),
        None,
        FailureMode.ABORT,
    ),
    "E usage missing": (
        connection(completed=True, running=False, lacks_usage=True),
        None,
        FailureMode.NO_USAGE,
    ),
    "an end without usage": (connection(completed=True, running=False), None, None),
    "an error that says something": (
        connection(completed=True, erred=True, running=None),
        None,
        None,
    ),
    "an error of a run that was in progress": (connection(completed=True, erred=True), None, None),
    "F empty errors": (
        connection(completed=True, running=False, empty_errors=2),
        None,
        FailureMode.EMPTY_ERROR,
    ),
    "G completed in progress": (
        connection(completed=True),
        None,
        FailureMode.UNFINISHED,
    ),
    "H an end after a last status": (
        connection(running=False),
        None,
        FailureMode.NO_END,
    ),
    "A before H": (connection(running=False, tail=CUT), None, FailureMode.CUT),
}


@pytest.mark.parametrize(("seen", "said", "mode"), ENDED.values(), ids=ENDED)
def test_classify(seen, said, mode):
    """
    The failure mode follows from what was observed of a connection, and from the document of the run.
    """
    assert mode == classify(seen, API.traits, said, NOW)


REQUESTED = {
    None: FailureMode.DROP,
    FailureMode.CUT: FailureMode.CUT,
    FailureMode.RECUT: FailureMode.RECUT,
    FailureMode.UNFINISHED: FailureMode.DROP,
}


@pytest.mark.parametrize(("before", "after"), REQUESTED.items())
def test_a_stream_that_cannot_be_requested(before, after):
    """
    It is a lost connection, and leaves it known that the streams of the run are cut.
    """
    error = ErrorInfo(kind="overloaded", message="503")

    assert after == RecoveryState(mode=before).not_followed(error).mode


def test_a_zombie_needs_a_time():
    """
    Without the time of the document nothing is classified as a zombie.
    """
    assert FailureMode.DROP == classify(connection(), API.traits, document(age=timedelta(days=3)))


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
    assert cut is API.is_cut_tail(tail)


def test_other_providers_have_no_cut_and_no_zombies():
    """
    Without knowledge of the provider an age has no meaning.
    """
    old = document(age=timedelta(days=3))

    assert FailureMode.DROP == classify(connection(age_s=600.0), RunTraits(), old, NOW)


# -- documents

STATUSES = {
    "completed": False,
    "failed": False,
    "cancelled": False,
    "incomplete": False,
    "budget_exceeded": False,
    "requires_action": False,
    "requires_continuation": False,
    "napping": False,
    None: False,
    "in_progress": True,
    "queued": True,
}


@pytest.mark.parametrize(("status", "running"), STATUSES.items(), ids=map(str, STATUSES))
def test_c98_every_status(status, running):
    """
    A run has ended unless its status is one of a run in progress.
    """
    assert running is API.summarize({"status": status}).running


ZOMBIES = {
    "no steps": ({"steps": []}, True),
    "only what the user said": (
        {"steps": [{"type": "user_input", "content": []}]},
        True,
    ),
    "neither steps nor outputs": ({}, True),
    "a generated step": (
        {"steps": [{"type": "user_input"}, {"type": "thought"}]},
        False,
    ),
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
    A run is dead when it is over an hour old and has no output; the input of the user does not count.
    """
    resource = {
        "id": "v1",
        "status": "in_progress",
        "created": "2026-11-22T10:59:59Z",
        **changes,
    }

    assert dead is API.traits.is_zombie(API.summarize(resource), NOW)


def test_the_summary_of_a_document():
    """
    Recovery needs to know when a run was created and changed, and how many outputs it has.
    """
    resource = {
        "status": "completed",
        "created": "2026-05-15T18:51:55Z",
        "updated": "2026-01-02T03:04:05.123456789Z",
        "steps": [
            {"type": "user_input"},
            {"type": "thought"},
            {"type": "model_output"},
        ],
        "usage": {"total_tokens": 58},
    }

    expected = RunSummary(
        status="completed",
        created=datetime(2026, 5, 15, 18, 51, 55, tzinfo=UTC),
        updated=datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=UTC),
        outputs=2,
    )
    assert expected == API.summarize(resource)


# -- what a client does by itself

START = RecoveryState()
# The failure, what was tried so far, whether there is a cursor, and the next request.
REQUESTS = {
    "nothing wrong": (None, START, False, None),
    "A": (FailureMode.CUT, START, False, RequestKind.REPLAY),
    "A with a cursor": (FailureMode.CUT, START, True, RequestKind.CURSOR),
    "B once": (FailureMode.RECUT, RecoveryState(recuts=1), False, RequestKind.REPLAY),
    "B once, with a cursor": (
        FailureMode.RECUT,
        RecoveryState(recuts=1),
        True,
        RequestKind.CURSOR,
    ),
    "B twice": (FailureMode.RECUT, RecoveryState(recuts=2), True, RequestKind.FETCH),
    "B by silence": (
        FailureMode.RECUT,
        RecoveryState(recuts=1, stalled=True),
        False,
        RequestKind.FETCH,
    ),
    "C": (FailureMode.ZOMBIE, START, False, None),
    "D": (FailureMode.DROP, START, False, RequestKind.REPLAY),
    "D for the third time": (
        FailureMode.DROP,
        RecoveryState(idle=2),
        False,
        RequestKind.REPLAY,
    ),
    "D for the fourth time": (
        FailureMode.DROP,
        RecoveryState(idle=3),
        True,
        RequestKind.FETCH,
    ),
    "D for the thirtieth time in all": (
        FailureMode.DROP,
        RecoveryState(follows=30),
        True,
        RequestKind.FETCH,
    ),
    "E": (FailureMode.NO_USAGE, START, False, RequestKind.FETCH),
    "F": (FailureMode.EMPTY_ERROR, START, False, None),
    "G": (FailureMode.UNFINISHED, START, False, RequestKind.REPLAY),
    "H": (FailureMode.NO_END, START, False, RequestKind.FETCH),
    "abort": (FailureMode.ABORT, START, False, None),
}


@pytest.mark.parametrize(("mode", "state", "cursor", "request_"), REQUESTS.values(), ids=REQUESTS)
def test_next_request(mode, state, cursor, request_):
    """
    The stream is followed as long as that may help, then the document is fetched.
    """
    assert request_ is state.next_request(mode, RecoveryPolicy(), resumable=True, cursor=cursor)


@pytest.mark.parametrize(
    "mode",
    [FailureMode.CUT, FailureMode.DROP, FailureMode.UNFINISHED, FailureMode.RECUT],
)
def test_only_a_resumable_run_is_followed(mode):
    """
    A run that is bound to its connection has no stream to follow.
    """
    assert None is START.next_request(mode, RecoveryPolicy(), resumable=False)


@pytest.mark.parametrize("mode", [FailureMode.NO_USAGE, FailureMode.NO_END])
def test_a_run_in_the_foreground_has_a_document(mode):
    """
    A run that has ended has a document, also without the background.
    """
    assert RequestKind.FETCH is START.next_request(mode, RecoveryPolicy(), resumable=False)


def test_the_policy_limits_the_attempts():
    """
    The policy sets how often a stream is requested again.
    """
    drop = FailureMode.DROP

    assert RequestKind.FETCH is START.next_request(drop, RecoveryPolicy(reconnects=0, recuts=9), resumable=True)
    assert RequestKind.REPLAY is START.next_request(drop, RecoveryPolicy(reconnects=1), resumable=True)


# -- what was tried


def test_only_a_replay_can_be_a_failed_one():
    """
    A first stream without anything new leaves open whether replays help.
    """
    first, replay = [ConnectionState(age_s=600.0, replay=replay) for replay in (False, True)]
    states = [RecoveryState().disconnected(each, FailureMode.CUT, news=False) for each in (first, replay)]

    assert [False, True] == [state.replay_failed for state in states]
    assert states[1].disconnected(first, FailureMode.CUT, news=True).replay_failed


def test_a_replay_with_news_starts_the_count_again():
    """
    Only streams without news count towards the limit of reconnects; a recut counts in any case.
    """
    cut = connection(replay=True, tail=CUT)

    state = RecoveryState(idle=2).disconnected(cut, FailureMode.RECUT, news=True)

    assert RecoveryState(recuts=1) == state
    assert RecoveryState(idle=1, recuts=2, replay_failed=True) == state.disconnected(cut, FailureMode.RECUT, news=False)


def test_a_document_without_a_status():
    """
    The last known status stays.
    """
    states = [RecoveryState(status="queued").fetched(RunSummary(status=status)) for status in (None, "failed")]

    assert ["queued", "failed"] == [state.status for state in states]


def test_each_status_of_a_connection_is_news_once():
    """
    A run that leaves its queue is alive; a repeated status shows nothing.
    """
    decoder = OpenAIResponsesApi().decoder("m", request={}, prior=None, secrets=Secrets())
    news = []
    for name, status in (("created", "queued"), ("queued", "queued"), ("in_progress", "in_progress")):
        event = {"type": f"response.{name}", "response": {"id": "resp_1", "status": status}}
        decoder.feed(stream(event, named=False))
        news.append(decoder.news)

    assert [1, 1, 2] == news


def test_attempts_are_bounded():
    """
    The newest 50 attempts are kept.
    """
    state = START.attempted(RequestKind.CREATE)
    for _ in range(60):
        state = state.attempted(RequestKind.REPLAY)

    assert ["replay"] * 50 == [attempt.kind for attempt in state.attempts]


# -- what a user can do

TABLE = {
    "following": ["stop"],
    "finished": [],
    "interrupted": ["resume", "recover", "stop"],
    "replay-failed": ["recover", "resume", "stop"],
    "no-stream": ["recover", "stop"],
    "zombie": ["stop", "recover"],
    "lost": ["stop"],
}


def test_the_actions_of_each_situation():
    """
    These actions make sense, in the order of their promise.
    """
    assert TABLE == {situation.value: [*actions] for situation, actions in ACTIONS.items()}


def test_stop_is_never_gated():
    """
    A run that has not ended can be stopped, whatever else is going on.
    """
    assert set(Situation) - {Situation.FINISHED} == {each for each in Situation if Action.STOP in ACTIONS[each]}


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
    "running when the process died": (
        message(status="running", kind=None),
        Situation.INTERRUPTED,
    ),
    "cut": (message(kind="interrupted"), Situation.INTERRUPTED),
    "left": (message(kind="aborted"), Situation.INTERRUPTED),
    "network": (message(kind="network"), Situation.INTERRUPTED),
    "timeout": (message(kind="timeout"), Situation.INTERRUPTED),
    "the provider's error": (message(kind="provider"), Situation.INTERRUPTED),
    "overloaded": (message(kind="overloaded"), Situation.INTERRUPTED),
    "zombie": (message(kind="provider", code="zombie"), Situation.ZOMBIE),
    "gone": (message(kind="not-found"), Situation.LOST),
    "stopped": (message(kind="cancelled"), Situation.FINISHED),
    "no run": (message(run=False), Situation.LOST),
    "not in the background": (message(resumable=False), Situation.NO_STREAM),
    "answered": (message(status="completed", kind=None), Situation.FINISHED),
}


@pytest.mark.parametrize(("stored", "situation"), STORED.values(), ids=STORED)
def test_situation_of_a_stored_message(stored, situation):
    """
    After a restart the situation follows from the message alone.
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

    assert [Situation.INTERRUPTED, Situation.INTERRUPTED, Situation.FINISHED] == [
        situation_of(each) for each in (cut, erred, done)
    ]


@pytest.mark.parametrize(
    ("status", "request_body", "held"),
    [
        ("completed", {}, True),
        ("incomplete", {}, True),
        ("budget_exceeded", {}, True),
        ("requires_action", {}, True),
        ("failed", {}, False),
        ("cancelled", {}, False),
        ("requires_continuation", {}, False),
        ("completed", {"store": False}, False),
    ],
)
def test_an_end_without_usage_is_held(status, request_body, held):
    """
    E: the end is held back when the document will have the usage: of a stored run that produced something.
    """
    decoder = API.decoder("m", request=request_body, prior=None, secrets=Secrets())
    decoder.feed(stream(C(), S(0, mo("a")), K(status, usage=None)))

    assert held is decoder.held


def test_an_end_that_has_the_fields_of_its_interaction():
    """
    The bridge of LiteLLM (2026-09) has them beside the type of the event: its run is known, and keeps its end.
    """
    created, completed = [
        {"event_type": f"interaction.{name}", "id": "v1", "status": status, "model": "gpt-5"}
        for name, status in (("created", "in_progress"), ("completed", "budget_exceeded"))
    ]
    decoder = API.decoder("m", request={}, prior=None, secrets=Secrets())
    decoder.feed(stream(created, S(0, mo("a")), completed))

    assert ("v1", True) == (decoder.run_id, decoder.held)

    decoder.release({"total_input_tokens": 1, "total_output_tokens": 2, "total_tokens": 3})

    assert ("length", 3) == (decoder.message.finish_reason, decoder.message.usage.total_tokens)


def test_an_end_of_a_run_without_an_id_is_not_held():
    """
    A run without an id has no document.
    """
    decoder = API.decoder("m", request={}, prior=None, secrets=Secrets())
    decoder.feed(stream(C(""), S(0, mo("a")), K(id="", usage=None)))

    assert decoder.terminal


def test_waits_between_documents_stay_short():
    """
    The wait doubles up to its bound, however many documents came before.
    """
    policy = RecoveryPolicy(poll_s=0.5, poll_max_s=3.0)

    assert [0.5, 1.0, 2.0, 3.0, 3.0] == [policy.poll_delay(polls) for polls in (0, 1, 2, 3, 100_000)]


def test_attempts_of_a_long_run_are_bounded():
    """
    The state keeps the newest 50 attempts, so that its size does not grow with the run.
    """
    state = RecoveryState()
    for number in range(60):
        state = state.attempted(RequestKind.FETCH, ErrorInfo(kind="network", message=f"{number}"))

    assert [f"{number}" for number in range(10, 60)] == [attempt.error.message for attempt in state.attempts]
