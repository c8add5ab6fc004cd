"""
Law 16: redacted alike.
"""

from hypothesis import given

from assistant_events import fold, redact
from assistant_events.testing import records
from tests.drawn import broken_sessions, sessions


@given(broken_sessions())
def test_redacting_and_folding_commute(session):
    """
    Folding redacted events gives the redacted transcript, also where events are lost, doubled, swapped and made up.
    """
    assert fold(map(redact, session)) == redact(fold(session))


@given(sessions())
def test_also_for_records(session):
    """
    Records keep their place, so the transcripts have the same `seq` and times.
    """
    log = records([event for event in session if event.durable])

    assert fold(map(redact, log)) == redact(fold(log))
