"""
What tests of clients that follow runs at the mock have in common: its time, and faults that cost a run nothing.
"""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta

BEGAN = datetime(2026, 11, 22, 10, tzinfo=UTC)


class LoopClock:
    """The time of a mock provider that lives in an event loop whose time jumps."""

    def now(self):
        return asyncio.get_running_loop().time()

    def utc(self):
        return BEGAN + timedelta(seconds=self.now())

    def real(self, seconds):
        return seconds

    async def wait(self, changed, seconds):
        with suppress(TimeoutError):
            await asyncio.wait_for(changed.wait(), seconds)


OVERCOME = (
    "drop@1",
    "drop@7",
    "dropx3",
    "cut@5",
    "cut@5x2",
    "stall@4",
    "ten-minute-cut@7",
    "recut@600s",
    "silent-replay",
    "no-usage",
    "empty-errors",
    "no-completed",
    "completed-in-progress",
    "http-503@get",
    "slow-first-byte",
    "duplicated-frames",
    "truncated-utf8",
    "bad-json@1",
    "no-stops",
    "no-done",
    "no-blank-line",
    "data-only",
    "crlf",
    "comments",
    "split-bytes",
    "queued",
    "unknown-events",
    "http-429@create",
)
"""Faults by which no run in the background loses anything."""


def with_cut(fault):
    """
    Return the faults of a run: one of a replay, or of a document, needs a stream that is cut before.
    """
    return (fault, *(["drop@3"] if fault in ("silent-replay", "http-503@get") else ()))
