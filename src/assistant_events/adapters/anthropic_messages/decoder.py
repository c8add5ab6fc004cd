"""
Anthropic Messages to events.

A *block* is one item of the message's `content`. Facts: SDK types of anthropic 2.12.0 (stable and beta), recordings of
2024-06 to 2026-10.
"""

# Plain JSON of unknown shape is taken apart here: isinstance leaves its items unknown.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import attrs

from assistant_events.adapters.anthropic_messages import vocabulary as words
from assistant_events.adapters.aws_chunks import has_intervened, unwrapped
from assistant_events.adapters.base import DecoderBase, StepFacts
from assistant_events.adapters.call_results import given_input, read_output
from assistant_events.adapters.errors import SPLICED, error_of_document, is_cut
from assistant_events.adapters.frame_templates import DeltaFrames
from assistant_events.adapters.json_fields import Fields, filled, flag, integer, mapping, mappings, others, string
from assistant_events.adapters.sealing import split_sealed
from assistant_events.values import ErrorInfo, FinishReason, Usage

_MESSAGE: frozenset[str] = frozenset({"id", "type", "role", "model", "content", "usage", "stop_reason", "container"})
_DELTA: frozenset[str] = frozenset({"type", "delta", "usage", "stop_reason", "container"})
_FRAME: frozenset[str] = frozenset({"type", "message", "usage", "amazon-bedrock-invocationMetrics"})

_TEXTS: Final = ("text", "thinking", "content", "data")
_PATHS: Final = {role: (kind, ("delta", field)) for kind, (role, field) in words.DELTAS.items()}
"""By role of a block, the type of its deltas and the path to their text."""


class AnthropicMessagesDecoder(DecoderBase):
    """Decodes streams and documents of `POST /v1/messages`, also as Bedrock and Vertex send them."""

    dialect = "anthropic-messages"
    provider = "anthropic"
    item_key = "i"
    error_table = words.ERRORS
    answer_fields = frozenset({"content", "stop_reason"})  # MiniMax: `content` null at the limit (decolua/9router#1631)
    delta_frames = DeltaFrames(number="index")
    dump_without = "exclude_unset"  # a citation without a title has `"document_title": null`, which is required

    # -- the shape that DecoderBase asks for

    def on_begin(self) -> None:
        """Forget what was read: the message begins again."""
        self._blocks: dict[int, _Block] = {}
        self._latest: _Block | None = None
        self._calls: set[str] = set()
        self._replaceable: list[_Block] = []  # calls of the app behind the last fallback
        self._counts: dict[str, Any] = {}
        self._stop_reason: str | None = None
        self._is_first = True  # no block but results has come

    def on_event(self, event: Fields) -> None:
        """Read one event. Its type is in the document, or that of its frame: names are missing or wrong at gateways."""
        kind = string(event, "type") or self.frame_name()
        match kind:
            case "content_block_delta":
                self._on_delta(event, mapping(event, "delta"))
            case "content_block_start":
                self._on_start(integer(event, "index"), mapping(event, "content_block"))
            case "content_block_stop":
                self._on_stop(self._block_at(integer(event, "index")))
            case "message_start":
                self._on_message_start(mapping(event, "message"))
                self._learn(event, _FRAME)
            case "message_delta":
                self._learn(mapping(event, "delta"), _DELTA)
                self._learn(event, _DELTA)
            case "message_stop":
                self._learn(event, _FRAME)
                self._finish()
            case "error":
                self._on_error(others(event, {"type"}))
            case _:
                if kind not in words.WITHOUT_NEWS:
                    self._on_other(event)

    def on_close(self, error: ErrorInfo | None) -> None:
        """Finish an answer whose stop reason has come: gateways leave the last frame out."""
        if not is_cut(error) and self._stop_reason is not None and self.bare_error() is None:
            self._finish()

    def on_failing(self) -> None:
        """Keep the text of open blocks of unknown types."""
        for block in [each for each in self._blocks.values() if each.pieces]:
            self._on_stop(block)

    def facts(self) -> StepFacts:
        """Return usage, state and details of the message, for each end of its step."""
        return {**super().facts(), "usage": self._usage_so_far(partial=True)}

    def resource_events(self, resource: Fields) -> Iterator[Fields]:
        """Yield the events of a stream whose first one has the whole message."""
        yield {"type": "message_start", "message": resource}
        yield {"type": "message_stop"}

    # -- the message

    def _on_other(self, event: Fields) -> None:
        """Read the event inside a chunk of Bedrock, an exception of it, or an error of another type, of gateways."""
        is_bare = string(event, "type") is None
        if is_bare and (inner := unwrapped(self, event)) is not None:
            if inner:
                self.on_event(inner)
        elif (is_bare and "error" in event) or self.frame_name() == "error":
            self._on_error(event)
        else:
            self.note("unknown-event", "an event of an unknown type was left out")

    def _on_error(self, event: Fields) -> None:
        self.fail_step(words.ERRORS.read(error_of_document(event, words.ERRORS.beside) or event))

    def _on_message_start(self, message: Fields) -> None:
        known, given = self.step_state.get("message_id"), string(message, "id") or None
        if known is not None and given is not None:
            if given != known:
                self.fail_step(SPLICED)  # vercel/ai, fixture spliced-message-start
            return
        if given is not None:
            self.step_state["message_id"] = given
        self.ensure_started(string(message, "model") or None)
        self._learn(message, _MESSAGE)
        whole = string(message, "content")
        for index, block in enumerate([{"type": "text", "text": whole}] if whole else mappings(message, "content")):
            self._on_start(index, block)
            self._on_stop(self._blocks.get(index))

    def _learn(self, fields: Fields, own: frozenset[str]) -> None:
        """Remember facts about the message, and counts, which gateways have anywhere; others than *own* are details."""
        self._stop_reason = string(fields, "stop_reason") or self._stop_reason
        container = mapping(fields, "container")
        if string(container, "id"):
            self.step_state["container"] = container["id"]
            self.step_details["container"] = {key: value for key, value in container.items() if key != "id"}
        self.step_details |= others(fields, own)
        counts = others(mapping(fields, "usage"))
        inputs = {key: counts[key] for key in counts if key.endswith("input_tokens")}  # zeros alone: unknown
        self._counts |= others(counts, () if any(inputs.values()) else inputs.keys() & self._counts.keys())

    def _usage_so_far(self, *, partial: bool) -> Usage | None:
        """Return the counts: totals so far, of which each frame has some. Zeros without iterations count as none."""
        if not any(isinstance(value, (int, float, list)) and value for value in self._counts.values()):
            return None
        return words.USAGE.read({**self._counts, "partial": True} if partial else self._counts)

    def _finish(self) -> None:
        for block in [each for each in self._blocks.values() if each.role in ("call", "opaque") or each.pieces]:
            self._on_stop(block)  # also without a stop
        given = words.FINISH_REASONS.get(reason, FinishReason.OTHER) if (reason := self._stop_reason) else None
        finish = self.finish_reason_of(given, refused=has_intervened(self.step_details))  # by a guardrail of Bedrock
        if reason == "error":  # of gateways (earendil-works/pi#1215)
            self._on_error({"type": reason, "message": "the message ended with the stop reason error"})
        else:
            self.finish_step(finish, reason, usage=self._usage_so_far(partial=False))

    # -- blocks

    def _block_at(self, index: int | None, role: str = "") -> _Block | None:
        """Return the block of an index, or the latest where none has it (as in vercel.code-execution-pdf-skill-1)."""
        block = None if index is None else self._blocks.get(index)
        if block is not None and role in ("", block.role):
            return block
        if role == "call" and block is not None and block.inside is not None and not block.inside.ended:
            return block.inside
        latest = self._latest
        if latest is None or latest.ended or role not in ("", latest.role):
            return None
        return latest

    def _open(self, index: int | None, kind: str, call_id: str | None = None, *, implied: bool = False) -> _Block:
        self.ensure_started()
        if self._latest is not None and self._latest.role in ("opaque", "result"):
            self._on_stop(self._latest)  # its place is before what follows, also without a stop
        block = self._latest = _Block(kind, words.role_of(kind), call_id, implied)
        self._is_first = self._is_first and block.role == "result"
        place = len(self._blocks) if index is None else index
        if implied and (taken := self._blocks.get(place)) is not None:
            block.inside = taken if taken.role == "call" else taken.inside
        self._blocks[place] = block
        return block

    def _on_start(self, index: int | None, fields: Fields) -> None:
        kind = string(fields, "type") or ""
        block = None if index is None else self._blocks.get(index)
        call_id = string(fields, "id") or None
        is_known = block is not None and not block.ended and block.role == words.role_of(kind)
        if block is not None and is_known and block.implied:
            block.implied, block.call_id = False, call_id
        elif block is not None and is_known and (call_id or fields) == (block.call_id or block.fields):
            return  # the same again
        else:
            self._on_stop(block)
            block = self._open(index, kind, call_id)
        block.fields = fields
        state = filled(fields, words.RESERVED, words.OWN_FIELDS.get(block.role, ()))
        match block.role:
            case "text" | "thinking":
                self.recorder.begin(block, "text" if block.role == "text" else "reasoning")
                self._add(block, string(fields, block.role) or "")
                cited = [words.citation_of(each) for each in mappings(fields, "citations")]
                if state:
                    self.recorder.keep(block, state, cited)
            case "call":
                name, (text, given) = string(fields, "name"), given_input(fields.get("input"))
                if name:  # a call without one is kept raw, and so is its result
                    self._calls.add(call_id or "")
                    self._replaceable += [block] if kind == "tool_use" else []
                self.recorder.tool_input(
                    call_id,
                    name,
                    text,
                    key=block,
                    provider_executed=kind != "tool_use",
                    state=state if kind == "tool_use" else {"type": kind, **state},
                    input=given,
                )
            case "result" if self._on_result(block, fields, state):
                pass
            case _:
                if kind == "fallback":
                    fields = {key.removesuffix("_"): each for key, each in fields.items()}  # `from_` in dumps of SDKs
                    self._on_fallback(string(mapping(fields, "to"), "model"))
                # Also the result of a call of an earlier message that is not known.
                self.recorder.begin(block, "opaque", {"block": fields})
        if index is not None and block.role in _PATHS:
            kind, path = _PATHS[block.role]
            self.offer_fast_path(None, path, self.recorder.open_of(block), kind=kind, number=index)

    def _on_fallback(self, model: str | None) -> None:
        """Fail the calls of the app that a model made before *model* replaced it: they are not to be run."""
        self.learn_details({"served_model": model}, ())
        for call in self._replaceable:
            self.recorder.result(call.call_id, (), words.REPLACED, provider_executed=True)
        self._replaceable.clear()

    def _on_result(self, block: _Block, fields: Fields, state: dict[str, Any]) -> bool:
        """Record a result of a tool of the provider; return whether its call is known."""
        call_id = string(fields, "tool_use_id") or ""
        content, sealed = split_sealed(fields.get("content"), words.is_sealed)
        output = read_output(content)
        error = words.result_error(content, is_error=flag(fields, "is_error") is True)
        state = {"type": block.kind, **state, **({"sealed": sealed} if sealed else {})}
        if call_id in self._calls:
            self.recorder.result(call_id or None, output, error, state=state, key=block)
            return True
        # Behind other blocks it is kept raw, at its place.
        return self._is_first and self.answer_paused(call_id, output, error, state=state)

    def _on_delta(self, event: Fields, delta: Fields) -> None:
        index, kind = integer(event, "index"), string(delta, "type") or ""
        role, field = words.DELTAS.get(kind, ("", ""))
        block = self._block_at(index)
        is_raw = block is not None and block.role == "opaque" and not block.ended
        block = block if is_raw else self._block_at(index, role)
        if block is None and role:
            if role == "call" and index in self._blocks and not string(delta, field):
                return  # LiteLLM sends empty inputs in place of a text (litellm#29286)
            block = self._open(index, "tool_use" if role == "call" else role, implied=True)
        if block is None:
            self.note("stray-delta", "a delta of an unknown type came for no block and was left out")
        elif is_raw:
            self._on_raw_delta(block, field, delta)
        elif role:
            self._add(block, string(delta, field) or "")
            if {*delta} == {"type", field}:
                self.offer_fast_path(event, _PATHS[role][1], self.recorder.open_of(block), kind=kind)
            elif more := others(delta, {"type", field, "estimated_tokens"}):
                self._on_raw_delta(block, "", {"type": kind, field: "", **more})  # clients need the text
        elif kind == "signature_delta":
            self.recorder.keep(block, others({"signature": string(delta, "signature") or None}))  # not an empty one
            self._on_raw_delta(block, "", others(delta, {"signature"}))
        elif kind == "citations_delta" and (citation := mapping(delta, "citation")):
            self.recorder.keep(block, {"citations": [citation]}, [words.citation_of(citation)])
            self._on_raw_delta(block, "", others(delta, {"citation"}))
        else:
            self._on_raw_delta(block, "", delta)

    def _on_raw_delta(self, block: _Block, field: str, delta: Fields) -> None:
        """Put a delta into a block that is kept raw: text to its text, in place of its fields, or beside them."""
        kind = string(delta, "type")
        if block.role in ("opaque", "thinking") and kind == f"{block.kind}_delta" != "thinking_delta":
            # Its own, such as `connector_text_delta`, and `redacted_thinking_delta` of gateways.
            texts = {key for key, each in block.fields.items() if isinstance(each, str)} - {"type", "encrypted_content"}
            field = next((key for key in delta if key in {"content", "data", *texts}), field)
        if (text := string(delta, field)) is not None and field in (*_TEXTS, *block.fields):
            block.pieces.setdefault(field, [string(block.fields, field) or ""]).append(text)
            delta = others(delta, {field, "estimated_tokens"})
        if block.role == "opaque" and kind in ("compaction_delta", "signature_delta"):
            self.recorder.keep(block, {"block": others(delta, {"type"})})  # null replaces nothing
        elif others(delta) != {"type": kind}:
            self.note("unknown-delta", "a delta of an unknown type was kept raw")
            if block.role == "result":  # it was recorded whole, at its start
                self.recorder.begin(block, "opaque")
            self.recorder.keep(block, {"deltas": [delta]})

    def _add(self, block: _Block, text: str) -> None:
        if block.role == "call":
            self.recorder.tool_input(None, None, text, key=block)
        else:
            add = self.recorder.text if block.role == "text" else self.recorder.reasoning
            add(text, key=block)

    def _on_stop(self, block: _Block | None) -> None:
        if block is not None:
            for field, pieces in block.pieces.items():
                more = {field: "".join(pieces)}
                self.recorder.keep(block, {"block": more} if block.role == "opaque" else more)
            block.pieces.clear()
            block.ended = True
            self.recorder.end(block)


@attrs.define(eq=False)
class _Block:
    """A block of the message: the key of its parts in the recorder."""

    kind: str
    role: str
    call_id: str | None
    implied: bool  # whether a delta came before its start
    inside: _Block | None = None  # the call whose index an implied one has taken
    ended: bool = False
    fields: Fields = attrs.Factory(dict)  # of its start
    pieces: dict[str, list[str]] = attrs.Factory(dict)  # text by field, of an unknown type
