"""
The work that no library can avoid: to cut the bytes of a stream into lines and to parse the JSON of each event.

It knows nothing of the format, keeps nothing, builds nothing and could not even take its input in chunks. That makes it
a measure for others, not something to use.
"""

from __future__ import annotations

import orjson


def parse_all(data: bytes) -> None:
    """Split *data* at line feeds and parse every `data:` payload."""
    loads = orjson.loads
    for line in data.split(b"\n"):
        if line.startswith(b"data: {"):
            loads(line[6:])
