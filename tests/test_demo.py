"""
The demonstration, as `make demo` runs it, only faster.
"""

import subprocess
import sys
from pathlib import Path

from assistant_events import problems
from assistant_events.adapters import load_dialect

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_demo_comes_through_whole(tmp_path):
    """
    The chat is killed in mid-sentence and started again, and the result is equal to the uncut one.
    """
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / "demo.py"), "--fast"],
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        check=False,
    )
    shown = ran.stdout.decode()

    assert (0, b"") == (ran.returncode, ran.stderr)
    assert "✗ The process was killed with SIGKILL in the middle of a sentence." in shown
    assert "text       streaming" in shown
    assert "✓ Equal to the conversation that was never cut:" in shown
    assert "  ● tool.called          get_forecast(" in shown
    assert "\x1b" not in shown
    assert [] == list(tmp_path.iterdir())


def test_streams_are_clean():
    """
    The shipped streams decode without a note and without problems, and hold what the demonstration shows.
    """
    types = set()
    for path in sorted((EXAMPLES / "streams").glob("*.sse")):
        decoder = load_dialect("gemini-interactions").decoder("m1")
        events = decoder.feed(path.read_bytes()) + decoder.close()
        types |= {event.type for event in events}

        assert ([], [], None) == (decoder.notes, problems(events), decoder.error)

    assert {"reasoning.delta", "text.delta", "tool.input.delta", "tool.called", "tool.success", "step.ended"} <= types
