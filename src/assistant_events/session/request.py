"""The request for an answer, and the client that is asked with it."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any, final

import attrs

from assistant_events.adapters.encoded import Encoded, EncodeMode
from assistant_events.adapters.hops import Prior
from assistant_events.adapters.json_fields import Fields
from assistant_events.adapters.refused_state import refusal_in
from assistant_events.errors import LocalProtocolError
from assistant_events.messages import AssistantMessage, Awaits, Message, MessageStatus, Transcript
from assistant_events.session.answers import Client, api_of
from assistant_events.values import ErrorInfo, Origin


def created(
    client: Client, body: dict[str, Any], name: str, *, prior: Prior, continues: AssistantMessage | None
) -> object:
    """Ask a client for an answer. A `create` without *continues* returns chunks: the session decodes them."""
    create: Any = client.create  # Any: the protocol leaves *continues* out
    parameters = () if continues is None else signature(create).parameters.values()
    if any(each.name == "continues" or each.kind is each.VAR_KEYWORD for each in parameters):
        return create(body, name, prior=prior, continues=continues)
    return create(body, name, prior=prior)


def check_turn(transcript: Transcript) -> None:
    """
    Check that nothing is open before an answer is asked for.

    Raises:
        LocalProtocolError: A call has no result, or an answer is not complete.
    """
    for left in transcript.unfinished():
        if left.awaits is Awaits.TOOLS:
            missing = f"call {left.call_id!r} of message {left.message_id!r} has no result; append one"
            raise LocalProtocolError(f"{missing}, or prompt with abandon_calls=True, or pass repair=True")
        if left.awaits is Awaits.PROVIDER:
            open_ = f"message {left.message_id!r} is not complete"
            raise LocalProtocolError(f"{open_}; resume it, close it with reconcile() or stop(), or pass repair=True")


@final
@attrs.frozen
class Refused:
    """A request that the provider has refused, and why."""

    request: Encoded

    error: ErrorInfo


def request_for(
    client: Client, messages: Sequence[Message], body: Fields, mode: EncodeMode, refused: Refused | None
) -> Encoded | None:
    """
    Return the request for the next answer.

    After one that was *refused* it is a full one that needs nothing that the provider stores, or without the state
    that was refused; `None` when the refused one was the same.
    """
    dialect, provider = api_of(client)
    if dialect.encoder is None:
        raise LocalProtocolError(
            f"dialect {dialect.name!r} has no encoder; send a request of your own, then decode its stream"
        )
    if refused is None:
        return dialect.encoder(messages, body, mode=mode, provider=provider)
    tried = refused.request
    if refusal_in(refused.error):
        origin = Origin(provider=provider, dialect=dialect.name)
        failed = AssistantMessage(id="refused", origin=origin, status=MessageStatus.FAILED, error=refused.error)
        bare = dialect.encoder((*messages, failed), body, mode="full", provider=provider)
        return None if bare.body == tried.body else bare
    if dialect.policy.storage_key is None:
        return None if tried.mode == "full" else dialect.encoder(messages, body, mode="full", provider=provider)
    policy = dialect.policy.without_storage()
    encoded = dialect.encoder(messages, body, mode="full", provider=provider, policy=policy)
    usual = dialect.encoder(messages, body, mode="full", provider=provider)  # with prompts that have come meanwhile
    return None if tried.mode == "full" and encoded.body == usual.body else encoded
