"""
The generation of the wire that a request wants, so that one process serves both.

The header `Api-Revision` decides (revisions from 2026-05-20 on have steps), then the version of an official client:
google-genai 1.x for Python and JavaScript reads only 1.x, and is named in `x-goog-api-client` and `user-agent` (seen in
requests of 1.75.0, 2.19.0 and 3.4.0 for Python, 1.33.0 for JavaScript). Other requests get the default of the server.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final, Literal, TypeAlias

from starlette.datastructures import Headers

Generation: TypeAlias = Literal[1, 2]
"""1: `outputs` and `content.*`, until June 2026. 2: `steps` and `step.*`, everything since."""

_STEPS_SINCE: Final = date(2026, 5, 20)
_OLD_CLIENT = re.compile(r"\bgoogle-genai-sdk/1\.")


def generation_of(headers: Headers, default: Generation) -> Generation:
    """Return the generation of the answer to a request with *headers*."""
    try:
        return 1 if date.fromisoformat(headers.get("api-revision", "").strip()) < _STEPS_SINCE else 2
    except ValueError:
        pass
    names = [*headers.getlist("x-goog-api-client"), *headers.getlist("user-agent")]
    return 1 if any(_OLD_CLIENT.search(name) for name in names) else default
