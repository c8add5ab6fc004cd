"""
Messages and transcripts: the result of folding events.

Everything is immutable. Messages are in the order of their first event.
"""

from assistant_events.messages.messages import (
    MESSAGE_CLASSES,
    PART_CLASSES,
    AnswerError,
    ApprovalStatus,
    AssistantMessage,
    CallStatus,
    CompactionMessage,
    MediaPart,
    Message,
    MessageStatus,
    OpaquePart,
    Part,
    PartStatus,
    ReasoningPart,
    TextPart,
    Times,
    ToolPart,
    UserMessage,
    content_status,
    plain_text,
)
from assistant_events.messages.redact import redact
from assistant_events.messages.settle import close_message, fail_again, interrupted
from assistant_events.messages.transcript import Awaits, Transcript, Turn, Unfinished

__all__ = [
    "MESSAGE_CLASSES",
    "PART_CLASSES",
    "AnswerError",
    "ApprovalStatus",
    "AssistantMessage",
    "Awaits",
    "CallStatus",
    "CompactionMessage",
    "MediaPart",
    "Message",
    "MessageStatus",
    "OpaquePart",
    "Part",
    "PartStatus",
    "ReasoningPart",
    "TextPart",
    "Times",
    "ToolPart",
    "Transcript",
    "Turn",
    "Unfinished",
    "UserMessage",
    "close_message",
    "content_status",
    "fail_again",
    "interrupted",
    "plain_text",
    "redact",
]
