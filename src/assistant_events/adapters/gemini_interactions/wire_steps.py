"""
Parts of an answer back to wire steps: what the decoder does, the other way round.

Everything is written as it stands, whether it may be sent or not: that is for the caller to choose. Only what the
service is known to refuse is never written, an empty signature (googleapis/js-genai#1735).
"""

from __future__ import annotations

from base64 import b64encode
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, assert_never

from assistant_events.adapters.gemini_interactions import vocabulary
from assistant_events.adapters.json_fields import Fields, mapping, mappings
from assistant_events.events import MediaEnded
from assistant_events.messages import (
    AssistantMessage,
    CallStatus,
    MediaPart,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolPart,
)
from assistant_events.values import Content, ErrorKind, JsonContent, MediaContent, State, TextContent, thaw, write_json

DETAILS: Final = ("search_type", "server_name", "retrieval_type")
"""Fields of calls and results that stand in their state under their own names."""

NO_ARGUMENTS: Final = frozenset({"file_search_call", "processing_call", "google_maps_call"})
"""Calls that have no arguments, or need none."""

NO_ANSWER: Final = frozenset({ErrorKind.NO_RESULT, ErrorKind.INTERRUPTED, ErrorKind.INVALID_INPUT})
"""Kinds of errors that stand where the provider gave no result."""


class WrittenStep(NamedTuple):
    """A wire step, and what it was made of."""

    step: dict[str, Any]
    """Fresh plain JSON."""

    parts: tuple[int, ...]
    """Places of its parts in the message, from 0."""

    is_result: bool = False
    """Whether it is the result of a call, not the call."""


class _Group(NamedTuple):
    """Parts of one wire step."""

    rank: int
    type: str
    items: list[tuple[int, Part]]

    @property
    def call(self) -> ToolPart:
        """The call of a step that is one, or the result of one."""
        part = self.items[0][1]
        assert isinstance(part, ToolPart)
        return part

    @property
    def is_lost(self) -> bool:
        """Whether it is a result that names no call."""
        return self.type == "result" and self.call.state.get("orphan") is True

    @property
    def is_unanswered(self) -> bool:
        """Whether it is a call of the provider that has no result."""
        return self.type == "call" and self.call.provider_executed and not has_result(self.call)


def wire_steps(message: AssistantMessage) -> list[dict[str, Any]]:
    """
    Return the generated steps of an answer in the form of 2.x, as a resource lists them. All of it is fresh.

    Parts with the same `i` in their state are one step again. Answers of the app are not in there: they are input.
    Calls that the decoder made up for a result that came alone are not written, nor are deltas of unknown types.
    """
    # Any: plain JSON.
    return [written.step for written in written_steps(message)]


def written_steps(message: AssistantMessage) -> list[WrittenStep]:
    """Return what `wire_steps` returns, with the parts that each step was made of."""
    written: list[WrittenStep] = []
    for group in _ordered(_groups(message)):
        step = _write(group.type, [part for _, part in group.items])
        if "signature" in step and not step["signature"]:
            del step["signature"]
        written.append(WrittenStep(step, tuple([place for place, _ in group.items]), group.type == "result"))
    return written


def wire_id(part: ToolPart) -> str | None:
    """Return the id that the provider gave a call; `None` when it gave none. Where it gave another, state has it."""
    if "id" not in part.state:
        return part.call_id
    given = part.state["id"]
    return given if isinstance(given, str) else None


def unwritten_deltas(state: State) -> bool:
    """Tell whether a state holds deltas of which nobody knows what they make of their step."""
    step = state.get("step")
    kind = step.get("type") if isinstance(step, Mapping) else None
    return any(delta.get("type") != kind for delta in _deltas(state))


def media_kind(media_type: str) -> str:
    """Return the type of the content block that holds media of this type."""
    kind = media_type.partition("/")[0].lower()
    return kind if kind in vocabulary.MEDIA else "document"


def base64(data: bytes) -> str:
    """Return the form that bytes have on this wire: standard base64, padded."""
    return b64encode(data).decode()


def _ordered(groups: Collection[_Group]) -> list[_Group]:
    """
    Return the steps in their order.

    A result that names no call is known only at the end of its answer. Where a call of its type has no result, that is
    the one it followed: recordings whose ids were replaced have such pairs.
    """
    ordered = sorted([group for group in groups if not group.is_lost], key=lambda group: group.rank)
    waiting: dict[str, deque[int]] = {}
    for at, group in enumerate(ordered):
        if group.is_unanswered:
            waiting.setdefault(call_type(group.call), deque()).append(at)
    behind: dict[int, _Group] = {}
    last: list[_Group] = []
    for lost in [group for group in groups if group.is_lost]:
        places = waiting.get(call_type(lost.call))
        if places:
            behind[places.popleft()] = lost
        else:
            last.append(lost)
    return [each for at, group in enumerate(ordered) for each in (group, behind.get(at)) if each is not None] + last


def _groups(message: AssistantMessage) -> Collection[_Group]:
    groups: dict[object, _Group] = {}
    latest = -1
    for place, part in enumerate(message.parts):
        for state, kind in _kinds(part):
            number = _place_of(state)
            latest = latest if number is None else number
            key = (place, kind) if number is None else (None, number, kind)
            groups.setdefault(key, _Group(latest, kind, [])).items.append((place, part))
    return groups.values()


def _place_of(state: State) -> int | None:
    place = state.get("i")
    return place if isinstance(place, int) and not isinstance(place, bool) else None


def _kinds(part: Part) -> Iterator[tuple[State, str]]:
    """Yield the steps that a part belongs to: none, one, or two for a call with a result."""
    match part:
        case TextPart() | MediaPart():
            yield part.state, "model_output"
        case ReasoningPart():
            yield part.state, "thought"
        case OpaquePart():
            if isinstance(part.state.get("content"), Mapping):
                yield part.state, "model_output"
            elif isinstance(part.state.get("step"), Mapping) or isinstance(part.state.get("type"), str):
                yield part.state, "opaque"
        case ToolPart():
            if part.state.get("orphan") is not True:
                yield part.state, "call"
            if has_result(part):
                yield part.result_state, "result"
        case _ as never:
            assert_never(never)


def has_result(part: ToolPart) -> bool:
    """Tell whether the provider gave a result of a call."""
    if not part.provider_executed or not part.settled:
        return False
    return bool(part.result_state) or part.error is None or part.error.kind not in NO_ANSWER


def _write(kind: str, parts: Sequence[Any]) -> dict[str, Any]:
    # Any: the kind of a group says of which class its parts are.
    match kind:
        case "thought":
            return _thought(parts)
        case "model_output":
            return _output(parts)
        case "call":
            return _call(parts[0])
        case "result":
            return _result(parts[0])
        case _:
            return _opaque([part.state for part in parts])


def _thought(parts: Sequence[ReasoningPart]) -> dict[str, Any]:
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


def _output(parts: Sequence[TextPart | MediaPart | OpaquePart]) -> dict[str, Any]:
    step = {"type": "model_output", "content": [_block(part) for part in parts]}
    return _with_extra(step, *[part.state for part in parts])


def _block(part: TextPart | MediaPart | OpaquePart) -> dict[str, Any]:
    if isinstance(part, OpaquePart):
        raw: dict[str, Any] = thaw(part.state["content"])
        return raw
    if isinstance(part, MediaPart):
        return medium(part)
    block: dict[str, Any] = {"type": "text", "text": part.text}
    if "annotations" in part.state:
        block["annotations"] = thaw(part.state["annotations"])
    return {**block, **_more(part.state)}


def medium(part: MediaPart | MediaEnded) -> dict[str, Any]:
    """Return a medium as a block of the wire."""
    kind = part.state.get("type")
    if not isinstance(kind, str):
        kind = media_kind(part.media_type)
    block: dict[str, Any] = {"type": kind}
    if part.data is not None:
        block["data"] = base64(part.data)
    elif "data" in part.state:
        block["data"] = thaw(part.state["data"])
    if part.uri is not None:
        block["uri"] = part.uri
    if part.media_type != f"{kind}/*":
        block["mime_type"] = part.media_type
    return {**block, **_more(part.state)}


def _more(state: State) -> Fields:
    """Return fields of a content block that nobody knows."""
    return mapping({"block": thaw(state.get("block"))}, "block")


def call_type(part: ToolPart) -> str:
    """Return the type of the step that a call stands in."""
    kind = part.state.get("type")
    if isinstance(kind, str):
        return kind
    result = part.result_state.get("type")
    if isinstance(result, str) and result.endswith("_result"):
        return result.removesuffix("_result") + "_call"
    own = f"{part.name}_call"
    return own if part.provider_executed and "i" not in part.state and own in vocabulary.CALLS else "function_call"


def _call(part: ToolPart) -> dict[str, Any]:
    kind = call_type(part)
    step: dict[str, Any] = {"type": kind}
    given = wire_id(part)
    if given is not None:
        step["id"] = given
    if vocabulary.CALLS.get(kind) is None:
        step["name"] = part.name
    if part.input is None:
        step["arguments"] = part.raw_input
    elif part.input or kind not in NO_ARGUMENTS:
        step["arguments"] = part.arguments
    _take(step, part.state, (*DETAILS, "signature"))
    return _with_extra(step, part.state)


def _result(part: ToolPart) -> dict[str, Any]:
    kind = part.result_state.get("type")
    if not isinstance(kind, str):
        kind = call_type(part).removesuffix("_call") + "_result"
    step: dict[str, Any] = {"type": kind}
    given = wire_id(part)
    if given is not None:
        step["call_id"] = given
    if part.output:
        step["result"] = raw_output(part.output)
    if part.status is CallStatus.FAILED:
        step["is_error"] = True
    _take(step, part.result_state, (*DETAILS, "name", "is_error", "signature"))
    return _with_extra(step, part.result_state)


def raw_output(output: tuple[Content, ...]) -> object:
    """Return the answer of a call as it stands in a result: text, or any JSON."""
    match output:
        case (TextContent(text=text),):
            return text
        case (JsonContent(value=value),):
            return thaw(value)
        case _:
            return [content_block(item) for item in output]


def content_block(item: Content) -> dict[str, Any]:
    """Return content as a block of the wire; JSON is JSON text."""
    match item:
        case TextContent():
            return {"type": "text", "text": item.text}
        case JsonContent():
            return {"type": "text", "text": write_json(item.value).decode()}
        case MediaContent():
            place = {"uri": item.uri} if item.data is None else {"data": base64(item.data)}
            return {"type": media_kind(item.media_type), **place, "mime_type": item.media_type}
        case _ as never:
            assert_never(never)


def _opaque(states: Sequence[State]) -> dict[str, Any]:
    state, *_ = states
    raw = state.get("step")
    if isinstance(raw, Mapping):
        step: dict[str, Any] = thaw(raw)
        for delta in [delta for each in states for delta in _deltas(each)]:
            if delta.get("type") == step.get("type"):
                step.update(delta)  # A delta that is named as its step replaces the fields that it has.
        return step
    step = {"type": thaw(state["type"])}
    _take(step, state, ("id", "arguments", *DETAILS, "signature"))
    return _with_extra({key: value for key, value in step.items() if value is not None}, state)


def _take(step: dict[str, Any], state: State, keys: Sequence[str]) -> None:
    step.update({key: thaw(state[key]) for key in keys if key in state})


def _with_extra(step: dict[str, Any], *states: State) -> dict[str, Any]:
    extra: dict[str, Any] = {}
    for state in states:
        extra.update(mapping({"extra": thaw(state.get("extra"))}, "extra"))
    return {**extra, **step}


def _deltas(state: State) -> list[Fields]:
    """Return the raw deltas of a step that is not known."""
    return mappings({"deltas": thaw(state.get("deltas"))}, "deltas")
