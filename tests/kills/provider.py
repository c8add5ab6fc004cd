"""
A mock provider in a process of its own, which survives those that are killed. It prints its address.
"""

import signal
import sys

from assistant_events.testing import mock_provider
from tests.kills.trip import FIXTURES


def main():
    """Answer until a signal comes."""
    with mock_provider(FIXTURES) as provider:
        sys.stdout.write(f"{provider.url}\n")
        sys.stdout.flush()
        signal.pause()


if __name__ == "__main__":
    main()
