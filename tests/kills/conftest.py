"""
One process of node for the pages of a module.
"""

import pytest

from tests.kills.watching import start_pages


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The process of all pages."""
    program = start_pages(tmp_path_factory.mktemp("pages"))
    yield program
    program.close()
