"""
A process that works as one worker on a store, on the orders of its parent.

Each line of its input is an order: `claim SESSION`, `append SESSION`, `wake`, `take-over`. It prints one line for each.
"""

import sys
from datetime import UTC, datetime, timedelta

from assistant_events.errors import StoreError
from assistant_events.events import TextEnded
from assistant_events.stores import SqliteStore


def main(path, worker, late_s):
    """Carry out the orders; the clock of this process is some seconds late, as if it had slept, until it wakes."""
    late = [timedelta(seconds=float(late_s))]
    claims = {}
    with SqliteStore(path, timeout_s=60.0, clock=lambda: datetime.now(UTC) - late[0]) as store:
        for line in sys.stdin:
            order, _, session_id = line.strip().partition(" ")
            try:
                if order == "claim":
                    claims[session_id] = store.claim(session_id, worker)
                    result = "claimed"
                elif order == "append":
                    store.append(session_id, [TextEnded(message_id="m", text=worker)], token=claims[session_id].token)
                    result = "appended"
                elif order == "wake":
                    late[0] = timedelta()
                    result = "awake"
                else:
                    taken = []
                    while more := store.take_over(worker, limit=2):
                        taken += more
                    result = " ".join(claim.session_id for claim in taken)
            except StoreError as error:
                result = type(error).__name__
            sys.stdout.write(f"{result}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
