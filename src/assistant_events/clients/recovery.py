"""
What has happened to a run of the Interactions API, and what makes sense now. It never waits, asks or reads a clock.

`classify` names how a connection ended, from what was seen of it; the letters A to H are those of the failure modes
that users of long agent runs have described (big-AGI, "Gemini Interactions API", 2026; Google AI developer forum,
threads 143098 and 143099). `DECISIONS` says for every situation which of Resume, Recover and Stop make sense, and why;
`next_move` says how a client goes on by itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final, final

import attrs

from assistant_events.adapters.gemini_interactions import vocabulary
from assistant_events.adapters.json_fields import Fields, integer, mapping, mappings, string
from assistant_events.errors import JsonError
from assistant_events.messages import AssistantMessage, MessageStatus
from assistant_events.values import CUT_KINDS, ErrorKind, read_json

ZOMBIE_CODE: Final = "zombie"
"""`ErrorInfo.code` of a message whose run is a zombie."""

ZOMBIE_AFTER: Final = timedelta(minutes=60)
"""A run that is in progress, older than this, and has produced nothing is dead. Not at this age: beyond it."""

CUT_AT_S: Final = (595.0, 610.0)
"""Age of a connection, in seconds, at which its end counts as the ten-minute cut: seen at 600 s, give or take 1 s."""


class FailureMode(StrEnum):
    """What is wrong with a run, or with the connection that followed it."""

    CUT = "ten-minute-cut"
    """A. The provider ends the stream after 600 s, often with a bare JSON error. The run goes on."""

    RECUT = "replay-cut"
    """B. A replay is cut again, or stays silent although the run is alive or done. Streams will not help any more."""

    ZOMBIE = "zombie"
    """C. In progress for over an hour, and nothing was ever produced. Nothing will be."""

    DROP = "drop"
    """D. The connection was lost before the end. A run in the background goes on."""

    NO_USAGE = "no-usage"
    """E. The answer is complete, but what it cost was not said. The document has it a little later."""

    EMPTY_ERROR = "empty-error"
    """F. Error events that say nothing. They mean nothing."""

    UNFINISHED = "unfinished"
    """G. The stream says that it is complete and that the run is not. As D."""

    NO_END = "no-end"
    """H. The stream said that the run has ended, but not how, and was over. The document knows."""

    ABORT = "abort"
    """Whoever listened has left. The run goes on unless it is stopped."""


LETTERS: Final[Mapping[FailureMode, str]] = MappingProxyType(
    {
        FailureMode.CUT: "A",
        FailureMode.RECUT: "B",
        FailureMode.ZOMBIE: "C",
        FailureMode.DROP: "D",
        FailureMode.NO_USAGE: "E",
        FailureMode.EMPTY_ERROR: "F",
        FailureMode.UNFINISHED: "G",
        FailureMode.NO_END: "H",
    }
)
"""What the failure modes are called elsewhere. An abort is none of them."""


class ConnectionPhase(StrEnum):
    """What a stream is."""

    CREATE = "create"
    """The answer to the request that began the run."""

    REPLAY = "replay"
    """What a run that exists sends once more, from its start or from a cursor."""


@final
@attrs.frozen(kw_only=True)
class RunSummary:
    """What the document of a run (`GET` without `stream`) says of it, without its content."""

    status: str | None
    """The provider's word; `None` when it had none."""

    created: datetime | None = None
    """When the run was created; `None` when that is not said, or not in a way that can be read."""

    updated: datetime | None = None
    """
    When it was last touched. Only for people to read: it stays what it was in zombies, and equals `created` in some
    runs that have ended.
    """

    outputs: int = 0
    """How many steps were generated, without the echo of the input."""

    has_usage: bool = False

    @property
    def finished(self) -> bool:
        """Whether the run has ended, in whatever way."""
        return self.status not in vocabulary.UNFINISHED

    def is_zombie(self, now: datetime) -> bool:
        """Tell whether the run is dead though it is said to be in progress. *now* is best the server's own time."""
        if self.finished or self.outputs or self.created is None:
            return False
        return now - self.created > ZOMBIE_AFTER


def read_document(resource: Fields) -> RunSummary:
    """Return what matters here of the document of a run."""
    return RunSummary(
        status=string(resource, "status"),
        created=parse_time(string(resource, "created")),
        updated=parse_time(string(resource, "updated")),
        outputs=len(vocabulary.resource_steps(resource)),
        has_usage=bool(resource.get("usage")),
    )


def parse_time(text: str | None) -> datetime | None:
    """Return a time of the wire (ISO 8601 with a zone); `None` when it is none."""
    try:
        time = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return None if time.tzinfo is None else time


@final
@attrs.frozen(kw_only=True)
class ConnectionState:
    """What was seen of one stream. Times are seconds of one monotonic clock."""

    phase: ConnectionPhase
    opened: float
    """When the headers of the response came."""

    ended: float
    """When it was over, or when it is looked at."""

    last_byte: float | None = None
    """When it last gave anything; `None` when it never did."""

    events: int = 0
    """How many events it gave."""

    terminal: bool = False
    """Whether it told the end of the run: completed, or an error that says something."""

    erred: bool = False
    """Whether that end is an error."""

    status: str | None = None
    """The status that it told last, the one of a completed event included; `None` when it told none."""

    has_usage: bool = False
    """Whether the completed event said what the run cost."""

    stored: bool = False
    """Whether the run has an id and is stored, so that there is a document to ask for."""

    empty_errors: int = 0
    """How many error events said nothing."""

    tail: str = ""
    """Text after the last event that is no event."""

    silent: bool = False
    """Whether it is still open and has given nothing for as long as `Policy.silence_s`."""

    failed: bool = False
    """Whether the transport broke, as opposed to an orderly end; of a silent one, that the run cannot be asked for."""

    aborted: bool = False
    """Whether whoever listened has left."""

    @property
    def age_s(self) -> float:
        """How long it lasted."""
        return self.ended - self.opened


def classify(
    connection: ConnectionState, document: RunSummary | None = None, now: datetime | None = None
) -> FailureMode | None:
    """
    Return what is wrong; `None` when nothing is.

    Args:
        connection: The stream that is over, or silent.

        document: What the document of the run said since; `None` when nobody asked.

        now: The time at which it said so, best the server's own; needed to tell a zombie.
    """
    if connection.terminal:
        return _of_ended(connection)
    if document is not None and now is not None and document.is_zombie(now):
        return FailureMode.ZOMBIE
    if connection.aborted:
        return FailureMode.ABORT
    cut = is_cut_tail(connection.tail) or _is_cut_time(connection)
    if connection.phase is ConnectionPhase.REPLAY and (cut or _is_stalled(connection, document)):
        return FailureMode.RECUT
    if is_cut_tail(connection.tail):
        return FailureMode.CUT
    if connection.silent and not connection.failed:
        # Open, and nothing says that the run has gone on without it, unless it has ended.
        return FailureMode.NO_END if document is not None and document.finished else None
    if connection.status is not None and connection.status not in vocabulary.UNFINISHED:
        return FailureMode.NO_END
    return FailureMode.CUT if cut else FailureMode.DROP


def _of_ended(connection: ConnectionState) -> FailureMode | None:
    if connection.erred:
        return None
    if connection.status in vocabulary.UNFINISHED:
        return FailureMode.UNFINISHED
    if connection.stored and not connection.has_usage and connection.status in _WITH_USAGE:
        return FailureMode.NO_USAGE
    return FailureMode.EMPTY_ERROR if connection.empty_errors else None


_WITH_USAGE: Final = frozenset({"completed", "incomplete", "budget_exceeded", "requires_action"})
"""Statuses of which the provider says what they cost, if not in the stream then in the document."""


def wants_usage(status: str | None) -> bool:
    """Tell whether a run that ended with this status has a cost that can be asked for."""
    return status in _WITH_USAGE


def _is_cut_time(connection: ConnectionState) -> bool:
    earliest, latest = CUT_AT_S
    return not connection.silent and earliest <= connection.age_s <= latest


def _is_stalled(connection: ConnectionState, document: RunSummary | None) -> bool:
    if document is None:
        return False
    # A run that is done has nothing to be silent about; one that works may be, for a while.
    return document.finished or connection.silent


_CUT_WORDS: Final = re.compile(r'"code"\s*:\s*503\b|"status"\s*:\s*"UNAVAILABLE"')


def is_cut_tail(tail: str) -> bool:
    """
    Tell whether text after the last event is the one of the ten-minute cut.

    It is `[{"error": {"code": 503, …, "status": "UNAVAILABLE"}}]` over several lines, itself cut at times.
    """
    text = tail.strip()
    if not text.startswith(("[", "{")):
        return False
    try:
        document = read_json(text)
    except JsonError:
        return _CUT_WORDS.search(text) is not None
    first = mappings({"all": document if isinstance(document, list) else [document]}, "all")[:1]
    error = mapping(first[0] if first else {}, "error")
    return integer(error, "code") == 503 or string(error, "status") == "UNAVAILABLE"


# -- what a document leads to


class DocumentVerdict(StrEnum):
    """What a client does with the document of a run."""

    FOLD = "fold"
    """The run has ended: the message is what the document says."""

    WAIT = "wait"
    """Still running: ask again later."""

    ZOMBIE = "zombie"
    """Dead: the message fails for good."""


def handle(document: RunSummary, now: datetime) -> DocumentVerdict:
    """Return what to do with a document. A status that is not known yet is an end: nothing else would end it."""
    if document.finished:
        return DocumentVerdict.FOLD
    return DocumentVerdict.ZOMBIE if document.is_zombie(now) else DocumentVerdict.WAIT


# -- what a client does by itself


class NextAction(StrEnum):
    """How a run is gone on with."""

    CURSOR = "cursor"
    """Follow it from behind the last event that was seen."""

    REPLAY = "replay"
    """Follow it from its start; what is known already is compared and left out."""

    FETCH = "fetch"
    """Ask for its document, again and again while it is running."""

    BACKFILL = "backfill"
    """Ask for its document only because of what it cost."""

    END = "end"
    """Nothing more can be done, or has to be."""


@final
@attrs.frozen(kw_only=True)
class RecoveryPolicy:
    """How long a client waits for what, in seconds, and how often it tries."""

    connect_s: float = 10.0
    """For a connection to be made. httpx gives 5; mobile networks take longer now and then."""

    response_s: float = 120.0
    """For the headers of a response, and for the whole of a document."""

    control_s: float = 30.0
    """For each request of Stop and of status."""

    silence_s: float = 60.0
    """
    How long a stream may give no new content and no new status before the client asks for the run's document, while the
    stream stays open. Bytes, comments and repeated events do not count. The replays that stall for good do so after two
    events (forum thread 143099).
    """

    foreground_silence_s: float = 120.0
    """
    The same for a run without a document to ask for: the stream is given up then. The service closes such connections
    after about 60 s itself.
    """

    reconnects: int = 3
    """How many times in a row a stream is asked for once more that brings nothing new (Vercel's AI SDK: 3)."""

    follows: int = 30
    """
    How many times in all the stream of one run is asked for once more. Then the document is asked for: a run of an hour
    that is cut every ten minutes needs six, and a server whose replays all differ would never end.
    """

    reconnect_delay_s: float = 0.5
    """Before the first of them; the next ones wait twice and three times as long (Vercel's AI SDK: 0.5)."""

    recuts: int = 2
    """After so many replays that were cut like the first stream, the document is asked for instead."""

    poll_s: float = 1.0
    """Before the document of a running run is asked for again; doubles every time (Vercel's AI SDK: 1)."""

    poll_max_s: float = 10.0
    """The longest of these waits (Vercel's AI SDK: 10)."""

    poll_model_s: float = 30 * 60.0
    """How long the document of a model's run is asked for in all (Vercel's AI SDK: 30 min)."""

    poll_agent_s: float = 60 * 60.0
    """How long that of an agent is. Deep Research takes up to 60 min, says its manual."""

    usage_delays_s: tuple[float, ...] = (0.5, 1.0, 2.0)
    """Before each of the requests for what a run cost. The document has it some seconds after the stream's end."""

    document_bytes: int = 1 << 26
    """How many bytes of a document are read (64 MiB). A report with images in base64 has some megabytes."""

    inflated_bytes: int = 1 << 26
    """How large a compressed document may become. Streams are never compressed."""

    hops: int = 20
    """
    How many responses `assistant-events run` asks for to complete one answer that pauses (`requires_continuation`).
    Each is billed; the service gives 65,536 tokens in one, and about a million in all.
    """

    tries: int = 4
    """
    How many times one request is made that does not go through. The request that creates a run is only made again
    when it was never sent, or was refused as one too many (429).
    """

    tries_s: float = 45.0
    """How long that takes in all, at most."""

    retry_s: float = 0.5
    """Before the second try; doubles every time, unless the provider says when (`retry-after`)."""

    retry_max_s: float = 8.0
    """The longest of these waits; also the longest `retry-after` that is waited for."""

    def poll_delay(self, polls: int) -> float:
        """Return how long to wait before the document is asked for once more, after so many times."""
        return min(self.poll_s * 2.0 ** min(polls, 30), self.poll_max_s)


@final
@attrs.frozen(kw_only=True)
class AttemptHistory:
    """What was tried so far for one run."""

    resumable: bool
    """Whether the run goes on without us and lets us come back."""

    cursor: bool = False
    """Whether the last event that was applied had an id to go on from."""

    idle: int = 0
    """How many streams in a row brought nothing new."""

    follows: int = 0
    """How many times the stream was asked for once more, in all."""

    recuts: int = 0
    """How many replays were cut like the first stream."""

    stalled: bool = False
    """Whether the last replay stayed silent although the run is alive or done, or was one of another run."""


def next_move(mode: FailureMode | None, history: AttemptHistory, policy: RecoveryPolicy) -> NextAction:
    """Return how a client goes on by itself after *mode*."""
    match mode:
        case FailureMode.NO_USAGE:
            return NextAction.BACKFILL
        case FailureMode.NO_END:
            return NextAction.FETCH
        case FailureMode.CUT | FailureMode.DROP | FailureMode.UNFINISHED | FailureMode.RECUT if history.resumable:
            if (
                history.stalled
                or history.recuts >= policy.recuts
                or history.idle >= policy.reconnects
                or history.follows >= policy.follows
            ):
                return NextAction.FETCH
            return NextAction.CURSOR if history.cursor else NextAction.REPLAY
        case _:
            return NextAction.END


# -- what a person may do


class Situation(StrEnum):
    """Where a run stands, as far as what to do about it goes."""

    STREAMING = "streaming"
    """The stream that began the run goes on."""

    BUSY = "busy"
    """The run is being resumed or recovered."""

    BACKFILLING = "backfilling"
    """The answer is there, and what it cost is being asked for."""

    FINISHED = "finished"
    """The run has ended, by itself or because it was stopped: nothing more comes of it."""

    DROPPED = "dropped"
    """The connection was lost, or whoever listened has left. The run goes on."""

    CUT = "cut"
    """The stream met the ten-minute cut. The run goes on."""

    RESUME_FAILED = "resume-failed"
    """The same, and a Resume has failed since."""

    RECUT = "recut"
    """A replay was cut again, or stays silent."""

    RUNNING = "running"
    """The document says that the run is in progress, and it is no zombie."""

    ZOMBIE = "zombie"
    """The document says that the run is in progress, but it is dead."""

    ERRED = "erred"
    """The stream told an error."""

    ERRED_TWICE = "erred-twice"
    """The same, and a Resume has told it again."""

    STORED = "stored"
    """The stream of a run that is stored, but was not sent to the background, was lost."""

    LOST = "lost"
    """The run cannot be come back to: it has no id, is not stored, or is gone from the provider."""


class Action(StrEnum):
    """What a person may do about a run."""

    RESUME = "resume"
    """Follow the stream of the run again."""

    RECOVER = "recover"
    """Take the run from its document."""

    STOP = "stop"
    """Cancel the run and delete it."""


@final
@attrs.frozen(kw_only=True)
class Choice:
    """Whether one action makes sense now, and why."""

    available: bool
    primary: bool = False
    """Whether it is the one to offer first."""

    busy: bool = False
    """Whether it is being done, so that a button for it is shown but cannot be pressed."""

    why: str
    """A sentence for people."""


@final
@attrs.frozen(kw_only=True)
class Choices:
    """What makes sense in one situation."""

    resume: Choice
    recover: Choice
    stop: Choice


def _no(why: str) -> Choice:
    return Choice(available=False, why=why)


def _yes(why: str) -> Choice:
    return Choice(available=True, why=why)


def _first(why: str) -> Choice:
    return Choice(available=True, primary=True, why=why)


def _busy(why: str) -> Choice:
    return Choice(available=False, busy=True, why=why)


_STOP: Final = _yes("it ends the run, which would go on and cost")
_LISTENING: Final = "the stream is being followed"
_DONE: Final = "the run has ended, nothing more comes of it"
_NOWHERE: Final = "the provider does not have the run"

DECISIONS: Final[Mapping[Situation, Choices]] = MappingProxyType(
    {
        Situation.STREAMING: Choices(resume=_no(_LISTENING), recover=_no(_LISTENING), stop=_STOP),
        Situation.BUSY: Choices(
            resume=_busy("the run is being taken up again"),
            recover=_busy("the run is being taken up again"),
            stop=_yes("it never waits for a Resume or a Recover that hangs"),
        ),
        Situation.BACKFILLING: Choices(
            resume=_no("the answer is complete"),
            recover=_busy("what the run cost is being asked for"),
            stop=_no("the run has ended"),
        ),
        Situation.FINISHED: Choices(resume=_no(_DONE), recover=_no(_DONE), stop=_no(_DONE)),
        Situation.DROPPED: Choices(
            resume=_first("the run goes on, and its stream can be followed again"),
            recover=_yes("the document has the whole answer once the run has ended"),
            stop=_STOP,
        ),
        Situation.CUT: Choices(
            resume=_first("the run goes on, and its stream can be followed again"),
            recover=_yes("the document has the whole answer once the run has ended"),
            stop=_STOP,
        ),
        Situation.RESUME_FAILED: Choices(
            resume=_yes("the stream may go on for ten minutes more"),
            recover=_first("following the stream has failed; the document is not cut"),
            stop=_STOP,
        ),
        Situation.RECUT: Choices(
            resume=_yes("it will most likely be cut again"),
            recover=_first("the stream does not reach the end; the document does"),
            stop=_STOP,
        ),
        Situation.RUNNING: Choices(
            resume=_yes("the run is in progress, and its stream can be followed"),
            recover=_yes("later: the document is complete once the run has ended"),
            stop=_STOP,
        ),
        Situation.ZOMBIE: Choices(
            resume=_no("the run has produced nothing for over an hour, and will not"),
            recover=_yes("it does no harm, but there is nothing to recover"),
            stop=_first("delete it and ask anew"),
        ),
        Situation.ERRED: Choices(
            resume=_yes("the error may have been a passing one"),
            recover=_yes("the document says how the run ended"),
            stop=_STOP,
        ),
        Situation.ERRED_TWICE: Choices(
            resume=_no("it has told the same error again"),
            recover=_yes("the document says how the run ended"),
            stop=_STOP,
        ),
        Situation.STORED: Choices(
            resume=_no("a run that was not sent to the background has no stream to come back to"),
            recover=_yes("the document is there if the run has ended by itself"),
            stop=_STOP,
        ),
        Situation.LOST: Choices(
            resume=_no(_NOWHERE),
            recover=_no(_NOWHERE),
            stop=_yes("it only stops listening: there is nothing to cancel"),
        ),
    }
)
"""What makes sense when. `docs/explanation/recovery.md` shows it."""


def situation_of(message: AssistantMessage) -> Situation:
    """
    Return where the run of a stored message stands that nobody is receiving, for example after a restart.

    What only the provider knows is not asked: `GeminiInteractions.status` does.
    """
    error, run = message.error, message.run
    if message.status is MessageStatus.COMPLETED:
        return Situation.FINISHED
    if error is not None and error.code == ZOMBIE_CODE:
        return Situation.ZOMBIE
    if run is None or (error is not None and error.kind == ErrorKind.NOT_FOUND):
        return Situation.LOST
    if error is not None and error.kind == ErrorKind.CANCELLED:
        return Situation.FINISHED
    if not run.resumable:
        return Situation.STORED
    return Situation.DROPPED if error is None or error.kind in CUT_KINDS else Situation.ERRED


__all__ = [
    "CUT_AT_S",
    "DECISIONS",
    "LETTERS",
    "ZOMBIE_AFTER",
    "ZOMBIE_CODE",
    "Action",
    "AttemptHistory",
    "Choice",
    "Choices",
    "ConnectionPhase",
    "ConnectionState",
    "DocumentVerdict",
    "FailureMode",
    "NextAction",
    "RecoveryPolicy",
    "RunSummary",
    "Situation",
    "classify",
    "handle",
    "is_cut_tail",
    "next_move",
    "parse_time",
    "read_document",
    "situation_of",
    "wants_usage",
]
