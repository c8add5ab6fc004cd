"""
Ollama's native chat, both ways: `POST /api/chat`, one JSON document a line.

A line adds to the thinking or the content, or has whole calls; the last one has `done` and the reason.
"""

from base64 import b64encode

from assistant_events import FinishReason, Usage
from assistant_events.adapters import DecoderBase, Dialect, EmitterBase, EncoderBase, JsonLines
from assistant_events.adapters.errors import ErrorTable
from assistant_events.adapters.json_fields import flag, mapping, mappings, string
from assistant_events.adapters.usage import UsageTable
from assistant_events.messages import ReasoningPart, TextPart, ToolPart
from assistant_events.values import CUT_KINDS, thaw

ERRORS = ErrorTable(codes={}, otherwise="error")
FINISHES = {"stop": FinishReason.STOP, "length": FinishReason.LENGTH}


class OllamaChatDecoder(DecoderBase):
    """
    Decodes a stream of `/api/chat`, or its one document when `stream` was false.
    """

    dialect = "ollama-chat"
    provider = "ollama"
    framing = JsonLines
    usage_table = UsageTable(counts={"input_tokens": "prompt_eval_count", "output_tokens": "eval_count"})

    def on_event(self, event):
        if event.get("error") is not None:
            self.fail_step(ERRORS.read_document(event))
            return
        if not self.recorder.started:
            self.recorder.start(self.origin(served_model=string(event, "model")))
        message = mapping(event, "message")
        self.recorder.reasoning(string(message, "thinking") or "")
        self.recorder.text(string(message, "content") or "")
        for call in mappings(message, "tool_calls"):
            function = mapping(call, "function")
            # Ollama has no ids: the recorder makes them. The `index` of newer servers adds nothing.
            self.recorder.tool_call(None, string(function, "name"), mapping(function, "arguments"))
        if flag(event, "done"):
            self.on_end(event)

    def on_end(self, event):
        reason = string(event, "done_reason")
        finish = FINISHES.get(reason or "stop", FinishReason.OTHER)
        if finish is FinishReason.STOP and self.recorder.unanswered(provider_executed=False):
            finish = FinishReason.TOOL_CALLS
        self.note_usage({key: value for key, value in event.items() if key.endswith(("_count", "_duration"))})
        self.finish_step(finish, reason)


def detect(document):
    return "done" in document and isinstance(document.get("message"), dict)


class OllamaChatEncoder(EncoderBase):
    """
    Encodes requests of `/api/chat`. Messages of the body, such as a system prompt, come before the conversation.
    """

    dialect = "ollama-chat"
    provider = "ollama"

    def text_block(self, text):
        return {"content": text}

    def media_block(self, media):
        return None if media.data is None else {"images": [b64encode(media.data).decode()]}

    def user_item(self, blocks):
        images = [image for block in blocks for image in block.get("images", ())]
        item = {"role": "user", "content": "\n".join(block["content"] for block in blocks if "content" in block)}
        return {**item, "images": images} if images else item

    def answer_items(self, message):
        item = {"role": "assistant", "content": message.text}
        if message.reasoning:
            item["thinking"] = message.reasoning
        if message.tool_calls:
            item["tool_calls"] = [wire_call(call) for call in message.tool_calls]
        return [item] if len(item) > 2 or message.text else []

    def result_item(self, call, content, *, failed):
        return {**self.user_item([self.content(item) for item in content]), "role": "tool", "tool_name": call.name}

    def conversation(self, items):
        return {"messages": [*self.body.get("messages", ()), *items]}


class OllamaChatEmitter(EmitterBase):
    """
    Emits the stream of `/api/chat`.
    """

    decoder = OllamaChatDecoder

    def on_start(self, message):
        self.model = message.origin.served_model or message.origin.model

    def on_part(self, place, part):
        match part:
            case TextPart():
                for piece in self.pieces(part.text):
                    self.write_line(content=piece)
            case ReasoningPart():
                for piece in self.pieces(part.text):
                    self.write_line(thinking=piece)
            case ToolPart(input=input) if input is not None:
                self.write_line(tool_calls=[wire_call(part)])

    def on_end(self, message):
        if message.error is None:
            self.write_line(done=True, **ends_of(message))
        elif message.error.kind not in CUT_KINDS:
            self.write({"error": message.error.message})

    def write_line(self, done=False, **fields):
        content = {key: fields.pop(key) for key in ("thinking", "tool_calls") if key in fields}
        message = {"role": "assistant", "content": fields.pop("content", ""), **content}
        self.write({"model": self.model, "message": message, "done": done, **fields})


def emit_resource(message):
    """
    Return an answer as its one line when `stream` was false.
    """
    if message.error is not None:
        return {"error": message.error.message}
    item = {"role": "assistant", "content": message.text}
    if message.reasoning:
        item["thinking"] = message.reasoning
    if message.tool_calls:
        item["tool_calls"] = [wire_call(call) for call in message.tool_calls]
    model = message.origin.served_model or message.origin.model
    return {"model": model, "message": item, "done": True, **ends_of(message)}


def ends_of(message):
    reason = message.raw_finish_reason or ("length" if message.finish_reason is FinishReason.LENGTH else "stop")
    usage = message.usage or Usage()
    counts = {"prompt_eval_count": usage.input_tokens, "eval_count": usage.output_tokens}
    known = {name: count for name, count in counts.items() if count is not None}
    return {"done_reason": reason, **(thaw(usage.details) or known)}


def wire_call(call):
    return {"function": {"name": call.name, "arguments": thaw(call.input or {})}}


dialect = Dialect(
    name="ollama-chat",
    decoder=OllamaChatDecoder,
    encoder=OllamaChatEncoder.encode,
    emitter=OllamaChatEmitter,
    emit_resource=emit_resource,
    detect=detect,
    dropped={"created_at": "the request's time", "role": "always the assistant", "index": "the order of the calls"},
)
