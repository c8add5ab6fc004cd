"""`python -m assistant_events.cli`."""

import sys

from assistant_events.cli.entry_point import main

if __name__ == "__main__":  # pragma: no branch - an import has no effect
    sys.exit(main())
