"""
The names of the package root: what most applications import, and no more.
"""

import subprocess
import sys

import pytest

import assistant_events
from assistant_events.events import DURABLE_EVENTS, LIVE_EVENTS

EVENTS = {cls.__name__ for cls in (*DURABLE_EVENTS, *LIVE_EVENTS)}
NAMES = {
    "events": "DurableEvent Event Frame LiveEvent Record UnknownEvent is_durable",
    "messages": "AssistantMessage CompactionMessage Message Transcript UserMessage redact",
    "parts": "MediaPart OpaquePart Part PartStatus ReasoningPart TextPart ToolPart",
    "words": "ApprovalStatus Awaits CallStatus ErrorKind FinishReason MessageStatus",
    "values": "Citation ErrorInfo JsonObject Origin RemoteRun State Usage thaw",
    "content": "Content JsonContent MediaContent TextContent",
    "functions": "find_problems fold reconcile reduce",
    "errors": "AssistantEventsError",
}


def test_names():
    """
    The root exports every event and the names that go with events; all others are imported from their own modules.
    """
    names = set(" ".join(NAMES.values()).split())

    assert names | EVENTS == {*assistant_events.__all__}
    assert len(assistant_events.__all__) < 75


def test_names_exist():
    """
    Each name is there.
    """
    assert [] == [name for name in assistant_events.__all__ if not hasattr(assistant_events, name)]


def test_imports_of_the_root():
    """
    The package root imports attrs, and neither its other dependencies nor a reader of JSON, which are slow to import.
    """
    program = "import sys, assistant_events; print(*{name.partition('.')[0] for name in sys.modules})"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    slow = {"cattrs", "hypothesis", "json", "msgspec", "sqlite3", "typing_extensions"}

    assert set() == slow & set(ran.stdout.split())


def test_reducer_is_loaded_when_used():
    """
    The package root loads the reducer when one of its names is first used, and has no other names of that kind.
    """
    program = (
        "import sys, assistant_events; print('assistant_events.reducer' in sys.modules);"
        "from assistant_events import fold; from assistant_events import reducer; print(fold is reducer.fold)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)

    assert ["False", "True"] == ran.stdout.split()
    with pytest.raises(AttributeError, match="has no attribute 'Builder'"):
        _ = assistant_events.Builder
