"""
The client of the Anthropic Messages API. Needs the extra `http`.

    async with AnthropicMessages(headers={"anthropic-beta": "compact-2026-01-12"}) as client:
        async with session.respond(client, {"model": "claude-opus-5-5", "max_tokens": 4096}) as events:
            async for event in events:
                ...

An answer ends with its connection: one that was cut is asked for again, under the same id.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import final

from assistant_events.adapters.anthropic_messages import AnthropicMessagesDecoder, dialect
from assistant_events.clients.client import ProviderClient
from assistant_events.clients.provider_api import ProviderApi
from assistant_events.clients.sync_client import SyncProviderClient
from assistant_events.clients.tracking_decoder import TrackingDecoder


@final
class AnthropicTrackingDecoder(TrackingDecoder, AnthropicMessagesDecoder):
    """Decodes a stream, with credentials removed."""


@final
class AnthropicMessagesApi(ProviderApi):
    """What the client has to know of the API."""

    dialect = dialect
    provider = "anthropic"
    base_url = "https://api.anthropic.com"
    version = "v1"
    collection = "messages"
    key_header = "x-api-key"
    key_variable = "ANTHROPIC_API_KEY"
    headers = MappingProxyType({"anthropic-version": "2023-06-01"})
    decoder = AnthropicTrackingDecoder
    system_field = "system"
    first_settings = MappingProxyType({"max_tokens": 8192})  # required


@final
class AnthropicMessages(ProviderClient):
    """Answers of the Anthropic Messages API, over HTTP. The key is `ANTHROPIC_API_KEY` by default."""

    api = AnthropicMessagesApi()


@final
class SyncAnthropicMessages(SyncProviderClient):
    """`AnthropicMessages` without `await`."""

    asynchronous = AnthropicMessages


__all__ = ["AnthropicMessages", "AnthropicMessagesApi", "SyncAnthropicMessages"]
