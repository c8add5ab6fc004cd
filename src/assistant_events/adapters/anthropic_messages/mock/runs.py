"""Messages of the mock: their documents, their events, and the frames of faults."""

from __future__ import annotations

from collections.abc import Iterator
from secrets import token_hex
from typing import Any, ClassVar, Final, cast, final

import attrs

from assistant_events.adapters.anthropic_messages import AnthropicMessagesDecoder, AnthropicMessagesEmitter
from assistant_events.adapters.anthropic_messages.mock.answers import Answer, default_stop_reason
from assistant_events.adapters.aws_event_stream import AwsChunkStream, AwsEventStream
from assistant_events.adapters.emitter import EmitterBase
from assistant_events.adapters.framing import Sse
from assistant_events.adapters.json_fields import Fields
from assistant_events.mock import bedrock_api, runs
from assistant_events.mock.documents import PreparedAnswer, changed_frame, mark, texts_of, token_count
from assistant_events.mock.fault_effects import FaultFrames
from assistant_events.mock.stream_actions import WireFrame
from assistant_events.values import thaw, write_json

_ERROR_TYPES: Final = {"internal": "api_error"}
"""Types of the provider by codes of this library."""

_EXCEPTIONS: Final = {
    "invalid_request_error": "validationException",
    "request_too_large": "validationException",
    "authentication_error": "accessDeniedException",
    "billing_error": "accessDeniedException",
    "permission_error": "accessDeniedException",
    "not_found_error": "resourceNotFoundException",
    "timeout_error": "modelTimeoutException",
    "rate_limit_error": "throttlingException",
    "api_error": "internalServerException",
    "overloaded_error": "serviceUnavailableException",
}
"""What Bedrock has in place of the types of errors; streams have no others than exceptions (botocore 1.44.8)."""

_METRICS: Final = "amazon-bedrock-invocationMetrics"
"""What the last event of a stream of Bedrock has beside its type, in all 13 recordings."""


def sealed_content(block: Fields) -> object | None:
    """Return what the signature of a block seals; `None` for a block that has none. Texts may not change at all."""
    match block.get("type"):
        case "thinking":
            return ["thinking", block.get("thinking")]
        case "redacted_thinking":
            return ["redacted_thinking"]
        case _:
            return None


def signature_key(block: Fields) -> str:
    """Return the field of the signature of a block."""
    return "data" if block.get("type") == "redacted_thinking" else "signature"


def bedrock_code(code: object) -> str | None:
    """Return the exception that Bedrock has for a type of errors, or the exception that a code is; else `None`."""
    word = str(code)
    return _EXCEPTIONS.get(word, word if word.endswith("Exception") else None)


def wire_frame(event: Fields) -> WireFrame:
    """Return an event with its bytes."""
    return WireFrame(event["type"], AnthropicMessagesDecoder.framing.frame(event["type"], event))


def chunk_frame(event: Fields) -> WireFrame:
    """Return an event with its bytes, as Bedrock sends it."""
    return WireFrame(event["type"], AwsChunkStream.frame(None, event))


@final
class Prepared(PreparedAnswer):
    """An answer that can be sent any number of times."""

    emitter: ClassVar[type[EmitterBase]] = AnthropicMessagesEmitter

    def make_document(self) -> dict[str, Any]:
        """Return the message."""
        answer = cast("Answer", self.answer)
        return {
            "id": mark("id"),
            "type": "message",
            "role": "assistant",
            "model": mark("model"),
            "content": [self._block(thaw(block), place) for place, block in enumerate(answer.content)],
            "stop_reason": default_stop_reason(answer),
            "stop_sequence": None,
            "usage": mark("usage"),
            **thaw(answer.more),
        }

    def with_marks(self, frame: dict[str, Any]) -> dict[str, Any]:
        """Return a frame with the usage of the run."""
        match frame["type"]:
            case "message_start":
                return {**frame, "message": {**frame["message"], "usage": mark("usage at the start")}}
            case "message_delta":
                return {**frame, "usage": mark("usage")}
            case _:
                return frame

    def _block(self, block: dict[str, Any], place: int) -> dict[str, Any]:
        content, key = sealed_content(block), signature_key(block)
        if content is not None and key not in block and self.signs:
            return {**block, key: self.signature_mark(place, content)}
        if block.get("type") == "tool_use":
            return {**block, "id": block.get("id") or mark(f"call {place}"), "input": block.get("input") or {}}
        return block


@final
class Run(runs.Run[Prepared]):
    """One message."""

    MODEL = "claude-opus-5-5"
    is_continued = False
    """Whether it was continued in its thread: each message may be so once."""

    def __init__(self, *given: Any, **options: Any) -> None:
        # Any: the parameters of `runs.Run`.
        super().__init__(*given, **options)
        self.is_in_chunks = self.body.get("platform") == "bedrock"
        """Whether its stream is the binary one of Bedrock."""

    def own_values(self) -> dict[str, Any]:
        """Return model, usage, and ids of calls."""
        answer = cast("Answer", self.answer)
        usage = self._usage(answer)
        ids = f"toolu_{self.salt.hex()[:16]}"
        return {
            "model": self.body.get("model") or self.MODEL,
            "usage": usage,
            "usage at the start": {**usage, "output_tokens": min(usage.get("output_tokens", 0), 1)},
            **{f"call {place}": f"{ids}{place:02}" for place in range(len(answer.content))},
        }

    def _usage(self, answer: Answer) -> dict[str, Any]:
        if answer.usage is not None:
            return dict(thaw(answer.usage))
        return {
            "input_tokens": self.input_tokens(self.body),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": token_count(_texts_of_answer(answer)),
        }

    def event(self, number: int) -> WireFrame:
        """Return the frame of an event."""
        frame = super().event(number)
        return self._in_chunk(frame) if self.is_in_chunks and frame.name != "error" else frame

    def costs(self) -> dict[str, str]:
        """Return the headers in which Bedrock has what a document cost."""
        metrics = self._metrics()
        return {
            "x-amzn-bedrock-input-token-count": str(metrics["inputTokenCount"]),
            "x-amzn-bedrock-output-token-count": str(metrics["outputTokenCount"]),
            "x-amzn-bedrock-invocation-latency": str(metrics["invocationLatency"]),
        }

    def _metrics(self) -> dict[str, int]:
        usage, (first, *_, last) = self._usage(cast("Answer", self.answer)), self.times()
        return {
            "inputTokenCount": usage.get("input_tokens", 0),
            "outputTokenCount": usage.get("output_tokens", 0),
            "invocationLatency": round(1000 * (last - self.started)),
            "firstByteLatency": round(1000 * (first - self.started)),
        }

    def _in_chunk(self, frame: WireFrame) -> WireFrame:
        [payload] = Sse().feed(frame.data)
        if frame.name == "message_stop":
            payload = write_json({"type": frame.name, _METRICS: self._metrics()})
        return WireFrame(frame.name, AwsChunkStream.frame(None, payload.decode()))

    def error_frame(self) -> WireFrame:
        """Return the frame of the error that ends the stream."""
        error = self.stream_error
        if self.is_in_chunks:
            error = attrs.evolve(error, code=bedrock_code(error.code) or error.code)
            return bedrock_api.error_frame(error)._replace(name="error")
        return wire_frame(error_body(_ERROR_TYPES.get(str(error.code), str(error.code)), error.message))

    def status_update(self) -> bytes:
        """Return a ping."""
        return (chunk_frame if self.is_in_chunks else wire_frame)({"type": "ping"}).data


def _texts_of_answer(answer: Answer) -> Iterator[str]:
    for block in answer.content:
        yield from texts_of([block.get("text"), block.get("thinking")])
        if "input" in block:
            yield write_json(block["input"]).decode()


def error_body(kind: str, message: str, error_code: str | None = None) -> dict[str, Any]:
    """Return the document of an error; a few have a stable *error_code*."""
    details = {} if error_code is None else {"details": {"error_code": error_code}}
    error = {"type": kind, "message": message, **details}
    return {"type": "error", "error": error, "request_id": f"req_{token_hex(12)}"}


def _drop_usage(event: dict[str, Any]) -> None:
    event.pop("usage", None)
    event.pop(_METRICS, None)


def _drop_stop_reason(event: dict[str, Any]) -> None:
    if "delta" in event:
        event["delta"].update(stop_reason=None)


_ENDS, _STOPS = frozenset({"message_delta", "message_stop"}), frozenset({"content_block_stop"})
_HINTS: Final[tuple[Fields, ...]] = (
    {"type": "message_hint", "hint": "of tomorrow"},
    {"type": "content_block_hint", "index": 0, "hint": "of tomorrow"},
)

FAULT_FRAMES: Final = FaultFrames(
    # Not recorded: what a gateway sends in place of the rest.
    cut_tail=b'{"type":"error","error":{"type":"api_error","message":"Internal server error"}}\n',
    error=lambda _: wire_frame({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    empty_errors=(
        wire_frame({"type": "error"}),
        wire_frame({"type": "error", "error": {}}),
        wire_frame({"type": "error", "error": {"type": "", "message": ""}}),
    ),
    unknown_types=tuple(map(wire_frame, _HINTS)),
    bad_json=WireFrame(
        "content_block_delta", b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,\n\n'
    ),
    end_names=_ENDS,
    stop_names=_STOPS,
    done=b"[DONE]\n\n",
    without_usage=changed_frame(wire_frame, _drop_usage),
    unfinished=changed_frame(wire_frame, _drop_stop_reason),
)

CHUNK_FAULT_FRAMES: Final = bedrock_api.fault_frames(
    chunk_frame({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ""}}),
    unknown_types=tuple(map(chunk_frame, _HINTS)),
    end_names=_ENDS,
    stop_names=_STOPS,
    without_usage=changed_frame(chunk_frame, _drop_usage, AwsEventStream),
    unfinished=changed_frame(chunk_frame, _drop_stop_reason, AwsEventStream),
)
