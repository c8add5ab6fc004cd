"""The input of the user in the form of steps, as GET returns it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

_NOT_CONTENT = ("_call", "_result", "thought", "model_output", "user_input")


def user_inputs(given: object) -> list[dict[str, Any]]:
    """
    Return the `user_input` steps of an `input` in any of its forms.

    Other steps that a client sent as history are left out.
    """
    if isinstance(given, str):
        return [_user_input([{"type": "text", "text": given}])]
    steps: list[dict[str, Any]] = []
    content: list[object] = []
    for item in cast("Sequence[object]", given if isinstance(given, list) else [given]):
        if not isinstance(item, Mapping):
            continue
        fields = cast("Mapping[str, Any]", item)
        if "role" in fields:
            if fields["role"] == "user":
                steps += user_inputs(fields.get("content"))
        elif fields.get("type") == "user_input":
            steps.append(dict(fields))
        elif not str(fields.get("type", "")).endswith(_NOT_CONTENT):
            content.append(fields)
    return [*([_user_input(content)] if content else []), *steps]


def _user_input(content: list[Any]) -> dict[str, Any]:
    return {"type": "user_input", "content": content}
