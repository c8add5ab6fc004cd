"""
Checks of a request to create a message, with the messages of the service.

They are the known checks (Claude's documentation, anthropic 2.12.0, and reports of refused requests of 2025 and 2026).
Unknown keys are accepted.
"""

from __future__ import annotations

import re
from itertools import pairwise, takewhile
from typing import Any, Final, TypeAlias

from assistant_events.adapters.anthropic_messages.mock.runs import sealed_content, signature_key
from assistant_events.adapters.anthropic_messages.vocabulary import is_summary
from assistant_events.adapters.claude import NO_PREFILL, TAKES_NO_PREFILL, undeclared_references
from assistant_events.adapters.json_fields import Fields, flag, is_array, is_object, mapping, mappings, string
from assistant_events.adapters.media_urls import IMAGES
from assistant_events.mock.requests import rejected
from assistant_events.mock.runs import Body
from assistant_events.mock.signatures import SignatureError, SignatureLedger, Signed, tool_loop
from assistant_events.values.json_values import json_type

Blocks: TypeAlias = list[Fields]

_ROLES: Final = ("user", "assistant", "system")
_ID: Final = re.compile(r"^[a-zA-Z0-9_-]+$")
_NAME: Final = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")
_INTERLEAVED: Final = "interleaved-thinking-"
_LEAST_BUDGET: Final = 1024

_ENDS_WITH_THOUGHT: Final = "The final block in an assistant message cannot be `thinking`."

_NO_PLACE: Final = "role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result"
_NO_RESULT: Final = (
    "`tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block must have a "
    "corresponding `tool_result` block in the next message."
)
_NO_CALL: Final = (
    "unexpected `tool_use_id` found in `tool_result` blocks: {}. Each `tool_result` block must have a corresponding "
    "`tool_use` block in the previous message."
)
_MORE_RESULTS: Final = "each tool_use must have a single result. Found multiple `tool_result` blocks with id: {}"
_NO_RESULT_OF_SERVICE: Final = "`{}` tool use with id `{}` was found without a corresponding `{}_tool_result` block"
_NO_CALL_OF_SERVICE: Final = (
    "unexpected `tool_use_id` found in `{0}` blocks: {1}. Each `{0}` block must have a corresponding `server_tool_use` "
    "block before it."
)
_CHANGED: Final = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must "
    "remain as they were in the original response."
)
_NO_THINKING: Final = (
    "Expected `thinking` or `redacted_thinking`, but found `{}`. When `thinking` is enabled, a final `assistant` "
    "message must start with a thinking block."
)


def check_create(version: str | None, body: Body, ledger: SignatureLedger | None, betas: str = "") -> None:
    """
    Check a request as the service does; its *version* of the API is in a header, at Bedrock and Vertex in the body.

    Raises:
        ApiError: With status 400, for the first fault.
    """
    if not version:
        raise rejected("anthropic-version: header is required")
    _check_fields(body)
    _check_tools(body)
    _check_thinking(betas, body)
    messages = [_checked_message(place, message) for place, message in enumerate(_messages(body))]
    _check_system(messages)
    _check_calls(messages)
    _check_references(body, messages)
    _check_server_calls(messages)
    _check_last_blocks(messages)
    _check_first_block(body, messages)
    _check_prefill(body, messages)
    if ledger is not None:
        _check_signatures(messages, ledger)


def is_thinking(body: Body) -> bool:
    """Return whether a request has thinking on, so that its answers begin with a thought."""
    return mapping(body, "thinking").get("type") == "enabled"


def _messages(body: Body) -> list[Any]:
    messages = body.get("messages")
    if not is_array(messages):
        raise rejected("messages: Field required" if messages is None else "messages: Input should be a valid list")
    if not messages:
        raise rejected("messages: at least one message is required")
    return list(messages)


def _check_fields(body: Body) -> None:
    for name, kind, expected in (("model", str, "a valid string"), ("max_tokens", int, "a valid integer")):
        value = body.get(name)
        if value is None:
            raise rejected(f"{name}: Field required")
        if not isinstance(value, kind) or isinstance(value, bool):
            raise rejected(f"{name}: Input should be {expected}")
    if body["max_tokens"] < 1:
        raise rejected("max_tokens: Input should be greater than or equal to 1")
    if body.get("stream") is not None and flag(body, "stream") is None:
        raise rejected("stream: Input should be a valid boolean")
    for text in [string(block, "text") for block in mappings(body, "system")]:
        if text is not None and not text.strip():  # dimagi/open-chat-studio#1969, agentjido/req_llm#711
            raise rejected(
                f"system: text content blocks must {'contain non-whitespace text' if text else 'be non-empty'}"
            )


def _check_tools(body: Body) -> None:
    names: set[str] = set()
    given = body.get("tools")
    if given is not None and not is_array(given):
        raise rejected("tools: Input should be a valid list")
    for place, tool in enumerate(given or ()):
        if not is_object(tool):
            raise rejected(f"tools.{place}: Input should be an object, got {json_type(tool)}")
        name = string(tool, "name")
        if tool.get("type") == "function":
            what = "Input tag 'function' found using 'type' does not match any of the expected tags: 'custom'"
            raise rejected(f"tools.{place}: {what}")
        if tool.get("type") in (None, "custom"):
            for field in ("name", "input_schema"):
                if not tool.get(field):
                    raise rejected(f"tools.{place}.{field}: Field required")
            _check_name(f"tools.{place}.custom.name", tool["name"], _NAME)
        if name in names:
            raise rejected("tools: Tool names must be unique.")
        names |= {name} if name else set()
    if body.get("tool_choice") is not None and not body.get("tools"):
        raise rejected("tool_choice: may only be specified while providing `tools`.")


def _check_thinking(betas: str, body: Body) -> None:
    thinking = mapping(body, "thinking")
    if thinking.get("type") != "enabled":
        return
    budget = thinking.get("budget_tokens")
    if not isinstance(budget, int) or budget < _LEAST_BUDGET:
        raise rejected(f"thinking.enabled.budget_tokens: Input should be greater than or equal to {_LEAST_BUDGET}")
    # With thoughts between calls it is the budget of all of them (documentation of extended thinking).
    if budget >= body["max_tokens"] and not (_INTERLEAVED in betas and body.get("tools")):
        raise rejected("`max_tokens` must be greater than `thinking.budget_tokens`.")
    if string(mapping(body, "tool_choice"), "type") in ("any", "tool"):
        raise rejected("Thinking may not be enabled when tool_choice forces tool use.")


def _checked_message(place: int, message: object) -> tuple[str, Blocks]:
    """Return the role and the blocks of a message."""
    where = f"messages.{place}"
    if not is_object(message):
        raise rejected(f"{where}: Input should be an object, got {json_type(message)}")
    role, content = message.get("role"), message.get("content")
    if role not in _ROLES:
        raise rejected(f"{where}.role: Input should be 'user', 'assistant' or 'system'")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not is_array(content) or not content:
        raise rejected(f"{where}.content: expected a text or at least one block")
    if place == 0 and role == "assistant" and not (is_object(content[0]) and is_summary(content[0])):
        raise rejected('messages: first message must use the "user" role')
    for number, block in enumerate(content):
        _check_block(f"{where}.content.{number}", block, role)
    if all(block["type"] == "text" and not str(block["text"]).strip() for block in content):
        raise rejected("messages: text content blocks must contain non-whitespace text")
    return role, list(content)


def _check_block(where: str, block: object, role: str) -> None:
    if not is_object(block) or not isinstance(block.get("type"), str):
        raise rejected(f"{where}.type: Field required")
    kind: str = block["type"]
    required = {"text": ("text",), "tool_use": ("id", "name", "input"), "tool_result": ("tool_use_id",)}.get(kind, ())
    for field in (*required, *((signature_key(block),) if sealed_content(block) is not None else ())):
        if block.get(field) is None:
            raise rejected(f"{where}.{kind}.{field}: Field required")
    match kind:
        case "text":
            _check_text(where, block["text"], role)
        case "compaction" if block.get("content") == "":
            raise rejected(f"{where}.compaction.content: String should have at least 1 character")
        case "image":
            _check_image(where, block)
        case "tool_use":
            _check_call(f"{where}.tool_use", block)
        case "tool_result":
            _check_result(f"{where}.tool_result", block)
        case _:
            pass
    if (kind == "tool_result") != (role == "user") and kind in ("tool_result", "tool_use", "thinking"):
        raise rejected(f"{where}: `{kind}` blocks cannot be in `{role}` messages")


def _check_call(where: str, block: Fields) -> None:
    for field, pattern in (("id", _ID), ("name", _NAME)):
        _check_name(f"{where}.{field}", block[field], pattern)
    if not is_object(block["input"]):
        raise rejected(f"{where}.input: Input should be a valid dictionary")


def _check_name(where: str, name: object, pattern: re.Pattern[str]) -> None:
    if not isinstance(name, str):
        raise rejected(f"{where}: Input should be a valid string")
    if not pattern.fullmatch(name):
        raise rejected(f"{where}: String should match pattern '{pattern.pattern}'")


def _check_text(where: str, text: object, role: str) -> None:
    if not isinstance(text, str):
        raise rejected(f"{where}.text.text: Input should be a valid string")
    if text == "":
        raise rejected(f"{where}: text content blocks must be non-empty")
    if role == "user" and not text.strip():
        raise rejected(f"{where}: text content blocks must contain non-whitespace text")


def _check_image(where: str, block: Fields) -> None:
    source = mapping(block, "source")
    if not source:
        raise rejected(f"{where}.image.source: Field required")
    if source.get("type") == "base64" and string(source, "media_type") not in IMAGES:
        what = "Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
        raise rejected(f"{where}.image.source.base64.media_type: {what}")


def _check_result(where: str, block: Fields) -> None:
    content = block.get("content")
    for place, each in enumerate(mappings(block, "content")):
        if string(each, "type") == "image":
            _check_image(f"{where}.content.{place}", each)
    kinds = [string(each, "type") for each in mappings(block, "content")]
    if any(each.get("text") == "" for each in mappings(block, "content")):
        raise rejected("messages: text content blocks must be non-empty")
    if flag(block, "is_error") and not content:
        raise rejected(f"{where}: content cannot be empty if `is_error` is true")
    if flag(block, "is_error") and any(kind != "text" for kind in kinds):
        raise rejected(f"{where}: all content must be type `text` if `is_error` is true")


def _check_system(messages: list[tuple[str, Blocks]]) -> None:
    """Check where messages of the system are, and what is in them (measured in 2026-07 and 2026-10)."""
    for place, (_, blocks) in [each for each in enumerate(messages) if each[1][0] == "system"]:
        if not place:
            raise rejected("messages.0: use the top-level 'system' parameter for the initial system prompt")
        before, last = messages[place - 1]
        if before == "assistant" and not str(last[-1]["type"]).endswith("_tool_result"):
            raise rejected(f"messages.{place}: {_NO_PLACE}")
        if [role for role, _ in messages[place + 1 : place + 2]] == ["user"]:
            raise rejected(f"messages.{place}: role 'system' must precede an 'assistant' message or end the array")
        if any(block["type"] not in ("text", "tool_addition", "tool_removal") for block in blocks):
            what = "role 'system' supports text, tool_addition, and tool_removal blocks only"
            raise rejected(f"messages.{place}: {what}")


def _check_calls(messages: list[tuple[str, Blocks]]) -> None:
    """Check that the results of all calls are at the start of the next message, and no others."""
    known: set[str] = set()
    waiting: list[str] = []
    for place, (role, blocks) in enumerate(messages):
        if role == "assistant":
            calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
            if len(calls) > len(set(calls)) or known.intersection(calls):
                raise rejected(f"messages.{place}: `tool_use` ids must be unique")
            known.update(calls)
            before = waiting if place and messages[place - 1][0] == "assistant" else []
            _check_texts(place, blocks, before)
            waiting = [*before, *calls]
            continue
        given = [block["tool_use_id"] for block in takewhile(_is_result, blocks)]
        missing = [call_id for call_id in waiting if call_id not in given]
        if missing:
            raise rejected(f"messages.{place - 1}: {_NO_RESULT.format(', '.join(missing))}")
        for number, block in enumerate(blocks):
            call_id = block.get("tool_use_id")
            if _is_result(block) and (call_id not in waiting or call_id in given[:number]):
                text = _NO_CALL if call_id not in waiting else _MORE_RESULTS
                raise rejected(f"messages.{place}.content.{number}: {text.format(call_id)}")
        waiting = []
    if waiting:
        raise rejected(f"messages.{len(messages) - 1}: {_NO_RESULT.format(', '.join(waiting))}")


def _check_server_calls(messages: list[tuple[str, Blocks]]) -> None:
    """
    Check that results of the service's tools are behind their calls, and that no prompt is behind a call without one.

    (Reports: anthropics/claude-code#62577, langchain-ai/langchainjs#11064, vercel/ai#18785; a call waits for the
    results of the app, openai/openai-agents-js#1542.)
    """
    waiting: dict[str | None, tuple[int, str]] = {}
    known: set[str | None] = set()
    for place, (role, blocks) in enumerate(messages):
        if role == "user" and not all(map(_is_result, blocks)):
            for call_id, (at, name) in waiting.items():
                raise rejected(f"messages.{at}: {_NO_RESULT_OF_SERVICE.format(name, call_id, name)}")
        for number, block in enumerate(blocks if role == "assistant" else ()):
            kind, call_id = block["type"], string(block, "tool_use_id")
            if kind == "server_tool_use":
                waiting[string(block, "id")] = place, str(block.get("name"))
                known.add(string(block, "id"))
            elif kind.endswith("_tool_result") and kind != "mcp_tool_result":
                if call_id not in known:
                    raise rejected(f"messages.{place}.content.{number}: {_NO_CALL_OF_SERVICE.format(kind, call_id)}")
                waiting.pop(call_id, None)


def _check_texts(place: int, blocks: Blocks, waiting: list[str]) -> None:
    """Check that no text is behind a call of the app (recorded: anomalyco/opencode, a malformed order of 2026-05)."""
    for block in blocks:
        if block["type"] == "tool_use":
            waiting = [*waiting, block["id"]]
        elif block["type"] == "text" and waiting:
            raise rejected(f"messages.{place}: {_NO_RESULT.format(', '.join(waiting))}")


def _check_references(body: Body, messages: list[tuple[str, Blocks]]) -> None:
    """Check that the request has the tools that searches of the provider and of the app have found."""
    for block in [block for _, blocks in messages for block in blocks]:
        found = [each for each in mappings(block, "content") if string(each, "type") == "tool_reference"]
        for content in (mapping(block, "content"), {"tool_references": found}):
            for each in undeclared_references(content, body):
                raise rejected(f"Tool reference '{string(each, 'tool_name')}' not found in available tools")


def _check_last_blocks(messages: list[tuple[str, Blocks]]) -> None:
    """Check that no answer before a message of the user ends with a thought."""
    for place, ((role, blocks), (following, _)) in enumerate(pairwise(messages)):
        if (role, following) == ("assistant", "user") and sealed_content(blocks[-1]) is not None:
            raise rejected(f"messages.{place}: {_ENDS_WITH_THOUGHT}")


def _check_first_block(body: Body, messages: list[tuple[str, Blocks]]) -> None:
    """Check that the tool loop whose calls are answered has begun with a thought, while thinking is on."""
    loop = list(tool_loop(messages, _is_call, _is_result)) if is_thinking(body) else []
    if loop and all(sealed_content(messages[place][1][0]) is None for place in loop):
        where = f"messages.{loop[0]}.content.0.type"
        raise rejected(f"{where}: {_NO_THINKING.format(messages[loop[0]][1][0]['type'])}")


def _check_prefill(body: Body, messages: list[tuple[str, Blocks]]) -> None:
    """Check a text of the assistant at the end: newer models take none, and others none without its thought."""
    role, blocks = messages[-1]
    if role != "assistant" or not blocks or blocks[-1]["type"] != "text":
        return
    if TAKES_NO_PREFILL.search(body["model"]):
        raise rejected(NO_PREFILL)
    if is_thinking(body) and sealed_content(blocks[0]) is None:
        raise rejected(f"messages.{len(messages) - 1}.content.0.type: {_NO_THINKING.format(blocks[0]['type'])}")
    if str(blocks[-1]["text"])[-1:].isspace():  # crewAIInc/crewAI#4430, GCWing/OpenBitFun#825
        raise rejected("messages: final assistant content cannot end with trailing whitespace")


def _is_call(block: Fields) -> bool:
    return bool(block["type"] == "tool_use")


def _is_result(block: Fields) -> bool:
    return bool(block["type"] == "tool_result")


def _check_signatures(messages: list[tuple[str, Blocks]], ledger: SignatureLedger) -> None:
    check = ledger.checker()
    for place, (_, blocks) in enumerate(messages):
        for number, block in enumerate(blocks):
            content = sealed_content(block)
            if content is None:
                continue
            where, signature = f"messages.{place}.content.{number}", str(block[signature_key(block)])
            if not signature:
                raise rejected(f"{where}: Invalid `signature` in `thinking` block")
            try:
                check(Signed(str(block["type"]), signature, content))
            except SignatureError as error:
                raise rejected(f"{where}: {_CHANGED} ({error})") from None
