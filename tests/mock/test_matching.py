"""
What a request asks, and which fixture that is for.
"""

import re

import attrs
import pytest

from assistant_events.adapters.gemini_interactions.mock import Answer, Match, read_request
from assistant_events.mock import Contains, Fixture, Fixtures, RequestFacts

RESULT = {"type": "function_result", "call_id": "c1", "name": "rain", "result": "sunny"}
CALL = {"type": "function_call", "id": "c1", "name": "rain", "arguments": {}}
PICTURE = {"type": "image", "data": "iVBO", "mime_type": "image/png"}


def text(said: str) -> dict[str, object]:
    return {"type": "text", "text": said}


def prompt(*content: object) -> dict[str, object]:
    return {"type": "user_input", "content": list(content)}


def output(said: str) -> dict[str, object]:
    return {"type": "model_output", "content": [text(said)]}


def fixture(answers: int = 1, *, repeat_last: bool = True, **match: object) -> Fixture:
    return Fixture(match=Match(**match), answers=(Answer(),) * answers, repeat_last=repeat_last)


NEWEST_TEXT = {
    "a string": ("Hi", "Hi"),
    "one content": (text("Hi"), "Hi"),
    "one content without a type": ({"text": "Hi"}, "Hi"),
    "one step": (prompt(text("Hi")), "Hi"),
    "a list of content": ([text("H"), PICTURE, text("i")], "Hi"),
    "a list of steps": ([prompt(text("first")), output("no"), prompt(text("Hi"))], "Hi"),
    "content of a step as a string": ([{"type": "user_input", "content": "Hi"}], "Hi"),
    "content of a step as one content": ([{"type": "user_input", "content": text("Hi")}], "Hi"),
    "a list of turns": (
        [{"role": "user", "content": "first"}, {"role": "model", "content": "no"}, {"role": "user", "content": "Hi"}],
        "Hi",
    ),
    "turns with content": ([{"role": "user", "content": [text("H"), text("i")]}], "Hi"),
    "a result after it": ([prompt(text("Hi")), CALL, RESULT], "Hi"),
    "a result in the same input": ([prompt(RESULT, text("Hi"))], "Hi"),
    "a picture after it": ([prompt(text("Hi")), prompt(PICTURE)], "Hi"),
    "a picture alone": ([prompt(PICTURE)], None),
    "a thought is not of the user": ([{"type": "thought", "summary": [text("no")]}], None),
    "a call of another kind is not of the user": ([{"type": "brand_new_call", "text": "no"}], None),
    "nothing": (None, None),
    "an empty list": ([], None),
    "an empty content": ([prompt()], None),
    "nonsense": ([5, None, "no"], None),
    "nonsense in content": ([prompt(5, {"type": "text", "text": 5}, text("Hi"))], "Hi"),
}


@pytest.mark.parametrize(("given", "expected"), NEWEST_TEXT.values(), ids=NEWEST_TEXT.keys())
def test_newest_text(given, expected):
    """
    The newest text of the user is found in every form of `input`.
    """
    assert expected == read_request({"input": given}).user_text


CALL_IDS = {
    "a step": ([RESULT], ("c1",)),
    "a step alone": (RESULT, ("c1",)),
    "inside an input": ([prompt(RESULT)], ("c1",)),
    "content of a turn": ([{"role": "user", "content": [RESULT]}], ("c1",)),
    "two in their order": ([RESULT, {**RESULT, "call_id": "c2"}], ("c1", "c2")),
    "with what the user adds": ([RESULT, prompt(text("and now?"))], ("c1",)),
    "only since the newest answer": ([CALL, RESULT, output("sunny"), prompt(text("thanks"))], ()),
    "without an id": ([{"type": "function_result", "result": ""}], ("",)),
}


@pytest.mark.parametrize(("given", "expected"), CALL_IDS.values(), ids=CALL_IDS.keys())
def test_call_ids(given, expected):
    """
    Results of calls are found as steps, as content and inside a prompt.
    """
    assert expected == read_request({"input": given}).call_ids


TURNS = {
    "nothing": (None, 0, 0),
    "one prompt": ("Hi", 1, 0),
    "two prompts in a row are one turn": ([prompt(text("Hi")), prompt(PICTURE)], 1, 0),
    "a second turn": ([prompt(text("Hi")), output("Ho"), prompt(text("So?"))], 2, 1),
    "a result stays in its turn": ([prompt(text("Hi")), CALL, RESULT], 1, 1),
    "steps of one answer are one": (
        [prompt(text("Hi")), {"type": "thought"}, CALL, {**CALL, "id": "c2"}, RESULT, output("x")],
        1,
        2,
    ),
}


@pytest.mark.parametrize(("given", "turn", "position"), TURNS.values(), ids=TURNS.keys())
def test_turns_in_one_request(given, turn, position):
    """
    A turn begins with a prompt; an answer is a run of items of the model.
    """
    found = read_request({"input": given})

    assert turn == found.turn
    assert position == found.position


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([prompt(text("Hi"))], False),
        ([prompt(text("Hi")), output("Ho")], False),
        ([prompt(text("Hi")), CALL, RESULT], True),
        ([prompt(text("Hi")), CALL, RESULT, output("Ho")], True),
        ([prompt(text("Hi")), CALL, RESULT, prompt(text("So?"))], False),
    ],
    ids=["a prompt", "an answer", "a result", "an answer to a result", "another prompt"],
)
def test_whether_a_result_is_there(given, expected):
    """
    A result counts since the newest prompt, and nothing else does.
    """
    assert expected == read_request({"input": given}).has_result


def test_a_chain_counts_like_one_request():
    """
    A conversation is the same whether a client sends all of it or only what is new.
    """
    whole = read_request({"input": [prompt(text("Rain?")), CALL, RESULT, output("No."), prompt(text("Sun?"))]})
    chained = read_request({"input": "Sun?"}, [{"input": "Rain?"}, {"input": [RESULT]}])

    assert ("Sun?", 2, 2) == (whole.user_text, whole.turn, whole.position)
    assert ("Sun?", 2, 2) == (chained.user_text, chained.turn, chained.position)


def test_the_newest_text_of_a_chain():
    """
    A request that only answers a call still belongs to the prompt before it; alone it has none.
    """
    found = read_request({"input": [RESULT]}, [{"input": "Rain?"}])

    assert "Rain?" == found.user_text
    assert 1 == found.turn
    assert found.has_result
    assert found.alone is not None
    assert found.alone.user_text is None
    assert 0 == found.alone.turn


def test_the_rest_of_a_request():
    """
    Model, agent, ids, system and declared functions are read unchanged.
    """
    found = read_request(
        {
            "model": "gemini-3.6-flash",
            "previous_interaction_id": "v1_a",
            "continuation_token": "dG9r",
            "system_instruction": "Be brief.",
            "tools": [{"type": "function", "name": "rain"}, {"type": "google_search"}, {"type": "function"}, 5],
        }
    )

    assert "gemini-3.6-flash" == found.model
    assert {"agent": None, "previous_interaction_id": "v1_a", "continuation_token": "dG9r"} == found.fields
    assert "Be brief." == found.system
    assert {"rain"} == found.tools


def test_the_rest_of_a_request_in_wrong_types():
    """
    Nothing that a request brings raises: what has a wrong type is not there.
    """
    wrong = {"model": 5, "agent": [], "previous_interaction_id": {}, "continuation_token": 1, "tools": 5}

    fields = {"agent": None, "previous_interaction_id": "", "continuation_token": ""}

    assert RequestFacts(fields=fields) == read_request({**wrong, "system_instruction": {"parts": []}, "input": 5})


RESULT_TEXTS = {
    "a string": ("sunny", "sunny"),
    "content": ([text("sun"), PICTURE, text("ny")], "sunny"),
    "an object": ({"sky": "blue"}, '{"sky":"blue"}'),
    "nothing": (None, None),
}


@pytest.mark.parametrize(("given", "expected"), RESULT_TEXTS.values(), ids=RESULT_TEXTS.keys())
def test_result_text(given, expected):
    """
    The text of a result is its string, the texts of its content, or its JSON.
    """
    assert expected == read_request({"input": [{**RESULT, "result": given}]}).result_text


def test_result_text_only_at_the_end():
    """
    A result that something else follows is not the last thing.
    """
    found = read_request({"input": [RESULT, prompt(text("and?"))]})

    assert found.result_text is None
    assert () == found.last.call_ids
    assert not found.has_result


HOLDS = {
    "a text": ({"user_text": "Hi"}, True),
    "another text": ({"user_text": "hi"}, False),
    "part of a text is not the text": ({"user_text": "H"}, False),
    "part of a text": ({"user_text": Contains("H")}, True),
    "another part": ({"user_text": Contains("h")}, False),
    "a pattern": ({"user_text": re.compile("^h", re.IGNORECASE)}, True),
    "a pattern in a text": ({"user_text": re.compile("i$")}, True),
    "another pattern": ({"user_text": re.compile("i.")}, False),
    "a model": ({"model": "gemini-3.6-flash"}, True),
    "another model": ({"model": "gemini"}, False),
    "an agent, and there is none": ({"agent": "deep-research"}, False),
    "a call": ({"call_id": "c1"}, True),
    "another call": ({"call_id": "c2"}, False),
    "a call without its number": ({"call_id": "c"}, False),
    "the last call": ({"last_call_id": "c1"}, True),
    "another last call": ({"last_call_id": "c0"}, False),
    "a previous interaction": ({"previous_interaction_id": "v1_a"}, True),
    "another previous interaction": ({"previous_interaction_id": "v1_b"}, False),
    "any previous interaction": ({"previous_interaction_id": re.compile(".")}, True),
    "part of a previous interaction": ({"previous_interaction_id": Contains("_b")}, False),
    "no previous interaction": ({"previous_interaction_id": ""}, False),
    "no token": ({"continuation_token": ""}, True),
    "a token": ({"continuation_token": "dG9r"}, False),
    "a turn": ({"turn": 1}, True),
    "another turn": ({"turn": 2}, False),
    "system": ({"system": ("Be brief.", Contains("brief"))}, True),
    "one of system does not hold": ({"system": (Contains("brief"), Contains("kind"))}, False),
    "a tool": ({"tool": "rain"}, True),
    "another tool": ({"tool": "snow"}, False),
    "a result": ({"result_text": Contains("sun")}, True),
    "another result": ({"result_text": "rainy"}, False),
    "a result is there": ({"has_result": True}, True),
    "no result is there": ({"has_result": False}, False),
    "two things": ({"user_text": "Hi", "turn": 2}, False),
    "nothing": ({}, True),
}


@pytest.mark.parametrize(("match", "expected"), HOLDS.values(), ids=HOLDS.keys())
def test_matches(match, expected):
    """
    All fields of a match that are set have to hold.
    """
    body = {
        "model": "gemini-3.6-flash",
        "input": [prompt(text("Hi")), CALL, RESULT],
        "previous_interaction_id": "v1_a",
        "system_instruction": "Be brief.",
        "tools": [{"type": "function", "name": "rain"}],
    }

    assert (0 if expected else None) == Fixtures([fixture(**match)]).find(read_request(body))


def test_first_match_wins():
    """
    Of two that match, the first in their order answers.
    """
    fixtures = Fixtures([fixture(user_text="Ho"), fixture(user_text=Contains("H")), fixture(user_text="Hi")])

    assert 1 == fixtures.find(read_request({"input": "Hi"}))


def test_everything_goes_last():
    """
    A fixture without rules answers what no other fixture matches, at any place.
    """
    fixtures = Fixtures([fixture(), fixture(user_text="Hi")])

    assert 1 == fixtures.find(read_request({"input": "Hi"}))
    assert 0 == fixtures.find(read_request({"input": "Ho"}))


def test_no_match():
    """
    No fixture, no place.
    """
    assert Fixtures().find(read_request({"input": "Hi"})) is None


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["call first", "result first"])
@pytest.mark.parametrize(
    "chain", [([prompt(text("Rain?")), CALL, RESULT], []), ([RESULT], [{"input": "Rain?"}])], ids=["full", "chained"]
)
def test_a_result_before_its_prompt(order, chain):
    """
    The fixture of a result precedes that of the prompt which called the tool, in any order and form of request.
    """
    both = [fixture(user_text="Rain?"), fixture(call_id="c1")]
    given, earlier = chain

    found = Fixtures([both[at] for at in order]).find(read_request({"input": given}, earlier))

    assert order.index(1) == found


@pytest.mark.parametrize(
    "match",
    [{"last_call_id": "c1"}, {"result_text": "sunny"}, {"has_result": True}, {"call_id": "c1"}],
    ids=["last call", "result", "any result", "call"],
)
def test_what_goes_before_a_prompt(match):
    """
    Every fixture that names a result precedes one that names a prompt.
    """
    fixtures = Fixtures([fixture(user_text="Rain?"), fixture(**match)])

    assert 1 == fixtures.find(read_request({"input": [prompt(text("Rain?")), CALL, RESULT]}))


def test_a_token_before_a_prompt():
    """
    The fixture of a token precedes that of the prompt, which a continuation without store sends again.
    """
    fixtures = Fixtures([fixture(user_text="Write."), fixture(continuation_token="dG9r")])

    assert 1 == fixtures.find(read_request({"input": "Write.", "continuation_token": "dG9r"}))
    assert 0 == fixtures.find(read_request({"input": "Write."}))


def test_no_token_is_nothing_special():
    """
    A fixture for requests without a token does not go before others.
    """
    fixtures = Fixtures([fixture(user_text="Write."), fixture(continuation_token="")])

    assert 0 == fixtures.find(read_request({"input": "Write."}))


def test_no_result_is_nothing_special():
    """
    A fixture for requests without a result does not go before others.
    """
    fixtures = Fixtures([fixture(user_text="Rain?"), fixture(has_result=False)])

    assert 0 == fixtures.find(read_request({"input": "Rain?"}))


def test_only_what_the_request_brings():
    """
    Without the conversation, a chained request is compared as if it were the first, in the order of the fixtures.
    """
    alone = {"conversation": False}
    fixtures = Fixtures([fixture(user_text="Rain?", **alone), fixture(turn=1, **alone), fixture(**alone)])
    with_result_last = Fixtures([fixture(**alone), fixture(call_id="c1", **alone)])

    assert 2 == fixtures.find(read_request({"input": [RESULT]}, [{"input": "Rain?"}]))
    assert 0 == with_result_last.find(read_request({"input": [RESULT]}, [{"input": "Rain?"}]))


@pytest.mark.parametrize("prompts", [1, 2, 3])
def test_a_turn_is_one_of_them(prompts):
    """
    A fixture of a turn answers no later one.
    """
    facts = read_request({"input": [*[prompt(text("Hi")), output("Yes")] * prompts][:-1]})

    assert prompts - 1 == Fixtures([fixture(turn=1), fixture(turn=2), fixture()]).find(facts)


def test_a_call_whose_own_id_ends_with_one():
    """
    Repeated ids count from 2: `c1_1` is a call of that name.
    """
    facts = read_request({"input": [CALL | {"id": "c1_1"}, RESULT | {"call_id": "c1_1"}]})

    assert 1 == Fixtures([fixture(call_id="c1"), fixture(call_id="c1_1")]).find(facts)
    assert 1 == Fixtures([fixture(call_id="c1"), fixture()]).find(facts)


@pytest.mark.parametrize(("called", "expected"), [("c1", "c1"), ("c1_2", "c1_2"), ("c1_3", "c1"), ("c1_4", "any")])
@pytest.mark.parametrize("rule", ["call_id", "last_call_id"])
def test_a_call_with_a_number_of_its_own(rule, called, expected):
    """
    A fixture of the call that the request names is the answer, also behind one of that name without the number. Others
    keep their places.
    """
    named = {"c1": {rule: "c1"}, "c1_2": {rule: "c1_2"}}
    some = {"any": {"result_text": "sunny"}}
    order = {**some, **named} if expected == "any" else {**named, **some}
    facts = read_request({"input": [CALL | {"id": called}, RESULT | {"call_id": called}]})

    fixtures = Fixtures([fixture(**each) for each in order.values()])

    assert expected == [*order][fixtures.find(facts)]


def test_used_up():
    """
    A fixture that does not repeat its last answer lets the next one answer once it is used up.
    """
    fixtures = Fixtures([fixture(2, repeat_last=False), fixture()])
    request = read_request({"input": "Hi"})

    assert [0, 0, 1, 1] == [fixtures.find(request, {0: served}) for served in range(4)]


def test_answers_in_their_order():
    """
    The first request gets the first answer, and so on; the last is given again.
    """
    first, second = Answer(status="failed"), Answer()
    repeated = Fixture(answers=(first, second))
    used_up = Fixture(answers=(first, second), repeat_last=False)

    assert [first, second, second] == [repeated.answer(served) for served in range(3)]
    assert [first, second, None] == [used_up.answer(served) for served in range(3)]


# Worked out from `selectByTurnIndex` of aimock 1.43.0: the positions of the fixtures, how many answers came before, and
# the place that answers.
POSITIONS = {
    "the exact one": ([0, 1, 2], 1, 1),
    "the nearest below": ([0, 1, 5], 3, 1),
    "above none, the lowest": ([3, 2], 1, 1),
    "above none, one without position": ([3, None], 1, 1),
    "below goes before one without position": ([None, 1], 2, 1),
    "exact goes after one without position before it": ([None, 2], 2, 0),
    "exact goes before one without position after it": ([2, None], 2, 0),
    "the first of equals": ([1, 1], 4, 0),
}


@pytest.mark.parametrize(("positions", "before", "expected"), POSITIONS.values(), ids=POSITIONS.keys())
def test_positions(positions, before, expected):
    """
    A position is a preference: the largest that is reached, else one without, else the smallest.
    """
    fixtures = Fixtures([fixture(position=position, user_text="y") for position in positions])
    chain = [{"input": "x"}] * before

    assert expected == fixtures.find(read_request({"input": "y"}, chain))


def test_positions_without_the_conversation():
    """
    A position that counts only what the request brings is 0 for every chained request.
    """
    fixtures = Fixtures([fixture(position=0, conversation=False), fixture(position=2, conversation=False)])

    assert 0 == fixtures.find(read_request({"input": "y"}, [{"input": "x"}] * 2))


MISSES = {
    "nothing": (
        [],
        {"input": "Hi", "model": "m"},
        "newest user text 'Hi', model 'm', turn 1; the provider has no fixtures",
    ),
    "a slip": (
        [fixture(user_text="Hello there"), fixture(model=Contains("pro"))],
        {"input": "Hello, there", "agent": "a"},
        (
            "newest user text 'Hello, there', model None, agent 'a', turn 1; did you mean 'Hello there'?; "
            "fixtures: user_text='Hello there'; model=Contains('pro')"
        ),
    ),
    "a result and a token": (
        [fixture(turn=9)],
        {"input": [RESULT], "continuation_token": "dG9r"},
        (
            "no text of the user, model None, continuation_token 'dG9r', results of calls ['c1'], turn 0; "
            "fixtures: turn=9"
        ),
    ),
    "used up": (
        [attrs.evolve(fixture(repeat_last=False), name="hello")],
        {"input": "Hi"},
        "newest user text 'Hi', model None, turn 1; fixtures: 'hello': everything (used up)",
    ),
    "a part with a slip": (
        [fixture(user_text=Contains("the wether"))],
        {"input": "Tell me about the weather in Oslo, please."},
        (
            "newest user text 'Tell me about the weather in Oslo, please.', model None, turn 1; "
            "did you mean Contains('the wether')?; fixtures: user_text=Contains('the wether')"
        ),
    ),
    "a part in other letters": (
        [fixture(user_text=Contains("WEATHER")), fixture(user_text=Contains("pizza"))],
        {"input": "The weather?"},
        (
            "newest user text 'The weather?', model None, turn 1; did you mean Contains('WEATHER')?; "
            "fixtures: user_text=Contains('WEATHER'); user_text=Contains('pizza')"
        ),
    ),
    "a part that is there": (
        [fixture(user_text=Contains("Hi"), model="m")],
        {"input": "Hi all"},
        "newest user text 'Hi all', model None, turn 1; fixtures: user_text=Contains('Hi'), model='m'",
    ),
    "a part of more words than there are": (
        [fixture(user_text=Contains("one two three"))],
        {"input": "one"},
        "newest user text 'one', model None, turn 1; fixtures: user_text=Contains('one two three')",
    ),
    "the right text for another model": (
        [fixture(user_text="Hi", model="m")],
        {"input": "Hi"},
        "newest user text 'Hi', model None, turn 1; fixtures: user_text='Hi', model='m'",
    ),
}


@pytest.mark.parametrize(("given", "body", "expected"), MISSES.values(), ids=MISSES.keys())
def test_misses(given, body, expected):
    """
    When no fixture matches, the error has the facts of the request, the fixtures, and the closest one.
    """
    assert f"no fixture matches: {expected}" == Fixtures(given).miss(read_request(body), {0: 1})


def test_a_miss_is_short():
    """
    A long prompt and many fixtures are cut.
    """
    said = Fixtures([fixture(turn=9)] * 22).miss(read_request({"input": "x" * 1000}), {})

    assert said.startswith(f"no fixture matches: newest user text '{'x' * 200}', model")
    assert said.endswith("turn=9 and 2 more")
    assert 20 == said.count("turn=9")
