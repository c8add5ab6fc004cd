"""
Conversations in a store: `Session` for apps with an event loop, `SyncSession` for others.

A turn with tools, from the prompt to the last answer:

    async def turn(session, client, body, tools, question):
        await session.prompt(question)
        while session.transcript.awaits is not Awaits.USER:
            async with session.respond(client, body) as events:
                async for event in events:
                    if isinstance(event, TextDelta):
                        print(event.delta, end="", flush=True)
            calls = session.transcript.pending_tool_calls
            await session.append(*[call.succeed(tools[call.name](**call.arguments)) for call in calls])

`session` is from `await Session.open(store, "s1")`, and `client` that of a provider, or an SDK in a few lines.
"""

from assistant_events.session.answers import Answer, Chunks, Client
from assistant_events.session.options import SessionOptions
from assistant_events.session.session import Session
from assistant_events.session.streams import EventStream, SyncEventStream
from assistant_events.session.sync_session import SyncSession
from assistant_events.session.tools import AsksApproval, RunTool, ToolRun, Tools, ready_calls, run_tools
from assistant_events.session.turns import Move, Turns

__all__ = [
    "Answer",
    "AsksApproval",
    "Chunks",
    "Client",
    "EventStream",
    "Move",
    "RunTool",
    "Session",
    "SessionOptions",
    "SyncEventStream",
    "SyncSession",
    "ToolRun",
    "Tools",
    "Turns",
    "ready_calls",
    "run_tools",
]
