"""
Events for browsers: what they fold, and how it is written for them.

`fold.mjs` beside this module folds the documents of a `DocumentWriter` in a browser; `fold.d.ts` has its types.
"""

from assistant_events.outward.documents import DocumentWriter

__all__ = ["DocumentWriter"]
