"""
Streams of the Responses wire in a few words each.

`response` makes the response of a frame, `added` and `done` frames of an item, `delta` and `whole` those of its words,
`text`, `reasoning` and `call` all frames of one item; `stream` begins, numbers, pads and ends them.
"""

from assistant_events import find_problems, fold
from assistant_events.adapters import Sse, load_dialect

DIALECT = load_dialect("openai-responses")
MODEL = "gpt-5.6"
USAGE = {
    "input_tokens": 20,
    "input_tokens_details": {"cached_tokens": 8},
    "output_tokens": 9,
    "output_tokens_details": {"reasoning_tokens": 4},
    "total_tokens": 29,
}


def response(status="in_progress", **more):
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": MODEL, "output": [], "error": None}
    return {**head, "status": status, "incomplete_details": None, "usage": None, "store": True, **more}


def frame(name, **fields):
    return {"type": f"response.{name}", **fields}


def created(**more):
    return frame("created", response=response(**more))


def completed(*output, status="completed", **more):
    return frame(status, response=response(status, **{"output": list(output), "usage": USAGE, **more}))


def incomplete(reason, *output):
    return completed(*output, status="incomplete", incomplete_details={"reason": reason})


def failed(**error):
    return frame("failed", response=response("failed", error=error))


def added(index, **item):
    return frame("output_item.added", output_index=index, item=item)


def done(index, **item):
    return frame("output_item.done", output_index=index, item=item)


def delta(name, index, text, **more):
    return frame(f"{name}.delta", item_id=f"item_{index}", output_index=index, delta=text, **more)


def whole(name, index, **more):
    return frame(f"{name}.done", item_id=f"item_{index}", output_index=index, **more)


def part(verb, index, place=0, array="content", **fields):
    name = "reasoning_summary_part" if array == "summary" else "content_part"
    return frame(
        f"{name}.{verb}", item_id=f"item_{index}", output_index=index, **{f"{array}_index": place}, part=fields
    )


def output_text(text, *annotations, **more):
    return {"type": "output_text", "text": text, "annotations": list(annotations), **more}


def summary(text):
    return {"type": "summary_text", "text": text}


def words(index, *pieces, place=0, annotations=()):
    """
    Return the frames of one text of a message.
    """
    content = "".join(pieces)
    return [
        part("added", index, place, **output_text("")),
        *[delta("output_text", index, piece, content_index=place, logprobs=[]) for piece in pieces],
        *annotations,
        whole("output_text", index, content_index=place, text=content, logprobs=[]),
        part("done", index, place, **output_text(content, *[each["annotation"] for each in annotations])),
    ]


def annotation(index, place, fields):
    at = {"output_index": index, "content_index": 0, "annotation_index": place}
    return frame("output_text.annotation.added", **at, annotation=fields)


def text(index, *pieces, id="msg_1", annotations=(), **more):
    """
    Return the frames of a message with one text.
    """
    content = [output_text("".join(pieces), *[each["annotation"] for each in annotations])]
    item = {"id": id, "type": "message", "role": "assistant", **more}
    return [
        added(index, **item, status="in_progress", content=[]),
        *words(index, *pieces, annotations=annotations),
        done(index, **item, status="completed", content=content),
    ]


def thoughts(index, *summaries):
    """
    Return the frames of the summaries of a reasoning.
    """
    frames = []
    for place, content in enumerate(summaries):
        frames += [
            part("added", index, place, "summary", **summary("")),
            *[
                delta("reasoning_summary_text", index, piece, summary_index=place)
                for piece in (content[:3], content[3:])
            ],
            whole("reasoning_summary_text", index, summary_index=place, text=content),
            part("done", index, place, "summary", **summary(content)),
        ]
    return frames


def reasoning(index, *summaries, id="rs_1", encrypted="gAAA-final", **more):
    """
    Return the frames of a reasoning; its encrypted content at the start is not the one that counts.
    """
    item = {"id": id, "type": "reasoning", **more}
    early, last = [{} if encrypted is None else {"encrypted_content": each} for each in ("gAAA-early", encrypted)]
    return [
        added(index, **item, summary=[], **early),
        *thoughts(index, *summaries),
        done(index, **item, summary=[summary(each) for each in summaries], **last),
    ]


def call(index, *pieces, id="fc_1", call_id="call_1", name="weather", **more):
    """
    Return the frames of a call of a function.
    """
    item = {"id": id, "type": "function_call", "call_id": call_id, "name": name, **more}
    arguments = "".join(pieces)
    return [
        added(index, **item, arguments="", status="in_progress"),
        *[delta("function_call_arguments", index, piece) for piece in pieces],
        whole("function_call_arguments", index, arguments=arguments),
        done(index, **item, arguments=arguments, status="completed"),
    ]


def hosted(index, **item):
    """
    Return the frames of an item that the provider makes.
    """
    early = {"status": "in_progress"} if "status" in item else {}
    return [added(index, **{**item, **early}), done(index, **item)]


def numbered(*frames):
    """
    Return frames with their numbers, deltas with padding.
    """
    return [
        {**each, "sequence_number": at, **({"obfuscation": "x" * (at % 5)} if each["type"].endswith(".delta") else {})}
        for at, each in enumerate(frames)
    ]


def body(*frames):
    """
    Return the bytes of frames as they are.
    """
    return b"".join(Sse.frame(each["type"], each) for each in frames)


def stream(*frames, start=None, end=None):
    """
    Return the bytes of a whole answer. A list of frames counts as its frames.
    """
    flat = [each for item in frames for each in (item if isinstance(item, list) else [item])]
    return body(*numbered(created() if start is None else start, *flat, completed() if end is None else end))


def events(data, **options):
    decoder = DIALECT.decoder("a1", **options)
    found = decoder.feed(data) + decoder.close()
    assert decoder.failure is None
    assert [] == find_problems(found)
    return found


def notes(data):
    decoder = DIALECT.decoder("a1")
    decoder.feed(data)
    decoder.close()
    return [note.code for note in decoder.notes]


def message(data, **options):
    return fold(events(data, **options)).last


def state(part):
    return {key: part.state[key] for key in part.state}


def encoded(*messages, mode="full", **body):
    """
    Return the input and the drops of a request.
    """
    found = DIALECT.encoder(messages, {"model": MODEL, **body}, mode=mode)
    return found.body["input"], [(drop.part, drop.reason) for drop in found.drops]
