"""
A conversation to the next request of Chat Completions.

An answer is one message. Results follow it at once, one message for each call, and what a result cannot hold follows
them as a message of the user.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final

from assistant_events import messages as msg
from assistant_events.adapters.asked_again import AskAgainEncoder
from assistant_events.adapters.call_ids import fit_of_model, wire_id
from assistant_events.adapters.call_results import text_of
from assistant_events.adapters.encoded import Item
from assistant_events.adapters.gateway_deltas import with_returned
from assistant_events.adapters.items import ordered_for, sent_details, text_or_blocks
from assistant_events.adapters.json_fields import mapping, mappings, others, string
from assistant_events.adapters.media_urls import FILES, NO_CHAT_FILES, audio_field, file_fields, media_url, sees_image
from assistant_events.adapters.model_names import signs_calls, thinks
from assistant_events.adapters.openai_chat import vocabulary as words
from assistant_events.adapters.openai_chat.assistant_message import write_messages, write_part
from assistant_events.adapters.openai_chat.policy import POLICY, PROFILES, Profile
from assistant_events.adapters.server_tools import write_result
from assistant_events.history import DropReason, Policy
from assistant_events.values import Content, MediaContent, thaw

_SENT: Final = frozenset({"role", "content", "refusal", "audio", "tool_calls", "function_call", *words.RETURNED})


class OpenAIChatEncoder(AskAgainEncoder):
    """
    Encodes requests of `POST /chat/completions`: `messages`, behind the system and developer messages of the body.

    What a server takes back is in `PROFILES`, by its provider.
    """

    dialect: ClassVar[str] = "openai-chat"
    provider: ClassVar[str] = "openai"
    policy: ClassVar[Policy] = POLICY
    own_addresses = ("file-",)
    media_in_results = ()
    signature_key: ClassVar[str] = "extra_content.google.thought_signature"
    not_in_call_ids: ClassVar[re.Pattern[str] | None] = re.compile(r"[^!-~]")

    def prepare(self) -> None:
        """Look at the messages of the body, and at what the server takes."""
        self._leading = mappings(self.body, "messages")
        if any(string(each, "role") not in ("system", "developer") for each in self._leading):
            raise ValueError("body: messages come out of the transcript, give those of the system or developer alone")
        self._profile = PROFILES.get(self.target.provider, Profile())
        self.longest_name = self._profile.longest_name
        self.refuses_calls_of_others = signs_calls(self.target.provider, self.target.model or "")

    def fit_call_id(self, call_id: str) -> str:
        """Return an id that the server takes."""
        return fit_of_model(self.model_of(self.body))(self._profile.fit_call_id(super().fit_call_id(call_id)))

    def conversation(self, items: list[Item]) -> dict[str, Any]:
        """Return the messages."""
        sent = self._profile.arranged([*map(dict, self._leading), *map(self._profile.fit_message, items)])
        sent = ordered_for(self.model_of(self.body), sent)
        more = others({"reasoning_content": self._profile.always})
        adds = thinks(self.body) or any(not more.keys().isdisjoint(item) for item in sent)
        return {"messages": [{**more, **each} if adds and each["role"] == "assistant" else each for each in sent]}

    def media_block(self, media: MediaContent) -> Item | None:
        """Return an image, audio or a PDF as a content part."""
        url = media_url(media) or ""
        is_stored = media.data is None and url.startswith(FILES)
        if media.media_type.startswith("image/"):
            return {"type": "image_url", "image_url": {"url": url}} if sees_image(media, self.target.provider) else None
        if audio := audio_field(media, self.target.provider):
            return {"type": "input_audio", "input_audio": audio}
        is_file = media.media_type == "application/pdf" and (not is_stored or self.target.provider == "openai")
        if is_file and self.target.provider == "mistral":  # it reads a file by its id alone (vercel/ai, litellm)
            return {"type": "document_url", "document_url": url}
        file = file_fields(media, self.target.provider, NO_CHAT_FILES) if is_file and (is_stored or media.data) else {}
        return {"type": "file", "file": file} if file else None

    def user_item(self, blocks: list[Item]) -> Item:
        """Return a message of the user: one text as a string."""
        return {"role": "user", "content": text_or_blocks(blocks)}

    def answer_items(self, message: msg.AssistantMessage) -> list[Item]:
        """Return the message of an answer, without fields that its server does not take back."""
        taken = self.target.provider != "mistral" or self.is_own(message)  # else code 3051: "Reasoning input is not …"
        parts = [each for each in message.parts if taken or not isinstance(each, msg.ReasoningPart)]
        *before, last = write_messages(parts, self._profile.fields)
        returned = {key: thaw(message.state[key]) for key in words.RETURNED if key in message.state}
        if google := mapping(mapping(returned, "extra_content"), "google"):
            returned["extra_content"]["google"] = others(google, ("thought",))  # which would be of the whole message
        written = [*before, with_returned(last, returned)]
        return [sent for each in written if (sent := each if each["role"] == "tool" else self._answer_item(each))]

    def _answer_item(self, written: Item) -> Item:
        """Return a message of an answer as its server takes it; an empty one where nothing is left."""
        item = self._taken(written)
        if details := sent_details(item.pop("reasoning_details", ())):
            item["reasoning_details"] = details
        if ident := string(item.pop("audio", {}), "id"):
            item["audio"] = {"id": ident}
        if item.keys() == {"role", "content"} and not item["content"]:
            return {}
        empty = self._profile.no_content
        if item["content"] is None and (empty is not None or item.keys().isdisjoint(("tool_calls", "function_call"))):
            item["content"] = empty or ""
        return item

    def result_item(self, call: msg.ToolPart, content: tuple[Content, ...], *, failed: bool) -> Item:
        """Return the message of a result: text; the wire has no mark of a failure."""
        is_old = string(call.state, "type") == "function_call"
        of_call = {"role": "function", "name": call.name} if is_old else {"role": "tool", "tool_call_id": wire_id(call)}
        return {**of_call, "content": text_of(content)}

    def unsendable(self, part: msg.Part) -> DropReason | None:
        """Return why a part has no place: a call that the server has run, or without a name, a thought of no field."""
        is_run = isinstance(part, msg.ToolPart) and part.provider_executed
        is_run = is_run and (self.target.provider != "mistral" or write_result(part) is None)
        is_nameless = isinstance(part, msg.OpaquePart) and "arguments" in part.state
        is_unplaced = isinstance(part, msg.ReasoningPart) and self._profile.fields is None and not part.state
        return DropReason.UNPLACED if is_run or is_nameless or is_unplaced else super().unsendable(part)

    def has_place(self, part: msg.Part) -> bool:
        """Return whether all state of a part is sent."""
        return self._taken(written := write_part(part, self._profile.fields)) == written

    def _taken(self, item: Item) -> Item:
        """Return the fields that the server takes."""
        taken = self._profile.fields
        return item if taken is None else {key: value for key, value in item.items() if key in _SENT.union(taken)}


encode = OpenAIChatEncoder.encode
