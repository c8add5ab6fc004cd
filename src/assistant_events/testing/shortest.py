"""
A stream that fails a check is made shorter as long as it fails alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

SHORTEST: Final = "; the shortest input that fails: "
"""What is between a sentence and the stream that is shown for it."""

_SHOWN_BYTES: Final = 600
"""How much of an input is shown."""

_SHORTER: Final = 40
"""How many shorter inputs are tried for one that fails."""

_VARYING: Final = re.compile(r"""\d+|'[^']*'|"[^"]*"|b'.*'""")
"""What may differ between two sentences about one fault."""


def shortest(pieces: Sequence[bytes], sentence: str, check: Callable[[bytes], object]) -> str:
    """
    Return *sentence* with the shortest stream that was found to fail with it, and the sentence for that one if another.

    Args:
        pieces: The frames of the stream, and what follows them.

        sentence: What is wrong with all of them.

        check: Raises an `AssertionError` for a stream that fails.
    """
    fault = _VARYING.sub("", sentence)
    kept, its_sentence = [piece for piece in pieces if piece], sentence
    size, left = len(kept), _SHORTER
    while size and left:
        at = 0
        while at < len(kept) and left:
            left -= 1
            fewer = kept[:at] + kept[at + size :]
            try:
                check(b"".join(fewer))
            except AssertionError as error:
                if _VARYING.sub("", str(error)) == fault:
                    kept, its_sentence = fewer, str(error)
                    continue
            except Exception:  # noqa: BLE001, S110 - another fault than the one that is looked for
                pass
            at += size
        size //= 2
    place = "" if its_sentence == sentence else f", of which {its_sentence}"
    return f"{sentence}{SHORTEST}{_shown(b''.join(kept))}{place}"


def _shown(body: bytes) -> str:
    return repr(body) if len(body) <= _SHOWN_BYTES else f"{body[:_SHOWN_BYTES]!r}… ({len(body)} bytes)"
