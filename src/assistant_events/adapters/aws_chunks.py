"""Events inside the chunks of `InvokeModelWithResponseStream`, which several wires come in."""

from __future__ import annotations

from assistant_events.adapters.aws import AWS_ERRORS, error_in
from assistant_events.adapters.aws_event_stream import event_in_chunk
from assistant_events.adapters.base import DecoderBase
from assistant_events.adapters.json_fields import Fields
from assistant_events.errors import JsonError
from assistant_events.values import read_json


def unwrapped(decoder: DecoderBase, event: Fields) -> Fields | None:
    """
    Return the event inside a chunk of `InvokeModelWithResponseStream`; an exception fails the step.

    It is empty when it is done with: after an exception, and after a note on a chunk that is not JSON. `None` for
    anything else than a chunk with an object or an exception.
    """
    exception, data = error_in(event), event_in_chunk(event)
    if exception is not None:
        decoder.fail_step(AWS_ERRORS.read(exception))
        return {}
    try:
        inner = None if data is None else read_json(data)
    except JsonError as error:
        decoder.note("bad-json", f"the event in a chunk is {error}")
        return {}
    return inner if isinstance(inner, dict) else None  # pyright: ignore[reportUnknownVariableType]  # plain JSON


def has_intervened(facts: Fields) -> bool:
    """
    Return whether a guardrail has intervened in an answer of `InvokeModel`, by what the answer has beside its fields.

    Its own reason to stop stays `end_turn`, and the sentence of the guardrail is its text.
    """
    return facts.get("amazon-bedrock-guardrailAction") == "INTERVENED"
