"""
Token counts of a wire, read and written by one table.

A wire counts a side either with its parts (cached input, reasoning) or apart from them. `Usage` always includes them;
a table names the fields that the wire counts apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final, final

import attrs

from assistant_events.adapters.json_fields import Fields, count, mapping, others
from assistant_events.values import Usage, thaw
from assistant_events.values.construct import constructor
from assistant_events.values.json_values import LazyObject, wrap

_usage: Callable[..., Usage] = constructor(Usage)

_SIDES: Final = ("input_tokens", "output_tokens")
_PARTS: Final = ("cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
_COUNTS: Final = (*_SIDES, *_PARTS)
_NONE: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({})


def _only(names: tuple[str, ...]) -> Callable[[UsageTable, attrs.Attribute[Any], Mapping[str, object]], None]:
    def check(_: UsageTable, attribute: attrs.Attribute[Any], table: Mapping[str, object]) -> None:
        strange = table.keys() - {*names}
        if strange:
            raise ValueError(f"{attribute.name}: expected only {', '.join(names)}, got {min(strange)!r}")

    return check


@final
@attrs.frozen(kw_only=True)
class UsageTable:
    """
    Fields of a wire's usage object, for reading and writing.

    A field inside an object is a path with dots, such as `details.cached_tokens`. Servers of one wire may have several
    fields for a count, with blanks between them: the first that is there counts, and the first is written. For example:

        UsageTable(
            counts={"input_tokens": "input_tokens", "cache_read_tokens": "cache_read_input_tokens", …},
            apart={"input_tokens": ("cache_read_input_tokens", "cache_creation_input_tokens")},
        )

    Args:
        counts: Field of the wire by the count of `Usage`. What the wire does not count is left out.

        apart: Fields that the wire's own count of a side (`input_tokens`, `output_tokens`) does not include.

        total: Field of the sum of both sides, which is written and not read; `None` when the wire has none.

        total_decides: Whether only some servers count fields apart: those whose total is the sum with them. What a
            total has beyond all counts is then output that was not counted, such as the thoughts of Gemini, or the
            input that was read from the cache or written to it, where it is as much.

        omits_zeros: Whether the wire leaves out zeros: a side without a count of its own is that of its fields apart.

    Raises:
        ValueError: A key of *counts* or *apart* names another count than those of `Usage`.
    """

    counts: Mapping[str, str] = attrs.field(validator=_only(_COUNTS))
    apart: Mapping[str, tuple[str, ...]] = attrs.field(default=_NONE, validator=_only(_SIDES))
    total: str | None = None
    total_decides: bool = False
    omits_zeros: bool = False

    def read(self, fields: Fields) -> Usage:
        """
        Return the usage of a wire's object, which becomes its `details`, and which nothing may change afterwards.

        A side is known when the wire's own count of it is, see also *omits_zeros*; fields counted apart are added,
        missing ones as 0.
        """
        counts: dict[str, Any] = {name: _read(fields, path) for name, path in self.counts.items()}
        apart = {side: sum([_read(fields, path) or 0 for path in paths]) for side, paths in self.apart.items()}
        if self.total_decides:
            more = (_read(fields, self.total or "") or 0) - sum([counts.get(side) or 0 for side in _SIDES])
            read, written, reasoning = [counts.get(name) or 0 for name in _PARTS]
            are_known = counts.get("input_tokens") and counts.get("output_tokens") is not None
            is_cached = more in (read, written, read + written)
            is_hidden = are_known and more > 0 and (is_cached or not reasoning)
            if more != sum(apart.values()):
                apart = {"input_tokens" if is_cached else "output_tokens": more} if is_hidden else {}
        for side, more in apart.items():
            if counts[side] is not None or (more and self.omits_zeros):
                counts[side] = (counts[side] or 0) + more
        output, reasoning = counts.get("output_tokens"), counts.get("reasoning_tokens") or 0
        if output is not None and reasoning > 2 * output:
            # Left out by Vercel's gateway, whose costs have both. Some percent more reasoning than output comes of two
            # tokenizers (OpenRouter).
            counts["output_tokens"] = output + reasoning
        return _usage(**counts, details=wrap(LazyObject, others(fields)))

    def write(self, usage: Usage) -> dict[str, Any]:
        """
        Return the object of the wire: `usage.details` when it gives the same counts, else the known counts.

        Counts that the wire keeps apart are subtracted from their side, never below 0.
        """
        details: dict[str, Any] = thaw(usage.details)
        if _counts(self.read(details)) == _counts(usage):
            return details
        written: dict[str, Any] = {}
        for name, path in self.counts.items():
            value: int | None = getattr(usage, name)
            if value is not None:
                apart = () if self.total_decides else self.apart.get(name, ())
                parts = [getattr(usage, part) or 0 for part, field in self.counts.items() if field in apart]
                _write(written, path, max(value - sum(parts), 0))
        if self.total is not None and usage.total_tokens is not None:
            _write(written, self.total, usage.total_tokens)
        return written

    def is_exact(self, usage: Usage) -> bool:
        """Whether the counts that `write` returns are read as the same usage."""
        return _counts(self.read(self.write(usage))) == _counts(usage)


def _counts(usage: Usage) -> tuple[int | None, ...]:
    return tuple([getattr(usage, name) for name in _COUNTS])


def _read(fields: Fields, paths: str) -> int | None:
    for *parents, key in _steps(paths):
        within = fields
        for parent in parents:
            within = mapping(within, parent)
        value = count(within, key)
        if value is not None:
            return value
    return None


@cache
def _steps(paths: str) -> list[list[str]]:
    """Return the keys of each path."""
    return [path.split(".") for path in paths.split()]


def _write(written: dict[str, Any], paths: str, value: int) -> None:
    *parents, key = paths.split(maxsplit=1)[0].split(".")
    for parent in parents:
        written = written.setdefault(parent, {})
    written[key] = value
