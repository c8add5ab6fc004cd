"""
How the tests themselves run: none waits for ever, and none cares how the run was started.
"""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.children import SECONDS

ROOT = Path(__file__).parent.parent

WAITS = """
import sys, threading
from tests.children import Child

def test_waits():
    with Child([sys.executable, "-c", "print(1, flush=True); input()"], stdin=-1) as child:
        child.stdout.readline()
        print("child", child.pid)
        child.until(b"never")

def test_comes_after_it():
    pass
"""
LEAVES_A_THREAD = """
import threading

def test_leaves_a_thread():
    threading.Thread(target=threading.Event().wait).start()
    raise AssertionError
"""
IGNORES_ITS_LIMIT = """
import signal

def test_ignores_its_limit():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    signal.pause()
"""
IS_INTERRUPTED = """
import os, signal, sys
import pytest
from tests.children import Child

def test_is_interrupted():
    with Child([sys.executable, "-c", "print(1, flush=True); input()"], stdin=-1) as child:
        assert -signal.SIGINT == child.until(b"1").ended(signal.SIGINT)[0]
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        signal.pause()
"""


@pytest.fixture
def run_tests(tmp_path):
    """Runs a module of tests as those of the project are run, and returns exit code and output."""

    def run(module, *arguments, **options):
        path = tmp_path / "test_inner.py"
        path.write_text(module)
        command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", "-rN"]
        configured = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), *arguments, str(path)]
        output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        ran = subprocess.run([*command, *configured], cwd=ROOT, timeout=SECONDS, check=False, **output, **options)
        return ran.returncode, ran.stdout

    return run


def test_what_waits_for_ever_fails(run_tests):
    """
    A test that takes longer than its time limit fails and ends its child, and the next one runs.
    """
    code, out = run_tests(WAITS, "--timeout", "2", "-n", "1")
    child = out.split("child ")[1].split()[0]

    assert 1 == code
    assert "Failed: Timeout (>2.0s) from pytest-timeout" in out
    assert "1 failed, 1 passed" in out
    with pytest.raises(ProcessLookupError):
        os.kill(int(child), 0)


def test_a_thread_that_is_left(run_tests, monkeypatch):
    """
    A thread that a failed test has left does not keep the process when the tests are over.
    """
    monkeypatch.setenv("TEST_EXIT_S", "1")

    assert 1 == run_tests(LEAVES_A_THREAD)[0]


def test_every_test_has_a_limit(pytestconfig):
    """
    The time limit is part of the settings of the project.
    """
    assert 0 < float(pytestconfig.getini("timeout"))


def test_what_cannot_be_interrupted_ends_the_process(run_tests):
    """
    A test that does not end at its time limit ends the process, which names the line.
    """
    code, out = run_tests(IGNORES_ITS_LIMIT, "-o", "timeout=1")

    assert 1 == code
    assert "Timeout (0:00:01.5" in out
    assert "in test_ignores_its_limit" in out


@pytest.mark.parametrize("processes", [0, 1], ids=["one process", "a worker"])
def test_an_ignored_ctrl_c(run_tests, processes):
    """
    Where the shell has Ctrl-C ignored, it works all the same in the tests and in what they start.
    """
    ignored = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)

    assert 0 == run_tests(IS_INTERRUPTED, "-n", str(processes), preexec_fn=ignored, stdin=subprocess.DEVNULL)[0]
