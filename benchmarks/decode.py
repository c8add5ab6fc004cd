"""
From the bytes of a stream to the durable message.

Every event is made, one for each delta, and handed to the builder. Before anything is timed, the message is compared
with the answer that the stream was made from.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence

from assistant_events import AssistantMessage, ReasoningPart, thaw
from assistant_events.adapters import Dialect, Framing
from assistant_events.adapters.gemini_interactions import dialect
from assistant_events.reducer import Builder
from benchmarks.answers import ANSWERS, Answer, Call
from benchmarks.limit import parse_all
from benchmarks.measure import (
    Comparison,
    Figure,
    Settings,
    asked,
    compare,
    measure_apart,
    print_figures,
    ratio_figure,
)
from benchmarks.wire import in_chunks, interactions, with_noise

GOALS = {"chat": 1.1, "long": 0.9, "big_tool": 1.6, "many_tools": 2.0, "steps": 2.6}
LIVE_GOALS = {"chat": 2.2, "long": 1.9, "big_tool": 2.6, "many_tools": 3.0, "steps": 3.6}
NOISE_FACTOR = 1.3
"""The goals of streams with noise, as a multiple of those of the clean streams."""

STDLIB_GOAL = 5.5


def sse_to_message(settings: Settings) -> Iterator[Figure]:
    """
    What does it cost to make a durable message of a whole stream, as a multiple of parsing its JSON?

    Five Gemini Interactions streams in chunks of 16 KiB, as replays, proxies and bursts bring them: `chat` 2,000 deltas
    of text, `long` 50,000, `big_tool` one call with 1 MB of input in 20,000 fragments, `many_tools` 200 calls of 50
    fragments, `steps` 100 times reasoning, text and a call. CPU time over the limit (split the lines, `orjson.loads`
    each payload).
    """
    return _over_limit(settings, live=False, goals=GOALS)


def sse_to_message_live(settings: Settings) -> Iterator[Figure]:
    """
    What does the same cost when every event arrives in a chunk of its own, as in a chat that one watches?

    The same streams and the same limit, which has the whole stream at once.
    """
    return _over_limit(settings, live=True, goals=LIVE_GOALS)


def recorded_noise(settings: Settings) -> Iterator[Figure]:
    """
    What does the message of a whole stream cost when the frames hold the noise of recordings?

    The streams of `sse_to_message` and `sse_to_message_live`, with padding and a cursor in each frame and usage at
    each end: cost over the limit of the same bytes. The goals are 1.3 times those of the clean streams.
    """
    for name, make in ANSWERS.items():
        answer = make(settings.scale)
        clean = list(interactions(answer))
        noisy = list(with_noise(clean))
        for case, cut, goals in ((name, in_chunks, GOALS), (f"{name}_live", list[bytes], LIVE_GOALS)):
            check(answer, cut(noisy))
            without = compare_with_limit(cut(clean), settings).ratio
            comparison = compare_with_limit(cut(noisy), settings)
            detail = f"{comparison.ratio / without:.2f} times the {without:.2f} x of the clean stream"
            yield ratio_figure(case, comparison, goal=NOISE_FACTOR * goals[name], detail=detail)


def sse_to_message_stdlib(settings: Settings) -> Iterator[Figure]:
    """
    What does a whole stream cost where msgspec is not installed?

    As `sse_to_message`, in a process that cannot import msgspec. The limit still uses orjson.
    """
    return _without_msgspec(settings, live=False)


def sse_to_message_live_stdlib(settings: Settings) -> Iterator[Figure]:
    """
    What does one event a chunk cost where msgspec is not installed?

    As `sse_to_message_live`, in a process that cannot import msgspec. The limit still uses orjson.
    """
    return _without_msgspec(settings, live=True)


def consume(chunks: Iterable[bytes], wire: Dialect = dialect, framing: type[Framing] | None = None) -> AssistantMessage:
    """Make the message of a stream as an app does: decode it and hand each event to a builder."""
    decoder = wire.decoder("m1", framing=framing)
    builder = Builder()
    for chunk in chunks:
        builder.extend(decoder.feed(chunk))
    builder.extend(decoder.close())
    message = builder.transcript.last
    assert isinstance(message, AssistantMessage)
    return message


def check(answer: Answer, chunks: Sequence[bytes], wire: Dialect = dialect, *, whole_calls: bool = False) -> None:
    """
    Check that the message of *chunks* has the content of *answer*, and that no delta was left out or merged.

    With *whole_calls* the input of a call has no deltas.

    Raises:
        AssertionError: With a sentence on the first difference.
    """
    check_message(answer, consume(chunks, wire))
    decoder = wire.decoder("m1")
    live = sum(not event.durable for chunk in chunks for event in decoder.feed(chunk))
    expected = sum(len(part.pieces) for part in answer.parts if not (whole_calls and isinstance(part, Call)))
    assert live == expected, f"{answer.name}: expected {expected} live events, got {live}"


def check_message(answer: Answer, message: AssistantMessage) -> None:
    """
    Check that *message* has the content of *answer*.

    Raises:
        AssertionError: With a sentence on the first difference.
    """
    name = answer.name
    assert message.status == "completed", f"{name}: expected a completed message, got {message.status}: {message.error}"
    assert message.text == answer.text, f"{name}: the text is not what was streamed"
    assert message.reasoning == answer.reasoning, f"{name}: the reasoning is not what was streamed"
    signatures = [str(thaw(part.state)) for part in message.parts if isinstance(part, ReasoningPart)]
    for signature, state in zip(answer.signatures, signatures, strict=True):
        assert signature in state, f"{name}: a signature got lost"
    assert len(message.tool_calls) == len(answer.calls), (
        f"{name}: expected {len(answer.calls)} calls, got {len(message.tool_calls)}"
    )
    for call, part in zip(answer.calls, message.tool_calls, strict=True):
        assert (part.call_id, part.name) == (call.call_id, call.name), f"{name}: call {call.call_id} is another one"
        assert part.pending, f"{name}: call {call.call_id} is not waiting for an answer"
        assert part.arguments == json.loads("".join(call.pieces)), f"{name}: call {call.call_id} has another input"


def compare_with_limit(chunks: Sequence[bytes], settings: Settings) -> Comparison:
    """Time `consume` against the limit on the same bytes."""
    data = b"".join(chunks)
    return compare(lambda: consume(chunks), lambda: parse_all(data), settings)


def _over_limit(settings: Settings, *, live: bool, goals: dict[str, float]) -> Iterator[Figure]:
    for name, make in ANSWERS.items():
        answer = make(settings.scale)
        frames = list(interactions(answer))
        chunks = frames if live else in_chunks(frames)
        check(answer, chunks)
        comparison = compare_with_limit(chunks, settings)
        per_event = comparison.candidate_s / len(frames) * 1e6
        size = sum(map(len, chunks)) / 1e3
        detail = f"{len(frames):,} frames, {size:,.0f} kB, {per_event:.2f} us a frame"
        yield ratio_figure(name, comparison, goal=goals[name], detail=detail)


def _without_msgspec(settings: Settings, *, live: bool) -> Iterator[Figure]:
    yield from measure_apart("benchmarks.decode", {"live": live}, settings)


if __name__ == "__main__":
    assert "msgspec" not in sys.modules, "something imports msgspec before it is needed"
    # An entry of None makes every later import of msgspec fail as if it were not installed.
    sys.modules["msgspec"] = None  # type: ignore[assignment]
    how, thoroughly = asked()
    print_figures(_over_limit(thoroughly, goals=dict.fromkeys(ANSWERS, STDLIB_GOAL), **how))
