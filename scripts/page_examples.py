"""
Writes the Python examples of README and documentation into files that a type checker reads.

    python scripts/page_examples.py FOLDER

Each page becomes one module. Its examples keep their line numbers, so an error names the line of the page.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXAMPLE = re.compile(r"^(?P<fence>`{3,})python *\n(?P<code>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)


def main(folder: Path) -> None:
    """
    Write a module for each page that has examples.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.py"):
        old.unlink()
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        code = module_of(page.read_text(encoding="utf-8"))
        if code and "_build" not in page.parts:
            name = re.sub(r"\W", "_", page.relative_to(ROOT).with_suffix("").as_posix())
            (folder / f"{name}.py").write_text(code, encoding="utf-8")


def module_of(text: str) -> str:
    """
    Return the examples of a page as one module; empty lines replace the text between them.
    """
    lines: list[str] = []
    for example in EXAMPLE.finditer(text):
        start = text.count("\n", 0, example.start("code"))
        lines += [""] * (start - len(lines))
        lines += example["code"].splitlines()
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
