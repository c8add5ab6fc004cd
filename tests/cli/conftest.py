"""The command, run inside the test or as a process of its own."""

import io
import json
import subprocess
import sys

import attrs
import pytest

from assistant_events.cli import main
from tests.cli.streams import SEARCH


@attrs.frozen
class Ran:
    """What came of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def run(capsys, monkeypatch):
    """Runs a command in this process, with bytes or a file-like object on standard input."""

    def run(*arguments, stdin=b""):
        buffer = io.BytesIO(stdin) if isinstance(stdin, bytes) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(buffer)) if stdin else sys.stdin)
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ran(int(code), captured.out, captured.err)

    return run


@pytest.fixture
def process():
    """Runs a command as a process."""

    def process(*arguments, stdin=b""):
        command = [sys.executable, "-m", "assistant_events.cli", *map(str, arguments)]
        ran = subprocess.run(command, input=stdin, capture_output=True, timeout=60, check=False)
        return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())

    return process


@pytest.fixture
def stream(tmp_path):
    """A file that holds `SEARCH`."""
    path = tmp_path / "search.sse"
    path.write_bytes(SEARCH)
    return path


@pytest.fixture
def db(tmp_path):
    """The path of a database that is not there yet."""
    return tmp_path / "chat.db"
