"""
The work that no library can avoid: to cut the bytes of a stream into lines and to parse the JSON of each event.

It knows nothing of the format, keeps nothing, builds nothing and could not even take its input in chunks. That makes it
a measure for others, not something to use.
"""

from __future__ import annotations

from struct import Struct

import orjson

_LENGTHS = Struct("!II")


def parse_all(data: bytes) -> None:
    """Split *data* at line feeds and parse every `data:` payload."""
    loads = orjson.loads
    for line in data.split(b"\n"):
        if line.startswith(b"data: {"):
            loads(line[6:])


def parse_frames(data: bytes) -> None:
    """Find the frames of an AWS event stream by their lengths and parse every payload; no checksum is looked at."""
    loads, unpack, at, end = orjson.loads, _LENGTHS.unpack_from, 0, len(data)
    while at < end:
        length, headers = unpack(data, at)
        loads(data[at + 12 + headers : at + length - 4])
        at += length
