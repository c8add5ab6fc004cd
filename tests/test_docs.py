"""
The documentation, without Sphinx: every example runs and prints what it shows, generated pages come out whole, links
lead somewhere, and each page keeps the form of the others.

An example is a block fenced with `python`. Those of one page run one after another in one namespace and one empty
folder, into which the recordings are copied. What a block prints follows it in comments that begin with `# →`. A block
that needs a library of `requirements/bench.txt` names it: `python pydantic-ai-slim`.
"""

import ast
import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from assistant_events import ErrorKind, TextEnded
from assistant_events.events import DURABLE_EVENTS, EVENT_TYPES, LIVE_EVENTS
from assistant_events.lifecycle import GUARDS
from assistant_events.live import MemoryLive
from assistant_events.outward.sse import SSE_HEADERS
from assistant_events.reducer import Outcome
from assistant_events.session import Session
from assistant_events.stores import MemoryStore, Store
from assistant_events.testing import answer, durable

DOCS = Path(__file__).parent.parent / "docs"
ROOT = DOCS.parent
PAGES = sorted(path for path in DOCS.rglob("*.md") if not {"_build", "changelog.d"} & set(path.relative_to(DOCS).parts))

sys.path.insert(0, str(DOCS / "_ext"))
import generated_pages  # noqa: E402
from generated_pages import diagrams, lifecycle, public, reading  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
BETWEEN = "\x00"
PLAYER = f"""
import gc, json, sqlite3, sys
module = type(sys)("example")
sys.modules["example"] = module
for line, code in json.load(sys.stdin):
    # As many empty lines before it as there are in the page, so that a traceback names the right one.
    exec(compile("\\n" * (line - 1) + code, sys.argv[1], "exec"), module.__dict__)
    print({BETWEEN!r}, end="")
for left in gc.get_objects():
    if type(left) is sqlite3.Connection:
        try:
            left.total_changes
        except sqlite3.ProgrammingError:
            continue
        print("a database is left open", file=sys.stderr)
"""
"""Runs the blocks of a page, which it is given as JSON, and prints a mark behind each.

Python 3.11 and 3.12 do not warn of a database that is left open.
"""

FENCE = re.compile(r"^(?P<fence>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)


def name_of(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


class Example(NamedTuple):
    line: int
    code: str

    @property
    def shown(self) -> str:
        return "".join(
            line.strip().removeprefix("# →").removeprefix(" ") + "\n"
            for line in self.code.splitlines()
            if line.strip().startswith("# →")
        )


def examples(page: Path, library: str = "") -> list[Example]:
    """Return the examples that need no library but ours, and those that need *library*."""
    text = page.read_text()
    return [
        Example(text[: found.start()].count("\n") + 2, found["body"])
        for found in FENCE.finditer(text)
        if found["info"].strip() in {"python", f"python {library}"}
    ]


def libraries() -> list[tuple[Path, str]]:
    """Return the pages with examples that need a library, and its name."""
    return [
        (page, found["info"].split()[1])
        for page in PAGES
        for found in FENCE.finditer(page.read_text())
        if found["info"].startswith("python ")
    ]


def commands(page: Path) -> list[tuple[str, str, bool]]:
    """Return the arguments of our commands in a page, what they print, and whether standard output is redirected."""
    found: list[tuple[str, str, bool]] = []
    for fence in FENCE.finditer(page.read_text()):
        if fence["info"].strip() == "console":
            for command in re.split(r"^\$ ", fence["body"], flags=re.MULTILINE)[1:]:
                line, _, printed = command.partition("\n")
                program, _, arguments = line.partition(" ")
                if program == "assistant-events":
                    arguments, elsewhere, _ = arguments.partition(" > ")
                    found.append((arguments, printed, bool(elsewhere)))
    return found


def without_fences(text: str) -> str:
    return FENCE.sub("", text)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for recording in (DOCS / "recordings").iterdir():
        shutil.copy(recording, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_examples(page: Path, shown: list[Example], folder: Path, **environment: str) -> None:
    # A process of its own, as a reader has: what is left open shows on standard error when it ends.
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", PLAYER, str(page)],
        input=json.dumps([(example.line, example.code) for example in shown]),
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    *printed, last = ended.stdout.split(BETWEEN)

    assert ("", "", 0) == (ended.stderr, last, ended.returncode)
    for example, said in zip(shown, printed, strict=True):
        assert example.shown == said, f"{name_of(page)}:{example.line}"


class TestExamples:
    @pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=name_of)
    def test_runs(self, page: Path, folder: Path) -> None:
        """
        The examples of a page run one after another; each prints what it shows, and none anything on standard error.
        """
        run_examples(page, examples(page), folder)

    @pytest.mark.parametrize(("page", "library"), libraries())
    def test_runs_with_a_library(self, page: Path, library: str, folder: Path) -> None:
        """
        So do the examples of a page that has some for another library.
        """
        peer = ROOT / ".venv" / "peers" / library
        pins = peer / "pins.txt"
        if not pins.exists() or sys.implementation.cache_tag not in pins.read_text():
            pytest.skip(f"{library} is not installed for this interpreter; `make bench` installs it")
        run_examples(page, examples(page, library), folder, PYTHONPATH=str(peer))

    @pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=name_of)
    def test_commands(self, page: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """
        The commands of a page run one after another, and each prints what it shows.
        """
        pytest.importorskip("cyclopts", reason="the command line needs the extra `cli`")
        from assistant_events.cli.commands import run

        for arguments, shown, is_redirected in commands(page):
            run(shlex.split(arguments))

            printed = capsys.readouterr()
            assert shown in (("", printed.err) if is_redirected else (printed.out,)), arguments
            # Notes of the command, and no traceback.
            assert [] == [line for line in printed.err.splitlines() if not line.startswith("assistant-events: ")]

    def test_what_is_stored_while_a_client_reads(self) -> None:
        """
        The answer to a POST has what its session stores while the client has not taken the snapshot yet. Its headers
        are those of the routes.
        """
        pytest.importorskip("starlette", reason="answers of events need the extra `web`")
        [example] = examples(DOCS / "how-to" / "answer-a-post.md")
        names: dict[str, Any] = {}
        exec(example.code.partition("async def main")[0], names)

        async def taken() -> bytes:
            with MemoryStore() as store:
                async with MemoryLive(store) as live, asyncio.timeout(10):
                    session = await Session.open(store, "s1", live=live)
                    await session.prompt("Hello!")
                    events = names["of_turn"](live, session)
                    snapshot = await anext(events)
                    await session.append(*durable(answer("Hello, Oslo!")))
                    return b"".join([snapshot, *[each async for each in events]])

        assert SSE_HEADERS == names["HEADERS"]
        assert [b"Hello!", b"Hello, Oslo!"] == re.findall(rb'"text":"(.*?)"', asyncio.run(taken()))

    def test_finds_what_is_shown(self) -> None:
        """
        Comments that begin with `# →` are what a block prints, without the mark and one blank.
        """
        assert "a\n b\n\n" == Example(1, "print('a')\n# → a\nif x:\n    # →  b\n# →\n").shown

    def test_every_section_has_some(self) -> None:
        """
        The pages that a reader follows step by step have examples.
        """
        bare = [name_of(page) for page in PAGES if page.parent.name == "how-to" and not examples(page) + commands(page)]

        assert ["how-to/index.md"] == bare


class TestGenerated:
    @pytest.mark.parametrize("name", sorted(generated_pages.GENERATORS))
    def test_says_something(self, name: str) -> None:
        """
        Every generator runs without Sphinx.
        """
        assert generated_pages.GENERATORS[name]().strip()

    def test_all_are_used(self) -> None:
        """
        Every generator is used in a page, and every mark names a generator.
        """
        marks = {mark for page in PAGES for mark in generated_pages.MARK.findall(page.read_text())}

        assert set(generated_pages.GENERATORS) == marks

    def test_fill(self) -> None:
        """
        A mark on a line of its own is followed by the text and its end; the text around it stays.
        """
        filled = generated_pages.fill(
            "before\n\n<!-- generated: outcomes -->\n\nafter `<!-- generated: outcomes -->`\n"
        )

        assert filled.startswith("before\n\n<!-- generated: outcomes -->\n\n| word |")
        assert filled.endswith("|\n\n<!-- end of outcomes -->\n\nafter `<!-- generated: outcomes -->`\n")
        assert filled == generated_pages.fill(filled)

    def test_pages_are_up_to_date(self) -> None:
        """
        The generated text of a page is what its generators return; `make pages` writes it.
        """
        assert [] == [name_of(page) for page in PAGES if page.read_text() != generated_pages.fill(page.read_text())]

    def test_fill_refuses_unknown_names(self) -> None:
        """
        A mark that names no generator stops the build.
        """
        with pytest.raises(KeyError):
            generated_pages.fill("<!-- generated: nonsense -->")

    def test_catalogue_is_whole(self) -> None:
        """
        The catalogue has a section for every event, with an example that is one.
        """
        text = generated_pages.GENERATORS["catalogue"]()

        assert sorted(EVENT_TYPES) == sorted(re.findall(r"^### `([a-z.]+)`$", text, re.MULTILINE))
        assert len(DURABLE_EVENTS) + len(LIVE_EVENTS) == len(
            re.findall(r'^\{"type":"[a-z.]+","v":1,', text, re.MULTILINE)
        )

    def test_outcomes_are_explained(self) -> None:
        """
        Every outcome but `applied` has an explanation.
        """
        empty = [word for word, doc in reading.members_of(Outcome) if not doc]

        assert ["applied"] == empty

    def test_guards_are_named(self) -> None:
        """
        Every rule that looks across a message is in its table.
        """
        text = generated_pages.GENERATORS["lifecycle-guards"]()

        assert all(f"`{event.type}`" in text for event in GUARDS)


class TestDocstrings:
    def test_code_behind_a_colon(self) -> None:
        """
        Indented lines behind a colon and an empty line are code; a section of arguments is none.
        """
        assert ["Like this::", "", "    code"] == generated_pages.as_rst(["Like this:", "", "    code"])
        assert ["Args:", "    x: Text."] == generated_pages.as_rst(["Args:", "    x: Text."])
        assert ["Already::", "", "    code"] == generated_pages.as_rst(["Already::", "", "    code"])
        assert ["A list:", "", "- one"] == generated_pages.as_rst(["A list:", "", "- one"])

    def test_a_name_with_a_letter_behind_it(self) -> None:
        """
        The plural of a name in backquotes is still a name.
        """
        assert ["All `Event`\\ s, `a`."] == generated_pages.as_rst(["All `Event`s, `a`."])

    def test_a_name_in_bold_words(self) -> None:
        """
        Markup cannot be nested there, so the words are bold and nothing else.
        """
        assert ["**One time and one meta.** See `meta`."] == generated_pages.as_rst(
            ["**One time and one `meta`.** See `meta`."]
        )

    def test_defaults_of_attrs(self) -> None:
        """
        A signature shows what a default is, not where attrs finds it.
        """
        signature = "(*, state=attr_dict['state'].default, complete=attr_dict['complete'].default)"

        assert "(*, state={}, complete=True)" == generated_pages.readable(signature, TextEnded)
        assert "(x)" == generated_pages.readable("(x)", int)
        assert "" == generated_pages.readable("(*args, **kwargs)", Store)


class TestReference:
    def test_every_member_is_public(self) -> None:
        """
        What a class inherits from this package belongs to it; private members and those of Python do not.
        """
        names = set(public.members("assistant_events.session"))

        assert {f"assistant_events.session.Session.{name}" for name in ("transcript", "seq", "new_id", "open")} <= names
        assert not [name for name in names if name.rpartition(".")[2].startswith("_")]
        assert "assistant_events.values.ErrorKind.count" not in set(public.members("assistant_events.values"))

    def test_names_what_is_missing(self, tmp_path: Path) -> None:
        """
        The build names the members that the reference leaves out, of modules whose pages show all of them.
        """
        (tmp_path / "one.md").write_text(".. automodule:: assistant_events.upcasting\n")
        (tmp_path / "two.md").write_text(".. automodule:: assistant_events.session\n   :no-members:\n")
        names = sorted(public.members("assistant_events.upcasting"))

        assert names == public.undocumented((), tmp_path)
        assert names[:1] == public.undocumented(names[1:], tmp_path)

    def test_data_of_another_module(self) -> None:
        """
        A constant that another module defines is listed under the module that offers it, with its string.
        """
        page = public.with_data(".. automodule:: assistant_events.values\n")

        assert ".. autodata:: assistant_events.values.JsonValue\n   :no-value:\n\n   A frozen JSON value." in page
        assert ".. autodata:: assistant_events.values.Content\n\n" in page

    def test_a_page_of_the_reference(self, tmp_path: Path) -> None:
        """
        Sphinx shows inherited members, those without a docstring, and a sentence with a colon as a sentence.
        """
        classes = ("session.Session", "adapters.Note", "events.TextStarted", "messages.ToolPart")
        shown = "\n\n".join(f".. autoclass:: assistant_events.{name}" for name in classes)
        (tmp_path / "index.md").write_text(f"```{{eval-rst}}\n{shown}\n```\n")
        ended = subprocess.run(
            [sys.executable, "-m", "sphinx", "-q", "-b", "text", "-c", str(DOCS), str(tmp_path), str(tmp_path / "out")],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert 0 == ended.returncode, ended.stderr
        text = (tmp_path / "out" / "index.txt").read_text()
        for line in ("property transcript: Transcript", "property seq: int", "new_id()", "message_id: str"):
            assert line in text
        # Napoleon alone writes the words behind the colon first, and those before it as a type.
        assert "The id from the recorder: that of the provider" in " ".join(text.split())


class TestDiagrams:
    def test_words_of_the_front_page_stay_in_their_boxes(self) -> None:
        """
        Every word in the middle of a box of the flow picture has room on both sides, in a wide font too.
        """
        picture = ET.parse(DOCS / "_static" / "flow.svg").getroot()
        boxes = [
            [float(each.get(name, "")) for name in ("x", "y", "width", "height")] for each in picture.iter(f"{SVG}rect")
        ]
        inside = 0
        for text in picture.iter(f"{SVG}text"):
            x, y, words = float(text.get("x", "")), float(text.get("y", "")), text.text or ""
            # Characters of DejaVu Sans, one of the widest: 0.51 em, bold ones 0.56 em.
            half = len(words) * (13 * 0.56 if text.get("class") == "flow-word" else 11.5 * 0.51) / 2
            for left, top, width, height in boxes:
                if top < y < top + height and left < x < left + width:
                    inside += 1
                    assert left + 8 <= x - half, words
                    assert x + half <= left + width - 8, words

        assert 2 * len(boxes) == inside

    @pytest.mark.parametrize("name", ["call", "fragment", "message"])
    def test_is_svg(self, name: str) -> None:
        """
        A diagram is one well-formed picture with a title, without scripts and without anything from elsewhere.
        """
        text = lifecycle.DRAWINGS[name]()
        picture = ET.fromstring(text[text.index("<figure") : text.index("</figure>") + len("</figure>")])

        tags = {element.tag.rpartition("}")[2] for element in picture.iter()}
        assert {"svg", "title", "rect", "path", "text"} <= tags
        assert not {"script", "image", "use", "foreignObject"} & tags
        assert "http" not in text.replace("http://www.w3.org/2000/svg", "")

    def test_boxes_do_not_overlap(self) -> None:
        """
        No box of a diagram covers another.
        """
        for name in ("call", "fragment", "message"):
            boxes = list(boxes_of(lifecycle.DRAWINGS[name]()))

            assert not [
                (one, other)
                for at, one in enumerate(boxes)
                for other in boxes[at + 1 :]
                if one[0] < other[0] + other[2]
                and other[0] < one[0] + one[2]
                and one[1] < other[1] + other[3]
                and other[1] < one[1] + one[3]
            ]

    def test_every_change_is_drawn(self) -> None:
        """
        Every event that moves a call is in its diagram.
        """
        text = lifecycle.DRAWINGS["call"]()
        picture = text[: text.index("</figure>")]

        for type_ in ("tool.input.started", "tool.input.ended", "tool.called", "tool.success", "tool.failed"):
            assert f">{type_}<" in picture

    def test_a_loop_goes_round(self) -> None:
        """
        An edge that leads back does not run through the boxes.
        """
        picture = diagrams.state_diagram(
            "x",
            ["one", "two"],
            [diagrams.Edge("one", "two", ("go",)), diagrams.Edge("two", "one", ("back",))],
            {},
            title="x",
        )

        assert 2 == picture.count("marker-end")


def boxes_of(text: str) -> Iterator[tuple[float, float, float, float]]:
    for found in re.finditer(r'<rect x="([\d.-]+)" y="([\d.-]+)" width="([\d.]+)" height="([\d.]+)" rx="7"', text):
        x, y, width, height = (float(number) for number in found.groups())
        yield x, y, width, height


class TestPages:
    def test_links_lead_somewhere(self) -> None:
        """
        A relative link names a file that is there.
        """
        lost = [
            f"{name_of(page)}: {link}"
            for page in PAGES
            for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", without_fences(page.read_text()))
            if not (page.parent / link).exists()
        ]

        assert [] == lost

    def test_one_sentence_a_line(self) -> None:
        """
        A line of prose holds one sentence, so that a change shows what it changes.
        """
        crowded = [
            f"{name_of(page)}: {line}"
            for page in PAGES
            if page.name != "changelog.md"
            for line in without_fences(generated_pages.MARK.sub("", page.read_text())).splitlines()
            if not line.startswith(("|", "#", "(", "<", ":")) and re.search(r"[a-z)`][.!?] [A-Z]", line)
        ]

        assert [] == crowded

    def test_pages_name_the_extras_of_their_examples(self) -> None:
        """
        A page whose examples need an extra gives the command that installs it.
        """
        needs = {"http": "assistant_events.clients", "web": "mock_provider("}
        silent = [
            f"{name_of(page)}: {extra}"
            for page in PAGES
            for extra, code in needs.items()
            if any(code in example.code for example in examples(page))
            and not re.search(rf'pip install "\.\[[a-z,]*\b{extra}\b', page.read_text())
        ]

        assert [] == silent

    def test_every_page_is_in_a_toctree(self) -> None:
        """
        A reader who starts at the front gets to every page.
        """
        listed = {
            ((index.parent / entry.strip()).resolve()).with_suffix(".md")
            for index in PAGES
            for tree in re.findall(r"^```\{toctree\}\n(.*?)^```$", index.read_text(), re.MULTILINE | re.DOTALL)
            for entry in tree.splitlines()
            if entry.strip() and not entry.startswith(":")
        }

        assert [DOCS / "index.md"] == [page for page in PAGES if page.resolve() not in listed]

    def test_decisions_have_one_form(self) -> None:
        """
        A decision states what was asked, what is known, what was chosen and what would change it.
        """
        expected = ["Question", "Evidence", "Choice", "What would change it"]
        odd = [
            name_of(page)
            for page in PAGES
            if page.parent.name == "decisions"
            and page.name != "index.md"
            and expected != re.findall(r"^## (.*)$", page.read_text(), re.MULTILINE)
        ]

        assert [] == odd

    def test_nothing_of_this_machine(self) -> None:
        """
        No page names a folder of the machine that it was written on.
        """
        for page in PAGES:
            assert not re.search(r"(?<![\w.])/(work|root|home|tmp)/", page.read_text()), name_of(page)

    def test_error_kinds_are_explained(self) -> None:
        """
        The page of errors explains every kind, and no kind that is not there.
        """
        text = (DOCS / "reference" / "errors.md").read_text()
        table = text[text.index("## Kinds") :]

        assert sorted(kind.value for kind in ErrorKind) == sorted(
            re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)
        )

    def test_laws_name_tests_that_are_there(self) -> None:
        """
        A law is held by tests, and those it names can be found.
        """
        text = (DOCS / "explanation" / "laws.md").read_text()
        missing = [
            f"{path}::{name}"
            for path, names in re.findall(r"^\| `(tests/[a-z_/]+\.py)` \| (.*) \|$", text, re.MULTILINE)
            for name in re.findall(r"`(test_\w+)`", names)
            if f"def {name}(" not in ((ROOT / path).read_text() if (ROOT / path).exists() else "")
        ]

        assert [] == missing

    def test_notes_are_explained(self) -> None:
        """
        The page of a provider explains every note that its decoder may take.
        """
        sources = ROOT / "src" / "assistant_events" / "adapters"
        for folder in sorted(path for path in sources.iterdir() if (path / "decoder.py").exists()):
            page = DOCS / "providers" / f"{folder.name.replace('_', '-')}.md"
            code = "".join(path.read_text() for path in (*folder.glob("*.py"), sources / "base.py"))
            codes = set(re.findall(r'\bnote\(\s*"([a-z-]+)"', code))

            assert codes
            assert [] == sorted(code for code in codes if f"`{code}`" not in page.read_text())

    def test_examples_parse(self) -> None:
        """
        Every block of Python is Python.
        """
        for page in PAGES:
            for example in examples(page):
                ast.parse(example.code)

    def test_the_settings_find_the_generators(self) -> None:
        """
        Sphinx loads the generators by the name that they have here.
        """
        settings: dict[str, Any] = {"__file__": str(DOCS / "conf.py")}
        exec((DOCS / "conf.py").read_text(), settings)

        assert "generated_pages" in settings["extensions"]
        assert str(DOCS / "_ext") in sys.path
