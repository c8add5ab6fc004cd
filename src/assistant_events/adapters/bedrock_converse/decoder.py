"""
Bedrock Converse to events.

A *block* is one item of the message's `content`; only calls, results and images have a start. Facts: the model of
bedrock-runtime in botocore 1.44.5, recordings of 2024-12 to 2026-10.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import attrs

from assistant_events.adapters.aws import AWS_ERRORS
from assistant_events.adapters.aws_chunks import unwrapped
from assistant_events.adapters.aws_event_stream import AwsEventStream
from assistant_events.adapters.base import DecoderBase
from assistant_events.adapters.bedrock_converse import vocabulary as words
from assistant_events.adapters.bedrock_converse.blocks import block_events
from assistant_events.adapters.call_results import given_input
from assistant_events.adapters.errors import is_cut
from assistant_events.adapters.frame_templates import DeltaFrames
from assistant_events.adapters.json_fields import (
    Fields,
    base64_bytes,
    filled,
    integer,
    mapping,
    mappings,
    others,
    string,
    without,
)
from assistant_events.values import Content, ErrorInfo, ErrorKind, FinishReason, JsonContent, TextContent, write_json

_DELTA = ("contentBlockDelta", "delta")
_INPUT = ("toolUse", "input")
_ROLES = {"toolUse": "call", "toolResult": "result", "image": "media"}
"""What a block is here, by the key of its start."""

_NOTHING: Fields = {}


class BedrockConverseDecoder(DecoderBase):
    """
    Decodes streams of `ConverseStream` and documents of `Converse`, and Nova's behind `InvokeModel`.

    Events of boto3 go to `feed_event`.
    """

    dialect = "bedrock-converse"
    provider = "bedrock"
    framing = AwsEventStream
    item_key = "i"
    usage_table = words.USAGE
    error_table = AWS_ERRORS
    answer_fields = frozenset({"output", "stopReason"})
    delta_frames = DeltaFrames(
        constant=(), inside=_DELTA[:1], number=("contentBlockDelta", "contentBlockIndex"), loose=("p",)
    )

    # -- the shape that DecoderBase asks for

    def on_begin(self) -> None:
        """Forget what was read: the message begins again."""
        self._blocks: dict[int | None, _Block] = {}
        self._latest: _Block | None = None
        self._calls: set[str] = set()
        self._stop_reason: str | None = None
        self._has_ended = self._has_metadata = False

    def on_event(self, event: Fields) -> None:
        """Read one event: an object whose only key is its type. Other keys may be beside it."""
        kind = next(iter(event), "")
        if kind not in words.EVENTS or event[kind] is None:
            kind = next((key for key in event if key in words.EVENTS and event[key] is not None), "")
        fields = mapping(event, kind)
        index = integer(fields, "contentBlockIndex")
        match kind:
            case "contentBlockDelta":
                self._on_delta(event, index, mapping(fields, "delta"))
            case "contentBlockStart":
                self._on_start(index, mapping(fields, "start"))
            case "contentBlockStop":
                self._end(self._blocks.get(index))
            case "messageStart":
                self.ensure_started()
            case "messageStop":
                self._has_ended = True
                self._stop_reason = string(fields, "stopReason")
                self._learn(fields, "stopReason")
            case "metadata":
                self._has_metadata = True
                self.note_usage(mapping(fields, "usage"))
                self._learn(fields, "usage")
            case _:
                self._on_other(event)
        if self._has_ended and self._has_metadata and not self.terminal:
            self._finish()

    def on_close(self, error: ErrorInfo | None) -> None:
        """Finish an answer whose stop reason has come; its metadata is missing."""
        if not is_cut(error) and self._has_ended:
            self._finish()

    def on_failing(self) -> None:
        """Keep the redacted content of open blocks."""
        for block in self._blocks.values():
            self._keep_redacted(block)

    def requested_model(self) -> str | None:
        """Return the model that the request names; over HTTP it is in the address."""
        return string(self.request, "modelId") or super().requested_model()

    def resource_events(self, resource: Fields) -> Iterator[Fields]:
        """Yield the events of a stream with the content of a document."""
        yield {"messageStart": {}}
        for index, block in enumerate(mappings(mapping(mapping(resource, "output"), "message"), "content")):
            yield from block_events(index, block)
        yield {"messageStop": {key: resource[key] for key in {"stopReason"} & resource.keys()}}
        request = string(mapping(resource, "ResponseMetadata"), "RequestId")
        facts = without(resource, {"stopReason", "output", "ResponseMetadata"})
        yield {"metadata": facts if request is None else {**facts, "requestId": request}}

    # -- the message

    def _on_other(self, event: Fields) -> None:
        """Read an exception, or the event inside a chunk of `InvokeModelWithResponseStream`."""
        inner = unwrapped(self, event)
        if inner is None or "chunk" in inner or "bytes" in inner:
            self.note("unknown-event", "an event of an unknown type was left out")
        elif inner:
            self.on_event(inner)

    def _learn(self, fields: Fields, own: str) -> None:
        """Remember facts about the message, all but the field *own*."""
        self.step_details |= others(fields, (own, "p"))

    def _finish(self) -> None:
        """End the step; a malformed output fails it."""
        reason = self._stop_reason or ""
        message = words.MALFORMED.get(reason)
        for block in self._blocks.values():
            if block.role == "result" or (block.role == "call" and message is None):
                self._end(block)
            self._keep_redacted(block)
        if message is not None:
            self.fail_step(ErrorInfo(kind=ErrorKind.PROVIDER, message=message, code=reason, retryable=True))
        else:
            given = words.FINISH_REASONS.get(reason, FinishReason.OTHER) if reason else None
            self.finish_step(self.finish_reason_of(given), self._stop_reason)

    # -- blocks

    def _block(self, index: int | None, role: str) -> _Block:
        """Return the block of an index; one of another role at the same index is another block."""
        block = self._blocks.get(index)
        return block if block is not None and block.role == role else self._open(index, role)

    def _open(self, index: int | None, role: str, fields: Fields = _NOTHING) -> _Block:
        """Begin a block. The one before it ends, except for a call: some streams lack stops."""
        self.ensure_started()
        if self._latest is not None and self._latest.role != "call":
            self._end(self._latest)
        self._blocks[index] = self._latest = block = _Block(role, fields)
        if role == "opaque":
            self.recorder.begin(block, role, {"block": fields})
        return block

    def _on_start(self, index: int | None, start: Fields) -> None:
        key = next((key for key in _ROLES if mapping(start, key)), "")
        role, fields = _ROLES.get(key, "opaque"), others(mapping(start, key) or start)
        known = self._blocks.get(index)
        if role == "opaque" and fields.keys() <= {"text", "reasoningContent"}:
            self._on_start_of_text(index, known, fields)
            return
        if known is not None and not known.ended and (known.role, known.fields) == (role, fields):
            return  # the same again
        self._end(known)
        block = self._open(index, role, fields)
        if role == "call":
            call_id, is_hosted = string(fields, "toolUseId") or None, string(fields, "type") == "server_tool_use"
            name = string(fields, "name")
            if name and is_hosted:  # a call without a name is kept raw, and so is its result
                self._calls.add(call_id or "")
            text, given = given_input(fields.get("input"))  # of gateways
            state = _state(fields)
            self.recorder.tool_input(
                call_id, name, text, key=block, provider_executed=is_hosted, state=state, input=given
            )
            if index is not None:
                self._offer(None, _INPUT, block, index)

    def _on_start_of_text(self, index: int | None, known: _Block | None, start: Fields) -> None:
        """Read a start that AWS does not send: those of gateways are empty, or have the first text or a signature."""
        if known is not None and known.ended:
            del self._blocks[index]
        for key, value in start.items():
            if value:
                self._on_delta(None, index, {key: value})

    def _on_delta(self, event: Fields | None, index: int | None, delta: Fields) -> None:
        if len(delta) > 1:
            for key, value in others(delta).items():
                self._on_delta(None, index, {key: value})
            return
        match delta:
            case {"text": str() as text}:
                self._on_text(event, index, text)
            case {"reasoningContent": dict() as reasoning}:
                self._on_reasoning(event, self._block(index, "reasoning"), reasoning)
            case {"toolUse": dict()}:
                block, fields = self._block(index, "call"), mapping(delta, "toolUse")
                given = fields.get("input") or ""
                is_text = isinstance(given, str)
                text = given if is_text else write_json(given).decode()
                self.recorder.tool_input(string(fields, "toolUseId"), string(fields, "name"), text, key=block)
                self._offer(event if is_text else None, _INPUT, block)
            case {"toolResult": list() as content}:
                self._block(index, "result").content += content
            case {"citation": dict() as citation}:
                block = self._begun(self._block(index, "text"))
                self.recorder.keep(block, {"citations": [citation]}, [words.citation_of(citation)])
            case {"image": dict() as image} if [*others(image)] == ["source"] and (
                data := base64_bytes(string(mapping(image, "source"), "bytes"))
            ):
                block = self._block(index, "media")
                self.recorder.media(data, f"image/{string(block.fields, 'format') or '*'}", key=block)
            case {"image": dict() as image} if others(image):  # one in S3, or what has gone wrong
                self._open(index, "opaque", {"image": {**self._block(index, "media").fields, **others(image)}})
            case _:
                self._keep_delta(index, delta)

    def _keep_delta(self, index: int | None, delta: Fields) -> None:
        self.note("unknown-delta", "a delta of an unknown type was kept raw")
        block = self._blocks.get(index)
        is_open_call = block is not None and block.role == "call" and self.recorder.open_of(block) is not None
        if block is None or not (is_open_call or block.role in ("text", "reasoning", "opaque")):
            block = self._open(index, "opaque")
        self.recorder.keep(block if is_open_call else self._begun(block), {"deltas": [delta]})

    def _on_text(self, event: Fields | None, index: int | None, text: str) -> None:
        is_behind_thought = self._latest is not None and self._latest.role == "reasoning"
        block = self._block(index, "text")
        if not text and is_behind_thought:  # two thoughts that it separates are not to be joined
            self._begun(block)
        self.recorder.text(text, key=block)
        self._offer(event, ("text",), block)

    def _on_reasoning(self, event: Fields | None, block: _Block, delta: Fields) -> None:
        delta = mapping(delta, "reasoningText") or delta  # as in documents, of gateways
        text, redacted = string(delta, "text") or "", string(delta, "redactedContent")
        if text:
            self.recorder.reasoning(text, key=block)
            self._offer(event, ("reasoningContent", "text"), block)
        if redacted:
            self._begun(block).redacted.append(redacted)
        if state := filled(delta, ("text", "redactedContent")):
            self.recorder.keep(self._begun(block), state)

    def _offer(self, event: Fields | None, path: tuple[str, ...], block: _Block, index: int | None = None) -> None:
        if event is None and index is None:
            return  # one of several texts in a frame
        self.offer_fast_path(event, (*_DELTA, *path), self.recorder.open_of(block), kind=path, number=index)

    def _begun(self, block: _Block) -> _Block:
        """Begin a text or reasoning before its facts are kept: its text may come later, or never."""
        if not block.ended:
            self.recorder.begin(block, block.role)
        return block

    def _end(self, block: _Block | None) -> None:
        if block is None:
            return
        if block.role == "result" and not block.ended:
            self._record_result(block)
        self._keep_redacted(block)
        self.recorder.end(block)
        block.ended = True

    def _keep_redacted(self, block: _Block) -> None:
        """Keep the redacted content that came since the last time, behind what came before."""
        if len(block.redacted) > block.kept:
            whole = _joined(block.redacted)
            block.redacted, block.kept = [whole], 1
            self.recorder.keep(block, {"redactedContent": whole})

    def _record_result(self, block: _Block) -> None:
        """Record a result of a tool of the provider; kept raw when its call is not known."""
        fields, content = block.fields, block.content
        call_id = string(fields, "toolUseId") or ""
        if call_id not in self._calls:
            self.recorder.opaque({"block": {"toolResult": {**fields, "content": content}}}, key=block)
            return
        output = [found for each in content if (found := _content(each)) is not None]
        text = next((each.text for each in output if isinstance(each, TextContent)), "")
        raw = {"content": content} if len(output) < len(content) else {}
        error = words.result_error(fields, text)
        self.recorder.result(call_id or None, tuple(output), error, state={**_state(fields), **raw}, key=block)


@attrs.define(eq=False)
class _Block:
    """A block of the message: the key of its parts in the recorder."""

    role: str
    """`text`, `reasoning`, `call`, `result`, `media` or `opaque`."""

    fields: Fields
    """Fields of its start."""

    content: list[Any] = attrs.Factory(list)
    """Content of a result so far, as it came."""  # Any: plain JSON.

    redacted: list[str] = attrs.Factory(list)
    """Redacted content in base64, one for each delta; the first may be that of several."""

    kept: int = 0
    """How many of them the recorder has."""

    ended: bool = False


def _state(fields: Fields) -> dict[str, Any]:
    """Return the fields of a call or a result that events have no words for."""
    kept = without(fields, words.OWN_FIELDS | words.RESERVED)
    return {key: value for key, value in kept.items() if key != "type" or string(kept, key) not in words.CALL_TYPES}


def _content(item: object) -> Content | None:
    """Return an item of a result; `None` when it is neither text nor JSON alone."""
    match item:
        case {"text": str() as text, **rest} if all(each is None for each in rest.values()):
            return TextContent(text)
        case {"json": value, **rest} if all(each is None for each in rest.values()):
            return JsonContent(value)
        case _:
            return None


def _joined(pieces: list[str]) -> str:
    """Return the base64 of all bytes of *pieces*; their text where one of them is not base64."""
    data = [base64_bytes(piece) for piece in pieces]
    whole = [each for each in data if each is not None]
    return b64encode(b"".join(whole)).decode() if len(whole) == len(pieces) > 1 else "".join(pieces)
