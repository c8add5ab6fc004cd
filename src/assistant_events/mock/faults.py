"""
What a mock provider can do wrong, by name.

A fault is written `NAME`, `NAME@AT`, `NAMExTIMES` or `NAME@ATxTIMES`: `drop@7` breaks the first stream of a run after
seven events, `ten-minute-cut@30sx2` ends its first two streams thirty seconds after they were opened,
`http-500@cancelx*` fails every attempt to cancel. `KINDS` says what each does, where it strikes and how often when
nothing else is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from enum import IntEnum
from functools import partial
from typing import Any, Final, Literal, TypeAlias, final

import attrs

from assistant_events.mock import fault_effects
from assistant_events.mock.fault_effects import Effect, Point
from assistant_events.mock.stream_actions import ResetConnection, SendBytes, StopSending, StreamAction, StreamActions

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


class Stage(IntEnum):
    """
    When an effect changes a stream: after those of the stages before, whose work it sees.

    In one stage the order is that of `KINDS`; in what order faults are named means nothing.
    """

    CHANGED = 1
    """Events of the run are changed or left out."""

    UNKNOWN = 2
    """Events of types that nobody knows come in between."""

    INSERTED = 3
    """Other events come in between."""

    MOVED = 4
    """Events are doubled or moved; `[DONE]` is left out."""

    ENDED = 5
    SILENCE = 6
    """Something comes while the stream hangs."""

    BYTES = 7


@final
@attrs.frozen
class FaultKind:
    """What can be said of a fault by its name."""

    text: str
    """One line for a person who chooses."""

    effect: Effect | None = None
    """What it makes of a stream; `None` when it does not change its events or bytes."""

    stage: Stage = Stage.CHANGED
    where: Where = "nothing"
    at: int | float | str | None = None
    """Where it strikes when nothing is said: events (`int`), seconds (`float`), or a route."""

    times: int | None = ALWAYS
    """How often when nothing is said; `None`: every time."""

    reach: Reach = "stream"


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


def _ends(
    text: str, *make: Callable[[float], StreamAction], at: float = 3, times: int | None = 1, reach: Reach = "stream"
) -> FaultKind:
    return FaultKind(text, fault_effects.ending(*make), Stage.ENDED, "moment", at, times, reach)


def _beats(text: str, beat: Callable[[Point], bytes]) -> FaultKind:
    return FaultKind(text, fault_effects.beating(beat), Stage.SILENCE, "seconds", 15.0)


def _rewrites(text: str, rewrite: Callable[[bytes], bytes]) -> FaultKind:
    return FaultKind(text, fault_effects.rewritten(rewrite), Stage.BYTES)


def _leaves_out(
    text: str, leaves_out: Callable[[SendBytes], bool], stage: Stage, times: int | None = ALWAYS
) -> FaultKind:
    return FaultKind(text, fault_effects.without(leaves_out), stage, times=times)


_once = partial(FaultKind, where="events", at=3, times=1)

KINDS: Final[dict[str, FaultKind]] = {
    "ten-minute-cut": _ends(
        "the stream ends after ten minutes with a bare JSON error and no transport error",
        fault_effects.cut_off,
        at=600.0,
    ),
    "recut": _ends(
        "like ten-minute-cut, but every stream of the run ends so, replays too",
        fault_effects.cut_off,
        at=600.0,
        times=ALWAYS,
    ),
    "silent-replay": _ends(
        "a replay brings two events, then the socket stays open and nothing comes",
        StopSending,
        at=2,
        times=ALWAYS,
        reach="replay",
    ),
    "zombie": FaultKind(
        "the run stays in_progress for ever, without steps, created as long ago as asked (61 minutes)",
        where="seconds",
        at=3660.0,
        reach="run",
    ),
    "drop": _ends("the connection is reset, with no end of the body", ResetConnection),
    "cut": _ends("the body ends cleanly, too early"),
    "stall": _ends("nothing more comes and the socket stays open", StopSending),
    "heartbeat-comments": _beats(
        "while a stream hangs (stall, silent-replay, zombie), it brings an SSE comment every 15 seconds",
        lambda point: b": keep-alive\n\n",
    ),
    "heartbeat-status": _beats(
        "while a stream hangs, it repeats the status_update event, in_progress, every 15 seconds",
        lambda point: point.status_update,
    ),
    "heartbeat-bytes": _beats(
        "while a stream hangs, it brings one byte of a line without end every 15 seconds", lambda point: b":"
    ),
    "other-run-replay": FaultKind(
        "a replay brings the events of another run, with its id and its text", reach="replay"
    ),
    "other-run-document": FaultKind(
        "GET returns the document of another run, with its id and its text", reach="document"
    ),
    "no-usage": FaultKind(
        "interaction.completed has no usage; with @N neither have the first N answers to GET",
        fault_effects.changed(lambda interaction: interaction.pop("usage", None)),
        where="count",
        at=0,
    ),
    "empty-errors": FaultKind(
        "error events that say nothing, in the middle", fault_effects.empty_errors, Stage.INSERTED, "events", 2
    ),
    "error": _ends("an error event, after which the stream ends", fault_effects.failed),
    "no-completed": _leaves_out(
        "[DONE] comes where interaction.completed belongs",
        lambda sent: sent.name in ("interaction.completed", "interaction.complete"),
        Stage.CHANGED,
        times=1,
    ),
    "completed-in-progress": FaultKind(
        "interaction.completed says in_progress",
        fault_effects.changed(lambda interaction: interaction.update(status="in_progress")),
        times=1,
    ),
    "http-NNN": FaultKind(
        "an HTTP error of that status: 404 for GET, others for create, unless a route is named; 429 says when",
        where="route",
        times=1,
        reach="request",
    ),
    "no-chaining": FaultKind("501 for a request that names a previous interaction", reach="request"),
    "slow-first-byte": FaultKind(
        "the headers of a stream or of an answer come late (after 30 seconds)", where="seconds", at=30.0
    ),
    "duplicated-frames": _once("the last two events come once more", fault_effects.duplicated, Stage.MOVED),
    "reordered-frames": _once("two neighbouring events change places", fault_effects.reordered, Stage.MOVED),
    "truncated-utf8": _once("the body ends in the middle of a character", fault_effects.truncated, Stage.ENDED),
    "bad-json": _once("a frame that is no JSON", fault_effects.bad_json, Stage.INSERTED),
    "unknown-events": FaultKind(
        "events, steps and deltas of types that nobody knows yet",
        fault_effects.unknown_types,
        Stage.UNKNOWN,
        "events",
        2,
    ),
    "no-stops": _leaves_out(
        "no step says that it has ended", lambda sent: sent.name in ("step.stop", "content.stop"), Stage.CHANGED
    ),
    "no-done": _leaves_out("no [DONE] at the end", lambda sent: sent.data.endswith(b"[DONE]\n\n"), Stage.MOVED),
    "no-blank-line": FaultKind("no blank line after the last event", fault_effects.without_blank_line, Stage.BYTES),
    "data-only": _rewrites(
        "frames without their event line",
        lambda data: data[data.find(b"data: ") :] if data.startswith(b"event: ") else data,
    ),
    "crlf": _rewrites("lines end in CR LF", lambda data: data.replace(b"\n", b"\r\n")),
    "comments": _rewrites("a comment before each event", lambda data: b": keep-alive\n\n" + data),
    "split-bytes": FaultKind("the body comes in pieces of N bytes (3)", fault_effects.split, Stage.BYTES, "count", 3),
    "queued": FaultKind(
        "a background run says queued when it is created, and to the first N polls (1)",
        where="count",
        at=1,
        reach="run",
    ),
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
    return tuple([(name + _example(kind), kind.text) for name, kind in KINDS.items()])


def apply_faults(
    moves: StreamActions, faults: Sequence[Fault], *, opened: float, status_update: bytes
) -> StreamActions:
    """
    Return the stream as the faults leave it, in the order of their stages.

    Args:
        moves: The events of the run.

        faults: Those that strike this stream.

        opened: When its headers are sent, on the provider's clock.

        status_update: The frame with which the run says that it goes on.
    """
    for name, kind in sorted(KINDS.items(), key=lambda row: row[1].stage):
        for fault in faults:
            if fault.name == name and kind.effect is not None:
                point = Point(events=fault.events, seconds=fault.seconds, opened=opened, status_update=status_update)
                moves = kind.effect(moves, point)
    return moves


def delay_of(faults: Sequence[Fault]) -> float:
    """Return how many seconds late the headers come."""
    return sum(fault.seconds or 0.0 for fault in faults if fault.name == "slow-first-byte")


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
