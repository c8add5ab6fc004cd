"""
The binary event stream of AWS: case 14 of the Converse reference, and the framing beside that of botocore.
"""

import itertools
import json
import tracemalloc
from base64 import b64encode
from binascii import crc32
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant_events.adapters import AwsChunkStream, AwsEventStream, load_dialect
from assistant_events.adapters.aws_event_stream import is_event_stream
from tests.each import for_each

TEXT = {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Hé 🚀"}, "p": "abc"}}
STOP = {"contentBlockStop": {"contentBlockIndex": 0}}


def header(name, value, kind=7):
    """
    Return a header: of a string, or of the bytes of any other type.
    """
    data = pack("!H", len(value)) + value.encode() if kind == 7 else value
    return bytes([len(name)]) + name.encode() + bytes([kind]) + data


def frame(payload, *headers):
    """
    Return a frame, written after the description of the format alone.
    """
    lengths = pack("!II", 16 + sum(map(len, headers)) + len(payload), sum(map(len, headers)))
    data = lengths + pack("!I", crc32(lengths)) + b"".join(headers) + payload
    return data + pack("!I", crc32(data))


def event(kind, payload):
    return frame(
        payload,
        header(":event-type", kind),
        header(":content-type", "application/json"),
        header(":message-type", "event"),
    )


DELTA = event("contentBlockDelta", b'{"contentBlockIndex":0,"delta":{"text":"a"},"p":"ab"}')
END = event("contentBlockStop", b'{"contentBlockIndex":0}')
PAYLOADS = [
    b'{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"a"},"p":"ab"}}',
    b'{"contentBlockStop":{"contentBlockIndex":0}}',
]


def fed(chunks, **options):
    framing = AwsEventStream(**options)
    return [payload for chunk in chunks for payload in framing.feed(chunk)] + framing.close(), framing


def test_c14_every_split():
    """
    A frame may come in any pieces.
    """
    body = DELTA + END

    for at in range(len(body) + 1):
        assert PAYLOADS == fed([body[:at], body[at:]])[0]
    assert PAYLOADS == fed([body[at : at + 1] for at in range(len(body))])[0]


def test_c14_frames_in_one_read():
    """
    One read may bring several frames, the last of them in part.
    """
    payloads, framing = fed([DELTA + END + DELTA[:20]])

    assert PAYLOADS == payloads
    assert not framing.damaged
    assert "" == framing.tail


@for_each(range(len(DELTA)))
def test_c14_a_wrong_checksum(at):
    """
    Whatever byte of a frame is another one, the frame is damaged and nothing after it is read.
    """
    damaged = DELTA[:at] + bytes([DELTA[at] ^ 1]) + DELTA[at + 1 :]
    payloads, framing = fed([END + damaged + END, END])

    assert PAYLOADS[1:] == payloads
    assert framing.damaged
    assert not framing.too_long


def test_a_damaged_frame_fails_its_step():
    """
    The answer can be asked for again; what comes after the frame is not read.
    """
    decoder = load_dialect("bedrock-converse").decoder("m1")
    found = decoder.feed(event("messageStart", b'{"role":"assistant"}') + DELTA + DELTA[:-1] + b"\0" + DELTA)

    assert ["step.started", "text.started", "text.delta", "text.ended", "step.failed"] == [each.type for each in found]
    assert ("protocol", True) == (decoder.error.kind, decoder.error.retryable)
    assert ["damaged-frame"] == [note.code for note in decoder.notes]
    assert [] == decoder.feed(END) + decoder.close()
    assert 1 == len(decoder.notes)


def test_a_whole_frame():
    """
    What is one sound frame of an event has a line of its own, whatever came before. Nothing else has.
    """
    others = [b"", DELTA[:11], DELTA[:-1], DELTA + b"\0", DELTA + DELTA, event("contentBlockDelta", b""), frame(b"{}")]
    damaged = [DELTA[:at] + bytes([DELTA[at] ^ 1]) + DELTA[at + 1 :] for at in range(len(DELTA))]

    for before in ([], [DELTA], [END]):
        assert [each + b"\n" for each in PAYLOADS] == [fed(before)[1].whole(each) for each in (DELTA, END)]
        assert {None} == {fed(before)[1].whole(each) for each in others + damaged}


def test_payloads_in_lines():
    """
    However the bytes are cut, each payload is one line. A line end inside of a document is a CR, which is a space, too.
    """
    spaced = event("metadata", b'{\n"usage":{}\r\n}')
    bare = [frame(each) for each in (b"[1,\n2]", b"[DONE]")]
    body = b"".join([DELTA, DELTA, spaced, END, *bare, DELTA, event("a", b"")])
    lines = [PAYLOADS[0], PAYLOADS[0], b'{"metadata":{\r"usage":{}\r\r}}', PAYLOADS[1], b"[1,\r2]", b"[DONE]"]
    written = b"".join(each + b"\n" for each in [*lines, PAYLOADS[0], b'{"a":{}}'])

    for size in range(1, len(body) + 1):
        framing = AwsEventStream()
        assert written == b"".join(framing.lines(body[at : at + size]) for at in range(0, len(body), size))
    assert lines[2] + b"\n" == AwsEventStream().lines(spaced)


@pytest.mark.parametrize("fast", [True, False])
def test_documents_with_line_ends(fast):
    """
    A payload that is written in several lines is one event, in whatever pieces it comes.
    """
    started = event("messageStart", b'{\n  "role": "assistant"\n}\n')
    deltas = [
        event("contentBlockDelta", b'{\n"contentBlockIndex":0,"delta":{\n"text":"%b"}}' % each)
        for each in b"abcdef".hex(" ").encode().split()
    ]
    body = b"".join([started, *deltas])

    for size in (1, 7, len(deltas[0]), len(body)):
        decoder = load_dialect("bedrock-converse").decoder("m1")
        decoder.fast = fast
        found = [each for at in range(0, len(body), size) for each in decoder.feed(body[at : at + size])]

        assert "616263646566" == "".join(each.delta for each in found if each.type == "text.delta")
        assert [] == decoder.notes


def test_where_a_frame_begins():
    """
    The framing is idle where the next byte begins a frame, and not after damage.
    """
    _, framing = fed([])

    found = []
    for each in (b"", DELTA[:20], DELTA[20:], DELTA + DELTA, DELTA + DELTA[:1], DELTA[1:], DELTA[:-1] + b"x"):
        framing.feed(each)
        found.append(framing.idle)
    assert [True, False, True, True, False, True, False] == found

    _, framing = fed([DELTA])
    assert b"" == framing.lines(DELTA[:-1] + b"x")
    assert not framing.idle
    assert b"" == framing.lines(DELTA)
    assert not framing.idle
    _, framing = fed([DELTA])
    assert b"" == framing.lines(b"x" + DELTA[1:])
    assert not framing.idle


def test_frames_that_come_one_by_one():
    """
    Each has the events that it has among others, to the one that is damaged.
    """
    frames = [event("messageStart", b'{"role":"assistant"}'), *[DELTA] * 12]
    damaged = DELTA[:-9] + bytes([DELTA[-9] ^ 1]) + DELTA[-8:]

    for more in ([], [damaged], [DELTA[:30], DELTA[30:]], [END], [damaged[:30], damaged[30:], DELTA]):
        alone, together = (load_dialect("bedrock-converse").decoder("m1") for _ in range(2))
        found = [each for frame in [*frames, *more, DELTA] for each in alone.feed(frame)]

        assert together.feed(b"".join([*frames, *more, DELTA])) == found
        assert together.notes == alone.notes


@pytest.mark.parametrize("body", [b"data: {}\n\ndata: {}\n\n", b'{"message":"no"}', b"\0" * 16])
def test_c14_bytes_of_another_form(body):
    """
    Bytes of another form are damaged from its first twelve bytes on, however long a frame they seem to be.
    """
    payloads, framing = fed([body])

    assert [] == payloads
    assert (True, False) == (framing.damaged, framing.too_long)
    assert not any(is_event_stream(body[:size]) for size in (0, 11, len(body)))


def test_c14_headers_that_cannot_be_read():
    """
    Headers that are cut, of an unknown type, or not valid text, are damage, though the checksum holds.
    """
    for headers in (b"\x05a", b"\x01a\x0a", b"\x01a\x07\x00\x09b", b"\x01\xff\x07\x00\x01b", b"\x01a"):
        payloads, framing = fed([frame(b"{}", headers)])

        assert [] == payloads
        assert framing.damaged


def test_a_long_frame_in_pieces_is_looked_for_a_few_times(monkeypatch):
    """
    After its prelude it is waited for, so that its bytes are not joined for every piece.
    """
    cut, calls = AwsEventStream._cut, []
    monkeypatch.setattr(AwsEventStream, "_cut", lambda *given: calls.append(1) or cut(*given))
    body = 3 * event("a", b'"%b"' % (b"x" * 10_000))
    payloads, _ = fed([body[at : at + 100] for at in range(0, len(body), 100)])

    assert 3 == len(payloads)
    assert len(calls) <= 9


def test_headers_of_other_types():
    """
    Headers of other types than text are passed over.
    """
    sizes = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
    others = [header(f"h{kind}", b"\xff" * size, kind) for kind, size in sizes.items()]
    others.append(header("bytes", b"\x00\x02\xff\xff", 6))
    payloads, _ = fed([frame(b"{}", *others, header(":event-type", "messageStart"))])

    assert [b'{"messageStart":{}}'] == payloads


def test_long_headers():
    """
    Headers have any length, and what follows them is read, too.
    """
    long = frame(b"{}", header(":event-type", "a"), header("more", "x" * 5_000))

    assert [b'{"a":{}}', b'{"a":{}}', PAYLOADS[1], b'{"a":{}}'] == fed([long + long + END + long])[0]


def test_exceptions_and_errors():
    """
    An exception has its type as an event does; an error is in the headers alone.
    """
    exception = frame(
        b'{"message":"slow"}', header(":message-type", "exception"), header(":exception-type", "throttlingException")
    )
    error = frame(
        b"", header(":message-type", "error"), header(":error-code", "InternalFailure"), header(":error-message", "no")
    )
    bare = frame(b"{}", header(":message-type", "error"), header(":error-message", "no"), header(":event-type", "a"))

    assert [
        b'{"throttlingException":{"message":"slow"}}',
        b'{"error":{"code":"InternalFailure","message":"no"}}',
        b'{"error":{"message":"no"}}',
    ] == fed([exception + error + bare])[0]


def test_payloads_without_a_type():
    """
    A frame without a type has its payload, one without a payload an empty object.
    """
    assert [b"[1]", b'{"a":{}}'] == fed([frame(b"[1]") + event("a", b"")])[0]


def test_events_in_chunks():
    """
    The event inside of a chunk is the payload; a chunk without one is an event like others.
    """
    inner = b'{"type":"message_stop"}'
    chunk = json.dumps({"bytes": b64encode(inner).decode(), "p": "abcd"}).encode()
    others = [b"{}", b'{"bytes":"#"}', b"[", b"[]", b"[1]"]

    assert [inner] == fed([event("chunk", chunk)])[0]
    assert [b'{"chunk":%b}' % each for each in others] == fed([event("chunk", each) for each in others])[0]


def test_a_frame_that_is_too_long():
    """
    The prelude has its length: such a frame is not waited for.
    """
    payloads, framing = fed([END, DELTA[:12]], max_frame_bytes=len(END))

    assert PAYLOADS[1:] == payloads
    assert framing.too_long
    assert not framing.damaged
    assert [] == framing.feed(END)
    assert [] == framing.feed(DELTA[12:])
    assert not framing.idle


@pytest.mark.parametrize(("length", "headers"), [(0, 0), (15, 0), (16, 1)])
def test_a_length_that_is_too_short(length, headers):
    """
    A frame has 16 bytes beside its headers and its payload: one that claims less is damaged, and raises nothing.
    """
    lengths = pack("!II", length, headers)
    payloads, framing = fed([END + lengths + pack("!I", crc32(lengths)) + bytes(20)])

    assert PAYLOADS[1:] == payloads
    assert framing.damaged


def test_the_length_that_a_frame_may_have_is_that_of_its_stream():
    """
    It may have been read in another stream, where it was not too long.
    """
    short, long = event("other", b"{}"), event("other", b'{"a":1}')

    assert not fed([short + long])[1].too_long
    assert fed([short + long], max_frame_bytes=len(long) - 1)[1].too_long
    assert not fed([short + long], max_frame_bytes=len(long))[1].too_long


@pytest.mark.parametrize(("count", "size", "most"), [(5_000, 900, 5 << 20), (400, 50_000, 1 << 20)])
def test_memory_of_headers(count, size, most):
    """
    What is remembered of headers has a bound, also where each frame has others.
    """
    framing = AwsEventStream()
    tracemalloc.start()
    try:
        for number in range(count):
            framing.feed(frame(b"{}", header(":event-type", "a"), header("more", f"{number:0{size}}")))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert kept < most


class ShortFrames(type(load_dialect("bedrock-converse").decoder("m1"))):
    """
    Takes only short frames.
    """

    max_frame_bytes = 300


@pytest.mark.parametrize("fast", [True, False])
def test_a_document_that_is_longer_than_its_frame(fast):
    """
    The length of a frame is limited, and not what is written of it as JSON.
    """
    decoder = ShortFrames("m1")
    decoder.fast = fast
    message = "\x01" * 100
    decoder.feed(event("messageStart", b'{"role":"assistant"}'))
    decoder.feed(AwsEventStream.frame(None, {"error": {"code": "c", "message": message}}))

    assert message == decoder.error.message


WRITTEN = {
    "an event": TEXT,
    "an exception": {"throttlingException": {"message": "slow", "originalStatusCode": 1}},
    "an error": {"error": {"code": "c", "message": "m"}},
    "an error with more": {"error": {"code": "c", "details": [1]}},
    "an error without text": {"error": {"code": 1}},
    "an error that is not in ASCII": {"error": {"message": "Größe 🚀"}},
    "an error with other text": {"error": {"type": "overloaded_error", "message": "m"}},
    "an error with a long text": {"error": {"code": "c" * 70_000}},
    "an error with the first text that is too long": {"error": {"code": "c" * 65_536}},
    "two fields": {"metadata": {}, "more": {}},
    "a value that is an integer": {"a": 1},
    "a long name": {"a" * 70_000: {}},
    "half a pair": {"\ud800": {"a": 1}},
    "nothing": {},
}


@pytest.mark.parametrize("payload", [pytest.param(payload, id=name) for name, payload in WRITTEN.items()])
@pytest.mark.parametrize("made", [AwsEventStream, AwsChunkStream])
def test_what_is_written_is_read(made, payload):
    """
    Each framing reads what it writes.
    """
    [found] = made().feed(made.frame(None, payload))

    assert payload == json.loads(found) or "\ud800" in payload


def test_text_is_written_as_it_is():
    """
    A mark, or JSON text, is a payload without a type.
    """
    assert [b"[DONE]", b'{"a":1}'] == fed([AwsEventStream.frame(None, each) for each in ("[DONE]", '{"a":1}')])[0]


def test_a_chunk_is_written_as_the_service_does():
    """
    A chunk has an event of the model in base64; an exception or an error is not inside of one.
    """
    inner = {"type": "message_stop"}
    data = b64encode(b'{"type":"message_stop"}').decode()
    slow = {"throttlingException": {"message": "slow"}}

    assert AwsEventStream.frame(None, {"chunk": {"bytes": data}}) == AwsChunkStream.frame(None, inner)
    for payload in (slow, {"error": {"code": "InternalFailure", "message": "no"}}):
        assert AwsEventStream.frame(None, payload) == AwsChunkStream.frame(None, payload)


# -- beside botocore


def official(body):
    """
    Return the events of a body as botocore reads them: type and payload.
    """
    eventstream = pytest.importorskip("botocore.eventstream", reason="the official client is not installed")
    buffer = eventstream.EventStreamBuffer()
    buffer.add_data(body)
    found = []
    for message in buffer:
        headers = message.headers
        kind = headers.get(":event-type") or headers.get(":exception-type")
        found.append({kind: json.loads(message.payload)})
    return found


EVENTS = st.dictionaries(
    st.text(st.characters(codec="ascii", categories=["L"]), min_size=1).filter(
        lambda name: name not in ("chunk", "error")
    ),
    st.dictionaries(st.text(), st.one_of(st.text(), st.integers(), st.booleans())),
    min_size=1,
    max_size=1,
)


@given(st.lists(EVENTS), st.lists(st.integers(0, 500)))
def test_botocore_reads_the_same(events, places):
    """
    botocore reads what we write, and we read the same, however it is cut.
    """
    body = b"".join(AwsEventStream.frame(None, each) for each in events)
    cuts = [0, *sorted({min(place, len(body)) for place in places}), len(body)]
    ours, framing = fed([body[start:stop] for start, stop in itertools.pairwise(cuts)])

    assert official(body) == [json.loads(each) for each in ours]
    assert not framing.damaged


@given(st.data())
def test_botocore_refuses_the_same(data):
    """
    What botocore refuses is damage here, and the other way round.
    """
    eventstream = pytest.importorskip("botocore.eventstream", reason="the official client is not installed")
    body = AwsEventStream.frame(None, TEXT) + AwsEventStream.frame(None, STOP)
    at = data.draw(st.integers(0, len(body) - 1))
    body = body[:at] + bytes([data.draw(st.integers(0, 255))]) + body[at + 1 :]
    try:
        theirs = official(body)
    except eventstream.ParserError:
        theirs = None
    payloads, framing = fed([body])

    assert framing.damaged is (theirs is None)
    assert theirs is None or theirs == list(map(json.loads, payloads))
