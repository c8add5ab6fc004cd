"""
Answers of fixtures as the service sends them: frames of a stream, and the document that GET returns.

What is the same for every run is made once: the frames of the steps, as bytes. What differs from run to run (ids,
times, signatures) is written into them when they are sent.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil
from typing import Any, Final, Literal, TypeAlias, final

import attrs

from assistant_events.adapters.gemini_interactions import GeminiInteractionsEmitter, decode_resource, emit_resource
from assistant_events.adapters.gemini_interactions.emitter import sse
from assistant_events.adapters.json_fields import valid_json
from assistant_events.messages import AssistantMessage
from assistant_events.mock.answers import Answer
from assistant_events.mock.api_versions import Generation
from assistant_events.mock.fixtures import Timing
from assistant_events.mock.signatures import is_signed_type, sign
from assistant_events.reducer import fold
from assistant_events.values import thaw

Document: TypeAlias = dict[str, Any]
"""Plain JSON that is ours to change."""

Arguments: TypeAlias = Literal["streamed", "whole"]
"""Whether arguments of calls come as fragments after `arguments: {}`, or in the start of their step."""

DELTA_CHARS: Final = 20
"""How many characters one delta has when a fixture does not say; aimock cuts as often."""

DONE: Final = sse("[DONE]")

_PLACE: Final = "<signature of step {}>"
_SIGN = re.compile(rb'"signature": ?"<signature of step ([0-9]+)>"')
"""Inside of a text the quotes would be escaped, so that nothing that a fixture says is taken for a mark."""

_MESSAGE: Final = "answer"

_EMPTY: Final = "\ufdd0"
_NOTHING: Final = "\ufdd1"
"""
What stands for an empty text, and for content without any block, on the way through the decoder, which has no event for
them. Neither is a character (Unicode 16, 23.7), so that no text holds them.
"""


@final
@attrs.frozen
class Frame:
    """One event of a step, the same for every run but for its signature."""

    name: str
    """Its `event_type`."""

    data: bytes
    """As it is sent, blank line included."""

    is_signed: bool
    """Whether a signature has to be written into it."""


@final
class Prepared:
    """
    An answer, ready to be given any number of times.

    Args:
        answer: Of a fixture.

        arguments: How calls bring their arguments.

        signs: Whether steps without a signature get one. A step whose signature is `""` is never signed.
    """

    def __init__(self, answer: Answer, *, arguments: Arguments, signs: bool) -> None:
        self.answer = answer
        self.steps = tuple(
            [_marked(valid_json(thaw(step)), place, signs=signs) for place, step in enumerate(answer.steps)]
        )
        """Of generation 2.x. A signature that is to be made is a mark; see `signed`."""

        self.status = default_status(answer)
        """How it ends."""

        self._arguments: Arguments = arguments
        self._frames: dict[Generation, tuple[Frame, ...]] = {}

    def frames(self, generation: Generation) -> tuple[Frame, ...]:
        """Return the events of its steps; those around them are made for each run."""
        if generation not in self._frames:
            frames = _step_frames(self.steps, generation, self._arguments, self.answer.timing)
            self._frames[generation] = tuple(frames)
        return self._frames[generation]

    def signatures(self, salt: bytes) -> list[str]:
        """Return the signature for the place of each step; empty where none is to be made."""
        return [
            sign(step, salt, place) if step.get("signature") == _PLACE.format(place) else ""
            for place, step in enumerate(self.steps)
        ]


def default_status(answer: Answer) -> str:
    """Return how an answer ends when its fixture does not say."""
    if answer.status is not None:
        return answer.status
    if answer.continuation_token is not None:
        return "requires_continuation"
    answered = {step.get("call_id") for step in answer.steps if step.get("type") == "function_result"}
    calls = [step.get("id") for step in answer.steps if step.get("type") == "function_call"]
    return "requires_action" if any(call not in answered for call in calls) else "completed"


def signed(steps: Sequence[Document], signatures: Sequence[str]) -> list[Document]:
    """Return the steps with their signatures in the place of the marks."""
    return [
        {**step, "signature": signature} if signature else step
        for step, signature in zip(steps, signatures, strict=True)
    ]


def signed_bytes(data: bytes, signatures: Sequence[str]) -> bytes:
    """Return a frame with signatures in the place of the marks."""
    return _SIGN.sub(lambda found: b'"signature":"%b"' % signatures[int(found[1])].encode(), data)


def with_cursor(data: bytes, name: str, number: int) -> bytes:
    """Return a frame with its `event_id`, as events of background runs have one."""
    return b'%b,"event_id":"%b"}\n\n' % (data.removesuffix(b"}\n\n"), cursor(name, number).encode())


def cursor(name: str, number: int) -> str:
    """Return the `event_id` of an event, in the form of the service: `v1_` and base64 that says where it stands."""
    return "v1_" + b64encode(f"{number}_{name}".encode()).decode().rstrip("=")


def outputs_of(steps: Sequence[Document], head: Mapping[str, Any]) -> list[Document]:
    """Return the `outputs` that 1.x has in the place of steps."""
    events = decode_resource({**head, "steps": list(steps)}, _MESSAGE)
    message = fold(events).last
    assert isinstance(message, AssistantMessage)  # a document is always an answer
    return list(emit_resource(message, generation=1).get("outputs", ()))


def usage_of(answer: Answer, texts: Sequence[str]) -> Document:
    """Return the usage of an answer: its own, or numbers made from the length of what was asked and said."""
    if answer.usage is not None:
        return dict(thaw(answer.usage))
    said = [text for step in answer.steps if step.get("type") == "model_output" for text in _texts(step.get("content"))]
    thought = [text for step in answer.steps if step.get("type") == "thought" for text in _texts(step.get("summary"))]
    asked, output, thoughts = _tokens(texts), _tokens(said), _tokens(thought)
    return {
        "total_tokens": asked + output + thoughts,
        "total_input_tokens": asked,
        "input_tokens_by_modality": [{"modality": "text", "tokens": asked}],
        "total_cached_tokens": 0,
        "total_output_tokens": output,
        "total_tool_use_tokens": 0,
        "total_thought_tokens": thoughts,
    }


def offsets(timing: Timing, count: int) -> list[float]:
    """Return when each of *count* events is there, in seconds after the request."""
    at = timing.first_byte_s
    times: list[float] = []
    for number in range(count):
        if number < len(timing.waits_s):
            at += timing.waits_s[number]
        elif number:
            at += timing.between_s
        times.append(at)
    return times


def joined(answer: Answer, following: Answer) -> Answer:
    """Return one answer of two hops: the end of the second, the steps of both, the sums of their numbers."""
    usage = None
    if answer.usage is not None and following.usage is not None:
        usage = dict(following.usage)
        for name, value in answer.usage.items():
            more = usage.get(name, 0)
            usage[name] = value + more if isinstance(value, int) and isinstance(more, int) else usage.get(name, value)
    return attrs.evolve(
        answer,
        steps=(*answer.steps, *following.steps),
        status=following.status,
        usage=usage,
        more={**answer.more, **following.more},
        stream_error=following.stream_error,
        continuation_token=following.continuation_token,
    )


def texts_of(value: object) -> list[str]:
    """Return every text of an input, whatever its form."""
    return [value] if isinstance(value, str) else list(_texts(value))


def _marked(step: Document, place: int, *, signs: bool) -> Document:
    if signs and is_signed_type(step) and "signature" not in step:
        return {**step, "signature": _PLACE.format(place)}
    return {key: value for key, value in step.items() if key != "signature" or value != ""}


def _step_frames(
    steps: Sequence[Document], generation: Generation, arguments: Arguments, timing: Timing
) -> Iterator[Frame]:
    emitter = GeminiInteractionsEmitter(generation=generation, arguments=arguments, live=False)
    chars = timing.delta_chars or DELTA_CHARS
    told = [_shown(step) for step in steps] if generation == 2 else list(steps)
    resource = {"id": _MESSAGE, "status": "completed", "steps": told}
    frames = [frame for event in decode_resource(resource, _MESSAGE) for frame in emitter.emit(event)]
    for frame in [*frames, *emitter.close()]:
        name = "" if isinstance(frame, str) else str(frame["event_type"])
        if not isinstance(frame, str) and name.startswith(("step.", "content.")):
            for piece in _pieces(frame, chars):
                data = sse(piece)
                yield Frame(name, data, _SIGN.search(data) is not None)


def _shown(step: Document) -> Document:
    """Return a step with a mark in the place of texts that are empty, when it has no other."""
    content = step.get("content", [])
    if step.get("type") != "model_output" or not isinstance(content, list):
        return step
    if not content:
        return {**step, "content": [{"type": "text", "text": _NOTHING}]}
    texts = [block.get("text") for block in content if isinstance(block, dict) and block.get("type") == "text"]
    if any(text != "" for text in texts):
        return step
    return {**step, "content": [{**block, "text": _EMPTY} if block.get("text") == "" else block for block in content]}


def _pieces(frame: Document, chars: int) -> Iterator[Document]:
    """Cut a delta of text or of arguments into several. A delta of a summary is an item of it, and stays whole."""
    delta = frame.get("delta")
    if not isinstance(delta, dict):
        yield frame
        return
    match delta:
        case {"type": "text", "text": str(text)} if text[:1] == _NOTHING:
            return
        case {"type": "text", "text": str(text)}:
            text = text.replace(_EMPTY, "")
            cut: Callable[[str], Document] = lambda piece: {**delta, "text": piece}  # noqa: E731
        case {"type": "arguments_delta", "arguments": str(text)}:
            cut = lambda piece: {**delta, "arguments": piece}  # noqa: E731
        case _:
            yield frame
            return
    for at in range(0, max(len(text), 1), chars):
        yield {**frame, "delta": cut(text[at : at + chars])}


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        text = value.get("text")
        if isinstance(text, str):
            yield text
        yield from _texts(value.get("content"))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value


def _tokens(texts: Sequence[str]) -> int:
    return ceil(sum(map(len, texts)) / 4)
