"""What a person sees: a terminal is behind standard output, or behind all three."""

import fcntl
import io
import os
import pty
import re
import signal
import struct
import sys
import termios
import time

import pytest

from assistant_events.cli import main
from assistant_events.stores import SqliteStore
from assistant_events.testing import answer, durable
from tests.cli.streams import HELLO, SEARCH, created, sse, text

NAME = "a session with a name that is long " * 3
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal(io.StringIO):
    """Standard output or error that poses as a terminal."""

    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture
def screen(monkeypatch):
    """Runs a command with a terminal as standard output and returns the code and what was printed."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("NO_COLOR", raising=False)

    def screen(*arguments, stdin=b""):
        out = Terminal()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        monkeypatch.setattr(sys, "stdout", out)
        code = main([str(argument) for argument in arguments])
        return code, out.getvalue()

    return screen


def test_transcript_has_colours(screen):
    """
    On a terminal the transcript has colours, and long text is folded under itself.
    """
    code, shown = screen("fold", "-", stdin=sse(created(), *text(0, "word " * 30)))
    lines = [line.rstrip() for line in ESCAPE.sub("", shown).splitlines()]

    assert 0 == code
    assert "\x1b[" in shown
    assert "\x1b[1;31mm1  assistant" in shown
    assert "\x1b[31minterrupted: " in shown
    assert "m1  assistant · google gemini-3.6-flash · failed" == lines[0]
    assert lines[1].startswith("  text      word word")
    assert all(line.startswith("            word") for line in lines[2:4])
    assert all(len(line) <= 60 for line in lines)


def test_messages_are_apart(screen, db):
    """
    An empty line separates two messages.
    """
    screen("fold", "-", "--db", db, stdin=SEARCH)
    _, shown = screen("fold", "-", "--db", db, stdin=HELLO)

    assert "\n\nm2  assistant" in ESCAPE.sub("", shown)


def test_markup_is_text(screen):
    """
    What looks like markup of rich, or like an escape code, is printed as it is written.
    """
    _, shown = screen("fold", "-", stdin=sse(created(), *text(0, "[bold red]not[/] \x1b[2J me")))

    assert "[bold red]not[/] \\x1b[2J me" in ESCAPE.sub("", shown)
    assert "\x1b[2J" not in shown


def test_table(screen, db):
    """
    A table is not wider than the terminal: its lines are folded, nothing of them is left out. The titles are bold.
    """
    with SqliteStore(db) as store:
        store.append(NAME, durable(answer("Hi")))
    _, shown = screen("sessions", "--db", db)

    plain = ESCAPE.sub("", shown)

    assert all(len(line) <= 60 for line in plain.splitlines())
    assert ["awaits", *NAME.split(), "4"] == plain.split()[6:32]
    assert "\x1b[1m" in shown.partition("awaits")[0]
    assert "\x1b[1m" not in shown.partition("awaits")[2]


def test_ctrl_c_in_a_real_terminal(db):
    """
    Ctrl-C while a stream comes in closes the message, ends with 130, and leaves one line.
    """
    command = [sys.executable, "-m", "assistant_events.cli", "fold", "-", "--db", str(db)]
    read, write = os.pipe()
    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover - another process
        os.dup2(read, 0)
        os.execv(sys.executable, command)
    try:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
        os.close(read)
        os.write(write, HELLO[:420])
        _wait_for_records(db, 2)
        os.write(terminal, b"\x03")
        shown = _read_all(terminal)
        os.close(write)
    finally:
        os.kill(pid, signal.SIGKILL)  # changes nothing about a process that has ended
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    assert 130 == code
    assert "assistant-events: stopped" in shown
    assert "Traceback" not in shown
    with SqliteStore(db) as store:
        assert {} == store.unfinished()


def _wait_for_records(db, count):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if db.exists() and db.stat().st_size:
            with SqliteStore(db) as store:
                if store.seq("main") >= count:
                    return
        time.sleep(0.02)
    pytest.fail("nothing was stored")


def _read_all(terminal):
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            return shown.decode()
        if not piece:
            return shown.decode()
        shown += piece
