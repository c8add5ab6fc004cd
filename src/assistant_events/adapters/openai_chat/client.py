"""
The client of OpenAI Chat Completions and of the servers that are compatible with it. Needs the extra `http`.

    async with OpenAIChat(key, base_url="https://api.deepseek.com", provider="deepseek") as client:
        async with session.respond(client, {"model": "deepseek-reasoner"}) as events:
            async for event in events:
                ...

*provider* decides what the server gets back of its answers, see `PROFILES`. An answer ends with its connection.
"""

from __future__ import annotations

from typing import final

from assistant_events.adapters.json_fields import Fields
from assistant_events.adapters.openai_chat import PROFILES, OpenAIChatDecoder, Profile, dialect
from assistant_events.clients.client import ProviderClient
from assistant_events.clients.provider_api import ProviderApi
from assistant_events.clients.sync_client import SyncProviderClient
from assistant_events.clients.tracking_decoder import TrackingDecoder


@final
class OpenAIChatTrackingDecoder(TrackingDecoder, OpenAIChatDecoder):
    """Decodes a stream, with credentials removed."""


@final
class OpenAIChatApi(ProviderApi):
    """What the client has to know of the API."""

    dialect = dialect
    provider = "openai"
    base_url = "https://api.openai.com"
    version = "v1"
    collection = "chat/completions"
    key_header = "authorization"
    key_prefix = "Bearer "
    key_variable = "OPENAI_API_KEY"
    decoder = OpenAIChatTrackingDecoder
    system_field = "messages"

    def system_of(self, text: str) -> list[dict[str, str]]:
        """Return the message before all others."""
        return [{"role": "system", "content": text}]


@final
class OpenAIChat(ProviderClient):
    """Answers of Chat Completions, over HTTP. The key is `OPENAI_API_KEY` by default."""

    api = OpenAIChatApi()

    def _with_defaults(self, body: Fields) -> Fields:
        """
        Return a request body that is streamed with its usage, unless it has other settings.

        Without `include_usage` most servers stream no usage. A few refuse the field: `"stream_options": None` leaves it
        out, as `Profile.refuses_options` does.
        """
        body = super()._with_defaults(body)
        if body["stream"] is True and not PROFILES.get(self.provider, Profile()).refuses_options:
            body = {"stream_options": {"include_usage": True}, **body}
        return {key: value for key, value in body.items() if key != "stream_options" or value is not None}


@final
class SyncOpenAIChat(SyncProviderClient):
    """`OpenAIChat` without `await`."""

    asynchronous = OpenAIChat


__all__ = ["OpenAIChat", "OpenAIChatApi", "SyncOpenAIChat"]
