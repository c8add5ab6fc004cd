"""Emitters of wires whose answers are numbered items of several parts, and the start of an item knows its end."""

from __future__ import annotations

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import attrs

from assistant_events import messages as msg
from assistant_events.adapters.emitter import EmitterBase
from assistant_events.adapters.encoded import Item
from assistant_events.adapters.items import BlockKind, block_kind, number_of
from assistant_events.adapters.json_fields import Fields

_PREFIXES = {"message": "msg", "reasoning": "rs"}
"""Prefix of the ids of items by their type; that of calls is `fc`."""

_STARTS = ("item.added", "part.added")
"""Ends of the names of the frames that start an item, and a text of it."""


class ItemEmitter(EmitterBase):
    """
    Base class of these emitters. A subclass implements `write_item`, `item_started` and `item_ended`.

    An item is written when its last text has come, a part of another kind, or the end of the answer: its start has what
    only that text knows.
    """

    text_state: ClassVar[frozenset[str]] = frozenset()
    """Keys of state of each text of an item; others are of the item, and its last text has them."""

    left_out: tuple[str, ...] = ()
    """Ends of the names of frames that are not written: those of an item that were written before."""

    # -- implemented by subclasses

    @staticmethod
    @abstractmethod
    def write_item(kind: BlockKind, parts: Sequence[Any]) -> Item | None:
        """Return the item of *parts*, which are all of *kind*, as a document has it; `None` when they have none."""
        # Any: the kind determines the class of the parts.

    @abstractmethod
    def item_started(self, index: int, item: Item, *, is_cut: bool) -> None:
        """Write an item without its end; of one that was cut, the last text has none either."""

    @abstractmethod
    def item_ended(self, index: int, item: Item) -> None:
        """Write the end of an item."""

    def has_later_result(self, item: Item, call: msg.ToolPart) -> bool:
        """Return whether the item of a call does not end before its result has come. None is by default."""
        return False

    # -- called by subclasses

    def output(self) -> list[Item]:
        """Return the items that have ended, in the order of their indexes."""
        return [item for _, item in sorted(self._output.items()) if item is not None]

    # -- called by the base class

    def on_start(self, message: msg.AssistantMessage) -> None:
        """Forget the items of an answer that begins again. Subclasses extend it."""
        # Any: the kind determines the class.
        self._waiting: OrderedDict[tuple[int | None, BlockKind], list[Any]] = OrderedDict()
        """The parts of items of one kind that wait, by number. The first key of an `OrderedDict` is found at once."""

        self._indexes_of_calls: dict[str, int] = {}
        self._next = 0
        self._output: dict[int, Item | None] = {}
        """The items by their indexes; `None` until they have ended."""

    def on_part(self, place: int, part: msg.Part) -> None:
        """Write the item of a part; a text waits for the last of its item, or for a part of another kind."""
        kind, number = block_kind(part), number_of(part.state, self.decoder.item_key or "")
        if next(iter(self._waiting), (None, kind))[1] != kind:  # the last text of an item without an id has no mark
            self._write_waiting(is_whole=True)
        self._waiting.setdefault((number, kind), []).append(part)
        # One that overlaps with an item which began before it waits for that one's end.
        while (first := next(iter(self._waiting), None)) and self._has_ended(first[0], self._waiting[first][-1]):
            self._write_item(first[1], self._waiting.pop(first))

    def _has_ended(self, number: int | None, part: msg.Part) -> bool:
        is_text = isinstance(part, (msg.TextPart, msg.ReasoningPart))
        return not is_text or number is None or bool(part.state.keys() - self.text_state)

    def on_piece(self, place: int, part: msg.TextPart | msg.ReasoningPart, piece: str, *, begins: bool) -> None:
        """Write the start of an item of one text, its next delta or its end."""
        if begins:
            self._write_waiting(is_whole=True)
            self._streamed = self._begin_item(None)
        if piece:
            self.left_out = () if begins else _STARTS
            self._write_streamed(attrs.evolve(part, text=piece))
        else:
            self.left_out = (*_STARTS, ".delta")
            item = self._write_streamed(part)
            if part.status is not msg.PartStatus.INCOMPLETE:
                self._end_item(self._streamed, item)
        self.left_out = ()

    def _write_streamed(self, part: msg.TextPart | msg.ReasoningPart) -> Item:
        is_cut = part.status is msg.PartStatus.INCOMPLETE
        item = self._named(self._streamed, self.write_item(block_kind(part), [part]) or {}, is_cut=is_cut)
        self.item_started(self._streamed, item, is_cut=is_cut)
        return item

    def on_result(self, place: int, call: msg.ToolPart) -> None:
        """Write the item of a result, or the end of that of the call."""
        index = self._indexes_of_calls.get(call.call_id)
        if not self._write_item("result", [call]) and index is not None:
            self._end_call(index, call)

    def on_end(self, message: msg.AssistantMessage) -> None:
        """Write the items that wait for more, and the ends of calls without a result. Subclasses extend it."""
        self._write_waiting(is_whole=message.error is None)
        if message.error is not None or self._answer is None or self._answer.is_own:  # those of the wire came open
            return
        for call in message.tool_calls:
            index = self._indexes_of_calls.get(call.call_id)
            is_cut = msg.content_status(call) is msg.PartStatus.INCOMPLETE
            if index is not None and self._output[index] is None and not is_cut:
                self._end_call(index, call)

    def _end_call(self, index: int, call: msg.ToolPart) -> None:
        self._end_item(index, self._named(index, self.write_item("call", [call]) or {}, is_cut=False))

    def on_close(self) -> tuple[()]:
        """Write the same when the events stop before the end of the answer."""
        if self._answer is not None:
            self._write_waiting(is_whole=False)
        return ()

    def _write_waiting(self, *, is_whole: bool) -> None:
        for (number, kind), parts in self._waiting.items():
            self._write_item(kind, parts, is_whole=is_whole or self._has_ended(number, parts[-1]))
        self._waiting.clear()

    def _write_item(self, kind: BlockKind, parts: list[Any], *, is_whole: bool = True) -> bool:
        """Write an item, and its end if it *is_whole*; return whether the parts have one."""
        # Any: see `_waiting`.
        item, last = self.write_item(kind, parts), parts[-1]
        if item is None:
            return False
        index = number_of(last.result_state if kind == "result" else last.state, self.decoder.item_key or "")
        known = None if index is None or kind != "reasoning" else self._output.get(index)
        is_late = (
            known is not None and known.get("id") in (None, item.get("id")) and not any(part.text for part in parts)
        )
        if index is not None and known is not None and is_late:
            # What came behind the end of the item (`OpenItem.add_late`), which only the last frame has.
            self._output[index] = {**known, **{key: value for key, value in item.items() if value != []}}
            return True
        index = self._begin_item(index)
        self._indexes_of_calls |= {last.call_id: index} if kind == "call" else {}
        is_cut = msg.content_status(last) is msg.PartStatus.INCOMPLETE
        item = self._named(index, item, is_cut=is_cut)
        self.item_started(index, item, is_cut=is_cut)
        is_late = kind == "call" and self.has_later_result(item, last)
        if is_whole and not is_late and (not is_cut or item.get("status") == "incomplete"):
            self._end_item(index, item)
        return True

    def _begin_item(self, index: int | None) -> int:
        """Return the index of a new item: the next one when it has none, or another's, as two of a damaged stream."""
        if index is None or index in self._output:
            index = self._next
        self._next = max(self._next, index + 1)
        self._output[index] = None
        return index

    def _named(self, index: int, item: Item, *, is_cut: bool) -> Item:
        answer = self._answer
        if answer is None or answer.is_own:
            return item
        return _with_id(item, answer.id, index, "in_progress" if is_cut else "completed")

    def _end_item(self, index: int, item: Item) -> None:
        self._output[index] = item
        self.item_ended(index, item)


def with_ids(items: Iterable[Item], message_id: str) -> list[Item]:
    """Return the items of an answer of another dialect with ids and status: clients refuse those without."""
    return [_with_id(item, message_id, index, "completed") for index, item in enumerate(items)]


def _with_id(item: Item, message_id: str, index: int, status: str) -> Item:
    kind = item["type"]
    ident = f"{_PREFIXES.get(kind, 'fc')}_{message_id}_{index}"
    return {"id": ident, **({} if kind == "reasoning" else {"status": status}), **item}


def emptied(fields: Fields, *keys: str) -> Item:
    """Return an object as a frame has it before its deltas: what they bring is empty, a text or an array."""
    return {key: type(value)() if key in keys else value for key, value in fields.items()}
