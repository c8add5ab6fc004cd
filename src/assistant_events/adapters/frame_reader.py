"""
Bytes to the events of a wire: framing, parsing, the fast path for deltas, and notes about unusable input.

The half of `DecoderBase` that knows frames. The other half knows steps.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Hashable
from functools import partial
from typing import Any, ClassVar, final

import attrs

from assistant_events.adapters.errors import error_of_body
from assistant_events.adapters.fast_path import DELTAS, Continued, DeltaFastPath, SkippedFrames
from assistant_events.adapters.frame_templates import NUMBER_LIMIT, DeltaFrames, FrameTemplate, Learned, Path
from assistant_events.adapters.framing import DONE, MAX_FRAME_BYTES, Framing, JsonLines, Sse
from assistant_events.adapters.json_fields import FRAME_DEPTH, Fields
from assistant_events.errors import JsonError, LocalProtocolError
from assistant_events.event_lists import DeltaRun, EventList
from assistant_events.events import Event
from assistant_events.recorder import Recorder
from assistant_events.values import ErrorInfo, ErrorKind, read_json

MAX_NOTES = 100
"""How many notes are kept; more are only counted."""

_PIECE = 1 << 20
"""How many bytes are cut into frames at once: lists of short lines would take many times the bytes."""


@final
@attrs.frozen(kw_only=True)
class Note:
    """
    Something in a stream that a decoder could not use, or had to guess about. It never holds what the provider sent.
    """

    code: str
    """A word for programs, for example `bad-json`."""

    message: str


class FrameReader(ABC):
    """Reads frames for `DecoderBase`, which documents the attributes."""

    recorder: Recorder
    failure: Exception | None

    framing: type[Framing] = Sse
    """How the bytes are cut into frames, unless the caller names another framing."""

    max_frame_bytes: ClassVar[int] = MAX_FRAME_BYTES
    """How long a frame may be; a longer one fails the step with kind `protocol`."""

    delta_frames: ClassVar[DeltaFrames] = DeltaFrames()
    """What the frames of deltas hold beside their text, for the fast path."""

    fast: bool = True
    """Whether deltas may take the fast path. The events are the same without it."""

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self.notes_left_out = 0
        self.closed = False
        self.terminal = False
        self.payload: bytes | None = None
        """The frame that is read, as it came; `None` when it was parsed elsewhere."""

        self.frame_ids: set[bytes] = set()
        """Ids or numbers of the frames that came, encoded, for dialects that have them (`delta_frames.unique`)."""

        self._fast_path: DeltaFastPath | None = None
        self._ready: DeltaFastPath | None = None
        """The same while the next chunk may be a frame on it: nothing waits in the framing, or to be given."""

        self._left: DeltaFastPath | None = None
        """The fast path that the frame being decoded did not match; `None` when there was none."""

        self._fast_paths: dict[Hashable, DeltaFastPath] = {}
        self._name_read = False
        self._piece = min(_PIECE, self.max_frame_bytes)
        """How many bytes are taken at once; a frame inside is not too long."""

        self._sink: list[Event] = []
        self._runs: list[DeltaRun] = []
        self._open_framing()

    @final
    def feed(self, data: bytes) -> list[Event]:
        """
        Take bytes as they come, cut anywhere, and return the events they cause.

        Raises:
            LocalProtocolError: After `close`.

            TypeError: For anything but bytes.
        """
        ready, lined = self._ready, self._lined
        if ready is not None and data.__class__ is bytes and len(data) <= self._piece:
            # Most chunks of a live stream are one frame that continues what is open.
            frame = data if lined is None else lined.whole(data)
            event = None if frame is None else ready.take(frame)
            if event is not None:
                return [event]
        if self.closed or data.__class__ is not bytes:
            data = self._checked(data)
        for start in range(0, len(data), self._piece):
            if not self.terminal:
                piece = data[start : start + self._piece]
                self._feed_piece(piece if lined is None else lined.lines(piece))
        self._check_framing()
        fast = self._fast_path
        is_ready = fast is not None and fast.is_open and fast.framed and not self.terminal
        self._ready = fast if is_ready and self._framing.idle else None
        return self._taken()

    @property
    def tail(self) -> str:
        """Text outside of frames, such as a bare JSON error at the end; empty when there is none."""
        return self._framing.tail

    # -- for authors of adapters

    @abstractmethod
    def on_event(self, event: Fields) -> None:
        """Read one event of the wire and call verbs of `self.recorder`."""

    def on_done(self) -> None:  # noqa: B027 - overriding is optional
        """Take the mark `[DONE]`. Nothing by default: only a terminal event ends an answer."""

    def on_skipped(self, counted: Fields) -> None:  # noqa: B027
        """Take the counted fields of the last of the frames on the fast path. Nothing by default."""

    def note(self, code: str, message: str) -> None:
        """Add a note about input that could not be used."""
        if len(self.notes) < MAX_NOTES:
            self.notes.append(Note(code=code, message=message))
        else:
            self.notes_left_out += 1

    @final
    def on_payloads(self, payloads: list[bytes]) -> None:
        """Take the payloads of whole frames."""
        for payload in payloads:
            self.on_payload(payload)
            if self.terminal:
                return

    def offer_fast_path(
        self,
        event: Fields | None,
        path: Path,
        fragment: Continued | None,
        *,
        kind: Hashable = None,
        number: int | None = None,
        texts: list[Any] | None = None,
        skipped_frames: SkippedFrames | None = None,
    ) -> None:
        """
        Let frames like *event* continue a fragment without being decoded in full, until another frame comes.

        Call it in `on_event` after the verb of a delta. Such frames differ in the text at *path* and in what
        `delta_frames` declares, and mean nothing beside. Templates are learned from a few of them.

        Args:
            event: The frame; `None` to offer what was learned from earlier frames of this kind before the first comes.

            path: Keys and list indexes that lead to the text.

            fragment: What the delta continues, or a function that opens it when the first delta comes. With `None`,
                media, or half a character that waits for the rest, nothing happens.

            kind: A key for frames with the same constant bytes, such as the type of the delta.

            number: Number of the item, when *event* is `None`; `None` where its frames have none.

            texts: A list that gets the text of each frame.

            skipped_frames: Lists that get id and text of each frame that has an id (`delta_frames.unique`).
        """
        # Any: see `DeltaFastPath`.
        recorder = self.recorder
        if not self.fast or fragment is None or not recorder.is_direct:
            return
        if not callable(fragment) and (fragment.held or fragment.kind not in DELTAS):
            return
        if event is not None:
            number = self.delta_frames.number_in(event)
        # Frames without a number are of another item than those with 0.
        key, number = (kind, number is None), number or 0
        if not 0 <= number < NUMBER_LIMIT:
            return
        fast = self._fast_paths.get(key)
        if event is not None:
            if not self.payload:
                return
            if fast is None:
                fast = self._fast_paths[key] = DeltaFastPath(self.frame_ids, self._runs)
            if fast.learner.template is None or (fast is self._left and fast.is_for(number, fragment)):
                fast.learner.observe(partial(self._learn_frame, self.payload, event, path))
        if fast is not None and fast.learner.template is not None:
            fast.continue_with(recorder.message_id, number, fragment, texts, skipped_frames)
            self._fast_path = fast

    def catch_up(self) -> None:
        """Hand the counted fields of the last frame on the fast path to `on_skipped`, before they are read."""
        fast = self._fast_path
        if fast is not None and self._report_skipped(fast):
            self._ready = None  # what comes of it is given before the next event

    def on_payload(self, payload: bytes) -> None:
        """Take one payload on the fast path, where it continues what is open, or parse it and hand it to `on_event`."""
        fast = self._fast_path
        if fast is None:
            self._left = None
        elif payload.startswith(fast.prefix) and (event := fast.take_payload(payload)) is not None:
            self._sink.append(event)
            return
        else:
            self._leave_fast_path()
        if payload == DONE:
            try:
                self.on_done()
            except Exception as failure:  # noqa: BLE001 - a fault of an adapter ends its step, it never escapes
                self._break(failure)
            return
        try:
            event = read_json(payload, max_depth=FRAME_DEPTH)
        except JsonError:
            try:
                # Bytes that are not UTF-8 become U+FFFD, as the standard of server-sent events has it. A few servers do
                # not escape control characters in strings (openclaw#14321, earendil-works/pi#4446).
                event = read_json(payload.decode("utf-8", "replace"), max_depth=FRAME_DEPTH, strict=False)
            except JsonError as error:
                fields = error_of_body(payload) if self._text_framing.name(payload) == "error" else {}
                if fields:  # gateways write them in plain text
                    self.on_parsed({"error": fields}, payload)
                else:
                    self.note("bad-json", f"a frame of {len(payload)} bytes is {error}")
                return
        if isinstance(event, dict):
            self.on_parsed(event, payload)
        else:
            self.note("no-object", f"a frame holds {type(event).__name__} where an object belongs")

    def on_parsed(self, event: Fields, payload: bytes | None = None) -> None:
        """Hand one parsed event to `on_event`; what that raises ends the step with kind `adapter`."""
        self.payload = payload
        self._name_read = False
        try:
            self.on_event(event)
        except Exception as failure:  # noqa: BLE001 - a fault of an adapter ends its step, it never escapes
            self._break(failure)

    def frame_name(self) -> str | None:
        """Return the name beside the current frame, for wires whose documents do not have their type."""
        self._name_read = True
        return None if self.payload is None else self._text_framing.name(self.payload)

    # -- inside

    @abstractmethod
    def _give_up(self, error: ErrorInfo | None) -> None:
        """End an answer of which nothing more is read."""

    @abstractmethod
    def _break(self, failure: Exception) -> None:
        """End the step for a fault of the adapter."""

    def _feed_piece(self, data: bytes) -> None:  # noqa: C901 - a call for each frame would be felt
        """Take bytes frame by frame: runs of those that continue what is open need no framing."""
        framing, sink = self._text_framing, self._sink
        separator = framing.separator if self.fast else b""
        # To find one byte takes a hundredth of the time.
        if not separator or separator[-1] not in data or data.find(separator) < 0:
            self.on_payloads(framing.feed(data))
            return
        if not framing.idle and self._fast_path is not None:
            data = framing.release(self._piece - len(data)) + data
        at, tried, size = 0, -1, len(data)
        while at < size and not self.terminal:
            fast = self._fast_path
            if not framing.idle:
                pass
            elif fast is not None and at != tried and fast.framed and data.startswith(fast.head, at):
                count, at = fast.append_run(data, at, sink)
                if fast.stopped:
                    tried = at
                if count:
                    continue
                end = data.find(separator, at) + len(separator)
                if at != tried and at < end and (event := fast.take(data[at:end])) is not None:
                    sink.append(event)
                    at = end
                    continue
            elif (frame := framing.next(data, at)) is not None:
                payload, at = frame
                self.on_payload(payload)
                continue
            end = data.find(separator, at) + len(separator)
            if end < len(separator):
                end = size
            self.on_payloads(framing.feed(data[at:end]))
            at = end

    def _leave_fast_path(self) -> None:
        """Close the fast path, for something else comes."""
        fast = self._left = self._fast_path
        if fast is not None:
            self._fast_path = self._ready = None
            self._report_skipped(fast)

    def _report_skipped(self, fast: DeltaFastPath) -> bool:
        """Return whether frames matched that were not reported."""
        try:
            counted = fast.skipped(self.delta_frames)
            if counted is not None:
                self.on_skipped(counted)
        except Exception as failure:  # noqa: BLE001 - a fault of an adapter ends its step, it never escapes
            self._break(failure)
            return True
        return counted is not None

    def _learn_frame(self, payload: bytes, event: Fields, path: Path) -> Learned:
        around = self._text_framing.around(payload, self.frame_name() if self._name_read else None)
        if around is None and self._name_read:
            return None, True
        return FrameTemplate.learn(payload, event, path, self.delta_frames, around), self._name_read

    def _taken(self) -> list[Event]:
        events = self._sink
        self._sink = self.recorder.sink = []
        if self._runs:
            events = EventList(events, (*self._runs,))
            self._runs.clear()
        return events

    def _check_framing(self) -> None:
        """Refuse a frame that is too long or damaged, after those before it were read."""
        if self.terminal:
            return
        if self._framing.too_long:
            self._refuse_frame("long-frame", f"a frame is longer than {self.max_frame_bytes} bytes")
        elif self._framing.damaged:
            self._refuse_frame("damaged-frame", "the checksum of a frame is wrong", retryable=True)

    def _refuse_frame(self, code: str, reason: str, *, retryable: bool | None = None) -> None:
        """Give up the answer: after a frame that cannot be read, nothing is known to be whole."""
        self.note(code, reason)
        self._give_up(ErrorInfo(kind=ErrorKind.PROTOCOL, message=reason, retryable=retryable))
        self.terminal = True

    def _open_framing(self) -> None:
        self._framing = framing = self.framing(self.max_frame_bytes)
        # Frames without a separator become lines, which are framed once more: their length has been checked before.
        self._lined = None if framing.separator else framing
        self._text_framing = framing if framing.separator else JsonLines(sys.maxsize)

    def _close_framing(self) -> None:
        self.on_payloads(self._framing.close())
        self._check_framing()

    def _checked(self, data: object) -> bytes:
        if self.closed:
            raise LocalProtocolError("the decoder is closed, nothing can be fed")
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"data: expected bytes, got {type(data).__name__}")
        return bytes(data)
