"""What of a conversation may go to a model, and why the rest may not."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeAlias, assert_never, final

import attrs

from assistant_events.history.policy import (
    CONTENT_ONLY,
    OTHER_POLICY,
    POLICIES,
    WITHOUT_STATE,
    Policy,
    Relation,
    Subject,
    Treatment,
    Treatments,
)
from assistant_events.messages import (
    AssistantMessage,
    CompactionMessage,
    Message,
    MessageStatus,
    Part,
    PartStatus,
    ReasoningPart,
    TextPart,
    ToolPart,
    Transcript,
    UserMessage,
)
from assistant_events.values import ErrorKind, JsonValue, Origin, State
from assistant_events.values.validators import NO_STATE, Frozen


class DropReason(StrEnum):
    """Why something was left out; `REASONS` says it in a sentence."""

    OTHER_MODEL = "other-model"
    OTHER_PROVIDER = "other-provider"
    UNFINISHED = "unfinished"
    UNANSWERED = "unanswered"
    INCOMPLETE = "incomplete"
    UNSIGNED = "unsigned"
    LINKED = "linked"
    EMPTY = "empty"
    STRIPPED = "stripped"
    UNPLACED = "unplaced"
    UNCALLED = "uncalled"
    NO_ANSWER = "no-answer"
    REWORDED = "reworded"


REASONS: Final[Mapping[DropReason, str]] = MappingProxyType(
    {
        DropReason.OTHER_MODEL: "It was issued by another model of the same provider.",
        DropReason.OTHER_PROVIDER: "It was issued by another provider, or in another dialect.",
        DropReason.UNFINISHED: "Its step did not complete; of such a step only what was said and done goes back.",
        DropReason.UNANSWERED: "Its step did not complete, so the call is not to be run, and nobody has answered it.",
        DropReason.INCOMPLETE: "It was cut, and its state may have been cut with it.",
        DropReason.UNSIGNED: "The dialect takes reasoning back only with what signs it, and nothing signs this.",
        DropReason.LINKED: "Something else of its step cannot go, and in this dialect the two refer to each other.",
        DropReason.EMPTY: "There is nothing in it.",
        DropReason.STRIPPED: "The app asked for the conversation without any state.",
        DropReason.UNPLACED: "A request has no place for it, or none that is known.",
        DropReason.UNCALLED: "Its input was no JSON object, so it was not run; the request answers it with the fault.",
        DropReason.NO_ANSWER: "A call that goes needs an answer, and nobody has given one; the request says so.",
        DropReason.REWORDED: "Without its id, or the signed thought before it, the call is refused: call and answer go "
        "as text.",
    }
)
"""Each reason as a sentence. The last four are given by encoders, the others by `select`."""

REPAIRS: Final = frozenset({DropReason.UNCALLED, DropReason.NO_ANSWER, DropReason.REWORDED})
"""Reasons for which something goes in another form, so that the provider can take it."""


NO_RESULT_KINDS: Final = frozenset({ErrorKind.NO_RESULT, ErrorKind.INTERRUPTED, ErrorKind.INVALID_INPUT})
"""Kinds of the errors that end a call of the provider without a result of the provider."""


@final
@attrs.frozen(repr=False, eq=False)
class Drop(Frozen):
    """Something that an encoder or emitter did not write, or wrote in another form."""

    message_id: str | None
    """`None` for an event without a message."""

    part: int | None
    """Place of the part in its message as the transcript has it, from 0; `None` for the message itself."""

    reason: DropReason | str
    """A reason of `REASONS`, or a sentence about one wire."""

    whole: bool = attrs.field(default=False, kw_only=True)
    """Whether nothing of it goes. Otherwise it goes without its state, or without some of it."""

    def __str__(self) -> str:
        place = "" if self.part is None else f"part {self.part} of "
        what, done = ("", "repaired") if self.reason in REPAIRS else ("" if self.whole else "state of ", "left out")
        reason = REASONS[self.reason] if isinstance(self.reason, DropReason) else self.reason
        return f"{what}{place}message {self.message_id!r} {done}: {reason}"


def has_result(call: ToolPart) -> bool:
    """Tell whether the provider, which ran *call*, gave a result of it."""
    if not call.provider_executed or not call.settled:
        return False
    return bool(call.result_state) or call.error is None or call.error.kind not in NO_RESULT_KINDS


@final
@attrs.frozen(kw_only=True, repr=False, eq=False)
class Selection(Frozen):
    """What may go to a model."""

    messages: tuple[Message, ...]
    """The messages of the conversation, without the parts and the state that may not go."""

    places: tuple[tuple[int, ...], ...]
    """For each message the places that its parts have in the transcript, for whoever leaves out more."""

    left_out: tuple[Drop, ...]
    """What may not go, in the order of the conversation."""


def select(
    conversation: Transcript | Iterable[Message], target: Origin, *, rules: Policy | None = None, strip: bool = False
) -> Selection:
    """
    Return what of a conversation may go to the model that *target* names.

    - What the same origin issued goes as it is. What another model or provider issued goes as the rules say.
    - Of a step that failed, or has not ended, go text, media and the calls that the app has answered, without state.
    - What was cut goes without state. A medium that was cut, and a call of the provider, does not go.
    - Reasoning goes only with what signs it, where the dialect wants that.
    - A summary that was not completed does not go.

    The calls of a completed step stay, answered or not, valid or not: encoders repair what cannot be sent.

    Args:
        conversation: A transcript, of which the `context()` is taken, or messages.

        target: Provider, model and dialect of the next request.

        rules: What to go by instead of the rules of the target's dialect, for example with the `readers` that an app
            knows. `None` takes those of `RULES`, and `OTHER_RULES` for a dialect that is not in there.

        strip: Leave out all state, whoever issued it. For a conversation that its own provider refuses.
    """
    if rules is None:
        rules = POLICIES.get(target.dialect, OTHER_POLICY)
    messages: list[Message] = []
    places: list[tuple[int, ...]] = []
    left_out: list[Drop] = []
    for message in conversation.context() if isinstance(conversation, Transcript) else conversation:
        kept, kept_places, drops = _choose(message, target, rules, strip=strip)
        left_out += drops
        if kept is not None:
            messages.append(kept)
            places.append(kept_places)
    return Selection(messages=tuple(messages), places=tuple(places), left_out=tuple(left_out))


@final
@attrs.frozen(repr=False, eq=False)
class _Limit(Frozen):
    """No more than its cells may go, for one reason. Of several limits the strictest holds, of equal ones the first."""

    cells: Treatments
    reason: DropReason


_PartChoice: TypeAlias = tuple[Part | None, DropReason | None]
# What goes of a part, and why the rest does not.

_MessageChoice: TypeAlias = tuple[Message | None, tuple[int, ...], list[Drop]]
# What goes of a message, the places of its parts, and what does not go.

_RELATED: Final = MappingProxyType(
    {
        Relation.OTHER_MODEL: DropReason.OTHER_MODEL,
        Relation.OTHER_PROVIDER: DropReason.OTHER_PROVIDER,
    }
)
_UNFINISHED: Final = _Limit(CONTENT_ONLY, DropReason.UNFINISHED)
_STRIPPED: Final = _Limit(WITHOUT_STATE, DropReason.STRIPPED)
_CUT: Final = _Limit(attrs.evolve(WITHOUT_STATE, media=Treatment.LEFT_OUT), DropReason.INCOMPLETE)
_STRICTNESS: Final = MappingProxyType({treatment: strictness for strictness, treatment in enumerate(Treatment)})


def _choose(message: Message, target: Origin, rules: Policy, *, strip: bool) -> _MessageChoice:
    match message:
        case UserMessage():
            return message, (), []
        case CompactionMessage():
            return _choose_summary(message, _limits(message, target, rules, strip=strip), rules)
        case AssistantMessage():
            return _choose_answer(message, _limits(message, target, rules, strip=strip), rules)
        case _ as never:
            assert_never(never)


def _limits(
    message: AssistantMessage | CompactionMessage, target: Origin, rules: Policy, *, strip: bool
) -> list[_Limit]:
    limits: list[_Limit] = []
    relation = rules.relation(message.origin, target)
    if relation in _RELATED:
        limits.append(_Limit(rules.treatments(relation), _RELATED[relation]))
    if message.status is not MessageStatus.COMPLETED:
        limits.append(_UNFINISHED)
    if strip:
        limits.append(_STRIPPED)
    return limits


def _strictest(subject: Subject, limits: Iterable[_Limit]) -> tuple[Treatment, DropReason | None]:
    """Return what becomes of a subject, and why when it is not whole."""
    found: Treatment = Treatment.WHOLE
    reason: DropReason | None = None
    for limit in limits:
        treatment = limit.cells.of(subject)
        if _STRICTNESS[treatment] > _STRICTNESS[found]:
            found, reason = treatment, limit.reason
    return found, reason


def _choose_summary(message: CompactionMessage, limits: list[_Limit], rules: Policy) -> _MessageChoice:
    if message.status is not MessageStatus.COMPLETED:
        return None, (), [Drop(message.id, None, DropReason.UNFINISHED, whole=True)]
    treatment, reason = _strictest(Subject.STEP, limits)
    state = _kept(message.state, treatment, rules)
    if reason is None or state == message.state:
        return message, (), []
    return attrs.evolve(message, state=state), (), [Drop(message.id, None, reason)]


def _choose_answer(message: AssistantMessage, limits: list[_Limit], rules: Policy) -> _MessageChoice:
    choices = _choose_parts(message, limits, rules)
    if rules.items_reference_each_other and any(why is not None and why is not DropReason.EMPTY for _, why in choices):
        linked = _choose_parts(message, [*limits, _Limit(rules.other_model, DropReason.LINKED)], rules)
        choices = [(part, first or why) for (part, why), (_, first) in zip(linked, choices, strict=True)]
    left_out: list[Drop] = []
    treatment, reason = _strictest(Subject.STEP, limits)
    if reason is not None and (message.state or message.run is not None):
        message = attrs.evolve(message, state=_kept(message.state, treatment, rules), run=None)
        left_out.append(Drop(message.id, None, reason))
    left_out += [
        Drop(message.id, place, why, whole=part is None) for place, (part, why) in enumerate(choices) if why is not None
    ]
    parts = tuple([part for part, _ in choices if part is not None])
    places = tuple([place for place, (part, _) in enumerate(choices) if part is not None])
    return attrs.evolve(message, parts=parts) if left_out else message, places, left_out


def _choose_parts(message: AssistantMessage, limits: list[_Limit], rules: Policy) -> list[_PartChoice]:
    signed = {
        part.state.get(rules.item_key)
        for part in message.parts
        if rules.item_key is not None and isinstance(part, ReasoningPart) and not _is_cut(part) and _signs(part, rules)
    }
    completed = message.status is MessageStatus.COMPLETED
    return [
        (None, DropReason.UNANSWERED)
        if not completed and isinstance(part, ToolPart) and not part.provider_executed and not part.answered
        else _choose_part(part, [*limits, _CUT] if _is_cut(part) else limits, rules, signed)
        for part in message.parts
    ]


def _choose_part(part: Part, limits: list[_Limit], rules: Policy, signed: Container[JsonValue]) -> _PartChoice:
    treatment, reason = _strictest(_subject(part), limits)
    if treatment is Treatment.LEFT_OUT:
        return None, reason
    kept = part if treatment is Treatment.WHOLE else _without(part, treatment, rules)
    why = None if kept == part else reason
    if isinstance(kept, ReasoningPart) and rules.reasoning_needs_any and not _is_signed(kept, rules, signed):
        return None, why or DropReason.UNSIGNED
    if isinstance(kept, (TextPart, ReasoningPart)) and not kept.text and not kept.state:
        return None, why or DropReason.EMPTY
    return kept, why


def _subject(part: Part) -> Subject:
    if isinstance(part, ToolPart):
        return Subject.PROVIDER_CALL if part.provider_executed else Subject.CALL
    return Subject(part.type)


def _is_cut(part: Part) -> bool:
    status = part.input_status if isinstance(part, ToolPart) else part.status
    return status is PartStatus.INCOMPLETE or status is PartStatus.STREAMING


def _is_signed(part: ReasoningPart, rules: Policy, signed: Container[JsonValue]) -> bool:
    if rules.item_key is None or rules.item_key not in part.state:
        return _signs(part, rules)
    return _signs(part, rules) or part.state[rules.item_key] in signed


def _signs(part: ReasoningPart, rules: Policy) -> bool:
    return any(part.state.get(key) for key in rules.reasoning_needs_any)


def _without(part: Part, treatment: Treatment, rules: Policy) -> Part:
    state = _kept(part.state, treatment, rules)
    if isinstance(part, ToolPart):
        return attrs.evolve(part, state=state, result_state=_kept(part.result_state, treatment, rules))
    return attrs.evolve(part, state=state)


def _kept(state: State, treatment: Treatment, rules: Policy) -> State:
    if treatment is Treatment.WHOLE:
        return state
    if treatment is Treatment.UNBOUND:
        return State({key: value for key, value in state.items() if key not in rules.model_bound_keys})
    return NO_STATE
