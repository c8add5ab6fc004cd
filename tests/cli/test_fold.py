"""`fold`: decode, store, print."""

import io
import json
import os
import signal
import sys
import threading

import pytest

from assistant_events import Transcript
from assistant_events.adapters import AwsChunkStream
from assistant_events.cli.detect_input import recognise
from assistant_events.cli.exit_codes import CommandError
from assistant_events.cli.source import Input
from assistant_events.converters import dumps, structure
from assistant_events.testing import prompt
from tests.cli import streams
from tests.cli.streams import HELLO, HELLO_AGAIN, NAMELESS, RESOURCE, SEARCH

TEXT = """\
m1  assistant · google gemini-3.6-flash · completed (tool-calls)
  reasoning I look it up.
  call      google_search s1 · success · run by the provider
    input     {"queries":["weather"]}
    output    [{"search_suggestions":"<b>rain</b>"}]
  text      It rains in Bergen.
  call      get_weather c1 · waits for the app
    input     {"city":"Bergen"}
  opaque    an item of the provider, kept as it came
  usage     input 10 · output 7 · reasoning 2 · total 17
"""


CLAUDE = {
    "id": "msg_1",
    "model": "claude-9",
    "type": "message",
    "role": "assistant",
    "content": [{"type": "text", "text": "Hello"}],
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
BINARY = b"".join(
    AwsChunkStream.frame(None, each)
    for each in (
        {"type": "message_start", "message": {"id": "m" * 1850, "type": "message", "role": "assistant", "content": []}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}},
        {"type": "message_stop"},
    )
)
UNNAMED = {"event_type": "interaction.created", "interaction": {"status": "in_progress"}}
FAILED = streams.sse(streams.created("v1_b"), {"event_type": "error", "error": {"code": 503, "message": "down"}})


class Pieces(io.RawIOBase):
    """A stream that gives seven bytes at a time; one that waits is not to be read to its end."""

    def __init__(self, data, *, waits=False):
        self._left = data
        self._waits = waits

    def readable(self):
        return True

    def readinto(self, buffer):
        piece, self._left = self._left[:7], self._left[7:]
        assert piece or not self._waits
        buffer[: len(piece)] = piece
        return len(piece)


def messages(ran):
    """The messages of a transcript in JSON, without times."""
    found = ran.json["messages"]
    for item in [*found, *[part for message in found for part in message.get("parts", ())]]:
        item.pop("times", None)
    return found


def test_text_of_a_pipe(run, stream):
    """
    In a pipe the transcript is plain text; state shows by its size alone.
    """
    ran = run("fold", stream)

    assert 0 == ran.code
    assert ran.out.startswith(TEXT + "  state     message 25 B, reasoning ")
    assert "\x1b" not in ran.out
    assert "assistant-events: a step of an unknown type was kept raw\n" == ran.err


@pytest.mark.parametrize(
    ("dialect", "name"),
    [
        ("openai-chat", "stream"),
        ("openai-responses", "stream"),
        ("gemini-generate-content", "stream"),
        ("bedrock-converse", "stream"),
        ("anthropic-messages", "stream"),
        ("openai-chat", "stream with an end"),
        ("openai-responses", "document"),
        ("gemini-interactions", "document"),
        ("gemini-interactions", "document with a name"),
        ("gemini-interactions", "document of its kind"),
        ("gemini-interactions", "documents"),
        ("gemini-interactions", "end without an answer"),
        ("gemini-interactions", "events of ours"),
        ("openai-chat", "binary stream"),
    ],
)
def test_a_dialect_that_recognises_nothing(run, db, dialect, name):
    """
    An answer that a dialect leaves out as a whole is refused: with what it begins with, and what was expected.
    """
    begins = {
        "stream": (HELLO, "type 'interaction.created', event_type 'interaction.created', interaction"),
        "stream with an end": (
            HELLO + b"data: [DONE]\n\n",
            "type 'interaction.created', event_type 'interaction.created', interaction",
        ),
        "document": (json.dumps(CLAUDE).encode(), "id, model, type 'message', role 'assistant', content, usage"),
        "document with a name": (b'{"id": "r", "model": "m", "status": "completed"}', "id, model, status"),
        "document of its kind": (b'{"object": "interaction", "x": 1}', "object 'interaction', x"),
        "documents": (
            json.dumps([RESOURCE, RESOURCE]).encode(),
            "id, object 'interaction', status, model, steps, usage",
        ),
        "end without an answer": (
            streams.sse({"event_type": "interaction.completed", "interaction": {}}),
            "type 'interaction.completed', event_type 'interaction.completed', interaction",
        ),
        "events of ours": (
            b'{"type": "text.started", "v": 1, "message_id": "a1"}\n',
            "type 'text.started', v, message_id",
        ),
        "binary stream": (BINARY, "type 'message_start', message"),
    }
    data, fields = begins[name]
    for command in (["fold", "-"], ["fold", "-", "--db", db], ["events", "-"], ["verify", "-"]):
        ran = run(*command, "--dialect", dialect, stdin=data)
        first, begin, expected = ran.err.splitlines()[-3:]

        assert (2, "") == (ran.code, ran.out)
        assert f"assistant-events: standard input: nothing in it is an answer of {dialect}" == first
        assert f"  all of it was left out, the first object has the fields {fields}" == begin
        assert expected.startswith(f"  {dialect}: expected ")


def test_the_binary_stream_of_bedrock(run, tmp_path):
    """
    A binary stream is known by its first checksum, though a length before it may look like the end of a line.
    """
    path = tmp_path / "answer.bin"
    path.write_bytes(BINARY)

    assert b"\n" == BINARY[2:3]
    for ran in (
        run("fold", path, "--json"),
        run("fold", "-", "--json", stdin=BINARY),
        run("fold", "-", "--json", stdin=Pieces(BINARY)),
    ):
        [message] = messages(ran)
        assert "anthropic-messages" == message["origin"]["dialect"]
        assert "Hello" == message["parts"][0]["text"]


def test_json_names_every_field(run, stream):
    """
    With --json the transcript has the fields of each part, also those that hold their default.
    """
    [message] = run("fold", stream, "--json").json["messages"]
    reasoning, search, answer, call, opaque = message["parts"]

    assert ("assistant", "m1", "completed", "tool-calls") == tuple(
        message[name] for name in ("type", "id", "status", "finish_reason")
    )
    assert {"type": "reasoning", "text": "I look it up.", "status": "completed"} == reasoning
    assert {
        "type": "text",
        "text": "It rains in Bergen.",
        "status": "completed",
        "citations": [],
        "details": {},
    } == answer
    assert (True, False) == (search["provider_executed"], call["provider_executed"])
    assert {"type": "opaque", "status": "completed"} == opaque
    assert not {"state", "result_state", "times", "extra"}.intersection(*[part.keys() for part in (search, call)])
    assert ("c1", "get_weather", {"city": "Bergen"}, "called", [], None) == tuple(
        call[name] for name in ("call_id", "name", "input", "status", "output", "error")
    )


def test_json_is_read_by_the_converters(run, stream):
    """
    What --json prints is a transcript to the library, too.
    """
    assert isinstance(structure(run("fold", stream, "--json").json, Transcript), Transcript)


FORMS = {
    "sse": HELLO,
    "sse with crlf": HELLO.replace(b"\n", b"\r\n"),
    "sse after a mark and blank lines": b"\xef\xbb\xbf\n\n" + HELLO,
    "sse after a comment": b": ping\n\n" + HELLO,
    "sse with bare data": b"".join([line + b"\n\n" for line in HELLO.split(b"\n") if line.startswith(b"data")]),
    "json lines": b"\n".join([line[6:] for line in HELLO.split(b"\n") if line.startswith(b"data")]),
    "json array": b"[%s]" % b",\n".join([line[6:] for line in HELLO.split(b"\n") if line.startswith(b"data")]),
    "resource": json.dumps(RESOURCE).encode(),
    "resource over several lines": json.dumps(RESOURCE, indent=2).encode(),
    "resource in an array": json.dumps([RESOURCE]).encode(),
}


@pytest.mark.parametrize("data", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("place", ["file", "stdin"])
def test_every_form_of_one_answer(run, tmp_path, data, place):
    """
    A stream, its events as JSON, and the answer as one document give one message, from wherever they are read.
    """
    path = tmp_path / "input"
    path.write_bytes(data)
    ran = run("fold", path, "--json") if place == "file" else run("fold", "-", "--json", stdin=data)

    assert (0, "") == (ran.code, ran.err)
    assert messages(run("fold", "-", "--json", stdin=HELLO)) == messages(ran)


@pytest.mark.parametrize("data", [*FORMS.values(), NAMELESS], ids=[*FORMS, "nameless"])
def test_input_in_pieces(run, data):
    """
    What comes in pieces of a few bytes, and cannot be read twice, gives the same message.
    """
    ran = run("fold", "-", "--json", stdin=Pieces(data))

    assert (0, "") == (ran.code, ran.err)
    assert messages(run("fold", "-", "--json", stdin=data)) == messages(ran)


@pytest.mark.parametrize("data", [streams.sse(streams.created())[:-2], json.dumps(streams.created()).encode()])
def test_one_event(run, data):
    """
    The first event of a stream is the beginning of an answer, also without the blank line behind it, and as JSON.
    """
    ran = run("fold", "-", stdin=data)

    assert (0, "m1  assistant · google gemini-3.6-flash · failed") == (ran.code, ran.out.splitlines()[0])
    assert "  error     interrupted: the stream stopped before its end" in ran.out


@pytest.mark.parametrize(("before", "code"), [(99, 0), (100, 2)])
def test_frames_of_a_proxy(run, before, code):
    """
    A dialect is looked for in the first hundred frames.
    """
    ran = run("fold", "-", stdin=b'data: {"hello": 1}\n\n' * before + HELLO)

    assert code == ran.code
    assert ("  tried 100 objects, the first has the fields hello\n" in ran.err) is bool(code)


@pytest.mark.parametrize("data", [HELLO, FORMS["resource"]], ids=["stream", "document"])
def test_provider(run, data):
    """
    --provider names who ran the model.
    """
    [message] = run("fold", "-", "--json", "--provider", "acme", stdin=data).json["messages"]

    assert "acme" == message["origin"]["provider"]


@pytest.mark.parametrize("interaction", [{"id": "v1_a"}, {"model": "m"}])
def test_an_answer_of_nothing(run, interaction):
    """
    An answer that has a name or a model is one, though it holds nothing.
    """
    ended = {"event_type": "interaction.completed", "interaction": {"status": "completed"}}
    ran = run("fold", "-", stdin=streams.sse({"event_type": "interaction.created", "interaction": interaction}, ended))

    assert (0, "completed (stop)") == (ran.code, ran.out.splitlines()[0].rpartition(" · ")[2])


def test_events_fold_to_what_the_stream_folds_to(run, stream):
    """
    What `events` prints can be folded, all of it or the durable ones.
    """
    every = run("events", stream, "--with-state").out.encode()
    durable = run("events", stream, "--with-state", "--durable").out.encode()

    assert messages(run("fold", stream, "--json")) == messages(run("fold", "-", "--json", stdin=every))
    assert messages(run("fold", stream, "--json")) == messages(run("fold", "-", "--json", stdin=durable))


@pytest.mark.parametrize("data", [*FORMS.values(), SEARCH, NAMELESS], ids=[*FORMS, "search", "nameless"])
def test_twice_is_once(run, db, data):
    """
    The same input again adds nothing to the message that it was stored as, when --message names that.
    """
    first = run("fold", "-", "--db", db, "--json", stdin=data)
    again = run("fold", "-", "--db", db, "--json", "--message", "m1", stdin=data)

    assert f"assistant-events: session 'main' of {db}: nothing added\n" in again.err
    assert first.json == again.json
    assert messages(run("fold", "-", "--json", stdin=data)) == messages(again)


@pytest.mark.parametrize(
    ("whole", "named"),
    [(SEARCH, ()), (HELLO, ()), (NAMELESS, ("--message", "m1"))],
    ids=["search", "hello", "without a run id"],
)
def test_cut_and_then_the_whole(run, tmp_path, whole, named):
    """
    Wherever a file was cut, the whole afterwards gives the uncut transcript: the run id or --message finds the message.
    """
    uncut = messages(run("fold", "-", "--json", stdin=whole))
    for at in range(60, len(whole), 71):
        db = tmp_path / f"{at}.db"
        cut = run("fold", "-", "--db", db, *named, stdin=whole[:at])
        if cut.code:
            assert not db.exists()
        if b"interaction.completed" not in whole[:at]:
            run("fold", "-", "--db", db, *named, stdin=whole[:at])
            joined = run("fold", "-", "--db", db, "--json", *named, stdin=whole)

            assert uncut == messages(joined), at
        assert 0 == run("verify", "--db", db).code


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (SEARCH, HELLO),
        (SEARCH[:600], HELLO),
        (HELLO, HELLO),
        (HELLO, HELLO_AGAIN),
        (FAILED, HELLO),
        (NAMELESS[:300], NAMELESS),
    ],
    ids=["other run", "other run, cut", "same run, complete", "same run, other words", "same run, failed", "no run"],
)
def test_another_message(run, db, one, other):
    """
    An answer is a new message unless a message of its run was cut, whatever its text.
    """
    run("fold", "-", "--db", db, stdin=one)
    ran = run("fold", "-", "--db", db, "--json", stdin=other)

    assert ["m1", "m2"] == [message["id"] for message in ran.json["messages"]]
    assert 0 == run("verify", "--db", db).code


def test_a_run_of_another_provider(run, db):
    """
    Two providers may use one id, so an answer of one does not continue a message of the other.
    """
    run("fold", "-", "--db", db, stdin=HELLO[:400])
    run("fold", "-", "--db", db, stdin=dumps(prompt("And now?")))
    ran = run("fold", "-", "--db", db, "--json", "--provider", "acme", stdin=HELLO)

    answers = [message for message in ran.json["messages"] if "origin" in message]
    assert ["google", "acme"] == [message["origin"]["provider"] for message in answers]


def test_the_newest_of_two_that_were_cut(run, db):
    """
    Of two cut messages of a run the newer one is continued.
    """
    run("fold", "-", "--db", db, stdin=HELLO[:400])
    run("fold", "-", "--db", db, "--message", "m2", stdin=HELLO[:400])
    ran = run("fold", "-", "--db", db, "--json", stdin=HELLO)

    assert [("m1", "failed"), ("m2", "completed")] == [(each["id"], each["status"]) for each in ran.json["messages"]]


def test_an_id_that_is_taken(run, db):
    """
    A new message is counted on until its name is free.
    """
    run("fold", "-", "--db", db, "--message", "m2", stdin=HELLO)
    ran = run("fold", "-", "--db", db, "--json", stdin=NAMELESS)

    assert ["m2", "m3"] == [message["id"] for message in ran.json["messages"]]


def test_resource_after_its_cut_stream(run, db):
    """
    The document of an answer completes the stream of it that was cut.
    """
    run("fold", "-", "--db", db, stdin=HELLO[:400])
    ran = run("fold", "-", "--db", db, "--json", stdin=FORMS["resource"])

    assert messages(run("fold", "-", "--json", stdin=HELLO)) == messages(ran)


def test_answer_without_id_and_model(run, db):
    """
    An answer without id and model is an answer all the same.
    """
    data = streams.sse(UNNAMED, *streams.text(0, "Hm."), streams.completed(""))

    assert "4 records added" in run("fold", "-", "--db", db, stdin=data).err


def test_citations(run):
    """
    Sources are printed below their text.
    """
    cited = {"type": "url_citation", "url": "https://example.org/", "title": "Rain", "start_index": 0, "end_index": 2}
    noted = streams.delta(0, type="text_annotation_delta", annotations=[cited, {**cited, "start_index": None}])
    begun, first, *_, last = streams.text(0, "It rains.")
    ran = run("fold", "-", stdin=streams.sse(streams.created(), begun, first, noted, last, streams.completed()))

    assert (
        "  text      It rains.\n"
        "    cites     [0:2] Rain https://example.org/\n"
        "    cites     Rain https://example.org/\n"
    ) in ran.out


def test_named_pipe(run, tmp_path):
    """
    What can be read only once, such as a named pipe, is read like standard input.
    """
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=[HELLO])
    writer.start()
    ran = run("fold", path)
    writer.join()

    assert "Hello, Oslo!" in ran.out


def test_message_by_name(run, db):
    """
    --message names the message of the answer; a second answer of this name adds nothing to one that is complete.
    """
    run("fold", "-", "--db", db, "--message", "mine", stdin=HELLO[:400])
    ran = run("fold", "-", "--db", db, "--message", "mine", "--json", stdin=HELLO)
    document = run("fold", "-", "--db", db, "--message", "other", "--json", stdin=FORMS["resource"])

    assert [("mine", "completed")] == [(message["id"], message["status"]) for message in ran.json["messages"]]
    assert ["mine", "other"] == [message["id"] for message in document.json["messages"]]
    assert "mine" == run("fold", "-", "--message", "mine", "--json", stdin=HELLO).json["messages"][0]["id"]


def test_ids_of_rewound_messages_are_not_used_again(run, db):
    """
    A new message gets an id that no message of the session has had.
    """
    run("fold", "-", "--db", db, stdin=HELLO)
    rewind = b'{"type":"history.rewound","v":1,"message_id":"m1"}\n'
    run("fold", "-", "--db", db, stdin=rewind)
    ran = run("fold", "-", "--db", db, "--json", stdin=NAMELESS)

    assert (["m2"], ["m1"]) == ([message["id"] for message in ran.json["messages"]], ran.json["rewound"])


def test_own_events_are_appended(run, db):
    """
    Events of ours go on with what the log holds; one that is out of place is refused in one line.
    """
    log = run("events", "-", "--durable", "--with-state", stdin=SEARCH).out.encode().splitlines(keepends=True)
    run("fold", "-", "--db", db, stdin=b"".join(log[:4]))
    rest = run("fold", "-", "--db", db, stdin=b"".join(log[4:]))
    again = run("fold", "-", "--db", db, stdin=b"".join(log))

    assert f"{len(log) - 4} records added" in rest.err
    assert (
        2,
        "assistant-events: step.started of message 'm1' is out of place: it contradicts what is there (conflict)\n",
    ) == (again.code, again.err)


def test_many_own_events_are_appended_in_batches(run, db):
    """
    A log of more than one batch is appended whole.
    """
    line = '{"type":"prompt.submitted","v":1,"message_id":"u%d","content":[{"type":"text","text":"hi"}]}\n'
    ran = run("fold", "-", "--db", db, "--json", stdin="".join([line % at for at in range(1100)]).encode())

    assert 1100 == len(ran.json["messages"])


def test_an_event_of_a_newer_version(run, db):
    """
    An event of a type that this version does not know is one of ours, and is stored.
    """
    ran = run("fold", "-", "--db", db, stdin=b'{"type": "from.tomorrow", "v": 3, "message_id": "a1"}\n')

    assert (0, f"assistant-events: session 'main' of {db}: 1 record added\n") == (ran.code, ran.err)


def test_records_fold(run, stream, db):
    """
    Records are events of ours with their place.
    """
    log = run("events", stream, "--durable", "--with-state").out.splitlines()
    record = '{"session_id":"s","seq":%d,"at":"2026-11-20T10:00:00Z","event":%s}'
    data = "\n".join([record % (seq, line) for seq, line in enumerate(log, 1)]).encode()
    ran = run("fold", "-", "--json", stdin=data)

    assert (0, len(log)) == (ran.code, ran.json["seq"])
    assert [] == run("verify", "-", "--json", stdin=data).json["problems"]
    assert f"{len(log)} records added" in run("fold", "-", "--db", db, stdin=data).err
    assert '"seq":1' in run("events", "-", stdin=data).out
    assert len(log) == run("events", "-", "--durable", stdin=data).out.count("\n")


def test_parsed_events_that_are_none_are_left_out(run):
    """
    In JSON lines of a provider, a line that is not an object is left out and counted.
    """
    lines = [line[6:] for line in HELLO.split(b"\n") if line.startswith(b"data")]
    ran = run("fold", "-", "--json", stdin=b"\n".join([*lines[:2], b"{broken", b"17", *lines[2:]]))

    assert messages(run("fold", "-", "--json", stdin=HELLO)) == messages(ran)
    assert "assistant-events: a document that is not a JSON object was left out (2 times)\n" == ran.err


def test_what_is_left_out_is_counted_once(run):
    """
    A line that is read twice, because the beginning of the answer is behind it, is left out once.
    """
    lines = [json.dumps(each) for each in [UNNAMED, "odd", *streams.text(0, "Hm."), streams.completed("")]]
    ran = run("fold", "-", stdin="\n".join(lines).encode())

    assert "assistant-events: a document that is not a JSON object was left out\n" == ran.err


def test_many_notes_are_counted(run):
    """
    Notes of one kind are one line; those that a decoder no longer keeps are counted, too.
    """
    odd = [{"event_type": "from.tomorrow"}] * 120
    ran = run("fold", "-", stdin=streams.sse(streams.created(), *odd, streams.completed()))

    assert "an event of an unknown type was left out (100 times)" in ran.err
    assert "more that could not be used was left out (20 times)" in ran.err


def test_check(run):
    """
    A failed answer is printed like any other; with --check the exit code shows that it failed, or has not ended.
    """
    cut = HELLO[:-200]

    begun = run("events", "-", "--durable", stdin=HELLO).out.encode().splitlines()[0]

    assert [0, 1, 1, 0] == [
        run("fold", "-", stdin=cut).code,
        run("fold", "-", "--check", stdin=cut).code,
        run("fold", "-", "--check", stdin=begun).code,
        run("fold", "-", "--check", stdin=HELLO).code,
    ]


def test_failed_answer_says_why(run):
    """
    A failed answer has the failure in its heading, and the error.
    """
    error = {"event_type": "error", "error": {"code": 503, "message": "down", "status": "UNAVAILABLE"}}
    ran = run("fold", "-", stdin=streams.sse(streams.created(), error))

    assert "m1  assistant · google gemini-3.6-flash · failed\n" in ran.out
    assert "  error     overloaded: down (may be tried again)\n" in ran.out


def test_a_failed_answer_in_one_document(run, tmp_path):
    """
    It is read as a document, and not as an error of a stream: with its model, its text and its usage.
    """
    content = [{"type": "output_text", "text": "It is", "annotations": []}]
    document = {
        "id": "resp_1",
        "object": "response",
        "status": "failed",
        "model": "gpt-5.6",
        "output": [
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "incomplete", "content": content},
        ],
        "usage": {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11},
        "error": {"code": "server_error", "message": "boom"},
    }
    path = tmp_path / "failed.json"
    path.write_text(json.dumps(document))

    assert [
        "m1  assistant · openai gpt-5.6 · failed",
        "  text      It is",
        "  error     provider: boom (may be tried again)",
        "  usage     input 9 · output 2 · total 11",
    ] == run("fold", path).out.splitlines()[:4]


def test_no_more_is_read_than_it_takes():
    """
    A stream, and JSON lines of two events, are recognised while the rest is still to come.
    """
    events = [streams.created(), streams.start(0, type="model_output")]
    for data in (streams.sse(events[0]), "".join([json.dumps(each) + "\n" for each in events]).encode()):
        found = recognise(Input("-", io.BufferedReader(Pieces(data, waits=True))))

        assert "step.started" == next(found.events("m1", last=False)).type


@pytest.mark.parametrize("data", [b"\0" * 99, b"x" * 99], ids=["zeros", "one word"])
def test_what_cannot_be_used_is_not_read_to_its_end(data):
    """
    A file of zeros, or a device, is refused by its beginning.
    """
    with pytest.raises(CommandError, match="expected server-sent events or JSON, this is neither"):
        recognise(Input("-", io.BufferedReader(Pieces(data, waits=True), 7)))


def test_a_note_is_one_line(run, tmp_path):
    """
    A note that names a file has one line, whatever the name.
    """
    ran = run("fold", "-", "--db", tmp_path / "two\nlines.db", stdin=HELLO)

    assert f"assistant-events: session 'main' of {tmp_path}/two\\nlines.db: 4 records added\n" == ran.err


def test_escape_codes_are_spelled_out(run):
    """
    Control characters of a model reach neither terminal nor pipe; in JSON they are escapes of the same value.
    """
    evil = "\x1b]0;owned\x07 \x9b31m \u202e nasty\r\n"
    data = streams.sse(streams.created("v1_\x1b[2J", model="m\x1b[1m\nx"), *streams.text(0, evil), streams.completed())
    ran = run("fold", "-", stdin=data)
    as_json = run("fold", "-", "--json", stdin=data)

    assert "m1  assistant · google m\\x1b[1m\\nx · completed (stop)" == ran.out.splitlines()[0]
    assert "\\x1b]0;owned\\x07 \\x9b31m \\u202e nasty" in ran.out
    assert not {"\x1b", "\x9b", "\u202e", "\x07", "\r"} & set(ran.out + as_json.out)
    assert evil == as_json.json["messages"][0]["parts"][0]["text"]


def test_standard_input_while_it_comes(run, db):
    """
    A session that holds messages takes a stream from standard input, which cannot be read twice.
    """
    run("fold", "-", "--db", db, stdin=HELLO)
    run("fold", "-", "--db", db, stdin=NAMELESS[:300])
    ran = run("fold", "-", "--db", db, "--json", "--message", "m2", stdin=NAMELESS)

    assert ["Hello, Oslo!", "One two three."] == [m["parts"][0]["text"] for m in ran.json["messages"]]


def test_ctrl_c_that_ends_no_wait():
    """
    Ctrl-C that comes just before the wait for standard input, and so does not end it, is noticed all the same.

    A signal that another thread takes is one that ends no wait of the main thread.
    """
    read, write = os.pipe()
    waiting, ended = threading.get_ident(), threading.Event()

    def interrupt():
        while not sys._current_frames()[waiting].f_code.co_filename.endswith("source.py"):
            pass
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        ended.wait(30)
        os.close(write)

    thread = threading.Thread(target=interrupt)
    with os.fdopen(read, "rb") as stream:
        thread.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                next(Input("-", stream).chunks())
            in_time = thread.is_alive()
        finally:
            ended.set()
            thread.join()

    assert in_time
