"""A conversation to the next request of the Responses API: what is new (`chained`), or every item (`full`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from assistant_events import messages as msg
from assistant_events.adapters import linked_items as linked
from assistant_events.adapters.asked_again import AskAgainEncoder
from assistant_events.adapters.call_ids import ids_of, wire_or_own_id
from assistant_events.adapters.call_results import fields_in, shell_output, text_of
from assistant_events.adapters.encoded import Item
from assistant_events.adapters.json_fields import json_array, mapping, mappings, others, string, without
from assistant_events.adapters.media_urls import FILES, IMAGES, TEXT_RESULTS, file_fields, images_in, media_url
from assistant_events.adapters.openai_responses import output_items
from assistant_events.adapters.openai_responses import vocabulary as words
from assistant_events.adapters.openai_responses.policy import POLICY, STATELESS
from assistant_events.history import DropReason, Policy, has_result
from assistant_events.values import Content, MediaContent, thaw


class OpenAIResponsesEncoder(AskAgainEncoder):
    """
    Encodes requests of `POST /v1/responses`: `input` and `previous_response_id`.

    Nothing else of the body is changed. With `store: false` ask for `include: ["reasoning.encrypted_content"]`: a
    reasoning without it cannot be sent again. A `conversation` of the service, with its own history, is refused.
    """

    dialect: ClassVar[str] = "openai-responses"
    provider: ClassVar[str] = "openai"
    policy: ClassVar[Policy] = POLICY
    conversation_fields: ClassVar[tuple[str, ...]] = ("input", "previous_response_id", "conversation")
    own_addresses = ("file-",)
    stored_key = "response_id"
    stored_field: ClassVar[str] = "previous_response_id"
    unplaced_state: ClassVar[frozenset[str] | None] = frozenset()
    not_in_call_ids: ClassVar[re.Pattern[str] | None] = re.compile(r"[^!-~]")
    longest_call_id: ClassVar[int | None] = 64
    longest_name = 128  # its models make up names that it refuses (openai/codex#9447)

    def prepare(self) -> None:
        """Look at what the server takes."""
        self.media_in_results = () if self.target.provider in TEXT_RESULTS else None
        self.asks_again = self.target.provider in ("deepseek", "llama.cpp", "mistral")
        self.stored_key = "" if self.target.provider in STATELESS else self.stored_key
        self._signed_ids = ids_of(self.messages if self.target.provider == "litellm" else (), self.target)

    def fit_call_id(self, call_id: str) -> str:
        """Return an id that the service takes. LiteLLM has Gemini's signature in its own (its #37849)."""
        return call_id if call_id in self._signed_ids else super().fit_call_id(call_id)

    def text_block(self, text: str) -> Item:
        """Return a text as a content block."""
        return {"type": "input_text", "text": text}

    def media_block(self, media: MediaContent) -> Item | None:
        """Return an image or a file; audio, video and images of other types than the usual four have none."""
        kind, url = media.media_type.partition("/")[0], media_url(media) or ""
        if kind == "image" and media.media_type in IMAGES:
            address = {"file_id": url} if url.startswith(FILES) else {"image_url": url, "detail": "auto"}
            return {"type": "input_image", **address}
        file = None if kind in ("image", "audio", "video") else file_fields(media, self.target.provider)
        return None if file is None else {"type": "input_file", **file}

    def user_item(self, blocks: list[Item]) -> Item:
        """Return a message of the user."""
        return {"type": "message", "role": "user", "content": blocks}

    def answer_items(self, message: msg.AssistantMessage) -> list[Item]:
        """Return the items of an answer."""
        items = [_for_request(item, self.target.provider) for item in output_items.output_items(message)]
        return linked.with_namespaces(linked.in_taken_order(items, self.target.provider), mappings(self.body, "tools"))

    def is_sent(self, message: msg.AssistantMessage, part: msg.Part) -> bool:
        """Return whether a part has an item. Perplexity takes back messages and calls of the app alone."""
        is_taken = self.target.provider != "perplexity" or isinstance(part, (msg.TextPart, msg.ToolPart))
        has_item = "item" in part.state if isinstance(part, msg.OpaquePart) else not isinstance(part, msg.MediaPart)
        return is_taken and has_item and not words.TOOLS.is_elsewhere(part)

    def result_item(self, call: msg.ToolPart, content: tuple[Content, ...], *, failed: bool) -> Item:
        """Return the item of a result, whose type is that of the call."""
        kind = words.TOOLS[words.TOOLS.kind_of(call)].answer
        call_id, text = wire_or_own_id(call), text_of(content)
        item: Item = {"type": kind, "call_id": call_id, **others({"caller": thaw(call.state.get("caller"))})}
        match kind:
            case "mcp_approval_response":
                reason = others({"reason": text or None})
                return {"type": kind, "approval_request_id": call_id, "approve": not failed, **reason}
            case "local_shell_call_output":
                return {"type": kind, "id": call_id, "output": text}
            case "apply_patch_call_output":
                return {**item, "status": "failed" if failed else "completed", "output": text}
            case "shell_call_output":
                asked = others({"max_output_length": mapping(call.input or {}, "action").get("max_output_length")})
                return {**item, **asked, "output": shell_output(text, failed=failed)}
            case "tool_search_output":
                return {**item, "execution": "client", "status": "completed", "tools": json_array(text)}
            case "computer_call_output":
                image = others(self.content(images_in(content)[-1]) or {}, {"type", "detail"})
                known = fields_in(content, "acknowledged_safety_checks")
                return {**item, **known, "output": {"type": "computer_screenshot", **image}}
            case _:  # not all servers of this wire take an array
                has_media = any(isinstance(each, MediaContent) for each in content)
                return {**item, "output": self.result_value(content) if has_media else text}

    def refused_calls(self, message: msg.AssistantMessage, parts: Sequence[tuple[int, msg.Part]]) -> list[int]:
        """Return calls whose result has no form: of the computer without a screenshot, searches without an array."""
        return linked.formless_calls(self.calls_of_app(parts), words.TOOLS.kind_of)

    def is_summary(self, part: msg.Part) -> bool:
        """Return whether a part is a compaction; Codex knows the second name, too. Each subagent has its own."""
        item = mapping(part.state, "item")
        return string(item, "type") in ("compaction", "compaction_summary") and not words.is_of_others(item)

    def unsendable(self, part: msg.Part) -> DropReason | None:
        """Return why a part has no item: an empty text, a call of the provider without the result in its item."""
        is_empty = isinstance(part, msg.TextPart) and not part.text
        if is_empty and part.state.keys().isdisjoint(("item_id", "annotations", "type", "part")):
            return DropReason.EMPTY
        if isinstance(part, msg.ToolPart) and part.provider_executed and not has_result(part):
            return None if words.TOOLS.kind_of(part) == "program" else DropReason.UNANSWERED
        return super().unsendable(part)

    def left_out(
        self, message: msg.AssistantMessage, parts: Sequence[tuple[int, msg.Part]]
    ) -> Mapping[int, DropReason | str]:
        """Return the reasonings whose following item is not sent, and calls that the service may not know again."""
        stored = "stored" in self._policy.reasoning_needs_any
        lost = linked.lost_calls(parts, is_gone=not stored, is_stored=stored and "response_id" in message.state)
        refused = [*self.refused_calls(message, parts), *lost]
        sent = [(place, part) for place, part in parts if self.unsendable(part) is None and place not in refused]
        return {**linked.without_successor(message, sent), **lost, **super().left_out(message, parts)}


encode = OpenAIResponsesEncoder.encode


def _for_request(item: Item, provider: str) -> Item:
    """Return an item as input: some fields are output alone, and a message without an id has a short form."""
    kind = string(item, "type") or ""  # proxies make items without one
    refused = {"created_by", *words.REFUSED.get(kind, ()), *([] if item.get("call_id") else ["call_id"])}
    if kind == "shell_call_output":
        item["output"] = [others(each, refused) for each in mappings(item, "output")] or item["output"]
    ident = (string(item, "id") or "") if kind in (*words.TEXTS.roles, "function_call", "custom_tool_call") else ""
    is_long = len(ident) > 64 and ident[:8] != "encitem_" and provider not in ("openrouter", "xai")  # their own are
    if provider == "copilot" or is_long or (kind == "custom_tool_call" and ident.startswith("fc")):
        refused.add("id")  # of a connection that is gone (hermes-agent#32716), or of a relay (Wei-Shaw/sub2api#6071)
    item = without(item, refused)
    if kind != "message":
        return item
    content = [{key: value for key, value in part.items() if key != "logprobs"} for part in item["content"]]
    if "id" in item or provider == "llama.cpp":  # which takes no short form (its #26394)
        return {"status": "completed", **item, "content": content}
    text = "".join([string(part, "text") or string(part, "refusal") or "" for part in content])
    return {**{key: item[key] for key in ("role", "phase") if key in item}, "content": text}  # vLLM takes no array
