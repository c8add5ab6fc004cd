"""
Samples mutants of the core: small faults put into a copy of the project, one at a time, to see whether tests fail.

The tests that belong to the changed module run first, then all others. A mutant that no test notices survived: it is
either equivalent to the original, which a person has to judge, or a test is missing. Nothing outside of a temporary
folder is changed. The same seed picks the same mutants as long as the code is the same.
"""

from __future__ import annotations

import argparse
import ast
import copy
import difflib
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from itertools import accumulate
from pathlib import Path
from queue import SimpleQueue
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGE: Final = Path("src/assistant_events")

ENCODER: Final = [f"tests/adapters/test_encoder{part}.py" for part in ("", "_signatures", "_replay")]
EMITTER: Final = [
    *[f"tests/adapters/test_{name}.py" for name in ("emitter", "emitter_resources", "wire_steps")],
    "tests/laws/test_emitting.py",
]
CORE: Final[dict[str, list[str]]] = {
    "values": ["tests/test_values.py", "tests/test_json_io.py", "tests/test_immutable.py", "tests/test_credentials.py"],
    "events.py": ["tests/test_events.py", "tests/test_immutable.py"],
    "messages": ["tests/test_messages.py", "tests/test_immutable.py", "tests/laws/test_failing_anew.py"],
    "upcasting.py": ["tests/test_upcasting.py"],
    "lifecycle.py": ["tests/test_lifecycle.py", "tests/reducer"],
    "converters": ["tests/test_converters.py", "tests/test_refusals.py", "tests/test_golden.py"],
    "recorder": ["tests/recorder"],
    "reducer": ["tests/reducer", "tests/laws/test_fold.py"],
    "history": ["tests/test_history.py"],
    "adapters": ["tests/adapters"],
    "adapters/gemini_interactions": [
        *[
            f"tests/adapters/test_{name}.py"
            for name in ("folding", "tools", "order", "ends", "generations", "recovery")
        ],
        *("tests/adapters/test_hostile.py", "tests/adapters/test_cutting.py"),
    ],
    **dict.fromkeys(["adapters/encoder.py", "adapters/gemini_interactions/encoder.py"], ENCODER),
    **dict.fromkeys(
        [f"adapters/gemini_interactions/{name}.py" for name in ("emitter", "step_stream", "wire_steps")], EMITTER
    ),
    "stores": ["tests/stores"],
    "session": ["tests/session"],
    "outward": ["tests/outward"],
    "web": ["tests/web"],
    "clients/recovery.py": ["tests/clients"],
    "clients/run_driver.py": ["tests/clients"],
    "mock/matching.py": ["tests/mock"],
    "adapters/gemini_interactions/mock/signatures.py": ["tests/mock"],
}
"""Modules and packages that are changed, with the tests that belong to them."""

LEFT_OUT: Final = [
    *(
        "tests/test_mutants.py",
        "tests/official",
        "tests/test_running.py",
        "tests/test_packaging.py",
        "tests/test_benchmarks.py",
    ),
    *("tests/test_demo.py", "tests/adapters/test_example_ollama.py", "tests/test_layers.py"),
]
"""Tests of other things, slow ones, and those that see that a file was changed at all."""

PYTEST: Final = [
    *(sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "--tb=no", "--no-header", "-p", "no:cacheprovider"),
    *("--timeout=60", *[f"--ignore={path}" for path in LEFT_OUT]),
]
LIMIT_S: Final = 1800
"""How long all tests may take for one mutant; one that takes longer hangs, and so is caught."""


# -- mutations

SWAPS: Final[dict[type[ast.AST], type[ast.AST]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}


class Edit(NamedTuple):
    """A node and what takes its place."""

    kind: str
    node: ast.expr | ast.stmt
    new: ast.AST


def edits_of(node: ast.AST) -> Iterator[Edit]:
    """
    Yield each small change of *node* itself; its children have their own.
    """
    yield from _of_operators(node)
    yield from _of_values(node)
    yield from _of_statements(node)


def _of_operators(node: ast.AST) -> Iterator[Edit]:
    match node:
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                other = copy.deepcopy(node)
                other.ops[at] = _swapped(op)
                yield Edit("comparison", node, other)
        case ast.BoolOp(op=op, values=values):
            yield Edit("logic", node, ast.BoolOp(_swapped(op), values))
            for at in range(len(values)):
                rest = [*values[:at], *values[at + 1 :]]
                yield Edit("logic", node, rest[0] if len(rest) == 1 else ast.BoolOp(op, rest))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield Edit("logic", node, operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in SWAPS:
            yield Edit("arithmetic", node, ast.BinOp(left, _swapped(op), right))
        case _:
            pass


def _of_values(node: ast.AST) -> Iterator[Edit]:
    match node:
        case ast.Constant(value=bool(value)):
            yield Edit("constant", node, ast.Constant(not value))
        case ast.Constant(value=int(value)):
            yield Edit("constant", node, ast.Constant(value + 1))
        case ast.Constant(value=str(value)):
            yield Edit("word", node, ast.Constant(f"{value}x"))
        case ast.Call(func=func, args=arguments, keywords=keywords):
            for keyword in [one for one in keywords if not _does_nothing(one)]:
                yield Edit("argument", node, ast.Call(func, arguments, [one for one in keywords if one is not keyword]))
        case ast.Subscript(value=value, slice=ast.Slice(lower=lower, upper=upper), ctx=ctx):
            for bounds in [(None, upper)] * (lower is not None) + [(lower, None)] * (upper is not None):
                yield Edit("slice", node, ast.Subscript(value, ast.Slice(*bounds), ctx))
        case _:
            pass


def _of_statements(node: ast.AST) -> Iterator[Edit]:
    match node:
        case ast.IfExp(test=test) | ast.If(test=test) | ast.While(test=test):
            yield Edit("condition", test, ast.UnaryOp(ast.Not(), test))
            for value in () if isinstance(node, ast.While) else (True, False):
                yield Edit("condition", test, ast.Constant(value))
        case ast.Return(value=ast.expr()):
            yield Edit("return", node, ast.Return(ast.Constant(None)))
        case ast.Continue():
            yield Edit("statement", node, ast.Break())
        case ast.Break():
            yield Edit("statement", node, ast.Continue())
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Delete() | ast.Raise():
            yield Edit("statement", node, ast.Pass())
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield Edit("statement", node, ast.Pass())
        case _:
            pass


def _swapped(op: ast.AST) -> Any:
    return SWAPS[type(op)]()


def nodes(node: ast.AST) -> Iterator[ast.AST]:
    """
    Yield the nodes of a tree that do something: neither docstrings nor annotations, texts of errors nor assertions.
    """
    if _does_nothing(node):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name not in {"annotation", "returns", "decorator_list", "bases"} and not isinstance(node, ast.Raise):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from nodes(child)


def _does_nothing(node: ast.AST) -> bool:
    match node:
        case ast.Assert() | ast.JoinedStr() | ast.Import() | ast.ImportFrom() | ast.pattern():
            return True
        case ast.Expr(value=ast.Constant()) | ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Call(func=ast.Name(id="assert_never" | "cast" | "TypeVar")):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__" | "__slots__")]):
            return True
        case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
            return True
        case ast.keyword(arg="strict"):
            return True  # an assertion that two sequences are equally long
        case _:
            return False


class Mutant(NamedTuple):
    """A module with one change."""

    path: Path
    line: int
    kind: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(PACKAGE)}:{self.line} {self.kind}"

    @property
    def diff(self) -> str:
        """The change as lines that `patch` understands."""
        old, new = (text.splitlines(keepends=True) for text in (self.old, self.new))
        return "".join(difflib.unified_diff(old, new, f"a/{self.path}", f"b/{self.path}", n=2))


class Module:
    """
    A module and all edits of it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.source = (ROOT / path).read_text(encoding="utf-8")
        self.edits = [edit for node in nodes(ast.parse(self.source)) for edit in edits_of(node)]

    def mutant(self, edit: Edit) -> Mutant | None:
        """
        Return the module with one edit, or nothing if that is not Python or makes no difference.
        """
        node, new = edit.node, edit.new
        text = ast.unparse(ast.fix_missing_locations(new))
        text = f"({text})" if isinstance(new, (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp)) else text
        source = self.source.encode()
        starts = [0, *accumulate(len(line) for line in source.splitlines(keepends=True))]
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        changed = (source[:start] + text.encode() + source[end:]).decode()
        if changed == self.source or not _compiles(changed):
            return None
        return Mutant(self.path, node.lineno, edit.kind, self.source, changed)


def _compiles(source: str) -> bool:
    try:
        compile(source, "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def sample(modules: Sequence[Path], count: int, random: Random) -> Iterator[Mutant]:
    """
    Yield *count* mutants: a module by its size and then a kind, so that the frequent kinds do not hide the others.
    """
    sizes = [(ROOT / path).stat().st_size for path in modules]
    known: dict[Path, Module] = {}
    seen: set[str] = set()
    for _ in range(count * 20):
        [path] = random.choices(modules, sizes)
        module = known[path] = known.get(path) or Module(path)
        kind = random.choice(sorted({edit.kind for edit in module.edits}) or [""])
        edits = [edit for edit in module.edits if edit.kind == kind]
        mutant = module.mutant(random.choice(edits)) if edits else None
        if mutant is not None and mutant.diff not in seen:
            seen.add(mutant.diff)
            yield mutant
        if len(seen) == count:
            return


def modules_of(names: Sequence[str]) -> list[Path]:
    """
    Return the modules of the core that *names* name, or all of them.
    """
    found: set[Path] = set()
    for name in names or CORE:
        path = PACKAGE / name
        found |= {each.relative_to(ROOT) for each in (ROOT / path).rglob("*.py")} or {path}
    return sorted(found)


# -- running tests on a mutant


class Stopped(Exception):  # noqa: N818 - not an error
    """Ctrl-C was pressed."""


class Copy:
    """
    A copy of the project in a folder of its own.
    """

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0"):
            if name and (ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.root / name)
        # Recordings lie beside the project.
        (folder / "shared").symlink_to(ROOT.parent / "shared")
        self._changed = 0
        self._process: subprocess.Popen[str] | None = None
        self._stopped = threading.Event()

    @contextmanager
    def holding(self, mutant: Mutant) -> Generator[None]:
        """
        Put a mutant into the copy for as long as the block lasts.
        """
        self._write(mutant.path, mutant.new)
        try:
            yield
        finally:
            self._write(mutant.path, mutant.old)

    def _write(self, path: Path, text: str) -> None:
        (self.root / path).write_text(text, encoding="utf-8")
        # Python compiles a module anew when its time in seconds or its size is another one.
        self._changed += 1
        os.utime(self.root / path, (self._changed * 10, self._changed * 10))

    def tests(self, paths: Sequence[str], limit: float) -> str:
        """
        Run tests until one fails and return its name: nothing if all pass, `time limit` if they do not end.
        """
        environment = {**os.environ, "PYTHONPATH": str(self.root / "src"), "HYPOTHESIS_PROFILE": "mutants"}
        self._process = process = subprocess.Popen(
            [*PYTEST, *paths],
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            if self._stopped.is_set():
                raise Stopped
            printed = process.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            return "time limit"
        finally:
            self.kill()
        if self._stopped.is_set():
            raise Stopped
        if process.returncode == 0:
            return ""
        failed = re.search(r"^(?:FAILED|ERROR) (\S+(?:\[.*?\])?)(?: - |$)", printed, re.MULTILINE)
        return failed[1] if failed else (printed.splitlines() or ["?"])[-1]

    def kill(self) -> None:
        """
        End the tests that run, and what they started.
        """
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def stop(self) -> None:
        """
        End the tests that run, and begin no more.
        """
        self._stopped.set()
        self.kill()


def tests_for(path: Path) -> tuple[list[str], list[str]]:
    """
    Return the tests that belong to a module and all others.
    """
    name = path.relative_to(PACKAGE).as_posix()
    first = CORE[max((each for each in CORE if name.startswith(each)), key=len)]
    others = [each.relative_to(ROOT).as_posix() for each in sorted((ROOT / "tests").iterdir())]
    tests = [each for each in others if "/test_" in each or any((ROOT / each).glob("test_*.py"))]
    return first, [each for each in tests if each not in {*first, *LEFT_OUT}]


class Trial:
    """
    Mutants that are tried, and what came of it.
    """

    def __init__(self, total: int, *, quick: bool) -> None:
        self.caught = 0
        self.survived: list[Mutant] = []
        self._total = total
        self._quick = quick
        self._sound: set[str] = set()
        self._lock = threading.Lock()

    def run(self, mutant: Mutant, copied: Copy) -> None:
        """
        Try one mutant and print what came of it.
        """
        began = time.monotonic()
        first, others = tests_for(mutant.path)
        with copied.holding(mutant):
            name = copied.tests(first, LIMIT_S)
            if not name and not self._quick:
                name = copied.tests(others, LIMIT_S)
        if "::" in name and name not in self._sound:
            if copied.tests([name], LIMIT_S):
                raise SystemExit(f"mutants: {name} fails without a mutant, too")
            self._sound.add(name)
        with self._lock:
            self.caught += bool(name)
            number = self.caught + len(self.survived) + (not name)
            seconds = f"({time.monotonic() - began:.0f} s)"
            print(f"[{number}/{self._total}] {mutant}: {name or 'SURVIVED'} {seconds}", flush=True)
            if not name:
                self.survived.append(mutant)
                print(mutant.diff, flush=True)

    def summary(self) -> str:
        """
        Return the rate and the survivors.
        """
        tried = self.caught + len(self.survived)
        rate = f"{100 * self.caught / tried:.1f} %" if tried else "none tried"
        lines = [f"mutants: {self.caught} of {tried} caught ({rate}), {len(self.survived)} survived"]
        return "\n".join([*lines, *[f"  {mutant}" for mutant in self.survived]])


def main(arguments: Sequence[str]) -> int:
    """
    Try a sample of mutants and return 1 if one survived, 130 after Ctrl-C.
    """
    parser = argparse.ArgumentParser(prog="mutants", description="Try a sample of mutants of the core.")
    parser.add_argument("modules", nargs="*", help="modules or packages, such as history or reducer/builder.py")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6), help="which mutants are picked")
    parser.add_argument("--count", type=int, default=20, help="how many are picked")
    parser.add_argument("--jobs", type=int, default=1, help="how many are tried at the same time")
    parser.add_argument("--quick", action="store_true", help="run only the tests that belong to the module")
    parser.add_argument("--list", action="store_true", help="show the mutants and try none")
    options = parser.parse_args(arguments)
    picked = list(sample(modules_of(options.modules), options.count, Random(options.seed)))  # noqa: S311
    print(f"mutants: {len(picked)} with --seed {options.seed}", flush=True)
    if options.list:
        print("\n".join(f"{mutant}\n{mutant.diff}" for mutant in picked))
        return 0
    return try_all(picked, options.jobs, Trial(len(picked), quick=options.quick))


def try_all(picked: Sequence[Mutant], jobs: int, trial: Trial) -> int:
    """
    Try mutants in as many copies as there are jobs.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ExitStack() as stack:
        folders = [stack.enter_context(TemporaryDirectory(prefix="mutants-")) for _ in range(jobs)]
        copies = [Copy(Path(folder)) for folder in folders]
        pool = stack.enter_context(ThreadPoolExecutor(jobs))
        free: SimpleQueue[Copy] = SimpleQueue()
        for copied in copies:
            free.put(copied)
        running = [pool.submit(with_copy(free, trial), mutant) for mutant in picked]
        try:
            for each in running:
                each.result()
        except KeyboardInterrupt:
            print("\nmutants: stopped", flush=True)
            return 130
        else:
            return 1 if trial.survived else 0
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for copied in copies:
                copied.stop()
            print(trial.summary(), flush=True)


def with_copy(free: SimpleQueue[Copy], trial: Trial) -> Callable[[Mutant], None]:
    """
    Return a function that tries a mutant in a copy that nothing else uses.
    """

    def run(mutant: Mutant) -> None:
        copied = free.get()
        try:
            with suppress(Stopped):
                trial.run(mutant, copied)
        finally:
            free.put(copied)

    return run


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
