"""
Parts of an answer as wire steps: the inverse of the decoder.

The only writer of steps; encoder, emitter and the documents of the mock provider call it. All of a part is written,
whether a request may hold it or not: that is decided by the caller. The one exception is an empty signature, which the
service refuses (googleapis/js-genai#1735).
"""

from __future__ import annotations

from base64 import b64encode
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, assert_never

from assistant_events import messages as msg
from assistant_events.adapters.call_ids import wire_id
from assistant_events.adapters.gemini_interactions import vocabulary
from assistant_events.adapters.items import ItemParts, items_of, text_block
from assistant_events.adapters.json_fields import Fields, mapping, mappings
from assistant_events.history import has_result
from assistant_events.values import Content, JsonContent, MediaContent, State, TextContent, thaw

StepKind: TypeAlias = Literal["model_output", "thought", "call", "result", "opaque"]
"""Kinds of steps that are written alike."""


_Group: TypeAlias = ItemParts[StepKind]


def wire_steps(message: msg.AssistantMessage) -> list[dict[str, Any]]:
    """
    Return the generated steps of an answer in the form of 2.x, as a document lists them. All of it is fresh.

    Parts with the same `i` in their state are one step again. Results of the app are input, and not written; neither
    are calls that the decoder made up for a result without one, and deltas of unknown types.
    """
    steps: list[dict[str, Any]] = []
    for group in _ordered(items_of(message, "i", step_kind, "result")):
        step = write_step(group.kind, group.parts)
        if not step.get("signature", True):
            del step["signature"]
        steps.append(step)
    return steps


def write_step(kind: StepKind, parts: Sequence[Any]) -> dict[str, Any]:
    """Return the step of *parts*, which are all of *kind*: of a call or a result one."""
    # Any: the kind determines the class of the parts.
    return _WRITERS[kind](parts)


def step_kind(part: msg.Part) -> StepKind | None:
    """Return the kind of the step of a part; `None` when it has none. The result of a call is a step of its own."""
    match part:
        case msg.TextPart() | msg.MediaPart():
            return "model_output"
        case msg.ReasoningPart():
            return "thought"
        case msg.OpaquePart():
            if isinstance(part.state.get("content"), Mapping):
                return "model_output"
            is_step = isinstance(part.state.get("step"), Mapping) or isinstance(part.state.get("type"), str)
            return "opaque" if is_step else None
        case msg.ToolPart():
            return None if part.state.get("orphan") is True else "call"
        case _ as never:
            assert_never(never)


def has_step(part: msg.Part) -> bool:
    """Return whether a part, or the result of a call, has a step."""
    return step_kind(part) is not None or (isinstance(part, msg.ToolPart) and has_result(part))


def deltas_of(state: State) -> list[Fields]:
    """Return the raw deltas of unknown types."""
    return mappings({"deltas": thaw(state.get("deltas"))}, "deltas")


def has_unwritten_deltas(state: State) -> bool:
    """Return whether a state has deltas that `wire_steps` does not write: their effect on the step is unknown."""
    step = state.get("step")
    kind = step.get("type") if isinstance(step, Mapping) else None
    return any(delta.get("type") != kind for delta in deltas_of(state))


def call_type(part: msg.ToolPart) -> str:
    """Return the type of the step of a call."""
    kind = part.state.get("type")
    if isinstance(kind, str):
        return kind
    own = f"{part.name}_call"
    return own if part.provider_executed and "i" not in part.state and own in vocabulary.CALLS else "function_call"


def content_block(item: Content) -> dict[str, Any]:
    """Return content as a block of the wire; JSON is sent as JSON text."""
    if not isinstance(item, MediaContent):
        return text_block(msg.plain_text((item,)))
    place = {"uri": item.uri} if item.data is None else {"data": b64encode(item.data).decode()}
    return {"type": media_kind(item.media_type), **place, "mime_type": item.media_type}


def media_kind(media_type: str) -> str:
    """Return the type of the content block of media of this type."""
    kind = media_type.partition("/")[0].lower()
    return kind if kind in vocabulary.MEDIA else "document"


# -- order


def _ordered(groups: list[_Group]) -> list[_Group]:
    """
    Return the steps in their order.

    A result that names no call is known only at the end of its answer. Where a call of its type has no result, it
    followed that call: recordings whose ids were replaced have such pairs.
    """
    ordered: list[_Group] = []
    orphans: list[tuple[msg.ToolPart, _Group]] = []
    waiting: dict[str, deque[int]] = {}
    for group in groups:
        call = group.parts[0] if isinstance(group.parts[0], msg.ToolPart) else None
        if call is not None and group.kind == "result" and call.state.get("orphan") is True:
            orphans.append((call, group))
            continue
        if call is not None and group.kind == "call" and call.provider_executed and not has_result(call):
            waiting.setdefault(call_type(call), deque()).append(len(ordered))
        ordered.append(group)
    behind: dict[int, _Group] = {}
    last: list[_Group] = []
    for call, group in orphans:
        places = waiting.get(call_type(call))
        if places:
            behind[places.popleft()] = group
        else:
            last.append(group)
    return [each for at, group in enumerate(ordered) for each in (group, behind.get(at)) if each is not None] + last


# -- steps


def _thought(parts: Sequence[msg.ReasoningPart]) -> dict[str, Any]:
    step: dict[str, Any] = {"type": "thought"}
    text = ""
    for part in parts:
        text += part.text
        _take(step, part.state, ("signature",))
        if "summary" in part.state:
            # The first is the whole summary so far, those of later parts are what was new.
            step["summary"] = [*step.get("summary", ()), *mappings({"all": thaw(part.state["summary"])}, "all")]
    if "summary" not in step and text:
        step["summary"] = [{"type": "text", "text": text}]
    return _with_extra(step, *[part.state for part in parts])


def _output(parts: Sequence[msg.TextPart | msg.MediaPart | msg.OpaquePart]) -> dict[str, Any]:
    step = {"type": "model_output", "content": [_block(part) for part in parts]}
    return _with_extra(step, *[part.state for part in parts])


def _block(part: msg.TextPart | msg.MediaPart | msg.OpaquePart) -> dict[str, Any]:
    if isinstance(part, msg.OpaquePart):
        raw: dict[str, Any] = thaw(part.state["content"])
        return raw
    more = mapping({"block": thaw(part.state.get("block"))}, "block")
    if isinstance(part, msg.MediaPart):
        return {**_media_block(part), **more}
    block: dict[str, Any] = {"type": "text", "text": part.text}
    _take(block, part.state, ("annotations",))
    return {**block, **more}


def _media_block(part: msg.MediaPart) -> dict[str, Any]:
    kind = part.state.get("type")
    if not isinstance(kind, str):
        kind = media_kind(part.media_type)
    block: dict[str, Any] = {"type": kind}
    if part.data is not None:
        block["data"] = b64encode(part.data).decode()
    else:
        _take(block, part.state, ("data",))
    if part.uri is not None:
        block["uri"] = part.uri
    if part.media_type != f"{kind}/*":
        block["mime_type"] = part.media_type
    return block


def _call(part: msg.ToolPart) -> dict[str, Any]:
    kind = call_type(part)
    step: dict[str, Any] = {"type": kind}
    given = wire_id(part)
    if given is not None:
        step["id"] = given
    if vocabulary.CALLS.get(kind) is None:
        step["name"] = part.name
    if part.input is None:
        step["arguments"] = part.raw_input
    elif part.input or kind not in vocabulary.NO_ARGUMENTS:
        step["arguments"] = part.arguments
    _take(step, part.state, (*vocabulary.DETAILS, "signature"))
    return _with_extra(step, part.state)


def _result(part: msg.ToolPart) -> dict[str, Any]:
    kind = part.result_state.get("type")
    if not isinstance(kind, str):
        kind = call_type(part).removesuffix("_call") + "_result"
    step: dict[str, Any] = {"type": kind}
    given = wire_id(part)
    if given is not None:
        step["call_id"] = given
    if part.output:
        step["result"] = _raw_output(part.output)
    elif part.error is not None and "is_error" not in part.result_state:  # of another dialect
        step["result"] = part.error.message
    if part.status is msg.CallStatus.FAILED:
        step["is_error"] = True
    _take(step, part.result_state, (*vocabulary.DETAILS, "name", "is_error", "signature"))
    return _with_extra(step, part.result_state)


def _raw_output(output: tuple[Content, ...]) -> object:
    """Return the output of a call as a result has it: text, or any JSON."""
    match output:
        case (TextContent(text=text),):
            return text
        case (JsonContent(value=value),):
            return thaw(value)
        case _:
            return [content_block(item) for item in output]


def opaque_step(state: State) -> dict[str, Any]:
    """Return the start of an item that was kept raw, without its deltas."""
    if isinstance(state.get("step"), Mapping):
        raw: dict[str, Any] = thaw(state["step"])
        return raw
    if isinstance(state.get("content"), Mapping):
        return _with_extra({"type": "model_output", "content": [thaw(state["content"])]}, state)
    step = {"type": thaw(state["type"])}
    _take(step, state, ("id", "arguments", *vocabulary.DETAILS, "signature"))
    return _with_extra({key: value for key, value in step.items() if value is not None}, state)


def _opaque(states: Sequence[State]) -> dict[str, Any]:
    step = opaque_step(states[0])
    for delta in [delta for each in states for delta in deltas_of(each)]:
        if "step" in states[0] and delta.get("type") == step.get("type"):
            step.update(delta)  # a delta with the type of its step replaces the fields that it has
    return step


def _take(step: dict[str, Any], state: State, keys: Sequence[str]) -> None:
    step.update({key: thaw(state[key]) for key in keys if key in state})


def _with_extra(step: dict[str, Any], *states: State) -> dict[str, Any]:
    extra: dict[str, Any] = {}
    for state in states:
        extra.update(mapping({"extra": thaw(state.get("extra"))}, "extra"))
    return {**extra, **step}


_WRITERS: dict[StepKind, Callable[[Sequence[Any]], dict[str, Any]]] = {
    "thought": _thought,
    "model_output": _output,
    "call": lambda parts: _call(parts[0]),
    "result": lambda parts: _result(parts[0]),
    "opaque": lambda parts: _opaque([part.state for part in parts]),
}
