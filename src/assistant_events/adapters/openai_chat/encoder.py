"""
A conversation to the next request of Chat Completions.

An answer is one message. Results follow it at once, one message for each call, and what a result cannot hold follows
them as a message of the user.
"""

from __future__ import annotations

import re
from base64 import b64encode
from typing import Any, ClassVar, Final, assert_never

import attrs

from assistant_events import messages as msg
from assistant_events.adapters.call_ids import nine_characters, wire_id
from assistant_events.adapters.data_urls import data_url
from assistant_events.adapters.encoder import EncoderBase, Item
from assistant_events.adapters.json_fields import mapping, mappings, string
from assistant_events.adapters.openai_chat import vocabulary as words
from assistant_events.adapters.openai_chat.assistant_message import write_message
from assistant_events.adapters.openai_chat.policy import POLICY
from assistant_events.adapters.openai_chat.profiles import profile_of
from assistant_events.history import DropReason, Policy
from assistant_events.recorder.calls import parse_input
from assistant_events.values import Content, JsonContent, MediaContent, TextContent, write_json

_LEADING: Final = frozenset({"system", "developer"})
_SENT: Final = frozenset({"role", "content", "refusal", "audio", "tool_calls", "function_call", *words.RETURNED})
_AUDIO: Final = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
_MEDIA: Final = "media"
"""Key of a result's media, until they have a message of their own."""


class OpenAIChatEncoder(EncoderBase):
    """
    Encodes requests of `POST /chat/completions`: `messages`, behind the system and developer messages of the body.

    What a server takes back is in `PROFILES`, by its provider.
    """

    dialect: ClassVar[str] = "openai-chat"
    provider: ClassVar[str] = "openai"
    policy: ClassVar[Policy] = POLICY
    not_in_call_ids: ClassVar[re.Pattern[str] | None] = re.compile(r"[^!-~]")

    def __init__(self, messages: tuple[msg.Message, ...], body: dict[str, Any], **options: Any) -> None:
        # Any: the options of `EncoderBase`.
        super().__init__(messages, body, **options)
        self._leading = mappings(self.body, "messages")
        if any(string(each, "role") not in _LEADING for each in self._leading):
            raise ValueError("body: messages come out of the transcript, give those of the system or developer alone")
        self._profile = profile_of(self.target.provider)
        if self._profile.short_call_ids:
            self._ids = {call: nine_characters(call_id) for call, call_id in self._ids.items()}

    # -- the request

    def conversation(self, items: list[Item]) -> dict[str, Any]:
        """Return the messages; media of results are a message behind the last result."""
        sent: list[Item] = [dict(each) for each in self._leading]
        media: list[Item] = []
        for item in items:
            if media and item["role"] != "tool":
                sent.append(self.user_item(media))
                media = []
            media += item.pop(_MEDIA, [])
            sent.append(item)
        if media:
            sent.append(self.user_item(media))
        always = self._profile.always
        if always is not None and any(always in item for item in sent):
            sent = [{always: "", **item} if item["role"] == "assistant" else item for item in sent]
        return {"messages": sent}

    # -- messages

    def content(self, content: Content) -> Item | None:
        """Return a content part."""
        match content:
            case TextContent():
                return {"type": "text", "text": content.text}
            case JsonContent():
                return {"type": "text", "text": write_json(content.value).decode()}
            case MediaContent():
                return _media_part(content)
            case _ as never:
                assert_never(never)

    def user_item(self, blocks: list[Item]) -> Item:
        """Return a message of the user: one text as a string."""
        match blocks:
            case [{"type": "text", "text": text}]:
                return {"role": "user", "content": text}
            case _:
                return {"role": "user", "content": blocks}

    def answer_items(self, message: msg.AssistantMessage) -> list[Item]:
        """Return the message of an answer, without fields that its server does not take back."""
        written = write_message(map(_with_valid_input, message.parts))
        taken = self._profile.fields
        item = {
            key: value
            for key, value in written.items()
            if key in _SENT or (key != "executed_tools" and (taken is None or key in taken))
        }
        if "audio" in item:
            ident = string(mapping(item, "audio"), "id")
            item = {key: value for key, value in item.items() if key != "audio"}
            item |= {} if ident is None else {"audio": {"id": ident}}
        if item.keys() == {"role", "content"} and item["content"] in (None, ""):
            return []
        if item["content"] is None and "tool_calls" not in item and "function_call" not in item:
            item["content"] = ""
        state = {} if self.strip else {key: message.state[key] for key in words.RETURNED if key in message.state}
        return [{**item, **state}]

    def result_item(self, call: msg.ToolPart, content: tuple[Content, ...], *, failed: bool) -> Item:
        """Return the message of a result: text; the wire has no mark of a failure."""
        blocks = [block for item in content if (block := self.content(item)) is not None]
        text = "\n".join([block["text"] for block in blocks if block["type"] == "text"])
        media = [block for block in blocks if block["type"] != "text"]
        if string(call.state, "type") == "function_call":
            item: Item = {"role": "function", "name": call.name, "content": text}
        else:
            item = {"role": "tool", "tool_call_id": wire_id(call), "content": text}
        return {**item, _MEDIA: media} if media else item

    def unsendable(self, part: msg.Part) -> DropReason | None:
        """Return why a part has no place: an empty text, and what the server has run itself."""
        match part:
            case msg.TextPart(text="") if not part.state:
                return DropReason.EMPTY
            case msg.ToolPart(provider_executed=True):
                return DropReason.UNPLACED
            case _:
                return super().unsendable(part)

    def has_place(self, part: msg.Part) -> bool:
        """Return whether all state of a part is sent."""
        taken = self._profile.fields
        return "annotations" not in part.state or taken is None or "annotations" in taken


encode = OpenAIChatEncoder.encode


def _with_valid_input(part: msg.Part) -> msg.Part:
    """Return a call without the text of its input where that is not an object: servers parse it."""
    if isinstance(part, msg.ToolPart) and part.raw_input and parse_input(part.raw_input)[0] is None:
        return attrs.evolve(part, raw_input="")
    return part


def _media_part(media: MediaContent) -> Item | None:
    """Return media as a content part; `None` where the wire has none for it."""
    url = media.uri if media.data is None else data_url(media.media_type, media.data)
    if media.media_type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    if media.media_type in _AUDIO and media.data is not None:
        data = b64encode(media.data).decode()
        return {"type": "input_audio", "input_audio": {"data": data, "format": _AUDIO[media.media_type]}}
    if media.media_type == "application/pdf" and media.data is not None:
        return {"type": "file", "file": {"filename": "document.pdf", "file_data": url}}
    return None
