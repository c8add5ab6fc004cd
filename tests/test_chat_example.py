"""
The chat backend in `examples/`, as a process of its own over HTTP, against a mock provider on a port.

Where something has to happen at a certain moment, the provider falls silent there until the test continues.
"""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from uuid import uuid4

import httpx2
import pytest

from assistant_events import Frame, Record, Transcript, find_problems, fold, thaw
from assistant_events.converters import structure
from assistant_events.stores import SqliteStore
from assistant_events.testing import mock_provider
from tests.children import Child

EXAMPLE = Path(__file__).parent.parent / "examples" / "fastapi_app.py"
SECONDS = 60
WORDS = "one two three four five six seven eight nine ten"
# created, status, start, "one ", "two ", "thre", then silence.
STALLED = {"text": WORDS, "timing": {"delta_chars": 4}, "faults": ["stall@6"]}


def calls(name, **arguments):
    """
    Return an answer that calls a tool, and one that follows it.
    """
    return [{"calls": [{"id": "c1", "name": name, "arguments": arguments}]}, {"text": "Done."}]


ANSWERS = {
    "Count.": STALLED,
    "Count slowly.": {"text": WORDS, "timing": {"delta_chars": 1, "between_s": 0.01}},
    "Now.": [{"text": "lost", "faults": ["stall@0"]}, {"text": "eleven"}],
    "On.": "eleven",
    "Tell.": [{"text": "Once upon", "continuation_token": "t1"}, {"text": " a time."}],
    "Which orders?": calls("find_orders", customer="Ada"),
    "How warm?": calls("read_thermometer", room="hall"),
    # The answers to a prompt are given one after another, so each test has a prompt of its own.
    **{f"Pay back, {case}.": calls("refund", order=17, amount=40) for case in ("approve", "deny", "restart")},
    "Twice.": "twelve",
}


@pytest.fixture(scope="module")
def provider():
    """A provider that falls silent in the middle of its first stream; its replays are whole."""
    with mock_provider(ANSWERS) as running:
        yield running


class App(Child):
    """
    The app behind uvicorn, on a port of its own.
    """

    def __init__(self, provider, database):
        told = {"GEMINI_BASE_URL": provider.url, "GEMINI_API_KEY": "k", "CHAT_DB": str(database)}
        command = [sys.executable, "-m", "uvicorn", "--app-dir", EXAMPLE.parent, "--port", "0"]
        command += ["--timeout-graceful-shutdown", "1", "fastapi_app:app"]
        environment = {**os.environ, **told, "CHAT_SECRET": "s", "CHAT_SLOW_S": "0.02"}
        super().__init__(command, env=environment, stdout=subprocess.DEVNULL)
        self.database = database
        self.clients = ExitStack()

    def page(self, *login, session=None, **options):
        """Return a page of a user who logs in, `ada` by default, with a session of its own by default."""
        client = httpx2.Client(base_url=self.url, timeout=SECONDS, **options)
        return Page(self.clients.enter_context(client), session or uuid4().hex, *login)

    def logged(self, page):
        """Return the transcript of a page's session in the database."""
        with SqliteStore(self.database) as store:
            assert [] == find_problems(store.read(page.session))
            return fold(store.read(page.session))

    def __enter__(self):
        super().__enter__()
        line = next(line for line in self.stderr if b"running on" in line)
        self.url = line.split(b"running on ")[1].split()[0].decode()
        return self

    def __exit__(self, *raised):
        self.clients.close()
        super().__exit__(*raised)

    def stop(self):
        """Shut the app down as a deployment does, and wait for its end."""
        self.send_signal(signal.SIGTERM)
        self.stderr.read()
        self.wait(SECONDS)


@pytest.fixture(scope="module")
def app(provider, tmp_path_factory):
    """An app that the tests share, each with a session of its own."""
    with App(provider, tmp_path_factory.mktemp("chat") / "chat.db") as app:
        yield app


@pytest.fixture
def serve(provider, tmp_path):
    """Starts an app, again and again on the same database."""
    with ExitStack() as started:
        yield lambda: started.enter_context(App(provider, tmp_path / "chat.db"))


class Page:
    """
    A page that shows one session.
    """

    def __init__(self, client, session, name="ada", password="lovelace"):
        self.client = client
        self.session = session
        self.path = f"/api/sessions/{session}"
        self.login = client.post("/login", json={"name": name, "password": password})

    def post(self, what, **document):
        return self.client.post(f"{self.path}/{what}", json=document)

    @contextmanager
    def watch(self, cursor=None):
        headers = {} if cursor is None else {"last-event-id": cursor}
        with self.client.stream("GET", f"{self.path}/events", headers=headers) as response:
            yield Events(response)


class Events:
    """
    Server-sent events as `EventSource.onmessage` gets them: those without an `event:` line.
    """

    def __init__(self, response):
        assert 200 == response.status_code
        self._lines = response.iter_lines()
        self.last = None

    def next(self):
        """Return the next document."""
        for line in self._lines:
            name, _, value = line.partition(": ")
            assert name != "event", line
            if name == "id":
                self.last = value
            elif name == "data":
                return json.loads(value)
        raise AssertionError("the stream has ended")

    def until(self, type_):
        """Return the documents up to the first with an event of a type."""
        found = [self.next()]
        while type_ not in types(found[-1:]):
            found.append(self.next())
        return found

    def until_text(self, got, text):
        """Add documents to those that a page has got, until its last message begins with a text."""
        while not texts(folded(got))[-1:] or not texts(folded(got))[-1].startswith(text):
            got.append(self.next())

    def until_asked(self, got):
        """Add documents until a call waits for a person, and return the call."""
        while not any(call.approval for call in folded(got).pending_tool_calls):
            got.append(self.next())
        return folded(got).pending_tool_calls[0]

    def until_user(self, got, text):
        """Add documents until the last message is a text, and it is the turn of the user."""
        while texts(folded(got))[-1:] != [text] or folded(got).awaits != "user":
            got.append(self.next())


def types(documents):
    """
    Return the types of the events in documents.
    """
    found = []
    for document in documents:
        inner = document.get("events") or [document.get("event", document)]
        found += [event["type"] for event in inner]
    return found


def folded(documents):
    """
    Return the transcript that a page makes of documents.
    """
    start, items = Transcript(), []
    for document in documents:
        plain = {name: value for name, value in document.items() if name != "type"}
        if document["type"] == "snapshot":
            start, items = structure(plain, Transcript), []
        else:
            items.append(structure(plain, Record if document["type"] == "record" else Frame))
    return fold(items, start=start)


def texts(transcript):
    return [message.text for message in transcript]


def until(condition):
    """
    Wait for a condition.
    """
    ends = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_it_is_short():
    """
    The app has less than 200 lines.
    """
    assert len(EXAMPLE.read_text().splitlines()) < 200


def test_a_page_that_leaves_cancels_nothing(app):
    """
    One page leaves in mid-sentence; another that comes late gets the start of the sentence, without asking again.
    """
    page = app.page()
    assert 202 == page.post("prompt", prompt="Count.").status_code
    with page.watch() as early:
        early.until_text([], "one ")
    with page.watch() as late:
        second = []
        late.until_text(second, "one ")
    with page.watch(cursor="3") as returned:
        third = returned.until("text.delta")

    assert ["snapshot", "frame"] == [document["type"] for document in second]
    assert ["frame"] == [document["type"] for document in third]
    assert 0 == third[0]["events"][0]["offset"]
    assert ["Count.", ""] == texts(app.logged(page))


def test_two_cuts_a_reload_and_a_second_tab(app):
    """
    A page that is cut twice and comes back has all of the text once, and so have a reload and a second tab.
    """
    page = app.page()
    page.post("prompt", prompt="Count slowly.")
    got, cursor = [], None
    for words in ("one", "one two three", WORDS):
        with page.watch(cursor=cursor) as events:
            events.until_text(got, words)
            cursor = events.last
        if words == "one two three":
            with page.watch() as reloaded, page.watch() as tab:
                first, second = [], []
                reloaded.until_text(first, words)
                tab.until_text(second, WORDS)
                reloaded.until_text(first, WORDS)

    assert ["Count slowly.", WORDS] == texts(folded(got)) == texts(folded(first)) == texts(folded(second))
    for documents in (got, first, second):
        seqs = [document["seq"] for document in documents if document["type"] != "frame"]
        assert sorted(set(seqs)) == seqs


def test_everything_comes_to_the_end(app):
    """
    What a page gets, stored and live, folds to the conversation in the log, without provider state.
    """
    page = app.page()
    page.post("prompt", prompt="Count slowly.")
    with page.watch() as events:
        got = events.until("step.ended")
        page.post("prompt", prompt="On.")
        got += events.until("step.ended")

    assert ["Count slowly.", WORDS, "On.", "eleven"] == texts(folded(got)) == texts(app.logged(page))
    assert not {"state", "run", "meta"} & {name for document in got for name in document.get("event", ())}


def test_an_answer_that_was_paused_goes_on(app):
    """
    A page gets both steps of an answer that the provider has paused.
    """
    page = app.page()
    page.post("prompt", prompt="Tell.")
    with page.watch() as events:
        events.until_user([], " a time.")


def test_a_slow_tool(app):
    """
    A page is shown how far a tool is, then its result, then the answer.
    """
    page = app.page()
    page.post("prompt", prompt="Which orders?")
    with page.watch() as events:
        got = events.until("tool.progress")
        got += events.until("tool.success")
        events.until_user(got, "Done.")

    [call] = folded(got).messages[1].tool_calls
    assert [{"order": 17, "customer": "Ada", "total": 40}] == thaw(call.output[0].value)


def test_a_tool_that_fails(app, provider):
    """
    The error of a tool is shown, and sent to the model, which answers.
    """
    page = app.page()
    page.post("prompt", prompt="How warm?")
    with page.watch() as events:
        got = []
        events.until_user(got, "Done.")

    [call] = folded(got).messages[1].tool_calls
    assert "the thermometer of hall does not answer" in call.error.message
    assert any(call.error.message in json.dumps(logged.body) for logged in provider.requests)


@pytest.mark.parametrize(("answer", "outcome"), [("approve", "success"), ("deny", "failed")])
def test_a_tool_that_a_person_has_to_allow(app, answer, outcome):
    """
    A call waits for a person; another user can do nothing about it.
    """
    page = app.page()
    other = app.page("bob", "builder", session=page.session)
    page.post("prompt", prompt=f"Pay back, {answer}.")
    with page.watch() as events:
        got = []
        call = events.until_asked(got)
        named = {"message_id": call.message_id, "call_id": call.call_id}
        refused = other.post(answer, **named)
        assert 202 == page.post(answer, **named).status_code
        events.until_user(got, "Done.")

    assert "It costs 40." == call.approval_reason
    assert (404, {"detail": "no such session"}) == (refused.status_code, refused.json())
    assert outcome == folded(got).messages[1].tool_calls[0].status


def test_stop(app):
    """
    A stop closes the answer as cancelled; the next prompt is answered.
    """
    page = app.page()
    page.post("prompt", prompt="Count.")
    with page.watch() as events:
        got = events.until("text.delta")
        assert 202 == page.post("stop").status_code
        got += events.until("step.failed")
        page.post("prompt", prompt="On.")
        events.until_user(got, "eleven")

    transcript = folded(got)
    assert ("failed", "cancelled") == (transcript.messages[1].status, transcript.messages[1].error.kind)
    assert "eleven" == app.logged(page).last.text


def test_edit_and_regenerate_and_what_they_cost(app):
    """
    A prompt is replaced, an answer is made again, and the tokens of all answers are counted.
    """
    page = app.page()
    before = page.client.get("/usage").json()
    page.post("prompt", prompt="On.", message_id="p1")
    with page.watch() as events:
        got = []
        events.until_user(got, "eleven")
        page.post("edit", message_id="p1", prompt="Twice.")
        events.until_user(got, "twelve")
        replaced = folded(got).last.id
        page.post("regenerate", message_id=replaced)
        got += events.until("history.rewound")
        events.until_user(got, "twelve")
    after = page.client.get("/usage").json()

    assert ["Twice.", "twelve"] == texts(folded(got)) == texts(app.logged(page))
    assert replaced != folded(got).last.id
    with SqliteStore(app.database) as store:
        ends = [one.event.usage for one in store.read(page.session) if one.event.type == "step.ended"]
    assert 3 == len(ends)
    for name in ("input_tokens", "output_tokens"):
        assert sum(getattr(usage, name) for usage in ends) == after[name] - before[name] > 0


def test_delete(app):
    """
    A session that is deleted in mid-sentence is not there any more.
    """
    page = app.page()
    page.post("prompt", prompt="Count.")
    with page.watch() as events:
        events.until("text.delta")
    gone = page.client.delete(page.path)
    listed = page.client.get("/api/sessions?limit=100").json()["sessions"]

    assert (204, 404) == (gone.status_code, page.client.get(page.path).status_code)
    assert page.session not in [each["session_id"] for each in listed]
    assert 0 == len(app.logged(page))


def test_users(app):
    """
    Without a login nothing is there, nor with a wrong password or a cookie that was changed; each user has their own.
    """
    ada = app.page()
    bob = app.page("bob", "builder", session=ada.session)
    forged = bob.client.cookies["user"].replace("bob", "ada")
    strangers = [
        app.page("ada", "wrong", session=ada.session),
        app.page("eve", "", session=ada.session),
        app.page("", "", session=ada.session, cookies={"user": forged}),
    ]
    ada.post("prompt", prompt="On.")

    assert [401] * 3 == [each.login.status_code for each in strangers]
    for path in ("/api/sessions", ada.path, f"{ada.path}/events", "/usage"):
        assert [401] * 3 == [each.client.get(path).status_code for each in strangers]
    assert ada.session in [each["session_id"] for each in ada.client.get("/api/sessions").json()["sessions"]]
    assert [] == bob.client.get("/api/sessions").json()["sessions"]
    assert 404 == bob.client.get(ada.path).status_code


def test_a_shutdown_is_taken_up_by_the_next_start(serve):
    """
    The shutdown of the app closes the answer as one that can be resumed, and the next start resumes it.
    """
    app = serve()
    page = app.page()
    page.post("prompt", prompt="Count.")
    with page.watch() as events:
        events.until("text.delta")
    app.stop()
    left = app.logged(page).last_answer
    app = serve()
    with app.page(session=page.session).watch() as events:
        events.until_user([], WORDS)

    assert ("failed", "aborted", True) == (left.status, left.error.kind, left.run.resumable)
    assert ["Count.", WORDS] == texts(app.logged(page))


def test_a_kill_is_taken_up_by_the_next_start(serve):
    """
    A page that watches when the process is killed comes back to the next one, and has the whole answer once.
    """
    app = serve()
    page = app.page()
    page.post("prompt", prompt="Count.")
    got = []
    with page.watch() as events:
        events.until_text(got, "one ")
        app.kill()
        app.wait(SECONDS)
        with pytest.raises((httpx2.TransportError, AssertionError)):
            got += events.until("step.ended")
    app = serve()
    with app.page(session=page.session).watch(cursor=events.last) as events:
        events.until_user(got, WORDS)

    assert ["Count.", WORDS] == texts(folded(got)) == texts(app.logged(page))


def test_a_prompt_without_an_answer_is_answered_by_the_next_start(serve, provider):
    """
    A process that was killed before the first byte, without a run in the log, leaves no reader waiting.
    """
    app = serve()
    page = app.page()
    page.post("prompt", prompt="Now.")
    until(lambda: any("Now." in json.dumps(logged.body) for logged in provider.requests))
    app.kill()
    app.wait(SECONDS)
    app = serve()
    with app.page(session=page.session).watch(cursor="1") as events:
        events.until("step.ended")

    assert ["Now.", "eleven"] == texts(app.logged(page))


AFTER_ASKING = ("tool.approved", "tool.started", "tool.success")


def test_a_call_waits_over_a_restart(serve):
    """
    A call that waits for a person is asked for once, and runs when it is allowed after the next start.
    """
    app = serve()
    page = app.page()
    page.post("prompt", prompt="Pay back, restart.")
    with page.watch() as events:
        got = []
        call = events.until_asked(got)
    app.stop()
    page = serve().page(session=page.session)
    with page.watch(cursor=events.last) as events:
        page.post("approve", message_id=call.message_id, call_id=call.call_id)
        events.until_user(got, "Done.")

    assert ["tool.approved", "tool.started", "tool.success"] == [one for one in types(got) if one in AFTER_ASKING]


def test_the_page_and_its_module(app):
    """
    The page and the module that folds are served, with types that browsers run.
    """
    client = app.page("", "").client
    page, module = client.get("/"), client.get("/api/fold.mjs")

    assert page.headers["content-type"].startswith("text/html")
    assert module.headers["content-type"].startswith("text/javascript")
    assert "export function reduce" in module.text
