"""
Framings: bytes to payloads, and payloads to bytes.

A framing is fed bytes in any pieces and returns the complete payloads. It never raises for the bytes of a provider, and
its cost is linear in them. It buffers one incomplete frame, up to a maximum length, and no lines outside of frames.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Final, Protocol

from assistant_events.adapters.json_fields import valid_json
from assistant_events.errors import JsonError
from assistant_events.values import read_json, write_json

MAX_TAIL = 1 << 16
"""Length of the text outside of frames that is kept. A JSON error after a cut, its use, is under 300 bytes."""

MAX_FRAME_BYTES = 64 << 20
"""
Maximum length of a frame. The longest contain media in base64: a service that accepts requests of 20 MB returns at
most a few times that.
"""

DONE: Final = b"[DONE]"

LF, CR = b"\n\r"
"""As numbers: to find bytes in bytes, CPython first raises an error inside, because they are not a number."""

_SETTLE_AT = 1 << 16
"""Length of an incomplete frame from which on the lines that are not part of a frame are removed from the buffer."""

_LINE = re.compile(rb'^(?:(data|event|error)(?:: ?([^\n]*))?$|[ \t]*[\[\]{}"][^\n]*$)', re.MULTILINE)
"""A field of an event, or a line that may be a bare JSON error. Comments are neither."""

_BEGUN = re.compile(rb'(data|event|error)(?::|$)|[ \t]*[\[\]{}"]')
"""Start of such a line. A start shorter than `_UNDECIDED` is not decided yet."""

_UNDECIDED = len(b"event:")

_IN_STRING = re.compile(rb'"|\\.', re.DOTALL)
_IN_ARRAY = re.compile(rb'[{}"]')
"""The next byte of JSON that matters, inside of a string and outside."""

_USUAL = {
    b"\n\n": re.compile(rb"(?:event: .*+\n)?data: (.*+)\n\n").match,
    b"\r\n\r\n": re.compile(rb"(?:event: .*\r\n)?data: (.*)\r\n\r\n").match,
}
"""By the separator: what an event in its usual lines is, if it has no other line end."""

_BEFORE = re.compile(rb"(?:event: ?([^\n]*)\n)?data: ?").fullmatch


class Framing(Protocol):
    """
    Interface of framings, and their base class. A member that a subclass leaves out is correct, if not fast.
    """

    separator: bytes = b""
    """
    End of the usual frames. Empty where frames are found by a length, or in another way: a decoder reads their payloads
    as lines (`lines`), without names. Where the type of a frame is beside its payload, `feed` writes it into the
    document, for example as `{type: payload}`.
    """

    checksums: bool = False
    """Whether frames have checksums, so that a damaged one is found (`damaged`)."""

    idle: bool
    """Whether the next byte starts a frame. `False` is always correct, and slower."""

    too_long: bool
    """Whether a frame exceeded the maximum length. No payloads follow."""

    damaged: bool = False
    """Whether a frame had a wrong checksum. No payloads follow."""

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        """*max_frame_bytes* counts the lines of a frame without comments and line ends."""

    @property
    def tail(self) -> str:
        """Text outside of frames that looks like JSON: some gateways end a broken stream with a bare error document."""
        return ""

    @abstractmethod
    def feed(self, data: bytes) -> list[bytes]:
        """Feed bytes and return the payloads that are complete."""

    def lines(self, data: bytes) -> bytes:
        """Feed bytes, in place of `feed`, and return the complete payloads as lines; line ends inside become CR."""
        # Between the values of a JSON document both are spaces, and inside of strings both are errors.
        return b"".join([payload.replace(b"\n", b"\r") + b"\n" for payload in self.feed(data)])

    def whole(self, data: bytes) -> bytes | None:
        """
        Return the payload of *data* as a line when it is one frame like those before, sound and whole.

        For framings without a separator, while they are `idle`; the same bytes may be fed after it. `None` is always
        correct.
        """
        return None

    def release(self, most: int) -> bytes:
        """
        Return the start of a frame that is buffered and forget it: it is fed again, before what follows it.

        Args:
            most: How many bytes it may have. Nothing is released when there are more, or when they depend on others
                before them; that is always correct.
        """
        return b""

    def next(self, data: bytes, at: int) -> tuple[bytes, int] | None:
        """
        Return the payload of a frame in its usual form that begins at *at*, and where it ends, as `feed` takes it.

        For pieces up to the maximum length, while it is `idle`. `None` is always correct: nothing happened, and `feed`
        takes the frame. A subclass with a `feed` of its own needs a `next` of its own.
        """
        return None

    def around(self, payload: bytes, name: str | None = None) -> tuple[bytes, bytes] | None:
        """
        Return the bytes before and after a payload of the last `feed` in its frame; `None` when they are not usual.

        Args:
            payload: The payload.

            name: The name beside it, when it has to be part of the bytes.
        """
        return None

    def close(self) -> list[bytes]:
        """Return the payload that is complete except for its end mark, if there is one."""
        return []

    def name(self, payload: bytes) -> str | None:
        """
        Return the name beside a payload of the last `feed` or `close`; `None` when it has none.

        Payloads are compared as objects, so those under two bytes, which no document has, may get each other's name.
        """
        return None

    @staticmethod
    @abstractmethod
    def frame(name: str | None, payload: Mapping[str, Any] | str) -> bytes:
        """Return the bytes of a frame: of JSON, or of a mark such as `[DONE]`."""


class Sse(Framing):
    """
    Server-sent events, as in the HTML standard (section 9.2.6, seen 2026-11), with four extensions.

    The end of the input ends a pending event whose data is complete JSON. Lines that are not fields and look like JSON
    are kept as `tail`. When the `data` lines of an event are not JSON together, those that are JSON alone are separate
    payloads: after a cut and a replay, half an event precedes the next one. A field `error`, which llama.cpp sent until
    2025-09 (#16109), is the data of an event of that name.
    """

    separator = b"\n\n"

    # `event: …` then `data: …` then a blank line, or without the first: what every provider sends. See `_quick`.
    _NAMED = re.compile(rb"event: ?[^\n]*\ndata: ?([^\n]*)\n\n")
    _BARE = re.compile(rb"data: ([^\n]*)\n\n")

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self.too_long = False
        self._max = max_frame_bytes
        self._pending: list[bytes] = []
        self._held = 0
        self._settle_at = _SETTLE_AT
        self._begun = False
        self._usual = _USUAL[self.separator]
        self._tail = bytearray()
        self.idle = False
        self._skip_lf = False
        self._ends_line = False
        self._block = b""
        self._payloads: list[bytes] = []
        self._names: list[str | None] | None = None
        self._looked_up: list[str | None] | None = None
        self._name_of: dict[int, str | None] = {}

    @property
    def tail(self) -> str:
        """Lines that are not fields of an event and look like JSON, up to `MAX_TAIL`."""
        return self._tail.decode("utf-8", "replace")

    def next(self, data: bytes, at: int) -> tuple[bytes, int] | None:
        """Return the payload of an event in its usual lines, and where it ends."""
        found = self._usual(data, at)
        if found is None:
            return None
        block, payload = found.group(0, 1)
        if CR in block:
            block = block.replace(b"\r\n", b"\n")
            if CR in block or self.separator == b"\n\n":
                return None  # other line ends than those of the separator
        self._block, self._payloads, self._names = block, [payload], None
        return payload, found.end()

    def feed(self, data: bytes) -> list[bytes]:
        """Feed bytes and return the payloads that are complete."""
        if self.too_long:
            return []
        if not self._begun:
            data = self._without_mark(data)
        if self._skip_lf or CR in data:
            data = self._with_lf(data)
        payloads = self._blocks(data)
        self.idle = self._begun and not self._skip_lf and not self._pending and not self.too_long
        return payloads

    def _blocks(self, data: bytes) -> list[bytes]:
        """Split complete events from the buffer."""
        if not data:
            return []
        pending = self._pending
        if not pending and data[-2:] == b"\n\n":
            return self._split(data)
        # To find one byte takes a hundredth of the time.
        has_end = LF in data and data.find(b"\n\n") >= 0
        if not has_end and not (pending and data[0] == LF and self._ends_line):
            pending.append(data)
            self._held += len(data)
            self._ends_line = data[-1] == LF
            if self._held > self._settle_at:
                self._settle()
            return []
        whole = b"".join([*pending, data])
        end = whole.rfind(b"\n\n") + 2
        rest = whole[end:]
        self._hold(rest)
        self._ends_line = rest[-1:] == b"\n"
        return self._split(whole[:end])

    def _hold(self, rest: bytes) -> None:
        """Buffer the start of a frame."""
        self._pending = [rest] if rest else []
        self._held = len(rest)
        self._settle_at = max(_SETTLE_AT, 2 * self._held)

    def _settle(self) -> None:
        """Remove the lines that are not part of the incomplete frame from the buffer."""
        whole = b"".join(self._pending)
        begin = whole.rfind(b"\n") + 1
        # No list of lines: an object for each short line takes many times the room of its bytes.
        kept = bytearray()
        for line in _LINE.finditer(whole, 0, begin):
            if line[1] is None:
                self._add_tail(line[0])
            else:
                kept += line[0]
                kept += b"\n"
        last = whole[begin:]
        size = len(kept) - kept.count(b"\n")
        known = _BEGUN.match(last)
        if known is not None and known[1] is not None:
            size += len(last)
        else:
            last = last[: _UNDECIDED if known is None else MAX_TAIL + 1]
        kept += last
        self._hold(bytes(kept))
        self._is_too_long(size)

    def _is_too_long(self, size: int) -> bool:
        if size > self._max:
            self.too_long = True
            self._hold(b"")
            self._tail.clear()  # how much of it was seen before depends on how the bytes were cut
        return self.too_long

    def release(self, most: int) -> bytes:
        """Return the start of an event and forget it, when the bytes before it are settled."""
        if not self._begun or self._skip_lf or self._held > most:
            return b""
        held = b"".join(self._pending)
        self._hold(b"")
        self.idle = not self.too_long
        return held

    def around(self, payload: bytes, name: str | None = None) -> tuple[bytes, bytes] | None:
        """Return the `event` and `data` fields before a payload of the last `feed`, and the blank line after it."""
        for frame in self._block.split(b"\n\n"):
            found = _BEFORE(frame, 0, len(frame) - len(payload)) if frame.endswith(payload) else None
            if found is not None and (name is None or found[1] == name.encode()):
                return (found[0] if self.separator == b"\n\n" else found[0].replace(b"\n", b"\r\n")), self.separator
        return None

    def close(self) -> list[bytes]:
        """Return the payload that is complete except for its end mark, if there is one."""
        rest = b"".join(self._pending)
        self._hold(b"")
        self._payloads, self._names = [], []
        self._careful(rest, whole=False)
        return self._payloads

    def name(self, payload: bytes) -> str | None:
        """Return the `event` field beside a payload of the last `feed` or `close`; `None` when it has none."""
        if self._names is None:
            payloads = self._payloads
            self._payloads, self._names = [], []
            self._careful(self._block, whole=True)
            self._payloads = payloads
        if self._looked_up is not self._names:
            self._looked_up = self._names
            self._name_of = {id(each): name for each, name in zip(self._payloads, self._names, strict=True)}
        return self._name_of.get(id(payload))

    @staticmethod
    def frame(name: str | None, payload: Mapping[str, Any] | str) -> bytes:
        """Return the bytes of an event: its name if it has one, its data, an empty line."""
        data = b"data: %b\n\n" % payload_bytes(payload)
        return data if name is None else b"event: %b\n%b" % (name.encode(), data)

    def _without_mark(self, data: bytes) -> bytes:
        data = b"".join([*self._pending, data])
        self._pending = []
        if b"\xef\xbb\xbf".startswith(data):
            self._pending = [data]
            return b""
        self._begun = True
        return data.removeprefix(b"\xef\xbb\xbf")

    def _with_lf(self, data: bytes) -> bytes:
        """Convert CR and CRLF to LF. A CR at the end is a line end at once; an LF after it is skipped."""
        if self._skip_lf and data:
            data = data.removeprefix(b"\n")
            self._skip_lf = False
        if data:
            self._skip_lf = data[-1] == CR
        if b"\r\n\r\n" in data:
            self.separator = b"\r\n\r\n"
            self._usual = _USUAL[self.separator]
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _split(self, block: bytes) -> list[bytes]:
        """Split a block that ends with a blank line."""
        self._block = block
        payloads = self._quick(block) if len(block) <= self._max else None
        if payloads is not None:
            self._payloads, self._names = payloads, None
            return payloads
        self._payloads, self._names = [], []
        self._careful(block, whole=True)
        return self._payloads

    def _quick(self, block: bytes) -> list[bytes] | None:
        """
        Split a block in which every event has the usual two (or one) lines; `None` when it has anything else.

        It is exact: what the pattern matched is as long as the block, or it matched every line, and every event starts
        after a blank line. Of one event alone, which may have megabytes, the lines are found without a pattern.
        """
        lines = 3 if block[:6] == b"event:" else 2
        ends = block.count(b"\n")
        if ends == lines:
            at = block.find(b"\n") + 1 if lines == 3 else 0
            space = 1 if block.startswith(b" ", at + 5) else 0
            return [block[at + 5 + space : -2]] if block.startswith(b"data:", at) else None
        if lines == 2:
            found = self._BARE.findall(block)
            is_exact = sum(map(len, found)) + len(b"data: \n\n") * len(found) == len(block)
        else:
            found = self._NAMED.findall(block)
            is_exact = ends == lines * len(found) and block.count(b"\n\nevent:") == len(found) - 1
        return found if is_exact else None

    def _careful(self, block: bytes, *, whole: bool) -> None:
        names: list[str | None] = []
        for event in block.split(b"\n\n"):
            if len(event) > self._max and self._is_too_long(_size(event)):
                break
            name, data = self._fields(event)
            payloads = [b"\n".join(data)] if data else []
            if len(data) > 1 and not _is_whole(payloads[0]):
                payloads = [line for line in data if _is_whole(line)]
            elif data and not whole and payloads[0] != DONE and not _is_whole(payloads[0]):
                payloads = []
            self._payloads += payloads
            names += [name] * len(payloads)
        self._names = names

    def _fields(self, event: bytes) -> tuple[str | None, list[bytes]]:
        """Return the name of an event and its lines of data."""
        name: str | None = None
        data: list[bytes] = []
        for line in _LINE.finditer(event):
            field, value = line.groups(b"")
            if field == b"event":
                name = value.decode("utf-8", "replace")
            elif field:
                data.append(value)
                name = "error" if field == b"error" else name
            else:
                self._add_tail(line[0])
        return name, data

    def _add_tail(self, line: bytes) -> None:
        if len(self._tail) < MAX_TAIL:
            self._tail += line[:MAX_TAIL] + b"\n"


def _size(event: bytes) -> int:
    """Return the length of the lines of an event that are fields."""
    return sum(len(line[0]) for line in _LINE.finditer(event) if line[1] is not None)


_HALF: Final = b"\\ud"
"""In JSON text: half of a surrogate pair, or a text about escapes."""

# `str.splitlines`, and clients that split a stream with it, take these for line ends.
_LINE_ENDS: Final = ((b"\xc2\x85", b"\\u0085"), (b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))


def payload_bytes(value: Mapping[str, Any] | str) -> bytes:
    """Return JSON text in one line; half of a surrogate pair, which many clients cannot read, becomes U+FFFD."""
    if isinstance(value, str):
        return value.encode()
    data = write_json(value)
    if _HALF in data:
        data = write_json(valid_json(value))
    if not data.isascii():
        for character, escape in _LINE_ENDS:
            data = data.replace(character, escape)
    return data


class JsonLines(Framing):
    """One JSON document a line. Blank lines are skipped; the end of the input ends the last line."""

    separator = b"\n"

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self.idle = True
        self.too_long = False
        self._max = max_frame_bytes
        self._pending: list[bytes] = []
        self._held = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Feed bytes and return the lines that are complete."""
        if self.too_long:
            return []
        if LF not in data:
            if data:
                self._pending.append(data)
                self._held += len(data)
                self.idle = False
                self._is_too_long(self._held)
            return []
        *lines, rest = b"".join([*self._pending, data]).split(b"\n")
        self._pending, self._held = [rest], len(rest)
        self.idle = not rest
        for at, line in enumerate(lines):
            if self._is_too_long(len(line)):
                del lines[at:]
                break
        self._is_too_long(self._held)
        return [line for line in map(bytes.strip, lines) if line]

    def _is_too_long(self, size: int) -> bool:
        if size > self._max:
            self.too_long = True
            self.idle = False
            self._pending, self._held = [], 0
        return self.too_long

    def release(self, most: int) -> bytes:
        """Return the start of a line and forget it."""
        if self._held > most or self.too_long:
            return b""
        held = b"".join(self._pending)
        self._pending, self._held, self.idle = [], 0, True
        return held

    def next(self, data: bytes, at: int) -> tuple[bytes, int] | None:
        """Return a line, and where it ends; blank ones and the last are for `feed`."""
        end = data.find(b"\n", at)
        line = data[at:end].strip() if end >= 0 else b""
        return (line, end + 1) if line else None

    def around(self, payload: bytes, name: str | None = None) -> tuple[bytes, bytes]:
        """Return what comes before and after a line."""
        return b"", b"\n"

    def close(self) -> list[bytes]:
        """Return the last line when it is complete except for its end."""
        line = b"".join(self._pending).strip()
        self._pending = []
        return [line] if line and _is_whole(line) else []

    @staticmethod
    def frame(name: str | None, payload: Mapping[str, Any] | str) -> bytes:
        """Return the bytes of a line; lines have no names."""
        return payload_bytes(payload) + b"\n"


class JsonArray(Framing):
    """
    The objects of a JSON array that comes in pieces, as Google streams an answer without `alt=sse`.

    Between the objects, and around them, anything may come: an error after the array is one more object.
    """

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self.idle = False
        self.too_long = False
        self._max = max_frame_bytes
        self._pending = bytearray()
        self._at = 0
        """Up to where the pending bytes were looked through."""

        self._depth = 0
        self._in_string = False

    def feed(self, data: bytes) -> list[bytes]:
        """Feed bytes and return the objects that are complete."""
        if self.too_long:
            return []
        pending, at = self._pending, self._at
        pending += data
        found: list[bytes] = []
        begin = 0
        while (mark := (_IN_STRING if self._in_string else _IN_ARRAY).search(pending, at)) is not None:
            at = mark.end()
            match mark[0]:
                case b"{":
                    begin = mark.start() if not self._depth else begin
                    self._depth += 1
                case b"}" if self._depth:
                    self._depth -= 1
                    if not self._depth:
                        found.append(bytes(pending[begin:at]))
                case b'"' if self._depth:
                    self._in_string = not self._in_string
                case _:
                    pass
        # What ends with a backslash is looked through again, with the character that it escapes.
        at = len(pending) - (self._in_string and at < len(pending) and pending.endswith(b"\\"))
        kept = begin if self._depth else len(pending)
        del pending[:kept]
        self._at = at - kept
        refused = next((at for at, each in enumerate(found) if len(each) > self._max), None)
        self.too_long = refused is not None or len(pending) > self._max
        if self.too_long:
            pending.clear()
        return found[:refused]

    @staticmethod
    def frame(name: str | None, payload: Mapping[str, Any] | str) -> bytes:
        """Return the bytes of an object and the comma after it; the brackets around all of them are the caller's."""
        return payload_bytes(payload) + b"\n,\n"


def _is_whole(payload: bytes) -> bool:
    try:
        read_json(payload.decode("utf-8", "replace"), strict=False)
    except JsonError:
        return False
    return True
