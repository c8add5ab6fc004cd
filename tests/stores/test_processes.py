"""
Several processes on one file, and processes that are killed while they append.
"""

import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from assistant_events.reducer import fold
from assistant_events.stores import SqliteStore
from assistant_events.testing.store_samples import RUNNING, started
from tests.children import Child

APPENDER = Path(__file__).with_name("appender.py")
CLAIMER = Path(__file__).with_name("claimer.py")
KILLS = 25 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 10


def start(*arguments: object, script: Path = APPENDER, **options: object) -> Child:
    """Start an appender that finds the package where this process found it."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return Child([sys.executable, script, *arguments], stderr=None, text=True, env=environment, **options)


def worker(path: Path, name: str, *, late_s: int = 0) -> Child:
    """Start a process that works as *name*, with a clock that is late."""
    return start(path, name, late_s, script=CLAIMER, stdin=subprocess.PIPE)


def order(process: Child, line: str) -> None:
    """Give a worker an order."""
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def ask(process: Child, line: str) -> str:
    """Give a worker an order, and return what it answers."""
    order(process, line)
    return process.stdout.readline().strip()


def batches(records) -> list[tuple[str, int, Sequence[object]]]:
    """Cut a log into the batches of appenders: who wrote it, how many events it should have, what follows its head."""
    found = []
    for record in records:
        if record.event.type == "text.ended":
            found.append((record.event.message_id, int(record.event.text), []))
        else:
            found[-1][2].append(record)
    return found


def test_a_killed_process_leaves_whole_batches(tmp_path):
    """
    After each of many kills the file opens, is sound, has every batch that was acknowledged and none of which half is
    there, and the unfinished work is that of the log.
    """
    path = tmp_path / "s.db"
    moments = random.Random(7)
    acknowledged: set[str] = set()
    for number in range(KILLS):
        with start(path, f"w{number}") as process:
            assert "open\n" == process.stdout.readline()
            seen = [process.stdout.readline() for _ in range(moments.randrange(12))]
            process.kill()
            acknowledged |= set(("".join(seen) + process.stdout.read()).split("\n")[:-1])

        with SqliteStore(path) as store:
            records = list(store.read("s"))
            written = batches(records)
            names = [name for name, _, _ in written]

            assert list(range(1, len(records) + 1)) == [record.seq for record in records]
            assert all(size == len(rest) for _, size, rest in written)
            assert len(set(names)) == len(names)
            assert acknowledged <= set(names)
            unfinished = fold(records).unfinished()
            assert ({"s": unfinished} if unfinished else {}) == store.unfinished()
        with closing(sqlite3.connect(path)) as db:
            assert ("ok",) == db.execute("PRAGMA integrity_check").fetchone()
    assert len(acknowledged) > KILLS


def test_two_processes_take_turns(tmp_path):
    """
    Two processes that append to one session behind what they saw lose nothing and write nothing twice.
    """
    path = tmp_path / "s.db"
    with start(path, "a", 60) as one, start(path, "b", 60) as two:
        told = one.communicate(timeout=120)[0] + two.communicate(timeout=120)[0]

    assert (0, 0) == (one.returncode, two.returncode)
    with SqliteStore(path) as store:
        records = list(store.read("s"))
        names = [name for name, _, _ in batches(records)]
        assert list(range(1, len(records) + 1)) == [record.seq for record in records]
        assert {f"{writer}-{number}" for writer in "ab" for number in range(60)} == set(names)
        assert len(names) == len(set(names)) == 120
        assert all(size == len(rest) for _, size, rest in batches(records))
    assert told.count("open") == 2


def test_each_session_of_dead_processes_is_taken_over_once(tmp_path):
    """
    Several processes that take over at once get each session of processes that died without a claim or with one.
    """
    path = tmp_path / "s.db"
    names = [f"s{number}" for number in range(60)]
    with SqliteStore(path, synchronous="normal") as store:
        for name in names:
            store.append(name, [started()], expected_seq=0, unfinished=RUNNING)
    with worker(path, "dead", late_s=60) as dead:
        assert ["claimed"] * 30 == [ask(dead, f"claim {name}") for name in names[:30]]
        dead.kill()

    with worker(path, "a") as one, worker(path, "b") as two, worker(path, "c") as three:
        takers = [one, two, three]
        assert ["ClaimedError"] * 2 == [ask(one, "claim fresh") and ask(taker, "claim fresh") for taker in (two, three)]
        for taker in takers:
            order(taker, "take-over")
        taken = [name for taker in takers for name in taker.stdout.readline().split()]

        assert sorted(names) == sorted(taken)
        assert ["", "", ""] == [ask(taker, "take-over") for taker in takers]


def test_what_an_old_process_still_sends_is_refused(tmp_path):
    """
    A process that was taken for dead finds out with its next batch, and every later one; the new one continues.
    """
    path = tmp_path / "s.db"
    with worker(path, "old", late_s=60) as old, worker(path, "new") as new:
        assert ("claimed", "appended", "appended") == tuple(
            ask(old, each) for each in ("claim s", "append s", "append s")
        )
        assert ("claimed", "appended") == tuple(ask(new, each) for each in ("claim s", "append s"))
        assert "awake" == ask(old, "wake")
        assert ["FencedError"] * 3 == [ask(old, "append s") for _ in range(3)]
        assert "ClaimedError" == ask(old, "claim s")
        assert "appended" == ask(new, "append s")
    with SqliteStore(path) as store:
        assert ["old", "old", "new", "new"] == [record.event.text for record in store.read("s")]
