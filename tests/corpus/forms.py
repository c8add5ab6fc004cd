"""
One response in its two forms: what a stream adds up to as a document, and a document as a stream.

Written from the wire reference alone, with no line of the decoder: steps from starts and deltas, deltas from steps.
"""

import copy
import json

MEDIA = ("image", "audio", "document", "video")


def document_of(events):
    """
    Return the document of a streamed response: the fields of its last event, and its steps (1.x: outputs).
    """
    head, items, old = {}, {}, False
    for event in events:
        kind = event["event_type"]
        old = old or kind.startswith(("content.", "interaction.start"))
        if kind.startswith("interaction.") and "interaction" in event:
            head = {**head, **event["interaction"]}
        elif kind in ("step.start", "content.start"):
            items[event["index"]] = copy.deepcopy(event.get("step") or event.get("content"))
        elif kind in ("step.delta", "content.delta") and event["delta"]:
            _add(items, event["index"], event["delta"], old=old)
    done = [_finished(item) for item in items.values()]
    return {**head, ("outputs" if old else "steps"): [each for each in done if each is not None]}


def stream_of(document, *, size=None):
    """
    Return the events that would have streamed a document.

    One delta for each text and for each set of arguments, or with *size* one for so many characters.
    """
    items = document.get("steps")
    old = items is None
    items = (document.get("outputs") or []) if old else items
    prefix = "content" if old else "step"
    head = {key: value for key, value in document.items() if key not in ("steps", "outputs", "usage", "status")}
    events = [
        {
            "event_type": "interaction.start" if old else "interaction.created",
            "interaction": {**head, "status": "in_progress"},
        }
    ]
    generated = [item for item in items if item["type"] != "user_input"]
    for index, item in enumerate(generated):
        start, deltas = _told(item, size)
        events.append({"event_type": f"{prefix}.start", "index": index, ("content" if old else "step"): start})
        events += [{"event_type": f"{prefix}.delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"event_type": f"{prefix}.stop", "index": index})
    if document.get("status") in ("in_progress", "queued"):
        return events
    end = {key: value for key, value in document.items() if key not in ("steps", "outputs")}
    events.append({"event_type": "interaction.complete" if old else "interaction.completed", "interaction": end})
    return events


def _add(items, index, delta, *, old):
    kind = delta.get("type", "text")  # a page of the manual leaves it out
    item = items.setdefault(index, {"type": _type_of(kind, old)})
    if kind == "text" and old:
        item["text"] = item.get("text", "") + delta["text"]
    elif kind == "text":
        content = item.setdefault("content", [])
        if not content or content[-1]["type"] != "text":
            content.append({"type": "text", "text": ""})
        content[-1]["text"] += delta["text"]
    elif kind in ("text_annotation", "text_annotation_delta"):
        holder = item if old else item["content"][-1]
        holder.setdefault("annotations", []).extend(delta["annotations"])
    elif kind == "thought_summary":
        item.setdefault("summary", []).append(delta["content"])
    elif kind == "thought_signature":
        item["signature"] = delta["signature"] or item.get("signature", "")
    elif kind == "arguments_delta":
        item["pieces"] = item.get("pieces", "") + delta["arguments"]
    elif kind in MEDIA and not old:
        item.setdefault("content", []).append(delta)
    else:
        item.update(delta)


def _type_of(kind, old):
    if kind.startswith("thought"):
        return "thought"
    if kind == "arguments_delta":
        return "function_call"
    if kind in (*MEDIA, "text"):
        return kind if old else "model_output"
    return kind


def _finished(item):
    if "pieces" in item:
        item["arguments"] = json.loads(item.pop("pieces"))
    # In 1.x an item without anything in it is not shown.
    return None if item == {"type": "text"} else item


def _told(item, size):
    kind = item["type"]
    if kind == "thought":
        kept = {key: value for key, value in item.items() if key not in ("summary", "signature")}
        summary = item.get("summary") or []
        summary = [{"type": "text", "text": summary}] if isinstance(summary, str) else summary
        deltas = [{"type": "thought_summary", "content": part} for part in summary]
        if "signature" in item:
            deltas.append({"type": "thought_signature", "signature": item["signature"]})
        return kept, deltas
    if kind == "model_output":
        kept = {key: value for key, value in item.items() if key != "content"}
        return kept, [delta for block in _joined(item.get("content") or []) for delta in _block(block, size, "_delta")]
    if kind in ("text", *MEDIA):
        return {"type": kind}, _block(item, size, "")
    if kind == "function_call" and size is not None:
        raw = json.dumps(item.get("arguments") or {}, ensure_ascii=False, separators=(",", ":"))
        return {**item, "arguments": {}}, [{"type": "arguments_delta", "arguments": piece} for piece in _cut(raw, size)]
    ids = {key: item[key] for key in ("type", "id", "call_id", "name", "signature") if key in item}
    rest = {key: value for key, value in item.items() if key not in ("id", "call_id")}
    return ids, [rest]


def _block(block, size, suffix):
    if block["type"] != "text":
        return [block]
    deltas = [{"type": "text", "text": piece} for piece in _cut(block["text"], size)]
    if block.get("annotations"):
        deltas.append({"type": f"text_annotation{suffix}", "annotations": block["annotations"]})
    return deltas


def _joined(blocks):
    """
    Join adjacent texts, as a stream has them: the places of their annotations move along by bytes.
    """
    joined = []
    for block in blocks:
        if block["type"] != "text" or not joined or joined[-1]["type"] != "text":
            joined.append(copy.deepcopy(block))
            continue
        by = len(joined[-1]["text"].encode())
        joined[-1]["text"] += block["text"]
        joined[-1].setdefault("annotations", []).extend(
            {**each, **{key: each[key] + by for key in ("start_index", "end_index") if key in each}}
            for each in block.get("annotations", [])
        )
    return joined


def _cut(text, size):
    return [text] if size is None else [text[at : at + size] for at in range(0, len(text), size)]
