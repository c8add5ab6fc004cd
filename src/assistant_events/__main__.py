"""`python -m assistant_events`: the command line, which says what to install when its extra is not there."""

import sys


def _main() -> int:
    from assistant_events.cli.entry_point import main

    return main()


if __name__ == "__main__":  # pragma: no branch - whoever imports it wants nothing to happen
    sys.exit(_main())
