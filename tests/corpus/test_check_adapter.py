"""
`check_adapter` has nothing against the adapters of this library when recordings are its samples.
"""

import os

import pytest

from assistant_events.adapters import load_dialect
from assistant_events.testing import check_adapter

from .recordings import EDITED, ENDS, REQUESTS, answers

LONGEST = 60_000
"""Size below which a recording is tried: a longer one takes minutes."""

SAMPLES = {
    "anthropic-messages": "vercel.issue-10819-web-fetch-error-1.jsonl",
    "bedrock-converse": "vercel.amazon-bedrock-redacted-content-v2.jsonl",
    "gemini-generate-content": "chatlas.google-mixed-tools-end-to-end.4.sse",
    "openai-chat": "groq.prism.stream-with-tools-2.sse",
    "openai-responses": "prism.stream-multi-tool-conversation-responses-reasoning-2.sse",
}
"""By dialect, the recording that is always tried; the others are with HYPOTHESIS_PROFILE=thorough."""

NO_ANSWER = {
    "cerebras.vercel.cererebras-structured-output-tools-1.jsonl": "two answers without a mark between them",
    **dict.fromkeys(EDITED, "edited"),
}
"""Recordings that no service sends as one answer, with the reason."""


def stream_of(answer):
    """
    Return a recorded stream with the framing of its dialect, which some recordings do not have.
    """
    write = load_dialect(answer.dialect).emitter().to_bytes
    return answer.body if answer.form == "sse" else b"".join([write(frame) for frame in answer.frames()])


def recorded(dialect):
    """
    Return the names of the recordings of a dialect that are tried.
    """
    if os.environ.get("HYPOTHESIS_PROFILE") != "thorough":
        return [SAMPLES[dialect]]
    found = {name: answer for name, answer in answers(dialect).items() if answer.form != "json"}
    return [name for name, answer in found.items() if len(answer.body) < LONGEST and name not in NO_ANSWER]


@pytest.mark.parametrize(("dialect", "name"), [(dialect, name) for dialect in ENDS for name in recorded(dialect)])
def test_recordings_hold_what_every_adapter_must(dialect, name):
    """
    What it finds is a false alarm, or a fault that the other tests of recordings have not found.
    """
    if not answers(dialect):
        pytest.skip("the recordings are not beside this repository")
    body = stream_of(answers(dialect)[name])
    check_adapter(load_dialect(dialect), {name: body}, request=REQUESTS.get(dialect), mutations=2, every_position=0)
