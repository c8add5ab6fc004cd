"""
Dialects: provider streams to events, one package for each wire format.

`load_dialect("gemini-interactions").decoder("m1")` gives a decoder; authors of adapters subclass `DecoderBase`.
"""

from assistant_events.adapters.aws_event_stream import AwsChunkStream, AwsEventStream
from assistant_events.adapters.base import DecoderBase, DecoderOptions, StepFacts
from assistant_events.adapters.dialect import Dialect, detect_dialect, dialect_names, load_dialect
from assistant_events.adapters.emitter import EmitterBase, Frame
from assistant_events.adapters.encoded import Encode, Encoded, EncodeMode, Item
from assistant_events.adapters.encoder import EncoderBase
from assistant_events.adapters.errors import ErrorTable
from assistant_events.adapters.frame_reader import Note
from assistant_events.adapters.frame_templates import DeltaFrames
from assistant_events.adapters.framing import Framing, JsonArray, JsonLines, Sse
from assistant_events.adapters.hops import Prior
from assistant_events.adapters.usage import UsageTable

__all__ = [
    "AwsChunkStream",
    "AwsEventStream",
    "DecoderBase",
    "DecoderOptions",
    "DeltaFrames",
    "Dialect",
    "EmitterBase",
    "Encode",
    "EncodeMode",
    "Encoded",
    "EncoderBase",
    "ErrorTable",
    "Frame",
    "Framing",
    "Item",
    "JsonArray",
    "JsonLines",
    "Note",
    "Prior",
    "Sse",
    "StepFacts",
    "UsageTable",
    "detect_dialect",
    "dialect_names",
    "load_dialect",
]
