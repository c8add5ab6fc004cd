"""
Processes that tests start. Each ends with its block, whatever happens there.
"""

import os
import signal
import subprocess
from contextlib import suppress

SECONDS = 60
"""How long the end of a child may take; far more than any does."""


class Child(subprocess.Popen):
    """
    A process with its own process group and with pipes for its output, to be used in a `with` statement.

    `Popen` waits at the end of its block, for ever if the test failed before it ended the process. A child that still
    runs there is killed, with the processes that it started.
    """

    def __init__(self, command, **options):
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        super().__init__([*map(str, command)], start_new_session=True, **{**pipes, **options})
        self._read = b""

    def until(self, text):
        """Read standard output until it contains *text*."""
        while text not in self._read:
            piece = os.read(self.stdout.fileno(), 1024)
            assert piece, (self._read, self.stderr.read())
            self._read += piece
        return self

    def ended(self, sent=None):
        """Send a signal, wait for the end, and return exit code, standard output and standard error."""
        if sent is not None:
            self.send_signal(sent)
        rest, errors = self.communicate(timeout=SECONDS)
        return self.returncode, (self._read + rest).decode(), errors.decode()

    def __exit__(self, *raised):
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        super().__exit__(*raised)
