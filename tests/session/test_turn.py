"""
The turn in the docstring of the module, unchanged.
"""

import asyncio
from inspect import cleandoc
from textwrap import dedent

import assistant_events
from assistant_events import session as module
from assistant_events.session import Session
from tests.session.scripted import ASKS, CALL, Provider, line


def example():
    """Return the function that the docstring of the module shows."""
    text = cleandoc(module.__doc__)
    code = text[text.index("    async def turn") : text.index("\n`session`")]
    names = {"TextDelta": assistant_events.TextDelta, "Awaits": assistant_events.Awaits}
    exec(dedent(code), names)
    return names["turn"]


def test_the_turn_of_the_docstring(store, capsys):
    """
    The example runs: it streams, answers the call, and asks again.
    """
    client = Provider(ASKS, [line(say="It is "), line(say="raining."), line(stop="stop")])

    async def main():
        session = await Session.open(store, "s1")
        tools = {CALL["name"]: lambda city: f"raining in {city}"}
        await example()(session, client, {"model": "m"}, tools, "How is the weather?")
        return session

    session = asyncio.run(main())

    assert "It is raining." == session.transcript.last.text == capsys.readouterr().out
    assert ["user", "assistant", "assistant"] == [message.type for message in session.transcript]
    assert [["user: How is the weather?"], ["result: raining in Oslo"]] == [body["input"] for body in client.requests]
