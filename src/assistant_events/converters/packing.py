"""
What msgspec writes fastest: a `Struct` for each object, which is quicker to make and to write than a `dict`.

Without msgspec the packed form is the plain one.
"""

from __future__ import annotations

from collections.abc import Sequence
from gc import get_referents
from typing import Any

from assistant_events.converters.codecs import Writer
from assistant_events.converters.plans import Field, Plan, function
from assistant_events.values import JsonObject
from assistant_events.values.fields import NO_FIELDS


def packer(plan: Plan, write: Writer) -> Writer:
    """Return the function that packs an object; *write* does it where msgspec is not installed, and for unknown fields."""
    try:
        packed, names = _packed(plan, write)
    except ImportError:
        return write
    return function("pack(value)", [f"return {packed}"], names)  # type: ignore[no-any-return]


def array_packer(plans: Sequence[tuple[Plan, Writer]]) -> Writer:
    """
    Return the function that packs a tuple of objects of several classes, each with its plan and its writer.

    All is done in one loop: a message has many parts, and a call for each would cost half as much again.
    """
    body, names = ["packed = []", "for value in values:", "    cls = type(value)"], dict[str, Any]()
    for at, (plan, write) in enumerate(plans):
        try:
            packed, more = _packed(plan, write, f"c{at}_")
        except ImportError:
            packed, more = f"c{at}_write(value)", {f"c{at}_write": write}
        body += [f"    {'if' if at == 0 else 'elif'} cls is c{at}_class:", f"        packed.append({packed})"]
        names |= {**more, f"c{at}_class": plan.cls}
    return function("pack(values)", [*body, "return packed"], names)  # type: ignore[no-any-return]


def _packed(plan: Plan, write: Writer, prefix: str = "") -> tuple[str, dict[str, Any]]:
    """Return the expression that packs `value`, and the names in it, which begin with *prefix*."""
    import msgspec

    wire = msgspec.defstruct(
        plan.cls.__name__,
        [
            *plan.constants,
            *[field.name for field in plan.kept],
            *[(field.name, Any, _struct_default(field)) for field in plan.left_out],
        ],
        omit_defaults=True,
        gc=False,  # it lives as long as one call of the writer
    )
    arguments = [repr(value) for value in plan.constants.values()]
    arguments += [field.pack(f"value.{field.name}", prefix + field.name) for field in plan.kept]
    arguments += [_argument(field, prefix + field.name) for field in plan.left_out]
    packed = f"{prefix}Wire({', '.join(arguments)})"
    if plan.extensible:
        packed = f"({packed} if {_no_extra(plan)} else {prefix}write(value))"
    names: dict[str, Any] = {
        f"{prefix}Wire": wire,
        f"{prefix}write": write,
        "get_referents": get_referents,
        "JsonObject": JsonObject,
        "NO_FIELDS": NO_FIELDS,
    }
    names |= {f"pack_{prefix}{field.name}": field.kind.codec.pack for field in plan.fields if field.kind.codec}
    return packed, names


def _argument(field: Field, variable: str) -> str:
    if field.kind.pack == "{value}" and _struct_default(field) is field.default:
        return f"value.{field.name}"  # msgspec leaves it out by itself
    differs = field.differs(f"({variable} := value.{field.name})")
    return f"({field.pack(variable, variable)} if {differs} else None)"


def _struct_default(field: Field) -> bool | None:
    return field.default if isinstance(field.default, bool) else None


def _no_extra(plan: Plan) -> str:
    if plan.extra_may_be_unset:
        # To read a slot that was never filled takes longer than all the rest. What an object refers to is what its slots
        # hold, and its class.
        return f"len(get_referents(value)) == {len(plan.fields) + 1} or value.extra is NO_FIELDS"
    return "value.extra is NO_FIELDS"
