"""
Fixtures from files of this library, and from plain Python; all faults of all files are reported at once.

The classes of `fixtures` are the form of a file; `FixtureFormat` adds what a dialect has of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Annotated, Any, Final, Protocol, TypeAlias, cast, final

import attrs

from assistant_events.adapters.json_fields import is_array, is_object
from assistant_events.errors import FixtureError
from assistant_events.events import Event
from assistant_events.messages import AssistantMessage, MessageStatus
from assistant_events.mock.fixtures import Answer, Fixture, Fixtures, HttpError, StreamError, Timing
from assistant_events.mock.json_reader import (
    READ_ERRORS,
    FieldError,
    expect,
    faults_of,
    is_integer,
    kind_of,
    make_converter,
    read_file_text,
    read_object,
)
from assistant_events.mock.matching import Contains, Match, TextRule
from assistant_events.reducer import explain, find_problems, fold
from assistant_events.values import JsonObject, thaw

VERSION: Final = 1

_FLAGS: Final = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE, "a": re.ASCII}
_INSIDE: Final = re.compile("^[(][?][a-z]+[)]")
"""The flags of a pattern that are written in it."""


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
        if match is not Match:
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
        reason = explain(problem.item, problem.outcome)
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
    return f"(?{letters}){_INSIDE.sub('', pattern.pattern)}" if letters else pattern.pattern


_GIVEN: Final = "fixtures"
"""Name in errors of fixtures that are not from a file."""

_ENTRY: Final = re.compile(r"fixtures\[([0-9]+)\]\.?(.*)", re.DOTALL)

FixtureSource: TypeAlias = "Fixtures | Fixture | str | PathLike[str] | Mapping[Any, Any] | Iterable[Fixture]"
"""What `fixtures_of` accepts."""


def load_fixtures(form: FixtureFormat, *sources: str | PathLike[str] | Mapping[str, object]) -> Fixtures:
    """
    Return the fixtures of files, folders (every `.json` below them, by name) and parsed documents, in this order.

    Raises:
        FixtureError: Something in them is not valid; its `others` are the rest of the faults.
    """
    found: list[Fixture] = []
    left_out: list[str] = []
    faults: list[FixtureError] = []
    places: dict[str, str] = {}
    for file, document in _documents(sources, faults):
        try:
            read = form.read(read_object(document))
        except READ_ERRORS as error:
            faults += [_located(file, document, path, reason) for path, reason in faults_of(error)]
            continue
        found += read.fixtures
        left_out += [f"{file}: {_label(document, index)}: {reason}" for index, reason in read.left_out]
        faults += _repeated_ids(file, document, read.fixtures, places)
    _check(faults)
    return Fixtures(found, left_out=tuple(left_out))


def fixtures_of(form: FixtureFormat, source: FixtureSource) -> Fixtures:
    """
    Return fixtures from any source.

    A source is `Fixtures`; one `Fixture` or several; a path, the document of a file, or one fixture of it; or a mapping
    from the text of the user (a text, a pattern, a `Match`) to its answer: a text, an `Answer`, the `answer` of a file,
    or a list of those for the first request, the second and so on.

    Raises:
        FixtureError: The source is not valid.

        TypeError: It is of another type.
    """
    if isinstance(source, Fixtures):
        return source
    if isinstance(source, Fixture):
        return Fixtures((source,))
    if isinstance(source, (str, PathLike)):
        return load_fixtures(form, source)
    if is_object(source):
        # Any: the keys are checked there.
        given: Mapping[Any, Any] = source
        if is_object(given.get("match")) and not given.keys().isdisjoint(("answer", "answers")):
            given = {"version": VERSION, "fixtures": [given]}
        return load_fixtures(form, given) if "fixtures" in given else _from_pairs(form, given)
    if not isinstance(source, Iterable):
        raise TypeError(f"fixtures: expected answers, a path or fixtures, got {kind_of(source)}")
    return Fixtures([_checked(each) for each in source])


def _checked(given: object) -> Fixture:
    if isinstance(given, Fixture):
        return given
    raise TypeError(f"expected a Fixture, got {kind_of(given)}")


def _from_pairs(form: FixtureFormat, pairs: Mapping[Any, object]) -> Fixtures:
    found: list[Fixture] = []
    faults: list[FixtureError] = []
    for key, given in pairs.items():
        match = key if isinstance(key, Match) else form.match(user_text=_rule(key))
        name = key.summary if isinstance(key, Match) else getattr(key, "text", None) or getattr(key, "pattern", key)
        answers = given if is_array(given) else [given]
        made: list[Answer] = []
        for answer in answers:
            try:
                made.append(answer if isinstance(answer, Answer) else form.read_answer(answer))
            except READ_ERRORS as error:
                faults += [FixtureError(_GIVEN, repr(name), path, reason) for path, reason in faults_of(error)]
        if not answers:
            faults.append(FixtureError(_GIVEN, repr(name), "", "expected at least one answer, got an empty list"))
        found.append(Fixture(match=match, answers=tuple(made), name=name))
    _check(faults)
    return Fixtures(found)


def _rule(key: object) -> TextRule:
    if isinstance(key, (str, Contains, re.Pattern)):
        return key  # pyright: ignore[reportUnknownVariableType]  # isinstance leaves what it matches unknown
    raise TypeError(f"expected a text, a pattern, Contains or Match to answer, got {kind_of(key)}")


def _documents(sources: Iterable[object], faults: list[FixtureError]) -> Iterator[tuple[str, Any]]:
    for source in sources:
        if is_object(source):
            yield _GIVEN, source
            continue
        if not isinstance(source, (str, PathLike)):
            raise TypeError(f"expected a path or a mapping, got {kind_of(source)}")
        path = Path(fspath(source))
        try:
            files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        except OSError as error:
            files = []
            faults.append(FixtureError(str(path), "", "", _reason(error)))
        else:
            if not files:
                faults.append(FixtureError(str(path), "", "", "no .json file in this folder"))
        for file in files:
            try:
                yield str(file), read_file_text(file.read_bytes(), str(file))
            except FixtureError as error:
                faults.append(error)
            except (OSError, ValueError) as error:  # ValueError: a path with a null byte
                faults.append(FixtureError(str(file), "", "", _reason(error)))


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)


def _located(file: str, document: object, path: str, reason: str) -> FixtureError:
    found = _ENTRY.fullmatch(path)
    return (
        FixtureError(file, _label(document, int(found[1])), found[2], reason)
        if found
        else FixtureError(file, "", path, reason)
    )


def _label(document: Any, index: int) -> str:
    """Return the name of a fixture in errors: its place, and its own name."""
    entry = document["fixtures"][index]
    name = entry.get("name") if is_object(entry) else None
    return f"fixtures[{index}] {name!r}" if isinstance(name, str) and name else f"fixtures[{index}]"


def _repeated_ids(
    file: str, document: object, fixtures: Sequence[Fixture], places: dict[str, str]
) -> Iterator[FixtureError]:
    """Yield a fault for each answer whose id another answer has, in any file: the newer run would replace the older."""
    for index, fixture in enumerate(fixtures):
        for number, answer in enumerate(fixture.answers):
            if answer.id is None:
                continue
            label = _label(document, index)
            field = "answer.id" if len(fixture.answers) == 1 else f"answers[{number}].id"
            first = places.setdefault(answer.id, here := f"{file}: {label}: {field}")
            if first != here:
                yield FixtureError(file, label, field, f"{answer.id!r} occurs twice, first in {first}")


def _check(faults: Sequence[FixtureError]) -> None:
    if faults:
        first, *others = faults
        raise FixtureError(first.file, first.entry, first.field, first.reason, tuple(others))
