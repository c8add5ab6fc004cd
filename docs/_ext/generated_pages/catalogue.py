"""The catalogue of events as Markdown, from the classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from assistant_events import Citation, ErrorInfo, Frame, Origin, Record, RemoteRun, Usage
from assistant_events.converters import dumps
from assistant_events.events import DURABLE_EVENTS, LIVE_EVENTS
from generated_pages.reading import fields_of, one_line, paragraphs

_HIDDEN = frozenset({"extra"})
_SHARED = _HIDDEN | {"message_id"}

_FAMILIES = {
    "prompt": "Prompts",
    "history": "History",
    "step": "Steps",
    "text": "Text",
    "reasoning": "Reasoning",
    "media": "Media",
    "tool": "Calls",
    "opaque": "Opaque items",
    "compaction": "Compaction",
}

_ORIGIN = Origin(provider="google", model="gemini-3-pro", dialect="gemini-interactions")
_SAMPLES: dict[str, Any] = {
    # Any: a value for a field of each name, to show what is written.
    "message_id": "a1",
    "content": "What is the weather in Oslo?",
    "origin": _ORIGIN,
    "run": RemoteRun(id="v1_Qx", resumable=True, kind="interaction"),
    "state": {"i": 0},
    "reason": "the stream was rejoined after a cut",
    "finish_reason": "stop",
    "raw_finish_reason": "completed",
    "usage": Usage(input_tokens=12, output_tokens=5),
    "error": ErrorInfo(kind="interrupted", message="the stream stopped before its end"),
    "text": "It rains.",
    "complete": False,
    "citations": [Citation(url="https://example.org/oslo", start=0, end=9)],
    "media_type": "image/png",
    "data": b"\x89PNG",
    "call_id": "c1",
    "name": "weather",
    "input": {"city": "Oslo"},
    "output": {"celsius": 4},
    "attempt": 1,
    "offset": 3,
    "delta": "rains",
}
_SHOWN = {
    # Fields that are worth showing although they have a default.
    "step.ended": ("raw_finish_reason", "usage"),
    "text.ended": ("state",),
    "reasoning.ended": ("state",),
    "media.ended": ("data",),
    "tool.success": ("output",),
    "tool.progress": ("output",),
    "tool.approval.requested": ("reason",),
    "opaque.received": ("state",),
}


def summary() -> str:
    """Return every event in one table."""
    lines = ["| type | class | kept | version | fields |", "|---|---|---|---|---|"]
    for cls in _ordered():
        names = [field.name + ("?" if field.default == "none" else "") for field in fields_of(cls, without=_SHARED)]
        lines.append(
            f"| [`{cls.type}`](#{_anchor(cls.type)}) | `{cls.__name__}` | {_kept(cls)} | {cls.version} "
            f"| {', '.join(f'`{name}`' for name in names)} |"
        )
    return "\n".join(lines)


def catalogue() -> str:
    """Return every event with its fields, by family."""
    sections: list[str] = []
    family = ""
    for cls in _ordered():
        word = cls.type.partition(".")[0]
        if word != family:
            family = word
            sections.append(f"## {_FAMILIES[word]}")
        sections.append(_event(cls))
    return "\n\n".join(sections)


def record() -> str:
    """Return the fields of a record."""
    return _table(Record, frozenset())


def frame() -> str:
    """Return the fields of a frame."""
    return _table(Frame, frozenset())


def sample(cls: type[Any]) -> Any:
    """Return an event of *cls* with a plausible value in every field that is shown."""
    # Any: the classes have no common public base.
    shown = _SHOWN.get(cls.type, ())
    values = {
        field.name: _SAMPLES[field.name]
        for field in attrs.fields(cls)
        if field.name in shown or (field.default is attrs.NOTHING and field.name in _SAMPLES)
    }
    if cls.type.startswith("media") and "delta" in values:
        values["delta"] = b"\x0d\x0a"
    if cls.type == "compaction.started":
        values["reason"] = "auto"
    if cls.type == "tool.approval.requested":
        values["reason"] = "It sends a mail."
    if cls.type == "tool.input.delta":
        values["delta"] = 'ty": "Oslo"}'
    if cls.type == "tool.input.ended":
        values["text"] = '{"city": "Oslo"}'
    if cls.type == "prompt.submitted":
        values["message_id"] = "u1"
    return cls(**values)


def _event(cls: type[Any]) -> str:
    kept = (
        "durable: it is kept and has a place in the log" if cls.durable else "live: it may be lost and is never stored"
    )
    lines = [
        f"### `{cls.type}`",
        "",
        paragraphs(cls),
        "",
        f"Class `assistant_events.{cls.__name__}`, version {cls.version}, {kept}.",
        "",
    ]
    table = _table(cls, _SHARED)
    if table:
        lines += [table, ""]
    lines += ["```json", dumps(sample(cls)).decode(), "```"]
    return "\n".join(lines)


def _table(cls: type, without: frozenset[str]) -> str:
    fields = fields_of(cls, without=without)
    if not fields:
        return ""
    lines = ["| field | type | default | |", "|---|---|---|---|"]
    lines += [
        f"| `{field.name}` | `{one_line(field.type)}` | {field.default or 'required'} | {one_line(field.doc)} |"
        for field in fields
    ]
    return "\n".join(lines)


table_of: Callable[[type, frozenset[str]], str] = _table


def _ordered() -> list[type[Any]]:
    """Return all classes: families in the order of the catalogue, inside them started, delta, ended."""
    families = list(_FAMILIES)
    order = {cls: at for at, cls in enumerate(DURABLE_EVENTS)}

    def place(cls: type[Any]) -> tuple[int, float]:
        if cls in order:
            return families.index(cls.type.partition(".")[0]), order[cls]
        stem = cls.type.rpartition(".")[0]
        # A live event follows the durable one that opens its fragment.
        opener = "tool.called" if cls.type == "tool.progress" else f"{stem}.started"
        return families.index(cls.type.partition(".")[0]), next(
            at + 0.5 for each, at in order.items() if each.type == opener
        )

    return sorted((*DURABLE_EVENTS, *LIVE_EVENTS), key=place)


def _kept(cls: type[Any]) -> str:
    return "durable" if cls.durable else "live"


def _anchor(type_: str) -> str:
    # What both MyST and GitHub make of the heading.
    return type_.replace(".", "")
