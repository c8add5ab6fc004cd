"""
Streams of one shape and any length: what a hostile or a broken server may send again and again.
"""

import json

from assistant_events.adapters.gemini_interactions import GeminiInteractionsDecoder


def created(count):
    return [{"event_type": "interaction.created", "interaction": {"id": "v1"}}]


def delta(index, kind, **fields):
    return {"event_type": "step.delta", "index": index, "delta": {"type": kind, **fields}}


def start(index, kind, **fields):
    return {"event_type": "step.start", "index": index, "step": {"type": kind, **fields}}


def stop(index):
    return {"event_type": "step.stop", "index": index}


def large(size):
    return [{"pad": "x" * 8}] * size


def word(at):
    return {"type": "word_info", "text": f"word{at}", "start_index": 5 * at, "end_index": 5 * at + 4}


def signatures(count):
    return [delta(0, "thought_signature", signature=f"{at}=") for at in range(count)]


def summaries(index, count):
    return [delta(index, "thought_summary", content={"type": "text", "text": "p"})] * count


def without(event, key):
    return {name: value for name, value in event.items() if name != key}


GROWING = {
    "text": lambda n: [start(0, "model_output"), *[delta(0, "text", text="word ")] * n],
    "text with ids": lambda n: [{**delta(0, "text", text="word "), "event_id": f"e{at}"} for at in range(n)],
    "text without names": lambda n: [without(delta(0, "text", text="word "), "event_type") for _ in range(n)],
    "text without index": lambda n: [without(delta(0, "text", text="word "), "index")] * n,
    "thought": lambda n: [delta(0, "thought_summary", content={"type": "text", "text": "p"})] * n,
    "signatures": lambda n: [delta(0, "thought_signature", signature="S=")] * n,
    "arguments": lambda n: [
        start(0, "function_call", id="c", name="f"),
        *[delta(0, "arguments_delta", arguments="1")] * n,
    ],
    "calls": lambda n: [start(at, "function_call", id=f"c{at}", name="f") for at in range(n)],
    "calls of one id": lambda n: [start(at, "function_call", id="c", name="f") for at in range(n)],
    "calls without ids": lambda n: [start(at, "function_call", id="", name="f") for at in range(n)],
    "results without calls": lambda n: [start(at, "google_search_result", call_id=f"c{at}") for at in range(n)],
    "second results": lambda n: [
        start(0, "google_search_call", id="c"),
        *[start(at, "google_search_result", call_id="c") for at in range(1, n)],
    ],
    "steps without index": lambda n: (
        [without(start(0, "model_output", content=[{"type": "text", "text": "a"}]), "index")] * n
    ),
    "stops without index": lambda n: [*[start(at, "thought") for at in range(n)], *[{"event_type": "step.stop"}] * n],
    "two texts in turn": lambda n: [delta(at % 2, "text", text="a") for at in range(n)],
    "texts that overlap": lambda n: [delta(at, "text", text="a") for at in range(n)],
    "late texts": lambda n: [delta(0, "text", text="a"), {"event_type": "step.stop", "index": 0}] * n,
    "citations": lambda n: [
        delta(0, "text", text="é" * 10),
        *[
            delta(0, "text_annotation_delta", annotations=[{"url": f"u{at}", "start_index": 2, "end_index": at}])
            for at in range(n)
        ],
    ],
    "sounds": lambda n: [delta(0, "audio", data="AAAA", mime_type="audio/l16")] * n,
    "pictures": lambda n: [delta(0, "image", data="AAAA", mime_type="image/png")] * n,
    "unknown deltas": lambda n: [delta(0, "sparkle", x=1)] * n,
    "unknown steps": lambda n: [start(at, "dream") for at in range(n)],
    "created again": lambda n: [start(0, "model_output"), *created(1) * n],
    "restarts": lambda n: [*created(1), start(0, "model_output"), delta(0, "text", text="a")] * n,
    "hops": lambda n: [
        {"event_type": kind, "interaction": {"id": f"v{at}", "status": "requires_continuation"}}
        for at in range(1, n)
        for kind in ("interaction.created", "interaction.completed")
    ],
    "one annotation for each word": lambda n: [
        delta(0, "text", text="word " * n),
        delta(0, "text_annotation_delta", annotations=[word(at) for at in range(n)]),
    ],
    "texts with annotations": lambda n: [delta(0, "text", text="word ", annotations=[word(0)]) for _ in range(n)],
    "texts with annotations beside pictures": lambda n: [
        event
        for at in range(n)
        for event in (delta(0, "text", text="word ", annotations=[word(at)]), delta(0, "image", uri="u"))
    ],
    "unknown deltas between texts": lambda n: [delta(0, "text", text="a"), delta(0, "sparkle", x=1)] * n,
    "texts with ids beside a large field": lambda n: [
        start(0, "model_output", large=large(n)),
        *[{**delta(0, "text", text="word "), "event_id": f"e{at}"} for at in range(n)],
    ],
    "texts that end again beside a large field": lambda n: [
        start(0, "model_output", large=large(n)),
        *[delta(0, "text", text="a"), stop(0)] * n,
    ],
    "texts in turn beside large fields": lambda n: [
        start(0, "model_output", large=large(n)),
        start(1, "model_output", large=large(n)),
        *[event for at in range(n) for event in (delta(at % 2, "text", text="a"), stop(at % 2))],
    ],
    "pictures beside a large field": lambda n: [
        start(0, "model_output", large=large(n)),
        *[delta(0, "image", data="AAAA", mime_type="image/png")] * n,
    ],
    "sounds of two types beside a large field": lambda n: [
        start(0, "model_output", large=large(n)),
        *[delta(0, "audio", data="AAAA", mime_type=f"audio/{at % 2}") for at in range(n)],
    ],
    "unknown content beside a large field": lambda n: [
        start(0, "model_output", large=large(n), content=[{"type": "scent"}] * n),
    ],
    "late signatures": lambda n: [start(0, "thought"), stop(0), *signatures(n)],
    "late signatures beside a large field": lambda n: [
        start(0, "thought", large=large(n), summary=[{"type": "text", "text": "p"}] * n),
        stop(0),
        *signatures(n),
    ],
    "late summaries": lambda n: [start(0, "thought", signature="S="), stop(0), *summaries(0, n)],
    "late summaries with a signature": lambda n: [
        start(0, "thought"),
        stop(0),
        *[delta(0, "thought", summary=[{"type": "text", "text": "p"}], signature=f"{at}=") for at in range(n)],
    ],
    "thoughts in turn": lambda n: [
        event for at in range(n) for event in (*summaries(at % 2, 1), stop(at % 2), *summaries(1 - at % 2, 1))
    ],
    "late unknown deltas of a thought": lambda n: [
        start(0, "thought"),
        stop(0),
        *[delta(0, "sparkle", x=1), delta(0, "thought_summary")] * n,
    ],
    "arguments beside a large field": lambda n: [
        start(0, "function_call", id="c", name="f", large=large(n)),
        *[{**delta(0, "arguments_delta", arguments="1"), "event_id": f"e{at}"} for at in range(n)],
    ],
    "calls with long ids and names": lambda n: [
        start(at, "mcp_server_tool_call", id=f"{at}" + "c" * 500, name="é" * 500) for at in range(n)
    ],
    "results with long ids": lambda n: [
        start(at, "google_search_result", call_id=f"{at}" + "c" * 500, result="\ud83d") for at in range(n)
    ],
    "results again": lambda n: [
        start(0, "google_search_call", id="c"),
        start(1, "google_search_result", call_id="c", large=large(n)),
        *[delta(1, "google_search_result", result=[{"url": "u"}]), stop(1)] * n,
    ],
    "results that wait": lambda n: [
        *[start(at, "google_search_result", call_id=f"c{at}", signature="S=") for at in range(n)],
        *[start(n + at, "google_search_call", id=f"c{at}") for at in range(n)],
    ],
    "indexes with one hash": lambda n: [start(at * ((1 << 61) - 1), "model_output") for at in range(n)],
    "negative indexes with one hash": lambda n: [delta(-at * ((1 << 61) - 1), "text", text="a") for at in range(n)],
    "places with one hash": lambda n: [
        delta(0, "text", text="a"),
        delta(0, "text_annotation_delta", annotations=[{"end_index": at * ((1 << 61) - 1)} for at in range(n)]),
    ],
    "replays that begin again": lambda n: [
        start(0, "model_output"),
        *[delta(at, "text", text="a") for at in range(n)],
        *[*created(1), start(0, "model_output")] * n,
    ],
    "replays of thoughts that begin again": lambda n: [
        start(0, "thought"),
        *[event for at in range(n) for event in (*summaries(at, 1), stop(at))],
        *[*created(1), start(0, "thought")] * n,
    ],
    "interactions in turn": lambda n: [
        {"event_type": "interaction.created", "interaction": {"id": f"v{at % 2 + 1}"}} for at in range(n)
    ],
    "interactions with long ids in turn": lambda n: [
        {"event_type": "interaction.created", "interaction": {"id": f"{at}" + "v" * 500}} for at in range(n)
    ],
    "counts again": lambda n: [
        {"event_type": "interaction.status_update", "usage": {"total_input_tokens": at}} for at in range(n)
    ],
    "bad frames": lambda n: ["{"] * n,
    "empty errors": lambda n: [{"event_type": "error"}] * n,
}


def body_of(family, count, *, ended=True):
    """
    Return the bytes of a stream of one shape, *count* long; without its end it is cut.
    """
    events = GROWING[family](count)
    end = {"event_type": "interaction.completed", "interaction": {"id": "v1", "status": "completed"}}
    return bytes_of([*events, end] if ended else events)


def bytes_of(events):
    return b"".join(
        b"event: x\ndata: " + (event if isinstance(event, str) else json.dumps(event)).encode() + b"\n\n"
        for event in [*created(1), *events]
    )


def decoded(body):
    decoder = GeminiInteractionsDecoder("m")
    return decoder.feed(body) + decoder.close()


__all__ = ["GROWING", "body_of", "bytes_of", "created", "decoded", "delta", "start"]
