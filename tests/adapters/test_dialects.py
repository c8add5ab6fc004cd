"""
What must hold for every adapter, on every shape of every wire: all samples of a dialect at once.
"""

import json

import pytest

from assistant_events import FinishReason, Origin, Transcript, UserMessage, fold
from assistant_events.adapters import detect_dialect, dialect_names, load_dialect
from assistant_events.recorder import Recorder
from assistant_events.testing import Call, answer, check_adapter
from assistant_events.testing.sample import Sample
from assistant_events.values import ErrorInfo
from tests.fuzz.seeds import samples

from .bedrock_converse.notation import REQUEST
from .notation import THOROUGH
from .reading import emitted_by

REQUESTS = {"bedrock-converse": REQUEST}

SHORT = {"bedrock-converse": 300}
"""Size up to which a sample is cut at every byte, 600 by default: frames with checksums are longer."""

PARTS = 3
"""Into how many tests the samples of a dialect are divided, for machines that are busy with other work."""


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", dialect_names())
def test_samples_hold_what_every_adapter_must(name, part):
    """
    Every sample is legal, cut and joined anywhere, survives damage, loses nothing, and is sent and written again.
    """
    bodies = {each: sample.body for each, sample in [*samples(name).items()][part::PARTS]}
    every_position = 4096 if THOROUGH else SHORT.get(name, 600)
    check_adapter(load_dialect(name), bodies, request=REQUESTS.get(name), mutations=20, every_position=every_position)


@pytest.mark.parametrize("name", dialect_names())
def test_no_frame_is_taken_for_one_of_another_dialect(name):
    """
    Nor does `detect` of a dialect know any frame of the samples of the others.
    """
    others = [load_dialect(each) for each in dialect_names() if each != name]
    for sample in samples(name).values():
        for document in filter(None, [frame.document for frame in Sample(load_dialect(name), "", sample.body).frames]):
            assert [] == [other.name for other in others if other.detect(document)], document


@pytest.mark.parametrize("name", dialect_names())
def test_a_document_is_known_as_one_of_its_dialect(name):
    """
    So are those of answers that failed.
    """
    dialect = load_dialect(name)
    for sample in samples(name).values():
        message = fold(Sample(dialect, "", sample.body).events).last
        document = None if message is None else json.loads(json.dumps(dialect.emit_resource(message)))
        assert document is None or dialect is detect_dialect([document]), document


@pytest.mark.parametrize("name", dialect_names())
def test_a_document_has_no_state_of_another_dialect(name):
    """
    State is for its own provider: documents of an answer of another one have none of it, in no part.
    """
    state = {"seal": "sealed"}
    events = answer(
        "Hello",
        reasoning="Hm",
        calls=[Call("weather", {}, state=state)],
        origin=Origin(provider="acme", model="acme-1", dialect="acme-chat"),
        state=state,
        text_state=state,
        reasoning_state=state,
    )
    document = json.dumps(load_dialect(name).emit_resource(fold(events).last))
    assert "weather" in document
    assert "seal" not in document


def items_of(dialect, conversation):
    """
    Return what a full request has of a conversation, by the role of its messages where they are joined.
    """
    body = dialect.encoder(conversation, REQUESTS.get(dialect.name, {"model": "m"}), mode="full").body
    found = []
    for item in body.get("messages") or body.get("input") or body.get("contents") or ():
        content = item.get("content", item.get("parts"))
        found += [(item.get("role"), each) for each in content] if isinstance(content, list) else [item]
    return found


@pytest.mark.parametrize("name", dialect_names())
def test_a_request_begins_with_the_one_before(name):
    """
    What was sent stays as it was when the conversation grows: newer models of Claude and GPT bind thoughts to it.
    """
    dialect, tried = load_dialect(name), 0
    asked, again, more = [UserMessage(id=f"u{number}", content="And?") for number in range(3)]
    for sample in samples(name).values():
        decoder = dialect.decoder("a1", request=REQUESTS.get(name))
        answers = list(fold(decoder.feed(sample.body) + decoder.close()).messages)
        for at, message in enumerate(answers):
            results = [call.succeed("4") for call in message.tool_calls if not (call.provider_executed or call.settled)]
            answers[at] = fold(results, start=Transcript(messages=(message,))).last
        next_one = fold(answer("So.", message_id="a0", origin=answers[-1].origin)).last
        continues = answers[-1].finish_reason == "tool-calls" or answers[-1].status == "failed"
        for prompts in [[again], *([[]] if continues else [])]:
            conversation, tried = [asked, *answers, *prompts], tried + 1
            before, later = items_of(dialect, conversation), items_of(dialect, [*conversation, next_one, more])
            assert before == later[: len(before)]
            assert "So." in str(later[len(before)])

    assert tried > 20


FREE_TEXT = load_dialect("openai-responses").decode_resource(
    {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "model": "gpt-5.6",
        "output": [{"id": "ctc_1", "type": "custom_tool_call", "call_id": "c1", "name": "sql", "input": "SELECT 1"}],
    },
    "a1",
)


@pytest.mark.parametrize("name", [each for each in dialect_names() if each != "openai-responses"])
def test_a_call_with_free_text_is_written_as_json(name):
    """
    Other wires have the text in the object that the app has got: their clients read no call from a text alone.
    """
    dialect, message = load_dialect(name), fold(FREE_TEXT).last
    _, _, events = emitted_by(dialect, FREE_TEXT)
    document = dialect.decode_resource(dialect.emit_resource(message), "a1")

    for found in (events, document):
        [call] = fold(found).last.tool_calls
        assert ("called", {"input": "SELECT 1"}) == (call.status, call.arguments)


ERRORS = {
    "anthropic-messages": {"type": "error", "error": {"type": "overloaded_error", "message": "Later."}},
    "bedrock-converse": {"throttlingException": {"message": "Later."}},
    "openai-responses": {"type": "error", "code": "rate_limit_exceeded", "message": "Later.", "sequence_number": 0},
}


@pytest.mark.parametrize("source", ERRORS)
@pytest.mark.parametrize("name", dialect_names())
def test_an_error_of_another_wire_is_written_with_a_known_code(name, source):
    """
    Its kind, and whether to try again, are what clients go by; the code of another wire means nothing to them.
    """
    decoder = load_dialect(source).decoder("a1")
    given = decoder.feed_event(ERRORS[source]) + decoder.close()
    _, _, events = emitted_by(load_dialect(name), given)
    expected, found = given[-1].error, events[-1].error

    assert (expected.kind, "Later.", True) == (found.kind, found.message, found.retryable)


@pytest.mark.parametrize("output", [(), "half of it"], ids=["nothing", "an output"])
@pytest.mark.parametrize("name", ["anthropic-messages", "bedrock-converse", "gemini-interactions", "openai-responses"])
def test_a_failed_tool_of_another_provider_has_failed(name, output):
    """
    Where a wire has a mark for a result that failed, a failure of another provider has it, with its text.
    """
    fault = ErrorInfo(kind="tool", message="no hits")
    call = Call("look_up", {}, output=output, error=fault, provider_executed=True)
    given = answer(calls=[call], origin=Origin(provider="acme", dialect="acme-chat"))
    _, body, events = emitted_by(load_dialect(name), given)
    document = load_dialect(name).emit_resource(fold(given).last)

    assert ["failed", "failed"] == [
        fold(found).last.tool_calls[0].status for found in (events, load_dialect(name).decode_resource(document, "a1"))
    ]
    assert (output or "no hits") in body.decode(errors="replace")


@pytest.mark.parametrize("name", ["gemini-generate-content", "openai-chat"])
def test_a_failed_tool_on_a_wire_without_a_mark(name):
    """
    Why it failed is its output: an empty one would be an answer.
    """
    call = Call("look_up", {}, error=ErrorInfo(kind="tool", message="no hits"), provider_executed=True)
    given = answer(calls=[call], origin=Origin(provider="acme", dialect="acme-chat"))
    _, _, events = emitted_by(load_dialect(name), given)
    document = load_dialect(name).emit_resource(fold(given).last)
    read = [fold(found).last for found in (events, load_dialect(name).decode_resource(document, "a1"))]

    assert [True, True] == ["no hits" in str(found.tool_calls[0].output) for found in read]


@pytest.mark.parametrize("name", dialect_names())
@pytest.mark.parametrize("given", ["[1]", '{"a": "Fra'], ids=["array", "cut"])
def test_a_document_with_a_call_that_has_no_object(given, name):
    """
    No client runs it with an empty input: it is left out where the wire has no form for a text.
    """
    calls = [Call("g", {"b": 1}), Call("f", given)]
    whole = fold(answer("Hm", calls=calls, origin=Origin(provider="acme", dialect="acme-chat"))).last
    found = fold(load_dialect(name).decode_resource(load_dialect(name).emit_resource(whole), "a1")).last

    assert {"g": {"b": 1}} == {call.name: call.input for call in found.tool_calls if call.input is not None}


@pytest.mark.parametrize("name", dialect_names())
@pytest.mark.parametrize("text", ["", '{"q'])
@pytest.mark.parametrize("is_hosted", [False, True])
def test_a_document_without_a_call_that_was_cut(is_hosted, text, name):
    """
    Clients run a call whose input has not begun with an empty one, and do not look at its status.
    """
    given, dialect = [], load_dialect(name)
    recorder = Recorder("a1", sink=given)
    recorder.start(Origin(provider="acme", dialect="acme-chat"))
    recorder.text("Hm")
    recorder.tool_input("s1", "search", text, provider_executed=is_hosted)
    running = fold(given).last
    recorder.end_tool_input("s1", complete=False)
    recorder.finish("length")
    found = [
        fold(dialect.decode_resource(dialect.emit_resource(each), "a1")).last for each in (running, fold(given).last)
    ]

    assert [("Hm", ()), ("Hm", ())] == [(each.text, each.tool_calls) for each in found]


@pytest.mark.parametrize("name", dialect_names())
@pytest.mark.parametrize("is_hosted", [False, True])
def test_a_stream_without_a_call_that_was_cut_before_its_input(is_hosted, name):
    """
    It is not written, and reported: the AI SDK ends the calls of a Chat stream itself, and runs it with an empty input.
    """
    given = []
    recorder = Recorder("a1", sink=given)
    recorder.start(Origin(provider="acme", dialect="acme-chat"))
    recorder.text("Hm")
    recorder.end_text()
    recorder.tool_input("s1", "search", "", provider_executed=is_hosted)
    recorder.end_tool_input("s1", complete=False)
    recorder.finish("length")
    drops, body, found = emitted_by(load_dialect(name), given)

    assert b"search" not in body
    assert ("Hm", ()) == (fold(found).last.text, fold(found).last.tool_calls)
    assert (1, "unplaced") in [(drop.part, drop.reason) for drop in drops]


@pytest.mark.parametrize("name", dialect_names())
def test_an_end_without_a_word_of_the_wire(name):
    """
    An answer that an app has made without the word of the wire is written with the one that means its reason.
    """
    found = load_dialect(name)
    events = answer("Hello", origin=Origin(provider="acme", model="m", dialect=name))
    emitter, decoder = found.emitter(), found.decoder("a1")
    frames = [frame for event in events for frame in emitter.emit(event)] + emitter.close()
    read = [event for frame in frames for event in decoder.feed(emitter.to_bytes(frame))] + decoder.close()
    document = found.decode_resource(found.emit_resource(fold(events).last), "a1")

    assert [FinishReason.STOP] * 2 == [fold(each).last.finish_reason for each in (read, document)]
