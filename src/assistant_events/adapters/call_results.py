"""What is read and written of a call: input, output, and what a request has of one that it cannot send as it is."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from typing import Any, Final

import attrs

from assistant_events import messages as msg
from assistant_events import values as v
from assistant_events.adapters.errors import error_of
from assistant_events.adapters.json_fields import Fields, base64_bytes, is_object, json_array, mappings, string
from assistant_events.history import DropReason
from assistant_events.recorder.calls import parse_input
from assistant_events.values.content import ContentInput
from assistant_events.values.json_values import items_of

NO_ANSWER: Final = "No result is available for this call."
"""What is sent as the result of a call that has none."""

CALL_FAILED: Final = "The call has failed."
"""What is sent of an error without a text, where an empty one is refused (reports of 2024-07 to 2026-06)."""

NO_OUTPUT: Final = "The call has returned no text."
"""
What is sent of a result that is empty, or an image, to models that refuse an empty one: “it must include at least one
parts field” (Gemini, Roo-Code#10672), and Nova.
"""


def _is_answered(call: msg.ToolPart) -> bool:
    return call.settled and not call.provider_executed


def is_failed(call: msg.ToolPart) -> bool:
    """Return whether a call has failed, or nothing of the app has answered it."""
    return call.status is msg.CallStatus.FAILED or not _is_answered(call)


def repairs(call: msg.ToolPart | msg.MediaPart) -> list[DropReason]:
    """Return what the request repairs in the result of a call."""
    if isinstance(call, msg.MediaPart):
        return []
    if not _is_answered(call):
        return [DropReason.NO_ANSWER]
    return [DropReason.UNCALLED] if call.input is None else []


def has_json(call: msg.ToolPart) -> bool:
    """Return whether the text of a call is the JSON of its input; free text is one of the values of that."""
    given, text = call.input, call.raw_input
    if given is None or text.isspace() or text in items_of(given).values():
        return False
    return parse_input(text)[0] is not None


def with_input(part: msg.Part) -> msg.Part:
    """Return a call whose text is not JSON without it, with an empty input if it has none; its result has the fault."""
    if not isinstance(part, msg.ToolPart) or has_json(part):
        return part
    return attrs.evolve(part, input=part.input or v.JsonObject(), raw_input="")


def input_text(call: msg.ToolPart) -> str:
    """Return the input of a call as the text that came, or as JSON; empty when none is known, as of one cut off."""
    return call.raw_input or ("" if call.input is None else v.write_json(call.input).decode())


def result_content(call: msg.ToolPart) -> tuple[v.Content, ...]:
    """Return the output of a call after its fault; one text or JSON value is one text."""
    fault = _fault(call)
    match call.output:
        case ():
            return (v.TextContent(fault),)
        case (v.TextContent() | v.JsonContent(),):
            text = msg.plain_text(call.output)
            return (v.TextContent(f"{fault}\n{text}" if fault and fault != text else text),)
        case output:
            return (v.TextContent(fault), *output) if fault else output


def _fault(call: msg.ToolPart) -> str:
    """Return what is wrong with a call; empty when it succeeded."""
    if not _is_answered(call):
        return NO_ANSWER
    if call.status is not msg.CallStatus.FAILED:
        return ""
    fault = "" if call.error is None else call.error.message or str(call.error.kind)
    return f"The call was not run: {fault}" if call.input is None else fault


def given_input(value: object) -> tuple[str, Fields | None]:
    """
    Return the input with which a call begins: a text that is parsed at its end, or the object that it is or holds.

    Another value is its JSON text, for which the call fails: GLM writes an array (zai-coding-plugins#14). An empty one
    is none.
    """
    if isinstance(value, str):
        found = parse_input(value)[0]
        return "" if found is not None else value, found or None
    if is_object(value) or not value:
        return "", value if is_object(value) and value else None
    return v.write_json(value).decode(), None


def streamed_input(text: str, field: str) -> dict[str, str] | None:
    """
    Return an input that came as *text*, where that is not the JSON of an object; `None` where it has to be parsed.

    Free text is under *field*, which is empty for other types of calls. A null counts as no arguments.
    """
    if field:
        return {field: text}
    return {} if text.strip() == "null" else None


def read_output(value: object, media_type: str | None = None) -> ContentInput:
    """Return the output that `output_value` writes as *value*; base64 is media where there is a *media_type*."""
    if value is None:
        return ()
    if not isinstance(value, str):
        return v.JsonContent(value)
    data = None if media_type is None else base64_bytes(value)
    if media_type is not None and data and b64encode(data).decode() == value:
        return v.MediaContent(data=data, media_type=media_type)
    return v.TextContent(value)


def tool_error(item: Fields) -> v.ErrorInfo | None:
    """
    Return the error of an item of a call that the provider ran: its `error`, or a `status` of failed.

    That of an MCP server has content, as the result of one.
    """
    error = error_of(item)
    if not error and string(item, "status") != "failed":
        return None
    texts = [text for each in mappings(error, "content") if (text := string(each, "text"))]
    message = string(error, "message") or "\n".join(texts) or "the tool failed"
    return v.ErrorInfo(kind=v.ErrorKind.TOOL, message=message, code=string(error, "code"))


def output_value(call: msg.ToolPart) -> Any:
    """Return the output of a call of the provider as its decoder has read it: a JSON value, a text, or nothing."""
    match call.output:
        case ():
            return None
        case (v.JsonContent(value=value),):
            return v.thaw(value)
        case (v.MediaContent(data=bytes() as data),):
            return b64encode(data).decode()
        case output:
            return "".join([item.text for item in output if isinstance(item, v.TextContent)])


def in_words(call: msg.ToolPart | msg.MediaPart) -> tuple[v.Content, ...]:
    """Return a call and its result, or media, as content of the user."""
    if isinstance(call, msg.MediaPart):
        uri = call.uri if call.data is None else None
        return (v.MediaContent(media_type=call.media_type, data=call.data, uri=uri),)
    arguments = call.raw_input if call.input is None else v.write_json(call.input).decode()
    fault = _fault(call)
    ending = f"It failed: {fault}" if fault else "It answered:" if call.output else "It answered nothing."
    sentence = v.TextContent(f"{call.name} was called with {arguments}. {ending}")
    return sentence, *[
        item if isinstance(item, v.MediaContent) else v.TextContent(msg.plain_text((item,))) for item in call.output
    ]


def text_of(content: Iterable[v.Content]) -> str:
    """Return the texts of *content*, a line each: JSON is sent as its text, and media have none."""
    return "\n".join([msg.plain_text((item,)) for item in content if not isinstance(item, v.MediaContent)])


def shell_output(text: str, *, failed: bool) -> list[Any]:
    """Return the outputs of the commands of a shell: the array that a text is, or the text as that of one command."""
    given = json_array(text)
    if given and all(is_object(each) and "outcome" in each for each in given):
        return given
    return [{"stdout": text, "stderr": "", "outcome": {"type": "exit", "exit_code": 1 if failed else 0}}]


def fields_in(content: Iterable[v.Content], *names: str) -> dict[str, Any]:
    """Return the fields with these names that the JSON among *content* has."""
    values = [v.thaw(item.value) for item in content if isinstance(item, v.JsonContent)]
    return {key: value[key] for value in values for key in names if isinstance(value, dict) and key in value}
