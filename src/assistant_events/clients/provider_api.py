"""The facts about one provider's API that a client needs: address, requests, and the meaning of its documents."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from assistant_events.adapters.dialect import Dialect
from assistant_events.adapters.json_fields import Fields, others, string
from assistant_events.clients.recovery import RunSummary, RunTraits
from assistant_events.clients.tracking_decoder import TrackingDecoder
from assistant_events.messages import AssistantMessage


class ProviderApi:
    """
    One provider's API, as the general client needs it.

    `POST {collection}` asks for an answer, which ends with its connection. Where the provider keeps runs, there are
    `GET {collection}/{id}` for the document of a run, the same with `stream=true` to follow it,
    `POST {collection}/{id}/cancel` and `DELETE {collection}/{id}`.
    """

    dialect: ClassVar[Dialect]
    provider: ClassVar[str]  # as in `Origin.provider`
    base_url: ClassVar[str]  # without the version
    version: ClassVar[str]  # path between the base URL and the collection; empty for none
    collection: ClassVar[str]  # path of the answers
    key_header: ClassVar[str]
    key_prefix: ClassVar[str] = ""  # of the key in its header, such as `Bearer `
    key_variable: ClassVar[str]  # environment variable with the key
    headers: ClassVar[Mapping[str, str]] = MappingProxyType({})  # of each request
    stream_type: ClassVar[str] = "text/event-stream"  # media type of a stream
    decoder: ClassVar[type[TrackingDecoder]]

    # -- for the command `run`

    system_field: ClassVar[str] = ""  # of the request body, with the system instruction; empty for none
    first_settings: ClassVar[Mapping[str, Any]] = MappingProxyType({})  # of a body, unless it has others

    # -- of a provider that keeps runs

    keeps_runs: ClassVar[bool] = False  # whether an answer has a document, and may continue without its connection
    cursor_parameter: ClassVar[str]  # has the id of the event from which a stream continues
    traits: ClassVar[RunTraits] = RunTraits()

    def with_defaults(self, body: Fields) -> Fields:
        """Return a request body with the best settings for what it leaves open; by default it is streamed."""
        return {"stream": True, **body}

    def keeps_run(self, body: Fields) -> bool:
        """Return whether the answer to a request may continue without its connection; by default `keeps_runs`."""
        return self.keeps_runs

    def request(self, body: Fields) -> tuple[str, Fields]:
        """Return path and body of the request for an answer; *body* is that of the app, with `stream` in any case."""
        return self.collection, body

    def settings(
        self, before: Fields, *, model: str | None, agent: str | None, system: str | None, background: bool
    ) -> dict[str, Any]:
        """
        Return a request body without a conversation, for the command `run`.

        Where a value is `None`, that of the body *before* applies; an empty *system* removes the instruction.

        Raises:
            ValueError: The API does not have what is asked for, or no model is known.
        """
        name = self.dialect.name
        if agent is not None:
            raise ValueError(f"--agent: {name} has no agents, name a model")
        if background and not self.keeps_runs:
            raise ValueError(f"--background: {name} ends an answer with its connection")
        body = {**self.first_settings, **others(before, ("background", "store"))}
        if model is not None:
            body["model"] = model
        if not string(body, "model"):
            raise ValueError(f"{name} has no default model, name one with --model")
        if system and not self.system_field:
            raise ValueError(f"--system: the client of {name} names no field for it, put it into the prompt")
        if system is not None:
            body = others(body, (self.system_field,)) | ({self.system_field: self.system_of(system)} if system else {})
        return dict(self.with_defaults({**body, **({"background": True, "store": True} if background else {})}))

    def system_of(self, text: str) -> object:
        """Return a system instruction as the value of its field in a request body."""
        return text

    def request_of(self, message: AssistantMessage) -> Fields:
        """Return what is known of the request body of a stored message."""
        return {"model": message.origin.model} if message.origin.model else {}

    def summarize(self, resource: Fields) -> RunSummary:
        """Return the document of a run without its content."""
        return RunSummary(status=string(resource, "status"))

    def is_agent(self, request: Fields) -> bool:
        """Return whether a request body is for an agent, which works for longer than a model."""
        return False

    def is_cut_tail(self, tail: str) -> bool:
        """Return whether text behind the last event is the provider's error of a connection that it cut."""
        return False
