"""
Running programs of official clients, one of each for the whole session, and mock providers, one for each test.
"""

import shutil
import sys
from functools import partial
from pathlib import Path

import pytest

from assistant_events.testing import mock_provider
from tests.official.client import Official, Program

HERE = Path(__file__).parent
INSTALLED = HERE.parents[1] / ".venv" / "clients"


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    """
    A function that returns the program of a client, started once, and again if it has ended.
    """
    running = {}

    def program_of(name, command, environment=None):
        if name not in running or running[name].ended:
            log = tmp_path_factory.mktemp(name) / "stderr.log"
            running[name] = Program(command, log, environment)
        return running[name]

    yield program_of
    for program in running.values():
        program.close()


@pytest.fixture
def python_client(programs):
    """
    A function that returns the client of a package of a version, in one of its modes, for a URL; *script* calls it.
    """

    def client_of(script, package, version, mode, url):
        name = f"{package}-{version}"
        folder = INSTALLED / name
        if not (folder / "pins.txt").is_file():
            pytest.skip(f"{name} is not installed; `make clients` does it")
        command = [sys.executable, str(HERE / script)]
        program = programs(f"{Path(script).stem}-{version}", command, {"PYTHONPATH": str(folder)})
        return Official(program, url, mode=mode)

    return client_of


@pytest.fixture
def google_genai(python_client):
    """
    A function that returns google-genai of a version, in one of its modes, for a URL.
    """
    return partial(python_client, "google_genai.py", "google-genai")


@pytest.fixture
def generate_content(python_client):
    """
    The same for generate_content.
    """
    return partial(python_client, "generate_content.py", "google-genai")


@pytest.fixture
def anthropic(python_client):
    """
    A function that returns anthropic of a version, in one of its modes, for a URL.
    """
    return partial(python_client, "anthropic_messages.py", "anthropic")


@pytest.fixture
def openai(python_client):
    """
    A function that returns openai of a version, in one of its modes, for a URL.
    """
    return partial(python_client, "openai_responses.py", "openai")


@pytest.fixture
def openai_chat(python_client):
    """
    The same for Chat Completions.
    """
    return partial(python_client, "openai_chat.py", "openai")


@pytest.fixture
def boto3(python_client):
    """
    A function that returns boto3 of a version, for a URL.
    """
    return lambda version, url: python_client("bedrock_converse.py", "boto3", version, "sync", url)


@pytest.fixture
def javascript(programs):
    """
    A function that returns the client of a script and a package, for a URL.
    """

    def client_of(script, *arguments):
        *package, url = arguments
        node = shutil.which("node")
        if node is None:
            pytest.skip("node is not installed")
        if not (HERE / "javascript" / "node_modules" / "installed-lock.json").is_file():
            pytest.skip("the JavaScript clients are not installed; `make test-clients` does it")
        name = "-".join([script, *package]).replace("/", "-")
        return Official(programs(name, [node, str(HERE / "javascript" / script), *package]), url)

    return client_of


@pytest.fixture(scope="session")
def providers():
    """
    Running mock providers by their options.
    """
    running = {}
    yield running
    for each in running.values():
        each.__exit__(None, None, None)


@pytest.fixture
def provider(providers):
    """
    A function that returns a mock provider that has nothing but the fixtures it is given.

    The servers live as long as the session, because a client that has got to know one answers faster.
    """

    def start(fixtures, **options):
        key = tuple(options.items())
        if key not in providers:
            providers[key] = mock_provider(**options)
            providers[key].__enter__()
        providers[key].reset()
        providers[key].add(fixtures)
        return providers[key]

    return start
