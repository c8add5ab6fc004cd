"""
Signatures of a mock: they show when an item of an answer comes back changed, moved, or not at all.

A signature that the mock makes contains the salt of its answer, the place of its item, and a seal of its content. A
signature of a fixture is not changed, and is remembered with the content of its item. All others are not valid.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple, final

from assistant_events.adapters.json_fields import Fields, is_array, is_object
from assistant_events.values import write_json

MAX_KEPT: Final = 10_000
"""Signatures of fixtures that are remembered."""

_KEY: Final = b"assistant-events mock provider"
"""Not secret: signatures have to be valid in a later process."""

_MARK: Final = b"\x0a\x24"
_SALT: Final = 8
_SEAL: Final = 20


@final
class SignatureError(ValueError):
    """A request does not contain what was signed. The message has the place and never a signature."""


class Signed(NamedTuple):
    """An item of a request that has a signature."""

    where: str
    """Its place in the request, for errors."""

    signature: str
    content: object
    """What the signature seals, as plain JSON."""


def make_signature(content: object, salt: bytes, place: int) -> str:
    """
    Return the signature of an item: standard base64 of 32 bytes.

    Args:
        content: What it seals, as plain JSON.

        salt: That of the answer; 8 bytes are used.

        place: Number of the item in the answer.
    """
    head = salt[:_SALT].ljust(_SALT, b"\0") + place.to_bytes(2, "big")
    return b64encode(_MARK + head + _seal(head, content)).decode()


def sorted_json(value: object) -> object:
    """Return JSON with sorted keys and whole numbers as integers, as JavaScript writes them."""
    if is_object(value):
        return {key: sorted_json(value[key]) for key in sorted(value)}
    if is_array(value):
        return [sorted_json(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


class SignatureLedger:
    """
    The signatures of fixtures, and the check of those of a request.

    Signatures of fixtures are noted when they are loaded and served; those of the mock need no note.
    """

    def __init__(self) -> None:
        self._given: OrderedDict[str, set[bytes]] = OrderedDict()

    def note(self, signature: str, content: object) -> None:
        """Remember the signature of an item of a fixture, unless the mock made it."""
        if _read(signature) is None:
            self._given.setdefault(signature, set()).add(_digest(content))
            self._given.move_to_end(signature)
            while len(self._given) > MAX_KEPT:
                self._given.popitem(last=False)

    def checker(self) -> Callable[[Signed], None]:
        """
        Return what checks the items of one request, in their order.

        It raises `SignatureError`: a signature is unknown, of other content or of another item, or out of order.
        """
        return partial(self._check, {})

    def _check(self, last: dict[bytes, int], signed: Signed) -> None:
        """Check an item; *last* has by salt the place of the item before it."""
        known = self._given.get(signed.signature)
        if known is not None:
            if _digest(signed.content) not in known:
                raise SignatureError(f"{signed.where}: its signature belongs to other content")
            return
        made = _read(signed.signature)
        if made is None:
            raise SignatureError(f"{signed.where}: its signature is not one of this mock")
        head, seal = made
        if not hmac.compare_digest(seal, _seal(head, signed.content)):
            raise SignatureError(f"{signed.where}: its signature belongs to other content")
        salt, place = head[:_SALT], int.from_bytes(head[_SALT:], "big")
        if place <= last.get(salt, -1):
            raise SignatureError(f"{signed.where}: its signature belongs to another step")
        last[salt] = place


def tool_loop(
    messages: Sequence[tuple[str, Sequence[Fields]]],
    is_call: Callable[[Fields], object],
    is_result: Callable[[Fields], object],
) -> Iterator[int]:
    """Yield the places of the last answers with calls, the last one first, between which are results alone."""
    for place in range(len(messages) - 2, -1, -2):
        role, blocks = messages[place]
        if role != "assistant" or not any(map(is_call, blocks)):
            return
        yield place
        if not place or not all(map(is_result, messages[place - 1][1])):
            return


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


def _seal(head: bytes, content: object) -> bytes:
    return hmac.new(_KEY, head + _digest(content), hashlib.sha256).digest()[:_SEAL]


def _digest(content: object) -> bytes:
    return hashlib.sha256(write_json(content)).digest()
