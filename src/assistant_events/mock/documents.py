"""
Answers of a mock as one JSON document, which the emitter of the dialect writes as a stream.

The frames of an answer are made once, as bytes with marks; each run fills in what is its own: ids, usage, signatures.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from secrets import token_hex
from typing import Any, ClassVar, Final

from assistant_events.adapters.emitter import EmitterBase, Frame
from assistant_events.adapters.framing import Framing, Sse
from assistant_events.adapters.json_fields import is_array, is_object, others, valid_json
from assistant_events.mock.fixtures import Answer
from assistant_events.mock.stream_actions import WireFrame
from assistant_events.values import read_json, write_json

DELTA_CHARS: Final = 20
"""Characters of one delta by default, as in aimock."""

_TOKEN: Final = token_hex(8)
_MARK: Final = re.compile(rb'"<%b ([^">]+)>"' % _TOKEN.encode())


def mark(name: str) -> str:
    """Return the placeholder of a value of the run, of any type; no text of a fixture is taken for one."""
    return f"<{_TOKEN} {name}>"


def fill(data: bytes, values: Mapping[str, Any]) -> bytes:
    """Return JSON with the values of a run in place of the marks."""
    return _MARK.sub(lambda found: write_json(values[found[1].decode()]), data)


def fill_frame(framing: type[Framing], data: bytes, values: Mapping[str, Any]) -> bytes:
    """Return a frame with the values of a run in place of the marks; one with a checksum is written anew."""
    if not framing.checksums:
        return fill(data, values)
    if not _MARK.search(data):
        return data
    [payload] = framing().feed(data)
    event: dict[str, Any] = read_json(fill(payload, values))
    return framing.frame(None, event)


class PreparedAnswer:
    """
    An answer that can be sent any number of times. A dialect has a subclass, which makes the document.

    With *signs*, items of the answer that the service signs get a signature unless they have one.
    """

    emitter: ClassVar[type[EmitterBase]]

    repeated: ClassVar[Collection[str]] = ()
    """Fields of the document that repeat the request. The decoder does not read them; frames have their marks."""

    def __init__(self, answer: Answer, *, signs: bool) -> None:
        self.answer = answer
        self.signs = signs
        self.signed: dict[str, tuple[int, object]] = {}
        """By the name of a mark for a signature: the place of its item, and what it seals."""

        self.document: bytes = write_json(valid_json(self.make_document()))
        """The whole answer, with marks."""

        self.frames: tuple[WireFrame, ...] = tuple(self.make_frames())
        """The events of the answer, with marks."""

    @abstractmethod
    def make_document(self) -> dict[str, Any]:
        """Return the answer as one document, with marks."""

    def make_frames(self) -> Iterator[WireFrame]:
        """Yield the events of the answer, with marks; by default those that the emitter makes of the document."""
        emitter = self.emitter(delta_chars=self.answer.timing.delta_chars or DELTA_CHARS)
        frames: list[Frame] = []
        for event in emitter.decoder.decode_resource(others(read_json(self.document), self.repeated), "mock"):
            frames += emitter.emit(event)
        frames += emitter.close()
        for frame in frames:
            if frame != "[DONE]":  # a run has it as `done`
                yield WireFrame(self.name_of(frame), emitter.to_bytes(self.with_marks(frame)))

    def with_marks(self, frame: dict[str, Any]) -> dict[str, Any]:
        """Return a frame with marks for what the emitter cannot have from the document; the default changes nothing."""
        return frame

    def name_of(self, frame: Frame) -> str:
        """Return the type of a frame."""
        return str(frame.get("type", "")) if is_object(frame) else ""

    def signature_mark(self, place: int, content: object) -> str:
        """Return the mark of the signature of an item, and remember what it seals."""
        name = f"signature {place}"
        self.signed[name] = place, content
        return mark(name)


def changed_frame(
    write: Callable[[Any], WireFrame], change: Callable[[dict[str, Any]], object], framing: type[Framing] = Sse
) -> Callable[[bytes], bytes]:
    """Return the function that changes the JSON of a frame; *write* returns its frame."""

    def changed(data: bytes) -> bytes:
        [payload] = framing().feed(data)
        event: dict[str, Any] = read_json(payload)
        change(event)
        return write(event).data

    return changed


def texts_of(value: object) -> Iterator[str]:
    """Yield all texts of a conversation or an answer in any form: strings, and those of texts, contents and results."""
    if is_object(value):
        for key in ("text", "content", "output", "toolResult"):
            yield from texts_of(value.get(key))
    elif is_array(value):
        for item in value:
            yield from texts_of(item)
    elif isinstance(value, str):
        yield value


def token_count(texts: Iterable[str]) -> int:
    """Return an estimate: one token for four characters."""
    return -(-sum(map(len, texts)) // 4)
