"""What a browser may do with a session, and the fields that it sends for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import attrs
from starlette.exceptions import HTTPException

from assistant_events.adapters.json_fields import Fields
from assistant_events.converters import structure
from assistant_events.errors import ConflictError, StructureError
from assistant_events.events import DurableEvent
from assistant_events.messages import ApprovalStatus, ToolPart
from assistant_events.session import Session, Turns
from assistant_events.values import Content

_NO_FIELDS: Final[Mapping[str, tuple[type, ...]]] = {}

_TYPES: Final[dict[type, str]] = {str: "a string", list: "an array", bool: "true or false", object: "any JSON"}


@attrs.frozen
class Command:
    """One thing that a browser may do."""

    run: Callable[[Session, Fields], Awaitable[object]]
    """Appends what the command asks for."""

    required: Mapping[str, tuple[type, ...]] = _NO_FIELDS
    optional: Mapping[str, tuple[type, ...]] = _NO_FIELDS

    creates: bool = False
    """Whether the session may be a new one."""

    def check(self, fields: Fields) -> None:
        """Refuse fields that are missing, unknown, or of another type."""
        known = {**self.required, **self.optional}
        if unknown := sorted(fields.keys() - known.keys()):
            expected = f"only the fields {', '.join(known)}" if known else "no field"
            raise HTTPException(422, f"{unknown[0]:.100}: expected {expected}")
        for name, types in known.items():
            if name not in fields and name in self.required:
                raise HTTPException(422, f"{name} is missing")
            if name in fields and not isinstance(fields[name], types):
                raise HTTPException(422, f"{name}: expected {' or '.join([_TYPES[each] for each in types])}")


def commands(turns: Turns) -> dict[str, Command]:
    """Return the commands by name; *turns* stops the turns, and knows whose results come from a browser."""

    async def prompt(session: Session, fields: Fields) -> object:
        given = {name: fields[name] for name in ("message_id", "abandon_calls") if name in fields}
        return await session.prompt(_content(fields["prompt"]), **given)

    async def edit(session: Session, fields: Fields) -> object:
        content = _content(fields["prompt"])
        return await session.edit(fields["message_id"], content, new_message_id=fields.get("new_message_id"))

    async def regenerate(session: Session, fields: Fields) -> object:
        return await session.regenerate(fields["message_id"])

    async def stop(session: Session, _: Fields) -> object:
        return await turns.stop(session)

    async def approve(session: Session, fields: Fields) -> object:
        return await _answer(session, fields, lambda call: call.approve() if _is_asked(call) else None)

    async def deny(session: Session, fields: Fields) -> object:
        given = [fields["reason"]] if "reason" in fields else []
        return await _answer(session, fields, lambda call: call.deny(*given) if _is_asked(call) else None)

    async def result(session: Session, fields: Fields) -> object:
        def event(call: ToolPart) -> DurableEvent | None:
            if call.name not in turns.of_browser or call.approval is ApprovalStatus.REQUESTED:
                return None
            return call.fail(fields["error"]) if "error" in fields else call.succeed(fields.get("output"))

        return await _answer(session, fields, event)

    text, content, call = (str,), (str, list), {"message_id": (str,), "call_id": (str,)}
    return {
        "prompt": Command(prompt, {"prompt": content}, {"message_id": text, "abandon_calls": (bool,)}, creates=True),
        "edit": Command(edit, {"message_id": text, "prompt": content}, {"new_message_id": text}),
        "regenerate": Command(regenerate, {"message_id": text}),
        "stop": Command(stop),
        "approve": Command(approve, call),
        "deny": Command(deny, call, {"reason": text}),
        "result": Command(result, call, {"output": (object,), "error": text}),
    }


def _content(prompt: str | list[Any]) -> str | tuple[Content, ...]:
    if isinstance(prompt, str):
        return prompt
    contents: list[Content] = []
    for each in prompt:
        try:
            contents.append(structure(each, Content))
        except StructureError as error:
            path = f"$.prompt[{len(contents)}]{error.path.removeprefix('$')}"
            raise StructureError(path, error.expected, error.got) from None
    return tuple(contents)


def _is_asked(call: ToolPart) -> bool:
    return call.approval is not None


async def _answer(session: Session, fields: Fields, event_of: Callable[[ToolPart], DurableEvent | None]) -> object:
    """Append what *event_of* returns for the call that is named; `None` refuses it."""
    named = (fields["message_id"], fields["call_id"])
    while True:
        calls = [call for call in session.transcript.pending_tool_calls if (call.message_id, call.call_id) == named]
        event = event_of(calls[0]) if calls else None
        if event is None:
            raise HTTPException(409, f"call {fields['call_id']!r:.100} does not wait for this; read the session again")
        try:
            return await session.append(event)
        except ConflictError:
            continue  # another writer has answered or approved a call of the same message
