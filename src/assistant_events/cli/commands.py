"""The commands: what they take, in which order they work, what they print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from difflib import get_close_matches
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Final, Literal

import attrs
from cyclopts import App, CycloptsError, Parameter, UnknownCommandError, UnknownOptionError, UnusedCliTokensError

from assistant_events.adapters import EncodeMode
from assistant_events.adapters.dialect import load_dialect
from assistant_events.cli import exit_codes, mock, rendering
from assistant_events.cli.detect_input import InputContent, ProviderStream, recognise
from assistant_events.cli.exit_codes import CommandError, Exit, UnknownOption
from assistant_events.cli.fold_input import FIRST_ID, events_of, fold_into
from assistant_events.cli.open_store import DATABASE, check_session, opened
from assistant_events.cli.output import print_json, print_note, print_rows, print_table, print_text, transcript_document
from assistant_events.cli.run import run_command
from assistant_events.cli.source import reading
from assistant_events.cli.terminal_safe import one_line, size_of
from assistant_events.converters import json_schema, unstructure
from assistant_events.errors import StoreError
from assistant_events.events import Event, Frame, Record
from assistant_events.messages import AssistantMessage, Awaits, Message, MessageStatus, Transcript, redact
from assistant_events.reducer import Problem, describe, find_problems, fold, reconcile
from assistant_events.session import SyncSession
from assistant_events.stores import SessionInfo, SqliteStore

_app = App(
    name="assistant-events",
    help="Ask a model, be a provider, look at recorded streams and at stored sessions.",
    help_format="plaintext",
    help_formatter="plain",
    help_epilogue=exit_codes.HELP,
    version=lambda: version("assistant-events"),
    version_flags=("--version",),
    suppress_keyboard_interrupt=False,
    print_error=False,
    exit_on_error=False,
    result_action="return_value",
)
_app.command(run_command, name="run")

# A lone hyphen is a name here; what begins with one otherwise is refused by `Input`.
_File = Annotated[str, Parameter(metavar="FILE", allow_leading_hyphen=True)]
_Db = Annotated[str, Parameter(metavar="FILE")]
_OptionalDb = Annotated[str | None, Parameter(metavar="FILE")]
_Name = Annotated[str | None, Parameter(metavar="NAME")]
_Files = Annotated[list[str] | None, Parameter(metavar="FILE", negative=())]
_Faults = Annotated[list[str] | None, Parameter(metavar="NAME@AT", negative=())]
_Flag = Annotated[bool, Parameter(negative=(), show_default=False)]


def run(arguments: Sequence[str]) -> int:
    """
    Run one command and return its exit code.

    Raises:
        CommandError: The command line makes no sense, or the command cannot go on.
    """
    try:
        code = _app(list(arguments))
    except SystemExit:
        # rich, which prints the help, when the reader of the output has closed it.
        raise BrokenPipeError from None
    except UnknownOption as error:
        raise CommandError(f"{_unknown(arguments, str(error))}; {_see_help(arguments)}") from None
    except CycloptsError as error:
        raise CommandError(f"{_sentence(error, arguments)}; {_see_help(arguments)}") from None
    return code if isinstance(code, int) else Exit.OK


@_app.command(name="fold")
def fold_command(
    file: _File,
    /,
    *,
    db: _OptionalDb = None,
    session: _Name = None,
    dialect: _Name = None,
    provider: _Name = None,
    message: _Name = None,
    check: _Flag = False,
    json: _Flag = False,
) -> int:
    """
    Decode an answer, store it if asked to, print the transcript.

    The input is a stream (server-sent events, JSON lines, an array of
    events), an answer as one JSON document, or events of this library.

    With --db an answer continues the message that --message names, or
    else with the message of the same run that was cut or has not ended.
    Otherwise it is a new message, also when the same input was stored
    before. Events of this library are appended as they are.

    Args:
        file: what to read, - for standard input
        db: SQLite file to store the events in, made when it is not there
        session: session in the database, "main" by default
        dialect: wire format, found in the first frames by default
        provider: who ran the model, the provider of the dialect by default
        message: id of the message
        check: exit with 1 when an answer failed or was cut
        json: print the transcript as JSON
    """
    if db is None and session is not None:
        raise CommandError("--session needs --db")
    for name, value in (("--session", session), ("--message", message)):
        if value == "":
            raise CommandError(f"{name} needs a name")
    with reading(file) as source:
        content = recognise(source, dialect, provider)
        if db is None:
            transcript = fold(events_of(content, message or FIRST_ID))
        else:
            transcript = _store(content, db, "main" if session is None else session, message)
    _print_notes(content)
    if json:
        print_json(transcript_document(transcript))
    else:
        print_rows(rendering.rows_of(transcript))
    return Exit.PROBLEMS if check and _failed(transcript) else Exit.OK


@_app.command(name="events")
def events_command(
    file: _File,
    /,
    *,
    durable: _Flag = False,
    dialect: _Name = None,
    with_state: _Flag = False,
    json: _Flag = False,
) -> int:
    """
    Print the events of an input as JSON lines.

    Args:
        file: what to read, - for standard input; see fold
        durable: only the events that are kept
        dialect: wire format, found in the first frames by default
        with_state: print provider state, too: it is left out by default
        json: change nothing, JSON lines are what is printed
    """
    del json
    with reading(file) as source:
        content = recognise(source, dialect)
        for item in events_of(content):
            if not durable or isinstance(item, Record) or item.durable:
                print_json(unstructure(item if with_state else redact(item)))
    _print_notes(content)
    return Exit.OK


@_app.command(name="show")
def show_command(session: str, /, *, db: _Db = DATABASE, markdown: _Flag = False, json: _Flag = False) -> int:
    """
    Print a stored session: messages, usage, sizes of state.

    Args:
        session: the session
        db: SQLite file
        markdown: print the conversation as Markdown, whole, without sizes
        json: print JSON
    """
    if markdown and json:
        raise CommandError("expected either --markdown or --json, got both")
    with opened(db) as store:
        check_session(store, db, session)
        transcript = SyncSession.open(store, session).transcript
    if markdown:
        print_text(rendering.markdown_of(transcript))
        return Exit.OK
    usage = transcript.usage
    sizes = {message.id: sum(size for _, size in rendering.state_sizes(message)) for message in transcript}
    if json:
        totals = None if usage is None else {name: getattr(usage, name) for name in (*rendering.COUNTS, "total_tokens")}
        held = {name: size for name, size in sizes.items() if size}
        print_json({"session_id": session, **transcript_document(transcript), "usage": totals, "state_bytes": held})
        return Exit.OK
    print_rows(rendering.rows_of(transcript))
    print_text("")
    totals_text = "" if usage is None else f", tokens: {rendering.usage_text(usage)}"
    print_text(
        f"session {session!r}: {_count(len(transcript), 'message')} from {_count(transcript.seq, 'record')}, "
        f"{size_of(sum(sizes.values()))} of state{totals_text}"
    )
    return Exit.OK


@_app.command(name="encode")
def encode_command(
    session: str,
    /,
    *,
    dialect: Annotated[str, Parameter(metavar="NAME")],
    provider: _Name = None,
    model: _Name = None,
    mode: Annotated[EncodeMode, Parameter(metavar="MODE")] = "auto",
    db: _Db = DATABASE,
    json: _Flag = False,
) -> int:
    """
    Print the next request of a session, in any dialect, and what it leaves out.

    The request is JSON on standard output, with the state that returns to
    the provider; what is left out or repaired is a line each on standard
    error, with its reason.

    Args:
        session: the session
        dialect: wire format of the request
        provider: who runs the model, the provider of the dialect by default
        model: model that is asked, that of the last answer by default
        mode: auto, chained to the stored answer, or full
        db: SQLite file
        json: print request, mode and what is left out as one JSON document
    """
    encode = load_dialect(dialect).encoder
    if encode is None:
        raise CommandError(f"{dialect} writes no requests; name another dialect with --dialect")
    with opened(db) as store:
        check_session(store, db, session)
        transcript = SyncSession.open(store, session).transcript
    answers = [message for message in transcript if isinstance(message, AssistantMessage)]
    asked = model or next((answer.origin.model for answer in reversed(answers) if answer.origin.model), None)
    if asked is None:
        raise CommandError("the session names no model; name one with --model")
    try:
        request = encode(transcript, {"model": asked}, mode=mode, provider=provider)
    except ValueError as error:
        raise CommandError(str(error)) from None
    if json:
        drops = [attrs.asdict(drop) for drop in request.drops]
        print_json({"body": request.body, "mode": request.mode, "drops": drops})
        return Exit.OK
    print_json(request.body)
    for drop in request.drops:
        print_note(str(drop))
    return Exit.OK


@_app.command(name="sessions")
def sessions_command(*, db: _Db = DATABASE, json: _Flag = False) -> int:
    """
    List the sessions of a database, the newest first.

    Args:
        db: SQLite file
        json: print JSON
    """
    with opened(db) as store:
        found = store.sessions()
        awaits = {session_id: left[0].awaits.value for session_id, left in store.unfinished().items()}
    if json:
        rows = [
            {
                "session_id": info.session_id,
                "seq": info.seq,
                "pruned_to": info.pruned_to,
                "created": info.created.isoformat(),
                "updated": info.updated.isoformat(),
                "awaits": awaits.get(info.session_id, Awaits.USER.value),
            }
            for info in found
        ]
        print_json({"sessions": rows})
    elif not found:
        print_text("no sessions")
    else:
        print_table(
            ("session", "records", "created (UTC)", "updated (UTC)", "awaits"),
            [
                (
                    info.session_id,
                    f"{info.seq}" if not info.pruned_to else f"{info.seq} (1 to {info.pruned_to} pruned)",
                    _moment(info.created),
                    _moment(info.updated),
                    awaits.get(info.session_id, Awaits.USER.value),
                )
                for info in found
            ],
        )
    return Exit.OK


@_app.command(name="delete")
def delete_command(session: str, /, *, db: _Db = DATABASE) -> int:
    """
    Delete a session with everything in it.

    Args:
        session: the session
        db: SQLite file
    """
    with opened(db) as store:
        check_session(store, db, session)
        count = store.seq(session)
        store.delete(session)
    print_text(one_line(f"session {session!r}: {_count(count, 'record')} deleted"))
    return Exit.OK


@_app.command(name="verify")
def verify_command(
    target: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    /,
    *,
    db: _OptionalDb = None,
    dialect: _Name = None,
    json: _Flag = False,
) -> int:
    """
    Look for events that are out of place in a log.

    Exits with 1 when there are any.

    Args:
        target: a file, or a session of the database (all by default)
        db: SQLite file, with it the target is a session
        dialect: wire format of a stream, found by default
        json: print JSON
    """
    is_file = target is not None and (target == "-" or Path(target).exists() or not Path(DATABASE).exists())
    if db is None and target is not None and is_file:
        with reading(target) as source:
            found = [*_problems_of(recognise(source, dialect))]
    else:
        db = DATABASE if db is None else db
        with opened(db) as store:
            if target is not None:
                check_session(store, db, target)
            infos = [info for info in store.sessions() if target in (None, info.session_id)]
            found = [problem for info in infos for problem in _problems_of_session(store, info)]
    if json:
        print_json({"problems": found})
    else:
        for problem in found:
            where = "" if problem["session_id"] is None else f"session {problem['session_id']!r}: "
            print_text(one_line(f"{where}{problem['message']}"))
        print_text(f"{_count(len(found), 'problem')} found" if found else "no problems")
    return Exit.PROBLEMS if found else Exit.OK


@_app.command(name="reconcile")
def reconcile_command(
    session: str,
    /,
    *,
    db: _Db = DATABASE,
    abandon_calls: _Flag = False,
    abandon_runs: _Flag = False,
    write: _Flag = False,
    json: _Flag = False,
) -> int:
    """
    Print the events that settle what a crash left open.

    Nothing is run again.

    Args:
        session: the session
        db: SQLite file
        abandon_calls: fail the calls that the app has not answered
        abandon_runs: close steps that could still be resumed, for good
        write: append the events to the session
        json: print JSON
    """
    with opened(db) as store:
        check_session(store, db, session)
        open_session = SyncSession.open(store, session)
        events = reconcile(open_session.transcript, abandon_calls=abandon_calls, abandon_runs=abandon_runs)
        if write:
            open_session.append(*events)
        more = reconcile(open_session.transcript, abandon_calls=True, abandon_runs=True)
    if json:
        print_json({"events": [unstructure(redact(event)) for event in events], "written": write and bool(events)})
        return Exit.OK
    for event in events:
        print_text(one_line(describe(event)))
    if not events:
        rest = f"; {_count(len(more), 'event')} with --abandon-calls and --abandon-runs" if more else ""
        print_text(f"nothing to settle{rest}")
    elif write:
        print_text(f"{_count(len(events), 'event')} appended")
    else:
        print_text(f"{_count(len(events), 'event')} to append; --write does it")
    return Exit.OK


@_app.command(name="schema")
def schema_command(
    *,
    events: _Flag = False,
    records: _Flag = False,
    frames: _Flag = False,
    messages: _Flag = False,
    transcript: _Flag = False,
    written: _Flag = False,
    json: _Flag = False,
) -> int:
    """
    Print the JSON Schema of what the library stores.

    Without an option it is that of all of them.

    Args:
        events: events, as the command events prints them
        records: records, which are events with a place in a log
        frames: frames, which are live events with a place in a log
        messages: messages
        transcript: transcripts
        written: only what this version writes, not all that it reads
        json: change nothing, JSON is what is printed
    """
    del json
    chosen = {Event: events, Record: records, Frame: frames, Message: messages, Transcript: transcript}
    print_json(json_schema(*[cls for cls, is_chosen in chosen.items() if is_chosen], written=written))
    return Exit.OK


@_app.command(name="mock")
def mock_command(
    *,
    fixtures: _Files = None,
    host: Annotated[str, Parameter(metavar="HOST")] = "127.0.0.1",
    port: Annotated[int, Parameter(metavar="N")] = mock.PORT,
    dialect: Annotated[str, Parameter(metavar="NAME")] = mock.DIALECT,
    generation: Annotated[Literal[1, 2] | None, Parameter(metavar="N")] = None,
    fault: _Faults = None,
    lenient: _Flag = False,
    event_ids: Annotated[Literal["background", "all", "some", "none"] | None, Parameter(metavar="WHICH")] = None,
    time_scale: Annotated[float, Parameter(metavar="X")] = 1.0,
    record: Annotated[str | None, Parameter(metavar="UPSTREAM")] = None,
    list_faults: _Flag = False,
) -> int:
    """
    Answer as a provider does, from fixtures, until Ctrl-C.

    Without fixtures it answers from a few of its own.

    Args:
        fixtures: file or folder with what it answers; may be given again
        host: where it listens
        port: where it listens, 0 for any port that is free
        dialect: what it speaks; the Interactions API by default
        generation: of Interactions: 2, or 1 for clients of version 1.x without
            a version header
        fault: a fault, for example drop@7; may be given again
        lenient: take every request, also what the service refuses
        event_ids: of Interactions: which events have a cursor: those of
            background runs (the default), all, some (every second one) or none
        time_scale: how many real seconds one of its seconds takes
        record: pass requests on to this address instead, and write what it
            answers to the file that --fixtures names
        list_faults: print what can go wrong, and end
    """
    if list_faults:
        mock.list_faults()
    elif record is not None:
        mock.record(record, fixtures or (), dialect=dialect, host=host, port=port)
    else:
        mock.serve(
            fixtures or (),
            host=host,
            port=port,
            dialect=dialect,
            generation=generation,
            faults=fault or (),
            strict=not lenient,
            event_ids=event_ids,
            time_scale=time_scale,
        )
    return Exit.OK


def _store(content: InputContent, db: str, session_id: str, message_id: str | None) -> Transcript:
    with opened(db, make=True) as store:
        session = SyncSession.open(store, session_id)
        before = session.seq
        fold_into(content, session, message_id)
        added = _count(session.seq - before, "record") if session.seq > before else "nothing"
        print_note(f"session {session_id!r} of {db}: {added} added")
        return session.transcript


def _failed(transcript: Transcript) -> bool:
    return any(
        isinstance(message, AssistantMessage) and message.status is not MessageStatus.COMPLETED
        for message in transcript
    )


_Found = dict[str, object]


def _problems_of(content: InputContent) -> Iterator[_Found]:
    try:
        yield from map(_found, find_problems(events_of(content)))
    finally:
        _print_notes(content)


def _problems_of_session(store: SqliteStore, info: SessionInfo) -> Iterator[_Found]:
    session_id, pruned = info.session_id, info.pruned_to
    try:
        start = store.load_snapshot(session_id)
        records: Iterable[Event | Record] = store.read(
            session_id, start.seq if pruned and start is not None else pruned
        )
        yield from map(_found, find_problems(records, start=start if pruned else None))
        if start is not None and not pruned and fold(store.read(session_id, limit=start.seq)) != start:
            yield _problem(session_id, None, "snapshot", f"the snapshot at seq {start.seq} differs from the records")
        store.load_checkpoints(session_id)
    except StoreError as error:
        yield _problem(session_id, None, "damaged", str(error))


def _found(problem: Problem) -> _Found:
    item = problem.item
    session_id, seq = (item.session_id, item.seq) if isinstance(item, Record) else (None, None)
    return {**_problem(session_id, seq, problem.outcome.value, str(problem)), "position": problem.position}


def _problem(session_id: str | None, seq: int | None, kind: str, message: str) -> _Found:
    return {"session_id": session_id, "seq": seq, "kind": kind, "message": message}


def _print_notes(content: InputContent) -> None:
    """Print to standard error which parts of a stream were unusable."""
    if not isinstance(content, ProviderStream) or content.used is None:
        return
    counts = Counter(note.message for note in content.used.notes)
    if content.used.notes_left_out:
        counts["more that could not be used was left out"] += content.used.notes_left_out
    if content.unreadable:
        counts["a document that is not a JSON object was left out"] += content.unreadable
    for message, count in counts.items():
        print_note(message if count == 1 else f"{message} ({count} times)")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _moment(time: datetime) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S")


def _see_help(arguments: Sequence[str]) -> str:
    command = f" {arguments[0]}" if arguments and arguments[0] in _COMMANDS else ""
    return f"see assistant-events{command} --help"


def _options(arguments: Sequence[str]) -> list[str]:
    """Return the options of the command that *arguments* begin with."""
    collection = _app[arguments[0]].assemble_argument_collection()
    return [name for argument in collection for name in argument.names if name.startswith("-")]


def _unknown(arguments: Sequence[str], option: str) -> str:
    near = get_close_matches(option, _options(arguments), n=1)
    return f"unknown option {option}" + (f", did you mean {near[0]}?" if near else "")


def _sentence(error: CycloptsError, arguments: Sequence[str]) -> str:
    if isinstance(error, UnknownOptionError):
        return _unknown(arguments, error.token.keyword or error.token.value)
    if isinstance(error, UnknownCommandError):  # its own text lists some of the commands
        return f'unknown command "{arguments[0]}"; expected one of {", ".join(_COMMANDS)}'
    if isinstance(error, UnusedCliTokensError):
        # An unknown option was taken for the file, and the file is left over.
        known = _options(arguments)
        for given in arguments[1:]:
            if given.startswith("--") and given.partition("=")[0] not in known:
                return _unknown(arguments, given)
        left = error.unused_tokens or []
        return f"{_count(len(left), 'argument')} too many: {rendering.first_of(left)}"
    text = " ".join(str(error).split()).rstrip(".")
    return text[:1].lower() + text[1:]


_COMMANDS: Final = tuple([name for name in _app if not name.startswith("-")])
