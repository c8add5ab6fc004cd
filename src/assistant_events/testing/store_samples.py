"""
Logs for trying whatever keeps events: every class that can be kept, odd values, and what may be left unfinished.
"""

from __future__ import annotations

from typing import Final

from assistant_events.events import (
    CompactionDelta,
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    Event,
    HistoryRewound,
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
from assistant_events.values import (
    Citation,
    ErrorInfo,
    ErrorKind,
    FinishReason,
    JsonObject,
    MediaContent,
    Origin,
    RemoteRun,
    State,
    TextContent,
    Usage,
    as_content,
)

SIGNATURE: Final = "ab+/cd==" * 12_800
"""100 KB of base64."""

PICTURE: Final = bytes(range(256)) * 8

_ORIGIN: Final = Origin(provider="acme", model="acme-1", dialect="acme-chat", served_model="acme-1-0")
_RUN: Final = RemoteRun(id="run-1", resumable=True, kind="response")
_BOUND: Final = RemoteRun(id="run-2", resumable=False, kind="response")
_NOTHING: Final[tuple[str, ...]] = ()
_ODD_STATE: Final = State(
    {"signature": SIGNATURE, "z": "\ud800\x00\u2028é😀", "a": [10**40, 1.5, -0.0, None, True, {"": _NOTHING}]}
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
"""One event of each class that cannot be kept."""

UNKNOWN: Final = UnknownEvent(
    type="later.event",
    version=3,
    data=State({"type": "later.event", "v": 3, "message_id": "m1", "state": {"z": 1, "a": "\udc00"}}),
)


def started(message_id: str = "m1", run: RemoteRun | None = None) -> Event:
    """Begin a step."""
    return StepStarted(message_id=message_id, origin=_ORIGIN, run=run)


def ended(message_id: str = "m1") -> Event:
    """End a step."""
    return StepEnded(message_id=message_id, finish_reason=FinishReason.TOOL_CALLS)


def failed(message_id: str = "m1", kind: ErrorKind = ErrorKind.INTERRUPTED, run: RemoteRun | None = None) -> Event:
    """Fail a step."""
    return StepFailed(message_id=message_id, error=ErrorInfo(kind=kind, message="it broke"), run=run)


def restarted(message_id: str = "m1", run: RemoteRun | None = None) -> Event:
    """Let a step start over."""
    return StepRestarted(message_id=message_id, reason="from the start", run=run)


def called(call_id: str = "c1", message_id: str = "m1", *, by_provider: bool = False) -> Event:
    """Let a call stand."""
    return ToolCalled(
        message_id=message_id, call_id=call_id, name="look", input=JsonObject(), provider_executed=by_provider
    )


def succeeded(call_id: str = "c1", message_id: str = "m1", *, by_provider: bool = False) -> Event:
    """Answer a call."""
    return ToolSuccess(message_id=message_id, call_id=call_id, provider_executed=by_provider)


def call_failed(call_id: str = "c1", message_id: str = "m1", kind: ErrorKind = ErrorKind.TOOL) -> Event:
    """Fail a call."""
    return ToolFailed(message_id=message_id, call_id=call_id, error=ErrorInfo(kind=kind, message="it broke"))


def input_started(call_id: str = "c1", *, by_provider: bool = False) -> Event:
    """Begin the input of a call."""
    return ToolInputStarted(message_id="m1", call_id=call_id, name="look", provider_executed=by_provider)


def input_ended(call_id: str = "c1") -> Event:
    """End the input of a call."""
    return ToolInputEnded(message_id="m1", call_id=call_id, text="{}")


def asked(message_id: str) -> Event:
    """Submit a prompt."""
    return PromptSubmitted(message_id=message_id, content=as_content("hi"))


def rewound(message_id: str) -> Event:
    """Rewind to before a message."""
    return HistoryRewound(message_id=message_id)


def compacting(message_id: str = "s1") -> Event:
    """Begin a summary."""
    return CompactionStarted(message_id=message_id, reason="auto")


def with_media(message_id: str) -> list[Event]:
    """Return a turn that holds the same picture in every place that can hold one."""
    return [
        PromptSubmitted(message_id=f"{message_id}-prompt", content=(TextContent("look"), _IMAGE, _DOT, _IMAGE)),
        started(message_id),
        MediaStarted(message_id=message_id, media_type="image/png"),
        MediaEnded(message_id=message_id, media_type="image/png", data=PICTURE),
        called("c1", message_id),
        ToolSuccess(message_id=message_id, call_id="c1", output=(_IMAGE,)),
        called("c2", message_id),
        ToolFailed(
            message_id=message_id,
            call_id="c2",
            error=ErrorInfo(kind=ErrorKind.TOOL, message="blurred"),
            output=(_IMAGE,),
        ),
    ]


TURN: Final[tuple[Event, ...]] = (
    asked("u1"),
    started("m1", _RUN),
    ReasoningStarted(message_id="m1"),
    ReasoningEnded(message_id="m1", text="hm", state=_ODD_STATE),
    TextStarted(message_id="m1"),
    TextEnded(message_id="m1", text="Hello"),
    called("c1"),
    ended("m1"),
    succeeded("c1"),
    asked("u2"),
    started("m2", _RUN),
    called("c1", "m2"),
    called("c2", "m2"),
    rewound("u2"),
    asked("u3"),
    started("m3", _RUN),
    called("c1", "m3"),
    failed("m3", ErrorKind.NETWORK),
    compacting("s1"),
    started("m4"),
    called("c1", "m4"),
)
"""A log without problems that leaves something unfinished at most places."""

ODD: Final[tuple[Event, ...]] = (
    PromptSubmitted(
        message_id="u\x00\ud800", content=(TextContent("a\x00\u2028é😀\ufeff", extra=_EXTRA), _DOT, _IMAGE)
    ),
    PromptSubmitted(message_id="empty", content=()),
    PromptSubmitted(message_id="json", content=as_content({"b": [10**40], "a": "\udc00"})),
    HistoryRewound(message_id="u\x00\ud800", extra=_EXTRA),
    StepStarted(message_id="o1", origin=_ORIGIN, run=_RUN, state=_ODD_STATE),
    StepRestarted(message_id="o1", reason="r", run=_BOUND, state=_ODD_STATE),
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
    MediaStarted(message_id="o1", media_type="image/png"),
    MediaEnded(message_id="o1", media_type="image/png", uri="https://example.org/a.png"),
    MediaStarted(message_id="o1", media_type="image/png"),
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
    StepFailed(message_id="o2", error=ErrorInfo(kind=ErrorKind.PROVIDER, message="m"), usage=Usage(), run=_BOUND),
    CompactionStarted(message_id="s1", reason="manual", origin=_ORIGIN),
    CompactionEnded(message_id="s1", text="so far", state=_ODD_STATE),
    CompactionFailed(message_id="s2", error=ErrorInfo(kind=ErrorKind.PROVIDER, message="m")),
    UNKNOWN,
)
"""Events of every class that can be kept, with values that are easily lost. Not a legal log."""

STORIES: Final[tuple[tuple[Event, ...], ...]] = (
    (asked("u1"), started(), called(), called("c2"), ended(), succeeded("c2"), call_failed()),
    (started(), called(), ended(), succeeded(by_provider=True)),
    (started(), called(by_provider=True), succeeded(by_provider=True), ended()),
    (started(), input_started(by_provider=True), input_ended(), called(), succeeded(by_provider=True), ended()),
    (started(), input_started(), input_ended(), call_failed(kind=ErrorKind.INVALID_INPUT), ended()),
    (started(run=_RUN), called(), failed(), call_failed()),
    (started(run=_BOUND), failed(), restarted(run=_RUN), failed(kind=ErrorKind.TIMEOUT)),
    (started(), failed(kind=ErrorKind.NETWORK, run=_RUN), restarted(), called(), ended()),
    (started(run=_RUN), failed(kind=ErrorKind.PROVIDER), asked("u1"), started("m2")),
    (
        started(run=_RUN),
        called(),
        restarted(),
        called("c2"),
        call_failed("c2", kind=ErrorKind.INTERRUPTED),
        restarted(),
    ),
    (started(), called(), succeeded(), restarted(), called("c2"), ended()),
    (compacting(), CompactionEnded(message_id="s1", text="so far")),
    (compacting(), CompactionFailed(message_id="s1", error=ErrorInfo(kind=ErrorKind.PROVIDER, message="m"))),
    (compacting(), started("m1"), rewound("s1"), compacting("s1"), compacting("s2")),
    (
        asked("u1"),
        started(),
        called(),
        ended(),
        asked("u2"),
        started("m2", _RUN),
        rewound("m1"),
        succeeded(),
        started("m3"),
    ),
    (asked("u1"), started(), rewound("u1"), asked("u1"), started("m2"), rewound("u1"), UNKNOWN, called("c1", "m2")),
    (asked("u1"), started(), called(), ended(), started("m2"), called("c1", "m2"), rewound("m2"), rewound("nobody")),
    (started(run=_RUN), failed(), rewound("m1"), restarted()),
    (started(), called("c\x00\ud800"), called("c\x00"), ended()),
)
"""Logs that leave something unfinished, or that look like it."""
