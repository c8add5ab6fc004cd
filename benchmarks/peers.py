"""
Other libraries on the same answers.

Each is used as documented, behind a transport that answers from memory, and is divided by the limit of its
own wire format. A peer that is not installed is left out with a line of its own; `requirements/bench.txt` pins them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Any

from benchmarks.answers import Answer, chat, steps
from benchmarks.decode import check, compare_with_limit
from benchmarks.limit import parse_all
from benchmarks.measure import Figure, Note, Settings, Side, compare, ratio_figure
from benchmarks.wire import anthropic, in_chunks, interactions

# `Any` in this module: peers are imported by name when they are there, so their types are out of reach.


def peers(settings: Settings) -> Iterator[Figure | Note]:
    """
    What do others pay for the same answers?

    `chat` (2,000 deltas) and `steps` with 20 rounds, in chunks of 16 KiB. google-genai reads the same Interactions
    bytes, yields typed events and folds nothing; pydantic-ai reads the same answers as an Anthropic stream and folds
    them. Their HTTP client is part of their figures, because they cannot be used without; ours has none.
    """
    answers = (chat(settings.scaled(2_000)), steps(settings.scaled(20)))
    for answer in answers:
        chunks = in_chunks(interactions(answer))
        check(answer, chunks)
        comparison = compare_with_limit(chunks, settings)
        yield ratio_figure(
            f"assistant-events/{answer.name}", comparison, detail=_microseconds(comparison.candidate_s, answer)
        )
    for name, prepare in _PEERS.items():
        try:
            prepared = [prepare(answer) for answer in answers]
        except ImportError as error:
            yield Note(f"peers: {name} left out, {error.name or 'it'} is not installed")
            continue
        for answer, (run, data) in zip(answers, prepared, strict=True):
            comparison = compare(run, partial(parse_all, data), settings.fewer())
            yield ratio_figure(
                f"{name}/{answer.name}", comparison, detail=_microseconds(comparison.candidate_s, answer)
            )


def _google_genai(answer: Answer) -> tuple[Side, bytes]:
    genai = import_module("google.genai")
    options = import_module("google.genai.types").HttpOptions
    httpx2 = import_module("httpx2")
    chunks = in_chunks(interactions(answer))
    http = httpx2.Client(transport=_transport(httpx2, chunks))
    client: Any = genai.Client(api_key="none", http_options=options(httpx_client=http))

    def run() -> None:
        texts: list[str] = []
        stream = client.interactions.create(model="gemini-3-flash-preview", input="Hello", stream=True)
        texts.extend(
            event.delta.text for event in stream if event.event_type == "step.delta" and event.delta.type == "text"
        )
        assert "".join(texts) == answer.text, "google-genai: the text is not what was streamed"

    return run, b"".join(chunks)


def _pydantic_ai(answer: Answer) -> tuple[Side, bytes]:
    direct = import_module("pydantic_ai.direct")
    messages = import_module("pydantic_ai.messages")
    models = import_module("pydantic_ai.models.anthropic")
    providers = import_module("pydantic_ai.providers.anthropic")
    sdk = import_module("anthropic")
    httpx2 = import_module("httpx2")
    chunks = in_chunks(anthropic(answer))

    async def consume() -> Any:
        async with httpx2.AsyncClient(transport=_transport(httpx2, chunks)) as http:
            client = sdk.AsyncAnthropic(api_key="none", http_client=http)
            model = models.AnthropicModel(
                "claude-sonnet-4-5", provider=providers.AnthropicProvider(anthropic_client=client)
            )
            prompt = [messages.ModelRequest.user_text_prompt("Hello")]
            async with direct.model_request_stream(model, prompt) as stream:
                async for _ in stream:
                    pass
                return stream.get()

    def run() -> None:
        response = asyncio.run(consume())
        text = "".join([part.content for part in response.parts if part.part_kind == "text"])
        assert text == answer.text, "pydantic-ai: the text is not what was streamed"
        calls = [part.tool_name for part in response.parts if part.part_kind == "tool-call"]
        assert calls == [call.name for call in answer.calls], "pydantic-ai: the calls are not what was streamed"

    return run, b"".join(chunks)


_PEERS: Mapping[str, Callable[[Answer], tuple[Side, bytes]]] = MappingProxyType(
    {"google-genai": _google_genai, "pydantic-ai": _pydantic_ai}
)


def _transport(httpx2: Any, chunks: Sequence[bytes]) -> Any:
    class Body(httpx2.SyncByteStream, httpx2.AsyncByteStream):  # type: ignore[misc]  # bases known only at run time
        def __iter__(self) -> Iterator[bytes]:
            return iter(chunks)

        async def __aiter__(self) -> AsyncIterator[bytes]:
            for chunk in chunks:
                yield chunk

    def respond(_request: object) -> Any:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Body())

    return httpx2.MockTransport(respond)


def _microseconds(seconds: float, answer: Answer) -> str:
    return f"{answer.deltas:,} deltas, {seconds / answer.deltas * 1e6:.2f} us a delta"
