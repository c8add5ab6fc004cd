"""
What happened to a run at the provider, and what to do next: values and functions without a clock or a socket.

`classify` names how a connection ended, from what was observed of it. `RecoveryState` is all that is known of a run,
from which `next_request` follows. `ACTIONS` lists what a user can do in each situation.

The letters A to H are the names of the failure modes in `docs/explanation/recovery.md`, which lists the sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final, final

import attrs

from assistant_events.adapters.json_fields import Fields
from assistant_events.messages import AssistantMessage, MessageStatus
from assistant_events.values import CUT_KINDS, ErrorInfo, ErrorKind

ZOMBIE_CODE: Final = "zombie"
"""`ErrorInfo.code` of a message whose run is a zombie."""

MAX_ATTEMPTS: Final = 50


class FailureMode(StrEnum):
    """What is wrong with a run, or with the connection to it."""

    CUT = "ten-minute-cut"
    """A. The provider ends the stream after 600 s, often with a bare JSON error. The run continues."""

    RECUT = "replay-cut"
    """B. A replay is cut again, or stays silent although the run is alive or done. Streams will not help any more."""

    ZOMBIE = "zombie"
    """C. In progress for over an hour without any output, and without a chance of any."""

    DROP = "drop"
    """D. The connection was lost before the end. A run in the background continues."""

    NO_USAGE = "no-usage"
    """E. The answer is complete, but without usage. The document has it a little later."""

    EMPTY_ERROR = "empty-error"
    """F. Error events without code and message. They mean nothing."""

    UNFINISHED = "unfinished"
    """G. The stream reports its completion and a run that is still in progress. Treated like D."""

    NO_END = "no-end"
    """H. The stream reported the last status of the run, and closed without the final event. The document has it."""

    ABORT = "abort"
    """The reader left. The run continues unless it is stopped."""


class RequestKind(StrEnum):
    """One kind of request for a run."""

    CREATE = "create"  # start the run
    CURSOR = "cursor"  # follow the stream from behind the last event
    REPLAY = "replay"  # follow the stream from its start; what is known already is compared and left out
    FETCH = "fetch"  # fetch the document, repeatedly while the run is in progress


@final
@attrs.frozen(kw_only=True)
class RunTraits:
    """How the runs and connections of one provider behave, as far as it is known."""

    cut_at_s: tuple[float, float] | None = None
    """Age of a connection, in seconds, at which its end counts as the provider's cut; `None` without such a cut."""

    zombie_after: timedelta | None = None
    """A run in progress that is older than this and has no output is dead; `None` when that is not known."""

    def is_zombie(self, run: RunSummary, now: datetime) -> bool:
        """Return whether a run is dead although it is reported as in progress. Prefer the server's time for *now*."""
        if not run.running or run.outputs or run.created is None or self.zombie_after is None:
            return False
        return now - run.created > self.zombie_after

    def is_cut(self, age_s: float) -> bool:
        """Return whether a connection that ended at this age was cut by the provider."""
        return self.cut_at_s is not None and self.cut_at_s[0] <= age_s <= self.cut_at_s[1]


@final
@attrs.frozen(kw_only=True)
class RunSummary:
    """The document of a run, without its content."""

    status: str | None
    """The provider's word; `None` when the document has none."""

    running: bool = False
    """Whether the run is in progress. An unknown status is an end: nothing else would end it."""

    created: datetime | None = None
    """When the run was created; `None` when it is missing or not readable."""

    updated: datetime | None = None
    """When it was last changed. For display only: providers do not maintain it."""

    outputs: int = 0
    """Number of generated steps, without the echo of the input."""

    served_at: datetime | None = None
    """When the document was sent, by the server's clock; `None` when the server did not report it."""


@final
@attrs.frozen
class FetchedRun:
    """The document of a run."""

    resource: Fields
    run: RunSummary


@final
@attrs.frozen(kw_only=True)
class ConnectionState:
    """What was observed of one stream."""

    age_s: float  # since the headers of the response
    replay: bool = False  # it repeats a run that exists
    completed: bool = False  # it reported the end of the run: its completion, or an error that is not empty
    erred: bool = False  # that end is an error
    running: bool | None = None  # the last status is that of a run in progress; `None` without a status
    lacks_usage: bool = False  # the end is complete but for usage that the document will have
    empty_errors: int = 0  # error events without code and message
    cut_tail: bool = False  # the text behind the last event is the provider's error of a cut
    silent: bool = False  # it is open, without anything new for `RecoveryPolicy.silence_s`
    failed: bool = False  # the transport broke, or of a silent one: the run cannot be fetched
    aborted: bool = False  # the reader left


def classify(
    connection: ConnectionState, traits: RunTraits, run: RunSummary | None = None, now: datetime | None = None
) -> FailureMode | None:
    """
    Return what is wrong with a connection that ended, or is silent; `None` when nothing is.

    A zombie is recognised by the document (*run*) and the time at which it was fetched (*now*).
    """
    if connection.completed:
        found = {
            FailureMode.UNFINISHED: connection.running,
            FailureMode.NO_USAGE: connection.lacks_usage,
            FailureMode.EMPTY_ERROR: connection.empty_errors,
        }
        return None if connection.erred else next((mode for mode, holds in found.items() if holds), None)
    if run is not None and now is not None and traits.is_zombie(run, now):
        return FailureMode.ZOMBIE
    if connection.aborted:
        return FailureMode.ABORT
    cut = connection.cut_tail or (not connection.silent and traits.is_cut(connection.age_s))
    # A run that ended has no reason to be silent; one that is in progress may be, for a while.
    stalled = run is not None and (connection.silent or not run.running)
    if connection.replay and (cut or stalled):
        return FailureMode.RECUT
    if connection.cut_tail:
        return FailureMode.CUT
    if connection.silent and not connection.failed:
        # Open, and without a sign that the run continues elsewhere, unless the run has ended.
        return FailureMode.NO_END if run is not None and not run.running else None
    if connection.running is False:
        return FailureMode.NO_END
    return FailureMode.CUT if cut else FailureMode.DROP


@final
@attrs.frozen(kw_only=True)
class RecoveryPolicy:
    """Timeouts in seconds, retries, and limits of size."""

    connect_s: float = 10.0
    """To establish a connection. The default of httpx is 5; mobile networks need longer now and then."""

    response_s: float = 600.0
    """For the headers of a response, and for the whole of a document."""

    control_s: float = 30.0
    """For each request of `stop` and `status`."""

    silence_s: float = 60.0
    """
    Time without new content and new status after which the client fetches the document of the run, while the stream
    stays open. Bytes, comments and repeated events do not count. Replays that stall for good do so after two events.
    """

    foreground_silence_s: float = 120.0
    """Time without a byte after which the stream of a run without a document is abandoned."""

    foreground_thought_s: float = 600.0
    """The same without new content, while bytes still come: models think for minutes, behind heartbeats of a server."""

    reconnects: int = 3
    """Maximum number of streams in a row without anything new, before the document is fetched (Vercel's AI SDK: 3)."""

    follows: int = 30
    """The same for all streams of a run: an hour with a cut every ten minutes needs six."""

    reconnect_delay_s: float = 0.5
    """Before the first of them; the next ones wait twice and three times as long (Vercel's AI SDK: 0.5)."""

    recuts: int = 2
    """Maximum number of replays that are cut like the first stream, before the document is fetched."""

    poll_s: float = 1.0
    """Before the document of a run in progress is fetched again; doubles every time (Vercel's AI SDK: 1)."""

    poll_max_s: float = 10.0
    """The longest of these waits (Vercel's AI SDK: 10)."""

    poll_model_s: float = 30 * 60.0
    """For how long the document of a model's run in progress is fetched (Vercel's AI SDK: 30 min)."""

    poll_agent_s: float = 60 * 60.0
    """The same for an agent's run. Research agents take up to 60 min."""

    usage_delays_s: tuple[float, ...] = (0.5, 1.0, 2.0)
    """Before each request for missing usage. The document has it some seconds after the end of the stream."""

    document_bytes: int = 1 << 26
    """Maximum size of a document as sent (64 MiB). A report with images in base64 has some megabytes."""

    inflated_bytes: int = 1 << 26
    """Maximum size of a decompressed document. Streams are never compressed."""

    tries: int = 4
    """Number of attempts at one failing request. One for an answer is repeated only if no answer can have begun."""

    tries_s: float = 45.0
    """Maximum time for all of them."""

    retry_s: float = 0.5
    """Before the second try; doubles every time, unless the provider sends `retry-after`."""

    retry_max_s: float = 8.0
    """The longest of these waits; a longer `retry-after` is not waited for."""

    def poll_delay(self, polls: int) -> float:
        """Return how long to wait before the document is fetched again, after *polls* times."""
        return min(self.poll_s * 2.0 ** min(polls, 30), self.poll_max_s)


class Situation(StrEnum):
    """The state of a run from the point of view of its user. `ACTIONS` has what makes sense in each."""

    FOLLOWING = "following"
    """The client follows the run, or recovers it."""

    FINISHED = "finished"
    """The run ended, by itself or because it was stopped."""

    INTERRUPTED = "interrupted"
    """The run continues at the provider, and its stream can be followed again."""

    REPLAY_FAILED = "replay-failed"
    """The same, but its stream was cut again, stays silent, or could not be requested."""

    NO_STREAM = "no-stream"
    """Only the document can help: the run is not in the background, or its replay reported the same error."""

    ZOMBIE = "zombie"
    """The document reports a run in progress, but the run is dead."""

    LOST = "lost"
    """The run cannot be reached: it has no id, is not stored, or the provider does not have it any more."""


class Action(StrEnum):
    """What a user can do about a run."""

    RESUME = "resume"  # follow the stream again
    RECOVER = "recover"  # build the message from the document
    STOP = "stop"  # cancel and delete the run


ACTIONS: Final[Mapping[Situation, tuple[Action, ...]]] = MappingProxyType(
    {
        Situation.FOLLOWING: (Action.STOP,),
        Situation.FINISHED: (),
        Situation.INTERRUPTED: (Action.RESUME, Action.RECOVER, Action.STOP),
        Situation.REPLAY_FAILED: (Action.RECOVER, Action.RESUME, Action.STOP),
        Situation.NO_STREAM: (Action.RECOVER, Action.STOP),
        Situation.ZOMBIE: (Action.STOP, Action.RECOVER),
        Situation.LOST: (Action.STOP,),
    }
)
"""The actions that make sense in each situation, the most promising first. A run that has not ended can be stopped."""


def situation_of(message: AssistantMessage) -> Situation:
    """Return the situation of a stored message that no client follows. It is derived from the message alone."""
    error, run = message.error, message.run
    if message.status is MessageStatus.COMPLETED:
        return Situation.FINISHED
    if error is not None and error.code == ZOMBIE_CODE:
        return Situation.ZOMBIE
    if run is None or (error is not None and error.kind == ErrorKind.NOT_FOUND):
        return Situation.LOST
    if error is not None and error.kind == ErrorKind.CANCELLED:
        return Situation.FINISHED
    return Situation.INTERRUPTED if run.resumable else Situation.NO_STREAM


@final
@attrs.frozen(kw_only=True)
class Attempt:
    """One connection, or one request for the document."""

    kind: RequestKind

    mode: FailureMode | None = None
    """How it failed; `None` when it did not."""

    error: ErrorInfo | None = None
    """The error of the network or the provider."""


@final
@attrs.frozen(kw_only=True)
class RecoveryState:
    """What is known of a run, apart from its content. Each change is a new value."""

    mode: FailureMode | None = None  # the last failure
    error: ErrorInfo | None = None  # the end of the message, unless the stream reports another one
    situation: Situation | None = None  # the final one, if it does not follow from the stream
    status: str | None = None  # the last one, in the provider's words
    run: RunSummary | None = None  # the last document

    idle: int = 0  # streams in a row without anything new
    follows: int = 0  # requests for the stream after the first
    recuts: int = 0  # replays that were cut like the first stream
    stalled: bool = False  # the last replay was silent although the run is alive or done, or was of another run
    replay_failed: bool = False  # the last replay brought nothing new
    attempts: tuple[Attempt, ...] = ()  # the newest `MAX_ATTEMPTS`, oldest first

    def attempted(
        self, kind: RequestKind, error: ErrorInfo | None = None, mode: FailureMode | None = None
    ) -> RecoveryState:
        """Return the state after an attempt."""
        attempt = Attempt(kind=kind, mode=mode, error=error)
        return attrs.evolve(self, attempts=(*self.attempts, attempt)[-MAX_ATTEMPTS:])

    def fetched(self, run: RunSummary) -> RecoveryState:
        """Return the state after the document was fetched."""
        return attrs.evolve(self, run=run, status=run.status or self.status)

    def disconnected(self, connection: ConnectionState, mode: FailureMode | None, *, news: bool) -> RecoveryState:
        """Return the state after a connection that ended in *mode*, with or without *news*."""
        recut = mode is FailureMode.RECUT
        return attrs.evolve(
            self,
            idle=0 if news else self.idle + 1,
            replay_failed=not news if connection.replay else self.replay_failed,
            recuts=self.recuts + recut,
            stalled=connection.silent if recut else self.stalled,
        )

    def not_followed(self, error: ErrorInfo) -> RecoveryState:
        """Return the state after a stream could not be requested for now."""
        mode = self.mode if self.mode in (FailureMode.CUT, FailureMode.RECUT) else FailureMode.DROP
        return attrs.evolve(self, idle=self.idle + 1, mode=mode, error=error)

    def not_fetched(self, error: ErrorInfo, policy: RecoveryPolicy, *, transient: bool) -> RecoveryState:
        """Return the state after the document could not be fetched, which ends the message, *transient* or for good."""
        if transient and error.kind not in CUT_KINDS:  # the service is out, and the run may continue
            error = attrs.evolve(error, kind=ErrorKind.INTERRUPTED)
        if self.follows >= policy.follows:
            tried = f"(the stream was asked for {self.follows} times and did not come to its end)"
            error = attrs.evolve(error, message=f"{error.message} {tried}")
        return attrs.evolve(self, error=error)

    def lost(self, error: ErrorInfo) -> RecoveryState:
        """Return the state of a run that the provider does not have any more."""
        message = f"the provider has no such run: {error.message}"
        error = attrs.evolve(error, kind=ErrorKind.NOT_FOUND, message=message)
        return attrs.evolve(self, situation=Situation.LOST, error=error)

    def dead(self, run: RunSummary) -> RecoveryState:
        """Return the state of a zombie."""
        updated = "never" if run.updated is None else run.updated.isoformat()
        created = "" if run.created is None else run.created.isoformat()
        message = (
            f"the run has been {run.status} for over an hour and has produced nothing: "
            f"created {created}, updated {updated}, {run.outputs} outputs"
        )
        error = ErrorInfo(kind=ErrorKind.PROVIDER, code=ZOMBIE_CODE, message=message, retryable=True)
        return attrs.evolve(self, mode=FailureMode.ZOMBIE, situation=Situation.ZOMBIE, error=error)

    def abandoned(self, waited_s: float | None = None) -> RecoveryState:
        """Return the state of a run in progress that the client does not wait for (any longer)."""
        error = None
        if waited_s is not None:
            message = f"the run is still {self.status or 'running'}, without anything new for {waited_s:.0f} s"
            error = ErrorInfo(kind=ErrorKind.INTERRUPTED, message=message, retryable=True)
        return attrs.evolve(self, situation=Situation.INTERRUPTED, error=error)

    def next_request(
        self, mode: FailureMode | None, policy: RecoveryPolicy, *, resumable: bool, cursor: bool = False
    ) -> RequestKind | None:
        """
        Return what the client requests by itself after a connection ended in *mode*; `None` when nothing helps.

        A *resumable* run continues without a connection; with a *cursor*, its stream can continue at the last event.
        """
        match mode:
            case FailureMode.NO_USAGE | FailureMode.NO_END:
                return RequestKind.FETCH
            case FailureMode.CUT | FailureMode.DROP | FailureMode.UNFINISHED | FailureMode.RECUT if resumable:
                exhausted = (
                    self.recuts >= policy.recuts or self.idle >= policy.reconnects or self.follows >= policy.follows
                )
                if self.stalled or exhausted:
                    return RequestKind.FETCH
                return RequestKind.CURSOR if cursor else RequestKind.REPLAY
            case _:
                return None
