"""Copies of events, records, frames, messages and transcripts without provider state."""

from __future__ import annotations

from typing import Any, Final, TypeVar

import attrs

from assistant_events.events import DURABLE_EVENTS, LIVE_EVENTS, DurableEvent, Frame, LiveEvent, Record, UnknownEvent
from assistant_events.messages.messages import MESSAGE_CLASSES, PART_CLASSES, Message, Part
from assistant_events.messages.transcript import Transcript
from assistant_events.values.validators import NO_FIELDS, NO_STATE

_T = TypeVar("_T", bound=DurableEvent | LiveEvent | UnknownEvent | Record | Frame | Part | Message | Transcript)

REDACTED: Final[dict[str, Any]] = {
    "state": NO_STATE,
    "result_state": NO_STATE,
    "run": None,
    "extra": NO_FIELDS,
    "meta": NO_FIELDS,
}
# Any: values of fields of all types.

_KEPT_OF_UNKNOWN: Final = ("type", "v", "message_id")
_ROOTS: Final = (
    *DURABLE_EVENTS,
    *LIVE_EVENTS,
    UnknownEvent,
    Record,
    Frame,
    *PART_CLASSES,
    *MESSAGE_CLASSES,
    Transcript,
)


def redact(value: _T) -> _T:
    """
    Return *value* without provider state: `state`, `run`, unknown fields and the `meta` of a record are empty.

    That is what may leave for browsers and logs. Everything else stays at its place, so that folding redacted events
    gives the redacted transcript: an opaque part stays, empty. An `UnknownEvent` keeps `type`, `v` and `message_id`.

    Args:
        value: An event, a record, a frame, a part, a message or a transcript.
    """
    if not isinstance(value, _ROOTS):
        raise TypeError(f"expected an event, record, frame, part, message or transcript, got {type(value).__name__}")
    redacted: _T = _redacted(value)
    return redacted


def _redacted(value: Any) -> Any:
    # Any: the value of a field of any type.
    if value.__class__ is tuple:
        return tuple(map(_redacted, value))
    if isinstance(value, UnknownEvent):
        known = {key: value.data.get(key) for key in _KEPT_OF_UNKNOWN}
        return attrs.evolve(value, data={key: each for key, each in known.items() if isinstance(each, str | int)})
    if not attrs.has(value.__class__):
        return value
    changes: dict[str, Any] = {}
    for field in attrs.fields(value.__class__):
        held = getattr(value, field.name)
        kept = REDACTED[field.name] if field.name in REDACTED else _redacted(held)
        if kept != held:
            changes[field.name] = kept
    return attrs.evolve(value, **changes) if changes else value
