"""
The client of Gemini's generateContent. Needs the extra `http`.

    async with GeminiGenerateContent() as client:
        async with session.respond(client, {"model": "gemini-3.6-flash"}) as events:
            async for event in events:
                ...

An answer ends with its connection: one that was cut is asked for again, under the same id.
"""

from __future__ import annotations

from typing import final
from urllib.parse import quote

from assistant_events.adapters.gemini_generate_content import GeminiGenerateContentDecoder, dialect
from assistant_events.adapters.json_fields import Fields, string, without
from assistant_events.clients.client import ProviderClient
from assistant_events.clients.provider_api import ProviderApi
from assistant_events.clients.sync_client import SyncProviderClient
from assistant_events.clients.tracking_decoder import TrackingDecoder
from assistant_events.errors import LocalProtocolError


@final
class GeminiGenerateContentTrackingDecoder(TrackingDecoder, GeminiGenerateContentDecoder):
    """Decodes a stream, with credentials removed."""


@final
class GeminiGenerateContentApi(ProviderApi):
    """What the client has to know of the API."""

    dialect = dialect
    provider = "google"
    base_url = "https://generativelanguage.googleapis.com"
    version = "v1beta"
    collection = "models"
    key_header = "x-goog-api-key"
    key_variable = "GEMINI_API_KEY"
    decoder = GeminiGenerateContentTrackingDecoder
    system_field = "systemInstruction"

    def with_defaults(self, body: Fields) -> Fields:
        """Return a request body that is streamed unless it sets `stream`."""
        if not string(body, "model"):
            raise LocalProtocolError("body: expected a model, which is in the address of the request")
        return super().with_defaults(body)

    def system_of(self, text: str) -> dict[str, list[dict[str, str]]]:
        """Return a content with one part."""
        return {"parts": [{"text": text}]}

    def request(self, body: Fields) -> tuple[str, Fields]:
        """Return path and body: `model` and `stream` are in the path, and no fields of this API."""
        model = string(body, "model") or ""
        name = quote(model if "/" in model else f"{self.collection}/{model}", safe="/")
        method = "streamGenerateContent?alt=sse" if body.get("stream") is True else "generateContent"
        return f"{name}:{method}", without(body, ("model", "stream"))


@final
class GeminiGenerateContent(ProviderClient):
    """
    Answers of generateContent, over HTTP. The key is `GEMINI_API_KEY` by default.

    A `model` with a path, such as `tunedModels/mine`, is used as it is. For Vertex with a key, the *base_url* is
    `https://aiplatform.googleapis.com`, the *api_version* `v1`, and the model `publishers/google/models/…`.
    """

    api = GeminiGenerateContentApi()


@final
class SyncGeminiGenerateContent(SyncProviderClient):
    """`GeminiGenerateContent` without `await`."""

    asynchronous = GeminiGenerateContent


__all__ = ["GeminiGenerateContent", "GeminiGenerateContentApi", "SyncGeminiGenerateContent"]
