"""
One fixture in the form of our own files, read and written.

What is wrong is taken down by the `Entry`, and something harmless stands in its place.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

import attrs

from assistant_events.adapters.gemini_interactions import emit_resource
from assistant_events.converters import structure
from assistant_events.errors import StructureError
from assistant_events.events import Event
from assistant_events.messages import AssistantMessage, MessageStatus
from assistant_events.mock.faults import parse_fault
from assistant_events.mock.fixtures import (
    RESERVED,
    Answer,
    Contains,
    Fixture,
    HttpError,
    Match,
    StreamError,
    TextRule,
    Timing,
)
from assistant_events.mock.json_reader import ObjectReader, unknown
from assistant_events.reducer import describe, find_problems, fold
from assistant_events.values import JsonObject, thaw

# Wire reference §2.1. The service may say others, so that only what looks like a slip is refused.
_STATUSES: Final = (
    "in_progress",
    "queued",
    "requires_action",
    "completed",
    "failed",
    "cancelled",
    "incomplete",
    "budget_exceeded",
    "requires_continuation",
)
_FLAGS: Final = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}
_SHORT: Final = ("text", "thought", "calls")
_CONTENT: Final = ("steps", "events", *_SHORT)
_ENDS: Final = ("status", "http_error", "stream_error")
# What an `Answer` says elsewhere, or the request decides.
_OWN_FIELDS: Final = RESERVED | {"model", "agent"}

# Wire reference §2.2. Others are let through, as the service may bring them tomorrow, unless they look like a slip.
_COUNTED: Final = ("input", "cached", "output", "tool_use", "thought")
_USAGE: Final = (
    "total_tokens",
    *[f"total_{what}_tokens" for what in _COUNTED],
    *[f"{what}_tokens_by_modality" for what in _COUNTED],
    "grounding_tool_count",
    "initial_input_tokens",
)
_HEADER: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")
_FRAMING_HEADERS: Final = ("content-length", "transfer-encoding", "connection")


def read_fixture(entry: ObjectReader) -> Fixture:
    """Return the fixture that *entry* holds."""
    match = entry.child("match")
    if match is None and "match" not in entry:
        entry.problem("match", "is missing; {} answers every request")
    sequence = entry.children("answers")
    single = entry.child("answer")
    if ("answer" in entry) == ("answers" in entry):
        entry.problem("", "expected either `answer` or `answers`")
    elif "answers" in entry and not entry.items("answers"):
        entry.problem("answers", "expected at least one answer, got an empty list")
    made = [read_answer(one) for one in ([single] if single else sequence)]
    repeat_last = entry.flag("repeat_last")
    name = entry.text("name")
    entry.close()
    return Fixture(
        match=_match(match) if match else Match(),
        answers=tuple(made or [Answer()]),
        repeat_last=repeat_last is not False,
        name=name or "",
    )


def _match(entry: ObjectReader) -> Match:
    match = Match(
        user_text=_rule(entry, "user_text"),
        model=_rule(entry, "model"),
        agent=_rule(entry, "agent"),
        call_id=entry.text("call_id"),
        last_call_id=entry.text("last_call_id"),
        previous_interaction_id=_rule(entry, "previous_interaction_id"),
        continuation_token=entry.text("continuation_token"),
        turn=entry.count("turn", least=1),
        system=_rules(entry, "system"),
        tool=entry.text("tool"),
        result_text=_rule(entry, "result_text"),
        has_result=entry.flag("has_result"),
        position=entry.count("position"),
        conversation=entry.flag("conversation") is not False,
    )
    entry.close()
    return match


def _rules(entry: ObjectReader, key: str) -> tuple[TextRule, ...]:
    """Return one rule or a list of them."""
    given = entry.value(key)
    if not isinstance(given, list):
        rule = _rule(entry, key)
        return () if rule is None else (rule,)
    # A list is read as an object whose keys are the places, so that each rule is checked at its place.
    listed = entry.listed(key)
    rules = [_rule(listed, place) for place in listed.given]
    return tuple([rule for rule in rules if rule is not None])


def _rule(entry: ObjectReader, key: str) -> TextRule | None:
    if not isinstance(entry.given.get(key), Mapping):
        return entry.text(key)
    rule = entry.child(key)
    assert rule is not None  # it is a mapping
    contains, pattern = rule.text("contains"), rule.text("matches")
    if len(rule.given) != 1:
        rule.problem("", "expected one key, `contains` or `matches`")
    rule.close()
    if contains is not None:
        return Contains(contains)
    try:
        return None if pattern is None else re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        rule.problem("matches", f"no regular expression: {reason}")
        return None


def read_answer(entry: ObjectReader) -> Answer:
    """Return the answer that *entry* holds."""
    content = [key for key in ("steps", "events") if key in entry]
    content += ["/".join(_SHORT)] if any(key in entry for key in _SHORT) else []
    if len(content) > 1:
        entry.problem("", f"expected only one of {', '.join(content)}")
    http_error = _http_error(entry.child("http_error"))
    if not content and not any(key in entry for key in _ENDS):
        entry.problem("", f"expected one of {', '.join([*_CONTENT, *_ENDS])}")
    told = _from_events(entry) if "events" in entry else {}
    steps = _steps(entry) if "steps" in entry else told.get("steps") or _short_steps(entry)
    answer = Answer(
        steps=steps,
        id=entry.unique("id"),
        status=_status(entry) or told.get("status"),
        usage=_usage(entry) if "usage" in entry else told.get("usage"),
        more={**told.get("more", {}), **_more(entry)},
        http_error=http_error,
        stream_error=_stream_error(entry.child("stream_error")),
        continuation_token=entry.text("continuation_token") or told.get("continuation_token"),
        timing=_timing(entry.child("timing")),
        polls_in_progress=entry.count("polls_in_progress") or 0,
        cut_after=entry.count("cut_after"),
        faults=_faults(entry),
    )
    entry.close()
    return answer


def _more(entry: ObjectReader) -> dict[str, object]:
    more = dict(entry.mapping("more") or {})
    for key in sorted(RESERVED.intersection(more)):
        own = key not in ("object", "outputs")
        entry.problem(f"more.{key}", f"stands beside `more`, as `{key}`" if own else "is made by the server")
        del more[key]
    return more


def _steps(entry: ObjectReader) -> list[Mapping[str, object]]:
    found: list[Mapping[str, object]] = []
    for at, step in enumerate(entry.children("steps")):
        kind = step.text("type")
        if not kind:
            step.problem("type", "expected the type of a step, for example 'model_output'")
        elif kind == "user_input":
            step.problem("type", "'user_input' is no step of an answer")
        elif kind == "function_call":
            _check_call(step)
        elif kind == "model_output":
            for block in step.children("content"):
                if not block.text("type"):
                    block.problem("type", "expected the type of the content, for example 'text'")
        found.append(_with_id(step.given, at))
        _check_id(found, step)
    return found


def _check_id(steps: Sequence[Mapping[str, object]], entry: ObjectReader) -> None:
    """Refuse the id of the last step when another call has it."""
    *before, last = steps
    if str(last.get("type")).endswith("_call") and any(
        last.get("id") == step.get("id") is not None for step in before if str(step.get("type")).endswith("_call")
    ):
        entry.problem("id", f"{last['id']!r} is the id of another call of this answer")


def _check_call(step: ObjectReader) -> None:
    if not step.text("name"):
        step.problem("name", "expected the name of a function")
    step.mapping("arguments")
    step.text("id")


def _short_steps(entry: ObjectReader) -> list[Mapping[str, object]]:
    thought, text = entry.text("thought"), entry.text("text")
    steps: list[Mapping[str, object]] = []
    if thought is not None:
        steps.append({"type": "thought", "summary": [{"type": "text", "text": thought}]})
    if text is not None:
        steps.append({"type": "model_output", "content": [{"type": "text", "text": text}]})
    for call in entry.children("calls"):
        _check_call(call)
        call.close()
        steps.append(_with_id({"type": "function_call", **call.given}, len(steps)))
        _check_id(steps, call)
    return steps


def _with_id(step: Mapping[str, object], at: int) -> Mapping[str, object]:
    if step.get("type") != "function_call":
        return step
    return {**step, "id": step.get("id") or f"call_{at + 1}", "arguments": step.get("arguments") or {}}


def _from_events(entry: ObjectReader) -> dict[str, Any]:
    """Return what the events of this library say, in the words of a resource."""
    # Any: plain JSON.
    events: list[Event] = []
    for at, given in enumerate(entry.items("events")):
        try:
            events.append(structure(given, Event))
        except StructureError as error:
            entry.problem(f"events[{at}]{error.path[1:]}", f"expected {error.expected}, got {error.got}")
    if len(events) < len(entry.items("events")):
        return {}
    for wrong in find_problems(events):
        entry.problem(f"events[{wrong.position}]", f"{describe(wrong.item)} is out of place ({wrong.outcome.value})")
        return {}
    messages = fold(events).messages
    if len(messages) != 1 or not isinstance(messages[0], AssistantMessage):
        entry.problem("events", "expected the events of one answer")
        return {}
    if messages[0].status is MessageStatus.RUNNING:
        entry.problem("events", "expected an answer that has ended; step.ended or step.failed is missing")
        return {}
    resource = emit_resource(messages[0])
    told = {key: resource.get(key) for key in ("steps", "status", "usage", "continuation_token")}
    return {**told, "more": {key: value for key, value in resource.items() if key not in _OWN_FIELDS}}


def _status(entry: ObjectReader) -> str | None:
    status = entry.text("status")
    if status is not None and status not in _STATUSES and get_close_matches(status, _STATUSES, 1, 0.75):
        entry.problem("status", unknown(status, _STATUSES, f"status {status!r}"))
    return status


def _usage(entry: ObjectReader) -> JsonObject | None:
    usage = entry.child("usage")
    if usage is None:
        return None
    for key in usage.given:
        if key.startswith("total_"):
            usage.count(key)
        close = [f"total_{key}"] if f"total_{key}" in _USAGE else get_close_matches(key, _USAGE, 1, 0.85)
        if key not in _USAGE and close:
            usage.problem(key, f"unknown key; did you mean {close[0]!r}?")
    return JsonObject(usage.given)


def _http_error(entry: ObjectReader | None) -> HttpError | None:
    if entry is None:
        return None
    status = entry.count("status")
    if status is None or not 400 <= status <= 599:
        entry.wrong("status", "an HTTP status from 400 to 599")
    code = _code(entry)
    headers = entry.child("headers")
    error = HttpError(
        status=status or 500,
        code=code,
        message=entry.text("message") or "",
        headers=_headers(headers) if headers else (),
    )
    entry.close()
    return error


def _headers(entry: ObjectReader) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for name in entry.given:
        value = entry.text(name) or ""
        if not _HEADER.fullmatch(name) or name.lower() in _FRAMING_HEADERS:
            entry.problem(name, "is not a header that an answer may have")
        elif not _HEADER_VALUE.fullmatch(value):
            entry.problem(name, "is not the value of a header: one line of Latin-1")
        else:
            found.append((name, value))
    return tuple(found)


def _code(entry: ObjectReader) -> str | int | None:
    code = entry.value("code")
    if isinstance(code, bool) or not isinstance(code, (str, int, type(None))):
        entry.wrong("code", "a word or a number")
        return None
    return code


def _stream_error(entry: ObjectReader | None) -> StreamError | None:
    if entry is None:
        return None
    error = StreamError(
        code=_code(entry) or "internal", message=entry.text("message") or "", after=entry.count("after")
    )
    entry.close()
    return error


def _timing(entry: ObjectReader | None) -> Timing:
    if entry is None:
        return Timing()
    timing = Timing(
        first_byte_s=entry.amount("first_byte_s") or 0.0,
        between_s=entry.amount("between_s") or 0.0,
        waits_s=entry.amounts("waits_s"),
        delta_chars=entry.count("delta_chars", least=1),
    )
    entry.close()
    return timing


def _faults(entry: ObjectReader) -> tuple[str, ...]:
    given = entry.texts("faults")
    for at, text in enumerate(given):
        try:
            parse_fault(text)
        except ValueError as error:
            entry.problem(f"faults[{at}]", str(error))
    return given


def write_fixture(fixture: Fixture) -> dict[str, Any]:
    """Return *fixture* as it stands in a file, without what holds its default. `read_fixture` makes an equal one."""
    # Any: plain JSON.
    answers = [_written_answer(answer) for answer in fixture.answers]
    return {
        **({"name": fixture.name} if fixture.name else {}),
        "match": _written(fixture.match),
        **({"answer": answers[0]} if len(answers) == 1 else {"answers": answers}),
        **({} if fixture.repeat_last else {"repeat_last": False}),
    }


def _written_answer(answer: Answer) -> dict[str, Any]:
    written = _written(answer)
    return written if any(key in written for key in ("steps", *_ENDS)) else {"steps": [], **written}


def _written(value: Match | Answer | HttpError | StreamError | Timing) -> dict[str, Any]:
    # `more` is the only one whose default has to be made.
    defaults = {**{field.name: field.default for field in attrs.fields(type(value))}, "more": JsonObject()}
    found: dict[str, Any] = {}
    for field in attrs.fields(type(value)):
        held = getattr(value, field.name)
        if held != defaults.get(field.name, attrs.NOTHING):
            found[field.name] = _plain(held)
    return found


def _plain(value: Any) -> Any:
    # Any: what a field holds, and plain JSON.
    if isinstance(value, Contains):
        return {"contains": value.text}
    if isinstance(value, re.Pattern):
        return {"matches": _with_flags(value)}
    if isinstance(value, (HttpError, StreamError, Timing)):
        return _written(value)
    if isinstance(value, tuple):
        return dict(value) if value and isinstance(value[0], tuple) else [_plain(item) for item in value]
    return thaw(value) if isinstance(value, JsonObject) else value


def _with_flags(pattern: re.Pattern[str]) -> str:
    letters = "".join([letter for letter, flag in _FLAGS.items() if pattern.flags & flag])
    return f"(?{letters}){pattern.pattern}" if letters and not pattern.pattern.startswith("(?") else pattern.pattern
