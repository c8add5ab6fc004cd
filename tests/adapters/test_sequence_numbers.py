"""
Frames that come twice, found by their numbers.
"""

import pytest

from assistant_events.adapters.sequence_numbers import SequenceNumbers


def repeated(*frames):
    """
    Return whether each of some frames came before: of a number, a type, an item and a delta.
    """
    return noted(*frames)[0]


def noted(*frames):
    """
    Return the same, the codes of the notes, and the last number.
    """
    codes = []
    numbers = SequenceNumbers(set(), lambda code, message: codes.append(code))
    return [numbers.is_repeated(*frame) for frame in frames], codes, numbers.last


def test_a_frame_that_comes_twice():
    """
    Its number came before with its type; frames without a number never did.
    """
    frames = [(0, "created"), (1, "done"), (1, "done"), (None, "done"), (None, "done"), (0, "created"), (2, "done")]

    assert [False, False, True, False, False, True, False] == repeated(*frames)


DELTA = (4, "text.delta", 0, "a")


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([DELTA, DELTA, DELTA], ([False, True, True], [], 4)),
        ([DELTA, (4, "text.delta", 0, "b"), DELTA], ([False] * 3, ["wrong-number"], 4)),
        ([DELTA, (4, "input.delta", 0, "a"), DELTA], ([False] * 3, ["wrong-number"], 4)),
        ([(0, "a"), (0, "b"), (0, "a"), (0, "b")], ([False] * 4, ["wrong-number"], 0)),
        ([(0, "added", 0), (1, "done", 0), (0, "added", 1), (1, "done", 1)], ([False] * 4, ["wrong-number"], 1)),
        ([DELTA, (4, "done"), (5, "done"), (None, "done"), (3, "done")], ([False] * 5, ["wrong-number"], 5)),
    ],
    ids=["the same", "another text", "another type", "always 0", "from 0 with each item", "one twice"],
)
def test_wrong_numbers(frames, expected):
    """
    A frame is the same by type, item and delta; after a number of two frames none is compared, but the highest counts:
    a stream that continues at a lower one would send frames again that are not found.
    """
    assert expected == noted(*frames)


def test_numbers_of_the_fast_path():
    """
    Their frames are compared by type, item and delta, and the highest counts as the last number.
    """
    frame_ids = {b"9"}
    codes = []
    numbers = SequenceNumbers(frame_ids, lambda code, message: codes.append(code))
    assert (set(), None) == (frame_ids, numbers.last)

    numbers.is_repeated(3, "created")
    frame_ids.update((b"5", b"7"))
    numbers.skipped("text.delta", 0).ids.extend((b"5", b"7"))
    numbers.skipped("text.delta", 0).texts.extend("ab")
    numbers.add(7)
    numbers.add(5)

    assert (True, 7) == (numbers.is_repeated(7, "text.delta", 0, "b"), numbers.last)
    assert (True, []) == (numbers.is_repeated(5, "text.delta", 0, "a"), codes)
    assert (False, []) == (numbers.is_repeated(4, "done"), codes)
    assert (False, []) == (numbers.is_repeated(9, "done"), codes)
