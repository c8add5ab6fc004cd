"""
How Sphinx builds the documentation: Markdown pages by MyST, the reference from docstrings, Furo for the looks.
"""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

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
