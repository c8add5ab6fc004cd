"""An error is one line on standard error and an exit code, never a traceback."""

import errno
import io
import json
import runpy
import sqlite3
import sys

import pytest

from assistant_events import extras
from assistant_events.adapters import AwsEventStream, Dialect, dialect_names
from assistant_events.cli import detect_input, entry_point, open_store
from assistant_events.cli.exit_codes import Exit
from assistant_events.errors import AdapterError, ConflictError, StoreError
from assistant_events.stores import SqliteStore
from assistant_events.testing import answer, durable
from tests.cli.streams import HELLO

OWN = b'{"type":"text.started","v":1,"message_id":"a1"}\n'

INPUTS = {
    "nothing": (b"", "standard input: nothing came"),
    "only blanks": (b"\n\n  \n", "standard input: nothing came"),
    "binary": (b"\x7fELF\x02\x01\x01" + bytes(200), "expected server-sent events or JSON, this is neither"),
    "a text": (b"Dear reader,\nall is well.\n", "expected server-sent events or JSON, this is neither"),
    "sse of nobody": (b'data: {"hello": "world"}\n\n', "no dialect detects it; name one with --dialect"),
    "sse without json": (b"data: hello\n\n", "no dialect detects it"),
    "json of nobody": (b'{"hello": "world"}', "no dialect detects it"),
    "json lines of nobody": (b'{"hello": 1}\n{"hello": 2}\n{nonsense\n', "no dialect detects it"),
    "an event of another library": (b'{"type": "compaction.started", "v": 1}\n', "no dialect detects it"),
    "a number of another library": (b'{"seq": 1, "data": 1}\n', "no dialect detects it"),
    "another event of another library": (b'{"event": "x", "data": 1}\n', "no dialect detects it"),
    "an array of numbers": (b"[1, 2, 3]", "the JSON holds no object, expected events or an answer"),
    "a cut document": (b'{"steps": [{"type": "thou', "object 1: not valid JSON"),
    "a damaged line": (OWN + b"{nonsense\n", "line 2: not valid JSON"),
    "a wrong event": (
        OWN + b'{"type":"text.ended","v":1,"message_id":"a1","text":7}',
        "line 2: $.text: expected a string",
    ),
    "a wrong record": (b'{"seq":0,"event":{},"session_id":"s"}', "line 1: $"),
}


@pytest.mark.parametrize(("data", "expected_text"), INPUTS.values(), ids=INPUTS)
@pytest.mark.parametrize("command", ["fold", "events", "verify"])
def test_input_that_is_none(run, command, data, expected_text):
    """
    An input that cannot be used is refused with what was expected.
    """
    ran = run(command, "-", stdin=io.BytesIO(data))

    first, *more = ran.err.splitlines()
    assert 2 == ran.code
    assert first.startswith("assistant-events: standard input")
    assert expected_text in first
    assert bool(more) == ("no dialect" in first)


def test_nothing_is_stored_of_what_cannot_be_used(run, db):
    """
    A database is not even made for an input that is refused.
    """
    named = run("fold", "-", "--db", db, "--dialect", "gemini-interactions", stdin=b"event: x\ndata: {\n")
    damaged = run("fold", "-", "--db", db, stdin=b"nonsense")

    assert (2, 2) == (named.code, damaged.code)
    assert "standard input: nothing in it is an answer of gemini-interactions" in named.err
    assert "\n  all of it was left out, none of it is a JSON object\n" in named.err
    assert not db.exists() or not run("sessions", "--db", db, "--json").json["sessions"]


def files(folder):
    """Files that are neither a database nor a stream."""
    (folder / "empty").write_bytes(b"")
    (folder / "text").write_text("no database " * 20)
    (folder / "stream").write_bytes(HELLO)
    foreign = sqlite3.connect(folder / "foreign")
    foreign.execute("CREATE TABLE t (x)")
    foreign.close()
    with SqliteStore(folder / "db") as store:
        for at in range(12):
            store.append(f"s{at:02}", durable(answer("Hi")))
    SqliteStore(folder / "no-sessions").close()


COMMANDS = "run, fold, events, show, encode, sessions, delete, verify, reconcile, schema, mock"
LINES = {
    "fold missing": (2, "missing: no such file"),
    "fold .": (2, ".: this is a folder, expected a file or - for standard input"),
    "fold empty": (2, "empty: the file is empty"),
    "fold a\x1b[2Jb\nc": (2, "assistant-events: a\\x1b[2Jb\\nc: no such file"),
    "run Hi --dialect esperanto": (2, "no client of dialect 'esperanto'; installed clients: anthropic-messages, "),
    "fold ": (2, "the file needs a name"),
    "mock --fixtures . --record http://127.0.0.1:1": (2, "assistant-events: .: Is a directory"),
    "fold a\0b": (2, "embedded null "),
    "fold stream --dialect esperanto": (
        2,
        "unknown dialect 'esperanto'; installed: " + ", ".join(dialect_names()),
    ),
    "fold stream --session s": (2, "--session needs --db"),
    "fold stream --db db --session ": (2, "--session needs a name"),
    "fold stream --message ": (2, "--message needs a name"),
    "fold stream --db db --message ": (2, "--message needs a name"),
    "fold stream --db text": (2, "text: this is not a SQLite database; it was not changed"),
    "fold stream --db foreign": (2, "foreign: this SQLite database belongs to another application"),
    "fold stream --db .": (2, ".: expected a database file, this is a folder"),
    "fold stream --db no/where": (2, "no/where: the folder 'no' does not exist"),
    "fold": (2, "see assistant-events fold --help"),
    "fold --nonsense": (2, "unknown option --nonsense; see assistant-events fold --help"),
    "fold --chekc stream": (2, "unknown option --chekc, did you mean --check?; see assistant-events fold --help"),
    "fold stream --nonsense": (2, "unknown option --nonsense; see assistant-events fold --help"),
    "fold stream --sesion s": (2, "unknown option --sesion, did you mean --session?"),
    "fold stream more": (2, "1 argument too many: 'more'; see assistant-events fold --help"),
    "fold stream more --dialect=x": (2, "1 argument too many: 'more'; see assistant-events fold --help"),
    "fold stream -x": (2, "unknown option -x; see assistant-events fold --help"),
    "fold stream --message": (2, 'command "fold" parameter --message requires an argument; see assistant-events fold'),
    "verify a b c": (2, "2 arguments too many: 'b', 'c'; see assistant-events verify --help"),
    "bake": (2, f'unknown command "bake"; expected one of {COMMANDS}; see assistant-events --help\n'),
    "--bake": (2, "see assistant-events --help"),
    "fold db": (2, "db: this is an SQLite database; assistant-events sessions --db db lists its sessions"),
    "verify db": (2, "assistant-events show SESSION --db db prints it"),
    "sessions --db ": (2, "--db needs the name of a file"),
    "fold stream --db ": (2, "--db needs the name of a file"),
    "fold stream --db a\0b": (2, "embedded null "),
    "show s1 --db present.db --markdown --json": (2, "expected either --markdown or --json, got both"),
    "show s00": (2, "assistant-events.db: no such file, expected a database"),
    "show s00 --db missing": (2, "missing: no such file, expected a database"),
    "show s00 --db empty": (2, "empty: the file is empty, expected a database"),
    "show s00 --db stream": (2, "stream: this is not a SQLite database"),
    "show nobody --db db": (2, "db: no session 'nobody'; it holds 's11', 's10', "),
    "show nobody --db no-sessions": (2, "no-sessions: no session 'nobody'; it holds none"),
    "show  --db db": (2, "the name of the session is empty; assistant-events sessions lists the names"),
    "sessions --db missing": (2, "missing: no such file, expected a database"),
    "verify": (2, "assistant-events.db: no such file, expected a database"),
    "verify s00": (2, "s00: "),
    "sessions": (2, "assistant-events.db: no such file, expected a database"),
    "delete s00": (2, "assistant-events.db: no such file, expected a database"),
    "delete nobody --db db": (2, "db: no session 'nobody'; it holds 's11', 's10', "),
    "verify nobody --db db": (2, " and 2 more"),
    "reconcile nobody --db db": (2, "no session 'nobody'"),
    "show s\x1b[31m\n --db db": (2, "no session 's\\x1b[31m\\n'; it holds"),
}


@pytest.mark.parametrize(("line", "expected"), LINES.items(), ids=map(repr, LINES))
def test_command_lines(run, tmp_path, monkeypatch, line, expected):
    """
    Every mistake is reported in one line that names it, and changes nothing.
    """
    files(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.chdir(tmp_path)
    ran = run(*line.split(" "))

    code, expected_text = expected
    assert (code, "", 1) == (ran.code, ran.out, ran.err.count("\n"))
    assert ran.err.startswith("assistant-events: ")
    assert expected_text in ran.err
    assert "\x1b" not in ran.err
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


def test_help_and_version(run):
    """
    Help names every command and every exit code; the version is one line.
    """
    asked = run("--help")
    fold = run("fold", "--help")

    assert all(name in asked.out for name in ("fold", "events", "show", "sessions", "verify", "reconcile", "delete"))
    assert all(f"  {code.value} " in asked.out and f"  {code.value} " in fold.out for code in Exit)
    assert "  3    the database refused\n" in asked.out
    assert "0.1.0\n" == run("--version").out
    assert asked.out == run().out
    assert "0.1.0\n" == run("fold", "-", "--version").out or run("fold", "-", "--version").code


def test_the_extra_is_missing(run, monkeypatch):
    """
    Without the extra the command prints what to install; the version needs nothing.
    """
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "cyclopts" else True)
    hint = "the command line needs cyclopts: pip install '.[cli]' in a clone of assistant-events"

    assert f"assistant-events: {hint}\n" == run("fold").err
    assert (2, 0) == (run("fold").code, run("--version").code)


def test_a_damaged_database(run, tmp_path):
    """
    A database of ours that is cut, or damaged inside, is the fault of the database and not of the command line.
    """
    files(tmp_path)
    place = tmp_path / "db"
    place.write_bytes(place.read_bytes()[:5000])

    for line in ("sessions", "show s00", "verify", "reconcile s00", f"fold {tmp_path / 'stream'}"):
        ran = run(*line.split(" "), "--db", place)
        assert (3, "", 1) == (ran.code, ran.out, ran.err.count("\n"))
        assert "; restore the file from a backup" in ran.err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OSError(errno.EIO, "Input/output error"), 3),
        (OSError(errno.ENOSPC, "No space left on device"), 3),
        (PermissionError(errno.EACCES, "Permission denied"), 2),
    ],
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_database_that_cannot_be_read(run, tmp_path, monkeypatch, error, code, wrapped):
    """
    A disk that fails is the fault of the database; a file that may not be read is named by mistake.
    """
    files(tmp_path)

    def fail(place):
        if wrapped:
            raise StoreError(f"{place}: {error.strerror}") from error
        raise error

    monkeypatch.setattr(open_store, "SqliteStore", fail)
    ran = run("sessions", "--db", tmp_path / "db")

    assert (code, f"assistant-events: {tmp_path / 'db'}: {error.strerror}\n") == (ran.code, ran.err)


def test_a_database_that_is_locked(run, tmp_path, monkeypatch):
    """
    A command that waited for another writer asks to try again, not to change an argument of a class.
    """
    files(tmp_path)
    monkeypatch.setattr(open_store, "SqliteStore", lambda place: SqliteStore(place, timeout_s=0.01))
    other = sqlite3.connect(tmp_path / "db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    ran = run("fold", tmp_path / "stream", "--db", tmp_path / "db")
    other.close()

    assert (3, "") == (ran.code, ran.out)
    assert ran.err.endswith("database is locked; another process is writing, try again when it is done\n")


def test_a_database_on_standard_input(run, tmp_path):
    """
    A database that comes through a pipe is recognised as well.
    """
    files(tmp_path)
    ran = run("fold", "-", stdin=(tmp_path / "db").read_bytes())

    assert "standard input: this is an SQLite database; assistant-events sessions --db FILE lists" in ran.err


RAISED = {
    "ctrl-c": (KeyboardInterrupt(), 130, "assistant-events: stopped\n"),
    "conflict": (ConflictError("s", 1, 2), 3, "session 's': expected seq 1, store holds 2"),
    "disk": (OSError(28, "No space left on device"), 2, "assistant-events: No space left on device\n"),
    "file": (OSError(13, "Permission denied", "here"), 2, "assistant-events: here: Permission denied\n"),
    "odd": (OSError("odd"), 2, "assistant-events: odd\n"),
    "pipe": (BrokenPipeError(), 141, ""),
}


@pytest.mark.parametrize(("error", "code", "expected_text"), RAISED.values(), ids=RAISED)
def test_what_is_raised_below(run, monkeypatch, error, code, expected_text):
    """
    Ctrl-C, a store, a disk, a reader that has gone: each has its code.
    """

    def fail(arguments):
        raise error

    monkeypatch.setattr("assistant_events.cli.commands.run", fail)
    monkeypatch.setattr(entry_point, "_discard_output", lambda: None)
    ran = run("fold", "-")

    assert code == ran.code
    assert expected_text in ran.err
    assert ran.err.count("\n") == bool(expected_text)


def test_output_that_is_no_utf8(monkeypatch):
    """
    Where standard output cannot encode a letter, JSON escapes it in ASCII.
    """
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(HELLO.replace(b"Oslo", "Tromsø".encode()))))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, "ascii"))

    assert 0 == entry_point.main(["fold", "-", "--json"])
    assert "Hello, Tromsø!" == json.loads(written.getvalue())["messages"][0]["parts"][0]["text"]


def test_text_in_output_that_is_no_utf8(monkeypatch):
    """
    Text has the letters that standard output cannot encode as in Python source, as standard error has them.
    """
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(HELLO.replace(b"Oslo", "Tromsø 👋".encode()))))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, "cp1252"))

    assert 0 == entry_point.main(["fold", "-"])
    assert "Hello, Tromsø \\U0001f44b!" in written.getvalue().decode("cp1252")


@pytest.mark.parametrize("command", ["fold", "events"])
def test_the_dialects_that_were_tried(run, command):
    """
    Where no dialect detects an input, each that was tried is listed with what it expected.
    """
    frames = b'data: {"type": "greeting", "hello": "\\u001b[31m"}\n\ndata: {"bye": 1}\n\n'
    _, tried, *refusals = run(command, "-", stdin=frames).err.splitlines()

    assert "  tried 2 objects, the first has the fields type 'greeting', hello" == tried
    assert list(dialect_names()) == [line.partition(":")[0].strip() for line in refusals]
    assert all(": expected a" in line for line in refusals)
    assert "  tried 1 object, the first has" in run(command, "-", stdin=b'data: {"a":1}\n\n').err
    assert "  tried 1 object, the first has no fields" in run(command, "-", stdin=b"{}").err
    half = AwsEventStream.frame(None, {"messageStart": {"role": "assistant"}})[:-1]
    for nothing in (b"data: hello\n\n", half):
        assert "  tried 0 objects, no whole frame holds one" in run(command, "-", stdin=nothing).err
    odd = json.dumps({"a\x1b\nb": 1}, ensure_ascii=False).encode()
    assert "  tried 1 object, the first has the fields a\\x1b\\nb\n" in run(command, "-", stdin=odd).err
    long = json.dumps({"type": "x" * 41, **dict.fromkeys("abcdefgh")}).encode()
    assert (
        f"  tried 1 object, the first has the fields type '{'x' * 40}', a, b, c, d, e, f, g\n"
        in run(command, "-", stdin=long).err
    )


def test_a_dialect_that_detects_nothing(run, monkeypatch):
    """
    A dialect that cannot be detected was not tried.
    """
    monkeypatch.setattr(detect_input, "dialect_names", lambda: ("quiet",))
    monkeypatch.setattr(detect_input, "load_dialect", lambda name: Dialect(name=name, decoder=None))
    ran = run("fold", "-", stdin=b'data: {"a":1}\n\n')

    assert "  quiet: not tried, it cannot be detected" == ran.err.splitlines()[-1]


def test_a_dialect_that_does_not_load(run, monkeypatch):
    """
    When an installed dialect is broken, another can be named.
    """

    def fail(documents):
        raise AdapterError("broken", "it does not load")

    monkeypatch.setattr(detect_input, "detect_dialect", fail)
    ran = run("fold", "-", stdin=HELLO)

    assert "assistant-events: adapter 'broken': it does not load; name another dialect with --dialect\n" == ran.err
    assert 0 == run("fold", "-", "--dialect", "gemini-interactions", stdin=HELLO).code


def test_a_dialect_is_named_for_json(run):
    """
    A document that no dialect knows is read by the one that is named.
    """
    error = b'{"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED"}}'
    ran = run("fold", "-", "--dialect", "gemini-interactions", stdin=error)

    assert "  error     rate-limit: slow down" in ran.out


def test_output_goes_nowhere_when_nobody_reads(tmp_path, monkeypatch):
    """
    What is printed after the reader has gone is dropped, so that the end of the process is quiet.
    """
    path = tmp_path / "out"
    with path.open("w") as out:
        monkeypatch.setattr(sys, "stdout", out)
        entry_point._discard_output()
        out.write("late")

    assert "" == path.read_text()


@pytest.mark.parametrize("name", ["assistant_events", "assistant_events.cli"])
def test_module(monkeypatch, capsys, name):
    """
    The command is a module, too.
    """
    monkeypatch.setattr(sys, "argv", ["assistant-events", "--version"])
    monkeypatch.delitem(sys.modules, f"{name}.__main__", raising=False)
    with pytest.raises(SystemExit) as stopped:
        runpy.run_module(name, run_name="__main__")

    assert (0, "0.1.0\n") == (stopped.value.code, capsys.readouterr().out)


def test_arguments_of_the_process(run, monkeypatch):
    """
    Without arguments of its own, main takes those of the process.
    """
    monkeypatch.setattr(sys, "argv", ["assistant-events", "--version"])

    assert 0 == entry_point.main()
