"""What a client has to know of one provider's API: its address, its requests, and what its documents mean."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from assistant_events.adapters.dialect import Dialect
from assistant_events.adapters.errors import ErrorTable
from assistant_events.adapters.json_fields import Fields
from assistant_events.clients.recovery import RunSummary, RunTraits
from assistant_events.clients.tracking_decoder import TrackingDecoder
from assistant_events.messages import AssistantMessage


class RunApi(ABC):
    """
    One provider's API of runs, as the general client needs it.

    The requests are `POST {collection}` to create a run, `GET {collection}/{id}` for its document, the same with
    `stream=true` to follow it, `POST {collection}/{id}/cancel` and `DELETE {collection}/{id}`.
    """

    dialect: ClassVar[Dialect]
    provider: ClassVar[str]  # as in `Origin.provider`
    base_url: ClassVar[str]  # without the version
    version: ClassVar[str]  # path between the base URL and the collection
    collection: ClassVar[str]  # path of the runs
    cursor_parameter: ClassVar[str]  # has the id of the event from which a stream continues
    key_header: ClassVar[str]
    key_variable: ClassVar[str]  # environment variable with the key
    decoder: ClassVar[type[TrackingDecoder]]
    errors: ClassVar[ErrorTable]  # reads the errors of HTTP responses
    traits: ClassVar[RunTraits] = RunTraits()

    @abstractmethod
    def with_defaults(self, body: Fields) -> Fields:
        """Return a request body with the best settings for what it leaves open."""

    @abstractmethod
    def settings(
        self, before: Fields, *, model: str | None, agent: str | None, system: str | None, background: bool
    ) -> dict[str, Any]:
        """Return a request body without a conversation. Where a value is `None`, that of the body *before* applies."""
        # Any: plain JSON.

    @abstractmethod
    def request_of(self, message: AssistantMessage) -> Fields:
        """Return what is known of the request body of a stored message."""

    @abstractmethod
    def summarize(self, resource: Fields) -> RunSummary:
        """Return the document of a run without its content."""

    @abstractmethod
    def is_agent(self, request: Fields) -> bool:
        """Return whether a request body is for an agent, which works for longer than a model."""

    @abstractmethod
    def is_cut_tail(self, tail: str) -> bool:
        """Return whether text behind the last event is the provider's error of a connection that it cut."""
