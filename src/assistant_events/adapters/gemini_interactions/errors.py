"""What an HTTP error of the Interactions API says."""

from __future__ import annotations

from collections.abc import Mapping

from assistant_events.adapters.gemini_interactions import vocabulary
from assistant_events.adapters.json_fields import Fields, mappings
from assistant_events.errors import JsonError
from assistant_events.values import ErrorInfo, read_json


def http_error(status: int, headers: Mapping[str, str], body: bytes) -> ErrorInfo:
    """
    Return what an HTTP error says.

    Args:
        status: HTTP status.

        headers: Of the response; not read yet.

        body: As it came: `{"error": {"code": "word", …}}`, the classic `{"error": {"code": 400, "status": …}}`,
        either inside an
            array of one, or anything else.
    """
    try:
        document = read_json(body)
    except JsonError:
        document = None
    documents = mappings({"all": document if isinstance(document, list) else [document]}, "all")
    error: Fields = vocabulary.error_of(documents[0]) if documents else {}
    if not error:
        error = {"message": f"HTTP {status}"}
    return vocabulary.error_info(error, status=status)
