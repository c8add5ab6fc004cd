"""
The language of the project: words that are not those of the field stay out of prose, errors and names.

Prose is what people read: pages, docstrings, comments, and in `src` and `examples` every string as well.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CODE = sorted(
    path
    for folder in ("src", "examples", "benchmarks", "scripts", "tests", "docs")
    for path in (ROOT / folder).rglob("*.py")
    if not {"_build", "node_modules"} & set(path.parts) and path != Path(__file__)
)
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts),
]

WORDS = {
    r"whoever": "name the caller, the app, the reader",
    r"nobody|somebody|anybody": "name who: no caller, another writer",
    r"says?|said|saying": "software emits, returns, stores, raises, reports",
    r"tells?|told|telling": "software returns, reports, emits",
    r"stands?|stood|standing": "a value is, occurs, is stored",
    r"goes|went": "a call returns, a request is sent, a value is passed",
    r"(?:is|are|was|were) no(?= [a-zA-Z])": "is not: 'is not valid JSON'",
    r"a (?:sound|film)|films": "audio, video",
    r"a medium|mediums": "a media item",
    r"raw_finish|pending_calls": "raw_finish_reason, pending_tool_calls",
}
"""Pattern of a word -> what to write in its place."""

FORBIDDEN = re.compile("|".join(rf"\b(?:{word})\b" for word in WORDS), re.IGNORECASE)


def prose_of(path: Path) -> Iterator[tuple[int, str]]:
    """
    Yield line number and text of what people read in *path*.
    """
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        yield 1, text
        return
    # The answer that an agent gives in the demonstration is a text of its own.
    whole = path.relative_to(ROOT).parts[0] in {"src", "examples"} and path.name != "stage.py"
    # To parse files takes the longest, and nearly all have no such word anywhere. Strings may be joined of several.
    if not whole and FORBIDDEN.search(text) is None:
        return
    if any(FORBIDDEN.search(line) for line in text.splitlines() if "#" in line):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    for node in ast.walk(ast.parse(text)):
        if whole and isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        elif not whole and isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield getattr(node, "lineno", 1), ast.get_docstring(node, clean=False) or ""


def faults(paths: list[Path]) -> list[str]:
    """
    Return file, line and word of each word that is not ours.
    """
    return sorted(
        f"{path.relative_to(ROOT)}:{line + text.count(chr(10), 0, found.start())}: {found[0]}"
        for path in paths
        for line, text in prose_of(path)
        for found in FORBIDDEN.finditer(text)
    )


@pytest.mark.parametrize("paths", [PAGES, CODE], ids=["pages", "code"])
def test_words_of_the_field(paths):
    """
    Neither pages nor code have words that are not ours.
    """
    assert [] == faults(paths)


def test_a_forbidden_word_is_found(tmp_path, monkeypatch):
    """
    The check sees docstrings, comments and pages.
    """
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "a.py").write_text('"""It tells."""\nx = 1  # whoever\n')
    (tmp_path / "b.md").write_text("One.\nThis is no JSON.\n")

    assert ["a.py:1: tells", "a.py:2: whoever", "b.md:2: is no"] == faults([tmp_path / "a.py", tmp_path / "b.md"])
