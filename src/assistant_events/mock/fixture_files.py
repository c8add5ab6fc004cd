"""
Fixtures from files, and from plain Python. All faults of all files are reported at once.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final, TypeAlias

from assistant_events.errors import FixtureError
from assistant_events.mock.fixture_format import FixtureFormat
from assistant_events.mock.fixtures import Answer, Fixture, Fixtures
from assistant_events.mock.json_reader import READ_ERRORS, faults_of, kind_of, read_file_text, read_object
from assistant_events.mock.matching import Contains, Match, TextRule

_GIVEN: Final = "fixtures"
"""Name in errors of fixtures that are not from a file."""

_ENTRY: Final = re.compile(r"fixtures\[([0-9]+)\]\.?(.*)", re.DOTALL)

FixtureSource: TypeAlias = "Fixtures | Fixture | str | PathLike[str] | Mapping[Any, Any] | Iterable[Fixture]"
"""What `fixtures_of` accepts."""


def load_fixtures(form: FixtureFormat, *sources: str | PathLike[str] | Mapping[str, object]) -> Fixtures:
    """
    Return the fixtures of files, folders (every `.json` below them, by name) and parsed documents, in this order.

    Args:
        form: Of the dialect.

        *sources: Paths and documents.

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

    Args:
        form: Of the dialect.

        source: `Fixtures`; one `Fixture` or several; a path, or the document of a file; or a mapping from the text of
            the user (a text, a pattern, a `Match`) to its answer: a text, an `Answer`, the `answer` of a file, or a
            list of those for the first request, the second and so on.

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
    if isinstance(source, Mapping):
        # Any: the keys are checked there.
        given: Mapping[Any, Any] = source
        return load_fixtures(form, given) if "fixtures" in given else _from_pairs(form, given)
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
        answers = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
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
        return key
    raise TypeError(f"expected a text, a pattern, Contains or Match to answer, got {kind_of(key)}")


def _documents(sources: Iterable[object], faults: list[FixtureError]) -> Iterator[tuple[str, Any]]:
    for source in sources:
        if isinstance(source, Mapping):
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
    name = entry.get("name") if isinstance(entry, Mapping) else None
    return f"fixtures[{index}] {name!r}" if isinstance(name, str) and name else f"fixtures[{index}]"


def _repeated_ids(
    file: str, document: object, fixtures: Sequence[Fixture], places: dict[str, str]
) -> Iterator[FixtureError]:
    """Yield a fault for each answer whose id another answer has, in any file: the newer run would replace the older."""
    for index, fixture in enumerate(fixtures):
        for number, answer in enumerate(fixture.answers):
            if answer.id is None:
                continue
            label, field = (
                _label(document, index),
                "answer.id" if len(fixture.answers) == 1 else f"answers[{number}].id",
            )
            first = places.setdefault(answer.id, here := f"{file}: {label}: {field}")
            if first != here:
                yield FixtureError(file, label, field, f"{answer.id!r} occurs twice, first in {first}")


def _check(faults: Sequence[FixtureError]) -> None:
    if faults:
        first, *others = faults
        raise FixtureError(first.file, first.entry, first.field, first.reason, tuple(others))
