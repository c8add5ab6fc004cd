"""
What a stream of the mock provider looks like on the wire, byte by byte, and the document of the same answer.
"""

import asyncio

import pytest

from assistant_events.adapters.gemini_interactions.mock import Answer
from assistant_events.mock import StreamError, Timing

from .asgi import (
    CREATED,
    MODEL,
    Exchange,
    HandClock,
    ask,
    asked,
    call_step,
    create,
    provider_of,
    settle,
    text_step,
    thought_step,
)

V1 = "/v1beta/interactions"
USAGE = {"total_tokens": 3}
NO_SIGN = {"sign": False}


def streamed(*steps, body=None, headers=None, answer=None, **options):
    provider = provider_of(Answer(steps=steps, usage=USAGE) if answer is None else answer, **options)
    return asked(provider, "POST", V1, create(stream=True, **(body or {})), headers)


def test_bytes_of_a_text():
    """
    A text comes as the service sends it: name and document of each event, an empty line, and `[DONE]` at the end.
    """
    exchange = streamed(text_step("Hello"))

    assert 200 == exchange.status
    assert "text/event-stream" == exchange.headers["content-type"]
    assert (
        b"event: interaction.created\n"
        b'data: {"interaction":{"id":"v1_1","status":"in_progress","object":"interaction","model":"gemini-3.6-flash"},'
        b'"event_type":"interaction.created"}\n\n'
        b"event: interaction.status_update\n"
        b'data: {"interaction_id":"v1_1","status":"in_progress","event_type":"interaction.status_update"}\n\n'
        b"event: step.start\n"
        b'data: {"index":0,"step":{"type":"model_output"},"event_type":"step.start"}\n\n'
        b"event: step.delta\n"
        b'data: {"index":0,"delta":{"text":"Hello","type":"text"},"event_type":"step.delta"}\n\n'
        b"event: step.stop\n"
        b'data: {"index":0,"event_type":"step.stop"}\n\n'
        b"event: interaction.completed\n"
        b'data: {"interaction":{"id":"v1_1","status":"completed","object":"interaction","model":"gemini-3.6-flash",'
        b'"created":"2026-11-22T12:00:00Z","updated":"2026-11-22T12:00:00Z","usage":{"total_tokens":3}},'
        b'"event_type":"interaction.completed"}\n\n'
        b"event: done\n"
        b"data: [DONE]\n\n"
    ) == exchange.body


def test_each_event_is_sent_alone():
    """
    Every event is a message of its own to the server, so that it is written at once.
    """
    exchange = streamed(text_step("Hello"))

    assert [1] * 7 == [piece.count(b"data: ") for piece in exchange.pieces]
    assert all(piece.endswith(b"\n\n") for piece in exchange.pieces)


def test_later_events_that_are_due_together_are_written_together():
    """
    After 32 events sixteen that are due at the same time are one write; those with a time of their own are one each.
    """
    step, pieces = text_step("word " * 100), []
    for between_s in (0.0, 1e-6):
        timing = Timing(delta_chars=5, between_s=between_s)
        exchange = streamed(answer=Answer(steps=(step,), usage=USAGE, timing=timing))
        pieces.append([count for piece in exchange.pieces if (count := piece.count(b"data: "))])

    assert [[1] * 32 + [16] * 4 + [9, 1], [1] * 106] == pieces


def test_undocumented_fields_of_a_step_come_with_its_start():
    """
    Undocumented fields of a step in a fixture are in the start of the step.
    """
    events = streamed({**text_step("Hello"), "confidence": 0.5}).events

    assert {"type": "model_output", "confidence": 0.5} == events[2]["step"]


def test_an_item_of_a_summary_comes_whole():
    """
    A delta of a summary is an item of it, so that the stream has the summary that the document has.
    """
    events = streamed(thought_step("A thought of more than twenty characters."), **NO_SIGN).events

    assert [{"type": "text", "text": "A thought of more than twenty characters."}] == [
        event["delta"]["content"] for event in events if event.get("delta", {}).get("type") == "thought_summary"
    ]


def test_arguments_come_in_fragments():
    """
    A call starts with id, name and empty arguments, and its fragments together are the arguments.
    """
    events = streamed(call_step(city="Oslo, the one in Norway", days=[1, 2])).events

    assert {"type": "function_call", "id": "c1", "name": "getWeather", "arguments": {}} == events[2]["step"]
    assert ["arguments_delta"] * 3 == [event["delta"]["type"] for event in events[3:6]]
    assert '{"city":"Oslo, the one in Norway","days":[1,2]}' == "".join(
        event["delta"]["arguments"] for event in events[3:6]
    )
    assert "requires_action" == events[-1]["interaction"]["status"]


def test_arguments_may_come_whole():
    """
    With `arguments="whole"` a call starts with its arguments, and no fragments follow.
    """
    events = streamed(call_step(city="Oslo"), arguments="whole").events

    assert {"city": "Oslo"} == events[2]["step"]["arguments"]
    assert "step.stop" == events[3]["event_type"]


def test_thoughts():
    """
    The summary of a thought comes in deltas, then its signature.
    """
    events = streamed(thought_step("Plan it", signature="c2ln"), text_step("x")).events

    assert {"type": "thought"} == events[2]["step"]
    assert {"type": "thought_summary", "content": {"type": "text", "text": "Plan it"}} == events[3]["delta"]
    assert {"type": "thought_signature", "signature": "c2ln"} == events[4]["delta"]


@pytest.mark.parametrize(
    ("chars", "pieces"), [(None, ["ab" * 10, "ab"]), (4, ["abab"] * 5 + ["ab"]), (100, ["ab" * 11])]
)
def test_texts_are_cut(chars, pieces):
    """
    A text comes in pieces of as many characters as the fixture sets, 20 by default.
    """
    answer = Answer(steps=(text_step("ab" * 11),), timing=Timing(delta_chars=chars))
    events = streamed(answer=answer).events

    assert pieces == [event["delta"]["text"] for event in events if event["event_type"] == "step.delta"]


def test_line_ends_of_unicode_are_escaped():
    """
    U+0085, U+2028 and U+2029 are escaped, because some clients take them for the ends of lines.
    """
    body = streamed(text_step("a\u0085b\u2028c\u2029d")).body

    assert rb'"text":"a\u0085b\u2028c\u2029d"' in body
    assert not {0xC2, 0xE2} & set(body)


@pytest.mark.parametrize(
    ("content", "deltas"),
    [
        ([{"type": "text", "text": ""}], [{"type": "text", "text": ""}]),
        ([], []),
        ([{"type": "text", "text": ""}, {"type": "text", "text": "a"}], [{"type": "text", "text": "a"}]),
    ],
    ids=["an empty text", "no content", "and a text"],
)
def test_an_empty_text_is_streamed(content, deltas):
    """
    A step whose text is empty is in the stream as it is in the resource, at the same place.
    """
    steps = [thought_step("Hm"), {"type": "model_output", "content": content}, call_step()]
    events = asked(provider_of(steps), "POST", V1, create(stream=True)).events
    document = asked(provider_of(steps), "POST", V1, create()).document
    starts = [event["step"]["type"] for event in events if event["event_type"] == "step.start"]

    assert [step["type"] for step in document["steps"]] == starts == ["thought", "model_output", "function_call"]
    assert content == document["steps"][1]["content"]
    assert deltas == [event["delta"] for event in events if event["event_type"] == "step.delta" and event["index"] == 1]
    assert [0, 1, 2] == [event["index"] for event in events if event["event_type"] == "step.stop"]


def test_no_lone_surrogates():
    """
    Half of a surrogate pair in a fixture becomes U+FFFD, in the stream and in the document.
    """
    provider = provider_of([text_step("a\ud800b")])
    stream = asked(provider, "POST", V1, create(stream=True))
    document = asked(provider, "GET", f"{V1}/v1_1").document

    assert "a\ufffdb" == stream.events[3]["delta"]["text"]
    assert "a\ufffdb" == document["steps"][1]["content"][0]["text"]


def test_no_id_lines_and_no_comments():
    """
    A stream has no `id:` lines and no comments.
    """
    lines = streamed(thought_step("p"), text_step("x"), body={"background": True}).body.split(b"\n")

    assert {b"event", b"data", b""} == {line.partition(b":")[0] for line in lines}


def test_background_runs_have_cursors():
    """
    Each event of a background run has an `event_id`: `v1_` and base64 of its number and type.
    """
    events = streamed(text_step("Hello"), body={"background": True}).events

    assert "v1_MF9pbnRlcmFjdGlvbi5jcmVhdGVk" == events[0]["event_id"]
    assert 6 == len({event["event_id"] for event in events})
    assert CREATED == events[0]["interaction"]["created"]


@pytest.mark.parametrize(("which", "expected"), [("all", 6), ("some", 3), ("none", 0), ("background", 0)])
def test_which_events_have_cursors(which, expected):
    """
    `event_ids` gives cursors to all events, every second, none, or those of background runs only.
    """
    events = streamed(text_step("Hello"), event_ids=which).events

    assert expected == sum("event_id" in event for event in events)


def test_not_stored():
    """
    With `store: false` the id is empty in a stream, and there is none in a document.
    """
    provider = provider_of()
    events = asked(provider, "POST", V1, create(stream=True, store=False)).events
    document = asked(provider, "POST", V1, create(store=False)).document

    assert "" == events[0]["interaction"]["id"] == events[1]["interaction_id"] == events[-1]["interaction"]["id"]
    assert "id" not in document
    assert "completed" == document["status"]


def test_document():
    """
    Without `stream` the answer is one document with the generated steps alone.
    """
    answer = Answer(steps=(thought_step(signature="c2ln"), text_step("Hello")), usage=USAGE)
    exchange = asked(provider_of(answer), "POST", V1, create())

    assert 200 == exchange.status
    assert "application/json" == exchange.headers["content-type"]
    assert {
        "id": "v1_1",
        "status": "completed",
        "object": "interaction",
        "model": MODEL,
        "created": CREATED,
        "updated": CREATED,
        "steps": [thought_step(signature="c2ln"), text_step("Hello")],
        "usage": USAGE,
    } == exchange.document


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream", "*/*", None])
@pytest.mark.parametrize(
    ("stream", "is_stream"),
    [(True, True), ("True", True), (False, False), (None, False)],
    ids=["yes", "word", "no", "null"],
)
def test_only_the_body_asks_for_a_stream(accept, stream, is_stream):
    """
    `stream` of the body decides, whatever `Accept` and the query contain.
    """
    headers = {"accept": accept}
    exchange = asked(provider_of(), "POST", f"{V1}?stream=true&alt=sse", create(stream=stream), headers)

    assert is_stream == exchange.headers["content-type"].startswith("text/event-stream")


def test_agents():
    """
    A run of an agent names the agent and no model.
    """
    body = {"agent": "antigravity-preview-09-2026", "input": "hi", "stream": True}
    events = asked(provider_of(), "POST", V1, body).events

    assert "antigravity-preview-09-2026" == events[0]["interaction"]["agent"] == events[-1]["interaction"]["agent"]
    assert "model" not in events[-1]["interaction"]


def test_more_fields_of_the_resource():
    """
    Other fields of a fixture are in the last event; the environment of a sandbox is in the first one, too.
    """
    answer = Answer(steps=(text_step("x"),), more={"environment_id": "0b7e", "service_tier": "flex"})
    events = streamed(answer=answer).events

    assert "0b7e" == events[0]["interaction"]["environment_id"]
    assert "flex" == events[-1]["interaction"]["service_tier"]


def test_usage_is_made_up():
    """
    Without usage in the fixture it is computed from the lengths of the texts, four characters a token.
    """
    answer = Answer(steps=(thought_step("12345"), text_step("12345678")))
    usage = asked(provider_of(answer), "POST", V1, create("1234")).document["usage"]

    assert 1 == usage["total_input_tokens"]
    assert 2 == usage["total_output_tokens"]
    assert 2 == usage["total_thought_tokens"]
    assert 5 == usage["total_tokens"]
    assert (0, 0) == (usage["total_cached_tokens"], usage["total_tool_use_tokens"])


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (Answer(steps=(text_step("x"),)), "completed"),
        (Answer(steps=(text_step("x"),), status="incomplete"), "incomplete"),
        (Answer(steps=(call_step(),)), "requires_action"),
        (
            Answer(steps=(call_step(), {"type": "function_result", "call_id": "c1", "name": "f", "result": "r"})),
            "completed",
        ),
        (Answer(steps=(text_step("x"),), continuation_token="dG9r"), "requires_continuation"),
    ],
    ids=["text", "said", "call", "call of a sandbox", "token"],
)
def test_statuses(answer, status):
    """
    A run ends with the status of its fixture, else with the one that follows from its steps.
    """
    assert status == streamed(answer=answer).events[-1]["interaction"]["status"]
    assert status == asked(provider_of(answer), "POST", V1, create()).document["status"]


def test_continuation_token():
    """
    The token of a fixture is in the last event of a stream and in the document.
    """
    answer = Answer(steps=(text_step("x"),), continuation_token="dG9r")

    assert "dG9r" == streamed(answer=answer).events[-1]["interaction"]["continuation_token"]
    assert "dG9r" == asked(provider_of(answer), "POST", V1, create()).document["continuation_token"]


@pytest.mark.parametrize(
    ("after", "names"),
    [
        (None, ["interaction.created", "interaction.status_update", "step.start", "step.delta", "step.stop", "error"]),
        (4, ["interaction.created", "interaction.status_update", "step.start", "step.delta", "error"]),
        (1, ["interaction.created", "error"]),
        (0, ["error"]),
    ],
)
def test_stream_errors(after, names):
    """
    An error of the stream comes after as many events as the fixture sets, else in place of the end.
    """
    answer = Answer(steps=(text_step("Hi"),), stream_error=StreamError(code="internal", message="boom", after=after))
    provider = provider_of(answer)
    exchange = asked(provider, "POST", V1, create(stream=True))
    document = asked(provider, "GET", f"{V1}/v1_1").document

    assert names == exchange.names
    assert {"error": {"code": "internal", "message": "boom"}, "event_type": "error"} == exchange.events[-1]
    assert exchange.body.endswith(b"data: [DONE]\n\n")
    assert "failed" == document["status"]
    assert [{"code": "internal", "message": "boom"}] == document["errors"]


def test_events_wait_for_their_time():
    """
    Each event comes at the time of its fixture, the headers after the time of the first byte.
    """

    async def main():
        clock = HandClock()
        timing = Timing(first_byte_s=2.0, between_s=1.0, waits_s=(0.0, 0.0, 5.0))
        provider = provider_of(Answer(steps=(text_step("Hi"),), timing=timing), clock=clock)
        exchange = Exchange(provider, "POST", V1, create(stream=True))
        seen = []
        for seconds in (1.0, 1.0, 4.0, 1.0, 1.0, 1.0, 1.0):
            await clock.advance(seconds)
            seen.append((exchange.status, len(exchange.pieces)))
        await exchange.over()
        return seen

    assert [(None, 0), (200, 2), (200, 2), (200, 3), (200, 4), (200, 5), (200, 7)] == asyncio.run(main())


def test_a_document_waits_for_the_whole_answer():
    """
    A document comes when the last event of the answer would.
    """

    async def main():
        clock = HandClock()
        provider = provider_of(Answer(steps=(text_step("Hi"),), timing=Timing(between_s=1.0)), clock=clock)
        exchange = Exchange(provider, "POST", V1, create())
        await clock.advance(4.9)
        before = exchange.status
        await clock.advance(0.1)
        await exchange.over()
        return before, exchange.status

    assert (None, 200) == asyncio.run(main())


def test_a_client_that_leaves_in_a_burst():
    """
    After a few events that are due at once others get their turn, so that a client that leaves is noticed.
    """

    async def main():
        exchange = Exchange(provider_of([text_step("word " * 400)]), "POST", V1, create(stream=True))
        exchange.leave()
        await exchange.over()
        return len(exchange.pieces)

    assert asyncio.run(main()) < 10


def test_a_client_that_leaves_ends_its_own_stream():
    """
    One reader disconnects; the other gets everything, and nothing of the first is left.
    """

    async def main():
        clock = HandClock()
        provider = provider_of(Answer(steps=(text_step("Hi"),), timing=Timing(between_s=1.0)), clock=clock)
        leaving, staying = (Exchange(provider, "POST", V1, create(stream=True)) for _ in range(2))
        await clock.advance(1.0)
        leaving.leave()
        await leaving.over()
        for _ in range(4):
            await clock.advance(1.0)
        await staying.over()
        return leaving, staying

    leaving, staying = asyncio.run(main())

    assert ["interaction.created", "interaction.status_update"] == leaving.names
    assert not leaving.ended
    assert "interaction.completed" == staying.names[-1]
    assert staying.ended


def test_lyria_answers_with_outputs():
    """
    The document of a music model has `outputs` in the place of steps.
    """
    audio = {"type": "audio", "data": "AAAA", "mime_type": "audio/mp3"}
    provider = provider_of([{"type": "model_output", "content": [audio]}])
    document = asked(provider, "POST", V1, {"model": "lyria-3-pro-preview", "input": "la"}).document

    assert [audio] == document["outputs"]
    assert "steps" not in document


def test_answers_of_a_fixture_come_in_turn():
    """
    The first request gets the first answer, the next the second, and from then on the last is repeated.
    """
    provider = provider_of([text_step("one")], [text_step("two")])

    async def main():
        return [(await ask(provider, "POST", V1, create())).document for _ in range(3)]

    texts = [document["steps"][0]["content"][0]["text"] for document in asyncio.run(main())]

    assert ["one", "two", "two"] == texts


def test_who_leaves_before_the_headers_gets_none():
    """
    Nothing is sent to a client that left while it waited for the first byte.
    """

    async def main():
        answer = Answer(steps=(text_step("Hi"),), timing=Timing(first_byte_s=9.0))
        exchange = Exchange(provider_of(answer, clock=HandClock()), "POST", V1, create(stream=True))
        await settle()
        exchange.leave()
        return (await exchange.over()).status

    assert None is asyncio.run(main())


def test_more_of_a_request_is_no_end():
    """
    What a server still hands on of a request while the answer streams does not end it.
    """

    async def main():
        clock = HandClock()
        answer = Answer(steps=(text_step("Hi"),), timing=Timing(between_s=1.0))
        exchange = Exchange(provider_of(answer, clock=clock), "POST", V1, create(stream=True))
        await clock.advance(1.0)
        exchange.more()
        for _ in range(4):
            await clock.advance(1.0)
        return (await exchange.over()).ended

    assert asyncio.run(main())
