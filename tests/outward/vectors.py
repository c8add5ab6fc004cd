"""
Logs as browsers get them, what Python makes of them, and damage that a channel may do.
"""

from __future__ import annotations

import json
import re

import attrs
from hypothesis import strategies as st

from assistant_events import ErrorInfo, Event, Frame, Origin, redact
from assistant_events import events as ev
from assistant_events.converters import dumps, structure, unstructure
from assistant_events.outward import DocumentWriter
from assistant_events.reducer import Builder
from assistant_events.testing import records

EXACT = 1 << 53
"""The integers of JavaScript are exact to here."""


def exact(value):
    """
    Return JSON with its numbers as JavaScript keeps them.
    """
    if isinstance(value, dict):
        return {name: exact(each) for name, each in value.items()}
    if isinstance(value, list):
        return [exact(each) for each in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > EXACT:
        return value % 1000
    return value + 0.0 if isinstance(value, float) else value


def prepared(events, *, narrow=False):
    """
    Return redacted events with numbers that JavaScript keeps; with *narrow*, also with one UTF-16 unit a character.
    """
    found = []
    for event in events:
        document = json.dumps(exact(json.loads(dumps(redact(event)))), ensure_ascii=False)
        if narrow:
            document = re.sub("[\U00010000-\U0010ffff]", "\uffee", document)
        found.append(structure(json.loads(document), Event))
    return found


def as_log(events, *, framed=False):
    """
    Return records for the durable events and, between them, live ones, each in a frame of its own with *framed*.
    """
    numbered = iter(records(events))
    log, seq = [], 0
    for event in events:
        if event.durable:
            log.append(next(numbered))
            seq = log[-1].seq
        else:
            log.append(Frame(session_id="s1", after=seq, events=[event]) if framed else event)
    return log


def written(items, start=None):
    """
    Return the documents of items for a browser that has *start*.
    """
    writer = DocumentWriter(start)
    return [writer.write(item) for item in items]


def bare(items):
    """
    Return the documents of items as the library writes them, which have no type for records and frames.
    """
    return [unstructure(redact(item)) for item in items]


def document_of(transcript):
    """
    Return the document of a transcript in a browser.
    """
    document = DocumentWriter().snapshot(transcript)
    del document["type"]
    return document


def canonical(document):
    """
    Return text that is equal for equal documents: JavaScript has one kind of number, and `rewound` is a set.
    """
    if isinstance(document, dict) and "rewound" in document:
        document = {**document, "rewound": sorted(document["rewound"])}
    return json.dumps(json.loads(json.dumps(document), parse_int=float), sort_keys=True, indent=1)


def expected(items, start=None):
    """
    Return what Python makes of items: the document of the transcript and the outcomes.
    """
    builder = Builder(start)
    outcomes = [builder.apply(item).value for item in items]
    return document_of(builder.transcript), outcomes


@st.composite
def damaged(draw, items):
    """
    Draw items after a bad channel: some lost, doubled and swapped.
    """
    again = list(items)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(again)))
        match draw(st.sampled_from(("drop", "double", "swap"))):
            case "drop":
                del again[at : at + 1]
            case "double" if again:
                again.insert(at, draw(st.sampled_from(again)))
            case _:
                again[at : at + 2] = reversed(again[at : at + 2])
    return again


def overlapping(events):
    """
    Return events in which the first half of every delta comes once more before it.
    """
    found = []
    for event in events:
        if event.type.endswith(".delta") and len(event.delta) > 1:
            found.append(attrs.evolve(event, delta=event.delta[: len(event.delta) // 2]))
        found.append(event)
    return found


def probes(transcript):
    """
    Return events that may follow, or not, on every message and every call of a transcript.
    """
    cut = ErrorInfo(kind="interrupted", message="cut")
    failed = ErrorInfo(kind="tool", message="no")
    found = []
    for message in transcript.messages:
        about = {"message_id": message.id}
        found += [
            ev.StepStarted(origin=Origin(provider="p", dialect="d"), **about),
            ev.StepRestarted(reason="r", **about),
            ev.StepEnded(finish_reason="pause", **about),
            ev.StepEnded(finish_reason="stop", **about),
            ev.StepFailed(error=cut, **about),
            ev.TextStarted(**about),
            ev.TextEnded(text="x", **about),
            ev.OpaqueReceived(**about),
            ev.HistoryRewound(**about),
            ev.CompactionEnded(text="x", **about),
        ]
        for call_id in (*[call.call_id for call in getattr(message, "tool_calls", ())], "other"):
            of_call = {**about, "call_id": call_id}
            found += [
                ev.ToolInputStarted(name="n", **of_call),
                ev.ToolInputEnded(text="{}", **of_call),
                ev.ToolCalled(name="search", input={}, **of_call),
                ev.ToolApprovalRequested(**of_call),
                ev.ToolApproved(**of_call),
                *[ev.ToolStarted(attempt=attempt, **of_call) for attempt in (1, 2, 3, 4)],
                ev.ToolProgress(output="x", **of_call),
                ev.ToolSuccess(output="x", **of_call),
                ev.ToolFailed(error=cut, **of_call),
                ev.ToolFailed(error=failed, provider_executed=True, **of_call),
            ]
    return found


def in_units(documents):
    """
    Return documents with their deltas of text cut into single UTF-16 units, so that pairs are parted.
    """
    found = []
    for document in documents:
        if document["type"] == "frame":
            found += [{**document, "events": [event]} for event in in_units(document["events"])]
        elif isinstance(document.get("delta"), str) and document["type"] != "media.delta":
            data = document["delta"].encode("utf-16-le", "surrogatepass")
            units = [data[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(data), 2)]
            found += [{**document, "offset": document["offset"] + at, "delta": unit} for at, unit in enumerate(units)]
        else:
            found.append(document)
    return found
