"""
A chat that survives a restart: whatever was left open is taken up first, wherever its process died.

    python examples/restart.py chat.db "What is the capital of Norway?"     asks
    python examples/restart.py chat.db                                      only takes up what is left

The key is that of `GEMINI_API_KEY`; `GEMINI_BASE_URL` names another server, for example of `assistant-events mock`.
"""

import asyncio
import os
import sys

from assistant_events import TextDelta
from assistant_events.adapters.gemini_interactions import encode
from assistant_events.adapters.gemini_interactions.client import GeminiInteractions
from assistant_events.clients import RunStream
from assistant_events.session import Session
from assistant_events.stores import SqliteStore

BASE_URL = os.environ.get("GEMINI_BASE_URL", "https://generativelanguage.googleapis.com")
# A background run continues at the provider without a reader: otherwise there is nothing to resume.
BODY = {"model": "gemini-3.6-flash", "background": True, "store": True}


async def take_up(store: SqliteStore, client: GeminiInteractions) -> None:
    """Resume what can be resumed, and settle the rest."""
    for session_id, unfinished in store.unfinished().items():
        session = await Session.open(store, session_id)
        for left in unfinished:
            if left.run is not None and left.run.resumable:
                await show(session, client.resume(session.transcript.answer(left.message_id)))
        for record in await session.reconcile():
            print(f"settled: {record.event.type} of {record.event.message_id}")


async def ask(store: SqliteStore, client: GeminiInteractions, question: str) -> None:
    """Send a prompt and show the answer."""
    session = await Session.open(store, "s1")
    await session.prompt(question)
    await show(session, client.create(encode(session.transcript, BODY), session.new_id()))


async def show(session: Session, run: RunStream) -> None:
    """Print the text of an answer while it comes, and how it ended."""
    async with session.receive(run) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                print(event.delta, end="", flush=True)
    print(f"\n[{run.report.situation}]")


async def main(database: str, question: str | None = None) -> None:
    with SqliteStore(database) as store:
        async with GeminiInteractions(base_url=BASE_URL) as client:
            await take_up(store, client)
            if question is not None:
                await ask(store, client, question)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
