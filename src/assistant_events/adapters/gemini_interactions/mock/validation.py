"""
Checks of a request to create an interaction.

They are the known checks of the service (wire reference of google-genai 2.19 and 3.4, Google's guides and reports of
2026-05 to 2026-11). Other unknown keys are accepted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from datetime import date
from typing import Any, Final, Literal, TypeAlias, final

import attrs
from starlette.datastructures import Headers

from assistant_events.adapters.gemini_interactions.mock.signatures import StepLedger
from assistant_events.adapters.gemini_interactions.vocabulary import runs_in_background
from assistant_events.adapters.json_fields import Fields, is_array, is_object, mappings, string
from assistant_events.mock.requests import rejected
from assistant_events.mock.runs import Body
from assistant_events.mock.signatures import SignatureError
from assistant_events.values.json_values import json_type

Generation: TypeAlias = Literal[1, 2]
"""1: `outputs` and `content.*`, until June 2026. 2: `steps` and `step.*`, everything since."""

_TYPES: Final[dict[str, tuple[type[Any], str]]] = {
    **dict.fromkeys(("model", "agent", "previous_interaction_id", "continuation_token"), (str, "a string")),
    **dict.fromkeys(("store", "background"), (bool, "true or false")),
    "tools": (list, "an array"),
    **dict.fromkeys(("generation_config", "agent_config"), (dict, "an object")),
}
"""Types of the fields that the mock reads; null counts as absent."""

_NOT_IN: Final = {"function_call": "call_id", "function_result": "id"}
"""By type of a step, what the service refuses in it (router-for-me/CLIProxyAPI#5830, 2026-09)."""

_STEPS_SINCE: Final = date(2026, 5, 20)
_OLD_CLIENT = re.compile(r"\bgoogle-genai-sdk/1\.")

_NO_SCHEMA: Final = frozenset({"default", "enum", "const", "example", "examples"})
"""Keys of a JSON schema whose values are data."""


def generation_of(headers: Headers, default: Generation) -> Generation:
    """
    Return the generation of the wire for the answer to a request.

    The header `Api-Revision` decides (revisions from 2026-05-20 on have steps), then the version of an official client
    (seen in requests of 1.75.0, 2.19.0 and 3.4.0 for Python, 1.33.0 for JavaScript).
    """
    try:
        return 1 if date.fromisoformat(headers.get("api-revision", "").strip()) < _STEPS_SINCE else 2
    except ValueError:
        pass
    names = [*headers.getlist("x-goog-api-client"), *headers.getlist("user-agent")]
    return 1 if any(_OLD_CLIENT.search(name) for name in names) else default


@final
@attrs.frozen(kw_only=True)
class Known:
    """The signatures, the calls of the conversation and the token of the previous interaction, if there are any."""

    ledger: StepLedger | None
    call_ids: Collection[str] | None
    token: str | None


def is_true(value: object) -> bool:
    """Return whether a flag is set: `true`, or the word in any case, as in a query."""
    return value is True or (isinstance(value, str) and value.lower() == "true")


def is_stored(body: Body) -> bool:
    """Return whether an interaction is kept, which is the default of a request."""
    return body.get("store") is not False


def is_bound_to_connection(agent: object) -> bool:
    """Return whether a run of this agent ends with its connection."""
    return isinstance(agent, str) and not runs_in_background(agent)


def check_create(body: Body, generation: Generation, known: Known) -> None:
    """
    Check a request as the service does.

    Raises:
        ApiError: With status 400, for the first fault.
    """
    for check in (_check_types, _check_run, _check_agent, _check_tools):
        check(body)
    _check_continuation(body, known)
    _check_input(body, generation)
    _check_results(body.get("input"), known.call_ids)
    if known.ledger is not None:
        try:
            known.ledger.check(body.get("input"))
        except SignatureError as error:
            # The words of the service (googleapis/js-genai#1735), followed by the reason.
            raise rejected(f"Request contains an invalid argument: {error}") from None


def _check_types(body: Body) -> None:
    for name, (kind, expected) in _TYPES.items():
        value = body.get(name)
        if value is not None and not isinstance(value, kind):
            raise rejected(f"{name}: expected {expected}, got {json_type(value)}")
    stream = body.get("stream")
    if stream is not None and not isinstance(stream, bool) and str(stream).lower() not in ("true", "false"):
        raise rejected(f"stream: expected true or false, got {json_type(stream)}")


def _check_run(body: Body) -> None:
    given = [name for name in ("model", "agent") if body.get(name)]
    if len(given) != 1:
        raise rejected(f"exactly one of model and agent is required, got {'both' if given else 'neither'}")
    if body.get("background") is True and not is_stored(body):
        raise rejected("store=true is required for background interactions")


def _check_agent(body: Body) -> None:
    agent = body.get("agent")
    if is_bound_to_connection(agent) and body.get("background") is True:
        raise rejected(f"agent {agent!r} does not run in the background")
    if not isinstance(agent, str) or not agent.startswith("deep-research"):
        return
    if body.get("background") is not True:
        raise rejected(f"agent {agent!r} requires background=true")
    has_functions = any(tool.get("type") == "function" for tool in mappings(body, "tools"))
    for name in ("system_instruction", "response_format", "functions"):
        if has_functions if name == "functions" else body.get(name):
            raise rejected(f"agent {agent!r} takes no {name}")


def _check_tools(body: Body) -> None:
    tools = mappings(body, "tools")
    functions = [tool for tool in tools if tool.get("type") == "function"]
    for tool in functions:
        if _has_empty_required(tool.get("parameters")):
            raise rejected(
                f"tools: the schema of function {tool.get('name')!r} has an empty list as required; leave it out"
            )
    config = body.get("generation_config")
    if is_object(config) and config.get("tool_choice") is not None and not functions:
        raise rejected("Function calling config is set without function_declarations.")


def _check_continuation(body: Body, known: Known) -> None:
    token = body.get("continuation_token")
    if not token or not is_stored(body):
        return
    if not body.get("previous_interaction_id"):
        raise rejected("continuation_token: previous_interaction_id is required while the interaction is stored")
    if known.token != token:
        raise rejected("continuation_token: it was not issued by the previous interaction")


def _check_input(body: Body, generation: Generation) -> None:
    given = body.get("input")
    if given is None:
        if not body.get("continuation_token"):
            raise rejected("input is required unless there is a continuation_token")
        return
    if not (isinstance(given, str) or is_object(given) or is_array(given)):
        raise rejected(f"input: expected a string, an object or an array, got {json_type(given)}")
    if given == []:
        raise rejected("input: expected at least one item, got none")
    for place, item in enumerate(given if is_array(given) else [given] if is_object(given) else ()):
        if not is_object(item):
            raise rejected(f"input[{place}]: expected an object, got {json_type(item)}")
        if generation != 1:
            _check_names(f"input[{place}]", item)


def _check_names(where: str, item: Fields) -> None:
    if "role" in item:
        raise rejected(f"{where}: unknown field 'role'; turns were removed in 2026-06, send steps")
    name = _NOT_IN.get(string(item, "type") or "")
    if name is not None and name in item:
        raise rejected(f"Unknown parameter '{name}' at '{where}'")


def _check_results(given: object, call_ids: Collection[str] | None) -> None:
    called = set(call_ids or ())
    for item in _items(given):
        kind = item.get("type")
        if kind == "function_call" and isinstance(item.get("id"), str):
            called.add(item["id"])
        if kind != "function_result":
            continue
        name, call_id = item.get("name"), item.get("call_id")
        if not isinstance(name, str) or not name:
            raise rejected("Invalid input received: a function_result needs the name of its function.")
        if not isinstance(call_id, str) or not call_id:
            raise rejected("Invalid input received: a function_result needs the call_id of its call.")
        if call_ids is not None and call_id not in called:
            raise rejected(f"input: no function_call has the id {call_id!r} that a function_result answers")


def _items(given: object) -> Iterator[Mapping[str, Any]]:
    """Yield the items of an input and the blocks inside of them, in their order."""
    for item in filter(is_object, given if is_array(given) else [given]):
        yield item
        yield from mappings(item, "content")


def _has_empty_required(schema: object) -> bool:
    if is_array(schema):
        return any(_has_empty_required(each) for each in schema)
    if not is_object(schema):
        return False
    if schema.get("required") == [] and schema.get("properties") != {}:  # without properties it is accepted (rig)
        return True
    return any(_has_empty_required(value) for key, value in schema.items() if key not in _NO_SCHEMA)
