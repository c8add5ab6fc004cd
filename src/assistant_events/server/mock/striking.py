"""
What faults make of a stream: each takes the events of a run as they come and gives on what the client shall see.

Nothing here waits or sends. A stream is a sequence of `Sent` in the order of their times, and may stop with `Hang` or
`Reset`; the end of the sequence is the clean end of the body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from math import inf
from typing import Any, Final, TypeAlias, cast, final

import attrs

from assistant_events.adapters.gemini_interactions.emitter import sse
from assistant_events.server.mock.faults import Fault
from assistant_events.server.mock.moves import Hang, Move, Moves, Reset, Sent
from assistant_events.values import read_json


@final
@attrs.frozen
class Opened:
    """What an effect knows of a stream beside its events."""

    at: float
    """When its headers are sent, on the provider's clock."""

    status_update: bytes
    """The frame with which the run says that it goes on."""


Effect: TypeAlias = Callable[[Moves, Fault, Opened], Moves]
"""Takes a stream, the fault, and how the stream was opened."""

# Google forum 143098 (live, 2026): the body of a stream that is cut ends so, directly behind the last frame.
CUT_TAIL: Final = b"""\
[{
"error": {
"code": 503,
"message": "The service is currently unavailable.",
"status": "UNAVAILABLE"
}
}
]
"""


_FASTEST_BEAT: Final = 0.001
"""Seconds between two heartbeats at least: a stream that waits for nobody would never let another run."""


def strike(moves: Iterable[Move], faults: Sequence[Fault], opened: Opened) -> Moves:
    """
    Return the stream as the faults leave it.

    Faults of the content come first, then those that end the stream, then those of the bytes, whatever order they were
    named in.

    Args:
        moves: The events of the run.

        faults: Those that strike this stream.

        opened: How the stream was opened.
    """
    found = iter(moves)
    for name, effect in _EFFECTS.items():
        for fault in faults:
            if fault.name == name:
                found = effect(found, fault, opened)
    return found


def delay_of(faults: Sequence[Fault]) -> float:
    """Return how many seconds late the headers come."""
    return sum(fault.seconds or 0.0 for fault in faults if fault.name == "slow-first-byte")


# -- where a stream ends


def _ending(*make: Callable[[float], Move]) -> Effect:
    """Return the effect that lets the stream go up to its point and puts something in the place of the rest."""

    def effect(moves: Moves, fault: Fault, opened: Opened) -> Moves:
        limit = inf if fault.seconds is None else opened.at + fault.seconds
        left = inf if fault.events is None else fault.events
        at = opened.at
        for move in moves:
            if left <= 0 or limit <= (inf if isinstance(move, Hang) else move.at):
                break
            yield move
            at = max(at, move.at)
            left -= _is_event(move)
        else:
            if left > 0:
                return
        for one in make:
            yield one(limit if limit < inf else at)

    return effect


def _tail(at: float) -> Move:
    return Sent(at, "", CUT_TAIL)


def _error(at: float) -> Move:
    return Sent(at, "error", sse({"error": {"code": "internal", "message": "boom"}, "event_type": "error"}))


def _truncated(moves: Moves, fault: Fault, opened: Opened) -> Moves:
    for number, move in enumerate(moves):
        if number < (fault.events or 0) or not isinstance(move, Sent):
            yield move
            continue
        place = next((at for at, byte in enumerate(move.data) if byte >= 0x80), None)
        # No character of several bytes in there: the first two of three are put in the middle.
        cut = move.data[: len(move.data) // 2] + b"\xe2\x82" if place is None else move.data[: place + 1]
        yield Sent(move.at, "", cut)
        return


# -- what comes in a silence


def _beating(beat: Callable[[Opened], bytes]) -> Effect:
    """Return the effect that sends the same bytes again and again where a stream hangs."""

    def effect(moves: Moves, fault: Fault, opened: Opened) -> Moves:
        every = max(fault.seconds or 0.0, _FASTEST_BEAT)
        for move in moves:
            if isinstance(move, Hang):
                data, since = beat(opened), max(move.at, opened.at)
                yield from (Sent(since + number * every, "", data, wakes=move.wakes) for number in count(1))
            yield move

    return effect


# -- content


def _changed(name: str, change: Callable[[dict[str, Any]], None]) -> Effect:
    """Return the effect that changes the interaction in the events of a name."""

    def effect(moves: Moves, fault: Fault, opened: Opened) -> Moves:
        for move in moves:
            if isinstance(move, Sent) and move.name.startswith(name):
                event = event_of(move.data)
                change(event["interaction"])
                move = Sent(move.at, move.name, sse(event))
            yield move

    return effect


def _without_usage(interaction: dict[str, Any]) -> None:
    interaction.pop("usage", None)


def _in_progress(interaction: dict[str, Any]) -> None:
    interaction["status"] = "in_progress"


def _without(*names: str) -> Effect:
    def effect(moves: Moves, fault: Fault, opened: Opened) -> Moves:
        return (move for move in moves if not (isinstance(move, Sent) and move.name in names))

    return effect


def _inserted(*events: dict[str, Any]) -> Effect:
    """Return the effect that puts events behind so many others."""
    frames = [(str(event["event_type"]), sse(event)) for event in events]

    def effect(moves: Moves, fault: Fault, opened: Opened) -> Moves:
        for number, move in enumerate(moves):
            if number == fault.events:
                yield from [Sent(move.at, name, data) for name, data in frames]
            yield move

    return effect


def _bad_json(moves: Moves, fault: Fault, opened: Opened) -> Moves:
    for number, move in enumerate(moves):
        if number == fault.events:
            yield Sent(move.at, "step.delta", b'event: step.delta\ndata: {"event_type":"step.delta","index":0,\n\n')
        yield move


def _duplicated(moves: Moves, fault: Fault, opened: Opened) -> Moves:
    last: list[Move] = []
    for number in count(1):
        move = next(moves, None)
        if move is None:
            return
        yield move
        last = [*last[-1:], move]
        if number == fault.events and _is_event(move):
            yield from [Sent(move.at, one.name, one.data) for one in last if isinstance(one, Sent)]


def _reordered(moves: Moves, fault: Fault, opened: Opened) -> Moves:
    for number in count(1):
        move = next(moves, None)
        if move is None:
            return
        if number == fault.events:
            following = next(moves, None)
            if following is not None and _is_event(following):
                yield following
                move = attrs.evolve(move, at=following.at)
            elif following is not None:
                yield move
                move = following
        yield move


# -- bytes


def _rewritten(rewrite: Callable[[bytes], bytes]) -> Effect:
    def effect(moves: Moves, fault: Fault, opened: Opened) -> Moves:
        for move in moves:
            yield attrs.evolve(move, data=rewrite(move.data)) if isinstance(move, Sent) else move

    return effect


def _no_blank_line(moves: Moves, fault: Fault, opened: Opened) -> Moves:
    held: Move | None = None
    for move in moves:
        if held is not None:
            yield held
        held = move
    if isinstance(held, Sent):
        held = attrs.evolve(held, data=held.data.removesuffix(b"\n"))
    if held is not None:
        yield held


def _split(moves: Moves, fault: Fault, opened: Opened) -> Moves:
    size = max(fault.events or 1, 1)
    for move in moves:
        if not isinstance(move, Sent):
            yield move
            continue
        for at in range(0, len(move.data), size):
            yield attrs.evolve(move, name=move.name if at == 0 else "", data=move.data[at : at + size])


def _is_event(move: Move) -> bool:
    """Tell whether a move is an event, and not `[DONE]`, bytes of another kind, or an end."""
    return isinstance(move, Sent) and move.name != ""


def event_of(data: bytes) -> dict[str, Any]:
    """Return the document of a frame."""
    _, _, payload = data.partition(b"data: ")
    return cast("dict[str, Any]", read_json(payload))


_UNKNOWN: Final[tuple[dict[str, Any], ...]] = (
    {"event_type": "interaction.hint", "hint": "of tomorrow"},
    {"event_type": "step.start", "index": 900, "step": {"type": "dream", "depth": 2}},
    {"event_type": "step.delta", "index": 900, "delta": {"type": "dream_text", "text": "?"}},
    {"event_type": "step.stop", "index": 900},
)
_EMPTY_ERRORS: Final[tuple[dict[str, Any], ...]] = (
    {"event_type": "error"},
    {"event_type": "error", "error": {}},
    {"event_type": "error", "error": {"code": "", "message": ""}},
)

_EFFECTS: Final[dict[str, Effect]] = {
    "no-usage": _changed("interaction.complete", _without_usage),
    "completed-in-progress": _changed("interaction.complete", _in_progress),
    "no-completed": _without("interaction.completed", "interaction.complete"),
    "no-stops": _without("step.stop", "content.stop"),
    "unknown-events": _inserted(*_UNKNOWN),
    "empty-errors": _inserted(*_EMPTY_ERRORS),
    "bad-json": _bad_json,
    "duplicated-frames": _duplicated,
    "reordered-frames": _reordered,
    "no-done": lambda moves, fault, opened: (
        move for move in moves if not (isinstance(move, Sent) and move.data.endswith(b"[DONE]\n\n"))
    ),
    "ten-minute-cut": _ending(_tail),
    "recut": _ending(_tail),
    "silent-replay": _ending(Hang),
    "drop": _ending(Reset),
    "cut": _ending(),
    "stall": _ending(Hang),
    "error": _ending(_error),
    "truncated-utf8": _truncated,
    "heartbeat-comments": _beating(lambda opened: b": keep-alive\n\n"),
    "heartbeat-status": _beating(lambda opened: opened.status_update),
    "heartbeat-bytes": _beating(lambda opened: b":"),
    "no-blank-line": _no_blank_line,
    "data-only": _rewritten(lambda data: data[data.find(b"data: ") :] if data.startswith(b"event: ") else data),
    "crlf": _rewritten(lambda data: data.replace(b"\n", b"\r\n")),
    "comments": _rewritten(lambda data: b": keep-alive\n\n" + data),
    "split-bytes": _split,
}
