"""
Hypothesis strategies for everything that the library speaks of.

Values, single events (`events`), and whole sessions: `sessions` are legal, `loose_events` and `broken_sessions` not.
Sessions are made the way adapters make them, by the verbs of recorders (`Verb`, `verbs`), several messages at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TypeAlias, TypeVar, final

import attrs

from assistant_events.errors import LocalProtocolError
from assistant_events.events import (
    DURABLE_EVENTS,
    CompactionDelta,
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    DurableEvent,
    Event,
    HistoryRewound,
    LiveEvent,
    MediaDelta,
    MediaEnded,
    MediaStarted,
    OpaqueReceived,
    PromptSubmitted,
    ReasoningDelta,
    ReasoningEnded,
    ReasoningStarted,
    Record,
    StepEnded,
    StepFailed,
    StepRestarted,
    StepStarted,
    TextDelta,
    TextEnded,
    TextStarted,
    ToolCalled,
    ToolFailed,
    ToolInputDelta,
    ToolInputEnded,
    ToolInputStarted,
    ToolProgress,
    ToolSuccess,
    UnknownEvent,
)
from assistant_events.extras import missing_extras
from assistant_events.recorder import Recorder
from assistant_events.reducer import Builder, reconcile
from assistant_events.values import (
    Citation,
    Content,
    ErrorInfo,
    ErrorKind,
    FinishReason,
    JsonContent,
    JsonObject,
    JsonValue,
    MediaContent,
    Origin,
    RemoteRun,
    State,
    TextContent,
    Usage,
    freeze,
)

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import DrawFn, SearchStrategy
except ImportError as error:
    raise ImportError(
        missing_extras("assistant_events.testing.strategies", {"testing": ("hypothesis",)}), name=error.name
    ) from error

EventClass: TypeAlias = type[DurableEvent | LiveEvent | UnknownEvent]

_T = TypeVar("_T")

MESSAGE_IDS = ("m1", "m2", "m3")
CALL_IDS = ("c1", "c2", "call-1")

_PIECES = ("a", "Hello ", "é", "😀", "e\u0301", "\x00", "\n", "\ud83d", "\ude00", "\u2028", "中文", "\ufeff")


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


def json_values() -> SearchStrategy[JsonValue]:
    """Frozen JSON: integers of any size, lone surrogates, odd keys, nesting."""
    return _JSON


def json_objects() -> SearchStrategy[JsonObject]:
    """Frozen JSON objects."""
    return _JSON_OBJECTS


def states() -> SearchStrategy[State]:
    """States: often empty, sometimes a signature, sometimes anything."""
    return _STATES


def origins() -> SearchStrategy[Origin]:
    """Origins, few enough that two are often the same."""
    word = st.sampled_from(("acme", "other"))
    model = st.none() | word
    return st.builds(Origin, provider=word, model=model, dialect=word, served_model=model, extra=_extra())


def runs() -> SearchStrategy[RemoteRun]:
    """Return runs on the provider's side."""
    return st.builds(
        RemoteRun, id=st.sampled_from(("r1", "r2")), resumable=st.booleans(), kind=st.just("response"), extra=_extra()
    )


def usages() -> SearchStrategy[Usage]:
    """Usage, with counts known and unknown."""
    count = st.none() | st.integers(0, 10**6)
    return st.builds(
        Usage,
        input_tokens=count,
        cache_read_tokens=count,
        cache_write_tokens=count,
        output_tokens=count,
        reasoning_tokens=count,
        details=_JSON_OBJECTS,
        extra=_extra(),
    )


def errors() -> SearchStrategy[ErrorInfo]:
    """Errors of known kinds and of one that only a newer version knows."""
    kinds = st.one_of(st.sampled_from(ErrorKind), st.just("newer-kind"))
    return st.builds(
        ErrorInfo,
        kind=kinds,
        message=texts(),
        code=st.none() | texts(),
        status=st.none() | st.integers(0, 599),
        retryable=st.none() | st.booleans(),
        extra=_extra(),
    )


@st.composite
def citations(draw: DrawFn) -> Citation:
    """Citations, with and without a place in the text."""
    start = draw(st.none() | st.integers(0, 20))
    end = draw(st.none() | st.integers(start or 0, 30))
    words = st.none() | texts()
    return Citation(
        url=draw(words), title=draw(words), start=start, end=end, cited_text=draw(words), extra=draw(_extra())
    )


def contents() -> SearchStrategy[tuple[Content, ...]]:
    """Tuples of content: what people and tools put into a conversation."""
    one = st.one_of(
        st.builds(TextContent, texts(), extra=_extra()),
        st.builds(JsonContent, _JSON, extra=_extra()),
        st.builds(MediaContent, media_type=_media_types(), data=st.binary(max_size=8), extra=_extra()),
        st.builds(MediaContent, media_type=_media_types(), uri=texts(), extra=_extra()),
    )
    return st.lists(one, max_size=3).map(tuple)


def finishes() -> SearchStrategy[FinishReason]:
    """Reasons why a step ended."""
    return st.sampled_from(FinishReason)


# -- events, one by one


def events(
    *classes: EventClass,
    message_ids: SearchStrategy[str] | None = None,
    call_ids: SearchStrategy[str] | None = None,
) -> SearchStrategy[Event]:
    """
    Return single events with whatever their fields may hold.

    Args:
        classes: Of these classes; of all when none is given.

        message_ids: What `message_id` is drawn from.

        call_ids: What `call_id` is drawn from.
    """
    messages = names() if message_ids is None else message_ids
    calls = names() if call_ids is None else call_ids
    return st.one_of([_event(cls, messages, calls) for cls in classes or tuple(_FIELDS)])


def records() -> SearchStrategy[Record]:
    """Single records, with any place in the log."""
    kept = events(*DURABLE_EVENTS, UnknownEvent)
    at = st.timedeltas(timedelta(0), timedelta(days=36500)).map(lambda since: _EPOCH + since)
    return st.builds(Record, session_id=names(), seq=st.integers(1, 2**53), at=at, event=kept, meta=_JSON_OBJECTS)


# -- verbs of a recorder


@final
@attrs.frozen
class Verb:
    """One call of a method of `Recorder`, so that the same may be done to several recorders."""

    name: str
    arguments: Mapping[str, object]

    def __call__(self, recorder: Recorder) -> list[Event]:
        """
        Do it.

        Raises:
            LocalProtocolError: When the recorder does.
        """
        method: Callable[..., list[Event]] = getattr(recorder, self.name)
        return method(**self.arguments)

    def attempt(self, recorder: Recorder) -> list[Event]:
        """Do it, and return nothing when the recorder refuses."""
        try:
            return self(recorder)
        except LocalProtocolError:
            return []


def verbs(*, terminals: bool = True) -> SearchStrategy[Verb]:
    """
    Return single verbs.

    Args:
        terminals: Whether they may end, fail or restart the step.
    """
    return _VERB if terminals else _CONTENT_VERB


def starts() -> SearchStrategy[Verb]:
    """Return the verb that begins a step."""
    return _STARTS


@st.composite
def steps(draw: DrawFn, *, max_size: int = 15) -> list[Verb]:
    """Return the verbs of a whole step: its start, whatever content, its end; refusals are left to the recorder."""
    body = draw(st.lists(verbs(terminals=False), max_size=max_size))
    end = draw(st.one_of(_VERBS["finish"], _VERBS["finish"], _VERBS["fail"], _VERBS["close"]))
    return [draw(_STARTS), *body, end]


# -- whole sessions


@st.composite
def sessions(draw: DrawFn, *, max_moves: int = 30, settled: bool = False) -> list[Event]:
    """
    Return a legal session: prompts, answers side by side, late results, restarts, compactions, rewinds, deaths.

    Args:
        draw: Given by Hypothesis.

        max_moves: How much happens at most.

        settled: Whether everything is settled at the end.
    """
    session = _Session(draw)
    for _ in range(draw(st.integers(0, max_moves))):
        session.move()
    if settled:
        session.crash(abandon_calls=True, abandon_runs=True)
    return session.events


def loose_events(*, max_size: int = 30) -> SearchStrategy[list[Event]]:
    """Return events in any order, about a few messages and calls: mostly illegal."""
    one = events(message_ids=st.sampled_from(MESSAGE_IDS), call_ids=st.sampled_from(CALL_IDS))
    return st.lists(one, max_size=max_size)


@st.composite
def broken_sessions(draw: DrawFn) -> list[Event]:
    """Return a legal session that went through a bad channel: events lost, doubled, swapped and made up."""
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
                broken.insert(
                    at, draw(events(message_ids=st.sampled_from(MESSAGE_IDS), call_ids=st.sampled_from(CALL_IDS)))
                )
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
        self._count = 0

    def move(self) -> None:
        """Let something happen."""
        moves: list[Callable[[], None]] = [self._verb] * 40 if self._recorders else [self._answer] * 6
        if self._compactions:
            moves += [self._summarise] * 4
        moves += [self._answer, self._answer, self._prompt, self._compact]
        if self.events:
            moves += [self._rewind, self._crash]
        self.draw(st.sampled_from(moves))()

    def crash(self, *, abandon_calls: bool, abandon_runs: bool) -> None:
        """Let the process die, and another one settle what it left."""
        builder = Builder()
        builder.extend(self.events)
        self.events += reconcile(builder.transcript, abandon_calls=abandon_calls, abandon_runs=abandon_runs)
        self._recorders.clear()
        self._compactions.clear()

    def _id(self) -> str:
        self._count += 1
        return f"m{self._count}"

    def _prompt(self) -> None:
        self.events.append(PromptSubmitted(message_id=self._id(), content=self.draw(contents())))

    def _answer(self) -> None:
        message_id = self._id()
        recorder = self._recorders[message_id] = Recorder(message_id, sink=self.events)
        self.draw(_STARTS)(recorder)

    def _verb(self) -> None:
        recorder = self._recorders[self.draw(st.sampled_from(sorted(self._recorders)))]
        self.draw(_VERB).attempt(recorder)

    def _compact(self) -> None:
        message_id = self._id()
        self._compactions[message_id] = 0
        self.events.append(self.draw(_event(CompactionStarted, st.just(message_id), names())))

    def _summarise(self) -> None:
        message_id = self.draw(st.sampled_from(sorted(self._compactions)))
        offset = self._compactions[message_id]
        cls = self.draw(st.sampled_from((CompactionDelta, CompactionDelta, CompactionEnded, CompactionFailed)))
        if cls is CompactionDelta:
            delta = CompactionDelta(message_id=message_id, offset=offset, delta=self.draw(names()))
            self._compactions[message_id] += len(delta.delta)
            self.events.append(delta)
        else:
            del self._compactions[message_id]
            self.events.append(self.draw(_event(cls, st.just(message_id), names())))

    def _rewind(self) -> None:
        builder = Builder()
        builder.extend(self.events)
        messages = builder.transcript.messages
        if not messages:
            return
        at = self.draw(st.integers(0, len(messages) - 1))
        self.events.append(HistoryRewound(message_id=messages[at].id))
        for message in messages[at:]:
            self._recorders.pop(message.id, None)
            self._compactions.pop(message.id, None)

    def _crash(self) -> None:
        self.crash(abandon_calls=self.draw(st.booleans()), abandon_runs=self.draw(st.booleans()))


_Delta = TextDelta | ReasoningDelta | MediaDelta | ToolInputDelta | CompactionDelta


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


def _extra() -> SearchStrategy[JsonObject]:
    """Unknown fields of a newer writer: hardly ever there."""
    return st.integers(0, 19).map(lambda roll: _NEWER if roll == 19 else _NONE)


def _media_types() -> SearchStrategy[str]:
    return st.sampled_from(("image/png", "audio/l16;rate=24000"))


def _event(cls: EventClass, message_ids: SearchStrategy[str], call_ids: SearchStrategy[str]) -> SearchStrategy[Event]:
    if cls is UnknownEvent:
        return _unknown_events()
    given: dict[str, SearchStrategy[object]] = {"message_id": message_ids, **_FIELDS[cls], "extra": _extra()}
    if "call_id" in {field.name for field in attrs.fields(cls)}:
        given["call_id"] = call_ids
    build: SearchStrategy[dict[str, object]] = st.fixed_dictionaries(given)
    if cls is MediaEnded:
        build = build.flatmap(_with_medium)
    return build.map(lambda fields: cls(**fields))  # type: ignore[arg-type]  # the fields are those of the class


@st.composite
def _unknown_events(draw: DrawFn) -> UnknownEvent:
    known = draw(st.sampled_from((None, *MESSAGE_IDS)))
    kind = draw(st.sampled_from(("text.begun", "step.started")))
    version = draw(st.integers(2, 9))
    about = {} if known is None else {"message_id": known}
    data = State({"type": kind, "v": version, **about, **draw(_JSON_OBJECTS)})
    return UnknownEvent(type=kind, version=version, data=data)


def _with_medium(fields: dict[str, object]) -> SearchStrategy[dict[str, object]]:
    """Add what a medium may end with: bytes or a place, or neither when it was cut."""
    data: SearchStrategy[dict[str, object]] = st.binary(max_size=8).map(lambda data: {"data": data})
    place: SearchStrategy[dict[str, object]] = texts().map(lambda uri: {"uri": uri})
    ends = [data, place] if fields["complete"] else [data, place, st.just(_NO_END)]
    return st.one_of(ends).map(lambda end: fields | end)


def _verb(name: str, /, **arguments: SearchStrategy[object]) -> SearchStrategy[Verb]:
    drawn: SearchStrategy[dict[str, object]] = st.fixed_dictionaries(arguments)
    return drawn.map(lambda given: Verb(name, given))


def _object(items: Mapping[str, JsonValue]) -> JsonObject:
    return JsonObject(items)


def _maybe(strategy: SearchStrategy[_T]) -> SearchStrategy[_T | None]:
    return st.none() | strategy


_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_NO_END: dict[str, object] = {}
_NONE = JsonObject()
_NEWER = JsonObject({"newer": [1, None]})

_NUMBERS = st.one_of(
    st.integers(-5, 5), st.integers(), st.just(10**400), st.floats(allow_nan=False, allow_infinity=False)
)
_JSON: SearchStrategy[JsonValue] = st.recursive(
    st.one_of(st.none(), st.booleans(), _NUMBERS, texts(max_size=6)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(("a", "", "\ud800", "k.é")) | texts(max_size=3), inner, max_size=3),
    ),
    max_leaves=6,
).map(freeze)
_OBJECT_KEYS: list[str] = ["a", "b", "\udc00"]
_JSON_OBJECTS: SearchStrategy[JsonObject] = st.one_of(
    st.just(JsonObject()),
    st.dictionaries(st.sampled_from(_OBJECT_KEYS), _JSON, max_size=2).map(_object),
)
_STATES: SearchStrategy[State] = st.one_of(
    st.just(State()),
    st.sampled_from([State({"signature": text}) for text in ("sig+/=", "\ud800", "s2")]),
    _JSON_OBJECTS.map(State),
)

_FLAG = st.booleans()
_FIELDS: Mapping[EventClass, Mapping[str, SearchStrategy[object]]] = MappingProxyType(
    {
        PromptSubmitted: {"content": contents()},
        HistoryRewound: {},
        StepStarted: {"origin": origins(), "run": _maybe(runs()), "state": _STATES},
        StepRestarted: {"reason": texts(), "origin": _maybe(origins()), "run": _maybe(runs()), "state": _STATES},
        StepEnded: {
            "finish_reason": finishes(),
            "raw_finish_reason": _maybe(texts()),
            "usage": _maybe(usages()),
            "run": _maybe(runs()),
            "details": _JSON_OBJECTS,
            "state": _STATES,
        },
        StepFailed: {
            "error": errors(),
            "usage": _maybe(usages()),
            "run": _maybe(runs()),
            "details": _JSON_OBJECTS,
            "state": _STATES,
        },
        TextStarted: {},
        TextDelta: {"offset": st.integers(0, 8), "delta": texts()},
        TextEnded: {
            "text": texts(),
            "complete": _FLAG,
            "citations": st.lists(citations(), max_size=2),
            "details": _JSON_OBJECTS,
            "state": _STATES,
        },
        ReasoningStarted: {},
        ReasoningDelta: {"offset": st.integers(0, 8), "delta": texts()},
        ReasoningEnded: {"text": texts(), "complete": _FLAG, "state": _STATES},
        MediaStarted: {"media_type": _media_types()},
        MediaDelta: {"offset": st.integers(0, 8), "delta": st.binary(max_size=6)},
        MediaEnded: {"media_type": _media_types(), "complete": _FLAG, "state": _STATES},
        ToolInputStarted: {"name": names(), "provider_executed": _FLAG},
        ToolInputDelta: {"offset": st.integers(0, 8), "delta": texts()},
        ToolInputEnded: {"text": texts(), "complete": _FLAG, "state": _STATES},
        ToolCalled: {"name": names(), "input": _JSON_OBJECTS, "provider_executed": _FLAG, "state": _STATES},
        ToolProgress: {"output": contents()},
        ToolSuccess: {
            "output": contents(),
            "provider_executed": _FLAG,
            "details": _JSON_OBJECTS,
            "state": _STATES,
        },
        ToolFailed: {
            "error": errors(),
            "output": contents(),
            "provider_executed": _FLAG,
            "details": _JSON_OBJECTS,
            "state": _STATES,
        },
        OpaqueReceived: {"state": _STATES},
        CompactionStarted: {"reason": st.sampled_from(("auto", "manual")), "origin": _maybe(origins())},
        CompactionDelta: {"offset": st.integers(0, 8), "delta": texts()},
        CompactionEnded: {"text": texts(), "state": _STATES},
        CompactionFailed: {"error": errors()},
        UnknownEvent: {},
    }
)

_KEYS = st.sampled_from((None, None, None, "k1", "k1", "k2"))
_PROVIDER_IDS = st.sampled_from(("c1", "c1", "c2", None, "", "c1#2", "call-1"))
_TOOLS = st.sampled_from(("search", "fetch"))
_INPUT_PIECES = st.sampled_from(("", "{", "}", '{"a"', ":1}", "{}", '"\ud83d', '\ude00"', "[]", "x"))
_INPUTS = st.sampled_from(("{}", '{"a":1}', '{"a":"\ud800"}', "[]", "null", "", "{", "1e400"))
_STARTS: SearchStrategy[Verb] = _verb("start", origin=origins(), run=_maybe(runs()), state=_STATES)
_VERBS: Mapping[str, SearchStrategy[Verb]] = MappingProxyType(
    {
        "start": _STARTS,
        "restart": _verb("restart", reason=texts(), origin=_maybe(origins()), run=_maybe(runs()), state=_STATES),
        "finish": _verb(
            "finish",
            finish_reason=finishes(),
            raw_finish_reason=_maybe(texts()),
            usage=_maybe(usages()),
            state=_STATES,
            run=_maybe(runs()),
        ),
        "fail": _verb("fail", error=errors(), usage=_maybe(usages()), state=_STATES, run=_maybe(runs())),
        "close": _verb("close", error=_maybe(errors())),
        "begin": _verb("begin", key=_KEYS, kind=st.sampled_from(("text", "reasoning", "opaque")), state=_STATES),
        "keep": _verb("keep", key=_KEYS, state=_STATES, citations=st.lists(citations(), max_size=1)),
        "end": _verb("end", key=_KEYS),
        "text": _verb("text", delta=texts(), key=_KEYS, state=_STATES),
        "end_text": _verb(
            "end_text",
            state=_STATES,
            text=_maybe(texts()),
            citations=st.lists(citations(), max_size=1),
            key=_KEYS,
        ),
        "reasoning": _verb("reasoning", delta=texts(), key=_KEYS, state=_STATES),
        "end_reasoning": _verb("end_reasoning", state=_STATES, text=_maybe(texts()), key=_KEYS),
        "media": _verb("media", delta=st.binary(max_size=6), media_type=_media_types(), key=_KEYS, state=_STATES),
        "end_media": _verb(
            "end_media",
            state=_STATES,
            data=_maybe(st.binary(max_size=6)),
            media_type=_maybe(_media_types()),
            key=_KEYS,
            complete=_FLAG,
        ),
        "end_media elsewhere": _verb("end_media", state=_STATES, uri=texts(), media_type=_media_types(), key=_KEYS),
        "tool_input": _verb(
            "tool_input",
            call_id=_PROVIDER_IDS,
            name=_maybe(_TOOLS),
            delta=_INPUT_PIECES,
            key=_KEYS,
            provider_executed=_FLAG,
            state=_STATES,
            input=_maybe(_JSON_OBJECTS),
        ),
        "end_tool_input": _verb(
            "end_tool_input",
            call_id=_PROVIDER_IDS,
            state=_STATES,
            input=_maybe(_JSON_OBJECTS),
            complete=_FLAG,
            key=_KEYS,
        ),
        "tool_call": _verb(
            "tool_call",
            call_id=_PROVIDER_IDS,
            name=_TOOLS,
            input=_INPUTS | _JSON_OBJECTS,
            key=_KEYS,
            provider_executed=_FLAG,
            state=_STATES,
        ),
        "tool_progress": _verb("tool_progress", call_id=_PROVIDER_IDS, output=contents(), key=_KEYS),
        "result": _verb(
            "result",
            call_id=_PROVIDER_IDS,
            output=contents(),
            error=_maybe(errors()),
            name=_maybe(_TOOLS),
            state=_STATES,
            key=_KEYS,
            provider_executed=_FLAG,
        ),
        "opaque": _verb("opaque", state=_STATES, key=_KEYS),
    }
)

_STEP_VERBS = ("finish", "finish", "finish", "finish", "restart", "fail", "close", "start")
_OFTEN = (
    "text",
    "text",
    "reasoning",
    "tool_input",
    "tool_input",
    "end_tool_input",
    "tool_call",
    "tool_call",
    "tool_progress",
    "result",
)
_CONTENT_VERB = st.sampled_from([*_OFTEN, *_OFTEN, *(name for name in _VERBS if name not in _STEP_VERBS)]).flatmap(
    lambda name: _VERBS[name]
)
_STEP_VERB = st.sampled_from(_STEP_VERBS).flatmap(lambda name: _VERBS[name])
_VERB = st.integers(0, 7).flatmap(lambda roll: _STEP_VERB if roll == 5 else _CONTENT_VERB)
