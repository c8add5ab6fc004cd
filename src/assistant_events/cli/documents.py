"""Bytes of JSON, cut into documents: one a line, or objects in an array or one after another."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Final

_BEGIN: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?|(\{)', re.DOTALL)
"""A string between objects, which may hold braces and have no end, or the begin of an object."""

_DECODER: Final = json.JSONDecoder(parse_int=str, parse_float=str, strict=False)
"""Finds where an object ends; numbers of any size are left as they are."""


def lines(chunks: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """Return every line that is not blank, and its place for people."""
    number = 0
    pending: list[bytes] = []
    for chunk in chunks:
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            number += 1
            pending.append(line)
            if (joined := b"".join(pending)).strip():
                yield f"line {number}", joined
            pending = []
        pending.append(rest)
    if (joined := b"".join(pending)).strip():
        yield f"line {number + 1}", joined


def objects(chunks: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """
    Return the outermost JSON objects, and the place of each for people.

    What is between them, such as the brackets and commas of an array, is passed over. An object that is cut or
    damaged comes with all that follows it.
    """
    # One character for each byte; what gives JSON its structure is ASCII.
    text = b"".join(chunks).decode("latin-1")
    number = at = 0
    while begun := _BEGIN.search(text, at):
        at = begun.end()
        if begun[1]:
            number += 1
            try:
                _, at = _DECODER.raw_decode(text, begun.start())
            except (ValueError, RecursionError):
                at = len(text)
            yield f"object {number}", text[begun.start() : at].encode("latin-1")
