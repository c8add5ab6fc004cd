"""
How Sphinx builds the documentation: Markdown pages by MyST, the reference from docstrings, Furo for the looks.
"""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "assistant-events"
author = "assistant-events contributors"
copyright = f"2026, {author}"
release = version_of("assistant-events")
version = release

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "generated_pages",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "_ext", "changelog.d"]

html_theme = "furo"
html_title = project
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_copy_source = False

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3

# Names in single backquotes, as docstrings have them, are links where they name something and code where they do not.
default_role = "py:obj"

autodoc_default_options = {
    "members": True,
    "member-order": "bysource",
    "undoc-members": True,
    # Of these classes of Python and of attrs nothing is shown; of our own private bases everything is.
    "inherited-members": "BaseException,Enum,Generic,Mapping,Protocol,int,object,str,tuple",
}
autodoc_preserve_defaults = True
# Unions are named, not spelled out: one word is clearer than 28 classes.
autodoc_type_aliases = {
    name: name
    for name in (
        "Content",
        "ContentInput",
        "DeltaEvent",
        "DurableEvent",
        "Event",
        "Fields",
        "JsonValue",
        "LiveEvent",
        "Part",
        "Prior",
        "StoredEvent",
    )
}
suppress_warnings = ["ref.python"]  # a class may be documented by its package and by its module
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
napoleon_google_docstring = True
napoleon_numpy_docstring = False


def mark_code(_app: Sphinx, _what: str, _name: str, _obj: object, _options: object, lines: list[str]) -> None:
    """Make code of the indented blocks of a docstring, and drop the docstring that Python gives every union."""
    if lines[:3] == ["Represent a PEP 604 union type", "", "E.g. for int | str"]:
        del lines[:3]
    marked: list[str] = []
    above = ""
    for line in lines:
        if line.startswith("    ") and above and not above.startswith(" ") and not marked[-1]:
            marked += ["::", ""]
        marked.append(line)
        above = line or above
    lines[:] = marked


def setup(app: Sphinx) -> None:
    """Register it before napoleon, which knows no code."""
    app.connect("autodoc-process-docstring", mark_code, priority=100)
