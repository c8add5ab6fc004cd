"""
JSON that no provider should send: a defined outcome each, the same with msgspec and without.
"""

import json
import sys
from itertools import pairwise, product
from random import Random

import pytest

from assistant_events import Citation, Event, State, fold, thaw
from assistant_events.adapters import load_dialect
from assistant_events.adapters.gemini_interactions import GeminiInteractionsDecoder, decode_resource
from assistant_events.converters import dumps, loads
from assistant_events.testing.mutations import mutated
from assistant_events.values import json_io, stdlib_json, write_json
from tests.each import for_each

from .notation import (
    THOROUGH,
    C,
    D,
    K,
    S,
    X,
    answer,
    args,
    called,
    citation,
    codes,
    decoded,
    delta,
    durable,
    events,
    fc,
    frame,
    inner,
    message,
    mo,
    notes,
    opaque,
    reasoning_of,
    started,
    step,
    stream,
    summary,
    text,
    text_of,
    th,
)

HUGE = 10**5000 - 1
DIGITS = b"9" * 5000


@pytest.fixture(params=["msgspec", "standard library"], autouse=True)
def reader(request, monkeypatch):
    """
    Every test runs with msgspec, and as if it were not installed.
    """
    if request.param == "msgspec":
        pytest.importorskip("msgspec")
        yield
        return
    cached = [each for each in vars(json_io).values() if hasattr(each, "cache_clear")]
    for each in cached:
        each.cache_clear()
    with monkeypatch.context() as hidden:
        hidden.setitem(sys.modules, "msgspec", None)
        yield
    for each in cached:
        each.cache_clear()


def raw(data):
    """
    Return one frame with these bytes as they are.
    """
    return b"data: " + data + b"\n\n"


def test_the_fixture_hides_msgspec(request):
    """
    Without msgspec the plain reader is at work.
    """
    plain = json_io.fast_reader() is stdlib_json.read_plain

    assert ("standard library" in request.node.name) == plain


def test_halves_of_a_pair_in_two_deltas():
    """
    Two halves that are cut apart are joined, in text, reasoning and input.
    """
    body = (
        answer(
            *(S(0, mo()), D(0, text("a\ud83d")), D(0, text("\ude80b")), X(0)),
            *(S(1, th()), D(1, summary("\ud83d")), D(1, summary("\ude80")), X(1)),
            *(S(2, fc()), D(2, args('{"a":"\ud83d')), D(2, args('\ude80"}')), X(2)),
        )
        .replace(b"\xed\xa0\xbd", rb"\ud83d")
        .replace(b"\xed\xba\x80", rb"\ude80")
    )
    found = message(body)

    assert ("a🚀b", "🚀") == (found.text, found.reasoning)
    assert {"a": "🚀"} == found.tool_calls[0].arguments


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([r"\ud83d"], "\ufffd"),
        ([r"a\ud83d", "b"], "a\ufffdb"),
        ([r"\ude80"], "\ufffd"),
        ([r"\ud83d", r"\ud83d\ude80"], "\ufffd🚀"),
        ([r"\ude80\ud83d"], "\ufffd\ufffd"),
    ],
)
def test_a_half_alone_in_text(pieces, expected):
    """
    Half of a pair alone becomes U+FFFD.
    """
    body = b"".join(
        raw(b'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"%b"}}' % p.encode()) for p in pieces
    )

    assert expected == message(stream(C()) + body + stream(X(0), K())).text


def test_a_half_alone_in_state():
    """
    In state it stays as it is: signatures, unknown steps, fields without a word.
    """
    lone = rb"A\ud83d="
    sign = raw(
        b'{"event_type":"step.start","index":0,"step":{"type":"thought","signature":"%b","mood":"%b"}}' % (lone, lone)
    )
    dream = raw(b'{"event_type":"step.start","index":1,"step":{"type":"dream","plot":"%b"}}' % lone)
    found = inner(stream(C()) + sign + dream + stream(X(0), X(1), K()))

    assert reasoning_of("", signature="A\ud83d=", extra={"mood": "A\ud83d="}) == found[:2]
    assert opaque(1, step={"type": "dream", "plot": "A\ud83d="}) == found[2]


def test_integers_of_any_size():
    """
    They are exact in input and state.
    """
    call = raw(
        b'{"event_type":"step.start","index":0,"step":{"type":"function_call","id":"c1","name":"f","arguments":{"a":%b}}}'
        % DIGITS
    )
    pieces = stream(S(1, fc("c2")), D(1, args('{"a":' + "9" * 5000 + "}")), X(1))
    dream = raw(b'{"event_type":"step.start","index":2,"step":{"type":"dream","a":-%b}}' % DIGITS)
    found = message(stream(C()) + call + stream(X(0)) + pieces + dream + stream(X(2), K()))

    assert [HUGE, HUGE] == [each.arguments["a"] for each in found.tool_calls]
    assert -HUGE == found.parts[2].state["step"]["a"]


def test_of_two_equal_keys_the_last_wins():
    """
    So it is everywhere: in the event, the delta and the arguments.
    """
    first = raw(b'{"event_type":"step.start","index":9,"index":0,"step":{"type":"thought","type":"model_output"}}')
    second = raw(b'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"a","text":"b"}}')
    body = stream(C()) + first + second + second + stream(X(0), S(1, fc()), D(1, args('{"a":1,"a":2}')), X(1), K())

    assert text_of("bb") == inner(body)[:2]
    assert called("c1", {"a": 2}) == inner(body)[-1]


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e400"])
def test_numbers_that_are_none(number):
    """
    A frame with one is not JSON: left out and noted. Input with one is not valid.
    """
    body = stream(C()) + raw(b'{"event_type":"step.start","index":%b,"step":{"type":"thought"}}' % number) + stream(K())
    call = answer(S(0, fc()), D(0, args('{"a":' + number.decode() + "}")), X(0))

    assert [] == inner(body)
    assert ["bad-json"] == codes(body)
    assert "invalid-input" == inner(call)[-1].error.kind


@pytest.mark.parametrize("depth", [300, 5000, 100_000])
@pytest.mark.parametrize("brackets", [(b"[", b"]"), (b'{"a":', b"}")], ids=["arrays", "objects"])
def test_nesting(depth, brackets):
    """
    What nests deeper than 200 levels is left out and noted.
    """
    opening, closing = brackets
    inside = opening * depth + b"1" + closing * depth
    body = (
        stream(C())
        + raw(b'{"event_type":"step.start","index":0,"step":%b}' % inside)
        + stream(S(1, mo("a")), X(1), K())
    )

    assert text_of("a") == inner(body)
    assert ["bad-json"] == codes(body)
    call = answer(S(0, fc()), D(0, args(inside.decode())), X(0))
    assert "invalid-input" == inner(call)[-1].error.kind


_START = b'{"event_type":"step.start","index":0,"step":'
_DELTA = b'{"event_type":"step.delta","index":0,"delta":'
PLACES = {
    "an unknown step": _START + b'{"type":"dream","x":%b}}',
    "an unknown delta": _DELTA + b'{"type":"sparkle","x":%b}}',
    "an unknown field": _START + b'{"type":"thought","mood":%b}}',
    "an item of a summary": _START + b'{"type":"thought","summary":[{"x":%b}]}}',
    "an unknown block": _START + b'{"type":"model_output","content":[{"type":"hologram","x":%b}]}}',
    "a medium": _START + b'{"type":"model_output","content":[{"type":"image","x":%b}]}}',
    "an annotation": _DELTA + b'{"type":"text_annotation","annotations":[{"x":%b}]}}',
    "arguments": _START + b'{"type":"function_call","id":"c","name":"f","arguments":{"x":%b}}}',
    "a result": _START + b'{"type":"google_search_result","call_id":"c","result":[%b]}}',
    "usage on the way": b'{"event_type":"step.stop","index":0,"usage":{"x":%b}}',
    "usage at the end": b'{"event_type":"interaction.completed","interaction":{"usage":{"x":%b}}}',
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
def test_nesting_at_the_limit(place):
    """
    What a frame may hold, state may hold too, wherever it is put; a frame that nests deeper is a note.
    """
    for depth in range(190, 203):
        body = stream(C(), S(0, mo("a"))) if b"delta" in place or b"stop" in place else stream(C())
        made, found = decoded(body + raw(place % (b"[" * depth + b"]" * depth)) + stream(K(usage=None)))

        assert "step.ended" == found[-1].type
        assert len(made.notes) <= 2


def test_nul():
    """
    NUL is a character like any other in a string, and no JSON outside of one.
    """
    assert "a\0b" == message(answer(S(0, mo()), D(0, text("a\0b")), X(0))).text
    assert ["unknown-event"] == codes(stream(C()) + raw(b'{"event_type":"\0"}') + stream(K()))
    assert ["bad-json"] == codes(stream(C()) + raw(b'{"event_type":\0"a"}') + stream(K()))


@pytest.mark.parametrize(
    "data",
    [b"{}", b'{"index":0}', b'{"event_type":null}', b'{"event_type":1}', b'{"event_type":[]}', b'{"event_type":""}'],
)
def test_an_event_without_type(data):
    """
    It is left out and noted.
    """
    body = stream(C()) + raw(data) + stream(S(0, mo("a")), X(0), K())

    assert text_of("a") == inner(body)
    assert ["unknown-event"] == codes(body)


WRONG = [None, True, 1, -1.5, "x", [], [1], [[]], {}, {"type": []}, {"type": {}}]
FIELDS = {
    "interaction": lambda value: {"event_type": "interaction.created", "interaction": value},
    "id": C,
    "model": lambda value: C(model=value),
    "environment": lambda value: C(environment_id=value),
    "event id": lambda value: {**S(0, mo()), "event_id": value},
    "step": lambda value: S(0, value),
    "step type": lambda value: S(0, step(value)),
    "content": lambda value: S(0, step("model_output", content=value)),
    "block": lambda value: S(0, step("model_output", content=[value])),
    "text of a block": lambda value: S(0, step("model_output", content=[{"type": "text", "text": value}])),
    "output error": lambda value: S(0, mo(error=value)),
    "summary": lambda value: S(0, th(summary=value)),
    "item": lambda value: S(0, th(summary=[value])),
    "signature": lambda value: S(0, th(signature=value)),
    "call id": lambda value: S(0, fc(value)),
    "call name": lambda value: S(0, fc(name=value)),
    "call arguments": lambda value: S(0, step("function_call", id="c1", name="f", arguments=value)),
    "search type": lambda value: S(0, step("google_search_call", id="s1", search_type=value)),
    "result": lambda value: S(0, step("function_result", call_id="c1", result=value)),
    "result id": lambda value: S(0, step("function_result", call_id=value)),
    "result error": lambda value: S(0, step("function_result", call_id="c1", is_error=value)),
    "index": lambda value: S(value, mo("a")),
    "delta": lambda value: D(0, value),
    "delta type": lambda value: D(0, delta(value)),
    "text": lambda value: D(0, text(value)),
    "annotations": lambda value: D(0, delta("text_annotation_delta", annotations=value)),
    "annotation": lambda value: D(0, notes(value)),
    "annotation start": lambda value: D(0, notes(citation("https://e.x/", value, value))),
    "annotation url": lambda value: D(0, notes(citation(value, 0, 1))),
    "annotation type": lambda value: D(0, notes({"type": value})),
    "summary content": lambda value: D(0, delta("thought_summary", content=value)),
    "summary text": lambda value: D(0, summary(value)),
    "late signature": lambda value: D(0, delta("thought_signature", signature=value)),
    "pieces": lambda value: D(0, args(value)),
    "media type": lambda value: D(0, delta("image", data="AAAA", mime_type=value)),
    "media data": lambda value: D(0, delta("image", data=value)),
    "media place": lambda value: D(0, delta("image", uri=value)),
    "sound": lambda value: D(0, delta("audio", data=value, mime_type=value)),
    "stop": X,
    "usage": lambda value: {**X(0), "usage": value, "metadata": value},
    "status": lambda value: {"event_type": "interaction.status_update", "status": value},
    "token": lambda value: {"event_type": "interaction.status_update", "continuation_token": value},
    "final usage": lambda value: K(usage=value),
    "counts": lambda value: K(usage={"total_input_tokens": value, "total_cached_tokens": value}),
    "final status": K,
    "errors": lambda value: K("failed", errors=value),
    "an error": lambda value: K("failed", errors=[value], error=value),
    "code": lambda value: {"event_type": "error", "error": {"code": value, "message": value}},
    "error": lambda value: {"event_type": "error", "error": value},
    "steps": lambda value: K(steps=value, outputs=value),
    "a step": lambda value: K(steps=[value]),
}


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS.keys())
def test_a_wrong_type_in_any_field(field):
    """
    Whatever a field holds, the stream is read to its end, alone and after something to continue.
    """
    before = (C(), S(0, mo()), D(0, text("a")), S(1, th()), S(2, fc()), D(2, args("{")))
    for value in WRONG:
        for wire in ((C(), field(value), K()), (*before, field(value), D(0, text("b")), K())):
            made, found = decoded(stream(*wire))

            assert found[-1].type in ("step.ended", "step.failed")
            assert made.failure is None


@pytest.mark.parametrize("field", ["status", "steps", "outputs", "usage", "id", "error", "errors", "model"])
def test_a_wrong_type_in_a_document(field):
    """
    So it is with documents.
    """
    for value in WRONG:
        found = decode_resource({"status": "completed", "steps": [mo("a")], field: value}, "m")

        assert found[-1].type in ("step.ended", "step.failed")


def test_parsed_events_that_are_no_json():
    """
    Events that were parsed elsewhere may hold NaN, and nest; what is not JSON is left out of them.
    """
    endless = step("dream", nan=float("nan"), keep=1)
    endless["self"] = endless
    made = GeminiInteractionsDecoder("m")
    found = [event for each in (C(), S(0, endless), X(0), K()) for event in made.feed_event(each)]

    assert (None, 1) == (made.failure, found[1].state["step"]["keep"])
    assert "nan" not in found[1].state["step"]


# -- fast equals plain


class Plain(GeminiInteractionsDecoder):
    """
    The decoder without its fast path.
    """

    fast = False


def both(chunks):
    results = []
    for cls in (GeminiInteractionsDecoder, Plain):
        made = cls("m")
        found = [made.feed(chunk) for chunk in chunks] + [made.close()]
        results.append((found, made.notes, made.error, made.tail, made.last_event_id))
    return results


FRAMES = [
    D(0, text("a")),
    D(0, text("é🚀")),
    D(0, text("")),
    D(0, text(1)),
    D(1, text("other")),
    D(0.0, text("float")),
    D(-1, text("negative")),
    D(True, text("flag")),
    {**D(0, text("id")), "event_id": "e1"},
    D(0, {**text("more"), "x": 1}),
    D(0, {"text": "bare"}),
    D(0, delta("text", text='quote " \\ \n end')),
    D(2, args('{"a":')),
    D(2, args("1}")),
    D(3, summary("p")),
    D(3, delta("thought_summary", content={"type": "text", "text": "q", "x": 1})),
    D(3, delta("thought_summary", content={"type": "image", "text": "q"})),
    D(3, delta("thought_signature", signature="S=")),
    {"delta": text("order"), "index": 0, "event_type": "step.delta"},
    {**D(0, text("old")), "event_type": "content.delta"},
    {"event_type": "step.delta", "index": 0, "delta": [text("list")]},
]
STARTS = [C(), S(0, mo()), S(1, mo()), S(2, fc()), S(3, th())]


@pytest.mark.parametrize("whole", [True, False], ids=["together", "one by one"])
def test_fast_equals_plain_for_every_pair(whole):
    """
    Any frame after any other, learned or not: the same events, notes and ends.
    """
    for first in FRAMES:
        for second in FRAMES:
            wire = [frame(each) for each in (*STARTS, *[first] * 3, second, first, second, K())]
            fast, plain = both([b"".join(wire)] if whole else wire)

            assert plain == fast


SPELLINGS = [
    b'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"a"}}',
    b'{ "event_type" : "step.delta", "index" : 0, "delta" : { "type" : "text", "text" : "a" } }',
    b'{"delta":{"text":"a","type":"text"},"index":0,"event_type":"step.delta"}',
    b'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"a","text":"b"}}',
    b'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"a"},"delta":{"type":"text","text":"b"}}',
    b'{"event_type":"step.delta","index":0,"index":1,"delta":{"type":"text","text":"a"}}',
    b'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"a"}} ',
    b'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"a"}}x',
    b'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"a}}',
    rb'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"a\"}}',
    rb'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"\u0061\u00e9\ud83d\ude80"}}',
    rb'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"\ud83d"}}',
    rb'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"\ude80"}}',
    rb'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"\x"}}',
    b'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"a\tb"}}',
    b'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"\xff"}}',
    b'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"\xed\xa0\xbd"}}',
    b'{"event_type":"step.delta","index":00,"delta":{"type":"text","text":"a"}}',
    b'{"event_type":"step.delta","index":0e0,"delta":{"type":"text","text":"a"}}',
    b'{"event_type":"step.delta","index":-0,"delta":{"type":"text","text":"a"}}',
    b'{"event_type":"step.delta","index":10,"delta":{"type":"text","text":"a"}}',
    b'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"a"+"b"}}',
    b'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"a","x":"b"}}',
    b'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":""}}',
    b'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":null}}',
    b'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"a"}}\n',
    b'{"event_type":"step.delta","index":0,\ndata: "delta":{"type":"text","text":"a"}}',
]


NAMED = [b"", b"event: step.delta\n", b": c\n", b"event:step.delta\r\n"]


@pytest.mark.parametrize("at", range(len(NAMED)))
def test_fast_equals_plain_for_every_spelling(at):
    """
    However a frame is spelled, and whichever spelling was learned before: the same events, notes and ends.

    Each pair is tried with one of the names in turn, each spelling with all of them; the thorough profile tries all.
    """
    for number, (first, second) in enumerate(product(SPELLINGS, repeat=2)):
        if THOROUGH or number % len(NAMED) == at:
            pieces = [NAMED[at] + b"data: " + each + b"\n\n" for each in (*[first] * 3, second, first)]
            wire = [stream(C(), S(0, mo())), *pieces, stream(K())]

            for chunks in ([b"".join(wire)], wire):
                fast, plain = both(chunks)
                assert plain == fast


@for_each(range(150))
def test_fast_equals_plain_for_damaged_streams(seed):
    """
    The same holds for streams that are damaged and cut at random.
    """
    choose = Random(seed)
    wire = [choose.choice(FRAMES) for _ in range(12)]
    body = mutated(stream(*STARTS, *wire, K(), named=choose.random() < 0.5), choose)
    places = sorted(choose.randrange(len(body) + 1) for _ in range(choose.randrange(6)))
    fast, plain = both([body[start:end] for start, end in pairwise([0, *places, len(body)])])

    assert plain == fast


def test_lone_halves_fold_alike():
    """
    State with half of a pair is equal to itself after it was folded.
    """
    body = stream(C()) + raw(rb'{"event_type":"step.start","index":0,"step":{"type":"thought","signature":"\ud83d"}}')
    [part] = fold(events(body + stream(X(0), K()))).last.parts

    assert State({"i": 0, "signature": "\ud83d"}) == part.state
    assert json.dumps("\ud83d") == json.dumps(part.state["signature"])


def test_citations_of_a_text_with_a_replaced_half():
    """
    Places count in the final text.
    """
    body = stream(C(), S(0, mo())) + raw(
        rb'{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"\ud83dab"}}'
    )
    [part] = message(body + stream(D(0, notes(citation("u", 3, 4))), X(0), K())).parts

    assert (Citation(url="u", start=1, end=2),) == part.citations
    assert started() == durable(body)[0]


# -- fields that collide, frames that are deep


@pytest.mark.parametrize("kind", ["model_output", "thought", "function_call", "google_search_result", "dream"])
def test_a_field_that_is_called_deltas(kind):
    """
    A step may have a field of its own with the name under which unknown deltas are kept.
    """
    odd = delta("sparkle", x=1)
    begun = step(kind, id="c1", call_id="c1", name="f", deltas=1, content=[text("a")])
    made, found = decoded(answer(S(0, begun), D(0, odd), X(0)))
    kept = [event.state["deltas"] for event in found if "deltas" in getattr(event, "state", {})]

    assert None is made.failure
    assert [([odd],)] == [(thaw(deltas),) for deltas in kept]


DEEP = {
    "a call without an id": '"event_type":"step.start","step":{"type":"function_call","name":"f","odd":%s}',
    "arguments": '"event_type":"step.start","step":{"type":"function_call","name":"f","arguments":{"a":%s}}',
    "a call without a name": '"event_type":"step.start","step":{"type":"function_call","arguments":{"a":%s}}',
    "an unknown delta": '"event_type":"step.delta","delta":{"type":"sparkle","x":%s}',
    "an unknown step": '"event_type":"step.start","step":{"type":"dream","x":%s}',
    "a medium": '"event_type":"step.delta","delta":{"type":"image","data":"AAAA","x":%s}',
    "a summary": '"event_type":"step.start","step":{"type":"thought","summary":[{"type":"x","x":%s}]}',
    "an annotation": '"event_type":"step.delta","delta":{"type":"text","text":"a","annotations":[{"x":%s}]}',
    "a result": '"event_type":"step.start","step":{"type":"google_search_result","result":%s}',
    "unknown content": '"event_type":"step.start","step":{"type":"model_output","content":[{"type":"x","x":%s}]}',
    "usage": '"event_type":"interaction.status_update","usage":{"x":%s}',
}


@pytest.mark.parametrize("form", DEEP.values(), ids=DEEP)
def test_deep_frames_are_stored_or_noted(form):
    """
    A frame is used and can be stored and read, or is too deep and becomes a note; it never breaks the decoder.
    """
    noted = []
    for depth in range(150, 205):
        payload = '{"index":0,' + form % ("[" * depth + "]" * depth) + "}"
        body = stream(C()) + b"data: " + payload.encode() + b"\n\n" + stream(X(0), K())
        made, found = decoded(body)

        assert None is made.failure
        assert [event for event in found if event.durable] == [
            loads(dumps(event), Event) for event in found if event.durable
        ]
        noted.append("bad-json" in [note.code for note in made.notes])

    assert sorted(noted) == noted
    assert [False, True] == [noted[0], noted[-1]]


@pytest.mark.parametrize(
    "delta",
    [
        b'{"reasoning_details":[{"type":"reasoning.text","text":"Hm","n":%s}]}',
        b'{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}],"n":%s}]}',
    ],
    ids=["details", "content"],
)
def test_a_huge_integer_beside_a_thought(delta):
    """
    An integer of thousands of digits, which Python prints only when asked to, is kept beside a thought.
    """
    chunk = b'data: {"choices":[{"index":0,"delta":%s}]}\n\n' % (delta % DIGITS)
    end = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    decoder = load_dialect("openai-chat").decoder("a1")
    message = fold([*decoder.feed(chunk * 3 + end), *decoder.close()]).last

    assert ("completed", "HmHmHm") == (message.status, "".join([part.text for part in message.parts]))
    assert DIGITS in write_json([thaw(part.state) for part in message.parts])
