"""The dialect of the Gemini Interactions API, generations 1.x and 2.x."""

from assistant_events.adapters.dialect import Dialect
from assistant_events.adapters.gemini_interactions.decoder import GeminiInteractionsDecoder
from assistant_events.adapters.gemini_interactions.emitter import GeminiInteractionsEmitter, emit_resource
from assistant_events.adapters.gemini_interactions.encoder import encode
from assistant_events.adapters.gemini_interactions.step_stream import sse
from assistant_events.adapters.gemini_interactions.vocabulary import DROPPED, detect

__all__ = [
    "GeminiInteractionsDecoder",
    "GeminiInteractionsEmitter",
    "decode_resource",
    "detect",
    "dialect",
    "emit_resource",
    "encode",
    "sse",
]

decode_resource = GeminiInteractionsDecoder.decode_resource
"""Decodes an interaction that came as one JSON document."""

dialect = Dialect(
    name="gemini-interactions",
    decoder=GeminiInteractionsDecoder,
    encoder=encode,
    emitter=GeminiInteractionsEmitter,
    emit_resource=emit_resource,
    detect=detect,
    detects="an `event_type` or `type` that begins with interaction., step. or content., or an `object` interaction",
    dropped=DROPPED,
)
"""What the entry point of this dialect names."""
