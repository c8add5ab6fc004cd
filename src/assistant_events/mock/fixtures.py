"""
What a mock provider answers to what: plain data, nothing of how it is served.

A `Fixture` says which requests it answers (`Match`) and with what (`Answer`); `Fixtures` holds them in their order. All
of it is frozen: how often a fixture has answered is known to whoever serves it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias, final

import attrs

from assistant_events.values import JsonObject

if TYPE_CHECKING:
    from assistant_events.mock.matching import RequestFacts


@final
@attrs.frozen(repr=False)
class Contains:
    """Matches a text that holds *text* somewhere, with the same upper and lower case."""

    text: str

    def __repr__(self) -> str:
        return f"Contains({self.text!r})"


TextRule: TypeAlias = "str | Contains | re.Pattern[str]"
"""How a text is compared: a `str` is the whole text exactly, a pattern is searched for."""


def _optional_object(value: Mapping[str, object] | None) -> JsonObject | None:
    return None if value is None else JsonObject(value)


def _objects(values: Iterable[Mapping[str, object]]) -> tuple[JsonObject, ...]:
    return tuple([JsonObject(value) for value in values])


@final
@attrs.frozen(kw_only=True)
class Match:
    """
    Which requests a fixture answers: all that is said here has to hold.

    A field that is None asks for nothing, so that an empty `Match` answers every request.
    """

    user_text: TextRule | None = None
    """The newest text that the user sent, wherever it stands in `input`."""

    model: TextRule | None = None
    agent: TextRule | None = None

    call_id: str | None = None
    """A call that the request answers, with a `function_result` since the newest answer of the model."""

    last_call_id: str | None = None
    """The call that the very last thing in the request answers."""

    previous_interaction_id: TextRule | None = None
    """As it stands in the request; `""` asks for a request without one, the pattern `.` for one with any."""

    continuation_token: str | None = None
    """As it stands in the request; `""` asks for a request without one."""

    turn: int | None = None
    """Which prompt of the conversation this is, from 1. Answers of tools belong to the turn of their prompt."""

    system: tuple[TextRule, ...] = ()
    """Every one of them holds for `system_instruction`."""

    tool: str | None = None
    """A function that the request declares."""

    result_text: TextRule | None = None
    """Text of the very last thing in the request, which is a `function_result`."""

    has_result: bool | None = None
    """Whether the request answers calls since the newest text of the user."""

    position: int | None = None
    """
    How many answers of the model came before. A preference and no condition: of several fixtures that match, the one
    with the largest `position` that is not above the count wins. `turnIndex` of aimock means this.
    """

    conversation: bool = True
    """
    Whether everything is looked for and counted in the whole conversation, as `previous_interaction_id` joins it, so
    that it is the same whether a client sends all of it or only what is new. False: in what the request itself brings.
    """

    @property
    def summary(self) -> str:
        """What this asks for, in one line: the fields that ask for something."""
        said = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in attrs.fields(Match)
            if getattr(self, field.name) != field.default
        ]
        return ", ".join(said) or "everything"

    @property
    def is_about_a_result(self) -> bool:
        """Whether this names an answer to a call, or a token: such a fixture goes before those that do not."""
        named = (self.call_id, self.last_call_id, self.result_text, self.continuation_token or None)
        return self.has_result is True or any(one is not None for one in named)


@final
@attrs.frozen(kw_only=True)
class HttpError:
    """An answer that is no interaction: a status of 400 or more with the error body of the provider."""

    status: int
    code: str | int | None = None
    """`error.code` of the body: a word, or a number as in the classic body; made from `status` when None."""

    message: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    """For example `retry-after-ms`."""


@final
@attrs.frozen(kw_only=True)
class StreamError:
    """An `error` event in a stream, after which it ends."""

    code: str | int = "internal"
    message: str = ""
    after: int | None = None
    """How many events come before it; None: all but `interaction.completed`."""


@final
@attrs.frozen(kw_only=True)
class Timing:
    """How fast an answer is, in seconds of the provider's clock, which the server may scale."""

    first_byte_s: float = 0.0
    """From the request to the headers of the answer."""

    between_s: float = 0.0
    """Before each event but the first."""

    waits_s: tuple[float, ...] = ()
    """Before the first event, the second and so on, in the place of `between_s` as far as they go."""

    delta_chars: int | None = None
    """How many characters one delta of a text or of arguments has; `None`: as the server does by default."""


RESERVED: Final = frozenset({"id", "object", "status", "steps", "outputs", "usage", "continuation_token"})
"""Fields of the resource that `more` does not hold: an `Answer` has them itself, or the server makes them."""


def _check_more(answer: Answer, field: attrs.Attribute[JsonObject], more: JsonObject) -> None:
    wrong = sorted(RESERVED.intersection(more))
    if wrong:
        raise ValueError(f"more: {wrong[0]!r} is not one of the other fields; the answer has its own, or the server")


@final
@attrs.frozen(kw_only=True)
class Answer:
    """One answer of the model, as the steps of a resource of generation 2.x and what happens around it."""

    steps: tuple[JsonObject, ...] = attrs.field(default=(), converter=_objects)
    """What the model generated, in order; never `user_input`."""

    id: str | None = None
    """Id of the interaction, so that a fixture can name it as the previous one. None: made by the server."""

    status: str | None = None
    """None: `requires_action` when a function call of the client is unanswered, else `completed`."""

    usage: JsonObject | None = attrs.field(default=None, converter=_optional_object)
    """In the provider's words. None: made from the length of the texts."""

    more: JsonObject = attrs.field(factory=JsonObject, converter=JsonObject, validator=_check_more)
    """Other fields of the resource, for example `errors`, `environment_id` or `service_tier`."""

    http_error: HttpError | None = None
    """Comes instead of everything else."""

    stream_error: StreamError | None = None

    continuation_token: str | None = None
    """Given with the end. With it the default of `status` is `requires_continuation`."""

    timing: Timing = Timing()

    polls_in_progress: int = 0
    """How many times a GET of a background run still says `in_progress`."""

    cut_after: int | None = None
    """How many events the first stream of this interaction brings before it breaks off; replays are whole."""

    faults: tuple[str, ...] = ()
    """As on the command line, for example `drop@7` or `ten-minute-cut@600s`."""


@final
@attrs.frozen(kw_only=True)
class Fixture:
    """Requests and what they are answered with."""

    match: Match = Match()
    answers: tuple[Answer, ...]
    """For the first request that matches, the second and so on. Never empty."""

    repeat_last: bool = True
    """Whether the last answer is given again. If not, a used up fixture matches nothing any more."""

    name: str = ""
    """What errors and logs call it."""

    def answer(self, served: int) -> Answer | None:
        """Return what the request gets before which *served* others got an answer, or None when all are used up."""
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

    Of those that match, the ones go first that name an answer to a call or a token, and those last that ask for
    nothing; of what is left, the one that `Match.position` prefers.
    """

    fixtures: tuple[Fixture, ...] = attrs.field(default=(), converter=_fixtures)
    left_out: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    """One line for everything in the files that no request of this provider could ever get."""

    def __iter__(self) -> Iterator[Fixture]:
        return iter(self.fixtures)

    def __len__(self) -> int:
        return len(self.fixtures)

    def find(self, asked: RequestFacts, served: Mapping[int, int] | None = None) -> int | None:
        """
        Return the place of the fixture that answers a request, or None.

        Args:
            asked: What the request asks; `matching.asked` reads it from a body.

            served: How many requests each fixture has answered, by its place; none by default.
        """
        from assistant_events.mock.matching import choose

        return choose(self.fixtures, asked, served or {})
