"""Events to write and to read, made directly: no dialect and no stream comes into it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from assistant_events import (
    Citation,
    DurableEvent,
    ErrorInfo,
    ErrorKind,
    Event,
    FinishReason,
    JsonObject,
    Origin,
    PromptSubmitted,
    ReasoningDelta,
    ReasoningEnded,
    ReasoningStarted,
    RemoteRun,
    State,
    StepEnded,
    StepFailed,
    StepStarted,
    TextDelta,
    TextEnded,
    TextStarted,
    ToolCalled,
    ToolFailed,
    ToolInputDelta,
    ToolInputEnded,
    ToolInputStarted,
    ToolSuccess,
    Usage,
)
from assistant_events.values import as_content
from benchmarks.answers import make_signature, words

_ORIGIN = Origin(
    provider="google", model="gemini-3-flash", dialect="gemini-interactions", served_model="gemini-3-flash-001"
)
_RUN = RemoteRun(id="v1_bench", resumable=True, kind="interaction")
_USAGE = Usage(input_tokens=1234, cache_read_tokens=100, output_tokens=567, reasoning_tokens=89)


def mixed(count: int) -> list[Event]:
    """Make *count* events of thirteen kinds in turn, with enough fields filled for 5 to 7 in each document."""
    random = Random("mixed")
    events: list[Event] = []
    while len(events) < count:
        events.extend(_round(random, f"msg_{len(events)}"))
    return events[:count]


def session(turns: int) -> Iterator[DurableEvent]:
    """
    Make the durable events of *turns* turns, eleven each: a question, reasoning, text, a call and its answer.

    They are as large as in a chat: a question of 30 tokens, 150 of reasoning with its signature, 250 of text, and a
    result of 100.
    """
    random = Random("session")
    for number in range(turns):
        message, call = f"answer_{number}", f"call_{number}"
        yield PromptSubmitted(message_id=f"prompt_{number}", content=as_content(words(random, 30)))
        yield StepStarted(message_id=message, origin=_ORIGIN, run=_RUN)
        yield ReasoningStarted(message_id=message)
        yield ReasoningEnded(
            message_id=message, text=words(random, 150), state=State({"signature": make_signature(random)})
        )
        yield TextStarted(message_id=message)
        yield TextEnded(message_id=message, text=words(random, 250))
        yield ToolInputStarted(message_id=message, call_id=call, name="search_orders")
        yield ToolInputEnded(message_id=message, call_id=call, text=f'{{"limit":10,"query":"{number}"}}')
        yield ToolCalled(
            message_id=message,
            call_id=call,
            name="search_orders",
            input=JsonObject({"limit": 10, "query": str(number)}),
        )
        yield StepEnded(
            message_id=message, finish_reason=FinishReason.TOOL_CALLS, raw_finish_reason="requires_action", usage=_USAGE
        )
        result = {"orders": [number, number + 1], "note": words(random, 100)}
        yield ToolSuccess(message_id=message, call_id=call, output=as_content(result))


def _round(random: Random, message: str) -> Iterator[Event]:
    call, text, at = f"call_{message}", words(random, 12), random.randrange(10_000)
    arguments = JsonObject({"city": "Zürich", "days": random.randrange(14), "query": words(random, 3)})
    error = ErrorInfo(kind=ErrorKind.TOOL, message="no such order", code="E404", retryable=False)
    yield StepStarted(message_id=message, origin=_ORIGIN, run=_RUN, state=_state(random))
    yield ReasoningDelta(message_id=message, offset=at, delta=words(random, 1))
    yield ReasoningEnded(message_id=message, text=text, complete=False, state=_state(random))
    yield TextDelta(message_id=message, offset=at, delta=words(random, 1))
    yield TextEnded(message_id=message, text=text, citations=(_citation(),), state=_state(random))
    yield ToolInputStarted(message_id=message, call_id=call, name="get_weather", provider_executed=True)
    yield ToolInputDelta(message_id=message, call_id=call, offset=at, delta='"city":"Zür')
    yield ToolInputEnded(message_id=message, call_id=call, text=text, state=_state(random))
    yield ToolCalled(message_id=message, call_id=call, name="get_weather", input=arguments, provider_executed=True)
    yield ToolSuccess(message_id=message, call_id=call, output=as_content(arguments), provider_executed=True)
    yield ToolFailed(message_id=message, call_id=call, error=error, output=as_content(text))
    yield StepEnded(
        message_id=message,
        finish_reason=FinishReason.STOP,
        raw_finish_reason="completed",
        usage=_USAGE,
        state=_state(random),
    )
    yield StepFailed(message_id=message, error=error, usage=_USAGE, run=_RUN)


def _citation() -> Citation:
    return Citation(url="https://example.org/orders", title="Orders", start=0, end=10)


def _state(random: Random) -> State:
    return State({"signature": random.randbytes(45).hex(), "index": random.randrange(100)})
