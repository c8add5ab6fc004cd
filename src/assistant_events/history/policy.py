"""
What each dialect takes back, as data.

`select` follows these rules, encoders may ask them, and the documentation is made from them (`describe_rules`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, final

import attrs

from assistant_events.values import Origin
from assistant_events.values.validators import Frozen


class Relation(StrEnum):
    """How whoever issued something stands to the model that it would go to."""

    SAME_ORIGIN = "same origin"
    """Provider, model and dialect are the same."""

    OTHER_MODEL = "other model"
    """Only provider and dialect are."""

    OTHER_PROVIDER = "other provider or dialect"


class Subject(StrEnum):
    """What has state."""

    STEP = "step"
    """The message itself: its state, and its run."""

    TEXT = "text"
    REASONING = "reasoning"
    MEDIA = "media"

    CALL = "call"
    """A call that the app runs, and its answer."""

    PROVIDER_CALL = "provider_call"
    """A call that the provider ran, and its result."""

    OPAQUE = "opaque"


class Treatment(StrEnum):
    """What becomes of it."""

    WHOLE = "whole"
    """It goes as it is."""

    UNBOUND = "unbound"
    """It goes without those keys of its state that mean something only to who issued it (`Rules.bound`)."""

    BARE = "bare"
    """It goes without its state."""

    LEFT_OUT = "left out"
    """It does not go."""


_WHOLE, _UNBOUND, _BARE, _LEFT_OUT = Treatment


@final
@attrs.frozen(kw_only=True, repr=False, eq=False)
class Treatments(Frozen):
    """A treatment for each subject, `WHOLE` unless another is given."""

    step: Treatment = _WHOLE
    text: Treatment = _WHOLE
    reasoning: Treatment = _WHOLE
    media: Treatment = _WHOLE
    call: Treatment = _WHOLE
    provider_call: Treatment = _WHOLE
    opaque: Treatment = _WHOLE

    def of(self, subject: Subject) -> Treatment:
        """Return the treatment of a subject."""
        treatment: Treatment = getattr(self, subject.value)
        return treatment


EVERYTHING: Final = Treatments()
"""Everything goes: what the same origin issued."""

CONTENT_ONLY: Final = Treatments(
    step=_BARE,
    text=_BARE,
    reasoning=_LEFT_OUT,
    media=_BARE,
    call=_BARE,
    provider_call=_LEFT_OUT,
    opaque=_LEFT_OUT,
)
"""What was said, and what the app did; nothing of the provider's own."""

WITHOUT_STATE: Final = attrs.evolve(CONTENT_ONLY, reasoning=_BARE)
"""Everything that makes sense without state."""


@final
@attrs.frozen(kw_only=True, repr=False, eq=False)
class Policy(Frozen):
    """What a dialect takes back. What the same origin issued, it takes whole."""

    other_model: Treatments
    """What may go to another model of the same provider."""

    other_provider: Treatments = CONTENT_ONLY
    """What may go to another provider, or in another dialect."""

    reasoning_needs_any: tuple[str, ...] = ()
    """Reasoning goes only with one of these keys in its state, and not empty. All of it goes when there are none."""

    item_key: str | None = None
    """
    Key that tells parts of one item of the provider.

    An item has what reasoning needs when one of its parts has. `None` when every part is an item.
    """

    model_bound_keys: frozenset[str] = frozenset()
    """Keys of a state that mean something only to who issued it."""

    items_reference_each_other: bool = False
    """Whether the items of a step refer to each other: when one cannot go, the others go as to another model."""

    interchangeable_models: tuple[frozenset[str], ...] = ()
    """Sets of models that read each other's state, as the app knows them; inside of one no model is another."""

    source: str
    """Where the facts come from, and when they were true."""

    def treatments(self, relation: Relation) -> Treatments:
        """Return what may go in a relation."""
        if relation is Relation.SAME_ORIGIN:
            return EVERYTHING
        return self.other_model if relation is Relation.OTHER_MODEL else self.other_provider

    def relation(self, origin: Origin | None, target: Origin) -> Relation:
        """Tell how *origin* stands to *target*; nobody knows who issued something when it is `None`."""
        if origin is None or (origin.provider, origin.dialect) != (target.provider, target.dialect):
            return Relation.OTHER_PROVIDER
        if origin.same_as(target) or any(
            {origin.model, target.model} <= models for models in self.interchangeable_models
        ):
            return Relation.SAME_ORIGIN
        return Relation.OTHER_MODEL


POLICIES: Final[Mapping[str, Policy]] = MappingProxyType(
    {
        "anthropic-messages": Policy(
            other_model=Treatments(step=_BARE, reasoning=_LEFT_OUT, opaque=_LEFT_OUT),
            reasoning_needs_any=("signature", "data"),
            source=(
                "Claude documentation, extended and preserved thinking (2026-10): a signature binds a block to the "
                "models that can read it; a block without one is refused."
            ),
        ),
        "bedrock-converse": Policy(
            other_model=CONTENT_ONLY,
            reasoning_needs_any=("signature", "redactedContent"),
            source=(
                "Amazon Bedrock documentation, Converse (2026-10): the models are of many vendors and do not read each "
                "other. Reasoning that is not signed is refused, or leaks into the answer (vercel/ai, hermes-agent)."
            ),
        ),
        "gemini-generate-content": Policy(
            other_model=Treatments(step=_BARE),
            source=(
                "Gemini API documentation, thought signatures (2026-10): a signature goes back inside the part it came "
                "with, to any Gemini model; thoughts need none. Where it was lost, a documented value stands in."
            ),
        ),
        "gemini-interactions": Policy(
            other_model=Treatments(step=_BARE),
            reasoning_needs_any=("signature",),
            item_key="i",
            source=(
                "Gemini API documentation, Interactions (2026-10): every thought of the history is sent again in "
                "place, with summary and signature, to another model as well. An empty signature is refused "
                "(googleapis/js-genai#1735)."
            ),
        ),
        "openai-chat": Policy(
            other_model=Treatments(
                step=_BARE, reasoning=_UNBOUND, call=_UNBOUND, provider_call=_LEFT_OUT, opaque=_LEFT_OUT
            ),
            model_bound_keys=frozenset({"details", "extra_content"}),
            source=(
                "Servers that speak it (2026-10): DeepSeek and Moonshot want reasoning back in the field it came in; "
                "the details of OpenRouter and the extra content of Gemini hold signatures of a model; strict servers "
                "refuse fields that they do not know."
            ),
        ),
        "openai-responses": Policy(
            other_model=Treatments(
                step=_BARE,
                text=_UNBOUND,
                reasoning=_LEFT_OUT,
                media=_UNBOUND,
                call=_UNBOUND,
                provider_call=_LEFT_OUT,
                opaque=_LEFT_OUT,
            ),
            reasoning_needs_any=("encrypted_content",),
            item_key="item_id",
            model_bound_keys=frozenset({"item_id"}),
            items_reference_each_other=True,
            source=(
                "openai 3.52 and reports of its users (2026-10): encrypted reasoning is checked against the model; an "
                "item that is named by its id is refused without the reasoning before it, and reasoning without the "
                "item behind it."
            ),
        ),
    }
)
"""The rules of the dialects that are known here."""

OTHER_POLICY: Final = Policy(
    other_model=WITHOUT_STATE,
    source="Nothing is known of the dialect: state goes only to who issued it.",
)
"""The rules of every other dialect."""


@final
@attrs.frozen(kw_only=True, repr=False, eq=False)
class RuleRow(Frozen):
    """One cell of the table: what becomes of something, where."""

    dialect: str
    """Name of the dialect; `*` for every other."""

    subject: Subject
    relation: Relation
    treatment: Treatment


@final
@attrs.frozen(kw_only=True, repr=False, eq=False)
class RuleSheet(Frozen):
    """The rules of a dialect, for a page of the documentation."""

    dialect: str
    """Its name; `*` for every other."""

    rows: tuple[RuleRow, ...]
    """All cells, subject by subject, relation by relation."""

    remarks: tuple[str, ...]
    """What the cells do not say, in sentences."""

    source: str


def describe_rules(rules: Mapping[str, Policy] = POLICIES, other: Policy = OTHER_POLICY) -> tuple[RuleSheet, ...]:
    """
    Return the rules as sheets, one for each dialect and the last for every other.

    Args:
        rules: Rules by the name of the dialect.

        other: Rules of every other dialect.
    """
    return tuple([_sheet(name, each) for name, each in [*rules.items(), ("*", other)]])


def _sheet(dialect: str, rules: Policy) -> RuleSheet:
    rows = [
        RuleRow(dialect=dialect, subject=subject, relation=relation, treatment=rules.treatments(relation).of(subject))
        for subject in Subject
        for relation in Relation
    ]
    return RuleSheet(dialect=dialect, rows=tuple(rows), remarks=tuple(_remarks(rules)), source=rules.source)


def _remarks(rules: Policy) -> Iterable[str]:
    if rules.reasoning_needs_any:
        yield f"Reasoning goes only with {_listed(rules.reasoning_needs_any, 'or')} in its state."
    if rules.item_key is not None:
        yield f"Parts with the same `{rules.item_key}` are one item of the provider."
    if rules.model_bound_keys:
        yield f"Unbound means without {_listed(sorted(rules.model_bound_keys), 'and')}."
    if rules.items_reference_each_other:
        yield "The items of a step refer to each other: when one cannot go, the others go as to another model."
    for models in rules.interchangeable_models:
        yield f"{_listed(sorted(models), 'and')} read each other's state."


def _listed(names: Iterable[str], last: str) -> str:
    return f" {last} ".join([f"`{name}`" for name in names])
