"""Emitters of wires whose answers are numbered blocks: each has a start, or none, then deltas, and a stop."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import attrs

from assistant_events import messages as msg
from assistant_events.adapters.emitter import EmitterBase, Frame
from assistant_events.adapters.items import BlockKind, block_kind, number_of
from assistant_events.values import State


class BlockFrames(NamedTuple):
    """The frames of a block."""

    start: Frame | None
    """`None` for a block whose first delta begins it."""

    deltas: Iterable[Frame]
    stop: Frame


class BlockEmitter(EmitterBase):
    """
    Base class of these emitters. A subclass implements `write_block` and `block_frames`.

    Parts with the same number in their state are one block: its start is written once.
    """

    # -- implemented by subclasses

    @staticmethod
    @abstractmethod
    def write_block(kind: BlockKind, parts: Sequence[Any]) -> dict[str, Any] | None:
        """Return the block of *parts*, which are all of *kind*, as a document has it; `None` when it has none."""
        # Any: the kind determines the class of the parts.

    @abstractmethod
    def block_frames(self, index: int, block: dict[str, Any], part: msg.Part | None) -> BlockFrames:
        """Return the frames of the block of *part*; of a result, *part* is `None`."""

    # -- called by the base class

    def on_part(self, place: int, part: msg.Part) -> None:
        """Write the block of a part, or continue the one that it belongs to."""
        block = self.write_block(block_kind(part), [part])
        self._write(part.state, block, part, is_whole=msg.content_status(part) is not msg.PartStatus.INCOMPLETE)

    def on_piece(self, place: int, part: msg.TextPart | msg.ReasoningPart, piece: str, *, begins: bool) -> None:
        """Write the start of a block, its next delta or its stop."""
        written = attrs.evolve(part, text=piece)
        block = self.write_block(block_kind(part), [written])
        self._write_at((place,), block, written, is_whole=part.status is not msg.PartStatus.INCOMPLETE)

    def on_result(self, place: int, call: msg.ToolPart) -> None:
        """Write the block of a result."""
        self._write(call.result_state, self.write_block("result", [call]), None, is_whole=True)

    def _write(self, state: State, block: dict[str, Any] | None, part: msg.Part | None, *, is_whole: bool) -> None:
        number = number_of(state, self.decoder.item_key or "")
        self._write_at(object() if number is None else number, block, part, is_whole=is_whole)

    def _write_at(self, key: object, block: dict[str, Any] | None, part: msg.Part | None, *, is_whole: bool) -> None:
        if block is None:
            return
        is_late = key in self._indexes
        frames = self.block_frames(self.index_of(key), block, part)
        if frames.start is not None and not is_late:
            self.write(frames.start)
        for delta in frames.deltas:
            self.write(delta)
        if is_whole:
            self.write(frames.stop)
