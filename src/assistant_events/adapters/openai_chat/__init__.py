"""The dialect of OpenAI Chat Completions and of the servers that are compatible with it."""

from assistant_events.adapters.dialect import Dialect
from assistant_events.adapters.openai_chat.decoder import OpenAIChatDecoder
from assistant_events.adapters.openai_chat.emitter import OpenAIChatEmitter, emit_resource
from assistant_events.adapters.openai_chat.encoder import encode
from assistant_events.adapters.openai_chat.policy import PROFILES, Profile
from assistant_events.adapters.openai_chat.vocabulary import DROPPED, detect

__all__ = [
    "PROFILES",
    "OpenAIChatDecoder",
    "OpenAIChatEmitter",
    "Profile",
    "detect",
    "dialect",
    "emit_resource",
    "encode",
]

dialect = Dialect(
    name="openai-chat",
    decoder=OpenAIChatDecoder,
    encoder=encode,
    emitter=OpenAIChatEmitter,
    emit_resource=emit_resource,
    detect=detect,
    detects="an array `choices`, or an `error` without a type beside it",
    dropped=DROPPED,
)
"""What the entry point of this dialect names."""
