"""The options of a session and of its operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Final, TypeAlias, TypedDict, cast

from assistant_events.events import Record
from assistant_events.live.contract import Live
from assistant_events.values import Content, ContentInput, TextContent, as_content
from assistant_events.values.arguments import check_integer, check_object, check_seconds, check_store

Meta: TypeAlias = Mapping[str, object] | None
Records: TypeAlias = tuple[Record, ...]

CHECKPOINT_S: Final = 0.5
"""Seconds between checkpoints of what streams."""

_CONTENTS_OF_REQUESTS: Final = (
    ("text", "text"),
    ("input_text", "text"),
    ("image_url", "image_url"),
    ("input_image", "image_url"),
    ("image", "source"),
    ("document", "source"),
    ("media", "media_type"),
)
"""The `type` of contents in requests of providers and of pages, and a field that each of them has."""


class SessionOptions(TypedDict, total=False):
    """Options of `Session.open` and `SyncSession.open`."""

    live: Live | None
    """Where the session publishes what it stores and what streams, for subscribers; nowhere by default."""

    owner: str | None
    """
    The owner of a new session, any non-empty string. A session that exists must have been created with it, otherwise
    `StoreError` is raised. `None` opens the session of any owner.
    """

    worker: str | None
    """
    Name of this process among those that run steps, and of no other. `respond`, `resume` and `decode` claim the session
    for it, and release it at their end; `None` claims nothing. See `Turns`.
    """

    snapshot_every: int | None
    """
    Store a snapshot after this many records since the last one, so that opening stays fast. `None` stores none. A
    refused snapshot is only logged.
    """

    checkpoint_s: float | None
    """
    Store the text of open fragments after this many seconds (`CHECKPOINT_S` by default), so that a crash loses no more
    of it; in a store that outlives the process. `None` stores none. A checkpoint that fails is only logged.
    """


def check_options(store: object, options: SessionOptions) -> None:
    """Raise `TypeError` or `ValueError` for an option that there is not, or for a value that it cannot have."""
    check_store(store)
    if unknown := sorted(options.keys() - SessionOptions.__annotations__.keys()):
        known = ", ".join(sorted(SessionOptions.__annotations__))
        raise TypeError(f"{unknown[0]}: expected only the options {known}")
    worker, live = options.get("worker"), options.get("live")
    if worker is not None and (not isinstance(worker, str) or not worker):
        raise TypeError(f"worker: expected a non-empty string or None, got {worker!r}")
    if live is not None:
        check_object(live, "publish", "live: expected a live channel such as MemoryLive or None")
    snapshot_every, checkpoint_s = options.get("snapshot_every"), options.get("checkpoint_s")
    if snapshot_every is not None:
        check_integer("snapshot_every", snapshot_every, 1)
    if checkpoint_s is not None:
        check_seconds("checkpoint_s", checkpoint_s)


def as_prompt(content: ContentInput) -> tuple[Content, ...]:
    """Return the content of a prompt. Raise `ValueError` when it is empty, `TypeError` for a provider's form of one."""
    items = _items(content)
    if all(map(_is_empty, items)):
        raise ValueError(f"content: expected a prompt that is not empty, got {content!r:.100}")
    if any(map(_is_of_provider, items)):
        hint = "pass its text, or contents such as TextContent and MediaContent"
        raise TypeError(f"content: expected a prompt, got a message or a content as a provider has it; {hint}")
    return as_content(content)


def _items(content: object) -> Sequence[object]:
    if isinstance(content, Sequence) and not isinstance(content, str):
        return cast("Sequence[object]", content)
    return (content,)


def _is_of_provider(item: object) -> bool:
    """Return whether an object is a message or a content of a request, and so hardly the JSON that it would become."""
    if not isinstance(item, Mapping):
        return False
    fields = cast("Mapping[str, object]", item)
    is_content = any(fields.get("type") == name and field in fields for name, field in _CONTENTS_OF_REQUESTS)
    return is_content or {"role", "content"} <= fields.keys()


def _is_empty(content: object) -> bool:
    return content is None or content == TextContent("") or (isinstance(content, Sized) and len(content) == 0)
