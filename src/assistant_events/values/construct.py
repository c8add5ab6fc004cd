"""
Instances of frozen classes made without their constructor, from values that are known to be valid.

A constructor converts and checks each of its arguments; where the values come from checked ones, or from a document
that the converters have checked, that is most of the cost of an instance.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, TypeVar, cast

import attrs

_T = TypeVar("_T")
_F = TypeVar("_F", bound=Callable[..., object])
_Key = TypeVar("_Key")


class MadeOnce(dict[_Key, _T]):
    """Values made when their key is first looked up. A look-up takes a third of the time of a cached function."""

    def __init__(self, make: Callable[[_Key], _T]) -> None:
        self._make = make

    def __missing__(self, key: _Key) -> _T:
        value = self[key] = self._make(key)
        return value


@cache
def constructor(cls: type[_T]) -> Callable[..., _T]:
    """
    Return a function that makes instances of a slotted attrs class without conversion or validation.

    It takes the fields as keyword arguments; those with a default may be omitted. The values must be valid: frozen, of
    the types of the fields, enums as enums. `__attrs_post_init__` is not called.
    """
    fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(cls)  # type: ignore[arg-type]  # it is an attrs class
    defaults = {f"default_{field.name}": field.default for field in fields}
    arguments = [
        field.name if field.default is attrs.NOTHING else f"{field.name}=default_{field.name}" for field in fields
    ]
    body, names = construction(cls)
    signature = f"construct({', '.join(['*', *arguments] if arguments else [])})"
    return compiled(signature, [*body, "return made"], {**defaults, **names})


def construction(cls: type) -> tuple[list[str], dict[str, Any]]:
    """Return the statements that make `made` of variables with the names of the fields, and the globals they need."""
    fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(cls)
    body = ["made = Draft()", *[f"made.{field.name} = {field.name}" for field in fields], "made.__class__ = cls"]
    return body, {"Draft": draft_of(cls), "cls": cls}


def draft_of(cls: type) -> Any:
    """
    Return a mutable subclass of a frozen class, with the same slots.

    The caller fills the slots of an instance with valid values and then sets its `__class__` to *cls*; from then on it
    is as frozen as any other. Assignment to such a slot takes a third of the time of the slot's descriptor.
    """
    # Any: it has the attributes of *cls*, which a type checker cannot know.
    body = {
        "__slots__": (),
        "__init__": object.__init__,
        # Both, or CPython does not use its fast path for assignments.
        "__setattr__": object.__setattr__,
        "__delattr__": object.__delattr__,
    }
    draft: Any = type(f"{cls.__name__}Draft", (cls,), body)
    return draft


def copy_for_class(function: _F) -> _F:
    """
    Return a function with code of its own, to be called with objects of one class. It has no defaults and no closure.

    CPython adapts each access to an attribute to the class that it meets (PEP 659). In a loop that several classes use
    by turns it adapts to one of them, and the others take half as long again.
    """
    code = cast("FunctionType", function)
    return cast("_F", FunctionType(code.__code__.replace(), code.__globals__, code.__name__))


def compiled(signature: str, body: list[str], names: dict[str, Any]) -> Callable[..., Any]:
    """Return the function with this signature and body, with *names* as its globals."""
    # Any: made from text; the caller states what it takes and returns.
    code = f"def {signature}:\n    " + "\n".join(body).replace("\n", "\n    ")
    exec(code, names)  # noqa: S102 - the text consists of names of fields; nothing in it comes from outside
    function: Callable[..., Any] = names[signature.partition("(")[0]]
    return function
