"""
A mock of Ollama's native chat: `POST /api/chat`, answered from fixtures.

An answer of a fixture is the message of the wire; the emitter of the dialect makes its lines.
"""

import re
from typing import ClassVar
from uuid import uuid4

import attrs
from assistant_events_ollama import OllamaChatDecoder, OllamaChatEmitter, dialect, emit_resource
from starlette.responses import JSONResponse

from assistant_events.adapters.json_fields import mapping, mappings, string, without
from assistant_events.mock import (
    FixtureFormat,
    Match,
    MockDialect,
    RequestFacts,
    StreamError,
    answers,
    app,
    fixtures,
    runs,
)
from assistant_events.mock.demo import DEMO
from assistant_events.mock.documents import PreparedAnswer, changed_frame, mark, texts_of, token_count
from assistant_events.mock.fault_effects import FaultFrames
from assistant_events.mock.matching import Item
from assistant_events.mock.requests import ApiError
from assistant_events.mock.service import MockService
from assistant_events.mock.stream_actions import WireFrame
from assistant_events.mock.tape import FrameFacts, RecordedApi
from assistant_events.values import JsonObject, read_json, thaw

# -- what a fixture has


def joined(items):
    """
    Return one message of several that have a field each.
    """
    message = {}
    for item in [items] if hasattr(items, "keys") else items:
        for key, value in item.items():
            message[key] = message[key] + value if key in message else value
    return JsonObject(message)


@attrs.frozen(kw_only=True)
class Answer(fixtures.Answer):
    """
    One answer of the model: its message, why it ends, and other fields of its last line.
    """

    CONTENT: ClassVar[tuple[str, ...]] = ("message", "http_error", "stream_error")

    message: JsonObject = attrs.field(default=JsonObject(), converter=joined)
    done_reason: str | None = None
    more: JsonObject = attrs.field(default=JsonObject(), converter=JsonObject)


@attrs.frozen(kw_only=True)
class AnswerEntry(Answer, answers.AnswerEntry):
    """
    An answer in a fixture file: a message, events of the library, or the short form.
    """

    ANSWER: ClassVar[type[fixtures.Answer]] = Answer
    OF_RESOURCE: ClassVar[tuple[str, ...]] = ("done_reason",)
    NOT_MORE: ClassVar[frozenset[str]] = frozenset({"model", "message", "done", "done_reason"})

    def resource(self, message):
        self.check_completed(message)
        return emit_resource(message)

    def given_items(self):
        return (self.message,) if self.message else ()

    def thought_items(self, texts):
        return [{"thinking": "".join(texts)}]

    @staticmethod
    def text_item(text):
        return {"content": text}

    @staticmethod
    def call_item(name, arguments, call_id):
        return {"tool_calls": [{"function": {"name": name, "arguments": thaw(arguments)}}]}  # the wire has no ids

    def call_id(self, item):
        return None


FORM = FixtureFormat(match=Match, entry=AnswerEntry)


def read_request(body):
    """
    Return what fixtures are compared with in a request. Nothing in it raises.
    """
    kinds = {"user": "user", "assistant": "model", "tool": "result"}
    messages = mappings(body, "messages")
    named = [(kinds.get(string(each, "role") or ""), string(each, "content") or "") for each in messages]
    functions = [mapping(tool, "function") for tool in mappings(body, "tools")]
    return RequestFacts(
        items=tuple([Item(kind, text) for kind, text in named if kind is not None]),
        model=string(body, "model"),
        system="\n".join([string(each, "content") or "" for each in messages if each.get("role") == "system"]),
        tools=frozenset([name for each in functions if (name := string(each, "name")) is not None]),
    )


# -- what is sent


def wire_frame(line):
    """
    Return a line with a name for faults, which the wire does not have.
    """
    return WireFrame("end" if line.get("done") else "delta", OllamaChatDecoder.framing.frame(None, line))


class Prepared(PreparedAnswer):
    """
    An answer with marks in place of what each run has for itself.
    """

    emitter = OllamaChatEmitter

    def make_document(self):
        message = {"role": "assistant", "content": "", **thaw(self.answer.message)}
        ends = {"done_reason": self.answer.done_reason or "stop", "prompt_eval_count": mark("read")}
        more = {"eval_count": mark("written"), "created_at": mark("created"), **thaw(self.answer.more)}
        return {"model": mark("model"), "message": message, "done": True, **ends, **more}

    def with_marks(self, frame):
        document = read_json(self.document)
        own = document if frame["done"] else {"created_at": document["created_at"]}
        return {**frame, **without(own, {"message"})}

    def name_of(self, frame):
        return wire_frame(frame).name


class Run(runs.Run[Prepared]):
    """
    One answer to one request.
    """

    MODEL = "qwen3"

    def own_values(self):
        message = self.answer.message
        return {
            "model": self.body.get("model") or self.MODEL,
            "created": self.created.isoformat(),
            "read": self.input_tokens(self.body),
            "written": token_count(texts_of([message.get("thinking"), message.get("content")])),
        }

    def error_frame(self):
        return wire_frame({"error": self.stream_error.message})

    def status_update(self):
        return wire_frame({"message": {"role": "assistant", "content": ""}, "done": False}).data


class Service(MockService[Run]):
    """
    What each request does.
    """

    PATHS = ("/api/chat",)
    STREAM_HEADERS: ClassVar[dict[str, str]] = {"content-type": "application/x-ndjson"}
    PREPARED = Prepared
    RUN = Run
    FORM = FORM
    FRAMES = FaultFrames(
        cut_tail=b'{"error":"upstream connect error"}\n',
        error=lambda number: wire_frame({"error": "boom"}),
        empty_errors=(wire_frame({"error": ""}),),
        unknown_types=(wire_frame({"hint": "of tomorrow"}),),
        bad_json=WireFrame("delta", b'{"message":{"content":\n'),
        end_names=frozenset({"end"}),
        stop_names=frozenset(),
        done=b"",
        without_usage=changed_frame(wire_frame, lambda line: line.pop("eval_count", None), OllamaChatDecoder.framing),
        unfinished=changed_frame(wire_frame, lambda line: line.update(done=False), OllamaChatDecoder.framing),
        has_lines=False,  # of server-sent events
    )

    def new_id(self):
        return uuid4().hex  # for this side alone: the wire has no ids

    def body(self, call):
        return {"stream": True, **super().body(call)}  # the server streams unless it is asked not to

    def facts(self, body):
        return read_request(body)

    def check(self, call, body):
        if not string(body, "model"):
            raise ApiError(400, "model is required")

    def error_response(self, error):
        return error_response(error)


def error_response(error):
    return JSONResponse({"error": error.message}, error.status, error.headers)


class MockProvider(app.MockProvider):
    """
    A provider of Ollama's native chat that answers from fixtures.
    """

    SERVICE = Service

    def __init__(self, fixtures, **options):
        super().__init__(fixtures, **{"require_key": False, **options})


# -- what a recording reads


class RecordedChat(RecordedApi):
    """
    Answers of a server, as fixtures.
    """

    dialect = dialect
    form = FORM
    path = re.compile(r"/api/chat/?$")
    framing = OllamaChatDecoder.framing
    facts_of = staticmethod(read_request)
    error_response = staticmethod(error_response)

    def frame_facts(self, name, payload):
        message = string(payload, "error")
        error = None if message is None else StreamError(code="error", message=message)
        return FrameFacts(cursor=None, is_end=False, error=error)

    def answer_of(self, messages, error):
        line = emit_resource(messages[-1])
        reason = line["done_reason"]
        return Answer(message=line["message"], done_reason=reason, stream_error=error)


mock = MockDialect(name=dialect.name, provider=MockProvider, form=FORM, demo=DEMO, recorded=RecordedChat())
