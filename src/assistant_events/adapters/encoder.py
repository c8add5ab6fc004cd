"""
A conversation to the next request of a provider: what every encoder shares.

A subclass writes the items of its wire. Which parts and state are sent, the choice between a chained and a full
request, and the repairs are made here: every call that is sent has a result, and each repair and each part or state
that is not sent is a `Drop`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import takewhile, zip_longest
from typing import Any, ClassVar, Final, Literal, NamedTuple, assert_never, get_args

import attrs

from assistant_events import messages as msg
from assistant_events import values as v
from assistant_events.adapters.call_ids import assign_call_ids, plain_name, shortened, wire_id
from assistant_events.adapters.call_results import in_words, is_failed, repairs, result_content, text_of, with_input
from assistant_events.adapters.compaction import SUMMED_UP, before_summary, since_compaction
from assistant_events.adapters.encoded import Encoded, EncodedMessage, EncodeMode, Item, drops_in_order, messages_of
from assistant_events.adapters.items import text_block
from assistant_events.adapters.json_fields import string
from assistant_events.adapters.media_urls import is_readable, usual_media
from assistant_events.adapters.refused_state import refused_at
from assistant_events.adapters.signed_calls import lost_calls, unsigned_calls, unsigned_images, with_signature
from assistant_events.errors import LocalProtocolError
from assistant_events.history import DEFAULT_POLICY, REPAIRS, Drop, DropReason, Policy, Relation, Selection, select

UNREAD: Final = "The user has sent {}, which cannot be passed on."
"""What is sent in place of a prompt of which nothing can be sent."""


class _Chain(NamedTuple):
    """A stored answer, its hops (that answer included), and the messages after it."""

    answer: msg.AssistantMessage
    hops: list[EncodedMessage]
    new: list[EncodedMessage]


class EncoderBase(ABC):
    """
    Base class of encoders. An instance makes one request; `encode` is what a `Dialect` names.

    A subclass implements `answer_items`, `result_item` and the blocks of its content.
    """

    dialect: ClassVar[str]

    provider: ClassVar[str]
    """Provider of the request, unless the caller of `encode` names another."""

    policy: ClassVar[Policy] = DEFAULT_POLICY
    """Which state is sent back, and to whom. A `Dialect` takes its `policy` from here."""

    conversation_fields: ClassVar[tuple[str, ...]] = ()
    """Fields of the request that the conversation fills alone; the body of the app must not have them."""

    stored_key: str = ""
    """Key of the state that has the id of a stored answer; empty where the provider stores none."""

    stored_field: ClassVar[str] = ""
    """Field of a chained request that has this id."""

    placed_state: ClassVar[Mapping[str, frozenset[str]]] = {}
    """Keys of state that are sent, by `type` of the part, and `result` for results of the provider's calls."""

    unplaced_state: ClassVar[frozenset[str] | None] = None
    """Keys of state that are not sent, where all others are; `None` where `placed_state` lists those that are."""

    signature_key: ClassVar[str] = ""
    """Key of the state of a call, or a path with dots, that has its signature; empty where calls have none."""

    checks_signatures: bool = False
    """Whether the model refuses a step of the current turn whose first call has no signature."""

    signed_images: Collection[str] = ()
    """Keys of state of which an image of an answer needs one; empty where the model takes any image."""

    not_in_call_ids: ClassVar[re.Pattern[str] | None] = None
    """
    A character that ids of calls cannot have. Calls then get valid ids, unique in the conversation, in their state;
    `None` where the provider takes any id.
    """

    own_addresses: tuple[str, ...] = ()
    """Beginnings of addresses of media that no other provider reads. Media at those of others are not sent."""

    media_in_results: Collection[str] | None = None
    """Media types that a result can hold; others follow as of the user. `None`: all that `result_content` takes."""

    refuses_blanks: ClassVar[bool] = False
    """Whether a prompt cannot have a text of blanks, and has to be there where nothing of it can be sent."""

    marks_failures: ClassVar[bool] = False
    """Whether the wire has a mark for a call that has failed, beside the text of its error."""

    longest_call_id: ClassVar[int | None] = None
    """How many characters these ids may have, 64 or less; `None` where the provider takes any length."""

    longest_name: int | None = None
    """How many letters, digits, `_` and `-` a name of a call may have, which else gets another one; `None`: any."""

    def __init__(
        self, messages: tuple[msg.Message, ...], body: dict[str, Any], *, provider: str, policy: Policy, strip: bool
    ) -> None:
        self.target = v.Origin(provider=provider, model=self.model_of(body), dialect=self.dialect)
        for key in self.conversation_fields:
            if body.pop(key, None) is not None:
                raise ValueError(f"body: {key} comes out of the transcript, leave it out")
        self._recorded = messages
        self.body = body
        self.strip = strip
        self._policy = policy
        stripped = messages[: len(messages) if strip else refused_at(messages, self.target, policy)]
        self._bare = frozenset([each.id for each in stripped])
        self.messages = since_compaction(messages, self.target, policy, self.is_summary, len(stripped))
        """The conversation, from the last answer on in which the provider has summed up what is before it."""

        self.prepare()
        self._ids = {} if self.not_in_call_ids is None else assign_call_ids(messages, self.fit_call_id)
        turn = takewhile(lambda each: not isinstance(each, msg.UserMessage), reversed(self.messages))
        self._turn = frozenset([each.id for each in turn])

    @classmethod
    def encode(
        cls,
        transcript: msg.Transcript | Iterable[msg.Message],
        body: Mapping[str, Any],
        *,
        mode: EncodeMode = "auto",
        provider: str | None = None,
        policy: Policy | None = None,
        strip: bool = False,
    ) -> Encoded:
        """
        Return *body* with the conversation in it.

        `chained` needs a last answer that is completed, of the same model, and stored by the provider, with something
        new behind it and nothing before it that it cannot know. `full` is always possible. An answer that is paused
        and the last message is resumed (`hop`), where the wire has a form for it.

        Args:
            transcript: The conversation, of which the `context()` is taken, or messages.

            body: The request in the words of the provider, without the conversation. It is not changed.

            mode: How the conversation is sent.

            provider: Provider of the request, if not the one of the dialect.

            policy: What may be sent, instead of the policy of the dialect, for example with its
                `interchangeable_models`.

            strip: Send no state, for a conversation that its own provider refuses; then nothing is chained.

        Raises:
            TypeError: When *transcript* is not a conversation, or *body* is not JSON.

            ValueError: When *body* has no model, or a field of the conversation; for an unknown *mode*.

            LocalProtocolError: When *mode* is `chained` and that is not possible, or a paused answer cannot be resumed.
        """
        # Any in the signature: the body is the app's.
        if mode not in get_args(EncodeMode):
            raise ValueError(f"mode: expected 'auto', 'chained' or 'full', got {mode!r}")
        if strip and mode == "chained":
            raise ValueError("strip: the state that the service keeps cannot be left out; use the mode 'full'")
        if not isinstance(body, Mapping):
            raise TypeError(f"body: expected a mapping, got {type(body).__name__}")
        request = cls(
            messages_of(transcript),
            v.thaw(v.JsonObject(body)),
            provider=provider or cls.provider,
            policy=policy or cls.policy,
            strip=strip,
        )
        return request._full() if strip or mode == "full" else request._shortest(mode)

    # -- implemented by subclasses

    def prepare(self) -> None:  # noqa: B027 - most dialects need nothing
        """Look at `messages` and `body`, before anything of them is written. Nothing by default."""

    def model_of(self, body: Mapping[str, Any]) -> str:
        """Return the model that *body* names; without one, raise a `ValueError`."""
        model = string(body, "model")
        if not model:
            raise ValueError("body: expected a model, as a non-empty string under `model`")
        return model

    def fit_call_id(self, call_id: str) -> str:
        """Return an id that the provider takes: by default by `not_in_call_ids` and `longest_call_id`."""
        fit = call_id if self.not_in_call_ids is None else self.not_in_call_ids.sub("_", call_id)
        return fit if self.longest_call_id is None else shortened(fit, self.longest_call_id)

    def content(self, content: v.Content) -> Item | None:
        """Return content as a block; `None` when a request cannot have it. JSON is sent as JSON text."""
        if isinstance(content, v.MediaContent):
            is_read = is_readable(content, self.own_addresses, self.target.provider)
            return self.media_block(usual_media(content)) if is_read else None
        text = text_of((content,))
        return self.text_block(text) if not self.refuses_blanks or text.strip() or not text else None

    def text_block(self, text: str) -> Item | None:
        """Return a text as a block: by default one of the type `text`."""
        return text_block(text)

    def media_block(self, media: v.MediaContent) -> Item | None:
        """Return media as a block; `None` when a request cannot have it, as by default."""
        return None

    def result_content(self, content: v.Content) -> Item | None:
        """Return content of a result as a block; `None` when a result cannot have it. By default as in a prompt."""
        return self.content(content)

    def user_item(self, blocks: list[Item]) -> Item:
        """Return the item of a prompt: by default a message of the user."""
        return {"role": "user", "content": blocks}

    @abstractmethod
    def answer_items(self, message: msg.AssistantMessage) -> list[Item]:
        """Return the items of an answer; *message* has the parts and the state that are sent."""

    @abstractmethod
    def result_item(self, call: msg.ToolPart, content: tuple[v.Content, ...], *, failed: bool) -> Item:
        """
        Return the item of a result of the app: *content* is the error, if any, then the output.

        It has only content for which `result_content` returns a block.
        """

    def conversation(self, items: list[Item]) -> dict[str, Any]:
        """Return the fields of the request that hold the conversation: by default the first of them has the items."""
        return {self.conversation_fields[0]: items}

    def completed(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the body that is sent."""
        return body

    def is_summary(self, part: msg.Part) -> bool:
        """Return whether *part* is a summary by the provider of what is before it. None is by default."""
        return False

    def unsendable(self, part: msg.Part) -> DropReason | None:
        """Return why no item can hold *part*; `None` when one can. It has content or state."""
        is_empty = isinstance(part, msg.MediaPart) and not part.data and part.uri is None
        return DropReason.EMPTY if is_empty else None

    def is_sent(self, message: msg.AssistantMessage, part: msg.Part) -> bool:
        """
        Return whether the items of *message* hold *part*, which is reported as not sent otherwise.

        The default compares the items of the part alone with those of no part; a dialect that knows answers faster.
        """
        alone, nothing = [self.answer_items(attrs.evolve(message, parts=parts)) for parts in ((part,), ())]
        return alone != nothing

    def has_place(self, part: msg.Part) -> bool:
        """Return whether all state of *part* is sent. The `id` and the number of the item need no place."""
        if self.unplaced_state is not None:
            return self.unplaced_state.isdisjoint(part.state)
        own = {"id", self._policy.item_key}
        placed = part.state.keys() - own <= self.placed_state.get(part.type, frozenset())
        if isinstance(part, msg.ToolPart):
            keys = self.placed_state.get("result", frozenset[str]()) if part.provider_executed else frozenset[str]()
            placed = placed and part.result_state.keys() - {self._policy.item_key} <= keys
        return placed

    def sends_content(self, part: msg.Part) -> bool:
        """Return whether all content of *part*, which is sent and no call of the app, is. By default it is."""
        return True

    def needs_result(self, call: msg.ToolPart) -> bool:
        """Return whether the app has to send a result of *call*."""
        return not call.provider_executed

    def refused_calls(self, message: msg.AssistantMessage, parts: Sequence[tuple[int, msg.Part]]) -> Collection[int]:
        """
        Return the places of calls and images that the provider refuses as such; they are sent as content of the user.

        By default unsigned calls of the turn, where it `checks_signatures`, but not its own that came so, and images.
        """
        is_checked = self.checks_signatures and self._policy.lost_signature is None and message.id in self._turn
        calls, key = self.calls_of_app(parts) if is_checked else [], self.signature_key
        is_own = self.is_of_provider(message)
        refused = lost_calls(message, parts, calls, key) if is_own else unsigned_calls(calls, key)
        return unsigned_images(parts, self.signed_images) + refused

    def summed_up(self, parts: Sequence[tuple[int, msg.Part]]) -> dict[int, str]:
        """Return the places of parts of an answer that a summary behind them has, with the reason."""
        calls = dict(self.calls_of_app(parts))
        return dict.fromkeys(before_summary(parts, self._policy, self.is_summary, calls), SUMMED_UP)

    def left_out(
        self, message: msg.AssistantMessage, parts: Sequence[tuple[int, msg.Part]]
    ) -> Mapping[int, DropReason | str]:
        """Return the places of parts that are refused for what is sent of the other *parts*, with the reasons."""
        return {}

    def resumed(self, hops: Sequence[msg.AssistantMessage]) -> tuple[dict[str, Any], bool] | None:
        """
        Return the fields that resume a paused answer, and whether the conversation before it is sent.

        `None` where the wire has no form for it: *hops*, the messages of the answer, are then sent as others are.
        """
        return None

    # -- called by subclasses

    def result_value(self, content: tuple[v.Content, ...]) -> str | list[Item | None]:
        """Return the content of a result: one text as it is, anything else as blocks."""
        match content:
            case (v.TextContent(text=text),):
                return text
            case _:
                return [self.content(item) for item in content]

    def calls_of_app(self, parts: Iterable[tuple[int, msg.Part]]) -> list[tuple[int, msg.ToolPart]]:
        """Return the calls among *parts* that need a result, with their places."""
        return [(place, part) for place, part in parts if isinstance(part, msg.ToolPart) and self.needs_result(part)]

    def is_own(self, message: msg.AssistantMessage) -> bool:
        """Return whether *message* is of the model that is asked."""
        return self._policy.relation(message.origin, self.target) is Relation.SAME_ORIGIN

    def is_of_provider(self, message: msg.AssistantMessage) -> bool:
        """Return whether *message* is of the provider that is asked, in this dialect."""
        return self._policy.relation(message.origin, self.target) is not Relation.OTHER_PROVIDER

    def last_state(self, key: str) -> str | None:
        """Return the last text under *key* in the state of a completed answer, also of one before a compaction."""
        answers = [each for each in self._recorded if isinstance(each, msg.AssistantMessage) and _is_completed(each)]
        sent = [each for each in answers if each.id not in self._bare]
        own = [each for each in sent if self._policy.keeps_step(each.origin, self.target)]
        return next((found for each in reversed(own) if (found := string(each.state, key))), None)

    # -- modes

    def _full(self) -> Encoded:
        items, drops = self._items(self.messages)
        return self._encoded("full", self.conversation(items), drops)

    def _shortest(self, mode: EncodeMode) -> Encoded:
        """Return a hop, a chained or a full request, the first of them that is possible."""
        if self.messages and self._is_hop(self.messages[-1]):
            first = self._first_hop(len(self.messages) - 1)
            resumed = self.resumed([hop for hop in self.messages[first:] if isinstance(hop, msg.AssistantMessage)])
            if resumed is not None:
                fields, is_full = resumed
                items, drops = self._items(self.messages[:first]) if is_full else ([], [])
                return self._encoded("hop", {**(self.conversation(items) if is_full else {}), **fields}, drops)
        chain = self._chain()
        if isinstance(chain, _Chain):
            return self._chained(chain)
        if mode == "chained":
            raise LocalProtocolError(f"the request cannot be chained: {chain}; use the mode 'full'")
        return self._full()

    def _chained(self, chain: _Chain) -> Encoded:
        items = [item for hop in chain.hops for item in hop.results]
        drops = [drop for hop in chain.hops for drop in hop.drops if drop.reason in REPAIRS]
        for encoded in chain.new:
            items += encoded.items
            drops += encoded.drops
        fields = {self.stored_field: string(chain.answer.state, self.stored_key), **self.conversation(items)}
        return self._encoded("chained", fields, drops)

    def _chain(self) -> _Chain | str:
        """Return what a chained request is made of, or why there can be none."""
        new: list[EncodedMessage] = []
        for at in range(len(self.messages) - 1, -1, -1):
            message = self.messages[at]
            encoded = self._message(message)
            if isinstance(message, msg.CompactionMessage) and encoded.items:
                break
            # A failed answer of which nothing is sent might as well not be there.
            if isinstance(message, msg.AssistantMessage) and (
                _is_completed(message) or encoded.items or encoded.results
            ):
                first = self._first_hop(at)
                ids, self._ids = self._ids, {}  # the provider has stored its own
                hops = [self._message(hop) for hop in self.messages[first : at + 1]]
                self._ids = ids
                chain = _Chain(message, hops, new[::-1])
                return self._obstacle(chain, first, at) or chain
            new.append(encoded)
        return "the conversation has no answer"

    def _obstacle(self, chain: _Chain, first: int, at: int) -> str | None:
        """Return why a request cannot be chained; `None` when it can."""
        answer = chain.answer
        name, stored_as = f"answer {answer.id!r}", self.stored_key.replace("_", " ")
        calls = [call for each in self.messages[first : at + 1] for call in getattr(each, "tool_calls", ())]
        has_nameless = any(not wire_id(call) for call in calls if not call.provider_executed)
        needs_words = any(drop.reason is DropReason.REWORDED for hop in chain.hops for drop in hop.drops)
        obstacles = [
            (not self.stored_key, "the provider stores no answers"),
            (self.body.get("store") is False, "store is off"),
            (not _is_completed(answer), f"{name} is not completed"),
            (not self.is_own(answer), f"{name} is of another model or agent"),
            (answer.id in self._bare, f"{name} has state that was refused"),
            (not string(answer.state, self.stored_key), f"{name} was not stored, it has no {stored_as}"),
            (answer.finish_reason is v.FinishReason.PAUSE, f"{name} was paused before its end"),
            (_is_newer(self.messages[:first], self.messages[first]), f"{name} does not know all before it"),
            (has_nameless, f"{name} has a call without an id"),
            (needs_words, f"{name} has a call whose result has no form"),
            (
                not any(hop.results for hop in chain.hops) and not any(each.items for each in chain.new),
                f"nothing has come after {name}",
            ),
        ]
        return next((reason for found, reason in obstacles if found), None)

    def _is_hop(self, message: msg.Message) -> bool:
        if not (isinstance(message, msg.AssistantMessage) and self.is_own(message)):
            return False
        has_token = not message.state.keys().isdisjoint(self.conversation_fields)  # a higher limit continues it
        is_spent = message.finish_reason is v.FinishReason.LENGTH and has_token
        return is_spent or message.finish_reason is v.FinishReason.PAUSE

    def _first_hop(self, at: int) -> int:
        """Return the place of the first message of the answer whose last hop is at *at*."""
        while at > 0 and self._is_hop(self.messages[at - 1]):
            at -= 1
        return at

    def _items(self, messages: tuple[msg.Message, ...]) -> tuple[list[Item], list[Drop]]:
        """Return all items. Results of the app follow the answer with their calls, where it has hops the last one."""
        can_resume = type(self).resumed is not EncoderBase.resumed
        items: list[Item] = []
        results: list[Item] = []
        drops: list[Drop] = []
        for message, following in zip_longest(messages, messages[1:]):
            encoded = self._message(message)
            items += encoded.items
            results += encoded.results
            drops += encoded.drops
            if not (can_resume and self._is_hop(message) and isinstance(following, msg.AssistantMessage)):
                items += results
                results = []
        return items, drops

    def _encoded(self, mode: Literal["chained", "full", "hop"], fields: dict[str, Any], drops: list[Drop]) -> Encoded:
        return Encoded(body=self.completed({**self.body, **fields}), drops=tuple(drops), mode=mode)

    # -- messages

    def _message(self, message: msg.Message) -> EncodedMessage:
        match message:
            case msg.UserMessage():
                return self._user(message.id, message.content)
            case msg.CompactionMessage():
                return self._summary(message)
            case msg.AssistantMessage():
                return self._answer(message)
            case _ as never:
                assert_never(never)

    def _user(self, message_id: str, content: Sequence[v.Content]) -> EncodedMessage:
        blocks, is_complete = self._blocks(content)
        reasons = [] if is_complete else [DropReason.UNSUPPORTED]
        if not blocks:
            reasons = reasons or [DropReason.EMPTY]
            unread = ", ".join([item.media_type for item in content if isinstance(item, v.MediaContent)])
            if unread or self.refuses_blanks:  # without a prompt the roles would not alternate
                blocks, _ = self._blocks([v.TextContent(UNREAD.format(unread or "a blank text"))])
        drops = [Drop(message_id, None, reason, whole=reason is DropReason.EMPTY) for reason in reasons]
        return EncodedMessage([self.user_item(blocks)] if blocks else [], [], drops)

    def _blocks(self, content: Iterable[v.Content]) -> tuple[list[Item], bool]:
        """Return the blocks of content, without empty text, and whether all of it has one."""
        found = [self.content(item) for item in content if not (isinstance(item, v.TextContent) and not item.text)]
        blocks = [block for block in found if block is not None]
        return blocks, len(blocks) == len(found)

    def _result_item(self, call: msg.ToolPart) -> tuple[Item, list[Item], bool]:
        """Return the item of a result, the blocks that follow the results, and whether all content is in them."""
        content = [usual_media(each) if isinstance(each, v.MediaContent) else each for each in result_content(call)]
        known = self.media_in_results
        apart = [
            item
            for item in content
            if known is not None and isinstance(item, v.MediaContent) and item.media_type not in known
        ]
        held = tuple([item for item in content if item not in apart and self.result_content(item) is not None])
        item = self.result_item(call, held or (v.TextContent(""),), failed=is_failed(call))
        blocks, is_whole = self._blocks(apart)
        return item, blocks, is_whole and len(held) + len(apart) == len(content)

    def selected(self, message: msg.Message, unlinked: Collection[int] = ()) -> Selection:
        """Return what may be sent of a message, of which the parts at *unlinked* cannot be."""
        return select([message], self.target, policy=self._policy, strip=message.id in self._bare, unlinked=unlinked)

    def _summary(self, message: msg.CompactionMessage) -> EncodedMessage:
        """Return a summary of the app as a prompt."""
        selection = self.selected(message)
        items: list[Item] = []
        drops = list(selection.drops)
        for kept in selection.messages:
            assert isinstance(kept, msg.CompactionMessage)
            if kept.state:
                drops.append(Drop(message.id, None, DropReason.UNPLACED))
            if self.refuses_blanks and not kept.text.strip():
                drops.append(Drop(message.id, None, DropReason.EMPTY, whole=True))
                continue
            encoded = self._user(message.id, (v.TextContent(kept.text),))
            items += encoded.items
            drops += encoded.drops
        return EncodedMessage(items, [], drops)

    def _answer(self, message: msg.AssistantMessage) -> EncodedMessage:
        kept, parts, left_out, drops = self._chosen(message)
        refused = self.refused_calls(message, parts)
        has_placeholder = self.signature_key and self._policy.lost_signature is not None and message.id in self._turn
        unsigned = unsigned_calls(self.calls_of_app(parts), self.signature_key)[:1] if has_placeholder else ()
        sent: list[msg.Part] = []
        results, following = list[Item](), list[Item]()  # blocks of the user, behind the results
        for place, part in parts:
            is_refused = place in refused
            reason = self.unsendable(part) or left_out.get(place)
            if reason is None and not is_refused and not self.is_sent(kept, with_input(part)):
                reason = DropReason.UNPLACED
            if reason is not None:
                drops.append(Drop(message.id, place, reason, whole=True))
                continue
            reasons = list[DropReason]()
            if isinstance(part, msg.ToolPart | msg.MediaPart) and is_refused:
                reasons = [DropReason.REWORDED, *repairs(part)]
                blocks, is_complete = self._blocks(in_words(part))
                following += blocks
            else:
                if not self.has_place(part):
                    reasons.append(DropReason.UNPLACED)
                if place in unsigned:
                    reasons.append(DropReason.PLACEHOLDER)
                    part = with_signature(part, self.signature_key, self._policy.lost_signature)
                if isinstance(part, msg.ToolPart) and self.needs_result(part):
                    reasons += repairs(part)
                    item, blocks, is_complete = self._result_item(part)
                    results.append(item)
                    following += blocks
                else:
                    reasons += [DropReason.UNPLACED] if isinstance(part, msg.ToolPart) and part.input is None else []
                    is_complete = self.sends_content(part)
                sent.append(with_input(part))
            reasons += [] if is_complete else [DropReason.UNSUPPORTED]
            drops += [Drop(message.id, place, each) for each in dict.fromkeys(reasons)]
        items = self.answer_items(attrs.evolve(kept, parts=tuple(sent)))
        results += [self.user_item(following)] if following else []
        return EncodedMessage(items, results, drops_in_order(drops))

    def _chosen(
        self, message: msg.AssistantMessage, unlinked: Collection[int] = ()
    ) -> tuple[msg.AssistantMessage, list[tuple[int, msg.Part]], Mapping[int, DropReason | str], list[Drop]]:
        """Return an answer as it may be sent, its parts with their places, which of them are not, and the drops."""
        selection = self.selected(message, unlinked)
        [kept], [places] = selection.messages, selection.places
        assert isinstance(kept, msg.AssistantMessage)
        parts = [(place, self._with_id(message, place, part)) for place, part in zip(places, kept.parts, strict=True)]
        summed_up = self.summed_up(parts)
        left_out = {**self.left_out(message, [each for each in parts if each[0] not in summed_up]), **summed_up}
        linked = [place for place, reason in left_out.items() if reason is DropReason.LINKED]
        if linked:
            return self._chosen(message, [*unlinked, *linked])
        return kept, parts, left_out, list(selection.drops)

    def _with_id(self, message: msg.AssistantMessage, place: int, part: msg.Part) -> msg.Part:
        """Return a call with a name that the provider takes, and, without its state, the id that it gave or takes."""
        if not isinstance(part, msg.ToolPart):
            return part
        if self.longest_name is not None and self.needs_result(part):
            name = plain_name(part.name, self.longest_name)
            part = part if name == part.name else attrs.evolve(part, name=name)  # to copy all costs 10 % of a request
        state = message.parts[place].state
        sent = self._ids.get((message.id, part.call_id))
        if sent is None and self.is_of_provider(message) and "id" in state and "id" not in part.state:
            return attrs.evolve(part, state=v.State({**part.state, "id": state["id"]}))
        if sent is not None and sent != wire_id(part):
            return attrs.evolve(part, state=v.State({**part.state, "id": sent}))
        return part


def _is_newer(messages: Sequence[msg.Message], answer: msg.Message) -> bool:
    """Return whether something in *messages* ended after *answer* started, which was asked for without it."""
    if answer.times is None or answer.times.started is None:
        return False  # not known
    calls = [call for message in messages for call in getattr(message, "tool_calls", ())]
    times: list[msg.Times | None] = [each.times for each in (*messages, *calls)]
    started = answer.times.started
    return any(each is not None and each.ended is not None and each.ended > started for each in times)


def _is_completed(message: msg.AssistantMessage) -> bool:
    return message.status is msg.MessageStatus.COMPLETED
