"""
Streams that a provider never sends: bodies damaged in every way that can be thought of, the same for the same seed.

Works on lines, and on the JSON inside of them, so it fits server-sent events and JSON lines alike.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, Final, TypeAlias, cast

Steps: TypeAlias = tuple[str | int, ...]
"""Keys and indexes that lead to a value in JSON."""

HOSTILE_JSON: Final[tuple[str, ...]] = (
    "null",
    "true",
    "-1",
    "0.5",
    "1e400",
    "NaN",
    "9" * 5000,
    '""',
    '"x"',
    r'"\ud83d"',
    r'"\ude00\u0000"',
    "[]",
    "[1]",
    "{}",
    '{"type":"text","text":"y"}',
    "[" * 300 + "]" * 300,
    '{"a":' * 195 + "1" + "}" * 195,
)
"""Values that are put where others belong, as JSON text."""

_MARK = "\x00hostile\x00"


def mutated(body: bytes, random: Random) -> bytes:
    """Return the bytes of a stream with one to four damages, which *random* decides: equal seeds give equal bytes."""
    for _ in range(random.randint(1, 4)):
        body = random.choice(MUTATIONS)(body, random)
    return body


def _flip_bits(body: bytes, random: Random) -> bytes:
    changed = bytearray(body)
    for _ in range(random.randint(1, 8) if changed else 0):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _drop_bytes(body: bytes, random: Random) -> bytes:
    start = random.randrange(len(body) + 1)
    return body[:start] + body[start + random.randint(1, 20) :]


def _insert_bytes(body: bytes, random: Random) -> bytes:
    at = random.randrange(len(body) + 1)
    return body[:at] + random.choice((b"\xff\xfe", b"\r", b"\n\n", b"\xef\xbb\xbf", b'"', b"}", b"\x00")) + body[at:]


def _truncate(body: bytes, random: Random) -> bytes:
    return body[: random.randrange(len(body) + 1)]


def _drop_lines(body: bytes, random: Random) -> bytes:
    return _on_blocks(body, random, lambda blocks, at: blocks[:at] + blocks[at + 1 :])


def _double_lines(body: bytes, random: Random) -> bytes:
    return _on_blocks(body, random, lambda blocks, at: [*blocks[:at], blocks[at], *blocks[at:]])


def _swap_lines(body: bytes, random: Random) -> bytes:
    other = random.random()

    def swapped(blocks: list[bytes], at: int) -> list[bytes]:
        to = int(other * len(blocks))
        blocks[at], blocks[to] = blocks[to], blocks[at]
        return blocks

    return _on_blocks(body, random, swapped)


def _replay(body: bytes, random: Random) -> bytes:
    """Begin once more from the start, somewhere."""
    return body[: random.randrange(len(body) + 1)] + body


def _replace_value(body: bytes, random: Random) -> bytes:
    value = random.choice(HOSTILE_JSON)
    return _on_json(body, random, lambda holder, key: holder.__setitem__(key, _MARK)).replace(
        json.dumps(_MARK).encode(), value.encode()
    )


def _remove_value(body: bytes, random: Random) -> bytes:
    return _on_json(body, random, lambda holder, key: holder.__delitem__(key))


def _copy_value(body: bytes, random: Random) -> bytes:
    """Put the value of one field into another one of the same object."""

    def copied(holder: Any, key: str | int) -> None:
        # Any: a list or a dict, as JSON was read.
        keys: list[str | int] = list(cast("dict[str | int, Any]", holder)) if isinstance(holder, dict) else [0]
        holder[key] = holder[random.choice(keys)]

    return _on_json(body, random, copied)


def _lengthen_string(body: bytes, random: Random) -> bytes:
    def longer(holder: Any, key: str | int) -> None:
        # Any: as above.
        if isinstance(holder[key], str):
            holder[key] += "ä" * 5000

    return _on_json(body, random, longer)


MUTATIONS: Final[tuple[Callable[[bytes, Random], bytes], ...]] = (
    _flip_bits,
    _drop_bytes,
    _insert_bytes,
    _truncate,
    _drop_lines,
    _double_lines,
    _swap_lines,
    _replay,
    _replace_value,
    _replace_value,
    _replace_value,
    _remove_value,
    _copy_value,
    _lengthen_string,
)
"""What `mutated` chooses from."""


def values_in(value: object, steps: Steps = ()) -> Iterator[tuple[Steps, object]]:
    """Yield the values in JSON, outer ones first, with the keys and indexes that lead to them."""
    yield steps, value
    if isinstance(value, Mapping):
        for key, item in cast("Mapping[str, object]", value).items():
            yield from values_in(item, (*steps, key))
    elif isinstance(value, (list, tuple)):
        for at, item in enumerate(cast("list[object]", value)):
            yield from values_in(item, (*steps, at))


def _on_blocks(body: bytes, random: Random, change: Callable[[list[bytes], int], list[bytes]]) -> bytes:
    separator = b"\n\n" if b"\n\n" in body else b"\n"
    blocks = body.split(separator)
    return separator.join(change(blocks, random.randrange(len(blocks))))


def _on_json(body: bytes, random: Random, change: Callable[[Any, str | int], None]) -> bytes:
    """Change one field in one of the lines that hold JSON; *body* as it is when none does."""
    # Any: a field of whatever was read.
    lines = body.split(b"\n")
    at = random.choice([number for number, line in enumerate(lines) if b"{" in line] or [0])
    start = lines[at].find(b"{")
    try:
        document = json.loads(lines[at][start:])
    except (ValueError, RecursionError):
        return body
    places = [steps for steps, _ in values_in(document) if steps]
    if start < 0 or not places:
        return body
    *way, key = random.choice(places)
    holder = document
    for step in way:
        holder = holder[step]
    change(holder, key)
    lines[at] = lines[at][:start] + json.dumps(document, separators=(",", ":")).encode()
    return b"\n".join(lines)
