"""The routes of a chat: the sessions of an owner, their events, and what a browser may do with them."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import aclosing, suppress
from functools import partial
from importlib.resources import files
from inspect import isawaitable
from typing import Final, TypeAlias, final
from weakref import WeakValueDictionary

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from assistant_events.errors import ConflictError, LocalProtocolError, PrunedError, StoreError
from assistant_events.events import (
    CompactionEnded,
    CompactionFailed,
    Frame,
    HistoryRewound,
    Record,
    StepEnded,
    StepFailed,
    ToolApprovalRequested,
    ToolFailed,
    ToolSuccess,
)
from assistant_events.live import MemoryLive
from assistant_events.messages import ApprovalStatus, Awaits, ToolPart, Transcript
from assistant_events.outward import Cursor, DocumentWriter, SharedEvents, SseWriter, end_event, error_event
from assistant_events.outward.sse import SSE_START
from assistant_events.reducer import Builder
from assistant_events.session import Session, Turns
from assistant_events.stores import Store
from assistant_events.stores.unfinished import stored_transcript
from assistant_events.values.arguments import check_function, check_integer, check_object, check_seconds, names_of
from assistant_events.values.json_io import write_json
from assistant_events.web.commands import Command, commands
from assistant_events.web.refusals import HANDLED, check_host, check_origin, read_object, refused
from assistant_events.web.sse_response import SseResponse

Authorize: TypeAlias = Callable[[Request, str | None], str | Awaitable[str | None] | None]
"""
Returns the owner that a request acts for, such as the id of its user; `None` refuses it with 403.

It is given the id of the session, and `None` for the list of sessions. An `HTTPException` that it raises is the answer.
A plain function must not block.
"""

_log = logging.getLogger("assistant_events.web")

_MAX_ID: Final = 200
_MAX_PAGE: Final = 100
_RETRY_AFTER: Final = {"retry-after": "5"}

_STOP_S: Final = 10.0
"""How long a session that is deleted waits for the end of its turn."""

_OF_CALLS: Final = (ToolSuccess, ToolFailed, ToolApprovalRequested)
_LAST: Final = (*_OF_CALLS, StepEnded, StepFailed, CompactionEnded, CompactionFailed, HistoryRewound)
"""Events behind which it may be the turn of the user, of calls and of messages."""


@final
class ChatRoutes:
    """
    An ASGI app with the routes of a chat. Sessions belong to the owner who sent their first prompt.

        app.mount("/api", ChatRoutes(turns, authorize=authorize))

    `/fold.mjs` is the module that folds events in a page. Below `/sessions`: the list, `GET {id}` for the history,
    `GET {id}/events`, `DELETE {id}`, and `POST {id}/…` with a JSON object for `prompt`, `edit`, `regenerate`, `stop`,
    `approve`, `deny` and `result`. A prompt to a new id creates a session.

    A request returns as soon as its events are stored; the turn runs in a task of *turns*.

    The events are those that `fold.mjs` folds. Without a cursor the first one is a `snapshot`; with `?after=17`, or
    the `Last-Event-ID` that an `EventSource` sends when it connects again, they are the records after `seq` 17. Then
    come open texts and whatever happens, with comments in between. The answer stays open for the next turn. With
    `?until=user` it ends, with an event `end`, when it is the turn of the user, also to allow a call; a browser that
    connects again then is answered 204, which ends its `EventSource`.

    Args:
        turns: Makes the moves. The routes read its store and subscribe to its live channel. Use its block around the
            life of the app.

        authorize: See `Authorize`.

        hosts: Host names that requests may be for, with or without a port; any by default. Give them where the server
            can be reached without a proxy that checks them.

        origins: Further origins of pages that may send requests, such as `https://chat.example`. A page of the host
            itself always may.

        max_body_bytes: Of a request.

        max_streams: How many answers of events may be open.

        max_streams_per_owner: The same for one owner; a browser has one for each tab.

        heartbeat_s: Seconds without an event after which a comment is sent.

        before_delete: Called with a session that is deleted, after the end of its turn, for example to store its bill.
            The session stays when it raises, and an `HTTPException` is the answer; it stays, with 409, when others have
            written to it meanwhile, such as another tab of its owner.
    """

    def __init__(
        self,
        turns: Turns,
        *,
        authorize: Authorize,
        hosts: Collection[str] = (),
        origins: Collection[str] = (),
        max_body_bytes: int = 1 << 20,
        max_streams: int = 20_000,
        max_streams_per_owner: int = 32,
        heartbeat_s: float = 15.0,
        before_delete: Callable[[Session], Awaitable[object]] | None = None,
    ) -> None:
        check_object(turns, "run", "turns: expected a Turns")
        if turns.live is None:
            raise TypeError(
                "turns: expected one with a live channel, such as Turns(store, move, client=client, live=live)"
            )
        check_function("authorize", authorize)
        if before_delete is not None:
            check_function("before_delete", before_delete)
        check_seconds("heartbeat_s", heartbeat_s)
        for name, most in (
            ("max_body_bytes", max_body_bytes),
            ("max_streams", max_streams),
            ("max_streams_per_owner", max_streams_per_owner),
        ):
            check_integer(name, most, 1)
        self._store, self._live = turns.store, turns.live
        self._turns = turns
        self._authorize = authorize
        self._before_delete = before_delete
        self._hosts = frozenset(map(str.lower, names_of("hosts", hosts)))
        self._origins = names_of("origins", origins)
        self._max_body_bytes = max_body_bytes
        self._streams = _Streams(max_streams, max_streams_per_owner)
        self._heartbeat_s = heartbeat_s
        # One for each session that is watched, as long as it is.
        self._shared: WeakValueDictionary[str, SharedEvents] = WeakValueDictionary()
        self._app = Starlette(
            routes=[
                Route("/fold.mjs", _fold_module, methods=["GET"]),
                Route("/sessions", self._list, methods=["GET"]),
                Route("/sessions/{session_id}", self._read, methods=["GET"]),
                Route("/sessions/{session_id}", self._delete, methods=["DELETE"]),
                Route("/sessions/{session_id}/events", self._watch, methods=["GET"]),
                *[
                    Route(f"/sessions/{{session_id}}/{name}", partial(self._run, command), methods=["POST"])
                    for name, command in commands(turns).items()
                ],
            ],
            exception_handlers=dict.fromkeys(HANDLED, refused),
        )
        self._app.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._app(scope, receive, send)

    # -- routes

    async def _list(self, request: Request) -> Response:
        owner = await self._owner_of(request)
        limit = request.query_params.get("limit", "20")
        if not (limit.isascii() and limit.isdecimal() and len(limit) < 10 and 1 <= int(limit) <= _MAX_PAGE):
            raise HTTPException(400, f"limit: expected a number from 1 to {_MAX_PAGE}")
        try:
            found = await self._store.sessions(
                owner=owner, after=request.query_params.get("after"), limit=int(limit) + 1
            )
        except ValueError:
            raise HTTPException(400, "after: expected the cursor of a session") from None
        page = found[: int(limit)]
        sessions = [
            {
                "session_id": info.session_id,
                "seq": info.seq,
                "created": info.created.isoformat(),
                "updated": info.updated.isoformat(),
            }
            for info in page
        ]
        return _json({"sessions": sessions, "after": page[-1].cursor if len(found) > len(page) else None})

    async def _read(self, request: Request) -> Response:
        session_id, owner = await self._session_of(request)
        return _json(DocumentWriter().snapshot(await self._transcript(session_id, owner)))

    async def _watch(self, request: Request) -> Response | SseResponse:
        session_id, owner = await self._session_of(request)
        cursor = _cursor(request)
        after = None if cursor is None else await self._store.run(_place, self._store.store, session_id, cursor)
        until = request.query_params.get("until")
        if until not in {None, "user"}:
            raise HTTPException(400, "until: expected user, or leave it out")
        known = await self._transcript(session_id, owner) if until or after is None else None
        if known is not None and known.seq == after and await self._is_users_turn(session_id, known):
            return Response(status_code=204)
        self._streams.open(owner)
        return SseResponse(
            self._events(session_id, owner, after, known, until_user=until is not None),
            heartbeat_s=self._heartbeat_s,
            on_end=partial(self._streams.close, owner),
        )

    async def _run(self, command: Command, request: Request) -> Response:
        owner = await self._owner_of(request)
        fields = await read_object(request, self._max_body_bytes)
        command.check(fields)
        session_id, _ = await self._session_of(request, owner, may_be_new=command.creates)
        try:
            session = await self._turns.open(session_id, owner=owner)
            await command.run(session, fields)
        except StoreError:
            await self._session_of(request, owner, may_be_new=command.creates)  # another owner may have created it
            raise
        except (TypeError, ValueError) as error:
            raise HTTPException(422, str(error)) from None
        with suppress(LocalProtocolError):  # the block of the turns ends: what is stored is left to the next worker
            self._turns.start(session)
        return _json({"seq": session.seq}, 202)

    async def _delete(self, request: Request) -> Response:
        session_id, owner = await self._session_of(request)
        session = await self._turns.open(session_id, owner=owner)
        await self._turns.stop(session)
        try:
            async with asyncio.timeout(_STOP_S):
                await self._turns.run(session)  # what is received here has been closed then
        except Exception as error:  # noqa: BLE001 - whatever ended the turn, the session is deleted
            _log.info("session %r: deleted after its turn had failed: %s", session_id, type(error).__name__)
        await self._check_owner(session_id, owner)
        if self._before_delete is not None:
            await session.refresh()  # where the wait has failed
            work = self._before_delete(session)
            if not isawaitable(work):
                raise TypeError(f"before_delete: expected an async function, it returned {type(work).__name__}")
            await work
            await self._check_owner(session_id, owner)  # another may have begun it anew meanwhile
            if (end := await self._store.seq(session_id)) > session.seq:
                raise ConflictError(session_id, session.seq, end)
        await self._store.delete(session_id)
        if isinstance(self._live, MemoryLive):  # other channels find it out by themselves
            await self._live.refresh(session_id)
        return Response(status_code=204)

    # -- events

    async def _events(  # noqa: C901 - one answer, from its start to its end
        self, session_id: str, owner: str, after: int | None, known: Transcript | None, *, until_user: bool
    ) -> AsyncGenerator[bytes]:
        writer = SseWriter(self._shared.setdefault(session_id, SharedEvents()))
        turn = _Turn(known) if until_user and known is not None else None
        yield SSE_START
        try:
            while True:
                if after is None:
                    known = await self._transcript(session_id, owner) if known is None else known
                    turn = _Turn(known) if until_user else None
                    after = known.seq
                    cursor = await self._store.run(_cursor_at, self._store.store, session_id, after)
                    yield writer.snapshot(known, cursor)
                    if turn is not None and await self._is_over(session_id, turn, known):
                        yield end_event(after)
                        return
                known = None  # nothing of it is kept while the browser watches
                joined = False
                try:
                    async with aclosing(self._live.subscribe(session_id, after)) as items:
                        async for item in items:
                            if not joined:
                                await self._check_owner(session_id, owner)
                                joined = True  # another log would end the subscription
                            yield writer.write(item)
                            if turn is None or isinstance(item, Frame):
                                continue
                            if (now := turn.apply(item)) is not None:
                                if await self._is_over(session_id, turn, now):
                                    yield end_event(item.seq)
                                    return
                                turn.left = self._not_users(now)
                except PrunedError:
                    after = None
                else:
                    break
        except StoreError:
            yield error_event("the session could not be read")
        else:
            yield error_event("the server ends")

    # -- sessions and owners

    async def _owner_of(self, request: Request) -> str:
        if self._hosts:
            check_host(request, self._hosts)
        if request.method not in {"GET", "HEAD"}:
            check_origin(request, self._origins)
        owner = self._authorize(request, request.path_params.get("session_id"))
        if isawaitable(owner):
            owner = await owner
        if not owner:
            raise HTTPException(403, "not allowed: authorize has named no owner")
        if not isinstance(owner, str):
            raise TypeError(f"authorize: expected a string or None, it returned {type(owner).__name__}")
        return owner

    async def _session_of(
        self, request: Request, owner: str | None = None, *, may_be_new: bool = False
    ) -> tuple[str, str]:
        """Return the session of a request and its owner; what is not theirs is refused as what does not exist."""
        owner = await self._owner_of(request) if owner is None else owner
        session_id: str = request.path_params["session_id"]
        valid = len(session_id) <= _MAX_ID and session_id.isprintable()
        if not valid and may_be_new:
            raise HTTPException(422, f"the id of a session has at most {_MAX_ID} printable characters")
        if valid and await self._store.seq(session_id):
            try:
                await self._check_owner(session_id, owner)
            except StoreError:
                await self._store.seq(session_id)  # raises where it is the store that has failed
            else:
                return session_id, owner
        elif may_be_new:
            return session_id, owner
        raise HTTPException(404, "no such session")

    async def _check_owner(self, session_id: str, owner: str) -> None:
        """Raise for the session of another owner: one that was deleted may have been begun anew by another."""
        await self._store.append(session_id, (), owner=owner)  # writes nothing

    async def _transcript(self, session_id: str, owner: str) -> Transcript:
        transcript = await self._store.run(stored_transcript, self._store.store, session_id)
        await self._check_owner(session_id, owner)
        return transcript

    async def _is_over(self, session_id: str, turn: _Turn, now: Transcript) -> bool:
        """Return whether a turn has ended: it is that of the user, and nothing is behind that, such as a rewind."""
        if not await self._is_users_turn(session_id, now):
            return False
        turn.known = await self._store.seq(session_id)
        return turn.known == now.seq

    async def _is_users_turn(self, session_id: str, transcript: Transcript) -> bool:
        """Return whether only a person, or a browser, can continue."""
        if transcript.awaits is Awaits.TOOLS:
            return not self._calls_of_app(transcript)
        return transcript.awaits is Awaits.USER and not await self._turns.asks_again(session_id, transcript)

    def _calls_of_app(self, transcript: Transcript) -> list[ToolPart]:
        """Return the calls without a result that wait neither for an approval nor for a browser."""
        calls, of_browser = transcript.pending_tool_calls, self._turns.of_browser
        return [call for call in calls if call.approval is not ApprovalStatus.REQUESTED and call.name not in of_browser]

    def _not_users(self, transcript: Transcript) -> set[tuple[str | None, str | None]]:
        """Return messages and calls by which it is not the turn of the user, whose it is not."""
        left = self._calls_of_app(transcript) if transcript.awaits is Awaits.TOOLS else transcript.unfinished()
        return {(each.message_id, each.call_id) for each in left}


class _Turn:
    """A turn that is watched until it is that of the user: its transcript is made where that may be."""

    def __init__(self, known: Transcript) -> None:
        self._builder = Builder(known)

        self.known = known.seq
        """Up to where the log is known to reach: what there is of it is looked at as a whole."""

        self.left: set[tuple[str | None, str | None]] = set()
        """Messages and calls by which it is not the turn of the user."""

    def apply(self, record: Record) -> Transcript | None:
        """Apply a record; return the transcript when it may be the turn of the user now."""
        self._builder.apply(record)
        event = record.event
        if record.seq != self._builder.seq or (record.seq > self.known and not isinstance(event, _LAST)):
            return None
        if isinstance(event, _OF_CALLS):
            self.left.discard((event.message_id, event.call_id))
        else:
            self.left.clear()
        return None if self.left else self._builder.transcript


class _Streams:
    """Counts the answers of events that are open."""

    def __init__(self, most: int, most_per_owner: int) -> None:
        self._most = most
        self._most_per_owner = most_per_owner
        self._open: Counter[str] = Counter()

    def open(self, owner: str) -> None:
        if self._open[owner] >= self._most_per_owner:
            raise HTTPException(429, "too many connections are open", _RETRY_AFTER)
        if self._open.total() >= self._most:
            raise HTTPException(503, "too many connections are open", _RETRY_AFTER)
        self._open[owner] += 1

    def close(self, owner: str) -> None:
        self._open[owner] -= 1
        if not self._open[owner]:
            del self._open[owner]


async def _fold_module(_request: Request) -> Response:
    path = str(files("assistant_events.outward") / "fold.mjs")
    # Browsers guess from the age of a file for how long they may keep it, past an upgrade of the server.
    return FileResponse(path, headers={"cache-control": "no-cache"}, media_type="text/javascript")


def _cursor_at(store: Store, session_id: str, seq: int) -> Cursor:
    """Return the cursor behind a record; that of a pruned one where it does not exist, or has been pruned."""
    with suppress(PrunedError):
        for record in store.read(session_id, seq - 1, limit=1) if seq else ():
            return Cursor.of(record)
    return Cursor.of_pruned(seq)


def _place(store: Store, session_id: str, cursor: Cursor) -> int | None:
    """Return the `seq` of a cursor; `None` where its record has been pruned, so that it cannot be compared."""
    if cursor.seq > store.seq(session_id):
        raise HTTPException(400, "the cursor is beyond the end of the session")
    if cursor.mark is None:
        return cursor.seq
    now = _cursor_at(store, session_id, cursor.seq)
    if cursor == now:
        return cursor.seq
    if now == Cursor.of_pruned(cursor.seq):
        return None
    raise HTTPException(400, "the cursor is of another session, or of a log that was deleted or restored")


def _cursor(request: Request) -> Cursor | None:
    # An `EventSource` connects again with the address that it was made with, and with a newer cursor in the header.
    given = request.headers.get("last-event-id") or request.query_params.get("after")
    try:
        return None if given is None else Cursor.parse(given)
    except ValueError as error:
        raise HTTPException(400, str(error)) from None


def _json(document: object, status: int = 200) -> Response:
    return Response(write_json(document), status, {"cache-control": "no-store"}, "application/json")
