"""
Templates of delta frames: the bytes that stay the same, and gaps where the text and other varying values are.

Nearly all frames of a stream are deltas, and one differs from the next in its text and in a few values without
meaning. A template is learned from one frame. It is exact: a gap matches one whole JSON token, or spaces where JSON
allows them, so a frame that matches parses to the learned one with other values in the gaps. A frame that does not
match is decoded in full.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias, final

import attrs

from assistant_events.adapters.json_fields import Fields, mapping
from assistant_events.errors import JsonError
from assistant_events.values import read_json, write_json

Path: TypeAlias = tuple[str | int, ...]
"""Keys and list indexes that lead to a value of a frame."""

Around: TypeAlias = tuple[bytes, bytes]
"""The bytes before and after a payload in its frame."""

_MAX_FRAME = 1 << 14
"""A longer frame is not learned: the search for its values would cost more than the template saves."""

_MAX_TRIES = 4
"""How many occurrences of a key are tried, each of which costs as much as parsing the frame."""

_FIRST_WINDOW = 1 << 12
"""`TemplateLearner.window` before the first run."""

_FIRST_WAIT = 3
_LAST_WAIT = 48
"""After how many frames a template is learned at first, and at most."""

_STRING = re.compile(rb'\s*:\s*("(?:[^"\\]|\\.)*")')
_NUMBER = re.compile(rb"\s*:\s*(-?\d+(?:\.\d+)?)")
_VALUES = {str: _STRING, int: _NUMBER, float: _NUMBER}
"""By the type of a varying value: what is behind its key."""

_PROBE = 7_310_947
"""Values that are tried in place of those of a frame are numbers from here on, and strings of them."""

NUMBER_LIMIT = 10**10
"""Numbers of items are smaller: frames with larger ones are decoded in full."""

_NUMBER_MARK = b"\0"
"""Where the number of the item is in a constant: a byte that JSON does not have."""

_LONG = 24
"""How many constant bytes are a group: to match each of them takes longer than to compare them at once."""

AS_LINE = b"", b"\n"
"""What is put around a payload where the bytes around it are not known."""

_UNIQUE = {"str": "unique", "int": "serial"}
"""By the type of a frame's id: its gap."""

_GAPS = {
    "text": rb'(?P<text>"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+")',
    "copy": rb"(?P=text)",
    "snapshot": rb'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\\x00-\x1f]*+)*+"',
    "unique": rb'"(?P<unique>[ !#-\[\]-~]{1,256}+)"',
    "serial": rb"(?P<unique>0|[1-9]\d{0,17}+)",
    "str": rb'"[ !#-\[\]-~]{0,256}+"',
    "int": rb"-?+(?:0|[1-9]\d{0,17}+)(?:\.\d{1,17}+)?+",
    "float": rb"-?+(?:0|[1-9]\d{0,17}+)(?:\.\d{1,17}+)?+",
}
"""
What a gap matches. Strings with escapes and numbers with exponents, which need a parser, are decoded in full.

A snapshot, which nothing reads, is any string of JSON.
"""

_PIECES = re.compile(rb'("(?:[^"\\]|\\.)*"|[^" \]}]+| (?![ \]}]))|( +(?![ \]}]))|( *[\]}])')
"""Constant bytes; several spaces; a closing bracket with the spaces before it."""


def _keys(keys: Iterable[str]) -> frozenset[str]:
    return frozenset(keys)


def _path(keys: str | Path) -> Path:
    return ((keys,) if keys else ()) if isinstance(keys, str) else keys


@final
@attrs.frozen(kw_only=True)
class DeltaFrames:
    """
    The keys of a dialect's delta frames, beside those that lead to the text.

    A frame with any other key is decoded in full.
    """

    constant: frozenset[str] = attrs.field(default=frozenset({"type"}), converter=_keys)
    """Keys, at every level, whose values are the same in all frames of one kind."""

    own: frozenset[str] = attrs.field(default=frozenset[str](), converter=_keys)
    """The same, at the level of the varying values alone."""

    number: Path = attrs.field(default=(), converter=_path)
    """Key of the item's number, or the path to it; frames without it are of no numbered item."""

    inside: tuple[str, ...] = ()
    """Keys that lead from the frame to the object with the varying values; none when it is the frame."""

    loose: frozenset[str] = attrs.field(default=frozenset[str](), converter=_keys)
    """Keys of values without meaning: padding, counters, random strings, dates."""

    counted: frozenset[str] = attrs.field(default=frozenset[str](), converter=_keys)
    """Keys whose last value counts, such as usage: `DecoderBase.on_skipped` gets it."""

    copies: tuple[Path, ...] = ()
    """Paths to strings that repeat the text of a frame, each beside some path to a text."""

    snapshots: tuple[Path, ...] = ()
    """Paths to strings beside the text that mean nothing, such as all of it so far."""

    unique: str = ""
    """Key of the frame's id or number, counted too. One in `DecoderBase.frame_ids` makes a frame a repeated one."""

    def allow(self, event: Fields, path: Path) -> bool:
        """Return whether *event* has a string at *path*, and beside the path only keys that are declared."""
        if isinstance(self._within(event).get(self.unique), (float, list, dict)):
            return False  # not an id
        value: Any = event
        varying = self._varying | self.own | {str(key) for key in self.number}
        for depth, step in enumerate(path):
            within: Any = value
            known = self.constant | varying if depth == len(self.inside) else self.constant
            if isinstance(within, dict) and step in within:
                if not within.keys() - {step} <= known:
                    return False
            elif not (isinstance(within, list) and len(within) == 1 and step == 0):
                return False
            value = value[step]
        return isinstance(value, str)

    def gaps(self, event: Fields, path: Path) -> Iterator[tuple[Path, str]]:
        """Yield the path and the kind of every value of *event* that varies."""
        yield path, "text"
        text = _value_at(event, path)
        for copy in self.copies:
            if copy != path and _value_at(event, copy) == text:
                yield copy, "text"
        for place in self.snapshots:
            if isinstance(_value_at(event, place), str):
                yield place, "snapshot"
        if self.number_in(event) is not None:
            yield self.number, "number"
        for key in self._varying:
            for place, value in _scalars(self._within(event).get(key), (*self.inside, key)):
                kind = type(value).__name__
                yield place, _UNIQUE.get(kind, kind) if key == self.unique else kind

    def counted_in(self, event: Fields) -> Fields:
        """Return the counted fields of a frame."""
        fields = self._within(event)
        return {key: fields[key] for key in {*self.counted, self.unique} if fields.get(key) is not None}

    def number_in(self, event: Fields) -> int | None:
        """Return the number of the item that a frame continues: `None` for items without numbers, -1 for a bad one."""
        number = _value_at(event, self.number) if self.number else None
        return number if number is None or type(number) is int else -1

    def _within(self, event: Fields) -> Fields:
        for key in self.inside:
            event = mapping(event, key)
        return event

    @property
    def _varying(self) -> frozenset[str]:
        return self.loose | self.counted | {self.unique} - {""}


class FramePattern(NamedTuple):
    """What matches the frames of one item whole."""

    pattern: re.Pattern[bytes]
    text: int
    """The group with the text."""

    unique: int
    """The group with the id of the frame; 0 where frames have none."""

    counts: bool
    """Whether a frame has counted values beside its id."""

    groups: tuple[int, ...]
    """The groups of constant bytes, and at last the one of what does not match, up to its end."""

    expected: tuple[bytes | None, ...]
    """What these groups have in a frame that matches: the constant bytes, and nothing."""


class FrameTemplate:
    """The constant bytes of a frame, and the gaps between them."""

    def __init__(
        self,
        literals: list[bytes],
        gaps: list[str],
        *,
        counted: frozenset[str] = frozenset[str](),
        unique: str = "",
        around: Around | None = None,
    ) -> None:
        self.around = around
        """The bytes around such a payload in its frame; `None` when they are not known."""

        self.counts = bool(counted - {unique})
        """Whether such a frame has counted values beside its id."""

        self._unique = unique

        self._literals = literals[:1]
        self._gaps: list[str] = []
        for gap, literal in zip(gaps, literals[1:], strict=True):
            if gap == "number":
                self._literals[-1] += _NUMBER_MARK + literal
            else:
                self._gaps.append(gap)
                self._literals.append(literal)
        before, after = around or AS_LINE
        head, tail = before + self._literals[0], b"".join([*self._literals[1:], after])
        self._head, self._tail = head.split(_NUMBER_MARK), tail.split(_NUMBER_MARK)
        self._patterns: dict[int, FramePattern] = {}
        """What matches frames, by the digits of the number of their item; constants have `_NUMBER_MARK` for it."""

        self.exact = not counted and self._gaps == ["text"]
        """Whether the text is the only gap in the frames of an item: until one has other spaces, for its whole kind."""

    @classmethod
    def learn(
        cls, payload: bytes, event: Fields, path: Path, fields: DeltaFrames, around: Around | None = None
    ) -> FrameTemplate | None:
        """Return the template of a frame, given as bytes and parsed; `None` when it has none."""
        if len(payload) > _MAX_FRAME or not fields.allow(event, path):
            return None
        gaps = dict(fields.gaps(event, path))
        spans = _find(payload, event, list(gaps))
        if spans is None:
            return None
        found = sorted([(*span, gap) for span, gap in zip(spans, gaps.values(), strict=True)])
        texts = [at for at, (_, _, gap) in enumerate(found) if gap == "text"]
        for at in texts[1:]:
            found[at] = (*found[at][:2], "copy")
        starts = [*(start for start, _, _ in found), len(payload)]
        ends = [0, *(end for _, end, _ in found)]
        return cls(
            [payload[end:start] for end, start in zip(ends, starts, strict=True)],
            [gap for _, _, gap in found],
            counted=frozenset(fields.counted_in(event)),
            unique=fields.unique,
            around=around,
        )

    def bound(self, number: int) -> tuple[bytes, bytes]:
        """
        Return the bytes of a frame before the first gap, and the constant ones after it without the other gaps.

        Args:
            number: Number of the item, which stays the same while its fragment is open.
        """
        item = b"%d" % number
        return item.join(self._head), item.join(self._tail)

    def id_fields(self, frame_id: bytes) -> Fields:
        """Return the id of a frame, as bytes without quotes, as the field that it is."""
        return {self._unique: int(frame_id) if "serial" in self._gaps else frame_id.decode()}

    def pattern(self, number: int) -> FramePattern:
        """
        Return what matches frames of an item, with any spaces before the brackets at the end.

        Long constants are groups of as many bytes, to be compared afterwards. That takes less time than to match them,
        and as the pattern does not depend on them, the cache of `re` has it for the next stream of the same shape.
        """
        item = b"%d" % number
        known = self._patterns.get(len(item))
        if known is None:
            # Compiled late: a frame without noise never needs it.
            known = self._patterns[len(item)] = self._compile(len(item))
        expected = (*[each and each.replace(_NUMBER_MARK, item) for each in known.expected],)
        return FramePattern(known.pattern, known.text, known.unique, known.counts, known.groups, expected)

    def _compile(self, digits: int) -> FramePattern:
        constants: dict[str, bytes] = {}
        written = b""
        for token, is_constant in self._tokens():
            if is_constant and (not constants or len(token) >= _LONG or _NUMBER_MARK in token):
                name, size = f"constant{len(constants)}", len(token) + (digits - 1) * token.count(_NUMBER_MARK)
                constants[name] = token
                written += b"(?P<%b>.{%d}+)" % (name.encode(), size)
            else:
                written += re.escape(token) if is_constant else token
        pattern = re.compile(written + b"|(?P<rest>.++)", re.DOTALL)
        at = pattern.groupindex
        groups, expected = (*map(at.__getitem__, constants), at["rest"]), (*constants.values(), None)
        return FramePattern(pattern, at["text"], at.get("unique", 0), self.counts, groups, expected)

    def _tokens(self) -> Iterator[tuple[bytes, bool]]:
        """Yield the parts of a frame in their order: constant bytes, and patterns of what varies."""
        before, after = self.around or AS_LINE
        *literals, last = self._literals
        constant = before
        for literal, gap in zip(literals, self._gaps, strict=True):
            yield constant + literal, True
            yield _GAPS[gap], False
            constant = b""
        for piece in _PIECES.finditer(last):
            same, _, bracket = piece.groups()
            if same is not None:
                constant += same
                continue
            yield constant, True
            yield rb" {0,256}+" + re.escape((bracket or b"").strip()), False
            constant = b""
        yield constant + after, True


Learned: TypeAlias = tuple[FrameTemplate | None, bool]
"""A template, and whether the type of a frame is in the name beside the document."""


class TemplateLearner:
    """
    Learns the template of one kind of frame.

    It waits for a few frames, so that a short stream does not pay for what it cannot use, and learns again when frames
    do not match: after twice as many each time if none has matched since, and at last not any more.
    """

    __slots__ = ("_left", "_wait", "earned", "named", "size", "template", "window")

    def __init__(self) -> None:
        self.template: FrameTemplate | None = None
        self.named = False
        """Whether the type of a frame is in the name beside the document."""

        self.earned = True
        """Whether frames have matched the template."""

        self.window = _FIRST_WINDOW
        """How many bytes are searched for a run of such frames: a little more than those of the last fragment had."""

        self.size = 0
        """How many bytes the runs of the open fragment have so far."""

        self._left = self._wait = _FIRST_WAIT

    def observe(self, learn: Callable[[], Learned]) -> None:
        """Count a frame that did not match, and learn from it when it is time."""
        self._left -= 1
        if self._left:
            return
        if not self.earned:
            self._wait *= 2
        self._left, self.earned, self.template = self._wait, False, None
        if self._wait <= _LAST_WAIT:
            self.template, self.named = learn()


def _scalars(value: object, path: Path) -> Iterator[tuple[Path, object]]:
    """Yield the strings and numbers inside a value, with their paths; an empty string may mean that one is missing."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _scalars(item, (*path, key))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _scalars(item, (*path, at))
    elif type(value) in _VALUES and value != "":
        yield path, value


def _find(payload: bytes, event: Fields, places: list[Path]) -> list[tuple[int, int]] | None:
    """Return where the values at *places* are in the payload; `None` when one of them is not found."""
    candidates = [list(_occurrences(payload, event, place)) for place in places]
    if not all(candidates):
        return None
    found = [spans[0] for spans in candidates]
    if _is_right(payload, event, places, found):
        return found  # most keys are there once
    several = [at for at, spans in enumerate(candidates) if len(spans) > 1]
    for at in several:
        # The first of the only key that is there several times has just been tried.
        spans = candidates[at][len(several) == 1 :]
        right = next((span for span in spans if _is_right(payload, event, [places[at]], [span])), None)
        if right is None:
            return None
        found[at] = right
    return found if several and _is_right(payload, event, places, found) else None


def _occurrences(payload: bytes, event: Fields, place: Path) -> Iterator[tuple[int, int]]:
    """Yield where there is a value of the right type behind the key of a place."""
    pattern = _VALUES[type(_value_at(event, place))]
    key = b'"%b"' % str(place[-1]).encode("utf-8", "replace")
    at = payload.find(key)
    for _ in range(_MAX_TRIES):
        if at < 0:
            return
        found = pattern.match(payload, at + len(key))
        if found is not None:
            yield found.span(1)
        at = payload.find(key, at + 1)


def _is_right(payload: bytes, event: Fields, places: list[Path], spans: list[tuple[int, int]]) -> bool:
    """Return whether other values in these spans of the payload are read at these places."""
    pieces: list[bytes] = []
    end = 0
    for number, ((start, stop), place) in enumerate(sorted(zip(spans, places, strict=True)), _PROBE):
        probe = str(number) if type(_value_at(event, place)) is str else number
        event = _replaced(event, place, probe)
        pieces += payload[end:start], write_json(probe)
        end = stop
    try:
        read: object = read_json(b"".join([*pieces, payload[end:]]), max_depth=None)
    except JsonError:
        return False
    return event == read


def _value_at(value: Any, path: Path) -> Any:
    """Return the value at *path*; `None` when there is none."""
    for step in path:
        if type(value) is dict:
            value = value.get(step)
        elif type(value) is list and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _replaced(value: Any, path: Path, new: object) -> Any:
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = _replaced(value[path[0]], path[1:], new)
    return copy
