"""The numbers of the frames of a stream, by which frames that come twice are found."""

from __future__ import annotations

from typing import Final, final

from assistant_events.adapters.base import DecoderBase
from assistant_events.adapters.json_fields import Fields, count

_DELTA: Final = ("delta", None)


@final
class SequenceNumbers:
    """
    The numbers of the frames that came.

    A frame was sent twice when its number came before with a frame of the same type and item, as after a resumption
    that began too early. Behind proxies the numbers may be wrong, or begin again with each item: one that belonged to
    another frame ends the trust in them.

    Args:
        frame_ids: Those of the decoder, which the fast path adds to as well. They are forgotten.
    """

    def __init__(self, frame_ids: set[bytes]) -> None:
        frame_ids.clear()
        self._frame_ids = frame_ids
        self._frames: dict[int, tuple[str, object]] | None = {}
        """By number, type and item of the frames that were decoded in full; `None` when the numbers are wrong."""

        self.last: int | None = None
        """The highest number; `None` when no frame had one."""

    def add(self, number: int | None) -> None:
        """Add a number, also one of the fast path."""
        if number is not None:
            self.last = max(number, self.last or 0)

    def is_repeated(self, number: int | None, kind: str, item: object = None) -> bool:
        """Return whether a frame came before; deltas, which may have taken the fast path, are all alike."""
        if number is None or self._frames is None:
            return False
        serial, frame = b"%d" % number, _DELTA if kind.endswith(".delta") else (kind, item)
        if serial not in self._frame_ids:
            self._frame_ids.add(serial)
            self._frames[number] = frame
            self.add(number)
            return False
        is_same = self._frames.get(number, _DELTA) == frame
        self._frames = self._frames if is_same else None
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
