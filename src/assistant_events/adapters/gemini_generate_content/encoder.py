"""
A conversation to the next request of generateContent.

Every part is sent back as it came and at its place: none is merged with another, and a signature stays in its part.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any, ClassVar, Final

from assistant_events import messages as msg
from assistant_events.adapters.asked_again import AskAgainEncoder
from assistant_events.adapters.call_ids import repeats_id, wire_id
from assistant_events.adapters.call_results import text_of
from assistant_events.adapters.encoded import Item
from assistant_events.adapters.gemini_generate_content import vocabulary as words
from assistant_events.adapters.gemini_generate_content.parts import call_kind_of, media_part, part_kind, wire_parts
from assistant_events.adapters.gemini_generate_content.policy import POLICY
from assistant_events.adapters.google_rpc import OLDER_MODELS, SIGNED_IMAGES, UNSEEN_IMAGES, camel_keys
from assistant_events.adapters.items import joined_roles, results_behind
from assistant_events.adapters.json_fields import flag, is_object, mapping, string
from assistant_events.history import DropReason, Policy
from assistant_events.values import Content, JsonContent, MediaContent, thaw

NO_SIGNATURE: Final = b64encode(b"skip_thought_signature_validator").decode()
"""For `Policy.lost_signature`: with it Gemini 3 looks for none (documentation of thought signatures, pydantic-ai)."""

_REFUSED: Final = words.BESIDE | {"functionCall", "functionResponse"}  # a part of these is one without a name
_IN_RESULTS: Final = {"image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"}


class GeminiGenerateContentEncoder(AskAgainEncoder):
    """
    Encodes requests of `models.generateContent`: `contents`, and the `continuationToken` of an answer that was paused.

    Nothing else of the body is changed. Its `model` is in the address of a request, and no field of it: take it out.
    """

    dialect: ClassVar[str] = "gemini-generate-content"
    provider: ClassVar[str] = "google"
    policy: ClassVar[Policy] = POLICY
    marks_failures = True
    unplaced_state: ClassVar[frozenset[str] | None] = frozenset()
    signature_key: ClassVar[str] = "thoughtSignature"
    own_addresses = ("gs://",)
    conversation_fields: ClassVar[tuple[str, ...]] = ("contents", "continuationToken")

    def prepare(self) -> None:
        """Look for answers of others, and at the model: before Gemini 3 results hold no media (bifrost#4202)."""
        self.checks_signatures = not OLDER_MODELS.search(self.model_of(self.body))
        self.signed_images = ("thoughtSignature", "thought") if SIGNED_IMAGES.search(self.model_of(self.body)) else ()
        self.media_in_results = _IN_RESULTS if self.checks_signatures else ()
        tools = camel_keys(mapping(self.body, "toolConfig") or mapping(self.body, "tool_config"))
        self._out: set[str] = set() if flag(tools, "includeServerSideToolInvocations") else {"toolCall", "toolResponse"}
        answers = [each for each in self.messages if isinstance(each, msg.AssistantMessage)]
        self._without_ids = {each.id for each in answers if repeats_id(each) or not self.is_of_provider(each)}
        """Answers whose ids are refused: of others at Vertex, and two of one name everywhere (watt-mind/coach#280)."""

    def conversation(self, items: list[Item]) -> dict[str, Any]:
        """Return the contents: Gemini 3.6 refuses anything beside results (MoonshotAI/kimi-code#3274)."""
        return {"contents": joined_roles(self.begun(items, "parts", "functionCall"), "parts", apart="functionResponse")}

    def resumed(self, hops: Sequence[msg.AssistantMessage]) -> tuple[dict[str, Any], bool] | None:
        """Return the token that continues an answer: the request is the same again. One that came back is none."""
        *_, sent, token = [None, *[string(hop.state, "continuationToken") for hop in hops]]
        return ({"continuationToken": token}, True) if token and token != sent else None

    def text_block(self, text: str) -> Item:
        """Return a text as a part."""
        return {"text": text}

    def media_block(self, media: MediaContent) -> Item | None:
        """Return media as a part, but for images that the service does not read."""
        return None if UNSEEN_IMAGES.match(media.media_type) else media_part(media)

    def user_item(self, blocks: list[Item]) -> Item:
        """Return a content of the user."""
        return {"role": "user", "parts": blocks}

    def answer_items(self, message: msg.AssistantMessage) -> list[Item]:
        """Return the contents of an answer: results that the service gave to functions are the user's."""
        parts = [part for part in wire_parts(message) if part.get("text") != "" or len(part) > 1]
        for part in parts if message.id in self._without_ids else ():
            part.get("functionCall", {}).pop("id", None)
        contents = [{"role": "user" if "functionResponse" in each else "model", "parts": [each]} for each in parts]
        return results_behind(joined_roles(contents, "parts"))

    def result_item(self, call: msg.ToolPart, content: tuple[Content, ...], *, failed: bool) -> Item:
        """Return the content with a `functionResponse`: an object, or anything else as `output` or `error`."""
        media = [media_part(item) for item in content if isinstance(item, MediaContent)]
        match [item for item in call.output if not isinstance(item, MediaContent)]:
            case [JsonContent(value=value)] if not failed:
                response = thaw(value) if is_object(value) else {"output": thaw(value)}
            case _:
                response = {"error" if failed else "output": text_of(content)}
        call_id = None if call.message_id in self._without_ids else wire_id(call)
        named = {"name": call.name, "response": response, **({"parts": media} if media else {})}
        return self.user_item([{"functionResponse": named if call_id is None else {"id": call_id, **named}}])

    def is_sent(self, message: msg.AssistantMessage, part: msg.Part) -> bool:
        """Return whether a part has a form in a request; of a call that was made up, its result has."""
        is_bare = isinstance(part, msg.OpaquePart) and mapping(part.state, "part").keys() <= _REFUSED
        return not is_bare and (part_kind(part) is not None or "orphan" in part.state)

    def unsendable(self, part: msg.Part) -> DropReason | None:
        """Return why no content can have a part: it is of a tool of the service that the body does not show."""
        kinds = {call_kind_of(part)} if isinstance(part, msg.ToolPart) else mapping(part.state, "part").keys()
        return DropReason.UNPLACED if kinds & self._out else super().unsendable(part)


encode = GeminiGenerateContentEncoder.encode
