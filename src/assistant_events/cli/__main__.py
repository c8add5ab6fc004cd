"""`python -m assistant_events.cli`."""

import sys

from assistant_events.cli.entry_point import main

if __name__ == "__main__":  # pragma: no branch - whoever imports it wants nothing to happen
    sys.exit(main())
