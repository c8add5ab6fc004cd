"""
Makes `.venv` in the current directory and installs the pinned packages of requirements/dev.txt into it.

Standard library only, because it runs before anything is installed. One line reports what it does, one what failed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import venv
from pathlib import Path

VENV = Path(".venv")
PINS = Path("requirements/dev.txt")
LOG = VENV / "pip.log"


def main() -> int:
    """
    Make the environment and return the exit code.
    """
    pins = [line for line in PINS.read_text(encoding="utf-8").splitlines() if "==" in line]
    version = ".".join(map(str, sys.version_info[:3]))
    say(f"making {VENV} with Python {version} and {len(pins)} pinned packages (about a minute, once)")
    began = time.monotonic()
    try:
        venv.create(VENV, clear=True, with_pip=True)
    except (OSError, subprocess.CalledProcessError) as exc:
        say(f"this Python cannot make a virtual environment: {exc}; name another one with PYTHON=/path/to/python")
        return 1
    if install(len(pins)) != 0:
        say(f"pip could not install {PINS}; the end of {LOG} says why:")
        print("\n".join(LOG.read_text(encoding="utf-8").splitlines()[-8:]), file=sys.stderr)
        return 1
    say(f"{VENV} is ready ({time.monotonic() - began:.0f} s)")
    return 0


def install(total: int) -> int:
    """
    Run pip, keep what it prints in the log, count the packages on a terminal, and return its exit code.
    """
    python = str(VENV / "bin" / "python")
    command = [python, "-m", "pip", "install", "--no-input", "--progress-bar", "off", "-r", str(PINS)]
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    counted = 0
    with (
        LOG.open("w", encoding="utf-8") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment) as pip,
    ):
        assert pip.stdout is not None
        try:
            for line in pip.stdout:
                log.write(line)
                if line.startswith("Collecting "):
                    counted += 1
                    progress(f"fetching {counted} of {total}")
                elif line.startswith("Installing "):
                    progress(f"unpacking {total} packages")
        finally:
            progress("")
    return pip.returncode


def say(text: str) -> None:
    """
    Print *text* beside what make prints.
    """
    print(f"setup: {text}", file=sys.stderr, flush=True)


def progress(text: str) -> None:
    """
    Show *text* in place of the last one, on a terminal only.
    """
    if sys.stderr.isatty():
        print(f"\r\033[K{'setup: ' + text if text else ''}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        say("interrupted; the next make starts over")
        sys.exit(130)
