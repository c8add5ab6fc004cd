"""
A whole document without an answer fails: with the error that it has, else because it has none.
"""

import pytest

from assistant_events import Origin, StepEnded, StepStarted, fold
from assistant_events.adapters import dialect_names, load_dialect

DOCUMENTS = [
    ({}, "protocol", "the document is not an answer of {}"),
    ({"id": "x", "object": "list", "data": []}, "protocol", "the document is not an answer of {}"),
    ({"status": 404, "path": "/v1"}, "protocol", "the document is not an answer of {}"),
    ({"detail": "Not Found"}, "provider", "Not Found"),
    ({"message": "no Route matched with those values"}, "provider", "no Route matched with those values"),
    ({"error": "Unauthorized"}, "provider", "Unauthorized"),
    ({"error": {"message": "Busy"}, "status": 503}, "overloaded", "Busy"),
]
"""Answers of a health check, a list of models, Spring, FastAPI, Kong and others that are in front of a service."""


@pytest.mark.parametrize(("document", "kind", "message"), DOCUMENTS)
@pytest.mark.parametrize("name", dialect_names())
def test_refused(name, document, kind, message):
    """
    Nothing is completed, and the message has the reason.
    """
    found = fold(load_dialect(name).decode_resource(document, "a1")).last

    assert ("failed", kind, message.format(name)) == (found.status, found.error.kind, found.error.message)
    assert () == found.parts


@pytest.mark.parametrize("name", dialect_names())
def test_an_answer_without_content_is_one(name):
    """
    The document that we write of an answer without content is read as one.
    """
    dialect = load_dialect(name)
    begun = StepStarted(message_id="a1", origin=Origin(provider="p", model="m", dialect="d"))
    document = dialect.emit_resource(fold([begun, StepEnded(message_id="a1", finish_reason="stop")]).last)

    assert "completed" == fold(dialect.decode_resource(document, "a1")).last.status
