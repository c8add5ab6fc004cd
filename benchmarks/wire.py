"""
Answers as the bytes that providers send, one frame for each event.

Shapes and the order of keys are those of recorded streams: the JSON of Gemini Interactions ends with `event_type`, text
outside ASCII is not escaped, a call starts with empty arguments, every stream ends with `[DONE]`.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from random import Random

from benchmarks.answers import Answer, Call, Text, Thought

CHUNK = 16 * 1024
"""What an HTTP client hands on when a lot has arrived at once."""

_quoted = json.JSONEncoder(ensure_ascii=False).encode


def interactions(answer: Answer) -> Iterator[bytes]:
    """Yield the frames of *answer* as a Gemini Interactions 2.x stream."""
    status = "requires_action" if answer.calls else "completed"
    interaction = '"status":"in_progress","object":"interaction","model":"gemini-3-flash-preview"'
    yield _frame("interaction.created", f'"interaction":{{"id":"v1_bench",{interaction}}}')
    yield _frame("interaction.status_update", '"interaction_id":"v1_bench","status":"in_progress"')
    for index, part in enumerate(answer.parts):
        match part:
            case Thought():
                yield _frame("step.start", f'"index":{index},"step":{{"type":"thought"}}')
                for piece in part.pieces:
                    summary = f'{{"content":{{"text":{_quoted(piece)},"type":"text"}},"type":"thought_summary"}}'
                    yield _frame("step.delta", f'"index":{index},"delta":{summary}')
                signature = f'{{"signature":"{part.signature}","type":"thought_signature"}}'
                yield _frame("step.delta", f'"index":{index},"delta":{signature}')
            case Text():
                yield _frame("step.start", f'"index":{index},"step":{{"type":"model_output"}}')
                for piece in part.pieces:
                    delta = f'{{"text":{_quoted(piece)},"type":"text"}}'
                    yield _frame("step.delta", f'"index":{index},"delta":{delta}')
            case Call():
                step = f'{{"id":"{part.call_id}","type":"function_call","name":"{part.name}","arguments":{{}}}}'
                yield _frame("step.start", f'"index":{index},"step":{step}')
                for piece in part.pieces:
                    delta = f'{{"arguments":{_quoted(piece)},"type":"arguments_delta"}}'
                    yield _frame("step.delta", f'"index":{index},"delta":{delta}')
        yield _frame("step.stop", f'"index":{index}')
    usage = (
        '{"total_tokens":1890,"total_input_tokens":1234,"input_tokens_by_modality":[{"modality":"text","tokens":1234}],'
        '"total_cached_tokens":0,"total_output_tokens":567,"total_tool_use_tokens":0,"total_thought_tokens":89}'
    )
    yield _frame(
        "interaction.completed",
        f'"interaction":{{"id":"v1_bench","status":"{status}","usage":{usage},"created":"2026-06-05T17:35:35Z",'
        '"updated":"2026-06-05T17:35:35Z","service_tier":"standard","object":"interaction",'
        '"model":"gemini-3-flash-preview"}',
    )
    yield b"event: done\ndata: [DONE]\n\n"


def with_noise(frames: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same frames with the noise of recordings: up to 15 spaces of padding, a cursor, usage at each stop."""
    random = Random("noise")
    for at, frame in enumerate(frames):
        document, bracket, end = frame.rpartition(b"}")
        usage = b',"metadata":{"total_usage":{"total_output_tokens":%d}}' % at if b'"step.stop"' in frame else b""
        more = b',"event_id":"v1_%b"%b' % (b64encode(b"0_text_%d" % at), usage)
        yield document + more + b" " * random.randrange(16) + bracket + end if bracket else frame


def anthropic(answer: Answer) -> Iterator[bytes]:
    """Yield the frames of *answer* as an Anthropic Messages stream, for peers that do not speak Interactions."""
    message = (
        '{"id":"msg_bench","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],'
        '"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1234,"output_tokens":1}}'
    )
    yield _typed_frame("message_start", f'"message":{message}')
    for index, part in enumerate(answer.parts):
        for kind, member in _anthropic_block(part):
            yield _typed_frame(f"content_block_{kind}", f'"index":{index}{member}')
    reason = "tool_use" if answer.calls else "end_turn"
    yield _typed_frame(
        "message_delta", f'"delta":{{"stop_reason":"{reason}","stop_sequence":null}},"usage":{{"output_tokens":567}}'
    )
    yield _typed_frame("message_stop")


def _anthropic_block(part: Thought | Text | Call) -> Iterator[tuple[str, str]]:
    match part:
        case Thought():
            yield "start", ',"content_block":{"type":"thinking","thinking":"","signature":""}'
            for piece in part.pieces:
                yield "delta", f',"delta":{{"type":"thinking_delta","thinking":{_quoted(piece)}}}'
            yield "delta", f',"delta":{{"type":"signature_delta","signature":"{part.signature}"}}'
        case Text():
            yield "start", ',"content_block":{"type":"text","text":""}'
            for piece in part.pieces:
                yield "delta", f',"delta":{{"type":"text_delta","text":{_quoted(piece)}}}'
        case Call():
            block = f'{{"type":"tool_use","id":"{part.call_id}","name":"{part.name}","input":{{}}}}'
            yield "start", f',"content_block":{block}'
            for piece in part.pieces:
                yield "delta", f',"delta":{{"type":"input_json_delta","partial_json":{_quoted(piece)}}}'
    yield "stop", ""


def openai_chat(answer: Answer) -> Iterator[bytes]:
    """Yield the frames of *answer* as an OpenAI Chat Completions stream, in which reasoning has no signature."""
    yield _chat_frame('{"role":"assistant","content":""}')
    calls = 0
    for part in answer.parts:
        match part:
            case Thought():
                for piece in part.pieces:
                    yield _chat_frame(f'{{"reasoning_content":{_quoted(piece)}}}')
            case Text():
                for piece in part.pieces:
                    yield _chat_frame(f'{{"content":{_quoted(piece)}}}')
            case Call():
                head = f'"id":"{part.call_id}","type":"function","function":{{"name":"{part.name}","arguments":""}}'
                yield _chat_frame(f'{{"tool_calls":[{{"index":{calls},{head}}}]}}')
                for piece in part.pieces:
                    more = f'"function":{{"arguments":{_quoted(piece)}}}'
                    yield _chat_frame(f'{{"tool_calls":[{{"index":{calls},{more}}}]}}')
                calls += 1
    yield _chat_frame("{}", '"tool_calls"' if answer.calls else '"stop"')
    yield b"data: [DONE]\n\n"


def in_chunks(frames: Iterable[bytes], size: int = CHUNK) -> list[bytes]:
    """Return the same bytes in chunks of *size*."""
    data = b"".join(frames)
    return [data[at : at + size] for at in range(0, len(data), size)]


def parse_payloads(chunks: Sequence[bytes]) -> list[object]:
    """Return what the `data:` lines hold; for checks, not for timing."""
    lines = b"".join(chunks).split(b"\n")
    return [json.loads(line[6:]) for line in lines if line.startswith(b"data: {")]


def _frame(event: str, members: str) -> bytes:
    return f'event: {event}\ndata: {{{members},"event_type":"{event}"}}\n\n'.encode()


def _chat_frame(delta: str, finish_reason: str = "null") -> bytes:
    head = '"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1780680935,"model":"gpt-5.4"'
    choice = f'{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":{finish_reason}}}'
    return f'data: {{{head},"choices":[{choice}]}}\n\n'.encode()


def _typed_frame(event: str, members: str = "") -> bytes:
    comma = "," if members else ""
    return f'event: {event}\ndata: {{"type":"{event}"{comma}{members}}}\n\n'.encode()
