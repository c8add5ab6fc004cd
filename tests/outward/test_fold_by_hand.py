"""
What the fold in JavaScript makes of single items, written out.
"""

from base64 import b64encode

import pytest

AT = "2026-11-24T01:00:00.000000Z"
LATER = "2026-11-24T01:00:05.000000Z"
ORIGIN = {"provider": "acme", "dialect": "d", "model": "m"}
EMPTY = {"v": 1, "messages": [], "seq": 0, "rewound": []}


def event(type_, message_id="a1", **fields):
    return {"type": type_, "v": 1, "message_id": message_id, **fields}


def record(seq, item, at=AT):
    return {"type": "record", "session_id": "s", "seq": seq, "at": at, "event": item}


def frame(after, *events):
    return {"type": "frame", "session_id": "s", "after": after, "events": [*events]}


def delta(offset, text, kind="text"):
    return event(f"{kind}.delta", offset=offset, delta=text)


START = event("step.started", origin=ORIGIN)
OPEN = [START, event("text.started")]


def text_of(transcript):
    return "".join(part["text"] for part in transcript["messages"][-1]["parts"])


def test_an_answer_that_has_not_read_the_last_prompts(folded):
    """
    It is before the first of them; a rewind of one leaves it there. One that is not there is none.
    """
    said = [event("prompt.submitted", name, content=[{"type": "text", "text": name}]) for name in ("u1", "u2", "u3")]
    items = [*said, {**START, "before": "u2"}, event("text.started"), delta(0, "So")]

    def ids(*more):
        return [each["id"] for each in folded([*items, *more])[0]["messages"]]

    assert ["u1", "a1", "u2", "u3"] == ids()
    assert ["u1", "a1"] == ids(event("history.rewound", "u2"))
    assert ["u1"] == ids(event("history.rewound", "a1"))
    assert ["u1", "a1", "u2", "u3", "a2"] == ids(event("step.started", "a2", origin=ORIGIN, before="u9"))
    assert "So" == folded(items)[0]["messages"][1]["parts"][0]["text"]


def test_an_answer_among_many_prompts(folded):
    """
    Messages behind its place are found again, also those that were looked for before.
    """
    said = [event("prompt.submitted", f"u{at}", content=[{"type": "text", "text": f"{at}"}]) for at in range(9)]
    items = [*said, *[said[0]] * 9, {**START, "before": "u5"}, event("history.rewound", "u7")]

    assert ["u4", "a1", "u5", "u6"] == [each["id"] for each in folded(items)[0]["messages"][4:]]


def test_an_answer(folded):
    """
    Prompt, text, a call with its result and the end become two messages with their times.
    """
    call = {"message_id": "a1", "call_id": "c1"}
    usage = {"input_tokens": 3, "output_tokens": 2}
    items = [
        record(1, event("prompt.submitted", "u1", content=[{"type": "text", "text": "Hi"}])),
        record(2, START),
        record(3, event("text.started")),
        frame(3, delta(0, "Hel"), delta(3, "lo")),
        record(4, event("text.ended", text="Hello!", citations=[{"url": "https://example.org"}])),
        record(5, event("tool.input.started", name="add", **call)),
        frame(5, {**event("tool.input.delta", offset=0, delta='{"a"'), **call}),
        record(6, {**event("tool.input.ended", text='{"a":1}'), **call}),
        record(7, {**event("tool.called", name="add", input={"a": 1}), **call}),
        record(8, event("step.ended", finish_reason="tool-calls", usage=usage), LATER),
        record(9, {**event("tool.approval.requested", reason="It pays."), **call}),
        record(10, {**event("tool.approved"), **call}),
        record(11, {**event("tool.started", attempt=1), **call}),
        frame(11, {**event("tool.progress", output=[{"type": "text", "text": "half"}]), **call}),
        record(12, {**event("tool.success", output=[{"type": "json", "value": 2}]), **call}, LATER),
    ]
    transcript, outcomes = folded(items)

    assert {"applied"} == {*outcomes}
    assert transcript == {
        "v": 1,
        "seq": 12,
        "rewound": [],
        "messages": [
            {
                "type": "user",
                "v": 1,
                "id": "u1",
                "content": [{"type": "text", "text": "Hi"}],
                "times": {"started": AT},
            },
            {
                "type": "assistant",
                "v": 1,
                "id": "a1",
                "origin": ORIGIN,
                "status": "completed",
                "finish_reason": "tool-calls",
                "usage": usage,
                "times": {"started": AT, "ended": LATER},
                "parts": [
                    {
                        "type": "text",
                        "text": "Hello!",
                        "status": "completed",
                        "citations": [{"url": "https://example.org"}],
                        "times": {"started": AT, "ended": AT},
                    },
                    {
                        "type": "tool",
                        "message_id": "a1",
                        "call_id": "c1",
                        "name": "add",
                        "status": "success",
                        "raw_input": '{"a":1}',
                        "input_status": "completed",
                        "input": {"a": 1},
                        "approval": "approved",
                        "approval_reason": "It pays.",
                        "attempt": 1,
                        "output": [{"type": "json", "value": 2}],
                        "times": {"started": AT, "ended": LATER},
                    },
                ],
            },
        ],
    }


@pytest.mark.parametrize(
    "unknown",
    [
        {"type": "text.begun"},
        {"type": "constructor", "message_id": "a1"},
        {"type": "__proto__", "v": 1},
        {"type": "text.started", "v": 2, "message_id": "a1"},
    ],
    ids=repr,
)
def test_unknown_events_are_ignored(folded, unknown):
    """
    Events of unknown types and newer versions change nothing, and their records count.
    """
    assert (EMPTY, ["ignored"]) == folded([unknown])
    assert ({**EMPTY, "seq": 1}, ["ignored"]) == folded([record(1, unknown)])


@pytest.mark.parametrize(
    ("deltas", "text", "outcomes"),
    [
        ([(0, "a😀"), (3, "b")], "a😀b", ["applied", "applied"]),
        ([(0, "a😀"), (1, "😀b")], "a😀b", ["applied", "applied"]),
        ([(0, "a😀"), (1, "😀")], "a😀", ["applied", "duplicate"]),
        ([(0, "a"), (1, "\ud83d"), (2, "\ude00"), (3, "b")], "a😀b", ["applied"] * 4),
        ([(0, "a"), (2, "c"), (1, "bc")], "abc", ["applied", "gap", "applied"]),
        ([(0, "gap"), (3, "late")], "gaplate", ["applied", "applied"]),
        ([(0, "")], "", ["duplicate"]),
    ],
)
def test_offsets_count_utf_16_units(folded, deltas, text, outcomes):
    """
    A delta is appended, appended in part, a duplicate or a gap by its offset.
    """
    transcript, reported = folded([*OPEN, *[delta(*each) for each in deltas]])

    assert text == text_of(transcript)
    assert outcomes == reported[2:]


def test_a_gap_heals_at_the_end(folded):
    """
    The end of a fragment has all of it.
    """
    transcript, outcomes = folded([*OPEN, delta(4, "o"), event("text.ended", text="Hello")])

    assert "Hello" == text_of(transcript)
    assert ["gap", "applied"] == outcomes[2:]


@pytest.mark.parametrize("first", range(1, 6))
@pytest.mark.parametrize("overlap", range(3))
def test_bytes_in_any_pieces(folded, first, overlap):
    """
    Media counts bytes, whatever the length of the pieces in base64.
    """
    data = b"\x00\x01\xfe\xff\x80abc"
    cuts = [(0, first), (max(first - overlap, 0), first + 1), (first + 1, len(data))]
    deltas = [delta(start, b64encode(data[start:end]).decode(), "media") for start, end in cuts]
    transcript, outcomes = folded([START, event("media.started", media_type="image/png"), *deltas, deltas[0]])

    assert b64encode(data).decode() == transcript["messages"][0]["parts"][0]["data"]
    assert ["applied"] * 5 + ["duplicate"] == outcomes
    assert ["gap"] == folded([delta(len(data) + 1, "AAAA", "media")], transcript)[1]


def test_places(folded):
    """
    A record counts once and in its turn; a frame belongs to one place.
    """
    items = [
        record(1, START),
        record(3, event("text.started")),
        record(2, event("text.started")),
        record(2, event("text.started")),
        frame(1, delta(0, "late")),
        frame(3, delta(0, "early")),
        frame(2, delta(0, "a"), delta(0, "a")),
        frame(2, delta(0, "a"), delta(5, "b")),
        frame(2),
    ]
    transcript, outcomes = folded(items)

    expected = ["applied", "gap", "applied", "duplicate", "late", "gap", "applied", "duplicate", "ignored"]
    assert expected == outcomes
    assert ("a", 2) == (text_of(transcript), transcript["seq"])


def test_a_snapshot_takes_the_place_of_the_transcript(folded):
    """
    A snapshot is the new transcript, and later items continue it.
    """
    snapshot = {"type": "snapshot", **folded([record(1, START), record(2, event("text.started"))])[0]}
    transcript, outcomes = folded([*OPEN, delta(0, "old"), snapshot, frame(2, delta(0, "new"))])

    assert ("new", 2, "applied") == (text_of(transcript), transcript["seq"], outcomes[-1])
    assert "type" not in transcript
    assert EMPTY == folded([*OPEN, {"type": "snapshot", "v": 1}])[0]


def test_a_restart_empties_the_message(folded):
    """
    What was received is void, also after a failure; the origin fills in what was unknown.
    """
    failed = event("step.failed", error={"kind": "interrupted", "message": "cut"})
    start = event("step.started", origin={"provider": "acme", "dialect": "d"})
    ended = event("text.ended", text="Hel")
    restarted = event("step.restarted", reason="rejoined", origin=ORIGIN)
    transcript, outcomes = folded([start, event("text.started"), ended, failed, restarted])

    assert {"applied"} == {*outcomes}
    assert [{"type": "assistant", "v": 1, "id": "a1", "origin": ORIGIN, "status": "running"}] == transcript["messages"]


def test_a_restart_of_a_log(folded):
    """
    The message runs again, since its first start; the model that served it is learned where it was unknown.
    """
    failed = event("step.failed", error={"kind": "interrupted", "message": "cut"})
    restarted = event("step.restarted", reason="rejoined", origin={**ORIGIN, "served_model": "m-1"})
    transcript, _ = folded([record(1, START), record(2, failed, LATER), record(3, restarted, LATER)])
    [answer] = transcript["messages"]

    assert ({"started": AT}, {"served_model": "m-1", **ORIGIN}) == (answer["times"], answer["origin"])


def test_a_call_that_turns_out_to_be_of_the_provider(folded):
    """
    The call shows who runs it, where the start of its input did not.
    """
    call = {"message_id": "a1", "call_id": "c1"}
    ended = {**event("tool.input.ended", text="{}"), **call}
    called = {**event("tool.called", name="add", input={}, provider_executed=True), **call}
    transcript, _ = folded([START, {**event("tool.input.started", name="add"), **call}, ended, called])

    assert transcript["messages"][0]["parts"][0]["provider_executed"] is True


def test_a_rewind_is_for_ever(folded):
    """
    The message and those after it are gone, and what comes of them is late.
    """
    items = [START, event("step.started", "a2", origin=ORIGIN), event("history.rewound"), START, delta(0, "x")]
    transcript, outcomes = folded([*items, event("history.rewound")])

    assert ["applied", "applied", "applied", "late", "late", "duplicate"] == outcomes
    assert {**EMPTY, "rewound": ["a1", "a2"]} == transcript


def test_json_is_kept_as_it_is(folded):
    """
    Keys that mean something to JavaScript are keys like others.
    """
    called = event("tool.called", call_id="c", name="t", input={"__proto__": {"a": 1}, "constructor": 2})
    other = {**called, "input": {"__proto__": {"a": 2}, "constructor": 2}}
    transcript, outcomes = folded([START, called, called, other])

    assert ["applied", "applied", "duplicate", "conflict"] == outcomes
    assert called["input"] == transcript["messages"][0]["parts"][0]["input"]


CALL = {"call_id": "c"}
INPUT = event("tool.input.started", name="t", **CALL)
CALLED = event("tool.called", name="t", input={"a": [1]}, **CALL)
BROKEN = {"kind": "tool", "message": "no"}
CUT = {"kind": "interrupted", "message": "cut"}
ONE, OTHER = [{"type": "text", "text": "1"}], [{"type": "text", "text": "2"}]
COMPACTING = event("compaction.started", "k1", reason="auto", origin=ORIGIN)


@pytest.mark.parametrize(
    ("items", "again", "outcome"),
    [
        ([event("prompt.submitted", "u1", content=ONE)], event("prompt.submitted", "u1", content=ONE), "duplicate"),
        ([event("prompt.submitted", "u1", content=ONE)], event("prompt.submitted", "u1", content=OTHER), "conflict"),
        (
            [record(1, START), record(2, event("text.started")), record(3, event("text.ended", text="a"))],
            event("text.ended", text="a"),
            "duplicate",
        ),
        ([*OPEN, event("text.ended", text="a")], event("text.ended", text="a", details={"b": 1}), "conflict"),
        ([START, CALLED], {**CALLED, "input": {"a": {"0": 1}}}, "conflict"),
        ([START, CALLED], {**CALLED, "input": {"a": [1], "b": 2}}, "conflict"),
        ([START, CALLED], {**CALLED, "input": {}}, "conflict"),
        ([START, CALLED, event("tool.approved", **CALL)], event("tool.approved", **CALL), "duplicate"),
        (
            [START, CALLED, event("tool.approval.requested", reason="why", **CALL)],
            event("tool.approval.requested", **CALL),
            "conflict",
        ),
        ([START, CALLED, event("tool.started", attempt=2, **CALL)], event("tool.started", attempt=1, **CALL), "late"),
        ([START, CALLED, event("tool.failed", error=BROKEN, **CALL)], event("tool.success", **CALL), "conflict"),
        (
            [START, CALLED, event("tool.success", output=ONE, **CALL)],
            event("tool.success", output=OTHER, **CALL),
            "conflict",
        ),
        (
            [START, CALLED, event("tool.failed", error=BROKEN, output=ONE, **CALL)],
            event("tool.failed", error=BROKEN, output=OTHER, **CALL),
            "conflict",
        ),
        (
            [START, event("step.ended", finish_reason="stop", raw_finish_reason="end")],
            event("step.ended", finish_reason="stop", raw_finish_reason="done"),
            "conflict",
        ),
        (
            [START, event("step.ended", finish_reason="stop", details={"a": 1})],
            event("step.ended", finish_reason="stop", details={"a": 2}),
            "conflict",
        ),
        (
            [COMPACTING, event("compaction.ended", "k1", text="a")],
            event("compaction.ended", "k1", text="a"),
            "duplicate",
        ),
        (
            [COMPACTING, event("compaction.failed", "k1", error=CUT)],
            event("compaction.ended", "k1", text=""),
            "conflict",
        ),
        (
            [COMPACTING, event("compaction.failed", "k1", error=CUT)],
            event("compaction.failed", "k1", error=BROKEN),
            "conflict",
        ),
    ],
)
def test_what_comes_again(folded, items, again, outcome):
    """
    It is a duplicate where it equals what was applied, and a conflict otherwise; an earlier try of a call is late.
    """
    transcript, outcomes = folded([*items, again])

    assert [*["applied"] * len(items), outcome] == outcomes
    assert folded(items)[0] == transcript


@pytest.mark.parametrize(
    ("items", "outcome"),
    [
        ([START, CALLED, event("tool.started", attempt=1, **CALL)], "conflict"),
        ([START, CALLED, event("tool.failed", error=BROKEN, **CALL)], "conflict"),
        ([START, CALLED, event("tool.failed", error=CUT, **CALL)], "applied"),
        ([START, INPUT, event("tool.input.ended", text="{", complete=False, **CALL)], "applied"),
    ],
)
def test_a_restart_after_calls(folded, items, outcome):
    """
    An answer does not begin again once the app has run a call of it, or answered one.
    """
    failed = event("step.failed", error=CUT)
    left = [] if items[-1]["type"] == "tool.failed" else [event("tool.failed", error=CUT, **CALL)]

    assert outcome == folded([*items, *left, failed, event("step.restarted", reason="cut")])[1][-1]


def test_a_frame_of_which_something_is_new(folded):
    """
    It has been applied, whatever its first event was.
    """
    items = [
        record(1, START),
        record(2, event("text.started")),
        frame(2, delta(0, "ab")),
        frame(2, delta(0, "a"), delta(2, "c")),
    ]

    assert ["applied"] * 4 == folded(items)[1]


def test_the_text_of_a_compaction(folded):
    """
    One that has failed has none, whatever came of it live; an empty one is not written.
    """
    items = [COMPACTING, delta(0, "Ear", "compaction") | {"message_id": "k1"}]
    [failed] = folded([*items, event("compaction.failed", "k1", error=CUT)])[0]["messages"]
    [ended] = folded([*items, event("compaction.ended", "k1", text="")])[0]["messages"]

    assert "text" not in failed
    assert "text" not in ended


def test_the_end_of_media_replaces_what_streamed(folded):
    """
    An end with an address has no bytes.
    """
    streamed = [START, event("media.started", media_type="image/png"), delta(0, "AAAA", "media")]
    ended = event("media.ended", media_type="image/png", uri="https://example.com/1.png")
    [part] = folded([*streamed, ended])[0]["messages"][0]["parts"]

    assert {"type": "media", "media_type": "image/png", "uri": ended["uri"], "status": "completed"} == part


def test_times_that_are_not_known(folded):
    """
    The end of what began live has no start; progress without output takes back what was shown.
    """
    progress = [event("tool.progress", output=ONE, **CALL), event("tool.progress", **CALL)]
    items = [START, CALLED, *progress, record(1, event("tool.success", **CALL), LATER)]
    [call] = folded(items)[0]["messages"][0]["parts"]
    [shown] = folded(items[:-1])[0]["messages"][0]["parts"]

    assert {"ended": LATER} == call["times"]
    assert "output" not in shown


def test_messages_after_a_rewind_among_many(folded):
    """
    What was found at a place before is not looked for there again.
    """

    def said(name):
        return event("prompt.submitted", name, content=[{"type": "text", "text": name}])

    items = [said(f"u{at}") for at in range(9)]
    items += [*items, event("history.rewound", "u4"), *[said(f"v{at}") for at in range(5)]]
    items.append(event("history.rewound", "u6"))
    transcript, outcomes = folded(items)

    assert ["u0", "u1", "u2", "u3", "v0", "v1", "v2", "v3", "v4"] == [each["id"] for each in transcript["messages"]]
    assert "duplicate" == outcomes[-1]


def test_state_is_never_kept(folded):
    """
    Of events that were not redacted, no state gets into the transcript.
    """
    state = {"signature": "canary"}
    items = [
        event("step.started", origin=ORIGIN, state=state, run={"id": "canary", "kind": "k"}),
        event("text.started"),
        event("text.ended", text="", state=state),
        event("tool.called", call_id="c", name="t", input={}, state=state),
        event("tool.success", call_id="c", state=state, provider_executed=True),
        event("opaque.received", state=state),
        event("step.ended", finish_reason="stop", state=state, run={"id": "canary", "kind": "k"}),
    ]
    transcript, outcomes = folded(items)

    assert {"applied"} == {*outcomes}
    assert "canary" not in str(transcript)
