"""
The array `reasoning_details` of OpenRouter: items of reasoning that come in pieces.

Pieces with the same type and index are one item: their texts and data are joined, of other fields the last counts. An
item with text is a reasoning, and `detail` in its state has its other fields. One without text, such as an encrypted
one, is among the `details` in the state of the reasoning that is open, or a reasoning of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeAlias

from assistant_events import messages as msg
from assistant_events.adapters.json_fields import Fields, others, string
from assistant_events.recorder import Recorder
from assistant_events.recorder.fragments import OpenFragment
from assistant_events.values import thaw

_Key: TypeAlias = tuple[str | None, object]

_TEXTS: Final = ("text", "summary")
_BARE: Final = frozenset({"type", "index", "format"})
_JOINED: Final = (*_TEXTS, "data")


class ReasoningDetails:
    """The items of an answer as they come."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._key: _Key | None = None
        """The item that is open, as a reasoning."""

        self._known: dict[str, Any] = {}
        """What has come of it."""

    def add(self, piece: Fields) -> None:
        """Add a piece."""
        key, text = _key_of(piece), text_of(piece)
        facts = {name: value for name, value in others(piece, _TEXTS).items() if value != ""}
        if key == self._key:
            known = dict(self._known)
            _join(known, facts)
            if known != self._known:
                self._known = known
                self._recorder.keep(key, {"detail": known})
        elif text or facts.keys() - _BARE:
            shown = self._recorder.open_of(self._key)
            if not text and isinstance(shown, OpenFragment) and shown.kind == "reasoning":
                self._recorder.keep(self._key, {"details": [facts]})
                return
            self.end()
            self._recorder.begin(key, "reasoning", {"detail": facts})
            self._key, self._known = key, facts
        if text:
            self._recorder.reasoning(text, key=key)

    def end(self) -> None:
        """End the item that is open: other content begins, or the answer ends."""
        if self._key is not None:
            self._recorder.end(self._key)
            self._key = None


def text_of(piece: Fields) -> str:
    """Return the text of an item; empty when it has none."""
    return next((text for name in _TEXTS if (text := string(piece, name))), "")


def write_details(part: msg.ReasoningPart) -> list[dict[str, Any]]:
    """Return the items of a reasoning that came as such: that of its text, then others."""
    state = thaw(part.state)
    own = [state["detail"]] if "detail" in state else []
    for item in own if part.text else ():
        item["summary" if string(item, "type") == "reasoning.summary" else "text"] = part.text
    return joined_details([*own, *state.get("details", ())])


def joined_details(pieces: Iterable[Fields]) -> list[dict[str, Any]]:
    """Return the items of pieces, in their order and each once."""
    items: dict[_Key, dict[str, Any]] = {}
    for piece in pieces:
        _join(items.setdefault(_key_of(piece), {}), piece)
    return list(items.values())


def _key_of(piece: Fields) -> _Key:
    return string(piece, "type"), piece.get("index")


def _join(item: dict[str, Any], piece: Fields) -> None:
    for name, value in piece.items():
        before = item.get(name) if name in _JOINED else None
        item[name] = before + value if isinstance(before, str) and isinstance(value, str) else value
