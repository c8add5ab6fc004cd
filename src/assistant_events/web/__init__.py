"""
A chat over HTTP, mounted into an app of Starlette or FastAPI in a line: `app.mount("/api", ChatRoutes(…))`.

Browsers send prompts and watch sessions with an `EventSource`; one that leaves cancels nothing, and one that comes back
is given what it lacks.
"""

from assistant_events.extras import require

require("assistant_events.web", {"web": ("starlette",)})

from assistant_events.web.chat_routes import Authorize, ChatRoutes  # noqa: E402 - behind the check

__all__ = ["Authorize", "ChatRoutes"]
