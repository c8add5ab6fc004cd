"""What an adapter remembers is of one stream: its classes and modules are after it as they were before."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Final

from assistant_events.adapters.base import DecoderBase
from assistant_events.adapters.emitter import EmitterBase
from assistant_events.adapters.encoder import EncoderBase
from assistant_events.testing.round_trips import app_body, encode_twice, prompt_events
from assistant_events.testing.sample import Sample, require
from assistant_events.testing.written import emitted

_VALUES: Final = (list, dict, set, bytearray, tuple, str, int, float, type(None))
"""Types of values that a stream can leave behind. Others, such as tables, methods and locks, have no content here."""

_BASES: Final = frozenset({*DecoderBase.__mro__, *EmitterBase.__mro__, *EncoderBase.__mro__})


def check_classes(sample: Sample) -> None:
    """Decode, write and send the sample: no class of the adapter, and no module of one, has another value."""
    make, encode = sample.dialect.emitter, sample.dialect.encoder
    emitter = None if make is None else make()
    classes = _own_classes([type(sample.decoder()), type(emitter), getattr(encode, "__self__", None)])
    before = dict(_values(classes))
    events = sample.decode([sample.body])
    if emitter is not None:
        emitted(emitter, events, sample.name)
    if encode is not None:
        encode_twice(sample, encode, [*prompt_events("u0"), *events], app_body(sample), mode="full")
    for name, value in _values(classes):
        known = before.get(name, "nothing")
        require(
            value == known,
            f"{sample.name}: {name} has changed from {known:.100} to {value:.100}: all answers share an attribute of a "
            "class or a module; set it in `on_begin` of a decoder, `on_start` of an emitter or `prepare` of an encoder",
        )


def _own_classes(named: Sequence[object]) -> list[type]:
    classes = [each for each in named if isinstance(each, type)]
    return list(dict.fromkeys(base for each in classes for base in each.__mro__ if base not in _BASES))


def _values(classes: Sequence[type]) -> Iterator[tuple[str, str]]:
    """Yield the attributes of classes and of their modules, by name, with their content."""
    modules = dict.fromkeys(each.__module__ for each in classes)
    holders: list[type | ModuleType] = [*classes, *(sys.modules[name] for name in modules if name in sys.modules)]
    for each in holders:
        for name, value in vars(each).items():
            if isinstance(value, _VALUES) and not name.startswith("__"):
                yield f"{each.__name__}.{name}", repr(value)  # pyright: ignore[reportUnknownArgumentType]  # any value
