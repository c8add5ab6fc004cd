"""
The client of the Responses API against its mock: answers, retries, and runs in the background that are cut.
"""

from datetime import UTC, datetime

import httpx2
import pytest

from assistant_events import ErrorInfo, ErrorKind, FinishReason, MessageStatus, fold
from assistant_events.adapters.framing import Sse
from assistant_events.adapters.openai_responses.client import OpenAIResponses, OpenAIResponsesApi
from assistant_events.clients import Clock
from assistant_events.session import Session
from assistant_events.stores import AsyncStore, MemoryStore
from assistant_events.testing import mock_provider
from assistant_events.testing.virtual_loop import run

from .answers import end_of, events_of
from .canned import answered, served, streamed
from .mocked import OVERCOME, LoopClock, with_cut

BODY = {"model": "gpt-5.6", "input": "Why?"}
ANSWER = {
    "thought": ["First.", "Then."],
    "text": "Because of the snow, Tromsø.",
    "calls": [{"id": "call_1", "name": "rain", "arguments": {"city": "Oslo"}}],
    "usage": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7},
    "timing": {"delta_chars": 6},
}


def followed(*faults, background=True, answer=ANSWER, then=None, **body):
    """
    Follow a run while *faults* strike; return its message, its report and what was asked.
    """

    async def work():
        clock = LoopClock()
        async with (
            mock_provider({"Why?": answer}, dialect="openai-responses", faults=faults, clock=clock) as provider,
            httpx2.AsyncClient(transport=provider.transport()) as http,
            OpenAIResponses("k", http=http, base_url="http://mock", clock=Clock(now=clock.utc)) as client,
        ):
            made = client.create({**BODY, **({"background": True} if background else {}), **body}, "m")
            events = await events_of(made)
            if then is not None:
                return await then(client, events, provider)
            asked = [f"{each.method} {dict(each.query)}" for each in provider.requests]
            return fold(events).last, made.report, asked

    return run(work())


def test_an_answer():
    """
    One request, and the answer of the fixture.
    """
    message, report, asked = followed(background=False)

    assert ("Because of the snow, Tromsø.", FinishReason.TOOL_CALLS) == (message.text, message.finish_reason)
    assert ["First.", "Then."] == [part.text for part in message.parts if part.type == "reasoning"]
    assert (3, 4) == (message.usage.input_tokens, message.usage.output_tokens)
    assert ("completed", ["POST {}"], False) == (end_of(report), asked, report.resumable)


def test_the_key_is_a_bearer():
    """
    The key is sent as OpenAI expects it, and streams are asked for by default.
    """

    async def headers(client, events, provider):
        return provider.requests[0]

    request = followed(then=headers)

    assert {"authorization": "[hidden]"} == {key: request.headers[key] for key in ("authorization",)}
    assert True is request.body["stream"]
    assert "Bearer " == OpenAIResponsesApi.key_prefix


@pytest.mark.parametrize("fault", OVERCOME)
def test_a_fault_is_overcome(fault):
    """
    A run in the background comes to the answer of one to which nothing was done.
    """
    whole, _, _ = followed()
    message, report, _ = followed(*with_cut(fault))

    assert ("completed", whole.text) == (end_of(report), message.text)
    assert [part.type for part in whole.parts] == [part.type for part in message.parts]
    assert [call.arguments for call in whole.tool_calls] == [call.arguments for call in message.tool_calls]


def test_the_stream_continues_behind_the_last_event():
    """
    The stream of a run that was cut is asked for from the last number on.
    """
    _, _, asked = followed("drop@7")

    assert ["POST {}", "GET {'stream': 'true', 'starting_after': '6'}"] == asked


def test_a_background_run_without_a_stream():
    """
    A run whose document came first is followed.
    """
    message, report, asked = followed(stream=False)

    assert ("completed", "Because of the snow, Tromsø.") == (end_of(report), message.text)
    assert ["POST {}", "GET {'stream': 'true'}"] == asked


@pytest.mark.parametrize("fault", ["drop@5", "cut@5"])
def test_an_answer_in_the_foreground_is_not_followed(fault):
    """
    It ends with its connection.
    """
    message, report, asked = followed(fault, background=False)

    assert ["POST {}"] == asked
    assert end_of(report) in ("network", "interrupted")
    assert not report.resumable
    assert message.error is not None


@pytest.mark.parametrize("status", [500, 503])
@pytest.mark.parametrize("background", [True, False])
def test_a_service_that_is_out_for_a_moment(status, background):
    """
    Only what ends with its connection is asked for again: a run in the background may have begun.
    """
    message, _, asked = followed(f"http-{status}@create", background=background)

    assert (background, 1 if background else 2) == (message.error is not None, len(asked))


ENDS = {"error@5": "provider", "http-400@create": "invalid-request", "http-401@create": "auth"}


@pytest.mark.parametrize(("fault", "end"), ENDS.items(), ids=ENDS)
def test_a_fault_is_the_end(fault, end):
    """
    What cannot be overcome ends the message with a name.
    """
    _, report, _ = followed(fault)

    assert end == end_of(report)


def test_stop():
    """
    A run that is stopped is cancelled and deleted.
    """

    async def stop(client, events, provider):
        message = fold(events).last
        await client.stop(message)
        return [f"{each.method} {each.path.rpartition(message.run.id)[2]}" for each in provider.requests[1:]]

    asked = followed("cut@5", "http-404@getx*", then=stop)

    assert "POST /cancel" in asked
    assert "DELETE " in asked


def test_a_run_is_taken_up_again():
    """
    A message that was stored in mid answer is continued by another client.
    """

    async def work():
        clock = LoopClock()
        async with (
            mock_provider({"Why?": ANSWER}, dialect="openai-responses", clock=clock) as provider,
            httpx2.AsyncClient(transport=provider.transport()) as http,
        ):
            async with OpenAIResponses("k", http=http, base_url="http://mock", clock=Clock(now=clock.utc)) as client:
                began = client.create({**BODY, "background": True}, "m")
                events = []
                async for event in began:
                    events.append(event)
                    if event.type == "text.delta":
                        break
                events += began.close(ErrorInfo(kind=ErrorKind.ABORTED, message="left"))
                await began.aclose()
            async with OpenAIResponses("k", http=http, base_url="http://mock", clock=Clock(now=clock.utc)) as client:
                more = await events_of(client.resume(fold(events).last))
            return fold([*events, *more]).last

    message = run(work())

    assert "Because of the snow, Tromsø." == message.text


RESPONSE = {"id": "resp_1", "status": "in_progress", "model": "g", "output": []}
MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant"}


def frames_of(words, **fields):
    """
    Return the frames of a response with one text.
    """
    response, at = {**RESPONSE, **fields}, {"output_index": 0, "content_index": 0, "item_id": "msg_1"}
    whole = {**MESSAGE, "content": [{"type": "output_text", "text": words, "annotations": []}]}
    frames = [
        {"type": "response.created", "response": response},
        {"type": "response.output_item.added", "output_index": 0, "item": {**MESSAGE, "content": []}},
        {"type": "response.output_text.delta", **at, "delta": words},
        {"type": "response.output_item.done", "output_index": 0, "item": whole},
        {"type": "response.completed", "response": {**response, "status": "completed", "output": [whole]}},
    ]
    return [{**frame, "sequence_number": number} for number, frame in enumerate(frames)]


def body_of(*frames):
    return b"".join(Sse.frame(each["type"], each) for each in frames)


def test_a_stream_of_another_run():
    """
    Nothing of it is taken: the document of the run that was cut has its answer.
    """
    own = frames_of("Snow.", background=True)
    message, situation, requests = answered(
        OpenAIResponses,
        {**BODY, "background": True},
        streamed(body_of(*own[:2])),
        streamed(body_of(*frames_of("Rain.", background=True, id="resp_2"))),
        httpx2.Response(200, json=own[-1]["response"]),
        api_key="k",
    )

    assert ("Snow.", "resp_1", "finished") == (message.text, message.run.id, situation)
    assert [True, True, False] == ["starting_after" in str(each.url) or each.method == "POST" for each in requests]


def test_a_run_that_does_not_repeat_what_was_asked():
    """
    It is in the background, as the stored message has it, and can be taken up again.
    """
    frames = frames_of("Snow.")
    decoder = OpenAIResponsesApi.decoder("a1", request={"background": True})
    begun = decoder.feed(body_of(*frames[:2])) + decoder.close(ErrorInfo(kind=ErrorKind.ABORTED, message="left"))
    http, _ = served(streamed(body_of(*frames)))

    async def work():
        async with OpenAIResponses("k", http=http, base_url="http://mock", clock=Clock(now=LoopClock().utc)) as client:
            return fold([*begun, *await events_of(client.resume(fold(begun).last))]).last

    message = run(work())

    assert ("Snow.", MessageStatus.COMPLETED, True) == (message.text, message.status, message.run.resumable)


def test_repeated_events_are_no_news():
    """
    A stream that brings what has come, and nothing else, is silent.
    """
    frames = frames_of("Snow.")
    decoder = OpenAIResponsesApi.decoder("a1")
    decoder.feed(body_of(*frames[:3]))
    known = decoder.news
    decoder.continue_stream()
    decoder.feed(body_of(*frames[1:3]))

    assert known == decoder.news


def test_what_a_document_means():
    """
    Status and date of a response are read; a date that is none is not.
    """
    api = OpenAIResponsesApi()
    found = api.summarize({"status": "queued", "created_at": 0, "output": [{}]})

    assert (True, datetime(1970, 1, 1, tzinfo=UTC), 1) == (found.running, found.created, found.outputs)
    assert None is api.summarize({"status": "completed", "created_at": 10**15}).created


def test_a_response_that_ends_with_its_first_status():
    """
    Gateways repeat it in the last frame, whose name counts.
    """
    response = {"id": "resp_1", "status": "in_progress", "model": "g", "output": []}
    frames = [{"type": f"response.{name}", "response": response} for name in ("created", "completed")]
    message, _, requests = answered(
        OpenAIResponses, BODY, streamed(b"".join(Sse.frame(each["type"], each) for each in frames)), api_key="k"
    )

    assert (MessageStatus.COMPLETED, 1) == (message.status, len(requests))


@pytest.mark.parametrize("mode", ["auto", "full"])
def test_answers_that_are_not_stored_any_more(mode):
    """
    After the service has lost its responses, a conversation continues without reasonings that are known by id alone.
    """

    async def work():
        answers = {"One": {"thought": "Hm.", "text": "1"}, "Two": {"thought": "Oh.", "text": "2"}, "Three": "3"}
        async with (
            mock_provider(answers, dialect="openai-responses", clock=LoopClock()) as provider,
            httpx2.AsyncClient(transport=provider.transport()) as http,
            OpenAIResponses("k", http=http, base_url="http://mock") as client,
        ):
            session = await Session.open(AsyncStore(MemoryStore()), "s1")
            modes = []
            for prompt in answers:
                await session.prompt(prompt)
                async with session.respond(client, {"model": "gpt-5.6"}, mode=mode) as events:
                    [event async for event in events]
                modes.append(events.request.mode)
                run = session.transcript.last_answer.run
                deleted = await http.delete(f"http://mock/v1/responses/{run.id}", headers={"authorization": "Bearer k"})
                assert 200 == deleted.status_code
            return session.transcript, modes, len([each for each in provider.requests if each.method == "POST"])

    transcript, modes, requests = run(work())

    assert [("1", None), ("2", None), ("3", None)] == [
        (each.text, each.error) for each in transcript if each.type == "assistant"
    ]
    assert (["full"] * 3, 5) == (modes, requests)
