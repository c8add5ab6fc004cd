"""The command as a process: killed, cut off from its reader, and fed slowly."""

import os
import subprocess
import sys
import time
import tracemalloc
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from assistant_events.cli import main
from assistant_events.stores import SqliteStore
from tests.children import Child
from tests.cli.streams import HELLO, SEARCH, created, sse, text

COMMAND = [sys.executable, "-m", "assistant_events.cli"]


def test_process(process, stream):
    """
    The command works as a process, with its code, output and notes.
    """
    ran = process("fold", stream, "--json")
    wrong = process("fold", "missing")

    assert (0, "m1") == (ran.code, ran.json["messages"][0]["id"])
    assert (2, "", "assistant-events: missing: no such file\n") == (wrong.code, wrong.out, wrong.err)


def test_killed_while_folding(process, run, db, tmp_path):
    """
    What was stored before a SIGKILL is there, and the whole file afterwards gives the uncut transcript.
    """
    for at in (300, 900, len(SEARCH) - 500):
        db = tmp_path / f"{at}.db"
        with Child([*COMMAND, "fold", "-", "--db", db], stdin=subprocess.PIPE) as child:
            child.stdin.write(SEARCH[:at])
            child.stdin.flush()
            _wait_until(lambda: db.exists() and db.stat().st_size and _seq(db) >= 1)  # noqa: B023
            child.kill()
            assert -9 == child.wait()
        left = run("show", "main", "--db", db, "--json").json["messages"]
        joined = run("fold", "-", "--db", db, "--json", stdin=SEARCH).json["messages"]

        assert "running" == left[0]["status"]
        assert _plain(run("fold", "-", "--json", stdin=SEARCH).json["messages"]) == _plain(joined)
        assert 0 == run("verify", "--db", db).code


def test_the_reader_of_a_pipe_goes(tmp_path):
    """
    When `head` has seen enough, the command ends without a word.
    """
    path = tmp_path / "long.sse"
    path.write_bytes(sse(created(), *text(0, *["many words "] * 30_000)))
    with Child([*COMMAND, "events", path]) as child:
        first = child.stdout.readline()
        child.stdout.close()
        said = child.stderr.read()
        code = child.wait()

    assert first.startswith(b'{"type":"step.started"')
    assert (141, b"") == (code, said)


@pytest.mark.parametrize("arguments", [[], ["--help"], ["fold", "--help"]], ids=" ".join)
def test_the_reader_of_the_help_goes(arguments):
    """
    The help is printed by another library, and ends in the same way.
    """
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run([*COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE, check=False, timeout=60)
    os.close(writing)

    assert (141, b"") == (ran.returncode, ran.stderr)


def test_events_come_as_they_are_read(run):
    """
    A stream that is still being written is decoded as it comes.
    """
    with Child([*COMMAND, "verify", "-"], stdin=subprocess.PIPE) as child:
        for at in range(0, len(HELLO), 100):
            child.stdin.write(HELLO[at : at + 100])
            child.stdin.flush()
        ended = child.ended()

    assert (0, "no problems\n", "") == ended


@pytest.mark.parametrize("command", ["events", "verify", "fold"])
def test_memory_stays_flat(run, tmp_path, command):
    """
    A stream of 3 MB takes hardly more memory than a short one: little more than the text that is shown in the end.
    """
    peaks = []
    for count in (1_000, 25_000):
        path = tmp_path / f"{count}.sse"
        path.write_bytes(sse(created(), *text(0, *["ten of them"] * count)))
        run("verify", path)
        tracemalloc.start()
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
            main([command, str(path)])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    assert peaks[1] - peaks[0] < 2_500_000


def test_nothing_is_imported_that_is_not_needed():
    """
    The version comes without the packages of the extra, and a command that sends no request without the client.
    """
    code = (
        "import sys; from assistant_events.cli import main; main(['--version']); "
        "print([name for name in ('cyclopts', 'rich', 'sqlite3', 'cattrs') if name in sys.modules]); "
        "main(['fold', '-', '--check']); "
        "print([name for name in ('rich', 'assistant_events.clients', 'assistant_events.mock') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60, input=HELLO)
    lines = ran.stdout.splitlines()

    assert [b"0.1.0", b"[]"] == lines[:2]
    assert b"[]" == lines[-1]


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_stream_that_the_shell_has_closed(monkeypatch, closed):
    """
    Where a stream is closed (`>&-`), what would be written there is dropped, and nothing breaks.
    """
    monkeypatch.setattr(sys, closed, None)
    code = main(["mock", "--list-faults"])
    with getattr(sys, closed) as nowhere:
        assert (0, os.devnull) == (code, nowhere.name)


def _seq(db):
    with SqliteStore(db) as store:
        return store.seq("main")


def _wait_until(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _plain(messages):
    for item in [*messages, *[part for message in messages for part in message["parts"]]]:
        item.pop("times", None)
    return messages
