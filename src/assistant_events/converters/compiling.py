"""
Straight-line functions for a class, made from its attrs fields.

They do what one would write by hand. Reading takes the fields out of the document, checks each in place and fills an
object without running its constructor. Writing puts the fields into a `dict` and leaves out what equals its default.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from textwrap import indent
from typing import Any, NoReturn

from typing_extensions import override

from assistant_events.converters import faults
from assistant_events.converters.codecs import Codec, Packer, Reader, Unpacker, Writer
from assistant_events.converters.plain import read_object, write_value
from assistant_events.converters.plans import Plan, function, twin
from assistant_events.values import JsonObject, valid_text
from assistant_events.values.validators import NO_FIELDS


class ClassCodec(Codec):
    """
    The codec of one class.

    Its reader and its unpacker take for granted that the document is an object that has the constants of the class.
    """

    def __init__(self, make_plan: Callable[[], Plan]) -> None:
        self._make_plan = make_plan

    @cached_property
    def plan(self) -> Plan:
        """What there is to do for the class."""
        return self._make_plan()

    @override
    def make_reader(self) -> Reader:
        return _reader(self.plan)

    @override
    def make_writer(self) -> Writer:
        return _writer(self.plan)

    @override
    def make_wire(self) -> Any:
        from assistant_events.converters import structs

        return structs.struct_of(self.plan)

    @override
    def make_packer(self) -> Packer:
        from assistant_events.converters import structs

        return structs.packer(self.plan, self.wire, self.write)

    @override
    def make_unpacker(self) -> Unpacker:
        from assistant_events.converters import structs

        return structs.unpacker(self.plan)


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
    names: dict[str, Any] = {
        **vars(faults),
        "valid_text": valid_text,
        "unknown_fields": _unknown_fields if plan.extensible else _refuse_unknown_fields,
        "NAMES": plan.names,
        "NO_FIELDS": NO_FIELDS,
        "Twin": twin(plan.cls),
        "Real": plan.cls,
    }
    names |= {f"default_{field.name}": field.default for field in plan.optional}
    names |= {f"words_{field.name}": field.kind.words for field in plan.fields}
    names |= {f"read_{field.name}": field.kind.codec.read for field in plan.fields if field.kind.codec}
    reader: Reader = function("read(document)", [*body, "return made"], names)
    return reader


def _writer(plan: Plan) -> Writer:
    body = ["document = {", *[f"    {name!r}: {value!r}," for name, value in plan.constants.items()]]
    body += [*[f"    {field.name!r}: {field.write(f'value.{field.name}')}," for field in plan.kept], "}"]
    for field in plan.left_out:
        body += [f"{field.name} = value.{field.name}", f"if {field.differs(field.name)}:"]
        body += [f"    document[{field.name!r}] = {field.write(field.name)}"]
    if plan.extensible:
        body += ["extra = value.extra", "if extra is not NO_FIELDS:", "    add_unknown(document, extra, NAMES, value)"]
    names: dict[str, Any] = {"add_unknown": _add_unknown, "NAMES": plan.names, "NO_FIELDS": NO_FIELDS}
    names |= {f"write_{field.name}": field.kind.codec.write for field in plan.fields if field.kind.codec}
    writer: Writer = function("write(value)", [*body, "return document"], names)
    return writer


def _unknown_fields(document: dict[str, Any], names: frozenset[str]) -> Any:
    return read_object({name: value for name, value in document.items() if name not in names})


def _refuse_unknown_fields(document: dict[str, Any], names: frozenset[str]) -> NoReturn:
    name = next(name for name in document if name not in names)
    raise faults.wrong(f".{name}", "no field of this name", document[name])


def _add_unknown(document: dict[str, Any], extra: JsonObject, names: frozenset[str], value: object) -> None:
    for name, item in extra.items():
        if name in names:
            raise ValueError(f"{type(value).__name__}.extra: {name!r} is a field of its own")
        document[name] = write_value(item)
