"""A recorded stream of a dialect, and what its decoder makes of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from itertools import pairwise
from random import Random
from typing import Any, Final, NamedTuple, TypeAlias, cast, final

from assistant_events import messages as msg
from assistant_events.adapters.base import DecoderBase
from assistant_events.adapters.dialect import Dialect
from assistant_events.adapters.hops import Prior
from assistant_events.adapters.json_fields import Fields, json_object
from assistant_events.events import Event
from assistant_events.reducer import fold
from assistant_events.testing.mutations import mutated
from assistant_events.values import ErrorInfo, ErrorKind, thaw
from assistant_events.values.validators import NO_STATE

MESSAGE_ID: Final = "a1"
"""Message of the events of a sample."""

CUT: Final = ErrorInfo(kind=ErrorKind.NETWORK, message="cut")
"""A body that was cut is closed with an error: without one, an adapter may take the end of the body for a valid end."""

Path: TypeAlias = tuple[str, ...]
"""Names of fields from the frame to a value; lists have none."""


_NUMBER: Final[Path] = ("index",)
"""Where most wires have the number of an item."""

_WORD: Final = re.compile(r"[a-z_]+|\d+x\d+")
"""A word of the wire's own vocabulary, such as the type of a block or the size of an image, is not opaque."""

Place: TypeAlias = tuple[str, int]
"""A part: the id of its message and its index."""


@final
class SampleFrame(NamedTuple):
    """One frame of a stream."""

    start: int
    end: int
    """The bytes of the stream that hold it."""

    name: str | None
    """Its name, where the framing has one."""

    payload: bytes

    @property
    def document(self) -> Fields | None:
        """The payload as JSON; `None` when it is not an object."""
        return json_object(self.payload)

    @property
    def shape(self) -> tuple[str | None, frozenset[Path]]:
        """Its name, and the fields that it has."""
        return self.name, frozenset([path for path, _ in leaves(self.document)])


class Sample:
    """
    One stream: *body* is all of it, *request* what was sent for it.

    Errors call it *name*.
    """

    def __init__(self, dialect: Dialect, name: str, body: bytes, *, request: Mapping[str, Any] | None = None) -> None:
        self.dialect = dialect
        self.name = name
        self.body = body
        self.request = request

    def decoder(self, prior: Prior = None, *, fast: bool = True) -> DecoderBase:
        """Return a fresh decoder."""
        decoder = self.dialect.decoder(MESSAGE_ID, request=self.request, prior=prior)
        decoder.fast = fast
        return decoder

    def decode(
        self, chunks: Iterable[bytes], prior: Prior = None, *, error: ErrorInfo | None = None, fast: bool = True
    ) -> list[Event]:
        """Return the events of *chunks*, closed with *error*: `None` when the body ended."""
        decoder = self.decoder(prior, fast=fast)
        events: list[Event] = []
        for chunk in chunks:
            events += decoder.feed(chunk)
        return events + decoder.close(error)

    @cached_property
    def events(self) -> list[Event]:
        """The events of the whole stream."""
        return self.decode([self.body])

    @cached_property
    def transcript(self) -> msg.Transcript:
        """What they fold to."""
        return fold(self.events)

    @cached_property
    def can_be_rewritten(self) -> bool:
        """Whether frames that are written again give the same; half a pair of surrogates is not written."""
        return self.rewritten(self.payloads).transcript == self.transcript

    @property
    def answers(self) -> list[msg.AssistantMessage]:
        """The messages of the transcript."""
        return [message for message in self.transcript.messages if isinstance(message, msg.AssistantMessage)]

    @property
    def calls(self) -> list[msg.ToolPart]:
        """The calls of its answers."""
        return [call for message in self.answers for call in message.tool_calls]

    @cached_property
    def frames(self) -> list[SampleFrame]:
        """The frames of the stream."""
        framing = self.decoder().framing()
        found: list[SampleFrame] = []
        start = fed = 0
        for end in self._ends(framing.separator):
            for payload in framing.feed(self.body[fed:end]):
                found.append(SampleFrame(start, end, framing.name(payload), payload))
                start = end
            fed = end
        size = len(self.body)
        return found + [SampleFrame(start, size, framing.name(payload), payload) for payload in framing.close()]

    @cached_property
    def strings(self) -> list[str]:
        """The strings of its frames."""
        return [text for frame in self.frames for text in strings(frame.document)]

    @cached_property
    def usual_number(self) -> Path:
        """
        The field with the number of an item on most wires; none unless two pieces in a row have another than the first.

        One that counts pieces from the start of each part has the first number alone in a row.
        """
        whole = pieces_of(self.transcript).values()
        documents = [frame.document for frame in self.frames]
        pieces = [each for each in documents if any(text and text in part for text in strings(each) for part in whole)]
        found = [leaf for each in pieces for path, leaf in leaves(each) if path[-1:] == _NUMBER and type(leaf) is int]
        return _NUMBER if any(one == other > min(found) for one, other in pairwise(found)) else ()

    @property
    def payloads(self) -> list[tuple[str | None, Any]]:
        """The names of the frames, and their payloads: JSON, or the text of a mark."""
        return [
            (frame.name, frame.payload.decode("utf-8", "replace") if (document := frame.document) is None else document)
            for frame in self.frames
        ]

    def changed(self, changes: Mapping[int, Mapping[str, str | None]]) -> Sample:
        """Return the stream with other strings in some frames, given by the numbers of these."""
        frames = self.payloads
        for at, words in changes.items():
            name, payload = frames[at]
            for text, other in words.items():
                payload = replaced(payload, text, other)
            frames[at] = name, payload
        return self.rewritten(frames)

    def replacing(self, given: object, other: object) -> list[tuple[str | None, Any]]:
        """Return the payloads with *other* in place of each value that is *given*."""
        return [(name, replaced(payload, given, other)) for name, payload in self.payloads]

    def rewritten(self, frames: Iterable[tuple[str | None, Any]], name: str = "") -> Sample:
        """Return a stream of other frames, called *name* or as this one."""
        return Sample(self.dialect, name or self.name, self.written(frames), request=self.request)

    def written(self, frames: Iterable[tuple[str | None, Fields | str]]) -> bytes:
        """Return a stream of names and payloads."""
        framing = self.decoder().framing
        return b"".join([framing.frame(name, payload) for name, payload in frames])

    def damaged_frames(self, random: Random) -> bytes:
        """Return the stream with damages inside of its frames, which are whole: their checksums hold."""
        lines = b"\n".join([(frame.name or "").encode() + b" " + frame.payload for frame in self.frames])
        parts = [line.decode("utf-8", "replace").partition(" ") for line in mutated(lines, random).split(b"\n")]
        return self.written([(name or None, payload) for name, _, payload in parts])

    def _ends(self, separator: bytes) -> Iterator[int]:
        """Yield where a frame may end: at the end of a line, where the framing has lines, else anywhere."""
        size = len(self.body)
        if not separator.endswith(b"\n") or b"\n" not in self.body:
            yield from range(1, size + 1)
            return
        end = self.body.find(b"\n") + 1
        while end:
            yield end
            end = self.body.find(b"\n", end) + 1
        yield size


def parts_of(transcript: msg.Transcript) -> dict[Place, msg.Part]:
    """Return the parts of all answers by their places."""
    return {
        (message.id, at): part
        for message in transcript.messages
        if isinstance(message, msg.AssistantMessage)
        for at, part in enumerate(message.parts)
    }


def named(places: Iterable[Place]) -> str:
    """Return places in words."""
    return ", ".join([f"part {at} of {message_id!r}" for message_id, at in places]) or "no part"


def require(holds: bool, sentence: str) -> None:
    """Raise an `AssertionError` with *sentence* unless *holds*."""
    if not holds:
        raise AssertionError(sentence)


@contextmanager
def no_error(actor: str) -> Generator[None]:
    """Raise an `AssertionError` that *actor* raised, whatever a block raises."""
    try:
        yield
    except Exception as failure:
        raise AssertionError(f"{actor} raised {failure!r}") from failure


def leaves(value: object, path: Path = ()) -> Iterator[tuple[Path, object]]:
    """Yield the values of JSON that hold no others, with the fields they are in."""
    if isinstance(value, Mapping):
        for key, item in cast("Mapping[str, object]", value).items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, (list, tuple)):
        for item in cast("list[object]", value):
            yield from leaves(item, path)
    else:
        yield path, value


def objects(value: object, path: Path = ()) -> Iterator[tuple[Path, dict[str, object]]]:
    """Yield the objects in JSON, outer ones first, with the fields that they are in."""
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        yield path, fields
        for key, item in fields.items():
            yield from objects(item, (*path, key))
    elif isinstance(value, (list, tuple)):
        for item in cast("list[object]", value):
            yield from objects(item, path)


def number_arrays(value: object, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of arrays in JSON that hold numbers themselves, as of tokens and their probabilities."""
    if isinstance(value, Mapping):
        for key, item in cast("Mapping[str, object]", value).items():
            yield from number_arrays(item, (*path, key))
    elif isinstance(value, (list, tuple)):
        items = cast("list[object]", value)
        if any(isinstance(item, (int, float)) for item in items):
            yield path
        for item in items:
            yield from number_arrays(item, path)


def pieces_of(transcript: msg.Transcript) -> dict[Place, str]:
    """Return the texts of parts, and the inputs of calls, by their places."""
    parts = parts_of(transcript).items()
    return {place: getattr(part, "text", "") or getattr(part, "raw_input", "") for place, part in parts}


def id_of(call: msg.ToolPart) -> str:
    """Return the id that a call has on the wire."""
    return str(call.state.get("id", call.call_id))


def strings(value: object) -> list[str]:
    """Return the strings in JSON."""
    return [leaf for _, leaf in leaves(value) if isinstance(leaf, str)]


def replaced(value: Any, given: object, other: object) -> Any:
    """Return JSON with *other* in place of each value that is *given*."""
    if value == given:
        return other
    if isinstance(value, dict):
        return {key: replaced(item, given, other) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [replaced(item, given, other) for item in cast("list[object]", value)]
    return value


def mapped(value: Any, change: Callable[[Path, object], object], path: Path = ()) -> Any:
    """Return JSON with what *change* returns for each value that holds no others, and the fields that it is in."""
    if isinstance(value, dict):
        return {key: mapped(item, change, (*path, key)) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [mapped(item, change, path) for item in cast("list[object]", value)]
    return change(path, value)


def opaque_strings(part: Any, shortest: int) -> Iterator[tuple[str, str]]:
    """Yield the strings in the state of a part and of its result, each with its key, but no words of the wire."""
    # Any: parts have no base class, and not all of them a result.
    for state in (part.state, getattr(part, "result_state", NO_STATE)):
        for key, value in thaw(state).items():
            yield from [(key, text) for text in strings(value) if len(text) >= shortest and not _WORD.fullmatch(text)]


def has_as_much(before: msg.Part, after: msg.Part) -> bool:
    """Return whether a part is still there, with at least its content."""
    if type(before) is not type(after):
        return False
    if isinstance(before, msg.OpaquePart):
        return before == after
    if isinstance(before, msg.ToolPart):
        assert isinstance(after, msg.ToolPart)
        times = len(before.raw_input) // (len(after.raw_input) or 1) + 1  # one that comes several times may count once
        return (before.call_id, before.name) == (after.call_id, after.name) and (
            (after.raw_input * times).startswith(before.raw_input) or before.status is not before.status.STREAMING
        )
    if isinstance(before, msg.MediaPart):
        assert isinstance(after, msg.MediaPart)
        return (after.data or b"").startswith(before.data or b"") and before.uri in (None, after.uri)
    assert not isinstance(after, (msg.OpaquePart, msg.ToolPart, msg.MediaPart))
    if before.status is msg.PartStatus.COMPLETED:
        return before == after
    return after.text.startswith(before.text)
