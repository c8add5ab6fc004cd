"""
The mock provider inside of the process of `run`, which answers without a key.

Its runs end with the process, so that a run that is resumed by another process is created again first.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final
from uuid import uuid4

from assistant_events.cli.endpoints import ANY_KEY, DIALECT
from assistant_events.clients import ProviderClient, load_client
from assistant_events.messages import AssistantMessage
from assistant_events.mock import Match, load_mock
from assistant_events.mock.threaded_server import ThreadedServer

_PACE: Final = {"first_byte_s": 0.2, "between_s": 0.04, "delta_chars": 12}
_WORD: Final = re.compile(r"\S+\s*")
_QUOTED: Final = 60
"""Maximum number of quoted characters."""


@asynccontextmanager
async def mock_client(
    dialect: str, prompt: str, resumed: AssistantMessage | None, request: Mapping[str, Any] | None
) -> AsyncGenerator[ProviderClient]:
    """
    Yield a client of *dialect* with a mock provider of its own, whose answer quotes *prompt*.

    *resumed* is the answer whose run is resumed, `None` for a new one; *request* is the request body of that run,
    `None` when it is not known.
    """
    run = None if resumed is None else resumed.run
    # A run that is created again is complete: it has continued meanwhile.
    answer = _answer(dialect, prompt, _PACE if run is None else {})
    provider = load_mock(dialect).provider(
        {Match(): answer},
        make_id=(lambda: f"mock-{uuid4().hex[:12]}") if run is None else lambda: run.id,
    )
    with ThreadedServer(provider.app, before_stop=provider.close) as serving:
        async with load_client(dialect)(ANY_KEY, base_url=serving.url) as client:
            if run is not None:
                body = {**(request or {}), "background": True, "store": True, "input": prompt}
                async with client.create(body, "anew") as anew:
                    async for _ in anew:  # to its end: what is written to a closed connection is logged
                        pass
            yield client


def _answer(dialect: str, prompt: str, timing: Mapping[str, object]) -> dict[str, object]:
    """Return the answer to a prompt in the form of a fixture file."""
    text = " ".join(prompt.split())
    quoted = f"{text[:_QUOTED]}…" if len(text) > _QUOTED else text
    thought = "Without an API key no model is asked. The mock provider answers in its place."
    text = (
        f"You wrote: “{quoted}” This is the mock provider, so I cannot give you a useful answer. "
        f"But these words came as a provider sends them: in pieces, over the wire format {dialect}, and they are "
        f"stored. Set {load_client(dialect).api.key_variable}, and a model answers in my place."
    )
    # Word by word: each delta of a summary is an item of it.
    thoughts = {"thought": _WORD.findall(thought)} if dialect == DIALECT else {}
    return {**thoughts, "text": text, "timing": timing}
