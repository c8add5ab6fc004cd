"""
Tools that servers of Chat Completions run themselves, and their results.

Groq has both in `executed_tools`. An answer in which Mistral has run tools is several messages: each result is one of
the role `tool`, and what follows it is one more of the assistant, in a document as `messages` of the choice, in a
stream as deltas with the `index` of their message. Each message of the assistant is a completion of its own, with
another id and its own usage. LiteLLM runs tools of MCP servers, and has the calls and their results beside the reason
to finish of the first completion, or in the document of the last one. The tools that Claude runs are calls there, too,
and the blocks with their results beside an empty delta. Facts: types of mistralai 2.x, ruby_llm's protocol for it
(2026-11), LiteLLM's chat_completions_handler.py and anthropic/chat/handler.py (2026-09).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, final

from assistant_events import messages as msg
from assistant_events.adapters.base import DecoderBase
from assistant_events.adapters.call_ids import wire_id
from assistant_events.adapters.call_results import input_text, text_of
from assistant_events.adapters.encoded import Item
from assistant_events.adapters.gateway_deltas import BESIDE, message_each_block
from assistant_events.adapters.items import text_block, text_or_blocks
from assistant_events.adapters.json_fields import Fields, array, integer, is_object, mapping, mappings, others, string
from assistant_events.adapters.streamed_calls import StreamedCalls, is_hosted
from assistant_events.history import has_result
from assistant_events.recorder.fragments import OpenFragment
from assistant_events.values import JsonContent, TextContent, thaw

_EXECUTED = ("index", "type", "arguments", "output")
"""Fields of `executed_tools` beside those with what a tool has found."""

_RUN, _FOUND = "mcp_tool_calls", "mcp_call_results"
"""Fields beside a message of LiteLLM: the calls that it has run, and what they have found."""

_BLOCKS = ("web_search_results", "tool_results")
"""Arrays there with the results of Claude's own tools; each chunk has all that have come."""


@final
class ServerTools:
    """
    The results of an answer. Where they come as messages, the answer is several completions, each with its usage.

    Args:
        decoder: Its recorder gets the results.

        calls: The calls of the answer.
    """

    def __init__(self, decoder: DecoderBase, calls: StreamedCalls) -> None:
        self._recorder, self._calls = decoder.recorder, calls
        self._open: Fields | None = None
        self._texts: list[str] = []
        self._items: list[JsonContent] = []
        self._before: Fields = {}  # usage of the completions before the last one
        self._last: tuple[str | None, Fields] = None, {}  # id and usage of that
        self._has_results = False
        self._taken: set[str] = set()  # calls whose results come again

    def add(self, message: Fields) -> bool:
        """Record a piece of a message, and return whether it is of a result: any other ends the one that is open."""
        role, opened = string(message, "role"), self._open or {}
        place, ident = integer(message, "index"), string(message, "tool_call_id")
        is_more = place is not None and place == integer(opened, "index") and role in (None, "", "tool")
        if not is_more or ident not in (None, string(opened, "tool_call_id")):
            self.end()
            if role != "tool" or ident is None or not self._calls.knows(ident):
                return False
        self._open, self._has_results = {**(self._open or {}), **others(message)}, True
        content = message.get("content")
        texts = [content, *[string(item, "text") for item in mappings(message, "content")]]
        self._texts += [text for text in texts if isinstance(text, str)]
        items = [item for item in array(message, "content") if string(mapping({"item": item}, "item"), "text") is None]
        self._items += [JsonContent(item) for item in items]
        return True

    def end(self) -> None:
        """End the result that is open: the next message begins, or the answer ends."""
        if self._open is None:
            return
        self._calls.begin_waiting()
        state = others(self._open, ("role", "content", "tool_call_id", "index"))
        output = [*([TextContent("".join(self._texts))] if self._texts else []), *self._items]
        name, ident = string(self._open, "name") or "tool", string(self._open, "tool_call_id")
        self._recorder.result(ident, output, name=name, state=state, provider_executed=True)
        self._open, self._texts, self._items = None, [], []

    def sources_in(self, message: Fields) -> Fields:
        """Return the sources of a message that repeats its deltas, where the open text has none (MiniMax)."""
        opened = self._recorder.open_of(None)
        is_cited = not isinstance(opened, OpenFragment) or opened.kind != "text" or "annotations" in opened.known
        return {} if is_cited else {"annotations": array(message, "annotations")}

    def one_message_each(self, choices: Iterable[Fields]) -> Iterator[Fields]:
        """Yield choices of one message each: the reason to finish and other facts are those of the last."""
        for choice in choices:
            blocks = message_each_block(mapping(choice, "message")) if choice.get("delta") is None else []
            *before, last = mappings(choice, "messages") or blocks or [{}]
            yield from [{"index": choice.get("index"), "message": message} for message in before]
            whole = {**others(choice, ("messages",)), "message": last} if last else choice
            has_beside = BESIDE in (mapping(whole, "delta") or mapping(whole, "message"))
            yield from self._with_run(whole) if has_beside else (whole,)

    def _with_run(self, choice: Fields) -> Iterator[Fields]:
        """Yield a choice behind what LiteLLM or Claude has run: calls that have not come, and results as messages."""
        key = "message" if choice.get("delta") is None else "delta"
        message, index = mapping(choice, key), choice.get("index")
        beside = mapping(message, BESIDE)
        own = mappings(message, "tool_calls") if key == "message" else []
        calls = {string(call, "id") or "": call for call in [*mappings(beside, _RUN), *own]}
        found = {string(each, "tool_call_id"): each for each in mappings(beside, _FOUND)}
        blocks = [block for name in _BLOCKS for block in mappings(beside, name)]
        found |= {(ident := string(each, "tool_use_id")): {"tool_call_id": ident, "result": [each]} for each in blocks}
        taken = {each: found[each] for each in found if each and (each in calls or self._calls.knows(each))}
        if not taken:
            yield choice
            return
        new = {ident: calls[ident] for ident in taken if not self._calls.knows(ident)}
        if new:
            yield {"index": index, key: {"tool_calls": [*new.values()]}}
        for ident, result in taken.items():
            if ident not in self._taken:  # the next chunks repeat it
                content = [each] if (each := mapping(result, "result")) else result.get("result")
                yield {"index": index, key: {"role": "tool", "content": content, **others(result, ("result",))}}
        self._taken.update(taken)
        left = [each for each in blocks if string(each, "tool_use_id") not in taken]
        rest = {**others(beside, (_RUN, _FOUND, *_BLOCKS)), **({_BLOCKS[-1]: left} if left else {})}
        unrun = [call for call in own if call is not new.get(string(call, "id") or "")]
        yield {**choice, key: {**message, BESIDE: rest or None, **({"tool_calls": unrun} if own else {})}}

    def add_executed(self, item: Fields) -> None:
        """Read a tool that Groq runs: first its arguments, then the same with its output, or what it has found."""
        key, more = ("executed", integer(item, "index")), others(item, _EXECUTED)
        if self._recorder.open_of(key) is None:
            name = string(item, "type") or "tool"
            self._recorder.tool_input(None, name, string(item, "arguments") or "", key=key, provider_executed=True)
        output = string(item, "output")
        if output is not None or any(array(more, each) or any(mapping(more, each).values()) for each in more):
            texts = [TextContent(output or "")] if output or not more else []
            self._recorder.result(None, [*texts, *([JsonContent(more)] if more else [])], key=key)

    def usage_of(self, ident: str | None, usage: Fields) -> Fields:
        """Return the usage so far: the last one, behind a result with those of the completions before it."""
        if not usage:
            return usage
        if self._has_results and ident != self._last[0]:
            self._before = _summed([self._before, self._last[1]])
        self._last = ident, usage
        return _summed([self._before, usage]) if self._before else usage


def _summed(usages: Sequence[Fields]) -> dict[str, Any]:
    """Return the sum of usage objects: their numbers are added, of other fields the last counts."""
    total: dict[str, Any] = {}
    for usage in usages:
        for key, value in others(usage).items():
            known = total.get(key)
            if inner := mapping(usage, key):
                total[key] = _summed([mapping(total, key), inner])
            elif isinstance(known, (int, float)) and isinstance(value, (int, float)) and not isinstance(value, bool):
                total[key] = known + value
            else:
                total[key] = value
    return total


def write_result(part: msg.Part) -> Item | None:
    """Return the message with the result of a call that the server has run so; `None` for any other part."""
    if not (isinstance(part, msg.ToolPart) and is_hosted(part.state) and has_result(part)):
        return None
    blocks = [
        thaw(item.value) if isinstance(item, JsonContent) and is_object(item.value) else text_block(text_of([item]))
        for item in part.output
    ]
    return {
        "role": "tool",
        "tool_call_id": wire_id(part),
        "content": text_or_blocks(blocks) or "",
        **thaw(part.result_state),
    }


def write_executed(call: msg.ToolPart) -> Item:
    """Return a call of the provider with its result or fault, if any: a JSON object as fields beside, or as text."""
    executed: Item = {"type": call.name, "arguments": input_text(call)}
    if has_result(call):
        objects = [item.value for item in call.output if isinstance(item, JsonContent) and is_object(item.value)]
        fields = [JsonContent(value) for value in objects if value.keys().isdisjoint(_EXECUTED)]
        text = text_of([item for item in call.output if item not in fields])
        executed["output"] = text or ("" if call.error is None else call.error.message)
        for item in fields:
            executed |= thaw(item.value)
    return executed


def split_at_results(parts: Iterable[msg.Part]) -> list[tuple[list[msg.Part], list[Item]]]:
    """Return the parts of each message of the assistant, the last one too, with the messages of results behind it."""
    split: list[tuple[list[msg.Part], list[Item]]] = [([], [])]
    for part in parts:
        result = write_result(part)
        if split[-1][1] and result is None:
            split.append(([], []))
        split[-1][0].append(part)
        split[-1][1].extend([result] if result else [])
    return [*split, ([], [])] if split[-1][1] else split
