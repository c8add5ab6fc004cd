"""
The parts of a message as the items of a wire: which parts are one item, and the order of the items.

A part has the number of its item in its state (`DecoderBase.item_key`); the result of a call has one of its own. Parts
without a number are items by themselves and follow the part before them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Any, Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from assistant_events import messages as msg
from assistant_events.adapters.call_results import NO_OUTPUT
from assistant_events.adapters.json_fields import Fields, integer, mappings, others, string, without
from assistant_events.adapters.model_names import ALTERNATES, MISTRAL
from assistant_events.history import has_result
from assistant_events.values import State, thaw

K = TypeVar("K", bound=Hashable)


class ItemParts(NamedTuple, Generic[K]):
    """The parts of one item of the wire."""

    kind: K
    """What the adapter calls items of this kind."""

    parts: list[Any]
    """Its parts, all of one class: a call, or the call that it is the result of, is alone."""
    # Any: the kind determines the class.


def number_of(state: State, item_key: str) -> int | None:
    """Return the number of the item that a part or a result belongs to; `None` when it is not known."""
    number = state.get(item_key)
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def last_number(message: msg.AssistantMessage, item_key: str) -> int:
    """Return the highest number of an item; -1 when there is none."""
    states = [state for part in message.parts for state in (part.state, getattr(part, "result_state", part.state))]
    return max((number for state in states if (number := number_of(state, item_key)) is not None), default=-1)


def items_of(
    message: msg.AssistantMessage, item_key: str, kind_of: Callable[[msg.Part], K | None], result: K
) -> list[ItemParts[K]]:
    """
    Return the items of a message in the order of the wire.

    Args:
        message: The message.

        item_key: The key of the number in the states.

        kind_of: The kind of the item of a part; `None` when it has none.

        result: The kind of a result of a call that the provider ran.
    """
    found: dict[object, tuple[int, ItemParts[K]]] = {}
    latest = -1
    for place, part in enumerate(message.parts):
        pieces = [(part.state, kind_of(part))]
        if isinstance(part, msg.ToolPart) and has_result(part):
            pieces.append((part.result_state, result))
        for state, kind in pieces:
            if kind is None:
                continue
            number = number_of(state, item_key)
            latest = latest if number is None else number
            address = (place, kind) if number is None else (None, number, kind)
            found.setdefault(address, (latest, ItemParts(kind, [])))[1].parts.append(part)
    return [item for _, item in sorted(found.values(), key=lambda each: each[0])]


def in_item_order(parts: Iterable[tuple[int, msg.Part]], item_key: str) -> list[tuple[int, msg.Part]]:
    """Return parts, each with its place, in the order of their items, which may end in another one than they began."""
    latest = -1
    found: list[tuple[int, tuple[int, msg.Part]]] = []
    for place, part in parts:
        number = number_of(part.state, item_key)
        latest = latest if number is None else number
        found.append((latest, (place, part)))
    return [each for _, each in sorted(found, key=lambda each: each[0])]


BlockKind: TypeAlias = Literal["text", "reasoning", "call", "result", "media", "opaque"]
"""What is written alike on a wire with a block for each part: the classes of parts, and results."""


def block_kind(part: msg.Part) -> BlockKind:
    """Return the kind of the block of a part. The result of a call is a block of its own."""
    return "call" if isinstance(part, msg.ToolPart) else part.type


def is_blank(part: msg.Part) -> bool:
    """Return whether a part is a text of blanks."""
    return isinstance(part, msg.TextPart) and not part.text.strip()


def content_blocks(
    message: msg.AssistantMessage,
    item_key: str,
    write_block: Callable[[BlockKind, Sequence[Any]], dict[str, Any] | None],
) -> list[dict[str, Any]]:
    """
    Return the blocks of an answer, as a document lists them. Results of the app are input, and not written.

    Args:
        message: The message.

        item_key: As for `items_of`: parts with the same number are one block.

        write_block: Returns the block of parts of one kind, of a call or a result one; `None` when they have none.
    """
    items: list[ItemParts[BlockKind]] = items_of(message, item_key, block_kind, "result")
    return [block for item in items if (block := write_block(item.kind, item.parts)) is not None]


def joined_state(kind: BlockKind, parts: Iterable[Any]) -> dict[str, Any]:
    """Return the state of an item of *parts* of one kind as plain JSON: arrays are joined, else the last counts."""
    # Any: the kind determines the class of the parts.
    joined: dict[str, Any] = {}
    for part in parts:
        for key, value in thaw(part.result_state if kind == "result" else part.state).items():
            before = joined.get(key)
            joined[key] = before + value if isinstance(before, list) and isinstance(value, list) else value
    return joined


def piece_key(piece: Fields) -> tuple[str | None, int | None]:
    """Return what the pieces of one item of an array have in common: its type, and its index if it has one."""
    return string(piece, "type"), integer(piece, "index")


def begins_item(known: Fields, piece: Fields, texts: Collection[str]) -> bool:
    """
    Return whether a piece begins another item, though it has the key of the *known* one.

    It has another id, other `arguments` of a tool that OpenRouter has run, or other `data`, which is whole where items
    have no index; or the known one has its signature, which ends it, and the piece has a text or another one.
    """
    whole = ["id", "tool_call_id", "arguments", *(["data"] if integer(piece, "index") is None else [])]
    if any(string(known, name) and string(piece, name) not in (None, "", string(known, name)) for name in whole):
        return True
    signature = string(known, "signature")
    has_more = any(string(piece, name) for name in texts) or (string(piece, "signature") or signature) != signature
    return bool(signature) and has_more


def joined_pieces(pieces: Iterable[Fields], texts: Collection[str]) -> list[dict[str, Any]]:
    """
    Return the items of an array that comes in pieces, each once and in their order.

    Pieces with the same `piece_key` are one item, up to one that begins another (`begins_item`): the fields *texts* are
    joined, of others the last counts.
    """
    items: list[dict[str, Any]] = []
    latest: dict[Hashable, dict[str, Any]] = {}
    for piece in pieces:
        item = latest.get(piece_key(piece))
        if item is None or begins_item(item, piece, texts):
            item = latest[piece_key(piece)] = {}
            items.append(item)
        for name, value in piece.items():
            before = item.get(name) if name in texts else None
            item[name] = before + value if isinstance(before, str) and isinstance(value, str) else value
    return items


def sent_details(details: Iterable[Fields]) -> list[dict[str, Any]]:
    """
    Return details of a reasoning without what OpenRouter refuses: an encrypted one without its data (cline#8214).

    Without data, the id is of an item of OpenAI that is stored nowhere: it is not found (langchain#37777).
    """
    empty = {"type", "id", "format", "index"}
    kept = [detail for detail in details if detail.get("type") != "reasoning.encrypted" or others(detail, empty)]
    sealed = [detail.get("id") for detail in kept if detail.get("data")]
    lost = [str(detail.get("id")).startswith("rs_") and detail["id"] not in sealed for detail in kept]
    return [without(detail, {"id"}) if is_lost else {**detail} for detail, is_lost in zip(kept, lost, strict=True)]


def text_block(text: str) -> dict[str, Any]:
    """Return a text as a content block that has nothing else."""
    return {"type": "text", "text": text}


def text_or_blocks(blocks: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """Return content blocks, or the text alone where they are one `text_block`."""
    return blocks[0]["text"] if len(blocks) == 1 and _is_text_alone(blocks[0]) else blocks


def with_one_text(message: dict[str, Any]) -> dict[str, Any]:
    """
    Return a message whose text blocks are one text, a line each; an empty result becomes `NO_OUTPUT`.

    Text models of Workers AI, SambaNova and NIM refuse an array (anomalyco/opencode#30381), Gemini behind OpenRouter an
    empty result (Roo-Code#10672).
    """
    blocks, is_result = mappings(message, "content"), message["role"] in ("tool", "function")
    if blocks and all(map(_is_text_alone, blocks)):
        return {**message, "content": "\n".join([each["text"] for each in blocks])}
    return {**message, "content": NO_OUTPUT} if is_result and not message["content"] else message


def _is_text_alone(block: Fields) -> bool:
    return block == text_block(string(block, "text") or "")


def joined_texts(blocks: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """
    Return content blocks, in which adjacent ones of `text_block` are one.

    So are those with an array of thoughts, of which Mistral takes one at the start (earendil-works/pi#9674).
    """
    joined: list[dict[str, Any]] = []
    for block in blocks:
        before = joined[-1] if joined else {}
        if joined and _is_text_alone(before) and _is_text_alone(block):
            block = text_block(joined.pop()["text"] + block["text"])
        elif all(isinstance(each.get("thinking"), list) for each in (block, before)):
            more = {key: value for key, value in block.items() if key != "thinking"}
            if all(before.get(key, value) == value for key, value in more.items()):  # else two signatures
                block = {**joined.pop(), **more, "thinking": before["thinking"] + block["thinking"]}
        joined.append(block)
    return joined


def joined_roles(items: Iterable[dict[str, Any]], field: str = "content", *, apart: str = "") -> list[dict[str, Any]]:
    """
    Return messages of a request, in which adjacent ones of one role are one.

    Args:
        items: The messages.

        field: Their list of blocks.

        apart: Key of blocks that are in no message with others; each of the *items* has such or others.
    """
    joined: list[dict[str, Any]] = []
    kind: tuple[str, bool] | None = None
    for item in items:
        before, kind = kind, (item["role"], any(apart in block for block in item[field]))
        if kind == before:
            joined[-1] = {**item, field: joined[-1][field] + item[field]}
        else:
            joined.append(item)
    return joined


def joined_prompts(items: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages whose content is a text or a list of blocks, in which adjacent ones of the user are one."""
    joined: list[dict[str, Any]] = []
    for item in items:
        if joined and item["role"] == joined[-1]["role"] == "user":
            contents = [joined.pop()["content"], item["content"]]
            blocks = [[text_block(each)] if isinstance(each, str) else each for each in contents]
            are_texts = all(isinstance(each, str) for each in contents)
            item = {**item, "content": "\n\n".join(contents) if are_texts else blocks[0] + blocks[1]}
        joined.append(item)
    return joined


BETWEEN: Final = "I have the results."
"""The text of an answer between results and a message of the user, where a server refuses to have one behind them."""


def bridged(items: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages, with `BETWEEN` of the assistant between a result and one of the user."""
    sent: list[dict[str, Any]] = []
    for item in items:
        if sent and (sent[-1]["role"], item["role"]) == ("tool", "user"):
            sent.append({"role": "assistant", "content": BETWEEN})
        sent.append(item)
    return sent


def ordered_for(model: str, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages in an order that a model takes behind any server."""
    items = bridged(items) if MISTRAL.search(model) else items
    return joined_prompts(items) if ALTERNATES.search(model) else items


def one_call_each(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """
    Return messages in which each of the assistant has one call, with its result behind it.

    Those of Claude, which the ids of its calls show, stay: its thoughts precede all calls, and it takes several calls.
    """
    results = {str(item.get("tool_call_id")): item for item in items if item["role"] == "tool"}
    sent: list[dict[str, Any]] = []
    moved: set[int] = set()
    for item in items:
        calls = item.get("tool_calls", ())
        if len(calls) < 2 or str(calls[0].get("id")).startswith("toolu_"):
            sent += [] if id(item) in moved else [item]
            continue
        for call in calls:
            message = item if call is calls[0] else {"role": item["role"], "content": None}
            result = results[str(call.get("id"))]
            moved.add(id(result))
            sent += [{**message, "tool_calls": [call]}, result]
    return sent


def results_behind(contents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """
    Return the contents of an answer of Gemini with all results directly behind the calls, where some of these wait.

    Those of the role `user` hold results that the service gave.
    """
    waiting = 0
    for at, content in enumerate(contents):
        waiting += sum([("functionCall" in part) - ("functionResponse" in part) for part in content["parts"]])
        waiting = max(0, waiting)
        if content["role"] == "user" and waiting > 0:
            behind = sorted(contents[at:], key=lambda each: bool(each["role"] == "user"))
            return joined_roles([*contents[:at], *behind], "parts")
    return contents
