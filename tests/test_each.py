"""Many cases in one test: none is left out, and what is wrong is named."""

import pytest

from tests.each import check_each, for_each


def is_even(number):
    assert number % 2 == 0


def test_every_case_is_checked():
    """
    All that fail are raised, each with the name of its case, and the others are checked too.
    """
    checked = []

    def check(number, other):
        checked.append(number)
        is_even(number + other)

    with pytest.raises(ExceptionGroup, match="2 of 4 cases") as raised:
        check_each({f"n{number}": (number, 0) for number in range(4)}, check)

    assert [0, 1, 2, 3] == checked
    assert [["case: n1"], ["case: n3"]] == [error.__notes__ for error in raised.value.exceptions]


def test_without_cases_it_is_skipped():
    """
    A test that checks nothing does not pass.
    """
    with pytest.raises(pytest.skip.Exception):
        check_each({}, is_even)


def test_a_test_of_names():
    """
    A check becomes a test of all names, with its own name and sentence.
    """
    found = for_each([2, 3])(is_even)

    assert ("is_even", is_even.__doc__, __name__) == (found.__name__, found.__doc__, found.__module__)
    with pytest.raises(ExceptionGroup, match="1 of 2 cases"):
        found()
