"""
The layers of the package, checked on the syntax trees of its modules: nothing here imports what it checks.

`violations` names every import, call and reference that the rules forbid; the tables below are the rules.
A module may be a file or a package, and a row whose module does not exist yet does no harm.
"""

import ast
import sys
from collections.abc import Callable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import attrs
import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "assistant_events"
ROOT = "assistant_events"

# The layers of the design. Inside one of them a module may still build on another: values raise errors, and the command
# line offers everything. `client` and `mock` of a dialect speak HTTP, so they are above the rest of its folder.
LAYERS = {
    "errors": -1,
    "extras": -1,
    "values": 0,
    "events": 1,
    "upcasting": 1,
    "messages": 2,
    "lifecycle": 2,
    "event_lists": 2,
    "recorder": 3,
    "reducer": 3,
    "history": 3,
    "converters": 3,
    "adapters": 4,
    "stores": 4,
    "outward": 4,
    "live": 5,
    "session": 6,
    "clients": 6,
    "adapters.client": 7,
    "mock": 7,
    "web": 7,
    "adapters.mock": 8,
    "testing": 9,
    "cli": 10,
    "__main__": 11,
}

# Modules inside a package that never see each other. What they share lies beside them, and does not see them either.
SIBLINGS = {
    "adapters": {
        "anthropic_messages",
        "bedrock_converse",
        "gemini_generate_content",
        "gemini_interactions",
        "openai_chat",
        "openai_responses",
    },
    "stores": {"memory", "sqlite"},
}

# The package root offers layers 0 to 3, without the module that imports cattrs.
OFFERED_BY_ROOT = {unit for unit, layer in LAYERS.items() if layer <= 3} - {"converters"}

# Bytes, time and ids are passed in.
WITHOUT_IO = {unit for unit, layer in LAYERS.items() if layer <= 3} | {"adapters", "outward", ROOT}

# And inside of the packages that do all that, where nothing but decisions belongs.
MODULES_WITHOUT_IO = {"clients.recovery"}

IO_MODULES = {
    "_thread",
    "asyncio",
    "concurrent",
    "dbm",
    "fcntl",
    "fileinput",
    "ftplib",
    "getpass",
    "glob",
    "http",
    "imaplib",
    "mmap",
    "multiprocessing",
    "os",
    "pathlib",
    "poplib",
    "queue",
    "random",
    "sched",
    "secrets",
    "select",
    "selectors",
    "shelve",
    "shutil",
    "signal",
    "smtplib",
    "socket",
    "socketserver",
    "sqlite3",
    "ssl",
    "subprocess",
    "tempfile",
    "threading",
    "time",
    "urllib.request",
    "uuid",
    "webbrowser",
    "xmlrpc",
}
IO_CALLS = {"__import__", "breakpoint", "input", "open", "print"}
CLOCK_NAMES = {"now", "today", "utcnow"}

# Which unit may import which core dependency; None means all of them.
CORE = {"attr": None, "attrs": None, "typing_extensions": None, "cattrs": {"converters", "mock"}}

# Where an optional dependency may be imported at the top of a module, because every importer of the module needs it.
# Elsewhere it is imported inside a function, or under a guard for its absence.
OPTIONAL = {
    "cyclopts": {"cli"},
    # The transport for tests is a class of httpx2; who imports it has a client of httpx2 to give it to.
    # So is what the recording proxy asks with; it is imported where a command records.
    "httpx2": {"clients.http", "mock.proxy", "testing.transport"},
    "hypothesis": {"testing.strategies"},
    "msgspec": set(),
    "rich": {"cli"},
    "stamina": set(),
    "starlette": {"adapters.mock", "mock", "web"},
    "uvicorn": {"mock"},
}
OPTIONAL_WITHOUT_IO = {"msgspec"}


@attrs.frozen
class Import:
    """One imported module, as an absolute name."""

    target: str
    line: int
    lazy: bool
    """Inside a function, or guarded by `try … except ImportError` or `if TYPE_CHECKING`."""


@attrs.frozen
class Module:
    """One source file of the package."""

    name: str
    """Dotted, without the package itself: `adapters.gemini_interactions.decoder`, and nothing for the package root."""

    is_package: bool
    path: Path
    tree: ast.Module

    @property
    def unit(self) -> str:
        """The row of the layer table that the file belongs to."""
        return unit_of(self.name)

    @property
    def without_io(self) -> bool:
        """Whether bytes, time and ids are passed in to it."""
        return self.unit in WITHOUT_IO or self.name in MODULES_WITHOUT_IO


def unit_of(name: str) -> str:
    """
    Return the row of the layer table for a dotted name without the package itself.
    """
    package, *inner = name.split(".")
    if package == "adapters" and len(inner) > 1 and f"{package}.{inner[1]}" in LAYERS:
        return f"{package}.{inner[1]}"
    return package or ROOT


@cache
def modules(package: Path) -> list[Module]:
    """
    Read every source file below *package*.
    """
    found = []
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        found.append(Module(name, is_package, path, ast.parse(path.read_text("utf-8"), str(path))))
    return found


def violations(package: Path) -> list[str]:
    """
    Return a line for everything below *package* that the rules forbid.
    """
    found = modules(package)
    names = {f"{ROOT}.{module.name}" for module in found}
    lines = []
    for module in found:
        imports = list(imports_of(module, names))
        for line, text in sorted(
            {
                *placement(module),
                *internal(module, imports),
                *external(module, imports),
                *optional_homes(module, imports),
                *guarded_init(module),
                *effects(module),
                *environment(module),
            }
        ):
            lines.append(f"{module.path.relative_to(package.parent).as_posix()}:{line}: {text}")
    return lines + circle(found, names)


def circle(found: list[Module], names: set[str]) -> list[str]:
    """
    Return a line for a circle of imports; those under `TYPE_CHECKING` and inside functions count.
    """
    graph: dict[str, set[str]] = {}
    for module in found:
        name = f"{ROOT}.{module.name}".rstrip(".")
        graph[name] = ({entry.target for entry in imports_of(module, names)} & names) - {name}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [f"modules import each other: {', '.join(sorted(set(error.args[1])))}"]
    return []


def imports_of(module: Module, names: set[str]) -> Iterator[Import]:
    """
    Yield what *module* imports; `from package import name` is the submodule *name* when there is one.
    """
    for node, lazy in walk(module.tree, is_guard):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, lazy)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(module, node)
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                is_module = inner in names or (base == ROOT and alias.name in LAYERS)
                yield Import(inner if is_module else base, node.lineno, lazy)


def absolute(module: Module, node: ast.ImportFrom) -> str:
    if node.level == 0:
        return node.module or ""
    path = [ROOT, *filter(None, module.name.split("."))]
    path = path[: len(path) - node.level + module.is_package]
    return ".".join([*path, *filter(None, [node.module])])


def walk(tree: ast.AST, is_lazy: Callable[[ast.AST], bool], inside: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """
    Yield every node below *tree*, and whether it is in a body for which *is_lazy* holds.
    """
    for field, value in ast.iter_fields(tree):
        lazy = inside or (field == "body" and is_lazy(tree))
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST):
                yield node, lazy
                yield from walk(node, is_lazy, lazy)


def is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def is_guard(node: ast.AST) -> bool:
    if isinstance(node, ast.Try):
        caught = {ast.unparse(name) for handler in node.handlers if handler.type for name in ast.walk(handler.type)}
        return bool(caught & {"ImportError", "ModuleNotFoundError"})
    if isinstance(node, ast.If):
        return ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}
    return is_function(node)


def placement(module: Module) -> Iterator[tuple[int, str]]:
    if module.unit not in LAYERS and module.unit != ROOT:
        yield 1, f"{module.unit} has no layer; give it a row in tests/test_layers.py"


def internal(module: Module, imports: list[Import]) -> Iterator[tuple[int, str]]:
    """
    An import points to a lower layer or stays inside its own package; siblings never see each other.
    """
    for target, line in ((entry.target, entry.line) for entry in imports):
        if target.split(".")[0] != ROOT:
            continue
        package, *inner = target.split(".")[1:] or [ROOT]
        if package == module.name.split(".")[0]:
            yield from sideways(module, inner, line)
        unit = unit_of(".".join([package, *inner]))
        if unit != module.unit or unit == ROOT:
            yield from downwards(module, unit, line)


def downwards(module: Module, unit: str, line: int) -> Iterator[tuple[int, str]]:
    if unit == ROOT:
        yield line, "imports the package root"
    elif unit not in LAYERS:
        yield line, f"imports {unit}, which has no layer"
    elif unit == "testing":
        yield line, "imports testing"
    elif module.unit == ROOT:
        if unit not in OFFERED_BY_ROOT:
            yield line, f"the package root imports {unit}"
    elif LAYERS[unit] >= LAYERS.get(module.unit, -1):
        yield line, f"{module.unit} imports {unit}, which is not in a lower layer"


def sideways(module: Module, inner: list[str], line: int) -> Iterator[tuple[int, str]]:
    package = module.name.split(".")[0]
    siblings = SIBLINGS.get(package, set())
    target = inner[0] if inner else ""
    own = ".".join(module.name.split(".")[1:2])
    if target not in siblings or target == own:
        return
    if own in siblings:
        yield line, f"{package}.{own} imports its sibling {target}"
    elif package == "adapters":
        yield line, f"adapters imports the dialect {target}, which an entry point names"


def external(module: Module, imports: list[Import]) -> Iterator[tuple[int, str]]:
    """
    Nothing is imported but the standard library and the dependencies, and no I/O where there is to be none.
    """
    for entry in imports:
        root = entry.target.split(".")[0]
        if root in sys.stdlib_module_names:
            if module.without_io and {root, entry.target} & IO_MODULES:
                yield entry.line, f"{module.unit} does no I/O and imports {entry.target}"
        elif root in CORE:
            allowed = CORE[root]
            if allowed is not None and module.unit not in allowed:
                yield entry.line, f"{module.unit} imports {root}, which only {', '.join(sorted(allowed))} knows"
        elif root in OPTIONAL:
            if module.without_io and root not in OPTIONAL_WITHOUT_IO:
                yield entry.line, f"{module.unit} does no I/O and imports {root}"
            elif not entry.lazy and not at_home(module, OPTIONAL[root]):
                yield entry.line, f"{root} is optional; import it where it is used"
        elif root != ROOT:
            yield entry.line, f"imports {root}, which is no dependency"


def optional_homes(module: Module, imports: list[Import]) -> Iterator[tuple[int, str]]:
    """
    A module that needs an optional dependency is itself imported where it is used.
    """
    homes = set().union(*OPTIONAL.values())
    for entry in imports:
        target = entry.target.removeprefix(f"{ROOT}.")
        if not entry.lazy and within(target, homes) and not at_home(module, homes):
            yield entry.line, f"{target} needs an optional dependency; import it where it is used"


def guarded_init(module: Module) -> Iterator[tuple[int, str]]:
    if module.is_package:
        for node in module.tree.body:
            if isinstance(node, ast.Try):
                yield node.lineno, "an __init__ lists names and tries nothing"


def effects(module: Module) -> Iterator[tuple[int, str]]:
    """
    Layers without I/O open no file and read no clock.
    """
    if not module.without_io:
        return
    clocks = {
        alias.asname or alias.name
        for node in ast.walk(module.tree)
        if (isinstance(node, ast.Import) and any(alias.name == "datetime" for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module == "datetime")
        for alias in node.names
    }
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IO_CALLS:
            yield node.lineno, f"{module.unit} does no I/O and calls {node.func.id}"
        elif (
            isinstance(node, ast.Attribute)
            and node.attr in CLOCK_NAMES
            and ast.unparse(node.value).split(".")[0] in clocks
        ):
            yield node.lineno, f"{module.unit} does no I/O and reads a clock: {ast.unparse(node)}"


def environment(module: Module) -> Iterator[tuple[int, str]]:
    """
    No module reads the environment while it is imported.
    """
    for node, lazy in walk(module.tree, is_function):
        if not lazy and isinstance(node, ast.Attribute | ast.Name):
            text = ast.unparse(node)
            if text in {"os.environ", "os.environb", "os.getenv", "environ", "getenv"}:
                yield node.lineno, f"reads {text} at import"


def within(name: str, homes: set[str]) -> bool:
    return any(name == home or name.startswith(f"{home}.") for home in homes)


def at_home(module: Module, homes: set[str]) -> bool:
    return module.unit in homes or within(module.name, homes)


def plant(root: Path, files: dict[str, str]) -> Path:
    """
    Write *files* as a package of our name below *root* and return its folder.
    """
    package = root / ROOT
    for name, text in {"__init__.py": "", **files}.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return package


def test_the_package_keeps_its_layers():
    """
    No module of the package breaks a rule.
    """
    assert [] == violations(PACKAGE)


def test_the_package_is_read():
    """
    The check sees the modules that exist, so that an empty answer means something.
    """
    assert {"errors", "values"} <= {module.unit for module in modules(PACKAGE)}


def test_files_and_classes_can_be_read():
    """
    No file has more than 600 lines, and no class many more than a dozen private attributes.
    """
    found = modules(PACKAGE)
    long = [module.name for module in found if len(module.path.read_text("utf-8").splitlines()) > 600]
    crowded = [
        node.name
        for module in found
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef) and len(private_attributes(node)) > 14
    ]

    assert ([], []) == (long, crowded)


@pytest.mark.parametrize(
    "name",
    ["anthropic_messages", "bedrock_converse", "gemini_generate_content", "openai_chat", "openai_responses"],
)
def test_a_dialect_is_small(name):
    """
    What a dialect has beside its client and its mock fits on 900 lines; what two need is in the base.
    """
    files = [path for path in (PACKAGE / "adapters" / name).glob("*.py") if path.name != "client.py"]

    assert len(files) > 5
    assert sum(len(path.read_text("utf-8").splitlines()) for path in files) <= 900


def private_attributes(node: ast.ClassDef) -> set[str]:
    return {
        target.attr
        for target in ast.walk(node)
        if isinstance(target, ast.Attribute)
        and isinstance(target.ctx, ast.Store)
        and ast.unparse(target.value) == "self"
        and target.attr.startswith("_")
    }


BACK = {
    "plain": "from .a import x\n",
    "in a function": "def f():\n    from assistant_events.values import a\n",
    "for types": "if TYPE_CHECKING:\n    from . import a\n",
}


@pytest.mark.parametrize("back", BACK.values(), ids=BACK)
def test_a_planted_circle(tmp_path, back):
    """
    Two modules of a package that import each other are reported, also where the import is lazy.
    """
    package = plant(tmp_path, {"values/__init__.py": "", "values/a.py": "from .b import y\n", "values/b.py": back})

    assert [f"modules import each other: {ROOT}.values.a, {ROOT}.values.b"] == violations(package)


LEGAL = {
    "lower layer": {"events.py": "from assistant_events.values import State\n"},
    "lower layer, relative": {"events.py": "from .values import State\n"},
    "lower layer as a name": {"values.py": "", "events.py": "from assistant_events import values\n"},
    "own package": {
        "values/__init__.py": "from assistant_events.values.json import freeze\n",
        "values/json.py": "",
    },
    "own package, relative": {"values/__init__.py": "from .json import freeze\n", "values/json.py": ""},
    "root offers low layers": {"__init__.py": "from assistant_events.reducer import fold\n"},
    "cattrs in converters": {"converters.py": "import cattrs\nfrom cattrs.gen import override\n"},
    "attrs anywhere": {"values.py": "import attrs\nfrom typing_extensions import Self\n"},
    "msgspec in a function": {"values.py": "def read():\n    import msgspec\n"},
    "msgspec under a guard": {"values.py": "try:\n    import msgspec\nexcept ImportError:\n    msgspec = None\n"},
    "msgspec under a wider guard": {
        "values.py": "try:\n    import msgspec\nexcept (AttributeError, ImportError):\n    msgspec = None\n"
    },
    "msgspec for type checkers": {
        "values.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import msgspec\n"
    },
    "a time that was passed in": {
        "events.py": "from datetime import datetime\n\ndef at(now: datetime):\n    return now.now\n"
    },
    "a dialect and what dialects share": {
        "adapters/base.py": "",
        "adapters/openai_chat/decoder.py": "from assistant_events.adapters.base import DecoderBase\n",
    },
    "a client of a dialect": {
        "clients/http.py": "import httpx2\n",
        "adapters/gemini_interactions/client.py": (
            "import os\n"
            "from assistant_events.adapters.gemini_interactions import vocabulary\n"
            "from assistant_events.clients.recovery import classify\n"
        ),
        "adapters/gemini_interactions/vocabulary.py": "",
        "clients/recovery.py": "",
    },
    "a store reads and writes": {"stores/sqlite.py": "import os, sqlite3, threading\n\nopen('x')\n"},
    "stores are listed together": {"stores/__init__.py": "from .memory import MemoryStore\n", "stores/memory.py": ""},
    "an optional dependency at home": {"cli/app.py": "import rich.table\nfrom cyclopts import App\n"},
    "a home imported where it is used": {
        "testing/__init__.py": "def strategies():\n    from assistant_events.testing import strategies\n",
        "testing/strategies.py": "import hypothesis\n",
    },
    "the environment in a function": {"cli.py": "import os\n\ndef main():\n    return os.environ\n"},
    "a parser, not a request": {"adapters/base.py": "from urllib.parse import urlsplit\n"},
}

ILLEGAL = {
    "higher layer": (
        {"values.py": "import attrs\nfrom assistant_events.events import Event\n"},
        "values.py:2: values imports events, which is not in a lower layer",
    ),
    "higher layer, relative": (
        {"messages.py": "from .recorder import Recorder\n"},
        "messages.py:1: messages imports recorder, which is not in a lower layer",
    ),
    "higher layer in a function": (
        {"values.py": "def f():\n    from assistant_events.events import Event\n"},
        "values.py:2: values imports events, which is not in a lower layer",
    ),
    "higher layer for type checkers": (
        {"values.py": "if TYPE_CHECKING:\n    import assistant_events.events\n"},
        "values.py:2: values imports events, which is not in a lower layer",
    ),
    "a dialect and its client": (
        {
            "adapters/gemini_interactions/__init__.py": (
                "from assistant_events.adapters.gemini_interactions.client import GeminiInteractions\n"
            ),
            "adapters/gemini_interactions/client.py": "",
        },
        "adapters/gemini_interactions/__init__.py:1: adapters imports adapters.client, which is not in a lower layer",
    ),
    "a client and another dialect": (
        {
            "adapters/openai_chat/client.py": "from assistant_events.adapters.gemini_interactions import vocabulary\n",
            "adapters/gemini_interactions/vocabulary.py": "",
        },
        "adapters/openai_chat/client.py:1: adapters.openai_chat imports its sibling gemini_interactions",
    ),
    "higher layer as a name": (
        {"values.py": "from assistant_events import events\n"},
        "values.py:1: values imports events, which is not in a lower layer",
    ),
    "same layer": (
        {"recorder.py": "from assistant_events.reducer import fold\n"},
        "recorder.py:1: recorder imports reducer, which is not in a lower layer",
    ),
    "same layer, from a package": (
        {"stores/sqlite/reading.py": "from ...adapters.base import Dialect\n"},
        "stores/sqlite/reading.py:1: stores imports adapters, which is not in a lower layer",
    ),
    "sibling dialect": (
        {"adapters/openai_chat/decoder.py": "", "adapters/openai_responses.py": "from .openai_chat import decoder\n"},
        "adapters/openai_responses.py:1: adapters.openai_responses imports its sibling openai_chat",
    ),
    "sibling dialect as a name": (
        {"adapters/openai_chat.py": "", "adapters/bedrock_converse/x.py": "from .. import openai_chat\n"},
        "adapters/bedrock_converse/x.py:1: adapters.bedrock_converse imports its sibling openai_chat",
    ),
    "dialect known to the base": (
        {"adapters/openai_chat.py": "", "adapters/base.py": "import assistant_events.adapters.openai_chat\n"},
        "adapters/base.py:1: adapters imports the dialect openai_chat, which an entry point names",
    ),
    "sibling store": (
        {"stores/memory.py": "", "stores/sqlite.py": "from assistant_events.stores.memory import MemoryStore\n"},
        "stores/sqlite.py:1: stores.sqlite imports its sibling memory",
    ),
    "package root": (
        {"session.py": "from assistant_events import fold\n"},
        "session.py:1: imports the package root",
    ),
    "package root as a module": (
        {"session.py": "import assistant_events\n"},
        "session.py:1: imports the package root",
    ),
    "package root, relative": (
        {"stores/sqlite.py": "from .. import fold\n"},
        "stores/sqlite.py:1: imports the package root",
    ),
    "testing": (
        {"cli/app.py": "from assistant_events.testing import answer\n"},
        "cli/app.py:1: imports testing",
    ),
    "root offers converters": (
        {"__init__.py": "from assistant_events.converters import dumps\n"},
        "__init__.py:1: the package root imports converters",
    ),
    "root offers a store": (
        {"__init__.py": "from assistant_events.stores import MemoryStore\n"},
        "__init__.py:1: the package root imports stores",
    ),
    "module without a layer": (
        {"utils.py": ""},
        "utils.py:1: utils has no layer; give it a row in tests/test_layers.py",
    ),
    "import without a layer": (
        {"session.py": "from assistant_events.utils import x\n"},
        "session.py:1: imports utils, which has no layer",
    ),
    "socket": (
        {"values/json.py": "import socket\n"},
        "values/json.py:1: values does no I/O and imports socket",
    ),
    "thread": (
        {"recorder.py": "from threading import Lock\n"},
        "recorder.py:1: recorder does no I/O and imports threading",
    ),
    "event loop in a function": (
        {"adapters/base.py": "def f():\n    import asyncio.events\n"},
        "adapters/base.py:2: adapters does no I/O and imports asyncio.events",
    ),
    "clock": ({"events.py": "import time\n"}, "events.py:1: events does no I/O and imports time"),
    "randomness": ({"recorder.py": "import random\n"}, "recorder.py:1: recorder does no I/O and imports random"),
    "ids": ({"messages.py": "from uuid import uuid4\n"}, "messages.py:1: messages does no I/O and imports uuid"),
    "files": ({"history.py": "from pathlib import Path\n"}, "history.py:1: history does no I/O and imports pathlib"),
    "request": (
        {"outward/sse.py": "import urllib.request\n"},
        "outward/sse.py:1: outward does no I/O and imports urllib.request",
    ),
    "I/O in the root": (
        {"__init__.py": "import os\n"},
        "__init__.py:1: assistant_events does no I/O and imports os",
    ),
    "open": (
        {"converters.py": "def f():\n    return open('x')\n"},
        "converters.py:2: converters does no I/O and calls open",
    ),
    "print": ({"reducer.py": "print('x')\n"}, "reducer.py:1: reducer does no I/O and calls print"),
    "a clock where decisions are taken": (
        {"clients/recovery.py": "from datetime import datetime\n\nx = datetime.now()\n"},
        "clients/recovery.py:3: clients does no I/O and reads a clock: datetime.now",
    ),
    "date of today": (
        {"recorder.py": "from datetime import UTC, datetime\n\nx = datetime.now(UTC)\n"},
        "recorder.py:3: recorder does no I/O and reads a clock: datetime.now",
    ),
    "date of today, renamed": (
        {"recorder.py": "import datetime as dt\n\ndef f(clock=dt.datetime.utcnow):\n    pass\n"},
        "recorder.py:3: recorder does no I/O and reads a clock: dt.datetime.utcnow",
    ),
    "provider SDK": (
        {"adapters/gemini_interactions.py": "def f():\n    from google import genai\n"},
        "adapters/gemini_interactions.py:2: imports google, which is no dependency",
    ),
    "cattrs elsewhere": (
        {"stores/sqlite.py": "import cattrs\n"},
        "stores/sqlite.py:1: stores imports cattrs, which only converters, mock knows",
    ),
    "optional at the top": (
        {"converters.py": "import msgspec\n"},
        "converters.py:1: msgspec is optional; import it where it is used",
    ),
    "optional under another guard": (
        {"converters.py": "try:\n    import msgspec\nexcept ValueError:\n    pass\n"},
        "converters.py:2: msgspec is optional; import it where it is used",
    ),
    "optional under a bare except": (
        {"converters.py": "try:\n    import msgspec\nexcept:\n    raise ImportError\n"},
        "converters.py:2: msgspec is optional; import it where it is used",
    ),
    "optional in the handler": (
        {"values.py": "try:\n    import json\nexcept ImportError:\n    import msgspec\n"},
        "values.py:4: msgspec is optional; import it where it is used",
    ),
    "optional with I/O": (
        {"recorder.py": "def f():\n    import httpx2\n"},
        "recorder.py:2: recorder does no I/O and imports httpx2",
    ),
    "optional away from home": (
        {"testing/builders.py": "from hypothesis import given\n"},
        "testing/builders.py:1: hypothesis is optional; import it where it is used",
    ),
    "optional home at the top": (
        {"testing/__init__.py": "from .strategies import events\n", "testing/strategies.py": "import hypothesis\n"},
        "testing/__init__.py:1: testing.strategies needs an optional dependency; import it where it is used",
    ),
    "a try in an __init__": (
        {"values/__init__.py": "try:\n    import msgspec\nexcept ImportError:\n    msgspec = None\n"},
        "values/__init__.py:1: an __init__ lists names and tries nothing",
    ),
    "environment at import": (
        {"cli.py": "import os\n\nDEBUG = os.environ.get('DEBUG')\n"},
        "cli.py:3: reads os.environ at import",
    ),
    "environment under a guard": (
        {"session.py": "import os\n\ntry:\n    x = os.environ['X']\nexcept ImportError:\n    pass\n"},
        "session.py:4: reads os.environ at import",
    ),
    "environment in a default": (
        {"stores/sqlite.py": "from os import getenv\n\ndef f(path=getenv('DB')):\n    pass\n"},
        "stores/sqlite.py:3: reads getenv at import",
    ),
    "environment in a class body": (
        {"session.py": "import os\n\nclass A:\n    x = os.getenv('X')\n"},
        "session.py:4: reads os.getenv at import",
    ),
}


@pytest.mark.parametrize("files", LEGAL.values(), ids=LEGAL)
def test_legal_imports(tmp_path, files):
    """
    What the rules allow is not reported.
    """
    assert [] == violations(plant(tmp_path, files))


@pytest.mark.parametrize(("files", "expected"), ILLEGAL.values(), ids=ILLEGAL)
def test_planted_violations(tmp_path, files, expected):
    """
    What the rules forbid is reported once, with file, line and reason.
    """
    assert [f"{ROOT}/{expected}"] == violations(plant(tmp_path, files))
