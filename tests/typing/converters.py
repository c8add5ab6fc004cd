"""
What type checkers see of the converters. Checked by mypy and pyright, never run.
"""

from __future__ import annotations

from typing import Any, assert_type

import cattrs

from assistant_events import (
    Content,
    DurableEvent,
    Event,
    LiveEvent,
    Message,
    Part,
    Record,
    TextEnded,
    Transcript,
    Usage,
)
from assistant_events.converters import configure_converter, dumps, loads, structure, unstructure


def reading(data: bytes, text: str, document: dict[str, Any]) -> None:
    assert_type(loads(data, Event), Event)
    assert_type(loads(text, DurableEvent), DurableEvent)
    assert_type(loads(data, LiveEvent), LiveEvent)
    assert_type(loads(data, Record), Record)
    assert_type(loads(data, Transcript), Transcript)
    assert_type(loads(data, TextEnded), TextEnded)
    assert_type(structure(document, Event), Event)
    assert_type(structure(document, Message), Message)
    assert_type(structure(document, Part), Part)
    assert_type(structure(document, Content), Content)
    assert_type(structure(document, Usage), Usage)


def writing(event: Event, transcript: Transcript) -> None:
    assert_type(dumps(event), bytes)
    assert_type(dumps(transcript), bytes)
    assert_type(unstructure(event), Any)


def converting(converter: cattrs.Converter) -> None:
    configure_converter(converter)
