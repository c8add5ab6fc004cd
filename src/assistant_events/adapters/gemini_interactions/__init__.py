"""The dialect of the Gemini Interactions API, generations 1.x and 2.x."""

from assistant_events.adapters.dialects import Dialect
from assistant_events.adapters.gemini_interactions.decoder import GeminiInteractionsDecoder, decode_resource
from assistant_events.adapters.gemini_interactions.detecting import detect
from assistant_events.adapters.gemini_interactions.encoder import encode
from assistant_events.adapters.gemini_interactions.errors import http_error

__all__ = ["GeminiInteractionsDecoder", "decode_resource", "detect", "dialect", "encode", "http_error"]

dialect = Dialect(
    name="gemini-interactions",
    decoder=GeminiInteractionsDecoder,
    encoder=encode,
    decode_resource=decode_resource,
    detect=detect,
    http_error=http_error,
)
