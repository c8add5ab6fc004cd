"""Bytes of JSON, cut into documents: one a line, or objects in an array or one after another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, final

_OUTSIDE: Final = re.compile(rb'["{}]')
_INSIDE: Final = re.compile(rb'["\\]')


def lines(chunks: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """Return every line that is not blank, and its place for people."""
    number = 0
    pending: list[bytes] = []
    for chunk in chunks:
        if b"\n" not in chunk:
            pending.append(chunk)
            continue
        *whole, rest = b"".join([*pending, chunk]).split(b"\n")
        pending = [rest] if rest else []
        for line in whole:
            number += 1
            if line.strip():
                yield f"line {number}", line
    rest = b"".join(pending)
    if rest.strip():
        yield f"line {number + 1}", rest


def objects(chunks: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """
    Return the outermost JSON objects, and the place of each for people.

    What stands between them, such as the brackets and commas of an array, is passed over. An object that is cut by the
    end of the input comes as it is.
    """
    splitter = _Splitter()
    number = 0
    for chunk in chunks:
        for document in splitter.feed(chunk):
            number += 1
            yield f"object {number}", document
    if splitter.rest:
        yield f"object {number + 1}", splitter.rest


@final
class _Splitter:
    """Looks at every byte once, however the input is cut."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._depth = 0
        self._in_string = False
        self._skip = 0

    @property
    def rest(self) -> bytes:
        """The object that has begun and not ended."""
        return b"".join(self._pieces)

    def feed(self, chunk: bytes) -> list[bytes]:
        found: list[bytes] = []
        start = 0 if self._depth else -1
        at = self._skip
        self._skip = 0
        while mark := (_INSIDE if self._in_string else _OUTSIDE).search(chunk, at):
            at = mark.end()
            match mark[0]:
                case b'"':
                    self._in_string = not self._in_string
                case b"\\":
                    at += 1
                case b"{":
                    if not self._depth:
                        start = mark.start()
                    self._depth += 1
                case _ if self._depth:
                    self._depth -= 1
                    if not self._depth:
                        found.append(b"".join([*self._pieces, chunk[start:at]]))
                        self._pieces = []
                        start = -1
                case _:
                    pass
        self._skip = max(at - len(chunk), 0)
        if start >= 0:
            self._pieces.append(chunk[start:])
        return found
