"""
A transcript as rows for people: the same rows are printed on a terminal and into a pipe.

State shows as its size alone.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Final, assert_never, final

import attrs

from assistant_events import messages as msg
from assistant_events import values as v
from assistant_events.cli.terminal_safe import shortened, size_of

_LONGEST: Final = 600
"""Characters of an input or output of a tool that are shown; `--json` has all of them."""

_LISTED: Final = 10
"""Names that an error or a note lists."""

COUNTS: Final = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens")


@final
@attrs.frozen
class Row:
    """One thing about a message."""

    label: str
    text: str

    tone: str = ""
    """`dim`, `call`, `bad`, or nothing."""

    deeper: bool = False
    """Whether it belongs to the row before it."""

    heading: bool = False
    """Whether a message begins."""


def rows_of(transcript: msg.Transcript, limit: int = _LONGEST) -> Iterator[Row]:
    """Return everything that there is to see of a transcript; of inputs and outputs, *limit* characters."""
    for message in transcript.messages:
        match message:
            case msg.UserMessage():
                yield Row(message.id, "user", heading=True)
                yield from [Row("text", _content(item)) for item in message.content]
            case msg.AssistantMessage():
                yield from _assistant(message, limit)
            case msg.CompactionMessage():
                yield Row(message.id, f"compaction ({message.reason}) · {message.status.value}", heading=True)
                yield Row("text", message.text + _cut(message.status is msg.MessageStatus.FAILED))
                yield from _error(message.error)
            case _ as never:
                assert_never(never)


def markdown_of(transcript: msg.Transcript) -> str:
    """Return the conversation as Markdown, with whole inputs and outputs, without usage and state."""
    blocks: list[str] = []
    for row in rows_of(transcript, sys.maxsize):
        if row.heading:
            blocks.append(f"## {row.text}")
        elif row.label == "text":
            blocks.append(row.text)
        elif row.label == "reasoning":
            blocks.append("> " + row.text.replace("\n", "\n> "))
        elif row.label in ("input", "output"):
            fence = "`" * max([3, *[len(quotes) + 1 for quotes in re.findall("`+", row.text)]])
            blocks.append(f"{fence}\n{row.text}\n{fence}")
        elif row.label not in ("usage", "state"):
            blocks.append(f"*{row.label}*: {row.text}")
    return "\n\n".join(blocks)


def usage_text(usage: v.Usage) -> str:
    """Return token counts for people, without the unknown ones."""
    counts = [(name.removesuffix("_tokens").replace("_", " "), getattr(usage, name)) for name in COUNTS]
    known = [f"{name} {count:,}" for name, count in counts if count is not None]
    total = [] if usage.total_tokens is None else [f"total {usage.total_tokens:,}"]
    return " · ".join([*known, *total]) or "unknown"


def state_sizes(message: msg.Message) -> list[tuple[str, int]]:
    """Return how many bytes of state a message holds, and where."""
    if isinstance(message, msg.UserMessage):
        return []
    held: list[tuple[str, v.State]] = [("message", message.state)]
    if isinstance(message, msg.AssistantMessage):
        for part in message.parts:
            name = part.name if isinstance(part, msg.ToolPart) else part.type
            held.append((name, part.state))
            if isinstance(part, msg.ToolPart):
                held.append((f"result of {name}", part.result_state))
    return [(name, len(v.write_json(state))) for name, state in held if state]


def _assistant(message: msg.AssistantMessage, limit: int) -> Iterator[Row]:
    origin = message.origin
    who = " ".join(filter(None, [origin.provider, origin.served_model or origin.model]))
    how = (
        message.status.value
        if message.finish_reason is None
        else f"{message.status.value} ({message.finish_reason.value})"
    )
    failed = message.status is msg.MessageStatus.FAILED
    yield Row(message.id, f"assistant · {who} · {how}", "bad" if failed else "", heading=True)
    for part in message.parts:
        yield from _part(part, limit)
    yield from _error(message.error)
    if message.usage is not None:
        yield Row("usage", usage_text(message.usage), "dim")
    sizes = state_sizes(message)
    if sizes:
        yield Row("state", ", ".join([f"{name} {size_of(size)}" for name, size in sizes]), "dim")


def _part(part: msg.Part, limit: int) -> Iterator[Row]:
    match part:
        case msg.TextPart():
            yield Row("text", part.text + _unfinished(part.status))
            yield from [Row("cites", _citation(citation), "dim", deeper=True) for citation in part.citations]
        case msg.ReasoningPart():
            yield Row("reasoning", (part.text or "(without text)") + _unfinished(part.status), "dim")
        case msg.MediaPart():
            where = part.uri or size_of(len(part.data or b""))
            yield Row("media", f"{part.media_type} · {where}{_unfinished(part.status)}")
        case msg.ToolPart():
            yield from _call(part, limit)
        case msg.OpaquePart():
            yield Row("opaque", "an item of the provider, kept as it came", "dim")
        case _ as never:
            assert_never(never)


def _call(call: msg.ToolPart, limit: int) -> Iterator[Row]:
    by = " · run by the provider" if call.provider_executed else ""
    status = "waits for the app" if call.pending else call.status.value
    tone = "bad" if call.status is msg.CallStatus.FAILED else "call"
    yield Row("call", f"{call.name} {call.call_id} · {status}{by}", tone)
    text = call.raw_input if call.input is None else v.write_json(call.input).decode()
    if text:
        yield Row("input", shortened(text, limit), deeper=True)
    for item in call.output:
        yield Row("output", shortened(_content(item), limit), deeper=True)
    yield from [attrs.evolve(row, deeper=True) for row in _error(call.error)]


def _error(error: v.ErrorInfo | None) -> Iterator[Row]:
    if error is not None:
        again = " (may be tried again)" if error.retryable else ""
        yield Row("error", f"{error.kind}: {error.message}{again}", "bad")


def _citation(citation: v.Citation) -> str:
    span = "" if citation.start is None or citation.end is None else f"[{citation.start}:{citation.end}]"
    return " ".join(filter(None, [span, citation.title, citation.url, citation.cited_text]))


def _content(content: v.Content) -> str:
    if isinstance(content, v.MediaContent):
        return f"{content.media_type} · {content.uri or size_of(len(content.data or b''))}"
    return msg.plain_text((content,))


def _unfinished(status: msg.PartStatus) -> str:
    return " (still open)" if status is msg.PartStatus.STREAMING else _cut(status is msg.PartStatus.INCOMPLETE)


def _cut(is_cut: bool) -> str:
    return " (cut here)" if is_cut else ""


def first_of(names: Sequence[str]) -> str:
    """Return the first names, quoted, and how many more there are."""
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join([repr(name) for name in names[:_LISTED]]) + more
