"""
Which state a dialect takes back, as data.

Each dialect brings its `Policy` (`Dialect.policy`). `select` applies it, encoders read it, and the tables of the
documentation are generated from it.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, final

import attrs

from assistant_events.values import Origin
from assistant_events.values.validators import Frozen


class Relation(StrEnum):
    """How the issuer of a message is related to the model of the next request."""

    SAME_ORIGIN = "same origin"
    """Provider, model and dialect are equal."""

    OTHER_MODEL = "other model"
    """Provider and dialect are equal, the model is not."""

    SAME_MODEL = "same model elsewhere"
    """The model is the same, on another platform whose state it reads (`Policy.platforms`)."""

    OTHER_PROVIDER = "other provider or dialect"


class Subject(StrEnum):
    """What has state."""

    STEP = "step"
    """The message: its state and its run."""

    TEXT = "text"
    REASONING = "reasoning"
    MEDIA = "media"

    CALL = "call"
    """A call that the app runs, and its answer."""

    PROVIDER_CALL = "provider_call"
    """A call that the provider ran, and its result."""

    OPAQUE = "opaque"


class Treatment(StrEnum):
    """What is sent of a subject, from all to nothing."""

    WHOLE = "whole"
    """All of it."""

    UNBOUND = "unbound"
    """All but the keys of its state that only the issuing model understands (`Policy.model_bound_keys`)."""

    SHARED = "shared"
    """Of its state, what each platform of the model reads (`Platforms.keys`)."""

    BARE = "bare"
    """All but its state."""

    LEFT_OUT = "left out"
    """Nothing."""


_WHOLE, _UNBOUND, _SHARED, _BARE, _LEFT_OUT = Treatment


@final
@attrs.frozen(kw_only=True, repr=False, eq=False)
class Treatments(Frozen):
    """A treatment for each subject, `WHOLE` by default."""

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
"""All parts with their state: what the same origin issued."""

CONTENT_ONLY: Final = Treatments(
    step=_BARE,
    text=_BARE,
    reasoning=_LEFT_OUT,
    media=_BARE,
    call=_BARE,
    provider_call=_LEFT_OUT,
    opaque=_LEFT_OUT,
)
"""Text, media and the calls of the app, without state."""

WITHOUT_STATE: Final = attrs.evolve(CONTENT_ONLY, reasoning=_BARE)
"""Every part that means something without its state."""


SHARED_ONLY: Final = attrs.evolve(CONTENT_ONLY, reasoning=_SHARED)
"""Text, media and the calls of the app without state, and reasoning with what all platforms of its model read."""


@final
@attrs.frozen(kw_only=True, repr=False, eq=False)
class Platforms(Frozen):
    r"""
    Platforms that run the same models, each of which reads state that the model got on another one.

    Args:
        origins: Provider and dialect of each platform.

        keys: Keys of the state of reasoning that mean the same on all of them.

        affixes: A pattern of what a platform adds to the name of a model, such as `^anthropic\\.`.

        passed_on: A pattern of `provider/model` of other servers, such as gateways, that pass requests on to one.
    """

    origins: frozenset[tuple[str, str]]
    keys: frozenset[str]
    affixes: re.Pattern[str] = re.compile(r"(?!)")
    passed_on: re.Pattern[str] = re.compile(r"(?!)")

    def run_both(self, one: Origin, other: Origin) -> bool:
        """Return whether both are platforms, and the models of both are one."""
        if not {(one.provider, one.dialect), (other.provider, other.dialect)} <= self.origins:
            return False
        names = [self.affixes.sub("", origin.model or "") for origin in (one, other)]
        return bool(names[0]) and names[0] == names[1]


@final
@attrs.frozen(kw_only=True, repr=False, eq=False)
class Policy(Frozen):
    """
    What a dialect takes back from other issuers. From the same origin it takes everything.

    Args:
        other_model: What is sent to another model of the same provider.

        other_provider: What is sent to another provider, or in another dialect.

        reasoning_needs_any: State keys, such as that of a signature. Reasoning is sent only with a non-empty value for
            one of them; always when there are none, and back to its own server where that does not sign (`signs`).

        storage_key: The one of them that names reasoning which has nothing but its id: its provider stores the answer.

        item_key: Key in the state of parts that names the provider's item, the same as `DecoderBase.item_key`; `None`
            when every part is an item. Reasoning parts of one item need one value for `reasoning_needs_any` together.

        model_bound_keys: State keys that only the issuing model understands.

        items_reference_each_other: Whether an item that is not sent takes the state of its step's other items along:
            these are sent as to another model.

        interchangeable_models: Sets of models that read each other's state, as the app knows them. Inside a set, no
            model is another model.

        lost_signature: What is sent in place of the signature that the first call of an answer in the current turn has
            lost, or never had, where the provider documents a value for that; `None` to send none. An app sets it.

        platforms: Platforms of the dialect's models; `None` when one alone reads its state.

        source: Where these facts come from, and when they were true.
    """

    other_model: Treatments = WITHOUT_STATE
    other_provider: Treatments = CONTENT_ONLY
    reasoning_needs_any: tuple[str, ...] = ()
    storage_key: str | None = None
    item_key: str | None = None
    model_bound_keys: frozenset[str] = frozenset()
    items_reference_each_other: bool = False
    interchangeable_models: tuple[frozenset[str], ...] = ()
    lost_signature: str | None = None
    platforms: Platforms | None = None
    source: str = "The dialect has no policy: state is sent only to its issuer."

    def without_storage(self) -> Policy:
        """Return the policy for a provider that no longer has what it has stored: reasoning needs more than its id."""
        needed = tuple([key for key in self.reasoning_needs_any if key != self.storage_key])
        return attrs.evolve(self, reasoning_needs_any=needed)

    def signs(self, target: Origin) -> bool:
        """Return whether reasoning of *target* is signed: always, unless there are `platforms` and none is asked."""
        if self.platforms is None or (target.provider, target.dialect) in self.platforms.origins:
            return True
        return self.platforms.passed_on.search(f"{target.provider}/{target.model}") is not None

    def treatments(self, relation: Relation) -> Treatments:
        """Return the treatments for a relation."""
        if relation is Relation.SAME_ORIGIN:
            return EVERYTHING
        if relation is Relation.SAME_MODEL:
            return SHARED_ONLY
        return self.other_model if relation is Relation.OTHER_MODEL else self.other_provider

    def keeps_step(self, origin: Origin | None, target: Origin) -> bool:
        """Return whether *target* takes back the state of a step of *origin*."""
        return self.treatments(self.relation(origin, target)).step is Treatment.WHOLE

    def relation(self, origin: Origin | None, target: Origin) -> Relation:
        """Return how *origin* is related to *target*; an unknown issuer (`None`) is another provider."""
        if origin is None:
            return Relation.OTHER_PROVIDER
        is_same = self.platforms is not None and self.platforms.run_both(origin, target)  # also under another name
        if (origin.provider, origin.dialect) != (target.provider, target.dialect):
            return Relation.SAME_MODEL if is_same else Relation.OTHER_PROVIDER
        models = {origin.model, target.model}
        if is_same or origin.same_as(target) or any(models <= each for each in self.interchangeable_models):
            return Relation.SAME_ORIGIN
        return Relation.OTHER_MODEL


DEFAULT_POLICY: Final = Policy()
"""The policy of a dialect that brings none."""
