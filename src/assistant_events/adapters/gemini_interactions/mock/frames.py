"""
Answers of fixtures as frames of a stream.

The frames of the steps are made once, as bytes; ids, times and signatures of a run are written into them when they are
sent.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final, TypeAlias, cast, final

import attrs

from assistant_events.adapters.emitter import EmitterBase
from assistant_events.adapters.gemini_interactions import GeminiInteractionsDecoder, GeminiInteractionsEmitter
from assistant_events.adapters.gemini_interactions.mock.answers import Answer
from assistant_events.adapters.gemini_interactions.mock.signatures import is_signed_type, signed_content
from assistant_events.adapters.gemini_interactions.step_stream import Arguments, sse, step_frames
from assistant_events.adapters.gemini_interactions.wire_steps import wire_steps
from assistant_events.adapters.json_fields import Fields
from assistant_events.messages import AssistantMessage
from assistant_events.mock import fixtures
from assistant_events.mock.documents import DELTA_CHARS, PreparedAnswer, mark, texts_of, token_count
from assistant_events.mock.stream_actions import WireFrame
from assistant_events.reducer import fold
from assistant_events.values import read_json, thaw

Document: TypeAlias = dict[str, Any]
"""Plain JSON that may be changed."""

DONE: Final = sse("[DONE]")
END: Final = "interaction.completed"


def wire_frame(event: Fields) -> WireFrame:
    """Return an event with its bytes."""
    return WireFrame(event["event_type"], sse(event))


def event_of(data: bytes) -> Document:
    """Return the event of the bytes of a frame."""
    return cast("Document", read_json(data.partition(b"data: ")[2]))


@final
class Prepared(PreparedAnswer):
    """
    An answer that can be sent any number of times. Its document has the steps alone: each run has the rest of its own.

    With *signs*, steps without a signature get one; a step whose signature is `""` is never signed.
    """

    emitter: ClassVar[type[EmitterBase]] = GeminiInteractionsEmitter

    def __init__(self, answer: fixtures.Answer, *, signs: bool, arguments: Arguments = "streamed") -> None:
        self._arguments: Arguments = arguments
        super().__init__(answer, signs=signs)

    def make_document(self) -> Document:
        """Return the steps, in the form of 2.x."""
        steps = cast("Answer", self.answer).steps
        return {"steps": [self._step(thaw(step), place) for place, step in enumerate(steps)]}

    def _step(self, step: Document, place: int) -> Document:
        if self.signs and is_signed_type(step) and "signature" not in step:
            return {**step, "signature": self.signature_mark(place, signed_content(step))}
        return {key: value for key, value in step.items() if key != "signature" or value != ""}

    def make_frames(self) -> Iterator[WireFrame]:
        """Yield the events of the steps, and those around them, of which each run makes the end."""
        update = {"interaction_id": mark("shown id"), "status": "in_progress"}
        yield wire_frame({"interaction": mark("created"), "event_type": "interaction.created"})
        yield wire_frame({**update, "event_type": "interaction.status_update"})
        steps = [step for step in read_json(self.document)["steps"] if step.get("type") != "user_input"]
        chars = self.answer.timing.delta_chars or DELTA_CHARS
        for index, step in enumerate(steps):
            yield from map(wire_frame, step_frames(step, index, arguments=self._arguments, delta_chars=chars))
        error = self.answer.stream_error
        if error is None or error.after is None:  # no other error is behind the end
            yield WireFrame(END, b"")


def default_status(answer: Answer) -> str:
    """Return the status at the end of an answer."""
    if answer.status is not None:
        return answer.status
    if answer.continuation_token is not None:
        return "requires_continuation"
    answered = {step.get("call_id") for step in answer.steps if step.get("type") == "function_result"}
    calls = [step.get("id") for step in answer.steps if step.get("type") == "function_call"]
    return "requires_action" if any(call not in answered for call in calls) else "completed"


def cursor(name: str, number: int) -> str:
    """Return the `event_id` of the event *number* of a background run: `v1_`, then its place and name in base64."""
    return "v1_" + b64encode(f"{number}_{name}".encode()).decode().rstrip("=")


def with_cursor(frame: WireFrame, number: int) -> WireFrame:
    """Return a frame with its `event_id`."""
    name, data = frame
    return WireFrame(name, b'%b,"event_id":"%b"}\n\n' % (data.removesuffix(b"}\n\n"), cursor(name, number).encode()))


def usage_of(answer: Answer, texts: Iterable[str]) -> Document:
    """Return the usage of an answer: its own, or one computed from the lengths of the texts."""
    if answer.usage is not None:
        return dict(thaw(answer.usage))
    outputs = [step.get("content") for step in answer.steps if step.get("type") == "model_output"]
    summaries = [step.get("summary") for step in answer.steps if step.get("type") == "thought"]
    read, output, thoughts = token_count(texts), token_count(texts_of(outputs)), token_count(texts_of(summaries))
    return {
        "total_tokens": read + output + thoughts,
        "total_input_tokens": read,
        "input_tokens_by_modality": [{"modality": "text", "tokens": read}],
        "total_cached_tokens": 0,
        "total_output_tokens": output,
        "total_tool_use_tokens": 0,
        "total_thought_tokens": thoughts,
    }


def joined(answer: Answer, following: Answer) -> Answer:
    """Return one answer of two hops: the end of the second, the steps of both, the sums of their counts."""
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


def decoded_steps(frames: Iterable[Fields]) -> list[Document]:
    """Return the steps that the first frames of steps add up to."""
    decoder = GeminiInteractionsDecoder("decoded")
    interaction = {"id": "v1", "status": "in_progress"}
    events = decoder.feed_event({"event_type": "interaction.created", "interaction": interaction})
    for frame in frames:
        events += decoder.feed_event(frame)
    [message] = fold([*events, *decoder.close()]).messages
    assert isinstance(message, AssistantMessage)
    return wire_steps(message)
