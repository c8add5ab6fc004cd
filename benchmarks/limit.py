"""
The work that no library can avoid: to cut the bytes of a stream into lines and to parse the JSON of each event.

It knows nothing of the format, keeps nothing, builds nothing and could not even take its input in chunks. That makes it
a measure for others, not something to use.
"""

from __future__ import annotations

from binascii import crc32
from struct import Struct

import orjson

_PRELUDE, _CHECKSUM = Struct("!III"), Struct("!I")


def parse_all(data: bytes) -> None:
    """Split *data* at line feeds and parse every `data:` payload."""
    loads = orjson.loads
    for line in data.split(b"\n"):
        if line.startswith(b"data: {"):
            loads(line[6:])


def parse_lines(data: bytes) -> None:
    """Split *data* at line feeds and parse every line."""
    loads = orjson.loads
    for line in data.split(b"\n"):
        if line:
            loads(line)


def parse_frames(data: bytes) -> None:
    """Find the frames of an AWS event stream by their lengths, check both checksums and parse every payload."""
    loads, at, end = orjson.loads, 0, len(data)
    while at < end:
        length, headers, prelude_sum = _PRELUDE.unpack_from(data, at)
        frame = data[at : at + length - 4]
        if crc32(frame[:8]) != prelude_sum or crc32(frame) != _CHECKSUM.unpack_from(data, at + length - 4)[0]:
            raise ValueError("a checksum is wrong")
        loads(frame[12 + headers :])
        at += length
