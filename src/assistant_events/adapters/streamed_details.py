"""Reasonings that come as items of an array, such as `reasoning_details`, in pieces."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, final

from assistant_events.adapters.base import DecoderBase
from assistant_events.adapters.items import begins_item, joined_pieces, piece_key
from assistant_events.adapters.json_fields import Fields, filled, string
from assistant_events.recorder.fragments import OpenFragment


@final
class StreamedDetails:
    """
    The items of the reasoning of an answer, of which one is open.

    One with text is a reasoning, with its other fields as `detail` in the state, where a field with the text that is
    not the usual one of its type is empty. One without text, such as an encrypted one, is among the `details` of the
    reasoning that is open, if that names its array, or a reasoning of its own.

    Args:
        decoder: Its recorder gets the reasonings.

        texts: Fields with the text of an item, by its type; the first is usual for other types.

        pieces: Fields whose pieces are joined; of others the last one counts.

        array: The array that a state need not name.
    """

    def __init__(self, decoder: DecoderBase, texts: Mapping[str, str], pieces: Collection[str], *, array: str) -> None:
        self._recorder = decoder.recorder
        self._texts, self._pieces = texts, pieces
        self._array = array
        self._open: dict[str, Any] | None = None

    def text_field(self, piece: Fields) -> str:
        """Return the field with the text of a piece; empty when it has none."""
        return next((name for name in self._texts.values() if string(piece, name)), "")

    def add(self, array: str, piece: Fields) -> dict[str, Any] | None:
        """Record a piece, and return what it has beside its text where frames like this one only add text."""
        field = self.text_field(piece)
        text, facts = string(piece, field) or "", filled(piece, self._texts.values())
        if field and field != self._texts.get(string(piece, "type") or "", next(iter(self._texts.values()))):
            facts[field] = ""
        key, signature = piece_key(facts), string(facts, "signature")
        if text and signature and self._seal(array, key, facts, text):
            return None
        opened = None if self._open is None else piece_key(self._open)
        if self._open is not None and key == opened and begins_item(self._open, piece, self._pieces):
            self.end()
        is_usual = signature is None  # which ends an item: another one like it begins the next
        if self._open is not None and key == opened:
            [known] = joined_pieces([self._open, facts], self._pieces)
            if known != self._open:
                self._open, is_usual = known, False
                self._recorder.keep(key, {"detail": known})
        elif text or facts.keys() - {"type", "index", "format"}:
            shown = self._recorder.open_of(opened)
            is_beside = self._open is not None or array == self._array  # else its state would name no array
            if not text and is_beside and getattr(shown, "kind", None) == "reasoning":
                self._recorder.keep(opened, {"details": [facts]})
                return None
            self.end()
            self._recorder.begin(key, "reasoning", self._state(array, facts))
            self._open = facts
        self._recorder.reasoning(text, key=key)
        return facts if is_usual else None

    def end(self) -> None:
        """End the item that is open: other content begins, or the answer ends."""
        if self._open is not None:
            self._recorder.end(piece_key(self._open))
            self._open = None

    def _seal(self, array: str, key: object, facts: dict[str, Any], text: str) -> bool:
        """Give the open reasoning of all of a *text* its other fields: LiteLLM repeats a block with its signature."""
        opened = {} if self._open is None else self._open
        is_same = not opened or (key == piece_key(opened) and not begins_item({**opened, "signature": ""}, facts, ()))
        fragment = self._recorder.open_of(piece_key(opened) if opened else None)
        if array == self._array or "signature" in opened or not (is_same and isinstance(fragment, OpenFragment)):
            return False
        if fragment.kind != "reasoning" or fragment.buffer.value() != text:
            return False
        [sealed] = joined_pieces([opened, facts] if opened else [facts], self._pieces)
        self._recorder.keep(fragment.key, self._state(array, sealed))
        self._recorder.end(fragment.key)
        self._open = None
        return True

    def _state(self, array: str, facts: dict[str, Any]) -> dict[str, Any]:
        return {**({"field": array} if array != self._array else {}), "detail": facts}
