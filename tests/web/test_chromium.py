"""
`EventSource` and the module that folds in a real browser: cuts, a reload and a second tab.
"""

import asyncio
import json
import os
import shutil
import subprocess
import urllib.request
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from starlette.applications import Starlette
from starlette.responses import FileResponse, PlainTextResponse
from starlette.routing import Mount, Route

from tests.children import Child
from tests.session.scripted import line
from tests.web.chat import chat, run, serving, until

MODULES = Path(__file__).parents[1] / "official" / "javascript" / "node_modules"
EXAMPLE = Path(__file__).parents[2] / "examples" / "chat.html"
FIND = "import('@sparticuz/chromium').then(async ({ default: found }) => console.log(await found.executablePath()))"
FLAGS = ["--headless=shell", "--no-sandbox", "--no-zygote", "--disable-gpu", "--remote-debugging-port=0"]


@pytest.fixture
def chromium(tmp_path):
    """
    The path of a browser that npm has installed; it is unpacked once, beside the modules.
    """
    if not (MODULES / "@sparticuz" / "chromium").is_dir() or (node := shutil.which("node")) is None:
        pytest.skip("chromium is not installed; `make test-clients` does it")
    unpacked = MODULES / ".chromium"
    unpacked.mkdir(exist_ok=True)
    found = subprocess.run(
        [node, "-e", FIND],
        cwd=MODULES.parent,
        env={**os.environ, "TMPDIR": str(unpacked)},
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    ).stdout.strip()
    started = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=30, check=False)
    if started.returncode != 0:
        pytest.skip(f"chromium does not start here: {started.stderr.strip()[-200:]}")
    return found


@asynccontextmanager
async def tabs(chromium, folder):
    """
    Start a browser, and give a function that opens an address in a new tab.
    """
    command = [chromium, *FLAGS, f"--user-data-dir={folder}", "about:blank"]
    with Child(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        port = folder / "DevToolsActivePort"
        await until(lambda: port.is_file() and port.read_text().count("\n") >= 1)
        address = f"http://127.0.0.1:{port.read_text().split()[0]}/json/new?"

        def open_tab(url):
            urllib.request.urlopen(urllib.request.Request(address + quote(url), method="PUT"), timeout=20).close()

        yield lambda url: asyncio.to_thread(open_tab, url)


class Cuts:
    """
    An ASGI app whose answers of events break when they are cut.
    """

    def __init__(self, app):
        self.app = app
        self.open = set()

    async def __call__(self, scope, receive, send):
        if not scope["path"].endswith("/events"):
            await self.app(scope, receive, send)
            return
        task = asyncio.create_task(self.app(scope, receive, send))
        self.open.add(task)
        try:
            await asyncio.wait((task,))
        finally:
            self.open.discard(task)
            task.cancel()
        if task.cancelled():
            raise ConnectionAbortedError("cut by the test")

    def cut(self):
        """Break all answers that are open."""
        for task in self.open:
            task.cancel()


@asynccontextmanager
async def pages(routes):
    """
    Serve the chat, the page and the module on a port, and give the address, the reports and the cuts.
    """
    reports, asked, cuts = {}, {}, Cuts(routes)

    async def report(request):
        reports[request.query_params["name"]] = SimpleNamespace(**json.loads(await request.body()))
        return PlainTextResponse("")

    async def command(request):
        return PlainTextResponse(asked.pop(request.query_params["name"], ""))

    async def page(_request):
        return FileResponse(Path(__file__).with_name("watch.html"))

    app = Starlette(
        routes=[
            Route("/report", report, methods=["POST"]),
            Route("/asked", command),
            Route("/watch", page),
            Mount("/api", cuts),
        ]
    )
    async with serving(app) as (host, port):
        yield SimpleNamespace(url=f"http://{host}:{port}", reports=reports, asked=asked, cuts=cuts)


def test_two_cuts_a_reload_and_a_second_tab(chromium, tmp_path):
    """
    A tab that is cut twice, one that is reloaded and one that is opened late show the text whole, and no record twice.
    """
    pieces, gates = ["👋 one ", "two 👋 ", "three ", "four"], [asyncio.Event() for _ in range(4)]
    chunks = [each for piece, gate in zip(pieces, gates, strict=True) for each in (line(say=piece), gate)]

    async def main():
        def cookie(request, _session_id):
            return request.cookies.get("user") or request.headers.get("x-user")

        async with chat((*chunks, line(stop="stop")), authorize=cookie) as app, pages(app.routes) as served:
            reports = served.reports

            async def shown(text, *names):
                await until(lambda: all(name in reports and reports[name].text == text for name in names))

            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            async with tabs(chromium, tmp_path) as open_tab:
                for name in ("cut", "reloaded"):
                    await open_tab(f"{served.url}/watch?name={name}")
                await shown("👋 one ", "cut", "reloaded")
                served.cuts.cut()
                gates[0].set()
                await shown("👋 one two 👋 ", "cut", "reloaded")
                served.asked["reloaded"] = "reload"
                await until(lambda: reports["reloaded"].loads == 2)
                await open_tab(f"{served.url}/watch?name=late")
                await shown("👋 one two 👋 ", "late", "reloaded")
                served.cuts.cut()
                gates[1].set()
                gates[2].set()
                await shown("👋 one two 👋 three four", "cut", "reloaded", "late")
                gates[3].set()
                await until(lambda: all(report.status == "completed" for report in reports.values()))

            assert {"👋 one two 👋 three four"} == {report.text for report in reports.values()}
            assert [0] * 3 == [report.twice for report in reports.values()]
            assert [0] * 3 == [report.closed for report in reports.values()]
            assert 3 == reports["cut"].opened
            assert {5} == {report.seq for report in reports.values()}

    run(main())


def test_the_page_of_the_example_outlives_a_proxy_without_a_server(chromium, tmp_path):
    """
    An `EventSource` gives up when its request is refused, as by a proxy while the server restarts; the page opens
    another one.
    """

    async def main():
        async with chat((line(say="Hello"), line(stop="stop")), authorize=lambda *_: "ada") as app:
            cuts, refusals = Cuts(app.routes), iter([502, 502, 502])

            async def proxied(scope, receive, send):
                is_session = scope["path"].endswith(("/events", "/s1"))
                if is_session and (status := next(refusals, None)) is not None:
                    await PlainTextResponse("no server", status)(scope, receive, send)
                    return
                await cuts(scope, receive, send)

            async def page(_request):
                return FileResponse(EXAMPLE)

            await app.ada.post("/sessions/s1/prompt", {"prompt": "Hi"})
            front = Starlette(routes=[Route("/", page), Mount("/api", proxied)])
            async with serving(front) as (host, port), tabs(chromium, tmp_path) as open_tab:
                await open_tab(f"http://{host}:{port}/#s1")
                await until(lambda: cuts.open)

            assert next(refusals, None) is None

    run(main())
