"""Imported before everything that needs the extra `http`, so that whoever lacks it is told what to install."""

from assistant_events.extras import require

require("the client", {"http": ("httpx2", "stamina")})
