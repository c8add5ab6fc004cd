"""Dialects, and how the installed ones are found."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeAlias, TypeVar, Unpack, final

import attrs

from assistant_events.adapters.base import DecoderBase, DecoderOptions
from assistant_events.adapters.emitter import EmitterBase
from assistant_events.adapters.encoded import Encode
from assistant_events.adapters.encoder import EncoderBase
from assistant_events.adapters.errors import ErrorTable
from assistant_events.adapters.frame_reader import Note
from assistant_events.adapters.framing import Framing
from assistant_events.adapters.hops import Prior
from assistant_events.adapters.json_fields import Fields
from assistant_events.errors import AdapterError, UnknownDialectError
from assistant_events.events import Event
from assistant_events.history import DEFAULT_POLICY, Policy
from assistant_events.messages import PART_CLASSES, AssistantMessage
from assistant_events.values import ErrorInfo

_T = TypeVar("_T")

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})

_ANY_ERROR: Final = ErrorTable(codes={}, otherwise="error")

GROUP = "assistant_events.adapters"
"""Entry points of this group name a `Dialect`."""


class MakeDecoder(Protocol):
    """Makes a decoder; a subclass of `DecoderBase` is one."""

    def __call__(
        self,
        message_id: str,
        *,
        request: Fields | None = None,
        prior: Prior = None,
        continues: AssistantMessage | None = None,
        provider: str | None = None,
        framing: type[Framing] | None = None,
    ) -> DecoderBase:
        """Return a decoder for one answer."""
        ...


class DecodeResource(Protocol):
    """Reads an answer that came as one JSON document."""

    def __call__(
        self,
        resource: Mapping[str, Any],
        message_id: str,
        *,
        notes: list[Note] | None = None,
        **options: Unpack[DecoderOptions],
    ) -> list[Event]:
        """Return the events of the answer."""
        ...


ReadHttpError: TypeAlias = Callable[[int, Mapping[str, str], bytes], ErrorInfo]
"""Reads an HTTP error: status, headers with names in lower case, body."""


def _encoder_class(dialect: Dialect) -> type[EncoderBase] | None:
    """Return the class of the encoder; `None` when it is not an `EncoderBase`."""
    owner = getattr(dialect.encoder, "__self__", None)
    return owner if isinstance(owner, type) and issubclass(owner, EncoderBase) else None


def _default_policy(dialect: Dialect) -> Policy:
    encoder = _encoder_class(dialect)
    return DEFAULT_POLICY if encoder is None else encoder.policy


def _default_http_error(dialect: Dialect) -> ReadHttpError:
    table: ErrorTable | None = getattr(dialect.decoder, "error_table", None)
    return (table or _ANY_ERROR).read_http


@final
@attrs.frozen(kw_only=True)
class Dialect:
    """
    One wire format, and what can be done with it here. Only `name` and `decoder` are required.

    Args:
        name: What it is called everywhere: the name of its entry point, of `--dialect`, and `Origin.dialect`.

        decoder: Makes a decoder for one answer: the subclass of `DecoderBase`.

        encoder: Makes the next request, for example `encode` of an `EncoderBase`; `None` while there is none.

        emitter: The subclass of `EmitterBase`, called without arguments for each answer; `None` while nothing writes
            the wire.

        emit_resource: Writes a message as one JSON document; `None` when the wire has no such form.

        decode_resource: Reads an answer that came as one JSON document; `None` when the wire has no such form. It is
            that of the decoder's class.

        detect: Whether the first frame of a stream, or a document, is of this wire; `None` when that cannot be
            detected.

        detects: What `detect` looks for in a document, in words, for the report of a command that finds no dialect.

        policy: Which state may be sent back, and to whom. It is the `policy` of the encoder's class; only a dialect
            whose `encoder` is not `EncoderBase.encode` names one itself.

        http_error: Reads an HTTP error (status, headers, body). It is `read_http` of the `error_table` of the decoder's
            class; where that has none, the status decides the kind.

        dropped: What the decoder does not keep: the reason by field. A field is its name, or names with dots
            (`usage.total`) that follow each other anywhere in a frame, and covers all that is in it. With a dot before
            it, it is a field of the frame itself; with `word/` before it, it is meant only in frames that have this
            name, or this text in a field of their own. `note:` before a word makes it the code of notes (`note`) about
            frames of which nothing has to be kept.

    Raises:
        TypeError: The decoder or the emitter cannot be called, the encoder is a class and not its `encode`, or the
            emitter's class names no decoder.

        ValueError: Classes of the dialect contradict each other, or its name: in `dialect`, `provider`, `item_key` or
            `policy`.
    """

    name: str
    decoder: MakeDecoder
    encoder: Encode | None = None
    emitter: Callable[[], EmitterBase] | None = None
    emit_resource: Callable[[AssistantMessage], dict[str, Any]] | None = None
    decode_resource: DecodeResource | None = attrs.field(
        default=attrs.Factory(lambda dialect: getattr(dialect.decoder, "decode_resource", None), takes_self=True)
    )
    detect: Callable[[Fields], bool] | None = None
    detects: str = ""
    policy: Policy = attrs.field(default=attrs.Factory(_default_policy, takes_self=True))
    http_error: ReadHttpError = attrs.field(default=attrs.Factory(_default_http_error, takes_self=True))
    dropped: Mapping[str, str] = _NOTHING

    def __attrs_post_init__(self) -> None:
        for name in ("decoder", "emitter"):
            if (part := getattr(self, name)) is not None and not callable(part):
                raise TypeError(f"{name}: expected a class, got an object of {type(part).__name__}")
        if isinstance(self.encoder, type):
            raise TypeError(f"encoder: expected {self.encoder.__name__}.encode, got the class")
        encoder = _encoder_class(self)
        if encoder is not None:
            _check_encoder(encoder, self.policy)
        written = getattr(self.emitter, "decoder", None)
        if isinstance(self.emitter, type) and written is None:
            raise TypeError(f"{self.emitter.__name__}.decoder: expected the decoder of what the emitter writes")
        for part in (self.decoder, encoder, written):
            named = getattr(part, "dialect", self.name)
            if named != self.name:
                raise ValueError(f"{getattr(part, '__name__', part)}.dialect: expected {self.name!r}, got {named!r}")
        providers = {named for part in (self.decoder, encoder) if (named := getattr(part, "provider", None))}
        if len(providers) > 1:
            raise ValueError(f"provider: expected one of decoder and encoder, got {' and '.join(sorted(providers))}")
        item_key = getattr(self.decoder, "item_key", None)
        if item_key not in (None, self.policy.item_key) and self.policy is not DEFAULT_POLICY:
            raise ValueError(
                f"policy: expected the item_key of the decoder, {item_key!r}, got {self.policy.item_key!r}"
            )

    def __repr__(self) -> str:
        return f"<Dialect {self.name!r}>"


def _check_encoder(encoder: type[EncoderBase], policy: Policy) -> None:
    for name in ("dialect", "provider"):
        if not getattr(encoder, name, None):
            raise TypeError(f"{encoder.__name__}.{name}: expected a non-empty string")
    known = [*[part.type for part in PART_CLASSES], "result"]
    strange = encoder.placed_state.keys() - {*known}
    if strange:
        expected = f"expected one of {', '.join(known)}"
        raise ValueError(f"{encoder.__name__}.placed_state: {expected}, got {min(strange)!r}")
    if policy is not encoder.policy:
        raise ValueError(f"policy: {encoder.__name__} applies another one, set it in its class")


def dialect_names() -> tuple[str, ...]:
    """Return the names of all installed dialects, sorted."""
    return entry_point_names(GROUP)


def load_dialect(name: str) -> Dialect:
    """
    Return an installed dialect.

    Raises:
        UnknownDialectError: When none of this name is installed.

        AdapterError: When its entry point does not load or names no `Dialect`.
    """
    return load_entry_point(GROUP, name, Dialect)


def detect_dialect(documents: Iterable[Fields]) -> Dialect | None:
    """Return the installed dialect that knows the first of *documents* that any knows; `None` when none does."""
    known = [load_dialect(name) for name in dialect_names()]
    for document in documents:
        for dialect in known:
            if dialect.detect is not None and dialect.detect(document):
                return dialect
    return None


def installed_entry_points(group: str) -> tuple[EntryPoint, ...]:
    """
    Return the entry points of a group as they were installed when this was first called with this `sys.path`.

    To read them takes milliseconds, because the metadata of every installed package is searched.
    """
    return _entry_points_on(tuple(sys.path), group)


@lru_cache
def _entry_points_on(path: tuple[str, ...], group: str) -> tuple[EntryPoint, ...]:
    # `entry_points` itself searches `sys.path`, whatever *path* is.
    return tuple(entry_points(group=group))


def entry_point_names(group: str) -> tuple[str, ...]:
    """Return the names of all installed entry points of a group, sorted."""
    return tuple(sorted({entry.name for entry in installed_entry_points(group)}))


def load_entry_point(group: str, name: str, kind: type[_T], part: str = "") -> _T:
    """
    Return the object of an entry point whose name is that of a dialect; *part* is what errors call it.

    Raises:
        UnknownDialectError: No entry point of this name is installed.

        AdapterError: It does not load, is not of class *kind*, or its `name` is another one.
    """
    for entry in installed_entry_points(group):
        if entry.name == name:
            try:
                found = entry.load()
            except Exception as error:
                raise AdapterError(name, f"{entry.value} does not load: {error}") from error
            if not isinstance(found, kind):
                raise AdapterError(name, f"{entry.value} is {type(found).__name__}, expected a {kind.__name__}")
            named = getattr(found, "name", name)
            if named != name:
                raise AdapterError(name, f"{entry.value} names the dialect {named!r}, expected {name!r}")
            return found
    raise UnknownDialectError(name, entry_point_names(group), part)
