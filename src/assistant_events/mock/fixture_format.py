"""
Fixture files in the form of this library, read and written.

The classes of `fixtures` are the form; `FixtureFormat` adds what a dialect has of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Protocol, TypeAlias, cast, final

import attrs

from assistant_events.events import Event
from assistant_events.messages import AssistantMessage, MessageStatus
from assistant_events.mock.fixtures import Answer, Fixture, HttpError, StreamError, Timing
from assistant_events.mock.json_reader import FieldError, expect, is_integer, kind_of, make_converter
from assistant_events.mock.matching import Contains, Match
from assistant_events.reducer import describe, find_problems, fold
from assistant_events.values import JsonObject, thaw

VERSION: Final = 1

_FLAGS: Final = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}


class AnswerEntry(Protocol):
    """The attrs class of a dialect for an answer in a file."""

    def answer(self) -> Answer:
        """
        Return the answer.

        Raises:
            FieldError: Fields contradict each other.
        """
        ...


@attrs.frozen(kw_only=True)
class _Entry:
    """A fixture in a file."""

    name: str = ""
    match: Match
    answer: Answer | None = None
    answers: tuple[Answer, ...] | None = None
    repeat_last: bool = True

    @staticmethod
    def check_keys(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        if ("answer" in given) == ("answers" in given):
            yield "", "expected either `answer` or `answers`"
        elif given.get("answers") == []:
            yield "answers", "expected at least one answer, got an empty list"


_Version: TypeAlias = Annotated[int, expect(f"{VERSION}", lambda value: is_integer(value) and value == VERSION)]


@attrs.frozen(kw_only=True)
class _Document:
    """A file."""

    version: _Version
    fixtures: tuple[_Entry, ...]
    description: str = ""


@final
@attrs.frozen(kw_only=True)
class ReadFixtures:
    """The fixtures of a document."""

    fixtures: Sequence[Fixture]
    left_out: Sequence[tuple[int, str]] = ()
    """Index and reason of each fixture that no request of the dialect can match."""


@final
class FixtureFormat:
    """
    The form of the fixture files of one dialect: its class of matches, and its class of answers in a file.

    *read_other* reads a document of another form; it returns None for one of this form.
    """

    def __init__(
        self,
        *,
        match: type[Match],
        entry: type[AnswerEntry],
        read_other: Callable[[Mapping[str, Any]], ReadFixtures | None] = lambda document: None,
    ) -> None:
        converter = make_converter()
        converter.register_structure_hook_func(
            lambda type_: type_ is Match, lambda value, _: converter.structure(value, match)
        )
        converter.register_structure_hook_func(
            lambda type_: type_ is Answer, lambda value, _: converter.structure(value, entry).answer()
        )
        self.match = match
        self._converter = converter
        self._read_other = read_other

    def read(self, document: Mapping[str, Any]) -> ReadFixtures:
        """
        Return the fixtures of a document.

        Raises one of `READ_ERRORS`.
        """
        other = self._read_other(document)
        if other is not None:
            return other
        own = {key: value for key, value in document.items() if key != "$schema"}
        fixtures = [
            Fixture(
                match=entry.match,
                answers=(entry.answer,) if entry.answer is not None else entry.answers or (),
                repeat_last=entry.repeat_last,
                name=entry.name,
            )
            for entry in self._converter.structure(own, _Document).fixtures
        ]
        return ReadFixtures(fixtures=fixtures)

    def read_answer(self, value: Any) -> Answer:
        """
        Return an answer from a text, or from the `answer` of a document.

        Raises one of `READ_ERRORS`.
        """
        if not isinstance(value, (str, Mapping)):
            raise FieldError(("", f"expected a text, an Answer, or the `answer` of a file, got {kind_of(value)}"))
        return self._converter.structure({"text": value} if isinstance(value, str) else value, Answer)


def message_of(events: Sequence[Event]) -> AssistantMessage:
    """
    Return the message of the events of one answer.

    Raises:
        FieldError: They are not legal, or not those of one answer that has ended.
    """
    for problem in find_problems(events):
        reason = f"{describe(problem.item)} is out of place ({problem.outcome.value})"
        raise FieldError((f"events[{problem.position}]", reason))
    messages = fold(events).messages
    if len(messages) != 1 or not isinstance(messages[0], AssistantMessage):
        raise FieldError(("events", "expected the events of one answer"))
    if messages[0].status is MessageStatus.RUNNING:
        raise FieldError(("events", "expected an answer that has ended; step.ended or step.failed is missing"))
    return messages[0]


# -- written


def fixture_document(fixtures: Iterable[Fixture]) -> dict[str, Any]:
    """Return the document of a file with *fixtures*. `load_fixtures` reads equal ones from it."""
    # Any: plain JSON.
    return {"version": VERSION, "fixtures": [_written_fixture(fixture) for fixture in fixtures]}


def _written_fixture(fixture: Fixture) -> dict[str, Any]:
    answers = [_written(answer) for answer in fixture.answers]
    return {
        **({"name": fixture.name} if fixture.name else {}),
        "match": _written(fixture.match),
        **({"answer": answers[0]} if len(answers) == 1 else {"answers": answers}),
        **({} if fixture.repeat_last else {"repeat_last": False}),
    }


def _written(value: Match | Answer | HttpError | StreamError | Timing) -> dict[str, Any]:
    """Return the fields that do not have their default, and the content of an answer without any."""
    found: dict[str, Any] = {}
    for field in attrs.fields(type(value)):
        held = getattr(value, field.name)
        if held != field.default:
            found[field.name] = _plain(held)
    content = getattr(value, "CONTENT", ())
    return found if not content or any(name in found for name in content) else {content[0]: [], **found}


def _plain(value: Any) -> Any:
    # Any: the value of a field, and plain JSON.
    if isinstance(value, Contains):
        return {"contains": value.text}
    if isinstance(value, re.Pattern):
        return {"matches": _with_flags(cast("re.Pattern[str]", value))}
    if isinstance(value, (HttpError, StreamError, Timing)):
        return _written(value)
    if isinstance(value, tuple):
        items: Sequence[Any] = cast("Any", value)
        return dict(items) if items and isinstance(items[0], tuple) else [_plain(item) for item in items]
    return thaw(value) if isinstance(value, JsonObject) else value


def _with_flags(pattern: re.Pattern[str]) -> str:
    letters = "".join([letter for letter, flag in _FLAGS.items() if pattern.flags & flag])
    return f"(?{letters}){pattern.pattern}" if letters and not pattern.pattern.startswith("(?") else pattern.pattern
