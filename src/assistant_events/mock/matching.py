"""
Rules of fixtures, compared with the facts of a request.

A dialect reads `RequestFacts` from the body of a request. `choose` picks the fixture that answers it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias, final

import attrs

from assistant_events.adapters.json_fields import mappings, string
from assistant_events.mock.json_reader import Count, at_least, read_class


@final
@attrs.frozen(repr=False)
class Contains:
    """Matches a text that contains *text*; case counts."""

    text: str

    def __repr__(self) -> str:
        return f"Contains({self.text!r})"


def _read_pattern(value: Any) -> re.Pattern[str]:
    try:
        return re.compile(read_class(value, str))
    except (re.error, RecursionError, OverflowError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ValueError(f"not a regular expression: {reason}") from None


@attrs.frozen(kw_only=True)
class _RuleEntry:
    """A rule in a file that is not a whole text."""

    contains: str | None = None
    matches: Annotated[re.Pattern[str], _read_pattern] | None = None

    @staticmethod
    def check_keys(given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
        if len(given) != 1:
            yield "", "expected one key, `contains` or `matches`"


def _read_rule(value: Any) -> str | Contains | re.Pattern[str]:
    if not isinstance(value, Mapping):
        return read_class(value, str)
    entry = read_class(value, _RuleEntry)
    return entry.matches or Contains(entry.contains or "")


TextRule: TypeAlias = Annotated[str | Contains | re.Pattern[str], _read_rule]
"""How a text is compared: a `str` is the whole text, a pattern is searched for."""


def _read_rules(value: Any) -> tuple[TextRule, ...]:
    rules: Any = tuple[TextRule, ...]  # a type for cattrs, which type checkers do not take as an argument
    return read_class(value, rules) if isinstance(value, list) else (_read_rule(value),)


@attrs.frozen(kw_only=True, eq=False)
class Match:
    """
    Which requests a fixture answers: every field that is set has to hold.

    An empty `Match` matches every request. Fields that a dialect adds are compared with those of the same name in
    `RequestFacts.fields`.
    """

    user_text: TextRule | None = None
    """The newest text of the user, in any form of the input: all texts of the message, or the last of them."""

    model: TextRule | None = None

    call_id: str | None = None
    """
    A call whose result the request contains, after the newest answer of the model. A call that is repeated in a
    conversation, as `c1_2` for `c1`, is this call too.
    """

    last_call_id: str | None = None
    """The call whose result is the last item of the request."""

    turn: Annotated[int, at_least(1)] | None = None
    """Number of the prompt in its conversation, from 1. Results of tools belong to the turn of their prompt."""

    system: Annotated[tuple[TextRule, ...], _read_rules] = ()
    """All of them hold for the system instruction. A file may have one rule in place of the list."""

    tool: str | None = None
    """A function that the request declares."""

    result_text: TextRule | None = None
    """Text of the last item of the request, which is a result of a tool."""

    has_result: bool | None = None
    """Whether the request contains a result of a tool after the newest prompt."""

    position: Count | None = None
    """
    Number of answers of the model before: a preference and not a condition. Of several fixtures that match, the one
    with the largest `position` that is not above the number is used. This is `turnIndex` of aimock.
    """

    conversation: bool = True
    """Whether the requests that this one continues are searched, too, so that a client need not send all again."""

    def __eq__(self, other: object) -> bool:
        return self.rules == other.rules if isinstance(other, Match) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self.rules.items()))

    @property
    def rules(self) -> dict[str, Any]:
        """The fields that are set."""
        fields = attrs.fields(type(self))
        return {field.name: value for field in fields if (value := getattr(self, field.name)) != field.default}

    @property
    def summary(self) -> str:
        """The fields that are set, in one line."""
        return ", ".join([f"{name}={value!r}" for name, value in self.rules.items()]) or "everything"

    @property
    def is_about_a_result(self) -> bool:
        """Whether this names the result of a call: such a fixture precedes those that do not."""
        named = (self.call_id, self.last_call_id, self.result_text)
        return self.has_result is True or any(one is not None for one in named)


class Item(NamedTuple):
    """One item of a conversation, as far as fixtures are compared with it; a result has the id of its call."""

    kind: Literal["user", "model", "result"]
    text: str | None = None
    call_ids: tuple[str, ...] = ()
    """All that it may have had, of a call without an id in the request."""

    last_text: str | None = None
    """The last of several texts: where prompts follow one another, some wires have one message for them."""


@final
@attrs.frozen(kw_only=True)
class RequestFacts:
    """What fixtures are compared with in a request. Its items include those of the requests that it continues."""

    items: tuple[Item, ...] = ()
    model: str | None = None
    system: str = ""
    tools: Collection[str] = frozenset()
    fields: Mapping[str, str | None] = attrs.field(factory=dict[str, "str | None"])
    """Other fields of the request that fixtures of the dialect may name; `None` matches no rule."""

    alone: RequestFacts | None = None
    """What fixtures of aimock are compared with, such as the request without those that it continues; None: this."""

    @cached_property
    def newest_prompt(self) -> Item:
        """The newest item of the user that has a text."""
        prompts = (item for item in reversed(self.items) if item.kind == "user" and item.text is not None)
        return next(prompts, Item("user"))

    @property
    def user_text(self) -> str | None:
        """The newest text of the user."""
        return self.newest_prompt.text

    @cached_property
    def call_ids(self) -> tuple[str, ...]:
        """Calls with a result after the newest answer of the model."""
        return tuple([call_id for item in self._after("model") for call_id in item.call_ids])

    @property
    def result_text(self) -> str | None:
        """Text of the result that is the last item."""
        return self.last.text if self.last.kind == "result" else None

    @property
    def last(self) -> Item:
        """The last item."""
        return self.items[-1] if self.items else Item("model")

    @cached_property
    def has_result(self) -> bool:
        """Whether there is a result after the newest prompt."""
        return any(item.kind == "result" for item in self._after("user"))

    @cached_property
    def turn(self) -> int:
        """The number of prompts."""
        return self._runs("user")

    @cached_property
    def position(self) -> int:
        """The number of answers of the model."""
        return self._runs("model")

    def _after(self, kind: str) -> Sequence[Item]:
        """Return the items after the last one of a kind; all items when there is none."""
        places = [place for place, item in enumerate(self.items, 1) if item.kind == kind]
        return self.items[places[-1] if places else 0 :]

    def _runs(self, kind: str) -> int:
        before = [None, *[item.kind for item in self.items]]
        return sum(1 for item, earlier in zip(self.items, before, strict=False) if item.kind == kind != earlier)


def text_of(content: object) -> str | None:
    """Return a text, or the texts of items joined without a separator; `None` when there is none."""
    if isinstance(content, str):
        return content
    texts = [string(item, "text") or "" for item in mappings({"content": content}, "content") if "text" in item]
    return "".join(texts) if texts else None


def prompt_of(content: object) -> Item:
    """Return the item of a prompt with this content, see `text_of`."""
    texts = [text for item in mappings({"content": content}, "content") if (text := string(item, "text")) is not None]
    return Item("user", text_of(content), last_text=texts[-1] if texts else None)


def choose(candidates: Sequence[tuple[int, Match]], facts: RequestFacts) -> int | None:
    """
    Return the index of the first candidate that matches a request; `None` when none does.

    Those that name the result of a call precede the others (a prompt that called a tool still matches when the result
    comes), an empty `Match` comes last. Of the rest `Match.position` prefers one. One that names a call as the request
    does excludes those that name it without its number.
    """
    found = [(index, match) for index, match in candidates if matches(match, facts)]
    first = [(index, match) for index, match in found if match.conversation and match.is_about_a_result]
    exact = [(index, match) for index, match in first if _has_ids(match, _seen_by(match, facts))]
    if any(match.call_id or match.last_call_id for _, match in exact):
        first = exact
    some = [(index, match) for index, match in found if match != _EVERYTHING]
    return _preferred(first or some or found, facts)


def matches(match: Match, facts: RequestFacts) -> bool:
    """Return whether all rules of *match* hold; `position` is not one of them."""
    facts = _seen_by(match, facts)
    return (
        (_holds(match.user_text, facts.user_text) or _holds(match.user_text, facts.newest_prompt.last_text))
        and _holds(match.model, facts.model)
        and _is_among(match.call_id, facts.call_ids)
        and _is_among(match.last_call_id, facts.last.call_ids)
        and match.turn in (None, facts.turn)
        and all(_holds(rule, facts.system) for rule in match.system)
        and match.tool in (None, *facts.tools)
        and _holds(match.result_text, facts.result_text)
        and match.has_result in (None, facts.has_result)
        and all(_holds(rule, facts.fields.get(name)) for name, rule in match.rules.items() if name not in _GENERAL)
    )


def _has_ids(match: Match, facts: RequestFacts) -> bool:
    return match.call_id in (None, *facts.call_ids) and match.last_call_id in (None, *facts.last.call_ids)


def _is_among(call_id: str | None, given: Iterable[str]) -> bool:
    """Return whether *call_id* is one of *given*, also with the number that a repeated id gets in a request."""
    return call_id is None or any(call_id in (each, _NUMBER.sub("", each)) for each in given)


_NUMBER: Final = re.compile("_(?!1$)[1-9][0-9]*$")
_EVERYTHING: Final = Match()
_GENERAL: Final = frozenset(field.name for field in attrs.fields(Match))


def _preferred(found: Sequence[tuple[int, Match]], facts: RequestFacts) -> int | None:
    anywhere = next((index for index, match in found if match.position is None), None)
    placed = [(match.position, index, match) for index, match in found if match.position is not None]
    reached = [each for each in placed if each[0] <= _seen_by(each[2], facts).position]
    if reached:
        position, index, match = max(reached, key=lambda each: each[0])
        is_here = position == _seen_by(match, facts).position
        return anywhere if is_here and anywhere is not None and anywhere < index else index
    if anywhere is not None or not placed:
        return anywhere
    return min(placed, key=lambda each: each[0])[1]


def _seen_by(match: Match, facts: RequestFacts) -> RequestFacts:
    return facts if match.conversation or facts.alone is None else facts.alone


def _holds(rule: TextRule | None, text: str | None) -> bool:
    if rule is None:
        return True
    if text is None:
        return False
    if isinstance(rule, Contains):
        return rule.text in text
    if isinstance(rule, re.Pattern):
        return rule.search(text) is not None
    return rule == text
