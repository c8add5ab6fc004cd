"""Logs for testing stores: every durable event class, and values that are easily lost."""

from __future__ import annotations

from typing import Final

from assistant_events.events import (
    CompactionDelta,
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    Event,
    MediaDelta,
    MediaEnded,
    MediaStarted,
    OpaqueReceived,
    PromptSubmitted,
    ReasoningDelta,
    ReasoningEnded,
    ReasoningStarted,
    StepEnded,
    StepFailed,
    StepRestarted,
    StepStarted,
    TextDelta,
    TextEnded,
    TextStarted,
    ToolCalled,
    ToolFailed,
    ToolInputDelta,
    ToolInputEnded,
    ToolInputStarted,
    ToolProgress,
    ToolSuccess,
    UnknownEvent,
)
from assistant_events.testing.builders import Call, answer, compaction, durable, error, origin, prompt, rewind, run
from assistant_events.values import (
    Citation,
    ErrorInfo,
    FinishReason,
    JsonObject,
    MediaContent,
    State,
    TextContent,
    Usage,
    as_content,
)

SIGNATURE: Final = "ab+/cd==" * 12_800
"""100 KB of base64."""

PICTURE: Final = bytes(range(256)) * 8

_EMPTY: Final[tuple[str, ...]] = ()
_ODD_STATE: Final = State(
    {"signature": SIGNATURE, "z": "\ud800\x00\u2028é😀", "a": [10**40, 1.5, -0.0, None, True, {"": _EMPTY}]}
)
_EXTRA: Final = JsonObject({"of a newer version": [1, "\udc00"]})
_IMAGE: Final = MediaContent(media_type="image/png", data=PICTURE)
_DOT: Final = MediaContent(media_type="image/gif", data=b"GIF89a")

LIVE: Final[tuple[Event, ...]] = (
    TextDelta(message_id="m1", offset=0, delta="a"),
    ReasoningDelta(message_id="m1", offset=0, delta="a"),
    MediaDelta(message_id="m1", offset=0, delta=b"a"),
    ToolInputDelta(message_id="m1", call_id="c1", offset=0, delta="a"),
    ToolProgress(message_id="m1", call_id="c1", output=as_content("half")),
    CompactionDelta(message_id="m1", offset=0, delta="a"),
)
"""One event of each live class."""

UNKNOWN: Final = UnknownEvent(
    type="later.event",
    version=3,
    data=State({"type": "later.event", "v": 3, "message_id": "m1", "state": {"z": 1, "a": "\udc00"}}),
)


def started(message_id: str = "m1") -> StepStarted:
    """Return the start of a step."""
    return StepStarted(message_id=message_id, origin=origin(), run=run())


def called(call_id: str = "c1", message_id: str = "m1") -> ToolCalled:
    """Return a call of the app."""
    return ToolCalled(message_id=message_id, call_id=call_id, name="look", input=JsonObject())


def with_media(message_id: str) -> list[Event]:
    """Return a turn with the same picture in every event that can contain media."""
    return [
        PromptSubmitted(message_id=f"{message_id}-prompt", content=(TextContent("look"), _IMAGE, _DOT, _IMAGE)),
        started(message_id),
        MediaStarted(message_id=message_id, media_type="image/png"),
        MediaEnded(message_id=message_id, media_type="image/png", data=PICTURE),
        called("c1", message_id),
        ToolSuccess(message_id=message_id, call_id="c1", output=(_IMAGE,)),
        called("c2", message_id),
        ToolFailed(message_id=message_id, call_id="c2", error=error("tool"), output=(_IMAGE,)),
    ]


TURN: Final[tuple[Event, ...]] = tuple(
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

ODD: Final[tuple[Event, ...]] = (
    PromptSubmitted(message_id="o1", content=as_content({"deep": [1.5, None, 10**20]}), extra=_EXTRA),
    StepStarted(message_id="o1", origin=origin(), run=run(), state=_ODD_STATE),
    StepRestarted(message_id="o1", reason="r", run=run("run-2", resumable=False), state=_ODD_STATE),
    TextStarted(message_id="o1"),
    TextEnded(
        message_id="o1",
        text="x" * 200_000,
        complete=False,
        citations=(Citation(url="https://example.org", title="t", start=0, end=3, cited_text="xxx"),),
        state=_ODD_STATE,
    ),
    ReasoningStarted(message_id="o1"),
    ReasoningEnded(message_id="o1", text="", state=_ODD_STATE),
    MediaStarted(message_id="o1", media_type="image/png"),
    MediaEnded(message_id="o1", media_type="image/png", data=PICTURE, state=_ODD_STATE),
    MediaEnded(message_id="o1", media_type="image/png", uri="https://example.org/a.png"),
    MediaEnded(message_id="o1", media_type="image/png", complete=False),
    ToolInputStarted(message_id="o1", call_id="c\x00", name="look", provider_executed=True),
    ToolInputEnded(message_id="o1", call_id="c\x00", text='{"a":', complete=False, state=_ODD_STATE),
    ToolCalled(message_id="o1", call_id="c1", name="look", input=JsonObject({"n": 10**40}), state=_ODD_STATE),
    ToolSuccess(message_id="o1", call_id="c1", output=as_content(None), state=_ODD_STATE),
    ToolFailed(message_id="o1", call_id="c2", error=ErrorInfo(kind="newer-kind", message="m", code="c", status=503)),
    OpaqueReceived(message_id="o1", state=_ODD_STATE),
    StepEnded(
        message_id="o1",
        finish_reason=FinishReason.STOP,
        raw_finish_reason="END",
        usage=Usage(input_tokens=1, details=_EXTRA),
    ),
    StepFailed(message_id="o2", error=error(), usage=Usage(), run=run("run-2", resumable=False)),
    CompactionStarted(message_id="s1", reason="manual", origin=origin()),
    CompactionEnded(message_id="s1", text="so far", state=_ODD_STATE),
    CompactionFailed(message_id="s2", error=error()),
    UNKNOWN,
)
"""Events of every durable class, with values that are easily lost. Not a legal log."""
