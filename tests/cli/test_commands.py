"""`events`, `show`, `sessions`, `verify` and `reconcile` on what is in order and what is not."""

import base64
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest

from assistant_events import (
    CompactionStarted,
    ErrorInfo,
    Event,
    Frame,
    JsonContent,
    MediaContent,
    MediaEnded,
    MediaStarted,
    Message,
    Record,
    StepEnded,
    StepStarted,
    TextContent,
    TextDelta,
    TextStarted,
    Transcript,
    Usage,
    fold,
)
from assistant_events.converters import dumps, json_schema, structure
from assistant_events.stores import SqliteStore
from assistant_events.testing import Call, answer, compaction, durable, origin, prompt
from assistant_events.testing import run as provider_run
from tests.cli.streams import CANARY, HELLO, SEARCH

EVERYTHING = [
    prompt([TextContent(text="look"), JsonContent(value={"a": 1}), MediaContent(media_type="image/png", data=b"1234")]),
    *durable(
        answer(
            "Done.",
            reasoning="Hm.",
            calls=[Call("broken", error=ErrorInfo(kind="tool", message="no luck")), Call("open"), Call("bad", "{")],
        )
    ),
    *durable(compaction("so far")),
    StepStarted(message_id="a2", origin=origin()),
    MediaStarted(message_id="a2", media_type="image/png"),
    MediaEnded(message_id="a2", media_type="image/png", data=b"x" * 2_500_000),
    TextStarted(message_id="a2"),
]


@pytest.fixture
def full(db):
    """A session with something of everything, left in the middle of a text."""
    with SqliteStore(db) as store:
        store.append("full", EVERYTHING)
    return db


def pruned(db, session, seq=None, before=None):
    """Store a snapshot of the first *seq* records, all by default, and prune those up to *before*."""
    with SqliteStore(db) as store:
        transcript = fold(store.read(session, limit=seq))
        store.snapshot(session, transcript)
        store.prune(session, transcript.seq if before is None else before)


def jsonl(events):
    return b"".join([dumps(event) + b"\n" for event in events])


def test_events(run):
    """
    Each event is one line of JSON; with --durable only those that are kept.
    """
    every = [structure(json.loads(line), Event) for line in run("events", "-", stdin=HELLO).out.splitlines()]
    kept = [
        structure(json.loads(line), Event) for line in run("events", "-", "--durable", stdin=HELLO).out.splitlines()
    ]

    assert ["step.started", "text.started", "text.delta", "text.delta", "text.ended", "step.ended"] == [
        event.type for event in every
    ]
    assert [event for event in every if event.durable] == kept
    assert run("events", "-", stdin=HELLO).out == run("events", "-", "--json", stdin=HELLO).out


def test_events_with_state(run):
    """
    State is in the output only when it is asked for.
    """
    without = run("events", "-", stdin=SEARCH)

    assert CANARY not in without.out
    assert "assistant-events: a step of an unknown type was kept raw\n" == without.err
    assert CANARY in run("events", "-", "--with-state", stdin=SEARCH).out


FULL = """\
u1  user
  text      look
  text      {"a":1}
  text      image/png · 4 B

a1  assistant · acme acme-1 · completed (tool-calls)
  reasoning Hm.
  text      Done.
  call      broken call-1 · failed
    input     {}
    error     tool: no luck
  call      open call-2 · waits for the app
    input     {}
  call      bad call-3 · failed
    input     {
    error     invalid-input: """


def test_show(run, full):
    """
    A session is shown whole: prompts, answers, summaries, media, what is open, and sums at the end.
    """
    ran = run("show", "full", "--db", full)

    assert 0 == ran.code
    assert ran.out.startswith(FULL)
    assert "c1  compaction (auto) · completed\n  text      so far\n" in ran.out
    assert (
        "a2  assistant · acme acme-1 · running\n  media     image/png · 2.5 MB\n  text       (still open)\n" in ran.out
    )
    assert ran.out.endswith("\n\nsession 'full': 4 messages from 23 records, 0 B of state\n")


def test_show_json(run, db):
    """
    With --json there are messages, sums of usage, and sizes of state without its values.
    """
    run("fold", "-", "--db", db, "--session", "s", stdin=SEARCH)
    run("fold", "-", "--db", db, "--session", "s", stdin=HELLO)
    with SqliteStore(db) as store:
        store.append("s", [prompt("More?")])
    shown = run("show", "s", "--db", db, "--json").json

    assert ("s", ["m1", "m2", "u1"]) == (shown["session_id"], [message["id"] for message in shown["messages"]])
    assert {
        "input_tokens": 20,
        "cache_read_tokens": None,
        "cache_write_tokens": None,
        "output_tokens": 14,
        "reasoning_tokens": 4,
        "total_tokens": 34,
    } == shown["usage"]
    assert shown["state_bytes"]["m1"] > 3 * len(CANARY) > shown["state_bytes"]["m2"]
    assert {"m1", "m2"} == shown["state_bytes"].keys()
    assert CANARY not in json.dumps(shown)


def test_show_without_usage(run, full):
    """
    Usage that was not reported is null.
    """
    assert run("show", "full", "--db", full, "--json").json["usage"] is None


def test_show_sums(run, db):
    """
    The last line of a session sums up.
    """
    run("fold", "-", "--db", db, stdin=HELLO)

    sums = "1 message from 4 records, 32 B of state, tokens: input 10 · output 7 · reasoning 2 · total 17"

    assert run("show", "main", "--db", db).out.endswith(f"session 'main': {sums}\n")


def test_sessions(run, db, full):
    """
    The list shows the length of each session, when it was written, and whose move it is.
    """
    run("fold", "-", "--db", db, "--session", "s", stdin=HELLO)
    [head, first, second] = run("sessions", "--db", db).out.splitlines()
    listed = run("sessions", "--db", db, "--json").json["sessions"]

    assert "session records created (UTC) updated (UTC) awaits" == " ".join(head.split())
    assert (["s", "4"], ["full", "23"]) == (first.split()[:2], second.split()[:2])
    assert ("user", "provider") == (first.split()[-1], second.split()[-1])
    assert [("s", 4, "user"), ("full", 23, "provider")] == [
        (one["session_id"], one["seq"], one["awaits"]) for one in listed
    ]


def test_times_of_sessions(run, db):
    """
    A session was created with its first batch and updated with its last one.
    """
    times = iter([datetime(2026, 11, 20, 10, 0, second, tzinfo=UTC) for second in (1, 2)])
    with SqliteStore(db, clock=lambda: next(times)) as store:
        store.append("s", [prompt("Hi")])
        store.append("s", durable(answer("Hi")))
    pruned(db, "s")
    [listed] = run("sessions", "--db", db, "--json").json["sessions"]

    created, updated = "2026-11-20T10:00:01+00:00", "2026-11-20T10:00:02+00:00"
    assert {"session_id": "s", "seq": 5, "pruned_to": 5, "created": created, "updated": updated, "awaits": "user"} == (
        listed
    )
    assert (
        "session  records            created (UTC)        updated (UTC)        awaits\n"
        "s        5 (1 to 5 pruned)  2026-11-20 10:00:01  2026-11-20 10:00:02  user\n"
    ) == run("sessions", "--db", db).out


def test_no_sessions(run, db):
    """
    A database without sessions gets a line of its own.
    """
    SqliteStore(db).close()

    assert ("no sessions\n", {"sessions": []}) == (
        run("sessions", "--db", db).out,
        run("sessions", "--db", db, "--json").json,
    )


def test_pruned_session(run, full):
    """
    A session whose first records are pruned is listed, shown and verified.
    """
    pruned(full, "full", 20, 15)

    assert " 23 (1 to 15 pruned) " in run("sessions", "--db", full).out
    assert run("show", "full", "--db", full).out.startswith(FULL)
    assert "no problems\n" == run("verify", "full", "--db", full).out


def test_verify_finds_what_is_out_of_place(run, db):
    """
    A log with events out of place is a problem, in a database and in a file, and in the exit code.
    """
    odd = [StepEnded(message_id="a1", finish_reason="stop"), *durable(answer("Hi")), TextStarted(message_id="a1")]
    with SqliteStore(db) as store:
        store.append("good", durable(answer("Hi")))
        store.append("bad", odd)
    stored = run("verify", "--db", db)
    in_file = run("verify", "-", stdin=jsonl(odd))
    listed = run("verify", "bad", "--db", db, "--json")

    assert (1, 1, 1) == (stored.code, in_file.code, listed.code)
    assert (
        "session 'bad': event 0: step.ended of message 'a1' at seq 1 "
        "is out of place: what it belongs to has not begun (orphan)\n"
        "session 'bad': event 5: text.started of message 'a1' at seq 6 "
        "is out of place: what it belongs to has ended or was rewound (late)\n"
        "2 problems found\n"
    ) == stored.out
    assert [(0, 1, "orphan"), (5, 6, "late")] == [
        (problem["position"], problem["seq"], problem["kind"]) for problem in listed.json["problems"]
    ]
    assert in_file.out.startswith(
        "event 0: step.ended of message 'a1' is out of place: what it belongs to has not begun (orphan)\n"
    )
    assert (0, "no problems\n") == (run("verify", "good", "--db", db).code, run("verify", "good", "--db", db).out)


def test_verify_lists_the_sessions_once(run, db, monkeypatch):
    """
    The list is not read again for each session: with thousands of them that took a minute.
    """
    with SqliteStore(db) as store:
        for name in ("one", "two", "three"):
            store.append(name, durable(answer("Hi")))
    listed = []
    sessions = SqliteStore.sessions
    monkeypatch.setattr(SqliteStore, "sessions", lambda store, *given: listed.append(given) or sessions(store, *given))

    assert "no problems\n" == run("verify", "--db", db).out
    assert 1 == len(listed)


def test_the_default_database(run, tmp_path, monkeypatch):
    """
    Without `--db` a command finds the database that `run` makes; a file of the name is preferred to a session.
    """
    monkeypatch.chdir(tmp_path)
    odd = [*durable(answer("Hi")), TextStarted(message_id="a1")]
    with SqliteStore("assistant-events.db") as store:
        store.append("good", durable(answer("Hi")))
        store.append("bad", odd)
    (tmp_path / "file").write_bytes(jsonl(durable(answer("Hi"))))

    assert ["bad", "good"] == [one["session_id"] for one in run("sessions", "--json").json["sessions"]]
    assert "text      Hi" in run("show", "good").out
    assert "nothing to settle\n" == run("reconcile", "good").out
    assert [1, 0, 1, 0] == [run("verify", *target).code for target in ([], ["good"], ["bad"], ["file"])]
    assert "no session 'other'" in run("verify", "other").err
    assert 1 == run("verify", "-", stdin=jsonl(odd)).code


def test_delete(run, db):
    """
    A deleted session is gone, and the others stay.
    """
    with SqliteStore(db) as store:
        store.append("s1", durable(answer("Hi")))
        store.append("s2", durable(answer("Hi")))
    deleted = run("delete", "s1", "--db", db)

    assert (0, "session 's1': 4 records deleted\n") == (deleted.code, deleted.out)
    assert ["s2"] == [one["session_id"] for one in run("sessions", "--db", db, "--json").json["sessions"]]


def test_markdown(run, db):
    """
    A conversation is printed as Markdown, with whole outputs, in fences that they do not close, and without state.
    """
    output = f"```\n{'x' * 1000}\n```"
    call = Call("look", {"at": "birds"}, call_id="c1", output=output)
    events = [
        prompt("What is *this*?"),
        *answer("An owl.", reasoning="Hm.\nFeathers.", calls=[call], state={"s": 1}, usage=Usage(input_tokens=3)),
    ]
    with SqliteStore(db) as store:
        store.append("s1", durable(events))
    shown = run("show", "s1", "--db", db, "--markdown").out

    assert (
        "## user\n\nWhat is *this*?\n\n"
        "## assistant · acme acme-1 · completed (tool-calls)\n\n"
        "> Hm.\n> Feathers.\n\nAn owl.\n\n"
        '*call*: look c1 · success\n\n```\n{"at":"birds"}\n```\n\n'
        f"````\n{output}\n````\n"
    ) == shown


def test_what_a_model_or_a_user_wrote_controls_no_terminal(run, db):
    """
    Control characters in Markdown and in the names of sessions are printed as escapes.
    """
    with SqliteStore(db) as store:
        store.append("s\x1b[2J\n1", durable([prompt("Hi"), *answer("An \x1b[31mowl\x07.")]))

    assert r"An \x1b[31mowl\x07." in run("show", "s\x1b[2J\n1", "--db", db, "--markdown").out
    assert r"s\x1b[2J\n1" in run("sessions", "--db", db).out


def test_names_are_one_line_and_control_no_terminal(run, db):
    """
    Names of sessions and messages are spelled out where they hold line ends or escape codes.
    """
    with SqliteStore(db) as store:
        store.append("a\nb\x1b[31m", [prompt("Hi")])
    listed = run("sessions", "--db", db).out
    late = jsonl([TextStarted(message_id="a\n\x1b[31m1")])
    found = run("verify", "-", stdin=late).out
    left = run("delete", "a\nb\x1b[31m", "--db", db).out

    assert 2 == listed.count("\n")
    assert "\na\\nb\\x1b[31m  " in listed
    assert "event 0: text.started of message 'a\\n\\x1b[31m1' is out of place" in found
    assert "session 'a\\nb\\x1b[31m': 1 record deleted\n" == left


def test_verify_a_stream(run):
    """
    A provider's stream is decoded and its events are looked at.
    """
    ran = run("verify", "-", stdin=SEARCH)

    assert (0, "no problems\n") == (ran.code, ran.out)
    assert "assistant-events: a step of an unknown type was kept raw\n" == ran.err


def test_verify_looks_at_the_snapshot(run, full):
    """
    A snapshot that is not what the records fold to is a problem.
    """
    with SqliteStore(full) as store:
        store.snapshot("full", fold(store.read("full", limit=20)))
    good = run("verify", "full", "--db", full)
    with SqliteStore(full) as store:
        store.append("other", durable(answer("Hi")))
        other = fold(store.read("other"))
    database = sqlite3.connect(full)
    with database:
        database.execute("UPDATE snapshots SET body = ?", (dumps(other),))
    database.close()
    ran = run("verify", "full", "--db", full)

    assert 0 == good.code
    assert (1, "session 'full': the snapshot at seq 4 differs from the records\n1 problem found\n") == (
        ran.code,
        ran.out,
    )


def test_verify_a_damaged_record(run, full):
    """
    A record that cannot be read is a problem.
    """
    database = sqlite3.connect(full)
    with database:
        database.execute("UPDATE records SET body = '[{\"type\":1}]'")
    database.close()
    ran = run("verify", "--db", full, "--json")
    shown = run("show", "full", "--db", full)

    assert (1, ["damaged"]) == (ran.code, [problem["kind"] for problem in ran.json["problems"]])
    assert (3, 1) == (shown.code, shown.err.count("\n"))


@pytest.mark.parametrize(
    ("damage", "is_unknown"),
    [
        ("UPDATE records SET body = '[{]' WHERE key >> 32 = 1", True),
        ("UPDATE snapshots SET body = '[{]'", True),
        ("UPDATE checkpoints SET body = 5", False),
    ],
)
def test_a_damaged_session_beside_others(process, full, damage, is_unknown):
    """
    A damaged session is named by `verify`, and by `sessions` where its unfinished work is unknown; others are listed.
    """
    with SqliteStore(full) as store:
        store.append("other", durable(answer("Hi"))[:-1])
        store.snapshot("full", fold(store.read("full", limit=1)))
        store.checkpoint("full", [TextDelta(message_id="a2", offset=0, delta="x")])
    with closing(sqlite3.connect(full)) as database, database:
        database.execute(damage)
    listed = process("sessions", "--db", full, "--json")
    verified = process("verify", "--db", full, "--json")

    awaits = {found["session_id"]: found["awaits"] for found in listed.json["sessions"]}
    assert (0, "provider", is_unknown) == (listed.code, awaits["other"], "session 'full'" in listed.err)
    assert (1, [("full", "damaged")]) == (
        verified.code,
        [(problem["session_id"], problem["kind"]) for problem in verified.json["problems"]],
    )


def test_reconcile(run, full):
    """
    What a crash left open is printed, and appended only with --write; then there is nothing left.
    """
    before = run("reconcile", "full", "--db", full)
    written = run("reconcile", "full", "--db", full, "--write")
    after = run("reconcile", "full", "--db", full)
    abandoned = run("reconcile", "full", "--db", full, "--abandon-calls", "--write", "--json")

    assert (
        "text.ended of message 'a2'\nstep.failed of message 'a2'\n2 events to append; --write does it\n"
    ) == before.out
    assert written.out.endswith("2 events appended\n")
    assert "nothing to settle; 1 event with --abandon-calls and --abandon-runs\n" == after.out
    assert (["tool.failed"], True) == ([event["type"] for event in abandoned.json["events"]], abandoned.json["written"])
    assert "nothing to settle\n" == run("reconcile", "full", "--db", full).out
    assert {"events": [], "written": False} == run("reconcile", "full", "--db", full, "--write", "--json").json


def test_reconcile_leaves_runs(run, db):
    """
    A run that could be resumed is closed only when it is abandoned.
    """
    with SqliteStore(db) as store:
        store.append("s", [StepStarted(message_id="a1", origin=origin(), run=provider_run(resumable=True))])
        store.append("c", [CompactionStarted(message_id="c1", reason="auto")])

    rest = "nothing to settle; 1 event with --abandon-calls and --abandon-runs\n"
    assert rest == run("reconcile", "s", "--db", db).out
    assert "step.failed of message 'a1'" in run("reconcile", "s", "--db", db, "--abandon-runs").out
    assert "compaction.failed of message 'c1'\n1 event to append" in run("reconcile", "c", "--db", db).out


COMMANDS = [
    ("fold", "-"),
    ("fold", "-", "--json"),
    ("events", "-"),
    ("events", "-", "--durable"),
    ("verify", "-"),
    ("verify", "-", "--json"),
    ("fold", "-", "--db", "DB"),
    ("show", "main", "--db", "DB"),
    ("show", "main", "--db", "DB", "--json"),
    ("sessions", "--db", "DB"),
    ("sessions", "--db", "DB", "--json"),
    ("verify", "--db", "DB"),
    ("reconcile", "main", "--db", "DB", "--abandon-calls"),
    ("reconcile", "main", "--db", "DB", "--abandon-calls", "--json"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("cut", [None, 400])
def test_no_command_prints_state(run, db, command, cut):
    """
    Nothing of a state, not even a part of it, is in what a command prints by default.
    """
    run("fold", "-", "--db", db, stdin=SEARCH[:-cut] if cut else SEARCH)
    ran = run(*[str(db) if word == "DB" else word for word in command], stdin=SEARCH)

    shown = ran.out + ran.err
    assert 0 == ran.code
    assert not [piece for piece in ("CANARY", "Zm9vYmFy", base64.b64encode(b"foobar").decode()) if piece in shown]


@pytest.mark.parametrize("option", ["--events", "--records", "--frames", "--messages", "--transcript"])
def test_schema(run, option):
    """
    Each option prints the schema of one kind of document.
    """
    kind = {
        "--events": Event,
        "--records": Record,
        "--frames": Frame,
        "--messages": Message,
        "--transcript": Transcript,
    }[option]

    assert json_schema(kind) == run("schema", option).json


def test_schema_of_everything(run):
    """
    Without an option all kinds are accepted, and several options are joined.
    """
    assert json_schema() == run("schema", "--json").json
    assert json_schema(Event, Message, written=True) == run("schema", "--messages", "--events", "--written").json
