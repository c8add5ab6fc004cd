"""
Fixture files as JSON, read field by field: everything that is wrong is collected, with the place where it stands.

An `Entry` is one object of a file. What it is asked for and does not hold in the right form becomes a problem and
counts as missing; what nobody asked for is a problem when it is closed.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, NoReturn, Self, TypeGuard, final

from assistant_events.errors import FixtureError, JsonError
from assistant_events.values import read_json
from assistant_events.values.json_values import json_type

_MAX_NUMBER: Final = 10**30
"""Nothing is counted beyond it, and errors do not show such a number: Python prints none of over 4,300 digits."""

_MOST: Final = 1e15
_AMOUNT: Final = "a number from 0 to 1e15"


@final
class Problems:
    """What is wrong with some files."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str, str], FixtureError] = {}
        self._places: dict[tuple[str, str], str] = {}

    def add(self, file: str, entry: str, field: str, reason: str) -> None:
        """Take down one problem; the same again is the same."""
        key = (file, entry, field, reason)
        self._found.setdefault(key, FixtureError(*key))

    def place_of(self, key: str, value: str, place: str) -> str:
        """Return where *value* stood first as *key*: at *place*, or before."""
        return self._places.setdefault((key, value), place)

    def check(self) -> None:
        """
        Do nothing when nothing is wrong.

        Raises:
            FixtureError: The first problem, with the rest of them.
        """
        if self._found:
            first, *others = self._found.values()
            raise FixtureError(first.file, first.entry, first.field, first.reason, tuple(others)) from None


@final
class ObjectReader:
    """One JSON object at a known place."""

    def __init__(
        self, given: Mapping[str, object], problems: Problems, *, file: str, entry: str = "", path: str = ""
    ) -> None:
        self.given = given
        self.file = file
        self.entry = entry
        self._problems = problems
        self._path = path
        self._asked: list[str] = []

    def __contains__(self, key: str) -> bool:
        """Tell whether *key* is there and not null. It counts as asked for."""
        self._asked.append(key)
        return self.given.get(key) is not None

    def named(self, entry: str) -> Self:
        """Return the same object, as the entry that errors call *entry*."""
        return type(self)(self.given, self._problems, file=self.file, entry=entry)

    def problem(self, key: str, reason: str) -> None:
        """Take down what is wrong with *key*, or with the object itself when *key* is empty."""
        self._problems.add(self.file, self.entry, self._field(key), reason)

    def text(self, key: str) -> str | None:
        """Return a string, or None."""
        value = self._take(key)
        if value is None or isinstance(value, str):
            return value
        self._wrong(key, "a string", value)
        return None

    def unique(self, key: str) -> str | None:
        """Return a string that stands nowhere else as *key*, or None."""
        value = self.text(key)
        if value is not None:
            here = f"{self.file}: {self.entry}: {self._field(key)}"
            first = self._problems.place_of(key, value, here)
            if first != here:
                self.problem(key, f"{value!r} stands twice, first in {first}")
        return value

    def flag(self, key: str) -> bool | None:
        """Return true or false, or None."""
        value = self._take(key)
        if value is None or isinstance(value, bool):
            return value
        self._wrong(key, "true or false", value)
        return None

    def count(self, key: str, *, least: int = 0) -> int | None:
        """Return an integer that is not below *least*, or None."""
        value = self._take(key)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and least <= value < _MAX_NUMBER:
            return value
        self._wrong(key, f"an integer of at least {least}", value)
        return None

    def amount(self, key: str) -> float | None:
        """Return a number that is not negative, or None."""
        value = self._take(key)
        if value is None:
            return None
        if _is_amount(value):
            return float(value)
        self._wrong(key, _AMOUNT, value)
        return None

    def mapping(self, key: str) -> Mapping[str, object] | None:
        """Return an object as it stands, or None."""
        value = self._take(key)
        if value is None or isinstance(value, Mapping):
            return value
        self._wrong(key, "an object", value)
        return None

    def items(self, key: str) -> Sequence[object]:
        """Return a list as it stands, empty when there is none."""
        value = self._take(key)
        if value is None:
            return ()
        if isinstance(value, Sequence) and not isinstance(value, str):
            return value
        self._wrong(key, "a list", value)
        return ()

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of strings, empty when there is none."""
        found: list[str] = []
        for at, item in enumerate(self.items(key)):
            if isinstance(item, str):
                found.append(item)
            else:
                self._wrong(f"{key}[{at}]", "a string", item)
        return tuple(found)

    def amounts(self, key: str) -> tuple[float, ...]:
        """Return a list of numbers that are not negative, empty when there is none."""
        found: list[float] = []
        for at, item in enumerate(self.items(key)):
            if _is_amount(item):
                found.append(float(item))
            else:
                self._wrong(f"{key}[{at}]", _AMOUNT, item)
        return tuple(found)

    def value(self, key: str) -> Any:
        """Return whatever stands there, None when nothing does."""
        return self._take(key)

    def child(self, key: str) -> ObjectReader | None:
        """Return an object to be read, or None."""
        value = self.mapping(key)
        return None if value is None else self._below(value, self._field(key))

    def children(self, key: str) -> list[ObjectReader]:
        """Return a list of objects to be read, empty when there is none."""
        found: list[ObjectReader] = []
        for at, item in enumerate(self.items(key)):
            if isinstance(item, Mapping):
                found.append(self._below(item, f"{self._field(key)}[{at}]"))
            else:
                self._wrong(f"{key}[{at}]", "an object", item)
        return found

    def listed(self, key: str) -> ObjectReader:
        """Return a list as an object to be read, whose keys are the places, `[0]` the first."""
        return self._below({f"[{at}]": item for at, item in enumerate(self.items(key))}, self._field(key))

    def wrong(self, key: str, expected: str) -> None:
        """Take down that *key* holds something else than what was expected."""
        self._wrong(key, expected, self.given.get(key))

    def close(self) -> None:
        """Take down every key that nobody has asked for."""
        for key in self.given:
            if key not in self._asked:
                self.problem(key, unknown(key, self._asked))

    def _below(self, value: Mapping[str, object], path: str) -> ObjectReader:
        return ObjectReader(value, self._problems, file=self.file, entry=self.entry, path=path)

    def _take(self, key: str) -> Any:
        self._asked.append(key)
        return self.given.get(key)

    def _field(self, key: str) -> str:
        between = "." if self._path and key and key[0] != "[" else ""
        return f"{self._path}{between}{key}"

    def _wrong(self, key: str, expected: str, value: object) -> None:
        self.problem(key, f"expected {expected}, got {kind_of(value)}")


def read_file_text(data: bytes, file: str) -> Any:
    """
    Return the document in a file.

    Raises:
        FixtureError: It is no JSON, with the line; or a key stands twice in one object, of which one would be lost.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FixtureError(file, "", "", f"no UTF-8 at byte {error.start}") from None
    if not text.strip():
        raise FixtureError(file, "", "", "the file is empty")
    try:
        # Numbers are not looked at: Python refuses to parse one of over 4,300 digits.
        json.loads(text, object_pairs_hook=_without_twins, parse_int=str)
        return read_json(text)
    except json.JSONDecodeError as error:
        reason = f"line {error.lineno}, column {error.colno}: no JSON: {error.msg[:1].lower()}{error.msg[1:]}"
    except JsonError as error:
        reason = str(error)
    except RecursionError:
        reason = "nested too deeply"
    raise FixtureError(file, "", "", reason) from None


def unknown(word: str, known: Iterable[str], what: str = "key") -> str:
    """Return what is said about a word that nobody knows, with the one that was probably meant."""
    known = sorted(set(known))
    close = get_close_matches(word, known, 1)
    if close:
        return f"unknown {what}; did you mean {close[0]!r}?"
    return f"unknown {what}; known: {', '.join(known)}"


def kind_of(value: object) -> str:
    """Return what *value* is, in words. Strings are not shown: one may be a signature."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"the number {value!r}" if -_MAX_NUMBER < value < _MAX_NUMBER else "a number with very many digits"
    return "a list" if isinstance(value, (list, tuple)) else json_type(value)


def _is_amount(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= _MOST


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Any: plain JSON.
    document = dict(pairs)
    if len(document) < len(pairs):
        names = [name for name, _ in pairs]
        _refuse_twin(next(name for name in names if names.count(name) > 1))
    return document


def _refuse_twin(name: str) -> NoReturn:
    raise JsonError(f"the key {name!r} stands twice in one object")
