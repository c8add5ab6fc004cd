"""
A provider of one run, in memory: it sends the planned connections one by one, and records the requests.
"""

import asyncio
import threading

import attrs
import httpx2

from tests.adapters.notation import stream as as_bytes

TAIL = b"""[{
"error": {
"code": 503,
"message": "The service is currently unavailable.",
"status": "UNAVAILABLE"
}
}
]
"""

NOT_FOUND = {"error": {"code": 404, "message": "Interaction not found.", "status": "NOT_FOUND"}}


@attrs.frozen(kw_only=True)
class Plan:
    """What becomes of one stream."""

    upto: int | None = None
    """How many events come; all by default."""

    tail: bytes = b""
    at_s: float = 0.0
    """When it ends, in seconds after its headers."""

    beats: bool = False
    """Whether a comment comes every 30 s until then."""

    how: str = "end"
    """`end`, `reset` (the transport breaks), or `stall` (it stays open and silent)."""

    status: int = 200
    body: bytes = b""
    headers: dict = attrs.field(factory=dict)
    delay_s: float = 0.0
    """Before the headers."""

    fails: Exception | None = None
    """Raised instead of an answer."""

    events: list | None = None
    """Other events than those of the run."""

    half: bool = False
    """Whether half of the event after them comes, too."""

    piece: int = 0
    """Bytes of one chunk; whole frames by default."""


class Body(httpx2.AsyncByteStream):
    def __init__(self, provider, plan, frames):
        self.provider = provider
        self.plan = plan
        self.frames = frames
        self.closed = False

    async def __aiter__(self):
        plan = self.plan
        began = asyncio.get_running_loop().time()
        for chunk in self._chunks(self.frames):
            await asyncio.sleep(0)
            self.provider.sent += 1
            yield chunk
        if plan.how == "stall":
            self.provider.stalled.set()
            await self.provider.released.wait()
        while (left := began + plan.at_s - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(min(left, 30) if plan.beats else left)
            if plan.beats:
                yield b": keep-alive\n\n"
        if plan.tail:
            yield plan.tail
        if plan.how == "reset":
            raise httpx2.ReadError("connection reset by peer")

    def _chunks(self, frames):
        *frames, half = frames
        chunks = [as_bytes(frame) for frame in frames]
        if half is not None:
            chunks.append(as_bytes(half)[: len(as_bytes(half)) // 2])
        if not self.plan.piece:
            return chunks
        whole = b"".join(chunks)
        return [whole[at : at + self.plan.piece] for at in range(0, len(whole), self.plan.piece)]

    async def aclose(self):
        self.closed = True


class Provider:
    """
    `plans` are used one after another, then streams are whole; of `documents` the last one stays. Until `ends_s`,
    the document is that of a run in progress.
    """

    def __init__(self, *events, plans=(), documents=(), ends_s=0.0, cancel=200, delete=200, date=None):
        self.events = list(events)
        self.plans = list(plans)
        self.documents = list(documents)
        self.ends_s = ends_s
        self.running = {"id": "v1", "status": "in_progress", "created": "2026-11-22T10:00:00Z", "steps": []}
        self.cancel = cancel
        self.delete = delete
        self.date = date
        self.requests = []
        self.asked = []
        """`create`, `replay`, `cursor E`, `document`, `cancel`, `delete`, in their order."""

        self.bodies = []
        self.sent = 0
        self.released = asyncio.Event()
        self.stalled = threading.Event()
        """Set when a stream has begun to stall, and somebody waits for it."""

    @property
    def http(self):
        return httpx2.AsyncClient(transport=httpx2.MockTransport(self.answer))

    async def answer(self, request):
        self.requests.append(request)
        path = request.url.path
        if request.method == "DELETE":
            self.asked.append("delete")
            return self._plain(self.delete)
        if path.endswith("/cancel"):
            self.asked.append("cancel")
            return self._plain(self.cancel)
        if request.method == "POST":
            self.asked.append("create")
            return await self._stream(self.events)
        if request.url.params.get("stream") == "true":
            cursor = request.url.params.get("last_event_id")
            self.asked.append("replay" if cursor is None else f"cursor {cursor}")
            return await self._stream(self._after(cursor))
        self.asked.append("document")
        return self._document()

    def _plain(self, status):
        if isinstance(status, Exception):
            raise status
        return httpx2.Response(status, json={} if status == 200 else NOT_FOUND)

    def _after(self, cursor):
        if cursor is None:
            return self.events
        ids = [event.get("event_id") if isinstance(event, dict) else None for event in self.events]
        return self.events[ids.index(cursor) + 1 :]

    async def _stream(self, events):
        plan = self.plans.pop(0) if self.plans else Plan()
        await asyncio.sleep(plan.delay_s)
        if plan.fails is not None:
            raise plan.fails
        if plan.status != 200 or plan.body:
            return httpx2.Response(plan.status, content=plan.body, headers=plan.headers)
        events = events if plan.events is None else plan.events
        whole = [*events, None] if plan.upto is None else [*events[: plan.upto], None]
        if plan.half:
            whole[-1] = events[plan.upto]
        body = Body(self, plan, whole)
        self.bodies.append(body)
        headers = {"content-type": "text/event-stream", **plan.headers}
        return httpx2.Response(200, headers=headers, stream=body)

    def _document(self):
        if asyncio.get_running_loop().time() < self.ends_s:
            return httpx2.Response(200, json=self.running, headers={"date": self.date})
        document = self.documents.pop(0) if len(self.documents) > 1 else (self.documents or [404])[0]
        headers = {} if self.date is None else {"date": self.date}
        if isinstance(document, Exception):
            raise document
        if isinstance(document, int):
            return httpx2.Response(document, json={"error": {"code": document}}, headers=headers)
        if isinstance(document, bytes):
            return httpx2.Response(200, content=document, headers={"content-type": "application/json", **headers})
        return httpx2.Response(200, json=document, headers=headers)
