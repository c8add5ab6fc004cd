"""
The main job of the library, played in the terminal: `make demo`.

A recorded answer comes in at the speed of a model. A child process decodes it and stores what is durable in SQLite. It
is killed (SIGKILL) in the middle of a sentence and started again. It then reads what is left in the log, rejoins the
provider's stream, answers two tool calls and receives the final answer. In the end the stored conversation is compared
with one that was never cut.

    python examples/demo.py [--fast]
"""

from __future__ import annotations

import argparse
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

from assistant_events import (
    AssistantMessage,
    Event,
    Part,
    PartStatus,
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
    ToolInputDelta,
    ToolInputEnded,
    ToolInputStarted,
    ToolPart,
    ToolSuccess,
    Transcript,
    UserMessage,
    problems,
    public,
)
from assistant_events.adapters import load_dialect
from assistant_events.converters import dumps, loads
from assistant_events.session import SyncSession
from assistant_events.stores import MemoryStore, SqliteStore
from assistant_events.values import write_json

STREAMS = {
    "m1": Path(__file__).parent / "streams" / "tromso-1.sse",
    "m2": Path(__file__).parent / "streams" / "tromso-2.sse",
}
QUESTION = "I have one free day in Tromsø tomorrow. Whale watching or the museum?"
# A run in the background goes on at the provider when we are gone, and can be read again from its start.
REQUEST = {"model": "gemini-3.6-flash", "background": True, "store": True}
TOOLS: dict[str, Callable[..., object]] = {
    "get_forecast": lambda city, day: {"wind_m_s": 4, "from": "south", "temperature_c": 3, "sea": "calm"},
    "find_seats": lambda tour, people: [{"departure": "9:30", "back": "15:00", "free": 6}],
}
KILLED_AFTER_TEXT_DELTAS = 24
INDENT = len(f"  · {'':<20} ")
MARGIN = 12  # columns that are left for the rest of a word, which comes with the next piece


# -- the app: what the child process runs


def converse(session: SyncSession, play: Callable[[Path], Iterator[bytes]]) -> Iterator[Event]:
    """Lead the conversation from wherever it stands to its end, and give every event that is new."""
    if not session.transcript.messages:
        session.prompt(QUESTION, message_id="u1")
        yield PromptSubmitted(message_id="u1", content=QUESTION)
    for message_id, stream in STREAMS.items():
        # With a prior, a decoder takes the stream from its start and gives only what is new.
        decoder = load_dialect("gemini-interactions").decoder(message_id, request=REQUEST, prior=session.transcript)
        yield from session.receive(decoder, play(stream))
        calls = session.transcript.pending_calls
        for record in session.append(*[call.succeed(TOOLS[call.name](**call.arguments)) for call in calls]):
            yield record.event


def work(database: str, pace: float) -> None:
    """Converse in a session of *database*, and print each event as one line of JSON."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which kills us
    with SqliteStore(database) as store:
        session = SyncSession.open(store, "demo")
        # What the provider has written while we were gone comes at once.
        left_behind = {message.id for message in session.transcript}

        def play(stream: Path) -> Iterator[bytes]:
            behind = any(STREAMS.get(message_id) == stream for message_id in left_behind)
            return played(stream, pace * 0.05 if behind else pace)

        for event in converse(session, play):
            sys.stdout.buffer.write(dumps(public(event)) + b"\n")
            sys.stdout.buffer.flush()


def played(stream: Path, pace: float) -> Iterator[bytes]:
    """Give a recorded stream frame by frame. A comment before each frame says how long the provider took for it."""
    for frame in stream.read_bytes().split(b"\n\n"):
        pause = re.match(rb": (\d+) ms\n", frame)
        if pause:
            time.sleep(int(pause[1]) / 1000 * pace)
        yield frame + b"\n\n"


# -- the demonstration: what you see


class Screen:
    """Prints durable events as lines of their own. The live ones in between grow on one dim line."""

    def __init__(self) -> None:
        self.durable = self.live = 0
        self._console = Console(highlight=False, soft_wrap=True)
        self._growing: tuple[str, str | None] | None = None
        self._column = 0

    def event(self, event: Event) -> None:
        """Print one event."""
        if event.durable:
            self.durable += 1
            self._line(Text.assemble(("  ● ", "bold green"), (f"{event.type:<20} ", "green"), content_of(event)))
            return
        self.live += 1
        if not self._console.is_terminal:
            self._line(Text(f"  · {event.type:<20} {content_of(event)}"))
        elif self._growing == (event.type, getattr(event, "call_id", None)):
            delta = event.delta.replace("\n", " ") if isinstance(event, ToolInputDelta) else content_of(event)
            self._grow(delta)
        else:
            self._line(Text(f"  · {event.type:<20} ", "dim"), end="")
            self._column = INDENT
            self._grow(content_of(event))
            self._growing = (event.type, getattr(event, "call_id", None))

    def say(self, text: str = "", style: str = "bold") -> None:
        """Print a line about what happens."""
        self._line(Text(text, style))

    def _line(self, text: Text, end: str = "\n") -> None:
        if self._growing:
            self._growing = None
            self._console.print()
        # On a terminal long lines break between words; in a pipe they stay whole.
        self._console.print(text, end=end, soft_wrap=bool(not end or not self._console.is_terminal))

    def _grow(self, text: str) -> None:
        for piece in re.split(r"(?= )", text):
            if piece.startswith(" ") and self._column + len(piece) > self._console.width - MARGIN:
                self._console.print("\n" + " " * (INDENT - 1), end="")
                self._column = INDENT - 1
            self._console.print(Text(piece, "dim"), end="")
            self._column += len(piece)


def content_of(event: Event) -> str:
    """Return what an event says, in one line."""
    match event:
        case ToolInputDelta():
            return f"{event.call_id}: " + event.delta.replace("\n", " ")
        case TextDelta() | ReasoningDelta():
            return event.delta.replace("\n", " ")
        case TextEnded() | ReasoningEnded() | ToolInputEnded():
            text = event.text.replace("\n", " ") or "(without text)"
            return f"{text[:50]}… ({len(text)} characters)" if len(text) > 50 else text
        case PromptSubmitted():
            return "".join([item.text for item in event.content if isinstance(item, TextContent)])
        case ToolInputStarted():
            return f"{event.name}, run by the {'provider' if event.provider_executed else 'app'}"
        case ToolCalled():
            return f"{event.name}({write_json(event.input).decode()})"
        case ToolSuccess():
            return f"the answer to {event.call_id}"
        case StepStarted():
            return f"{event.origin.provider} {event.origin.served_model}"
        case StepEnded():
            return event.finish.value
        case _:
            return ""


def main() -> int:
    """Run the demonstration and return 0 when the conversation came through whole."""
    parser = argparse.ArgumentParser(
        description="Kill a chat in the middle of an answer, and get all of it nevertheless."
    )
    parser.add_argument("--fast", action="store_true", help="play ten times as fast")
    parser.add_argument("--work", metavar="DATABASE", help=argparse.SUPPRESS)
    given = parser.parse_args()
    pace = 0.1 if given.fast else 1.0
    if given.work:
        work(given.work, pace)
        return 0
    screen = Screen()
    with tempfile.TemporaryDirectory(prefix="assistant-events-demo-") as folder:
        try:
            return demonstrate(screen, str(Path(folder) / "chat.db"), fast=given.fast)
        except KeyboardInterrupt:
            screen.say("stopped", "")
            return 130


def demonstrate(screen: Screen, database: str, *, fast: bool) -> int:
    """Let a child work, kill it, look at what is left, let another one work, and compare."""
    screen.say("▶ A process asks a model and stores the answer.  ● durable: stored   · live: shown, may be lost")
    killed = run_child(screen, database, fast=fast, kill_after=KILLED_AFTER_TEXT_DELTAS)
    if not killed:
        screen.say("the child ended before it could be killed")
        return 1
    seen = screen.durable
    screen.say("\n✗ The process was killed with SIGKILL in the middle of a sentence.")
    with SqliteStore(database) as store:
        left = SyncSession.open(store, "demo").transcript
    screen.say(f"  The log holds {left.seq} records. They fold to this:", "")
    for line in told(left):
        screen.say(f"    {line}", "")

    screen.say("\n▶ A new process opens the log and rejoins the stream. Only what is new comes out.")
    run_child(screen, database, fast=fast)
    with SqliteStore(database) as store:
        records = list(store.read("demo"))
        result = SyncSession.open(store, "demo").transcript
    whole = uncut()
    equal = result.messages == whole.messages and not problems(records)

    screen.say("\n" + ("✓ Equal" if equal else "✗ Not equal") + " to the conversation that was never cut:")
    for line in told(result):
        screen.say(f"    {line}", "")
    screen.say()
    screen.say(
        f"  Of {result.seq} durable events, {left.seq} were stored before the kill ({seen} of them were shown); "
        f"the new process added the other {result.seq - left.seq}.",
        "",
    )
    screen.say(f"  {screen.live} live events were shown and never stored: the durable ones hold all they said.", "")
    return 0 if equal else 1


def run_child(screen: Screen, database: str, *, fast: bool, kill_after: int | None = None) -> bool:
    """Run a child and print its events. Return whether it was killed, after so many pieces of text."""
    command = [sys.executable, __file__, "--work", database, *(["--fast"] if fast else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        try:
            for line in child.stdout:
                event = loads(line, Event)
                screen.event(event)
                if kill_after is not None and isinstance(event, TextDelta):
                    kill_after -= 1
                    if not kill_after:
                        child.kill()
                        return True
        finally:
            child.kill()
    return False


def uncut() -> Transcript:
    """Return the transcript of the same conversation, received in one go."""
    session = SyncSession.open(MemoryStore(), "uncut")
    for _ in converse(session, lambda stream: played(stream, 0)):
        pass
    return session.transcript


def told(transcript: Transcript) -> Iterator[str]:
    """Return a line for each thing that the messages hold."""
    for message in transcript.messages:
        if isinstance(message, AssistantMessage):
            yield f"{message.id}  the model, {message.status.value}"
            for part in message.parts:
                yield f"      {part.type:<10} {part.status.value:<10} {about(part)}"
        elif isinstance(message, UserMessage):
            yield f"{message.id}  {message.text}"


def about(part: Part) -> str:
    """Say in one line what a part holds. State shows by its size alone."""
    match part:
        case TextPart() | ReasoningPart():
            text = part.text.replace("\n", " ") or "(its beginning is stored, its words are not yet)"
            if part.status is PartStatus.COMPLETED and not part.text:
                text = "(without text)"
            said = f"{text[:48]}…" if len(text) > 48 else text
        case ToolPart():
            said = part.name
        case _:
            said = ""
    kept = sum(len(write_json(state)) for state in (part.state, getattr(part, "result_state", {})) if state)
    return f"{said}  (with {kept:,} bytes of provider state)" if kept > 100 else said


if __name__ == "__main__":
    sys.exit(main())
