"""Completions of the mock: their documents, their chunks, and the frames of faults."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, Final, cast, final

from assistant_events.adapters.emitter import EmitterBase, Frame
from assistant_events.adapters.json_fields import Fields, flag, is_object, mapping, mappings, string
from assistant_events.adapters.model_names import MISTRAL
from assistant_events.adapters.openai_chat import OpenAIChatDecoder, OpenAIChatEmitter
from assistant_events.adapters.openai_chat.mock.answers import Answer
from assistant_events.adapters.openai_chat.vocabulary import DETAIL_TEXTS, DETAILS, REASONING
from assistant_events.mock import runs
from assistant_events.mock.documents import PreparedAnswer, changed_frame, mark, texts_of, token_count
from assistant_events.mock.fault_effects import FaultFrames
from assistant_events.mock.fixtures import Answer as AnyAnswer
from assistant_events.mock.runs import Body
from assistant_events.mock.stream_actions import WireFrame
from assistant_events.values import read_json, thaw

_WHOLE_CALLS: Final = re.compile("(?i)grok|gemini")
"""Models whose servers send each call in one chunk, as Mistral does; its client and xAI's want the name in each."""

_CALLS: Final = "tool_calls"

_ERROR_CODES: Final = {"internal": "server_error"}
"""Codes of the provider by codes of this library."""

_OF_SERVICE: Final = {"service_tier": "default", "system_fingerprint": "fp_6d6f636b31"}
"""What the service writes of itself, for a request that asks for no other tier; LiteLLM needs the tier of Groq."""

_OF_CHUNKS: Final = ("service_tier", "system_fingerprint", "provider")
"""Fields of a completion that each of its chunks has, too."""

_DONE: Final = b"data: [DONE]\n\n"


def wire_frame(chunk: Fields, name: str = "delta") -> WireFrame:
    """Return a chunk with its bytes. The names are ours: chunks have none."""
    return WireFrame(name, OpenAIChatDecoder.framing.frame(None, chunk))


def _with_whole_calls(frames: Iterable[WireFrame]) -> Iterator[WireFrame]:
    """Yield frames with each call in one of them, to which the pieces of its input are joined."""
    held: list[dict[str, Any]] = []
    for frame in frames:
        [payload] = OpenAIChatDecoder.framing().feed(frame.data)
        chunk: dict[str, Any] = read_json(payload)
        calls = [call for choice in mappings(chunk, "choices") for call in mappings(mapping(choice, "delta"), _CALLS)]
        for kind, key in (("function", "arguments"), ("custom", "input")):
            if held and calls and [*mapping(calls[0], kind)] == [key]:
                held[0]["choices"][0]["delta"][_CALLS][0][kind][key] += calls[0][kind][key]
                break
        else:
            yield from map(wire_frame, held)
            held = [chunk] if calls else []
            yield from () if calls else (frame,)


@final
class Prepared(PreparedAnswer):
    """An answer that can be sent any number of times. Its last frame is the usage, which a request may ask for."""

    emitter: ClassVar[type[EmitterBase]] = OpenAIChatEmitter

    def __init__(self, answer: AnyAnswer, *, signs: bool) -> None:
        super().__init__(answer, signs=signs)
        head: dict[str, Any] = {
            "id": mark("id"),
            "object": "chat.completion.chunk",
            "model": mark("model"),
            "choices": [],
        }
        self.frames = (*self.frames, wire_frame(self.with_marks({**head, "usage": mark("usage")}), "usage"))

    @cached_property
    def frames_of_whole_calls(self) -> Sequence[WireFrame]:
        """The frames with each call in one of them."""
        return tuple(_with_whole_calls(self.frames))

    @cached_property
    def frames_of_mistral(self) -> Sequence[WireFrame]:
        """Those frames with the usage in the chunk of the end: Mistral has no chunk without a choice."""
        *frames, finish, _ = self.frames_of_whole_calls
        add = changed_frame(wire_frame, lambda chunk: chunk.update(usage=mark("usage")))
        return (*frames, finish._replace(data=add(finish.data)))

    def make_document(self) -> dict[str, Any]:
        """Return the completion."""
        answer = cast("Answer", self.answer)
        message = {"role": "assistant", "content": None, "refusal": None, **thaw(answer.message)}
        calls = mappings(message, "tool_calls")
        if calls:
            message["tool_calls"] = [{"id": mark(f"call {at}"), **call} for at, call in enumerate(calls)]
        reason = answer.finish_reason or ("tool_calls" if calls else "stop")
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason, **thaw(answer.choice)}
        return {
            "id": mark("id"),
            "object": "chat.completion",
            "created": mark("created"),
            "model": mark("model"),
            "choices": [choice],
            "usage": mark("usage"),
            **_OF_SERVICE,
            **thaw(answer.more),
        }

    def with_marks(self, frame: dict[str, Any]) -> dict[str, Any]:
        """
        Return a chunk with the time of the run, and with those other fields of the fixture that chunks have.

        The first one has a null where the message has no content, as the service writes it before calls. A text of
        the reasoning that the message has beside its details is beside them in each chunk, as OpenRouter writes it.
        """
        answer = cast("Answer", self.answer)
        beside = next((name for name in REASONING if answer.message.get(name)), None)
        for delta in [choice["delta"] for choice in frame["choices"] if beside]:
            details = [each for array in DETAILS for each in mappings(delta, array)]
            text = "".join([string(each, name) or "" for each in details for name in DETAIL_TEXTS.values()])
            delta |= {beside: text} if text else {}
        other = {key: value for key, value in answer.more.items() if key in _OF_CHUNKS}
        for choice in frame["choices"] if answer.message.get("content") is None else ():
            if "role" in choice["delta"]:
                choice["delta"]["content"] = None
        return {**frame, "created": mark("created"), **_OF_SERVICE, **other}

    def name_of(self, frame: Frame) -> str:
        """Return `role`, `delta` or `finish`."""
        choices = mappings(frame, "choices") if is_object(frame) else []
        if not choices or choices[0].get("finish_reason") is not None:
            return "finish"
        return "role" if "role" in mapping(choices[0], "delta") else "delta"


@final
class Run(runs.Run[Prepared]):
    """One completion."""

    MODEL = "gpt-5.6"
    done = _DONE

    def chosen_frames(self, frames: Sequence[WireFrame], body: Body) -> Sequence[WireFrame]:
        """Return the frames: with the usage if the request asks for it, or the answer is Mistral's or OpenRouter's."""
        model = string(body, "model") or ""
        if MISTRAL.search(model):
            return self.prepared.frames_of_mistral
        if _WHOLE_CALLS.search(model):
            frames = self.prepared.frames_of_whole_calls
        wants = flag(mapping(body, "stream_options"), "include_usage") or flag(mapping(body, "usage"), "include")
        return frames if wants or "provider" in cast("Answer", self.prepared.answer).more else frames[:-1]

    def whole(self) -> dict[str, Any]:
        """Return the completion. At Mistral calls have their places; LLM joins those of one place."""
        completion = super().whole()
        if MISTRAL.search(completion["model"]):
            for at, call in enumerate(completion["choices"][0]["message"].get(_CALLS) or ()):
                call["index"] = at
        return completion

    def own_values(self) -> dict[str, Any]:
        """Return model, time, usage, and ids of calls."""
        answer = cast("Answer", self.answer)
        calls = mappings(answer.message, "tool_calls")
        return {
            "created": int(self.created.timestamp()),
            "model": self.body.get("model") or self.MODEL,
            "usage": self._usage(answer),
            **{f"call {place}": f"call_{self.salt.hex()[:20]}{place:02}" for place in range(len(calls))},
        }

    def _usage(self, answer: Answer) -> dict[str, Any]:
        if answer.usage is not None:
            return dict(thaw(answer.usage))
        read = self.input_tokens(self.body)
        written = token_count(_texts_of_answer(answer))
        return {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
        }

    def error_frame(self) -> WireFrame:
        """Return the chunk of the error that ends the stream."""
        error = self.stream_error
        code = _ERROR_CODES.get(str(error.code), error.code)
        return wire_frame({"error": {"message": error.message, "type": "server_error", "param": None, "code": code}})

    def status_update(self) -> bytes:
        """Return the comment of OpenRouter that keeps the connection open."""
        return b": OPENROUTER PROCESSING\n\n"


def _texts_of_answer(answer: Answer) -> Iterator[str]:
    message = answer.message
    yield from texts_of([message.get("content"), message.get("refusal"), *[message.get(name) for name in REASONING]])
    for call in mappings(message, "tool_calls"):
        yield string(mapping(call, "function"), "arguments") or ""


def _drop_usage(chunk: dict[str, Any]) -> None:
    if "usage" in chunk:
        chunk["usage"] = None


def _drop_finish_reason(chunk: dict[str, Any]) -> None:
    for choice in chunk["choices"]:
        choice["finish_reason"] = None


FAULT_FRAMES: Final = FaultFrames(
    # Not recorded: what a gateway sends in place of the rest.
    cut_tail=b'{"error":{"message":"upstream connect error","type":"server_error","param":null,"code":null}}\n',
    error=lambda _: wire_frame(
        {"error": {"message": "boom", "type": "server_error", "param": None, "code": "server_error"}}
    ),
    empty_errors=(wire_frame({"error": None}), wire_frame({"error": {}}), wire_frame({"error": {"message": ""}})),
    unknown_types=(
        wire_frame({"type": "hint", "hint": "of tomorrow"}),
        wire_frame({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"dream": "of tomorrow"}}]}),
    ),
    bad_json=WireFrame("delta", b'data: {"object":"chat.completion.chunk","choices":[{"index":0,\n\n'),
    end_names=frozenset({"finish", "usage"}),
    stop_names=frozenset(),
    done=b"[DONE]\n\n",
    without_usage=changed_frame(wire_frame, _drop_usage),
    unfinished=changed_frame(wire_frame, _drop_finish_reason),
)
