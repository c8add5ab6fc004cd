"""
A move with pydantic-ai: its models, its tools and their schemas; the turn, the log and the browsers are ours.

    python examples/pydantic_ai_move.py

`Turns` takes `move` as it is. Tools run at most once, also over a crash, and those with `requires_approval` wait for a
person. No key is needed: a function plays the model. In an app it is `infer_model("anthropic:…")`.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from pydantic_ai import (
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    Tool,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from assistant_events import AssistantMessage, Awaits, TextContent, Transcript, Usage, UserMessage, thaw
from assistant_events.adapters.base import DecoderBase
from assistant_events.adapters.framing import JsonLines
from assistant_events.session import Session, ToolRun, run_tools
from assistant_events.stores import MemoryStore


def add(x: int, y: int) -> int:
    """Add two numbers."""
    return x + y


TOOLS = {tool.name: tool for tool in [Tool(add)]}


async def play(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
    """Play the model: a call first, then an answer with its result."""
    last = messages[-1].parts[-1]
    if isinstance(last, ToolReturnPart):
        yield "It is "
        yield f"{last.content}."
    else:
        yield {0: DeltaToolCall(name=info.function_tools[0].name, json_args='{"x": 2, ', tool_call_id="c1")}
        yield {0: DeltaToolCall(json_args='"y": 3}')}


MODEL = FunctionModel(stream_function=play)


# -- what the model is asked, and what it answers


def messages_of(transcript: Transcript) -> list[ModelMessage]:
    """Return the conversation as pydantic-ai has it."""
    found: list[ModelMessage] = []
    for message in transcript.context():
        if isinstance(message, UserMessage):
            found.append(ModelRequest(parts=[UserPromptPart(message.text)]))
        elif isinstance(message, AssistantMessage):
            calls = [ToolCallPart(call.name, call.arguments, call.call_id) for call in message.tool_calls]
            text = [TextPart(message.text)] if message.text else []
            found.append(ModelResponse(parts=[*text, *calls]))
            for call in message.tool_calls:
                output = [each.text if isinstance(each, TextContent) else thaw(each.value) for each in call.output]
                result = call.error.message if call.error else output[0] if len(output) == 1 else output
                found.append(ModelRequest(parts=[ToolReturnPart(call.name, result, call.call_id)]))
    return found


async def answer_of(transcript: Transcript) -> AsyncIterator[dict[str, Any]]:
    """Ask the model, and yield its answer as the decoder below reads it."""
    parameters = ModelRequestParameters(function_tools=[tool.tool_def for tool in TOOLS.values()])
    reason = "stop"
    async with model_request_stream(MODEL, messages_of(transcript), model_request_parameters=parameters) as stream:
        async for event in stream:
            match event:
                case PartStartEvent(part=TextPart(content=text)):
                    yield {"text": text}
                case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                    yield {"text": text}
                case PartStartEvent(part=ThinkingPart(content=text)):
                    yield {"reasoning": text}
                case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str(text))):
                    yield {"reasoning": text}
                case PartEndEvent(part=ToolCallPart() as call):
                    reason = "tool-calls"
                    yield {"call": call.tool_call_id, "name": call.tool_name, "input": call.args_as_json_str()}
                case _:
                    pass
        yield {"finish": reason, "usage": (stream.usage.input_tokens, stream.usage.output_tokens)}


class AgentDecoder(DecoderBase):
    """Makes events of what `answer_of` yields."""

    dialect = "pydantic-ai"
    provider = "pydantic-ai"
    framing = JsonLines

    def on_event(self, event: Any) -> None:
        self.ensure_started()
        match event:
            case {"text": text}:
                self.recorder.text(text)
            case {"reasoning": text}:
                self.recorder.reasoning(text)
            case {"call": call_id, "name": name, "input": text}:
                self.recorder.tool_input(call_id, name, text)  # which refuses what is not an object
            case {"finish": reason, "usage": (read, written)}:
                self.recorder.finish(reason, usage=Usage(input_tokens=read, output_tokens=written))
                self.end_answer()


# -- the move


async def run_tool(run: ToolRun) -> object:
    schema = TOOLS[run.call.name].function_schema
    return await schema.call(schema.validator.validate_python(run.call.arguments), None)


async def move(session: Session) -> None:
    if session.transcript.awaits is Awaits.MODEL:
        async with session.decode(AgentDecoder(session.new_id()), answer_of(session.transcript)) as events:
            async for _ in events:
                pass  # stored and published by the session
    else:
        await run_tools(session, run_tool, needs_approval=lambda call: TOOLS[call.name].requires_approval)


async def main() -> None:
    session = await Session.open(MemoryStore(), "s1")
    await session.prompt("What is 2 + 3?")
    while session.transcript.awaits is not Awaits.USER:
        await move(session)
    for message in session.transcript:
        print(message.text or [(call.name, call.output) for call in message.tool_calls])


if __name__ == "__main__":
    asyncio.run(main())
