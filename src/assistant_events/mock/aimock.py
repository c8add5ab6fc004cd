"""
Fixture files of aimock, so that its users can move: what a file answers there, it answers here.

From the types, the loader, the router and the Interactions handler of `@copilotkit/aimock` 1.43.0. What no request of
Interactions could ever get there is left out, with a note; what would change an answer and has no counterpart is an
error; what aimock itself ignores for Interactions is ignored.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from assistant_events.errors import JsonError
from assistant_events.mock.fixtures import Answer, Contains, Fixture, HttpError, Match, TextRule, Timing
from assistant_events.mock.frames import Prepared
from assistant_events.mock.json_reader import ObjectReader
from assistant_events.values import JsonObject, read_json, write_json

# What stands in fixtures for other endpoints of aimock.
_OTHER_ANSWERS: Final = ("embedding", "image", "images", "audio", "transcription", "video", "json", "live")

# `response` fields that the Interactions handler of aimock does not read.
_IGNORED: Final = (
    "id",
    "created",
    "systemFingerprint",
    "role",
    "provider",
    "nativeFinishReason",
    "reasoningSignature",
    "redactedThinking",
    "webSearches",
    "fallthrough",
)
_NO_USAGE: Final = JsonObject(total_input_tokens=0, total_output_tokens=0, total_tokens=0)
_STATUSES: Final = {"stop": None, "tool_calls": None, "length": "incomplete"}
_HEAD_EVENTS: Final = 2
"""`interaction.created` and `interaction.status_update`, before the first step."""

_CHANCES: Final = ("dropRate", "malformedRate", "rateLimitRate", "disconnectRate")


def read(entries: Sequence[ObjectReader]) -> tuple[list[Fixture], list[str]]:
    """
    Return the fixtures of one file, and a line for every entry that was left out.

    Entries that differ in nothing but their `sequenceIndex` are one fixture with as many answers, used up after them.
    """
    found: list[Fixture] = []
    left_out: list[str] = []
    sequences: dict[Match, int] = {}
    for entry in entries:
        match = entry.child("match")
        if match is None:
            if "match" not in entry:
                entry.problem("match", "is missing; {} answers every request")
            continue
        reason = _not_for_us(entry, match)
        if reason:
            left_out.append(f"{entry.file}: {entry.entry}: {reason}")
            continue
        asked = _match(match)
        turn = match.count("sequenceIndex")
        match.close()
        answer = _answer(entry)
        _close(entry)
        if turn is None:
            found.append(Fixture(match=asked, answers=(answer,)))
            continue
        place = sequences.setdefault(asked, len(found))
        earlier = found[place].answers if place < len(found) else ()
        if turn == len(earlier):
            found[place : place + 1] = [Fixture(match=asked, answers=(*earlier, answer), repeat_last=False)]
        else:
            match.problem("sequenceIndex", f"expected {len(earlier)}, the next one of this match, got {turn}")
    return found, left_out


def _not_for_us(entry: ObjectReader, match: ObjectReader) -> str | None:
    endpoint = match.text("endpoint")
    if endpoint not in (None, "chat"):
        return f"match.endpoint {endpoint!r} is no request of Interactions"
    for key in ("inputText", "responseFormat"):
        if match.value(key) is not None:
            return f"match.{key} is never there in a request of Interactions"
    response = entry.mapping("response") or {}
    other = next((key for key in _OTHER_ANSWERS if key in response), None)
    return f"response.{other} is no answer of Interactions" if other else None


def _match(match: ObjectReader) -> Match:
    if "predicate" in match:
        match.problem("predicate", "a function cannot stand in a file; write a Fixture in Python")
    if "context" in match:
        match.problem("context", "fixtures for one X-AIMock-Context only are not supported")
    model = match.text("model")
    return Match(
        user_text=_contains(match.text("userMessage")),
        system=_system(match),
        last_call_id=match.text("toolCallId"),
        result_text=_contains(match.text("toolResultContains")),
        tool=match.text("toolName"),
        model=None if model is None else re.compile(rf"\A{re.escape(model)}(?:\Z|-\d)"),
        has_result=match.flag("hasToolResult"),
        position=match.count("turnIndex"),
        conversation=False,
    )


def _system(match: ObjectReader) -> tuple[TextRule, ...]:
    given = match.value("systemMessage")
    needles = match.texts("systemMessage") if isinstance(given, list) else (match.text("systemMessage"),)
    return tuple([Contains(needle) for needle in needles if needle is not None])


def _contains(text: str | None) -> TextRule | None:
    return None if text is None else Contains(text)


def _answer(entry: ObjectReader) -> Answer:
    response = entry.child("response")
    if response is None:
        if "response" not in entry:
            entry.problem("response", "is missing")
        return Answer()
    answer = _error(response) if "error" in response else _said(response)
    _close(response)
    answer = attrs.evolve(answer, timing=_timing(entry), faults=_faults(entry))
    chunks = entry.count("truncateAfterChunks", least=1)
    return answer if chunks is None else attrs.evolve(answer, cut_after=_events_up_to(chunks, answer))


def _said(response: ObjectReader) -> Answer:
    if not any(key in response for key in ("content", "toolCalls", "blocks")):
        response.problem("", "expected one of content, toolCalls, blocks, error")
    steps: list[Mapping[str, object]] = []
    reasoning = response.text("reasoning")
    if reasoning:
        steps.append({"type": "thought", "summary": [{"type": "text", "text": reasoning}]})
    blocks = response.children("blocks")
    content, calls = _content(response), response.children("toolCalls")
    if blocks:
        steps += [_block(block, at) for at, block in enumerate(blocks)]
    else:
        steps += [] if content is None else [_text_step(content)]
    for at, call in enumerate(calls):
        step = _call_step(call, at)
        _close(call)
        steps += [] if blocks else [step]
    model = response.text("model")
    for key in _IGNORED:
        response.value(key)
    return Answer(
        steps=steps,
        status=_status(response),
        usage=_usage(response),
        more={} if model is None else {"model": model},
    )


def _content(response: ObjectReader) -> str | None:
    given = response.value("content")
    return write_json(given).decode() if isinstance(given, (dict, list)) else response.text("content")


def _block(block: ObjectReader, at: int) -> Mapping[str, object]:
    kind = block.text("type")
    if kind == "toolCall":
        step = _call_step(block, at)
    else:
        step = _text_step(block.text("text") or "")
        if kind != "text":
            block.problem("type", "expected 'text' or 'toolCall'")
    _close(block)
    return step


def _text_step(text: str) -> Mapping[str, object]:
    return {"type": "model_output", "content": [{"type": "text", "text": text}]}


def _call_step(call: ObjectReader, at: int) -> Mapping[str, object]:
    name = call.text("name")
    if not name:
        call.problem("name", "expected the name of a function")
    return {
        "type": "function_call",
        "id": call.text("id") or f"call_{at + 1}",
        "name": name or "",
        "arguments": _arguments(call),
    }


def _arguments(call: ObjectReader) -> dict[str, Any]:
    # Any: plain JSON.
    given = call.value("arguments")
    if isinstance(given, str):
        try:
            given = read_json(given or "{}")
        except JsonError as error:
            call.problem("arguments", f"no JSON: {error}")
            return {}
    if isinstance(given, dict):
        return given
    call.problem("arguments", "expected an object, or the JSON text of one")
    return {}


def _status(response: ObjectReader) -> str | None:
    word = response.text("finishReason")
    if word is None or word in _STATUSES:
        return _STATUSES.get(word or "stop")
    response.problem("finishReason", f"expected one of {', '.join(_STATUSES)}; Interactions has no {word!r}")
    return None


def _usage(response: ObjectReader) -> JsonObject:
    usage = response.child("usage")
    if usage is None:
        return _NO_USAGE
    given = _first(usage, "input_tokens", "prompt_tokens", "promptTokenCount") or 0
    made = _first(usage, "output_tokens", "completion_tokens", "candidatesTokenCount") or 0
    total = _first(usage, "total_tokens", "totalTokenCount")
    return JsonObject(
        total_input_tokens=given,
        total_output_tokens=made,
        total_tokens=given + made if total is None else total,
    )


def _first(usage: ObjectReader, *keys: str) -> int | None:
    return next((count for count in [usage.count(key) for key in keys] if count is not None), None)


def _error(response: ObjectReader) -> Answer:
    error = response.child("error")
    status = response.count("status", least=200)
    retry_after = response.value("retryAfter")
    response.value("fallthrough")
    if error is None:
        return Answer()
    message, word = error.text("message"), error.text("type")
    if not message:
        error.problem("message", "expected a text")
    # The Interactions handler of aimock answers with the type alone.
    error.value("code")
    error.value("param")
    _close(error)
    status = 500 if status is None else status
    headers = (("retry-after", str(retry_after or 1)),) if status == 429 else ()
    return Answer(http_error=HttpError(status=status, code=word or "ERROR", message=message or "", headers=headers))


def _timing(entry: ObjectReader) -> Timing:
    speed = entry.amount("replaySpeed") or 1.0
    chunk = entry.count("chunkSize")
    every = (entry.amount("latency") or 0.0) / 1000
    first, between = every, every
    profile, recorded = entry.child("streamingProfile"), entry.child("recordedTimings")
    if profile is not None:
        ttft, tps = profile.amount("ttft"), profile.amount("tps")
        profile.amount("jitter")  # here a wait is the same each time
        _close(profile)
        first = first if ttft is None else ttft / 1000
        between = 1 / tps if tps else between
    if recorded is not None:
        ttft, waits = recorded.amount("ttftMs"), recorded.amounts("interChunkDelaysMs")
        recorded.amount("totalDurationMs")
        _close(recorded)
        if profile is None:
            first, between = (ttft or 0.0) / 1000, sum(waits) / len(waits) / 1000 if waits else 0.0
    chaos = entry.child("chaos")
    if chaos is not None:
        first += (chaos.amount("latencyMs") or 0.0) / 1000
        for key in _CHANCES:
            if chaos.amount(key):
                chaos.problem(key, "answers by chance are not supported; give a fault in a file of our own form")
        _close(chaos)
    return Timing(first_byte_s=first / speed, between_s=between / speed, delta_chars=chunk or None)


def _faults(entry: ObjectReader) -> tuple[str, ...]:
    after_ms = entry.amount("disconnectAfterMs")
    entry.value("openRouterProcessing")
    entry.value("metadata")
    return () if after_ms is None else (f"drop@{after_ms / 1000:g}s",)


def _events_up_to(chunks: int, answer: Answer) -> int | None:
    """Return how many events come up to a delta, itself included; None when there are fewer deltas."""
    names = [frame.name for frame in Prepared(answer, arguments="streamed", signs=False).frames(2)]
    deltas = [place for place, name in enumerate(names) if name == "step.delta"]
    return _HEAD_EVENTS + deltas[chunks - 1] + 1 if chunks <= len(deltas) else None


def _close(entry: ObjectReader) -> None:
    # Notes of people and of aimock's recorder, for example `_warning`.
    for key in entry.given:
        if key.startswith("_"):
            entry.value(key)
    entry.close()
