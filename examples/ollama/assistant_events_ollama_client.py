"""
A client of Ollama's native chat: `OllamaChat("")` sends no key.
"""

from assistant_events_ollama import OllamaChatDecoder, dialect

from assistant_events.clients import ProviderClient, SyncProviderClient
from assistant_events.clients.provider_api import ProviderApi
from assistant_events.clients.tracking_decoder import TrackingDecoder


class OllamaTrackingDecoder(TrackingDecoder, OllamaChatDecoder):
    """
    Decodes a stream, with credentials removed.
    """


class OllamaApi(ProviderApi):
    """
    `POST /api/chat`.
    """

    dialect = dialect
    provider = "ollama"
    base_url = "http://localhost:11434"
    version = "api"
    collection = "chat"
    key_header = "authorization"
    key_prefix = "Bearer "
    key_variable = "OLLAMA_API_KEY"
    stream_type = "application/x-ndjson"
    decoder = OllamaTrackingDecoder


class OllamaChat(ProviderClient):
    """
    Answers of Ollama, over HTTP.
    """

    api = OllamaApi()


class SyncOllamaChat(SyncProviderClient):
    """
    The same without an event loop.
    """

    asynchronous = OllamaChat
