"""The tree of exceptions as Markdown, from the classes."""

from __future__ import annotations

import inspect

from assistant_events.errors import AssistantEventsError
from assistant_events.messages import AnswerError


def tree() -> str:
    """Return every exception below the base, indented by its depth."""
    return "\n".join(_lines(AssistantEventsError, 0))


def _lines(cls: type[Exception], depth: int) -> list[str]:
    others = [
        base.__name__ for base in cls.__bases__ if not issubclass(base, AssistantEventsError) and base is not Exception
    ]
    also = f" (also a `{', '.join(others)}`)" if others else ""
    first = inspect.cleandoc(cls.__doc__ or "").partition("\n")[0]
    lines = [f"{'  ' * depth}- `{cls.__name__}`{also}: {first}"]
    for child in sorted(cls.__subclasses__(), key=lambda each: each.__name__):
        if child.__module__ in (AssistantEventsError.__module__, AnswerError.__module__):
            lines += _lines(child, depth + 1)
    return lines
