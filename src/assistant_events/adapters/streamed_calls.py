"""Calls that come in pieces on a wire where neither the index of a call, nor its id or its name, is sure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Any, Final, final

from assistant_events.adapters.base import DecoderBase
from assistant_events.adapters.call_results import streamed_input
from assistant_events.adapters.json_fields import Fields, filled, mapping, string
from assistant_events.recorder.calls import OpenCall, parse_input
from assistant_events.values import write_json

_EMPTY: Final = frozenset({"{}", "null"})
"""Inputs without fields. Groq has a null, and gateways have one in front of the input (rig: chat_compatible.rs)."""

_NEXT: Final = re.compile(r"\}\s*\{")
"""Where an object may follow another one; also in the middle of one, in a text."""

_TRIED: Final = 9
"""How many of these places are tried, so that no input is parsed again and again."""

_PLACES: Final = -2
"""Index of the first call among pieces without one (`numbered`); further calls count down. -1 is `function_call`."""

_LOOKED_AT: Final = 3
"""How many pieces of the first call show whether a server sends the input so far; no fast path takes them."""

_OF_SERVER: Final = frozenset({"tool_type", "integration_id"})
"""Fields of the metadata of a call that the server runs (Mistral)."""

_SEARCH: Final = "web_search"
"""Type of a call that MiniMax runs itself (lobe-chat: streams/openai.ts)."""


_USUAL: Final = frozenset({"index", "type", "function"})
"""Fields of a piece that are nothing by themselves."""

_OF_CLAUDE: Final = "srvtoolu_"
"""What the id of a call begins with that Claude runs itself, also behind LiteLLM (anthropic/chat/handler.py)."""


def id_of(call: Fields) -> str | None:
    """Return the id of a call; the client of Mistral writes "null" for none."""
    ident = string(call, "id")
    return None if ident == "null" else ident


def type_of(call: Fields) -> str | None:
    """Return the type of a call; `None` for a function, which is also empty or in capitals (vercel/ai#12939)."""
    kind = string(call, "type")
    return None if kind is None or kind.lower() in ("", "function") else kind


def is_hosted(call: Fields) -> bool:
    """Return whether a call, or the state of one, is of a tool that the server runs."""
    return call.get("type") == _SEARCH or not _OF_SERVER.isdisjoint(mapping(call, "metadata"))


@final
class StreamedCalls:
    """
    The calls of an answer. Each has a number, which is its key in the recorder.

    Args:
        decoder: Its recorder gets the inputs, and it the notes.

        tools: Names of the tools of the request: a piece of one of them is not the whole name.

        free_texts: By the `type` in the state of a call whose input is not JSON, the key of its text in the input.
    """

    def __init__(self, decoder: DecoderBase, tools: Collection[str], free_texts: Mapping[str, str]) -> None:
        self._recorder, self._note, self._replace = decoder.recorder, decoder.note, decoder.replace_text
        self._tools = tools
        self._free_texts = free_texts
        self._ids: list[str | None] = []
        self._at: dict[object, int] = {}
        """Numbers of calls by index, by id, and by both; under `None` the number of the last call."""

        self._changing: set[int] = set()
        """Calls whose pieces have ids of their own."""

        self._names: dict[int, str] = {}
        """What has come of the names of calls that wait for the rest."""

        self._held: dict[int, str] = {}
        """By call, the empty object that it began with, which waits: some proxies send one before the real input."""

        self._is_so_far = False
        """Whether each piece is all of the input so far, as DeepSeek behind Qianfan sends it (hermes-agent#35718)."""

        self._so_far: dict[int, str] = {}
        """The last piece of each call; empty after a piece that did not begin with the one before it."""

        self._pieces = 0
        self._unseen: list[int] = []
        """Calls that have begun since the last reason to finish."""

    def continues(self, call: int, name: str | None) -> bool:
        """Return whether pieces like the last one of a call, with that *name* or none, are more of its input."""
        if self._is_so_far or call in self._held:
            return False
        is_its_name = self._ids[call] is not None and name == getattr(self._recorder.open_of(call), "name", None)
        return not name or is_its_name

    def numbered(self, pieces: Sequence[Fields]) -> Sequence[Fields]:
        """
        Return the pieces of one delta, those of several inputs without an index with one (Moonshot, vercel/ai#19546).

        They are, in their order, of the calls that began last. Of others, those that have nothing are left out: clients
        in Go write what they do not have as empty.
        """
        first = len(self._ids) - len(pieces)
        if first < 0 or len(pieces) == 1 or any(_is_addressed(piece) for piece in pieces):
            return [
                piece
                for piece in pieces
                if any(mapping(piece, "function").values()) or type_of(piece) or filled(piece, _USUAL)
            ]
        self._at |= {_PLACES - call: call for call in range(first, len(self._ids))}
        return [{**piece, "index": _PLACES - first - at} for at, piece in enumerate(pieces)]

    def add(self, index: int | None, ident: str | None, name: str | None, given: object, state: dict[str, Any]) -> int:
        """
        Record a piece of a call, of its name or its input, and return the number of the call.

        An input that is *given* as other JSON than text is written as JSON: what is not an object fails the call.
        """
        text = given if isinstance(given, str) else "" if given is None else write_json(given).decode()
        if (repeated := self._repeated(index, ident, name, text)) is not None:
            self._at[index] = repeated
            return repeated
        count, call = len(self._ids), self._number_of(index, ident, name, text)
        if self._is_so_far or self._pieces < _LOOKED_AT:
            self._compare(call, text)
        text = self._input_of(call, text, may_wait=call == count and str(state.get("type")) not in self._free_texts)
        self._recorder.tool_input(
            self._ids[call],
            self._name_of(call, name),
            text,
            key=call,
            state=state,
            provider_executed=is_hosted(state) or (self._ids[call] or "").startswith(_OF_CLAUDE),
        )
        return call

    def knows(self, ident: str) -> bool:
        """Return whether a call has come with an id."""
        return ident in self._at

    def begin_waiting(self) -> None:
        """Begin the calls that wait for the rest of their name, and record the empty objects that wait."""
        for call, name in self._names.items():
            self._recorder.tool_input(self._ids[call], name, key=call)
        self._names.clear()
        for call, text in sorted(self._held.items()):
            self._recorder.tool_input(self._ids[call], None, text, key=call)
        self._held.clear()

    def end_whole(self) -> None:
        """
        End the inputs that are objects with fields: of any other, more may come.

        It looks once at each call: some servers have a reason to finish behind each piece.
        """
        unseen, self._unseen = self._unseen, []
        for call in unseen:
            opened = self._recorder.open_of(call)
            if isinstance(opened, OpenCall) and str(opened.state.get("type")) not in self._free_texts:
                value = parse_input(opened.buffer.value())[0]
                if value:
                    self._recorder.end_tool_input(key=call, input=value)

    def end(self, *, is_cut: bool = False) -> None:
        """
        End the inputs of all calls, none of which waits. One that came several times, whole, counts once (`_once`).

        Args:
            is_cut: Whether the answer was cut: a free text that is the last input is then not whole.
        """
        for call in range(len(self._ids)):
            opened = self._recorder.open_of(call)
            if isinstance(opened, OpenCall):
                field, text = self._free_texts.get(str(opened.state.get("type")), ""), opened.buffer.value()
                if not field and (once := _once(text)) != text:
                    self._replace(call, text := once)
                last = self._so_far.get(call) if self._is_so_far and not field else ""
                if last and parse_input(text)[0] is None:
                    self._replace(call, text := last)
                is_whole = not (is_cut and field and call == len(self._ids) - 1)
                self._recorder.end_tool_input(key=call, input=streamed_input(text, field), complete=is_whole)
            else:
                self._recorder.end(call)

    def _compare(self, call: int, text: str) -> None:
        """Remember a piece that begins with the piece before it; one that is longer shows what the server sends."""
        self._pieces += 1
        if text and (self._is_so_far or call == 0):
            before = self._so_far.get(call)
            begins = before is None or (before != "" and text.startswith(before))
            self._so_far[call] = text if begins else ""
            self._is_so_far = self._is_so_far or (begins and before is not None and text != before)

    def _number_of(self, index: int | None, ident: str | None, name: str | None, text: str) -> int:
        """
        Return the number of the call of a piece: that of its index, or the last one where it has none.

        A piece without a name is of the call that has its id, if there is one: calls at one index may come by turns.
        Another id at the same index is another call, as Ollama and others number all calls 0. Without a name it is so
        only behind a whole input: vLLM and Poolside have been seen with an id for each piece. Behind a whole input
        another name is another call, whatever its id, and so is any name behind a call without one, as Gemini's
        compatible endpoint numbers all calls 0, too. The rest of a call may have a new index (agno#8879, pipecat#4688).
        """
        call = self._at.get(index)
        if ident is not None and not name:
            call = self._at.get((index, ident), call)
        last = self._at.get(None)
        if call is None and last is not None and not name and self._is_rest(last, ident):
            return last  # the index stays free: the next call may have it
        known = None if call is None else self._ids[call]
        has_name = known is None and self._recorder.open_of(call) is not None
        if call is not None and known:
            is_other = bool(name and text.strip()) and self._has_other_name(call, name)
            is_other = is_other or (ident not in (None, known) and (bool(name) or self._is_whole(call)))
        else:
            is_named = bool(name) and has_name
            is_other = is_named and (index is None or self._is_next(call, name, text))
        if call is None or is_other:
            call = self._at[None] = len(self._ids)
            self._ids.append(ident)
            self._unseen.append(call)
        elif ident is not None and known is None:
            self._ids[call] = ident
            if has_name:
                self._recorder.keep(call, {"id": ident})
        self._at[index] = call
        if ident is not None and ident == self._ids[call]:  # not one of its pieces
            self._at[index, ident] = call
            self._at.setdefault(ident, call)
        return call

    def _repeated(self, index: int | None, ident: str | None, name: str | None, text: str) -> int | None:
        """
        Return the call whose id, name and whole input a piece at a new index has; `None` when there is none.

        new-api sends each call of a response of OpenAI again, at its end (QuantumNous/new-api#6223).
        """
        call = self._at.get(ident) if ident and name and text and index not in self._at else None
        if call is None:
            return None
        opened = self._recorder.open_of(call)
        if not isinstance(opened, OpenCall) or opened.name != name:
            return None
        is_same = opened.buffer.length == len(text) and opened.buffer.value() == text
        is_same = is_same or self._held.get(call) == text
        return call if is_same and parse_input(text)[0] is not None else None

    def _is_rest(self, last: int, ident: str | None) -> bool:
        """Return whether a piece without a name, at a new index, is more of the *last* call: its input is not whole."""
        return ident in (None, self._ids[last]) and (last in self._held or not self._is_whole(last))

    def _input_of(self, call: int, text: str, *, may_wait: bool) -> str:
        """Return what a piece adds to a call, where an empty object in front *may wait*: nothing while that waits."""
        if text in _EMPTY and (may_wait or call in self._held):
            self._held[call] = text
            return ""
        if not text or call not in self._held:
            return text
        held = self._held.pop(call)
        return text if text.lstrip().startswith("{") else held + text

    def _has_other_name(self, call: int, name: str | None) -> bool:
        """Return whether a piece has another name than a call whose input is whole."""
        opened = self._recorder.open_of(call)
        if not isinstance(opened, OpenCall) or name == opened.name or not opened.buffer.length:
            return False
        return self._is_whole(call)

    def _is_next(self, call: int | None, name: str | None, text: str) -> bool:
        """Return whether a piece with a name begins a call behind *call*: a name alone may be repeated at its end."""
        opened = self._recorder.open_of(call)
        if call is None or not isinstance(opened, OpenCall) or not (text.strip() or name != opened.name):
            return False
        return self._is_whole(call)

    def _is_whole(self, call: int) -> bool:
        """Return whether all of the input of a call has come, as far as its pieces had one id."""
        if call in self._held or call in self._changing:
            return call in self._held
        opened = self._recorder.open_of(call)
        if not isinstance(opened, OpenCall):
            return True
        text = opened.buffer.value()
        if text and parse_input(text)[0] is not None:
            return True
        self._changing.add(call)  # so that no input is parsed again for each of its pieces
        return False

    def _name_of(self, call: int, piece: str | None) -> str | None:
        """Return the name of a call, which may come in pieces; `None` while a tool of the request has more of it."""
        opened = self._recorder.open_of(call)
        if isinstance(opened, OpenCall):
            if piece not in (None, opened.name):
                self._note("other-name", "a name of a call that has another name was left out")
            return None
        known = self._names.pop(call, "")
        name = known if piece in (None, known) else known + piece
        if name and name not in self._tools and any(tool.startswith(name) for tool in self._tools):
            self._names[call] = name
            return None
        return name


def _once(text: str) -> str:
    """
    Return the first of several objects that are the same input, or *text* where it is anything else.

    As vLLM sends it twice (vllm#51697) and codex-lb three times (its #284), or a gateway again in its own spelling
    (elizaOS/eliza#16973).
    """
    ends = [len(text) // times for times in (2, 3) if "}" in text and text[: len(text) // times] * times == text]
    ends += [found.start() + 1 for found in islice(_NEXT.finditer(text), _TRIED)]
    if not ends or parse_input(text)[0] is not None:
        return text  # as nearly always: one object, however many are in its texts
    for end in ends:
        first, rest = text[:end], text[end:]
        value = parse_input(first)[0]
        if value is not None:
            is_repeated = first * (len(text) // len(first)) == text or parse_input(rest)[0] == value
            return first if is_repeated else text
    return text


def _is_addressed(piece: Fields) -> bool:
    """Return whether a piece names its call: with an index, an id or a name."""
    return any(piece.get(key) not in (None, "") for key in ("index", "id")) or bool(
        mapping(piece, "function").get("name")
    )
