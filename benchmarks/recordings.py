"""Recorded answers of providers: most are short, so that what a decoder does once for each stream counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import attrs

from assistant_events.adapters import Dialect, Framing, JsonLines, load_dialect
from benchmarks.decode import consume
from benchmarks.dialects import WIRES
from benchmarks.limit import parse_all, parse_lines
from benchmarks.measure import Figure, Note, Settings, compare, ratio_figure
from benchmarks.wire import in_chunks

FOLDER: Final = Path(__file__).parents[2] / "shared" / "corpus"
_GOAL: Final = 5.0
_FRAME: Final = re.compile(rb".+?(?:\r?\n\r?\n|\Z)", re.DOTALL)
_NO_SPACE: Final = re.compile(rb"^data:(?=\{)", re.MULTILINE)
"""Payloads without a space before them, which the limit would not see."""


@attrs.frozen
class Recording:
    """A recorded stream, to the end of its first answer."""

    chunks: tuple[bytes, ...]
    dialect: Dialect
    framing: type[Framing] | None
    limit: Callable[[bytes], None]

    def decode(self) -> None:
        """Make the message."""
        consume(self.chunks, self.dialect, self.framing)

    def is_parsed(self) -> bool:
        """Return whether the limit can read it: orjson takes no half of a surrogate pair."""
        try:
            self.parse()
        except ValueError:
            return False
        return True

    def parse(self) -> None:
        """Do what no library can avoid."""
        self.limit(b"".join(self.chunks))


def recordings(settings: Settings) -> Iterator[Figure | Note]:
    """
    What does a recorded answer cost?

    All recorded streams of each dialect, one after the other in chunks of 16 KiB, over the limit of the same bytes.
    """
    if not FOLDER.is_dir():
        yield Note("recordings: left out, there are none beside this repository")
        return
    for name in WIRES:
        streams = list(_streams(load_dialect(name)))

        def decode(streams: list[Recording] = streams) -> None:
            for each in streams:
                each.decode()

        def parse(streams: list[Recording] = streams) -> None:
            for each in streams:
                each.parse()

        size = sum(len(chunk) for each in streams for chunk in each.chunks)
        detail = f"{len(streams)} streams, {size / 1e3:,.0f} kB"
        yield ratio_figure(name, compare(decode, parse, settings), goal=_GOAL, detail=detail)


def _streams(dialect: Dialect) -> Iterator[Recording]:
    for path in sorted((FOLDER / dialect.name).iterdir()):
        body = path.read_bytes()
        if path.suffix == ".json" or "http-error" in path.name or body.lstrip()[:1] == b"[":
            continue
        is_lines = path.suffix == ".jsonl"
        frames = body.splitlines(keepends=True) if is_lines else _FRAME.findall(_NO_SPACE.sub(b"data: ", body))
        framing = JsonLines if is_lines else None
        decoder = dialect.decoder("m1", framing=framing)
        answer: list[bytes] = []
        for frame in frames:
            if decoder.terminal:
                break
            answer.append(frame)
            decoder.feed(frame)
        found = Recording(tuple(in_chunks(answer)), dialect, framing, parse_lines if is_lines else parse_all)
        if decoder.recorder.started and found.is_parsed():
            yield found
