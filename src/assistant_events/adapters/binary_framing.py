"""
The base class of framings of binary frames, which have a length, and whose payloads are read as lines.
"""

from __future__ import annotations

from assistant_events.adapters.framing import Framing


class BinaryFraming(Framing):
    """
    Base class of framings of binary frames. A decoder reads their payloads as lines, so that deltas take the fast path.

    A subclass implements `feed`, `frame` and the attributes `checksums`, `idle`, `too_long` and `damaged`; the rest is
    right for frames with lengths. Names are not read: where the type of a frame is beside its payload, `feed` writes it
    into the document, for example as `{type: payload}`.
    """

    def whole(self, data: bytes) -> bytes | None:
        """
        Return the payload of *data* as a line when it is one frame like those before, sound and whole.

        It is called while the framing is `idle`, and the same bytes may be fed after it. `None` is always correct.
        """
        return None

    def lines(self, data: bytes) -> bytes:
        """Feed bytes, in place of `feed`, and return the complete payloads as lines; line ends inside become CR."""
        # Between the values of a JSON document both are spaces, and inside of strings both are errors.
        return b"".join([payload.replace(b"\n", b"\r") + b"\n" for payload in self.feed(data)])


__all__ = ["BinaryFraming"]
