"""
The items of an answer on a wire that repeats them: a text in its own end, in that of its item and in the last frame.

Deltas are recorded at once. Everything else is a field, which is remembered and read when the item ends, or is cut. So
all repetitions are read alike, and the last of them is enough.
"""

# A call of `list[str]` takes seven times as long as one of `list`, which leaves the items unknown.
# pyright: reportUnknownVariableType=false

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, final

import attrs

from assistant_events.adapters.base import DecoderBase
from assistant_events.adapters.call_forms import CallForm, CallForms
from assistant_events.adapters.json_fields import Fields, array, mappings, others, string
from assistant_events.adapters.text_forms import TextForm, TextForms, place_key
from assistant_events.recorder.calls import OpenCall, parse_input
from assistant_events.values import write_json

ItemRole: TypeAlias = Literal["text", "reasoning", "call", "result", "opaque"]
"""What an item is here."""


@final
@attrs.define(eq=False)
class OpenItem:
    """What is known of an item, or of a text in one: a part."""

    decoder: DecoderBase
    """Its recorder gets the texts and inputs."""

    kind: str
    """Its type on the wire."""

    role: ItemRole
    """Of a part, that of its item."""

    field: str
    """The field of its text or its input; empty when it has none that streams."""

    state: dict[str, Any]  # Any: plain JSON, as below
    """State of all its fragments."""

    where: str = ""
    """The array of a part in its item."""

    index: int | None = None
    """Index of a part in events, which is not always its place in the array; `None` for an item."""

    fields: dict[str, Any] = attrs.field(factory=dict)
    """What the last repetition had, or is known by itself."""

    key: object = attrs.Factory(lambda self: self, takes_self=True)
    """Its key in the recorder: that of a first part is its item, which may begin before it."""

    parts: list[OpenItem] = attrs.field(factory=list)
    by_index: dict[tuple[str, int | None], OpenItem] = attrs.field(factory=dict)
    """The parts by their arrays and indexes, of several with one index the first."""

    by_array: dict[str, list[OpenItem]] = attrs.field(factory=dict)
    learned: list[OpenItem] = attrs.field(factory=list)
    """The parts of which something has come since the last part began; all parts of an item share the list."""

    grown: dict[str, list[object]] = attrs.field(factory=dict)
    """The arrays of `fields` that came in pieces and are its own."""

    has_text: bool = False
    """Whether any of its text or its input has come."""

    whole: bool = False
    """Whether all has."""

    ended: bool = False

    cited: int = 0
    """How many of the annotations of a part are recorded."""

    moves: bool = False
    """Whether it is a part whose index changes with every event (vLLM)."""

    address: str = ""
    """The id that events about an item without one have."""

    awaits: str = ""
    """Type of the item that may bring the result of a call, of the app too (Databricks); empty when none does."""

    answer: OpenItem | None = None
    """That item, when it has come."""

    @property
    def length(self) -> int:
        """Length of the text or input that is open."""
        opened = self.decoder.recorder.open_of(self.key)
        return 0 if opened is None else opened.buffer.length

    @property
    def is_known(self) -> bool:
        """Whether it has an id, by which it may be looked up, or a content, which needs none."""
        return "id" in self.fields or any(part.where == "content" for part in self.parts)

    def learn(self, fields: Fields, left_out: Collection[str] = ()) -> None:
        """Take what a repetition has of it, but for the fields *left_out*; a shorter array is not the whole."""
        if "async_" in fields:  # of a dump of the official client without its aliases
            fields = {**others(fields, ("async_",)), "async": fields["async_"]}
        arrays = [(key, value) for key, value in self.fields.items() if type(value) in (list, tuple)]
        longer = [key for key, value in arrays if len(value) > len(array(fields, key))]
        self.fields |= others(fields, left_out, longer) if longer else others(fields, left_out)
        if self.index is not None:
            self.learned.append(self)

    def append(self, key: str, items: Collection[object]) -> None:
        """Put items behind those of an array that comes in pieces."""
        if self.grown.get(key, ()) is not self.fields.get(key):  # that of a repetition, or none
            self.grown[key] = self.fields[key] = [*array(self.fields, key)]
        self.grown[key] += items

    def begin_call(self, call_id: str | None, form: CallForm, *, provider_executed: bool) -> None:
        """Begin the input of a call, or add to what is known of it. Without an id the call has that of its item."""
        recorder = self.decoder.recorder
        opened = recorder.open_of(self)
        if call_id and isinstance(opened, OpenCall) and opened.provider_id != call_id:
            self.state["id"] = call_id  # it comes with the end alone
        call_id = call_id or string(self.fields, "id") or None
        name, given = form.name_in(self.fields), form.input_in(self.fields, None)
        recorder.tool_input(call_id, name, key=self, provider_executed=provider_executed, state=self.state, input=given)
        if not self.has_text and (text := form.text_elsewhere(self.fields)):
            self.add(text)

    def waits_for_input(self) -> bool:
        """
        Return whether the end of a call of the app had an empty input, so that the last event may have it.

        OpenRouter's does, alone (OpenRouterTeam/ai-sdk-provider#336).
        """
        opened = None if self.has_text else self.decoder.recorder.open_of(self)
        return isinstance(opened, OpenCall) and not opened.provider_executed and self.fields.get(self.field) == ""

    def add(self, delta: str) -> None:
        """Record a delta of the text or the input."""
        recorder = self.decoder.recorder
        if delta:
            self.has_text = True
        if self.role == "text":
            recorder.text(delta, key=self.key, state=self.state)
        elif self.role == "call":
            recorder.tool_input(None, None, delta, key=self.key)
        else:
            recorder.reasoning(delta, key=self.key, state=self.state)

    def complete(self) -> None:
        """Record the whole text or input that is known, which wins over the deltas; an empty one does not."""
        whole = self.fields.get(self.field)
        if self.role == "call" and whole and not isinstance(whole, str):
            whole = write_json(whole).decode()  # an input that a server has parsed
        if whole == "{}" and self._has_input():
            return  # LM Studio, with each end (earendil-works/pi#917)
        if whole and isinstance(whole, str):
            if self.has_text:
                self.decoder.replace_text(self.key, whole)
            else:
                self.add(whole)

    def _has_input(self) -> bool:
        """Return whether a call has got an input that is whole and not empty."""
        opened = self.decoder.recorder.open_of(self.key)
        return isinstance(opened, OpenCall) and bool(parse_input(opened.buffer.value())[0])

    def answer_elsewhere(self) -> None:
        """End a call of a function that the server has run, and of which another item has the result (Perplexity)."""
        if self.role == "call" and not self.ended:
            self.ended = True
            self.complete()
            state = {"type": self.kind, **others({"item_id": string(self.fields, "id")})}
            self.decoder.recorder.keep(self.key, state)
            self.decoder.recorder.result(None, name=self.kind, key=self.key, provider_executed=True)

    def add_late(self, key: str, fields: Fields) -> None:
        """Record a field of an item that has ended without it, in a fragment of its own."""
        value = fields.get(key)
        if value and not self.fields.get(key):
            self.fields[key] = value
            state = {**self.state, **others({"item_id": string(self.fields, "id") or string(fields, "id")}), key: value}
            late = OpenItem(self.decoder, self.kind, self.role, "", state)
            self.decoder.recorder.begin(late, self.role, state)
            self.decoder.recorder.end(late)

    def part_at(self, where: str, index: int | None, place: int = -1) -> OpenItem | None:
        """Return the part with an index, or without one that at a place, by default the last; `None` without one."""
        if index is not None:
            return self.by_index.get((where, index))
        found = self.by_array.get(where, [])[place : place + 1 or None]
        return found[0] if found else None

    def with_parts(self, texts: Iterable[tuple[str, int, Fields]]) -> Iterator[tuple[OpenItem | None, Fields]]:
        """
        Yield the texts of the whole item, each with the part at its place, or one of an array that the item has not.

        The latter where both have the same text: LiteLLM streams summaries, and has them as contents at the end.
        """
        by_text: dict[str, dict[str, OpenItem]] = {}
        for part in reversed(self.parts):
            if not self.fields.get(part.where):
                opened = self.decoder.recorder.open_of(part.key)
                known = string(part.fields, part.field) if opened is None else opened.buffer.value()
                by_text.setdefault(part.field, {})[known or ""] = part
        for where, place, text in texts:
            same = [known.get(given) for field, known in by_text.items() if (given := string(text, field))]
            yield self.part_at(where, None, place) or next(filter(None, same), None), text

    def take_finished(self) -> list[OpenItem]:
        """Return the parts that have not ended, of those learned since the last part began: all of them has come."""
        learned = dict.fromkeys(self.learned)
        self.learned.clear()
        return [part for part in learned if not part.ended]

    def part_of(self, where: str, index: int | None, kind: str, verb: str) -> OpenItem | None:
        """
        Return the part of an event; at an unknown index the last one, if no text has come for its own index.

        So it is where the deltas of the last one began at an index that is not its place.
        """
        found = self.part_at(where, index)
        if found is not None:
            return found  # as nearly always
        last = self.part_at(where, None)
        if last is None or verb == "added" or last.kind != kind or last.ended:
            return None
        place = len(self.by_array[where]) - 1
        last.moves = last.moves or not (last.whole or (last.has_text and last.index == place))
        return last if last.moves else None

    def begin_part(self, kind: str, form: TextForm, index: int | None, *, typed: bool = False) -> OpenItem:
        """Begin the next part of an array; its fragments have its type in their state when *typed*."""
        siblings = self.by_array.setdefault(form.where, [])
        place = len(siblings)
        state = {**self.state, place_key(form.where): place, **({"type": kind} if typed else {})}
        at = place if index is None else index
        part = OpenItem(self.decoder, kind, self.role, form.field, state, form.where, at, learned=self.learned)
        part.key = part if self.parts else self
        self.parts.append(part)
        siblings.append(part)
        self.by_index.setdefault((form.where, at), part)
        self.decoder.recorder.begin(part.key, self.role, state)
        if self.role == "reasoning" and part.key is self:
            self.decoder.recorder.keep(self, state)  # it began before its first part
        return part


@final
class OpenItems:
    """
    The items of an answer, in the order in which they began.

    Args:
        decoder: The decoder of the stream. It has an `item_key`.

        texts: The types of texts of the wire.

        calls: The types of calls of the wire.

        kept: A field that documents of the provider may come without, so items that were recorded before keep theirs;
            and so may the ends of its reasonings.
    """

    def __init__(self, decoder: DecoderBase, texts: TextForms, calls: CallForms, *, kept: str = "") -> None:
        self._decoder = decoder
        states = [part.state for part in decoder.prior.parts] if decoder.prior is not None else []
        self._kept_field = kept
        self._kept = {state.get("item_id"): {kept: state[kept]} for state in states if kept in state}
        self._texts, self._calls = texts, calls
        self._by_number: dict[int, OpenItem] = {}
        self._at: dict[int | str | None, OpenItem] = {}
        """The items by their last index and by each of their ids."""

        self._of_kind: dict[str, list[OpenItem]] = {}
        """The items by their types, without those at the ends that have ended."""

        self._waiting: dict[tuple[str, str | None], deque[OpenItem]] = {}
        """The calls that wait for an item with their result, by its type and their id."""

        self._asked: dict[tuple[str | None, str | bytes], deque[OpenItem]] = {}
        """The calls that wait, by their names and inputs."""

        self._next_number = 0
        self._shared: set[int | None] = {None}
        """The indexes that several calls have had at once, and `None`: there the id alone counts."""

    def __iter__(self) -> Iterator[OpenItem]:
        return iter(self._by_number.values())

    def __len__(self) -> int:
        return len(self._by_number)

    def unended(self) -> list[OpenItem]:
        """Return the items that have not ended, but for messages that were announced alone (vLLM)."""
        return [item for item in self if not item.ended and (item.role != "text" or self._has_content(item))]

    def at(self, address: int | str | None) -> OpenItem | None:
        """Return the item of an index or an id; `None` without one."""
        return self._at.get(address)

    def is_at(self, index: int | None, item: OpenItem) -> bool:
        """Return whether an index alone names an item: it is there, and no other call was open there with it."""
        return self._at.get(index) is item and index not in self._shared

    def wait(self, call: OpenItem, kind: str) -> None:
        """Let a call wait for an item of a type with its result; an empty one for none."""
        call.awaits = kind
        if kind:
            self._waiting.setdefault((kind, string(call.fields, "call_id")), deque()).append(call)

    def answered_by(self, item: OpenItem) -> OpenItem | None:
        """Return the call that has waited for an item with its result, and now has it; `None` when none has."""
        call_id = string(item.fields, "call_id")
        waiting = self._waiting.get((item.kind, call_id), deque())
        while waiting:
            call = waiting.popleft()
            if call.awaits == item.kind and string(call.fields, "call_id") == call_id:
                call.awaits, call.answer = "", item
                return call
        return None

    def run_elsewhere(self, call: OpenItem) -> None:
        """
        Remember a call of a function that has ended, or end that which a call of the provider repeats with its result.

        LiteLLM runs tools of MCP servers itself: the model calls a function, and behind it is a call of the server with
        the same name and input (BerriAI/litellm#40121).
        """
        if not (call.awaits or self._asked):
            return
        name, given = string(call.fields, "name"), call.fields.get(call.field) or "{}"
        address = name, given if isinstance(given, str) else write_json(given)
        if call.awaits:
            self._asked.setdefault(address, deque()).append(call)
        elif (asked := self._asked.get(address)) and not self._is_declared(name):
            found = asked.popleft()
            found.awaits, state = "", {"type": found.kind}
            self._decoder.recorder.result(None, name=found.kind, state=state, key=found, provider_executed=True)

    def _is_declared(self, name: str | None) -> bool:
        return name is None or name in [string(tool, "name") for tool in mappings(self._decoder.request, "tools")]

    def with_thought(self, response: Fields, *, is_end: bool) -> Sequence[Fields]:
        """
        Return the output of a response, with its reasoning where that is a text beside it (mistral.rs).

        A text that repeats the request comes before the end, or beside items. Items of a stream keep their indexes.
        """
        output, text = mappings(response, "output"), string(response, "reasoning") if is_end else None
        if not text or "reasoning" in [*[item.kind for item in self], *[string(item, "type") for item in output]]:
            return output
        thought: Fields = {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}
        return (*output, thought) if self._by_number else (thought, *output)

    def unread(self, items: Iterable[Fields]) -> Iterator[tuple[int | None, Fields]]:
        """
        Yield those of all items that have not ended, each with its index; with `None` where it is known otherwise.

        An item has the id of one that has begun, or is the next of its type, but for those of which nothing came where
        there are too many. Others are new, since the stream had none; those before the first known one have numbers
        below those of the stream, where it has theirs.

        The field that is kept may come here alone (Azure): an item that has ended gets it in a fragment without text.
        """
        given = [(fields, string(fields, "type") or "", self.at(string(fields, "id"))) for fields in items]
        named = {item for _, _, item in given}
        left: dict[str, list[OpenItem]] = {}
        for each in reversed(self._by_number.values()):
            if each not in named:
                left.setdefault(each.kind, []).append(each)
        wanted = Counter([kind for _, kind, item in given if item is None])
        for kind, items_left in left.items():
            if len(items_left) > wanted[kind]:
                left[kind] = [each for each in items_left if each.ended or self._has_content(each)]
        known = [item or (left[kind].pop() if left.get(kind) else None) for _, kind, item in given]
        indexes = {item: at for at, item in self._at.items() if isinstance(at, int)}
        first = next((at for at, item in enumerate(known) if item is not None), 0)
        for index, ((fields, kind, _), item) in enumerate(zip(given, known, strict=True)):
            if item is None:
                is_taken = self.at(index) is not None
                yield (index - first if index < first else None) if is_taken else index, fields
            elif not item.ended and item.kind == kind:
                if (item_id := string(fields, "id")) is not None:
                    self._at[item_id] = item  # where another one is at its index
                yield None if item in named else indexes.get(item), fields
            elif item.ended and item.role == "reasoning":
                item.add_late(self._kept_field, fields)

    def find(
        self, index: int | None, item_id: str | None, kind: str, verb: str, *, whole: Fields | None = None
    ) -> OpenItem:
        """
        Return the item of an event, which begins unless it has.

        The index counts, and the id only where it has no item of this type: there are servers that change ids with
        every event. The id counts alone where another call begins at the index of one that is open: gateways write
        the index of Chat Completions there, which some servers leave at 0. Without both, it is the last of its type
        that has not ended; so it is of an end at an index that nothing has, where that is the item that began last and
        has no id, or the same text (vLLM and SGLang count before they end an item). More of the text of one that has
        ended is another item: OmniRoute ends a message before a call and writes on (its #14153), CLIProxyAPI at each
        search of Claude (its #3801).

        Args:
            index: Index of the item.

            item_id: Id of the item.

            kind: Type of the item; one of another type at the same index is another item.

            verb: `done` for an event that ends the item, or with which all of its text or input has come; `delta` for
                one with more of these.

            whole: The item, where the event has it. One that has ended is then another item, unless it has the same
                id. The id of a call takes the place of an id that is missing, also in the events about its input
                (llama.cpp).
        """
        is_end = verb == "done"
        call_id = None if whole is None or kind not in self._calls else string(whole, "call_id")
        address = item_id or call_id
        if call_id and not is_end and self._is_other_call(self._at.get(index), call_id):
            self._shared.add(index)
        index = None if index in self._shared else index
        item = self._at.get(address if index is None else index)
        if item is not None and item.kind == kind and whole is None:
            if item_id and not item.address and not item.fields.get("id"):
                item.address = item_id
                self._at.setdefault(item_id, item)
            if verb == "delta" and item.ended and item.role in ("text", "reasoning"):
                item = self._elsewhere(index, address, kind, whole, is_end=False) or self._begin(index, None, kind)
                self._at[address if index is None else index] = item
            return item  # as nearly always
        if item is None or (item.kind != kind and index is not None):
            item = self._elsewhere(index, address, kind, whole, is_end=is_end) or item
        is_whole = whole is not None
        if item is None or item.kind != kind or (is_whole and item.ended and item.fields.get("id") != item_id):
            self._decoder.ensure_started()
            if item is not None and is_end and address is None and self._role_of(kind) == "opaque":
                item.answer_elsewhere()
            item = self._begin(index, item_id, kind)
            is_whole = True  # so that its id is known
        if is_whole and address:
            self._at[address] = item
        return item

    def _begin(self, index: int | None, item_id: str | None, kind: str) -> OpenItem:
        number = self._next_number if index is None or index in self._by_number else index
        self._next_number = max(self._next_number, number + 1)
        state = {self._decoder.item_key or "": number}
        fields = {"id": item_id, **self._kept.get(item_id, {})} if item_id else {}
        field = self._calls.inputs.get(kind, "")
        item = OpenItem(self._decoder, kind, self._role_of(kind), field, state, fields=fields)
        self._by_number[number] = self._at[number if index is None else index] = item
        self._of_kind.setdefault(kind, []).append(item)
        return item

    def _elsewhere(
        self, index: int | None, address: str | None, kind: str, whole: Fields | None, *, is_end: bool
    ) -> OpenItem | None:
        """Return the open item of an event at whose place there is none of its type; `None` for that of a new one."""
        named = self._at.get(address)
        if index is not None and named is not None and named.kind == kind and not named.ended:
            return named
        if index is None:
            began = self._of_kind.get(kind, [])
            while began and began[-1].ended:
                began.pop()
            return began[-1] if began and (whole is None or (is_end and address is None)) else None
        last = next(reversed(self._by_number.values()), None) if is_end else None
        if last is None or last.kind != kind or last.ended:
            return None
        return last if not last.fields.get("id") or self._has_text_of(last, whole or {}) else None

    def _is_other_call(self, item: OpenItem | None, call_id: str) -> bool:
        return item is not None and not item.ended and string(item.fields, "call_id") not in (None, "", call_id)

    def _has_text_of(self, item: OpenItem, whole: Fields) -> bool:
        """Return whether the last text of an item is that of a whole one, and neither is empty."""
        texts = self._texts.of(whole)
        opened = self._decoder.recorder.open_of(item.parts[-1].key) if item.parts else None
        text = texts[-1][2].get(item.parts[-1].field) if texts and opened is not None else None
        return opened is not None and bool(text) and text == opened.buffer.value()

    def _has_content(self, item: OpenItem) -> bool:
        """Return whether more than the start of an item has come."""
        return bool(item.parts) or item.has_text or any(item.fields.get(where) for where in self._texts.arrays)

    def _role_of(self, kind: str) -> ItemRole:
        if kind in self._calls:
            return "call"
        return "result" if kind in self._calls.outputs else self._texts.roles.get(kind, "opaque")
