"""
Phases times events as the full product. The tables here are written from the rules, not from the module.

A cell is the phase that follows, or why the event is out of place: `again`, `conflict`, `late`, `orphan`.
"""

import pytest

from assistant_events.events import (
    DURABLE_EVENTS,
    EVENT_TYPES,
    LIVE_EVENTS,
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
)
from assistant_events.lifecycle import (
    ALL_EVENTS,
    CALL,
    FRAGMENT,
    FRAGMENT_KINDS,
    GUARDS,
    MESSAGE,
    CallPhase,
    FragmentPhase,
    MessageLifecycle,
    MessagePhase,
    Rejection,
)
from assistant_events.messages import ToolPart
from assistant_events.testing import error, origin
from assistant_events.values import JsonObject

# A message that is not there can only begin. A prompt is whole at once. The end of a step ends the provider's answer,
# not the calls of the app. A step that failed may start over, and calls that it left open may be failed. A compaction
# knows only its own events. Nothing happens to what was rewound.
MESSAGES = """
                    unknown     prompt    running   ended     failed    compacting  compacted  rewound
prompt.submitted    prompt      again     conflict  conflict  conflict  conflict    conflict   late
history.rewound     orphan      rewound   rewound   rewound   rewound   rewound     rewound    again
step.started        running     conflict  conflict  conflict  conflict  conflict    conflict   late
step.restarted      orphan      conflict  running   late      running   conflict    conflict   late
step.ended          orphan      conflict  ended     again     again     conflict    conflict   late
step.failed         orphan      conflict  failed    again     again     conflict    conflict   late
text.started        orphan      conflict  running   late      late      conflict    conflict   late
text.delta          orphan      conflict  running   late      late      conflict    conflict   late
text.ended          orphan      conflict  running   late      late      conflict    conflict   late
reasoning.started   orphan      conflict  running   late      late      conflict    conflict   late
reasoning.delta     orphan      conflict  running   late      late      conflict    conflict   late
reasoning.ended     orphan      conflict  running   late      late      conflict    conflict   late
media.started       orphan      conflict  running   late      late      conflict    conflict   late
media.delta         orphan      conflict  running   late      late      conflict    conflict   late
media.ended         orphan      conflict  running   late      late      conflict    conflict   late
tool.input.started  orphan      conflict  running   late      late      conflict    conflict   late
tool.input.delta    orphan      conflict  running   late      late      conflict    conflict   late
tool.input.ended    orphan      conflict  running   late      late      conflict    conflict   late
tool.called         orphan      conflict  running   late      late      conflict    conflict   late
tool.approval.requested  orphan conflict  running   ended     late      conflict    conflict   late
tool.approved       orphan      conflict  running   ended     late      conflict    conflict   late
tool.started        orphan      conflict  running   ended     late      conflict    conflict   late
tool.progress       orphan      conflict  running   ended     late      conflict    conflict   late
tool.success        orphan      conflict  running   ended     late      conflict    conflict   late
tool.failed         orphan      conflict  running   ended     failed    conflict    conflict   late
opaque.received     orphan      conflict  running   late      late      conflict    conflict   late
compaction.started  compacting  conflict  conflict  conflict  conflict  conflict    conflict   late
compaction.delta    orphan      conflict  conflict  conflict  conflict  compacting  late       late
compaction.ended    orphan      conflict  conflict  conflict  conflict  compacted   again      late
compaction.failed   orphan      conflict  conflict  conflict  conflict  compacted   again      late
"""

# One fragment of a kind is open at a time; when it has ended another may start.
FRAGMENTS = """
                   absent  open      closed
text.started       open    conflict  open
text.delta         orphan  open      late
text.ended         orphan  closed    again
reasoning.started  open    conflict  open
reasoning.delta    orphan  open      late
reasoning.ended    orphan  closed    again
media.started      open    conflict  open
media.delta        orphan  open      late
media.ended        orphan  closed    again
"""

# streaming -> called -> settled, or streaming -> settled; never back. An input is over before anything else happens.
CALLS = """
                    unknown     input_open   input_ended  called    settled
tool.input.started  input_open  conflict     conflict     conflict  conflict
tool.input.delta    orphan      input_open   late         late      late
tool.input.ended    orphan      input_ended  again        again     again
tool.called         called      conflict     called       again     again
tool.approval.requested  orphan conflict     conflict     called    late
tool.approved       orphan      conflict     conflict     called    late
tool.started        orphan      conflict     conflict     called    late
tool.progress       orphan      conflict     conflict     called    late
tool.success        orphan      conflict     conflict     settled   again
tool.failed         orphan      conflict     settled      settled   again
"""


def cells(table, phases):
    """
    Return a row for each cell: the phase, the type of the event, what is expected.
    """
    head, *rows = [line.split() for line in table.strip().splitlines()]
    return [
        pytest.param(phases[phase.upper()], EVENT_TYPES[name], _expected(cell, phases), id=f"{phase}-{name}")
        for name, *row in rows
        for phase, cell in zip(head, row, strict=True)
    ]


def _expected(cell, phases):
    return Rejection(cell) if cell in {refusal.value for refusal in Rejection} else phases[cell.upper()]


MESSAGE_CELLS = cells(MESSAGES, MessagePhase)
FRAGMENT_CELLS = cells(FRAGMENTS, FragmentPhase)
CALL_CELLS = cells(CALLS, CallPhase)

ABOUT = {"message_id": "a1"}
CALLED = {**ABOUT, "call_id": "c1"}
ONE_OF_EACH = {
    type(event): event
    for event in (
        PromptSubmitted(**ABOUT, content="hi"),
        HistoryRewound(**ABOUT),
        StepStarted(**ABOUT, origin=origin()),
        StepRestarted(**ABOUT, reason="again"),
        StepEnded(**ABOUT, finish_reason="stop"),
        StepFailed(**ABOUT, error=error()),
        TextStarted(**ABOUT),
        TextDelta(**ABOUT, offset=0, delta="a"),
        TextEnded(**ABOUT, text="a"),
        ReasoningStarted(**ABOUT),
        ReasoningDelta(**ABOUT, offset=0, delta="a"),
        ReasoningEnded(**ABOUT, text="a"),
        MediaStarted(**ABOUT, media_type="image/png"),
        MediaDelta(**ABOUT, offset=0, delta=b"a"),
        MediaEnded(**ABOUT, media_type="image/png", data=b"a"),
        ToolInputStarted(**CALLED, name="search"),
        ToolInputDelta(**CALLED, offset=0, delta="a"),
        ToolInputEnded(**CALLED, text="{}"),
        ToolCalled(**CALLED, name="search", input={}),
        ToolApprovalRequested(**CALLED, reason="it sends a mail"),
        ToolApproved(**CALLED),
        ToolStarted(**CALLED, attempt=1),
        ToolProgress(**CALLED, output="some"),
        ToolSuccess(**CALLED, output="all"),
        ToolFailed(**CALLED, error=error()),
        OpaqueReceived(**ABOUT),
        CompactionStarted(**ABOUT, reason="auto"),
        CompactionDelta(**ABOUT, offset=0, delta="a"),
        CompactionEnded(**ABOUT, text="a"),
        CompactionFailed(**ABOUT, error=error()),
    )
}

OF_PROVIDER = ToolInputStarted(**CALLED, name="search", provider_executed=True)

TO_CALL_PHASE = {
    CallPhase.UNKNOWN: [],
    CallPhase.INPUT_OPEN: [ToolInputStarted],
    CallPhase.INPUT_ENDED: [ToolInputStarted, ToolInputEnded],
    CallPhase.CALLED: [ToolInputStarted, ToolInputEnded, ToolCalled],
    CallPhase.SETTLED: [ToolInputStarted, ToolInputEnded, ToolCalled, ToolSuccess],
}


def running(*events):
    """
    Return the life of a step to which *events* have happened; a class means the one of its kind above.
    """
    life = MessageLifecycle(MessagePhase.RUNNING)
    for event in events:
        assert life.advance(ONE_OF_EACH.get(event, event)) is None
    return life


def test_the_tables_are_whole():
    """
    Every phase of a message has a row for every event, and for nothing else.
    """
    assert {(*DURABLE_EVENTS, *LIVE_EVENTS)} == {ALL_EVENTS}
    assert len(MessagePhase) * len(ALL_EVENTS) == len(MESSAGE_CELLS)
    assert {(phase, cls) for phase, row in MESSAGE.items() for cls in row} == {
        (phase, cls) for phase in MessagePhase for cls in ALL_EVENTS
    }
    assert len(FRAGMENT_CELLS) == sum(len(row) for rows in FRAGMENT.values() for row in rows.values())
    assert len(CALL_CELLS) == sum(len(row) for row in CALL.values())
    assert set(ONE_OF_EACH) == set(ALL_EVENTS)


@pytest.mark.parametrize(("phase", "cls", "expected"), MESSAGE_CELLS)
def test_a_message(phase, cls, expected):
    """
    A message in this phase takes this event as in the table.
    """
    assert expected is MESSAGE[phase][cls]


@pytest.mark.parametrize(("phase", "cls", "expected"), MESSAGE_CELLS)
def test_a_message_stays_where_it_is_when_it_refuses(phase, cls, expected):
    """
    What the table refuses is refused for that reason, and the phase stays; no content can make it legal.
    """
    life = MessageLifecycle(phase)
    refusal = life.advance(ONE_OF_EACH[cls])

    assert refusal is expected or isinstance(expected, MessagePhase)
    assert phase is life.phase or refusal is None


@pytest.mark.parametrize(("phase", "cls", "expected"), FRAGMENT_CELLS)
def test_a_fragment(phase, cls, expected):
    """
    The fragments of a kind in this phase take this event as in the table.
    """
    kind = cls.type.partition(".")[0]
    start, end = EVENT_TYPES[f"{kind}.started"], EVENT_TYPES[f"{kind}.ended"]
    life = running(*{"ABSENT": [], "OPEN": [start], "CLOSED": [start, end]}[phase.name])
    refusal = life.advance(ONE_OF_EACH[cls])

    assert expected is (refusal or life.fragment(kind))
    assert refusal is None or phase is life.fragment(kind)
    assert expected is FRAGMENT[kind][phase][cls]


@pytest.mark.parametrize(("phase", "cls", "expected"), CALL_CELLS)
def test_a_call(phase, cls, expected):
    """
    A call in this phase takes this event as in the table.
    """
    life = running(*TO_CALL_PHASE[phase])
    refusal = life.advance(ONE_OF_EACH[cls])

    assert expected is (refusal or life.call("c1"))
    assert refusal is None or phase is life.call("c1")
    assert expected is CALL[phase][cls]


@pytest.mark.parametrize("cls", [StepEnded, StepFailed])
@pytest.mark.parametrize(
    "before",
    [
        pytest.param([TextStarted], id="text"),
        pytest.param([ReasoningStarted], id="reasoning"),
        pytest.param([MediaStarted], id="media"),
        pytest.param([ToolInputStarted], id="input"),
        pytest.param([ToolInputStarted, ToolInputEnded], id="input that became no call"),
        pytest.param([OF_PROVIDER], id="input of the provider"),
        pytest.param([OF_PROVIDER, ToolInputEnded], id="input of the provider that became no call"),
        pytest.param(
            [ToolCalled(**CALLED, name="search", input={}, provider_executed=True)], id="call of the provider"
        ),
    ],
)
def test_a_step_does_not_end_before_what_is_in_it(cls, before):
    """
    Fragments, inputs and calls of the provider end before the step does.
    """
    life = running(*before)

    assert Rejection.CONFLICT is life.advance(ONE_OF_EACH[cls])
    assert MessagePhase.RUNNING is life.phase


@pytest.mark.parametrize(("cls", "phase"), [(StepEnded, MessagePhase.ENDED), (StepFailed, MessagePhase.FAILED)])
def test_a_step_ends_before_the_calls_of_the_app(cls, phase):
    """
    A call that the app runs does not keep the step from ending.
    """
    life = running(ToolCalled)

    assert life.advance(ONE_OF_EACH[cls]) is None
    assert phase is life.phase


def test_a_call_is_the_providers_when_any_event_says_so():
    """
    `provider_executed` is a claim that later events may add and never take back.
    """
    life = running(ToolInputStarted, ToolInputEnded)

    assert life.advance(ToolCalled(**CALLED, name="search", input={}, provider_executed=True)) is None
    assert ["c1"] == life.unsettled_calls()


@pytest.mark.parametrize(
    ("answer", "refusal"),
    [
        pytest.param(ToolSuccess(**CALLED), Rejection.CONFLICT, id="success"),
        pytest.param(ToolFailed(**CALLED, error=error("tool")), Rejection.CONFLICT, id="failed"),
        pytest.param(ToolFailed(**CALLED, error=error("interrupted")), None, id="interrupted"),
        pytest.param(ToolSuccess(**CALLED, provider_executed=True), None, id="answered by the provider"),
        pytest.param(ToolStarted(**CALLED, attempt=1), Rejection.CONFLICT, id="started"),
        pytest.param(ToolApprovalRequested(**CALLED), None, id="approval requested"),
        pytest.param(ToolApproved(**CALLED), None, id="approved"),
    ],
)
def test_a_step_does_not_start_over_once_the_app_has_acted(answer, refusal):
    """
    A restart would void what a tool did; a call that was only cut, or waits for approval, has done nothing.
    """
    life = running(ToolCalled, answer)

    assert refusal is life.advance(ONE_OF_EACH[StepRestarted])


def test_a_started_call_that_was_cut_keeps_its_step_from_starting_over():
    """
    The tool may have run before the call failed as `interrupted`.
    """
    life = running(ToolCalled, ToolStarted, ToolFailed(**CALLED, error=error("interrupted")))

    assert Rejection.CONFLICT is life.advance(ONE_OF_EACH[StepRestarted])


@pytest.mark.parametrize("event", [ToolApprovalRequested, ToolApproved, ToolStarted])
def test_calls_of_the_provider_are_not_started_by_the_app(event):
    """
    Approval and start belong to calls that the app runs, and refused ones do not keep the step from starting over.
    """
    life = running(ToolCalled(**CALLED, name="search", input={}, provider_executed=True))

    assert Rejection.CONFLICT is life.advance(ONE_OF_EACH[event])
    assert life.advance(ONE_OF_EACH[StepRestarted]) is None


@pytest.mark.parametrize(
    ("attempt", "refusal"), [(1, Rejection.LATE), (2, Rejection.AGAIN), (3, None), (9, None)], ids=str
)
def test_attempts_only_rise(attempt, refusal):
    """
    After the second attempt a higher one is legal, the same again a repetition, and a lower one late.
    """
    life = running(ToolCalled, ToolStarted(**CALLED, attempt=2))

    assert refusal is life.advance(ToolStarted(**CALLED, attempt=attempt))


@pytest.mark.parametrize(
    ("before", "event", "refusal"),
    [
        pytest.param([], ToolApproved, None, id="approved without a request"),
        pytest.param([ToolApprovalRequested], ToolApproved, None, id="approved"),
        pytest.param([ToolApprovalRequested], ToolApprovalRequested, Rejection.AGAIN, id="requested twice"),
        pytest.param([ToolApproved], ToolApproved, Rejection.AGAIN, id="approved twice"),
        pytest.param([ToolApproved], ToolApprovalRequested, Rejection.AGAIN, id="requested once it is approved"),
        pytest.param([ToolStarted], ToolApproved, None, id="approved once it has started"),
    ],
)
def test_approval_is_never_taken_back(before, event, refusal):
    """
    A call is asked for once and approved once.
    """
    life = running(ToolCalled, *before)

    assert refusal is life.advance(ONE_OF_EACH[event])


def test_an_input_that_was_no_object_is_not_an_answer():
    """
    A call that failed before it could be run does not keep the step from starting over.
    """
    life = running(ToolInputStarted, ToolInputEnded, ToolFailed)

    assert life.advance(ONE_OF_EACH[StepRestarted]) is None


def test_a_restart_forgets_fragments_and_calls():
    """
    After a restart every fragment and call is unknown again.
    """
    life = running(TextStarted, TextEnded, ReasoningStarted, ToolInputStarted, StepRestarted)

    assert [FragmentPhase.ABSENT] * 3 == [life.fragment(kind) for kind in FRAGMENT_KINDS]
    assert CallPhase.UNKNOWN is life.call("c1")
    assert [] == life.unsettled_calls()
    assert life.advance(ONE_OF_EACH[StepEnded]) is None


def test_a_pause_leaves_only_calls_without_a_result():
    """
    Of several calls of the provider, one without its whole input keeps the step from pausing.
    """
    other = ToolCalled(message_id=CALLED["message_id"], call_id="c2", name="search", input={}, provider_executed=True)
    pause = StepEnded(**ABOUT, finish_reason="pause")

    assert Rejection.CONFLICT is running(other, OF_PROVIDER).advance(pause)
    assert running(other).advance(pause) is None


def test_only_a_call_without_a_result_is_settled():
    """
    A result that is known already settles its call, which then no longer keeps the step open; nothing else changes.
    """
    life = running(OF_PROVIDER)

    assert not life.settle("of another message")
    assert not life.settle("c1")
    assert ["c1"] == life.unsettled_calls()
    life.advance(ONE_OF_EACH[ToolInputEnded])
    life.advance(ONE_OF_EACH[ToolCalled])
    assert life.settle("c1")
    assert not life.settle("c1")
    assert [] == life.unsettled_calls()


def test_a_call_keeps_its_name():
    """
    A call that begins under one name cannot be made under another.
    """
    life = running(ToolInputStarted, ToolInputEnded)

    assert Rejection.CONFLICT is life.advance(ToolCalled(**CALLED, name="fetch", input={}))
    assert CallPhase.INPUT_ENDED is life.call("c1")


@pytest.mark.parametrize("end", [StepEnded, StepFailed])
@pytest.mark.parametrize(
    ("before", "event", "expected"),
    [
        pytest.param([TextStarted, TextEnded], TextEnded, Rejection.AGAIN, id="text"),
        pytest.param([], TextEnded, Rejection.LATE, id="text that never was"),
        pytest.param([ReasoningStarted, ReasoningEnded], ReasoningEnded, Rejection.AGAIN, id="reasoning"),
        pytest.param([MediaStarted, MediaEnded], MediaEnded, Rejection.AGAIN, id="media"),
        pytest.param([TextStarted, TextEnded], TextDelta, Rejection.LATE, id="delta"),
        pytest.param([ToolCalled], ToolCalled, Rejection.AGAIN, id="call"),
        pytest.param([ToolInputStarted, ToolInputEnded, ToolCalled], ToolInputEnded, Rejection.AGAIN, id="input"),
        pytest.param([], ToolCalled, Rejection.LATE, id="call that never was"),
        pytest.param([ToolCalled, ToolSuccess], ToolSuccess, Rejection.AGAIN, id="success"),
        pytest.param([ToolCalled, ToolFailed], ToolFailed, Rejection.AGAIN, id="failed"),
    ],
)
def test_a_closed_step_knows_ends_that_come_again(end, before, event, expected):
    """
    After the end of a step, the end of something in it may still be the one that was there before; the rest is late.
    """
    life = running(*before, end)

    assert expected is life.advance(ONE_OF_EACH[event])


def test_what_comes_again_in_a_rewound_message_is_late():
    """
    Also an end that is equal to the one that was there.
    """
    life = running(TextStarted, TextEnded, ToolCalled, HistoryRewound)

    assert [Rejection.LATE] * 2 == [life.advance(ONE_OF_EACH[cls]) for cls in (TextEnded, ToolCalled)]


def test_guards_name_the_events_that_look_across():
    """
    The rules that no table can hold exist for exactly these events.
    """
    assert {StepEnded, StepFailed, StepRestarted, ToolApprovalRequested, ToolApproved, ToolStarted} == set(GUARDS)


def test_a_known_message_is_adopted():
    """
    The phases of fragments and calls of a known message can be set.
    """
    life = MessageLifecycle(MessagePhase.RUNNING)
    life.adopt_fragment("text", FragmentPhase.OPEN)
    part = ToolPart(**CALLED, name="search", status="called", input=JsonObject(), provider_executed=True)
    life.adopt_call(part, CallPhase.CALLED)

    assert FragmentPhase.OPEN is life.fragment("text")
    assert ["c1"] == life.unsettled_calls()
