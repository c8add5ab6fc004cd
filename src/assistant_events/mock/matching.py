"""
What a request asks, and which fixture that is for.

`asked` reads a create body of either generation, whatever form its `input` has; nothing that it finds makes it raise.
`choose` compares. Neither keeps anything.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Final, Literal, final

import attrs

from assistant_events.mock.fixtures import Contains, Fixture, Match, TextRule
from assistant_events.values import write_json

# Wire reference §4.4. Content has other types, so that one item of a list tells a step from a piece of content.
_STEP_TYPES: Final = frozenset({"user_input", "model_output", "thought"})
_STEP_ENDS: Final = ("_call", "_result")

_EVERYTHING: Final = Match()

_SHOWN: Final = 200
"""How many characters of a prompt an error shows."""

_COMPARED: Final = 1_000
"""How many characters of a prompt are compared with what was probably meant: it may have millions."""

_LISTED: Final = 20
"""How many fixtures an error lists."""


@final
@attrs.frozen(kw_only=True)
class RequestFacts:
    """What fixtures can ask of a request."""

    user_text: str | None = None
    """The newest text of the user, also when it stands in an earlier request of the conversation."""

    model: str | None = None
    agent: str | None = None

    call_ids: tuple[str, ...] = ()
    """Calls that are answered since the newest answer of the model."""

    previous_interaction_id: str = ""
    continuation_token: str = ""

    turn: int = 0
    """How many prompts there are, in this request and before it."""

    system: str = ""
    tools: frozenset[str] = frozenset()
    last_call_id: str = ""
    """The call that the very last thing answers."""

    result_text: str | None = None
    """Text of the result at the very end, when there is one."""

    has_result: bool = False
    """Whether a call is answered since the newest prompt."""

    position: int = 0
    """How many answers of the model there are, in this request and before it."""

    alone: RequestFacts | None = None
    """The same without the requests before it; None when there are none."""


@final
@attrs.frozen
class _Item:
    kind: Literal["user", "model", "result"]
    text: str | None = None
    call_id: str = ""


_ANSWER: Final = _Item("model")


def read_request(body: Mapping[str, object], chain: Sequence[Mapping[str, object]] = ()) -> RequestFacts:
    """
    Return what *body* asks.

    Args:
        body: A create request.

        chain: The bodies of the requests before it, oldest first, as `previous_interaction_id` joins them. What the
            model answered to each counts as one answer.
    """
    if not chain:
        return _asked(body, [], None)
    before: list[_Item] = []
    for earlier in chain:
        before += [*_items(earlier.get("input")), _ANSWER]
    return _asked(body, before, _asked(body, [], None))


def choose(fixtures: Sequence[Fixture], asked: RequestFacts, served: Mapping[int, int]) -> int | None:
    """
    Return the place of the fixture that answers, or None.

    Of those that match, the ones go first that name an answer to a call or a token (a prompt that called a tool still
    matches when the result comes), and those last that ask for nothing. Of what is left it is the one that
    `Match.position` prefers, or the first in their order.

    Args:
        fixtures: In their order.

        asked: What the request asks.

        served: How many requests each fixture has answered, by its place.
    """
    found = [
        place
        for place, fixture in enumerate(fixtures)
        if fixture.answer(served.get(place, 0)) is not None and matches(fixture.match, asked)
    ]
    first = [place for place in found if fixtures[place].match.conversation and fixtures[place].match.is_about_a_result]
    some = [place for place in found if fixtures[place].match != _EVERYTHING]
    return _preferred([(place, fixtures[place].match) for place in first or some or found], asked)


def miss(fixtures: Sequence[Fixture], asked: RequestFacts, served: Mapping[int, int]) -> str:
    """Return why nothing answers a request, in one line: what it asks, what there is, and what was probably meant."""
    text = "no text of the user" if asked.user_text is None else f"newest user text {asked.user_text[:_SHOWN]!r}"
    about = [text, f"{'agent' if asked.agent else 'model'} {asked.agent or asked.model!r}"]
    about += [f"answers of calls {list(asked.call_ids)!r}"] if asked.call_ids else []
    about += [f"continuation token {asked.continuation_token!r}"] if asked.continuation_token else []
    about += [f"turn {asked.turn}"]
    if not fixtures:
        return f"no fixture matches: {', '.join(about)}; there are no fixtures at all"
    listed = [
        f"{f'{fixture.name!r}: ' if fixture.name else ''}{fixture.match.summary}"
        f"{'' if fixture.answer(served.get(place, 0)) else ' (used up)'}"
        for place, fixture in enumerate(fixtures[:_LISTED])
    ]
    more = f" and {len(fixtures) - _LISTED} more" if len(fixtures) > _LISTED else ""
    close = _close(fixtures, (asked.user_text or "")[:_COMPARED])
    meant = "" if close is None else f"; did you mean {close!r}?"
    return f"no fixture matches: {', '.join(about)}{meant}; fixtures: {'; '.join(listed)}{more}"


def _close(fixtures: Sequence[Fixture], said: str) -> str | Contains | None:
    """Return the text of a fixture that is nearly what was said, or nearly in it."""
    rules = [fixture.match.user_text for fixture in fixtures]
    whole = get_close_matches(said, [rule for rule in rules if isinstance(rule, str) and rule != said], 1)
    if whole:
        return whole[0]
    words = said.casefold().split()
    for rule in rules:
        if isinstance(rule, Contains) and rule.text not in said:
            wanted = rule.text.casefold().split()
            places = range(len(words) - len(wanted) + 1)
            if get_close_matches(" ".join(wanted), [" ".join(words[at : at + len(wanted)]) for at in places], 1, 0.75):
                return rule
    return None


def matches(match: Match, asked: RequestFacts) -> bool:
    """Tell whether everything that *match* says holds. `position` says nothing here."""
    asked = _seen_by(match, asked)
    return (
        _holds(match.user_text, asked.user_text)
        and _holds(match.model, asked.model)
        and _holds(match.agent, asked.agent)
        and match.call_id in (None, *asked.call_ids)
        and match.last_call_id in (None, asked.last_call_id)
        and _holds(match.previous_interaction_id, asked.previous_interaction_id)
        and match.continuation_token in (None, asked.continuation_token)
        and match.turn in (None, asked.turn)
        and all(_holds(rule, asked.system) for rule in match.system)
        and match.tool in (None, *asked.tools)
        and _holds(match.result_text, asked.result_text)
        and match.has_result in (None, asked.has_result)
    )


def _preferred(found: Sequence[tuple[int, Match]], asked: RequestFacts) -> int | None:
    anywhere = next((place for place, match in found if match.position is None), None)
    placed = [(match.position, place, match) for place, match in found if match.position is not None]
    reached = [one for one in placed if one[0] <= _seen_by(one[2], asked).position]
    if reached:
        position, place, match = max(reached, key=lambda one: one[0])
        is_here = position == _seen_by(match, asked).position
        return anywhere if is_here and anywhere is not None and anywhere < place else place
    if anywhere is not None or not placed:
        return anywhere
    return min(placed, key=lambda one: one[0])[1]


def _seen_by(match: Match, asked: RequestFacts) -> RequestFacts:
    return asked if match.conversation or asked.alone is None else asked.alone


def _asked(body: Mapping[str, object], before: Sequence[_Item], alone: RequestFacts | None) -> RequestFacts:
    items = [*before, *_items(body.get("input"))]
    newest = next((item.text for item in reversed(items) if item.kind == "user" and item.text is not None), None)
    last = items[-1] if items else _ANSWER
    return RequestFacts(
        user_text=newest,
        model=_text(body.get("model")),
        agent=_text(body.get("agent")),
        call_ids=tuple([item.call_id for item in _after(items, "model") if item.kind == "result"]),
        previous_interaction_id=_text(body.get("previous_interaction_id")) or "",
        continuation_token=_text(body.get("continuation_token")) or "",
        turn=_runs(items, "user"),
        system=_content_text(body.get("system_instruction")) or "",
        tools=frozenset(_declared(body.get("tools"))),
        last_call_id=last.call_id,
        result_text=last.text if last.kind == "result" else None,
        has_result=any(item.kind == "result" for item in _after(items, "user")),
        position=_runs(items, "model"),
        alone=alone,
    )


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


def _items(given: object) -> Iterator[_Item]:
    if isinstance(given, str):
        yield _Item("user", given)
        return
    entries = given if isinstance(given, Sequence) else [given]
    content: list[object] = []
    for entry in entries:
        if not isinstance(entry, Mapping):
            continue
        if "role" not in entry and not _is_step(entry):
            content.append(entry)
            continue
        yield from _user_items(content)
        content = []
        yield from _turn_items(entry) if "role" in entry else _step_items(entry)
    yield from _user_items(content)


def _is_step(entry: Mapping[str, object]) -> bool:
    kind = entry.get("type")
    return isinstance(kind, str) and (kind in _STEP_TYPES or kind.endswith(_STEP_ENDS))


def _turn_items(turn: Mapping[str, object]) -> Iterator[_Item]:
    if turn.get("role") == "user":
        yield from _user_items(turn.get("content"))
    else:
        yield _ANSWER


def _step_items(step: Mapping[str, object]) -> Iterator[_Item]:
    kind = step.get("type")
    if kind == "user_input":
        yield from _user_items(step.get("content"))
    elif kind == "function_result":
        yield _result(step)
    else:
        yield _ANSWER


def _user_items(content: object) -> Iterator[_Item]:
    """Yield the results among *content*, then the rest as one input of the user."""
    if isinstance(content, str):
        yield _Item("user", content)
        return
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, Sequence) or not content:
        return
    rest: list[object] = []
    for block in content:
        if isinstance(block, Mapping) and block.get("type") == "function_result":
            yield _result(block)
        else:
            rest.append(block)
    if rest:
        yield _Item("user", _content_text(rest))


def _result(step: Mapping[str, object]) -> _Item:
    result = step.get("result")
    text = _content_text(result)
    if text is None and result is not None:
        text = write_json(result).decode()
    return _Item("result", text, _text(step.get("call_id")) or "")


def _content_text(content: object) -> str | None:
    """Return the texts of *content* joined without a separator, or None when there is none."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, Sequence) else [content]
    texts = [block["text"] for block in blocks if isinstance(block, Mapping) and isinstance(block.get("text"), str)]
    return "".join(texts) if texts else None


def _declared(tools: object) -> Iterator[str]:
    for tool in tools if isinstance(tools, Sequence) else ():
        if isinstance(tool, Mapping) and tool.get("type") == "function" and isinstance(tool.get("name"), str):
            yield tool["name"]


def _after(items: Sequence[_Item], kind: str) -> Sequence[_Item]:
    for at in range(len(items) - 1, -1, -1):
        if items[at].kind == kind:
            return items[at + 1 :]
    return items


def _runs(items: Sequence[_Item], kind: str) -> int:
    before = [None, *[item.kind for item in items[:-1]]]
    return sum(1 for item, earlier in zip(items, before, strict=False) if item.kind == kind != earlier)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
