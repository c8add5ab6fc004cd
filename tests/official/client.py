"""
Official clients as tests use them: a program beside the tests that calls one, asked line by line.
"""

import json
import os
import subprocess
import threading
from pathlib import Path

PYTHON = [("google_genai", version, mode) for version in ("2.19", "2.34", "3.4") for mode in ("sync", "async")]
JAVASCRIPT = [("javascript", "genai.mjs", package) for package in ("genai-2", "@google/genai")]
"""Drivers of the clients of generations 2.x and 3.x: the fixture, then what it takes before the URL."""

SECONDS = 60
"""How long one call may take; far more than any does."""


class OfficialError(Exception):
    """
    What an official client raised.

    Its fields are those of the program: `classes` from the class of the exception to `object`, `message`, and
    the fields of the client's error.
    """

    def __init__(self, found):
        super().__init__(found["message"])
        self.__dict__.update(found)


class Program:
    """
    A running program that answers each line of JSON with one.

    Its first line has the version of the client.
    """

    def __init__(self, command, log, environment=None):
        self.log = Path(log)
        with self.log.open("wb") as errors:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, **(environment or {})},
                text=True,
                encoding="utf-8",
            )
        self.version = self._line()["version"]

    def ask(self, **request):
        """Return what came of a call, or raise `OfficialError`."""
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        reply = self._line()
        if "raised" in reply:
            raise OfficialError(reply["raised"])
        return reply["result"]

    @property
    def ended(self):
        """Whether the program has ended."""
        return self.process.poll() is not None

    def close(self):
        """End the program; it holds nothing that would have to be put away."""
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def _line(self):
        # A program that hangs is killed; what it was asked for is then the failure.
        timer = threading.Timer(SECONDS, self.process.kill)
        timer.start()
        try:
            line = self.process.stdout.readline()
        finally:
            timer.cancel()
        assert line, f"the program of the client ended: {self.log.read_text(encoding='utf-8')[-2000:]}"
        return json.loads(line)


class Official:
    """A client of one version and mode, pointed to one server."""

    def __init__(self, program, url, **how):
        self.program = program
        self.version = program.version
        self._how = {"url": url, **how}

    def __getattr__(self, call):
        """Return a function that makes *call* in the program."""
        return lambda **arguments: self.program.ask(**self._how, call=call, **arguments)
