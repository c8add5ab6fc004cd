"""
Text that is always valid Unicode.

JSON can contain half of a UTF-16 surrogate pair. Two adjacent halves are one character and are joined; a lone half
becomes U+FFFD in text, and is kept in a `State`.
"""

from __future__ import annotations

_SLICE = 1 << 16


def has_surrogates(text: str) -> bool:
    """Return whether *text* has a surrogate code point, so that it cannot be encoded as UTF-8."""
    if text.isascii():
        return False
    try:
        # In slices, so that the check does not copy a long answer.
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
    """Return *text* with surrogate pairs joined and lone surrogates kept."""
    if has_surrogates(text):
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def is_high_surrogate(character: str) -> bool:
    """Return whether *character* is the first half of a surrogate pair."""
    return "\ud800" <= character <= "\udbff"
