"""
Other libraries on the same answers.

Each is used as documented, behind a transport that answers from memory, in a process of its own with the packages of
`.venv/peers/<name>`, and is divided by the limit of its own wire format. `requirements/bench.txt` pins them.
"""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module, metadata
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from benchmarks.answers import Answer, chat, steps
from benchmarks.decode import check, compare_with_limit
from benchmarks.limit import parse_all
from benchmarks.measure import (
    Comparison,
    Figure,
    Note,
    Settings,
    Side,
    asked,
    compare,
    measure_apart,
    print_figures,
    ratio_figure,
)
from benchmarks.wire import anthropic, in_chunks, interactions, openai_chat

# `Any` in this module: peers are imported by name when they are there, so their types are out of reach.

FOLDER: Final = Path(__file__).parents[1] / ".venv" / "peers"


def peers(settings: Settings) -> Iterator[Figure | Note]:
    """
    What do others pay for the same answers?

    `chat` (2,000 deltas) and `steps` with 20 rounds, in chunks of 16 KiB. google-genai reads the same Interactions
    bytes, yields typed events and folds nothing; anthropic and openai read the same answers as streams of their own
    and fold them, pydantic-ai one of Anthropic. Their HTTP client is part of their figures, because they cannot be
    used without; ours has none.
    """
    for answer in _answers(settings):
        chunks = in_chunks(interactions(answer))
        check(answer, chunks)
        yield _figure("assistant-events", answer, compare_with_limit(chunks, settings))
    for name in PEERS:
        path = FOLDER / name
        if not path.is_dir():
            yield Note(f"peers: {name} left out, it is not installed; `make bench` installs it")
            continue
        try:
            yield from measure_apart("benchmarks.peers", {"name": name}, settings.fewer(), path=str(path))
        except subprocess.CalledProcessError as error:
            reason = (error.stderr.strip() or "it gave no reason").splitlines()[-1]
            yield Note(f"peers: {name} left out, it failed: {reason}")


def _answers(settings: Settings) -> tuple[Answer, ...]:
    return chat(settings.scaled(2_000)), steps(settings.scaled(20))


def _measured(name: str, settings: Settings) -> Iterator[Figure]:
    for answer in _answers(settings):
        run, chunks = PEERS[name](answer)
        comparison = compare(run, partial(parse_all, b"".join(chunks)), settings)
        yield _figure(name, answer, comparison, f"{metadata.version(name)}, ")


def _figure(name: str, answer: Answer, comparison: Comparison, version: str = "") -> Figure:
    each = comparison.candidate_s / answer.deltas * 1e6
    detail = f"{version}{answer.deltas:,} deltas, {each:.2f} us a delta"
    return ratio_figure(f"{name}/{answer.name}", comparison, detail=detail)


def _google_genai(answer: Answer) -> tuple[Side, list[bytes]]:
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

    return run, chunks


def _anthropic(answer: Answer) -> tuple[Side, list[bytes]]:
    httpx2 = import_module("httpx2")
    chunks = in_chunks(anthropic(answer))
    http = httpx2.Client(transport=_transport(httpx2, chunks))
    client: Any = import_module("anthropic").Anthropic(api_key="none", http_client=http)
    prompt = [{"role": "user", "content": "Hello"}]

    def run() -> None:
        with client.messages.stream(model="claude-sonnet-4-5", max_tokens=1_000, messages=prompt) as stream:
            for _ in stream:
                pass
            message = stream.get_final_message()
        text = "".join([block.text for block in message.content if block.type == "text"])
        assert text == answer.text, "anthropic: the text is not what was streamed"

    return run, chunks


def _openai(answer: Answer) -> tuple[Side, list[bytes]]:
    httpx2 = import_module("httpx2")
    chunks = in_chunks(openai_chat(answer))
    http = httpx2.Client(transport=_transport(httpx2, chunks))
    client: Any = import_module("openai").OpenAI(api_key="none", http_client=http)
    prompt = [{"role": "user", "content": "Hello"}]

    def run() -> None:
        with client.chat.completions.stream(model="gpt-5.4", messages=prompt) as stream:
            for _ in stream:
                pass
            message = stream.get_final_completion().choices[0].message
        assert message.content == answer.text, "openai: the text is not what was streamed"

    return run, chunks


def _pydantic_ai(answer: Answer) -> tuple[Side, list[bytes]]:
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

    return run, chunks


PEERS: Final[Mapping[str, Callable[[Answer], tuple[Side, list[bytes]]]]] = MappingProxyType(
    {
        "google-genai": _google_genai,
        "anthropic": _anthropic,
        "openai": _openai,
        "pydantic-ai-slim": _pydantic_ai,
    }
)
"""Under the name of the package."""


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


if __name__ == "__main__":
    question, thoroughly = asked()
    print_figures(_measured(question["name"], thoroughly))
