"""aimock under the load of our own mock provider, where node is there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.measure import Figure, Note, Settings
from benchmarks.mock import DELTAS, WORD, figures_of, measure, own_server, wait_s

_SERVER: Final = Path(__file__).with_name("aimock.mjs")
_MODULES: Final = Path(__file__).parents[1] / "tests" / "official" / "javascript" / "node_modules"
_MODULE: Final = _MODULES / "@copilotkit" / "aimock" / "dist" / "index.js"


def mock_peers(settings: Settings) -> Iterator[Figure | Note]:
    """
    What does aimock pay to serve the streams of `mock_streams`?

    The same load from the same client, as a multiple of the same app that only sends the bytes; CPU time of its
    process, and how much the peak of its memory grows from the second round to the third. It serves in node, so that
    the runtime is part of the figure. Its frames have no `event:` line and fewer fields.
    """
    node = shutil.which("node")
    if node is None:
        yield Note("mock_peers: aimock left out, node is not installed")
        return
    if not _MODULE.is_file():
        yield Note("mock_peers: aimock left out, it is not installed; `make test-clients` installs it")
        return
    floor = measure(own_server("floor", settings), settings)
    command = [node, str(_SERVER), str(_MODULE), WORD * DELTAS, str(len(WORD)), str(wait_s(settings))]
    yield from figures_of("aimock/", measure(command, settings), floor)
