"""Calls of the provider and what names them: results in later answers, calls that their code has made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from assistant_events import messages as msg
from assistant_events.adapters.call_ids import wire_or_own_id
from assistant_events.history import Selection, has_result
from assistant_events.values import FinishReason

_CONTINUED: Final = frozenset({FinishReason.PAUSE, FinishReason.TOOL_CALLS})

_ANSWERS_AT_ONCE: Final = frozenset({"bedrock"})
"""
Providers that refuse a call of theirs without its result beside results of the app, where Claude's own API has it in
the next answer: “`tool_search_tool_regex` tool use with id `srvtoolu_bdrk_…` was found without a corresponding
`tool_search_tool_regex_tool_result` block” (a report in pydantic-ai#5143).
"""


def unanswered_calls(
    messages: Sequence[msg.Message],
    selected: Callable[[msg.Message], Selection],
    answered_id: Callable[[msg.Part], str | None],
    provider: str,
) -> set[tuple[str, str]]:
    """
    Return the ids of message and call of the calls of the provider that no answer answers, nor the next one will.

    Args:
        messages: The conversation.

        selected: Returns what may be sent of a message.

        answered_id: Returns the id of the call whose result a part is; `None` of any other part.

        provider: The provider that is asked.
    """
    continued = _CONTINUED - ({FinishReason.TOOL_CALLS} if provider in _ANSWERS_AT_ONCE else set())
    pending = {
        (message.id, call.call_id): (at, wire_or_own_id(call))
        for at, message in enumerate(messages)
        if isinstance(message, msg.AssistantMessage)
        for call in message.tool_calls
        if call.provider_executed and not has_result(call)
    }
    if not pending:
        return set()
    sent = [[part for kept in selected(each).messages for part in getattr(kept, "parts", ())] for each in messages]
    answered = {answered_id(part) for parts in sent for part in parts}
    return {
        call
        for call, (at, given) in pending.items()
        if given not in answered and not _is_awaited(messages[at:], sent[at:], continued)
    }


def named_calls(
    messages: Sequence[msg.Message],
    selected: Callable[[msg.Message], Selection],
    unsent: Callable[[msg.AssistantMessage], Collection[int]],
    named_ids: Callable[[msg.Part], Collection[str | None]],
) -> dict[tuple[str, str], tuple[str, str]]:
    """
    Return the calls of the provider that are sent, and that a part behind them names by the id that it gave.

    Keys are the id of the message that names a call, and the id that the provider gave that; values the ids of the
    call's message and of the call. Of calls with one id the last one counts.

    Args:
        messages: The conversation.

        selected: Returns what may be sent of a message.

        unsent: Returns the places of calls of an answer, as it may be sent, that have no block all the same.

        named_ids: Returns the ids of calls that a part names.
    """
    latest: dict[str, tuple[str, str]] = {}
    found: dict[tuple[str, str], tuple[str, str]] = {}
    if not any(call.provider_executed for message in messages for call in getattr(message, "tool_calls", ())):
        return found
    answers = [each for message in messages for each in selected(message).messages]
    for answer in answers:
        left = unsent(answer) if isinstance(answer, msg.AssistantMessage) else ()
        for place, part in enumerate(getattr(answer, "parts", ())):
            found |= {(answer.id, given): latest[given] for given in named_ids(part) if given in latest}
            if isinstance(part, msg.ToolPart) and part.provider_executed and place not in left:
                latest[wire_or_own_id(part)] = part.message_id, part.call_id
    return found


def _is_awaited(
    messages: Sequence[msg.Message], sent: Sequence[Sequence[msg.Part]], continued: Collection[FinishReason]
) -> bool:
    """
    Return whether the next answer will have the results of calls of the first message: each one since is *continued*.

    A prompt ends the turn. Failed answers of which no call is sent do not count: they are asked for again.
    """
    return all(
        isinstance(message, msg.AssistantMessage)
        and (message.finish_reason in continued or not _counted(message, parts))
        for message, parts in zip(messages, sent, strict=True)
    )


def _counted(message: msg.AssistantMessage, parts: Sequence[msg.Part]) -> Sequence[msg.Part]:
    """Return the parts of an answer that end a run of the provider: of a failed one calls of the app."""
    is_whole = message.status is msg.MessageStatus.COMPLETED
    return parts if is_whole else [part for part in parts if isinstance(part, msg.ToolPart)]
