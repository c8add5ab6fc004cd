"""
What a user gets who installs the package: the files of the wheel, its metadata, and a README that works when pasted.
"""

import email.parser
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent

CORE = {"attrs", "cattrs", "typing-extensions"}
EXTRAS = {"all", "cli", "fast", "http", "testing", "web"}
ADAPTERS = "assistant_events.adapters"
ENTRY_POINTS = {
    "console_scripts": {"assistant-events": "assistant_events.cli:main"},
    "assistant_events.adapters": {
        "anthropic-messages": f"{ADAPTERS}.anthropic_messages:dialect",
        "bedrock-converse": f"{ADAPTERS}.bedrock_converse:dialect",
        "gemini-generate-content": f"{ADAPTERS}.gemini_generate_content:dialect",
        "gemini-interactions": f"{ADAPTERS}.gemini_interactions:dialect",
        "openai-chat": f"{ADAPTERS}.openai_chat:dialect",
        "openai-responses": f"{ADAPTERS}.openai_responses:dialect",
    },
    "assistant_events.clients": {
        "anthropic-messages": f"{ADAPTERS}.anthropic_messages.client:AnthropicMessages",
        "bedrock-converse": f"{ADAPTERS}.bedrock_converse.client:BedrockConverse",
        "gemini-generate-content": f"{ADAPTERS}.gemini_generate_content.client:GeminiGenerateContent",
        "gemini-interactions": f"{ADAPTERS}.gemini_interactions.client:GeminiInteractions",
        "openai-chat": f"{ADAPTERS}.openai_chat.client:OpenAIChat",
        "openai-responses": f"{ADAPTERS}.openai_responses.client:OpenAIResponses",
    },
    "assistant_events.mocks": {
        "anthropic-messages": f"{ADAPTERS}.anthropic_messages.mock:mock",
        "bedrock-converse": f"{ADAPTERS}.bedrock_converse.mock:mock",
        "gemini-interactions": f"{ADAPTERS}.gemini_interactions.mock:mock",
        "gemini-generate-content": f"{ADAPTERS}.gemini_generate_content.mock:mock",
        "openai-chat": f"{ADAPTERS}.openai_chat.mock:mock",
        "openai-responses": f"{ADAPTERS}.openai_responses.mock:mock",
    },
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel built from the tree, without a network."""
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert 0 == built.returncode, built.stdout + built.stderr

    [path] = target.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


@pytest.fixture(scope="module")
def metadata(wheel):
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return email.parser.Parser().parsestr(wheel.read(name).decode())


def test_wheel_holds_the_package_and_nothing_else(wheel):
    """
    Only the package and its metadata are in the wheel: no tests, benchmarks or documentation.
    """
    [information] = {name.split("/")[0] for name in wheel.namelist()} - {"assistant_events"}
    python = {name for name in wheel.namelist() if name.endswith(".py")}
    sources = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")}

    assert information.endswith(".dist-info")
    assert sources == python


def test_wheel_is_typed(wheel):
    """
    Type checkers read the annotations of the installed package.
    """
    assert "assistant_events/py.typed" in wheel.namelist()


def test_wheel_has_the_module_for_browsers(wheel):
    """
    The fold in JavaScript is in the package, and its types where TypeScript looks for those of a module `.mjs`.
    """
    assert {"assistant_events/outward/fold.d.mts", "assistant_events/outward/fold.mjs"} <= {*wheel.namelist()}


def test_wheel_carries_the_license(wheel):
    """
    The text of the license travels with the code.
    """
    assert [b"MIT License"] == [
        wheel.read(name).splitlines()[0] for name in wheel.namelist() if name.endswith("licenses/LICENSE")
    ]


def test_core_dependencies(metadata):
    """
    Without extras, three packages are installed and no other.
    """
    core = {
        canonicalize_name(requirement.name)
        for requirement in map(Requirement, metadata.get_all("Requires-Dist", []))
        if requirement.marker is None
    }

    assert CORE == core


def test_extras(metadata):
    """
    The extras have the promised names, and all of them is one of them.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    [everything] = map(Requirement, project["optional-dependencies"]["all"])

    assert EXTRAS == set(metadata.get_all("Provides-Extra", []))
    assert EXTRAS - {"all"} == everything.extras


def test_entry_points(wheel):
    """
    The command and the shipped dialects are found by name.
    """
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/entry_points.txt")]
    found: dict[str, dict[str, str]] = {}
    for line in wheel.read(name).decode().splitlines():
        if line.startswith("["):
            group = found.setdefault(line.strip("[]"), {})
        elif line:
            key, _, value = line.partition(" = ")
            group[key] = value

    assert ENTRY_POINTS == found


def test_pins_are_plain():
    """
    Pinned packages are names with exact versions: no address, hash, option or condition.
    """
    lines = (ROOT / "requirements" / "dev.txt").read_text("utf-8").splitlines()
    odd = [line for line in lines if not re.fullmatch(r"#.*|[A-Za-z0-9._-]+==[A-Za-z0-9.]+", line)]

    assert [] == odd


def test_pins_satisfy_the_requirements():
    """
    The pinned environment has what the package and the extras for development ask for.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = (ROOT / "requirements" / "dev.txt").read_text("utf-8").splitlines()
    pins = {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}
    chosen = ("fast", "http", "web", "cli", "testing")
    wanted = [*project["dependencies"], *(each for name in chosen for each in extras[name])]
    unmet = [
        text
        for text, requirement in zip(wanted, map(Requirement, wanted), strict=True)
        if not requirement.specifier.contains(pins.get(canonicalize_name(requirement.name), "0"))
    ]

    assert [] == unmet


def test_readme_example_works_when_pasted(tmp_path):
    """
    The first Python block of the README runs unchanged, in an empty directory, and warns of nothing.
    """
    readme = (ROOT / "README.md").read_text("utf-8")
    block = re.search(r"^```python\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    assert block is not None, "README.md has no ```python block"

    pasted = tmp_path / "pasted.py"
    pasted.write_text(block[1], "utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "error", pasted.name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert 0 == run.returncode, run.stdout + run.stderr
