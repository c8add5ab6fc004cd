"""
The turn in the docstring of the module, unchanged.
"""

import asyncio
from inspect import cleandoc
from textwrap import dedent

import assistant_events
from assistant_events import session as module
from assistant_events.session import Session
from tests.session.scripted import ASKS, CALL, Scripted, line


class Dialect:
    """
    The provider of these tests, under the name that the example uses.
    """

    decoder = Scripted


def example():
    """Return the function that the docstring of the module shows."""
    text = cleandoc(module.__doc__)
    code = text[text.index("    async def turn") : text.index("\n`session`")]
    names = {"TextDelta": assistant_events.TextDelta}
    exec(dedent(code), names)
    return names["turn"]


def ask(transcript):
    """Call the tool after a prompt, then answer with its result."""
    if transcript.last.type == "user":
        return ASKS
    output = transcript.last.tool_calls[0].output[0].text
    return [line(say="It is "), line(say=f"{output}."), line(stop="stop")]


def test_the_turn_of_the_docstring(store, capsys):
    """
    The example runs: it streams, answers the call, asks again, and returns the last message.
    """

    async def main():
        session = await Session.open(store, "s1")
        tools = {CALL["name"]: lambda city: f"raining in {city}"}
        return await example()(session, Dialect, ask, tools, "How is the weather?"), session

    message, session = asyncio.run(main())

    assert "It is raining in Oslo." == message.text == capsys.readouterr().out
    assert ["user", "assistant", "assistant"] == [message.type for message in session.transcript]
