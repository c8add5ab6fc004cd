"""
Parts of an answer as content blocks, and blocks as the events of a stream: the inverse of the decoder.

The only writer of blocks; encoder, emitter and documents call it. All of a part is written, whether a request may hold
it or not: that is decided by the caller.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, assert_never

from assistant_events import messages as msg
from assistant_events.adapters.bedrock_converse import vocabulary as words
from assistant_events.adapters.call_ids import wire_or_own_id
from assistant_events.adapters.claude import in_converse
from assistant_events.adapters.encoded import Item
from assistant_events.adapters.items import BlockKind, joined_state
from assistant_events.adapters.json_fields import Fields, array, mapping, mappings, others, pruned, string, without
from assistant_events.adapters.media_urls import bare_type
from assistant_events.values import Content, MediaContent, TextContent, thaw
from assistant_events.values.validators import NO_FIELDS


def write_block(kind: BlockKind, parts: Sequence[Any]) -> Item | None:
    """Return the block of *parts*, which are all of *kind*, of a call or a result one; `None` when they have none."""
    # Any: the kind determines the class of the parts.
    state = joined_state(kind, parts)
    state = in_converse(state) if kind == "reasoning" else state
    more: Item = pruned(without(state, words.RESERVED), words.UNKNOWN_MEMBER)
    first = parts[0]
    match kind:
        case "text":
            text = {"text": "".join([part.text for part in parts])}
            return {"citationsContent": {"content": [text], **more}} if "citations" in more else {**text, **more}
        case "reasoning" if "redactedContent" in more:
            return {"reasoningContent": {"redactedContent": more["redactedContent"]}}
        case "reasoning":
            return {"reasoningContent": {"reasoningText": {"text": "".join([part.text for part in parts]), **more}}}
        case "call":
            kind_of = {"type": "server_tool_use"} if first.provider_executed else {}
            arguments = thaw(first.input or NO_FIELDS)
            ident = wire_or_own_id(first)
            return {"toolUse": {"toolUseId": ident, "name": first.name, "input": arguments, **kind_of, **more}}
        case "result":
            ident, content = wire_or_own_id(first), list(map(_result_block, first.output))
            if first.error is not None and "status" not in more:  # of another wire
                content, more = content or [{"text": first.error.message}], {**more, "status": "error"}
            return {"toolResult": {"toolUseId": ident, "content": content, **more}}
        case "media":
            return media_block(first)
        case "opaque":
            return dict(mapping(state, "block")) or None
        case _ as never:
            assert_never(never)


def block_events(index: int, block: Fields, arguments: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield a block of a document as the events of a stream; an input of a call as its text *arguments*, if given."""
    start, deltas = _split(block, arguments)
    if start:
        yield {"contentBlockStart": {"contentBlockIndex": index, "start": start}}
    for delta in deltas:
        yield {"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}}
    yield {"contentBlockStop": {"contentBlockIndex": index}}


def _split(block: Fields, arguments: str | None) -> tuple[Item, list[Item]]:
    """Return the start of a block, empty for texts and reasoning, and its deltas; unknown fields are the last one."""
    known = others(block)
    kind = next((key for key in words.BLOCKS if key in known), "")
    start: Item = {}
    deltas: list[Item] = []
    match kind, known.get(kind):
        case "text", str() as text:
            deltas = [{"text": text}]
        case "citationsContent", dict() as cited:
            deltas = [{"text": string(each, "text") or ""} for each in mappings(cited, "content")]
            deltas += [{"citation": each} for each in array(cited, "citations")]
        case "reasoningContent", dict() as reasoning:
            thought = mapping(reasoning, "reasoningText") or reasoning
            deltas = [{kind: {key: value}} for key, value in others(thought).items()]
        case "toolUse", dict() as call if arguments is None:
            start = {kind: call}
        case "toolUse", dict() as call:
            start, deltas = {kind: without(call, {"input"})}, [{kind: {"input": arguments}}]
        case "toolResult", dict() as result:
            start, deltas = {kind: without(result, {"content"})}, [{kind: list(array(result, "content"))}]
        case "image", dict() as image:
            start = {kind: without(image, ("source", "error"))}
            deltas = [{kind: {key: value for key, value in others(image).items() if key in ("source", "error")}}]
        case _:
            return dict(known), []
    rest = without(known, {kind})
    return start, [*deltas, rest] if rest else deltas


def media_block(item: MediaContent | msg.MediaPart) -> Item | None:
    """Return the block of media: of bytes, or of an object of S3; `None` for other addresses and types."""
    uri, data = item.uri or "", item.data
    kind, form = words.MEDIA.get(bare_type(item.media_type), ("", ""))
    if not kind or (data is None and not uri.startswith("s3://")):
        return None
    source: Item = {"s3Location": {"uri": uri}} if data is None else {"bytes": b64encode(data).decode()}
    # "We recommend that you specify a neutral name" (DocumentBlock.name).
    name = {"name": f"document-{sha256(data or uri.encode()).hexdigest()[:12]}"} if kind == "document" else {}
    return {kind: {"format": form, **name, "source": source}}


def _result_block(item: Content) -> Item:
    """Return an item of a result of the provider, as the decoder has read it."""
    if isinstance(item, MediaContent):
        return media_block(item) or {}
    return {"text": item.text} if isinstance(item, TextContent) else {"json": thaw(item.value)}
