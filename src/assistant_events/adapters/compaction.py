"""Where a conversation begins for a provider that has summed up what is before."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from typing import Final

from assistant_events import messages as msg
from assistant_events.adapters.items import in_item_order
from assistant_events.adapters.json_fields import mapping
from assistant_events.history import Policy, Treatment
from assistant_events.values import Origin

SUMMED_UP: Final = "A compaction of the service that follows has it."
"""Why what is before a summary of the provider is not sent."""


def since_compaction(
    messages: tuple[msg.Message, ...],
    target: Origin,
    policy: Policy,
    is_summary: Callable[[msg.Part], bool],
    stripped: int,
) -> tuple[msg.Message, ...]:
    """
    Return the conversation from the last answer on in which the provider has summed up what is before it.

    Only whole answers are left out, so no call is separated from its result. Where a call of the app is before the
    summary, and is sent, the answer stays behind its prompt.

    Args:
        messages: The conversation.

        target: Provider, model and dialect of the request.

        policy: The policy of the dialect. A summary that it does not let through counts as none.

        is_summary: Whether a part is such a summary.

        stripped: How many messages at the beginning are sent without state.
    """
    for place in range(len(messages) - 1, stripped, -1):
        message = messages[place]
        if isinstance(message, msg.AssistantMessage) and message.status is msg.MessageStatus.COMPLETED:
            treatments = policy.treatments(policy.relation(message.origin, target))
            parts = [part for _, part in in_item_order(enumerate(message.parts), policy.item_key or "")]
            summaries = [at for at, part in enumerate(parts) if is_summary(part)]
            if treatments.opaque is Treatment.WHOLE and summaries:
                calls = [part for part in parts[: summaries[-1]] if isinstance(part, msg.ToolPart)]
                prompts = [at for at in range(place) if isinstance(messages[at], msg.UserMessage)]
                needs_prompt = prompts and any(not call.provider_executed for call in calls)
                return messages[prompts[-1] if needs_prompt else place :]
    return messages


def before_summary(
    parts: Sequence[tuple[int, msg.Part]],
    policy: Policy,
    is_summary: Callable[[msg.Part], bool],
    calls: Container[int],
) -> Iterator[int]:
    """
    Yield the places of parts before the last summary of an answer. Calls of the app stay, with thoughts before them.

    All stays where messages of the user are among them: that is a whole conversation, as OpenAI's compaction gives it.

    Args:
        parts: Parts of the answer, with their places.

        policy: Names the number of an item.

        is_summary: Whether a part is a summary.

        calls: The places of the calls of the app.
    """
    ordered = in_item_order(parts, policy.item_key or "")
    last = max([at for at, (_, part) in enumerate(ordered) if is_summary(part)], default=0)
    is_conversation = any(mapping(part.state, "item").get("role") == "user" for _, part in ordered[:last])
    stays = False
    for place, part in reversed(ordered[:last]):
        stays = is_conversation or place in calls or (stays and isinstance(part, msg.ReasoningPart))
        if not stays:
            yield place
