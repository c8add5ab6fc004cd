"""
Running programs of official clients, one of each for the whole session, and mock providers, one for each test.
"""

import sys
from pathlib import Path

import pytest

from assistant_events.testing import mock_provider

from .client import Official, Program

HERE = Path(__file__).parent
INSTALLED = HERE.parents[1] / ".venv" / "clients"


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    """
    A function that returns the program of a client, started once.
    """
    running = {}

    def program_of(name, command, environment=None):
        if name not in running:
            log = tmp_path_factory.mktemp(name) / "stderr.log"
            running[name] = Program(command, log, environment)
        return running[name]

    yield program_of
    for program in running.values():
        program.close()


@pytest.fixture
def google_genai(programs):
    """
    A function that returns google-genai of a version, in one of its modes, for a URL.
    """

    def client_of(version, mode, url):
        name = f"google-genai-{version}"
        folder = INSTALLED / name
        if not (folder / "pins.txt").is_file():
            pytest.skip(f"{name} is not installed; `make clients` does it")
        command = [sys.executable, str(HERE / "google_genai.py")]
        return Official(programs(name, command, {"PYTHONPATH": str(folder)}), url, mode=mode)

    return client_of


@pytest.fixture
def provider():
    """
    A function that starts a mock provider on a port; the test's end ends it.
    """
    running = []

    def start(fixtures, **options):
        running.append(mock_provider(fixtures, **options))
        return running[-1].__enter__()

    yield start
    for each in reversed(running):
        each.__exit__(None, None, None)
