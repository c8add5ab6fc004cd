"""The frames of the Interactions wire that faults insert, remove and change."""

from __future__ import annotations

from typing import Final

from assistant_events.adapters.gemini_interactions.mock.frames import wire_frame
from assistant_events.mock.documents import changed_frame
from assistant_events.mock.fault_effects import FaultFrames
from assistant_events.mock.stream_actions import WireFrame

# Google forum 143098 (live, 2026): the body of a stream that is cut ends with this, directly after the last frame.
CUT_TAIL: Final = b"""\
[{
"error": {
"code": 503,
"message": "The service is currently unavailable.",
"status": "UNAVAILABLE"
}
}
]
"""


FAULT_FRAMES: Final = FaultFrames(
    cut_tail=CUT_TAIL,
    error=lambda _: wire_frame({"error": {"code": "internal", "message": "boom"}, "event_type": "error"}),
    empty_errors=(
        wire_frame({"event_type": "error"}),
        wire_frame({"event_type": "error", "error": {}}),
        wire_frame({"event_type": "error", "error": {"code": "", "message": ""}}),
    ),
    unknown_types=(
        wire_frame({"event_type": "interaction.hint", "hint": "of tomorrow"}),
        wire_frame({"event_type": "step.start", "index": 900, "step": {"type": "dream", "depth": 2}}),
        wire_frame({"event_type": "step.delta", "index": 900, "delta": {"type": "dream_text", "text": "?"}}),
        wire_frame({"event_type": "step.stop", "index": 900}),
    ),
    bad_json=WireFrame("step.delta", b'event: step.delta\ndata: {"event_type":"step.delta","index":0,\n\n'),
    end_names=frozenset({"interaction.completed", "interaction.complete"}),
    stop_names=frozenset({"step.stop", "content.stop"}),
    done=b"[DONE]\n\n",
    without_usage=changed_frame(wire_frame, lambda event: event["interaction"].pop("usage", None)),
    unfinished=changed_frame(wire_frame, lambda event: event["interaction"].update(status="in_progress")),
)
