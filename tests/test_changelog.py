"""The changelog names only what is there: every word in code is a name of the public interface, or a command."""

import re
import tomllib
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import assistant_events
from assistant_events.adapters import dialect_names

ROOT = Path(__file__).parent.parent
CODE = re.compile(r"`([^`\n]+)`")


@pytest.fixture(scope="module")
def names() -> set[str]:
    """Everything that a code span of the changelog may name."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    known = {"None", "+", "details", *extras, *dialect_names(), *(f"make {name}" for name in targets)}
    modules = [info.name for info in walk_packages(assistant_events.__path__, "assistant_events.")]
    for module in map(import_module, ["assistant_events", *modules]):
        offered = {name: getattr(module, name) for name in getattr(module, "__all__", ())}
        known |= {module.__name__, *offered}
        for cls in offered.values():
            if isinstance(cls, type):
                known |= {f"{cls.__name__}.{member}" for member in dir(cls) if not member.startswith("_")}
    known |= {f"assistant-events {name}" for name in import_module("assistant_events.cli.commands")._COMMANDS}
    return known


class TestChangelog:
    def test_names_are_there(self, names: set[str]) -> None:
        """
        Every word in code of what is unreleased exists: what is renamed or removed is renamed or removed there, too.
        """
        unreleased = (ROOT / "CHANGELOG.md").read_text().partition("## [Unreleased]")[2].partition("\n## [")[0]
        found = CODE.findall(unreleased)

        assert len(found) > 50
        assert [] == [name for name in found if name not in names]

    @pytest.mark.parametrize("name", ["left_out", "Session.listen", "assistant-events jump", "make coffee", "server"])
    def test_notices_others(self, names: set[str], name: str) -> None:
        """
        A name that nothing has is not taken for one of ours.
        """
        assert name not in names
