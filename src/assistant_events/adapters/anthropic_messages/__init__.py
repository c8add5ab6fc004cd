"""The dialect of the Anthropic Messages API, stable and beta."""

from assistant_events.adapters.anthropic_messages.decoder import AnthropicMessagesDecoder
from assistant_events.adapters.anthropic_messages.emitter import AnthropicMessagesEmitter, emit_resource
from assistant_events.adapters.anthropic_messages.encoder import encode
from assistant_events.adapters.anthropic_messages.vocabulary import DROPPED, detect
from assistant_events.adapters.dialect import Dialect

__all__ = [
    "AnthropicMessagesDecoder",
    "AnthropicMessagesEmitter",
    "detect",
    "dialect",
    "emit_resource",
    "encode",
]

dialect = Dialect(
    name="anthropic-messages",
    decoder=AnthropicMessagesDecoder,
    encoder=encode,
    emitter=AnthropicMessagesEmitter,
    emit_resource=emit_resource,
    detect=detect,
    detects="a `type` that begins with message_ or content_block_, or a message of the role assistant",
    dropped=DROPPED,
)
"""What the entry point of this dialect names."""
