"""
Official clients and answers that need several requests: which of them continue, and how.
"""

import pytest

from tests.official.client import JAVASCRIPT, PYTHON

MODEL = "gemini-4-argon"
TOKEN = "dG9rZW4x"
USAGE = {"total_tokens": 30, "total_input_tokens": 10, "total_output_tokens": 20}


@pytest.fixture(params=[*[driver for driver in PYTHON if driver[1] != "2.19"], *JAVASCRIPT], ids="-".join)
def client(request):
    """
    A function that returns a client that continues by itself.
    """
    driver, *version = request.param
    return lambda mock: request.getfixturevalue(driver)(*version, mock.url)


@pytest.fixture
def mock(provider):
    """
    A provider whose answer needs two requests.
    """
    halves = [
        {"text": "First half, ", "continuation_token": TOKEN, "usage": USAGE},
        {"text": "second half.", "usage": USAGE},
    ]
    return provider({"Write": halves})


def test_a_stream_goes_on(client, mock):
    """
    One stream of the client is two of the provider, each with its own beginning and end.
    """
    events = client(mock).stream(model=MODEL, input="Write")
    ends = [each["interaction"] for each in events if each["event_type"] == "interaction.completed"]
    texts = [each["delta"]["text"] for each in events if each["event_type"] == "step.delta"]

    assert "First half, second half." == "".join(texts)
    assert ["requires_continuation", "completed"] == [each["status"] for each in ends]
    assert TOKEN == ends[0]["continuation_token"]
    assert 2 == len({each["id"] for each in ends})


def test_what_the_second_request_says(client, mock):
    """
    The second request has the token and the first id, and no input.
    """
    events = client(mock).stream(model=MODEL, input="Write")
    first = events[0]["interaction"]["id"]
    second = mock.requests[1].body

    assert (TOKEN, first) == (second["continuation_token"], second["previous_interaction_id"])
    assert "input" not in second


def test_a_resource_goes_on(client, mock):
    """
    The client joins the steps of both requests and adds their usage up.
    """
    found = client(mock).create(model=MODEL, input="Write")

    assert ("completed", "First half, second half.") == (found["status"], found["output_text"])
    assert (60, 40) == (found["usage"]["total_tokens"], found["usage"]["total_output_tokens"])
    assert 2 == len(found["continuation_ids"])


def test_going_on_without_a_store(client, mock):
    """
    An answer that is not stored continues with the same input, and without an id.
    """
    found = client(mock).create(model=MODEL, input="Write", store=False)
    second = mock.requests[1].body

    assert "First half, second half." == found["output_text"]
    assert (TOKEN, "Write") == (second["continuation_token"], second["input"])
    assert "previous_interaction_id" not in second


def test_not_going_on(client, mock):
    """
    A client with that option stops, and returns the token.
    """
    found = client(mock).create(model=MODEL, input="Write", automatic_continuation=False)

    assert ("requires_continuation", TOKEN) == (found["status"], found["continuation_token"])
    assert "First half, " == found["output_text"]
    assert 1 == len(mock.requests)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_client_that_does_not_go_on(google_genai, mock, mode):
    """
    To a client from before, the first half is an answer that ended in a way that it does not know.
    """
    found = google_genai("2.19", mode, mock.url).create(model=MODEL, input="Write")

    assert ("requires_continuation", "First half, ") == (found["status"], found["output_text"])
    assert 1 == len(mock.requests)
