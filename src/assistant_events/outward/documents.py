"""
Plain JSON for browsers: without provider state, with places in texts in UTF-16 units, as JavaScript counts them.

What `fold.mjs` folds: redacted events, records, frames and transcripts. The `type` of a record is `record`, that of a
frame `frame`, that of a transcript `snapshot`.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import Any, TypeVar

import attrs

from assistant_events import events as ev
from assistant_events import messages as msg
from assistant_events.converters import unstructure
from assistant_events.values import Citation

_TextDelta = ev.TextDelta | ev.ReasoningDelta | ev.ToolInputDelta | ev.CompactionDelta
_Cited = TypeVar("_Cited", ev.TextEnded, msg.TextPart)


class DocumentWriter:
    """
    Writes what one browser folds.

    It counts the characters of open fragments, so it has to be given every item that the browser gets, in their order.

    Args:
        transcript: What the browser has already; an empty one by default.
    """

    def __init__(self, transcript: msg.Transcript | None = None) -> None:
        self._open: dict[str, dict[str, _Units]] = {}
        """The open texts by message and by address: the prefix of the type, or the id of a call."""

        if transcript is not None:
            self._adopt(transcript)

    def snapshot(self, transcript: msg.Transcript) -> dict[str, Any]:
        """Return the document of a transcript that replaces what the browser has."""
        self._open.clear()
        self._adopt(transcript)
        shown = attrs.evolve(transcript, messages=tuple(map(_message_in_units, transcript.messages)))
        return {"type": "snapshot", **unstructure(msg.redact(shown))}

    def write(self, item: ev.Event | ev.Record | ev.Frame) -> dict[str, Any]:
        """
        Return the document of an item.

        Raises:
            TypeError: It is neither an event nor a record nor a frame.
        """
        shown = msg.redact(item)
        if isinstance(shown, ev.Record):
            return {"type": "record", **unstructure(attrs.evolve(shown, event=self._in_units(shown.event)))}
        if isinstance(shown, ev.Frame):
            events = tuple([self._in_units(event) for event in shown.events])
            return {"type": "frame", **unstructure(attrs.evolve(shown, events=events))}
        document: dict[str, Any] = unstructure(self._in_units(shown))
        return document

    def skip(self, item: ev.Event | ev.Record | ev.Frame) -> None:
        """Count the characters of an item that the browser gets as the writer of another one has written it."""
        if isinstance(item, ev.Frame):
            for event in item.events:
                self._place(event)
        else:
            self._place(item.event if isinstance(item, ev.Record) else item)

    def _in_units(self, event: Any) -> Any:
        # Any: an event, recognised by its class.
        offset = self._place(event)
        if offset is not None:
            return attrs.evolve(event, offset=offset)
        return _citations_in_units(event) if isinstance(event, ev.TextEnded) else event

    def _place(self, event: Any) -> int | None:
        """Count an event, and return its offset in units if it is a delta of a text."""
        match event:
            case ev.TextDelta() | ev.ReasoningDelta() | ev.ToolInputDelta() | ev.CompactionDelta():
                fragments = self._open.setdefault(event.message_id, {})
                address = _address_of(event)
                if (units := fragments.get(address)) is None:
                    units = fragments[address] = _Units()
                return units.advance(event)
            case ev.TextEnded() | ev.ReasoningEnded() | ev.ToolInputEnded():
                self._open.get(event.message_id, {}).pop(_address_of(event), None)
            case (
                ev.StepRestarted()
                | ev.StepEnded()
                | ev.StepFailed()
                | ev.CompactionEnded()
                | ev.CompactionFailed()
                | ev.HistoryRewound()
            ):
                self._open.pop(event.message_id, None)
            case _:
                pass
        return None

    def _adopt(self, transcript: msg.Transcript) -> None:
        for message in transcript.messages:
            found: dict[str, _Units] = {}
            if isinstance(message, msg.CompactionMessage):
                found[message.type] = _Units(message.text)
            elif isinstance(message, msg.AssistantMessage):
                for part in message.parts:
                    if isinstance(part, msg.ToolPart) and part.input_status is msg.PartStatus.STREAMING:
                        found[f"call {part.call_id}"] = _Units(part.raw_input)
                    elif isinstance(part, msg.TextPart | msg.ReasoningPart) and part.status is msg.PartStatus.STREAMING:
                        found[part.type] = _Units(part.text)
            if found and message.status is msg.MessageStatus.RUNNING:
                self._open[message.id] = found


class _Units:
    """Length of a text that streams, and where it has characters of two UTF-16 units."""

    def __init__(self, text: str = "") -> None:
        self._length = 0
        self._wide = array("I")  # each browser has its own
        self._add(text)

    def advance(self, delta: _TextDelta) -> int:
        """Count a delta, and return its offset in units. One beyond the text is a gap, and stays beyond it."""
        offset, missing = delta.offset, delta.offset + len(delta.delta) - self._length
        units = offset + bisect_left(self._wide, offset)
        if offset <= self._length and missing > 0:
            self._add(delta.delta[-missing:])
        return units

    def _add(self, text: str) -> None:
        self._wide.extend(_wide_places(text, self._length))
        self._length += len(text)


def _wide_places(text: str, start: int = 0) -> list[int]:
    if text.isascii():
        return []
    return [at for at, character in enumerate(text, start) if character > "\uffff"]


def _address_of(event: _TextDelta | ev.TextEnded | ev.ReasoningEnded | ev.ToolInputEnded) -> str:
    if isinstance(event, ev.ToolInputDelta | ev.ToolInputEnded):
        return f"call {event.call_id}"
    return event.type.partition(".")[0]


def _message_in_units(message: msg.Message) -> msg.Message:
    if not isinstance(message, msg.AssistantMessage):
        return message
    parts = [_citations_in_units(part) if isinstance(part, msg.TextPart) else part for part in message.parts]
    return attrs.evolve(message, parts=tuple(parts))


def _citations_in_units(cited: _Cited) -> _Cited:
    if not cited.citations or not (wide := _wide_places(cited.text)):
        return cited

    def units(place: int | None) -> int | None:
        return None if place is None else place + bisect_left(wide, place)

    def moved(citation: Citation) -> Citation:
        return attrs.evolve(citation, start=units(citation.start), end=units(citation.end))

    return attrs.evolve(cited, citations=tuple(map(moved, cited.citations)))
