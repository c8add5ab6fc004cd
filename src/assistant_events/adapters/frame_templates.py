"""
Frames that differ in one string only.

Nearly all frames of a stream are deltas, and one delta differs from the next in its text alone. A template is the
constant bytes around that text, learned from one frame and proved on a probe. What stands between the constant bytes
of a later frame is then all there is to parse. This is exact, not a guess: the bytes before the string leave a reader
where it expects a value, the bytes after it go on from behind one, and what stands between must be one whole JSON
string, or the frame is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from assistant_events.adapters.json_fields import Fields
from assistant_events.errors import JsonError
from assistant_events.values import read_json

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_PROBE = "probe"
_PROBE_NUMBER = 7_310_947
_MAX_LENGTH = 4096
"""A longer frame is no good teacher: the search for its string would cost more than it saves."""

_MAX_TRIES = 4
"""How many places of a key are tried, each of which costs as much as to parse the frame; frames name it once."""


class Template:
    """The constant bytes of a frame before and after one JSON string."""

    __slots__ = ("_frame", "prefix", "suffix")

    def __init__(self, prefix: bytes, suffix: bytes, frame: dict[str, Any] | None = None) -> None:
        # Any: a frame as it was parsed, with the probe in the place of the string.
        self.prefix = prefix
        self.suffix = suffix
        self._frame = {} if frame is None else frame

    @classmethod
    def learn(cls, payload: bytes, frame: Fields, path: tuple[str, ...]) -> Template | None:
        """
        Return the template of a frame; `None` when it has none.

        Args:
            payload: The frame as it came.

            frame: The same, parsed.

            path: Keys that lead to the string.
        """
        if len(payload) > _MAX_LENGTH:
            return None
        probed = _replaced(frame, path, _PROBE)
        for key in _places(path[-1], rb"", payload):
            literal = _STRING.match(payload, key.end())
            if literal is not None:
                made = cls(payload[: literal.start()], payload[literal.end() :], probed)
                if made._is_right():
                    return made
        return None

    def numbered(self, key: str) -> NumberedTemplate | None:
        """
        Return the template with a second gap, for the whole number under a top-level key; `None` when there is none.
        """
        for number in _places(key, rb"(\d+)", self.prefix):
            made = NumberedTemplate(self.prefix[: number.start(1)], self.prefix[number.end(1) :], self.suffix)
            if made.with_number(_PROBE_NUMBER)._reads_as({**self._frame, key: _PROBE_NUMBER}):
                return made
        return None

    def _is_right(self) -> bool:
        return self._reads_as(self._frame)

    def _reads_as(self, frame: dict[str, Any]) -> bool:
        """Prove it: with the probe for its string the bytes are the frame that is expected, and nothing else."""
        try:
            return bool(read_json(b'%b"%b"%b' % (self.prefix, _PROBE.encode(), self.suffix)) == frame)
        except JsonError:
            return False


class NumberedTemplate:
    """A template whose frames also differ in one whole number, the place of the item that they belong to."""

    __slots__ = ("_after", "_before", "_suffix")

    def __init__(self, before: bytes, after: bytes, suffix: bytes) -> None:
        self._before = before
        self._after = after
        self._suffix = suffix

    def with_number(self, number: int) -> Template:
        """Return the template of the frames that have this number, of 0 or more."""
        return Template(b"%b%d%b" % (self._before, number, self._after), self._suffix)


def _places(key: str, value: bytes, payload: bytes) -> Iterator[re.Match[bytes]]:
    return islice(re.finditer(rb'"' + re.escape(key.encode()) + rb'"\s*:\s*' + value, payload), _MAX_TRIES)


def _replaced(frame: Fields, path: tuple[str, ...], value: str) -> dict[str, Any]:
    key, *rest = path
    return {**frame, key: _replaced(frame[key], tuple(rest), value) if rest else value}
