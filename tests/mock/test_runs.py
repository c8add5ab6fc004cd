"""
What becomes of the runs of the mock provider: got, replayed, resumed, cancelled, deleted, chained and forgotten.
"""

import asyncio

import pytest

from assistant_events.adapters.gemini_interactions.mock import Answer, Match, MockProvider
from assistant_events.mock import Fixture, Timing
from assistant_events.mock.runs import RunStore

from .asgi import (
    CREATED,
    Exchange,
    HandClock,
    ask,
    asked,
    call_step,
    create,
    provider_of,
    settle,
    text_step,
    thought_step,
    told,
)

V1 = "/v1beta/interactions"
ONE = f"{V1}/v1_1"
SLOW = Timing(between_s=1.0)
BACKGROUND = create(background=True)
USER = {"type": "user_input", "content": [{"type": "text", "text": "hi"}]}


def run(main):
    return asyncio.run(asyncio.wait_for(main(), 20))


def test_get():
    """
    GET brings the input of the user first, then the answer.
    """

    async def main():
        provider = provider_of(Answer(steps=(text_step("Hello"),), usage={"total_tokens": 3}))
        await ask(provider, "POST", V1, create(stream=True))
        return (await ask(provider, "GET", ONE)).document

    assert {
        "id": "v1_1",
        "status": "completed",
        "object": "interaction",
        "model": "gemini-3.6-flash",
        "created": CREATED,
        "updated": CREATED,
        "steps": [USER, text_step("Hello")],
        "usage": {"total_tokens": 3},
    } == run(main)


def test_get_of_half_a_character():
    """
    Half a surrogate pair in the input comes back as the replacement character.
    """

    async def main():
        provider = provider_of(Answer(steps=(text_step("Hello"),)))
        await ask(provider, "POST", V1, create("h\ud83d!"))
        return (await ask(provider, "GET", ONE)).body

    assert "h\ufffd!".encode() in run(main)


@pytest.mark.parametrize(
    ("given", "steps"),
    [
        ("hi", [USER]),
        ({"type": "text", "text": "hi"}, [USER]),
        ([{"type": "text", "text": "hi"}], [USER]),
        (
            [USER, text_step("x"), call_step(), {"type": "function_result", "call_id": "c1", "name": "f"}, USER],
            [USER] * 2,
        ),
        ([{"role": "user", "content": "hi"}, {"role": "model", "content": "x"}], [USER]),
        ([7, None], []),
    ],
    ids=["string", "content", "list", "steps", "turns", "nonsense"],
)
def test_input_that_is_repeated(given, steps):
    """
    Only the input of the user is returned, in the form of steps, whatever form it had.
    """

    async def main():
        provider = provider_of([text_step("Hello")], strict=False)
        await ask(provider, "POST", V1, create(given))
        return (await ask(provider, "GET", ONE)).document["steps"]

    assert [*steps, text_step("Hello")] == run(main)


def test_background():
    """
    A background run is answered at once, without steps; it continues by itself and is complete at its time.
    """

    async def main():
        clock = HandClock()
        provider = provider_of(Answer(steps=(text_step("Hi"),), timing=SLOW), clock=clock)
        created = await ask(provider, "POST", V1, BACKGROUND)
        early = await ask(provider, "GET", ONE)
        await clock.advance(5.0)
        late = await ask(provider, "GET", ONE)
        return created.document, early.document, late.document

    created, early, late = run(main)

    assert {
        "id": "v1_1",
        "status": "in_progress",
        "object": "interaction",
        "model": "gemini-3.6-flash",
        "created": CREATED,
        "updated": CREATED,
    } == created
    assert ("in_progress", [USER]) == (early["status"], early["steps"])
    assert ("completed", [USER, text_step("Hi")]) == (late["status"], late["steps"])
    assert "usage" not in early
    assert "2026-11-22T12:00:05Z" == late["updated"]


def test_polls():
    """
    A fixture can let a run be in progress for a number of polls, whatever its time.
    """

    async def main():
        provider = provider_of(Answer(steps=(text_step("Hi"),), polls_in_progress=2))
        await ask(provider, "POST", V1, BACKGROUND)
        return [(await ask(provider, "GET", ONE)).document["status"] for _ in range(4)]

    assert ["in_progress", "in_progress", "completed", "completed"] == run(main)


def test_a_stream_ends_the_polls():
    """
    After a stream has sent the end, no poll is in_progress.
    """

    async def main():
        provider = provider_of(Answer(steps=(text_step("Hi"),), polls_in_progress=9), faults=["queued@2"])
        await ask(provider, "POST", V1, create(background=True, stream=True))
        return (await ask(provider, "GET", ONE)).document["status"]

    assert "completed" == run(main)


def test_a_stream_that_breaks_off_ends_no_polls():
    """
    Its run is in progress for as many polls as without it.
    """

    async def main():
        provider = provider_of(Answer(steps=(text_step("Hi"),), polls_in_progress=2), faults=["cut@2"])
        await ask(provider, "POST", V1, create(background=True, stream=True))
        return [(await ask(provider, "GET", ONE)).document["status"] for _ in range(3)]

    assert ["in_progress", "in_progress", "completed"] == run(main)


def test_polls_are_of_the_background():
    """
    An answer in the foreground comes with its end, whatever a poll of a run in the background would show.
    """
    answer = Answer(steps=(text_step("Hi"),), polls_in_progress=2)

    assert "completed" == asked(provider_of(answer, faults=["queued@2"]), "POST", V1, create()).document["status"]


def test_when_a_run_has_changed_last():
    """
    A run that is queued or in progress has not changed since its start; one that has ended does so once.
    """

    async def main():
        clock = HandClock()
        provider = provider_of(Answer(steps=(text_step("Hi"),), timing=SLOW), clock=clock, faults=["queued@1"])
        await ask(provider, "POST", V1, BACKGROUND)
        found = []
        for _ in range(4):
            await clock.advance(2.0)
            found.append((await ask(provider, "GET", ONE)).document)
        return [(each["status"], each["updated"][-6:]) for each in found]

    assert [("queued", "00:00Z"), ("in_progress", "00:00Z"), ("completed", "00:06Z"), ("completed", "00:06Z")] == run(
        main
    )


def test_queued():
    """
    With the fault a run is queued when it is created and for the first polls, then in progress, then complete.
    """

    async def main():
        provider = provider_of(Answer(steps=(text_step("Hi"),), polls_in_progress=1), faults=["queued@2"])
        created = await ask(provider, "POST", V1, BACKGROUND)
        polls = [await ask(provider, "GET", ONE) for _ in range(4)]
        return [each.document["status"] for each in (created, *polls)]

    assert ["queued", "queued", "queued", "in_progress", "completed"] == run(main)


@pytest.mark.parametrize("background", [True, False])
def test_replay(background):
    """
    A replay brings the same bytes as the stream that was there first.
    """

    async def main():
        provider = provider_of([thought_step("p"), text_step("Hello"), call_step(city="Oslo")])
        first = await ask(provider, "POST", V1, create(stream=True, background=background))
        return first.body, (await ask(provider, "GET", f"{ONE}?stream=true")).body

    first, again = run(main)

    assert first == again


def test_a_replay_does_not_wait_for_a_first_byte():
    """
    The time until the first byte is part of the run, which a replay reads as it is.
    """

    async def main():
        clock = HandClock()
        answer = Answer(steps=(text_step("Hello"),), timing=Timing(first_byte_s=9.0))
        provider = provider_of(answer, clock=clock)
        created = Exchange(provider, "POST", V1, create(stream=True))
        await clock.advance(9.0)
        await created.over()
        return created, await ask(provider, "GET", f"{ONE}?stream=true")

    created, replay = run(main)

    assert created.body == replay.body


def test_a_replay_follows_a_run():
    """
    A replay of a run in progress has the events so far, then the following ones.
    """

    async def main():
        clock = HandClock()
        provider = provider_of(Answer(steps=(text_step("Hi"),), timing=SLOW), clock=clock)
        await ask(provider, "POST", V1, BACKGROUND)
        await clock.advance(2.0)
        replay = Exchange(provider, "GET", f"{ONE}?stream=true")
        await settle()
        at_once = len(replay.pieces)
        await clock.advance(1.0)
        following = len(replay.pieces)
        await clock.advance(2.0)
        await replay.over()
        return at_once, following, replay.names[-1]

    assert (3, 4, "interaction.completed") == run(main)


@pytest.mark.parametrize("place", range(6))
def test_resume(place):
    """
    With the cursor of an event the stream continues with the one after it, to the end.
    """

    async def main():
        provider = provider_of()
        whole = await ask(provider, "POST", V1, create(stream=True, background=True))
        cursor = whole.events[place]["event_id"]
        return whole, await ask(provider, "GET", f"{ONE}?last_event_id={cursor}&stream=true")

    whole, rest = run(main)

    assert whole.events[place + 1 :] == rest.events
    assert rest.body.endswith(b"data: [DONE]\n\n")


def test_resume_after_an_unknown_event():
    """
    A cursor that this run never gave is refused, also for a run that gives none.
    """

    async def main():
        provider = provider_of()
        await ask(provider, "POST", V1, create(stream=True, background=True))
        await ask(provider, "POST", V1, create(stream=True))
        known = "v1_MF9pbnRlcmFjdGlvbi5jcmVhdGVk"
        targets = [f"{ONE}?stream=true&last_event_id=nonsense", f"{V1}/v1_2?stream=true&last_event_id={known}"]
        return [await ask(provider, "GET", target) for target in targets]

    for exchange in run(main):
        assert (400, "invalid_request") == (exchange.status, exchange.document["error"]["code"])


@pytest.mark.parametrize("stream", ["false", "False", "no", ""])
def test_a_cursor_without_a_stream(stream):
    """
    Only `stream=true` means a stream; a cursor is ignored without it.
    """

    async def main():
        provider = provider_of()
        await ask(provider, "POST", V1, create())
        return await ask(provider, "GET", f"{ONE}?stream={stream}&last_event_id=x&include_input=true")

    assert "completed" == run(main).document["status"]


@pytest.mark.parametrize("background", [True, False])
@pytest.mark.parametrize("generation", [1, 2])
def test_cancel_while_streaming(background, generation):
    """
    Open streams, of the creation and of replays, end with the cancellation; later replays and GET agree.
    """

    async def main():
        clock = HandClock()
        answer = Answer(steps=(text_step("Hello there"),), timing=Timing(between_s=1.0, delta_chars=5))
        provider = provider_of(answer, clock=clock, generation=generation)
        created = Exchange(provider, "POST", V1, create(stream=True, background=background))
        await clock.advance(3.0)
        replay = Exchange(provider, "GET", f"{ONE}?stream=true")
        await settle()
        cancelled = await ask(provider, "POST", f"{ONE}/cancel", {})
        await created.over()
        await replay.over()
        later = await ask(provider, "GET", f"{ONE}?stream=true")
        return created, replay, cancelled.document, (await ask(provider, "GET", ONE)).document, later

    created, replay, cancelled, got, later = run(main)
    content = cancelled["outputs"][0] if generation == 1 else cancelled["steps"][1]["content"][0]

    assert 5 == len(created.names)
    assert ["cancelled"] * 3 == [each.events[-1]["interaction"]["status"] for each in (created, replay, later)]
    assert created.body == replay.body == later.body
    assert created.body.endswith(b"data: [DONE]\n\n")
    assert "cancelled" == cancelled["status"] == got["status"]
    assert {"type": "text", "text": "Hello"} == content


def test_cancel_before_anything_came():
    """
    A run that is cancelled at once has no steps of its own.
    """

    async def main():
        provider = provider_of(Answer(steps=(text_step("Hi"),), timing=Timing(first_byte_s=9.0)), clock=HandClock())
        creating = asyncio.create_task(ask(provider, "POST", V1, create()))
        await settle()
        cancelled = await ask(provider, "POST", f"{ONE}:cancel")
        return cancelled.document, (await creating).document

    cancelled, created = run(main)

    assert ("cancelled", [USER]) == (cancelled["status"], cancelled["steps"])
    assert ("cancelled", []) == (created["status"], created["steps"])


def test_cancel_before_a_stream_begins():
    """
    A stream that has sent nothing, not even its headers, ends with the cancellation, too.
    """

    async def main():
        provider = provider_of(Answer(steps=(text_step("Hi"),), timing=Timing(first_byte_s=9.0)), clock=HandClock())
        created = Exchange(provider, "POST", V1, create(stream=True))
        await settle()
        await ask(provider, "POST", f"{ONE}/cancel")
        await created.over()
        return created

    created = run(main)

    assert (200, "cancelled") == (created.status, created.events[-1]["interaction"]["status"])


@pytest.mark.parametrize("usage", [None, {"total_output_tokens": 99, "total_tokens": 100}])
@pytest.mark.parametrize(("seconds", "tokens"), [(0.0, 0), (1.5, 0), (3.0, 2)])
def test_usage_of_a_cancelled_run(seconds, tokens, usage):
    """
    The usage of a cancelled run counts the text that it has sent, not its whole answer.
    """

    async def main():
        clock = HandClock()
        timing = Timing(between_s=1.0, delta_chars=8)
        answer = Answer(steps=(text_step("Hello there, all of you"),), timing=timing, usage=usage)
        provider = provider_of(answer, clock=clock)
        created = Exchange(provider, "POST", V1, create("1234", stream=True, background=True))
        await clock.advance(seconds)
        cancelled = await ask(provider, "POST", f"{ONE}/cancel", {})
        await created.over()
        return created.events[-1]["interaction"]["usage"], cancelled.document["usage"]

    streamed, got = run(main)

    assert streamed == got
    assert (1, tokens, 1 + tokens) == (got["total_input_tokens"], got["total_output_tokens"], got["total_tokens"])


def test_cancel_between_the_last_event_and_the_end_of_the_polls():
    """
    A run that has brought everything and is still polled can be cancelled; it ends once, as cancelled.
    """

    async def main():
        provider = provider_of(Answer(steps=(text_step("Hi"),), polls_in_progress=2))
        await ask(provider, "POST", V1, create(background=True))
        cancelled = await ask(provider, "POST", f"{ONE}/cancel")
        return cancelled.document, await ask(provider, "GET", f"{ONE}?stream=true")

    cancelled, replay = run(main)

    assert "cancelled" == cancelled["status"]
    assert 1 == replay.names.count("interaction.completed")
    assert ("step.stop", "cancelled") == (replay.names[-2], replay.events[-1]["interaction"]["status"])


def test_cancel_after_the_end():
    """
    A run that has ended stays as it is.
    """

    async def main():
        provider = provider_of()
        await ask(provider, "POST", V1, create())
        return (await ask(provider, "POST", f"{ONE}/cancel")).document["status"]

    assert "completed" == run(main)


def test_delete():
    """
    A record that is deleted is gone for everybody who asks; its run and the stream of it go on.
    """

    async def main():
        clock = HandClock()
        provider = provider_of(Answer(steps=(text_step("Hi"),), timing=SLOW), clock=clock)
        stream = Exchange(provider, "POST", V1, create(stream=True, background=True))
        await clock.advance(2.0)
        statuses = [
            (await ask(provider, method, target, body)).status
            for method, target, body in (
                ("DELETE", ONE, None),
                ("GET", ONE, None),
                ("GET", f"{ONE}?stream=true", None),
                ("POST", f"{ONE}/cancel", None),
                ("DELETE", ONE, None),
                ("POST", V1, create(previous_interaction_id="v1_1")),
            )
        ]
        for _ in range(3):
            await clock.advance(1.0)
        await stream.over()
        return statuses, stream.events[-1]["interaction"]["status"]

    assert ([200, 404, 404, 404, 200, 404], "completed") == run(main)


def test_what_is_not_stored_is_not_there():
    """
    A run with `store: false` has no id to ask for.
    """

    async def main():
        provider = provider_of()
        await ask(provider, "POST", V1, create(store=False))
        return (await ask(provider, "GET", ONE)).status

    assert 404 == run(main)


def test_a_run_of_antigravity_ends_with_its_connection():
    """
    The agent of May 2026 keeps nothing of a run whose reader left; of a run that was read to its end it does.
    """

    async def main():
        provider = provider_of([text_step("Hi")], faults=["cut@3"])
        body = {"agent": "antigravity-preview-05-2026", "input": "hi", "stream": True}
        await ask(provider, "POST", V1, body)
        cut = await ask(provider, "GET", ONE)
        provider = provider_of([text_step("Hi")])
        await ask(provider, "POST", V1, body)
        return cut.status, (await ask(provider, "GET", ONE)).status

    assert (404, 200) == run(main)


def test_conversations():
    """
    A turn that names the one before it is counted with it, and shows it.
    """

    async def main():
        provider = provider_of_fixtures(
            Fixture(match=Match(turn=1), answers=(Answer(steps=(text_step("first"),)),)),
            Fixture(match=Match(turn=2), answers=(Answer(steps=(text_step("second"),)),)),
        )
        first = await ask(provider, "POST", V1, create())
        second = await ask(provider, "POST", V1, create(previous_interaction_id=first.document["id"]))
        return first.document, second.document

    first, second = run(main)

    assert "first" == first["steps"][0]["content"][0]["text"]
    assert "second" == second["steps"][0]["content"][0]["text"]
    assert first["id"] == second["previous_interaction_id"]


def provider_of_fixtures(*fixtures):
    return MockProvider(fixtures)


def test_a_fixture_names_its_interaction():
    """
    The id of a fixture is the id of its run; the newest run of an id is the one that is known.
    """

    async def main():
        provider = provider_of(
            Answer(id="v1_mine", steps=(text_step("one"),)), Answer(id="v1_mine", steps=(text_step("two"),))
        )
        ids = [(await ask(provider, "POST", V1, create())).document["id"] for _ in range(2)]
        return ids, (await ask(provider, "GET", f"{V1}/v1_mine")).document["steps"][1]

    assert (["v1_mine", "v1_mine"], text_step("two")) == run(main)


def test_a_long_answer_in_hops():
    """
    Each hop has its own id and stream; the next one names the token and the hop before it, and no input.
    """

    async def main():
        provider = provider_of_fixtures(
            told("hi", text_step("P1 "), continuation_token="dG9r"),
            Fixture(match=Match(continuation_token="dG9r"), answers=(Answer(steps=(text_step("P2"),)),)),
        )
        first = await ask(provider, "POST", V1, create(stream=True))
        head = first.events[-1]["interaction"]
        hop = {"model": "m", "previous_interaction_id": head["id"], "continuation_token": head["continuation_token"]}
        second = await ask(provider, "POST", V1, {**hop, "stream": True})
        got = await ask(provider, "GET", f"{V1}/{second.events[0]['interaction']['id']}")
        return head["status"], second.events[-1]["interaction"]["status"], got.document["steps"]

    assert ("requires_continuation", "completed", [text_step("P2")]) == run(main)


def test_hops_of_the_background_are_joined():
    """
    In the background the provider continues by itself: one run with the steps of all hops, and no token.
    """

    async def main():
        provider = provider_of_fixtures(
            told("hi", text_step("P1 "), continuation_token="t1"),
            Fixture(
                match=Match(continuation_token="t1"),
                answers=(Answer(steps=(text_step("P2 "),), continuation_token="t2"),),
            ),
            Fixture(match=Match(continuation_token="t2"), answers=(Answer(steps=(text_step("P3"),)),)),
        )
        stream = await ask(provider, "POST", V1, create(background=True, stream=True))
        run_id = stream.events[0]["interaction"]["id"]
        return stream.events[-1]["interaction"], (await ask(provider, "GET", f"{V1}/{run_id}")).document

    end, got = run(main)

    assert "completed" == end["status"] == got["status"]
    assert "continuation_token" not in end
    assert [text_step("P1 "), text_step("P2 "), text_step("P3")] == got["steps"][1:]


@pytest.mark.parametrize(("counts", "total"), [((9, 4), 13), ((9, None), 3), ((None, 4), 3)])
def test_the_usage_of_hops(counts, total):
    """
    It is the sum of what both fixtures have; where one has none, it is computed from the texts of all.
    """

    async def main():
        usage = [None if count is None else {"total_tokens": count} for count in counts]
        first = Answer(steps=(text_step("P1 "),), usage=usage[0], continuation_token="t1")
        second = Answer(steps=(text_step("P2"),), usage=usage[1])
        provider = provider_of_fixtures(
            Fixture(match=Match(user_text="hi"), answers=(first,)),
            Fixture(match=Match(continuation_token="t1"), answers=(second,)),
        )
        stream = await ask(provider, "POST", V1, create(background=True, stream=True))
        return stream.events[-1]["interaction"]["usage"]["total_tokens"]

    assert total == run(main)


def test_hops_without_a_following_fixture_stay():
    """
    A token that no fixture answers, or its own, is given to the client in the background too.
    """

    async def main():
        lonely = provider_of_fixtures(
            Fixture(match=Match(continuation_token=""), answers=(Answer(continuation_token="t1"),))
        )
        circle = provider_of_fixtures(Fixture(answers=(Answer(steps=(text_step("a"),), continuation_token="t1"),)))
        return [(await ask(each, "POST", V1, create(background=True, stream=True))).events for each in (lonely, circle)]

    lonely, circle = run(main)
    ends = [events[-1]["interaction"] for events in (lonely, circle)]

    assert ["t1", "t1"] == [end["continuation_token"] for end in ends]
    assert ["requires_continuation"] * 2 == [end["status"] for end in ends]
    assert 1 == sum(event["event_type"] == "step.start" for event in circle)


def test_usage_of_joined_hops():
    """
    The counts of joined hops are summed; other values are those of the last.
    """

    async def main():
        usages = ({"total_tokens": 3, "a": [1], "b": 7, "c": [3]}, {"total_tokens": 4, "a": [2]})
        provider = provider_of_fixtures(
            told("hi", text_step("P1 "), continuation_token="t1", usage=usages[0]),
            Fixture(match=Match(continuation_token="t1"), answers=(Answer(usage=usages[1]),)),
        )
        return (await ask(provider, "POST", V1, create(background=True, stream=True))).events[-1]

    assert {"total_tokens": 7, "a": [2], "b": 7, "c": [3]} == run(main)["interaction"]["usage"]


class Kept:
    """
    As much of a run as the store looks at.
    """

    def __init__(self, run_id, previous=None, streams=0):
        self.id = run_id
        self.streams = streams
        self.previous_id = previous


def test_the_oldest_runs_are_given_up():
    """
    Beyond the limits the oldest runs go, by number and by size, but none with an open stream and not the newest.
    """
    by_number = RunStore(2, 1000)
    for name in "abc":
        by_number.add(Kept(name, streams=name == "a"), 1)
    by_size = RunStore(10, 100)
    for name, size in (("a", 60), ("b", 30), ("c", 500), ("d", 10)):
        by_size.add(Kept(name), size)

    assert ["a", "c"] == [each.id for each in by_number]
    assert ["d"] == [each.id for each in by_size]
    assert 1 == len(by_size)


def test_no_more_runs_are_given_up_than_needed():
    """
    Only so many runs go that the rest is within the limits.
    """
    by_number, by_size = RunStore(3, 1000), RunStore(10, 100)
    for name in "abcd":
        by_number.add(Kept(name), 1)
        by_size.add(Kept(name), 30)

    assert ["b", "c", "d"] == [each.id for each in by_number] == [each.id for each in by_size]


def test_a_run_that_takes_the_place_of_another():
    """
    The older one of an id counts no longer.
    """
    store = RunStore(10, 100)
    for name in "aab":
        store.add(Kept(name), 50)

    assert ["a", "b"] == [each.id for each in store]


def test_a_request_without_a_model():
    """
    A lenient provider accepts a request without model and agent; the interaction has an unknown model.
    """
    exchange = asked(provider_of(strict=False), "POST", V1, {"input": "Hi"}, {"x-goog-api-key": None})

    assert "unknown" == exchange.document["model"]


def test_chains():
    """
    A chain is ordered from the oldest to the newest; it ends at a missing run, and has each run once.
    """
    store = RunStore(10, 100)
    for name, previous in (("a", "gone"), ("b", "a"), ("c", "b"), ("x", "y"), ("y", "x")):
        store.add(Kept(name, previous), 1)

    assert ["a", "b", "c"] == [each.id for each in store.chain("c")]
    assert ["y", "x"] == [each.id for each in store.chain("x")]
    assert [] == store.chain("nobody") == store.chain(None)


def test_who_waits_in_a_loop_that_is_gone():
    """
    A listener whose event loop was closed does not affect the others.
    """
    provider = provider_of(Answer(steps=(text_step("Hi"),), timing=SLOW), clock=HandClock())

    async def listen():
        await ask(provider, "POST", V1, BACKGROUND)
        listening = provider._service.runs.get("v1_1").listening(asyncio.Event())
        listening.__enter__()
        return listening

    async def cancel():
        return (await ask(provider, "POST", f"{ONE}/cancel")).document["status"]

    never_left = run(listen)

    assert "cancelled" == run(cancel)
    assert never_left
