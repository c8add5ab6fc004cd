"""
How much Hypothesis tries: `quick` by default and always the same, by chance with HYPOTHESIS_PROFILE=thorough; with
`mutants` it does not look for a simpler example of what fails.

No test depends on how the run was started or outlives it: Ctrl-C works where a shell has it ignored, and threads that
a failed test has left do not keep the process. Bytecode is kept even where the environment forbids it: otherwise each
process that a test starts compiles the library anew, and each run all tests.
"""

import faulthandler
import gc
import os
import signal
import sys
import time

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key
from hypothesis import HealthCheck, Phase, settings

# Time means little on a shared machine. Large sessions are slow to draw, and that is their point.
# What is drawn once for all laws (`drawn.py`) is drawn by the first of them.
_SUPPRESSED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.nested_given]

_COMMON = {"deadline": None, "suppress_health_check": _SUPPRESSED}

_QUICK = {"max_examples": 60, "derandomize": True, **_COMMON}

settings.register_profile("quick", **_QUICK)
settings.register_profile("mutants", phases=[Phase.explicit, Phase.generate], **_QUICK)
settings.register_profile("thorough", max_examples=2000, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Shells start jobs in the background with SIGINT ignored, which every child process would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# While tests are collected, hardly anything becomes garbage.
gc.disable()


def pytest_collection_finish():
    """Keep ten thousand tests out of every collection of garbage, and collect less often: they leave little of it."""
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)


WATCHED_UNTIL = pytest.StashKey[float]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """
    End the process when a test does not end even at its time limit.

    That takes a thread: one for each test, as the plugin of pytest has it, would take more time than most tests.
    """
    now, limit, stash = time.monotonic(), float(item.config.getini("timeout")), item.config.stash
    if now >= stash.get(WATCHED_UNTIL, 0):
        stash[WATCHED_UNTIL] = now + limit / 4
        faulthandler.dump_traceback_later(limit * 3 / 2, exit=True, file=stash[fault_handler_stderr_fd_key])


@pytest.hookimpl(trylast=True)
def pytest_unconfigure():
    """End the process soon after the tests, even if a thread of theirs still runs."""
    faulthandler.dump_traceback_later(int(os.environ.get("TEST_EXIT_S", "60")), exit=True)
