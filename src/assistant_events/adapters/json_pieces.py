"""
A JSON object that comes as values with their places, and the JSON text that it adds up to.

A place is a JSON path (RFC 9535) of names and indexes, such as `$.items[0].name` or `$['a b']`.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from assistant_events.adapters.json_fields import Fields, flag, string
from assistant_events.errors import JsonError
from assistant_events.values import MAX_DEPTH, read_json, valid_text, write_json

Place: TypeAlias = tuple[str | int, ...]

_VALUES: Final = {str: "stringValue", float: "numberValue", bool: "boolValue", type(None): "nullValue"}
"""Field with the value of a piece of arguments, by its class; of these, a piece has one."""

_NO_VALUES: Final = frozenset({"jsonPath", "willContinue"})
"""The other fields of a piece of arguments."""

_STEP: Final = re.compile(r"""\.([^.\[\]'"]+)|\[(\d{1,6})\]|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]""")
_MARK: Final = re.compile(r'["{}\[\]]|\\.')
"""What may open or close a value in JSON text, and escapes in strings."""

_ESCAPE: Final = re.compile(r"\\(.)")
_QUOTES: Final = re.compile(r"""\\'|"|\\.""")
"""Quotes in a name that JSON writes otherwise, and escapes."""

_MOST_MISSING: Final = 64
"""How many values of an array may be missing at once before one that came; with more, its index is not believed."""


class JsonPieces:
    """One object, as far as it came."""

    def __init__(self) -> None:
        self.value: dict[str, Any] = {}
        """The object; its last string is whole after `end`."""

        self.is_ordered = True
        """Whether the text has all of it: each value came behind the one before. Otherwise the text has a beginning."""

        self.will_continue = True
        """Whether more is announced of the last value; so it is before the first one."""

        self._place: Place = ()
        """The place of the last value; the objects and arrays that lead to it are open in the text."""

        self._pieces: list[str] | None = None
        """The pieces of a string that is open."""

    def add(self, path: str, value: Any) -> str | None:
        """
        Return the text that one more value adds.

        Args:
            path: Its place. The values of an array may come in any order (adk-go#1610): missing ones are null.

            value: Plain JSON, or a piece of the string that was last, when that is at this place: it ends where another
                value comes, as the clients of Google and of others read it, whether more was announced or not.

        Returns:
            The text; `None`, and nothing has happened, when the object has no such place.
        """
        place, text = place_of(path), value if isinstance(value, str) else None
        if place is None:
            return None
        if text is not None and self._pieces is not None and place == self._place:
            self._pieces.append(text)
            added = write_json(text)[1:-1].decode()
        elif self._put(place, value):
            added = self._end_string() + self._go_to(place)
            self._put(place, value)  # again: the string may have been here
            self._pieces = None if text is None else [text]
            added += write_json(value).decode().removesuffix('"')
        else:
            return None
        return added if self.is_ordered else ""

    def add_argument(self, argument: Fields) -> str | None:
        """
        Return the text that a piece of arguments adds, an object of the wires of Google; `None` as for `add`.

        One without a value adds nothing: it ends the value or the array at its place, `$.items[]` (adk-go#1610).
        """
        name = _value_field(argument)
        value = None if name == "nullValue" else argument.get(name)
        value = int(value) if isinstance(value, float) and value.is_integer() else value
        self.will_continue = flag(argument, "willContinue") is True
        if not name and all(argument[field] is None for field in argument.keys() - _NO_VALUES):
            return ""
        return self.add(string(argument, "jsonPath") or "", value) if name else None

    def end(self) -> str:
        """Return the end of the text."""
        added = self._end_string() + _closed(self._place)
        return added if self.is_ordered else ""

    def _end_string(self) -> str:
        if self._pieces is None:
            return ""
        self._put(self._place, "".join(self._pieces))
        return '"'

    def _put(self, place: Place, value: Any) -> bool:
        """Put a value into the object; return whether the place can hold it."""
        within: Any = self.value
        for at, step in enumerate(place):
            rest = place[at + 1 :]
            known = _knows(within, step)
            if known is None or (not known and any(isinstance(each, int) and each > _MOST_MISSING for each in rest)):
                return False
            if not known or not rest:
                new: Any = value if not rest else [] if isinstance(rest[0], int) else {}
                if isinstance(step, int) and step >= len(within):
                    self.is_ordered = self.is_ordered and step == len(within)
                    within += [*[None] * (step - len(within)), new]
                else:
                    within[step] = new
            within = within[step]
        return True

    def _go_to(self, place: Place) -> str:
        """Return the text between the last value and the one at *place*, which is in the object."""
        old = self._place
        shared = min(len(old), len(place))
        same = next((at for at in range(shared) if old[at] != place[at]), shared)
        added = f"{_closed(old[same + 1 :])}," if old else "{"
        self.is_ordered = self.is_ordered and (not old or (same < shared and self._is_next(place[: same + 1])))
        for at, step in enumerate(place[same:], same):
            bracket = "" if at == same else "[" if isinstance(step, int) else "{"
            added += bracket if isinstance(step, int) else f"{bracket}{write_json(step).decode()}:"
        self._place = place
        return added

    def _is_next(self, place: Place) -> bool:
        """Return whether a place is the last one in its object or array."""
        within: Any = self.value
        for step in place[:-1]:
            within = within[step]
        last = len(within) - 1 if isinstance(within, list) else next(reversed(within))
        return bool(last == place[-1])


def _knows(within: Any, step: str | int) -> bool | None:
    """Return whether an object or array has a value at *step*, and no null of an array; `None` when it cannot."""
    if isinstance(step, str):
        return step in within if isinstance(within, dict) else None
    if not isinstance(within, list) or step > len(within) + _MOST_MISSING:
        return None
    return step < len(within) and within[step] is not None


def _closed(steps: Place) -> str:
    return "".join([("]" if isinstance(step, int) else "}") for step in steps[::-1]])


def place_of(path: str) -> Place | None:
    """Return the steps of a path; `None` when it is none of names and indexes, or too deep."""
    steps: list[str | int] = []
    at = 1
    while (step := _STEP.match(path, at)) is not None:
        name, index, *quoted = step.groups()
        at = step.end()
        if index is not None:
            steps.append(int(index))
        else:
            steps.append(name if name is not None else _unquoted(next(each for each in quoted if each is not None)))
    whole = path[:1] == "$" and at == len(path) and 0 < len(steps) < MAX_DEPTH // 2
    return tuple(steps) if whole and isinstance(steps[0], str) else None


def _unquoted(name: str) -> str:
    """Return the text of a name in quotes, whose escapes are those of JSON; any other is the character behind it."""
    text = _QUOTES.sub(lambda found: {"\\'": "'", '"': '\\"'}.get(found[0], found[0]), name)
    try:
        return valid_text(read_json(f'"{text}"'))
    except JsonError:
        return _ESCAPE.sub(r"\1", name)


def _value_field(argument: Fields) -> str:
    """Return the field with the value of a piece of arguments; `""` for none. The null of JSON is one by itself."""
    given = [name for name in _VALUES.values() if name in argument]
    return next((name for name in given if argument[name] is not None or given == ["nullValue"]), "")


def argument_of(path: str, value: object) -> dict[str, object]:
    """Return a value as a piece of arguments, the inverse of `JsonPieces.add_argument`."""
    field = next((field for kind, field in _VALUES.items() if isinstance(value, kind)), "numberValue")
    return {"jsonPath": path, field: "NULL_VALUE" if value is None else value}


def pieces_of(text: str) -> list[tuple[str, Any, bool]] | None:
    """
    Return what adds up to the text of an object that was cut: path and value for `JsonPieces.add`, and if it is last.

    `None` when it is not such a text: values in it are whole, but for the last string.
    """
    open_brackets: list[str] = []
    is_string = False
    for mark in _MARK.finditer(text):
        if mark[0] == '"':
            is_string = not is_string
        elif not is_string and mark[0] in "{[":
            open_brackets.append("}" if mark[0] == "{" else "]")
        elif not is_string and open_brackets:
            open_brackets.pop()
    try:
        found = list(_leaves(read_json(text + '"' * is_string + "".join(open_brackets[::-1])), "$"))
    except JsonError:
        return None
    has_empty = any(isinstance(value, (dict, list)) for _, value in found)
    return None if has_empty else [(*each, each is found[-1]) for each in found]


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the values in plain JSON that hold no others, with their places."""
    steps: Any = value.items() if isinstance(value, dict) else [*enumerate(value)] if isinstance(value, list) else ()
    for step, each in steps:
        yield from _leaves(each, f"{path}[{write_json(step).decode()}]")
    if not steps:
        yield path, value
