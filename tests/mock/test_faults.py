"""
Faults of the mock provider: how they are written, and what they do to a stream.
"""

import asyncio
from pathlib import Path

import pytest

from assistant_events.adapters.gemini_interactions.mock import Answer
from assistant_events.adapters.gemini_interactions.mock.validation import Generation
from assistant_events.mock import Fault, Timing, fault_help, parse_fault
from assistant_events.mock.faults import KINDS, parse_faults

from .asgi import Exchange, HandClock, JumpClock, ask, asked, create, provider_of, settle, text_step

V1 = "/v1beta/interactions"
ONE = f"{V1}/v1_1"
REPLAY = f"{ONE}?stream=true"
STREAM = create(stream=True)
BACKGROUND = create(stream=True, background=True)

# The body ends so after ten minutes: Google forum 143098.
TAIL = b"""[{
"error": {
"code": 503,
"message": "The service is currently unavailable.",
"status": "UNAVAILABLE"
}
}
]
"""
NAMES = [
    "interaction.created",
    "interaction.status_update",
    "step.start",
    "step.delta",
    "step.stop",
    "interaction.completed",
]

LAST = "v1_NV9pbnRlcmFjdGlvbi5jb21wbGV0ZWQ"
"""Cursor of the last event: base64 of `5_interaction.completed`."""


def hello(**options):
    return provider_of(Answer(steps=(text_step("Hello"),), usage={"total_tokens": 3}), **options)


def struck(*faults, body=STREAM, **options):
    return asked(hello(faults=faults, **options), "POST", V1, body)


def run(main):
    return asyncio.run(asyncio.wait_for(main(), 20))


# -- how they are written


@pytest.mark.parametrize(
    ("text", "name", "at", "times"),
    [
        ("drop", "drop", 3, 1),
        ("drop@7", "drop", 7, 1),
        (" drop@7x2 ", "drop", 7, 2),
        ("dropx*", "drop", 3, None),
        ("drop@0.5s", "drop", 0.5, 1),
        ("ten-minute-cut", "ten-minute-cut", 600.0, 1),
        ("ten-minute-cut@600s", "ten-minute-cut", 600.0, 1),
        ("ten-minute-cut@10mx3", "ten-minute-cut", 600.0, 3),
        ("recut@4", "recut", 4, None),
        ("zombie", "zombie", 3660.0, None),
        ("zombie@2h", "zombie", 7200.0, None),
        ("slow-first-byte@250ms", "slow-first-byte", 0.25, None),
        ("no-usage@2", "no-usage", 2, None),
        ("no-donex1", "no-done", None, 1),
        ("http-429", "http-429", "create", 1),
        ("http-404", "http-404", "get", None),
        ("http-404x1", "http-404", "get", 1),
        ("http-500@cancelx*", "http-500", "cancel", None),
        ("http-503@any", "http-503", "any", 1),
    ],
)
def test_written(text, name, at, times):
    """
    A fault is a name, a place and a number of times; `KINDS` has the defaults.
    """
    fault = parse_fault(text)

    assert Fault(name=name, at=at, times=times) == fault
    assert type(at) is type(fault.at)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dorp", "unknown fault 'dorp'; did you mean 'drop'?"),
        ("dorp@7", "unknown fault 'dorp@7'; did you mean 'drop'?"),
        ("explode", "unknown fault 'explode'; known: ten-minute-cut, recut, "),
        ("", "unknown fault ''"),
        ("drop@", "fault 'drop@': expected a number of events such as 7 or a time such as 600s after '@', got ''"),
        ("drop@soon", "expected a number of events such as 7 or a time such as 600s after '@', got 'soon'"),
        ("drop@-1", "after '@', got '-1'"),
        ("drop@get", "expected a number of events such as 7 or a time such as 600s after '@', got 'get'"),
        ("drop@9999999999", "after '@', got '9999999999'"),
        ("drop@7x0", "fault 'drop@7x0': expected a number of times, 1 or more or *, got 0"),
        ("drop@7@8", "unknown fault 'drop@7@8'"),
        ("zombie@99999999999s", "fault 'zombie': expected a time of at most 1e+09 seconds, got 99999999999.0"),
        ("slow-first-byte@999999999999999h", "fault 'slow-first-byte': expected a time of at most 1e+09 seconds"),
        (f"drop@{'9' * 400}s", "expected a number of events such as 7 or a time such as 600s after '@', got '999"),
        (f"dropx{'9' * 5000}", "unknown fault 'dropx999"),
        ("empty-errors@5s", "expected a number of events such as 7 after '@', got '5s'"),
        ("zombie@7", "expected a time such as 90s, 10m or 250ms after '@', got '7'"),
        ("no-usage@2s", "expected a number after '@', got '2s'"),
        ("no-done@3", "expected nothing after '@', got '3'"),
        ("http-500@home", "expected one of create, get, cancel, delete, any after '@', got 'home'"),
        ("http-200", "unknown fault 'http-200': expected a status from 400 to 599 after 'http-'"),
        ("http-NNN", "unknown fault 'http-NNN': expected a status from 400 to 599 after 'http-'"),
    ],
)
def test_written_wrong(text, message):
    """
    An invalid fault is an error with what was expected.
    """
    with pytest.raises(ValueError, match="fault") as caught:
        parse_fault(text)

    assert message in str(caught.value)


@pytest.mark.parametrize("at", [1e10, float("inf"), float("nan"), -1.0])
def test_times_that_there_are_not(at):
    """
    A fault that is made in Python has the same bounds.
    """
    with pytest.raises(ValueError, match="fault 'zombie': expected a time of at most"):
        Fault(name="zombie", at=at)


@pytest.mark.parametrize(
    ("name", "at", "message"),
    [
        ("dorp", 3, "unknown fault 'dorp'; did you mean 'drop'?"),
        ("http-NNN", "get", "unknown fault 'http-NNN': expected a status from 400 to 599"),
        (
            "drop",
            "get",
            "fault 'drop': expected a number of events such as 7 or a time such as 600s as `at`, got 'get'",
        ),
        ("drop", -1, "as `at`, got -1"),
        ("drop", True, "as `at`, got True"),
        ("duplicated-frames", 2.0, "expected a number of events such as 7 as `at`, got 2.0"),
        ("slow-first-byte", 5, "expected a time such as 90s, 10m or 250ms as `at`, got 5"),
        ("no-usage", 2.0, "expected a number as `at`, got 2.0"),
        ("no-done", 3, "expected nothing as `at`, got 3"),
        ("http-500", "home", "expected one of create, get, cancel, delete, any as `at`, got 'home'"),
    ],
)
def test_made_wrong(name, at, message):
    """
    A fault that is made in Python has a name that there is, and a place of its kind.
    """
    with pytest.raises(ValueError, match="fault") as caught:
        Fault(name=name, at=at)

    assert message in str(caught.value)


@pytest.mark.parametrize("name", [name.replace("NNN", "429") for name in KINDS] + ["http-404"])
def test_made_without_a_place(name):
    """
    A fault that is made in Python without a place has the one of its name.
    """
    assert parse_fault(name).at == Fault(name=name).at


def test_a_fault_of_a_provider():
    """
    A provider takes faults in both forms.
    """
    assert [429, 503] == [struck(fault).status for fault in (Fault(name="http-429", times=1), "http-503")]


def test_an_absurd_time_in_a_request():
    """
    A request that names an absurd time is refused.
    """
    exchange = asked(hello(), "POST", V1, create(), {"x-mock-fault": "zombie@99999999999s"})

    assert 400 == exchange.status
    assert "at most 1e+09 seconds" in exchange.document["error"]["message"]


def test_the_longest_time():
    """
    The longest time makes a run with a date.
    """
    exchange = asked(hello(faults=["zombie@1000000000s"]), "POST", V1, create())

    assert "1995-03-16T10:13:20Z" == exchange.document["created"]


def test_several():
    """
    Several faults are separated by commas or blanks.
    """
    assert ["drop", "no-done", "crlf"] == [fault.name for fault in parse_faults("drop@7, no-done crlf,")]


def test_every_fault_is_in_the_help():
    """
    The help has a line for each fault, which can be parsed.
    """
    listed = fault_help()

    assert len(KINDS) == len(listed)
    assert ("drop@3", "the connection is reset, without an end of the body") in listed
    for written, text in listed:
        assert parse_fault(written.replace("NNN", "500"))
        assert text


def test_every_fault_is_in_the_reference():
    """
    The page of the mock provider has each fault with the line of the help.
    """
    page = (Path(__file__).parents[2] / "docs" / "reference" / "mock-provider.md").read_text("utf-8")

    assert [] == [written for written, text in fault_help() if f"| `{written}` | {text} |" not in page]


def test_faults_that_clients_have_to_survive():
    """
    Each fault that clients have to survive has its name.
    """
    names = (
        "ten-minute-cut recut silent-replay zombie drop no-usage empty-errors no-completed http-404 http-429 http-500 "
        "http-501 slow-first-byte duplicated-frames reordered-frames truncated-utf8"
    )

    assert names.split() == [fault.name for fault in parse_faults(names)]


# -- where a stream ends


@pytest.mark.parametrize("generation", [1, 2])
@pytest.mark.parametrize("at", range(7))
def test_the_cut_after_events(at, generation: Generation):
    """
    The stream ends cleanly behind so many events, with the bare error of the service and nothing else.
    """
    whole = asked(hello(), "POST", V1, STREAM, {"api-revision": "2026-05-07"} if generation == 1 else {})
    cut = struck(f"ten-minute-cut@{at}", generation=generation)

    assert b"".join(whole.pieces[:at]) + TAIL == cut.body
    assert cut.ended


def test_the_cut_after_ten_minutes():
    """
    Ten minutes after the headers the stream is cut, in the middle of whatever there is.
    """

    async def main():
        clock = HandClock()
        answer = Answer(steps=(text_step("Hello"),), timing=Timing(first_byte_s=100.0, between_s=250.0))
        exchange = Exchange(provider_of(answer, clock=clock, faults=["ten-minute-cut"]), "POST", V1, BACKGROUND)
        await clock.advance(100.0)
        await clock.advance(500.0)
        before = exchange.ended, exchange.names
        await clock.advance(99.0)
        still = exchange.ended
        await clock.advance(1.0)
        await exchange.over()
        return before, still, exchange

    before, still, exchange = run(main)

    assert (False, NAMES[:3]) == before
    assert not still
    assert exchange.body.endswith(b'"step.start","event_id":"v1_Ml9zdGVwLnN0YXJ0"}\n\n' + TAIL)


@pytest.mark.parametrize(("fault", "count"), [("cut@0.5s", 2), ("cut@1s", 3), ("cut@1", 1), ("cut@400ms", 1)])
def test_a_cut_after_a_time(fault, count):
    """
    A time does not count events: those before it are sent, however many they are.
    """
    answer = Answer(steps=(text_step("Hello"),), timing=Timing(between_s=0.4))
    provider = provider_of(answer, faults=[fault], clock=JumpClock())

    assert NAMES[:count] == asked(provider, "POST", V1, STREAM).names


def test_a_short_answer_is_not_cut():
    """
    What is over before the time of a cut is whole.
    """
    assert NAMES == struck("ten-minute-cut", "recut@599s").names


def test_the_first_streams_are_cut():
    """
    A fault applies to the first stream of each run, or to a number of them; a recut applies to all.
    """

    async def main(fault):
        provider = hello(faults=[fault])
        streams = [await ask(provider, "POST", V1, BACKGROUND)]
        streams += [await ask(provider, "GET", REPLAY) for _ in range(3)]
        streams.append(await ask(provider, "POST", V1, BACKGROUND))
        return [TAIL in each.body for each in streams]

    assert [True, False, False, False, True] == asyncio.run(main("ten-minute-cut@2"))
    assert [True, True, False, False, True] == asyncio.run(main("ten-minute-cut@2x2"))
    assert [True, True, True, True, True] == asyncio.run(main("recut@2"))


def test_a_replay_is_cut_ten_minutes_after_it_began():
    """
    The ten minutes of a replay count from the replay.
    """

    async def main():
        clock = JumpClock()
        answer = Answer(steps=(text_step("Hello"),), timing=Timing(waits_s=(0, 0, 0, 1300)))
        provider = provider_of(answer, clock=clock, faults=["recut"])
        ends = []
        for exchange in (("POST", V1, BACKGROUND), ("GET", REPLAY), ("GET", REPLAY)):
            cut = TAIL in (await ask(provider, *exchange)).body
            ends.append((cut, clock.now()))
        return ends

    assert [(True, 600.0), (True, 1200.0), (False, 1300.0)] == run(main)


@pytest.mark.parametrize("at", range(6))
def test_a_clean_cut(at):
    """
    The body ends cleanly behind so many events.
    """
    exchange = struck(f"cut@{at}")

    assert NAMES[:at] == exchange.names
    assert exchange.ended


def test_cut_after_of_a_fixture():
    """
    `cut_after` of a fixture cuts the first stream; a replay is whole.
    """

    async def main():
        provider = provider_of(Answer(steps=(text_step("Hello"),), cut_after=3))
        return await ask(provider, "POST", V1, BACKGROUND), await ask(provider, "GET", REPLAY)

    first, replay = run(main)

    assert (NAMES[:3], NAMES) == (first.names, replay.names)


@pytest.mark.parametrize("at", range(6))
def test_drop(at):
    """
    A dropped connection has no end; without a server that can reset it, the app breaks off.
    """

    async def main():
        exchange = Exchange(hello(faults=[f"drop@{at}"]), "POST", V1, STREAM)
        with pytest.raises(ConnectionResetError, match="the mock provider drops this connection"):
            await exchange.over()
        return exchange

    exchange = run(main)

    assert NAMES[:at] == exchange.names
    assert not exchange.ended


@pytest.mark.parametrize(("fault", "count"), [("stall@4", 4), ("silent-replay", 2), ("silent-replay@1", 1)])
def test_silence(fault, count):
    """
    After so many events nothing comes and nothing ends, not even when the run is cancelled.
    """

    async def main():
        provider = hello(faults=[fault])
        if fault.startswith("silent"):
            assert NAMES == (await ask(provider, "POST", V1, BACKGROUND)).names
            exchange = Exchange(provider, "GET", REPLAY)
        else:
            exchange = Exchange(provider, "POST", V1, BACKGROUND)
        await settle()
        await ask(provider, "POST", f"{ONE}/cancel")
        await settle()
        silent = exchange.names, exchange.ended, exchange.task.done()
        exchange.leave()
        await exchange.over()
        return silent

    assert (NAMES[:count], False, False) == run(main)


def test_silence_of_a_run_that_is_cancelled():
    """
    A stream that hangs in the middle of a run does not show that it was cancelled.
    """

    async def main():
        clock = HandClock()
        answer = Answer(steps=(text_step("Hello"),), timing=Timing(between_s=1.0))
        provider = provider_of(answer, faults=["stall@2"], clock=clock)
        exchange = Exchange(provider, "POST", V1, BACKGROUND)
        for _ in range(3):
            await clock.advance(1.0)
        cancelled = await ask(provider, "POST", f"{ONE}/cancel")
        await settle()
        found = cancelled.document["status"], exchange.names, exchange.ended
        exchange.leave()
        await exchange.over()
        return found

    assert ("cancelled", NAMES[:2], False) == run(main)


STATUS = (
    b'event: interaction.status_update\ndata: {"interaction_id":"v1_1","status":"in_progress",'
    b'"event_type":"interaction.status_update","event_id":"v1_MV9pbnRlcmFjdGlvbi5zdGF0dXNfdXBkYXRl"}\n\n'
)
"""Its cursor is base64 of `1_interaction.status_update`."""


@pytest.mark.parametrize(
    ("fault", "beat"),
    [
        ("heartbeat-comments@5s", b": keep-alive\n\n"),
        ("heartbeat-status@5s", STATUS),
        ("heartbeat-bytes@5s", b":"),
        ("heartbeat-status@5s, split-bytes", STATUS),
    ],
)
@pytest.mark.parametrize("silence", ["stall@3x2", "silent-replay@3"])
def test_heartbeats(silence, fault, beat):
    """
    A heartbeat comes again and again where a stream hangs, and neither content nor an end.
    """

    async def main():
        clock = HandClock()
        provider = hello(faults=[silence, *fault.split(", ")], clock=clock)
        first = Exchange(provider, "POST", V1, BACKGROUND)
        await settle()
        exchange = Exchange(provider, "GET", REPLAY)
        for _ in range(2):
            await clock.advance(5.0)
        await clock.advance(4.9)
        await ask(provider, "POST", f"{ONE}/cancel")
        await settle()
        found = exchange.body, exchange.ended
        for one in (first, exchange):
            one.leave()
            await one.over()
        return found

    head = b"".join(asked(hello(), "POST", V1, BACKGROUND).pieces[:3])

    assert (head + 2 * beat, False) == run(main)


def test_heartbeats_in_less_than_a_second():
    """
    Seconds between heartbeats may be fractions.
    """

    async def main():
        clock = HandClock()
        exchange = Exchange(hello(faults=["stall@1", "heartbeat-comments@250ms"], clock=clock), "POST", V1, STREAM)
        for _ in range(3):
            await clock.advance(0.25)
        exchange.leave()
        await exchange.over()
        return exchange.body

    assert 3 == run(main).count(b": keep-alive\n\n")


def test_heartbeats_of_a_zombie():
    """
    A stream of a zombie beats from the moment at which it was opened, and still brings the end of a cancelled run.
    """

    async def main():
        clock = HandClock()
        provider = hello(faults=["zombie", "heartbeat-comments"], clock=clock)
        await ask(provider, "POST", V1, create(background=True))
        await clock.advance(100.0)
        exchange = Exchange(provider, "GET", REPLAY)
        await clock.advance(15.0)
        before = exchange.body
        await ask(provider, "POST", f"{ONE}/cancel")
        await exchange.over()
        return before, exchange

    before, exchange = run(main)

    assert 1 == before.count(b": keep-alive\n\n")
    assert before.endswith(b"}\n\n: keep-alive\n\n")
    assert [*NAMES[:2], "interaction.completed"] == exchange.names
    assert exchange.ended


def test_heartbeats_without_a_pause():
    """
    Heartbeats without any pause let others have their turn, and end with their client.
    """

    async def main():
        exchange = Exchange(hello(faults=["stall@1", "heartbeat-bytes@0s"]), "POST", V1, STREAM)
        await settle()
        exchange.leave()
        await exchange.over()
        return exchange.body

    assert run(main).endswith(b"::")


@pytest.mark.parametrize("cursor", ["", "&last_event_id=v1_Ml9zdGVwLnN0YXJ0"])
def test_a_replay_of_another_run(cursor):
    """
    A replay, from the start or behind a cursor, is whole and of another run: its id and its text are others.
    """

    async def main():
        provider = hello(faults=["other-run-replay"])
        created = await ask(provider, "POST", V1, BACKGROUND)
        return created, await ask(provider, "GET", REPLAY + cursor), await ask(provider, "GET", ONE)

    created, replay, document = run(main)

    assert NAMES == created.names
    assert ["v1_2", "v1_2"] == [event["interaction"]["id"] for event in (replay.events[0], replay.events[-1])]
    assert "v1_2" == replay.events[1]["interaction_id"]
    text = "".join(event["delta"]["text"] for event in replay.events if event["event_type"] == "step.delta")
    assert "This is the answer of another run." == text
    assert "completed" == replay.events[-1]["interaction"]["status"]
    assert "v1_1" == document.document["id"]


def test_a_document_of_another_run():
    """
    GET returns the document of another run as often as asked, then that of the run.
    """

    async def main():
        provider = hello(faults=["other-run-documentx1"])
        await ask(provider, "POST", V1, create(background=True))
        return [(await ask(provider, "GET", ONE)).document for _ in range(2)], await ask(provider, "GET", REPLAY)

    (other, own), replay = run(main)

    assert ("v1_2", "v1_1") == (other["id"], own["id"])
    assert "completed" == other["status"]
    assert "This is the answer of another run." == other["steps"][-1]["content"][0]["text"]
    assert "v1_1" == replay.events[0]["interaction"]["id"]


@pytest.mark.parametrize("body", [BACKGROUND, STREAM], ids=["background", "stream"])
def test_zombie(body):
    """
    A zombie brings two events and nothing more, is in progress for every poll, and is as old as asked.
    """

    async def main():
        provider = hello(faults=["zombie@2h"])
        exchange = Exchange(provider, "POST", V1, body)
        await settle()
        polls = [(await ask(provider, "GET", ONE)).document for _ in range(3)]
        exchange.leave()
        await exchange.over()
        return exchange.names, polls

    names, polls = run(main)

    assert NAMES[:2] == names
    assert ["in_progress"] * 3 == [poll["status"] for poll in polls]
    assert "2026-11-22T10:00:00Z" == polls[0]["created"] == polls[0]["updated"]
    assert ["user_input"] == [step["type"] for step in polls[0]["steps"]]
    assert "usage" not in polls[0]


def test_a_zombie_without_a_stream():
    """
    A zombie answers a request for a document at once: in progress.
    """
    assert "in_progress" == asked(hello(faults=["zombie"]), "POST", V1, create()).document["status"]


def test_a_zombie_can_be_cancelled():
    """
    A zombie can be cancelled, with its open streams.
    """

    async def main():
        provider = hello(faults=["zombie"])
        exchange = Exchange(provider, "POST", V1, BACKGROUND)
        await settle()
        cancelled = await ask(provider, "POST", f"{ONE}/cancel")
        await exchange.over()
        return exchange, cancelled.document["status"], await ask(provider, "GET", REPLAY)

    exchange, status, replay = run(main)

    assert "cancelled" == status == exchange.events[-1]["interaction"]["status"]
    assert exchange.body == replay.body


def test_a_zombie_is_cut():
    """
    The stream of a zombie is cut after ten minutes like any other.
    """
    assert struck("zombie", "ten-minute-cut").body.endswith(b'"interaction.status_update"}\n\n' + TAIL)


def test_error():
    """
    An error event in the middle is the last one.
    """
    exchange = struck("error@3")

    assert [*NAMES[:3], "error"] == exchange.names
    assert {"code": "internal", "message": "boom"} == exchange.events[-1]["error"]


@pytest.mark.parametrize("text", ["Hæ", "Hello"], ids=["within", "added"])
def test_truncated_utf8(text):
    """
    The body ends behind the first bytes of a character.
    """
    exchange = asked(provider_of([text_step(text)], faults=["truncated-utf8"]), "POST", V1, STREAM)

    with pytest.raises(UnicodeDecodeError, match="unexpected end of data"):
        exchange.body.decode()
    assert exchange.ended
    assert 3 == exchange.body.count(b"\n\n")


# -- content


def test_no_usage():
    """
    The end of a stream has no usage; GET has it, after as many times as it shall lack it too.
    """

    async def main(fault):
        provider = hello(faults=[fault])
        streams = [await ask(provider, "POST", V1, BACKGROUND), await ask(provider, "GET", REPLAY)]
        polls = [(await ask(provider, "GET", ONE)).document for _ in range(3)]
        return ["usage" in each.events[-1]["interaction"] for each in streams], ["usage" in poll for poll in polls]

    assert ([False, False], [True, True, True]) == asyncio.run(main("no-usage"))
    assert ([False, False], [False, False, True]) == asyncio.run(main("no-usage@2"))


def test_no_usage_in_generation_1():
    """
    The end of a 1.x stream lacks it too.
    """
    assert "usage" not in struck("no-usage", generation=1).events[-1]["interaction"]


@pytest.mark.parametrize("generation", [1, 2])
def test_no_completed(generation: Generation):
    """
    The stream ends with `[DONE]` alone; the replay is whole.
    """

    async def main():
        provider = hello(faults=["no-completed"], generation=generation)
        return await ask(provider, "POST", V1, BACKGROUND), await ask(provider, "GET", REPLAY)

    first, replay = run(main)

    assert 5 == len(first.names)
    assert first.body.endswith(b"event: done\ndata: [DONE]\n\n")
    assert 6 == len(replay.names)


def test_completed_in_progress():
    """
    The last event has the status of a run in progress.
    """
    assert "in_progress" == struck("completed-in-progress").events[-1]["interaction"]["status"]


def test_empty_errors():
    """
    Errors without content come in the middle, and the stream continues.
    """
    exchange = struck("empty-errors")

    assert [*NAMES[:2], "error", "error", "error", *NAMES[2:]] == exchange.names
    assert [None, {}, {"code": "", "message": ""}] == [event.get("error") for event in exchange.events[2:5]]


@pytest.mark.parametrize("at", [1, 3, 6])
def test_duplicated_frames(at):
    """
    The last two events come once more, with the same cursors.
    """
    exchange = struck(f"duplicated-frames@{at}", body=BACKGROUND)
    whole = asked(hello(), "POST", V1, BACKGROUND)
    expected = [*whole.events[:at], *whole.events[max(at - 2, 0) : at], *whole.events[at:]]

    assert expected == exchange.events


@pytest.mark.parametrize(("at", "order"), [(1, [1, 0, 2, 3, 4, 5]), (3, [0, 1, 3, 2, 4, 5]), (6, [0, 1, 2, 3, 4, 5])])
def test_reordered_frames(at, order):
    """
    Two neighbours change places.
    """
    exchange = struck(f"reordered-frames@{at}")

    assert [NAMES[place] for place in order] == exchange.names
    assert exchange.body.endswith(b"data: [DONE]\n\n")


def test_reordered_before_silence():
    """
    The last event before a silence has nothing to change places with.
    """

    async def main():
        exchange = Exchange(hello(faults=["zombie", "reordered-frames@2"]), "POST", V1, STREAM)
        await settle()
        exchange.leave()
        await exchange.over()
        return exchange.names

    assert NAMES[:2] == run(main)


@pytest.mark.parametrize("fault", ["duplicated-frames@1", "reordered-frames@1", "bad-json@0", "no-blank-line"])
def test_nothing_is_left_of_an_empty_rest(fault):
    """
    A stream after the last event has only `[DONE]`, and faults change little.
    """

    async def main():
        provider = hello(faults=[fault])
        await ask(provider, "POST", V1, BACKGROUND)
        return await ask(provider, "GET", f"{REPLAY}&last_event_id={LAST}")

    assert run(main).body.startswith(b"event: ")


def test_bad_json():
    """
    A frame that is not valid JSON comes in the middle.
    """
    body = struck("bad-json@3").body

    assert b'data: {"event_type":"step.delta","index":0,\n\n' in body
    assert body.endswith(b"data: [DONE]\n\n")


def test_unknown_events():
    """
    Events, steps and deltas of unknown types come in the middle.
    """
    exchange = struck("unknown-events")

    assert [*NAMES[:2], "interaction.hint", "step.start", "step.delta", "step.stop", *NAMES[2:]] == exchange.names


def test_when_inserted_events_come():
    """
    They come with the event that they precede.
    """

    async def main():
        clock = HandClock()
        answer = Answer(steps=(text_step("Hello"),), timing=Timing(waits_s=(0.0, 0.0, 10.0)))
        exchange = Exchange(provider_of(answer, clock=clock, faults=["unknown-events"]), "POST", V1, STREAM)
        await clock.advance(9.0)
        before = exchange.names
        await clock.advance(1.0)
        await exchange.over()
        return before, exchange.names

    before, names = run(main)

    assert (NAMES[:2], "interaction.hint") == (before, names[2])


def test_no_stops():
    """
    No step has an event for its end.
    """
    assert [*NAMES[:4], NAMES[5]] == struck("no-stops").names


# -- bytes


def test_bytes():
    """
    Each fault of the bytes leaves the events as they are.
    """
    whole = struck().body

    assert whole.replace(b"\n", b"\r\n") == struck("crlf").body
    assert (
        b"".join(line + b"\n" for line in whole.split(b"\n")[:-1] if b"event: " != line[:7]) == struck("data-only").body
    )
    assert struck("data-only", "ten-minute-cut@3").body.endswith(b"}\n\n" + TAIL)
    assert whole.removesuffix(b"event: done\ndata: [DONE]\n\n") == struck("no-done").body
    assert whole.removesuffix(b"\n") == struck("no-blank-line").body
    assert whole.replace(b"event: ", b": keep-alive\n\nevent: ") == struck("comments").body
    assert whole == struck("split-bytes").body


def test_pieces():
    """
    The body comes in pieces of as many bytes as asked, three by default.
    """
    assert {1, 2, 3} >= {len(piece) for piece in struck("split-bytes").pieces}
    assert {1} == {len(piece) for piece in struck("split-bytes@1").pieces}


def test_faults_of_bytes_leave_silence_alone():
    """
    The action that ends a stream has no bytes to change.
    """

    async def main(fault):
        exchange = Exchange(hello(faults=["stall@1", fault]), "POST", V1, STREAM)
        await settle()
        exchange.leave()
        await exchange.over()
        return exchange.ended

    for fault in ("crlf", "split-bytes", "no-blank-line", "bad-json@4", "truncated-utf8@4", "no-usage", "no-done"):
        assert not asyncio.run(main(fault))


# -- requests


@pytest.mark.parametrize(
    ("fault", "statuses"),
    [
        ("http-404", [200, 404, 404, 200, 200]),
        ("http-429", [429, 200, 200, 200, 200]),
        ("http-500", [500, 200, 200, 200, 200]),
        ("http-501", [501, 200, 200, 200, 200]),
        ("http-500@cancel", [200, 200, 200, 500, 200]),
        ("http-404@delete", [200, 200, 200, 200, 404]),
        ("http-503@getx1", [200, 503, 200, 200, 200]),
    ],
)
def test_http(fault, statuses):
    """
    An HTTP fault applies to its route, a number of times: create, GET, replay, cancel and delete.
    """

    async def main():
        calls = (("POST", V1, create()), ("GET", ONE), ("GET", REPLAY), ("POST", f"{ONE}/cancel"), ("DELETE", ONE))
        provider = hello(faults=[fault])
        first = (await ask(provider, *calls[0])).status
        if first != 200:
            await ask(provider, *calls[0])
        return [first, *[(await ask(provider, *call)).status for call in calls[1:]]]

    assert statuses == run(main)


def test_http_one_after_another():
    """
    Each of several HTTP faults strikes as often as it is asked for, in the order in which they are named.
    """

    async def main():
        provider = hello(faults=["http-429", "http-503x2"])
        return [(await ask(provider, "POST", V1, create())).status for _ in range(4)]

    assert [429, 503, 503, 200] == run(main)


def test_http_anywhere():
    """
    A fault of any route applies to every request.
    """

    async def main():
        provider = hello()
        await ask(provider, "POST", V1, create())
        calls = (("POST", V1, create()), ("GET", ONE), ("GET", REPLAY), ("POST", f"{ONE}/cancel"), ("DELETE", ONE))
        return [
            (await ask(provider, *call[:2], *(call[2:] or (None,)), {"x-mock-fault": "http-503@any"})).status
            for call in calls
        ]

    assert [503] * 5 == run(main)


def test_when_to_come_back():
    """
    A 429 has the time to wait, in seconds and, on the clock of the provider, in milliseconds; others have none.
    """
    assert "retry-after" not in asked(hello(faults=["http-503"]), "POST", V1, create()).headers
    exchange = asked(hello(faults=["http-429"], clock=None, time_scale=0.25), "POST", V1, create())

    assert ("1", "250") == (exchange.headers["retry-after"], exchange.headers["retry-after-ms"])
    assert "too_many_requests" == exchange.document["error"]["code"]


def test_no_chaining():
    """
    A request that names a previous interaction is answered with 501, every other as always.
    """

    async def main():
        provider = hello(faults=["no-chaining"])
        first = await ask(provider, "POST", V1, create())
        return first, await ask(provider, "POST", V1, create(previous_interaction_id="v1_1"))

    first, second = run(main)

    assert (200, 501) == (first.status, second.status)
    assert "not_implemented" == second.document["error"]["code"]


def test_a_fault_of_both_a_request_and_the_provider():
    """
    A request takes its own fault first, and leaves that of the provider to the next one.
    """

    async def main():
        provider = hello(faults=["no-chainingx1"])
        await ask(provider, "POST", V1, create())
        body = create(previous_interaction_id="v1_1")
        faults = [{"x-mock-fault": "no-chaining"}, {}, {}]
        return [(await ask(provider, "POST", V1, body, headers)).status for headers in faults]

    assert [501, 501, 200] == run(main)


@pytest.mark.parametrize("body", [STREAM, create(), create(background=True)], ids=["stream", "document", "background"])
def test_slow_first_byte(body):
    """
    The headers come late.
    """

    async def main():
        clock = HandClock()
        exchange = Exchange(hello(faults=["slow-first-byte"], clock=clock), "POST", V1, body)
        await clock.advance(29.9)
        before = exchange.status
        await clock.advance(0.1)
        await exchange.over()
        return before, exchange.status

    assert (None, 200) == run(main)


# -- whose faults


def test_faults_of_a_request():
    """
    A request may name faults: those of a run belong to the run that it creates, the others to the request alone.
    """

    async def main():
        provider = hello()
        refused = await ask(provider, "POST", V1, BACKGROUND, {"x-mock-fault": "http-500"})
        cut = await ask(provider, "POST", V1, BACKGROUND, {"x-mock-fault": "cut@2x2, crlf"})
        again = await ask(provider, "GET", REPLAY)
        once = await ask(provider, "GET", REPLAY, None, {"x-mock-fault": "cut@1"})
        whole = await ask(provider, "POST", V1, BACKGROUND)
        return refused.status, cut, again, once, whole.names

    refused, cut, again, once, whole = run(main)

    assert 500 == refused
    assert 2 == cut.body.count(b"\r\n\r\n") == again.body.count(b"\r\n\r\n")
    assert 1 == once.body.count(b"\r\n\r\n")
    assert NAMES == whole


@pytest.mark.parametrize(
    "faults",
    [
        ("comments", "cut@3"),
        ("unknown-events@2", "cut@4"),
        ("no-usage", "crlf", "no-done"),
        ("stall@3", "heartbeat-comments", "ten-minute-cut"),
    ],
    ids=str,
)
def test_the_order_in_which_faults_are_named(faults):
    """
    Faults of the content come first, then the end of the stream, then the bytes, in whatever order they are named.
    """

    def struck_in(order):
        return asyncio.run(asyncio.wait_for(left_at_silence(hello(faults=order)), 20))

    assert struck_in(faults) == struck_in(faults[::-1])


async def left_at_silence(provider):
    """Return what a stream brings until nothing can happen any more."""
    exchange = Exchange(provider, "POST", V1, STREAM)
    await settle()
    exchange.leave()
    await exchange.over()
    return exchange.body


def test_a_cut_counts_what_was_inserted():
    """
    What ends a stream counts the events that another fault has put into it.
    """
    assert ["interaction.hint", "step.start"] == struck("cut@4", "unknown-events@2").names[2:]
    assert [*NAMES[:2], NAMES[3]] == struck("cut@3", "reordered-frames@3").names


def test_delays_add_up():
    """
    Two delays of the headers are one of their sum.
    """

    async def main():
        clock = HandClock()
        exchange = Exchange(hello(faults=["slow-first-byte@2s", "slow-first-byte@3s"], clock=clock), "POST", V1, STREAM)
        await clock.advance(4.9)
        before = exchange.status
        await clock.advance(0.1)
        await exchange.over()
        return before, exchange.status

    assert (None, 200) == run(main)


def test_a_request_with_a_fault_that_there_is_not():
    """
    A header that is not a list of faults is rejected with a reason.
    """
    exchange = asked(hello(), "POST", V1, create(), {"x-mock-fault": "dorp"})

    assert 400 == exchange.status
    assert exchange.document["error"]["message"].startswith("x-mock-fault: unknown fault 'dorp'; did you")


def test_faults_of_a_fixture():
    """
    A fixture has its own faults, for its streams, and for the requests that create and get its runs.
    """

    async def main():
        answer = Answer(steps=(text_step("Hello"),), faults=("http-429", "cut@2", "http-500@cancel"))
        provider = provider_of(answer)
        created = [await ask(provider, "POST", V1, BACKGROUND) for _ in range(2)]
        cancelled = [await ask(provider, "POST", f"{ONE}/cancel") for _ in range(2)]
        return [each.status for each in (*created, *cancelled)], created[1].names

    assert ([429, 200, 500, 200], NAMES[:2]) == run(main)


@pytest.mark.parametrize(
    "name",
    [
        *("ten-minute-cut", "recut", "drop", "cut", "stall", "error", "truncated-utf8", "bad-json", "unknown-events"),
        *("empty-errors", "duplicated-frames", "reordered-frames"),
    ],
)
def test_faults_behind_the_end(name):
    """
    A fault that would strike behind the last event leaves the stream whole.
    """
    assert struck().body == struck(f"{name}@99").body == struck(f"{name}@7").body


@pytest.mark.parametrize(
    "name",
    ["crlf", "split-bytes@400", "no-blank-line", "no-stops", "completed-in-progress", "truncated-utf8@9", "comments"],
)
def test_faults_before_silence(name):
    """
    What a fault of content or bytes makes of a stream that hangs still hangs.
    """

    async def main():
        exchange = Exchange(hello(faults=["zombie", name]), "POST", V1, STREAM)
        await settle()
        hangs = not exchange.task.done()
        exchange.leave()
        await exchange.over()
        return hangs, len(exchange.names)

    assert (True, 2) == run(main)
