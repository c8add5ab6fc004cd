"""
What comes from elsewhere: conversations of other providers, strange documents, HTTP errors, frames of other dialects.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final

from assistant_events import messages as msg
from assistant_events import values as v
from assistant_events.adapters.dialect import Dialect, dialect_names, load_dialect
from assistant_events.adapters.encoded import Encoded
from assistant_events.events import Event
from assistant_events.recorder import Recorder
from assistant_events.reducer import find_problems, fold, reconcile
from assistant_events.testing.builders import Call, answer, compaction, error, origin, prompt
from assistant_events.testing.meanings import CODES, USUAL_CODES, forms_in, has_form
from assistant_events.testing.round_trips import app_body, encode_twice, prompt_events
from assistant_events.testing.sample import MESSAGE_ID, Sample, leaves, no_error, require, strings
from assistant_events.testing.written import emitted

_KINDS: Final[Mapping[int, frozenset[v.ErrorKind]]] = {
    400: frozenset({v.ErrorKind.INVALID_REQUEST}),
    401: frozenset({v.ErrorKind.AUTH}),
    403: frozenset({v.ErrorKind.AUTH}),
    404: frozenset({v.ErrorKind.NOT_FOUND}),
    429: frozenset({v.ErrorKind.RATE_LIMIT, v.ErrorKind.QUOTA}),
    500: frozenset({v.ErrorKind.PROVIDER, v.ErrorKind.OVERLOADED}),
    503: frozenset({v.ErrorKind.OVERLOADED, v.ErrorKind.PROVIDER}),
}
"""Kinds of an HTTP error by its status, when its body is empty."""

_SENTENCE: Final = "no such field"
_SENTENCES: Final = [
    json.dumps(body).encode()
    for body in (
        {"error": {"message": _SENTENCE}},
        {"error": {"error": {"message": _SENTENCE}}},
        {"errors": [{"message": _SENTENCE}]},
        *({key: _SENTENCE} for key in ("error", "message", "Message", "detail", "reason", "msg", "error_msg", "title")),
    )
] + [_SENTENCE.encode()]
"""Bodies of errors, in forms of which a service has one."""

_WAITS: Final[tuple[Mapping[str, str], ...]] = (
    {"retry-after": "7"},
    {"retry-after": "Wed, 21 Oct 2026 07:28:07 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"},
    *({"retry-after": text} for text in ("soon", "", "-1", "nan", "1e400", "7, 7", "Wed, 99 Oct 2026 07:28:07 GMT")),
)
"""Headers that ask for a pause of 7 seconds, in both forms of RFC 9110, and others that no service sends."""

_MORE_WAITS: Final = (({"retry-after-ms": "7000"}, 7.0), ({"retry-after": "7.5"}, 7.5))
"""Headers that a few services send, and seconds: they may not be known."""

_OF_STATUS: Final = {
    400: ("invalid_request_error", "invalid_request", "bad_request"),
    401: ("authentication_error", "unauthorized"),
    403: ("permission_error",),
    404: ("not_found_error",),
    429: ("rate_limit_error",),
    503: ("overloaded_error",),
}
"""Codes of errors by the status that services send with them."""

_PASSING: Final = (408, 429, 503, 504, 529)
"""Statuses of errors that may pass."""

_TOMORROW: Final = "x_check"
"""A code that no service sends."""

_DOCUMENTS: Final[tuple[Mapping[str, Any], ...]] = (
    {},
    {"error": None},
    {"error": "no"},
    {"error": {"message": 1, "code": [], "type": {}}},
    {"id": 1, "type": "message", "content": [None, 1, {"type": "text"}], "usage": "x"},
    {"choices": [{}], "candidates": [None], "output": [[]], "steps": {}},
)
"""Documents that no provider sends."""


# -- conversations


def check_foreign_histories(dialect: Dialect, request: Mapping[str, Any] | None) -> None:
    """Send the histories of other providers: nothing raises, and every prompt is sent or reported."""
    encode = dialect.encoder
    if encode is None:
        return
    sample = Sample(dialect, dialect.name, b"", request=request)
    for name, events in _histories():
        for mode in ("full", "auto"):
            found = encode_twice(sample, encode, events, app_body(sample), where=f", history with {name}", mode=mode)
            texts = "\x00".join(strings(found.body))
            _check_answers(dialect, found, events, texts, name)
            for message in fold(events).context():
                content = message.content if isinstance(message, msg.UserMessage) else ()
                for each in content:
                    said = each.text if isinstance(each, v.TextContent) else each
                    require(
                        _is_in(each, texts) or any(drop.message_id == message.id for drop in found.drops),
                        f"{dialect.name}, history with {name}: the prompt {said!r:.200} is neither sent nor reported",
                    )


def _check_answers(dialect: Dialect, found: Encoded, events: Sequence[Event], texts: str, name: str) -> None:
    """Check that the texts of answers are in a request, as often as in the conversation, or reported."""
    answers = [each for each in fold(events).context() if isinstance(each, msg.AssistantMessage)]
    dropped = {drop.message_id for drop in found.drops}
    said = Counter([each.text for each in answers if each.status is msg.MessageStatus.COMPLETED and each.text])
    for each in answers:
        count = max(map(texts.count, (each.text, json.dumps(each.text)[1:-1])))
        require(
            each.id in dropped or count >= said[each.text],
            f"{dialect.name}, history with {name}: the answer {each.text!r:.200} is in the request {count} times",
        )


def check_foreign_streams(dialect: Dialect) -> None:
    """Write the answers of other providers: nothing raises, and what is written is a legal stream."""
    if dialect.emitter is None:
        return
    for name, events in _histories():
        where = f"{dialect.name}, answer with {name}"
        body = emitted(dialect.emitter(), events, where)
        written = Sample(dialect, f"{where}, written by the emitter", body)
        _check_legal(written.events, where)
        _check_written(written, [each for each in fold(events).messages if isinstance(each, msg.AssistantMessage)])
        write = dialect.emit_resource
        if write is None:
            continue
        for message in [each for each in fold(events).messages if isinstance(each, msg.AssistantMessage)]:
            with no_error(f"{where}: emit_resource"):
                json.dumps(write(message))


def _check_written(written: Sample, answers: Sequence[msg.AssistantMessage]) -> None:
    """Check that answers of others are read as whole, with their texts, counts and broken inputs, where they are so."""
    for given, found in zip(answers, written.answers, strict=False):
        whole = [each.status is msg.MessageStatus.COMPLETED for each in (given, found)]
        if found.error is not None and found.error.kind == v.ErrorKind.ADAPTER:
            continue  # found by the frame that does it
        require(whole[0] == whole[1], f"{written.name}: it is {str(found.status)!r}, expected {str(given.status)!r}")
        ends = [each.finish_reason for each in (given, found)]
        expected = (ends[0], v.FinishReason.TOOL_CALLS)  # the latter where the wire has no results
        require(
            ends[0] not in (v.FinishReason.STOP, v.FinishReason.LENGTH) or ends[1] in expected,
            f"{written.name}: an answer with the finish reason {str(ends[0])!r} has {str(ends[1])!r}",
        )
        require(given.text in found.text, f"{written.name}: it has the text {found.text!r:.200}")
        counts = [each.usage and (each.usage.input_tokens, each.usage.output_tokens) for each in (given, found)]
        has_counts = written.decoder().usage_table is not None
        require(
            not has_counts or counts[0] in (None, counts[1]),
            f"{written.name}: its usage has {counts[1]} tokens, expected {counts[0]}",
        )
        broken = [[each.raw_input for each in one.tool_calls if each.input is None] for one in (given, found)]
        are_texts = any(each.raw_input in written.strings for each in found.tool_calls if each.input and each.raw_input)
        require(
            not are_texts or broken[0] == broken[1],
            f"{written.name}: inputs other than objects are {broken[1]}, expected {broken[0]}",
        )


def _histories() -> Iterator[tuple[str, list[Event]]]:
    """Yield conversations of another provider, by what is in them."""
    state = {"signature": "c2lnbmF0dXJlLW9mLWFub3RoZXI=", "extra": {"deep": [1, None, "x"]}}
    data = v.MediaContent(media_type="image/png", data=b"\x89PNG")
    photo = v.MediaContent(media_type="image/jpeg", data=b"\xff\xd8\xff\xe0")
    linked = v.MediaContent(media_type="application/pdf", uri="https://example.com/a.pdf")
    calls = {
        "calls": [
            Call("look_up", {"city": "Bonn"}, output="sun"),
            Call("now", output={"hour": 7}, call_id="a b/c" * 20),
        ],
        "failed calls": [Call("look_up", {"city": "Bonn"}, error=error("tool", "no"), output="half")],
        "open calls": [Call("look_up", {"city": "Bonn"})],
        "input that is not an object": [
            Call("look_up", "[1", error=error("invalid-input", "not JSON")),
            Call("now", {"at": "home"}, output="7"),
        ],
        "calls of the provider": [
            Call("web_search", {"q": "x"}, output="found", provider_executed=True, state=state, result_state=state)
        ],
        "media as a result": [Call("draw", output=[data, linked])],
        "an empty result": [Call("look_up", output="")],
    }
    for name, each in calls.items():
        yield name, [*prompt_events("u1"), *answer("so", calls=each, state=state), *prompt_events("u2")]
        yield f"{name} alone", [*prompt_events("u1"), *answer(calls=each)]
    signed = answer("text", reasoning="thought", text_state=state, reasoning_state=state, state=state)
    yield "state", [*prompt_events("u1"), *signed, *prompt_events("u2")]
    yield (
        "reasoning alone",
        [*prompt_events("u1"), *answer(reasoning="hm", reasoning_state=state), *prompt_events("u2")],
    )
    recorder = Recorder("a1")
    kept = [*recorder.start(origin()), *recorder.opaque({"block": {"type": "of another", **state}}, "x")]
    yield "an opaque item", [*prompt_events("u1"), *kept, *recorder.finish("stop"), *prompt_events("u2")]
    yield "an empty answer", [*prompt_events("u1"), *answer(), *prompt_events("u2")]
    yield "a failed answer", [*prompt_events("u1"), *answer("half", error=error()), *prompt_events("u2")]
    yield "a pause", [*prompt_events("u1"), *answer("wait", finish_reason=v.FinishReason.PAUSE)]
    yield "a refusal", [*prompt_events("u1"), *answer("no", finish_reason=v.FinishReason.CONTENT_FILTER)]
    yield "a summary", [*prompt_events("u1"), *answer("a"), *compaction("a summary"), *prompt_events("u2")]
    yield "an answer first", [*answer("hello"), *prompt_events("u1")]
    yield "two prompts", [*prompt_events("u1"), *prompt_events("u2")]
    json_content = v.JsonContent({"a": "of JSON"})
    yield "media in a prompt", [prompt([v.TextContent("see"), data, linked, json_content])]
    yield "several texts in a prompt", [prompt([v.TextContent("one"), v.TextContent("and two"), json_content])]
    alone: Mapping[str, v.Content] = {"data": data, "a photo": photo, "a link": linked, "JSON": json_content}
    for name, content in alone.items():
        yield f"a prompt of {name} alone", [prompt([content])]
    yield "nothing but an answer", answer("hello")
    yield "odd text", [prompt("\x00\u2028\ud83d"), *answer("\ud83d\x00", reasoning="\u2028"), *prompt_events("u2")]
    yield "blanks around a prompt", [prompt("  see\n this:\n\n")]
    yield "two answers in a row", [*prompt_events("u1"), *answer("the first"), *answer("the second", message_id="a2")]
    again = [*prompt_events("u1"), *answer("the same"), prompt("prompt u1", message_id="u2")]
    yield "the same twice", [*again, *answer("the same", message_id="a2"), *prompt_events("u3")]
    yield "an answer that was cut short", answer("half", finish_reason=v.FinishReason.LENGTH)
    yield "counts", answer("counted", usage=v.Usage(input_tokens=31, output_tokens=17))
    yield "nothing", []


def _is_in(content: v.Content, texts: str) -> bool:
    """Return whether content of a prompt is among the strings of a request, data with their type if any has one."""
    if isinstance(content, v.TextContent):
        return content.text in texts
    if isinstance(content, v.MediaContent):
        data = b64encode(content.data or b"").decode().rstrip("=")
        forms = forms_in(texts.split("\x00"))
        is_named = not forms or has_form(content.media_type, forms)
        return bool(data and data in texts and is_named) or bool(content.uri and content.uri in texts)
    return all(str(leaf) in texts for _, leaf in leaves(v.thaw(content.value)))


# -- documents and errors


def check_strange_documents(dialect: Dialect) -> None:
    """Read strange documents: nothing raises, and the answer has an end; that of an error has failed."""
    read = dialect.decode_resource
    if read is None:
        return
    for document in _DOCUMENTS:
        where = f"{dialect.name}: decode_resource({document!r})"
        with no_error(where):
            events = read(document, MESSAGE_ID)
        _check_legal(events, where)
        require(bool(events), f"{where} returns no events")
    for document in map(json.loads, _SENTENCES[:-1] if dialect.emit_resource is not None else ()):  # has documents
        message = fold(read(document, MESSAGE_ID)).last
        require(
            not isinstance(message, msg.AssistantMessage) or message.error is not None,
            f"{dialect.name}: decode_resource({document!r}) has completed, and the document is an error; name what "
            "only an answer has in `answer_fields`",
        )


def _check_legal(events: Sequence[Event], where: str) -> None:
    found = find_problems(events)
    require(not found, f"{where}: {found[0] if found else ''}")
    left = reconcile(fold(events))
    require(not left, f"{where}: left open: {', '.join([event.type for event in left])}")


def check_http_error(dialect: Dialect) -> None:
    """Read HTTP errors: nothing raises, and an empty body has the kind of the status."""
    read = dialect.http_error
    bodies = (b"", b"\xff\xfe", b"<html>Bad gateway</html>", b"null", b"[]", b'{"error":', *map(_json, _DOCUMENTS))
    for status in (200, 400, 401, 403, 404, 408, 409, 413, 429, 500, 502, 503, 504, 529, 599):
        for body in bodies:
            where = f"{dialect.name}: http_error({status}, {{}}, {body!r})"
            with no_error(where):
                found = read(status, {}, body)
            require(isinstance(found, v.ErrorInfo), f"{where} is {type(found).__name__}, expected an ErrorInfo")
            require(bool(found.message), f"{where} has no message")
            expected = _KINDS.get(status)
            require(
                body not in (b"", b"null") or expected is None or found.kind in expected,
                f"{where} is of kind {str(found.kind)!r}, expected {' or '.join(sorted(expected or ()))}",
            )

    sentences = [read(400, {}, body).message for body in _SENTENCES]
    require(
        any(_SENTENCE in each for each in sentences),
        f"{dialect.name}: http_error has the sentence of no body: {_SENTENCES[0]!r} and other usual forms were tried",
    )
    for status in (400, 401, 403, 404, 413, 422):
        found = read(status, {}, b"")
        where = f"{dialect.name}: http_error({status}, {{}}, b'')"
        require(found.retryable is not True, f"{where} can be retried: the same request is refused again")
        require(found.status == status, f"{where} has the status {found.status}")
    _check_waits(dialect)
    _check_codes(dialect)


def _check_codes(dialect: Dialect) -> None:
    """Read HTTP errors with codes that most wires have: a code is known with its meaning, or the status counts."""
    for code, field in product(USUAL_CODES, ("type", "code", "status")):
        error = dialect.http_error(500, {}, _json({"error": {field: code, "message": _SENTENCE}}))
        kinds = {kind for words, each in CODES.items() if re.search(words, code) for kind in each}
        expected = kinds | _KINDS[500]
        require(
            error.kind in expected,
            f"{dialect.name}: the error of a body with the {field} {code!r} is of kind {str(error.kind)!r}, expected "
            f"{' or '.join(sorted(expected))}",
        )
    for status, codes in _OF_STATUS.items():
        for code, field in product((*codes, _TOMORROW), ("type", "code", "status")):
            error = dialect.http_error(status, {}, _json({"error": {field: code, "message": _SENTENCE}}))
            is_as_known = error.retryable is not True if code == _TOMORROW else error.kind in _KINDS[status]
            require(
                is_as_known or (code == _TOMORROW and status in _PASSING),
                f"{dialect.name}: the error of status {status} with the {field} {code!r} is of kind "
                f"{str(error.kind)!r} with retryable={error.retryable}, expected one of kind "
                f"{' or '.join(sorted(_KINDS[status]))}",
            )


def _check_waits(dialect: Dialect) -> None:
    """Read HTTP errors that may pass: they may be tried again, after the time that a header names."""
    read = dialect.http_error
    for status, headers in ((status, headers) for status in _PASSING for headers in _WAITS):
        where = f'{dialect.name}: http_error({status}, {json.dumps(headers)}, b"")'
        with no_error(where):
            found = read(status, headers, b"")
        expected = 7 if headers in _WAITS[:2] else found.retry_after_s
        require(found.retry_after_s == expected, f"{where} may be retried after {found.retry_after_s} s, expected 7 s")
        require(found.retryable is True, f"{where} has retryable={found.retryable}, expected True")
    for headers, wait in _MORE_WAITS:
        after = read(429, headers, b"").retry_after_s
        require(
            after is None or wait <= after < wait + 1,
            f"{dialect.name}: http_error(429, {json.dumps(headers)}, b'') may be retried after {after} s, not {wait} s",
        )


def check_detection(dialect: Dialect) -> None:
    """Check that `detect` knows none of the first frames and no document of the other dialects that are installed."""
    detect = dialect.detect
    if detect is None:
        return
    events = answer("Hello", reasoning="hm", calls=[Call("look_up", {"city": "Bonn"})])
    for other in [load_dialect(name) for name in dialect_names() if name != dialect.name]:
        if other.emitter is None:
            continue
        written = Sample(other, other.name, emitted(other.emitter(), events, other.name))
        documents = [document for frame in written.frames[:3] if (document := frame.document) is not None]
        if other.emit_resource is not None:
            documents.append(other.emit_resource(written.answers[0]))
        taken = next((document for document in documents if detect(document)), None)
        require(taken is None, f"{dialect.name}: detect knows {taken!r:.300}, which is of {other.name}")


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document).encode()
