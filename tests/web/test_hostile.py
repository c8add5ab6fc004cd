"""
Requests of people who may not, and of those who want too much: each is refused clearly, and shows nothing of others.
"""

import asyncio
import json

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from assistant_events import PromptSubmitted
from assistant_events.errors import ClaimedError, ConflictError, FencedError, PrunedError, StoreError
from assistant_events.live import MemoryLive
from assistant_events.stores import AsyncStore, MemoryStore
from assistant_events.web import ChatRoutes
from assistant_events.web.refusals import check_host
from tests.session.scripted import HELLO, Store
from tests.web.chat import Browser, Instead, chat, run, until

PROMPT = PromptSubmitted(message_id="p1", content="Hi")
GET = [("GET", "/sessions/s1"), ("GET", "/sessions/s1/events"), ("GET", "/sessions/s1/events?after=1")]
CALL = {"message_id": "a1", "call_id": "c1"}
POST = {
    "edit": {"message_id": "p1", "prompt": "x"},
    "regenerate": {"message_id": "a1"},
    "stop": {},
    "approve": CALL,
    "deny": CALL,
    "result": CALL,
}
WRITES = [("POST", f"/sessions/s1/{name}") for name in POST] + [("DELETE", "/sessions/s1")]


async def ask(browser, method, path):
    """
    Send a request of the tables above.
    """
    if method == "POST":
        return await browser.post(path, POST[path.rpartition("/")[2]])
    return await browser.send(method, path, (), {})


@pytest.mark.parametrize(("method", "path"), [*GET, *WRITES], ids=lambda part: part)
def test_sessions_of_others_do_not_exist(method, path):
    """
    For another owner, a session is what one that does not exist is: the same bytes; nothing of it changes.
    """

    async def main():
        async with chat(HELLO) as app:
            bob = Browser(app.routes, "bob")
            before = await ask(bob, method, path)
            await app.ada.post("/sessions/s1/prompt", {"prompt": "my secret", "message_id": "p1"})
            await until(lambda: app.store.seq("s1") == 5)
            after = await ask(bob, method, path)

            assert (404, 404) == (before.status, after.status)
            assert (before.body, before.headers) == (after.body, after.headers)
            assert {"detail": "no such session"} == after.document
            assert 5 == app.store.seq("s1")
            assert [] == (await bob.get("/sessions")).document["sessions"]

    run(main())


def test_a_prompt_into_the_session_of_another():
    """
    A prompt to an id that another owner has is refused like a session that does not exist.
    """

    async def main():
        async with chat(HELLO) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await until(lambda: app.store.seq("s1") == 5)
            answer = await Browser(app.routes, "bob").post("/sessions/s1/prompt", {"prompt": "Hi"})

            assert (404, {"detail": "no such session"}) == (answer.status, answer.document)
            assert 5 == app.store.seq("s1")

    run(main())


def test_an_id_that_another_takes_after_a_deletion():
    """
    Who has watched a session that was deleted is given nothing of the new one of another owner, even before the store
    is looked at again.
    """

    async def main():
        store = MemoryStore()
        async with MemoryLive(store, poll_s=None) as live, chat(HELLO, HELLO, store=store, live=live) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await until(lambda: store.seq("s1") == 5)
            bob = Browser(app.routes, "bob")
            async with app.ada.watch("/sessions/s1/events?after=5") as events:
                await until(lambda: "s1" in live._topics)
                assert 204 == (await app.ada.delete("/sessions/s1")).status
                await bob.post("/sessions/s1/prompt", {"prompt": "one"})
                await until(lambda: store.seq("s1") == 5)
                await bob.post("/sessions/s1/prompt", {"prompt": "secret"})
                await until(lambda: b"secret" in events.body or events.ended)

            assert b"secret" not in events.body

    run(main())


def begun_anew(store):
    """
    Delete the session, and begin it anew as that of Bob.
    """
    store.delete("s1")
    store.append("s1", [PromptSubmitted(message_id="b1", content="secret")], owner="bob")


@pytest.mark.parametrize("rest", ["", "/events", "/events?after=0", "/events?until=user&after=0"])
def test_an_id_that_another_takes_while_it_is_read(rest):
    """
    Whose session it is is known of what is given, not only of what was there when the request came.
    """

    async def main():
        store = Store()
        async with chat(HELLO, store=store) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await until(lambda: store.seq("s1") == 5 and not app.turns._tasks)

            def append(session_id, events, **more):
                found = store.inner.append(session_id, events, **more)
                if not events and store.inner.seq("s1") == 5:
                    begun_anew(store.inner)
                return found

            store.append = append
            async with app.ada.watch(f"/sessions/s1{rest}") as answer:
                await until(lambda: answer.ended)

            assert 1 == store.seq("s1")
            assert b"secret" not in answer.body

    run(main())


@pytest.mark.parametrize("waits_for", ["the store", "the turn", "the app"])
def test_an_id_that_another_takes_while_it_is_deleted(waits_for):
    """
    A deletion that waits for the store, for the end of a turn, or for what the app does before it, neither stops nor
    deletes the session that another has begun meanwhile.
    """

    async def main():
        store = Store()

        async def wait(_session):
            begun_anew(store.inner)

        options = {"before_delete": wait} if waits_for == "the app" else {}
        async with chat(HELLO, store=store, **options) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await until(lambda: store.seq("s1") == 5 and not app.turns._tasks)
            if waits_for == "the turn":
                app.routes._turns = Instead(app.turns, run=wait)
            elif waits_for == "the store":

                async def open_later(session_id, **options):
                    begun_anew(store.inner)
                    return await app.turns.open(session_id, **options)

                app.routes._turns = Instead(app.turns, open=open_later)
            answer = await app.ada.delete("/sessions/s1")

            assert (404, {"detail": "no such session"}) == (answer.status, answer.document)
            assert 1 == store.seq("s1")

    run(main())


def test_two_owners_who_create_one_session():
    """
    Of two who send the first prompt to one id at the same time, one gets the session, and the other 404.
    """

    async def main():
        store = Store()
        async with chat(HELLO, store=store) as app:

            def first():
                store.before_append = None
                store.inner.append("s1", [PROMPT], owner="bob")

            opened = app.turns.open

            async def open_later(session_id, **options):
                session = await opened(session_id, **options)
                store.before_append = first
                return session

            app.routes._turns = type("Turns", (), {"open": staticmethod(open_later)})
            answer = await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})

            assert (404, {"detail": "no such session"}) == (answer.status, answer.document)

    run(main())


@pytest.mark.parametrize("name", ["x" * 201, "a%00b", "a%0Ab", "a%1Bb"])
def test_ids_of_sessions(name):
    """
    Ids that are too long, or that have control characters, are refused for a new session and do not exist otherwise.
    """

    async def main():
        async with chat() as app:
            assert 422 == (await app.ada.post(f"/sessions/{name}/prompt", {"prompt": "Hi"})).status
            assert 404 == (await app.ada.get(f"/sessions/{name}")).status
            assert () == app.store.sessions()

    run(main())


@pytest.mark.parametrize("path", ["/", "/sessions/", "/sessions//events", "/sessions/a/b/c", "/sessions/s1/events/"])
def test_addresses_that_do_not_exist(path):
    """
    Any other address is 404, without a redirection to the host that the request names.
    """

    async def main():
        async with chat() as app:
            answer = await app.ada.get(path)

            assert (404, {"detail": "Not Found"}) == (answer.status, answer.document)

    run(main())


@pytest.mark.parametrize("path", ["/sessions/s1/stop", "/sessions/s1/prompt"])
def test_commands_are_posts(path):
    """
    Nothing changes with a GET.
    """

    async def main():
        async with chat() as app:
            assert 405 == (await app.ada.get(path)).status

    run(main())


def refuse(_request, _session_id):
    raise HTTPException(401, "log in first", {"www-authenticate": "Bearer"})


async def later(request, session_id):
    await asyncio.sleep(0)
    return "ada" if session_id == "s1" else None


@pytest.mark.parametrize(
    ("authorize", "path", "status"),
    [
        (lambda *_: None, "/sessions", 403),
        (lambda *_: "", "/sessions/s1", 403),
        (refuse, "/sessions/s1/events", 401),
        (later, "/sessions", 403),
        (later, "/sessions/s1", 404),
    ],
    ids=["none", "empty", "raises", "async refuses", "async allows"],
)
def test_authorize(authorize, path, status):
    """
    What `authorize` does not allow is 403, or what it raises.
    """

    async def main():
        async with chat(authorize=authorize) as app:
            answer = await app.ada.get(path)

            assert status == answer.status
            assert status != 401 or "Bearer" == answer.headers["www-authenticate"]

    run(main())


@pytest.mark.parametrize("path", ["/sessions", "/sessions/s1/prompt"])
def test_an_owner_that_is_not_a_string(path):
    """
    A fault of the app is not answered as a fault of the request.
    """

    async def main():
        async with chat(authorize=lambda *_: 7) as app:
            method = "GET" if path == "/sessions" else "POST"
            with pytest.raises(TypeError, match=r"^authorize: expected a string or None, it returned int$"):
                await app.ada.send(method, path, [b'{"prompt": "Hi"}'], {"content-type": "application/json"})

    run(main())


def test_a_body_is_not_read_before_the_owner_is_known():
    """
    Without an owner no byte of a body is taken.
    """

    async def main():
        async with chat(authorize=lambda *_: None) as app:
            answer = await app.ada.post("/sessions/s1/prompt", body=[b"{", b"}"])

            assert 403 == answer.status
            assert [b"{", b"}"] == answer.pieces

    run(main())


@pytest.mark.parametrize(
    "kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "json"]
)
def test_only_json(kind):
    """
    A form of another site can be sent with the types that browsers allow it; none of them is taken.
    """

    async def main():
        async with chat(HELLO) as app:
            answer = await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"}, content_type=kind)

            assert (415, 0) == (answer.status, app.store.seq("s1"))

    run(main())


def test_json_with_parameters():
    """
    The content type may have parameters and capitals.
    """

    async def main():
        async with chat(HELLO) as app:
            kind = "Application/JSON; charset=utf-8"

            assert 202 == (await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"}, content_type=kind)).status

    run(main())


@pytest.mark.parametrize(
    ("pieces", "headers"),
    [
        ([b'{"prompt": "', b"x" * 90, b'"}'], {}),
        ([b'{"prompt": "'] + [b"x"] * 10**6, {}),
        ([], {"content_length": "101"}),
        ([], {"content_length": "9" * 5000}),
        ([], {"content_length": "many"}),
    ],
    ids=["pieces", "for ever", "declared", "declared for ever", "no number"],
)
def test_a_body_that_is_too_long(pieces, headers):
    """
    A long body is refused by its declared length, or with the byte that is too much, and the rest is not read.
    """

    async def main():
        async with chat(max_body_bytes=100) as app:
            answer = await app.ada.post("/sessions/s1/prompt", body=pieces, **headers)

            assert (413, "close") == (answer.status, answer.headers["connection"])
            assert len(pieces) < 10**6 or len(answer.pieces) > 10**6 - 100

    run(main())


def test_a_body_of_the_limit():
    """
    A body of exactly the limit is read.
    """

    async def main():
        body = json.dumps({"prompt": "x" * 50}).encode()
        async with chat(HELLO, max_body_bytes=len(body)) as app:
            assert 202 == (await app.ada.post("/sessions/s1/prompt", body=[body])).status

    run(main())


def test_a_body_that_does_not_come(monkeypatch):
    """
    A body has a limit of time.
    """
    monkeypatch.setattr("assistant_events.web.refusals.BODY_S", 0.01)

    async def main():
        async with chat() as app:
            scope = app.ada._scope("POST", "/sessions/s1/prompt", {"content-type": "application/json"})
            sent = []

            async def send(message):
                sent.append(message)

            await app.routes(scope, asyncio.Event().wait, send)
            assert 408 == sent[0]["status"]

    run(main())


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b'{"prompt": NaN}', 400),
        (b'{"prompt": 1e999}', 400),
        (b"\xff\xfe", 400),
        (b"[" * 100_000, 400),
        (b'{"prompt": ' + b"[" * 300 + b"]" * 300 + b"}", 400),
        (b"[]", 422),
        (b'"Hi"', 422),
        (b"null", 422),
        (b"{}", 422),
        (b'{"prompt": 1}', 422),
        (b'{"prompt": null}', 422),
        (b'{"prompt": ""}', 422),
        (b'{"prompt": []}', 422),
        (b'{"prompt": {"role": "system"}}', 422),
        (b'{"prompt": ["Hi"]}', 422),
        (b'{"prompt": [{"type": "text"}]}', 422),
        (b'{"prompt": [' + b'{"type": "text", "text": ""},' * 99 + b'{"type": "text", "text": ""}]}', 422),
        (b'{"prompt": [{"type": "secret"}]}', 422),
        (b'{"prompt": "Hi", "owner": "bob"}', 422),
        (b'{"prompt": "Hi", "message_id": 1}', 422),
        (b'{"prompt": "Hi", "message_id": ""}', 422),
        (b'{"prompt": "Hi", "abandon_calls": 1}', 422),
    ],
    ids=lambda value: value[:40].decode("latin-1") if isinstance(value, bytes) else None,
)
def test_bodies_that_are_not_a_prompt(body, status):
    """
    What is not a prompt is refused with a sentence; nothing is stored.
    """

    async def main():
        async with chat() as app:
            answer = await app.ada.post("/sessions/s1/prompt", body=[body])

            assert status == answer.status
            assert len(answer.document["detail"]) < 300
            assert () == app.store.sessions()

    run(main())


@pytest.mark.parametrize("name", ["\\u0000", "\\ud800"])
def test_text_of_any_kind(name):
    """
    Strange characters in a prompt neither break the session nor its documents.
    """

    async def main():
        async with chat(HELLO) as app:
            answer = await app.ada.post("/sessions/s1/prompt", body=[b'{"prompt": "a%sb"}' % name.encode()])

            assert 202 == answer.status
            assert 200 == (await app.ada.get("/sessions/s1")).status

    run(main())


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("chat.example", 200),
        ("CHAT.example:8000", 200),
        ("[::1]:8000", 200),
        ("127.0.0.1:8000", 200),
        ("127.0.0.1:8001", 421),
        ("[::1]", 421),
        ("[::1]:80", 421),
        ("[::2]:8000", 421),
        ("evil.example", 421),
        ("chat.example.evil.example", 421),
        ("chat.example@evil.example", 400),
        ("chat.example:x", 400),
        ("::1", 400),
        ("", 400),
        (None, 400),
    ],
)
def test_hosts(host, status):
    """
    With a list of hosts, a request for another one is refused: exactly, also with a port and with IPv6.
    """

    async def main():
        async with chat(hosts=["chat.example", "[::1]:8000", "127.0.0.1:8000"]) as app:
            assert status == (await app.ada.get("/sessions", host=host)).status

    run(main())


def test_two_hosts():
    """
    Which one a proxy has checked is not known.
    """
    headers = [(b"host", b"chat.example"), (b"host", b"evil.example")]

    with pytest.raises(HTTPException, match="expected one host header"):
        check_host(Request({"type": "http", "headers": headers}), ["chat.example"])


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://chat.example"}, 202),
        ({"origin": "https://CHAT.example"}, 202),
        ({"origin": "https://app.example"}, 202),
        ({"sec_fetch_site": "same-origin"}, 202),
        ({"sec_fetch_site": "none"}, 202),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "https://evil.example", "sec_fetch_site": "same-origin"}, 403),
        ({"origin": "https://chat.example.evil.example"}, 403),
        ({"origin": "https://chat.example:444"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": ""}, 403),
        ({"origin": "http://["}, 403),
        ({"origin": "http://[1]"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
    ],
    ids=str,
)
@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_pages_of_other_sites(headers, status, method):
    """
    What changes something is taken from pages of the same host, and of those that are named.
    """

    async def main():
        async with chat(HELLO, HELLO, origins=["https://app.example"]) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await until(lambda: app.store.seq("s1") == 5)
            if method == "POST":
                answer = await app.ada.post("/sessions/s1/prompt", {"prompt": "On"}, **headers)
            else:
                answer = await app.ada.delete("/sessions/s1", **headers)

            assert (status if method == "POST" else {202: 204, 403: 403}[status]) == answer.status

    run(main())


def test_connections_of_an_owner():
    """
    An owner has a number of answers of events, others have theirs, and one that ends makes room.
    """

    async def main():
        async with chat(HELLO, HELLO, max_streams_per_owner=2, max_streams=3) as app:
            bob = Browser(app.routes, "bob")
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await bob.post("/sessions/s2/prompt", {"prompt": "Hi"})
            async with app.ada.watch("/sessions/s1/events") as first:
                await first.next()
                async with app.ada.watch("/sessions/s1/events"):
                    third = await app.ada.get("/sessions/s1/events")
                    async with bob.watch("/sessions/s2/events"):
                        full = await bob.get("/sessions/s2/events")
                    assert 202 == (await app.ada.post("/sessions/s1/stop")).status
                async with app.ada.watch("/sessions/s1/events") as again:
                    assert 200 == again.status
                    assert 429 == (await app.ada.get("/sessions/s1/events")).status

            assert (429, 503) == (third.status, full.status)
            assert ["5", "5"] == [each.headers["retry-after"] for each in (third, full)]

    run(main())


def test_thousands_of_connections():
    """
    Of thousands of connections of one owner a few are open; the others are refused at once and leave nothing behind.
    """

    async def main():
        async with chat(HELLO) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            browsers = [app.ada.watch("/sessions/s1/events") for _ in range(2000)]
            watched = await asyncio.gather(*[browser.__aenter__() for browser in browsers])
            statuses = [events.status for events in watched]
            await asyncio.gather(*[browser.__aexit__(None, None, None) for browser in browsers])

            assert (32, 1968) == (statuses.count(200), statuses.count(429))
            assert not app.routes._streams._open

    run(main())


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (StoreError("cannot open /secret/chat.db"), 503),
        (ConflictError("secret", 1, 2), 409),
        (ClaimedError("secret", "secret"), 409),
        (FencedError("secret", 3), 503),
        (PrunedError("secret", 1, 2), 410),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_errors_of_the_store(error, status):
    """
    Each error has a status and a sentence, without paths, ids and names of workers.
    """

    class Broken:
        def __init__(self):
            self.inner = MemoryStore()

        def load_snapshot(self, _session_id):
            raise error

        def __getattr__(self, name):
            return getattr(self.inner, name)

    async def main():
        async with chat(HELLO) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await until(lambda: app.store.seq("s1") == 5)
            broken = Broken()
            broken.inner = app.store
            routes = ChatRoutes(Instead(app.turns, store=AsyncStore(broken)), authorize=lambda *_: "ada")
            answer = await Browser(routes).get("/sessions/s1")

            assert status == answer.status
            assert b"secret" not in answer.body

    run(main())


def test_a_store_that_has_failed_is_not_a_missing_session():
    """
    A session whose owner cannot be looked up is 503, not 404, which would end the `EventSource` of its owner.
    """

    class Failing:
        load_snapshot = None

        def __init__(self, inner):
            self.inner, self.calls = inner, 0

        def append(self, *_args, **_options):
            raise StoreError("the disk is gone")

        def seq(self, session_id):
            self.calls += 1
            if self.calls > 1:
                raise StoreError("the disk is gone")
            return self.inner.seq(session_id)

    async def main():
        async with chat(HELLO) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            routes = ChatRoutes(Instead(app.turns, store=AsyncStore(Failing(app.store))), authorize=lambda *_: "ada")

            assert 503 == (await Browser(routes).get("/sessions/s1")).status

    run(main())


def test_a_store_that_fails_for_a_new_session():
    """
    A first prompt that could not be stored is 503, so that it is sent again.
    """

    async def main():
        store = Store()
        async with chat(store=store) as app:
            store.refuse = StoreError("the disk is full")
            answer = await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})

            assert 503 == answer.status
            assert "disk" not in answer.document["detail"]

    run(main())


def test_a_client_that_leaves_while_it_sends():
    """
    A body that is cut is not an error of the server.
    """

    async def main():
        async with chat() as app:
            scope = app.ada._scope("POST", "/sessions/s1/prompt", {"content-type": "application/json"})
            sent = []

            async def receive():
                return {"type": "http.disconnect"}

            async def send(message):
                sent.append(message)

            await app.routes(scope, receive, send)
            assert 400 == sent[0]["status"]

    run(main())
