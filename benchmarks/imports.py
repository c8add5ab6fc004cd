"""What it costs an app to have the library among its imports."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.measure import Figure, Settings

_GOAL = 1.4
_STATEMENTS = {
    "nothing": "pass",
    "reference": "import attrs, cattrs",
    "package": "import assistant_events",
    "with_decoder": "import assistant_events.adapters.gemini_interactions",
    "with_store": "import assistant_events.stores, assistant_events.converters",
}
_ROOT = Path(__file__).parents[1]


def import_time(settings: Settings) -> Iterator[Figure]:
    """
    What does `import assistant_events` cost as a multiple of `import attrs, cattrs`, its dependencies?

    CPU time of fresh processes with bytecode in place, each less the time of a process that imports nothing; the
    processes take turns. `with_decoder` adds a dialect, `with_store` everything that reads and writes events.
    """
    for statement in _STATEMENTS.values():
        _cpu_s(statement)  # writes the bytecode
    times: dict[str, list[float]] = {name: [] for name in _STATEMENTS}
    for _ in range(2 * settings.repeats):
        for name, statement in _STATEMENTS.items():
            times[name].append(_cpu_s(statement))
    nothing = median(times["nothing"])
    reference = median(times["reference"]) - nothing
    for name in ("package", "with_decoder", "with_store"):
        samples = tuple([(time - nothing) / reference for time in times[name]])
        detail = f"{(median(times[name]) - nothing) * 1e3:.1f} ms over {reference * 1e3:.1f} ms"
        yield Figure(name, median(samples), _GOAL if name == "package" else None, samples=samples, detail=detail)


def _cpu_s(statement: str) -> float:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}\nimport time\nprint(time.process_time())"],
        cwd=_ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    return float(done.stdout)
