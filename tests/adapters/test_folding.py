"""
Cases 1 to 16 of the wire reference: texts, thoughts, media, citations, usage.
"""

import pytest

from assistant_events import TextDelta, UserMessage, fold
from assistant_events.adapters.gemini_interactions.citations import byte_length
from assistant_events.values import Citation, Usage

from .notation import (
    DIALECT,
    DONE,
    MODEL,
    USAGE,
    C,
    D,
    E,
    K,
    S,
    U,
    X,
    answer,
    citation,
    codes,
    decoded,
    delta,
    durable,
    ended,
    events,
    inner,
    media_of,
    message,
    mo,
    notes,
    reasoning_of,
    signature,
    started,
    step,
    stream,
    summary,
    terminal,
    text,
    text_of,
    th,
)

PNG = "iVBORw0KGgo="
PNG_BYTES = b"\x89PNG\r\n\x1a\n"


def test_c1_plain_text():
    """
    Created, text and completed are four durable events.
    """
    body = stream(C(), U(), S(0, mo()), D(0, text("Hel")), D(0, text("lo")), X(0), K(), DONE)

    assert [started(), *text_of("Hello"), ended()] == durable(body)


def test_c1_deltas_carry_their_offsets():
    """
    Each delta has the length of the text before it.
    """
    body = answer(S(0, mo()), D(0, text("Hä")), D(0, text("lo")), X(0))

    assert [
        TextDelta(message_id="m", offset=0, delta="Hä"),
        TextDelta(message_id="m", offset=2, delta="lo"),
    ] == events(body)[2:4]


def test_c2_signed_thought_without_text():
    """
    A thought that has only a signature is kept, for the signature is sent back.
    """
    body = answer(S(0, th()), D(0, signature("A=")), X(0), S(1, mo()), D(1, text("x")), X(1))

    assert [*reasoning_of("", signature="A="), *text_of("x", 1)] == inner(body)


def test_c3_thought_text_then_signature():
    """
    A thought ends with its step, not with its signature; items of the summary are kept as they came.
    """
    body = answer(S(0, th()), D(0, summary("p")), D(0, summary("q")), D(0, signature("A=")), X(0))
    items = [{"type": "text", "text": "p"}, {"type": "text", "text": "q"}]

    assert reasoning_of("pq", signature="A=", summary=items) == inner(body)


def test_c3_no_end_before_the_stop():
    """
    Nothing ends a thought before its stop: the signature comes last.
    """
    body = stream(C(), S(0, th()), D(0, summary("p")), D(0, signature("A=")))

    assert ["step.started", "reasoning.started", "reasoning.delta"] == [e.type for e in events(body)[:-2]]


def test_c4_empty_signatures_interleaved():
    """
    Deep Research sends empty signatures between summaries: they are none.
    """
    body = answer(S(0, th()), D(0, summary("a")), D(0, signature("")), D(0, summary("b")), D(0, signature("")), X(0))

    assert reasoning_of("ab", summary=[summary("a")["content"], summary("b")["content"]]) == inner(body)


def test_c5_real_signature_then_empty():
    """
    An empty signature does not replace a real one.
    """
    assert reasoning_of("", signature="A=") == inner(
        answer(S(0, th()), D(0, signature("A=")), D(0, signature("")), X(0))
    )


def test_c5_the_last_signature_counts():
    """
    Signatures replace each other; they are never joined.
    """
    assert reasoning_of("", signature="B=") == inner(
        answer(S(0, th()), D(0, signature("A=")), D(0, signature("B=")), X(0))
    )


def test_c6_signature_placeholder_in_start():
    """
    An empty signature at the start is a place for the one that follows; a summary there is the first piece.
    """
    start = th(signature="", summary=[{"type": "text", "text": "p"}])

    assert reasoning_of("p", signature="A=") == inner(answer(S(0, start), D(0, signature("A=")), X(0)))


def test_c7_prefilled_text():
    """
    Deltas append to content that came with the start.
    """
    assert text_of("Prefix") == inner(answer(S(0, mo("Pre")), D(0, text("fix")), X(0)))


def test_c8_prefill_only():
    """
    Content that came with the start may be all there is.
    """
    assert text_of("All") == inner(answer(S(0, mo("All")), X(0)))


def test_c9_two_outputs_around_a_thought():
    """
    Each output is a text of its own.
    """
    body = answer(
        *(S(0, mo()), D(0, text("A")), X(0)),
        *(S(1, th()), D(1, signature("s")), X(1)),
        *(S(2, mo()), D(2, text("B")), X(2)),
    )

    assert [*text_of("A"), *reasoning_of("", 1, signature="s"), *text_of("B", 2)] == inner(body)


def test_c10_text_image_text_in_one_step():
    """
    A media item ends the text before it; what follows is a new text of the same step.
    """
    image = delta("image", data=PNG, mime_type="image/png")
    body = answer(S(0, mo()), D(0, text("a")), D(0, image), D(0, text("b")), X(0))

    assert [*text_of("a"), *media_of("image/png", PNG_BYTES, type="image"), *text_of("b")] == inner(body)


def test_c11_thought_with_image_summary():
    """
    Summary items that are not text are kept raw, beside the texts.
    """
    image = {"type": "image", "data": PNG, "mime_type": "image/png"}
    body = answer(
        *(S(0, th()), D(0, summary("see")), D(0, delta("thought_summary", content=image))),
        *(D(0, signature("A=")), X(0)),
    )

    assert reasoning_of("see", signature="A=", summary=[summary("see")["content"], image]) == inner(body)


def test_c12_empty_text_deltas():
    """
    An output without text is not a part.
    """
    assert [] == inner(answer(S(0, mo()), D(0, text("")), X(0)))


def test_annotations_of_a_transcription_are_details():
    """
    Words and speakers are facts about the text: they are in its details, are written back, and are never sent.
    """
    word = {"type": "word_info", "text": "Hi", "speaker": "A", "start_index": 0, "end_index": 2}
    source = {"type": "url_citation", "url": "https://e.x/", "start_index": 0, "end_index": 2}
    note = {"type": "text_annotation_delta", "annotations": [word, source]}
    _, events = decoded(answer(S(0, mo("Hi")), D(0, note), X(0)))
    [part] = fold(events).last.parts
    emitter = DIALECT.emitter()
    frames = [frame for event in events for frame in emitter.emit(event)] + emitter.close()

    assert ({"annotations": (word,)}, (source,)) == (part.details, part.state["annotations"])
    assert fold(events) == fold(decoded(b"".join(map(emitter.to_bytes, frames)))[1])
    assert [source, word] == DIALECT.emit_resource(fold(events).last)["steps"][0]["content"][0]["annotations"]
    messages = [*fold(events).messages, UserMessage(id="u2", content="Go on")]
    encoded = DIALECT.encoder(messages, {"model": MODEL}, mode="full")
    assert [source] == encoded.body["input"][0]["content"][0]["annotations"]


PLACES = {
    "url_citation": ("url", "title"),
    "file_citation": ("document_uri", "file_name"),
    "place_citation": ("url", "name"),
}


@pytest.mark.parametrize("kind", PLACES)
def test_fields_of_citations(kind):
    """
    Each type has its own fields for the address and the name (section 4.7).
    """
    url, title = PLACES[kind]
    note = {"type": kind, url: "https://e.x/", title: "E", "start_index": 0, "end_index": 2}
    [part] = message(answer(S(0, mo("Hi")), D(0, notes(note)), X(0))).parts

    assert (Citation(url="https://e.x/", title="E", start=0, end=2),) == part.citations


@pytest.mark.parametrize(
    "note", [{"type": "speech_metadata", "speaker": "A", "style": "calm"}, {"type": "word_info", "text": "Hi"}]
)
def test_what_is_no_citation(note):
    """
    Words and speakers are details of the text.
    """
    [part] = message(answer(S(0, mo("Hi")), D(0, notes(note)), X(0))).parts

    assert ((), {"annotations": (note,)}, {}) == (part.citations, part.details, part.state.get("annotations", {}))


def test_the_length_of_a_long_text():
    """
    It is counted in pieces, also where all of a piece are letters of two bytes, or half a character of three.
    """
    for text_, length in (("é" * (1 << 14), 2 << 14), ("é" * (1 << 15) + "a", (2 << 15) + 1), ("é\ud800", 5)):
        assert length == byte_length(text_)


def test_c13_annotations_after_text():
    """
    Annotations are kept once each, in their order, and become citations.
    """
    one, two = citation("https://e.x/", 0, 2), citation("https://f.x/", 2, 5, title="F")
    body = answer(S(0, mo()), D(0, text("Hello")), D(0, notes(one, two)), D(0, notes(one)), X(0))

    assert text_of(
        "Hello",
        citations=(
            Citation(url="https://e.x/", start=0, end=2),
            Citation(url="https://f.x/", title="F", start=2, end=5),
        ),
        annotations=[one, two],
    ) == inner(body)


def test_c14_non_ascii_offsets():
    """
    The wire counts bytes of UTF-8 and the state keeps them so; citations count code points.
    """
    one = citation("https://e.x/", 0, 6)
    body = answer(S(0, mo()), D(0, text("æøå!")), D(0, notes(one)), X(0))

    assert text_of("æøå!", citations=(Citation(url="https://e.x/", start=0, end=3),), annotations=[one]) == inner(body)


def test_c14_offsets_inside_a_character_or_outside():
    """
    An offset that falls inside a character, or beyond the text, is unknown.
    """
    inside, beyond = citation("https://e.x/", 1, 2), citation("https://f.x/", 0, 99)
    [part] = message(answer(S(0, mo()), D(0, text("æø")), D(0, notes(inside, beyond)), X(0))).parts

    assert [(None, 1), (0, None)] == [(each.start, each.end) for each in part.citations]


def test_c14_offsets_behind_several_media():
    """
    All texts before count.
    """
    here = citation("https://e.x/", 6, 8)
    image = delta("image", data="iVBORw==", mime_type="image/png")
    said = [D(0, text("æ!")), D(0, image), D(0, text("ø!")), D(0, image), D(0, text("so"))]
    found = message(answer(S(0, mo()), *said, D(0, notes(here)), X(0)))

    assert (Citation(url="https://e.x/", start=0, end=2),) == found.parts[-1].citations


def test_c14_offsets_behind_media():
    """
    In a stream they count in all text of the step; a source of a text that has ended keeps no place.
    """
    here, before = citation("https://e.x/", 3, 6), citation("https://f.x/", 0, 3)
    image = delta("image", data="iVBORw==", mime_type="image/png")
    body = answer(S(0, mo()), D(0, text("æ!")), D(0, image), D(0, text("øh")), D(0, notes(here, before)), X(0))
    found = message(body)

    assert (
        Citation(url="https://e.x/", start=0, end=2),
        Citation(url="https://f.x/"),
    ) == found.parts[2].citations
    assert [citation("https://e.x/", 0, 3), {"type": "url_citation", "url": "https://f.x/"}] == [
        dict(each) for each in found.parts[2].state["annotations"]
    ]
    assert found.parts == fold(DIALECT.decode_resource(DIALECT.emit_resource(found), "m")).last.parts


def test_c15_string_summary():
    """
    Previews had a bare string where items belong.
    """
    assert reasoning_of("hello") == inner(answer(S(0, th(summary="hello")), X(0)))


@pytest.mark.parametrize("field", ["text", "thought", "content", "summary"])
@pytest.mark.parametrize("kind", ["thought", "thought_summary"])
def test_other_forms_of_a_summary(kind, field):
    """
    Pages of the provider, 1.x and an old mock server name the text of a thought differently; all of it is read.
    """
    wire = (S(0, th()), D(0, delta(kind, **{field: "p"})), D(0, delta(kind, **{field: "q"})), X(0))

    assert "pq" == inner(answer(*wire))[-1].text


def test_a_summary_that_two_fields_name_counts_once():
    """
    A delta that has the same text twice, as content and beside it, adds it once.
    """
    both = delta("thought_summary", content={"type": "text", "text": "p"}, text="p")

    assert reasoning_of("p") == inner(answer(S(0, th()), D(0, both), X(0)))


def test_an_item_of_a_summary_that_is_no_text():
    """
    What an image of a summary has as its text is not reasoning, and stays in the state.
    """
    image = {"type": "image", "data": "YQ==", "text": "alt"}

    assert reasoning_of("", summary=[image]) == inner(answer(S(0, th(summary=[image])), X(0)))
    assert reasoning_of("", summary=[image]) == inner(
        answer(S(0, th()), D(0, delta("thought_summary", content=image)), X(0))
    )


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(mo(content="Hi"), id="content as text"),
        pytest.param(mo(content=["Hi"]), id="content as a list of text"),
        pytest.param(mo(content={"type": "text", "text": "Hi"}), id="content as one block"),
        pytest.param(mo(text="Hi"), id="text beside the type"),
    ],
)
def test_other_forms_of_content(step):
    """
    Text of an output is read in each form that it plausibly has.
    """
    assert text_of("Hi") == inner(answer(S(0, step), X(0)))


def test_c16_usage_normalised():
    """
    The input includes cached tokens and those of tools, the output includes thoughts.
    """
    raw = {
        "total_input_tokens": 10,
        "total_cached_tokens": 4,
        "total_output_tokens": 3,
        "total_thought_tokens": 5,
        "total_tool_use_tokens": 2,
        "total_tokens": 20,
    }

    assert (
        Usage(input_tokens=12, cache_read_tokens=4, output_tokens=8, reasoning_tokens=5, details=raw)
        == terminal(stream(C(), K(usage=raw))).usage
    )


def test_c16_absent_counts_are_unknown():
    """
    What is not reported is unknown and not zero; the provider's own figures are kept.
    """
    raw = {"total_output_tokens": 3, "weird": [1]}

    assert Usage(output_tokens=3, details=raw) == terminal(stream(C(), K(usage=raw))).usage


def test_usage_on_the_way_counts_when_the_end_has_none():
    """
    Running totals replace the missing ones of the end, marked as partial.
    """
    told = {**X(0), "usage": USAGE}

    assert Usage(input_tokens=10, output_tokens=3, details={**USAGE, "partial": True}) == (
        terminal(stream(C(), S(0, mo()), D(0, text("a")), told, K(usage=None))).usage
    )


def test_usage_of_the_end_wins():
    """
    The terminal event's usage replaces what was reported on the way.
    """
    told = {**D(0, text("a")), "metadata": {"total_usage": {"total_output_tokens": 1}}}

    assert (
        Usage(input_tokens=10, output_tokens=3, details=USAGE)
        == terminal(stream(C(), S(0, mo()), told, X(0), K())).usage
    )


def test_two_texts_of_the_start_are_one():
    """
    A stream cannot show where one block ends, so blocks of the start are one text too.
    """
    assert text_of("ab") == inner(answer(S(0, mo("a", "b")), X(0)))


def test_sound_in_pieces_is_one_medium():
    """
    Consecutive pieces of sound of one type, or without one, are one medium; another type begins a new one.
    """
    body = answer(
        S(0, mo()),
        D(0, delta("audio", data="AAAA", mime_type="audio/l16; rate=24000")),
        D(0, delta("audio", data="AQEB")),
        D(0, delta("audio", data="AgIC", mime_type="audio/wav")),
        X(0),
    )

    assert [
        *media_of("audio/l16; rate=24000", b"\0\0\0\1\1\1", type="audio"),
        *media_of("audio/wav", b"\2\2\2", type="audio"),
    ] == inner(body)


def test_sound_ends_where_text_begins():
    """
    Text after sound is a part of its own, and sound after text too.
    """
    sound = D(0, delta("audio", data="AAAA", mime_type="audio/wav"))
    body = answer(S(0, mo()), sound, D(0, text("a")), sound, X(0))

    assert [
        *media_of("audio/wav", b"\0\0\0", type="audio"),
        *text_of("a"),
        *media_of("audio/wav", b"\0\0\0", type="audio"),
    ] == inner(body)


def test_sound_at_a_place():
    """
    Sound without bytes is a whole medium at its address.
    """
    body = answer(
        S(0, mo()),
        D(0, delta("audio", data="AAAA", mime_type="audio/wav")),
        D(0, delta("audio", uri="https://e.x/a", mime_type="audio/wav")),
        X(0),
    )

    assert [
        *media_of("audio/wav", b"\0\0\0", type="audio"),
        *media_of("audio/wav", uri="https://e.x/a", type="audio"),
    ] == inner(body)


def test_medium_at_a_place_and_with_more_fields():
    """
    The address stays as it is; what the wire adds is kept.
    """
    body = answer(S(0, mo()), D(0, delta("video", uri="files/1", mime_type="video/mp4", resolution="high")), X(0))

    assert media_of("video/mp4", uri="files/1", type="video", block={"resolution": "high"}) == inner(body)


def test_medium_with_bytes_and_a_place():
    """
    Bytes win over the address, which is kept beside.
    """
    body = answer(S(0, mo()), D(0, delta("image", data=PNG, uri="files/1", mime_type="image/png")), X(0))

    assert media_of("image/png", PNG_BYTES, type="image", block={"uri": "files/1"}) == inner(body)


def test_medium_that_cannot_be_read():
    """
    A media item without readable bytes and without a place is incomplete; what came is kept.
    """
    body = answer(S(0, mo()), D(0, delta("image", data="%%%")), X(0))

    [_, end] = inner(body)

    assert ("image/*", False, None, None) == (end.media_type, end.complete, end.data, end.uri)
    assert {"i": 0, "type": "image", "data": "%%%"} == end.state
    assert ["no-media"] == codes(body)


def test_content_of_an_unknown_type_is_kept_raw():
    """
    A block of an unknown type stays at its place as it came.
    """
    block = {"type": "hologram", "data": "x"}
    body = answer(S(0, step("model_output", content=[{"type": "text", "text": "a"}, block])), X(0))

    assert {"i": 0, "content": block} == inner(body)[-1].state
    assert ["unknown-content"] == codes(body)
    assert text_of("a") == inner(body)[:2]


def test_unknown_fields_of_a_step_are_kept():
    """
    What is not documented is sent back as it came.
    """
    assert {"i": 0, "signature": "A=", "extra": {"mood": {"a": 1}}} == (
        inner(answer(S(0, th(signature="A=", mood={"a": 1})), X(0)))[-1].state
    )
    assert {"i": 0, "extra": {"mood": 1}} == inner(answer(S(0, mo("a", mood=1)), X(0)))[-1].state


def test_an_empty_error_is_no_end():
    """
    Nothing that came on the way is lost by an empty error.
    """
    assert text_of("ab") == inner(answer(S(0, mo()), D(0, text("a")), E(), D(0, text("b")), X(0)))


def test_a_citation_that_ends_before_it_begins():
    """
    A place that cannot be is unknown.
    """
    [part] = message(answer(S(0, mo()), D(0, text("Hello")), D(0, notes(citation("u", 4, 2))), X(0))).parts

    assert (Citation(url="u"),) == part.citations


def test_citations_without_a_place_move_nowhere():
    """
    Sources of a later block without a place have none.
    """
    blocks = [{"type": "text", "text": "a"}, {"type": "text", "text": "b", "annotations": [{"url": "u"}]}]

    assert (Citation(url="u"),) == inner(answer(S(0, step("model_output", content=blocks)), X(0)))[-1].citations
