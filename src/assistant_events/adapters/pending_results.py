"""Calls of the provider without a result in their answer: those whose result a later answer has, or the next one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from assistant_events import messages as msg
from assistant_events.adapters.call_ids import wire_id
from assistant_events.history import Selection, has_result
from assistant_events.values import FinishReason

_CONTINUED: Final = frozenset({FinishReason.PAUSE, FinishReason.TOOL_CALLS})


def unanswered_calls(
    messages: Sequence[msg.Message],
    selected: Callable[[msg.Message], Selection],
    answered_id: Callable[[msg.Part], str | None],
) -> dict[tuple[str, str], str]:
    """
    Return the calls of the provider that no answer answers, and the next one will not either.

    By the ids of message and call, the id that the provider gave.

    Args:
        messages: The conversation.

        selected: Returns what may be sent of a message.

        answered_id: Returns the id of the call whose result a part is; `None` of any other part.
    """
    pending = {
        (message.id, call.call_id): (at, wire_id(call) or call.call_id)
        for at, message in enumerate(messages)
        if isinstance(message, msg.AssistantMessage)
        for call in message.tool_calls
        if call.provider_executed and not has_result(call)
    }
    if not pending:
        return {}
    sent = [_sent_parts(selected(message)) for message in messages]
    answered = {answered_id(part) for parts in sent for part in parts}
    return {
        call: given
        for call, (at, given) in pending.items()
        if given not in answered and not _is_awaited(messages, sent, at)
    }


def _sent_parts(selection: Selection) -> list[msg.Part]:
    """Return what is sent of an answer; nothing of other messages, and of those that are not sent."""
    return [part for message in selection.messages for part in getattr(message, "parts", ())]


def _is_awaited(messages: Sequence[msg.Message], sent: Sequence[Sequence[msg.Part]], at: int) -> bool:
    """
    Return whether the next answer will have the results of calls of message *at*: each answer since then continues.

    A prompt ends a turn that waits for results of the app. Failed answers of which nothing is sent do not count.
    """
    reason: FinishReason | None = None
    for message, parts in zip(messages[at:], sent[at:], strict=True):
        if not isinstance(message, msg.AssistantMessage):
            if reason is FinishReason.TOOL_CALLS:
                return False
        elif parts:
            reason = message.finish_reason
            if reason not in _CONTINUED:
                return False
    return True


__all__ = ["unanswered_calls"]
