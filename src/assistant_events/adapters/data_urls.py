"""Media in a URL: `data:image/png;base64,…` (RFC 2397)."""

from __future__ import annotations

import re
from base64 import b64encode
from typing import Final

from assistant_events.adapters.json_fields import base64_bytes
from assistant_events.messages import MediaPart
from assistant_events.values import MediaContent

IMAGES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""Media types of the images that models of Anthropic and OpenAI see."""

AUDIO: Final = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
"""OpenAI's name of the format by media type, of the audio that its models hear."""

_HEAD: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,")


def data_url(media_type: str, data: bytes) -> str:
    """Return a URL that holds *data*."""
    return f"data:{media_type};base64,{b64encode(data).decode()}"


def media_url(media: MediaContent | MediaPart) -> str | None:
    """Return the URL of media: their address, or one that holds them; `None` when they have neither."""
    return media.uri if media.data is None else data_url(media.media_type, media.data)


def read_data_url(url: str) -> tuple[str, bytes] | None:
    """Return media type and bytes of a URL that holds base64; `None` for any other."""
    head = _HEAD.match(url)
    data = None if head is None else base64_bytes(url[head.end() :])
    return None if head is None or not data else (head[1], data)


__all__ = ["AUDIO", "IMAGES", "data_url", "media_url", "read_data_url"]
