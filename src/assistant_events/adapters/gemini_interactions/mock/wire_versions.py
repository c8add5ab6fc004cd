"""
Generation 1.x of the wire (`content.*`, `outputs`; until June 2026), translated from frames and documents of 2.x.

In 1.x each content block is an item of its own, the arguments of a call come as one object, and most events have other
names. Sources: types of google-genai 1.75 and 2.19, recordings of both, Google's migration page of May 2026.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assistant_events.adapters.gemini_interactions import vocabulary as words
from assistant_events.adapters.gemini_interactions.mock.frames import decoded_steps
from assistant_events.adapters.json_fields import Fields, mapping, string, without

_NAMES: Final[dict[str, str]] = {
    "interaction.created": "interaction.start",
    "interaction.completed": "interaction.complete",
}


def version_1(document: Fields) -> dict[str, Any]:
    """Return an interaction of 2.x as 1.x has it: `outputs` in the place of `steps`, without the input."""
    old = without(document, ("steps", "object"))
    if "steps" in document:
        old["outputs"] = [
            block
            for step in words.resource_steps(document)
            for block in (words.content_of(step) if step["type"] == "model_output" else [step])
        ]
    return old


class Version1Stream:
    """Translates the frames of a stream of 2.x, each as it comes."""

    def __init__(self) -> None:
        self._indexes: dict[int, int] = {}
        """Index of each step in 1.x, but for outputs."""

        self._started: dict[int, list[Fields]] = {}
        """The frames of each open step; for steps whose deltas are translated at once, its start."""

        self._block: tuple[int, str] | None = None
        """Index and type of the content block that is open."""

        self._next = 0

    def write(self, frame: Fields) -> list[dict[str, Any]]:
        """Return the frames of 1.x that *frame* becomes; the last of them has its `event_id`."""
        event_id = frame.get("event_id")
        frames = list(self._translated({key: value for key, value in frame.items() if key != "event_id"}))
        if frames and event_id is not None:
            frames[-1]["event_id"] = event_id
        return frames

    def _translated(self, frame: dict[str, Any]) -> Iterator[dict[str, Any]]:
        name, index = frame["event_type"], frame.get("index", -1)
        if name in _NAMES:
            interaction = version_1(mapping(frame, "interaction"))
            if name == "interaction.completed":
                interaction.setdefault("outputs", [])
            yield {"interaction": interaction, "event_type": _NAMES[name]}
        elif name == "step.start":
            yield from self._start(index, frame)
        elif name not in ("step.delta", "step.stop"):
            yield frame
        elif self._type(index) == "model_output":
            yield from self._add(frame["delta"]) if name == "step.delta" else self._close()
        elif name == "step.delta":
            if self._is_whole(index):
                self._started[index].append(frame)
            else:
                yield _frame("delta", self._indexes[index], delta=frame["delta"])
        else:
            if self._is_whole(index):
                [step] = decoded_steps([*self._started[index], frame])
                yield _frame("delta", self._indexes[index], delta=step)
            yield _frame("stop", self._indexes[index])

    def _start(self, index: int, frame: Fields) -> Iterator[dict[str, Any]]:
        step = mapping(frame, "step")
        self._started[index] = [frame]
        yield from self._close()
        if self._type(index) == "model_output":
            for block in words.content_of(step):
                yield from self._add(block)
            return
        self._indexes[index] = self._next
        self._next += 1
        kept = ("type", "id", "call_id") if self._is_whole(index) else step
        yield _frame("start", self._indexes[index], content={key: step[key] for key in kept if key in step})

    def _add(self, block: Fields) -> Iterator[dict[str, Any]]:
        """Yield the frames of a content block, or of a delta of one."""
        kind = string(block, "type") or "text"
        if kind == "text_annotation_delta":
            kind, block = "text", {**block, "type": "text_annotation"}
        if self._block is None or self._block[1] != kind or kind not in ("text", "audio"):
            yield from self._close()
            self._block = self._next, kind
            self._next += 1
            yield _frame("start", self._block[0], content={"type": kind})
        yield _frame("delta", self._block[0], delta=block)

    def _close(self) -> Iterator[dict[str, Any]]:
        if self._block is not None:
            yield _frame("stop", self._block[0])
            self._block = None

    def _type(self, index: int) -> str | None:
        started = self._started.get(index)
        return None if started is None else string(mapping(started[0], "step"), "type")

    def _is_whole(self, index: int) -> bool:
        """Return whether a step comes in one delta."""
        kind = self._type(index)
        return kind in words.CALLS or kind in words.RESULTS


def _frame(event: str, index: int, **fields: Any) -> dict[str, Any]:
    return {"index": index, **fields, "event_type": f"content.{event}"}
