"""
Feed generated and damaged streams until stopped, or for FUZZ_SECONDS.

Exit 1 with the seed and the smallest stream that shows a fault, when one does.

    python -m tests.fuzz [--dialect NAME] [--seed N] [--count N]
"""
# ruff: noqa: T201 - a program talks to the person at the terminal

import argparse
import os
import sys
import time

import attrs

from assistant_events.adapters import dialect_names

from . import seeds
from .generated import Random
from .judging import fault, smaller


def main(arguments=None):
    """
    Return the exit code.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.splitlines()[1])
    parser.add_argument("--seed", type=int, default=None, help="where to begin; by default somewhere else each time")
    parser.add_argument("--count", type=int, default=None, help="how many streams; by default until stopped")
    parser.add_argument("--dialect", choices=dialect_names(), help="by default all of them in turns")
    options = parser.parse_args(arguments)
    names = [options.dialect] if options.dialect else dialect_names()
    first = Random().randrange(10**9) if options.seed is None else options.seed
    seconds = float(os.environ.get("FUZZ_SECONDS", "inf"))
    end = time.monotonic() + seconds
    seed = first
    print(f"fuzz: seed {first}, {sum(len(seeds.recorded(name)) for name in names)} recorded streams", flush=True)
    try:
        while time.monotonic() < end and (options.count is None or seed < first + options.count):
            wrong = tried(names[seed % len(names)], seed)
            if wrong:
                print(wrong, flush=True)
                return 1
            seed += 1
    except KeyboardInterrupt:
        print()
    print(f"fuzz: {seed - first} streams, no fault")
    return 0


def tried(name, seed):
    """
    Return a report when the stream of this dialect and seed shows a fault, with the smallest stream that does.
    """
    stream = seeds.stream(name, Random(seed))

    def wrong_with(body):
        return fault(attrs.evolve(stream, body=body), Random(seed))

    wrong = wrong_with(stream.body)
    if not wrong:
        return ""
    least = smaller(stream.body, lambda body: bool(wrong_with(body))) if len(stream.body) < 200_000 else stream.body
    return (
        f"fuzz: {name}, seed {seed}: {wrong}\n"
        f"fuzz: again with: python -m tests.fuzz --dialect {name} --seed {seed} --count 1\n"
        f"fuzz: the smallest stream found, {len(least)} bytes: {wrong_with(least) or 'not steady'}\n{least!r}"
    )


if __name__ == "__main__":
    sys.exit(main())
