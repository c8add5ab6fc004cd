"""
The texts, reasonings and media items of a step: which are open, and what is known of each before its end.

At most one fragment of each kind is open. When an item of the same kind begins before the open one has ended, the open
one ends at once. Later content of its item is collected and becomes one more fragment when the item or the step ends.
"""

# Plain JSON of unknown shape is merged here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from assistant_events import events as ev
from assistant_events.lifecycle import FRAGMENT_KINDS, KnownEvent
from assistant_events.values import Citation, JsonObject, State, valid_text
from assistant_events.values.buffers import Buffer
from assistant_events.values.construct import constructor
from assistant_events.values.info import as_citations
from assistant_events.values.json_values import LazyState, items_of, own_object, same_json, wrap
from assistant_events.values.text import has_surrogates, is_high_surrogate
from assistant_events.values.validators import NO_FIELDS, NO_STATE, as_details, as_state

_text_started: Callable[..., ev.TextStarted] = constructor(ev.TextStarted)
_text_delta: Callable[..., ev.TextDelta] = constructor(ev.TextDelta)
_text_ended: Callable[..., ev.TextEnded] = constructor(ev.TextEnded)
_reasoning_started: Callable[..., ev.ReasoningStarted] = constructor(ev.ReasoningStarted)
_reasoning_delta: Callable[..., ev.ReasoningDelta] = constructor(ev.ReasoningDelta)
_reasoning_ended: Callable[..., ev.ReasoningEnded] = constructor(ev.ReasoningEnded)

JsonMap = Mapping[str, object]
Emit = Callable[[KnownEvent], None]


class ItemNumbers:
    """Numbers the items of a step in the order in which they first cause an event, and writes the number into state."""

    def __init__(self, state_key: str | None) -> None:
        self.state_key = state_key
        self._numbers: dict[Hashable, int] = {}

    def added_to(self, key: Hashable, state: dict[str, Any]) -> dict[str, Any]:
        """Return *state* with the number of the item *key*; unchanged for items without a key."""
        # Any: values that are frozen, and the arrays of `merge_state`.
        if self.state_key is None or key is None:
            return state
        return {self.state_key: self._numbers.setdefault(key, len(self._numbers)), **state}

    def add_to(self, key: Hashable, state: JsonMap) -> State:
        """Return what `added_to` does of any state, frozen."""
        known = as_state(state)
        if self.state_key is None or key is None:
            return known
        numbered = self.added_to(key, items_of(known))
        return wrap(type(known), numbered)

    def clear(self) -> None:
        """Start again at 0."""
        self._numbers.clear()


class OpenFragment:
    """A fragment that is open, or the collector of an item whose fragment is not open."""

    __slots__ = ("buffer", "citations", "details", "early", "held", "key", "kind", "known", "media_type", "state")

    call_id: Final = None
    """Only an `OpenCall` has one."""

    def __init__(self, kind: str, key: Hashable, state: State = NO_STATE, media_type: str = "") -> None:
        self.kind = kind
        self.key = key
        self.state = state
        """State of each fragment of the item: what was given when the first one opened."""

        self.media_type = media_type
        self.buffer: Buffer[Any] = Buffer(b"") if kind == "media" else Buffer("")
        self.held = ""
        """First half of a surrogate pair whose second half has not come."""

        self.known: dict[str, Any] = {}
        """State that was kept for this fragment alone."""

        self.citations: list[Citation] = []
        self.details: JsonObject = NO_FIELDS
        self.early = False
        """Whether another item ended the item's fragment: its text is collected here and opens no fragment."""

    def keep(self, state: State, citations: Sequence[Citation], details: JsonMap) -> None:
        """Add facts that are known before the end."""
        merge_state(self.known, state)
        self.citations += citations
        if details:
            self.details = as_details({**self.details, **details})

    def final_state(self, more: State) -> State:
        """Return the state of the fragment at its end; *more* wins."""
        if more is NO_STATE and not self.known:
            return self.state
        own_object(self.known, State)
        is_lazy = LazyState in (type(self.state), type(more))
        items = {**items_of(self.state), **self.known, **items_of(more)}
        return wrap(LazyState if is_lazy else State, items)

    def has_news(self, state: State) -> bool:
        """Whether an end with *state* adds facts to the earlier fragments of the item."""
        return bool(self.citations or self.details) or any(
            key not in self.state or not same_json(value, self.state[key]) for key, value in state.items()
        )

    def started(self, message_id: str) -> KnownEvent:
        """Return the event that opens it."""
        if self.kind == "media":
            return ev.MediaStarted(message_id=message_id, media_type=self.media_type)
        if self.kind == "text":
            return _text_started(message_id=message_id)
        return _reasoning_started(message_id=message_id)

    def delta(self, message_id: str, offset: int, delta: Any) -> KnownEvent:
        """Return the event that adds *delta*."""
        # Any: text, or the bytes of a media item.
        if self.kind == "text":
            return _text_delta(message_id=message_id, offset=offset, delta=delta)
        if self.kind == "reasoning":
            return _reasoning_delta(message_id=message_id, offset=offset, delta=delta)
        return ev.MediaDelta(message_id=message_id, offset=offset, delta=delta)

    def ended(self, message_id: str, state: State, value: Any, uri: str | None, *, complete: bool) -> KnownEvent:
        """Return the event that ends it, with *value* or *uri*, or with the content of the deltas."""
        # Any: as for `delta`.
        if value is None and uri is None:
            value = self.buffer.value()
        if self.kind == "text":
            return _text_ended(
                message_id=message_id,
                text=value,
                complete=complete,
                citations=tuple([_placed_in(value or "", each) for each in self.citations]) if self.citations else (),
                details=self.details,
                state=state,
            )
        if self.kind == "reasoning":
            return _reasoning_ended(message_id=message_id, text=value, complete=complete, state=state)
        return ev.MediaEnded(
            message_id=message_id,
            media_type=self.media_type,
            data=value or None,
            uri=uri,
            complete=complete and bool(value or uri),
            state=state,
        )


class Fragments:
    """The fragments of a step. *emit* checks an event against the lifecycle and records it."""

    def __init__(self, message_id: str, emit: Emit, numbers: ItemNumbers) -> None:
        self.message_id = message_id
        self.emit = emit
        self.numbers = numbers
        self.open: dict[str, OpenFragment] = {}
        """The open fragment of each kind."""

        self._collectors: dict[tuple[str, Hashable], OpenFragment] = {}
        """By kind and key, what came for items whose fragment is not open."""

        self._delayed: dict[str, list[KnownEvent]] = {}
        """By kind, the further fragments of items that have ended, until the open fragment of that kind ends."""

        self._items: dict[Hashable, tuple[str, State]] = {}
        """The kind of the last fragment of each key, and the state that the fragments of the item share."""

    def clear(self) -> None:
        """Forget everything: the step starts over."""
        self.open.clear()
        self._collectors.clear()
        self._delayed.clear()
        self._items.clear()

    def open_deltas(self) -> Iterator[ev.Event]:
        """Yield the content that each open fragment has shown as one delta."""
        for fragment in self.open.values():
            if shown := fragment.buffer.shown():
                yield fragment.delta(self.message_id, 0, shown)

    def collects(self, kind: str, key: Hashable) -> bool:
        """Whether content of this kind and key has a fragment that is open, or one that ended early."""
        fragment = self.open.get(kind)
        collector = self._collectors.get((kind, key))
        return (fragment is not None and fragment.key == key) or (collector is not None and collector.early)

    def begin(self, kind: str, key: Hashable, state: JsonMap, media_type: str = "") -> OpenFragment:
        """Return the fragment that content of this kind and key belongs to; it is opened unless it ended early."""
        current = self.open.get(kind)
        if current is not None and current.key == key:
            return current
        collector = self._collectors.get((kind, key)) if self._collectors else None
        if collector is not None and collector.early:
            return collector
        # Made before anything happens, since they refuse invalid states and media types.
        fragment = OpenFragment(kind, key, self.numbers.add_to(key, state), media_type)
        started = fragment.started(self.message_id)
        if self.open:
            self.end_unkeyed(kind)
        if current is not None:
            self._close(current, complete=True)
            if current.key is not None:
                late = OpenFragment(kind, current.key, current.state, current.media_type)
                late.early = True
                self._collectors[kind, current.key] = late
        self.emit(started)
        if collector is not None:
            fragment.known, fragment.citations, fragment.details = (
                collector.known,
                collector.citations,
                collector.details,
            )
            del self._collectors[kind, key]
        self.open[kind] = fragment
        if key is not None:
            self._items[key] = kind, fragment.state
        return fragment

    def add_text(self, fragment: OpenFragment, delta: str) -> None:
        """Add text; halves of a surrogate pair are joined."""
        if fragment.held or has_surrogates(delta):
            delta, fragment.held = join_surrogates(fragment.held, delta)
            if not delta:
                return
        self.add(fragment, delta)

    def add(self, fragment: OpenFragment, delta: Any) -> None:
        """Add valid text, or bytes."""
        # Any: as for `OpenFragment.delta`.
        buffer = fragment.buffer
        if not fragment.early:
            self.emit(fragment.delta(self.message_id, buffer.length, delta))
        buffer.append(delta)

    def keep(self, key: Hashable, state: State, citations: Sequence[Citation], details: JsonMap) -> bool:
        """Keep facts for the last fragment of *key*, or for one more; return whether there is one."""
        kind = self._last_kind(key)
        if kind is None:
            return False
        fragment = self.open.get(kind)
        if fragment is None or fragment.key != key:
            fragment = self._collectors.get((kind, key))
        if fragment is None:
            if kind == "media":
                return False
            fragment = self._collectors[kind, key] = self._collector(kind, key)
        fragment.keep(state, as_citations(citations) if citations else (), details)
        return True

    def end_item(self, key: Hashable) -> None:
        """End every fragment of *key* with what is known of it."""
        for kind in FRAGMENT_KINDS:
            fragment = self.open.get(kind)
            if fragment is not None and fragment.key == key:
                self._close(fragment, complete=True)
            elif self._collectors and (kind, key) in self._collectors:
                self._close(self._collectors.pop((kind, key)), complete=True)

    def end(
        self,
        kind: str,
        key: Hashable,
        state: JsonMap,
        value: Any = None,
        uri: str | None = None,
        *,
        citations: Sequence[Citation] = (),
        details: JsonMap = NO_FIELDS,
        complete: bool = True,
    ) -> None:
        """End the fragment of this kind and key, or what was collected for it, with *value* or its own content."""
        # Any: as for `OpenFragment.delta`.
        more = as_state(state)
        if value is not None and kind != "media":
            check_str("text", value)
            value = valid_text(value)
        fragment = self.open.get(kind)
        if fragment is None or fragment.key != key:
            fragment = self._collectors.get((kind, key)) or self._collector(kind, key)
        if citations or details is not NO_FIELDS:
            fragment.keep(NO_STATE, as_citations(citations), details)
        self._close(fragment, more, value, uri, complete=complete)
        if self._collectors:
            self._collectors.pop((kind, key), None)

    def end_unkeyed(self, kind: str | None = None) -> None:
        """End what is open without a key, but not of *kind*: without a key only the channel separates fragments."""
        for other in list(self.open.values()):
            if other.key is None and other.kind != kind:
                self._close(other, complete=True)

    def end_all(self, *, complete: bool) -> None:
        """End what is open, then what was collected."""
        for fragment in [*self.open.values(), *self._collectors.values()]:
            self._close(fragment, complete=complete)
        self._collectors.clear()

    # -- inside

    def _last_kind(self, key: Hashable) -> str | None:
        if key is None:
            return next((each.kind for each in self.open.values() if each.key is None), None)
        return self._items[key][0] if key in self._items else None

    def _collector(self, kind: str, key: Hashable) -> OpenFragment:
        last_kind, state = self._items.get(key, ("", NO_STATE))
        return OpenFragment(kind, key, state if kind == last_kind else NO_STATE)

    def _close(
        self,
        fragment: OpenFragment,
        more: State = NO_STATE,
        value: Any = None,
        uri: str | None = None,
        *,
        complete: bool,
    ) -> None:
        if fragment.held:
            fragment.held = ""  # its second half has not come
            self.add(fragment, "\ufffd")
        kind, state = fragment.kind, fragment.final_state(more)
        if self.open.get(kind) is fragment:
            self.emit(fragment.ended(self.message_id, state, value, uri, complete=complete))
            del self.open[kind]
            if self._delayed:
                for event in self._delayed.pop(kind, ()):
                    self.emit(event)
            return
        if not (fragment.buffer.length if value is None else value) and not uri and not fragment.has_news(state):
            return
        if not fragment.early:
            self.end_unkeyed(kind)
            state = self.numbers.add_to(fragment.key, state)
        events = [
            fragment.started(self.message_id),
            fragment.ended(self.message_id, state, value, uri, complete=complete),
        ]
        if kind in self.open:
            self._delayed.setdefault(kind, []).extend(events)
            return
        for event in events:
            self.emit(event)


def _placed_in(text: str, citation: Citation) -> Citation:
    """Return a citation of *text*, without a place that is outside of it."""
    if max(citation.start or 0, citation.end or 0) <= len(text):
        return citation
    return attrs.evolve(citation, start=None, end=None)


def merge_state(known: dict[str, Any], more: State) -> None:
    """Add *more* to *known*: objects are merged, arrays are joined, other values are replaced."""
    for key, value in more.items():
        before: Any = known.get(key)
        if isinstance(value, tuple):
            if not isinstance(before, list):
                before = known[key] = [*before] if isinstance(before, tuple) else []
            before.extend(value)
        elif before is not None and isinstance(value, Mapping) and isinstance(before, Mapping):
            known[key] = {**before, **value}
        else:
            known[key] = value


def join_surrogates(held: str, delta: str) -> tuple[str, str]:
    """Return valid text, and the half of a surrogate pair at its end that has to wait for the next delta."""
    whole = held + delta
    if whole and is_high_surrogate(whole[-1]):
        return valid_text(whole[:-1]), whole[-1]
    return valid_text(whole), ""


def check_str(name: str, text: object) -> None:
    """
    Check the type of text that an adapter passed.

    Raises:
        TypeError: *text* is not a string.
    """
    if not isinstance(text, str):
        raise TypeError(f"{name}: expected str, got {type(text).__name__}")
