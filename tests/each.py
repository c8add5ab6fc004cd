"""
Many cases in one test, where a test for each would take longer than its case.
"""

import pytest


def check_each(cases, check):
    """
    Check every case, and raise all that was found, each with the name of its case. Without any the test is skipped.

    *cases* are by name; a tuple is the arguments of *check*.
    """
    if not cases:
        pytest.skip("no cases: the recordings are not beside this repository")
    found = []
    for name, case in cases.items():
        try:
            check(*case) if isinstance(case, tuple) else check(case)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other cases are checked
            error.add_note(f"case: {name}")
            found.append(error)
    if found:
        raise ExceptionGroup(f"{len(found)} of {len(cases)} cases", found)


def for_each(names):
    """
    Make a test of a check that takes a name: it checks all *names*.
    """

    def made(check):
        def test():
            check_each({name: name for name in names}, check)

        test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
        return test

    return made
