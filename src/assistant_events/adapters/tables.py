"""Tables of a wire's words, written by what the words mean."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeVar

_D = TypeVar("_D")
_V = TypeVar("_V")


def by_word(words: Mapping[_V, str]) -> MappingProxyType[str, _V]:
    """
    Return the meaning by word, as a table that cannot be changed.

    Args:
        words: By meaning, its words with blanks between them. Their order is kept.
    """
    return MappingProxyType({word: meaning for meaning, each in words.items() for word in each.split()})


def names(words: str) -> frozenset[str]:
    """Return words with blanks between them as a set."""
    return frozenset(words.split())


def word_of(words: Mapping[str, _V], meaning: object, otherwise: _D) -> str | _D:
    """Return the first word of a meaning; *otherwise* when it has none."""
    return next((word for word, each in words.items() if each is meaning), otherwise)
