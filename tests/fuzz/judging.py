"""
What must hold for any stream, as one sentence for each fault.
"""

from assistant_events import MessageStatus, UserMessage, find_problems, fold, reconcile
from assistant_events.adapters import dialect_names, load_dialect
from assistant_events.values import write_json

from .generated import pieces


def fault(stream, random):
    """
    Return what is wrong with what is made of a stream; nothing when all is well.
    """
    chunks = pieces(stream.body, random)
    results = []
    for how, fast, cut in (("the decoder", True, chunks), ("the plain one", False, chunks), ("uncut", True, None)):
        try:
            events, decoder = stream.decode(cut, fast=fast)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a fault
            return f"{how} raised {error!r}"
        if decoder.failure is not None:
            return f"{how} failed inside with {decoder.failure!r}"
        results.append((events, decoder.notes, decoder.error))
    if results[0] != results[1]:
        return "the fast path differs from the plain one"
    if fold(results[0][0]) != fold(results[2][0]):
        return "in other chunks it gives another transcript"
    return judged(results[0][0]) or _rejoined(stream, random) or _written(results[0][0], random)


def judged(events):
    """
    Return what is wrong with the events of one whole stream.
    """
    found = find_problems(events)
    if found:
        return str(found[0])
    transcript = fold(events)
    if reconcile(transcript):
        return f"left open: {[event.type for event in reconcile(transcript)]}"
    if not transcript.messages or any(each.status is MessageStatus.RUNNING for each in transcript.messages):
        return "a message without an end"
    if fold([event for event in events if event.durable]) != transcript:
        return "the durable events alone give another transcript"
    return ""


def _rejoined(stream, random):
    at = random.randrange(len(stream.body) + 1)
    decoder = stream.decoder()
    events = decoder.feed(stream.body[:at])
    if random.random() < 0.3:
        events += decoder.close()
    more, second = stream.decode(prior=list(fold(events).messages))
    if second.failure is not None:
        return f"rejoined at byte {at} it failed inside with {second.failure!r}"
    wrong = judged(events + more)
    return f"rejoined at byte {at}: {wrong}" if wrong else ""


def _written(events, random):
    """
    Return what any dialect raises that writes the next request, the stream or a document of the answer.
    """
    messages, to = fold(events).messages, load_dialect(random.choice(dialect_names()))
    try:
        write_json(to.encoder([*messages, UserMessage(id="u", content="And?")], {"model": "m"}).body)
        emitter = to.emitter()
        frames = [frame for event in events for frame in emitter.emit(event)]
        b"".join(map(emitter.to_bytes, [*frames, *emitter.close()]))
        for message in messages if to.emit_resource else ():
            write_json(to.emit_resource(message))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a fault
        return f"written for {to.name} it raised {error!r}"
    return ""


def smaller(body, holds, tries=2000):
    """
    Return the smallest stream that is found in so many tries, by leaving out lines and then bytes, for which *holds*
    is still true.
    """
    for separator in (b"\n\n", b"\n", b""):
        size = max(len(_parts(body, separator)) // 2, 1)
        while size:
            parts, at = _parts(body, separator), 0
            while at < len(parts) and tries:
                tries -= 1
                tried = separator.join(parts[:at] + parts[at + size :])
                if holds(tried):
                    body, parts = tried, _parts(tried, separator)
                else:
                    at += size
            size //= 2
    return body


def _parts(body, separator):
    return body.split(separator) if separator else [body[at : at + 1] for at in range(len(body))]
