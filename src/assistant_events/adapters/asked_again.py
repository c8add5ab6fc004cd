"""Answers without an end, which services refuse at the end of a request, and answers without a prompt before them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from typing import Final

from assistant_events import messages as msg
from assistant_events.adapters.encoded import Item
from assistant_events.adapters.encoder import EncoderBase
from assistant_events.adapters.items import is_blank
from assistant_events.history import DropReason
from assistant_events.values import FinishReason

ASKED_AGAIN: Final = "The answer has no end and is asked for again: services refuse a request that ends with one."
"""
“The conversation must end with a user message”, “final assistant content cannot end with trailing whitespace”
(hermes-agent#101401, claude-code#52433, 2026); a text before the thought of the next answer (claude-code#20705).

Of Chat Completions: “Expected last role User or Tool (or Assistant with prefix True)” (Mistral, smolagents#757), “Last
message must have role `user`” (Perplexity, litellm#3918), “Assistant response prefill is incompatible with
enable_thinking” (llama.cpp#20861). Others continue the text, so that the next answer has only its rest. Of Gemini:
“Requests ending with a model turn are not supported unless the last part is a function response” (3.6 Flash,
LibreChat-AI/agents#323).

Of Responses: “The `reasoning_text` in the thinking mode must be passed back to the API” (DeepSeek), where a thought is
behind a text; llama.cpp and Mistral make a request of Chat Completions of it.
"""

BESIDE_CALLS: Final = "The model refuses a text beside a call."

LEFT_OUT: Final = "The beginning of the conversation is left out."
"""
“A conversation must start with a user message” (Converse); “function call turn comes immediately after a user turn or
after a function response turn” (Gemini: google-gemini/gemini-cli#11814, pipecat#5660, OmniRoute#13573).
"""


class AskAgainEncoder(EncoderBase):
    """Base class of encoders for services that refuse a request that ends with an answer, or continue its text."""

    asks_again: bool = True
    """Whether the service is such a one."""

    splits_turns: bool = False
    """Whether the model refuses a text in an answer with calls of the app: it is left out, and the calls are sent."""

    refuses_calls_of_others: bool = False
    """Whether the model refuses calls of the turn that came without its state, or from another model."""

    def refused_calls(self, message: msg.AssistantMessage, parts: Sequence[tuple[int, msg.Part]]) -> Collection[int]:
        """Return the places of calls and images that are refused as such."""
        is_refused = self.refuses_calls_of_others and self._policy.lost_signature is None and message.id in self._turn
        if not is_refused or (self.is_own(message) and message.id not in self._bare):
            return super().refused_calls(message, parts)
        return [place for place, _ in self.calls_of_app(parts)]

    def begun(self, items: list[Item], field: str = "content", call: str = "") -> list[Item]:
        """
        Return messages with a prompt before them where the service refuses to begin with those of the model.

        Args:
            items: The messages.

            field: Their list of blocks.

            call: Key of the blocks with which no conversation begins; empty where none begins with the model.
        """
        first = [*takewhile(lambda each: each["role"] != "user", items)]
        is_refused = any(call in block for each in first for block in each[field]) if call else bool(first)
        block = self.text_block(LEFT_OUT) if is_refused else None
        return items if block is None else [self.user_item([block]), *items]

    def left_out(
        self, message: msg.AssistantMessage, parts: Sequence[tuple[int, msg.Part]]
    ) -> Mapping[int, DropReason | str]:
        """Return the places of all that would be sent of an answer that is asked for again, and of refused texts."""
        if self.is_asked_again(message, [part for _, part in parts]):
            return dict.fromkeys([place for place, part in parts if self.unsendable(part) is None], ASKED_AGAIN)
        calls = {place for place, _ in self.calls_of_app(parts)}
        if not self.splits_turns or calls <= {*self.refused_calls(message, parts)}:
            return {}
        return dict.fromkeys([place for place, part in parts if isinstance(part, msg.TextPart)], BESIDE_CALLS)

    def is_asked_again(self, message: msg.AssistantMessage, parts: Sequence[msg.Part]) -> bool:
        """
        Return whether an answer has no end, and nothing of the user is behind it.

        It was cut, or paused by a service that is not asked, which alone can continue it, or is last without its state.
        """
        origin, target = message.origin, self.target
        is_elsewhere = (origin.provider, origin.dialect) != (target.provider, target.dialect)
        is_paused = message.finish_reason is FinishReason.PAUSE
        is_left = is_paused and (is_elsewhere or (message.id in self._bare and self._is_last(message)))
        has_no_end = self.asks_again and (is_left or message.status is not msg.MessageStatus.COMPLETED)
        return has_no_end and self.is_continued(message, parts)

    def _is_last(self, message: msg.AssistantMessage) -> bool:
        """Return whether nothing is behind an answer but answers that failed."""
        behind = takewhile(lambda each: each.id != message.id, reversed(self.messages))
        return all(
            isinstance(each, msg.AssistantMessage) and each.status is msg.MessageStatus.FAILED for each in behind
        )

    def is_continued(self, message: msg.AssistantMessage, parts: Sequence[msg.Part]) -> bool:
        """Return whether what is sent behind an answer is of the model, or nothing is, so that the next answer is."""
        return not self.calls_of_app(enumerate(parts)) and self._continued[message.id]

    @cached_property
    def _continued(self) -> dict[str, bool]:
        """By message, whether what is sent behind it is of the model, or nothing is."""
        found: dict[str, bool] = {}
        is_models = True
        for message in reversed(self.messages):
            found[message.id] = is_models
            sent = self._is_sent_of_model(message)
            is_models = is_models if sent is None else sent
        return found

    def _is_sent_of_model(self, message: msg.Message) -> bool | None:
        """Return whether the first that is sent of a message is of the model; `None` when nothing is sent."""
        for kept in self.selected(message).messages:
            if not isinstance(kept, msg.AssistantMessage):
                return False
            blocks = [each for each in kept.parts if not isinstance(each, msg.ReasoningPart) and not is_blank(each)]
            if any(self.unsendable(each) is None for each in blocks):
                return True
        return None
