"""
The five answers in the wire of each dialect, with what varies from frame to frame in its recordings.

Spaces before the last bracket (Anthropic), `sequence_number` and `obfuscation` (Responses), `created` and `obfuscation`
(Chat), counts in each chunk (generateContent), `p` and checksums (Bedrock), padding, cursor and usage (Interactions).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from random import Random
from types import MappingProxyType
from typing import Any, TypeAlias

import attrs

from assistant_events.adapters import AwsEventStream, load_dialect
from benchmarks.answers import ANSWERS, Answer, Call, Text, Thought
from benchmarks.decode import check, consume
from benchmarks.limit import parse_all, parse_frames
from benchmarks.measure import Figure, Settings, compare, ratio_figure
from benchmarks.wire import anthropic, in_chunks, interactions, openai_chat, with_noise

Frames: TypeAlias = Callable[[Answer], Iterator[bytes]]

_PAD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_GOALS = {"chat": 1.45, "long": 1.2, "big_tool": 2.1, "many_tools": 2.6, "steps": 3.4}
_LIVE_GOALS = {"chat": 2.9, "long": 2.5, "big_tool": 3.4, "many_tools": 3.9, "steps": 4.7}
_SNAPSHOTS = {"openai-responses": 1.5}
"""A wire that repeats whole texts at their ends may cost as many times the goals."""


def dialects(settings: Settings) -> Iterator[Figure]:
    """
    What does a durable message of a whole stream cost in each dialect, with the noise of its recordings?

    The streams of `sse_to_message` in the wire of each dialect, in chunks of 16 KiB. CPU time over the limit of the
    same bytes: to find the frames, to check their checksums where they have any, and to parse the JSON of each.
    generateContent sends the input of a call whole.
    """
    return _over_limit(settings, live=False)


def dialects_live(settings: Settings) -> Iterator[Figure]:
    """
    What does the same cost when every event arrives in a chunk of its own?

    The same streams and the same limit, which has the whole stream at once.
    """
    return _over_limit(settings, live=True)


def responses(answer: Answer) -> Iterator[bytes]:
    """Yield the frames of *answer* as a stream of the Responses API, numbered and padded."""
    numbers = iter(range(10**9))
    random = Random("responses")
    head = {"id": "resp_bench", "object": "response", "created_at": 1780680935, "model": "gpt-5.4", "store": True}

    def event(kind: str, **fields: object) -> bytes:
        pad = {"obfuscation": _padding(random)} if kind.endswith(".delta") else {}
        document = {"type": f"response.{kind}", "sequence_number": next(numbers), **fields, **pad}
        return f"event: response.{kind}\ndata: {_json(document)}\n\n".encode()

    yield event("created", response={**head, "status": "in_progress", "output": [], "usage": None})
    output: list[object] = []
    for index, part in enumerate(answer.parts):
        item, kind, delta, place, end = _response_item(index, part)
        output.append({**item, **end})
        at = {"item_id": item["id"], "output_index": index, **place}
        yield event("output_item.added", output_index=index, item={**item, **_empty(end)})
        if place and part.pieces:
            yield event(f"{kind}.added", **at, part={**delta, "text": ""})
        name = {"content_part": "output_text", "reasoning_summary_part": "reasoning_summary_text"}.get(kind, kind)
        more: dict[str, object] = {"logprobs": []} if name == "output_text" else {}
        for piece in part.pieces:
            yield event(f"{name}.delta", **at, delta=piece, **more)
        if part.pieces:
            whole = "".join(part.pieces)
            field = "text" if place else "arguments"
            yield event(f"{name}.done", **at, **{field: whole}, **more)
            if place:
                yield event(f"{kind}.done", **at, part={**delta, "text": whole})
        yield event("output_item.done", output_index=index, item={**item, **end})
    usage = {"input_tokens": 1234, "output_tokens": 567, "total_tokens": 1801}
    yield event("completed", response={**head, "status": "completed", "output": output, "usage": usage})


def _response_item(
    index: int, part: Thought | Text | Call
) -> tuple[dict[str, Any], str, dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return the item of a part, the kind of its events, its part, where that is, and the fields that come last."""
    # Any: plain JSON.
    match part:
        case Thought():
            item = {"id": f"rs_{index}", "type": "reasoning"}
            summary = [{"type": "summary_text", "text": "".join(part.pieces)}] if part.pieces else []
            end = {"summary": summary, "encrypted_content": part.signature}
            return item, "reasoning_summary_part", {"type": "summary_text"}, {"summary_index": 0}, end
        case Text():
            delta = {"type": "output_text", "annotations": [], "logprobs": []}
            end = {"status": "completed", "content": [{**delta, "text": "".join(part.pieces)}]}
            item = {"id": f"msg_{index}", "type": "message", "role": "assistant"}
            return item, "content_part", delta, {"content_index": 0}, end
        case Call():
            item = {"id": f"fc_{index}", "type": "function_call", "call_id": part.call_id, "name": part.name}
            end = {"status": "completed", "arguments": "".join(part.pieces)}
            return item, "function_call_arguments", {}, {}, end


def _empty(end: Mapping[str, Any]) -> dict[str, Any]:
    # Any: plain JSON.
    early = {"summary": [], "content": [], "arguments": "", "status": "in_progress", "encrypted_content": "gAAA"}
    return {key: early[key] for key in end}


def generate_content(answer: Answer) -> Iterator[bytes]:
    """Yield the chunks of *answer* as a stream of generateContent: counts in each, signatures behind the thoughts."""
    tokens = 0
    signature: dict[str, str] = {}

    def chunk(part: Mapping[str, object], **more: str) -> bytes:
        nonlocal tokens
        tokens += 1
        counts = {"promptTokenCount": 1234, "candidatesTokenCount": tokens, "totalTokenCount": 1234 + tokens}
        candidate = {"content": {"parts": [part], "role": "model"}, **more, "index": 0}
        head = {"usageMetadata": counts, "modelVersion": "gemini-3-flash-preview", "responseId": "bench"}
        return f"data: {json.dumps({'candidates': [candidate], **head}, ensure_ascii=False)}\r\n\r\n".encode()

    for part in answer.parts:
        match part:
            case Thought():
                signature = {"thoughtSignature": part.signature}
                for piece in part.pieces:
                    yield chunk({"text": piece, "thought": True})
            case Text():
                for piece in part.pieces:
                    yield chunk({"text": piece})
            case Call():
                call = {"name": part.name, "args": json.loads("".join(part.pieces)), "id": part.call_id}
                yield chunk({"functionCall": call, **signature})
                signature = {}
    yield chunk({"text": "", **signature}, finishReason="STOP")


def bedrock(answer: Answer) -> Iterator[bytes]:
    """Yield the frames of *answer* as a stream of Converse, padded with `p`."""
    random = Random("bedrock")

    def event(kind: str, **fields: object) -> bytes:
        return AwsEventStream.frame(None, {kind: {**fields, "p": _padding(random)}})

    yield event("messageStart", role="assistant")
    for index, part in enumerate(answer.parts):
        at = {"contentBlockIndex": index}
        if isinstance(part, Call):
            yield event("contentBlockStart", start={"toolUse": {"toolUseId": part.call_id, "name": part.name}}, **at)
        for piece in part.pieces:
            yield event("contentBlockDelta", delta=_bedrock_delta(part, piece), **at)
        if isinstance(part, Thought):
            yield event("contentBlockDelta", delta={"reasoningContent": {"signature": part.signature}}, **at)
        yield event("contentBlockStop", **at)
    yield event("messageStop", stopReason="tool_use" if answer.calls else "end_turn")
    usage = {"inputTokens": 1234, "outputTokens": 567, "totalTokens": 1801}
    yield event("metadata", usage=usage, metrics={"latencyMs": 1234})


def _bedrock_delta(part: Thought | Text | Call, piece: str) -> dict[str, object]:
    match part:
        case Thought():
            return {"reasoningContent": {"text": piece}}
        case Text():
            return {"text": piece}
        case Call():
            return {"toolUse": {"input": piece}}


def padded(frames: Iterable[bytes]) -> Iterator[bytes]:
    """Yield frames with up to 15 spaces before their last bracket, as Anthropic sends them."""
    random = Random("padded")
    for frame in frames:
        document, bracket, end = frame.rpartition(b"}")
        yield document + b" " * random.randrange(16) + bracket + end


def obfuscated(frames: Iterable[bytes]) -> Iterator[bytes]:
    """Yield chunks of Chat Completions with a time and a padding that differ from chunk to chunk."""
    random = Random("obfuscated")
    for at, frame in enumerate(frames):
        document, bracket, end = frame.replace(b"1780680935", b"%d" % (1780680935 + at // 50)).rpartition(b"}")
        more = f',"usage":null,"obfuscation":"{_padding(random)}"'.encode()
        yield document + more + bracket + end if bracket else frame


def unsigned(answer: Answer) -> Answer:
    """Return *answer* as it is on wires whose thoughts have no signature: those without words are not there."""
    parts = [attrs.evolve(part, signature="") if isinstance(part, Thought) else part for part in answer.parts]
    return attrs.evolve(answer, parts=tuple([part for part in parts if part.pieces]))


WIRES: Mapping[str, Frames] = MappingProxyType(
    {
        "gemini-interactions": lambda answer: with_noise(interactions(answer)),
        "anthropic-messages": lambda answer: padded(anthropic(answer)),
        "openai-responses": responses,
        "openai-chat": lambda answer: obfuscated(openai_chat(answer)),
        "gemini-generate-content": generate_content,
        "bedrock-converse": bedrock,
    }
)
"""By dialect, what writes an answer."""

UNSIGNED = {"openai-chat", "gemini-generate-content"}
"""Dialects whose thoughts have no signature of their own."""

WHOLE_CALLS = {"gemini-generate-content"}
"""Dialects that send the input of a call in one piece."""


def limit_of(name: str) -> Callable[[bytes], None]:
    """Return what parses the frames of a dialect's wire, and does nothing else."""
    return parse_frames if name == "bedrock-converse" else parse_all


def _over_limit(settings: Settings, *, live: bool) -> Iterator[Figure]:
    goals = _LIVE_GOALS if live else _GOALS
    for name, write in WIRES.items():
        dialect, parse = load_dialect(name), limit_of(name)
        for case, make in ANSWERS.items():
            answer = make(settings.scale)
            frames = list(write(answer))
            chunks = frames if live else in_chunks(frames)
            expected = unsigned(answer) if name in UNSIGNED else answer
            check(expected, chunks, dialect, whole_calls=name in WHOLE_CALLS)
            data = b"".join(chunks)
            comparison = compare(partial(consume, chunks, dialect), partial(parse, data), settings)
            per_event = comparison.candidate_s / len(frames) * 1e6
            detail = f"{len(frames):,} frames, {len(data) / 1e3:,.0f} kB, {per_event:.2f} us a frame"
            goal = goals[case] * _SNAPSHOTS.get(name, 1)
            yield ratio_figure(f"{name}/{case}", comparison, goal=goal, detail=detail)


def _padding(random: Random) -> str:
    return _PAD[: random.randrange(1, 17)]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
