"""
The cattrs hooks of the library's own attrs classes: straight-line functions, compiled from the fields of a class.

The functions of `cattrs.gen` take 1.5 times as long on these classes. Structuring takes the fields out of the document,
checks each in place and makes the instance without its constructor. Unstructuring puts the fields into a `dict` and
omits those that equal their default. Fields other than strings, numbers and booleans go through hooks of the converter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import EnumMeta
from textwrap import indent
from types import NoneType
from typing import Any, NamedTuple, NoReturn, Union, get_args, get_type_hints

import attrs
from attrs import NOTHING
from cattrs import Converter

from assistant_events.converters import value_hooks as hooks
from assistant_events.converters.value_hooks import Schema, StructureHook, UnstructureHook, structure_object, wrong
from assistant_events.values import JsonObject, State, valid_text
from assistant_events.values.construct import compiled, construction
from assistant_events.values.validators import NO_FIELDS, Extensible, check_name, check_seq

_VALID_TEXT = """
if not {x}.isascii():
    try:
        {x}.encode()
    except UnicodeEncodeError:
        {x} = valid_text({x})"""

_FROZEN = """
try:
    {x} = own_object({x}, type_{x})
except JsonError:
    raise ShapeError(*TOO_DEEP, '.{x}') from None"""


class _Check(NamedTuple):
    wrong: str
    """The condition under which a value is wrong."""

    expected: str
    conversion: str
    """The statements that convert a value that is right."""

    schema: Schema


_CHECKS: Mapping[tuple[Any, Any], _Check] = {
    (JsonObject, None): _Check("type({x}) is not dict", "an object", _FROZEN, {"type": "object"}),
    (State, None): _Check("type({x}) is not dict", "an object", _FROZEN, {"type": "object"}),
    (str, check_name): _Check("type({x}) is not str or not {x}", "a non-empty string", "", hooks.NAME),
    (str, None): _Check("type({x}) is not str", "a string", _VALID_TEXT, {"type": "string"}),
    (bool, None): _Check("{x} is not True and {x} is not False", "true or false", "", {"type": "boolean"}),
    (int, check_seq): _Check(
        "type({x}) is not int or {x} < 1", "an integer of 1 or more", "", {"type": "integer", "minimum": 1}
    ),
    (int, None): _Check(
        "type({x}) is not int or {x} < 0", "an integer of 0 or more", "", {"type": "integer", "minimum": 0}
    ),
    (float, None): _Check(
        "type({x}) not in (int, float) or not 0 <= {x} < 1 << 63",
        "a number of 0 or more",
        "\n{x} = float({x})",
        {"type": "number", "minimum": 0, "exclusiveMaximum": 1 << 63},
    ),
}
"""By annotation and validator; `None` for any other validator."""

_HOOK = """\
try:
    {x} = read_{x}({x}, type_{x})
except ShapeError as fault:
    raise fault.under('.{x}') from None"""


class _Field(NamedTuple):
    name: str
    default: Any
    hint: Any  # the annotation without `None`
    check: _Check | None  # `None` for a field with a hook


@attrs.frozen
class ClassHooks:
    """Makes the hooks of attrs classes."""

    converter: Converter
    """Has the hooks of all other types."""

    always: Mapping[Any, Collection[str]]
    """The fields of a class that are written even when they equal their default."""

    def structure_hook(self, cls: type) -> StructureHook:
        """Return the function that makes an instance of a class from a document, whose `type` and `v` were checked."""
        fields, constants, extensible = _fields_of(cls), _constants_of(cls), issubclass(cls, Extensible)
        required = [field for field in fields if field.default is NOTHING]
        optional = [field for field in fields if field.default is not NOTHING]
        least = len(constants) + len(required)
        construct, construct_names = construction(cls)
        # Parameters with defaults cost nothing where assignments would.
        defaults = ", ".join([*[f"{field.name}=default_{field.name}" for field in optional], "extra=NO_FIELDS"])
        names: dict[str, Any] = {
            **vars(hooks),
            "valid_text": valid_text,
            "unknown_fields": _unknown_fields if extensible else _refuse_unknown_fields,
            "NAMES": frozenset({*constants, *[field.name for field in fields]}),
            "NO_FIELDS": NO_FIELDS,
            **construct_names,
            **{f"default_{field.name}": field.default for field in optional},
        }
        body = [] if constants else ["if type(document) is not dict:", "    raise wrong('', 'an object', document)"]
        if required:
            body += ["try:", *[f"    {field.name} = document[{field.name!r}]" for field in required]]
            body += ["except KeyError as error:", "    raise ShapeError(*MISSING, '.' + error.args[0]) from None"]
            body += [self._checked(field, names) for field in required]
        body += [f"if len(document) > {least}:", f"    known = {least}"]
        for field in optional:
            body += [f"    if {field.name!r} in document:", "        known += 1"]
            body += [f"        {field.name} = document[{field.name!r}]", indent(self._checked(field, names), " " * 8)]
        body += ["    if len(document) > known:", "        extra = unknown_fields(document, NAMES)"]
        body += construct
        if hasattr(cls, "__attrs_post_init__"):
            body += ["try:", "    made.__attrs_post_init__()"]
            body += ["except ValueError as error:", "    raise broken_rule(error, document) from None"]
        return compiled(f"structure(document, _, {defaults})", [*body, "return made"], names)

    def unstructure_hook(self, cls: type) -> UnstructureHook:
        """Return the function that makes the document of an instance of a class."""
        fields, constants, always = _fields_of(cls), _constants_of(cls), self.always.get(cls, ())
        kept = [field for field in fields if field.default is NOTHING or field.name in always]
        names: dict[str, Any] = {
            "add_unknown_fields": _add_unknown_fields,
            "NAMES": frozenset({*constants, *[field.name for field in fields]}),
            "NO_FIELDS": NO_FIELDS,
        }
        body = ["document = {", *[f"    {name!r}: {value!r}," for name, value in constants.items()]]
        body += [f"    {field.name!r}: {self._written(field, f'value.{field.name}', names)}," for field in kept]
        body += ["}"]
        for field in fields:
            if field not in kept:
                body += [f"{field.name} = value.{field.name}", f"if {_differs(field)}:"]
                body += [f"    document[{field.name!r}] = {self._written(field, field.name, names)}"]
        if issubclass(cls, Extensible):
            body += ["if value.extra is not NO_FIELDS:", "    add_unknown_fields(document, value, NAMES)"]
        return compiled("unstructure(value)", [*body, "return document"], names)

    def schema(self, cls: type, schema_of: Callable[[Any], Schema], *, written: bool) -> Schema:
        """
        Return the JSON Schema of the documents of a class; *schema_of* returns that of an annotation.

        With *written* it is that of the documents that `unstructure_hook` makes, which have no `null` for `None`.
        """
        constants, always = _constants_of(cls), self.always.get(cls, ())
        properties: dict[str, Schema] = {name: {"const": value} for name, value in constants.items()}
        required = [*constants] if written else [name for name in constants if name == "type"]
        for field in _fields_of(cls):
            schema = schema_of(field.hint) if field.check is None else field.check.schema
            if field.default is None and not written:
                schema = {"anyOf": [schema, {"type": "null"}]}
            properties[field.name] = schema
            if field.default is NOTHING or (written and field.name in always):
                required.append(field.name)
        object_: Schema = {"type": "object", "properties": properties, "required": required}
        return object_ if issubclass(cls, Extensible) else {**object_, "additionalProperties": False}

    def _checked(self, field: _Field, names: dict[str, Any]) -> str:
        """Return the statements that check the variable of a field and convert it where needed."""
        names[f"type_{field.name}"] = field.hint
        if field.check is None:
            names[f"read_{field.name}"], check = self.converter.get_structure_hook(field.hint), _HOOK
        else:
            condition, expected, conversion, _ = field.check
            check = f"if {condition}:\n    raise wrong('.{{x}}', {expected!r}, {{x}})" + conversion
        if field.default is None:
            check = "if {x} is not None:\n" + indent(check, "    ")
        return check.replace("{x}", field.name)

    def _written(self, field: _Field, value: str, names: dict[str, Any]) -> str:
        """Return the expression of what the document holds for a value."""
        if field.hint in (JsonObject, State):
            return f"{value}._json"
        if field.check is not None:
            return value
        if isinstance(field.hint, EnumMeta):
            return f"{value}._value_"
        names[f"write_{field.name}"] = self.converter.get_unstructure_hook(field.hint)
        return f"write_{field.name}({value})"


def _constants_of(cls: type) -> Mapping[str, object]:
    """Return the first fields of a document: the `type` and the version `v` of its class, where it has them."""
    names = (("type", "type"), ("v", "version"))
    return {name: getattr(cls, attribute) for name, attribute in names if hasattr(cls, attribute)}


def _fields_of(cls: type) -> list[_Field]:
    hints, fields = get_type_hints(cls), list[_Field]()
    for field in attrs.fields(cls):
        hint = hints[field.name]
        if field.default is None:
            hint = Union[tuple([each for each in get_args(hint) if each is not NoneType])]  # noqa: UP007 - computed
        validator = getattr(field.validator, "validator", field.validator)  # that inside of `optional`
        check = _CHECKS.get((hint, validator)) or _CHECKS.get((hint, None))
        fields.append(_Field(field.name, field.default, hint, check))
    return [field for field in fields if field.name != "extra"]


def _differs(field: _Field) -> str:
    if field.default is None or isinstance(field.default, bool):
        return f"{field.name} is not {field.default}"
    return f"{field.name}._json" if field.hint in (JsonObject, State) else field.name


def _unknown_fields(document: dict[str, Any], names: frozenset[str]) -> Any:
    return structure_object({name: value for name, value in document.items() if name not in names}, JsonObject)


def _refuse_unknown_fields(document: dict[str, Any], names: frozenset[str]) -> NoReturn:
    name = next(name for name in document if name not in names)
    raise wrong(f".{name}", "no field of this name", document[name])


def _add_unknown_fields(document: dict[str, Any], value: Extensible, names: frozenset[str]) -> None:
    for name, item in value.extra.items():
        if name in names:
            raise ValueError(f"{type(value).__name__}.extra: {name!r} is a field of its own")
        document[name] = item
