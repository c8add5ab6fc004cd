"""`python -m assistant_events.cli`."""

import sys

from assistant_events.cli.entry import main

sys.exit(main())
