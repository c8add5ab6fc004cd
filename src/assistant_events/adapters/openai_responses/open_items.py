"""What the decoder remembers of the items of a response, and the state that comes of it."""

from __future__ import annotations

from typing import Any

import attrs

from assistant_events.adapters.json_fields import Fields, string
from assistant_events.adapters.openai_responses import vocabulary as words


@attrs.define(eq=False)
class OpenItem:
    """An item of the response: the key of its call, or of its first fragment, in the recorder."""

    # Any: plain JSON.
    kind: str
    number: int
    fields: dict[str, Any] = attrs.Factory(dict[str, Any])
    """What the last event with the item has of it."""

    parts: list[OpenPart] = attrs.Factory(list["OpenPart"])
    unread: dict[str, list[Fields]] = attrs.Factory(dict[str, list[Fields]])
    """Parts of unknown types, by their array."""

    input: dict[str, Any] | None = None
    """Input of a call, where it is not the JSON text that came."""

    has_input: bool = False
    """Whether all of its input has come."""

    ended: bool = False
    answer: OpenItem | None = None
    """The item with the result of a call."""

    def next_index(self, where: str) -> int:
        """Return the index of one more part."""
        return max([part.index for part in self.parts if part.where == where], default=-1) + 1

    def state(self) -> dict[str, Any]:
        """Return the state of an item, call or result: the fields that events have no words for."""
        tool = words.TOOLS.get(self.kind)
        own = {"type", "call_id", *words.RESERVED}
        state: dict[str, Any] = {"i": self.number}
        if tool is not None:
            own |= {*tool.input, tool.output} | ({"name"} if not tool.name else set())
            state |= {} if self.kind == "function_call" else {"type": self.kind}
        elif self.kind in words.ANSWERS:
            own |= {words.ANSWERS[self.kind]}
            state["type"] = self.kind
        else:
            own |= {"content", "summary", "role"}
        item_id = string(self.fields, "id")
        state |= {"item_id": item_id} if item_id else {}
        return {**state, **{key: value for key, value in self.fields.items() if key not in own}, **self.unread}


@attrs.define(eq=False)
class OpenPart:
    """A text of a message or reasoning."""

    item: OpenItem
    kind: str
    index: int
    """Its index in events."""

    place: int
    """Its place among the texts of its array."""

    text: str | None = None
    """Its whole text as the provider repeats it."""

    annotations: list[Fields] = attrs.Factory(list[Fields])
    logprobs: list[Any] = attrs.Factory(list[Any])
    fields: dict[str, Any] = attrs.Factory(dict[str, Any])
    """Its fields that events have no words for."""

    has_text: bool = False
    """Whether any of its text has come."""

    done: bool = False
    """Whether all of it has come."""

    ended: bool = False
    key: object = attrs.field(init=False)
    """Its key in the recorder: a reasoning begins before its first part."""

    def __attrs_post_init__(self) -> None:
        self.key = self.item if self.item.kind == "reasoning" and not self.item.parts else self

    @property
    def where(self) -> words.PartList:
        """The array that it is in."""
        return words.PARTS[self.kind][1]

    def state(self) -> dict[str, Any]:
        """Return the state of all fragments of the part."""
        return {"i": self.item.number, words.INDEXES[self.where]: self.place}

    def final_state(self) -> dict[str, Any]:
        """Return the state of the last fragment."""
        state = self.state()
        if self.kind == "refusal":
            state["type"] = self.kind
        if self.annotations:
            state["annotations"] = self.annotations
        return {**state, "part": self.fields} if self.fields else state
