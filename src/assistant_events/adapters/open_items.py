"""
The items of an answer on a wire that repeats them: a text in its own end, in that of its item and in the last frame.

Deltas are recorded at once. Everything else is a field, which is remembered and read when the item ends, or is cut. So
all repetitions are read alike, and the last of them is enough.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Literal, TypeAlias, final

import attrs

from assistant_events.adapters.json_fields import Fields, array, others
from assistant_events.recorder import Recorder
from assistant_events.values import valid_text, write_json

ItemRole: TypeAlias = Literal["text", "reasoning", "call", "result", "opaque"]
"""What an item is here."""


@final
@attrs.define(eq=False)
class OpenItem:
    """What is known of an item, or of a text in one: a part."""

    kind: str
    """Its type on the wire."""

    role: ItemRole
    """Of a part, that of its item."""

    state: dict[str, Any]  # Any: plain JSON, as below
    """State of all its fragments."""

    where: str = ""
    """The array of a part in its item."""

    index: int | None = None
    """Index of a part in events, which is not always its place in the array; `None` for an item."""

    fields: dict[str, Any] = attrs.Factory(dict[str, Any])
    """What the last repetition had, or is known by itself."""

    key: object = attrs.Factory(lambda self: self, takes_self=True)
    """Its key in the recorder: that of a first part is its item, which may begin before it."""

    parts: list[OpenItem] = attrs.Factory(list["OpenItem"])

    has_text: bool = False
    """Whether any of its text or its input has come."""

    whole: bool = False
    """Whether all has."""

    ended: bool = False

    awaits: str = ""
    """Type of the item that is to bring the result of a call; empty when none is."""

    def learn(self, fields: Fields, left_out: Collection[str] = ()) -> None:
        """Take what a repetition has of it, but for the fields *left_out*; a shorter array is not the whole."""
        arrays = [(key, value) for key, value in self.fields.items() if type(value) is list]
        longer = [key for key, value in arrays if len(array(fields, key)) < len(value)]
        self.fields |= others(fields, left_out, longer)

    def append(self, key: str, items: Collection[object]) -> None:
        """Put items behind those of an array that comes in pieces."""
        self.fields[key] = [*array(self.fields, key), *items]

    def add(self, recorder: Recorder, delta: str) -> None:
        """Record a delta of the text or the input."""
        self.has_text = self.has_text or bool(delta)
        match self.role:
            case "call":
                recorder.tool_input(None, None, delta, key=self.key)
            case "text":
                recorder.text(delta, key=self.key, state=self.state)
            case _:
                recorder.reasoning(delta, key=self.key, state=self.state)

    def complete(self, recorder: Recorder, field: str) -> None:
        """Record the whole text or input of a field, which wins over the deltas; an empty one does not."""
        whole = self.fields.get(field)
        if self.role == "call" and whole and not isinstance(whole, str):
            whole = write_json(whole).decode()  # an input that a server has parsed
        if not whole or not isinstance(whole, str):
            return
        opened = recorder.open_of(self.key)
        if not self.has_text:
            self.add(recorder, whole)
        elif opened is not None and opened.buffer.value() != whole:
            opened.held = ""
            opened.buffer.replace(valid_text(whole))

    def part_at(self, where: str, index: int | None, place: int = -1) -> OpenItem | None:
        """Return the part of an index in events, or without one that at a place; `None` when it has not begun."""
        parts = [part for part in self.parts if part.where == where]
        found = parts[place:][:1] if index is None else [part for part in parts if part.index == index]
        return found[0] if found else None

    def begin_part(self, kind: str, where: str, index: int | None) -> OpenItem:
        """Return a new part, the next one of its array."""
        place = sum(part.where == where for part in self.parts)
        state = {**self.state, f"{where}_index": place}
        part = OpenItem(kind, self.role, state, where, place if index is None else index)
        part.key = part if self.parts else self
        self.parts.append(part)
        return part


@final
class OpenItems:
    """
    The items of an answer, in the order in which they began.

    Args:
        item_key: The key of the number of an item in its state.
    """

    def __init__(self, item_key: str) -> None:
        self._item_key = item_key
        self._by_number: dict[int, OpenItem] = {}
        self._at: dict[int | str | None, OpenItem] = {}
        """The items by their last index and by each of their ids."""

    def __iter__(self) -> Iterator[OpenItem]:
        return iter(self._by_number.values())

    def __len__(self) -> int:
        return len(self._by_number)

    def unended(self) -> list[OpenItem]:
        """Return the items that have not ended."""
        return [item for item in self if not item.ended]

    def at(self, address: int | str | None) -> OpenItem | None:
        """Return the item of an index or an id; `None` without one."""
        return self._at.get(address)

    def find(
        self, index: int | None, item_id: str | None, kind: str, role: ItemRole, *, is_whole: bool = False
    ) -> OpenItem:
        """
        Return the item of an event, which begins unless it has.

        The index counts, and the id only without one: there are servers that change ids with every event. Without
        both, it is the last of its type that has not ended.

        Args:
            index: Index of the item.

            item_id: Id of the item.

            kind: Type of the item; one of another type at the same index is another item.

            role: What an item of this type is.

            is_whole: Whether the event has the whole item. One that has ended is then another item, unless it has the
                same id.
        """
        item = self._at.get(item_id if index is None else index)
        if item is None and index is None and not is_whole:
            item = next(
                (each for each in reversed(self._by_number.values()) if each.kind == kind and not each.ended), None
            )
        if item is None or item.kind != kind or (is_whole and item.ended and item.fields.get("id") != item_id):
            number = max(self._by_number, default=-1) + 1 if index is None or index in self._by_number else index
            item = OpenItem(kind, role, {self._item_key: number}, fields={"id": item_id} if item_id else {})
            self._by_number[number] = self._at[number if index is None else index] = item
            is_whole = True  # so that its id is known
        if is_whole and item_id:
            self._at[item_id] = item
        return item


__all__ = ["ItemRole", "OpenItem", "OpenItems"]
