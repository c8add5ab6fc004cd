"""
Puts generated Markdown into pages, behind a comment `<!-- generated: name -->`, up to a comment with its end.

The text is part of the pages, so that they can be read in the repository. `make pages` writes it, a test fails when
it is stale, and Sphinx reads what the generators return now. Diagrams are drawn by Sphinx alone, for
`<!-- drawn: name -->`. `GENERATORS` also runs without Sphinx.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Final

import attrs

from assistant_events.adapters import dialect_names
from generated_pages import catalogue, classes, continuity, dialects, errors, history, lifecycle, public, recovery

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

GENERATORS: Final[dict[str, Callable[[], str]]] = {
    "catalogue": catalogue.catalogue,
    "catalogue-summary": catalogue.summary,
    "content": classes.content,
    "continuity": continuity.continuity,
    "dialects": dialects.installed,
    "errors": errors.tree,
    "facts": classes.facts,
    "lifecycle-call": lifecycle.call,
    "lifecycle-fragment": lifecycle.fragment,
    "lifecycle-guards": lifecycle.guards,
    "lifecycle-message": lifecycle.message,
    "messages": classes.messages,
    "outcomes": classes.outcomes,
    "parts": classes.parts,
    "record": catalogue.record,
    "frame": catalogue.frame,
    "recovery-decisions": recovery.decisions,
    "recovery-modes": recovery.modes,
    "recovery-policy": recovery.policy,
    "history-reasons": history.reasons,
    "history-policies": history.policies,
    "history-treatments": history.treatments,
    "words-call": classes.call_words,
    "words-finish": classes.finish_words,
    "words-message": classes.message_words,
    "words-part": classes.part_words,
    **{f"dropped-{name}": partial(dialects.dropped, name) for name in dialect_names()},
}

MARK: Final = re.compile(r"^<!-- generated: ([a-z-]+) -->$(?:.*?^<!-- end of \1 -->$)?", re.MULTILINE | re.DOTALL)
DRAWN: Final = re.compile(r"^<!-- drawn: ([a-z]+) -->$", re.MULTILINE)


def fill(source: str) -> str:
    """
    Return *source* with what the generator of every mark returns between the mark and its end.

    Raises:
        KeyError: For a mark that names no generator.
    """
    return MARK.sub(
        lambda mark: f"<!-- generated: {mark[1]} -->\n\n{GENERATORS[mark[1]]().strip()}\n\n<!-- end of {mark[1]} -->",
        source,
    )


def draw(source: str) -> str:
    """Return *source* with its diagrams."""
    return DRAWN.sub(lambda mark: lifecycle.DRAWINGS[mark[1]](), source)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", _on_source_read)
    # Before napoleon, which reads the sections.
    app.connect("autodoc-process-docstring", _on_docstring, priority=400)
    app.connect("autodoc-process-docstring", _after_napoleon, priority=600)
    app.connect("autodoc-process-signature", _on_signature)
    # Before autodoc moves types into the descriptions of arguments.
    app.connect("object-description-transform", _on_description, priority=400)
    app.connect("doctree-read", _on_doctree)
    app.connect("env-check-consistency", _on_consistency)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _on_source_read(app: Sphinx, docname: str, source: list[str]) -> None:
    source[0] = public.with_data(draw(fill(source[0])))


def as_rst(lines: list[str]) -> list[str]:
    """
    Return a docstring as reStructuredText.

    Docstrings here are plain text: code is indented behind a colon, a name in backquotes may have a plural
    or be in bold words.
    """
    made = [_SUFFIXED.sub(r"\1\\ ", _BOLD.sub(lambda bold: bold[0].replace("`", ""), line)) for line in lines]
    for at in range(len(made) - 2):
        opens = made[at].endswith(":") and not made[at].endswith("::") and not made[at + 1].strip()
        if opens and _indent(made[at + 2]) > _indent(made[at]):
            made[at] += ":"
    return made


_BOLD: Final = re.compile(r"\*\*[^*]+\*\*")
_SUFFIXED: Final = re.compile(r"(?<!`)(`[^`]+`)(?=[a-z])")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else 0


_ATTRIBUTES: Final = frozenset({"attribute", "data", "property"})


def _on_docstring(app: Sphinx, what: str, name: str, *event: Any) -> None:
    # Any: Sphinx gives six things: the fourth is what is documented, the last the list of lines to change.
    lines: list[str] = event[-1]
    if isinstance(event[0], GenericAlias):  # `dict[str, Any]` has the docstring of `dict`; its own comes behind
        lines.clear()
    lines[:] = as_rst(lines)
    if what in _ATTRIBUTES:
        # Napoleon would take the words before a colon in the first line for a type, so it is not shown these lines.
        app.env.temp_data[name] = lines[:]
        lines[:] = [name.rpartition(".")[2]]


def _after_napoleon(app: Sphinx, what: str, name: str, *event: Any) -> None:
    # Any: see `_on_docstring`.
    if what in _ATTRIBUTES:
        lines: list[str] = event[-1]
        lines[:] = app.env.temp_data.pop(name)


def readable(signature: str, cls: type) -> str:
    """
    Return the signature of a class as a reader wants it.

    Defaults of attrs are shown as they are, where attrs writes from where it takes them. A protocol is not called.
    """
    if getattr(cls, "_is_protocol", False):
        return ""
    if not attrs.has(cls):
        return signature
    defaults = {field.name: field.default for field in attrs.fields(cls)}
    return _DEFAULT.sub(lambda found: _spelled(defaults[found[1]]), signature)


_DEFAULT: Final = re.compile(r"attr_dict\['(\w+)'\]\.default")


def _spelled(default: object) -> str:
    if isinstance(default, Mapping):
        return "{}"
    return str(default) if isinstance(default, Enum) else repr(default)


def _on_signature(*event: Any) -> tuple[str, str | None] | None:
    # Any: Sphinx gives seven things: what it is, its name, itself, options, signature, what it returns.
    _, what, _, obj, _, signature, returned = event
    if what != "class" or not signature:
        return None
    return readable(signature, obj), returned


def _on_description(app: Sphinx, *_: Any) -> None:
    # Any: which object it is plays no part; types are remembered for all of them. Sphinx 9.0 puts its own wrapper into
    # them for the names of `autodoc_type_aliases`.
    for types in app.env.current_document.autodoc_annotations.values():
        for name, text in types.items():
            types[name] = _ALIAS.sub(r"\1", text)


_ALIAS: Final = re.compile(r"(?:sphinx\.util\.inspect\.)?TypeAliasForwardRef\('(\w+)'\)")


def _on_doctree(app: Sphinx, doctree: Any) -> None:
    # Any: a document of docutils, which has no types.
    from sphinx.addnodes import pending_xref

    # Sphinx would link a type of Python to a member of that name, as `type` to that of an event.
    for reference in list(doctree.findall(pending_xref)):
        if isinstance(getattr(builtins, reference.get("reftarget", ""), None), type):
            reference.replace_self(reference.children)


def _on_consistency(app: Sphinx, env: BuildEnvironment) -> None:
    from sphinx.util.logging import getLogger

    documented = {name for name, *_ in env.get_domain("py").get_objects()}
    for name in public.undocumented(documented):
        getLogger(__name__).warning("the API reference does not name %s", name)
