"""
The documentation inside a class: its docstring, its fields with types and defaults, and the strings below them.

The strings are read from the source, since Python does not keep them.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from enum import Enum
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Any, NamedTuple

import attrs


class Field(NamedTuple):
    """One field, for a table."""

    name: str
    type: str
    default: str
    """Empty when the field is required."""

    doc: str


def paragraphs(cls: type) -> str:
    """Return the docstring of a class without its indentation."""
    return inspect.cleandoc(cls.__doc__ or "")


def fields_of(cls: type, *, without: frozenset[str] = frozenset()) -> list[Field]:
    """Return the fields of an attrs class, those of its bases first."""
    docs = _docs(cls)
    annotations = _annotations(cls)
    return [
        Field(field.name, annotations[field.name], _default(field.default), docs.get(field.name, ""))
        for field in attrs.fields(cls)
        if field.name not in without
    ]


def members_of(cls: type[Enum]) -> list[tuple[str, str]]:
    """Return the values of an enum and the strings below its members."""
    docs = _own_docs(cls)
    return [(str(member.value), docs.get(member.name, "")) for member in cls]


def one_line(text: str) -> str:
    """Return *text* fit for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def _default(default: Any) -> str:
    # Any: attrs keeps whatever the class body gave.
    if default is attrs.NOTHING:
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, Enum):
        return str(default.value)
    if default is None:
        return "none"
    if isinstance(default, (str, tuple, frozenset)) or hasattr(default, "items"):
        return str(default) if default else "empty"
    return str(default)


def _docs(cls: type) -> dict[str, str]:
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__[:-1]):
        found |= _own_docs(base)
    return found


def _annotations(cls: type) -> dict[str, str]:
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__[:-1]):
        body = _body(base)
        for node in body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found[node.target.id] = ast.unparse(node.annotation)
    return found


def origin_of(module: str, name: str) -> str:
    """Return the module that defines what *module* offers by a name."""
    for node in _module_body(module):
        if isinstance(node, ast.ImportFrom) and any(name == (alias.asname or alias.name) for alias in node.names):
            assert node.module is not None, "imports name their module"
            return origin_of(node.module, name)
    return module


def data_doc(module: str, name: str) -> str:
    """Return the string below a name of a module that defines it."""
    return _docs_in(_module_body(module)).get(name, "")


@cache
def _module_body(module: str) -> list[ast.stmt]:
    return ast.parse(inspect.getsource(import_module(module))).body


def _own_docs(cls: type) -> dict[str, str]:
    return _docs_in(_body(cls))


def _docs_in(body: list[ast.stmt]) -> dict[str, str]:
    found: dict[str, str] = {}
    for node, after in pairwise(body):
        target = (
            node.target
            if isinstance(node, ast.AnnAssign)
            else node.targets[0]
            if isinstance(node, ast.Assign)
            else None
        )
        if (
            isinstance(target, ast.Name)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        ):
            found[target.id] = inspect.cleandoc(after.value.value)
    return found


@cache
def _body(cls: type) -> list[ast.stmt]:
    if cls.__module__ == "builtins":
        return []
    try:
        source = textwrap.dedent(inspect.getsource(cls))
    except (OSError, TypeError):
        return []
    tree = ast.parse(source).body[0]
    return tree.body if isinstance(tree, ast.ClassDef) else []
