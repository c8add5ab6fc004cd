"""
The sampler of mutants: what it changes, what it leaves, and which tests it runs.
"""

from pathlib import Path
from random import Random

import pytest

from scripts import mutants

ROOT = Path(__file__).parent.parent
MODULE = '''
"""A docstring."""

def first(items: "list[str]", *, whole=True):
    """Another."""
    assert items is not None
    if not items and whole:
        raise ValueError("nothing")
    return items[0:1], dict(zip(items, items, strict=True), a=1)
'''


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The path of a module of a project of its own."""
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    path = mutants.PACKAGE / "first.py"
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(MODULE)
    return path


def test_one_change_each(module):
    """
    Operators, conditions, constants and statements are changed; docstrings, annotations and assertions are not.
    """
    read = mutants.Module(module)
    changed = [
        (line - 1, new.strip())
        for each in map(read.mutant, read.edits)
        for line, (old, new) in enumerate(zip(each.old.splitlines(), each.new.splitlines(), strict=True), 1)
        if old != new
    ]

    result = "dict(zip(items, items, strict=True), a=1)"
    assert [
        (3, 'def first(items: "list[str]", *, whole=False):'),
        (6, "if (not (not items and whole)):"),
        (6, "if True:"),
        (6, "if False:"),
        (6, "if (not items or whole):"),
        (6, "if whole:"),
        (6, "if (not items):"),
        (6, "if items and whole:"),
        (7, "pass"),
        (8, "return None"),
        (8, f"return items[:1], {result}"),
        (8, f"return items[0:], {result}"),
        (8, f"return items[1:1], {result}"),
        (8, f"return items[0:2], {result}"),
        (8, "return items[0:1], dict(zip(items, items, strict=True))"),
        (8, f"return items[0:1], {result.replace('1', '2')}"),
    ] == sorted(changed, key=lambda each: each[0])


def test_the_same_seed_picks_the_same():
    """
    A seed names its mutants, and no mutant comes twice.
    """
    modules = mutants.modules_of(["values", "upcasting.py"])
    one, same, other = (list(mutants.sample(modules, 12, Random(seed))) for seed in (1, 1, 2))

    assert one == same
    assert one != other
    assert 12 == len({mutant.diff for mutant in one})


def test_a_copy_holds_the_mutant(tmp_path):
    """
    Only the copy is changed, and only as long as the mutant is tried.
    """
    [mutant] = mutants.sample([mutants.PACKAGE / "upcasting.py"], 1, Random(7))
    copied = mutants.Copy(tmp_path)
    with copied.holding(mutant):
        held = (copied.root / mutant.path).read_text()

    assert mutant.new == held
    assert mutant.old == (ROOT / mutant.path).read_text() == (copied.root / mutant.path).read_text()


@pytest.mark.parametrize("name", mutants.CORE)
def test_the_table_is_true(name):
    """
    The modules of the table and the tests that belong to them are there.
    """
    assert all((ROOT / path).is_file() for path in mutants.modules_of([name]))
    assert [] == [path for path in mutants.CORE[name] if not (ROOT / path).exists()]


def test_all_tests_run():
    """
    The tests that belong to a module and the others are all tests, but for those that are left out.
    """
    first, others = mutants.tests_for(mutants.PACKAGE / "adapters" / "gemini_interactions" / "steps.py")

    assert "tests/adapters/test_folding.py" in first
    assert {"tests/adapters", "tests/laws", "tests/test_values.py"} <= set(others)
    assert [] == [path for path in mutants.LEFT_OUT if not (ROOT / path).exists()]
