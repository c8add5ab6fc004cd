"""What the API reference has to name: the public members of everything that its modules offer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import Any

from generated_pages.reading import data_doc, origin_of

_PAGES = Path(__file__).parents[2] / "reference" / "api"
_AUTOMODULE = re.compile(r"^\.\. automodule:: (\S+)$(?!\n +:)", re.MULTILINE)
"""Without options, which say that the page shows less than the module offers."""


def undocumented(documented: Collection[str], pages: Path = _PAGES) -> list[str]:
    """Return the full names of public members that are not among those that are documented."""
    modules = {name for page in pages.glob("*.md") for name in _AUTOMODULE.findall(page.read_text())}
    return sorted({name for module in modules for name in members(module)} - {*documented})


def with_data(page: str) -> str:
    """
    Return a page in which each module is followed by the data that it offers and another one defines.

    Sphinx passes those by, because it looks for their strings in the module that offers them.
    """
    return _AUTOMODULE.sub(lambda found: "\n\n".join([found[0], *_data(found[1])]), page)


def _data(module: str) -> Iterator[str]:
    offered = import_module(module)
    for name in getattr(offered, "__all__", ()):
        origin = origin_of(module, name)
        if origin != module and not isinstance(getattr(offered, name), type | FunctionType | MethodType):
            doc = data_doc(origin, name)
            option = ["   :no-value:"] if doc else []
            yield "\n".join(
                [f".. autodata:: {module}.{name}", *option, "", *[f"   {line}" for line in doc.splitlines()]]
            )


def members(module: str) -> Iterator[str]:
    """Give the full names of what a module offers, and of the public members of its classes, inherited ones too."""
    offered = import_module(module)
    for name in getattr(offered, "__all__", None) or _defined_in(offered):
        yield f"{module}.{name}"
        cls = getattr(offered, name)
        if isinstance(cls, type):
            yield from (f"{module}.{name}.{member}" for member in dir(cls) if _is_ours(cls, member))


def _defined_in(module: ModuleType) -> list[str]:
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    return [name for name in own if not name.startswith("_")]


def _is_ours(cls: type[Any], member: str) -> bool:
    """Return whether a member is public and comes from a class of this package."""
    if member.startswith("_"):
        return False
    owner = next((base for base in cls.__mro__ if member in vars(base)), None)
    return owner is not None and owner.__module__.partition(".")[0] == "assistant_events"
