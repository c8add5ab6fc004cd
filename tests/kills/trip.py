"""
The app of the kill tests: a turn with two rounds of tools, one of which a person allows.

Each tool appends a line to a file before it returns, so that the file has the runs of all processes.
"""

import asyncio
import os

from assistant_events import Awaits
from assistant_events.session import Session, run_tools

QUESTION = "Plan my trip to Oslo."
THOUGHT = "The hotel and the weather first, and then the ticket, which costs money and needs a person to allow it."
FIRST = "I look for a hotel and for the weather. " + " ".join(f"idea-{at}" for at in range(40))
SECOND = "Hotel and weather are fine, so I buy the ticket. " + " ".join(f"reason-{at}" for at in range(30))
LAST = "Your trip is planned. " + " ".join(f"day-{at}" for at in range(60))
TEXTS = (FIRST, SECOND, LAST)

_TIMING = {"between_s": 0.005, "delta_chars": 8}
_SLOWLY = {"between_s": 0.04, "delta_chars": 8}
FIXTURES = {
    "version": 1,
    "fixtures": [
        {"match": {"call_id": "ticket"}, "answer": {"text": LAST, "timing": _SLOWLY}},
        {
            "match": {"call_id": "hotel"},
            "answer": {
                "text": SECOND,
                "calls": [{"id": "ticket", "name": "ticket", "arguments": {"to": "Oslo"}}],
                "timing": _TIMING,
            },
        },
        {
            "match": {"user_text": QUESTION},
            "answer": {
                "thought": THOUGHT,
                "text": FIRST,
                "calls": [{"id": name, "name": name, "arguments": {"city": "Oslo"}} for name in ("hotel", "weather")],
                "timing": _TIMING,
            },
        },
    ],
}

_NAMES = ("hotel", "weather", "ticket")
BODY = {
    "model": "gemini-3.6-flash",
    "tools": [{"type": "function", "name": name, "parameters": {"type": "object"}} for name in _NAMES],
}


def append_line(path, line):
    """Append a line to a file, as one write: a process that is killed writes all of it or nothing."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(file, f"{line}\n".encode())
    finally:
        os.close(file)


def trip_move(client, runs, *, background, meta=None, reach=lambda point: None, on_event=lambda session, event: None):
    """
    Return the move of the app.

    *runs* is the file of the tools, *meta* that of the answers; *reach* is called at each point of interest, and
    *on_event* with each event.
    """

    def hotel(run):
        append_line(runs, run.key)
        reach("a tool has run in a thread")
        return "Hotel Bristol"

    async def weather(run):
        await run.progress("asking")
        reach("a tool runs in the loop")
        append_line(runs, run.key)
        await asyncio.sleep(0.01)
        reach("a tool has run in the loop")
        return {"celsius": 4}

    async def ticket(run):
        append_line(runs, run.key)
        reach("the ticket is bought")
        return "1 ticket"

    tools = {"hotel": hotel, "weather": weather, "ticket": ticket}

    async def move(session):
        if session.transcript.awaits is not Awaits.MODEL:
            reach("tools are due")
            await run_tools(
                session,
                lambda run: tools[run.call.name](run),
                needs_approval=lambda call: "It costs money." if call.name == "ticket" else None,
            )
            return
        async with session.respond(client, {**BODY, "background": background}, meta=meta) as events:
            async for event in events:
                on_event(session, event)
                reach(event.type)

    return move


async def approve(store, session_id, reach=lambda point: None):
    """Allow each call that waits for it, as a person in another process does, until cancelled."""
    while True:
        person = await Session.open(store, session_id)
        waiting = [call for call in person.transcript.pending_tool_calls if call.waits and not call.is_outcome_unknown]
        if waiting:
            await person.append(*[call.approve() for call in waiting])
            reach("a person has allowed a call")
        await asyncio.sleep(0.01)
