"""
A chat that survives a restart: whatever was left open is taken up first, wherever its process died.

    python examples/restart.py chat.db "What is the capital of Norway?"     asks
    python examples/restart.py chat.db                                      only takes up what is left

The key is that of `GEMINI_API_KEY`; `GEMINI_BASE_URL` names another server, for example of `assistant-events mock`.
"""

import asyncio
import os
import sys

from assistant_events import Awaits, TextDelta
from assistant_events.adapters.gemini_interactions.client import GeminiInteractions
from assistant_events.clients import RunStream
from assistant_events.session import EventStream, Session
from assistant_events.stores import SqliteStore

BASE_URL = os.environ.get("GEMINI_BASE_URL", "https://generativelanguage.googleapis.com")
# A background run continues at the provider without a reader: otherwise there is nothing to resume.
BODY = {"model": "gemini-3.6-flash", "background": True, "store": True}


async def take_up(store: SqliteStore, client: GeminiInteractions) -> None:
    """Resume what can be resumed, settle the rest, and answer prompts without an answer."""
    for session_id, unfinished in store.unfinished().items():
        session = await Session.open(store, session_id)
        for left in unfinished:
            if left.run is not None and left.run.resumable:
                await show(session.resume(client, message_id=left.message_id))
        for record in await session.reconcile():
            print(f"settled: {record.event.type} of {record.event.message_id}")
        await answer(session, client)


async def ask(store: SqliteStore, client: GeminiInteractions, question: str) -> None:
    """Send a prompt and show the answer."""
    session = await Session.open(store, "s1")
    await session.prompt(question)
    await answer(session, client)


async def answer(session: Session, client: GeminiInteractions) -> None:
    """Ask the model while it is its move: the next step continues a paused answer."""
    while session.transcript.awaits is Awaits.MODEL:
        await show(session.respond(client, BODY))


async def show(stream: EventStream) -> None:
    """Print the text of an answer while it comes, and how it ended."""
    async with stream as events:
        async for event in events:
            if isinstance(event, TextDelta):
                print(event.delta, end="", flush=True)
    assert isinstance(events.answer, RunStream)
    print(f"\n[{events.answer.report.situation}]")


async def main(database: str, question: str | None = None) -> None:
    with SqliteStore(database) as store:
        async with GeminiInteractions(base_url=BASE_URL) as client:
            await take_up(store, client)
            if question is not None:
                await ask(store, client, question)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
