"""
How Sphinx builds the documentation: Markdown pages by MyST, the reference from docstrings, Furo for the looks.
"""

from importlib.metadata import version as version_of

project = "assistant-events"
author = "assistant-events contributors"
copyright = f"2026, {author}"
release = version_of("assistant-events")
version = release

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "changelog.d"]

html_theme = "furo"
html_title = project

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3

autodoc_class_signature = "separated"
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_preserve_defaults = True
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
