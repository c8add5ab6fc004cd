"""
A conversation to the next request of the Messages API.

Every block is sent back as it came and at its place. All results of an answer are in the user message that follows it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Final

from assistant_events import messages as msg
from assistant_events.adapters.anthropic_messages import vocabulary as words
from assistant_events.adapters.anthropic_messages.blocks import media_block, write_block
from assistant_events.adapters.anthropic_messages.policy import POLICY
from assistant_events.adapters.call_ids import wire_id
from assistant_events.adapters.call_results import CALL_FAILED
from assistant_events.adapters.claude import NO_ADDRESSES, TEXT_RESULTS, ClaudeEncoder, has_undeclared, remove_refused
from assistant_events.adapters.encoded import Item
from assistant_events.adapters.items import is_blank, joined_roles
from assistant_events.adapters.json_fields import mapping, mappings, string
from assistant_events.adapters.pending_results import named_calls, unanswered_calls
from assistant_events.history import DropReason, Policy, has_result
from assistant_events.values import Content, MediaContent

_NO_THOUGHTS: Final = {"deepseek": "", "moonshot": " ", "xiaomi": " "}
"""By provider, the thought of an answer that has none (qwen-code#3788, hermes-agent#14018; pi#4507, #4730: Xiaomi)."""


class AnthropicMessagesEncoder(ClaudeEncoder):
    """Encodes `messages` of `POST /v1/messages`, and the `container` that was used last; nothing else is changed."""

    dialect: ClassVar[str] = "anthropic-messages"
    provider: ClassVar[str] = "anthropic"
    policy: ClassVar[Policy] = POLICY
    refuses_blanks = marks_failures = True
    own_addresses = ("file_",)
    conversation_fields: ClassVar[tuple[str, ...]] = ("messages",)
    unplaced_state: ClassVar[frozenset[str] | None] = frozenset({"deltas"})
    not_in_call_ids: ClassVar[re.Pattern[str] | None] = re.compile(r"[^a-zA-Z0-9_-]")

    def prepare(self) -> None:
        """Find the calls of the provider that nothing answers, and see whether a server wants thoughts."""
        mode = string(mapping(self.body, "thinking"), "type")
        self.is_claude, self.thinks = self._policy.signs(self.target), mode == "enabled"
        self.longest_name = 128 if self.is_claude else None
        self.media_in_results = () if self.target.provider in TEXT_RESULTS else None
        self._has_advisor = any((string(each, "type") or "")[:7] == "advisor" for each in mappings(self.body, "tools"))
        self._unanswered = unanswered_calls(self.messages, self.selected, _answered_id, self.target.provider)
        self._named = named_calls(self.messages, self.selected, self._unsent, _named_ids)
        self._known = {None, *(given for _, given in self._named)}
        self._no_thought = _NO_THOUGHTS.get(self.target.provider) if mode != "disabled" else None

    def fit_call_id(self, call_id: str) -> str:
        """Return an id without the signs that Claude refuses; others get theirs: of Gemini signed (litellm#16895)."""
        return super().fit_call_id(call_id) if self.is_claude else call_id

    # -- the request

    def conversation(self, items: list[Item]) -> dict[str, Any]:
        """Return the messages; adjacent ones of one role are one, which continues an answer that was paused."""
        return {"messages": joined_roles(items)}

    def completed(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the body with the container that was used last; one with an id stays."""
        container, wanted = self.last_state("container"), mapping(body, "container")
        if container is not None and not wanted.get("id") and (wanted or body.get("container") is None):
            body["container"] = {**wanted, "id": container} if wanted else container
        return body

    # -- messages and blocks

    def media_block(self, media: MediaContent) -> Item | None:
        """Return an image or a document; none by its address where the platform reads none."""
        is_unread = media.data is None and self.target.provider in NO_ADDRESSES
        return None if is_unread else media_block(media)

    def answer_items(self, message: msg.AssistantMessage) -> list[Item]:
        """Return the message of an answer."""
        blocks = [block for block in self.blocks_of(message, write_block) if block.get("text") != ""]
        for block in blocks:
            if not self._has_caller(block):
                del block["caller"]
            caller: Any = mapping(block, "caller")
            for fields, key in ((block, "tool_use_id"), (caller, "tool_id")):
                call = self._named.get((message.id, string(fields, key) or ""))
                fields |= {key: self._ids[call]} if call in self._ids else {}
            remove_refused(block, self.body)
        if self._no_thought is not None and blocks and not any("thinking" in block["type"] for block in blocks):
            blocks = [{"type": "thinking", "thinking": self._no_thought, "signature": ""}, *blocks]
        return [{"role": "assistant", "content": blocks}] if blocks else []

    def result_item(self, call: msg.ToolPart, content: tuple[Content, ...], *, failed: bool) -> Item:
        """Return the message with a `tool_result`."""
        blocks = [block for item in content if (block := self.content(item)) and block.get("text") != ""]
        is_text = all(block["type"] == "text" for block in blocks)
        text = blocks[0].get("text") if blocks else CALL_FAILED if failed else ""
        sent: object = text if is_text and len(content) == 1 else blocks
        named = {key: call.state[key] for key in ("toolset_name",) if key in call.state}
        result: Item = {"type": "tool_result", "tool_use_id": wire_id(call), "content": sent, **named}
        # "all content must be type `text` if `is_error` is true" (a report of 2026-03); the first text is the error.
        return {"role": "user", "content": [{**result, "is_error": True} if failed and is_text else result]}

    def is_summary(self, part: msg.Part) -> bool:
        """Return whether a part is a compaction; one without content is a failed one, which the service passes over."""
        return words.is_summary(mapping(part.state, "block"))

    def unsendable(self, part: msg.Part) -> DropReason | None:
        """Return why a part has no block: an empty summary, an undeclared tool, a call or result without the other."""
        match part:
            case msg.OpaquePart(state={"block": {"type": "compaction", "content": ""}}):
                return DropReason.EMPTY  # null is a compaction that failed, an empty text is refused
            case msg.OpaquePart() if not mapping(part.state, "block") or _answered_id(part) not in self._known:
                return DropReason.UNPLACED
            case msg.ToolPart(name="advisor", provider_executed=True) if not self._has_advisor:
                return DropReason.UNPLACED
            case msg.ToolPart(provider_executed=True) if (part.message_id, part.call_id) in self._unanswered:
                return DropReason.UNANSWERED
            case _:
                return super().unsendable(part)

    def left_out(
        self, message: msg.AssistantMessage, parts: Sequence[tuple[int, msg.Part]]
    ) -> Mapping[int, DropReason | str]:
        """Return the texts of a message of blanks, which is refused, and what a replaced model has left behind."""
        replaced = dict.fromkeys(_replaced(parts), words.REPLACED.message)
        parts = [each for each in parts if each[0] not in replaced]
        refused, sent = super().left_out(message, parts), self.with_block(message, parts)
        has_nothing = all(place in refused or is_blank(part) for place, part in sent)
        return {**({place: DropReason.EMPTY for place, _ in sent} if has_nothing else {}), **replaced, **refused}

    def _unsent(self, message: msg.AssistantMessage) -> Collection[int]:
        """Return the places of calls that are not sent, whatever is sent of other messages."""
        parts = [*enumerate(message.parts)]
        calls = [at for at, part in parts if isinstance(part, msg.ToolPart) and self.unsendable(part) is not None]
        return {*calls, *_replaced(parts), *self.summed_up(parts)}

    def has_place(self, part: msg.Part) -> bool:
        """Return whether all state of a part is sent."""
        return super().has_place(part) and self._has_caller(part.state)

    def sends_content(self, part: msg.Part) -> bool:
        """Return whether all tools that a search has found are sent."""
        return not has_undeclared(part, self.body)

    def _has_caller(self, fields: Mapping[str, Any]) -> bool:
        """Return whether the call is sent from whose code another was made, if any: else the service answers 400."""
        return string(mapping(fields, "caller"), "tool_id") in self._known


def _replaced(parts: Sequence[tuple[int, msg.Part]]) -> list[int]:
    """Return the places of what a replaced model has left behind."""
    last = max([place for place, part in parts if _block_type(part) == "fallback"], default=-1)
    return [place for place, part in parts if place <= last and not _outlives_model(part)]


def _outlives_model(part: msg.Part) -> bool:
    """Return whether a part before the last `fallback` is sent back (anthropic 2.12, `beta_fallback_block_param`)."""
    if isinstance(part, msg.ToolPart):
        return has_result(part)
    return not isinstance(part, msg.ReasoningPart) and _block_type(part) != "connector_text"


def _answered_id(part: msg.Part) -> str | None:
    return string(mapping(part.state, "block"), "tool_use_id")


def _named_ids(part: msg.Part) -> list[str | None]:
    """Return the ids of calls of the provider that a part names: that it answers, whose code has made it."""
    fields = (part.state, getattr(part, "result_state", part.state), mapping(part.state, "block"))
    return [_answered_id(part), *(string(mapping(each, "caller"), "tool_id") for each in fields)]


def _block_type(part: msg.Part) -> object:
    """Return the type of a raw block; of a call, that of the `fallback` behind it, which may not be sent itself."""
    is_replaced = getattr(part, "error", None) == words.REPLACED
    return "fallback" if is_replaced else mapping(part.state, "block").get("type")


encode = AnthropicMessagesEncoder.encode
