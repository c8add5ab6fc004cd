"""
The mock of the Responses API: its answers, what it refuses, its runs, fixtures and recordings.

Expected values come from the types of openai 3.54.0 and from reports of refused requests; those of aimock's fixtures
from the Responses handler of `@copilotkit/aimock` 1.43.0.
"""

import asyncio
import json
import re

import pytest

from assistant_events import fold
from assistant_events.adapters.openai_responses import OpenAIResponsesDecoder
from assistant_events.adapters.openai_responses.mock import Answer, Match, MockProvider, mock, read_request, validation
from assistant_events.mock.fixture_files import load_fixtures
from assistant_events.mock.proxy import RecordingProxy
from assistant_events.mock.requests import ApiError
from assistant_events.testing.transport import StreamingTransport

from .asgi import HandClock, JumpClock, ask, asked

PATH = "/v1/responses"
MODEL = "gpt-5.6"
HEADERS = {"x-goog-api-key": None, "authorization": "Bearer secret"}
USER = {"role": "user", "content": "Hello"}
CALL = {"type": "function_call", "call_id": "call_1", "name": "rain", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "call_1", "output": "sunny"}
REASONING = {"type": "reasoning", "id": "rs_9", "summary": []}
RECORDED = """
    background completed_at created_at error frequency_penalty id incomplete_details instructions max_output_tokens
    max_tool_calls metadata model moderation object output parallel_tool_calls presence_penalty previous_response_id
    prompt_cache_key prompt_cache_retention reasoning safety_identifier service_tier status store temperature text
    tool_choice tools top_logprobs top_p truncation usage user
"""
"""The fields of nearly all recorded responses of gpt-5 models since the end of 2025."""

ENCRYPTED = {"store": False, "include": ["reasoning.encrypted_content"]}


def provider_of(fixtures, **options):
    numbers = iter(range(1, 100))
    return MockProvider(fixtures, **{"clock": JumpClock(), "make_id": lambda: f"resp_{next(numbers)}", **options})


def anything(answer="Hi", **options):
    fixture = {"match": {}, "answer": {"text": answer} if isinstance(answer, str) else answer}
    return provider_of({"version": 1, "fixtures": [fixture]}, **options)


def body(given="Hello", **more):
    return {"model": MODEL, "input": given, **more}


def posted(provider, request, headers=()):
    return asked(provider, "POST", PATH, request, {**HEADERS, **dict(headers)})


def several(provider, *requests):
    """Return the exchanges of requests (method, target, body), one after the other."""

    async def main():
        return [await ask(provider, method, target, given, HEADERS) for method, target, given in requests]

    return asyncio.run(main())


def loaded(*entries):
    return load_fixtures(mock.form, {"fixtures": list(entries)})


def one(response, **more):
    ((answer,),) = [fixture.answers for fixture in loaded({"match": {}, "response": response, **more})]
    return answer


# -- answers


def test_a_document():
    """
    A response repeats its request, and its message has an id, a status and annotations.
    """
    found = posted(anything("Hi there"), body(instructions="Be brief.", temperature=0.5)).document
    [message] = found["output"]

    assert ("resp_1", "response", "completed", MODEL) == tuple(
        found[key] for key in ("id", "object", "status", "model")
    )
    assert ("Be brief.", 0.5, True, None) == tuple(
        found[key] for key in ("instructions", "temperature", "store", "previous_response_id")
    )
    assert {
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Hi there", "annotations": []}],
    } == {key: value for key, value in message.items() if key != "id"}
    assert (4, 2, 6) == tuple(found["usage"][key] for key in ("input_tokens", "output_tokens", "total_tokens"))


PREFIXES = {
    "apply_patch_call": "apc",
    "code_interpreter_call": "ci",
    "file_search_call": "fs",
    "function_call": "fc",
    "image_generation_call": "ig",
    "mcp_call": "mcp",
    "mcp_list_tools": "mcpl",
    "shell_call": "sh",
    "web_search_call": "ws",
}


@pytest.mark.parametrize("stream", [False, True])
def test_the_beginnings_of_ids(stream):
    """
    They are those of the recordings: langchain-openai takes no image for its own whose id begins otherwise.
    """
    call = {"name": "f", "arguments": "{}"}
    more = {"function_call": {**call, "call_id": "call_1"}, "mcp_call": {**call, "server_label": "s"}}
    items = [{"type": kind, "status": "completed", **more.get(kind, {})} for kind in PREFIXES]
    provider = anything({"output": items})
    found = posted(provider, body(stream=stream))
    response = found.events[-1]["response"] if stream else found.document

    assert PREFIXES == {item["type"]: item["id"].partition("_")[0] for item in response["output"]}


@pytest.mark.parametrize(("model", "statuses"), [("grok-4.3", ["in_progress", "completed"]), (MODEL, [None, None])])
def test_the_status_of_a_reasoning(model, statuses):
    """
    Those of xAI have one in its recordings, and `@ai-sdk/xai` reads none without; those of OpenAI have none.
    """
    answer = {"thought": "Rain?", "text": "No."}
    items = [
        event["item"] for event in posted(anything(answer), body(stream=True, model=model)).events if "item" in event
    ]
    [whole, _] = posted(anything(answer), body(model=model)).document["output"]

    assert statuses == [item.get("status") for item in items if item["type"] == "reasoning"]
    assert (statuses[1], "Rain?") == (whole.get("status"), whole["summary"][0]["text"])


def test_the_ids_of_calls_of_xai():
    """
    `@ai-sdk/xai` sends the id of a call as that of its item, which xAI takes.
    """
    call, result = {**CALL, "id": "call_1", "status": "completed"}, {**RESULT, "output": "wet"}
    request = body(
        [USER, {**REASONING, "id": "rs_8", "status": "completed", "encrypted_content": "eA=="}, call, result]
    )

    assert 200 == posted(anything(sign=False), {**request, "model": "grok-4.3"}).status
    assert 400 == posted(anything(sign=False), request).status


def test_a_call_of_the_service_and_its_result():
    """
    Both items have one id (`call_id` of `shell_call` and of `shell_call_output`): there is one call.
    """
    call = {"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls"]}, "status": "completed"}
    result = {"type": "shell_call_output", "call_id": "c1", "output": [{"stdout": "a", "stderr": ""}]}
    found = posted(anything({"output": [call, result]}), body()).document

    assert [("shell_call", "c1"), ("shell_call_output", "c1")] == [
        (item["type"], item["call_id"]) for item in found["output"]
    ]


def test_results_count_as_input():
    """
    The usage has the text of results, also of a turn of nothing else.
    """
    call = {"type": "function_call", "call_id": "c1", "name": "rain", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "c1", "output": "sunny"}

    assert 2 == posted(anything(), body([call, result])).document["usage"]["input_tokens"]


def test_the_fields_of_a_response():
    """
    A response has the fields that those of the service have, in a stream too: when it was completed is null before.
    """
    document = posted(anything(), body()).document
    events = posted(anything(), body(stream=True)).events
    begun, ended = events[0]["response"], events[-1]["response"]
    failed = posted(anything({"text": "Hi", "stream_error": {"message": "boom"}}), body(stream=True, background=True))

    assert set(RECORDED.split()) <= document.keys() == begun.keys() == ended.keys()
    assert ["in_progress", "completed"] == [begun["status"], ended["status"]]
    assert begun["completed_at"] is None
    assert ended["created_at"] <= ended["completed_at"] == document["completed_at"]
    assert begun["created_at"] == ended["created_at"] == document["created_at"]
    assert failed.events[0]["response"]["completed_at"] is None


def test_the_ids_of_items_of_a_stream():
    """
    All events of an item have its id, those of a reasoning of several parts, too.
    """
    provider = anything({"thought": ["Hm", "Ah"], "text": "Hi"})
    events = [event for event in posted(provider, body(stream=True)).events if "output_index" in event]
    ids = {(event["output_index"], event["item"]["id"] if "item" in event else event["item_id"]) for event in events}

    assert [0, 1] == [index for index, _ in sorted(ids)]
    assert all("item_id" not in event for event in events if "item" in event)


@pytest.mark.parametrize("given", ["error@3", "stream_error"])
def test_errors_of_streams(given):
    """
    The event of an error has the number of its place, and the fields of the service, also where a fault is the cause.
    """
    error = {"code": "server_error", "message": "boom"}
    if given == "error@3":
        provider = anything(faults=[given])
    else:
        provider = anything({"text": "Hi", "stream_error": {**error, "after": 3}})
    *before, event = [each for each in posted(provider, body(stream=True)).events if each["type"] != "response.failed"]

    assert [0, 1, 2, 3] == [each["sequence_number"] for each in (*before, event)]
    assert {"type": "server_error", **error, "param": None} == event["error"]


def test_the_response_behind_an_error():
    """
    Two recordings have the response that has failed behind the event of its error, with the next number.
    """
    error = {"code": "rate_limit_exceeded", "message": "boom"}
    provider = anything({"text": "Hi", "stream_error": {**error, "after": 3}})
    event, last = posted(provider, body(stream=True)).events[-2:]

    assert ("error", "response.failed") == (event["type"], last["type"])
    assert event["sequence_number"] + 1 == last["sequence_number"]
    assert ("failed", error, []) == tuple(last["response"][key] for key in ("status", "error", "output"))


def test_a_compaction():
    """
    A conversation is compacted to the messages of the user and an item for the rest, which the next request contains.
    """
    provider = anything("Hi there")
    first = posted(provider, body()).document
    request = body([{"role": "user", "content": "And then?"}], previous_response_id=first["id"])
    found = asked(provider, "POST", f"{PATH}/compact", request, HEADERS)
    *kept, item = found.document["output"]
    next_ = {"role": "user", "content": "Go on"}
    good = posted(provider, body([*kept, item, next_], **ENCRYPTED))
    bad = posted(provider, body([*kept, {**item, "encrypted_content": "Qk9P"}, next_], **ENCRYPTED))

    assert (200, "response.compaction") == (found.status, found.document["object"])
    assert ["Hello", "And then?"] == [message["content"][0]["text"] for message in kept]
    assert all(message["id"] and "completed" == message["status"] for message in kept)
    assert 4 < found.document["usage"]["input_tokens"]
    assert "compaction" == item["type"]
    assert 200 == good.status
    assert (400, "invalid_encrypted_content") == (bad.status, bad.document["error"]["code"])


def test_a_compaction_of_a_response():
    """
    The conversation before a response is compacted without a new message; without both there is nothing to compact.
    """
    provider = anything("Hi there")
    first = posted(provider, body()).document
    found, refused = [
        asked(provider, "POST", f"{PATH}/compact", {"model": MODEL, **more}, HEADERS)
        for more in ({"previous_response_id": first["id"]}, {})
    ]

    assert (200, ["message", "compaction"]) == (found.status, [item["type"] for item in found.document["output"]])
    assert (400, "Missing required parameter: 'input'.") == (refused.status, refused.document["error"]["message"])


PAGES = {
    "no limit": ("limit=0", 400),
    "a limit that is too large": ("limit=101", 400),
    "a limit that is no number": ("limit=x", 400),
    "a limit without end": (f"limit={'9' * 5000}", 400),
    "another order": ("order=up", 400),
    "after an item that is not there": ("after=msg_9", 404),
    "a conversation that is not there": (None, 404),
}


@pytest.mark.parametrize(("query", "status"), PAGES.values(), ids=PAGES.keys())
def test_pages_that_are_refused(query, status):
    """
    A page of items is refused for what is wrong with the request for it.
    """

    async def main():
        provider = anything()
        made = await ask(provider, "POST", "/v1/conversations", {"items": [USER]}, HEADERS)
        ident = made.document["id"] if query else "conv_9"
        return await ask(provider, "GET", f"/v1/conversations/{ident}/items?{query}", None, HEADERS)

    assert status == asyncio.run(main()).status


FOUND = {
    "the newest first": ("", ["c", "b", "a"], False),
    "the oldest first": ("order=asc", ["a", "b", "c"], False),
    "as many as there are": ("limit=3", ["c", "b", "a"], False),
    "the first of them": ("limit=2", ["c", "b"], True),
    "those behind one": ("order=asc&after=msg_a", ["b", "c"], False),
    "none": ("order=asc&after=msg_c", [], False),
}


@pytest.mark.parametrize(("query", "texts", "has_more"), FOUND.values(), ids=FOUND.keys())
def test_pages(query, texts, has_more):
    """
    A page has the items that a request wants, in its order, and names the first and the last.
    """
    given = [{"type": "message", "id": f"msg_{each}", "role": "user", "content": each} for each in "abc"]

    async def main():
        provider = anything()
        made = await ask(provider, "POST", "/v1/conversations", {}, HEADERS)
        path = f"/v1/conversations/{made.document['id']}/items"
        added = await ask(provider, "POST", path, {"items": given}, HEADERS)
        paths = [f"{path}/msg_a", f"{path}?{query}"]
        return added.document, *[(await ask(provider, "GET", each, None, HEADERS)).document for each in paths]

    added, first, page = asyncio.run(main())
    ids = [f"msg_{each}" for each in texts]
    assert added["data"][0] == first

    assert [each["id"] for each in given] == [item["id"] for item in added["data"]]
    assert texts == [item["content"][0]["text"] for item in page["data"]]
    assert ("list", *(ids[:1] + ids[-1:] or [None, None]), has_more) == (
        page["object"],
        page["first_id"],
        page["last_id"],
        page["has_more"],
    )


def test_what_is_not_an_item_is_refused():
    """
    A conversation takes items that are right alone; a mock that is not strict takes any.
    """
    refused, taken = [
        asked(anything(strict=strict), "POST", "/v1/conversations", {"items": [{"role": "pope"}]}, HEADERS)
        for strict in (True, False)
    ]

    assert (400, 200) == (refused.status, taken.status)
    assert "items[0].role" in refused.document["error"]["message"]


def test_items_that_a_conversation_has_renamed():
    """
    An item that a conversation has stored with another id is the one that its reasoning led to, as is the original; the
    client of OpenAI's agents adds them without ids. Another item is not.
    """

    async def main():
        provider = anything({"thought": ["Hm"], "text": "Hi there"})
        first = (await ask(provider, "POST", PATH, body(), HEADERS)).document["output"]
        nameless = [first[0], {key: value for key, value in first[1].items() if key != "id"}]
        made = (await ask(provider, "POST", "/v1/conversations", {"items": nameless}, HEADERS)).document["id"]
        page = await ask(provider, "GET", f"/v1/conversations/{made}/items?order=asc", None, HEADERS)
        renamed = page.document["data"]
        other = [first[0], {**first[1], "id": "msg_9"}]
        sent = [body([*items, USER]) for items in (renamed, first, other)]
        return renamed, first, [(await ask(provider, "POST", PATH, each, HEADERS)).status for each in sent]

    renamed, first, statuses = asyncio.run(main())
    assert (first[0]["id"], "completed") == (renamed[0]["id"], renamed[0]["status"])
    assert first[1]["id"] != renamed[1]["id"]
    assert [200, 200, 400] == statuses


def changed_items(*items):
    """
    Return the statuses of requests that send the items of an answer back, changed by each of the functions.
    """

    async def main():
        answer = {
            "thought": ["Hm"],
            "text": "I look",
            "calls": [{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}],
        }
        provider = anything(answer)
        first = (await ask(provider, "POST", PATH, body(), HEADERS)).document["output"]
        sent = [[*change(*first)] for change in items]
        results = [
            [
                {"type": "function_call_output", "call_id": each["call_id"], "output": "1"}
                for each in given
                if "call_id" in each
            ]
            for given in sent
        ]
        return [
            (await ask(provider, "POST", PATH, body([USER, *given, *more]), HEADERS)).status
            for given, more in zip(sent, results, strict=True)
        ]

    return asyncio.run(main())


def test_items_as_clients_send_them():
    """
    Clients leave ids out, make them up for calls, leave texts out or put them behind the calls: a reasoning is followed
    by an item of its answer, and a message that names its reasoning is behind it.
    """

    def renamed(call):
        return {**call, "id": f"fc_{call['call_id']}"}

    def nameless(item):
        return {key: value for key, value in item.items() if key != "id"}

    assert [200, 200, 200, 200, 200, 400, 400] == changed_items(
        lambda thought, text, one, two: (thought, text, one, two),
        lambda thought, text, one, two: (thought, renamed(one), renamed(two)),  # agent-framework
        lambda thought, text, one, two: (thought, one, two),  # agno
        lambda thought, text, one, two: (thought, one, two, nameless(text)),  # haystack
        lambda thought, text, one, two: (thought, nameless(text), nameless(one), two),
        lambda thought, text, one, two: (thought, one, two, text),
        lambda thought, text, one, two: (thought, renamed({**one, "call_id": "call_9"}), two),
    )


def test_an_item_that_is_sent_again():
    """
    One of the conversation, or of the response that a request continues, is a duplicate (vercel/ai); else its reasoning
    belongs before it.
    """

    async def main():
        provider = anything({"thought": ["Hm"], "text": "Hi there"})
        made = (await ask(provider, "POST", "/v1/conversations", {}, HEADERS)).document["id"]
        first = (await ask(provider, "POST", PATH, body(conversation=made), HEADERS)).document
        again = [first["output"][1], USER]
        requests = body(again, conversation=made), body(again, previous_response_id=first["id"]), body(again)
        found = [(await ask(provider, "POST", PATH, each, HEADERS)).document for each in requests]
        return [each["error"]["message"] for each in found]

    chained, continued, alone = asyncio.run(main())
    assert chained == continued
    assert chained.startswith("Duplicate item found with id msg_")
    assert "without its required 'reasoning' item" in alone


def test_conversations_that_are_kept():
    """
    As many conversations are kept as runs, the oldest are removed first, and a reset removes all.
    """

    async def main():
        provider = anything(max_runs=2)
        made = [(await ask(provider, "POST", "/v1/conversations", {}, HEADERS)).document["id"] for _ in range(3)]

        async def kept():
            paths = [f"/v1/conversations/{each}" for each in made]
            return [(await ask(provider, "GET", path, None, HEADERS)).status for path in paths]

        before = await kept()
        provider.reset()
        return before, await kept()

    assert ([404, 200, 200], [404, 404, 404]) == asyncio.run(main())


def test_the_metadata_of_a_conversation():
    """
    A request changes it, and it stays when the conversation is read.
    """
    provider = anything()
    [made] = several(provider, ("POST", "/v1/conversations", {"metadata": {"a": "1"}}))
    path = f"/v1/conversations/{made.document['id']}"
    found = several(provider, ("GET", path, None), ("POST", path, {"metadata": {"a": "2"}}), ("GET", path, None))

    assert ["1", "1", "2", "2"] == [each.document["metadata"]["a"] for each in (made, *found)]


def test_items_that_are_forgotten(monkeypatch):
    """
    Beyond a number of items the oldest are forgotten.
    """
    monkeypatch.setattr(validation, "MAX_ITEMS", 2)
    ledger = validation.ItemLedger()
    for number in range(4):
        ledger.note([{"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}"}], stored=True)

    assert [None, None, "call_2", "call_3"] == [ledger.call_id_of(f"fc_{number}") for number in range(4)]
    assert "call_3" == ledger.resolved({"type": "item_reference", "id": "fc_3"})["call_id"]
    with pytest.raises(ApiError, match="Item with id 'fc_1' not found"):
        ledger.resolved({"type": "item_reference", "id": "fc_1"})


def test_a_reference_to_nothing():
    """
    A mock that is not strict takes a reference to an item that it does not know, and a conversation keeps it.
    """

    async def main():
        provider = anything(strict=False)
        made = (await ask(provider, "POST", "/v1/conversations", {}, HEADERS)).document["id"]
        request = body([{"type": "item_reference", "id": "msg_9"}, USER], conversation=made)
        answered = await ask(provider, "POST", PATH, request, HEADERS)
        page = await ask(provider, "GET", f"/v1/conversations/{made}/items?order=asc", None, HEADERS)
        return answered.status, [item["type"] for item in page.document["data"]]

    assert (200, ["item_reference", "message", "message"]) == asyncio.run(main())


def test_an_answer_that_fails_is_not_remembered():
    """
    A request whose answer ends with an error adds nothing to its conversation.
    """

    async def main():
        provider = anything({"text": "Hi", "stream_error": {"code": "internal", "message": "boom"}})
        made = (await ask(provider, "POST", "/v1/conversations", {}, HEADERS)).document["id"]
        await ask(provider, "POST", PATH, body(conversation=made, stream=True), HEADERS)
        return (await ask(provider, "GET", f"/v1/conversations/{made}/items", None, HEADERS)).document

    page = asyncio.run(main())
    assert {"object": "list", "data": [], "first_id": None, "last_id": None, "has_more": False} == page


def test_a_stream_ends_with_its_document():
    """
    The last event has the response that a unary answer would be, but for ids of its own.
    """
    answer = {"thought": ["One.", "Two."], "text": "Hi", "calls": [{"name": "rain", "arguments": {"city": "Oslo"}}]}
    found = posted(anything(answer), body(stream=True)).events
    last = found[-1]["response"]
    ends = [event["item"] for event in found if event["type"] == "response.output_item.done"]

    assert [item["id"] for item in last["output"]] == [item["id"] for item in ends]
    assert ["reasoning", "message", "function_call"] == [item["type"] for item in last["output"]]
    assert '{"city":"Oslo"}' == last["output"][2]["arguments"]
    assert None is found[0]["response"]["usage"]
    assert ("in_progress", "completed") == (found[0]["response"]["status"], last["status"])


def test_ids_of_each_run():
    """
    Two runs of one answer have ids of their own, for items and calls.
    """
    provider = anything({"calls": [{"name": "rain"}]})
    first, second = [each.document["output"][0] for each in several(provider, *[("POST", PATH, body())] * 2)]

    assert first["id"] != second["id"]
    assert first["call_id"] != second["call_id"]


def test_a_failed_answer():
    """
    An answer whose stream ends with an error is a failed response without one.
    """
    found = posted(anything({"text": "Hi", "stream_error": {"message": "boom"}}), body()).document

    assert ("failed", {"code": "server_error", "message": "boom"}) == (found["status"], found["error"])


# -- requests


TEXT_ITEM = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}

SPACE = {"type": "namespace", "name": "town", "tools": [{"type": "function", "name": CALL["name"]}]}

REFUSED = {
    "no model": ({"input": "Hi"}, "Missing required parameter: 'model'."),
    "no input": ({"model": MODEL}, "Missing required parameter: 'input'."),
    "input of a wrong type": (body(7), "Invalid type for 'input'"),
    "an item of a wrong type": (body([7]), "Invalid type for 'input[0]'"),
    "stream of a wrong type": (body(stream="yes"), "Invalid type for 'stream'"),
    "background without store": (body(background=True, store=False), "Background mode requires 'store' to be true."),
    "an unknown role": (body([{**USER, "role": "tool"}]), "Invalid value for 'input[0].role'."),
    "no content": (body([{"role": "user"}]), "Missing required parameter: 'input[0].content'."),
    "the text of a user in an answer": (
        body([USER, {"role": "assistant", "content": [{"type": "input_text", "text": "Hi"}]}]),
        "Invalid value: 'input_text'. Supported values are: 'output_text', 'refusal'.",
    ),
    "the text of an answer in a prompt": (
        body([{"role": "user", "content": [{"type": "output_text", "text": "Hi"}]}]),
        "Invalid value: 'output_text'.",
    ),
    "a text that is missing": (
        body([{"role": "user", "content": [{"type": "input_text"}]}]),
        "Missing required parameter: 'input[0].content[0].text'.",
    ),
    "a refusal of a wrong type": (
        body([USER, {"role": "assistant", "content": [{"type": "refusal", "refusal": 7}]}]),
        "Invalid type for 'input[1].content[0].refusal': expected a string, but got a number instead.",
    ),
    "an image of Chat Completions": (
        body([{"role": "user", "content": [{"type": "input_image", "image_url": {"url": "https://a.b/c.png"}}]}]),
        "Invalid type for 'input[0].content[0].image_url': expected an image URL, but got an object instead.",
    ),
    "a call without arguments": (
        body([USER, {**CALL, "arguments": None}, RESULT]),
        "Missing required parameter: 'input[1].arguments'.",
    ),
    "a name of a wrong type": (body([USER, {**CALL, "name": ["f"]}, RESULT], tools=[SPACE]), "expected a string"),
    "arguments of a wrong type": (body([USER, {**CALL, "arguments": {}}, RESULT]), "expected a string"),
    "a reasoning without a summary": (
        body([USER, {"type": "reasoning", "id": "rs_1"}]),
        "Missing required parameter: 'input[1].summary'.",
    ),
    "an option of an image": (
        body([USER, {"type": "image_generation_call", "id": "ig_1", "result": "AAAA", "background": "opaque"}]),
        "Unknown parameter: 'input[1].background'.",
    ),
    "an id that is too long": (
        body([USER, {**CALL, "call_id": "c" * 65}, {**RESULT, "call_id": "c" * 65}]),
        "Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64",
    ),
    "a name of other characters": (
        body([USER, {**CALL, "name": "functions.f"}, RESULT]),
        "Invalid 'input[1].name': string does not match pattern.",
    ),
    "a call without a result": (body([USER, CALL]), "No tool output found for function call call_1."),
    "a result without a call": (
        body([USER, RESULT]),
        "No tool call found for function call output with call_id call_1.",
    ),
    "an unknown response": (
        body(previous_response_id="resp_0"),
        "Previous response with id 'resp_0' not found.",
    ),
    "tools of a wrong type": (
        body(tools={"name": "rain"}),
        "Invalid type for 'tools': expected an array of objects, but got an object instead.",
    ),
    "a tool of a wrong type": (
        body(tools=["rain"]),
        "Invalid type for 'tools[0]': expected an object, but got a string instead.",
    ),
    "a tool without a type": (body(tools=[{"name": "x"}]), "Missing required parameter: 'tools[0].type'."),
    "a function without a name": (body(tools=[{"type": "function"}]), "Missing required parameter: 'tools[0].name'."),
    "a call without its namespace": (
        body([USER, CALL, RESULT], tools=[SPACE]),
        f"Missing namespace for function_call '{CALL['name']}'. It does not exist in the default namespace.",
    ),
    "a name of other characters in a tool": (
        body(tools=[{"type": "function", "name": "a.b"}]),
        "Invalid 'tools[0].name': string does not match pattern.",
    ),
    "a long name of a tool": (
        body(tools=[{"type": "function", "name": "f" * 65}]),
        "Invalid 'tools[0].name': string too long.",
    ),
    "a choice of another tool": (
        body(tools=[{"type": "function", "name": "f"}], tool_choice={"type": "function", "name": "g"}),
        "Tool choice 'function' not found in 'tools' parameter.",
    ),
    "a long id of an item": (
        body([USER, {**TEXT_ITEM, "id": "msg_" + "a" * 80}]),
        "Invalid 'input[1].id': string too long. Expected a string with maximum length 64",
    ),
    "an id of another kind": (
        body([USER, {**TEXT_ITEM, "id": "rs_1"}]),
        "Invalid 'input[1].id': 'rs_1'. Expected an ID that begins with 'msg'.",
    ),
    "an id of a function for a custom call": (
        body([USER, {"type": "custom_tool_call", "id": "fc_1", "call_id": "call_1", "name": "f", "input": ""}]),
        "Invalid 'input[1].id': 'fc_1'. Expected an ID that begins with 'ctc'.",
    ),
    "an id of another kind for a result": (
        body([USER, CALL, {**RESULT, "id": "ctco_1"}]),
        "Invalid 'input[2].id': 'ctco_1'. Expected an ID that begins with 'fc'.",
    ),
    "an id without a character": (
        body([USER, {**CALL, "id": ""}, RESULT]),
        "Invalid 'input[1].id': ''. Expected an ID that contains letters, numbers, underscores, or dashes, but this",
    ),
    "an output that is an object": (
        body([USER, CALL, {**RESULT, "output": {"a": 1}}]),
        "Invalid type for 'input[2].output'",
    ),
    "content of others": (body([USER, {**REASONING, "encrypted_content": "eHk="}]), "could not be verified"),
}


@pytest.mark.parametrize(("request_", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(request_, message):
    """
    A strict mock refuses what the service refuses, with an error of its shape.
    """
    found = posted(anything(), request_)
    error = found.document["error"]
    named = re.match("(?:Missing required parameter:|Invalid type for) '(.+?)'", error["message"])

    assert (400, "invalid_request_error") == (found.status, error["type"])
    assert message in error["message"]
    assert {"message", "type", "param", "code"} == error.keys()
    assert named is None or named[1] == error["param"]


ACCEPTED = {
    "a string": body(),
    "images": body(
        [
            {
                "role": "user",
                "content": [
                    {"type": "input_image", "image_url": "https://a.b/c.png"},
                    {"type": "input_image", "file_id": "file-1", "image_url": None},
                    {"type": "input_file", "file_url": "https://a.b/c.pdf"},
                ],
            }
        ]
    ),
    "messages of all roles": body(
        [{"role": "developer", "content": "Be brief."}, USER, {"role": "assistant", "content": "Hi"}, USER]
    ),
    "a loop": body([USER, CALL, RESULT]),
    "a call and its result at the end": body([USER, CALL, RESULT, USER]),
    "a reasoning without content": body([USER, REASONING, {"role": "assistant", "content": "Hi"}]),
    "a hosted call": body([USER, {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {}}]),
    "a call with its namespace": body([USER, {**CALL, "namespace": "town"}, RESULT], tools=[SPACE]),
    "a call of a tool outside of a namespace, too": body([USER, CALL, RESULT], tools=[SPACE, *SPACE["tools"]]),
    "unknown keys": body(speed="fast"),
}


@pytest.mark.parametrize("request_", ACCEPTED.values(), ids=ACCEPTED)
def test_what_is_accepted(request_):
    """
    What the service accepts is answered.
    """
    assert 200 == posted(anything(), request_).status


def test_a_call_of_a_fixture_without_its_namespace():
    """
    A fixture may know no more of a call than its name: it is taken back as it was sent.
    """
    provider = anything({"output": [CALL]})
    (call,) = posted(provider, body([USER], tools=[SPACE])).document["output"]

    assert "namespace" not in call
    assert 200 == posted(provider, body([USER, call, RESULT], tools=[SPACE])).status


def test_keys_and_routes():
    """
    A key, any key, is required; other paths and methods are errors of the provider's shape.
    """
    provider = anything()
    found = [
        posted(provider, body(), {"authorization": None}),
        asked(provider, "POST", "/v1/completions", {}, HEADERS),
        asked(provider, "GET", PATH, None, HEADERS),
        asked(provider, "GET", f"{PATH}/resp_9", None, HEADERS),
    ]

    assert [(401, "invalid_api_key"), (404, None), (405, None), (404, None)] == [
        (each.status, each.document["error"]["code"]) for each in found
    ]


def resent(change, *output, **more):
    """Return status and message of a request that sends an answer back with a change of its items."""
    script = {"Hello": {"output": list(output)}, "Again": "Hi"}

    async def main():
        provider = provider_of(script)
        first = (await ask(provider, "POST", PATH, body(**more), HEADERS)).document
        again = {"role": "user", "content": "Again"}
        exchange = await ask(provider, "POST", PATH, body([USER, *change(first["output"]), again], **more), HEADERS)
        return exchange.status, exchange.document.get("error") and exchange.document["error"]["message"]

    return asyncio.run(main())


TEXT = {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}
THOUGHT = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm"}]}


def references(items):
    return [{"type": "item_reference", "id": item["id"]} for item in items]


CHANGES = {
    "as it was": (lambda items: items, None),
    "another summary": (lambda items: [{**items[0], "summary": []}, *items[1:]], None),
    "without ids": (lambda items: [{k: v for k, v in item.items() if k != "id"} for item in items], None),
    "the message as a text": (lambda items: [items[0], {"role": "assistant", "content": "Hi"}], None),
    "the message with an id that is made up": (lambda items: [items[0], {**items[1], "id": "msg_own"}], None),
    "all left out": (lambda items: [], None),
    "other content": (lambda items: [{**items[0], "encrypted_content": "eHk="}, *items[1:]], "could not be verified"),
    "twice": (lambda items: [*items, *items], "Duplicate item found with id"),
    "copied with another id": (
        lambda items: [*items, {**items[0], "id": "rs_2"}, {**items[1], "id": "msg_2"}],
        "could not be verified",
    ),
    "reasoning alone": (lambda items: items[:1], "without its required following item"),
    "message alone": (lambda items: items[1:], "without its required 'reasoning' item"),
    "another order": (lambda items: items[::-1], "without its required"),
}


@pytest.mark.parametrize(("change", "message"), CHANGES.values(), ids=CHANGES)
def test_reasonings(change, message):
    """
    A reasoning comes back with its content and the item that it led to; its summary is not compared.
    """
    status, found = resent(change, THOUGHT, TEXT, **ENCRYPTED)

    assert (200 if message is None else 400) == status
    assert (message or "") in (found or "")


@pytest.mark.parametrize(
    ("change", "status"),
    [
        pytest.param(lambda items: items, 200, id="as it was"),
        pytest.param(lambda items: [{**items[0], "encrypted_content": "eHk="}, *items[1:]], 400, id="changed"),
        pytest.param(lambda items: items[:2], 400, id="without the call"),
    ],
)
def test_an_empty_message_behind_a_reasoning(change, status):
    """
    LangChain for JavaScript with `zdrEnabled` sends an empty message in front of the calls of an answer without a text.
    """
    empty = {"type": "message", "role": "assistant", "content": []}

    def sent(items):
        reasoning, call = items
        call = {key: call[key] for key in ("type", "name", "arguments", "call_id")}
        result = {"type": "function_call_output", "call_id": call["call_id"], "output": "4 C"}
        changed = change([reasoning, empty, call])
        return [*changed, result] if call in changed else changed

    assert status == resent(sent, THOUGHT, CALL, **ENCRYPTED)[0]


@pytest.mark.parametrize(("store", "status"), [(True, 200), (False, 404)])
def test_reasonings_without_their_content(store, status):
    """
    One without its content is known by its id, where the response is stored.
    """

    def bare(items):
        return [{key: value for key, value in items[0].items() if key != "encrypted_content"}, *items[1:]]

    found = resent(bare, THOUGHT, TEXT, store=store)

    assert status == found[0]
    assert store or "Items are not persisted when `store` is set to false." in found[1]


@pytest.mark.parametrize(("store", "status"), [(True, 200), (False, 404)])
def test_references(store, status):
    """
    Items of a response that is stored may be named.
    """
    assert status == resent(references, THOUGHT, TEXT, store=store)[0]


def test_items_of_a_response_that_was_deleted():
    """
    They are not stored any more: one that has nothing but its id is not found.
    """
    provider = anything({"thought": "Hm.", "text": "So."})
    [made] = several(provider, ("POST", PATH, body()))
    more = body(input=[{"role": "user", "content": "Hi"}, *made.document["output"], {"role": "user", "content": "?"}])
    known, _, gone = several(
        provider, ("POST", PATH, more), ("DELETE", f"{PATH}/{made.document['id']}", None), ("POST", PATH, more)
    )

    assert (200, 404) == (known.status, gone.status)
    assert made.document["output"][0]["encrypted_content"] is None
    assert posted(provider, body(store=False)).document["output"][0]["encrypted_content"]


# -- runs


def test_a_background_run():
    """
    Its document has no output before its end, and is not found when it was deleted.
    """
    provider = anything({"text": "Found.", "polls_in_progress": 1})
    one = f"{PATH}/resp_1"
    found = several(
        provider,
        ("POST", PATH, body(background=True)),
        ("GET", one, None),
        ("GET", one, None),
        ("DELETE", one, None),
        ("GET", one, None),
    )
    first, running, ended, deleted, gone = found

    assert ["in_progress", "in_progress", "completed"] == [each.document["status"] for each in (first, running, ended)]
    assert ([], None) == (running.document["output"], running.document["usage"])
    assert "Found." == ended.document["output"][0]["content"][0]["text"]
    assert {"id": "resp_1", "object": "response", "deleted": True} == deleted.document
    assert 404 == gone.status


ODD = ("", "--1", "1.5", "²", "9" * 5000)
"""Numbers of events that are none."""


def test_a_replay():
    """
    The stream of a run in the background is sent again, from its start or behind a number; of another run never.
    """
    provider = anything("Found.")
    one = f"{PATH}/resp_1?stream=true"
    made, whole, rest, odd, other, refused = several(
        provider,
        ("POST", PATH, body(background=True, stream=True)),
        ("GET", one, None),
        ("GET", f"{one}&starting_after=3", None),
        ("GET", f"{one}&starting_after=x", None),
        ("POST", PATH, body()),
        ("GET", f"{PATH}/resp_2?stream=true", None),
    )

    odder = [each.status for each in several(provider, *[("GET", f"{one}&starting_after={at}", None) for at in ODD])]

    assert made.events == whole.events
    assert made.events[4:] == rest.events
    assert [400] * len(ODD) == odder
    assert (400, 200, 400) == (odd.status, other.status, refused.status)


def test_a_run_that_is_cancelled():
    """
    Its open stream ends, and its document is cancelled.
    """

    async def main():
        clock = HandClock()
        provider = anything({"text": "Found.", "timing": {"waits_s": [0, 0, 0, 9]}}, clock=clock)
        streaming = asyncio.create_task(ask(provider, "POST", PATH, body(background=True, stream=True), HEADERS))
        await clock.advance(1)
        cancelled = await ask(provider, "POST", f"{PATH}/resp_1/cancel", None, HEADERS)
        return cancelled, await streaming

    cancelled, stream = asyncio.run(main())

    assert "cancelled" == cancelled.document["status"]
    assert ("response.cancelled", "cancelled") == (stream.events[-1]["type"], stream.events[-1]["response"]["status"])
    assert [0, 1, 2, 3] == [event["sequence_number"] for event in stream.events]


def test_what_is_not_stored():
    """
    A response that is not stored is not found, and cannot be continued.
    """
    provider = anything()
    made, got, more = several(
        provider,
        ("POST", PATH, body(store=False)),
        ("GET", f"{PATH}/resp_1", None),
        ("POST", PATH, body(previous_response_id="resp_1")),
    )

    assert (200, 404, 400) == (made.status, got.status, more.status)
    error = more.document["error"]
    assert ("previous_response_not_found", "previous_response_id") == (error["code"], error["param"])


def test_no_chaining():
    """
    The fault refuses a request that names a response, and no other.
    """
    requests = [("POST", PATH, body(**more)) for more in ({}, {"previous_response_id": "resp_1"})]

    assert [200, 501] == [each.status for each in several(anything(faults=["no-chaining"]), *requests)]


def test_a_conversation_that_is_stored():
    """
    A request that names a response is matched with all of its conversation, and needs the results of its calls.
    """
    script = {
        "Weather?": {"calls": [{"id": "call_1", "name": "rain"}]},
        Match(call_id="call_1"): "Sunny.",
    }
    provider = provider_of(script)
    first, missing, second = several(
        provider,
        ("POST", PATH, body("Weather?")),
        ("POST", PATH, body("And?", previous_response_id="resp_1")),
        ("POST", PATH, body([RESULT], previous_response_id="resp_1")),
    )

    assert (200, 400, 200) == (first.status, missing.status, second.status)
    assert "No tool output found for function call call_1." == missing.document["error"]["message"]
    assert "input" == missing.document["error"]["param"]
    assert "Sunny." == second.document["output"][0]["content"][0]["text"]


@pytest.mark.parametrize("stream", [True, False])
def test_the_usage_of_a_fixture(stream):
    """
    The counts that a fixture has are given as they are.
    """
    usage = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
    found = posted(anything({"text": "Hi", "usage": usage}), body(stream=stream))

    assert usage == (found.events[-1]["response"] if stream else found.document)["usage"]


def test_the_usage_of_a_conversation():
    """
    A request that names a response is charged with all that it continues: 4 characters are one token.
    """
    provider = provider_of({"A" * 40: "B" * 20, "C" * 12: "D"})
    first, second = several(
        provider,
        ("POST", PATH, body("A" * 40)),
        ("POST", PATH, body("C" * 12, previous_response_id="resp_1")),
    )

    assert (10, 5) == (first.document["usage"]["input_tokens"], first.document["usage"]["output_tokens"])
    assert (18, 1) == (second.document["usage"]["input_tokens"], second.document["usage"]["output_tokens"])


def test_calls_that_are_named_as_their_items():
    """
    A client that has the id of its item in place of the id of a call, as chatlas does, gets the fixture of the call.
    """

    async def main():
        provider = provider_of(
            {"Weather?": {"calls": [{"id": "call_1", "name": "rain"}]}, Match(call_id="call_1"): "Sunny."}
        )
        [call] = (await ask(provider, "POST", PATH, body("Weather?"), HEADERS)).document["output"]
        named = {"type": "function_call", "call_id": call["id"], "name": "rain", "arguments": "{}"}
        result = {"type": "function_call_output", "call_id": call["id"], "output": "1"}
        return call, await ask(provider, "POST", PATH, body([USER, named, result]), HEADERS)

    call, second = asyncio.run(main())
    assert "call_1" == call["call_id"] != call["id"]
    assert "Sunny." == second.document["output"][0]["content"][0]["text"]


# -- fixtures


def test_facts_of_a_request():
    """
    Instructions and messages of the system are one text; results and references are read.
    """
    facts = read_request(
        body(
            [{"role": "developer", "content": "Be kind."}, USER, {"type": "item_reference", "id": "fc_1"}, RESULT],
            instructions="Be brief.",
            tools=[{"type": "function", "name": "rain"}, {"type": "web_search"}],
            previous_response_id="resp_1",
        )
    )

    assert (MODEL, "Be brief.\nBe kind.", {"rain"}) == (facts.model, facts.system, facts.tools)
    assert ("Hello", ("call_1",), "sunny", 1) == (facts.user_text, facts.call_ids, facts.result_text, facts.turn)
    assert {"previous_response_id": "resp_1"} == facts.fields


def test_a_result_that_is_no_text():
    """
    It is read as JSON.
    """
    shot = {"type": "computer_screenshot", "file_id": "file-1"}
    facts = read_request(body([{"type": "computer_call_output", "call_id": "call_1", "output": shot}]))

    assert '{"type":"computer_screenshot","file_id":"file-1"}' == facts.result_text


def test_fixtures_of_aimock():
    """
    The reasoning is first, then searches, the text and the calls; words for the end are translated.
    """
    answer = one(
        {
            "content": "Hi",
            "toolCalls": [{"name": "rain", "id": "call_1", "arguments": "{}"}],
            "reasoning": "Hm",
            "webSearches": ["Oslo"],
            "finishReason": "length",
            "usage": {"prompt_tokens": 3, "completion_tokens": 4},
            "id": "resp_9",
        }
    )
    search = {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "Oslo"}}

    assert (
        Answer(
            id="resp_9",
            output=(THOUGHT, search, {**TEXT, "role": "assistant"}, CALL),
            status="incomplete",
            usage={"input_tokens": 3, "output_tokens": 4, "total_tokens": 7},
        )
        == answer
    )


# -- recordings


@pytest.mark.parametrize("stream", [True, False])
def test_a_recording_gives_the_same(tmp_path, stream):
    """
    What was recorded is given again: items, encrypted content, usage and status; an error with its code.
    """
    path = tmp_path / "recorded.json"
    script = {
        "Hello": {"thought": ["Hm", "Ah"], "text": "Hi é", "calls": [{"id": "call_1", "name": "rain"}]},
        "Bad": {"http_error": {"status": 429, "message": "later", "headers": {"retry-after": "7"}}},
    }
    requests = [body(text, stream=stream, **ENCRYPTED) for text in ("Hello", "Bad")]

    async def main():
        upstream = provider_of(script)
        transport = StreamingTransport(upstream.app)
        proxy = RecordingProxy(mock.recorded, "https://upstream.test", path, transport=transport)
        first = [await ask(proxy, "POST", PATH, each, HEADERS) for each in requests]
        replay = provider_of(str(path))
        return first, [await ask(replay, "POST", PATH, each, HEADERS) for each in requests]

    recorded, replayed = asyncio.run(main())
    one_, other = [message_of(exchange[0], stream=stream) for exchange in (recorded, replayed)]

    assert one_ == other
    assert recorded[1].status == replayed[1].status == 429
    assert recorded[1].document["error"] == replayed[1].document["error"]
    assert "7" == replayed[1].headers["retry-after"]
    assert "secret" not in path.read_text("utf-8")
    assert "Hi é" in path.read_text("utf-8")
    assert json.loads(path.read_bytes())["version"] == 1


def message_of(exchange, *, stream):
    if stream:
        decoder = OpenAIResponsesDecoder("m")
        return fold([*decoder.feed(exchange.body), *decoder.close()]).last
    return fold(OpenAIResponsesDecoder.decode_resource(exchange.document, "m")).last


def test_a_background_run_is_recorded(tmp_path):
    """
    A run in the background is recorded when its document or its stream comes to an end.
    """
    path = tmp_path / "recorded.json"

    async def main():
        transport = StreamingTransport(anything({"text": "Found.", "polls_in_progress": 1}).app)
        proxy = RecordingProxy(mock.recorded, "https://upstream.test", path, transport=transport)
        await ask(proxy, "POST", PATH, body(background=True), HEADERS)
        for _ in range(2):
            await ask(proxy, "GET", f"{PATH}/resp_1", None, HEADERS)

    asyncio.run(main())
    [[answer]] = [fixture.answers for fixture in load_fixtures(mock.form, path)]

    assert ("resp_1", "Found.") == (answer.id, answer.output[0]["content"][0]["text"])


def test_a_null_in_place_of_an_id():
    """
    The item of a fixture gets an id as one without any does.
    """
    answer = {"output": [{"type": "function_call", "id": None, "call_id": "c1", "name": "f", "arguments": "{}"}]}
    [item] = posted(anything(answer), body()).document["output"]

    assert item["id"].startswith("fc_")
