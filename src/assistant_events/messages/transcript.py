"""The transcript of a session: its messages in order, and whose move it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from operator import attrgetter
from typing import ClassVar, Final, final

import attrs

from assistant_events.messages.messages import (
    MESSAGE_CLASSES,
    AssistantMessage,
    CompactionMessage,
    Message,
    MessageStatus,
    ToolPart,
    UserMessage,
)
from assistant_events.values import CUT_KINDS, FinishReason, RemoteRun, Usage, validators
from assistant_events.values.validators import Frozen


class Awaits(StrEnum):
    """Whose move it is in a session."""

    USER = "user"
    """Nothing is open: the next event is a prompt."""

    MODEL = "model"
    """A prompt, tool results or a paused message wait for the next step."""

    TOOLS = "tools"
    """Calls of the last assistant message wait for results from the app."""

    PROVIDER = "provider"
    """A step or compaction is running, or a step was cut whose run can be resumed."""


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class Unfinished(Frozen):
    """A message or a call that a session waits for."""

    message_id: str = attrs.field(validator=validators.check_name)

    awaits: Awaits = attrs.field(converter=Awaits)
    """The `awaits` of the transcript; never `Awaits.USER`."""

    call_id: str | None = attrs.field(default=None, validator=attrs.validators.optional(validators.check_name))
    """The call without a result, with `Awaits.TOOLS` or an unknown outcome; otherwise `None`."""

    run: RemoteRun | None = attrs.field(default=None, validator=validators.IsA(RemoteRun, optional=True))
    """The run of the step, with `Awaits.PROVIDER`; `None` when the response does not live at the provider."""

    is_outcome_unknown: bool = attrs.field(default=False, validator=validators.check_flag)
    """Whether the app has started the call: it may have run, and must not be run again unseen."""


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class Turn(Frozen):
    """Everything from one prompt to the next."""

    prompt: UserMessage | None
    """`None` only for the messages before the first prompt."""

    messages: tuple[AssistantMessage | CompactionMessage, ...]


def _as_messages(value: Iterable[Message]) -> tuple[Message, ...]:
    return validators.tuple_of(value, MESSAGE_CLASSES, "messages", "a message")


def _as_ids(value: Iterable[str]) -> frozenset[str]:
    return frozenset(validators.tuple_of(value, str, "rewound", "a str"))


@final
@attrs.frozen(kw_only=True, repr=False, eq=False, weakref_slot=False)
class Transcript(Frozen):
    """The messages of a session, folded from its events."""

    version: ClassVar[int] = 1

    messages: tuple[Message, ...] = attrs.field(default=(), converter=_as_messages)

    seq: int = attrs.field(default=0, validator=validators.check_count)
    """`seq` of the last folded record; 0 when there was none."""

    rewound: frozenset[str] = attrs.field(default=frozenset(), converter=_as_ids)
    """Ids of rewound messages; later events of them are refused."""

    def __iter__(self) -> Iterator[Message]:
        return iter(self.messages)

    def __len__(self) -> int:
        return len(self.messages)

    def __getitem__(self, message_id: str) -> Message:
        """
        Return the message with this id.

        Raises:
            KeyError: There is none.
        """
        message = self.get(message_id)
        if message is None:
            raise KeyError(message_id)
        return message

    def get(self, message_id: str) -> Message | None:
        """Return the message with this id; `None` when there is none."""
        return next((message for message in reversed(self.messages) if message.id == message_id), None)

    def answer(self, message_id: str) -> AssistantMessage:
        """
        Return the assistant message with this id.

        Raises:
            KeyError: There is none, or it is a message of another kind.
        """
        message = self.get(message_id)
        if not isinstance(message, AssistantMessage):
            found = "no message" if message is None else f"a {message.type} message"
            raise KeyError(f"{message_id!r}: expected an assistant message, found {found}")
        return message

    def __contains__(self, message_id: object) -> bool:
        return message_id in map(_ID, self.messages)

    @property
    def last(self) -> Message | None:
        """The newest message; `None` when there is none."""
        return self.messages[-1] if self.messages else None

    @property
    def last_answer(self) -> AssistantMessage | None:
        """The newest assistant message, also while it is running; `None` when there is none."""
        return next((message for message in reversed(self.messages) if isinstance(message, AssistantMessage)), None)

    @property
    def pending_tool_calls(self) -> tuple[ToolPart, ...]:
        """Client calls of all messages that have no result yet, oldest first."""
        return tuple(
            [
                call
                for message in self.messages
                if isinstance(message, AssistantMessage)
                for call in message.pending_tool_calls
            ]
        )

    @property
    def usage(self) -> Usage | None:
        """Usage of all messages added up; `None` when no message has any."""
        known = [message.usage for message in self.messages if isinstance(message, AssistantMessage) and message.usage]
        return sum(known, Usage()) if known else None

    @property
    def awaits(self) -> Awaits:
        """
        Whose move it is; see `unfinished` for the messages, calls and runs behind it.

        The first rule that applies, to the messages that were not rewound:

        1. An assistant or compaction message is running: `PROVIDER`.
        2. The last assistant message is completed and a client call of it has no result: `TOOLS`, also when a prompt
           follows it.
        3. The last message is a prompt: `MODEL`.
        4. The last message is completed, and paused or with at least one client call: `MODEL`. All of its calls have
           results here, and a call that failed with invalid input has one.
        5. The last message failed with an error of `CUT_KINDS`, and its run is resumable: `PROVIDER`.
        6. Otherwise `USER`.

        For "the last message", compaction messages are skipped.
        """
        left = self.unfinished()
        return left[0].awaits if left else Awaits.USER

    def unfinished(self) -> tuple[Unfinished, ...]:
        """
        Return the messages, calls and runs on which `awaits` is based, oldest first.

        Empty exactly when `awaits` is `Awaits.USER`. After the running messages come those of their calls that the app
        has started: whether they have run is unknown.
        """
        # A session asks with every batch, so looking for running messages costs no step of Python for each message.
        if MessageStatus.RUNNING in map(_STATUS, self.messages):
            running = [message for message in self.messages if message.status is MessageStatus.RUNNING]
            answers = [message for message in running if isinstance(message, AssistantMessage)]
            runs = {message.id: message.run for message in answers}
            return (
                *[Unfinished(message_id=each.id, awaits=Awaits.PROVIDER, run=runs.get(each.id)) for each in running],
                *[
                    _waiting(call, Awaits.PROVIDER)
                    for each in answers
                    for call in each.tool_calls
                    if call.is_outcome_unknown
                ],
            )
        answer = self.last_answer
        if answer is not None and answer.pending_tool_calls:
            return tuple([_waiting(call, Awaits.TOOLS) for call in answer.pending_tool_calls])
        last = next((each for each in reversed(self.messages) if not isinstance(each, CompactionMessage)), None)
        if isinstance(last, UserMessage) or (last is not None and _continues(last)):
            return (Unfinished(message_id=last.id, awaits=Awaits.MODEL),)
        if last is not None and _is_resumable(last):
            return (Unfinished(message_id=last.id, awaits=Awaits.PROVIDER, run=last.run),)
        return ()

    def turns(self) -> tuple[Turn, ...]:
        """Return the transcript split at its prompts."""
        turns: list[tuple[UserMessage | None, list[AssistantMessage | CompactionMessage]]] = []
        for message in self.messages:
            if isinstance(message, UserMessage):
                turns.append((message, []))
            else:
                if not turns:
                    turns.append((None, []))
                turns[-1][1].append(message)
        return tuple([Turn(prompt=prompt, messages=tuple(messages)) for prompt, messages in turns])

    def context(self) -> tuple[Message, ...]:
        """Return the messages for a model: the last completed compaction and all messages that began after it."""
        for at in range(len(self.messages) - 1, -1, -1):
            message = self.messages[at]
            if isinstance(message, CompactionMessage) and message.status is MessageStatus.COMPLETED:
                return self.messages[at:]
        return self.messages


def _waiting(call: ToolPart, awaits: Awaits) -> Unfinished:
    return Unfinished(
        message_id=call.message_id,
        awaits=awaits,
        call_id=call.call_id,
        is_outcome_unknown=call.is_outcome_unknown,
    )


def _continues(message: AssistantMessage) -> bool:
    """Return whether the model is to be asked again after a completed message without pending calls."""
    return message.status is MessageStatus.COMPLETED and (
        message.finish_reason is FinishReason.PAUSE or any(not call.provider_executed for call in message.tool_calls)
    )


def _is_resumable(message: AssistantMessage) -> bool:
    """Return whether a failed step was only cut, and its run can be resumed."""
    return (
        message.error is not None
        and message.error.kind in CUT_KINDS
        and message.run is not None
        and message.run.resumable
    )


_ID: Final = attrgetter("id")
_STATUS: Final = attrgetter("status")
