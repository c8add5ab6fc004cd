"""
Answers of fixtures as frames of a stream.

The frames of the steps are made once, as bytes; ids, times and signatures of a run are written into them when they are
sent.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias, cast, final

import attrs

from assistant_events.adapters.gemini_interactions.decoder import GeminiInteractionsDecoder
from assistant_events.adapters.gemini_interactions.mock.answers import Answer
from assistant_events.adapters.gemini_interactions.mock.signatures import is_signed_type, sign
from assistant_events.adapters.gemini_interactions.step_stream import Arguments, sse, step_frames
from assistant_events.adapters.gemini_interactions.wire_steps import wire_steps
from assistant_events.adapters.json_fields import Fields, valid_json
from assistant_events.messages import AssistantMessage
from assistant_events.mock.documents import DELTA_CHARS, texts_of, token_count
from assistant_events.mock.stream_actions import WireFrame
from assistant_events.reducer import fold
from assistant_events.values import read_json, thaw

Document: TypeAlias = dict[str, Any]
"""Plain JSON that may be changed."""

DONE: Final = sse("[DONE]")

_PLACE: Final = "<signature of step {}>"
_SIGN = re.compile(rb'"signature": ?"<signature of step ([0-9]+)>"')
"""In a text the quotes are escaped, so that no text of a fixture is taken for a mark."""


def wire_frame(event: Fields) -> WireFrame:
    """Return an event with its bytes."""
    return WireFrame(event["event_type"], sse(event))


def event_of(data: bytes) -> Document:
    """Return the event of the bytes of a frame."""
    return cast("Document", read_json(data.partition(b"data: ")[2]))


@final
class Prepared:
    """
    An answer that can be sent any number of times.

    With *signs*, steps without a signature get one; a step whose signature is `""` is never signed.
    """

    def __init__(self, answer: Answer, *, arguments: Arguments, signs: bool) -> None:
        self.answer = answer
        self.steps = tuple(
            [_marked(valid_json(thaw(step)), place, signs=signs) for place, step in enumerate(answer.steps)]
        )
        """In the form of 2.x. Each run replaces the marks by its signatures."""

        self.status = default_status(answer)
        """At the end."""

        self._arguments: Arguments = arguments
        self._chars = answer.timing.delta_chars or DELTA_CHARS

    @cached_property
    def frames(self) -> tuple[WireFrame, ...]:
        """The events of its steps; each run makes those around them."""
        steps = [step for step in self.steps if step.get("type") != "user_input"]
        return tuple([wire_frame(frame) for index, step in enumerate(steps) for frame in self._frames(step, index)])

    @cached_property
    def event_names(self) -> tuple[str, ...]:
        """The types of all events of a run."""
        names = ["interaction.created", "interaction.status_update", *[frame.name for frame in self.frames]]
        error = self.answer.stream_error
        return (*names, "interaction.completed") if error is None else (*names[: error.after], "error")

    def _frames(self, step: Document, index: int) -> Iterator[Document]:
        return step_frames(step, index, arguments=self._arguments, delta_chars=self._chars)

    def signatures(self, salt: bytes) -> list[str]:
        """Return the signature of each step; empty for a step without a mark."""
        return [
            sign(step, salt, place) if step.get("signature") == _PLACE.format(place) else ""
            for place, step in enumerate(self.steps)
        ]


def default_status(answer: Answer) -> str:
    """Return the status at the end of an answer."""
    if answer.status is not None:
        return answer.status
    if answer.continuation_token is not None:
        return "requires_continuation"
    answered = {step.get("call_id") for step in answer.steps if step.get("type") == "function_result"}
    calls = [step.get("id") for step in answer.steps if step.get("type") == "function_call"]
    return "requires_action" if any(call not in answered for call in calls) else "completed"


def signed(frame: WireFrame, signatures: Sequence[str]) -> WireFrame:
    """Return a frame with signatures in place of the marks."""
    data = _SIGN.sub(lambda found: b'"signature":"%b"' % signatures[int(found[1])].encode(), frame.data)
    return WireFrame(frame.name, data)


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


def _marked(step: Document, place: int, *, signs: bool) -> Document:
    if signs and is_signed_type(step) and "signature" not in step:
        return {**step, "signature": _PLACE.format(place)}
    return {key: value for key, value in step.items() if key != "signature" or value != ""}


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
