"""
Hypothesis strategies for values, single events and whole sessions.

Each field of a class is drawn by its annotation, so a new field is drawn as soon as it exists. Sessions are recorded
with the verbs of `Recorder` (`Verb`, `verbs`), several messages at once: `sessions` are legal, `loose_events` and
`broken_sessions` are not.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cache
from itertools import takewhile
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias, Union, cast, final, get_args, get_origin, get_type_hints

import attrs

from assistant_events import events as ev
from assistant_events import values as v
from assistant_events.errors import LocalProtocolError
from assistant_events.events import Event
from assistant_events.extras import missing_extras
from assistant_events.messages import ApprovalStatus, UserMessage
from assistant_events.recorder import Recorder
from assistant_events.reducer import Builder, fold, reconcile
from assistant_events.values.validators import check_name

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import DrawFn, SearchStrategy
except ImportError as error:
    raise ImportError(
        missing_extras("assistant_events.testing.strategies", {"testing": ("hypothesis",)}), name=error.name
    ) from error

EventClass: TypeAlias = type[ev.DurableEvent | ev.LiveEvent | ev.UnknownEvent]

_Any: TypeAlias = SearchStrategy[Any]
# Any: one table has strategies of all types.

MESSAGE_IDS: Final = ("m1", "m2", "m3")
CALL_IDS: Final = ("c1", "c2", "call-1")

_PIECES: Final = ("a", "Hello ", "é", "😀", "e\u0301", "\x00", "\n", "\ud83d", "\ude00", "\u2028", "中文", "\ufeff")


# -- values


def texts(*, max_size: int = 12) -> SearchStrategy[str]:
    """Text as a caller may pass it: any characters, halves of surrogate pairs included."""
    return st.one_of(
        st.text(max_size=max_size),
        st.lists(st.sampled_from(_PIECES), max_size=max_size).map("".join),
    )


def names() -> SearchStrategy[str]:
    """Non-empty strings."""
    return st.one_of(st.sampled_from(("a", "b")), st.text(min_size=1, max_size=8))


def json_values() -> SearchStrategy[v.JsonValue]:
    """Frozen JSON: integers of any size, lone surrogates, unusual keys, nesting."""
    return _JSON


def json_objects() -> SearchStrategy[v.JsonObject]:
    """Frozen JSON objects."""
    return _JSON_OBJECTS


def states() -> SearchStrategy[v.State]:
    """States: often empty, sometimes a signature, sometimes any object."""
    return _STATES


@cache
def instances(cls: type[Any]) -> _Any:
    """Instances of a value, such as `Usage`: each field is drawn by its annotation."""
    return _instances(cls, {})


def _instances(cls: type[Any], given: Mapping[str, _Any]) -> _Any:
    hints = get_type_hints(cls)
    drawn = {
        field.name: given[field.name] if field.name in given else _of_field(cls, field, hints[field.name])
        for field in attrs.fields(cls)
    }
    repair = _REPAIRS.get(cls, dict)
    return st.fixed_dictionaries(drawn).map(lambda values: cls(**repair(values)))


def _of_field(cls: type[Any], field: attrs.Attribute[Any], hint: object) -> _Any:
    for key in ((cls, field.name), field.name):
        if key in _FIELDS:
            return _FIELDS[key]
    return _of(hint, names() if field.validator is check_name else texts())


def _of(hint: Any, text: SearchStrategy[str] | None = None) -> _Any:
    """Return a strategy for an annotation; *text* draws its strings."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in _TYPES:
        return _TYPES[hint]
    if hint is str:
        return texts() if text is None else text
    if origin in (Union, UnionType):
        return st.one_of([_of(each, text) for each in arguments])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        return st.lists(_of(arguments[0], text), max_size=3).map(tuple)
    if issubclass(hint, Enum):
        return st.sampled_from(hint)
    return instances(hint)


def _ordered_span(values: dict[str, Any]) -> dict[str, Any]:
    start, end = values["start"], values["end"]
    return values if start is None or end is None else {**values, "start": min(start, end), "end": max(start, end)}


def _data_or_uri(values: dict[str, Any]) -> dict[str, Any]:
    if values["data"] is not None:
        return {**values, "uri": None}
    if values["uri"] is None and values.get("complete", True):
        return {**values, "data": b""}
    return values


# -- events, one by one


def events(
    *classes: EventClass,
    message_ids: SearchStrategy[str] | None = None,
    call_ids: SearchStrategy[str] | None = None,
) -> SearchStrategy[Event]:
    """Return single events of *classes* (all by default) with any values in their fields."""
    messages = names() if message_ids is None else message_ids
    calls = names() if call_ids is None else call_ids
    return st.one_of(
        [_event(cls, messages, calls) for cls in classes or (*ev.DURABLE_EVENTS, *ev.LIVE_EVENTS, ev.UnknownEvent)]
    )


def records() -> SearchStrategy[ev.Record]:
    """Single records, with any place in the log."""
    return _instances(ev.Record, {"event": events(*ev.DURABLE_EVENTS, ev.UnknownEvent)})


def frames() -> SearchStrategy[ev.Frame]:
    """Single frames, after any place in the log."""
    return _instances(ev.Frame, {"events": st.lists(events(*ev.LIVE_EVENTS), max_size=3).map(tuple)})


def _event(cls: EventClass, message_ids: SearchStrategy[str], call_ids: SearchStrategy[str]) -> SearchStrategy[Event]:
    if cls is ev.UnknownEvent:
        return _unknown_events()
    return _instances(cls, {"message_id": message_ids, "call_id": call_ids, "before": st.none() | message_ids})


@st.composite
def _unknown_events(draw: DrawFn) -> ev.UnknownEvent:
    known = draw(st.sampled_from((None, *MESSAGE_IDS)))
    kind = draw(st.sampled_from(("text.begun", "step.started")))
    version = draw(st.integers(2, 9))
    about = {} if known is None else {"message_id": known}
    data = v.State({"type": kind, "v": version, **about, **draw(_JSON_OBJECTS)})
    return ev.UnknownEvent(type=kind, version=version, data=data)


# -- verbs of a recorder


@final
@attrs.frozen
class Verb:
    """A call of a method of `Recorder`, to be made on any number of recorders."""

    name: str
    arguments: Mapping[str, object]

    def __call__(self, recorder: Recorder) -> list[Event]:
        """Call the method; the recorder may raise `LocalProtocolError`."""
        method: Callable[..., list[Event]] = getattr(recorder, self.name)
        return method(**self.arguments)

    def attempt(self, recorder: Recorder) -> list[Event]:
        """Call the method, and return no events when the recorder refuses it."""
        try:
            return self(recorder)
        except LocalProtocolError:
            return []


def verbs(*, terminals: bool = True) -> SearchStrategy[Verb]:
    """Return single verbs; without *terminals* none ends, fails or restarts the step."""
    return _VERB if terminals else _CONTENT_VERB


@st.composite
def steps(draw: DrawFn, *, max_size: int = 15) -> list[Verb]:
    """Return the verbs of a whole step: start, any content, end. The recorder may refuse some of them."""
    body = draw(st.lists(verbs(terminals=False), max_size=max_size))
    end = draw(st.one_of([VERBS[name] for name in ("finish", "finish", "fail", "close")]))
    return [draw(VERBS["start"]), *body, end]


# -- whole sessions


@st.composite
def sessions(draw: DrawFn, *, max_moves: int = 30, settled: bool = False) -> list[Event]:
    """
    Return a legal session: prompts, parallel answers, late results, restarts, compactions, rewinds, crashes.

    At most *max_moves* happen; with *settled* nothing is left open at the end.
    """
    session = _Session(draw)
    for _ in range(draw(st.integers(0, max_moves))):
        session.move()
    if settled:
        session.crash(abandon_calls=True, abandon_runs=True)
    return session.events


def loose_events(*, max_size: int = 30) -> SearchStrategy[list[Event]]:
    """Return events in any order, about a few messages and calls: mostly illegal."""
    return st.lists(_LOOSE, max_size=max_size)


@st.composite
def broken_sessions(draw: DrawFn) -> list[Event]:
    """Return a legal session after a bad channel: events lost, doubled, swapped and made up."""
    broken = draw(sessions())
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(broken)))
        match draw(st.sampled_from(("drop", "double", "swap", "insert"))):
            case "drop":
                del broken[at : at + 1]
            case "double" if broken:
                broken.insert(at, draw(st.sampled_from(broken)))
            case "swap":
                broken[at : at + 2] = reversed(broken[at : at + 2])
            case _:
                broken.insert(at, draw(_LOOSE))
    return broken


@st.composite
def recut(draw: DrawFn, events: Sequence[Event]) -> list[Event]:
    """Return the same events with their deltas cut at other places."""
    again: list[Event] = []
    for event in events:
        if isinstance(event, _Delta):
            last = again[-1] if again else None
            if isinstance(last, _Delta) and _continues(last, event) and draw(st.booleans()):
                again[-1] = _changed(last, delta=last.delta + event.delta)  # type: ignore[operator]  # of one class
                continue
            cut = draw(st.integers(0, len(event.delta)))
            if 0 < cut < len(event.delta):
                again.append(_changed(event, delta=event.delta[:cut]))
                event = _changed(event, offset=event.offset + cut, delta=event.delta[cut:])
        again.append(event)
    return again


class _Session:
    """A session under construction."""

    def __init__(self, draw: DrawFn) -> None:
        self.draw = draw
        self.events: list[Event] = []
        self._recorders: dict[str, Recorder] = {}
        self._compactions: dict[str, int] = {}
        self._acted: set[str] = set()
        self._count = 0

    def move(self) -> None:
        """Add events of one kind."""
        moves: list[Callable[[], None]] = [self._verb] * 40 if self._recorders else [self._answer] * 6
        if self._compactions:
            moves += [self._summarise] * 4
        moves += [self._answer, self._answer, self._prompt, self._compact]
        if self.events:
            moves += [self._rewind, self._crash, self._act, self._act, self._act]
        self.draw(st.sampled_from(moves))()

    def crash(self, *, abandon_calls: bool, abandon_runs: bool) -> None:
        """End all recorders as a crash does, and append what `reconcile` returns for the rest."""
        builder = Builder()
        builder.extend(self.events)
        self.events += reconcile(builder.transcript, abandon_calls=abandon_calls, abandon_runs=abandon_runs)
        self._recorders.clear()
        self._compactions.clear()

    def _id(self) -> str:
        self._count += 1
        return f"m{self._count}"

    def _add(self, cls: EventClass, message_id: str) -> None:
        self.events.append(self.draw(_event(cls, st.just(message_id), names())))

    def _prompt(self) -> None:
        self._add(ev.PromptSubmitted, self._id())

    def _answer(self) -> None:
        message_id = self._id()
        messages = reversed(fold(self.events).messages)
        unread = [message.id for message in takewhile(lambda each: isinstance(each, UserMessage), messages)]
        recorder = self._recorders[message_id] = Recorder(message_id, sink=self.events)
        self.draw(VERBS["start"])(recorder)
        self.events[-1] = _changed(self.events[-1], before=self.draw(st.sampled_from((None, None, *unread))))

    def _verb(self) -> None:
        recorder = self._recorders[self.draw(st.sampled_from(sorted(self._recorders)))]
        verb = self.draw(_VERB)
        # A recorder does not know what the app has started.
        if verb.name != "restart" or recorder.message_id not in self._acted:
            verb.attempt(recorder)

    def _act(self) -> None:
        """Ask for the approval of a call, approve it, or start it."""
        calls = fold(self.events).pending_tool_calls
        if not calls:
            return
        call = self.draw(st.sampled_from(calls))
        # Any: arguments of every type.
        about: dict[str, Any] = {"message_id": call.message_id, "call_id": call.call_id}
        acts: list[Event] = [ev.ToolStarted(**about, attempt=call.attempt + self.draw(st.integers(1, 2)))]
        if call.approval is not ApprovalStatus.APPROVED:
            acts.append(ev.ToolApproved(**about))
        if call.approval is None:
            acts.append(ev.ToolApprovalRequested(**about, reason=self.draw(st.none() | texts())))
        self.events.append(self.draw(st.sampled_from(acts)))
        self._acted.add(call.message_id)

    def _compact(self) -> None:
        message_id = self._id()
        self._compactions[message_id] = 0
        self._add(ev.CompactionStarted, message_id)

    def _summarise(self) -> None:
        message_id = self.draw(st.sampled_from(sorted(self._compactions)))
        cls = self.draw(
            st.sampled_from((ev.CompactionDelta, ev.CompactionDelta, ev.CompactionEnded, ev.CompactionFailed))
        )
        if cls is ev.CompactionDelta:
            offset, delta = self._compactions[message_id], self.draw(names())
            event = ev.CompactionDelta(message_id=message_id, offset=offset, delta=delta)
            self._compactions[message_id] += len(event.delta)
            self.events.append(event)
        else:
            del self._compactions[message_id]
            self._add(cls, message_id)

    def _rewind(self) -> None:
        builder = Builder()
        builder.extend(self.events)
        messages = builder.transcript.messages
        if not messages:
            return
        at = self.draw(st.integers(0, len(messages) - 1))
        self.events.append(ev.HistoryRewound(message_id=messages[at].id))
        for message in messages[at:]:
            self._recorders.pop(message.id, None)
            self._compactions.pop(message.id, None)

    def _crash(self) -> None:
        self.crash(abandon_calls=self.draw(st.booleans()), abandon_runs=self.draw(st.booleans()))


_Delta = ev.TextDelta | ev.ReasoningDelta | ev.MediaDelta | ev.ToolInputDelta | ev.CompactionDelta


def _changed(event: Event, **changes: object) -> Event:
    return attrs.evolve(event, **changes)  # type: ignore[arg-type]  # fields of a delta


def _continues(last: _Delta, event: _Delta) -> bool:
    return (
        type(last) is type(event)
        and last.message_id == event.message_id
        and getattr(last, "call_id", None) == getattr(event, "call_id", None)
        and event.offset == last.offset + len(last.delta)
        and last.extra == event.extra
    )


# -- tables

_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
_NEWER: Final = v.JsonObject({"newer": [1, None]})
_NUMBERS = st.one_of(
    st.integers(-5, 5), st.integers(), st.just(10**400), st.floats(allow_nan=False, allow_infinity=False)
)
_JSON: SearchStrategy[v.JsonValue] = st.recursive(
    st.one_of(st.none(), st.booleans(), _NUMBERS, texts(max_size=6)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(("a", "", "\ud800", "k.é")) | texts(max_size=3), inner, max_size=3),
    ),
    max_leaves=6,
).map(v.freeze)
_JSON_OBJECTS: SearchStrategy[v.JsonObject] = st.one_of(
    st.just(v.JsonObject()),
    st.dictionaries(st.sampled_from(["a", "b", "\udc00"]), _JSON, max_size=2).map(
        lambda items: v.JsonObject(cast("Mapping[str, object]", items))
    ),
)
_STATES: SearchStrategy[v.State] = st.one_of(
    st.just(v.State()),
    st.sampled_from([v.State({"signature": text}) for text in ("sig+/=", "\ud800", "s2")]),
    _JSON_OBJECTS.map(v.State),
)

_WORDS: Final = st.sampled_from(("acme", "other"))
_MEDIA_TYPES: Final = st.sampled_from(("image/png", "audio/l16;rate=24000"))
_TYPES: Final[Mapping[Any, _Any]] = {
    NoneType: st.none(),
    bool: st.booleans(),
    int: st.integers(0, 10**6),
    float: st.floats(0, 10**6),
    bytes: st.binary(max_size=8),
    datetime: st.timedeltas(timedelta(0), timedelta(days=36500)).map(lambda since: _EPOCH + since),
    v.JsonObject: _JSON_OBJECTS,
    v.State: _STATES,
}
_FIELDS: Final[Mapping[str | tuple[type, str], _Any]] = {
    # Fields of a newer writer: rarely there.
    "extra": st.integers(0, 19).map(lambda roll: _NEWER if roll == 19 else v.JsonObject()),
    "media_type": _MEDIA_TYPES,
    "offset": st.integers(0, 8),
    "seq": st.integers(1, 2**53),
    "attempt": st.integers(1, 3),
    (v.JsonContent, "value"): _JSON,
    (v.ErrorInfo, "status"): st.none() | st.integers(0, 599),
    (v.Citation, "start"): st.none() | st.integers(0, 20),
    (v.Citation, "end"): st.none() | st.integers(0, 30),
    (v.Origin, "provider"): _WORDS,
    (v.Origin, "dialect"): _WORDS,
    (v.Origin, "model"): st.none() | _WORDS,
    (v.Origin, "served_model"): st.none() | _WORDS,
}
_REPAIRS: Final[Mapping[type, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    v.Citation: _ordered_span,
    v.MediaContent: _data_or_uri,
    ev.MediaEnded: _data_or_uri,
}
_LOOSE: Final = events(message_ids=st.sampled_from(MESSAGE_IDS), call_ids=st.sampled_from(CALL_IDS))

_INPUTS: Final = st.sampled_from(("{}", '{"a":1}', '{"a":"\ud800"}', "[]", "null", "", "{", "1e400"))
_ARGUMENTS: Final[Mapping[str, _Any]] = {
    "call_id": st.sampled_from(("c1", "c1", "c2", None, "", "c1#2", "call-1")),
    "call_state": _STATES,
    "citations": st.lists(instances(v.Citation), max_size=1),
    "complete": st.booleans(),
    "data": st.binary(max_size=6),
    "delta": texts(),
    "details": _JSON_OBJECTS,
    "error": instances(v.ErrorInfo),
    "fault": texts(),
    "finish_reason": st.sampled_from(v.FinishReason),
    "input": _JSON_OBJECTS,
    "kind": st.sampled_from(("text", "reasoning", "opaque")),
    "key": st.sampled_from((None, None, "k1", "k1", "k2")),
    "media_type": _MEDIA_TYPES,
    "name": st.sampled_from(("search", "fetch")),
    "origin": instances(v.Origin),
    "output": _of(tuple[v.Content, ...]),
    "provider_executed": st.booleans(),
    "raw_finish_reason": texts(),
    "reason": texts(),
    "run": instances(v.RemoteRun),
    "state": _STATES,
    "text": texts(),
    "uri": texts(),
    "usage": instances(v.Usage),
}
"""Arguments of verbs, by name. One whose default is `None` is often `None`."""

_OF_VERBS: Final[Mapping[tuple[str, str], _Any]] = {
    ("keep", "kind"): st.sampled_from(("text", "reasoning")),
    ("media", "delta"): st.binary(max_size=6),
    ("tool_input", "delta"): st.sampled_from(("", "{", "}", '{"a"', ":1}", "{}", '"\ud83d', '\ude00"', "[]", "x")),
    ("tool_call", "input"): _INPUTS | _JSON_OBJECTS,
}


def _verbs() -> dict[str, SearchStrategy[Verb]]:
    """Return a strategy for each public method of `Recorder` that takes arguments and returns a list of events."""
    found: dict[str, SearchStrategy[Verb]] = {}
    for name, method in inspect.getmembers(Recorder, inspect.isfunction):
        _, *parameters = inspect.signature(method).parameters.values()
        if not name.startswith("_") and parameters and get_type_hints(method).get("return") == list[ev.Event]:
            found[name] = _verb(name, parameters)
    return found


def _verb(name: str, parameters: Sequence[inspect.Parameter]) -> SearchStrategy[Verb]:
    drawn: dict[str, _Any] = {}
    for each in parameters:
        values = _OF_VERBS.get((name, each.name), _ARGUMENTS[each.name])
        drawn[each.name] = st.none() | values if each.default is None else values
    return st.fixed_dictionaries(drawn).map(lambda given: Verb(name, _one_medium(given)))


def _one_medium(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return arguments of `end_media` with data or a URI and its type, and all others as they are."""
    if arguments.get("uri") is None:
        return arguments
    return {**arguments, "data": None, "media_type": arguments["media_type"] or "image/png", "complete": True}


VERBS: Final[Mapping[str, SearchStrategy[Verb]]] = _verbs()
"""A strategy for each verb of `Recorder`."""

_STEP_VERBS: Final = ("finish", "finish", "finish", "finish", "restart", "fail", "close", "start")
_OFTEN: Final = (
    *("text", "text", "reasoning", "tool_input", "tool_input"),
    *("end_tool_input", "tool_call", "tool_call", "tool_progress", "result"),
)
_CONTENT_VERB: Final[SearchStrategy[Verb]] = st.sampled_from(
    [*_OFTEN, *_OFTEN, *(name for name in VERBS if name not in _STEP_VERBS)]
).flatmap(VERBS.__getitem__)
_STEP_VERB: Final[SearchStrategy[Verb]] = st.sampled_from(_STEP_VERBS).flatmap(VERBS.__getitem__)
_VERB: Final[SearchStrategy[Verb]] = st.integers(0, 7).flatmap(lambda roll: _STEP_VERB if roll == 5 else _CONTENT_VERB)
