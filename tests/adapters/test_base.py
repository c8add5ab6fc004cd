"""
`DecoderBase` by itself, with a wire of one word: what every adapter gets from it, and what bad input meets.
"""

import json
from datetime import UTC, datetime
from types import SimpleNamespace

import attrs
import pytest

from assistant_events import AssistantMessage, StepEnded, StepFailed, TextDelta, Transcript, find_problems, fold
from assistant_events.adapters import DecoderBase, JsonLines, Note
from assistant_events.adapters.frame_reader import MAX_NOTES
from assistant_events.adapters.gemini_interactions import decode_resource
from assistant_events.adapters.json_fields import array, count, flag, integer, mapping, mappings, plain_json, string
from assistant_events.errors import LocalProtocolError
from assistant_events.testing import answer as session
from assistant_events.testing import message, prompt
from assistant_events.values import ErrorInfo, RemoteRun, write_json

from .notation import C, D, K, S, X, decoder, events, fc, mo, stream, text


class Words(DecoderBase):
    """
    Reads `{"text": text}`, `{"end": finish}`, `{"raise": any}`; begins another message at `{"next": any}`.
    """

    dialect = "words"
    provider = "nobody"
    framing = JsonLines

    def on_event(self, event):
        if "raise" in event:
            raise KeyError(event["raise"])
        if "next" in event:
            self.next_hop()
            return
        self.ensure_started()
        if "end" in event:
            self.finish_step(event["end"])
        self.recorder.text(string(event, "text") or "") if "text" in event else None


def fed(*lines, **how):
    made = Words("m", **how)
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    return made, made.feed(data)


SAY = {"text": "hi"}


def test_a_step_that_ends():
    """
    `finish_step` ends the step and the answer.
    """
    made, found = fed(SAY, {"end": "stop"})

    assert made.terminal
    assert ["step.started", "text.started", "text.delta", "text.ended", "step.ended"] == [e.type for e in found]


def test_a_line_in_pieces_behind_a_whole_one():
    """
    It is read when its end comes.
    """
    made = Words("m")
    found = made.feed(b'{"text":"a"}\n{"text":') + made.feed(b'"b"}\n{"end":"stop"}\n')

    assert ("ab", []) == (fold(found).last.text, made.notes)


def test_nothing_after_the_end():
    """
    What is fed after the end causes nothing, in the same bytes or later.
    """
    made, found = fed(SAY, {"end": "stop"}, SAY)

    assert isinstance(found[-1], StepEnded)
    assert [] == made.feed(b'{"text":"more"}\n')
    assert [] == made.feed_event(SAY)
    assert [] == made.close()


def test_an_adapter_that_raises():
    """
    A fault of an adapter ends its step with a kind of its own; it is kept, and not shown.
    """
    made, found = fed(SAY, {"raise": "secret"}, SAY)

    assert isinstance(found[-1], StepFailed)
    assert ErrorInfo(kind="adapter", message="the adapter 'words' failed with KeyError") == found[-1].error
    assert isinstance(made.failure, KeyError)
    assert [] == find_problems(found + made.close())


def test_an_adapter_that_raises_after_its_step_has_ended():
    """
    A step that has ended stays so.
    """

    class Late(Words):
        def on_event(self, event):
            self.ensure_started()
            self.recorder.finish("stop")
            raise KeyError

    made = Late("m")
    found = made.feed(b"{}\n") + made.close()

    assert isinstance(found[-1], StepEnded)
    assert isinstance(made.failure, KeyError)


@pytest.mark.parametrize("hook", ["on_done", "on_close"])
def test_hooks_that_raise(hook):
    """
    So it is with the other things an author may write.
    """
    raising = type("Raising", (Words,), {hook: lambda self, *_: 1 / 0})
    made = raising("m")
    found = made.feed(b'{"text":"hi"}\n[DONE]\n') + made.close()

    assert "adapter" == found[-1].error.kind
    assert isinstance(made.failure, ZeroDivisionError)
    assert [] == find_problems(found)


def test_an_author_who_forgets_to_say_that_the_answer_is_over():
    """
    Closing a decoder whose step has ended fails nothing.
    """

    class Forgetful(Words):
        def on_event(self, event):
            self.ensure_started()
            self.recorder.finish("stop")

    made = Forgetful("m")

    assert isinstance((made.feed(b"{}\n") + made.close())[-1], StepEnded)


def test_nothing_at_all():
    """
    A stream without anything is a failed step.
    """
    made = Words("m")

    assert ["step.started", "step.failed"] == [event.type for event in made.close()]
    assert "interrupted" == made.error.kind


def test_another_message_that_never_begins():
    """
    A hop without content is not a message.
    """
    made, found = fed(SAY, {"next": 1})
    del found[:]

    assert [] == made.close()


def test_lists_that_were_handed_out_do_not_change():
    """
    What one call returned is not added to by the next.
    """
    made = Words("m")
    first = made.feed(b"")
    second = made.feed(b'{"text":"hi"}\n')

    assert ([], 3) == (first, len(second))


def test_close_again():
    """
    The second close does nothing.
    """
    made, _ = fed(SAY)

    assert made.close()
    assert [] == made.close()


CLOSED = {
    "feed": lambda made: made.feed(b""),
    "feed_event": lambda made: made.feed_event({}),
    "rejoin": lambda made: made.rejoin(),
}


@pytest.mark.parametrize("use", CLOSED.values(), ids=CLOSED.keys())
def test_a_closed_decoder(use):
    """
    A closed decoder takes nothing.
    """
    made = Words("m")
    made.close()

    with pytest.raises(LocalProtocolError, match="the decoder is closed"):
        use(made)


def test_bytes_in_other_clothes():
    """
    What holds bytes is taken as bytes.
    """
    assert TextDelta(message_id="m", offset=0, delta="hi") in Words("m").feed(bytearray(b'{"text":"hi"}\n'))
    assert TextDelta(message_id="m", offset=0, delta="hi") in Words("m").feed(memoryview(b'{"text":"hi"}\n'))


WRONG = {
    "feed text": (lambda: Words("m").feed("x"), "data: expected bytes, got str"),
    "feed nothing": (lambda: Words("m").feed(None), "data: expected bytes, got NoneType"),
    "event text": (
        lambda: Words("m").feed_event("x"),
        "event: expected a mapping or an object with model_dump, got str",
    ),
    "event that dumps no mapping": (
        lambda: Words("m").feed_event(SimpleNamespace(model_dump=lambda **_: [])),
        "event: expected a mapping or an object with model_dump, got SimpleNamespace",
    ),
    "id": (lambda: Words(""), "message_id: expected a non-empty string"),
    "no id": (lambda: Words(None), "message_id: expected a non-empty string"),
    "request": (lambda: Words("m", request=[]), "request: expected a mapping or None, got list"),
    "prior": (
        lambda: Words("m", prior=1),
        "prior: expected an AssistantMessage, several or a Transcript, got int",
    ),
    "prior events": (lambda: Words("m", prior=session()), "prior: expected an AssistantMessage, got StepStarted"),
    "resource": (lambda: decode_resource([], "m"), "resource: expected a mapping, got list"),
    "resource id": (lambda: decode_resource({}, ""), "message_id: expected a non-empty string"),
    "error": (lambda: fed(SAY)[0].close("boom"), "error: expected an ErrorInfo or None, got str"),
}


@pytest.mark.parametrize(("use", "sentence"), WRONG.values(), ids=WRONG.keys())
def test_wrong_types(use, sentence):
    """
    What is of the wrong type is named, with what was expected and what came.
    """
    with pytest.raises(TypeError) as caught:
        use()

    assert sentence == str(caught.value)


@pytest.mark.parametrize("name", ["dialect", "provider"])
@pytest.mark.parametrize("given", [None, ""])
def test_a_decoder_without_a_name(name, given):
    """
    A decoder without a dialect or provider fails when it is made; a base of several decoders may leave them out.
    """

    class Nameless(DecoderBase):
        def on_event(self, event):
            pass

    class Made(Nameless):
        dialect = "words"
        provider = "nobody"

    setattr(Made, name, given)

    with pytest.raises(TypeError) as caught:
        Made("m")

    assert f"Made.{name}: expected a non-empty string, got {given!r}" == str(caught.value)
    with pytest.raises(TypeError, match=r"^Nameless\.dialect: expected a non-empty string, got None$"):
        Nameless("m")


def test_a_provider_of_the_caller():
    """
    A decoder of many providers names none of its own when the caller names one.
    """

    class Any(DecoderBase):
        dialect = "words"

        def on_event(self, event):
            self.ensure_started()

    [started] = Any("m", provider="acme").feed(b"data: {}\n\n")

    assert "acme" == started.origin.provider


def test_usage_without_a_table():
    """
    Usage that nothing can read is the adapter's mistake, not lost.
    """
    made = Words("m")

    with pytest.raises(TypeError, match=r"^Words\.usage_table: expected a UsageTable to read usage with, got None$"):
        made.note_usage({"in": 1})


def test_a_prior_of_another_message_plays_no_part():
    """
    Messages of others are not rejoined.
    """
    other = message(session("hi", message_id="other"))

    assert events(stream(C(), K())) == events(stream(C(), K()), prior=other)


def test_a_prior_may_be_a_transcript():
    """
    The transcript of a session holds the messages of all hops.
    """
    body = stream(C(), S(0, mo("a")), X(0), K())
    made = decoder()
    transcript = fold(made.feed(body))

    assert isinstance(transcript, Transcript)
    assert [] == events(body, prior=transcript)
    assert [] == events(body, prior=transcript.messages)


def test_the_message_of_a_decoder_with_a_prior():
    """
    It has what was recorded before and what is new.
    """
    cut, found = fed(SAY)
    made, more = fed(SAY, SAY, {"end": "stop"}, prior=cut.message)

    assert made.message == fold([*found, *more]).last
    assert ("hihi", "completed") == (made.message.text, made.message.status)


def test_a_prior_may_hold_prompts():
    """
    Of the transcript of a session only the answers count.
    """
    body = stream(C(), S(0, mo("a")), X(0), K())
    transcript = fold([prompt("?", message_id="u1"), *decoder().feed(body), prompt("!", message_id="u2")])

    assert [] == events(body, prior=transcript)


def test_a_whole_text_behind_half_a_pair():
    """
    Nothing of the half is added to the text that replaces it.
    """

    class Whole(Words):
        def on_event(self, event):
            if "whole" in event:
                self.replace_text(None, event["whole"])
            else:
                super().on_event(event)

    made = Whole("m")
    lines = [{"text": "hi \ud83d"}, {"whole": "hi \U0001f600"}, {"end": "stop"}]
    found = made.feed(b"".join(json.dumps(line).encode() + b"\n" for line in lines))

    assert "hi \U0001f600" == fold(found).last.text


def test_half_a_frame_before_a_lost_connection():
    """
    It is forgotten: the rest of the stream has the whole frame again.
    """
    made, found = fed(SAY)
    found += made.feed(b'{"text": "h')
    made.reconnect()
    found += made.feed(b'{"text": "ho"}\n{"end": "stop"}\n')

    assert ("hiho", "completed") == ((last := fold(found).last).text, last.status)
    assert [] == made.notes


def test_a_closed_decoder_does_not_reconnect():
    """
    A closed decoder does not continue a stream; a lost stream needs a new one.
    """
    made = decoder()
    made.close()

    with pytest.raises(
        LocalProtocolError, match=r"^the decoder is closed, it cannot go on; make a new one with prior$"
    ):
        made.reconnect()


def test_the_request_is_not_changed_or_watched():
    """
    What the app does to its request later has no effect.
    """
    request = {"model": "asked", "tools": [{"a": 1}]}
    made = decoder(request=request)
    request["model"] = "other"

    assert "asked" == made.feed(stream(C()))[0].origin.model
    assert {"model": "other", "tools": [{"a": 1}]} == request


@pytest.mark.parametrize(("given", "expected"), [({"agent": "deep-research"}, "deep-research"), ({"model": "m"}, "m")])
def test_the_model_of_an_agent(given, expected):
    """
    An agent of the Interactions API is in the place of the model, which was asked for.
    """
    assert expected == decoder(request=given).feed(stream(C()))[0].origin.model


def test_objects_of_an_sdk():
    """
    Anything with `model_dump` is dumped the way the wire has it.
    """
    asked = []

    class Dumped(SimpleNamespace):
        def model_dump(self, **how):
            asked.append(how)
            return self.fields

    wire = (C(), S(0, mo()), D(0, text("a")), X(0), K())
    made = decoder()
    found = [event for each in wire for event in made.feed_event(Dumped(fields=each))]

    assert events(stream(*wire)) == found
    assert {"mode": "json", "by_alias": True, "exclude_none": True} == asked[0]


@pytest.mark.parametrize("field", ["step", "delta"])
def test_objects_of_an_sdk_in_a_mapping(field):
    """
    Where `dict(event)` has left the objects inside, these are dumped.
    """
    wire = (C(), S(0, mo("a")), D(0, text("b")), X(0), K())
    made = decoder()
    found = []
    for each in wire:
        found += made.feed_event({key: Dumped(**value) if key == field else value for key, value in each.items()})

    assert events(stream(*wire)) == found


def test_what_an_sdk_does_not_know():
    """
    An SDK may wrap what is new to it; it is taken out again.
    """

    def dumped(fields):
        return SimpleNamespace(model_dump=lambda **_: fields)

    def unknown(raw):
        return {"type": "UNKNOWN", "is_unknown": True, "raw": raw}

    wire = (C(), S(0, {"type": "dream", "x": [1]}), X(0), S(1, mo()), D(1, {"type": "sparkle"}), X(1), K())
    made = decoder()
    found = []
    for each in wire:
        wrapped = {key: unknown(value) if key in ("step", "delta") else value for key, value in each.items()}
        found += made.feed_event(dumped(wrapped if each["event_type"] != "step.stop" else unknown(each)))

    assert events(stream(*wire)) == found


def test_dicts_that_an_sdk_dumped():
    """
    What google-genai 2.19 does not know is taken out of dicts that were dumped elsewhere, wherever it occurs.
    """

    def unknown(raw, key="type"):
        return {key: "UNKNOWN", "raw": raw, "is_unknown": True}

    dream = {"type": "dream", "x": [1, None]}
    odd = {"type": "new_citation", "k": 1}
    known = {"type": "text_annotation_delta", "annotations": [odd]}
    wire = (C(), S(0, dream), X(0), S(1, mo("a")), D(1, {"type": "sparkle"}), D(1, known), X(1), K())
    dumped = (
        C(),
        S(0, unknown(dream)),
        X(0),
        S(1, mo("a")),
        D(1, unknown({"type": "sparkle"})),
        D(1, {**known, "annotations": [unknown(odd)]}),
        X(1),
        unknown(K(), "event_type"),
    )
    made = decoder()

    assert events(stream(*wire)) == [event for each in dumped for event in made.feed_event(each)]


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"type": "UNKNOWN", "raw": "x", "is_unknown": True}, id="no object inside"),
        pytest.param({"type": "mine", "raw": {"a": 1}, "is_unknown": True}, id="another type"),
        pytest.param({"type": "UNKNOWN", "raw": {"a": 1}, "is_unknown": False}, id="known"),
        pytest.param({"type": "UNKNOWN", "raw": {"a": 1}, "is_unknown": True, "more": 1}, id="another field"),
    ],
)
def test_what_only_looks_like_unknown_to_an_sdk_stays(given):
    """
    Arguments and other JSON of the provider are taken as they came, though they have such fields.
    """
    made = decoder()
    for each in (C(), S(0, fc(arguments=given)), X(0), K("requires_action")):
        made.feed_event(each)

    assert given == made.message.tool_calls[0].arguments


def test_notes_are_bounded():
    """
    Of many notes the first are kept, the rest counted.
    """
    made = Words("m")
    made.feed(b"{oops\n" * (MAX_NOTES + 7))

    assert (MAX_NOTES, 7) == (len(made.notes), made.notes_left_out)
    assert Note(code="bad-json", message=made.notes[0].message) == made.notes[0]


def test_a_name_beside_nothing():
    """
    A wire without names has none.
    """
    seen = []

    class Named(Words):
        def on_event(self, event):
            seen.append(self.frame_name())

    Named("m").feed(b"{}\n")
    Named("m").feed_event({})

    assert [None, None] == seen


def test_a_rejoin_before_anything_came():
    """
    There may be nothing to compare with.
    """
    made = Words("m")
    made.rejoin()
    found = made.feed(b'{"text":"hi"}\n{"end":"stop"}\n')

    assert "hi" == fold(found).last.text


def test_a_rejoin_after_the_end():
    """
    An answer that has come to its end stays so.
    """
    made, _ = fed(SAY, {"end": "stop"})
    made.rejoin()

    assert [] == made.feed(b'{"text":"hi"}\n{"end":"stop"}\n')


def test_the_message_that_is_rejoined_may_be_longer_than_the_replay():
    """
    A replay that breaks off early takes nothing away.
    """
    made, found = fed(SAY, SAY)
    made.rejoin()
    found += made.feed(b'{"text":"hi"}\n') + made.close()

    assert [] == find_problems(found)
    assert "hihi" == fold(found).last.text


@pytest.mark.parametrize("message_id", [None, "m", "7", "m.retry"])
def test_a_prior_of_the_first_hop_only(message_id):
    """
    A run that is known for none of the hops, or for the first one or another message, begins at the decoder's place.
    """
    run = RemoteRun(id="run-1", kind="response")
    prior = [attrs.evolve(message(session("hi", message_id=message_id)), run=run)] if message_id else []
    made = Words("m", prior=prior)
    made.resume_hop("run-1")
    made.next_hop()
    made.resume_hop("run-1")

    assert "m.2" == made.recorder.message_id


# -- reading fields

EVERYTHING = {
    "text": "a",
    "number": 1,
    "float": 2.0,
    "half": 0.5,
    "flag": True,
    "object": {"a": 1},
    "array": [{"a": 1}, 2],
    "null": None,
    "negative": -1,
}
READERS = {
    string: {"text": "a"},
    integer: {"number": 1, "float": 2, "negative": -1},
    count: {"number": 1, "float": 2},
    flag: {"flag": True},
    mapping: {"object": {"a": 1}},
    array: {"array": [{"a": 1}, 2]},
    mappings: {"array": [{"a": 1}]},
}
NOTHING = {mapping: {}, array: (), mappings: []}


@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
def test_a_wrong_type_counts_as_missing(read):
    """
    Each reader takes its own type and finds nothing in all others.
    """
    missing = NOTHING.get(read)

    assert missing == read({}, "text")
    for key in EVERYTHING:
        assert READERS[read].get(key, missing) == read(EVERYTHING, key)


class Dumped(SimpleNamespace):
    def model_dump(self, *, mode, by_alias, **how):
        assert ("json", True, {"exclude_unset": True}) == (mode, by_alias, how)
        return vars(self)


DUMPED = Dumped(c=None, d=b"\xff")
PLAIN = {
    "scalars": ({"a": 1, "b": "x", "c": None, "d": True, "e": 0.5}, {"a": 1, "b": "x", "c": None, "d": True, "e": 0.5}),
    "tuples": ({"a": (1, (2,))}, {"a": [1, [2]]}),
    "bytes": ({"a": b"\xff", "b": b""}, {"a": "/w==", "b": ""}),
    "times": ({"a": datetime(2026, 11, 28, 10, tzinfo=UTC)}, {"a": "2026-11-28T10:00:00Z"}),
    "no numbers": ({"a": float("nan"), "b": [float("inf")]}, {"b": [None]}),
    "objects": ({"a": object(), "b": {1: 2, "c": 3}}, {"b": {"c": 3}}),
    "objects of an SDK": (
        {"a": DUMPED, "b": [DUMPED]},
        {"a": {"c": None, "d": "/w=="}, "b": [{"c": None, "d": "/w=="}]},
    ),
    "classes of an SDK": ({"a": type(DUMPED), "b": SimpleNamespace(model_dump=lambda **_: object())}, {}),
    "pairs": ({"a": "\ud83d\ude80", "b": "\ud83d"}, {"a": "🚀", "b": "\ud83d"}),
    "deep arrays": (json.loads("[" * 193 + "]" * 193), json.loads("[" * 192 + "null" + "]" * 192)),
    "deep objects": (json.loads('{"a":' * 193 + "1" + "}" * 193), json.loads('{"a":' * 191 + "{}" + "}" * 191)),
    "deep values": (json.loads("[" * 192 + "1" + "]" * 192), json.loads("[" * 192 + "1" + "]" * 192)),
    "deep values of unknown types": (
        {"type": "UNKNOWN", "is_unknown": True, "raw": {"a": json.loads("[" * 191 + "]" * 191)}},
        {"a": json.loads("[" * 190 + "null" + "]" * 190)},
    ),
}


@pytest.mark.parametrize(("given", "expected"), PLAIN.values(), ids=PLAIN.keys())
def test_plain_json(given, expected):
    """
    What a caller parsed becomes what a JSON reader would give.
    """
    assert write_json(expected) == write_json(plain_json(given))


def test_plain_json_has_a_floor():
    """
    What nests without end is left out.
    """
    endless = {}
    endless["a"] = endless
    nested = plain_json(endless)
    depth = 0
    while nested:
        nested, depth = nested.get("a"), depth + 1

    assert 0 < depth <= 200


def test_messages_are_what_they_are_made_of():
    """
    The decoder's message id is the message's.
    """
    assert isinstance(fold(events(stream(C(), K()), message_id="x")).last, AssistantMessage)
