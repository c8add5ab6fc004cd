"""The dialect of Gemini's generateContent and streamGenerateContent, of the Gemini API and of Vertex."""

from assistant_events.adapters.dialect import Dialect
from assistant_events.adapters.gemini_generate_content.decoder import GeminiGenerateContentDecoder
from assistant_events.adapters.gemini_generate_content.policy import POLICY
from assistant_events.adapters.gemini_generate_content.vocabulary import DROPPED, ERRORS, detect

__all__ = [
    "GeminiGenerateContentDecoder",
    "decode_resource",
    "detect",
    "dialect",
]

decode_resource = GeminiGenerateContentDecoder.decode_resource
"""Decodes an answer that came as one JSON document."""

dialect = Dialect(
    name="gemini-generate-content",
    decoder=GeminiGenerateContentDecoder,
    decode_resource=decode_resource,
    detect=detect,
    detects="an array `candidates`, a `promptFeedback` with a reason, a `modelVersion` or `usageMetadata`",
    policy=POLICY,
    http_error=ERRORS.read_http,
    dropped=DROPPED,
)
"""What the entry point of this dialect names."""
