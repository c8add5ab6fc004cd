"""The dialect of Gemini's generateContent and streamGenerateContent, of the Gemini API and of Vertex."""

from assistant_events.adapters.dialect import Dialect
from assistant_events.adapters.gemini_generate_content.decoder import GeminiGenerateContentDecoder
from assistant_events.adapters.gemini_generate_content.emitter import GeminiGenerateContentEmitter, emit_resource
from assistant_events.adapters.gemini_generate_content.encoder import NO_SIGNATURE, encode
from assistant_events.adapters.gemini_generate_content.vocabulary import DROPPED, detect

__all__ = [
    "NO_SIGNATURE",
    "GeminiGenerateContentDecoder",
    "GeminiGenerateContentEmitter",
    "detect",
    "dialect",
    "emit_resource",
    "encode",
]

dialect = Dialect(
    name="gemini-generate-content",
    decoder=GeminiGenerateContentDecoder,
    encoder=encode,
    emitter=GeminiGenerateContentEmitter,
    emit_resource=emit_resource,
    detect=detect,
    detects="an array `candidates`, a `promptFeedback` with a reason, a `modelVersion` or `usageMetadata`",
    dropped=DROPPED,
)
"""What the entry point of this dialect names."""
