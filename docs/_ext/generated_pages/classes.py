"""Values, messages, parts and closed vocabularies as Markdown, from the classes."""

from __future__ import annotations

from enum import Enum

from assistant_events import (
    AssistantMessage,
    CallStatus,
    Citation,
    CompactionMessage,
    ErrorInfo,
    FinishReason,
    JsonContent,
    MediaContent,
    MediaPart,
    MessageStatus,
    OpaquePart,
    Origin,
    ReasoningPart,
    RemoteRun,
    TextContent,
    TextPart,
    ToolPart,
    Transcript,
    Usage,
    UserMessage,
)
from assistant_events.messages import PartStatus, Times, Turn, Unfinished
from assistant_events.reducer import Outcome
from generated_pages.catalogue import table_of
from generated_pages.reading import members_of, paragraphs

_EXTRA = frozenset({"extra"})


def facts() -> str:
    """Return what events carry beside text and JSON."""
    return _sections([Origin, RemoteRun, Usage, ErrorInfo, Citation], _EXTRA)


def content() -> str:
    """Return what prompts and results hold."""
    return _sections([TextContent, JsonContent, MediaContent], _EXTRA)


def messages() -> str:
    """Return the three kinds of messages, and the transcript."""
    return _sections(
        [UserMessage, AssistantMessage, CompactionMessage, Transcript, Turn, Unfinished, Times], frozenset()
    )


def parts() -> str:
    """Return what an assistant message is made of."""
    return _sections([TextPart, ReasoningPart, MediaPart, ToolPart, OpaquePart], frozenset())


def outcomes() -> str:
    """Return what `reduce` may return."""
    return _words(Outcome)


def finish_words() -> str:
    """Return why a step may have ended."""
    return _words(FinishReason)


def message_words() -> str:
    """Return how far a message may be."""
    return _words(MessageStatus)


def part_words() -> str:
    """Return how far a fragment may be."""
    return _words(PartStatus)


def call_words() -> str:
    """Return how far a call may be."""
    return _words(CallStatus)


def _sections(kinds: list[type], without: frozenset[str]) -> str:
    return "\n\n".join(f"### `{kind.__name__}`\n\n{paragraphs(kind)}\n\n{table_of(kind, without)}" for kind in kinds)


def _words(kind: type[Enum]) -> str:
    return "\n".join(
        ["| word | |", "|---|---|", *[f"| `{word}` | {' '.join(doc.split())} |" for word, doc in members_of(kind)]]
    )
