"""
The programs of the JavaScript clients.
"""

import shutil
from pathlib import Path

import pytest

from tests.official.client import Official

HERE = Path(__file__).parent


@pytest.fixture
def javascript(programs):
    """
    A function that returns the client of a script for a URL.
    """

    def client_of(url, script, *arguments):
        node = shutil.which("node")
        if node is None:
            pytest.skip("node is not installed")
        if not (HERE / "node_modules" / "installed-lock.json").is_file():
            pytest.skip("the JavaScript clients are not installed; `make test-clients` does it")
        name = "-".join([script, *arguments]).replace("/", "-")
        return Official(programs(name, [node, str(HERE / script), *arguments]), url)

    return client_of
