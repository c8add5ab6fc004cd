"""
The faults of a mock provider, by name.

A fault is written `NAME`, `NAME@AT`, `NAMExTIMES` or `NAME@ATxTIMES`: `drop@7` breaks the first stream of a run after
seven events, `ten-minute-cut@30sx2` ends its first two streams thirty seconds after they were opened,
`http-500@cancelx*` fails every attempt to cancel. `KINDS` has the effect of each, and the defaults of place and times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from enum import IntEnum
from functools import partial
from math import inf
from typing import Any, Final, Literal, TypeAlias, final

import attrs

from assistant_events.mock import fault_effects
from assistant_events.mock.fault_effects import Effect, FaultFrames, Point
from assistant_events.mock.stream_actions import (
    ResetConnection,
    SendBytes,
    StopSending,
    StreamAction,
    StreamActions,
    WireFrame,
)

Reach: TypeAlias = Literal["stream", "replay", "document", "run", "request"]
"""
What a fault is about: any stream of a run, its replays only, the document of a run, the run itself, or requests. Times
are counted for each run, those of a fault of requests for each fault.
"""

Where: TypeAlias = Literal["moment", "events", "seconds", "count", "route", "nothing"]
"""Form of the place behind `@`: an event or a time, an event, a time, a number of requests, a route, nothing."""

ROUTES: Final = ("create", "get", "cancel", "delete", "any")
"""Places of an HTTP fault; `get` is the document and its replay."""

ALWAYS: Final = None
"""For `times`: every time."""


class Stage(IntEnum):
    """
    When an effect is applied to a stream: after those of earlier stages, whose result it gets.

    Within one stage the order is that of `KINDS`; the order in which faults are named does not matter.
    """

    CHANGED = 1  # events of the run are changed or removed
    UNKNOWN = 2  # events of unknown types are inserted
    INSERTED = 3  # other events are inserted
    MOVED = 4  # events are doubled or moved; `[DONE]` is removed
    ENDED = 5
    SILENCE = 6  # bytes are sent while the stream stalls
    BYTES = 7


@final
@attrs.frozen
class FaultKind:
    """A fault by its name: one line for a list, its effect on a stream, and the defaults of place and times."""

    text: str
    effect: Effect | None = None
    stage: Stage = Stage.CHANGED
    where: Where = "nothing"
    at: int | float | str | None = None
    times: int | None = ALWAYS
    reach: Reach = "stream"
    of_lines: bool = False
    """Whether it is about lines of text, which binary streams do not have."""


LONGEST_S: Final = 1e9
"""The longest time in seconds: 31 years. The date of a run that is a few thousand years old does not exist."""


def _usual_at(fault: Fault) -> int | float | str | None:
    """Return the place that a fault has without one."""
    kind = _kind(fault.name, fault.name)
    return kind.at if kind.where != "route" else "get" if fault.name == "http-404" else "create"


def _check_at(fault: Fault, field: attrs.Attribute[Any], at: Any) -> None:
    # Any: the value of a field.
    if isinstance(at, float) and not 0 <= at <= LONGEST_S:
        raise ValueError(f"fault {fault.name!r}: expected a time of at most {LONGEST_S:g} seconds, got {at!r}")
    where = _kind(fault.name, fault.name).where
    is_number = type(at) is int and at >= 0
    fits = {
        "moment": is_number or isinstance(at, float),
        "seconds": isinstance(at, float),
        "route": at in ROUTES,
        "nothing": at is None,
    }
    if not fits.get(where, is_number):
        raise ValueError(f"fault {fault.name!r}: expected {_EXPECTED[where]} as `at`, got {at!r}")


@final
@attrs.frozen(kw_only=True)
class Fault:
    """
    One fault with its place and times.

    Raises:
        ValueError: The name is unknown, or the place is none of this fault; the message has what was expected.
    """

    name: str
    at: int | float | str | None = attrs.field(default=attrs.Factory(_usual_at, takes_self=True), validator=_check_at)
    """Events before it (`int`), seconds of the provider (`float`), or a route (`str`); `None` for none of these."""

    times: int | None = ALWAYS
    """Number of its occurrences; `None`: every time."""

    @property
    def kind(self) -> FaultKind:
        """The row of its name."""
        return _kind(self.name, self.name)

    @property
    def status(self) -> int:
        """The status of an HTTP fault."""
        return int(self.name.rpartition("-")[2])

    @property
    def events(self) -> int | None:
        """Number of events before it; `None` when it is not about events."""
        return self.at if isinstance(self.at, int) else None

    @property
    def seconds(self) -> float | None:
        """Seconds before it; `None` when it is not about time."""
        return self.at if isinstance(self.at, float) else None


@final
class FaultBudget:
    """Faults, and how often each of them may still occur."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self.faults = tuple(faults)
        self._left = [inf if fault.times is None else fault.times for fault in self.faults]

    def take_due(self, *reaches: Reach, name: str | None = None, route: str | None = None) -> Iterator[Fault]:
        """Yield the faults that occur now, with a *route* those of requests to it, and count each one."""
        for place, fault in enumerate(self.faults):
            fits = fault.kind.reach in reaches and name in (None, fault.name)
            if fits and route is not None:
                fits = fault.at in (route, "any")
            if fits and self._left[place] > 0:
                self._left[place] -= 1
                yield fault

    def takes(self, reach: Reach, *, name: str | None = None) -> bool:
        """Take one fault if it is due, and return whether it was."""
        return next(self.take_due(reach, name=name), None) is not None

    def named(self, name: str) -> Fault | None:
        """Return the fault of a name, whether it is due or not; `None` when there is none."""
        return next((fault for fault in self.faults if fault.name == name), None)


def _ends(
    text: str,
    make: Callable[[Point, float, int], StreamAction] | None = None,
    *,
    at: float = 3,
    times: int | None = 1,
    reach: Reach = "stream",
) -> FaultKind:
    return FaultKind(text, partial(fault_effects.ending, make=make), Stage.ENDED, "moment", at, times, reach)


def _beats(text: str, beat: Callable[[Point], bytes], *, of_lines: bool = True) -> FaultKind:
    effect = partial(fault_effects.beating, beat=beat)
    return FaultKind(text, effect, Stage.SILENCE, "seconds", 15.0, of_lines=of_lines)


def _rewrites(text: str, rewrite: Callable[[bytes], bytes]) -> FaultKind:
    return FaultKind(text, partial(fault_effects.rewritten, rewrite=rewrite), Stage.BYTES, of_lines=True)


def _removes(
    text: str, stage: Stage, is_removed: Callable[[FaultFrames, SendBytes], bool], times: int | None = ALWAYS
) -> FaultKind:
    return FaultKind(text, partial(fault_effects.without, is_removed=is_removed), stage, times=times)


def _inserts(
    text: str,
    stage: Stage,
    choose: Callable[[FaultFrames], Iterable[WireFrame]],
    at: int = 2,
    times: int | None = ALWAYS,
) -> FaultKind:
    return FaultKind(text, partial(fault_effects.inserted, choose=choose), stage, "events", at, times)


def _cut_off(point: Point, at: float, _: int) -> StreamAction:
    return SendBytes(at, "", point.frames.cut_tail)


def _stall(point: Point, at: float, _: int) -> StreamAction:
    return StopSending(at)


_once = partial(FaultKind, where="events", at=3, times=1)

KINDS: Final[dict[str, FaultKind]] = {
    "ten-minute-cut": _ends("the stream ends after ten minutes with a bare JSON error", _cut_off, at=600.0),
    "recut": _ends("like ten-minute-cut, but for every stream of the run", _cut_off, at=600.0, times=ALWAYS),
    "silent-replay": _ends("a replay stalls after two events", _stall, at=2, times=ALWAYS, reach="replay"),
    "zombie": FaultKind(
        "the run is in progress for ever, without content, and as old as given (61 minutes)",
        where="seconds",
        at=3660.0,
        reach="run",
    ),
    "drop": _ends("the connection is reset, without an end of the body", lambda point, at, _: ResetConnection(at)),
    "cut": _ends("the body ends cleanly, too early"),
    "stall": _ends("nothing more comes and the socket stays open", _stall),
    "heartbeat-comments": _beats(
        "while a stream stalls (stall, silent-replay, zombie), it sends an SSE comment every 15 seconds",
        lambda point: b": keep-alive\n\n",
    ),
    "heartbeat-status": _beats(
        "while a stream stalls, it repeats its status event every 15 seconds",
        lambda point: point.status_update,
        of_lines=False,
    ),
    "heartbeat-bytes": _beats(
        "while a stream stalls, it sends one byte of a line without end every 15 seconds", lambda point: b":"
    ),
    "other-run-replay": FaultKind("a replay sends the events of another run, with its id and text", reach="replay"),
    "other-run-document": FaultKind("GET returns the document of another run, with its id and text", reach="document"),
    "no-usage": FaultKind(
        "the last event has no usage; with @N neither have the first N answers to GET",
        partial(fault_effects.changed, change=lambda frames: frames.without_usage),
        where="count",
        at=0,
    ),
    "empty-errors": _inserts("error events without content", Stage.INSERTED, lambda frames: frames.empty_errors),
    "error": _ends(
        "an error event, after which the stream ends",
        lambda point, at, passed: SendBytes(at, *point.frames.error(passed)),
    ),
    "no-completed": _removes(
        "[DONE] comes in place of the last event", Stage.CHANGED, lambda frames, each: each.name in frames.end_names, 1
    ),
    "completed-in-progress": FaultKind(
        "the last event has the status of an answer in progress",
        partial(fault_effects.changed, change=lambda frames: frames.unfinished),
        times=1,
    ),
    "http-NNN": FaultKind(
        "an HTTP error of that status: 404 for GET, others for create, unless a route is named; 429 has retry-after",
        where="route",
        times=1,
        reach="request",
    ),
    "no-chaining": FaultKind("501 for a request that names a previous response", reach="request"),
    "slow-first-byte": FaultKind("the headers of a stream or an answer come late (30 s)", where="seconds", at=30.0),
    "duplicated-frames": _once("the last two events come once more", fault_effects.duplicated, Stage.MOVED),
    "reordered-frames": _once("two neighbouring events are exchanged", fault_effects.reordered, Stage.MOVED),
    "truncated-utf8": _once("the body ends in the middle of a character", fault_effects.truncated, Stage.ENDED),
    "bad-json": _inserts(
        "a frame that is not valid JSON", Stage.INSERTED, lambda frames: [frames.bad_json], at=3, times=1
    ),
    "bad-checksum": _inserts(
        "a frame whose checksum is wrong, where frames have one",
        Stage.INSERTED,
        lambda frames: [] if frames.bad_checksum is None else [frames.bad_checksum],
        at=3,
        times=1,
    ),
    "unknown-events": _inserts(
        "events, items and deltas of unknown types", Stage.UNKNOWN, lambda frames: frames.unknown_types
    ),
    "no-stops": _removes(
        "no item has an event for its end", Stage.CHANGED, lambda frames, each: each.name in frames.stop_names
    ),
    "no-done": _removes(
        "no [DONE] at the end",
        Stage.MOVED,
        lambda frames, each: bool(frames.done) and each.data.endswith(frames.done),
    ),
    "no-blank-line": FaultKind(
        "no blank line after the last event", fault_effects.without_blank_line, Stage.BYTES, of_lines=True
    ),
    "data-only": _rewrites(
        "frames without their event line", lambda data: data[data.find(b"data: ") :] if data[:7] == b"event: " else data
    ),
    "crlf": _rewrites("lines end in CR LF", lambda data: data.replace(b"\n", b"\r\n")),
    "comments": _rewrites("a comment before each event", lambda data: b": keep-alive\n\n" + data),
    "split-bytes": FaultKind("the body comes in pieces of N bytes (3)", fault_effects.split, Stage.BYTES, "count", 3),
    "queued": FaultKind("a background run is queued at first, for N polls (1)", where="count", at=1, reach="run"),
}
"""Every fault by its name; `http-NNN` is the row of all statuses from 400 to 599."""

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


def _kind(text: str, name: str) -> FaultKind:
    kind = KINDS.get("http-NNN" if _HTTP.fullmatch(name) else name)
    if kind is None or name == "http-NNN":
        raise ValueError(_unknown(text, name))
    return kind


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
        ValueError: The name is unknown, or its place or times are not valid; the message has what was expected.
    """
    found = _WRITTEN.fullmatch(text.strip())
    if found is None:
        raise ValueError(_unknown(text, text.strip()))
    name = found["name"]
    kind = _kind(text, name)
    at = _parse_at(text, kind, found["at"])
    times = ALWAYS if name == "http-404" else kind.times
    if found["times"] is not None:
        times = ALWAYS if found["times"] == "*" else int(found["times"])
    if times == 0:
        raise ValueError(f"fault {text!r}: expected a number of times, 1 or more or *, got 0")
    return Fault(name=name, times=times) if at is None else Fault(name=name, at=at, times=times)


def parse_faults(text: str) -> tuple[Fault, ...]:
    """
    Return the faults of a list with commas or blanks between them, as the header `x-mock-fault` has it.

    Raises:
        ValueError: As for `parse_fault`.
    """
    return tuple([parse_fault(each) for each in re.split(r"[,\s]+", text) if each])


def fault_help() -> tuple[tuple[str, str], ...]:
    """Return how each fault is written and what it does, as pairs for a list."""
    return tuple([(name + _example(kind), kind.text) for name, kind in KINDS.items()])


def apply_faults(actions: StreamActions, faults: Sequence[Fault], opening: Point) -> StreamActions:
    """Return a stream with the effects of the faults that are due in it, in the order of their stages."""
    for name, kind in sorted(KINDS.items(), key=lambda row: row[1].stage):
        if kind.of_lines and not opening.frames.has_lines:
            continue
        for fault in faults:
            if fault.name == name and kind.effect is not None:
                point = attrs.evolve(opening, events=fault.events, seconds=fault.seconds)
                actions = kind.effect(actions, point)
    return actions


def delay_of(faults: Iterable[Fault]) -> float:
    """Return how many seconds late the headers come."""
    return sum(fault.seconds or 0.0 for fault in faults if fault.name == "slow-first-byte")


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
