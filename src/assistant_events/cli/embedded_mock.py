"""
The mock provider inside of the process of `run`: it answers when there is no key.

It forgets its runs when the process ends, so that a run which is taken up again is made anew first.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final
from uuid import uuid4

from assistant_events.cli.endpoints import ANY_KEY, KEY_VARIABLE
from assistant_events.clients.gemini_interactions import GeminiInteractions
from assistant_events.messages import AssistantMessage
from assistant_events.mock import Answer, Fixture, Match, MockProvider, Timing
from assistant_events.mock.threaded_server import ThreadedServer

_PACE: Final = Timing(first_byte_s=0.2, between_s=0.04, delta_chars=12)
_WORD: Final = re.compile(r"\S+\s*")
_QUOTED: Final = 60
"""How many characters of a prompt the answer repeats."""


@asynccontextmanager
async def mock_client(
    prompt: str, taken_up: AssistantMessage | None, request: Mapping[str, Any] | None
) -> AsyncGenerator[GeminiInteractions]:
    """
    Give a client that talks to a mock provider of its own.

    Args:
        prompt: What the answer is about.

        taken_up: The answer whose run is taken up again; `None` for a new one.

        request: What had been sent for it; `None` when that is not known.
    """
    # Any: plain JSON.
    run = None if taken_up is None else taken_up.run
    # A run that is made anew has said everything: it went on meanwhile.
    answer = _answer(prompt, _PACE if run is None else Timing())
    provider = MockProvider(
        [Fixture(match=Match(), answers=(answer,))],
        make_id=(lambda: f"mock-{uuid4().hex[:12]}") if run is None else lambda: run.id,
    )
    with ThreadedServer(provider.app, before_stop=provider.close) as serving:
        async with GeminiInteractions(ANY_KEY, base_url=serving.url) as client:
            if run is not None and taken_up is not None:
                body = {"model": taken_up.origin.model or "mock", **(request or {}), "background": True, "store": True}
                async with client.create({**body, "input": prompt}, "anew") as anew:
                    await anext(anew)
            yield client


def _answer(prompt: str, timing: Timing) -> Answer:
    said = " ".join(prompt.split())
    quoted = f"{said[:_QUOTED]}…" if len(said) > _QUOTED else said
    thought = "There is no API key, so that no model is asked. The mock provider answers, as a model would."
    text = (
        f"You said: “{quoted}” This is the mock provider, so I cannot say anything of use about that. "
        "But these words came as a provider sends them: in pieces, over the wire format of the Interactions API, "
        f"and they are stored. Set {KEY_VARIABLE}, and Gemini answers in my place."
    )
    return Answer(
        steps=(
            # Word by word: each delta of a summary is an item of it.
            {"type": "thought", "summary": [{"type": "text", "text": word} for word in _WORD.findall(thought)]},
            {"type": "model_output", "content": [{"type": "text", "text": text}]},
        ),
        timing=timing,
    )
