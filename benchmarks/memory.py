"""How much memory events and their folding take, traced allocation by allocation."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

from assistant_events import AssistantMessage, Event, fold
from assistant_events.adapters.gemini_interactions import dialect
from benchmarks.answers import ANSWERS, chat, fragments
from benchmarks.decode import consume
from benchmarks.measure import Figure, Settings, tracing
from benchmarks.wire import in_chunks, interactions

_ALLOWANCE = 256 * 1024
_PEAK_GOAL = 2.2


def bytes_per_event(settings: Settings) -> Iterator[Figure]:
    """
    How many bytes does an event take that is kept alive?

    Objects, strings, offsets and all else that stays when the decoder is gone; the list that holds the events does not
    count. Deltas of 3.7 characters (tool input: 50) from fragments of 5,000 deltas; `durable` is the mean over all
    durable events of the `steps` stream, whole texts and signatures of 600 characters included.
    """
    streamed = in_chunks(interactions(fragments(settings.scaled(5_000))))
    stored = in_chunks(interactions(ANSWERS["steps"](settings.scale)))
    deltas = ("text.delta", "reasoning.delta", "tool.input.delta")
    kinds: dict[str, tuple[list[bytes], Callable[[Event], bool]]] = {
        **{name: (streamed, _is(name)) for name in deltas},
        "durable": (stored, lambda event: event.durable),
    }
    for case, (chunks, wanted) in kinds.items():
        sum(1 for _ in _decoded(chunks))  # what a first use fills once and for all is not the events'
        with tracing() as memory:
            events = [event for event in _decoded(chunks) if wanted(event)]
        kept = memory.kept - sys.getsizeof(events)
        yield Figure(case, kept / len(events), unit="bytes", detail=f"{len(events):,} events")


def peak_memory(settings: Settings) -> Iterator[Figure]:
    """
    How much memory does a fold need at most, as a multiple of the text that comes of it?

    100,000 deltas of one text; the peak less 256 KiB, over the size of the final `str`. `fold`: the events exist
    already and are not counted. `decode_and_fold`: the decoder makes them while `fold` takes them, none is kept.
    `decode_and_build`: decoder and builder, chunk by chunk. The bytes of the stream never count.
    """
    answer = chat(settings.scaled(100_000))
    chunks = in_chunks(interactions(answer))
    events = list(_decoded(chunks))
    runs: dict[str, Callable[[], object]] = {
        "fold": lambda: fold(events).last,
        "decode_and_fold": lambda: fold(_decoded(chunks)).last,
        "decode_and_build": lambda: consume(chunks),
    }
    for case, run in runs.items():
        run()
        with tracing() as memory:
            message = run()
        assert isinstance(message, AssistantMessage)
        assert message.text == answer.text, f"{case}: the text is not what was streamed"
        size = sys.getsizeof(message.text)
        detail = f"peak {memory.peak / 1e6:.2f} MB, text {size / 1e6:.2f} MB"
        yield Figure(case, max(0.0, memory.peak - _ALLOWANCE) / size, _PEAK_GOAL, detail=detail)


def _is(name: str) -> Callable[[Event], bool]:
    return lambda event: event.type == name


def _decoded(chunks: Sequence[bytes]) -> Iterable[Event]:
    decoder = dialect.decoder("m1")
    for chunk in chunks:
        yield from decoder.feed(chunk)
    yield from decoder.close()
