"""
Sessions for laws, drawn once in a process; with HYPOTHESIS_PROFILE=thorough each example draws its own.

To draw a session takes much longer than what a law makes of it. The sessions are the same in every run. The shortest
come first, and so the shortest that fails is shown.
"""

from functools import cache

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from assistant_events.testing import strategies

THOROUGH = settings.get_current_profile_name() == "thorough"

SIZE = settings.default.max_examples
"""How many sessions are drawn: as many as a law tries."""


def sessions(*, settled=False):
    """
    Legal sessions, as `strategies.sessions` draws them.
    """
    return strategies.sessions(settled=settled) if THOROUGH else _of(_settled_sessions if settled else _sessions)


def broken_sessions():
    """
    Sessions after a bad channel, as `strategies.broken_sessions` draws them.
    """
    return strategies.broken_sessions() if THOROUGH else _of(_broken_sessions)


def _of(drawn):
    return st.integers(0, SIZE - 1).map(lambda at: list(drawn()[at]))


@cache
def _sessions():
    return _drawn(strategies.sessions())


@cache
def _settled_sessions():
    return _drawn(strategies.sessions(settled=True))


@cache
def _broken_sessions():
    return _drawn(strategies.broken_sessions())


def _drawn(strategy):
    found = []

    @settings(max_examples=SIZE, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(strategy)
    def collect(session):
        found.append(session)

    collect()
    return sorted(found, key=len)[:SIZE]
