"""
What there is to do for a class: its fields, what stands in each, when one is left out, and how code becomes a function.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from textwrap import indent
from types import NoneType
from typing import Any, TypeAlias, get_args, get_origin, get_type_hints

import attrs
from attrs import NOTHING, Attribute, frozen

from assistant_events.converters.codecs import ArrayCodec
from assistant_events.converters.kinds import NAME, SEQ, SPAN_END, Kind, called, optional
from assistant_events.events import Record
from assistant_events.values import Citation, validators
from assistant_events.values.validators import Extensible

KindOf: TypeAlias = Callable[[Any], Kind | None]
"""Tells the kind of a field from its annotation; `None` leaves `| None` and `tuple[..., ...]` to `Plan`."""

# One annotation, several rules: the validator tells which.
_BY_VALIDATOR: dict[tuple[object, object], Kind] = {
    (validators.check_name, str): NAME,
    (attrs.fields(Record).seq.validator, int): SEQ,
    (attrs.fields(Citation).end.validator, int): SPAN_END,
}


class Plan:
    """
    What there is to do for a class.

    Args:
        cls: A slotted attrs class.

        kind_of: Tells the kind of a field.

        constants: Fields of the document that say what it is. They come first.

        always: Fields that are written even when they equal their default.
    """

    def __init__(
        self, cls: type, kind_of: KindOf, constants: Mapping[str, object], always: Collection[str] = ()
    ) -> None:
        self.cls = cls
        self.constants = constants
        self.extensible = issubclass(cls, Extensible)
        self.extra_may_be_unset = hasattr(cls, "__getattr__")
        hints = get_type_hints(cls)
        self.fields = [
            Field(field.name, _kind(field, hints[field.name], kind_of), field.default, field.name in always)
            for field in attrs.fields(cls)
            if field.name != "extra"
        ]
        self.names = frozenset({*constants, *[field.name for field in self.fields]})

    @property
    def required(self) -> list[Field]:
        """Fields that a document must have."""
        return [field for field in self.fields if field.default is NOTHING]

    @property
    def optional(self) -> list[Field]:
        """Fields that a document may have."""
        return [field for field in self.fields if field.default is not NOTHING]

    @property
    def kept(self) -> list[Field]:
        """Fields that are always written."""
        return [field for field in self.fields if field.kept]

    @property
    def left_out(self) -> list[Field]:
        """Fields that are written when they do not equal their default."""
        return [field for field in self.fields if not field.kept]


@frozen
class Field:
    """One field and the code for it."""

    name: str
    kind: Kind
    default: Any
    always: bool

    @property
    def kept(self) -> bool:
        """Whether it is always written."""
        return self.always or self.default is NOTHING

    def read(self) -> str:
        """Return the statements that check the variable and may change it."""
        return self.kind.read.replace("{x}", self.name)

    def write(self, value: str) -> str:
        """Return the expression of what stands in the document for *value*."""
        return self.kind.write.replace("{x}", self.name).replace("{value}", value)

    def pack(self, value: str, prefix: str) -> str:
        """Return the expression of what msgspec is given for *value*; names in it begin with *prefix*."""
        return self.kind.pack.replace("{x}", prefix + self.name).replace("{value}", value)

    def unpack(self, value: str) -> str:
        """Return the expression of the value for *value* of a struct."""
        return self.kind.unpack.replace("{x}", self.name).replace("{value}", value)

    def differs(self, value: str) -> str:
        """Return the expression that is true when *value* does not equal the default."""
        if self.default is None or isinstance(self.default, bool):
            return f"{value} is not {self.default}"
        return self.kind.filled.replace("{value}", value)


def function(signature: str, body: list[str], names: dict[str, Any]) -> Any:
    """Return the function that *body* makes, with *names* for its globals."""
    # Any: made from text; whoever asks for it says what it takes and returns.
    code = f"def {signature}:\n" + indent("\n".join(body), "    ")
    exec(code, names)  # noqa: S102 - the text is made of names of fields; nothing in it comes from outside
    return names[signature.partition("(")[0]]


@cache
def twin(cls: type) -> type:
    """
    Return a class with the slots of *cls* whose objects can be filled, and then be given the class that they are of.

    To store through the slot descriptors of a frozen class takes twice as long.
    """
    return type(
        f"_{cls.__name__}",
        cls.__bases__,
        {
            "__slots__": tuple(cls.__dict__["__slots__"]),
            "__init__": object.__init__,
            "__setattr__": object.__setattr__,
            "__delattr__": object.__delattr__,  # without it Python takes the slow way for __setattr__ too
        },
    )


def _kind(field: Attribute[Any], hint: Any, kind_of: KindOf) -> Kind:
    kind = _BY_VALIDATOR.get((field.validator, hint)) or kind_of(hint)
    if kind is not None:
        return kind
    arguments = get_args(hint)
    if NoneType in arguments:
        (inner,) = [argument for argument in arguments if argument is not NoneType]
        return optional(_kind(field, inner, kind_of))
    items = kind_of(arguments[0]) if get_origin(hint) is tuple else None
    if items is None or items.codec is None:
        raise TypeError(f"{field.name}: no wire form for {hint}")
    return called(ArrayCodec(items.codec))
