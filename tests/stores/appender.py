"""
A process that appends to a store until it is killed, or a number of times, and prints each stored batch.
"""

import sys
from itertools import count, islice

from assistant_events.errors import ConflictError
from assistant_events.events import TextEnded
from assistant_events.stores import SqliteStore
from assistant_events.testing import Call, answer, durable, prompt, rewind


def batch(name, number):
    """Return a batch that changes the unfinished work; its first event has the number of the others."""
    message = f"{name}-{number}"
    calls = [Call("look", call_id="c1", output="seen"), Call("look", call_id="c2")]
    events = [
        prompt(message_id=f"{message}-u"),
        *durable(answer(calls=calls, message_id=message)),
        rewind(f"{message}-u"),
    ]
    kept = events[: 1 + number % len(events)]
    return [TextEnded(message_id=message, text=f"{len(kept)}"), *kept]


def report(line):
    """Print a line for the parent process."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(path, name, times):
    """Append batches, each after the end of the log, and print the name of each stored batch."""
    with SqliteStore(path, timeout_s=60.0) as store:
        report("open")
        for number in islice(count(), times):
            while True:
                try:
                    store.append("s", batch(name, number), expected_seq=store.seq("s"))
                except ConflictError:
                    report("conflict")
                else:
                    break
            report(f"{name}-{number}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else None)
