"""
Law 14 for the module: what a fold reads, copies and moves grows with the items and not faster. It is counted.
"""

from base64 import b64encode

import pytest

from tests.outward.test_fold_by_hand import START, delta, event, frame, record

SIZE = 300
TEXT = [{"type": "text", "text": "Hi"}]


def placed(events):
    return [record(seq, each) for seq, each in enumerate(events, 1)]


def call(number, kind, message_id="a1", **fields):
    return event(kind, message_id, call_id=f"c{number}", **fields)


def called(number, message_id="a1"):
    return call(number, "tool.called", message_id, name="search", input={})


def started(message_id, **fields):
    return {**START, "message_id": message_id, **fields}


def messages(size):
    turns = [(event("prompt.submitted", f"u{n}", content=TEXT), started(f"a{n}")) for n in range(size)]
    return placed([each for turn in turns for each in turn])


def prompts_behind_an_answer(size):
    """Each prompt but the first comes while the answer to the one before is begun."""
    said = [event("prompt.submitted", f"u{n}", content=TEXT) for n in range(size)]
    answers = [started(f"a{n}", before=f"u{n + 1}") for n in range(size - 1)]
    return placed([said[0], *[each for pair in zip(said[1:], answers, strict=True) for each in pair]])


def rewound(size):
    turns = [(event("prompt.submitted", f"u{n}", content=TEXT), event("history.rewound", f"u{n}")) for n in range(size)]
    return placed([each for turn in turns for each in turn])


def texts(size):
    return placed([START, *[event("text.started"), event("text.ended", text="so")] * size])


def calls(size):
    steps = [call(n, kind, attempt=1) for n in range(size) for kind in ("tool.started", "tool.success")]
    return placed([START, *map(called, range(size)), event("step.ended", finish_reason="tool-calls"), *steps])


def calls_while_a_text_is_open(size):
    return [
        *[START, event("text.started")],
        *[each for n in range(size) for each in (delta(2 * n, "so"), called(n))],
        event("text.ended", text="so" * size),
    ]


def answers_to_old_messages(size):
    asked = [each for n in range(size) for each in (started(f"a{n}"), called(0, f"a{n}"))]
    return [*asked, *[call(0, "tool.success", f"a{n}") for n in range(size)]]


def again(size):
    """Of a fragment and a call that are not the last ones, and of a message that was rewound."""
    begun = [*messages(size), *texts(size)[1:], called(0), event("history.rewound", "u1")]
    begun = [each.get("event", each) for each in begun]
    return [*begun, *begun, *begun]


def deltas_in_frames(size):
    deltas = [delta(2 * n, "so") for n in range(size)]
    return [*placed([START, event("text.started")]), *[frame(2, *deltas[at : at + 10]) for at in range(0, size, 10)]]


def media(length):
    def items(size):
        piece = b64encode(b"\x07" * length).decode()
        deltas = [delta(length * n, piece, "media") for n in range(size)]
        return [START, event("media.started", media_type="image/png"), *deltas]

    items.__name__ = f"media_{length}"
    return items


@pytest.mark.parametrize(
    "items",
    [
        messages,
        prompts_behind_an_answer,
        rewound,
        texts,
        calls,
        calls_while_a_text_is_open,
        answers_to_old_messages,
        again,
        deltas_in_frames,
        media(300),
        media(301),
    ],
    ids=lambda items: items.__name__,
)
def test_fold_grows_with_the_items(counted, folded, items):
    """
    Twice the items cost twice the work.
    """
    few, many = counted(items(SIZE)), counted(items(2 * SIZE))

    assert many < 2.3 * few + 100
    assert {"gap", "orphan"}.isdisjoint(folded(items(SIZE))[1])


def test_fold_onto_a_long_transcript(counted, folded):
    """
    Items for messages of a transcript that is there already, and behind them, cost no search in it and no copy each.
    """

    def work(size):
        pairs = [(event("prompt.submitted", f"n{n}", content=TEXT), called(0, f"a{n}")) for n in range(size)]
        return counted([each for pair in pairs for each in pair], folded(messages(size))[0])

    assert work(2 * SIZE) < 2.3 * work(SIZE)
