"""What the decoder remembers of the items of a response, and the state that comes of it."""

from __future__ import annotations

from typing import Any

import attrs

from assistant_events.adapters.json_fields import Fields, mappings, others, string
from assistant_events.adapters.openai_responses import vocabulary as words


@attrs.define(eq=False)
class OpenItem:
    """An item of the response: the key of its call, or of its first fragment, in the recorder."""

    kind: str
    number: int
    fields: dict[str, Any] = attrs.Factory(dict[str, Any])  # Any: plain JSON
    """What the last event with the item has of it."""

    parts: list[OpenPart] = attrs.Factory(list["OpenPart"])
    index: None = None
    """Events about its input have no index but its number."""

    whole: bool = False
    """Whether all of the input of a call has come."""

    ended: bool = False
    answered: bool = False
    """Whether the result of a call has come as another item."""

    @property
    def key(self) -> OpenItem:
        """Its key in the recorder."""
        return self

    def parts_in(self, where: words.PartList) -> list[OpenPart]:
        """Return the parts in an array of the item."""
        return [part for part in self.parts if part.about.where == where]

    def knows(self, where: words.PartList, part: Fields) -> bool:
        """Return whether a part of the item is of a type that such an item has there."""
        about = words.TEXTS.get(string(part, "type") or "")
        return about is not None and (about.item, about.where) == (self.kind, where)

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
            unread = {where: self._unread(where) for where in words.INDEXES}
            state |= {where: parts for where, parts in unread.items() if parts}
        item_id = string(self.fields, "id")
        state |= {"item_id": item_id} if item_id else {}
        return state | others(self.fields, own)

    def _unread(self, where: words.PartList) -> list[Fields]:
        return [part for part in mappings(self.fields, where) if self.ended and not self.knows(where, part)]


@attrs.define(eq=False)
class OpenPart:
    """A text of a message or reasoning."""

    item: OpenItem
    kind: str
    index: int
    """Its index in events."""

    place: int
    """Its place among the texts of its array."""

    fields: dict[str, Any] = attrs.Factory(dict[str, Any])  # Any: plain JSON
    """What is known of the whole part."""

    has_text: bool = False
    """Whether any of its text has come; `whole`: whether all of it has."""

    whole: bool = False
    done: bool = False
    """Whether the whole part has come."""

    ended: bool = False
    key: object = attrs.field(init=False)
    """Its key in the recorder: a reasoning begins before its first part."""

    def __attrs_post_init__(self) -> None:
        self.key = self.item if self.item.kind == "reasoning" and not self.item.parts else self

    @property
    def about(self) -> words.Text:
        """What its type is."""
        return words.TEXTS[self.kind]

    def state(self) -> dict[str, Any]:
        """Return the state of all fragments of the part."""
        return {"i": self.item.number, words.INDEXES[self.about.where]: self.place}

    def final_state(self) -> dict[str, Any]:
        """Return the state of the last fragment."""
        own = {"type", self.about.field, "annotations", "logprobs"}
        more = others(self.fields, own)
        annotations = self.fields.get("annotations")
        return {
            **self.state(),
            **({"type": self.kind} if self.kind == "refusal" else {}),
            **({"annotations": annotations} if annotations else {}),
            **({"part": more} if more else {}),
        }
