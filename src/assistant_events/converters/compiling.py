"""
Straight-line functions for a class, made from its attrs fields.

What they do is what one would write by hand: take the fields out of the document, check each in place, and fill a new object
without running its constructor; or put the fields of an object into a `dict`, leaving out what equals its default. Reading
fills an object of a twin class that has the same slots and may be changed, and then gives it the class of the real one: in
CPython that costs a third of storing through the slot descriptors of a frozen class, and a fifth of its constructor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from textwrap import indent
from types import NoneType
from typing import Any, TypeAlias, get_args, get_origin, get_type_hints

import attrs
from attrs import NOTHING, Attribute, frozen

from assistant_events.converters import faults
from assistant_events.converters.faults import Fault
from assistant_events.converters.kinds import NAME, SEQ, SPAN_END, Codec, Kind, optional, tuple_of
from assistant_events.converters.plain import as_dict, read_object
from assistant_events.events import _check_seq
from assistant_events.values import JsonObject, fields, thaw, valid_text
from assistant_events.values.facts import _check_span
from assistant_events.values.fields import NO_FIELDS, Extensible

Kinds: TypeAlias = Mapping[Any, Kind]
"""Kind of field for every annotation, without `| None` and `tuple[..., ...]`."""

# One annotation, several rules: the validator tells.
_BY_VALIDATOR: dict[tuple[object, type], Kind] = {
    (fields._check_name, str): NAME,
    (_check_seq, int): SEQ,
    (_check_span, int): SPAN_END,
}


@frozen
class _Field:
    name: str
    kind: Kind
    default: Any

    def code(self, template: str) -> str:
        return template.replace("{x}", self.name)

    def written(self, value: str) -> str:
        return self.code(self.kind.write).replace("{value}", value)


def compile_class(
    cls: type, kinds: Kinds, *, tag: Mapping[str, object] | None = None, always: Iterable[str] = ()
) -> Codec:
    """
    Return the functions that read and write objects of *cls*.

    Args:
        cls: A slotted attrs class.

        kinds: What may stand in its fields.

        tag: Constant fields of the document. Whoever calls the reader has looked at them.

        always: Fields that are written even when they equal their default.
    """
    tag = tag or {}
    plan = [
        _Field(field.name, _kind(field, kinds, hint), field.default)
        for field, hint in _fields_and_hints(cls)
        if field.name != "extra"
    ]
    names = frozenset({*tag, *[field.name for field in plan]})
    reading: dict[str, Any] = {
        "Fault": Fault,
        "wrong": faults.wrong,
        "no_word": faults.no_word,
        "missing": faults.missing,
        "broken_rule": faults.broken_rule,
        "as_dict": as_dict,
        "valid_text": valid_text,
        "unknown_fields": _unknown_fields,
        "refuse_unknown": _refuse_unknown,
        "NAMES": names,
        "NO_FIELDS": NO_FIELDS,
        "Twin": _twin(cls),
        "Real": cls,
        **{f"default_{field.name}": field.default for field in plan},
        **{f"words_{field.name}": field.kind.words for field in plan if field.kind.words},
        **{f"read_{field.name}": field.kind.codec.read for field in plan if field.kind.codec},
    }
    read = _function("read", _reading(cls, plan, len(tag)), reading)
    code = _writing(cls, plan, tag, frozenset(always))
    shared = {"NAMES": names, "NO_FIELDS": NO_FIELDS, "add_unknown": _add_unknown, "write_word": str.__str__}
    write, share = (
        _function(
            "write",
            code,
            {**shared, **{f"write_{field.name}": pick(field.kind.codec) for field in plan if field.kind.codec}},
        )
        for pick in (lambda codec: codec.write, lambda codec: codec.share)
    )
    return Codec(read, write, share)


def _fields_and_hints(cls: type) -> list[tuple[Attribute[Any], Any]]:
    hints = get_type_hints(cls)
    return [(field, hints[field.name]) for field in attrs.fields(cls)]


def _kind(field: Attribute[Any], kinds: Kinds, hint: Any) -> Kind:
    if (field.validator, hint) in _BY_VALIDATOR:
        return _BY_VALIDATOR[field.validator, hint]
    if hint in kinds:
        return kinds[hint]
    if get_origin(hint) is tuple:
        return tuple_of(kinds[get_args(hint)[0]].codec)
    (inner,) = [argument for argument in get_args(hint) if argument is not NoneType]
    return optional(_kind(field, kinds, inner))


def _reading(cls: type, plan: list[_Field], tags: int) -> str:
    required = [field for field in plan if field.default is NOTHING]
    defaulted = [field for field in plan if field.default is not NOTHING]
    extensible = issubclass(cls, Extensible)
    body = ["if type(document) is not dict:", "    document = as_dict(document)"]
    if required:
        body += [
            "try:",
            *[field.code("    {x} = document['{x}']") for field in required],
            "except KeyError as error:",
            "    raise missing(error) from None",
            *[field.code(field.kind.read) for field in required],
        ]
    body += [field.code("{x} = default_{x}") for field in defaulted]
    if extensible:
        body += ["extra = NO_FIELDS"]
    body += [f"if len(document) > {tags + len(required)}:", f"    known = {tags + len(required)}"]
    for field in defaulted:
        body += [
            field.code("    if '{x}' in document:"),
            field.code("        known += 1\n        {x} = document['{x}']"),
            indent(field.code(field.kind.read), "        "),
        ]
    body += ["    if len(document) > known:"]
    body += [
        "        extra = unknown_fields(document, NAMES)" if extensible else "        refuse_unknown(document, NAMES)"
    ]
    body += ["made = Twin()"]
    if extensible:
        body += ["made.extra = extra"]
    body += [field.code("made.{x} = {x}") for field in plan]
    body += ["made.__class__ = Real"]
    if hasattr(cls, "__attrs_post_init__"):
        body += ["try:", "    made.__attrs_post_init__()"]
        body += ["except ValueError as error:", "    raise broken_rule(error, document) from None"]
    body += ["return made"]
    return "def read(document):\n" + indent("\n".join(body), "    ")


def _writing(cls: type, plan: list[_Field], tag: Mapping[str, object], always: frozenset[str]) -> str:
    kept = [field for field in plan if field.default is NOTHING or field.name in always]
    constant = [f"{name!r}: {value!r}" for name, value in tag.items()]
    body = [
        "document = {",
        *[f"    {each}," for each in constant],
        *[f"    '{field.name}': {field.written(f'value.{field.name}')}," for field in kept],
        "}",
    ]
    for field in plan:
        if field not in kept:
            body += [
                field.code("{x} = value.{x}"),
                field.code(f"if {_differs(field)}:\n    document['{{x}}'] = {field.written(field.name)}"),
            ]
    if issubclass(cls, Extensible):
        body += ["extra = value.extra", "if extra is not NO_FIELDS:", "    add_unknown(document, extra, NAMES, value)"]
    body += ["return document"]
    return "def write(value):\n" + indent("\n".join(body), "    ")


def _differs(field: _Field) -> str:
    if field.default is None or isinstance(field.default, bool):
        return f"{{x}} is not {field.default}"
    return field.kind.filled


def _function(name: str, code: str, names: dict[str, Any]) -> Any:
    # Any: compiled from text; `compile_class` says what it takes and returns.
    exec(code, names)  # noqa: S102 - the text is made above from the names of fields, nothing of it comes from outside
    return names[name]


def _twin(cls: type) -> type:
    slots = [name for name in cls.__dict__["__slots__"]]
    return type(
        f"_{cls.__name__}",
        cls.__bases__,
        {
            "__slots__": slots,
            "__init__": object.__init__,
            "__setattr__": object.__setattr__,
            # Without this one Python would take the slow way for __setattr__ too.
            "__delattr__": object.__delattr__,
        },
    )


def _unknown_fields(document: dict[str, Any], names: frozenset[str]) -> JsonObject:
    return read_object({name: value for name, value in document.items() if name not in names})


def _refuse_unknown(document: dict[str, Any], names: frozenset[str]) -> None:
    for name, value in document.items():
        if name not in names:
            raise faults.wrong(f".{name}", "no such field", value)


def _add_unknown(document: dict[str, Any], extra: JsonObject, names: frozenset[str], value: object) -> None:
    for name, item in extra.items():
        if name in names:
            raise ValueError(f"{type(value).__name__}.extra: {name!r} is a field of its own")
        document[name] = thaw(item)
