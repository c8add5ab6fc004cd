"""What the rows of a transcript have: the odd cases, each worked out by hand."""

import pytest

from assistant_events import Citation, ErrorInfo, MediaContent, TextContent, Usage, fold
from assistant_events.cli.rendering import first_of, rows_of, usage_text
from assistant_events.events import (
    CompactionFailed,
    CompactionStarted,
    MediaEnded,
    MediaStarted,
    ReasoningStarted,
    StepStarted,
    ToolInputStarted,
)
from assistant_events.testing import Call, answer, error, origin

FINAL = ErrorInfo(kind="provider", message="it broke", retryable=False)
AGAIN = ErrorInfo(kind="provider", message="it broke", retryable=True)


def cited(**fields):
    """The answer `Hi` with one source."""
    return answer("Hi", citations=[Citation(**fields)])


ROWS = {
    "the model that was served": (
        answer("", origin=origin(served_model="acme-1-2026")),
        ["a1", "assistant · acme acme-1-2026 · completed (stop)", "", False],
    ),
    "a failed answer": (answer("", error=FINAL), ["a1", "assistant · acme acme-1 · failed", "bad", False]),
    "an error that is final": (answer("", error=FINAL), ["error", "provider: it broke", "bad", False]),
    "an error that passes": (
        answer("", error=AGAIN),
        ["error", "provider: it broke (may be tried again)", "bad", False],
    ),
    "a summary that failed": (
        [CompactionStarted(message_id="c1", reason="manual"), CompactionFailed(message_id="c1", error=error())],
        ["text", " (cut here)", "", False],
    ),
    "why a summary failed": (
        [CompactionStarted(message_id="c1", reason="manual"), CompactionFailed(message_id="c1", error=error())],
        ["error", "provider: it broke", "bad", False],
    ),
    "a reasoning that is hidden": (
        answer("", reasoning_state={"signature": "x"}),
        ["reasoning", "(without text)", "dim", False],
    ),
    "an open reasoning": (
        [StepStarted(message_id="a1", origin=origin()), ReasoningStarted(message_id="a1")],
        ["reasoning", "(without text) (still open)", "dim", False],
    ),
    "an image elsewhere": (
        [
            StepStarted(message_id="a1", origin=origin()),
            MediaStarted(message_id="a1", media_type="image/png"),
            MediaEnded(message_id="a1", media_type="image/png", uri="https://example.org/a.png", complete=False),
        ],
        ["media", "image/png · https://example.org/a.png (cut here)", "", False],
    ),
    "an image of a tool": (
        answer(
            "", calls=[Call("look", output=[MediaContent(media_type="image/png", uri="https://example.org/a.png")])]
        ),
        ["output", "image/png · https://example.org/a.png", "", True],
    ),
    "a source": (
        cited(url="https://example.org", cited_text="rain", start=0),
        ["cites", "https://example.org rain", "dim", True],
    ),
    "a call of the app": (
        answer("", calls=[Call("look", output="seen")]),
        ["call", "look call-1 · success", "call", False],
    ),
    "a call that failed": (
        answer("", calls=[Call("look", error=FINAL)]),
        ["call", "look call-1 · failed", "bad", False],
    ),
    "why a call failed": (answer("", calls=[Call("look", error=FINAL)]), ["error", "provider: it broke", "bad", True]),
    "a long input": (
        answer("", calls=[Call("look", "x" * 601)]),
        ["input", "x" * 600 + "… (1 more characters)", "", True],
    ),
    "a long output": (
        answer("", calls=[Call("look", output="x" * 601)]),
        ["output", "x" * 600 + "… (1 more characters)", "", True],
    ),
    "a second output": (
        answer("", calls=[Call("look", output=[TextContent(text="one"), TextContent(text="two")])]),
        ["output", "two", "", True],
    ),
    "tokens": (answer("", usage=Usage(output_tokens=0)), ["usage", "output 0", "dim", False]),
    "state": (
        answer("", calls=[Call("look", output="seen", state={"s": 1}, result_state={"s": 10})]),
        ["state", "look 7 B, result of look 8 B", "dim", False],
    ),
}


@pytest.mark.parametrize(("events", "expected"), ROWS.values(), ids=ROWS)
def test_rows(events, expected):
    """
    Each row has its label, its text, its tone and its margin.
    """
    assert expected in [[row.label, row.text, row.tone, row.deeper] for row in rows_of(fold(events))]


def test_what_is_not_there_has_no_row():
    """
    An answer without usage, state, error and input has none of their rows.
    """
    assert ["a1", "text"] == [row.label for row in rows_of(fold(answer("Hi")))]
    begun = [
        StepStarted(message_id="a1", origin=origin()),
        ToolInputStarted(message_id="a1", call_id="c1", name="look"),
    ]
    assert ["a1", "call"] == [row.label for row in rows_of(fold(begun))]


def test_token_counts():
    """
    Counts have their names and thousands; without any they are unknown.
    """
    usage = Usage(input_tokens=12_345, cache_read_tokens=1, output_tokens=2)

    assert "input 12,345 · cache read 1 · output 2 · total 12,347" == usage_text(usage)
    assert "unknown" == usage_text(Usage())


def test_first_names():
    """
    Ten names are listed, and further ones counted.
    """
    names = [*"abcdefghijk"]

    assert "'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'" == first_of(names[:10])
    assert first_of(names[:10]) + " and 1 more" == first_of(names)
