"""Answers of the mock: their documents, their chunks in both framings, and the frames of faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Final, cast, final

from assistant_events.adapters.emitter import EmitterBase, Frame
from assistant_events.adapters.framing import JsonArray, Sse
from assistant_events.adapters.gemini_generate_content import GeminiGenerateContentDecoder, GeminiGenerateContentEmitter
from assistant_events.adapters.gemini_generate_content.mock.answers import Answer
from assistant_events.adapters.gemini_generate_content.vocabulary import block_reason_of
from assistant_events.adapters.json_fields import Fields, is_object, listed, mapping, mappings, string
from assistant_events.mock import runs
from assistant_events.mock.documents import PreparedAnswer, changed_frame, mark, texts_of, token_count
from assistant_events.mock.fault_effects import FaultFrames
from assistant_events.mock.google_api import MODEL, error_of_stream
from assistant_events.mock.runs import Body
from assistant_events.mock.stream_actions import WireFrame
from assistant_events.values import thaw, write_json


def wire_frame(chunk: Fields) -> WireFrame:
    """Return a chunk as a server-sent event. The name is ours: chunks have none."""
    return WireFrame("part", GeminiGenerateContentDecoder.framing.frame(None, chunk))


def array_frame(chunk: Fields) -> WireFrame:
    """Return a chunk as an item of a JSON array, behind another one."""
    return WireFrame("part", b",\r\n" + write_json(chunk))


def sealed_content(part: Fields) -> object:
    """Return what the signature of a part seals: the name of a call, of others that it is none."""
    call = mapping(part, "functionCall")
    return ["functionCall", call.get("name")] if call else ["part"]


def is_image(part: Fields) -> bool:
    """Return whether a part is an image that is signed: those of thoughts are not."""
    return "image/" in (string(mapping(part, "inlineData"), "mimeType") or "") and not part.get("thought")


@final
class Prepared(PreparedAnswer):
    """
    An answer that can be sent any number of times.

    As by Gemini 3, its images and its first call of a function are signed; without any call the text at its end, unless
    a part names one.
    """

    emitter: ClassVar[type[EmitterBase]] = GeminiGenerateContentEmitter

    def make_document(self) -> dict[str, Any]:
        """Return the response."""
        answer = cast("Answer", self.answer)
        parts = [thaw(part) for part in answer.parts]
        signed = self._signed_places(parts)
        written = [self._part(part, place, signs=place in signed) for place, part in enumerate(parts)]
        is_blocked = not parts and answer.finish_reason is None and block_reason_of(answer.more) is not None
        candidate = {
            **({"content": {"parts": written, "role": "model"}} if parts else {}),
            "finishReason": answer.finish_reason or "STOP",
            "index": 0,
            **thaw(answer.candidate or {}),
        }
        return {
            **({} if is_blocked else {"candidates": [candidate]}),
            "usageMetadata": mark("usage"),
            "modelVersion": mark("model"),
            "responseId": mark("id"),
            **thaw(answer.more),
        }

    def with_marks(self, frame: dict[str, Any]) -> dict[str, Any]:
        """Return a chunk with its counts: those of the prompt before the end."""
        return {**frame, "usageMetadata": mark("usage" if self.name_of(frame) == "finish" else "usage so far")}

    def name_of(self, frame: Frame) -> str:
        """Return `part` or `finish`."""
        candidates = mappings(frame, "candidates") if is_object(frame) else []
        is_part = candidates and "content" in candidates[0] and "finishReason" not in candidates[0]
        return "part" if is_part else "finish"

    def _signed_places(self, parts: list[dict[str, Any]]) -> list[int]:
        if not self.signs or any("thoughtSignature" in part for part in parts):
            return []
        calls = [place for place, part in enumerate(parts) if "functionCall" in part]
        ends_in_text = bool(parts) and "text" in parts[-1] and not parts[-1].get("thought")
        images = [place for place, part in enumerate(parts) if is_image(part)]
        return [*images, *(calls[:1] or ([len(parts) - 1] if ends_in_text else []))]

    def _part(self, part: dict[str, Any], place: int, *, signs: bool) -> dict[str, Any]:
        if "functionCall" in part:
            call: dict[str, Any] = {"id": mark(f"call {place}"), "args": {}, **part["functionCall"]}
            part = {**part, "functionCall": {key: value for key, value in call.items() if value is not None}}
        if signs:
            return {**part, "thoughtSignature": self.signature_mark(place, sealed_content(part))}
        return part if part.get("thoughtSignature") else {key: part[key] for key in part if key != "thoughtSignature"}


@final
class Run(runs.Run[Prepared]):
    """One answer. Its request has `model`, `stream` and `alt`, which are parts of the address, among its fields."""

    MODEL = MODEL
    HEAD_EVENTS = 0

    def __init__(self, *given: Any, **options: Any) -> None:
        # Any: the parameters of `runs.Run`.
        super().__init__(*given, **options)
        self.is_array = self.body.get("stream") is True and self.body.get("alt") != "sse"
        self.done = b"]" if self.is_array else b""

    @staticmethod
    def input_tokens(body: Body) -> int:
        """Return the estimated tokens of a request: of its texts and of the results of calls."""
        contents = [*listed(body, "contents"), mapping(body, "systemInstruction")]
        parts = [part for content in contents for part in listed(content, "parts")]
        results = [mapping(part, "functionResponse").get("response") for part in parts if "functionResponse" in part]
        return token_count([*texts_of(parts), *[write_json(result).decode() for result in results]])

    def own_values(self) -> dict[str, Any]:
        """Return model, usage, and ids of calls."""
        answer = cast("Answer", self.answer)
        usage = self._usage(answer)
        read = usage.get("promptTokenCount", 0)
        return {
            "model": self.body.get("model") or self.MODEL,
            "usage": usage,
            "usage so far": {"promptTokenCount": read, "totalTokenCount": read},
            **{f"call {place}": f"{self.salt.hex()[:6]}{place:02}" for place in range(len(answer.parts))},
        }

    def _usage(self, answer: Answer) -> dict[str, Any]:
        if answer.usage is not None:
            return dict(thaw(answer.usage))
        read = self.input_tokens(self.body)
        thoughts = token_count(texts_of([part for part in answer.parts if part.get("thought")]))
        written = token_count(_texts_of_answer(answer))
        return {
            "promptTokenCount": read,
            "candidatesTokenCount": written,
            **({"thoughtsTokenCount": thoughts} if thoughts else {}),
            "totalTokenCount": read + written + thoughts,
        }

    def event(self, number: int) -> WireFrame:
        """Return the frame of an event, in an array with what is before it."""
        frame = super().event(number)
        if not self.is_array:
            return frame
        chunk = frame.data[frame.data.index(b"{") :].rstrip()
        return WireFrame(frame.name, (b",\r\n" if number else b"[") + chunk)

    def error_frame(self) -> WireFrame:
        """Return the chunk of the error that ends the stream."""
        return wire_frame(error_of_stream(self.stream_error))

    def status_update(self) -> bytes:
        """Return a chunk without content."""
        write = array_frame if self.is_array else wire_frame
        return write({"usageMetadata": {"trafficType": "ON_DEMAND"}}).data


def _texts_of_answer(answer: Answer) -> Iterator[str]:
    yield from texts_of([part for part in answer.parts if not part.get("thought")])
    for part in answer.parts:
        if "functionCall" in part:
            yield write_json(mapping(part, "functionCall").get("args", {})).decode()


def _drop_finish_reason(chunk: dict[str, Any]) -> None:
    for candidate in mappings(chunk, "candidates"):
        cast("dict[str, Any]", candidate).pop("finishReason", None)


def _fault_frames(write: Callable[[Fields], WireFrame], *, is_array: bool) -> FaultFrames:
    framing = JsonArray if is_array else Sse
    overloaded = {"code": 503, "message": "The model is overloaded. Please try again later.", "status": "UNAVAILABLE"}
    unknown = {"candidates": [{"content": {"parts": [{"dream": "of tomorrow"}], "role": "model"}, "index": 0}]}
    return FaultFrames(
        # Not recorded: what a gateway sends in place of the rest.
        cut_tail=b'{"error":{"code":504,"message":"Deadline expired.","status":"DEADLINE_EXCEEDED"}}\n',
        error=lambda _: write({"error": overloaded}),
        empty_errors=(write({"error": None}), write({"error": {}}), write({"error": {"message": ""}})),
        unknown_types=(write({"hint": "of tomorrow"}), write(unknown)),
        bad_json=WireFrame("part", b',\r\n{"candidates":[,}' if is_array else b'data: {"candidates":[{"content":\n\n'),
        end_names=frozenset({"finish"}),
        stop_names=frozenset(),
        done=b"]" if is_array else b"[DONE]\n\n",
        without_usage=changed_frame(write, lambda chunk: chunk.pop("usageMetadata", None), framing),
        unfinished=changed_frame(write, _drop_finish_reason, framing),
        has_lines=not is_array,
    )


FAULT_FRAMES: Final = _fault_frames(wire_frame, is_array=False)
ARRAY_FRAMES: Final = _fault_frames(array_frame, is_array=True)
"""For the same faults in a JSON array. A fault before the first chunk is before its bracket, too."""
