"""The dialect of the OpenAI Responses API, which many other servers speak."""

from assistant_events.adapters.dialect import Dialect
from assistant_events.adapters.openai_responses.decoder import OpenAIResponsesDecoder
from assistant_events.adapters.openai_responses.emitter import OpenAIResponsesEmitter, emit_resource
from assistant_events.adapters.openai_responses.encoder import encode
from assistant_events.adapters.openai_responses.vocabulary import DROPPED, detect

__all__ = ["OpenAIResponsesDecoder", "OpenAIResponsesEmitter", "detect", "dialect", "emit_resource", "encode"]

dialect = Dialect(
    name="openai-responses",
    decoder=OpenAIResponsesDecoder,
    encoder=encode,
    emitter=OpenAIResponsesEmitter,
    emit_resource=emit_resource,
    detect=detect,
    detects="a `type` that begins with response., or an `object` response",
    dropped=DROPPED,
)
"""What the entry point of this dialect names."""
