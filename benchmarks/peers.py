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
from typing import Any, Final, TypeAlias

from assistant_events.adapters import load_dialect
from benchmarks.answers import Answer, chat, steps
from benchmarks.decode import consume
from benchmarks.dialects import WIRES, limit_of
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
from benchmarks.wire import in_chunks

Chunks: TypeAlias = Sequence[bytes]

# `Any` in this module: peers are imported by name when they are there, so their types are out of reach.

FOLDER: Final = Path(__file__).parents[1] / ".venv" / "peers"


def peers(settings: Settings) -> Iterator[Figure | Note]:
    """
    What do others pay for the same answers?

    `chat` (2,000 deltas) and `steps` with 20 rounds, in the wires and the chunks of `dialects`. google-genai and boto3
    yield events and fold nothing; anthropic and openai fold their streams, pydantic-ai and langchain-core one of
    Anthropic. Their HTTP client is part of their figures, because they cannot be used without; ours has none.
    """
    for name in WIRES:
        for answer in _answers(settings):
            chunks, limit = _wire(name, answer)
            comparison = compare(partial(consume, chunks, load_dialect(name)), limit, settings)
            yield _figure(f"assistant-events/{name}", answer, comparison)
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


def _wire(name: str, answer: Answer) -> tuple[list[bytes], Side]:
    """Return the chunks of an answer, and the limit on their bytes."""
    chunks = in_chunks(WIRES[name](answer))
    return chunks, partial(limit_of(name), b"".join(chunks))


def _measured(name: str, settings: Settings) -> Iterator[Figure]:
    for wire, make in PEERS[name].items():
        for answer in _answers(settings):
            chunks, limit = _wire(wire, answer)
            comparison = compare(make(answer, chunks), limit, settings)
            yield _figure(f"{name}/{wire}", answer, comparison, f"{metadata.version(name)}, ")


def _figure(name: str, answer: Answer, comparison: Comparison, version: str = "") -> Figure:
    each = comparison.candidate_s / answer.deltas * 1e6
    detail = f"{version}{answer.deltas:,} deltas, {each:.2f} us a delta"
    return ratio_figure(f"{name}/{answer.name}", comparison, detail=detail)


def _check(name: str, text: str, answer: Answer) -> None:
    assert text == answer.text, f"{name}: the text is not what was streamed"


def _genai_client(chunks: Chunks) -> Any:
    genai = import_module("google.genai")
    options = import_module("google.genai.types").HttpOptions
    http = import_module("httpx2").Client(transport=_transport(chunks))
    return genai.Client(api_key="none", http_options=options(httpx_client=http))


def _interactions(answer: Answer, chunks: Chunks) -> Side:
    client = _genai_client(chunks)

    def run() -> None:
        stream = client.interactions.create(model="gemini-3-flash-preview", input="Hello", stream=True)
        texts = [
            event.delta.text for event in stream if event.event_type == "step.delta" and event.delta.type == "text"
        ]
        _check("google-genai", "".join(texts), answer)

    return run


def _generate_content(answer: Answer, chunks: Chunks) -> Side:
    client = _genai_client(chunks)

    def run() -> None:
        stream = client.models.generate_content_stream(model="gemini-3-flash-preview", contents="Hello")
        parts = [part for chunk in stream for part in chunk.candidates[0].content.parts]
        _check("google-genai", "".join([part.text for part in parts if part.text and not part.thought]), answer)

    return run


def _anthropic_client(chunks: Chunks) -> Any:
    http = import_module("httpx2").Client(transport=_transport(chunks))
    return import_module("anthropic").Anthropic(api_key="none", http_client=http)


def _messages(answer: Answer, chunks: Chunks) -> Side:
    client = _anthropic_client(chunks)
    prompt = [{"role": "user", "content": "Hello"}]

    def run() -> None:
        with client.messages.stream(model="claude-sonnet-4-5", max_tokens=1_000, messages=prompt) as stream:
            for _ in stream:
                pass
            message = stream.get_final_message()
        _check("anthropic", "".join([block.text for block in message.content if block.type == "text"]), answer)

    return run


def _openai_client(chunks: Chunks) -> Any:
    http = import_module("httpx2").Client(transport=_transport(chunks))
    return import_module("openai").OpenAI(api_key="none", http_client=http)


def _chat(answer: Answer, chunks: Chunks) -> Side:
    client = _openai_client(chunks)
    prompt = [{"role": "user", "content": "Hello"}]

    def run() -> None:
        with client.chat.completions.stream(model="gpt-5.4", messages=prompt) as stream:
            for _ in stream:
                pass
            _check("openai", stream.get_final_completion().choices[0].message.content, answer)

    return run


def _responses(answer: Answer, chunks: Chunks) -> Side:
    client = _openai_client(chunks)

    def run() -> None:
        with client.responses.stream(model="gpt-5.4", input="Hello") as stream:
            for _ in stream:
                pass
            _check("openai", stream.get_final_response().output_text, answer)

    return run


def _converse(answer: Answer, chunks: Chunks) -> Side:
    response = import_module("botocore.awsrequest").AWSResponse
    client: Any = import_module("boto3").client(
        "bedrock-runtime", region_name="us-east-1", aws_access_key_id="none", aws_secret_access_key="none"
    )

    class Body:
        def stream(self) -> Iterator[bytes]:
            return iter(chunks)

        def close(self) -> None:
            pass

    headers = {"content-type": "application/vnd.amazon.eventstream"}
    client.meta.events.register(
        "before-send.bedrock-runtime.ConverseStream", lambda **_: response("https://none", 200, headers, Body())
    )
    prompt = [{"role": "user", "content": [{"text": "Hello"}]}]

    def run() -> None:
        stream = client.converse_stream(modelId="anthropic.claude-sonnet-4-5", messages=prompt)["stream"]
        deltas = [event["contentBlockDelta"]["delta"] for event in stream if "contentBlockDelta" in event]
        _check("boto3", "".join([delta.get("text", "") for delta in deltas]), answer)

    return run


def _pydantic_ai(answer: Answer, chunks: Chunks) -> Side:
    direct = import_module("pydantic_ai.direct")
    messages = import_module("pydantic_ai.messages")
    models = import_module("pydantic_ai.models.anthropic")
    providers = import_module("pydantic_ai.providers.anthropic")
    sdk = import_module("anthropic")
    httpx2 = import_module("httpx2")

    async def consume() -> Any:
        async with httpx2.AsyncClient(transport=_transport(chunks)) as http:
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
        _check("pydantic-ai", "".join([part.content for part in response.parts if part.part_kind == "text"]), answer)
        calls = [part.tool_name for part in response.parts if part.part_kind == "tool-call"]
        assert calls == [call.name for call in answer.calls], "pydantic-ai: the calls are not what was streamed"

    return run


def _langchain(answer: Answer, chunks: Chunks) -> Side:
    model: Any = import_module("langchain_anthropic").ChatAnthropic(model="claude-sonnet-4-5", api_key="none")
    model.__dict__["_client"] = _anthropic_client(chunks)

    def run() -> None:
        whole: Any = None
        for chunk in model.stream("Hello"):
            whole = chunk if whole is None else whole + chunk
        _check("langchain-core", whole.text, answer)

    return run


PEERS: Final[Mapping[str, Mapping[str, Callable[[Answer, Chunks], Side]]]] = MappingProxyType(
    {
        "google-genai": {"gemini-interactions": _interactions, "gemini-generate-content": _generate_content},
        "anthropic": {"anthropic-messages": _messages},
        "openai": {"openai-chat": _chat, "openai-responses": _responses},
        "boto3": {"bedrock-converse": _converse},
        "pydantic-ai-slim": {"anthropic-messages": _pydantic_ai},
        "langchain-anthropic": {"anthropic-messages": _langchain},
    }
)
"""Under the name of the package, by dialect."""


def _transport(chunks: Chunks) -> Any:
    httpx2: Any = import_module("httpx2")

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
