"""
Ollama's native chat to events: `POST /api/chat`, one JSON document a line.

A line adds to the thinking or the content, or brings whole calls; the last one has `done` and says why it is.
"""

from assistant_events import ErrorInfo, ErrorKind, FinishReason, JsonError, Usage
from assistant_events.adapters import DecoderBase, Dialect, JsonLines
from assistant_events.adapters.json_fields import count, flag, mapping, mappings, string
from assistant_events.values import read_json

FINISHES = {"stop": FinishReason.STOP, "length": FinishReason.LENGTH}


class OllamaChatDecoder(DecoderBase):
    """
    Decodes a stream of `/api/chat`, or its one document when `stream` was false.
    """

    dialect = "ollama-chat"
    provider = "ollama"
    framing = JsonLines

    def on_event(self, event):
        if "error" in event:
            self.fail_step(error_info(event))
            return
        if not self.recorder.started:
            self.recorder.start(self.origin(served_model=string(event, "model")))
        message = mapping(event, "message")
        self.recorder.reasoning(string(message, "thinking") or "")
        self.recorder.text(string(message, "content") or "")
        for call in mappings(message, "tool_calls"):
            self.on_call(mapping(call, "function"))
        if flag(event, "done"):
            self.on_end(event)

    def on_call(self, function):
        name = string(function, "name")
        if name:
            # There are no ids: the recorder makes them. Newer servers have `index`, which says nothing more.
            self.recorder.tool_call(None, name, mapping(function, "arguments"))
        else:
            self.note("nameless-call", "a call without a name was left out")

    def on_end(self, event):
        reason = string(event, "done_reason")
        finish = FINISHES.get(reason or "stop", FinishReason.OTHER)
        if finish is FinishReason.STOP and self.recorder.unanswered(provider_executed=False):
            finish = FinishReason.TOOL_CALLS
        read, written = count(event, "prompt_eval_count"), count(event, "eval_count")
        details = {key: value for key, value in event.items() if key.endswith(("_count", "_duration"))}
        usage = Usage(input_tokens=read, output_tokens=written, details=details) if details else None
        self.finish_step(finish, reason, usage=usage)


def error_info(document, status=None):
    message = string(document, "error") or "the server reported an error"
    kind = ErrorKind.NOT_FOUND if status == 404 else ErrorKind.PROVIDER
    return ErrorInfo(kind=kind, message=message, status=status)


def decode_resource(resource, message_id, *, request=None, prior=None):
    decoder = OllamaChatDecoder(message_id, request=request, prior=prior)
    return decoder.feed_event(resource) + decoder.close()


def detect(document):
    return "done" in document and isinstance(document.get("message"), dict)


def http_error(status, headers, body):
    try:
        document = read_json(body)
    except JsonError:
        document = None
    return error_info(document if isinstance(document, dict) else {}, status)


dialect = Dialect(
    name="ollama-chat",
    decoder=OllamaChatDecoder,
    decode_resource=decode_resource,
    detect=detect,
    http_error=http_error,
)
