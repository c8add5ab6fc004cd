"""
Fixtures from files, and from plain Python.

The form of a file is told by `version`, which ours has. Everything that is wrong in all the files is reported at once.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final, TypeAlias

from assistant_events.errors import FixtureError
from assistant_events.mock import aimock
from assistant_events.mock.fixture_format import read_answer, read_fixture, write_fixture
from assistant_events.mock.fixtures import Answer, Contains, Fixture, Fixtures, Match
from assistant_events.mock.json_reader import ObjectReader, Problems, kind_of, read_file_text

VERSION: Final = 1

_GIVEN: Final = "fixtures"
"""What errors call fixtures that no file holds."""

FixtureSource: TypeAlias = "Fixtures | Fixture | str | PathLike[str] | Mapping[Any, Any] | Iterable[Fixture]"
"""What `fixtures_of` takes."""


def load_fixtures(*sources: str | PathLike[str] | Mapping[str, object]) -> Fixtures:
    """
    Return the fixtures of files, folders (every `.json` below them, by name) and parsed documents, in this order.

    Both forms are read, that of this library and that of aimock.

    Raises:
        FixtureError: Something in them makes no sense. Its `others` hold the rest of what is wrong.
    """
    found: list[Fixture] = []
    left_out: list[str] = []
    wrong = Problems()
    for file, document in _documents(sources, wrong):
        own, notes = _read(document, file, wrong)
        found += own
        left_out += notes
    wrong.check()
    return Fixtures(found, left_out=tuple(left_out))


def fixtures_of(source: FixtureSource) -> Fixtures:
    """
    Return fixtures from whatever says them.

    Args:
        source: `Fixtures`; one `Fixture` or several; a path, or the document of a file; or a mapping of what the user
            says (a text, a pattern, a `Match`) to what is answered: a text, an `Answer`, what `answer` is in a file,
            or a list of those for the first request, the second and so on.

    Raises:
        FixtureError: It makes no sense.

        TypeError: It is something else.
    """
    if isinstance(source, Fixtures):
        return source
    if isinstance(source, Fixture):
        return Fixtures((source,))
    if isinstance(source, (str, PathLike)):
        return load_fixtures(source)
    if isinstance(source, Mapping):
        # Any: the keys of what is no file are looked at there.
        given: Mapping[Any, Any] = source
        return load_fixtures(given) if "fixtures" in given else _from_pairs(given)
    return Fixtures([_checked(one) for one in source])


def _checked(one: object) -> Fixture:
    if isinstance(one, Fixture):
        return one
    raise TypeError(f"expected a Fixture, got {kind_of(one)}")


def _from_pairs(pairs: Mapping[Any, object]) -> Fixtures:
    found: list[Fixture] = []
    wrong = Problems()
    for key, said in pairs.items():
        match, name = _match_of(key)
        answers = said if isinstance(said, Sequence) and not isinstance(said, str) else [said]
        if not answers:
            wrong.add(_GIVEN, repr(name), "", "expected at least one answer, got an empty list")
        made = [_answer_of(one, name, wrong) for one in answers]
        found.append(Fixture(match=match, answers=tuple(made), name=name))
    wrong.check()
    return Fixtures(found)


def _match_of(key: object) -> tuple[Match, str]:
    if isinstance(key, Match):
        return key, key.summary
    if isinstance(key, str):
        return Match(user_text=key), key
    if isinstance(key, Contains):
        return Match(user_text=key), key.text
    if isinstance(key, re.Pattern):
        return Match(user_text=key), key.pattern
    raise TypeError(f"expected a text, a pattern, Contains or Match to answer, got {kind_of(key)}")


def _answer_of(said: object, name: str, wrong: Problems) -> Answer:
    if isinstance(said, Answer):
        return said
    if isinstance(said, str):
        said = {"text": said}
    if isinstance(said, Mapping):
        return read_answer(ObjectReader(said, wrong, file=_GIVEN, entry=repr(name)))
    wrong.add(_GIVEN, repr(name), "", f"expected a text, an Answer, or what `answer` is in a file, got {kind_of(said)}")
    return Answer()


def _documents(sources: Iterable[object], wrong: Problems) -> Iterable[tuple[str, Any]]:
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
            wrong.add(str(path), "", "", _reason(error))
        else:
            if not files:
                wrong.add(str(path), "", "", "no .json file in this folder")
        for file in files:
            try:
                yield str(file), read_file_text(file.read_bytes(), str(file))
            except FixtureError as error:
                wrong.add(error.file, error.entry, error.field, error.reason)
            except (OSError, ValueError) as error:  # ValueError: a path with a null byte
                wrong.add(str(file), "", "", _reason(error))


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)


def _read(document: object, file: str, wrong: Problems) -> tuple[list[Fixture], list[str]]:
    if not isinstance(document, Mapping):
        wrong.add(file, "", "", f"expected an object with `version` and `fixtures`, got {kind_of(document)}")
        return [], []
    top = ObjectReader(document, wrong, file=file)
    if "fixtures" not in top:
        top.problem("fixtures", "is missing: expected a list")
        return [], []
    entries = [entry.named(_label(at, entry.given.get("name"))) for at, entry in enumerate(top.children("fixtures"))]
    if "version" not in top and any("response" in entry for entry in entries):
        return aimock.read(entries)
    version = top.value("version")
    if version != VERSION or isinstance(version, bool):
        top.problem("version", f"expected {VERSION}, got {kind_of(version)}")
    top.text("description")
    top.text("$schema")
    top.close()
    return [read_fixture(entry) for entry in entries], []


def _label(at: int, name: object) -> str:
    return f"fixtures[{at}] {name!r}" if isinstance(name, str) and name else f"fixtures[{at}]"


def fixture_document(fixtures: Iterable[Fixture]) -> dict[str, Any]:
    """Return the document of a file that holds *fixtures*. `load_fixtures` makes equal ones of it."""
    # Any: plain JSON.
    return {"version": VERSION, "fixtures": [write_fixture(fixture) for fixture in fixtures]}
