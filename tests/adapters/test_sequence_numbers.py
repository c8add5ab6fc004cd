"""
Frames that come twice, found by their numbers.
"""

from assistant_events.adapters.sequence_numbers import SequenceNumbers


def repeated(*frames):
    """
    Return whether each of some numbers and types came before.
    """
    numbers = SequenceNumbers(set())
    return [numbers.is_repeated(number, kind) for number, kind in frames]


def test_a_frame_that_comes_twice():
    """
    Its number came before with its type; frames without a number never did.
    """
    frames = [(0, "created"), (1, "done"), (1, "done"), (None, "done"), (None, "done"), (0, "created"), (2, "done")]

    assert [False, False, True, False, False, True, False] == repeated(*frames)


def test_deltas_are_of_one_type():
    """
    Which text a delta continues is not compared, since the fast path does not know it.
    """
    assert [False, True] == repeated((4, "text.delta"), (4, "input.delta"))


def test_wrong_numbers():
    """
    After a number of two types none is looked at.
    """
    assert [False, False, False, False] == repeated((0, "a"), (0, "b"), (0, "a"), (0, "b"))


def test_numbers_that_begin_again_with_each_item():
    """
    A frame of another item is another frame.
    """
    numbers = SequenceNumbers(set())
    frames = [(0, "added", 0), (1, "done", 0), (0, "added", 1), (1, "done", 1)]

    assert [False] * 4 == [numbers.is_repeated(*each) for each in frames]


def test_numbers_of_the_fast_path():
    """
    They belong to deltas, and count as the last number.
    """
    frame_ids = {b"9"}
    numbers = SequenceNumbers(frame_ids)
    assert (set(), None) == (frame_ids, numbers.last)

    numbers.is_repeated(3, "created")
    frame_ids.add(b"7")
    numbers.add(7)
    numbers.add(5)

    assert (True, 7) == (numbers.is_repeated(7, "text.delta"), numbers.last)
