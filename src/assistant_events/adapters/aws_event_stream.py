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
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from struct import Struct
from typing import Any, Final, TypeAlias

from assistant_events.adapters.framing import LF, MAX_FRAME_BYTES, Framing, payload_bytes
from assistant_events.adapters.json_fields import Fields, base64_bytes, json_object, mapping, string
from assistant_events.values import write_json

_PRELUDE: Final = Struct("!III")
_LENGTHS: Final = Struct("!II")
_CHECKSUM: Final = Struct("!I")
_OVERHEAD: Final = _PRELUDE.size + _CHECKSUM.size

_STRING: Final = 7
_SIZED: Final = {6, _STRING}
"""Types of headers whose value has its length before it, in two bytes: bytes and strings."""

_SIZES: Final = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Bytes of the values of other types: true, false, integers of four sizes, times, UUIDs."""

_MAX_KNOWN: Final = 1 << 10
"""How many starts of frames are remembered, and headers."""

_MAX_HEADERS: Final = 1 << 10
"""Length up to which the headers of a frame are remembered."""

_PADDING: Final = bytes(_MAX_HEADERS)
"""Bytes behind the last frame, where what reads it finds the start of the next."""

_EVENT, _EXCEPTION, _ERROR = "event", "exception", "error"
_CHUNK = "chunk"
"""Type of an event with another event in base64."""


_Reader: TypeAlias = Callable[[bytes, int], tuple[Any, ...]]
_Start: TypeAlias = tuple[int, int, int, dict[str, str], bytes, _Reader, _Reader]
"""
What is known of a frame by its start, the bytes before its payload.

Length of the frame and of the start, the CRC-32 so far, the headers, and what is written before the payload of an event
with these; nothing where that takes more. At last what reads the payload and its checksum; and both with as many bytes
behind them as the next start has if its headers are the same. No `NamedTuple`: CPython takes over twice the time to
unpack one.
"""

_STARTS: Final[dict[bytes, _Start]] = {}
"""
The starts of frames that were read, in any stream: most frames have one of a few hundred lengths, and the same headers.
"""

_Run: TypeAlias = tuple[bytes, list[bytes]]
"""Payloads that follow each other, and what is written before each of them; nothing where they are whole objects."""


class AwsEventStream(Framing):
    """
    Frames of AWS. A payload is the JSON object `{type: payload}`, the form in which boto3 returns the event.

    An exception is `{type of the exception: payload}`, an error `{"error": {"code": …, "message": …}}`. An event of the
    type `chunk` has another event in base64, which is the payload. After a wrong checksum nothing more is read.
    """

    checksums = True

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self.idle = True
        self.too_long = False
        self._max = max_frame_bytes
        self._pending: list[bytes] = []
        """The start of a frame that is not whole."""

        self._held = 0
        self._missing = 0
        """How many bytes have to come until more is known: a prelude, or the rest of a frame."""

        self._starts = _STARTS if max_frame_bytes == MAX_FRAME_BYTES else {}
        """The starts of frames that were read, none of which is too long."""

        self._payload_at = _PRELUDE.size
        """Length of the start of the last frame."""

    def feed(self, data: bytes) -> list[bytes]:
        """Feed bytes and return the payloads that are complete."""
        return [before + each + b"}" if before else each for before, run in self._runs(data) for each in run]

    def whole(self, data: bytes) -> bytes | None:
        """Return the payload of one frame of an event, and a line end."""
        known = self._starts.get(data[: self._payload_at]) or self._read_start(data, 0, len(data))
        if known is None:
            return None
        length, payload_at, checksum, _, before, read, _ = known
        if length != len(data) or not before:
            return None
        payload, expected = read(data, payload_at)
        return before + payload + b"}\n" if crc32(payload, checksum) == expected else None

    def lines(self, data: bytes) -> bytes:
        """Feed bytes and return the complete payloads as lines; line ends inside of them become CR."""
        alone = self.whole(data) if self.idle else None
        if alone is not None and alone.count(b"\n") == 1:
            return alone
        written: list[bytes] = []
        for before, run in self._runs(data):
            if LF in b"".join(run):
                # Between the values of a JSON document both are spaces, and inside of strings both are errors.
                run = [payload.replace(b"\n", b"\r") for payload in run]
            after = b"}\n" if before else b"\n"
            written += before, (after + before).join(run), after
        return b"".join(written)

    @staticmethod
    def frame(name: str | None, payload: Mapping[str, Any] | str) -> bytes:
        """Return the frame of an event in the form of `feed`; JSON of another form is a payload without a type."""
        headers, inner = _taken_apart(payload)
        return _frame({**headers, ":content-type": "application/json"}, payload_bytes(inner))

    def _runs(self, data: bytes) -> list[_Run]:
        """Feed bytes and return the payloads that are complete."""
        if self.too_long or self.damaged:
            self.idle = False
            return []
        if self._pending:
            self._pending.append(data)
            self._held += len(data)
            if self._held < self._missing:
                return []
            data = b"".join(self._pending)
        runs: list[_Run] = []
        rest = self._cut(data, runs)
        is_open = not self.too_long and not self.damaged
        self._pending = [data[rest:] if rest else data] if is_open and rest < len(data) else []
        self._held = len(data) - rest
        self.idle = is_open and not self._held
        return runs

    def _cut(self, data: bytes, runs: list[_Run]) -> int:
        """Append the payloads of whole frames, up to one that is damaged, and return where the rest begins."""
        payloads: list[bytes] = []
        append, of_run = payloads.append, None
        known_start, start = self._starts.get, data[: self._payload_at]
        begin, size, last = 0, len(data), len(data) - _PRELUDE.size
        data += _PADDING
        self._missing = _PRELUDE.size
        while begin <= last:
            known = known_start(start) or self._read_start(data, begin, size)
            if known is None:
                break
            length, payload_at, checksum, headers, before, _, read = known
            end = begin + length
            if end > size:
                self._missing = length
                break
            payload, expected, start = read(data, begin + payload_at)
            if crc32(payload, checksum) != expected:
                self.damaged = True
                break
            if before is not of_run:
                of_run, payloads = before, []
                append = payloads.append
                runs.append((before, payloads))
            append(payload if before else _with_type(headers, payload))
            begin = end
        return begin

    def _read_start(self, data: bytes, begin: int, size: int) -> _Start | None:
        """Read the start of a frame; `None` when *data*, up to *size*, lacks some of it, or it is not to be used."""
        if size - begin < _PRELUDE.size:
            return None
        length, headers_size, checksum = _PRELUDE.unpack_from(data, begin)
        payload_at = _PRELUDE.size + headers_size
        start = data[begin : begin + payload_at]
        known = self._starts.get(start)
        if known is None:
            self.damaged = crc32(start[: _LENGTHS.size]) != checksum or length < headers_size + _OVERHEAD
            self.too_long = not self.damaged and length > self._max
        if self.damaged or self.too_long:
            return None
        if begin + length > size:
            self._missing = length
            return None
        if known is None:
            read = _read_headers if payload_at < _MAX_HEADERS else _read_headers.__wrapped__
            try:
                headers, before = read(start[_PRELUDE.size :])
            except (KeyError, IndexError, UnicodeDecodeError):
                self.damaged = True
                return None
            payload_size = length - payload_at - _CHECKSUM.size
            alone = Struct(f"!{payload_size}sI").unpack_from
            among = Struct(f"!{payload_size}sI{min(payload_at, _MAX_HEADERS)}s").unpack_from
            known = length, payload_at, crc32(start), headers, before if payload_size else b"", alone, among
            if payload_at < _MAX_HEADERS:
                if len(self._starts) >= _MAX_KNOWN:
                    self._starts.clear()
                self._starts[start] = known
        self._payload_at = payload_at
        return known


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


def _type(headers: Mapping[str, str]) -> str | None:
    is_exception = headers.get(":message-type") == _EXCEPTION
    return headers.get(":exception-type" if is_exception else ":event-type")


@lru_cache(_MAX_KNOWN)
def _read_headers(data: bytes) -> tuple[dict[str, str], bytes]:
    """Return headers, and the start of the object with the type of an event where the payload is the rest of it."""
    headers = dict(_headers(data))
    name = _type(headers)
    is_special = headers.get(":message-type") == _ERROR or name in (None, _CHUNK)
    return headers, b"" if is_special else b"{%b:" % write_json(name)


def _with_type(headers: Mapping[str, str], payload: bytes) -> bytes:
    """Return the object with the type of a frame, which is an error, has no payload, no type, or is a chunk."""
    if headers.get(":message-type") == _ERROR:
        found = {"code": headers.get(":error-code"), "message": headers.get(":error-message")}
        return write_json({"error": {key: value for key, value in found.items() if value is not None}})
    name = _type(headers)
    if name is None:
        return payload
    return (_inside(payload) if name == _CHUNK else None) or b"{%b:%b}" % (write_json(name), payload or b"{}")


def _inside(payload: bytes) -> bytes | None:
    chunk = json_object(payload)
    return None if chunk is None else event_in_chunk(chunk)


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
