"""
`mock_provider`: on a port, without a socket, in threads and loops, and what is left when it is closed.
"""

import asyncio
import json
import subprocess
import sys
import threading
from inspect import signature

import attrs
import httpx2
import pytest

from assistant_events.adapters.gemini_interactions.mock.provider import InteractionsSettings, ProviderOptions
from assistant_events.errors import FixtureError, UnknownDialectError
from assistant_events.mock import app
from assistant_events.testing import mock_provider

KEY = {"x-goog-api-key": "secret"}
ASKED = {"model": "gemini-3.6-flash", "input": "Hello"}
SLOW = {"Hello": {"text": "Hi", "timing": {"between_s": 3600}}}


def test_a_dialect_without_a_mock():
    """
    The error names what is missing, a mock, and the mocks there are.
    """
    with pytest.raises(UnknownDialectError) as caught:
        mock_provider(dialect="morse")

    installed = (
        "anthropic-messages, bedrock-converse, gemini-generate-content, gemini-interactions, openai-chat, "
        "openai-responses"
    )
    assert f"no mock of dialect 'morse'; installed mocks: {installed}" == str(caught.value)


def text_of(document: dict[str, object]) -> str:
    return document["steps"][-1]["content"][0]["text"]


def ask(url: str, text: str = "Hello", **more: object) -> httpx2.Response:
    with httpx2.Client() as client:
        return client.post(f"{url}/v1beta/interactions", json={**ASKED, "input": text, **more}, headers=KEY)


def threads() -> set[threading.Thread]:
    """
    Return the threads of providers, those of other tests in this process included.
    """
    return {thread for thread in threading.enumerate() if thread.name == "mock-provider"}


def test_a_port():
    """
    A mapping from prompts to answers is a provider on a port of this machine.
    """
    with mock_provider({"Hello": "Hi there"}) as provider:
        response = ask(provider.url)

    assert provider
    assert 200 == response.status_code
    assert "Hi there" == text_of(response.json())


def test_an_address_without_version():
    """
    The address is what official clients take as base URL.
    """
    with mock_provider() as provider:
        assert provider.url.startswith("http://127.0.0.1:")
        assert not provider.url.endswith("/")
        assert provider.url == provider.url


def test_nothing_is_left():
    """
    After the block the port is closed and no thread of it runs.
    """
    before = threads()
    with mock_provider({"Hello": "Hi"}) as provider:
        url = provider.url
        ask(url)
        assert 1 == len(threads() - before)

    assert before == threads()
    with pytest.raises(httpx2.ConnectError):
        ask(url)


def test_nothing_runs_before_it_is_asked():
    """
    Who takes the transport alone never has a thread or a port.
    """
    before = threads()
    with mock_provider({"Hello": "Hi"}) as provider:
        provider.transport()

        assert before == threads()


@pytest.mark.parametrize("what", ["url", "transport"])
def test_only_inside_of_the_block(what):
    """
    Before and after the block no server runs, and the error explains the use.
    """
    provider = mock_provider({"Hello": "Hi"})
    for _ in range(2):
        with pytest.raises(RuntimeError, match="use it inside of `with mock_provider"):
            assert provider.url if what == "url" else provider.transport()
        with provider:
            pass


def test_an_open_stream_does_not_hold_the_end():
    """
    The end of the block ends a stream that would be silent for an hour.
    """
    before = threads()
    with httpx2.Client() as client:
        with mock_provider(SLOW) as provider:
            request = client.build_request(
                "POST", f"{provider.url}/v1/interactions", json={**ASKED, "stream": True}, headers=KEY
            )
            response = client.send(request, stream=True)
            pieces = response.iter_raw()
            first = next(pieces)

        rest = b"".join(pieces)

    assert first.startswith(b"event: interaction.created\n")
    assert b"" == rest
    assert before == threads()


def test_an_answer_that_waits_does_not_hold_the_end():
    """
    The end of the block ends a request that is not answered yet.
    """
    before = threads()
    waiting = threading.Event()
    outcome: list[object] = []

    def wait() -> None:
        with httpx2.Client(timeout=None) as client:
            waiting.set()
            try:
                outcome.append(client.post(f"{url}/v1/interactions", json=ASKED, headers=KEY).status_code)
            except httpx2.TransportError as error:
                outcome.append(error)

    with mock_provider(SLOW) as provider:
        url = provider.url
        thread = threading.Thread(target=wait)
        thread.start()
        waiting.wait()
        while not provider.requests:
            pass
    thread.join()

    assert 1 == len(outcome)
    assert before == threads()


async def in_process(provider: object, *, stream: bool) -> tuple[httpx2.Response, list[bytes]]:
    async with httpx2.AsyncClient(transport=provider.transport(), base_url="https://any.test") as client:
        body = {**ASKED, "stream": stream}
        async with client.stream("POST", "/v1/interactions?x=1", json=body, headers=KEY) as response:
            return response, [piece async for piece in response.aiter_raw()]


def test_in_process():
    """
    A client with the transport talks to the provider without any socket.
    """

    async def main() -> tuple[httpx2.Response, list[bytes]]:
        async with mock_provider({"Hello": "Hi"}) as provider:
            return await in_process(provider, stream=False)

    response, pieces = asyncio.run(main())

    assert 200 == response.status_code
    assert "Hi" == text_of(json.loads(b"".join(pieces)))


def test_in_process_each_event_by_itself():
    """
    The transport hands on each event when it is sent, not all of them at the end.
    """

    async def main() -> tuple[httpx2.Response, list[bytes]]:
        with mock_provider({"Hello": "Hi"}) as provider:
            return await in_process(provider, stream=True)

    _, pieces = asyncio.run(main())

    names = [piece.partition(b"\n")[0].removeprefix(b"event: ").decode() for piece in pieces]
    assert [
        "interaction.created",
        "interaction.status_update",
        "step.start",
        "step.delta",
        "step.stop",
        "interaction.completed",
        "done",
    ] == names
    assert all(piece.endswith(b"\n\n") for piece in pieces)


def test_in_process_a_stream_that_hangs():
    """
    What was sent is there while the rest is still to come; who leaves is not waited for.
    """

    async def main() -> bytes:
        async with (
            mock_provider(SLOW) as provider,
            httpx2.AsyncClient(transport=provider.transport()) as client,
            client.stream("POST", "http://x/v1/interactions", json={**ASKED, "stream": True}, headers=KEY) as response,
        ):
            return await anext(response.aiter_raw())

    assert asyncio.run(main()).startswith(b"event: interaction.created\n")


def test_in_process_a_request_that_hangs():
    """
    A client that gives up before the head of the answer leaves nothing behind.
    """

    async def main() -> set[asyncio.Task[object]]:
        async with (
            mock_provider(SLOW) as provider,
            httpx2.AsyncClient(transport=provider.transport()) as client,
        ):
            asking = asyncio.create_task(client.post("http://x/v1/interactions", json=ASKED, headers=KEY))
            while not provider.requests:  # noqa: ASYNC110 - a request has no notification
                await asyncio.sleep(0)
            asking.cancel()
            await asyncio.wait([asking])
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert set() == asyncio.run(main())


def test_in_process_a_drop():
    """
    A connection that is reset is an error of the transport, as it is with a socket.
    """

    async def main() -> None:
        async with mock_provider({"Hello": "Hi"}, faults=["drop@2"]) as provider:
            await in_process(provider, stream=True)

    with pytest.raises(httpx2.RemoteProtocolError, match="the app failed: the mock provider drops this connection"):
        asyncio.run(main())


def test_in_process_an_app_that_says_nothing():
    """
    An app that ends without an answer is an error of the transport, too.
    """
    from assistant_events.testing.transport import StreamingTransport

    async def app(scope: object, receive: object, send: object) -> None:
        pass

    async def main() -> None:
        async with httpx2.AsyncClient(transport=StreamingTransport(app)) as client:
            await client.get("http://x/")

    with pytest.raises(httpx2.RemoteProtocolError, match="the app returned before the end of its response"):
        asyncio.run(main())


def test_in_one_loop_with_its_client():
    """
    With `async with`, a client in the same loop sees the end of its stream.
    """

    async def main() -> bytes:
        async with httpx2.AsyncClient() as client:
            async with mock_provider(SLOW) as provider:
                url = f"{provider.url}/v1/interactions"
                request = client.build_request("POST", url, json={**ASKED, "stream": True}, headers=KEY)
                response = await client.send(request, stream=True)
                pieces = response.aiter_raw()
                await anext(pieces)
            return b"".join([piece async for piece in pieces])

    assert b"" == asyncio.run(main())


def test_requests():
    """
    What was asked is kept in its order, without keys.
    """
    with mock_provider({"Hello": "Hi"}) as provider:
        ask(provider.url)
        ask(provider.url, "Nobody knows this")
        first, second = provider.requests

    assert ("POST", "/v1beta/interactions", ASKED) == (first.method, first.path, first.body)
    assert "[hidden]" == first.headers["x-goog-api-key"]
    assert "Nobody knows this" == second.body["input"]
    assert "secret" not in repr(provider.requests)


def test_nothing_matches():
    """
    A request that no fixture answers is refused with what there is.
    """
    with mock_provider({"Hello": "Hi"}) as provider:
        response = ask(provider.url, "Helo")

    assert 400 == response.status_code
    assert "did you mean 'Hello'?" in response.json()["error"]["message"]


def test_add():
    """
    Added fixtures precede the present ones, which keep their counts.
    """
    with mock_provider({"Hello": ["one", "two"], "Bye": ["three", "four"]}) as provider:
        before = [text_of(ask(provider.url, text).json()) for text in ("Hello", "Bye")]
        provider.add({"Hello": "other"})
        after = [text_of(ask(provider.url, text).json()) for text in ("Hello", "Bye")]

    assert ["one", "three"] == before
    assert ["other", "four"] == after


def test_add_nonsense():
    """
    What makes no sense is refused where it is added.
    """
    with mock_provider() as provider:
        assert provider.url
        with pytest.raises(FixtureError, match="'Hello': txt: unknown key; did you mean 'text'"):
            provider.add({"Hello": {"txt": "Hi", "status": "failed"}})


def test_reset():
    """
    A reset forgets what was asked, made, counted and added.
    """
    with mock_provider({"Hello": ["one", "two"]}) as provider:
        made = ask(provider.url).json()["id"]
        provider.add({"Hello": "other"})
        provider.reset()
        again = ask(provider.url).json()
        chained = ask(provider.url, previous_interaction_id=made)

        assert "one" == text_of(again)
        assert 404 == chained.status_code
        assert 2 == len(provider.requests)


def test_options():
    """
    The options are those of `MockProvider`, and reach it.
    """
    own = {name for name, each in signature(app.MockProvider).parameters.items() if each.kind is each.KEYWORD_ONLY}
    settings = {field.name for field in attrs.fields(InteractionsSettings)}

    assert own | settings == {*ProviderOptions.__annotations__}
    with mock_provider({"Hello": "Hi"}, generation=1, require_key=False) as provider, httpx2.Client() as client:
        document = client.post(f"{provider.url}/v1beta/interactions", json=ASKED).json()
    assert [{"type": "text", "text": "Hi"}] == document["outputs"]


def test_a_port_that_is_taken():
    """
    A port that another provider has is an error where the address is asked for, and the block ends as ever.
    """
    with (
        mock_provider() as provider,
        mock_provider(port=int(provider.url.rpartition(":")[2])) as other,
        pytest.raises(OSError, match="in use"),
    ):
        assert other.url


def test_a_fixture_error():
    """
    Fixtures that make no sense are refused before anything runs.
    """
    with pytest.raises(FixtureError, match=r"nowhere\.json: No such file"):
        mock_provider("nowhere.json")


def run_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_app():
    """
    The ASGI app is there for clients that take one.
    """
    assert mock_provider().app is not None


def test_what_is_imported():
    """
    `assistant_events.testing` imports neither starlette nor uvicorn nor httpx2.
    """
    printed = run_python(
        "import sys, assistant_events.testing as t; t.mock_provider; "
        "print([name for name in ('starlette', 'uvicorn', 'httpx2') if name in sys.modules])"
    )

    assert "[]\n" == printed


def test_the_extra_is_missing():
    """
    Without the extra the error names the package to install.
    """
    printed = run_python(
        "import sys; sys.modules['starlette'] = None\n"
        "from assistant_events.testing import mock_provider\n"
        "try: mock_provider()\n"
        "except ImportError as error: print(error)\n"
    )

    assert "the mock provider needs starlette: pip install '.[web]' in a clone of assistant-events\n" == printed


def test_left_behind():
    """
    A provider that is not closed does not keep the interpreter running.
    """
    printed = run_python(
        "from assistant_events.testing import mock_provider\n"
        "provider = mock_provider({'Hello': 'Hi'}).__enter__()\n"
        "print(provider.url[:17])\n"
    )

    assert "http://127.0.0.1:\n" == printed
