"""
Checks of a request to create a completion, with the messages of the service.

They are the known checks (openai 3.54.0, and reports of refused requests of 2023 to 2026). That arguments are valid
JSON is a check of compatible servers; OpenAI takes any text. Unknown keys are accepted.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from assistant_events.adapters.json_fields import Fields, flag, is_array, is_object, mapping, mappings, string
from assistant_events.adapters.model_names import MISTRAL
from assistant_events.adapters.openai_chat.mock.request_facts import function_name
from assistant_events.errors import JsonError
from assistant_events.mock.openai_api import check_length, check_name, missing, objects_of, wrong_type
from assistant_events.mock.requests import ApiError
from assistant_events.mock.runs import Body
from assistant_events.values import read_json

_ROLES: Final = ("system", "assistant", "user", "function", "tool", "developer")
_OF_MISTRAL: Final = ("document_url", "thinking", "reference")
_CONTENT: Final = ("text", "image_url", "input_audio", "refusal", "audio", "file", *_OF_MISTRAL)
"""Types of items of content."""

_TEXTS: Final = ("text", "refusal")
_OBJECTS: Final = ("image_url", "input_audio", "file")
"""Types of items that have a text or an object in the field of that name (types of openai 3.54.0)."""

_NO_RESULT: Final = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: {}"
)
# The word is misspelt by the service.
_NO_CALL: Final = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
)


def check_create(body: Body) -> None:
    """
    Check a request as the service does. An empty list of tools is none: OpenAI takes it, others and Azure may not.

    (Reports: local-inference-lab/vllm#193, earendil-works/pi#3649, evalstate/fast-agent#781.)

    Raises:
        ApiError: With status 400, for the first fault.
    """
    _check_fields(body)
    _check_tools(body)
    messages = _messages(body)
    if MISTRAL.search(string(body, "model") or ""):
        messages = [_with_types(message) for message in messages]
    for place, message in enumerate(messages):
        _check_message(f"messages[{place}]", message)
    _check_results(messages)


def _rejected(message: str, param: str | None = None, code: str | None = None) -> ApiError:
    return ApiError(400, message, param=param, code=code)


def _empty(where: str) -> ApiError:
    return _rejected(
        f"Invalid '{where}': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        where,
        "empty_array",
    )


def _check_fields(body: Body) -> None:
    if not string(body, "model"):
        raise _rejected("you must provide a model parameter")
    if body.get("stream") is not None and flag(body, "stream") is None:
        raise wrong_type("stream", "a boolean", body["stream"])
    if body.get("stream_options") is not None and body.get("stream") is not True:
        raise _rejected("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options")


def _check_tools(body: Body) -> None:
    tools = objects_of(body, "tools")
    for place, tool in enumerate(tools):
        if not tool.get("type"):
            raise missing(f"tools[{place}].type")
        if tool["type"] in ("function", "custom") and not function_name(tool):
            raise missing(f"tools[{place}].{tool['type']}.name")
        check_name(f"tools[{place}].{tool['type']}.name", function_name(tool))
    for name in ("tool_choice", "parallel_tool_calls"):
        if body.get(name) is not None and not tools:
            text = f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified."
            raise _rejected(text, name)
    chosen = function_name(mapping(body, "tool_choice"))
    if chosen is not None and chosen not in map(function_name, tools):
        raise _rejected(f"Tool choice '{chosen}' not found in 'tools' parameter.", "tool_choice")


def _messages(body: Body) -> list[Fields]:
    if body.get("messages") is None:
        raise missing("messages")
    messages = objects_of(body, "messages")
    if not messages:
        raise _empty("messages")
    return messages


def _with_types(message: Fields) -> Fields:
    """
    Return a message to Mistral with the types of its calls, which it need not have; an empty list is none.

    There the address of an image may be the field itself.
    """
    if is_array(message.get("content")):
        items = [
            {**item, "image_url": {"url": item["image_url"]}} if string(item, "image_url") else item
            for item in mappings(message, "content")
        ]
        message = {**message, "content": items}
    if not is_array(message.get("tool_calls")):
        return message
    calls = [{"type": "function", **call} if is_object(call) else call for call in message["tool_calls"]]
    return {**message, "tool_calls": calls or None}


def _check_message(where: str, message: Fields) -> None:
    role, content = message.get("role"), message.get("content")
    if role is None:
        raise missing(f"{where}.role")
    if role not in _ROLES:
        raise _unsupported(f"{where}.role", role, _ROLES)
    calls = _calls(where, message) if role == "assistant" else []
    has_more = calls or any(message.get(name) is not None for name in ("function_call", "refusal", "audio"))
    if content is None and not (role == "assistant" and has_more):
        raise _rejected("Invalid value for 'content': expected a string, got null.", f"{where}.content")
    if content is not None and not isinstance(content, str) and not is_array(content):
        raise wrong_type(f"{where}.content", "one of a string or array of objects", content)
    for place, item in enumerate(mappings(message, "content")):
        if item.get("type") not in _CONTENT:
            raise _unsupported(f"{where}.content[{place}].type", item.get("type"), _CONTENT)
        _check_item(f"{where}.content[{place}]", item["type"], item)
    if role == "tool" and not string(message, "tool_call_id"):
        raise missing(f"{where}.tool_call_id")


def _check_item(where: str, kind: str, item: Fields) -> None:
    where, value = f"{where}.{kind}", item.get(kind)
    if kind not in (*_TEXTS, *_OBJECTS):
        return
    if value is None:
        raise missing(where)
    if kind in _TEXTS and not isinstance(value, str):
        raise wrong_type(where, "a string", value)
    if kind in _OBJECTS and not is_object(value):
        raise wrong_type(where, "an object", value)
    if kind == "image_url" and not string(mapping(item, kind), "url"):
        raise missing(f"{where}.url")


def _unsupported(where: str, value: object, supported: Collection[str]) -> ApiError:
    *first, last = [f"'{word}'" for word in supported]
    listed = f"{', '.join(first)}, and {last}"
    return _rejected(f"Invalid value: '{value}'. Supported values are: {listed}.", where, "invalid_value")


def _calls(where: str, message: Fields) -> list[Fields]:
    """Return the calls of an answer after a check of each."""
    given: Any = message.get("tool_calls")
    if given is None:
        return []
    where = f"{where}.tool_calls"
    if not is_array(given):
        raise wrong_type(where, "an array of objects", given)
    if not given:
        raise _empty(where)
    for place, call in enumerate(given):
        _check_call(f"{where}[{place}]", call)
    return mappings(message, "tool_calls")


def _check_call(where: str, call: object) -> None:
    if not is_object(call):
        raise wrong_type(where, "an object", call)
    for name in ("id", "type"):
        if not string(call, name):
            raise missing(f"{where}.{name}")
    check_length(f"{where}.id", string(call, "id"))
    check_name(f"{where}.function.name", string(mapping(call, "function"), "name"))
    if call["type"] != "function":
        return
    where, function = f"{where}.function", mapping(call, "function")
    if not string(function, "name"):
        raise missing(f"{where}.name")
    arguments = function.get("arguments")
    if arguments is None:
        raise missing(f"{where}.arguments")
    if not isinstance(arguments, str):
        raise wrong_type(f"{where}.arguments", "a string", arguments)
    if not arguments:
        return  # of a call without arguments
    try:
        read_json(arguments.encode("utf-8", "surrogatepass"))
    except JsonError:
        text = f"Invalid '{where}.arguments': expected the text of a JSON object."
        raise _rejected(text, f"{where}.arguments", "invalid_value") from None


def _check_results(messages: list[Fields]) -> None:
    """Check that each call has one result, directly behind its message, and that nothing else has one."""
    waiting: list[str] = []
    for place, message in enumerate(messages):
        where = f"messages.[{place}].role"
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                raise _rejected(_NO_CALL, where)
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            raise _rejected(_NO_RESULT.format(", ".join(waiting)), where)
        if message["role"] == "assistant":
            waiting = [call["id"] for call in mappings(message, "tool_calls")]
    if waiting:
        raise _rejected(_NO_RESULT.format(", ".join(waiting)), f"messages.[{len(messages) - 1}].role")
