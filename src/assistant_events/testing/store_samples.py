"""Logs for testing stores: every durable event class, and values that are easily lost."""

from __future__ import annotations

from typing import Final

from assistant_events import events as ev
from assistant_events import values as v
from assistant_events.messages import Unfinished
from assistant_events.testing.builders import Call, answer, compaction, durable, error, origin, prompt, rewind, run

SIGNATURE: Final = "ab+/cd==" * 12_800
"""100 KB of base64."""

PICTURE: Final = bytes(range(256)) * 8

_EMPTY: Final[tuple[str, ...]] = ()
_ODD_STATE: Final = v.State(
    {"signature": SIGNATURE, "z": "\ud800\x00\u2028é😀", "a": [10**40, 1.5, -0.0, None, True, {"": _EMPTY}]}
)
_EXTRA: Final = v.JsonObject({"of a newer version": [1, "\udc00"]})
_IMAGE: Final = v.MediaContent(media_type="image/png", data=PICTURE)
_DOT: Final = v.MediaContent(media_type="image/gif", data=b"GIF89a")

LIVE: Final[tuple[ev.Event, ...]] = (
    ev.TextDelta(message_id="m1", offset=0, delta="a"),
    ev.ReasoningDelta(message_id="m1", offset=0, delta="a"),
    ev.MediaDelta(message_id="m1", offset=0, delta=b"a"),
    ev.ToolInputDelta(message_id="m1", call_id="c1", offset=0, delta="a"),
    ev.ToolProgress(message_id="m1", call_id="c1", output=v.as_content("half")),
    ev.CompactionDelta(message_id="m1", offset=0, delta="a"),
)
"""One event of each live class."""

UNKNOWN: Final = ev.UnknownEvent(
    type="later.event",
    version=3,
    data=v.State({"type": "later.event", "v": 3, "message_id": "m1", "state": {"z": 1, "a": "\udc00"}}),
)


def started(message_id: str = "m1") -> ev.StepStarted:
    """Return the start of a step."""
    return ev.StepStarted(message_id=message_id, origin=origin(), run=run())


def called(call_id: str = "c1", message_id: str = "m1") -> ev.ToolCalled:
    """Return a call of the app."""
    return ev.ToolCalled(message_id=message_id, call_id=call_id, name="look", input=v.JsonObject())


OPEN: Final = (started("open"), called("c1", "open"))
RUNNING: Final = (Unfinished(message_id="open", awaits="provider", run=run()),)
"""What `OPEN` leaves unfinished."""


def with_media(message_id: str) -> list[ev.Event]:
    """Return a turn with the same picture in every event that can contain media."""
    return [
        ev.PromptSubmitted(message_id=f"{message_id}-prompt", content=(v.TextContent("look"), _IMAGE, _DOT, _IMAGE)),
        started(message_id),
        ev.MediaStarted(message_id=message_id, media_type="image/png"),
        ev.MediaEnded(message_id=message_id, media_type="image/png", data=PICTURE),
        called("c1", message_id),
        ev.ToolSuccess(message_id=message_id, call_id="c1", output=(_IMAGE,)),
        called("c2", message_id),
        ev.ToolFailed(message_id=message_id, call_id="c2", error=error("tool"), output=(_IMAGE,)),
    ]


TURN: Final[tuple[ev.Event, ...]] = tuple(
    durable(
        [
            prompt(),
            *answer(
                "Hello",
                reasoning="hm",
                reasoning_state=_ODD_STATE,
                calls=[Call("look", call_id="c1", output="seen")],
                message_id="m1",
                run=run(),
            ),
            prompt(message_id="u2"),
            started("m2"),
            called("c1", "m2"),
            rewind("u2"),
            prompt(message_id="u3"),
            *answer("Hi", error=error("network"), message_id="m3", run=run()),
            *compaction(),
            started("m4"),
            called("c1", "m4"),
        ]
    )
)
"""A legal log that ends in a running step."""

ODD: Final[tuple[ev.Event, ...]] = (
    ev.PromptSubmitted(message_id="o1", content=v.as_content({"deep": [1.5, None, 10**20]}), extra=_EXTRA),
    ev.StepStarted(message_id="o1", origin=origin(), run=run(), state=_ODD_STATE),
    ev.StepRestarted(message_id="o1", reason="r", run=run("run-2", resumable=False), state=_ODD_STATE),
    ev.TextStarted(message_id="o1"),
    ev.TextEnded(
        message_id="o1",
        text="x" * 200_000,
        complete=False,
        citations=(v.Citation(url="https://example.org", title="t", start=0, end=3, cited_text="xxx"),),
        state=_ODD_STATE,
    ),
    ev.ReasoningStarted(message_id="o1"),
    ev.ReasoningEnded(message_id="o1", text="", state=_ODD_STATE),
    ev.MediaStarted(message_id="o1", media_type="image/png"),
    ev.MediaEnded(message_id="o1", media_type="image/png", data=PICTURE, state=_ODD_STATE),
    ev.MediaEnded(message_id="o1", media_type="image/png", uri="https://example.org/a.png"),
    ev.MediaEnded(message_id="o1", media_type="image/png", complete=False),
    ev.ToolInputStarted(message_id="o1", call_id="c\x00", name="look", provider_executed=True),
    ev.ToolInputEnded(message_id="o1", call_id="c\x00", text='{"a":', complete=False, state=_ODD_STATE),
    ev.ToolCalled(message_id="o1", call_id="c1", name="look", input=v.JsonObject({"n": 10**40}), state=_ODD_STATE),
    ev.ToolApprovalRequested(message_id="o1", call_id="c1", reason="\u2028é😀", extra=_EXTRA),
    ev.ToolApproved(message_id="o1", call_id="c1"),
    ev.ToolStarted(message_id="o1", call_id="c1", attempt=2),
    ev.ToolSuccess(message_id="o1", call_id="c1", output=v.as_content(None), state=_ODD_STATE),
    ev.ToolFailed(
        message_id="o1", call_id="c2", error=v.ErrorInfo(kind="newer-kind", message="m", code="c", status=503)
    ),
    ev.OpaqueReceived(message_id="o1", state=_ODD_STATE),
    ev.StepEnded(
        message_id="o1",
        finish_reason=v.FinishReason.STOP,
        raw_finish_reason="END",
        usage=v.Usage(input_tokens=1, details=_EXTRA),
    ),
    ev.StepFailed(message_id="o2", error=error(), usage=v.Usage(), run=run("run-2", resumable=False)),
    ev.CompactionStarted(message_id="s1", reason="manual", origin=origin()),
    ev.CompactionEnded(message_id="s1", text="so far", state=_ODD_STATE),
    ev.CompactionFailed(message_id="s2", error=error()),
    UNKNOWN,
)
"""Events of every durable class, with values that are easily lost. Not a legal log."""
