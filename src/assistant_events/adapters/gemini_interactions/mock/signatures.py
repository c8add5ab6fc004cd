"""Signatures of the Interactions API: which steps have one, what it seals, and which one precedes a call."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from assistant_events.adapters.gemini_interactions.vocabulary import CALLS
from assistant_events.adapters.json_fields import is_array, is_object
from assistant_events.mock.signatures import MAX_KEPT, SignatureError, SignatureLedger, Signed, sorted_json

Step: TypeAlias = Mapping[str, Any]
"""One wire step, or a content block of 1.x, as plain JSON. `Any`: a client sent it."""

_TOOLS: Final = [tool for tool in CALLS.values() if tool is not None]
_SIGNED_TYPES: Final = frozenset({"thought", *[f"{tool}_{end}" for tool in _TOOLS for end in ("call", "result")]})
"""Steps that the service signs (google-genai 3.4.0); since June 2026 no calls of functions and MCP servers."""

MAX_CALLS: Final = MAX_KEPT
"""Calls that are remembered."""

MAX_SIGNATURES: Final = 64
"""Answers with a call of the same id that are distinguished."""

_OTHERS: Final = ""


def is_signed_type(step: Step) -> bool:
    """Return whether the service signs steps of this type."""
    return step.get("type") in _SIGNED_TYPES


class StepLedger(SignatureLedger):
    """The signatures of the answers, and which of them precede calls, against which a request is checked."""

    def __init__(self) -> None:
        super().__init__()
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
                self.note(signature, signed_content(step))
            call_id = step.get("id")
            if step.get("type") == "function_call" and isinstance(call_id, str) and (latest or served):
                self._note_call(call_id, latest or None)
        while len(self._before) > MAX_CALLS:
            self._before.popitem(last=False)

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
        check = self.checker()
        for number, step in enumerate(_unpacked(given)):
            self._check_call(step, seen, number)
            signature = step.get("signature")
            if signature is None or (signature == "" and not is_signed_type(step)):
                continue
            where = f"item {number} ({_type(step)})"
            if not isinstance(signature, str) or not signature:
                raise SignatureError(f"{where}: the signature is empty; leave the step out")
            check(Signed(where, signature, signed_content(step)))
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


def _unpacked(given: object) -> Iterator[Step]:
    """Yield the steps and blocks of an `input` of either generation in their order, turns and prompts unpacked."""
    for step in filter(is_object, given if is_array(given) else [given]):
        content = step.get("content")
        if "role" in step or step.get("type") == "user_input":
            yield from _unpacked(content)
        else:
            yield step


def signed_content(step: Step) -> object:
    """Return what a signature seals. A client may cut texts anew and leave out empty ones, but change nothing."""
    kind = _type(step)
    if kind == "thought":
        return [kind, _summary(step.get("summary"))]
    if kind.endswith("_result"):
        return [kind, step.get("call_id"), sorted_json(step.get("result")), step.get("is_error") is True]
    return [kind, step.get("id"), sorted_json(step.get("arguments") or {})]


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
            items.append(sorted_json(item))
    return items


def _type(step: Step) -> str:
    kind = step.get("type")
    return kind if isinstance(kind, str) else "unknown"
