"""
Law 12: what an emitter writes is decoded to the events that it was given, or it reports the difference.
"""

import inspect
import json
import os
import random
from collections import Counter

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant_events import Origin, StepFailed, StepStarted, UnknownEvent, find_problems, fold, redact
from assistant_events.adapters import dialect_names, load_dialect
from assistant_events.adapters.emitter import OTHER_MESSAGE, REWRITTEN
from assistant_events.history import Drop
from assistant_events.testing import answer, origin
from assistant_events.testing.strategies import loose_events, recut
from assistant_events.values import Citation, ErrorInfo, thaw
from tests.adapters.anthropic_messages.samples import SAMPLES as MESSAGES
from tests.adapters.gemini_generate_content.samples import SAMPLES as GENERATE_CONTENT
from tests.adapters.notation import C, D, K, S, X, args, fc, mo, step
from tests.adapters.notation import stream as as_bytes
from tests.adapters.openai_chat.notation import J
from tests.adapters.openai_chat.notation import answer as chat_answer
from tests.adapters.openai_chat.samples import SAMPLES as CHAT
from tests.adapters.openai_responses.samples import SAMPLES as RESPONSES
from tests.adapters.samples import SAMPLES, hops
from tests.corpus.bodies import RESOURCES, STREAMS, body_of, stream_of
from tests.drawn import sessions
from tests.fuzz.generated import stream as generated
from tests.fuzz.seeds import INTERACTIONS, made_up, recorded, samples

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
DIALECT = load_dialect("gemini-interactions")
OPTIONS = {"streamed": {}, "whole": {"arguments": "whole"}, "cut": {"delta_chars": 3}}
OTHERS = [name for name in dialect_names() if name != INTERACTIONS]


def options_of(dialect):
    """
    Return those of the options that the emitter of a dialect has.
    """
    known = inspect.signature(dialect.emitter).parameters
    return [options for options in OPTIONS.values() if set(options) <= set(known)]


def decoded(body, dialect=DIALECT):
    decoder = dialect.decoder("m")
    return decoder.feed(body) + decoder.close()


def durable(events):
    return [event for event in events if event.durable]


def emitted(events, dialect=DIALECT, **options):
    """
    Return the drops and what the bytes of the emitter are decoded to, having checked that this is legal.
    """
    emitter = dialect.emitter(**options)
    frames = [frame for event in events for frame in emitter.emit(event)] + emitter.close()
    decoder = dialect.decoder("m")
    caused = decoder.feed(b"".join(map(emitter.to_bytes, frames))) + decoder.close()
    assert decoder.failure is None
    assert [] == find_problems(caused)
    return emitter.drops, caused


def assert_same(events, dialect=DIALECT, **options):
    """
    Check that what is written is decoded to the same, up to the cutting of deltas and the overlap of parts.
    """
    drops, caused = emitted(events, dialect, **options)

    assert () == drops
    assert fold(events) == fold(caused)
    assert Counter(durable(events)) == Counter(durable(caused))
    texts = [event.delta for event in caused if event.type == "text.delta"]
    assert max(map(len, texts), default=0) <= options.get("delta_chars", float("inf"))


def assert_same_or_reported(events, dialect=DIALECT, **options):
    """
    Check that the frames are decoded to the same message, or that a drop reports the difference.
    """
    drops, caused = emitted(events, dialect, **options)

    assert drops or fold(events) == fold(caused)


ALL_SAMPLES = [(dialect, name) for dialect in dialect_names() for name in samples(dialect)]

UNSAID = {
    ("anthropic-messages", "call without a name"),
    ("anthropic-messages", "delta before the message"),
    ("bedrock-converse", "call without a name"),
}
"""Samples with a part that cannot be written, or with an id that comes behind the start."""

REORDERED = ("gemini-generate-content", "arguments out of order")
"""A sample whose arguments come back in their order."""


@pytest.mark.parametrize(("name", "sample"), [pair for pair in ALL_SAMPLES if pair not in UNSAID and pair != REORDERED])
def test_samples_come_back(name, sample):
    """
    Whatever overlaps, comes late or is cut comes back, from all events and from the durable ones.
    """
    dialect = load_dialect(name)
    events = decoded(samples(name)[sample].body, dialect)
    for given_events in (events, durable(events)):
        assert_same(given_events, dialect)
        assert_same(given_events, dialect, delta_chars=3)
    for options in options_of(dialect):
        assert_same_or_reported(events, dialect, **options)


@pytest.mark.parametrize(("name", "sample"), sorted(UNSAID))
def test_what_cannot_be_written_is_reported(name, sample):
    """
    A call without a name has no frames.
    """
    events = decoded(samples(name)[sample].body, load_dialect(name))
    drops, caused = emitted(events, load_dialect(name))

    assert drops
    assert fold(events) != fold(caused)


def test_arguments_out_of_order_come_back():
    """
    Their text is another one.
    """
    name, sample = REORDERED
    events = decoded(samples(name)[sample].body, load_dialect(name))
    drops, caused = emitted(events, load_dialect(name), delta_chars=3)

    assert ((), fold(events)) == (drops, fold(caused))


ONLY_STREAMED = {
    "anthropic-messages": {
        *("call without a name", "delta before the message", "fields of deltas", "input that was cut"),
        *("overlapping thoughts", "unknown block"),
    },
    "bedrock-converse": {
        *("call without a name", "facts in one delta", "input that was cut", "overlapping", "unknown block"),
        "unknown delta",
    },
    "gemini-interactions": {"late and early", "overlap of one kind", "tools of the provider"},
    "openai-chat": {
        *("encrypted reasoning", "executed tool", "reasoning again", "reasoning in two fields"),
        *("redacted block of LiteLLM behind a text", "two executed tools"),
    },
    "openai-responses": {"encrypted content at the end alone", "lists of tools", "reasonings that end behind a call"},
}
"""By dialect, samples with what a stream alone has: overlap, deltas, an input that is no object, parts out of order."""


@pytest.mark.parametrize(
    ("name", "sample"), [(name, sample) for name, sample in ALL_SAMPLES if sample not in ONLY_STREAMED.get(name, ())]
)
def test_documents_and_streams_are_one_message(name, sample):
    """
    The document of a completed answer folds to the message of its stream.
    """
    dialect, transcript = load_dialect(name), samples(name)[sample].transcript
    for message in transcript.messages if len(transcript) == 1 else ():
        document = json.loads(json.dumps(dialect.emit_resource(message)))

        assert message.status != "completed" or message == fold(dialect.decode_resource(document, message.id)).last


@pytest.mark.parametrize("file", STREAMS)
def test_recordings_come_back(file):
    """
    Recorded streams of both generations come back as they were.
    """
    events = decoded(stream_of(file))

    assert_same(events)
    assert_same_or_reported(events, **OPTIONS["whole"])


@pytest.mark.parametrize("file", RESOURCES)
def test_recorded_documents_come_back(file):
    """
    So do recorded documents.
    """
    document = json.loads(body_of(file))
    document = document[0] if isinstance(document, list) else document

    assert_same(DIALECT.decode_resource(document, "m"))


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_whatever_the_decoder_produces_comes_back_or_is_reported(options):
    """
    Streams of random words come back as they were, or the difference is reported.
    """
    for seed in range(2000 if THOROUGH else 100):
        assert_same_or_reported(decoded(generated(random.Random(seed))), **options)


@pytest.mark.parametrize("name", OTHERS)
def test_so_it_is_for_the_other_dialects(name):
    """
    Made-up streams of the other dialects come back as well, or the difference is reported.
    """
    dialect = load_dialect(name)
    for seed in range(1000 if THOROUGH else 40):
        events, _ = made_up(name, random.Random(seed)).decode()
        for options in options_of(dialect):
            assert_same_or_reported(events, dialect, **options)


@pytest.mark.parametrize("name", OTHERS)
def test_recordings_of_the_other_dialects_come_back(name):
    """
    So do their recorded streams.
    """
    streams = recorded(name)
    if not streams:
        pytest.skip("no recorded bodies in ../shared/corpus")
    for stream in streams if THOROUGH else streams[::8]:
        assert_same_or_reported(stream.decode()[0], load_dialect(name))


def test_nearly_everything_comes_back():
    """
    What is reported of random streams are halves of surrogate pairs, and few other things.
    """
    reported = others = 0
    for seed in range(200):
        events = decoded(generated(random.Random(seed)))
        emitter = DIALECT.emitter()
        frames = [frame for event in events for frame in emitter.emit(event)] + emitter.close()
        if emitter.drops:
            reported += 1
            others += b"\xef\xbf\xbd" not in b"".join(map(emitter.to_bytes, frames))

    assert reported < 100
    assert others < 20


@given(st.data(), st.sampled_from(sorted(SAMPLES)))
def test_how_deltas_are_cut_changes_nothing(data, name):
    """
    Deltas that were cut elsewhere on their way give the same frames.
    """
    events = decoded(SAMPLES[name])
    one, two = DIALECT.emitter(), DIALECT.emitter()

    assert [frame for event in events for frame in one.emit(event)] == [
        frame for event in data.draw(recut(events)) for frame in two.emit(event)
    ]


@given(st.one_of(sessions(), loose_events()), st.sampled_from(dialect_names()), st.data())
def test_answers_of_others_are_written_as_far_as_possible(events, name, data):
    """
    Sessions of other providers, and events in any order, are never refused; what is written is legal, and reported.
    """
    dialect = load_dialect(name)
    drops, _ = emitted(events, dialect, **data.draw(st.sampled_from(options_of(dialect))))

    assert drops or not durable(events)


@pytest.mark.parametrize("name", dialect_names())
@pytest.mark.parametrize("source", dialect_names())
def test_deltas_of_others_are_written_at_once(source, name):
    """
    What is written delta by delta is read as what is written of the durable events alone.

    Up to state: a thought of Interactions has an item of its summary for each delta.
    """
    dialect = load_dialect(name)
    for sample in samples(source).values():
        events = decoded(sample.body, sample.dialect)
        drops, caused = emitted(events, dialect)
        drops_of_durable, caused_by_durable = emitted(durable(events), dialect)

        assert (drops, redact(fold(caused))) == (drops_of_durable, redact(fold(caused_by_durable)))


@pytest.mark.parametrize("kind", ["text", "reasoning"])
@pytest.mark.parametrize("name", dialect_names())
def test_a_delta_of_another_dialect_is_written_before_the_next_comes(name, kind):
    """
    A gateway has each of them to send, once.
    """
    emitter = load_dialect(name).emitter()
    events = answer(**{"text": "", kind: "Oslo, Rome"}, size=5, origin=origin(dialect="acme-chat"))
    written = [(event, b"".join(map(emitter.to_bytes, emitter.emit(event)))) for event in events]
    deltas = [body for event, body in written if not event.durable]

    assert [(True, False), (False, True)] == [(b"Oslo," in body, b" Rome" in body) for body in deltas]


@pytest.mark.parametrize("name", dialect_names())
def test_a_delta_that_came_before_the_part_before_it_had_ended(name):
    """
    It is written with the end of that part, and the deltas that follow with themselves.
    """
    events = answer("Oslo, Rome", reasoning="Think", size=5, origin=origin(dialect="acme-chat"))
    start, thought, thinks, thought_ends, text, *deltas, text_ends, end = events
    emitter = load_dialect(name).emitter()
    mixed = [start, thought, thinks, text, deltas[0], thought_ends, deltas[1], text_ends, end]
    written = [b"".join(map(emitter.to_bytes, emitter.emit(event))) for event in mixed]

    assert [(False, False), (True, False), (False, True)] == [
        (b"Oslo," in body, b" Rome" in body) for body in written[4:7]
    ]


@pytest.mark.parametrize("name", dialect_names())
def test_deltas_behind_the_close_are_never_refused(name):
    """
    An application that has aborted an answer may still have its deltas.
    """
    start, text, *deltas, _, _ = answer("Oslo, Rome", size=5, origin=origin(dialect="acme-chat"))
    emitter = load_dialect(name).emitter()
    for event in (start, text):
        emitter.emit(event)
    emitter.close()

    assert [[], []] == [emitter.emit(delta) for delta in deltas]


@pytest.mark.parametrize("name", dialect_names())
def test_a_text_of_another_dialect_that_its_end_replaces(name):
    """
    What was written stays, no piece of the other text is put behind it, and that is reported.
    """
    begun, delta, end = answer("Oslo", origin=origin(dialect="acme-chat"))[1:4]
    events = [answer("", origin=origin(dialect="acme-chat"))[0], begun, delta, attrs.evolve(end, text="In Rome")]
    drops, caused = emitted(events, load_dialect(name))

    assert (0, REWRITTEN) in [(drop.part, drop.reason) for drop in drops]
    assert fold(caused).last.text in {"Oslo", "In Rome"}


@pytest.mark.parametrize("is_cut", [False, True])
@pytest.mark.parametrize("name", dialect_names())
def test_sources_of_a_text_of_another_dialect_are_written_once(name, is_cut):
    """
    They come with its end: also of a text whose last delta was lost, and of one that was cut.
    """
    *events, end, stop = answer("It rains in Oslo.", size=8, origin=origin(dialect="acme-chat"))
    end = attrs.evolve(end, complete=not is_cut, citations=[Citation(url="https://u", title="T", start=12, end=16)])
    lost = StepFailed(message_id=stop.message_id, error=ErrorInfo(kind="network", message="lost"))
    events += [end, lost if is_cut else stop]
    first, *others = [
        redact(fold(emitted(given_events, load_dialect(name))[1]))
        for given_events in (durable(events), events, [*events[:3], *durable(events)[2:]])
    ]

    assert [first] * len(others) == others


@given(st.data(), st.sampled_from(dialect_names()), st.lists(st.integers(0, 2), min_size=50, max_size=50))
def test_how_deltas_of_others_are_cut_changes_nothing(data, name, times):
    """
    Other deltas, of which some come twice or never, are read as the same message.
    """
    dialect = load_dialect(name)
    events = answer("It rains in Oslo.", reasoning="Let me see.", size=4, origin=origin(dialect="acme-chat"))
    often = iter(times)
    given = [event for event in data.draw(recut(events)) for _ in range(1 if event.durable else next(often))]

    assert redact(fold(emitted(events, dialect)[1])) == redact(fold(emitted(given, dialect)[1]))


def inputs(events):
    return [(call.name, thaw(call.input)) for call in fold(events).last.tool_calls]


OWN_TEXTS = {
    "gemini-generate-content": GENERATE_CONTENT["arguments out of order"],
    "openai-chat": CHAT["custom tool"],
    "openai-chat null": chat_answer(J("null", 0, "c1", "f"), finish_reason="tool_calls"),
    "openai-responses": RESPONSES["custom tool"],
    "openai-responses code": RESPONSES["hosted tools"],
    "openai-responses json": RESPONSES["search of xAI"],
}
"""Streams with calls whose text is not the JSON of their input."""


@pytest.mark.parametrize("name", dialect_names())
@pytest.mark.parametrize("source", OWN_TEXTS)
def test_inputs_whose_text_is_of_another_wire(source, name):
    """
    Another wire has them as JSON: its readers failed the call, or took the text for the input.
    """
    decoder, target = load_dialect(source.partition(" ")[0]).decoder("m"), load_dialect(name)
    events = decoder.feed(OWN_TEXTS[source]) + decoder.close()

    assert inputs(events) == inputs(emitted(events, target)[1])
    assert inputs(events) == inputs(target.decode_resource(target.emit_resource(fold(events).last), "m"))


@pytest.mark.parametrize("name", dialect_names())
def test_an_array_that_is_a_result(name):
    """
    Other wires have it too, as JSON or as its text.
    """
    decoder, target = load_dialect("anthropic-messages").decoder("m"), load_dialect(name)
    events = decoder.feed(MESSAGES["web search"]) + decoder.close()

    assert "https://u" in str([call.output for call in fold(emitted(events, target)[1]).last.tool_calls])


SANDBOX = [
    *(S(0, fc()), D(0, args('{"a":1}')), X(0)),
    *(S(1, step("function_result", call_id="c1", result="x")), X(1)),
]
ANSWERED = {
    "gemini-generate-content": GENERATE_CONTENT["call that the service answers"],
    "gemini-interactions": as_bytes(C(), *SANDBOX, K()),
}


@pytest.mark.parametrize("name", dialect_names())
@pytest.mark.parametrize("source", ANSWERED)
def test_a_call_that_turns_out_to_be_answered(source, name):
    """
    The readers of another wire do not run it, too: it is written when its provider may not answer it any more.
    """
    decoder, target = load_dialect(source).decoder("m"), load_dialect(name)
    events = decoder.feed(ANSWERED[source]) + decoder.close()
    found = fold(emitted(events, target)[1]).last

    assert ("stop", [True]) == (found.finish_reason, [call.provider_executed for call in found.tool_calls])


@pytest.mark.parametrize("name", dialect_names())
def test_messages_behind_a_pause(name):
    """
    What readers of the wire would not read, behind the end of the first message, is reported and not written.
    """
    first, second = [S(0, mo("P1 ")), X(0)], [S(0, mo("P2")), X(0)]
    decoder = DIALECT.decoder("m")
    drops, caused = emitted(decoder.feed(as_bytes(*hops(first, second))) + decoder.close(), load_dialect(name))
    is_reported = Drop("m.2", None, OTHER_MESSAGE) in drops

    assert ("P1 " if is_reported else "P1 P2") == "".join(message.text for message in fold(caused).messages)


@pytest.mark.parametrize("name", dialect_names())
def test_an_event_of_a_newer_version_is_reported(name):
    """
    An event that this version does not know is not written, and is reported.
    """
    unknown = UnknownEvent(type="text.begun", version=2, data={"type": "text.begun", "v": 2})

    assert (Drop(None, None, OTHER_MESSAGE),) == emitted([unknown], load_dialect(name))[0]


@given(sessions(), st.sampled_from(dialect_names()))
def test_odd_state_is_never_refused(events, name):
    """
    State that a dialect would not have written is written as far as possible.
    """
    own = Origin(provider="google", model="m", dialect=name)
    own_events = [attrs.evolve(event, origin=own) if isinstance(event, StepStarted) else event for event in events]
    emitted(own_events, load_dialect(name))
