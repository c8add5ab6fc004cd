"""
Bring stored documents of older versions up to the newest, one version at a time.

An upcaster is a function `x_v1_to_v2` on a plain document: it is given a copy that it may change, and returns the
document of the next version. A rename or a change of meaning is a new version of the event or message and an upcaster;
a new field with a default is neither. A message and its parts have one version. Nothing is ever brought down. Type
names are for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

from assistant_events.values import thaw

Document: TypeAlias = dict[str, Any]
"""One event or message as plain JSON."""

Upcaster: TypeAlias = Callable[[Document], Document]

_Function = TypeVar("_Function", bound=Upcaster)


class Upcasters:
    """A registry of upcasters: for every type one unbroken chain from version 1 to the newest."""

    def __init__(self) -> None:
        self._chains: dict[str, list[Upcaster]] = {}

    def register(self, type: str, *, from_version: int) -> Callable[[_Function], _Function]:
        """
        Return a decorator that registers a function for *type*, from *from_version* to the next.

        Raises:
            ValueError: When there is one for that step already, or when the step before it has none yet.
        """
        newest = self.newest(type)
        if from_version < newest:
            raise ValueError(f"upcaster of {type!r} from version {from_version} is registered already")
        if from_version > newest:
            raise ValueError(f"upcaster of {type!r} from version {from_version}: expected one from {newest} first")

        def registered(function: _Function) -> _Function:
            self._chains.setdefault(type, []).append(function)
            return function

        return registered

    def newest(self, type: str) -> int:
        """Return the version that documents of *type* are brought up to; 1 when nothing is registered."""
        return 1 + len(self._chains.get(type, ()))

    def upcast(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        """
        Return *document* in the newest version of its type; itself when it is that or newer.

        The document given is never changed. Its `type` is a string; its `v`, where it has one, an integer of 1 or more.
        """
        type_, version = document["type"], document.get("v", 1)
        steps = self._chains.get(type_, [])[version - 1 :]
        if not steps:
            return document
        raised: Document = thaw(document)
        for step in steps:
            version += 1
            raised = {**step(raised), "type": type_, "v": version}
        return raised


EVENTS = Upcasters()
"""Upcasters of the catalogue. Every event is still in its first version."""

MESSAGES = Upcasters()
"""Upcasters of messages. Every message is still in its first version."""
