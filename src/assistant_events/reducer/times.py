"""When events happen, and the times of what they begin and end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from assistant_events.messages import Times
from assistant_events.values.construct import constructor

_times: Callable[..., Times] = constructor(Times)


class Moment:
    """
    The time of a record.

    The records of a batch share a moment, and everything that began with it shares one `Times`.
    """

    __slots__ = ("at", "began", "instant")

    def __init__(self, at: datetime | None) -> None:
        self.at = at
        self.began = None if at is None else _times(started=at)
        """Times of what begins now."""

        self.instant = None if at is None else _times(started=at, ended=at)
        """Times of what begins and ends now."""

    def ends(self, times: Times | None) -> Times | None:
        """Return the times of what ends now and began as in *times*."""
        if times is self.began:
            return self.instant
        if self.at is None:
            return times
        return _times(started=None if times is None else times.started, ended=self.at)


NO_MOMENT = Moment(None)
"""The moment of an event without a record."""
