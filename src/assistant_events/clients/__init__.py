"""
What any provider's HTTP client needs: requests, retries, and the recovery of runs that live at the provider.

The client of a provider is `adapters/<dialect>/client.py`; `load_client` returns it by the name of its dialect. To make
requests, clients need the extra `http`.
"""

from assistant_events.adapters.dialect import load_entry_point
from assistant_events.clients.client import ProviderClient
from assistant_events.clients.clock import Clock
from assistant_events.clients.recovery import (
    ACTIONS,
    Action,
    FailureMode,
    RecoveryPolicy,
    RunSummary,
    Situation,
    situation_of,
)
from assistant_events.clients.report import Report, StopResult
from assistant_events.clients.run_stream import RunStream
from assistant_events.clients.sync_client import SyncProviderClient, SyncRunStream
from assistant_events.errors import AdapterError

__all__ = [
    "ACTIONS",
    "Action",
    "Clock",
    "FailureMode",
    "ProviderClient",
    "RecoveryPolicy",
    "Report",
    "RunStream",
    "RunSummary",
    "Situation",
    "StopResult",
    "SyncProviderClient",
    "SyncRunStream",
    "load_client",
    "situation_of",
]

GROUP = "assistant_events.clients"
"""Entry points of this group name a subclass of `ProviderClient`."""


def load_client(name: str) -> type[ProviderClient]:
    """
    Return the class of the client of an installed dialect, the one for an event loop.

    Raises:
        UnknownDialectError: No client of this name is installed.

        AdapterError: Its entry point does not load or does not name a `ProviderClient`.
    """
    found = load_entry_point(GROUP, name, type, "client")
    if not issubclass(found, ProviderClient):
        raise AdapterError(name, f"{found.__qualname__} is not a subclass of ProviderClient")
    return found
