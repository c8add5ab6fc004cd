"""
The cattrs converter of everything that is stored: one registry of the hooks of values, arrays, unions and classes.

`structure` and `unstructure` convert plain JSON in Python. `configure_converter` gives the same hooks to a converter of
an app.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from functools import partial
from operator import eq
from typing import Any, Final, TypeVar, get_args, get_origin

import cattrs
from typing_extensions import TypeForm

from assistant_events import events as ev
from assistant_events import messages as ms
from assistant_events import values as val
from assistant_events.converters import value_hooks as hooks
from assistant_events.converters.class_hooks import ClassHooks
from assistant_events.converters.value_hooks import StructureHook, UnstructureHook
from assistant_events.upcasting import EVENTS, MESSAGES, Upcasters
from assistant_events.values.construct import MadeOnce
from assistant_events.values.json_values import DOCUMENT_DEPTH, ShapeError, items_of, plain_copy

_T = TypeVar("_T")

UNIONS: Final[Mapping[Any, Mapping[str, Any]]] = {
    ev.Event: ev.EVENT_TYPES,
    **{union: {cls.type: cls for cls in get_args(union)} for union in (val.Content, ms.Part, ms.Message)},
}
"""The tagged unions, with the class for each `type`."""

SUBSETS: Final[Mapping[Any, tuple[Any, Collection[type], str]]] = {
    ev.DurableEvent: (ev.Event, ev.DURABLE_EVENTS, "a durable event"),
    ev.LiveEvent: (ev.Event, ev.LIVE_EVENTS, "a live event"),
    ev.DurableEvent | ev.UnknownEvent: (ev.Event, (*ev.DURABLE_EVENTS, ev.UnknownEvent), "a durable event"),
    ev.UnknownEvent: (ev.Event, (ev.UnknownEvent,), "an event that this version does not know"),
    **{cls: (union, (cls,), repr(tag)) for union, types in UNIONS.items() for tag, cls in types.items()},
}
"""Parts of the unions: the union that a document is structured as, the classes that may come of it, and their name."""

_VALUES: Final = {val.Usage, val.ErrorInfo, val.Origin, val.RemoteRun, val.Citation}
_OTHERS: Final = {ev.Record, ev.Frame, ms.Transcript, ms.Times, ms.Unfinished}
STORED: Final = frozenset[Any]({*UNIONS, *SUBSETS, *_VALUES, *_OTHERS})


def configure_converter(converter: cattrs.Converter) -> None:
    """
    Add the hooks of everything that is stored to a converter of cattrs, for classes of an app that hold such values.

    The reference of this package describes the documents. Types that are not stored are converted as before.
    """
    converter.register_structure_hook_func(STORED.__contains__, structure)
    converter.register_unstructure_hook_func(STORED.__contains__, unstructure)
    for cls in (val.JsonObject, val.State):
        converter.register_structure_hook(cls, partial(_structure_copy, hooks.structure_object))
        converter.register_unstructure_hook(cls, val.thaw)


def structure(data: object, cls: TypeForm[_T]) -> _T:
    """
    Return the value of plain JSON.

    Args:
        data: Plain JSON. It is not changed and may be changed later.

        cls: A union such as `Event` or `Message`, or one class that is stored.

    Raises:
        StructureError: *data* is not a *cls*, with the path of the place.

        TypeError: The library does not store a *cls*.
    """
    return _structure_copy(structure_hook(cls), data, cls)  # type: ignore[no-any-return]  # the hook's own class


def unstructure(value: object) -> Any:
    """
    Return a value as plain JSON that shares nothing with it.

    Raises:
        TypeError: The library does not store such values.

        ValueError: An unknown field has the name of a known one.
    """
    return val.thaw(unstructure_hooks[type(value)](value))


def _structure_copy(hook: StructureHook, data: object, cls: Any) -> Any:
    try:
        return hook(plain_copy(data), cls)
    except ShapeError as fault:
        raise fault.as_structure_error() from None


def structure_hook(cls: object) -> StructureHook:
    """Return the hook of a stored class or union, or raise `TypeError`. The hook takes ownership of its document."""
    hook = structure_hooks.get(id(cls))
    if hook is None:
        if not isinstance(cls, Hashable) or cls not in STORED:
            raise TypeError(f"expected a class that is stored, got {cls!r}")
        hook = _CONVERTER.get_structure_hook(cls)
        if any(cls is each for each in STORED):
            structure_hooks[id(cls)] = hook
    return hook


def _unstructure_hook(cls: Any) -> UnstructureHook:
    if cls not in STORED:
        raise TypeError(f"expected an object of a class that is stored, got {cls.__name__}")
    return _CONVERTER.get_unstructure_hook(cls)


unstructure_hooks: Final[MadeOnce[type, UnstructureHook]] = MadeOnce(_unstructure_hook)
"""By class; `TypeError` for one that is not stored. A document shares frozen JSON with its value."""

structure_hooks: Final[dict[int, StructureHook]] = {}
"""By identity: the hash of a union of 28 classes takes half as long as structuring an event."""


def _stored_structure_hook(hint: Any) -> StructureHook:
    if hint is ms.Transcript:
        return _transcript_hook()
    if hint in SUBSETS:
        return _subset_hook(*SUBSETS[hint])
    if hint == ev.Event:
        return _event_hook(ev.EVENT_TYPES, EVENTS)
    if hint == ms.Message:
        return _message_hook(UNIONS[hint], MESSAGES)
    return _union_hook(UNIONS[hint]) if hint in UNIONS else _class_hooks[hint]


def _union_hook(types: Mapping[str, Any], structure_other: StructureHook | None = None) -> StructureHook:
    """Return the hook of a tagged union. *structure_other* is called for other types, and for other versions."""
    known = MadeOnce[Any, Any](lambda tag: (_class_hooks[types[tag]], getattr(types[tag], "version", None)))

    def structure_union(document: Any, hint: Any) -> Any:
        try:
            hook, version = known[document["type"]]
        except (KeyError, TypeError):
            if structure_other is None:
                raise hooks.unknown_word(types, hooks.tag_of(document), ".type") from None
            return structure_other(document, hint)
        # Identity refuses `true` and 1.0. CPython shares small integers; for others the result is the same.
        if structure_other is not None and document.get("v") is not version:
            return structure_other(document, hint)
        return hook(document, hint)

    return structure_union


def _message_hook(types: Mapping[str, Any], upcasters: Upcasters) -> StructureHook:
    """Return the hook of messages: older versions are upcast, newer ones are refused."""

    def structure_other(document: Any, hint: Any) -> Any:
        if (tag := hooks.tag_of(document)) not in types:
            raise hooks.unknown_word(types, tag, ".type")
        version = _version_of(document, types[tag].version, "a message")
        return _class_hooks[types[tag]](plain_copy(upcasters.upcast({**document, "v": version})), hint)

    return _union_hook(types, structure_other)


def _event_hook(types: Mapping[str, Any], upcasters: Upcasters) -> StructureHook:
    """Return the hook of events: older versions are upcast; newer ones and unknown types are kept as they are."""

    def structure_other(document: Any, hint: Any) -> Any:
        tag = hooks.tag_of(document)
        version = _version_of(document)
        if tag in types:
            newest = {"v": 1, **plain_copy(upcasters.upcast(document))}
            if newest["v"] == types[tag].version:
                return _class_hooks[types[tag]](newest, hint)
        # A record around the event is one level more.
        data = hooks.structure_object(document, val.State, DOCUMENT_DEPTH - 1)
        return ev.UnknownEvent(type=tag, version=version, data=data)

    return _union_hook(types, structure_other)


def _subset_hook(union: Any, classes: Collection[type], expected: str) -> StructureHook:
    structure_union, allowed = _CONVERTER.get_structure_hook(union), frozenset(classes)

    def structure_subset(document: Any, _: Any) -> Any:
        made = structure_union(document, union)
        if type(made) not in allowed:
            raise ShapeError(expected, repr(document["type"]), ".type")
        return made

    return structure_subset


def _transcript_hook() -> StructureHook:
    hook, newest = _class_hooks[ms.Transcript], ms.Transcript.version

    def structure_transcript(document: Any, cls: Any) -> Any:
        version = _version_of(hooks.check_object(document), newest, "a transcript")
        return hook({**document, "v": version}, cls)

    return structure_transcript


def _version_of(document: Mapping[str, Any], newest: int | None = None, name: str = "") -> int:
    """Return the version of a document; with *newest*, a newer one is refused."""
    version: Any = document.get("v", 1)
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise hooks.wrong(".v", "an integer of 1 or more", version)
    if newest is not None and version > newest:
        raise ShapeError(f"{name} of version {newest}", f"one of version {version}", ".v")
    return version


def _stored_unstructure_hook(hint: Any) -> UnstructureHook:
    if hint is ev.UnknownEvent:
        return _unstructure_unknown
    if isinstance(hint, type):
        return CLASS_HOOKS.unstructure_hook(hint)
    return lambda value: unstructure_hooks[type(value)](value)


def _unstructure_unknown(event: ev.UnknownEvent) -> Any:
    if event.data.get("type") != event.type or event.data.get("v", 1) != event.version:
        raise ValueError(f"UnknownEvent.data: expected the whole document of {event.type!r}, version {event.version}")
    return items_of(event.data)


def _refuse(hint: Any) -> Any:
    raise TypeError(f"no wire form for {hint}")


def _is_tuple(hint: Any) -> bool:
    return get_origin(hint) is tuple


def _library_converter() -> cattrs.Converter:
    converter = cattrs.Converter()
    # The defaults of cattrs convert values.
    converter.register_structure_hook_factory(lambda _: True, _refuse)
    for hint, (structure_value, unstructure_value, _) in hooks.VALUE_HOOKS.items():
        if isinstance(hint, type):
            converter.register_structure_hook(hint, structure_value)
            converter.register_unstructure_hook(hint, unstructure_value)
        else:  # unions, literals and generic types
            converter.register_structure_hook_func(partial(eq, hint), structure_value)
            converter.register_unstructure_hook_func(partial(eq, hint), unstructure_value)
    converter.register_structure_hook_factory(_is_tuple, hooks.structure_tuple)
    converter.register_unstructure_hook_func(
        _is_tuple, lambda values: [unstructure_hooks[type(value)](value) for value in values]
    )
    converter.register_structure_hook_factory(STORED.__contains__, _stored_structure_hook)
    converter.register_unstructure_hook_factory(STORED.__contains__, _stored_unstructure_hook)
    return converter


_CONVERTER: Final = _library_converter()
_WITH_STATUS: Final = dict.fromkeys((*ms.PART_CLASSES, *ms.MESSAGE_CLASSES), ("status",))
CLASS_HOOKS: Final = ClassHooks(_CONVERTER, {ms.Transcript: ("messages", "seq", "rewound"), **_WITH_STATUS})
_class_hooks: Final[MadeOnce[type, StructureHook]] = MadeOnce(CLASS_HOOKS.structure_hook)
