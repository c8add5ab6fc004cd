"""
Steps of an interaction as frames of a stream: `step.start`, `step.delta`, `step.stop`.

The only writer of these frames; the emitter and the mock provider call it. The frames of a whole step are decoded to
the parts that its document is decoded to.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from typing import Any, Literal, TypeAlias

from assistant_events.adapters.framing import Sse
from assistant_events.adapters.gemini_interactions import vocabulary as words
from assistant_events.adapters.gemini_interactions.citations import byte_length, moved, shifted
from assistant_events.adapters.json_fields import Fields, string, without
from assistant_events.values import write_json

Arguments: TypeAlias = Literal["streamed", "whole"]
"""
How the arguments of a `function_call` are sent: in JSON-string fragments after `arguments: {}`, or in the start of
the step.
"""


def sse(frame: Mapping[str, Any] | Literal["[DONE]"]) -> bytes:
    """
    Return a frame as a server-sent event, named by its `event_type`; `[DONE]` is the last event of a stream.

    Raises:
        TypeError: For a value that is not JSON.
    """
    if isinstance(frame, str):
        return Sse.frame("done", frame)
    return Sse.frame(frame["event_type"], frame)


def step_frames(
    step: Fields,
    index: int,
    *,
    arguments: Arguments = "streamed",
    raw_input: str | None = None,
    deltas: Sequence[Fields] = (),
    delta_chars: int | None = None,
    is_late: bool = False,
    is_cut: bool = False,
) -> Iterator[dict[str, Any]]:
    """
    Yield the frames of a step in the form of 2.x; *step* is as a document has it.

    Arguments that are not an object are always streamed, as *raw_input* or else as JSON text. *deltas* of unknown types
    are sent as they are. *delta_chars* is the length of one delta of text or arguments; `None` sends each in one. A
    late step has no `step.start`, a cut one no `step.stop`.
    """
    kind = string(step, "type") or ""
    has_stop = not is_cut
    if kind == "model_output":
        start, sent = _output(step, deltas, delta_chars, is_cut=is_cut)
    elif kind == "thought":
        start, sent = _late_thought(step, deltas) if is_late else _thought(step, deltas)
        has_stop = has_stop and not is_late  # the decoder ends late parts of a thought by themselves
    elif kind in words.CALLS:
        start, sent = _call(step, kind, arguments, raw_input, delta_chars, is_cut=is_cut)
        sent += deltas
    elif kind in words.RESULTS:
        start, sent = _result(step, kind)
        sent += deltas
    else:
        start, sent = dict(step), list(deltas)
    if not is_late:
        yield {"index": index, "step": start, "event_type": "step.start"}
    for delta in sent:
        yield {"index": index, "delta": delta, "event_type": "step.delta"}
    if has_stop:
        yield {"index": index, "event_type": "step.stop"}


_Split: TypeAlias = tuple[dict[str, Any], list[Fields]]
"""The step of a `step.start`, and the deltas that follow."""


def _output(step: Fields, deltas: Sequence[Fields], chars: int | None, *, is_cut: bool) -> _Split:
    blocks = words.content_of(step)
    start = without(step, ("content", "text", "annotations"))
    if any(not _is_text(block) and block["type"] not in words.MEDIA for block in blocks):
        return {**start, "content": blocks}, list(deltas)  # only a start can hold a block of an unknown type
    sent: list[Fields] = []
    past = 0
    for is_text, group in groupby(blocks, _is_text):
        run = list(group)
        sent += _text_deltas(run, chars, past) if is_text else run
        past += sum([byte_length(string(block, "text") or "") for block in run])
    # Unknown deltas belong to the part that ends next; a part that is cut keeps those before it.
    is_first = is_cut or not all(map(_is_text, blocks))
    return start, [*deltas, *sent] if is_first else [*sent, *deltas]


def _text_deltas(blocks: Sequence[Fields], chars: int | None, past: int) -> Iterator[Fields]:
    """Yield the deltas of adjacent texts; their annotations are about all text of the step, of which *past* came."""
    texts = [string(block, "text") or "" for block in blocks]
    text = "".join(texts)
    places = accumulate(map(len, texts), initial=0)
    annotations = shifted(
        [(place, each) for place, block in zip(places, blocks, strict=False) for each in words.annotations_of(block)],
        text,
    )
    more: dict[str, Any] = {}
    for block in blocks:
        more |= without(block, ("type", "text", "annotations"))
    if text or not (annotations or more):
        for piece in _cut(text, chars):
            yield {"text": piece, "type": "text"}
    if more:
        yield {"text": "", "type": "text", **more}
    if annotations:
        yield {"type": "text_annotation_delta", "annotations": [moved(each, past) for each in annotations]}


def _thought(step: Fields, deltas: Sequence[Fields]) -> _Split:
    items = [{"content": item, "type": "thought_summary"} for item in words.summary_of(step)]
    signature = step.get("signature")
    signed = [{"signature": signature, "type": "thought_signature"}] if signature else []
    return without(step, ("signature", *words.SUMMARIES)), [*items, *deltas, *signed]


def _late_thought(step: Fields, deltas: Sequence[Fields]) -> _Split:
    """Split what came for a thought after its stop: summary and signature in one delta are one part."""
    if set(step) == {"type", "signature"}:
        return {}, [*deltas, {"signature": step["signature"], "type": "thought_signature"}]
    given = [step] if len(step) > 1 else []
    # A new signature ends the part, an empty item of the summary does so too.
    return {}, [*deltas, *given, *([] if step.get("signature") else [{"type": "thought_summary"}])]


def _call(step: Fields, kind: str, how: Arguments, raw: str | None, chars: int | None, *, is_cut: bool) -> _Split:
    arguments: Any = step.get("arguments", {})
    if (words.CALLS[kind] is None and "name" not in step) or (is_cut and not isinstance(arguments, str)):
        return dict(step), []  # of a call that never had a name or an id, only what came of it is known
    # A call starts for its readers when it has an id, which may be null.
    start = {"type": kind, "id": None, **without(step, ("arguments", "signature"))}
    is_object = isinstance(arguments, Mapping) and not is_cut
    signed = {"signature": step["signature"]} if step.get("signature") else {}
    if is_cut:
        start, signed = {**start, **signed}, {}
    text = raw if raw is not None else arguments if isinstance(arguments, str) else write_json(arguments).decode()
    if kind == "function_call":
        if how == "whole" and is_object:
            return {**start, "arguments": arguments, **signed}, []
        start["arguments"] = {}
    elif is_object and (raw is None or write_json(arguments).decode() == raw):
        given = {"arguments": arguments} if arguments or kind not in words.NO_ARGUMENTS else {}
        details = {key: step[key] for key in words.DETAILS if key in step}
        return start, [{"type": kind, **given, **signed, **details}] if given or signed else []
    sent: list[Fields] = [{"arguments": piece, "type": "arguments_delta"} for piece in _cut(text, chars)]
    sent[-1] = {**sent[-1], **signed}
    return start, sent if text or signed else []


def _result(step: Fields, kind: str) -> _Split:
    sent = {key: step[key] for key in ("result", "is_error", "signature") if key in step}
    return without(step, sent), [{"type": kind, **sent}] if sent else []


def _is_text(block: Fields) -> bool:
    return (string(block, "type") or "text") == "text"


def _cut(text: str, chars: int | None) -> list[str]:
    return [text[at : at + chars] for at in range(0, max(len(text), 1), chars)] if chars else [text]
