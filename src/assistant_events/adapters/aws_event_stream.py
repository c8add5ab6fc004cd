"""
The binary event stream of AWS as a framing.

A frame, its integers big-endian: its length (4 bytes), the length of its headers (4), the CRC-32 of these eight bytes
(4), the headers, the payload, the CRC-32 of all before it (4). A header: the length of its name (1), the name, its type
(1), its value. Source: `application/vnd.amazon.eventstream` as botocore 1.44.5 reads it (seen 2026-11).
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from base64 import b64encode
from binascii import crc32
from collections.abc import Iterator, Mapping
from struct import Struct
from typing import Any, Final

from assistant_events.adapters.framing import MAX_FRAME_BYTES, payload_bytes
from assistant_events.adapters.json_fields import Fields, base64_bytes, mapping, string
from assistant_events.errors import JsonError
from assistant_events.values import read_json, write_json

_PRELUDE: Final = Struct("!III")
_LENGTHS: Final = Struct("!II")
_CHECKSUM: Final = Struct("!I")
_OVERHEAD: Final = _PRELUDE.size + _CHECKSUM.size

_STRING: Final = 7
_SIZED: Final = {6, _STRING}
"""Types of headers whose value has its length before it, in two bytes: bytes and strings."""

_SIZES: Final = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Bytes of the values of other types: true, false, integers of four sizes, times, UUIDs."""

_EVENT, _EXCEPTION, _ERROR = "event", "exception", "error"


class AwsEventStream:
    """
    Frames of AWS. A payload is the JSON object `{type: payload}`, the form in which boto3 returns the event.

    An exception is `{type of the exception: payload}`, an error `{"error": {"code": …, "message": …}}`. An event of the
    type `chunk` has another event in base64, which is the payload. After a wrong checksum nothing more is read.
    """

    separator = b""
    checksums = True
    idle = False
    tail = ""

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self.too_long = False
        self.damaged = False
        self._max = max_frame_bytes
        self._buffer = bytearray()
        self._length = 0
        """Length of the frame at the start of the buffer; 0 while it is unknown."""

        self._read = b""
        self._headers: dict[str, str] = {}
        """Headers of the last frame, and the bytes that they were read from: most frames have the same ones."""

    def feed(self, data: bytes) -> list[bytes]:
        """Feed bytes and return the payloads that are complete."""
        if self.too_long or self.damaged:
            return []
        self._buffer += data
        payloads: list[bytes] = []
        start = 0
        while self._is_whole(start):
            end = start + self._length
            payload = self._payload(bytes(memoryview(self._buffer)[start:end]))
            if payload is None:
                self.damaged = True
                break
            payloads.append(payload)
            start, self._length = end, 0
        del self._buffer[: len(self._buffer) if self.too_long or self.damaged else start]
        return payloads

    def around(self, payload: bytes, name: str | None = None) -> None:
        """Return `None`: lengths and checksums differ from frame to frame."""

    def close(self) -> list[bytes]:
        """Return nothing: a frame that is not whole has no payload."""
        self._buffer.clear()
        return []

    def name(self, payload: bytes) -> str | None:
        """Return `None`: the type of an event is in its payload."""
        return None

    @staticmethod
    def frame(name: str | None, payload: Mapping[str, Any] | str) -> bytes:
        """Return the frame of an event in the form of `feed`; JSON of another form is a payload without a type."""
        headers, inner = _taken_apart(payload)
        return _frame({**headers, ":content-type": "application/json"}, payload_bytes(inner))

    def _is_whole(self, start: int) -> bool:
        """Return whether the frame at *start* has come, and learn its length; its prelude is checked."""
        held = len(self._buffer) - start
        if not self._length and held >= _PRELUDE.size:
            self._length, headers, checksum = _PRELUDE.unpack_from(self._buffer, start)
            is_sound = crc32(memoryview(self._buffer)[start : start + _LENGTHS.size]) == checksum
            self.damaged = not is_sound or self._length < headers + _OVERHEAD
            self.too_long = not self.damaged and self._length > self._max
        return 0 < self._length <= held and not self.damaged and not self.too_long

    def _payload(self, frame: bytes) -> bytes | None:
        """Return the payload of a frame; `None` when its checksum is wrong, or its headers cannot be read."""
        end = len(frame) - _CHECKSUM.size
        if crc32(frame[:end]) != _CHECKSUM.unpack_from(frame, end)[0]:
            return None
        start = _PRELUDE.size + _LENGTHS.unpack_from(frame)[1]
        headers = frame[_PRELUDE.size : start]
        if headers != self._read:
            try:
                self._headers = dict(_headers(headers))
            except (KeyError, IndexError, UnicodeDecodeError):
                return None
            self._read = headers
        return _with_type(self._headers, frame[start:end])


class AwsChunkStream(AwsEventStream):
    """
    The same, written as `InvokeModelWithResponseStream` of Bedrock does it: every event is in a `chunk`.
    """

    @staticmethod
    def frame(name: str | None, payload: Mapping[str, Any] | str) -> bytes:
        """Return the frame of a chunk with an event of the model; exceptions and errors are not inside of chunks."""
        headers, _ = _taken_apart(payload)
        if headers[":message-type"] != _EVENT:
            return AwsEventStream.frame(name, payload)
        data = payload_bytes(payload)
        return AwsEventStream.frame(name, {"chunk": {"bytes": b64encode(data).decode()}})


def is_event_stream(data: bytes) -> bool:
    """Return whether *data*, from its start, is an event stream: the checksum of the first prelude holds."""
    return len(data) >= _PRELUDE.size and crc32(data[: _LENGTHS.size]) == _PRELUDE.unpack_from(data)[2]


def event_in_chunk(event: Fields) -> bytes | None:
    """Return the event of a model inside of an event `chunk`, or of its payload alone; `None` when it has none."""
    return base64_bytes(string(mapping(event, "chunk") or event, "bytes"))


def _headers(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the names and values of the headers that are strings."""
    at = 0
    while at < len(data):
        name = data[at + 1 : at + 1 + data[at]].decode()
        at += 1 + data[at]
        kind = data[at]
        at += 1
        if kind in _SIZED:
            size = int.from_bytes(data[at : at + 2])
            at += 2
        else:
            size = _SIZES[kind]
        if at + size > len(data):
            raise IndexError
        if kind == _STRING:
            yield name, data[at : at + size].decode()
        at += size


def _with_type(headers: Mapping[str, str], payload: bytes) -> bytes:
    """Return the payload of a frame as the object with its type."""
    kind = headers.get(":message-type", _EVENT)
    if kind == _ERROR:
        found = {"code": headers.get(":error-code"), "message": headers.get(":error-message")}
        return write_json({"error": {key: value for key, value in found.items() if value is not None}})
    name = headers.get(":exception-type" if kind == _EXCEPTION else ":event-type")
    if name is None:
        return payload
    if name == "chunk":
        inner = _inside(payload)
        if inner is not None:
            return inner
    return b"{%b:%b}" % (write_json(name), payload or b"{}")


def _inside(payload: bytes) -> bytes | None:
    try:
        chunk = read_json(payload)
    except JsonError:
        return None
    return event_in_chunk(chunk) if isinstance(chunk, dict) else None


def _taken_apart(payload: Mapping[str, Any] | str) -> tuple[dict[str, str], Mapping[str, Any] | str]:
    """Return the headers with the type of an event, and the rest of it; the inverse of `_with_type`."""
    if isinstance(payload, Mapping) and len(payload) == 1:
        [(name, inner)] = payload.items()
        if (
            name == _ERROR
            and isinstance(inner, Mapping)
            and _fit(*inner.values())
            and inner.keys() <= {"code", "message"}
        ):
            return {":message-type": _ERROR, **{f":error-{key}": text for key, text in inner.items()}}, ""
        if isinstance(inner, Mapping) and _fit(name):
            kind = _EXCEPTION if name.endswith("Exception") else _EVENT
            return {":message-type": kind, f":{kind}-type": name}, inner
    return {":message-type": _EVENT}, payload


def _fit(*values: object) -> bool:
    """Return whether headers can have these values: valid text of less than 64 KB."""
    try:
        return all(isinstance(value, str) and len(value.encode()) < 1 << 16 for value in values)
    except UnicodeEncodeError:
        return False


def _frame(headers: Mapping[str, str], payload: bytes) -> bytes:
    written = b"".join(
        [
            b"%c%b%c%b%b" % (len(name), name.encode(), _STRING, len(value.encode()).to_bytes(2), value.encode())
            for name, value in headers.items()
        ]
    )
    lengths = _LENGTHS.pack(_OVERHEAD + len(written) + len(payload), len(written))
    data = b"%b%b%b%b" % (lengths, _CHECKSUM.pack(crc32(lengths)), written, payload)
    return data + _CHECKSUM.pack(crc32(data))


__all__ = ["AwsChunkStream", "AwsEventStream", "event_in_chunk", "is_event_stream"]
