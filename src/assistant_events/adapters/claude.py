"""What the platforms of Claude have in common: signatures that are valid on all of them, and what they refuse."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, final

import attrs

from assistant_events import messages as msg
from assistant_events.adapters.asked_again import AskAgainEncoder
from assistant_events.adapters.encoded import Item
from assistant_events.adapters.items import (
    BlockKind,
    block_kind,
    content_blocks,
    is_blank,
    items_of,
    last_number,
    number_of,
)
from assistant_events.adapters.json_fields import Fields, base64_bytes, mapping, mappings, string, without
from assistant_events.history import DropReason, Platforms
from assistant_events.values import FinishReason, JsonContent

PLATFORMS: Final = Platforms(
    origins=frozenset(
        {
            ("anthropic", "anthropic-messages"),
            ("bedrock", "anthropic-messages"),
            ("vertex", "anthropic-messages"),
            ("bedrock", "bedrock-converse"),
        }
    ),
    keys=frozenset({"signature", "data", "redactedContent"}),
    affixes=re.compile(
        r"^(?:arn:[^/]*/)?(?:[a-z-]+\.)?anthropic\.|^(?:.*/)?publishers/anthropic/models/"
        r"|-v\d+(?::\d+)?$|[@-]\d{8}(?=-v\d|$)|(?:@default|@latest|-latest|(?<=-\d)-0)$"
    ),
    passed_on=re.compile(r"^(?!deepseek/|moonshot/|zai/).*/.*claude"),
)
"""
Anthropic's own, Bedrock in both dialects, and Vertex: a signature of one is valid on the others (Claude documentation,
extended thinking, 2026-10).

Names of one model: `claude-sonnet-4-5-20250929`, `us.anthropic.claude-sonnet-4-5-20250929-v1:0`, alone or in the ARN of
an inference profile, `claude-sonnet-4-5@20250929`, alone or behind `publishers/anthropic/models/`. Vertex names the
newest of a model `claude-opus-4-6@default`; aliases of Anthropic are `claude-sonnet-4-0` and those with `-latest`.

Gateways pass on what Claude refuses: Copilot (openclaw/openclaw#31329, microsoft/vscode#322138), LiteLLM
(opencode#3077); an empty signature is refused (ENTERPILOT/GoModel#964). Some run their own models under such names.
"""


TAKES_NO_PREFILL: Final = re.compile(r"claude-[a-z]+-(?:4[-.](?:[6-9]|\d\d)(?!\d)|[5-9]|\d\d(?!\d))")
"""
Models that refuse a request with a text of the assistant at its end: all from 4.6 on.

Opus 4.6 to 4.8 and Sonnet 4.6 refuse one, the models of 4.5 take it (ericc-ch/copilot-api#261,
router-for-me/CLIProxyAPI#5321); so do Sonnet 5 and Fable (cortexkit/magic-context#511, vybestack/llxprt-code#3695).
"""


NO_PREFILL: Final = (
    "This model does not support assistant message prefill. The conversation must end with a user message."
)
"""What they answer."""


NO_ADDRESSES: Final = frozenset({"bedrock", "vertex"})
"""
Providers where Claude reads no address of the web, and no stored file: “URL sources are not supported” (Vertex:
anthropic-sdk-typescript#1038, litellm#18430), and Bedrock (genkit#5813, vercel/ai).
"""


TEXT_RESULTS: Final = frozenset({"lmstudio", "ollama"})
"""
Servers of the Messages API where the result of a call is a text alone: “Only text tool_result blocks are supported”
(lmstudio-bug-tracker#2008), “Input should be a valid string” (Ollama's cloud: ollama#18055, measured).
"""


def data_of(redacted: str) -> str:
    """
    Return the `data` of a redacted thought that Converse has sent as `redactedContent`: the text of its bytes.

    Recorded of Claude 3.7 (pydantic-ai, `test_bedrock_model_thinking_part_redacted`). Other bytes stay in base64.
    """
    data = base64_bytes(redacted) or b"\xff"
    return data.decode() if data.isascii() else redacted


def in_messages(state: dict[str, Any]) -> dict[str, Any]:
    """Return state of a thought in the words of the Messages API."""
    redacted = string(state, "redactedContent")
    return state if redacted is None else {**without(state, {"redactedContent"}), "data": data_of(redacted)}


def in_converse(state: dict[str, Any]) -> dict[str, Any]:
    """Return state of a thought in the words of Converse."""
    data = string(state, "data")
    if data is None:
        return state
    return {**without(state, {"data"}), "redactedContent": b64encode(data.encode(errors="replace")).decode()}


ENDS_WITH_THOUGHT: Final = "Claude refuses an answer that ends with a thought."
"""“The final block in an assistant message cannot be `thinking`” (forgecode#2107, hermes-agent#16921)."""

JOINS_THOUGHTS: Final = "Claude refuses two thoughts when something between them is not sent; the later one is."
"""Opus 4.6 does (enricoros/big-AGI, `anthropic.messageCreate.ts`)."""


def remove_refused(block: Item, body: Fields) -> None:
    """
    Remove from a block of the Messages API what the service refuses in it.

    A `file_id` of citations, which only answers have (langchain#32592: “Extra inputs are not permitted”), and what a
    search has found of tools that the *body* of the request lacks (vercel/ai, a recorded error of 2026-09: “Tool
    reference 'x' not found in available tools”).
    """
    found: Any = mapping(block, "content")
    if gone := undeclared_references(found, body):
        found["tool_references"] = [each for each in found["tool_references"] if each not in gone]
    inner: Any = mappings(block, "content")  # of a result
    for each in (block, *inner):
        if cited := mappings(each, "citations"):
            each["citations"] = [{key: one[key] for key in one if key != "file_id"} for one in cited]


def undeclared_references(found: Fields, body: Fields) -> list[Fields]:
    """
    Return the references of *found* to tools that the *body* of a request lacks.

    There are none where it has a toolset or a server of MCP, whose tools it does not name.
    """
    references = mappings(found, "tool_references")
    names = [string(tool, "name") for tool in mappings(body, "tools")] if references else []
    is_open = None in names or "mcp_servers" in body
    return [] if is_open else [each for each in references if string(each, "tool_name") not in names]


def has_undeclared(part: msg.Part, body: Fields) -> bool:
    """Return whether *part* is the result of a search for tools that has found some that the *body* lacks."""
    found: list[Fields] = [mapping(part.state, "block")]
    if isinstance(part, msg.ToolPart):
        found = [{"content": each.value} for each in part.output if isinstance(each, JsonContent)]
    return any(undeclared_references(mapping(each, "content"), body) for each in found)


@final
class _LastTurn:
    """
    The answers of the last turn whose calls are refused, when it ends with calls; in one pass from the beginning.

    Where nothing remains of that turn, those of the turn before it are, too.
    """

    def __init__(self) -> None:
        self._before: set[str] = set()
        self._refused: set[str] = set()
        self._is_begun = self._has_calls = self._remains = False
        self._is_behind = False  # a thought, with nothing between that is sent as text of the user

    def sent(self, ident: str, *, is_own: bool, thinks: bool, has_calls: bool, is_gone: bool) -> None:
        """Add an answer, of which nothing but calls and blanks is sent where it *is_gone*."""
        self._is_behind = thinks or (self._is_behind and is_own)
        self._refused |= set() if self._is_behind else {ident}
        self._is_begun, self._has_calls = True, has_calls
        self._remains = self._remains or self._is_behind or not is_gone

    def taken(self) -> set[str]:
        """Return those that are refused, each of them once."""
        found: set[str] = set()
        if self._is_begun and self._has_calls:
            found, self._refused = self._refused, found
        if not self._is_begun or (self._has_calls and not self._remains):
            self._before |= found
            found, self._before = self._before, set()
        return found

    def ended(self) -> None:
        """Begin a turn."""
        self._before = self.taken()
        self._refused = set()
        self._is_begun = self._has_calls = self._remains = self._is_behind = False


class ClaudeEncoder(AskAgainEncoder):
    """Base class of the encoders that ask models of Claude."""

    is_claude: bool = False
    """Whether a model of Claude may be asked: then what it refuses is not sent."""

    thinks: bool = False
    """Whether its thinking is enabled: then the turn of its last calls has to begin with a thought."""

    def blocks_of(
        self, message: msg.AssistantMessage, write_block: Callable[[BlockKind, Sequence[Any]], Item | None]
    ) -> list[Item]:
        """
        Return the blocks of an answer; of one by another model the texts before its first call of the app.

        Claude refuses a text between a call and its result (mecatl#1465, with both orders tried; litellm#24361 for
        Converse), where Gemini and GPT write some, also behind one gateway. What Claude itself has sent stays as it
        came, and so does what a provider has sent whose other models are asked.
        """
        blocks = content_blocks(message, "i", write_block)
        by_claude, asks_claude = ("claude" in (name or "") for name in (message.origin.model, self.model_of(self.body)))
        if self.is_of_provider(message) and (by_claude or not asks_claude):
            return blocks
        first = next((at for at, block in enumerate(blocks) if _is_call_block(block)), len(blocks))
        texts = [block for block in blocks[first:] if _is_text_block(block)]
        return [*blocks[:first], *texts, *[block for block in blocks[first:] if not _is_text_block(block)]]

    def refused_calls(self, message: msg.AssistantMessage, parts: Sequence[tuple[int, msg.Part]]) -> Collection[int]:
        """
        Return the places of the calls that have to be behind a thought, and are not.

        “When `thinking` is enabled, a final `assistant` message must start with a thinking block” (opencode#3077,
        kilocode#5219). Claude thinks once in a turn: behind that, its own answers may begin without a thought.
        """
        if not (self.is_claude and self.thinks and message.id in self._without_thought):
            return ()
        return [place for place, _ in self.calls_of_app(parts)]

    def left_out(
        self, message: msg.AssistantMessage, parts: Sequence[tuple[int, msg.Part]]
    ) -> Mapping[int, DropReason | str]:
        """Return what is refused for what is not behind it: thoughts of Claude, all of an answer without an end."""
        if left := super().left_out(message, parts):
            return left
        return self._refused_thoughts(message, parts) if self.is_claude else {}

    def with_block(
        self, message: msg.AssistantMessage, parts: Sequence[tuple[int, msg.Part]]
    ) -> list[tuple[int, msg.Part]]:
        """Return the parts that have a block in the request, with their places."""
        refused = self.refused_calls(message, parts)
        return [(place, part) for place, part in parts if self.unsendable(part) is None and place not in refused]

    @cached_property
    def _without_thought(self) -> Collection[str]:
        """
        The ids of the answers whose calls are refused: now, or when the model made a thought that is sent.

        That thought is bound to what was sent before it (Claude documentation, preserved thinking, 2026-10).
        """
        found: set[str] = set()
        turn = _LastTurn()
        is_behind = False  # a thought, with nothing of another model between
        for message in self.messages:
            answer, parts = self._sendable.get(message.id, (None, list[msg.Part]()))
            is_own = answer is not None and self.is_own(answer)
            thoughts = [is_own and isinstance(part, msg.ReasoningPart) for part in parts]
            if any(thoughts) and not is_behind:
                found |= turn.taken()
            is_behind = is_own and (is_behind or thoughts[:1] == [True])
            if answer is None:
                turn.ended()
            elif parts and not self.is_asked_again(answer, parts):
                calls = [self._is_call(part) for part in parts]
                is_gone = all(is_call or is_blank(part) for is_call, part in zip(calls, parts, strict=True))
                thinks = isinstance(parts[0], msg.ReasoningPart)
                turn.sent(answer.id, is_own=is_own, thinks=thinks, has_calls=any(calls), is_gone=is_gone)
        return found | turn.taken()

    @cached_property
    def _sendable(self) -> Mapping[str, tuple[msg.AssistantMessage, list[msg.Part]]]:
        """The answers by their ids, each with the parts that have a block."""
        found: dict[str, tuple[msg.AssistantMessage, list[msg.Part]]] = {}
        for message in self.messages:
            for kept in self.selected(message).messages if isinstance(message, msg.AssistantMessage) else ():
                assert isinstance(kept, msg.AssistantMessage)
                parts = [part for part in kept.parts if self.unsendable(part) is None]
                parts = [part for part in parts if not isinstance(part, msg.MediaPart) or self.is_sent(kept, part)]
                found[kept.id] = kept, parts
        return found

    def _refused_thoughts(
        self, message: msg.AssistantMessage, parts: Sequence[tuple[int, msg.Part]]
    ) -> Mapping[int, DropReason | str]:
        """Return the places of the thoughts that are refused; a paused answer may end with one, if it is continued."""
        refused: dict[int, DropReason | str] = {}
        ending: list[int] = []  # thoughts with no other block behind them
        latest: int | None = None
        sent = {place: message.parts[place] for place, _ in self.with_block(message, parts)}
        places = {id(part): place for place, part in sent.items()}
        for item in items_of(attrs.evolve(message, parts=tuple(sent.values())), "i", block_kind, "result"):
            if item.kind == "reasoning":
                before, latest = latest, number_of(item.parts[0].state, "i")
                if ending and before is not None and latest is not None and latest > before + 1:
                    refused |= dict.fromkeys(ending, JOINS_THOUGHTS)
                    ending = []
                ending += [places[id(part)] for part in item.parts]
            elif item.kind != "text" or any(part.text for part in item.parts):
                ending = []
        is_paused = message.finish_reason is FinishReason.PAUSE and latest in (None, last_number(message, "i"))
        if ending and not (is_paused and self.is_continued(message, [part for _, part in parts])):
            refused |= dict.fromkeys(ending, ENDS_WITH_THOUGHT)
        return refused

    def _is_call(self, part: msg.Part) -> bool:
        return isinstance(part, msg.ToolPart) and self.needs_result(part)


def _is_call_block(block: Item) -> bool:
    return block.get("type") == "tool_use" or "toolUse" in block


def _is_text_block(block: Item) -> bool:
    return block.get("type", "text") == "text" and not block.keys().isdisjoint({"text", "citationsContent"})
