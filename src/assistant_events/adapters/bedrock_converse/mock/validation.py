"""
Checks of a request of Converse, with the messages of the service.

They are the known checks (the model of bedrock-runtime in botocore 1.44.5, and reports of refused requests of 2024 to
2026); constraints of that model have the general message of AWS. Unknown keys are accepted. What the model itself
refuses is what Claude refuses, behind the words of the service.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, TypeAlias

from assistant_events.adapters.bedrock_converse.mock.answers import app_call
from assistant_events.adapters.bedrock_converse.mock.runs import sealed_content, signature_of
from assistant_events.adapters.bedrock_converse.vocabulary import MEDIA
from assistant_events.adapters.bedrock_models import READS_S3, TAKES_NO_STATUS, TURNS_OF_ONE_KIND
from assistant_events.adapters.claude import NO_PREFILL, TAKES_NO_PREFILL
from assistant_events.adapters.json_fields import Fields, is_array, is_object, mapping, mappings, string
from assistant_events.mock.requests import ApiError, rejected
from assistant_events.mock.runs import Body
from assistant_events.mock.signatures import SignatureError, SignatureLedger, Signed, tool_loop
from assistant_events.values import write_json

_Blocks: TypeAlias = list[Fields]

_ROLES: Final = ("user", "assistant", "system")
_IDS: Final = {"toolUseId": "[a-zA-Z0-9_.:-]+", "name": "[a-zA-Z0-9_-]+"}
_LONGEST_ID: Final = 64

_NO_START: Final = (
    "A conversation must start with a user message. Try again with a conversation that starts with a user message."
)
_NO_ALTERNATION: Final = (
    "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between "
    "user and assistant roles and try again."
)
_NO_CONTENT: Final = (
    "The content field in the Message object at {} is empty. Add a ContentBlock object to the content field and try "
    "again."
)
_BLANK: Final = "The text field in the ContentBlock object at {} is blank. Add text to the text field, and try again."
_NO_INPUT: Final = (
    "The format of the value at {}.toolUse.input is invalid. Provide a json object for the field and try again."
)
_NO_TOOLS: Final = "The toolConfig field must be defined when using toolUse and toolResult content blocks."
_NO_RESULT: Final = "Expected toolResult blocks at {}.content for the following Ids: {}"
_NO_CALL: Final = "The number of toolResult blocks at {}.content exceeds the number of toolUse blocks of previous turn."
_NO_OUTPUT: Final = "The content field at {}.toolResult cannot be empty when status value is error."
_NO_JSON: Final = "The format of the value at {}.json is invalid. Provide a json object for the field and try again."
_ONE_NAME: Final = "Messages can't contain duplicate document names. Rename the document and retry your request."
_NO_TEXT: Final = "A text block must be included when using documents. Add a text block and retry your request."
_NO_IMAGE: Final = "This model doesn't support the image field for user messages. Remove image and try again."
_HOLDS_NO_IMAGES: Final = re.compile(r"(?:^|[./])(?:openai|mistral|qwen|google|moonshot(?:ai)?|xai)\.")
"""Names of models that take no image in a result, and one behind it (anomalyco/opencode#49443, measured)."""

_NO_STATUS: Final = "This model doesn't support the status field. Remove status and try again."
_STREAMS_NO_CALLS: Final = re.compile("meta.llama-?4|palmyra")
"""Models that call tools in documents alone (earendil-works/pi#3739, strands-agents/harness-sdk#393)."""

_NO_STREAM: Final = "This model doesn't support tool use in streaming mode."
_NO_SOURCE: Final = "messages.{}.content.{}.{}.source.type: Field required"
_MORE: Final = {"audio": "m4a mka mkv mpeg mpga pcm x-aac", "video": "mpg"}
_MEDIA: Final = {
    kind: sorted({*_MORE.get(kind, "").split(), *[form for each, form in MEDIA.values() if each == kind]})
    for kind, _ in MEDIA.values()
}
"""
The formats by the kind of media: those of botocore 1.44.5, where a document needs none.

They are in lower case (NousResearch/hermes-agent#55429, measured).
"""

_DOCUMENT_NAME: Final = re.compile(r"(?!.*\s\s)[a-zA-Z0-9\s_()\[\]-]{1,200}", re.ASCII | re.DOTALL)
"""With an underscore, which its message does not name (vercel/ai#20366, measured)."""

_BAD_NAME: Final = (
    "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and "
    "square brackets. The name can't contain more than one consecutive whitespace character. Check that the file name "
    "conforms to these restrictions and retry your request."
)

_MIXED: Final = "messages.{}.content: Conversation blocks and tool {} blocks cannot be provided in the same turn."
_CONVERSATION: Final = frozenset({"text", "image", "document", "video", "audio"})

_NO_THINKING: Final = (
    "Expected `thinking` or `redacted_thinking`, but found `{}`. When `thinking` is enabled, a final `assistant` "
    "message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks)."
)


def check_create(body: Body, ledger: SignatureLedger | None) -> None:
    """
    Check a request as the service does.

    Raises:
        ApiError: With status 400, for the first fault.
    """
    messages = [_checked_message(place, message) for place, message in enumerate(_messages(body))]
    contents = [blocks for _, blocks in messages]
    blocks = [block for each in contents for block in each]
    name = string(body, "modelId") or ""
    if "amazon.nova" not in name:  # Nova takes any JSON (0xPlaygrounds/rig, recorded)
        _check_json(messages)
    _check_roles([role for role, _ in messages])
    _check_fields(body, blocks)
    _check_documents(contents)
    if "toolConfig" in body and body.get("stream") is True and _STREAMS_NO_CALLS.search(name):
        raise rejected(_NO_STREAM)
    results = [mapping(block, "toolResult") for block in blocks]
    if _HOLDS_NO_IMAGES.search(name) and any("image" in each for one in results for each in mappings(one, "content")):
        raise rejected(_NO_IMAGE)
    if TURNS_OF_ONE_KIND.search(name):
        _check_kinds(contents)
    if TAKES_NO_STATUS.search(name) and any(one.get("status") is not None for one in results):
        raise rejected(_NO_STATUS)
    if not READS_S3.search(name):
        _check_sources(contents)
    _check_calls(messages)
    _check_first_block(body, messages)
    _check_prefill(body, messages)
    if ledger is not None:
        _check_signatures(messages, ledger)


def is_thinking(body: Body) -> bool:
    """Return whether a request has thinking on, so that its answers begin with a thought."""
    return string(mapping(mapping(body, "additionalModelRequestFields"), "thinking"), "type") == "enabled"


def _constraint(where: str, value: object, constraint: str) -> ApiError:
    """Return the error of a value that the model of the service does not allow."""
    shown = "null" if value is None else f"'{value if isinstance(value, str) else write_json(value).decode()}'"
    fault = f"Value {shown} at '{where}' failed to satisfy constraint: Member must {constraint}"
    return rejected(f"1 validation error detected: {fault}")


def _refused_by_model(message: str) -> ApiError:
    return rejected(f"The model returned the following errors: {message}")


# -- messages and blocks


def _messages(body: Body) -> Sequence[Any]:
    messages = body.get("messages")
    if not is_array(messages):
        raise _constraint("messages", messages, "be a list" if messages is not None else "not be null")
    if not messages:
        raise rejected(_NO_START)
    return messages


def _checked_message(place: int, message: object) -> tuple[str, _Blocks]:
    """Return the role and the blocks of a message."""
    where = f"messages.{place}"
    if not is_object(message):
        raise _constraint(where, message, "be an object")
    role, content = message.get("role"), message.get("content")
    if role not in _ROLES:
        raise _constraint(f"{where}.role", role, f"satisfy enum value set: [{', '.join(_ROLES)}]")
    if not is_array(content):
        raise _constraint(f"{where}.content", content, "be a list" if content is not None else "not be null")
    if not content:
        raise rejected(_NO_CONTENT.format(where))
    for number, block in enumerate(content):
        _check_block(f"{where}.content.{number}", block)
    return role, list(content)


def _check_block(where: str, block: object) -> None:
    if not is_object(block) or len(block) != 1:
        raise _constraint(where, block, "be a union with exactly one member")
    if "text" in block and not str(block["text"] or "").strip():
        raise rejected(_BLANK.format(where))
    call, result = mapping(block, "toolUse"), mapping(block, "toolResult")
    if "toolUse" in block:
        _check_words(f"{where}.toolUse", call, ("toolUseId", "name"))
        if not is_object(call.get("input")):
            raise rejected(_NO_INPUT.format(where))
    if "toolResult" in block:
        _check_words(f"{where}.toolResult", result, ("toolUseId",))
        if not is_array(result.get("content")):
            raise _constraint(f"{where}.toolResult.content", result.get("content"), "be a list")
        if result.get("status") == "error" and not result["content"]:
            raise rejected(_NO_OUTPUT.format(where))
    for content in (block, *mappings(result, "content")):
        _check_media(where, content)


def _check_media(where: str, content: Fields) -> None:
    """Check the formats of media, and the names of documents."""
    for kind in [each for each in _MEDIA if each in content]:
        form, name = [mapping(content, kind).get(key) for key in ("format", "name")]
        if form not in _MEDIA[kind] and (kind, form) != ("document", None):
            raise _constraint(f"{where}.{kind}.format", form, f"satisfy enum value set: [{', '.join(_MEDIA[kind])}]")
        if kind == "document" and not _DOCUMENT_NAME.fullmatch(name if isinstance(name, str) else ""):
            raise rejected(_BAD_NAME)


def _check_json(messages: Sequence[tuple[str, _Blocks]]) -> None:
    for place, (_, blocks) in enumerate(messages):
        for index, block in enumerate(blocks):
            for number, content in enumerate(mappings(mapping(block, "toolResult"), "content")):
                if "json" in content and not is_object(content["json"]):
                    where = f"messages.{place}.content.{index}.toolResult.content.{number}"
                    raise rejected(_NO_JSON.format(where))


def _check_documents(messages: list[_Blocks]) -> None:
    for kinds in [{kind for block in blocks for kind in block} for blocks in messages]:
        if "document" in kinds and "text" not in kinds:
            raise rejected(_NO_TEXT)
    blocks = [block for message in messages for block in message]
    contents = [*blocks, *[each for block in blocks for each in mappings(mapping(block, "toolResult"), "content")]]
    names = [mapping(content, "document").get("name") for content in contents if "document" in content]
    if any(name in names[:place] for place, name in enumerate(names)):
        raise rejected(_ONE_NAME)


def _check_sources(messages: list[_Blocks]) -> None:
    """Check that no media are in S3."""
    for place, blocks in enumerate(messages):
        for number, block in enumerate(blocks):
            for content in (block, *mappings(mapping(block, "toolResult"), "content")):
                kind = next((each for each in _MEDIA if "s3Location" in mapping(mapping(content, each), "source")), "")
                if kind:
                    raise _refused_by_model(_NO_SOURCE.format(place, number, kind))


def _check_kinds(messages: list[_Blocks]) -> None:
    for place, kinds in enumerate([{kind for block in blocks for kind in block} for blocks in messages]):
        for kind, name in (("toolUse", "use"), ("toolResult", "result")):
            if kind in kinds and not kinds.isdisjoint(_CONVERSATION):
                raise rejected(_MIXED.format(place, name))


def _check_words(where: str, fields: Fields, names: Sequence[str]) -> None:
    for name in names:
        value, pattern = fields.get(name), _IDS[name]
        if not isinstance(value, str):
            raise _constraint(f"{where}.{name}", value, "not be null")
        if len(value) > _LONGEST_ID:
            raise _constraint(f"{where}.{name}", value, f"have length less than or equal to {_LONGEST_ID}")
        if not re.fullmatch(pattern, value):
            raise _constraint(f"{where}.{name}", value, f"satisfy regular expression pattern: {pattern}")


def _check_roles(roles: Sequence[str]) -> None:
    roles = [role for role in roles if role != "system"]
    if roles[:1] != ["user"]:
        raise rejected(_NO_START)
    if any(role == following for role, following in pairwise(roles)):
        raise rejected(_NO_ALTERNATION)


# -- other fields


def _check_fields(body: Body, blocks: _Blocks) -> None:
    tokens = mapping(body, "inferenceConfig").get("maxTokens")
    if tokens is not None and (not isinstance(tokens, int) or tokens < 1):
        raise _constraint("inferenceConfig.maxTokens", tokens, "have value greater than or equal to 1")
    config = body.get("toolConfig")
    if config is None:
        if any("toolUse" in block or "toolResult" in block for block in blocks):
            raise rejected(_NO_TOOLS)
        return
    tools = mappings(mapping(body, "toolConfig"), "tools")
    if not tools:
        raise _constraint("toolConfig.tools", [], "have length greater than or equal to 1")
    names: set[object] = set()
    for place, tool in enumerate(tools):
        if "toolSpec" not in tool:
            continue
        spec, where = mapping(tool, "toolSpec"), f"toolConfig.tools.{place}.toolSpec"
        _check_words(where, spec, ("name",))
        if not is_object(mapping(spec, "inputSchema").get("json")):
            raise rejected(f"The value at {where}.inputSchema.json is invalid. Provide a json object and try again.")
        if spec["name"] in names:
            raise _refused_by_model("tools: Tool names must be unique.")
        names.add(spec["name"])


# -- calls and their results


def _check_calls(messages: Sequence[tuple[str, _Blocks]]) -> None:
    """Check that the results of all calls are in the next message, and no others."""
    waiting: list[str] = []
    for place, (role, blocks) in enumerate(messages):
        where = f"messages.{place}"
        if role == "assistant":
            waiting = _distinct(
                f"{where}.content", "toolUse", [call["toolUseId"] for call in map(app_call, blocks) if call]
            )
        elif role == "user":
            results = [mapping(block, "toolResult") for block in blocks if "toolResult" in block]
            given = _distinct(f"{where}.content", "toolResult", [result["toolUseId"] for result in results])
            _check_answered(where, waiting, given)
            if len(given) > len(waiting):
                raise rejected(_NO_CALL.format(where))
            waiting = []
    _check_answered(f"messages.{len(messages)}", waiting, ())


def _check_answered(where: str, calls: Sequence[str], results: Sequence[str]) -> None:
    missing = [call_id for call_id in calls if call_id not in results]
    if missing:
        raise rejected(_NO_RESULT.format(where, ", ".join(missing)))


def _distinct(where: str, kind: str, ids: list[str]) -> list[str]:
    twice = [call_id for place, call_id in enumerate(ids) if call_id in ids[:place]]
    if twice:
        raise rejected(f"The {kind} blocks at {where} contain duplicate Ids: {', '.join(twice)}")
    return ids


# -- reasoning


def _check_first_block(body: Body, messages: Sequence[tuple[str, _Blocks]]) -> None:
    """Check that the tool loop whose calls are answered has begun with reasoning, while thinking is on."""
    loop = list(tool_loop(messages, app_call, _is_result)) if is_thinking(body) else []
    if loop and all(sealed_content(messages[place][1][0]) is None for place in loop):
        first = messages[loop[0]][1][0]
        found = "tool_use" if "toolUse" in first else next(iter(first))
        raise _refused_by_model(f"messages.{loop[0]}.content.0.type: {_NO_THINKING.format(found)}")


def _check_prefill(body: Body, messages: Sequence[tuple[str, _Blocks]]) -> None:
    """Check a text of the assistant at the end: newer models take none, and others none without its reasoning."""
    role, blocks = messages[-1]
    if role != "assistant" or "text" not in blocks[-1]:
        return
    if TAKES_NO_PREFILL.search(string(body, "modelId") or ""):
        raise _refused_by_model(NO_PREFILL)
    if is_thinking(body) and sealed_content(blocks[0]) is None:
        where = f"messages.{len(messages) - 1}.content.0.type"
        raise _refused_by_model(f"{where}: {_NO_THINKING.format(next(iter(blocks[0])))}")


def _is_result(block: Fields) -> bool:
    return "toolResult" in block


def _check_signatures(messages: Sequence[tuple[str, _Blocks]], ledger: SignatureLedger) -> None:
    check = ledger.checker()
    for where, block, content in _sealed_blocks(messages):
        signature = signature_of(block)
        if not signature:
            raise _refused_by_model(f"{where}.thinking.signature: Field required")
        try:
            check(Signed("reasoningContent", signature, content))
        except SignatureError as error:
            raise _refused_by_model(f"{where}: Invalid `signature` in `thinking` block ({error})") from None


def _sealed_blocks(messages: Sequence[tuple[str, _Blocks]]) -> Iterator[tuple[str, Fields, object]]:
    for place, (_, blocks) in enumerate(messages):
        for number, block in enumerate(blocks):
            content = sealed_content(block)
            if content is not None:
                yield f"messages.{place}.content.{number}", block, content
