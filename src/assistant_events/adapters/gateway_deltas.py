"""
Deltas of Chat Completions as gateways write them: fields in which they put what comes from another provider.

LiteLLM has an object for it, Copilot two fields for a thought of Claude; a few servers send a text in an object or in
an array. Facts: recordings of 2025-03 to 2026-10.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from assistant_events.adapters.json_fields import (
    Fields,
    array,
    extend_arrays,
    is_array,
    is_object,
    listed,
    mapping,
    merged,
    others,
    string,
)

BESIDE: Final = "provider_specific_fields"
"""The object in which LiteLLM has what is of one provider; it repeats there what is in the delta."""

_SEALED: Final = frozenset({"thought_signatures", "compaction_blocks"})
"""Arrays of that object that LiteLLM reads in the next request."""

SEAL: Final = "encrypted_content"
"""Encrypted reasoning that comes in pieces, of Qwen and Doubao."""

STATE: Final = "functions_state_id"
"""The state of a call of GigaChat."""


def learn_returned(state: dict[str, Any], delta: Fields, fields: Collection[str]) -> None:
    """Add what a server wants back in the next request to *state*: *fields* of a delta, and arrays of LiteLLM."""
    beside = mapping(delta, BESIDE)
    extend_arrays(state, BESIDE, {key: beside[key] for key in _SEALED if array(beside, key)}, repeats=True)
    returned = {key: delta[key] for key in fields if delta.get(key) is not None and key != BESIDE}
    if (known := string(state, SEAL)) and returned.get(SEAL) not in (None, known):
        returned[SEAL] = known + (string(returned, SEAL) or "")  # the official client joins texts
    state |= merged(state, returned)


def usual_delta(delta: Fields, repeated: Collection[str]) -> Fields:
    """Return a delta with what gateways have in fields of their own in the usual ones, without fields *repeated*."""
    if thought := string(delta, "thinking"):  # Copilot has thoughts of Claude there, and takes the other field
        delta = {**delta, "reasoning_text": thought, "thinking": None}
    if beside := mapping(delta, BESIDE):
        documents = [item for each in array(beside, "citations") if is_array(each) for item in each if is_object(item)]
        cited = [*listed(beside, "citation"), *documents]
        rest = others(beside, repeated, _SEALED, ("citation", "citations") if cited else ())
        delta = {**delta, BESIDE: rest or None, "annotations": [*array(delta, "annotations"), *cited]}
    return delta


def image_url(item: Fields) -> str | None:
    """Return the address of an image of a delta: in an object, in two (lobe-chat), or in none."""
    inner = mapping(item, "image_url")
    found = [string(inner, "url"), string(mapping(inner, "image_url"), "url"), string(item, "image_url")]
    return next(filter(None, [*found, string(item, "url")]), None)


def text_in(delta: Fields, key: str) -> str | None:
    """Return a text, also that of an object around it or of an array of texts."""
    value = delta.get(key)
    if isinstance(value, str):
        return value
    texts = array(delta, key)
    if texts and all(isinstance(each, str) for each in texts):
        return "".join(texts)
    return string(mapping(delta, key), "content") or string(mapping(delta, key), "text")


__all__ = ["BESIDE", "SEAL", "STATE", "image_url", "learn_returned", "text_in", "usual_delta"]
