"""
Signatures of the mock provider: what comes back unchanged is taken, everything else is refused.
"""

import asyncio
from base64 import b64decode

import pytest

from assistant_events.adapters.gemini_interactions.mock import Answer
from assistant_events.adapters.gemini_interactions.mock.signatures import (
    MAX_CALLS,
    MAX_SIGNATURES,
    SignatureError,
    StepLedger,
    is_signed_type,
    signed_content,
)
from assistant_events.mock.signatures import SignatureLedger, Signed, make_signature

from .asgi import MODEL, ask, asked, call_step, create, provider_of, text_step, thought_step

V1 = "/v1beta/interactions"
USER = {"type": "user_input", "content": [{"type": "text", "text": "hi"}]}
RESULT = {"type": "function_result", "call_id": "c1", "name": "f", "result": "r"}
SEARCH = {"type": "google_search_call", "id": "s1", "arguments": {"queries": ["oslo"], "n": 1}}
FOUND = {"type": "google_search_result", "call_id": "s1", "result": [{"search_suggestions": "<b>", "n": 1}]}
GIVEN = "c2lnbmVkIGJ5IHRoZSByZWFsIG9uZQ=="

TOOLS = (
    *("code_execution", "file_search", "google_maps", "google_search"),
    *("processing", "retrieval", "tool_search", "url_context"),
)


@pytest.mark.parametrize("kind", ["thought", *(f"{tool}_{end}" for tool in TOOLS for end in ("call", "result"))])
def test_signed_types(kind):
    """
    Thoughts, and calls and results of the provider's own tools, are signed.
    """
    assert is_signed_type({"type": kind})


@pytest.mark.parametrize("kind", ["function_call", "function_result", "mcp_server_tool_call", "model_output", None])
def test_types_without_a_signature(kind):
    """
    Calls of functions and of MCP servers are not, nor is any other step.
    """
    assert not is_signed_type({"type": kind})


def resent(change, *answer, **options):
    """
    Return the status of a request that sends an answer back with a change of its steps.
    """

    async def main():
        provider = provider_of(list(answer), [text_step("next")], **options)
        first = (await ask(provider, "POST", V1, create(store=False))).document
        exchange = await ask(provider, "POST", V1, create([USER, *change(first["steps"]), USER]))
        return exchange.status, exchange.document

    return asyncio.run(main())


ANSWER = (thought_step("Plan it"), SEARCH, FOUND, thought_step(), call_step(city="Oslo"))


def altered(place, **more):
    return lambda steps: [{**step, **more} if at == place else step for at, step in enumerate(steps)]


KEPT = {
    "as it was": lambda steps: steps,
    "with its answer": lambda steps: [*steps, RESULT],
    "summary cut anew": altered(0, summary=[{"type": "text", "text": "Plan"}, {"type": "text", "text": " it"}]),
    "summary as a string": altered(0, summary="Plan it"),
    "empty summary": altered(3, summary=[]),
    "empty text as a summary": altered(3, summary=[{"type": "text", "text": ""}]),
    "keys in another order": altered(1, arguments={"n": 1.0, "queries": ["oslo"]}),
    "keys of a list in another order": altered(2, result=[{"n": 1.0, "search_suggestions": "<b>"}]),
    "result not an error": altered(2, is_error=False),
    "more keys": altered(0, mine={"a": 1}),
    "without the search": lambda steps: [steps[0], *steps[3:]],
    "text edited": lambda steps: [*steps[:3], text_step("anything"), *steps[3:]],
    "without signatures": lambda steps: [{"type": "thought", "summary": []}],
}
CHANGED = {
    "summary changed": (altered(0, summary=[{"type": "text", "text": "Plan!"}]), "belongs to other content"),
    "summary dropped": (altered(0, summary=[]), "belongs to other content"),
    "summary added": (altered(3, summary="x"), "belongs to other content"),
    "picture in the summary": (altered(3, summary=[{"type": "image", "data": "AAAA"}]), "belongs to other content"),
    "arguments changed": (altered(1, arguments={"queries": ["bergen"], "n": 1}), "belongs to other content"),
    "a number changed": (altered(1, arguments={"queries": ["oslo"], "n": 1.5}), "belongs to other content"),
    "id changed": (altered(1, id="s2"), "belongs to other content"),
    "result changed": (altered(2, result=[]), "belongs to other content"),
    "made an error": (altered(2, is_error=True), "belongs to other content"),
    "type changed": (altered(1, type="google_maps_call"), "belongs to other content"),
    "truncated": (
        lambda steps: altered(0, signature=steps[0]["signature"][:-4])(steps),
        "its signature is not one of this mock",
    ),
    "one letter": (
        lambda steps: altered(0, signature=steps[0]["signature"][:30] + "AAAA" + steps[0]["signature"][34:])(steps),
        "belongs to other content",
    ),
    "invented": (altered(0, signature="c2ln"), "its signature is not one of this mock"),
    "of another mark": (
        lambda steps: altered(0, signature=f"AAAA{steps[0]['signature'][4:]}")(steps),
        "its signature is not one of this mock",
    ),
    "no base64": (altered(0, signature="not base64!"), "its signature is not one of this mock"),
    "no text": (altered(0, signature=7), "the signature is empty"),
    "empty": (altered(3, signature=""), "the signature is empty"),
    "moved to the call": (
        lambda steps: [*steps[:3], {**steps[4], "signature": steps[3]["signature"]}],
        "the signed step before it is missing",
    ),
    "moved between thoughts": (
        lambda steps: altered(0, signature=steps[3]["signature"])(steps),
        "belongs to other content",
    ),
    "thoughts in another order": (lambda steps: [steps[3], steps[0], steps[4]], "belongs to another step"),
    "twice": (lambda steps: [steps[0], *steps], "belongs to another step"),
    "thought dropped before the call": (lambda steps: [*steps[:3], steps[4]], "the signed step before it is missing"),
    "thought behind the call": (lambda steps: [*steps[:3], steps[4], steps[3]], "the signed step before it is missing"),
}


@pytest.mark.parametrize("change", KEPT.values(), ids=KEPT)
def test_kept(change):
    """
    An answer is accepted as it was, cut anew, with more steps of the client, and without whole turns.
    """
    assert 200 == resent(change, *ANSWER)[0]


@pytest.mark.parametrize(("change", "message"), CHANGED.values(), ids=CHANGED)
def test_changed(change, message):
    """
    An answer that was changed is refused, with the words of the service and what is wrong, and without a signature.
    """
    status, document = resent(change, *ANSWER)

    assert 400 == status
    assert "invalid_request" == document["error"]["code"]
    assert document["error"]["message"].startswith("Request contains an invalid argument: item ")
    assert message in document["error"]["message"]


def test_a_signature_of_a_fixture_is_not_shown():
    """
    The refusal of an item that was changed does not repeat what the fixture has signed it with.
    """
    status, document = resent(altered(0, summary=[]), thought_step("Plan it", signature="Z2l2ZW4="))

    assert (400, True) == (status, "belongs to other content" in document["error"]["message"])
    assert "Z2l2ZW4=" not in str(document)


@pytest.mark.parametrize("options", [{"sign": False}, {"strict": False}], ids=["unsigned", "lenient"])
@pytest.mark.parametrize("change", [change for change, _ in CHANGED.values()], ids=CHANGED)
def test_nobody_looks(change, options):
    """
    Without signing, or lenient, nothing of that is looked at.
    """
    answer = [{**step, "signature": GIVEN} if step["type"] != "function_call" else step for step in ANSWER]

    assert 200 == resent(change, *answer, **options)[0]


def test_signatures_of_fixtures_stay():
    """
    A signature of a fixture is sent as it is, and checked like ours.
    """
    answer = [thought_step("Plan it", signature=GIVEN), call_step()]

    assert GIVEN == asked(provider_of(answer), "POST", V1, create()).document["steps"][0]["signature"]
    assert 200 == resent(lambda steps: steps, *answer)[0]
    assert 400 == resent(altered(0, summary="Plan"), *answer)[0]
    assert 400 == resent(lambda steps: steps[1:], *answer)[0]


def test_signatures_of_fixtures_are_known_before_they_are_served():
    """
    A history with signatures of the fixtures is taken by a provider that never served it.
    """
    provider = provider_of([text_step("x")], [thought_step("Plan it", signature=GIVEN)])
    body = create([USER, thought_step("Plan it", signature=GIVEN), USER])

    assert 200 == asked(provider, "POST", V1, body).status


def test_signatures_of_fixtures_are_forgotten_with_them():
    """
    A reset removes fixtures that were added, and what they have signed.
    """
    provider = provider_of([text_step("x")])
    added = {"match": {}, "answer": {"steps": [thought_step("Plan it", signature=GIVEN)]}}
    body = create([USER, thought_step("Plan it", signature=GIVEN), USER])

    async def main():
        provider.add(added)
        before = await ask(provider, "POST", V1, body)
        provider.reset()
        return before.status, (await ask(provider, "POST", V1, body)).status

    assert (200, 400) == asyncio.run(main())


def test_ours_outlive_the_process():
    """
    A signature of ours is taken by another provider too.
    """
    steps = asked(provider_of(ANSWER), "POST", V1, create()).document["steps"]

    assert 200 == asked(provider_of(), "POST", V1, create([USER, *steps, USER])).status


def test_fixtures_can_leave_a_step_unsigned():
    """
    A step whose signature is empty in the fixture is sent without one.
    """
    document = asked(provider_of([thought_step("p", signature=""), text_step("x")]), "POST", V1, create()).document

    assert [thought_step("p"), text_step("x")] == document["steps"]


def test_which_steps_are_signed():
    """
    Thoughts and the provider's tools are signed; texts, calls of functions and MCP servers are not.
    """
    mcp = {"type": "mcp_server_tool_call", "id": "m", "name": "n", "server_name": "s", "arguments": {}}
    document = asked(provider_of([*ANSWER, mcp, text_step("x")]), "POST", V1, create()).document

    assert [True, True, True, True, False, False, False] == ["signature" in step for step in document["steps"]]
    assert {32} == {len(b64decode(step["signature"])) for step in document["steps"] if "signature" in step}


@pytest.mark.parametrize("generation", [1, 2])
def test_stream_and_document_are_signed_alike(generation):
    """
    A stream, its replay and the document bring the same signatures, in both generations.
    """

    async def main():
        provider = provider_of(ANSWER, generation=generation)
        stream = await ask(provider, "POST", V1, create(stream=True))
        replay = await ask(provider, "GET", f"{V1}/v1_1?stream=true")
        document = (await ask(provider, "GET", f"{V1}/v1_1")).document
        return stream, replay, document["steps"][1:] if generation == 2 else document["outputs"]

    stream, replay, steps = asyncio.run(main())
    expected = [step["signature"] for step in steps if "signature" in step]
    deltas = [event.get("delta", {}) for event in stream.events]

    assert stream.body == replay.body
    assert expected == [delta["signature"] for delta in deltas if "signature" in delta]
    assert 4 == len(set(expected))


def test_turns_are_looked_into():
    """
    Blocks of turns of generation 1.x are checked as steps are.
    """

    async def main(**more):
        provider = provider_of(ANSWER, generation=1)
        outputs = (await ask(provider, "POST", V1, create())).document["outputs"]
        turns = [{"role": "user", "content": "hi"}, {"role": "model", "content": [{**outputs[0], **more}]}]
        return (await ask(provider, "POST", V1, create(turns))).status

    assert 200 == asyncio.run(main())
    assert 400 == asyncio.run(main(summary="other"))


def test_two_conversations_of_one_fixture():
    """
    Two answers of one fixture make the same call; each conversation is taken back with its own thought.
    """

    async def main():
        provider = provider_of(ANSWER)
        answers = [(await ask(provider, "POST", V1, create())).document["steps"] for _ in range(2)]
        both = [USER, *answers[0], RESULT, USER, *answers[1]]
        return [
            *[(await ask(provider, "POST", V1, create([USER, *steps]))).status for steps in answers],
            (await ask(provider, "POST", V1, create(both))).status,
            (await ask(provider, "POST", V1, create([USER, *answers[0][:3], *answers[1][4:]]))).status,
        ]

    assert [200, 200, 200, 400] == asyncio.run(main())


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["signed first", "unsigned first"])
def test_two_answers_with_one_call(order):
    """
    Of two answers that make a call of one id, one after a thought and one without, each is taken back as it was.
    """

    async def main():
        made = [(thought_step("Plan it"), call_step()), (call_step(),)]
        provider = provider_of(*[made[at] for at in order], [text_step("next")])
        answers = [(await ask(provider, "POST", V1, create())).document["steps"] for _ in order]
        return [(await ask(provider, "POST", V1, create([USER, *steps, RESULT]))).status for steps in answers]

    assert [200, 200] == asyncio.run(main())


def test_what_the_ledger_keeps_is_bounded():
    """
    Only so many calls and signatures are remembered; what is forgotten is not asked for.
    """
    ledger = StepLedger()
    for number in range(MAX_CALLS + 1):
        ledger.note_steps([thought_step(signature=f"given {number}"), call_step(f"c{number}")])

    with pytest.raises(SignatureError, match="its signature is not one of this mock"):
        ledger.check([thought_step(signature="given 0")])
    ledger.check([call_step("c0")])
    with pytest.raises(SignatureError, match="the signed step before it is missing"):
        ledger.check([call_step("c1")])


def test_a_signature_of_several_items():
    """
    Fixtures may have one signature for different items: it is that of each of them, and of no other.
    """
    ledger = SignatureLedger()
    for content in ("one", "two"):
        ledger.note(GIVEN, content)
    check = ledger.checker()

    for content in ("one", "two"):
        check(Signed("here", GIVEN, content))
    with pytest.raises(SignatureError, match="its signature belongs to other content"):
        check(Signed("here", GIVEN, "three"))


def test_a_signature_that_is_given_again_stays():
    """
    What was given last is kept longest: a signature that is given again is as new as the newest.
    """
    ledger = StepLedger()
    for number in [*range(MAX_CALLS), 0, MAX_CALLS]:
        ledger.note_steps([thought_step(signature=f"given {number}")])

    ledger.check([thought_step(signature="given 0")])
    with pytest.raises(SignatureError, match="its signature is not one of this mock"):
        ledger.check([thought_step(signature="given 1")])


def test_a_call_that_is_made_again_stays():
    """
    The same for a call and the signature before it.
    """
    ledger = StepLedger()
    for number in [*range(MAX_CALLS), 0, MAX_CALLS]:
        ledger.note_steps([thought_step(signature="given"), call_step(f"c{number}")])

    ledger.check([call_step("c1")])
    with pytest.raises(SignatureError, match="the signed step before it is missing"):
        ledger.check([call_step("c0")])


@pytest.mark.parametrize("is_bare", [False, True], ids=["each is signed", "one is not"])
def test_many_answers_with_one_call(is_bare):
    """
    Of too many answers with a call of one id any signature will do, but there has to be one if each had one.
    """
    ledger = StepLedger()
    step = thought_step()
    thoughts = [
        {**step, "signature": make_signature(signed_content(step), n.to_bytes(8, "big"), 0)}
        for n in range(MAX_SIGNATURES + 10)
    ]
    *noted, another = thoughts
    if is_bare:
        ledger.note_steps([call_step("c1")])
    for thought in noted:
        ledger.note_steps([thought, call_step("c1")])

    for thought in (*noted, another):
        ledger.check([thought, call_step("c1")])
    if is_bare:
        ledger.check([call_step("c1")])
    else:
        with pytest.raises(SignatureError, match="the signed step before it is missing"):
            ledger.check([call_step("c1")])


@pytest.mark.parametrize("given", [None, "hi", 7, [7, None, "x"], {}, [{}], [{"type": 7, "id": 7}]])
def test_whatever_comes(given):
    """
    Input of any shape is looked through without a mistake.
    """
    StepLedger().check(given)


def test_fixtures_with_unusual_answers():
    """
    Steps without an id and results without content are signed and taken back too.
    """
    steps = ({"type": "file_search_call", "id": "f1"}, {"type": "file_search_result", "call_id": "f1"})

    async def main():
        provider = provider_of(Answer(steps=steps))
        got = (await ask(provider, "POST", V1, create())).document["steps"]
        return (await ask(provider, "POST", V1, {"model": MODEL, "input": [USER, *got, USER]})).status

    assert 200 == asyncio.run(main())


def test_signatures_of_calls_are_kept_too():
    """
    A fixture may sign a call of a function, as 1.x did; it is taken back with it, and another one is not.
    """
    answer = [{**call_step(), "signature": GIVEN}]

    assert 200 == resent(lambda steps: steps, *answer)[0]
    assert 400 == resent(altered(0, signature="c2ln"), *answer)[0]


def test_summaries_with_nothing_in_them():
    """
    Empty items of a summary are ignored.
    """
    assert 200 == resent(altered(0, summary=[None, "", {"type": "text", "text": "Plan it"}]), *ANSWER)[0]
