"""
Text that is always valid Unicode.

JSON can carry half of a UTF-16 surrogate pair. Two halves that stand together are one character and are joined;
a half alone becomes U+FFFD in text, and stays as it is in a `State`.
"""

from __future__ import annotations

_SLICE = 1 << 16


def has_surrogates(text: str) -> bool:
    """Tell whether *text* holds any surrogate code point, that is, whether it cannot be written as UTF-8."""
    if text.isascii():
        return False
    try:
        # In slices: a check of a long answer must not need a second copy of it.
        for start in range(0, len(text), _SLICE):
            text[start : start + _SLICE].encode()
    except UnicodeEncodeError:
        return True
    return False


def valid_text(text: str) -> str:
    """Return *text* with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    if has_surrogates(text):
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def joined_pairs(text: str) -> str:
    """Return *text* with surrogate pairs joined; lone surrogates stay."""
    if has_surrogates(text):
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def is_high_surrogate(character: str) -> bool:
    """Tell whether *character* is the first half of a pair."""
    return "\ud800" <= character <= "\udbff"
