"""
Straight-line functions for a class, made from its attrs fields.

They do what one would write by hand. Reading takes the fields out of the document, checks each in place and fills an object
without running its constructor. Writing puts the fields into a `dict` and leaves out what equals its default.

An object is filled as one of a twin class, which has the same slots and may be changed, and is then given its own class:
storing through the slot descriptors of a frozen class takes twice as long.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from textwrap import indent
from typing import Any

from assistant_events.converters import faults
from assistant_events.converters.codecs import Codec, Reader, Writer
from assistant_events.converters.faults import Fault
from assistant_events.converters.packing import packer
from assistant_events.converters.plain import read_object, write_value
from assistant_events.converters.plans import Plan, function
from assistant_events.values import JsonObject, valid_text
from assistant_events.values.fields import NO_FIELDS


class ClassCodec(Codec):
    """The codec of one class. Its reader takes for granted that the constants of the document have been looked at."""

    def __init__(self, make_plan: Callable[[], Plan]) -> None:
        super().__init__(
            lambda: _reader(self.plan), lambda: _writer(self.plan), lambda: packer(self.plan, self.write)
        )
        self._make_plan = make_plan

    @cached_property
    def plan(self) -> Plan:
        """What there is to do for the class."""
        return self._make_plan()


def _reader(plan: Plan) -> Reader:
    least = len(plan.constants) + len(plan.required)
    body = [] if plan.constants else ["if type(document) is not dict:", "    raise wrong('', 'an object', document)"]
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
    if plan.extra_may_be_unset:
        body += ["if extra is not NO_FIELDS:", "    made.extra = extra"]
    elif plan.extensible:
        body += ["made.extra = extra"]
    body += ["made.__class__ = Real"]
    if hasattr(plan.cls, "__attrs_post_init__"):
        body += ["try:", "    made.__attrs_post_init__()"]
        body += ["except ValueError as error:", "    raise broken_rule(error, document) from None"]
    body += ["return made"]
    names: dict[str, Any] = {
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
    }
    names |= {f"default_{field.name}": field.default for field in plan.optional}
    names |= {f"words_{field.name}": field.kind.words for field in plan.fields}
    names |= {f"read_{field.name}": field.kind.codec.read for field in plan.fields if field.kind.codec}
    return function("read(document)", body, names)  # type: ignore[no-any-return]


def _writer(plan: Plan) -> Writer:
    body = ["document = {", *[f"    {name!r}: {value!r}," for name, value in plan.constants.items()]]
    body += [*[f"    {field.name!r}: {field.write(f'value.{field.name}')}," for field in plan.kept], "}"]
    for field in plan.left_out:
        body += [f"{field.name} = value.{field.name}", f"if {field.differs(field.name)}:"]
        body += [f"    document[{field.name!r}] = {field.write(field.name)}"]
    if plan.extensible:
        body += ["extra = value.extra", "if extra is not NO_FIELDS:", "    add_unknown(document, extra, NAMES, value)"]
    body += ["return document"]
    names: dict[str, Any] = {"add_unknown": _add_unknown, "NAMES": plan.names, "NO_FIELDS": NO_FIELDS}
    names |= {f"write_{field.name}": field.kind.codec.write for field in plan.fields if field.kind.codec}
    return function("write(value)", body, names)  # type: ignore[no-any-return]


def _twin(cls: type) -> type:
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
        document[name] = write_value(item)
