"""
Checks of a request, with the messages of the service.

They are the known checks (google-genai 3.4.0, Google's guide to thought signatures, and reports of refused requests of
2024 to 2026). Unknown fields are refused in the body itself; those further down are accepted.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from itertools import groupby
from typing import Final, NamedTuple

from assistant_events.adapters.gemini_generate_content.mock.request_facts import declared
from assistant_events.adapters.gemini_generate_content.mock.runs import is_image, sealed_content
from assistant_events.adapters.gemini_generate_content.vocabulary import OWN_FIELDS
from assistant_events.adapters.google_rpc import UNSEEN_IMAGES
from assistant_events.adapters.json_fields import Fields, is_array, is_object, listed, mapping, string
from assistant_events.mock.requests import ApiError
from assistant_events.mock.runs import Body
from assistant_events.mock.signatures import SignatureError, SignatureLedger, Signed
from assistant_events.values import write_json

_FIELDS: Final = frozenset(
    {
        *("model", "contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings"),
        *("cachedContent", "labels", "serviceTier", "store", "modelArmorConfig", "continuationToken"),
    }
)
_MESSAGES: Final = {
    "systemInstruction": "Content",
    "generationConfig": "GenerationConfig",
    "toolConfig": "ToolConfig",
}
"""Fields whose values are messages, with their types."""

_ROLES: Final = (None, "user", "model", "function")
_DATA: Final = ("text", *OWN_FIELDS)

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_SIGNING: Final = re.compile(r"gemini-(?:[3-9]|\d\d)")
"""Models that refuse a call whose signature is missing."""

_NO_PREFILL: Final = re.compile(r"gemini-(?:3\.5-flash-lite|3\.(?:[6-9]|\d\d)|[4-9]|\d\d)")
"""
Models that refuse a request that ends with an answer (LibreChat-AI/agents#323 and #499, measured), and, with the same
message, anything beside results in their content (vellum-ai/vellum-assistant#39495, MoonshotAI/kimi-code#3274).
"""

_SIGNING_IMAGES: Final = re.compile(_SIGNING.pattern + r".*-image|nano-banana-(?:pro|\d)")
"""Models that refuse an image of an answer whose signature is missing (archestra#2548, langchain-google#1431)."""

_BYPASS: Final = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
_NO_CHECK: Final = frozenset({*_BYPASS, *[b64encode(word.encode()).decode() for word in _BYPASS]})
"""Signatures that switch the check off, as Google documents them."""

_OF_CLIENTS: Final = frozenset({"95961e890e24085525fd6971146dd82dc41b406e594bb3f048b599dfe3f44eeb"})
"""Hashes of real signatures that clients have for calls without one: `@langchain/google-genai` 2.3."""

_COUNT: Final = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn."
)
_NO_CALL: Final = "Please ensure that function response turn comes immediately after a function call turn."
_NO_PROMPT: Final = (
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
)
_ENDS: Final = "Requests ending with a model turn are not supported unless the last part is a function response."
_MISSING: Final = (
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, "
    "and missing thought_signature may lead to degraded model performance. Additional data, function call "
    "`default_api:{}` , position {}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more "
    "details."
)
_NO_IMAGE: Final = (
    "Image part is missing a thought_signature in content position {}, part position {}. Please refer to "
    "https://ai.google.dev/gemini-api/docs/thought-signatures#model-behavior for more details."
)


class _Turn(NamedTuple):
    """Contents of one kind: `model`, `results` or `prompt`. Its place is that of the last one."""

    kind: str
    place: int
    contents: list[list[Fields]]

    @property
    def parts(self) -> list[Fields]:
        """The parts of all its contents."""
        return [part for parts in self.contents for part in parts]

    def count(self, name: str) -> int:
        """Return the number of parts of a kind."""
        return len([part for part in self.parts if name in part])

    def spread(self, name: str) -> int:
        """Return the number of contents with parts of a kind."""
        return len([parts for parts in self.contents if any(name in part for part in parts)])


def check_create(body: Body, ledger: SignatureLedger | None) -> None:
    """
    Check a request as the service does.

    Args:
        body: In camelCase.

        ledger: The signatures of the mock; `None`: none are checked.

    Raises:
        ApiError: With status 400, for the first fault.
    """
    _check_types(body)
    _check_tools(body)
    contents = _contents(body)
    turns = list(_turns(contents))
    _check_texts(turns)
    _check_results(turns)
    if _NO_PREFILL.search(str(body.get("model"))) and (turns[-1].kind == "model" or any(map(_is_mixed, contents))):
        raise ApiError(400, _ENDS)
    if ledger is not None:
        _check_signatures(contents, ledger)
        if _SIGNING.search(str(body.get("model"))):
            _check_signed(turns)
        if _SIGNING_IMAGES.search(str(body.get("model"))):
            _check_images(contents)


def check_fields(body: Body) -> None:
    """Check the names of the fields of a body in camelCase. Raises `ApiError`."""
    unknown = [f'"{name}"' for name in body if name not in _FIELDS]
    for place, tool in enumerate(listed(body, "tools")):
        unknown += [f"\"{name}\" at 'tools[{place}]'" for name in ("type", "name") if name in tool]
    if unknown:
        raise ApiError(400, f"Invalid JSON payload received. Unknown name {unknown[0]}: Cannot find field.")


def _rejected(where: str, what: str) -> ApiError:
    return ApiError(400, f"* GenerateContentRequest.{where}: {what}\n")


def _check_tools(body: Body) -> None:
    names: set[str] = set()
    for place, function in enumerate(declared(body)):
        name = string(function, "name") or ""
        if not _NAME.fullmatch(name):
            what = "Invalid function name. Must start with a letter or an underscore."
            raise _rejected(f"tools[0].function_declarations[{place}].name", what)
        if name in names:
            raise ApiError(400, f"Duplicate function declaration found: {name}")
        names.add(name)


def _invalid(where: str, kind: str, value: object) -> ApiError:
    return ApiError(400, f"Invalid value at '{where}' ({kind}), {write_json(value).decode()}")


def _check_types(body: Body) -> None:
    for name, kind in _MESSAGES.items():
        if body.get(name) is not None and not is_object(body[name]):
            where = re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)
            raise _invalid(where, f"type.googleapis.com/google.ai.generativelanguage.v1beta.{kind}", body[name])


def _contents(body: Body) -> list[Fields]:
    given = body.get("contents")
    if given is not None and not is_object(given) and not (is_array(given) and all(map(is_object, given))):
        raise ApiError(400, "Invalid value at 'contents' (type.googleapis.com/google.ai.generativelanguage.v1.Content)")
    contents = listed(body, "contents")
    if not contents:
        raise _rejected("contents", "contents is not specified")
    for place, content in enumerate(contents):
        _check_content(f"contents[{place}]", content)
    return contents


def _check_content(where: str, content: Fields) -> None:
    if content.get("role") not in _ROLES:
        raise ApiError(400, "Please use a valid role: user, model.")
    parts = listed(content, "parts")
    if not parts:
        raise _rejected(f"{where}.parts", "contents.parts must not be empty.")
    ids = [call_id for part in parts if (call_id := string(mapping(part, "functionCall"), "id"))]
    if len(set(ids)) < len(ids):  # of calls (watt-mind/coach#280, measured)
        raise ApiError(400, "Request contains an invalid argument.")
    _check_images_seen(parts)
    for place, part in enumerate(parts):
        _check_part(f"{where}.parts[{place}]", part)


def _check_part(where: str, part: Fields) -> None:
    found = [name for name in _DATA if part.get(name) is not None]
    if not found:
        what = "required oneof field 'data' must have one initialized field"
        raise _rejected(f"{where}.data", what)
    if len(found) > 1:
        what = f"oneof field 'data' is already set. Cannot set '{found[1]}'"
        raise ApiError(400, f"Invalid value at '{where}' (oneof), {what}")
    if "text" in found and not isinstance(part["text"], str):
        raise _invalid(f"{where}.text", "TYPE_STRING", part["text"])
    for name, field in (("functionCall", "function_call"), ("functionResponse", "function_response")):
        if name in part and not string(mapping(part, name), "name"):
            raise _rejected(f"{where}.{field}.name", "Name cannot be empty.")
    if not is_object(mapping(part, "functionResponse").get("response", part)):
        where = f"{where}.function_response.response"
        raise ApiError(400, f"Invalid value at '{where}' (type.googleapis.com/google.protobuf.Struct)")


def _check_images_seen(parts: list[Fields]) -> None:
    """Check the types of images (Mai-with-u/MaiBot#1435, googleapis/python-genai#829)."""
    kinds = [string(mapping(part, name), "mimeType") or "" for part in parts for name in ("inlineData", "fileData")]
    for kind in filter(UNSEEN_IMAGES.match, kinds):
        raise ApiError(400, f"Unsupported MIME type: {kind}")


def _kind(content: Fields) -> str:
    if content.get("role") == "model":
        return "model"
    return "results" if any("functionResponse" in part for part in listed(content, "parts")) else "prompt"


def _is_mixed(content: Fields) -> bool:
    return len({"functionResponse" in part for part in listed(content, "parts")}) > 1


def _turns(contents: list[Fields]) -> Iterator[_Turn]:
    """Yield the turns. Contents of one kind that follow each other are one, as streams leave them."""
    for kind, group in groupby(enumerate(contents), lambda content: _kind(content[1])):
        found = list(group)
        yield _Turn(kind, found[-1][0], [listed(content, "parts") for _, content in found])


def _check_texts(turns: list[_Turn]) -> None:
    """Check that no turn is of empty texts alone. Beside others they are usual: the last chunk of a stream has one."""
    for turn in turns:
        if all(part.get("text") == "" and not part.get("thoughtSignature") for part in turn.parts):
            raise ApiError(400, "Unable to submit request because it must have a text parameter.")


def _check_results(turns: list[_Turn]) -> None:
    """
    Check that calls are behind a prompt, with as many results directly behind, and that nothing else has some.

    Results of the calls of one content are in one (docker/docker-agent#2959, cloudwego/eino-ext#571, measured).
    """
    if turns[0].kind == "model" and turns[0].count("functionCall"):
        raise ApiError(400, _NO_PROMPT)
    waiting, is_one = 0, False
    for turn in turns:
        given = turn.count("functionResponse") if turn.kind == "results" else 0
        if given != waiting or (given and is_one and turn.spread("functionResponse") > 1):
            raise ApiError(400, _COUNT if waiting else _NO_CALL)
        waiting = turn.count("functionCall") if turn.kind == "model" else 0
        is_one = turn.spread("functionCall") == 1
    if waiting:
        raise ApiError(400, _COUNT)


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def _check_signatures(contents: list[Fields], ledger: SignatureLedger) -> None:
    check = ledger.checker()
    for place, content in enumerate(contents):
        for part in listed(content, "parts"):
            signature = string(part, "thoughtSignature")
            if not signature or signature in _NO_CHECK or _digest(signature) in _OF_CLIENTS:
                continue
            try:
                check(Signed(f"contents[{place}]", standard(signature), sealed_content(part)))
            except SignatureError:
                raise ApiError(400, "Corrupted thought signature.") from None


def _check_signed(turns: list[_Turn]) -> None:
    """Check that the first call of each step since the last prompt has a signature."""
    for turn in reversed(turns):
        if any("functionResponse" not in part for part in turn.parts) and turn.kind != "model":
            return
        calls = [part for part in turn.parts if "functionCall" in part]
        if calls and not string(calls[0], "thoughtSignature"):
            raise ApiError(400, _MISSING.format(mapping(calls[0], "functionCall").get("name"), turn.place + 1))


def _check_images(contents: list[Fields]) -> None:
    for place, content in enumerate(contents, 1):
        for number, part in enumerate(listed(content, "parts"), 1):
            if content.get("role") == "model" and is_image(part) and not string(part, "thoughtSignature"):
                raise ApiError(400, _NO_IMAGE.format(place, number))


def standard(signature: str) -> str:
    """Return base64 in the standard alphabet: the service takes that for addresses, too, which its clients send."""
    bare = signature.replace("-", "+").replace("_", "/").rstrip("=")
    return bare + "=" * (-len(bare) % 4)
