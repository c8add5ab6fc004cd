"""An answer as it streams: what is written to standard output, what to standard error, and in which form."""

import io
import sys

import pytest

from assistant_events import fold
from assistant_events.cli.answer_printer import AnswerPrinter
from assistant_events.events import (
    MediaEnded,
    OpaqueReceived,
    ReasoningDelta,
    ReasoningEnded,
    StepRestarted,
    TextDelta,
    TextEnded,
    ToolCalled,
    ToolFailed,
)
from assistant_events.testing import Call, answer, error, message


class Terminal(io.StringIO):
    """A standard error that is a terminal."""

    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture
def show(capsys):
    """Shows events and returns standard output and standard error."""

    def show(*events, printer=None):
        printer = printer or AnswerPrinter()
        for event in events:
            printer.event(event)
        printer.end_line()
        captured = capsys.readouterr()
        return captured.out, captured.err

    return show


def text(delta, offset=0):
    return TextDelta(message_id="a1", offset=offset, delta=delta)


def thought(delta, offset=0):
    return ReasoningDelta(message_id="a1", offset=offset, delta=delta)


def test_the_end_says_what_deltas_left_out(show):
    """
    Text without a delta is shown at the end of its part, and no text is shown twice.
    """
    assert ("Hello\n", "") == show(text("He"), text("Hel"), TextEnded(message_id="a1", text="Hello"))


def test_a_delta_that_comes_again(show):
    """
    It shows nothing, and what follows the longer one shows only what is new.
    """
    assert ("abcd\n", "") == show(text("abc"), text("a"), text("bcd", 1))


def test_the_next_text_begins_anew(show):
    """
    Its first characters are shown, on a line of their own; a line that has ended is not ended again.
    """
    ended = [TextEnded(message_id="a1", text=each) for each in ("Hello", "Oslo\n")]

    assert ("Hello\nOslo\n", "") == show(text("Hello"), ended[0], text("Oslo\n"), ended[1])


def test_half_a_line_end_is_of_its_own_text(show):
    """
    It is not shown before what comes next.
    """
    assert ("one\n", "hm\n") == show(text("one\r"), thought("hm"))


def test_a_note_has_a_line_of_its_own(capsys):
    """
    The line of the text is ended before it; a row below it is one line, whatever is in it.
    """
    printer = AnswerPrinter()
    printer.event(text("one"))
    printer.note("asking again")
    assert ("one\n", "assistant-events: asking again\n") == capsys.readouterr()
    printer.row("resume", "a\nb\x1b")

    assert ("", "  resume   a\\nb\\x1b\n") == capsys.readouterr()


@pytest.mark.parametrize("json", [True, False])
def test_each_delta_can_be_read_at_once(monkeypatch, json):
    """
    A program that reads standard output has the text when it comes, not when some kilobytes have.
    """
    output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", output)
    AnswerPrinter(json=json).event(text("Hello"))

    assert b"Hello" in output.buffer.getvalue()


def test_events_in_json_have_no_state(capsys):
    """
    State returns to its provider alone.
    """
    AnswerPrinter(json=True).event(OpaqueReceived(message_id="a1", state={"key": "canary"}))
    out, _ = capsys.readouterr()

    assert "opaque.received" in out
    assert "canary" not in out


def test_text_and_reasoning_may_alternate(show):
    """
    While a text and a reasoning are open at the same time, each continues where it was.
    """
    shown = show(
        text("one "),
        thought("hm "),
        text("two", 4),
        TextEnded(message_id="a1", text="one two"),
        ReasoningEnded(message_id="a1", text="hm hm"),
    )

    assert ("one \ntwo\n", "hm \nhm\n") == shown


def test_escapes_are_spelled_out(show):
    """
    What a model wrote cannot move the cursor.
    """
    called = ToolCalled(message_id="a1", call_id="c1", name="add\x1b[2J", input={"x": 1})

    assert ("\\x1b[31mred\n", '\\x1b]0;\n· add\\x1b[2J {"x":1}\n') == show(
        text("\x1b[31mred"), thought("\x1b]0;"), called
    )


def test_a_line_end_in_two_deltas(show):
    """
    A line end that is cut in two is one line end, and a lone carriage return is spelled out.
    """
    assert ("a\nb\\x0dc\n", "") == show(text("a\r"), text("\nb\r", 2), text("c", 5))


def test_other_things_are_asides(show):
    """
    Media, failed calls and a second start are lines on standard error.
    """
    out, err = show(
        text("He"),
        MediaEnded(message_id="a1", media_type="image/png", data=b"12345"),
        MediaEnded(message_id="a1", media_type="video/mp4", uri="https://example.com/v"),
        ToolFailed(message_id="a1", call_id="c1", error=error(message="it broke")),
        StepRestarted(message_id="a1", reason="cut"),
        text("Hello"),
    )

    assert "He\nHello\n" == out
    assert [
        "· [image/png, 5 B]",
        "· [video/mp4]",
        "assistant-events: c1 failed: it broke",
        "assistant-events: the answer starts over",
    ] == err.splitlines()


def test_a_long_call(show):
    """
    Two hundred characters of the input of a call are shown.
    """
    _, err = show(ToolCalled(message_id="a1", call_id="c1", name="add", input={"x": "y" * 200}))

    assert f'· add {{"x":"{"y" * 194}… (8 more characters)\n' == err


def test_a_first_start_over_is_not_said(show):
    """
    A restart before any output shows no note.
    """
    assert ("Hello\n", "") == show(StepRestarted(message_id="a1", reason="cut"), text("Hello"))


def test_what_is_stored_is_shown(capsys):
    """
    Of a message that is gone on with, what has ended is shown again, but not as JSON.
    """
    stored = message(answer("Hello", reasoning="hm", calls=[Call("add", {"x": 1})]))
    AnswerPrinter().stored(stored)
    AnswerPrinter(json=True).stored(stored)
    captured = capsys.readouterr()

    assert "Hello\n" == captured.out
    assert {"hm", '· add {"x":1}'} == set(captured.err.splitlines())


def test_open_text_of_checkpoints_is_shown_once(capsys):
    """
    Of a text that is gone on with, what the checkpoints have is shown, and then what follows it.
    """
    cut = [*answer("Hello, Oslo")[:2], text("Hello")]
    printer = AnswerPrinter()
    printer.stored(fold(cut).answer("a1"))
    printer.event(text(", Oslo", 5))
    printer.event(TextEnded(message_id="a1", text="Hello, Oslo"))

    assert "Hello, Oslo\n" == capsys.readouterr().out


def test_reasoning_is_dim_on_a_terminal(show, monkeypatch):
    """
    On a terminal reasoning is dim and text is not.
    """
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys, "stderr", terminal)
    # Markup is a text, numbers have no colour, and the terminal folds lines itself.
    hm = "[b]hm[/b] 42 " + "word " * 40
    out, _ = show(thought(hm), text("Hello"))

    assert "Hello\n" == out
    assert f"\x1b[2m{hm}\x1b[0m\n" == terminal.getvalue()
