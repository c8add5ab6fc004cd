"""
Conversations of the mock: lists of items that requests read and extend.

Shapes are those of the types of openai 3.54.0 (`types/conversations`).
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from secrets import token_hex
from typing import Any, Final, final

from assistant_events.adapters.json_fields import Fields, mapping, string
from assistant_events.adapters.openai_responses.mock.runs import id_prefix
from assistant_events.mock.requests import ApiError
from assistant_events.mock.runs import Body

_PAGE: Final = 20
_LARGEST_PAGE: Final = 100

_GIVEN: Final[dict[str, Any]] = {"type": "input_text"}
_ANSWERED: Final[dict[str, Any]] = {"type": "output_text", "annotations": []}
"""Parts of a text, without it."""


@final
class Conversation:
    """A conversation, created at a time in seconds since 1970."""

    def __init__(self, created_at: int, metadata: Fields) -> None:
        self.id = f"conv_{token_hex(24)}"
        self.created_at = created_at
        self.metadata = metadata
        self.items: list[Fields] = []

    def document(self) -> dict[str, Any]:
        """Return it without its items."""
        return {"id": self.id, "object": "conversation", "created_at": self.created_at, "metadata": self.metadata}

    def item(self, item_id: str) -> Fields:
        """Return an item. Raises `ApiError` when there is none of this id."""
        found = next((item for item in self.items if item.get("id") == item_id), None)
        if found is None:
            raise ApiError(404, f"Item with id '{item_id}' not found.")
        return found


@final
class Conversations:
    """The conversations that are kept; beyond *most* the oldest are removed."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: OrderedDict[str, Conversation] = OrderedDict()

    def create(self, created_at: int, metadata: Fields) -> Conversation:
        """Return a new conversation."""
        made = Conversation(created_at, metadata)
        self._found[made.id] = made
        while len(self._found) > max(self._most, 1):
            self._found.popitem(last=False)
        return made

    def get(self, conversation_id: str) -> Conversation:
        """Return a conversation. Raises `ApiError` when there is none of this id."""
        found = self._found.get(conversation_id)
        if found is None:
            raise ApiError(404, f"Conversation with id '{conversation_id}' not found.")
        return found

    def of_request(self, body: Body) -> Conversation | None:
        """Return the conversation that a request continues, named by its id or as an object. Raises `ApiError`."""
        given = string(body, "conversation") or string(mapping(body, "conversation"), "id")
        return None if given is None else self.get(given)

    def remove(self, conversation_id: str) -> None:
        """Remove a conversation. Raises `ApiError` when there is none of this id."""
        del self._found[self.get(conversation_id).id]


def stored_item(item: Fields) -> Fields:
    """Return an item of a request as it is stored: with an id, and a text as content in parts."""
    kind = string(item, "type") or "message"
    ident = string(item, "id") or f"{id_prefix(kind)}_{token_hex(24)}"
    stored = {"status": "completed", **item, "id": ident, "type": kind}
    text = string(item, "content")
    if kind == "message" and text is not None:
        stored["content"] = [_ANSWERED | {"text": text} if item.get("role") == "assistant" else _GIVEN | {"text": text}]
    return stored


def page_of(items: list[Fields], query: Mapping[str, str]) -> dict[str, Any]:
    """Return the page of a list that a request wants by `after`, `limit` and `order`. Raises `ApiError`."""
    limit, order = query.get("limit", str(_PAGE)), query.get("order", "desc")
    if not re.fullmatch("[0-9]{1,3}", limit) or not 1 <= int(limit) <= _LARGEST_PAGE:
        raise ApiError(400, f"Invalid 'limit': expected 1 to {_LARGEST_PAGE}.", param="limit")
    if order not in ("asc", "desc"):
        raise ApiError(400, "Invalid value for 'order'. Supported values are: 'asc', 'desc'.", param="order")
    ordered = items if order == "asc" else items[::-1]
    after = query.get("after")
    if after is not None:
        places = [place for place, item in enumerate(ordered) if item.get("id") == after]
        if not places:
            raise ApiError(404, f"Item with id '{after}' not found.", param="after")
        ordered = ordered[places[0] + 1 :]
    page = ordered[: int(limit)]
    first, last = [item["id"] for item in (*page[:1], *page[-1:])] or (None, None)
    return {
        "object": "list",
        "data": page,
        "first_id": first,
        "last_id": last,
        "has_more": len(ordered) > len(page),
    }
