"""
The made-up answers of models that the benchmarks stream, apart from any wire format.

The same on every machine: everything comes from `random.Random` with a fixed seed. Deltas look like tokens: 3.7
characters on average, some with escapes, some outside ASCII, some emoji. `scale` makes an answer shorter and keeps its
shape.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from itertools import cycle, islice
from random import Random
from types import MappingProxyType
from typing import TypeAlias

import attrs

_COMMON = (
    " the| of| and| to| in| is| that| for| it| as| with| on| are| be| this| by| from| at| or| an|ing|ed|er|s|ly|al|."
)
_LONGER = (
    " stream| event| model| result| between| answer| because| example| record| provider| transcript| question| value"
)
_MARKS = ',| a| (|)|:| -|.\n\n|\n|**|\n- |`| "|"|\'s| 1|0|2026|\\|\t|{|}|/'
_WIDE = " für| naïve| café|é|ü|\u2019s|—|“|”|日本|語|の| привет| ελ| 🚀|👍🏽|👩\u200d💻"
_TOKENS: tuple[tuple[str, int], ...] = (
    *((token, 30) for token in _COMMON.split("|")),
    *((token, 18) for token in _LONGER.split("|")),
    *((token, 10) for token in _MARKS.split("|")),
    *((token, 3) for token in _WIDE.split("|")),
)
_WORDS = [token for token, _ in _TOKENS]
_WEIGHTS = [weight for _, weight in _TOKENS]

_TOOLS = ("get_weather", "search_orders", "read_file", "convert_currency")


@attrs.frozen
class Thought:
    """Reasoning in pieces, and the signature that follows it."""

    pieces: tuple[str, ...]
    signature: str


@attrs.frozen
class Text:
    """Visible text in pieces."""

    pieces: tuple[str, ...]


@attrs.frozen
class Call:
    """A call that the app is to run; the pieces are the JSON text of its input."""

    call_id: str
    name: str
    pieces: tuple[str, ...]


Part: TypeAlias = Thought | Text | Call


@attrs.frozen
class Answer:
    """One answer of a model, as it will be cut on the wire."""

    name: str
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """All visible text."""
        return "".join(["".join(part.pieces) for part in self.parts if isinstance(part, Text)])

    @property
    def reasoning(self) -> str:
        """All reasoning."""
        return "".join(["".join(part.pieces) for part in self.parts if isinstance(part, Thought)])

    @property
    def signatures(self) -> tuple[str, ...]:
        """The signatures of all reasoning."""
        return tuple([part.signature for part in self.parts if isinstance(part, Thought)])

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls."""
        return tuple([part for part in self.parts if isinstance(part, Call)])

    @property
    def deltas(self) -> int:
        """How many pieces of content there are."""
        return sum(len(part.pieces) for part in self.parts)


def chat(deltas: int = 2_000) -> Answer:
    """Make a chat answer: a signed thought without words, then text."""
    random = Random("chat")
    return Answer("chat", (Thought((), make_signature(random)), Text(_tokens(random, deltas))))


def big_tool(size: int = 1_000_000) -> Answer:
    """Make one call whose input is *size* bytes of rows of numbers, texts and lists, in fragments of 50 characters."""
    random = Random("big_tool")
    rows: list[str] = []
    written = 0
    while written < size:
        row = {
            "id": len(rows) + 1,
            "name": words(random, 6),
            "price": random.randrange(100_000) / 100,
            "tags": [token.strip() for token in _tokens(random, 3)],
            "active": random.random() < 0.5,
            "note": None if random.random() < 0.5 else words(random, 20),
        }
        rows.append(_json(row))
        written += len(rows[-1].encode()) + 1
    text = '{"path":"orders.json","rows":[' + ",".join(rows) + "]}"
    return Answer("big_tool", (Call("call_1", "write_rows", _cut(random, text, 20, 80)),))


def many_tools(calls: int = 200) -> Answer:
    """Make many parallel calls with inputs of about 50 fragments each."""
    random = Random("many_tools")
    return Answer("many_tools", tuple([_call(random, number, fragments=50) for number in range(1, calls + 1)]))


def steps(rounds: int = 100) -> Answer:
    """Make rounds of signed reasoning in 20 pieces, text in 40 and a call in about 10, all in one answer."""
    random = Random("steps")
    parts: list[Part] = []
    for number in range(1, rounds + 1):
        parts.append(Thought(_tokens(random, 20), make_signature(random)))
        parts.append(Text(_tokens(random, 40)))
        parts.append(_call(random, number, fragments=10))
    return Answer("steps", tuple(parts))


def fragments(pieces: int = 5_000) -> Answer:
    """Make one reasoning, one text and one call with *pieces* deltas each."""
    random = Random("fragments")
    thought = Thought(_tokens(random, pieces), make_signature(random))
    return Answer("fragments", (thought, Text(_tokens(random, pieces)), *long_tool_input(pieces).parts))


def long_text(deltas: int) -> Answer:
    """Make text of any length; after 100,000 pieces it repeats itself."""
    random = Random("long_text")
    pieces = _tokens(random, min(deltas, 100_000))
    return Answer("text", (Text(tuple(islice(cycle(pieces), deltas))),))


def long_tool_input(fragments: int) -> Answer:
    """
    Make one call that writes a file: its input is a path and one string, in fragments of exactly 50 characters.

    The input is an object, as every input has to be, but there is nothing in it to build: it stays text. It is ASCII:
    with one emoji Python keeps every character in four bytes, and a long input would measure the kernel's pages.
    """
    head, tail = '{"path":"report.md","content":"', '"}'
    room = 50 * fragments - len(head) - len(tail)
    page = _json(words(Random("long_tool_input"), 20_000).encode("ascii", "ignore").decode())[1:-1]
    whole, rest = divmod(room, len(page))
    # An escape must not be cut: what does not fill a page is plain letters.
    text = head + page * whole + "x" * rest + tail
    pieces = tuple([text[at : at + 50] for at in range(0, len(text), 50)])
    return Answer("tool_input", (Call("call_1", "write_file", pieces),))


def words(random: Random, count: int) -> str:
    """Return the text of *count* tokens."""
    return "".join(_tokens(random, count))


def make_signature(random: Random) -> str:
    """Return 600 characters that mean nothing."""
    return b64encode(random.randbytes(450)).decode()


def _long(scale: float) -> Answer:
    return attrs.evolve(chat(_at_least(1, 50_000 * scale)), name="long")


ANSWERS: Mapping[str, Callable[[float], Answer]] = MappingProxyType(
    {
        "chat": lambda scale: chat(_at_least(1, 2_000 * scale)),
        "long": _long,
        "big_tool": lambda scale: big_tool(_at_least(1, 1_000_000 * scale)),
        "many_tools": lambda scale: many_tools(_at_least(1, 200 * scale)),
        "steps": lambda scale: steps(_at_least(1, 100 * scale)),
    }
)
"""The five streams; each takes the scale, 1.0 for the real size."""


def _tokens(random: Random, count: int) -> tuple[str, ...]:
    return tuple(random.choices(_WORDS, _WEIGHTS, k=count))


def _call(random: Random, number: int, *, fragments: int) -> Call:
    days, query, text = random.randrange(14), "", ""
    while len(text) < 12 * fragments - 10:
        query += words(random, 4)
        text = _json({"city": "Zürich", "unit": "celsius", "days": days, "query": query})
    return Call(f"call_{number}", _TOOLS[number % len(_TOOLS)], _cut(random, text, 4, 20))


def _cut(random: Random, text: str, shortest: int, longest: int) -> tuple[str, ...]:
    pieces: list[str] = []
    at = 0
    while at < len(text):
        end = at + random.randint(shortest, longest)
        pieces.append(text[at:end])
        at = end
    return tuple(pieces)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _at_least(smallest: int, count: float) -> int:
    return max(smallest, round(count))
