"""
Deltas take the fast path, whatever they are deltas of and however their frames come; other frames do not. The events
are those of the decoder without it.
"""

from collections import Counter
from itertools import pairwise
from random import Random
from unittest.mock import patch

import pytest

from assistant_events import TextDelta
from assistant_events.adapters import AwsEventStream, JsonLines, load_dialect
from assistant_events.adapters.fast_path import DeltaFastPath
from assistant_events.adapters.frame_templates import FrameTemplate
from assistant_events.adapters.gemini_interactions import GeminiInteractionsDecoder
from assistant_events.errors import LocalProtocolError
from assistant_events.event_lists import EventList
from assistant_events.reducer import Builder
from assistant_events.values import write_json
from tests.each import check_each, for_each
from tests.fuzz.generated import noisy
from tests.fuzz.generated import stream as generated
from tests.fuzz.seeds import recorded

from . import padded
from .notation import C, D, K, S, X, args, decoder, delta, fc, frame, mo, summary, text, th
from .padded import DECODERS, FieldsDecoder, LinesDecoder, NamedDecoder, PaddedDecoder, written

COUNT = 10
LEARNED_FROM = 3
KINDS = {
    "text": (mo(), text("word")),
    "reasoning summary": (th(), summary("word")),
    "arguments": (fc(), args("1")),
}


@pytest.fixture
def taken(monkeypatch):
    """
    The form of each frame that took the fast path, in their order.
    """
    found = []
    take, take_payload = DeltaFastPath.take, DeltaFastPath.take_payload
    append_run = DeltaFastPath.append_run

    def counted(path, frame):
        event = take(path, frame)
        if event is not None:
            found.append("framed")
        return event

    def counted_payload(path, payload):
        event = take_payload(path, payload)
        if event is not None:
            found[-1] = "bare"
        return event

    def counted_run(path, data, start, sink):
        before = len(sink)
        end = append_run(path, data, start, sink)
        found.extend(["run" for event in sink[before:] if not event.durable])
        return end

    monkeypatch.setattr(DeltaFastPath, "take", counted)
    monkeypatch.setattr(DeltaFastPath, "take_payload", counted_payload)
    monkeypatch.setattr(DeltaFastPath, "append_run", counted_run)
    return found


# -- which frames take it


@pytest.mark.parametrize(("step", "piece"), KINDS.values(), ids=KINDS)
def test_frames_that_come_one_by_one(taken, step, piece):
    """
    The template is learned from the third delta; each one after it takes the fast path as the frame that it is.
    """
    made = decoder()
    found = [event for each in (C(), S(0, step), *[D(0, piece)] * COUNT) for event in made.feed(frame(each))]

    assert ["framed"] * (COUNT - LEARNED_FROM) == taken
    assert COUNT == sum(event.type.endswith(".delta") for event in found)


@pytest.mark.parametrize(("step", "piece"), KINDS.values(), ids=KINDS)
def test_frames_that_come_together(taken, step, piece):
    """
    The frames of a chunk that follow each other are taken at once.
    """
    made = decoder()
    made.feed(b"".join(map(frame, (C(), S(0, step), *[D(0, piece)] * COUNT))))
    made.feed(b"".join([frame(D(0, piece))] * COUNT))

    assert ["run"] * (2 * COUNT - LEARNED_FROM) == taken


@pytest.mark.parametrize(("step", "piece"), KINDS.values(), ids=KINDS)
def test_a_frame_that_comes_in_two_chunks(taken, step, piece):
    """
    A frame that a chunk border cuts is put together, and takes the fast path with those after it.
    """
    made = decoder()
    made.feed(b"".join(map(frame, (C(), S(0, step), *[D(0, piece)] * LEARNED_FROM))))
    body = b"".join([frame(D(0, piece))] * COUNT)
    made.feed(body[:30])
    made.feed(body[30:])

    assert ["run"] * COUNT == taken


def test_a_decoder_without_it(taken):
    """
    Every frame is decoded in full.
    """
    made = decoder()
    made.fast = False
    frames = [frame(each) for each in (C(), S(0, mo()), *[D(0, text("word"))] * COUNT)]
    found = [event for chunk in (*frames, b"".join(frames[2:])) for event in made.feed(chunk)]

    assert [] == taken
    assert 2 * COUNT == sum(event.type == "text.delta" for event in found)


@pytest.mark.parametrize("live", [True, False], ids=["one by one", "together"])
def test_each_piece_of_a_summary_is_an_item_of_it(taken, live):
    """
    The state of a thought, which is sent back, has the texts of its frames as they were cut.
    """
    made = decoder()
    pieces = [D(0, delta("thought_summary", content={"type": "text", "text": f"word {at}"})) for at in range(COUNT)]
    signed = D(0, delta("thought_signature", signature="czE="))
    frames = [frame(each) for each in (C(), S(0, {"type": "thought"}), *pieces, signed, X(0))]
    found = [event for chunk in (frames if live else [b"".join(frames)]) for event in made.feed(chunk)]
    [ended] = [event for event in found if event.type == "reasoning.ended"]

    assert ["framed" if live else "run"] * (COUNT - LEARNED_FROM) == taken
    assert [f"word {at}" for at in range(COUNT)] == [item["text"] for item in ended.state["summary"]]


def test_pieces_of_a_summary_behind_its_stop():
    """
    They are items of the further part, where the first has those before: none is lost.
    """
    made = decoder()
    pieces = [D(0, delta("thought_summary", content={"type": "text", "text": f"word {at}"})) for at in range(2 * COUNT)]
    frames = [C(), S(0, {"type": "thought"}), *pieces[:COUNT], X(0), *pieces[COUNT:], X(0)]
    found = made.feed(b"".join(map(frame, frames)))
    ended = [event for event in found if event.type == "reasoning.ended"]

    assert [f"word {at}" for at in range(2 * COUNT)] == [
        item["text"] for each in ended for item in each.state["summary"]
    ]


@pytest.mark.parametrize("made_of", [bytearray, memoryview])
def test_a_frame_that_is_not_bytes(made_of):
    """
    It is read like others when the fast path expects a frame.
    """
    made = decoder()
    for each in (C(), S(0, mo()), *[D(0, text("word"))] * COUNT):
        made.feed(frame(each))

    [event] = made.feed(made_of(frame(D(0, text("word")))))
    assert ("word", 4 * COUNT) == (event.delta, event.offset)


def test_a_payload_without_its_frame():
    """
    Where the lines around a payload are unusual, one without any is ignored, though a frame is expected.
    """
    made = decoder()
    for each in (C(), S(0, mo()), *[D(0, text("word"))] * COUNT):
        made.feed(b"retry: 1\n" + frame(each))

    assert [] == made.feed(write_json(D(0, text("word"))) + b"\n")
    assert [] == made.feed(b"\n\n")


def with_known_text():
    """
    Return a decoder that has learned the template of texts.
    """
    made = decoder()
    made.feed(b"".join(map(frame, (C(), S(0, mo()), *[D(0, text("word"))] * LEARNED_FROM, X(0)))))
    return made


@pytest.mark.parametrize("live", [True, False], ids=["one by one", "together"])
def test_a_text_whose_first_frame_takes_the_fast_path(taken, live):
    """
    The first delta opens the text, as it does without the fast path.
    """
    made = with_known_text()
    frames = [frame(each) for each in (S(1, mo()), *[D(1, text("ab"))] * 3, X(1))]
    found = [event for chunk in (frames if live else [b"".join(frames)]) for event in made.feed(chunk)]

    assert ["framed" if live else "run"] * 3 == taken
    assert ["text.started", *["text.delta"] * 3, "text.ended"] == [event.type for event in found]
    assert [0, 2, 4] == [event.offset for event in found if event.type == "text.delta"]
    assert "ababab" == found[-1].text


def test_a_step_without_text_that_might_have_begun_one(taken):
    """
    An image, an empty delta or the end of the step opens no text.
    """
    made = with_known_text()
    image = delta("image", data="aGk=", mime_type="image/png")
    found = [event for each in (S(1, mo()), D(1, text("")), D(1, image), X(1)) for event in made.feed(frame(each))]

    assert [] == taken
    assert ["media.started", "media.ended"] == [event.type for event in found]


def data(*documents):
    """
    Return documents as events without names.
    """
    return b"".join([b"data: %b\n\n" % write_json(each) for each in documents])


def block(index):
    """
    Return the events of a block of Anthropic with five deltas.
    """
    given = {"type": "text", "text": ""}
    piece = {"type": "text_delta", "text": "word"}
    return data(
        {"type": "content_block_start", "index": index, "content_block": given},
        *[{"type": "content_block_delta", "index": index, "delta": piece}] * 5,
        {"type": "content_block_stop", "index": index},
    )


def call(index):
    """
    Return the chunks of a call of Chat Completions with an id in the first of six.
    """
    known = [{"id": f"c{index}", "function": {"name": "f", "arguments": ""}}, *[{"function": {"arguments": "1"}}] * 5]
    return data(*[{"choices": [{"index": 0, "delta": {"tool_calls": [{"index": index, **each}]}}]} for each in known])


def tool(index):
    """
    Return the events of a call of Bedrock with five deltas.
    """
    start = {"start": {"toolUse": {"toolUseId": f"c{index}", "name": "f"}}, "contentBlockIndex": index}
    delta = {"delta": {"toolUse": {"input": "1"}}, "contentBlockIndex": index}
    written = [{"contentBlockStart": start}, *[{"contentBlockDelta": delta}] * 5]
    written.append({"contentBlockStop": {"contentBlockIndex": index}})
    return b"".join([AwsEventStream.frame(None, each) for each in written])


STARTS = {
    "anthropic-messages": (block, 2),
    "openai-chat": (call, 1),
    "bedrock-converse": (tool, 2),
}


@pytest.mark.parametrize("name", STARTS)
def test_the_first_delta_of_a_block_that_has_started(name):
    """
    Once its template is known, no delta of the next block is decoded in full, also not the first.
    """
    write, others = STARTS[name]
    made = load_dialect(name).decoder("a1")
    made.feed(write(0))
    with patch.object(made, "on_event", side_effect=made.on_event) as decoded:
        found = made.feed(write(1))

    assert others == decoded.call_count
    assert [*range(5)] == [event.offset // len(event.delta) for event in found if event.type.endswith(".delta")]


def test_the_run_of_a_fragment_is_as_long_as_that_before(monkeypatch):
    """
    A fragment as long as the last one is read at once, not in pieces that grow; what follows it is not looked through.
    """
    cuts = []
    cut = DeltaFastPath._append_exact
    monkeypatch.setattr(
        DeltaFastPath, "_append_exact", lambda path, *given: cuts.append(path.number) or cut(path, *given)
    )
    made = decoder()
    run = b"".join([frame(D(2, text("word" * 20)))] * 60)
    for index in range(3):
        made.feed(frame(S(index, mo())) + run.replace(b'"index":2', b'"index":%d' % index) + frame(X(index)))
    [path] = made._fast_paths.values()

    assert 1 == cuts.count(2) < cuts.count(0)
    assert len(run) <= path.learner.window < 1.25 * len(run)


@pytest.mark.parametrize("named", [True, False], ids=["named", "without a name"])
def test_frames_with_and_without_an_event_name(taken, named):
    """
    The bytes before a payload are learned too.
    """
    made = decoder()
    for each in (C(), S(0, mo()), *[D(0, text("word"))] * COUNT):
        made.feed(frame(each, named=named))

    assert ["framed"] * (COUNT - LEARNED_FROM) == taken


@pytest.mark.parametrize(("step", "piece"), KINDS.values(), ids=KINDS)
def test_a_new_step_of_a_kind_that_is_known(taken, step, piece):
    """
    A template serves the next step of its kind, with its own index, from its first delta on.
    """
    made = decoder()
    for each in (C(), S(0, step), *[D(0, piece)] * LEARNED_FROM):
        made.feed(frame(each))
    made.feed(frame(S(12, {**step, "id": "c2"} if "id" in step else step)))
    with patch.object(FrameTemplate, "learn", side_effect=AssertionError):
        found = [event for _ in range(COUNT) for event in made.feed(frame(D(12, piece)))]

    assert ["framed"] * COUNT == taken
    assert None is made.failure
    deltas = [event for event in found if event.type.endswith(".delta")]
    assert [len(deltas[0].delta) * number for number in range(COUNT)] == [event.offset for event in deltas]


WITH_MORE = {
    "in the event": {**D(0, text("a")), "more": 1},
    "in a text": D(0, {**text("a"), "more": 1}),
    "in arguments": D(1, {**args("1"), "more": 1}),
    "in a summary": D(2, {**summary("a"), "more": 1}),
    "in the content of a summary": D(2, delta("thought_summary", content={"type": "text", "text": "a", "more": 1})),
    "an image with a text": D(2, delta("thought_summary", content={"type": "image", "text": "a"})),
}


@pytest.mark.parametrize("event", WITH_MORE.values(), ids=WITH_MORE)
def test_deltas_with_other_fields(taken, event):
    """
    Deltas with undeclared fields beside their text never take the fast path, which would lose these fields.
    """
    made = decoder()
    for each in (C(), S(0, mo()), S(1, fc()), S(2, th()), *[event] * COUNT):
        made.feed(frame(each))

    assert [] == taken


NOISE = {
    "spaces": lambda at: ({}, at),
    "a counter": lambda at: ({"sequence": at}, 0),
    "a fraction": lambda at: ({"created": at + 0.5}, 0),
    "a random string": lambda at: ({"noise": "r" * at}, 0),
    "usage": lambda at: ({"usage": {"output": at, "by": [{"count": at}]}}, 0),
    "an id": lambda at: ({"id": f"i{at}"}, 0),
    "all text so far, and sources": lambda at: ({"whole": {"text": 'é🚀"\\\n' * at}, "sources": [{"title": "A"}]}, 0),
    "all of it": lambda at: ({"id": f"i{at}", "sequence": at, "noise": "r" * at, "usage": {"output": at}}, at),
}


@pytest.mark.parametrize("cls", DECODERS[:3])
@pytest.mark.parametrize("first", [True, False], ids=["noise first", "noise last"])
@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
def test_frames_with_noise(taken, noise, first, cls):
    """
    What a dialect declares as loose or counted may differ from frame to frame, before the text or after it.
    """
    made = cls("m")
    for at in range(COUNT):
        fields, padding = noise(at)
        event = {**fields, **padded.delta()} if first else {**padded.delta(), **fields}
        made.feed(written(event, cls, padding=padding))

    assert ["framed"] * (COUNT - LEARNED_FROM) == taken
    assert None is made.failure


UNLIKE = {
    "a string with an escape": {"noise": '"'},
    "a number too long": {"sequence": 10**18},
    "null": {"sequence": None},
    "another structure": {"usage": {"other": 1}},
    "an id again": {"id": "i1"},
    "another index": {"index": 1},
    "something beside a snapshot": {"whole": {"text": "a", "role": "user"}},
    "other sources": {"sources": [2]},
}


@pytest.mark.parametrize("change", UNLIKE.values(), ids=UNLIKE)
def test_noise_that_does_not_match(taken, change):
    """
    A value that needs a parser, or means something, is decoded in full; the frame after it takes the fast path again,
    when this one continued the same fragment.
    """
    made = PaddedDecoder("m")
    for at in range(COUNT):
        event = padded.delta(
            sequence=at, noise="r", usage={"output": at}, id=f"i{at}", whole={"text": "a"}, sources=[1]
        )
        made.feed(written({**event, **change} if at == COUNT - 2 else event))

    assert ["framed"] * (COUNT - LEARNED_FROM - 1 - ("index" in change or "id" in change)) == taken


def test_where_nothing_matches_learning_ends(taken):
    """
    Frames that never match the one before them cost five templates, however many there are.
    """
    made = PaddedDecoder("m")
    with patch.object(FrameTemplate, "learn", wraps=FrameTemplate.learn) as learn:
        for at in range(1_000):
            made.feed(written(padded.delta(role=at)))

    assert (5, []) == (learn.call_count, taken)


def test_a_template_is_learned_again():
    """
    When constant values change in the middle of an answer, the frames after that take the fast path, too.
    """
    made = PaddedDecoder("m")
    with patch.object(FrameTemplate, "learn", wraps=FrameTemplate.learn) as learn:
        for at in range(1_000):
            made.feed(written(padded.delta(role=at // 100)))

    assert 10 == learn.call_count


# -- fields that count


def test_the_last_usage_counts():
    """
    The counted fields of the last frame are read when the fast path closes, and when they are asked for.
    """
    made = PaddedDecoder("m")
    for at in range(COUNT):
        made.feed(written(padded.delta(usage={"output": at}, id=f"i{at}"), padding=at))
    made.catch_up()

    assert {"usage": {"output": 9}, "id": "i9"} == made.counted


def test_a_cursor_on_the_fast_path(taken):
    """
    The cursor of a background run is exact after every frame, and `None` once a frame without one has come.
    """
    made = decoder()
    for each in (C(), S(0, mo())):
        made.feed(frame(each))
    cursors = []
    for at in range(COUNT):
        made.feed(frame({**D(0, text("word")), "event_id": f"e{at}"}))
        cursors.append((made.cursor, made.last_event_id))
    made.feed(frame(D(0, text("word"))))

    assert [(f"e{at}", f"e{at}") for at in range(COUNT)] == cursors
    assert (None, "e9") == (made.cursor, made.last_event_id)
    assert ["framed"] * (COUNT - LEARNED_FROM) == taken


def test_an_event_that_comes_twice_on_the_fast_path(taken):
    """
    A delta whose id was seen, here or in full, is left out.
    """
    made = decoder()
    ids = ["e0", "e1", "e2", "e3", "e4", "e4", "e1", "e5"]
    events = [C(), S(0, mo()), *[{**D(0, text("a")), "event_id": each} for each in ids]]
    found = [event for each in events for event in made.feed(frame(each))]

    assert 6 == sum(isinstance(event, TextDelta) for event in found)
    assert ["framed"] * 2 == taken


@pytest.mark.parametrize(
    "beside", [lambda usage: {"usage": usage}, lambda usage: {"metadata": {"total_usage": usage}}], ids=["own", "total"]
)
def test_usage_on_the_way(beside):
    """
    Usage that deltas on the fast path have is that of a run without another one; a null is none.
    """
    made = decoder()
    counts = [*range(COUNT), None]
    for each in (C(), S(0, mo()), *[{**D(0, text("a")), **beside({"total_output_tokens": at})} for at in counts]):
        made.feed(frame(each))
    (*_, failed) = made.close()

    assert 9 == failed.usage.output_tokens


# -- the same events as without it


def folded(found, form):
    """
    Return the transcript of the lists of events in *found*, each in this form.
    """
    builder = Builder()
    for events in found:
        if isinstance(events, list):
            builder.extend(form(events))
    return builder.transcript


def holds(run, events):
    """
    Return whether the deltas of a run are in its list, and add up to its text.
    """
    return run.deltas == events[run.at :][: len(run.deltas)] and run.text == "".join(each.delta for each in run.deltas)


def both(cls, chunks):
    """
    Return what a decoder makes of a stream with the fast path, and without.
    """
    results = []
    for fast in (True, False):
        made = cls("m")
        made.fast = fast
        found = []
        for chunk in chunks:
            found.append(made.feed(chunk))
            if len(found) % 7 == 0:
                made.catch_up()
                found.append(counted(made))
        found.append(made.close())
        assert None is made.failure
        assert folded(found, list) == folded(found, EventList)
        assert all(holds(run, events) for events in found if isinstance(events, EventList) for run in events.runs)
        results.append((found, made.notes, made.error, made.tail, counted(made)))
    return results


@pytest.mark.parametrize("cls", [PaddedDecoder, LinesDecoder])
def test_what_comes_of_counted_fields(cls):
    """
    Events that a decoder makes of them, when they are asked for between two chunks, are given before the next delta.
    """

    class Reporting(cls):
        def on_skipped(self, counted):
            super().on_skipped(counted)
            if counted and self.recorder.started:
                self.recorder.opaque(counted)

    chunks = [written(padded.delta(usage={"output": at}), cls) for at in range(40)]
    fast = Reporting("m")
    found = []
    for chunk in chunks:
        found += fast.feed(chunk)
        fast.catch_up()
    asked = [event.type for event in found if event.type in ("text.delta", "opaque.received")]

    assert None is fast.failure
    assert ["opaque.received", "text.delta"] * 30 == asked[-60:]


def test_what_ends_the_answer_between_two_frames():
    """
    After an end that did not come as bytes, and after `close`, nothing is taken any more.
    """
    made, closed = PaddedDecoder("m"), PaddedDecoder("m")
    for each in (made, closed):
        assert [1] * COUNT == [len(each.feed(written(padded.delta()))) for _ in range(COUNT + 1)][1:]
    made.feed_event({"type": "end"})
    closed.close()

    assert [] == made.feed(written(padded.delta()))
    with pytest.raises(LocalProtocolError, match="closed"):
        closed.feed(written(padded.delta()))


def test_deltas_that_were_parsed_elsewhere(taken):
    """
    Nothing is learned from them, for their bytes are not known; those that come as bytes take the fast path.
    """
    made = PaddedDecoder("m")
    for _ in range(COUNT):
        made.feed_event(padded.delta())
    found = [event for _ in range(COUNT) for event in made.feed(written(padded.delta()))]

    assert None is made.failure
    assert [*range(COUNT, 2 * COUNT)] == [event.offset for event in found]
    assert ["framed"] * (COUNT - LEARNED_FROM) == taken


def counted(made):
    if isinstance(made, PaddedDecoder):
        return made.counted, sorted(made.frame_ids)
    return made.cursor, made.last_event_id


def cut(body, random):
    places = sorted(random.randrange(len(body) + 1) for _ in range(random.randrange(30)))
    return [body[start:end] for start, end in pairwise([0, *places, len(body)])]


@pytest.mark.parametrize("cls", DECODERS)
def test_runs_are_taken_together(taken, cls):
    """
    Whatever ends a frame; the first few are learned from.
    """
    frames = [written(padded.delta(text="word", noise="n" * at), cls) for at in range(25)]
    made = cls("m")
    made.feed(b"".join(frames[:5]))
    made.feed(b"".join(frames[5:]))

    assert ["bare" if cls is FieldsDecoder else "run"] * 20 == taken[-20:]


@pytest.mark.parametrize("cls", DECODERS)
def test_fast_equals_plain_on_a_noisy_wire(cls):
    """
    Law 5 on a made-up wire, whole, frame by frame and cut anywhere.
    """
    check_each({seed: (seed, cls) for seed in range(40)}, fast_equals_plain)


def fast_equals_plain(seed, cls):
    random = Random(seed)
    frames = padded.frames(random, cls)
    body = b"".join(frames)

    for chunks in ([body], frames, cut(body, random)):
        fast, plain = both(cls, chunks)
        assert plain == fast


@for_each(range(100))
def test_fast_equals_plain_on_generated_streams(seed):
    """
    Law 5 on generated streams with the noise of recordings.
    """
    random = Random(seed)
    body = noisy(generated(random), random)
    fast, plain = both(GeminiInteractionsDecoder, cut(body, random))

    assert plain == fast


def test_fast_equals_plain_on_recorded_streams():
    """
    Law 5 on recordings with noise added to each of their frames.
    """
    for at, stream in enumerate(recorded("gemini-interactions")):
        random = Random(at)
        fast, plain = both(GeminiInteractionsDecoder, cut(noisy(stream.body, random), random))
        assert plain == fast


def test_names_beside_documents_where_lines_end_with_cr():
    """
    Where a frame has its type in the name beside it, payloads that are alike are of different frames.
    """
    kinds = ["text"] * 8 + ["reasoning"] * 4 + ["text", "reasoning"] * 4
    stream = [written(padded.delta(kind), NamedDecoder).replace(b"\n", b"\r") for kind in kinds]
    fast, plain = both(NamedDecoder, [b"".join(stream[:6]), b"".join(stream[6:])])

    assert plain == fast
    assert {"text.delta": 12, "reasoning.delta": 8} == Counter(
        event.type for events in fast[0] for event in events if event.type.endswith(".delta")
    )


def test_the_noise_takes_the_fast_path(taken):
    """
    The streams above take the fast path: nearly all deltas of a long answer do.
    """
    wire = [C(), S(0, mo()), *[D(0, text("word"))] * 100, K()]
    for seed in range(10):
        made = decoder()
        made.feed(noisy(b"".join(map(frame, wire)), Random(seed)))

    assert 800 < len(taken) <= 970


NUMBERED = {
    "anthropic-messages": ("index", {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "a"}}),
    "bedrock-converse": ("contentBlockIndex", {"delta": {"reasoningContent": {"text": "a"}}}),
    "gemini-interactions": ("index", {"event_type": "step.delta", "delta": {"type": "text", "text": "a"}}),
    "openai-responses": ("output_index", {"type": "response.output_text.delta", "content_index": 0, "delta": "a"}),
}


@pytest.mark.parametrize("is_live", [False, True], ids=["at once", "one by one"])
@pytest.mark.parametrize("name", NUMBERED)
def test_frames_without_a_number_among_those_of_item_0(name, is_live):
    """
    They are of another item, whichever of them a template was learned from.
    """
    key, frame = NUMBERED[name]
    numbers = [0] * 8 + [None] + [0] * 2 + [None] * 8 + [0] * 2 + [1, None, 0, None, None, 0]
    frames = [frame if number is None else {key: number, **frame} for number in numbers]
    if name == "bedrock-converse":
        frames = [{"contentBlockDelta": each} for each in frames]
    lines = [write_json(each) + b"\n" for each in frames]
    results = []
    for fast in (True, False):
        tried = load_dialect(name).decoder("a1", framing=JsonLines)
        tried.fast = fast
        given = [tried.feed(line) for line in (lines if is_live else [b"".join(lines)])]
        results.append(([event for each in given for event in each] + tried.close(), tried.notes))

    assert results[1] == results[0]
