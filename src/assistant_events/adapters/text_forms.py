"""The types of texts of a wire whose items have them in arrays: where each is, and how parts are written there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias, final

from assistant_events import messages as msg
from assistant_events.adapters.encoded import Item
from assistant_events.adapters.items import number_of
from assistant_events.adapters.json_fields import Fields, array, is_object, string

TextLike: TypeAlias = msg.TextPart | msg.ReasoningPart
"""A part that is a text of an item."""


class TextForm(NamedTuple):
    """A type of texts."""

    item: str
    """Type of the items that have it."""

    role: Literal["text", "reasoning"]
    """What it is here."""

    where: str
    """The array of the item that it is in."""

    event: str
    """The name of its events."""

    field: str = "text"
    """The field of its text."""


_PLAIN: Final = frozenset({"text", "output_text"})
"""Types of texts without a role of their own."""


class _Place(NamedTuple):
    """An array of an item."""

    where: str
    kinds: Sequence[str]
    """The types of the texts there."""

    plain: frozenset[str]
    """Types that are other words for the first of these."""


@final
class TextForms(dict[str, TextForm]):
    """
    The types of texts of a wire.

    Args:
        forms: By type of a text.
    """

    def __init__(self, forms: Mapping[str, TextForm]) -> None:
        super().__init__(forms)
        self.roles: Mapping[str, Literal["text", "reasoning"]] = {form.item: form.role for form in forms.values()}
        """By type of an item with texts, what its texts are here."""

        self.arrays = tuple(dict.fromkeys([form.where for form in forms.values()]))
        """The arrays that texts are in."""

        self._at = {item: self._places(item) for item in (None, *self.roles)}
        """By type of an item, its arrays."""

    def of(self, item: Fields) -> list[tuple[str, int, Fields]]:
        """
        Return the texts of an item: the array of each, its place among the texts there, and its fields.

        A string in place of a text or of an array, and a text of a plain type that the array does not have, or none, as
        some servers write them, are texts of the first type there.
        """
        found = [
            (at.where, [part for part in self._read(item, at) if string(part, "type") in at.kinds])
            for at in self._places_of(item)
        ]
        return [(where, place, text) for where, texts in found for place, text in enumerate(texts)]

    def others(self, item: Fields) -> dict[str, list[Fields]]:
        """Return what else is in the arrays of an item."""
        return {
            at.where: [part for part in self._read(item, at) if string(part, "type") not in at.kinds]
            for at in self._places_of(item)
        }

    def write(
        self,
        parts: Iterable[TextLike],
        kind_of: Callable[[TextLike], str],
        more_of: Callable[[TextLike, str], Mapping[str, Any]],
    ) -> dict[str, list[Item]]:
        """
        Return the texts of an item by their arrays. Parts of one place, which their state has, are one text.

        Args:
            parts: All texts of the item.

            kind_of: Returns the type of a text.

            more_of: Returns the fields that it has beside type and text.
        """
        texts: dict[tuple[str, int], Item] = {}
        for part in parts:
            kind = kind_of(part)
            where, field = self[kind].where, self[kind].field
            index = number_of(part.state, place_key(where))
            if index is not None or part.text:  # else the start of a reasoning that was cut by another one
                text = texts.setdefault((where, index or 0), {})
                text |= {"type": kind, field: text.get(field, "") + part.text, **more_of(part, kind)}
        return {where: [texts[at] for at in sorted(texts) if at[0] == where] for where in self.arrays}

    def _read(self, item: Fields, at: _Place) -> list[Fields]:
        """Return the objects of an array; those that are a plain text are texts of the first type."""
        given, kinds = item.get(at.where), at.kinds
        if given is None:
            return []
        items = (given,) if isinstance(given, str) else array(item, at.where)
        found: list[Fields] = []
        for each in items:
            text = each if isinstance(each, str) else None
            fields: Fields = each if is_object(each) else {}
            if fields and (string(fields, "type") or "text") in at.plain:
                text = string(fields, "text")
            if text and kinds:
                found.append({**fields, "type": kinds[0], self[kinds[0]].field: text})
            elif fields:
                found.append(fields)
        return found

    def _places_of(self, item: Fields) -> list[_Place]:
        return self._at.get(string(item, "type")) or self._at[None]

    def _places(self, item: str | None) -> list[_Place]:
        """Return the arrays of an item of some type; that of `None` has no texts."""
        kinds = [[kind for kind, form in self.items() if (form.item, form.where) == (item, at)] for at in self.arrays]
        return [_Place(at, each, _PLAIN.difference(each)) for at, each in zip(self.arrays, kinds, strict=True)]


def place_key(where: str) -> str:
    """Return the key of state that has the place of a text in its array."""
    return f"{where}_index"
