"""
Straight-line functions for a class, made from its attrs fields.

They do what one would write by hand. Reading takes the fields out of the document, checks each in place and fills an object
without running its constructor. Writing puts the fields into a `dict` and leaves out what equals its default.

Two things here are for speed alone. An object is filled as one of a twin class, which has the same slots and may be changed,
and then given its own class: storing through the slot descriptors of a frozen class takes twice as long. And for the JSON
writer of msgspec the fields are packed into a `Struct` instead of a `dict`, which is quicker to make and to write.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from textwrap import indent
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import attrs
from attrs import NOTHING, Attribute, frozen

from assistant_events.converters import faults
from assistant_events.converters.codecs import Codec, Reader, Writer, array_of
from assistant_events.converters.faults import Fault
from assistant_events.converters.kinds import NAME, SEQ, SPAN_END, Kind, called, optional
from assistant_events.converters.plain import read_object
from assistant_events.events import _check_seq
from assistant_events.values import JsonObject, fields, thaw, valid_text
from assistant_events.values.facts import _check_span
from assistant_events.values.fields import NO_FIELDS, Extensible


def compiled(
    cls: type,
    kind_of: Callable[[Any], Kind | None],
    *,
    constants: Mapping[str, object],
    always: Collection[str] = (),
) -> Codec:
    """
    Return the codec of *cls*.

    Args:
        cls: A slotted attrs class.

        kind_of: Tells the kind of a field from its annotation; `None` leaves `| None` and `tuple[..., ...]` to us.

        constants: Fields of the document that say what it is. Whoever calls the reader has looked at them.

        always: Fields that are written even when they equal their default.
    """
    plan = _Plan(cls, kind_of, constants, always)
    codec = Codec(lambda: _reader(plan), lambda: _writer(plan), lambda: _packer(plan, codec))
    return codec


class _Plan:
    """What there is to do for a class."""

    def __init__(
        self,
        cls: type,
        kind_of: Callable[[Any], Kind | None],
        constants: Mapping[str, object],
        always: Collection[str],
    ) -> None:
        self.cls = cls
        self.constants = constants
        self.extensible = issubclass(cls, Extensible)
        hints = get_type_hints(cls)
        self.fields = [
            _Field(field.name, _kind(field, hints[field.name], kind_of), field.default, field.name in always)
            for field in attrs.fields(cls)
            if field.name != "extra"
        ]
        self.names = frozenset({*constants, *[field.name for field in self.fields]})

    @property
    def required(self) -> list[_Field]:
        return [field for field in self.fields if field.default is NOTHING]

    @property
    def optional(self) -> list[_Field]:
        return [field for field in self.fields if field.default is not NOTHING]

    @property
    def kept(self) -> list[_Field]:
        return [field for field in self.fields if field.kept]

    @property
    def left_out(self) -> list[_Field]:
        return [field for field in self.fields if not field.kept]


@frozen
class _Field:
    name: str
    kind: Kind
    default: Any
    always: bool

    @property
    def kept(self) -> bool:
        return self.always or self.default is NOTHING

    @property
    def struct_default(self) -> bool | None:
        """What the JSON writer leaves out by itself; `None` stands for all empty defaults."""
        return self.default if isinstance(self.default, bool) else None

    def read(self) -> str:
        return self.kind.read.replace("{x}", self.name)

    def write(self, value: str) -> str:
        return self.kind.write.replace("{x}", self.name).replace("{value}", value)

    def pack(self, value: str) -> str:
        return self.kind.pack.replace("{x}", self.name).replace("{value}", value)

    def differs(self, value: str) -> str:
        """Return the expression that is true when the field does not equal its default."""
        if self.default is None or isinstance(self.default, bool):
            return f"{value} is not {self.default}"
        return self.kind.filled.replace("{value}", value)


# One annotation, several rules: the validator tells which.
_BY_VALIDATOR: dict[tuple[object, object], Kind] = {
    (fields.check_name, str): NAME,
    (_check_seq, int): SEQ,
    (_check_span, int): SPAN_END,
}


def _kind(field: Attribute[Any], hint: Any, kind_of: Callable[[Any], Kind | None]) -> Kind:
    kind = _BY_VALIDATOR.get((field.validator, hint)) or kind_of(hint)
    if kind is not None:
        return kind
    if get_origin(hint) is tuple:
        items = kind_of(get_args(hint)[0])
        assert items is not None and items.codec is not None
        return called(array_of(items.codec))
    (inner,) = [argument for argument in get_args(hint) if argument is not NoneType]
    return optional(_kind(field, inner, kind_of))


def _reader(plan: _Plan) -> Reader:
    least = len(plan.constants) + len(plan.required)
    body = ["if type(document) is not dict:", "    raise wrong('', 'an object', document)"]
    if plan.required:
        body += ["try:", *[f"    {field.name} = document[{field.name!r}]" for field in plan.required]]
        body += ["except KeyError as error:", "    raise missing(error) from None"]
        body += [field.read() for field in plan.required]
    body += [f"{field.name} = default_{field.name}" for field in plan.optional]
    body += ["extra = NO_FIELDS", f"if len(document) > {least}:", f"    known = {least}"]
    for field in plan.optional:
        body += [f"    if {field.name!r} in document:", "        known += 1"]
        body += [f"        {field.name} = document[{field.name!r}]", indent(field.read(), "        ")]
    body += ["    if len(document) > known:", "        extra = unknown_fields(document, NAMES)"]
    body += ["made = Twin()", *[f"made.{field.name} = {field.name}" for field in plan.fields]]
    if plan.extensible:
        body += ["made.extra = extra"]
    body += ["made.__class__ = Real"]
    if hasattr(plan.cls, "__attrs_post_init__"):
        body += ["try:", "    made.__attrs_post_init__()"]
        body += ["except ValueError as error:", "    raise broken_rule(error, document) from None"]
    body += ["return made"]
    return _function(
        "read(document)",
        body,
        {
            "Fault": Fault,
            "wrong": faults.wrong,
            "no_word": faults.no_word,
            "missing": faults.missing,
            "broken_rule": faults.broken_rule,
            "valid_text": valid_text,
            "unknown_fields": _unknown_fields if plan.extensible else _refuse_unknown_fields,
            "NAMES": plan.names,
            "NO_FIELDS": NO_FIELDS,
            "Twin": _twin(plan.cls),
            "Real": plan.cls,
            **{f"default_{field.name}": field.default for field in plan.optional},
            **{f"words_{field.name}": field.kind.words for field in plan.fields},
            **{f"read_{field.name}": field.kind.codec.read for field in plan.fields if field.kind.codec},
        },
    )


def _writer(plan: _Plan) -> Writer:
    body = ["document = {", *[f"    {name!r}: {value!r}," for name, value in plan.constants.items()]]
    body += [*[f"    {field.name!r}: {field.write(f'value.{field.name}')}," for field in plan.kept], "}"]
    for field in plan.left_out:
        body += [f"{field.name} = value.{field.name}", f"if {field.differs(field.name)}:"]
        body += [f"    document[{field.name!r}] = {field.write(field.name)}"]
    if plan.extensible:
        body += ["extra = value.extra", "if extra is not NO_FIELDS:", "    add_unknown(document, extra, NAMES, value)"]
    body += ["return document"]
    return _function(
        "write(value)",
        body,
        {
            "add_unknown": _add_unknown,
            "write_word": str.__str__,
            "NAMES": plan.names,
            "NO_FIELDS": NO_FIELDS,
            **{f"write_{field.name}": field.kind.codec.write for field in plan.fields if field.kind.codec},
        },
    )


def _packer(plan: _Plan, codec: Codec) -> Writer:
    try:
        import msgspec
    except ImportError:
        return codec.write
    arguments = [repr(value) for value in plan.constants.values()]
    arguments += [field.pack(f"value.{field.name}") for field in plan.kept]
    for field in plan.left_out:
        if field.kind.pack == "{value}" and field.struct_default is field.default:
            arguments += [f"value.{field.name}"]
        else:
            differs = field.differs(f"({field.name} := value.{field.name})")
            arguments += [f"({field.pack(field.name)} if {differs} else None)"]
    body = ["if value.extra is not NO_FIELDS:", "    return write(value)"] if plan.extensible else []
    body += [f"return Wire({', '.join(arguments)})"]
    wire = msgspec.defstruct(
        plan.cls.__name__,
        [
            *plan.constants,
            *[field.name for field in plan.kept],
            *[(field.name, Any, field.struct_default) for field in plan.left_out],
        ],
        omit_defaults=True,
        gc=False,  # it lives as long as one call of the JSON writer
    )
    return _function(
        "pack(value)",
        body,
        {
            "Wire": wire,
            "write": codec.write,
            "write_word": str.__str__,
            "NO_FIELDS": NO_FIELDS,
            **{f"pack_{field.name}": field.kind.codec.pack for field in plan.fields if field.kind.codec},
        },
    )


def _function(signature: str, body: list[str], names: dict[str, Any]) -> Any:
    # Any: made from text; whoever asks for it says what it takes and returns.
    code = f"def {signature}:\n" + indent("\n".join(body), "    ")
    exec(code, names)  # noqa: S102 - the text is made above from names of fields; nothing in it comes from outside
    return names[signature.partition("(")[0]]


def _twin(cls: type) -> Any:
    # Any: it has the fields of *cls*, which no type checker can know.
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


def _unknown_fields(document: dict[str, Any], names: frozenset[str]) -> JsonObject:
    return read_object({name: value for name, value in document.items() if name not in names})


def _refuse_unknown_fields(document: dict[str, Any], names: frozenset[str]) -> None:
    for name, value in document.items():
        if name not in names:
            raise faults.wrong(f".{name}", "no field of this name", value)


def _add_unknown(document: dict[str, Any], extra: JsonObject, names: frozenset[str], value: object) -> None:
    for name, item in extra.items():
        if name in names:
            raise ValueError(f"{type(value).__name__}.extra: {name!r} is a field of its own")
        document[name] = thaw(item)
