"""
Feed generated and damaged streams until stopped, or for FUZZ_SECONDS.

Exit 1 with the seed and the smallest stream that shows a fault, when one does.

    python -m tests.fuzz [--seed N] [--count N]
"""
# ruff: noqa: T201 - a program talks to the person at the terminal

import argparse
import os
import sys
import time

from assistant_events.testing.mutations import mutated

from . import corpus_streams
from .generated import Random, noisy, stream
from .judging import fault, smaller


def main(arguments=None):
    """
    Return the exit code.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.splitlines()[1])
    parser.add_argument("--seed", type=int, default=None, help="where to begin; by default somewhere else each time")
    parser.add_argument("--count", type=int, default=None, help="how many streams; by default until stopped")
    options = parser.parse_args(arguments)
    first = Random().randrange(10**9) if options.seed is None else options.seed
    seconds = float(os.environ.get("FUZZ_SECONDS", "inf"))
    end = time.monotonic() + seconds
    recorded = corpus_streams()
    seed = first
    print(f"fuzz: seed {first}, {len(recorded)} recorded streams", flush=True)
    try:
        while time.monotonic() < end and (options.count is None or seed < first + options.count):
            wrong = tried(seed, recorded)
            if wrong:
                print(wrong, flush=True)
                return 1
            seed += 1
    except KeyboardInterrupt:
        print()
    print(f"fuzz: {seed - first} streams, no fault")
    return 0


def body_of(seed, recorded):
    """
    Return the stream of a seed: a recorded one that is damaged, or one that is made up; some with noise.
    """
    random = Random(seed)
    body = mutated(random.choice(recorded), random) if recorded and seed % 3 == 0 else stream(random)
    return noisy(body, random) if seed % 4 == 1 else body


def tried(seed, recorded):
    """
    Return a report when the stream of this seed shows a fault, with the smallest stream that does.
    """
    body = body_of(seed, recorded)
    wrong = fault(body, Random(seed))
    if not wrong:
        return ""
    least = smaller(body, lambda one: bool(fault(one, Random(seed)))) if len(body) < 200_000 else body
    return (
        f"fuzz: seed {seed}: {wrong}\n"
        f"fuzz: again with: python -m tests.fuzz --seed {seed} --count 1\n"
        f"fuzz: the smallest stream found, {len(least)} bytes: {fault(least, Random(seed)) or 'not steady'}\n{least!r}"
    )


if __name__ == "__main__":
    sys.exit(main())
