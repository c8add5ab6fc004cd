"""
What a browser may do with its sessions: prompts, stops, approvals, results, edits, lists and deletions.
"""

import asyncio

import pytest
from starlette.exceptions import HTTPException

from assistant_events import PromptSubmitted, fold
from assistant_events.session import Session
from assistant_events.stores import AsyncStore, MemoryStore
from tests.session.scripted import ASKS, HELLO, line
from tests.web.chat import Browser, Instead, chat, run, until

MAP = {"id": "c1", "name": "locate"}
LOCATES = (line(call=MAP), line(stop="tool-calls"))


def texts(app, session_id="s1"):
    """
    Return the texts in the log of a session.
    """
    return [message.text for message in fold(app.store.read(session_id))]


async def settled(app, session_id="s1"):
    """
    Wait until it is the turn of the user, and return the transcript.
    """
    await until(lambda: fold(app.store.read(session_id)).awaits == "user")
    return fold(app.store.read(session_id))


async def waiting(app, condition=lambda call: call.approval is not None):
    """
    Wait for a call for which a condition holds, and return the fields that name it.
    """

    def found():
        return [call for call in fold(app.store.read("s1")).pending_tool_calls if condition(call)]

    await until(found)
    [call] = found()
    return {"message_id": call.message_id, "call_id": call.call_id}


def test_a_prompt_that_is_sent_twice():
    """
    With an id of its own a prompt may be sent again: it is stored once.
    """

    async def main():
        async with chat(HELLO) as app:
            prompt = {"prompt": "Hi", "message_id": "p1"}
            first, again = [await app.ada.post("/sessions/s1/prompt", prompt) for _ in range(2)]
            await settled(app)

            assert [202, 202] == [first.status, again.status]
            assert ["Hi", "Hello"] == texts(app)

    run(main())


def test_a_prompt_does_not_wait_for_a_look_at_what_others_have_left():
    """
    The request itself begins the turn.
    """

    async def main():
        async with chat(HELLO, turns={"every_s": 600}) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await settled(app)

            assert ["Hi", "Hello"] == texts(app)

    run(main())


def test_a_prompt_with_contents():
    """
    A prompt is a text, or contents as they are stored.
    """

    async def main():
        async with chat(HELLO) as app:
            image = {"type": "media", "media_type": "image/png", "uri": "https://example.org/a.png"}
            await app.ada.post("/sessions/s1/prompt", {"prompt": [{"type": "text", "text": "What is this?"}, image]})
            await until(lambda: app.store.seq("s1") == 5)
            prompt = fold(app.store.read("s1")).messages[0]

            assert ["What is this?", "image/png"] == [prompt.content[0].text, prompt.content[1].media_type]

    run(main())


@pytest.mark.parametrize(
    ("command", "body", "detail"),
    [
        ("prompt", {"prompt": "Hi", "text": "Hi"}, "text: expected only the fields prompt, message_id, abandon_calls"),
        ("stop", {"reason": "Enough"}, "reason: expected no field"),
    ],
)
def test_a_field_that_is_unknown(command, body, detail):
    """
    The answer names it, and the fields that the command has.
    """

    async def main():
        async with chat(HELLO) as app:
            answer = await app.ada.post(f"/sessions/s1/{command}", body)

            assert (422, detail) == (answer.status, answer.document["detail"])

    run(main())


def test_a_prompt_with_what_is_not_a_content():
    """
    The answer names the place in the body.
    """

    async def main():
        async with chat() as app:
            text = {"type": "text", "text": "Hi"}
            for wrong, detail in (
                (None, "$.prompt[1]: expected an object, got null"),
                ({"type": "text", "text": 5}, "$.prompt[1].text: expected a string, got an integer"),
            ):
                answer = await app.ada.post("/sessions/s1/prompt", {"prompt": [text, wrong]})
                assert (422, detail) == (answer.status, answer.document["detail"])

    run(main())


def test_history():
    """
    The session is one document: a snapshot without state, with the seq to continue from.
    """

    async def main():
        async with chat((line(say="Hello"), line(said={"signature": "secret"}), line(stop="stop"))) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await settled(app)
            answer = await app.ada.get("/sessions/s1")

            assert (200, "no-store") == (answer.status, answer.headers["cache-control"])
            assert ("snapshot", 5) == (answer.document["type"], answer.document["seq"])
            assert "Hello" == answer.document["messages"][1]["parts"][0]["text"]
            assert b"secret" not in answer.body

    run(main())


def test_the_module_is_not_taken_from_a_cache():
    """
    A browser asks for it with each load: one of an older version would ignore events of a newer one. Without this, an
    old date of the file, such as that of a reproducible image, keeps it for years.
    """

    async def main():
        async with chat() as app:
            answer = await app.ada.get("/fold.mjs")
            assert (200, "no-cache") == (answer.status, answer.headers.get("cache-control"))

    run(main())


def test_history_of_a_session_whose_records_are_pruned():
    """
    The snapshot of the store is where the history begins.
    """

    async def main():
        async with chat(HELLO, HELLO) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await settled(app)
            await (await app.turns.open("s1")).snapshot()
            app.store.prune("s1", 5)
            await app.ada.post("/sessions/s1/prompt", {"prompt": "On"})
            await until(lambda: app.store.seq("s1") == 10)

            document = (await app.ada.get("/sessions/s1")).document
            assert (10, 4) == (document["seq"], len(document["messages"]))

    run(main())


@pytest.mark.parametrize("wrap", [lambda store: store, AsyncStore], ids=["store", "async store"])
def test_sessions_of_an_owner(wrap):
    """
    The list has the sessions of the owner alone, the last updated first, in pages.
    """

    async def main():
        store = MemoryStore()
        async with chat(*[HELLO] * 4, store=store) as app:
            app.routes._store = wrap(store) if wrap is AsyncStore else app.routes._store
            for name in ("s1", "s2", "s3"):
                await app.ada.post(f"/sessions/{name}/prompt", {"prompt": "Hi"})
                await settled(app, name)
            await Browser(app.routes, "bob").post("/sessions/other/prompt", {"prompt": "Hi"})
            await settled(app, "other")
            first = (await app.ada.get("/sessions?limit=2")).document
            rest = (await app.ada.get(f"/sessions?limit=2&after={first['after'].replace('+', '%2B')}")).document

            ends = [(await app.ada.get(f"/sessions?limit={limit}")).document["sessions"] for limit in (1, 100)]

            assert [1, 3] == [len(end) for end in ends]
            assert ["s3", "s2"] == [each["session_id"] for each in first["sessions"]]
            assert (["s1"], None) == ([each["session_id"] for each in rest["sessions"]], rest["after"])
            assert {"session_id", "seq", "created", "updated"} == set(first["sessions"][0])

    run(main())


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=101",
        "limit=" + "9" * 5000,
        "limit=0000000010000",
        "limit=-1",
        "limit=x",
        "limit=1e1",
        "after=x",
        "after=",
    ],
)
def test_pages_that_do_not_exist(query):
    """
    A limit out of its bounds and a cursor of something else are refused.
    """

    async def main():
        async with chat() as app:
            assert 400 == (await app.ada.get(f"/sessions?{query}")).status

    run(main())


def test_stop():
    """
    A stop closes the answer that runs as cancelled, and a stop of nothing changes nothing.
    """

    async def main():
        go = asyncio.Event()
        async with chat((line(say="Hel"), go, line(stop="stop"))) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await until(lambda: app.store.seq("s1") >= 3)
            answer = await app.ada.post("/sessions/s1/stop")
            last = (await settled(app)).last
            again = await app.ada.post("/sessions/s1/stop", {})

            assert (202, 202) == (answer.status, again.status)
            assert ("failed", "cancelled") == (last.status, last.error.kind)
            assert answer.document == again.document

    run(main())


@pytest.mark.parametrize(
    ("name", "more", "outcome"),
    [
        ("approve", {}, ("success", None)),
        ("deny", {}, ("failed", "The user denied this call.")),
        ("deny", {"reason": "Too dear."}, ("failed", "Too dear.")),
    ],
)
def test_answers_for_a_call_that_waits(name, more, outcome):
    """
    A call that needs an approval runs when it is approved and fails when it is denied, and the turn continues.
    """

    async def main():
        async with chat(ASKS, HELLO, asks=lambda _call: True) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            call = await waiting(app)
            answer = await app.ada.post(f"/sessions/s1/{name}", {**call, **more})
            transcript = await settled(app)
            again = await app.ada.post("/sessions/s1/approve", call)

            assert 202 == answer.status
            found = transcript.messages[1].tool_calls[0]
            assert outcome == (found.status, found.error and found.error.message)
            assert "Hello" == transcript.last.text
            assert 409 == again.status

    run(main())


def test_a_call_that_runs_is_not_denied():
    """
    The answer of another tab comes too late: what the tool does may cost money, and is in the log.
    """

    async def main():
        go = asyncio.Event()

        async def tool(_run):
            await go.wait()
            return "rain"

        async with chat(ASKS, HELLO, tool=tool, asks=lambda _call: True) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            call = await waiting(app)
            await app.ada.post("/sessions/s1/approve", call)
            await waiting(app, lambda call: call.attempt)
            answer = await app.ada.post("/sessions/s1/deny", call)
            go.set()
            transcript = await settled(app)

            assert (409, "success") == (answer.status, transcript.messages[1].tool_calls[0].status)

    run(main())


def test_a_call_that_nobody_asked_about():
    """
    A call is neither approved nor denied before the app asks for it, nor one that does not exist.
    """

    async def main():
        go = asyncio.Event()

        async def tool(_run):
            await go.wait()
            return "rain"

        async with chat(ASKS, HELLO, tool=tool) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            call = await waiting(app, lambda call: call.attempt)
            refused = [
                await app.ada.post("/sessions/s1/approve", call),
                await app.ada.post("/sessions/s1/deny", call),
                await app.ada.post("/sessions/s1/deny", {**call, "call_id": "c2"}),
                await app.ada.post("/sessions/s1/result", {**call, "output": "sun"}),
            ]
            go.set()
            await settled(app)

            assert [409] * 4 == [answer.status for answer in refused]

    run(main())


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"output": "59.9 N"}, ("success", None)),
        ({"error": "no permission"}, ("failed", "no permission")),
        ({"error": "", "output": None}, ("failed", "")),
    ],
    ids=["output", "error", "error without a text"],
)
def test_a_tool_of_the_browser(result, expected):
    """
    The browser answers the calls of its tools, and the turn continues.
    """

    async def main():
        async with chat(LOCATES, HELLO, of_browser=("locate",)) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Where am I?"})
            async with app.ada.watch("/sessions/s1/events?until=user") as events:
                await events.until("end")
            call = await waiting(app, lambda call: call.name == "locate")
            answer = await app.ada.post("/sessions/s1/result", {**call, **result})
            found = (await settled(app)).messages[1].tool_calls[0]

            assert 202 == answer.status
            assert expected == (found.status, found.error and found.error.message)

    run(main())


def test_a_tool_of_the_browser_that_a_person_has_to_allow():
    """
    Its result is refused before that; allowing it twice changes nothing, and its message has to be named. Before the
    app asks for it, it is not denied.
    """

    async def main():
        async with chat(LOCATES, HELLO, of_browser=("locate",)) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Where am I?"})
            call = await waiting(app, lambda call: call.name == "locate")
            assert 409 == (await app.ada.post("/sessions/s1/deny", call)).status
            session = await Session.open(app.store, "s1")
            await session.append(session.transcript.pending_tool_calls[0].request_approval("It is your place."))
            result = {**call, "output": "59.9 N"}
            commands = {
                "a result too early": ("result", result),
                "another message": ("approve", {**call, "message_id": "a9"}),
                "approved": ("approve", call),
                "approved again": ("approve", call),
                "a result": ("result", result),
            }
            answers = [await app.ada.post(f"/sessions/s1/{name}", fields) for name, fields in commands.values()]

            assert [409, 409, 202, 202, 202] == [answer.status for answer in answers]

    run(main())


def test_two_browsers_approve_a_call():
    """
    The second one is answered as the first, although the log has moved.
    """

    class Racing(MemoryStore):
        approved = False

        def append(self, session_id, events, **more):
            events = list(events)
            if not self.approved and [event.type for event in events] == ["tool.approved"]:
                self.approved = True
                super().append(session_id, events)
            return super().append(session_id, events, **more)

    async def main():
        async with chat(ASKS, HELLO, store=Racing(), asks=lambda _call: True) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            answer = await app.ada.post("/sessions/s1/approve", await waiting(app))

            assert 202 == answer.status
            assert "Hello" == (await settled(app)).last.text

    run(main())


def test_a_prompt_while_the_turns_are_shut_down():
    """
    It is stored for the next worker, and so not refused: it would be sent again, and stored twice.
    """

    async def main():
        gate, store = asyncio.Event(), MemoryStore()
        async with chat([gate, *HELLO], store=store, turns={"drain_s": 30}) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await until(lambda: app.provider.requests)
            leaving = asyncio.create_task(app.turns.__aexit__(None))
            await until(app.turns._looking.done)
            accepted = await app.ada.post("/sessions/s2/prompt", {"prompt": "Hello?"})
            gate.set()
            await leaving
            assert (202, {"seq": 1}) == (accepted.status, accepted.document)
            assert [["Hi", "Hello"], ["Hello?"]] == [texts(app), texts(app, "s2")]
        async with chat(HELLO, store=store, turns={"alone": True}) as app:
            assert ["Hello?", "Hello"] == [message.text for message in (await settled(app, "s2")).messages]

    run(main())


def test_edit():
    """
    An edit replaces a prompt and all after it, and the turn starts anew.
    """

    async def main():
        async with chat(HELLO, (line(say="Bye"), line(stop="stop"))) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi", "message_id": "p1"})
            await settled(app)
            edit = {"message_id": "p1", "prompt": "Good evening", "new_message_id": "p2"}
            answer = await app.ada.post("/sessions/s1/edit", edit)
            await until(lambda: texts(app) == ["Good evening", "Bye"])

            assert 202 == answer.status
            assert "p2" == fold(app.store.read("s1")).messages[0].id
            assert 409 == (await app.ada.post("/sessions/s1/edit", edit)).status

    run(main())


def test_regenerate():
    """
    Another answer takes the place of the last one; a prompt cannot be regenerated.
    """

    async def main():
        async with chat(HELLO, (line(say="Bye"), line(stop="stop"))) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi", "message_id": "p1"})
            last = (await settled(app)).last
            answer = await app.ada.post("/sessions/s1/regenerate", {"message_id": last.id})
            await until(lambda: texts(app) == ["Hi", "Bye"])
            refused = await app.ada.post("/sessions/s1/regenerate", {"message_id": "p1"})

            assert (202, 409) == (answer.status, refused.status)
            assert "is not an answer" in refused.document["detail"]

    run(main())


class RacingStore(MemoryStore):
    """
    A store in which the result of a call comes just before the rewind of its answer.
    """

    def append(self, session_id, events, **more):
        events = list(events)
        if any(event.type == "history.rewound" for event in events):
            for call in fold(self.read(session_id)).pending_tool_calls:
                super().append(session_id, [call.succeed("here")])
        return super().append(session_id, events, **more)


def test_regenerate_an_answer_that_is_written_meanwhile():
    """
    What the answer itself appends does not refuse it: it is replaced all the same.
    """

    async def main():
        async with chat(LOCATES, HELLO, store=RacingStore(), of_browser=("locate",)) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            named = await waiting(app, lambda call: True)
            answer = await app.ada.post("/sessions/s1/regenerate", {"message_id": named["message_id"]})
            await until(lambda: texts(app) == ["Hi", "Hello"])

            assert 202 == answer.status
            assert "tool.success" in [record.event.type for record in app.store.read("s1")]

    run(main())


def test_the_next_prompt_leaves_calls_behind():
    """
    With `abandon_calls` a prompt fails the calls that wait, so that the model answers it.
    """

    async def main():
        async with chat(ASKS, HELLO, asks=lambda _call: True) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await waiting(app)
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Never mind", "abandon_calls": True})
            await until(lambda: app.store.seq("s1") == 11)

            assert ["Hi", "", "Never mind", "Hello"] == texts(app)

    run(main())


def test_delete_ends_what_runs():
    """
    A session that is deleted in the middle of an answer is gone, and nothing of its turn brings it back.
    """

    async def main():
        go = asyncio.Event()
        async with chat((line(say="Hel"), go, line(stop="stop")), HELLO) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await until(lambda: app.store.seq("s1") >= 3)
            answer = await app.ada.delete("/sessions/s1")
            go.set()

            assert (204, 404) == (answer.status, (await app.ada.get("/sessions/s1")).status)
            assert not app.turns._tasks
            assert 0 == app.store.seq("s1")
            assert [] == (await app.ada.get("/sessions")).document["sessions"]
            assert 202 == (await app.ada.post("/sessions/s1/prompt", {"prompt": "Anew"})).status
            await settled(app)
            assert ["Anew", "Hello"] == texts(app)

    run(main())


def test_what_an_app_does_before_a_session_is_deleted():
    """
    The turn has ended then, and its log is there; what raises leaves it, and the next try can succeed.
    """
    store, ends = MemoryStore(), []
    failures = [HTTPException(503, "no ledger"), ZeroDivisionError()]

    async def keep(session):
        ends.append([record.event.type for record in store.read(session.session_id)][-1])
        if failures:
            raise failures.pop(0)

    async def main():
        async with chat((line(say="Hel"), asyncio.Event()), store=store, before_delete=keep) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await until(lambda: store.seq("s1") >= 3)
            assert 404 == (await app.ada.delete("/sessions/s2")).status
            assert 503 == (await app.ada.delete("/sessions/s1")).status
            with pytest.raises(ZeroDivisionError):
                await app.ada.delete("/sessions/s1")
            assert ["Hi", "Hel"] == texts(app)
            assert 204 == (await app.ada.delete("/sessions/s1")).status
            assert (["step.failed"] * 3, 0) == (ends, store.seq("s1"))

    run(main())


@pytest.mark.parametrize(
    ("meanwhile", "status", "left"),
    [(None, 204, []), ("prompt", 409, ["Hi", "Hello", "Wait!", "Hello"]), ("delete", 204, [])],
)
def test_what_others_do_before_a_session_is_deleted(meanwhile, status, left):
    """
    What has come while the app kept the bill is not in it, and stays; one that is gone already is deleted.
    """
    store = MemoryStore()

    async def main():
        async def keep(_session):
            if meanwhile == "delete":
                store.delete("s1")
            elif meanwhile == "prompt":
                await app.ada.post("/sessions/s1/prompt", {"prompt": "Wait!"})
                await settled(app)

        async with chat(HELLO, HELLO, store=store, before_delete=keep) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await settled(app)

            assert (status, left) == ((await app.ada.delete("/sessions/s1")).status, texts(app))

    run(main())


def test_a_wait_that_fails_before_a_session_is_deleted():
    """
    The app is given the session as it is in the log then, and what the turn has written last is not of others.
    """
    seqs = []

    async def keep(session):
        seqs.append(session.seq)

    async def main():
        async with chat(HELLO, before_delete=keep) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await settled(app)

            async def turn(_session):
                app.store.append("s1", [PromptSubmitted(message_id="p2", content="More")])
                raise TimeoutError

            app.routes._turns = Instead(app.turns, run=turn)

            assert (204, [6]) == ((await app.ada.delete("/sessions/s1")).status, seqs)

    run(main())


def test_a_plain_function_before_a_session_is_deleted():
    """
    It cannot be awaited: the error names what is wrong, and the session stays.
    """

    async def main():
        async with chat(HELLO, before_delete=lambda _session: None) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await settled(app)
            with pytest.raises(TypeError, match=r"^before_delete: expected an async function, it returned NoneType$"):
                await app.ada.delete("/sessions/s1")

            assert ["Hi", "Hello"] == texts(app)

    run(main())


def test_delete_after_a_turn_that_has_failed():
    """
    An app whose moves fail does not keep its users from deleting.
    """

    async def main():
        async with chat(ASKS, asks=lambda _call: 1 / 0) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await until(lambda: not app.turns._tasks)

            assert 204 == (await app.ada.delete("/sessions/s1")).status

    run(main())


def test_delete_while_the_turns_are_shut_down():
    """
    The session is deleted although no turn is made any more.
    """

    async def main():
        async with chat(HELLO) as app:
            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            await settled(app)
            await app.turns.__aexit__(None)

            assert (204, 0) == ((await app.ada.delete("/sessions/s1")).status, app.store.seq("s1"))

    run(main())
