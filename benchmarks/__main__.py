"""The command: `python -m benchmarks [NAME...]`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter

from benchmarks.catalogue import BENCHMARKS, Benchmark
from benchmarks.measure import QUICK, Figure, Note, Settings
from benchmarks.report import Results, show


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks that were asked for and return the exit code: 1 when one of them raised, 0 otherwise."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure what the library costs. BENCH_QUICK=1 takes fewer samples, BENCH_JSON=FILE also "
        "writes the figures. A missed goal does not change the exit code; a benchmark that raises makes it 1.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of: {', '.join(BENCHMARKS)}; all when left out")
    names = parser.parse_args(arguments).names
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}; expected one of {', '.join(BENCHMARKS)}")
    settings = QUICK if os.environ.get("BENCH_QUICK", "0") not in {"", "0"} else Settings()
    results = run({name: BENCHMARKS[name] for name in names or BENCHMARKS}, settings)
    show(results)
    target = os.environ.get("BENCH_JSON")
    if target:
        Path(target).write_text(json.dumps(results.as_json(), indent=2) + "\n", encoding="utf-8")
    return 1 if results.failed else 0


def run(benchmarks: Mapping[str, Benchmark], settings: Settings) -> Results:
    """Run *benchmarks* one after another; one that raises is reported by name and the others still run."""
    figures: dict[str, list[Figure]] = {}
    notes: list[Note] = []
    failed: dict[str, str] = {}
    began = perf_counter()
    for name, benchmark in benchmarks.items():
        print(f"bench: {name}", end="", file=sys.stderr, flush=True)
        started = perf_counter()
        try:
            found = list(benchmark(settings))
        except Exception as error:  # noqa: BLE001 - whatever it is, the others still run
            print(" failed", file=sys.stderr)
            traceback.print_exc()
            failed[name] = f"{type(error).__name__}: {error}"
            continue
        print(f" {perf_counter() - started:.1f} s", file=sys.stderr)
        figures[name] = [item for item in found if isinstance(item, Figure)]
        notes.extend(item for item in found if isinstance(item, Note))
    return Results(settings, figures, notes, failed, perf_counter() - began)


if __name__ == "__main__":
    sys.exit(main())
