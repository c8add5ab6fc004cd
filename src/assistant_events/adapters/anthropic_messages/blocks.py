"""
Parts of an answer as content blocks: the inverse of the decoder.

The only writer of blocks; encoder, emitter and documents call it. All of a part is written, whether a request may hold
it or not: that is decided by the caller.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any, assert_never

from assistant_events.adapters.anthropic_messages import vocabulary as words
from assistant_events.adapters.call_ids import wire_or_own_id
from assistant_events.adapters.call_results import output_value, text_of
from assistant_events.adapters.claude import in_messages
from assistant_events.adapters.encoded import Item
from assistant_events.adapters.items import BlockKind, joined_state
from assistant_events.adapters.json_fields import mapping, without
from assistant_events.adapters.media_urls import IMAGES, bare_type
from assistant_events.adapters.sealing import join_sealed
from assistant_events.values import MediaContent, thaw
from assistant_events.values.validators import NO_FIELDS


def write_block(kind: BlockKind, parts: Sequence[Any]) -> Item | None:
    """Return the block of *parts*, which are all of *kind*, of a call or a result one; `None` when they have none."""
    # Any: the kind determines the class of the parts.
    state = joined_state(kind, parts)
    more = without(in_messages(state), words.RESERVED)
    first = parts[0]
    match kind:
        case "text":
            return {"type": "text", "text": "".join([part.text for part in parts]), **more}
        case "reasoning" if "data" in more:
            return {"type": "redacted_thinking", **more}
        case "reasoning":
            return {"type": "thinking", "thinking": "".join([part.text for part in parts]), "signature": "", **more}
        case "call":  # an own one of the provider has its type
            call = {"name": first.name, "input": thaw(first.input or NO_FIELDS), **more, "id": wire_or_own_id(first)}
            if "i" not in state and first.provider_executed:  # clients read the calls of MCP servers with any tool
                return {"type": "mcp_tool_use", "server_name": first.name, **call}
            return {"type": state.get("type", "tool_use"), **call}
        case "result" if "i" not in state:
            text = text_of(first.output) or ("" if first.error is None else first.error.message)
            content, is_failed = {"content": [{"type": "text", "text": text}]}, first.error is not None
            return {"type": "mcp_tool_result", "tool_use_id": wire_or_own_id(first), "is_error": is_failed, **content}
        case "result":
            output = join_sealed(output_value(first), mapping(state, "sealed"))
            result = {"type": state.get("type", f"{first.name}_tool_result"), "tool_use_id": wire_or_own_id(first)}
            return {**result, **({} if output is None else {"content": output}), **more}
        case "media" | "opaque":  # no model answers with media; these nulls are refused (anthropic-sdk-python#1828)
            block, optional = mapping(state, "block"), ("encrypted_content", "signature", "tool_changes")
            return {key: block[key] for key in block if block[key] is not None or key not in optional} or None
        case _ as never:
            assert_never(never)


def media_block(item: MediaContent) -> Item | None:
    """Return media as a block of a request; `None` when a request cannot have it."""
    kind = bare_type(item.media_type)
    source = _source(kind, item.data, item.uri or "")
    if source is None or kind not in IMAGES | {"application/pdf", "text/plain"}:
        return None
    return {"type": "image" if kind in IMAGES else "document", "source": source}


def _source(kind: str, data: bytes | None, uri: str) -> Item | None:
    if data is None and uri.startswith("file_"):
        return {"type": "file", "file_id": uri}
    if data is None:
        return None if kind == "text/plain" else {"type": "url", "url": uri}  # only PDF documents have addresses
    if kind == "text/plain":
        try:
            return {"type": "text", "media_type": kind, "data": data.decode()}
        except UnicodeDecodeError:
            return None
    return {"type": "base64", "media_type": kind, "data": b64encode(data).decode()}
