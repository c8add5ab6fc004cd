"""
The client of Bedrock's Converse. Needs the extra `http`.

    async with BedrockConverse(base_url="https://bedrock-runtime.eu-central-1.amazonaws.com") as client:
        async with session.respond(client, {"modelId": "eu.anthropic.claude-opus-5-5-v1:0"}) as events:
            async for event in events:
                ...

It sends an API key of Bedrock. Requests that are signed (SigV4) are those of boto3, or of an `http` client that signs.
An answer ends with its connection: one that was cut is asked for again, under the same id.
"""

from __future__ import annotations

from typing import final
from urllib.parse import quote

from assistant_events.adapters.bedrock_converse import BedrockConverseDecoder, dialect
from assistant_events.adapters.json_fields import Fields, string, without
from assistant_events.clients.client import ProviderClient
from assistant_events.clients.provider_api import ProviderApi
from assistant_events.clients.sync_client import SyncProviderClient
from assistant_events.clients.tracking_decoder import TrackingDecoder


@final
class BedrockTrackingDecoder(TrackingDecoder, BedrockConverseDecoder):
    """Decodes a stream, with credentials removed."""


@final
class BedrockConverseApi(ProviderApi):
    """What the client has to know of the API."""

    dialect = dialect
    provider = "bedrock"
    base_url = "https://bedrock-runtime.us-east-1.amazonaws.com"
    version = ""
    collection = "model"
    key_header = "authorization"
    key_prefix = "Bearer "
    key_variable = "AWS_BEARER_TOKEN_BEDROCK"
    stream_type = "application/vnd.amazon.eventstream"
    decoder = BedrockTrackingDecoder
    system_field = "system"

    def system_of(self, text: str) -> list[dict[str, str]]:
        """Return the blocks of the instruction."""
        return [{"text": text}]

    def request(self, body: Fields) -> tuple[str, Fields]:
        """Return path and body of the request; the model and the operation are in the path."""
        model = string(body, "modelId") or string(body, "model") or ""
        operation = "converse-stream" if body.get("stream") is True else "converse"
        sent = without(body, ("modelId", "model", "stream"))
        return f"{self.collection}/{quote(model, safe='')}/{operation}", sent


@final
class BedrockConverse(ProviderClient):
    """
    Answers of Converse, over HTTP. The key is `AWS_BEARER_TOKEN_BEDROCK`, the region us-east-1 by default.

    The checksum of a frame that holds a credential of the client is wrong once that is removed: such an answer fails.
    """

    api = BedrockConverseApi()


@final
class SyncBedrockConverse(SyncProviderClient):
    """`BedrockConverse` without `await`."""

    asynchronous = BedrockConverse


__all__ = ["BedrockConverse", "BedrockConverseApi", "SyncBedrockConverse"]
