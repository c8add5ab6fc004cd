"""Answers of the mock: their documents, their events, and the frames of faults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Final, cast, final

from assistant_events.adapters.aws_event_stream import AwsEventStream
from assistant_events.adapters.bedrock_converse import BedrockConverseEmitter
from assistant_events.adapters.bedrock_converse.mock.answers import Answer, default_stop_reason
from assistant_events.adapters.claude import data_of
from assistant_events.adapters.emitter import EmitterBase, Frame
from assistant_events.adapters.json_fields import Fields, mapping, string
from assistant_events.mock import runs
from assistant_events.mock.bedrock_api import error_frame, fault_frames
from assistant_events.mock.documents import PreparedAnswer, changed_frame, mark, texts_of, token_count
from assistant_events.mock.stream_actions import WireFrame
from assistant_events.values import thaw, write_json

_PADDING: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
"""Every event of the service has a part of it as `p`, of any length (recordings of 2025 and 2026)."""


def sealed_content(block: Fields) -> object | None:
    """
    Return what the signature of a block seals; `None` for a block that has none. Texts may not change at all.

    It is what the mock of `anthropic-messages` seals: Claude takes its signatures back on both platforms.
    """
    reasoning = mapping(block, "reasoningContent")
    if "reasoningText" in reasoning:
        return ["thinking", mapping(reasoning, "reasoningText").get("text")]
    return ["redacted_thinking"] if reasoning else None


def signature_of(block: Fields) -> str | None:
    """Return the signature of a block of reasoning, or its redacted content; `None` when it has neither."""
    reasoning = mapping(block, "reasoningContent")
    if "reasoningText" in reasoning:
        return string(mapping(reasoning, "reasoningText"), "signature")
    redacted = string(reasoning, "redactedContent")
    return data_of(redacted) if redacted else None


def wire_frame(event: Fields) -> WireFrame:
    """Return an event with its bytes."""
    return WireFrame(next(iter(event)), AwsEventStream.frame(None, event))


@final
class Prepared(PreparedAnswer):
    """An answer that can be sent any number of times."""

    emitter: ClassVar[type[EmitterBase]] = BedrockConverseEmitter

    def make_document(self) -> dict[str, Any]:
        """Return the document of `Converse`."""
        answer = cast("Answer", self.answer)
        content = [self._block(thaw(block), place) for place, block in enumerate(answer.content)]
        return {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": default_stop_reason(answer),
            "usage": mark("usage"),
            "metrics": mark("metrics"),
            **thaw(answer.more),
        }

    def with_marks(self, frame: dict[str, Any]) -> dict[str, Any]:
        """Return an event with the usage of the run, and with padding."""
        [(name, fields)] = frame.items()
        usage = {"usage": mark("usage")} if name == "metadata" else {}
        return {name: {**usage, **fields, "p": _PADDING[: len(write_json(frame)) % len(_PADDING)]}}

    def name_of(self, frame: Frame) -> str:
        """Return the type of an event."""
        return next(iter(frame))

    def _block(self, block: dict[str, Any], place: int) -> dict[str, Any]:
        content = sealed_content(block)
        if content is not None and signature_of(block) is None and self.signs:
            signature = self.signature_mark(place, content)
            if content == ["redacted_thinking"]:
                return {"reasoningContent": {"redactedContent": signature}}
            return {
                "reasoningContent": {
                    "reasoningText": {**block["reasoningContent"]["reasoningText"], "signature": signature}
                }
            }
        if "toolUse" in block:
            call = block["toolUse"]
            return {"toolUse": {"toolUseId": mark(f"call {place}"), "input": {}, **call}}
        return block


@final
class Run(runs.Run[Prepared]):
    """One answer."""

    def own_values(self) -> dict[str, Any]:
        """Return usage, latency, and ids of calls."""
        answer = cast("Answer", self.answer)
        return {
            "usage": self._usage(answer),
            "metrics": {"latencyMs": round(1000 * (self.times()[-1] - self.started))},
            **{f"call {place}": f"tooluse_{self.salt.hex()[:20]}{place:02}" for place in range(len(answer.content))},
        }

    def _usage(self, answer: Answer) -> dict[str, Any]:
        if answer.usage is not None:
            return dict(thaw(answer.usage))
        read = self.input_tokens(self.body)
        written = token_count(_texts_of_answer(answer))
        return {"inputTokens": read, "outputTokens": written, "totalTokens": read + written}

    def error_frame(self) -> WireFrame:
        """Return the frame of the error that ends the stream."""
        return error_frame(self.stream_error)

    def status_update(self) -> bytes:
        """Return the start once more: the wire has no other event without a meaning of its own."""
        return wire_frame({"messageStart": {"role": "assistant"}}).data


def _texts_of_answer(answer: Answer) -> Iterator[str]:
    for block in answer.content:
        yield from texts_of([block.get("text"), mapping(block, "reasoningContent").get("reasoningText")])
        if "input" in (call := mapping(block, "toolUse")):
            yield write_json(call["input"]).decode()


def _drop_usage(event: dict[str, Any]) -> None:
    event.get("metadata", {}).pop("usage", None)


def _drop_stop_reason(event: dict[str, Any]) -> None:
    event.get("messageStop", {}).pop("stopReason", None)


_EMPTY_DELTA: Final = wire_frame({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": ""}}})

FAULT_FRAMES: Final = fault_frames(
    _EMPTY_DELTA,
    unknown_types=(
        wire_frame({"contentBlockHint": {"contentBlockIndex": 0, "hint": "of tomorrow"}}),
        wire_frame({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"hint": "of tomorrow"}}}),
    ),
    end_names=frozenset({"messageStop", "metadata"}),
    stop_names=frozenset({"contentBlockStop"}),
    without_usage=changed_frame(wire_frame, _drop_usage, AwsEventStream),
    unfinished=changed_frame(wire_frame, _drop_stop_reason, AwsEventStream),
)
