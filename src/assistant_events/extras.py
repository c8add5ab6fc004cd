"""What to install when an optional package is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.util import find_spec


def missing_extras(what: str, needed: Mapping[str, Iterable[str]]) -> str | None:
    """
    Return a sentence that names the packages that *what* lacks and the command that installs them.

    *needed* has extras and those of their packages that are imported. `None` when all of them are installed.
    """
    missing = {extra: [name for name in names if find_spec(name) is None] for extra, names in needed.items()}
    packages = [name for names in missing.values() for name in names]
    if not packages:
        return None
    extras = ",".join(sorted(extra for extra, names in missing.items() if names))
    # The package is not published yet, so that its name finds nothing in an index, or something else.
    return f"{what} needs {' and '.join(packages)}: pip install '.[{extras}]' in a clone of assistant-events"


def require(what: str, needed: Mapping[str, Iterable[str]]) -> None:
    """
    Raise when an optional package is missing.

    Raises:
        ModuleNotFoundError: See `missing_extras`.
    """
    sentence = missing_extras(what, needed)
    if sentence is not None:
        raise ModuleNotFoundError(sentence)
