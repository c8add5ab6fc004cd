"""`python -m assistant_events.cli`."""

import sys

from assistant_events.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
