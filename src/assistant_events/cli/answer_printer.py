"""
Shows an answer as it streams: its text on standard output, everything else on standard error.

So a program reads the text of the answer alone. On a terminal reasoning is dim. Control characters are made visible.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Final, TextIO, final

from assistant_events import events as ev
from assistant_events.cli.output import print_json, print_note
from assistant_events.cli.terminal_safe import one_line, shortened, size_of, visible
from assistant_events.converters import unstructure
from assistant_events.messages import AssistantMessage, PartStatus, ReasoningPart, TextPart, ToolPart, redact
from assistant_events.values import write_json

if TYPE_CHECKING:
    from rich.console import Console

_LONGEST: Final = 200
"""Maximum number of characters of a tool's input."""


@final
class AnswerPrinter:
    """Shows one answer; with *json*, its events as JSON lines instead."""

    def __init__(self, *, json: bool = False) -> None:
        self._json = json
        self._console = _console()
        self._open: TextIO | None = None
        """Stream with a line that has not ended."""

        self._kind = ""
        self._shown = Counter[str]()
        """Number of characters shown of the open text and the open reasoning."""

        self._held = ""
        self._any = False
        """Whether any part of the answer was shown."""

    def event(self, event: ev.Event) -> None:
        """Show one event, if it is visible."""
        if self._json:
            print_json(unstructure(redact(event)))
            sys.stdout.flush()
            return
        match event:
            case ev.TextDelta():
                self._grow("text", event.delta, event.offset)
            case ev.ReasoningDelta():
                self._grow("reasoning", event.delta, event.offset)
            case ev.TextEnded():
                self._end("text", event.text)
            case ev.ReasoningEnded():
                self._end("reasoning", event.text)
            case ev.ToolCalled():
                self._call(event.name, write_json(event.input).decode())
            case ev.ToolFailed():
                self.note(f"{event.call_id} failed: {event.error.message}")
            case ev.MediaEnded():
                self._aside(f"[{event.media_type}{'' if event.data is None else f', {size_of(len(event.data))}'}]")
            case ev.StepRestarted():
                self._start_over()
            case _:
                pass

    def stored(self, message: AssistantMessage) -> None:
        """Show the completed parts of a message that is resumed, and what the checkpoints have of its open ones."""
        if self._json:
            return
        for part in message.parts:
            if isinstance(part, (TextPart, ReasoningPart)) and part.status is PartStatus.COMPLETED:
                self._end(part.type, part.text)
            elif isinstance(part, (TextPart, ReasoningPart)) and part.status is PartStatus.STREAMING:
                self._grow(part.type, part.text, 0)
            elif isinstance(part, ToolPart) and part.input is not None:
                self._call(part.name, write_json(part.input).decode())

    def note(self, text: str) -> None:
        """Write a line about the answer to standard error."""
        self.end_line()
        print_note(text)

    def row(self, label: str, text: str) -> None:
        """Write one row of a list below a note."""
        sys.stderr.write(f"  {label:<8} {one_line(text)}\n")
        sys.stderr.flush()

    def end_line(self) -> None:
        """End the open line, if there is one."""
        stream, self._open = self._open, None
        if stream is not None:
            stream.write("\n")
            stream.flush()

    # -- internals

    def _grow(self, kind: str, text: str, offset: int) -> None:
        if kind != self._kind:
            self._leave()
            self._kind = kind
        new = text[max(self._shown[kind] - offset, 0) :]
        self._shown[kind] = max(self._shown[kind], offset + len(text))
        # A carriage return may be the first half of a line end.
        new = self._held + new
        self._held = "\r" if new.endswith("\r") else ""
        self._write(kind, visible(new.removesuffix("\r")))

    def _end(self, kind: str, text: str) -> None:
        self._grow(kind, text, 0)
        self._shown[kind] = 0
        self._leave()

    def _start_over(self) -> None:
        self._shown.clear()
        self._leave()
        if self._any:
            self.note("the answer starts over")

    def _leave(self) -> None:
        self._kind = self._held = ""
        self.end_line()

    def _write(self, kind: str, text: str) -> None:
        if not text:
            return
        self._any = True
        stream = sys.stdout if kind == "text" else sys.stderr
        if kind == "text":
            stream.write(text)
            stream.flush()
        else:
            self._print(text, "dim")
        self._open = None if text.endswith("\n") else stream

    def _call(self, name: str, arguments: str) -> None:
        self._aside(f"{name} {shortened(arguments, _LONGEST)}")

    def _aside(self, text: str) -> None:
        self._leave()
        self._print(f"· {one_line(text)}\n", "cyan")

    def _print(self, text: str, style: str) -> None:
        if self._console is None:
            sys.stderr.write(text)
        else:
            from rich.text import Text

            self._console.print(Text(text, style), end="", soft_wrap=True)
        sys.stderr.flush()


def _console() -> Console | None:
    if not sys.stderr.isatty():
        return None
    from rich.console import Console

    return Console(stderr=True, highlight=False)
