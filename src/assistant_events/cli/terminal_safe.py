"""
Text from elsewhere, made harmless for a terminal.

What a model wrote may hold escape codes that move the cursor, set the title, or turn the order of letters around. They
are spelled out.
"""

from __future__ import annotations

import re
from typing import Final

# C0 without tab and line feed, DEL, C1, marks of direction, separators of lines and paragraphs, lone surrogates.
_HARMFUL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """Return *text* with every control character but tab and line feed spelled out, as in Python source."""
    return _HARMFUL.sub(_spelled, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Return *text* as `visible` does, in one line."""
    return visible(text).replace("\n", "\\n").replace("\t", " ")


def visible_json(text: str) -> str:
    """Return JSON text with control characters written as JSON escapes. Its value is the same."""
    return _HARMFUL.sub(_escaped, text)


def shortened(text: str, limit: int) -> str:
    """Return the first *limit* characters of *text*, and how many more there are."""
    left = len(text) - limit
    return text if left <= 0 else f"{text[:limit]}… ({left:,} more characters)"


def size_of(count: int) -> str:
    """Return a number of bytes for people."""
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
