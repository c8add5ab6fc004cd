"""
Messages of a conversation as steps of a request's `input`, and what of them does not go.

`replay.select` says which state may go. What is refused nevertheless is repaired here, and each repair reported: a call
without an answer, a call without its signed thought, a call that was never one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, assert_never

import attrs

from assistant_events.adapters.gemini_interactions import vocabulary
from assistant_events.adapters.gemini_interactions.vocabulary import DETAILS
from assistant_events.adapters.gemini_interactions.wire_steps import (
    call_type,
    content_block,
    has_unwritten_deltas,
    wire_id,
    wire_steps,
)
from assistant_events.history import Drop, DropReason, Policy, Relation, has_result, select
from assistant_events.messages import (
    AssistantMessage,
    CallStatus,
    CompactionMessage,
    MediaPart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolPart,
    UserMessage,
)
from assistant_events.values import (
    Content,
    JsonContent,
    JsonObject,
    MediaContent,
    Origin,
    State,
    TextContent,
    write_json,
)

Step = dict[str, Any]
# Any: plain JSON.

NO_ANSWER: Final = "No result is available for this call."
"""What a call is answered with that nobody has answered."""

_PLACED: Final[Mapping[str, frozenset[str]]] = {
    "text": frozenset({"i", "extra", "deltas", "annotations", "block"}),
    "reasoning": frozenset({"i", "extra", "deltas", "summary", "signature"}),
    "media": frozenset({"i", "extra", "deltas", "type", "block", "data"}),
    "tool": frozenset({"i", "extra", "deltas", "id", "type", "signature", "orphan", *DETAILS}),
    "opaque": frozenset({"i", "extra", "step", "deltas", "content", "type", "id", "arguments", "signature", *DETAILS}),
}
"""Keys of a part's state that have a place in its step."""

_PLACED_OF_RESULTS: Final = frozenset({"i", "extra", "deltas", "type", "name", "is_error", "signature", *DETAILS})


class EncodedMessage(NamedTuple):
    """A message as it goes into `input`."""

    steps: list[Step]

    answers: list[Step]
    """What the app answers to its calls, in their order; they belong behind the answer, which may go on in a hop."""

    left_out: list[Drop]


def encode_message(message: Message, target: Origin, rules: Policy, *, strip: bool) -> EncodedMessage:
    """
    Return a message as steps.

    Args:
        message: Of the conversation.

        target: Whom the request goes to.

        rules: What may go there.

        strip: Leave out all state.
    """
    match message:
        case UserMessage():
            return _of_user(message.id, message.content)
        case CompactionMessage():
            return _of_summary(message, target, rules, strip=strip)
        case AssistantMessage():
            return _Answer(message, target, rules, strip=strip).spoken()
        case _ as never:
            assert_never(never)


def _of_user(message_id: str, content: Iterable[Content]) -> EncodedMessage:
    blocks = [content_block(item) for item in content if not (isinstance(item, TextContent) and not item.text)]
    if not blocks:
        return EncodedMessage([], [], [Drop(message_id, None, DropReason.EMPTY, whole=True)])
    return EncodedMessage([_user_input(blocks)], [], [])


def _user_input(blocks: list[Step]) -> Step:
    return {"type": "user_input", "content": blocks}


def _of_summary(message: CompactionMessage, target: Origin, rules: Policy, *, strip: bool) -> EncodedMessage:
    selection = select([message], target, rules=rules, strip=strip)
    steps: list[Step] = []
    left_out = list(selection.left_out)
    for kept in selection.messages:
        assert isinstance(kept, CompactionMessage)
        if kept.state:
            left_out.append(Drop(message.id, None, DropReason.UNPLACED))
        spoken = _of_user(message.id, (TextContent(kept.text),))
        steps += spoken.steps
        left_out += spoken.left_out
    return EncodedMessage(steps, [], left_out)


class _Answer:
    """An answer on its way into a request."""

    def __init__(self, message: AssistantMessage, target: Origin, rules: Policy, *, strip: bool) -> None:
        self._message = message
        self._own = rules.relation(message.origin, target) is not Relation.OTHER_PROVIDER
        selection = select([message], target, rules=rules, strip=strip)
        [kept], [self._places] = selection.messages, selection.places
        assert isinstance(kept, AssistantMessage)
        self._kept = kept
        self._drops = list(selection.left_out)

    def spoken(self) -> EncodedMessage:
        """Choose, write and answer."""
        lost = self._lost_thought()
        going: list[tuple[int, Part]] = []
        reworded: list[ToolPart] = []
        for place, kept in zip(self._places, self._kept.parts, strict=True):
            part = self._identified(place, kept)
            if self._cannot_go(place, part):
                continue
            if _is_refused(part) or (lost is not None and place > lost and _is_ours(part)):
                assert isinstance(part, ToolPart)
                self._drop(place, DropReason.REWORDED)
                self._note_answer(place, part)
                reworded.append(part)
            else:
                self._note_unplaced(place, part)
                going.append((place, part))
        steps, answers = self._written(going)
        if reworded:
            answers.append(_user_input([block for call in reworded for block in _in_words(call)]))
        self._drops.sort(key=lambda drop: -1 if drop.part is None else drop.part)
        return EncodedMessage(steps, answers, self._drops)

    def _drop(self, place: int, reason: DropReason, *, whole: bool = False) -> None:
        self._drops.append(Drop(self._message.id, place, reason, whole=whole))

    def _lost_thought(self) -> int | None:
        """
        Return the place of the first signed thought that does not go; `None` when all go.

        Without it Gemini 3 refuses to go on from the calls that follow it (obsidian-gemini#1269, 2026).
        """
        if not self._own:
            return None
        going = frozenset(self._places)
        for place, part in enumerate(self._message.parts):
            if isinstance(part, ReasoningPart) and part.state.get("signature") and place not in going:
                return place
        return None

    def _cannot_go(self, place: int, part: Part) -> bool:
        """Drop what would be refused, or says nothing."""
        reason: DropReason | None = None
        match part:
            case TextPart() if not part.text and not part.state.keys() - {"i"}:
                reason = DropReason.EMPTY
            case MediaPart() if not part.data and part.uri is None and "data" not in part.state:
                reason = DropReason.EMPTY
            case OpaquePart() if _is_unknown(part.state):
                reason = DropReason.UNPLACED
            case _:
                pass
        if reason is not None:
            self._drop(place, reason, whole=True)
        return reason is not None

    def _note_unplaced(self, place: int, part: Part) -> None:
        unplaced = part.state.keys() - _PLACED[part.type] or has_unwritten_deltas(part.state)
        if isinstance(part, ToolPart):
            placed = _PLACED_OF_RESULTS if part.provider_executed else frozenset[str]()
            unplaced = unplaced or part.result_state.keys() - placed or has_unwritten_deltas(part.result_state)
        if unplaced:
            self._drop(place, DropReason.UNPLACED)

    def _identified(self, place: int, part: Part) -> Part:
        """Give a call that goes without its state the id back that the provider gave: it is its name, not its state."""
        state = self._message.parts[place].state
        if isinstance(part, ToolPart) and self._own and "id" in state and "id" not in part.state:
            return attrs.evolve(part, state=State({**part.state, "id": state["id"]}))
        return part

    def _written(self, going: list[tuple[int, Part]]) -> tuple[list[Step], list[Step]]:
        answers: list[Step] = []
        parts: list[Part] = []
        for place, part in going:
            sent = part
            if isinstance(part, ToolPart):
                answers += self._answers(place, part)
                if part.input is None:
                    sent = attrs.evolve(part, input=JsonObject())
            parts.append(sent)
        return wire_steps(attrs.evolve(self._kept, parts=tuple(parts))), answers

    def _answers(self, place: int, part: ToolPart) -> list[Step]:
        """Return what the app has to say to a call: nothing where the provider says it."""
        if call_type(part) != "function_call" or has_result(part):
            if part.input is None:
                self._drop(place, DropReason.UNPLACED)
            return []
        self._note_answer(place, part)
        return [function_result(part)]

    def _note_answer(self, place: int, part: ToolPart) -> None:
        if not _is_answered(part):
            self._drop(place, DropReason.NO_ANSWER)
        elif part.input is None:
            self._drop(place, DropReason.UNCALLED)


def function_result(part: ToolPart) -> Step:
    """
    Return the answer of the app to a call as a step.

    `name` stands in it always: without it the service answered 400 (robocurve/inspect-robots#380).
    """
    step: Step = {
        "type": "function_result",
        "call_id": wire_id(part),
        "name": part.name,
        "result": _result(part),
    }
    if part.status is CallStatus.FAILED or not _is_answered(part):
        step["is_error"] = True
    return step


def _is_answered(part: ToolPart) -> bool:
    """Tell whether the app has said what became of a call."""
    return part.settled and not part.provider_executed


def _is_ours(part: Part) -> bool:
    return isinstance(part, ToolPart) and not part.provider_executed


def _is_refused(part: Part) -> bool:
    """Tell whether a call that needs an answer has no id: then no result can name it."""
    if not isinstance(part, ToolPart) or wire_id(part):
        return False
    return call_type(part) == "function_call" and not has_result(part)


def _result(part: ToolPart) -> str | list[Step]:
    """Return the output: a text as it is, JSON as JSON text, anything else as blocks."""
    match part.output:
        case ():
            return _fault(part)
        case (TextContent() | JsonContent() as item,):
            fault = _fault(part)
            said = _text(item)
            return f"{fault}\n{said}" if fault and fault != said else said
        case _:
            fault = _fault(part)
            blocks = [content_block(item) for item in part.output]
            return [{"type": "text", "text": fault}, *blocks] if fault else blocks


def _fault(part: ToolPart) -> str:
    """Return what is wrong with a call; nothing when it did well."""
    if not _is_answered(part):
        return NO_ANSWER
    if part.status is not CallStatus.FAILED:
        return ""
    fault = "" if part.error is None else part.error.message or str(part.error.kind)
    if part.input is None:
        return f"The call was not run: {fault}"
    return fault


def _text(item: TextContent | JsonContent) -> str:
    return item.text if isinstance(item, TextContent) else write_json(item.value).decode()


def _in_words(part: ToolPart) -> list[Step]:
    """Return a call and its answer as content."""
    arguments = part.raw_input if part.input is None else write_json(part.input).decode()
    fault = _fault(part)
    said = f"{part.name} was called with {arguments}. "
    said += f"It failed: {fault}" if fault else "It answered:" if part.output else "It answered nothing."
    blocks: list[Step] = [{"type": "text", "text": said}]
    for item in part.output:
        if isinstance(item, MediaContent):
            blocks.append(content_block(item))
        elif _text(item):
            blocks.append({"type": "text", "text": _text(item)})
    return blocks


def _is_unknown(state: State) -> bool:
    """Tell whether an opaque item has no place: none of this wire, the rest of a known step, a call without a name."""
    step = state.get("step")
    if isinstance(step, Mapping):
        kind = step.get("type")
        return not isinstance(kind, str) or not kind or vocabulary.is_known(kind)
    kind = state.get("type")
    return kind == "function_call" or not (isinstance(kind, str) or isinstance(state.get("content"), Mapping))
