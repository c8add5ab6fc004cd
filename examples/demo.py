"""
The main job of the library, played in the terminal: `make demo`.

An agent researches for 25 minutes, and everything fails once: the provider cuts the stream after ten minutes, the
process is killed (SIGKILL) in the middle of a sentence, and the stream that a second process resumes is cut again, so
that the end has to be recovered from the provider's document. In the end the stored conversation is compared with one
that was never cut.

Real: two processes, HTTP between them and a server, the bytes of the wire, SQLite, the kill. Played: the provider,
which is the mock of this library with an answer that was written for it, and its clock, which runs fifty times as fast
and pauses while a process starts.

    python examples/demo.py [--fast]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text
from stage import BODY, QUESTION, SECONDS, StageClock, provider

from assistant_events import (
    AssistantMessage,
    Event,
    Part,
    PromptSubmitted,
    ReasoningDelta,
    ReasoningEnded,
    ReasoningPart,
    StepEnded,
    StepStarted,
    TextContent,
    TextDelta,
    TextEnded,
    TextPart,
    ToolCalled,
    ToolInputStarted,
    ToolPart,
    Transcript,
    find_problems,
    redact,
)
from assistant_events.adapters.gemini_interactions.client import GeminiInteractions
from assistant_events.clients import Clock, FailureMode, RecoveryPolicy, RunStream
from assistant_events.converters import structure, unstructure
from assistant_events.messages import PartStatus
from assistant_events.session import Session, SyncSession
from assistant_events.stores import MemoryStore, SqliteStore, Store
from assistant_events.values import write_json

# One replay that is cut is enough to take the document. Waits are generous: this machine may be busy.
POLICY = RecoveryPolicy(recuts=1, connect_s=1200, response_s=6000, silence_s=6000)
WORDS = {
    FailureMode.CUT: "✂ The provider cuts the stream after ten minutes; the client resumes it.",
    FailureMode.RECUT: "✂ The stream that was resumed is cut, too.",
}
KILLED_AFTER_TEXT_DELTAS = 5  # behind the first cut
INDENT = len(f"00:00  · {'':<20} ")
MARGIN = 12  # columns that are left for the rest of a word, which comes with the next piece


# -- the app: what the child process runs


async def converse(store: Store, url: str, scale: float, report: Any) -> None:
    """Ask, or resume what was asked, and report every new event and every failure."""
    session = await Session.open(store, "demo")
    async with GeminiInteractions("demo-key", base_url=url, policy=POLICY, clock=Clock(scale)) as client:
        # The first request takes longest, and the provider's clock waits for it.
        await client.status("unknown")
        report(ready=True)
        message = session.transcript.get("a1")
        if isinstance(message, AssistantMessage):
            stream = session.resume(client, request=BODY)
        else:
            await session.prompt(QUESTION, message_id="u1")
            report(event=PromptSubmitted(message_id="u1", content=QUESTION))
            stream = session.respond(client, BODY, message_id="a1")
        async with stream as events:
            assert isinstance(events.answer, RunStream)
            watcher = asyncio.create_task(watch(events.answer, scale, report))
            async for event in events:
                report(event=event)
        watcher.cancel()


async def watch(run: RunStream, scale: float, report: Any) -> None:
    """Report the failures of a run, and how the client resumes it."""
    reported = 0
    asking = False
    while True:
        state = run.report
        modes = [attempt.mode for attempt in state.attempts if attempt.mode is not None]
        for mode in modes[reported:]:
            report(note=WORDS.get(mode, f"✂ The stream ends early ({mode.value}). The client resumes it."))
        reported = len(modes)
        if state.run is not None and not asking:
            asking = True
            report(note="▶ The client recovers: it asks for the document until the run ends.")
        await asyncio.sleep(scale)


def work(database: str, url: str, scale: float) -> None:
    """Converse in a session of *database*, and print what comes as lines of JSON."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which kills us
    with SqliteStore(database) as store:
        asyncio.run(converse(store, url, scale, send_to_parent))


def send_to_parent(*, event: Event | None = None, **fields: object) -> None:
    """Print what happens as a line of JSON, for the parent to show."""
    document = fields if event is None else {"event": unstructure(redact(event))}
    sys.stdout.buffer.write(write_json(document) + b"\n")
    sys.stdout.buffer.flush()


# -- the demonstration: what you see


class Screen:
    """Prints durable events as lines of their own. The live ones in between grow on one dim line."""

    def __init__(self, clock: StageClock) -> None:
        self.live = 0
        self._clock = clock
        self._console = Console(highlight=False, soft_wrap=True)
        self._growing: str | None = None
        self._column = 0

    def event(self, event: Event) -> None:
        """Print one event."""
        if event.durable:
            content = Text.assemble(("● ", "bold green"), (f"{event.type:<20} ", "green"), content_of(event))
            self._line(Text.assemble((f"{self._time()}  ", "dim"), content))
            return
        self.live += 1
        if self._growing != event.type:
            self._line(Text(f"{self._time()}  · {event.type:<20} ", "dim"), end="")
            self._column = INDENT
            self._growing = event.type
        self._grow(content_of(event))

    def print(self, text: str = "", style: str = "bold") -> None:
        """Print a line about what happens."""
        self._line(Text(text, style))

    def note(self, text: str) -> None:
        """Print a line about what happens at the provider."""
        self._line(Text.assemble((f"{self._time()}  ", "dim"), (text, "bold yellow")))

    def _time(self) -> str:
        minutes, seconds = divmod(int(self._clock.now()), 60)
        return f"{minutes:02}:{seconds:02}"

    def _line(self, text: Text, end: str = "\n") -> None:
        if self._growing:
            self._growing = None
            self._console.print()
        # On a terminal long lines break between words; in a pipe they stay whole.
        self._console.print(text, end=end, soft_wrap=bool(not end or not self._console.is_terminal))

    def _grow(self, text: str) -> None:
        for piece in re.split(r"(?= )", text):
            breaks = self._console.is_terminal and self._column + len(piece) > self._console.width - MARGIN
            if piece.startswith(" ") and breaks:
                self._console.print("\n" + " " * (INDENT - 1), end="")
                self._column = INDENT - 1
            self._console.print(Text(piece, "dim"), end="")
            self._column += len(piece)


def content_of(event: Event) -> str:
    """Return an event in one line."""
    match event:
        case TextDelta() | ReasoningDelta():
            return event.delta.replace("\n", " ")
        case TextEnded() | ReasoningEnded():
            return shortened(event.text)
        case PromptSubmitted():
            return "".join([item.text for item in event.content if isinstance(item, TextContent)])
        case ToolInputStarted():
            return f"{event.name}, run by the {'provider' if event.provider_executed else 'app'}"
        case ToolCalled():
            return f"{event.name}({write_json(event.input).decode()})"
        case StepStarted():
            return f"{event.origin.provider} {event.origin.model}"
        case StepEnded():
            return event.finish_reason.value
        case _:
            return ""


def main() -> int:
    """Run the demonstration and return 0 when the conversation came through whole."""
    parser = argparse.ArgumentParser(description="Cut and kill an agent's run, and get all of its answer nevertheless.")
    parser.add_argument("--fast", action="store_true", help="play three times as fast")
    parser.add_argument("--work", nargs=2, metavar=("DATABASE", "URL"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    scale = 0.006 if given.fast else 0.02
    if given.work:
        work(*given.work, scale)
        return 0
    clock = StageClock(scale)
    screen = Screen(clock)
    with tempfile.TemporaryDirectory(prefix="assistant-events-demo-") as folder:
        try:
            return demonstrate(screen, str(Path(folder) / "chat.db"), clock, fast=given.fast)
        except KeyboardInterrupt:
            screen.print("stopped", "")
            return 130


def demonstrate(screen: Screen, database: str, clock: StageClock, *, fast: bool) -> int:
    """Let a child work, kill it, look at what is left, let another one work, and compare."""
    screen.print("An agent works for 25 minutes, played in half a minute.")
    screen.print("The provider is a mock with a fast clock; all else is real.", "")
    screen.print("● durable: stored   · live: shown, may be lost\n", "")
    with provider(clock, cuts=True) as running:
        screen.print("▶ A process asks the agent and stores what it answers.")
        if not run_child(screen, database, running.url, clock, fast=fast, kill=True):
            screen.print("the child ended before it could be killed")
            return 1
        screen.print("\n✗ The process was killed with SIGKILL in the middle of a sentence.")
        left = stored(database)
        screen.print(f"  The log holds {left.seq} records. They fold to this:", "")
        for line in lines_of(left):
            screen.print(f"    {line}", "")
        screen.print("\n▶ A new process resumes the run from the log. Only what is new comes out.")
        run_child(screen, database, running.url, clock, fast=fast)
    result = stored(database)
    with SqliteStore(database) as store:
        found = find_problems(store.read("demo"))
    equal = result.messages == uncut().messages and not found

    screen.print("\n" + ("✓ Equal" if equal else "✗ Not equal") + " to the conversation that was never cut:")
    for line in lines_of(result):
        screen.print(f"    {line}", "")
    screen.print()
    added = result.seq - left.seq
    screen.print(f"  Of {result.seq} durable events {left.seq} were stored before the kill, {added} after it.", "")
    screen.print(f"  {screen.live} live events were shown and never stored. Nothing is missing.", "")
    return 0 if equal else 1


def run_child(screen: Screen, database: str, url: str, clock: StageClock, *, fast: bool, kill: bool = False) -> bool:
    """Run a child and show what it reports. Return whether it was killed, in the text after the first cut."""
    command = [sys.executable, __file__, "--work", database, url, *(["--fast"] if fast else [])]
    left = KILLED_AFTER_TEXT_DELTAS if kill else 0
    cut = False
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        try:
            for line in child.stdout:
                report = json.loads(line)
                if "ready" in report:
                    clock.resume()
                elif "note" in report:
                    cut = True
                    screen.note(report["note"])
                else:
                    event: Event = structure(report["event"], Event)
                    screen.event(event)
                    left -= cut and isinstance(event, TextDelta)
                    if kill and not left:
                        clock.pause()
                        child.kill()
                        return True
        finally:
            child.kill()
            clock.pause()
    return False


def stored(database: str) -> Transcript:
    """Return what the log folds to."""
    with SqliteStore(database) as store:
        return SyncSession.open(store, "demo").transcript


def uncut() -> Transcript:
    """Return the transcript of the same conversation from a provider that never cuts, received in one go."""
    clock = StageClock(1 / SECONDS)
    clock.resume()
    store = MemoryStore()
    with provider(clock, cuts=False) as running:
        asyncio.run(converse(store, running.url, 1.0, lambda **fields: None))
    return SyncSession.open(store, "demo").transcript


def lines_of(transcript: Transcript) -> Iterator[str]:
    """Return a line for each thing that the answer holds."""
    answer = transcript.last_answer
    if answer is not None:
        yield f"the answer is {answer.status.value}"
        for part in answer.parts:
            yield f"  {part.type:<10} {part.status.value:<10} {about(part)}"


def about(part: Part) -> str:
    """Return in one line what a part holds. Of state only the size shows."""
    match part:
        case TextPart() | ReasoningPart():
            open_part = part.status is PartStatus.STREAMING and not part.text
            return "(its beginning is stored, its words are not yet)" if open_part else shortened(part.text)
        case ToolPart():
            return part.name
        case _:
            return ""


def shortened(text: str) -> str:
    """Return the beginning of a text, in one line."""
    text = text.replace("\n", " ")
    return f"{text[:26]}… ({len(text)} characters)" if len(text) > 44 else text


if __name__ == "__main__":
    sys.exit(main())
