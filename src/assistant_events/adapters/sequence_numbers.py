"""The numbers of the frames of a stream, by which frames that come twice are found."""

from __future__ import annotations

from typing import final

from assistant_events.adapters.base import DecoderBase
from assistant_events.adapters.json_fields import Fields, count


@final
class SequenceNumbers:
    """
    The numbers of the frames that came.

    A frame was sent twice when its number came before with a frame of the same type, as after a resumption that began
    too early. Behind proxies the numbers may be wrong: one that belonged to a frame of another type ends the trust in
    them.

    Args:
        frame_ids: Those of the decoder, which the fast path adds to as well. They are forgotten.
    """

    def __init__(self, frame_ids: set[bytes]) -> None:
        frame_ids.clear()
        self._frame_ids = frame_ids
        self._types: dict[int, str] | None = {}
        """By number, the types of the frames that were decoded in full; `None` when the numbers are wrong."""

        self.last: int | None = None
        """The highest number; `None` when no frame had one."""

    def add(self, number: int | None) -> None:
        """Add a number, also one of the fast path."""
        if number is not None:
            self.last = max(number, self.last or 0)

    def is_repeated(self, number: int | None, kind: str) -> bool:
        """Return whether a frame came before; deltas, which may have taken the fast path, are of one type."""
        if number is None or self._types is None:
            return False
        serial, kind = b"%d" % number, "delta" if kind.endswith(".delta") else kind
        if serial not in self._frame_ids:
            self._frame_ids.add(serial)
            self._types[number] = kind
            self.add(number)
            return False
        is_same = self._types.get(number, "delta") == kind
        self._types = self._types if is_same else None
        return is_same


class NumberedDecoder(DecoderBase):
    """
    Base class of decoders of wires whose frames are numbered, in the field `delta_frames.unique`.

    Methods that a subclass has of its own call those of this class.
    """

    def on_begin(self) -> None:
        """Forget the numbers: the stream begins, or begins again."""
        self.numbers = SequenceNumbers(self.frame_ids)
        """Those that came: `on_event` asks them for each frame."""

    def on_skipped(self, counted: Fields) -> None:
        """Take the number of the last delta on the fast path."""
        self.numbers.add(count(counted, self.delta_frames.unique))

    @property
    def last_sequence_number(self) -> int | None:
        """Number of the last frame, after which the stream can be resumed; `None` when none had a number."""
        self.catch_up()
        return self.numbers.last


__all__ = ["NumberedDecoder", "SequenceNumbers"]
