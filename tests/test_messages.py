"""
What messages, calls and transcripts offer beside their fields, and what `redact` takes away.
"""

import pickle
from asyncio import CancelledError
from datetime import date, datetime
from decimal import Decimal

import attrs
import pytest

from assistant_events import (
    AssistantMessage,
    CallStatus,
    CompactionFailed,
    CompactionMessage,
    ErrorInfo,
    FinishReason,
    JsonContent,
    JsonObject,
    MediaContent,
    MediaEnded,
    MediaPart,
    MessageStatus,
    OpaquePart,
    OpaqueReceived,
    PromptSubmitted,
    ReasoningEnded,
    ReasoningPart,
    StepEnded,
    StepFailed,
    StepStarted,
    TextContent,
    TextEnded,
    TextPart,
    ToolCalled,
    ToolFailed,
    ToolInputEnded,
    ToolPart,
    ToolProgress,
    ToolStarted,
    ToolSuccess,
    Transcript,
    UnknownEvent,
    Usage,
    UserMessage,
    fold,
    redact,
)
from assistant_events.errors import LocalProtocolError, RemoteProtocolError
from assistant_events.messages import (
    MESSAGE_CLASSES,
    PART_CLASSES,
    AnswerError,
    PartStatus,
    Times,
    Turn,
    Unfinished,
    close_message,
)
from assistant_events.testing import (
    Call,
    answer,
    compaction,
    deltas,
    error,
    message,
    origin,
    prompt,
    records,
    rewind,
    run,
)

C = {"message_id": "a1", "call_id": "c1"}


def call(**fields):
    """
    A call of the app that waits for its answer.
    """
    return ToolPart(**{**C, "name": "search", "status": "called", "input": JsonObject({"city": ["Oslo"]}), **fields})


def test_texts_of_an_answer():
    """
    Text and reasoning are joined over all their parts.
    """
    events = answer("one", reasoning="r")
    answered = message([*events[:-1], *answer(" two", reasoning=" s")[1:]])

    assert ("one two", "r s") == (answered.text, answered.reasoning)


def test_text_of_a_prompt():
    """
    Texts are joined, JSON is written out, media have no text.
    """
    content = ["see ", JsonContent({"a": 1}), MediaContent(media_type="image/png", data=b"x"), TextContent("!")]

    assert 'see {"a":1}!' == fold([prompt(content)]).last.text


def test_media_of_an_answer():
    """
    Media are the parts that are media.
    """
    assert () == message(answer("Hi")).media


@pytest.mark.parametrize(
    ("events", "pending"),
    [
        pytest.param(answer(calls=[Call("t", call_id="c1")]), ["c1"], id="waiting"),
        pytest.param(answer(calls=[Call("t", call_id="c1", output=1)]), [], id="answered"),
        pytest.param(answer(calls=[Call("t", "{", call_id="c1")]), [], id="invalid"),
        pytest.param(answer(calls=[Call("t", call_id="c1", output=1, provider_executed=True)]), [], id="hosted"),
    ],
)
def test_pending_calls(events, pending):
    """
    Calls that the app still has to answer, in the message and in the transcript.
    """
    assert pending == [each.call_id for each in message(events).pending_tool_calls]
    assert pending == [each.call_id for each in fold([prompt(), *compaction(), *events]).pending_tool_calls]


def test_calls_of_a_failed_step_are_not_pending():
    """
    A call that a failed step left open is not to be run.
    """
    events = answer(calls=[Call("t", call_id="c1")])
    failed = [*events[:-1], *close_message(message(events[:-1]), error())]
    failed = [event for event in failed if not isinstance(event, ToolFailed)]

    assert () == message(failed).pending_tool_calls


def test_arguments_are_fresh():
    """
    Arguments are plain Python that the tool may change.
    """
    part = call()
    part.arguments["city"].append("Bergen")

    assert {"city": ["Oslo"]} == part.arguments
    assert {} == call(input=JsonObject()).arguments


def test_a_call_without_input_has_no_arguments():
    """
    A call whose input is not an object cannot be run.
    """
    with pytest.raises(LocalProtocolError, match=r"^call 'c1' has no input: it is failed$"):
        _ = call(status="failed", input=None).arguments


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({}, (True, False, False), id="called"),
        pytest.param({"status": "streaming", "input": None}, (False, False, False), id="streaming"),
        pytest.param({"status": "success"}, (False, True, True), id="success"),
        pytest.param({"status": "failed", "error": error("tool")}, (False, True, True), id="failed"),
        pytest.param({"status": "failed", "error": error("interrupted")}, (False, True, False), id="cut"),
        pytest.param({"status": "failed", "input": None, "error": error()}, (False, True, False), id="no input"),
        pytest.param({"provider_executed": True}, (False, False, False), id="hosted"),
        pytest.param({"provider_executed": True, "status": "success"}, (False, True, False), id="hosted, answered"),
    ],
)
def test_what_a_call_waits_for(fields, expected):
    """
    A call is pending, settled, answered by the app, or none of these.
    """
    part = call(**fields)

    assert expected == (part.pending, part.settled, part.answered)


def test_succeed():
    """
    A call builds the event of its answer.
    """
    assert ToolSuccess(**C, output="sunny", state={"s": 1}) == call().succeed("sunny", state={"s": 1})
    assert call(provider_executed=True).succeed().provider_executed


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        ("no", ErrorInfo(kind="tool", message="no")),
        (error("tool-denied"), error("tool-denied")),
        (ValueError("no such city"), ErrorInfo(kind="tool", message="ValueError: no such city")),
        (KeyError(), ErrorInfo(kind="tool", message="KeyError")),
        (CancelledError(), ErrorInfo(kind="tool", message="CancelledError")),
        (
            OSError("refused: https://me:pass@a.example/b?key=1234567890"),
            ErrorInfo(kind="tool", message="OSError: refused: https://a.example/b?…"),
        ),
        (ValueError("x" * 900), ErrorInfo(kind="tool", message=f"ValueError: {'x' * 487}…")),
    ],
    ids=["text", "error", "exception", "without a text", "cancelled", "credentials", "long"],
)
def test_fail(cause, expected):
    """
    A call builds the event of its failure; a text or an exception is an error of kind `tool`, without credentials.
    """
    assert ToolFailed(**C, error=expected, output="half") == call().fail(cause, output="half")


def test_fail_refuses_other_values():
    """
    Anything but an error is refused by the event.
    """
    with pytest.raises(TypeError, match=r"^ToolFailed.error: expected ErrorInfo, got int$"):
        call().fail(3)


def test_progress():
    """
    A call builds the live event of what it has so far.
    """
    assert ToolProgress(**C, output=[1, 2]) == call().progress([1, 2])
    assert ToolProgress(**C, output="1.5") == call().progress(Decimal("1.5"), default=str)


def test_output_that_is_not_json():
    """
    With a default a call takes what is not JSON; without one it is refused with its path.
    """
    day = {"day": date(2026, 1, 2)}

    assert ToolSuccess(**C, output={"day": "2026-01-02"}) == call().succeed(day, default=str)
    assert {"day": "2026-01-02"} == call().fail("late", output=day, default=str).output[0].value
    with pytest.raises(TypeError, match=r"^\$\.day: expected JSON, got date$"):
        call().succeed(day)


def test_usage_of_a_transcript():
    """
    The tokens of all messages that are there are added, also of failed ones; rewound and unknown ones add nothing.
    """
    events = [
        prompt(),
        *answer("a", usage=Usage(input_tokens=1, output_tokens=2)),
        *answer("b", message_id="a2"),
        *answer("c", message_id="a3", usage=Usage(input_tokens=10), error=error()),
    ]
    rewound = [*answer("d", message_id="a4", usage=Usage(input_tokens=100)), rewind("a4")]

    assert Usage(input_tokens=11, output_tokens=2) == fold([*events, *rewound]).usage
    assert fold(answer("b")).usage is None


def test_raise_for_error():
    """
    A failed message raises its error, with the message; any other is returned.
    """
    failed = message(answer("Hel", error=error("overloaded", "try later")))
    whole = message(answer("Hello"))
    running = message(answer("Hello")[:-1])

    assert whole is whole.raise_for_error()
    assert running is running.raise_for_error()
    with pytest.raises(AnswerError, match=r"^overloaded: try later$") as caught:
        failed.raise_for_error()
    for raised in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert (failed, failed.error, "overloaded") == (raised.answer, raised.error, raised.kind)
        assert isinstance(raised, RemoteProtocolError)


def test_a_transcript_is_a_sequence_of_messages():
    """
    Messages are counted, walked, and found by their id.
    """
    transcript = fold([prompt(), *answer("Hi")])

    assert (2, ["u1", "a1"]) == (len(transcript), [each.id for each in transcript])
    assert transcript.last is transcript["a1"]
    assert ("u1" in transcript, "x" in transcript) == (True, False)
    with pytest.raises(KeyError, match="x"):
        _ = transcript["x"]
    assert transcript["a1"] is transcript.answer("a1")
    with pytest.raises(KeyError, match="'x': expected an assistant message, found no message"):
        transcript.answer("x")
    with pytest.raises(KeyError, match="'u1': expected an assistant message, found a user message"):
        transcript.answer("u1")
    assert Transcript().last is None


def test_turns():
    """
    A turn is everything from one prompt to the next; the messages before the first one have no prompt.
    """
    events = [*answer("a", message_id="a0"), prompt(), *answer("b"), *compaction(), prompt(message_id="u2")]
    transcript = fold(events)
    first, user, reply, summary, again = transcript

    assert (
        Turn(prompt=None, messages=(first,)),
        Turn(prompt=user, messages=(reply, summary)),
        Turn(prompt=again, messages=()),
    ) == transcript.turns()
    assert () == Transcript().turns()


def test_context_without_a_compaction():
    """
    Without a completed summary a model sees everything.
    """
    transcript = fold([prompt(), *compaction()[:2], *answer("Hi")])

    assert transcript.messages == transcript.context()


def test_the_text_of_an_input_is_compared_where_it_is_not_an_object():
    """
    Spaces in the input of a call make no difference; of an input that is not an object the text is compared.
    """
    called = {"name": "n", "status": "called", "input": JsonObject({"a": 1})}
    one, other = [ToolPart(**C, **called, raw_input=raw) for raw in ('{"a":1}', '{"a" : 1}')]
    failed, otherwise = [ToolPart(**C, name="n", status="failed", raw_input=raw) for raw in ("{", "[")]

    assert (one, hash(one)) == (other, hash(other))
    assert failed != otherwise


def test_only_what_runs_is_closed():
    """
    A message that is over needs no closing, and parts that are over are left alone.
    """
    running = message(answer("Hi", reasoning="Hm")[:-1])

    assert [] == close_message(message(answer("Hi")), error())
    assert ["step.failed"] == [event.type for event in close_message(running, error())]
    assert [] == close_message(CompactionMessage(id="c1", reason="auto", status="completed"), error())


def test_what_runs_is_cut_where_it_stands():
    """
    Every open fragment ends incomplete with what had come, every open call fails as interrupted, then the step fails.
    """
    streaming = {"status": "streaming"}
    parts = [
        TextPart(text="He", **streaming),
        ReasoningPart(text="Hm", **streaming),
        MediaPart(media_type="a/b", data=b"x", **streaming),
        ToolPart(**C, name="n", raw_input="{", input_status="streaming", **streaming),
        TextPart(text="Hi", status="completed"),
        OpaquePart(),
    ]
    running = AssistantMessage(id="a1", origin=origin(), parts=parts)

    *ends, call_failed, step_failed = close_message(running, error())

    assert [
        TextEnded(message_id="a1", text="He", complete=False),
        ReasoningEnded(message_id="a1", text="Hm", complete=False),
        MediaEnded(message_id="a1", media_type="a/b", data=b"x", complete=False),
        ToolInputEnded(**C, text="{", complete=False),
    ] == ends
    assert ("c1", "interrupted") == (call_failed.call_id, call_failed.error.kind)
    assert StepFailed(message_id="a1", error=error()) == step_failed


def test_a_summary_that_runs_is_closed():
    """
    A summary that was not finished has failed.
    """
    running = CompactionMessage(id="c1", reason="auto")

    assert [CompactionFailed(message_id="c1", error=error())] == close_message(running, error())


def test_context_is_cut_at_the_last_summary():
    """
    A model sees the last completed summary and what began after it; one that runs or has failed cuts nothing.
    """
    failed = [*compaction(message_id="c2")[:1], CompactionFailed(message_id="c2", error=error())]
    events = [prompt(), *compaction(), *answer("Hi"), *failed, *compaction(message_id="c3")[:1]]

    assert ["c1"] == [each.id for each in fold(events[: 1 + len(compaction())]).context()]
    assert ["c1", "a1", "c2", "c3", "u2"] == [each.id for each in fold([*events, prompt(message_id="u2")]).context()]


def test_turns_of_a_transcript_that_begins_with_a_prompt():
    """
    Without messages before the first prompt, every turn has a prompt.
    """
    first, second = fold([prompt(), prompt(message_id="u2")]).turns()

    assert ("u1", (), "u2", ()) == (first.prompt.id, first.messages, second.prompt.id, second.messages)


# -- redact


SECRET = {"signature": "secret"}


def test_redacted_events():
    """
    State, run and unknown fields are left out of events; the rest stays.
    """
    start = StepStarted(message_id="a1", origin=origin(), run=run(), state=SECRET, extra={"new": 1})
    end = StepEnded(message_id="a1", finish_reason="stop", run=run(), state=SECRET)

    assert StepStarted(message_id="a1", origin=origin()) == redact(start)
    assert StepEnded(message_id="a1", finish_reason="stop") == redact(end)
    assert TextEnded(message_id="a1", text="Hi") == redact(TextEnded(message_id="a1", text="Hi", state=SECRET))
    assert ToolCalled(**C, name="t", input={}) == redact(ToolCalled(**C, name="t", input={}, state=SECRET))
    assert OpaqueReceived(message_id="a1") == redact(OpaqueReceived(message_id="a1", state=SECRET))
    assert deltas("Hi") == [redact(delta) for delta in deltas("Hi")]
    assert prompt() == redact(PromptSubmitted(message_id="u1", content="hi", extra={"new": 1}))


def test_redacted_unknown_events():
    """
    Of an event of a newer version only its type, version and message stay.
    """
    event = UnknownEvent(type="new", version=2, data={"type": "new", "v": 2, "message_id": "a1", "state": SECRET})

    assert {"type": "new", "v": 2, "message_id": "a1"} == redact(event).data


@pytest.mark.parametrize("message_id", [{"deep": [1]}, SECRET], ids=["plain", "a state"])
def test_redact_what_is_no_message_id(message_id):
    """
    Another value than a text under its name is not one, and may hold anything, also more levels than a state.
    """
    document = {"type": "new", "message_id": message_id}

    assert {"type": "new"} == redact(UnknownEvent(type="new", version=1, data=document)).data


def test_redacted_records():
    """
    A redacted record keeps its `seq`; its event is redacted, its `meta` removed.
    """
    (record,) = records([TextEnded(message_id="a1", text="Hi", state=SECRET)], meta={"user": 1})

    assert (TextEnded(message_id="a1", text="Hi"), 1, {}) == (
        redact(record).event,
        redact(record).seq,
        redact(record).meta,
    )


def test_redacted_transcripts():
    """
    No message has a state or a run, and an opaque part stays at its place, empty.
    """
    hosted = Call("t", output="x", provider_executed=True, state=SECRET, result_state=SECRET)
    states = {"run": run(), "state": SECRET, "text_state": SECRET, "reasoning_state": SECRET}
    full = answer("Hi", reasoning="Hm", calls=[hosted], finish_reason="stop", **states)
    full.insert(1, OpaqueReceived(message_id="a1", state=SECRET))
    bare = answer("Hi", reasoning="Hm", calls=[attrs.evolve(hosted, state={}, result_state={})], finish_reason="stop")
    bare.insert(1, OpaqueReceived(message_id="a1"))

    assert fold([prompt(), *bare, *compaction()]) == redact(fold([prompt(), *full, *compaction()]))


def test_redacted_values():
    """
    Unknown fields go at every depth, details stay.
    """
    usage = Usage(input_tokens=1, details={"tier": 1}, extra={"new": 1})
    end = StepEnded(message_id="a1", finish_reason="stop", usage=usage, details={"tier": 1})
    expected = StepEnded(
        message_id="a1", finish_reason="stop", usage=Usage(input_tokens=1, details={"tier": 1}), details={"tier": 1}
    )

    assert {} == redact(end).usage.extra
    assert expected == redact(end)


def test_what_cannot_be_redacted():
    """
    Anything else is a mistake.
    """
    with pytest.raises(TypeError, match="expected an event, record, frame, part, message or transcript, got dict"):
        redact({})


# -- what constructors take and refuse


A = {"id": "a1", "origin": origin()}
U = {"message_id": "a1", "awaits": "tools"}
PART = {"text": "", "status": "completed"}
NAIVE = datetime(2026, 1, 2)  # noqa: DTZ001 - a moment without a time zone, to be refused
WRONG = [
    (TextPart, {**PART, "text": 1}, TypeError, "TextPart.text: expected str, got int"),
    (TextPart, {**PART, "status": "done"}, ValueError, "'done' is not a valid PartStatus"),
    (TextPart, {**PART, "citations": [1]}, TypeError, "citations[0]: expected a Citation, got int"),
    (TextPart, {**PART, "state": 1}, TypeError, "state: expected a JSON object, got int"),
    (
        MediaPart,
        {"media_type": "", "status": "completed"},
        ValueError,
        "MediaPart.media_type: expected a non-empty string",
    ),
    (ToolPart, {**C, "name": "", "status": "called"}, ValueError, "ToolPart.name: expected a non-empty string"),
    (ToolPart, {**C, "name": "n", "status": "done"}, ValueError, "'done' is not a valid CallStatus"),
    (
        ToolPart,
        {**C, "name": "n", "status": "called", "input": {}},
        TypeError,
        "ToolPart.input: expected JsonObject or None, got dict",
    ),
    (
        ToolPart,
        {**C, "name": "n", "status": "called", "raw_input": None},
        TypeError,
        "ToolPart.raw_input: expected str, got NoneType",
    ),
    (UserMessage, {"id": "", "content": ""}, ValueError, "UserMessage.id: expected a non-empty string"),
    (UserMessage, {"id": "u", "content": object()}, TypeError, "$: expected JSON, got object"),
    (AssistantMessage, {**A, "origin": None}, TypeError, "AssistantMessage.origin: expected Origin, got NoneType"),
    (AssistantMessage, {**A, "parts": [1]}, TypeError, "parts[0]: expected a part, got int"),
    (AssistantMessage, {**A, "parts": "x"}, TypeError, "parts: expected an iterable, got str"),
    (AssistantMessage, {**A, "usage": {}}, TypeError, "AssistantMessage.usage: expected Usage or None, got dict"),
    (AssistantMessage, {**A, "status": "done"}, ValueError, "'done' is not a valid MessageStatus"),
    (
        CompactionMessage,
        {"id": "c", "reason": "why"},
        ValueError,
        "CompactionMessage.reason: expected one of auto, manual; got 'why'",
    ),
    (Times, {"started": "now"}, TypeError, "Times.started: expected datetime, got str"),
    (Times, {"ended": NAIVE}, ValueError, "Times.ended: expected a datetime in UTC"),
    (Transcript, {"messages": [1]}, TypeError, "messages[0]: expected a message, got int"),
    (Transcript, {"seq": -1}, ValueError, "Transcript.seq: expected 0 or more, got -1"),
    (Transcript, {"rewound": "abc"}, TypeError, "rewound: expected an iterable, got str"),
    (Transcript, {"rewound": [1]}, TypeError, "rewound[0]: expected a str, got int"),
    (Unfinished, {**U, "message_id": ""}, ValueError, "Unfinished.message_id: expected a non-empty string"),
    (Unfinished, {**U, "call_id": 1}, TypeError, "Unfinished.call_id: expected str, got int"),
    (Unfinished, {**U, "run": "r1"}, TypeError, "Unfinished.run: expected RemoteRun or None, got str"),
    (Unfinished, {**U, "awaits": "all"}, ValueError, "'all' is not a valid Awaits"),
]


@pytest.mark.parametrize(
    ("cls", "fields", "refusal", "text"), WRONG, ids=[f"{cls.__name__} {text}" for cls, _, _, text in WRONG]
)
def test_what_constructors_refuse(cls, fields, refusal, text):
    """
    A constructor refuses an invalid argument with its name, the expected and the actual type.
    """
    with pytest.raises(refusal) as refused:
        cls(**fields)

    assert text == str(refused.value)


def test_statuses_are_words():
    """
    A status is an enum or its word.
    """
    assert PartStatus.COMPLETED is TextPart(**PART).status
    assert CallStatus.CALLED is call().status
    assert MessageStatus.RUNNING is AssistantMessage(**A).status
    assert FinishReason.STOP is AssistantMessage(**A, finish_reason="stop").finish_reason


def test_texts_of_messages_are_valid():
    """
    Wherever a message has text, it is valid Unicode.
    """
    half = "a\ud83d"

    assert {"a\ufffd"} == {
        TextPart(text=half, status="completed").text,
        call(raw_input=half).raw_input,
        CompactionMessage(id="c", reason="auto", text=half).text,
        AssistantMessage(**A, raw_finish_reason=half).raw_finish_reason,
        UserMessage(id="u", content=half).text,
    }


def test_types_of_messages_and_parts():
    """
    Messages and parts have a type by name.
    """
    assert ["text", "reasoning", "media", "tool", "opaque"] == [cls.type for cls in PART_CLASSES]
    assert ["user", "assistant", "compaction"] == [cls.type for cls in MESSAGE_CLASSES]


def test_an_empty_transcript():
    """
    An empty transcript has no messages, and its `seq` is 0.
    """
    empty = Transcript()

    assert ((), 0, frozenset()) == (empty.messages, empty.seq, empty.rewound)


@pytest.mark.parametrize(
    ("known", "done"),
    [({"approval": "approved"}, "approved"), ({"attempt": 1}, "started")],
    ids=["approved", "started"],
)
def test_a_call_that_may_run_is_not_denied(known, done):
    """
    The model would read that it was denied while it runs; it is stopped, or answered with what it did.
    """
    [call] = fold(answer(calls=[Call("pay", {})])).last.pending_tool_calls

    assert "tool-denied" == attrs.evolve(call, approval="requested").deny().error.kind
    with pytest.raises(LocalProtocolError, match=f"cannot be denied: it was {done}"):
        attrs.evolve(call, **known).deny()


def test_closing_a_message_with_a_started_call():
    """
    The call fails with the message: nothing else will end it.
    """
    events = [*answer(calls=[Call("pay", {})])][:-1]
    [call] = fold(events).last.tool_calls
    running = fold([*events, ToolStarted(message_id="a1", call_id=call.call_id, attempt=1)]).last

    assert ["tool.failed", "step.failed"] == [event.type for event in close_message(running, error())]
