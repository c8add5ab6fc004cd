"""
What every decoder shares: framing, recorder, closing, rejoining.

An author of an adapter subclasses `DecoderBase` and writes `on_event`: it names the part of the wire and calls verbs of
`self.recorder`. It reads fields with the functions of `reading`, for which a wrong type counts as missing.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, ClassVar, TypeAlias, final

import attrs

from assistant_events.adapters.fast_path import DeltaFastPath
from assistant_events.adapters.frame_templates import DeltaFrames, FrameTemplate, Learned, Path, TemplateLearner
from assistant_events.adapters.framing import DONE, MAX_FRAME_BYTES, Framing, Sse
from assistant_events.adapters.json_fields import FRAME_DEPTH, Fields, plain_json
from assistant_events.errors import JsonError, LocalProtocolError
from assistant_events.events import Event
from assistant_events.messages import AssistantMessage, Transcript
from assistant_events.recorder import Recorder
from assistant_events.recorder.calls import OpenCall
from assistant_events.recorder.fragments import OpenFragment
from assistant_events.reducer import fold
from assistant_events.values import ErrorInfo, ErrorKind, FinishReason, Origin, RemoteRun, read_json
from assistant_events.values.validators import NO_STATE

MAX_NOTES = 100
"""How many notes are kept; more are only counted."""

_PIECE = 1 << 20
"""How many bytes are cut into frames at once: lists of short lines would take many times the bytes."""

Prior: TypeAlias = AssistantMessage | Iterable[AssistantMessage] | Transcript | None


@final
@attrs.frozen(kw_only=True)
class Note:
    """
    Something in a stream that a decoder could not use, or had to guess about. It never holds what the provider sent.
    """

    code: str
    """A word for programs, for example `bad-json`."""

    message: str


class DecoderBase(ABC):
    """
    Turns what a provider streams into events of one message.

    `feed` takes bytes, `feed_event` parsed objects, `close` says that nothing more comes; each returns the events it
    caused. A decoder never raises for what a provider sent. What is unusable becomes a note; the step fails only when
    no valid end comes, and keeps what came before.

    Hop n of an answer that a provider gives in several responses is a message of its own, `{message_id}.n`.

    Args:
        message_id: Id of the message that the stream becomes.

        request: The body that was sent. It decides what the stream alone cannot say: whether the run can be resumed,
        which
            model was asked for, whose a call is.

        prior: The message as it stands already (or the messages of all hops, or the transcript that they are in), to
            rejoin it: the provider's stream is fed from its start, and only what is new comes out. A transcript
            without the message is as good as `None`.

    What a decoder shows:

    - `recorder`: the `Recorder` of the current hop; `on_event` calls its verbs.
    - `request`: the body that was sent, as plain JSON; empty when it is not known.
    - `notes`: what could not be used so far, a `Note` each, the first 100; `notes_left_out` counts those beyond.
    - `error`: why the last step failed; `None` when it did not.
    - `failure`: what `on_event` raised, if it did: a fault of the adapter, not of the provider. `None` otherwise.
    - `terminal`: whether the answer has come to its end; what is fed after it causes nothing.
    - `closed`: whether `close` was called; nothing can be fed any more.
    """

    dialect: ClassVar[str]
    """Name of the wire format."""

    provider: ClassVar[str]
    """Who runs the model."""

    framing: ClassVar[type[Framing]] = Sse
    """How the bytes are cut into frames."""

    item_key: ClassVar[str | None] = None
    """State key under which the recorder numbers the provider's items; `None` for no numbers."""

    max_frame_bytes: ClassVar[int] = MAX_FRAME_BYTES
    """How long a frame may be; a longer one fails the step with kind `protocol`."""

    delta_frames: ClassVar[DeltaFrames] = DeltaFrames()
    """What the frames of deltas hold beside their text, for the fast path."""

    fast: bool = True
    """Whether deltas may take the fast path. The events are the same without it."""

    def __init__(self, message_id: str, *, request: Fields | None = None, prior: Prior = None) -> None:
        if request is not None and not isinstance(request, Mapping):
            raise TypeError(f"request: expected a mapping or None, got {type(request).__name__}")
        self.message_id = message_id
        self.request: Fields = plain_json({} if request is None else request)
        self.error: ErrorInfo | None = None
        """Why the last step failed; `None` when it did not."""

        self.failure: Exception | None = None
        """What `on_event` raised, if it did: a fault of the adapter, not of the provider."""

        self.notes: list[Note] = []
        self.notes_left_out = 0
        self.closed = False
        self.terminal = False
        """Whether the answer has come to its end; what is fed after it causes nothing."""

        self.payload: bytes | None = None
        """The frame that is read, as it came; `None` when it was parsed elsewhere."""

        self.frame_ids: set[str] = set()
        """Ids of the frames that came, for dialects whose frames have one (`delta_frames.unique`)."""

        self._fast_path: DeltaFastPath | None = None
        self._left: DeltaFastPath | None = None
        """The fast path that the frame being decoded did not match; `None` when there was none."""

        self._learners: dict[Hashable, TemplateLearner] = {}
        self._name_read = False
        self._prior = _by_id(prior)
        self._hops = {
            message.run.id: each
            for each, message in self._prior.items()
            if message.run is not None and self._number_of(each) is not None
        }
        self._sink: list[Event] = []
        self._hop = 1
        self.recorder = self._make_recorder(message_id)
        self._framing = self._make_framing()

    # -- for whoever has a stream

    @final
    def feed(self, data: bytes) -> list[Event]:
        """
        Take bytes as they come, cut anywhere, and return the events they cause.

        Raises:
            LocalProtocolError: After `close`.

            TypeError: For anything but bytes.
        """
        if self.closed or data.__class__ is not bytes:
            data = self._checked(data)
        if self.terminal:
            return []
        fast, framing = self._fast_path, self._framing
        if fast is None and len(data) <= _PIECE:
            self.on_payloads(framing.feed(data))
        elif fast is None or not framing.idle or not fast.try_append(data, fast.framed, self._sink):
            # A live stream brings one frame at a time, and most continue what is open: then nothing is left to do.
            self._feed_pieces(data)
        events = self._sink
        if not events:
            return []  # not the sink itself: it is what the next call fills
        self._sink = self.recorder.sink = []
        return events

    @final
    def feed_event(self, event: object) -> list[Event]:
        """
        Take one event that is parsed already: a mapping, or an object of an SDK that can be dumped (`model_dump`).

        Raises:
            LocalProtocolError: After `close`.

            TypeError: For anything else.
        """
        if self.closed:
            raise LocalProtocolError("the decoder is closed, nothing can be fed")
        fields = _dumped(event)
        if self.terminal:
            return []
        self._leave_fast_path()
        self.on_parsed(fields)
        return self._taken()

    @final
    def close(self, error: ErrorInfo | None = None) -> list[Event]:
        """
        Say that nothing more comes, and return the events that settle what is open. Again it does nothing.

        Args:
            error: Why, when it is known (`aborted`, `network`, …); `interrupted` by default. Plays no part when the
            answer had
                come to its end.

        Raises:
            TypeError: When *error* is no `ErrorInfo`.
        """
        if error is not None and not isinstance(error, ErrorInfo):
            raise TypeError(f"error: expected an ErrorInfo or None, got {type(error).__name__}")
        if self.closed:
            return []
        if not self.terminal:
            self.on_payloads(self._framing.close())
        self.closed = True
        if not self.terminal:
            self._give_up(error)
        return self._taken()

    @final
    def rejoin(self) -> None:
        """
        Say that the connection was lost and that the provider's stream will be fed once more from its start.

        Only what is new comes out then. To rejoin in another decoder or process, pass `prior`.

        Raises:
            LocalProtocolError: After `close`.
        """
        if self.closed:
            raise LocalProtocolError("the decoder is closed, it cannot rejoin; make a new one with prior")
        if not self.terminal:
            self._framing = self._make_framing()
            self.replay_begins()

    @final
    def reconnect(self) -> None:
        """
        Say that the connection was lost and that the provider's stream will go on behind the last event it gave.

        That takes a provider that can be asked to go on from a cursor. What had come of an event that was not whole is
        forgotten. Only the decoder that lived through the stream can go on in this way; any other rejoins.

        Raises:
            LocalProtocolError: After `close`.
        """
        if self.closed:
            raise LocalProtocolError("the decoder is closed, it cannot go on; make a new one with prior")
        self._framing = self._make_framing()
        self._leave_fast_path()

    @property
    def message(self) -> AssistantMessage | None:
        """
        The message of the current hop as far as it has come out of this decoder; `None` before its first event.

        Made anew at each call, from its start: for the end of a stream, not for every delta.
        """
        return self._current_message()

    @property
    def tail(self) -> str:
        """Text after the last frame that is no frame, such as a bare JSON error; empty when there is none."""
        return self._framing.tail

    # -- for authors of adapters

    @abstractmethod
    def on_event(self, event: Fields) -> None:
        """Read one event of the wire and call verbs of `self.recorder`."""

    def on_done(self) -> None:  # noqa: B027 - these three are there to be overridden, or not
        """Take the mark `[DONE]`. It says nothing by default: only a terminal event ends an answer."""

    def on_close(self, error: ErrorInfo | None) -> None:  # noqa: B027
        """Do what is left when the stream is over without an end, before the step is failed. Nothing by default."""

    def on_skipped(self, counted: Fields) -> None:  # noqa: B027
        """Take the counted fields of the last of the frames on the fast path. Nothing by default."""

    def on_failing(self) -> None:  # noqa: B027
        """Give the recorder what is known of open items (`keep`), before the step fails. Nothing by default."""

    def on_rejoin(self) -> None:  # noqa: B027
        """Forget what was read: the stream begins again. Nothing by default."""

    def interruption(self) -> ErrorInfo:
        """Say what is wrong with a stream that is over without an end."""
        return ErrorInfo(kind=ErrorKind.INTERRUPTED, message="the stream stopped before its end", retryable=True)

    def origin(self, *, served_model: str | None = None) -> Origin:
        """Return the origin of the step, with the reported model where the request does not say which was asked for."""
        return Origin(
            provider=self.provider,
            model=self.requested_model() or served_model,
            dialect=self.dialect,
            served_model=served_model,
        )

    def requested_model(self) -> str | None:
        """Return the model that the request names; `None` when it is not known."""
        model = self.request.get("model")
        return model if isinstance(model, str) and model else None

    def ensure_started(self) -> None:
        """Begin the step if nothing has."""
        if not self.recorder.started:
            self.recorder.start(self.origin())

    def end_answer(self) -> None:
        """Say that the answer has come to its end. `finish_step` and `fail_step` say it too."""
        self.terminal = True

    def next_hop(self) -> None:
        """Go on in the message of the next hop."""
        self._hop += 1
        self.recorder = self._make_recorder(f"{self.message_id}.{self._hop}")

    def resume_hop(self, run_id: str) -> None:
        """
        Go on in the message of the hop that this run is, when `prior` holds one; each hop may be replayed by itself.
        """
        message_id = self._hops.get(run_id, self.recorder.message_id)
        if message_id != self.recorder.message_id:
            self._hop = self._number_of(message_id) or 1
            self.recorder = self._make_recorder(message_id)

    def replay_begins(self) -> None:
        """Take what follows as a replay of the current hop from its start: compare it, and let through what is new."""
        if self.recorder.rejoining and not self.recorder.so_far():
            # A replay that was given up before anything came of it: its successor is compared with the same message.
            self.recorder = self.recorder.another_replay()
        else:
            message = self._current_message()
            if message is not None:
                self._prior[message.id] = message
            self.recorder = self._make_recorder(self.recorder.message_id)
        self._leave_fast_path()
        self.on_rejoin()

    def finish_step(self, finish_reason: FinishReason | str, raw_finish_reason: str | None = None, **more: Any) -> None:
        """End the step as the provider does, and with it the answer."""
        # Any: passed on to `Recorder.finish`, which names and types them.
        self.ensure_started()
        self.recorder.finish(finish_reason, raw_finish_reason, **more)
        self.end_answer()

    def fail_step(
        self, error: ErrorInfo, *, run: RemoteRun | None = None, state: Fields = NO_STATE, **more: Any
    ) -> None:
        """Fail the step and with it the answer. A step that has ended stays as it is."""
        # Any: passed on to `Recorder.fail`, which names and types them.
        if not self.recorder.terminal:
            self.ensure_started()
            self.on_failing()
            self.error = error
            self.recorder.fail(error, run=run, state=state, **more)
        self.end_answer()

    def note(self, code: str, message: str) -> None:
        """Remember something that could not be used."""
        if len(self.notes) < MAX_NOTES:
            self.notes.append(Note(code=code, message=message))
        else:
            self.notes_left_out += 1

    @final
    def on_payloads(self, payloads: list[bytes]) -> None:
        """Take the payloads of whole frames: the fast path while they continue what is open, else one by one."""
        sink = self._sink
        for payload in payloads:
            fast = self._fast_path
            if fast is None or not fast.try_append(payload, fast.bare, sink):
                self.on_payload(payload)
                if self.terminal:
                    return
        if self._framing.too_long:
            self._refuse_frame()

    def offer_fast_path(
        self,
        event: Fields | None,
        path: Path,
        fragment: OpenFragment | OpenCall | None,
        *,
        kind: Hashable = None,
        number: int = 0,
        texts: list[Any] | None = None,
    ) -> None:
        """
        Let frames like *event* continue a fragment without being decoded in full, until another frame comes.

        Call it in `on_event` after the verb of a delta. Such frames differ in the text at *path* and in what
        `delta_frames` declares, and mean nothing beside. Templates are learned from a few of them.

        Args:
            event: The frame; `None` to offer what was learned from earlier frames of this kind before the first comes.

            path: Keys and list indexes that lead to the text.

            fragment: What the delta continues; nothing happens with `None`, or when it waits for half a character.

            kind: What tells frames with different constant bytes apart, such as the type of a delta.

            number: Number of the item, when *event* is `None`.

            texts: A list that gets the text of each frame.
        """
        # Any: see `DeltaFastPath`.
        if not self.fast or fragment is None or fragment.held or self.recorder.rejoining:
            return
        left, learner = self._left, self._learners.get(kind)
        payload = self.payload
        if event is not None:
            found = event.get(self.delta_frames.number) if self.delta_frames.number else 0
            if payload is None or type(found) is not int:
                return
            number = found
            if learner is None:
                learner = self._learners[kind] = TemplateLearner()
            if learner.template is None or (left is not None and left.is_for(learner, number, fragment)):
                learner.observe(lambda: self._learn_frame(payload, event, path))
        if learner is None or learner.template is None or number < 0:
            return
        if left is not None and left.is_for(learner, number, fragment):
            left.resume()
            self._fast_path = left
            return
        self._fast_path = DeltaFastPath(
            self.recorder.message_id,
            learner,
            number,
            fragment,
            max_frame_bytes=self.max_frame_bytes,
            frame_ids=self.frame_ids,
            texts=texts,
        )

    def catch_up(self) -> None:
        """Hand the counted fields of the last frame on the fast path to `on_skipped`, before they are read."""
        fast = self._fast_path
        if fast is not None and fast.was_used():
            self._report_skipped(fast)

    def on_payload(self, payload: bytes) -> None:
        """Parse one payload and hand it to `on_event`."""
        self._leave_fast_path()
        if payload == DONE:
            try:
                self.on_done()
            except Exception as failure:  # noqa: BLE001 - a fault of an adapter ends its step, it never escapes
                self._break(failure)
            return
        try:
            event = read_json(payload, max_depth=FRAME_DEPTH)
        except JsonError:
            try:
                # Bytes that are no UTF-8 become U+FFFD, as server-sent events want it.
                event = read_json(payload.decode("utf-8", "replace"), max_depth=FRAME_DEPTH)
            except JsonError as error:
                self.note("bad-json", f"a frame of {len(payload)} bytes is {error}")
                return
        if isinstance(event, dict):
            self.on_parsed(event, payload)
        else:
            self.note("no-object", f"a frame holds {type(event).__name__} where an object belongs")

    def on_parsed(self, event: Fields, payload: bytes | None = None) -> None:
        """Hand one parsed event to `on_event`; what that raises ends the step with kind `adapter`."""
        self.payload = payload
        self._name_read = False
        try:
            self.on_event(event)
        except Exception as failure:  # noqa: BLE001 - a fault of an adapter ends its step, it never escapes
            self._break(failure)

    def frame_name(self) -> str | None:
        """Return the name beside the frame that is read, for wires on which the document does not say what it is."""
        self._name_read = True
        return None if self.payload is None else self._framing.name(self.payload)

    # -- inside

    def _feed_pieces(self, data: bytes) -> None:
        """Take bytes of any length, a piece at a time."""
        for start in range(0, len(data), _PIECE):
            piece = data[start : start + _PIECE]
            if self.terminal:
                return
            if self._fast_path is None:
                self.on_payloads(self._framing.feed(piece))
            else:
                self._feed_frames(piece)

    def _feed_frames(self, data: bytes) -> None:
        """Take bytes frame by frame: those that continue what is open need no framing."""
        framing, sink = self._framing, self._sink
        *pieces, rest = data.split(framing.separator)
        for piece in pieces:
            fast = self._fast_path
            if fast is None or not framing.idle or not fast.try_append(piece, fast.unended, sink):
                self.on_payloads(framing.feed(piece + framing.separator))
                if self.terminal:
                    return
        if rest:
            self.on_payloads(framing.feed(rest))

    def _leave_fast_path(self) -> None:
        """Close the fast path, for something else comes."""
        fast = self._left = self._fast_path
        if fast is not None:
            self._fast_path = None
            if fast.was_used():
                self._report_skipped(fast)

    def _report_skipped(self, fast: DeltaFastPath) -> None:
        payload = fast.last_payload()
        counted = {} if payload is None else self.delta_frames.counted_in(read_json(payload, max_depth=None))
        try:
            self.on_skipped(counted)
        except Exception as failure:  # noqa: BLE001 - a fault of an adapter ends its step, it never escapes
            self._break(failure)

    def _learn_frame(self, payload: bytes, event: Fields, path: Path) -> Learned:
        around = self._framing.around(payload, self.frame_name() if self._name_read else None)
        template = FrameTemplate.learn(payload, event, path, self.delta_frames)
        return None if around is None and self._name_read else template, around, self._name_read

    def _refuse_frame(self) -> None:
        reason = f"a frame is longer than {self.max_frame_bytes} bytes"
        self.note("long-frame", reason)
        self._give_up(ErrorInfo(kind=ErrorKind.PROTOCOL, message=reason))
        self.end_answer()

    def _give_up(self, error: ErrorInfo | None) -> None:
        """Do what is left when nothing more is taken, and fail the step; not a hop of which nothing came."""
        self._leave_fast_path()
        try:
            self.on_close(error)
        except Exception as failure:  # noqa: BLE001 - a fault of an adapter ends its step, it never escapes
            self._break(failure)
        if not self.terminal and not (self._hop > 1 and not self.recorder.started):
            self.fail_step(self.interruption() if error is None else error)

    def _make_framing(self) -> Framing:
        return type(self).framing(self.max_frame_bytes)

    def _checked(self, data: object) -> bytes:
        if self.closed:
            raise LocalProtocolError("the decoder is closed, nothing can be fed")
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"data: expected bytes, got {type(data).__name__}")
        return bytes(data)

    def _break(self, failure: Exception) -> None:
        self.failure = failure
        error = ErrorInfo(
            kind=ErrorKind.ADAPTER, message=f"the adapter {self.dialect!r} failed with {type(failure).__name__}"
        )
        self.fail_step(error)

    def _number_of(self, message_id: str) -> int | None:
        """Return which hop a message is, from the second on; `None` for the first, and for other messages."""
        number = message_id.removeprefix(f"{self.message_id}.")
        return int(number) if number != message_id and number.isdecimal() else None

    def _make_recorder(self, message_id: str) -> Recorder:
        return Recorder(
            message_id, prior=self._prior.get(message_id), sink=self._sink, item_key=self.item_key, note=self.note
        )

    def _taken(self) -> list[Event]:
        events = self._sink
        if not events:
            return []  # not the sink itself: it is what the next call fills
        self._sink = self.recorder.sink = []
        return events

    def _current_message(self) -> AssistantMessage | None:
        """Return the message of the current hop as far as it has come out of this decoder."""
        prior = self._prior.get(self.recorder.message_id)
        start = None if prior is None else Transcript(messages=(prior,))
        message = fold(self.recorder.so_far(), start=start).last
        return message if isinstance(message, AssistantMessage) else None


def _by_id(prior: Prior) -> dict[str, AssistantMessage]:
    if prior is None:
        return {}
    if not isinstance(prior, (AssistantMessage, Transcript, Iterable)):
        raise TypeError(f"prior: expected an AssistantMessage, several or a Transcript, got {type(prior).__name__}")
    messages: list[AssistantMessage]
    if isinstance(prior, AssistantMessage):
        messages = [prior]
    elif isinstance(prior, Transcript):
        messages = [message for message in prior.messages if isinstance(message, AssistantMessage)]
    else:
        messages = list(prior)
    for message in messages:
        if not isinstance(message, AssistantMessage):
            raise TypeError(f"prior: expected an AssistantMessage, got {type(message).__name__}")
    return {message.id: message for message in messages}


def _dumped(event: object) -> Fields:
    dump = getattr(event, "model_dump", None)
    fields = dump(mode="json", by_alias=True, exclude_none=True) if callable(dump) else event
    if isinstance(fields, Mapping):
        plain: dict[str, Any] = plain_json(fields)
        return plain
    raise TypeError(f"event: expected a mapping or an object with model_dump, got {type(event).__name__}")
