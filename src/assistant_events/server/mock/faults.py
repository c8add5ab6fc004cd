"""
What a mock provider can do wrong, by name.

A fault is written `NAME`, `NAME@AT`, `NAMExTIMES` or `NAME@ATxTIMES`: `drop@7` breaks the first stream of a run after
seven events, `ten-minute-cut@30sx2` ends its first two streams thirty seconds after they were opened,
`http-500@cancelx*` fails every attempt to cancel. `KINDS` says what each does, where it strikes and how often when
nothing else is said.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any, Final, Literal, TypeAlias, final

import attrs

Reach: TypeAlias = Literal["stream", "replay", "document", "run", "request"]
"""
What a fault is about: any stream of a run, its replays only, the document that GET returns, the run itself, or
requests. Times are counted for each run, those of a fault of requests for each fault.
"""

Where: TypeAlias = Literal["moment", "events", "seconds", "count", "route", "nothing"]
"""What may stand behind `@`: an event or a time, only an event, only a time, a number of requests, a route, nothing."""

ROUTES: Final = ("create", "get", "cancel", "delete", "any")
"""Where an HTTP fault strikes; `get` is the resource and its replay."""

ALWAYS: Final = None
"""For `times`: every time."""


@final
@attrs.frozen(kw_only=True)
class FaultKind:
    """What can be said of a fault by its name."""

    name: str
    text: str
    """One line for a person who chooses."""

    reach: Reach
    where: Where = "nothing"
    at: int | float | str | None = None
    """Where it strikes when nothing is said: events (`int`), seconds (`float`), or a route."""

    times: int | None = ALWAYS
    """How often when nothing is said; `None`: every time."""


LONGEST_S: Final = 1e9
"""How many seconds a time has at most: 31 years. The date of a run that is a few thousand years old does not exist."""


def _check_at(fault: Fault, field: attrs.Attribute[Any], at: float | str | None) -> None:
    # Any: what a field holds.
    if isinstance(at, float) and not 0 <= at <= LONGEST_S:
        raise ValueError(f"fault {fault.name!r}: expected a time of at most {LONGEST_S:g} seconds, got {at!r}")


@final
@attrs.frozen(kw_only=True)
class Fault:
    """One fault as it was asked for."""

    name: str
    at: int | float | str | None = attrs.field(default=None, validator=_check_at)
    """Events that come before (`int`), seconds of the provider (`float`), or a route (`str`); `None` for none of it."""

    times: int | None = ALWAYS
    """How often it strikes; `None`: every time."""

    @property
    def kind(self) -> FaultKind:
        """What is known of its name."""
        return KINDS[_family(self.name)]

    @property
    def status(self) -> int:
        """The status of an HTTP fault."""
        return int(self.name.rpartition("-")[2])

    @property
    def events(self) -> int | None:
        """After how many events it strikes; `None` when it is not about events."""
        return self.at if isinstance(self.at, int) else None

    @property
    def seconds(self) -> float | None:
        """After how many seconds it strikes; `None` when it is not about time."""
        return self.at if isinstance(self.at, float) else None


_TEN_MINUTES: Final = 600.0
_HEARTBEAT: Final = 15.0

KINDS: Final[dict[str, FaultKind]] = {
    kind.name: kind
    for kind in (
        FaultKind(
            name="ten-minute-cut",
            text="the stream ends after ten minutes with a bare JSON error and no transport error",
            reach="stream",
            where="moment",
            at=_TEN_MINUTES,
            times=1,
        ),
        FaultKind(
            name="recut",
            text="like ten-minute-cut, but every stream of the run ends so, replays too",
            reach="stream",
            where="moment",
            at=_TEN_MINUTES,
        ),
        FaultKind(
            name="silent-replay",
            text="a replay brings two events, then the socket stays open and nothing comes",
            reach="replay",
            where="moment",
            at=2,
        ),
        FaultKind(
            name="zombie",
            text="the run stays in_progress for ever, without steps, created as long ago as asked (61 minutes)",
            reach="run",
            where="seconds",
            at=3660.0,
        ),
        FaultKind(
            name="drop",
            text="the connection is reset, with no end of the body",
            reach="stream",
            where="moment",
            at=3,
            times=1,
        ),
        FaultKind(name="cut", text="the body ends cleanly, too early", reach="stream", where="moment", at=3, times=1),
        FaultKind(
            name="stall",
            text="nothing more comes and the socket stays open",
            reach="stream",
            where="moment",
            at=3,
            times=1,
        ),
        FaultKind(
            name="heartbeat-comments",
            text="while a stream hangs (stall, silent-replay, zombie), it brings an SSE comment every 15 seconds",
            reach="stream",
            where="seconds",
            at=_HEARTBEAT,
        ),
        FaultKind(
            name="heartbeat-status",
            text="while a stream hangs, it repeats the status_update event, in_progress, every 15 seconds",
            reach="stream",
            where="seconds",
            at=_HEARTBEAT,
        ),
        FaultKind(
            name="heartbeat-bytes",
            text="while a stream hangs, it brings one byte of a line without end every 15 seconds",
            reach="stream",
            where="seconds",
            at=_HEARTBEAT,
        ),
        FaultKind(
            name="other-run-replay",
            text="a replay brings the events of another run, with its id and its text",
            reach="replay",
        ),
        FaultKind(
            name="other-run-document",
            text="GET returns the document of another run, with its id and its text",
            reach="document",
        ),
        FaultKind(
            name="no-usage",
            text="interaction.completed has no usage; with @N neither have the first N answers to GET",
            reach="stream",
            where="count",
            at=0,
        ),
        FaultKind(
            name="empty-errors",
            text="error events that say nothing, in the middle",
            reach="stream",
            where="events",
            at=2,
        ),
        FaultKind(
            name="error",
            text="an error event, after which the stream ends",
            reach="stream",
            where="moment",
            at=3,
            times=1,
        ),
        FaultKind(
            name="no-completed",
            text="[DONE] comes where interaction.completed belongs",
            reach="stream",
            times=1,
        ),
        FaultKind(
            name="completed-in-progress",
            text="interaction.completed says in_progress",
            reach="stream",
            times=1,
        ),
        FaultKind(
            name="http-NNN",
            text="an HTTP error of that status: 404 for GET, others for create, unless a route is named; 429 says when",
            reach="request",
            where="route",
            times=1,
        ),
        FaultKind(
            name="no-chaining",
            text="501 for a request that names a previous interaction",
            reach="request",
        ),
        FaultKind(
            name="slow-first-byte",
            text="the headers of a stream or of an answer come late (after 30 seconds)",
            reach="stream",
            where="seconds",
            at=30.0,
        ),
        FaultKind(
            name="duplicated-frames",
            text="the last two events come once more",
            reach="stream",
            where="events",
            at=3,
            times=1,
        ),
        FaultKind(
            name="reordered-frames",
            text="two neighbouring events change places",
            reach="stream",
            where="events",
            at=3,
            times=1,
        ),
        FaultKind(
            name="truncated-utf8",
            text="the body ends in the middle of a character",
            reach="stream",
            where="events",
            at=3,
            times=1,
        ),
        FaultKind(name="bad-json", text="a frame that is no JSON", reach="stream", where="events", at=3, times=1),
        FaultKind(
            name="unknown-events",
            text="events, steps and deltas of types that nobody knows yet",
            reach="stream",
            where="events",
            at=2,
        ),
        FaultKind(name="no-stops", text="no step says that it has ended", reach="stream"),
        FaultKind(name="no-done", text="no [DONE] at the end", reach="stream"),
        FaultKind(name="no-blank-line", text="no blank line after the last event", reach="stream"),
        FaultKind(name="data-only", text="frames without their event line", reach="stream"),
        FaultKind(name="crlf", text="lines end in CR LF", reach="stream"),
        FaultKind(name="comments", text="a comment before each event", reach="stream"),
        FaultKind(
            name="split-bytes", text="the body comes in pieces of N bytes (3)", reach="stream", where="count", at=3
        ),
        FaultKind(
            name="queued",
            text="a background run says queued when it is created, and to the first N polls (1)",
            reach="run",
            where="count",
            at=1,
        ),
    )
}
"""Every fault by its name; `http-NNN` stands for all of 400 to 599."""

_WRITTEN = re.compile(r"(?P<name>[a-z][a-z0-9-]*?)(?:@(?P<at>[^@]*?))?(?:x(?P<times>[0-9]{1,9}|\*))?")
_HTTP = re.compile(r"http-[45][0-9][0-9]")
_SECONDS = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)(ms|s|m|h)")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}

_EXPECTED: Final[dict[Where, str]] = {
    "moment": "a number of events such as 7 or a time such as 600s",
    "events": "a number of events such as 7",
    "seconds": "a time such as 90s, 10m or 250ms",
    "count": "a number",
    "route": f"one of {', '.join(ROUTES)}",
    "nothing": "nothing",
}


def _unknown(text: str, name: str) -> str:
    if name.startswith("http-"):
        return f"unknown fault {text!r}: expected a status from 400 to 599 after 'http-'"
    close = get_close_matches(name.partition("@")[0], KINDS, 1)
    hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(KINDS)}"
    return f"unknown fault {text!r}; {hint}"


def parse_fault(text: str) -> Fault:
    """
    Return the fault that *text* names.

    Raises:
        ValueError: For a name that is not known, a place that the fault does not have, or a number of times that is
            none; the message says what was expected.
    """
    found = _WRITTEN.fullmatch(text.strip())
    name = found["name"] if found else text.strip()
    kind = KINDS.get(_family(name))
    if found is None or kind is None or name == "http-NNN":
        raise ValueError(_unknown(text, name))
    at = _parse_at(text, kind, found["at"])
    if at is None:
        at = _default_route(name) if kind.where == "route" else kind.at
    times = kind.times if found["times"] is None else _parse_times(found["times"])
    if times == 0:
        raise ValueError(f"fault {text!r}: expected how often it strikes, 1 or more or *, got 0")
    if kind.where == "route" and found["times"] is None and name == "http-404":
        times = ALWAYS
    return Fault(name=name, at=at, times=times)


def parse_faults(text: str) -> tuple[Fault, ...]:
    """
    Return the faults of a list with commas or blanks between them, as the header `x-mock-fault` has it.

    Raises:
        ValueError: As for `parse_fault`.
    """
    return tuple([parse_fault(each) for each in re.split(r"[,\s]+", text) if each])


def fault_help() -> tuple[tuple[str, str], ...]:
    """Return how each fault is written and what it does, a pair each, for a list on the command line."""
    return tuple([(kind.name + _example(kind), kind.text) for kind in KINDS.values()])


def _family(name: str) -> str:
    return "http-NNN" if _HTTP.fullmatch(name) else name


def _default_route(name: str) -> str:
    return "get" if name == "http-404" else "create"


def _parse_times(text: str) -> int | None:
    return ALWAYS if text == "*" else int(text)


def _parse_at(text: str, kind: FaultKind, at: str | None) -> int | float | str | None:
    if at is None:
        return None
    if kind.where == "route" and at in ROUTES:
        return at
    if kind.where in ("moment", "events", "count") and at.isascii() and at.isdecimal() and len(at) < 10:
        return int(at)
    time = _SECONDS.fullmatch(at)
    if kind.where in ("moment", "seconds") and time is not None:
        return float(time[1]) * _UNITS[time[2]]
    raise ValueError(f"fault {text!r}: expected {_EXPECTED[kind.where]} after '@', got {at!r}")


def _example(kind: FaultKind) -> str:
    match kind.where:
        case "moment" | "seconds" | "events" | "count":
            at = f"{kind.at:g}s" if isinstance(kind.at, float) else f"{kind.at}"
            return f"@{at}"
        case "route":
            return "@create"
        case _:
            return ""
