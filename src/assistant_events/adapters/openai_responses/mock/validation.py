"""
Checks of a request to create a response, with the messages of the service.

They are the known checks (openai 3.54.0, and reports of refused requests of 2025 and 2026). Unknown keys are accepted.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from typing import Any, Final, NamedTuple, final

import attrs

from assistant_events.adapters.json_fields import Fields, flag, is_array, is_object, mapping, mappings, string
from assistant_events.adapters.openai_responses.mock.request_facts import input_items
from assistant_events.adapters.openai_responses.mock.runs import PREFIXES, SEALED, call_ids
from assistant_events.adapters.openai_responses.vocabulary import REFUSED, TOOLS
from assistant_events.mock.openai_api import check_length, check_name, missing, objects_of, wrong_type
from assistant_events.mock.requests import ApiError
from assistant_events.mock.runs import Body
from assistant_events.mock.signatures import SignatureError, SignatureLedger, Signed

MAX_ITEMS: Final = 10_000
"""Items of answers that are remembered."""

_ROLES: Final = ("user", "assistant", "system", "developer")
_PARTS: Final = {"assistant": ("output_text", "refusal")}
# can1357/oh-my-pi#977, duolahypercho/codex-router#780
_ID_PREFIXES: Final = {**PREFIXES, "function_call_output": "fc"}
_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")

GROK: Final = re.compile("(?i)grok")
"""Models of xAI, which takes any beginning of an id: `@ai-sdk/xai` sends calls with that of the call as their own."""

_OF_USER: Final = ("input_text", "input_image", "input_file", "input_audio")


_NOT_STORED: Final = (
    "Item with id '{}' not found. Items are not persisted when `store` is set to false. Try again with `store` set to "
    "true, or remove this item from your input."
)


class Neighbours(NamedTuple):
    """The items of its answer that are needed with an item: the reasoning before it, of a reasoning one behind it."""

    reasoning: str | None
    following: tuple[tuple[str, object], ...]
    """Ids and types."""


@final
class ItemLedger:
    """The items of answers, which of them led to which, and which are stored."""

    def __init__(self) -> None:
        self._items: OrderedDict[str, tuple[Fields, Neighbours]] = OrderedDict()
        self._stored: set[str] = set()
        self._copies: OrderedDict[str, str] = OrderedDict()
        """The ids of items that a conversation has stored without those of the answer, and the latter."""

    def note(self, output: list[Fields], *, stored: bool) -> None:
        """Remember the items of an answer."""
        ids = [string(item, "id") or "" for item in output]
        kinds = [item.get("type") for item in output]
        for place, (ident, item) in enumerate(zip(ids, output, strict=True)):
            before = ids[place - 1] if place and kinds[place - 1] == "reasoning" else None
            is_reasoning = kinds[place] == "reasoning"
            after = tuple(zip(ids[place + 1 :], kinds[place + 1 :], strict=True)) if is_reasoning else ()
            self._items[ident] = item, Neighbours(before, after)
            self._stored |= {ident} if stored else set()
        while len(self._items) > MAX_ITEMS:
            self._stored.discard(self._items.popitem(last=False)[0])

    def forget(self, output: list[Fields]) -> None:
        """Remember no longer that the items of an answer are stored."""
        self._stored -= {string(item, "id") or "" for item in output}

    def note_copies(self, items: list[Fields]) -> None:
        """Remember which items of a conversation follow a reasoning in place of those of its answer."""
        for reasoning, item in pairwise(items):
            known = self._items.get(string(reasoning, "id") or "")
            if known is not None and known[1].following and known[1].following[0][1] == _kind(item):
                self._copies[string(item, "id") or ""] = known[1].following[0][0]
        while len(self._copies) > MAX_ITEMS:
            self._copies.popitem(last=False)

    def resolved(self, item: Fields) -> Fields:
        """Return an item, or the one that a reference names. Raises `ApiError` when that is not stored."""
        if item.get("type") != "item_reference":
            return item
        ident = string(item, "id") or ""
        if ident not in self._stored:
            raise ApiError(404, f"Item with id '{ident}' not found.")
        return self._items[ident][0]

    def call_id_of(self, ident: str) -> str | None:
        """Return the id of the call of the item with this id; `None` when it is not known, or no call."""
        known = self._items.get(ident)
        return None if known is None else string(known[0], "call_id")

    def has_plain(self, call_id: object) -> bool:
        """Return whether an answer has this call without a namespace, as a fixture may have it."""
        calls = [item for item, _ in self._items.values() if item.get("call_id") == call_id]
        return any(not item.get("namespace") for item in calls)

    def _follows(self, item: Fields, following: Iterable[tuple[str, object]]) -> bool:
        """
        Return whether an item is one of those that a reasoning led to.

        The AI SDK leaves its id out, the Agent Framework makes one up for a call, the command of Copilot for a message
        that is not stored, and Agno leaves items before it out.
        """
        ident, call_id = string(item, "id") or "", string(item, "call_id")
        own = self._copies.get(ident, ident)
        return any(
            own == other or (_kind(item) == kind and (not ident or self._may_be(ident, call_id, other)))
            for other, kind in following
        )

    def _may_be(self, ident: str, call_id: str | None, other: str) -> bool:
        """Return whether an item with an id that is made up may be another one: the same call, or not stored."""
        if call_id:
            return call_id == self.call_id_of(other)
        return ident not in self._items and other not in self._stored

    def check(self, items: list[Fields]) -> None:
        """
        Check that a reasoning has the item that it led to, and the other way round. Raises `ApiError`.

        Empty messages, as LangChain for JavaScript sends them in front of calls, are between nothing.
        """
        items = [item for item in items if item.get("role") != "assistant" or item.get("id") or item.get("content")]
        ids = [string(item, "id") for item in items]
        for place, (ident, item) in enumerate(zip(ids, items, strict=True)):
            known = self._items.get(ident or "")
            if known is None:
                continue
            has_content = item.get("encrypted_content") or item.get("content") or ident in self._stored
            if item.get("type") == "reasoning" and not has_content:
                raise ApiError(404, _NOT_STORED.format(ident))
            reasoning, following = known[1]
            if following and not any(self._follows(each, following) for each in items[place + 1 : place + 2]):
                text = f"Item '{ident}' of type 'reasoning' was provided without its required following item."
                raise _rejected(text, param="input")
            if reasoning is not None and (place == 0 or ids[place - 1] != reasoning):
                text = (
                    f"Item '{ident}' of type '{item.get('type')}' was provided without its required 'reasoning' item: "
                )
                raise _rejected(f"{text}'{reasoning}'.", param="input")


def _kind(item: Fields) -> str | None:
    """Return the type of an item. A message of the assistant may be without its type, as the AI SDK sends it."""
    return string(item, "type") or ("message" if item.get("role") == "assistant" else None)


@final
@attrs.frozen(kw_only=True)
class Known:
    """What the mock remembers: signatures (`None`: not checked), items, and those of the conversation before."""

    signatures: SignatureLedger | None
    items: ItemLedger
    earlier: list[Fields]


def check_create(body: Body, known: Known) -> None:
    """
    Check a request as the service does.

    Raises:
        ApiError: With status 400 or 404, for the first fault.
    """
    _check_fields(body)
    _check_tools(body)
    _check_tool_choice(body)
    items = [known.items.resolved(item) for item in _checked_items(body)]
    check_items("input", items, {} if GROK.search(string(body, "model") or "") else _ID_PREFIXES)
    _check_namespaces(body, items, known.items)
    _check_ids([*known.earlier, *items])
    _check_calls(items, known.earlier)
    if not body.get("previous_response_id") and not body.get("conversation"):
        known.items.check(items)
    if known.signatures is not None:
        _check_signatures(items, known.signatures)


def check_items(name: str, items: list[Fields], prefixes: Mapping[str, str] = _ID_PREFIXES) -> None:
    """Check each item of a field of a request, with beginnings of ids by type. Raises `ApiError`."""
    for place, item in enumerate(items):
        _check_id(f"{name}[{place}].id", string(item, "id"), prefixes.get(string(item, "type") or "message", ""))
        _check_item(f"{name}[{place}]", item)


def _rejected(message: str, code: str | None = None, param: str | None = None) -> ApiError:
    return ApiError(400, message, param=param, code=code)


def _check_fields(body: Body) -> None:
    if not string(body, "model") and not body.get("prompt"):
        raise missing("model")
    for name in ("stream", "background", "store"):
        if body.get(name) is not None and flag(body, name) is None:
            raise wrong_type(name, "a boolean", body[name])
    if body.get("background") is True and body.get("store") is False:
        raise _rejected("Background mode requires 'store' to be true.")
    if body.get("previous_response_id") and body.get("conversation"):
        raise _rejected("Mutually exclusive parameters: 'previous_response_id' and 'conversation'.")


def _check_tools(body: Body) -> None:
    for place, tool in enumerate(objects_of(body, "tools")):
        if not tool.get("type"):
            raise missing(f"tools[{place}].type")
        if tool["type"] in ("function", "custom") and not tool.get("name"):
            raise missing(f"tools[{place}].name")
        check_name(f"tools[{place}].name", string(tool, "name"))


def _check_tool_choice(body: Body) -> None:
    choice = mapping(body, "tool_choice")
    if choice.get("type") in ("function", "custom"):
        known = [tool.get("name") for tool in mappings(body, "tools") if tool["type"] == choice["type"]]
        if choice.get("name") not in known:
            raise _rejected(f"Tool choice '{choice['type']}' not found in 'tools' parameter.", param="tool_choice")


def _check_ids(items: list[Fields]) -> None:
    seen: set[str] = set()
    for ident in [string(item, "id") or "" for item in items]:
        if ident in seen:
            text = f"Duplicate item found with id {ident}. Remove duplicate items from your input and try again."
            raise _rejected(text, param="input")
        seen |= {ident} if ident else set()


def _checked_items(body: Body) -> list[Fields]:
    given = body.get("input")
    if given is None and not body.get("prompt"):
        raise missing("input")
    if given is not None and not isinstance(given, str) and not is_array(given):
        raise wrong_type("input", "one of a string or an array", given)
    items: Any = given if is_array(given) else ()
    for place, item in enumerate(items):
        if not is_object(item):
            raise wrong_type(f"input[{place}]", "an object", item)
    return input_items(body)


def _check_id(where: str, ident: str | None, prefix: str) -> None:
    check_length(where, ident)
    if ident is None:
        return
    text = f"Invalid '{where}': '{ident}'. Expected an ID that "
    if not _ID.fullmatch(ident):  # langchain-ai/langchainjs#11044
        text += "contains letters, numbers, underscores, or dashes, but this value contained additional characters."
        raise _rejected(text, "invalid_value", where)
    if not ident.startswith(prefix):
        raise _rejected(f"{text}begins with '{prefix}'.", "invalid_value", where)


def _check_item(where: str, item: Fields) -> None:
    kind, role = string(item, "type") or "message", item.get("role")
    if kind == "message":
        if role not in _ROLES:
            raise _rejected(f"Invalid value for '{where}.role'. Supported values are: {_listed(_ROLES)}.")
        if not isinstance(item.get("content"), str) and not is_array(item.get("content")):
            raise missing(f"{where}.content")
        supported = _PARTS.get(str(role), _OF_USER)
        for place, part in enumerate(mappings(item, "content")):
            if part.get("type") not in supported:
                raise _rejected(
                    f"Invalid value: '{part.get('type')}'. Supported values are: {_listed(supported)}.",
                    "invalid_value",
                    f"{where}.content[{place}]",
                )
            _check_part(f"{where}.content[{place}]", part)
    for name in sorted(REFUSED[kind] & item.keys()) if kind == "image_generation_call" else ():
        raise _rejected(f"Unknown parameter: '{where}.{name}'.", "unknown_parameter", f"{where}.{name}")
    needed = {"function_call": ("call_id", "name", "arguments"), "function_call_output": ("call_id", "output")}
    for name in (*needed.get(kind, ()), *(("summary",) if kind == "reasoning" else ())):
        if item.get(name) is None:
            raise missing(f"{where}.{name}")
    _check_call(where, kind, item)


def _check_part(where: str, part: Fields) -> None:
    """Check the text or the address of a part (types of openai 3.54.0, aplpolaris/promptfx#724)."""
    name = {"refusal": "refusal", "input_image": "image_url"}.get(part["type"], "text")
    value, where = part.get(name), f"{where}.{name}"
    if value is None and part["type"] in ("input_text", "output_text", "refusal"):
        raise missing(where)
    if value is not None and not isinstance(value, str):
        raise wrong_type(where, "an image URL" if name == "image_url" else "a string", value)


def _check_call(where: str, kind: str, item: Fields) -> None:
    """Check what is of a call or of its output."""
    if kind in ("function_call", "custom_tool_call"):
        check_length(f"{where}.call_id", string(item, "call_id"))
        check_name(f"{where}.name", string(item, "name"))
    for key in ("name", "arguments") if kind == "function_call" else ():
        if not isinstance(item[key], str):
            raise wrong_type(f"{where}.{key}", "a string", item[key])
    if kind == "function_call_output" and is_object(item["output"]):
        raise wrong_type(f"{where}.output", "one of an array of objects or string", item["output"])


def _listed(words: Collection[str]) -> str:
    return ", ".join([f"'{word}'" for word in words])


def _check_calls(items: list[Fields], earlier: list[Fields]) -> None:
    before = {string(item, "call_id") for item in earlier if str(item.get("type")).endswith("_output")}
    called = {*(each for each in call_ids(earlier) if each not in before), *call_ids(items)}
    answered = {string(item, "call_id") for item in items if string(item, "type") in TOOLS.outputs}
    for call_id in [each for each in called if each not in answered]:
        raise _rejected(f"No tool output found for function call {call_id}.", param="input")
    for item in items:
        of_call = string(item, "call_id")
        if item.get("type") in ("function_call_output", "custom_tool_call_output") and of_call not in called:
            raise _rejected(f"No tool call found for function call output with call_id {of_call}.", param="input")


def _check_namespaces(body: Body, items: list[Fields], known: ItemLedger) -> None:
    """Check that each call of a tool in a namespace alone has one, unless it came so (earendil-works/pi#7709)."""
    tools = mappings(body, "tools")
    inside = {string(each, "name") for space in tools for each in mappings(space, "tools")}
    missing = inside - {string(tool, "name") for tool in tools} - {None}
    for place, item in enumerate(items):
        is_plain = item.get("type") == "function_call" and not item.get("namespace") and item["name"] in missing
        if is_plain and not known.has_plain(item["call_id"]):
            text = f"Missing namespace for function_call '{item['name']}'. It does not exist in the default namespace. "
            text += "Round-trip the model's function_call item with its namespace field included."
            raise _rejected(text, param=f"input[{place}].namespace")


def _check_signatures(items: list[Fields], ledger: SignatureLedger) -> None:
    check = ledger.checker()
    for item in items:
        content = item.get("encrypted_content")
        if item.get("type") not in ("reasoning", "compaction") or content is None:
            continue
        try:
            check(Signed("the content", str(content), SEALED))
        except SignatureError as error:
            raise _rejected(
                f"The encrypted content for item {item.get('id')} could not be verified. Reason: {error}",
                "invalid_encrypted_content",
            ) from None
