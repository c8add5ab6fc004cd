"""The numbers of the frames of a stream, by which frames that come twice are found."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import final

from assistant_events.adapters.base import DecoderBase
from assistant_events.adapters.fast_path import Continued, SkippedFrames
from assistant_events.adapters.json_fields import Fields, count


@final
class SequenceNumbers:
    """
    The numbers of the frames that came.

    A frame was sent twice when its number came before with a frame of the same type, item and delta, as after a
    resumption that began too early. Behind proxies the numbers may be wrong, or begin again with each item: one that
    belonged to another frame ends the trust in them, and becomes a note.

    Args:
        frame_ids: Those of the decoder, which the fast path adds to as well. They are forgotten.

        note: Called with a code and a sentence when a number is wrong.
    """

    def __init__(self, frame_ids: set[bytes], note: Callable[[str, str], None]) -> None:
        frame_ids.clear()
        self._frame_ids = frame_ids
        self._note = note
        self._frames: dict[bytes, tuple[str, object, object]] | None = {}
        """By number, the frames that came; `None` when the numbers are wrong."""

        self._skipped = SkippedFrames([], [])
        """Deltas of the fast path; they are put into the frames when a number comes again."""

        self._owners: list[tuple[int, str, object]] = []
        """Where among them those of another type or item begin, with these."""

        self.last: int | None = None
        """The highest number; `None` when no frame had one."""

    def add(self, number: int | None) -> None:
        """Add a number, also one of the fast path."""
        if number is not None and (self.last is None or number > self.last):
            self.last = number

    def skipped(self, kind: str, item: object) -> SkippedFrames | None:
        """Return what gets the deltas of this type and item on the fast path; `None` when the numbers are wrong."""
        if self._frames is None:
            return None
        start = len(self._skipped.ids)
        if self._owners and self._owners[-1][0] == start:
            self._owners.pop()  # none of those that it expected came
        self._owners.append((start, kind, item))
        return self._skipped

    def is_repeated(self, number: int | None, kind: str, item: object = None, delta: object = None) -> bool:
        """Return whether a frame came before."""
        if number is None:
            return False
        self.add(number)
        if self._frames is None:
            return False
        serial, frame = b"%d" % number, (kind, item, delta)
        if serial not in self._frame_ids:
            self._frame_ids.add(serial)
            self._frames[serial] = frame
            return False
        if serial not in self._frames:
            self._frames |= self._take_skipped()
        if self._frames.get(serial) == frame:
            return True
        self._frames = None
        self._note("wrong-number", "a frame has the number of another one; numbers are not looked at any more")
        return False

    def _take_skipped(self) -> dict[bytes, tuple[str, object, object]]:
        """Return the deltas of the fast path since the last call, by number."""
        ids, texts = self._skipped
        owners = zip(self._owners, [*[start for start, _, _ in self._owners[1:]], len(ids)], strict=True)
        found: dict[bytes, tuple[str, object, object]] = {
            ids[at]: (kind, item, texts[at]) for (start, kind, item), end in owners for at in range(start, end)
        }
        self._owners = [(0, kind, item) for _, kind, item in self._owners[-1:]]
        ids.clear()
        texts.clear()
        return found


class NumberedDecoder(DecoderBase):
    """
    Base class of decoders of wires whose frames are numbered, in the field `delta_frames.unique`.

    Methods that a subclass has of its own call those of this class, and `on_event` asks `is_repeated` for each frame.
    """

    def on_begin(self) -> None:
        """Forget the numbers: the stream begins, or begins again."""
        self.numbers = SequenceNumbers(self.frame_ids, self.note)
        """Those that came."""

        self._frame: tuple[str, object] = "", None
        """Type and item of the frame that is read."""

    def is_repeated(self, event: Fields, kind: str, item: object = None) -> bool:
        """Return whether a frame came before: the same of its type and its item, with the same `delta`."""
        self._frame = kind, item
        return self.numbers.is_repeated(count(event, self.delta_frames.unique), kind, item, event.get("delta"))

    def offer_delta(self, event: Fields, fragment: Continued | None, *, kind: Hashable) -> None:
        """Offer the fast path to frames like the one that is read, whose text is in the field `delta`."""
        skipped = self.numbers.skipped(*self._frame)
        self.offer_fast_path(event, ("delta",), fragment, kind=kind, skipped_frames=skipped)

    def on_skipped(self, counted: Fields) -> None:
        """Take the number of the last delta on the fast path."""
        self.numbers.add(count(counted, self.delta_frames.unique))

    @property
    def last_sequence_number(self) -> int | None:
        """Number of the last frame, after which the stream can be resumed; `None` when none had a number."""
        self.catch_up()
        return self.numbers.last
