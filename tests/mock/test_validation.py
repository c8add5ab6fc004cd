"""
What the mock provider refuses in a request, as the service does, and what it takes.
"""

import asyncio

import pytest

from assistant_events.adapters.gemini_interactions.mock import Answer

from .asgi import MODEL, ask, asked, call_step, create, provider_of, text_step

V1 = "/v1beta/interactions"
TEXT = {"type": "text", "text": "hi"}
USER = {"type": "user_input", "content": [TEXT]}
RESULT = {"type": "function_result", "call_id": "c1", "name": "f", "result": "r"}
DEEP = {"agent": "deep-research-preview-04-2026", "input": "hi", "background": True}
TURN = {"role": "user", "content": "hi"}


def function(**parameters):
    return {"type": "function", "name": "f", "parameters": parameters}


REFUSED = {
    "neither model nor agent": ({"input": "hi"}, "exactly one of model and agent is required, got neither"),
    "both model and agent": (
        {"model": "m", "agent": "a", "input": "hi"},
        "exactly one of model and agent is required, got both",
    ),
    "no input": ({"model": "m"}, "input is required unless there is a continuation_token"),
    "null input": ({"model": "m", "input": None}, "input is required unless there is a continuation_token"),
    "empty input": (create([]), "input: expected at least one item, got none"),
    "number as input": (create(7), "input: expected a string, an object or an array, got a number"),
    "number in input": (create([TEXT, 7]), "input[1]: expected an object, got a number"),
    "turns": (create([TURN]), "input[0]: unknown field 'role'; turns were removed in 2026-06, send steps"),
    "content with a role": (create([USER, {**TEXT, "role": "user"}]), "input[1]: unknown field 'role'"),
    "one turn": (create(TURN), "input[0]: unknown field 'role'"),
    "model of a wrong type": ({"model": 7, "input": "hi"}, "model: expected a string, got a number"),
    "agent of a wrong type": ({"agent": [], "input": "hi"}, "agent: expected a string, got an array"),
    "tools of a wrong type": (create(tools={}), "tools: expected an array, got an object"),
    "store of a wrong type": (create(store="no"), "store: expected true or false, got a string"),
    "background of a wrong type": (create(background=1), "background: expected true or false, got a number"),
    "stream of a wrong type": (create(stream="maybe"), "stream: expected true or false, got a string"),
    "config of a wrong type": (create(generation_config=True), "generation_config: expected an object, got a boolean"),
    "previous of a wrong type": (
        create(previous_interaction_id=7),
        "previous_interaction_id: expected a string, got a number",
    ),
    "background without store": (
        create(background=True, store=False),
        "store=true is required for background interactions",
    ),
    "deep research in the foreground": ({**DEEP, "background": False}, "requires background=true"),
    "deep research with instructions": ({**DEEP, "system_instruction": "be brief"}, "takes no system_instruction"),
    "deep research with a format": ({**DEEP, "response_format": {"type": "text"}}, "takes no response_format"),
    "deep research with functions": ({**DEEP, "tools": [function()]}, "takes no functions"),
    "antigravity in the background": (
        {"agent": "antigravity-preview-05-2026", "input": "hi", "background": True},
        "does not run in the background",
    ),
    "choice without functions": (
        create(generation_config={"tool_choice": "any"}),
        "Function calling config is set without function_declarations.",
    ),
    "choice with other tools": (
        create(generation_config={"tool_choice": "auto"}, tools=[{"type": "google_search"}]),
        "Function calling config is set without function_declarations.",
    ),
    "schema that requires nothing": (
        create(tools=[function(type="object", required=[])]),
        "tools: the schema of function 'f' has an empty list as required; leave it out",
    ),
    "schema that requires nothing inside": (
        create(tools=[function(properties={"a": {"anyOf": [{"type": "object", "required": []}]}})]),
        "has an empty list as required",
    ),
    "result without a name": (
        create([{**RESULT, "name": ""}]),
        "Invalid input received: a function_result needs the name of its function.",
    ),
    "result without a name in user_input": (
        create([{"type": "user_input", "content": [{"type": "function_result", "call_id": "c1", "result": "r"}]}]),
        "Invalid input received: a function_result needs the name of its function.",
    ),
    "result without a call": (
        create([{"type": "function_result", "name": "f", "result": "r"}]),
        "Invalid input received: a function_result needs the call_id of its call.",
    ),
    "result with an id": (create([call_step(), {**RESULT, "id": "c1"}]), "Unknown parameter 'id' at 'input[1]'"),
    "call with the id of a result": (
        create([{**call_step(), "call_id": "c1"}, RESULT]),
        "Unknown parameter 'call_id' at 'input[0]'",
    ),
    "thought with an empty signature": (
        create([USER, {"type": "thought", "signature": ""}]),
        "Request contains an invalid argument: item 1 (thought): the signature is empty; leave the step out",
    ),
    "token without a previous interaction": (
        {"model": "m", "continuation_token": "dG9r"},
        "continuation_token: previous_interaction_id is required while the interaction is stored",
    ),
}


@pytest.mark.parametrize(("body", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(body, message):
    """
    A strict provider refuses with 400, the word of the service and what is wrong.
    """
    exchange = asked(provider_of(), "POST", V1, body)

    assert 400 == exchange.status
    assert "invalid_request" == exchange.document["error"]["code"]
    assert message in exchange.document["error"]["message"]


@pytest.mark.parametrize("body", [body for body, _ in REFUSED.values()], ids=REFUSED)
def test_taken_by_a_lenient_provider(body):
    """
    A lenient provider answers all of that.
    """
    assert 200 == asked(provider_of(strict=False), "POST", V1, body).status


ACCEPTED = {
    "string": create("hi"),
    "empty string": create(""),
    "content": create(TEXT),
    "list of content": create([TEXT, {"type": "image", "data": "AAAA", "mime_type": "image/png"}]),
    "steps": create([USER]),
    "result as a step": create([RESULT]),
    "result inside user_input": create([{"type": "user_input", "content": [RESULT]}]),
    "thought first": create([{"type": "thought", "summary": []}, USER]),
    "call first": create([call_step(), RESULT]),
    "call with an empty signature": create([{**call_step(), "signature": ""}, RESULT]),
    "output first": create([text_step("x"), USER]),
    "provider's tool first": create([{"type": "code_execution_call", "id": "x", "arguments": {"code": "1"}}]),
    "unknown step": create([{"type": "dream", "depth": 2}, USER]),
    "unknown keys": {**create([{**USER, "new": 1}], extra={"a": [1]}), "webhook_config": {"uris": ["https://a.test"]}},
    "nulls": create(agent=None, tools=None, stream=None, store=None, background=None, previous_interaction_id=None),
    "agent": {"agent": "antigravity-preview-09-2026", "input": "hi"},
    "deep research": DEEP,
    "choice with functions": create(generation_config={"tool_choice": "any"}, tools=[function()]),
    "schema": create(
        tools=[function(type="object", properties={"required": {"type": "array"}}, required=["required"])]
    ),
    "a schema of nothing": create(tools=[function(type="object", properties={}, required=[])]),
    "data in a schema": create(tools=[function(properties={"a": {"default": {"required": []}}})]),
    "token without a store": {**create(store=False), "continuation_token": "dG9r"},
}


@pytest.mark.parametrize("body", ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(body):
    """
    What the service takes a strict provider takes, in both forms of the answer.
    """
    assert 200 == asked(provider_of(), "POST", V1, body).status
    assert 200 == asked(provider_of(), "POST", V1, {**body, "stream": True}, {"api-revision": "2026-05-20"}).status


@pytest.mark.parametrize("given", [[TURN], [TURN, {"role": "model", "content": [TEXT]}, TURN], TURN])
def test_turns_are_input_of_generation_1(given):
    """
    A request of generation 1.x may have turns.
    """
    assert 200 == asked(provider_of(generation=1), "POST", V1, create(given)).status


def test_previous_interaction():
    """
    A previous interaction has to exist; a lenient provider does not care.
    """
    body = create(previous_interaction_id="nobody")
    exchange = asked(provider_of(), "POST", V1, body)

    assert 404 == exchange.status
    assert "NOT_FOUND" == exchange.document["error"]["status"]
    assert 200 == asked(provider_of(strict=False), "POST", V1, body).status


@pytest.mark.parametrize(
    ("results", "status"),
    [(["c1"], 200), (["c1", "c2"], 200), (["c9"], 400), (["c1", "c9"], 400)],
    ids=["one", "both", "unknown", "one unknown"],
)
@pytest.mark.parametrize("inside", [False, True], ids=["steps", "user_input"])
def test_results_answer_calls_of_the_conversation(results, status, inside):
    """
    With a previous interaction each result has to answer a call of its conversation, also of an earlier turn.
    """
    steps = [{**RESULT, "call_id": call_id} for call_id in results]
    given = [{"type": "user_input", "content": steps}] if inside else steps

    async def main():
        provider = provider_of([call_step("c1")], [call_step("c2")], [text_step("done")])
        await ask(provider, "POST", V1, create())
        await ask(provider, "POST", V1, create([RESULT], previous_interaction_id="v1_1"))
        return await ask(provider, "POST", V1, create(given, previous_interaction_id="v1_2"))

    assert status == asyncio.run(main()).status


def test_results_may_answer_calls_that_come_with_them():
    """
    A call that is sent beside its result counts too.
    """

    async def main():
        provider = provider_of()
        await ask(provider, "POST", V1, create())
        given = [call_step("mine"), {**RESULT, "call_id": "mine"}]
        return await ask(provider, "POST", V1, create(given, previous_interaction_id="v1_1"))

    assert 200 == asyncio.run(main()).status


def test_results_may_answer_calls_of_an_earlier_request():
    """
    A call that a request before has sent is one of the conversation.
    """

    async def main():
        provider = provider_of()
        await ask(provider, "POST", V1, create([USER, call_step("mine")]))
        return await ask(provider, "POST", V1, create([{**RESULT, "call_id": "mine"}], previous_interaction_id="v1_1"))

    assert 200 == asyncio.run(main()).status


def test_results_answer_no_calls_of_the_provider():
    """
    A call of the provider that is sent beside a result is none that the app answers.
    """

    async def main():
        provider = provider_of()
        await ask(provider, "POST", V1, create())
        given = [{"type": "google_search_call", "id": "s1", "arguments": {}}, {**RESULT, "call_id": "s1"}]
        return await ask(provider, "POST", V1, create(given, previous_interaction_id="v1_1"))

    found = asyncio.run(main())

    assert 400 == found.status
    assert "no function_call has the id 's1'" in found.document["error"]["message"]


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"previous_interaction_id": "v1_1", "continuation_token": "dG9r"}, 200),
        ({"previous_interaction_id": "v1_1", "continuation_token": "other"}, 400),
        ({"continuation_token": "dG9r"}, 400),
        ({"continuation_token": "dG9r", "store": False, "input": "hi"}, 200),
    ],
    ids=["its own", "another", "without previous", "not stored"],
)
def test_tokens(more, status):
    """
    A continuation token needs the interaction that issued it, or the input when nothing is stored.
    """

    async def main():
        provider = provider_of(Answer(steps=(text_step("P1 "),), continuation_token="dG9r"), [text_step("P2")])
        await ask(provider, "POST", V1, create())
        return await ask(provider, "POST", V1, {"model": MODEL, **more})

    assert status == asyncio.run(main()).status
