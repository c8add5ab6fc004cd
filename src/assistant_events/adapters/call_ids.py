"""The ids and names of calls in a request."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from hashlib import sha256

from assistant_events import messages as msg
from assistant_events.adapters.model_names import CLAUDE, MISTRAL
from assistant_events.values import Origin


def wire_id(call: msg.ToolPart) -> str | None:
    """Return the id that the provider gave a call; `None` when it gave none. The state has it when it is another."""
    if "id" not in call.state:
        return call.call_id
    given = call.state["id"]
    return given if isinstance(given, str) else None


def wire_or_own_id(call: msg.ToolPart) -> str:
    """Return the id that the provider gave a call; ours when it gave none."""
    return wire_id(call) or call.call_id


def ids_of(messages: Iterable[msg.Message], origin: Origin) -> set[str | None]:
    """Return the ids that *origin* has given to calls."""
    answers = [each for each in messages if isinstance(each, msg.AssistantMessage)]
    return {wire_id(call) for each in answers if each.origin.same_as(origin) for call in each.tool_calls}


def repeats_id(message: msg.AssistantMessage) -> bool:
    """Return whether two calls of the app in an answer came with one id."""
    given = [found for call in message.tool_calls if not call.provider_executed and (found := wire_id(call))]
    return len(set(given)) < len(given)


def assign_call_ids(messages: Iterable[msg.Message], fit: Callable[[str], str]) -> dict[tuple[str, str], str]:
    """
    Return an id for each call, by the ids of its message and its own.

    It is the provider's own id where that is valid, otherwise one made of it. The ids are unique in the conversation,
    and those at its beginning stay the same when it grows. Calls that were made up for a result keep its id.

    Args:
        messages: The conversation.

        fit: Changes an id into one that the provider accepts.
    """
    ids: dict[tuple[str, str], str] = {}
    taken: set[str] = set()
    numbers: dict[str, int] = {}
    for message in messages:
        for call in getattr(message, "tool_calls", ()):
            given = wire_or_own_id(call)
            if call.state.get("orphan") is not True:
                stem = made = fit(given)
                while made in taken:
                    number = numbers[stem] = numbers.get(stem, 1) + 1
                    made = f"{stem}_{number}"
                    if number <= len(taken) + 2:  # else `fit` cuts the numbers off
                        made = fit(made)
                taken.add(made)
                given = made
            ids[message.id, call.call_id] = given
    return ids


_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")


def plain_id(call_id: str) -> str:
    """Return an id for Claude's models, which take letters, digits, `_` and `-`."""
    return _NOT_IN_NAMES.sub("_", call_id)


def plain_name(name: str, longest: int) -> str:
    """Return a name of letters, digits, `_` and `-`: services refuse others, also those that their models made up."""
    return _NOT_IN_NAMES.sub("_", name)[:longest]


def shortened(call_id: str, longest: int) -> str:
    """Return an id of at most *longest* characters, up to 64: one that is longer is replaced by its hash."""
    return call_id if len(call_id) <= longest else sha256(call_id.encode()).hexdigest()[:longest]


def nine_characters(call_id: str) -> str:
    """Return an id for Mistral's models, which take nine letters and digits."""
    is_valid = len(call_id) == 9 and call_id.isascii() and call_id.isalnum()
    return call_id if is_valid else sha256(call_id.encode()).hexdigest()[:9]


def fit_of_model(model: str) -> Callable[[str], str]:
    """Return the function that changes an id into one that the model accepts, whatever server runs it."""
    return nine_characters if MISTRAL.search(model) else plain_id if CLAUDE.search(model) else str
