"""
Effects of faults on a stream: each takes the actions of a run and yields those that the client gets.

Nothing here waits or sends. `faults` has the effect of each fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from math import inf
from typing import Final, TypeAlias, final

import attrs

from assistant_events.mock.stream_actions import SendBytes, StopSending, StreamAction, StreamActions, WireFrame


@final
@attrs.frozen(kw_only=True)
class FaultFrames:
    """The frames of a wire that faults insert, remove and change."""

    cut_tail: bytes
    """The bytes that the service sends in place of the rest of a stream that it cuts."""

    error: Callable[[int], WireFrame]
    """Returns the event of an error behind so many others."""

    empty_errors: tuple[WireFrame, ...]
    unknown_types: tuple[WireFrame, ...]
    bad_json: WireFrame
    end_names: frozenset[str]
    """Types of the event that ends an answer; `stop_names`: of those that end an item."""

    stop_names: frozenset[str]
    done: bytes
    """The end of the frame after the last event; empty where the wire has no such frame."""

    without_usage: Callable[[bytes], bytes]
    """Changes the frame of the end, as `unfinished` does, which gives it the status of an answer in progress."""

    unfinished: Callable[[bytes], bytes]
    bad_checksum: WireFrame | None = None
    """None where frames have no checksums."""

    has_lines: bool = True
    """Whether frames are lines of text. Faults about lines have no effect on others."""


@final
@attrs.frozen(kw_only=True)
class Point:
    """The start of an effect: after a number of events, or seconds after the headers, which are sent at *opened*."""

    events: int | None = None
    seconds: float | None = None
    opened: float
    status_update: bytes
    """The frame that shows the run as running."""

    frames: FaultFrames


Effect: TypeAlias = Callable[[StreamActions, Point], StreamActions]

_FASTEST_BEAT: Final = 0.001
"""Least seconds between two heartbeats: a stream without any wait would stop all others."""


# -- the end of a stream


def ending(
    actions: StreamActions, point: Point, *, make: Callable[[Point, float, int], StreamAction] | None = None
) -> StreamActions:
    """Replace the rest of the stream after its point by one action, or by nothing."""
    limit = inf if point.seconds is None else point.opened + point.seconds
    most = inf if point.events is None else point.events
    at, passed = point.opened, 0
    for action in actions:
        if passed >= most or limit <= (inf if isinstance(action, StopSending) else action.at):
            break
        yield action
        at = max(at, action.at)
        passed += _is_event(action)
    else:
        if passed < most:
            return
    if make is not None:
        yield make(point, limit if limit < inf else at, passed)


def truncated(actions: StreamActions, point: Point) -> StreamActions:
    """End the stream in the middle of a character."""
    for number, action in enumerate(actions):
        if number < (point.events or 0) or not isinstance(action, SendBytes):
            yield action
            continue
        place = next((at for at, byte in enumerate(action.data) if byte >= 0x80), None)
        # Without a character of several bytes, the first two of three are put in the middle.
        cut = action.data[: len(action.data) // 2] + b"\xe2\x82" if place is None else action.data[: place + 1]
        yield SendBytes(action.at, "", cut)
        return


def beating(actions: StreamActions, point: Point, *, beat: Callable[[Point], bytes]) -> StreamActions:
    """Send the same bytes again and again where the stream stalls."""
    every = max(point.seconds or 0.0, _FASTEST_BEAT)
    for action in actions:
        if isinstance(action, StopSending):
            data, since = beat(point), max(action.at, point.opened)
            yield from (SendBytes(since + number * every, "", data, wakes=action.wakes) for number in count(1))
        yield action


# -- events


def changed(
    actions: StreamActions, point: Point, *, change: Callable[[FaultFrames], Callable[[bytes], bytes]]
) -> StreamActions:
    """Change the frame of the end."""
    for action in actions:
        if isinstance(action, SendBytes) and action.name in point.frames.end_names:
            action = SendBytes(action.at, action.name, change(point.frames)(action.data))
        yield action


def without(
    actions: StreamActions, point: Point, *, is_removed: Callable[[FaultFrames, SendBytes], bool]
) -> StreamActions:
    """Remove events."""
    return (each for each in actions if not (isinstance(each, SendBytes) and is_removed(point.frames, each)))


def inserted(
    actions: StreamActions, point: Point, *, choose: Callable[[FaultFrames], Iterable[WireFrame]]
) -> StreamActions:
    """Insert events after a number of others."""
    for number, action in enumerate(actions):
        if number == point.events:
            yield from [SendBytes(action.at, *frame) for frame in choose(point.frames)]
        yield action


def duplicated(actions: StreamActions, point: Point) -> StreamActions:
    """Send the last two events once more."""
    last: list[StreamAction] = []
    for number, action in enumerate(actions, 1):
        yield action
        last = [*last[-1:], action]
        if number == point.events and _is_event(action):
            yield from [SendBytes(action.at, each.name, each.data) for each in last if isinstance(each, SendBytes)]


def reordered(actions: StreamActions, point: Point) -> StreamActions:
    """Exchange two neighbouring events."""
    for number, action in enumerate(actions, 1):
        following = next(actions, None) if number == point.events else None
        if following is None:
            yield action
        elif _is_event(following):
            yield from (following, action._replace(at=following.at))
        else:
            yield from (action, following)


# -- bytes


def rewritten(actions: StreamActions, point: Point, *, rewrite: Callable[[bytes], bytes]) -> StreamActions:
    """Write each frame in another form."""
    for action in actions:
        yield action._replace(data=rewrite(action.data)) if isinstance(action, SendBytes) else action


def without_blank_line(actions: StreamActions, point: Point) -> StreamActions:
    """Remove the last blank line."""
    held: StreamAction | None = None
    for action in actions:
        if held is not None:
            yield held
        held = action
    if isinstance(held, SendBytes):
        held = held._replace(data=held.data.removesuffix(b"\n"))
    if held is not None:
        yield held


def split(actions: StreamActions, point: Point) -> StreamActions:
    """Cut the body into pieces of so many bytes."""
    size = max(point.events or 1, 1)
    for action in actions:
        if not isinstance(action, SendBytes):
            yield action
            continue
        for at in range(0, len(action.data), size):
            yield action._replace(name=action.name if at == 0 else "", data=action.data[at : at + size])


def _is_event(action: StreamAction) -> bool:
    return isinstance(action, SendBytes) and action.name != ""
