"""
A conversation to the next request of the Interactions API.

Either the request names the interaction that the service stores and has what is new (`chained`), or it has the whole
conversation as `Step[]` with every signature at its place (`full`). A paused answer is resumed by its token (`hop`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Final

from assistant_events.adapters.call_ids import wire_id
from assistant_events.adapters.encoded import Item
from assistant_events.adapters.encoder import EncoderBase
from assistant_events.adapters.gemini_interactions import vocabulary
from assistant_events.adapters.gemini_interactions.policy import POLICY
from assistant_events.adapters.gemini_interactions.wire_steps import (
    call_type,
    content_block,
    has_step,
    has_unwritten_deltas,
    wire_steps,
)
from assistant_events.adapters.google_rpc import OLDER_MODELS
from assistant_events.adapters.json_fields import mapping, string
from assistant_events.errors import LocalProtocolError
from assistant_events.history import DropReason, Policy, has_result
from assistant_events.messages import AssistantMessage, OpaquePart, Part, ReasoningPart, ToolPart
from assistant_events.values import Content, MediaContent, State

_STEP: Final = frozenset({"i", "extra", "deltas"})


class GeminiInteractionsEncoder(EncoderBase):
    """
    Encodes requests of `POST /interactions`: `input`, `previous_interaction_id`, `continuation_token`, `environment`.

    Nothing else of the body is changed, but that `agent_config.visualization` is only sent when it is `off`. Where the
    service answers 404 or 501 to a chained request, encode again with the mode `full`: it no longer has the
    interaction, or cannot go on from it.
    """

    dialect: ClassVar[str] = "gemini-interactions"
    provider: ClassVar[str] = "google"
    policy: ClassVar[Policy] = POLICY
    marks_failures = True
    own_addresses = ("gs://",)
    conversation_fields: ClassVar[tuple[str, ...]] = ("input", "previous_interaction_id", "continuation_token")
    stored_key = "interaction_id"
    stored_field: ClassVar[str] = "previous_interaction_id"
    placed_state: ClassVar[Mapping[str, frozenset[str]]] = {
        "text": _STEP | {"annotations", "block"},
        "reasoning": _STEP | {"summary", "signature"},
        "media": _STEP | {"type", "block", "data"},
        "tool": _STEP | {*vocabulary.DETAILS, "id", "type", "signature", "orphan"},
        "result": _STEP | {*vocabulary.DETAILS, "type", "name", "is_error", "signature"},
        "opaque": _STEP | {*vocabulary.DETAILS, "step", "content", "type", "id", "arguments", "signature"},
    }

    # -- the request

    def prepare(self) -> None:
        """Look at the model."""
        self.checks_signatures = not OLDER_MODELS.search(self.model_of(self.body))

    def model_of(self, body: Mapping[str, Any]) -> str:
        """Return the model or the agent."""
        named = [name for key in ("model", "agent") if isinstance(name := body.get(key), str) and name]
        if len(named) != 1:
            raise ValueError(f"body: expected a model or an agent, got {'both' if named else 'none'}")
        return named[0]

    def completed(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the body with the sandbox that the agent was given last; `remote` alone would make another one."""
        config = mapping(body, "agent_config")
        if config.get("visualization", "off") != "off":
            body["agent_config"] = {key: value for key, value in config.items() if key != "visualization"}
        environment = self.last_state("environment_id")
        given, wanted = body.get("environment"), mapping(body, "environment")
        if environment is not None and given in (None, "remote"):
            body["environment"] = environment
        elif environment is not None and wanted and not wanted.get("environment_id"):
            body["environment"] = {**wanted, "environment_id": environment}
        return body

    def resumed(self, hops: Sequence[AssistantMessage]) -> tuple[dict[str, Any], bool]:
        """
        Return the continuation token, and the interaction that gave it where interactions are stored.

        Google's manual on long decode (2026-10): the same body with the token; without stored interactions also the
        input of the first request.
        """
        *_, sent, token = ["", *[string(hop.state, "continuation_token") or "" for hop in hops]]
        fault = None if token else "was paused without a continuation token, nothing can go on with it"
        if token and token == sent:
            fault = "gave back the continuation token that was sent, so it made no progress"
        if fault:
            raise LocalProtocolError(f"message {hops[-1].id!r} {fault}; ask something new, or use the mode 'full'")
        interaction = string(hops[-1].state, self.stored_key)
        if self.body.get("store") is False or not interaction:
            return {"continuation_token": token}, True
        return {self.stored_field: interaction, "continuation_token": token}, False

    # -- items

    def media_block(self, media: MediaContent) -> Item | None:
        """Return media as a content block, but for images that the service does not read."""
        return None if vocabulary.UNSEEN_IMAGES.match(media.media_type) else content_block(media)

    def user_item(self, blocks: list[Item]) -> Item:
        """Return a `user_input` step."""
        return {"type": "user_input", "content": blocks}

    def answer_items(self, message: AssistantMessage) -> list[Item]:
        """Return the steps of an answer."""
        return wire_steps(message)

    def is_sent(self, message: AssistantMessage, part: Part) -> bool:
        """Return whether a part has a step."""
        return has_step(part)

    def result_item(self, call: ToolPart, content: tuple[Content, ...], *, failed: bool) -> Item:
        """
        Return a `function_result` step.

        `name` is always sent: without it the service answered 400 (robocurve/inspect-robots#380).
        """
        step: Item = {"type": "function_result", "call_id": wire_id(call), "name": call.name}
        step["result"] = self.result_value(content)
        return {**step, "is_error": True} if failed else step

    def needs_result(self, call: ToolPart) -> bool:
        """Return whether the app owes a result: of every `function_call` to which the provider gave none."""
        return call_type(call) == "function_call" and not has_result(call)

    def refused_calls(self, message: AssistantMessage, parts: Sequence[tuple[int, Part]]) -> Collection[int]:
        """
        Return calls without an id, and those without a signed thought before them that Gemini 3 refuses.

        They follow a thought that is not sent (obsidian-gemini#1269, measured 2026-07), or are of another provider in
        the current turn (earendil-works/pi#2172; AidenAI-IO/aiden-firmware#699, 2026-09, which sends them as text).
        """
        sent = frozenset([place for place, _ in parts])
        thoughts = [
            place
            for place, part in enumerate(message.parts)
            if isinstance(part, ReasoningPart) and part.state.get("signature") and place not in sent
        ]
        is_own = self.is_of_provider(message)
        is_unsigned = self.checks_signatures and not is_own and message.id in self._turn
        lost = thoughts[0] if thoughts and is_own else len(message.parts)
        return [
            place
            for place, part in parts
            if isinstance(part, ToolPart)
            and (
                (not part.provider_executed and place > lost)
                or (self.needs_result(part) and (is_unsigned or not wire_id(part)))
            )
        ]

    def unsendable(self, part: Part) -> DropReason | None:
        """Return why a part has no step."""
        if isinstance(part, OpaquePart) and _is_unknown(part.state):
            return DropReason.UNPLACED
        return super().unsendable(part)

    def has_place(self, part: Part) -> bool:
        """Return whether all state of a part is sent; deltas of unknown types are not."""
        states = [part.state, part.result_state] if isinstance(part, ToolPart) else [part.state]
        return super().has_place(part) and not any(map(has_unwritten_deltas, states))


encode = GeminiInteractionsEncoder.encode


def _is_unknown(state: State) -> bool:
    """Return whether an opaque item has no step: from another wire, the rest of a known step, a call without a name."""
    step = state.get("step")
    if isinstance(step, Mapping):
        kind = step.get("type")
        return not isinstance(kind, str) or not kind or vocabulary.is_known(kind)
    kind = state.get("type")
    return kind == "function_call" or not (isinstance(kind, str) or isinstance(state.get("content"), Mapping))
