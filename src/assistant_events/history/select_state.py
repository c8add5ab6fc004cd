"""What of a conversation may be sent to a model, and why the rest may not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeAlias, assert_never, final

import attrs

from assistant_events import messages as msg
from assistant_events.history.policy import (
    CONTENT_ONLY,
    DEFAULT_POLICY,
    WITHOUT_STATE,
    Policy,
    Relation,
    Subject,
    Treatment,
    Treatments,
)
from assistant_events.values import ErrorKind, JsonValue, Origin, State
from assistant_events.values.validators import NO_STATE, Frozen

NO_RESULT_KINDS: Final = frozenset({ErrorKind.NO_RESULT, ErrorKind.INTERRUPTED, ErrorKind.INVALID_INPUT})
"""Kinds of `tool.failed` that are recorded when the provider gave no result for a call of its own."""


class DropReason(StrEnum):
    """Why something was not sent, or was sent in another form. `REASONS` has a sentence for each."""

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
    UNSUPPORTED = "unsupported"
    UNCALLED = "uncalled"
    NO_ANSWER = "no-answer"
    REWORDED = "reworded"
    PLACEHOLDER = "placeholder"


REASONS: Final[Mapping[DropReason, str]] = MappingProxyType(
    {
        DropReason.OTHER_MODEL: "It was issued by another model of the same provider.",
        DropReason.OTHER_PROVIDER: "It was issued by another provider, or in another dialect.",
        DropReason.UNFINISHED: "Its step did not complete; only the content of such a step is sent.",
        DropReason.UNANSWERED: "The call has no answer, and none will come.",
        DropReason.INCOMPLETE: "It was cut, and its state may be incomplete.",
        DropReason.UNSIGNED: "The dialect accepts reasoning only with a signature, and this has none.",
        DropReason.LINKED: "Another item of its step cannot be sent, and in this dialect items reference each other.",
        DropReason.EMPTY: "It is empty.",
        DropReason.STRIPPED: "The caller asked for the conversation without state, or the provider has refused to "
        "read what is before its refusal.",
        DropReason.UNPLACED: "The wire has no field for it, or none that is known.",
        DropReason.UNSUPPORTED: "The request cannot hold content of this kind.",
        DropReason.UNCALLED: "The arguments were not a JSON object, so the call was not executed; "
        "the request reports that as its result.",
        DropReason.NO_ANSWER: "Every call that is sent needs an answer, and this has none; the request reports that.",
        DropReason.REWORDED: "The provider refuses the call without its id, its signature or the signed thought before "
        "it: call and answer are sent as text. An image without its signature is sent as one of the user.",
        DropReason.PLACEHOLDER: "The call has lost its signature; what the provider documents for that is in its place "
        "(`Policy.lost_signature`).",
    }
)
"""Each reason as a sentence. The last six are never given by `select`; encoders give some of the others, too."""

REPAIRS: Final = frozenset({DropReason.UNCALLED, DropReason.NO_ANSWER, DropReason.REWORDED, DropReason.PLACEHOLDER})
"""Reasons for which something is sent in another form, so that the provider accepts it."""


@final
@attrs.frozen(repr=False, eq=False)
class Drop(Frozen):
    """Something that was not sent, or was sent in another form: by an encoder, an emitter or an importer."""

    message_id: str | None
    """`None` for an event that names no message."""

    part: int | None
    """Index of the part in its message, from 0; `None` for the message itself."""

    reason: DropReason | str
    """A `DropReason`, or a sentence of a dialect about what its wire cannot express."""

    whole: bool = attrs.field(default=False, kw_only=True)
    """Whether nothing of it is sent. Otherwise some of its state is missing; for `UNSUPPORTED`, of its content."""

    def __str__(self) -> str:
        reason = REASONS[self.reason] if isinstance(self.reason, DropReason) else self.reason
        place = "" if self.part is None else f"part {self.part} of "
        subject = "content of " if self.reason is DropReason.UNSUPPORTED else "state of "
        what, done = ("", "repaired") if self.reason in REPAIRS else ("" if self.whole else subject, "left out")
        return f"{what}{place}message {self.message_id!r} {done}: {reason}"


@final
@attrs.frozen(kw_only=True, repr=False, eq=False)
class Selection(Frozen):
    """What may be sent to a model."""

    messages: tuple[msg.Message, ...]
    """The messages of the conversation, without the parts and the state that may not be sent."""

    places: tuple[tuple[int, ...], ...]
    """For each message, the indexes that its parts have in the transcript, for encoders that drop more."""

    drops: tuple[Drop, ...]
    """What may not be sent, in the order of the conversation."""


def select(
    conversation: msg.Transcript | Iterable[msg.Message],
    target: Origin,
    *,
    policy: Policy = DEFAULT_POLICY,
    strip: bool = False,
    unlinked: Collection[int] = (),
) -> Selection:
    """
    Return what of a conversation may be sent to the model that *target* names.

    - Messages of the same origin are sent whole, those of other models and providers as *policy* allows.
    - Of a step that failed, or is running, only text, media and the calls that the app has answered are sent, without
      state.
    - An incomplete part is sent without state; an incomplete media part, or call of the provider, is not sent.
    - Reasoning is sent only with a signature, where the policy requires one and the provider signs.
    - A compaction that did not complete is not sent.

    The calls of a completed step stay, answered or not, valid or not: encoders repair what cannot be sent.

    Args:
        conversation: A transcript, of which the `context()` is taken, or messages.

        target: Provider, model and dialect of the next request.

        policy: The policy of the target's dialect (`Dialect.policy`), or one that the app made of it.

        strip: Drop all state, of every issuer. For a conversation that its own provider refuses.

        unlinked: Indexes of parts of the answers that cannot be sent without others, which are not sent.
    """
    messages: list[msg.Message] = []
    places: list[tuple[int, ...]] = []
    drops: list[Drop] = []
    for message in conversation.context() if isinstance(conversation, msg.Transcript) else conversation:
        kept, kept_places, dropped = _choose(message, target, policy, strip=strip, unlinked=unlinked)
        drops += dropped
        if kept is not None:
            messages.append(kept)
            places.append(kept_places)
    return Selection(messages=tuple(messages), places=tuple(places), drops=tuple(drops))


def has_result(part: msg.ToolPart) -> bool:
    """Return whether the provider gave a result for a call of its own."""
    if not part.provider_executed or not part.settled:
        return False
    return bool(part.result_state) or part.error is None or part.error.kind not in NO_RESULT_KINDS


@final
@attrs.frozen(repr=False, eq=False)
class _Limit(Frozen):
    """An upper bound with its reason. Of several limits the strictest applies, of equal ones the first."""

    treatments: Treatments
    reason: DropReason


_PartChoice: TypeAlias = tuple[msg.Part | None, DropReason | None]
# What is sent of a part, and why the rest is not.

_MessageChoice: TypeAlias = tuple[msg.Message | None, tuple[int, ...], list[Drop]]
# What is sent of a message, the indexes of its parts, and what is not sent.

_RELATED: Final = MappingProxyType(
    {
        Relation.OTHER_MODEL: DropReason.OTHER_MODEL,
        Relation.OTHER_PROVIDER: DropReason.OTHER_PROVIDER,
        Relation.SAME_MODEL: DropReason.OTHER_PROVIDER,
    }
)
_UNFINISHED: Final = _Limit(CONTENT_ONLY, DropReason.UNFINISHED)
_STRIPPED: Final = _Limit(WITHOUT_STATE, DropReason.STRIPPED)
_CUT: Final = _Limit(attrs.evolve(WITHOUT_STATE, media=Treatment.LEFT_OUT), DropReason.INCOMPLETE)
_STRICTNESS: Final = MappingProxyType({treatment: strictness for strictness, treatment in enumerate(Treatment)})


def _choose(
    message: msg.Message, target: Origin, policy: Policy, *, strip: bool, unlinked: Collection[int]
) -> _MessageChoice:
    match message:
        case msg.UserMessage():
            return message, (), []
        case msg.CompactionMessage():
            return _choose_summary(message, _limits(message, target, policy, strip=strip), policy)
        case msg.AssistantMessage():
            limits = _limits(message, target, policy, strip=strip)
            if not limits and not policy.signs(target):
                policy = attrs.evolve(policy, reasoning_needs_any=())
            return _choose_answer(message, limits, policy, unlinked)
        case _ as never:
            assert_never(never)


def _limits(
    message: msg.AssistantMessage | msg.CompactionMessage, target: Origin, policy: Policy, *, strip: bool
) -> list[_Limit]:
    limits: list[_Limit] = []
    relation = policy.relation(message.origin, target)
    if relation in _RELATED:
        limits.append(_Limit(policy.treatments(relation), _RELATED[relation]))
    if message.status is not msg.MessageStatus.COMPLETED:
        limits.append(_UNFINISHED)
    if strip:
        limits.append(_STRIPPED)
    return limits


def _strictest(subject: Subject, limits: Iterable[_Limit]) -> tuple[Treatment, DropReason | None]:
    """Return the treatment of a subject, and the reason when it is not whole."""
    found: Treatment = Treatment.WHOLE
    reason: DropReason | None = None
    for limit in limits:
        treatment = limit.treatments.of(subject)
        if _STRICTNESS[treatment] > _STRICTNESS[found]:
            found, reason = treatment, limit.reason
    return found, reason


def _choose_summary(message: msg.CompactionMessage, limits: list[_Limit], policy: Policy) -> _MessageChoice:
    if message.status is not msg.MessageStatus.COMPLETED:
        return None, (), [Drop(message.id, None, DropReason.UNFINISHED, whole=True)]
    treatment, reason = _strictest(Subject.STEP, limits)
    state = _kept(message.state, treatment, policy)
    if reason is None or state == message.state:
        return message, (), []
    return attrs.evolve(message, state=state), (), [Drop(message.id, None, reason)]


def _choose_answer(
    message: msg.AssistantMessage, limits: list[_Limit], policy: Policy, unlinked: Collection[int]
) -> _MessageChoice:
    choices = _choose_parts(message, limits, policy)
    is_linked = policy.items_reference_each_other
    if is_linked and (unlinked or any(why is not None and why is not DropReason.EMPTY for _, why in choices)):
        linked = _choose_parts(message, [*limits, _Limit(policy.other_model, DropReason.LINKED)], policy)
        choices = [(part, first or why) for (part, why), (_, first) in zip(linked, choices, strict=True)]
    for place in unlinked:
        choices[place] = None, DropReason.LINKED
    drops: list[Drop] = []
    treatment, reason = _strictest(Subject.STEP, limits)
    if reason is not None:
        state = _kept(message.state, treatment, policy)
        if state != message.state:
            drops.append(Drop(message.id, None, reason))
        message = attrs.evolve(message, state=state, run=None)
    drops += [
        Drop(message.id, place, why, whole=part is None) for place, (part, why) in enumerate(choices) if why is not None
    ]
    parts = tuple([part for part, _ in choices if part is not None])
    places = tuple([place for place, (part, _) in enumerate(choices) if part is not None])
    return message if parts == message.parts else attrs.evolve(message, parts=parts), places, drops


def _choose_parts(message: msg.AssistantMessage, limits: list[_Limit], policy: Policy) -> list[_PartChoice]:
    signed = {
        part.state.get(policy.item_key or "")
        for part in message.parts
        if isinstance(part, msg.ReasoningPart) and not _is_cut(part) and _signs(part, policy)
    }
    completed = message.status is msg.MessageStatus.COMPLETED
    return [
        (None, DropReason.UNANSWERED)
        if not completed and isinstance(part, msg.ToolPart) and not part.provider_executed and not part.answered
        else _choose_part(part, [*limits, _CUT] if _is_cut(part) else limits, policy, signed)
        for part in message.parts
    ]


def _choose_part(part: msg.Part, limits: list[_Limit], policy: Policy, signed: Collection[JsonValue]) -> _PartChoice:
    treatment, reason = _strictest(_subject(part), limits)
    if treatment is Treatment.LEFT_OUT:
        return None, reason
    kept = part if treatment is Treatment.WHOLE else _without(part, treatment, policy)
    why = reason if _has_lost(part, kept) else None
    if isinstance(kept, msg.ReasoningPart) and policy.reasoning_needs_any and not _is_signed(kept, policy, signed):
        return None, why or DropReason.UNSIGNED
    if isinstance(kept, (msg.TextPart, msg.ReasoningPart)) and not kept.text and kept.state.keys() <= {policy.item_key}:
        return None, why or DropReason.EMPTY
    return kept, why


def _subject(part: msg.Part) -> Subject:
    if isinstance(part, msg.ToolPart):
        return Subject.PROVIDER_CALL if part.provider_executed else Subject.CALL
    return Subject(part.type)


def _is_cut(part: msg.Part) -> bool:
    return msg.content_status(part) in (msg.PartStatus.INCOMPLETE, msg.PartStatus.STREAMING)


def _is_signed(part: msg.ReasoningPart, policy: Policy, signed: Collection[JsonValue]) -> bool:
    if policy.item_key is None or policy.item_key not in part.state:
        return _signs(part, policy)
    return part.state[policy.item_key] in signed


def _signs(part: msg.ReasoningPart, policy: Policy) -> bool:
    return any(part.state.get(key) not in (None, "") for key in policy.reasoning_needs_any)


def _without(part: msg.Part, treatment: Treatment, policy: Policy) -> msg.Part:
    state = _kept(part.state, treatment, policy)
    if isinstance(part, msg.ToolPart):
        return attrs.evolve(part, state=state, result_state=_kept(part.result_state, treatment, policy))
    return attrs.evolve(part, state=state)


def _has_lost(part: msg.Part, kept: msg.Part) -> bool:
    """Return whether *kept* lacks state that has more than the number of an item."""
    pairs = [(part.state, kept.state)]
    if isinstance(part, msg.ToolPart) and isinstance(kept, msg.ToolPart):
        pairs.append((part.result_state, kept.result_state))
    return any(before != after and not _is_number(before) for before, after in pairs)


def _is_number(state: State) -> bool:
    """Return whether a state has only the number that the recorder gave an item (`item_key`)."""
    return len(state) == 1 and all(type(value) is int for value in state.values())


def _kept(state: State, treatment: Treatment, policy: Policy) -> State:
    """Return what a treatment keeps of a state that is not sent whole."""
    if treatment is Treatment.UNBOUND:
        return State({key: value for key, value in state.items() if key not in policy.model_bound_keys})
    if treatment is Treatment.SHARED and policy.platforms is not None:
        keys = policy.platforms.keys | {policy.item_key}
        return State({key: value for key, value in state.items() if key in keys})
    return NO_STATE
