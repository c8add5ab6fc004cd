"""Responses of the mock: their documents, their events, and the frames of faults."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, ClassVar, Final, cast, final

from assistant_events.adapters.emitter import EmitterBase
from assistant_events.adapters.json_fields import Fields, array, mappings, string
from assistant_events.adapters.openai_responses import OpenAIResponsesDecoder, OpenAIResponsesEmitter
from assistant_events.adapters.openai_responses.mock.answers import Answer
from assistant_events.mock import runs
from assistant_events.mock.documents import PreparedAnswer, changed_frame, mark, texts_of, token_count
from assistant_events.mock.fault_effects import FaultFrames
from assistant_events.mock.runs import Body
from assistant_events.mock.stream_actions import WireFrame
from assistant_events.values import thaw

_ERROR_CODES: Final = {"internal": "server_error"}
"""Codes of the provider by codes of this library."""

PREFIXES: Final = {"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}
"""Beginnings of ids by type of the item, which the service checks."""

_OTHER_PREFIXES: Final = {
    "code_interpreter_call": "ci",
    "compaction": "cmp",
    "computer_call": "cu",
    "file_search_call": "fs",
    "image_generation_call": "ig",
    "local_shell_call": "lsh",
    "mcp_approval_request": "mcpr",
    "mcp_call": "mcp",
    "mcp_list_tools": "mcpl",
    "program": "cm",
    "program_output": "cmo",
    "shell_call": "sh",
    "shell_call_output": "sho",
    "web_search_call": "ws",
}
"""Beginnings of other ids, as recorded; of types that are not here the first letters of their words."""

_DEFAULTS: Final[dict[str, Any]] = {
    "background": False,
    "conversation": None,
    "frequency_penalty": 0.0,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "moderation": None,
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "prompt_cache_retention": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}, "verbosity": "medium"},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
}
"""Fields of a response that repeat the request, as they are where the request has none."""

SEALED: Final = ["reasoning"]
"""What the encrypted content of a reasoning seals: its summaries are not compared by the service."""


def id_prefix(kind: str) -> str:
    """Return the beginning of the ids of items of a type."""
    initials = "".join([word[:1] for word in kind.split("_")])
    return PREFIXES.get(kind) or _OTHER_PREFIXES.get(kind, initials)


def wire_frame(event: Fields) -> WireFrame:
    """Return an event with its bytes."""
    return WireFrame(event["type"], OpenAIResponsesDecoder.framing.frame(event["type"], event))


@final
class Prepared(PreparedAnswer):
    """An answer that can be sent any number of times."""

    emitter: ClassVar[type[EmitterBase]] = OpenAIResponsesEmitter
    repeated: ClassVar[Collection[str]] = _DEFAULTS

    def make_document(self) -> dict[str, Any]:
        """Return the response."""
        answer = cast("Answer", self.answer)
        self.ids: list[str] = []
        """The mark of each item's id."""

        return {
            "id": mark("id"),
            "object": "response",
            "created_at": mark("created"),
            "status": answer.status or "completed",
            "completed_at": mark("completed") if answer.status in (None, "completed") else None,
            "error": None,
            "incomplete_details": None,
            "model": mark("model"),
            "output": [self._item(thaw(item), place) for place, item in enumerate(answer.output)],
            "usage": mark("usage"),
            **{name: mark(name) for name in _DEFAULTS},
            **thaw(answer.more),
        }

    def with_marks(self, frame: dict[str, Any]) -> dict[str, Any]:
        """Return a frame with the ids of items, and with the fields of the response that each run has of its own."""
        response = frame.get("response")
        if response is not None:
            own: dict[str, Any] = {name: mark(name) for name in ("id", "model", *_DEFAULTS)}
            own["created_at"] = mark("created")
            own["completed_at"] = mark("completed") if response["status"] == "completed" else None
            own["usage"] = None if response["status"] == "in_progress" else mark("usage")
            return {**frame, "response": {**response, **own}}
        place = frame.get("output_index")
        if place is None or place >= len(self.ids):
            return frame
        # The emitter learns the id of an item of several parts with the last of them.
        if "item" in frame:
            return {**frame, "item": {**frame["item"], "id": self.ids[place]}}
        return {**frame, "item_id": self.ids[place]}

    def _item(self, item: dict[str, Any], place: int) -> dict[str, Any]:
        ident = item.get("id") or mark(f"item {place}")
        self.ids.append(ident)
        item = {**item, "id": ident}
        match item.get("type"):
            case "message":
                texts: Fields = {"output_text": {"annotations": []}}
                content = [{**texts.get(part.get("type"), {}), **part} for part in item["content"]]
                return {"status": "completed", "role": "assistant", **item, "content": content}
            case "reasoning" if self.signs and "encrypted_content" not in item:
                return {"summary": [], **item, "encrypted_content": self.signature_mark(place, SEALED)}
            case "function_call" | "custom_tool_call":
                made = {"call_id": mark(f"call {place}"), "status": "completed"}
                given = {} if item["type"] == "custom_tool_call" else {"arguments": "{}"}
                return {**made, **given, **item}
            case _:
                return item


@final
class Run(runs.Run[Prepared]):
    """One response."""

    given: list[Fields] | None = None
    """The items of the request as they are stored, once something has asked for them."""

    MODEL = "gpt-5.6"
    HEAD_EVENTS = 2

    def __init__(self, *given: Any, tokens_before: int = 0, **options: Any) -> None:
        # Any: as for the base.
        self._tokens_before = tokens_before
        """Tokens of the conversation that the request continues."""

        super().__init__(*given, **options)

    @staticmethod
    def input_tokens(body: Body) -> int:
        """Return the estimated tokens of a request, without those that it continues."""
        return token_count(texts_of([body.get("instructions"), body.get("input")]))

    @property
    def stored(self) -> bool:
        """Whether it can be fetched and continued."""
        return self.body.get("store") is not False

    @property
    def final_status(self) -> str:
        """The status after the end."""
        if self.cancelled_at is not None:
            return "cancelled"
        answer = cast("Answer", self.answer)
        return "failed" if answer.stream_error is not None else answer.status or "completed"

    def own_values(self) -> dict[str, Any]:
        """Return what a response repeats of its request, usage, and ids of items and calls."""
        answer, salt = cast("Answer", self.answer), self.salt.hex()[:32]
        repeated = {name: self.body.get(name, default) for name, default in _DEFAULTS.items()}
        named = repeated["conversation"]
        created = self.created.timestamp()
        values = {
            **repeated,
            "conversation": {"id": named} if isinstance(named, str) else named,
            "created": int(created),
            "completed": int(created + self.times()[-1] - self.started),
            "model": self.body.get("model") or self.MODEL,
            "usage": self._usage(answer),
        }
        for place, item in enumerate(answer.output):
            prefix = id_prefix(string(item, "type") or "")
            values |= {f"item {place}": f"{prefix}_{salt}{place:02}", f"call {place}": f"call_{salt[:20]}{place:02}"}
        if self.stored and "reasoning.encrypted_content" not in array(self.body, "include"):
            values |= dict.fromkeys(self.prepared.signed)  # what is stored is known by its id
        return values

    def _usage(self, answer: Answer) -> dict[str, Any]:
        if answer.usage is not None:
            return dict(thaw(answer.usage))
        read = self._tokens_before + self.input_tokens(self.body)
        return counted_usage(read, token_count(_texts_of_answer(answer)))

    def error_frame(self) -> WireFrame:
        """Return the frames that end the stream: of the error, and of the response that has failed with it."""
        number, document = len(self.event_names) - 1, self.document("failed")
        failed = wire_frame({"type": "response.failed", "sequence_number": number + 1, "response": document})
        error = _error_frame(number, self._error())
        return error._replace(data=error.data + failed.data)

    def end(self) -> WireFrame:
        """Return the frame of the cancellation."""
        number = self.event_count(self.times())
        return wire_frame(
            {"type": "response.cancelled", "sequence_number": number, "response": self.document("cancelled")}
        )

    def status_update(self) -> bytes:
        """Return a frame that keeps the connection open."""
        return wire_frame({"type": "keepalive", "sequence_number": 1}).data

    def document(self, status: str) -> dict[str, Any]:
        """Return the response in a state: its output is there when it has ended by itself."""
        document = {**self.whole(), "status": status}
        if status in ("queued", "in_progress", "cancelled", "failed"):
            document |= {"output": [], "usage": None, "completed_at": None}
        if status in ("queued", "in_progress") or not self.takes_usage():
            document["usage"] = None
        if self.answer.stream_error is not None and status == "failed":
            document["error"] = self._error()
        return document

    def _error(self) -> dict[str, Any]:
        error = self.stream_error
        return {"code": _ERROR_CODES.get(str(error.code), str(error.code)), "message": error.message}


def _error_frame(number: int, error: Fields) -> WireFrame:
    error = {"type": "server_error", **error, "param": None}
    return wire_frame({"type": "error", "sequence_number": number, "error": error})


def counted_usage(read: int, written: int) -> dict[str, Any]:
    """Return the usage of so many tokens of input and output."""
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": read + written,
    }


def _texts_of_answer(answer: Answer) -> Iterator[str]:
    for item in answer.output:
        yield from texts_of([item.get("content"), item.get("summary"), item.get("arguments")])


def call_ids(items: list[Fields]) -> Iterator[str]:
    """Yield the ids of the calls of functions among items."""
    for item in items:
        call_id = string(item, "call_id")
        if item.get("type") in ("function_call", "custom_tool_call") and call_id:
            yield call_id


def output_of(run: Run) -> list[Fields]:
    """Return the items of a response as they were sent."""
    return mappings(run.whole(), "output")


FAULT_FRAMES: Final = FaultFrames(
    # Not recorded: what a gateway sends in place of the rest.
    cut_tail=b'{"error":{"message":"upstream connect error","type":"server_error","param":null,"code":null}}\n',
    error=lambda passed: _error_frame(passed, {"code": "server_error", "message": "boom"}),
    empty_errors=(
        wire_frame({"type": "error"}),
        wire_frame({"type": "error", "error": {}}),
        wire_frame({"type": "error", "code": None, "message": None, "param": None}),
    ),
    unknown_types=(
        wire_frame({"type": "response.hint", "hint": "of tomorrow"}),
        wire_frame({"type": "response.dream.delta", "output_index": 0, "delta": "?"}),
    ),
    bad_json=WireFrame(
        "response.output_text.delta", b'event: response.output_text.delta\ndata: {"type":"response.output_text.d\n\n'
    ),
    end_names=frozenset({"response.completed", "response.incomplete", "response.failed"}),
    stop_names=frozenset({"response.output_item.done"}),
    done=b"[DONE]\n\n",
    without_usage=changed_frame(wire_frame, lambda event: event["response"].update(usage=None)),
    unfinished=changed_frame(wire_frame, lambda event: event["response"].update(status="in_progress")),
)
