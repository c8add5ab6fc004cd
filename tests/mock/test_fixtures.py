"""
Fixtures from files of this library and from plain Python, and the faults of invalid ones.
"""

import json
import re
from pathlib import Path

import pytest

from assistant_events import Event, Usage
from assistant_events.adapters.gemini_interactions.mock import Answer, Match, load_fixtures, mock, read_request
from assistant_events.converters import unstructure
from assistant_events.errors import FixtureError
from assistant_events.mock import Contains, Fixture, Fixtures, HttpError, StreamError, Timing, fixture_document
from assistant_events.mock.fixture_files import fixtures_of
from assistant_events.testing import Call, answer, error, prompt, run

HI = {"type": "model_output", "content": [{"type": "text", "text": "Hi"}]}


def document(*entries: object) -> dict[str, object]:
    return {"version": 1, "fixtures": list(entries)}


def entry(**answered: object) -> dict[str, object]:
    return {"match": {}, "answer": answered}


def only_answer(**answered: object) -> Answer:
    (fixture,) = load_fixtures(document(entry(**answered)))
    (found,) = fixture.answers
    return found


def plain(events: list[Event]) -> list[object]:
    return [unstructure(event) for event in events]


def complaints(given: object) -> list[str]:
    with pytest.raises(FixtureError) as caught:
        load_fixtures(given)
    return [
        ": ".join([part for part in (error.entry, error.field, error.reason) if part])
        for error in (caught.value, *caught.value.others)
    ]


def test_match():
    """
    Every field of a match is read; texts may be compared in three ways.
    """
    (fixture,) = load_fixtures(
        document(
            {
                "name": "weather",
                "match": {
                    "user_text": {"matches": "(?i)^rain"},
                    "model": {"contains": "flash"},
                    "agent": "deep-research",
                    "call_id": "c1",
                    "last_call_id": "c2",
                    "previous_interaction_id": "v1_a",
                    "continuation_token": "dG9r",
                    "turn": 2,
                    "system": ["Be brief.", {"contains": "kind"}],
                    "tool": "rain",
                    "result_text": {"contains": "sun"},
                    "has_result": True,
                    "position": 3,
                    "conversation": False,
                },
                "answer": {"text": "Hi"},
            }
        )
    )

    assert "weather" == fixture.name
    assert (
        Match(
            user_text=re.compile("(?i)^rain"),
            model=Contains("flash"),
            agent="deep-research",
            call_id="c1",
            last_call_id="c2",
            previous_interaction_id="v1_a",
            continuation_token="dG9r",
            turn=2,
            system=("Be brief.", Contains("kind")),
            tool="rain",
            result_text=Contains("sun"),
            has_result=True,
            position=3,
            conversation=False,
        )
        == fixture.match
    )


def test_one_rule_for_the_system():
    """
    What has to hold for the system instruction may be one rule.
    """
    (fixture,) = load_fixtures(document({"match": {"system": {"contains": "brief"}}, "answer": {"text": "Hi"}}))

    assert (Contains("brief"),) == fixture.match.system


def test_any_previous_interaction():
    """
    A rule for the previous interaction is written as one for a text is, and comes back as it was.
    """
    given = document({"match": {"previous_interaction_id": {"matches": "."}}, "answer": {"text": "Hi"}})
    fixtures = load_fixtures(given)
    (fixture,) = fixtures
    first, second = read_request({"input": "Hi"}), read_request({"input": "Hi", "previous_interaction_id": "v1"})

    assert (None, 0) == (fixtures.find(first), fixtures.find(second))
    assert fixture == load_fixtures(fixture_document(fixtures)).fixtures[0]


def test_an_empty_match_answers_everything():
    """
    `{}` asks for nothing.
    """
    (fixture,) = load_fixtures(document(entry(text="Hi")))

    assert Match() == fixture.match


def test_answer():
    """
    Every field of an answer is read.
    """
    found = only_answer(
        steps=[HI],
        id="v1_a",
        status="incomplete",
        usage={"total_tokens": 5, "grounding_tool_count": []},
        more={"service_tier": "flex"},
        stream_error={"code": "internal", "message": "boom", "after": 3},
        continuation_token="dG9r",
        timing={"first_byte_s": 2, "between_s": 0.5, "waits_s": [1, 0.25], "delta_chars": 4},
        polls_in_progress=2,
        cut_after=7,
        faults=["no-usage"],
    )

    assert (
        Answer(
            steps=[HI],
            id="v1_a",
            status="incomplete",
            usage={"total_tokens": 5, "grounding_tool_count": []},
            more={"service_tier": "flex"},
            stream_error=StreamError(code="internal", message="boom", after=3),
            continuation_token="dG9r",
            timing=Timing(first_byte_s=2.0, between_s=0.5, waits_s=(1.0, 0.25), delta_chars=4),
            polls_in_progress=2,
            cut_after=7,
            faults=("no-usage",),
        )
        == found
    )


HTTP_ERRORS = {
    "a status": ({"status": 500}, HttpError(status=500)),
    "a word": ({"status": 429, "code": "too_many_requests"}, HttpError(status=429, code="too_many_requests")),
    "a number": ({"status": 404, "code": 404, "message": "gone"}, HttpError(status=404, code=404, message="gone")),
    "headers": (
        {"status": 429, "headers": {"retry-after-ms": "5"}},
        HttpError(status=429, headers=(("retry-after-ms", "5"),)),
    ),
}


@pytest.mark.parametrize(("given", "expected"), HTTP_ERRORS.values(), ids=HTTP_ERRORS.keys())
def test_http_error(given, expected):
    """
    An HTTP error has a status, and optional body and headers.
    """
    assert expected == only_answer(http_error=given).http_error


def test_a_text():
    """
    `text` is one `model_output`.
    """
    assert (HI,) == only_answer(text="Hi").steps


def test_a_thought_a_text_and_calls():
    """
    The short form gives the thought, then the text, then the calls, which get the ids that they do not have.
    """
    found = only_answer(
        thought="Rain?",
        text="Hi",
        calls=[{"name": "rain", "arguments": {"city": "Oslo"}}, {"id": "mine", "name": "sun"}],
    )

    assert (
        {"type": "thought", "summary": [{"type": "text", "text": "Rain?"}]},
        HI,
        {"type": "function_call", "id": "call_3", "name": "rain", "arguments": {"city": "Oslo"}},
        {"type": "function_call", "id": "mine", "name": "sun", "arguments": {}},
    ) == found.steps


def test_steps_stay_as_they_are():
    """
    Steps are the provider's own words, known or not; only a call without id or arguments gets them.
    """
    steps = [
        {"type": "thought", "signature": "c2ln", "summary": "a string"},
        {"type": "brand_new", "payload": [1, 2]},
        {"type": "function_call", "name": "rain"},
    ]

    found = only_answer(steps=steps).steps

    assert steps[:2] == list(found[:2])
    assert {"type": "function_call", "name": "rain", "id": "call_3", "arguments": {}} == found[2]


def test_no_steps_but_a_status():
    """
    An answer may end without content.
    """
    assert Answer(status="incomplete") == only_answer(status="incomplete")


def test_an_unknown_status():
    """
    An unknown status is accepted, because clients have to accept it, too.
    """
    assert "wedged" == only_answer(status="wedged").status


def test_usage_without_numbers():
    """
    An empty usage is an empty usage, not one that the server makes.
    """
    assert {} == only_answer(text="Hi", usage={}).usage
    assert only_answer(text="Hi").usage is None


def test_several_answers():
    """
    The answers of a list are given one after another, the last again and again unless that is not wanted.
    """
    (fixture,) = load_fixtures(document({"match": {}, "answers": [{"text": "Hi"}, {"status": "failed"}]}))
    (used_up,) = load_fixtures(document({"match": {}, "answers": [{"text": "Hi"}], "repeat_last": False}))

    assert (Answer(steps=[HI]), Answer(status="failed")) == fixture.answers
    assert fixture.repeat_last
    assert not used_up.repeat_last


def test_events():
    """
    Events of this library are written as their steps.
    """
    events = answer(
        "Hi",
        reasoning="Rain?",
        calls=[Call("rain", {"city": "Oslo"}, call_id="c1")],
        usage=Usage(input_tokens=3, output_tokens=4),
        run=run("v1_recorded"),
    )

    found = only_answer(events=plain(events))

    assert (
        {"type": "thought", "summary": [{"type": "text", "text": "Rain?"}]},
        HI,
        {"type": "function_call", "id": "c1", "name": "rain", "arguments": {"city": "Oslo"}},
    ) == found.steps
    assert "requires_action" == found.status
    assert {"total_input_tokens": 3, "total_output_tokens": 4, "total_tokens": 7} == found.usage
    assert found.id is None
    assert {} == found.more


def test_events_of_a_failure():
    """
    A failed answer has the errors of the provider; fields of the fixture override them.
    """
    events = plain(answer("Hi", error=error(message="it broke")))

    found = only_answer(events=events, more={"service_tier": "flex"}, status="cancelled", usage={"total_tokens": 1})

    assert "cancelled" == found.status
    assert {"errors": [{"message": "it broke"}], "service_tier": "flex"} == found.more
    assert {"total_tokens": 1} == found.usage
    assert {"errors": []} == only_answer(events=events, more={"errors": []}).more


WRONG_EVENTS = {
    "no event": ([{"type": "text.ended", "v": 1}], "answer.events[0].message_id: expected a value, got nothing"),
    "out of place": (
        plain(answer("Hi"))[1:],
        "answer.events[0]: text.started of message 'a1' is out of place: what it belongs to has not begun (orphan)",
    ),
    "no end": (
        plain(answer("Hi"))[:-1],
        "answer.events: expected an answer that has ended; step.ended or step.failed is missing",
    ),
    "no answer": (plain([prompt("Hi")]), "answer.events: expected the events of one answer"),
    "two answers": (
        plain([*answer("Hi"), *answer("Ho", message_id="a2")]),
        "answer.events: expected the events of one answer",
    ),
}


@pytest.mark.parametrize(("events", "expected"), WRONG_EVENTS.values(), ids=WRONG_EVENTS.keys())
def test_wrong_events(events, expected):
    """
    Events have to be legal, and to make one answer.
    """
    assert [f"fixtures[0]: {expected}"] == complaints(document(entry(events=events)))


WRONG_DOCUMENTS = {
    "no fixtures": ({"version": 1}, ["fixtures: is missing"]),
    "fixtures are no list": (
        {"version": 1, "fixtures": {}},
        ["fixtures: expected a list, got an object"],
    ),
    "a fixture is no object": (
        {"version": 1, "fixtures": ["Hi"]},
        ["fixtures[0]: expected an object, got a string"],
    ),
    "no version": ({"fixtures": []}, ["version: is missing"]),
    "another version": ({"version": 2, "fixtures": []}, ["version: expected 1, got the number 2"]),
    "true is no version": ({"version": True, "fixtures": []}, ["version: expected 1, got true"]),
    "an unknown key": (
        {"version": 1, "fixtures": [], "fixtrues": []},
        ["fixtrues: unknown key; did you mean 'fixtures'?"],
    ),
    "an unknown key like none": (
        {"version": 1, "fixtures": [], "zzz": 1},
        ["zzz: unknown key; known: description, fixtures, version"],
    ),
}


@pytest.mark.parametrize(("given", "expected"), WRONG_DOCUMENTS.values(), ids=WRONG_DOCUMENTS.keys())
def test_wrong_documents(given, expected):
    """
    A fault of a file as a whole has its key.
    """
    assert expected == complaints(given)


def test_what_a_file_may_say_besides():
    """
    A file may have a description and a schema.
    """
    assert Fixtures() == load_fixtures({**document(), "description": "nothing", "$schema": "fixtures.schema.json"})


def test_several_sources(tmp_path):
    """
    Fixtures of documents and files come in the order in which these are named.
    """
    path = tmp_path / "b.json"
    path.write_text(json.dumps(document(entry(text="b"))))
    found = load_fixtures(document(entry(text="a")), path, document(entry(text="c")))

    assert ["a", "b", "c"] == [fixture.answers[0].steps[0]["content"][0]["text"] for fixture in found]


WRONG_ENTRIES = {
    "no match": ({"answer": {"text": "Hi"}}, ["match: is missing"]),
    "match is no object": (
        {"match": "Hi", "answer": {"text": "Hi"}},
        ["match: expected an object, got a string"],
    ),
    "no answer": ({"match": {}}, ["expected either `answer` or `answers`"]),
    "both": (
        {"match": {}, "answer": {"text": "Hi"}, "answers": [{"text": "Ho"}]},
        ["expected either `answer` or `answers`"],
    ),
    "an empty list": ({"match": {}, "answers": []}, ["answers: expected at least one answer, got an empty list"]),
    "an unknown key": (
        {"match": {}, "answer": {"text": "Hi"}, "anwser": {}},
        ["anwser: unknown key; did you mean 'answer'?"],
    ),
    "repeat_last": (
        {"match": {}, "answer": {"text": "Hi"}, "repeat_last": 1},
        ["repeat_last: expected true or false, got the number 1"],
    ),
    "an unknown way to compare": (
        {"match": {"user_text": {"contain": "Hi"}}, "answer": {"text": "Hi"}},
        ["match.user_text.contain: unknown key; did you mean 'contains'?"],
    ),
    "two ways to compare": (
        {"match": {"user_text": {"contains": "Hi", "matches": "Hi"}}, "answer": {"text": "Hi"}},
        ["match.user_text: expected one key, `contains` or `matches`"],
    ),
    "no pattern": (
        {"match": {"user_text": {"matches": "("}}, "answer": {"text": "Hi"}},
        ["match.user_text.matches: not a regular expression: missing ), unterminated subpattern at position 0"],
    ),
    "a rule for the system": (
        {"match": {"system": ["a", 5, {"matches": "("}]}, "answer": {"text": "Hi"}},
        [
            "match.system[1]: expected a string, got the number 5",
            "match.system[2].matches: not a regular expression: missing ), unterminated subpattern at position 0",
        ],
    ),
    "a pattern that is too deep": (
        {"match": {"user_text": {"matches": "(" * 5000}}, "answer": {"text": "Hi"}},
        ["match.user_text.matches: not a regular expression: nested too deeply"],
    ),
    "a pattern that is too long": (
        {"match": {"user_text": {"matches": "a{99999999999}"}}, "answer": {"text": "Hi"}},
        ["match.user_text.matches: not a regular expression: the repetition number is too large"],
    ),
    "a key of two lines": (
        {"match": {}, "answer": {"text": "Hi", "te\nxt": 1}},
        ["answer.te\nxt: unknown key; did you mean 'text'?"],
    ),
    "a turn of many digits": (
        {"match": {"turn": 10**5000}, "answer": {"text": "Hi"}},
        ["match.turn: expected an integer of at least 1, got a number with very many digits"],
    ),
    "a turn": (
        {"match": {"turn": 0}, "answer": {"text": "Hi"}},
        ["match.turn: expected an integer of at least 1, got the number 0"],
    ),
}


@pytest.mark.parametrize(("given", "expected"), WRONG_ENTRIES.values(), ids=WRONG_ENTRIES.keys())
def test_wrong_entries(given, expected):
    """
    A fault of a fixture has its place and its field.
    """
    assert [f"fixtures[0]: {line}" for line in expected] == complaints(document(given))


WRONG_ANSWERS = {
    "nothing": (
        {},
        [
            "answer: expected one of steps, events, text, thought, calls, status, http_error, stream_error",
        ],
    ),
    "two kinds of content": (
        {"text": "Hi", "steps": []},
        ["answer: expected only one of steps, text/thought/calls"],
    ),
    "a step without a type": (
        {"steps": [{"content": []}]},
        ["answer.steps[0].type: expected the type of a step, for example 'model_output'"],
    ),
    "a step of the user": (
        {"steps": [{"type": "user_input"}]},
        ["answer.steps[0].type: 'user_input' is not a step of an answer"],
    ),
    "a step is no object": ({"steps": ["Hi"]}, ["answer.steps[0]: expected an object, got a string"]),
    "content is no list": (
        {"steps": [{"type": "model_output", "content": "Hi"}]},
        ["answer.steps[0].content: expected a list, got a string"],
    ),
    "content without a type": (
        {"steps": [{"type": "model_output", "content": [{"text": "Hi"}]}]},
        ["answer.steps[0].content[0].type: is missing"],
    ),
    "a call without a name": (
        {"steps": [{"type": "function_call"}]},
        ["answer.steps[0].name: is missing"],
    ),
    "arguments are a text": (
        {"calls": [{"name": "rain", "arguments": "{}"}]},
        ["answer.calls[0].arguments: expected an object, got a string"],
    ),
    "an unknown key of a call": (
        {"calls": [{"name": "rain", "argument": {}}]},
        ["answer.calls[0].argument: unknown key; did you mean 'arguments'?"],
    ),
    "a text is a number": ({"text": 5}, ["answer.text: expected a string, got the number 5"]),
    "a slip in a status": (
        {"status": "complete"},
        ["answer.status: unknown status 'complete'; did you mean 'completed'?"],
    ),
    "usage is a number": ({"text": "Hi", "usage": 5}, ["answer.usage: expected an object, got the number 5"]),
    "slips in usage": (
        {"text": "Hi", "usage": {"total_input_token": 1, "output_tokens": 2, "input_token_by_modality": []}},
        [
            "answer.usage.total_input_token: unknown key; did you mean 'total_input_tokens'?",
            "answer.usage.output_tokens: unknown key; did you mean 'total_output_tokens'?",
            "answer.usage.input_token_by_modality: unknown key; did you mean 'input_tokens_by_modality'?",
        ],
    ),
    "more of what is not other": (
        {"text": "Hi", "more": {"id": "v1", "steps": [], "status": "failed", "outputs": [], "service_tier": "flex"}},
        [
            "answer.more.id: belongs beside `more`, as `id`",
            "answer.more.outputs: is written by the server",
            "answer.more.status: belongs beside `more`, as `status`",
            "answer.more.steps: belongs beside `more`, as `steps`",
        ],
    ),
    "twin calls": (
        {"calls": [{"name": "a", "id": "c1"}, {"name": "b", "id": "c1"}]},
        ["answer.calls[1].id: 'c1' is the id of another call of this answer"],
    ),
    "a twin of a call without an id": (
        {"calls": [{"name": "a"}, {"name": "b", "id": "call_1"}]},
        ["answer.calls[1].id: 'call_1' is the id of another call of this answer"],
    ),
    "twin calls among steps": (
        {
            "steps": [
                {"type": "google_search_call", "id": "s1"},
                {"type": "google_search_result", "call_id": "s1", "id": "s1"},
                {"type": "function_call", "name": "a", "id": "s1"},
            ]
        },
        ["answer.steps[2].id: 's1' is the id of another call of this answer"],
    ),
    "headers": (
        {
            "http_error": {
                "status": 500,
                "headers": {
                    "a b": "1",
                    "x-a": "1\r\nx-b: 2",
                    "x-c": "日",
                    "content-length": "3",
                    "Connection": "close",
                    "x-é": "1",
                },
            }
        },
        [
            "answer.http_error.headers.a b: not a header that an answer may have",
            "answer.http_error.headers.x-a: not the value of a header: one line of Latin-1",
            "answer.http_error.headers.x-c: not the value of a header: one line of Latin-1",
            "answer.http_error.headers.content-length: not a header that an answer may have",
            "answer.http_error.headers.Connection: not a header that an answer may have",
            "answer.http_error.headers.x-é: not a header that an answer may have",
        ],
    ),
    "a code of an error event": (
        {"stream_error": {"code": [1]}},
        ["answer.stream_error.code: expected a word or a number, got a list"],
    ),
    "usage": (
        {"text": "Hi", "usage": {"total_tokens": -1}},
        ["answer.usage.total_tokens: expected an integer of at least 0, got the number -1"],
    ),
    "a status of HTTP": (
        {"http_error": {"status": 200}},
        ["answer.http_error.status: expected an HTTP status from 400 to 599, got the number 200"],
    ),
    "no status of HTTP": (
        {"http_error": {}},
        ["answer.http_error.status: is missing"],
    ),
    "a code": (
        {"http_error": {"status": 500, "code": True}},
        ["answer.http_error.code: expected a word or a number, got true"],
    ),
    "a header": (
        {"http_error": {"status": 500, "headers": {"retry-after": 5}}},
        ["answer.http_error.headers.retry-after: expected a string, got the number 5"],
    ),
    "a wait": (
        {"text": "Hi", "timing": {"waits_s": [0, -1], "between_s": "1"}},
        [
            "answer.timing.between_s: expected a number from 0 to 1e15, got a string",
            "answer.timing.waits_s[1]: expected a number from 0 to 1e15, got the number -1",
        ],
    ),
    "a wait without end": (
        {"text": "Hi", "timing": {"between_s": 10**400, "waits_s": [1e300]}},
        [
            "answer.timing.between_s: expected a number from 0 to 1e15, got a number with very many digits",
            "answer.timing.waits_s[0]: expected a number from 0 to 1e15, got a number with very many digits",
        ],
    ),
    "a list of faults": (
        {"text": "Hi", "faults": "no-usage"},
        ["answer.faults: expected a list, got a string"],
    ),
    "a fault is no text": (
        {"text": "Hi", "faults": [["no-usage"]]},
        ["answer.faults[0]: expected a string, got a list"],
    ),
    "an unknown fault": (
        {"text": "Hi", "faults": ["no-usage", "drop@soon"]},
        [
            (
                "answer.faults[1]: fault 'drop@soon': expected a number of events such as 7 or a time such as 600s "
                "after '@', got 'soon'"
            )
        ],
    ),
    "an unknown key": (
        {"text": "Hi", "polls_in_progres": 1},
        ["answer.polls_in_progres: unknown key; did you mean 'polls_in_progress'?"],
    ),
    "null": (
        {"text": None},
        ["answer: expected one of steps, events, text, thought, calls, status, http_error, stream_error"],
    ),
    "more is false": ({"text": "Hi", "more": False}, ["answer.more: expected an object, got false"]),
}


@pytest.mark.parametrize(("given", "expected"), WRONG_ANSWERS.values(), ids=WRONG_ANSWERS.keys())
def test_wrong_answers(given, expected):
    """
    A fault of an answer has its field; strings are never shown, because one may be a signature.
    """
    assert [f"fixtures[0]: {line}" for line in expected] == complaints(document(entry(**given)))


def test_twin_interactions(tmp_path):
    """
    The id of an interaction is unique in all files, because the newer run would replace the older.
    """
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_text(
        json.dumps(document(entry(text="Hi", id="v1"), {"match": {"turn": 1}, "answer": {"id": "v2"} | {"text": "Ho"}}))
    )
    second.write_text(
        json.dumps(document({"match": {}, "answers": [{"text": "a", "id": "v3"}, {"text": "b", "id": "v1"}]}))
    )

    with pytest.raises(FixtureError) as caught:
        load_fixtures(first, second)

    assert [f"{second}: fixtures[0]: answers[1].id: 'v1' occurs twice, first in {first}: fixtures[0]: answer.id"] == [
        error.line for error in (caught.value, *caught.value.others)
    ]


def test_usage_of_tomorrow():
    """
    Unknown counts are usage, too: a recording has them.
    """
    usage = {"total_audio_tokens": 3, "raw_prompt_token": 4, "model_invocation_token_counts": [1]}

    assert usage == only_answer(text="Hi", usage=usage).usage


@pytest.mark.parametrize("name", ["id", "object", "status", "steps", "outputs", "usage", "continuation_token"])
def test_more_in_python(name):
    """
    An answer that is made in Python has no second place for its own fields either.
    """
    with pytest.raises(ValueError, match=f"^more: '{name}' is a field of the answer itself, or written by the server"):
        Answer(more={name: "x"})


def test_a_name_helps():
    """
    The entry is called by its place, and by its name when it has one.
    """
    given = {"name": "rain", "match": {}, "answer": {"text": 5}}

    assert ["fixtures[1] 'rain': answer.text: expected a string, got the number 5"] == complaints(
        document(entry(text="Hi"), given)
    )


def test_an_answer_in_a_list():
    """
    An answer of several is called by its place among them.
    """
    given = {"match": {}, "answers": [{"text": "Hi"}, {"text": 5}]}

    assert ["fixtures[0]: answers[1].text: expected a string, got the number 5"] == complaints(document(given))


def test_everything_wrong_at_once(tmp_path):
    """
    All problems of all files come in one error, the first of them as itself.
    """
    (tmp_path / "a.json").write_text(json.dumps(document(entry(text=5), entry(text=6))))
    (tmp_path / "b.json").write_text("{")

    with pytest.raises(FixtureError) as caught:
        load_fixtures(tmp_path / "a.json", tmp_path / "b.json")

    assert "fixtures[0]" == caught.value.entry
    assert [(str(tmp_path / "a.json"), "fixtures[1]"), (str(tmp_path / "b.json"), "")] == [
        (error.file, error.entry) for error in caught.value.others
    ]


WRONG_BYTES = {
    "no JSON": (b'{\n  "version": oh\n}', "line 2, column 14: not valid JSON: expecting value"),
    "an end that is missing": (b'{"version": 1', "line 1, column 14: not valid JSON: expecting ',' delimiter"),
    "empty": (b" \n", "the file is empty"),
    "no UTF-8": (b'{"version": "\xff"}', "not valid UTF-8 at byte 13"),
    "a key twice": (b'{"version": 1, "version": 1}', "the key 'version' occurs twice in one object"),
    "NaN": (b'{"version": NaN}', "not valid JSON: NaN"),
    "too deep": (b"[" * 100_000, "nested too deeply"),
    "a list": (b"[]", "expected an object, got a list"),
}


@pytest.mark.parametrize(("data", "expected"), WRONG_BYTES.values(), ids=WRONG_BYTES.keys())
def test_wrong_files(tmp_path, data, expected):
    """
    A file that is not valid JSON, or has a key twice, is named with the line where that is known.
    """
    path = tmp_path / "a.json"
    path.write_bytes(data)

    with pytest.raises(FixtureError) as caught:
        load_fixtures(path)

    assert (str(path), expected) == (caught.value.file, caught.value.reason)


def test_each_problem_is_one_line(tmp_path):
    """
    Each problem is one line that begins with its file, also when a key has a line end.
    """
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document({"name": "a\nb", "match": {"a\r\nb": 1}, "answer": {"te\nxt": "Hi"}})))

    with pytest.raises(FixtureError) as caught:
        load_fixtures(path)

    lines = str(caught.value).splitlines()
    assert 3 == len(lines) == 1 + len(caught.value.others)
    assert [] == [line for line in lines if not line.startswith(f"{path}: fixtures[0] 'a\\nb': ")]
    assert f"{path}: fixtures[0] 'a\\nb': answer.te\\nxt: unknown key; did you mean 'text'?" in lines


def test_a_number_of_many_digits_in_a_file(tmp_path):
    """
    A number of more digits than Python prints is a problem like any other.
    """
    path = tmp_path / "a.json"
    path.write_text('{"version": 1, "fixtures": [{"match": {"turn": %s}, "answer": {"text": "Hi"}}]}' % ("9" * 5000))

    with pytest.raises(FixtureError, match="turn: expected an integer of at least 1, got a number with very many"):
        load_fixtures(path)


@pytest.mark.parametrize("name", ["a\0b", "a" * 300], ids=["a null byte", "too long"])
def test_paths_that_cannot_be(tmp_path, name):
    """
    An invalid path is a fault with that path.
    """
    with pytest.raises(FixtureError) as caught:
        load_fixtures(tmp_path / name)

    assert str(tmp_path / name) == caught.value.file
    assert caught.value.reason


def test_a_file_that_is_not_there(tmp_path):
    """
    A file that cannot be read is a problem like any other.
    """
    with pytest.raises(FixtureError, match=r"b\.json: No such file or directory"):
        load_fixtures(tmp_path / "b.json")


def test_a_folder(tmp_path):
    """
    A folder is every `.json` file below it, in the order of their paths; a byte order mark is skipped.
    """
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.json").write_text(json.dumps(document(entry(status="failed"))))
    (tmp_path / "a.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(document(entry(text="Hi"))).encode())
    (tmp_path / "notes.txt").write_text("no fixtures")

    assert [(Answer(steps=[HI]),), (Answer(status="failed"),)] == [
        fixture.answers for fixture in load_fixtures(str(tmp_path))
    ]


def test_an_empty_folder(tmp_path):
    """
    A folder without fixtures is a slip.
    """
    with pytest.raises(FixtureError, match=r"no \.json file in this folder"):
        load_fixtures(tmp_path)


def test_no_source_of_fixtures():
    """
    What is neither a path nor a document is refused at once.
    """
    with pytest.raises(TypeError, match="expected a path or a mapping, got the number 5"):
        load_fixtures(5)


FIXTURE = Fixture(match=Match(user_text="Hello"), answers=(Answer(steps=[HI]),), name="Hello")
PAIRS = {
    "a text": ({"Hello": "Hi"}, FIXTURE),
    "an answer": ({"Hello": Answer(steps=[HI])}, FIXTURE),
    "what a file says": ({"Hello": {"text": "Hi"}}, FIXTURE),
    "a list": (
        {"Hello": ["Hi", {"status": "failed"}]},
        Fixture(match=Match(user_text="Hello"), answers=(Answer(steps=[HI]), Answer(status="failed")), name="Hello"),
    ),
    "part of a text": (
        {Contains("ell"): "Hi"},
        Fixture(match=Match(user_text=Contains("ell")), answers=(Answer(steps=[HI]),), name="ell"),
    ),
    "a pattern": (
        {re.compile("^H"): "Hi"},
        Fixture(match=Match(user_text=re.compile("^H")), answers=(Answer(steps=[HI]),), name="^H"),
    ),
    "a match": (
        {Match(call_id="c1"): "Hi"},
        Fixture(match=Match(call_id="c1"), answers=(Answer(steps=[HI]),), name="call_id='c1'"),
    ),
}


@pytest.mark.parametrize(("given", "expected"), PAIRS.values(), ids=PAIRS.keys())
def test_pairs(given, expected):
    """
    A mapping has texts and their answers.
    """
    assert Fixtures([expected]) == fixtures_of(mock.form, given)


def test_other_sources(tmp_path):
    """
    Fixtures, one fixture, several, a document and a path are taken as they are.
    """
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document(entry(text="Hi"))))
    from_file = Fixtures([Fixture(answers=(Answer(steps=[HI]),))])

    assert Fixtures([FIXTURE]) == fixtures_of(mock.form, Fixtures([FIXTURE]))
    assert Fixtures([FIXTURE]) == fixtures_of(mock.form, FIXTURE)
    assert Fixtures([FIXTURE, FIXTURE]) == fixtures_of(mock.form, [FIXTURE, FIXTURE])
    assert Fixtures() == fixtures_of(mock.form, {})
    assert from_file == fixtures_of(mock.form, document(entry(text="Hi")))
    assert from_file == fixtures_of(mock.form, entry(text="Hi"))
    [of_a_table] = fixtures_of(mock.form, {"match": {"text": "Hi"}}).fixtures
    assert "match" == of_a_table.match.user_text  # a prompt like any other
    assert from_file == fixtures_of(mock.form, path)
    assert from_file == fixtures_of(mock.form, str(path))


WRONG_PAIRS = {
    "an empty list": ({"Hello": []}, "fixtures: 'Hello': expected at least one answer, got an empty list"),
    "a number": (
        {"Hello": 5},
        "fixtures: 'Hello': expected a text, an Answer, or the `answer` of a file, got the number 5",
    ),
    "a field": ({"Hello": {"txt": "Hi", "text": "Hi"}}, "fixtures: 'Hello': txt: unknown key; did you mean 'text'?"),
}


@pytest.mark.parametrize(("given", "expected"), WRONG_PAIRS.values(), ids=WRONG_PAIRS.keys())
def test_wrong_pairs(given, expected):
    """
    What makes no sense is named by the text that it was to answer.
    """
    with pytest.raises(FixtureError) as caught:
        fixtures_of(mock.form, given)

    assert expected == str(caught.value)


WRONG_SOURCES = {
    "a key": ({5: "Hi"}, "expected a text, a pattern, Contains or Match to answer, got the number 5"),
    "an item": ([b"Hi"], "expected a Fixture, got bytes"),
    "a number": (5, "fixtures: expected answers, a path or fixtures, got the number 5"),
}


@pytest.mark.parametrize(("given", "expected"), WRONG_SOURCES.values(), ids=WRONG_SOURCES.keys())
def test_no_fixture(given, expected):
    """
    A value of another type is rejected at once.
    """
    with pytest.raises(TypeError) as caught:
        fixtures_of(mock.form, given)

    assert expected == str(caught.value)


PATTERNS = {
    "(?i)(?:a|b)": re.compile("(?:a|b)", re.IGNORECASE),
    "(?s)(?=a).": re.compile("(?=a).", re.DOTALL),
    "(?im)^a": re.compile("(?i)^a", re.MULTILINE),
    "(?ia)a": re.compile("(?ia)a"),
    "(?:a|b)": re.compile("(?:a|b)"),
}


@pytest.mark.parametrize(("written", "pattern"), PATTERNS.items(), ids=PATTERNS)
def test_the_flags_of_a_pattern(written, pattern):
    """
    They are written in front of it, also of one that begins with a group.
    """
    document_ = fixture_document([Fixture(match=Match(user_text=pattern), answers=[Answer(steps=[HI])])])
    (again,) = load_fixtures(document_)

    assert {"matches": written} == document_["fixtures"][0]["match"]["user_text"]
    assert pattern.flags == again.match.user_text.flags


def test_there_and_back():
    """
    What is written as a document is read as equal fixtures.
    """
    fixtures = Fixtures(
        [
            FIXTURE,
            Fixture(
                match=Match(
                    user_text=re.compile("^h", re.IGNORECASE),
                    model=re.compile("(?i)flash"),
                    system=("a", Contains("b")),
                    turn=2,
                    conversation=False,
                ),
                answers=(
                    Answer(
                        http_error=HttpError(status=429, code=429, message="later", headers=(("retry-after", "1"),))
                    ),
                    Answer(stream_error=StreamError(after=2), timing=Timing(waits_s=(0.5,)), faults=("no-usage",)),
                    Answer(),
                    Answer(steps=[HI], more={"service_tier": "flex"}, usage={"total_tokens": 1}, polls_in_progress=1),
                ),
                repeat_last=False,
            ),
        ]
    )

    written = fixture_document(fixtures)
    again = load_fixtures(json.loads(json.dumps(written)))

    # A pattern with a flag is written with the flag inside of it.
    assert {"matches": "(?i)^h"} == written["fixtures"][1]["match"]["user_text"]
    assert fixtures.fixtures[0] == again.fixtures[0]
    assert fixtures.fixtures[1].answers == again.fixtures[1].answers
    assert written == fixture_document(again)
    assert not again.fixtures[1].repeat_last


EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "mock"
ASKED = {
    "conversation": ["Hello there", "anything"],
    "failures": ["Are you busy?", "Count to five.", "Break off.", "Tell me everything.", "Take your time."],
    "research": ["Write a novel."],
    "aimock": ["Please order a pizza", "Is it sold out?"],
}


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.json")))
def test_examples(name):
    """
    The examples are files without a slip, and each prompt in them finds its own fixture.
    """
    fixtures = load_fixtures(EXAMPLES / f"{name}.json")
    places = [fixtures.find(read_request({"model": "gemini-3.6-flash", "input": text})) for text in ASKED[name]]

    assert () == fixtures.left_out
    assert None not in places
    assert len(places) == len(set(places))
