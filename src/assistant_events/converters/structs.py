"""
The same wire form by msgspec, which reads and writes a `Struct` faster than a `dict`.

Packing makes structs out of objects, for msgspec to write. For reading, msgspec makes the structs and checks them on
the way, and unpacking makes objects out of them. What msgspec refuses is read again by the functions of `compiling`,
which know about unknown fields and other versions and name what is wrong: here it is enough to accept the same or less.
"""

from __future__ import annotations

from collections.abc import Sequence
from gc import get_referents
from typing import Annotated, Any, Literal, Optional

import msgspec

from assistant_events.converters.codecs import Packer, Unpacker, Writer
from assistant_events.converters.faults import span_end
from assistant_events.converters.plans import Field, Plan, function, twin
from assistant_events.values import JsonObject
from assistant_events.values.validators import NO_FIELDS


def struct_of(plan: Plan) -> type:
    """Return the struct for a class: constants, fields that are always written, then the others."""
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = [
        (name, Literal[value]) for name, value in plan.constants.items() if name != "type"
    ]
    fields += [(field.name, _annotation(field)) for field in plan.kept]
    fields += [(field.name, _annotation(field), _struct_default(field)) for field in plan.left_out]
    tag = plan.constants.get("type")
    return msgspec.defstruct(
        plan.cls.__name__,
        fields,
        tag=tag if isinstance(tag, str) else None,
        tag_field="type" if tag else None,
        omit_defaults=True,
        forbid_unknown_fields=True,
        gc=False,  # it lives as long as one call
    )


def packer(plan: Plan, struct: type, write: Writer) -> Packer:
    """Return the function that packs an object; one with unknown fields is left to *write*."""
    packed, names = _packed(plan, struct, write)
    pack: Packer = function("pack(value)", [f"return {packed}"], names)
    return pack


def array_packer(classes: Sequence[tuple[Plan, type, Writer]]) -> Packer:
    """
    Return the function that packs a tuple of objects of several classes, each with its plan, struct and writer.

    All is done in one loop: a message has many parts, and a call for each would cost half as much again.
    """
    body, names = ["packed = []", "for value in values:", "    cls = type(value)"], dict[str, Any]()
    for at, (plan, struct, write) in enumerate(classes):
        packed, more = _packed(plan, struct, write, f"c{at}_")
        body += [f"    {'if' if at == 0 else 'elif'} cls is c{at}_class:", f"        packed.append({packed})"]
        names |= {**more, f"c{at}_class": plan.cls}
    pack: Packer = function("pack(values)", [*body, "return packed"], names)
    return pack


def unpacker(plan: Plan) -> Unpacker:
    """Return the function that makes an object of a struct; `ShapeError` and `ValueError` tell that it cannot."""
    body = ["made = Twin()"]
    for field in plan.fields:
        value = f"wire.{field.name}"
        if field.kept or (field.kind.unpack == "{value}" and _left_out_by_msgspec(field)):
            body += [f"made.{field.name} = {field.unpack(value)}"]
        else:
            unpacked = field.unpack(field.name)
            body += [f"{field.name} = {value}"]
            body += [f"made.{field.name} = default_{field.name} if {field.name} is None else {unpacked}"]
    if plan.extensible and not plan.extra_may_be_unset:
        body += ["made.extra = NO_FIELDS"]
    body += ["made.__class__ = Real"]
    if hasattr(plan.cls, "__attrs_post_init__"):
        body += ["made.__attrs_post_init__()"]
    names: dict[str, Any] = {"Twin": twin(plan.cls), "Real": plan.cls, "NO_FIELDS": NO_FIELDS, "span_end": span_end}
    names |= {f"default_{field.name}": field.default for field in plan.fields}
    names |= {f"words_{field.name}": field.kind.words for field in plan.fields}
    names |= {f"unpack_{field.name}": field.kind.codec.unpack for field in plan.fields if field.kind.codec}
    unpack: Unpacker = function("unpack(wire)", [*body, "return made"], names)
    return unpack


def _annotation(field: Field) -> Any:
    kind = field.kind
    annotation = kind.codec.wire if kind.codec else kind.wire
    if kind.least is not None:
        limits = msgspec.Meta(min_length=kind.least) if kind.wire is str else msgspec.Meta(ge=kind.least)
        annotation = Annotated[annotation, limits]
    return Optional[annotation] if field.default is None else annotation  # noqa: UP045 - made at run time


def _struct_default(field: Field) -> bool | None:
    # None stands for every empty default. Where null is no value of the field, msgspec refuses it all the same.
    return field.default if isinstance(field.default, bool) else None


def _left_out_by_msgspec(field: Field) -> bool:
    return field.default is _struct_default(field)


def _packed(plan: Plan, struct: type, write: Writer, prefix: str = "") -> tuple[str, dict[str, Any]]:
    """Return the expression that packs `value`, and the names in it, which begin with *prefix*."""
    arguments = [repr(value) for name, value in plan.constants.items() if name != "type"]
    arguments += [field.pack(f"value.{field.name}", prefix) for field in plan.kept]
    arguments += [_argument(field, prefix) for field in plan.left_out]
    packed = f"{prefix}Struct({', '.join(arguments)})"
    if plan.extensible:
        packed = f"({packed} if {_no_extra(plan)} else {prefix}write(value))"
    names: dict[str, Any] = {
        f"{prefix}Struct": struct,
        f"{prefix}write": write,
        "get_referents": get_referents,
        "JsonObject": JsonObject,
        "NO_FIELDS": NO_FIELDS,
    }
    names |= {f"pack_{prefix}{field.name}": field.kind.codec.pack for field in plan.fields if field.kind.codec}
    return packed, names


def _argument(field: Field, prefix: str) -> str:
    if field.kind.pack == "{value}" and _left_out_by_msgspec(field):
        return f"value.{field.name}"
    variable = prefix + field.name
    differs = field.differs(f"({variable} := value.{field.name})")
    return f"({field.pack(variable, prefix)} if {differs} else None)"


def _no_extra(plan: Plan) -> str:
    if plan.extra_may_be_unset:
        # To read a slot that was never filled takes longer than all the rest. What an object refers to is what its
        # slots hold, and its class.
        return f"len(get_referents(value)) == {len(plan.fields) + 1} or value.extra is NO_FIELDS"
    return "value.extra is NO_FIELDS"
