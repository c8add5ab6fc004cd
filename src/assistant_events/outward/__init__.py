"""
Events for browsers: what they fold, and how it is written for them.

`fold.mjs` beside this module folds the documents of a `DocumentWriter` in a browser; `fold.d.mts` has its types.
A `SseWriter` writes them as server-sent events.
"""

from assistant_events.outward.documents import DocumentWriter
from assistant_events.outward.sse import Cursor, SharedEvents, SseWriter, end_event, error_event

__all__ = ["Cursor", "DocumentWriter", "SharedEvents", "SseWriter", "end_event", "error_event"]
