"""The hops of a long answer: hop n is a message of its own, `{message_id}.n`, which may have been recorded before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from assistant_events.messages import AssistantMessage, Transcript

Prior: TypeAlias = AssistantMessage | Iterable[AssistantMessage] | Transcript | None


class Hops:
    """The message ids of the hops, and what was recorded of them before."""

    def __init__(self, message_id: str, prior: Prior) -> None:
        self._first_id = message_id
        self._number = 1
        self.recorded = _by_id(prior)
        """The messages that were recorded before, by id."""

        recorded = reversed(self.recorded.items())
        self._by_run = {message.run.id: each for each, message in recorded if message.run is not None}
        """By run, the first message of it: a replay of several hops of one run begins there."""

    @property
    def is_first(self) -> bool:
        """Whether the answer is in its first hop."""
        return self._number == 1

    def next(self) -> str:
        """Go to the next hop and return its message id."""
        self._number += 1
        return f"{self._first_id}.{self._number}"

    def resume(self, run_id: str) -> str | None:
        """Go to the recorded hop of a run and return its message id; `None` when none was recorded."""
        message_id = self._by_run.get(run_id)
        number = 1 if message_id is None else self._number_of(message_id)
        if number == 1:
            return None
        self._number = number
        return message_id

    def _number_of(self, message_id: str) -> int:
        number = message_id.removeprefix(f"{self._first_id}.")
        return int(number) if number != message_id and number.isdecimal() else 1


def _by_id(prior: Prior) -> dict[str, AssistantMessage]:
    if prior is None:
        return {}
    if isinstance(prior, AssistantMessage):
        prior = [prior]
    elif isinstance(prior, Transcript):
        prior = [message for message in prior.messages if isinstance(message, AssistantMessage)]
    elif not isinstance(prior, Iterable):
        raise TypeError(f"prior: expected an AssistantMessage, several or a Transcript, got {type(prior).__name__}")
    messages = list(prior)
    for message in messages:
        if not isinstance(message, AssistantMessage):
            raise TypeError(f"prior: expected an AssistantMessage, got {type(message).__name__}")
    return {message.id: message for message in messages}
