"""
Streams of any dialect as the events that they become, and back. The notation of a dialect has them as its own.
"""

from assistant_events import find_problems, fold


def events_of(dialect, body, **options):
    """
    Return the events of a stream; they are legal, and the decoder has not failed inside.
    """
    decoder = dialect.decoder("a1", **options)
    found = decoder.feed(body) + decoder.close()
    assert decoder.failure is None
    assert [] == find_problems(found)
    return found


def message_of(dialect, body, **options):
    """
    Return the message of a stream, or of a document.
    """
    if isinstance(body, dict):
        return fold(dialect.decode_resource(body, "a1", **options)).last
    return fold(events_of(dialect, body, **options)).last


def emitted_by(dialect, given, **options):
    """
    Return what *given* events lack on the wire, the bytes of the rest, and the events that these are decoded to.
    """
    emitter = dialect.emitter(**options)
    frames = [frame for event in given for frame in emitter.emit(event)] + emitter.close()
    body = b"".join(map(emitter.to_bytes, frames))
    return emitter.drops, body, events_of(dialect, body)
