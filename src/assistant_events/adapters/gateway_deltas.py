"""
Deltas of Chat Completions as gateways write them: fields in which they put what comes from another provider.

LiteLLM has an object for it, Portkey the blocks of Claude and Gemini, Copilot two fields for a thought of Claude; a few
servers send a text in an object or in an array, or all of it in each delta. Facts: recordings of 2025-03 to 2026-10.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from assistant_events.adapters.base import DecoderBase
from assistant_events.adapters.items import text_block
from assistant_events.adapters.json_fields import (
    Fields,
    array,
    extend_arrays,
    filled,
    is_array,
    is_object,
    listed,
    mapping,
    mappings,
    merged,
    others,
    string,
)
from assistant_events.adapters.media_urls import read_data_url
from assistant_events.recorder.fragments import OpenFragment
from assistant_events.values import MediaContent

BESIDE: Final = "provider_specific_fields"
"""The object in which LiteLLM has what is of one provider; it repeats there what is in the delta."""

_SEALED: Final = frozenset({"thought_signatures", "compaction_blocks"})
"""Arrays of that object that LiteLLM reads in the next request."""

_SEAL: Final = "encrypted_content"
"""Encrypted reasoning that comes in pieces, of Qwen and Doubao."""

_STATE: Final = "functions_state_id"
"""The state of a call of GigaChat."""

_MARKED: Final = "reasoning_encrypted"
"""The mark of Venice on a thought with an encrypted copy behind it, and the copy in the state of the answer."""

_MARK: Final = "__ENCRYPTED_REASONING__"
"""What Venice has in front of the copy. It reads all behind it as the copy, so this is the end of a thought."""

_OF_THOUGHTS: Final = "reasoning_logprobs"
"""The field with the log probabilities of a thought, of Cerebras."""

BLOCKS: Final = "content_blocks"
"""
The blocks of Claude beside the content, of Portkey: whole ones in a document, deltas without a type in a stream. Of a
request it reads them instead of the content.
"""

_THOUGHTS: Final = {"thinking": "thinking", "signature": "thinking", "data": "redacted_thinking"}
"""By a field of such a block, the type of a thought."""

_SO_FAR: Final = re.compile("qwen-mt-(?:plus|turbo)")
"""Models each of whose deltas has all of the text so far (help.aliyun.com: qwen-mt)."""

GATEWAY_STATE: Final = (_STATE, _SEAL, _MARKED, BESIDE)
"""Fields of a message that gateways and other servers want back."""


def learn_returned(state: dict[str, Any], delta: Fields, fields: Collection[str]) -> None:
    """Add what a server wants back in the next request to *state*: *fields* of a delta, and arrays of LiteLLM."""
    beside = mapping(delta, BESIDE)
    extend_arrays(state, BESIDE, {key: beside[key] for key in _SEALED if array(beside, key)}, repeats=True)
    returned = {key: delta[key] for key in fields if delta.get(key) is not None and key != BESIDE}
    if returned.pop(_MARKED, False) and (copy := _read_marked(delta)[1]):
        returned[_MARKED] = copy
    if (known := string(state, _SEAL)) and returned.get(_SEAL) not in (None, known):
        returned[_SEAL] = known + (string(returned, _SEAL) or "")  # the official client joins texts
    state |= merged(state, returned)


def usual_delta(decoder: DecoderBase, event: Fields, delta: Fields, repeated: Collection[str]) -> Fields:
    """
    Return a delta with what gateways have in fields of their own in the usual ones, without fields *repeated*.

    Of a delta with all of the text so far it has what is new. The states of a diffusion (Inception) rewrite each other:
    the last one is the text, and none has deltas.
    """
    text = string(delta, "content")
    if text and mapping(event, "diffusion_meta").get("diffusion_content") is True:
        decoder.recorder.begin(None, "text")
        decoder.replace_text(None, text)
        delta = {**delta, "content": None}
    elif text and _SO_FAR.search(string(event, "model") or ""):
        opened = decoder.recorder.open_of(None)
        so_far = opened.buffer.value() if isinstance(opened, OpenFragment) else ""
        delta = {**delta, "content": text.removeprefix(so_far)}
    if thought := string(delta, "thinking"):  # Copilot has thoughts of Claude there, and takes the other field
        delta = {**delta, "reasoning_text": thought, "thinking": None}
    if BLOCKS in delta:
        blocks = [{**each, **mapping(each, "delta")} for each in mappings(delta, BLOCKS)]
        delta = _with_blocks(decoder, delta, blocks)
    if delta.get(_MARKED):
        delta = {**delta, "reasoning_content": _read_marked(delta)[0] or None}
    if beside := mapping(delta, BESIDE):
        documents = [item for each in array(beside, "citations") if is_array(each) for item in each if is_object(item)]
        cited = [*listed(beside, "citation"), *documents]
        rest = others(beside, repeated, _SEALED, ("citation", "citations") if cited else ())
        delta = {**delta, BESIDE: rest or None, "annotations": [*array(delta, "annotations"), *cited]}
    return delta


def image_in(item: Fields) -> MediaContent | None:
    """Return the image of a delta, whose address is in an object, in two (lobe-chat), or in none."""
    inner = mapping(item, "image_url")
    found = [string(inner, "url"), string(mapping(inner, "image_url"), "url"), string(item, "image_url")]
    url = next(filter(None, [*found, string(item, "url")]), None)
    if url is None:
        return None
    media_type, data = read_data_url(url) or ("image/png", None)
    return MediaContent(media_type=media_type, data=data, uri=None if data else url)


def learn_logprobs(details: dict[str, Any], choice: Fields) -> bool:
    """
    Add the log probabilities of a choice to *details*, and return whether it has any.

    Chunks of Together have the number of one token, and its documents an array of them; Cerebras has those of a thought
    in a field of their own, which stays in the choice.
    """
    given, thought = choice.get("logprobs"), mapping(choice, _OF_THOUGHTS)
    found = {"token_logprobs": [given]} if isinstance(given, (int, float)) else mapping(choice, "logprobs")
    extend_arrays(details, "logprobs", found)
    if thought:
        extend_arrays(details.setdefault("choice", {}), _OF_THOUGHTS, thought)
    return bool(found or thought)


def with_returned(message: Fields, returned: Fields, *, mark: bool = False) -> dict[str, Any]:
    """
    Return a message with what its server wants back.

    Args:
        message: The message, or a delta.

        returned: Fields that `learn_returned` has learned.

        mark: Whether an encrypted copy of a thought has its mark beside it, as in an answer.
    """
    if BLOCKS in returned:
        returned = {**returned, BLOCKS: [*array(message, BLOCKS), *array(returned, BLOCKS)]}
    copy = returned.get(_MARKED)
    if not isinstance(copy, str):
        return {**message, **returned}
    thought = (string(message, "reasoning_content") or "") + copy
    marked = {_MARKED: True} if mark else {}
    return {**message, **others(returned, (_MARKED,)), "reasoning_content": thought, **marked}


def whole_blocks(written: Iterable[Fields]) -> list[Any]:
    """Return the blocks of a message of Portkey: its thoughts and, in their order, its content."""
    values = [each[key] for each in written for key in (BLOCKS, "content") if each.get(key)]
    return [block for value in values for block in ([text_block(value)] if isinstance(value, str) else value)]


def message_each_block(message: Fields) -> list[Fields]:
    """Return a message for each block of one of Portkey, in their order, and one of all else; none without blocks."""
    blocks = mappings(message, BLOCKS)
    if not blocks or (message.get("content") and not _text_of(blocks)):
        return []
    each_block = [{"content": string(each, "text"), BLOCKS: [each]} for each in blocks]
    return [*each_block, {"role": "assistant", **others(message, (BLOCKS, "content"))}]


def text_in(delta: Fields, key: str) -> str | None:
    """Return a text, also that of an object around it or of an array of texts."""
    value = delta.get(key)
    if isinstance(value, str):
        return value
    texts = array(delta, key)
    if texts and all(isinstance(each, str) for each in texts):
        return "".join(texts)
    return string(mapping(delta, key), "content") or string(mapping(delta, key), "text")


def _text_of(blocks: Iterable[Fields]) -> str:
    return "".join([string(each, "text") or "" for each in blocks])


def _with_blocks(decoder: DecoderBase, delta: Fields, blocks: Sequence[Fields]) -> Fields:
    """
    Return a delta with the thoughts, images and sources among *blocks*; the rest is details of the message.

    Their texts are its content, of which Portkey has the last one alone where they are Gemini's.
    """
    thoughts: list[Fields] = []
    images = [*array(delta, "images")]
    rest: list[Fields] = []
    cited = [*array(delta, "annotations")]
    for block in blocks:
        facts = filled(block, ("index", "delta", "type", "text", "citation", "citations"))
        kind = string(block, "type") or next((_THOUGHTS[key] for key in _THOUGHTS if key in facts), "")
        cited += [*listed(block, "citation"), *array(block, "citations")]
        if kind in _THOUGHTS.values():
            thoughts.append({"type": kind, **facts})
        elif kind == "image_url":
            images.append(block)
        elif facts:
            rest.append(others(block, ("index", "delta")))
    if rest:
        extend_arrays(decoder.step_details, "message", {BLOCKS: rest}, repeats=True)
    text = _text_of(blocks) or delta.get("content")
    return {**delta, "content": text, BLOCKS: thoughts, "annotations": cited, "images": images}


def _read_marked(delta: Fields) -> tuple[str, str]:
    """Return the thought of a delta, and its encrypted copy with what is in front of it."""
    text = string(delta, "reasoning_content") or ""
    thought, mark, _ = text.partition(_MARK)
    thought = thought.removesuffix("\n\n") if mark else text
    return thought, text[len(thought) :]
