"""Copies of events, records, messages and transcripts without provider state."""

from __future__ import annotations

from typing import Any, TypeVar

import attrs

from assistant_events.events import DURABLE_EVENTS, LIVE_EVENTS, DurableEvent, LiveEvent, Record, UnknownEvent
from assistant_events.messages.messages import (
    MESSAGE_CLASSES,
    PART_CLASSES,
    AssistantMessage,
    Message,
    OpaquePart,
    Part,
)
from assistant_events.messages.transcript import Transcript
from assistant_events.values.validators import NO_FIELDS, NO_STATE

_Redacted = TypeVar("_Redacted", bound=DurableEvent | LiveEvent | UnknownEvent | Record | Part | Message | Transcript)

_HIDDEN: dict[str, Any] = {"state": NO_STATE, "result_state": NO_STATE, "run": None, "extra": NO_FIELDS}
_KEPT_OF_UNKNOWN = ("type", "v", "message_id")


def redact(value: _Redacted) -> _Redacted:
    """
    Return the same without what is only between us and the provider: state, run, opaque parts, unknown fields.

    That is what leaves for browsers and logs. Takes an event, a record, a part, a message or a transcript.
    """
    if isinstance(value, UnknownEvent):
        return attrs.evolve(value, data={key: value.data[key] for key in _KEPT_OF_UNKNOWN if key in value.data})
    if isinstance(value, Record):
        return attrs.evolve(value, event=redact(value.event))
    if isinstance(value, Transcript):
        return attrs.evolve(value, messages=tuple([redact(message) for message in value.messages]))
    if not isinstance(value, (*DURABLE_EVENTS, *LIVE_EVENTS, *PART_CLASSES, *MESSAGE_CLASSES)):
        raise TypeError(f"expected an event, record, part, message or transcript, got {type(value).__name__}")
    hidden = {name: _HIDDEN[name] for name in _names(type(value)) if name in _HIDDEN}
    if isinstance(value, AssistantMessage):
        hidden["parts"] = tuple([redact(part) for part in value.parts if not isinstance(part, OpaquePart)])
    return attrs.evolve(value, **hidden) if hidden else value


def _names(cls: type) -> tuple[str, ...]:
    return tuple(field.name for field in attrs.fields(cls))
