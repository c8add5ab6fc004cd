"""
One process of node for all vectors.
"""

import shutil
from pathlib import Path

import pytest

import assistant_events.outward
from tests.official.client import Program

MODULE = Path(assistant_events.outward.__file__).parent / "fold.mjs"


@pytest.fixture(scope="session")
def node(tmp_path_factory):
    """
    The program that folds vectors with the module.
    """
    command = shutil.which("node")
    if command is None:
        pytest.skip("node is not installed")
    program = Program(
        [command, str(Path(__file__).parent / "fold_lines.mjs"), str(MODULE)], tmp_path_factory.mktemp("fold") / "log"
    )
    yield program
    program.close()


@pytest.fixture(scope="session")
def probed(node):
    """
    A function that returns what each of some documents alone makes of a transcript: the outcome and its message.
    """
    return lambda documents, start: node.ask(items=documents, start=start, way="probed")


@pytest.fixture(scope="session")
def counted(node):
    """
    A function that returns how much the module reads, copies and moves to fold documents.
    """
    return lambda documents, start=None: node.ask(items=documents, start=start, way="counted")


@pytest.fixture(scope="session")
def folded(node):
    """
    A function that returns what the module makes of documents: the transcript and the outcomes.
    """

    def folded(documents, start=None):
        found = node.ask(items=documents, start=start)
        assert found["agree"], "fold differs from reduce"
        return found["transcript"], found["outcomes"]

    return folded
