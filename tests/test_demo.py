"""
The demonstration, as `make demo` runs it, only faster.
"""

import signal
import subprocess
import sys
from pathlib import Path

from tests.children import Child

DEMO = [sys.executable, "-W", "error", str(Path(__file__).parent.parent / "examples" / "demo.py"), "--fast"]


def test_demo_comes_through_whole(tmp_path):
    """
    The run is cut, killed, resumed, cut again and recovered, and the answer is equal to the one that was never cut.
    """
    ran = subprocess.run(DEMO, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    shown = ran.stdout.decode()
    story = [
        "✂ The provider cuts the stream after ten minutes;",
        "✗ The process was killed with SIGKILL in the middle of a sentence.",
        "text       streaming",
        "▶ A new process resumes the run from the log.",
        "✂ The stream that was resumed is cut, too.",
        "▶ The client recovers:",
        "● step.ended           stop",
        "✓ Equal to the conversation that was never cut:",
    ]

    assert (0, b"") == (ran.returncode, ran.stderr)
    assert story == sorted([line for line in story if line in shown], key=shown.index)
    assert "\x1b" not in shown
    assert [] == list(tmp_path.iterdir())


def test_ctrl_c_ends_it(tmp_path):
    """
    Ctrl-C ends the demonstration with a word and leaves neither a process nor a file.
    """
    with Child(DEMO, cwd=tmp_path) as child:
        code, out, err = child.until(b"step.started").ended(signal.SIGINT)

    assert (130, "") == (code, err)
    assert "stopped" == out.splitlines()[-1]
    assert [] == list(tmp_path.iterdir())
