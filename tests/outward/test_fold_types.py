"""
The types of the module that folds in a browser: a strict program with every name of theirs, and the documents.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from assistant_events import Frame, Record, UnknownEvent, fold
from assistant_events.events import EVENT_TYPES
from assistant_events.outward import DocumentWriter
from assistant_events.testing import Call, answer, prompt, records
from tests.everything import EVENTS, FRAME, RECORD, TRANSCRIPT
from tests.outward.conftest import MODULE

MODULES = Path(__file__).parents[1] / "official" / "javascript" / "node_modules"
TYPES = MODULE.with_suffix(".d.mts")
PAGE = Path(__file__).with_name("page.mts")
FLAGS = [
    *("--strict", "--noEmit", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noUnusedLocals"),
    *("--target", "es2022", "--module", "nodenext"),
]

PLAIN = [prompt("Hi"), *answer("Hello", reasoning="hm", calls=[Call("add", {"x": 1}, output=1), Call("add", "{")])]
"""Events with nothing but what they must have."""


@pytest.fixture
def compiled(tmp_path):
    """
    A function that returns what the compiler reports of a page and of more modules beside the types.
    """
    node, compiler = shutil.which("node"), MODULES / "typescript" / "bin" / "tsc"
    if node is None or not compiler.is_file():
        pytest.skip("TypeScript is not installed; `make test-clients` does it")

    def compiled(**sources):
        for path in (MODULE, TYPES):
            shutil.copy(path, tmp_path)
        for name, source in sources.items():
            (tmp_path / f"{name}.mts").write_text(source, "utf-8")
        command = [node, str(compiler), *FLAGS, *[f"{name}.mts" for name in sources]]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
        return ran.stdout + ran.stderr

    return compiled


def documents():
    """
    Return a module with a constant for each document that a browser gets, of the type that it has to have.
    """
    writer = DocumentWriter()
    items = (*EVENTS, *PLAIN, RECORD, FRAME, *records(PLAIN))
    found = [(type(item).__name__, writer.write(item)) for item in items]
    found += [("Snapshot", writer.snapshot(each)) for each in (TRANSCRIPT, fold(PLAIN))]
    tagged = {"Record": "Record & { type?: 'record' }", "Frame": "Frame & { type?: 'frame' }"}
    names = sorted({name for name, _ in found})
    lines = [f"import type {{ {', '.join(names)} }} from './fold.mjs';"]
    for number, (name, document) in enumerate(found):
        lines.append(f"export const d{number}: {tagged.get(name, name)} = {json.dumps(document)};")
    return "\n".join(lines) + "\n"


def test_the_program_uses_every_name():
    """
    The program and the documents use each name that the types export, those of messages and values inside of others.
    """
    text = TYPES.read_text("utf-8")
    exported = set(re.findall(r"^export (?:const|function|interface|type) (\w+)", text, re.MULTILINE))
    imports = re.findall(r"^import .*$", PAGE.read_text("utf-8") + documents(), re.MULTILINE)
    used = set(re.findall(r"\w+", " ".join(imports)))
    inside = {name for name in exported - used if re.search(rf"^  .*\b{name}\b", text, re.MULTILINE)}

    assert exported == (exported & used) | inside
    assert {*EVENT_TYPES} == {event.type for event in EVENTS if not isinstance(event, UnknownEvent)}
    assert {"EMPTY", "fold", "reduce", Record.__name__, Frame.__name__} <= used


def test_a_strict_program_and_all_documents(compiled):
    """
    The types, a page that matches every union, and each document that is written are without an error.
    """
    assert "" == compiled(page=PAGE.read_text("utf-8"), documents=documents())
