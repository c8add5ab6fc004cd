"""
Fixtures: which requests a mock provider answers, and how. Frozen data, without anything about serving.

A `Fixture` has a `Match` and its answers; `Fixtures` holds them in their order. A dialect extends `Match` with fields
of its own requests, and `Answer` with the content of an answer in the words of its wire.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, Final, TypeAlias, final

import attrs

from assistant_events.mock.faults import parse_fault
from assistant_events.mock.json_reader import (
    Code,
    Count,
    Seconds,
    at_least,
    checked,
    expect,
    is_integer,
    kind_of,
    read_class,
    read_object,
)
from assistant_events.mock.matching import Contains, Match, RequestFacts, TextRule, choose

_HEADER: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")
_FRAMING_HEADERS: Final = ("content-length", "transfer-encoding", "connection")

# Limits of an error: characters of a prompt that it shows and compares (it may have millions), fixtures that it lists.
_SHOWN: Final = 200
_COMPARED: Final = 1_000
_LISTED: Final = 20


def _read_headers(value: Any) -> tuple[tuple[str, str], ...]:
    faults: list[tuple[str, str]] = []
    for name, given in read_object(value).items():
        if not _HEADER.fullmatch(name) or name.lower() in _FRAMING_HEADERS:
            faults.append((name, "not a header that an answer may have"))
        elif not isinstance(given, str):
            faults.append((name, f"expected a string, got {kind_of(given)}"))
        elif not _HEADER_VALUE.fullmatch(given):
            faults.append((name, "not the value of a header: one line of Latin-1"))
    return checked(tuple(value.items()), faults)


HttpStatus: TypeAlias = Annotated[
    int, expect("an HTTP status from 400 to 599", lambda value: is_integer(value) and 400 <= value <= 599)
]


@final
@attrs.frozen(kw_only=True)
class HttpError:
    """An HTTP error with the error body of the provider, in place of an answer."""

    status: HttpStatus
    code: Code | None = None
    """Code in the error body; by default the code that the provider uses for `status`."""

    message: str = ""
    headers: Annotated[tuple[tuple[str, str], ...], _read_headers] = ()
    """For example `retry-after-ms`. In a file an object."""


@final
@attrs.frozen(kw_only=True)
class StreamError:
    """An `error` event that ends a stream."""

    code: Code = "internal"
    message: str = ""
    after: Count | None = None
    """Number of events before it; None: all but the last of the answer."""


@final
@attrs.frozen(kw_only=True)
class Timing:
    """
    Delays of an answer in seconds of the provider's clock, which the server may scale.

    From the request to the headers (`first_byte_s`); before each event, those of `waits_s`, then `between_s`.
    """

    first_byte_s: Seconds = 0.0
    between_s: Seconds = 0.0
    waits_s: tuple[Seconds, ...] = ()
    delta_chars: Annotated[int, at_least(1)] | None = None
    """Characters of a text or of arguments in one delta; `None`: the default of the server."""


def _read_fault(value: Any) -> str:
    text = read_class(value, str)
    parse_fault(text)
    return text


@attrs.frozen(kw_only=True)
class Answer:
    """One answer of the model; the class of a dialect adds the content."""

    CONTENT: ClassVar[tuple[str, ...]] = ()
    """Fields of which a file has at least one for each answer, so that an empty one is a slip."""

    id: str | None = None
    """Id of the response, so that a fixture can name it as the previous one. None: made by the server."""

    http_error: HttpError | None = None
    """Sent in place of everything else."""

    stream_error: StreamError | None = None
    timing: Timing = Timing()

    polls_in_progress: Count = 0
    """Number of polls of a background run that still show it as running."""

    cut_after: Count | None = None
    """Number of events after which the first stream of this answer breaks off; replays are whole."""

    faults: tuple[Annotated[str, _read_fault], ...] = ()
    """As on the command line, for example `drop@7` or `ten-minute-cut@600s`."""


@final
@attrs.frozen(kw_only=True)
class Fixture:
    """Requests and their answers."""

    match: Match = Match()
    answers: tuple[Answer, ...]
    """For the first request that matches, the second and so on; at least one."""

    repeat_last: bool = True
    """Whether later requests get the last answer again; otherwise they no longer match."""

    name: str = ""
    """Shown in errors and logs."""

    def answer(self, served: int) -> Answer | None:
        """Return the answer of the next request after *served* others; `None` when all answers are used up."""
        if served < len(self.answers):
            return self.answers[served]
        return self.answers[-1] if self.repeat_last else None


def _fixtures(given: Iterable[Fixture]) -> tuple[Fixture, ...]:
    return tuple(given)


@final
@attrs.frozen
class Fixtures:
    """
    Fixtures in their order: the first that matches answers.

    Those that name the result of a call precede the others, an empty `Match` comes last; of the rest `Match.position`
    prefers one.
    """

    fixtures: tuple[Fixture, ...] = attrs.field(default=(), converter=_fixtures)
    left_out: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    """One line for each fixture in the files that no request of this provider can match."""

    def __iter__(self) -> Iterator[Fixture]:
        return iter(self.fixtures)

    def __len__(self) -> int:
        return len(self.fixtures)

    def find(self, facts: RequestFacts, served: Mapping[int, int] | None = None) -> int | None:
        """Return the index of the fixture that answers a request; *served* has the number of its former requests."""
        counts = served or {}
        candidates = [
            (index, fixture.match)
            for index, fixture in enumerate(self.fixtures)
            if fixture.answer(counts.get(index, 0)) is not None
        ]
        return choose(candidates, facts)

    def miss(self, facts: RequestFacts, served: Mapping[int, int]) -> str:
        """Return why no fixture matches, in one line: the facts, the fixtures, and the text that is closest."""
        text = "no text of the user" if facts.user_text is None else f"newest user text {facts.user_text[:_SHOWN]!r}"
        about = [text, f"model {facts.model!r}"]
        about += [f"{name} {value!r}" for name, value in facts.fields.items() if value]
        about += [f"results of calls {list(facts.call_ids)!r}"] if facts.call_ids else []
        about += [f"turn {facts.turn}"]
        if not self.fixtures:
            return f"no fixture matches: {', '.join(about)}; the provider has no fixtures"
        listed = [
            f"{f'{fixture.name!r}: ' if fixture.name else ''}{fixture.match.summary}"
            f"{'' if fixture.answer(served.get(index, 0)) else ' (used up)'}"
            for index, fixture in enumerate(self.fixtures[:_LISTED])
        ]
        more = f" and {len(self.fixtures) - _LISTED} more" if len(self.fixtures) > _LISTED else ""
        close = _close([fixture.match.user_text for fixture in self.fixtures], (facts.user_text or "")[:_COMPARED])
        meant = "" if close is None else f"; did you mean {close!r}?"
        return f"no fixture matches: {', '.join(about)}{meant}; fixtures: {'; '.join(listed)}{more}"


def _close(rules: Sequence[TextRule | None], text: str) -> str | Contains | None:
    """Return the rule for the text of the user that almost matches."""
    whole = get_close_matches(text, [rule for rule in rules if isinstance(rule, str) and rule != text], 1)
    if whole:
        return whole[0]
    words = text.casefold().split()
    for rule in rules:
        if isinstance(rule, Contains) and rule.text not in text:
            wanted = rule.text.casefold().split()
            starts = range(len(words) - len(wanted) + 1)
            if get_close_matches(" ".join(wanted), [" ".join(words[at : at + len(wanted)]) for at in starts], 1, 0.75):
                return rule
    return None
