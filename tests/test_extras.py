"""
The message when an optional package is missing.
"""

import re
import subprocess
import sys
import tomllib
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
    "the routes": ("import assistant_events.web", "starlette", "web"),
    "a mock": ("import assistant_events.adapters.openai_responses.mock", "starlette", "web"),
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


def test_extras_of_the_pages():
    """
    The pages that list the extras name those of the package, with what each brings; no page names another one.
    """
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    brought = {name: [re.split("[^a-z0-9]", one)[0] for one in packages] for name, packages in declared.items()}
    pages = {path: path.read_text() for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))}
    rows = re.findall(r"^\| `(\w+)` \| ([\w, ]+) \|", pages[ROOT / "docs/how-to/install.md"], re.MULTILINE)
    installed = [re.findall(r'pip install "?\.\[([\w,]+)\]', text) for text in pages.values()]
    needed = [re.findall(r"(?:extras? |needs? )`(\w+)`", text) for text in pages.values()]

    assert {**brought, "all": ["all"]} == {name: listed.split(" of")[0].split(", ") for name, listed in rows}
    assert set(declared) - {"all"} <= set(re.findall(r'pip install "\.\[(\w+)\]"', pages[ROOT / "README.md"]))
    assert set(declared) >= {name for found in installed for names in found for name in names.split(",")}
    assert {*declared, "attrs"} >= {name for found in needed for name in found}
