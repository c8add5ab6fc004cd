"""
Streams of the Interactions wire put together at random, from everything that the wire has words for.
"""

import json
import re
from random import Random

from assistant_events.testing.mutations import HOSTILE_JSON, mutated

SPLICE = "\x00splice\x00"
STEPS = (
    *("model_output", "thought", "function_call", "function_result", "google_search_call", "google_search_result"),
    *("mcp_server_tool_call", "mcp_server_tool_result", "code_execution_call", "code_execution_result"),
    *("user_input", "dream", "text", "audio", "image"),
)
DELTAS = (
    *("text", "thought_summary", "thought_signature", "arguments_delta", "text_annotation_delta", "text_annotation"),
    *("image", "audio", "video", "function_call", "google_search_call", "google_search_result", "thought", "sparkle"),
)
STATUSES = ("completed", "requires_action", "failed", "cancelled", "incomplete", "in_progress", "requires_continuation")
WORDS = ("a", "Hé", "🚀", "", '{"a":', "1}", "\ud83d", "\ude80", "x" * 3000, "line\nline", '"\\')
IDS = ("c1", "c2", "", "s1", None, 7)


def stream(random):
    """
    Return the bytes of a stream; equal seeds give equal bytes.
    """
    events = [{"event_type": "interaction.created", "interaction": {"id": random.choice(("v1", "v1", ""))}}]
    events += [_event(random) for _ in range(random.randrange(40))]
    if random.random() < 0.8:
        status = random.choice(STATUSES)
        end = {"id": "v1", "status": status, "usage": {"total_input_tokens": 1}, "errors": [{"message": "x"}]}
        events.append({"event_type": "interaction.completed", "interaction": end})
    if random.random() < 0.3:
        events += events[random.randrange(len(events)) :]
    body = b"".join(_frame(event, random) for event in events)
    return mutated(body, random) if random.random() < 0.6 else body


def noisy(body, random):
    """
    Return the same stream with the noise of recordings in its frames: padding, a cursor and usage.
    """
    padded, cursors, usage = (random.random() < 0.6 for _ in range(3))
    count = 0

    def with_noise(found):
        nonlocal count
        count += 1
        cursor = f',"event_id":"v{count if random.random() < 0.97 else count // 2}"' if cursors else ""
        total = f',"usage":{{"total_output_tokens":{count}}}' if usage else ""
        return found[1] + (cursor + total).encode() + b" " * (random.randrange(16) if padded else 0) + b"}"

    return re.sub(rb"^(data: ?\{[^\r\n]+)\}(?=\r?$)", with_noise, body, flags=re.MULTILINE)


def pieces(body, random):
    """
    Return the same bytes, cut at random.
    """
    places = sorted(random.randrange(len(body) + 1) for _ in range(random.randrange(8)))
    return [body[start:end] for start, end in zip([0, *places], [*places, len(body)], strict=True)]


def _event(random):
    old = random.random() < 0.15
    prefix = "content" if old else "step"
    index = random.choice((0, 0, 1, 1, 2, 3, -1, None, "0", 1.0, True))
    kind = random.random()
    if kind < 0.25:
        event = {"event_type": f"{prefix}.start", "index": index, ("content" if old else "step"): _step(random)}
    elif kind < 0.75:
        event = {"event_type": f"{prefix}.delta", "index": index, "delta": _delta(random)}
    elif kind < 0.9:
        event = {"event_type": f"{prefix}.stop", "index": index}
    else:
        event = random.choice(
            (
                {"event_type": "interaction.status_update", "status": "in_progress", "continuation_token": "t"},
                {"event_type": "interaction.created", "interaction": {"id": random.choice(("v1", "v2"))}},
                {"event_type": "error", "error": random.choice(({}, {"message": "boom"}))},
                {"event_type": "step.paused"},
                {"type": "step.stop", "index": 0},
            )
        )
    if random.random() < 0.1:
        event["event_id"] = f"e{random.randrange(9)}"
    if random.random() < 0.15:
        event[random.choice(list(event))] = SPLICE
    return event


def _step(random):
    return {
        "type": random.choice(STEPS),
        **_some(
            random,
            id=random.choice(IDS),
            call_id=random.choice(IDS),
            name=random.choice(("f", "g", "")),
            arguments=random.choice(({}, {"a": 1}, "{}", SPLICE)),
            content=[{"type": "text", "text": random.choice(WORDS)}, {"type": "image", "data": "AAAA"}],
            summary=random.choice(("p", [{"type": "text", "text": "p"}], SPLICE)),
            signature=random.choice(("", "S=", SPLICE)),
            result=random.choice(("r", [1], {"a": 1}, SPLICE)),
            is_error=random.choice((True, False, SPLICE)),
            text=random.choice(WORDS),
        ),
    }


def _delta(random):
    kind = random.choice(DELTAS)
    word = random.choice(WORDS)
    return {
        "type": kind,
        **({"text": word} if kind == "text" else {}),
        **({"arguments": word} if kind == "arguments_delta" else {}),
        **({"content": {"type": "text", "text": word}} if kind == "thought_summary" else {}),
        **({"signature": random.choice(("", "S="))} if kind == "thought_signature" else {}),
        **({"data": "AAAA", "mime_type": random.choice(("a/b", "c/d"))} if kind in ("audio", "image") else {}),
        **({"annotations": [{"url": "u", "start_index": 0, "end_index": 1}]} if "annotation" in kind else {}),
        **(_some(random, id="c1", call_id="s1", name="f", arguments={}, x=SPLICE) if random.random() < 0.3 else {}),
    }


def _some(random, **fields):
    return {key: value for key, value in fields.items() if random.random() < 0.4}


def _frame(event, random):
    end = random.choice((b"\n", b"\n", b"\n", b"\r\n", b"\r"))
    data = json.dumps(event, ensure_ascii=random.random() < 0.5)
    hostile = random.choice(HOSTILE_JSON)
    payload = data.replace(json.dumps(SPLICE), hostile).encode("utf-8", "surrogatepass")
    name = b"event: %b%b" % (str(event.get("event_type")).encode("utf-8", "replace"), end)
    return (name if random.random() < 0.7 else b"") + b"data: " + payload + end + end


__all__ = ["Random", "pieces", "stream"]
