"""
Conversations in a store: `Session` for apps with an event loop, `SyncSession` for others.

A turn with tools, from the prompt to the last answer:

    async def turn(session, dialect, ask, tools, question):
        await session.prompt(question)
        while True:
            decoder = dialect.decoder(session.new_id())
            async with session.receive(decoder, ask(session.transcript)) as events:
                async for event in events:
                    if isinstance(event, TextDelta):
                        print(event.delta, end="", flush=True)
            calls = session.transcript.pending_tool_calls
            if not calls:
                return session.transcript.last_answer
            await session.append(*[call.succeed(tools[call.name](**call.arguments)) for call in calls])

`session` is from `await Session.open(store, "s1")`, `dialect` from `load_dialect`, and `ask` returns the bytes of
the provider's answer. When the block is left early, `async with` closes the message at once; a plain `async for` over
`session.receive(...)` does so a little later. `SyncSession` is the same without `async` and `await`, and needs no
`with`.
"""

from assistant_events.session.event_stream import EventStream
from assistant_events.session.receiver import Decoder
from assistant_events.session.session import Session
from assistant_events.session.sync_session import SyncSession

__all__ = ["Decoder", "EventStream", "Session", "SyncSession"]
