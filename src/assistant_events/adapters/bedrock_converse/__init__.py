"""The dialect of Amazon Bedrock's Converse and ConverseStream."""

from assistant_events.adapters.aws import for_boto3, read_exception, read_http
from assistant_events.adapters.bedrock_converse.decoder import BedrockConverseDecoder
from assistant_events.adapters.bedrock_converse.emitter import BedrockConverseEmitter, emit_resource
from assistant_events.adapters.bedrock_converse.encoder import encode
from assistant_events.adapters.bedrock_converse.vocabulary import DROPPED, detect
from assistant_events.adapters.dialect import Dialect

__all__ = [
    "BedrockConverseDecoder",
    "BedrockConverseEmitter",
    "detect",
    "dialect",
    "emit_resource",
    "encode",
    "for_boto3",
    "read_exception",
]

dialect = Dialect(
    name="bedrock-converse",
    decoder=BedrockConverseDecoder,
    encoder=encode,
    emitter=BedrockConverseEmitter,
    emit_resource=emit_resource,
    detect=detect,
    detects="an event of Converse such as messageStart, or an output with a stopReason",
    http_error=read_http,
    dropped=DROPPED,
)
"""What the entry point of this dialect names."""
