"""
Signatures of the mock: they show when a step comes back changed, moved, or not at all.

A signature that the mock makes contains the salt of its answer, the index of its step, and a seal of type and content.
A signature of a fixture is not changed, and is remembered with the content of its step. All others are not valid.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias, final

from assistant_events.adapters.gemini_interactions.vocabulary import CALLS
from assistant_events.adapters.json_fields import is_array, is_object
from assistant_events.values import write_json

Step: TypeAlias = Mapping[str, Any]
"""One wire step, or a content block of 1.x, as plain JSON. `Any`: a client sent it."""

_TOOLS: Final = [tool for tool in CALLS.values() if tool is not None]
_SIGNED_TYPES: Final = frozenset({"thought", *[f"{tool}_{end}" for tool in _TOOLS for end in ("call", "result")]})
"""Steps that the service signs (google-genai 3.4.0); since June 2026 no calls of functions and MCP servers."""

MAX_CALLS: Final = 10_000
"""Calls, and signatures of fixtures, that are remembered."""

MAX_SIGNATURES: Final = 64
"""Answers with a call of the same id that are distinguished."""

_KEY: Final = b"assistant-events mock provider"
"""Not secret: signatures have to be valid in a later process."""

_OTHERS: Final = ""

_MARK: Final = b"\x0a\x24"
_SALT: Final = 8
_SEAL: Final = 20


@final
class SignatureError(ValueError):
    """A request does not contain what was signed. The message has the place and never a signature."""


def sign(step: Step, salt: bytes, place: int) -> str:
    """Return the signature of a step: standard base64 of 32 bytes. The salt is that of its answer, 8 bytes are used."""
    head = salt[:_SALT].ljust(_SALT, b"\0") + place.to_bytes(2, "big")
    return b64encode(_MARK + head + _seal(head, step)).decode()


def is_signed_type(step: Step) -> bool:
    """Return whether the service signs steps of this type."""
    return step.get("type") in _SIGNED_TYPES


class SignatureLedger:
    """
    The signatures of the answers, against which those of a request are checked.

    Signatures of fixtures are noted when they are loaded and served; those of the mock need no note.
    """

    def __init__(self) -> None:
        self._given: OrderedDict[str, set[bytes]] = OrderedDict()
        self._before: OrderedDict[str, set[str | None]] = OrderedDict()

    def note_steps(self, steps: Iterable[Step], *, served: bool = True) -> None:
        """
        Note the signatures of an answer, and which one precedes each call of a function.

        Steps that are not *served* as they are may still be signed.
        """
        latest = ""
        for step in steps:
            signature = step.get("signature")
            if isinstance(signature, str) and signature:
                if is_signed_type(step):
                    latest = signature
                if _read(signature) is None:
                    self._given.setdefault(signature, set()).add(_digest(step))
                    self._given.move_to_end(signature)
            call_id = step.get("id")
            if step.get("type") == "function_call" and isinstance(call_id, str) and (latest or served):
                self._note_call(call_id, latest or None)
        for kept in (self._given, self._before):
            while len(kept) > MAX_CALLS:
                kept.popitem(last=False)

    def _note_call(self, call_id: str, signature: str | None) -> None:
        before = self._before.setdefault(call_id, set())
        before.add(signature)
        if len(before) > MAX_SIGNATURES:
            # Under load one fixture answers thousands; from now on any signature is accepted.
            self._before[call_id] = {None} if None in before else {_OTHERS}
        self._before.move_to_end(call_id)

    def check(self, given: object) -> None:
        """
        Check the signatures of an `input`.

        Raises:
            SignatureError: A signature is empty, unknown, of other content or of another step, or out of order, or the
                signed step before a call is missing.
        """
        seen: set[str] = set()
        last: dict[bytes, int] = {}
        for number, step in enumerate(_unpacked(given)):
            self._check_call(step, seen, number)
            signature = step.get("signature")
            if signature is None or (signature == "" and not is_signed_type(step)):
                continue
            if not isinstance(signature, str) or not signature:
                raise SignatureError(f"item {number} ({_type(step)}): the signature is empty; leave the step out")
            self._check_signature(step, signature, number, last)
            seen.add(signature)

    def _check_call(self, step: Step, seen: set[str], number: int) -> None:
        call_id = step.get("id")
        if step.get("type") != "function_call" or not isinstance(call_id, str):
            return
        needed = self._before.get(call_id)
        # None: an answer has a call of this id without a signature before it.
        if needed is None or None in needed or not seen.isdisjoint(needed) or (_OTHERS in needed and seen):
            return
        raise SignatureError(f"item {number} (function_call): the signed step before it is missing")

    def _check_signature(self, step: Step, signature: str, number: int, last: dict[bytes, int]) -> None:
        where = f"item {number} ({_type(step)})"
        known = self._given.get(signature)
        if known is not None:
            if _digest(step) not in known:
                raise SignatureError(f"{where}: its signature belongs to other content")
            return
        made = _read(signature)
        if made is None:
            raise SignatureError(f"{where}: its signature is unknown")
        head, seal = made
        if not hmac.compare_digest(seal, _seal(head, step)):
            raise SignatureError(f"{where}: its signature belongs to other content")
        salt, place = head[:_SALT], int.from_bytes(head[_SALT:], "big")
        if place <= last.get(salt, -1):
            raise SignatureError(f"{where}: its signature belongs to another step")
        last[salt] = place


def _unpacked(given: object) -> Iterator[Step]:
    """Yield the steps and blocks of an `input` of either generation in their order, turns and prompts unpacked."""
    for step in filter(is_object, given if is_array(given) else [given]):
        content = step.get("content")
        if "role" in step or step.get("type") == "user_input":
            yield from _unpacked(content)
        else:
            yield step


def _read(signature: str) -> tuple[bytes, bytes] | None:
    """Return head (salt and place) and seal of a signature that the mock made; `None` for any other text."""
    try:
        raw = b64decode(signature, validate=True)
    except (Base64Error, ValueError):
        return None
    if len(raw) != len(_MARK) + _SALT + 2 + _SEAL or not raw.startswith(_MARK):
        return None
    raw = raw.removeprefix(_MARK)
    return raw[:-_SEAL], raw[-_SEAL:]


def _seal(head: bytes, step: Step) -> bytes:
    return hmac.new(_KEY, head + _digest(step), hashlib.sha256).digest()[:_SEAL]


def _digest(step: Step) -> bytes:
    return hashlib.sha256(write_json(_content(step))).digest()


def _content(step: Step) -> object:
    """Return what a signature seals. A client may cut texts anew and leave out empty ones, but change nothing."""
    kind = _type(step)
    if kind == "thought":
        return [kind, _summary(step.get("summary"))]
    if kind.endswith("_result"):
        return [kind, step.get("call_id"), _sorted(step.get("result")), step.get("is_error") is True]
    return [kind, step.get("id"), _sorted(step.get("arguments") or {})]


def _summary(given: object) -> list[object]:
    """Return the items of a summary with neighbouring texts joined: a stream does not show their ends."""
    items: list[object] = []
    for item in given if is_array(given) else [given]:
        text = item.get("text") if is_object(item) else item
        if isinstance(text, str):
            if items and isinstance(items[-1], str):
                items[-1] += text
            elif text:
                items.append(text)
        elif item is not None:
            items.append(_sorted(item))
    return items


def _sorted(value: object) -> object:
    """Return JSON with sorted keys and whole numbers as integers, as JavaScript writes them."""
    if is_object(value):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if is_array(value):
        return [_sorted(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _type(step: Step) -> str:
    kind = step.get("type")
    return kind if isinstance(kind, str) else "unknown"
