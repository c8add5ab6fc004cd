"""Every benchmark under the name by which it is run and reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from benchmarks.aimock import mock_peers
from benchmarks.browsers import browsers
from benchmarks.codec import converters_event, converters_message
from benchmarks.decode import (
    recorded_noise,
    sse_to_message,
    sse_to_message_live,
    sse_to_message_live_stdlib,
    sse_to_message_stdlib,
)
from benchmarks.dialects import dialects, dialects_live
from benchmarks.growth import dialects_growth, growth
from benchmarks.imports import import_time
from benchmarks.measure import Figure, Note, Settings
from benchmarks.memory import bytes_per_event, peak_memory
from benchmarks.mock import mock_streams
from benchmarks.peers import peers
from benchmarks.recordings import recordings
from benchmarks.session import checkpoints, live_join, live_publish, live_watchers, session_stream
from benchmarks.storage import read_and_fold, sqlite_append

Benchmark: TypeAlias = Callable[[Settings], Iterable[Figure | Note]]

BENCHMARKS: Mapping[str, Benchmark] = MappingProxyType(
    {
        "sse_to_message": sse_to_message,
        "sse_to_message_live": sse_to_message_live,
        "sse_to_message_stdlib": sse_to_message_stdlib,
        "sse_to_message_live_stdlib": sse_to_message_live_stdlib,
        "recorded_noise": recorded_noise,
        "dialects": dialects,
        "dialects_live": dialects_live,
        "dialects_growth": dialects_growth,
        "recordings": recordings,
        "growth": growth,
        "import": import_time,
        "peak_memory": peak_memory,
        "converters_event": converters_event,
        "converters_message": converters_message,
        "sqlite_append": sqlite_append,
        "read_and_fold": read_and_fold,
        "session_stream": session_stream,
        "live_publish": live_publish,
        "live_join": live_join,
        "live_watchers": live_watchers,
        "checkpoints": checkpoints,
        "browsers": browsers,
        "mock_streams": mock_streams,
        "mock_peers": mock_peers,
        "peers": peers,
        "bytes_per_event": bytes_per_event,
    }
)
