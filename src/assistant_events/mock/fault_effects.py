"""
What faults make of a stream: each takes the events of a run as they come and gives on what the client shall see.

Nothing here waits or sends. A stream is a sequence of `Sent` in the order of their times, and may stop with `Hang` or
`Reset`; the end of the sequence is the clean end of the body. Which fault has which effect stands in `faults`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from math import inf
from typing import Any, Final, TypeAlias, cast, final

import attrs

from assistant_events.adapters.gemini_interactions.step_stream import sse
from assistant_events.mock.stream_actions import SendBytes, StopSending, StreamAction, StreamActions
from assistant_events.values import read_json


@final
@attrs.frozen(kw_only=True)
class Point:
    """What an effect knows beside the events of a stream."""

    events: int | None
    """After how many events it strikes; `None` when it is not about events."""

    seconds: float | None
    """After how many seconds it strikes; `None` when it is not about time."""

    opened: float
    """When the headers of the stream are sent, on the provider's clock."""

    status_update: bytes
    """The frame with which the run says that it goes on."""


Effect: TypeAlias = Callable[[StreamActions, Point], StreamActions]
"""Takes a stream, and where to strike it."""

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


# -- where a stream ends


def ending(*make: Callable[[float], StreamAction]) -> Effect:
    """Return the effect that lets the stream go up to its point and puts something in the place of the rest."""

    def effect(moves: StreamActions, point: Point) -> StreamActions:
        limit = inf if point.seconds is None else point.opened + point.seconds
        left = inf if point.events is None else point.events
        at = point.opened
        for move in moves:
            if left <= 0 or limit <= (inf if isinstance(move, StopSending) else move.at):
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


def cut_off(at: float) -> StreamAction:
    """Return the bytes with which the service ends a stream that it cuts."""
    return SendBytes(at, "", CUT_TAIL)


def failed(at: float) -> StreamAction:
    """Return an error event."""
    return SendBytes(at, *_frame({"error": {"code": "internal", "message": "boom"}, "event_type": "error"}))


def truncated(moves: StreamActions, point: Point) -> StreamActions:
    """End the stream in the middle of a character."""
    for number, move in enumerate(moves):
        if number < (point.events or 0) or not isinstance(move, SendBytes):
            yield move
            continue
        place = next((at for at, byte in enumerate(move.data) if byte >= 0x80), None)
        # No character of several bytes in there: the first two of three are put in the middle.
        cut = move.data[: len(move.data) // 2] + b"\xe2\x82" if place is None else move.data[: place + 1]
        yield SendBytes(move.at, "", cut)
        return


# -- what comes in a silence


def beating(beat: Callable[[Point], bytes]) -> Effect:
    """Return the effect that sends the same bytes again and again where a stream hangs."""

    def effect(moves: StreamActions, point: Point) -> StreamActions:
        every = max(point.seconds or 0.0, _FASTEST_BEAT)
        for move in moves:
            if isinstance(move, StopSending):
                data, since = beat(point), max(move.at, point.opened)
                yield from (SendBytes(since + number * every, "", data, wakes=move.wakes) for number in count(1))
            yield move

    return effect


# -- content


def changed(change: Callable[[dict[str, Any]], object]) -> Effect:
    """Return the effect that changes the interaction in the event of its end."""

    def effect(moves: StreamActions, point: Point) -> StreamActions:
        for move in moves:
            if isinstance(move, SendBytes) and move.name.startswith("interaction.complete"):
                event = cast("dict[str, Any]", read_json(move.data.partition(b"data: ")[2]))
                change(event["interaction"])
                move = SendBytes(move.at, move.name, sse(event))
            yield move

    return effect


def without(leaves_out: Callable[[SendBytes], bool]) -> Effect:
    """Return the effect that leaves out events."""

    def effect(moves: StreamActions, point: Point) -> StreamActions:
        return (move for move in moves if not (isinstance(move, SendBytes) and leaves_out(move)))

    return effect


def inserted(*frames: tuple[str, bytes]) -> Effect:
    """Return the effect that puts events, each by its name and its bytes, behind so many others."""

    def effect(moves: StreamActions, point: Point) -> StreamActions:
        for number, move in enumerate(moves):
            if number == point.events:
                yield from [SendBytes(move.at, name, data) for name, data in frames]
            yield move

    return effect


def _frame(event: dict[str, Any]) -> tuple[str, bytes]:
    return str(event["event_type"]), sse(event)


unknown_types: Final = inserted(
    _frame({"event_type": "interaction.hint", "hint": "of tomorrow"}),
    _frame({"event_type": "step.start", "index": 900, "step": {"type": "dream", "depth": 2}}),
    _frame({"event_type": "step.delta", "index": 900, "delta": {"type": "dream_text", "text": "?"}}),
    _frame({"event_type": "step.stop", "index": 900}),
)
empty_errors: Final = inserted(
    _frame({"event_type": "error"}),
    _frame({"event_type": "error", "error": {}}),
    _frame({"event_type": "error", "error": {"code": "", "message": ""}}),
)
bad_json: Final = inserted(("step.delta", b'event: step.delta\ndata: {"event_type":"step.delta","index":0,\n\n'))


def duplicated(moves: StreamActions, point: Point) -> StreamActions:
    """Bring the last two events once more."""
    last: list[StreamAction] = []
    for number in count(1):
        move = next(moves, None)
        if move is None:
            return
        yield move
        last = [*last[-1:], move]
        if number == point.events and _is_event(move):
            yield from [SendBytes(move.at, one.name, one.data) for one in last if isinstance(one, SendBytes)]


def reordered(moves: StreamActions, point: Point) -> StreamActions:
    """Let two neighbouring events change places."""
    for number in count(1):
        move = next(moves, None)
        if move is None:
            return
        if number == point.events:
            following = next(moves, None)
            if following is not None and _is_event(following):
                yield following
                move = attrs.evolve(move, at=following.at)
            elif following is not None:
                yield move
                move = following
        yield move


# -- bytes


def rewritten(rewrite: Callable[[bytes], bytes]) -> Effect:
    """Return the effect that writes each frame in another way."""

    def effect(moves: StreamActions, point: Point) -> StreamActions:
        for move in moves:
            yield attrs.evolve(move, data=rewrite(move.data)) if isinstance(move, SendBytes) else move

    return effect


def without_blank_line(moves: StreamActions, point: Point) -> StreamActions:
    """Leave out the last blank line."""
    held: StreamAction | None = None
    for move in moves:
        if held is not None:
            yield held
        held = move
    if isinstance(held, SendBytes):
        held = attrs.evolve(held, data=held.data.removesuffix(b"\n"))
    if held is not None:
        yield held


def split(moves: StreamActions, point: Point) -> StreamActions:
    """Cut the body into pieces of so many bytes."""
    size = max(point.events or 1, 1)
    for move in moves:
        if not isinstance(move, SendBytes):
            yield move
            continue
        for at in range(0, len(move.data), size):
            yield attrs.evolve(move, name=move.name if at == 0 else "", data=move.data[at : at + size])


def _is_event(move: StreamAction) -> bool:
    """Tell whether a move is an event, and not `[DONE]`, bytes of another kind, or an end."""
    return isinstance(move, SendBytes) and move.name != ""
