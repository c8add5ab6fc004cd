"""
Every outcome of `reduce`, case by case: what happened before, what comes now, what becomes of it.
"""

import attrs
import pytest

from assistant_events import (
    CompactionDelta,
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    HistoryRewound,
    MediaDelta,
    MediaEnded,
    MediaStarted,
    OpaqueReceived,
    PromptSubmitted,
    ReasoningDelta,
    ReasoningEnded,
    ReasoningStarted,
    Record,
    StepEnded,
    StepFailed,
    StepRestarted,
    StepStarted,
    TextDelta,
    TextEnded,
    TextStarted,
    ToolApprovalRequested,
    ToolApproved,
    ToolCalled,
    ToolFailed,
    ToolInputDelta,
    ToolInputEnded,
    ToolInputStarted,
    ToolProgress,
    ToolStarted,
    ToolSuccess,
    Transcript,
    UnknownEvent,
    Usage,
    find_problems,
    fold,
    reduce,
)
from assistant_events.errors import LocalProtocolError
from assistant_events.testing import Clock, answer, error, origin, prompt, records, rewind, run

A = {"message_id": "a1"}
C = {"message_id": "a1", "call_id": "c1"}
K = {"message_id": "c1"}
PNG = {"message_id": "a1", "media_type": "image/png"}

START = StepStarted(**A, origin=origin())
END = StepEnded(
    **A, finish_reason="stop", raw_finish_reason="done", usage=Usage(output_tokens=3), run=run(), state={"s": 1}
)
FAIL = StepFailed(**A, error=error(), usage=Usage(output_tokens=3), state={"s": 1})
TEXT = [START, TextStarted(**A), TextDelta(**A, offset=0, delta="Hello")]
TEXT_END = TextEnded(**A, text="Hello", state={"s": 1})
TEXT_OVER = [*TEXT, TEXT_END]
REASONING = [START, ReasoningStarted(**A), ReasoningDelta(**A, offset=0, delta="Hmm")]
REASONING_END = ReasoningEnded(**A, text="Hmm", state={"s": 1})
MEDIA = [START, MediaStarted(**PNG), MediaDelta(**A, offset=0, delta=b"\x89PNG")]
MEDIA_END = MediaEnded(**PNG, data=b"\x89PNG", state={"s": 1})
INPUT = [START, ToolInputStarted(**C, name="search"), ToolInputDelta(**C, offset=0, delta='{"a"')]
INPUT_END = ToolInputEnded(**C, text='{"a":1}', state={"s": 1})
CALL = ToolCalled(**C, name="search", input={"a": 1})
CALLED = [*INPUT, INPUT_END, CALL]
ASKED = ToolApprovalRequested(**C, reason="it sends a mail")
APPROVED = ToolApproved(**C)
FIRST, SECOND = ToolStarted(**C, attempt=1), ToolStarted(**C, attempt=2)
HOSTED = [START, ToolCalled(**C, name="search", input={}, provider_executed=True)]
SUCCESS = ToolSuccess(**C, output="found", state={"s": 2})
BROKEN = ToolFailed(**C, error=error("tool"), output="so far", state={"s": 2})
COMPACTION = [CompactionStarted(**K, reason="auto"), CompactionDelta(**K, offset=0, delta="Sum")]
COMPACTION_END = CompactionEnded(**K, text="Summary", state={"s": 1})
COMPACTION_FAIL = CompactionFailed(**K, error=error())
REWOUND = [prompt(), START, rewind("u1")]

CASES = {
    "applied": {
        "a message begins": ([], START),
        "a delta continues": (TEXT, TextDelta(**A, offset=5, delta="!")),
        "a delta that is partly covered": (TEXT, TextDelta(**A, offset=3, delta="lo!")),
        "an end with more than the deltas": (TEXT, TextEnded(**A, text="Other")),
        "progress": (CALLED, ToolProgress(**C, output="some")),
        "progress after the end of the step": ([*CALLED, END], ToolProgress(**C, output="some")),
        "a request for approval": (CALLED, ASKED),
        "a request for approval after the end of the step": ([*CALLED, END], ASKED),
        "an approval": ([*CALLED, END, ASKED], APPROVED),
        "an approval that was not asked for": ([*CALLED, END], APPROVED),
        "a start of a call": (CALLED, FIRST),
        "a start of a call after the end of the step": ([*CALLED, END, ASKED, APPROVED], FIRST),
        "a higher attempt": ([*CALLED, END, FIRST], SECOND),
        "an answer of a started call": ([*CALLED, END, FIRST], SUCCESS),
        "a denial": ([*CALLED, END, ASKED], ToolFailed(**C, error=error("tool-denied"))),
        "a restart after a request for approval": ([*CALLED, ASKED, APPROVED], StepRestarted(**A, reason="again")),
        "an answer after the end of the step": ([*CALLED, END], SUCCESS),
        "a failure after the end of the step": ([*CALLED, END], BROKEN),
        "a call of a failed step is given up": ([*CALLED, FAIL], BROKEN),
        "a call without input events": ([START], CALL),
        "a step that failed starts over": ([START, FAIL], StepRestarted(**A, reason="again")),
        "a step that runs starts over": (TEXT, StepRestarted(**A, reason="again")),
        "a message is rewound": ([prompt(), START], rewind("u1")),
        "a message that runs is rewound": ([prompt(), START], rewind("a1")),
        "a second text after the first": (TEXT_OVER, TextStarted(**A)),
        "an opaque item again": ([START, OpaqueReceived(**A, state={"s": 1})], OpaqueReceived(**A, state={"s": 1})),
    },
    "duplicate": {
        "the same prompt": ([prompt()], prompt()),
        "a covered delta": (TEXT, TextDelta(**A, offset=0, delta="Hello")),
        "a covered part of a delta": (TEXT, TextDelta(**A, offset=1, delta="ell")),
        "a covered delta of reasoning": (REASONING, ReasoningDelta(**A, offset=0, delta="Hmm")),
        "a covered delta of media": (MEDIA, MediaDelta(**A, offset=1, delta=b"PNG")),
        "an empty delta of media": ([START, MediaStarted(**PNG)], MediaDelta(**A, offset=0, delta=b"")),
        "a covered delta of an input": (INPUT, ToolInputDelta(**C, offset=0, delta="{")),
        "a covered delta of a compaction": (COMPACTION, CompactionDelta(**K, offset=0, delta="Su")),
        "an empty delta": (TEXT, TextDelta(**A, offset=5, delta="")),
        "the same end of a text": (TEXT_OVER, TEXT_END),
        "the same end of a reasoning": ([*REASONING, REASONING_END], REASONING_END),
        "the same end of media": ([*MEDIA, MEDIA_END], MEDIA_END),
        "the same end of an input": ([*INPUT, INPUT_END], INPUT_END),
        "the same end of an input, the call made": (CALLED, INPUT_END),
        "the same call": (CALLED, CALL),
        "the same call, answered": ([*CALLED, SUCCESS], CALL),
        "the same answer": ([*CALLED, SUCCESS], SUCCESS),
        "the same failure": ([*CALLED, BROKEN], BROKEN),
        "the same request for approval": ([*CALLED, END, ASKED], ASKED),
        "the same request for approval, approved": ([*CALLED, END, ASKED, APPROVED], ASKED),
        "the same approval": ([*CALLED, END, APPROVED], APPROVED),
        "the same attempt": ([*CALLED, END, SECOND], SECOND),
        "the same answer after the step": ([*CALLED, END, SUCCESS], SUCCESS),
        "the same end of a text after the step": ([*TEXT_OVER, END], TEXT_END),
        "the same call after the step": ([*CALLED, END], CALL),
        "the same answer in a failed step": ([*CALLED, SUCCESS, FAIL], SUCCESS),
        "the same end of a step": ([START, END], END),
        "the same end of a step without what it left alone": (
            [StepStarted(**A, origin=origin(), run=run(), state={"s": 1}), StepEnded(**A, finish_reason="stop")],
            StepEnded(**A, finish_reason="stop"),
        ),
        "the same failure of a step": ([START, FAIL], FAIL),
        "the same end of a compaction": ([*COMPACTION, COMPACTION_END], COMPACTION_END),
        "the same failure of a compaction": ([*COMPACTION, COMPACTION_FAIL], COMPACTION_FAIL),
        "rewound again": (REWOUND, rewind("u1")),
        "rewound again as one of those after": (REWOUND, rewind("a1")),
    },
    "conflict": {
        "another prompt under the id": ([prompt()], prompt("other")),
        "an answer under the id of a prompt": ([prompt()], StepStarted(message_id="u1", origin=origin())),
        "text of a prompt": ([prompt()], TextStarted(message_id="u1")),
        "the message begins again": ([START], START),
        "a second text while one is open": (TEXT, TextStarted(**A)),
        "a second reasoning while one is open": (REASONING, ReasoningStarted(**A)),
        "second media while some are open": (MEDIA, MediaStarted(**PNG)),
        "an end with other text": (TEXT_OVER, TextEnded(**A, text="Other", state={"s": 1})),
        "an end with other state": (TEXT_OVER, TextEnded(**A, text="Hello")),
        "an end that is incomplete now": (TEXT_OVER, TextEnded(**A, text="Hello", complete=False, state={"s": 1})),
        "a reasoning with another end": ([*REASONING, REASONING_END], ReasoningEnded(**A, text="Hmm")),
        "media with another end": ([*MEDIA, MEDIA_END], MediaEnded(**PNG, uri="https://x.test/1")),
        "an input with another end": (CALLED, ToolInputEnded(**C, text="{}", state={"s": 1})),
        "an input with another state": ([*INPUT, INPUT_END], ToolInputEnded(**C, text='{"a":1}', state={"s": 2})),
        "a known call begins again": (CALLED, ToolInputStarted(**C, name="search")),
        "an input begins again": (INPUT, ToolInputStarted(**C, name="search")),
        "another input of the call": (CALLED, ToolCalled(**C, name="search", input={"a": 2})),
        "another name of the call": (CALLED, ToolCalled(**C, name="fetch", input={"a": 1})),
        "another name than the input had": ([*INPUT, INPUT_END], ToolCalled(**C, name="fetch", input={"a": 1})),
        "another state of the call": (CALLED, ToolCalled(**C, name="search", input={"a": 1}, state={"s": 9})),
        "a call before its input is over": (INPUT, CALL),
        "success before the call": ([*INPUT, INPUT_END], SUCCESS),
        "success while the input is open": (INPUT, SUCCESS),
        "failure while the input is open": (INPUT, BROKEN),
        "progress before the call": ([*INPUT, INPUT_END], ToolProgress(**C, output="some")),
        "another reason of a request for approval": ([*CALLED, ASKED], ToolApprovalRequested(**C)),
        "a request for approval after an approval": ([*CALLED, APPROVED], ASKED),
        "a request for approval before the call": ([*INPUT, INPUT_END], ASKED),
        "an approval while the input is open": (INPUT, APPROVED),
        "a start before the call": ([*INPUT, INPUT_END], FIRST),
        "a request for approval of a call of the provider": (HOSTED, ASKED),
        "an approval of a call of the provider": (HOSTED, APPROVED),
        "a start of a call of the provider": (HOSTED, FIRST),
        "a restart after a call was started": ([*CALLED, FIRST], StepRestarted(**A, reason="again")),
        "a restart of a failed step after a call was started": (
            [*CALLED, FIRST, ToolFailed(**C, error=error("interrupted")), FAIL],
            StepRestarted(**A, reason="again"),
        ),
        "another answer": ([*CALLED, SUCCESS], ToolSuccess(**C, output="other", state={"s": 2})),
        "an answer with another state": ([*CALLED, SUCCESS], ToolSuccess(**C, output="found")),
        "a failure after an answer": ([*CALLED, SUCCESS], BROKEN),
        "an answer after a failure": ([*CALLED, BROKEN], SUCCESS),
        "a step that ends with an open text": (TEXT, END),
        "a step that fails with an open text": (TEXT, FAIL),
        "a step that ends with an open reasoning": (REASONING, END),
        "a step that ends with open media": (MEDIA, END),
        "a step that ends with an open input": (INPUT, END),
        "a step that ends with an input that has not become a call": ([*INPUT, INPUT_END], END),
        "a step that ends with a call of the provider": (
            [START, ToolCalled(**C, name="search", input={}, provider_executed=True)],
            END,
        ),
        "a text with other details": (TEXT_OVER, attrs.evolve(TEXT_END, details={"d": 1})),
        "an end with other details": ([START, END], attrs.evolve(END, details={"d": 1})),
        "a failure with other details": ([START, FAIL], attrs.evolve(FAIL, details={"d": 1})),
        "a result with other details": ([*CALLED, SUCCESS], attrs.evolve(SUCCESS, details={"d": 1})),
        "another end of the step": ([START, END], StepEnded(**A, finish_reason="length")),
        "an end with another run": ([START, END], StepEnded(**A, finish_reason="stop", run=run("run-2"))),
        "an end with another state of the step": (
            [START, END],
            StepEnded(
                **A, finish_reason="stop", raw_finish_reason="done", usage=Usage(output_tokens=3), state={"s": 2}
            ),
        ),
        "a failure after the end": ([START, END], FAIL),
        "an end after the failure": ([START, FAIL], END),
        "another failure": ([START, FAIL], StepFailed(**A, error=error("network"))),
        "a restart after the app answered": ([*CALLED, SUCCESS], StepRestarted(**A, reason="again")),
        "a restart of a failed step after the app answered": (
            [*CALLED, SUCCESS, FAIL],
            StepRestarted(**A, reason="again"),
        ),
        "a compaction under the id of an answer": ([START], CompactionStarted(**A, reason="auto")),
        "text of a compaction": (COMPACTION, TextStarted(**K)),
        "another summary": ([*COMPACTION, COMPACTION_END], CompactionEnded(**K, text="Other")),
        "a summary after the failure": ([*COMPACTION, COMPACTION_FAIL], COMPACTION_END),
        "a failure after the summary": ([*COMPACTION, COMPACTION_END], COMPACTION_FAIL),
        "the same summary with another state": ([*COMPACTION, COMPACTION_END], CompactionEnded(**K, text="Summary")),
        "an empty summary of a compaction that failed": (
            [*COMPACTION, COMPACTION_FAIL],
            CompactionEnded(**K, text=""),
        ),
        "another failure of the compaction": (
            [*COMPACTION, COMPACTION_FAIL],
            CompactionFailed(**K, error=error("network")),
        ),
    },
    "late": {
        "a delta after the end": (TEXT_OVER, TextDelta(**A, offset=5, delta="!")),
        "a delta of a reasoning that ended": ([*REASONING, REASONING_END], ReasoningDelta(**A, offset=3, delta="!")),
        "a delta of media that ended": ([*MEDIA, MEDIA_END], MediaDelta(**A, offset=4, delta=b"!")),
        "a delta of an input that ended": (CALLED, ToolInputDelta(**C, offset=4, delta=":1}")),
        "a delta of a compaction that ended": (
            [*COMPACTION, COMPACTION_END],
            CompactionDelta(**K, offset=3, delta="!"),
        ),
        "progress of a call that is answered": ([*CALLED, SUCCESS], ToolProgress(**C, output="some")),
        "a request for approval of a call that is answered": ([*CALLED, SUCCESS], ASKED),
        "an approval of a call that failed": ([*CALLED, BROKEN], APPROVED),
        "a start of a call that is answered": ([*CALLED, FIRST, SUCCESS], SECOND),
        "a lower attempt": ([*CALLED, END, SECOND], FIRST),
        "a start in a failed step": ([*CALLED, FAIL], FIRST),
        "an approval in a failed step": ([*CALLED, FAIL], APPROVED),
        "text after the step ended": ([START, END], TextStarted(**A)),
        "a delta after the step ended": ([*TEXT_OVER, END], TextDelta(**A, offset=5, delta="!")),
        "an end of a text that never was, after the step": ([START, END], TextEnded(**A, text="a")),
        "a call after the step ended": ([START, END], CALL),
        "an answer in a failed step": ([*CALLED, FAIL], SUCCESS),
        "an opaque item after the step": ([START, END], OpaqueReceived(**A, state={"s": 1})),
        "a restart after the end": ([START, END], StepRestarted(**A, reason="again")),
        "anything of a rewound prompt": (REWOUND, prompt()),
        "anything of a rewound answer": (REWOUND, TextStarted(**A)),
        "the same step again after a rewind": (REWOUND, START),
    },
    "orphan": {
        "an event of a message that is unknown": ([], TextDelta(**A, offset=0, delta="a")),
        "the end of a step that is unknown": ([], END),
        "a rewind of a message that is unknown": ([prompt()], rewind("u2")),
        "a delta before its text": ([START], TextDelta(**A, offset=0, delta="a")),
        "the end of a text that never began": ([START], TextEnded(**A, text="a")),
        "the end of a reasoning that never began": ([START], REASONING_END),
        "the end of media that never began": ([START], MEDIA_END),
        "a delta of media before their start": ([START], MediaDelta(**A, offset=0, delta=b"a")),
        "a delta of a call that is unknown": ([START], ToolInputDelta(**C, offset=0, delta="{")),
        "the end of an input that never began": ([START], INPUT_END),
        "an answer of a call that is unknown": ([START], SUCCESS),
        "a failure of a call that is unknown": ([START], BROKEN),
        "a start of a call that is unknown": ([START], FIRST),
        "a request for approval of a call that is unknown": ([START], ASKED),
        "an approval of a call that is unknown": ([START], APPROVED),
        "progress of a call that is unknown": ([START], ToolProgress(**C, output="some")),
        "a delta of a compaction that is unknown": ([], CompactionDelta(**K, offset=0, delta="a")),
        "a text of before the restart": ([*TEXT, StepRestarted(**A, reason="again")], TEXT_END),
        "a call of before the restart": ([*INPUT, StepRestarted(**A, reason="again")], INPUT_END),
    },
    "gap": {
        "a delta beyond": (TEXT, TextDelta(**A, offset=6, delta="!")),
        "a delta of reasoning beyond": (REASONING, ReasoningDelta(**A, offset=4, delta="!")),
        "a delta of media beyond the end": (MEDIA, MediaDelta(**A, offset=5, delta=b"!")),
        "a delta of an input beyond": (INPUT, ToolInputDelta(**C, offset=5, delta="!")),
        "a delta of a compaction beyond": (COMPACTION, CompactionDelta(**K, offset=4, delta="!")),
        "an empty delta beyond": (TEXT, TextDelta(**A, offset=6, delta="")),
    },
    "ignored": {
        "an event of a newer version": ([], UnknownEvent(type="text.ended", version=2, data={})),
        "an event about a message that is known": (
            TEXT,
            UnknownEvent(type="text.begun", version=1, data={"message_id": "a1"}),
        ),
    },
}
TABLE = [
    pytest.param(before, event, outcome, id=f"{outcome}: {case}")
    for outcome, cases in CASES.items()
    for case, (before, event) in cases.items()
]
OUT_OF_PLACE = [row for row in TABLE if row.values[2] not in {"applied", "ignored"}]


@pytest.mark.parametrize(("before", "event", "outcome"), TABLE)
def test_outcome_after_a_snapshot(before, event, outcome):
    """
    The event has this outcome on the transcript of what happened before; only `applied` changes anything.
    """
    start = fold(before, strict=True)
    after, actual = reduce(start, event)

    assert outcome == actual
    assert (outcome == "applied") is (after != start)


@pytest.mark.parametrize(("before", "event", "outcome"), TABLE)
def test_outcome_in_one_go(before, event, outcome):
    """
    The event has the same outcome when it comes right behind the others.
    """
    events = [*before, event]

    assert [] == find_problems(before)
    assert ([outcome] if outcome not in {"applied", "ignored"} else []) == [
        problem.outcome for problem in find_problems(events)
    ]


@pytest.mark.parametrize(("before", "event", "outcome"), OUT_OF_PLACE)
def test_strict_raises(before, event, outcome):
    """
    With `strict` everything but `applied` and `ignored` raises, and names the event, its message and the outcome.
    """
    with pytest.raises(LocalProtocolError) as caught:
        fold([*before, event], strict=True)

    assert str(caught.value).startswith(f"{event.type} of message {event.message_id!r}")
    assert str(caught.value).endswith(f" ({outcome})")


def test_the_table_tries_every_event():
    """
    Every class of events is tried as one that is out of place.
    """
    tried = {type(row.values[1]) for row in OUT_OF_PLACE}
    events = {type(event) for row in TABLE for event in row.values[0]}

    assert events - tried <= set()
    assert {HistoryRewound, PromptSubmitted, StepRestarted, ToolFailed} <= tried


@pytest.mark.parametrize(
    ("seq", "outcome"),
    [
        pytest.param(1, "duplicate", id="the first again"),
        pytest.param(2, "duplicate", id="the last again"),
        pytest.param(3, "applied", id="the next"),
        pytest.param(4, "gap", id="one beyond"),
    ],
)
def test_the_place_of_a_record(seq, outcome):
    """
    A record whose place has passed is a duplicate, one beyond the next is a gap; neither moves `seq`.
    """
    start = fold(records([prompt(), START]))
    record = Record(session_id="s1", seq=seq, at=Clock()(), event=TextStarted(**A))
    after, actual = reduce(start, record)

    assert outcome == actual
    assert (3 if outcome == "applied" else 2) == after.seq


@pytest.mark.parametrize(
    ("event", "outcome"),
    [
        pytest.param(UnknownEvent(type="text.begun", version=1, data={}), "ignored", id="unknown"),
        pytest.param(TEXT_END, "orphan", id="orphan"),
        pytest.param(START, "applied", id="applied"),
    ],
)
def test_a_record_that_is_next_moves_seq(event, outcome):
    """
    Whatever becomes of its event, a record that is next takes its place.
    """
    after, actual = reduce(Transcript(), records([event])[0])

    assert outcome == actual
    assert 1 == after.seq


def test_a_snapshot_says_where_the_log_goes_on():
    """
    A transcript with a `seq` takes the record after it first.
    """
    snapshot = Transcript(seq=40)

    assert (
        "gap"
        == reduce(
            snapshot, records([prompt()])[0].__class__(session_id="s1", seq=42, at=Clock()(), event=prompt())
        ).outcome
    )
    assert [] == find_problems(records([prompt(), *answer("Hi")], after=40), start=snapshot)


@pytest.mark.parametrize("item", [None, "text.started", {"type": "text.started"}, object()])
def test_what_is_no_event_is_refused(item):
    """
    Anything but events and records is a mistake of the caller.
    """
    with pytest.raises(TypeError, match=f"expected an event, record or frame, got {type(item).__name__}"):
        fold([item])


def test_problems_say_where():
    """
    A problem names the place, the event, its call and the outcome, and nothing that the event carries.
    """
    found = find_problems([*records([START])[:1], ToolSuccess(**C, output="secret")])

    assert [
        "event 1: tool.success of message 'a1', call 'c1' is out of place: what it belongs to has not begun (orphan)"
    ] == [str(one) for one in found]
    assert [
        "event 0: text.started of message 'a1' at seq 1 is out of place: what it belongs to has not begun (orphan)"
    ] == [str(one) for one in find_problems(records([TextStarted(**A)]))]


def test_strict_names_a_record_of_the_future():
    """
    With `strict` a gap in the log raises too.
    """
    log = records([prompt(), UnknownEvent(type="text.begun", version=3, data={})])

    with pytest.raises(
        LocalProtocolError, match=r"^text\.begun v3 at seq 2 is out of place: something before it is missing \(gap\)$"
    ):
        fold(log[1:], strict=True)


def test_strict_takes_what_is_ignored():
    """
    An event of tomorrow in its place does not raise, and changes nothing.
    """
    log = records([prompt(), UnknownEvent(type="text.begun", version=3, data={})])

    assert fold(log[:1]).messages == fold(log, strict=True).messages
    assert [] == find_problems(log)
    assert (Transcript(), "ignored") == reduce(Transcript(), log[1].event, strict=True)


def test_reduce_is_strict_too():
    """
    `reduce` raises with `strict` as `fold` does.
    """
    with pytest.raises(LocalProtocolError, match="orphan"):
        reduce(Transcript(), END, strict=True)
