"""
A conversation to the next request of Converse.

Every block is sent back as it came and at its place. All results of an answer are in the user message that follows it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from assistant_events import messages as msg
from assistant_events.adapters import bedrock_models as models
from assistant_events.adapters.bedrock_converse import vocabulary as words
from assistant_events.adapters.bedrock_converse.blocks import media_block, write_block
from assistant_events.adapters.bedrock_converse.policy import POLICY
from assistant_events.adapters.call_ids import fit_of_model, wire_id
from assistant_events.adapters.call_results import CALL_FAILED, NO_OUTPUT
from assistant_events.adapters.claude import ClaudeEncoder
from assistant_events.adapters.encoded import Item
from assistant_events.adapters.items import joined_roles
from assistant_events.adapters.json_fields import mapping, mappings, string
from assistant_events.history import DropReason, Policy, has_result
from assistant_events.values import Content, MediaContent

_REFUSED = frozenset({"toolUse", "toolResult", "image", words.UNKNOWN_MEMBER})
"""Keys of raw blocks that are refused: a call without a name, a result without its call, media, the name alone."""

_NO_IMAGES = [kind for kind, (block, _) in words.MEDIA.items() if block != "image"]

_NO_TEXT = "The user has sent no text beside the documents."
"""“A text block must be included when using documents.” (BerriAI/litellm#36499, maximhq/bifrost#5817)."""


class BedrockConverseEncoder(ClaudeEncoder):
    """
    Encodes requests of `Converse` and `ConverseStream`: `messages`. Nothing else of the body is changed.

    The body names its model as `modelId`, as for boto3, or as `model`.
    """

    dialect: ClassVar[str] = "bedrock-converse"
    provider: ClassVar[str] = "bedrock"
    policy: ClassVar[Policy] = POLICY
    refuses_blanks = marks_failures = True
    conversation_fields: ClassVar[tuple[str, ...]] = ("messages",)
    unplaced_state: ClassVar[frozenset[str] | None] = frozenset({"deltas"})
    not_in_call_ids: ClassVar[re.Pattern[str] | None] = re.compile(r"[^a-zA-Z0-9_.:-]")
    longest_call_id: ClassVar[int | None] = 64
    longest_name = 64

    def prepare(self) -> None:
        """See whether Claude is asked to think; models before 4 have another name for it."""
        more = mapping(self.body, "additionalModelRequestFields")
        name = self.model_of(self.body)
        self.is_claude = bool(models.MAY_BE_CLAUDE.search(name))
        self.splits_turns = bool(models.TURNS_OF_ONE_KIND.search(name))
        self.media_in_results = None if models.HOLDS_IMAGES.search(name) else _NO_IMAGES
        self.own_addresses = ("s3://",) if models.READS_S3.search(name) else ()
        self.thinks = "enabled" in [string(mapping(more, name), "type") for name in ("thinking", "reasoning_config")]

    def fit_call_id(self, call_id: str) -> str:
        """Return an id that the model takes."""
        return fit_of_model(self.model_of(self.body))(super().fit_call_id(call_id))

    def model_of(self, body: Mapping[str, Any]) -> str:
        """Return the model that *body* names; without one, raise a `ValueError`."""
        return string(body, "modelId") or super().model_of(body)

    def conversation(self, items: list[Item]) -> dict[str, Any]:
        """Return the messages; adjacent ones of one role are one, documents have distinct names and a text beside."""
        messages = joined_roles(self.begun(items))
        for blocks in [message["content"] for message in messages]:
            if any("document" in block for block in blocks) and not any("text" in block for block in blocks):
                blocks.append({"text": _NO_TEXT})
        _name_apart(messages)
        return {"messages": models.of_one_kind(messages) if self.splits_turns else messages}

    def text_block(self, text: str) -> Item:
        """Return a text as a block."""
        return {"text": text}

    def media_block(self, media: MediaContent) -> Item | None:
        """Return an image, a document or a video."""
        return media_block(media)

    def result_content(self, content: Content) -> Item | None:
        """Return content of a result, which cannot be audio (ToolResultContentBlock)."""
        block = self.content(content)
        return None if block is not None and "audio" in block else block

    def answer_items(self, message: msg.AssistantMessage) -> list[Item]:
        """Return the message of an answer."""
        blocks = models.without_empty_names(self.blocks_of(message, write_block))
        for result in [block["toolResult"] for block in blocks if "toolResult" in block]:
            if string(result, "status") == "error" and not result["content"]:
                result["content"] = [{"text": CALL_FAILED}]
        return [{"role": "assistant", "content": blocks}] if blocks else []

    def result_item(self, call: msg.ToolPart, content: tuple[Content, ...], *, failed: bool) -> Item:
        """Return the message with a `toolResult`."""
        blocks = [block for item in content if (block := self.result_content(item)) not in (None, {"text": ""})]
        if not blocks and (failed or "anthropic" not in self.model_of(self.body)):  # a profile may be of Nova
            blocks = [{"text": CALL_FAILED if failed else NO_OUTPUT}]
        marked = {"status": "error"} if failed and not models.TAKES_NO_STATUS.search(self.model_of(self.body)) else {}
        return {"role": "user", "content": [{"toolResult": {"toolUseId": wire_id(call), "content": blocks, **marked}}]}

    def unsendable(self, part: msg.Part) -> DropReason | None:
        """Return why a part has no block: blank text, media, a call of the provider that nothing answers."""
        match part:
            case msg.TextPart() if not part.text.strip():
                return DropReason.EMPTY
            case msg.MediaPart():
                return DropReason.UNSUPPORTED  # "only if the role is user" (Message.content)
            case msg.ToolPart(provider_executed=True) if not self._has_tools:
                return DropReason.UNPLACED
            case msg.OpaquePart() if not (block := mapping(part.state, "block")) or block.keys() & _REFUSED:
                return DropReason.UNPLACED
            case msg.ToolPart(provider_executed=True) if not has_result(part):
                return DropReason.UNANSWERED
            case _:
                return super().unsendable(part)

    def refused_calls(self, message: msg.AssistantMessage, parts: Sequence[tuple[int, msg.Part]]) -> Collection[int]:
        """Return the places of all calls when the request has no tools: calls need the field `toolConfig`."""
        if self._has_tools:
            return super().refused_calls(message, parts)
        return [place for place, part in parts if isinstance(part, msg.ToolPart) and not part.provider_executed]

    @property
    def _has_tools(self) -> bool:
        return bool(mapping(self.body, "toolConfig"))


encode = BedrockConverseEncoder.encode


def _name_apart(messages: Sequence[Item]) -> None:
    """Make names of documents distinct. Earlier documents keep theirs when the conversation grows."""
    blocks = [block for message in messages if message["role"] == "user" for block in message["content"]]
    contents = [content for block in blocks for content in (block, *mappings(mapping(block, "toolResult"), "content"))]
    counts: Counter[str] = Counter()
    for document in [content["document"] for content in contents if "document" in content]:
        name = document["name"]
        counts[name] += 1
        if counts[name] > 1:
            document["name"] = f"{name}-{counts[name]}"
