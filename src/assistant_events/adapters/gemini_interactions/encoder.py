"""
A conversation to the next request.

Either the request names the interaction that the service keeps and holds what is new (`chained`), or it holds the
whole conversation as `Step[]` with every signature at its place (`full`). A long answer is gone on with by its token
(`hop`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple, get_args

from assistant_events.adapters.encoder import Encoded, EncodeMode
from assistant_events.adapters.gemini_interactions.request_items import EncodedMessage, Step, encode_message
from assistant_events.adapters.gemini_interactions.wire_steps import wire_id
from assistant_events.adapters.json_fields import Fields, mapping, string
from assistant_events.errors import LocalProtocolError
from assistant_events.history import POLICIES, REPAIRS, Drop, Policy, Relation
from assistant_events.messages import (
    MESSAGE_CLASSES,
    AssistantMessage,
    CompactionMessage,
    Message,
    MessageStatus,
    Times,
    Transcript,
)
from assistant_events.values import FinishReason, JsonObject, Origin, thaw

PROVIDER: Final = "google"
DIALECT: Final = "gemini-interactions"

_ADDED: Final = ("input", "previous_interaction_id", "continuation_token")
"""Fields that are the conversation's."""


def encode(
    transcript: Transcript | Iterable[Message],
    body: Mapping[str, Any],
    *,
    mode: EncodeMode = "auto",
    rules: Policy | None = None,
    strip: bool = False,
) -> Encoded:
    """
    Return *body* with the conversation in it: `input`, `previous_interaction_id`, `continuation_token`, `environment`.

    Nothing else of the body is touched, but that `agent_config.visualization` goes only when it is `off`.

    - An answer that ended as `pause` and is the last message is gone on with by its continuation token: a hop.
    - `chained` needs a last answer that is completed, of the same model or agent, and kept by the service, with
      something new behind it, and nothing before it that it cannot have known.
    - `full` is always possible.

    Every call that goes has an answer. What was not answered, or never was a call, is answered by the request with
    what is wrong; each such repair is in `left_out`.

    Args:
        transcript: The conversation, of which the `context()` is taken, or messages.

        body: The request in the words of the service, without the conversation: `model` or `agent`, and whatever the
            app wants. A field of the conversation may stand in there as `None`.

        mode: `auto` takes a hop, `chained` and `full` in this order, `chained` a hop as well. Where the service answers
            404 or 501 to `chained`, ask again with `full`: it no longer has the interaction, or cannot go on from it.

        rules: What may go where, instead of `RULES["gemini-interactions"]`, for example with its `readers`.

        strip: Leave out all state, for a conversation that the service refuses; then nothing is chained.

    Raises:
        TypeError: When *transcript* is no conversation, or *body* no JSON.

        ValueError: When *body* does not name a model or an agent, but not both, or holds a part of the conversation;
            for a *mode* that there is not.

        LocalProtocolError: When *mode* is `chained` and that is not possible. When a long answer is to be gone on with,
            and the service gave no token, or the one back that was sent to it: then it makes no progress.
    """
    # Any in the signature: the body is the app's.
    if mode not in get_args(EncodeMode):
        raise ValueError(f"mode: expected 'auto', 'chained' or 'full', got {mode!r}")
    if strip and mode == "chained":
        raise ValueError("strip: the state that the service keeps cannot be left out; use the mode 'full'")
    if not isinstance(body, Mapping):
        raise TypeError(f"body: expected a mapping, got {type(body).__name__}")
    request = _Request(
        _messages(transcript), thaw(JsonObject(body)), POLICIES[DIALECT] if rules is None else rules, strip
    )
    if mode == "full" or strip:
        return request.full()
    if request.pauses:
        return request.hop()
    chain = request.chain()
    if isinstance(chain, _Chain):
        return request.chained(chain)
    if mode == "chained":
        raise LocalProtocolError(f"the request cannot be chained: {chain}; use the mode 'full'")
    return request.full()


def _messages(transcript: Transcript | Iterable[Message]) -> tuple[Message, ...]:
    if isinstance(transcript, Transcript):
        return transcript.context()
    if not isinstance(transcript, Iterable):
        raise TypeError(f"transcript: expected a Transcript or messages, got {type(transcript).__name__}")
    messages = tuple(transcript)
    for message in messages:
        if not isinstance(message, MESSAGE_CLASSES):
            raise TypeError(f"transcript: expected messages, got {type(message).__name__}")
    return messages


class _Chain(NamedTuple):
    """What a chained request is made of."""

    answer: AssistantMessage
    """The answer that it goes on from."""

    hops: list[EncodedMessage]
    """That answer, after the hops before it."""

    new: list[EncodedMessage]


class _Request:
    """A request in the making."""

    def __init__(self, messages: tuple[Message, ...], body: dict[str, Any], rules: Policy, strip: bool) -> None:
        self._messages = messages
        self._rules = rules
        self._strip = strip
        self._target = _target(body)
        self._stored = body.get("store") is not False
        self._body = _settings(body)

    @property
    def pauses(self) -> bool:
        """Whether an answer is to be gone on with: the last message is one that its provider has paused."""
        return bool(self._messages) and self._is_hop(self._messages[-1])

    def full(self) -> Encoded:
        """Send everything."""
        steps, left_out = self._steps(self._messages)
        return self._encoded("full", {"input": steps}, left_out)

    def hop(self) -> Encoded:
        """
        Go on with a long answer.

        Google's manual on long decode (2026-10): the same body with the token; where interactions are stored also the
        id of the one that gave the token, and no input; where they are not, the input of the first request.
        """
        first = self._first_hop(len(self._messages) - 1)
        hops = [_known(hop) for hop in self._messages[first:] if isinstance(hop, AssistantMessage)]
        *_, (_, sent), (interaction, token) = [("", ""), *hops]
        message_id = self._messages[-1].id
        if not token:
            raise LocalProtocolError(
                f"message {message_id!r} was paused without a continuation token, nothing can go on with it; "
                "ask something new, or use the mode 'full'"
            )
        if token == sent:
            raise LocalProtocolError(
                f"message {message_id!r} gave back the continuation token that was sent, so it made no progress; "
                "ask something new, or use the mode 'full'"
            )
        if self._stored and interaction:
            return self._encoded("hop", {"previous_interaction_id": interaction, "continuation_token": token}, [])
        steps, left_out = self._steps(self._messages[:first])
        return self._encoded("hop", {"input": steps, "continuation_token": token}, left_out)

    def chained(self, chain: _Chain) -> Encoded:
        """Send what is new."""
        answers = [step for spoken in chain.hops for step in spoken.answers]
        left_out = [drop for spoken in chain.hops for drop in spoken.left_out if drop.reason in REPAIRS]
        for spoken in chain.new:
            left_out += spoken.left_out
        steps = [*answers, *[step for spoken in chain.new for step in spoken.steps]]
        interaction, _ = _known(chain.answer)
        return self._encoded("chained", {"previous_interaction_id": interaction, "input": steps}, left_out)

    def chain(self) -> _Chain | str:
        """Return what a chained request is made of, or why there can be none."""
        new: list[EncodedMessage] = []
        for at in range(len(self._messages) - 1, -1, -1):
            message = self._messages[at]
            spoken = self._speak(message)
            if isinstance(message, CompactionMessage) and spoken.steps:
                break
            # A failed answer of which nothing goes might as well not be there.
            if isinstance(message, AssistantMessage) and (_is_completed(message) or spoken.steps or spoken.answers):
                first = self._first_hop(at)
                hops = [self._speak(hop) for hop in self._messages[first:at]]
                chain = _Chain(message, [*hops, spoken], new[::-1])
                return self._obstacle(chain, first, at) or chain
            new.append(spoken)
        return "there is no answer to go on from"

    def _obstacle(self, chain: _Chain, first: int, at: int) -> str | None:
        """Say why a chain does not hold; `None` when it does."""
        answer = chain.answer
        name = f"answer {answer.id!r}"
        calls = [call for message in self._messages[first : at + 1] for call in getattr(message, "tool_calls", ())]
        obstacles = [
            (not self._stored, "store is off"),
            (not _is_completed(answer), f"{name} is not completed"),
            (not self._is_own(answer), f"{name} is of another model or agent"),
            (not _known(answer)[0], f"{name} was not stored, it has no interaction id"),
            (answer.finish_reason is FinishReason.PAUSE, f"{name} was paused before its end"),
            (self._is_newer(self._messages[:first], self._messages[first]), f"{name} does not know all before it"),
            (
                any(not wire_id(call) for call in calls if not call.provider_executed),
                f"{name} has a call without an id",
            ),
            (
                not any(spoken.answers for spoken in chain.hops) and not any(spoken.steps for spoken in chain.new),
                f"nothing has come after {name}",
            ),
        ]
        return next((reason for found, reason in obstacles if found), None)

    def _is_newer(self, messages: Iterable[Message], answer: Message) -> bool:
        """Tell whether something in *messages* came after *answer* had begun: it was then asked for without that."""
        if answer.times is None or answer.times.started is None:
            return False  # no times, nothing to tell it by
        times: list[Times | None] = []
        for message in messages:
            times.append(message.times)
            if isinstance(message, AssistantMessage):
                times += [call.times for call in message.tool_calls]
        began = answer.times.started
        return any(each is not None and each.ended is not None and each.ended > began for each in times)

    def _first_hop(self, at: int) -> int:
        """Return where the answer begins of which the message at a place is the last hop."""
        while at > 0 and self._is_hop(self._messages[at - 1]):
            at -= 1
        return at

    def _is_hop(self, message: Message) -> bool:
        return (
            isinstance(message, AssistantMessage)
            and _is_completed(message)
            and message.finish_reason is FinishReason.PAUSE
            and self._is_own(message)
        )

    def _is_own(self, message: AssistantMessage) -> bool:
        return self._rules.relation(message.origin, self._target) is Relation.SAME_ORIGIN

    def _speak(self, message: Message) -> EncodedMessage:
        return encode_message(message, self._target, self._rules, strip=self._strip)

    def _steps(self, messages: tuple[Message, ...]) -> tuple[list[Step], list[Drop]]:
        """Return all of *messages*. The answers to calls stand behind the answer that made them, with all its hops."""
        steps: list[Step] = []
        answers: list[Step] = []
        left_out: list[Drop] = []
        for at, message in enumerate(messages, 1):
            spoken = self._speak(message)
            steps += spoken.steps
            answers += spoken.answers
            left_out += spoken.left_out
            if at == len(messages) or not (self._is_hop(message) and isinstance(messages[at], AssistantMessage)):
                steps += answers
                answers = []
        return steps, left_out

    def _encoded(
        self, mode: Literal["chained", "full", "hop"], conversation: dict[str, Any], left_out: list[Drop]
    ) -> Encoded:
        body = {**self._body, **conversation}
        environment = self._environment()
        if environment is not None:
            body["environment"] = _sandbox(body, environment)
        return Encoded(body=body, left_out=tuple(left_out), mode=mode)

    def _environment(self) -> str | None:
        """Return the sandbox that the agent was given last."""
        for message in reversed(self._messages):
            if isinstance(message, AssistantMessage) and _is_completed(message) and self._is_own(message):
                environment = string(message.state, "environment_id")
                if environment and not self._strip:
                    return environment
        return None


def _target(body: Mapping[str, object]) -> Origin:
    named = [name for key in ("model", "agent") if isinstance(name := body.get(key), str) and name]
    if len(named) != 1:
        raise ValueError(f"body: expected a model or an agent, got {'both' if named else 'none'}")
    return Origin(provider=PROVIDER, model=named[0], dialect=DIALECT)


def _settings(body: dict[str, Any]) -> dict[str, Any]:
    """Return the body without the conversation's fields, and without what does not go."""
    for key in _ADDED:
        if body.pop(key, None) is not None:
            raise ValueError(f"body: {key} comes out of the transcript, leave it out")
    config = mapping(body, "agent_config")
    if config.get("visualization", "off") != "off":
        body["agent_config"] = {key: value for key, value in config.items() if key != "visualization"}
    return body


def _sandbox(body: Fields, environment: str) -> Any:
    """Say which sandbox is meant, unless the app does. Asking for `remote` alone would give another one."""
    given = body.get("environment")
    if given is None or given == "remote":
        return environment
    wanted = mapping(body, "environment")
    return {**wanted, "environment_id": environment} if wanted and not wanted.get("environment_id") else given


def _is_completed(message: AssistantMessage) -> bool:
    return message.status is MessageStatus.COMPLETED


def _known(answer: AssistantMessage) -> tuple[str, str]:
    """Return the interaction of an answer and its continuation token, empty where there is none."""
    return string(answer.state, "interaction_id") or "", string(answer.state, "continuation_token") or ""
