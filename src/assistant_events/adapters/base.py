"""
What every decoder shares: framing, recorder, closing, rejoining.

An author of an adapter subclasses `DecoderBase` and writes `on_event`: it names the part of the wire and calls verbs of
`self.recorder`. It reads fields with the functions of `json_fields`, for which a wrong type counts as missing.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any, ClassVar, Literal, TypedDict, Unpack, final

import attrs

from assistant_events.adapters.call_ids import wire_or_own_id
from assistant_events.adapters.errors import ErrorTable, error_of_body, error_of_document, is_cut
from assistant_events.adapters.frame_reader import FrameReader, Note
from assistant_events.adapters.framing import Framing
from assistant_events.adapters.hops import Hops, Prior
from assistant_events.adapters.items import last_number
from assistant_events.adapters.json_fields import Fields, dumped, learn, mapping, others, plain_json
from assistant_events.adapters.usage import UsageTable
from assistant_events.errors import LocalProtocolError
from assistant_events.events import Event
from assistant_events.history import has_result
from assistant_events.messages import AssistantMessage, CallStatus, ToolPart, Transcript
from assistant_events.recorder import Recorder
from assistant_events.reducer import fold
from assistant_events.values import ErrorInfo, ErrorKind, FinishReason, Origin, RemoteRun, Usage, valid_text
from assistant_events.values.content import ContentInput
from assistant_events.values.validators import NO_STATE, as_state


class StepFacts(TypedDict, total=False):
    """Facts that each end of a step has, however it ends."""

    usage: Usage | None
    run: RemoteRun | None
    state: Mapping[str, object]
    details: Mapping[str, object]


class DecoderOptions(TypedDict, total=False):
    """The keyword arguments of `DecoderBase`, for subclasses with a constructor of their own."""

    request: Fields | None
    prior: Prior
    continues: AssistantMessage | None
    provider: str | None
    framing: type[Framing] | None


class DecoderBase(FrameReader):
    """
    Decodes the stream of a provider into events of one message.

    `feed` takes bytes, `feed_event` parsed objects, `close` ends the stream; each returns the events it caused. A
    decoder never raises for what a provider sent. Unusable input becomes a note; the step fails only when no valid end
    comes, and keeps what came before.

    Hop n of an answer that a provider gives in several responses is a message of its own, `{message_id}.n`.

    Args:
        message_id: Id of the message that the stream becomes.

        request: The body that was sent. It decides what the stream alone does not contain: whether the run can be
            resumed, which model was asked for, who runs a call.

        prior: The message as recorded before (or the messages of all hops, or their transcript), to rejoin it: the
            provider's stream is fed from its start, and only new events are returned. A transcript without the message
            has no effect.

        continues: The message of the answer before, when that was paused: results of its calls are recorded there.

        provider: Who runs the model, where it is not the provider that the dialect is named after.

        framing: How the bytes are cut into frames, where it is not the framing of the dialect.

    Attributes of a decoder:

    - `recorder`: the `Recorder` of the current hop; `on_event` calls its verbs.
    - `step_state`, `step_details`: state and details of the step as far as they are known, for the adapter to fill.
    - `request`: the body that was sent, as plain JSON; empty when it is not known.
    - `notes`: unusable input so far, a `Note` each, the first 100; `notes_left_out` counts those beyond.
    - `error`: why the last step failed; `None` when it did not.
    - `failure`: the exception of `on_event`, a fault of the adapter and not of the provider. `None` otherwise.
    - `terminal`: whether the answer has ended; later input causes no event.
    - `closed`: whether `close` was called; nothing can be fed any more.
    """

    dialect: ClassVar[str]
    """Name of the wire format."""

    provider: str
    """Who runs the model, unless the caller names another provider of the dialect."""

    usage_table: ClassVar[UsageTable | None] = None
    """Names of the counts in the wire's usage object, for `note_usage`."""

    error_table: ClassVar[ErrorTable | None] = None
    """Reads an error that comes as a document, in place of an answer or behind its frames; `None`: that is a cut."""

    item_key: ClassVar[str | None] = None
    """State key under which the recorder numbers the provider's items, that of `Policy`; `None` for no numbers."""

    answer_fields: ClassVar[frozenset[str]] = frozenset()
    """Fields of which every whole answer has at least one; where there are none, any document is taken as an answer."""

    dump_without: ClassVar[Literal["exclude_none", "exclude_unset"]] = "exclude_none"
    """How objects of an SDK are dumped: without nulls, or (`exclude_unset`) with those that came, to send them back."""

    def __init__(
        self,
        message_id: str,
        *,
        request: Fields | None = None,
        prior: Prior = None,
        continues: AssistantMessage | None = None,
        provider: str | None = None,
        framing: type[Framing] | None = None,
    ) -> None:
        if request is not None and not isinstance(request, Mapping):
            raise TypeError(f"request: expected a mapping or None, got {type(request).__name__}")
        if continues is not None and not isinstance(continues, AssistantMessage):
            raise TypeError(f"continues: expected an AssistantMessage or None, got {type(continues).__name__}")
        self.message_id = message_id
        if provider is not None:
            self.provider = provider
        if framing is not None:
            self.framing = framing
        for name in ("dialect", "provider"):
            named = getattr(self, name, None)
            if not isinstance(named, str) or not named:
                raise TypeError(f"{type(self).__name__}.{name}: expected a non-empty string, got {named!r}")
        self.request: Fields = plain_json({} if request is None else request)
        self.error: ErrorInfo | None = None
        self.failure: Exception | None = None
        self._usage: Fields | None = None
        self._served_model: str | None = None
        self._paused_calls = _calls_by_id(continues)
        self._next_number = 0 if continues is None else last_number(continues, self.item_key or "") + 1
        self._hops = Hops(message_id, prior)
        super().__init__()
        self.recorder = self._make_recorder(message_id)
        self._begin_stream()

    # -- for the owner of a stream

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
        fields = _fields_of(event, **{self.dump_without: True})
        if self.terminal:
            return []
        self._leave_fast_path()
        self.on_parsed(fields)
        return self._taken()

    @final
    def feed_resource(self, resource: Fields) -> list[Event]:
        """
        Take a whole answer that came as one JSON document.

        One without any of `answer_fields` fails: with the error that it has, else with kind `protocol`.

        Raises:
            LocalProtocolError: After `close`.
        """
        refusal = self._refusal(resource)
        events: list[Event] = []
        for event in self.resource_events(resource) if refusal is None else (resource,):
            events += self.feed_event(event)
        if refusal is not None and not self.terminal:
            self.fail_step(refusal)
            events += self._taken()
        return events

    @final
    def close(self, error: ErrorInfo | None = None) -> list[Event]:
        """
        End the stream, and return the events that settle what is open. Has no effect the second time.

        Args:
            error: Why the body was cut (`aborted`, `network`, …); `None` when the body ended. An answer that has not
                ended then fails with kind `interrupted`, unless its wire has no last frame.

        Raises:
            TypeError: *error* is not an `ErrorInfo`.
        """
        if error is not None and not isinstance(error, ErrorInfo):
            raise TypeError(f"error: expected an ErrorInfo or None, got {type(error).__name__}")
        if self.closed:
            return []
        if not self.terminal:
            self._close_framing()
        self.closed = True
        if not self.terminal:
            is_cut = self._framing.checksums and not self._framing.idle  # within a frame whose length is known
            self._give_up(self.interruption() if is_cut and error is None else error)
        return self._taken()

    @final
    def rejoin(self) -> None:
        """
        Prepare for a replay after a lost connection: the provider's stream will be fed again from its start.

        Only what is new comes out then. To rejoin in another decoder or process, pass `prior`.

        Raises:
            LocalProtocolError: After `close`.
        """
        if self.closed:
            raise LocalProtocolError("the decoder is closed, it cannot rejoin; make a new one with prior")
        if not self.terminal:
            self._open_framing()
            self.replay_begins()

    @final
    def reconnect(self) -> None:
        """
        Prepare for the rest of the stream after a lost connection, from the event after the last one.

        That takes a provider that can be asked to go on from a cursor. What had come of an event that was not whole is
        forgotten. Only the decoder that lived through the stream can go on in this way; any other rejoins.

        Raises:
            LocalProtocolError: After `close`.
        """
        if self.closed:
            raise LocalProtocolError("the decoder is closed, it cannot go on; make a new one with prior")
        self._open_framing()
        self._leave_fast_path()

    @classmethod
    def decode_resource(
        cls,
        resource: Mapping[str, Any],
        message_id: str,
        *,
        notes: list[Note] | None = None,
        **options: Unpack[DecoderOptions],
    ) -> list[Event]:
        """
        Return the events of an answer that came as one JSON document. Stream and document fold to the same message.

        Args:
            resource: The parsed document.

            message_id: Id of the message that it becomes.

            notes: A list that gets the notes of the decoder.

            options: As for the decoder.

        Raises:
            TypeError: *resource* is not a mapping.
        """
        # Any in the signature: the document is not known until it is read.
        if not isinstance(resource, Mapping):
            raise TypeError(f"resource: expected a mapping, got {type(resource).__name__}")
        decoder = cls(message_id, **options)
        events = decoder.feed_resource(plain_json(resource)) + decoder.close()
        if notes is not None:
            notes += decoder.notes
        return events

    @property
    def message(self) -> AssistantMessage | None:
        """
        The message of the current hop as far as it has come out of this decoder; `None` before its first event.

        Made anew at each call, from its start: for the end of a stream, not for every delta.
        """
        start = None if self.prior is None else Transcript(messages=(self.prior,))
        message = fold(self.recorder.so_far(), start=start).last
        return message if isinstance(message, AssistantMessage) else None

    @property
    def usage_so_far(self) -> Usage | None:
        """The tokens that the step has counted, marked as partial; `None` before it has counted any, and at its end."""
        self.catch_up()
        usage = None if self.recorder.terminal else self.facts().get("usage")
        return None if usage is None else attrs.evolve(usage, details={**usage.details, "partial": True})

    # -- for authors of adapters

    @property
    def prior(self) -> AssistantMessage | None:
        """The message of the current hop as it was recorded before, with which a replay is compared; else `None`."""
        return self._hops.recorded.get(self.recorder.message_id)

    def resource_events(self, resource: Fields) -> Iterable[Fields]:
        """Return events of the wire with the content of a whole document; by default the document is one event."""
        return (resource,)

    def on_close(self, error: ErrorInfo | None) -> None:
        """
        Take the end of the body, before a step without an end is failed. Nothing by default.

        Without an *error* the body ended: on a wire without a last frame, finish the step here. With one it was cut.
        """

    def on_skipped(self, counted: Fields) -> None:
        """Take the counted fields of the last of the frames on the fast path: by default `usage`, if it is read."""
        if self.usage_table is not None:
            self.note_usage(mapping(counted, "usage"))

    def on_failing(self) -> None:
        """Give the recorder what is known of open items (`keep`), before the step fails. Nothing by default."""

    def on_begin(self) -> None:
        """Forget what was read: the stream begins, when the decoder is made, or again. Nothing by default."""

    def bare_error(self) -> ErrorInfo | None:
        """Return the error of a document that is not a frame, as gateways end a broken stream; `None` without one."""
        if self.error_table is None or not any(sign in self.tail for sign in ('"error"', '"base_resp"', '"msg"')):
            return None
        fields = error_of_body(self.tail.encode(), self.error_table.beside)
        return self.error_table.read(fields) if fields else None

    def interruption(self) -> ErrorInfo:
        """Return the error of a stream that was cut: of the document at its end, where there is one."""
        text = "the stream stopped before its end"
        return self.bare_error() or ErrorInfo(kind=ErrorKind.INTERRUPTED, message=text, retryable=True)

    def origin(self, *, served_model: str | None = None) -> Origin:
        """Return the origin of the step, with the reported model where the request names none."""
        return Origin(
            provider=self.provider,
            model=self.requested_model() or served_model,
            dialect=self.dialect,
            served_model=served_model,
        )

    def remote_run(self) -> RemoteRun | None:
        """Return the run of the step, as far as it is known; `None` where the provider keeps none, as by default."""
        return None

    def requested_model(self) -> str | None:
        """Return the model that the request names; `None` when it is not known."""
        model = self.request.get("model")
        return model if isinstance(model, str) and model else None

    def ensure_started(self, served_model: str | None = None) -> None:
        """Begin the step if nothing has, with `remote_run` and `step_state`. Another model after that is a detail."""
        if not self.recorder.started:
            self.recorder.start(self.origin(served_model=served_model), self.remote_run(), self.step_state)
        elif served_model and served_model != self._served_model:
            self.learn_details({"served_model": served_model}, ())
        self._served_model = served_model or self._served_model

    def end_answer(self) -> None:
        """End the answer. `finish_step` and `fail_step` do it too."""
        self.terminal = True

    def next_hop(self) -> None:
        """Go on in the message of the next hop. Calls that the last one has left without a result wait for it."""
        paused = self.message
        self._paused_calls = _calls_by_id(paused)
        self._next_number = 0 if paused is None else last_number(paused, self.item_key or "") + 1
        self.recorder = self._make_recorder(self._hops.next())
        self._forget_step()

    def resume_hop(self, run_id: str) -> None:
        """Continue in the message of the hop of this run, when `prior` has one; each hop may be replayed alone."""
        message_id = self._hops.resume(run_id)
        if message_id is not None and message_id != self.recorder.message_id:
            self.recorder = self._make_recorder(message_id)

    def answer_paused(
        self,
        call_id: str | None,
        output: ContentInput = (),
        error: ErrorInfo | None = None,
        *,
        state: Mapping[str, object] = NO_STATE,
        name: str = "",
    ) -> bool:
        """
        Record a result for a call of the message that this answer continues, once.

        Args:
            call_id: The provider's id of the call; `None` for the last one of the tool *name*, if one waits of those.

            output: What the tool returned.

            error: Why the call failed.

            state: State of the result.

            name: The tool, where the result names no call.

        Returns:
            Whether that message has such a call, and with a result: one that failed without any has none now.
        """
        if call_id is None:
            calls = sorted(self._paused_calls.items(), key=lambda each: not each[1].settled)
            call_id = next((each for each, call in reversed(calls) if call.name == name), "")
        call = self._paused_calls.get(call_id)
        if call is None or (call.settled and not has_result(call)):
            return False
        if not call.settled:
            event = call.succeed(output) if error is None else call.fail(error, output=output)
            number = {} if self.item_key is None else {self.item_key: self._next_number}
            self._next_number += 1
            self._sink.append(attrs.evolve(event, state=as_state({**number, **state})))
            self._paused_calls[call_id] = attrs.evolve(call, status=CallStatus.SUCCESS)
        return True

    def replace_text(self, key: Hashable, text: str) -> None:
        """Put the whole text of an open fragment or input in place of its deltas; nothing when it is not open."""
        open_ = self.recorder.open_of(key)
        if open_ is not None and open_.buffer.value() != text:
            open_.held = ""
            open_.buffer.replace(valid_text(text))

    def replay_begins(self) -> None:
        """Take what follows as a replay of the current hop from its start: compare it, and let through what is new."""
        if self.recorder.rejoining and not self.recorder.so_far():
            # A replay that was given up before anything came of it: its successor is compared with the same message.
            self.recorder = self.recorder.another_replay()
        else:
            message = self.message
            if message is not None:
                self._hops.recorded[message.id] = message
            self.recorder = self._make_recorder(self.recorder.message_id)
        self._leave_fast_path()
        self._begin_stream()

    def note_usage(self, fields: Fields, *, partial: bool = False) -> None:
        """
        Remember a usage object of the wire for the end of the step, in place of the last one; empty ones are ignored.

        Args:
            fields: The object, read with `usage_table`.

            partial: Whether it counts only a part of the step; its details then have `partial`.

        Raises:
            TypeError: The decoder has no `usage_table`.
        """
        if self.usage_table is None:
            raise TypeError(f"{type(self).__name__}.usage_table: expected a UsageTable to read usage with, got None")
        if fields and (known := others(fields) if None in fields.values() else fields):
            self._usage = {**known, "partial": True} if partial else known

    def learn_details(self, fields: Fields, own: Collection[str], *, level: str = "") -> None:
        """
        Remember fields, but for those that are *own*, as details of the step, or in the one under *level*.

        New ones make learned frames useless: these have the old ones, which would count again.
        """
        if isinstance(own, frozenset) and own.issuperset(fields):
            return  # as of most frames
        facts: dict[str, Any] = self.step_details.get(level, {}) if level else self.step_details
        if learn(facts, fields, own):
            self.step_details |= {level: facts} if level else {}
            self._fast_paths.clear()

    def facts(self) -> StepFacts:
        """Return the facts that each end of the step has: usage, `remote_run`, `step_state` and `step_details`."""
        facts: StepFacts = {"run": self.remote_run(), "state": self.step_state, "details": self.step_details}
        if self._usage is not None and self.usage_table is not None:
            facts["usage"] = self.usage_table.read(self._usage)
        return facts

    def finish_reason_of(self, given: FinishReason | None, *, refused: bool = False) -> FinishReason:
        """
        Return why the answer ended. Some servers give `stop` as the reason of calls and of refusals, too.

        Args:
            given: The reason of the wire; `None` when it gave none.

            refused: Whether the answer has a refusal.
        """
        if refused and given is FinishReason.STOP:
            return FinishReason.CONTENT_FILTER
        if given in (None, FinishReason.STOP) and self.recorder.unanswered(provider_executed=False):
            return FinishReason.TOOL_CALLS
        return given or FinishReason.OTHER

    def finish_step(
        self,
        finish_reason: FinishReason | str,
        raw_finish_reason: str | None = None,
        *,
        last: bool = True,
        **more: Unpack[StepFacts],
    ) -> None:
        """
        End the step as the provider does, with its `facts`.

        Args:
            finish_reason: Why the provider stopped.

            raw_finish_reason: The same in the provider's word.

            last: Whether the answer ends with the step; False when another hop follows.

            more: Facts that win over those of `facts`.
        """
        self.ensure_started()
        facts: StepFacts = {**self.facts(), **more}
        self.recorder.finish(finish_reason, raw_finish_reason, **facts)
        self.terminal = self.terminal or last

    def fail_step(self, error: ErrorInfo, *, last: bool = True) -> None:
        """Fail the step, with its `facts`, and (where it is the *last*) the answer. A step that has ended stays."""
        if not self.recorder.terminal:
            self.ensure_started()
            self.on_failing()
            self.error = error
            self.recorder.fail(error, **self.facts())
        self.terminal = self.terminal or last

    # -- inside

    def _begin_stream(self) -> None:
        self._forget_step()
        self.on_begin()

    def _forget_step(self) -> None:
        self._usage = self._served_model = None
        self.step_state: dict[str, Any] = {}
        self.step_details: dict[str, Any] = {}

    def _refusal(self, document: Fields) -> ErrorInfo | None:
        """Return the error of a whole document that does not hold an answer; `None` for an answer."""
        places = (document, mapping(document, "data"))  # Cline's service wraps answers (cline/cline#12647)
        found = [place.get(key) for place in places for key in self.answer_fields]
        if not found or any(isinstance(value, (str, list, dict)) for value in found):
            return None
        if self.error_table is not None and (error := error_of_document(document, self.error_table.beside)):
            return self.error_table.read(error)
        return ErrorInfo(kind=ErrorKind.PROTOCOL, message=f"the document is not an answer of {self.dialect}")

    def _give_up(self, error: ErrorInfo | None) -> None:
        """Do what is left when nothing more is taken, and fail the step; not a hop of which nothing came."""
        self._leave_fast_path()
        if is_cut(error):
            self._mark_usage()
        try:
            self.on_close(error)
        except Exception as failure:  # noqa: BLE001 - a fault of an adapter ends its step, it never escapes
            self._break(failure)
        if not self.terminal and (self._hops.is_first or self.recorder.started):
            self._mark_usage()
            self.fail_step(self.interruption() if error is None else error)

    def _mark_usage(self) -> None:
        """Mark the usage as partial: tokens may have been used behind it."""
        if self._usage is not None:
            self._usage = {**self._usage, "partial": True}

    def _break(self, failure: Exception) -> None:
        self.failure = failure
        message = f"the adapter {self.dialect!r} failed with {type(failure).__name__}"
        self.fail_step(ErrorInfo(kind=ErrorKind.ADAPTER, message=message))

    def _make_recorder(self, message_id: str) -> Recorder:
        return Recorder(
            message_id,
            prior=self._hops.recorded.get(message_id),
            sink=self._sink,
            item_key=self.item_key,
            note=self.note,
        )


def _calls_by_id(paused: AssistantMessage | None) -> dict[str, ToolPart]:
    """Return the calls of the provider by the ids that it gave them."""
    calls = () if paused is None else paused.tool_calls
    return {wire_or_own_id(call): call for call in calls if call.provider_executed}


def _fields_of(event: object, **options: bool) -> Fields:
    fields: Fields | None = plain_json(dumped(event, **options))
    if fields is None:
        raise TypeError(f"event: expected a mapping or an object with model_dump, got {type(event).__name__}")
    return fields
