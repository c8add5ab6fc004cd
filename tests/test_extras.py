"""
The message when an optional package is missing.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from assistant_events import extras
from assistant_events.extras import missing_extras, require

ROOT = Path(__file__).parent.parent
HINT = "in a clone of assistant-events"


@pytest.fixture
def absent(monkeypatch):
    """Names of packages that are not installed, for the code under test."""
    names = set()
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name in names else object())
    return names


def test_nothing_is_missing(absent):
    """
    The message is empty when every package is there.
    """
    require("it", {"http": ("httpx2",)})

    assert missing_extras("it", {"http": ("httpx2",)}) is None


def test_names_packages_and_extras(absent):
    """
    The sentence names what is missing and a command that works for a package that is not published.
    """
    absent |= {"uvicorn", "httpx2"}

    assert f"it needs uvicorn and httpx2: pip install '.[http,web]' {HINT}" == missing_extras(
        "it", {"web": ("starlette", "uvicorn"), "http": ("httpx2",), "cli": ("rich",)}
    )
    with pytest.raises(ModuleNotFoundError, match="it needs httpx2: pip install"):
        require("it", {"http": ("httpx2",)})


CLIENT = "from assistant_events.adapters.gemini_interactions.client import GeminiInteractions; GeminiInteractions('k')"
PROGRAMS = {
    "a client": (CLIENT, "httpx2", "http"),
    "the retries of a client": (CLIENT, "stamina", "http"),
    "strategies": ("import assistant_events.testing.strategies", "hypothesis", "testing"),
}


@pytest.mark.parametrize(("statement", "package", "extra"), PROGRAMS.values(), ids=PROGRAMS)
def test_what_needs_an_extra(statement, package, extra):
    """
    Without its extra, making a client or importing a module raises an error with the command that installs it.
    """
    program = f"import sys; sys.modules[{package!r}] = None\ntry: {statement}\nexcept ImportError as e: print(e)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)

    assert ran.stdout.endswith(f" needs {package}: pip install '.[{extra}]' {HINT}\n")


def test_no_hint_names_an_index():
    """
    Nothing advises to install from an index what is not published there.
    """
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]

    assert [] == [path.name for path in files if "install 'assistant-events[" in path.read_text()]
