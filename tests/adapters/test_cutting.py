"""
Streams that are cut: at every byte, closed or rejoined in every way, the sentences of `check_adapter` hold.
"""

import pytest

from assistant_events import AssistantMessage, find_problems, fold
from assistant_events.testing.adapters import Trial, check_adapter

from .notation import DIALECT, THOROUGH, D, S, X, answer, decoder, frame, mo, stream, text
from .samples import SAMPLES, hops

EVERY = 4096 if THOROUGH else 600
"""Size up to which a stream is cut at every byte, otherwise at the ends of frames and at random."""

IN_BACKGROUND = {"background": True, "model": "gemini-3.6-flash"}


@pytest.mark.parametrize("name", ["plain", "two hops"])
def test_runs_that_can_be_resumed_are_rejoined_too(name):
    """
    What holds for every sample (`test_dialects.py`) holds for a run that continues without a client.
    """
    check_adapter(
        DIALECT,
        {name: SAMPLES[name]},
        request=IN_BACKGROUND,
        mutations=20,
        every_position=EVERY,
    )


def test_hops_that_come_again_with_more():
    """
    A second run of the hops adds to what has ended: it is legal wherever it is cut, and the first hop stays.
    """
    body = stream(*hops((), ())[:-2], *hops([S(0, mo("x")), X(0)], [S(0, mo("y")), X(0)]))
    trial = Trial(DIALECT, "other hops", body, every_position=EVERY)
    trial.check_whole()
    trial.check_splits()
    trial.check_cutting()
    trial.check_repeats()
    trial.check_damage(20)

    assert ["", "y"] == [message.text for message in trial.answers]


def raw(body, at):
    """
    Return the transcript when the replay is simply fed after the cut, without a call of `rejoin`.
    """
    made = decoder("a1")
    found = made.feed(body[:at]) + made.feed(body) + made.close()
    assert [] == find_problems(found)
    assert made.failure is None
    return fold(found)


STEP = 1 if THOROUGH else 7
"""How far apart cuts are: frames are longer, and of other lengths."""

RAW = ["plain", "overlap", "overlap of one kind", "parallel calls", "tools of the provider", "media and citations"]


@pytest.mark.parametrize("name", [*RAW, "with event ids"])
def test_replay_without_a_word(name):
    """
    A replay that begins without `rejoin` is known by its created event, wherever the stream was cut.
    """
    body = SAMPLES[name]
    whole = Trial(DIALECT, name, body).transcript
    for at in range(0, len(body), STEP):
        assert whole == raw(body, at), at


def recut(*pieces):
    return answer(S(0, mo()), *[D(0, text(piece)) for piece in pieces], X(0))


@pytest.mark.parametrize(
    "pieces", [["Hello", " world"], ["H", "e", "l", "lo wo", "rld"], ["Hello world"], ["Hel", "lo", " ", "world"]]
)
def test_a_replay_that_is_cut_into_other_deltas(pieces):
    """
    A server may replay in larger or smaller pieces: offsets show what is new.
    """
    body = recut("Hel", "lo wor", "ld")
    whole = Trial(DIALECT, "recut", body).transcript
    for at in range(0, len(body), STEP):
        made = decoder("a1")
        before = made.feed(body[:at])
        if made.terminal:
            break
        made.rejoin()
        after = made.feed(recut(*pieces)) + made.close()

        assert [] == find_problems(before + after)
        assert whole == fold(before + after)
        prior = [each for each in fold(before).messages if isinstance(each, AssistantMessage)]
        second = decoder("a1", prior=prior)
        assert whole == fold(before + second.feed(recut(*pieces)) + second.close())


def test_nothing_comes_out_twice():
    """
    What had come out before a replay does not come out again.
    """
    frames = [frame(each) for each in (S(0, mo()), D(0, text("Hel")), D(0, text("lo")), X(0))]
    body = recut("Hel", "lo")
    made = decoder()
    before = made.feed(body[: body.index(frames[2])])
    made.rejoin()
    after = made.feed(body)

    assert ["step.started", "text.started", "text.delta"] == [event.type for event in before]
    assert ["text.delta", "text.ended", "step.ended"] == [event.type for event in after]
    assert ("lo", 3) == (after[0].delta, after[0].offset)


def test_a_replay_that_says_something_else():
    """
    Where the replay contradicts what was recorded, the message starts over.
    """
    made = decoder()
    before = made.feed(recut("Hello")[: recut("Hello").index(frame(X(0)))])
    made.rejoin()
    found = before + made.feed(recut("Goodbye")) + made.close()

    assert "step.restarted" in [event.type for event in found]
    assert [] == find_problems(found)
    assert "Goodbye" == fold(found).last.text


def test_the_replay_of_a_finished_message():
    """
    A message that is complete needs nothing.
    """
    body = recut("Hello")
    made = decoder()
    prior = fold(made.feed(body)).last
    second = decoder(prior=prior)

    assert [] == second.feed(body) + second.close()


def test_a_cut_stream_that_is_never_rejoined_is_no_loss():
    """
    Closing after a failed replay leaves what was there.
    """
    body = recut("Hello", " world")
    made = decoder()
    before = made.feed(body[: body.index(frame(X(0)))])
    made.rejoin()
    after = made.feed(stream()) + made.close()

    assert "Hello world" == fold(before + after).last.text
    assert "failed" == fold(before + after).last.status
